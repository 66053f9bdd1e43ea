"""Gain curves of data that are not in memory as arrays: GainCounter, hc.scan with grade=, `hitcurve table --grade`."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hitcurve as hc

LEVELS = {
    "whole": st.sampled_from([0, 0, 0, 1, 2, 5]),
    "real": st.sampled_from([0.0, 0.0, 0.25, 1.0, 1 / 3, 1e-300, 7.5]),
    "large": st.sampled_from([0, 0, 1, 70_000, 2**53]),
    "flags": st.booleans(),
}
SCORES = {
    "float64": st.sampled_from([0.1, 0.2, 0.3, 0.4, -0.0, 0.0, np.inf, -np.inf, np.nan]),
    "int64": st.integers(-3, 3),
    "uint64": st.sampled_from([0, 5, 2**63, 2**64 - 1]),
}


@st.composite
def graded(draw, policies=("worst", "omit")):
    """(levels, scores, options): items as arrays."""
    number, kind = draw(st.integers(0, 30)), draw(st.sampled_from(sorted(SCORES)))
    level = np.array(draw(st.lists(LEVELS[draw(st.sampled_from(sorted(LEVELS)))], min_size=number, max_size=number)))
    score = draw(st.lists(SCORES[kind], min_size=number, max_size=number))
    policy = draw(st.sampled_from(policies)) if kind == "float64" else "raise"
    options = {"lower_is_better": draw(st.booleans()), "nan_policy": policy}
    return level if number else np.zeros(0, np.int64), np.array(score, kind), options


def same(curve, expected):
    """Equal in everything, and in the bits of measures."""
    assert curve == expected
    assert hash(curve) == hash(expected)
    assert repr(curve) == repr(expected)
    for ties in ("expected", "worst", "best"):
        for at in (None, 3):
            every = [*expected.level.tolist(), *expected.unretrieved.tolist()]
            for gain in ("linear", {**dict.fromkeys(every, 2.5), **dict.fromkeys([1.0, 7.5], 4)}):
                numbers = [np.array(one.dcg(at, gain=gain, ties=ties)).tobytes() for one in (curve, expected)]
                assert numbers[0] == numbers[1]
            numbers = [np.array([one.ndcg(at, ties=ties), one.rbp(at, ties=ties)]).tobytes()
                       for one in (curve, expected)]  # fmt: skip
            assert numbers[0] == numbers[1]


@given(graded(), st.data())
def test_counters_are_exact_for_any_blocks_and_order(items, data):
    level, score, options = items
    expected = hc.GainCurve(level, score, **options)
    thresholds = data.draw(st.permutations(score[level > 0].tolist() if score.dtype.kind == "f" else score.tolist()))
    thresholds = np.array(thresholds, score.dtype)
    levels = data.draw(st.sampled_from([None, np.append(level[level > 0], 3)]))
    order = np.array(data.draw(st.permutations(range(len(level)))), np.int64)
    block = data.draw(st.lists(st.integers(0, 3), min_size=len(level), max_size=len(level)))
    total = hc.GainCounter(thresholds, levels, **options)
    parts = [hc.GainCounter(thresholds, levels, **options) for _ in range(4)]
    for at, part in enumerate(parts):
        here = order[np.array(block, np.int64) == at]
        for some in np.array_split(here, data.draw(st.integers(1, 3))):
            part.update(level[some], score[some])
    for part in parts:
        total += pickle.loads(pickle.dumps(part))
    same(total.curve(), expected)
    assert (total.num_items, total.num_hits) == (expected.num_items, expected.num_hits)
    missing = [2.5, 1, 1]
    complete = hc.GainCurve(level, score, unretrieved=missing, **options)
    same(total.curve(unretrieved=missing), complete)
    whole = hc.GainCounter(thresholds, levels, **options)
    whole.update(level, score)
    assert whole == total
    assert repr(whole) == repr(total)
    assert (whole == hc.GainCounter(thresholds, levels, **options)) == (not expected.num_items)


@given(graded(policies=("worst",)), st.data())
def test_bins_bound_the_exact_numbers(items, data):
    level, score, options = items
    edges = sorted(set(data.draw(st.lists(st.integers(0, 5) if score.dtype.kind == "u" else st.integers(-3, 3)))))
    if not edges:
        return
    counter = hc.GainCounter(edges=np.array(edges, score.dtype), **options)
    counter.update(level, score)
    curve = counter.curve()
    bins = np.where(score == score, np.searchsorted(np.array(edges, score.dtype), score, "right"), np.nan)
    binned = hc.GainCurve(level, bins, **options)
    for column in ("above", "tied", "hits", "level_offsets", "level", "level_count"):
        assert np.array_equal(getattr(curve, column), getattr(binned, column))
    lowest = np.append(-np.inf, np.array(edges, np.float64))
    at = binned.score[binned.score == binned.score].astype(int)
    assert curve.score[: len(at)].tolist() == lowest[at].tolist()
    exact = hc.GainCurve(level, score, **options)
    if exact.num_hits:
        assert curve.ndcg(ties="worst") <= exact.ndcg(ties="worst") + 1e-12
        assert curve.ndcg(ties="best") >= exact.ndcg(ties="best") - 1e-12


def test_many_small_blocks_are_added_up_now_and_then(monkeypatch):
    from hitcurve import gain_counter

    monkeypatch.setattr(gain_counter, "_WAITING", 5)
    rng = np.random.default_rng(0)
    level, score = rng.integers(0, 3, 500), rng.integers(0, 9, 500)
    counter = hc.GainCounter(range(9))
    for at in range(0, 500, 3):
        counter.update(level[at : at + 3], score[at : at + 3])
        assert counter._counts._waiting <= max(5, 18) + 3
        assert sum(map(len, counter._counts._pairs[0])) <= 18 + 18 + 3
    assert counter.curve() == hc.GainCurve(level, score)


def test_blocks_of_wider_types_are_counted_with_what_was_before():
    counter = hc.GainCounter([1, 2])
    counter.update([2, 1, 0], [1, 2, 2])
    counter.update([2, 0], [2.0, 1.5])
    same(counter.curve(), hc.GainCurve([2, 1, 0, 2, 0], [1.0, 2.0, 2.0, 2.0, 1.5]))


BAD = {
    "level": (lambda: hc.GainCounter([1.0]).update([0, -1], [1.0, 1.0]), ValueError, r"y_true\[1\] is -1: a level"),
    "nan level": (lambda: hc.GainCounter([1.0]).update([np.nan], [1.0]), ValueError, r"y_true\[0\] is nan: a level"),
    "unknown": (lambda: hc.GainCounter([1.0], [1, 3]).update([0, 0, 2], [1.0] * 3), ValueError,
                r"y_true\[2\] is 2, but levels holds 1, 3"),
    "zero": (lambda: hc.GainCounter([1.0], [1, 0]), ValueError, r"levels\[1\] is 0.*must be above 0"),
    "threshold": (lambda: hc.GainCounter([1.0]).update([0, 2], [5.0, 5.0]), ValueError,
                  r"y_score\[1\] is 5.0, of a relevant item, but that is not among the thresholds"),
    "nan": (lambda: hc.GainCounter([1.0]).update([0, 2], [5.0, np.nan]), ValueError, r"y_score\[1\] is nan"),
    "lengths": (lambda: hc.GainCounter([1.0]).update([0, 2], [5.0]), ValueError, "y_true has 2.*y_score has 1|2.*1"),
    "neither": (lambda: hc.GainCounter(), ValueError, "either thresholds or edges"),
    "merge": (lambda: hc.GainCounter([1.0]).merge(hc.HitCounter([1.0])), TypeError,
              "other must be a GainCounter, got HitCounter"),
    "hits": (lambda: hc.HitCounter([1.0]).merge(hc.GainCounter([1.0])), TypeError,
             "other must be a HitCounter, got GainCounter"),
    "levels": (lambda: hc.GainCounter([1.0], [1]).merge(hc.GainCounter([1.0])), ValueError,
               r"other has no levels, this counter levels \[1.0\]: only like counters"),
    "unretrieved": (lambda: hc.GainCounter([1.0]).curve([0]), ValueError, r"unretrieved\[0\] is 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_of_counters(name):
    call, error, text = BAD[name]
    with pytest.raises(error, match=text):
        call()


def test_a_counter_that_raised_is_as_it_was():
    counter, other = hc.GainCounter([1.0, 2.0], [1, 2]), hc.GainCounter([1.0, 2.0], [1, 2])
    for one in (counter, other):
        one.update([1, 0], [2.0, 0.0])
    for bad in (([3], [1.0]), ([1], [1.5]), ([-1], [1.0]), ([1, 0], [1.0, np.nan])):
        with pytest.raises(ValueError, match="y_"):
            counter.update(*bad)
        assert counter == other
    with pytest.raises(ValueError, match="read-only"):
        counter.levels[0] = 5
    with pytest.raises(TypeError, match="unhashable"):
        hash(counter)
    assert counter != hc.HitCounter([1.0, 2.0])


STATES = {
    "cuts": np.array([2.0, 1.0]), "items": np.ones(4, np.int64), "nan_items": 1, "kind": "bins",
    "place": np.array([0, 3]), "level": np.array([1.0, 0.0]), "count": np.array([1, 0]), "levels": [3.0],
}  # fmt: skip


@pytest.mark.parametrize("name", [*STATES, "twice", "too many"])
def test_states_from_outside(name):
    counter = hc.GainCounter([1.0, 2.0], [1, 2])
    counter.update([1, 2, 0], [1.0, 2.0, 3.0])
    state = counter.__getstate__()
    wrong = STATES.get(name)
    made = hc.GainCounter.__new__(hc.GainCounter)
    changed = {name: wrong} if wrong is not None else {"count": np.array([1, 2])}
    if name == "twice":
        changed = {"place": np.array([0, 0]), "level": np.array([1.0, 1.0])}
    with pytest.raises(ValueError, match=r"\w"):
        made.__setstate__(state | changed)
    if name in state:
        with pytest.raises(KeyError, match=name):
            made.__setstate__({key: value for key, value in state.items() if key != name})
    made.__setstate__(state)
    assert made == counter
