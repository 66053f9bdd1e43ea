"""Tests of paired differences against scipy, enumeration and plain matrices."""

import math
from itertools import permutations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from hitcurve.statistics.paired import delong_covariance, holm, normal_p, paired_randomization, paired_t, tukey


def differences(queries, seed=0, shift=0.1):
    return np.random.default_rng(seed).normal(shift, 0.3, queries)


@pytest.mark.parametrize("queries", [2, 5, 11])
@pytest.mark.parametrize("shift", [0.0, 0.1, 0.5])
def test_exact_randomization_is_scipys(queries, shift):
    d = differences(queries, seed=queries, shift=shift)
    theirs = stats.permutation_test(
        (d, np.zeros_like(d)),
        lambda a, b: np.mean(a - b),
        permutation_type="samples",
        vectorized=False,
        n_resamples=np.inf,
    )
    p, exact = paired_randomization(d)
    assert exact
    assert p == pytest.approx(theirs.pvalue, rel=1e-12)


def test_randomization_counts_equal_sums():
    """0.1 + 0.2 and 0.3 are not the same float, but the same difference."""
    d = np.array([0.1, 0.2, -0.3, 0.3, 0.1])
    whole = [1, 2, -3, 3, 1]
    ways = [abs(sum(s * abs(x) for s, x in zip(signs, whole, strict=True))) for signs in product([1, -1], repeat=5)]
    assert paired_randomization(d)[0] == pytest.approx(np.mean(np.array(ways) >= abs(sum(whole))))


def test_queries_that_do_not_differ_change_nothing():
    d = differences(10, shift=0.3)
    assert paired_randomization(np.append(d, np.zeros(500))) == paired_randomization(d)
    assert paired_randomization(np.zeros(5)) == (1.0, True)
    assert paired_randomization(np.array([0.3])) == (1.0, True)
    assert paired_t(np.zeros(5)) == 1.0


def test_drawn_randomization_is_near_the_exact_one():
    d = differences(20, seed=4, shift=0.12)
    exact, known = paired_randomization(d)
    assert known
    drawn, known = paired_randomization(np.append(d, [1e-9, -1e-9]), n_resamples=20_000, rng=1)
    assert not known
    assert abs(drawn - exact) < 4 * math.sqrt(exact * (1 - exact) / 20_000)
    assert paired_randomization(np.full(40, 1.0), n_resamples=999, rng=1)[0] == 1 / 1000


@pytest.mark.parametrize("queries", [2, 3, 10, 200])
def test_student_is_scipys(queries):
    d = differences(queries)
    assert_allclose(paired_t(d), stats.ttest_rel(d, np.zeros_like(d)).pvalue, rtol=1e-10)


def test_student_at_the_edges():
    assert math.isnan(paired_t(np.array([0.3])))
    assert paired_t(np.full(4, 0.25)) == 0.0


def test_holm():
    assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])  # Holm's own steps, by hand
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([0.2]) == [0.2]
    assert holm([]) == []
    corrected = holm([0.01, math.nan, 0.02])
    assert math.isnan(corrected[1])
    assert corrected[0] == 0.02
    assert corrected[2] == 0.02


def test_tukey_against_every_order():
    values = np.random.default_rng(2).random((4, 3)) + np.array([0.0, 0.3, 0.5])
    ranges = []
    for orders in product(permutations(range(3)), repeat=4):
        means = np.mean([values[q, order] for q, order in enumerate(orders)], axis=0)
        ranges.append(means.max() - means.min())
    ranges = np.array(ranges)
    p = tukey(values, 20_000, 1)
    means = values.mean(axis=0)
    for i in range(3):
        for j in range(3):
            exact = 1.0 if i == j else np.mean(ranges >= abs(means[i] - means[j]) - 1e-12)
            assert abs(p[i, j] - exact) < 4 * math.sqrt(0.25 / 20_000) + 1e-4


def test_tukey_of_two_systems_is_paired_randomization():
    values = np.random.default_rng(3).random((12, 2)) + np.array([0.0, 0.15])
    p = tukey(values, 20_000, 1)[0, 1]
    exact = paired_randomization(values[:, 1] - values[:, 0])[0]
    assert abs(p - exact) < 4 * math.sqrt(exact * (1 - exact) / 20_000)


def test_tukey_corrects():
    """More systems, less significance; and the pair's own p is never above."""
    values = np.random.default_rng(5).normal(0, 0.2, (60, 6)) + np.array([0, 0, 0, 0, 0.05, 0.12])
    p = tukey(values, 5000, 1)
    for i in range(6):
        for j in range(i):
            alone = paired_randomization(values[:, i] - values[:, j], 5000, 2)[0]
            assert p[i, j] >= alone - 0.03
    assert_allclose(p, p.T)


def test_delong_covariance_is_that_of_numpy():
    rng = np.random.default_rng(0)
    hit, other = rng.random((9, 3)), rng.random((30, 3))
    one = delong_covariance(hit, np.ones(9, int), other, np.ones(30, int))
    assert_allclose(one, np.cov(hit.T) / 9 + np.cov(other.T) / 30, rtol=1e-12)
    weight = rng.integers(1, 4, 9)
    many = delong_covariance(hit, weight, other, np.ones(30, int))
    repeated = np.repeat(hit, weight, axis=0)
    assert_allclose(many, np.cov(repeated.T) / len(repeated) + np.cov(other.T) / 30, rtol=1e-12)


def test_normal_p():
    assert normal_p(1.959963984540054, 1.0) == pytest.approx(0.05)
    assert normal_p(0.0, 0.0) == 1.0
    assert normal_p(0.1, 0.0) == 0.0
    assert math.isnan(normal_p(0.1, math.nan))
