"""Typed code as users write it: mypy and pyright, both strict, must find nothing to say. Never run."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import hitcurve as hc
from hitcurve.compat import rdkit_scoring, sklearn_metrics, torchmetrics

Floats = NDArray[np.float64]


def numbers(y: NDArray[np.int8], s: NDArray[np.float32]) -> None:
    """A number comes back for a number, an array for an array."""
    assert_type(hc.average_precision(y, s), float)
    assert_type(hc.average_precision(y, s, k=10, ties="best", num_relevant=np.int64(3)), float)
    assert_type(hc.mean_average_precision(y, s, qid=["a", "b"], empty="zero"), float)
    curve = hc.HitCurve(y, s, tiebreak="order", workers=-1)
    assert_type(curve.average_precision(), float)
    assert_type(curve.average_precision(10), float)
    assert_type(curve.average_precision(np.int64(10), normalize="hits"), float)
    assert_type(curve.average_precision([1, 10]), Floats)
    assert_type(curve.average_precision(np.arange(1, 4)), Floats)
    assert_type(curve.precision(5), float)
    assert_type(curve.precision((5, 10), ties="worst"), Floats)
    assert_type(curve.precision(fraction=0.01), float)
    assert_type(curve.precision(fraction=[0.01, 0.1]), Floats)
    assert_type(curve.recall(np.array([5, 10])), Floats)
    assert_type(curve.recall(5, normalize="min"), float)
    assert_type(curve.fall_out(5), float)
    assert_type(curve.fall_out(fraction=[0.01, 0.1]), Floats)
    assert_type(curve.f_score(5, beta=2.0), float)
    assert_type(curve.f_score([5], beta=2.0), Floats)
    assert_type(curve.hits_at(fraction=np.float64(0.5)), float)
    assert_type(curve.success([1, 2]), Floats)
    assert_type(curve.reciprocal_rank(), float)
    assert_type(curve.reciprocal_rank([10]), Floats)
    assert_type(curve.order_accuracy(), float)
    assert_type(curve.order_accuracy([10], ties="best"), Floats)
    assert_type(curve.mean_rank(ties="worst"), float)
    assert_type(curve.mean_percentile_rank(ties="threshold"), float)
    assert_type(curve.roc_auc(), float)
    assert_type(curve.roc_auc(max_fpr=0.1, standardize=False), float)
    assert_type(curve.roc_auc(max_fpr=[0.1, 0.5]), Floats)
    assert_type(curve.roc_enrichment(0.01), float)
    assert_type(curve.roc_enrichment([0.01, 0.02]), Floats)
    assert_type(curve.enrichment_factor(0.01), float)
    assert_type(curve.enrichment_factor([0.01, 0.1]), Floats)
    assert_type(curve.enrichment_factor(k=10), float)
    assert_type(curve.enrichment_factor(k=[10, 20]), Floats)
    assert_type(curve.max_enrichment_factor([0.01]), Floats)
    assert_type(curve.normalized_enrichment_factor(0.01), float)
    assert_type(curve.rie(), float)
    assert_type(curve.rie([20.0, 100.0]), Floats)
    assert_type(curve.bedroc(80.5, ties="best"), float)
    assert_type(curve.bedroc(np.array([20.0])), Floats)
    assert_type(curve.log_auc(adjusted=True), float)
    assert_type(curve.log_auc([0.001, 0.01], max_fpr=0.1), Floats)
    assert_type(curve.chance(), float)


def tables(y: list[bool], s: list[float]) -> hc.HitCurve:
    curve = hc.HitCurve(y, s)
    assert_type(curve.num_items, int)
    assert_type(curve.prevalence, float)
    assert_type(len(curve), int)
    above: NDArray[Any] = curve.above
    score = curve.score
    if score is not None:
        assert_type(score.tolist(), Any)
    report = curve.tie_report(10)
    assert_type(report, hc.TieReport[float, int])
    assert_type(report.worst, float)
    assert_type(report.num_tied, int)
    assert_type(curve.roc_curve().fpr, Floats)
    assert_type(curve.precision_recall_curve().recall, Floats)
    counts = hc.at_threshold(y, s, 0.5)
    assert_type(counts.tp, int)
    assert_type(counts.precision, float)
    assert_type(hc.at_threshold(y, s, [0.5, 0.25]).recall, Floats)
    assert_type(hc.at_threshold(y, s, np.array([0.5, 0.25])).fn, NDArray[np.int64])
    found = curve.interval(rng=0)
    assert_type(found.confidence_interval, hc.ConfidenceInterval)
    assert_type(found.confidence_interval.low, float)
    assert_type(found.standard_error, float)
    assert_type(curve.p_value().pvalue, float)
    spread(report)
    hc.HitCurve.from_ranked([1, 0, 1], num_items=10)
    hc.HitCurve.from_ranks(above + 1, num_items=10)
    return hc.HitCurve.from_table(None, curve.above, curve.tied, curve.hits, num_items=curve.num_items)


def spread(report: hc.TieReport) -> Any:
    """Without parameters it is of no particular numbers."""
    return report.best - report.worst


def many(y: NDArray[np.bool_], s: NDArray[np.float64]) -> Floats:
    curves = hc.HitCurves(y, s, offsets=[0, 3, 7])
    assert_type(curves[0], hc.HitCurve)
    assert_type([len(curve) for curve in curves], list[int])
    assert_type(curves.average_precision(), Floats)
    assert_type(curves.mean_average_precision(10, empty="one"), float)
    assert_type(curves.tie_report().best, Floats)
    assert_type(curves.tie_report().largest_group, NDArray[np.int64])
    assert_type(curves.interval().confidence_interval.high, float)
    return curves.bedroc(20.0)


def levels(y: NDArray[np.int64], s: NDArray[np.float32]) -> hc.GainCurve:
    """Of levels: numbers for one curve, arrays for many, and the hit curves of a level."""
    assert_type(hc.ndcg(y, s, k=10, gain="exponential", unretrieved=[2, 1]), float)
    assert_type(hc.mean_ndcg(y, s, offsets=[0, 3, 7], k=np.int64(10), gain={1: 1, 2: 5.0}, empty="one"), float)
    assert_type(hc.mean_ndcg([[2, 0]], [[0.5, 0.1]], mask=np.ones((1, 2), bool), gain=np.array([0, 1, 5])), float)
    curve = hc.GainCurve(y, s, tiebreak="order")
    assert_type(curve.ndcg(), float)
    assert_type(curve.ndcg(10, discount=("log", 2), ideal_k="all"), float)
    assert_type(curve.ndcg([1, 10], discount=[1.0, 0.5], ties="worst"), Floats)
    assert_type(curve.dcg(np.arange(1, 4)), Floats)
    assert_type(curve.rbp(10, p=0.5), float)
    assert_type(curve.err(10, max_level=3), float)
    assert_type(curve.err([1, 10], ties="best"), Floats)
    assert_type(curve.rbp_residual([1, 10], p=0.5), Floats)
    assert_type(curve.insq(10, T=2), float)
    assert_type(curve.inst([1, 10], ties="best"), Floats)
    assert_type(curve.compat(ties="worst", p=0.9, normalize=False), float)
    assert_type(curve.pairwise_accuracy(ties="worst"), float)
    assert_type(curve.somers_d() + curve.goodman_kruskal_gamma(), float)
    assert_type(curve.mean_rank(ties="threshold") / curve.mean_percentile_rank(), float)
    assert_type(curve.q_measure(10, gain={1: 1, 2: 5}, beta=2), float)
    assert_type(curve.ncu([1, 10], stop="rbp", p=0.9, utility="blended"), Floats)
    assert_type(curve.graded_average_precision(weights=[0, 0.5, 0.5], ties="best"), float)
    assert_type(curve.average_gain(np.arange(1, 4)), Floats)
    assert_type(curve.num_relevant, int)
    assert_type(curve.level, Floats)
    assert_type(curve.at_level(2), hc.HitCurve)
    points = curve.gain_curve(gain="exponential", ties="best", ideal=True)
    assert_type(points, hc.GainCurvePoints)
    assert_type(points.gain, Floats)
    curve.plot(k=10, gain=[0, 1, 5], band=0.95, color="red")
    curve.at_level(2).plot("pr", label="a").plot(ax=None)
    assert_type(curve.interval("nDCG@10", stratified=True).confidence_interval.low, float)
    assert_type(curve.resample(100, workers=2), hc.GainCurves)
    curves = hc.GainCurves(y, s, qid=["a", "b"], unretrieved=[[1], []])
    hc.plot_curves({"a": curve}, "gain", gain={1: 1, 2: 5})
    page = hc.plot_figure(1, 2, width="page", height=3.0)
    hc.plot_evaluations({"a": curves, "b": curves}, "scatter", measure="nDCG@10", ax=page.axes[0]).plot(kind="queries")
    curves.at_level(2).plot("distribution", measure="AP", ties="best", color="red")
    assert_type(hc.compare({"a": curves, "b": curves}, measures="nDCG@10").rows[0].difference, float)
    assert_type(curves.ndcg(10), Floats)
    assert_type(curves.err(10), Floats)
    assert_type(curves.inst(ties="worst"), Floats)
    assert_type(curves.compat(ties="best"), Floats)
    assert_type(curves.goodman_kruskal_gamma(), Floats)
    assert_type(curves.mean_ndcg(10, empty="zero", gain=[0, 1, 5]), float)
    assert_type(curves.at_level(1.5), hc.HitCurves)
    assert_type([one.dcg() for one in curves], list[float])
    assert_type(curves[0], hc.GainCurve)
    table = hc.GainCurve.from_table(None, curve.above, curve.tied, curve.level_offsets, curve.level, curve.level_count,
                                    num_items=curve.num_items)
    return hc.GainCurve.from_ranked([2, 0, 1.5], num_items=10) if table == curve else table


def diversity(y: list[list[int]], s: list[float]) -> hc.SubtopicCurve:
    """Items with subtopics have curves of the same kinds."""
    curve = hc.SubtopicCurve(y, s, subtopics=["a", "b"], unretrieved=[[1, 0]])
    assert_type(curve.interval("alpha_nDCG@10", rng=1).confidence_interval.low, float)
    assert_type(curve.resample(100, workers=2), hc.SubtopicCurves)
    assert_type(curve.subtopic("a"), hc.HitCurve)
    assert_type(curve.highest_levels(), hc.GainCurve)
    curve.plot("precision-recall", relevance_level=2, band=0.95, color="red")
    curves = hc.SubtopicCurves(y, s, qid=["a", "b"])
    assert_type(curves.mean("P_IA@5", empty="zero"), float)
    assert_type(curves.interval(method="t").estimate, float)
    assert_type(curves[0], hc.SubtopicCurve)
    assert_type(hc.compare(y, {"a": s, "b": s}, measures="alpha_nDCG@10").rows[0].difference, float)
    table = hc.SubtopicCurve.from_table(curve.score, curve.above, curve.tied, curve.hits, curve.levels, num_items=2)
    return hc.SubtopicCurve.from_ranked(y, tied=[1, 2]) if table == curve else table


def runs(paths: list[str]) -> None:
    """A list of runs is measured to a list."""
    qrels = hc.read_qrels("qrels.txt")
    found = hc.evaluate(qrels, "run.txt", ["AP", "P@10"], ties="expected")
    assert_type(found, hc.Evaluation)
    assert_type(found.means["AP"], float)
    assert_type(found.tie_report()["AP"].worst, float)
    assert_type(found.user_model("INST(T=2)", cost=[1, 2]).residual, hc.UserModel[Floats] | None)
    run = hc.read_run("run.txt")
    assert_type(hc.evaluate(qrels, run), hc.Evaluation)
    assert_type(hc.evaluate(qrels, {"mine": run}), dict[str, hc.Evaluation])
    assert_type(qrels["q"]["d"], int)
    assert_type(run.get("q", {}), dict[str, float])
    assert_type([(query, docs) for query, docs in run.items()], list[tuple[str, dict[str, float]]])
    assert_type(run.to_dict(), dict[str, dict[str, float]])
    assert_type(hc.Evaluation.from_json(found.to_json()), hc.Evaluation)
    assert_type(hc.Evaluation.from_parquet("values.parquet").query_ids, list[str])
    evaluator = hc.Evaluator(qrels, ["map"], rank_by="listed")
    assert_type(evaluator.evaluate("run.txt", "mine"), hc.Evaluation)
    assert_type(evaluator.evaluate(paths), list[hc.Evaluation])
    assert_type(hc.evaluate({"q": {"d": 1}}, {"q": {"d": 0.5}}, "AP"), hc.Evaluation)
    assert_type(hc.evaluate(qrels, paths, workers=2), list[hc.Evaluation])
    assert_type(hc.evaluate(qrels, paths, progress=True), list[hc.Evaluation])
    assert_type(hc.evaluate([[1], [2]], [[3, 1], [2]], "AP"), hc.Evaluation)
    assert_type(hc.evaluate(qrels, ("one.txt", {"q": {"d": 0.5}})), list[hc.Evaluation])
    assert_type(hc.Leaderboard(hc.evaluate(qrels, paths)).to_latex(caption="all"), str)
    assert_type(hc.Leaderboard(hc.evaluate(qrels, paths), sort="AP", baseline="a", letters=True, rng=0), hc.Leaderboard)
    assert_type(hc.Leaderboard({"a": found}).means["a"]["AP"], float)
    assert_type(hc.evaluate(qrels, paths, queries=str.isdigit), list[hc.Evaluation])
    strata = hc.evaluate(qrels, run, queries={"q": "short"}).by()
    assert_type(strata, hc.Leaderboard)
    assert_type(strata.strata["short"]["run"]["AP"], float)
    assert_type(hc.Leaderboard([found], queries={"q"}).strata, dict[str, dict[str, dict[str, float]]])
    assert_type(hc.compare([found, found], queries={"q": "short"}).strata["short"], hc.Comparison)
    assert_type(hc.compare({"2023": found, "2024": found}, paired=False).counts, dict[str, int])
    assert_type(found.unjudged(10, also=[(found, run), found])[0], hc.UnjudgedDocument)
    assert_type([row.ap_high for row in found.unjudged(run=run).bounds], list[float])
    assert_type(hc.compare([found, found]).to_markdown("wide", p="p_tukey", digits=3), str)


def blocks(y: NDArray[np.bool_], s: NDArray[np.float64]) -> float:
    counter = hc.HitCounter(edges=[0.0, 0.5, 1.0])
    counter.update(y, s)
    counter += hc.HitCounter(edges=[0.0, 0.5, 1.0])
    gains = hc.GainCounter([0.5, 1.0], [1, 2])
    gains.update(y, s)
    gains += hc.GainCounter([0.5, 1.0], [1, 2])
    assert_type(gains.merge(gains), hc.GainCounter)
    assert_type(gains.curve(unretrieved=[2]), hc.GainCurve)
    return counter.curve(num_relevant=7).average_precision(ties="worst")


def instead_of_sklearn(y: list[int], s: list[float]) -> None:
    fpr, tpr, _ = sklearn_metrics.roc_curve(y, s, drop_intermediate=False)
    assert_type(sklearn_metrics.auc(fpr, tpr), float)
    assert_type(sklearn_metrics.ndcg_score([y], [s], k=3), float)


def refused(y: list[int], s: list[float]) -> None:
    """What has no meaning is an error of the type checker too (else these comments would be unused, which is one)."""
    hc.average_precision(y, s, ties="mean")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    hc.average_precision(y, s, 10)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    hc.HitCurve(y, s).success(1, ties="threshold")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
    hc.ndcg(y, s, ties="threshold")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    hc.ndcg(y, s, gain="square")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    hc.HitCurve(y, s).bedroc("20")  # type: ignore[arg-type]  # pyright: ignore[reportCallIssue, reportArgumentType]


def scanned() -> None:
    labels, scores, queries = [True, False], [2.0, 1.0], [1, 1]
    assert_type(hc.scan((labels, scores)), hc.HitCurve)
    assert_type(hc.scan((labels, scores), workers=2).average_precision(), float)
    assert_type(hc.scan((labels, scores, queries), sorted="group"), hc.HitCurves)
    assert_type(hc.scan("a.parquet", "y", "s", nan_policy="omit"), hc.HitCurve)
    assert_type(hc.scan("a.parquet", "y", "s", "q"), hc.HitCurves)
    assert_type(hc.scan("a.csv", "y", "s", delimiter=";", decimal=",", na=["-", "-999"], positive="x"), hc.HitCurve)
    assert_type(hc.scan("a.csv", "y", "s", "q", na="-", positive="x"), hc.HitCurves)
    assert_type(hc.scan("a.parquet", grade="g", score="s", unretrieved=[2]), hc.GainCurve)
    assert_type(hc.scan("a.parquet", grade="g", score="s", group="q"), hc.GainCurves)
    assert_type(hc.scan((labels, scores), grade=1), hc.GainCurve)
    assert_type(hc.scan((labels, scores, queries), grade=1), hc.GainCurves)
    assert_type(hc.scan("a.parquet", score="s", subtopics=["a", 2], unretrieved=[[2, 0]]), hc.SubtopicCurve)
    assert_type(hc.scan("a.parquet", score="s", group="q", subtopics=["a", "b"]), hc.SubtopicCurves)
    assert_type(hc.scan((labels, scores), subtopics=True), hc.SubtopicCurve)
    assert_type(hc.scan((labels, scores, queries), subtopics=["a", "b"]), hc.SubtopicCurves)
    assert_type(hc.scan(lambda: [(labels, scores, queries)], group=3), hc.HitCurves)


def moved_over(rows: list[list[float]], preds: Floats, target: NDArray[np.int64]) -> None:
    assert_type(rdkit_scoring.CalcROC(rows, 1).TPR, list[float])
    assert_type(rdkit_scoring.CalcEnrichment(rows, 1, [0.01]), list[float])
    metric = torchmetrics.RetrievalPrecision("skip", top_k=10, adaptive_k=True)
    metric.update(preds, target, indexes=target)
    assert_type(metric.compute(), np.float64)
    assert_type(torchmetrics.BinaryAUROC(max_fpr=0.1)(preds, target), np.float64)
