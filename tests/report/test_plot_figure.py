"""Figures in the size of a publication: sizes, letters, texts, fonts."""

import io

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")

import hitcurve as hc  # noqa: E402

CURVE = hc.HitCurve([1, 0, 1, 0, 0, 1, 0, 0], [9, 8, 7, 7, 7, 4, 3, 3])
MANY = {f"a system with a long name {at}": np.random.default_rng(at).random(50) for at in range(10)}


@pytest.mark.parametrize(("width", "inches"), [("column", 3.5), ("page", 7.2), (5, 5.0), (2.25, 2.25)])
def test_sizes(width, inches):
    whole = hc.plot_figure(width=width)
    assert whole.get_figwidth() == inches
    assert len(whole.axes) == 1
    assert whole.axes[0].get_title(loc="left") == ""
    assert hc.plot_figure(3, 2, width=width, height=4).get_size_inches().tolist() == [inches, 4]


def test_letters():
    letters = [ax.get_title(loc="left") for ax in hc.plot_figure(7, 4).axes]
    assert letters == [*"abcdefghijklmnopqrstuvwxyz", "aa", "ab"]


@pytest.mark.parametrize(
    ("options", "error", "problem"),
    [
        ({"width": "wide"}, ValueError, "width='wide'"),
        ({"width": 0}, ValueError, "width must be a positive number of inches, got 0"),
        ({"width": float("nan")}, ValueError, "width"),
        ({"width": None}, TypeError, "width"),
        ({"height": -1}, ValueError, "height must be a positive number of inches, got -1"),
        ({"rows": 0}, ValueError, "rows"),
        ({"columns": 1.5}, TypeError, "columns"),
    ],
)
def test_other_sizes(options, error, problem):
    with pytest.raises(error, match=problem):
        hc.plot_figure(**options)


@pytest.mark.usefixtures("no_layout")
@pytest.mark.parametrize("kind", ["roc", pytest.param("precision-recall", marks=pytest.mark.slow), "enrichment"])
def test_texts_are_small_and_settings_stay(kind):
    before = dict(matplotlib.rcParams)
    whole = hc.plot_figure(1, 2, width="page")
    for ax in whole.axes:
        CURVE.plot(kind, ax=ax)
    whole.savefig(io.BytesIO(), format="pdf")
    assert dict(matplotlib.rcParams) == before
    for ax in whole.axes:
        texts = [ax.title, ax.xaxis.label, *ax.get_xticklabels(), *ax.get_yticklabels()]
        sizes = [text.get_fontsize() for text in texts]
        assert min(sizes) == 7
        assert max(sizes) == 8
        (below,) = ax.figure.legends
        assert {text.get_fontsize() for text in below.get_texts()} == {7.2}


@pytest.mark.usefixtures("no_layout")
def test_fonts_are_embedded_as_truetype():
    for whole in (hc.plot_figure(), CURVE.plot().figure_):
        CURVE.plot(ax=whole.axes[0])
        out = io.BytesIO()
        whole.savefig(out, format="pdf")
        assert b"/FontFile2" in out.getvalue()
        assert b"/Type3" not in out.getvalue()


@pytest.mark.usefixtures("no_layout")
@pytest.mark.parametrize(
    ("form", "begin"),
    [("pdf", b"%PDF"), ("svg", b"<?xml"), ("png", b"\x89PNG"), ("jpg", b"\xff\xd8"), ("eps", b"%!PS")],
)
def test_forms(form, begin, tmp_path):
    whole = hc.plot_figure(height=2)
    CURVE.plot(ax=whole.axes[0])
    whole.savefig(tmp_path / f"one.{form}")
    assert (tmp_path / f"one.{form}").read_bytes().startswith(begin)


@pytest.mark.usefixtures("no_layout")
def test_dots():
    image = pytest.importorskip("PIL.Image")
    whole = hc.plot_figure(height=2)
    for options, dots in (({}, 300), ({"dpi": 100}, 100)):
        out = io.BytesIO()
        whole.savefig(out, format="png", **options)
        assert image.open(out).size == (3.5 * dots, 2 * dots)
    assert image.open(io.BytesIO(whole._repr_png_())).size == (3.5 * 150, 2 * 150)


@pytest.mark.parametrize("kind", ["distribution", "queries"])
def test_a_legend_stays_on_the_page(kind):
    """However long the names are, and clear of the axes."""
    whole = hc.plot_figure(1, 2, width="page", height=5)
    for ax in whole.axes:
        hc.plot_evaluations(MANY, kind, measure="AP", ax=ax)
    whole.draw_without_rendering()
    for ax in whole.axes:
        (one,) = ax.figure.legends
        box, part = one.get_window_extent(), ax.figure.bbox
        assert part.x0 <= box.x0
        assert box.x1 <= part.x1
        assert box.y1 <= ax.bbox.y0
    hc.plot_evaluations(MANY, kind, measure="AP", ax=whole.axes[0])
    assert len(whole.axes[0].figure.legends) == 1
