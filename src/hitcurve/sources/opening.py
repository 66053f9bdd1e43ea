"""Sources for `scan`: files, Arrow streams and datasets, lazy queries, arrays and functions."""

from __future__ import annotations

import glob
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hitcurve._base.checks import LABEL_RULE, SCORES, as_column, as_real, checked_array
from hitcurve._base.extras import Later, needed
from hitcurve._base.files import BROKEN, check_unchanged, file_kind, file_state, first_line, parquet_errors
from hitcurve._base.words import many
from hitcurve.curves.levels import LEVELS
from hitcurve.sources.cells import (
    Actives,
    BadCell,
    Layout,
    Rules,
    ascending,
    checked_labels,
    checked_levels,
    checked_scores,
    coded,
    converted,
    encoded,
    no_hits,
    no_text,
    whole,
)
from hitcurve.sources.pieces import Gaps, Piece, Source, Subtopics, Task, new_rows, piece_of
from hitcurve.sources.tables import TableReader, _found, columns_of, leaves_of, places_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hitcurve.sources.cells import Column

pa: Any = Later("pyarrow")

__all__ = ["FIRST_LEVELS", "OtherSchema", "Parquet", "names_array", "open_source"]

_ROWS = 1 << 20  # rows of a piece, if the source leaves the choice
FIRST_LEVELS = "grade=1 says that the first array holds levels"
_LONG_GROUP = 4 * _ROWS  # row groups with more rows are read in pieces


def open_source(source: Any, label: Column | None, score: Column | None, group: Column | None, *, nan_policy: str,
                workers: int, in_order: bool, unlabelled: bool, grade: Column | None, subtopics: Subtopics,
                layout: Layout, ids: Column | None = None, known: Actives | None = None) -> Source:  # fmt: skip
    """The source for the data of a caller.

    `in_order`: the rows are read one after the other. `unlabelled`: if there are no labels, no row is relevant.
    `subtopics`: the columns of the subtopics, or True for the columns of an array. Without subtopics it is None. `ids`:
    the column of the ids, if they are wanted. `known`: the ids of the relevant rows, in place of labels.
    """
    columns = () if subtopics is None or subtopics is True else subtopics
    listed = source if isinstance(source, list) else [source]
    if listed and all(isinstance(one, (str, os.PathLike)) for one in listed):
        if score is None:
            raise TypeError("score must name the column of the scores")
        reader = TableReader(_paths(listed), label, [score], group, unlabelled=unlabelled and label is None,
                             nan_policy=nan_policy, grade=grade, subtopics=columns, workers=workers, layout=layout,
                             ids=ids, actives=known)
        if ids is not None:
            return reader
        row_groups = Parquet(reader) if all_parquet(reader) else reader  # `Parquet` checks the schemas
        return reader if in_order else row_groups
    rules = layout.rules(nan_policy, label is not None)
    if layout.delimiter is not None:
        raise ValueError(f"delimiter={layout.delimiter!r} is for CSV and TSV files, but source is not such a file")
    if isinstance(source, tuple):
        if rules != Rules(nan_policy):
            raise ValueError("na, decimal and positive are for columns of text, but source is a tuple of arrays")
        if len(source) not in (2, 3):
            raise ValueError(f"source is a tuple of length {len(source)}: it must be (y_true, y_score) or (y_true, "
                             "y_score, groups)")
        slices, num_items = _arrays(source, LABEL_RULE if grade is None else LEVELS, subtopics is not None)
        return _Batches(slices, None, None, None, rules, rows=num_items, cheap=True, tuples=True, grade=grade,
                        subtopics=subtopics)
    if callable(source):
        return _Batches(lambda: iter(source()), label, score, group, rules, unlabelled=unlabelled, grade=grade,
                        subtopics=subtopics, ids=ids, known=known)
    if score is None:
        raise TypeError("score must name the column of the scores")
    wanted = [column for column in (label, grade, *columns, score, ids, group) if column is not None]
    open_, rows, cheap = _arrow(source, wanted)
    return _Batches(open_, label, score, group, rules, rows=rows, cheap=cheap, unlabelled=unlabelled, grade=grade,
                    subtopics=subtopics, ids=ids, known=known)


def _paths(listed: list[Any]) -> list[str]:
    """The files of paths, folders and globs."""
    paths: list[str] = []
    for one in listed:
        text = os.fspath(one)
        if os.path.isdir(text):
            found = []
            for folder, folders, names in os.walk(text):
                # Engines give such names to files that are not data.
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
        if path != "-" and not os.path.exists(path):
            raise FileNotFoundError(2, "No such file or directory", path)
        file_kind(path)
    return paths


def all_parquet(reader: TableReader) -> bool:
    """Whether `Parquet` can read these files: uncompressed Parquet, without options that change labels or scores."""
    return reader.rules.plain and all(file_kind(path)[1:] == ("parquet", None) for path in reader.paths)


class Parquet(Source):
    """The Parquet files of a reader. A task is a row group, and a pass decodes only the columns that it needs.

    The scores of a row group without relevant rows are decoded once, in the second pass. They are not decoded at all if
    they are integers between two thresholds. (Statistics ignore NaN, so they do not show this for floats.) The scores
    of other row groups are decoded in both passes, or kept if memory allows it.
    """

    cheap = True

    def __init__(self, reader: TableReader) -> None:
        self.label = [one for one in reader.roles if one[0] in ("label", "grade")]
        self.graded, self.rows_of_levels, self.names = reader.graded, reader.rows_of_levels, reader.names
        self.scores = [one for one in reader.roles if one[0] == "score"]
        self.rules = reader.rules
        self.nan_policy = self.rules.nan_policy
        self.threads = reader.workers == 1  # a single worker leaves the other cores to the decoder
        self.files: list[_ParquetFile] = []
        self.rows = 0
        self.local = threading.local()
        types: dict[Column, Any] = {}
        dtypes: list[set[np.dtype[Any]]] = [set() for _ in self.scores]
        for given in reader.paths:
            path = os.fspath(given)
            state = file_state(path)
            file = self._open(path)
            with parquet_errors(path):
                schema, metadata = file.schema_arrow, file.metadata
                _ = schema.names  # raises if a name is not UTF-8
            leaves: dict[str, list[list[int]]] = {"label": [], "grade": [], "score": []}
            places = places_of(path, schema.names, reader.roles)
            for (role, column), at in zip(reader.roles, places, strict=True):
                type_ = schema.field(at).type
                if types.setdefault(column, type_) != type_:
                    raise OtherSchema(f"{path}: column {column!r} is of type {type_}, but {types[column]} in "
                                      f"{reader.paths[0]}: the files must have one schema")
                if role == "group":
                    _checked_groups(type_, f"{path}: column {column!r}")
                else:
                    leaves[role].append(leaves_of(schema, at))
            _check_types(path, metadata, chain.from_iterable(chain.from_iterable(leaves.values())))
            for (_, column), known, found in zip(self.scores, dtypes, leaves["score"], strict=True):
                if self.nan_policy != "raise" and _nulls_among_integers(types[column], metadata, found):
                    known.add(np.dtype(np.float64))
            label = [*leaves["label"], *leaves["grade"]]
            self.files.append(_ParquetFile(path, metadata, label, leaves["score"], self.rows, state))
            self.rows += metadata.num_rows
            file.close()
        self.dtypes = tuple(dtypes)
        self.integers = all(pa.types.is_integer(types[column]) for _, column in self.scores)
        # The row groups whose scores were decoded and found valid, with the pieces that are kept.
        self.decoded: dict[tuple[int, int], list[Piece]] = {}
        self.room, self.lock = 0, threading.Lock()

    def place(self, row: int) -> str:
        at = max(at for at, file in enumerate(self.files) if file.start <= row)
        return f"{self.files[at].path}: row {row - self.files[at].start + 1}"

    def _open(self, path: str, metadata: Any = None) -> Any:
        parquet = needed("pyarrow.parquet", "Parquet")
        with parquet_errors(path):
            return parquet.ParquetFile(path, metadata=metadata, page_checksum_verification=True)

    def tasks(self, want: str, gaps: Gaps | None = None) -> Iterator[Task]:
        for at, file in enumerate(self.files):
            first = 0
            for group in range(file.metadata.num_row_groups):
                yield partial(self._read, want, at, group, first, gaps)
                first += file.metadata.row_group(group).num_rows

    def again(self, gaps: Gaps) -> Iterator[Task]:
        return self.tasks("score", gaps if self.integers else None)

    def keep(self, room: int) -> None:
        with self.lock:
            sizes = {where: sum(map(_size, pieces)) for where, pieces in self.decoded.items()}
            self.room = room - sum(sizes.values())
            for where, size in sizes.items():
                if self.room < 0:
                    self.decoded[where] = []
                    self.room += size

    def _reserved(self, where: tuple[int, int], size: int) -> bool:
        """Whether memory allows it to keep the scores of a row group, which are decoded now."""
        with self.lock:
            self.decoded[where] = []
            fits = size <= self.room
            self.room -= size if fits else 0
        return fits

    def _read(self, want: str, at: int, group: int, first: int, gaps: Gaps | None) -> Iterator[Piece]:
        path, metadata, label, scores, start, state = self.files[at]
        row_group, where = metadata.row_group(group), (at, group)
        rows, row = row_group.num_rows, first
        nothing = Piece(rows, (), tuple(np.empty(0, np.uint8) for _ in scores))
        if want == "relevant" and label and all(_bounds(row_group, leaves) == (0, 0) for leaves in label):
            yield nothing
            return
        before = self.decoded.get(where) if want == "score" else None
        if before:
            yield from before
            return
        if gaps is not None:
            bounds = [found for leaves in scores if (found := _bounds(row_group, leaves)) is not None]
            known = gaps(bounds) if len(bounds) == len(scores) else None
            if known is not None:
                check_unchanged(path, state)
                yield Piece(rows, gaps=known, start=start + first)
                return
        held = getattr(self.local, "file", None)
        if held is None or held[0] != at:
            if held is not None:
                held[1].close()
            held = self.local.file = (at, self._open(path, metadata))
        file = held[1].reader
        wanted = [*([] if want == "score" else leaves for leaves in label), *scores]
        # A row group that was decoded before has no missing score if missing scores are an error.
        policy = self.nan_policy if before is None else "worst"
        try:
            for cells in self._cells(want, file, group, rows, wanted):
                check_unchanged(path, state)  # the file must be the same as when it was opened
                if len(cells) < len(wanted):
                    yield nothing
                    return
                piece = self._converted(want, cells, at, row, policy)
                if want == "relevant":
                    if row == first:
                        keeps = self._reserved(where, rows * sum(score.itemsize for score in piece.scores))
                    if keeps:
                        self.decoded[where].append(Piece(piece.rows, piece.scores, start=piece.start))
                    piece = piece._replace(scores=())
                row += piece.rows
                yield piece
        except (*BROKEN, pa.ArrowException) as error:
            check_unchanged(path, state)
            raise ValueError(f"{path}: rows {first + 1} to {first + rows}: {first_line(error)}") from None

    def _cells(self, want: str, file: Any, group: int, rows: int, wanted: list[list[int]]) -> Iterator[list[Any]]:
        """The wanted columns of a row group, without scores if no row is relevant; in pieces if it is long."""
        if rows > _LONG_GROUP:
            yield from columns_of(file, wanted, _ROWS, [group], self.threads)
            return
        cells: list[Any] = []
        for leaves in wanted:
            cells.append(self._column(file, group, leaves) if leaves else None)
            if leaves and len(cells[-1]) != rows:
                held = many(len(cells[-1]), "rows", ",")
                raise pa.ArrowInvalid(f"a column holds {held}, but its row group says {rows:,}")
            if want == "relevant" and len(cells) == len(self.label) and all(map(no_hits, cells)):
                break
        yield cells

    def _column(self, file: Any, group: int, leaves: list[int]) -> Any:
        return whole(file.read_row_group(group, column_indices=leaves, use_threads=self.threads).column(0))

    def _converted(self, want: str, cells: list[Any], at: int, first: int, policy: str) -> Piece:
        path, start = self.files[at].path, self.files[at].start + first
        try:
            rules = self.rules._replace(nan_policy=policy)
            columns = len(self.label)
            label = None if want == "score" else self._labels(converted(self.label, cells[:columns], rules))
            scores = tuple(converted(self.scores, cells[columns:], rules))
            want = "both" if want == "relevant" else want
            return piece_of(want, scores, label, None, start, graded=self.graded)
        except BadCell as bad:
            raise bad.named(path, lambda index: f"row {first + index + 1}") from None


    def _labels(self, columns: list[Any]) -> Any:
        return columns[0] if self.rows_of_levels is None else self.rows_of_levels.numbers_of(columns)


class OtherSchema(ValueError):
    """A column has different types in different Parquet files."""


class _ParquetFile(NamedTuple):
    path: str
    metadata: Any
    label: list[list[int]]
    """The numbers of each column's leaves: of the labels, the levels, or the levels for each subtopic. Names need not
    be distinct."""
    scores: list[list[int]]
    start: int
    """The number of rows in the files before this file."""
    state: tuple[int, ...] | None


def _check_types(path: str, metadata: Any, leaves: Iterable[int]) -> None:
    """Raise an error if a row group has a column of another type than the file: its statistics would abort pyarrow."""
    with parquet_errors(path):
        for leaf, at in product(leaves, range(metadata.num_row_groups)):
            type_, other = metadata.schema.column(leaf).physical_type, metadata.row_group(at).column(leaf).physical_type
            if type_ != other:
                raise ValueError(f"{path}: cannot be read: row group {at + 1} has a column of {other}, not of {type_}")


def _bounds(group: Any, leaves: list[int]) -> tuple[Any, Any] | None:
    """The least and the greatest cell of a column in a row group, if the statistics have them and no cell is empty."""
    if len(leaves) != 1:
        return None
    column = group.column(leaves[0])
    known = column.statistics if column.physical_type in ("BOOLEAN", "INT32", "INT64") else None
    if known is None or not known.has_min_max or not known.has_null_count or known.null_count:
        return None
    return known.min, known.max


def _size(piece: Piece) -> int:
    return sum(score.nbytes for score in piece.scores)


def _nulls_among_integers(type_: Any, metadata: Any, leaves: list[int]) -> bool:
    """Whether the statistics say that a column of integers has empty cells, which makes its scores float64."""
    groups = range(metadata.num_row_groups) if pa.types.is_integer(type_) else ()
    statistics = (metadata.row_group(at).column(leaves[0]).statistics for at in groups)
    return any(known is not None and known.has_null_count and known.null_count for known in statistics)


def _checked_groups(type_: Any, place: str) -> None:
    plain = type_.value_type if pa.types.is_dictionary(type_) else type_
    if str(plain).split("[")[0] in ("binary", "large_binary", "fixed_size_binary", "binary_view") or (
        pa.types.is_nested(plain) or isinstance(plain, pa.BaseExtensionType)
    ):
        raise ValueError(f"{place}: the column holds {type_}: groups must be numbers or texts")


_Made = tuple["NDArray[Any] | None", "NDArray[Any]", "NDArray[np.int64] | None", Any]  # label, score, group, ids


class _Batches(Source):
    """Batches from a function: Arrow record batches, data frames, or tuples of arrays; `tuples`: only tuples."""

    def __init__(self, open_: Callable[[], Iterator[Any]], label: Column | None, score: Column | None,
                 group: Column | None, rules: Rules, *, rows: int | None = None, cheap: bool = False,
                 tuples: bool = False, unlabelled: bool = False, grade: Column | None = None,
                 subtopics: Subtopics = None, ids: Column | None = None,
                 known: Actives | None = None) -> None:  # fmt: skip
        self.ids, self.known = ids, known
        self.grade, self.graded = grade, grade is not None or subtopics is not None
        self.named = subtopics is not True  # if not, the first batch says how many subtopics there are
        self.names = () if subtopics is None or subtopics is True else tuple(subtopics)
        self.rows_of_levels = None if subtopics is None else new_rows()
        self.open, self.label, self.score, self.group = open_, label, score, group
        self.rules, self.nan_policy = rules, rules.nan_policy
        self.rows, self.cheap, self.tuples, self.unlabelled = rows, cheap, tuples, unlabelled
        self.codes: dict[Any, int] = {}  # the codes of the groups

    def tasks(self, want: str) -> Iterator[Task]:
        start = 0
        for given in self.open():
            for batch in self._split(given, start):
                try:
                    made = (self._arrays if isinstance(batch, tuple) else self._columns)(batch, start)
                except BadCell as bad:
                    raise bad.named("source", lambda index: f"row {start + index + 1}") from None  # noqa: B023
                label, score, group, ids = made
                piece = piece_of(want, (score,), label, group, start, ids, graded=self.graded)
                start += piece.rows
                yield lambda piece=piece: (piece,)  # type: ignore[misc]
        if want != "score":
            self.rules.check_met("source")

    def _split(self, batch: Any, start: int) -> Iterable[Any]:
        """A batch of the source, as tuples or Arrow data."""
        if isinstance(batch, tuple):
            if not self.tuples and (self.label, self.score) != (None, None):
                raise ValueError("label and score name columns, but the source gives tuples of arrays")
            if not self.tuples and self.rules != Rules(self.nan_policy):
                raise ValueError("na, decimal and positive are for columns of text, but the source gives tuples of "
                                 "arrays")
            if self.grade is not None and self.grade != 1:
                raise ValueError(f"grade is {self.grade!r}, but the source gives tuples of arrays: {FIRST_LEVELS}")
            return (batch,)
        stream, array = hasattr(batch, "__arrow_c_stream__"), hasattr(batch, "__arrow_c_array__")
        if self.tuples or not (stream or array):
            raise TypeError(f"source: row {start + 1}: the batch is of type {type(batch).__name__}: it must be an "
                            "Arrow record batch, a data frame, or a tuple (labels, scores)")
        if self.score is None:
            raise TypeError("score must name the column of the scores")
        if not self.named:
            raise TypeError("subtopics=True is for arrays: name the column of each subtopic")
        if self.label is None and not self.graded and not self.unlabelled and self.known is None:
            raise TypeError("label must name the column of the labels (or give actives in place of label)")
        pa = needed("pyarrow", "reading this source")
        if isinstance(batch, (pa.RecordBatch, pa.Table)):
            return (batch,)
        try:
            where = f"source: row {start + 1}"
            read: Iterable[Any] = _stream(batch, where) if stream else (pa.record_batch(batch),)
        except UnicodeEncodeError as error:
            raise ValueError(f"source: row {start + 1} or below: {no_text(error.object)}") from None
        return read

    def _columns(self, batch: Any, start: int) -> _Made:
        named = (("label", self.label), ("grade", self.grade), *(("grade", column) for column in self.names),
                 ("score", self.score), ("ids", self.ids), ("group", self.group))  # fmt: skip
        roles = [(role, column) for role, column in named if column is not None]
        cells = [whole(batch.column(place)) for place in places_of("source", batch.schema.names, roles)]
        if self.group is not None:
            _checked_groups(cells[-1].type, f"source: column {self.group!r}")
        values = converted(roles, cells, self.rules)
        of = {role: value for (role, _), value in zip(roles, values, strict=True)}
        if self.rows_of_levels is not None:
            of["grade"] = self.rows_of_levels.numbers_of(values[: len(self.names)])
        group = coded(of["group"], self.codes, self.group) if "group" in of else None
        label, ids = of.get("label", of.get("grade")), of.get("ids")
        if self.known is not None:
            label = self.known.labels(ids, group, self.codes)
        return label, of["score"], group, ids

    def _arrays(self, batch: tuple[Any, ...], start: int) -> _Made:
        place = f"source: row {start + 1}"
        if len(batch) not in ((2, 3) if self.group is None else (3,)):
            raise ValueError(f"{place}: the batch has {len(batch)} arrays: it must be (labels, scores) "
                             "or, with group=, (labels, scores, groups)")  # fmt: skip
        if len(batch) == 3 and self.group is None and not self.tuples:
            raise ValueError(f"{place}: the batch has 3 arrays, but group is not given: write group=3 if the third "
                             "array holds groups")
        by_subtopic = self.rows_of_levels is not None
        try:
            if by_subtopic:
                labels = self._by_subtopic(batch[0])
            else:
                labels = checked_array(batch[0], "y_true", LEVELS if self.graded else LABEL_RULE)
            score = checked_array(batch[1], "y_score", SCORES)
            groups = as_column(batch[2], "groups") if len(batch) == 3 else None
        except (TypeError, ValueError) as error:
            raise type(error)(f"{place}: {error}") from None
        if labels.shape[0] != score.shape[0]:
            raise ValueError(f"{place}: y_true has {many(labels.shape[0], 'items')}, y_score has {score.shape[0]}")
        if groups is not None and groups.shape != score.shape:
            raise ValueError(f"{place}: y_score has shape {score.shape}, groups has shape {groups.shape}")
        if by_subtopic:
            label = self._numbers(labels)
        else:
            label = (checked_levels if self.graded else checked_labels)(labels, labels.__getitem__)
        checked_scores(score, self.nan_policy, score.__getitem__)
        if groups is None:
            return label, score, None, None
        pa = needed("pyarrow", "a scan of groups")
        try:
            native = groups.astype(groups.dtype.newbyteorder("="), copy=False)  # Arrow needs native bytes
            return label, score, coded(encoded(pa.array(native)), self.codes), None
        except (pa.ArrowException, OverflowError) as error:
            raise TypeError(f"{place}: groups of dtype {groups.dtype}: {first_line(error)}") from None
        except UnicodeError:
            texts = ((at, name) for at, name in enumerate(groups.tolist()) if isinstance(name, str))
            at, name = next((at, name) for at, name in texts if re.search("[\ud800-\udfff]", name))
            raise BadCell(at, f"the group {no_text(name)}") from None

    def _by_subtopic(self, levels: Any) -> NDArray[Any]:
        """The levels of a batch, a column for each subtopic."""
        found: NDArray[Any] = as_real(levels, "y_true", LEVELS)
        if found.ndim == 2 and not self.named:
            self.names, self.named = tuple(range(found.shape[1])), True
        if found.ndim != 2 or not self.named or found.shape[1] != len(self.names):
            needed = f"a level for each of {many(len(self.names), 'subtopics')}" if self.named else "two axes"
            raise ValueError(f"y_true has shape {found.shape}: it needs {needed}")
        return found

    def _numbers(self, levels: NDArray[Any]) -> Any:
        """The number of each row of levels."""
        assert self.rows_of_levels is not None
        columns = []
        for name, column in zip(self.names, levels.T, strict=True):
            try:
                columns.append(checked_levels(column, column.__getitem__))
            except BadCell as bad:
                bad.column = name
                raise
        return self.rows_of_levels.numbers_of(columns)

    def group_order(self) -> tuple[NDArray[np.int64], list[Any]]:
        return ascending(list(self.codes))


def names_array(names: Sequence[Any]) -> NDArray[Any]:
    """Names of groups as an array. Names that are not all numbers, all strings or all bytes become strings."""
    kinds = ((int, float, np.number, np.bool_), str, bytes)
    if not any(all(isinstance(name, kind) for name in names) for kind in kinds):
        names = [str(name) for name in names]
    return as_column(names, "groups")


def _arrays(source: tuple[Any, ...], rule: str, by_subtopic: bool) -> tuple[Callable[[], Iterator[Any]], int]:
    """(a function that gives slices of the arrays, the number of items)."""
    # Lists and masked arrays are checked as a whole. Other arrays may be too large for that.
    first = as_real if by_subtopic else checked_array
    source = tuple(
        check(array, name, what) if isinstance(array, (list, np.ma.MaskedArray)) else array
        for array, name, what, check in zip(source, ("y_true", "y_score"), (rule, SCORES), (first, checked_array),
                                            strict=False)
    ) + tuple(as_column(array, "source: groups") if isinstance(array, list) else array for array in source[2:])
    try:
        lengths = [len(array) for array in source]
    except TypeError as error:
        raise TypeError(f"source is a tuple of {', '.join(type(one).__name__ for one in source)}: {error}") from None
    if len(set(lengths)) > 1:
        shown = " and ".join(map(str, lengths))
        raise ValueError(f"source has arrays of different lengths, {shown}: each score needs one label")

    def slices() -> Iterator[Any]:
        for start in range(0, lengths[0], _ROWS):
            yield tuple(array[start : start + _ROWS] for array in source)

    return slices, lengths[0]


def _stream(source: Any, where: str) -> Any:
    """The batches of a source; an error for column types that Arrow lacks, such as polars' integers of 128 bits."""
    pa = needed("pyarrow", "reading this source")
    try:
        return pa.RecordBatchReader.from_stream(source)
    except pa.ArrowInvalid as error:
        raise TypeError(f"{where}: Arrow cannot read a column ({first_line(error)}): cast the column") from None


def _arrow(source: Any, columns: list[Column]) -> tuple[Callable[[], Iterator[Any]], int | None, bool]:
    """(a function that gives batches, the number of rows, whether reading again is cheap)."""
    pa = needed("pyarrow", "reading this source")

    def wanted(names: list[str]) -> list[str] | None:
        """The columns to read; None (all columns) if a column is given by number."""
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
        return lambda: iter(_stream(source, "source")), None, False
    raise TypeError(f"source is of type {type(source).__name__}: it must be a file, a folder, a glob, a list of files, "
                    "an Arrow stream, table or dataset, a lazy query, a tuple of arrays, or a function that gives "
                    "batches")
