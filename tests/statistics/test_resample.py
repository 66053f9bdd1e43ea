"""Intervals and resamples: the draws against enumeration and plain resampling of items, the numbers against scipy."""

import math
from collections import Counter
from fractions import Fraction
from functools import partial
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

import hitcurve as hc
from hitcurve._kernel.draw import Resampler
from hitcurve.measures import MEASURES, parse
from hitcurve.statistics.intervals import acceleration_of, delete_one, delong_error
from hitcurve.statistics.random_order import random_ranks
from hitcurve.statistics.resampling import item_kinds

UNLIKELY = 1e-4  # a correct sampler fails a check once in ten thousand seeds; the seeds are fixed


def ranking(n, relevant, seed=0, step=None, shift=1.0):
    """Labels and scores; with a step the scores are rounded to it, which ties them."""
    rng = np.random.default_rng(seed)
    y = np.zeros(n, np.int8)
    y[rng.choice(n, relevant, replace=False)] = 1
    s = rng.standard_normal(n) + shift * y
    return y, s if step is None else np.round(s / step) * step


def chi_square(observed, expected):
    """p-value of counts against expected ones, cells with few expected joined."""
    order = np.argsort(expected)
    observed, expected = np.asarray(observed, float)[order], np.asarray(expected, float)[order]
    joined = np.cumsum(expected) // 10
    seen, hoped = (np.bincount(joined.astype(int), column) for column in (observed, expected))
    seen, hoped = seen[hoped > 0], hoped[hoped > 0]
    if len(hoped) > 1 and hoped[-1] < 5:
        seen, hoped = np.append(seen[:-2], seen[-2:].sum()), np.append(hoped[:-2], hoped[-2:].sum())
    return stats.chi2.sf(np.sum((seen - hoped) ** 2 / hoped), max(1, len(hoped) - 1))


# --- the draws ----------------------------------------------------------------------------------------------


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
    for drawn in product(items, repeat=len(items)):
        if stratified and sum(label for label, _ in drawn) != sum(label for label, _ in items):
            continue
        ranked = [item for item in drawn if item[1] is not None]
        relevant = sum(label for label, _ in drawn)
        if not ranked:
            seen[0.0 if relevant else math.nan] += 1
            continue
        value = hc.average_precision(*zip(*ranked, strict=True), num_relevant=relevant)
        seen["nan" if math.isnan(value) else round(value, 9)] += 1
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
    count = 40_000
    values = curve.resample(count, stratified=stratified, rng=5).average_precision()
    seen = Counter("nan" if math.isnan(value) else round(value, 9) for value in values.tolist())
    assert set(seen) <= set(expected)
    keys = list(expected)
    assert chi_square([seen[key] for key in keys], [float(expected[key]) * count for key in keys]) > UNLIKELY


def items_resampled(y, s, read, count, stratified, seed):
    """The same by looking at the items."""
    rng = np.random.default_rng(seed)
    n = len(y)
    groups = [np.flatnonzero(y == 1), np.flatnonzero(y == 0)] if stratified else [np.arange(n)]
    values = []
    for _ in range(count):
        drawn = np.concatenate([rng.choice(group, len(group)) for group in groups])
        values.append(read(hc.HitCurve(y[drawn], s[drawn])))
    return np.array(values)


@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize(
    ("n", "relevant", "step"), [(400, 40, None), (400, 40, 0.5), (3000, 12, None), (300, 150, None), (300, 280, 0.1)]
)
def test_against_resampling_the_items(n, relevant, step, stratified):
    y, s = ranking(n, relevant, seed=n, step=step)
    curve = hc.HitCurve(y, s)
    for name in ("AP", "ROCAUC", "EF@5%"):
        measure = parse(name)
        ours = curve.interval(
            name, method="bootstrap", n_resamples=4000, stratified=stratified, rng=3
        ).bootstrap_distribution
        theirs = items_resampled(y, s, measure, 1500, stratified, 4)
        assert stats.ks_2samp(ours, theirs).pvalue > UNLIKELY, name
        assert abs(ours.mean() - theirs.mean()) < 4 * theirs.std() / math.sqrt(1000) + 1e-12
        assert 0.85 * theirs.std() - 1e-12 < ours.std() < 1.18 * theirs.std() + 1e-12


def test_against_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    y, s = ranking(500, 50, seed=9, step=0.25)
    ours = hc.HitCurve(y, s).interval(method="bootstrap", ties="threshold", n_resamples=3000, rng=1)
    rng = np.random.default_rng(2)
    drawn = (rng.integers(0, 500, 500) for _ in range(1000))
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


def test_measures_of_a_kind_each():
    """Every measure of the table has an interval that holds its estimate, or is a constant."""
    y, s = ranking(400, 40, step=0.2)
    curve = hc.HitCurve(y, s)
    for record in MEASURES:
        if not hasattr(curve, record.method):
            continue
        for form in record.forms:
            if parse(form).rel is not None or parse(form).judged_only:
                continue  # needs judgments
            got = curve.interval(form, method="bootstrap", n_resamples=300, rng=1)
            low, high = got.confidence_interval
            assert got.measure == parse(form).name
            assert got.estimate == parse(form)(curve)
            assert low <= got.estimate <= high, form
            assert got.bootstrap_distribution.shape == (300,)
            assert_allclose(got.standard_error, np.std(got.bootstrap_distribution, ddof=1))


# --- intervals in closed form -------------------------------------------------------------------------------


def test_logit_formula():
    y, s = ranking(500, 50)
    got = hc.HitCurve(y, s).interval()
    ap = hc.average_precision(y, s)
    middle, half = math.log(ap / (1 - ap)), 1.959963984540054 / math.sqrt(50 * ap * (1 - ap))
    expected = [1 / (1 + math.exp(-x)) for x in (middle - half, middle + half)]
    assert_allclose(got.confidence_interval, expected, rtol=1e-12)
    assert got.method == "logit"
    assert got.bootstrap_distribution is None
    assert_allclose(got.standard_error, math.sqrt(ap * (1 - ap) / 50))
    wide, narrow = (hc.HitCurve(y, s).interval(confidence_level=c).confidence_interval for c in (0.99, 0.5))
    assert wide.low < got.confidence_interval.low < narrow.low < ap < narrow.high


def slow_delong(y, rankings):
    """ROC AUC and its covariance from the matrices of all pairs, in fractions."""
    wins = []
    for s in rankings:
        up = [x for x, label in zip(s, y, strict=True) if label]
        down = [x for x, label in zip(s, y, strict=True) if not label]
        wins.append([[Fraction((a > b) * 2 + (a == b), 2) for b in down] for a in up])
    m, n = len(wins[0]), len(wins[0][0])
    auc = [sum(map(sum, w)) / (m * n) for w in wins]
    by_hit = [[sum(row) / n for row in w] for w in wins]
    by_other = [[sum(column) / m for column in zip(*w, strict=True)] for w in wins]

    def covariance(a, b, mean_a, mean_b):
        return sum((x - mean_a) * (z - mean_b) for x, z in zip(a, b, strict=True)) / (len(a) - 1) / len(a)

    k = len(rankings)
    return auc, [
        [float(sum(covariance(part[i], part[j], auc[i], auc[j]) for part in (by_hit, by_other))) for j in range(k)]
        for i in range(k)
    ]


@pytest.mark.parametrize("step", [None, 1.0, 100.0])
@pytest.mark.parametrize("relevant", [2, 20, 57])
def test_delong_against_all_pairs(step, relevant):
    y, s = ranking(60, relevant, seed=relevant, step=step)
    auc, covariance = slow_delong(y.tolist(), [s.tolist()])
    got = hc.HitCurve(y, s).interval("ROCAUC")
    assert got.method == "delong"
    assert_allclose(got.estimate, float(auc[0]), rtol=1e-14)
    assert_allclose(got.standard_error, math.sqrt(covariance[0][0]), rtol=1e-12, atol=1e-15)
    half = stats.norm.ppf(0.975) * got.standard_error
    expected = np.clip([got.estimate - half, got.estimate + half], 0, 1)
    assert_allclose(got.confidence_interval, expected, rtol=1e-12)
    if step != 100.0:
        low, high = hc.HitCurve(y, s).interval("ROCAUC", method="logit").confidence_interval
        assert 0 < low < got.estimate < high < 1


def test_delong_without_variance():
    nan = hc.HitCurve([1, 0, 0], [3, 2, 1]).interval("ROCAUC")  # one relevant item: no variance to estimate
    assert np.isnan(nan.confidence_interval).all()
    assert nan.estimate == 1.0
    assert math.isnan(delong_error(hc.HitCurve([1, 0, 0], [3, 2, 1])))
    sure = hc.HitCurve([1, 1, 0, 0], [4, 3, 2, 1]).interval("ROCAUC")
    assert tuple(sure.confidence_interval) == (1.0, 1.0)


# --- percentiles and BCa ------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [None, 0.4])
@pytest.mark.parametrize("name", ["AP", "ROCAUC", "BEDROC(20)", "P@20", "AP(ties=worst)"])
def test_delete_one_of_every_item(step, name):
    y, s = ranking(80, 12, seed=3, step=step)
    measure, curve = parse(name), hc.HitCurve(y, s)
    slow = np.array([measure(hc.HitCurve(np.delete(y, i), np.delete(s, i))) for i in range(len(y))])
    parts = delete_one(curve, measure, "expected")
    for (values, weight), label in zip(parts, (1, 0), strict=True):
        assert_allclose(np.sort(np.repeat(values, weight)), np.sort(slow[y == label]), rtol=1e-12)
    both = [np.concatenate(column) for column in zip(*parts, strict=True)]
    influence = (len(y) - 1) * (slow.mean() - slow)
    expected = np.sum(influence**3) / (6 * np.sum(influence**2) ** 1.5)
    assert_allclose(acceleration_of([tuple(both)]), expected, rtol=1e-8)


def test_delete_one_with_missing_relevant():
    curve = hc.HitCurve.from_ranked([1, 0, 1, 0, 0], num_relevant=4)
    hit, other = delete_one(curve, parse("AP"), "expected")
    less = hc.HitCurve.from_ranked([1, 0, 1, 0, 0], num_relevant=3).average_precision()
    assert_allclose(hit[0][-1], less)
    assert hit[1].tolist() == [1, 1, 2]
    assert other[1].sum() == 3


def test_delete_one_of_many_rows(monkeypatch):
    """Some rows stand for those between them: close to all of them."""
    y, s = ranking(6000, 900)
    curve, measure = hc.HitCurve(y, s), parse("AP")
    joined = [np.concatenate(column) for column in zip(*delete_one(curve, measure, "expected"), strict=True)]
    monkeypatch.setattr("hitcurve.statistics.intervals._DELETED_ROWS", 300_000)
    some = [np.concatenate(column) for column in zip(*delete_one(curve, measure, "expected"), strict=True)]
    assert some[0].shape == joined[0].shape
    assert_allclose(acceleration_of([tuple(some)]), acceleration_of([tuple(joined)]), rtol=0.02)


@pytest.mark.parametrize("stratified", [False, True])
def test_intervals_are_those_of_scipy(stratified):
    """scipy is given the distribution; percentiles and BCa must then come out as its own."""
    y, s = ranking(150, 25, seed=2)
    curve = hc.HitCurve(y, s)
    up, down = s[y == 1], s[y == 0]

    def statistic(*samples):
        if stratified:
            labels = np.repeat([1, 0], [len(samples[0]), len(samples[1])])
            return hc.average_precision(labels, np.concatenate(samples))
        return hc.average_precision(samples[0].astype(np.int8), samples[1])

    data = (up, down) if stratified else (y, s)
    for kind in ("percentile", "BCa"):
        got = curve.interval(
            method="bootstrap",
            bootstrap_method=kind,
            stratified=stratified,
            n_resamples=999,
            rng=3,
            confidence_level=0.9,
        )
        theirs = stats.bootstrap(
            data,
            statistic,
            paired=not stratified,
            vectorized=False,
            n_resamples=0,
            method=kind,
            confidence_level=0.9,
            bootstrap_result=stats._resampling.BootstrapResult(None, got.bootstrap_distribution, None),
        )
        assert_allclose(got.confidence_interval, theirs.confidence_interval, rtol=1e-9)
        assert_allclose(got.standard_error, theirs.standard_error)


def test_undefined_resamples_are_left_out():
    got = hc.HitCurve([0, 1, 0, 0], [4, 3, 2, 1]).interval("AP", method="bootstrap", n_resamples=2000, rng=1)
    gone = np.isnan(got.bootstrap_distribution)
    assert 0.25 < gone.mean() < 0.39  # (3/4)**4 = 0.32
    assert not np.isnan(got.confidence_interval).any()
    assert got.confidence_interval.high == 1.0


@pytest.mark.parametrize(
    ("y", "s"), [([], []), ([0, 0], [2, 1]), ([1], [1.0]), ([1, 1], [1, 1]), ([1, 0], [2, 1]), ([0, 1], [1, 1])]
)
def test_smallest_rankings(y, s):
    curve = hc.HitCurve(y, s)
    for name in ("AP", "ROCAUC", "P@1", "NumRel"):
        for method in (None, "bootstrap"):
            got = curve.interval(name, method=method, n_resamples=50, rng=1)
            if not math.isnan(got.estimate) and len(curve) and not math.isnan(got.confidence_interval.low):
                assert got.confidence_interval.low <= got.confidence_interval.high
    assert len(curve.resample(3, rng=1)) == 3
    curve.p_value(rng=1)


def test_kinds_of_items():
    assert item_kinds(hc.HitCurve([0, 1, 0, 1, 0, 0], [9, 8, 8, 5, 4, 3])).tolist() == [1, 1, 0, 0, 2]
    assert item_kinds(hc.HitCurve([0, 0], [2, 1])).tolist() == [2]


# --- over queries -------------------------------------------------------------------------------------------


def many(queries=30, seed=0):
    rng = np.random.default_rng(seed)
    return hc.HitCurves(rng.random((queries, 50)) < 0.1, rng.random((queries, 50)))


def test_mean_over_queries():
    curves = many()
    values = curves.average_precision()
    values = values[~np.isnan(values)]
    got = curves.interval(rng=1)
    assert got.estimate == pytest.approx(curves.mean_average_precision(), rel=1e-15)
    assert got.bootstrap_distribution.shape == (9999,)
    error = values.std() / math.sqrt(len(values))
    assert got.standard_error == pytest.approx(error, rel=0.05)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=9999, method="percentile", rng=np.random.default_rng(5))
    assert_allclose(got.confidence_interval, theirs.confidence_interval, atol=0.15 * error)
    bca = curves.interval(rng=1, bootstrap_method="BCa")
    again = stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=0,
        method="BCa",
        bootstrap_result=stats._resampling.BootstrapResult(None, bca.bootstrap_distribution, None),
    )
    assert_allclose(bca.confidence_interval, again.confidence_interval, rtol=1e-9)
    t = curves.interval(method="t")
    assert_allclose(t.confidence_interval, stats.t.interval(0.95, len(values) - 1, values.mean(), stats.sem(values)))
    assert_array_equal(curves.interval(rng=4).bootstrap_distribution, curves.interval(rng=4).bootstrap_distribution)


def test_queries_without_relevant_items():
    curves = hc.HitCurves([[1, 0], [0, 0], [0, 1]], [[2, 1]] * 3)
    assert curves.interval(rng=1).estimate == 0.75
    assert curves.interval(rng=1, empty="zero").estimate == 0.5
    assert curves.interval(rng=1, empty="one").estimate == pytest.approx(2.5 / 3)
    with pytest.raises(ValueError, match=r"query 1 has no AP"):
        curves.interval(empty="raise")
    named = hc.HitCurves([0, 1], [1, 2], qid=["b", "a"])
    with pytest.raises(ValueError, match=r"query 'b' has no AP"):
        named.interval(empty="raise")
    nothing = hc.HitCurves([[0, 0]], [[2, 1]]).interval()
    assert math.isnan(nothing.estimate)
    assert math.isnan(nothing.confidence_interval.low)


# --- against a random order ---------------------------------------------------------------------------------


@pytest.mark.parametrize("hits", [[1, 1, 0, 0, 0, 0], [0, 1, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1], [1, 1, 1]])
@pytest.mark.parametrize("name", ["AP", "ROCAUC", "P@2"])
def test_p_value_by_all_orders(hits, name):
    curve, measure = hc.HitCurve.from_ranked(hits), parse(name)
    value = measure(curve)
    got = curve.p_value(name)
    if math.isnan(value):
        assert math.isnan(got.pvalue)
        return
    n, relevant = len(hits), sum(hits)
    others = [
        measure(hc.HitCurve.from_ranked([i in chosen for i in range(n)])) for chosen in combinations(range(n), relevant)
    ]
    assert got.method == "exact"
    assert got.statistic == value
    assert got.pvalue == pytest.approx(np.mean(np.array(others) >= value - 1e-12))
    assert got.resolution == pytest.approx(1 / math.comb(n, relevant))
    drawn = curve.p_value(name, method="permutation", n_resamples=4000, rng=1)
    assert abs(drawn.pvalue - got.pvalue) < 4 * math.sqrt(0.25 / 4000)


def test_p_value_by_permutation():
    rng = np.random.default_rng(0)
    found = [hc.HitCurve(rng.random(500) < 0.1, rng.random(500)).p_value(n_resamples=199, rng=i) for i in range(200)]
    assert {one.method for one in found} == {"permutation"}
    assert stats.kstest([one.pvalue for one in found], "uniform").pvalue > UNLIKELY
    good = hc.HitCurve(*ranking(500, 50, shift=2.0)).p_value(n_resamples=199, rng=1, workers=2)
    assert good.pvalue == good.resolution == 1 / 200
    assert good.null_distribution.shape == (199,)
    chance = hc.HitCurve(*ranking(500, 50)).chance()
    null = hc.HitCurve(*ranking(500, 50)).p_value(n_resamples=4000, rng=1).null_distribution
    assert abs(null.mean() - chance) < 4 * null.std() / math.sqrt(4000)


@pytest.mark.parametrize(("items", "hits"), [(6, 2), (6, 4), (5, 5), (7, 3)])
def test_random_ranks_are_sets_equally_likely(items, hits):
    drawn = random_ranks(np.random.default_rng(3), items, hits, 6000)
    seen = Counter(map(tuple, drawn.tolist()))
    sets = list(combinations(range(items), hits))
    assert set(seen) == set(sets)
    if len(sets) > 1:
        assert chi_square([seen[one] for one in sets], [6000 / len(sets)] * len(sets)) > UNLIKELY


# --- scikit-learn -------------------------------------------------------------------------------------------


def test_scorer_in_grid_search():
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import average_precision_score, make_scorer
    from sklearn.model_selection import GridSearchCV
    from sklearn.naive_bayes import GaussianNB

    rng = np.random.default_rng(0)
    y = (rng.random(300) < 0.2).astype(int)
    x = rng.standard_normal((300, 4)) + 0.8 * y[:, None]
    scorer = make_scorer(hc.average_precision, response_method=("decision_function", "predict_proba"))
    search = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, scoring=scorer, cv=3).fit(x, y)
    plain = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, scoring="average_precision", cv=3).fit(x, y)
    assert_allclose(search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], rtol=1e-12)
    model = GaussianNB().fit(x, y)  # has no decision_function
    expected = average_precision_score(y, model.predict_proba(x)[:, 1])
    assert_allclose(scorer(model, x, y), expected, rtol=1e-12)


# --- what is refused ----------------------------------------------------------------------------------------


CURVE = hc.HitCurve([1, 0, 1, 0], [4, 3, 2, 1])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: CURVE.interval("APP"), "there is no measure 'APP'"),
        (lambda: CURVE.interval(method="jackknife"), "method='jackknife' is unknown: must be one of 'logit', 'delong'"),
        (lambda: CURVE.interval(method="delong"), "method='delong' does not go with AP"),
        (lambda: CURVE.interval("AP@2", method="logit"), "method='logit' does not go with AP@2"),
        (lambda: CURVE.interval("ROCAUC", method="delong", ties="best"), "ties='best' does not"),
        (lambda: CURVE.interval(confidence_level=95), "confidence_level is 95: must be between 0 and 1"),
        (lambda: CURVE.interval(confidence_level="high"), "confidence_level must be a number, got 'high'"),
        (lambda: CURVE.interval(method="bootstrap", n_resamples=0), "n_resamples is 0: must be 1 or more"),
        (lambda: CURVE.interval(method="bootstrap", n_resamples=1.5), "n_resamples must be a whole number, got 1.5"),
        (lambda: CURVE.interval(method="bootstrap", bootstrap_method="basic"), "bootstrap_method='basic' is unknown"),
        (lambda: CURVE.interval(method="bootstrap", ties="mean"), "ties='mean' is unknown"),
        (lambda: CURVE.interval(method="bootstrap", workers=0), "workers is 0: must be at least 1"),
        (lambda: CURVE.interval(method="bootstrap", rng=True), "rng must be a seed or a numpy.random.Generator"),
        (lambda: CURVE.interval("RR", method="bootstrap", ties="threshold"), "no reading of ties called 'threshold'"),
        (
            lambda: hc.HitCurve([1, 0], [2, 1]).interval(method="bootstrap", bootstrap_method="BCa"),
            "only 1 is relevant",
        ),
        (lambda: CURVE.resample(-1), "n_resamples is -1"),
        (lambda: CURVE.p_value(method="all"), "method='all' is unknown"),
        (lambda: hc.HitCurve(*ranking(500, 50)).p_value(method="exact"), "take 'permutation'"),
        (lambda: many().interval(method="logit"), "method='logit' is unknown: must be one of 'bootstrap', 't'"),
        (lambda: many().interval(empty="half"), "empty='half' is unknown"),
    ],
)
def test_refused(call, text):
    with pytest.raises((ValueError, TypeError), match=text.replace("(", r"\(")):
        call()


def test_weighted_items_are_refused():
    curve = hc.HitCurve([1, 0, 1], [3, 2, 1], sample_weight=[1.0, 0.5, 2.0])
    for call in (curve.interval, curve.resample, curve.p_value):
        with pytest.raises(ValueError, match="has no meaning for weighted items"):
            call()


def test_measure_that_needs_every_rank():
    with pytest.raises(ValueError, match="needs the rank of every relevant item"):
        hc.HitCurve.from_ranked([1, 0, 1], num_relevant=4).interval("ROCAUC", method="bootstrap")


@pytest.mark.thread_unsafe(reason="tracemalloc counts what all threads allocate")
def test_memory_is_given_back():
    import gc
    import tracemalloc

    curve = hc.HitCurve(*ranking(20_000, 300))

    def calls():
        curve.interval(method="bootstrap", bootstrap_method="BCa", n_resamples=20, rng=1)
        curve.p_value(n_resamples=9, rng=1)
        with pytest.raises(ValueError, match="unknown"):
            curve.interval(method="none")

    def traced(rounds):
        for _ in range(rounds):
            calls()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        traced(10)
        memory = [traced(20) for _ in range(4)]
    finally:
        tracemalloc.stop()
    # What is lost is lost in each; what the interpreter keeps it takes once. A table of Poisson variates is 10,000.
    assert min(later - earlier for earlier, later in pairwise(memory)) < 10_000
