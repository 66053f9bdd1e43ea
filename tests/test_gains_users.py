"""INSQ, INST and the residual of RBP against the definitions, over all orders of tied items, in 50 digits."""

import itertools
import math

import mpmath
import numpy as np
import pytest
import reference as ref
import register
from examples import few
from hypothesis import given
from hypothesis import strategies as st
from interrupts import interrupted, with_timer
from test_gains import near

import hitcurve as hc
from hitcurve.measures import parse

mp = mpmath.MPContext()
mp.dps = 50

WANTED = (0.5, 0.75, 1.0, 2.0, 7.5)


# --- the slow twins -----------------------------------------------------------------------------------------


def inst(order, k, T):
    return ref.inst(ref.in_order(order), k, T=T, ties="best")


READ = register.ORDERS


def all_cases(most):
    """Every ranking of up to so many items with three levels, and some of 6."""
    for n in range(most + 1):
        for levels in itertools.product((0, 1, 2), repeat=n):
            yield levels, [0] * n
            if n > 2:
                yield levels, [1] + [0] * (n - 1)
                yield levels, [1] * (n - 1) + [0]
    for levels in ((0, 1, 2, 0, 1, 2), (2, 2, 1, 1, 0, 0), (0, 0, 0, 1, 2, 2)):
        yield levels, [0] * 6


@pytest.mark.parametrize(("T", "most"), [
    (0.5, 4), *(pytest.param(T, 5, marks=pytest.mark.slow) for T in (0.5, 1.0, 3.0))])
def test_inst_of_all_orders(T, most):
    """The order with the most gain first is the best one, that with the least first the worst one."""
    for levels, scores in all_cases(most):
        if not any(levels):
            continue
        curve, query = hc.GainCurve(levels, scores), ref.judged_items(levels, scores)
        for k in (None, 2):
            for ties in ("best", "worst"):
                assert near(curve.inst(k, T=T, ties=ties), ref.inst(query, k, T=T, ties=ties))


@few(25)
@given(
    st.lists(st.tuples(st.sampled_from([0, 0.001, 0.4, 0.999, 1, 1.5, 3]), st.integers(0, 2)), min_size=1, max_size=6),
    st.booleans(),
    st.one_of(st.none(), st.integers(1, 7)),
    st.sampled_from(WANTED),
    st.lists(st.sampled_from([0.5, 4]), max_size=1),
)
def test_all_orders(items, lower, k, T, missing):
    levels, scores = [level for level, _ in items], [score for _, score in items]
    curve = hc.GainCurve(levels, scores, lower_is_better=lower, unretrieved=missing)
    query = ref.judged_items(levels, scores, missing, lower_is_better=lower)
    for ties in READ:
        if not any(levels) and not missing:
            assert curve.insq(k, T=T, ties=ties) == 0
            assert ties == "expected" or curve.inst(k, T=T, ties=ties) == 0
            continue
        assert near(curve.insq(k, T=T, ties=ties), ref.insq(query, k, T=T, ties=ties))
        if ties != "expected":
            assert near(curve.inst(k, T=T, ties=ties), ref.inst(query, k, T=T, ties=ties))


@few(25)
@given(
    st.lists(st.tuples(st.floats(0, 3, width=16), st.integers(0, 3)), min_size=1, max_size=60),
    st.integers(1, 70),
    st.floats(0.5, 50),
)
def test_worst_expected_best(items, k, T):
    levels, scores = [level for level, _ in items], [score for _, score in items]
    curve = hc.GainCurve(levels, scores)
    if not any(levels):
        return
    for at in (None, k):
        worst, expected, best = (curve.insq(at, T=T, ties=ties) for ties in ("worst", "expected", "best"))
        assert worst <= expected * (1 + 1e-15) and expected <= best * (1 + 1e-15)
        assert 0 <= worst <= best < 1
        worst, best = (curve.inst(at, T=T, ties=ties) for ties in ("worst", "best"))
        assert 0 <= worst <= best * (1 + 1e-15)
        assert best <= 1


def test_the_gain_that_is_had_counts():
    """While nothing is gained INST is INSQ; then its user stops sooner."""
    late = hc.GainCurve.from_ranked([0, 0, 0, 1], num_items=1000)
    assert near(late.inst(ties="best") / late.insq(), 1.0, 0.1)
    assert hc.GainCurve.from_ranked([1]).inst(ties="best", T=0.5) == 1.0  # has all that was wanted
    assert near(hc.GainCurve.from_ranked([1]).insq(T=0.5), 6 / mp.pi**2)


# --- long groups --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("T", [1e-9, 0.3, 1.0, 40.0, 1e6, 2.0**52])
@pytest.mark.parametrize(
    ("above", "tied"), [(0, 10), (0, 300), (5, 2000), (10**6, 10**9), (10**12, 5), (0, 2**62), (2**61, 2**61)]
)
def test_insq_of_long_groups(above, tied, T):
    curve = hc.GainCurve.from_table(None, [above], [tied], [0, 1], [1], [tied], num_items=above + tied)
    first = 2 * mp.mpf(T)
    wanted = (mp.zeta(2, first + above) - mp.zeta(2, first + above + tied)) / mp.zeta(2, first)
    assert near(curve.insq(T=T), wanted, 1e-15)
    part = above + tied // 2 + 1
    wanted = (mp.zeta(2, first + above) - mp.zeta(2, first + part)) / mp.zeta(2, first)
    assert near(curve.insq(part, T=T), wanted, 1e-15)


LEVELS, TARGETS = (1, 0.001, 0.25, 0.9, 0.99, 1 - 1e-9, 1e-15), (0.5, 1.0, 3.25, 100.0, 1000.0)


@pytest.mark.parametrize(("level", "T", "k"), [
    pytest.param(level, T, [None, 300, 3000][(i + j) % 3], marks=() if (j - i) % 5 == 0 else pytest.mark.slow)
    for i, level in enumerate(LEVELS) for j, T in enumerate(TARGETS)
])  # fmt: skip
def test_inst_of_long_groups(level, T, k):
    many, above = 4000, 2
    levels = [0] * above + [level] * many + [0] * 500 + [1] * 300
    curve = hc.GainCurve.from_table(
        None, [above, above + many + 500], [many, 300], [0, 1, 2], [level, 1], [many, 300], num_items=len(levels)
    )
    wanted = inst(levels, k, T)
    for ties in ("best", "worst"):
        assert near(curve.inst(k, T=T, ties=ties), wanted)


def inst_of_a_group(gain, T, many):
    """Of so many items of one gain: the weights are squares of quotients of gamma functions."""
    step, x = 1 - mp.mpf(gain), 2 * mp.mpf(T)
    a, b = (x - 1) / step + 1, x / step + 1
    first = mp.loggamma(b) - mp.loggamma(a)

    def weight(j):
        return mp.exp(2 * (mp.loggamma(a + j) - mp.loggamma(b + j) + first))

    head = mp.fsum(itertools.accumulate(range(299), lambda at, j: at * ((a + j) / (b + j)) ** 2, initial=mp.mpf(1)))
    ends, step_at = [mp.mpf(300)], mp.mpf(300)
    while ends[-1] < many:
        step_at *= 1.6
        ends.append(min(step_at, mp.mpf(many)))
    total = head + mp.quad(weight, ends)
    for order, share in ((0, mp.mpf(1) / 2), (1, -mp.mpf(1) / 12), (3, mp.mpf(1) / 720)):
        at = [mp.diff(weight, end, order, h=mp.mpf(10) ** -8) if order else weight(end) for end in (ends[0], ends[-1])]
        total += share * (at[0] - at[1])
    last = x + many * step
    rest = weight(many) * ref.beyond(last)
    return gain * total / (total + rest)


@pytest.mark.thread_unsafe(reason="one context of mpmath, which is for one thread")
@pytest.mark.parametrize(("level", "T", "many"), [
    pytest.param(*one, many, marks=() if (i + j) % 2 == 0 else pytest.mark.slow)
    for i, one in enumerate([(0.001, 1.0), (0.25, 2.0), (0.5, 300.0), (0.8, 1.0)])
    for j, many in enumerate([10**5, 10**12])
])  # fmt: skip
def test_inst_of_groups_of_billions(level, T, many):
    curve = hc.GainCurve.from_table(None, [0], [many], [0, 1], [level], [many], num_items=many)
    with mp.workdps(30):
        assert near(curve.inst(T=T, ties="best"), inst_of_a_group(level, T, many), 1e-13)


@pytest.mark.parametrize("T", [0.5, 1.0, 100.0, 1e4])
@pytest.mark.parametrize("left", [2.0**-50, 1e-9, 0.01])
def test_inst_of_many_items_that_gain_almost_all(left, T):
    """A geometric series, but for what the weights owe to the rest of each gain."""
    many = 10**12
    curve = hc.GainCurve.from_table(None, [0], [many], [0, 1], [1 - left], [many], num_items=many)
    found = curve.inst(T=T, ties="best")
    assert near(found, 1 - left, 1e-14)  # no weight is left for the ranks beyond
    assert 0.0 < hc.GainCurve.from_ranked([1 - left]).inst(T=T, ties="best") <= found


@with_timer
def test_inst_is_interrupted():
    interrupted(
        "curve = hc.GainCurve(np.random.default_rng(0).random(300_000), np.zeros(300_000))",
        "curve.inst(np.arange(1, 100_000) + 200_000, ties='best')",
    )


# --- the residual -------------------------------------------------------------------------------------------


def test_rbp_residual():
    rng = np.random.default_rng(5)
    for n in (1, 2, 9):
        levels, scores = rng.integers(0, 3, n), rng.integers(0, 3, n)
        levels[0] = 2
        curve = hc.GainCurve(levels, scores)
        for p in (0.5, 0.8, 0.95):
            assert near(curve.rbp_residual(p=p), mp.mpf(p) ** n, 1e-15)
            found = curve.rbp_residual([1, n, n + 7], p=p)
            assert near(found[0], p, 1e-15) and found[1] == found[2] == curve.rbp_residual(p=p)
            for ties in READ:
                assert curve.rbp_residual(p=p, ties=ties) == curve.rbp_residual(p=p)
                longer = hc.GainCurve([*levels, *[2] * 3000], [*scores, *[-1] * 3000])
                assert near(longer.rbp(p=p, ties=ties), curve.rbp(p=p, ties=ties) + curve.rbp_residual(p=p))
    assert hc.GainCurve([], []).rbp_residual() == 1


def test_the_residual_of_runs():
    """Of documents that have no judgment the arrays know nothing; trec_eval's residual is 0 without one."""
    qrels = {"q": {"a": 1, "b": 0}}
    run = {"q": {"a": 2.0, "b": 1.0}}
    assert hc.evaluate(qrels, run, ["RBPResid(p=0.8)"]).means["RBPResid(p=0.8)"] == 0
    assert near(hc.GainCurve([1, 0], [2, 1]).measure("RBPResid(p=0.8)"), 0.64, 1e-15)


# --- names, what has no meaning ---------------------------------------------------------------


def test_names():
    curves = hc.GainCurves([[1, 0, 2]], [[2, 2, 1]])
    assert curves.measure("INST(ties=worst)").tolist() == curves.inst(ties="worst").tolist()
    assert parse("INSQ").name == "INSQ(T=1)"
    assert parse("INST(ties=best,T=2)@10").name == "INST(T=2,ties=best)@10"


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda c: c.inst(), TypeError, "ties"),
    (lambda c: c.inst(ties="expected"), ValueError, "inst has no expected value over ties in closed form: use"),
    (lambda c: c.measure("INST"), ValueError, r"INST\(T=1\) is not defined for ties='expected'"),
    (lambda c: c.measure("INST(ties=expected)"), ValueError, "ties is 'expected', but must be best or worst"),
    (lambda c: c.inst(ties="threshold"), ValueError, "inst is not defined for ties='threshold'"),
    (lambda c: c.inst(ties="any"), ValueError, "ties='any' is unknown"),
    (lambda c: c.inst(ties="best", T=0.25), ValueError, r"T is 0.25: must be from 0.5 up and below 2\*\*53"),
    (lambda c: c.inst(0, ties="best"), ValueError, "k is 0"),
    (lambda c: c.insq(T=0), ValueError, r"T is 0: must be above 0 and below 2\*\*53"),
    (lambda c: c.insq(T=math.inf), ValueError, "T is inf: must be"),
    (lambda c: c.insq(T=math.nan), ValueError, "T is nan: must be"),
    (lambda c: c.insq(T="1"), TypeError, "T must be a number, got '1'"),
    (lambda c: c.insq(ties="threshold"), ValueError, "insq is not defined for ties='threshold'"),
    (lambda c: c.rbp_residual(p=1), ValueError, "p is 1: must be between 0 and 1"),
    (lambda c: c.rbp_residual(ties="any"), ValueError, "ties='any' is unknown"),
    (lambda c: c.at_level(1).measure("INSQ"), ValueError, r"INSQ\(T=1\) needs items with levels: use "
                                                           r"hitcurve.GainCurve"),
    (lambda c: hc.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, ["INST"], ties="expected"), ValueError,
     r"INST\(T=1\) has no expected value over ties"),
])  # fmt: skip
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(hc.GainCurve([1, 0, 2], [2, 2, 1]))


def test_no_relevant_item():
    for levels in ([], [0, 0]):
        curve = hc.GainCurve(levels, levels)
        assert curve.insq() == curve.inst(ties="best") == 0
    curve = hc.GainCurve([0], [1], unretrieved=[2])
    assert curve.insq() == curve.inst(ties="worst") == 0


def test_levels_above_1_are_shares_of_the_greatest():
    a, b = hc.GainCurve([0.5, 0, 1], [3, 2, 1]), hc.GainCurve([2, 0, 4], [3, 2, 1])
    assert a.insq(T=2) == b.insq(T=2)
    assert a.inst(T=2, ties="best") == b.inst(T=2, ties="best")
    assert hc.GainCurve([0.5], [1]).insq() == 0.5 * hc.GainCurve([1], [1]).insq()


@pytest.mark.parametrize(("seed", "T", "k"), [
    pytest.param(*one, marks=() if one in {(0, 40.0, None), (1, 0.5, 5000)} else pytest.mark.slow)
    for one in itertools.product(range(3), [0.5, 1.0, 40.0], [None, 5000])
])  # fmt: skip
def test_inst_of_many_items(seed, T, k):
    """20,000 ranks of which each changes the user: no rounding adds up over them."""
    rng = np.random.default_rng(seed)
    order = rng.choice([0, 0, 1, 2, 3] if seed else [0, 0.001, 0.002, 3], 20_000).astype(float)
    curve = hc.GainCurve(order, -np.arange(20_000.0))
    assert near(curve.inst(k, T=T, ties="best"), inst(order.tolist(), k, T))


# --- the scale ----------------------------------------------------------------------------------------------

SCALED = hc.GainCurve([2, 0, 1, 3, 0, 1], [9, 8, 8, 7, 6, 5], unretrieved=[2])


@pytest.mark.parametrize("ties", ["worst", "best"])
@pytest.mark.parametrize("k", [None, 1, 4])
@pytest.mark.parametrize("max_rel", [0.5, 1, 2, 3, 4, 7.5])
def test_max_rel(ties, k, max_rel):
    """Of ir_measures: the level over the highest of the scale, and 1 above it; none of the ranking's own is asked."""
    gains = np.minimum([2, 0, 1, 3, 0, 1, 2], max_rel) / max_rel
    curve = hc.GainCurve(gains[:6], [9, 8, 8, 7, 6, 5], unretrieved=gains[6:])
    for name, T in (("insq", 1.0), ("insq", 2.5), ("inst", 1.0), ("inst", 2.5)):
        wanted = getattr(curve, name)(k, T=T, ties=ties)  # levels up to 1 are divided by nothing
        assert near(getattr(SCALED, name)(k, T=T, max_rel=max_rel, ties=ties), wanted, 1e-15)
        many = hc.GainCurves([2, 0, 1, 3, 0, 1], [9, 8, 8, 7, 6, 5], offsets=[0, 6], unretrieved=[[2]])
        assert getattr(many, name)(k, T=T, max_rel=max_rel, ties=ties)[0] == getattr(SCALED, name)(
            k, T=T, max_rel=max_rel, ties=ties)  # fmt: skip
        at = "" if k is None else f"@{k}"
        assert parse(f"{name.upper()}(T={T:g},max_rel={max_rel:g}){at}")(SCALED, ties) == getattr(SCALED, name)(
            k, T=T, max_rel=max_rel, ties=ties)  # fmt: skip
    assert near(SCALED.insq(k, max_rel=3), SCALED.insq(k), 1e-15)
    assert hc.GainCurve([0], [1]).insq(max_rel=3) == 0.0


def test_max_rel_of_ir_measures():
    ir_measures = pytest.importorskip("ir_measures")
    name = str(ir_measures.INSQ(T=2, max_rel=3))
    assert parse(name) == parse("INSQ(T=2,max_rel=3)")
    assert SCALED.measure(name) == SCALED.insq(T=2, max_rel=3)


@pytest.mark.parametrize("max_rel", [0, -1, math.inf, math.nan])
def test_max_rel_is_above_0(max_rel):
    with pytest.raises(ValueError, match=f"max_rel is {max_rel}: must be above 0"):
        SCALED.insq(max_rel=max_rel)
    with pytest.raises(ValueError, match=f"max_rel is {max_rel}: must be above 0"):
        SCALED.inst(max_rel=max_rel, ties="best")
