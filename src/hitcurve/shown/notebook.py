"""The tables of results in a notebook: small, quick to make, and in the colours of the notebook."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from hitcurve._base.words import TAKEN, are, many
from hitcurve.measures import of_levels, of_subtopics
from hitcurve.shown.grid import Grid, as_html, between, number, rendered

if TYPE_CHECKING:
    from typing import TypeAlias

    from typing_extensions import TypeIs

    from hitcurve.curves.gain import GainCurve, GainCurves
    from hitcurve.curves.hit import HitCurve, HitCurves
    from hitcurve.curves.subtopics import SubtopicCurve, SubtopicCurves
    from hitcurve.results import Interval, TieReport
    from hitcurve.retrieval.evaluation import Evaluation
    from hitcurve.retrieval.overlap import RankBiasedOverlap

    _Curve: TypeAlias = HitCurve | GainCurve | SubtopicCurve
    _Curves: TypeAlias = HitCurve | HitCurves | GainCurve | GainCurves | SubtopicCurve | SubtopicCurves

__all__ = ["EVERY_ROW", "curve_tables", "evaluation_tables", "interval_tables", "shown", "tie_tables"]

EVERY_ROW = "print() shows all rows, and to_html() makes HTML of them."
_USUAL = {"hits": ("AP", "average_precision"), "gains": ("nDCG", "ndcg"), "subtopics": ("alpha_nDCG", "alpha_ndcg")}
_MOST_LINES = 20
_MOST_LETTERS = 60
_MOST_ROWS = 100_000  # of a curve: a larger curve is not measured (about 10 ms for nDCG under three readings)
_ROWS_A_QUERY = 500  # the time for a weighted query, as a number of rows

# All colours are those of the notebook. The classes keep MathJax away from text between two $. JupyterLab aligns cells
# to the right by a rule of two classes and an element: three classes come before it.
_STYLE = """<div class="hitcurve tex2jax_ignore mathjax_ignore"><style>
.hitcurve .wide { overflow-x: auto; } .hitcurve table { border-collapse: collapse; }
.hitcurve th { border-bottom: 1px solid currentColor; } .hitcurve .wide .word { text-align: left; }
.hitcurve .wide .gap td { border-top: 1px solid currentColor; }
.hitcurve td:not(.word) { white-space: nowrap; } .hitcurve sup { line-height: 0; }
</style>"""


def shown(blocks: Iterable[Grid | str], every: str = "", notes: Iterable[str] = ()) -> str:
    """HTML of the tables, and of the text between them. Long tables and long cells are cut.

    `every`: how to see all rows, a sentence below a table that was cut. `notes`: sentences about the data. They are
    folded in small print, but open if they say more than which columns were taken.
    """
    text = rendered((one if isinstance(one, str) else _cut(one, every) for one in blocks), "html")
    if said := list(dict.fromkeys(notes)):
        left = len(said) - _MOST_LINES
        lines = said[:_MOST_LINES]
        lines += [f"{many(left, 'more notes', ',')} {are(left)} left out here."] if left > 0 else []
        opened = "" if all(TAKEN in one for one in said) else " open"
        text += "\n".join([f"\n\n<details{opened}><summary><small>{many(len(said), 'notes', ',')}</small></summary>",
                           *(f"<p><small>{as_html(line)}</small></p>" for line in lines), "</details>"])
    # A name may have lone surrogates, which a message to a notebook cannot hold.
    return f"{_STYLE}\n{text}\n</div>".encode("utf-8", "backslashreplace").decode()


def _cut(grid: Grid, every: str) -> Grid:
    rows = [[_short(cell) for cell in row] for row in grid.rows[: 1 + _MOST_LINES]]
    return grid._replace(rows=rows, foot=(*_left_out(len(grid.rows) - 1, every), *grid.foot))


def _left_out(lines: int, every: str = "") -> tuple[str, ...]:
    left = lines - _MOST_LINES
    return (f"{many(left, 'more rows', ',')} {are(left)} left out here.{every and ' '}{every}",) if left > 0 else ()


def _short(text: str) -> str:
    return text if len(text) <= _MOST_LETTERS else text[: _MOST_LETTERS - 3] + "..."


def curve_tables(curves: _Curves) -> list[Grid | str]:
    """Counts, AP (for levels nDCG), and its range over the orders of ties. The first queries have a line each.

    Items with subtopics have alpha-nDCG, whose range is not known.
    """
    name = type(curves).__name__
    weighted = _weighted(curves)
    measure = "AP (ties='threshold')" if weighted else _USUAL[curves._family][0]
    small = _size(curves) <= _MOST_ROWS
    head = ["items", "relevant", "hits", *(["tied"] if not weighted else [])]
    head += ([measure, *(["worst to best order"] if not weighted else [])]) if small else []
    foot = () if small else (f"No {measure} here: the table has more than {_MOST_ROWS:,} rows.",)
    if not _of_queries(curves):
        return [name, Grid([head, _cells(curves, small)], 0, foot=foot)]
    lead = f"{name}: {many(len(curves), 'queries', ',')}"
    if small:
        value, *band = _values(curves)
        lead += f"; mean {measure} {value}" + "".join(f", {ends} by the order of ties" for ends in band if ends != "-")
    ids: Any = range(len(curves)) if curves.qid is None else curves.qid
    rows = [[str(ids[q]), *_cells(curves[q], small)] for q in range(min(len(curves), _MOST_LINES))]
    return [lead, Grid([["query", *head], *rows], foot=(*_left_out(len(curves)), *foot))]


def _weighted(curves: _Curves) -> bool:
    return not of_levels(curves) and not of_subtopics(curves) and curves.weighted


def _of_queries(curves: _Curves) -> TypeIs[HitCurves | GainCurves | SubtopicCurves]:
    return hasattr(curves, "qid")


def _size(curves: _Curves) -> int:
    """The time that a measure takes, as a number of rows."""
    if of_subtopics(curves):
        return int(curves.above.shape[0])
    if of_levels(curves):
        return int(curves.level.shape[0] + np.sum(curves.num_relevant) - np.sum(curves.num_hits))
    one_by_one = _of_queries(curves) and curves.weighted
    return int(curves.above.shape[0] + (_ROWS_A_QUERY * len(curves) if one_by_one else 0))


def _cells(curve: _Curve, small: bool) -> list[str]:
    counts = curve.num_items, curve.num_relevant, curve.num_hits
    weighted = _weighted(curve)
    cells = [f"{count:{'g' if weighted else 'd'}}" for count in counts] + ([str(_tied(curve))] if not weighted else [])
    return cells + (_values(curve) if small else [])


def _tied(curves: _Curves) -> int:
    return int(curves.tied[curves.tied > 1].sum())


def _values(curves: _Curves) -> list[str]:
    """The measure, and its range over the orders of ties. Many queries have the mean."""
    if of_subtopics(curves):
        return [number(curves.mean("alpha_nDCG") if _of_queries(curves) else curves.alpha_ndcg()), "-"]
    method = _USUAL[curves._family][1]
    read: Any = getattr(curves, f"mean_{method}" if _of_queries(curves) else method)
    if _weighted(curves):
        return [number(read(ties="threshold"))]
    try:
        value = number(read())
        return [value, between(read(ties="worst"), read(ties="best")) if _tied(curves) else "-"]
    except ValueError:  # gains whose sum may not be finite
        return ["-", "-"]


def tie_tables(report: TieReport[Any, Any]) -> list[Grid | str]:
    """A line. Many queries have a line for each of the first queries."""
    head = [name.replace("_", " ") for name in report._fields]
    columns = [np.atleast_1d(column) for column in report]
    lines = zip(*(column[:_MOST_LINES].tolist() for column in columns), strict=True)
    rows = [[number(cell) if isinstance(cell, float) else str(cell) for cell in line] for line in lines]
    if np.ndim(report.worst) == 0:
        return ["TieReport", Grid([head, *rows], 0)]
    rows = [[str(q), *row] for q, row in enumerate(rows)]
    lead = f"TieReport: {many(len(columns[0]), 'queries', ',')}"
    return [lead, Grid([["query", *head], *rows], foot=_left_out(len(columns[0])))]


def overlap_tables(found: RankBiasedOverlap[Any]) -> list[Grid | str]:
    """A line. Two runs have a line for each of the first queries."""
    lead = f"RankBiasedOverlap: p={found.p:.15g}, ties={found.ties!r}"
    head = list(found._fields[:4])
    columns = [np.atleast_1d(column) for column in found[:4]]
    lines = zip(*(column[:_MOST_LINES].tolist() for column in columns), strict=True)
    rows = [list(map(number, line)) for line in lines]
    if found.query_ids is None:
        return [lead, Grid([head, *rows], 0)]
    rows = [[query, *row] for query, row in zip(found.query_ids, rows, strict=False)]
    lead = f"RankBiasedOverlap: {many(len(found.query_ids), 'queries', ',')}, p={found.p:.15g}, ties={found.ties!r}"
    return [lead, Grid([["query", *head], *rows], foot=_left_out(len(found.query_ids)))]


def interval_tables(found: Interval) -> list[Grid | str]:
    """A line with the interval."""
    head = ["measure", "value", f"{100 * found.confidence_level:.6g} % interval", "standard error", "by"]
    cells = number(found.estimate), between(*found.confidence_interval), number(found.standard_error)
    return ["Interval", Grid([head, [found.measure, *cells, found.method]], last="word")]


def evaluation_tables(found: Evaluation) -> list[Grid | str]:
    """The means, and the numbers of queries that are missing, extra and empty."""
    lead = f"{_short(found.name)}: {many(len(found.query_ids), 'queries', ',')}"
    for what in ("missing", "extra", "empty"):
        if found.counts.get(what):
            lead += f", {found.counts[what]:,} {what}"
    rows = [[name, number(mean)] for name, mean in found.means.items()]
    return [lead, Grid([["measure", "mean"], *rows])]
