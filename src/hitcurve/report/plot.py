"""Pictures of curves, drawn by matplotlib: hits, precision over recall, ROC, enrichment, gain.

If pyplot is loaded, pictures go into its current axes, or into a new figure if these hold a picture of another kind.
Otherwise a picture has a figure of its own: it needs no window, no global state and no display.
"""

from __future__ import annotations

import io
import math
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hitcurve._base.checks import check_choice, check_count, check_flag, check_level, check_number, check_rank
from hitcurve._base.extras import needed
from hitcurve.curves.gain import GainCurve, GainCurves
from hitcurve.curves.hit import HitCurve, HitCurves
from hitcurve.curves.subtopics import SubtopicCurve
from hitcurve.shown.grid import escaped
from hitcurve.statistics.intervals import quantiles
from hitcurve.statistics.resampling import check_plain, curve_blocks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D
    from numpy.typing import NDArray

    _Points = tuple[NDArray[Any], NDArray[Any]]
    _Curve = HitCurve | GainCurve
    _Curves = Mapping[str, Any]

__all__ = [
    "KINDS", "CurveDisplay", "Display", "Limits", "as_count", "as_text", "dress", "figure", "kind_of", "legend",
    "literal", "new_figure", "panels", "plot_curves", "plot_figure", "target", "text_size", "thinned", "wrapped",
]  # fmt: skip

# Okabe & Ito 2008, Color Universal Design: people with any colour vision can tell these colours apart. Darker colours
# come first, and yellow is left out, for print. Line styles tell the lines apart in grey too.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
_DASHES = ((5, 1.5), (1.2, 1.2), (6, 1.5, 1.2, 1.5), (8, 1.5, 1.2, 1.5, 1.2, 1.5))
_STYLES: tuple[Any, ...] = ("-", *((0, dashes) for dashes in _DASHES))
_GREY = "#777777"
_REFERENCES = ("perfect order", "random order", "ideal order")

# The number of columns of an axis. A line keeps the first, last, lowest and highest point of a column.
_COLUMNS = 1000
# The number of ranks at which a curve is computed besides its corners, spread evenly, then evenly in the logarithm.
# Between two of these ranks precision departs from a straight line by less than 1e-5 of its value.
_RANKS = 2500
_BAND = 200  # points at which a band is computed

_WIDTHS = {"column": 3.5, "page": 7.2}  # in inches: a column and a page of most journals
_SAVED = {"pdf.fonttype": 42, "ps.fonttype": 42}  # fonts as TrueType; SVG has the outlines of letters
_PRINT = {"font.size": 8.0, "axes.linewidth": 0.6, "xtick.major.width": 0.6, "ytick.major.width": 0.6,
          "axes.labelsize": 8.0, "axes.titlesize": 8.0}  # fmt: skip


def as_count(value: float, _: float) -> str:
    return f"{value:,.6g}" if value < 1e6 else f"{value / 1e6:g} M"


class _Kind(NamedTuple):
    title: str
    x: str
    y: str
    log_x: bool = False
    log_y: bool = False
    x_tick: Any = None
    y_tick: Any = None
    area: tuple[str, ...] = ()  # for the legend: the name in the legend, and the measure


_AXES = {
    "hits": _Kind("Hit curve", "items from the top", "relevant items found", x_tick=as_count, y_tick=as_count),
    "precision-recall": _Kind("Precision and recall", "recall", "precision", area=("AP", "AP")),
    "roc": _Kind("ROC", "false positive rate", "true positive rate", log_x=True, area=("AUC", "ROCAUC")),
    "enrichment": _Kind("Enrichment", "share of the list", "enrichment factor", True, True,
                        lambda value, _: f"{100 * value:g} %", lambda value, _: f"{value:g}"),
    "gain": _Kind("Gain curve", "items from the top", "cumulated gain", x_tick=as_count, y_tick=as_count),
}  # fmt: skip
KINDS = tuple(_AXES)[:-1]  # the kinds of pictures of hit curves
_THEMSELVES = ("hits", "gain")  # kinds whose line is the curve itself
_OF_PERFECT = (*_THEMSELVES, "enrichment")  # kinds whose perfect order depends on the number of relevant items
_SHORT = {"pr": "precision-recall"}


class Display:
    """A picture that was drawn, like the Display objects of scikit-learn.

    A display has every attribute of its axes: ``display.set_title("docking")``. A display is equal to its axes, so that
    ``plt.sca`` and ``fig.delaxes`` accept a display. ``isinstance(display, Axes)`` is False: ``display.ax_`` is the
    Axes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the picture is.
    figure_ : matplotlib Figure
        The figure of ``ax_``.
    """

    ax_: Axes
    figure_: Any

    def __init__(self, draw: Callable[..., Display], data: Any, names: Iterable[str], options: dict[str, Any],
                 ax: Axes) -> None:  # fmt: skip
        self._draw, self._data, self._names, self._options = draw, data, list(names), options
        self.ax_, self.figure_ = ax, ax.figure

    def plot(self, *data: Any, ax: Axes | None = None, **options: Any) -> Any:
        """Draw the picture again, or draw lines into the picture.

        Parameters
        ----------
        *data
            Without arguments, or with the axes alone, the picture is drawn again. All other arguments go to
            ``ax_.plot``, which draws lines, such as ``display.plot([0, 1], [0, 1], "--")``.
        ax : matplotlib Axes, optional
            Where to draw. Default: as in ``plot_curves``.
        **options
            Arguments that replace those of the function that drew the picture, such as ``plot_curves``.

        Returns
        -------
        Display
            This display, which then has the attributes of the new picture. With data for lines, the new lines.

        Examples
        --------
        >>> import hitcurve as hc
        >>> display = hc.HitCurve([1, 0, 1, 0, 0, 0], [6, 5, 4, 4, 2, 1]).plot("roc")
        >>> display.plot(log_x=False, color="black").get_xscale()
        'linear'
        """
        if data and not (len(data) == 1 and hasattr(data[0], "get_xlim")):
            return self.ax_.plot(*data, **options)
        new = self._draw(self._data, ax=data[0] if data else ax, **{**self._options, **options})
        self.__dict__.update(new.__dict__)
        return self

    def _repr_png_(self) -> bytes | None:
        """The picture for a notebook. None if pyplot manages the figure, because pyplot then shows it."""
        canvas, managers = self.figure_.canvas, sys.modules.get("matplotlib._pylab_helpers")
        if managers is not None and any(one.canvas is canvas for one in managers.Gcf.get_all_fig_managers()):
            return None
        return _png(canvas.figure)

    def __getattr__(self, name: str) -> Any:
        if name == "ax_":  # an unfinished copy has no axes yet
            raise AttributeError(name)
        return getattr(self.ax_, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self.ax_)})

    def __eq__(self, other: object) -> bool:
        return self.ax_ is (other.ax_ if isinstance(other, Display) else other)

    def __hash__(self) -> int:
        return hash(self.ax_)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._options['kind']!r}, {self._names!r})"


class CurveDisplay(Display):
    """A picture of curves that was drawn: a `Display` with the lines of the curves.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the curves are.
    figure_ : matplotlib Figure
        The figure of ``ax_``.
    line_ : matplotlib Line2D, or list of them
        The line of the curve. For several curves, a list of lines in the order of the curves.
    """

    line_: Line2D | list[Line2D]

    def __init__(self, curves: _Curves, options: dict[str, Any], ax: Axes, lines: list[Line2D]) -> None:
        super().__init__(plot_curves, curves, curves, options, ax)
        self.line_ = lines[0] if len(lines) == 1 else lines


def plot_curves(curves: Mapping[str, HitCurve] | Mapping[str, GainCurve], kind: str = "hits", *,
                ax: Axes | None = None, k: int | None = None, gain: Any = "linear", band: float | None = None,
                n_resamples: int = 1000, rng: Any = None, log_x: bool = True, **line: Any) -> CurveDisplay:  # fmt: skip
    """Draw hit curves, curves computed from hit curves, or gain curves, into one picture.

    A line is the expected reading of ties. Where items are tied, the region between the worst and the best order is
    shaded. A line has at most 4,000 points, for any number of items: the axis is cut into 1,000 columns, and each
    column keeps its first, last, lowest and highest point. So at any height the drawn line is less than 1/1000 of the
    axis from the exact line (Jugel et al. 2014, PVLDB 7:797).

    Parameters
    ----------
    curves : mapping of str to HitCurve, or of str to GainCurve
        The curves, by their names in the legend. A curve with an empty name is not in the legend. Without `k`, the
        legend also shows the average precision for ``"precision-recall"`` and the area under the curve for ``"roc"``,
        such as ``docking (AP = 0.76)``. Both are expected values under ties.
    kind : {"hits", "precision-recall", "pr", "roc", "enrichment", "gain"}
        The kind of picture, in lower or upper case. ``"hits"``: relevant items over items from the top, with the curves
        of a random order and of a perfect order (Zhu 2004). ``"precision-recall"`` or ``"pr"``: precision over recall
        going down the list. ``"roc"``: true positive rate over false positive rate, on a logarithmic or a linear axis
        (`log_x`). ``"enrichment"``: enrichment factor over the share of the list, on two logarithmic axes. ``"gain"``,
        only for a GainCurve: the total gain of the items from the top, with the curves of the ideal order and of a
        random order of the ranked items. For the other kinds of a GainCurve, draw ``curve.at_level(level)``.
    ax : matplotlib Axes, optional
        Where to draw. Default: the current axes of pyplot if pyplot is loaded, else a new figure, which a notebook
        shows. ``plt.figure()`` makes new current axes, and ``plt.savefig`` writes their figure. If the current axes
        hold a picture of another kind, pyplot makes a new figure.
    k : int, optional
        Draw only the first k items.
    gain
        The gain of an item of a level, as in ``GainCurve.dcg``. Only ``"gain"`` uses it.
    band : float, optional
        The confidence level, such as 0.95, of bootstrap bands around the lines. A band is computed for each point by
        itself: hits, gain and enrichment at a rank, precision at a recall, true positive rate at a false positive rate.
        The ends of a band are those of ``HitCurve.interval`` by bootstrap. For hits, gain and enrichment every resample
        has as many relevant items, and as many items of each level, as the curve, so that the bands lie between the
        worst and the perfect order. At rank 100 the band of hits has the ends of ``interval("Hits@100",
        stratified=True)``.
    n_resamples : int
        The number of bootstrap resamples for the bands.
    rng : seed or numpy.random.Generator, optional
        The seed or the source of the random numbers for the bands.
    log_x : bool
        For ``"roc"``: True draws a logarithmic axis of false positive rates, False a linear axis from 0.
    line : keywords
        Keywords of matplotlib's Line2D: ``color``, ``label``, ``linestyle``, ``linewidth``, ``alpha`` and others. A
        single value is for all curves. A mapping has values by the names of the curves. The region and the band of a
        line have the colour of the line. ``label`` is the whole text in the legend.

    Returns
    -------
    CurveDisplay
        The display has ``ax_``, ``figure_`` and ``line_``, as scikit-learn's Display objects have, and every attribute
        of the axes, such as ``figure.savefig`` and ``set_title``.

    Raises
    ------
    TypeError
        If a keyword is not a keyword of lines.
    ValueError
        If a kind is unknown, if a line cannot have a value, if there are no curves, or if a curve has no such picture.
        A curve without a relevant item has no picture. A curve of relevant items alone has no ROC curve. A curve with
        relevant items that were never retrieved has no ROC and no enrichment curve. Also if `ax` holds a picture of
        another kind.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import hitcurve as hc
    >>> curve = hc.HitCurve([1, 0, 1, 0, 0, 0], [6, 5, 4, 4, 2, 1])
    >>> hc.plot_curves({"a model": curve}, "precision-recall").get_ylabel()
    'precision'
    >>> hc.plot_curves({"a model": curve}, "PR", color="black").line_.get_label()
    'a model (AP = 0.79)'
    """
    kind = _check(curves, kind, k, gain, log_x)
    how: dict[str, Any] = {"k": k, "gain": gain, "n_resamples": n_resamples, "rng": rng, "log_x": log_x}
    options = {"kind": kind, "band": band, **how, **line}
    styles = _line_styles(curves, kind, k, line)
    limits = _limits(curves, kind, k, gain, log_x)
    shades = {} if band is None else bands(curves, (kind,), level=band, **how)[kind]
    found = target(ax, (6.0, 4.8), f"{kind!r} of curves")
    lines = _draw(found, curves, kind, limits, shades, styles)
    legend(found)
    return CurveDisplay(curves, options, found, lines)


def target(ax: Axes | None, size: tuple[float, float], picture: str) -> Axes:
    """Where to draw `picture`: `ax`, or pyplot's current axes, or a new figure of this size.

    Axes hold pictures of one kind. `ax` with another kind is an error; pyplot then makes a new figure.
    """
    pyplot: Any = sys.modules.get("matplotlib.pyplot")
    found: Any
    if ax is not None:
        found = getattr(ax, "ax_", ax)
        if (held := _held(found)) not in ("", picture):
            raise ValueError(f"ax holds a picture of another kind, {held}: draw {picture} into other axes")
    elif pyplot is None:
        found = new_figure(size).add_subplot()
    else:
        found = pyplot.gca()
        if _held(found) not in ("", picture):
            found = pyplot.figure().add_subplot()
    found._hitcurve_picture = picture
    return found  # type: ignore[no-any-return]


def _held(ax: Any) -> str:
    """The picture of this module in the axes. Empty if there is none, also after ``ax.clear()``."""
    return getattr(ax, "_hitcurve_picture", "") if ax.has_data() else ""


def text_size(ax: Axes) -> float:
    """The size of the labels of the axes. All other texts have sizes in proportion."""
    return float(ax.xaxis.label.get_fontsize())


def wrapped(text: str, room: float, size: float) -> str:
    """The text in lines of at most `room` pixels, broken between words. `size`: the height of a letter in pixels."""
    return textwrap.fill(text, max(1, int(room / (0.55 * size))), break_long_words=False, break_on_hyphens=False)


def legend(ax: Axes, title: str = "") -> None:
    """Draw a legend if anything has a label: below the axes in a figure of this module, else inside the axes."""
    if not (ax.get_legend_handles_labels()[1] or title):
        return
    size = 0.9 * text_size(ax)
    texts: Any = {"fontsize": size, "handlelength": 2.6, "title": title or None, "title_fontsize": size}
    if hasattr(ax.figure, "_of_hitcurve") and len(ax.figure.axes) == 1:
        legend_below(ax.figure, **texts)
    else:
        ax.legend(framealpha=0.9, edgecolor="none", **texts)


def _fitting(make: Callable[[int], Any], columns: int, width: float) -> None:
    """Make a legend with `columns` columns, or with fewer if it is wider than `width` pixels."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # the warning comes when the picture is drawn
        while (one := make(columns)).get_window_extent().width > width and columns > 1:
            one.remove()
            columns -= 1


def dress(ax: Axes, title: str) -> None:
    """Set what all pictures share: a title, a grid, and no frame at the top and right."""
    size = text_size(ax)
    ax.set_title(wrapped(title, ax.bbox.width, size * ax.figure.dpi / 72), fontsize=size)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, which="major", color="#DDDDDD", linewidth=0.6, zorder=0)
    ax.set_axisbelow(True)


def _line_styles(curves: _Curves, kind: str, k: int | None, line: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The checked keywords of each line, by the name of the curve. Labels include the area of kinds that have one."""
    styles: dict[str, dict[str, Any]] = {name: {} for name in curves}
    one = needed("matplotlib.lines", "a picture").Line2D
    for keyword, value in line.items():
        if keyword in ("data", "xdata", "ydata") or not hasattr(one, f"set_{keyword}"):
            known = "must be an argument of plot_curves or a keyword of matplotlib's Line2D"
            raise TypeError(f"{keyword}={value!r} is unknown: {known}")
        values = value if isinstance(value, Mapping) else dict.fromkeys(curves, value)
        for name, own in values.items():
            if name not in curves:
                raise ValueError(f"{keyword}[{name!r}]: no curve has this name")
            try:
                one([], [], **{keyword: own})
            except (TypeError, ValueError, AttributeError) as error:
                raise ValueError(f"{keyword}={own!r} cannot be drawn: {error}") from None
            styles[name][keyword] = own
    normal = needed("matplotlib.cbook", "a picture").normalize_kwargs
    styles = {name: normal(style, one) for name, style in styles.items()}
    if _AXES[kind].area and k is None:
        short, measure = _AXES[kind].area
        for name, curve in curves.items():
            if "label" not in styles[name]:
                area = f"{short} = {curve.measure(measure, ties='threshold' if curve.weighted else 'expected'):.2f}"
                styles[name]["label"] = f"{_shown(name)} ({area})" if name else area
    return styles


def _shown(name: str) -> str | None:
    name = as_text(name)
    # matplotlib leaves labels that begin with "_" out of legends: a space without width prevents this.
    return f"\u200b{name}" if name.startswith("_") else name or None


def as_text(name: Any) -> str:
    """The name as printable text: control characters, and bytes that are not UTF-8, are escaped."""
    return escaped(str(name).encode("utf-8", "backslashreplace").decode())


def literal(name: str) -> str:
    """The name with each $ escaped, because matplotlib takes text between two $ for a formula."""
    return escaped(name).replace("$", r"\$")


def _draw(ax: Axes, curves: _Curves, kind: str, limits: Limits, shades: Mapping[str, Any],
          styles: Mapping[str, Any] = MappingProxyType({})) -> list[Line2D]:  # fmt: skip
    """Draw a picture. `shades` and `styles` are the bands and the keywords of lines, by the names of the curves."""
    axes, lines = _AXES[kind], []
    drawn = [line.get_label() for line in ax.get_lines()]
    for (name, x, y), *others in zip(*[_references(kind, limits, curve) for curve in curves.values()], strict=True):
        shared = all(np.array_equal(x, one[1]) and np.array_equal(y, one[2]) for one in others)
        if shared and name not in drawn:
            style = ":" if name == "random order" else "-"
            ax.plot(x, y, color=_GREY, linestyle=style, linewidth=1.0, label=name, zorder=1.2)
    for at, (name, curve) in enumerate(curves.items(), sum(label not in _REFERENCES for label in drawn)):
        usual = {"color": _COLOURS[at % len(_COLOURS)], "linestyle": _STYLES[at % len(_STYLES)],
                 "linewidth": 0.16 * text_size(ax), "label": _shown(name), "zorder": 2.5}  # fmt: skip
        lines += ax.plot(*drawn_points(curve, kind, limits), **{**usual, **styles.get(name, {})})
        colour = lines[-1].get_color()
        if name in shades:
            ax.fill_between(*shades[name], color=colour, alpha=0.16, linewidth=0, zorder=1.5)
        if _has_orders(curve):
            # The region between the worst and the best order. Its edge is drawn, so that a narrow region is visible.
            best, worst = (drawn_points(curve, kind, limits, ties) for ties in ("best", "worst"))
            outline = (np.append(there, back[::-1]) for there, back in zip(best, worst, strict=True))
            ax.fill(*outline, facecolor=colour, edgecolor=colour, alpha=0.3, linewidth=0.4, zorder=1.8)
    dress(ax, axes.title)
    # Linear scales are set too, because the current axes may hold an earlier picture.
    scales = ["log" if wanted else "linear" for wanted in (limits.log_x, axes.log_y)]
    ax.set(xlabel=axes.x, ylabel=axes.y, xscale=scales[0], yscale=scales[1], xlim=limits[:2], ylim=limits[2:4])
    for axis, text in ((ax.xaxis, axes.x_tick), (ax.yaxis, axes.y_tick)):
        if text is not None:
            axis.set_major_formatter(text)
    return lines


def figure(curves: _Curves, kinds: tuple[str, ...] = KINDS, *, title: str = "", workers: int = 1,
           band: float | None = None, n_resamples: int = 1000, rng: Any = None) -> Figure:  # fmt: skip
    """A figure with pictures of several kinds, two in a row, and a shared legend. Parameters as in `plot_curves`."""
    columns = min(len(kinds), 2)
    rows = -(-len(kinds) // columns)
    whole = new_figure((5.2 * columns, 4.0 * rows + 0.5))
    if title:
        whole.suptitle(title, fontsize=11)
    kinds = tuple([_check(curves, kind, None) for kind in kinds])
    shades: Mapping[str, Any] = {}
    if band is not None:
        shades = bands(curves, kinds, level=band, n_resamples=n_resamples, rng=rng, workers=workers)
    for at, kind in enumerate(kinds):
        limits = _limits(curves, kind, None)
        _draw(whole.add_subplot(rows, columns, at + 1), curves, kind, limits, shades.get(kind, {}))
    legend_below(whole)
    return whole


def plot_figure(rows: int = 1, columns: int = 1, *, width: str | float = "column",
                height: float | None = None) -> Figure:  # fmt: skip
    """Make an empty figure in the size of a publication. Pass its axes to a plot as ``ax=``.

    Texts have 7 to 8 points, and several axes have letters (a, b, c ...). ``savefig`` embeds fonts as TrueType (type
    42) in PDF and EPS, and writes PNG, JPEG and TIFF with 300 dots per inch. No setting of matplotlib is changed.

    Parameters
    ----------
    rows, columns : int
        The numbers of rows and columns of axes.
    width : {"column", "page"} or float
        The width of the figure. ``"column"``: 3.5 inches, one column of most journals. ``"page"``: 7.2 inches, both
        columns. A number: the width in inches.
    height : float, optional
        The height of the figure in inches. Default: for each row of axes, three quarters of the width of one column of
        axes, and 0.6 for the legend.

    Returns
    -------
    matplotlib Figure
        The figure, which pyplot does not manage. A notebook shows the figure. ``figure.axes`` holds the axes, row by
        row.

    Raises
    ------
    ValueError, TypeError
        If `rows` or `columns` is below 1, or if a size is not a positive number.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import hitcurve as hc
    >>> curve = hc.HitCurve([1, 0, 1, 0, 0, 0], [6, 5, 4, 4, 2, 1])
    >>> figure = hc.plot_figure(1, 2, width="page")
    >>> for ax, kind in zip(figure.axes, ["hits", "roc"]):
    ...     display = curve.plot(kind, ax=ax)
    >>> float(figure.get_figwidth()), [ax.get_title(loc="left") for ax in figure.axes]
    (7.2, ['a', 'b'])
    """
    rows, columns = check_count(rows, "rows"), check_count(columns, "columns")
    known = isinstance(width, str) and check_choice(width, "width", tuple(_WIDTHS))
    inches = _WIDTHS[known] if known else _inches(width, "width")
    usual = rows * (0.75 * inches / columns + 0.6)
    with needed("matplotlib", "a picture").rc_context(_PRINT):
        whole = new_figure((inches, usual if height is None else _inches(height, "height")), dots=300)
        for at, ax in enumerate(panels(whole, rows, columns)):
            ax.tick_params(labelsize=7.0, width=0.6)  # also of ticks that are made later
            if rows * columns > 1:
                ax.set_title(_letters(at), loc="left", fontweight="bold")
    return whole


def panels(whole: Figure | SubFigure, rows: int, columns: int) -> list[Axes]:
    """Axes, each in a part of the figure of its own, with room for a legend."""
    parts = whole.subfigures(rows, columns, squeeze=False).ravel()
    for part in parts:
        part._of_hitcurve = True
    return [part.add_subplot() for part in parts]


def _inches(value: Any, name: str) -> float:
    inches = float(check_number(value, name))
    if not 0 < inches < math.inf:
        raise ValueError(f"{name} must be a positive number of inches, got {value!r}")
    return inches


def _letters(at: int) -> str:
    return (_letters(at // 26 - 1) if at >= 26 else "") + chr(ord("a") + at % 26)


def legend_below(whole: Figure | SubFigure, **texts: Any) -> None:
    found: dict[str, Any] = {}
    for ax in whole.axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    for earlier in list(whole.legends):
        earlier.remove()
    texts = {"fontsize": 9, "handlelength": 2.6, **texts}
    most = max(1, min(len(found), 4 if whole.bbox.width > 8 * whole.dpi else 3))
    _fitting(lambda columns: whole.legend(found.values(), found.keys(), loc="outside lower center", ncols=columns,
                                          frameon=False, **texts), most, whole.bbox.width)  # fmt: skip


def _png(whole: Figure) -> bytes:
    out = io.BytesIO()
    type(whole).savefig(whole, out, format="png")
    return out.getvalue()


def new_figure(size: tuple[float, float], dots: int | None = None) -> Figure:
    """A figure that pyplot does not manage. `dots`: the dots per inch of saved pictures."""
    whole: Figure = needed("matplotlib.figure", "a picture").Figure(figsize=size, dpi=150, layout="constrained")
    # Notebooks call this method. Without pyplot, nothing else shows a figure.
    whole._repr_png_ = partial(_png, whole)  # type: ignore[attr-defined]
    whole.savefig = partial(_save, whole, dots)  # type: ignore[method-assign]
    whole._of_hitcurve = True  # type: ignore[attr-defined]
    return whole


def _save(whole: Figure, dots: int | None, *args: Any, **options: Any) -> None:
    """Save the figure as ``savefig`` does, with embedded fonts."""
    if dots is not None:
        options.setdefault("dpi", dots)
    with needed("matplotlib", "a picture").rc_context(_SAVED):
        type(whole).savefig(whole, *args, **options)


def kind_of(kind: Any, known: tuple[str, ...]) -> str:
    """The kind of picture in lower case, without abbreviation. Raises ValueError for an unknown kind."""
    lower = kind.lower() if isinstance(kind, str) else ""
    lower = _SHORT.get(lower, lower)
    return lower if lower in known else check_choice(kind, "kind", known)


def _check(curves: _Curves, kind: str, k: int | None, gain: Any = "linear", log_x: bool = True) -> str:
    """The kind as a key of `_AXES`. Raises an error if the curves have no such picture."""
    kind = kind_of(kind, tuple(_AXES))
    wanted: Any = GainCurve if kind == "gain" else HitCurve
    if not isinstance(curves, Mapping):
        raise TypeError(f"curves must be a mapping of names to {wanted.__name__}, got {type(curves).__name__}")
    if not curves:
        raise ValueError("curves is empty: there is nothing to draw")
    if k is not None:
        check_rank(k, "k")
    if kind != "gain" and not (isinstance(gain, str) and gain == "linear"):
        raise ValueError(f"gain needs kind='gain', got kind={kind!r}")
    if not check_flag(log_x, "log_x") and kind != "roc":
        raise ValueError(f"log_x=False needs kind='roc', got kind={kind!r}")
    for name, curve in curves.items():
        if not isinstance(curve, wanted):
            said = f": pass curve.at_level(1) for kind={kind!r}" if isinstance(curve, GainCurve) else ""
            if isinstance(curve, HitCurves | GainCurves):
                said = ": pass one of its curves, curves[i], or draw all with plot_evaluations"
            if isinstance(curve, SubtopicCurve):
                said = ": call its method plot, which draws a line for each subtopic, or pass curve.subtopic(name)"
            raise TypeError(f"curves[{name!r}] must be a {wanted.__name__}, got {type(curve).__name__}{said}")
        if kind == "gain":
            if not _corners(curve, "expected", gain).gain.any():
                raise ValueError(f"curves[{name!r}] has no item with a gain: there is nothing to draw")
            continue
        if not curve.num_hits:
            raise ValueError(f"curves[{name!r}] has no relevant item: there is nothing to draw")
        if kind in ("roc", "enrichment"):
            # Raises an error if relevant items were never retrieved.
            curve.roc_curve(ties="threshold" if curve.weighted else "expected")
        if kind == "roc" and not curve.num_relevant < curve.num_items:
            raise ValueError(f"curves[{name!r}] has only relevant items: there is no false positive rate")
    return kind


class Limits(NamedTuple):
    """The limits of the axes. Columns of an axis are shares of its range."""

    left: float
    right: float
    bottom: float
    top: float
    items: float  # the last rank drawn
    gain: Any = "linear"  # for gain curves: the gain of an item of a level
    log_x: bool = False


def _limits(curves: _Curves, kind: str, k: int | None, gain: Any = "linear", log_x: bool = True) -> Limits:
    items = max(curve.num_items for curve in curves.values())
    relevant = max(curve.num_relevant for curve in curves.values())
    last = items if k is None else min(k, items)
    if kind == "gain":
        most = max(np.interp(last, *curve.gain_curve(gain=gain, ideal=True)) for curve in curves.values())
        return Limits(0.0, last, 0.0, float(most) * 1.04, last, gain)
    if kind == "hits":
        whole = k is None or last >= relevant
        most = relevant if whole else max(np.interp(last, *_corners(curve, "expected")) for curve in curves.values())
        return Limits(0.0, last, 0.0, float(most) * 1.04, last)
    if kind == "precision-recall" or (kind == "roc" and not log_x):
        return Limits(0.0, 1.0, 0.0, 1.02, last)
    if kind == "roc":
        # From the rate of a single false positive, but at most four decades.
        negatives = max(curve.num_items - curve.num_relevant for curve in curves.values())
        return Limits(min(max(1e-4, 1 / negatives), 0.1), 1.0, 0.0, 1.02, last, log_x=True)
    most = max(curve.num_items / curve.num_relevant for curve in curves.values())
    return Limits(min(max(1e-5, 1 / items), 0.1), last / items if last > 1 else 1.0, 0.5, most * 1.3, last, log_x=True)


def _has_orders(curve: _Curve) -> bool:
    """Whether the order of tied items changes the curve."""
    mixed = curve.hits < curve.tied
    if isinstance(curve, GainCurve):
        return bool(np.any(mixed | (np.diff(curve.level_offsets) > 1)))
    return not curve.weighted and bool(np.any(mixed))


def _corners(curve: _Curve, ties: Any, gain: Any = "linear") -> Any:
    if isinstance(curve, GainCurve):
        return curve.gain_curve(gain=gain, ties=ties)
    return curve.hit_curve(ties="threshold" if curve.weighted else ties)


def _path(curve: _Curve, kind: str, ties: str, limits: Limits) -> _Points:
    """Items and hits down the list: the corners of the curve, and more ranks where its line in this kind is bent."""
    items, hits = (one.astype(np.float64) for one in _corners(curve, ties, limits.gain))
    total, last = float(items[-1]), min(float(limits.items), float(items[-1]))
    ranks = [items[items <= last], [last]]
    if kind not in _THEMSELVES and (kind != "roc" or limits.log_x):  # on linear axes these lines are straight
        ranks += [np.geomspace(1, last, _RANKS), np.linspace(min(1.0, last), last, _RANKS)]
    if kind == "roc" and limits.log_x:
        # Ranks, also inside a tie group, at even steps of the logarithm of the false positive rate.
        rates = np.geomspace(limits.left, 1, _RANKS) * (total - float(curve.num_relevant))
        ranks.append(np.interp(rates, items - hits, items))
    x = np.concatenate(ranks)
    # Points may lie between two ranks, but precision and enrichment are computed at ranks, from the first item on.
    between = kind in (*_THEMSELVES, "roc")
    x = np.unique(x if between else np.rint(x))
    x = x[(x <= last) & (x >= (not between))]
    return x, np.interp(x, items, hits)


def drawn_points(curve: _Curve, kind: str, limits: Limits, ties: str = "expected") -> _Points:
    """The points of a line, thinned."""
    rank, hits = _path(curve, kind, ties, limits)
    relevant, items = curve.num_relevant, curve.num_items
    if kind in _THEMSELVES:
        x, y = rank, hits
    elif kind == "precision-recall":
        x, y = hits / relevant, hits / rank
    elif kind == "roc":
        x, y = (rank - hits) / (items - relevant), hits / relevant
    else:
        x, y = rank / items, hits / rank * (items / relevant)
    if limits.log_x:
        x = np.maximum(x, limits.left)  # points left of the axis are drawn on its edge
    if _AXES[kind].log_y:
        x, y = x[y > 0], y[y > 0]
    return thinned(x, y, limits, limits.log_x)


def _even(limits: Limits, count: int) -> NDArray[Any]:
    """`count` points in even steps along the axis."""
    return (np.geomspace if limits.log_x else np.linspace)(limits.left, limits.right, count)


def thinned(x: Any, y: Any, limits: Limits, log_x: bool = False) -> _Points:
    """The points of a line to draw: the first, last, lowest and highest point of each column. x must not fall.

    The height of each other point is between the lowest and the highest point of its column. So the drawn line reaches
    this height within the column.
    """
    if len(x) <= 4 * _COLUMNS:
        return x, y
    place = np.log(x / limits.left) / np.log(limits.right / limits.left) if log_x else x / limits.right
    column = np.floor(place * _COLUMNS)
    begins = np.append(True, column[1:] != column[:-1])
    starts = np.flatnonzero(begins)
    which = np.cumsum(begins) - 1
    keep = begins | np.append(begins[1:], True)
    for extreme in (np.minimum, np.maximum):
        hit = np.flatnonzero(y == extreme.reduceat(y, starts)[which])
        keep[hit[np.append(True, which[hit[1:]] != which[hit[:-1]])]] = True
    return x[keep], y[keep]


def bands(curves: _Curves, kinds: tuple[str, ...], *, level: float, k: int | None = None, gain: Any = "linear",
          n_resamples: int, rng: Any, workers: int = 1, log_x: bool = True) -> dict[str, dict[str, Any]]:  # fmt: skip
    """For each kind and curve: points on the axis, and the ends of the middle share `level` of the resamples there."""
    count, level = check_count(n_resamples, "n_resamples"), check_level(level, "band")
    limits = {kind: _limits(curves, kind, k, gain, log_x) for kind in kinds}
    found: dict[str, dict[str, Any]] = {kind: {} for kind in kinds}
    for name, curve in curves.items():
        check_plain(curve, "band")
        for kept in (True, False):
            places = {kind: _places(curve, kind, limits[kind]) for kind in kinds if (kind in _OF_PERFECT) is kept}
            if not places:
                continue

            def read(block: HitCurves | GainCurves, places: dict[str, Any] = places, n: int = curve.num_items) -> Any:
                drawn = [(one, _corners(one, "expected", gain)) for one in block]
                return [[_height(one, kind, at, n, *corners) for one, corners in drawn] for kind, at in places.items()]

            blocks = curve_blocks(curve, count, rng, workers, read, by_level=kept)
            for (kind, at), parts in zip(places.items(), zip(*blocks, strict=True), strict=True):
                ends = np.array([quantiles(column, math.nan, level, None) for column in np.concatenate(parts).T]).T
                found[kind][name] = at, *(np.maximum(ends, limits[kind].bottom) if _AXES[kind].log_y else ends)
    return found


def _places(curve: _Curve, kind: str, limits: Limits) -> NDArray[Any]:
    """The points of the axis at which a band is computed."""
    last = min(limits.items, curve.num_items)
    if kind in _THEMSELVES:
        return np.linspace(0, last, _BAND)
    if kind == "precision-recall":
        return np.linspace(1 / _BAND, 1, _BAND)
    if kind == "roc":
        return _even(limits, _BAND)
    return np.unique(np.rint(np.geomspace(1, last, _BAND))) / curve.num_items


def _height(curve: _Curve, kind: str, place: NDArray[Any], n: int, items: NDArray[Any], hits: NDArray[Any]) -> Any:
    """The heights of a curve at `place`, from its corners. NaN if undefined. `n`: the items that are a share of 1."""
    relevant = curve.num_relevant
    if relevant == 0 or (kind == "roc" and relevant == curve.num_items):
        return np.full(place.shape, np.nan)
    if kind in _THEMSELVES:
        return np.interp(place, items, hits)
    if kind == "roc":
        return np.interp(place * (curve.num_items - relevant), items - hits, hits) / relevant
    if kind == "enrichment":
        return np.interp(place * n, items, hits) / (place * relevant)
    # The rank at which the recall is first reached. Items that were never retrieved are never reached.
    wanted = place * relevant
    end = np.searchsorted(hits, wanted, side="left").clip(1, len(hits) - 1)
    share = (wanted - hits[end - 1]) / np.maximum(hits[end] - hits[end - 1], 1)
    at = items[end - 1] + share * (items[end] - items[end - 1])
    return np.where(wanted <= hits[-1], wanted / at, np.nan)


def _references(kind: str, limits: Limits, curve: _Curve) -> list[tuple[str, Any, Any]]:
    """The lines of a perfect and of a random order."""
    perfect, random, ideal = _REFERENCES
    items, relevant = curve.num_items, curve.num_relevant
    if isinstance(curve, GainCurve):
        x, y = _corners(curve, "expected", limits.gain)
        # The flat part ends at the edge of the picture, so that rankings of different length have the same ideal line.
        best, height = curve.gain_curve(gain=limits.gain, ideal=True)
        size = int(np.argmax(height)) + 1
        end = max(best[size - 1], limits.items)
        line = thinned(np.append(best[:size], end), np.append(height[:size], height[-1]), limits)
        return [(ideal, *line), (random, x[[0, -1]], y[[0, -1]])]
    if kind == "hits":
        top = [0, relevant, relevant]
        return [(perfect, [0, relevant, max(items, relevant)], top), (random, [0, items], [0, relevant])]
    if kind == "precision-recall":
        return [(random, [0, 1], [relevant / items] * 2)]
    shares = _even(limits, 200)
    if kind == "roc":
        return [(random, shares, shares)]
    most = np.minimum(relevant / items, shares) / shares * (items / relevant)
    return [(perfect, shares, most), (random, [limits.left, limits.right], [1, 1])]
