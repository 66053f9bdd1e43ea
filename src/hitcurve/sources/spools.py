"""Columns that are kept in memory up to a limit, and then in a temporary file: in their order, or in parts by a key."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Parts", "Spool", "Store", "keys_of", "texts_of"]

_PARTS = 64
_TOGETHER = 1 << 20  # up to so many rows stay in one part


class Store:
    """A temporary file without a name, made on the first write."""

    def __init__(self) -> None:
        self.file: Any = None
        self.end, self.closed, self.lock = 0, False, threading.Lock()

    def write(self, data: memoryview) -> int:
        """Where it was put."""
        with self.lock:
            start = self.end
            if self.closed:
                return start
            if self.file is None:
                import tempfile

                self.file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
            self.end += len(data)
            self.file.seek(start)
            while data:
                data = data[self.file.write(data) :]
        return start

    def read(self, start: int, room: memoryview) -> None:
        with self.lock:
            self.file.seek(start)
            while room:
                room = room[self.file.readinto(room) :]

    def close(self) -> None:
        with self.lock:  # a late thread must not write after this
            self.closed = True
            if self.file is not None:
                self.file.close()


class Spool:
    """Arrays that are kept in their order: in memory up to a limit, and then in a file."""

    def __init__(self, limit: int, store: Store) -> None:
        self.limit, self.store = limit, store
        self.bytes = self.length = 0
        self.parts: list[Any] = []  # arrays, or (offset, length, type) of arrays in the file
        self.closed = False
        self.lock = threading.Lock()

    def append(self, array: NDArray[Any]) -> None:
        with self.lock:
            if self.closed or not array.shape[0]:
                return
            self.length += array.shape[0]
            if self.bytes + array.nbytes <= self.limit:
                # A view would keep the whole batch it came from.
                self.parts.append(array if array.base is None or isinstance(array.base, bytes) else array.copy())
            else:
                data = memoryview(np.ascontiguousarray(array).view(np.uint8).data)
                self.parts.append((self.store.write(data), array.shape[0], array.dtype))
            self.bytes += array.nbytes

    def __iter__(self) -> Iterator[Callable[[], NDArray[Any]]]:
        for part in self.parts:
            yield lambda part=part: part if isinstance(part, np.ndarray) else self._read(*part)  # type: ignore[misc]

    def _read(self, offset: int, length: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        array = np.empty(length, dtype)
        self.store.read(offset, memoryview(array.view(np.uint8).data))
        return array

    def all(self, dtype: np.dtype[Any] | type) -> NDArray[Any]:
        whole, at = np.empty(self.length, dtype), 0
        for part in self:
            array = part()
            whole[at : at + array.shape[0]] = array
            at += array.shape[0]
        return whole

    def close(self) -> None:
        with self.lock:
            self.closed, self.parts = True, []


class Parts:
    """Rows of columns of numbers and texts. Many rows are split into parts by key: a part has all rows of its keys."""

    def __init__(self, columns: int, limit: int) -> None:
        self.store, self.lock = Store(), threading.Lock()
        self.limit, self.columns, self.rows = limit, columns, 0
        self.together = min(_TOGETHER, max(0, limit) // 200)
        self.waiting: list[tuple[NDArray[Any], Sequence[Any]]] | None = []  # None: too many rows for one part
        self.parts: list[list[tuple[Spool, Spool]]] = []

    def _make(self, count: int) -> None:
        # A column of texts takes two spools. For a column of numbers the second spool stays empty.
        room = self.limit // (count * self.columns), self.store
        self.parts = [[(Spool(*room), Spool(*room)) for _ in range(self.columns)] for _ in range(count)]

    def put(self, key: NDArray[Any], columns: Sequence[Any]) -> None:
        todo = [(key, columns)]
        with self.lock:
            if self.waiting is not None:
                self.waiting += todo
                self.rows += key.shape[0]
                if self.rows <= self.together:
                    return
                todo, self.waiting = self.waiting, None
                self._make(_PARTS)
        for key, columns in todo:
            part = (key.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(58)).astype(np.uint8)
            order = np.argsort(part, kind="stable")
            ends = np.append(0, np.cumsum(np.bincount(part, minlength=_PARTS))).tolist()
            self._append([one[order] if isinstance(one, np.ndarray) else one.take(order) for one in columns], ends)

    def _append(self, columns: Sequence[Any], ends: list[int]) -> None:
        taken = [one if isinstance(one, np.ndarray) else _letters(one) for one in columns]
        with self.lock:  # all columns of a part keep the same order
            for at, column in enumerate(taken):
                for part, start, end in zip(self.parts, ends, ends[1:], strict=False):
                    if isinstance(column, np.ndarray):
                        part[at][0].append(column[start:end])
                    else:
                        letters, starts = column
                        part[at][0].append(letters[starts[start] : starts[end]])
                        part[at][1].append(np.diff(starts[start : end + 1]))

    def apart(self) -> list[list[tuple[Spool, Spool]]]:
        """The parts. Call this once all rows are put."""
        if self.waiting is not None:
            self._make(1)
            for key, columns in self.waiting:
                self._append(columns, [0, key.shape[0]])
            self.waiting = None
        return self.parts

    def close(self) -> None:
        self.store.close()
        self.parts.clear()


def _letters(texts: Any) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """The bytes of an array of strings, and where each string begins and the last string ends."""
    _, starts, letters = texts.buffers()
    if not len(texts):
        return np.empty(0, np.uint8), np.zeros(1, np.int32)
    ends = np.frombuffer(starts, np.int32, len(texts) + 1, 4 * texts.offset)
    return np.frombuffer(letters, np.uint8)[ends[0] : ends[-1]], ends - ends[0]


def texts_of(letters: Spool, lengths: Spool) -> Any:
    import pyarrow as pa

    ends = np.append(0, np.cumsum(lengths.all(np.int32), dtype=np.int64))
    return pa.Array.from_buffers(pa.large_string(), ends.shape[0] - 1,
                                 [None, pa.py_buffer(ends), pa.py_buffer(letters.all(np.uint8))])


def keys_of(texts: Any) -> NDArray[np.uint64]:
    """Hashes of texts: equal texts have equal hashes. No text may be empty."""
    letters, starts = _letters(texts)
    place = np.arange(letters.shape[0]) - np.repeat(starts[:-1], np.diff(starts))
    weights = np.arange(1, 257, dtype=np.uint64) ** np.uint64(3)
    return np.add.reduceat(letters * weights[place & 255], starts[:-1]) if len(texts) else np.empty(0, np.uint64)
