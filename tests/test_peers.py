"""The same numbers from other libraries, where they are installed; each known difference is a test that states it."""

import warnings
from itertools import pairwise

import numpy as np
import pytest

import hitcurve as hc


@pytest.fixture(scope="module")
def metrics():
    return pytest.importorskip("sklearn.metrics")


@pytest.fixture(scope="module")
def scoring():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of RDKit's own imports
        return pytest.importorskip("rdkit.ML.Scoring.Scoring")


def random_rankings():
    """Labels and scores: few to many distinct scores, rare to common relevant items, several dtypes."""
    rng = np.random.default_rng(2004)
    for i in range(60):
        n = int(rng.integers(2, 400))
        distinct = int(rng.choice([1, 2, 5, 30, 10**9]))
        y = (rng.random(n) < rng.choice([0.02, 0.3, 0.9])).astype(np.int8)
        y[: 1 + i % 2] = 1
        y[-1] = 0
        s = rng.integers(0, distinct, n).astype(rng.choice(["i4", "i8", "f4", "f8"]))
        if i % 3 == 0:
            s = s - s.dtype.type(distinct // 2)
        yield y, s


RANKINGS = list(random_rankings())
# In an ordinary run the half of them.
every_ranking = pytest.mark.parametrize(
    "case", [pytest.param(i, marks=pytest.mark.slow if i // 3 % 2 else ()) for i in range(len(RANKINGS))])


# --- precision of the items ranked --------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 3, 10, 400, 2**40])
@pytest.mark.parametrize("case", range(0, len(RANKINGS), 3))
def test_precision_of_the_items_ranked(case, k):
    """Hits among the first min(k, n) of n items, divided by min(k, n).

    So count pre@k of XGBoost (tied items in the order given), PrecisionAt of CatBoost (tied relevant items last),
    PrecisionMetric of TF-Ranking and retrieval_precision of torcheval.
    """
    y, s = RANKINGS[case]
    places = min(k, len(y))
    stable = y[np.argsort(-s.astype(np.float64), kind="stable")]
    assert hc.HitCurve(y, s, tiebreak="order").precision(k, normalize="ranked") == stable[:places].sum() / places
    last = y[np.lexsort((y, -s.astype(np.float64)))]
    assert hc.HitCurve(y, s).precision(k, normalize="ranked", ties="worst") == last[:places].sum() / places


def test_precision_of_seven_items():
    """torcheval's own test of retrieval_precision: seven items, four relevant, k = 10."""
    curve = hc.HitCurve.from_ranked([1, 0, 1, 0, 1, 0, 1])
    assert (curve.precision(10), curve.precision(10, normalize="ranked")) == (2 / 5, 4 / 7)
    assert curve.precision([7, 8], normalize="ranked").tolist() == [4 / 7, 4 / 7]
    nothing = hc.HitCurve([], [])
    assert nothing.precision(3, normalize="ranked") == 0.0  # TF-Ranking's divide_no_nan
    assert np.isnan(nothing.precision(normalize="ranked"))


# --- scikit-learn -------------------------------------------------------------------------------------------


@every_ranking
def test_average_precision(metrics, case):
    y, s = RANKINGS[case]
    assert hc.average_precision(y, s, ties="threshold") == pytest.approx(
        metrics.average_precision_score(y, s), rel=1e-14
    )
    assert hc.average_precision(y, s, ties="threshold", lower_is_better=True) == pytest.approx(
        metrics.average_precision_score(y, -s.astype(np.float64)), rel=1e-14
    )


@every_ranking
def test_roc_auc(metrics, case):
    y, s = RANKINGS[case]
    curve = hc.HitCurve(y, s)
    for ties in ("expected", "threshold"):
        assert curve.roc_auc(ties=ties) == pytest.approx(metrics.roc_auc_score(y, s), rel=1e-13)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("case", range(0, len(RANKINGS), 5))
def test_thresholds_select_their_points(case, lower):
    """Counted item by item, the scores at a threshold or better give its point: no peer needed."""
    y, s = RANKINGS[case]
    curve = hc.HitCurve(y, s, lower_is_better=lower)
    points = curve.precision_recall_curve(ties="threshold")
    counts = hc.at_threshold(y, s, points.threshold, lower_is_better=lower)
    np.testing.assert_array_equal(counts.recall, points.recall[:-1])
    np.testing.assert_array_equal(counts.precision, points.precision[:-1])
    roc = curve.roc_curve(ties="threshold")
    counts = hc.at_threshold(y, s, roc.threshold, lower_is_better=lower)
    np.testing.assert_array_equal(counts.recall, roc.tpr)
    np.testing.assert_array_equal(counts.fp, np.rint(roc.fpr * (len(y) - curve.num_hits)))


def test_thresholds_beyond_2_to_the_53(metrics):
    s = np.array([2**62 + 3, 2**62 + 2, 2**62 + 1, 2**62], dtype=np.int64)
    y = [1, 0, 1, 0]
    *_, theirs = metrics.precision_recall_curve(y, s, drop_intermediate=True)
    points = hc.HitCurve(y, s).precision_recall_curve(ties="threshold")
    rises = np.flatnonzero(np.diff(points.recall) < 0)
    assert [int(t) for t in points.threshold[rises]] == [2**62 + 1, 2**62 + 3]
    assert {2**62 + 1, 2**62 + 3} <= {int(t) for t in theirs}


def without_repeats(points):
    points = np.asarray(points)
    return points[np.append(True, np.any(points[1:] != points[:-1], axis=1))]


@pytest.mark.parametrize("case", range(len(RANKINGS)))
def test_precision_recall_curve(metrics, case):
    y, s = RANKINGS[case]
    precision, recall, threshold = metrics.precision_recall_curve(y, s, drop_intermediate=True)
    curve = hc.HitCurve(y, s)
    ours = curve.precision_recall_curve(ties="threshold")
    assert len(ours.precision) == len(ours.recall) == len(ours.threshold) + 1
    # scikit-learn keeps two points of a first run of groups without a relevant item, both (0, 0)
    theirs = without_repeats(np.column_stack([precision, recall]))
    np.testing.assert_array_equal(without_repeats(np.column_stack([ours.precision, ours.recall])), theirs)
    assert (ours.precision[-1], ours.recall[-1]) == (1.0, 0.0)
    # a threshold at which the recall rises is a relevant item's score: the same in both
    rises = np.flatnonzero(np.diff(ours.recall) < 0)
    np.testing.assert_array_equal(ours.threshold[rises], threshold[np.diff(recall) < 0])
    np.testing.assert_array_equal(ours.threshold[rises], np.unique(s[y == 1]))
    assert -np.sum(np.diff(ours.recall) * ours.precision[:-1]) == pytest.approx(
        curve.average_precision(ties="threshold"), rel=1e-13
    )


@every_ranking
def test_roc_curve(metrics, case):
    y, s = RANKINGS[case]
    fpr, tpr, threshold = metrics.roc_curve(y, s, drop_intermediate=False)
    ours = hc.HitCurve(y, s).roc_curve(ties="threshold")
    assert (ours.fpr[0], ours.tpr[0], ours.fpr[-1], ours.tpr[-1]) == (0, 0, 1, 1)
    # every corner of ours is a point of theirs, and theirs lie on our polygon
    theirs = {(a, b): t for a, b, t in zip(fpr, tpr, threshold, strict=True)}
    assert set(zip(ours.fpr, ours.tpr, strict=True)) <= set(theirs)
    for a, b, _ in zip(fpr, tpr, threshold, strict=True):
        near = np.flatnonzero((ours.fpr <= a) & (ours.tpr <= b))[-1]
        if (ours.fpr[near], ours.tpr[near]) != (a, b):
            da, db = ours.fpr[near + 1] - ours.fpr[near], ours.tpr[near + 1] - ours.tpr[near]
            assert (a - ours.fpr[near]) * db == pytest.approx((b - ours.tpr[near]) * da, abs=1e-15)
    for (a0, b0, _), (a1, b1, t) in pairwise(zip(ours.fpr, ours.tpr, ours.threshold, strict=True)):
        if b1 > b0 and np.isin(t, s[y == 1]):  # the end of a group with a relevant item
            assert theirs[a1, b1] == t, (a0, a1)
    assert np.sum(np.diff(ours.fpr) * (ours.tpr[1:] + ours.tpr[:-1])) / 2 == pytest.approx(
        metrics.roc_auc_score(y, s), rel=1e-13
    )


@pytest.mark.parametrize(("case", "zeros"), [
    pytest.param(case, zeros, marks=() if case // 2 % 2 == zeros else pytest.mark.slow)
    for case in range(0, len(RANKINGS), 2) for zeros in (False, True)
])  # fmt: skip
def test_sample_weight(metrics, case, zeros):
    y, s = RANKINGS[case]
    rng = np.random.default_rng(case)
    w = rng.exponential(size=len(y))
    if zeros:
        w[1:-1][rng.random(len(y) - 2) < 0.3] = 0.0
    curve = hc.HitCurve(y, s, sample_weight=w)
    assert curve.weighted
    assert curve.num_items == pytest.approx(w.sum(), rel=1e-14)
    ap = metrics.average_precision_score(y, s, sample_weight=w)
    assert curve.average_precision(ties="threshold") == pytest.approx(ap, rel=1e-13)
    assert hc.average_precision(y, s, ties="threshold", sample_weight=w) == curve.average_precision(ties="threshold")
    auc = metrics.roc_auc_score(y, s, sample_weight=w)
    assert curve.roc_auc(ties="threshold") == pytest.approx(auc, rel=1e-12)

    ours = curve.precision_recall_curve(ties="threshold")
    precision, recall, threshold = metrics.precision_recall_curve(y, s, sample_weight=w)
    at = {t: (p, r) for p, r, t in zip(precision, recall, threshold, strict=False)}
    for i in np.flatnonzero(np.diff(ours.recall) < 0):
        p, r = at[ours.threshold[i]]
        assert ours.precision[i] == pytest.approx(p, rel=1e-13)
        assert ours.recall[i] == pytest.approx(r, rel=1e-13)
    roc = curve.roc_curve(ties="threshold")
    fpr, tpr, _ = metrics.roc_curve(y, s, sample_weight=w)
    for a, b in zip(roc.fpr, roc.tpr, strict=True):
        assert np.min(np.abs(fpr - a) + np.abs(tpr - b)) < 1e-13


def test_weights_of_one_change_nothing(metrics):
    y, s = RANKINGS[0]
    plain, ones = hc.HitCurve(y, s), hc.HitCurve(y, s, sample_weight=np.ones(len(y)))
    assert ones.average_precision(ties="threshold") == plain.average_precision(ties="threshold")
    assert ones.roc_auc(ties="threshold") == plain.roc_auc(ties="threshold")


def test_integer_weights_repeat_items(metrics):
    y, s = RANKINGS[3]
    w = np.random.default_rng(1).integers(0, 4, len(y))
    w[0] = w[-1] = 2
    repeated = hc.HitCurve(np.repeat(y, w), np.repeat(s, w))
    weighted = hc.HitCurve(y, s, sample_weight=w)
    assert weighted.average_precision(ties="threshold") == repeated.average_precision(ties="threshold")
    assert weighted.roc_auc(ties="threshold") == repeated.roc_auc(ties="threshold")


def test_label_ranking_average_precision(metrics):
    rng = np.random.default_rng(7)
    y = (rng.random((80, 12)) < 0.3).astype(int)
    y[0], y[1] = 0, 1  # no relevant label counts 1 there, and so does nothing but relevant labels
    for s in (rng.random((80, 12)), rng.integers(0, 4, (80, 12))):
        theirs = metrics.label_ranking_average_precision_score(y, s)
        for route in (
            hc.mean_average_precision(y, s, ties="threshold", empty="one"),
            hc.HitCurves(y, s).mean_average_precision(ties="threshold", empty="one"),
        ):
            assert route == pytest.approx(theirs, rel=1e-14)
        assert hc.mean_average_precision(y, s, ties="threshold") < theirs
        rows = [hc.average_precision(*row, ties="threshold") for row in zip(y, s, strict=True)]
        np.testing.assert_array_equal(hc.HitCurves(y, s).average_precision(ties="threshold"), rows)


def test_at_threshold(metrics):
    y, s = RANKINGS[1]
    for t in (*np.unique(s)[:5], np.median(s) + 0.5):
        ours = hc.at_threshold(y, s, t, beta=0.5)
        selected = s >= t
        tn, fp, fn, tp = metrics.confusion_matrix(y, selected, labels=[0, 1]).ravel()
        assert (ours.tp, ours.fp, ours.fn, ours.tn) == (tp, fp, fn, tn)
        precision, recall, f, _ = metrics.precision_recall_fscore_support(
            y, selected, beta=0.5, average="binary", zero_division=np.nan
        )
        np.testing.assert_allclose([ours.precision, ours.recall, ours.f_score], [precision, recall, f], rtol=1e-14)


# known differences


def test_sklearn_says_zero_without_positives(metrics):
    with pytest.warns(UserWarning, match="No positive class"):
        assert metrics.average_precision_score([0, 0], [0.1, 0.2]) == 0.0
    assert np.isnan(hc.average_precision([0, 0], [0.1, 0.2], ties="threshold"))  # and no warning: they are errors here
    assert hc.mean_average_precision([[0, 0], [1, 0]], [[1, 2], [2, 1]], ties="threshold") == 1.0
    assert hc.mean_average_precision([[0, 0], [1, 0]], [[1, 2], [2, 1]], ties="threshold", empty="zero") == 0.5


def test_sklearn_exceeds_every_order(metrics):
    y, s = np.repeat([0, 1], [100, 10]), np.concatenate([np.arange(2, 102), np.ones(10)])
    threshold = metrics.average_precision_score(y, s)
    assert round(threshold, 4) == 0.0909
    curve = hc.HitCurve(y, s)
    assert curve.average_precision(ties="threshold") == pytest.approx(threshold, rel=1e-15)
    in_every_order = sum(i / (100 + i) for i in range(1, 11)) / 10
    for ties in ("worst", "expected", "best"):
        assert curve.average_precision(ties=ties) == pytest.approx(in_every_order, rel=1e-14)
    assert round(in_every_order, 4) == 0.0514


def test_sklearn_repeats_the_first_point(metrics):
    y, s = [0, 0, 0, 1, 0], [5, 4, 3, 2, 1]
    precision, recall, threshold = metrics.precision_recall_curve(y, s, drop_intermediate=True)
    assert list(zip(precision, recall, strict=True))[-3:] == [(0, 0), (0, 0), (1, 0)]
    assert list(threshold[-2:]) == [3, 5]
    ours = hc.HitCurve(y, s).precision_recall_curve(ties="threshold")
    assert list(zip(ours.precision, ours.recall, strict=True))[-2:] == [(0, 0), (1, 0)]
    assert len(ours.threshold) == len(threshold) - 1


def test_sklearn_starts_the_trapezoid_at_one(metrics):
    y, s = [1, 0, 1, 0], [2, 2, 1, 1]
    precision, recall, _ = metrics.precision_recall_curve(y, s)
    theirs = metrics.auc(recall, precision)
    ours = hc.average_precision(y, s, ties="threshold", interpolation="trapezoid")
    assert ours == 0.5
    assert theirs == 0.5 + (1 - 0.5) / 2 * 0.5  # half the first step's recall times its distance from 1
    assert hc.average_precision(y, s, **hc.PRESETS["scikit-learn auc"]) == theirs
    y, s = [1, 0, 0, 1], [2, 2, 1, 3]
    precision, recall, _ = metrics.precision_recall_curve(y, s)
    assert hc.average_precision(y, s, **hc.PRESETS["scikit-learn auc"]) == metrics.auc(recall, precision)


def test_nan_and_infinity(metrics):
    y, s = [1, 0, 1, 0], [0.3, np.nan, 0.1, np.inf]
    with pytest.raises(ValueError, match="NaN"):
        metrics.average_precision_score(y[:3], s[:3])
    with pytest.raises(ValueError, match=r"y_score\[1\]"):
        hc.average_precision(y[:3], s[:3])
    lowest = metrics.average_precision_score(y[:3], [0.3, -1, 0.1])
    assert hc.average_precision(y[:3], s[:3], ties="threshold", nan_policy="worst") == lowest
    dropped = metrics.average_precision_score([1, 1], [0.3, 0.1])
    assert hc.average_precision(y[:3], s[:3], ties="threshold", nan_policy="omit") == dropped
    with pytest.raises(ValueError, match="infinity"):
        metrics.average_precision_score([y[0], y[3]], [s[0], s[3]])
    assert hc.average_precision([y[0], y[3]], [s[0], s[3]]) == 0.5


def test_labels_of_one_and_two(metrics):
    # 2 counts as not relevant in scikit-learn; here it is an error unless a relevance level says what it is
    assert metrics.average_precision_score([1, 2], [0.2, 0.1]) == 1.0
    with pytest.raises(ValueError, match=r"y_true\[1\]"):
        hc.average_precision([1, 2], [0.2, 0.1])
    assert hc.average_precision([1, 2], [0.2, 0.1], relevance_level=2) == 0.5


def test_negative_weights(metrics):
    assert metrics.average_precision_score([1, 0, 1], [3, 2, 1], sample_weight=[1, -0.5, 1]) > 1
    with pytest.raises(ValueError, match=r"sample_weight\[1\]"):
        hc.average_precision([1, 0, 1], [3, 2, 1], sample_weight=[1, -0.5, 1], ties="threshold")


def test_scorer_in_grid_search():
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import average_precision_score, make_scorer
    from sklearn.model_selection import GridSearchCV
    from sklearn.naive_bayes import GaussianNB

    rng = np.random.default_rng(0)
    y = (rng.random(300) < 0.2).astype(int)
    x = rng.standard_normal((300, 4)) + 0.8 * y[:, None]
    scorer = make_scorer(hc.average_precision, response_method=("decision_function", "predict_proba"))
    search = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, scoring=scorer, cv=3).fit(x, y)
    plain = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, scoring="average_precision", cv=3).fit(x, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], rtol=1e-12)
    model = GaussianNB().fit(x, y)  # has no decision_function
    expected = average_precision_score(y, model.predict_proba(x)[:, 1])
    np.testing.assert_allclose(scorer(model, x, y), expected, rtol=1e-12)


# --- RDKit --------------------------------------------------------------------------------------------------


def ranked(y, s):
    """Rows in rank order, input order among ties: what RDKit's functions take."""
    return [[int(label)] for label in y[np.argsort(-s.astype(np.float64), kind="stable")]]


@pytest.mark.parametrize("case", range(len(RANKINGS)))
def test_rdkit_early_recognition(scoring, case):
    y, s = RANKINGS[case]
    rows = ranked(y, s)
    curve = hc.HitCurve(y, s, tiebreak="order")
    assert curve.roc_auc() == pytest.approx(scoring.CalcAUC(rows, 0), rel=1e-12, abs=1e-15)
    for alpha in (1.0, 20.0, 80.5, 160.9, 321.9):
        assert curve.rie(alpha) == pytest.approx(scoring.CalcRIE(rows, 0, alpha), rel=1e-11)
        assert curve.bedroc(alpha) == pytest.approx(scoring.CalcBEDROC(rows, 0, alpha), rel=1e-10, abs=1e-12)
    for fraction in (0.005, 0.1, 0.25, 0.5, 0.75):
        if np.ceil(len(y) * fraction) < len(y):
            (theirs,) = scoring.CalcEnrichment(rows, 0, [fraction])
            assert curve.enrichment_factor(fraction) == pytest.approx(theirs, rel=1e-14)
    assert hc.HitCurve.from_ranked([row[0] for row in rows]).bedroc() == curve.bedroc()


@pytest.mark.parametrize("ties", ["best", "worst"])
def test_rdkit_of_the_extreme_orders(scoring, ties):
    for y, s in RANKINGS[:20]:
        first = np.argsort(-y if ties == "best" else y, kind="stable")
        rows = ranked(y[first], s[first])
        curve = hc.HitCurve(y, s)
        assert curve.bedroc(ties=ties) == pytest.approx(scoring.CalcBEDROC(rows, 0, 20.0), rel=1e-10, abs=1e-12)
        assert curve.roc_auc(ties=ties) == pytest.approx(scoring.CalcAUC(rows, 0), rel=1e-12, abs=1e-15)


ROWS = [[flag] for flag in (1, 0, 1, 1, 0, 0, 0, 1, 0, 0)]
CURVE_FLAGS = [row[0] for row in ROWS]


def test_rdkit_enrichment_of_everything_is_missing(scoring):
    assert scoring.CalcEnrichment(ROWS, 0, [1.0]) == []
    assert hc.HitCurve.from_ranked(CURVE_FLAGS).enrichment_factor(1.0) == 1.0


def test_rdkit_enrichment_needs_sorted_fractions(scoring):
    curve = hc.HitCurve.from_ranked(CURVE_FLAGS)
    theirs = scoring.CalcEnrichment(ROWS, 0, [0.5, 0.1])
    ours = curve.enrichment_factor([0.5, 0.1])
    assert theirs[0] == pytest.approx(ours[0], rel=1e-15)
    assert theirs[1] == pytest.approx(curve.enrichment_factor(k=6), rel=1e-15)  # the item after the first cutoff
    assert ours[1] == curve.enrichment_factor(k=1) == 2.5


def test_rdkit_enrichment_moves_repeated_cutoffs(scoring):
    curve = hc.HitCurve.from_ranked(CURVE_FLAGS)
    theirs = scoring.CalcEnrichment(ROWS, 0, [0.1, 0.15, 0.2])
    np.testing.assert_allclose(theirs, curve.enrichment_factor(k=[1, 2, 3]), rtol=1e-15)
    np.testing.assert_array_equal(curve.enrichment_factor([0.1, 0.15, 0.2]), curve.enrichment_factor(k=[1, 2, 2]))


def test_rdkit_rounds_the_product_up(scoring):
    assert 100 * 0.07 > 7
    flags = [0] * 7 + [1] + [0] * 92
    (theirs,) = scoring.CalcEnrichment([[flag] for flag in flags], 0, [0.07])
    curve = hc.HitCurve.from_ranked(flags)
    assert theirs == curve.enrichment_factor(k=8) == 12.5
    assert curve.enrichment_factor(0.07) == curve.enrichment_factor(k=7) == 0.0


def test_rdkit_bedroc_overflows(scoring):
    curve = hc.HitCurve.from_ranked(CURVE_FLAGS)
    with pytest.raises(OverflowError):
        scoring.CalcBEDROC(ROWS, 0, 5000.0)
    for alpha in (710.0, 5000.0, 1e5):
        assert curve.bedroc(alpha) == pytest.approx(1.0, abs=1e-12)  # a hit at rank 1 is all that counts
    assert hc.HitCurve.from_ranked(CURVE_FLAGS[1:]).bedroc(5000.0) == pytest.approx(0.0, abs=1e-12)


def test_rdkit_bedroc_of_small_alpha(scoring):
    # the limit is ROC AUC; RDKit's differences of numbers near 1 cancel, and then divide by zero
    curve = hc.HitCurve.from_ranked(CURVE_FLAGS)
    auc = scoring.CalcAUC(ROWS, 0)
    assert curve.roc_auc() == pytest.approx(auc, rel=1e-15)
    assert scoring.CalcBEDROC(ROWS, 0, 1e-3) == pytest.approx(auc, abs=1e-4)
    assert scoring.CalcBEDROC(ROWS, 0, 1e-8) < 0
    assert scoring.CalcBEDROC(ROWS, 0, 1e-9) > auc + 0.2
    with pytest.raises(ZeroDivisionError):
        scoring.CalcBEDROC(ROWS, 0, 1e-15)
    for alpha in (1e-8, 1e-9):
        assert curve.bedroc(alpha) == pytest.approx(auc, rel=1e-7)


def test_rdkit_degenerate_rankings(scoring):
    all_active, none_active = [[1]] * 4, [[0]] * 4
    assert (scoring.CalcAUC(all_active, 0), scoring.CalcBEDROC(all_active, 0, 20.0)) == (0.0, 1.0)
    assert (scoring.CalcAUC(none_active, 0), scoring.CalcBEDROC(none_active, 0, 20.0)) == (0.0, 0.0)
    for flags in ([1] * 4, [0] * 4):
        curve = hc.HitCurve.from_ranked(flags)
        assert np.isnan(curve.roc_auc())
        assert np.isnan(curve.bedroc())
    assert hc.HitCurve.from_ranked([1] * 4).rie() == pytest.approx(scoring.CalcRIE(all_active, 0, 20.0), rel=1e-12)
    assert np.isnan(hc.HitCurve.from_ranked([0] * 4).rie())


# --- detection: recall levels in floats ---------------------------------------------------------------------

LEVELS = {"11-point": np.arange(0, 1.1, 0.1), "101-point": np.linspace(0, 1, 101)}  # the reference codes' levels


def float_levels(flags, num_relevant, levels):
    """Mean over recall levels of the best precision from the first rank on whose recall, a float, reaches the level."""
    hits = np.cumsum(flags)
    envelope = np.maximum.accumulate((hits / np.arange(1, len(flags) + 1))[::-1])[::-1]
    first = np.searchsorted(hits / num_relevant, levels, side="left")
    return np.mean(np.append(envelope, 0.0)[first])


def needed_hits(flags, needed):
    """The same with the number of hits that each level needs."""
    hits = np.cumsum(flags)
    envelope = np.maximum.accumulate((hits / np.arange(1, len(flags) + 1))[::-1])[::-1]
    return np.mean(np.append(envelope, 0.0)[np.searchsorted(hits, needed, side="left")])


@pytest.mark.parametrize("interpolation", LEVELS)
def test_recall_levels(interpolation):
    levels = LEVELS[interpolation]
    parts = len(levels) - 1
    rng = np.random.default_rng(11)
    right = []
    for num_relevant in range(1, 61):
        exact = -(-np.arange(parts + 1) * num_relevant // parts)
        in_floats = np.searchsorted(np.arange(num_relevant + 1) / num_relevant, levels, side="left")
        right.append(np.array_equal(exact, in_floats))
        for found in (num_relevant, num_relevant // 2):  # all retrieved, and some never retrieved
            flags = rng.permutation(np.repeat([1, 0], [found, 3 * num_relevant]))
            curve = hc.HitCurve.from_ranked(flags, num_relevant=num_relevant)
            ours = curve.average_precision(interpolation=interpolation)
            theirs = float_levels(flags, num_relevant, levels)
            assert ours == pytest.approx(needed_hits(flags, exact), rel=1e-14)
            assert theirs == pytest.approx(needed_hits(flags, in_floats), rel=1e-14)
            if right[-1]:
                assert ours == pytest.approx(theirs, rel=1e-14)
    assert any(right)
    assert not all(right)


@pytest.mark.parametrize(
    ("interpolation", "num_relevant", "missed"), [("11-point", 10, [3, 6, 7]), ("101-point", 20, [35, 70, 95])]
)
def test_missed_levels(interpolation, num_relevant, missed):
    levels = LEVELS[interpolation]
    parts = len(levels) - 1
    exact = -(-np.arange(parts + 1) * num_relevant // parts)
    in_floats = np.searchsorted(np.arange(num_relevant + 1) / num_relevant, levels, side="left")
    assert [*np.flatnonzero(in_floats != exact)] == missed
    assert all(in_floats[missed] == exact[missed] + 1)
    # a precision of 1 up to a missed level's recall, then a long gap: the float code takes the precision after the gap
    first = int(exact[missed[0]])
    flags = np.concatenate([np.ones(first), np.zeros(1000), np.ones(num_relevant - first)]).astype(int)
    ours = hc.HitCurve.from_ranked(flags).average_precision(interpolation=interpolation)
    theirs = float_levels(flags, num_relevant, levels)
    last = num_relevant / len(flags)
    assert ours == pytest.approx(((missed[0] + 1) + (parts - missed[0]) * last) / (parts + 1), rel=1e-14)
    assert ours - theirs == pytest.approx((1 - last) / (parts + 1), rel=1e-12)


def test_voc_sample(shared_data):
    """24 detections, 15 true objects: published as 26.84 % (11-point) and 24.56 % (all points)."""
    table = np.loadtxt(shared_data / "detection" / "voc_padilla_sample2.csv", delimiter=",", skiprows=1, usecols=(2, 3))
    confidence, hit = table[:, 0], table[:, 1].astype(int)
    assert len(hit) == 24
    # at 95 % the true detection comes first, as in the published table: that is the order of the file
    for curve, ties in (
        (hc.HitCurve(hit, confidence, num_relevant=15, tiebreak="order"), "expected"),
        (hc.HitCurve(hit, confidence, num_relevant=15), "best"),
    ):
        assert round(100 * curve.average_precision(interpolation="11-point", ties=ties), 2) == 26.84
        # the printed total adds rounded areas, 0.0666 for 1/15 among them; unrounded it is 24.57 %
        printed = 0.0666 + 0.04446222 + 0.11428095 + 0.02026638
        ours = curve.average_precision(interpolation="all-point", ties=ties)
        assert ours == pytest.approx(printed, abs=1e-4)
        assert round(100 * ours, 2) == 24.57
