"""Judgments of documents by subtopic: a document's levels as a code, which the ranking of a run keeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hitcurve._base.pickle import MAKERS
from hitcurve.curves.subtopic_sets import Sets
from hitcurve.retrieval.runs import Judged, Qrels

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Topics", "by_subtopic"]


class Topics(NamedTuple):
    """What judgments say of subtopics.

    The judgments themselves have, for each document, its highest level over the subtopics. `codes` has the same queries
    and documents, and a code in place of the level: from 1 for a document with a level above 0, else the highest level.
    """

    codes: Qrels
    levels: NDArray[np.int64]  #: The highest level of each code.
    sets: Sets
    names: tuple[str, ...]
    #: Where the pool of each query begins, and the codes of the pool: documents with a code, by falling id. This is the
    #: order in which ndeval takes documents that add as much.
    pool: tuple[NDArray[np.int64], NDArray[np.int64]]
    parts: tuple[Any, ...]  #: The arguments of `by_subtopic`.

    def judged(self, qrels: Qrels, coded: Judged) -> Judged:
        """The judged documents with their highest levels. They keep those with codes."""
        found = coded.with_levels(qrels, self.levels)
        found.coded = coded
        return found

    def pool_of(self, places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The pool of some queries."""
        sizes = np.diff(self.pool[0])[places]
        starts = np.append(0, np.cumsum(sizes))
        return starts, self.pool[1][np.arange(starts[-1]) + np.repeat(self.pool[0][places] - starts[:-1], sizes)]

    def __reduce__(self) -> Any:
        raise TypeError("judgments are pickled with their subtopics")


def by_subtopic(queries: list[str], topics: list[str], docs: list[str], levels: list[int], source: str,
                place: Callable[[int], str] | None = None, heads: dict[str, str] | None = None,
                notes: Sequence[str] = ()) -> Qrels:  # fmt: skip
    """Judgments from four columns: the query, the subtopic, the document and the level of each row.

    `place` gives the name of a row for an error: its number, or that of its line. `heads`, `notes`: the columns of the
    source, and what there is to say of them.

    Raises
    ------
    ValueError
        If a document has two levels for a subtopic of a query, or if there are no judgments.
    """
    names = tuple(sorted(set(topics)))
    number = {name: i for i, name in enumerate(names)}
    held: dict[str, dict[str, dict[int, int]]] = {}
    for row, (query, topic, doc, level) in enumerate(zip(queries, topics, docs, levels, strict=True)):
        of_doc = held.setdefault(query, {}).setdefault(doc, {})
        if number[topic] in of_doc:
            rows = zip(queries, topics, docs, strict=True)
            first = next(i for i, one in enumerate(rows) if one == (query, topic, doc))
            raise ValueError(f"{source}: document {doc!r} occurs twice for subtopic {topic!r} in query {query!r}"
                             + (f", in {place(first)} and in {place(row)}" if place is not None else ""))
        of_doc[number[topic]] = level
    # The last subtopic decides first, as in `subtopic_sets.coded`.
    keys = {(query, doc): tuple(sorted(((t, one) for t, one in of.items() if one > 0), reverse=True))
            for query, of_query in held.items() for doc, of in of_query.items()}  # fmt: skip
    distinct = [(), *sorted(set(keys.values()) - {()})]
    code = {key: i for i, key in enumerate(distinct)}
    sets = Sets(
        np.cumsum([0, *map(len, distinct)]), np.array([t for key in distinct for t, _ in key[::-1]], np.int64),
        np.array([level for key in distinct for _, level in key[::-1]], np.float64))
    highest = sets.highest().astype(np.int64)
    starts = np.cumsum([0, *map(len, held.values())], dtype=np.int64)[:-1]
    ids = [doc for of_query in held.values() for doc in of_query]
    coded = np.array([code[keys[query, doc]] or max(of.values())
                      for query, of_query in held.items() for doc, of in of_query.items()], np.int64)  # fmt: skip
    pools = [[code[keys[query, doc]] for doc in sorted(of_query, key=_bytes, reverse=True) if keys[query, doc]]
             for query, of_query in held.items()]  # fmt: skip
    pool = (np.cumsum([0, *map(len, pools)], dtype=np.int64), np.array([one for of in pools for one in of], np.int64))
    values = np.where(coded > 0, highest[np.maximum(coded, 0)], coded).astype(np.float64)
    found = Qrels.from_columns(starts, list(held), ids, values, source, heads=heads, notes=notes)
    codes = Qrels.from_columns(starts, list(held), list(ids), coded.astype(np.float64), source)
    found.topics = Topics(codes, highest, sets, names, pool,
                          (queries, topics, docs, levels, source, None, heads, tuple(notes)))  # fmt: skip
    return found


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


MAKERS["judgments_of_subtopics"] = by_subtopic
