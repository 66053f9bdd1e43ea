"""What can be scanned: files, Arrow streams and datasets, lazy queries, arrays and functions, as pieces of a few rows.

A `Source` gives tasks, in the order of the rows; a task, called in any thread, gives pieces. Only the columns that a
pass wants are decoded. What is wrong with a row is a ValueError that names file, row and column.
"""

from __future__ import annotations

import glob
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hitcurve.tables import (
    Batch,
    Column,
    TableReader,
    _BadCell,
    _encoded,
    _first_line,
    _found,
    _has_nan,
    _kind,
    _labels,
    _scores,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Piece", "Source", "open_source"]

_ROWS = 1 << 20  # rows of a piece, where the source leaves the choice
_LONG_GROUP = 4 * _ROWS  # row groups beyond this are read in pieces


class Piece(NamedTuple):
    """Some rows, with what was asked for."""

    rows: int
    relevant: NDArray[Any] | None = None
    """Scores of the relevant rows."""
    score: NDArray[Any] | None = None
    label: NDArray[np.uint8] | None = None
    group: NDArray[np.int64] | None = None
    start: int = 0
    """Rows of the source before these, where rows were asked for in order."""


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
        Reading again costs less than a copy on disk.
    once : bool
        It cannot be read again.
    """

    rows: int | None = None
    guess: int | None = None
    cheap = False
    once = False

    def tasks(self, want: str) -> Iterator[Task]:
        """Of the rows, "relevant": the relevant scores; "score": the scores; "both"; "rows": all columns, in order."""
        raise NotImplementedError

    def group_order(self) -> tuple[NDArray[np.int64], list[Any]]:
        """The place of each group code among the groups met, ascending, and their names."""
        raise NotImplementedError


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
) -> Source:
    """The source for what a caller gave; `in_order`: its rows must come one after the other."""
    if isinstance(source, (str, os.PathLike)) or (
        isinstance(source, list) and source and all(isinstance(one, (str, os.PathLike)) for one in source)
    ):
        paths = _paths(source)
        if score is None:
            raise TypeError("score must say in which column of the files the scores are")
        plain = all(_kind(path)[1:] == ("parquet", None) for path in paths)
        if plain and not in_order:
            return _Parquet(paths, label, score, nan_policy, workers)
        if plain:
            _Parquet(paths, label, score, nan_policy, workers, group)  # one schema, or an error before any row is read
        return _Files(paths, label, score, group, nan_policy, header, workers)
    if isinstance(source, tuple):
        if len(source) not in (2, 3):
            raise ValueError(f"source is a tuple of {len(source)}: it must be (y_true, y_score) or with groups third")
        return _Batches(_arrays(source), None, None, None, nan_policy, rows=len(source[1]), cheap=True)
    if callable(source):
        return _Batches(lambda: iter(source()), label, score, group, nan_policy)
    if score is None:
        raise TypeError("score must say in which column the scores are")
    named = [column for column in (label, score, group) if column is not None]
    open_, rows, cheap, once = _arrow(source, named)
    return _Batches(open_, label, score, group, nan_policy, rows=rows, cheap=cheap, once=once)


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
        _kind(path)
        if path != "-" and not os.path.exists(path):
            raise FileNotFoundError(2, "No such file or directory", path)
    return paths


def _piece(want: str, score: NDArray[Any], label: NDArray[np.uint8] | None) -> Piece:
    relevant = None
    if want != "score" and label is not None:
        relevant = score[np.flatnonzero(label.view(np.bool_))]
    return Piece(score.shape[0], relevant, None if want == "relevant" else score)


class _Parquet(Source):
    """Parquet files: a task is a row group, and a pass decodes the columns that it needs."""

    cheap = True

    def __init__(
        self, paths: list[str], label: Column | None, score: Column, nan_policy: str, workers: int,
        group: Column | None = None,
    ) -> None:  # fmt: skip
        self.paths, self.label, self.score, self.nan_policy = paths, label, score, nan_policy
        self.threads = workers == 1  # a single worker leaves the other cores to the decoder
        self.files: list[tuple[str, Any, str | None, str]] = []
        self.rows = 0
        self.local = threading.local()
        types: dict[Column, Any] = {}
        for path in paths:
            file = self._open(path)
            schema = file.schema_arrow
            for column in (label, score, group):
                if column is None:
                    continue
                type_ = schema.field(_found(path, schema.names, column)).type
                if types.setdefault(column, type_) != type_:
                    raise ValueError(
                        f"{path}: column {column!r} is of type {type_}, but {types[column]} in {paths[0]}: the files "
                        "must have one schema"
                    )
            names = schema.names
            found = [None if column is None else names[_found(path, names, column)] for column in (label, score)]
            for name in found:
                if name is not None and names.count(name) > 1:
                    raise ValueError(f"{path}: {names.count(name)} columns are called {name!r}")
            self.files.append((path, file.metadata, found[0], str(found[1])))
            self.rows += file.metadata.num_rows
            file.close()

    def _open(self, path: str, metadata: Any = None) -> Any:
        import pyarrow as pa
        from pyarrow import parquet

        try:
            return parquet.ParquetFile(path, metadata=metadata)
        except (pa.ArrowInvalid, OSError) as error:
            if getattr(error, "filename", None) is not None:
                raise
            raise ValueError(f"{path}: cannot be read: {_first_line(error)}") from None

    def tasks(self, want: str) -> Iterator[Task]:
        for at, (_, metadata, _, _) in enumerate(self.files):
            first = 0
            for group in range(metadata.num_row_groups):
                yield lambda at=at, group=group, first=first: self._read(want, at, group, first)  # type: ignore[misc]
                first += metadata.row_group(group).num_rows

    def _read(self, want: str, at: int, group: int, first: int) -> Iterator[Piece]:
        path, metadata, label, score = self.files[at]
        rows = metadata.row_group(group).num_rows
        held = getattr(self.local, "file", None)
        if held is None or held[0] != at:
            if held is not None:
                held[1].close()
            held = self.local.file = (at, self._open(path, metadata))
        file = held[1]
        if want == "relevant" and _without_hits(metadata.row_group(group), label):
            yield Piece(rows, np.empty(0, np.uint8))
            return
        try:
            if rows > _LONG_GROUP:
                columns = [score] if want == "score" else list(dict.fromkeys([score, label]))
                for batch in file.iter_batches(_ROWS, [group], columns, use_threads=self.threads):
                    yield self._converted(want, batch.column(score), None if want == "score" else batch.column(label),
                                          path, first)  # fmt: skip
                    first += batch.num_rows
                return
            labels = scores = None
            if want != "score":
                labels = self._column(file, group, label)
                if want == "relevant" and labels.type == "bool" and not labels.null_count and not labels.true_count:
                    yield Piece(rows, np.empty(0, np.uint8))
                    return
            scores = self._column(file, group, score)
        except (OSError, _arrow_error()) as error:
            raise ValueError(f"{path}: rows {first + 1} to {first + rows}: {_first_line(error)}") from None
        yield self._converted(want, scores, labels, path, first)

    def _column(self, file: Any, group: int, name: str | None) -> Any:
        import pyarrow as pa

        column = file.read_row_group(group, columns=[name], use_threads=self.threads).column(0)
        return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)

    def _converted(self, want: str, scores: Any, labels: Any, path: str, first: int) -> Piece:
        import pyarrow.compute as pc

        column = self.label
        try:
            flags = None
            if want != "score":
                if labels.type == "bool" and not labels.null_count:
                    places = pc.indices_nonzero(labels)
                else:
                    flags = _labels(labels)
                    places = np.flatnonzero(flags.view(np.bool_))
                column = self.score
                if want == "relevant":
                    # The other scores are looked at when they are counted.
                    relevant = _scores(scores.take(places), "worst")
                    return Piece(len(scores), relevant)
            column = self.score
            score = _scores(scores, self.nan_policy)
            return Piece(len(scores), None if want == "score" else score[np.asarray(places)], score)
        except _BadCell as bad:
            place = "" if bad.index is None else f"row {first + bad.index + 1}, "
            raise ValueError(f"{path}: {place}column {column!r}: {bad}") from None


def _without_hits(group: Any, label: str | None) -> bool:
    """Whether the statistics of a row group say that all its labels are 0 or false."""
    for at in range(group.num_columns):
        column = group.column(at)
        if column.path_in_schema == label:
            known = column.statistics if column.physical_type in ("BOOLEAN", "INT32", "INT64") else None
            return (known is not None and known.has_min_max and known.has_null_count and known.null_count == 0
                    and known.min == known.max == 0)  # fmt: skip
    return False


def _arrow_error() -> type[Exception]:
    import pyarrow as pa

    error: type[Exception] = pa.ArrowException
    return error


class _Unlabelled(TableReader):
    """Scores alone: no row is relevant."""

    def __init__(self, paths: list[str], score: Column, nan_policy: str, header: bool, workers: int) -> None:
        super().__init__(paths, score, [score], nan_policy=nan_policy, header=header, workers=workers)
        self._roles = [("score", score)]
        self.asked = [score]

    def _batch(self, values: list[Any], shown: str) -> Batch:
        return Batch(np.zeros(values[0].shape[0], np.uint8), (values[0],), None, None)


class _Files(Source):
    """Files read row by row, in order, by `TableReader`, which parses text in threads of its own."""

    def __init__(
        self, paths: list[str], label: Column | None, score: Column, group: Column | None, nan_policy: str,
        header: bool, workers: int,
    ) -> None:  # fmt: skip
        self.once = "-" in paths
        self.paths = paths
        if label is None:
            self.reader: TableReader = _Unlabelled(paths, score, nan_policy, header, workers)
        else:
            self.reader = TableReader(
                paths, label, [score], group, nan_policy=nan_policy, header=header, workers=workers
            )
        self.guess = _guessed_rows(paths)

    def tasks(self, want: str) -> Iterator[Task]:
        start = 0
        for batch in self.reader:
            score = batch.scores[0]
            if want == "rows":
                piece = Piece(score.shape[0], None, score, batch.label, batch.group, start)
            else:
                piece = _piece(want, score, batch.label)
            start += score.shape[0]
            yield lambda piece=piece: (piece,)  # type: ignore[misc]

    def group_order(self) -> tuple[NDArray[np.int64], list[Any]]:
        return self.reader.ordered_groups()


def _guessed_rows(paths: list[str]) -> int | None:
    """From the lines of the first megabyte of each text file that is not compressed."""
    rows = 0
    for path in paths:
        if path == "-" or _kind(path)[2] is not None or _kind(path)[1] in ("parquet", "sdf"):
            return None
        with open(path, "rb") as file:
            start = file.read(1 << 20)
        if start:
            rows += round(os.path.getsize(path) * start.count(b"\n") / len(start))
    return rows


class _Batches(Source):
    """Batches from a function: Arrow record batches, or tuples of arrays."""

    def __init__(
        self, open_: Callable[[], Iterator[Any]], label: Column | None, score: Column | None, group: Column | None,
        nan_policy: str, *, rows: int | None = None, cheap: bool = False, once: bool = False,
    ) -> None:  # fmt: skip
        self.open, self.label, self.score, self.group, self.nan_policy = open_, label, score, group, nan_policy
        self.rows, self.cheap, self.once = rows, cheap, once
        self.names: list[Any] = []
        self.codes: dict[Any, int] = {}

    def tasks(self, want: str) -> Iterator[Task]:
        start = 0
        for batch in self.open():
            label, score, group = self._columns(batch, start)
            if want == "rows":
                piece = Piece(score.shape[0], None, score, label, group, start)
            else:
                piece = _piece(want, score, label)
            start += score.shape[0]
            yield lambda piece=piece: (piece,)  # type: ignore[misc]

    def _columns(self, batch: Any, start: int) -> tuple[NDArray[np.uint8], NDArray[Any], NDArray[np.int64] | None]:
        if isinstance(batch, tuple):
            return self._arrays(batch, start)
        if not hasattr(batch, "schema"):
            raise TypeError(
                f"the source gave a batch of type {type(batch).__name__}: it must be an Arrow record batch, or a tuple "
                "(labels, scores)"
            )
        if self.score is None:
            raise TypeError("score must say in which column the scores are")
        names = batch.schema.names
        column: Column | None = self.label
        try:
            score = label = group = None
            if self.label is not None:
                label = _labels(_whole(batch.column(_found("source", names, self.label))))
            column = self.score
            score = _scores(_whole(batch.column(_found("source", names, self.score))), self.nan_policy)
            if self.group is not None:
                column = self.group
                group = self._coded(_encoded(_whole(batch.column(_found("source", names, self.group)))))
        except _BadCell as bad:
            place = "" if bad.index is None else f"row {start + bad.index + 1}, "
            raise ValueError(f"source: {place}column {column!r}: {bad}") from None
        return np.zeros(score.shape[0], np.uint8) if label is None else label, score, group

    def _arrays(
        self, batch: tuple[Any, ...], start: int
    ) -> tuple[NDArray[np.uint8], NDArray[Any], NDArray[np.int64] | None]:
        if len(batch) not in ((2, 3) if self.group is None else (3,)):
            raise ValueError(f"source: row {start + 1}: a batch of {len(batch)} arrays: it must be (labels, scores) "
                             "or with groups third, if there is a group")  # fmt: skip
        labels, score = np.asarray(batch[0]), np.asarray(batch[1])
        if labels.shape != score.shape or score.ndim != 1:
            raise ValueError(f"source: row {start + 1}: labels have shape {labels.shape}, scores {score.shape}: "
                             "a batch is one-dimensional, with a score for each label")  # fmt: skip
        for array, what in ((labels, "labels must be 0 or 1, False or True"), (score, "scores must be real numbers")):
            if array.dtype.kind not in "biuf":
                raise TypeError(f"source: row {start + 1}: dtype {array.dtype}: {what}")
        flags = labels.view(np.uint8) if labels.dtype == np.bool_ else (labels == 1).view(np.uint8)
        if labels.dtype != np.bool_:
            fine = flags.view(np.bool_) | (labels == 0)
            if not fine.all():
                at = int(np.argmin(fine))
                raise ValueError(f"source: row {start + at + 1}: the label is {labels[at]}: labels must be 0 or 1")
        if self.nan_policy == "raise" and _has_nan(score):
            at = int(np.argmax(np.isnan(score)))
            raise ValueError(f"source: row {start + at + 1}: the score is nan, which has no rank: rank such rows last "
                             "(nan_policy 'worst') or leave them out ('omit')")  # fmt: skip
        group = None
        if len(batch) > 2:
            import pyarrow as pa

            groups = np.asarray(batch[2])
            if groups.shape != score.shape:
                raise ValueError(f"source: row {start + 1}: scores have shape {score.shape}, groups {groups.shape}")
            try:
                group = self._coded(_encoded(pa.array(groups)))
            except (pa.ArrowNotImplementedError, OverflowError) as error:
                raise TypeError(f"source: row {start + 1}: groups of dtype {groups.dtype}: {error}") from None
            except _BadCell as bad:
                raise ValueError(f"source: row {start + (bad.index or 0) + 1}: {bad}") from None
        return flags, score, group

    def _coded(self, cells: Any) -> NDArray[np.int64]:
        indices = cells.indices.to_numpy()
        code = np.zeros(len(cells.dictionary), np.int64)
        for used in np.unique(indices).tolist():
            name = cells.dictionary[used].as_py()
            code[used] = self.codes.setdefault(name, len(self.codes))
            if code[used] == len(self.names):
                self.names.append(name)
        coded: NDArray[np.int64] = code[indices]
        return coded

    def group_order(self) -> tuple[NDArray[np.int64], list[Any]]:
        key = (lambda at: self.names[at]) if len({type(name) for name in self.names}) < 2 else (
            lambda at: str(self.names[at]))  # fmt: skip
        order = sorted(range(len(self.names)), key=key)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return rank, [self.names[at] for at in order]


def _whole(column: Any) -> Any:
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks) if column.num_chunks \
            else pa.array([], column.type)  # fmt: skip
    return column


def _arrays(source: tuple[Any, ...]) -> Callable[[], Iterator[Any]]:
    """Slices of arrays in memory or mapped to it."""
    lengths = [len(array) for array in source]
    if len(set(lengths)) > 1:
        raise ValueError(f"source has arrays of {' and '.join(map(str, lengths))} items: one label for each score")

    def slices() -> Iterator[Any]:
        for start in range(0, lengths[0], _ROWS):
            yield tuple(array[start : start + _ROWS] for array in source)

    return slices


def _arrow(source: Any, columns: list[Column]) -> tuple[Callable[[], Iterator[Any]], int | None, bool, bool]:
    """(function that gives batches, number of rows, whether reading is cheap, whether it can be read only once)."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise ImportError('reading this source needs pyarrow: pip install "hitcurve[files]"') from error

    names = [column for column in columns if isinstance(column, str)]
    by_name = len(names) == len(columns)
    if isinstance(source, pa.RecordBatchReader):
        return lambda: iter(source), None, False, True
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        return lambda: iter(source.to_batches(max_chunksize=_ROWS)), source.num_rows, True, False
    module = type(source).__module__
    if module.startswith("pyarrow._dataset"):
        wanted = {name: None for name in names if name in source.schema.names} if by_name else None
        cheap = getattr(getattr(source, "format", None), "default_extname", "") in ("parquet", "feather", "arrow")
        return (
            lambda: source.to_batches(columns=list(wanted) if wanted else None, batch_size=_ROWS), None, cheap, False
        )  # fmt: skip
    if module.startswith("polars") and type(source).__name__ == "LazyFrame":
        lazy = source.select(list(dict.fromkeys(names))) if by_name else source

        def collected() -> Iterator[Any]:
            frames = lazy.collect_batches() if hasattr(lazy, "collect_batches") else [lazy.collect(engine="streaming")]
            for frame in frames:
                yield from frame.to_arrow().to_batches(max_chunksize=_ROWS)

        return collected, None, False, False
    if "duckdb" in module and hasattr(source, "fetch_arrow_reader"):
        read = getattr(source, "to_arrow_reader", source.fetch_arrow_reader)
        return lambda: iter(read(_ROWS)), None, False, False
    if hasattr(source, "__arrow_c_stream__"):
        return lambda: iter(pa.RecordBatchReader.from_stream(source)), None, False, not hasattr(source, "__len__")
    raise TypeError(
        f"source is of type {type(source).__name__}: it must be a file, a folder, a glob, a list of files, an Arrow "
        "stream, table or dataset, a lazy query, a tuple of arrays, or a function that gives batches"
    )
