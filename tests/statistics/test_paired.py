"""Tests of paired differences against scipy, enumeration and plain matrices."""

import math
from itertools import combinations, permutations, product

import numpy as np
import pytest
from draws import seeded
from numpy.testing import assert_allclose
from scipy import stats

from hitcurve.statistics.paired import delong_covariance, holm, normal_p, paired_randomization, paired_t, tukey


def one_pair(difference, n_resamples=9999, rng=None):
    values = np.stack([np.zeros_like(difference), difference], axis=1)
    return paired_randomization(values, [(0, 1)], n_resamples, rng)[0]


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
    p, exact = one_pair(d)
    assert exact
    assert p == pytest.approx(theirs.pvalue, rel=1e-12)


def test_randomization_counts_equal_sums():
    """0.1 + 0.2 and 0.3 are not the same float, but the same difference."""
    d = np.array([0.1, 0.2, -0.3, 0.3, 0.1])
    whole = [1, 2, -3, 3, 1]
    ways = [abs(sum(s * abs(x) for s, x in zip(signs, whole, strict=True))) for signs in product([1, -1], repeat=5)]
    assert one_pair(d)[0] == pytest.approx(np.mean(np.array(ways) >= abs(sum(whole))))


def test_queries_that_do_not_differ_change_nothing():
    d = differences(10, shift=0.3)
    assert one_pair(np.append(d, np.zeros(500))) == one_pair(d)
    assert one_pair(np.zeros(5)) == (1.0, True)
    assert one_pair(np.array([0.3])) == (1.0, True)
    assert paired_t(np.zeros(5)) == 1.0


def test_drawn_randomization_is_near_the_exact_one():
    d = differences(20, seed=4, shift=0.12)
    exact, known = one_pair(d)
    assert known
    drawn, known = one_pair(np.append(d, [1e-9, -1e-9]), n_resamples=20_000, rng=1)
    assert not known
    assert abs(drawn - exact) < 4 * math.sqrt(exact * (1 - exact) / 20_000)
    assert one_pair(np.full(40, 1.0), n_resamples=999, rng=1)[0] == 1 / 1000


def slow_randomization(values, pairs, n_resamples, rng):
    """The same of the same signs, by plain sums of each pair's differences."""
    queries = len(values)
    words = -(-queries // 32)
    signs = []
    seed = [int(word) for word in np.random.default_rng(rng).integers(0, 1 << 32, 8, np.uint64)]
    for chunk in range(-(-n_resamples // 16384)):
        draws = np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(chunk,))))
        for _ in range(-(-min(16384, n_resamples - 16384 * chunk) // 1024)):
            drawn = draws.integers(0, 1 << 32, (words, 1024), np.uint32)
            bits = np.unpackbits(drawn.astype("<u4").view(np.uint8).reshape(words, 1024, 4), axis=2, bitorder="little")
            signs.append(np.moveaxis(bits, 1, 0).reshape(1024, 32 * words)[:, :queries] * 2.0 - 1)
    signs = np.concatenate(signs)[:n_resamples]
    found = []
    for a, b in pairs:
        d = [y - x for x, y in zip(values[:, a].tolist(), values[:, b].tolist(), strict=True)]
        kept = [x for x in d if x]
        least = abs(math.fsum(d)) - 1e-12 * math.fsum(map(abs, d))
        if len(kept) <= 20:
            sums = np.zeros(1)
            for x in kept:
                sums = np.concatenate([sums + x, sums - x])
            found.append((float(np.mean(np.abs(sums) >= least)), True))
        else:
            sums = [abs(math.fsum((row * d).tolist())) for row in signs]
            found.append(((sum(one >= least for one in sums) + 1) / (n_resamples + 1), False))
    return found


def kinds_of_values(kind, queries, systems, seed):
    rng = np.random.default_rng(seed)
    hard = rng.random(queries)
    noise = rng.normal(0, 1, (queries, systems))
    if kind == "smooth":
        return np.clip(hard[:, None] + 0.1 * noise, 0, 1)
    if kind == "tenths":  # many sums are equal, and few of their last bits are
        return np.round(np.clip(hard[:, None] + 0.2 * noise, 0, 1), 1)
    if kind == "nearly equal":  # the differences are multiples of a small one: sums of values would lose the ties
        return hard[:, None] + rng.integers(-2, 3, (queries, systems)) * 1e-11
    if kind == "few differ":
        return np.where(rng.random((queries, systems)) < 15 / queries, noise, hard[:, None])
    return noise * 10.0 ** rng.integers(-12, 12, (queries, 1))  # scales


@pytest.mark.parametrize("kind", ["smooth", "tenths", "nearly equal", "few differ", "scales"])
@pytest.mark.parametrize(("queries", "systems", "count"), [(21, 6, 999), (50, 5, 2500), (64, 3, 1024), (130, 4, 100)])
def test_all_pairs_against_plain_sums(kind, queries, systems, count):
    values = kinds_of_values(kind, queries, systems, seed=queries)
    values[:, -1] = values[:, 0]  # a system twice
    pairs = list(combinations(range(systems), 2))
    found = paired_randomization(values, pairs, count, 3)
    assert found == slow_randomization(values, pairs, count, 3)
    assert found == paired_randomization(values, pairs, count, 3, workers=2)
    by_pair = dict(zip(pairs, found, strict=True))
    for other in range(1, systems - 1):
        assert by_pair[0, other] == by_pair[other, systems - 1]


@pytest.mark.parametrize("kind", ["smooth", "tenths", "nearly equal", "scales"])
def test_the_order_of_the_systems_changes_nothing(kind):
    values = kinds_of_values(kind, 40, 7, seed=2)
    order = np.random.default_rng(1).permutation(7)
    pairs = list(combinations(range(7), 2))
    mixed = [(int(np.flatnonzero(order == b)[0]), int(np.flatnonzero(order == a)[0])) for a, b in pairs]
    assert paired_randomization(values, pairs, 5000, 1) == paired_randomization(values[:, order], mixed, 5000, 1)
    one, other = tukey(values, 999, 1), tukey(values[:, order], 999, 1)
    assert np.array_equal(one[np.ix_(order, order)], other)
    assert np.array_equal(other, tukey(values[:, order], 999, 1, workers=2))


@pytest.mark.parametrize("kind", ["smooth", "tenths", "nearly equal"])
def test_drawn_randomization_is_scipys(kind):
    values = kinds_of_values(kind, 30, 3, seed=4)
    pairs = [(0, 1), (1, 2)]
    for (a, b), (p, exact) in zip(pairs, paired_randomization(values, pairs, 40_000, 1), strict=True):
        theirs = stats.permutation_test(
            (values[:, b] - values[:, a],), np.sum, permutation_type="samples", n_resamples=40_000, **seeded(2)
        )
        assert not exact
        assert abs(p - theirs.pvalue) < 4.5 * math.sqrt(2 * p * (1 - p) / 40_000) + 1e-4


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


def test_tukey_of_two_systems_is_one_pair():
    values = np.random.default_rng(3).random((12, 2)) + np.array([0.0, 0.15])
    p = tukey(values, 20_000, 1)[0, 1]
    exact = one_pair(values[:, 1] - values[:, 0])[0]
    assert abs(p - exact) < 4 * math.sqrt(exact * (1 - exact) / 20_000)


def test_tukey_corrects():
    """More systems, less significance; and the pair's own p is never above."""
    values = np.random.default_rng(5).normal(0, 0.2, (60, 6)) + np.array([0, 0, 0, 0, 0.05, 0.12])
    p = tukey(values, 5000, 1)
    for i in range(6):
        for j in range(i):
            alone = one_pair(values[:, i] - values[:, j], 5000, 2)[0]
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
