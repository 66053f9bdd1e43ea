"""Systems that share no query: tests of independent samples by scipy and enumeration, and `compare(paired=False)`."""

import math
import pickle
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from draws import seeded
from scipy import stats

import hitcurve as hc
from hitcurve.statistics.unpaired import unpaired_permutation, welch_t


def samples(sizes, seed=0, digits=None):
    rng = np.random.default_rng([seed, *sizes])
    values = [rng.random(size) + 0.15 * at for at, size in enumerate(sizes)]
    return [np.round(one, digits) for one in values] if digits is not None else values


def theirs(first, second, **options):
    return stats.permutation_test(
        (second, first), lambda x, y, axis: x.mean(axis=axis) - y.mean(axis=axis), vectorized=True,
        permutation_type="independent", **options).pvalue  # fmt: skip


SIZES = [(1, 1), (1, 5), (2, 3), (5, 4), (6, 6), (10, 3), (8, 9)]


@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("sizes", SIZES[2:])  # scipy takes two values or more
def test_exact_permutation_is_scipys(sizes, digits):
    first, second = samples(sizes, digits=digits)
    p, exact = unpaired_permutation(first, second)
    assert exact
    assert p == pytest.approx(theirs(first, second, n_resamples=np.inf), rel=1e-12)


@pytest.mark.parametrize("sizes", SIZES[:-1])
def test_exact_permutation_by_enumeration(sizes):
    """In fractions, where equal sums are equal."""
    first, second = ([Fraction(round(10 * x), 10) for x in one] for one in samples(sizes, seed=1, digits=1))
    pooled, observed = first + second, sum(second) / len(second) - sum(first) / len(first)
    ways = []
    for chosen in combinations(range(len(pooled)), len(first)):
        one = [pooled[i] for i in chosen]
        ways.append((sum(pooled) - sum(one)) / len(second) - sum(one) / len(first))
    tails = sum(way >= observed for way in ways), sum(way <= observed for way in ways)
    p, exact = unpaired_permutation(*(np.array(one, float) for one in (first, second)))
    assert exact
    assert p == pytest.approx(float(min(1, 2 * Fraction(min(tails), len(ways)))), rel=1e-12)


def test_random_permutation_is_near_the_exact_one():
    first, second = samples((16, 14), seed=3)
    exact, _ = unpaired_permutation(first, second)
    more = np.append(first, [0.5])
    p, is_exact = unpaired_permutation(more, second, 19999, 0)
    assert not is_exact
    reference = theirs(more, second, n_resamples=99999, **seeded(0), batch=1000)
    assert p == pytest.approx(reference, abs=4 * math.sqrt(2 * exact / 19999) + 0.005)
    assert unpaired_permutation(more, second, 999, 0) == unpaired_permutation(more[::-1], second, 999, 0, 2)
    assert unpaired_permutation(more, second, 999, 0) == unpaired_permutation(second, more, 999, 0)
    assert unpaired_permutation(first + 9, second[:14], 999, 0)[0] < 0.01


@pytest.mark.parametrize("sizes", [(2, 2), (2, 7), (5, 4), (30, 50)])
def test_welch_is_scipys(sizes):
    first, second = samples(sizes, seed=2)
    expected = stats.ttest_ind(second, first, equal_var=False).pvalue
    assert welch_t(first, second) == pytest.approx(expected, rel=1e-12)
    assert welch_t(second, first) == pytest.approx(expected, rel=1e-12)
    for power in (-1000, 1000):  # squares would be 0 or infinite
        assert welch_t(np.ldexp(first, power), np.ldexp(second, power)) == pytest.approx(expected, rel=1e-12)


def test_welch_of_few_or_equal_values():
    assert math.isnan(welch_t(np.array([0.5]), np.array([0.1, 0.4])))
    assert welch_t(np.ones(3), np.ones(4)) == 1.0
    assert welch_t(np.ones(3), np.zeros(4)) == 0.0


def test_compare_without_pairs():
    first, second = samples((40, 50), seed=5)
    first[3] = math.nan
    found = hc.compare({"2023": first, "2024": second}, measures="AP", paired=False, rng=4, n_resamples=2999)
    (row,), kept = found.rows, first[~np.isnan(first)]
    assert (found.paired, found.counts, found.count, found.left_out) == (False, {"2023": 39, "2024": 50}, 89, 1)
    assert row.difference == pytest.approx(second.mean() - kept.mean(), rel=1e-13)
    assert row.p_t == pytest.approx(stats.ttest_ind(second, kept, equal_var=False).pvalue, rel=1e-12)
    assert (row.test, row.p_tukey, row.method) == ("permutation", None, "bootstrap")
    error = math.sqrt(second.var(ddof=1) / 50 + kept.var(ddof=1) / 39)
    assert row.high - row.low == pytest.approx(2 * 1.96 * error, rel=0.1)  # the samples are drawn apart
    text = str(found)
    assert "89 queries (2023: 39, 2024: 50)" in text
    assert "p (Welch)" in text
    assert "p (permutation) and p (Holm): permutation test (2999 resamples)" in text
    assert "Welch's t test" in found.to_markdown("wide", p="p_t")
    assert pickle.loads(pickle.dumps(found)).rows == found.rows
    again = hc.compare({"2023": first, "2024": second}, measures="AP", paired=False, rng=4, n_resamples=2999, workers=2)
    assert again.rows[0] == row
    swapped = hc.compare({"2024": second, "2023": first}, paired=False, rng=4, n_resamples=2999).rows[0]
    assert (swapped.p_value, swapped.difference) == (row.p_value, -row.difference)
    of_system = {one.system: one for one in found.systems}["2024"]
    assert of_system[2:5] == hc.compare({"x": second, "y": second}, rng=4, n_resamples=2999).systems[0][2:5]


def test_several_years_and_no_values():
    values = dict(zip("abc", samples((6, 7, 5)), strict=True))
    found = hc.compare(values, paired=False, rng=0)
    assert [(row.baseline, row.system) for row in found.rows] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert all(row.p_holm >= row.p_value for row in found.rows)
    with pytest.raises(ValueError, match="p='p_tukey' was not computed"):
        found.to_latex("wide", p="p_tukey")
    empty = hc.compare({"a": [math.nan, math.nan], "b": [0.5, 0.25]}, paired=False, rng=0)
    assert math.isnan(empty.rows[0].difference)
    assert empty.left_out == 2
    huge = hc.compare({"a": [1e308, 1.5e308, 1e308], "b": [1e307, 2e307, 3e307]}, paired=False, rng=0).rows[0]
    assert math.isfinite(huge.difference)
    with pytest.raises(ValueError, match=r"value of query 1 is inf for 'b': a value must be finite or nan"):
        hc.compare({"a": [0.5], "b": [0.5, math.inf]}, paired=False)


def run_of(queries):
    return {query: {"a": 2.0, "b": 1.0} for query in queries}


def judged(queries):
    return {query: {"a": at % 2, "b": 1} for at, query in enumerate(queries)}


def test_evaluations_of_two_years():
    old, new = ([f"{year}-{i}" for i in range(7)] for year in (2023, 2024))
    a, b = (hc.evaluate(judged(ids), run_of(ids), "AP", name=ids[0][:4]) for ids in (old, new))
    found = hc.compare([a, b], paired=False, rng=0)
    assert found.rows[0].difference == 0
    assert found.rows[0].p_value == 1
    with pytest.raises(ValueError, match=r"the same queries; for systems that share no query, .* paired=False"):
        hc.compare([a, b])
    with pytest.raises(ValueError, match=r"'2024' and 'again' share 7 queries, such as '2024-0': .* paired=False"):
        hc.compare({"2024": b, "again": b}, paired=False)
    with pytest.raises(ValueError, match=r"'a' has 2 queries, 'b' has 3: .*paired=False"):
        hc.compare({"a": [0.1, 0.2], "b": [0.1, 0.2, 0.3]})
    both = {**dict.fromkeys(old, "old"), **dict.fromkeys(new[:3], "new")}
    strata = hc.compare([a, b], queries={q: "first" for q in both if q.endswith(("0", "1", "2"))}, paired=False, rng=0)
    assert strata.strata["first"].counts == {"2023": 3, "2024": 3}


def test_labels_and_scores_are_refused():
    for more, name in (({"paired": False}, "paired=False"), ({"queries": ["q"]}, "queries")):
        with pytest.raises(ValueError, match=f"{name} needs per-query results"):
            hc.compare([0, 1], {"a": [0.1, 0.2], "b": [0.2, 0.1]}, **more)
    with pytest.raises(TypeError, match="paired"):
        hc.compare({"a": [0.1], "b": [0.2]}, paired="no")
