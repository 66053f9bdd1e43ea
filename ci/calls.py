"""Every public entry, in each form that takes another way through the compiled code: what ci/sanitize watches.

usage: calls.py ROUNDS [SIZE]
"""

import inspect
import pickle
import sys
import threading
import warnings
from importlib.util import find_spec

import numpy as np

import hitcurve as hc

STRATEGIES = ("compare", "search", "buckets", "parts", "throw")
READINGS = ("expected", "best", "worst", "threshold")
INTERPOLATIONS = ("11-point", "101-point", "all-point", "trapezoid", "continuous")
ARGUMENTS = {  # of the measures that need one
    "precision": {"k": [1, 7, 10**9]}, "recall": {"fraction": 0.1}, "f_score": {"k": 3, "beta": 2.0},
    "hits_at": {"k": 5},
    "success": {"k": 2}, "roc_enrichment": {"fpr": [0.01, 0.5]}, "interpolated_precision": {"recall": [0, 0.3, 1]},
    "enrichment_factor": {"fraction": [0.01, 1.0]},
    "max_enrichment_factor": {"fraction": 0.01}, "normalized_enrichment_factor": {"k": 9},
    "at_level": {"level": 2}, "subtopic": {"name": 0}, "measure": {"name": "AP@7"}, "mean": {"measure": "AP@7"},
    "sdcg": {"k": 9, "max_rel": 3}, "bpm": {"k": 9, "max_rel": 3}, "user_model": {"measure": "SDCG(max_rel=3)@7"},
    **{f"nerr{equation}": {"k": 9, "max_rel": 3} for equation in (8, 9, 10, 11)},
}  # fmt: skip
OPTIONS = {  # of gain curves, one at a time
    "gain": ["exponential", {1: 3, 2: 1, 3: 0.5, 0: 1}, [0.5, 1, 4, 4]], "k": [np.int64(5)], "ideal_k": ["all"],
    "discount": [("log", 2), ("log", 2.5), [1, 0.5, 0.5, 0.25]], "max_level": [9], "p": [0.25], "T": [2.5],
}  # fmt: skip


def refused(call):
    try:
        call()
    except (ValueError, TypeError):
        return
    raise AssertionError("no error")


def measures(curves):
    """Every method that can be called with what we have, in every reading it has; `drawn` has those that draw."""
    for name in dir(curves):
        method = getattr(curves, name)
        if name.startswith(("_", "from_", "interval", "plot", "p_value")) or not callable(method):
            continue
        arguments, taken = ARGUMENTS.get(name, {}), inspect.signature(method).parameters
        needed = {one.name for one in taken.values() if one.default is one.empty} - {"ties", *arguments}
        assert not needed, f"{type(curves).__name__}.{name} needs {needed}: add it to ARGUMENTS"
        every = [arguments]
        if isinstance(curves, hc.GainCurve | hc.GainCurves):
            every += [{**arguments, option: value} for option in taken for value in OPTIONS.get(option, ())]
        for arguments in every:
            for ties in READINGS if "ties" in taken else (None,):
                try:
                    method(**arguments, **({"ties": ties} if ties else {}))
                except ValueError as error:
                    assert expected(curves, arguments, ties, str(error)), (name, arguments, error)


def expected(curves, arguments, ties, error):
    """Some have no reading for some ties, some need every rank or an order, some take no gain for level 0."""
    if "needs the rank of every relevant item" in error:
        return np.any(curves.num_relevant > curves.num_hits)
    if "depends on the order of tied items" in error:
        return np.any(curves.tied > 1)
    if "items with different subtopics" in error:
        return ties in ("best", "worst") and np.any(curves.tied > 1)
    if "the gain of level 0 must be 0" in error:
        return "gain" in arguments
    return ties not in (None, "best") and ties in error


def ways_in(n, rng):
    flags = rng.random(n) < 0.1
    score = rng.integers(0, 2 * n, n)
    for dtype in ("f2", "f4", "f8", "i1", "i4", "i8", "u8", "g"):
        values = score.astype(dtype)
        hc.average_precision(flags, values, k=5, ties="best")
        hc.HitCurve(np.repeat(flags, 2)[::2], np.repeat(values, 3)[::3], lower_is_better=True).score  # noqa: B018
    values = score / 7
    for way in STRATEGIES:
        for dtype in ("f4", "f8"):
            hc.average_precision(flags, values.astype(dtype), _strategy=way)
        hc.average_precision(flags, score, _strategy=way)
    missing = values.copy()
    missing[::5] = np.nan
    for policy in ("worst", "omit"):
        for way in (None, *STRATEGIES):
            hc.HitCurve(flags, missing, nan_policy=policy, _strategy=way)
    refused(lambda: hc.HitCurve(flags, missing))
    refused(lambda: hc.HitCurve(score, values))
    refused(lambda: hc.HitCurve(flags, values[1:]))
    refused(lambda: hc.HitCurves(flags, values, offsets=[0, n + 1]))
    refused(lambda: hc.HitCurve(flags, object()))
    curve = hc.HitCurve(flags, values, num_relevant=None)
    measures(curve)
    for interpolation in INTERPOLATIONS:
        curve.average_precision(interpolation=interpolation)
    weighted = hc.HitCurve(flags, values, sample_weight=rng.random(n))
    weighted.average_precision(ties="threshold"), weighted.roc_auc(ties="threshold")
    hc.HitCurve(flags.tolist(), values.tolist(), tiebreak="order")
    hc.HitCurve(flags, values, tiebreak=-np.arange(n), workers=2)
    assert pickle.loads(pickle.dumps(curve)) == curve
    hc.HitCurve.from_ranked(flags)
    hc.HitCurve.from_ranks(np.flatnonzero(flags) + 1, num_items=n)
    hc.HitCurve.from_table(curve.score, curve.above, curve.tied, curve.hits, num_items=n)
    qid = rng.integers(0, n // 8 + 1, n)
    for many in (
        hc.HitCurves(flags, values, qid=qid),
        hc.HitCurves(flags, values, qid=[f"q{q}" for q in qid], num_relevant=n),
        hc.HitCurves(flags[: n // 5 * 5].reshape(5, -1), values[: n // 5 * 5].reshape(5, -1), workers=2),
    ):
        assert pickle.loads(pickle.dumps(many)) == many
        many.mean_average_precision(5, empty="zero"), many[0], list(many), repr(many), hash(many)
    measures(many)
    hc.mean_average_precision(flags, values, qid=qid, tiebreak="order")
    hc.mean_average_precision(flags, values.astype("f4"), offsets=[0, n // 3, n // 3, n], workers=2)
    hc.at_threshold(flags, values, [0.0, 1.0])
    for counter in (hc.HitCounter(values[flags]), hc.HitCounter(edges=[0.0, n / 14, n / 7])):
        counter.update(flags, values)
        counter += pickle.loads(pickle.dumps(counter))
        counter.curve().average_precision()
    for source in ((flags, values), lambda: ((flags[a : a + 100], values[a : a + 100]) for a in range(0, n, 100))):
        assert hc.scan(source, workers=2) == curve
    hc.scan((flags, missing), nan_policy="worst")
    if find_spec("pyarrow"):  # which groups need
        hc.scan((flags, values, qid)), hc.scan((flags, values, np.sort(qid)), sorted="group")


def gains(n, rng):
    """Items with levels, each way in, and every measure of them."""
    levels, score = rng.integers(0, 4, n) * (rng.random(n) < 0.3), rng.integers(0, 2 * n, n)
    qid = rng.integers(0, n // 8 + 1, n)
    for kind in ("u1", "i8", "f4", "f8", "g"):
        for dtype in ("f2", "f4", "f8", "i1", "i8", "u8", "g"):
            y, s = levels.astype(kind), score.astype(dtype)
            hc.ndcg(y, s, k=5, gain="exponential"), hc.mean_ndcg(y, s, qid=qid, ties="worst")
            curve = hc.GainCurve(np.repeat(y, 2)[::2], np.repeat(s, 3)[::3], lower_is_better=True, unretrieved=[1, 1.5])
            assert curve == pickle.loads(pickle.dumps(curve))
    values = score / 7
    missing = values.copy()
    missing[::5] = np.nan
    curve = hc.GainCurve(levels, values, tiebreak=-np.arange(n), unretrieved=[3])
    hc.GainCurve.from_ranked(levels, num_items=2 * n).ndcg(n)
    columns = curve.score, curve.above, curve.tied, curve.level_offsets, curve.level, curve.level_count
    hc.GainCurve.from_table(*columns, num_items=n).ndcg([1, n])
    wide = levels[: n // 5 * 5].reshape(5, -1), values[: n // 5 * 5].reshape(5, -1)
    for many in (
        hc.GainCurves(levels, values, qid=qid),
        hc.GainCurves(levels, values, offsets=[0, n // 3, n // 3, n], tiebreak="order", workers=2),
        hc.GainCurves(*wide, mask=rng.random(wide[0].shape) < 0.7, unretrieved=[[1], [], None, [2, 2], []]),
        hc.GainCurves(levels, np.stack([values, -values], axis=1)),
        hc.GainCurves(levels, missing, qid=[f"q{q}" for q in qid], nan_policy="worst"),
        hc.GainCurves(levels, missing, qid=qid, nan_policy="omit"),
    ):
        assert pickle.loads(pickle.dumps(many)) == many
        many[0], list(many), repr(many), hash(many), many.interval(n_resamples=9, rng=1)
        measures(many)
    measures(curve)
    measures(hc.GainCurve(rng.random(n) * (rng.random(n) < 0.1), rng.integers(0, 3, n)).at_level(0.5))
    refused(lambda: hc.GainCurve(-levels - 1, values))
    refused(lambda: hc.GainCurve(levels, missing))
    refused(lambda: hc.GainCurves(*wide, mask=levels))
    refused(lambda: hc.GainCurves(levels, values, qid=qid, unretrieved=[[0]]))


def subtopics(n, rng):
    """Items with levels for each subtopic: codes of one byte, of eight, and of sorted rows."""
    score, qid = rng.integers(0, 2 * n, n) / 7, rng.integers(0, n // 8 + 1, n)
    for width, most in ((1, 2), (3, 3), (9, 2), (70, 2), (3, 400)):
        levels = rng.integers(0, most, (n, width)) * (rng.random((n, width)) < 0.2)
        curve = hc.SubtopicCurve(levels, score, unretrieved=levels[:2])
        many = hc.SubtopicCurves(levels, score, qid=qid, workers=2)
        for curves in (curve, many):
            assert pickle.loads(pickle.dumps(curves)) == curves
            measures(curves)
        columns = curve.score, curve.above, curve.tied, curve.hits, curve.levels
        made = hc.SubtopicCurve.from_table(*columns, num_items=n, unretrieved=curve.unretrieved)
        ranked = hc.SubtopicCurve.from_ranked(levels, num_items=n + 1, tied=[n // 2, n + 1 - n // 2])
        made.alpha_ndcg([1, n]), ranked.nrbp(), list(many), many.interval(n_resamples=9, rng=1)
        curve.resample(5, rng=n, workers=2).nerr_ia(), ranked.interval(n_resamples=5, rng=1, stratified=True)
        hc.compare(levels, {"a": score, "b": -score}, n_resamples=50, rng=1)
        refused(lambda levels=levels: hc.SubtopicCurve(-levels - 1, score))
        refused(lambda curve=curve: curve.subtopic("x"))
    levels = rng.integers(0, 3, (n, 4)) * (rng.random((n, 4)) < 0.2)
    for kind, dtype in (("u1", "f4"), ("i8", "i8"), ("f4", "f8"), ("f8", "u8")):
        hc.SubtopicCurve(levels.astype(kind), (9 * score).astype(dtype), lower_is_better=True).alpha_ndcg(5)
    measures(hc.SubtopicCurves(levels, score, offsets=[0, n // 3, n // 3, n], tiebreak=-np.arange(n)))
    named = [f"q{q}" for q in qid]
    measures(hc.SubtopicCurves(levels, np.where(score > 1, score, np.nan), qid=named, nan_policy="worst"))
    hc.SubtopicCurve(levels, score, subtopics="abcd", tiebreak="order").subtopic("a").average_precision()
    hc.SubtopicCurve(levels[:6, :2] > 0, score[:6]).alpha_ndcg(ideal="exact")
    refused(lambda: hc.SubtopicCurve(levels, score[1:]))


def drawn(n, rng):
    """What draws resamples; few, for each is slow under these tools."""
    flags = rng.random(n) < 0.1
    flags[:3] = True, True, False
    score = rng.integers(0, 2 * n, n)
    curve, curves = hc.HitCurve(flags, score), hc.HitCurves(flags, score, offsets=[0, n // 2, n])
    for stratified in (False, True):
        curve.resample(5, stratified=stratified, rng=n, workers=2).average_precision()
    curve.interval(), curve.interval("ROCAUC"), curve.interval("EF@5%", method="bootstrap", n_resamples=50, rng=1)
    curve.interval(method="bootstrap", bootstrap_method="BCa", n_resamples=50, rng=1), curve.p_value(n_resamples=50)
    curves.interval(n_resamples=50, rng=1)
    hc.compare(flags, {"a": score, "b": rng.random(n)}, n_resamples=50, rng=1)
    hc.compare({"a": curves, "b": curves}, n_resamples=50, rng=1, queries={0: "few", 1: "few"})
    hc.compare({"a": rng.random(9), "b": rng.random(8)}, n_resamples=50, rng=1, paired=False)


def retrieval(n, rng):
    """Qrels and runs in arrays and in dicts."""
    topic, doc = np.divmod(rng.permutation(n), 40)
    qrels = {"query_id": topic[: n // 2], "doc_id": doc[: n // 2], "relevance": rng.integers(-1, 4, n)[: n // 2]}
    score = rng.integers(0, 20, n) / 4
    for kind in (np.asarray, lambda ids: [f"d{i}" for i in ids]):
        run = {"query_id": kind(topic), "doc_id": kind(doc), "score": score, "rank": np.arange(n)}
        judged = {**qrels, "query_id": kind(qrels["query_id"]), "doc_id": kind(qrels["doc_id"])}
        for rank_by in ("score", "listed", "rank"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of scores that rise
                hc.evaluate(judged, run, "all_trec", rank_by=rank_by)
        for ties in ("expected", "best", "worst"):
            hc.evaluate(judged, [run, run], ["AP", "P@5", "RR"], ties=ties, workers=2, judged_only=True)
            found = hc.evaluate(judged, run, ["AP", "P@5"], ties=ties, queries=lambda query: True)
            found.by({query: query[-1] for query in found.query_ids}), found.unjudged(5, run=run)
        refused(lambda run=run, judged=judged: hc.evaluate(judged, {**run, "score": np.full(n, np.nan)}))
    hc.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.5, "b": 2.5, "c": 2.5}}, "all_trec")
    several(topic, doc, score, rng)


def several(topic, doc, score, rng):
    """Two rankings, judgments of several users and judgments by subtopic."""
    n = len(topic)
    columns = {"query_id": topic, "doc_id": doc, "relevance": rng.integers(0, 4, n)}
    run = {"query_id": topic, "doc_id": doc, "score": score}
    for kind in (np.asarray, lambda ids: [f"d{i}" for i in ids]):
        ids = {"query_id": kind(topic), "doc_id": kind(doc)}
        groups = {**columns, **ids, "group": kind(rng.integers(0, 2, n)), "subgroup": kind(np.arange(n) // 9)}
        for form, names in (("prefs", "all_prefs"), ("qrels_prefs", "all_prefs"), ("qrels_jg", "qrels_jg")):
            if form == "prefs":  # levels that do not contradict each other
                groups["relevance"] = 1 + doc % 4
            judgments = hc.read_qrels(groups, format=form)
            for ties in ("docid", "expected"):
                if form != "prefs" or ties == "docid":  # a tie may decide which documents are the first R
                    hc.evaluate(pickle.loads(pickle.dumps(judgments)), {**run, **ids}, names, ties=ties)
            groups["relevance"] = columns["relevance"]
        refused(lambda groups=groups: hc.read_qrels({**groups, "relevance": np.full(n, np.nan)}, format="prefs"))
        judged = {**columns, **ids, "subtopic": kind(rng.integers(0, 3, n))}
        found = hc.evaluate(judged, {**run, **ids}, ["alpha_nDCG@5", "P_IA@5", "AP"], subtopics=True)
        found.curves(subtopics=True).err_ia()
        for variant in "abw":
            hc.rbo({**run, **ids}, {**run, **ids, "score": rng.permutation(score)}, ties=variant)
    for variant in "abw":
        hc.rbo(np.arange(9), [3, 1], p=0.5, ties=variant)
        hc.rbo(score, rng.permutation(score), scores=True, ties=variant)
        hc.rbo({"a": 1.0, "b": 1.0}, {"b": 2.0, "c": 1.0}, ties=variant)
    refused(lambda: hc.rbo(["a", "a"], ["a"]))
    refused(lambda: hc.rbo(["a"], ["a"], p=1.0))


def main():
    rounds, size = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3000
    for seed in range(rounds):
        rng = np.random.default_rng(seed)
        for n in (10, 600, size):
            ways_in(n, rng)
            gains(n, rng)
            subtopics(min(n, 100), rng)
            drawn(min(n, 100), rng)
            retrieval(min(n, 200), rng)
    threads = [threading.Thread(target=ways_in, args=(size, np.random.default_rng(seed))) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{rounds} rounds of every public entry")


if __name__ == "__main__":
    main()
