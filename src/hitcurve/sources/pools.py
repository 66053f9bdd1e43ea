"""The items that have subtopics, which a scan keeps: ideal orders need them in the order of the rows."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from hitcurve.curves.gain import GainCurves
from hitcurve.curves.subtopics import counted_subtopics, missing_items
from hitcurve.sources.cells import has_nan, joined
from hitcurve.sources.pieces import Piece, Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hitcurve.curves.subtopic_sets import LevelRows
    from hitcurve.curves.subtopics import SubtopicCurve, SubtopicCurves

__all__ = ["Pool"]

_ITEM_BYTES = 60  # memory for each item with a subtopic while the table is made
_ROW_BYTES = 500  # memory for each distinct row of levels, and 64 for each of its levels


class Pool:
    """The items that have subtopics, in the order of the rows, whatever the order of the pieces."""

    def __init__(self, source: Source, rows: LevelRows, nan_policy: str, unretrieved: Any) -> None:
        self.source, self.rows, self.nan_policy, self.unretrieved = source, rows, nan_policy, unretrieved
        self.lock = threading.Lock()
        self.start()
        if source.names:
            missing_items(unretrieved, len(source.names))  # checks them before the data are read

    def start(self) -> None:
        """Forget the items."""
        self.parts: list[tuple[int, NDArray[np.uint32], NDArray[np.int64] | None]] = []
        self.items = 0

    def held(self) -> int:
        """Memory for the items and the rows of levels so far."""
        return 12 * self.items + (_ROW_BYTES + 64 * len(self.source.names)) * len(self.rows)

    def needed(self, items: int) -> int:
        """Memory for a table of so many items, beside the table of scores and levels."""
        return self.held() + _ITEM_BYTES * items

    def add(self, piece: Piece) -> None:
        if piece.levels is not None:
            number, score, places = piece.levels, piece.relevant[0], piece.places
        elif piece.label is not None:
            places = np.flatnonzero(piece.label)
            number, score = piece.label[places], piece.scores[0][places]
        else:
            return  # no row of the piece has a subtopic
        group = None if piece.group is None else piece.group[places]
        if self.nan_policy == "omit" and has_nan(score):
            present = score == score
            number, group = number[present], None if group is None else group[present]
        if number.shape[0]:
            with self.lock:
                self.parts.append((piece.start, number, group))
                self.items += number.shape[0]

    def curve(self, table: Any) -> SubtopicCurve | SubtopicCurves:
        """The curve or curves of subtopics. `table` has the numbers of rows of levels as levels."""
        names = self.source.names
        if not names:
            raise ValueError("subtopics=True, but the source gave no batch: name the subtopics")
        self.parts.sort(key=lambda part: part[0])
        number = joined((part[1] for part in self.parts), np.uint32)
        query = np.zeros(number.shape[0], np.int64)
        if isinstance(table, GainCurves):
            places, _ = self.source.group_order()
            query = places[joined((group for _, _, group in self.parts if group is not None), np.int64)]
        self.start()
        return counted_subtopics(table, self.rows, query, number, names, self.unretrieved)
