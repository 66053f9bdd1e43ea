"""Labels and scores from files, batch by batch: CSV, TSV, Parquet, SMILES with scores, SDF; one row an item.

`TableReader` is the one place where columns are read: it is iterated for `Batch` after `Batch`, and may be iterated
again for a second pass. `read_columns` is all of a small file at once.
"""

from __future__ import annotations

import csv
import io
import itertools
import os
import re
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hitcurve._checks import LABEL_RULE, NO_RANK, check_options, unchanged
from hitcurve._extras import needed
from hitcurve._workers import check_workers, in_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Batch", "Columns", "TableReader", "Types", "read_columns", "read_ids"]

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_PARQUET = (".parquet", ".pq")
_SMILES = (".smi", ".smiles", ".ism")
_SDF = (".sdf", ".sd")
_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}
# An index into this list is odd for a relevant item.
_LABELS = ("0", "1", "false", "true", "0.0", "1.0")
_MISSING = ("", "nan", "na", "null")


def _cases(words: tuple[str, ...]) -> list[str]:
    """Each word in every mixture of small and capital letters."""
    return ["".join(letters) for word in words for letters in itertools.product(*({c, c.upper()} for c in word))]


# What Arrow's converters are given to know the same.
_KNOWN = {
    "null_values": _cases(_MISSING),
    "true_values": _cases(_LABELS[1::2]),
    "false_values": _cases(_LABELS[::2]),
}
# Text is read in slabs of whole rows: one for each thread, small enough for its cache.
_SLAB = 2 << 20
_FIRST_SLAB = 1 << 16  # read the slow way
# A quoted cell longer than this is a quotation mark that was never closed.
_LONGEST = 64 << 20
_PARQUET_ROWS = 1 << 18
_LARGE = 2.0**53  # a float64 from here on may stand for several integers
_TITLE = "_Name"  # RDKit's word for the first line of an SDF record

Column = str | int
Path = str | os.PathLike[str]


class Batch(NamedTuple):
    """Some rows of a file, in file order."""

    label: NDArray[np.uint8]
    """1 for a relevant item, else 0."""
    scores: tuple[NDArray[Any], ...]
    """One array a score column: int64 or float64 from text, from Parquet the type of the file. A missing score is NaN.
    The type may differ from batch to batch (integers first, then a fraction)."""
    group: NDArray[np.int64] | None
    """The row's place in `TableReader.group_names`; None if no group was asked for."""
    ids: Any | None
    """The ids as a pyarrow array of strings; None if none were asked for."""


class Columns(NamedTuple):
    """The columns of a file, one entry a data row, in file order."""

    label: NDArray[np.uint8]
    """1 for a relevant item, else 0."""
    score: NDArray[Any]
    """int64 for integers, else float64; from Parquet, the type of the file. A missing score is NaN. Batches of several
    types have one that holds all scores exactly."""
    group: NDArray[np.int64] | None
    """The row's place in `group_names`; None if no group was asked for."""
    group_names: list[Any]
    """The distinct groups, ascending; from text, integers if all are, else strings."""


class _BadCell(Exception):
    """A cell that cannot be used: its place in the batch (None: the whole column), and what is wrong with it."""

    def __init__(self, index: int | None, problem: str) -> None:
        super().__init__(problem)
        self.index = index
        self.column: Column | None = None  # None: the whole row


class Types:
    """The types in which the batches of one column of scores come, and the one that holds all of them exactly.

    Parameters
    ----------
    known : iterable of dtype
        Types that are known to come.
    """

    def __init__(self, known: Iterable[np.dtype[Any]] = ()) -> None:
        self.known = set(known)
        self._low = self._high = 0  # of the integers
        self._odd: int | None = None  # an integer that no float64 holds
        self._lock = threading.Lock()

    def add(self, score: NDArray[Any], where: Callable[[], str]) -> np.dtype[Any]:
        """The type that holds this batch and all before; if there is none, a ValueError that begins with `where()`."""
        if not score.shape[0]:
            return self.common()
        low = high = 0
        odd = None
        if score.dtype.kind in "iu":
            low, high = int(score.min()), int(score.max())
            if self._odd is None and max(-low, high) > 1 << 53:
                at = _rounded(score)
                odd = None if at is None else int(score[at])
        with self._lock:
            others = ", ".join(sorted(str(one) for one in self.known - {score.dtype}))
            self.known.add(score.dtype)
            self._low, self._high = min(self._low, low), max(self._high, high)
            self._odd = odd if self._odd is None else self._odd
            dtype = self.common()
        if dtype.kind == "f" and self._odd is not None:
            raise ValueError(
                f"{where()}: scores of dtype {score.dtype}, after others of dtype {others}: no type holds all of them "
                f"exactly ({self._odd} is no float64): give all scores one type"
            )
        return dtype

    def common(self) -> np.dtype[Any]:
        """The type of all batches so far; float64 where none has come."""
        kinds = {dtype.kind for dtype in self.known}
        if "f" in kinds or not kinds:
            one = np.result_type(*self.known) if kinds else np.dtype(np.float64)
            return np.dtype(np.float32 if one.itemsize <= 4 else np.float64)
        if np.dtype(np.uint64) not in self.known or (self._low < 0 and self._high < 1 << 63):
            return np.dtype(np.int64)
        return np.dtype(np.float64 if self._low < 0 else np.uint64)


def _rounded(score: NDArray[Any]) -> int | None:
    """The place of the first integer that no float64 holds."""
    if unchanged(score, np.dtype(np.float64)) is not None:
        return None
    return next(at for at, number in enumerate(map(int, score)) if int(float(number)) != number)


class TableReader:
    """The columns asked for of one or several files, and no others, as batches; each iteration reads the files again.

    Parameters
    ----------
    paths : sequence of str or path
        ``.csv``, ``.tsv``, ``.tab``, ``.parquet``, ``.pq``, ``.smi``, ``.smiles``, ``.ism``, ``.sdf`` or ``.sd``, each
        also with ``.gz``, ``.zst`` or ``.zstd`` after it; read one after the other. ``"-"`` is standard input, read as
        CSV, once.
    label : str, int or None
        The column of labels, by name or by number from 1 (a text of digits is a number unless a column has that
        name): 0/1 or true/false in any case. None with `actives`.
    scores : sequence of str or int
        The columns of scores: numbers; ``inf`` is one. An empty cell, ``nan``, ``NA`` and ``null`` are missing scores.
        Scores written as text are int64, exact, if every one in the batch is such an integer, else float64. Integers
        beside missing scores are float64. Decimals are int64 without a fraction, else the nearest float64. An integer
        that no float64 holds, but must become one, is an error, as is a decimal whose digits no float64 holds.
    group, ids : str, int or None
        A column of groups, and one of ids. SDF has no numbers; there ``_Name`` is the first line of a record.
    actives : iterable of str, optional
        The ids of the relevant items; `ids` is needed then.
    by_file : bool
        Each file is a group of its own, named as the file is; by its path if two files have one name.
    nan_policy : {"raise", "worst", "omit"}
        ``"raise"``: a missing score is an error. Otherwise it is NaN in the batch.
    header : bool
        Whether the first line of a CSV or TSV file holds the column names. Parquet always has them; of a SMILES file
        it is found out (a column asked for by name, or a first line without a number for a score).
    workers : int
        Threads, -1 for all cores. The batches do not depend on it.

    Attributes
    ----------
    group_names : list
        The groups met so far, in the order in which they came; a group keeps its place when the files are read again.
    found : set of str
        The `actives` met so far.

    Raises
    ------
    ValueError
        While iterating: a column is not there, a cell is no label or no number, a row has another number of cells than
        the first line, the file cannot be decompressed. The text names file, row (from 1, without the header; for
        text files also the line), column and value.
    ImportError
        pyarrow is not installed.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        label: Column | None,
        scores: Sequence[Column],
        group: Column | None = None,
        *,
        ids: Column | None = None,
        actives: Iterable[str] | None = None,
        by_file: bool = False,
        nan_policy: str = "raise",
        header: bool = True,
        workers: int = -1,
    ) -> None:
        check_options(nan_policy=nan_policy)
        if (label is None) == (actives is None):
            raise ValueError("give either label or actives")
        if actives is not None and ids is None:
            raise ValueError("actives are joined by their ids: ids must say in which column these are")
        if by_file and group is not None:
            raise ValueError("by_file makes groups of the files: group cannot be given too")
        self.workers = check_workers(workers)
        pa = needed("pyarrow", "reading files")
        for path in paths:
            _kind(path)
        self.paths = list(paths)
        shown = [_kind(path)[0] for path in paths]
        short = [os.path.basename(path) for path in shown]
        self._file_names = dict(zip(shown, short if len({*short}) == len(short) else shown, strict=True))
        self.nan_policy = nan_policy
        self.header = header
        self.found: set[str] = set()
        self._codes: dict[Any, int] = {}  # of the groups, in the order in which they came
        self._by_file = by_file
        self._header_read = header
        try:
            self._actives = None if actives is None else pa.array(sorted({one.strip() for one in actives}), pa.string())
        except UnicodeEncodeError as error:
            raise ValueError(f"actives: {_no_text(error.object)}") from None
        # The columns in the order in which the batches of cells hold them.
        self._roles = [
            *(() if label is None else (("label", label),)),
            *(("score", score) for score in scores),
            *(() if group is None else (("group", group),)),
            *(() if ids is None else (("ids", ids),)),
        ]
        self.asked = [column for _, column in self._roles]

    def __iter__(self) -> Iterator[Batch]:
        for path in self.paths:
            yield from self._file(path)

    def _file(self, path: Path) -> Iterator[Batch]:
        """The batches of one file; an error if it is not what it was when it was opened."""
        state = file_state(path)
        try:
            yield from self._batches(path)
        except (ValueError, RuntimeError):  # a generator makes the one of StopIteration
            if file_state(path) == state:
                raise
        if file_state(path) != state:
            raise ValueError(f"{_kind(path)[0]}: changed while it was read")

    def _batches(self, path: Path) -> Iterator[Batch]:
        import pyarrow as pa

        shown, kind, _ = _kind(path)
        rows = 0
        try:
            with _opened(path) as stream:
                read = {"parquet": self._parquet, "sdf": self._sdf}.get(kind, self._text)
                for values in read(stream, path):
                    batch = self._batch(values, shown)
                    rows += batch.label.shape[0]
                    yield batch
        except _BadCell as bad:
            place = "" if bad.index is None else _place(path, self._header_read, rows + bad.index + 1)
            column = "" if bad.column is None else f"column {bad.column!r}"
            where = ", ".join(part for part in (place, column) if part)
            raise ValueError(f"{shown}: {where}: {bad}") from None
        except (pa.ArrowInvalid, csv.Error) as error:
            raise ValueError(f"{shown}: {_first_line(error)}") from None
        except OSError as error:
            # The system's own errors name the file; those of a broken compressed stream do not.
            if error.filename is None:
                raise ValueError(f"{shown}: cannot be read: {_first_line(error)}") from None
            raise

    def _batch(self, values: list[Any], shown: str) -> Batch:
        """The converted columns of `_values`, with codes for the groups."""
        named: dict[str, Any] = {"scores": []}
        for (role, _), value in zip(self._roles, values, strict=True):
            if role == "score":
                named["scores"].append(value)
            else:
                named[role] = value
        ids = named.get("ids")
        if self._actives is None:
            label = named["label"]
        else:
            import pyarrow.compute as pc

            assert ids is not None
            active = pc.is_in(ids, value_set=self._actives)
            label = _numpy(active)
            self.found.update(pc.unique(ids.filter(active)).to_pylist())
        group = None
        if self._by_file:
            code = self._codes.setdefault(self._file_names[shown], len(self._codes))
            group = np.full(label.shape[0], code, np.int64)
        elif "group" in named:
            try:
                group = _coded(named["group"], self._codes)
            except _BadCell as bad:
                bad.column = next(column for role, column in self._roles if role == "group")
                raise
        return Batch(label, tuple(named["scores"]), group, ids)

    @property
    def group_names(self) -> list[Any]:
        return list(self._codes)

    @property
    def grouped(self) -> bool:
        """Whether the batches have groups."""
        return self._by_file or any(role == "group" for role, _ in self._roles)

    def ordered_groups(self) -> tuple[NDArray[np.int64], list[Any]]:
        """The place of each group among the groups met, ascending, and these; integers if all texts are."""
        names = self.group_names
        if self._by_file:
            return np.arange(len(names)), names
        try:
            integers = [int(name) for name in names]
        except (TypeError, ValueError):
            integers = []
        if [str(integer) for integer in integers] == [str(name) for name in names]:
            names = integers
        return _ascending(names)

    def _values(self, cells: list[Any]) -> list[Any]:
        """The cells of the columns asked for, converted to what a `Batch` holds."""
        values = []
        for (role, column), cell in zip(self._roles, cells, strict=True):
            try:
                if role == "label":
                    values.append(_labels(cell))
                elif role == "score":
                    values.append(_scores(cell, self.nan_policy))
                elif role == "group":
                    values.append(_encoded(cell))
                else:
                    values.append(_ids(cell))
            except _BadCell as bad:
                bad.column = column
                raise
        return values

    # Each way to read a file yields the values of its batches, in file order.

    def _parquet(self, stream: Any, path: Path) -> Iterator[list[Any]]:
        from pyarrow import parquet

        shown, _, _ = _kind(path)
        # What is read ahead is kept to the end of the file: the columns as a whole.
        file = parquet.ParquetFile(stream, pre_buffer=False, page_checksum_verification=True)
        names = file.schema_arrow.names
        found = [names[_found(shown, names, column, by_number=False)] for column in self.asked]
        columns = list(dict.fromkeys(found))
        for batch in file.iter_batches(_PARQUET_ROWS, columns=columns, use_threads=self.workers > 1):
            yield self._values([batch.column(name) for name in found])

    def _sdf(self, stream: Any, path: Path) -> Iterator[list[Any]]:
        shown, _, _ = _kind(path)
        names = [_property(shown, column) for column in self.asked]
        known: list[str] = []

        def check(slab: bytes) -> None:
            # A name that no record of the first slab has is taken for a mistake, with the names of the first record.
            seen = {name.decode("utf-8", "replace") for name in _SDF_NAME.findall(slab)}
            first = _SDF_NAME.findall(slab.partition(b"$$$$")[0])
            known.extend([_TITLE, *(name.decode("utf-8", "replace") for name in dict.fromkeys(first))])
            for name in names:
                if name != _TITLE and name not in seen:
                    _found(shown, known, name)

        def parse(slab: bytes) -> list[Any]:
            return self._values(_sdf_cells(slab, names))

        slabs = _slabs(stream, _record_end)
        first = next(slabs, None)
        if first is None:
            return
        check(first)
        yield from in_threads(parse, itertools.chain([first], slabs), self.workers, ahead=self.workers + 2)

    def _text(self, stream: Any, path: Path) -> Iterator[list[Any]]:
        shown, kind, _ = _kind(path)
        smiles = kind == "smiles"
        names: list[str] | None = None
        if smiles:
            layout = _smiles_layout(stream, self._roles)
            delimiter, header = "\t", layout.header
            if header:
                stream.readline()
                names = layout.names
        else:
            delimiter, header = kind, self.header
            if header:
                # Arrow finds columns by name only; reading the first line here allows numbers and repeated names.
                names = next((row for row in _rows(stream, delimiter) if row), None)
                if names is None:
                    raise ValueError(f"{shown}: there is no line with column names")
        self._header_read = header
        if names is None:
            places = [_number(shown, column) - 1 for column in self.asked]
        else:
            places = [_found(shown, names, column) for column in self.asked]
            if not smiles:
                self._refuse_data_as_names(shown, names, places)
        slabs = (slab for slab in _slabs(stream, _line_end if smiles else _RowEnd(delimiter)) if slab.strip())
        if smiles and layout.spaces:
            slabs = (_SPACES.sub(b"\t", _MARGINS.sub(b"", slab)) for slab in slabs)
        first = next(slabs, None)
        if first is None:
            return
        width = len(names or next(row for row in _rows(io.BytesIO(first), delimiter, not smiles) if row))
        if max(places) >= width:
            raise ValueError(f"{shown}: the first line has fewer than {max(places) + 1} columns")
        # The first slab is read cell by cell as text, and says which scores are integers.
        exact = _TextParser(self, delimiter, width, places, quotes=not smiles)
        yield exact.slowly(first)
        yield from in_threads(exact, slabs, self.workers, ahead=self.workers + 2)

    def _refuse_data_as_names(self, shown: str, names: list[str], places: list[int]) -> None:
        """An error if the first line holds a label and a score, unless columns are asked for by such names."""
        at = {role: place for (role, _), place in reversed(list(zip(self._roles, places, strict=True)))}
        first_score = names[at["score"]]
        if not _is_number(first_score):
            return
        pairs = zip(self.asked, places, strict=True)
        by_name = any(column == names[place] != str(place + 1) for column, place in pairs)
        if by_name or ("label" in at and names[at["label"]].strip().lower() not in _LABELS):
            return
        held = f"a label ({names[at['label']]!r}) and a score" if "label" in at else "a score"
        raise ValueError(
            f"{shown}: the first line holds {held} ({first_score!r}) where column names should be; read it with "
            "header=False"
        )


class _TextParser:
    """The values of a slab of delimited rows: at once by Arrow's converters, cell by cell where these refuse."""

    def __init__(self, reader: TableReader, delimiter: str, width: int, places: list[int], quotes: bool) -> None:
        self.reader, self.delimiter, self.quotes = reader, delimiter, quotes
        self.names = [f"f{place}" for place in range(width)]
        self.keys = [f"f{place}" for place in places]
        self.roles = [role for role, _ in reader._roles]
        self.integers = [False] * len(places)

    def _read(self, slab: bytes, types: dict[str, Any], **options: Any) -> list[Any]:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        refuse = options.pop("refuse", None)
        table = arrow_csv.read_csv(
            pa.BufferReader(slab),
            # The slab is one block: rows keep their numbers, and no thread waits for another.
            read_options=arrow_csv.ReadOptions(
                column_names=self.names, use_threads=False, block_size=min(len(slab) + 1, 2**31 - 1)
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=self.delimiter,
                quote_char='"' if self.quotes else False,
                newlines_in_values=self.quotes and b'"' in slab,
                invalid_row_handler=refuse,
            ),
            convert_options=arrow_csv.ConvertOptions(column_types=types, include_columns=list(types), **options),
        )
        columns = {}
        for name, column in zip(table.column_names, table.columns, strict=True):
            columns[name] = column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)
        return [columns[key] for key in self.keys]

    def slowly(self, slab: bytes) -> list[Any]:
        """From the cells as text: takes whatever a cell may be, names the one that is wrong, knows integers."""
        import pyarrow as pa

        bad_rows: list[Any] = []

        def refuse(row: Any) -> str:
            bad_rows.append(row)
            return "error"

        try:
            cells = self._read(slab, dict.fromkeys(self.keys, pa.string()), refuse=refuse)
        except pa.ArrowInvalid:
            if not bad_rows:
                self._named(self._read(slab, dict.fromkeys(self.keys, pa.binary())))
                raise
            bad = bad_rows[0]
            problem = f"{bad.actual_columns} cells where the first line has {bad.expected_columns}: {_short(bad.text)}"
            raise _BadCell(bad.number - 1, problem) from None
        values = self.reader._values(cells)
        self.integers = [isinstance(one, np.ndarray) and one.dtype == np.int64 for one in values]
        return values

    def _named(self, columns: list[Any]) -> None:
        """Names the first cell that is no text."""
        wrong: list[_BadCell] = []
        for column, cells in zip(self.reader.asked, columns, strict=True):
            try:
                _text(cells.view("string"))
            except _BadCell as bad:
                bad.column = column
                wrong.append(bad)
        if wrong:
            raise min(wrong, key=lambda bad: bad.index or 0)

    def __call__(self, slab: bytes) -> list[Any]:
        import pyarrow as pa

        kinds = {
            "label": pa.bool_(),
            "score": pa.float64(),
            "group": pa.dictionary(pa.int32(), pa.string()),
            "ids": pa.string(),
        }
        types = {key: kinds[role] for key, role in zip(self.keys, self.roles, strict=True)}
        if any(types[key] != kinds[role] for key, role in zip(self.keys, self.roles, strict=True)):
            return self.slowly(slab)  # one column in two roles
        try:
            cells = self._read(slab, types, **_KNOWN)
        except pa.ArrowInvalid:
            return self.slowly(slab)
        values: list[Any] = []
        for role, cell, integers in zip(self.roles, cells, self.integers, strict=True):
            if role == "label" and not cell.null_count:
                values.append(_numpy(cell))
            elif role == "score":
                score = _numpy(cell)
                if self.reader.nan_policy == "raise" and _has_nan(score):
                    return self.slowly(slab)
                if (np.abs(score) >= _LARGE).any():
                    return self.slowly(slab)
                if integers and not _has_nan(score):
                    exact = score.astype(np.int64)
                    score = exact if np.array_equal(exact, score) else score
                values.append(score)
            elif role in ("group", "ids"):
                try:
                    values.append(_encoded(cell) if role == "group" else _ids(cell))
                except _BadCell:
                    return self.slowly(slab)
            else:
                return self.slowly(slab)
        return values


def read_columns(
    path: Path,
    label: Column,
    score: Column,
    group: Column | None = None,
    *,
    nan_policy: str = "raise",
    header: bool = True,
    workers: int = -1,
) -> Columns:
    """Read the label, score and group columns of a file, and no others.

    Parameters
    ----------
    path, label, score, group, nan_policy, header, workers
        As for `TableReader`, of one file and one score.

    Returns
    -------
    Columns

    Raises
    ------
    ValueError, ImportError
        As iterating over a `TableReader`.
    """
    reader = TableReader([path], label, [score], group, nan_policy=nan_policy, header=header, workers=workers)
    batches = list(reader)
    rank, names = reader.ordered_groups()
    scores = [batch.scores[0] for batch in batches]
    types = Types()
    for one in scores:  # of one column: of one type, or integers and floats, which are put together as float64
        types.add(one, lambda: f"{_kind(path)[0]}: column {score!r}")
    codes = [batch.group for batch in batches if batch.group is not None]
    return Columns(
        np.concatenate([np.empty(0, np.uint8), *(batch.label for batch in batches)]),
        np.concatenate(scores) if scores else np.empty(0, np.float64),
        None if group is None else rank[np.concatenate([np.empty(0, np.int64), *codes])],
        names,
    )


def read_ids(path: Path, column: str | None = None) -> list[str]:
    """Read a list of ids, each once, in file order.

    Parameters
    ----------
    path : str or path
        A file that `TableReader` reads (not SDF): the column called `column`, or the first one (of SMILES the second);
        the first line of CSV and TSV holds names. Any other file: one id a line. Each also with ``.gz``, ``.zst`` or
        ``.zstd`` after it.
    column : str, optional

    Returns
    -------
    list of str
        Without white space around them; empty lines and cells are left out.
    """
    try:
        _, kind, _ = _kind(path)
    except ValueError:
        kind = "lines"
    cells: Iterable[Any]
    with _opened(path) as stream:
        if kind == "parquet":
            file = needed("pyarrow.parquet", "Parquet").ParquetFile(stream, page_checksum_verification=True)
            names: list[str] = file.schema_arrow.names
            at = names.index(column) if column is not None and column in names else 0
            try:
                cells = [cell for chunk in file.read([names[at]]).column(0).chunks for cell in _text(chunk).to_pylist()]
            except _BadCell as bad:
                raise ValueError(f"{os.fspath(path)}: column {names[at]!r}: {bad}") from None
        elif kind == "smiles":
            rows = (line.decode("utf-8", "replace").split() for line in stream)
            cells = [row[1] if len(row) > 1 else row[0] for row in rows if row]
        elif kind == "sdf":
            raise ValueError(f"{os.fspath(path)}: a list of ids is a text, CSV, TSV, Parquet or SMILES file")
        elif kind == "lines":
            cells = [line.decode("utf-8-sig", "replace") for line in stream]
        else:
            try:
                table = [row for row in _rows(stream, kind) if row]
            except csv.Error as error:
                raise ValueError(f"{os.fspath(path)}: {error}") from None
            names = table[0] if table else []
            at = names.index(column) if column is not None and column in names else 0
            cells = [row[at] for row in table[1:] if len(row) > at]
    texts = ("" if cell is None else str(cell).strip() for cell in cells)
    return list(dict.fromkeys(text for text in texts if text))


def file_state(path: Path) -> tuple[int, ...] | None:
    """What differs when a file was written to or put in the place of another; None for a stream."""
    if os.fspath(path) == "-" or not os.path.isfile(path):
        return None
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns, found.st_ino


def _kind(path: Path) -> tuple[str, str, str | None]:
    """What errors call the file; "parquet", "sdf", "smiles" or the delimiter; the compression."""
    text = os.fspath(path)
    if text == "-":
        return "standard input", ",", None
    stem, suffix = os.path.splitext(text)
    compression = _COMPRESSIONS.get(suffix.lower())
    if compression:
        suffix = os.path.splitext(stem)[1]
    suffix = suffix.lower()
    for kind, suffixes in (("parquet", _PARQUET), ("sdf", _SDF), ("smiles", _SMILES)):
        if suffix in suffixes:
            return text, kind, compression
    if suffix in _DELIMITERS:
        return text, _DELIMITERS[suffix], compression
    raise ValueError(
        f"{text}: the name must end in {', '.join((*_DELIMITERS, *_PARQUET, *_SMILES, *_SDF))}, each also with "
        f"{', '.join(_COMPRESSIONS)} after it"
    )


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """The bytes of the file, decompressed; text with a line end that Python and Arrow both know."""
    text = os.fspath(path)
    if text == "-":
        if sys.stdin is None:
            raise ValueError("standard input is closed")
        yield _Lines.of(sys.stdin.buffer)
        return
    stem, suffix = os.path.splitext(text)
    compression = _COMPRESSIONS.get(suffix.lower())
    table = (text if compression is None else stem).lower().endswith(_PARQUET)
    with open(path, "rb", 1 << 16) as file:
        if compression is None:
            yield file if table else _Lines.of(file)
            return
        pa = needed("pyarrow", "reading compressed files")
        with pa.input_stream(file, compression=compression) as stream:
            # Parquet is read from its end, which a compressed stream does not offer.
            yield pa.BufferReader(stream.read()) if table else _Lines.of(io.BufferedReader(stream, 1 << 20))


class _Lines(io.RawIOBase):
    """A stream whose lines end in CR alone, with LF in its place."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    @classmethod
    def of(cls, stream: Any) -> Any:
        """The stream itself, if its first line ends otherwise."""
        line = stream.peek(1).partition(b"\n")[0]
        return io.BufferedReader(cls(stream), 1 << 20) if b"\r" in line[:-1] else stream

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        data = self.stream.read1(len(room))
        if data.endswith(b"\r") and self.stream.peek(1).startswith(b"\n"):
            data = data[:-1] + self.stream.read(1)
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        room[: len(data)] = data
        return len(data)


def _slabs(stream: Any, ended: Callable[[bytes, bytes], bool]) -> Iterator[bytes]:
    """The stream in pieces of about `_SLAB` bytes, each carried on line by line until `ended(piece, its last line)`."""
    size = min(_FIRST_SLAB, _SLAB)
    while piece := stream.read(size):
        # The line in which the piece ends, then whole ones.
        line = piece[piece.rfind(b"\n") + 1 :] + stream.readline()
        lines = [piece[: piece.rfind(b"\n") + 1], line]
        while not ended(lines[0], line) and (line := stream.readline()):
            lines.append(line)
        yield b"".join(lines)
        size = _SLAB


class _RowEnd:
    """Whether a row of delimited text ends with a line: a line break between quotation marks ends none."""

    def __init__(self, delimiter: str) -> None:
        self.ends = delimiter.encode() + b"\n\r"  # of cells
        self.cell = re.compile(rb'"(?<![^%b]")[^"]*+(?:""[^"]*+)*+("?)' % self.ends)  # in quotation marks
        self.quoted = False
        self.length = 0

    def __call__(self, piece: bytes, line: bytes) -> bool:
        if not self.quoted:
            self.length = 0
            self._read(piece)
        self._read(line)
        self.length += len(line)
        # A quotation mark that is never closed would keep the whole file in memory.
        self.quoted = self.quoted and self.length < _LONGEST
        return not self.quoted

    def _read(self, text: bytes) -> None:
        """Whole lines: a mark opens a quoted cell where a cell begins, else is a character, and is doubled in one."""
        if b'"' not in text:
            return
        letters = np.frombuffer(text, np.uint8)
        marks = np.flatnonzero(letters == ord('"'))
        opening = marks[int(self.quoted) :: 2]
        # As a rule they open and close by turns, a doubled one being the end of a cell and the start of the next.
        if np.isin(letters[opening[opening > 0] - 1], list(self.ends + b'"')).all():
            self.quoted ^= bool(marks.shape[0] % 2)
            return
        cells = self.cell.finditer(b'"' + text if self.quoted else text)
        self.quoted = any(not cell[1] for cell in deque(cells, 1))


def _line_end(piece: bytes, line: bytes) -> bool:
    return True


def _record_end(piece: bytes, line: bytes) -> bool:
    return line.startswith(b"$$$$")


# A data header stands behind the molecule; the free text before it (title, comment) may look like one.
_SDF_NAME = re.compile(rb"^>[^\n<]*<([^>\n]+)>", re.MULTILINE)


def _sdf_cells(slab: bytes, names: list[str]) -> list[Any]:
    """The values of the properties `names`, one array of texts each, null where a record has none."""
    import pyarrow as pa

    wanted = b"|".join(re.escape(name.encode()) for name in dict.fromkeys(names))
    marks = re.compile(
        rb"^(?:(\$\$\$\$[^\n]*\n?)|(M  END)|>[^\n<]*<(" + wanted + rb")>[^\n]*\n([^\r\n]*))", re.MULTILINE
    )
    cells: dict[str, list[str | None]] = {name: [] for name in names}
    record: dict[str, str] = {}
    start, behind = 0, False

    def close() -> None:
        if _TITLE in cells:
            record[_TITLE] = slab[start : slab.find(b"\n", start)].decode("utf-8", "replace")
        for name, values in cells.items():
            values.append(record.get(name, "").strip() or None)
        record.clear()

    for mark in marks.finditer(slab):
        if mark[1] is not None:
            close()
            start, behind = mark.end(), False
        elif mark[2] is not None:
            behind = True
        elif behind:
            record[mark[3].decode()] = mark[4].decode("utf-8", "replace")
    if behind:
        close()  # the last record of a file need not be closed
    return [pa.array(cells[name], pa.string()) for name in names]


def _property(shown: str, column: Column) -> str:
    if isinstance(column, int):
        raise ValueError(f"{shown}: column {column!r}: the properties of an SDF have names, not numbers")
    return column


_SPACES = re.compile(rb"[ \t]+(?=[^ \t\r\n])")
_MARGINS = re.compile(rb"^[ \t]+|[ \t]+(?=\r?$)", re.MULTILINE)


class _Layout(NamedTuple):
    """How the rows of a SMILES file are written."""

    header: bool
    names: list[str]
    spaces: bool
    """Cells are parted by any run of spaces, else by one tab."""


def _smiles_layout(stream: Any, roles: list[tuple[str, Column]]) -> _Layout:
    """From the first line: cells are parted by tabs if it has one; it holds names if it cannot be data."""
    line = stream.peek(1).partition(b"\n")[0].rstrip(b"\r").decode("utf-8-sig", "replace")
    spaces = "\t" not in line
    cells = line.split() if spaces else line.split("\t")
    if any(isinstance(column, str) and not column.isdigit() for _, column in roles):
        return _Layout(True, cells, spaces)
    score = next(int(column) for role, column in roles if role == "score")
    first = cells[score - 1].strip() if 0 < score <= len(cells) else ""
    return _Layout(not _is_number(first) and first.lower() not in _MISSING, cells, spaces)


def _rows(stream: Any, delimiter: str, quotes: bool = True) -> Iterator[list[str]]:
    """The rows of delimited text, read no further than asked; an empty list for a blank line."""
    lines = (line.decode("utf-8-sig", "replace") for line in iter(stream.readline, b""))
    return csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE)


def _place(path: Path, header: bool, row: int) -> str:
    """The row in words, with its line in a text file, found by reading the file again."""
    _, kind, _ = _kind(path)
    if kind == "parquet" or os.fspath(path) == "-":
        return f"row {row}"
    with _opened(path) as stream:
        if kind == "sdf":
            ends = (at for at, line in enumerate(stream, 1) if line.startswith(b"$$$$"))
            return f"record {row} (line {next(itertools.islice(ends, row - 2, None), 0) + 1 if row > 1 else 1})"
        reader: Any = _rows(stream, "\t" if kind == "smiles" else kind, kind != "smiles")
        left = row + header
        try:
            while left:
                line = reader.line_num + 1
                left -= bool(next(reader))
        except csv.Error:  # a cell too long for it, or a CR amid a line, which Arrow takes for its end
            return f"row {row}"
    return f"row {row} (line {line})"


def _has_nan(score: NDArray[Any]) -> bool:
    return bool(score.dtype.kind == "f" and score.size and np.isnan(score.min()))


def _found(shown: str, names: list[str], column: str | int, by_number: bool = True) -> int:
    """The place of a column among the names of the file; not `by_number`: its reader knows columns by name only."""
    if not isinstance(column, (str, int, np.integer)):
        raise TypeError(f"{shown}: column {column!r} is of type {type(column).__name__}: it must be a name or a number")
    if isinstance(column, str) and column in names:
        if names.count(column) > 1:
            places = ", ".join(str(place + 1) for place, name in enumerate(names) if name == column)
            advice = f"give a number: {places}" if by_number else f"columns {places} must have different names"
            raise ValueError(f"{shown}: {names.count(column)} columns are called {column!r}; {advice}")
        return names.index(column)
    if not isinstance(column, str) or (column.isascii() and column.isdigit()):
        number = _number(shown, column)
        if number > len(names):
            raise ValueError(f"{shown}: there is no column {number}: the file has {len(names)}")
        if not by_number and names.count(names[number - 1]) > 1:
            return _found(shown, names, names[number - 1], by_number)
        return number - 1
    from difflib import get_close_matches

    near = get_close_matches(column, names, n=3)
    hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    listed = ", ".join(map(repr, names[:20])) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    raise ValueError(f"{shown}: there is no column {column!r}; {hint}the columns are {listed}")


def _number(shown: str, column: str | int) -> int:
    if not str(column).isascii() or not str(column).isdigit() or int(column) < 1:
        raise ValueError(f"{shown}: column {column!r}: a file without column names has numbers from 1 up")
    return int(column)


def _labels(cells: Any) -> NDArray[np.uint8]:
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = _plain(cells)
    labels: NDArray[np.uint8]
    if pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type):
        numbers = _numpy(cells)
        wrong = (numbers != 0) & (numbers != 1)
        labels = numbers.astype(np.uint8, copy=False) if not wrong.any() else np.empty(0, np.uint8)
    elif pa.types.is_boolean(cells.type):
        labels = _numpy(cells)
        wrong = labels > 1
    elif pa.types.is_string(cells.type):
        # Few distinct texts: each is looked at once. 2 stands for a wrong one.
        distinct = cells.dictionary_encode()
        known = {text: at % 2 for at, text in enumerate(_LABELS)}
        values = [known.get(str(text).strip().lower(), 2) for text in distinct.dictionary.to_pylist()]
        codes = distinct.indices if not cells.null_count else pc.fill_null(distinct.indices, len(values))
        labels = np.array([*values, 2], np.uint8)[_numpy(codes)]
        wrong = labels > 1
    else:
        raise _BadCell(None, f"it holds {cells.type}: {LABEL_RULE}")
    if cells.null_count or wrong.any():
        index = int(np.argmax(wrong | _numpy(pc.is_null(cells)).view(bool)))
        raise _BadCell(index, f"the label is {_value(cells, index)}: {LABEL_RULE}")
    return labels


def _numpy(cells: Any) -> NDArray[Any]:
    """The numbers of an array, without a copy if none is missing; bool as uint8; integers with missing ones as float64.

    Arrow's own way imports pandas where that is installed, which takes longer than a million rows.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_boolean(cells.type):
        cells = pc.cast(cells, pa.uint8())
    if cells.null_count and pa.types.is_integer(cells.type):
        cells = pc.cast(cells, pa.float64(), safe=False)
    held, data = cells.buffers()
    kind, end = np.dtype(cells.type.to_pandas_dtype()), cells.offset + len(cells)
    if data is None:
        return np.empty(0, kind)
    numbers = np.frombuffer(data, kind, end)[cells.offset :]
    if not cells.null_count:
        return numbers
    bits = np.frombuffer(held, np.uint8, -(-end // 8))
    present = np.unpackbits(bits, count=end, bitorder="little")[cells.offset :].view(bool)
    return np.where(present, numbers, kind.type(np.nan))


def _scores(cells: Any, nan_policy: str) -> NDArray[Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = numbers = _plain(cells)
    if pa.types.is_string(cells.type):
        numbers = _parsed(pc.utf8_trim_whitespace(cells))
    elif pa.types.is_boolean(cells.type):
        numbers = pc.cast(cells, pa.uint8())
    elif pa.types.is_decimal(cells.type):
        digits, scale = cells.type.precision, cells.type.scale
        if digits <= 15 and 0 <= scale <= 22:
            # The quotient of two exact floats is the nearest one; Arrow's own conversion often is another.
            whole = pc.cast(pc.cast(cells, pa.decimal128(digits, scale)).view(pa.decimal128(digits, 0)), pa.int64())
            numbers = pc.divide(pc.cast(whole, pa.float64()), 10.0**scale) if scale else whole
        else:
            numbers = _parsed(pc.cast(cells, pa.string()), scale)
    elif not (pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type)):
        raise _BadCell(None, f"it holds {cells.type}, not numbers")
    if nan_policy != "raise" and numbers.null_count and pa.types.is_integer(numbers.type):
        at = _rounded(_numpy(pc.fill_null(numbers, 0)))
        if at is not None:
            raise _BadCell(at, f"the score {numbers[at]} is no float64, which integers beside missing scores become")
    scores = _numpy(numbers)
    if nan_policy == "raise" and _has_nan(scores):
        index = int(np.isnan(scores).argmax())
        raise _BadCell(index, f"the score is {_value(cells, index)}: {NO_RANK}")
    return scores


def _parsed(texts: Any, scale: int | None = None) -> Any:
    """Numbers from text: int64 if all are, else float64, null where missing.

    `scale`: of decimals, each of which must be the only one with no more digits that its float64 stands for.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        # Floats first: Arrow's integers also take hexadecimal.
        floats = pc.cast(texts, pa.float64())
    except pa.ArrowInvalid:
        missing = pc.is_in(pc.utf8_lower(texts), value_set=pa.array(_MISSING))
        texts = pc.if_else(missing, None, texts)
        try:
            floats = pc.cast(texts, pa.float64())
        except pa.ArrowInvalid:
            for index, text in enumerate(texts.to_pylist()):
                if text is not None and not _is_number(text):
                    raise _BadCell(index, f"the score is {_short(text)}, not a number") from None
            raise
    try:
        return pc.cast(texts, pa.int64())
    except pa.ArrowInvalid:
        pass

    def places(flags: Any) -> list[int]:
        found: list[int] = np.flatnonzero(_numpy(pc.fill_null(flags, False))).tolist()
        return found

    for index in places(pc.and_(pc.is_inf(floats), pc.match_substring_regex(texts, "[0-9]"))):
        raise _BadCell(index, f"the score {_short(texts[index].as_py())} is beyond the range of float64")
    large = pc.greater_equal(pc.abs(floats), _LARGE)
    if scale is not None:
        exact = pa.decimal256(76, scale)
        same = pc.equal(pc.cast(pc.cast(floats, pa.string()), exact), pc.cast(texts, exact))
        for index in places(pc.and_not(pc.invert(same), large)):
            problem = "has digits that no float64 holds: cast the column to double to round them"
            raise _BadCell(index, f"the score {texts[index]} {problem}")
    else:
        large = pc.and_(large, pc.match_substring_regex(texts, "^[+-]?[0-9]+$"))
    for index in places(large):
        from decimal import Decimal

        if Decimal(texts[index].as_py()) != floats[index].as_py():
            problem = "is a whole number that no float64 holds, and not all scores are integers of 64 bits with a sign"
            raise _BadCell(index, f"the score {_short(texts[index].as_py())} {problem}")
    return floats


_NUMBER = re.compile(r"\s*[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)\s*", re.IGNORECASE | re.ASCII)


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _encoded(cells: Any) -> Any:
    import pyarrow as pa

    cells = _text(cells)
    if not pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_encode()
    names = cells.dictionary.to_pylist()
    wrong = {at for at, name in enumerate(names) if name is None or name == "" or name != name}
    if cells.null_count or wrong:
        for index, at in enumerate(cells.indices.to_pylist()):
            if at is None or at in wrong:
                raise _BadCell(index, "the group is empty")
    return cells


def _coded(cells: Any, codes: dict[Any, int]) -> NDArray[np.int64]:
    """The code of the group in each cell; what has none yet is given the next."""
    indices = _numpy(cells.indices)
    if codes and indices.shape[0]:
        before, now = next(iter(codes)), cells.dictionary[int(indices[0])].as_py()
        if _sort_of_name(before) != _sort_of_name(now):
            problem = f"the group is {_short(now)}, but {_short(before)} came before: give all groups one type"
            raise _BadCell(None, problem)
    code = np.zeros(len(cells.dictionary), np.int64)
    for used in np.unique(indices).tolist():
        code[used] = codes.setdefault(cells.dictionary[used].as_py(), len(codes))
    coded: NDArray[np.int64] = code[indices]
    return coded


def _sort_of_name(name: Any) -> Any:
    """What two groups share that can be one: numbers of any type are equal by value."""
    return Number if isinstance(name, Number) and not isinstance(name, bool) else type(name)


def _ascending(names: list[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    """The place of each name among them all, and these in order."""
    try:
        order = sorted(range(len(names)), key=names.__getitem__)
    except TypeError:  # groups of several files or batches may be of types that have no common order
        order = sorted(range(len(names)), key=lambda code: str(names[code]))
    rank = np.empty(len(names), np.int64)
    rank[order] = np.arange(len(names))
    return rank, [names[code] for code in order]


def _ids(cells: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = _plain(cells)
    texts = pc.utf8_trim_whitespace(cells if pa.types.is_string(cells.type) else pc.cast(cells, pa.string()))
    if texts.null_count or not pc.min(pc.binary_length(texts)).as_py():
        for index, text in enumerate(texts.to_pylist()):
            if not text:
                raise _BadCell(index, "the id is empty")
    return texts


def _text(cells: Any) -> Any:
    """The cells; an error for the first that is to be text, but is none."""
    import pyarrow as pa

    try:
        cells.validate(full=True)
    except pa.ArrowInvalid:
        if pa.types.is_dictionary(cells.type):
            cells = cells.dictionary_decode()
        for index, cell in enumerate(cells.cast(pa.binary()).to_pylist()):
            try:
                cell is None or cell.decode()
            except UnicodeDecodeError:
                raise _BadCell(index, f"{_short(cell)} is not UTF-8") from None
        raise
    return cells


def _no_text(text: str) -> str:
    return f"{_short(text)} holds a lone surrogate, which is no character"


def _plain(cells: Any) -> Any:
    """The cells with any encoding of a text or dictionary column undone."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = _text(cells)
    if pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    if pa.types.is_large_string(cells.type) or pa.types.is_string_view(cells.type):
        cells = pc.cast(cells, pa.string())
    return cells


def _value(cells: Any, index: int) -> str:
    value = cells[index].as_py()
    if value is None or (isinstance(value, str) and not value.strip()):
        return "empty"
    return _short(value)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0]
