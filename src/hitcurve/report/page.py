"""The HTML page of a report: tables, pictures, definitions, checksums of the files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hitcurve._base.words import many
from hitcurve.curves.gain import GainCurve
from hitcurve.curves.hit import HitCurve, HitCurves
from hitcurve.measures import parse
from hitcurve.report.frame import definitions, document, drawn, names_of, section
from hitcurve.report.plot import KINDS, figure, literal, new_figure
from hitcurve.report.plot_queries import plot_evaluations
from hitcurve.report.rows import Report
from hitcurve.report.usual import Usual
from hitcurve.shown.grid import rendered

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hitcurve.sources.screen import ScreenedScore

__all__ = ["distribution", "figures", "table_page"]

_MOST_GROUPS = 7  # lines of a picture that people can tell apart
_MOST_BANDS = 4  # curves of a picture with bands
_LINES = "Lines: the mean over all orders of tied items. Darker regions: from the worst to the best order."
_BINARY = "Binary measures, such as AP, count items from level 1 up as relevant, or from the level that rel= names."


def figures(found: Sequence[ScreenedScore], *, band: float | None, **how: Any) -> list[tuple[Figure, str]]:
    """Pictures with captions. Without groups, one picture has all scores. With groups, each score has a picture of the
    groups with the most relevant items.

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
        assert isinstance(score.curves, HitCurves)
        named = zip(score.names or (), score.curves, strict=True)
        usable = [(literal(str(name)), curve) for name, curve in named if 0 < curve.num_hits < curve.num_items]
        most = sorted(range(len(usable)), key=lambda at: -usable[at][1].num_relevant)[:_MOST_GROUPS]
        if not most:
            continue
        title = literal(score.name) if len(found) > 1 else ""
        if len(most) < len(usable):
            title += f"{': ' if title else ''}the {len(most)} of {len(usable):,} groups with the most relevant items"
        made.append((figure(dict(usable[at] for at in sorted(most)), title=title), _LINES))
    return made


def distribution(report: Report) -> list[tuple[Figure, str]]:
    """A picture: how the first measure is distributed over the groups. No picture if no group has a value."""
    name = report.view.names[0]
    rows = {literal(score.name): score.rows[name] for score in report.scores}
    values = {score: np.where(row.empty, np.nan, row.each) for score, row in rows.items()}
    if np.isnan(list(values.values())).any(axis=0).all():
        return []
    drawing = new_figure((6.0, 4.6 if len(values) == 1 else 1.6 + 0.4 * len(values)))
    plot_evaluations(values, measure=name, ax=drawing.add_subplot())
    return [(drawing, f"How {name} is distributed over the groups. The picture calls groups queries.")]


def table_page(report: Report, view: Usual, num_rows: int, files: Sequence[str], command: Sequence[str],
         figures: Sequence[tuple[Figure, str]], progress: Callable[[str], None]) -> str:  # fmt: skip
    """The HTML of the page of a report that was also measured for `view`.

    `num_rows`: the number of rows in `files`. `command`: the words of the command line. `progress` is called with each
    step.
    """
    body = [section("Summary", report.summary(view.summary))] if report.named else []
    body += drawn(figures, progress)
    if report.differences:
        body.append(section("Differences", *report.differences))
    for score in report.scores:
        grids, sentences = view.section(report, score)
        if score.counted is not None and score.counted.num_repeated is None:
            sentences.append("Rows that repeat an id: not counted, because no column of ids was named.")
        title = f"{score.name} ({score.direction} is better)"
        body.append(section(title, score.counts(), *grids, " ".join(sentences)))
    what = "N: items. R: relevant items. h(k): relevant items among the first k."
    more = f"<p>{what} A share of the list is that share of N, rounded up.</p>"
    records = dict.fromkeys(parse(name).record for name in view.names)
    body.append(definitions((one.name, one.definition, one.source) for one in records) + more)
    body += [rendered([_BINARY], "html")] * report.graded
    body.append(rendered([*view.legend, *view.how(report)], "html"))
    lead = f"{many(num_rows, 'rows', ',')}, {many(len(report.scores), 'columns')} of scores"
    return document(names_of(files), lead, report.warnings, body, files, command, progress)
