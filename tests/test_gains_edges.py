"""The edges of gain curves: what errors say of every odd argument, levels that differ by a bit, limits."""

import functools
import lzma
import math
from collections import UserDict
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import register
from hypothesis import given
from hypothesis import strategies as st

import hitcurve as hc
from hitcurve.curves import levels as _levels
from hitcurve.measures import MEASURES, parse

INF, NAN = math.inf, math.nan

# --- the place in the caller's arrays -----------------------------------------------------------------------

WRONG = (  # argument, its type, value, what the error says of it
    ("y_score", "f4", NAN, "is nan: give nan_policy="),
    ("y_score", "f8", NAN, "is nan: give nan_policy="),
    ("y_score", "g", NAN, "is nan: scores of dtype"),
    ("y_score", "O", "x", "is 'x' of type str: scores must be real numbers"),
    ("y_score", "O", None, "is None of type NoneType: scores must be real numbers"),
    ("y_true", "i8", -1, "is -1: a level must be finite and at least 0"),
    ("y_true", "i8", 2**53 + 1, "is 9007199254740993: a whole level must be at most 2"),
    ("y_true", "f4", -0.5, "is -0.5: a level must be finite and at least 0"),
    ("y_true", "f8", INF, "is inf: a level must be finite and at least 0"),
    ("y_true", "f8", NAN, "is nan: a level must be finite and at least 0"),
    ("y_true", "g", NAN, "is nan: a level must be finite and at least 0"),
    ("y_true", "O", "x", "is 'x' of type str: levels must be real numbers"),
)


@given(
    st.sampled_from(WRONG),
    st.integers(1, 5),
    st.integers(1, 7),
    st.sampled_from(["mask", "2-D", "qid", "offsets", "one"]),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_places(wrong, rows, columns, way, as_list, random):
    name, dtype, value, text = wrong
    rng = np.random.default_rng(random.getrandbits(32))
    arrays = {"y_true": rng.integers(0, 3, (rows, columns)), "y_score": rng.integers(0, 4, (rows, columns)) / 2}
    mask = rng.random((rows, columns)) < 0.6
    at = int(rng.integers(rows)), int(rng.integers(columns))
    mask[at] = True
    arrays[name] = arrays[name].astype(dtype)
    if way == "mask" and dtype != "O":  # what lies there does not matter
        arrays[name][~mask & (rng.random(mask.shape) < 0.5)] = value
    arrays[name][at] = value
    place = f"{name}[{at[0]}, {at[1]}]"
    options = {"mask": mask} if way == "mask" else {}
    if way not in ("mask", "2-D"):
        arrays = {key: array.reshape(-1) for key, array in arrays.items()}
        place = f"{name}[{at[0] * columns + at[1]}]"
        items = rows * columns
        options = {"qid": {"qid": rng.integers(0, 3, items)}, "offsets": {"offsets": [0, items]}}.get(way, {})
    if as_list and dtype in ("O", "i8", "f8"):
        arrays = {key: array.tolist() for key, array in arrays.items()}
    calls = [hc.GainCurve, hc.ndcg] if way == "one" else [hc.GainCurves, hc.mean_ndcg]
    for call in calls:
        with pytest.raises((ValueError, TypeError)) as caught:
            call(**arrays, **options)
        assert str(caught.value).startswith(f"{place} {text}")


def test_padding_is_not_read():
    levels, scores = np.array([[1, 0, -1], [2, -1, -1]]), np.array([[0.5, 0.7, np.nan], [0.1, np.nan, np.inf]])
    curves = hc.GainCurves(levels, scores, mask=levels >= 0)
    assert curves == hc.GainCurves([1, 0, 2], [0.5, 0.7, 0.1], offsets=[0, 2, 3])
    for kind in ("f4", "g"):
        assert (
            curves.ndcg().tolist()
            == hc.GainCurves(levels.astype(kind), scores.astype(kind), mask=levels >= 0).ndcg().tolist()
        )
    # A query of which nothing is left, and none at all.
    assert hc.GainCurves(levels, scores, mask=np.array([[True, True, False], [False] * 3])).num_items.tolist() == [2, 0]
    assert len(hc.GainCurves(np.zeros((0, 3)), np.zeros((0, 3)), mask=np.zeros((0, 3), bool))) == 0


def test_places_of_hit_curves():
    """What lies in another order, or row by row, is named as the caller has it."""
    labels, qid = [1, 0, NAN, 1], [2, 2, 1, 1]
    for options in ({"qid": qid}, {"offsets": [0, 2, 4]}):
        with pytest.raises(ValueError, match=r"y_true\[2\] is nan: a graded label must be a number"):
            hc.HitCurves(labels, [4, 3, 2, 1], relevance_level=1, **options)
        with pytest.raises(ValueError, match=r"y_true\[3\] is 2: labels must be"):
            hc.HitCurves([1, 0, 0, 2], [4, 3, 2, 1], tiebreak="order", **options)
        with pytest.raises(ValueError, match=r"y_score\[1\] is nan: scores of dtype"):
            hc.HitCurves([1, 0, 0, 1], np.array([4, NAN, 2, 1], "g"), **options)
        with pytest.raises(ValueError, match=r"tiebreak\[1\] is nan: a key must not be missing"):
            hc.HitCurves([1, 0, 0, 1], [4, 3, 2, 1], tiebreak=[0, NAN, 2, 3], **options)
        with pytest.raises(ValueError, match=r"sample_weight\[0\] is -1.0: weights must be"):
            hc.HitCurves([1, 0, 0, 1], [4, 3, 2, 1], sample_weight=[-1, 0, 2, 3], **options)
    with pytest.raises(ValueError, match=r"y_true\[1, 0\] is nan: a graded label must be a number"):
        hc.HitCurves([[1, 0], [NAN, 1]], [[1, 2], [3, 4]], relevance_level=1)
    for scores in ([[1, 2], [3, 4]], np.array([[1, 2], [3, 4]], "g")):  # two rankings of the same items
        with pytest.raises(ValueError, match=r"y_true\[1\] is 3: labels must be"):
            hc.HitCurves([1, 3], scores)
        with pytest.raises(ValueError, match=r"sample_weight\[1\] is nan: weights must be"):
            hc.HitCurves([1, 0], scores, sample_weight=[1, NAN])


# --- odd arguments ------------------------------------------------------------------------------------------

CURVE = hc.GainCurve([2, 0, 1, 1], [4, 3, 3, 1])
CURVES = hc.GainCurves([[2, 0, 1, 1]], [[4, 3, 3, 1]])
A_LEVEL = "a level must be finite and at least 0"
A_GAIN = "a gain must be finite and at least 0"
ANY_GAIN = "gain must be 'linear', 'exponential', a mapping or an array, got "
ANY_DISCOUNT = "discount must be 'log2', ('log', base) or an array, got "
GAINS = (
    (None, ANY_GAIN + "None of type NoneType"), (3, ANY_GAIN + "3 of type int"), (True, ANY_GAIN + "True of type bool"),
    (np.float64(3), ANY_GAIN + "np.float64(3.0) of type float64"), (1j, ANY_GAIN + "1j of type complex"),
    (b"linear", ANY_GAIN + "b'linear' of type bytes"), (iter([1, 2]), ANY_GAIN + "<list_iterator"),
    ({1, 2}, ANY_GAIN + "{1, 2} of type set"), (float, ANY_GAIN + "<class 'float'> of type type"),
    ("Linear", "gain is 'Linear': must be 'linear', 'exponential', a mapping or an array"),
    (np.ones((2, 2)), "gain must be one-dimensional, got shape (2, 2)"),
    (np.array(3), "gain must be one-dimensional, got shape ()"),
    ([1j, 2, 3], "gain has dtype complex128: gains must be real numbers"),
    ([0, "x", 2], "gain[1] is 'x' of type str: gains must be real numbers"),
    ([0, 1, NAN], f"gain[2] is nan: {A_GAIN}"), ([0, -1, 2], f"gain[1] is -1.0: {A_GAIN}"),
    (np.array([0, 1, "1e400"], "g"), f"gain[2] is inf: {A_GAIN}"),
    (np.ma.masked_array([0, 1, 2], [0, 0, 1]), "gain is a masked array with 1 masked entry"),
    ([], "gain has no level 1: it is empty"), ({}, "gain has no level 1"), ({1: 1}, "gain has no level 2"),
    ({"a": 1}, "a level of gain must be a number, got 'a' of type str"),
    ({"1": 1, "2": 1}, "a level of gain must be a number, got '1' of type str"),
    ({True: 1, 2: 1}, "a level of gain must be a number, got True of type bool"),
    ({None: 1}, "a level of gain must be a number, got None of type NoneType"),
    ({1 + 0j: 1}, "a level of gain must be a number, got (1+0j) of type complex"),
    ({Fraction(1): 1}, "a level of gain must be a number, got Fraction(1, 1) of type Fraction"),
    ({NAN: 1, 1: 1, 2: 1}, f"gain has the level nan: {A_LEVEL}"),
    ({INF: 1, 1: 1, 2: 1}, f"gain has the level inf: {A_LEVEL}"),
    ({-1: 1, 1: 1, 2: 1}, f"gain has the level -1: {A_LEVEL}"),
    ({1: "x", 2: 1}, "gain[1] must be a number, got 'x' of type str"),
    ({1: None, 2: 1}, "gain[1] must be a number, got None of type NoneType"),
    ({1: True, 2: 1}, "gain[1] must be a number, got True of type bool"),
    ({1: [1], 2: 1}, "gain[1] must be a number, got [1] of type list"),
    ({1: 1j, 2: 1}, "gain[1] must be a number, got 1j of type complex"),
    ({1: Decimal(1), 2: 1}, "gain[1] must be a number, got Decimal('1') of type Decimal"),
    ({1: NAN, 2: 1}, "gain[1] is nan: must be finite and not negative"),
    ({1: 1, 2: 1, 7: INF}, "gain[7] is inf: must be finite and not negative"),
    (UserDict({1: -1, 2: 1}), "gain[1] is -1: must be finite and not negative"),
    ({1: 10**400, 2: 1}, f"gain[1] is {10**400}: must be finite and not negative"),
)  # fmt: skip
DISCOUNTS = (
    (None, ANY_DISCOUNT + "None of type NoneType"), (3, ANY_DISCOUNT + "3 of type int"),
    (b"log2", ANY_DISCOUNT + "b'log2' of type bytes"), ({1: 1}, ANY_DISCOUNT + "{1: 1} of type dict"),
    (iter([1]), ANY_DISCOUNT + "<list_iterator"), ({1, 2}, ANY_DISCOUNT + "{1, 2} of type set"),
    ("Log2", "discount is 'Log2': must be 'log2', ('log', base) or an array"),
    (("log",), "discount is ('log',): must be"), (("log", 2, 3), "discount is ('log', 2, 3): must be"),
    (("ln", 2), "discount is ('ln', 2): must be"),
    ((1, 0.5), "discount is (1, 0.5): must be"), ((), "discount is (): must be"),
    (("log", "x"), "discount[1] must be a number, got 'x' of type str"),
    (("log", True), "discount[1] must be a number, got True of type bool"),
    (("log", None), "discount[1] must be a number, got None of type NoneType"),
    (("log", NAN), "discount[1] is nan: must be above 1 and below 2**62"),
    (("log", 1), "discount[1] is 1: must be above 1"),
    (("log", 10**400), f"discount[1] is {10**400}: must be above 1"),
    (["log", 2], "discount[0] is 'log' of type str: discounts must be real numbers"),
    ([1, "x"], "discount[1] is 'x' of type str: discounts must be real numbers"),
    ([1, NAN], "discount[1] is nan: a discount must be finite and at least 0"),
    ([[1, 2]], "discount must be one-dimensional, got shape (1, 2)"),
    ([1, 1j], "discount has dtype complex128: discounts must be real numbers"),
)  # fmt: skip
RANKS = (
    (0, "k is 0: ranks start at 1"), (-3, "k is -3: ranks start at 1"),
    *((k, f"k must be a whole number, got {k!r} of type {type(k).__name__}")
      for k in (1.5, NAN, "1", b"1", True, 1j, {}, {1: 2}, {1}, np.float64(2), Fraction(2))),
)  # fmt: skip
LISTED_RANKS = (
    ([1, 0], "k[1] is 0: ranks start at 1"), ([[1, 2], [3, 0]], "k[1, 1] is 0: ranks start at 1"),
    ([1, "x"], "k[1] must be a whole number, got 'x' of type str"),
    ([1.0], "k[0] must be a whole number, got 1.0 of type float"),
    ([True], "k[0] must be a whole number, got True of type bool"),
    ([1, [2]], "k holds lists of different lengths: give lists of the same length"),
)  # fmt: skip


def refused(call, text):
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    assert str(caught.value).startswith(text)


@pytest.mark.parametrize(("name", "value", "text"), [
    *(("gain", *row) for row in GAINS), *(("discount", *row) for row in DISCOUNTS), *(("k", *row) for row in RANKS),
])  # fmt: skip
def test_odd_readings(name, value, text):
    for call in (
        lambda **said: CURVE.dcg(**said), lambda **said: CURVE.ndcg(**said), lambda **said: CURVES.ndcg(**said),
        lambda **said: CURVES.mean_ndcg(**said), lambda **said: hc.ndcg([2, 0, 1, 1], [4, 3, 3, 1], **said),
        lambda **said: hc.mean_ndcg([[2, 0, 1, 1]], [[4, 3, 3, 1]], **said),
    ):  # fmt: skip
        refused(lambda call=call: call(**{name: value}), text)


@pytest.mark.parametrize(("value", "text"), LISTED_RANKS)
def test_odd_lists_of_ranks(value, text):
    for curve in (CURVE, CURVES):
        for measure in (curve.dcg, curve.ndcg, curve.err, curve.rbp):
            refused(lambda measure=measure: measure(value), text)
    for one in (CURVES.mean_ndcg, lambda k: hc.ndcg([1], [1], k=k), lambda k: hc.mean_ndcg([[1]], [[1]], k=k)):
        refused(lambda one=one: one(value), f"k must be a whole number, got {value!r} of type list")


@pytest.mark.parametrize(("value", "text"), [
    (3, "unretrieved must be one-dimensional, got shape ()"), ("x", "unretrieved is 'x': levels must be real numbers"),
    ({1: 2}, "unretrieved is of type dict: levels must be real numbers"),
    (iter([1]), "unretrieved is of type list_iterator: levels must be real numbers"),
    ([[1]], "unretrieved must be one-dimensional, got shape (1, 1)"),
    ([1, "x"], "unretrieved[1] is 'x' of type str: levels must be real numbers"),
    ([1, 1j], "unretrieved has dtype complex128: levels must be real numbers"),
    ([1, -1], "unretrieved[1] is -1.0: a level must be finite and at least 0"),
    ([NAN], "unretrieved[0] is nan: a level must"),
    ([1, 2**53 + 1], "unretrieved[1] is 9007199254740993: a whole level must be at most 2**53"),
    (np.array(["1e-400"], "g"), "unretrieved[0] is 0.0: float64 cannot hold so small a level"),
    (np.array(["1e400"], "g"), "unretrieved[0] is inf: a level must be finite and at least 0"),
])  # fmt: skip
def test_odd_unretrieved(value, text):
    refused(lambda: hc.GainCurve([1, 0], [2, 1], unretrieved=value), text)
    refused(lambda: hc.GainCurve.from_ranked([1, 0], unretrieved=value), text)
    if not isinstance(value, list):
        return
    several = text.replace("unretrieved", "unretrieved[1]", 1)
    for call in (hc.GainCurves, hc.mean_ndcg):
        refused(lambda call=call: call([[1], [1]], [[1], [1]], unretrieved=[[], value]), several)
        mask = np.ones((2, 1), bool)
        refused(
            lambda call=call, mask=mask: call([[1], [1]], [[1], [1]], mask=mask, unretrieved=[None, value]), several
        )


@pytest.mark.parametrize("value", [3, "x", b"xy", {0: [1], 1: [2]}, {1, 2}, True, 1j, object(), np.array(1)])
def test_unretrieved_of_no_queries(value):
    for call in (hc.GainCurves, hc.mean_ndcg):
        refused(
            lambda call=call: call([[1], [1]], [[1], [1]], unretrieved=value),
            f"unretrieved must be a list of levels for each query, got {value!r} of type {type(value).__name__}",
        )
    refused(
        lambda: hc.GainCurves([[1], [1]], [[1], [1]], unretrieved=[[]]),
        "unretrieved has 1 list, but there are 2 queries",
    )


@pytest.mark.parametrize(("options", "text"), [
    *(({"mask": [[True], [True]], **other}, "mask needs two-dimensional y_true and y_score, and cannot be combined "
                                            "with qid, offsets")
      for other in ({"qid": [0, 1]}, {"offsets": [0, 1, 2]}, {"tiebreak": "order"})),
    ({"mask": "x"}, "mask is 'x': flags"),
    ({"mask": type("csr_matrix", (), {"toarray": None})()},
     "mask is of type csr_matrix: flags must be bool, True for each item that counts; a sparse matrix has toarray()"),
    ({"mask": [True, True]}, "mask must be two-dimensional and of bool, got shape (2,)"),
    ({"mask": [[1], [0]]}, "mask must be two-dimensional and of bool, got shape (2, 1) of int64"),
    ({"mask": [[True], [None]]}, "mask[1, 0] is None of type NoneType: flags"),
    ({"mask": [[True, True]]}, "mask has shape (1, 2), y_true has shape (2, 1)"),
    ({"qid": [0, 1], "offsets": [0, 2]}, "offsets needs one-dimensional"),
    ({"empty": None}, "empty must be one of 'skip'"),
    ({"ties": 3}, "ties must be one of 'expected'"), ({"ideal_k": None}, "ideal_k is None: must be 'same' or 'all'"),
    ({"workers": 0}, "workers is 0"), ({"lower_is_better": 1}, "lower_is_better must be True or False, got 1"),
    ({"nan_policy": None}, "nan_policy must be one of"), ({"tiebreak": 3}, "tiebreak has shape ()"),
])  # fmt: skip
def test_odd_options(options, text):
    refused(lambda: hc.mean_ndcg([[1], [1]], [[1], [1]], **options), text)


@pytest.mark.parametrize(("call", "text"), [
    (lambda: CURVE.rbp(p=10**400), f"p is {10**400}: must be between 0 and 1"),
    (lambda: CURVE.rbp(p=NAN), "p is nan: must be between 0 and 1"),
    (lambda: CURVE.err(max_level=10**400), f"max_level is {10**400}: must be above 0"),
    (lambda: CURVE.measure(None), "name is None: a measure is named by a string"),
    (lambda: CURVES.measure(3), "name is 3: a measure is named by a string"),
    (lambda: hc.HitCurve([1], [1]).measure(b"AP"), "name is b'AP': a measure is named by a string"),
    (lambda: hc.GainCurve([1, 2000], [1, 2]).measure("nDCG(gains={1:1},dcg=exp-log2)"), "gain[2000.0] is inf: must"),
    (lambda: hc.GainCurve.from_table(None, [0], [5], [0, 3], [1, 2, 3], [2**63 - 1, 2**63 - 1, 4], num_items=9),
     f"the sum of level_count is {2**64 + 2}: must be at most 2**62"),
    (lambda: hc.GainCurve.from_table(None, [0], [5], [0, 1], [1], np.array([2**64 - 1], np.uint64), num_items=9),
     f"the sum of level_count is {2**64 - 1}: must be at most 2**62"),
    (lambda: hc.GainCurve.from_table(None, [0], [5], [0, 1], [2**53 + 1], [1], num_items=9),
     "level[0] is 9007199254740993: a whole level must be at most 2**53"),
])  # fmt: skip
def test_odd_numbers(call, text):
    refused(call, text)


def test_gains_of_levels_that_need_no_gain():
    curve = hc.GainCurve([1, 2000], [1, 2])
    assert curve.measure("nDCG(gains={2000:3},dcg=exp-log2)") == curve.ndcg(gain={1: 1, 2000: 3})
    # A whole level is no other one, however near as a float.
    assert hc.GainCurve([1, 2**53], [1, 2]).ndcg(gain={1: 1, 2**53: 2, 2**53 + 1: 0}) == 1


# --- at_level -----------------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=8),
    st.sampled_from(["u1", "i8", "f2", "f4", "f8"]),
    st.sampled_from([0.1, 0.7, 1.0, 5.0]),
    st.data(),
)
def test_at_level_equals_relevance_level(items, dtype, unit, data):
    levels = np.array([level for level, _ in items]) * (unit if dtype[0] == "f" else 1)
    levels, scores = levels.astype(dtype), [score for _, score in items]
    found = levels.dtype.type(data.draw(st.sampled_from([one for one in levels.tolist() if one > 0] or [1])))
    near = [np.nextafter(np.float64(found), to) for to in (0, INF)] if dtype in ("f8", "i8", "u1") else []
    for level in (found, float(found), *near, INF, 1e300, 2**53, np.int64(2), np.float32(2.5), 2**1000):
        assert hc.GainCurve(levels, scores).at_level(level) == hc.HitCurve(levels, scores, relevance_level=level)


def test_at_level_of_narrow_floats():
    """HitCurve rounds a level to the type of the labels; a gain curve has no such type any more."""
    levels, scores = np.array([0.7, 0.2], np.float32), [2, 1]
    curve = hc.GainCurve(levels, scores)
    assert curve.at_level(np.float32(0.7)) == hc.HitCurve(levels, scores, relevance_level=0.7)
    assert float(np.float32(0.7)) < 0.7
    assert curve.at_level(0.7).num_relevant == 0


@pytest.mark.parametrize("level", [2**53 + 1, np.int64(2**53 + 1), np.uint64(2**63 + 1), 10**400])
def test_at_level_of_what_no_float_holds(level):
    """Labels of floats and of integers would take it differently."""
    for curves in (hc.GainCurve([2**53, 1], [2, 1]), hc.GainCurves([[2**53, 1]], [[2, 1]])):
        refused(lambda curves=curves: curves.at_level(level), f"level is {level}: float64 cannot hold it exactly")


# --- how many pairs there may be ----------------------------------------------------------------------------


def random_curves(rng):
    levels, scores = rng.integers(0, 4, 90), rng.integers(0, 12, 90)
    missing = [[1], [2], [], [3, 1]]
    return levels, scores, hc.GainCurves(levels, scores, offsets=[0, 20, 20, 50, 90], unretrieved=missing)


def readings(curves):
    """Values of every measure that needs no argument."""
    found = []
    for name in ("dcg", "ndcg", "err", "rbp"):
        for ties in ("expected", "best", "worst"):
            found += [getattr(curves, name)(k, ties=ties).tobytes() for k in (None, 3, [1, 5])]
    return [*found, curves.ndcg(gain=[1, 0, 2, 5], ties="worst").tobytes()]


def test_pairs_of_many_rankings(monkeypatch):
    """The limit is for each ranking: all of them together may have more."""
    _, _, curves = random_curves(np.random.default_rng(1))
    wanted, each = readings(curves), [len(curve.level) + len(curve.unretrieved) for curve in curves]
    assert max(each) < len(curves.level)
    monkeypatch.setattr(_levels, "_MOST_KEYS", max(each))
    assert readings(curves) == wanted
    monkeypatch.setattr(_levels, "_MOST_KEYS", len(curves.level))
    assert readings(curves) == wanted
    monkeypatch.setattr(_levels, "_MOST_KEYS", max(len(curve.level) for curve in curves) - 1)
    pairs = max(len(curve.level) + len(set(curve.unretrieved)) for curve in curves)
    for call in (curves.dcg, curves.ndcg, curves.err, curves.rbp):
        refused(call, f"a ranking has {pairs} pairs of a tie group and a level: at most ")


def test_more_levels_than_the_kernels_tell_apart(monkeypatch):
    levels, scores, curves = random_curves(np.random.default_rng(2))
    columns = curves[3].score, curves[3].above, curves[3].tied, curves[3].level_offsets, curves[3].level
    table = functools.partial(hc.GainCurve.from_table, *columns, curves[3].level_count, num_items=40)
    real, plain = levels / 7, hc.GainCurve(levels, scores)
    monkeypatch.setattr(_levels, "_MOST_KEYS", 11)
    assert len(plain) == 12
    refused(lambda: hc.GainCurve(levels, scores), "a ranking has 12 tie groups above level 0: at most 11 are supported")
    monkeypatch.setattr(_levels, "_MOST_KEYS", 3)
    refused(lambda: hc.GainCurve(real, scores), "y_true has 4 different levels: at most 3 are supported")
    refused(lambda: hc.GainCurve.from_ranked(real), "levels has 4 different levels: at most 3 are supported")
    refused(table, "level has 4 different levels: at most 3 are supported")


# --- against evaluate -----------------------------------------------------------------------------------------

REAL = [(folder, qrels) for folder, qrels in (
    ("codec/entity", "qrels_graded.txt"), ("dl_hard/passage", "qrels.txt"), ("robust03", "qrels.txt"),
    ("trec_covid/round3", "qrels.txt"))]  # fmt: skip
# Those of the records, so that a new measure is among them, and more cutoffs and options. The residual of RBP counts
# unjudged documents there and the ranks beyond the last item here: see test_the_residual_of_runs.
BOTH = [record for record in MEASURES if "gains" in register.ROW[record.name].of and register.ROW[record.name].sums]
SAID = [name for record in BOTH for name in (record.name, *record.forms)]
SAID = sorted({name for name in SAID if parse(name).rel is None} | {
    "nDCG@1", "nDCG@1000", "nDCG(dcg=exp-log2)", "nDCG(dcg=exp-log2)@20", "nDCG(gains={1:5,2:2})",
    "nDCG(gains={2:9},dcg=exp-log2)@7", "ERR@5", "ERR(max=9)@3", "RBP@4", "RBP(p=0.05)", "RBP(p=0.99)@100",
    "AP", "AP(rel=2)@10", "P(rel=2)@5", "RR(rel=2)", "R@100", "Rprec"})  # fmt: skip


def lines(path):
    data = path.read_bytes()
    return [line.split() for line in (lzma.decompress(data) if path.suffix == ".xz" else data).decode().splitlines()]


def judged_lists(judged, ranked):
    """(levels, scores and ids of a run's documents, offsets, levels of the judged ones that it has not), by query."""
    levels, scores, ids, offsets, missing = [], [], [], [0], []
    for query in sorted(judged.keys() & ranked.keys(), key=str.encode):
        known = judged[query]
        for doc, score in ranked[query].items():
            levels.append(max(0, known.get(doc, 0)))
            scores.append(score)
            ids.append(doc)
        offsets.append(len(levels))
        missing.append([level for doc, level in known.items() if level > 0 and doc not in ranked[query]])
    return levels, scores, np.unique(np.array(ids, bytes), return_inverse=True)[1], offsets, missing


@pytest.mark.parametrize(
    ("folder", "qrels"), [pytest.param(*one, marks=pytest.mark.slow) if one[0] == "robust03" else one for one in REAL])
def test_evaluate_of_real_runs(shared_data, folder, qrels, request):
    """Both read the same judgments: with unjudged documents, judged ones never retrieved, levels below 0, and ties.

    Without the slow tests two runs of each folder by one reading of ties each, and each type of score by two of them.
    """
    usual, place = not request.config.getoption("--all"), REAL.index((folder, qrels))
    judged, whole = {}, hc.read_qrels(shared_data / folder / qrels)
    for query, _, doc, level in lines(shared_data / folder / qrels):
        judged.setdefault(query, {})[doc] = int(level)
    for at, path in enumerate(sorted((shared_data / folder / "runs").iterdir())[:4]):
        if usual and at not in (place, (place + 1) % 4):
            continue
        ranked = {}
        for query, _, doc, _, score, _ in lines(path):
            ranked.setdefault(query, {})[doc] = float(score)
        levels, scores, ids, offsets, missing = judged_lists(judged, ranked)
        for number, ties in enumerate(("expected", "best", "worst", "docid")):
            if usual and number != at:
                continue
            for kind in ("float64", "float32")[at % 2 :][:1] if usual else ("float64", "float32"):
                reading = "expected" if ties == "docid" else ties
                wanted = hc.evaluate(whole, path, SAID, ties=ties, scores=kind, missing="skip")
                curves = hc.GainCurves(levels, np.array(scores, kind), offsets=offsets, unretrieved=missing,
                                       tiebreak=-ids if ties == "docid" else None)  # fmt: skip
                assert len(wanted.query_ids) == len(curves)
                for name in SAID:
                    found, values = curves.measure(name, ties=reading), wanted.values[parse(name).name]
                    said = f"{name} of {path}, {ties}, {kind}"
                    np.testing.assert_allclose(np.nan_to_num(found), values, rtol=1e-14, atol=0, err_msg=said)
