"""What to judge next: the documents without a judgment at the top of runs, and how much each could change."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex, overload

import numpy as np

from hitcurve._base.checks import check_choice, check_rank, quoted
from hitcurve._base.extras import frame_of
from hitcurve._base.words import many
from hitcurve.curves.hit import curves_of
from hitcurve.retrieval.frames import Rows
from hitcurve.retrieval.reading import decoded, run_of
from hitcurve.shown.grid import Grid, as_csv, number, rendered
from hitcurve.shown.printed import Printed, checked_digits, columns_of_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hitcurve.retrieval.evaluation import Evaluation, Table

__all__ = ["Unjudged", "UnjudgedDocument", "UnjudgedQuery", "unjudged"]

_NOWHERE = -1  # the first rank of the tie group of a document that a run does not have


class UnjudgedDocument(NamedTuple):
    """A document without a judgment among the first k documents of a query.

    Attributes
    ----------
    query_id, doc_id
        The ids of the query and of the document.
    rank
        The best rank that an evaluation gives the document. Documents of equal score have the first rank of their tie
        group, but under ``ties="docid"`` and with `rank_by` each has a rank of its own.
    score
        The score of the document in the first evaluation that gives it this rank.
    runs
        How many of the evaluations have the document among their first k.
    residual
        The weight of the document in RBP, as a mean over the evaluations: by so much the mean RBP of the query rises if
        the document is relevant.
    ap_change
        By how much the AP of the query changes, as a mean over the evaluations, if the document is relevant and no
        other document gets a judgment. The change is negative for a document that the runs rank too low.
    """

    query_id: str
    doc_id: str
    rank: int
    score: float
    runs: int
    residual: float
    ap_change: float


class UnjudgedQuery(NamedTuple):
    """What the documents without a judgment leave open in a query of a run.

    Attributes
    ----------
    system, query_id
        The name of the evaluation, and the id of the query.
    unjudged
        How many documents of the run have no judgment and are in the pool.
    ap
        AP, where documents without a judgment are not relevant; 0 for a query without a relevant document.
    ap_low, ap_high
        The least and the greatest AP over all ways to judge the pool.
    residual
        The weights in RBP of the documents in the pool: the greatest amount by which RBP can rise.
    """

    system: str
    query_id: str
    unjudged: int
    ap: float
    ap_low: float
    ap_high: float
    residual: float


for _row in (UnjudgedDocument, UnjudgedQuery):
    _row.__module__ = "hitcurve"  # what a pickle names


@dataclass(repr=False)
class Unjudged(Printed):
    """Documents without a judgment, the greatest residual first. ``Evaluation.unjudged`` makes them.

    Iteration, ``len()`` and indexing go through `rows`.

    Attributes
    ----------
    rows : tuple of UnjudgedDocument
        The pool: documents among the first `k` of an evaluation. The greatest residual is first.
    bounds : tuple of UnjudgedQuery
        For each evaluation and query, the bounds of AP and the residual of RBP. Queries whose pool is empty are left
        out.
    k : int
        How many documents of each query were looked at.
    p : float
        The persistence of RBP.
    """

    __module__ = "hitcurve"  # what a pickle names

    rows: tuple[UnjudgedDocument, ...]
    bounds: tuple[UnjudgedQuery, ...]
    k: int
    p: float

    def __len__(self) -> int:
        return len(self.rows)

    def __bool__(self) -> bool:
        return True  # also without documents

    def __iter__(self) -> Iterator[UnjudgedDocument]:
        return iter(self.rows)

    @overload
    def __getitem__(self, place: SupportsIndex) -> UnjudgedDocument: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[UnjudgedDocument, ...]: ...
    def __getitem__(self, place: Any) -> Any:
        return self.rows[place]

    def __repr__(self) -> str:
        queries = len({row.query_id for row in self.rows})
        return f"Unjudged({many(len(self.rows), 'documents')} of {many(queries, 'queries')}, k={self.k})"

    def __str__(self) -> str:
        """The table of documents in plain text."""
        return rendered(self._blocks())

    def _blocks(self, digits: int = 4, caption: str = "", label: str = "") -> list[Grid | str]:
        digits, head = checked_digits(digits), ["query_id", "doc_id", "rank", "score", "runs", "residual", "AP change"]
        rows = [[row.query_id, row.doc_id, str(row.rank), f"{row.score:g}", str(row.runs),
                 number(row.residual, "", digits), number(row.ap_change, "+", digits)]
                for row in self.rows]  # fmt: skip
        foot = f"{many(len(rows), 'documents', ',')} without a judgment among the first {self.k}; RBP(p={self.p:g})."
        return [Grid([head, *rows], 2, foot=(foot,), caption=caption, label=label)]

    def _columns(self, table: str = "documents") -> dict[str, Any]:
        check_choice(table, "table", ("documents", "bounds"))
        if table == "documents":
            return columns_of_rows(UnjudgedDocument, self.rows)
        return columns_of_rows(UnjudgedQuery, self.bounds)

    def to_csv(self, table: str = "documents") -> str:
        """The table as CSV with a head, in full precision.

        Parameters
        ----------
        table : {"documents", "bounds"}
            As for `to_pandas`.

        Returns
        -------
        str

        Examples
        --------
        >>> import hitcurve as hc
        >>> run = {"q": {"a": 2.0, "b": 1.0}}
        >>> print(hc.evaluate({"q": {"b": 1}}, run).unjudged(10, run=run, p=0.5).to_csv(), end="")
        query_id,doc_id,rank,score,runs,residual,ap_change
        q,a,1,2.0,1,0.5,0.5
        """
        columns = self._columns(table)
        return as_csv([list(columns), *zip(*columns.values(), strict=True)])

    def to_pandas(self, table: str = "documents") -> Any:
        """A pandas.DataFrame of the documents or of the bounds.

        Parameters
        ----------
        table : {"documents", "bounds"}
            ``"documents"``: a row for each of `rows`. ``"bounds"``: a row for each of `bounds`. Their fields are the
            columns.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> import hitcurve as hc
        >>> run = {"q": {"a": 2.0, "b": 1.0}}
        >>> found = hc.evaluate({"q": {"b": 1}}, run).unjudged(10, run=run)
        >>> found.to_pandas()["doc_id"].tolist(), found.to_pandas("bounds")["ap_high"].tolist()
        (['a'], [1.0])
        """
        return frame_of("pandas", self._columns(table))

    def to_polars(self, table: str = "documents") -> Any:
        """A polars.DataFrame of the documents or of the bounds.

        Parameters
        ----------
        table : {"documents", "bounds"}
            As for `to_pandas`.

        Returns
        -------
        polars.DataFrame

        Examples
        --------
        >>> import hitcurve as hc
        >>> run = {"q": {"a": 2.0, "b": 1.0}}
        >>> hc.evaluate({"q": {"b": 1}}, run).unjudged(10, run=run).to_polars()["doc_id"].to_list()
        ['a']
        """
        return frame_of("polars", self._columns(table))


class _Read(NamedTuple):
    """How an evaluation read its run: see `evaluate`."""

    source: str  #: The path of a file; empty for a run in memory.
    strict: bool
    single: bool  #: Scores are rounded to single precision.
    judged_only: bool
    depth: int  #: -1: all documents.
    rows: tuple[Any, ...]  #: The fields of `Rows`.


class _Place(NamedTuple):
    """Where a run has a document without a judgment."""

    rank: int
    above: int
    tied: int
    score: float


_Places = dict[bytes, _Place]


class _System(NamedTuple):
    """What one evaluation says of one query."""

    places: _Places  #: of all documents without a judgment
    table: NDArray[np.int64]  #: (above, tied, hits) of the tie groups with a relevant document
    num_items: int
    num_relevant: int
    reading: str

    def ap(self, above: NDArray[np.int64], tied: NDArray[np.int64], hits: NDArray[np.int64],
           num_relevant: NDArray[np.int64]) -> NDArray[np.float64]:  # fmt: skip
        """AP with each row of `hits` in the tie groups; 0 without a relevant document."""
        row, group = np.nonzero(hits)
        starts = np.searchsorted(row, np.arange(len(hits) + 1))
        curves = curves_of(None, False, False, starts, None, above[group], tied[group], hits[row, group],
                           np.full(len(hits), self.num_items), hits.sum(axis=1), num_relevant)
        found = np.asarray(curves.average_precision(ties=self.reading))  # type: ignore[call-overload]
        return np.where(num_relevant == 0, 0.0, found)

    def with_pool(self, pool: Sequence[bytes]) -> tuple[NDArray[np.float64], tuple[float, float, float]]:
        """For each document of the pool, AP if it alone is relevant; and AP, the least and the greatest AP.

        If m documents of the pool are relevant, AP is greatest if they are the m that rank first, and least if they are
        the m that rank last: AP falls if a relevant document changes places with one below it that is not relevant. So
        the bounds over all 2**n ways to judge the pool are among 2 (n + 1) values.
        """
        of = [self.places.get(doc) for doc in pool]
        starts = np.array([_NOWHERE if one is None else one.above for one in of], np.int64)
        here = [one for one in of if one is not None]
        above = np.unique(np.array([*self.table[:, 0], *(one.above for one in here)], np.int64))
        tied, hits, more = (np.zeros(len(above), np.int64) for _ in range(3))
        for one in here:
            tied[np.searchsorted(above, one.above)] = one.tied
        row = np.searchsorted(above, self.table[:, 0])
        tied[row], hits[row] = self.table[:, 1], self.table[:, 2]
        np.add.at(more, np.searchsorted(above, [one.above for one in here]), 1)
        # Alone: documents of one tie group are alike, and so are all that the run does not have.
        alone = np.vstack([hits + np.eye(len(above), dtype=np.int64), hits, hits])
        now, *values = self.ap(above, tied, alone, self.num_relevant + np.array([*[1] * len(above), 1, 0]))[::-1]
        each = np.array(values[::-1])[np.where(starts == _NOWHERE, len(above), np.searchsorted(above, starts))]
        chosen, before = np.arange(len(pool) + 1)[:, None], np.cumsum(more) - more
        nowhere = len(pool) - len(here)
        first = np.clip(chosen - before, 0, more)
        last = np.clip(chosen - nowhere - (len(here) - before - more), 0, more)
        relevant = self.num_relevant + chosen[:, 0]
        high, low = (self.ap(above, tied, hits + one, relevant) for one in (first, last))
        return each, (float(now), float(low.min()), float(high.max()))

    def weight(self, docs: Sequence[bytes], p: float) -> float:
        """The weight of documents in RBP, if these become relevant; 0 for those that the run does not have."""
        groups = Counter((place.above, place.tied) for doc in docs if (place := self.places.get(doc)) is not None)
        found = []
        for (above, tied), count in groups.items():
            known = int(self.table[self.table[:, 0] == above, 2].sum())
            first, size = above, tied  # the ranks that the documents may have, of which each is as likely
            if self.reading != "expected":
                first, size = (above + known if self.reading == "best" else above + tied - known - count), count
            found.append(-(p**first) * math.expm1(size * math.log(p)) * count / size)
        return math.fsum(found)


def unjudged(evaluations: Sequence[Evaluation], runs: Sequence[Any], k: int, p: float) -> Unjudged:
    """The work behind ``Evaluation.unjudged``. `runs`: the run of each evaluation; None reads its file again."""
    k = check_rank(k, "k")
    if isinstance(p, bool) or not isinstance(p, int | float | np.number) or not 0 < p < 1:
        raise ValueError(f"p is {quoted(p)}: it must be a number between 0 and 1")
    level = evaluations[0].relevance_level
    for one in evaluations:
        if one.relevance_level != level or level <= 0:
            raise ValueError(f"{one.name} has the relevance level {one.relevance_level}: evaluations must have the "
                             "same level, which must be above 0")
    of = [_systems(one, run) for one, run in zip(evaluations, runs, strict=True)]
    rows, bounds = [], []
    for query in dict.fromkeys(query for systems in of for query in systems):
        here = [(one.name, systems[query]) for one, systems in zip(evaluations, of, strict=True) if query in systems]
        pool = sorted({doc for _, system in here for doc, place in system.places.items() if place.above < k})
        if not pool:
            continue
        changes, residuals = np.zeros(len(pool)), np.zeros(len(pool))
        for name, system in here:
            each, (now, low, high) = system.with_pool(pool)
            weights = np.array([system.weight([doc], p) for doc in pool])
            changes += each - now
            residuals += weights
            number_here = sum(doc in system.places for doc in pool)
            bounds.append(UnjudgedQuery(name, query, number_here, now, low, high, system.weight(pool, p)))
        for at, doc in enumerate(pool):
            places = [system.places[doc] for _, system in here if doc in system.places]
            best = min(places, key=lambda place: place.rank)
            rows.append(UnjudgedDocument(query, decoded(doc), best.rank, best.score, sum(q.above < k for q in places),
                                         float(residuals[at] / len(here)), float(changes[at] / len(here))))
    rows.sort(key=lambda row: (-row.residual, row.rank))
    bounds.sort(key=lambda row: [one.name for one in evaluations].index(row.system))
    return Unjudged(tuple(rows), tuple(bounds), k, float(p))


def _systems(one: Evaluation, run: Any) -> dict[str, _System]:
    """What an evaluation says of each of its queries."""
    tables, how = one._tables(), _Read(*one._read)
    if tables is None:
        raise ValueError(f"{one.name}: with judgment groups a document has no single level")
    if how.judged_only:
        raise ValueError(f"{one.name} leaves out documents without a judgment, so they have no "
                         "ranks: evaluate without the argument judged_only")
    if run is None:
        if how.source in ("", "-"):
            raise ValueError(f"{one.name}: pass run=, the run that was evaluated: an evaluation keeps no documents of "
                             "a run, and reads only a file again")
        run = how.source
    read = run_of(run, how.strict, Rows(*how.rows))
    queries = {query: at for at, query in enumerate(read.query_ids)}
    tied = one.rank_by == "score" and one.ties != "docid"
    curves = one.curves(one.relevance_level)
    offsets = curves.row_offsets
    table = np.stack([curves.above, curves.tied, curves.hits], axis=1)
    found = {}
    for at, (query, known) in enumerate(zip(one.query_ids, tables, strict=True)):
        docs = [] if query not in queries else _ranked(read.documents(queries[query]), one.rank_by, how)
        if len(docs) != known[0]:
            raise ValueError(f"{one.name}: query {query!r} has {many(len(docs), 'documents')} in {read.source}, but "
                             f"{known[0]} in the run that was evaluated")
        found[query] = _System(_places(docs, known, tied, how.single), table[offsets[at] : offsets[at + 1]], known[0],
                               int(curves.num_relevant[at]), one.ties if tied else "expected")
    return found


def _ranked(docs: list[tuple[bytes, float, float]], rank_by: str, how: _Read) -> list[tuple[bytes, float, float]]:
    """The documents that count, from the first rank down."""
    if rank_by == "rank":
        docs.sort(key=lambda doc: doc[2])
    elif rank_by == "score":
        docs.sort(key=lambda doc: (_score(doc[1], how.single), doc[0]), reverse=True)
    return docs if how.depth < 0 else docs[: how.depth]


def _score(score: float, single: bool) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(score)) if single else score


def _places(docs: list[tuple[bytes, float, float]], known: Table, tied: bool, single: bool) -> _Places:
    """The places of the documents without a judgment. A level below 0 is no judgment."""
    judged = {rank for rank, _, _, level in known[1] if level >= 0}
    found, start = {}, 0
    while start < len(docs):
        stop = start + 1
        while tied and stop < len(docs) and _score(docs[stop][1], single) == _score(docs[start][1], single):
            stop += 1
        for rank in range(start + 1, stop + 1):
            if rank not in judged:
                doc, score, _ = docs[rank - 1]
                found[doc] = _Place(start + 1, start, stop - start, score)
        start = stop
    return found
