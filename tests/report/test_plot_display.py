"""The object that plots return, keywords of lines, areas in the legend, the linear ROC axis."""

import pickle

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")

from matplotlib.figure import Figure  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402

import hitcurve as hc  # noqa: E402
from hitcurve.report import plot  # noqa: E402

CURVE = hc.HitCurve([1, 0, 1, 0, 0, 1, 0, 0], [9, 8, 7, 7, 7, 4, 3, 3])
OTHER = hc.HitCurve([1, 1, 0, 0, 0, 1, 0, 0], [9, 8, 7, 7, 7, 4, 3, 3])
GAIN = hc.GainCurve([2, 0, 3, 1, 0], [5, 4, 3, 3, 1])


def labels(display):
    return display.ax_.get_legend_handles_labels()[1]


# --- the object ---------------------------------------------------------------------------------------------


def test_what_a_display_has():
    one = CURVE.plot("roc")
    assert isinstance(one, plot.CurveDisplay)
    assert isinstance(one.line_, Line2D)
    assert one.line_ in one.ax_.get_lines()
    assert one.figure_ is one.ax_.figure
    two = hc.plot_curves({"a": CURVE, "b": OTHER})
    assert [line.get_label() for line in two.line_] == ["a", "b"]
    assert repr(two) == "CurveDisplay('hits', ['a', 'b'])"


def test_other_attributes_are_those_of_the_axes():
    display = CURVE.plot()
    display.set_title("docking")
    assert display.ax_.get_title() == "docking"
    assert display.figure is display.ax_.figure
    assert {"line_", "set_title"} <= set(dir(display))
    with pytest.raises(AttributeError, match="no_such"):
        display.no_such  # noqa: B018


def test_data_goes_to_the_plot_of_the_axes():
    display = CURVE.plot("roc", log_x=False)
    (line,) = display.plot([0, 1], [1, 0], "--", color="red")
    assert line in display.ax_.get_lines()
    assert (line.get_color(), line.get_linestyle()) == ("red", "--")


def test_drawn_again_elsewhere():
    display = CURVE.plot("roc", color="red")
    left, right = Figure().subplots(1, 2)
    assert display.plot(left) is display
    assert (display.ax_, display.figure_) == (left, left.figure)
    assert (display.line_.get_color(), left.get_xscale()) == ("red", "log")
    display.plot(ax=right, log_x=False, color="black")
    assert (display.ax_, right.get_xscale(), display.line_.get_color()) == (right, "linear", "black")
    assert display.plot().ax_ not in (left, right)
    assert (display.get_xscale(), display.line_.get_color()) == ("linear", "black")  # as the last time


def test_a_display_stands_for_its_axes(plt):
    first, second = CURVE.plot(ax=plt.figure().add_subplot()), CURVE.plot(ax=plt.figure().add_subplot())
    assert plt.gca() == second
    assert second != first
    plt.sca(first)
    assert plt.gca() is first.ax_
    assert CURVE.plot("hits", ax=second).ax_ is second.ax_
    second.figure_.delaxes(second)
    assert second.figure_.axes == []


def test_copies():
    display = pickle.loads(pickle.dumps(CURVE.plot("pr", label="a")))
    assert display.line_.get_label() == "a"
    assert display.line_ in display.ax_.get_lines()
    assert display.plot().line_.get_label() == "a"


def test_a_notebook_shows_it_once(plt):
    shown = CURVE.plot()
    assert shown._repr_png_() is None  # pyplot shows it
    plt.figure()
    current = plt.gcf()
    assert shown._repr_png_() is None
    assert plt.gcf() is current
    plt.close("all")
    assert shown._repr_png_()[:4] == b"\x89PNG"
    whole = Figure()
    inner = CURVE.plot(ax=whole.subfigures(1, 2)[0].add_subplot())
    assert inner._repr_png_()[:4] == b"\x89PNG"


# --- kinds --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pr", "PR", "Precision-Recall"])
def test_names_of_kinds(kind):
    whole = CURVE.plot("precision-recall").line_
    np.testing.assert_array_equal(CURVE.plot(kind).line_.get_xydata(), whole.get_xydata())
    assert GAIN.plot("Gain").get_ylabel() == "cumulated gain"
    assert CURVE.plot("ROC").get_xscale() == "log"


@pytest.mark.parametrize(("kind", "error"), [("Pie", ValueError), (5, TypeError), (["pr"], TypeError)])
def test_other_names(kind, error):
    with pytest.raises(error, match="kind") as caught:
        CURVE.plot(kind)
    assert repr(kind) in str(caught.value)


def test_roc_on_a_linear_axis():
    rng = np.random.default_rng(0)
    positive = rng.random(50_000) < 0.1
    curve = hc.HitCurve(positive, np.round(rng.normal(size=50_000) + positive, 1))
    display = curve.plot("roc", log_x=False, band=0.9, n_resamples=20, rng=1)
    assert (display.get_xscale(), display.get_xlim()) == ("linear", (0, 1))
    x, y = display.line_.get_xydata().T
    assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 1, 1)
    fpr, tpr, _ = curve.roc_curve()
    np.testing.assert_allclose([x, y], [fpr, tpr], rtol=1e-12)
    assert len(display.patches) == 1
    edge = display.collections[0].get_paths()[0].vertices
    at = edge[np.abs(edge[:, 0] - 0.3).argsort()[:2], 1]
    assert at.min() < np.interp(0.3, x, y) < at.max()
    random = {one.get_label(): one for one in display.get_lines()}["random order"].get_xydata()
    np.testing.assert_array_equal(random[[0, -1]], [[0, 0], [1, 1]])


@pytest.mark.parametrize("kind", ["hits", "pr", "enrichment"])
def test_a_linear_axis_is_of_roc(kind):
    with pytest.raises(ValueError, match="log_x=False needs kind='roc', got kind="):
        CURVE.plot(kind, log_x=False)
    with pytest.raises(TypeError, match="log_x must be True or False, got 'no'"):
        CURVE.plot("roc", log_x="no")


# --- lines --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", plot.KINDS)
def test_keywords_of_lines(kind):
    line = CURVE.plot(kind, color="red", label="docking", ls="--", lw=3, alpha=0.5, marker="o").line_
    assert (line.get_color(), line.get_label(), line.get_linestyle()) == ("red", "docking", "--")
    assert (line.get_linewidth(), line.get_alpha(), line.get_marker()) == (3, 0.5, "o")


def test_the_region_and_the_band_have_the_colour_of_the_line():
    display = CURVE.plot(c="#ff0000", band=0.9, n_resamples=10, rng=0)
    assert display.patches[0].get_facecolor()[:3] == (1, 0, 0)
    assert display.collections[0].get_facecolor()[0][:3].tolist() == [1, 0, 0]


def test_keywords_of_several_lines():
    a, b = hc.plot_curves({"a": CURVE, "b": OTHER}, color={"a": "red"}, linewidth=4).line_
    assert (a.get_color(), b.get_color()) == ("red", plot._COLOURS[1])
    assert (a.get_linewidth(), b.get_linewidth()) == (4, 4)
    assert GAIN.plot(color="red").line_.get_color() == "red"


@pytest.mark.parametrize(
    ("line", "error", "problem"),
    [
        ({"colour": "red"}, TypeError, "colour='red' is unknown"),
        ({"xdata": [1]}, TypeError, r"xdata=\[1\] is unknown"),
        ({"color": "nocolour"}, ValueError, "color='nocolour' cannot be drawn: .*nocolour"),
        ({"linewidth": "thick"}, ValueError, "linewidth='thick' cannot be drawn"),
        ({"alpha": 5}, ValueError, "alpha=5 cannot be drawn"),
        ({"color": {"b": "red"}}, ValueError, r"color\['b'\]: no curve has this name"),
        ({"c": "red", "color": "red"}, TypeError, "color"),
    ],
)
def test_other_keywords(line, error, problem):
    ax = Figure().add_subplot()
    with pytest.raises(error, match=problem):
        hc.plot_curves({"a": CURVE}, ax=ax, **line)
    assert len(ax.get_lines()) == 0


# --- areas --------------------------------------------------------------------------------------------------


def test_areas_in_the_legend():
    ap, auc = (f"{value:.2f}" for value in (CURVE.average_precision(), CURVE.roc_auc()))
    assert labels(hc.plot_curves({"a": CURVE}, "pr"))[-1] == f"a (AP = {ap})"
    assert labels(hc.plot_curves({"a": CURVE}, "roc"))[-1] == f"a (AUC = {auc})"
    assert labels(CURVE.plot("pr"))[-1] == f"AP = {ap}"
    assert labels(CURVE.plot("pr", label="mine"))[-1] == "mine"
    assert labels(hc.plot_curves({"_a": CURVE}, "pr"))[-1] == f"\u200b_a (AP = {ap})"
    assert labels(hc.plot_curves({"a": CURVE}, "pr", k=4))[-1] == "a"
    assert labels(hc.plot_curves({"a": CURVE}, "hits"))[-1] == "a"
    whole = plot.figure({"a": CURVE})
    assert [text.get_text() for text in whole.legends[0].get_texts()] == ["perfect order", "random order", "a"]


def test_areas_of_weighted_items():
    curve = hc.HitCurve([1, 0, 1, 0], [4, 3, 3, 1], sample_weight=[0.5, 1, 2, 1])
    assert curve.plot("pr").line_.get_label() == f"AP = {curve.average_precision(ties='threshold'):.2f}"
    assert curve.plot("roc").line_.get_label() == f"AUC = {curve.roc_auc(ties='threshold'):.2f}"
