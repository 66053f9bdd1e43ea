"""GainCurve and GainCurves against all orders of tied items, in 50 digits, and against the peers."""

import functools
import itertools
import math
import pickle
import time

import mpmath
import numpy as np
import pytest
import reference as ref
import register
from covering import covering
from examples import few
from hypothesis import given
from hypothesis import strategies as st
from interrupts import interrupted, interrupted_after, with_timer

import hitcurve as hc

mp = mpmath.MPContext()
mp.dps = 50

GAINS = ("linear", "exponential", {1: 3, 2: 1}, [0.5, 1, 4])
DISCOUNTS = ("log2", ("log", 2), ("log", 2.5), [1, 0.5, 0.5, 0.25])


def orders(levels, scores, lower):
    """Every order of the levels that the scores allow, each as often as it comes about."""
    groups = [
        [level for level, score in zip(levels, scores, strict=True) if score == one]
        for one in sorted(set(scores), reverse=not lower)
    ]
    for each in itertools.product(*map(itertools.permutations, groups)):
        yield tuple(itertools.chain.from_iterable(each))


def chance(level, top):
    return (mp.mpf(2) ** mp.mpf(level) - 1) / mp.mpf(2) ** mp.mpf(top)


def err(order, k, top):
    return ref.err(ref.in_order(order), k, max_level=top)


READ = register.ORDERS


def near(found, wanted, tolerance=1e-14):
    wanted = float(wanted)
    return (math.isnan(found) and math.isnan(wanted)) or abs(found - wanted) <= tolerance * abs(wanted)


small = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=6)


@few(25)
@given(
    small,
    st.booleans(),
    st.one_of(st.none(), st.integers(1, 7)),
    st.sampled_from(GAINS),
    st.sampled_from(DISCOUNTS),
    st.lists(st.integers(1, 2), max_size=2),
)
def test_all_orders(items, lower, k, gain, discount, unretrieved):
    levels, scores = [level for level, _ in items], [score for _, score in items]
    curve = hc.GainCurve(levels, scores, lower_is_better=lower, unretrieved=unretrieved)
    query = ref.judged_items(levels, scores, unretrieved, lower_is_better=lower)
    for ties in READ:
        how = {"gain": gain, "discount": discount, "ties": ties}
        assert near(curve.dcg(k, **how), ref.dcg(query, k, **how))
        for ideal_k in ("same", "all"):
            assert near(curve.ndcg(k, ideal_k=ideal_k, **how), ref.ndcg(query, k, ideal_k=ideal_k, **how))
        assert near(curve.rbp(k, p=0.7, ties=ties), ref.rbp(query, k, p=0.7, ties=ties))
        assert near(curve.rbp(k, p=0.7, relevance_level=2, ties=ties), ref.rbp(query, k, p=0.7, rel=2, ties=ties))


@few(25)
@given(
    st.lists(st.tuples(st.sampled_from([0, 0.001, 0.3, 1, 1.5, 2]), st.integers(0, 2)), min_size=1, max_size=6),
    st.booleans(),
    st.one_of(st.none(), st.integers(1, 7)),
    st.sampled_from([None, 2, 3.5, 60]),
)
def test_err_of_all_orders(items, lower, k, top):
    levels, scores = [level for level, _ in items], [score for _, score in items]
    curve = hc.GainCurve(levels, scores, lower_is_better=lower, unretrieved=[2])
    query = ref.judged_items(levels, scores, [2], lower_is_better=lower)
    for ties in READ:
        wanted = ref.err(query, k, max_level=4 if top is None else top, ties=ties)
        assert near(curve.err(k, max_level=top, ties=ties), wanted)


# --- long groups --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [2.0**-1074, 2.0**-1070, 2.0**-1022, 1e-300, 1e-290, 1e-270, 1e300])
@pytest.mark.parametrize("ties", READ)
def test_a_quotient_of_gains_of_any_size(scale, ties):
    """A power of two in all levels changes nothing, though the discounted ones have no digits left."""
    power = 2.0 ** math.floor(math.log2(scale))
    for levels, scores in (([1, 0, 2, 1], [4, 3, 2, 1]), ([0, 1, 5, 2, 0], [3, 3, 2, 2, 1]), ([3], [1])):
        plain = hc.GainCurve(levels, scores)
        curve = hc.GainCurve([level * power for level in levels], scores)
        for k in (None, 2):
            assert curve.ndcg(k, ties=ties) == plain.ndcg(k, ties=ties)
            gain = {level: level * power for level in levels}
            assert plain.ndcg(k, gain=gain, ties=ties) == plain.ndcg(k, ties=ties)
        weights = {level: level * power for level in levels if level}
        wanted = plain.graded_average_precision(weights={level: level for level in levels if level}, ties=ties)
        assert plain.graded_average_precision(weights=weights, ties=ties) == wanted
        assert hc.ndcg([level * power for level in levels], scores, ties=ties) == plain.ndcg(ties=ties)
    assert near(hc.GainCurve([0, 5e-324, 1e-323], [3, 2, 1]).ndcg(ties=ties), hc.GainCurve([0, 1, 2], [3, 2, 1]).ndcg())


@pytest.mark.parametrize("discount", ["log2", ("log", 2), ("log", 40)])
@pytest.mark.parametrize(("above", "tied"), [
    (0, 300), (3, 5000), (1000, 2000), (255, 257), (100_000, 150_000),
    pytest.param(100_000, 1_500_000, marks=pytest.mark.slow),
])  # fmt: skip
def test_discounts_of_long_groups(above, tied, discount):
    curve = hc.GainCurve.from_table(None, [above], [tied], [0, 1], [1], [1], num_items=above + tied)
    ranks = range(above + 1, above + tied + 1)
    if discount == "log2":
        wanted = math.fsum(1 / math.log2(rank + 1) for rank in ranks)
    else:
        base = discount[1]
        wanted = math.fsum(math.log(base) / math.log(rank) if rank >= base else 1.0 for rank in ranks)
    assert near(curve.dcg(discount=discount) * tied, wanted, 4e-15)
    cut = above + tied // 2
    part = hc.GainCurve.from_table(None, [above], [tied], [0, 1], [1], [tied], num_items=above + tied)
    assert near(curve.dcg(cut, discount=discount) * tied, part.dcg(cut, discount=discount), 4e-15)


@pytest.mark.thread_unsafe(reason="one context of mpmath, which is for one thread")
def test_groups_of_billions():
    """li(x), the logarithmic integral, gives the sum but for a part that the ends decide (Euler-Maclaurin)."""
    for above, tied in ((0, 10**9), (10**6, 10**12), (10**15, 10**6), (2**61, 2**40)):
        curve = hc.GainCurve.from_table(None, [above], [tied], [0, 1], [1], [tied], num_items=above + tied)
        first = max(above + 1, 1000)
        low, high = mp.mpf(first + 1), mp.mpf(above + tied + 1)
        wanted = mp.li(high) - mp.li(low) + (1 / mp.log(low) + 1 / mp.log(high)) / 2
        for order, share in ((1, mp.mpf(1) / 12), (3, -mp.mpf(1) / 720), (5, mp.mpf(1) / 30240)):
            at_low, at_high = (mp.diff(lambda x: 1 / mp.log(x), end, order) for end in (low, high))
            wanted += share * (at_high - at_low)
        wanted *= mp.log(2)
        wanted += mp.fsum(1 / mp.log(rank + 1, 2) for rank in range(above + 1, first))
        assert near(curve.dcg(), wanted, 1e-14)


@functools.cache
def chances_to_pass(levels, others, top):
    """The chance that nothing stops at the first t items of a group in any order, for each t."""
    sums = [mp.mpf(1)]  # the elementary symmetric ones
    for level in levels:
        passed = 1 - chance(level, top)
        sums.append(mp.mpf(0))
        for j in range(len(sums) - 1, 0, -1):
            sums[j] += sums[j - 1] * passed
    n = len(levels) + others
    return [
        mp.fsum(sums[j] * math.comb(others, t - j) for j in range(max(t - others, 0), min(t, len(levels)) + 1))
        / math.comb(n, t)
        for t in range(n + 1)
    ]


def mean_err(levels, others, above, top, last):
    """Of one group."""
    beyond = chances_to_pass(tuple(levels), others, top)
    return mp.fsum((beyond[t - 1] - beyond[t]) / (above + t) for t in range(1, last + 1))


LONG_GROUPS = (
    ([1] * 40, 25, 1e-14),
    ([4, 3, 2, 1] * 9, 60, 1e-14),
    ([0.25, 1.75, 3.9] * 20, 0, 1e-14),
    ([4 * (i + 1) / 200 for i in range(200)], 30, 3e-14),
    ([0.01 * (i + 1) / 200 for i in range(200)], 0, 5e-14),
    ([2], 200, 1e-14),
)


@pytest.mark.parametrize(("group", "above", "k", "top"), covering(LONG_GROUPS, [0, 7], [None, 31], [4, 9, 60]))
def test_err_of_long_groups(group, above, k, top):
    levels, others, tolerance = group
    n = len(levels) + others
    curve = hc.GainCurve([*levels, *[0] * (others + above)], [1] * n + [2] * above)
    last = n if k is None else min(n, k - above)
    assert near(curve.err(k, max_level=top), mean_err(levels, others, above, top, last), tolerance)
    falling = [0] * above + sorted(levels, reverse=True) + [0] * others
    rising = [0] * above + sorted([*levels, *[0] * others])
    assert near(curve.err(k, max_level=top, ties="best"), err(falling, k, top))
    assert near(curve.err(k, max_level=top, ties="worst"), err(rising, k, top))


def test_err_of_groups_of_billions():
    many = 10**12
    for level, above in ((1, 0), (0.01, 10**6), (3, 2**61)):
        curve = hc.GainCurve.from_table(None, [above], [many], [0, 1], [level], [many], num_items=above + many)
        stop = chance(level, 4)
        bends = [mp.mpf(one) / (above + 1) for one in (0, 0.01, 0.1, 1, 3, 10, 30, 100)]
        wanted = mp.quad(
            lambda x, stop=stop, above=above: stop * mp.exp(-above * x) / (mp.exp(x) - 1 + stop), [*bends, mp.inf]
        )
        for ties in READ:
            assert near(curve.err(ties=ties), wanted), (level, above)
    # Of two levels each place is as good as drawn from all.
    curve = hc.GainCurve.from_table(None, [0], [4 * many], [0, 2], [1, 3], [many, many], num_items=4 * many)
    stop = (chance(1, 4) + chance(3, 4)) / 4
    assert near(curve.err(), -stop / (1 - stop) * mp.log(stop), 1e-11)
    # One of a million has every rank alike.
    curve = hc.GainCurve.from_table(None, [5], [10**6], [0, 1], [2], [1], num_items=2 * 10**6)
    assert near(curve.err(), chance(2, 4) * (mp.harmonic(10**6 + 5) - mp.harmonic(5)) / 10**6, 1e-13)


def mean_err_of_few(stops, above, tied, last):
    """The mean over all orders of a tie group of any size, in which few items have a chance to stop.

    The chance to get beyond t places is the sum of (-1)^j e_j (t)_j / (tied)_j over the elementary symmetric functions
    of the chances. The sums of (t - 1)_(j - 1) / (above + t) follow from one another, and cancel: hence the digits.
    """
    digits = mpmath.MPContext()
    digits.dps = 60 + 30 * len(stops)
    functions = [digits.mpf(1)]
    for stop in stops:
        stop = digits.mpf(stop)
        functions = [one + stop * before for one, before in zip([*functions, 0], [0, *functions], strict=True)]
    part, ways, falling = digits.harmonic(above + last) - digits.harmonic(above), digits.mpf(1), digits.mpf(1)
    total = digits.mpf(0)
    for j in range(1, len(stops) + 1):
        ways *= tied - j + 1
        if j > 1:
            falling *= last - j + 2
            part = falling / (j - 1) - (above + j - 1) * part
        total -= (-1) ** j * functions[j] * j / ways * part
    return total


FEW = (({1: 1}, 4), ({4: 1, 1: 2}, 4), ({4: 12, 2: 9}, 4), ({60: 2, 1: 3}, 60))
TIED = (4095, 4096, 4097, 2**14, 2**20 + 1, 2**28, 2**61)


@pytest.mark.parametrize(("few", "above", "tied"), covering(FEW, [0, 5, 2**30, 2**61], TIED))
def test_err_of_few_in_a_group_of_any_size(few, above, tied):
    levels, top = few
    curve = hc.GainCurve.from_table(
        None, [above], [tied], [0, len(levels)], sorted(levels), [levels[one] for one in sorted(levels)],
        num_items=above + tied)  # fmt: skip
    stops = [float(2**level - 1) / 2.0**top for level in levels for _ in range(levels[level])]
    for last in (1, 256, 257, tied // 2, tied - 65, tied - 64, tied - 63, tied):
        wanted = mean_err_of_few(stops, above, tied, last)
        assert near(curve.err(above + last, max_level=top), wanted), last
    assert curve.err(max_level=top) == curve.err(above + tied, max_level=top)


@pytest.mark.parametrize(("hits", "level", "top"), [
    (2**50, 1, 4), (2**50, 4, 4), (2**45, 2, 2), (2**61, 1, 40), (2**61, 1, 20), (2**61, 1, 60), (2**61, 4, 4),
])  # fmt: skip
def test_err_of_many_in_2_to_the_61st(hits, level, top):
    """Among so many each place is as good as drawn from all: a geometric sum of 1 / rank."""
    curve = hc.GainCurve.from_table(None, [0], [2**61], [0, 1], [level], [hits], num_items=2**61)
    stop = chance(level, top) * hits / 2**61
    ended = mp.exp(2**61 * mp.log1p(-stop))  # of the sum to infinity what is beyond the last place
    wanted = -stop / (1 - stop) * mp.log(stop)
    if ended > 1e-20:
        wanted -= stop / (1 - stop) * mp.e1(-(2**61) * mp.log1p(-stop))
    assert near(curve.err(max_level=top), wanted)
    if hits == 2**61:
        assert near(curve.err(max_level=top, ties="best"), wanted)
        assert near(curve.err(max_level=top, ties="worst"), wanted)


@pytest.mark.parametrize(("level", "top", "above"), [
    pytest.param(*stop, above, marks=() if (i - j) % 3 == 0 else pytest.mark.slow)
    for i, stop in enumerate([(1, 10), (1, 13), (3, 16), (0.001, 4)]) for j, above in enumerate([0, 7, 10**6])
])  # fmt: skip
def test_err_of_long_runs(level, top, above):
    """The first ranks are added up one by one, the others are an integral."""
    stop, total, reached = chance(level, top), mp.mpf(0), mp.mpf(1)
    curve = hc.GainCurve.from_table(None, [above], [50_000], [0, 1], [level], [10_000], num_items=above + 50_000)
    for rank in range(above + 1, above + 10_001):
        total += stop * reached / rank
        reached *= 1 - stop
        if rank - above in (1, 4095, 4096, 4097, 4098, 5000, 10_000):
            assert near(curve.err(rank, max_level=top, ties="best"), total), rank
    assert near(curve.err(above + 49_999, max_level=top, ties="best"), total)


@with_timer
def test_err_is_interrupted():
    interrupted(
        """
        many = 10**12
        ks = np.arange(many - 10**5, many)

        def of(levels, hits):
            return hc.GainCurve.from_table(
                None, [0], [many], [0, levels], range(1, levels + 1), [hits // levels] * levels, num_items=many)

        curves = [of(1, 1), of(1, many), of(2, many), of(50, 10**7)]
        every = ["expected", "best", "worst", "expected"]
        """,
        *(f"curves[{at}].err(ks, max_level=60, ties=every[{at}])" for at in range(4)),
        then="assert all(curve.err(1, max_level=60, ties=ties) > 0 for curve, ties in zip(curves, every))",
    )


# --- every way in -------------------------------------------------------------------------------------------


def rows_of(levels, scores, lower=False, policy="raise"):
    """(score, above, tied, levels with their counts) of each tie group with a level above 0; the items."""
    items = [(float("nan") if score != score else score, level) for level, score in zip(levels, scores, strict=True)]
    missing = [level for score, level in items if score != score]
    items = [(score, level) for score, level in items if score == score]
    tied = {}
    for score, level in items:
        tied.setdefault(score, []).append(level)
    groups = [(one, tied[one]) for one in sorted(tied, reverse=not lower)]
    if policy == "worst" and missing:
        groups.append((math.nan, missing))
    rows, above = [], 0
    for score, held in groups:
        kinds = sorted({level for level in held if level > 0})
        if kinds:
            rows.append((score, above, len(held), [(kind, held.count(kind)) for kind in kinds]))
        above += len(held)
    return rows, above


def check(curve, levels, scores, lower=False, policy="raise"):
    rows, items = rows_of(levels, scores, lower, policy)
    assert curve.num_items == items
    np.testing.assert_array_equal(np.asarray(curve.score, np.float64), [float(row[0]) for row in rows])
    assert curve.above.tolist() == [row[1] for row in rows]
    assert curve.tied.tolist() == [row[2] for row in rows]
    pairs = [pair for row in rows for pair in row[3]]
    assert curve.level.tolist() == [level for level, _ in pairs]
    assert curve.level_count.tolist() == [count for _, count in pairs]
    assert curve.level_offsets.tolist() == np.cumsum([0, *[len(row[3]) for row in rows]]).tolist()
    assert curve.hits.tolist() == [sum(count for _, count in row[3]) for row in rows]
    for level in sorted({level for level, _ in pairs}):
        flags = np.asarray(levels, np.float64) >= level
        assert curve.at_level(float(level)) == hc.HitCurve(flags, scores, lower_is_better=lower, nan_policy=policy)


@pytest.mark.parametrize("score_type", ["f2", "f4", "f8", "g", "i1", "i8", "u8", "?", ">f8"])
@pytest.mark.parametrize("level_type", ["u1", "i8", "f4", "f8", "?"])
def test_every_type(score_type, level_type):
    rng = np.random.default_rng(3)
    for n in (0, 1, 7, 300, 3000):
        scores = rng.integers(0, 1 + n // 2, n).astype(score_type)
        levels = (rng.integers(0, 4, n) * (rng.random(n) < 0.3)).astype(level_type)
        for lower in (False, True):
            check(hc.GainCurve(levels, scores, lower_is_better=lower), levels.tolist(), scores.tolist(), lower)


def test_the_ends_of_types():
    for scores in (
        np.array([2**64 - 1, 0, 2**63, 2**63 - 1, 2**63], np.uint64),
        np.array([-(2**63), 2**63 - 1, 0, -1, -1]),
        np.array([np.inf, -np.inf, 0.0, -0.0, 5e-324]),
    ):
        curve = hc.GainCurve([1, 2, 3, 1, 2], scores)
        order = np.lexsort((-scores.astype(np.longdouble),))
        assert curve.num_hits == 5
        assert curve.at_level(2) == hc.HitCurve([1, 2, 3, 1, 2], scores, relevance_level=2)
        assert curve.score.dtype == scores.dtype
        assert curve.above[0] == 0
        assert scores[order][0] == curve.score[0]


@pytest.mark.parametrize("policy", ["worst", "omit"])
@pytest.mark.parametrize("lower", [False, True])
def test_missing_scores(policy, lower):
    rng = np.random.default_rng(5)
    scores = rng.integers(0, 9, 100).astype(float)
    scores[rng.random(100) < 0.2] = np.nan
    levels = rng.integers(0, 3, 100)
    curve = hc.GainCurve(levels, scores, nan_policy=policy, lower_is_better=lower)
    check(curve, levels.tolist(), scores.tolist(), lower, policy)
    with pytest.raises(ValueError, match=rf"y_score\[{np.flatnonzero(np.isnan(scores) & (levels > 0))[0]}\] is nan"):
        hc.GainCurve(levels, scores)


def split(curves, levels, scores, query, **options):
    for q, curve in zip(np.unique(query), curves, strict=True):
        one = hc.GainCurve(levels[query == q], scores[query == q], **options)
        assert curve == one
        assert curve.ndcg(5) == one.ndcg(5)


@pytest.mark.parametrize("level_type", ["u1", "i4", "f8"])
@pytest.mark.parametrize("workers", [1, 3])
def test_many_queries(level_type, workers):
    rng = np.random.default_rng(7)
    n, queries = 1600, 30
    query = rng.integers(0, queries, n)
    scores = rng.integers(0, 50, n).astype(np.float32)
    levels = (rng.integers(0, 5, n) * (rng.random(n) < 0.2)).astype(level_type)
    if level_type == "f8":
        levels *= 1.7
    split(hc.GainCurves(levels, scores, qid=query, workers=workers), levels, scores, query)
    split(hc.GainCurves(levels, scores, qid=query, lower_is_better=True), levels, scores, query, lower_is_better=True)
    order = np.argsort(query, kind="stable")
    offsets = np.searchsorted(query[order], np.arange(queries + 1))
    by_offsets = hc.GainCurves(levels[order], scores[order], offsets=offsets)
    split(by_offsets, levels, scores, query)
    assert by_offsets.mean_ndcg(5) == hc.mean_ndcg(levels, scores, qid=query, k=5)
    values = by_offsets.ndcg([1, 5, 10], ties="worst")
    assert values.shape == (queries, 3)
    np.testing.assert_array_equal(values, [curve.ndcg([1, 5, 10], ties="worst") for curve in by_offsets])
    for ties in READ:
        values = by_offsets.err([1, 5, 10], max_level=7, ties=ties)
        np.testing.assert_array_equal(values, [curve.err([1, 5, 10], max_level=7, ties=ties) for curve in by_offsets])


def test_two_dimensions_and_masks():
    rng = np.random.default_rng(8)
    levels, scores = rng.integers(0, 3, (6, 9)), rng.integers(0, 5, (6, 9)).astype(float)
    curves = hc.GainCurves(levels, scores)
    assert list(curves) == [hc.GainCurve(y, s) for y, s in zip(levels, scores, strict=True)]
    shared = hc.GainCurves(levels[:, 0], scores)
    assert list(shared) == [hc.GainCurve(levels[:, 0], column) for column in scores.T]
    mask = rng.random((6, 9)) < 0.6
    masked = hc.GainCurves(levels, scores, mask=mask)
    assert list(masked) == [hc.GainCurve(y[m], s[m]) for y, s, m in zip(levels, scores, mask, strict=True)]
    assert hc.mean_ndcg(levels, scores, mask=mask, k=3, empty="zero") == masked.mean_ndcg(3, empty="zero")
    with pytest.raises(ValueError, match="mask has shape"):
        hc.GainCurves(levels, scores, mask=mask[:, 1:])
    with pytest.raises(ValueError, match="mask must be two-dimensional and of bool"):
        hc.GainCurves(levels, scores, mask=mask.astype(int))


def test_tiebreak():
    rng = np.random.default_rng(9)
    levels, scores, key = rng.integers(0, 3, 60), rng.integers(0, 6, 60), rng.integers(0, 4, 60)
    for lower in (False, True):
        for tiebreak in ("order", key, key.astype(str)):
            curve = hc.GainCurve(levels, scores, tiebreak=tiebreak, lower_is_better=lower)
            for level in (1, 2):
                wanted = hc.HitCurve(levels, scores, relevance_level=level, tiebreak=tiebreak, lower_is_better=lower)
                assert curve.at_level(level) == wanted
            query = rng.integers(0, 5, 60)
            curves = hc.GainCurves(levels, scores, qid=query, tiebreak=tiebreak, lower_is_better=lower)
            for q, one in zip(np.unique(query), curves, strict=True):
                here = query == q
                own = tiebreak if isinstance(tiebreak, str) else tiebreak[here]
                assert one == hc.GainCurve(levels[here], scores[here], tiebreak=own, lower_is_better=lower)


def test_unretrieved():
    curve = hc.GainCurve([2, 0, 1], [3, 2, 1], unretrieved=[3, 1, 3])
    assert (curve.num_relevant, curve.num_hits, curve.unretrieved.tolist()) == (5, 2, [1, 3, 3])
    curves = hc.GainCurves([2, 0, 1], [3, 2, 1], offsets=[0, 3, 3], unretrieved=[[3, 1, 3], []])
    assert curves[0] == curve
    assert curves.num_relevant.tolist() == [5, 0]
    assert curve.at_level(3).num_relevant == 2
    assert [levels.tolist() for levels in curves.unretrieved] == [[1, 3, 3], []]
    assert near(curve.ndcg(2), (2 + 0) / (3 + 3 / mp.log(3, 2)))
    with pytest.raises(ValueError, match=r"unretrieved has 1 list, but there are 2 queries"):
        hc.GainCurves([2, 0, 1], [3, 2, 1], offsets=[0, 3, 3], unretrieved=[[3]])
    with pytest.raises(ValueError, match=r"unretrieved\[1\] is -1.0: a level must be finite and at least 0"):
        hc.GainCurve([1], [1], unretrieved=[1, -1])


def test_what_is_not_retrieved_and_not_relevant_changes_nothing():
    table = [5.0], [0], [1], [0, 1], [2], [1]
    for make in (lambda **rest: hc.GainCurve([2, 0], [2, 1], **rest),
                 lambda **rest: hc.GainCurve.from_ranked([2, 0], **rest),
                 lambda **rest: hc.GainCurve.from_table(*table, num_items=2, **rest),
                 lambda unretrieved: hc.GainCurves([[2, 0]], [[2, 1]], unretrieved=[unretrieved])):  # fmt: skip
        assert make(unretrieved=[0, 2, 0.0]) == make(unretrieved=[2])
        assert make(unretrieved=[0]) == make(unretrieved=[])
        assert pickle.loads(pickle.dumps(make(unretrieved=[0, 2]))) == make(unretrieved=[2])
    assert hc.ndcg([2, 0], [2, 1], unretrieved=[0]) == 1
    assert hc.mean_ndcg([2, 0], [2, 1], offsets=[0, 2], unretrieved=[[0, 0]]) == 1


def test_a_curve_is_a_value():
    curve = hc.GainCurve([2, 0, 1.5, 0], [4, 3, 3, 1], unretrieved=[1])
    curves = hc.GainCurves([2, 0, 1.5, 0], [4, 3, 3, 1], qid=["b", "a", "b", "a"], unretrieved=[[1], []])
    for one in (curve, curves):
        again = pickle.loads(pickle.dumps(one))
        assert again == one
        assert hash(again) == hash(one)
        assert type(again) is type(one)
        with pytest.raises(TypeError, match="immutable"):
            one.__init__([1], [1])
        for array in (one.above, one.level, one.level_count, one.level_offsets):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
    assert curve != hc.GainCurve([2, 0, 1, 0], [4, 3, 3, 1], unretrieved=[1])
    assert repr(curve) == "GainCurve(num_items=4, num_relevant=3, num_hits=2; levels 1, 1.5, 2)"
    assert repr(curves) == "GainCurves(2 queries: 4 items, 3 relevant, 2 hits)"
    assert bool(hc.GainCurve([0], [1]))
    assert hc.GainCurve.from_ranked([2, 0, 1]) == hc.GainCurve.from_table(
        None, [0, 2], [1, 1], [0, 1, 2], [2, 1], [1, 1], num_items=3
    )


@pytest.mark.parametrize("level_type", ["u1", "i8", "u8", "f4", "f8", "?", ">i4"])
@pytest.mark.parametrize("score_type", ["f2", "f4", "f8", "i4", "u8"])
def test_calls_without_a_curve(level_type, score_type):
    """The calls in one line take a shorter way where they can; it has the same bits."""
    rng = np.random.default_rng(12)
    for n in (0, 1, 2, 100, 511, 512):
        scores = rng.integers(0, 1 + n // 3, n).astype(score_type)
        if score_type[0] == "f":
            scores[rng.random(n) < 0.1] = np.nan
        levels = (rng.integers(0, 5, n) * (rng.random(n) < 0.3)).astype(level_type)
        offsets = np.sort(rng.integers(0, n + 1, 6))
        offsets[[0, -1]] = 0, n
        for ties, gain, k, ideal_k, lower, policy in (
            ("expected", "linear", None, "same", False, "worst"),
            ("best", "exponential", 10, "all", True, "omit"),
            ("worst", "linear", 3, "same", True, "worst"),
            ("expected", {0: 0.5, 1: 1, 2: 2, 3: 2, 4: 7}, 5, "same", False, "omit"),
        ):
            made = {"lower_is_better": lower, "nan_policy": policy}
            read = {"ties": ties, "gain": gain, "ideal_k": ideal_k}
            found = hc.ndcg(levels, scores, k=k, **made, **read)
            np.testing.assert_equal(found, hc.GainCurve(levels, scores, **made).ndcg(k, **read))
            for where in ({"offsets": offsets}, {"qid": rng.integers(0, 4, n)}):
                found = hc.mean_ndcg(levels, scores, k=k, **where, **made, **read)
                np.testing.assert_equal(found, hc.GainCurves(levels, scores, **where, **made).mean_ndcg(k, **read))


@pytest.mark.parametrize("top", [3, 63, 64, 65, 255])
@pytest.mark.parametrize("graded", [1, 7, 8, 39, 40, 41, 300])
def test_ways_by_size(graded, top):
    """Few rows are counted and more searched, few gains sorted by counting: the sums of numpy tell no difference."""
    rng = np.random.default_rng(graded * top)
    for distinct, ties in itertools.product((3, 100, 10**6), READ):
        levels = np.zeros(graded + 203, np.uint8)
        levels[rng.permutation(levels.size)[:graded]] = rng.integers(1, top + 1, graded)
        scores = rng.integers(0, distinct, levels.size).astype(np.float32)
        order = np.lexsort((levels if ties == "worst" else -levels.astype(int), -scores))
        gains = levels[order].astype(float)
        if ties == "expected":
            _, group, size = np.unique(-scores[order], return_inverse=True, return_counts=True)
            gains = (np.bincount(group, gains) / size)[group]
        fall_off = 1 / np.log2(np.arange(levels.size) + 2.0)
        known = (gains * fall_off).sum() / (np.sort(levels)[::-1] * fall_off).sum()
        ways = (hc.ndcg(levels, scores, ties=ties), hc.GainCurve(levels, scores).ndcg(ties=ties),
                hc.GainCurve(levels, -scores, lower_is_better=True).ndcg(ties=ties),
                hc.mean_ndcg([levels], [scores], ties=ties), hc.GainCurves([levels], [scores]).ndcg(ties=ties)[0])
        assert ways == (ways[0],) * 5, (distinct, ties)
        assert ways[0] == pytest.approx(known, rel=1e-13), (distinct, ties)


def test_errors_of_calls_without_a_curve():
    for call in (
        lambda levels, scores: hc.ndcg(levels, scores),
        lambda levels, scores: hc.mean_ndcg(levels, scores, offsets=[0, 2]),
    ):
        with pytest.raises(ValueError, match=r"y_score\[1\] is nan"):
            call([1, 0], [1, np.nan])
        with pytest.raises(ValueError, match=r"y_true\[1\] is -1"):
            call([1, -1], [1, 2])
        with pytest.raises(ValueError, match=r"y_true\[0\] is nan"):
            call([np.nan, 1], [1, 2])
    with pytest.raises(ValueError, match="k is 0"):
        hc.ndcg([1], [1], k=0)
    with pytest.raises(ValueError, match="y_true has 1 item, y_score has 2"):
        hc.ndcg([1], [1, 2])
    assert hc.ndcg([300, 1], [1, 2]) == hc.GainCurve([300, 1], [1, 2]).ndcg()
    assert hc.ndcg([0.5, 1], [1, 2]) == hc.GainCurve([0.5, 1], [1, 2]).ndcg()


# --- the others ---------------------------------------------------------------------------------------------


def test_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(10)
    levels, scores = rng.integers(0, 5, (40, 30)), rng.integers(0, 12, (40, 30)).astype(float)
    curves = hc.GainCurves(levels, scores)
    for k in (None, 1, 5, 30):
        assert near(metrics.dcg_score(levels, scores, k=k), curves.dcg(k).mean(), 1e-12)
        assert near(metrics.ndcg_score(levels, scores, k=k), curves.mean_ndcg(k, empty="zero"), 1e-12)


def test_where_scikit_learn_differs():
    """Queries without relevant items, queries of one item, and what says nothing about ties."""
    metrics = pytest.importorskip("sklearn.metrics")
    levels, scores = np.array([[2, 0, 1], [0, 0, 0]]), np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    assert near(metrics.ndcg_score(levels, scores), hc.mean_ndcg(levels, scores, empty="zero"))
    assert near(2 * metrics.ndcg_score(levels, scores), hc.mean_ndcg(levels, scores))
    assert math.isnan(hc.GainCurves(levels, scores).ndcg()[1])
    with pytest.raises(ValueError, match="more than 1 document"):
        metrics.ndcg_score([[1]], [[1.0]])
    assert hc.ndcg([1], [1.0]) == 1
    same = np.zeros((1, 3))
    by_place = metrics.ndcg_score(levels[:1], same, ignore_ties=True)
    worst, expected, best = (hc.ndcg(levels[0], same[0], ties=ties) for ties in ("worst", "expected", "best"))
    assert worst - 1e-12 <= by_place <= best + 1e-12
    assert not near(by_place, expected, 1e-3)
    for base in (3, 10):
        ours = hc.GainCurves(levels, scores).dcg().mean() * np.log2(base)
        assert near(metrics.dcg_score(levels, scores, log_base=base), ours, 1e-13)


def judged(levels, scores):
    """Judgments and runs of rows of levels and scores; the judgments' last document of each query is in no run."""
    qrels = {f"q{q}": {f"d{i:02}": int(level) for i, level in enumerate(row)} | {"other": 2}
             for q, row in enumerate(levels)}
    run = {f"q{q}": {f"d{i:02}": float(score) for i, score in enumerate(row)} for q, row in enumerate(scores)}
    return qrels, run


def test_ranx(monkeypatch):
    """Its gains are linear, those of Burges exponential; ties have an order of its own, between worst and best."""
    from ranx_in_python import uncompiled

    ranx = uncompiled(monkeypatch)
    rng = np.random.default_rng(12)
    levels = rng.integers(0, 4, (15, 20))
    names = [f"{name}{cut}" for name in ("ndcg", "ndcg_burges") for cut in ("", "@5")]
    outside = 0
    for scores in (rng.permuted(np.arange(300.0).reshape(15, 20), axis=1), rng.integers(0, 3, (15, 20)).astype(float)):
        curves = hc.GainCurves(levels, scores, unretrieved=[[2]] * 15)
        found = ranx.evaluate(*judged(levels, scores), names)
        for name in names:
            how = {"k": 5 if "@" in name else None, "gain": "exponential" if "burges" in name else "linear"}
            worst, expected, best = (curves.mean_ndcg(ties=ties, **how) for ties in ("worst", "expected", "best"))
            assert worst - 1e-12 <= found[name] <= best + 1e-12
            outside += not near(found[name], expected, 1e-12)
            if worst == best:
                assert near(found[name], expected, 1e-12)
    assert outside == len(names)  # all with ties, none without
    unjudged = ranx.evaluate({"q": {"a": 0}, "r": {"a": 1}}, {"q": {"a": 1.0}, "r": {"a": 1.0}}, "ndcg")
    assert unjudged == hc.mean_ndcg([0, 1], [1, 1], offsets=[0, 1, 2], empty="zero") == 0.5


def test_trec_eval():
    """pytrec_eval and ir_measures: scores in single precision, ties by the documents' ids, descending."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    ir_measures = pytest.importorskip("ir_measures")
    rng = np.random.default_rng(13)
    levels, scores = rng.integers(0, 4, (15, 20)), rng.integers(0, 6, (15, 20)) + rng.integers(0, 2, (15, 20)) * 1e-9
    levels[3] = 0
    qrels, run = judged(levels, scores)
    del qrels["q3"]["other"]
    missing = [[2] if q != 3 else [] for q in range(15)]
    ids = np.tile(-np.arange(20), (15, 1))
    curves = hc.GainCurves(levels, scores.astype(np.float32), tiebreak=ids, unretrieved=missing)
    values = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg", "ndcg_cut.5"}).evaluate(run)
    for name, ours, k in (("ndcg", "nDCG", None), ("ndcg_cut_5", "nDCG@5", 5)):
        theirs = np.array([values[f"q{q}"][name] for q in range(15)])
        assert theirs[3] == 0
        np.testing.assert_allclose(np.nan_to_num(curves.ndcg(k)), theirs, rtol=1e-13)
        evaluated = hc.evaluate(qrels, run, ours, **hc.PRESETS["pytrec_eval"])
        assert near(evaluated.means[ours], theirs.mean(), 1e-13)
        assert near(evaluated.means[ours], curves.mean_ndcg(k, empty="zero"), 1e-13)
        plain = hc.GainCurves(levels, scores, unretrieved=missing).mean_ndcg(k, empty="zero")
        assert not near(plain, theirs.mean(), 1e-4)
        measure = ir_measures.parse_measure(ours)
        assert near(ir_measures.calc_aggregate([measure], qrels, run)[measure], theirs.mean(), 1e-13)


def test_torch():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(14)
    levels, scores, mask = rng.integers(0, 4, (6, 9)), rng.random((6, 9)), rng.random((6, 9)) < 0.6
    tensors = [torch.tensor(array) for array in (levels, scores)]
    assert hc.mean_ndcg(*tensors, mask=torch.tensor(mask), k=5) == hc.mean_ndcg(levels, scores, mask=mask, k=5)
    flat = [array.ravel() for array in (levels, scores)]
    for name, place in (("offsets", [0, 20, 54]), ("qid", np.arange(54) % 5)):
        wanted = hc.mean_ndcg(*flat, **{name: place})
        assert hc.mean_ndcg(*(tensor.ravel() for tensor in tensors), **{name: torch.tensor(place)}) == wanted
    assert hc.mean_ndcg(tensors[0], tensors[1].requires_grad_()) == hc.mean_ndcg(levels, scores)
    half = tensors[1].bfloat16()
    assert hc.mean_ndcg(tensors[0], half) == hc.mean_ndcg(levels, half.detach().float().numpy())


def test_interval():
    rng = np.random.default_rng(14)
    levels, scores = rng.integers(0, 3, (40, 20)), rng.random((40, 20))
    curves = hc.GainCurves(levels, scores)
    found = curves.interval("nDCG@10", n_resamples=500, rng=0)
    low, high = found.confidence_interval
    assert low < found.estimate == curves.mean_ndcg(10) < high
    binary = curves.interval("AP(rel=2)", n_resamples=500, rng=0)
    wanted = curves.at_level(2).interval("AP", n_resamples=500, rng=0)
    assert binary.confidence_interval == wanted.confidence_interval


def test_names_of_hit_curves():
    curve = hc.HitCurve([1, 0, 1, 0], [4, 3, 3, 1])
    assert curve.measure("P@2") == curve.precision(2)
    assert curve.measure("AP", ties="worst") == curve.measure("AP(ties=worst)") == curve.average_precision(ties="worst")
    with pytest.raises(ValueError, match=r"nDCG needs items with levels: use hitcurve[.]GainCurve, hitcurve"):
        curve.measure("nDCG")
    with pytest.raises(ValueError, match="needs judgments"):
        hc.GainCurve([1], [1]).measure("P(judged_only=True)@1")
    with pytest.raises(ValueError, match="threshold"):
        hc.GainCurve([1], [1]).measure("nDCG", ties="threshold")


# --- what has no meaning ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda: hc.GainCurve([1, -1], [1, 2]), ValueError, r"y_true\[1\] is -1: a level must be finite and at least 0"),
    (lambda: hc.GainCurve([1, math.nan], [1, 2]), ValueError, r"y_true\[1\] is nan"),
    (lambda: hc.GainCurve([math.inf, 1], [1, 2]), ValueError, r"y_true\[0\] is inf"),
    (lambda: hc.GainCurves([[1, 2], [0, -3]], [[1, 2], [1, 2]]), ValueError, r"y_true\[1, 1\] is -3"),
    (lambda: hc.GainCurve([1], [1, 2]), ValueError, "y_true has 1 item, y_score has 2"),
    (lambda: hc.GainCurve([[1]], [[1]]), ValueError, "y_true must be one-dimensional"),
    (lambda: hc.GainCurves([1], [1]), ValueError, "need qid or offsets"),
    (lambda: hc.GainCurve([1], [1]).ndcg(ties="threshold"), ValueError, "threshold"),
    (lambda: hc.GainCurve([1], [1]).ndcg(0), ValueError, "k is 0"),
    (lambda: hc.GainCurve([1], [1]).ndcg(gain="square"), ValueError, "gain is 'square'"),
    (lambda: hc.GainCurve([1, 2], [1, 2]).ndcg(gain={1: 1}), ValueError, "gain has no level 2"),
    (lambda: hc.GainCurve([1, 2], [1, 2]).ndcg(gain=[0, 1]), ValueError, "gain has no level 2: it has the levels 0"),
    (lambda: hc.GainCurve([1.5], [1]).ndcg(gain=[0, 1, 2]), ValueError, "gain has no level 1.5"),
    (lambda: hc.GainCurve([1], [1]).ndcg(gain=[0, -1]), ValueError, r"gain\[1\] is -1.0"),
    (lambda: hc.GainCurve([1024], [1]).ndcg(gain="exponential"), ValueError, "up to level 1023"),
    (lambda: hc.GainCurve([1], [1]).ndcg(discount="log"), ValueError, "discount is 'log'"),
    (lambda: hc.GainCurve([1], [1]).ndcg(discount=("log", 1)), ValueError, "must be above 1"),
    (lambda: hc.GainCurve([1], [1]).ndcg(discount=[0.5, 0.6]), ValueError, r"discount\[1\] is 0.6, above discount"),
    (lambda: hc.GainCurve([1], [1]).ndcg(discount=[-0.5]), ValueError, r"discount\[0\] is -0.5"),
    (lambda: hc.GainCurve([1], [1]).ndcg(ideal_k="none"), ValueError, "ideal_k is 'none'"),
    (lambda: hc.GainCurve([1], [1]).rbp(p=1), ValueError, "p is 1: must be between 0 and 1"),
    (lambda: hc.GainCurve([1, 5], [1, 2]).err(), ValueError, "max_level is 4, but an item has level 5: give"),
    (lambda: hc.GainCurves([[1, 2.5]], [[1, 2]]).err(max_level=2), ValueError, "but an item has level 2.5"),
    (lambda: hc.GainCurve([1], [1], unretrieved=[3]).err(max_level=2), ValueError, "but an item has level 3"),
    (lambda: hc.GainCurve([0], [1]).err(max_level=0), ValueError, "max_level is 0: must be above 0 and below 1024"),
    (lambda: hc.GainCurve([0], [1]).err(max_level=1024), ValueError, "max_level is 1024: must be"),
    (lambda: hc.GainCurve([0], [1]).err(max_level=math.nan), ValueError, "max_level is nan"),
    (lambda: hc.GainCurve([0], [1]).err(max_level="4"), TypeError, "max_level must be a number, got '4'"),
    (lambda: hc.GainCurve([0], [1]).err(ties="threshold"), ValueError, "threshold"),
    (lambda: hc.GainCurve([0], [1]).err(0), ValueError, "k is 0"),
    (lambda: hc.GainCurve([1], [1]).at_level(0), ValueError, "level is 0: must be above 0"),
    (lambda: hc.GainCurve.from_ranked([1, 0], num_items=1), ValueError, "num_items is 1, but levels has 2"),
    (lambda: hc.GainCurve.from_table(None, [0], [1], [0, 1], [1], [2], num_items=3), ValueError, "hits"),
    (lambda: hc.GainCurve.from_table(None, [0], [2], [0, 2], [2, 1], [1, 1], num_items=3), ValueError, "must increase"),
    (lambda: hc.GainCurve.from_table(None, [0], [2], [0, 1], [2, 1], [1, 1], num_items=3), ValueError, "level_offsets"),
    (lambda: hc.GainCurve.from_table(None, [0], [2], [0, 1], [0], [1], num_items=3), ValueError, r"level\[0\] is 0.0"),
])  # fmt: skip
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_the_limits_of_numbers():
    for call in (
        lambda: hc.GainCurve.from_ranked([1], num_items=2**63 - 1),
        lambda: hc.GainCurve.from_ranked([1], num_items=2**70),
    ):
        with pytest.raises(ValueError, match=r"must lie between 0 and 2\*\*62"):
            call()
    with pytest.raises(ValueError, match=r"a gain is .*: the sum over 3 items may be beyond the greatest float64"):
        hc.GainCurve([1023] * 3, [3, 2, 1]).dcg(gain="exponential")
    assert hc.ndcg([1023] * 3, [3, 2, 1], gain="exponential") == 1
    with pytest.raises(ValueError, match=r"y_true\[0\] is inf: a level must be finite and at least 0"):
        hc.GainCurve(np.array(["1e400", "1"], np.longdouble), [1, 2])
    if np.finfo(np.longdouble).tiny < 1e-320:
        with pytest.raises(ValueError, match=r"y_true\[1\] is .*: float64 cannot hold so small a level"):
            hc.GainCurve(np.array(["1", "1e-400"], np.longdouble), [1, 2])
    with pytest.raises(ValueError, match=r"y_true\[1\] is 9007199254740993: a whole level must be at most"):
        hc.GainCurve([1, 2**53 + 1], [1, 2])
    assert near(hc.GainCurve([1e-12, 0], [2, 1]).dcg(gain="exponential"), mp.expm1(mp.mpf(1e-12) * mp.log(2)))
    curve = hc.GainCurve.from_table([6], [0], [1], [0, 1], [2.0], np.array([1], np.uint64), num_items=4)
    assert curve.level_count.tolist() == [1]
    assert len(hc.GainCurves([1, 0], np.empty((2, 0)))) == 0


@with_timer
def test_ctrl_c_is_noticed_among_many_cutoffs():
    curve = hc.GainCurve(np.arange(6000) % 5, np.arange(6000))

    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt), interrupted_after(0.02):
        curve.ndcg(np.arange(1, 6001).repeat(20))
    assert time.perf_counter() - start < 5


def test_no_gain():
    curve = hc.GainCurve([0, 0], [2, 1])
    assert math.isnan(curve.ndcg())
    assert curve.dcg() == 0
    assert curve.err() == 0
    assert hc.GainCurve([], []).err() == 0
    assert curve.rbp() == 0
    assert math.isnan(hc.GainCurve([], []).ndcg())
    assert math.isnan(hc.mean_ndcg([0], [1], offsets=[0, 1]))
    assert hc.mean_ndcg([0, 1], [1, 1], offsets=[0, 1, 2], empty="one") == 1
    with pytest.raises(ValueError, match="query 0 has no relevant item"):
        hc.mean_ndcg([0], [1], offsets=[0, 1], empty="raise")
