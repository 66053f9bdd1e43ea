"""A report as one HTML page that needs nothing else: tables, pictures, definitions, checksums of the files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hitcurve.curves.gain import GainCurve
from hitcurve.curves.hit import HitCurve, HitCurves
from hitcurve.measures import parse
from hitcurve.report.frame import definitions, document, drawn, names_of, section
from hitcurve.report.plot import KINDS, figure, literal, new_figure
from hitcurve.report.plot_queries import plot_evaluations
from hitcurve.report.rows import Report
from hitcurve.report.usual import Usual
from hitcurve.shown.grid import many, rendered

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hitcurve.sources.screen import ScreenedScore

__all__ = ["distribution", "figures", "table_page"]

_MOST_GROUPS = 7  # lines that a person can tell apart
_MOST_BANDS = 4
_LINES = "Lines: expected over all orders of tied items; darker regions: from the worst to the best order."
_BINARY = "Binary measures, such as AP, count items from level 1 up as relevant, or from the level that rel= names."


def figures(found: Sequence[ScreenedScore], *, band: float | None, **how: Any) -> list[tuple[Figure, str]]:
    """Pictures of all scores together; with groups of labels, for each score the groups with most hits. With captions.

    Bands are drawn around few lines only, and not around those of groups.
    """
    plain = {score.name: score.curves for score in found if isinstance(score.curves, HitCurve | GainCurve)}
    curves = {literal(name): curve for name, curve in plain.items() if curve.num_hits}
    if curves:
        every = all(curve.num_relevant < curve.num_items for curve in curves.values())
        kinds = ("gain",) if found[0].graded else tuple(kind for kind in KINDS if kind != "roc" or every)
        band = band if len(curves) <= _MOST_BANDS else None
        said = f" Light bands: {100 * band:g} % of bootstrap resamples, at each point by itself." if band else ""
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
    """A picture of the first measure over the groups, of each column of scores; none where no group has a value."""
    name = report.view.names[0]
    rows = {literal(score.name): score.rows[name] for score in report.scores}
    values = {score: np.where(row.empty, np.nan, row.each) for score, row in rows.items()}
    if np.isnan(list(values.values())).any(axis=0).all():
        return []
    drawing = new_figure((6.0, 4.6 if len(values) == 1 else 1.6 + 0.4 * len(values)))
    plot_evaluations(values, measure=name, ax=drawing.add_subplot())
    return [(drawing, f"How {name} is distributed over the groups, which are the queries of the picture.")]


def table_page(report: Report, view: Usual, num_rows: int, files: Sequence[str], command: Sequence[str],
         figures: Sequence[tuple[Figure, str]], progress: Callable[[str], None]) -> str:  # fmt: skip
    """The report, which was measured for `view` too, as text of one page.

    `num_rows` were read, from `files`; `command`: the words of the command line. `progress` is told what is done.
    """
    body = [section("Summary", report.summary(view.summary))] if report.named else []
    body += drawn(figures, progress)
    if report.differences:
        body.append(section("Differences", *report.differences))
    for score in report.scores:
        grids, sentences = view.section(report, score)
        if score.counted is not None and score.counted.num_repeated is None:
            sentences.append("Rows that repeat an id: not counted, as no column of ids was named.")
        title = f"{score.name} ({score.direction} is better)"
        body.append(section(title, score.counts(), *grids, " ".join(sentences)))
    what = "N items, R of them relevant, h(k) relevant ones among the first k."
    more = f"<p>{what} A share of the list stands for that share of N, rounded up.</p>"
    records = dict.fromkeys(parse(name).record for name in view.names)
    body.append(definitions((one.name, one.definition, one.source) for one in records) + more)
    body += [rendered([_BINARY], "html")] * report.graded
    body.append(rendered([*view.legend, *view.how(report)], "html"))
    lead = f"{many(num_rows, 'rows', ',')}, {many(len(report.scores), 'columns')} of scores"
    return document(names_of(files), lead, report.warnings, body, files, command, progress)
