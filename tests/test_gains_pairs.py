"""Pairs of items of differing level, and ranks, against all orders of tied items, in exact fractions."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import reference as ref
import register
from examples import few
from hypothesis import given
from hypothesis import strategies as st
from test_gains import near, small

import hitcurve as hc
from hitcurve.measures import parse

# --- the slow twins -----------------------------------------------------------------------------------------


def ratio(a, b):
    return Fraction(a) / Fraction(b) if b else math.nan


READ = register.ORDERS


def compare(levels, scores, lower=False, tolerance=1e-15):
    curve = hc.GainCurve(levels, scores, lower_is_better=lower)
    query = ref.judged_items(levels, scores, lower_is_better=lower)
    for ties in READ:
        assert near(curve.pairwise_accuracy(ties=ties), ref.pairwise_accuracy(query, ties=ties), tolerance)
        assert near(curve.somers_d(ties=ties), ref.somers_d(query, ties=ties), tolerance)
        assert near(curve.mean_rank(ties=ties), ref.rank_of_levels(query, ties=ties), tolerance)
        wanted = ref.percentile_rank_of_levels(query, ties=ties)
        assert near(curve.mean_percentile_rank(ties=ties), wanted, tolerance)
    assert near(curve.goodman_kruskal_gamma(), ref.goodman_kruskal_gamma(query), tolerance)
    assert curve.mean_percentile_rank(ties="threshold") == curve.mean_percentile_rank() or not any(levels)
    hits = hc.HitCurve([level > 0 for level in levels], scores, lower_is_better=lower)
    for ties in (*READ, "threshold"):
        found = curve.mean_rank(ties=ties)
        assert found == hits.mean_rank(ties=ties) or math.isnan(found)


@pytest.mark.parametrize("most", [4, pytest.param(5, marks=pytest.mark.slow)])
def test_all_orders_of_small_rankings(most):
    for n in range(most + 1):
        for levels in itertools.product((0, 1, 2), repeat=n):
            compare(levels, [0] * n)
            compare(levels, [i // 2 for i in range(n)])
    for levels in ((0, 1, 2, 0, 1, 2), (2, 2, 1, 1, 0, 0), (0, 0, 0, 1, 2, 2)):
        compare(levels, [0] * 6)


@few(25)
@given(small, st.booleans())
def test_all_orders(items, lower):
    compare([level for level, _ in items], [score for _, score in items], lower)


@given(st.lists(st.tuples(st.sampled_from([0, 0.1, 1, 2.5, 7]), st.integers(0, 12)), max_size=80), st.booleans())
def test_of_pairs(items, lower):
    levels, scores = [level for level, _ in items], [score for _, score in items]
    right, wrong, tied = ref.pairs(ref.judged_items(levels, scores, lower_is_better=lower).groups)
    pairs = right + wrong + tied
    curve = hc.GainCurve(levels, scores, lower_is_better=lower)
    for ties, share in (("expected", Fraction(1, 2)), ("best", 1), ("worst", 0)):
        assert near(curve.pairwise_accuracy(ties=ties), ratio(right + share * tied, pairs), 1e-15)
        assert near(curve.somers_d(ties=ties), ratio(right - wrong + (2 * share - 1) * tied, pairs), 1e-15)
    assert near(curve.goodman_kruskal_gamma(), ratio(right - wrong, right + wrong), 1e-15)
    if pairs:
        assert (
            curve.pairwise_accuracy(ties="worst") <= curve.pairwise_accuracy() <= curve.pairwise_accuracy(ties="best")
        )
        assert curve.somers_d(ties="worst") <= curve.somers_d() <= curve.somers_d(ties="best")
    if any(levels):
        best, expected, worst = (curve.mean_percentile_rank(ties=ties) for ties in ("best", "expected", "worst"))
        assert best <= expected * (1 + 1e-15) and expected <= worst * (1 + 1e-15)


# --- others -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kinds", [2, 3, 300])
def test_scipy(kinds):
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(kinds)
    for n in (3, 10, 150):
        levels, scores = rng.integers(0, kinds, n), rng.integers(0, 1 + n // 3, n)
        levels[:2], scores[:2] = (0, 1), (0, 1)
        assert near(hc.GainCurve(levels, scores).somers_d(), stats.somersd(levels, scores).statistic, 1e-13)


def test_where_scipy_differs():
    """Of one score alone Somers' D is 0: no pair is in the right or in the wrong order."""
    stats = pytest.importorskip("scipy.stats")
    assert math.isnan(stats.somersd([0, 1], [5, 5]).statistic)
    assert hc.GainCurve([0, 1], [5, 5]).somers_d() == 0


@pytest.mark.parametrize("ties", [*READ])
def test_two_levels_are_roc_auc(ties):
    rng = np.random.default_rng(7)
    for n in (2, 9, 100, 5000):
        flags, scores = rng.random(n) < 0.3, rng.integers(0, 1 + n // 2, n)
        flags[:2] = True, False
        curve, hits = hc.GainCurve(flags * 3, scores), hc.HitCurve(flags, scores)
        assert curve.pairwise_accuracy(ties=ties) == hits.roc_auc(ties=ties)
        assert near(curve.mean_percentile_rank(ties=ties), hits.mean_percentile_rank(ties=ties), 1e-15)
        if ties == "expected":
            metrics = pytest.importorskip("sklearn.metrics")
            assert near(curve.pairwise_accuracy(), metrics.roc_auc_score(flags, scores), 1e-14)


# --- large counts -------------------------------------------------------------------------------------------


def test_real_levels():
    """As many levels as items: by the counts of a sort."""
    rng = np.random.default_rng(8)
    levels = rng.random(100_000) + 0.001
    scores = np.round(levels + rng.normal(0, 0.5, levels.shape[0]), 3)
    order = np.lexsort((levels, -scores))
    ranked = np.argsort(np.argsort(levels))[order]
    # The pairs in the wrong order, merge by merge: a score's levels rise, so that none of its pairs is among them.
    wrong, width, runs = 0, 1, ranked.copy()
    while width < runs.shape[0]:
        for start in range(0, runs.shape[0], 2 * width):
            left, right = runs[start : start + width], runs[start + width : start + 2 * width]
            wrong += int(np.searchsorted(left, right, side="left").sum())
            runs[start : start + 2 * width] = np.sort(runs[start : start + 2 * width])
        width *= 2
    counts = np.unique(scores, return_counts=True)[1]
    tied = int((counts * (counts - 1) // 2).sum())
    pairs = 100_000 * 99_999 // 2
    wrong -= tied
    curve = hc.GainCurve(levels, scores)
    assert near(curve.goodman_kruskal_gamma(), Fraction(pairs - tied - 2 * wrong, pairs - tied), 1e-15)
    assert near(curve.pairwise_accuracy(), Fraction(2 * (pairs - wrong) - tied, 2 * pairs), 1e-15)


@pytest.mark.parametrize("size", [1, 3**20, 2**54 + 1])
def test_counts_beyond_64_bits(size):
    """The same ranking of so many items for each one: (levels of a tie group, with how many of each)."""
    groups = [{2: 3, 0: 1}, {1: 2, 2: 1, 0: 2}, {0: 5}, {1: 1, 3: 1}, {2: 4}]
    above, rows, items, seen = [], [], 0, []
    for group in groups:
        held = {level: many * size for level, many in sorted(group.items())}
        above.append(items)
        rows.append(held)
        items += sum(held.values())
        seen.append(held)
    kept = [i for i, row in enumerate(rows) if any(row)]
    pairs = [[(level, many) for level, many in rows[i].items() if level] for i in kept]
    curve = hc.GainCurve.from_table(
        None, [above[i] for i in kept], [sum(rows[i].values()) for i in kept], np.cumsum([0, *map(len, pairs)]),
        [level for row in pairs for level, _ in row], [many for row in pairs for _, many in row], num_items=items,
    )  # fmt: skip
    right = wrong = tied = 0
    for i, j in itertools.product(range(len(rows)), repeat=2):
        for (a, m), (b, n) in itertools.product(rows[i].items(), rows[j].items()):
            if a > b:
                right, wrong, tied = right + m * n * (i < j), wrong + m * n * (i > j), tied + m * n * (i == j)
    assert near(curve.pairwise_accuracy(), Fraction(2 * right + tied, 2 * (right + wrong + tied)), 1e-15)
    assert near(curve.pairwise_accuracy(ties="best"), Fraction(right + tied, right + wrong + tied), 1e-15)
    assert near(curve.somers_d(ties="worst"), Fraction(right - wrong - tied, right + wrong + tied), 1e-15)
    assert near(curve.goodman_kruskal_gamma(), Fraction(right - wrong, right + wrong), 1e-15)
    ranks = weights = Fraction(0)
    for start, row in zip(above, rows, strict=True):
        tied = sum(row.values())
        for level, many in row.items():
            weights += level * many
            ranks += level * many * (start + Fraction(tied - 1, 2))
    assert near(curve.mean_percentile_rank(), ranks / weights / (items - 1), 1e-15)


def test_a_difference_keeps_its_digits():
    """Pairs in the right and in the wrong order that differ by one."""
    n = 2**40
    curve = hc.GainCurve.from_table(None, [0, n + 1], [1, 1], [0, 1, 2], [1, 1], [1, 1], num_items=2 * n + 3)
    assert (n + 1) + n - (0 + n) == n + 1
    right, wrong = (2 * n + 1) + (n + 1), n
    assert near(curve.somers_d(), Fraction(right - wrong, 2 * (2 * n + 1)), 1e-15)
    curve = hc.GainCurve.from_table(None, [n], [1], [0, 1], [1], [1], num_items=2 * n + 2)
    assert near(curve.somers_d(), Fraction(1, 2 * n + 1), 1e-15)
    assert near(curve.goodman_kruskal_gamma(), Fraction(1, 2 * n + 1), 1e-15)


def test_any_scale_of_levels():
    scores = [5, 4, 4, 2, 1]
    for scale in (1.0, 1e300, 1e-300):
        levels = np.array([1.0, 0.0, 0.5, 0.25, 0.0]) * scale
        curve = hc.GainCurve(levels, scores)
        assert near(curve.mean_percentile_rank(), (Fraction(3, 4) + Fraction(3, 4)) / 4 / Fraction(7, 4), 1e-15)
        assert curve.pairwise_accuracy() == hc.GainCurve([3, 0, 2, 1, 0], scores).pairwise_accuracy()


# --- names, what has no meaning ---------------------------------------------------------------

METHODS = [row.method for row in register.MEASURES if "gains" in row.of and row.complete]


def test_names():
    assert parse("MPR").name == "MeanPercentileRank"
    assert parse("MPR(ties=best)").record.lower_is_better
    hits = hc.HitCurve([1, 0, 1], [3, 2, 2])
    assert hits.measure("MPR") == hits.mean_percentile_rank() == 0.375
    with pytest.raises(ValueError, match=r"OPA needs items with levels: use hitcurve\.GainCurve"):
        hits.measure("OPA")
    with pytest.raises(ValueError, match="Gamma takes no options"):
        parse("Gamma(ties=best)")
    interval = hc.GainCurves([[2, 0, 1]] * 9, np.random.default_rng(0).random((9, 3))).interval("OPA", rng=0)
    assert interval.confidence_interval.low <= interval.estimate <= interval.confidence_interval.high


@pytest.mark.parametrize("method", METHODS)
def test_unretrieved(method):
    text = f"{method} needs the rank of every relevant item: num_relevant is 2, but the ranking holds 1"
    with pytest.raises(ValueError, match=text):
        getattr(hc.GainCurve([1, 0], [2, 1], unretrieved=[1]), method)()
    text = rf"{method} needs the rank of every relevant item: num_relevant\[1\] is 2, but that ranking holds 1"
    with pytest.raises(ValueError, match=text):
        getattr(hc.GainCurves([[1, 0], [1, 0]], [[2, 1], [2, 1]], unretrieved=[[], [3]]), method)()


@pytest.mark.parametrize("method", ["pairwise_accuracy", "somers_d"])
def test_bad_ties(method):
    with pytest.raises(ValueError, match=f"{method} is not defined for ties='threshold'"):
        getattr(hc.GainCurve([1, 0], [2, 1]), method)(ties="threshold")


def test_hit_curves():
    with pytest.raises(
        ValueError, match="mean_percentile_rank needs the rank of every relevant item: num_relevant is 3"
    ):
        hc.HitCurve([1, 0], [2, 1], num_relevant=3).mean_percentile_rank()
    with pytest.raises(ValueError, match=r"mean_percentile_rank .*weight"):
        hc.HitCurve([1, 0], [2, 1], sample_weight=[1, 2]).mean_percentile_rank()
    curves = hc.HitCurves([[1, 0, 0], [0, 0, 1], [0, 0, 0], [1, 1, 1]], [[3, 2, 1]] * 4)
    np.testing.assert_array_equal(curves.mean_percentile_rank(), [0, 1, math.nan, 0.5])


def test_undefined():
    for levels in ([], [0], [0, 0], [2, 2]):
        curve = hc.GainCurve(levels, [1] * len(levels))
        assert math.isnan(curve.pairwise_accuracy()) and math.isnan(curve.somers_d())
        assert math.isnan(curve.goodman_kruskal_gamma())
        assert math.isnan(curve.mean_rank()) == math.isnan(curve.mean_percentile_rank()) == (not any(levels))
    assert math.isnan(hc.GainCurve([1, 0], [1, 1]).goodman_kruskal_gamma())  # all scores tie
    assert hc.GainCurve([1, 0], [1, 1]).pairwise_accuracy() == 0.5
    for curve in (hc.GainCurve([2], [1]), hc.HitCurve([1], [1])):
        assert curve.mean_percentile_rank() == curve.mean_percentile_rank(ties="worst") == 0.5
