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
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hitcurve._checks import check_options
from hitcurve._extras import needed
from hitcurve._files import Path, check_unchanged, file_kind, file_state, opened
from hitcurve._workers import check_workers, in_threads
from hitcurve.sources.cells import (
    KNOWN,
    LABELS,
    LARGE,
    MISSING,
    BadCell,
    Column,
    Types,
    ascending,
    coded,
    encoded,
    first_line,
    has_nan,
    ids_of,
    is_number,
    labels_of,
    no_text,
    numbers_of,
    scores_of,
    short,
    text_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Batch", "Columns", "TableReader", "read_columns", "read_ids"]

# Text is read in slabs of whole rows: one for each thread, small enough for its cache.
_SLAB = 2 << 20
_FIRST_SLAB = 1 << 16  # read the slow way
# A quoted cell longer than this is a quotation mark that was never closed.
_LONGEST = 64 << 20
_PARQUET_ROWS = 1 << 18
_TITLE = "_Name"  # RDKit's word for the first line of an SDF record



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
    unlabelled : bool
        No row is relevant; in place of labels.
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
        unlabelled: bool = False,
        workers: int = -1,
    ) -> None:
        check_options(nan_policy=nan_policy)
        if (label is not None) + (actives is not None) + unlabelled != 1:
            raise ValueError("give either label or actives")
        if actives is not None and ids is None:
            raise ValueError("actives are joined by their ids: ids must say in which column these are")
        if by_file and group is not None:
            raise ValueError("by_file makes groups of the files: group cannot be given too")
        self.workers = check_workers(workers)
        pa = needed("pyarrow", "reading files")
        for path in paths:
            file_kind(path)
        self.paths = list(paths)
        shown = [file_kind(path)[0] for path in paths]
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
            raise ValueError(f"actives: {no_text(error.object)}") from None
        # The columns in the order in which the batches of cells hold them.
        self.roles = [
            *(() if label is None else (("label", label),)),
            *(("score", score) for score in scores),
            *(() if group is None else (("group", group),)),
            *(() if ids is None else (("ids", ids),)),
        ]
        self.asked = [column for _, column in self.roles]

    def __iter__(self) -> Iterator[Batch]:
        for path in self.paths:
            yield from self.batches(path)

    def batches(self, path: Path) -> Iterator[Batch]:
        """The batches of one file; an error if it is not what it was when it was opened."""
        state = file_state(path)
        try:
            yield from self._batches(path)
        except (ValueError, RuntimeError):  # a generator makes the one of StopIteration
            if file_state(path) == state:
                raise
        check_unchanged(path, state)

    def _batches(self, path: Path) -> Iterator[Batch]:
        import pyarrow as pa

        shown, kind, _ = file_kind(path)
        rows = 0
        try:
            with opened(path) as stream:
                read = {"parquet": self._parquet, "sdf": self._sdf}.get(kind, self._text)
                for values in read(stream, path):
                    batch = self._batch(values, shown)
                    rows += batch.label.shape[0]
                    yield batch
        except BadCell as bad:
            place = "" if bad.index is None else _place(path, self._header_read, rows + bad.index + 1)
            column = "" if bad.column is None else f"column {bad.column!r}"
            where = ", ".join(part for part in (place, column) if part)
            raise ValueError(f"{shown}: {where}: {bad}") from None
        except (pa.ArrowInvalid, csv.Error) as error:
            raise ValueError(f"{shown}: {first_line(error)}") from None
        except OSError as error:
            # The system's own errors name the file; those of a broken compressed stream do not.
            if error.filename is None:
                raise ValueError(f"{shown}: cannot be read: {first_line(error)}") from None
            raise

    def _batch(self, values: list[Any], shown: str) -> Batch:
        """The converted columns of `_values`, with codes for the groups."""
        named: dict[str, Any] = {"scores": []}
        for (role, _), value in zip(self.roles, values, strict=True):
            if role == "score":
                named["scores"].append(value)
            else:
                named[role] = value
        ids = named.get("ids")
        if self._actives is None:
            label = named["label"] if "label" in named else np.zeros(values[0].shape[0], np.uint8)
        else:
            import pyarrow.compute as pc

            assert ids is not None
            active = pc.is_in(ids, value_set=self._actives)
            label = numbers_of(active)
            self.found.update(pc.unique(ids.filter(active)).to_pylist())
        group = None
        if self._by_file:
            code = self._codes.setdefault(self._file_names[shown], len(self._codes))
            group = np.full(label.shape[0], code, np.int64)
        elif "group" in named:
            try:
                group = coded(named["group"], self._codes)
            except BadCell as bad:
                bad.column = next(column for role, column in self.roles if role == "group")
                raise
        return Batch(label, tuple(named["scores"]), group, ids)

    @property
    def group_names(self) -> list[Any]:
        return list(self._codes)

    @property
    def grouped(self) -> bool:
        """Whether the batches have groups."""
        return self._by_file or any(role == "group" for role, _ in self.roles)

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
        return ascending(names)

    def _values(self, cells: list[Any]) -> list[Any]:
        """The cells of the columns asked for, converted to what a `Batch` holds."""
        values = []
        for (role, column), cell in zip(self.roles, cells, strict=True):
            try:
                if role == "label":
                    values.append(labels_of(cell))
                elif role == "score":
                    values.append(scores_of(cell, self.nan_policy))
                elif role == "group":
                    values.append(encoded(cell))
                else:
                    values.append(ids_of(cell))
            except BadCell as bad:
                bad.column = column
                raise
        return values

    # Each way to read a file yields the values of its batches, in file order.

    def _parquet(self, stream: Any, path: Path) -> Iterator[list[Any]]:
        from pyarrow import parquet

        shown, _, _ = file_kind(path)
        # What is read ahead is kept to the end of the file: the columns as a whole.
        file = parquet.ParquetFile(stream, pre_buffer=False, page_checksum_verification=True)
        names = file.schema_arrow.names
        found = [names[_found(shown, names, column, by_number=False)] for column in self.asked]
        columns = list(dict.fromkeys(found))
        for batch in file.iter_batches(_PARQUET_ROWS, columns=columns, use_threads=self.workers > 1):
            yield self._values([batch.column(name) for name in found])

    def _sdf(self, stream: Any, path: Path) -> Iterator[list[Any]]:
        shown, _, _ = file_kind(path)
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
        shown, kind, _ = file_kind(path)
        smiles = kind == "smiles"
        names: list[str] | None = None
        if smiles:
            layout = _smiles_layout(stream, self.roles)
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
        at = {role: place for (role, _), place in reversed(list(zip(self.roles, places, strict=True)))}
        first_score = names[at["score"]]
        if not is_number(first_score):
            return
        pairs = zip(self.asked, places, strict=True)
        by_name = any(column == names[place] != str(place + 1) for column, place in pairs)
        if by_name or ("label" in at and names[at["label"]].strip().lower() not in LABELS):
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
        self.roles = [role for role, _ in reader.roles]
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
            problem = f"{bad.actual_columns} cells where the first line has {bad.expected_columns}: {short(bad.text)}"
            raise BadCell(bad.number - 1, problem) from None
        values = self.reader._values(cells)
        self.integers = [isinstance(one, np.ndarray) and one.dtype == np.int64 for one in values]
        return values

    def _named(self, columns: list[Any]) -> None:
        """Names the first cell that is no text."""
        wrong: list[BadCell] = []
        for column, cells in zip(self.reader.asked, columns, strict=True):
            try:
                text_of(cells.view("string"))
            except BadCell as bad:
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
            cells = self._read(slab, types, **KNOWN)
        except pa.ArrowInvalid:
            return self.slowly(slab)
        values: list[Any] = []
        for role, cell, integers in zip(self.roles, cells, self.integers, strict=True):
            if role == "label" and not cell.null_count:
                values.append(numbers_of(cell))
            elif role == "score":
                score = numbers_of(cell)
                if self.reader.nan_policy == "raise" and has_nan(score):
                    return self.slowly(slab)
                if (np.abs(score) >= LARGE).any():
                    return self.slowly(slab)
                if integers and not has_nan(score):
                    exact = score.astype(np.int64)
                    score = exact if np.array_equal(exact, score) else score
                values.append(score)
            elif role in ("group", "ids"):
                try:
                    values.append(encoded(cell) if role == "group" else ids_of(cell))
                except BadCell:
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
        types.add(one, lambda: f"{file_kind(path)[0]}: column {score!r}")
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
        _, kind, _ = file_kind(path)
    except ValueError:
        kind = "lines"
    cells: Iterable[Any]
    with opened(path) as stream:
        if kind == "parquet":
            file = needed("pyarrow.parquet", "Parquet").ParquetFile(stream, page_checksum_verification=True)
            names: list[str] = file.schema_arrow.names
            at = names.index(column) if column is not None and column in names else 0
            try:
                chunks = file.read([names[at]]).column(0).chunks
                cells = [cell for chunk in chunks for cell in text_of(chunk).to_pylist()]
            except BadCell as bad:
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
    return _Layout(not is_number(first) and first.lower() not in MISSING, cells, spaces)


def _rows(stream: Any, delimiter: str, quotes: bool = True) -> Iterator[list[str]]:
    """The rows of delimited text, read no further than asked; an empty list for a blank line."""
    lines = (line.decode("utf-8-sig", "replace") for line in iter(stream.readline, b""))
    return csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE)


def _place(path: Path, header: bool, row: int) -> str:
    """The row in words, with its line in a text file, found by reading the file again."""
    _, kind, _ = file_kind(path)
    if kind == "parquet" or os.fspath(path) == "-":
        return f"row {row}"
    with opened(path) as stream:
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
