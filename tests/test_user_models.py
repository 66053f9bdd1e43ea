"""SDCG, BPM and NERR against their definitions in 50 digits."""

import mpmath
import numpy as np
import pytest
import reference as ref
from hypothesis import given, settings
from hypothesis import strategies as st
from test_gains import near

import hitcurve as hc
from hitcurve.measures import parse

mp = mpmath.MPContext()
mp.dps = 50

NERR = ("nerr8", "nerr9", "nerr10", "nerr11")


# --- all orders -----------------------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
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


@pytest.mark.parametrize("seed", range(3))
def test_long_orders(seed):
    rng = np.random.default_rng(seed)
    levels = rng.choice([0, 0, 0, 0, 0, 0.003, 0.002, 0.01, 1][: 9 - (seed == 2)], 3000).astype(float)
    curve = hc.GainCurve(levels, -np.arange(3000.0))
    for k in (1, 700, 1023, 1024, 1025, 2999, 5000):
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


@pytest.mark.parametrize("name", NERR)
@pytest.mark.parametrize(("gain", "above", "many"), [
    (0.5, 0, 3), (0.5, 0, 10**12), (0.001, 5, 400), (0.001, 5, 1000), (0.001, 5000, 10**6), (1e-6, 300, 10**5),
    (1e-9, 0, 10**9), (0.03, 10**9, 10**4), (1 - 1e-9, 7, 10**6), (1e-4, 0, 2**40),
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


@pytest.mark.parametrize(("call", "error", "text"), [
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
