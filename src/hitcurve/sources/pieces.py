"""Rows as they are read: pieces of a few, and the sources that give these.

A `Source` gives tasks, in the order of the rows; a task, called in any thread, gives pieces. Only the columns that a
pass wants are decoded. What is wrong with a row is a ValueError that names file, row and column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Gaps", "Piece", "Source", "Task", "piece_of"]


class Piece(NamedTuple):
    """Some rows, with what was asked for; what was not is None."""

    rows: int
    scores: tuple[Any, ...] = ()
    """One array for each column of scores: int64 or float64 from text, from Parquet and Arrow the type of the column. A
    missing score is NaN. The type may differ from piece to piece (integers first, then a fraction)."""
    relevant: Any = None
    """Scores of the relevant rows, for each column."""
    label: Any = None
    """uint8: 1 for a relevant item, else 0. Of a graded source: the level, of any real type, above 0 if relevant."""
    group: Any = None
    """The row's place among the groups in the order in which they came."""
    ids: Any = None
    """A pyarrow array of strings."""
    start: int = 0
    """Rows of the source before these."""
    places: Any = None
    """Which rows are relevant, where relevant scores and all scores were asked for."""
    gaps: Any = None
    """In place of the scores, for each column: how many thresholds lie below all of them; the others lie above."""
    levels: Any = None
    """Of the relevant rows of a graded source, where their scores were asked for."""


def piece_of(want: str, scores: tuple[NDArray[Any], ...], label: NDArray[Any] | None,
             group: NDArray[np.int64] | None, start: int, ids: Any = None, graded: bool = False) -> Piece:  # fmt: skip
    places = relevant = levels = None
    if label is not None and want in ("relevant", "both"):
        places = np.flatnonzero(label != 0 if graded else label.view(np.bool_))
        relevant = tuple(score[places] for score in scores)
        levels = label[places] if graded else None
    kept = () if want == "relevant" else scores
    return Piece(scores[0].shape[0], kept, relevant, label, group, ids, start, places, levels=levels)


Task = Callable[[], Iterable[Piece]]
Gaps = Callable[[Sequence[tuple[int, int]]], "list[int] | None"]
"""Of the least and the greatest score of each column: the gaps between thresholds in which they lie."""


class Source:
    """Rows that can be read, once or again and again."""

    rows: int | None = None
    """How many there are, if that is known beforehand."""
    graded = False
    """Rows have levels in place of labels."""
    cheap = False
    """Reading again costs less than a copy on disk. Some others cannot be read again."""
    dtypes: Sequence[set[np.dtype[Any]]] = ()
    """For each column of scores the types that are known beforehand to come."""
    notes: Sequence[str] = ()
    """What was found out about the form of the data, in sentences, once they were read."""

    def guess(self) -> int | None:
        """About how many rows there are."""
        return None

    def tasks(self, want: str) -> Iterator[Task]:
        """Of the rows, "relevant": the relevant scores; "score": the scores; "both"; "rows": all columns, in order."""
        raise NotImplementedError

    def again(self, gaps: Gaps) -> Iterator[Task]:
        """The scores once more, or the gaps in which they lie, where these are known without them."""
        return self.tasks("score")

    def keep(self, room: int) -> None:
        """So many bytes of scores may wait, decoded, to be read once more; a source may use them or not."""

    def group_order(self) -> tuple[NDArray[np.int64], list[Any]]:
        """The place of each group code among the groups met, ascending, and their names."""
        raise NotImplementedError

    def place(self, row: int) -> str:
        """Where a row is, counted from 0 over all that was read."""
        return f"source: row {row + 1}"
