"""Labels and scores from files: CSV, TSV and Parquet, plain or compressed, one row an item."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Columns", "read_columns"]

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_PARQUET = (".parquet", ".pq")
_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}
# An index into this list is odd for a relevant item.
_LABELS = ("0", "1", "false", "true", "0.0", "1.0")
_MISSING = ("", "nan", "na", "null")


class Columns(NamedTuple):
    """The columns of a file, one entry a data row, in file order."""

    label: NDArray[np.uint8]
    """1 for a relevant item, else 0."""
    score: NDArray[Any]
    """int64 for integers, else float64; from Parquet, the type of the file. A missing score is NaN."""
    group: NDArray[np.int64] | None
    """The row's place in `group_names`; None if no group was asked for."""
    group_names: list[Any]
    """The distinct groups, ascending; from text, integers if all are, else strings."""


class _BadCell(Exception):
    """A cell that cannot be used: its place in the batch (None: the whole column), and what is wrong with it."""

    def __init__(self, index: int | None, problem: str) -> None:
        super().__init__(problem)
        self.index = index


def read_columns(
    path: str | os.PathLike[str],
    label: str | int,
    score: str | int,
    group: str | int | None = None,
    *,
    nan_policy: str = "raise",
    header: bool = True,
) -> Columns:
    """Read the label, score and group columns of a file, and no others.

    Parameters
    ----------
    path : str or path
        ``.csv``, ``.tsv``, ``.tab``, ``.parquet`` or ``.pq``, each also with ``.gz``, ``.zst`` or ``.zstd`` after it.
        ``"-"`` is standard input, read as CSV.
    label, score, group : str or int
        Columns, by name or by number from 1 (a text of digits is a number unless a column has that name).
        Labels are 0/1 or true/false in any case. Scores are numbers; ``inf`` is one. An empty cell, ``nan``, ``NA`` and
        ``null`` are missing scores. Scores written as text are int64, exact, if every one is such an integer, else
        float64. Integers beside missing scores are float64.
    nan_policy : {"raise", "worst", "omit"}
        ``"raise"``: a missing score is an error. Otherwise it is NaN in the result, for `HitCurve` to deal with.
    header : bool
        Whether the first line of a CSV or TSV file holds the column names. Parquet always has them.

    Returns
    -------
    Columns

    Raises
    ------
    ValueError
        A column is not there, a cell is no label or no number, a row has another number of cells than the first line,
        the file cannot be decompressed. The text names file, row (from 1, without the header; for CSV and TSV files
        also the line of the file), column and value.
    ImportError
        pyarrow is not installed.
    """
    try:
        import pyarrow as pa
    except ImportError as error:
        raise ImportError('reading files needs pyarrow: pip install "hitcurve[files]"') from error

    if nan_policy not in ("raise", "worst", "omit"):
        raise ValueError(f"nan_policy is {nan_policy!r}: it must be 'raise', 'worst' or 'omit'")
    shown, kind, _ = _kind(path)
    asked = [label, score] if group is None else [label, score, group]
    labels: list[NDArray[np.uint8]] = []
    scores: list[NDArray[Any]] = []
    groups: list[Any] = []
    rows = 0
    try:
        with _opened(path) as stream:
            for batch in _parquet(stream, shown, asked) if kind == "parquet" else _text(stream, path, asked, header):
                column = label
                try:
                    labels.append(_labels(batch[0]))
                    column = score
                    scores.append(_scores(batch[1], nan_policy))
                    if group is not None:
                        column = group
                        groups.append(_encoded(batch[2]))
                except _BadCell as bad:
                    place = "" if bad.index is None else f"{_place(path, header, rows + bad.index + 1)}, "
                    raise ValueError(f"{shown}: {place}column {column!r}: {bad}") from None
                rows += len(batch[0])
    except pa.ArrowInvalid as error:
        raise ValueError(f"{shown}: {_first_line(error)}") from None
    except OSError as error:
        # The system's own errors name the file; those of a broken compressed stream do not.
        if error.filename is None:
            raise ValueError(f"{shown}: cannot be read: {_first_line(error)}") from None
        raise
    codes, group_names = _joined(groups) if group is not None else (None, [])
    return Columns(
        np.concatenate([np.empty(0, np.uint8), *labels]),
        np.concatenate(scores) if scores else np.empty(0, np.float64),
        codes,
        group_names,
    )


def _kind(path: str | os.PathLike[str]) -> tuple[str, str, str | None]:
    """What errors call the file, "parquet" or the delimiter, and the compression."""
    text = os.fspath(path)
    if text == "-":
        return "standard input", ",", None
    stem, suffix = os.path.splitext(text)
    compression = _COMPRESSIONS.get(suffix.lower())
    if compression:
        suffix = os.path.splitext(stem)[1]
    if suffix.lower() in _PARQUET:
        return text, "parquet", compression
    if suffix.lower() in _DELIMITERS:
        return text, _DELIMITERS[suffix.lower()], compression
    raise ValueError(
        f"{text}: the name must end in {', '.join((*_DELIMITERS, *_PARQUET))}, each also with "
        f"{', '.join(_COMPRESSIONS)} after it"
    )


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[Any]:
    """The bytes of the file, decompressed."""
    import pyarrow as pa

    _, kind, compression = _kind(path)
    if os.fspath(path) == "-":
        yield sys.stdin.buffer
        return
    with open(path, "rb") as file:
        if compression is None:
            yield file
            return
        with pa.input_stream(file, compression=compression) as stream:
            # Parquet is read from its end, which a compressed stream does not offer.
            yield pa.BufferReader(stream.read()) if kind == "parquet" else io.BufferedReader(stream, 1 << 20)


def _parquet(stream: Any, shown: str, asked: list[str | int]) -> Iterator[list[Any]]:
    """The columns asked for, batch by batch."""
    from pyarrow import parquet

    file = parquet.ParquetFile(stream)
    names = file.schema_arrow.names
    found = [names[_found(shown, names, column)] for column in asked]
    for name in found:
        if names.count(name) > 1:
            raise ValueError(f"{shown}: {names.count(name)} columns are called {name!r}")
    for batch in file.iter_batches(columns=found):
        yield [batch.column(name) for name in found]


def _text(stream: Any, path: str | os.PathLike[str], asked: list[str | int], header: bool) -> Iterator[list[Any]]:
    """The cells of the columns asked for as text, batch by batch."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    shown, delimiter, _ = _kind(path)
    if header:
        # Arrow finds columns by name only; reading the first line here allows numbers and repeated names.
        names = next((row for row in _rows(stream, delimiter) if row), None)
        if names is None:
            raise ValueError(f"{shown}: there is no line with column names")
        places = [_found(shown, names, column) for column in asked]
        first_label, first_score = (names[place] for place in places[:2])
        looks_like_data = first_label.strip().lower() in _LABELS and _is_number(first_score)
        # Columns may be called 0, 1, 2; then they are asked for by names that are not their numbers.
        by_name = any(column == names[at] != str(at + 1) for column, at in zip(asked, places, strict=True))
        if looks_like_data and not by_name:
            raise ValueError(
                f"{shown}: the first line holds a label ({first_label!r}) and a score ({first_score!r}) where column "
                "names should be; read it with header=False (--no-header)"
            )
        columns = [f"f{place}" for place in range(len(names))]
    else:
        places = [_number(shown, column) - 1 for column in asked]
        columns = []
    if not stream.peek(1):
        return
    keys = [f"f{place}" for place in places]
    bad_rows: list[Any] = []

    def refuse(row: Any) -> str:
        bad_rows.append(row)
        return "error"

    try:
        # One thread: with more, a row of the wrong length has no number to report, and the speed is the same.
        for batch in arrow_csv.open_csv(
            stream,
            read_options=arrow_csv.ReadOptions(
                column_names=columns, autogenerate_column_names=not header, use_threads=False
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, invalid_row_handler=refuse
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types={key: pa.string() for key in keys}, include_columns=sorted(set(keys))
            ),
        ):
            yield [batch.column(key) for key in keys]
    except pa.ArrowKeyError:
        raise ValueError(f"{shown}: the first line has fewer than {max(places) + 1} columns") from None
    except pa.ArrowInvalid:
        if not bad_rows:
            raise
        bad = bad_rows[0]
        raise ValueError(
            f"{shown}: {_place(path, header, bad.number)}: {bad.actual_columns} cells where the first line has "
            f"{bad.expected_columns}: {_short(bad.text)}"
        ) from None


def _rows(stream: Any, delimiter: str) -> Iterator[list[str]]:
    """The rows of a CSV stream, read no further than asked; an empty list for a blank line."""
    lines = (line.decode("utf-8-sig", "replace") for line in iter(stream.readline, b""))
    return csv.reader(lines, delimiter=delimiter)


def _place(path: str | os.PathLike[str], header: bool, row: int) -> str:
    """The row in words, with its line in a text file, found by reading the file again."""
    _, kind, _ = _kind(path)
    if kind == "parquet" or os.fspath(path) == "-":
        return f"row {row}"
    with _opened(path) as stream:
        reader: Any = _rows(stream, kind)
        left = row + header
        while left:
            line = reader.line_num + 1
            left -= bool(next(reader))
    return f"row {row} (line {line})"


def _found(shown: str, names: list[str], column: str | int) -> int:
    """The place of a column among the names of the file."""
    if isinstance(column, str) and column in names:
        if names.count(column) > 1:
            numbers = ", ".join(str(place + 1) for place, name in enumerate(names) if name == column)
            raise ValueError(f"{shown}: {names.count(column)} columns are called {column!r}; give a number: {numbers}")
        return names.index(column)
    if isinstance(column, int) or (column.isascii() and column.isdigit()):
        number = _number(shown, column)
        if number > len(names):
            raise ValueError(f"{shown}: there is no column {number}: the file has {len(names)}")
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
    if pa.types.is_boolean(cells.type):
        labels = pc.cast(cells, pa.uint8())
    elif pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type):
        is_label = pc.or_(pc.equal(cells, 0), pc.equal(cells, 1))
        labels = pc.if_else(is_label, pc.cast(pc.equal(cells, 1), pa.uint8()), None)
    elif pa.types.is_string(cells.type):
        texts = pc.utf8_lower(pc.utf8_trim_whitespace(cells))
        codes = pc.index_in(texts, value_set=pa.array(_LABELS))
        labels = pc.cast(pc.bit_wise_and(codes, 1), pa.uint8())
    else:
        raise _BadCell(None, f"it holds {cells.type}: labels must be 0/1 or true/false")
    if labels.null_count:
        index = pc.index(pc.is_null(labels), True).as_py()
        raise _BadCell(index, f"the label is {_value(cells, index)}: labels must be 0/1 or true/false")
    found: NDArray[np.uint8] = labels.to_numpy(zero_copy_only=False)
    return found


def _scores(cells: Any, nan_policy: str) -> NDArray[Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = numbers = _plain(cells)
    if pa.types.is_string(cells.type):
        numbers = _parsed(pc.utf8_trim_whitespace(cells))
    elif pa.types.is_boolean(cells.type):
        numbers = pc.cast(cells, pa.uint8())
    elif pa.types.is_decimal(cells.type):
        numbers = pc.cast(cells, pa.float64())
    elif not (pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type)):
        raise _BadCell(None, f"it holds {cells.type}, not numbers")
    scores: NDArray[Any] = numbers.to_numpy(zero_copy_only=False)
    if nan_policy == "raise" and scores.dtype.kind == "f":
        missing = np.isnan(scores)
        if missing.any():
            index = int(missing.argmax())
            raise _BadCell(
                index,
                f"the score is {_value(cells, index)}, which has no rank: rank such rows last (nan_policy 'worst') or "
                "leave them out ('omit')",
            )
    return scores


def _parsed(texts: Any) -> Any:
    """Numbers from text: int64 if all are, else float64, null where missing."""
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
        return floats


def _is_number(text: str) -> bool:
    import pyarrow as pa

    try:
        pa.scalar(text.strip()).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _encoded(cells: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    missing = pc.is_null(cells, nan_is_null=True)
    if pa.types.is_string(cells.type):
        missing = pc.or_(missing, pc.equal(cells, ""))
    if pc.any(missing).as_py():
        raise _BadCell(pc.index(missing, True).as_py(), "the group is empty")
    return cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()


def _joined(batches: list[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    """One code a row, in ascending order of the names, and the names."""
    import pyarrow as pa

    if not batches:
        return np.empty(0, np.int64), []
    whole = pa.chunked_array(batches).unify_dictionaries().combine_chunks()
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    names = whole.dictionary.to_pylist()
    try:
        integers = [int(name) for name in names]
    except (TypeError, ValueError):
        integers = []
    if [str(integer) for integer in integers] == [str(name) for name in names]:
        names = integers
    codes = whole.indices.to_numpy()
    used = sorted(set(np.unique(codes).tolist()), key=lambda code: names[code])
    rank = np.zeros(len(names), np.int64)
    rank[used] = np.arange(len(used))
    return rank[codes], [names[code] for code in used]


def _plain(cells: Any) -> Any:
    """The cells with any encoding of a text or dictionary column undone."""
    import pyarrow as pa
    import pyarrow.compute as pc

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
