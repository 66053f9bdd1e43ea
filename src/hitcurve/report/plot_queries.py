"""Pictures of measures over many queries: of a single system, of several systems, and of comparisons."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hitcurve._base.checks import check_choice
from hitcurve._base.extras import needed
from hitcurve._base.words import many, singular
from hitcurve.curves.gain import GainCurves
from hitcurve.curves.hit import HitCurves
from hitcurve.curves.subtopics import SubtopicCurves
from hitcurve.measures import Measure
from hitcurve.report.plot import (
    _COLOURS,
    _GREY,
    _STYLES,
    Display,
    Limits,
    _shown,
    as_count,
    as_text,
    dress,
    kind_of,
    legend,
    literal,
    new_figure,
    panels,
    target,
    text_size,
    thinned,
    wrapped,
)
from hitcurve.results import NO_WEIGHTS
from hitcurve.retrieval.names import measure_of
from hitcurve.shown.grid import one_line
from hitcurve.shown.means import Evaluated, systems_of
from hitcurve.statistics.paired import alpha_of
from hitcurve.statistics.per_query import held_measures, ids_of, in_one_order, per_query

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from hitcurve.retrieval.evaluation import Evaluation
    from hitcurve.statistics.comparison import Comparison

    _Array = NDArray[Any]

__all__ = ["groups_pictures", "of_one", "plot_comparison", "plot_evaluations", "runs_figure", "runs_pictures"]

_RECALLS = tuple(at / 10 for at in range(11))
_MARKS = "osD^v<>PX*"
_BETTER, _WORSE = _COLOURS[0], _COLOURS[1]

_MOST_IDS = 60  # an axis names at most so many queries
_MOST_BARS = 200  # more queries are drawn as lines
_MOST_BESIDE = 3  # bars of a query, side by side
_MOST_POINTS = 200  # a box of more queries has no points
_MOST_LINES = 10  # runs in a picture of precision and recall
_MOST_ROWS = 60  # systems, or pairs of systems, in a picture
_MOST_PAIRS = 8  # pictures of differences beside each other
_LETTERS = 24  # longer names along an axis are cut


class _Data(NamedTuple):
    """The data of a picture: the queries that have a value in all systems."""

    names: list[str]
    measure: str
    values: _Array  # (queries, systems), for precision and recall (levels, queries, systems)
    ids: list[Any]
    left_out: int = 0
    lower: bool = False  # lower values are better
    more: int = 0  # systems that are left out
    unit: str = "queries"
    ends: _Array | None = None  # the ends of the intervals of the values (queries, systems, 2)

    @property
    def counted(self) -> str:
        return many(len(self.ids), self.unit, ",")

    @property
    def note(self) -> str:
        """The title of the legend."""
        said = ["in brackets: mean of the 11 points"] * (self.values.ndim == 3)
        said += [f"{many(self.left_out, self.unit, ',')} without a value left out"] * (self.left_out > 0)
        return "\n".join([*said, *[f"{many(self.more, 'more systems', ',')} left out"] * (self.more > 0)])


def plot_evaluations(systems: Any, kind: str = "distribution", *, measure: str | Measure | None = None,
                     ax: Axes | None = None, ties: str = "expected", color: Any = None,
                     unit: str = "queries") -> Display:  # fmt: skip
    """Draw the values of a measure over the queries of one or several systems.

    All systems hold the same queries. A query without a value (NaN) in any system is left out. If there are more than
    60 systems, the first 60 are drawn. The legend says how many queries and systems were left out.

    Parameters
    ----------
    systems : mapping of str to Evaluation, HitCurves, GainCurves, SubtopicCurves or array, or list of Evaluation
        Per-query results, by the names in the picture. An array has a value for each query. Evaluations in a list keep
        their own names.
    kind : {"distribution", "queries", "dots", "precision-recall", "pr", "scatter", "differences"}
        The kind of picture, in lower or upper case.
        ``"distribution"``: a histogram. For several systems, boxes from the lower to the upper quartile, with whiskers
        from 5 to 95 % of the queries.
        ``"queries"``: a bar for each query, in falling order of the first system. For more than 3 systems or 200 bars,
        lines, each in falling order of its own values.
        ``"dots"``: a row for each query, with a dot for each system, in falling order of the first system.
        ``"precision-recall"`` or ``"pr"``: the mean over queries of interpolated precision at 11 recall levels 0, 0.1,
        ..., 1 (Manning, Raghavan & Schütze 2008, section 8.4). It is computed from the hit curves. An evaluation
        has the hit curves of its `relevance_level`. A query without a relevant item has no such curve, and is left out.
        ``"scatter"``, for two systems: the second system over the first, with a point for each query.
        ``"differences"``, for two systems: the second system minus the first, in falling order. Scatter and differences
        count the queries in which the second system is better, equal and worse.
    measure : str, optional
        The measure of every kind except precision-recall. Default: AP for HitCurves, nDCG for GainCurves, and for
        evaluations the first measure that they hold and that has a mean.
    ax : matplotlib Axes, optional
        Where to draw, as for ``plot_curves``.
    ties : {"expected", "threshold", "best", "worst"}
        How ties are read in HitCurves and GainCurves. Evaluations hold values already.
    color : color or mapping of str to color, optional
        A colour for all systems, or colours by their names. Scatter and differences take no `color`, because their
        colours say which system is better. Default: colours that people with any colour vision can tell apart.
    unit : str
        What the picture calls the queries: a plural, such as ``"targets"`` or ``"users"``.

    Returns
    -------
    Display
        The display has ``ax_`` and ``figure_``, as scikit-learn's Display objects have, and every attribute of the
        axes.

    Raises
    ------
    TypeError
        If a system holds no values for queries.
    ValueError
        If there are no systems, if scatter or differences do not have exactly two systems, if no query has a value, if
        the systems hold different queries, if a value is infinite, if an evaluation does not hold the measure, if
        precision and recall are of weighted items, or if `ax` holds a picture of another kind or measure.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import hitcurve as hc
    >>> values = {"A": [0.1, 0.5, 0.3], "B": [0.3, 0.6, 0.3]}
    >>> display = hc.plot_evaluations(values, "scatter", measure="AP", ax=hc.plot_figure().axes[0])
    >>> display.get_xlabel(), display.get_ylabel()
    ('AP of A', 'AP of B')
    >>> display.get_legend_handles_labels()[1][:3]
    ['B better: 2', 'equal: 1', 'A better: 0']
    """
    kind = kind_of(kind, tuple(_DRAWN))
    if not isinstance(unit, str) or len(unit) < 2:
        raise ValueError(f"unit must be a plural, such as 'targets', got {unit!r}")
    named = _named(systems)
    if kind in _PAIRS and len(named) != 2:
        raise ValueError(f"kind={kind!r} needs two systems, but systems has {len(named)}: {', '.join(named)}")
    check_choice(ties, "ties", ("expected", "threshold", "best", "worst"))
    colours = _colours(list(named) if isinstance(systems, Mapping) else [one.name for one in systems], color)
    more = max(0, len(named) - _MOST_ROWS)
    named, colours = dict(islice(named.items(), _MOST_ROWS)), colours[:_MOST_ROWS]
    if kind == "precision-recall":
        if measure is not None:
            raise ValueError(f"measure={measure!r}: kind='precision-recall' draws interpolated precision")
        data = _recall_data(named, ties)
    else:
        data = _measure_data(named, measure, ties)
    data = data._replace(more=more, unit=unit)
    found = target(ax, (6.0, _high(kind, len(named), len(data.ids))), f"{kind!r} of {data.measure}")
    _DRAWN[kind](found, data, colours)
    legend(found, data.note)
    options = {"kind": kind, "measure": measure, "ties": ties, "color": color, "unit": unit}
    return Display(plot_evaluations, systems, named, options, found)


def _high(kind: str, systems: int, queries: int) -> float:
    """The height of a picture in inches."""
    if kind == "dots":
        return 1.8 + 0.17 * min(queries, _MOST_IDS)
    return 1.6 + 0.4 * systems if kind == "distribution" and systems > 1 else 4.5 + 0.11 * systems


# --- what is drawn ------------------------------------------------------------------------------------------


def _named(systems: Any) -> dict[str, Any]:
    named = systems_of(systems, "systems")
    if not named:
        raise ValueError("systems is empty: there is nothing to draw")
    return named if isinstance(systems, Mapping) else {literal(name): one for name, one in named.items()}


def _colours(names: list[str], color: Any) -> list[Any]:
    known = needed("matplotlib.colors", "a picture").is_color_like
    chosen = color if isinstance(color, Mapping) else {} if color is None else dict.fromkeys(names, color)
    for name, one in chosen.items():
        if name not in names:
            raise ValueError(f"color[{name!r}]: no system has this name")
        if not known(one):
            raise ValueError(f"color={one!r} is not a color of matplotlib")
    return [chosen.get(name, _COLOURS[at % len(_COLOURS)]) for at, name in enumerate(names)]


def _measure_data(named: dict[str, Any], measure: Any, ties: str) -> _Data:
    names = list(named)
    if measure is None:
        curves = HitCurves, GainCurves, SubtopicCurves
        ours: list[Any] = [one for one in named.values() if isinstance(one, (*curves, Evaluated))]
        held = _held(named) if ours else ["value"]
        measure = held[0] if held else next(iter(ours[0].values))
    ((title, (values, ids)),) = per_query(named, names, [measure], ties).items()
    try:
        lower = measure_of(title).record.lower_is_better
    except ValueError:  # the measure of arrays may have any name
        lower = False
    return _with_values(_Data(names, title, values, ids, lower=lower))


def _held(named: dict[str, Any]) -> list[str]:
    """The measures that all systems have and that have a mean, except interpolated precision."""
    return [one for one in held_measures(named, list(named)) if measure_of(one).record.name != "IPrec"]


def _with_values(data: _Data) -> _Data:
    values = data.values[None] if data.values.ndim == 2 else data.values
    infinite = np.argwhere(np.isinf(values))
    if infinite.shape[0]:
        at, query, system = infinite[0].tolist()
        where = f"{data.measure} of query {data.ids[query]!r} is {values[at, query, system]} for {data.names[system]!r}"
        raise ValueError(f"{where}: values must be finite or nan")
    kept: _Array = np.logical_not(np.isnan(values).any(axis=(0, 2)))
    if not kept.any():
        raise ValueError(f"systems: no query has a value of {data.measure} in all systems: there is nothing to draw")
    ids = [one for one, keep in zip(data.ids, kept.tolist(), strict=True) if keep]
    ends = None if data.ends is None else data.ends[kept]
    return data._replace(values=data.values[..., kept, :], ids=ids, left_out=len(kept) - len(ids), ends=ends)


def _recall_data(named: dict[str, Any], ties: str) -> _Data:
    """Interpolated precision at the recall levels, computed from the hit curves."""
    names, made = list(named), [_hit_curves(name, one, ties) for name, one in named.items()]
    ids = [ids_of(curves) for curves, _ in made]
    values = in_one_order(names, ids, [curves.interpolated_precision(_RECALLS, ties=how) for curves, how in made])
    return _with_values(_Data(names, "interpolated precision", np.moveaxis(values, 2, 0), ids[0]))


def _hit_curves(name: str, one: Any, ties: Any) -> tuple[HitCurves, Any]:
    """The hit curves of the system, and the reading of ties."""
    if isinstance(one, Evaluated):
        found: Any = one
        ties = "expected" if found.ties == "docid" else found.ties  # without ties all readings are equal
        one = found.curves(found.relevance_level)
    if not isinstance(one, HitCurves):
        more = ": pass curves.at_level(level)" if isinstance(one, GainCurves) else ""
        takes = f"must be an Evaluation or a HitCurves for kind='precision-recall', got {type(one).__name__}"
        raise TypeError(f"{repr(name) if name else 'the result'} {takes}{more}")
    if one.weighted:
        raise ValueError(f"{name!r}: kind='precision-recall' {NO_WEIGHTS}")
    return one, ties


# --- pictures -----------------------------------------------------------------------------------------------


def _cut(name: Any) -> str:
    text = one_line(as_text(name))
    return text if len(text) <= _LETTERS else text[: _LETTERS - 1] + "…"


def _literal(name: Any) -> str:
    return literal(_cut(name))


def _label(ax: Axes, x: str, y: str, widest: int = 0) -> None:
    """Label the axes, in lines that fit. `widest`: the number of letters of the longest name beside the axes."""
    size = text_size(ax) * ax.figure.dpi / 72
    room = max(ax.figure.bbox.width - 0.55 * size * (widest + 2), 12 * size) if widest else ax.bbox.width
    ax.set(xlabel=wrapped(x, room, size), ylabel=wrapped(y, ax.bbox.height, size))


def _draw_recall(ax: Axes, data: _Data, colours: list[Any]) -> None:
    for at, (name, colour) in enumerate(zip(data.names, colours, strict=True)):
        heights = [math.fsum(row) / len(row) for row in data.values[:, :, at]]
        label, size = f"{_shown(name) or ''} ({math.fsum(heights) / len(heights):.3f})".strip(), text_size(ax)
        ax.plot(_RECALLS, heights, color=colour, linestyle=_STYLES[at % len(_STYLES)], linewidth=0.14 * size,
                marker=_MARKS[at % len(_MARKS)], markersize=0.45 * size, label=label, zorder=2.5)  # fmt: skip
    dress(ax, f"Mean precision and recall, {data.counted}")
    ax.set(xlabel="recall", ylabel="interpolated precision", xlim=(-0.01, 1.01), ylim=(0, 1.02))


def _draw_distribution(ax: Axes, data: _Data, colours: list[Any]) -> None:
    values, count = data.values, len(data.ids)
    if len(data.names) == 1:
        share = bool(values.min() >= 0 and values.max() <= 1)
        edges = np.linspace(0, 1, 21) if share else np.histogram_bin_edges(values[:, 0], min(20, max(1, count)))
        heights, edges = np.histogram(values[:, 0], edges)
        ax.bar(edges[:-1], heights, np.diff(edges), align="edge", color=colours[0], alpha=0.65, edgecolor="white",
               linewidth=0.5, zorder=2, label=_shown(data.names[0]))  # fmt: skip
        for text, place, style in (("mean", math.fsum(values[:, 0]) / count, "-"), ("median", np.median(values), "--")):
            ax.axvline(place, color="black", linestyle=style, linewidth=1.2, label=f"{text} {place:.3f}", zorder=3)
        dress(ax, f"{data.measure}, {data.counted}")
        ax.set(xlabel=data.measure, ylabel=data.unit)
        ax.yaxis.set_major_locator(needed("matplotlib.ticker", "a picture").MaxNLocator(integer=True))
        return
    lines = needed("matplotlib.lines", "a picture").Line2D
    for at, colour in enumerate(colours):
        column = values[:, at]
        low, first, middle, third, high = np.quantile(column, (0.05, 0.25, 0.5, 0.75, 0.95))
        if count <= _MOST_POINTS:  # spread over the height of the box, so that few points overlap
            spread = at + 0.5 * ((np.arange(count) * 0.6180339887498949) % 1 - 0.5)
            ax.plot(column, spread, ".", color=colour, alpha=0.45, markersize=0.35 * text_size(ax), markeredgewidth=0,
                    zorder=2)  # fmt: skip
        ax.plot([low, high], [at, at], color=colour, linewidth=1.2, zorder=2.2)
        ax.barh(at, third - first, 0.62, first, color=colour, alpha=0.3, linewidth=0, zorder=2.1)
        ax.barh(at, third - first, 0.62, first, fill=False, edgecolor=colour, linewidth=1.2, zorder=2.3)
        ax.plot([middle, middle], [at - 0.31, at + 0.31], color=colour, linewidth=2.2, zorder=2.4)
        ax.plot(math.fsum(column) / count, at, "D", color="black", markersize=0.45 * text_size(ax), zorder=2.6)
    ax.set_yticks(range(len(data.names)), [_cut(name) for name in data.names])
    dress(ax, f"{data.measure}, {data.counted}")
    ax.grid(False, axis="y")
    ax.set(xlabel=data.measure, ylim=(len(data.names) - 0.4, -0.6))
    for text, how in (("mean", {"marker": "D", "linestyle": "", "color": "black", "markersize": 4.5}),
                      ("median and quartiles", {"marker": "s", "linestyle": "", "color": _GREY, "markersize": 8,
                                                "fillstyle": "none"}),
                      (f"5 to 95 % of {data.unit}", {"color": _GREY, "linewidth": 1.2})):  # fmt: skip
        ax.add_line(lines([], [], label=text, **how))


def _with_means(data: _Data) -> list[str]:
    """The names of the systems with their means."""
    means = (math.fsum(column) / len(column) for column in data.values.T)
    return [f"{_shown(name) or ''} (mean {mean:.3f})".strip() for name, mean in zip(data.names, means, strict=True)]


def _draw_dots(ax: Axes, data: _Data, colours: list[Any]) -> None:
    count, systems = data.values.shape
    order = np.argsort(-data.values[:, 0], kind="stable")
    values, rows, size = data.values[order], np.arange(count), text_size(ax)
    if data.ends is None and systems > 1:
        ax.hlines(rows, values.min(axis=1), values.max(axis=1), color=_GREY, linewidth=0.08 * size, zorder=1.5)
    for at, (label, colour) in enumerate(zip(_with_means(data), colours, strict=True)):
        row = rows
        if data.ends is not None:  # intervals of a row stand side by side
            row = rows + 0.7 * ((at + 0.5) / systems - 0.5)
            low, high = np.where(np.isnan(data.ends[order, at]), values[:, at, None], data.ends[order, at]).T
            ax.hlines(row, low, high, color=colour, linewidth=0.1 * size, alpha=0.6, zorder=2)
        ax.plot(values[:, at], row, _MARKS[at % len(_MARKS)], color=colour, markeredgewidth=0, label=label, zorder=2.5,
                markersize=(0.4 if count <= _MOST_IDS else 0.2) * size)  # fmt: skip
    named = count <= _MOST_IDS
    ax.set_yticks(rows if named else [], [_literal(data.ids[at]) for at in order] if named else [])
    ax.tick_params(axis="y", labelsize=0.8 * size, length=0)
    dress(ax, f"{data.measure} of each {singular(data.unit)}")
    order_of = f", by falling {data.measure}" + f" of {_cut(data.names[0])}" * (systems > 1)
    ax.set(ylim=(count - 0.3, -0.7))
    _label(ax, data.measure, f"{data.counted}{order_of}")
    ax.margins(x=0.03)


def _draw_queries(ax: Axes, data: _Data, colours: list[Any]) -> None:
    count, many = data.values.shape
    labels = _with_means(data)
    if many > _MOST_BESIDE or count * many > _MOST_BARS:
        for at, colour in enumerate(colours):
            line = _thinned(np.sort(data.values[:, at])[::-1])
            ax.plot(*line, color=colour, linestyle=_STYLES[at % len(_STYLES)], linewidth=1.4, label=labels[at])
        whose = "" if many == 1 else " of each system"
        ax.set(xlabel=f"{data.counted}, in falling order{whose}", xlim=(0, count))
        ax.xaxis.set_major_formatter(as_count)
    else:
        order = np.argsort(-data.values[:, 0], kind="stable")
        wide = 0.84 / many
        for at, colour in enumerate(colours):
            place = np.arange(count) + wide * (at + 0.5) - 0.42
            ax.bar(place, data.values[order, at], wide, color=colour, linewidth=0, zorder=2, label=labels[at])
        _name_queries(ax, data, order, f"falling {data.measure}" + (
            f" of {_cut(data.names[0])}" if many > 1 else ""))  # fmt: skip
    dress(ax, f"{data.measure} of each {singular(data.unit)}")
    ax.grid(False, axis="x")
    ax.set(ylabel=data.measure)
    _from_zero(ax, data.values)


def _thinned(heights: _Array) -> Any:
    """The points of a line through the queries. Query i is at i + 1/2."""
    limits = Limits(0.0, float(len(heights)), float(heights.min()), float(heights.max()), len(heights))
    return thinned(np.arange(len(heights)) + 0.5, heights, limits)


def _from_zero(ax: Axes, values: _Array) -> None:
    if values.min() >= 0:
        ax.set_ylim(0, 1.04 * float(values.max()) or 1.0)


def _name_queries(ax: Axes, data: _Data, places: _Array, order: str) -> None:
    """Write the ids below the bars if there is room to read them, else only the number of queries."""
    texts = [_literal(data.ids[at]) for at in places]
    count = len(texts)
    room = 72 * ax.get_window_extent().width / ax.figure.dpi / (count + 1)  # for each id, in points
    size = min(0.85 * text_size(ax), 0.95 * room)
    shown = count <= _MOST_IDS and size >= 5.0
    ax.set_xlim(-0.8, count - 0.2)
    ax.set_xticks(range(count) if shown else [], texts if shown else [])
    if shown:
        ax.tick_params(axis="x", labelsize=size, labelrotation=90, length=0)
    _label(ax, f"{data.counted}, by {order}", ax.get_ylabel())


def _draw_scatter(ax: Axes, data: _Data, colours: list[Any]) -> None:
    first, second = data.values.T
    count = len(first)
    low, high = float(data.values.min()), float(data.values.max())
    low = min(low, 0.0) if high > 0 else low
    room = 0.03 * (high - low) or 0.5
    ends = low - room, high + room
    ax.plot(ends, ends, color=_GREY, linewidth=1.0, zorder=1.5)
    size = 0.26 * text_size(ax) ** 2 if count <= 300 else 10 if count <= 3000 else 4
    for which, label, colour, mark in _sides(data):
        ax.plot([], [], mark, color=colour, markeredgewidth=0, label=label)  # the entry of the legend
        ax.scatter(first[which], second[which], s=size, marker=mark, color=colour, linewidths=0, zorder=2,
                   alpha=0.75 if count <= 3000 else 0.35, rasterized=count > 3000)  # fmt: skip
    means = [math.fsum(column) / count for column in (first, second)]
    ax.plot(*means, "P", color="black", markeredgecolor="white", markersize=9, zorder=3,
            label=f"means: {means[0]:.3f}, {means[1]:.3f}")  # fmt: skip
    dress(ax, f"{data.measure}, {data.counted}")
    x, y = (f"{data.measure} of {_cut(name)}" for name in data.names)
    _label(ax, x, y)
    ax.set(xlim=ends, ylim=ends, aspect="equal")


def _sides(data: _Data) -> list[tuple[_Array, str, Any, str]]:
    """For better, equal and worse values of the second system: the queries, a label, a colour and a mark."""
    apart = (data.values[:, 1] - data.values[:, 0]) * (-1 if data.lower else 1)
    first, second = (_cut(name) or which for name, which in zip(data.names, ("first", "second"), strict=True))
    sides = ((apart > 0, f"{second} better", _BETTER, "o"), (apart == 0, "equal", _GREY, "s"),
             (apart < 0, f"{first} better", _WORSE, "v"))  # fmt: skip
    return [(which, f"{text}: {np.count_nonzero(which):,}", colour, mark) for which, text, colour, mark in sides]


def _draw_differences(ax: Axes, data: _Data, colours: list[Any]) -> None:
    apart = data.values[:, 1] - data.values[:, 0]
    order = np.argsort(-apart, kind="stable")
    count, mean = len(apart), math.fsum(apart) / len(apart)
    for which, label, colour, _ in _sides(data):
        heights = np.where(which, apart, 0.0)[order]
        if count > _MOST_BARS:
            ax.fill_between(*_thinned(heights), color=colour, linewidth=0.3, zorder=2, label=label)
        else:
            ax.bar(np.arange(count), heights, 0.84, color=colour, linewidth=0, zorder=2, label=label)
    ax.axhline(0, color="black", linewidth=0.8, zorder=2.5)
    ax.axhline(mean, color="black", linestyle="--", linewidth=1.2, zorder=2.5, label=f"mean {mean:+.3f}")
    if count > _MOST_BARS:
        ax.set(xlabel=f"{data.counted}, by falling difference", xlim=(0, count))
        ax.xaxis.set_major_formatter(as_count)
    else:
        _name_queries(ax, data, order, "falling difference")
    dress(ax, f"Differences in {data.measure}")
    ax.grid(False, axis="x")
    _label(ax, ax.get_xlabel(), f"{data.measure}: {_cut(data.names[1])} − {_cut(data.names[0])}")


_DRAWN = {"distribution": _draw_distribution, "queries": _draw_queries, "dots": _draw_dots,
          "precision-recall": _draw_recall, "scatter": _draw_scatter, "differences": _draw_differences}  # fmt: skip
_PAIRS = ("scatter", "differences")


# --- comparisons --------------------------------------------------------------------------------------------


class _Row(NamedTuple):
    text: str
    value: float
    low: float
    high: float
    sure: bool


def plot_comparison(comparison: Comparison, kind: str = "differences", *, measure: str | None = None,
                    ax: Axes | None = None) -> Display:  # fmt: skip
    """Draw differences between systems, or the systems, with intervals. Parameters as in `Comparison.plot`."""
    kind = kind_of(kind, ("differences", "systems"))
    measures = list(dict.fromkeys(one.measure for one in comparison.systems))
    if not measures:
        raise ValueError("comparison has no systems: there is nothing to draw")
    title = measures[0] if measure is None else check_choice(measure, "measure", tuple(measures))
    rows, axis = _forest(comparison, kind, title)
    drawn, of_pairs = [row for row in rows if math.isfinite(row.value)], kind == "differences"
    more = len(drawn) - _MOST_ROWS
    if more > 0:
        least = sorted(abs(row.value) for row in drawn)[more] if of_pairs else 0.0
        drawn = [row for row in drawn if abs(row.value) >= least][:_MOST_ROWS]
    if not drawn:
        raise ValueError(f"comparison: {title} has no finite value: there is nothing to draw")
    found = target(ax, (6.0, _height(len(drawn))), f"{kind!r} of a comparison by {title}")
    at, alpha = np.arange(len(drawn)), alpha_of(comparison.confidence_level)
    ends = np.array([[row.value if math.isnan(end) else end for end in row[2:4]] for row in drawn])
    found.hlines(at, *ends.T, color=_BETTER, linewidth=1.6, zorder=2)
    values, sure = (np.array(column) for column in zip(*((row.value, row.sure) for row in drawn), strict=True))
    for which, face, sign in ((sure, _BETTER, "≤"), (~sure, "white", ">")):
        if which.any():
            found.plot(values[which], at[which], "o", color=_BETTER, markerfacecolor=face, markersize=5.5, zorder=3,
                       label=f"p (Holm) {sign} {alpha:.3g}" if of_pairs else None)  # fmt: skip
    if of_pairs:
        found.axvline(0, color=_GREY, linewidth=1.0, zorder=1.5)
    found.set_yticks(at, [row.text for row in drawn])
    dress(found, f"{title}, {many(comparison.count, comparison.unit, ',')}")
    found.grid(False, axis="y")
    widest = max(len(row.text) for row in drawn)
    _label(found, f"{axis}, {100 * comparison.confidence_level:.6g}\u00a0% intervals", "", widest)
    found.margins(x=0.08)
    found.set(ylim=(len(drawn) - 0.4, -0.6))
    left_out = comparison.left_out
    notes = [f"{many(left_out, comparison.unit, ',')} without a value left out"] * (left_out > 0)
    notes += [f"{more:,} {'smaller differences' if of_pairs else 'more systems'} left out"] * (more > 0)
    legend(found, "\n".join(notes))
    return Display(plot_comparison, comparison, [title], {"kind": kind, "measure": measure}, found)


def _height(rows: int) -> float:
    return max(2.4, 1.5 + 0.28 * min(rows, _MOST_ROWS))


def _forest(comparison: Comparison, kind: str, measure: str) -> tuple[list[_Row], str]:
    """The rows, and the label of their axis."""
    if kind == "systems":
        systems = [one for one in comparison.systems if one.measure == measure]
        rows = [_Row(_literal(one.system), one.value, one.low, one.high, True) for one in systems]
        return rows, measure if comparison.unit == "items" else f"mean {measure}"
    pairs, alpha = [one for one in comparison.rows if one.measure == measure], alpha_of(comparison.confidence_level)
    from_one = len({one.baseline for one in pairs}) == 1
    names = [_literal(one.system) + f" − {_literal(one.baseline)}" * (not from_one) for one in pairs]
    rows = [_Row(name, one.difference, one.low, one.high, one.p_holm <= alpha)
            for name, one in zip(names, pairs, strict=True)]  # fmt: skip
    return rows, f"difference in {measure}" + (f" from {_literal(pairs[0].baseline)}" if from_one else "")


class Picture(NamedTuple):
    """A picture of runs, or of groups."""

    draw: Callable[..., Any]
    height: float  # in inches
    caption: str


def runs_pictures(names: Sequence[str], evaluations: Sequence[Evaluation],
                  comparison: Comparison | None = None, first: str | None = None) -> list[Picture]:  # fmt: skip
    """A picture of mean precision and recall, and a picture of differences: for two runs of each query, else of means.

    The differences are of the measure `first`, if it has a mean, else of the first measure that has a mean. More than
    10 runs have a single picture of this measure: the means with their intervals, or the values of the queries if the
    runs were not compared.
    """
    named = dict(zip(map(literal, names), evaluations, strict=True))
    held = _held(named)
    measure = first if first in held else next(iter(held), None)
    if measure is not None and len(named) > _MOST_LINES:
        if comparison is None:
            what = f"{measure} of the queries: the mean, the median and the quartiles of each run."
            draw: Callable[..., Display] = partial(plot_evaluations, named, "distribution", measure=measure)
        else:
            what = f"Mean {measure} with its interval. These intervals do not say which differences are significant."
            systems = sorted(comparison.systems, key=lambda one: names.index(one.system))
            draw = partial(plot_comparison, replace(comparison, systems=tuple(systems)), "systems", measure=measure)
        return [Picture(draw, _height(len(named)), what)]
    high = 4.5 + 0.11 * min(len(named), _MOST_ROWS)
    what = "The mean over queries of interpolated precision: the greatest precision at this recall or a higher recall."
    found = [Picture(partial(plot_evaluations, named, "precision-recall"), high, what)]
    if measure is not None and len(named) == 2:
        what = f"{measure} of {names[1]} minus {measure} of {names[0]}: a bar for each query, in falling order."
        found.append(Picture(partial(plot_evaluations, named, "differences", measure=measure), high, what))
    elif measure is not None and comparison is not None:
        rows = sum(one.measure == measure for one in comparison.rows)
        what = f"Differences in mean {measure} with their intervals."
        found.append(Picture(partial(plot_comparison, comparison, measure=measure), _height(rows), what))
    return found


def groups_pictures(measures: Mapping[str, tuple[Mapping[str, _Array], _Array | None]], ids: Sequence[Any], unit: str,
                    level: float | None) -> list[list[Picture]]:  # fmt: skip
    """Pictures of groups: how each measure is distributed, the first measure of each group, and its differences.

    `measures`: for each measure the values of each system in each group, and the ends of their intervals (groups,
    systems, 2) of confidence `level`. Differences are of all pairs of three systems or fewer, else from the first
    system, with eight pairs at most. Without a value there is no picture.
    """
    made: list[list[Picture]] = [[], [], []]
    for measure, (values, ends) in measures.items():
        stacked = np.stack(list(values.values()), axis=1)
        if np.isnan(stacked).any(axis=1).all():
            continue
        names = [literal(name) for name in values]
        lower = measure_of(measure).record.lower_is_better
        data = _with_values(_Data(names, measure, stacked, list(ids), lower=lower, unit=unit, ends=ends))
        what = f"How {measure} is distributed over the {unit}."
        made[0].append(_of_data(data, "distribution", what))
        if made[1] or len(names) > _MOST_ROWS:
            continue
        what = f"{measure} of each of the {data.counted}."
        what += f" Lines: {100 * (level or 0):g} % intervals." * (ends is not None)
        made[1].append(_of_data(data, "dots" if len(data.ids) <= _MOST_BARS else "queries", what))
        pairs = [pair for pair in combinations(range(len(names)), 2) if pair[0] == 0 or len(names) <= _MOST_BESIDE]
        what = f"The difference in {measure} for each {singular(unit)}, in falling order."
        what += f" {len(pairs) - _MOST_PAIRS:,} more pairs are left out." * (len(pairs) > _MOST_PAIRS)
        for pair in pairs[:_MOST_PAIRS]:
            two = data._replace(names=[names[at] for at in pair], values=data.values[:, pair], ends=None)
            made[2].append(_of_data(two, "differences", what))
    return made


def _of_data(data: _Data, kind: str, caption: str) -> Picture:
    colours = _colours(data.names, None)

    def draw(ax: Axes, keyed: bool = True) -> None:
        _DRAWN[kind](ax, data, colours)
        if keyed:
            legend(ax, data.note)

    return Picture(draw, _high(kind, len(data.names), len(data.ids)), caption)


def runs_figure(names: Sequence[str], evaluations: Sequence[Evaluation],
                comparison: Comparison | None = None, first: str | None = None) -> Figure:  # fmt: skip
    """A figure with the pictures of runs side by side."""
    pictures = runs_pictures(names, evaluations, comparison, first)
    pairs = len(names) > 2 and comparison is not None and len({one.baseline for one in comparison.rows}) > 1
    wide = 6.0 if len(pictures) < 2 else 13.0 if pairs else 10.4  # a row of a pair has two names
    high = max(one.height for one in pictures)
    axes = panels(new_figure((wide, high)), 1, len(pictures))
    if high > 7 and len(pictures) > 1:  # the curves stay as high as they are wide, beside a picture with many rows
        axes[0].set(box_aspect=0.9, anchor="S")
    for one, ax in zip(pictures, axes, strict=True):
        one.draw(ax=ax)
    whole: Figure = axes[0].figure.figure
    return whole


def of_one(result: Any, kind: str, **options: Any) -> Display:
    """The picture of a single system. An Evaluation keeps its name, and curves have none."""
    if isinstance(kind, str) and kind.lower() in _PAIRS:
        raise ValueError(f"kind={kind!r} needs two systems: use plot_evaluations")
    return plot_evaluations([result] if isinstance(result, Evaluated) else {"": result}, kind, **options)
