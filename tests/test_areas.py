"""Areas between two rates, and of several classes, beside the numbers of others."""

import re
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import hitcurve as hc

# The data set aSAH of the R package pROC (Turck et al. 2010, Intensive Care Med. 36:107): 113 patients, 41 with a poor
# outcome. Patients with a good and with a poor outcome, by WFNS grade 1 to 5.
WFNS = {1: (37, 2), 2: (20, 12), 3: (3, 1), 4: (8, 8), 5: (4, 18)}
# Outcomes in the order of falling NDKA, poor ones 1; patients of the same value in brackets.
NDKA = (
    "101010100111100010011110000100011(10)001101100100(10)01000001001011100000010010000(10)10(00)01001100000010000000"
    "001110010"
)


def of_wfns():
    grade = np.repeat([*WFNS], [sum(pair) for pair in WFNS.values()])
    return hc.HitCurve(np.concatenate([[0] * good + [1] * poor for good, poor in WFNS.values()]), grade)


def of_ndka():
    groups = re.findall(r"\d|\(\d+\)", NDKA)
    outcomes = [[int(one) for one in group.strip("()")] for group in groups]
    place = np.repeat(np.arange(len(groups)), [len(one) for one in outcomes])
    return hc.HitCurve(np.concatenate(outcomes), place, lower_is_better=True)


# What pROC's own tests expect (xrobin/pROC, tests/testthat/test-auc.R): rates, area, corrected area.
PROC = (
    (of_wfns, "fpr", 0.9, 1.0, 0.0334417344173442, 0.649693339038653),
    (of_wfns, "fpr", 0.8, 0.9, 0.0598373983739837, 0.763749402199904),
    (of_wfns, "fpr", 0.0, 0.5, 0.488134475939354, 0.952537903757416),
    (of_wfns, "fpr", 0.0, 1.0, 0.823678861788618, 0.823678861788618),
    (of_wfns, "tpr", 0.9, 1.0, 0.0400999322493225, 0.68473648552275),
    (of_wfns, "tpr", 0.8, 0.9, 0.0609953703703703, 0.770561002178649),
    (of_wfns, "tpr", 0.0, 0.5, 0.483358739837398, 0.933434959349593),
    (of_wfns, "tpr", 0.0, 1.0, 0.823678861788618, 0.823678861788618),
    (of_ndka, "fpr", 0.9, 1.0, 0.0107046070460705, 0.530024247610897),
    (of_ndka, "fpr", 0.8, 0.9, 0.0277777777777778, 0.575163398692811),
    (of_ndka, "fpr", 0.0, 0.5, 0.416836043360434, 0.667344173441734),
    (of_ndka, "fpr", 0.0, 1.0, 0.611957994579946, 0.611957994579946),
    (of_ndka, "tpr", 0.9, 1.0, 0.0037940379403794, None),
    (of_ndka, "tpr", 0.8, 0.9, 0.0242547425474255, 0.554439662043679),
    (of_ndka, "tpr", 0.0, 0.5, 0.428523035230352, 0.714092140921409),
    (of_ndka, "tpr", 0.0, 1.0, 0.611957994579946, 0.611957994579946),
)


@pytest.mark.parametrize(("curve", "kind", "low", "high", "area", "corrected"), PROC)
def test_proc(curve, kind, low, high, area, corrected):
    if kind == "fpr":
        low, high = 1 - high, 1 - low  # pROC takes specificities
    read = {f"min_{kind}": low, f"max_{kind}": high, "ties": "threshold"}
    assert curve().roc_auc(**read, standardize=False) == pytest.approx(area, rel=2e-14)
    if corrected is not None:
        assert curve().roc_auc(**read) == pytest.approx(corrected, rel=2e-14)


def test_proc_has_no_corrected_area_below_the_diagonal():
    """pROC gives NA with a warning; hitcurve gives the value, as scikit-learn does up to max_fpr."""
    value = of_ndka().roc_auc(min_tpr=0.9, ties="threshold")
    assert value == pytest.approx((1 + (0.0037940379403794 - 0.005) / (0.1 - 0.005)) / 2, rel=1e-13)
    assert value < 0.5


@pytest.mark.parametrize("ties", ["expected", "best", "worst", "threshold"])
def test_parts_add_up(ties):
    """Areas of adjacent parts add up to the whole area, and from rate 0 the area is that of max_fpr alone."""
    rng = np.random.default_rng(0)
    for n in (2, 5, 50, 3000):
        for distinct in (1, 3, 10**9):
            curve = hc.HitCurve(np.arange(n) % 3 == 0, rng.integers(0, distinct, n))
            cuts = np.sort(rng.random(4))
            for kind in ("fpr", "tpr"):
                rates = {f"min_{kind}": [0.0, *cuts], f"max_{kind}": [*cuts, 1.0]}
                parts = curve.roc_auc(**rates, standardize=False, ties=ties)
                assert parts.sum() == pytest.approx(curve.roc_auc(ties=ties), rel=1e-14)
            for flag in (True, False):
                first = curve.roc_auc(min_fpr=0.0, max_fpr=cuts, standardize=flag, ties=ties)
                alone = curve.roc_auc(max_fpr=cuts, standardize=flag, ties=ties)
                np.testing.assert_allclose(first, alone, rtol=1e-13, atol=1e-15)


def test_each_query_has_its_own_numbers():
    rng = np.random.default_rng(1)
    y, s, qid = rng.integers(0, 2, 400), rng.integers(0, 9, 400), rng.integers(0, 7, 400)
    curves = hc.HitCurves(y, s, qid=qid)
    several = {"min_fpr": 0.1, "max_fpr": [[0.3], [0.7]]}
    for read in ({"min_tpr": [0.2, 0.9]}, several, {"max_tpr": 0.5}, {"min_fpr": []}):
        each = np.array([curve.roc_auc(**read) for curve in curves])
        np.testing.assert_array_equal(curves.roc_auc(**read), each)
        assert curves.roc_auc(**read).shape == each.shape


# --- precision-recall-gain ----------------------------------------------------------------------------------

# The example of the authors' package (meeliskull/prg at 73ce510, R_package/prg/R/prg.R) with its points and area, and
# the area that its Python program gives for the 25 labels of its other example.
LABELS, SCORES = [1, 1, 0, 0, 1, 0], [0.8, 0.8, 0.6, 0.4, 0.4, 0.2]
OF_25 = [1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 1]


def test_prg_of_the_authors():
    curve = hc.HitCurve(LABELS, SCORES)
    points = curve.precision_recall_gain_curve(ties="threshold")
    assert points.recall_gain.tolist() == [1.0, 1.0, 0.5, 0.5, 0.0]
    np.testing.assert_allclose(points.precision_gain, [0.0, 1 / 3, 0.5, 1.0, 1.0], rtol=1e-15)
    assert curve.prg_auc(ties="threshold") == pytest.approx(0.7083333, abs=5e-8)
    assert hc.HitCurve.from_ranked(OF_25).prg_auc() == pytest.approx(0.43246210357423226, rel=1e-14)


def as_the_authors_do(y, s):
    """The area from all points of the curve: crossing recall gain 0 on the line through hits and others."""
    hits, others, total = [0.0], [0.0], 0.0
    for one in np.unique(s)[::-1]:
        hits.append(hits[-1] + np.count_nonzero(y[s == one]))
        others.append(others[-1] + np.count_nonzero(~y[s == one]))
    ratio = hits[-1] / others[-1]
    start = hits[-1] ** 2 / len(y)
    for h1, h2, f1, f2 in zip(hits, hits[1:], others, others[1:], strict=False):
        if h2 > start:
            if h1 < start:
                f1, h1 = f1 + (f2 - f1) * (start - h1) / (h2 - h1), start
            gains = [(1 - ratio * (hits[-1] - h) / h, 1 - ratio * f / h) for h, f in ((h1, f1), (h2, f2))]
            total += (gains[1][0] - gains[0][0]) * (gains[0][1] + gains[1][1]) / 2
    return total


@pytest.mark.parametrize("distinct", [1, 3, 8, 10**6])
def test_prg_area(distinct):
    rng = np.random.default_rng(distinct)
    for n in (2, 3, 9, 60, 2000):
        for share in (0.05, 0.4, 0.9):
            y = rng.permutation(np.arange(n) < min(max(1, round(share * n)), n - 1))
            s = rng.integers(0, distinct, n) + rng.integers(0, 2) * y
            curve = hc.HitCurve(y, s)
            area = curve.prg_auc(ties="threshold")
            assert area == pytest.approx(as_the_authors_do(y, s), rel=1e-11, abs=1e-11)
            for ties in ("threshold", "best", "worst"):
                points = curve.precision_recall_gain_curve(ties=ties)
                assert (points.recall_gain[-1], points.recall_gain[0]) == (0.0, 1.0)
                below = -np.trapezoid(points.precision_gain, points.recall_gain)
                assert below == pytest.approx(curve.prg_auc(ties=ties), rel=1e-11, abs=1e-11)
            assert curve.prg_auc(ties="worst") <= curve.prg_auc() + 1e-12 <= curve.prg_auc(ties="best") + 2e-12


@pytest.mark.parametrize(("above", "tied", "hits"), [(0, 5000, 900), (40, 3000, 70), (200, 10**5, 3000), (0, 400, 399)])
def test_prg_area_of_large_groups(above, tied, hits):
    """The closed form against the sum over the hits of a group, each with its mean number of others above."""
    curve = hc.HitCurve.from_table(
        None, [above, above + tied + 9], [tied, 50], [hits, 30], num_items=above + tied + 200
    )
    relevant, others = hits + 30, above + tied + 200 - hits - 30
    start, lost = Fraction(relevant**2, relevant + others), 0.0
    seen, before = 0, above
    for n, r in ((tied, hits), (50, 30)):
        for i in range(1, r + 1):
            a, b = max(float(start), seen + i - 1), seen + i
            if b > start:
                lost += (before + (n - r) * i / (r + 1)) * (b - a) / a * ((b + a) / b) / (a * b)
        seen, before = seen + r, before + n - r + 9
    assert curve.prg_auc() == pytest.approx(1 - lost * (relevant / others) ** 2 * relevant / 2, rel=1e-11, abs=1e-11)


def test_prg_of_no_curve():
    for flags in ([], [1, 1], [0, 0]):
        curve = hc.HitCurve(flags, flags)
        assert np.isnan(curve.prg_auc())
        points = curve.precision_recall_gain_curve()
        assert np.isnan(points.precision_gain).tolist() == np.isnan(points.recall_gain).tolist() == [True]
        assert len(points.threshold) == 0
    assert hc.HitCurve.from_ranked([1, 0]).precision_recall_gain_curve().threshold is None
    with pytest.raises(ValueError, match="precision_recall_gain_curve needs"):
        hc.HitCurve([1, 0], [2, 1], num_relevant=3).precision_recall_gain_curve()
    with pytest.raises(ValueError, match="precision_recall_gain_curve is not defined for weighted"):
        hc.HitCurve([1, 0], [2, 1], sample_weight=[1, 2]).precision_recall_gain_curve()
    assert np.isnan(hc.HitCurves([[1, 0], [1, 1]], [[2, 1], [2, 1]]).prg_auc()).tolist() == [False, True]


# --- several classes ----------------------------------------------------------------------------------------


def of_classes(rng, kinds, n, distinct):
    """Labels, each class at least once, and scores with ties."""
    y = np.concatenate([np.arange(kinds), rng.integers(0, kinds, n - kinds)])
    return rng.permutation(y), rng.integers(0, distinct, (n, kinds))


def in_order(y, score, a, b, tie):
    """A(a, b) of Hand & Till: the share of pairs in which the item of class a has the higher score of class a."""
    pairs = [(x, z) for x in score[y == a, a] for z in score[y == b, a]]
    return sum(Fraction(int(x > z)) + tie * int(x == z) for x, z in pairs) / len(pairs)


@pytest.mark.parametrize("distinct", [2, 4, 10**6])
@pytest.mark.parametrize("kinds", [2, 3, 5])
def test_hand_and_till(kinds, distinct):
    rng = np.random.default_rng(kinds)
    for n in (kinds, 9, 40):
        y, score = of_classes(rng, kinds, max(n, kinds), distinct)
        for ties, tie in (("expected", Fraction(1, 2)), ("best", 1), ("worst", 0)):
            each = hc.multiclass_roc_auc(y, score, average=None, ties=ties)
            mean = weighted = Fraction(0)
            for a, b in combinations(range(kinds), 2):
                both = in_order(y, score, a, b, tie), in_order(y, score, b, a, tie)
                assert (each[a, b], each[b, a]) == (float(both[0]), float(both[1]))
                mean += Fraction(2, kinds * (kinds - 1)) * sum(both) / 2
                weighted += sum(both) / 2 * int((y == a).sum() + (y == b).sum())
            assert np.isnan(np.diag(each)).all()
            assert hc.multiclass_roc_auc(y, score, ties=ties) == pytest.approx(float(mean), rel=1e-15, abs=1e-15)
            got = hc.multiclass_roc_auc(y, score, ties=ties, average="weighted")
            assert got == pytest.approx(float(weighted / (len(y) * (kinds - 1))), rel=1e-15, abs=1e-15)


@pytest.mark.parametrize("rounds", [6, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", ["ovo", "ovr"])
def test_classes_of_sklearn(method, rounds):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(5)
    for _ in range(rounds):
        kinds = int(rng.integers(3, 7))
        y, score = of_classes(rng, kinds, int(rng.integers(kinds, 80)), int(rng.choice([3, 9, 10**6])))
        names = np.sort(rng.choice(list("abcdefgh"), kinds, replace=False))
        score = (score + 1) / (score + 1).sum(axis=1, keepdims=True)
        order = rng.permutation(kinds)
        for average in ("macro", "weighted") + (("micro", None) if method == "ovr" else ()):
            ours = hc.multiclass_roc_auc(names[y], score, method=method, average=average)
            theirs = metrics.roc_auc_score(names[y], score, multi_class=method, average=average)
            np.testing.assert_allclose(ours, theirs, rtol=1e-15, atol=1e-15)
            moved = {"labels": names[order], "method": method, "average": average}
            again = hc.multiclass_roc_auc(names[y], score[:, order], **moved)
            np.testing.assert_allclose(again, ours if average else ours[order], rtol=1e-15)
            below = hc.multiclass_roc_auc(y, -score, method=method, average=average, lower_is_better=True, workers=2)
            np.testing.assert_array_equal(below, ours)


def test_two_classes_with_one_score_each():
    """With scores p and 1 - p the two areas of a pair are the same: ROC AUC itself."""
    rng = np.random.default_rng(6)
    y, p = rng.integers(0, 2, 50), rng.integers(0, 9, 50) / 8
    area = hc.HitCurve(y, p).roc_auc()
    both = np.stack([1 - p, p], axis=1)
    assert {hc.multiclass_roc_auc(y, both, method=method) for method in ("ovo", "ovr")} == {area}


Y, S = [0, 1, 2], [[3, 2, 1], [1, 2, 3], [2, 1, 3]]


@pytest.mark.parametrize(
    ("args", "options", "kind", "text"),
    [
        (([0, 1], S), {}, ValueError, r"y_score has shape \(3, 3\), y_true has shape \(2,\)"),
        ((Y, [1, 2, 3]), {}, ValueError, r"y_score has shape \(3,\)"),
        (([Y], S), {}, ValueError, r"y_true must be one-dimensional, got shape \(1, 3\)"),
        (([0, 1, 1], S), {}, ValueError, "y_score has 3 columns, but y_true has 2 different labels; labels="),
        (([0, 0, 0], [[1]] * 3), {}, ValueError, "y_score has 1 column: ROC AUC of classes needs two or more"),
        ((Y, [[1, 2, 3], [1, 2, np.nan], [1, 2, 3]]), {}, ValueError, r"y_score\[1, 2\] is nan"),
        ((Y, [["a", "b", "c"]] * 3), {}, TypeError, r"y_score\[0, 0\] is 'a'"),
        (([0, 1, np.nan], S), {}, ValueError, r"y_true\[2\] is nan: a label must not be missing"),
        (([0, 1, "a"], S), {}, TypeError, r"y_true\[0\] is 0 of type int"),
        ((np.array([0, "a", 1], object), S), {}, TypeError, "y_true holds labels of types"),
        ((Y, S), {"labels": [0, 1, 1]}, ValueError, r"labels\[2\] is 1, as labels\[1\] is: must be distinct"),
        ((Y, S), {"labels": [0, 1]}, ValueError, r"y_true\[2\] is 2: this class is not in labels"),
        ((Y, S), {"labels": [0, 1, 2, 3]}, ValueError, "y_score has 3 columns, but labels has 4 different labels$"),
        (([0, 1, 1], S), {"labels": [0, 1, 2]}, ValueError, r"labels\[2\] is 2, but y_true has no item of this class"),
        ((Y, S), {"labels": ["0", "1", "2"]}, ValueError, r"y_true\[0\] is 0: this class is not in labels"),
        ((Y, S), {"method": "all"}, ValueError, "method='all' is unknown: must be one of 'ovo', 'ovr'"),
        ((Y, S), {"average": "micro"}, ValueError, "average='micro' needs method='ovr'"),
        ((Y, S), {"average": "samples"}, ValueError, "average='samples' is unknown"),
        ((Y, S), {"ties": "threshold"}, ValueError, "ties='threshold' is unknown"),
    ],
)  # fmt: skip
def test_bad_classes(args, options, kind, text):
    with pytest.raises(kind, match=text):
        hc.multiclass_roc_auc(*args, **options)


# --- weights of items with levels ---------------------------------------------------------------------------


def test_weighted_ndcg_of_tf_ranking():
    """sum w g d(rank) by the scores, divided by the same sum in the order of w g: the nDCG of gains times weights."""
    rng = np.random.default_rng(9)
    for k in (1, 3, 50):
        gain, weight = 2.0 ** rng.integers(0, 4, (20, 12)) - 1, rng.integers(1, 9, (20, 12)) / 4
        score = rng.permuted(np.tile(np.arange(12.0), (20, 1)), axis=1)
        product, fall = weight * gain, np.where(np.arange(12) < k, 1 / np.log2(np.arange(12) + 2), 0)
        by_score = np.take_along_axis(product, np.argsort(-score, axis=1), axis=1) @ fall
        each = by_score / (-np.sort(-product, axis=1) @ fall)
        curves = hc.GainCurves(product, score)
        np.testing.assert_allclose(curves.ndcg(k), each, rtol=1e-13)
        per_list = product.sum(axis=1) / gain.sum(axis=1)
        expected = float(each @ per_list / per_list.sum())
        assert curves.mean(f"nDCG@{k}", weights=per_list) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("make", [hc.GainCurve, hc.GainCurves])
def test_levels_take_no_weights(make):
    with pytest.raises(ValueError, match=r"sample_weight is of type list: .* give weight \* gain as y_true"):
        make([[2, 1]] if make is hc.GainCurves else [2, 1], [[2, 1]] if make is hc.GainCurves else [2, 1],
             sample_weight=[1, 2])  # fmt: skip
