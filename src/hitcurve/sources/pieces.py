"""Pieces of rows, and the sources that give them.

A `Source` gives tasks in the order of the rows. A task gives pieces, and may be called in any thread. Only the columns
that a pass wants are decoded. A bad row is a ValueError that names file, row and column.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hitcurve.curves.subtopic_sets import LevelRows

__all__ = ["LAST", "Gaps", "Piece", "Source", "Subtopics", "Task", "new_rows", "piece_of"]

LAST = sys.maxsize >> 1
"""The place of the first row that no source has: a compound of a library without a row."""


class Piece(NamedTuple):
    """Some rows, with the columns that the pass wants. Other columns are None."""

    rows: int
    scores: tuple[Any, ...] = ()
    """One array for each column of scores: int64 or float64 from text, from Parquet and Arrow the type of the column. A
    missing score is NaN. The type may differ from piece to piece (integers first, then a fraction)."""
    relevant: Any = None
    """Scores of the relevant rows, for each column."""
    label: Any = None
    """uint8: 1 for a relevant item, else 0. For a graded source: the level, of any real type, above 0 if relevant. For
    a source with subtopics: the number of the row of levels, in place of a level."""
    group: Any = None
    """The code of each row's group. Groups are numbered in the order in which they first occur."""
    ids: Any = None
    """A pyarrow array of strings."""
    start: int = 0
    """The number of rows of the source before these rows."""
    places: Any = None
    """The places of the relevant rows, if relevant scores are wanted."""
    gaps: Any = None
    """In place of the scores, for each column: the number of thresholds below all scores. The others are above all."""
    levels: Any = None
    """The levels of the relevant rows of a graded source, if relevant scores are wanted."""


def piece_of(want: str, scores: tuple[NDArray[Any], ...], label: NDArray[Any] | None,
             group: NDArray[np.int64] | None, start: int, ids: Any = None, graded: bool = False) -> Piece:  # fmt: skip
    places = relevant = levels = None
    if label is not None and want in ("relevant", "both"):
        places = np.flatnonzero(label != 0 if graded else label.view(np.bool_))
        relevant = tuple(score[places] for score in scores)
        levels = label[places] if graded else None
    kept = () if want == "relevant" else scores
    return Piece(scores[0].shape[0], kept, relevant, label, group, ids, start, places, levels=levels)


def new_rows() -> LevelRows:
    from hitcurve.curves.subtopic_sets import LevelRows  # which few programs need

    return LevelRows()


Task = Callable[[], Iterable[Piece]]
Gaps = Callable[[Sequence[tuple[int, int]]], "list[int] | None"]
"""From the least and the greatest score of each column to `Piece.gaps`; None if a threshold lies between the two."""
Subtopics = Sequence[str | int] | Literal[True] | None
"""The columns of the subtopics, True for the columns of an array, or None without subtopics."""


class Source:
    """Rows that can be read once or several times."""

    rows: int | None = None
    """The number of rows, if it is known beforehand."""
    graded = False
    """Whether rows have levels in place of labels."""
    rows_of_levels: LevelRows | None = None
    """For a source with subtopics: the rows of levels whose numbers are the levels."""
    names: tuple[Any, ...] = ()
    """The names of the subtopics. They are complete once the data were read."""
    cheap = False
    """Whether reading again costs less than a copy on disk. If not, the rows may be readable only once."""
    dtypes: Sequence[set[np.dtype[Any]]] = ()
    """For each column of scores, the types that are known beforehand."""
    merged = False
    """Whether its rows are merged from rows of another source, and have no ids."""
    notes: Sequence[str] = ()
    """Sentences about the form of the data. They are complete once the data were read."""

    def guess(self) -> int | None:
        """An estimate of the number of rows, or None."""
        return None

    def tasks(self, want: str) -> Iterator[Task]:
        """Tasks for a pass. `want`: "relevant" (relevant scores), "score" (all scores), "both", "rows" (everything)."""
        raise NotImplementedError

    def again(self, gaps: Gaps) -> Iterator[Task]:
        """Tasks for a second pass over the scores. Pieces may have gaps in place of scores that need not be decoded."""
        return self.tasks("score")

    def keep(self, room: int) -> None:
        """Allow the source to keep this many bytes of decoded scores for the second pass. A source may keep fewer."""

    def group_order(self) -> tuple[NDArray[np.int64], list[Any]]:
        """For each group code its place in the ascending order of names; the names in that order."""
        raise NotImplementedError

    def place(self, row: int) -> str:
        """The place of a row in words, for errors. `row` counts from 0 over all files."""
        return f"source: row {row + 1}"
