"""52 real rankings, most with heavy ties, measured by nine other programs.

One row of RULES for each (tool, metric) of the file: how that tool's number follows from our curve, and to what
relative tolerance. Most rules are one of our measures. Where the tool computes something else, the rule says what,
in terms of our table, and a test below says on which data sets that differs from our measure.

What the columns of the file mean was found by trying; every one of the 5,792 rows obeys its rule.
`|ties_input` is a stable sort by score: tied items in the order of the file.
"""

import csv
import gzip
import json
from collections import namedtuple
from fractions import Fraction
from math import ceil

import numpy as np
import pytest

import hitcurve as hc

SKLEARN = "sklearn1.9.1"
TREC_EVAL = "trec_eval10"
RDKIT = "rdkit2026.09.1"
EPX_AP = "EPX1.0.4 src/precision.c"
EPX_HITS = "EPX1.0.4 hit.curve"
MONTE_CARLO = "montecarlo(numpy,seed12345)"
ENRICHVS = "enrichvs0.0.5"
PRROC = "PRROC1.4"
PRECREC = "precrec0.14.4"
ROCR = "ROCR1.0-11"
AUC_CALCULATOR = "AUCCalculator(Davis&Goadrich jar 2007)"

FRACTIONS = (0.005, 0.01, 0.02, 0.05, 0.1)  # in one call of RDKit's

Data = namedtuple("Data", "name labels scores curve ordered")  # ordered: the input order decides among equal scores
Rule = namedtuple("Rule", "value rtol")


# --- measures of other tools that are not ours, read off our table ------------------------------------------


def sklearn_trapezoid(data):
    """scikit-learn joins its first point to (recall 0, precision 1); ours starts at the first point's precision."""
    c = data.curve
    ours = c.average_precision(ties="threshold", interpolation="trapezoid")
    if c.above[0] > 0:
        return ours  # both start at (0, 0), the point below the first groups
    first = c.hits[0] / c.tied[0]
    return ours + c.hits[0] / c.num_relevant * (1 - first) / 2


def rdkit_enrichment(curve, fraction, ties):
    """CalcEnrichment of all the fractions up to this one: equal cutoffs are moved on, one item for each repetition."""
    last = 0
    for f in FRACTIONS[: FRACTIONS.index(fraction) + 1]:
        last = max(ceil(Fraction(str(f)) * curve.num_items), last + 1)
    return curve.enrichment_factor(k=last, ties=ties)


def epx_within_tolerance(data):
    """EPX calls scores tied that are within 1e-7 of the next."""
    order = np.argsort(-data.scores, kind="stable")
    groups = np.empty(len(order), dtype=np.int64)
    groups[order] = np.cumsum(np.append(False, -np.diff(data.scores[order]) > 1e-7))
    return hc.average_precision(data.labels, groups, lower_is_better=True)


def enrichvs_enrichment(data, fraction):
    """The cutoff fraction·N is not rounded: hits linear between whole ranks. 1 when the last group is cut."""
    c = data.curve
    points = c.hit_curve(ties="expected")
    cut = fraction * c.num_items
    lowest = data.scores.min()
    if c.num_items - np.count_nonzero(data.scores == lowest) < cut:
        return 1.0
    return np.interp(cut, points.items, points.hits) / cut / c.prevalence


def partial_roc_auc(curve, top, *, whole_group):
    """Area under the ROC polygon left of `top`, over `top`; enrichvs takes the mean height of the whole group there."""
    before = np.cumsum(curve.hits) - curve.hits
    end = (curve.num_items - curve.num_hits) * top
    area = height = x = 0.0
    for fp, tp, n, r in zip(curve.above - before, before, curve.tied - curve.hits, curve.hits, strict=True):
        area += (min(fp, end) - x) * height
        if fp >= end:
            x = end
            break
        width = min(n, end - fp)
        area += width * (tp + r * (1 if whole_group or n == 0 else width / n) / 2)
        x, height = fp + width, tp + r
        if x >= end:
            break
    area += (end - x) * height
    return area / (end * curve.num_hits)


def davis_goadrich(data):
    """Trapezoids between points one hit apart, each on the straight line that joins the ends of its group."""
    c = data.curve
    area, before = 0.0, 0
    for above, tied, hits in zip(c.above, c.tied, c.hits, strict=True):
        step = np.arange(hits + 1)
        items = above + step * tied / hits
        with np.errstate(invalid="ignore"):
            p = (before + step) / items
        if items[0] == 0:
            p[0] = p[1]
        area += np.sum(p[1:] + p[:-1]) / 2
        before += hits
    return area / c.num_relevant


def rocr_area(data):
    """As Davis & Goadrich, but starting at precision 1, with the slope taken twice over the hits (tp + fp + x + slope·x
    has x for the hits, so far right) and the new points put in at places counted before the earlier ones went in."""
    c = data.curve
    tp = np.concatenate([[0], np.cumsum(c.hits)])
    fp = np.concatenate([[0], c.above + c.tied - np.cumsum(c.hits)])
    recall = list(tp / c.num_relevant)
    precision = [1.0, *(tp[1:] / (tp + fp)[1:])]
    for i in range(len(c)):
        if tp[i + 1] - tp[i] > 2:
            x = np.arange(1, tp[i + 1] - tp[i] + 1)
            slope = (fp[i + 1] - fp[i]) / (tp[i + 1] - tp[i])
            recall[i + 1 : i + 1] = (tp[i] + x) / c.num_relevant
            precision[i + 1 : i + 1] = (tp[i] + x) / (tp[i] + fp[i] + x + slope * x)
    recall, precision = np.array(recall), np.array(precision)
    return np.sum(np.diff(recall) * (precision[1:] + precision[:-1])) / 2


# --- the table: (tool, metric) -> rule ----------------------------------------------------------------------

# Relative tolerances. Counts over counts are exact to the last bits. Sums made item by item lose more: RDKit and
# enrichvs 4e-13 over 88,888 items, PRROC's integral 1e-11 (differences of logarithms).
EXACT, SUMS, EXPECTED, ITEM_BY_ITEM, LOGARITHMS = 1e-15, 5e-15, 1e-14, 1e-12, 2e-11

RULES = {
    (SKLEARN, "average_precision"): Rule(lambda d: d.curve.average_precision(ties="threshold"), EXACT),
    (SKLEARN, "roc_auc"): Rule(lambda d: d.curve.roc_auc(ties="threshold"), EXACT),
    (SKLEARN, "pr_auc_trapezoid(precision_recall_curve)"): Rule(sklearn_trapezoid, EXACT),
    (EPX_AP, "expected_AHR"): Rule(lambda d: d.curve.average_precision(), EXPECTED),
    (EPX_AP, "expected_AHR_raw_scores_tol1e-7"): Rule(epx_within_tolerance, EXPECTED),
    (ENRICHVS, "roc_auc"): Rule(lambda d: d.curve.roc_auc(), EXACT),
    (ENRICHVS, "roc_auc_top0.1"): Rule(lambda d: partial_roc_auc(d.curve, 0.1, whole_group=True), SUMS),
    (ENRICHVS, "auac"): Rule(lambda d: d.curve.auac(), EXACT),
    (PRROC, "roc_auc"): Rule(lambda d: d.curve.roc_auc(), EXACT),
    (PRROC, "pr_auc_integral"): Rule(lambda d: d.curve.average_precision(interpolation="continuous"), LOGARITHMS),
    (PRROC, "pr_auc_davis_goadrich"): Rule(davis_goadrich, SUMS),
    (ROCR, "roc_auc"): Rule(lambda d: d.curve.roc_auc(), ITEM_BY_ITEM),
    (ROCR, "aucpr"): Rule(rocr_area, SUMS),
    (PRECREC, "roc_auc"): Rule(lambda d: d.curve.roc_auc(), ITEM_BY_ITEM),
    # trapezoids between 1,000 points of the same curve
    (PRECREC, "prc_auc"): Rule(lambda d: d.curve.average_precision(interpolation="continuous"), 1e-4),
    (AUC_CALCULATOR, "roc_auc"): Rule(lambda d: d.curve.roc_auc(), EXACT),
    (AUC_CALCULATOR, "pr_auc"): Rule(davis_goadrich, SUMS),
}
for k in (10, 50, 100, 300, 1000):
    RULES[EPX_HITS, f"expected_hits_at_{k}(tie-proportional)"] = Rule(lambda d, k=k: d.curve.hits_at(k), EXACT)
for f in (0.01, 0.05, 0.1):
    RULES[ENRICHVS, f"ef_top{f}_tieinterp"] = Rule(lambda d, f=f: enrichvs_enrichment(d, f), EXACT)
for a in (20, 80.5):
    RULES[ENRICHVS, f"rie_alpha{a}_stable"] = Rule(lambda d, a=a: d.ordered.rie(a), ITEM_BY_ITEM)
    RULES[ENRICHVS, f"bedroc_alpha{a}_stable"] = Rule(lambda d, a=a: d.ordered.bedroc(a), ITEM_BY_ITEM)

READINGS = {  # how the tied items were ordered -> our curve and reading of it
    "ties_input": (lambda d: d.ordered, "expected"),  # every item has its own rank: all readings are the same
    "ties_best": (lambda d: d.curve, "best"),
    "ties_worst": (lambda d: d.curve, "worst"),
}


def ordered_rules(curve, ties):
    yield TREC_EVAL, "map", lambda d: curve(d).average_precision(ties=ties), SUMS
    yield TREC_EVAL, "Rprec", lambda d: curve(d).r_precision(ties=ties), EXACT
    yield TREC_EVAL, "recip_rank", lambda d: curve(d).reciprocal_rank(ties=ties), EXACT
    for k in (10, 100, 1000):
        yield TREC_EVAL, f"P_{k}", lambda d, k=k: curve(d).precision(k, ties=ties), EXACT
    for k in (100, 1000):
        yield TREC_EVAL, f"recall_{k}", lambda d, k=k: curve(d).recall(k, ties=ties), EXACT
        at_k = {"ties": ties, "normalize": "relevant"}
        yield TREC_EVAL, f"map_cut_{k}", lambda d, k=k, at_k=at_k: curve(d).average_precision(k, **at_k), SUMS
    yield RDKIT, "CalcAUC", lambda d: curve(d).roc_auc(ties=ties), ITEM_BY_ITEM
    for a in (20.0, 80.5, 160.9):
        yield RDKIT, f"CalcRIE_alpha{a}", lambda d, a=a: curve(d).rie(a, ties=ties), ITEM_BY_ITEM
        yield RDKIT, f"CalcBEDROC_alpha{a}", lambda d, a=a: curve(d).bedroc(a, ties=ties), ITEM_BY_ITEM
    for f in FRACTIONS:
        yield RDKIT, f"CalcEnrichment_{f}", lambda d, f=f: rdkit_enrichment(curve(d), f, ties), EXACT


for name, (curve, ties) in READINGS.items():
    for tool, metric, value, rtol in ordered_rules(curve, ties):
        RULES[tool, f"{metric}|{name}"] = Rule(value, rtol)

NOT_OURS = {
    (SKLEARN, "n_thresholds"): "groups without a relevant item are not stored",
    (SKLEARN, "ndcg_score_k=100(tie-averaged)"): "nDCG: a discount by rank, not a read-out of precision or recall",
    (SKLEARN, "ndcg_score_k=1000(tie-averaged)"): "nDCG",
    (SKLEARN, "ndcg_score_k=None(tie-averaged)"): "nDCG",
    **{(TREC_EVAL, f"{m}|{t}"): "nDCG" for m in ("ndcg", "ndcg_cut_100", "ndcg_cut_1000") for t in READINGS},
    **{(TREC_EVAL, f"bpref|{t}"): "bpref: a preference over judged items, capped at R" for t in READINGS},
    (MONTE_CARLO, "stderr"): "the width of the mean's own test",
}


# --- data ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dumps(shared_data):
    return shared_data / "score_dumps"


@pytest.fixture(scope="module")
def expected(dumps):
    """(tool, metric) -> {data set: (value, trust)}"""
    table = {}
    with gzip.open(dumps / "EXPECTED.tsv.gz", "rt") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            table.setdefault((row["tool"], row["metric"]), {})[row["dataset"]] = float(row["value"]), row["trust"]
    return table


@pytest.fixture(scope="module")
def rankings(dumps):
    table = {}
    for path in sorted((dumps / "data").glob("*.csv.gz")):
        name = path.name.removesuffix(".csv.gz")
        labels, scores = read_dump(path)
        curve, ordered = hc.HitCurve(labels, scores), hc.HitCurve(labels, scores, tiebreak="order")
        table[name] = Data(name, labels, scores, curve, ordered)
    return table


def read_dump(path):
    labels, scores = np.loadtxt(path, delimiter=",", skiprows=1, unpack=True)
    return labels.astype(np.int8), scores


def relative_error(ours, theirs):
    return abs(ours - theirs) / abs(theirs) if theirs else abs(ours)


# --- tests --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("tool", "metric"), RULES, ids=lambda text: text.replace(" ", "_"))
def test_rule(tool, metric, expected, rankings):
    value, rtol = RULES[tool, metric]
    rows = {name: v for name, (v, trust) in expected[tool, metric].items() if trust == "ok"}
    assert rows
    wrong = []
    for name, theirs in rows.items():
        ours = value(rankings[name])
        if not relative_error(ours, theirs) <= rtol:
            wrong.append(f"{name}: {ours!r} against {theirs!r}, {relative_error(ours, theirs):.1e}")
    assert not wrong, "\n".join(wrong)


def test_mean_over_random_orders(expected, rankings):
    means, errors = expected[MONTE_CARLO, "mean_AP_random_ties"], expected[MONTE_CARLO, "stderr"]
    assert len(means) == len(errors) == 52
    for name, (mean, _) in means.items():
        ours = rankings[name].curve.average_precision(ties="expected")
        assert abs(ours - mean) <= 5 * errors[name][0] + 1e-12, name


def test_every_metric_is_mapped_or_named(expected):
    ours = {*RULES, (MONTE_CARLO, "mean_AP_random_ties")}
    assert not ours & set(NOT_OURS)
    assert set(expected) == ours | set(NOT_OURS)
    assert sum(len(rows) for rows in expected.values()) == 5792


def test_data_sets(dumps, expected, rankings):
    with open(dumps / "datasets.tsv") as file:
        table = list(csv.DictReader(file, delimiter="\t"))
    assert {row["dataset"] for row in table} == set(rankings)
    assert len(table) == 52
    for row in table:
        d = rankings[row["dataset"]]
        c = d.curve
        assert (c.num_items, c.num_relevant, c.num_hits) == (int(row["n"]), int(row["pos"]), int(row["pos"]))
        assert len(c) == len(np.unique(d.scores[d.labels == 1]))
        mixed = np.count_nonzero((c.hits < c.tied) & (c.tied > 1))
        assert mixed == int(row["mixed_tie_groups"]), row


@pytest.mark.parametrize("column", ["best", "expected", "worst"])
def test_input_order_is_one_of_the_orders(rankings, column):
    for data in rankings.values():
        c = data.curve
        low, mean, high = (c.average_precision(ties=t) for t in ("worst", "expected", "best"))
        of_input = data.ordered.average_precision(ties=column)
        assert low * (1 - 1e-14) <= mean <= high * (1 + 1e-14)
        assert low * (1 - 1e-14) <= of_input <= high * (1 + 1e-14)
        assert of_input == data.ordered.average_precision(ties="threshold")


# --- known differences --------------------------------------------------------------------------------------


def differing(expected, rankings, key, ours):
    rows = expected[key].items()
    return {name for name, (v, trust) in rows if trust == "ok" and relative_error(ours(rankings[name]), v) > 1e-9}


@pytest.mark.parametrize("ties", READINGS)
@pytest.mark.parametrize(("fraction", "wrong"), [(0.005, 0), (0.01, 0), (0.02, 1), (0.05, 1), (0.1, 1)])
def test_rdkit_moves_repeated_cutoffs(expected, rankings, fraction, wrong, ties):
    # 20 items: the first four fractions all stand for one item, and RDKit reports the first 1, 2, 3 and 4
    curve, reading = READINGS[ties]
    key = RDKIT, f"CalcEnrichment_{fraction}|{ties}"
    found = differing(expected, rankings, key, lambda d: curve(d).enrichment_factor(fraction, ties=reading))
    # the first two items are both relevant, so that the second value is right by luck
    assert found == ({"precrec_P10N10"} if wrong else set())


def test_enrichvs_says_one_when_the_last_group_is_cut(expected, rankings):
    def whole_ranks(fraction):
        def value(data):
            points = data.curve.hit_curve(ties="expected")
            cut = fraction * data.curve.num_items
            return np.interp(cut, points.items, points.hits) / cut / data.curve.prevalence

        return value

    found = {f: differing(expected, rankings, (ENRICHVS, f"ef_top{f}_tieinterp"), whole_ranks(f)) for f in (0.05, 0.1)}
    assert found == {0.05: set(), 0.1: {"precrec_IB500_perf_scores"}}
    perfect = rankings["precrec_IB500_perf_scores"].curve
    assert perfect.enrichment_factor(0.1) == perfect.max_enrichment_factor(0.1) == 10.0


def test_enrichvs_does_not_round_the_cutoff(expected, rankings):
    # 350 items: 1 % are 3.5 items for enrichvs, 4 for us
    theirs, _ = expected[ENRICHVS, "ef_top0.01_tieinterp"]["rocr_xval_f06"]
    curve = rankings["rocr_xval_f06"].curve
    assert theirs == pytest.approx((curve.hits_at(3) + curve.hits_at(4)) / 2 / 3.5 / curve.prevalence, rel=1e-15)
    assert curve.enrichment_factor(0.01) == pytest.approx(curve.enrichment_factor(k=4), rel=1e-15)
    assert curve.enrichment_factor(0.01) != pytest.approx(theirs, rel=0.05)


def test_enrichvs_partial_area_takes_the_whole_group(expected, rankings):
    found = differing(
        expected, rankings, (ENRICHVS, "roc_auc_top0.1"), lambda d: partial_roc_auc(d.curve, 0.1, whole_group=False)
    )
    assert {"hiv_rf50_proba", "hsp90_1uyc"} <= found
    assert len(found) == 8


def test_davis_goadrich_is_near_the_continuous_area(expected, rankings):
    # one point a hit in place of the integral: the area is close where hits are many, 12 % off where they are 21
    errors = {
        name: relative_error(rankings[name].curve.average_precision(interpolation="continuous"), v)
        for name, (v, _) in expected[PRROC, "pr_auc_davis_goadrich"].items()
    }
    assert max(errors.values()) == pytest.approx(0.111, abs=1e-3) == errors["muv_652_ecfp4"]
    assert max(e for name, e in errors.items() if rankings[name].curve.num_relevant > 100) < 0.002


def test_rocr_starts_at_precision_one(expected, rankings):
    # the first of 17 relevant items is tied at rank 1,127: ROCR's area is 26 times ours, nearly all of it the
    # triangle from (0, 1) to the first point
    theirs, _ = expected[ROCR, "aucpr"]["muv_712_ecfp4"]
    curve = rankings["muv_712_ecfp4"].curve
    ours = curve.average_precision(interpolation="continuous")
    triangle = curve.hits[0] / curve.num_relevant / 2
    assert theirs > 25 * ours
    assert theirs == pytest.approx(ours + triangle, rel=0.02)


def test_rows_marked_wrong_are_wrong(expected, rankings):
    wrong = {(key, name): v for key, rows in expected.items() for name, (v, trust) in rows.items() if trust != "ok"}
    assert {key for key, _ in wrong} == {(AUC_CALCULATOR, "pr_auc"), (AUC_CALCULATOR, "roc_auc")}
    assert len(wrong) == 50
    for (key, name), theirs in wrong.items():
        assert relative_error(RULES[key].value(rankings[name]), theirs) > 1e-9, (key, name)


# --- exact values of tiny rankings --------------------------------------------------------------------------


def test_tiny_rankings(dumps):
    cases = json.loads((dumps / "tiny_ties_exact.json").read_text())
    assert len(cases) > 100
    for case in cases:
        curve = hc.HitCurve(case["label"], case["score"])
        for ties, key, rtol in (("worst", "min", 4e-16), ("expected", "mean", 1e-15), ("best", "max", 4e-16)):
            exact = Fraction(case[key])
            ours = curve.average_precision(ties=ties)
            assert abs(Fraction(ours) - exact) <= Fraction(rtol) * exact, (case, ties)
            assert hc.average_precision(case["label"], case["score"], ties=ties) == ours


# --- numbers printed in the tests of other packages ---------------------------------------------------------


@pytest.mark.parametrize(("name", "rows"), [("prcbench_C1", 3), ("prcbench_C3", 2)])
def test_points_of_the_continuous_curve(dumps, name, rows):
    """Points that evaluation tools are asked to pass through: recall linear, precision not, inside a tie group."""
    labels, scores = read_dump(dumps / "published" / f"{name}.csv")
    points = np.loadtxt(dumps / "published" / f"{name}_expected_points.csv", delimiter=",", skiprows=1)
    curve = hc.HitCurve(labels, scores)
    corners = curve.hit_curve(ties="expected")
    found = []
    for recall in np.unique(points[:, 0]):
        hits = recall * curve.num_relevant
        if hits == 0:  # the limit of h(x) / x from the right
            steep = corners.items[0] == 0 and corners.hits[1] > 0
            found.append(corners.hits[1] / corners.items[1] if steep else 0.0)
        else:  # the first place where so many are seen
            i = np.searchsorted(corners.hits, hits)
            x0, x1, h0, h1 = corners.items[i - 1], corners.items[i], corners.hits[i - 1], corners.hits[i]
            found.append(hits / (x0 + (hits - h0) * (x1 - x0) / (h1 - h0)))
    bottom = curve.num_hits / curve.num_items
    if points[-1, 0] == points[-2, 0]:  # the last point is the bottom of the ranking
        found.append(bottom)
    np.testing.assert_allclose(found, points[:, 1], rtol=1e-9, atol=1e-12)
    assert len(curve) == len(np.unique(scores[labels == 1])) <= rows


def test_prroc_own_constants(dumps):
    labels, scores = read_dump(dumps / "published" / "prroc_seed101.csv")
    data = Data("prroc_seed101", labels, scores, hc.HitCurve(labels, scores), None)
    assert data.curve.average_precision(interpolation="continuous") == pytest.approx(0.901869384113, rel=1e-12)
    assert davis_goadrich(data) == pytest.approx(0.9018680216532841, rel=1e-13)


def test_prroc_own_constants_without_data():
    one_score = hc.HitCurve([0, 1] * 250, np.ones(500))
    assert one_score.average_precision(interpolation="continuous") == pytest.approx(0.5, rel=1e-14)
    assert one_score.roc_auc() == 0.5
    rare = hc.HitCurve([1] * 100 + [0] * 900, np.zeros(1000))
    assert rare.average_precision(interpolation="continuous") == pytest.approx(0.1, rel=1e-14)
    worst = hc.HitCurve(np.repeat([0, 1], 100_000), np.repeat([2.0, 1.0], 100_000))  # 1 - ln 2: one group, no order
    assert worst.average_precision(interpolation="continuous") == pytest.approx(1 - np.log(2), rel=1e-13)
    perfect = hc.HitCurve([1] * 100 + [0] * 100, np.arange(200, 0, -1))
    assert perfect.average_precision(interpolation="continuous") == 1.0
