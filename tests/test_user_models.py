"""SDCG, BPM, NERR and the numbers of user models: against their definitions in 50 digits, and against cwl_eval."""

import itertools
import math
import pickle
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import reference as ref
from examples import few
from hypothesis import given
from hypothesis import strategies as st
from test_gains import near

import hitcurve as hc
from hitcurve.measures import parse

mp = mpmath.MPContext()
mp.dps = 50

NERR = ("nerr8", "nerr9", "nerr10", "nerr11")


# --- all orders -----------------------------------------------------------------------------------------------------


@few(25)
@given(
    st.lists(st.tuples(st.sampled_from([0, 0.001, 0.4, 1, 2, 3, 7]), st.integers(0, 2)), max_size=6),
    st.booleans(),
    st.integers(1, 8),
    st.sampled_from([(3, 0), (2.5, 0.4), (7, 1), (0.5, 0), (20, 2)]),
    st.lists(st.sampled_from([0.5, 4]), max_size=1),
)
def test_all_orders(items, lower, k, scale, missing):
    levels, scores = [level for level, _ in items], [score for _, score in items]
    curve = hc.GainCurve(levels, scores, lower_is_better=lower, unretrieved=missing)
    query = ref.judged_items(levels, scores, missing, lower_is_better=lower)
    of_levels = dict(zip(("max_rel", "min_rel"), scale, strict=True))
    for ties in ("worst", "expected", "best"):
        assert near(curve.sdcg(k, **of_levels, ties=ties), ref.sdcg(query, k, **of_levels, ties=ties))
    for ties in ("worst", "best"):
        for name in NERR:
            options = {"nerr10": {"p": 0.7}, "nerr11": {"T": 1.7}}.get(name, {}) | of_levels
            for at in (k, None)[: 1 + (name in NERR[2:])]:
                found = getattr(curve, name)(at, **options, ties=ties)
                assert near(found, getattr(ref, name)(query, at, **options, ties=ties)), name
    for options in ({}, {"T": 0.3}, {"T": 1.75}, {"T": 1.5, "hb": 0.5, "hc": 2.0, "gain_med": 0.25}):
        values = {ref.bpm(ref.in_order(order), k, **options, **of_levels)
                  for order in ref.orders_of_levels(query.groups)}  # fmt: skip
        try:
            found = curve.bpm(k, **options, **of_levels)
        except ValueError as error:
            assert "depends on the order of tied items" in str(error)
            assert max(map(len, query.groups)) > 1
            continue
        assert {near(found, float(value), 1e-14) for value in values} == {True}


def test_the_order_with_the_highest_gain_first_is_not_the_best_of_bpm():
    """Two items of gain 0.6 are more than one of gain 1, where the user is far down the list."""
    first, last = (hc.GainCurve.from_ranked([0] * 10 + order) for order in ([10, 6, 6], [6, 6, 10]))
    assert first.bpm(20, max_rel=10) == 1 / 11
    assert last.bpm(20, max_rel=10) == 1.2 / 12


def mean_of_bpm(levels, k, most):
    """The mean over the orders of a tie group, and how many sums below T = 1 its subsets have, which the mean needs."""
    n, whole = len(levels), Fraction(sum(levels), most)
    below = [[] for _ in range(n + 1)]
    for size in range(n + 1):
        below[size] = [gain for some in itertools.combinations(levels, size) if (gain := Fraction(sum(some), most)) < 1]
    total = Fraction(0)
    for rank in range(1, k + 1):
        before, after = below[rank - 1], below[rank] if rank < k else []
        still = sum((gain + (whole - gain) / (n - rank + 1) for gain in before), Fraction(0))
        total += (still / math.comb(n, rank - 1) - Fraction(sum(after)) / math.comb(n, rank)) / rank
    return total, len({gain for some in below for gain in some})


def test_the_mean_of_bpm_over_orders_needs_the_subsets_of_a_tie():
    for levels in itertools.combinations_with_replacement((0, 1, 2, 4), 4):
        orders = [ref.bpm(ref.in_order(order), 4, max_rel=4) for order in itertools.permutations(levels)]
        assert mean_of_bpm(levels, 4, 4)[0] == sum(orders) / len(orders)
    for n in (3, 6, 9):  # each subset has a sum of its own
        assert mean_of_bpm([2**i for i in range(n)], n, 2**n)[1] == 2**n


def test_bpm_names_the_tie_that_matters():
    text = "ranks 2 to 4 have the same score and different gains; break the ties with tiebreak="
    with pytest.raises(ValueError, match=text):
        hc.GainCurve([1, 0, 2, 2, 1], [9, 8, 8, 8, 7]).bpm(3, max_rel=2)
    with pytest.raises(ValueError, match="ranks 1 to 2 of ranking 1 have the same score"):
        hc.GainCurves([[1, 0], [1, 0]], [[2, 1], [1, 1]]).bpm(1, max_rel=2)
    assert hc.GainCurve([2, 0, 2, 2, 1], [9, 8, 8, 8, 7]).bpm(3, max_rel=2) == 1.0  # the user is gone before the tie
    assert hc.GainCurve([1, 0, 2, 0, 2], [9, 8, 8, 8, 7]).bpm(9, max_rel=2, T=2.5) == 0.5  # and stays until after it
    tied = hc.GainCurve([1, 0, 2, 2, 1], [9, 8, 8, 8, 7], tiebreak="order")
    assert tied.bpm(4, max_rel=2) == 0.5
    with pytest.raises(ValueError, match="is not defined for ties='best': it needs a single order, so use"):
        hc.evaluate({"q": {"a": 1}}, {"q": {"a": 1, "b": 1}}, ["BPM(max_rel=1)@3"], ties="best")


def test_bpm_adds_levels_and_takes_decimals():
    """No rounding of a gain, and of T times the scale, keeps the user from stopping."""
    assert hc.GainCurve.from_ranked([1] * 20).bpm(20, max_rel=10) == 0.1  # at rank 10
    assert hc.GainCurve.from_ranked([7, 0, 9]).bpm(3, max_rel=100, T=0.07) == 0.07
    assert hc.GainCurve.from_ranked([0.1] * 30).bpm(30, max_rel=1, T=2) == pytest.approx(0.1, rel=1e-15)


# --- long rankings --------------------------------------------------------------------------------------------------


def of_order(name, levels, k, **options):
    return getattr(ref, name)(ref.in_order(levels), k, **options, ties="best")


@pytest.mark.parametrize(("seed", "ks"), [
    (0, (1, 1024, 5000)), (1, (1023, 2999)), (2, (700, 1025)),
    *(pytest.param(seed, (1, 700, 1023, 1024, 1025, 2999, 5000), marks=pytest.mark.slow) for seed in range(3)),
])  # fmt: skip
def test_long_orders(seed, ks):
    rng = np.random.default_rng(seed)
    levels = rng.choice([0, 0, 0, 0, 0, 0.003, 0.002, 0.01, 1][: 9 - (seed == 2)], 3000).astype(float)
    curve = hc.GainCurve(levels, -np.arange(3000.0))
    for k in ks:
        for name in NERR:
            options = {"nerr10": {"p": 0.999}, "nerr11": {"T": 40.0}}.get(name, {})
            found = getattr(curve, name)(k, max_rel=3, **options, ties="best")
            assert near(found, of_order(name, levels.tolist(), k, max_rel=3, **options), 4e-15), (name, k)
        assert near(curve.sdcg(k, max_rel=3), of_order("sdcg", levels.tolist(), k, max_rel=3), 2e-15)


def run_of_weights(name, gain, above, many, p):
    """The sum of the weights of a run of items of one gain, which begins after `above` items of gain 0."""
    q, x, m = 1 - mp.mpf(gain), mp.mpf(above) + 1, mp.mpf(many)
    if name == "nerr8":
        return (1 - q**m) / (1 - q)
    if name == "nerr10":
        return mp.mpf(p) ** above * (1 - (p * q) ** m) / (1 - p * q)
    s, x, scale = (1, x, 1) if name == "nerr9" else (2, x + 2 * p - 1, (2 * p) ** 2)
    rest = q**m * mp.lerchphi(q, s, x + m) if q**m > mp.mpf(10) ** -40 else 0
    return scale * (mp.lerchphi(q, s, x) - rest)


RUNS = ((0.5, 0, 3), (0.5, 0, 10**12), (0.001, 5, 400), (0.001, 5, 1000), (0.001, 5000, 10**6), (1e-6, 300, 10**5),
        (1e-9, 0, 10**9), (0.03, 10**9, 10**4), (1 - 1e-9, 7, 10**6), (1e-4, 0, 2**40))  # fmt: skip


@pytest.mark.parametrize(("gain", "above", "many", "name"), [
    pytest.param(*run, name, marks=() if (i + j // 2) % 2 == 0 else pytest.mark.slow)
    for i, run in enumerate(RUNS) for j, name in enumerate(NERR)
])  # fmt: skip
def test_long_runs(name, gain, above, many):
    p = {"nerr10": mp.mpf(0.75), "nerr11": mp.mpf(3.5)}.get(name, 0)
    k = above + many
    curve = hc.GainCurve.from_table(None, [above], [many], [0, 1], [gain], [many], num_items=k)
    options = {"nerr10": {"p": 0.75}, "nerr11": {"T": 3.5}}.get(name, {})
    found = getattr(curve, name)(k, max_rel=1, **options, ties="best")
    weights = run_of_weights(name, gain, above, many, p)
    left = (1 - mp.mpf(gain)) ** many
    before = {"nerr8": mp.mpf(above), "nerr9": mp.harmonic(above)}.get(name)
    after = 0
    if name == "nerr10":
        before, after = (1 - p**above) / (1 - p), left * p ** mp.mpf(k) / (1 - p)
    elif name == "nerr11":
        before = (2 * p) ** 2 * (mp.zeta(2, 2 * p) - mp.zeta(2, 2 * p + above))
        after = left * (2 * p) ** 2 * mp.zeta(2, 2 * p + k)
    assert near(found, gain * weights / (before + weights + after), 2e-14)


@pytest.mark.parametrize("k", [1, 10, 1000, 10**6, 2**61])
def test_sdcg_of_a_perfect_ranking(k):
    curve = hc.GainCurve.from_table(None, [0], [2**61], [0, 1], [2], [2**61], num_items=2**61)
    assert near(curve.sdcg(k, max_rel=2), 1.0, 1e-15)
    assert near(curve.sdcg(k, max_rel=4), 0.5, 1e-15)


# --- user models, by their chances to go on -------------------------------------------------------------------------

CHANCES = {  # C(i) of rank i, the gain of this rank and the gain so far
    "RBP(p=0.6)": lambda i, g, G: mp.mpf(0.6),
    "INSQ(T=1.5,max_rel=3)": lambda i, g, G: ((i + 2) / mp.mpf(i + 3)) ** 2,
    "SDCG(max_rel=3)@7": lambda i, g, G: mp.log(i + 1) / mp.log(i + 2) if i < 7 else 0,
    "P@6": lambda i, g, G: int(i < 6),
    "INST(T=1.5,max_rel=3)": lambda i, g, G: ((i + 2 - G) / (i + 3 - G)) ** 2,
    "NERR8(max_rel=3)@7": lambda i, g, G: (1 - g) if i < 7 else 0,
    "NERR9(max_rel=3)@7": lambda i, g, G: (1 - g) * i / (i + 1) if i < 7 else 0,
    "NERR10(p=0.6,max_rel=3)": lambda i, g, G: mp.mpf(0.6) * (1 - g),
    "NERR11(T=1.5,max_rel=3)": lambda i, g, G: ((i + 2) / mp.mpf(i + 3)) ** 2 * (1 - g),
    "BPM(T=1.25,max_rel=3)@7": lambda i, g, G: int(G < 1.25 and i < 7),
    "RR@7": lambda i, g, G: int(g == 0 and i < 7),
}
MANY = 150


def slow_model(name, gains, costs, hopeful):
    """(utility, total utility, cost, total cost, depth) of a user: MANY ranks one by one, and the rest together."""
    n = len(gains)
    gains = [mp.mpf(gain) for gain in gains] + [mp.mpf(hopeful)] * (MANY - n)
    costs = list(costs[:MANY]) + [costs[-1]] * (MANY - len(costs))
    chance, gained = mp.mpf(1), mp.mpf(0)
    total = spent = depth = mp.mpf(0)
    for i, (gain, cost) in enumerate(zip(gains, costs, strict=True), 1):
        gained += gain
        total += chance * gain
        spent += chance * cost
        depth += chance
        chance *= CHANCES[name](i, gain, gained)
    if name.startswith(("INSQ", "NERR11")):
        rest = ref.beyond(mp.mpf(MANY + 3))
    elif name.startswith("INST"):
        x = MANY + 3 - gained
        rest = 1 / (1 - ((x - 1) / x) ** 2) if hopeful else ref.beyond(x)
    else:
        rest = 0
    total += hopeful * chance * rest
    depth += chance * rest
    spent += chance * rest * costs[-1]
    return total / depth, total, spent / depth, spent, depth


@pytest.mark.parametrize("name", CHANCES)
@pytest.mark.parametrize("ties", ["best", "worst"])
def test_user_models_by_their_chances(name, ties):
    levels, scores = [0, 1, 2, 0, 1, 3, 0, 1], [8, 7, 7, 6, 5, 5, 5, 1]
    order = [0, 2, 1, 0, 3, 1, 0, 1] if ties == "best" else [0, 1, 2, 0, 0, 1, 3, 1]
    gains = [int(level > 0) if name[0] in "PR" and name[:3] != "RBP" else mp.mpf(level) / 3 for level in order]
    curve = hc.GainCurve(levels, scores)
    if name.startswith("BPM"):
        curve = hc.GainCurve.from_ranked(order)
    for cost, costs in ((1.0, [1.0]), (2.5, [2.5]), ([3, 1, 0.5], [3, 1, 0.5]), (range(1, 13), range(1, 13))):
        if name.startswith("BPM") and not isinstance(cost, float):
            continue  # its k counts costs then
        cost = list(cost) if isinstance(cost, range) else cost
        user = curve.user_model(name, cost=cost, ties=ties)
        known, hoped = (slow_model(name, gains, costs, hopeful) for hopeful in (0, 1))
        for found, value in zip(user[:5], known, strict=True):
            assert near(found, value, 1e-14)
        for found, value, more in zip(user.residual[:5], known, hoped, strict=True):
            assert abs(found - float(more - value)) < 1e-13
        assert user.residual.residual is None
        many = hc.GainCurves([*levels, 1], [*scores, 9], offsets=[0, 8, 9])
        if not name.startswith("BPM"):
            for each in (cost, [cost, [1.0]] if isinstance(cost, list) else cost):
                models = many.user_model(name, cost=each, ties=ties)
                assert [one[0] for one in models[:5]] == list(user[:5])
                assert [one[0] for one in models.residual[:5]] == list(user.residual[:5])
                assert {one.shape for one in models[:5]} == {(2,)}
    assert user.utility == parse(name)(curve, ties)
    assert pickle.loads(pickle.dumps(user)) == user


@pytest.mark.parametrize("name", CHANCES)
def test_residuals_beyond_items_of_gain_0(name):
    """The last items of a ranking may all have gain 0: the user passes them before the ranks beyond."""
    for order in ([0], [0, 0, 0], [1, 0, 0], [2, 0, 3, 0]):
        gains = [int(level > 0) if name[0] in "PR" and name[:3] != "RBP" else mp.mpf(level) / 3 for level in order]
        if name[:3] == "RBP":
            gains = [mp.mpf(level) / max(1, *order) for level in [*order, 0]][:-1]
        user = hc.GainCurve.from_ranked(order).user_model(name, ties="best")
        known, hoped = (slow_model(name, gains, [1.0], hopeful) for hopeful in (0, 1))
        for found, value, more in zip(user.residual[:5], known, hoped, strict=True):
            assert abs(found - float(more - value)) < 1e-13


def test_models_of_ranks_have_expected_values():
    levels, scores = [0, 1, 2, 0, 1, 3, 0, 1], [8, 7, 7, 6, 5, 5, 5, 1]
    curve = hc.GainCurve(levels, scores)
    for name in ("RBP(p=0.6)", "INSQ(T=1.5,max_rel=3)", "SDCG(max_rel=3)@7", "P@6"):
        orders = [hc.GainCurve.from_ranked(order).user_model(name, cost=[2, 1])
                  for order in ref.orders_of_levels(ref.judged_items(levels, scores).groups)]  # fmt: skip
        found = curve.user_model(name, cost=[2, 1])
        np.testing.assert_allclose(found[:5], np.mean([one[:5] for one in orders], 0), 1e-13)
        np.testing.assert_allclose(found.residual[:5], np.mean([one.residual[:5] for one in orders], 0), 1e-12, 1e-14)


def test_average_precision_as_a_user_model():
    """C(i) is the sum of 1 / rank over the relevant ranks beyond i, divided by that from i on."""
    curve = hc.GainCurve.from_ranked([1, 0, 2, 0, 1], unretrieved=[1])
    user = curve.user_model("AP", ties="best", cost=[2, 2, 2, 2, 1])
    q = [1 + 1 / 3 + 1 / 5, 1 / 3 + 1 / 5, 1 / 3 + 1 / 5, 1 / 5, 1 / 5]  # sums from rank i on
    seen = [one / q[0] for one in q]
    depth = 4 / q[0]  # 1 / rank of a document that was never retrieved is 0, at infinitely many ranks
    assert user[:5] == pytest.approx(((1 + 2 / 3 + 3 / 5) / 4, seen[0] + seen[2] + seen[4],
                                      (sum(seen[:4]) * 2 + seen[4] + depth - sum(seen)) / depth,
                                      sum(seen[:4]) * 2 + seen[4] + depth - sum(seen), depth), rel=1e-14)  # fmt: skip
    assert np.isnan(user.residual[:5]).all()
    binary = curve.user_model("AP(rel=2)", ties="best")
    assert binary[:5] == pytest.approx((1 / 3, 1, 1, 3, 3))
    assert np.isnan(hc.GainCurve.from_ranked([0, 0]).user_model("AP", ties="best")[:5]).all()
    lost = hc.GainCurve.from_ranked([0, 0], unretrieved=[1]).user_model("AP", ties="best", cost=[1, 2])
    assert lost[:5] == (0.0, 0.0, 2.0, math.inf, math.inf)


def test_bpm_with_costs():
    """k is then the cost at which patience ends."""
    curve = hc.GainCurve.from_ranked([0, 1, 0, 1])
    user = curve.user_model("BPM(T=9,max_rel=1)@5", cost=[2, 2, 0.5, 0.5, 3])
    assert user[:5] == (2 / 4, 2.0, 5 / 4, 5.0, 4.0)
    assert curve.user_model("BPM(T=9,max_rel=1)@50", cost=[2, 2])[:5] == (2 / 25, 2.0, 2.0, 50.0, 25.0)
    with pytest.raises(ValueError, match="cost is an array, but with hc= items change k"):
        curve.user_model("BPM(max_rel=1,hc=1)@5", cost=[2, 2])
    never = hc.GainCurve.from_ranked([1]).user_model("BPM(T=9,max_rel=1,hb=2,hc=2)@3")
    assert (never.utility + never.residual.utility, never.residual.depth) == (1.0, math.inf)


def test_reciprocal_rank_without_a_relevant_item():
    curve = hc.GainCurve([0, 0], [2, 1])
    assert curve.user_model("RR", ties="best")[:5] == (0.0, 0.0, 1.0, math.inf, math.inf)
    assert curve.user_model("RR@5", ties="best")[:5] == (0.0, 0.0, 1.0, 5.0, 5.0)
    assert curve.user_model("RR@5", ties="best").residual[:5] == (1 / 3, 1.0, 0.0, -2.0, -2.0)
    assert curve.user_model("RR", ties="best", cost=[1, 3])[:5] == (0.0, 0.0, 3.0, math.inf, math.inf)


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda c: c.user_model("nDCG"), ValueError, "nDCG has no user model here: use RBP, INSQ, SDCG"),
    (lambda c: c.user_model("P@10%"), ValueError, "P@10% has no user model here"),
    (lambda c: c.user_model("AP@10"), ValueError, "AP@10 has no user model here"),
    (lambda c: c.user_model("RR"), ValueError, "the user model of RR is not defined for ties='expected': use best"),
    (lambda c: c.user_model("INST"), ValueError, r"INST\(T=1\) is not defined for ties='expected': use best or worst"),
    (lambda c: c.user_model("RBP", ties="threshold"), ValueError, "ties"),
    (lambda c: c.user_model("RBP", cost=-1), ValueError, "cost is -1: must be finite and at least 0"),
    (lambda c: c.user_model("RBP", cost="1"), TypeError, "cost must be a number"),
    (lambda c: c.user_model("RBP", cost=[1, math.nan]), ValueError, r"cost\[1\] is nan: must be finite"),
    (lambda c: c.user_model("RBP", cost=[]), ValueError, "cost must be a number, or an array of the cost of each rank"),
    (lambda c: hc.GainCurves([[1]], [[1]]).user_model("RBP", cost=[[1], [2]]), ValueError,
     "cost has 2 entries, but there is 1 ranking"),
    (lambda c: hc.GainCurves([[1]], [[1]]).user_model("RBP", cost=[[1, -2]]), ValueError, r"cost\[0\]\[1\] is -2"),
    (lambda c: c.sdcg(3), TypeError, "max_rel"),
    (lambda c: c.sdcg(0, max_rel=1), ValueError, "k is 0"),
    (lambda c: c.sdcg(3, max_rel=0), ValueError, "max_rel is 0: must be above 0 and finite"),
    (lambda c: c.sdcg(3, max_rel=2, min_rel=2), ValueError, "min_rel is 2: must be below max_rel, which is 2"),
    (lambda c: c.sdcg(3, max_rel=2, min_rel=-1), ValueError, "min_rel is -1: must be finite and not negative"),
    (lambda c: c.insq(min_rel=1), ValueError, "min_rel is 1, but max_rel is None"),
    (lambda c: c.nerr8(3, max_rel=2), TypeError, "ties"),
    (lambda c: c.nerr9(3, max_rel=2, ties="expected"), ValueError, "nerr9 has no expected value over ties in closed"),
    (lambda c: c.nerr10(max_rel=2, ties="best", p=1), ValueError, "p is 1: must be between 0 and 1"),
    (lambda c: c.nerr11(max_rel=2, ties="threshold"), ValueError, "nerr11 is not defined for ties='threshold'"),
    (lambda c: c.bpm(3, max_rel=2, T=0), ValueError, "T is 0: must be above 0 and finite"),
    (lambda c: c.bpm(3, max_rel=2, hb=-1), ValueError, "hb is -1: must be finite and not negative"),
    (lambda c: c.bpm(3, max_rel=2, gain_med=1.5), ValueError, "gain_med is 1.5: must be from 0 to 1"),
    (lambda c: parse("SDCG@10"), ValueError, r"SDCG needs max_rel=: write SDCG\(max_rel=3\)@10"),
    (lambda c: parse("NERR8(max_rel=3)"), ValueError, "NERR8 needs a cutoff"),
    (lambda c: parse("INSQ(min_rel=1)"), ValueError, "min_rel= needs max_rel="),
    (lambda c: parse("BPM(max_rel=1,min_rel=1)@3"), ValueError, "min_rel is 1, but must be below max_rel, which is 1"),
])  # fmt: skip
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(hc.GainCurve([1, 0, 2], [3, 2, 1]))


def test_min_rel():
    """The gain rises from 0 at the lowest level, and levels below it gain nothing."""
    levels = [4, 0, 1, 2, 3, 5]
    curve, shifted = hc.GainCurve.from_ranked(levels), hc.GainCurve.from_ranked([2, 0, 0, 0, 1, 2])
    for name in ("SDCG", "BPM", "NERR8", "NERR9"):
        assert curve.measure(f"{name}(max_rel=4,min_rel=2{',ties=best' * (name[0] == 'N')})@5") == shifted.measure(
            f"{name}(max_rel=2{',ties=best' * (name[0] == 'N')})@5")  # fmt: skip
    for name in ("INSQ", "INST", "NERR10", "NERR11"):
        ties = ",ties=worst" * (name != "INSQ")
        assert curve.measure(f"{name}(max_rel=4,min_rel=2{ties})") == shifted.measure(f"{name}(max_rel=2{ties})")
    curves = hc.GainCurves([[2, 1], [1, 0], [1.5, 0]], [[2, 1]] * 3)
    assert parse("SDCG(max_rel=3,min_rel=1)@2").empty(curves).tolist() == [False, True, False]
    found = hc.evaluate({"a": {"d": 2}, "b": {"d": 1}}, {"a": {"d": 1}, "b": {"d": 1}}, "SDCG(max_rel=3,min_rel=1)@1",
                        empty="skip")
    assert found.means["SDCG(max_rel=3,min_rel=1)@1"] == 0.5  # only query a counts
    assert parse("SDCG(min_rel=0,max_rel=3,dcg=log2)@2").name == "SDCG(max_rel=3)@2"


# --- cwl_eval -------------------------------------------------------------------------------------------------------

DEPTH = 1000  # of cwl_eval, by default
# Our name, cwl_eval's class with its parameters, and whether users look beyond DEPTH with a chance that counts.
OF_CWL = (
    ("RBP(p=0.8)", "RBPCWLMetric", (0.8,), False), ("P@5", "PrecisionCWLMetric", (5,), False),
    ("SDCG(max_rel=1)@5", "NDCGCWLMetric", (5,), False), ("SDCG(max_rel=1)@40", "NDCGCWLMetric", (40,), False),
    ("RR@1000", "RRCWLMetric", (), False), ("AP", "APCWLMetric", (), False),
    ("INSQ(T=1.5,max_rel=1)", "INSQCWLMetric", (1.5,), True), ("INST(T=1.5,max_rel=1)", "INSTCWLMetric", (1.5,), True),
    ("NERR8(max_rel=1)@6", "NERReq8CWLMetric", (6,), False), ("NERR9(max_rel=1)@6", "NERReq9CWLMetric", (6,), False),
    ("NERR8(max_rel=1)@90", "NERReq8CWLMetric", (90,), False),
    ("NERR9(max_rel=1)@90", "NERReq9CWLMetric", (90,), False),
    ("NERR10(p=0.8,max_rel=1)", "NERReq10CWLMetric", (0.8,), False),
    ("NERR11(T=1.5,max_rel=1)", "NERReq11CWLMetric", (1.5,), True),
    ("BPM(T=1.25,max_rel=1)@6", "BPMCWLMetric", (1.25, 6), False),
    ("BPM(T=1.25,max_rel=1,hb=0.5,gain_med=0.5)@6", "BPMDCWLMetric", (1.25, 6, 0.5, 0.5, 0.5), False),
)


@pytest.fixture
def cwl():
    return pytest.importorskip("cwl.ruler.cwl_ruler")


def of_cwl(cwl, name, parameters, gains, costs=None, depth=DEPTH, residuals=False):
    metric = getattr(cwl, name)(*parameters)
    metric.residuals = residuals
    last = 1.0 if costs is None else float(costs[-1])
    costs = [] if costs is None else list(costs)
    metric.measure(cwl.Ranking("q", list(gains), costs, max_cost=last, min_cost=last, max_n=depth))
    return metric


def depth_of(ours):
    """Users of AP are gone after the last relevant rank, and cwl_eval takes long for them if the list is deep."""
    return 100 if ours == "AP" else DEPTH


def scores(metric):
    return metric.get_scores()


def residuals(metric):
    return [metric.residual_expected_utility, metric.residual_expected_total_utility, metric.residual_expected_cost,
            metric.residual_expected_total_cost, metric.residual_expected_items]  # fmt: skip


def drawn(seed):
    """(gains in rank order, costs): eighths, whose sums are exact."""
    rng = np.random.default_rng(seed)
    gains = rng.choice([0, 0, 0, 1 / 8, 1 / 4, 1 / 2, 1], rng.integers(1, 60)).tolist()
    return gains, rng.choice([0.5, 1, 2, 5], len(gains)).tolist()


@pytest.mark.parametrize(("ours", "name", "parameters", "deep"), OF_CWL, ids=[one[0] for one in OF_CWL])
@pytest.mark.parametrize("seed", [pytest.param(seed, marks=pytest.mark.slow if seed > 4 else ()) for seed in range(12)])
def test_the_numbers_of_cwl_eval(cwl, ours, name, parameters, deep, seed):
    gains, costs = drawn(seed)
    if ours[:2] in ("P@", "RR", "AP"):
        gains = [float(gain > 0) for gain in gains]
    if not any(gains):
        gains[0] = 1.0
    curve = hc.GainCurve.from_ranked(gains)
    for cost in (None, costs):
        if "hb=" in ours and cost:
            continue
        theirs = of_cwl(cwl, name, parameters, gains, cost, depth=depth_of(ours), residuals=ours != "AP")
        user = curve.user_model(ours, cost=1.0 if cost is None else cost, ties="best")
        eu, etu, ec, etc, ed = scores(theirs)
        if deep:  # a user of cwl_eval ends at rank 1000: the whole gain is the same, but not the gain for an item
            assert user.total_utility == pytest.approx(eu * ed, rel=1e-12)
            chances = of_chances(ours, gains)
            assert chances == 0 or (user.depth > ed and user.utility < eu and etu < eu * ed)
            assert user.depth == pytest.approx(ed + chances, rel=1e-12)
            assert user.total_cost == pytest.approx(ec * ed + chances * (costs[-1] if cost else 1.0), rel=1e-12)
            continue
        assert list(user[:5]) == pytest.approx([eu, etu, ec, etc, ed], rel=1e-12)
        if ours != "AP":
            assert list(user.residual[:5]) == pytest.approx(residuals(theirs), rel=1e-10, abs=1e-12)


def of_chances(ours, gains):
    """The chances to look at the ranks beyond 1000, added up."""
    left = math.prod(1 - gain for gain in gains) if ours.startswith("NERR") else 1.0
    if not ours.startswith("INST"):
        return float(left * 9 * mp.zeta(2, 3 + DEPTH))
    weight, gained = mp.mpf(1), mp.mpf(0)
    for i in range(1, DEPTH + 1):
        gained += mp.mpf(gains[i - 1]) if i <= len(gains) else 0
        weight *= ((i + 2 - gained) / (i + 3 - gained)) ** 2
    return float(weight * ref.beyond(DEPTH + 3 - gained))


# The gains of the rankings of cwl_eval's own tests, and the costs of their elements (E1 1, E2 2, E3 5).
EXAMPLES = {
    "T1": ([1, 0, 1, 1, 0, 0, 1, 0, 1, 0], [2, 2, 1, 2, 5, 1, 2, 1, 2, 5]),
    "T2": ([0.2, 0.4, 0, 0, 1, 0, 0.2, 1, 0.4, 0], [1, 1, 1, 2, 2, 1, 2, 1, 2, 5]),
    "T3": ([0, 0, 0, 0, 0, 0.8, 0.2, 0.4, 0, 1], [5, 2, 1, 2, 2, 1, 2, 1, 2, 5]),
}


@pytest.mark.parametrize("topic", EXAMPLES)
@pytest.mark.parametrize(("ours", "name", "parameters"), [
    *((f"P@{k}", "PrecisionCWLMetric", (k,)) for k in (1, 5, 10, 20)), ("RBP(p=0.9)", "RBPCWLMetric", (0.9,)),
    ("SDCG(max_rel=1)@10", "NDCGCWLMetric", (10,)), ("RR@1000", "RRCWLMetric", ()), ("AP", "APCWLMetric", ()),
    ("INST(T=1,max_rel=1)", "INSTCWLMetric", (1,)), ("INSQ(T=1,max_rel=1)", "INSQCWLMetric", (1,)),
    ("BPM(T=1,max_rel=1)@1000", "BPMCWLMetric", (1, 1000)), ("BPM(T=1000,max_rel=1)@10", "BPMCWLMetric", (1000, 10)),
    ("BPM(T=1.2,max_rel=1)@10", "BPMCWLMetric", (1.2, 10)),
])  # fmt: skip
def test_the_examples_of_cwl_eval(cwl, topic, ours, name, parameters):
    gains, costs = EXAMPLES[topic]
    if ours[:2] in ("P@", "RR", "AP"):
        gains = [float(gain > 0) for gain in gains]
    for cost in (None, costs):
        theirs = scores(of_cwl(cwl, name, parameters, gains, cost, depth=depth_of(ours)))
        user = hc.GainCurve.from_ranked(gains).user_model(ours, cost=1.0 if cost is None else cost, ties="best")
        if ours.startswith("INS"):
            assert user.total_utility == pytest.approx(theirs[0] * theirs[4], rel=1e-12)
        else:
            assert list(user[:5]) == pytest.approx(theirs, rel=1e-12)


# --- faults of cwl_eval, each as a difference -----------------------------------------------------------------------


def test_cwl_eval_divides_average_precision_by_what_was_retrieved(cwl):
    metric, ranking = cwl.APCWLMetric(), cwl.Ranking("q", [1, 0, 1], [1, 1, 1])
    ranking.total_qrel_rels = 4.0
    curve = hc.GainCurve.from_ranked([1, 0, 1], unretrieved=[1, 1])
    assert metric.measure(ranking) == pytest.approx((1 + 2 / 3) / 2, rel=1e-12)
    assert curve.user_model("AP", ties="best").utility == pytest.approx((1 + 2 / 3) / 4, rel=1e-12)


def test_cwl_eval_adds_rounded_gains(cwl):
    """Ten gains of 0.1 add up to 0.9999999999999999, so the user looks at an eleventh document."""
    gains = [0.1] * 20
    assert scores(of_cwl(cwl, "BPMCWLMetric", (1.0, 20), gains))[4] == pytest.approx(11)
    assert hc.GainCurve.from_ranked([1] * 20).user_model("BPM(max_rel=10)@20").depth == 10


def test_cwl_eval_changes_the_patience_of_no_player(cwl):
    """Its dynamic model adds hc times the gain to T once more, after T was used, and never to K."""
    gains = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    for hc_ in (0.0, 1.0, 5.0):
        assert scores(of_cwl(cwl, "BPMDCWLMetric", (9.0, 5, 0.0, hc_, 0.5), gains))[4] == 5
    curve = hc.GainCurve.from_ranked(gains)
    assert curve.bpm(5, max_rel=1, T=9) == 2 / 5
    assert curve.bpm(5, max_rel=1, T=9, hc=3) == 2 / 4  # patience is 6.5, 5 and 3.5 after ranks 1 to 3


def test_cwl_eval_ends_at_its_depth(cwl):
    gains = [1.0, 0.0, 1.0]
    insq = [scores(of_cwl(cwl, "INSQCWLMetric", (2.0,), gains, depth=depth))[0] for depth in (100, 1000, 100_000)]
    ours = hc.GainCurve.from_ranked(gains).insq(T=2, max_rel=1)
    assert insq[0] > insq[1] > insq[2] > ours
    assert insq[1] == pytest.approx(0.3190, abs=5e-4) and insq[2] == pytest.approx(ours, rel=1e-3)
    assert scores(of_cwl(cwl, "RRCWLMetric", (), [0.0]))[4] == DEPTH
    assert scores(of_cwl(cwl, "NERReq8CWLMetric", (5000,), [0.0]))[4] == DEPTH
    assert hc.GainCurve.from_ranked([0.0]).user_model("NERR8(max_rel=1)@5000", ties="best").depth == 5000
    with pytest.raises(ValueError, match=r"not aligned|shapes"):
        of_cwl(cwl, "PrecisionCWLMetric", (5000,), gains)


def test_cwl_eval_has_no_whole_gain_of_what_follows_its_depth(cwl):
    """Its ETU is not EU times ED, as its manual says, if a user may look beyond the last rank."""
    eu, etu, _, _, ed = scores(of_cwl(cwl, "INSTCWLMetric", (2.0,), [1.0, 0.0, 1.0]))
    assert etu != pytest.approx(eu * ed, rel=1e-6)
    assert hc.GainCurve.from_ranked([1, 0, 1]).user_model("INST(T=2,max_rel=1)", ties="best").total_utility == (
        pytest.approx(eu * ed, rel=1e-12))  # fmt: skip


def test_every_two_users():
    """Of all small rankings: a rate is the whole gain divided by the depth, and no residual of it is below 0."""
    for levels in itertools.product((0, 1, 2), repeat=3):
        curve = hc.GainCurve.from_ranked(levels)
        for name in CHANCES:
            user = curve.user_model(name, ties="best")
            assert near(user.utility * user.depth, user.total_utility, 1e-14)
            assert user.residual.utility > -1e-15
