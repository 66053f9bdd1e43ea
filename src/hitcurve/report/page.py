"""The HTML page of a report: tables, pictures, definitions, checksums of the files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hitcurve._base.words import many
from hitcurve.curves.gain import GainCurve
from hitcurve.curves.hit import HitCurve, HitCurves
from hitcurve.measures import parse
from hitcurve.report.frame import definitions, document, drawn, names_of, section, won
from hitcurve.report.plot import KINDS, figure, legend_below, literal, new_figure, panels
from hitcurve.report.plot_queries import Picture, groups_pictures
from hitcurve.report.rows import Report
from hitcurve.report.usual import Usual
from hitcurve.shown.grid import Grid, rendered

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hitcurve.sources.screen import ScreenedScore

__all__ = ["figures", "groups_figure", "groups_figures", "table_page"]

_MOST_GROUPS = 7  # lines of a picture that people can tell apart
_MANY, _FEW = 200, 20  # the first table of groups, and the other tables, are folded if they have more rows
_MOST_BESIDE = 3  # scores whose pairs a picture shows
_MOST_BANDS = 4  # curves of a picture with bands
_LINES = "Lines: the mean over all orders of tied items. Darker regions: from the worst to the best order."
_BINARY = "Binary measures, such as AP, count items from level 1 up as relevant, or from the level that rel= names."


def figures(found: Sequence[ScreenedScore], *, band: float | None, **how: Any) -> list[tuple[Figure, str]]:
    """Pictures of curves, with captions. Without groups, one picture has all scores. With few groups, each score has a
    picture of its groups.

    Bands are drawn only for few lines, and not for groups.
    """
    plain = {score.name: score.curves for score in found if isinstance(score.curves, HitCurve | GainCurve)}
    curves = {literal(name): curve for name, curve in plain.items() if curve.num_hits}
    if curves:
        every = all(curve.num_relevant < curve.num_items for curve in curves.values())
        kinds = ("gain",) if found[0].graded else tuple(kind for kind in KINDS if kind != "roc" or every)
        band = band if len(curves) <= _MOST_BANDS else None
        said = f" Light bands: {100 * band:g} % of the bootstrap resamples, for each point by itself." if band else ""
        return [(figure(curves, kinds, band=band, **how), _LINES + said)]
    made = []
    for score in found if not plain else ():
        if not isinstance(score.curves, HitCurves):
            continue
        named = zip(score.names or (), score.curves, strict=True)
        usable = {literal(str(name)): curve for name, curve in named if 0 < curve.num_hits < curve.num_items}
        if 0 < len(usable) <= _MOST_GROUPS:
            made.append((figure(usable, title=literal(score.name) if len(found) > 1 else ""), _LINES))
    return made


def _of_groups(report: Report, names: Sequence[str]) -> list[list[Picture]]:
    """Pictures of the values of these measures in each group."""
    measures = {}
    for name in dict.fromkeys(names):
        rows = [score.rows[name] for score in report.scores if name in score.rows]
        if len(rows) < len(report.scores):
            continue
        values = [np.where(row.empty, np.nan, row.each) for row in rows]
        ends = None
        if all(row.ends for row in rows):
            ends = np.array([[end[:2] for end in row.ends] for row in rows]).swapaxes(0, 1)
        measures[name] = {score.name: one for score, one in zip(report.scores, values, strict=True)}, ends
    return groups_pictures(measures, report.scores[0].groups or [], report.unit, report.level)


def groups_figure(report: Report) -> Figure | None:
    """The pictures of groups in columns, for the first measure: its distribution, each group, and differences.

    Two or three scores have differences. None if no group has a value.
    """
    spread, each, apart = _of_groups(report, report.view.names[:1])
    beside = apart if len(report.scores) <= _MOST_BESIDE else []
    columns = [column for column in ([*spread, *beside[:1]], each, beside[1:]) if column]
    if not columns:
        return None
    whole = new_figure((5.2 * len(columns), max(4.2 * len(columns[0]), *(one.height for one in (*spread, *each)))))
    for column, part in zip(columns, whole.subfigures(1, len(columns), squeeze=False).ravel(), strict=True):
        for one, ax in zip(column, panels(part, len(column), 1), strict=True):
            one.draw(ax)
    return whole


def groups_figures(report: Report, view: Usual) -> list[tuple[Figure, str]]:
    """The pictures of groups for a page, in figures with their captions."""
    spread, each, apart = _of_groups(report, [one.name for one in view.of_each])
    if not spread:
        return []
    if report.named:  # a picture of a single score has a legend of its own
        made = [(_together(spread, False), f"How the measures are distributed over the {report.unit}.")]
    else:
        made = [(_together(spread[:1], True), spread[0].caption)]
    made += [(_together([one], True), one.caption) for one in each]
    return made + ([(_together(apart, True), apart[0].caption)] if apart else [])


def _together(pictures: Sequence[Picture], keyed: bool) -> Figure:
    """A figure of pictures, two in a row. `keyed`: each picture has its own legend; otherwise they share a legend."""
    columns = min(2, len(pictures))
    rows = -(-len(pictures) // columns)
    whole = new_figure((5.2 * columns + 0.8 * (columns == 1), rows * max(one.height for one in pictures)))
    axes = [whole.add_subplot(rows, columns, at + 1) for at in range(len(pictures))]
    for one, ax in zip(pictures, axes, strict=True):
        one.draw(ax, keyed)
    if not keyed:
        legend_below(whole)
    return whole


def _won(report: Report) -> list[Grid]:
    """The numbers of groups in which each score is ahead, for the compared measures that the report has."""
    made = report.comparison
    if made is None or not report.grouped:
        return []
    values: dict[str, dict[str, Any]] = {}
    for score in report.scores:
        rows = score.rows.values()
        values[score.name] = {row.measure: np.where(row.empty, np.nan, row.each) for row in rows}
    known = tuple(row for row in made.rows if row.measure in values[row.system])
    return [won(replace(made, rows=known), report.scores[0].groups or [], values)] if known else []


def table_page(report: Report, view: Usual, num_rows: int, files: Sequence[str], command: Sequence[str],
         figures: Sequence[tuple[Figure, str]], progress: Callable[[str], None]) -> str:  # fmt: skip
    """The HTML of the page of a report that was also measured for `view`.

    `num_rows`: the number of rows in `files`. `command`: the words of the command line. `progress` is called with each
    step.
    """
    body = [section("Summary", report.summary(view.summary))] if report.named else []
    body += drawn(figures, progress)
    if report.grouped:
        names = [one.name for one in view.of_each]
        for at, (title, grid) in enumerate(report.group_tables(names) if report.each else ()):
            body.append(section(title, grid, most=_FEW if at else _MANY))
    if report.differences:
        body.append(section("Differences", *report.differences, *_won(report)))
    for score in report.scores:
        grids, sentences = view.section(report, score)
        title = f"{score.name} ({score.direction} is better)"
        body.append(section(title, score.counts(), *grids, " ".join(sentences)))
    what = "N: items. R: relevant items. h(k): relevant items among the first k."
    more = f"<p>{what} A share of the list is that share of N, rounded up.</p>"
    records = dict.fromkeys([*(parse(name).record for name in view.names), *(one.record for one in view.of_each)])
    body.append(definitions((one.name, one.definition, one.source) for one in records) + more)
    body += [rendered([_BINARY], "html")] * report.graded
    body.append(rendered([*view.legend, *view.how(report)], "html"))
    lead = f"{many(num_rows, 'rows', ',')}, {many(len(report.scores), 'columns')} of scores"
    return document(names_of(files), lead, report.warnings, body, files, command, progress)
