"""Resamples, intervals and comparisons of gain curves: against enumeration, plain resampling and hit curves."""

import math
import pickle
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from draws import UNLIKELY, chi_square, every_draw
from scipy import stats

import hitcurve as hc
from hitcurve._kernel.draw import Resampler


def graded(n=300, seed=0, step=0.1):
    """Levels 0 to 3 and scores of two systems, rounded to a step."""
    rng = np.random.default_rng(seed)
    y = rng.choice([0, 0, 0, 0, 1, 2, 3], n)
    a = rng.standard_normal(n) + 0.5 * y
    b = a + 0.7 * rng.standard_normal(n)
    return y, np.round(a / step) * step, np.round(b / step) * step


def shown(value):
    return "nan" if math.isnan(value) else round(value, 9)


# --- resamples ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [4_000, pytest.param(40_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize(
    ("levels", "scores", "unretrieved"),
    [
        ([2, 0, 1, 0, 0], [5, 4, 3, 2, 1], []),
        ([2, 1, 0, 1, 0], [5, 5, 5, 3, 3], []),  # a row of two levels
        ([2, 1, 3, 0, 0], [4, 4, 4, 3, 3], []),
        pytest.param([2, 0, 1], [3, 3, 2], [1, 3], marks=pytest.mark.slow),
        ([1, 2], [1, 1], [3, 3]),
    ],
)
def test_every_resample_of_a_few_items(levels, scores, unretrieved, stratified, count):
    """Two measures at once, against all n**n ways to draw n items."""
    items = [*zip(levels, scores, strict=True), *((level, None) for level in unretrieved)]
    expected = Counter()
    for places, ways in every_draw(len(items)).items():
        drawn = [items[i] for i in places]
        if stratified and sum(level > 0 for level, _ in drawn) != sum(level > 0 for level, _ in items):
            continue
        ranked = [item for item in drawn if item[1] is not None]
        never = [level for level, score in drawn if score is None]
        curve = hc.GainCurve(*(zip(*ranked, strict=True) if ranked else ([], [])), unretrieved=never)
        expected[shown(curve.ndcg(2)), shown(curve.err(ties="worst"))] += ways
    curves = hc.GainCurve(levels, scores, unretrieved=unretrieved).resample(count, stratified=stratified, rng=5)
    seen = Counter(zip(map(shown, curves.ndcg(2)), map(shown, curves.err(ties="worst")), strict=True))
    assert set(seen) <= set(expected)
    total, keys = sum(expected.values()), list(expected)
    chances = [float(Fraction(expected[key], total)) * count for key in keys]
    assert chi_square([seen[key] for key in keys], chances) > UNLIKELY


@pytest.mark.parametrize("unretrieved", [[], [1, 1, 1]])
@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize("step", [1e-9, 0.3])
def test_of_one_level_they_are_those_of_the_hit_curve(unretrieved, stratified, step):
    y, s, _ = graded(step=step)
    graded_one, flags = hc.GainCurve(y > 0, s, unretrieved=unretrieved), y > 0
    hits = hc.HitCurve(flags, s, num_relevant=int(flags.sum()) + len(unretrieved))
    how = {"rng": 1, "stratified": stratified}
    drawn = graded_one.resample(600, **how)
    assert drawn.at_level(1) == hits.resample(600, **how)
    for name, method in (("AP", None), ("AP", "bootstrap"), ("P@10", None), ("RR", None)):
        found, wanted = (one.interval(name, method=method, n_resamples=99, **how) for one in (graded_one, hits))
        np.testing.assert_array_equal(found.bootstrap_distribution, wanted.bootstrap_distribution)
        assert found[:1] + found[2:] == wanted[:1] + wanted[2:]


@pytest.mark.parametrize("unretrieved", [[], [3, 1, 1, 2]])
@pytest.mark.parametrize("stratified", [False, True])
def test_the_tables(unretrieved, stratified):
    y, s, _ = graded(step=0.5)
    curve = hc.GainCurve(y, s, unretrieved=unretrieved, lower_is_better=True)
    curves = curve.resample(500, stratified=stratified, rng=2)
    assert curves.lower_is_better
    assert len(curves) == 500 and curves.score is None
    assert pickle.loads(pickle.dumps(curves)) == curves  # which passes the checks of tables from outside
    assert curves == curve.resample(500, stratified=stratified, rng=2, workers=3)
    assert curves != curve.resample(500, stratified=stratified, rng=3)
    total = len(y) + len(unretrieved)
    never = np.array([len(levels) for levels in curves.unretrieved])
    assert (curves.num_items + never == total).all()
    assert (curves.num_relevant - curves.num_hits == never).all()
    if stratified:
        assert (curves.num_relevant == curve.num_relevant).all()
    # How many items have a level is binomial; its mean is known.
    for level in (1, 2, 3):
        counts = np.array([(one.level_count[one.level == level]).sum() for one in curves])
        counts += [(levels == level).sum() for levels in curves.unretrieved]
        each = (y == level).sum() + unretrieved.count(level)
        whole = curve.num_relevant if stratified else total
        assert abs(counts.mean() - each) < 4 * math.sqrt(each * (1 - each / whole) / 500)
    # The levels of a row of two or more are drawn apart.
    assert (np.diff(curves.level_offsets) > 1).mean() > 0.3


def test_many_levels_in_one_row():
    """Real levels, all items tied: no more memory than the pairs take."""
    levels = np.arange(1, 20_001) / 7
    curves = hc.GainCurve(levels, np.zeros(20_000)).resample(20, rng=0)
    assert len(curves.above) == 20
    drawn = np.diff(curves.level_offsets)
    assert (abs(drawn - 20_000 * (1 - math.exp(-1))) < 400).all()
    assert (curves.num_hits == 20_000).all()


@pytest.mark.parametrize("place", [[0, 1, 2], [0, 0, 1], [2, -1, 0]])
def test_how_often_each_kind_was_drawn(place):
    """The counts of kinds add up to the hits of the rows that they lie in."""
    place = np.array(place)
    resampler = Resampler([30, 40, 50], place[:, None], [5], [[0]], [3], False)
    drawn = np.full((100, 3), -1)
    offsets, _, _, hits, _, num_hits, num_relevant = resampler.draw(np.random.SFC64(1), 100, drawn)[0]
    again = resampler.draw(np.random.SFC64(1), 100)[0]
    np.testing.assert_array_equal(hits, again[3])
    np.testing.assert_array_equal(drawn.sum(axis=1), num_relevant)
    np.testing.assert_array_equal(drawn[:, place >= 0].sum(axis=1), num_hits)
    for b, counts in enumerate(drawn):
        wanted = np.bincount(place[place >= 0], counts[place >= 0], minlength=3)
        assert hits[offsets[b] : offsets[b + 1]].tolist() == wanted[wanted > 0].tolist()
    for shape in ((99, 3), (100, 2)):
        with pytest.raises(ValueError, match="there are 100 resamples of 3 kinds"):
            resampler.draw(np.random.SFC64(1), 100, np.empty(shape, np.int64))


def test_nothing_to_draw():
    for curve in (hc.GainCurve([], []), hc.GainCurve([0, 0], [1, 2]), hc.GainCurve([], [], unretrieved=[2, 1])):
        curves = curve.resample(3, rng=0)
        assert curves.num_items.tolist() == [curve.num_items] * 3
        assert curves.num_relevant.tolist() == [curve.num_relevant] * 3
        assert curves.num_hits.tolist() == [0, 0, 0]


# --- intervals ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drawn_items():
    """Curves of items drawn one by one."""
    y, s, _ = graded(step=0.25)
    drawn = np.random.default_rng(2).integers(0, len(y), (10_000, len(y)))
    return hc.GainCurves(y[drawn], s[drawn])


@pytest.mark.parametrize("name", ["nDCG", "nDCG(dcg=exp-log2)@10", "ERR@20", "RBP(p=0.9)"])
def test_against_resampling_the_items(name, drawn_items):
    y, s, _ = graded(step=0.25)
    found = hc.GainCurve(y, s).interval(name, n_resamples=4000, rng=1)
    slow = drawn_items.measure(name)
    assert found.estimate == hc.GainCurve(y, s).measure(name)
    assert (found.method, found.bootstrap_distribution.shape) == ("bootstrap", (4000,))
    assert stats.ks_2samp(found.bootstrap_distribution, slow).pvalue > UNLIKELY
    np.testing.assert_allclose(found.confidence_interval, np.quantile(slow, [0.025, 0.975]), atol=0.2 * slow.std())
    assert found.standard_error == pytest.approx(slow.std(), rel=0.1)


def test_the_mean_gain_is_known():
    """Without a discount the gain of all items is a sum of independent draws: its mean and its spread are exact."""
    y, s, _ = graded()
    sums = hc.GainCurve(y, s).resample(5_000, rng=3).dcg(discount=np.ones(len(y)))
    error = math.sqrt(len(y)) * y.std()
    assert abs(sums.mean() - y.sum()) < 4 * error / math.sqrt(5_000)
    assert sums.std() == pytest.approx(error, rel=0.03)


def test_any_number_of_workers_and_a_generator():
    y, s, _ = graded()
    curve = hc.GainCurve(y, s)
    one, two = (curve.interval("nDCG@5", n_resamples=3000, rng=7, workers=workers) for workers in (1, 3))
    np.testing.assert_array_equal(one.bootstrap_distribution, two.bootstrap_distribution)
    rng = np.random.default_rng(7)
    first, second = (curve.interval("nDCG@5", n_resamples=99, rng=rng).confidence_interval for _ in range(2))
    assert first != second
    # They are those of the resamples.
    drawn = curve.resample(3000, rng=7).ndcg(5)
    np.testing.assert_array_equal(one.bootstrap_distribution, drawn)


def test_binary_measures():
    y, s, _ = graded()
    curve = hc.GainCurve(y, s)
    for name, level, plain in (("AP(rel=2)", 2, "AP"), ("AP", 1, "AP"), ("ROCAUC", 1, "ROCAUC")):
        found, wanted = curve.interval(name), curve.at_level(level).interval(plain)
        assert (found[0], found.method) == (wanted[0], wanted.method)
        assert found.measure == name
    assert curve.interval("ROCAUC(ties=best)", rng=0, n_resamples=50).method == "bootstrap"


def test_undefined():
    found = hc.GainCurve([0, 0], [1, 2]).interval("nDCG", rng=0)
    assert math.isnan(found.estimate) and math.isnan(found.confidence_interval.low)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"bootstrap_method": "BCa"}, "bootstrap_method='BCa' is not available for items with levels"),
        ({"method": "logit"}, "method='logit' is not available for nDCG"),
        ({"method": "t"}, "method='t' is unknown"),
        ({"measure": "Bpref"}, "Bpref needs judgments"),
        ({"ties": "threshold"}, "is not defined for ties='threshold'"),
    ],
)
def test_bad_arguments(options, problem):
    with pytest.raises(ValueError, match=problem):
        hc.GainCurve([2, 1, 0], [3, 2, 1]).interval(**options)


# --- comparisons --------------------------------------------------------------------------------------------


def test_over_queries():
    y, a, b = graded(600)
    qid = np.arange(600) // 10
    systems = {name: hc.GainCurves(y, s, qid=qid) for name, s in (("a", a), ("b", b))}
    found = hc.compare(systems, measures=["nDCG@5", "AP(rel=2)"], rng=1)
    for measure, row in zip(("nDCG@5", "AP(rel=2)"), found.rows, strict=True):
        values = {name: curves.measure(measure) for name, curves in systems.items()}
        (wanted,) = hc.compare(values, measures=[measure], rng=1).rows
        assert row == wanted
    assert [row.measure for row in hc.compare(systems, rng=1).rows] == ["nDCG"]
    # The same of arrays, by group.
    by_group = hc.compare(y, {"a": a, "b": b}, measures=["nDCG@5", "AP(rel=2)"], groups=qid, rng=1)
    assert by_group.rows == found.rows
    assert by_group.unit == "groups"
    # Queries are matched by their ids.
    order = np.random.default_rng(0).permutation(60)
    mixed = hc.GainCurves(y, b, qid=order[qid])
    with pytest.raises(ValueError, match="all systems must have the same queries"):
        hc.compare({"a": systems["a"], "b": hc.GainCurves(y, b, qid=qid + 1)})
    back = hc.compare({"a": hc.GainCurves(y, a, qid=order[qid]), "b": mixed}, measures="nDCG@5", rng=1).rows[0]
    assert back.difference == pytest.approx(found.rows[0].difference, rel=1e-12)


def test_over_items_against_resampling_them():
    y, a, b = graded(200, step=0.25)
    names = ["nDCG", "AP(rel=2)", "ROCAUC"]
    found = hc.compare(y, {"a": a, "b": b}, measures=names, n_resamples=2000, rng=1)
    assert (found.unit, found.count) == ("items", 200)
    rng = np.random.default_rng(2)
    drawn = rng.integers(0, 200, (3_000, 200))
    one, two = (hc.GainCurves(y[drawn], s[drawn]) for s in (a, b))
    slow = [two.measure(name) - one.measure(name) for name in names]
    one, two = (hc.GainCurve(y, s) for s in (a, b))
    for name, row, values in zip(names, found.rows, slow, strict=True):
        assert (row.measure, row.test) == (name, "bootstrap")
        assert row.difference == two.measure(name) - one.measure(name)
        np.testing.assert_allclose([row.low, row.high], np.quantile(values, [0.025, 0.975]), atol=0.2 * values.std())
    for value in found.systems:
        curve = {"a": one, "b": two}[value.system]
        assert tuple(curve.interval(value.measure, n_resamples=2000, rng=1)[0]) == (value.low, value.high)
    again = hc.compare(y, {"a": a, "b": b}, measures=names, n_resamples=2000, rng=1, workers=3)
    assert (again.rows, again.systems) == (found.rows, found.systems)


@pytest.mark.parametrize("stratified", [False, True])
def test_every_joint_resample_of_a_few_items(stratified):
    """Where an item of both is the better half of the time: by the interval's ends over all n**n ways."""
    levels, scores = [2, 1, 0, 1], ([4, 4, 3, 2], [1, 3, 3, 3])
    differences = []
    for drawn in product(range(4), repeat=4):
        some = [levels[i] for i in drawn]
        if stratified and sum(level > 0 for level in some) != 3:
            continue
        one, two = (hc.ndcg(some, [s[i] for i in drawn]) for s in scores)
        differences.append(two - one)
    row = hc.compare(
        levels, dict(zip("ab", scores, strict=True)), measures="nDCG", n_resamples=40_000, stratified=stratified, rng=3
    ).rows[0]  # fmt: skip
    known = np.sort([one for one in differences if not math.isnan(one)])
    # The quantiles of a discrete distribution: between those of neighbouring shares.
    for end, share in ((row.low, 0.025), (row.high, 0.975)):
        around = np.quantile(known, [max(0, share - 0.005), min(1, share + 0.005)])
        assert around[0] - 1e-12 <= end <= around[1] + 1e-12
    p = 2 * min(np.mean(known <= 0), np.mean(known >= 0))
    assert row.p_value == pytest.approx(min(1, p), abs=0.02)


def test_equal_systems_do_not_differ():
    y, a, _ = graded()
    for measure in ("nDCG", "ERR@10"):
        row = hc.compare(y, {"a": a, "b": 2 * a}, measures=measure, n_resamples=99, rng=0).rows[0]
        assert (row.difference, row.low, row.high, row.p_value) == (0, 0, 0, 1)


def test_missing_scores_and_directions():
    y, a, b = graded()
    hidden = a.copy()
    hidden[::7] = np.nan
    kept = ~np.isnan(hidden)
    how = {"measures": "nDCG", "nan_policy": "omit", "rng": 0}
    found = hc.compare(y, {"a": hidden, "b": -b}, lower_is_better={"b": True}, **how)
    wanted = hc.compare(y[kept], {"a": a[kept], "b": b[kept]}, measures="nDCG", rng=0)
    assert found.rows == wanted.rows
    last = hc.compare(y, {"a": hidden, "b": b}, measures="nDCG", nan_policy="worst", rng=0)
    low = hc.compare(y, {"a": np.nan_to_num(hidden, nan=-99), "b": b}, measures="nDCG", rng=0)
    assert last.rows == low.rows


@pytest.mark.parametrize(
    ("y", "options", "problem"),
    [
        ([2, 0, 1], {"measures": ["AP", "nDCG@2"], "relevance_level": 2}, "cannot be combined with nDCG@2"),
        ([2, 0, 1], {"measures": "nDCG", "method": "delong"}, "method='delong' is not available for nDCG"),
        ([2, 0, -1], {"measures": "nDCG"}, r"'a': y_true\[2\] is -1"),
        ([2, 0, 1], {"measures": "AP"}, "'a': y_true"),
        ([2, 0, 1], {"measures": "RBP(rel=0)"}, "relevance_level is 0: must be above 0"),
    ],
)
def test_what_cannot_be_compared(y, options, problem):
    with pytest.raises(ValueError, match=problem):
        hc.compare(y, {"a": [3, 2, 1], "b": [1, 2, 3]}, n_resamples=9, **options)
