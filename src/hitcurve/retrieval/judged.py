"""The curves of a judged run, from which every measure of curves is computed."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hitcurve._base.pickle import gain_curves
from hitcurve.curves.gain import GainCurves, gain_curves_of
from hitcurve.curves.hit import HitCurves, curves_of
from hitcurve.measures import Measure
from hitcurve.retrieval.plans import check_levels, signed_gains
from hitcurve.retrieval.run_tables import run_tables
from hitcurve.retrieval.runs import Judged, Qrels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hitcurve.curves.subtopics import SubtopicCurves
    from hitcurve.retrieval.evaluation import Table

__all__ = ["CurvePlan", "RunCurves", "hoped_curves"]


class CurvePlan(NamedTuple):
    """Measures to compute from curves, with how they interpret ties and unjudged documents."""

    measures: list[Measure]
    reading: str
    judged_only: bool
    relevance_level: float

    @classmethod
    def made(cls, qrels: Qrels, measures: list[Measure], reading: str, judged_only: bool, level: float) -> CurvePlan:
        """The plan; an error for a level or a gain that a curve cannot have."""
        for one in measures:
            check_levels(one, qrels.max_level)
            for below, _ in [pair for pair in signed_gains(one) if pair[0] <= 0]:
                raise ValueError(f"{one.name}: level {below} cannot have a gain: this measure treats documents below "
                                 "level 1 like documents without a judgment")
        return cls(measures, reading, judged_only, level)

    def values(self, run: RunCurves) -> NDArray[np.float64]:
        """An array with a row for each measure and a column for each query of the judgments.

        The value of a query is 0 if it has no relevant document or if nothing was retrieved. A measure with gaps has no
        value, NaN, if nothing was retrieved.
        """
        tied = self.reading != "ranks"
        found = np.empty((len(self.measures), run.num_queries))
        for row, one in zip(found, self.measures, strict=True):
            curves = run.curves_for(one, tied, self.judged_only, self.relevance_level)
            # A single order has no ties, so any reading of ties gives the same value.
            ties = self.reading if tied else one.record.ties[0] if one.record.ties else "expected"
            # The levels of subtopics are whole.
            level = ceil(one.relevant_level(self.relevance_level)) if "subtopics" in one.record.of else None
            plain = one._replace(judged_only=False, rel=level, keywords=tuple(
                pair for pair in one.keywords if pair[0] != "relevance_level"))  # these curves have it
            row[:] = plain(curves, ties)
            row[plain.empty(curves) | (curves.num_items == 0) & (not one.record.gaps)] = 0.0
        return found


class RunCurves:
    """The curves of a run, for all queries of the judgments or for some of them. Curves are made on first use.

    The gain of a document is its level, or 0 if its level is below 0 or it has no judgment. Relevant documents that the
    run lacks are items that were never retrieved.

    Parameters
    ----------
    depth : int
        The number of documents of each query that count; -1: all of them. `depth` needs ``tied=False``.
    """

    def __init__(self, judged: Judged, depth: int = -1, places: NDArray[np.int64] | None = None,
                 query_ids: list[str] | None = None) -> None:
        self._places = np.arange(len(judged.qrels)) if places is None else places
        self._judged, self._depth = judged, depth
        self._qid = None if query_ids is None else np.array(query_ids, dtype=str)
        self._gains: dict[tuple[bool, bool, float | None], GainCurves] = {}
        self._hits: dict[tuple[bool, bool, float], HitCurves] = {}
        self._topics: dict[tuple[bool, bool], SubtopicCurves] = {}
        self.num_queries = len(self._places)

    def curves_for(self, measure: Measure, tied: bool, judged_only: bool,
                   level: float) -> GainCurves | HitCurves | SubtopicCurves:  # fmt: skip
        """The curves for a measure; `level` is the lowest relevant level if the measure's name has no level."""
        if "subtopics" in measure.record.of:
            return self.topics(tied, judged_only)
        if measure.record.graded:
            return self.gains(tied, judged_only, measure.rel)
        return self.hits(tied, judged_only, measure.relevant_level(level))

    def gains(self, tied: bool, judged_only: bool, least: float | None = None) -> GainCurves:
        """The gain curves.

        tied : bool
            True: documents of equal score are a tie group. False: each document has the rank that its id, its line or
            its rank column gives it.
        judged_only : bool
            True: documents without a judgment are left out.
        least : float, optional
            If given, documents of this level or higher have gain 1, and all others gain 0.
        """
        key = tied, judged_only, least
        if key not in self._gains:
            self._gains[key] = gain_curves_of(False, *run_tables(self._judged, self._places, tied, judged_only,
                                                                 self._depth, least), self._qid)
        return self._gains[key]

    def topics(self, tied: bool, judged_only: bool) -> SubtopicCurves:
        """The curves of subtopics, if the judgments have subtopics."""
        from hitcurve.curves.subtopics import subtopic_curves_of

        key = tied, judged_only
        if key not in self._topics:
            held, coded = self._judged.qrels.topics, self._judged.coded
            made = run_tables(coded, self._places, tied, judged_only, self._depth, None)
            table = gain_curves_of(False, *made, self._qid)
            self._topics[key] = subtopic_curves_of(table, held.sets, held.pool_of(self._places), held.names)
        return self._topics[key]

    def hits(self, tied: bool, judged_only: bool, least: float) -> HitCurves:
        """The hit curves for which documents of this level or higher are relevant."""
        key = tied, judged_only, least
        if key not in self._hits:
            (starts, *table), *_ = run_tables(self._judged, self._places, tied, judged_only, self._depth, least)
            self._hits[key] = curves_of(self._qid, False, False, starts, None, *table)
        return self._hits[key]


def hoped_curves(curves: GainCurves, tables: list[Table], tied: bool, least: float) -> GainCurves:
    """The curves if all documents without a judgment had the highest level of their query, or `least` if that is more.

    `curves` and `tables` are those of one evaluation. `tied`: as for `RunCurves.gains`.
    """
    retrieved = np.array([number for number, _ in tables], np.int64)
    sizes = [len(rows) for _, rows in tables]
    query, listed = np.repeat(np.arange(len(tables)), sizes), [row for _, rows in tables for row in rows]
    rank, above, size = np.array([row[:3] for row in listed], np.int64).reshape(-1, 3).T
    level = np.array([row[3] for row in listed], np.float64)
    if (level >= 0).sum() == retrieved.sum():
        return curves  # all documents have a judgment
    if not tied:
        above, size = rank - 1, np.ones_like(rank)
    first = np.flatnonzero(np.diff(query, prepend=-1) | np.diff(above, prepend=-1))  # of each tie group
    query_of, start, end = query[first], above[first], above[first] + size[first]
    inside = size[first] - np.add.reduceat(level >= 0, first, dtype=np.int64) if len(first) else start
    # Stretches without any judgment: before each group, and after the last group of a query.
    ends, starts = np.zeros(len(tables), np.int64), np.append(0, end)[:-1]
    starts[np.diff(query_of, prepend=-1) > 0] = 0
    ends[query_of] = end  # the last group of a query is the last that is written
    highest = np.full(len(tables), least)
    np.maximum.at(highest, np.repeat(np.arange(len(tables)), np.diff(curves.level_offsets[curves.row_offsets])),
                  curves.level)
    for q, missing in enumerate(curves.unretrieved):
        highest[q] = max([highest[q], *missing[-1:]])
    parts = [  # the query, where the group begins, its documents, a level, and how many of the documents have it
        (query, above, size, level, level > 0), (query_of, start, size[first], highest[query_of], inside),
        (query_of, starts, start - starts, highest[query_of], start - starts),
        (np.arange(len(tables)), ends, retrieved - ends, highest, retrieved - ends),
    ]  # fmt: skip
    return _curves_of_parts(curves, retrieved, *(np.concatenate(column) for column in zip(*parts, strict=True)))


def _curves_of_parts(curves: GainCurves, retrieved: NDArray[np.int64], *parts: NDArray[Any]) -> GainCurves:
    """Curves with these parts of tie groups. What was not retrieved is as in `curves`."""
    order = np.lexsort((parts[3], parts[1], parts[0]))
    query, above, size, level, count = (column[order[parts[4][order] > 0]] for column in parts)
    new = (np.diff(query, prepend=-1) | np.diff(above, prepend=-1)) != 0
    row, pair = np.flatnonzero(new), np.flatnonzero(new | (np.diff(level, prepend=-1) != 0))
    count = np.add.reduceat(count, pair, dtype=np.int64)
    starts = np.searchsorted(pair, np.append(row, len(query)))
    hits = np.add.reduceat(count, starts[:-1])
    num_hits = np.bincount(query[row], hits, len(retrieved)).astype(np.int64)
    lost = curves.num_relevant - curves.num_hits
    bounds = np.searchsorted(query[row], np.arange(len(retrieved) + 1))
    table = curves_of(curves.qid, False, False, bounds, None, above[row], size[row], hits, retrieved, num_hits,
                      num_hits + lost)
    made: GainCurves = gain_curves(table, starts, level[pair], count, curves.unretrieved)
    return made
