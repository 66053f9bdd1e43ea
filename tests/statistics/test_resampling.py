"""Resamples: the draws against enumeration and plain resampling of items."""

import math
from collections import Counter
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from draws import UNLIKELY, chi_square, every_draw, ranking
from numpy.testing import assert_array_equal
from scipy import stats

import hitcurve as hc
from hitcurve._kernel.draw import Resampler
from hitcurve.measures import parse
from hitcurve.statistics.resampling import item_kinds


def gaps_drawn(weight, count, stratified=True, hits=60, seed=1):
    """How many items fall into each gap, in `count` resamples of a table whose rows never go empty."""
    weight = np.asarray(weight)
    rows = len(weight) - 1
    place = np.arange(len(weight)) * 2
    resampler = Resampler(np.full(rows, hits), np.arange(rows)[:, None], weight, place[:, None], [rows], stratified)
    offsets, above, tied, _, num_items, *_ = resampler.draw(np.random.SFC64(seed), count)[0]
    assert np.all(np.diff(offsets) == rows)
    above, ends = above.reshape(count, rows), (above + tied).reshape(count, rows)
    starts = np.concatenate([np.zeros((count, 1), np.int64), ends], axis=1)
    return np.concatenate([above, num_items[:, None]], axis=1) - starts


# Few draws a kind, Poisson variates, and binomials, by the weights: see draw_counts.
WEIGHTS = {
    "direct": [1, 2, 3, 1, 1, 5, 2, 9, 1, 1, 4, 2],
    "poisson": [1, 2, 3, 5, 7, 16, 63, 64, 65, 250, 1000, *[20] * 60],
    "poisson, heavy": [1, 40_000, 3, 16_384, 100_001, 5, *[300] * 200],
    "binomials": [1, 3, 500, 100_000, 20_000, 7],
    "binomials, huge": [1 << 20, 3, 1 << 45, 1 << 61],
}


@pytest.mark.parametrize("kind", WEIGHTS)
def test_counts_are_multinomial(kind):
    weight = np.array(WEIGHTS[kind])
    total, count = int(weight.sum()), 4000
    drawn = gaps_drawn(weight, count)
    assert np.all(drawn.sum(axis=1) == total)  # as many as there are, exactly
    share = weight / total
    for i in np.unique(np.concatenate([np.arange(min(12, len(weight))), [len(weight) - 1]])):
        if share[i] > 0.999 or total > 1 << 40:
            continue
        binomial = stats.binom(total, share[i])
        edges = np.unique(binomial.ppf(np.linspace(0, 1, 21)[1:-1]))
        chance = np.diff(np.concatenate([[0], binomial.cdf(edges), [1]]))
        seen = np.bincount(np.searchsorted(edges, drawn[:, i]), minlength=len(chance))
        assert chi_square(seen, chance * count) > UNLIKELY, (kind, weight[i])
    # All variances and covariances together: the sum over kinds is what a chi-square of each draw averages to.
    sizes = np.sum((drawn - total * share) ** 2 / (total * share), axis=1)
    mean, error = sizes.mean(), sizes.std(ddof=1) / math.sqrt(count)
    assert abs(mean - (len(weight) - 1)) < 4 * error
    pair = np.argsort(weight)[-2:]
    expected = -total * share[pair[0]] * share[pair[1]]
    products = np.prod(drawn[:, pair] - total * share[pair], axis=1)
    assert abs(products.mean() - expected) < 4 * products.std(ddof=1) / math.sqrt(count)


@pytest.mark.parametrize("kind", ["direct", "poisson", "binomials"])
def test_number_of_relevant_is_binomial(kind):
    weight = WEIGHTS[kind]
    relevant, others = 60 * (len(weight) - 1), sum(weight)
    total = gaps_drawn(weight, 4000, stratified=False).sum(axis=1)
    binomial = stats.binom(relevant + others, others / (relevant + others))
    edges = np.unique(binomial.ppf(np.linspace(0, 1, 21)[1:-1]))
    chance = np.diff(np.concatenate([[0], binomial.cdf(edges), [1]]))
    seen = np.bincount(np.searchsorted(edges, total), minlength=len(chance))
    assert chi_square(seen, chance * 4000) > UNLIKELY


def all_resamples(y, s, stratified, missing=0):
    """The distribution of AP over every way to draw the items, in exact fractions of the ways."""
    items = [*zip(y, s, strict=True), *[(1, None)] * missing]
    seen = Counter()
    for places, ways in every_draw(len(items)).items():
        drawn = [items[i] for i in places]
        if stratified and sum(label for label, _ in drawn) != sum(label for label, _ in items):
            continue
        ranked = [item for item in drawn if item[1] is not None]
        relevant = sum(label for label, _ in drawn)
        if not ranked:
            seen[0.0 if relevant else math.nan] += ways
            continue
        value = hc.average_precision(*zip(*ranked, strict=True), num_relevant=relevant)
        seen["nan" if math.isnan(value) else round(value, 9)] += ways
    total = sum(seen.values())
    return {value: Fraction(ways, total) for value, ways in seen.items()}


@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize(
    ("y", "s", "missing"),
    [
        ([1, 0, 1, 0, 0], [5, 4, 3, 2, 1], 0),
        ([1, 0, 1, 0, 0], [5, 5, 3, 3, 1], 0),
        ([1, 1, 1, 0, 0], [5, 5, 3, 3, 3], 0),
        ([0, 0, 1, 0, 0], [1, 2, 2, 2, 3], 0),
        ([1, 0, 1, 0], [4, 3, 2, 2], 1),
    ],
)
def test_every_resample_of_a_few_items(y, s, missing, stratified):
    """Against all n**n ways to draw n items."""
    expected = all_resamples(y, s, stratified, missing)
    curve = hc.HitCurve(y, s, num_relevant=sum(y) + missing)
    count = 20_000
    values = curve.resample(count, stratified=stratified, rng=5).average_precision()
    seen = Counter("nan" if math.isnan(value) else round(value, 9) for value in values.tolist())
    assert set(seen) <= set(expected)
    keys = list(expected)
    assert chi_square([seen[key] for key in keys], [float(expected[key]) * count for key in keys]) > UNLIKELY


def items_resampled(y, s, count, stratified, seed):
    """Curves of resamples, by looking at the items."""
    rng = np.random.default_rng(seed)
    n = len(y)
    groups = [np.flatnonzero(y == 1), np.flatnonzero(y == 0)] if stratified else [np.arange(n)]
    curves = []
    for _ in range(count):
        drawn = np.concatenate([rng.choice(group, len(group)) for group in groups])
        curves.append(hc.HitCurve(y[drawn], s[drawn]))
    return curves


@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize(
    ("n", "relevant", "step"), [(400, 40, None), (400, 40, 0.5), (3000, 12, None), (300, 150, None), (300, 280, 0.1)]
)
def test_against_resampling_the_items(n, relevant, step, stratified):
    y, s = ranking(n, relevant, seed=n, step=step)
    curve = hc.HitCurve(y, s)
    curves = items_resampled(y, s, 1500, stratified, 4)
    for name in ("AP", "ROCAUC", "EF@5%"):
        measure = parse(name)
        ours = curve.interval(
            name, method="bootstrap", n_resamples=4000, stratified=stratified, rng=3
        ).bootstrap_distribution
        theirs = np.array([measure(one) for one in curves])
        assert stats.ks_2samp(ours, theirs).pvalue > UNLIKELY, name
        assert abs(ours.mean() - theirs.mean()) < 4 * theirs.std() / math.sqrt(1000) + 1e-12
        assert 0.85 * theirs.std() - 1e-12 < ours.std() < 1.18 * theirs.std() + 1e-12


def test_against_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    y, s = ranking(500, 50, seed=9, step=0.25)
    ours = hc.HitCurve(y, s).interval(method="bootstrap", ties="threshold", n_resamples=3000, rng=1)
    rng = np.random.default_rng(2)
    drawn = (rng.integers(0, 500, 500) for _ in range(300))
    theirs = np.array([metrics.average_precision_score(y[i], s[i]) for i in drawn])
    assert stats.ks_2samp(ours.bootstrap_distribution, theirs).pvalue > UNLIKELY


@pytest.mark.parametrize("step", [None, 0.3])
def test_resamples_are_tables(step):
    y, s = ranking(300, 30, step=step)
    curve = hc.HitCurve(y, s, num_relevant=33, lower_is_better=True)
    for stratified in (False, True):
        curves = curve.resample(50, stratified=stratified, rng=0)
        assert len(curves) == 50
        assert curves.lower_is_better
        assert curves.score is None
        assert len({one.num_relevant for one in curves}) == (1 if stratified else len(set(curves.num_relevant)))
        for one in curves:
            again = hc.HitCurve.from_table(
                None,
                one.above,
                one.tied,
                one.hits,
                num_items=one.num_items,
                num_relevant=one.num_relevant,
                lower_is_better=True,
            )
            assert again == one
            assert one.num_items + one.num_relevant - one.num_hits == 303
    assert_array_equal(curves.average_precision(), [one.average_precision() for one in curves])


def test_reproducible_whoever_draws():
    y, s = ranking(40_000, 9_000)
    curve = hc.HitCurve(y, s)
    call = partial(curve.interval, "AP", method="bootstrap", n_resamples=101)
    one = call(rng=7).bootstrap_distribution
    for workers in (2, 3, -1):
        assert_array_equal(call(rng=7, workers=workers).bootstrap_distribution, one)
    assert_array_equal(call(rng=np.random.default_rng(7)).bootstrap_distribution, one)
    generator = np.random.default_rng(7)
    first, second = (call(rng=generator).bootstrap_distribution for _ in range(2))
    assert_array_equal(first, one)
    assert not np.array_equal(second, one)
    assert len(set(one)) == 101
    assert not np.array_equal(call().bootstrap_distribution, call().bootstrap_distribution)
    assert_array_equal(curve.resample(101, rng=7).average_precision(), one)


def test_enormous_rankings():
    """O(rows) whatever the number of items; no count overflows."""
    curve = hc.HitCurve.from_ranks([5, 10**9, 1 << 60], num_items=1 << 61)
    curves = curve.resample(200, rng=1)
    assert set(curves.num_items) == {1 << 61}
    assert np.all(curves.above + curves.tied <= 1 << 61)
    assert 2.0 < curves.num_relevant.mean() < 4.0


def test_kinds_of_items():
    assert item_kinds(hc.HitCurve([0, 1, 0, 1, 0, 0], [9, 8, 8, 5, 4, 3])).tolist() == [1, 1, 0, 0, 2]
    assert item_kinds(hc.HitCurve([0, 0], [2, 1])).tolist() == [2]
