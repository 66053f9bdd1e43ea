"""Q-measure, NCU, GAP and average gain against their definitions over all orders of tied items, in fractions."""

import itertools
import math

import mpmath
import numpy as np
import pytest
import reference as ref
from examples import few
from hypothesis import given
from hypothesis import strategies as st
from interrupts import interrupted, with_timer
from test_gains import near

import hitcurve as hc
from hitcurve.measures import parse

mp = mpmath.MPContext()
mp.dps = 60

TIES = ("expected", "best", "worst")
GAINS = ("linear", "exponential", {1: 3, 2: 1}, {1: 0, 2: 1.5}, [0, 0.3, 4])
WEIGHTS = (None, {1: 0.9, 2: 0.1}, [0, 1, 3], {0.5: 1}, {1.5: 2, 2: 0.25, 7: 1})


# --- the slow twins -------------------------------------------------------------------------------------------------


def check(method, levels, scores, lower, unretrieved, k, **how):
    curve = hc.GainCurve(levels, scores, lower_is_better=lower, unretrieved=unretrieved)
    query = ref.judged_items(levels, scores, unretrieved, lower_is_better=lower)
    for ties in TIES:
        wanted, found = getattr(ref, method)(query, k, **how, ties=ties), getattr(curve, method)(k, **how, ties=ties)
        assert near(found, wanted), (method, how, levels, scores, k, ties, found, float(wanted))


@few(25)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=6),
    st.booleans(),
    st.one_of(st.none(), st.integers(1, 7)),
    st.sampled_from(GAINS),
    st.sampled_from([0, 0.5, 1, 10]),
    st.sampled_from([0.1, 0.8, 1]),
    st.sampled_from(WEIGHTS),
    st.lists(st.integers(1, 2), max_size=2),
)
def test_all_orders(items, lower, k, gain, beta, p, weights, unretrieved):
    case = [level for level, _ in items], [score for _, score in items], lower, unretrieved, k
    check("q_measure", *case, gain=gain, beta=beta)
    stop = {"stop": "uniform" if p == 1 else "rbp", "p": 0.8 if p == 1 else p}
    for utility in ("precision", "blended"):
        check("ncu", *case, **stop, utility=utility, gain=gain, beta=beta)
    check("graded_average_precision", *case, weights=weights)
    check("average_gain", *case, gain=gain)


@pytest.mark.parametrize("most", [5, pytest.param(6, marks=pytest.mark.slow)])
def test_every_small_ranking(most):
    """Three levels, all in one tie group or in two, up to five items, or six in the slow case."""
    for n in range(1, most + 1):
        for levels in itertools.combinations_with_replacement((0, 1, 2), n):
            for cut in {0, n // 2}:
                case = list(levels), [1] * cut + [0] * (n - cut), False, [2] * (n % 2), None if n % 3 else 4
                check("q_measure", *case)
                check("ncu", *case, stop="rbp", p=0.25, utility="blended", beta=2)
                check("graded_average_precision", *case)


# --- what must be equal ---------------------------------------------------------------------------------------------


def table(seed, n=40, queries=1, ties=12, levels=4):
    rng = np.random.default_rng(seed)
    return rng.integers(0, levels, (queries, n)), rng.integers(0, ties, (queries, n))


@pytest.mark.parametrize("ties", TIES)
def test_kin(ties):
    """Uniform stopping is AP and Q; binary levels make GAP and Q without gain AP."""
    for seed in range(20):
        levels, scores = (rows[0] for rows in table(seed))
        curve = hc.GainCurve(levels, scores, unretrieved=[1, 3])
        flags = curve.at_level(1)
        for k in (None, 1, 7, 100):
            ap = flags.average_precision(k, ties=ties)
            assert near(curve.q_measure(k, beta=0, ties=ties), ap)
            assert near(curve.ncu(k, ties=ties), ap)
            assert near(curve.graded_average_precision(k, weights={1: 2}, ties=ties), ap)
            blended = curve.ncu(k, utility="blended", gain="exponential", beta=3, ties=ties)
            assert blended == curve.q_measure(k, gain="exponential", beta=3, ties=ties)
            by_level = {level: curve.at_level(level) for level in (1, 2, 3)}
            share = {level: min(k or 10**9, one.num_relevant) for level, one in by_level.items()}
            wanted = sum(share[level] * one.average_precision(k, ties=ties) for level, one in by_level.items())
            assert near(curve.graded_average_precision(k, ties=ties), wanted / sum(share.values()))
            near_uniform = curve.ncu(k, stop="rbp", p=1 - 1e-15, utility="blended", ties=ties)
            assert near(near_uniform, curve.q_measure(k, ties=ties), 1e-12)
            assert near(curve.average_gain(k, ties=ties), curve.dcg(k, discount=[1] * 100, ties=ties) / (k or 40))


CALLS = {
    "Q": lambda curve, k, **how: curve.q_measure(k, **how),
    "Q10": lambda curve, k, **how: curve.q_measure(k, gain="exponential", beta=10, **how),
    "NCU": lambda curve, k, **how: curve.ncu(k, stop="rbp", p=0.9, utility="blended", gain=[0, 1, 1, 7], **how),
    "GAP": lambda curve, k, **how: curve.graded_average_precision(k, **how),
    "GAPw": lambda curve, k, **how: curve.graded_average_precision(k, weights=[0, 5, 1, 0.5], **how),
    "AG": lambda curve, k, **how: curve.average_gain(k, gain=[0.5, 1, 2, 0.25], **how),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("ties", TIES)
def test_many_queries_and_cutoffs(call, ties):
    levels, scores = table(3, queries=10)
    levels[7], levels[8] = 0, np.minimum(levels[8], 1)
    missing = [[3, 1], [], [2], *[[]] * 7]
    ks = np.array([[1, 3, 5], [10, 40, 1000]])
    curves = hc.GainCurves(levels, scores, unretrieved=missing)
    assert call(curves, None, ties=ties).shape == (10,)
    assert call(curves, ks, ties=ties).shape == (10, 2, 3)
    for q, curve in enumerate(curves):
        alone = hc.GainCurve(levels[q], -scores[q], unretrieved=missing[q], lower_is_better=True)
        for k in (None, 5, ks):
            found = call(curves, k, ties=ties)[q]
            np.testing.assert_array_equal(found, call(curve, k, ties=ties))
            np.testing.assert_array_equal(found, call(alone, k, ties=ties))
        assert isinstance(call(curve, 5, ties=ties), float)
        np.testing.assert_array_equal(call(curve, ks, ties=ties).ravel(),
                                      [call(curve, k, ties=ties) for k in ks.ravel().tolist()])  # fmt: skip


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_bounds(call):
    for seed in range(27):
        levels, scores = (rows[0] for rows in table(seed, ties=1 + seed % 9))
        curve = hc.GainCurve(levels, scores, unretrieved=[2] * (seed % 3))
        for k in (None, 3, 17, 90):
            worst, expected, best = (call(curve, k, ties=ties) for ties in ("worst", "expected", "best"))
            assert worst <= expected * (1 + 1e-14) <= best * (1 + 3e-14)


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=30), st.integers(1, 40), st.floats(0, 50))
def test_perfect_rankings_of_real_levels(levels, k, beta):
    falling = sorted(levels, reverse=True)
    for ties, curve in (
        ("expected", hc.GainCurve.from_ranked(falling, num_items=50)),
        ("best", hc.GainCurve(levels + [0] * 9, [1] * (len(levels) + 9))),
    ):
        for at in (None, k):
            for value in (
                curve.q_measure(at, beta=beta, ties=ties),
                curve.ncu(at, stop="rbp", p=0.7, utility="blended", beta=beta, ties=ties),
                curve.graded_average_precision(at, ties=ties),
                curve.graded_average_precision(at, weights={level: 1 / level for level in levels}, ties=ties),
            ):
                assert 1 - 1e-14 <= value <= 1


def test_ntcireval():
    """What pyNTCIREVAL 0.0.3 gives for these levels, with two items that were never retrieved."""
    curve = hc.GainCurve.from_ranked([1, 0, 3, 0, 2, 1], unretrieved=[1, 3])
    found = [curve.q_measure(k, beta=2) for k in (None, 3, 5)]
    found += [curve.ncu(stop="rbp", p=0.9), curve.ncu(stop="rbp", p=0.9, utility="blended", beta=1.5)]
    assert found == pytest.approx(
        [0.3662907268170426, 0.3182957393483709, 0.3109774436090226, 0.5489169987130755, 0.4034380845412114], rel=1e-14
    )


# --- long groups ----------------------------------------------------------------------------------------------------


def one_group(above, tied, counts):
    """(curve of one tie group, its relevant items and their gain, the gain of the ideal order at a rank)."""
    levels = sorted(counts)
    held = [counts[level] for level in levels]
    curve = hc.GainCurve.from_table(None, [above], [tied], [0, len(levels)], levels, held, num_items=above + tied)

    def ideal(rank):
        total, left = 0, rank
        for level in reversed(levels):
            total += level * min(left, counts[level])
            left -= min(left, counts[level])
        return total

    return curve, sum(counts.values()), sum(level * count for level, count in counts.items()), ideal


def generating(some, others, p):
    """The mean of p^X for t = 0, 1, ..., if X of t items are some of all: 2F1(-some, -t; -all; 1 - p), by Gauss."""
    n = some + others
    last, now = mp.mpf(0), mp.mpf(1)
    for t in range(n + 1):
        yield now
        if t < n:
            last, now = now, ((2 * t - n + (some - t) * (1 - p)) * now - t * p * last) / (t - n)


def mean_ncu(above, tied, counts, p, last):
    # The relation loses digits near the end of a group.
    with mp.workdps(60 + (tied // 2 if tied < 10_000 and p < 1 else 0)):
        return mean_ncu_of(above, tied, counts, p, last)


def mean_ncu_of(above, tied, counts, p, last):
    _, hits, gain, ideal = one_group(above, tied, counts)
    p, rise = mp.mpf(p), 1 + mp.mpf(gain) / hits
    chances = generating(hits - 1, tied - hits, p)
    biased = generating(hits - 2, tied - hits, p) if hits > 1 else itertools.repeat(mp.mpf(0))
    before, total = mp.mpf(0), mp.mpf(0)
    for t, chance in zip(range(last), chances, strict=False):
        mean = mp.mpf(hits - 1) * t / (tied - 1) * p * before if tied > 1 else 0
        total += (chance + mean) * rise / (above + t + 1 + ideal(above + t + 1))
        before = next(biased, mp.mpf(0))
        if chance < 1e-24:
            break
    stops = (1 - p ** min(hits, above + last)) / (1 - p) if p < 1 else min(hits, above + last)
    return total * hits / tied / stops


# Longer than what the kernel adds place by place at both ends; the last are slow.
LONG_GROUPS = (
    (0, 900, {1: 1}),
    (5, 900, {1: 2, 3: 1}),
    (0, 1000, {1: 150, 2: 250, 5: 200}),
    (400, 900, {1: 898}),
    (3, 900, {1: 300, 4: 599}),
    (70, 1200, {0.5: 20, 1: 3}),
    (2, 900, {1 + i / 100: 1 for i in range(500)}),
)
LONGER_GROUPS = (
    (0, 2000, {1: 1}),
    (5, 2000, {1: 2, 3: 1}),
    (0, 2000, {1: 300, 2: 500, 5: 400}),
    (900, 3000, {1: 2998}),
    (3, 3000, {1: 1000, 4: 1999}),
    (70, 5000, {0.5: 20, 1: 3}),
    (2, 1500, {1 + i / 100: 1 for i in range(900)}),
)
PATIENCE = (0.3, 0.8, 0.99, 0.9999, 1)


@pytest.mark.parametrize(("group", "p", "whole"), [
    *(pytest.param(group, p, whole, marks=() if (i + j) % 2 == 0 and (i + j) // 2 % 2 == whole else pytest.mark.slow)
      for i, group in enumerate(LONG_GROUPS) for j, p in enumerate(PATIENCE) for whole in (True, False)),
    *(pytest.param(*case, marks=pytest.mark.slow)
      for case in itertools.product(LONGER_GROUPS, PATIENCE, [True, False])),
])  # fmt: skip
def test_long_groups(group, p, whole):
    above, tied, counts = group
    curve = one_group(above, tied, counts)[0]
    k = None if whole else above + tied // 3
    wanted = mean_ncu(above, tied, counts, p, tied if k is None else k - above)
    if p == 1:
        assert near(curve.q_measure(k), wanted)
    else:
        assert near(curve.ncu(k, stop="rbp", p=p, utility="blended"), wanted)


@pytest.mark.parametrize(("share", "p"), [
    (2, 0.97),
    *(pytest.param(*one, marks=pytest.mark.slow) for one in ((10, 0.97), (2, 0.993), (1.2, 0.996), (1.1, 0.9997))),
])  # fmt: skip
def test_long_groups_of_billions(share, p):
    many = 10**9
    hits = int(many / share)
    wanted = mean_ncu(7, many, {1: hits - hits // 3, 2: hits // 3}, p, 400_000)
    curve = one_group(7, many, {1: hits - hits // 3, 2: hits // 3})[0]
    assert near(curve.ncu(stop="rbp", p=p, utility="blended"), wanted)


@pytest.mark.parametrize("p", [0.5, 0.999999, 1 - 1e-12])
@pytest.mark.parametrize(("above", "many"), [(0, 10**9), (10**6, 10**12), (2**61, 2**60)])
def test_two_items_in_billions(above, many, p):
    """Before one of two items, the other has come with a chance linear in the place: a digamma function."""
    curve = one_group(above, many, {1: 2})[0]
    q = mp.mpf(p)

    def harmonic(start, stop):
        return mp.digamma(mp.mpf(stop) + 1) - mp.digamma(mp.mpf(start) + 1)

    first, fall = mp.mpf(1), (2 * q - 1) / (many - 1)  # 1 before it, and 2 p after it
    whole = harmonic(above, above + many)
    total = (first - fall * (above + 1)) * whole + fall * many
    assert near(curve.ncu(stop="rbp", p=p), total * 2 / many / (1 + q), 2e-14)
    # Gains of 1 and 2: the ideal order gains 3 from rank 2 on.
    if above:
        curve = one_group(above, many, {1: 1, 2: 1})[0]
        whole = harmonic(above + 3, above + 3 + many)
        total = mp.mpf(5) / 2 * ((first - fall * (above + 4)) * whole + fall * many)
        assert near(curve.ncu(stop="rbp", p=p, utility="blended"), total * 2 / many / (1 + q), 2e-14)
        fall = mp.mpf(1) / (many - 1)
        total = mp.mpf(5) / 2 * ((first - fall * (above + 4)) * whole + fall * many)
        assert near(curve.q_measure(), total * 2 / many / 2, 2e-14)


@pytest.mark.parametrize(("p", "above"), [
    pytest.param(p, above, marks=() if i == j else pytest.mark.slow)
    for i, p in enumerate([0.9, 0.9999, 1 - 1e-7, 1 - 1e-10]) for j, above in enumerate([1, 1000, 10**8, 10**12])
])  # fmt: skip
def test_billions_of_relevant_items(above, p):
    """Sum of p^t (t + 1) / (above + t + 1): 1 / (1 - p), less a Lerch transcendent times `above`."""
    many = 10**13
    curve = one_group(above, many, {1: many})[0]
    q = mp.mpf(p)
    bends = [mp.mpf(one) / (above + 1) for one in (0, 1e-6, 1e-4, 0.01, 0.1, 1, 3, 10, 30, 100)]
    lerch = mp.quad(lambda x: mp.exp(-above * x) / (mp.exp(x) - q), [*bends, mp.inf])
    wanted = 1 - (1 - q) * above * lerch
    for ties in TIES:
        assert near(curve.ncu(stop="rbp", p=p, ties=ties), wanted), ties


@pytest.mark.parametrize(("share", "p"), [
    (3, 1 - 1e-6), (1.1, 1 - 1e-8),
    pytest.param(3, 1 - 1e-8, marks=pytest.mark.slow), pytest.param(1.1, 1 - 1e-6, marks=pytest.mark.slow),
])  # fmt: skip
def test_wide_spreads(share, p):
    """Half the items or so of 10**15: draws are as good as independent, so that a place has (1 - (1 - p) / share)^t."""
    many, above = 10**18, 50
    hits = int(many / share)
    curve = one_group(above, many, {1: hits})[0]
    rate, rest = mp.mpf(hits) / many, mp.mpf(1) - mp.mpf(p)
    base = 1 - rate * rest
    # The mean of (X + 1) p^X is base^t (1 + t rate p / base), divided by the rank.
    bends = [mp.mpf(one) / (above + 1) for one in (0, 1e-6, 1e-4, 0.01, 0.1, 1, 3, 10, 30, 100)]
    lerch = mp.quad(lambda x: mp.exp(-above * x) / (mp.exp(x) - base), [*bends, mp.inf])
    slope = rate * mp.mpf(p) / base
    total = (1 - slope * (above + 1)) * lerch + slope / (1 - base)
    assert near(curve.ncu(stop="rbp", p=p), total * rate * rest, 1e-13)


def test_gap_of_long_groups():
    cases = (0, 10**9, {1: 5, 2: 10**8}), (10**6, 10**12, {1: 10**6, 3: 1}), (3, 2**61, {2: 2**60})
    for above, tied, counts in cases:
        curve = one_group(above, tied, counts)[0]
        for ties in TIES:
            for k in (None, above + 1000):
                wanted = most = 0
                for level in counts:
                    flags = curve.at_level(level)
                    share = flags.num_relevant if k is None else min(k, flags.num_relevant)
                    wanted += share * mp.mpf(flags.average_precision(k, ties=ties))
                    most += share
                assert near(curve.graded_average_precision(k, ties=ties), wanted / most)


def test_many_real_levels():
    """As many gains as items: no loop over pairs of them."""
    rng = np.random.default_rng(1)
    levels, scores = rng.random(20_000), rng.integers(0, 5000, 20_000)
    curve = hc.GainCurve(levels, scores)
    one = hc.GainCurve(levels, np.zeros(20_000))
    order = np.lexsort((-levels, -scores))
    h, cg, best = np.arange(1, 20_001), np.cumsum(levels[order]), np.cumsum(np.sort(levels)[::-1])
    assert near(curve.q_measure(ties="best"), math.fsum((h + cg) / (h + best)) / 20_000, 1e-13)
    assert near(one.q_measure(), math.fsum(h * (1 + levels.mean()) / (h + best)) / 20_000, 1e-12)
    ranks = np.argsort(np.argsort(levels)) + 1.0
    assert np.array_equal(np.sort(ranks), h)  # no two levels are equal
    lower = ((20_001 - h) ** 2).sum() - ranks.sum()  # the lower of two ranks, over all pairs of two items
    wanted = math.fsum((ranks.mean() + (h - 1) * lower / 20_000 / 19_999) / h) / ranks.sum()
    assert near(one.graded_average_precision(), wanted, 1e-12)


@with_timer
def test_ctrl_c_is_noticed():
    interrupted(
        "tied, k = hc.GainCurve(np.arange(30_000) / 7, np.zeros(30_000)), np.arange(1, 30_001)",
        "tied.ncu(k, stop='rbp', p=0.9999, utility='blended')",
        "tied.q_measure(k)",
        "tied.graded_average_precision(k, ties='best')",
    )


# --- names, and what has no meaning ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "call"), [
    ("Q", lambda curve, ties: curve.q_measure(ties=ties)),
    ("Q-measure@10", lambda curve, ties: curve.q_measure(10, ties=ties)),
    ("Q(beta=2,gains={1:1,3:9})@5", lambda curve, ties: curve.q_measure(5, beta=2, gain=[0, 1, 2, 9], ties=ties)),
    ("NCU", lambda curve, ties: curve.ncu(ties=ties)),
    ("NCU(stop=rbp,p=0.7,utility=blended,beta=3)@9",
     lambda curve, ties: curve.ncu(9, stop="rbp", p=0.7, utility="blended", beta=3, ties=ties)),
    ("GAP", lambda curve, ties: curve.graded_average_precision(ties=ties)),
    ("GAP(weights={1:0.5,2:0.25})@7",
     lambda curve, ties: curve.graded_average_precision(7, weights={1: 0.5, 2: 0.25}, ties=ties)),
    ("AG@10", lambda curve, ties: curve.average_gain(10, ties=ties)),
    ("AG(gains={1:2,2:5})", lambda curve, ties: curve.average_gain(gain=[0, 2, 5, 3], ties=ties)),
])  # fmt: skip
def test_names(name, call):
    levels, scores = table(5, queries=6)
    levels[:, 0] = 3
    curves = hc.GainCurves(levels, scores, unretrieved=[[1], *[[]] * 5])
    for ties in TIES:
        np.testing.assert_array_equal(curves.measure(name, ties=ties), call(curves, ties))
        assert curves[0].measure(name, ties=ties) == call(curves[0], ties)
    low, high = curves.interval(name, n_resamples=200, rng=0).confidence_interval
    assert low <= np.mean(call(curves, "expected")) <= high
    with pytest.raises(ValueError, match=r"needs items with levels: use hitcurve.GainCurve"):
        hc.HitCurve([1, 0], [2, 1]).measure(name)
    run = hc.evaluate({"q": {"d": 1, "e": 2}}, {"q": {"d": 1.0}}, name)
    assert run.values[name].tolist() == call(hc.GainCurves([[1]], [[1.0]], unretrieved=[[2]]), "expected").tolist()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("power", [1023, 1000, 850, 800, -900, -1060])
def test_thresholds_of_any_weight(power):
    """The weights of GAP count in proportion: a power of two changes no bit, though their sum may be no number."""
    levels, scores = [[2, 0, 1, 3, 0, 1], [1, 0, 0, 1, 0, 0]], [[6, 5, 5, 3, 2, 1]] * 2
    for curve in (hc.GainCurves(levels, scores), hc.GainCurve(levels[0], scores[0])):
        for weights in ([1.0, 1.5, 1.25], [1.75, 1.0, 1.5], [0.0, 1.0, 1.0]):
            little = dict(enumerate(weights, 1))
            much = {level: np.ldexp(weight, power) for level, weight in little.items()}
            for k in (None, 4):
                found = np.asarray(curve.graded_average_precision(k, weights=much))
                assert np.array_equal(found, curve.graded_average_precision(k, weights=little), equal_nan=True)
    every = hc.GainCurve([1, 0, 2], [1, 2, 3])
    assert every.graded_average_precision(weights=[0, 1e308, 1.7e308]) == pytest.approx(
        every.graded_average_precision(weights=[0, 1, 1.7]), rel=1e-15)


def test_nothing_relevant():
    for curve in (hc.GainCurve([0, 0], [2, 1]), hc.GainCurve([], [])):
        for k in (None, 3):
            assert math.isnan(curve.q_measure(k))
            assert math.isnan(curve.ncu(k, stop="rbp"))
            assert math.isnan(curve.graded_average_precision(k))
        assert curve.average_gain(3) == 0
    assert hc.GainCurve([0, 0], [2, 1]).average_gain() == 0
    assert math.isnan(hc.GainCurve([], []).average_gain())
    missed = hc.GainCurve([0, 0], [2, 1], unretrieved=[1])
    assert missed.q_measure() == missed.ncu(stop="rbp") == missed.graded_average_precision() == 0
    assert math.isnan(hc.GainCurve([1], [1]).graded_average_precision(weights={2: 1}))
    assert hc.GainCurve([1], [1]).q_measure(gain=[0, 0]) == 1  # relevant, though it gains nothing


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda curve: curve.q_measure(beta=-1), ValueError, "beta is -1: must be finite and not negative"),
    (lambda curve: curve.q_measure(beta=math.inf), ValueError, "beta is inf"),
    (lambda curve: curve.q_measure(beta="1"), TypeError, "beta must be a number, got '1'"),
    (lambda curve: curve.q_measure(beta=1e200, gain=[0, 1e200, 1e200]), ValueError,
     r"beta is 1e\+200: beta times a gain"),
    (lambda curve: curve.q_measure(gain=[0.5, 1, 2]), ValueError,
     r"gain\[0\] is 0.5: the gain of level 0 must be 0 for q_measure"),
    (lambda curve: curve.ncu(utility="blended", gain={0: 1, 1: 2, 2: 3}), ValueError,
     r"gain\[0\] is 1: the gain of level 0 must be 0 for ncu"),
    (lambda curve: curve.q_measure(gain={1: 1}), ValueError, "gain has no level 2"),
    (lambda curve: curve.q_measure(0), ValueError, "k is 0"),
    (lambda curve: curve.q_measure(ties="threshold"), ValueError, "threshold"),
    (lambda curve: curve.ncu(stop="graded"), ValueError, "stop='graded' is unknown: must be one of 'uniform', 'rbp'"),
    (lambda curve: curve.ncu(utility="q"), ValueError, "utility"),
    (lambda curve: curve.ncu(stop="rbp", p=1), ValueError, "p is 1: must be between 0 and 1"),
    (lambda curve: curve.ncu(p=0), ValueError, "p is 0: must be between 0 and 1"),
    (lambda curve: curve.ncu(stop="rbp", p=math.nan), ValueError, "p is nan"),
    (lambda curve: curve.graded_average_precision(weights={1: -1}), ValueError, r"weights\[1\] is -1: must be"),
    (lambda curve: curve.graded_average_precision(weights=[0, 1, math.nan]), ValueError, r"weights\[2\].* is nan"),
    (lambda curve: curve.graded_average_precision(weights=[1, 1]), ValueError, r"weights\[0\] is 1.0: only a level"),
    (lambda curve: curve.graded_average_precision(weights={-1: 1}), ValueError, "weights has the level -1: a level"),
    (lambda curve: curve.graded_average_precision(weights={"1": 1}), TypeError, "a level of weights must be a number"),
    (lambda curve: curve.graded_average_precision(weights=3), TypeError, "weights must be a mapping or an array"),
    (lambda curve: curve.graded_average_precision(weights={1: 1e-320, 2: 1e308}), ValueError,
     r"weights\[1\] is 1e-320, but the greatest weight is 1e\+308: the weights differ"),
    (lambda curve: curve.average_gain(0), ValueError, "k is 0"),
    (lambda curve: curve.average_gain(gain="square"), ValueError, "gain is 'square'"),
])  # fmt: skip
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(hc.GainCurve([1, 2], [2, 1]))


# --- the levels of the scale --------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", ["expected", "worst", "best"])
@pytest.mark.parametrize("k", [None, 1, 3])
def test_the_thresholds_of_a_scale(ties, k):
    """With the scale, a level that no item has is a threshold too; without, only the levels that occur."""
    y, s = [3, 0, 1, 3, 0, 1], [9, 8, 8, 7, 6, 5]
    curve, curves = hc.GainCurve(y, s, unretrieved=[1]), hc.GainCurves(y, s, offsets=[0, 6], unretrieved=[[1]])
    for top in (3, 4, 1000):
        wanted = curve.graded_average_precision(k, weights=dict.fromkeys(range(1, top + 1), 1), ties=ties)
        assert near(curve.graded_average_precision(k, max_level=top, ties=ties), wanted)
        assert curves.graded_average_precision(k, max_level=top, ties=ties)[0] == curve.graded_average_precision(
            k, max_level=top, ties=ties)  # fmt: skip
        name = f"GAP(max={top})" + ("" if k is None else f"@{k}")
        assert parse(name)(curve, ties) == curve.graded_average_precision(k, max_level=top, ties=ties)
    occurring = curve.graded_average_precision(k, weights={1: 1, 3: 1}, ties=ties)
    assert near(curve.graded_average_precision(k, ties=ties), occurring)
    if k is None:
        scale = curve.graded_average_precision(max_level=3, ties=ties)
        assert abs(curve.graded_average_precision(ties=ties) - scale) > 0.001


@pytest.mark.parametrize(
    ("how", "error", "problem"),
    [
        ({"max_level": 2}, ValueError, "max_level is 2, but an item has level 3: give max_level=3"),
        ({"max_level": 0}, ValueError, "max_level is 0"),
        ({"max_level": 2.5}, TypeError, "max_level must be a whole number"),
        ({"max_level": 3, "weights": {1: 1}}, ValueError, "weights and max_level are both given"),
    ],
)
def test_scales_that_are_none(how, error, problem):
    with pytest.raises(error, match=problem):
        hc.GainCurve([3, 1], [2, 1]).graded_average_precision(**how)
