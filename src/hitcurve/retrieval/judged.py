"""A judged run as curves: the table that every measure of curves reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hitcurve.curves.gain import GainCurves, gain_curves_of
from hitcurve.curves.sorted import group_starts
from hitcurve.measures import Measure
from hitcurve.retrieval.plans import check_levels, signed_gains
from hitcurve.retrieval.runs import Judged, Qrels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hitcurve import HitCurves

__all__ = ["CurvePlan", "RunCurves"]

_Columns = list["NDArray[np.int64]"]


class CurvePlan(NamedTuple):
    """Measures of curves, for one reading of ties and one way to treat unjudged documents."""

    measures: list[Measure]
    reading: str
    judged_only: bool
    relevance_level: int

    @classmethod
    def made(cls, qrels: Qrels, measures: list[Measure], reading: str, judged_only: bool, level: int) -> CurvePlan:
        """The plan, or an error for a level or a gain that no curve has."""
        for one in measures:
            check_levels(one, qrels.max_level)
            for below, _ in [pair for pair in signed_gains(one) if pair[0] <= 0]:
                raise ValueError(f"{one.name}: level {below} has no gain here, as a document without a judgment")
        return cls(measures, reading, judged_only, level)

    def values(self, run: RunCurves) -> NDArray[np.float64]:
        """A row for each measure: its value for each query of the judgments.

        It is 0 for a query without a relevant document, and where nothing was retrieved.
        """
        tied = self.reading != "ranks"
        found = np.empty((len(self.measures), run.num_queries))
        for row, one in zip(found, self.measures, strict=True):
            curves = run.curves_for(one, tied, self.judged_only, self.relevance_level)
            # Of a single order all readings of ties are the same.
            ties = self.reading if tied else one.record.ties[0] if one.record.ties else "expected"
            plain = one._replace(judged_only=False, rel=None, keywords=tuple(
                pair for pair in one.keywords if pair[0] != "relevance_level"))  # these curves have it
            row[:] = plain(curves, ties)
            row[plain.empty(curves) | (curves.num_items == 0)] = 0.0
        return found


class RunCurves:
    """The curves of a run, for all queries of the judgments or for some of them, each made when it is first asked for.

    A document gains its level if that is above 0. Documents without a judgment count as items of level 0, and relevant
    documents that the run lacks as items that were never retrieved.

    Parameters
    ----------
    depth : int
        Only so many documents of each query; -1: all. It needs ``tied=False``.
    """

    def __init__(self, judged: Judged, depth: int = -1, places: NDArray[np.int64] | None = None,
                 query_ids: list[str] | None = None) -> None:
        self._places = np.arange(len(judged.qrels)) if places is None else places
        self._judged, self._depth, self._query_ids = judged, depth, query_ids
        self._made: dict[tuple[bool, bool, int | None], GainCurves] = {}
        self._hits: dict[tuple[bool, bool, int], HitCurves] = {}
        self.num_queries = len(self._places)

    def curves_for(self, measure: Measure, tied: bool, judged_only: bool, level: int) -> GainCurves | HitCurves:
        """What a measure reads; `level` is the lowest relevant level, if its name has none."""
        if measure.record.graded:
            return self.gains(tied, judged_only, measure.rel)
        key = tied, judged_only, measure.relevant_level(level)
        if key not in self._hits:
            self._hits[key] = self.gains(tied, judged_only).at_level(key[2]) if key[2] > 0 else self.gains(
                *key).at_level(1)
        return self._hits[key]

    def gains(self, tied: bool, judged_only: bool, least: int | None = None) -> GainCurves:
        """The gain curves.

        tied : bool
            True: documents of equal score are a tie group. False: each document has the rank that its id, its line or
            its rank column gives it.
        judged_only : bool
            Documents without a judgment are no items.
        least : int, optional
            Documents of this level or higher gain 1, all others nothing.
        """
        key = tied, judged_only, least
        if key not in self._made:
            self._made[key] = self._curves(*self._rows(tied, judged_only), least)
        return self._made[key]

    def _rows(self, tied: bool, judged_only: bool) -> tuple[_Columns, NDArray[np.int64]]:
        """(query, items above, items tied, level) of the documents with a judgment, and how many items a query has."""
        starts, rows = self._judged.rows_of(self._places)
        retrieved = np.maximum(self._judged.num_retrieved()[self._places], 0)
        columns = [np.repeat(np.arange(self.num_queries), np.diff(starts)), *rows.T]
        if self._depth >= 0:
            columns = _where(columns, rows[:, 0] <= self._depth)
            retrieved = np.minimum(retrieved, self._depth)
        if judged_only:
            columns, retrieved = _condensed(_where(columns, columns[4] >= 0), self.num_queries)
        query, rank, above, size, level = columns
        return [query, above, size, level] if tied else [query, rank - 1, np.ones_like(rank), level], retrieved

    def _curves(self, columns: _Columns, retrieved: NDArray[np.int64], least: int | None) -> GainCurves:
        number = self.num_queries
        of_level, levels = self._judged.qrels.levels_of(self._places)
        if least is not None:
            levels = (levels >= least).astype(np.int64)
            columns = [*columns[:3], (columns[3] >= least).astype(np.int64)]
        relevant = levels > 0
        judged, levels = np.repeat(np.arange(number), np.diff(of_level))[relevant], levels[relevant]
        starts = group_starts(judged, levels)  # these fall within a query
        of_query, of_level, lacking = judged[starts], levels[starts], np.diff(np.append(starts, len(levels)))
        values = np.unique(of_level)
        most = len(values) + 1

        query, above, size, level = _where(columns, columns[3] > 0)
        code = np.searchsorted(values, level) + 1
        group = np.zeros(len(query), np.int64)
        group[group_starts(query, above)] = most
        order = np.argsort(np.cumsum(group) + code, kind="stable")  # quick where ties are few: rows are in rank order
        query, above, size, code = (column[order] for column in (query, above, size, code))
        # What the judgments have of each level, less what was retrieved.
        of_code = np.searchsorted(values, of_level) + 1
        lacking -= np.bincount(np.searchsorted(of_query * most - of_code, query * most - code), minlength=len(starts))
        place = np.flatnonzero(lacking)
        place = place[np.argsort(of_query[place] * most + of_code[place], kind="stable")]
        missing_query, missing_code, lacking = of_query[place], of_code[place], lacking[place]

        pairs, groups = group_starts(query, above, code), group_starts(query, above)
        hits = np.diff(np.append(groups, len(query)))
        num_hits = np.bincount(query, minlength=number)
        num_missing = np.bincount(missing_query, lacking, minlength=number).astype(np.int64)
        table = (np.searchsorted(query[groups], np.arange(number + 1)), above[groups], size[groups], hits, retrieved,
                 num_hits, num_hits + num_missing)
        of_rows = (np.append(np.searchsorted(pairs, groups), len(pairs)), code[pairs].astype(np.uint32),
                   np.diff(np.append(pairs, len(query))))
        missing = np.searchsorted(missing_query, np.arange(number + 1)), missing_code.astype(np.uint32), lacking
        return gain_curves_of(False, table, np.append(0.0, values), of_rows, missing,
                              None if self._query_ids is None else np.array(self._query_ids, dtype=str))


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
