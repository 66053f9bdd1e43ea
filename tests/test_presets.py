"""The presets give the peers' numbers: against the peers where they install, and against their published rules."""

import copy
import itertools
import json
import pickle
from functools import partial

import numpy as np
import pytest
from ranx_in_python import uncompiled

import hitcurve as hc

# --- published rules, written anew ----------------------------------------------------------------------------


def voc_2007(hits, num_objects, levels):
    """Mean over the levels of the greatest precision at any rank whose recall reaches the level; floats throughout."""
    found = np.cumsum(hits)
    recall, precision = found / float(num_objects), found / np.arange(1, len(hits) + 1)
    return sum(max(precision[recall >= level], default=0.0) for level in levels) / len(levels)


def voc_2010(hits, num_objects):
    """Area under the running maximum, from the right, of precision over recall."""
    found = np.cumsum(hits)
    recall = np.concatenate([[0.0], found / num_objects, [1.0]])
    precision = np.concatenate([[0.0], found / np.arange(1, len(hits) + 1), [0.0]])
    for i in range(len(precision) - 2, -1, -1):
        precision[i] = max(precision[i], precision[i + 1])
    rises = np.flatnonzero(recall[1:] != recall[:-1])
    return float(np.sum((recall[rises + 1] - recall[rises]) * precision[rises + 1]))


def coco(hits, num_objects):
    """101 levels of linspace, each at the first rank whose recall is not below it."""
    found = np.cumsum(hits).astype(float)
    precision = found / (np.arange(1, len(hits) + 1) + np.spacing(1))
    precision = np.append(np.maximum.accumulate(precision[::-1])[::-1], 0.0)
    return float(np.mean(precision[np.searchsorted(found / num_objects, np.linspace(0.0, 1.0, 101), side="left")]))


def detections():
    rng = np.random.default_rng(2010)
    for num_objects in (*range(1, 61), 100, 230):
        for found in {num_objects, max(1, 2 * num_objects // 3)}:
            hits = rng.permutation(np.repeat([1, 0], [found, 2 * num_objects]))
            yield hits, num_objects


DETECTIONS = list(detections())


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("VOC 2007 code", lambda hits, n: voc_2007(hits, n, np.arange(0.0, 1.1, 0.1))),
        ("VOC 2010", voc_2010),
        ("COCO code", coco),
    ],
)
def test_detection_rules(name, rule):
    differ = 0
    exact = hc.PRESETS[name.removesuffix(" code")]
    for hits, num_objects in DETECTIONS:
        score = np.sort(np.random.default_rng(1).integers(0, 5, len(hits)))[::-1]  # ties: order of the items
        ours = hc.average_precision(hits, score, num_relevant=num_objects, **hc.PRESETS[name])
        assert ours == pytest.approx(rule(hits, num_objects), rel=4e-15)
        assert hc.HitCurve.from_ranked(hits, num_relevant=num_objects).average_precision(
            interpolation=hc.PRESETS[name]["interpolation"]
        ) == ours
        differ += ours != hc.average_precision(hits, score, num_relevant=num_objects, **exact)
    assert (differ > 0) == name.endswith("code")


def test_float_levels_come_late_and_never_early():
    for hits, num_objects in DETECTIONS:
        curve = hc.HitCurve.from_ranked(hits, num_relevant=num_objects)
        for kind in ("11-point", "101-point"):
            assert curve.average_precision(interpolation=f"{kind}-float") <= curve.average_precision(interpolation=kind)


@pytest.mark.parametrize("name", ["LightGBM", "XGBoost"])
def test_rule_of_rankers(name):
    """A stable sort by score, gain 2**level - 1 over log2(rank + 1), 1 without relevant items; ci/rankers runs both."""
    rng = np.random.default_rng(21)
    sizes = rng.integers(1, 30, 60)
    offsets = np.cumsum([0, *sizes])
    level, score = rng.integers(0, 5, offsets[-1]), rng.integers(0, 6, offsets[-1]).astype("float32")
    level[: offsets[2]] = 0
    for k in (1, 5, 40):
        values = []
        for first, last in itertools.pairwise(offsets):
            gain = 2.0 ** level[first:last] - 1
            orders = np.argsort(-score[first:last], kind="stable"), np.argsort(-gain)
            found, most = (sum(g / np.log2(i + 2) for i, g in enumerate(gain[order][:k])) for order in orders)
            values.append(found / most if most else 1.0)
        ours = hc.mean_ndcg(level, score, offsets=offsets, k=k, **hc.PRESETS[name])
        assert ours == pytest.approx(np.mean(values), rel=1e-14)
        fair = hc.mean_ndcg(level, score, offsets=offsets, k=k, gain="exponential", empty="one")
        assert ours != pytest.approx(fair, rel=1e-4)


@pytest.mark.parametrize("position", [False, True])
@pytest.mark.parametrize("exponential", [False, True])
def test_rule_of_catboost(exponential, position):
    """Of items with the same score the lowest level first; 1 without relevant items; ci/rankers runs it."""
    rng = np.random.default_rng(22)
    sizes = rng.integers(1, 30, 60)
    offsets = np.cumsum([0, *sizes])
    level, score = rng.integers(0, 5, offsets[-1]), rng.integers(0, 6, offsets[-1])
    level[: offsets[2]] = 0
    discount = 1 / np.arange(1, 30) if position else 1 / np.log2(np.arange(2, 31))
    said = {"gain": "exponential"} if exponential else {}
    said |= {"discount": discount} if position else {}
    for k in (1, 5, 40):
        values = []
        for first, last in itertools.pairwise(offsets):
            gain = 2.0 ** level[first:last] - 1 if exponential else level[first:last]
            orders = np.lexsort((gain, -score[first:last])), np.argsort(-gain)
            found, most = (sum(g * d for g, d in zip(gain[order][:k], discount, strict=False)) for order in orders)
            values.append(found / most if most else 1.0)
        ours = hc.mean_ndcg(level, score, offsets=offsets, k=k, **(hc.PRESETS["CatBoost"] | said))
        assert ours == pytest.approx(np.mean(values), rel=1e-14)
        fair = hc.mean_ndcg(level, score, offsets=offsets, k=k, empty="one", **said)
        assert ours != pytest.approx(fair, rel=1e-4)


RANKED = {  # how each preset orders the items of a query, and what a query without relevant items counts as
    "LightGBM map": ("order", 1), "XGBoost map": ("order", 1), "XGBoost map-": ("order", 0),
    "CatBoost map": ("worst", 0), "CatBoost mrr": ("worst", 0), "CatBoost recall": ("worst", 1),
    "CatBoost precision": ("worst", 0), "CatBoost dcg": ("worst", 0),
}


@pytest.mark.parametrize("name", RANKED)
def test_rules_of_rankers(name):
    """What the programs do with each query, written anew; ci/rankers runs them."""
    rng = np.random.default_rng(23)
    offsets = np.cumsum([0, *rng.integers(1, 30, 60)])
    y, score = (rng.random(offsets[-1]) < 0.3).astype(int), rng.integers(0, 6, offsets[-1]).astype("float32")
    y[: offsets[2]] = 0
    order, empty = RANKED[name]
    assert hc.PRESETS[name].get("tiebreak", hc.PRESETS[name].get("ties")) == order
    for k in (1, 5, 40):
        values = []
        for first, last in itertools.pairwise(offsets):
            key = np.arange(last - first) if order == "order" else y[first:last]
            ranked = y[first:last][np.lexsort((key, -score[first:last]))][:k]
            ranks, relevant = np.flatnonzero(ranked) + 1, y[first:last].sum()
            values.append(empty if not relevant else {
                "map": sum(np.arange(1, len(ranks) + 1) / ranks) / min(k, relevant),
                "mrr": 1 / min(ranks, default=np.inf), "recall": len(ranks) / relevant,
                "dcg": sum(1 / np.log2(ranks + 1)), "precision": len(ranks) / min(k, last - first),
            }[name.split()[1].rstrip("-")])
        preset = hc.PRESETS[name]
        if "measure" in preset:
            curves = (hc.GainCurves if "DCG" in preset["measure"] else hc.HitCurves)(y, score, offsets=offsets)
            ours = curves.mean(**(preset | {"measure": f"{preset['measure'].partition('@')[0]}@{k}"}))
        else:
            ours = hc.mean_average_precision(y, score, offsets=offsets, k=k, **preset)
        assert ours == pytest.approx(np.mean(values), rel=1e-14)


def test_rules_of_areas():
    """A query of relevant items alone: CatBoost's QueryAUC counts it as 0, XGBoost's aucpr of groups leaves it out."""
    y, s, qid = [1, 0, 1, 1, 1, 0, 0, 1], [4, 3, 2, 2, 1, 2, 1, 2], [0, 0, 0, 1, 1, 2, 2, 2]
    curves = hc.HitCurves(y, s, qid=qid)
    found = curves.roc_auc()
    assert np.isnan(found).tolist() == [False, True, False]
    with_all = np.nan_to_num(found).mean()  # what docs/presets.md writes for QueryAUC
    assert curves.mean(**hc.PRESETS["CatBoost query auc"]) == np.nanmean(found) == pytest.approx(with_all * 3 / 2)
    both = curves.num_relevant < curves.num_items
    areas = curves.average_precision(interpolation="continuous")
    assert curves.mean("AP(interp=continuous)", weights=both) == areas[[0, 2]].mean() != areas.mean()


@pytest.mark.parametrize("ties", ["expected", "best", "worst", "threshold"])
def test_float_levels_in_ties(ties):
    """Where no level is missed in floats (R = 8: a power of two misses none of 10) both kinds are the same number."""
    rng = np.random.default_rng(8)
    for _ in range(50):
        y = rng.permutation(np.repeat([1, 0], [8, 20]))
        curve = hc.HitCurve(y, rng.integers(0, 6, len(y)))
        exact = curve.average_precision(interpolation="11-point", ties=ties)
        assert curve.average_precision(interpolation="11-point-float", ties=ties) == exact


def test_float_levels_of_a_mean_curve():
    """A level at the very end of a group is read there, or just after it in floats: precision falls from there on."""
    curve = hc.HitCurve.from_table(None, [0, 3, 63], [3, 60, 10], [3, 6, 1], num_items=73)
    exact, floats = (curve.average_precision(interpolation=kind) for kind in ("11-point", "11-point-float"))
    assert floats == pytest.approx(exact, rel=1e-14)
    worst = curve.average_precision(interpolation="11-point", ties="worst")
    assert curve.average_precision(interpolation="11-point-float", ties="worst") < worst - 0.05


# --- the peers ------------------------------------------------------------------------------------------------


def test_coco_itself():
    """pycocotools' own accumulation of matches that are given to it, several images, tied scores."""
    cocoeval = pytest.importorskip("pycocotools.cocoeval")
    rng = np.random.default_rng(17)
    for num_objects in (1, 7, 20, 40, 53, 100):
        evaluation = cocoeval.COCOeval(iouType="bbox")
        parameters = evaluation.params
        parameters.imgIds, parameters.catIds, parameters.iouThrs = [1, 2, 3], [1], np.array([0.5])
        parameters.areaRng, parameters.areaRngLbl, parameters.maxDets = [[0, 1e10]], ["all"], [1000]
        images = []
        for i in range(3):
            hits = rng.random((1, int(rng.integers(1, 60)))) < 0.5
            objects = num_objects // 3 + (i < num_objects % 3)
            hits &= np.cumsum(hits) <= objects
            score = np.sort(np.round(rng.random(hits.shape[1]), 1))[::-1]
            ignore = np.zeros_like(hits)
            images.append({"dtScores": score, "dtMatches": hits, "dtIgnore": ignore, "gtIgnore": np.zeros(objects)})
        evaluation.evalImgs, evaluation._paramsEval = images, parameters
        evaluation.accumulate()
        theirs = np.mean(evaluation.eval["precision"])
        hits = np.concatenate([image["dtMatches"][0] for image in images])
        score = np.concatenate([image["dtScores"] for image in images])
        ours = hc.average_precision(hits, score, num_relevant=num_objects, **hc.PRESETS["COCO code"])
        assert ours == pytest.approx(theirs, rel=1e-14)


def random_queries(values):
    rng = np.random.default_rng(36)
    qid = np.repeat(np.arange(40), 12)
    y = (rng.random(480) < 0.2).astype(int)
    y[:12] = 0
    return y, values(rng, 480), qid


def test_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    y, s, qid = random_queries(lambda rng, n: rng.integers(0, 5, n))
    preset = hc.PRESETS["scikit-learn"]
    assert hc.average_precision(y, s, **preset) == pytest.approx(metrics.average_precision_score(y, s), rel=1e-14)
    theirs = metrics.label_ranking_average_precision_score(y.reshape(40, 12), s.reshape(40, 12))
    ours = hc.mean_average_precision(y, s, qid=qid, **hc.PRESETS["scikit-learn label ranking"])
    assert ours == pytest.approx(theirs, rel=1e-14)
    precision, recall, _ = metrics.precision_recall_curve(y, s)
    ours = hc.average_precision(y, s, **hc.PRESETS["scikit-learn auc"])
    assert ours == pytest.approx(metrics.auc(recall, precision), rel=1e-13)


def test_scikit_learn_of_levels():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(22)
    level, score = rng.integers(0, 4, (30, 12)), rng.integers(0, 5, (30, 12))
    level[:3] = 0
    for k in (None, 1, 5):
        ours = hc.mean_ndcg(level, score, k=k, **hc.PRESETS["scikit-learn ndcg"])
        assert ours == pytest.approx(metrics.ndcg_score(level, score, k=k), rel=1e-13)
        asked = hc.PRESETS["scikit-learn dcg"] | ({"measure": f"DCG@{k}"} if k else {})
        ours = hc.GainCurves(level, score).mean(**asked)
        assert ours == pytest.approx(metrics.dcg_score(level, score, k=k), rel=1e-13)


def trec_dicts(y, s, qid):
    qrels, run = {}, {}
    for q in np.unique(qid):
        items = np.flatnonzero(qid == q)
        qrels[f"q{q:02}"] = {f"d{i:03}": int(y[i]) for i in items}
        run[f"q{q:02}"] = {f"d{i:03}": float(s[i]) for i in items}
    return qrels, run


def test_trec_eval_of_arrays():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    y, s, qid = random_queries(lambda rng, n: rng.integers(0, 4, n) + rng.integers(0, 2, n) * 1e-9)
    qrels, run = trec_dicts(y, s, qid)
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"map", "map_cut"}).evaluate(run)
    docno = -np.arange(len(y))  # the ids ascend with the place
    options = {"qid": qid, "tiebreak": docno, **hc.PRESETS["trec_eval arrays"]}
    for measure, k in (("map", None), ("map_cut_5", 5), ("map_cut_10", 10)):
        ours = hc.mean_average_precision(y, s.astype("float32"), k=k, **options)
        assert ours == pytest.approx(np.mean([value[measure] for value in theirs.values()]), rel=1e-14)


def judged(y, s, qid):
    """With an unanswered query, one without relevant documents, and documents without judgments."""
    qrels, run = trec_dicts(y, s, qid)
    del run["q05"]
    for query in qrels.values():
        del query[min(query)]
    return qrels, run


def test_recall_levels_of_trec_eval_9():
    """trec_eval's own names are those of 10; `levels=` names those of 9, which pytrec_eval and ir_measures have."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "x": 1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"11pt_avg", "iprec_at_recall"}).evaluate(run)["q"]
    for name, measure in (("11pt_avg", "IPrecAvg(levels=trec_eval9)"),
                          ("iprec_at_recall_0.40", "IPrec(levels=trec_eval9)@0.4")):
        for preset in ("trec_eval 9", "pytrec_eval", "ir_measures"):
            found = hc.evaluate(qrels, run, [measure, name], **hc.PRESETS[preset])
            nine, ten = found.means.values()
            assert nine == pytest.approx(theirs[name], rel=1e-12)
            assert nine != ten


@pytest.mark.parametrize("name", ["pytrec_eval", "trec_eval 9"])
def test_pytrec_eval(name):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = judged(*random_queries(lambda rng, n: rng.integers(0, 4, n) + rng.integers(0, 2, n) * 1e-9))
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"map", "map_cut", "recip_rank", "ndcg"}).evaluate(run)
    names = ["map", "map_cut_5", "recip_rank", "ndcg"]
    found = hc.evaluate(qrels, run, names, **hc.PRESETS[name])
    for measure, ours in zip(names, found.means.values(), strict=True):
        assert ours == pytest.approx(np.mean([value[measure] for value in theirs.values()]), rel=1e-12)
    with pytest.raises(ValueError, match="q05"):
        hc.evaluate(qrels, run, names, **hc.PRESETS["trec_eval 10"])
    del qrels["q05"]
    in_double = hc.evaluate(qrels, run, names, **hc.PRESETS["trec_eval 10"])
    assert in_double.means["AP"] != found.means["AP"]


def test_ir_measures():
    ir_measures = pytest.importorskip("ir_measures")
    qrels, run = judged(*random_queries(lambda rng, n: rng.integers(0, 4, n) + rng.integers(0, 2, n) * 1e-9))
    measures = [ir_measures.AP, ir_measures.AP @ 5, ir_measures.nDCG @ 10, ir_measures.P @ 5]
    theirs = ir_measures.calc_aggregate(measures, qrels, run)
    found = hc.evaluate(qrels, run, [str(measure) for measure in measures], **hc.PRESETS["ir_measures"])
    for measure in measures:
        assert found.means[str(measure)] == pytest.approx(theirs[measure], rel=1e-12)


@pytest.mark.parametrize("made", ["dicts", "objects", pytest.param("compiled", marks=pytest.mark.slow)])
def test_ranx(made, monkeypatch):
    ranx = pytest.importorskip("ranx") if made == "compiled" else uncompiled(monkeypatch)
    y, s, qid = random_queries(lambda rng, n: rng.random(n))
    y[11] = 1  # it refuses a query without judgements
    qrels, run = trec_dicts(y, s, qid)
    if made != "dicts":
        qrels, run = ranx.Qrels(qrels), ranx.Run(run)
    theirs = ranx.evaluate(qrels, run, ["map", "map@5"])
    for measure, k in (("map", None), ("map@5", 5)):
        ours = hc.mean_average_precision(y, s, qid=qid, k=k, **hc.PRESETS["ranx"])
        assert ours == pytest.approx(theirs[measure], rel=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_ranx_in_ties():
    """No rule gives its number, but it is that of an order of the tied documents."""
    ranx = pytest.importorskip("ranx")
    y, s, qid = random_queries(lambda rng, n: rng.integers(0, 3, n))
    y[11] = 1
    qrels, run = trec_dicts(y, s, qid)
    options = {"qid": qid, "k": 5, **hc.PRESETS["ranx"]}
    worst, best = (hc.mean_average_precision(y, s, ties=ties, **options) for ties in ("worst", "best"))
    for theirs in (ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "map@5"), ranx.evaluate(qrels, run, "map@5")):
        assert worst - 1e-12 <= theirs <= best + 1e-12


@pytest.mark.parametrize("shift", [0.0, 0.4])
def test_torchmetrics(shift):
    """Some scores are not above 0: their items are not relevant there."""
    torch = pytest.importorskip("torch")
    retrieval = pytest.importorskip("torchmetrics.retrieval")
    y, s, qid = random_queries(lambda rng, n: (rng.random(n) - shift).astype("float32"))
    for k in (None, 5):
        metric = retrieval.RetrievalMAP(top_k=k)
        theirs = metric(torch.tensor(s), torch.tensor(y), indexes=torch.tensor(qid))
        ours = hc.mean_average_precision(y * (s > 0), s, qid=qid, k=k, **hc.PRESETS["torchmetrics"])
        assert ours == pytest.approx(float(theirs), rel=1e-6)
        plain = hc.mean_average_precision(y, s, qid=qid, k=k, **hc.PRESETS["torchmetrics"])
        assert (plain == ours) == (shift == 0 or k == 5)  # the first five are above 0


def test_torchmetrics_of_levels():
    torch = pytest.importorskip("torch")
    retrieval = pytest.importorskip("torchmetrics.retrieval")
    rng = np.random.default_rng(23)
    qid = np.repeat(np.arange(40), 12)
    level, score = rng.integers(0, 4, 480), (rng.integers(0, 5, 480) / 5 - 0.4).astype("float32")
    level[:12] = 0
    for k in (None, 1, 5, 20):
        metric = retrieval.RetrievalNormalizedDCG(top_k=k)
        theirs = metric(torch.tensor(score), torch.tensor(level), indexes=torch.tensor(qid))
        ours = hc.mean_ndcg(level, score, qid=qid, k=k, **hc.PRESETS["torchmetrics ndcg"])
        assert ours == pytest.approx(float(theirs), rel=1e-6)


def test_spark_ranking_rule():
    """RankingMetrics.meanAveragePrecisionAt: sum of precisions at the hits over min(R, k), an empty truth is 0."""
    y, s, qid = random_queries(lambda rng, n: rng.integers(0, 3, n))
    values = []
    for q in np.unique(qid):
        relevant = y[qid == q][np.argsort(-s[qid == q], kind="stable")]
        hits = np.flatnonzero(relevant[:5])
        total = sum((i + 1) / (rank + 1) for i, rank in enumerate(hits))
        values.append(total / min(relevant.sum(), 5) if relevant.any() else 0.0)
    ours = hc.mean_average_precision(y, s, qid=qid, k=5, **hc.PRESETS["Spark"])
    assert ours == pytest.approx(np.mean(values), rel=1e-14)


def test_spark_area_rule():
    """A point per distinct score, lines between, and a first point at recall 0 with the first precision."""
    y, s, _ = random_queries(lambda rng, n: rng.integers(0, 9, n))
    cuts = np.unique(s)[::-1]
    recall = np.array([y[s >= cut].sum() / y.sum() for cut in cuts])
    precision = np.array([y[s >= cut].mean() for cut in cuts])
    area = np.trapezoid(np.append(precision[0], precision), np.append(0.0, recall))
    assert hc.average_precision(y, s, **hc.PRESETS["Spark areaUnderPR"]) == pytest.approx(area, rel=1e-13)


def test_rdkit():
    scoring = pytest.importorskip("rdkit.ML.Scoring.Scoring")
    y, s, _ = random_queries(lambda rng, n: rng.integers(0, 9, n))
    rows = [[label] for label in y[np.argsort(-s, kind="stable")]]
    curve = hc.HitCurve(y, s, **hc.PRESETS["RDKit"])
    assert curve.bedroc(20.0) == pytest.approx(scoring.CalcBEDROC(rows, 0, 20.0), rel=1e-13)
    assert curve.rie(20.0) == pytest.approx(scoring.CalcRIE(rows, 0, 20.0), rel=1e-13)
    assert curve.roc_auc() == pytest.approx(scoring.CalcAUC(rows, 0), rel=1e-13)
    fractions = [0.01, 0.05, 0.1]
    np.testing.assert_allclose(curve.enrichment_factor(fractions), scoring.CalcEnrichment(rows, 0, fractions))


# --- the presets themselves -----------------------------------------------------------------------------------


Y, S, QID = random_queries(lambda rng, n: rng.integers(0, 9, n))
JUDGED = trec_dicts(Y, S, QID)
CURVE, CURVES, GAINS = hc.HitCurve(Y, S), hc.HitCurves(Y, S, qid=QID), hc.GainCurves(Y, S, qid=QID)
# What takes presets: the measure that it gives ("": the one that the preset names), and a call for the arguments.
TAKE = {
    "average_precision": ("AP", partial(hc.average_precision, Y, S)),
    "mean_average_precision": ("AP", partial(hc.mean_average_precision, Y, S, qid=QID)),
    "HitCurve.average_precision": ("AP", CURVE.average_precision),
    "HitCurves.average_precision": ("AP", CURVES.average_precision),
    "HitCurves.mean_average_precision": ("AP", CURVES.mean_average_precision),
    "HitCurve": ("ranking", partial(hc.HitCurve, Y, S)),
    "HitCurves": ("ranking", partial(hc.HitCurves, Y, S, qid=QID)),
    "HitCurves.mean": ("", CURVES.mean), "GainCurves.mean": ("", GAINS.mean),
    "ndcg": ("nDCG", partial(hc.ndcg, Y, S)), "mean_ndcg": ("nDCG", partial(hc.mean_ndcg, Y, S, qid=QID)),
    "GainCurve.ndcg": ("nDCG", GAINS[1].ndcg), "GainCurves.mean_ndcg": ("nDCG", GAINS.mean_ndcg),
    "dcg": ("DCG", GAINS.dcg), "GainCurve": ("levels", partial(hc.GainCurve, Y, S)),
    "GainCurves": ("levels", partial(hc.GainCurves, Y, S, qid=QID)),
    "evaluate": ("runs", partial(hc.evaluate, *JUDGED, "AP")),
    "Evaluator": ("runs", partial(hc.Evaluator, JUDGED[0], "AP")),
}
MEASURES = {"evaluate": "runs", "HitCurves.mean": "", "GainCurves.mean": "", "HitCurve": "ranking", "mean_ndcg": "nDCG"}


@pytest.mark.parametrize("name", hc.PRESETS)
def test_a_preset_of_another_measure_is_an_error(name):
    """With every function that takes presets: a number of the right measure, or an error that names a keyword."""
    preset = hc.PRESETS[name]
    right = preset.function
    for called, (measure, call) in TAKE.items():
        try:
            value = call(**preset)
        except (TypeError, ValueError) as error:
            said = str(error)
            assert called != right, said
            # HitCurves.mean and GainCurves.mean without a measure, or with that of the other.
            if "takes exactly 2 positional" not in said and "with levels: use hitcurve.GainCurve" not in said:
                assert any(key in said for key in preset), (called, said)
            continue
        ours = MEASURES.get(right, "AP")
        assert measure == ours or (ours, measure) == ("ranking", "AP"), called  # whose function makes a HitCurve
        assert called != right or not isinstance(value, float) or value > 0, called


@pytest.mark.parametrize("name", hc.PRESETS)
def test_a_preset_calls_the_function_that_takes_it(name):
    preset = hc.PRESETS[name]
    owner, _, method = preset.function.partition(".")
    of_mean = {key: value for key, value in preset.items() if method and key != "tiebreak"}
    build = {key: value for key, value in preset.items() if key not in of_mean}
    data = (*JUDGED, "AP") if owner == "evaluate" else (Y, S)
    queries = {"qid": QID} if method or owner.startswith("mean") else {}
    wanted = getattr(hc, owner)(*data, **queries, **build)
    wanted = getattr(wanted, method)(**of_mean) if method else wanted
    found = preset(*data, **queries)
    assert found.means == wanted.means if owner == "evaluate" else found == wanted
    if owner == "average_precision":
        assert preset(Y, S, qid=QID) == hc.mean_average_precision(Y, S, qid=QID, **preset)


def test_presets_are_dicts():
    preset = hc.PRESETS["CatBoost mrr"]
    curves = hc.HitCurves(Y, S, qid=QID)
    assert preset(Y, S, qid=QID, measure="RR@2") == curves.mean("RR@2", ties="worst", empty="zero")
    assert preset == {"measure": "RR", "ties": "worst", "empty": "zero"} == json.loads(json.dumps(preset))
    assert repr(preset) == "HitCurves(...).mean(measure='RR', ties='worst', empty='zero')"
    assert repr(hc.PRESETS["scikit-learn"]) == "average_precision(..., ties='threshold')"
    for made in (pickle.loads(pickle.dumps(preset)), preset | {}, {**preset}):
        assert type(made) is dict and made == preset
    assert copy.deepcopy(preset) == preset


def test_names_that_are_no_presets():
    with pytest.raises(KeyError, match="there is no preset 'CatBoost MAP'; near names: 'CatBoost', 'CatBoost map', "):
        hc.PRESETS["CatBoost MAP"]
    with pytest.raises(KeyError, match="there is no preset 'scikitlearn'; near names: 'scikit-learn'"):
        hc.PRESETS["scikitlearn"]
    with pytest.raises(KeyError, match="there is no preset 3; the presets are 'scikit-learn', "):
        hc.PRESETS[3]
