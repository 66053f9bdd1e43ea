"""The slow twin against facts that do not come from it."""

import json
from fractions import Fraction
from functools import partial
from itertools import pairwise, permutations, product
from math import comb, isclose, isnan, lcm, nan

import numpy as np
import pytest
import reference as ref
from examples import few
from hypothesis import given
from hypothesis import strategies as st

metrics = pytest.importorskip("sklearn.metrics", reason="compares with scikit-learn, which is not installed")

SMALL = [
    ([1], [0.5]),
    ([1, 0], [1, 2]),
    ([1, 1, 0, 1], [4, 3, 2, 1]),
    ([0, 1, 0, 1, 1], [3, 3, 2, 2, 2]),
    ([1, 0, 0, 1, 0, 1, 0], [2, 2, 2, 2, 1, 1, 0]),
    ([0, 0, 1, 0, 1, 1], [5, 5, 5, 1, 1, 1]),
    ([1, 0, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1]),
]


def same(a, b, rel=1e-14):
    a, b = float(a), float(b)
    return (isnan(a) and isnan(b)) or isclose(a, b, rel_tol=rel, abs_tol=0)


# --- published numbers --------------------------------------------------------------------------------------


def test_tiny_ties(shared_data):
    cases = json.loads((shared_data / "score_dumps" / "tiny_ties_exact.json").read_text())
    assert len(cases) == 150
    for case in cases:
        rank = ref.ranking(case["label"], case["score"])
        values = [ref.average_precision(rank, ties=ties) for ties in ("worst", "expected", "best")]
        assert values == [Fraction(case[key]) for key in ("min", "mean", "max")]
        assert len(list(ref.orders(rank))) == case["orders"]
        assert ref.average_precision_by_position(rank) == Fraction(case["mean"])


def in_order(flags):
    return ref.ranking(flags, range(len(flags), 0, -1))


def test_zhu_table_1():
    """Zhu (2004), algorithms A and B: 0.9167 and 0.625 with three relevant items."""
    a = ref.average_precision(in_order([1, 1, 0, 1]))
    assert a == Fraction(11, 12) and round(float(a), 4) == 0.9167
    assert ref.average_precision(in_order([1, 0, 0, 1, 0, 0, 0, 1])) == Fraction(5, 8)
    # no other three ranks up to 20 give 0.625, so these are the ranks of algorithm B
    ranks = [
        (i, j, k)
        for i, j, k in product(range(1, 21), repeat=3)
        if i < j < k and Fraction(1, i) + Fraction(2, j) + Fraction(3, k) == 3 * Fraction(5, 8)
    ]
    assert ranks == [(1, 4, 8)]


def test_zhu_table_2():
    """Zhu (2004): a perfect order has AP 1; a random order of a collection with 5 % relevant tends to 0.05."""
    assert ref.average_precision(in_order([1] * 5 + [0] * 95)) == 1
    values = [
        ref.average_precision_by_position(ref.from_groups([n], [n // 20])) - Fraction(1, 20) for n in (100, 400, 1600)
    ]
    assert all(value > 0 for value in values)
    assert values[0] > 3 * values[1] > 9 * values[2] > 0
    assert values[2] < 0.005


def test_ten_tied_below_a_hundred():
    """Every order gives 0.0514; the threshold rule says 0.0909."""
    rank = ref.from_groups([1] * 100 + [10], [0] * 100 + [10])
    value = ref.average_precision(rank)
    assert round(float(value), 4) == 0.0514
    assert ref.average_precision(rank, ties="best") == ref.average_precision(rank, ties="worst") == value
    assert ref.average_precision(rank, ties="threshold") == Fraction(1, 11)


def test_chance_and_minimum_closed_forms():
    """Bestgen (2015); Boyd, Santos Costa, Davis & Page (2012)."""
    for n in range(1, 8):
        for r in range(1, n + 1):
            rank = ref.from_groups([n], [r])
            harmonic = sum(Fraction(1, i) for i in range(1, n + 1))
            expected = 1 if n == 1 else Fraction(r - 1, n - 1) + Fraction(n - r, n - 1) * harmonic / n
            assert ref.chance(rank) == expected
            assert ref.minimum(rank) == sum(Fraction(i, n - r + i) for i in range(1, r + 1)) / r
            assert same(ref.normalized_average_precision(rank), nan if r == n else 0)


def test_interpolated_levels_are_exact():
    """With 10 relevant items, level 0.3 needs 3 hits, not 4: 10 * 3 >= 3 * 10."""
    rank = in_order([1] * 3 + [0] * 10 + [1] * 7)
    tail = Fraction(10, 20)  # the precision at the last hit is the best beyond recall 0.3
    assert ref.average_precision(rank, interpolation="11-point") == (4 + 7 * tail) / 11
    assert ref.average_precision(rank, interpolation="all-point") == (3 + 7 * tail) / 10


def test_log_auc_of_a_constant_scorer():
    """0.14462: what the adjusted logAUC of Mysinger & Shoichet (2010) subtracts."""
    rank = ref.from_groups([10], [3])
    assert round(float(ref.log_auc(rank, ties="threshold")), 5) == 0.14462
    assert abs(ref.log_auc(rank, adjusted=True, ties="threshold")) < 1e-40
    # The mean over all orders has steps, which are narrow where many items tie.
    assert round(float(ref.log_auc_by_group(ref.from_groups([10**9], [3]), 0.001)), 5) == 0.14462


# --- scikit-learn -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("y_true, y_score", SMALL)
def test_threshold_is_scikit_learn(y_true, y_score):
    rank = ref.ranking(y_true, y_score)
    assert same(ref.average_precision(rank, ties="threshold"), metrics.average_precision_score(y_true, y_score))
    p, r, _ = metrics.precision_recall_curve(y_true, y_score)
    read = {"ties": "threshold", "interpolation": "trapezoid-from-1"}
    assert same(ref.average_precision(rank, **read), metrics.auc(r, p), 1e-12)
    # its curve runs from high recall to low, down to (1, 0): the first point of ours has the precision of the next
    p[-1] = p[-2]
    assert same(ref.average_precision(rank, ties="threshold", interpolation="trapezoid"), metrics.auc(r, p), 1e-12)
    if 0 < sum(y_true) < len(y_true):
        assert same(ref.roc_auc(rank), metrics.roc_auc_score(y_true, y_score))
        for max_fpr in (0.05, 0.3, 0.5, 0.9, 1.0):
            ours = ref.roc_auc(rank, max_fpr=max_fpr, ties="threshold")
            assert same(ours, metrics.roc_auc_score(y_true, y_score, max_fpr=max_fpr))
        assert ref.roc_auc(rank) == ref.roc_auc(rank, ties="threshold")


@pytest.mark.parametrize("y_true, y_score", SMALL)
def test_curves_are_scikit_learn(y_true, y_score):
    rank = ref.ranking(y_true, y_score)
    precision, recall, _ = metrics.precision_recall_curve(y_true, y_score, drop_intermediate=True)
    points = [point for i, point in enumerate(zip(precision, recall, strict=True)) if i == 0 or point != (0, 0)]
    ours = [point for point in ref.precision_recall_curve(rank, ties="threshold") if point != (0, 0)]
    assert np.allclose(np.array(ours, float), points, rtol=1e-15)
    if 0 < sum(y_true) < len(y_true):
        fpr, tpr, _ = metrics.roc_curve(y_true, y_score)
        negatives = len(y_true) - sum(y_true)
        points = [(round(x * negatives), round(y * sum(y_true))) for x, y in zip(fpr, tpr, strict=True)]
        ours = [(x * negatives, y * sum(y_true)) for x, y in ref.roc_curve(rank)]
        assert ours == ref.corners(points)


@pytest.mark.parametrize("y_true, y_score", SMALL)
@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_at_threshold_is_scikit_learn(y_true, y_score, beta):
    for threshold in [-1, *y_score, 9]:
        counts = ref.at_threshold(y_true, y_score, threshold, beta=beta)
        y_pred = (np.array(y_score) >= threshold).astype(int)
        tn, fp, fn, tp = metrics.confusion_matrix(y_true, y_pred, labels=[0, 1]).ravel().tolist()
        assert counts[:4] == (tp, fp, fn, tn)
        p, r, f, _ = metrics.precision_recall_fscore_support(
            y_true, y_pred, beta=beta, labels=[1], zero_division=np.nan, average="binary"
        )
        assert same(counts.precision, p) and same(counts.recall, r) and same(counts.f_score, f)


def test_weights_are_scikit_learn():
    y_true, y_score, weight = [1, 0, 1, 0, 1, 0], [3, 3, 2, 2, 1, 0], [0.5, 2, 1.25, 0, 3, 1]
    rank = ref.ranking(y_true, y_score, sample_weight=weight)
    expected = metrics.average_precision_score(y_true, y_score, sample_weight=weight)
    assert same(ref.average_precision(rank, ties="threshold"), expected)
    expected = metrics.roc_auc_score(y_true, y_score, sample_weight=weight)
    assert same(ref.roc_auc(rank, ties="threshold"), expected)
    for refused in (ref.roc_auc, ref.average_precision, ref.chance, ref.tie_report, ref.rie):
        with pytest.raises(ValueError):
            refused(rank)


# --- the twin against itself, by another road ---------------------------------------------------------------


def test_orders_are_the_permutations():
    """The distinct patterns, each equally weighted, have the mean over all n! permutations."""
    y_true, y_score = [1, 0, 1, 0, 0, 1], [2, 2, 2, 1, 1, 1]
    rank = ref.ranking(y_true, y_score)
    values = []
    for order in permutations(range(6)):
        if all(y_score[i] >= y_score[j] for i, j in pairwise(order)):
            values.append(ref.precision_sum(tuple(y_true[i] for i in order)) / 3)
    assert len(values) == 36
    assert sum(values) / 36 == ref.average_precision(rank)
    assert max(values) == ref.average_precision(rank, ties="best")
    assert min(values) == ref.average_precision(rank, ties="worst")


groups_of_items = st.lists(
    st.integers(1, 5).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), min_size=1, max_size=3
)


def of_pairs(groups, missing=0):
    items, relevant = zip(*groups, strict=True)
    return ref.from_groups(items, relevant, sum(relevant) + missing)


@given(groups_of_items, st.integers(0, 2), st.integers(1, 12))
def test_by_position_is_the_mean_over_orders(groups, missing, k):
    rank = of_pairs(groups, missing)
    for normalize in ref.NORMALIZE:
        value = ref.average_precision_by_position(rank, k, normalize=normalize)
        assert same(value, ref.average_precision(rank, k, normalize=normalize), 0)
    assert same(ref.average_precision_by_position(rank), ref.average_precision(rank), 0)
    assert same(ref.trapezoid_by_position(rank), ref.average_precision(rank, interpolation="trapezoid"), 0)
    assert same(ref.reciprocal_rank_by_position(rank), ref.reciprocal_rank(rank), 0)
    assert same(ref.reciprocal_rank_by_position(rank, k), ref.reciprocal_rank(rank, k), 0)
    assert same(ref.success_by_position(rank, k), ref.success(rank, k), 0)
    if not missing:
        assert same(ref.rie_by_position(rank, 3.0), ref.rie(rank, 3.0))
        assert same(ref.bedroc_by_position(rank, 3.0), ref.bedroc(rank, 3.0))


@given(groups_of_items, st.integers(0, 2), st.integers(1, 12), st.sampled_from(ref.TIES))
def test_by_group_is_the_definition(groups, missing, k, ties):
    rank = of_pairs(groups, missing)
    hits = ref.num_hits(rank)
    if not hits:
        return
    asked = [("hits_at", (k,)), ("precision", (k,)), ("f_score", (k,)), ("normalized_average_precision", ())]
    asked += [("average_precision", ()), ("average_precision", (k,))]
    levels = ["11-point", "101-point", "all-point"]
    if not missing:
        asked += [("roc_auc", ()), ("auac", ()), ("roc_enrichment", (0.3,)), ("log_auc", (0.2,))]
        asked += [("fall_out", (k,)), ("mean_rank", ()), ("mean_percentile_rank", ())]
        asked += [("rie", (20.0,)), ("bedroc", (20.0,))] * (ties != "threshold")
        assert same(ref.enrichment_factor_by_group(rank, k=k, ties=ties), ref.enrichment_factor(rank, k=k, ties=ties))
    for name, arguments in asked:
        value = float(getattr(ref, name)(rank, *arguments, ties=ties))
        found = float(getattr(ref, name + "_by_group")(rank, *arguments, ties=ties))
        assert (isnan(value) and isnan(found)) or isclose(value, found, rel_tol=1e-14, abs_tol=1e-25), name
    for interpolation in levels:
        wanted = {"ties": ties, "interpolation": interpolation}
        assert ref.average_precision_by_group(rank, **wanted) == ref.average_precision(rank, **wanted)
    if ties != "threshold":
        assert same(ref.reciprocal_rank_by_group(rank, ties=ties), ref.reciprocal_rank(rank, ties=ties))


def test_reciprocal_rank_by_group_of_many_relevant():
    """By the recurrence, by the sum of its terms, and place by place."""
    for n, r, c in ((60, 12, 3), (60, 13, 3), (60, 40, 0), (2000, 12, 500)):
        rank = ref.from_table([c], [n], [r], c + n, r)
        assert same(ref.reciprocal_rank_by_group(rank), ref.reciprocal_rank_by_position(rank))


@given(groups_of_items, st.integers(1, 12))
def test_shares_are_means_over_orders(groups, k):
    """What the threshold reading takes from a cut group is the mean over its orders, where the measure is linear."""
    rank = of_pairs(groups)
    for measure in (ref.hits_at, ref.precision, ref.recall, ref.f_score, ref.normalized_enrichment_factor):
        assert same(measure(rank, k=k), measure(rank, k=k, ties="threshold"), 0)
    assert same(ref.roc_auc(rank), ref.roc_auc(rank, ties="threshold"), 0)


@given(groups_of_items, st.integers(0, 2), st.sampled_from(["11-point", "all-point"]))
def test_mean_envelope_is_that_of_fine_steps(groups, missing, interpolation):
    """The envelope over the points of the mean hit curve at every 1/s of an item: steps that meet every level."""
    rank = of_pairs(groups, missing)
    if rank.num_relevant == 0:
        return
    s = 10 * lcm(*(g.relevant for g in rank.groups if g.relevant))
    points = []
    for c, H, n, r in ref.with_above(rank.groups):
        points += [(c + Fraction(i, s), H + Fraction(i * r, n * s)) for i in range(1, n * s + 1)]
    value = ref.average_precision(rank, interpolation=interpolation)
    assert value == ref.envelope(tuple(points), rank.num_relevant, interpolation)


@few(12)
@given(groups_of_items)
def test_continuous_is_the_integral(groups):
    rank = of_pairs(groups)
    mp = ref.mp
    if rank.num_relevant == 0:
        return

    def precision(x, c, H, n, r):
        return (H + mp.mpf(r) / n * (x - c)) / x

    for ties, parts in (("threshold", rank.groups), ("best", ref.as_groups(ref.best_order(rank)))):
        area = mp.mpf(0)
        for c, H, n, r in ref.with_above(parts):
            area += mp.quad(partial(precision, c=c, H=H, n=n, r=r), [c, c + n]) * r / n if r else 0
        value = ref.average_precision(rank, ties=ties, interpolation="continuous")
        assert abs(area / rank.num_relevant - value) < 1e-25


@few(12)
@given(groups_of_items, st.sampled_from([0.001, 0.1, 0.5]))
def test_log_auc_is_the_integral(groups, min_fpr):
    rank = of_pairs(groups)
    value = ref.log_auc(rank, min_fpr, ties="threshold")
    if isnan(value):
        assert rank.num_relevant in (0, ref.num_items(rank))
        return
    mp = ref.mp
    points = ref.roc_points(rank.groups)
    xs, ys = [mp.mpf(x) / points[-1][0] for x, _ in points], [mp.mpf(y) / points[-1][1] for _, y in points]

    def height(x, x1, x2, y1, y2):
        return (y1 + (x - x1) * (y2 - y1) / (x2 - x1)) / x

    area = mp.mpf(0)
    for x1, x2, y1, y2 in zip(xs[:-1], xs[1:], ys[:-1], ys[1:], strict=True):
        start = max(x1, mp.mpf(min_fpr))
        if start < x2:
            area += mp.quad(partial(height, x1=x1, x2=x2, y1=y1, y2=y2), mp.linspace(start, x2, 8))
    assert abs(area / -mp.log(min_fpr) - value) < 1e-12


def test_bedroc_is_truchon_and_bayly():
    """Their form by RIE and its extremes, and ROC AUC in the limit of a small alpha."""
    mp = ref.mp
    for y_true, y_score in SMALL:
        rank = ref.ranking(y_true, y_score)
        if not 0 < sum(y_true) < len(y_true):
            continue
        for alpha in (1.0, 20.0):
            share = mp.mpf(sum(y_true)) / len(y_true)
            low = (1 - mp.exp(alpha * share)) / (share * (1 - mp.exp(alpha)))
            high = (1 - mp.exp(-alpha * share)) / (share * (1 - mp.exp(-alpha)))
            assert abs((ref.rie(rank, alpha) - low) / (high - low) - ref.bedroc(rank, alpha)) < 1e-40
        assert abs(ref.bedroc(rank, 1e-9) - float(ref.roc_auc(rank))) < 1e-8


def test_reciprocal_rank_of_one_group():
    """One relevant item among n: every rank equally likely."""
    for n in range(1, 7):
        rank = ref.from_groups([n], [1])
        assert ref.reciprocal_rank(rank) == sum(Fraction(1, i) for i in range(1, n + 1)) / n
        assert ref.success(rank, 2) == Fraction(min(2, n), n)
    assert ref.success(ref.from_groups([6], [2]), 2) == 1 - Fraction(comb(4, 2), comb(6, 2))


def test_fraction_is_the_decimal_that_was_written():
    rank = ref.from_groups([100], [10])
    assert ref.cutoff(rank, None, 0.07) == 7
    assert ref.cutoff(rank, None, 0.071) == 8
    assert ref.cutoff(rank, None, 1) == 100


def test_nan_policies():
    y_true, y_score = [1, 0, 1, 0], [1.0, nan, nan, 2.0]
    with pytest.raises(ValueError):
        ref.ranking(y_true, y_score)
    worst = ref.ranking(y_true, y_score, nan_policy="worst", lower_is_better=True)
    assert [(g.items, g.relevant) for g in worst.groups] == [(1, 1), (1, 0), (2, 1)]
    omitted = ref.ranking(y_true, y_score, nan_policy="omit")
    assert [(g.items, g.relevant) for g in omitted.groups] == [(1, 0), (1, 1)]


def test_tiebreak():
    y_true, y_score = [0, 1, 1, 0], [1, 1, 1, 1]
    assert ref.best_order(ref.ranking(y_true, y_score, tiebreak="order")) == (0, 1, 1, 0)
    rank = ref.ranking(y_true, y_score, tiebreak=[2, 2, 1, 1])
    assert [(g.items, g.relevant) for g in rank.groups] == [(2, 1), (2, 1)]


def test_mean_average_precision():
    ranks = [ref.from_groups([1, 1], [0, 1]), ref.from_groups([2], [0])]
    assert ref.mean_average_precision(ranks) == Fraction(1, 2)
    assert ref.mean_average_precision(ranks, empty="zero") == Fraction(1, 4)
    assert ref.mean_average_precision(ranks, empty="one") == Fraction(3, 4)
    assert isnan(ref.mean_average_precision(ranks[1:]))
    with pytest.raises(ValueError):
        ref.mean_average_precision(ranks, empty="raise")


def test_hit_curve_corners():
    rank = ref.from_groups([2, 2, 1], [1, 1, 0])
    assert ref.hit_curve(rank) == [(0, 0), (4, 2), (5, 2)]
    assert ref.hit_curve(rank, ties="best") == [(0, 0), (1, 1), (2, 1), (3, 2), (5, 2)]
    assert ref.hit_curve(rank, ties="worst") == [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2), (5, 2)]
