"""Pictures: what is drawn, not its pixels; how far thinned lines are from whole ones; what cannot be drawn."""

import io
import pickle
import subprocess
import sys
from functools import cache
from itertools import product

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")

import hitcurve as hc  # noqa: E402
from hitcurve.report import plot  # noqa: E402

Y = [1, 0, 1, 0, 0, 1, 0, 0]
S = [9, 8, 7, 7, 7, 4, 3, 3]
CURVE = hc.HitCurve(Y, S)


@cache
def large(n=200_000, share=0.05, digits=None, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    s = rng.normal(size=n) + 1.5 * y
    return hc.HitCurve(y, s if digits is None else np.round(s, digits))


def line(ax, label=None):
    """The points of the line with this label; without one, of the only line that is no reference."""
    references = ("perfect order", "random order")
    lines = {one.get_label(): one for one in ax.get_lines()}
    (one,) = [lines[label]] if label else [one for name, one in lines.items() if name not in references]
    return np.asarray(one.get_xdata(), float), np.asarray(one.get_ydata(), float)


# --- what is drawn ------------------------------------------------------------------------------------------


def test_the_hit_curve():
    ax = CURVE.plot()
    x, y = line(ax)
    items, hits = CURVE.hit_curve()
    np.testing.assert_array_equal(np.interp(items, x, y), hits)
    assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 8, 3)
    assert line(ax, "perfect order")[0].tolist() == [0, 3, 8]
    assert line(ax, "perfect order")[1].tolist() == [0, 3, 3]
    assert line(ax, "random order")[1].tolist() == [0, 3]
    assert ax.get_xlim() == (0, 8)


def test_the_first_items_only():
    ax = CURVE.plot("hits", k=4)
    x, y = line(ax)
    assert x[-1] == 4
    assert y[-1] == CURVE.hits_at(4)
    assert ax.get_xlim() == (0, 4)


def test_precision_and_recall():
    x, y = line(CURVE.plot("precision-recall"))
    ranks = np.arange(1, 9)
    np.testing.assert_allclose(x, CURVE.recall(ranks))
    np.testing.assert_allclose(y, CURVE.precision(ranks))


def test_roc():
    ax = CURVE.plot("roc")
    x, y = line(ax)
    assert ax.get_xscale() == "log"
    fpr, tpr, _ = CURVE.roc_curve()
    for rate in (0.2, 0.3, 0.5, 0.9):
        # TPR at a rate between corners: straight on the linear axis, so nearly straight between the points drawn.
        assert np.interp(rate, x, y) == pytest.approx(np.interp(rate, fpr, tpr), abs=2e-3)
    random = line(ax, "random order")
    np.testing.assert_array_equal(*random)


def test_enrichment():
    ax = CURVE.plot("enrichment")
    x, y = line(ax)
    ranks = np.arange(1, 9)
    np.testing.assert_allclose(x, ranks / 8)
    np.testing.assert_allclose(y, CURVE.enrichment_factor(k=ranks))
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    share, most = line(ax, "perfect order")
    np.testing.assert_allclose(most, np.minimum(3 / 8, share) / share * (8 / 3))


def test_enrichment_begins_with_the_first_hit():
    x, _ = line(hc.HitCurve([0, 0, 1, 0], [4, 3, 2, 1]).plot("enrichment"))
    assert x[0] == 3 / 4


def test_no_references_for_curves_of_different_sizes():
    ax = hc.plot_curves({"a": CURVE, "b": hc.HitCurve([1, 0], [2, 1])})
    assert [one.get_label() for one in ax.get_lines()] == ["a", "b"]


def test_lines_differ_in_colour_and_style():
    ax = hc.plot_curves(dict.fromkeys("abcde", CURVE))
    lines = [one for one in ax.get_lines() if one.get_label() in "abcde"]
    assert len({one.get_color() for one in lines}) == 5
    assert len({str(one._unscaled_dash_pattern) for one in lines}) == 5
    legend = {text.get_text() for text in ax.figure.legends[0].get_texts()}
    assert legend == {*"abcde", "perfect order", "random order"}


def test_into_axes_of_ones_own():
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    assert hc.plot_curves({"a": CURVE}, "roc", ax=ax).ax_ is ax
    assert ax.get_legend() is not None


@pytest.mark.parametrize("kind", plot.KINDS)
def test_ties_are_shaded_from_worst_to_best(kind):
    (patch,) = CURVE.plot(kind).patches
    x, y = patch.get_xy().T
    limits = plot._limits({"": CURVE}, kind, None)
    for ties in ("best", "worst"):
        points = plot.drawn_points(CURVE, kind, limits, ties)
        assert {(round(a, 12), round(b, 12)) for a, b in zip(*points, strict=True)} <= {
            (round(a, 12), round(b, 12)) for a, b in zip(x, y, strict=True)
        }
    without = hc.HitCurve([1, 0, 1, 0], [4, 3, 2, 1])
    assert len(without.plot(kind).patches) == 0


def test_the_region_holds_every_order():
    curve = hc.HitCurve([0, 1, 1, 0, 0], [2, 1, 1, 1, 0])
    limits = plot._limits({"": curve}, "hits", None)
    best = np.interp(np.arange(6), *plot.drawn_points(curve, "hits", limits, "best"))
    worst = np.interp(np.arange(6), *plot.drawn_points(curve, "hits", limits, "worst"))
    assert best.tolist() == [0, 0, 1, 2, 2, 2]
    assert worst.tolist() == [0, 0, 0, 1, 2, 2]


def test_weights():
    curve = hc.HitCurve(Y, S, sample_weight=np.linspace(0.5, 2, 8))
    x, y = line(curve.plot())
    items, hits = curve.hit_curve(ties="threshold")
    np.testing.assert_allclose(np.interp(items, x, y), hits)


# --- thinning -----------------------------------------------------------------------------------------------


def distance(x, y, line_x, line_y, limits, log_x):
    """The greatest horizontal distance, in shares of the axis, from points to the places where a line has their height
    in reach of them (no farther than a column)."""

    def place(x):
        return np.log(x / limits.left) / np.log(limits.right / limits.left) if log_x else x / limits.right

    a, b = place(line_x), line_y
    worst = 0.0
    low, high = np.minimum(b[:-1], b[1:]), np.maximum(b[:-1], b[1:])
    for px, py in zip(place(x), y, strict=True):
        near = slice(max(np.searchsorted(a, px - 0.01) - 1, 0), np.searchsorted(a, px + 0.01) + 1)
        begin, end = a[:-1][near], a[1:][near]
        slack = 1e-9 * max(1, abs(py))
        crossed = (low[near] <= py + slack) & (high[near] >= py - slack)
        step = np.where(b[1:][near] == b[:-1][near], 1, b[1:][near] - b[:-1][near])
        at = begin + np.clip((py - b[:-1][near]) / step, 0, 1) * (end - begin)
        level = b[1:][near] == b[:-1][near]
        at = np.where(level, np.clip(px, begin, end), at)
        worst = max(worst, np.abs(at - px)[crossed].min(initial=np.inf))
    return worst


@pytest.mark.parametrize("kind", plot.KINDS)
@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("ties", ["expected", "worst", "best"])
def test_a_thinned_line_is_near_the_whole_one(kind, digits, ties, monkeypatch):
    curve = large(digits=digits)
    limits = plot._limits({"": curve}, kind, None)
    thin_x, thin_y = plot.drawn_points(curve, kind, limits, ties)
    monkeypatch.setattr(plot, "_COLUMNS", 1 << 40)
    x, y = plot.drawn_points(curve, kind, limits, ties)
    assert len(thin_x) <= min(4000, len(x))
    assert (thin_x[0], thin_y[0], thin_x[-1], thin_y[-1]) == (x[0], y[0], x[-1], y[-1])
    some = np.random.default_rng(1).integers(0, len(x), 2000)
    assert distance(x[some], y[some], thin_x, thin_y, limits, plot._AXES[kind].log_x) <= 1e-3


def test_short_lines_are_whole():
    x = np.arange(100.0)
    limits = plot.Limits(0, 99, 0, 1, 99)
    assert plot.thinned(x, x, limits)[0] is x


def test_the_whole_line_is_the_curve():
    """Corners and ranks in between, by the read-outs of the curve itself."""
    curve = large(20_000, digits=1)
    limits = plot._limits({"": curve}, "precision-recall", None)
    for ties in ("expected", "best", "worst"):
        x, h = plot._path(curve, "precision-recall", ties, limits)
        assert np.array_equal(x, np.rint(x))
        np.testing.assert_allclose(h, curve.hits_at(x.astype(int), ties=ties), atol=1e-9)


# --- bands --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", plot.KINDS)
def test_bands_are_quantiles_of_resamples(kind):
    curve = large(2000, digits=1)
    found = plot.bands({"a": curve}, (kind,), level=0.8, n_resamples=40, rng=5)[kind]["a"]
    x, low, high = found
    drawn = list(curve.resample(40, rng=5, stratified=kind in ("hits", "enrichment")))
    for at in (20, 100, -10):
        place = x[at]
        if kind == "hits":
            values = [np.interp(place, *one.hit_curve()) for one in drawn]
        elif kind == "enrichment":
            values = [one.enrichment_factor(k=round(place * 2000)) for one in drawn]
        elif kind == "roc":
            values = [np.interp(place, *one.roc_curve()[:2]) for one in drawn]
        else:
            values = []
            for one in drawn:
                items, hits = one.hit_curve()
                fine = np.linspace(0, 2000, 100_001)
                reached = fine[np.argmax(np.interp(fine, items, hits) >= place * one.num_relevant - 1e-9)]
                values.append(place * one.num_relevant / reached)
        expected = np.quantile(values, [0.1, 0.9])
        if kind == "enrichment":
            expected = np.maximum(expected, plot._limits({"": curve}, kind, None).bottom)
        np.testing.assert_allclose([low[at], high[at]], expected, rtol=2e-3)


def test_bands_are_the_intervals():
    """Of hits at a rank and of enrichment at a share, from the same seed."""
    curve = hc.HitCurve(np.arange(1990) % 40 == 0, np.round(np.sin(np.arange(1990.0)), 2))
    found = plot.bands({"a": curve}, ("hits", "enrichment"), level=0.8, n_resamples=60, rng=5, workers=2)
    options = {"method": "bootstrap", "confidence_level": 0.8, "n_resamples": 60, "rng": 5, "stratified": True}
    for at in (1, 20, 150):
        place, low, high = (column[at] for column in found["hits"]["a"])
        between = curve.interval(f"Hits@{round(place)}", **options).confidence_interval
        np.testing.assert_allclose([low, high], between, rtol=1e-12)
    drawn = curve.resample(60, rng=5, stratified=True)
    for at in (60, 100, -1):
        share, low, high = (column[at] for column in found["enrichment"]["a"])
        expected = np.quantile(drawn.enrichment_factor(k=round(share * 1990)), [0.1, 0.9])
        np.testing.assert_allclose([low, high], np.maximum(expected, 0.5), rtol=1e-12)


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))])
@pytest.mark.parametrize("of", ["perfect", "worst", "few", "tied", "not retrieved"])
def test_bands_lie_between_the_worst_and_the_perfect_order(of, seed):
    """A resample has as many relevant items, and as many of each level, as there are: no order has more, or fewer."""
    rng = np.random.default_rng(seed)
    size = 60
    level = np.where(rng.random(size) < (0.05 if of == "few" else 0.4), rng.integers(1, 4, size), 0)
    level[0] = 2
    score = {"perfect": level, "worst": -level, "tied": rng.integers(0, 3, size)}.get(of, rng.random(size))
    score = score.astype(float)
    more = [2, 3] if of == "not retrieved" else []
    flags = hc.HitCurve(level > 0, score, num_relevant=np.count_nonzero(level) + len(more))
    gains = hc.GainCurve(level, score, unretrieved=more)
    how = {"level": 0.95, "n_resamples": 99, "rng": seed}
    relevant, others = flags.num_relevant, size - flags.num_hits
    x, low, high = plot.bands({"a": flags}, ("hits", "roc"), **how)["hits"]["a"]
    assert np.all(high <= np.minimum(x, relevant) + 1e-9)
    assert np.all(low >= (0 if more else np.maximum(0, x - others)) - 1e-9)
    x, low, high = plot.bands({"a": flags}, ("enrichment",), **how)["enrichment"]["a"]
    assert np.all(high <= np.maximum(np.minimum(x * size, relevant) / (x * relevant), 0.5) + 1e-9)
    for gain in ("linear", "exponential"):
        x, low, high = plot.bands({"a": gains}, ("gain",), gain=gain, **how)["gain"]["a"]
        worth = np.sort([2.0**one - 1 if gain == "exponential" else one for one in [*level, *more]])
        assert np.all(high <= np.interp(x, np.arange(len(worth) + 1), [0, *np.cumsum(worth[::-1])]) + 1e-9)
        if not more:
            assert np.all(low >= np.interp(x, np.arange(len(worth) + 1), [0, *np.cumsum(worth)]) - 1e-9)


def test_bands_hold_the_line():
    curve = large(2000)
    ax = curve.plot("hits", band=0.95, n_resamples=200, rng=1)
    (band,) = ax.collections
    edge = band.get_paths()[0].vertices
    x, y = line(ax)
    middle = np.interp(1000, x, y)
    at = edge[np.abs(edge[:, 0] - 1000).argsort()[:2], 1]
    assert at.min() < middle < at.max()


def test_bands_do_not_depend_on_threads():
    curve = large(2000)
    one = plot.bands({"a": curve}, ("roc",), level=0.9, n_resamples=20, rng=3, workers=1)
    two = plot.bands({"a": curve}, ("roc",), level=0.9, n_resamples=20, rng=3, workers=2)
    np.testing.assert_array_equal(one["roc"]["a"], two["roc"]["a"])


# --- figures, files, errors ---------------------------------------------------------------------------------


def test_four_pictures_under_one_legend():
    whole = plot.figure({"a": CURVE, "b": CURVE}, title="both", band=0.9, n_resamples=10, rng=0)
    assert len(whole.axes) == 4
    assert [text.get_text() for text in whole.legends[0].get_texts()] == ["perfect order", "random order", "a", "b"]
    assert all(ax.get_legend() is None for ax in whole.axes)
    assert len(plot.figure({"a": CURVE}, ("roc",)).axes) == 1


@pytest.mark.usefixtures("no_layout")
@pytest.mark.parametrize("form", ["png", "svg", pytest.param("pdf", marks=pytest.mark.slow)])
def test_saved(tmp_path, form):
    path = tmp_path / f"a.{form}"
    CURVE.plot().figure.savefig(path)
    assert path.stat().st_size > 1000


REST = sorted(set(product([True, False], plot.KINDS)) - {(True, "roc"), (False, "hits")})


def ink(png):
    """The share of the pixels of a picture, or of its bytes, that are not white."""
    from matplotlib.image import imread

    return float((imread(io.BytesIO(png) if isinstance(png, bytes) else png, format="png")[..., :3] < 1).any(-1).mean())


@pytest.mark.usefixtures("no_layout")
@pytest.mark.parametrize(
    ("of_one", "kind"),
    [(True, "roc"), (False, "hits"), *(pytest.param(*case, marks=pytest.mark.slow) for case in REST)],
)
def test_pyplot_writes_and_shows_what_was_drawn(tmp_path, plt, kind, of_one):
    def draw():
        return CURVE.plot(kind) if of_one else hc.plot_curves({"a": CURVE}, kind)

    ax = draw()
    assert (plt.get_fignums(), plt.gcf(), plt.gca()) == ([1], ax.figure, ax)
    plt.savefig(tmp_path / "a.png")
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "matplotlib.pyplot")
        apart = draw()
    assert plt.get_fignums() == [1]
    assert ink(tmp_path / "a.png") > 0.5 * ink(apart._repr_png_()) > 0.01


def test_pyplots_current_axes(plt):
    whole, (left, right) = plt.subplots(1, 2)
    plt.sca(left)
    assert CURVE.plot("roc").ax_ is left
    assert hc.plot_curves({"b": CURVE}, "roc").ax_ is left
    assert [one.get_label() for one in left.get_lines()].count("random order") == 1
    assert len({one.get_color() for one in left.get_lines()}) == 3
    assert CURVE.plot(ax=right).ax_ is right
    assert plt.get_fignums() == [whole.number]
    apart = plot.figure({"a": CURVE})
    assert apart is not plt.gcf() and len(whole.axes) == 2


@pytest.mark.usefixtures("no_layout")
def test_a_notebook_shows_axes_and_figures_without_pyplot():
    ax = CURVE.plot("roc")
    for one in (ax, ax.figure, pickle.loads(pickle.dumps(ax)), plot.figure({"a": CURVE}, ("hits", "roc"))):
        shown = one._repr_png_()
        assert shown[:4] == b"\x89PNG"
        assert ink(shown) > 0.01


def test_no_window_and_no_global_state():
    code = (
        "import sys, hitcurve as hc\n"
        "assert 'matplotlib' not in sys.modules\n"
        "hc.HitCurve([1, 0], [2, 1]).plot('roc')\n"
        "assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("curves", "arguments", "error", "problem"),
    [
        ({"a": CURVE}, ("pie",), ValueError, "kind='pie' is unknown: must be one of 'hits', 'precision-recall', 'roc'"),
        ({}, (), ValueError, "curves is empty"),
        ([CURVE], (), TypeError, "curves must be a mapping of names to HitCurve, got list"),
        ({"a": hc.HitCurves([[1, 0]], [[2, 1]])}, ("roc",), TypeError, r"got HitCurves: pass one .* plot_evaluations$"),
        ({"a": [1, 0]}, (), TypeError, r"curves\['a'\] must be a HitCurve, got list"),
        ({"a": hc.HitCurve([0, 0], [1, 2])}, (), ValueError, r"curves\['a'\] has no relevant item"),
        ({"a": hc.HitCurve([1, 1], [1, 2])}, ("roc",), ValueError, r"curves\['a'\] has only relevant items"),
        ({"a": hc.HitCurve(Y, S, num_relevant=9)}, ("roc",), ValueError, "num_relevant is 9"),
        ({"a": hc.HitCurve(Y, S, num_relevant=9)}, ("enrichment",), ValueError, "num_relevant is 9"),
    ],
)
def test_what_cannot_be_drawn(curves, arguments, error, problem):
    with pytest.raises(error, match=problem):
        hc.plot_curves(curves, *arguments)


def test_no_items_to_draw():
    with pytest.raises(ValueError, match="k is 0: ranks start at 1"):
        CURVE.plot(k=0)


def test_items_that_were_never_retrieved():
    curve = hc.HitCurve(Y, S, num_relevant=9)
    _, y = line(curve.plot())
    assert y[-1] == 3
    x, _ = line(curve.plot("precision-recall"))
    assert x[-1] == 3 / 9
