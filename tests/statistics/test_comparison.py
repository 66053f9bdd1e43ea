"""compare: over items against enumeration and plain resampling, over queries and groups against each other."""

import math
import pickle
import re
import sys
import warnings
from collections import Counter
from copy import copy
from fractions import Fraction
from html import unescape
from itertools import pairwise

import numpy as np
import pytest
from draws import UNLIKELY, chi_square, every_draw, ranking, seeded, slow_delong
from examples import few
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

import hitcurve as hc
from hitcurve._kernel.draw import Resampler
from hitcurve.shown import means
from hitcurve.shown.grid import one_line
from hitcurve.statistics import comparison
from hitcurve.statistics.comparison import _kinds


def two_rankings(n=300, relevant=40, seed=0, step=None):
    y, a = ranking(n, relevant, seed=seed)
    b = a + np.random.default_rng(seed + 1).standard_normal(n) * 0.7
    return y, a, b if step is None else np.round(b / step) * step


# --- the joint table ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "u1", "?"])
@pytest.mark.parametrize("lower", [False, True])
def test_places_of_items(dtype, lower):
    """Where an item stands, by looking at every row."""
    rng = np.random.default_rng(1)
    y = rng.random(200) < 0.15
    s = (rng.integers(0, 2, 200) if dtype == "?" else rng.integers(0, 40, 200)).astype(dtype)
    other = rng.random(200)
    curves = [hc.HitCurve(y, s, lower_is_better=lower), hc.HitCurve(y, other)]
    kinds = _kinds(y, [s, other], curves)[0]
    for column, curve in enumerate(curves):
        others = Counter()
        for place, weight in zip(kinds.other_place[:, column], kinds.other_weight, strict=True):
            others[int(place)] += int(weight)
        ends = 0
        for row, (above, tied, hits) in enumerate(zip(curve.above, curve.tied, curve.hits, strict=True)):
            assert others[2 * row] == above - ends
            assert others[2 * row + 1] == tied - hits
            assert kinds.hit_weight[kinds.hit_place[:, column] == row].sum() == hits
            ends = above + tied
        assert others[2 * len(curve)] == 200 - ends


def test_places_of_missing_scores():
    y = np.array([1, 0, 1, 0, 0, 1])
    s = np.array([3.0, np.nan, np.nan, 2.0, np.nan, 1.0])
    for flags in (y, np.array([1, 0, 0, 0, 0, 1])):
        curve = hc.HitCurve(flags, s, nan_policy="worst")
        kinds = _kinds(flags, [s, s], [curve, curve])[0]
        whole = hc.HitCurve(flags, np.nan_to_num(s, nan=-1.0))
        drawn = Resampler(*kinds, [len(curve)] * 2, False)
        assert (drawn.num_relevant, drawn.num_others) == (whole.num_relevant, 6 - whole.num_relevant)
        same = _kinds(flags, [np.nan_to_num(s, nan=-1.0)] * 2, [whole, whole])[0]
        assert np.array_equal(kinds.other_place, same.other_place)
        assert np.array_equal(kinds.hit_place, same.hit_place)


@pytest.mark.parametrize(
    ("y", "a", "b"),
    [
        pytest.param([1, 0, 1, 0, 0], [5, 4, 3, 2, 1], [1, 5, 4, 2, 3], marks=pytest.mark.slow),
        ([1, 0, 1, 0, 0], [5, 5, 3, 3, 1], [2, 2, 2, 1, 1]),
        ([1, 1, 0, 0], [4, 3, 2, 1], [4, 3, 2, 1]),
    ],
)
@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize("count", [4_000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_every_joint_resample_of_a_few_items(y, a, b, stratified, count):
    """The pair of APs against all n**n ways to draw n items."""
    expected = Counter()
    for drawn, ways in every_draw(len(y)).items():
        labels = [y[i] for i in drawn]
        if stratified and sum(labels) != sum(y):
            continue
        pair = (hc.average_precision(labels, [s[i] for i in drawn]) for s in (a, b))
        expected[tuple("nan" if math.isnan(v) else round(v, 9) for v in pair)] += ways
    total = sum(expected.values())
    curves = [hc.HitCurve(y, s) for s in (a, b)]
    kinds = _kinds(np.array(y), [np.array(a), np.array(b)], curves)[0]
    rows = [len(curve) for curve in curves]
    resampler = Resampler(*kinds, rows, stratified)
    pairs = []
    for offsets, above, tied, hits, num_items, _, num_relevant in resampler.draw(np.random.SFC64(4), count):
        assert set(num_items) == {len(y)}
        cut = [slice(*ends) for ends in pairwise(offsets)]
        tables = (hc.HitCurve.from_table(None, above[c], tied[c], hits[c], num_items=len(y)) for c in cut)
        pairs.append([one.average_precision() for one in tables])
        assert np.array_equal(num_relevant, [hits[c].sum() for c in cut])
    seen = Counter(tuple("nan" if math.isnan(v) else round(v, 9) for v in pair) for pair in zip(*pairs, strict=True))
    assert set(seen) <= set(expected)
    keys = list(expected)
    chance = [float(Fraction(expected[key], total)) * count for key in keys]
    assert chi_square([seen[key] for key in keys], chance) > UNLIKELY


@pytest.mark.parametrize(
    ("n", "step"), [(300, None), (300, 0.5), (1000, 0.25), pytest.param(5000, 0.25, marks=pytest.mark.slow)]
)
def test_difference_against_resampling_the_items(n, step):
    y, a, b = two_rankings(n, n // 10, step=step)
    got = hc.compare(y, {"a": a, "b": b}, measures=["AP", "BEDROC(20)"], n_resamples=4000, rng=1)
    rng = np.random.default_rng(2)
    slow = []
    for _ in range(1500):
        drawn = rng.integers(0, n, n)
        one, two = (hc.HitCurve(y[drawn], s[drawn]) for s in (a, b))
        slow.append((two.average_precision() - one.average_precision(), two.bedroc() - one.bedroc()))
    for row, values in zip(got.rows, np.array(slow).T, strict=True):
        assert row.test == "bootstrap"
        spread = values.std()
        low, high = np.quantile(values, [0.025, 0.975])
        assert abs(row.low - low) < 0.25 * spread
        assert abs(row.high - high) < 0.25 * spread
        p = 2 * min(np.mean(values <= 0), np.mean(values >= 0))
        assert abs(row.p_value - p) < 5 * math.sqrt((p + 0.001) / 1500)


@pytest.mark.parametrize("step", [None, 1.0])
def test_delong_paired_against_all_pairs(step):
    y, a, b = two_rankings(70, 20, step=step)
    got = hc.compare(y, {"a": a, "b": b, "back": -a}, measures="ROCAUC", baseline="b")
    auc, covariance = slow_delong(y.tolist(), [a.tolist(), b.tolist(), (-a).tolist()])
    for row, i in zip(got.rows, (0, 2), strict=True):
        difference = float(auc[i] - auc[1])
        error = math.sqrt(covariance[i][i] + covariance[1][1] - 2 * covariance[i][1])
        assert row.test == "DeLong"
        assert_allclose(row.difference, difference, rtol=1e-12)
        assert_allclose(row.p_value, 2 * stats.norm.sf(abs(difference) / error), rtol=1e-9)
        assert_allclose([row.low, row.high], difference + np.array([-1, 1]) * stats.norm.ppf(0.975) * error, rtol=1e-9)
    alone = hc.HitCurve(y, a).interval("ROCAUC").confidence_interval
    assert_allclose([got.systems[0].low, got.systems[0].high], alone, rtol=1e-12)


def test_delong_and_bootstrap_agree():
    y, a, b = two_rankings(3000, 300)
    one, two = (
        hc.compare(y, {"a": a, "b": b}, measures="ROCAUC", method=m, rng=1).rows[0] for m in ("delong", "bootstrap")
    )
    assert one.difference == two.difference
    assert_allclose([one.low, one.high], [two.low, two.high], atol=0.15 * (one.high - one.low))


def test_a_ranking_against_itself():
    y, a, _ = two_rankings()
    for row in hc.compare(y, {"a": a, "again": a * 2 - 1}, rng=1, n_resamples=200).rows:
        assert (row.difference, row.low, row.high, row.p_value) == (0, 0, 0, 1)


def test_directions_and_levels():
    y, a, b = two_rankings()
    plain = hc.compare(y, {"a": a, "b": b}, rng=1, n_resamples=100)
    turned = hc.compare(y, {"a": -a, "b": b}, rng=1, n_resamples=100, lower_is_better={"a": True})
    graded = hc.compare(y * 3 + 1, {"a": a, "b": b}, rng=1, n_resamples=100, relevance_level=2)
    both = hc.compare(y, {"a": -a, "b": -b}, rng=1, n_resamples=100, lower_is_better=True, workers=2)
    assert plain.rows == turned.rows == graded.rows == both.rows
    assert plain.systems == turned.systems == graded.systems == both.systems


def test_missing_scores():
    y, a, b = two_rankings()
    a[::7] = np.nan
    with pytest.raises(ValueError, match=r"'a': y_score\[0\] is nan"):
        hc.compare(y, {"a": a, "b": b})
    worst = hc.compare(y, {"a": a, "b": b}, nan_policy="worst", rng=1, n_resamples=200)
    low = hc.compare(y, {"a": np.nan_to_num(a, nan=-99), "b": b}, rng=1, n_resamples=200)
    assert worst.rows == low.rows
    kept = ~np.isnan(a)
    omit = hc.compare(y, {"a": a, "b": b}, nan_policy="omit", rng=1, n_resamples=200)
    assert omit.rows == hc.compare(y[kept], {"a": a[kept], "b": b[kept]}, rng=1, n_resamples=200).rows
    assert omit.count == kept.sum()


# --- over queries and groups --------------------------------------------------------------------------------


class Evaluated(means.Evaluated):
    """What an evaluation of runs looks like."""

    def __init__(self, query_ids, values):
        self.query_ids, self.values = query_ids, values


def per_query(queries=25, systems=3, seed=0):
    rng = np.random.default_rng(seed)
    hard = rng.random(queries)
    return {f"s{i}": np.clip(hard + rng.normal(0.05 * i, 0.1, queries), 0, 1) for i in range(systems)}


def test_over_queries():
    values = per_query()
    got = hc.compare(values, rng=1)
    assert [(row.baseline, row.system) for row in got.rows] == [("s0", "s1"), ("s0", "s2"), ("s1", "s2")]
    for row in got.rows:
        d = values[row.system] - values[row.baseline]
        assert row.difference == pytest.approx(d.mean(), rel=1e-12)
        assert row.p_t == pytest.approx(stats.ttest_rel(values[row.system], values[row.baseline]).pvalue, rel=1e-9)
        theirs = stats.permutation_test(
            (d,), np.mean, permutation_type="samples", n_resamples=20_000, **seeded(3)
        )
        assert abs(row.p_value - theirs.pvalue) < 4 * math.sqrt(theirs.pvalue / 9999) + 4e-4
        between = stats.bootstrap((d,), np.mean, method="percentile", **seeded(2)).confidence_interval
        assert_allclose([row.low, row.high], between, atol=0.1 * d.std() / 5 + 1e-9)
        assert row.p_holm >= row.p_value
        assert row.p_tukey >= row.p_value - 0.02
    assert got.unit == "queries"
    assert got.count == 25
    assert hc.compare(values, rng=1).rows == got.rows
    assert [row.system for row in hc.compare(values, baseline="s1", rng=1).rows] == ["s0", "s2"]
    assert hc.compare({"x": values["s0"], "y": values["s1"]}).rows[0].p_tukey is None


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.99])
@pytest.mark.parametrize("seed", range(4))
def test_an_interval_and_its_p_value_are_of_one_procedure(level, seed):
    """The interval lacks 0 where the p-value is below the rest of its level, over queries and over items."""
    rng = np.random.default_rng(seed)
    y = rng.random(300) < 0.2
    scores = {name: rng.random(300) + weight * y for name, weight in (("a", 0.3), ("b", 0.4), ("c", 0.6))}
    over_items = hc.compare(y, scores, confidence_level=level, rng=seed, n_resamples=999)
    assert {row.method for row in over_items.rows} == {"bootstrap", "delong"}
    for row in over_items.rows:
        assert row.p_interval == row.p_value
    rows = hc.compare(per_query(seed=seed), confidence_level=level, rng=seed).rows
    assert {row.method for row in rows} == {"bootstrap"}
    for row in (*rows, *over_items.rows):
        if abs(row.p_interval - (1 - level)) > 0.01:
            assert (row.low > 0 or row.high < 0) == (row.p_interval < 1 - level)


def test_the_p_value_of_an_interval_has_no_value_where_the_interval_has_none():
    for values in ([0.5], [math.nan, math.nan]):
        (row,) = hc.compare({"a": values, "b": values}, rng=0).rows
        assert all(map(math.isnan, (row.low, row.high, row.p_interval)))


def test_evaluations_are_joined_by_query():
    values = per_query(systems=2)
    ids = [f"q{i}" for i in range(25)]
    one = Evaluated(ids, {"AP": values["s0"], "nDCG@10": values["s1"]})
    other = Evaluated(ids[::-1], {"AP": values["s1"][::-1], "nDCG@10": values["s1"][::-1]})
    got = hc.compare({"one": one, "other": other}, measures=["map", "nDCG@10"], rng=1)
    plain = hc.compare({"one": values["s0"], "other": values["s1"]}, measures="AP", rng=1)
    assert got.rows[0] == plain.rows[0]
    assert got.rows[1].measure == "nDCG@10"
    assert got.rows[1].difference == 0
    with pytest.raises(ValueError, match=r"'one' has no P@5: it was evaluated for AP, nDCG@10"):
        hc.compare({"one": one, "other": other}, measures="P@5")
    short = Evaluated(ids[1:], {"AP": values["s0"][1:]})
    problem = "'one' has 25 queries, 'short' has 24: .* but only one of them has 'q0'; missing='zero' counts 0 for "
    for pair in ({"one": one, "short": short}, {"short": short, "one": one}):
        with pytest.raises(ValueError, match=problem if next(iter(pair)) == "one" else "only one of them has 'q0'"):
            hc.compare(pair)
    strange = Evaluated(["x", *ids[1:]], {"AP": values["s0"]})
    with pytest.raises(ValueError, match="query 'q0' of 'one' is not in 'strange'"):
        hc.compare({"one": one, "strange": strange})


def test_groups_are_queries():
    y, a, b = two_rankings(1000, 100)
    groups = np.arange(1000) % 12
    got = hc.compare(y, {"a": a, "b": b}, groups=groups, measures=["AP", "P@10"], rng=1)
    curves = {name: hc.HitCurves(y, s, qid=groups) for name, s in (("a", a), ("b", b))}
    assert got.rows == hc.compare(curves, measures=["AP", "P@10"], rng=1).rows
    assert got.rows[:1] == hc.compare({k: v.average_precision() for k, v in curves.items()}, measures="AP", rng=1).rows
    assert got.unit == "groups"
    assert got.count == 12
    assert got.rows[0].test == "exact randomization"


@pytest.mark.parametrize("name", ["AP", "P@2", "P(rel=2)@2", "nDCG", "RR(rel=2)"])
def test_groups_count_as_in_intervals(name):
    """A group without an item that is relevant for the measure is in no mean; `rel=` says that these are levels."""
    level, a, b = [1, 0, 0, 0, 0, 0, 0, 3, 2, 2, 1, 0, 0, 0, 1], [*range(15)], [3, 1, 2] * 5
    groups, levels = np.repeat([*"vwxyz"], 3), "rel" in name or name == "nDCG"
    kind, y = (hc.GainCurves, level) if levels else (hc.HitCurves, np.minimum(level, 1))
    curves = {system: kind(y, score, qid=groups) for system, score in (("a", a), ("b", b))}
    got = hc.compare(y, {"a": a, "b": b}, groups=groups, measures=name, n_resamples=99, rng=1)
    assert got.rows == hc.compare(curves, measures=name, n_resamples=99, rng=1).rows
    for one in got.systems:
        made = curves[one.system].interval(name, n_resamples=99, rng=1)
        assert (one.value, one.low, one.high) == (made.estimate, *made.confidence_interval)
    assert got.left_out == 5 - got.count == (3 if "rel" in name else 1)


def test_queries_without_a_value():
    values = {"a": np.array([0.1, np.nan, 0.3]), "b": np.array([0.2, np.nan, 0.1])}
    got = hc.compare(values, rng=1)
    assert (got.count, got.left_out) == (2, 1)
    assert "1 query without a value was left out." in str(got)
    with pytest.raises(ValueError, match=r"^value of query 1 is nan for 'a': a value must be finite, or nan in"):
        hc.compare({"a": values["a"], "b": np.array([0.2, 0.5, 0.1])})
    nothing = hc.compare({"a": [math.nan], "b": [math.nan]})
    assert math.isnan(nothing.rows[0].p_value)
    assert "-" in str(nothing)


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("q", [0, 2])
def test_values_that_are_not_finite(bad, q):
    values = {"a": [0.5, 0.25, 0.5], "b": [0.5, 0.25, 0.125]}
    values["b"][q] = bad
    with pytest.raises(ValueError, match=rf"^value of query {q} is {bad} for 'b': a value must be finite"):
        hc.compare(values)
    ids = ["x", "y", "z"]
    systems = {name: Evaluated(ids, {"P@5": np.array(column)}) for name, column in values.items()}
    with pytest.raises(ValueError, match=rf"^P@5 of query '{ids[q]}' is {bad} for 'b': "):
        hc.compare(systems)
    with pytest.raises(ValueError, match=rf"query {q} is {bad} for 'b': "):
        hc.compare(values, rng=1, measures="AP", baseline="a")


def scaled(row, fields, power):
    with np.errstate(over="ignore"):
        return row._replace(**{name: float(np.ldexp(getattr(row, name), power)) for name in fields})


@settings(max_examples=40, deadline=None)
@given(
    values=st.integers(1, 24).flatmap(
        lambda n: st.lists(st.lists(st.integers(-8, 8), min_size=n, max_size=n), min_size=2, max_size=3)
    ),
    power=st.sampled_from([-1070, -600, -300, 300, 600, 900, 1000, 1015, 1020]),
)
def test_finite_values_of_any_size(values, power):
    """Times a power of two, all is times that power; p stays, and is never less than two of all ways."""
    systems = {f"s{i}": np.array(column, float) for i, column in enumerate(values)}
    plain = hc.compare(systems, n_resamples=49, rng=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other = hc.compare({name: np.ldexp(v, power) for name, v in systems.items()}, n_resamples=49, rng=2)
    for rows, fields in ((plain.systems, ("value", "low", "high")), (plain.rows, ("difference", "low", "high"))):
        got = other.systems if rows is plain.systems else other.rows
        for one, two in zip(rows, got, strict=True):
            expected = scaled(one, fields, power)
            if power > -1000:
                assert repr(two) == repr(expected)
            else:  # among subnormal numbers results are rounded
                zero = dict.fromkeys(fields, 0.0)
                assert repr(two._replace(**zero)) == repr(expected._replace(**zero))
                got_values, expected_values = ([getattr(of, name) for name in fields] for of in (two, expected))
                assert_allclose(got_values, expected_values, atol=1e-320)
    for row in other.rows:
        differ = np.count_nonzero(systems[row.system] != systems[row.baseline])
        if row.test == "exact randomization":
            assert row.p_value >= 2.0 ** (1 - max(1, differ))


def test_the_ends_of_the_floats():
    row = hc.compare({"a": [1e308] * 3, "b": [-1e308] * 3}).rows[0]
    assert (row.difference, row.p_value, row.p_t) == (-math.inf, 0.25, 0.0)
    values = {"a": [1.5e308, -1.2e308, 7e307], "b": [1e308, 2e307, 1.7e308]}
    (row,) = hc.compare(values, rng=1).rows
    assert row.difference == float((sum(map(Fraction, values["b"])) - sum(map(Fraction, values["a"]))) / 3)
    assert row.p_t == pytest.approx(stats.ttest_rel(*(np.array(values[name]) / 1e308 for name in "ba")).pvalue)
    tiny = [np.array([1.0, 1e-200, 2e-200]), np.array([1.0, 3e-200, 1e-200])]
    assert hc.compare(dict(zip("ab", tiny, strict=True))).rows[0].p_t == pytest.approx(
        stats.ttest_rel([0, 3, 1], [0, 1, 2]).pvalue
    )


def test_evaluations_are_compared_in_all_they_hold():
    found = {}
    for name, runs in (("x", {"a": 1.0, "b": 2.0}), ("y", {"a": 2.0, "b": 1.0})):
        qrels, run = (dict.fromkeys(("q1", "q2", "q3"), of) for of in ({"a": 1, "c": 1}, runs))
        found[name] = hc.evaluate(qrels, run, ["nDCG@10", "AP", "NumRet", "GMAP", "P@1"])
    got = hc.compare(found)
    assert [row.measure for row in got.rows] == ["nDCG@10", "AP", "P@1"]  # sums and geometric means are no means
    alike = hc.compare(found, measures=["nDCG@10", "AP", "P@1"])
    assert (got.rows, alike.not_compared) == (alike.rows, ())
    assert got.not_compared == hc.compare(found, queries={"q1": "a", "q2": "a"}).not_compared == ("NumRet", "GMAP")
    assert str(got).endswith(" Not compared: NumRet, GMAP (sums and geometric means).")
    boards = [str(hc.Leaderboard(found, **marked)) for marked in ({"baseline": "x"}, {"letters": True})]
    for text in (got.to_markdown("wide"), *boards):
        assert " Not tested: GMAP." in text  # a count has no test either, but nobody looks for its mark
    assert "Not " not in str(alike) + alike.to_markdown("wide")
    assert pickle.loads(pickle.dumps(got)).not_compared == got.not_compared
    more = Evaluated(found["x"].query_ids, {**found["x"].values, "R@5": found["x"].values["AP"]})
    with pytest.raises(ValueError, match="'y' has no R@5: it was evaluated for nDCG@10, AP"):
        hc.compare({"more": more, "y": found["y"]})
    with pytest.raises(ValueError, match="measures is empty: sums and geometric means are not compared: NumRet"):
        hc.compare({name: Evaluated(["q"], {"NumRet": np.ones(1)}) for name in "ab"})


@pytest.mark.parametrize(("measure", "of"), [("GMAP", "AP"), ("gm_map", "AP"), ("GMBpref", "Bpref")])
def test_a_geometric_mean_is_not_compared_by_the_values_of_its_queries(measure, of):
    """Their arithmetic mean is that of another measure: it stood in the tables under the name of the geometric mean."""
    qrels = {f"q{i}": {"a": 1, "b": 0, "c": 1} for i in range(4)}
    runs = {name: {q: {"a": 1.0, "b": shift + i % 2} for i, q in enumerate(qrels)}
            for name, shift in (("x", 0.5), ("y", 2))}  # fmt: skip
    found = hc.evaluate(qrels, runs, [measure, of])
    problem = f"^({measure}|GMAP) is a geometric mean over queries, .* those of {of}, .*: name {of}$"
    curves = {name: one.curves(1) for name, one in found.items()} if of == "AP" else found
    for call in (lambda: hc.compare(found, measures=measure), lambda: hc.plot_evaluations(found, measure=measure),
                 lambda: hc.compare(found, measures=measure, queries=["q1", "q2"]),
                 lambda: hc.compare(curves, measures=measure)):
        with pytest.raises(ValueError, match=problem):
            call()
    assert [one.measure for one in hc.compare(found).systems] == [of, of]


def test_only_students_t_needs_scipy(monkeypatch):
    with_scipy = hc.compare(per_query(systems=2), rng=1)
    for name in [one for one in sys.modules if one.partition(".")[0] == "scipy"] + ["scipy"]:
        monkeypatch.setitem(sys.modules, name, None)
    without = hc.compare(per_query(systems=2), rng=1)
    assert without.systems == with_scipy.systems
    assert without.rows == tuple(row._replace(p_t=None) for row in with_scipy.rows)
    assert str(without).endswith('resamples. Student\'s t needs scipy: pip install ".[stats]" in a checkout.')
    assert "p (t)" not in str(without)
    assert "scipy" not in str(with_scipy)
    y, a, b = two_rankings()
    groups = np.arange(300) % 5
    assert hc.compare(y, {"a": a, "b": b}, groups=groups).rows[0].p_t is None
    assert "scipy" not in str(hc.compare(y, {"a": a, "b": b}, n_resamples=99))
    with pytest.raises(ModuleNotFoundError, match=r"pip install \"\.\[stats\]\" in a checkout"):
        hc.HitCurves(y, a, qid=groups).interval(method="t")


def test_the_intervals_of_systems_are_those_of_the_curves():
    """One procedure for one number: of a ranking, of a mean over queries or groups, to the bit."""
    y, a, b = two_rankings(step=0.5)
    for method in (None, "bootstrap"):
        for stratified in (False, True):
            options = {"method": method, "stratified": stratified, "n_resamples": 99, "rng": 3, "ties": "worst"}
            got = hc.compare(y, {"a": a, "b": b}, measures=["AP", "ROCAUC", "EF@5%", "AP@10"], **options)
            for one in got.systems:
                alone = hc.HitCurve(y, {"a": a, "b": b}[one.system]).interval(one.measure, **options)
                assert one[2:] == (alone.estimate, *alone.confidence_interval, alone.method)
    groups = np.arange(300) % 30
    curves = {name: hc.HitCurves(y, s, qid=groups) for name, s in (("a", a), ("b", b), ("c", -a))}
    for rng in (3, np.random.default_rng(3)):
        for one in hc.compare(curves, measures="P@5", n_resamples=99, rng=rng).systems:
            alone = curves[one.system].interval("P@5", n_resamples=99, rng=3)
            assert one[2:] == (alone.estimate, *alone.confidence_interval, "bootstrap")


def test_seeds():
    values = per_query()
    generator = np.random.default_rng(1)
    first, second = hc.compare(values, rng=generator), hc.compare(values, rng=generator)
    assert first.rows != second.rows
    assert first.rows == hc.compare(values, rng=np.random.default_rng(1)).rows
    y, a, b = two_rankings()
    one, two, four = (hc.compare(y, {"a": a, "b": b}, rng=1, workers=w, n_resamples=500).rows for w in (1, 2, -1))
    assert one == two == four


def test_resamples_grow_with_the_pairs():
    """A p-value of random resamples is at least 1 / (n + 1), and Holm's correction multiplies it by the pairs."""
    rng = np.random.default_rng(1)
    hard, good = rng.random(30), 0.4 * (np.arange(40) % 2)
    values = {f"s{i:02}": hard + good[i] + rng.normal(0, 0.05, 30) for i in range(40)}
    got = hc.compare(values, rng=1)
    assert (len(got.rows), got.n_resamples, got.n_bootstrap) == (780, 155_999, 9999)
    assert 10 * 780 / 0.05 == 155_999 + 1
    assert {row.test for row in got.rows} == {"randomization"}
    for row in got.rows:
        assert (row.p_holm <= 0.05) == (abs(row.difference) > 0.2)
    assert "randomization test (155999 resamples). Intervals and p (bootstrap): 9999 resamples." in str(got)
    against_one = hc.compare(values, baseline="s01", rng=1)
    assert against_one.n_resamples == 9999
    assert hc.compare(dict(list(values.items())[:11]), confidence_level=0.9, rng=1).n_resamples == 9999
    assert hc.compare(dict(list(values.items())[:11]), confidence_level=0.99, rng=1).n_resamples == 54_999
    assert hc.compare(dict(list(values.items())[:3]), confidence_level=0.99999, rng=1).n_resamples == 1_000_000
    y = rng.random(200) < 0.3
    scores = {f"s{i:02}": rng.random(200) + y * i / 8 for i in range(8)}
    over_items = hc.compare(y, scores, measures="P@10", rng=1)
    assert (over_items.n_resamples, over_items.n_bootstrap) == (5599, 5599)
    assert hc.compare(y, scores, measures="P@10", baseline="s00", rng=1).n_resamples == 1999


def test_resamples_of_items_grow_while_they_are_affordable(monkeypatch):
    rng = np.random.default_rng(3)
    y = rng.random(20) < 0.3
    scores = {f"s{i:02}": rng.random(20) + 9 * y * (i > 5) for i in range(12)}
    grown = 10 * 66 * 20 - 1
    with monkeypatch.context() as patch:
        patch.setattr(comparison, "_AFFORDABLE", 20 * 12 * grown)
        assert hc.compare(y, scores, measures="P@5", rng=1).n_resamples == grown
        patch.setattr(comparison, "_AFFORDABLE", 20 * 12 * grown - 1)
        too_few = "1999 resamples are too few: no p-value from them, corrected for 66 pairs, can be 0.05 or less."
        with pytest.warns(UserWarning, match=f"^{re.escape(too_few)} At least 2639 are needed.$"):
            got = hc.compare(y, scores, measures="P@5", rng=1)
        assert got.n_resamples == 1999 and too_few in str(got)
        assert hc.compare(y, scores, measures="P@5", n_resamples=2639, rng=1).n_resamples == 2639
        queries = {name: rng.random(30) for name in scores}
        assert hc.compare(queries, rng=1).n_resamples == grown  # of queries they cost little
    assert comparison.enough(1225, 0.95, 1999, 50 * 816) == 244_999
    assert comparison.enough(1225, 0.95, 1999, 50 * 817) == 1999
    assert comparison.enough(1, 0.95, 1999, 2 * 10**9) == 1999


def test_too_few_resamples():
    """Where no difference can be significant, a warning and the foot of every table say so."""
    rng = np.random.default_rng(2)
    values = {f"s{i}": rng.random(30) + i for i in range(4)}
    too_few = "99 resamples are too few: no p-value from them, corrected for 6 pairs, can be 0.05 or less."
    with pytest.warns(UserWarning, match=f"^{re.escape(too_few)} At least 119 are needed.$") as caught:
        got = hc.compare(values, n_resamples=99, rng=1)
    assert caught[0].filename == __file__
    assert min(row.p_holm for row in got.rows) == 6 / 100
    wide = got.to_markdown("wide")
    for text in (str(got), got.to_markdown(), wide, got.to_latex("wide"), got.to_html("wide")):
        assert too_few in text
    assert "too few" not in got.to_markdown("wide", alpha=0.06)
    assert "too few" not in got.to_markdown("wide", p="p_value")
    assert "too few" not in got.to_markdown("wide", p="p_t", alpha=1e-9)
    for p, least in (("p_value", 999), ("p_tukey", 999), ("p_interval", 1999)):
        foot = f"99 resamples are too few: no p-value from them can be 0.001 or less. At least {least} are needed."
        assert foot in got.to_markdown("wide", p=p, alpha=0.001)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        enough = hc.compare(values, n_resamples=119, rng=1)
        assert all(row.p_holm == pytest.approx(0.05) for row in enough.rows)
        assert "<sup>" in enough.to_markdown("wide")
        few_queries = {name: column[:8] for name, column in values.items()}
        hc.compare(few_queries, n_resamples=1, rng=1)  # exact tests need none
    y = rng.random(100) < 0.3
    with pytest.warns(UserWarning, match="^20 resamples are too few.* for 1 pair, .* At least 39 are needed.$"):
        hc.compare(y, {"a": rng.random(100), "b": rng.random(100)}, n_resamples=20, rng=1)


def test_p_values_depend_on_the_values_alone():
    values = per_query(queries=40, systems=4)
    values["again"] = values["s1"].copy()
    got = {(row.baseline, row.system): row for row in hc.compare(values, rng=1).rows}
    back = dict(reversed(values.items()))
    turned = {(row.system, row.baseline): row for row in hc.compare(back, rng=1, workers=2).rows}
    for pair, row in got.items():
        for name in ("p_value", "p_holm", "p_t", "p_tukey", "p_interval"):
            assert getattr(row, name) == getattr(turned[pair], name), (pair, name)
        for name in ("p_value", "p_t", "p_tukey", "p_interval"):
            if "s1" in pair and "again" not in pair:
                other = next(got[one] for one in got if "again" in one and {*pair} - {"s1"} == {*one} - {"again"})
                assert getattr(row, name) == getattr(other, name)
    with_gaps = {name: np.insert(column, [3, 17, 40], np.nan) for name, column in values.items()}
    assert hc.compare(with_gaps, rng=1).rows == tuple(got.values())


# --- tables -------------------------------------------------------------------------------------------------


def test_text_table():
    got = hc.compare({"A": [0.1, 0.5, 0.3, 0.2], "B_1": [0.3, 0.6, 0.5, 0.2]}, rng=1)
    assert (
        str(got)
        == """\
measure  system    mean     95 % interval         by
value    A       0.2750  0.1500 to 0.4250  bootstrap
value    B_1     0.4000  0.2500 to 0.5500  bootstrap

measure  system  baseline  difference       95 % interval         by  p (bootstrap)  p (randomization)  p (Holm)   p (t)
value    B_1     A            +0.1250  +0.0500 to +0.2000  bootstrap         0.0074             0.2500    0.2500  0.0796

4 queries. All p are two-sided. p (randomization) and p (Holm): exact randomization test. \
Intervals and p (bootstrap): 9999 resamples."""
    )
    assert repr(got) == "Comparison(1 difference over 4 queries)"
    markdown = got.to_markdown().splitlines()
    assert markdown[0] == "| measure | system | mean | 95 % interval | by |"
    assert markdown[1] == "| --- | --- | --: | --: | --: |"
    row = "| value | B_1 | A | +0.1250 | +0.0500 to +0.2000 | bootstrap | 0.0074 | 0.2500 | 0.2500 | 0.0796 |"
    assert markdown[-3] == row
    latex = got.to_latex()
    row = r"value & B\_1 & A & +0.1250 & +0.0500 to +0.2000 & bootstrap & 0.0074 & 0.2500 & 0.2500 & 0.0796 \\"
    assert row in latex
    assert r"95 \% interval" in latex
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 2


def shown(cell):
    """What a reader of Markdown sees of a cell in which nothing is marked up; an error if anything is."""
    plain = re.sub(r"(?<=[^\W_])_(?=[^\W_])", "", re.sub(r"\\.|&(amp|lt|gt);", "", cell))
    assert not re.search(r"[&<>\\`*_\[\]|~$\n\r]", plain), cell
    return unescape(re.sub(r"\\(.)", r"\1", cell))


names = st.text(st.sampled_from("aZ0 _|\\`*[]()<>/&!#~$=+-.:\n\r\u2028é") | st.characters(codec="utf-8"), max_size=8)


@few(25)
@given(st.lists(names, min_size=2, max_size=2, unique_by=lambda name: " ".join(name.split())))
@example(["<script>alert(1)</script>", "a\nb\r\nc"])
@example(["a|b\\|c", "**x** `y` [z](w) &amp; $v$ ~~u~~ __t__ s_r"])
def test_names_are_shown_letter_by_letter(two):
    plain = hc.compare({"A": [0.1, 0.5, 0.3, 0.2], "B": [0.3, 0.6, 0.5, 0.2]}, rng=1, n_resamples=9)
    got = copy(plain)
    got.systems = tuple(one._replace(system=name) for one, name in zip(plain.systems, two, strict=True))
    got.rows = (plain.rows[0]._replace(baseline=two[0], system=two[1]),)
    lines, before = (one.to_markdown().split("\n") for one in (got, plain))
    assert len(lines) == len(before)
    assert len(str(got).splitlines()) == len(str(plain).splitlines())
    for line in got.to_latex().splitlines():  # a command, a comment, or a row with both ends
        assert not line or re.match(r"\\|[{}%]", line) or re.match(r"(measure|value) & .* \\\\$", line), line
    for line, simple, name in zip(lines[2:4], before[2:4], two, strict=True):
        assert re.sub(r"\\.", "", line).count("|") == simple.count("|")
        cell = line.removeprefix("| value | ").removesuffix(simple[len("| value | A") :])
        assert shown(cell) == one_line(name)


def test_every_line_of_latex_has_all_columns():
    y, a, b = two_rankings()
    text = hc.compare(y, {"a&b": a, "c|d": b, "e\\f~^": -a}, rng=1, n_resamples=200).to_latex()
    for line in text.splitlines():
        if line.endswith(r"\\"):
            assert line.replace(r"\&", "").count(" & ") in (4, 7)
    assert r"e\textbackslash{}f\textasciitilde{}\textasciicircum{}" in text
    assert r"$<$0.0001" in text


# --- what is refused ----------------------------------------------------------------------------------------


Y, A, B = two_rankings(50, 10)
FOUND = hc.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "AP")


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: hc.compare(Y), TypeError, "one mapping of per-query results; got ndarray alone"),
        (lambda: hc.compare(Y, A), TypeError, "y_score must be a mapping of names to scores, got ndarray"),
        (lambda: hc.compare(FOUND, FOUND), TypeError, r"got Evaluation: pass both .* in one list, compare\(\["),
        (lambda: hc.compare(Y, {"a": A}), ValueError, "compare needs two systems or more, got 1"),
        (lambda: hc.compare(Y, {1: A, 2: B}), TypeError, "y_score has the key 1: the name of a system must be a "
                                                         "string"),
        (
            lambda: hc.compare(Y, {"a": A, "b": B}, baseline="c"),
            ValueError,
            "baseline='c' is not one of the systems: 'a', 'b'",
        ),
        (lambda: hc.compare(Y, {"a": A, "b": B[:9]}), ValueError, "'b': y_true has 50 items, y_score has 9"),
        (lambda: hc.compare(Y, {"a": A, "b": B[:9]}, groups=Y), ValueError, "'b': "),
        (lambda: hc.compare(Y, {"a": A, "b": B}, measures=[]), ValueError, "measures is empty"),
        (lambda: hc.compare(Y, {"a": A, "b": B}, measures="XX"), ValueError, "there is no measure 'XX'"),
        (lambda: hc.compare(Y, {"a": A, "b": B}, measures="AP", method="delong"), ValueError, "not available for AP"),
        (
            lambda: hc.compare(Y, {"a": A, "b": B}, measures="ROCAUC", method="delong", ties="worst"),
            ValueError,
            "needs ties='expected' or 'threshold', got ties='worst'",
        ),
        (lambda: hc.compare(Y, {"a": A, "b": B}, method="t"), ValueError, "method='t' is unknown"),
        (lambda: hc.compare(Y, {"a": A, "b": B}, groups=Y, method="delong"), ValueError, "combined with groups"),
        (lambda: hc.compare({"a": [1.0], "b": [2.0]}, groups=[1]), ValueError, "groups needs labels and scores"),
        (lambda: hc.compare({"a": [1.0], "b": ["x"]}), TypeError, r"'b'\[0\] is 'x'.* must be an evaluation"),
        (lambda: hc.compare({"a": [1.0], "b": object()}), TypeError, "'b' is of type object: .* must be an evaluation"),
        (lambda: hc.compare({"a": [1.0], "b": [[1.0]]}), TypeError, r"'b' has shape \(1, 1\): .* be an evaluation"),
        (lambda: hc.compare(Y, {"a": A, "b": B}, lower_is_better={"c": True}), ValueError, "lower_is_better names 'c'"),
        (lambda: hc.compare(Y, {"a": A, "b": B}, confidence_level=2), ValueError, "confidence_level is 2"),
        (lambda: hc.compare(Y, {"a": A, "b": B}, n_resamples=0), ValueError, "n_resamples is 0"),
        (lambda: hc.compare(Y, {"a": A, "b": B[:9]}, nan_policy="omit"), ValueError, "scores 'b' have shape"),
    ],
)
def test_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_arrays_have_no_name_of_a_measure_that_they_may_not_hold():
    """nDCG in arrays stood in tables as AP."""
    values = {"a": np.array([0.5, 0.25, 1.0]), "b": np.array([0.5, 0.5, 0.25])}
    for paired in (True, False):
        for asked, title in ((None, "value"), ("nDCG@10", "nDCG@10"), ("my measure", "my measure")):
            got = hc.compare(values, measures=asked, paired=paired, rng=1, n_resamples=99)
            assert {row.measure for row in (*got.systems, *got.rows)} == {title}
            assert ("AP" in str(got), title in got.to_latex("wide")) == (False, True)
    curves = hc.HitCurves([[1, 0], [0, 1]], [[2, 1], [2, 1]])
    assert hc.compare({"a": curves, "b": curves}, rng=1, n_resamples=9).rows[0].measure == "AP"
    assert hc.compare({"a": curves, "b": [1.0, 0.5]}, rng=1, n_resamples=9).rows[0].measure == "AP"


@pytest.mark.parametrize("kind", [object, "f2", "f4", ">f8", np.longdouble])
def test_values_of_queries_of_any_type_of_array(kind):
    """As labels and scores are read: an array of objects is not refused where a list of them is taken."""
    values, other = [0.5, 0.25, 1.0, 0.125], [0.5, 0.5, 0.25, 0.0]
    expected = hc.compare({"a": values, "b": other}, rng=1)
    found = hc.compare({"a": np.array(values, dtype=kind), "b": np.array(other)}, rng=1)
    assert (found.systems, found.rows) == (expected.systems, expected.rows)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_frame_of_scores(kind):
    library = pytest.importorskip(kind)
    y, a, b = two_rankings(200, 20)
    make = library.table if kind == "pyarrow" else library.DataFrame
    how = {"lower_is_better": {"a": True}, "rng": 1, "n_resamples": 99}
    assert hc.compare(y, make({"a": a, "b": b}), **how).rows == hc.compare(y, {"a": a, "b": b}, **how).rows


def test_inputs_are_left_as_they_were():
    y, a, b = (column.copy() for column in (Y, A, B))
    hc.compare(y, {"a": a, "b": b}, rng=1, n_resamples=40)
    for before, after in ((Y, y), (A, a), (B, b)):
        assert np.array_equal(before, after)


def test_few_items():
    for labels in ([1, 0], [0, 0], [1, 1]):
        got = hc.compare(labels, {"a": [2, 1], "b": [1, 2]}, rng=1, n_resamples=40)
        assert len(got.rows) == 2
        str(got)
