"""What can be scanned: files, Arrow streams and datasets, lazy queries, arrays and functions, as pieces of a few rows.

A `Source` gives tasks, in the order of the rows; a task, called in any thread, gives pieces. Only the columns that a
pass wants are decoded. What is wrong with a row is a ValueError that names file, row and column.
"""

from __future__ import annotations

import glob
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hitcurve._checks import LABEL_RULE, NO_RANK, SCORES, as_column, checked_array
from hitcurve._extras import needed
from hitcurve._files import Path, check_unchanged, file_kind, file_state
from hitcurve.sources.cells import (
    BadCell,
    Column,
    ascending,
    coded,
    encoded,
    first_line,
    has_nan,
    labels_of,
    no_text,
    numbers_of,
    scores_of,
)
from hitcurve.sources.tables import TableReader, _found, _place

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Files", "OtherSchema", "Parquet", "Piece", "Source", "Task", "names_array", "open_source", "piece_of"]

_ROWS = 1 << 20  # rows of a piece, where the source leaves the choice
_LONG_GROUP = 4 * _ROWS  # row groups beyond this are read in pieces


class Piece(NamedTuple):
    """Some rows, with what was asked for."""

    rows: int
    scores: tuple[NDArray[Any] | None, ...] = ()
    """One array for each column of scores."""
    relevant: tuple[NDArray[Any], ...] | None = None
    """Scores of the relevant rows, for each column."""
    label: NDArray[np.uint8] | None = None
    group: NDArray[np.int64] | None = None
    ids: Any | None = None
    """A pyarrow array of strings."""
    start: int = 0
    """Rows of the source before these."""
    places: NDArray[np.int64] | None = None
    """Which rows are relevant, where relevant scores and all scores were asked for."""


Task = Callable[[], Iterable[Piece]]


class Source:
    """Rows that can be read, once or again and again.

    Attributes
    ----------
    rows : int or None
        How many there are, if that is known beforehand.
    guess : int or None
        About how many.
    cheap : bool
        Reading again costs less than a copy on disk. Some others cannot be read again.
    dtypes : sequence of set of dtype
        For each column of scores the types that are known beforehand to come.
    """

    rows: int | None = None
    guess: int | None = None
    cheap = False
    dtypes: Sequence[set[np.dtype[Any]]] = ()

    def tasks(self, want: str) -> Iterator[Task]:
        """Of the rows, "relevant": the relevant scores; "score": the scores; "both"; "rows": all columns, in order."""
        raise NotImplementedError

    def group_order(self) -> tuple[NDArray[np.int64], list[Any]]:
        """The place of each group code among the groups met, ascending, and their names."""
        raise NotImplementedError

    def place(self, row: int) -> str:
        """Where a row is, counted from 0 over all that was read."""
        return f"source: row {row + 1}"


def open_source(
    source: Any,
    label: Column | None,
    score: Column | None,
    group: Column | None,
    *,
    nan_policy: str,
    header: bool,
    workers: int,
    in_order: bool,
    unlabelled: bool,
) -> Source:
    """The source for what a caller gave.

    `in_order`: its rows must come one after the other; `unlabelled`: without labels, no row is relevant.
    """
    if isinstance(source, (str, os.PathLike)) or (
        isinstance(source, list) and source and all(isinstance(one, (str, os.PathLike)) for one in source)
    ):
        paths = _paths(source)
        if score is None:
            raise TypeError("score must say in which column of the files the scores are")
        plain = all(file_kind(path)[1:] == ("parquet", None) for path in paths)
        if plain:
            row_groups = Parquet(paths, label, [score], nan_policy, workers, group)
            if not in_order:
                return row_groups
        reading: Any = {"nan_policy": nan_policy, "header": header, "workers": workers}
        return Files(TableReader(paths, label, [score], group, unlabelled=unlabelled and label is None, **reading))
    if isinstance(source, tuple):
        if len(source) not in (2, 3):
            raise ValueError(f"source is a tuple of {len(source)}: it must be (y_true, y_score) or with groups third")
        slices, num_items = _arrays(source)
        return _Batches(slices, None, None, None, nan_policy, rows=num_items, cheap=True, tuples=True)
    if callable(source):
        return _Batches(lambda: iter(source()), label, score, group, nan_policy, unlabelled=unlabelled)
    if score is None:
        raise TypeError("score must say in which column the scores are")
    named = [column for column in (label, score, group) if column is not None]
    open_, rows, cheap = _arrow(source, named)
    return _Batches(open_, label, score, group, nan_policy, rows=rows, cheap=cheap, unlabelled=unlabelled)


def _paths(source: Any) -> list[str]:
    """The files of a path, folder, glob, or a list of these."""
    paths: list[str] = []
    for one in source if isinstance(source, list) else [source]:
        text = os.fspath(one)
        if os.path.isdir(text):
            found = []
            for folder, folders, names in os.walk(text):
                # What engines write beside the data begins so.
                folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
                found += [os.path.join(folder, name) for name in sorted(names) if not name.startswith((".", "_"))]
            if not found:
                raise ValueError(f"{text}: the folder holds no files")
            paths += found
        elif text != "-" and not os.path.exists(text) and glob.has_magic(text):
            found = sorted(path for path in glob.glob(text, recursive=True) if os.path.isfile(path))
            if not found:
                raise ValueError(f"{text}: no file matches")
            paths += found
        else:
            paths.append(text)
    for path in paths:
        file_kind(path)
        if path != "-" and not os.path.exists(path):
            raise FileNotFoundError(2, "No such file or directory", path)
    return paths


def piece_of(
    want: str,
    scores: tuple[NDArray[Any], ...],
    label: NDArray[np.uint8] | None,
    group: NDArray[np.int64] | None,
    start: int,
    ids: Any = None,
) -> Piece:
    places = relevant = None
    if label is not None and want in ("relevant", "both"):
        places = np.flatnonzero(label.view(np.bool_))
        relevant = tuple(score[places] for score in scores)
    return Piece(scores[0].shape[0], () if want == "relevant" else scores, relevant, label, group, ids, start, places)


class Parquet(Source):
    """Parquet files: a task is a row group, and a pass decodes the columns that it needs."""

    cheap = True

    def __init__(
        self, paths: list[str], label: Column | None, scores: Sequence[Column], nan_policy: str, workers: int,
        group: Column | None = None,
    ) -> None:  # fmt: skip
        self.label, self.scores, self.nan_policy = label, scores, nan_policy
        self.threads = workers == 1  # a single worker leaves the other cores to the decoder
        self.files: list[_ParquetFile] = []
        self.rows = 0
        self.local = threading.local()
        types: dict[Column, Any] = {}
        dtypes: list[set[np.dtype[Any]]] = [set() for _ in scores]
        for path in paths:
            state = file_state(path)
            file = self._open(path)
            schema, metadata = file.schema_arrow, file.metadata
            ends = np.cumsum([_leaves(field.type) for field in schema])
            found: list[list[int]] = []
            for column in (label, group, *scores):
                if column is None:
                    found.append([])
                    continue
                at = _found(path, schema.names, column)
                type_ = schema.field(at).type
                if types.setdefault(column, type_) != type_:
                    raise OtherSchema(
                        f"{path}: column {column!r} is of type {type_}, but {types[column]} in {paths[0]}: the files "
                        "must have one schema"
                    )
                found.append(list(range(int(ends[at]) - _leaves(type_), int(ends[at]))))
            if group is not None:
                _checked_groups(types[group], f"{path}: column {group!r}")
            for at, score in enumerate(scores):
                if nan_policy != "raise" and _nulls_among_integers(types[score], metadata, found[2 + at][:1]):
                    dtypes[at].add(np.dtype(np.float64))
            self.files.append(_ParquetFile(path, metadata, found[0], found[2:], self.rows, state))
            self.rows += metadata.num_rows
            file.close()
        self.dtypes = tuple(dtypes)

    def place(self, row: int) -> str:
        at = max(at for at, file in enumerate(self.files) if file.start <= row)
        return f"{self.files[at].path}: row {row - self.files[at].start + 1}"

    def _open(self, path: str, metadata: Any = None) -> Any:
        parquet, pa = needed("pyarrow.parquet", "Parquet"), needed("pyarrow", "Parquet")
        try:
            return parquet.ParquetFile(path, metadata=metadata, page_checksum_verification=True)
        except (pa.ArrowInvalid, OSError) as error:
            if getattr(error, "filename", None) is not None:
                raise
            raise ValueError(f"{path}: cannot be read: {first_line(error)}") from None

    def tasks(self, want: str) -> Iterator[Task]:
        for at, file in enumerate(self.files):
            first = 0
            for group in range(file.metadata.num_row_groups):
                yield lambda at=at, group=group, first=first: self._read(want, at, group, first)  # type: ignore[misc]
                first += file.metadata.row_group(group).num_rows

    def _read(self, want: str, at: int, group: int, first: int) -> Iterator[Piece]:
        path, metadata, label, scores, _, _ = self.files[at]
        rows = metadata.row_group(group).num_rows
        nothing = Piece(rows, (), tuple(np.empty(0, np.uint8) for _ in scores))
        if want == "relevant" and _without_hits(metadata.row_group(group), label):
            yield nothing
            return
        held = getattr(self.local, "file", None)
        if held is None or held[0] != at:
            if held is not None:
                held[1].close()
            held = self.local.file = (at, self._open(path, metadata))
        file = held[1].reader
        cells: list[Any]
        wanted = [[] if want == "score" else label, *scores]
        try:
            if rows > _LONG_GROUP:
                # The columns come in the order of the file, each as one, however many leaves it has.
                order = sorted({tuple(leaves) for leaves in wanted if leaves})
                for batch in file.iter_batches(_ROWS, row_groups=[group], column_indices=sum(order, ()),
                                               use_threads=self.threads):  # fmt: skip
                    self._unchanged(at)
                    cells = [batch.column(order.index(tuple(leaves))) if leaves else None for leaves in wanted]
                    yield self._converted(want, cells, at, first)
                    first += batch.num_rows
                return
            cells = []
            for leaves in wanted:
                cells.append(self._column(file, group, leaves) if leaves else None)
                only = cells[0]
                if want == "relevant" and only.type == "bool" and not only.null_count and not only.true_count:
                    self._unchanged(at)
                    yield nothing
                    return
        except (OSError, _arrow_error()) as error:
            self._unchanged(at)
            raise ValueError(f"{path}: rows {first + 1} to {first + rows}: {first_line(error)}") from None
        self._unchanged(at)
        yield self._converted(want, cells, at, first)

    def _unchanged(self, at: int) -> None:
        """An error if what was just read may not be of the file that was opened first."""
        check_unchanged(self.files[at].path, self.files[at].state)

    def _column(self, file: Any, group: int, leaves: list[int]) -> Any:
        import pyarrow as pa

        column = file.read_row_group(group, column_indices=leaves, use_threads=self.threads).column(0)
        return column.chunk(0) if column.num_chunks == 1 else pa.concnumberarrays(column.chunks)

    def _converted(self, want: str, cells: list[Any], at: int, first: int) -> Piece:
        import pyarrow as pa
        import pyarrow.compute as pc

        column = self.label
        start, rows = self.files[at].start + first, len(cells[1])
        places: Any = None
        try:
            if want != "score":
                if cells[0].type == "bool" and not cells[0].null_count:
                    places = numbers_of(pc.indices_nonzero(cells[0])).view(np.int64)
                else:
                    places = np.flatnonzero(labels_of(cells[0]).view(np.bool_)).astype(np.int64, copy=False)
            made = []
            for number, scores in enumerate(cells[1:]):
                column = self.scores[number]
                if want != "relevant":
                    made.append(scores_of(scores, self.nan_policy))
                    continue
                # The other scores are looked at when they are counted. Arrow's own ways between numpy and itself
                # import pandas where that is installed.
                chosen = pa.Array.from_buffers(pa.int64(), places.shape[0], [None, pa.py_buffer(places)])
                try:
                    made.append(scores_of(scores.take(chosen), "worst"))
                except BadCell as bad:
                    bad.index = None if bad.index is None else int(places[bad.index])
                    raise
        except BadCell as bad:
            place = "" if bad.index is None else f"row {first + bad.index + 1}, "
            raise ValueError(f"{self.files[at].path}: {place}column {column!r}: {bad}") from None
        if want == "relevant":
            return Piece(rows, (), tuple(made), start=start)
        relevant = None if places is None else tuple(score[places] for score in made)
        return Piece(rows, tuple(made), relevant, start=start, places=places)


class OtherSchema(ValueError):
    """Parquet files with a column that is of several types."""


class _ParquetFile(NamedTuple):
    path: str
    metadata: Any
    label: list[int]
    """The leaves of the column: numbers, as names need not be distinct."""
    scores: list[list[int]]
    start: int
    """Rows of the files before."""
    state: tuple[int, ...] | None


def _leaves(type_: Any) -> int:
    """How many columns of a Parquet file hold an Arrow type."""
    import pyarrow as pa

    if isinstance(type_, pa.BaseExtensionType):
        return _leaves(type_.storage_type)
    if pa.types.is_nested(type_):
        return sum(_leaves(type_.field(at).type) for at in range(type_.num_fields))
    return 1


def _without_hits(group: Any, label: list[int]) -> bool:
    """Whether the statistics of a row group say that all its labels are 0 or false."""
    if len(label) != 1:
        return False
    column = group.column(label[0])
    known = column.statistics if column.physical_type in ("BOOLEAN", "INT32", "INT64") else None
    return (known is not None and known.has_min_max and known.has_null_count and known.null_count == 0
            and known.min == known.max == 0)  # fmt: skip


def _nulls_among_integers(type_: Any, metadata: Any, leaf: list[int]) -> bool:
    """Whether the statistics say that a column of integers has empty cells, which makes its scores float64."""
    import pyarrow as pa

    if not pa.types.is_integer(type_) or not leaf:
        return False
    statistics = (metadata.row_group(at).column(leaf[0]).statistics for at in range(metadata.num_row_groups))
    return any(known is not None and known.has_null_count and known.null_count for known in statistics)


def _checked_groups(type_: Any, place: str) -> None:
    import pyarrow as pa

    plain = type_.value_type if pa.types.is_dictionary(type_) else type_
    if str(plain).split("[")[0] in ("binary", "large_binary", "fixed_size_binary", "binary_view") or (
        pa.types.is_nested(plain) or isinstance(plain, pa.BaseExtensionType)
    ):
        raise ValueError(f"{place}: it holds {type_}: groups must be numbers or texts")


def _arrow_error() -> type[Exception]:
    import pyarrow as pa

    error: type[Exception] = pa.ArrowException
    return error


class Files(Source):
    """Files read row by row, in order, by a `TableReader`, which parses text in threads of its own."""

    def __init__(self, reader: TableReader) -> None:
        self.reader = reader
        self.starts: list[int] = []  # rows before each file
        self.guess = _guessed_rows(reader.paths)

    def tasks(self, want: str) -> Iterator[Task]:
        start = 0
        self.starts = []
        for path in self.reader.paths:
            self.starts.append(start)
            for batch in self.reader.batches(path):
                piece = piece_of(want, batch.scores, batch.label, batch.group, start, batch.ids)
                start += piece.rows
                yield lambda piece=piece: (piece,)  # type: ignore[misc]

    def place(self, row: int) -> str:
        at = max(at for at, start in enumerate(self.starts) if start <= row)
        path = self.reader.paths[at]
        return f"{file_kind(path)[0]}: {_place(path, self.reader._header_read, row - self.starts[at] + 1)}"

    def group_order(self) -> tuple[NDArray[np.int64], list[Any]]:
        return self.reader.ordered_groups()


def _guessed_rows(paths: Sequence[Path]) -> int | None:
    """From the lines of the first megabyte of each text file that is not compressed."""
    rows = 0
    for path in paths:
        shown, kind, compression = file_kind(path)
        if compression is not None or kind in ("parquet", "sdf") or not os.path.isfile(shown):
            return None
        with open(path, "rb") as file:
            start = file.read(1 << 20)
        if start:
            rows += round(os.path.getsize(path) * start.count(b"\n") / len(start))
    return rows


class _Batches(Source):
    """Batches from a function: Arrow record batches, data frames, or tuples of arrays; `tuples`: only these."""

    def __init__(
        self, open_: Callable[[], Iterator[Any]], label: Column | None, score: Column | None, group: Column | None,
        nan_policy: str, *, rows: int | None = None, cheap: bool = False, tuples: bool = False,
        unlabelled: bool = False,
    ) -> None:  # fmt: skip
        self.open, self.label, self.score, self.group, self.nan_policy = open_, label, score, group, nan_policy
        self.rows, self.cheap, self.tuples, self.unlabelled = rows, cheap, tuples, unlabelled
        self.codes: dict[Any, int] = {}  # of the groups

    def tasks(self, want: str) -> Iterator[Task]:
        start = 0
        for whole in self.open():
            for batch in self._split(whole, start):
                label, score, group = self._columns(batch, start)
                if label is None and want == "rows":
                    label = np.zeros(score.shape[0], np.uint8)
                piece = piece_of(want, (score,), label, group, start)
                start += piece.rows
                yield lambda piece=piece: (piece,)  # type: ignore[misc]

    def _split(self, batch: Any, start: int) -> Iterable[Any]:
        """What the source gave, as tuples or Arrow data."""
        if isinstance(batch, tuple):
            if not self.tuples and (self.label, self.score) != (None, None):
                raise ValueError("label and score name columns, but the source gives tuples of arrays")
            return (batch,)
        stream, array = hasattr(batch, "__arrow_c_stream__"), hasattr(batch, "__arrow_c_array__")
        if self.tuples or not (stream or array):
            raise TypeError(
                f"source: row {start + 1}: a batch of type {type(batch).__name__}: it must be an Arrow record batch, a "
                "data frame, or a tuple (labels, scores)"
            )
        if self.score is None:
            raise TypeError("score must say in which column the scores are")
        if self.label is None and not self.unlabelled:
            raise TypeError("label must say in which column the labels are (or actives, which items are relevant)")
        pa = needed("pyarrow", "reading this source")
        if isinstance(batch, (pa.RecordBatch, pa.Table)):
            return (batch,)
        try:
            read: Iterable[Any] = pa.RecordBatchReader.from_stream(batch) if stream else (pa.record_batch(batch),)
        except UnicodeEncodeError as error:
            raise ValueError(f"source: row {start + 1} or below: {no_text(error.object)}") from None
        return read

    def _columns(
        self, batch: Any, start: int
    ) -> tuple[NDArray[np.uint8] | None, NDArray[Any], NDArray[np.int64] | None]:
        if isinstance(batch, tuple):
            return self._arrays(batch, start)
        assert self.score is not None
        names = batch.schema.names
        column: Column | None = self.label
        try:
            label = group = None
            if self.label is not None:
                label = labels_of(_whole(batch.column(_found("source", names, self.label))))
            column = self.score
            score = scores_of(_whole(batch.column(_found("source", names, self.score))), self.nan_policy)
            if self.group is not None:
                column = self.group
                cells = _whole(batch.column(_found("source", names, self.group)))
                _checked_groups(cells.type, f"source: column {column!r}")
                group = coded(_encoded_groups(cells), self.codes)
        except BadCell as bad:
            place = "" if bad.index is None else f"row {start + bad.index + 1}, "
            raise ValueError(f"source: {place}column {column!r}: {bad}") from None
        return label, score, group

    def _arrays(
        self, batch: tuple[Any, ...], start: int
    ) -> tuple[NDArray[np.uint8], NDArray[Any], NDArray[np.int64] | None]:
        place = f"source: row {start + 1}"
        if len(batch) not in ((2, 3) if self.group is None else (3,)):
            raise ValueError(f"{place}: a batch of {len(batch)} arrays: it must be (labels, scores) "
                             "or with groups third, if there is a group")  # fmt: skip
        if len(batch) == 3 and self.group is None and not self.tuples:
            raise ValueError(f"{place}: a batch of 3 arrays, but no group: group=3 says that the third are groups")
        try:
            labels = checked_array(batch[0], "y_true", LABEL_RULE)
            score = checked_array(batch[1], "y_score", SCORES)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{place}: {error}") from None
        if labels.shape != score.shape:
            raise ValueError(f"{place}: y_true has {labels.shape[0]} items, y_score has {score.shape[0]}")
        flags = labels.view(np.uint8) if labels.dtype == np.bool_ else (labels == 1).view(np.uint8)
        if labels.dtype != np.bool_:
            fine = flags.view(np.bool_) | (labels == 0)
            if not fine.all():
                at = int(np.argmin(fine))
                raise ValueError(f"source: row {start + at + 1}: the label is {labels[at]}: {LABEL_RULE}")
        if self.nan_policy == "raise" and has_nan(score):
            at = int(np.argmax(np.isnan(score)))
            raise ValueError(f"source: row {start + at + 1}: the score is nan: {NO_RANK}")
        group = None
        if len(batch) > 2:
            groups = _group_names(batch[2], place)
            if groups.shape != score.shape:
                raise ValueError(f"{place}: scores have shape {score.shape}, groups {groups.shape}")
            pa = needed("pyarrow", "a scan of groups")
            try:
                native = groups.astype(groups.dtype.newbyteorder("="), copy=False)  # as Arrow wants them
                group = coded(_encoded_groups(pa.array(native)), self.codes)
            except (pa.ArrowException, OverflowError) as error:
                raise TypeError(f"{place}: groups of dtype {groups.dtype}: {first_line(error)}") from None
            except UnicodeError:
                texts = ((at, name) for at, name in enumerate(groups.tolist()) if isinstance(name, str))
                at, name = next((at, name) for at, name in texts if re.search("[\ud800-\udfff]", name))
                raise ValueError(f"source: row {start + at + 1}: the group {no_text(name)}") from None
            except BadCell as bad:
                raise ValueError(f"source: row {start + (bad.index or 0) + 1}: {bad}") from None
        return flags, score, group

    def group_order(self) -> tuple[NDArray[np.int64], list[Any]]:
        return ascending(list(self.codes))


def _group_names(groups: Any, place: str) -> NDArray[Any]:
    try:
        return as_column(groups, "groups")
    except (TypeError, ValueError) as error:
        raise type(error)(f"{place}: {error}") from None


def names_array(names: Sequence[Any]) -> NDArray[Any]:
    """Names of groups as an array; what is neither number nor text, or stands beside such, is text."""
    kinds = ((int, float, np.number, np.bool_), str, bytes)
    if not any(all(isinstance(name, kind) for name in names) for kind in kinds):
        names = [str(name) for name in names]
    return as_column(names, "groups")


def _encoded_groups(cells: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string_view(cells.type):
        cells = pc.cast(cells, pa.string())
    try:
        return encoded(cells)
    except pa.ArrowNotImplementedError:
        raise BadCell(None, f"it holds {cells.type}: groups must be numbers or texts") from None


def _whole(column: Any) -> Any:
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        return column.chunk(0) if column.num_chunks == 1 else pa.concnumberarrays(column.chunks) if column.num_chunks \
            else pa.array([], column.type)  # fmt: skip
    return column


def _arrays(source: tuple[Any, ...]) -> tuple[Callable[[], Iterator[Any]], int]:
    """Slices of arrays in memory or mapped to it, and how many items there are."""
    # Lists and what is masked are looked at as a whole; others may be too large for that.
    source = tuple(
        checked_array(array, name, what) if isinstance(array, (list, np.ma.MaskedArray)) else array
        for array, name, what in zip(source, ("y_true", "y_score"), (LABEL_RULE, SCORES), strict=False)
    ) + tuple(_group_names(array, "source") if isinstance(array, list) else array for array in source[2:])
    try:
        lengths = [len(array) for array in source]
    except TypeError as error:
        raise TypeError(f"source is a tuple of {', '.join(type(one).__name__ for one in source)}: {error}") from None
    if len(set(lengths)) > 1:
        raise ValueError(f"source has arrays of {' and '.join(map(str, lengths))} items: one label for each score")

    def slices() -> Iterator[Any]:
        for start in range(0, lengths[0], _ROWS):
            yield tuple(array[start : start + _ROWS] for array in source)

    return slices, lengths[0]


def _arrow(source: Any, columns: list[Column]) -> tuple[Callable[[], Iterator[Any]], int | None, bool]:
    """(function that gives batches, number of rows, whether reading is cheap)."""
    pa = needed("pyarrow", "reading this source")

    def wanted(names: list[str]) -> list[str] | None:
        """The columns to read; None for all, where numbers say which."""
        for column in columns:
            _found("source", names, column)
        asked = dict.fromkeys(column for column in columns if isinstance(column, str))
        return list(asked) if len(asked) == len({*columns}) and all(name in names for name in asked) else None

    if isinstance(source, pa.RecordBatchReader):
        return lambda: iter(source), None, False
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        return lambda: iter(source.to_batches(max_chunksize=_ROWS)), source.num_rows, True
    module = type(source).__module__
    if module.startswith("pyarrow._dataset"):
        if type(source).__name__ == "Scanner":
            wanted(source.projected_schema.names)
            return lambda: iter(source.to_batches()), None, False
        read = wanted(source.schema.names)
        cheap = getattr(getattr(source, "format", None), "default_extname", "") in ("parquet", "feather", "arrow")
        return lambda: source.to_batches(columns=read, batch_size=_ROWS), None, cheap
    if module.startswith("polars") and type(source).__name__ == "LazyFrame":
        picked = wanted(source.collect_schema().names())
        lazy = source if picked is None else source.select(picked)

        def collected() -> Iterator[Any]:
            frames = lazy.collect_batches() if hasattr(lazy, "collect_batches") else [lazy.collect(engine="streaming")]
            for frame in frames:
                yield from frame.to_arrow().to_batches(max_chunksize=_ROWS)

        return collected, None, False
    if "duckdb" in module and hasattr(source, "fetch_arrow_reader"):
        reader = getattr(source, "to_arrow_reader", source.fetch_arrow_reader)
        return lambda: iter(reader(_ROWS)), None, False
    if hasattr(source, "__arrow_c_stream__"):
        return lambda: iter(pa.RecordBatchReader.from_stream(source)), None, False
    raise TypeError(
        f"source is of type {type(source).__name__}: it must be a file, a folder, a glob, a list of files, an Arrow "
        "stream, table or dataset, a lazy query, a tuple of arrays, or a function that gives batches"
    )
