"""Many measures of the same rows, with five subtopics and tied scores; peers; many systems; overlap; preferences."""

from functools import cache

import data
import numpy as np
import peers
import pytest
import twins

import hitcurve

OURS = peers.PEERS[0]


def gains(name):
    return lambda levels, highest, scores: hitcurve.GainCurves(highest, scores).mean(name)


def subtopics(name):
    return lambda levels, highest, scores: hitcurve.SubtopicCurves(levels, scores).mean(name)


def mean_ap(levels, highest, scores):
    return hitcurve.mean_average_precision(highest > 0, scores)


def at(twin, k):
    return lambda levels, scores: twin(levels, scores, k)


MEASURES = {  # how it is computed, and how it is counted another way
    "AP": (mean_ap, twins.ap),
    "nDCG": (gains("nDCG"), twins.ndcg),
    "SDCG@1000": (gains("SDCG(max_rel=4)@1000"), at(twins.sdcg, 1000)),
    "BPM@1000": (gains("BPM(T=1,max_rel=4)@1000"), at(twins.bpm, 1000)),
    "NERR8@1000, ties best": (gains("NERR8(max_rel=4,ties=best)@1000"), at(twins.nerr8, 1000)),
    "P_IA@20": (subtopics("P_IA@20"), at(twins.p_ia, 20)),
    "StRecall@20": (subtopics("StRecall@20"), at(twins.strec, 20)),
    "alpha_nDCG": (subtopics("alpha_nDCG"), twins.alpha_ndcg),
}


@cache
def rows(quick, ties, few=False):
    """The levels by subtopic, the highest level of each item, and the scores."""
    levels, scores = data.topics(20 if quick else 200 if few else 10_000, 100 if quick else 1_000, 4, ties)
    return levels, levels.max(axis=2), scores


@pytest.mark.parametrize("name", MEASURES)
def test_same_rows(measure, name, quick):
    ties = "BPM" not in name  # which needs a single order
    arguments = rows(quick, ties)
    call, twin = MEASURES[name]
    queries, items = arguments[1].shape
    task = f"{name} of {queries:,} queries x {items:,}, five subtopics, {'ties' if ties else 'no ties'}"
    measure(task, OURS, call, arguments, lambda reading: twin(arguments[0], arguments[2]))


# --- peers ----------------------------------------------------------------------------------------------------------


def named(library):
    peer = next(one for one in peers.PEERS if one.name == library)
    if not peers.installed(peer):
        pytest.skip(f"{library} is not installed")
    return peer


def of_cwl(name, parameters):
    """The mean over rankings that were made before: the gains of each query in the order of its ranks."""

    def prepare(levels, highest, scores):
        from cwl.ruler import cwl_ruler as ruler

        order = np.argsort(-scores, axis=1)
        ranked = np.take_along_axis(highest, order, axis=1) / twins.TOP
        rankings = [ruler.Ranking("q", row, [], max_cost=1.0, min_cost=1.0, max_n=1_000) for row in ranked.tolist()]
        metric = getattr(ruler, name)(*parameters)
        metric.residuals = False
        return metric, rankings

    return prepare, lambda metric, rankings: float(np.mean([metric.measure(one) for one in rankings]))


def of_ndeval(name):
    """The mean over documents that were read before. Their ids fall, as ndeval takes the greatest of equal gains."""

    def prepare(levels, highest, scores):
        import pyndeval as ndeval

        ids = [f"d{i:04}" for i in range(scores.shape[1] - 1, -1, -1)]
        places = zip(*(part.tolist() for part in np.nonzero(levels)), strict=True)
        qrels = [ndeval.SubtopicQrel(f"q{q}", str(j), ids[i], int(levels[q, i, j])) for q, i, j in places]
        run = [ndeval.ScoredDoc(f"q{q}", one, score) for q, row in enumerate(scores.tolist())
               for one, score in zip(ids, row, strict=True)]  # fmt: skip
        return ndeval.RelevanceEvaluator(qrels, [name]), run, name

    return prepare, lambda evaluator, run, name: float(np.mean([one[name] for one in evaluator.evaluate(run).values()]))


OTHERS = {
    "cwl_eval": {
        "SDCG@1000": of_cwl("NDCGCWLMetric", (1000,)),
        "BPM@1000": of_cwl("BPMCWLMetric", (1.0, 1000)),
        "NERR8@1000": of_cwl("NERReq8CWLMetric", (1000,)),
    },
    "pyndeval": {
        "P_IA@20": of_ndeval("P-IA@20"),
        "StRecall@20": of_ndeval("strec@20"),
        "alpha_nDCG@20": of_ndeval("alpha-nDCG@20"),
    },
}
FEW = {
    "SDCG@1000": MEASURES["SDCG@1000"],
    "BPM@1000": MEASURES["BPM@1000"],
    "NERR8@1000": MEASURES["NERR8@1000, ties best"],
    "P_IA@20": MEASURES["P_IA@20"],
    "StRecall@20": MEASURES["StRecall@20"],
    "alpha_nDCG@20": (subtopics("alpha_nDCG@20"), at(twins.alpha_ndcg, 20)),
}
CONTESTS = [(name, library) for library, known in OTHERS.items() for name in known for library in ("hitcurve", library)]


@pytest.mark.parametrize(("name", "library"), CONTESTS)
def test_peers(measure, name, library, quick):
    """Scores are distinct, so that every library means the same."""
    arguments = rows(quick, False, few=True)
    call, twin = FEW[name]
    peer, right = OURS, lambda reading: twin(arguments[0], arguments[2])
    queries, items = arguments[1].shape
    task = f"{name} of {queries:,} queries x {items:,}, five subtopics, no ties"
    if library == "hitcurve":
        measure(task, peer, call, arguments, right)
        return
    peer = named(library)
    prepare, call = OTHERS[library][name]
    measure(task, peer, call, prepare(*arguments), right)


# --- many systems ---------------------------------------------------------------------------------------------------


@cache
def systems(quick):
    """Judgments of 50 queries, and 50 runs of 200 documents for each, in dicts; no two scores of a query are equal."""
    rng = np.random.default_rng(2004)
    number, depth = (3, 20) if quick else (50, 200)
    names = [[f"doc{i:08d}" for i in rng.choice(10_000_000, 2 * depth, replace=False)] for _ in range(number)]
    levels = rng.integers(0, 2, (number, depth // 4))
    qrels = {f"q{q}": dict(zip(ids, levels[q].tolist(), strict=False)) for q, ids in enumerate(names)}
    assert levels.any(axis=1).all()
    runs = {}
    for system in range(number):
        runs[f"system {system}"] = run = {}
        for q, ids in enumerate(names):
            found = rng.choice(2 * depth, depth, replace=False)
            values = rng.permutation(depth) / depth + (found < depth // 4) * system / number + 1e-6 * np.arange(depth)
            run[f"q{q}"] = dict(zip([ids[i] for i in found], values.tolist(), strict=True))
    return qrels, runs


def systems_answer(qrels, runs):
    values = []
    for run in runs.values():
        for query, found in run.items():
            order = sorted(found, key=found.get, reverse=True)
            places = [rank for rank, doc in enumerate(order, 1) if qrels[query].get(doc, 0) > 0]
            relevant = sum(level > 0 for level in qrels[query].values())
            values.append(sum(hits / rank for hits, rank in enumerate(places, 1)) / relevant)
    return float(np.mean(values))


def systems_hitcurve(qrels, runs):
    found = hitcurve.Evaluator(qrels, ["AP"]).evaluate(list(runs.values()))
    return float(np.mean([one.means["AP"] for one in found]))


def compared(qrels, runs):
    found = hitcurve.Evaluator(qrels, ["AP"]).evaluate(list(runs.values()))
    named = dict(zip(runs, found, strict=True))
    result = hitcurve.compare(named, measures="AP", n_resamples=24_499, rng=0)
    return float(np.mean([one.value for one in result.systems]))


def systems_pytrec_eval(qrels, runs):
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map"})
    return float(np.mean([one["map"] for run in runs.values() for one in evaluator.evaluate(run).values()]))


def ranx_of(qrels, runs):
    from ranx import Qrels, Run

    relevant = {query: {doc: level for doc, level in row.items() if level} for query, row in qrels.items()}
    return Qrels(relevant), [Run(run, name=name) for name, run in runs.items()]


def compared_by_ranx(qrels, runs):
    from ranx import compare

    found = compare(qrels, runs, ["map"], stat_test="student")
    return float(np.mean([one["map"] for one in found.results.values()]))


SYSTEMS = {  # task, library: what is called, and with what
    ("AP of {} systems", "hitcurve"): (systems_hitcurve, None),
    ("AP of {} systems", "pytrec_eval"): (systems_pytrec_eval, None),
    ("AP of {} systems, and a test of each pair", "hitcurve"): (compared, None),
    ("AP of {} systems, and a test of each pair", "ranx"): (compared_by_ranx, ranx_of),
}


@pytest.mark.parametrize(("task", "library"), SYSTEMS)
def test_systems(measure, task, library, quick):
    """hitcurve's test is the randomisation test with intervals, ranx's Student's."""
    peer = named(library)
    qrels, runs = systems(quick)
    call, prepare = SYSTEMS[task, library]
    arguments = prepare(qrels, runs) if prepare else (qrels, runs)
    name = f"{task.format(len(runs))}, {len(qrels)} queries x {20 if quick else 200} documents in dicts"
    measure(name, peer, call, arguments, lambda reading: systems_answer(qrels, runs))


# --- two rankings, and preferences ----------------------------------------------------------------------------------


def overlap(x, y, p):
    return hitcurve.rbo(x, y, p=p).ext


SETS = peers.Peer("sets, in Python", "hitcurve", "hitcurve", "order")
OVERLAPS = {"hitcurve": (OURS, overlap), "sets": (SETS, twins.rbo)}


@pytest.mark.parametrize("library", OVERLAPS)
def test_overlap(measure, library):
    x, y = ([f"d{i:04}" for i in np.random.default_rng(seed).permutation(1_500)[:1_000]] for seed in range(2))
    peer, call = OVERLAPS[library]
    task = "RBO of two lists of 1,000 strings"
    measure(task, peer, call, (x, y, 0.9), lambda reading: twins.rbo(x, y, 0.9), small=True)


@cache
def preferences(quick):
    """Judgments as preferences of a single user, and a run that has all documents."""
    rng = np.random.default_rng(2004)
    queries, documents = (5, 20) if quick else (500, 100)
    levels = rng.integers(0, 4, (queries, documents))
    scores = rng.permuted(np.tile(np.arange(documents) - documents / 2, (queries, 1)), axis=1)
    wanted, run = (
        {f"q{q}": {f"d{i}": value for i, value in enumerate(row)} for q, row in enumerate(rows.tolist())}
        for rows in (levels, scores)
    )
    qrels = {query: {"user": {"all": documents}} for query, documents in wanted.items()}
    return hitcurve.read_qrels(qrels, format="prefs"), run, levels, scores


def preferences_met(qrels, run):
    return hitcurve.evaluate(qrels, run, ["Pref"]).means["Pref"]


def test_preferences(measure, quick):
    qrels, run, levels, scores = preferences(quick)
    task = f"preferences met, {len(levels)} queries x {levels.shape[1]} documents in dicts"
    measure(task, OURS, preferences_met, (qrels, run), lambda reading: twins.fulfilled(levels, scores))
