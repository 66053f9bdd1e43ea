"""The corner points of gain curves against all orders of tied items, in exact fractions; and their pictures."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import reference as ref
from examples import few
from hypothesis import given
from hypothesis import strategies as st
from test_gains import orders

import hitcurve as hc
from hitcurve.statistics.resampling import curve_blocks

GAINS = ("linear", "exponential", {1: 3, 2: 1}, [0.5, 0.25, 4], {0: 2, 1: 0, 2: 1})


# --- the slow twin ------------------------------------------------------------------------------------------


def gained(order, gain):
    return [Fraction(0), *itertools.accumulate(ref.worth(gain, level) for level in order)]


def every_curve(levels, scores, lower, gain):
    """What the first 0, 1, ... n items gain, in each order of the items that the scores allow."""
    return [gained(order, gain) for order in orders(levels, scores, lower)]


READ = {"expected": lambda values: sum(values) / len(values), "best": max, "worst": min}


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=6),
    st.booleans(),
    st.sampled_from(GAINS),
    st.lists(st.integers(1, 2), max_size=3),
)
def test_all_orders(items, lower, gain, unretrieved):
    levels, scores = [level for level, _ in items], [score for _, score in items]
    curve = hc.GainCurve(levels, scores, lower_is_better=lower, unretrieved=unretrieved)
    curves = every_curve(levels, scores, lower, gain)
    ranks = np.arange(len(items) + 1)
    for ties, read in READ.items():
        points = curve.gain_curve(gain=gain, ties=ties)
        assert (points.items.dtype, points.gain.dtype) == (np.int64, np.float64)
        assert (np.diff(points.items) > 0).all()
        wanted = [float(read(heights)) for heights in zip(*curves, strict=True)]
        np.testing.assert_allclose(np.interp(ranks, *points), wanted, rtol=1e-14, atol=1e-14)
    points = curve.gain_curve(gain=gain, ideal=True)
    falling = sorted(levels + unretrieved, key=lambda level: -ref.worth(gain, level))
    wanted = [float(one) for one in gained(falling, gain)]
    np.testing.assert_allclose(np.interp(np.arange(len(wanted)), *points), wanted, rtol=1e-14)
    assert points.items[-1] == len(falling)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9)), max_size=60), st.sampled_from(list(READ)))
def test_of_one_level_it_is_the_hit_curve(items, ties):
    flags, scores = [flag for flag, _ in items], [score for _, score in items]
    points, hits = hc.GainCurve(flags, scores).gain_curve(ties=ties), hc.HitCurve(flags, scores).hit_curve(ties=ties)
    assert points.items.tolist() == hits.items.tolist()
    assert points.gain.tolist() == hits.hits.tolist()


@few(20)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 12)), min_size=1, max_size=80), st.sampled_from(GAINS[:2]))
def test_the_bounds_and_dcg_without_a_discount(items, gain):
    levels, scores = np.array(items).T
    curve = hc.GainCurve(levels, scores)
    ranks = np.arange(1, len(items) + 1)
    expected, best, worst = (np.interp(ranks, *curve.gain_curve(gain=gain, ties=ties)) for ties in READ)
    ideal = np.interp(ranks, *curve.gain_curve(gain=gain, ideal=True))
    for less, more in ((worst, expected), (expected, best), (best, ideal)):
        assert (less <= more + 1e-9).all()
    found = curve.dcg(ranks, gain=gain, discount=np.ones(len(items)))
    np.testing.assert_allclose(expected, found, rtol=1e-13, atol=1e-13)


def test_few_points_of_many_items():
    """Two a row under expected ties, one more for each of its gains under the others, however many items there are."""
    many = 10**15
    curve = hc.GainCurve.from_table(
        [2.0, 1.0], [5, 5 + many], [many, many], [0, 3, 4], [1, 2, 3, 1], [7, 10**9, 3, 5], num_items=3 * many
    )
    gain = 7 + 2 * 10**9 + 9.0
    points = curve.gain_curve()
    assert points.items.tolist() == [0, 5, 5 + many, 5 + 2 * many, 3 * many]
    assert points.gain.tolist() == [0, 0, gain, gain + 5, gain + 5]
    points = curve.gain_curve(ties="best")
    assert points.items.tolist()[:6] == [0, 5, 8, 8 + 10**9, 15 + 10**9, 5 + many]
    assert points.gain.tolist()[:6] == [0, 0, 9, gain - 7, gain, gain]
    points = curve.gain_curve(ties="worst")
    ends = [5 + many - one for one in (10 + 10**9, 3 + 10**9, 3, 0)]
    assert points.items.tolist()[:6] == [0, 5, *ends]
    assert points.gain.tolist()[:6] == [0, 0, 0, 7, gain - 9, gain]
    # Levels that gain the same have no corner between them.
    assert len(curve.gain_curve(gain={1: 2, 2: 2, 3: 2}, ties="best").items) == 7
    assert curve.gain_curve(ideal=True).items.tolist() == [0, 3, 3 + 10**9, 15 + 10**9, 3 * many]


def test_sums_are_compensated():
    levels = np.full(100_000, 0.1)
    points = hc.GainCurve(levels, -np.arange(100_000)).gain_curve()
    assert points.gain[-1] == float(100_000 * Fraction(0.1))


@pytest.mark.parametrize(
    ("options", "error", "problem"),
    [
        ({"ties": "threshold"}, ValueError, "gain_curve is not defined for ties='threshold'"),
        ({"ties": "mean"}, ValueError, "ties='mean'"),
        ({"ideal": 1}, TypeError, "ideal must be True or False, got 1"),
        ({"gain": {1: 2}}, ValueError, "gain has no level 3"),
        ({"gain": -1}, TypeError, "gain must be 'linear', .*, got -1 of type int"),
        ({"gain": {1: 1e308, 3: 1e308}}, ValueError, r"a gain is 1e\+308: the sum over 3 items may be beyond the "
                                                     r"greatest float64"),
    ],
)
def test_bad_arguments(options, error, problem):
    with pytest.raises(error, match=problem):
        hc.GainCurve([1, 0, 3], [3, 2, 1]).gain_curve(**options)


# --- pictures -----------------------------------------------------------------------------------------------

LEVELS = [2, 0, 3, 1, 0, 0, 1, 0]
SCORES = [9, 8, 7, 7, 7, 4, 3, 2]
CURVE = hc.GainCurve(LEVELS, SCORES)


@pytest.fixture
def plot():
    pytest.importorskip("matplotlib")
    from hitcurve.report import plot

    return plot


def lines(ax):
    return {one.get_label(): np.asarray(one.get_xydata(), float).T for one in ax.get_lines()}


def test_the_picture(plot):
    ax = CURVE.plot()
    found = lines(ax)
    (own,) = (xy for name, xy in found.items() if name not in plot._REFERENCES)
    np.testing.assert_array_equal(own, CURVE.gain_curve())
    np.testing.assert_array_equal(found["ideal order"], CURVE.gain_curve(ideal=True))
    np.testing.assert_array_equal(found["random order"], [[0, 8], [0, 7]])
    assert (ax.get_title(), ax.get_xlabel(), ax.get_ylabel()) == ("Gain curve", "items from the top", "cumulated gain")
    assert ax.get_xlim() == (0, 8)
    assert ax.get_ylim()[1] > 7


def test_the_first_items_and_other_gains(plot):
    ax = CURVE.plot("gain", k=3, gain="exponential")
    found = lines(ax)
    (own,) = (xy for name, xy in found.items() if name not in plot._REFERENCES)
    assert own[0, -1] == 3
    assert own[1, -1] == pytest.approx(CURVE.dcg(3, gain="exponential", discount=[1, 1, 1]))
    np.testing.assert_array_equal(np.interp([0, 1, 2, 3], *found["ideal order"]), [0, 7, 10, 11])
    assert ax.get_xlim() == (0, 3)
    assert ax.get_ylim()[1] == pytest.approx(1.04 * (7 + 3 + 1))


def test_the_region_of_ties_holds_every_order(plot):
    (patch,) = CURVE.plot().patches
    corners = {tuple(point) for point in patch.get_xy().tolist()}
    for ties in ("best", "worst"):
        items, gain = CURVE.gain_curve(ties=ties)
        assert set(zip(items.tolist(), gain.tolist(), strict=True)) <= corners
    assert len(hc.GainCurve([1, 2], [1, 1]).plot().patches) == 1  # all relevant, of two levels
    assert len(hc.GainCurve([2, 2, 0], [1, 1, 0]).plot().patches) == 0


def test_several_curves_and_those_of_queries(plot):
    queries = hc.GainCurves([LEVELS, LEVELS], [SCORES, SCORES[::-1]])
    ax = hc.plot_curves(dict(zip("ab", queries, strict=True)), "gain")
    assert set(lines(ax)) == {"ideal order", "random order", "a", "b"}
    assert {text.get_text() for text in ax.figure.legends[0].get_texts()} == set(lines(ax))
    # A reference that is not the same for all is left out: here all have one ideal, but others were retrieved.
    less = hc.GainCurve(LEVELS[:2], SCORES[:2], unretrieved=[3, 1, 1])
    ax = hc.plot_curves({"a": CURVE, "b": less}, "gain")
    assert set(lines(ax)) == {"ideal order", "a", "b"}
    ax = hc.plot_curves({"a": CURVE, "b": hc.GainCurve([1, 0], [2, 1])}, "gain")
    assert set(lines(ax)) == {"a", "b"}


def test_a_band_is_the_quantiles_of_resamples(plot):
    rng = np.random.default_rng(0)
    levels = rng.choice([0, 0, 0, 1, 2, 3], 200)
    curve = hc.GainCurve(levels, np.round(rng.normal(size=200) + levels, 1))
    how = {"gain": "exponential", "n_resamples": 50, "rng": 3}
    x, low, high = plot.bands({"a": curve}, ("gain",), level=0.8, **how)["gain"]["a"]
    # The items of each level are drawn apart: the gain of all items together stays what it is.
    resamples = [one for block in curve_blocks(curve, 50, 3, 1, list, by_level=True) for one in block]
    whole = curve.gain_curve(gain="exponential")[1][-1]
    assert all(one.gain_curve(gain="exponential")[1][-1] == whole for one in resamples)
    drawn = [np.interp(x, *one.gain_curve(gain="exponential")) for one in resamples]
    np.testing.assert_allclose([low, high], np.quantile(drawn, [0.1, 0.9], axis=0), rtol=1e-12)
    (band,) = curve.plot(band=0.8, **how).collections
    edge = set(map(tuple, band.get_paths()[0].vertices.tolist()))
    assert set(zip(x.tolist(), high.tolist(), strict=True)) <= edge


def test_long_curves_are_thinned(plot):
    rng = np.random.default_rng(0)
    levels = rng.choice([0, 0, 1, 2, 3.5], 50_000)
    curve = hc.GainCurve(levels, rng.normal(size=50_000) + levels)
    ax = curve.plot()
    for name, (x, y) in lines(ax).items():
        assert len(x) <= 4000
        if name not in plot._REFERENCES:
            assert np.abs(np.interp(curve.gain_curve().items, x, y) - curve.gain_curve().gain).max() < 1e-3 * y[-1]


@pytest.mark.parametrize(
    ("curve", "kind", "options", "error", "problem"),
    [
        (CURVE, "roc", {}, TypeError, r"must be a HitCurve, got GainCurve: pass curve.at_level\(1\) for kind='roc'"),
        (CURVE.at_level(1), "gain", {}, TypeError, r"curves\['a'\] must be a GainCurve, got HitCurve"),
        (CURVE.at_level(1), "hits", {"gain": [0, 1]}, ValueError, "gain needs kind='gain', got kind='hits'"),
        (CURVE, "gain", {"gain": {1: 1}}, ValueError, "gain has no level 2"),
        (CURVE, "gain", {"k": 0}, ValueError, "k is 0"),
        (CURVE, "gain", {"band": 5}, ValueError, "band is 5: must be between 0 and 1"),
        (CURVE.at_level(1), "hits", {"band": "5"}, TypeError, "band"),
        (hc.GainCurve([0, 0], [1, 2]), "gain", {}, ValueError, r"curves\['a'\] has no item with a gain"),
        ([1], "gain", {}, TypeError, r"curves\['a'\] must be a GainCurve, got list"),
    ],
)
def test_what_cannot_be_drawn(plot, curve, kind, options, error, problem):
    with pytest.raises(error, match=problem):
        hc.plot_curves({"a": curve}, kind, **options)


def test_hit_curves_of_a_level_are_drawn(plot):
    assert CURVE.at_level(2).plot("roc").get_ylabel() == "true positive rate"
    with pytest.raises(TypeError, match=r"at_level\(1\)"):
        CURVE.plot("precision-recall")
