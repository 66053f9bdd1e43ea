"""Where tools disagree about the same ranking: each case as a record that is run, by the tests and by the docs.

A record shows the other tool's number from the tool itself where it is installed, and from its published rule, written
anew here, where it is not (where both are there, they must agree); a number that no rule gives is then that of its last
run. Every number is checked against the one written
down, so a tool that changes its mind fails a test and stops the docs. A record's docstring says why the numbers differ.
"""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from records import (
    AREA,
    NORMALIZED,
    RECORDS,
    SECTIONS,
    Shown,
    lines_of,
    precision_at_hits,
    pytrec,
    record,
    spark,
    trec_eval,
)

import hitcurve as hc

__all__ = ["RECORDS", "SECTIONS"]


def rows(flags: Any) -> list[list[int]]:
    return [[int(flag)] for flag in flags]


# --- ties -------------------------------------------------------------------------------------------------------------


@record("Ties", "A tie that is worth more than the best of its orders")
def above_the_best(show: Shown) -> None:
    """Ten relevant items share one score, below a hundred others. Whatever their order, they hold ranks 101 to 110.

    scikit-learn lets a tie enter at once: all ten get the precision after the tenth, 10/110. That is neither the mean
    over the orders nor a bound of them. On average it is too low. Here it is above every order. cornac's MAP and the
    label ranking average precision of scikit-learn are the same rule.
    """
    show.given("y = [0] * 100 + [1] * 10", "s = [2.0] * 100 + [1.0] * 10")
    y, s = show.names["y"], show.names["s"]
    show.peer("scikit-learn", "average_precision_score(y, s)", 1 / 11, lambda m: m.average_precision_score(y, s),
              lambda: 10 * (10 / 110) / 10)
    show.peer("scikit-learn", "label_ranking_average_precision_score([y], [s])", 1 / 11,
              lambda m: m.label_ranking_average_precision_score([y], [s]))
    show.ours("hc.average_precision(y, s, ties='threshold')", 1 / 11)
    any_order = math.fsum(j / (100 + j) for j in range(1, 11)) / 10
    show.ours("hc.average_precision(y, s)", any_order)
    show.band("hc.average_precision(y, s, ties=...)", any_order, any_order, any_order)


@record("Ties", "A scorer that says nothing, and BEDROC 1.00")
def constant_scorer(show: Shown) -> None:
    """RDKit takes rows that the caller has sorted. It never sees a score, so ties keep the order of the caller's sort.

    The widespread line `sorted(zip(score, label), reverse=True)` compares labels where scores are equal: actives come
    first. Sorting stably by the score alone leaves the order of the input, as scikit-fingerprints 2.1 and
    DeepChem do: then the number says how the file was written. An ascending `sorted` puts actives last.
    """
    show.given("y = [0] * 990 + [1] * 10", "s = [0.0] * 1000")
    y, s = show.names["y"], show.names["s"]
    first = rows(label for _, label in sorted(zip(s, y, strict=True), reverse=True))
    show.peer("rdkit", "CalcBEDROC(sorted(zip(s, y), reverse=True), 1, 20.0)", 1.0,
              lambda m: m.CalcBEDROC(first, 0, 20.0))
    show.peer("rdkit", "CalcEnrichment(sorted(zip(s, y), reverse=True), 1, [0.01])", [100.0],
              lambda m: m.CalcEnrichment(first, 0, [0.01]))
    show.peer("rdkit", "CalcBEDROC(list(zip(s, y)), 1, 20.0)", 0.0, lambda m: m.CalcBEDROC(rows(y), 0, 20.0))
    show.peer("scikit-fingerprints", "bedroc_score(y, s)", 0.0, lambda m: m.bedroc_score(np.array(y), np.array(s)))
    show.ours("hc.HitCurve(y, s, tiebreak='order').bedroc(20.0)", 0.0)
    show.ours("hc.HitCurve(y, s).bedroc(20.0)", 0.0551666)
    show.ours("hc.HitCurve(y, s).enrichment_factor(0.01)", 1.0)
    show.band("hc.HitCurve(y, s).bedroc(20.0, ties=...)", 0.0, 0.0551666, 1.0)
    show.band("hc.HitCurve(y, s).enrichment_factor(0.01, ties=...)", 0.0, 1.0, 100.0)


@record("Ties", "Fifteen tied documents or sixteen")
def fifteen_or_sixteen(show: Shown) -> None:
    """ranx sorts with numba's `argsort`. It inserts up to 15 items, which is stable, and partitions from 16 on, which
    is not. A relevant document that is the first of 15 tied ones is ranked first. The first of 16 is ranked 15th.
    Dictionaries take a reversed sort, so the same data as dictionaries have a third number. No rule gives these
    numbers: they follow from the sort's inner steps.
    """
    show.given("y15, s15 = [1] + [0] * 14, [1.0] * 15", "y16, s16 = [1] + [0] * 15, [1.0] * 16")

    def data(n: int) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"q": {"d00": 1}}, {"q": {f"d{i:02}": 1.0 for i in range(n)}}

    for n, as_run, as_dict in ((15, 1.0, 1 / 15), (16, 1 / 15, 0.5)):
        qrels, run = data(n)
        show.peer("ranx", f"evaluate(Qrels(qrels), Run(run), 'map'), {n} tied", as_run,
                  lambda m, q=qrels, r=run: m.evaluate(m.Qrels(q), m.Run(r), "map"))
        show.peer("ranx", f"evaluate(qrels, run, 'map'), {n} tied", as_dict,
                  lambda m, q=qrels, r=run: m.evaluate(q, r, "map"))
    show.ours("hc.average_precision(y15, s15), hc.average_precision(y16, s16)", (0.2212153, 0.2112956))
    show.band("hc.average_precision(y15, s15, ties=...)", 1 / 15, 0.2212153, 1.0)
    show.band("hc.average_precision(y16, s16, ties=...)", 1 / 16, 0.2112956, 1.0)


@record("Ties", "Reciprocal rank 0.5, and 1.0 among the first ten")
def two_providers(show: Shown) -> None:
    """ir_measures hands `RR` to pytrec_eval, which ranks tied documents by descending id, and `RR@10` to its MS MARCO
    provider, which ranks them by ascending id. A measure with a cutoff is then greater than the same measure without a
    cutoff.
    """
    show.given("y, s = [1, 0], [1.0, 1.0]  # documents d1, d2")
    qrels, run = {"q": {"d1": 1}}, {"q": {"d1": 1.0, "d2": 1.0}}
    for name, wanted in (("RR", 0.5), ("RR@10", 1.0)):
        show.peer("ir_measures", f"calc_aggregate([{name}], qrels, run)", wanted,
                  lambda m, n=name: m.calc_aggregate([m.parse_measure(n)], qrels, run)[m.parse_measure(n)])
    show.ours("hc.HitCurve(y, s).reciprocal_rank(), hc.HitCurve(y, s).reciprocal_rank(10)", (0.75, 0.75))
    show.band("hc.HitCurve(y, s).reciprocal_rank(ties=...)", 0.5, 0.75, 1.0)


@record("Ties", "A document's name decides")
def names_decide(show: Shown) -> None:
    """trec_eval, and with it pytrec_eval and ir_measures, ranks tied documents by descending id and ignores the ranks
    in the run file. Rename a document and the number changes. The rule is deterministic, but unfair to whoever's
    documents begin with A (Cabanac et al. 2010, CLEF).
    """
    show.given("s = [1.0] * 10", "first, last = [1] + [0] * 9, [0] * 9 + [1]", "docno = np.arange(10)")
    run = {"q": {f"d{i}": 1.0 for i in range(10)}}
    show.peer("pytrec_eval-terrier", "map, the relevant document named d0", 0.1, pytrec("map", {"q": {"d0": 1}}, run),
              lambda: 1 / 10)
    show.peer("pytrec_eval-terrier", "map, the relevant document named d9", 1.0, pytrec("map", {"q": {"d9": 1}}, run),
              lambda: 1.0)
    show.ours("hc.average_precision(first, s, tiebreak=-docno)", 0.1)
    show.ours("hc.average_precision(last, s, tiebreak=-docno)", 1.0)
    show.ours("hc.average_precision(first, s)", 0.2928968)
    show.band("hc.average_precision(first, s, ties=...)", 0.1, 0.2928968, 1.0)


@record("Ties", "One program, two orders of ties")
def two_orders(show: Shown) -> None:
    """trec_eval ranks tied documents by descending id, but for its measures of preferences (`prefs_...`) by ascending
    id. So a run has two orders in one program. hitcurve has trec_eval's number of each under `ties="docid"`.
    """
    show.given('qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}')
    lines = lines_of({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}})
    show.peer("trec_eval", "recip_rank, version 10", 0.5, trec_eval("recip_rank", *lines))
    show.peer("trec_eval", "prefs_simp, version 10", 1.0, trec_eval("prefs_simp", *lines, "qrels_prefs"))
    show.ours('hc.evaluate(qrels, run, "RR")["RR"]', 0.5)
    show.ours('hc.evaluate(qrels, run, "Pref")["Pref"]', 1.0)
    show.band('hc.evaluate(qrels, run, "Pref", ties=...)["Pref"]', 0.0, 0.5, 1.0)


@record("Ties", "Ties in the order of topk")
def topk_order(show: Shown) -> None:
    """The retrieval measures of torchmetrics sort by `topk`, which promises nothing about ties. In the version named
    the first of five tied documents is ranked fourth and the third is ranked first. No rule gives these numbers.
    """
    show.given("y, s = [1, 0, 0, 0, 0], [1.0] * 5")

    def real(module: Any) -> float:
        torch = importlib.import_module("torch")
        return float(module.functional.retrieval_average_precision(torch.ones(5), torch.tensor([1, 0, 0, 0, 0])))

    show.peer("torchmetrics", "retrieval_average_precision(s, y)", 0.25, real)
    show.ours("hc.average_precision(y, s)", 0.4566667)
    show.band("hc.average_precision(y, s, ties=...)", 0.2, 0.4566667, 1.0)


@record("Ties", "Docking scores with one decimal")
def docking_scores(show: Shown) -> None:
    """A docking program writes energies with one decimal, so a hundred thousand compounds share some eighty scores. The
    order that a sort happens to leave inside these groups moves AP by a quarter. In whole numbers it moves AP
    thirteenfold. The two rows of a stable sort differ only in whether actives come first or last in the file.
    """
    show.given(
        "rng = np.random.default_rng(0)",
        "y = np.repeat([1, 0], [100, 99_900])",
        "energy = np.where(y == 1, -7.5, -6.0) + rng.normal(0, 1, y.size)",
        "tenths, whole = np.round(energy, 1), np.round(energy)",
    )
    y, s = show.names["y"], -show.names["whole"]
    for which, order, bedroc in (("first", slice(None), 0.5198642), ("last", slice(None, None, -1), 0.2207369)):
        flags = y[order][np.argsort(-s[order], kind="stable")]
        show.peer("rdkit", f"CalcBEDROC(rows, 0, 20.0) of `whole` sorted stably, actives {which} in the file", bedroc,
                  lambda m, f=flags: m.CalcBEDROC(rows(f), 0, 20.0))
    show.peer("scikit-learn", "average_precision_score(y, -whole)", 0.0078331,
              lambda m: m.average_precision_score(y, s))
    show.ours("hc.average_precision(y, whole, lower_is_better=True)", 0.0125013)
    show.ours("hc.HitCurve(y, whole, lower_is_better=True).bedroc(20.0)", 0.3249362)
    show.band("hc.average_precision(y, energy, lower_is_better=True, ties=...)", 0.0115215, 0.0115215, 0.0115215)
    show.band("hc.average_precision(y, tenths, lower_is_better=True, ties=...)", 0.0102360, 0.0114398, 0.0129221)
    show.band("hc.average_precision(y, whole, lower_is_better=True, ties=...)", 0.0053782, 0.0125013, 0.0725515)
    show.band("hc.HitCurve(y, whole, lower_is_better=True).bedroc(20.0, ties=...)", 0.2207369, 0.3249362, 0.5198642)
    show.band("hc.HitCurve(y, whole, lower_is_better=True).enrichment_factor(0.001, ties=...)", 20.0, 34.9378882, 150.0)


@record("Ties", "Scores that only single precision ties")
def single_precision(show: Shown) -> None:
    """trec_eval 9, and pytrec_eval, which holds it, keep scores in single precision; trec_eval 10 keeps double. Two
    scores that differ in the ninth digit are tied in 9, and then ids decide. Hugging Face's `evaluate` declares scores
    as float32 too.
    """
    show.given("y, s = np.array([1, 0]), np.array([0.500000001, 0.5])  # documents d1, d2", "docno = np.array([1, 2])")
    qrels, run = {"q": {"d1": 1}}, {"q": {"d1": 0.500000001, "d2": 0.5}}

    def by_id(kind: str) -> float:
        ranked = sorted(run["q"], key=lambda doc: (np.dtype(kind).type(run["q"][doc]), doc), reverse=True)
        return precision_at_hits([doc in qrels["q"] for doc in ranked], 1)

    show.peer("pytrec_eval-terrier", "map", 0.5, pytrec("map", qrels, run), lambda: by_id("float32"))
    show.peer("trec_eval", "map, version 10", 1.0, trec_eval("map", *lines_of(qrels, run)), lambda: by_id("float64"))
    show.ours("hc.average_precision(y, s.astype('float32'), tiebreak=-docno)", 0.5)
    show.ours("hc.average_precision(y, s, tiebreak=-docno)", 1.0)
    show.band("hc.average_precision(y, s.astype('float32'), ties=...)", 0.5, 0.75, 1.0)


@record("Ties", "Relevant items before the sort")
def relevant_before_the_sort(show: Shown) -> None:
    """copairs puts the positive pairs before the others and sorts stably; TFRS counts every relevant item that is tied
    with the last of the first k as a hit. Both read a tie at its best. TF-Ranking shuffles ties, anew in each call
    unless it is seeded: one draw from between worst and best.
    """
    show.given("y, s = [0, 1, 0, 0, 1, 0], [3.0, 2.0, 2.0, 2.0, 2.0, 1.0]")
    y, s = np.array(show.names["y"]), np.array(show.names["s"])

    def copairs() -> float:
        flags = np.sort(y)[::-1][np.argsort(-np.concatenate([s[y == 1], s[y == 0]]), kind="stable")]
        found = np.cumsum(flags)
        return float(np.mean((found / np.arange(1, 7))[flags == 1]))

    def tfrs() -> float:
        return float(np.mean([np.sum(s > score) < 2 for score in s[y == 1]]))

    show.peer("copairs", "average precision", 7 / 12, rule=copairs)
    show.peer("TFRS", "FactorizedTopK, recall among the first 2", 1.0, rule=tfrs)
    show.ours("hc.average_precision(y, s, ties='best')", 7 / 12)
    show.ours("hc.HitCurve(y, s).recall(2, ties='best')", 0.5)
    show.ours("hc.HitCurve(y, s).recall(2)", 0.25)
    show.band("hc.average_precision(y, s, ties=...)", 0.325, 0.4402778, 7 / 12)
    show.band("hc.HitCurve(y, s).recall(2, ties=...)", 0.0, 0.25, 0.5)


@record("Ties", "A random scorer with log AUC 0.50")
def log_auc_of_nothing(show: Shown) -> None:
    """The ROC curve of a constant score is the diagonal. Over the logarithm of the false-positive rate it is bent.
    torchmetrics, TDC and oddt compute a trapezoid between its two points, which is not the area under it: 0.50 in
    place of 0.145. The exact integral of a straight ROC segment is Δy/ln 10 + b·Δlog₁₀ x. The programs of DOCK and
    DUD-E have that integral, but break ties by the order of a stable sort. If the actives come before the decoys in
    the file, noise with enough ties has the best of all values, 85.54 %.
    """
    show.given("y, s = [1] * 10 + [0] * 9990, [0.5] * 10_000")

    def real(module: Any) -> float:
        torch = importlib.import_module("torch")
        logauc = importlib.import_module("torchmetrics.functional.classification").binary_logauc
        return float(logauc(torch.tensor(show.names["s"]), torch.tensor(show.names["y"]), fpr_range=(0.001, 1.0)))

    def rule() -> float:
        return (0.001 + 1) / 2 * (math.log10(1) - math.log10(0.001)) / 3

    show.peer("torchmetrics", "binary_logauc(s, y, fpr_range=(0.001, 1))", 0.5005, real, rule)
    show.peer("DUD-E's enrich.py and its kin", "adjusted logAUC, actives first in the file", 0.8553795,
              rule=lambda: 1 - (1 - 0.001) / (math.log(10) * 3))  # found all at false-positive rate 0: area 1
    show.ours('hc.HitCurve(y, s).log_auc(0.001, ties="threshold")', 0.1446205)
    show.ours('hc.HitCurve(y, s).log_auc(0.001, adjusted=True, ties="threshold")', 0.0)
    show.band("hc.HitCurve(y, s).log_auc(0.001, ties=...)", 0.0, 0.1446557, 1.0)
    show.band("hc.HitCurve(y, s).log_auc(0.001, adjusted=True, ties=...)", -0.1446205, 0.0000357, 0.8553795)


@record("Ties", "Ties that count as losses")
def ties_as_losses(show: Shown) -> None:
    """In ROC AUC a tied pair counts a half. That is the mean over its orders. scikit-learn and the area under the
    polygon say so, and RDKit does on average. cornac counts pairs with a strictly greater score only: its number is
    the worst order. precrec's statistic with `ustat_method="sort"` counts them as wins: the best order. Its default is
    the half.
    """
    show.given("y, s = [1, 0, 1, 0], [3.0, 3.0, 2.0, 1.0]")
    y, s = np.array(show.names["y"]), np.array(show.names["s"])
    show.peer("cornac", "AUC", 0.5, rule=lambda: np.mean(s[y == 1][:, None] > s[y == 0][None, :]))
    show.peer("precrec 0.14", "aucroc, ustat_method='sort'", 0.75,
              rule=lambda: np.mean(s[y == 1][:, None] >= s[y == 0][None, :]))
    show.peer("scikit-learn", "roc_auc_score(y, s)", 0.625, lambda m: m.roc_auc_score(y, s))
    show.ours("hc.HitCurve(y, s).roc_auc()", 0.625)
    show.band("hc.HitCurve(y, s).roc_auc(ties=...)", 0.5, 0.625, 0.75)


@record("Ties", "nDCG, with ties averaged and not")
def ndcg_ties(show: Shown) -> None:
    """For nDCG scikit-learn takes the mean over all orders of a tie (McSherry & Najork 2008), and torchmetrics follows
    it. trec_eval and what is built on it rank by document id here too, so one ranking has two values of nDCG. For
    average precision scikit-learn has no such mean.
    """
    show.given("qrels = {'q': {'a': 1, 'b': 0, 'c': 2}}", "run = {'q': {'a': 1.0, 'b': 1.0, 'c': 1.0}}")
    qrels, run = show.names["qrels"], show.names["run"]
    gains = [1, 0, 2]
    discounts = [1 / math.log2(rank + 1) for rank in (1, 2, 3)]
    ideal = 2 * discounts[0] + discounts[1]
    show.peer("scikit-learn", "ndcg_score([[1, 0, 2]], [[1, 1, 1]])", sum(gains) / 3 * sum(discounts) / ideal,
              lambda m: m.ndcg_score([gains], [[1.0, 1.0, 1.0]]))
    show.peer("pytrec_eval-terrier", "ndcg", (2 * discounts[0] + discounts[2]) / ideal, pytrec("ndcg", qrels, run))
    show.ours("hc.evaluate(qrels, run, 'nDCG').means['nDCG']", (2 * discounts[0] + discounts[2]) / ideal)
    show.ours("hc.evaluate(qrels, run, 'nDCG', ties='expected').means['nDCG']", sum(gains) / 3 * sum(discounts) / ideal)
    show.band("hc.evaluate(qrels, run, 'nDCG', ties=...).means['nDCG']", 0.6199062, 0.8099531, 1.0)


@record("Ties", "Neighbours at the same distance")
def same_distance(show: Shown) -> None:
    """The recall of an approximate search for neighbours asks how many of the k nearest it found. Where several are
    equally far, the exact search chooses "the" nearest by accident. ann-benchmarks therefore counts every neighbour
    that is no farther than the k-th, plus a little. A comparison of ids does not. Here you choose by the labels.
    """
    show.given("distance = [1.0, 2.0, 2.0, 3.0]  # of items 0 to 3; the two nearest: 0, and 1 or 2", "found = [0, 2]")
    distance, found = np.array(show.names["distance"]), show.names["found"]
    show.peer("any that compares ids", "recall of the 2 nearest by a stable sort: 0 and 1", 0.5,
              rule=lambda: len({*np.argsort(distance, kind="stable")[:2].tolist()} & {*found}) / 2)
    show.peer("ann-benchmarks", "recall, k = 2", 1.0,
              rule=lambda: np.mean(distance[found] <= np.sort(distance)[1] + 1e-3))
    show.ours("hc.HitCurve.from_ranked([item in {0, 1} for item in found], num_relevant=2).recall(2)", 0.5)
    show.ours("hc.HitCurve.from_ranked([distance[item] <= 2.0 for item in found]).precision(2)", 1.0)
    show.band("hc.HitCurve([1, 0, 1, 0], distance, lower_is_better=True).recall(2, ties=...)", 0.5, 0.75, 1.0)


@record("Ties", "Detections of one score, by image")
def detections_by_image(show: Shown) -> None:
    """pycocotools sorts detections by a stable sort: those with one score stay in the order of their images' ids. The
    VOC development kit sorts stably too; its Python copies call `np.argsort`, which is not stable.
    """
    show.given("hit, confidence = [0, 1], [0.9, 0.9]  # images 1 and 2, two objects in all")

    def real(module: Any) -> float:
        return coco_average_precision(module, [[0], [1]], [[0.9], [0.9]], 2)

    show.peer("pycocotools", "AP", 51 * 0.5 / 101, real, lambda: 51 * 0.5 / 101)
    show.ours("hc.average_precision(hit, confidence, num_relevant=2, **hc.PRESETS['COCO'])", 51 * 0.5 / 101)
    show.band("hc.average_precision(hit, confidence, num_relevant=2, interpolation='101-point', ties=...)",
              51 * 0.5 / 101, 51 * 0.5 / 101, 51 / 101)


# --- definitions ------------------------------------------------------------------------------------------------------


@record("Ties", "Compatibility by the first name, or by the last")
def compatibility_of_ties(show: Shown) -> None:
    """Both documents have the same score. ir_measures hands Compat to a program of its own, which ranks equal scores
    by ascending id; most other measures rank them by descending id, as trec_eval does. Within a level, its ideal
    ranking has equal scores in the order of the judgments, so it need not be the nearest ideal ranking.
    """
    show.given('qrels = {"q": {"a": 2, "b": 1}}', 'run = {"q": {"a": 1.0, "b": 1.0}}')
    qrels, run = show.names["qrels"], show.names["run"]
    show.peer("ir_measures", "calc_aggregate([Compat], qrels, run)", 1.0,
              lambda m: m.calc_aggregate([m.Compat], qrels, run)[m.Compat])
    last = 0.95 / (1 + 0.95)
    show.ours('hc.evaluate(qrels, run, "Compat")["Compat"]', last)
    show.band('hc.evaluate(qrels, run, "Compat", ties=...)["Compat"]', last, "no closed form", 1.0)


@record("Definitions", "AP@k, divided by five different numbers")
def normalizers(show: Shown) -> None:
    """The sum of the precisions at the relevant items among the first k is divided by R (trec_eval, pytrec_eval,
    ir_measures, ranx, TF-Ranking), by min(R, k) (Spark, recommenders, RecBole, Kaggle, Vespa; LensKit by the lesser of
    R and the length of the list) or by the relevant items found (torchmetrics, much image-hashing code). Elliot's MAP
    is the mean of P@1 to P@k, whatever is relevant. MAP@R of pytorch-metric-learning is AP@R divided by R. Few of them
    say what they divide by.
    """
    show.given("y, s = [0, 1, 0, 1, 0, 0, 0, 1, 1, 1], list(range(10, 0, -1))")
    assert (show.names["y"], show.names["s"]) == NORMALIZED
    y = np.array(show.names["y"])
    qrels = {"q": {f"d{i}": int(y[i]) for i in range(10)}}
    run = {"q": {f"d{i}": 10.0 - i for i in range(10)}}
    hits = np.flatnonzero(y[:4])
    total = float(np.sum((np.arange(len(hits)) + 1) / (hits + 1)))
    show.peer("pytrec_eval-terrier", "map_cut.4", total / 5, pytrec("map_cut.4", qrels, run),
              lambda: total / 5)
    show.peer("ir_measures", "AP@4", total / 5,
              lambda m: m.calc_aggregate([m.parse_measure("AP@4")], qrels, run)[m.parse_measure("AP@4")])
    show.peer("ranx", "map@4", total / 5, lambda m: m.evaluate(m.Qrels(qrels), m.Run(run), "map@4"))
    show.peer("pyspark", "RankingMetrics.meanAveragePrecisionAt(4)", total / 4, lambda m: spark()["at 4"],
              lambda: total / min(5, 4))

    def real(module: Any) -> float:
        torch = importlib.import_module("torch")
        score = torch.tensor(show.names["s"], dtype=torch.float32)
        return float(module.functional.retrieval_average_precision(score, torch.tensor(show.names["y"]), top_k=4))

    show.peer("torchmetrics", "retrieval_average_precision(s, y, top_k=4)", total / 2, real, lambda: total / len(hits))
    show.peer("Elliot", "MAP at 4", (0 + 1 / 2 + 1 / 3 + 2 / 4) / 4,
              rule=lambda: np.mean([np.mean(y[:k]) for k in range(1, 5)]))
    show.peer("pytorch-metric-learning", "MAP@R", 0.2, rule=lambda: precision_at_hits(y[:5], 5))
    show.ours("hc.average_precision(y, s, k=4, normalize='relevant')", 0.2)
    show.ours("hc.average_precision(y, s, k=4, normalize='min')", 0.25)
    show.ours("hc.average_precision(y, s, k=4, normalize='hits')", 0.5)
    show.ours("np.mean(hc.HitCurve(y, s).precision([1, 2, 3, 4]))", 1 / 3)
    show.ours("hc.average_precision(y, s, k=5)  # MAP@R: k = R", 0.2)
    show.same("hc.average_precision(y, s, k=4, ties=...)", 0.25)


@record("Definitions", "Compatibility to depth 1000, or to the end")
def compatibility_depth(show: Shown) -> None:
    """Rank-biased overlap has no last depth. ir_measures stops at the end of the longer of the ranking and its ideal
    ranking, as here. The program of the authors goes on to depth 1000, where the last documents still count.
    """
    show.given('qrels = {"q": {"a": 2, "b": 1}}', 'run = {"q": {"b": 2.0, "a": 1.0}}')
    qrels, run = show.names["qrels"], show.names["run"]

    def authors() -> float:
        weights = [0.95**d for d in range(1000)]
        ideal = math.fsum(w * min(d, 2) / d for d, w in enumerate(weights, 1))
        return math.fsum(w * 2 / d for d, w in enumerate(weights, 1) if d > 1) / ideal

    show.peer("ir_measures", "calc_aggregate([Compat], qrels, run)", 0.95 / 1.95,
              lambda m: m.calc_aggregate([m.Compat], qrels, run)[m.Compat])
    show.peer("compatibility.py of the authors", "p=0.95", 0.8115627, rule=authors)
    show.ours('hc.evaluate(qrels, run, "Compat")["Compat"]', 0.95 / 1.95)
    show.band('hc.evaluate(qrels, run, "Compat", ties=...)["Compat"]', 0.95 / 1.95, "no closed form", 0.95 / 1.95)


@record("Definitions", "Holes")
def holes(show: Shown) -> None:
    """Documents that nobody judged for any query are holes in the judgments. BEIR and MTEB divide their number among
    the first k by k. Unjudged counts those that nobody judged for this query. A query of the run without judgments
    counts in BEIR and MTEB; BEIR divides by the number of judged queries all the same, MTEB by that of the run's.
    """
    show.given('qrels = {"q1": {"a": 1}, "q2": {"b": 1}}',
               'run = {"q1": {"b": 3.0, "x": 2.0}, "q2": {"b": 2.0, "a": 1.0}, "q3": {"x": 2.0, "y": 1.0}}')
    qrels, run = show.names["qrels"], show.names["run"]

    def shares() -> list[float]:
        known = {doc for docs in qrels.values() for doc in docs}
        return [sum(doc not in known for doc in docs) / 2 for docs in run.values()]

    show.peer("BEIR", "Hole@2", 0.75, rule=lambda: sum(shares()) / len(qrels))
    show.peer("MTEB", "Hole_at_2", 0.5, rule=lambda: sum(shares()) / len(run))
    show.ours('hc.evaluate(qrels, run, "Hole@2")["Hole@2"]', 0.25)
    show.ours('hc.evaluate(qrels, run, "Unjudged@2")["Unjudged@2"]', 0.75)
    show.same('hc.evaluate(qrels, run, "Hole@2", ties=...)["Hole@2"]', 0.25)


@record("Definitions", "Eleven points, three numbers")
def eleven_points(show: Shown) -> None:
    """A recall level stands for a number of relevant documents. The definition asks for at least level · R of them,
    rounded up. trec_eval 9 takes ⌊level · R + 0.9⌋, which equals the definition except for a few R (3, 23, 33, ...);
    trec_eval 10 takes the nearest whole number, so level 0.4 of 3 is reached by one document. One ranking: 0.55 by the
    definition, 0.61, and 0.70.
    """
    show.given("y, s = [1, 0, 1], [3.0, 2.0, 1.0]  # three relevant documents, two of them found")
    qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "x": 1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}

    def by(needed: Callable[[float], int]) -> float:
        precision = {0: 1.0, 1: 1.0, 2: 2 / 3, 3: 0.0}
        return float(np.mean([precision[needed(level / 10)] for level in range(11)]))

    show.peer("pytrec_eval-terrier", "11pt_avg", 0.6060606, pytrec("11pt_avg", qrels, run),
              lambda: by(lambda level: int(level * 3 + 0.9)))
    show.peer("trec_eval", "11pt_avg, version 10", 0.6969697, trec_eval("11pt_avg", *lines_of(qrels, run)),
              lambda: by(lambda level: math.floor(level * 3 + 0.5)), tolerance=5e-5)  # it prints four places
    show.ours("hc.average_precision(y, s, num_relevant=3, interpolation='11-point')", (4 + 3 * 2 / 3) / 11)
    show.same("hc.average_precision(y, s, num_relevant=3, interpolation='11-point', ties=...)", 6 / 11)


@record("Definitions", "Pairs of items with the same label")
def pairs_of_one_label(show: Shown) -> None:
    """ROC AUC is the share of the pairs of a relevant and another item that are in the right order. XGBoost's `auc` of
    data with groups takes every pair of a group, also those with the same label: such a pair is right if the item that
    comes first in the data has the greater score. So a perfect ranking has less than 1, and another order of the same
    data has another number. A group of one or two items is left out, and a group with one label has a number too.
    """
    show.given("y, s = [0, 0, 1], [1.0, 2.0, 3.0]")
    y, s = np.array(show.names["y"]), np.array(show.names["s"])

    def pairs(y: Any, s: Any) -> float:
        ordered = s[np.argsort(-y, kind="stable")]
        above = [(a > b) + 0.5 * (a == b) for i, a in enumerate(ordered) for b in ordered[i + 1 :]]
        return float(np.mean(above))

    show.peer("XGBoost 3.2", "eval_metric='auc', one group", 2 / 3, rule=lambda: pairs(y, s))
    show.peer("XGBoost 3.2", "the same, items 0 and 1 exchanged", 1.0, rule=lambda: pairs(y[[1, 0, 2]], s[[1, 0, 2]]))
    show.ours("hc.HitCurve(y, s).roc_auc()", 1.0)
    show.same("hc.HitCurve(y, s).roc_auc(ties=...)", 1.0)


@record("Definitions", "The area under the precision-recall curve")
def pr_area(show: Shown) -> None:
    """Average precision is a sum of steps. Straight lines between the points give another number, too high where
    precision falls. scikit-learn's `auc(recall, precision)` starts the lines at precision 1, Spark at the first
    precision. PRROC, precrec and XGBoost's `aucpr` spread the hits of a tie group evenly over it: that is the area of
    Davis & Goadrich. All are called area under the PR curve.
    """
    show.given("y, s = [0, 1, 0, 1, 1, 0, 0, 1], [5, 5, 4, 4, 4, 2, 2, 2]")
    assert (show.names["y"], show.names["s"]) == AREA
    y, s = np.array(show.names["y"]), np.array(show.names["s"], dtype=float)

    def lines(first: float | None) -> float:
        recall = [0.0] + [float(y[s >= cut].sum() / 4) for cut in (5, 4, 2)]
        precision = [float(y[s >= cut].mean()) for cut in (5, 4, 2)]
        return float(np.trapezoid([precision[0] if first is None else first, *precision], recall))

    show.peer("scikit-learn", "average_precision_score(y, s)", 0.55, lambda m: m.average_precision_score(y, s))
    show.peer("scikit-learn", "auc(recall, precision)", 0.6, lambda m: m.auc(*m.precision_recall_curve(y, s)[1::-1]),
              lambda: lines(1.0))
    def spread() -> float:
        """The integral of precision over recall, by steps of a thousandth of an item."""
        x = (np.arange(8000) + 0.5) / 1000
        hits = np.interp(x, [0, 2, 5, 8], [0, 1, 3, 4])
        return float(np.sum(hits / x * np.select([x < 2, x < 5], [1 / 2, 2 / 3], 1 / 3)) / 1000 / 4)

    show.peer("pyspark", "BinaryClassificationMetrics.areaUnderPR", 0.5375, lambda m: spark()["area"],
              lambda: lines(None))
    show.peer("PRROC and precrec", "area under the PR curve", 0.5429843, rule=spread, tolerance=1e-6)
    show.ours("hc.average_precision(y, s, **hc.PRESETS['scikit-learn'])", 0.55)
    show.ours("hc.average_precision(y, s, **hc.PRESETS['Spark areaUnderPR'])", 0.5375)
    show.ours("hc.average_precision(y, s, interpolation='continuous')", 0.5429843)
    show.ours("hc.average_precision(y, s)", 0.6476190)
    show.band("hc.average_precision(y, s, ties=...)", 0.525, 0.6476190, 0.7708333)


@record("Definitions", "Scores of 0 and below")
def not_retrieved(show: Shown) -> None:
    """The retrieval measures of torchmetrics take a score of 0 or below as "not retrieved": its item is not relevant,
    whatever its label. Energies and logits then have AP 0.
    """
    show.given("y, s = [1, 0, 1, 0], [-1.0, -2.0, -3.0, -4.0]")

    def real(module: Any) -> float:
        torch = importlib.import_module("torch")
        score = torch.tensor(show.names["s"])
        return float(module.functional.retrieval_average_precision(score, torch.tensor(show.names["y"])))

    y, s = np.array(show.names["y"]), np.array(show.names["s"])
    show.peer("torchmetrics", "retrieval_average_precision(s, y)", 0.0, real,
              lambda: precision_at_hits((y * (s > 0))[np.argsort(-s)], 2))
    show.ours("hc.average_precision(y, s)", 5 / 6)
    show.same("hc.average_precision(y, s, ties=...)", 5 / 6)


@record("Definitions", "How many are 7 % of 100")
def seven_percent(show: Shown) -> None:
    """The first 7 % of 100 are 7 items, but in floats 0.07 · 100 is a little more than 7, and its ceiling is 8.
    RDKit's `CalcEnrichment` also gives no value for a fraction of 1, a wrong value where two fractions stand for the
    same rank (the third below is the factor of the first 3, not 2), and wrong or missing values where the fractions do
    not ascend.
    """
    show.given("seventh = [0] * 7 + [1] + [0] * 92", "hits = [1, 0, 0, 1] + [0] * 6")
    hits = rows(show.names["hits"])
    show.peer("rdkit", "CalcEnrichment(seventh, 0, [0.07])", [12.5],
              lambda m: m.CalcEnrichment(rows(show.names["seventh"]), 0, [0.07]))
    show.peer("rdkit", "CalcEnrichment(hits, 0, [0.1, 0.15, 0.2])", [5.0, 2.5, 5 / 3],
              lambda m: m.CalcEnrichment(hits, 0, [0.1, 0.15, 0.2]))
    show.peer("rdkit", "CalcEnrichment(hits, 0, [0.2, 0.1])", [2.5, 5 / 3],
              lambda m: m.CalcEnrichment(hits, 0, [0.2, 0.1]))
    show.peer("rdkit", "CalcEnrichment(hits, 0, [1.0])", [], lambda m: m.CalcEnrichment(hits, 0, [1.0]))
    show.peer("scikit-fingerprints", "enrichment_factor(y, s, 0.9999)", 0.0,
              lambda m: m.enrichment_factor(np.array([0] * 7 + [1] * 3), np.arange(10.0), 0.9999))
    show.ours("hc.HitCurve.from_ranked(seventh).enrichment_factor(0.07)", 0.0)
    show.ours("hc.HitCurve.from_ranked(hits).enrichment_factor([0.1, 0.15, 0.2]).tolist()", [5.0, 2.5, 2.5])
    show.ours("hc.HitCurve.from_ranked(hits).enrichment_factor([0.2, 0.1]).tolist()", [2.5, 5.0])
    show.ours("hc.HitCurve.from_ranked(hits).enrichment_factor(1.0)", 1.0)
    show.same("hc.HitCurve.from_ranked(hits).enrichment_factor(0.2, ties=...)", 2.5)


@record("Definitions", "A share that ends inside a tie, or between two items")
def fractional_share(show: Shown) -> None:
    """For enrichvs 15 % of ten items are one and a half items. It takes the hits of a tie group in proportion: these
    are the expected hits at a fractional place. But if the share ends in the last group, it says 1, whatever hits come
    before. Here a share stands for a whole number of items, rounded up.
    """
    show.given("hits = [1, 0, 0, 1] + [0] * 6", "y, s = [1, 1] + [0] * 8, [2.0] * 2 + [1.0] * 8")

    def enrichvs(y: list[int], s: Any, share: float) -> float:
        place, above, hits = share * len(y), 0, 0
        scores = sorted(set(s), reverse=True)
        for score in scores[:-1]:
            group = [label for label, one in zip(y, s, strict=True) if one == score]
            if above + len(group) >= place:
                return (hits + (place - above) / len(group) * sum(group)) / place / (sum(y) / len(y))
            above, hits = above + len(group), hits + sum(group)
        return 1.0

    hits, y, s = (show.names[name] for name in ("hits", "y", "s"))
    show.peer("enrichvs 0.0.5", "enrichment_factor(s, hits, top=0.15), s without ties", 10 / 3,
              rule=lambda: enrichvs(hits, range(10, 0, -1), 0.15))
    show.peer("enrichvs 0.0.5", "enrichment_factor(s, y, top=0.5)", 1.0, rule=lambda: enrichvs(y, s, 0.5))
    show.ours("hc.HitCurve.from_ranked(hits).enrichment_factor(0.15)", 2.5)
    show.ours("hc.HitCurve(y, s).enrichment_factor(0.5)", 2.0)
    show.band("hc.HitCurve(y, s).enrichment_factor(0.5, ties=...)", 2.0, 2.0, 2.0)
    show.band("hc.HitCurve(y, s).enrichment_factor(0.1, ties=...)", 5.0, 5.0, 5.0)


@record("Definitions", "Preferences between documents that are both of no use")
def preferences_of_none(show: Shown) -> None:
    """trec_eval describes `prefs_avgjg_Rnonrel` as a share of preferences in which only the first R of the documents
    that are not relevant count, for R relevant documents. If there are more, its code also counts each of them against
    these R, though the user prefers none of them. The only preference that counts is fulfilled, and the value is 1/3.
    """
    show.given('qrels, run = {"q": {"a": 1, "b": 0, "c": 0}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}')
    lines = lines_of({"q": {"a": 1, "b": 0, "c": 0}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    show.peer("trec_eval", "prefs_avgjg_Rnonrel, version 10", 1 / 3,
              trec_eval("prefs_avgjg_Rnonrel", *lines, "qrels_prefs"), tolerance=1e-4)
    show.ours('hc.evaluate(qrels, run, "GroupPrefR")["GroupPrefR"]', 1 / 3)
    show.ours('hc.evaluate(qrels, run, "GroupPref")["GroupPref"]', 1.0)
    show.same('hc.evaluate(qrels, run, "GroupPrefR", ties=...)["GroupPrefR"]', 1 / 3)


@record("Definitions", "α-DCG of 3 at the first rank")
def first_rank_of_ndeval(show: Shown) -> None:
    """ndeval divides α-DCG and ERR-IA by the greatest value that the first k documents could have, but its loop begins
    at the second rank. At k = 1 the value is then the number of subtopics, not a share.
    """
    show.given("judged = {'q': {'a': {'x': 1, 'y': 1, 'z': 1}}}", "run = {'q': {'a': 1.0, 'b': 0.5}}")

    def real(name: str) -> Callable[[Any], Any]:
        def call(m: Any) -> Any:
            rows = [m.SubtopicQrel("q", topic, "a", 1) for topic in "xyz"]
            docs = [m.ScoredDoc("q", doc, score) for doc, score in show.names["run"]["q"].items()]
            return m.RelevanceEvaluator(rows, [name]).evaluate(docs)["q"][name]

        return call

    show.peer("pyndeval", "alpha-DCG@1", 3.0, real("alpha-DCG@1"), lambda: 3.0)
    show.peer("pyndeval", "alpha-DCG@2", 0.7601875, real("alpha-DCG@2"), lambda: 3 / (3 * (1 + 0.5 / math.log2(3))))
    show.ours("hc.evaluate(judged, run, 'alpha_DCG@1', subtopics=True).means['alpha_DCG@1']", 1.0)
    show.ours("hc.evaluate(judged, run, 'alpha_DCG@2', subtopics=True).means['alpha_DCG@2']", 0.7601875)
    show.same("hc.evaluate(judged, run, 'alpha_DCG@1', subtopics=True, ties=...).means['alpha_DCG@1']", 1.0)


@record("Definitions", "The best order has more than the ideal order")
def greedy_ideal(show: Shown) -> None:
    """α-nDCG divides by the α-DCG of an ideal order. To find the best order is hard, so ndeval, and with it
    ir_measures, takes at each rank the document that adds most, and of several such documents the one with the greatest
    id. Here the document a may come first although it leaves less for the second rank, and the best order is then above
    1.
    """
    show.given("judged = {'q': {'a': {'x': 1, 'y': 1}, 'b': {'x': 1, 'z': 1}, 'c': {'y': 1, 'w': 1}}}",
               "run = {'q': {'b': 3.0, 'c': 2.0, 'a': 1.0}}")

    def real(names: dict[str, str]) -> Callable[[Any], Any]:
        def call(m: Any) -> Any:
            rows = [m.SubtopicQrel("q", topic, names[doc], level)
                    for doc, levels in show.names["judged"]["q"].items() for topic, level in levels.items()]
            docs = [m.ScoredDoc("q", names[doc], score) for doc, score in show.names["run"]["q"].items()]
            return m.RelevanceEvaluator(rows, ["alpha-nDCG@2"]).evaluate(docs)["q"]["alpha-nDCG@2"]

        return call

    gain, best = 1 / math.log2(3), 2 + 2 / math.log2(3)
    show.peer("pyndeval", "alpha-nDCG@2 of b, c, a", 1.0, real({doc: doc for doc in "abc"}), lambda: best / best)
    renamed = {"a": "z", "b": "b", "c": "c"}
    show.peer("pyndeval", "alpha-nDCG@2, with a renamed to z", best / (2 + 1.5 * gain), real(renamed),
              lambda: best / (2 + 1.5 * gain))
    show.given("curve = hc.SubtopicCurve([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1]], [1.0, 3.0, 2.0])  # a, b, c")
    show.ours("curve.alpha_ndcg(2)", best / (2 + 1.5 * gain))
    show.ours("curve.alpha_ndcg(2, ideal='exact')", 1.0)
    show.same("curve.alpha_ndcg(2, ties=...)", best / (2 + 1.5 * gain))


@record("Definitions", "An enrichment that ignores the scores")
def ignored_scores(show: Shown) -> None:
    """oddt's `enrichment_factor`, `rie` and `bedroc` take scores and do not look at them: they count on labels that
    come in rank order. Its `roc_auc` does sort, with low scores first.
    """
    show.given("y, s = [1, 1, 0, 0, 0, 0, 0, 0, 0, 0], list(range(10))  # the actives have the lowest scores")
    y = np.array(show.names["y"])
    show.peer("oddt", "enrichment_factor(y, s, percentage=20)", 5.0, rule=lambda: y[:2].mean() / y.mean())
    show.ours("hc.HitCurve(y, s).enrichment_factor(0.2)", 0.0)
    show.ours("hc.HitCurve.from_ranked(y).enrichment_factor(0.2)", 5.0)
    show.same("hc.HitCurve(y, s).enrichment_factor(0.2, ties=...)", 0.0)


def cwl_eval(name: str, parameters: tuple[Any, ...], gains: list[float], number: str,
             depth: int = 1000) -> Callable[[Any], Any]:  # fmt: skip
    """A number of one of cwl_eval's users."""

    def real(module: Any) -> float:
        user = getattr(module, name)(*parameters)
        user.residuals = number.startswith("residual")
        user.measure(module.Ranking("q", gains, [], max_n=depth))
        return float(getattr(user, number))

    return real


@record("Definitions", "Users who all stop at rank 1000")
def users_at_rank_1000(show: Shown) -> None:
    """INSQ, INST and NERR11 have no last rank: the chance to look at rank i falls like 1 / i². cwl_eval ends all its
    rankings at rank 1000, so that each weight is too large by the share of the ranks beyond. Its expected total
    utility is then not the utility times the depth, as its manual says: the gain of the users who look beyond rank
    1000 is missing. Without a relevant document the depth of RR is 1000. Here the sums go on, and RR's depth is
    infinite.
    """
    show.given("curve = hc.GainCurve.from_ranked([1, 0, 1])")
    weights = [(4 / (i + 4)) ** 2 for i in range(1000)]
    show.peer("cwl-eval", "INSQCWLMetric(T=2), expected utility", 0.3191985,
              cwl_eval("INSQCWLMetric", (2.0,), [1, 0, 1], "expected_utility"),
              lambda: (weights[0] + weights[2]) / math.fsum(weights))
    show.peer("cwl-eval", "INSQCWLMetric(T=2), expected total utility", 1.4444127,
              cwl_eval("INSQCWLMetric", (2.0,), [1, 0, 1], "expected_total_utility"),
              lambda: weights[0] + weights[2] - 2 * (4 / 1004) ** 2)
    show.peer("cwl-eval", "RRCWLMetric(), expected items, nothing relevant", 1000.0,
              cwl_eval("RRCWLMetric", (), [0.0], "expected_items"))
    show.ours("curve.user_model('INSQ(T=2,max_rel=1)').utility", 0.3180778)
    show.ours("curve.user_model('INSQ(T=2,max_rel=1)').total_utility", 13 / 9)
    show.ours("hc.GainCurve.from_ranked([0]).user_model('RR', ties='best').depth", math.inf)
    show.same("curve.insq(T=2, max_rel=1, ties=...)", 0.3180778)


@record("Definitions", "Residuals of 1000 ranks")
def residuals_of_1000_ranks(show: Shown) -> None:
    """A residual says how much a measure would rise if all that is unknown were relevant: documents without a judgment,
    and the ranks beyond the run. cwl_eval knows only those up to rank 1000, or up to its `--max_depth`. So residuals of
    INSQ, INST and NERR11 and the depth of RR depend on this depth. That of AP falls below 0: AP is then the mean over
    about 1000 relevant documents. Here the sums go on, and AP has no residual, because infinitely many relevant ranks
    have no end of 1 / rank.
    """
    show.given("qrels, run = {'q': {'a': 1, 'c': 0}}, {'q': {'a': 3.0, 'b': 2.0, 'c': 1.0}}",
               "found = hc.evaluate(qrels, run, 'AP')")
    gains = [1.0, math.nan, 0.0]

    def average(depth: int) -> float:
        relevant = [rank for rank in range(1, depth + 1) if rank != 3]
        return sum(i / rank for i, rank in enumerate(relevant, 1)) / len(relevant) - 1

    for depth in (10, 1000):
        show.peer("cwl-eval", f"APCWLMetric(), residual of the utility, --max_depth {depth}", average(depth),
                  cwl_eval("APCWLMetric", (), gains, "residual_expected_utility", depth), partial(average, depth))
    weights = [(4 / (i + 4)) ** 2 for i in range(1000)]
    show.peer("cwl-eval", "INSQCWLMetric(T=2), residual of the utility", 0.6808015,
              cwl_eval("INSQCWLMetric", (2.0,), gains, "residual_expected_utility"),
              lambda: (math.fsum(weights) - weights[0] - weights[2]) / math.fsum(weights))
    show.ours("found.user_model('AP').residual.utility[0]", math.nan)
    show.ours("found.user_model('INSQ(T=2,max_rel=1)').residual.utility[0]", 0.6819222)
    show.same("hc.evaluate(qrels, run, 'AP', ties=...).user_model('INSQ(T=2,max_rel=1)').residual.utility[0]",
              0.6819222)


@record("Definitions", "An average precision that forgets what was not retrieved")
def average_precision_of_retrieved(show: Shown) -> None:
    """cwl_eval's AP says that it divides by all relevant documents. Its user model knows only those in the ranking, so
    it divides by these. Here a relevant document that was never retrieved has an infinite rank: it adds nothing to the
    gain, and makes the user go deeper.
    """
    show.given("curve = hc.GainCurve.from_ranked([1, 0, 1], unretrieved=[1, 1])")
    show.peer("cwl-eval", "APCWLMetric(), expected utility", 5 / 6,
              cwl_eval("APCWLMetric", (), [1, 0, 1], "expected_utility"), lambda: (1 + 2 / 3) / 2)
    show.peer("cwl-eval", "APCWLMetric(), expected items", 1.5,
              cwl_eval("APCWLMetric", (), [1, 0, 1], "expected_items"), lambda: 2 / (1 + 1 / 3))
    show.ours("curve.user_model('AP', ties='best').utility", 5 / 12)
    show.ours("curve.user_model('AP', ties='best').depth", 3.0)
    show.same("curve.at_level(1).average_precision(ties=...)", 5 / 12)


@record("Definitions", "A patience that never changes")
def patience(show: Shown) -> None:
    """In the dynamic bejeweled player model each item changes both limits of the user: the gain T that is wanted, and
    the number K of documents that the user has patience for. cwl_eval adds the change of K to T, after T was used for
    the last time. So K stays as it was, and hc has no effect.
    """
    show.given("curve = hc.GainCurve.from_ranked([1, 0, 0, 1, 0, 0])")
    show.peer("cwl-eval", "BPMDCWLMetric(T=9, K=5, hb=0, hc=3, gain_med=0.5)", 0.4,
              cwl_eval("BPMDCWLMetric", (9.0, 5, 0.0, 3.0, 0.5), [1, 0, 0, 1, 0, 0], "expected_utility"), lambda: 2 / 5)
    show.ours("curve.bpm(5, max_rel=1, T=9, hb=0, hc=3, gain_med=0.5)", 0.5)
    show.ours("curve.bpm(5, max_rel=1, T=9, hb=0, hc=0, gain_med=0.5)", 0.4)
    show.same("curve.sdcg(5, max_rel=1, ties=...)", 0.4852286)


# --- numbers on a computer --------------------------------------------------------------------------------------------


def detections_of(num_objects: int, first: int) -> list[int]:
    return [1] * first + [0] * 1000 + [1] * (num_objects - first)


def at_random(num_objects: int) -> tuple[str, str]:
    return (
        "rng = np.random.default_rng(0)",
        f"at_random = [hc.HitCurve.from_ranked(rng.permutation([1] * {num_objects} + [0] * {2 * num_objects})) "
        "for _ in range(1000)]",
    )


def share_that_differs(kind: str) -> str:
    """How many of the rankings at random have another number in floats."""
    return (f"np.mean([curve.average_precision(interpolation='{kind}') != "
            f"curve.average_precision(interpolation='{kind}-float') for curve in at_random])")


def coco_average_precision(module: Any, hits: list[list[int]], scores: list[list[float]], objects: int) -> float:
    """pycocotools' own accumulation, of matches that are given to it, one list an image."""
    import contextlib
    import io

    with contextlib.redirect_stdout(io.StringIO()):
        evaluation = module.COCOeval(iouType="bbox")
        parameters = evaluation.params
        parameters.imgIds, parameters.catIds, parameters.iouThrs = [*range(len(hits))], [1], np.array([0.5])
        parameters.areaRng, parameters.areaRngLbl, parameters.maxDets = [[0, 1e10]], ["all"], [10**6]
        evaluation.evalImgs = [
            {"dtScores": np.array(s), "dtMatches": np.array([h]), "dtIgnore": np.zeros((1, len(h)), bool),
             "gtIgnore": np.zeros(objects if i == 0 else 0)}
            for i, (h, s) in enumerate(zip(hits, scores, strict=True))
        ]
        evaluation._paramsEval = parameters
        evaluation.accumulate()
    return float(np.mean(evaluation.eval["precision"]))


@record("Numbers on a computer", "Recall levels 0.3, 0.6 and 0.7 of PASCAL VOC 2007")
def voc_levels(show: Shown) -> None:
    """The Python code that most copied for the 11-point AP of VOC 2007 makes its levels by `np.arange(0, 1.1, 0.1)`.
    There level 3 is 0.30000000000000004, above the recall 3/10 that should reach it. Levels 6 and 7 are too high as
    well. Half of the random rankings with 10 objects get another number. The first value below is lower by 0.08. In
    whole numbers, 10 · h ≥ i · R, no level is missed.
    """
    show.given("hits = [1] * 3 + [0] * 1000 + [1] * 7", *at_random(10))
    hits = np.array(show.names["hits"])
    missed = (3 + 8 * 10 / 1010) / 11

    def rule() -> float:
        found = np.cumsum(hits)
        recall, precision = found / 10.0, found / np.arange(1, len(hits) + 1)
        return float(np.mean([max(precision[recall >= t], default=0.0) for t in np.arange(0.0, 1.1, 0.1)]))

    show.peer("VOC 2007 code", "voc_ap(recall, precision, use_07_metric=True)", missed, rule=rule)
    show.ours("hc.HitCurve.from_ranked(hits).average_precision(interpolation='11-point')", (4 + 7 * 10 / 1010) / 11)
    show.ours("hc.HitCurve.from_ranked(hits).average_precision(interpolation='11-point-float')", missed)
    show.ours(share_that_differs("11-point"), 0.541)
    show.same("hc.HitCurve.from_ranked(hits).average_precision(interpolation='11-point', ties=...)",
              (4 + 7 * 10 / 1010) / 11)


@record("Numbers on a computer", "Recall levels 0.35, 0.7 and 0.95 of COCO")
def coco_levels(show: Shown) -> None:
    """pycocotools compares the recall h/R with `np.linspace(0, 1, 101)` in floats. With 20 objects the levels 0.35,
    0.70 and 0.95 are a last digit above 7/20, 14/20 and 19/20, and take the precision of the next hit. More than half
    of the random rankings with 20 objects get another number. The first value below is lower by 0.01.
    """
    show.given("hits = [1] * 7 + [0] * 1000 + [1] * 13", *at_random(20))
    hits = show.names["hits"]
    missed = (35 + 66 * 20 / 1020) / 101

    def rule() -> float:
        found = np.cumsum(hits)
        precision = np.maximum.accumulate((found / np.arange(1, len(hits) + 1))[::-1])[::-1]
        return float(np.mean(precision[np.searchsorted(found / 20, np.linspace(0, 1, 101))]))

    show.peer("pycocotools", "AP", missed,
              lambda m: coco_average_precision(m, [hits], [list(np.linspace(1, 0.1, len(hits)))], 20), rule)
    show.ours("hc.HitCurve.from_ranked(hits).average_precision(interpolation='101-point')", (36 + 65 * 20 / 1020) / 101)
    show.ours("hc.HitCurve.from_ranked(hits).average_precision(interpolation='101-point-float')", missed)
    show.ours(share_that_differs("101-point"), 0.568)
    show.same("hc.HitCurve.from_ranked(hits).average_precision(interpolation='101-point', ties=...)",
              (36 + 65 * 20 / 1020) / 101)


@record("Numbers on a computer", "BEDROC at both ends of α")
def bedroc_ends(show: Shown) -> None:
    """RDKit divides a difference of two exponentials by another. At α = 710 the exponential overflows. At α near 0 the
    differences lose all digits, and the value leaves [0, 1]. BEDROC tends to ROC AUC there. Sums of e^(-αx/N) - 1
    compute it well for every α.
    """
    show.given("hits = [1, 0, 0, 1] + [0] * 6")
    hits = rows(show.names["hits"])
    show.peer("rdkit", "CalcBEDROC(hits, 0, 710.0)", "raises OverflowError", lambda m: m.CalcBEDROC(hits, 0, 710.0))
    show.peer("rdkit", "CalcBEDROC(hits, 0, 1e-8)", 1.0, lambda m: m.CalcBEDROC(hits, 0, 1e-8))
    show.peer("rdkit", "CalcBEDROC(hits, 0, 1e-12)", 2.25006938718507, lambda m: m.CalcBEDROC(hits, 0, 1e-12))
    show.ours("hc.HitCurve.from_ranked(hits).bedroc([710.0, 1e-8, 1e-12]).tolist()", [1.0, 0.875, 0.875])
    show.ours("hc.HitCurve.from_ranked(hits).roc_auc()", 0.875)
    show.same("hc.HitCurve.from_ranked(hits).bedroc(1e-8, ties=...)", 0.875)


@record("Numbers on a computer", "Ten tenths that are less than one")
def ten_tenths(show: Shown) -> None:
    """On a scale up to level 10 an item of level 1 has gain 0.1. cwl_eval adds the rounded gains, and ten of them are
    0.9999999999999999. So a user who wants a gain of 1 looks at an eleventh document. Here levels are added, and the
    limit is T times the scale, by decimals.
    """
    show.given("levels = [1] * 10 + [10] * 10", "curve = hc.GainCurve.from_ranked(levels)")
    gains = [level / 10 for level in show.names["levels"]]
    show.peer("cwl-eval", "BPMCWLMetric(T=1, K=20), expected items", 11.0,
              cwl_eval("BPMCWLMetric", (1.0, 20), gains, "expected_items"), lambda: 11.0)
    show.peer("cwl-eval", "BPMCWLMetric(T=1, K=20), expected utility", 2 / 11,
              cwl_eval("BPMCWLMetric", (1.0, 20), gains, "expected_utility"), lambda: sum(gains[:11]) / 11)
    show.ours("curve.user_model('BPM(T=1,max_rel=10)@20').depth", 10.0)
    show.ours("curve.bpm(20, max_rel=10)", 0.1)
    show.same("curve.sdcg(10, max_rel=10, ties=...)", 0.1)


@record("Numbers on a computer", "A sigmoid that ties everything")
def sigmoid(show: Shown) -> None:
    """The classification measures of torchmetrics pass scores outside [0, 1] through a sigmoid in single precision.
    From about 17 up all of them become 1: one big tie. Whether it happens depends on what else is in the batch.
    """
    show.given("y, s = [0, 0, 1, 1], [20.0, 30.0, 40.0, 50.0]")
    y, s = show.names["y"], show.names["s"]

    def real(name: str) -> Callable[[Any], float]:
        def value(module: Any) -> float:
            torch = importlib.import_module("torch")
            functional = importlib.import_module("torchmetrics.functional.classification")
            return float(getattr(functional, name)(torch.tensor(s), torch.tensor(y)))

        return value

    flat = 1 / (1 + np.exp(-np.array(s, dtype=np.float32)))
    show.peer("torchmetrics", "binary_auroc(s, y)", 0.5, real("binary_auroc"), lambda: hc.HitCurve(y, flat).roc_auc())
    show.peer("torchmetrics", "binary_average_precision(s, y)", 0.5, real("binary_average_precision"),
              lambda: hc.average_precision(y, flat, ties="threshold"))
    show.ours("hc.HitCurve(y, s).roc_auc(), hc.average_precision(y, s)", (1.0, 1.0))
    show.same("hc.average_precision(y, s, ties=...)", 1.0)
    show.given("flat = 1 / (1 + np.exp(-np.array(s, dtype=np.float32)))")
    show.band("hc.average_precision(y, flat, ties=...)", 5 / 12, 0.6805556, 1.0)


@record("Numbers on a computer", "Two hundred thresholds")
def two_hundred_thresholds(show: Shown) -> None:
    """Keras' AUC, and torchmetrics with `thresholds=`, keep counts at thresholds that are evenly spaced from 0 to 1,
    for constant memory. Scores between two neighbours are tied. If all scores of a model are small, they are all tied,
    and no warning says so. Spark's `numBins` merges neighbouring scores in the same way. Here a bin is a tie group,
    and the exact value lies between the worst and the best.
    """
    show.given("y, s = [1, 1, 0, 0, 0, 0], [0.0046, 0.0044, 0.0038, 0.0034, 0.0030, 0.0026]",
               "binned = hc.HitCounter(edges=np.linspace(0, 1, 200))", "binned.update(y, s)")

    def real(module: Any) -> float:
        torch = importlib.import_module("torch")
        functional = importlib.import_module("torchmetrics.functional.classification")
        y, s = torch.tensor(show.names["y"]), torch.tensor(show.names["s"])
        return float(functional.binary_average_precision(s, y, thresholds=200))

    y, s = np.array(show.names["y"]), np.array(show.names["s"])
    show.peer("torchmetrics", "binary_average_precision(s, y, thresholds=200)", 1 / 3, real,
              lambda: hc.average_precision(y, np.floor(s * 199), ties="threshold"))
    show.ours("hc.average_precision(y, s)", 1.0)
    show.ours("binned.curve().average_precision(ties='threshold')", 1 / 3)
    show.band("binned.curve().average_precision(ties=...)", 4 / 15, 0.5266667, 1.0)


@record("Numbers on a computer", "Counts that stop at 16,777,216")
def single_precision_counts(show: Shown) -> None:
    """A sum of ones in single precision stops at 2²⁴: one more is rounded away. cuML counts so, and so does the
    development version of scikit-learn for float32 scores (its issue 34975). Here counts are 64-bit whole numbers.
    """
    show.given("n = 2**24 + 100", "curve = hc.HitCurve.from_ranks([n], num_items=n)  # one relevant item, the last")
    show.peer("cuML", "items up to the last, by a running sum in float32", 2.0**24,
              rule=lambda: float(np.cumsum(np.ones(show.names["n"], np.float32))[-1]), tolerance=0.0)
    show.ours("1 / curve.average_precision()", 2.0**24 + 100, tolerance=1e-15)
    show.same("1 / curve.average_precision(ties=...)", 2.0**24 + 100)


# --- missing or undefined ---------------------------------------------------------------------------------------------


@record("What is missing or undefined", "A query that was not answered")
def unanswered(show: Shown) -> None:
    """Two queries have judgments. The run answers one of them, with AP 0.5. The mean over the answered queries is 0.5,
    the mean over all is 0.25. trec_eval 9 and pytrec_eval skip the query without an answer (trec_eval unless `-c` is
    given), trec_eval 10 stops with an error, ir_measures counts 0, ranx refuses unless it is told to count 0.
    """
    show.given("answered = hc.HitCurve([0, 1], [2.0, 1.0])", "missing = hc.HitCurve([], [], num_relevant=1)")
    qrels, run = {"q": {"a": 1, "b": 0}, "p": {"c": 1}}, {"q": {"a": 1.0, "b": 2.0}}
    show.peer("pytrec_eval-terrier", "queries in the result", ["q"],
              lambda m: [*m.RelevanceEvaluator(qrels, {"map"}).evaluate(run)])
    show.peer("trec_eval", "trec_eval -m map qrels run, version 10", "stops with an error",
              trec_eval("map", *lines_of(qrels, run)),
              lambda: "stops with an error" if qrels.keys() - run.keys() else "goes on")
    show.peer("ir_measures", "calc_aggregate([AP], qrels, run)", 0.25,
              lambda m: m.calc_aggregate([m.AP], qrels, run)[m.AP])
    show.peer("ranx", "evaluate(qrels, run, 'map')", "raises AssertionError",
              lambda m: m.evaluate(m.Qrels(qrels), m.Run(run), "map"))
    show.peer("ranx", "evaluate(qrels, run, 'map', make_comparable=True)", 0.25,
              lambda m: m.evaluate(m.Qrels(qrels), m.Run(run), "map", make_comparable=True))
    show.ours("answered.average_precision(), missing.average_precision()", (0.5, 0.0))
    show.ours("np.mean([answered.average_precision(), missing.average_precision()])", 0.25)
    show.given("qrels, run = {'q': {'a': 1, 'b': 0}, 'p': {'c': 1}}, {'q': {'a': 1.0, 'b': 2.0}}")
    show.ours("hc.evaluate(qrels, run, 'AP').means['AP']", 0.25)
    show.ours("hc.evaluate(qrels, run, 'AP', **hc.PRESETS['trec_eval 9']).means['AP']", 0.5)
    show.ours("hc.evaluate(qrels, run, 'AP', **hc.PRESETS['trec_eval 10']).means['AP']", "raises ValueError")
    show.same("hc.evaluate(qrels, run, 'AP', ties=...).means['AP']", 0.25)


@record("What is missing or undefined", "A ranking without relevant items")
def no_relevant(show: Shown) -> None:
    """Nothing can be found, so AP is 0/0. scikit-learn says 0 with a warning for AP, but NaN for ROC AUC and 1 for
    label ranking; its macro average then takes the 0 in. trec_eval, pytrec_eval, ranx, Spark and torchmetrics say 0
    (torchmetrics unless it is told otherwise), and RDKit says 0 for BEDROC. pycocotools writes -1 and leaves the class
    out of its mean. Here AP is NaN, and `empty=` says what a mean does with such a query.
    """
    show.given("y, s = [0, 0, 0], [3.0, 2.0, 1.0]", "Y, S = np.array([[1, 0, 0], [0, 0, 0]]), np.array([s, s])")
    y, s = show.names["y"], show.names["s"]
    several = np.array([[1, 0], [0, 0], [0, 0], [1, 0]]), np.array([[3.0, 3], [2, 2], [1, 1], [0.5, 0]])
    show.peer("scikit-learn", "average_precision_score(y, s)", 0.0, lambda m: m.average_precision_score(y, s))
    show.peer("scikit-learn", "average_precision_score, macro, an absent class", 0.375,
              lambda m: m.average_precision_score(*several))
    show.peer("scikit-learn", "roc_auc_score(y, s)", math.nan, lambda m: m.roc_auc_score(y, s))
    show.peer("scikit-learn", "label_ranking_average_precision_score([y], [s])", 1.0,
              lambda m: m.label_ranking_average_precision_score([y], [s]))
    show.peer("pytrec_eval-terrier", "map", 0.0, pytrec("map", {"q": {"a": 0}}, {"q": {"a": 1.0}}))
    show.peer("ranx", "map", 0.0, lambda m: m.evaluate(m.Qrels({"q": {"a": 0}}), m.Run({"q": {"a": 1.0}}), "map"))
    show.peer("rdkit", "CalcBEDROC(rows, 0, 20.0)", 0.0, lambda m: m.CalcBEDROC(rows(y), 0, 20.0))
    show.peer("pycocotools", "AP of a class without objects", -1.0,
              lambda m: coco_average_precision(m, [[0, 0, 0]], [[3.0, 2.0, 1.0]], 0))

    def retrieval(module: Any) -> float:
        torch = importlib.import_module("torch")
        return float(module.functional.retrieval_average_precision(torch.tensor(s), torch.tensor(y)))

    show.peer("torchmetrics", "retrieval_average_precision(s, y)", 0.0, retrieval)
    show.peer("pyspark", "meanAveragePrecision with a query of an empty truth, over that without it", 0.5,
              lambda m: spark()["two queries"] / spark()["one query"])
    show.ours("hc.average_precision(y, s), hc.HitCurve(y, s).roc_auc()", (math.nan, math.nan))
    show.ours("hc.mean_average_precision(Y, S)", 1.0)
    show.ours("hc.mean_average_precision(Y, S, empty='zero')", 0.5)
    show.ours("hc.mean_average_precision(Y, S, empty='one')", 1.0)
    show.same("hc.average_precision(y, s, ties=...)", math.nan)


@record("What is missing or undefined", "A ranking with nothing but relevant items")
def all_relevant(show: Shown) -> None:
    """There is no pair to order, so ROC AUC is 0/0: RDKit says 0, scikit-learn NaN. BEDROC's range is one point: RDKit
    says 1.
    """
    show.given("y, s = [1, 1, 1], [3.0, 2.0, 1.0]")
    y, s = show.names["y"], show.names["s"]
    show.peer("rdkit", "CalcAUC(rows, 0)", 0.0, lambda m: m.CalcAUC(rows(y), 0))
    show.peer("rdkit", "CalcBEDROC(rows, 0, 20.0)", 1.0, lambda m: m.CalcBEDROC(rows(y), 0, 20.0))
    show.peer("scikit-learn", "roc_auc_score(y, s)", math.nan, lambda m: m.roc_auc_score(y, s))
    show.ours("hc.HitCurve(y, s).roc_auc(), hc.HitCurve(y, s).bedroc()", (math.nan, math.nan))
    show.ours("hc.average_precision(y, s)", 1.0)
    show.same("hc.average_precision(y, s, ties=...)", 1.0)


@record("What is missing or undefined", "Compatibility of scores below zero")
def compatibility_below_zero(show: Shown) -> None:
    """The ideal ranking that is nearest to a ranking has its documents first within each level, then those that were
    never retrieved. ir_measures sorts by score and gives the latter the score 0, so they come first if the scores are
    negative, as log-probabilities are.
    """
    show.given('qrels = {"q": {"a": 1, "b": 1}}', 'run = {"q": {"a": -1.0}}')
    qrels, run = show.names["qrels"], show.names["run"]
    whole = 1 + 0.95
    show.peer("ir_measures", "calc_aggregate([Compat], qrels, run)", 0.95 / 2 / whole,
              lambda m: m.calc_aggregate([m.Compat], qrels, run)[m.Compat])
    ours = (1 + 0.95 / 2) / whole
    show.ours('hc.evaluate(qrels, run, "Compat")["Compat"]', ours)
    show.band('hc.evaluate(qrels, run, "Compat", ties=...)["Compat"]', ours, "no closed form", ours)


@record("What is missing or undefined", "No pair to put in order")
def no_pairs(show: Shown) -> None:
    """Accuracy is the share of pairs of a relevant and another document in the right order. Where the documents of a
    query are all relevant there is no pair, and ir_measures divides by zero. It leaves out a query without a relevant
    document among those that were retrieved; here it has no value if another document is relevant, else 0.
    """
    show.given('qrels = {"q": {"a": 1}, "r": {"a": 1, "b": 0}}',
               'run = {"q": {"a": 1.0}, "r": {"a": 2.0, "b": 1.0}}')
    qrels, run = show.names["qrels"], show.names["run"]
    show.peer("ir_measures", "calc_aggregate([Accuracy], qrels, run)", "raises ZeroDivisionError",
              lambda m: m.calc_aggregate([m.Accuracy], qrels, run)[m.Accuracy])
    show.ours('hc.evaluate(qrels, run, "Accuracy")["Accuracy"]', 1.0)
    show.ours('hc.evaluate(qrels, run, "Accuracy").values["Accuracy"].tolist()', [math.nan, 1.0])
    show.same('hc.evaluate(qrels, run, "Accuracy", ties=...)["Accuracy"]', 1.0)


@record("What is missing or undefined", "Relevant items that were never retrieved")
def never_retrieved(show: Shown) -> None:
    """A retrieval tool divides by the relevant documents of the judgments, found or not. scikit-learn and
    torchmetrics see only the items that are given to them, and have no argument for the others.
    """
    show.given("y, s = [1, 0], [2.0, 1.0]  # and a relevant item that was not retrieved")
    y, s = show.names["y"], show.names["s"]
    qrels, run = {"q": {"a": 1, "b": 0, "c": 1}}, {"q": {"a": 2.0, "b": 1.0}}
    show.peer("scikit-learn", "average_precision_score(y, s)", 1.0, lambda m: m.average_precision_score(y, s))
    show.peer("pytrec_eval-terrier", "map", 0.5, pytrec("map", qrels, run))
    show.peer("ranx", "map", 0.5, lambda m: m.evaluate(m.Qrels(qrels), m.Run(run), "map"))
    show.ours("hc.average_precision(y, s)", 1.0)
    show.ours("hc.average_precision(y, s, num_relevant=2)", 0.5)
    show.same("hc.average_precision(y, s, num_relevant=2, ties=...)", 0.5)


@record("What is missing or undefined", "A score that is not a number")
def not_a_number(show: Shown) -> None:
    """NaN is neither above nor below any score, so a sort puts it anywhere. scikit-learn refuses it. pytrec_eval and
    ranx sort it without a word: pytrec_eval puts it between the others here, above a document that has a score, ranx
    last or first, by the kind of its input. polars-ds' plugin panics. precrec 0.14 puts the least positive number in
    its place, which is the worst score only where scores are positive. Here `nan_policy=` makes it an error or the
    worst score, or leaves it out.
    """
    show.given("y, s = [0, 1, 0], [1.0, math.nan, 2.0]", "below = [-1.0, math.nan, -2.0]")
    y, s = show.names["y"], show.names["s"]
    qrels, run = {"q": {"b": 1}}, {"q": {"a": 1.0, "b": math.nan, "c": 2.0}}
    show.peer("scikit-learn", "average_precision_score(y, s)", "raises ValueError",
              lambda m: m.average_precision_score(y, s))
    show.peer("pytrec_eval-terrier", "map", 0.5, pytrec("map", qrels, run))

    def panics(module: Any) -> Any:
        polars = importlib.import_module("polars")
        return polars.DataFrame({"y": y, "s": s}).select(module.query_binary_metrics("y", "s"))

    show.peer("polars-ds", "query_binary_metrics('y', 's')", "raises ComputeError", panics)
    show.peer("ranx", "evaluate(Qrels(qrels), Run(run), 'map')", 1 / 3,
              lambda m: m.evaluate(m.Qrels(qrels), m.Run(run), "map"))
    show.peer("ranx", "evaluate(qrels, run, 'map')", 1.0, lambda m: m.evaluate(qrels, run, "map"))

    def least_positive() -> float:
        filled = np.nan_to_num(show.names["below"], nan=sys.float_info.min)
        return precision_at_hits(np.array(y)[np.argsort(-filled)], 1)

    show.peer("precrec 0.14", "average precision of `below`, na_worst=TRUE", 1.0, rule=least_positive)
    show.ours("hc.average_precision(y, below, nan_policy='worst')", 1 / 3)
    show.ours("hc.average_precision(y, s)", "raises ValueError")
    show.ours("hc.average_precision(y, s, nan_policy='worst')", 1 / 3)
    show.ours("hc.average_precision(y, s, nan_policy='omit')", math.nan)
    show.same("hc.average_precision(y, s, nan_policy='worst', ties=...)", 1 / 3)


@record("What is missing or undefined", "A query that nobody judged")
def unjudged_query(show: Shown) -> None:
    """The run answers a query that has no judgments. trec_eval, pytrec_eval and ir_measures leave it out; ranx refuses
    unless it is told to drop it.
    """
    show.given("y, s, qid = [0, 1], [2.0, 1.0], ['q', 'q']  # and a query p, which nobody judged")
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 2.0}, "p": {"a": 1.0}}
    show.peer("pytrec_eval-terrier", "queries in the result", ["q"],
              lambda m: [*m.RelevanceEvaluator(qrels, {"map"}).evaluate(run)])
    show.peer("ir_measures", "calc_aggregate([AP], qrels, run)", 0.5,
              lambda m: m.calc_aggregate([m.AP], qrels, run)[m.AP])
    show.peer("ranx", "evaluate(qrels, run, 'map')", "raises AssertionError",
              lambda m: m.evaluate(m.Qrels(qrels), m.Run(run), "map"))
    show.peer("ranx", "evaluate(qrels, run, 'map', make_comparable=True)", 0.5,
              lambda m: m.evaluate(m.Qrels(qrels), m.Run(run), "map", make_comparable=True))
    show.ours("hc.mean_average_precision(y, s, qid=qid)", 0.5)
    show.ours("hc.mean_average_precision(y + [0], s + [1.0], qid=qid + ['p'])", 0.5)
    show.ours("hc.mean_average_precision(y + [0], s + [1.0], qid=qid + ['p'], empty='zero')", 0.25)
    show.same("hc.mean_average_precision(y, s, qid=qid, ties=...)", 0.5)


@record("What is missing or undefined", "An infinite score")
def infinite_score(show: Shown) -> None:
    """Filters set scores to minus infinity. Minus infinity compares with every number, so it is a score like others.
    scikit-learn refuses it.
    """
    show.given("y, s = [1, 0, 1], [2.0, 1.0, -math.inf]")
    y, s = show.names["y"], show.names["s"]
    show.peer("scikit-learn", "average_precision_score(y, s)", "raises ValueError",
              lambda m: m.average_precision_score(y, s))
    show.peer("pytrec_eval-terrier", "map", 5 / 6,
              pytrec("map", {"q": {"a": 1, "b": 0, "c": 1}}, {"q": dict(zip("abc", s, strict=True))}))
    show.ours("hc.average_precision(y, s)", 5 / 6)
    show.same("hc.average_precision(y, s, ties=...)", 5 / 6)


@record("What is missing or undefined", "No items at all")
def no_items(show: Shown) -> None:
    """A search that returned nothing is common. scikit-learn raises a bare IndexError, RDKit, ranx and torchmetrics a
    ValueError; pytrec_eval says 0. Here the AP of no items is NaN, or 0 if there are relevant items that were not
    retrieved.
    """
    show.given("y, s = [], []")
    show.peer("scikit-learn", "average_precision_score([], [])", "raises IndexError",
              lambda m: m.average_precision_score([], []))
    show.peer("rdkit", "CalcBEDROC([], 0, 20.0)", "raises ValueError", lambda m: m.CalcBEDROC([], 0, 20.0))
    show.peer("ranx", "evaluate(qrels, {'q': {}}, 'map')", "raises ValueError",
              lambda m: m.evaluate(m.Qrels({"q": {"a": 1}}), m.Run({"q": {}}), "map"))
    show.peer("pytrec_eval-terrier", "map of {'q': {}}", 0.0, pytrec("map", {"q": {"a": 1}}, {"q": {}}))

    def nothing(module: Any) -> float:
        torch = importlib.import_module("torch")
        labels = torch.tensor([], dtype=torch.long)
        return float(module.functional.retrieval_average_precision(torch.tensor([]), labels))

    show.peer("torchmetrics", "retrieval_average_precision([], [])", "raises ValueError", nothing)
    show.ours("hc.average_precision(y, s)", math.nan)
    show.ours("hc.average_precision(y, s, num_relevant=3)", 0.0)
    show.same("hc.average_precision(y, s, num_relevant=3, ties=...)", 0.0)


@record("What is missing or undefined", "A geometric mean that comes as a logarithm")
def geometric_mean(show: Shown) -> None:
    """trec_eval's gm_map is a mean of logarithms, made a geometric mean at the end. pytrec_eval returns what goes into
    that mean for each query: a negative number.
    """
    show.given("y, s = [0, 1], [2.0, 1.0]")
    show.peer("pytrec_eval-terrier", "gm_map", -0.6931472,
              pytrec("gm_map", {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 2.0}}))
    show.ours("math.log(hc.average_precision(y, s))", -0.6931472)
    show.same("hc.average_precision(y, s, ties=...)", 0.5)


# --- input ------------------------------------------------------------------------------------------------------------


@record("Input", "Labels 1 and 2")
def labels_one_and_two(show: Shown) -> None:
    """scikit-learn takes 1 as relevant unless it is told otherwise, so of the labels {1, 2} the 2 is negative; {0, 5}
    it refuses. RDKit takes any true value, NaN among them. Here labels are 0 or 1, or graded with a level.
    """
    show.given("y, s = [2, 1, 1], [3.0, 2.0, 1.0]")
    y, s = show.names["y"], show.names["s"]
    show.peer("scikit-learn", "average_precision_score(y, s)", 7 / 12, lambda m: m.average_precision_score(y, s))
    show.peer("scikit-learn", "average_precision_score([0, 5, 0], s)", "raises ValueError",
              lambda m: m.average_precision_score([0, 5, 0], s))
    show.peer("rdkit", "CalcAUC([[nan], [0]], 0)", 1.0, lambda m: m.CalcAUC([[math.nan], [0]], 0))
    show.ours("hc.average_precision(y, s)", "raises ValueError")
    show.ours("hc.average_precision(y, s, relevance_level=2)", 1.0)
    show.same("hc.average_precision(y, s, relevance_level=2, ties=...)", 1.0)


@record("Input", "Weights below zero")
def negative_weights(show: Shown) -> None:
    """With a negative weight a count falls, and the precision means nothing. scikit-learn still computes 0.5, for a
    ranking whose precision is never below 2/3 with weights of 1.
    """
    show.given("y, s, w = [1, 0, 1], [3.0, 2.0, 1.0], [1.0, -2.0, 1.0]")
    y, s, w = (show.names[name] for name in "ysw")
    show.peer("scikit-learn", "average_precision_score(y, s, sample_weight=w)", 0.5,
              lambda m: m.average_precision_score(y, s, sample_weight=w))
    show.ours("hc.average_precision(y, s, sample_weight=w, ties='threshold')", "raises ValueError")
    show.same("hc.average_precision(y, s, ties=...)", 5 / 6)


@record("Input", "Numbers of numpy")
def numbers_of_numpy(show: Shown) -> None:
    """pytrec_eval takes dictionaries of Python's own numbers. A float32 score or an int64 relevance from an array is a
    TypeError. So are a relevance of 1.0 and a query that is a number.
    """
    show.given("y, s = np.array([1]), np.array([1.0], dtype='float32')")
    for what, qrels, run in (
        ("a float32 score", {"q": {"a": 1}}, {"q": {"a": np.float32(1)}}),
        ("an int64 relevance", {"q": {"a": np.int64(1)}}, {"q": {"a": 1.0}}),
        ("a relevance of 1.0", {"q": {"a": 1.0}}, {"q": {"a": 1.0}}),
        ("a query 1", {1: {"a": 1}}, {1: {"a": 1.0}}),
    ):
        show.peer("pytrec_eval-terrier", f"map of {what}", "raises TypeError", pytrec("map", qrels, run))
    show.ours("hc.average_precision(y, s)", 1.0)
    show.ours("hc.evaluate({1: {'a': y[0]}}, {1: {'a': s[0]}}, 'AP').means['AP']", 1.0)
    show.same("hc.average_precision(y, s, ties=...)", 1.0)


@record("Input", "A relevance of 0.9, and a score that says foo")
def numbers_in_text(show: Shown) -> None:
    """trec_eval reads relevance and score by C functions that take the number at the beginning of the text, and 0 where
    there is none. So a document of relevance 0.9 is not relevant, and a score of foo is 0. No message says so. Here
    both are errors in a TREC file. In dicts and frames a relevance keeps its fraction, and `relevance_level` is the
    threshold.
    """
    show.given("judged = {'q': {'a': 0.9, 'b': 1}}", "run = {'q': {'a': 2.0, 'b': 1.0}}")
    judged, scores = "q 0 a 0.9\nq 0 b 1\n", "q Q0 a 1 2.0 tag\nq Q0 b 2 1.0 tag\n"
    foo = "q 0 a 1\n", "q Q0 a 1 foo tag\nq Q0 b 2 1.0 tag\n"

    def by_text(qrels: str, run: str) -> float:
        relevant = {line.split()[2] for line in qrels.splitlines() if int(line.split()[3].partition(".")[0]) >= 1}
        texts = {line.split()[2]: line.split()[4] for line in run.splitlines()}
        number = {doc: float(text) if text[0].isdigit() else 0.0 for doc, text in texts.items()}
        ranked = sorted(number, key=lambda doc: number[doc], reverse=True)
        return precision_at_hits([doc in relevant for doc in ranked], len(relevant))

    show.peer("trec_eval", "map, a relevance of 0.9", 0.5, trec_eval("map", judged, scores),
              lambda: by_text(judged, scores))
    show.peer("trec_eval", "map, a score of foo", 0.5, trec_eval("map", *foo), lambda: by_text(*foo))
    show.ours("hc.evaluate(judged, {'q': {'a': 'foo', 'b': 1.0}}, 'AP').means['AP']", "raises ValueError")
    show.ours("hc.evaluate(judged, run, 'AP', relevance_level=0.9).means['AP']", 1.0)
    show.ours("hc.evaluate(judged, run, 'AP', strict=False).means['AP']  # with a warning", 0.5)
    show.same("hc.evaluate(judged, run, 'AP', strict=False, ties=...).means['AP']", 0.5)


@record("Input", "One judgment in two lines, and levels from -3 down")
def two_lines_of_a_judgment(show: Shown) -> None:
    """A file of preferences repeats the line that gives `a` the level 1. trec_eval counts every preference of `a` once
    for each line. If the two lines had different levels, trec_eval would stop. In its loop over the levels of a group,
    -3 stands for no level yet, so a group whose highest level is -3 has no preferences.
    """
    show.given("judged = {'query_id': 3 * ['q'], 'group': 3 * ['u'], 'doc_id': ['a', 'a', 'b']}",
               "judged['relevance'] = [1, 1, 0]", "low = {'q': {'u': {'a': -3, 'b': -4}}}",
               "run = {'q': {'a': 2.0, 'b': 1.0}}")
    lines = "q Q0 a 1 2.0 tag\nq Q0 b 2 1.0 tag\n"
    for what, judged, value in (
        ("two lines", "q u a 1\nq u a 1\nq u b 0\n", 2.0), ("a line", "q u a 1\nq u b 0\n", 1.0),
        ("levels -2 and -4", "q u a -2\nq u b -4\n", 1.0), ("levels -3 and -4", "q u a -3\nq u b -4\n", 0.0),
        ("levels 1 and 2 of one document", "q u a 1\nq u a 2\nq u b 0\n", "stops with an error"),
    ):  # fmt: skip
        show.peer("trec_eval", f"prefs_num_prefs_poss, {what}, version 10", value,
                  trec_eval("prefs_num_prefs_poss", judged, lines, "qrels_prefs"))
    show.ours("hc.read_qrels(judged, format='qrels_prefs')", "raises ValueError")
    count = "hc.evaluate(hc.read_qrels(low, format='qrels_prefs'), run, 'NumPrefMet', ties=...)['NumPrefMet']"
    show.ours(count.replace(", ties=...", ""), 1.0)
    show.same(count, 1.0)


@record("Input", "Scores cut at one half")
def cut_at_half(show: Shown) -> None:
    """Older versions of TDC turned scores into 0 and 1 at 0.5 before they took the area under the precision-recall
    curve. What is left of a ranking is one threshold, with a tie above and a tie below it.
    """
    show.given("y, s = [1, 1, 0, 0, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.1]", "cut = [score >= 0.5 for score in s]")
    y, cut = show.names["y"], show.names["cut"]
    show.peer("scikit-learn", "average_precision_score(y, cut), as TDC called it", 0.5,
              lambda m: m.average_precision_score(y, cut), lambda: (2 * 2 / 4 + 3 / 6) / 3)
    show.ours("hc.average_precision(y, s)", (1 + 1 + 3 / 5) / 3)
    show.ours("hc.average_precision(y, np.array(cut, dtype=float), ties='threshold')", 0.5)
    show.band("hc.average_precision(y, np.array(cut, dtype=float), ties=...)", 4 / 9, 0.6370370, 13 / 15)


@record("Input", "Lower is better")
def lower_is_better(show: Shown) -> None:
    """Energies and distances rank upwards. No Python tool here but oddt, for its ROC AUC, has an argument for that;
    the caller must negate the scores. A caller forgets this easily, and torchmetrics then takes scores below 0 as not
    retrieved.
    """
    show.given("y, energy = [1, 0, 0], [-9.0, -7.0, -5.0]")
    y, s = show.names["y"], show.names["energy"]
    show.peer("scikit-learn", "average_precision_score(y, energy)", 1 / 3, lambda m: m.average_precision_score(y, s))
    show.ours("hc.average_precision(y, energy)", 1 / 3)
    show.ours("hc.average_precision(y, energy, lower_is_better=True)", 1.0)
    show.same("hc.average_precision(y, energy, lower_is_better=True, ties=...)", 1.0)
