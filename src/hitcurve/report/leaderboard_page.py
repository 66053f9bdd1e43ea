"""The HTML page of measured runs: leaderboard, differences, counts of documents, ties, values of each query."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from hitcurve._base.words import many
from hitcurve.report.frame import definitions, document, drawn, first_names, names_of, section, won
from hitcurve.report.plot import new_figure
from hitcurve.report.plot_queries import runs_pictures
from hitcurve.shown.grid import Grid, number
from hitcurve.shown.means import queries
from hitcurve.statistics.comparison import tables_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hitcurve.report.runs import Runs
    from hitcurve.retrieval.evaluation import Evaluation
    from hitcurve.statistics.comparison import Comparison

__all__ = ["figures", "runs_page"]

_TOP = 10  # the documents of a query that people look at
_FEW = 20  # a table of more queries or differences is folded
_LONG = 200  # a table of more differences is a folded table for each measure


def figures(runs: Runs) -> list[tuple[Figure, str]]:
    """The pictures of runs, each with its caption. The list is empty if the runs hold different queries."""
    evaluations = runs.evaluations
    if any(one.query_ids != evaluations[0].query_ids for one in evaluations[1:]) or not len(evaluations[0]):
        return []
    found = []
    order, _ = runs.best_first()
    names, ordered = [runs.names[at] for at in order], [evaluations[at] for at in order]
    for one in runs_pictures(names, ordered, runs.compared, runs.first):
        drawing = new_figure((6.0, one.height))
        one.draw(ax=drawing.add_subplot())
        found.append((drawing, one.caption))
    return found


def runs_page(runs: Runs, files: Sequence[str], command: Sequence[str], figures: Sequence[tuple[Figure, str]],
              progress: Callable[[str], None], warnings: Sequence[str] = ()) -> str:  # fmt: skip
    """The HTML of the page.

    `files`: judgments and runs. `command`: the words of the command line. `figures`: pictures with their captions.
    `progress` is called with each step. `warnings` come before the warnings of the runs.
    """
    names, evaluations = runs.names, runs.evaluations
    body = [section("Leaderboard", runs.board(best_first=True)), *drawn(figures, progress)]
    if runs.strata:
        body.insert(1, section("Strata", *_strata(runs), most=_FEW))
    if runs.compared is not None:
        body.append(section("Differences", *_differences(names, evaluations, runs.compared), most=_FEW))
    body.append(section("Queries and documents", _counts(names, evaluations)))
    body.append(section("Ties", *_ties(names, evaluations)))
    measure, each = _each(names, evaluations, runs.first)
    body.append(section(f"{measure} of each query", each, most=_FEW))
    body.append(definitions((name, text, "") for name, text in evaluations[0].definitions.items()))
    notes = dict.fromkeys([*warnings, *(note for one in evaluations for note in one.notes)])
    lead = f"{many(len(names), 'runs', ',')}, {queries(evaluations, ',')}, judgments of {names_of(files[:1])}"
    return document(first_names(runs.names), lead, notes, body, files, command, progress)


def _strata(runs: Runs) -> Iterator[Grid]:
    """A table for each group of queries. The table of all queries is the leaderboard."""
    grid = runs.stacked(best_first=True)
    ends = [*grid.breaks, len(grid.rows)]
    for start, end in pairwise(ends):
        group, count = grid.rows[start][:2]
        rows = [row[2:] for row in (grid.rows[0], *grid.rows[start:end])]
        foot = grid.foot if end == ends[-1] else ()
        yield Grid(rows, grid.left - 2, caption=f"{group}, queries: {count}", foot=foot)


def _differences(names: Sequence[str], evaluations: Sequence[Evaluation],
                 comparison: Comparison) -> Iterator[Grid | str]:  # fmt: skip
    """The tables of the comparison and `won`, with captions. A long table becomes a table for each measure."""
    means, apart, text = tables_of(comparison)
    ids = evaluations[0].query_ids  # compared runs hold the same queries
    values = {name: one.values for name, one in zip(names, evaluations, strict=True)}
    assert isinstance(means, Grid) and isinstance(apart, Grid)
    for grid, caption in ((means, "Means"), (apart, "Differences"), (text, ""),
                          (won(comparison, ids, values), "Queries higher and lower")):  # fmt: skip
        if not isinstance(grid, Grid):
            yield grid
        elif len(grid.rows) - 1 <= _LONG:
            yield grid._replace(caption=caption)
        else:
            head, *rows = grid.rows
            at = head.index("measure")  # the stratum may come first
            for measure in dict.fromkeys(row[at] for row in rows):
                chosen = [row for row in rows if row[at] == measure]
                yield grid._replace(rows=[head, *chosen], breaks=(), caption=f"{caption} in {measure}")


def _counts(names: Sequence[str], evaluations: Sequence[Evaluation]) -> Grid:
    """A table: the queries and documents of each run, and the share of documents without a judgment."""
    head = ["run", "queries", "missing", "extra", "empty", "documents", "unjudged", f"in the first {_TOP}"]
    rows = [head]
    for name, one in zip(names, evaluations, strict=True):
        counts = one.counts
        cells = [f"{counts[what]:,}" for what in ("queries", "missing", "extra", "empty", "retrieved")]
        without = _share(counts["retrieved"] - counts["judged"], counts["retrieved"])
        rows.append([name, *cells, without, _unjudged(one)])
    foot = (
        "Missing: judged queries that the run lacks. Extra: queries of the run without judgments. Empty: queries "
        "without a relevant document. Unjudged: documents without a judgment, which count as not relevant."
    )
    return Grid(rows, foot=(foot,))


def _unjudged(one: Evaluation) -> str:
    if one.ties in ("expected", "worst", "best") and one.rank_by == "score":
        return "-"  # no single order says which documents come first
    levels = "".join(one.level_strings(_TOP))
    return _share(levels.count("-") + levels.count("."), len(levels))


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _ties(names: Sequence[str], evaluations: Sequence[Evaluation]) -> Iterator[Grid | str]:
    """The range of each mean over the orders of equal scores."""
    rows = [["run", "measure", "value", "worst", "expected", "best"]]
    for name, one in zip(names, evaluations, strict=True):
        for measure, band in one.tie_report().items():
            if number(band.worst) != number(band.best):
                rows.append([name, measure, *map(number, (band.value, band.worst, band.expected, band.best))])
    rule = {"score": f"Rule for equal scores: {evaluations[0].ties}.", "listed": "Ranked as listed: there are no ties.",
            "rank": "Ranked by the rank column: there are no ties."}[evaluations[0].rank_by]  # fmt: skip
    yield rule
    if len(rows) > 1:
        yield Grid(rows, 2)
        yield "Worst, best: every tie in its worst or its best order. Expected: the mean over all orders."
    elif evaluations[0].rank_by == "score":
        yield "As far as known, the order of equal scores changes no mean in four decimals."


def _each(names: Sequence[str], evaluations: Sequence[Evaluation], first: str | None) -> tuple[str, Grid]:
    """The values of the measure `first`: a row for each query of any run. Two runs also have their difference."""
    measure = first or next(iter(evaluations[0].values))
    ids = list(dict.fromkeys(query for one in evaluations for query in one.query_ids))
    place = {query: at for at, query in enumerate(ids)}
    values = np.full((len(evaluations), len(ids)), np.nan)
    for row, one in zip(values, evaluations, strict=True):
        row[[place[query] for query in one.query_ids]] = one.values[measure]
    two = len(names) == 2
    signs = [""] * len(names) + ["+"] * two
    rows = [["query", *names, *["difference"] * two]]
    for query, *found in zip(ids, *values, *([values[1] - values[0]] if two else []), strict=True):
        rows.append([query, *(number(float(value), sign) for value, sign in zip(found, signs, strict=True))])
    return measure, Grid(rows)
