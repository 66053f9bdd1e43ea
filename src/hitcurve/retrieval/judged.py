"""A judged run as curves: the table that every measure of curves reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hitcurve.curves.gain import GainCurves, gain_curves_of
from hitcurve.curves.sorted import group_starts
from hitcurve.measures import Measure
from hitcurve.retrieval.runs import Judged

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["CurvePlan", "gain_curves"]

_Columns = list["NDArray[np.int64]"]


class CurvePlan(NamedTuple):
    """Measures of curves, for one reading of ties and one way to treat unjudged documents."""

    measures: list[Measure]
    reading: str
    judged_only: bool

    @classmethod
    def made(cls, measures: list[Measure], reading: str, judged_only: bool) -> CurvePlan:
        """The plan, or an error for a gain that documents without a judgment would have too."""
        for one in measures:
            for level, gain in dict(dict(one.keywords).get("gains", ())).items():
                if level <= 0 and gain != 0:
                    raise ValueError(f"{one.name}: level {level} has no gain here, as a document without a judgment")
        return cls(measures, reading, judged_only)

    def values(self, judged: Judged, depth: int) -> NDArray[np.float64]:
        """A row for each measure: its value for each query of the judgments.

        It is 0 for a query without a relevant document, and where nothing was retrieved.
        """
        places = np.arange(len(judged.qrels))
        tied = self.reading != "ranks"
        curves = gain_curves(judged, places, None, tied=tied, judged_only=self.judged_only, depth=depth)
        found = np.empty((len(self.measures), len(places)))
        for row, one in zip(found, self.measures, strict=True):
            # Of a single order all readings of ties are the same.
            ties = self.reading if tied else one.record.ties[0] if one.record.ties else "expected"
            row[:] = one._replace(judged_only=False)(curves, ties)
            row[one.empty(curves) | (curves.num_items == 0)] = 0.0
        return found


def gain_curves(judged: Judged, places: NDArray[np.int64], query_ids: list[str] | None, *, tied: bool,
                judged_only: bool = False, depth: int = -1) -> GainCurves:
    """The gain curves of a run, for these queries of the judgments.

    A document gains its level if that is above 0. Documents without a judgment count as items of level 0, and relevant
    documents that the run lacks as items that were never retrieved.

    tied : bool
        True: documents of equal score are a tie group. False: each document has the rank that its id, its line or its
        rank column gives it.
    judged_only : bool
        Documents without a judgment are no items.
    depth : int
        Only so many documents of each query; -1: all. It needs ``tied=False``.
    """
    num_queries = len(places)
    starts, rows = judged.rows_of(places)
    retrieved = np.maximum(judged.num_retrieved()[places], 0)
    query = np.repeat(np.arange(num_queries), np.diff(starts))
    columns = [query, *rows.T]
    if depth >= 0:
        columns = _where(columns, rows[:, 0] <= depth)
        retrieved = np.minimum(retrieved, depth)
    if judged_only:
        columns, retrieved = _condensed(_where(columns, columns[4] >= 0), num_queries)
    query, rank, above, size, level = _where(columns, columns[4] > 0)
    if not tied:
        above, size = rank - 1, np.ones_like(rank)
    order = np.lexsort((level, above, query))
    query, above, size, level = (column[order] for column in (query, above, size, level))

    of_level, levels = judged.qrels.levels_of(places)
    relevant = levels > 0
    values = np.unique(levels[relevant])
    code = np.searchsorted(values, level) + 1
    # What the judgments have of each level, less what was retrieved.
    keys, number = np.unique(_key(np.repeat(np.arange(num_queries), np.diff(of_level))[relevant],
                                  np.searchsorted(values, levels[relevant]) + 1, values), return_counts=True)
    found, times = np.unique(_key(query, code, values), return_counts=True)
    number[np.searchsorted(keys, found)] -= times
    keys, number = keys[number > 0], number[number > 0]
    missing_query, missing_code = np.divmod(keys, len(values) + 1)

    pairs, groups = group_starts(query, above, level), group_starts(query, above)
    hits = np.diff(np.append(groups, len(query)))
    num_hits = np.bincount(query, minlength=num_queries)
    num_missing = np.bincount(missing_query, number, minlength=num_queries).astype(np.int64)
    table = (np.searchsorted(query[groups], np.arange(num_queries + 1)), above[groups], size[groups], hits, retrieved,
             num_hits, num_hits + num_missing)
    of_rows = (np.append(np.searchsorted(pairs, groups), len(pairs)), code[pairs].astype(np.uint32),
               np.diff(np.append(pairs, len(query))))
    missing = (np.searchsorted(missing_query, np.arange(num_queries + 1)), missing_code.astype(np.uint32), number)
    return gain_curves_of(False, table, np.append(0.0, values), of_rows, missing,
                           None if query_ids is None else np.array(query_ids, dtype=str))


def _key(query: Any, code: Any, values: Any) -> Any:
    return query * (len(values) + 1) + code


def _where(columns: _Columns, kept: NDArray[np.bool_]) -> _Columns:
    return [column[kept] for column in columns]


def _condensed(columns: _Columns, num_queries: int) -> tuple[_Columns, NDArray[np.int64]]:
    """(the rows as if there were no other documents, how many documents each query has)."""
    query, _, above, _, level = columns
    number = np.bincount(query, minlength=num_queries)
    before = np.append(0, np.cumsum(number))[query]
    groups = group_starts(query, above)
    sizes = np.diff(np.append(groups, len(query)))
    place = np.arange(len(query)) - before
    return [query, place + 1, np.repeat(place[groups], sizes), np.repeat(sizes, sizes), level], number
