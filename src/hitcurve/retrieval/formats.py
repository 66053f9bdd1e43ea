"""Convert judgments and runs of other formats and libraries to columns, dicts, or a list of ids for each query."""

from __future__ import annotations

import codecs
import math
import os
import re
from collections.abc import Mapping, Sequence, Set
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hitcurve._base.checks import LARGE
from hitcurve._base.extras import needed
from hitcurve._base.files import OpenMark, RowEnd, TextFile
from hitcurve._base.given import at_hand, frame_columns
from hitcurve._base.words import many
from hitcurve.retrieval.frames import PLAIN, Found, Rows, Unclear, find, is_columns, is_other
from hitcurve.retrieval.runs import Grouped

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FORMATS", "Listed", "field_of", "form_of", "is_json", "is_mapping_of_runs", "is_one_run", "of_ir_datasets",
           "of_text", "shaped", "text_of"]

FORMATS = ("trec", "json", "csv", "msmarco", "scores")  # `read_qrels` and `read_run` say what they are


class Listed(NamedTuple):
    """Documents of queries without ids. The queries are numbered from 0, and keep their order."""

    starts: NDArray[np.int64]
    names: list[str]
    docs: NDArray[np.int64]
    values: Any


# ------------------------------------------------------------------------------------------------- objects

def shaped(source: Any, value: str, name: str) -> tuple[Any, str]:
    """Convert a source to a mapping, a frame or `Listed`, and give its name; an unknown source stays as it is."""
    if type(source).__module__.partition(".")[0] == "ranx":
        return source.to_dict(), source.name or name
    source = at_hand(source)
    if hasattr(source, "tocsr") or (hasattr(source, "indptr") and hasattr(source, "indices")):
        return _sparse(source, name), name
    if isinstance(source, Mapping) or frame_columns(source) is not None:
        return source, name
    if _of_records(source):
        field = next((one for one in (value, "label", "rel") if hasattr(source[0], one)), value)
        return {"query_id": field_of(source, "query_id", name), "doc_id": field_of(source, "doc_id", name),
                value: field_of(source, field, name)}, name
    if _of_columns(source):
        columns = [np.asarray(one) if hasattr(one, "__array__") and not hasattr(one, "to_numpy") else one
                   for one in source]
        return dict(zip(("query_id", "doc_id", value), columns, strict=True)), name
    if isinstance(source, (list, tuple)) or getattr(source, "ndim", 0) == 2:
        return _rows(source, value != "score", name), name
    return source, name


def is_one_run(run: Any) -> bool:
    """Whether `run` is a single run: named tuples, three columns, lists of ids, or no list. If not, it lists runs."""
    if not isinstance(run, (list, tuple)) or _of_records(run) or _of_columns(run):
        return True
    if not run or not all(isinstance(row, (list, tuple)) or getattr(row, "ndim", 0) == 1 for row in run):
        return False
    first = next((row for row in run if len(row)), None)
    return first is None or _whole(next(iter(first)))


def is_mapping_of_runs(run: Any, rows: Rows = PLAIN) -> bool:
    """Whether a mapping has names and runs, rather than queries and documents or the columns of one run."""
    if isinstance(run, Grouped) or not isinstance(run, Mapping):
        return False
    return not is_columns(run, rows) and any(map(_is_run, run.values(), repeat(rows)))


def _is_run(value: Any, rows: Rows) -> bool:
    """Whether a value is a run, rather than the documents of a query."""
    if isinstance(value, Grouped):
        return True
    if type(value) is dict or isinstance(value, Mapping):  # of columns, or of the documents of queries
        first = _first(value)
        if type(first) is float or first is None or isinstance(first, (int, float, np.number)):  # a score
            return False
        listed = isinstance(first, (Mapping, Set, list, tuple)) or getattr(first, "ndim", 0) == 1
        return is_columns(value, rows) or listed
    if isinstance(value, (list, tuple)):
        return _of_records(value) or _of_columns(value) or (len(value) > 0 and isinstance(value[0], (list, np.ndarray)))
    return not isinstance(value, Set) and (
        is_other(value) or hasattr(value, "to_dict") or getattr(value, "ndim", 0) == 2)  # a matrix of ids


def _first(values: Mapping[Any, Any]) -> Any:
    """The first value, or None."""
    while True:
        try:
            return next(iter(values.values()), None)
        except RuntimeError:
            if type(values) is not dict:
                raise  # for a dict, another thread changed it between the two steps: try again


def _whole(value: Any) -> bool:
    if hasattr(value, "dtype"):  # torch's too
        return getattr(value, "ndim", 0) == 0 and "int" in str(value.dtype)
    return isinstance(value, int) and not isinstance(value, bool)


def _of_records(source: Any) -> bool:
    first = source[0] if isinstance(source, (list, tuple)) and source else None
    return isinstance(first, tuple) and hasattr(first, "query_id") and hasattr(first, "doc_id")


def field_of(source: Sequence[Any], field: str, name: str) -> list[Any]:
    """A field of all named tuples; an error if one of them lacks it."""
    try:
        return [getattr(one, field) for one in source]
    except AttributeError:
        row = next(i for i, one in enumerate(source) if not hasattr(one, field))
        raise ValueError(f"{name}: the entry in row {row} has no {field}: {source[row]!r}") from None


def _of_columns(source: Any) -> bool:
    """Whether it is a tuple (query, document, value) of arrays or lists."""
    return isinstance(source, tuple) and len(source) == 3 and not hasattr(source, "_fields") and all(map(_flat, source))


def _flat(one: Any) -> bool:
    if isinstance(one, list):
        return not one or isinstance(one[0], (str, bytes)) or not hasattr(one[0], "__len__")
    pyarrow = hasattr(one, "to_pylist") and not hasattr(one, "column_names")
    return pyarrow or getattr(one, "ndim", len(getattr(one, "shape", ()))) == 1


def _sparse(source: Any, name: str) -> Listed:
    if getattr(source, "format", "csr") != "csr":
        raise TypeError(f"{name} is a sparse matrix in format {source.format!r}: pass {name}.tocsr()")
    starts, docs = (np.asarray(one).astype(np.int64) for one in (source.indptr, source.indices))
    return Listed(starts[:-1], list(map(str, range(len(starts) - 1))), docs, np.asarray(source.data))


def _rows(source: Any, judgments: bool, name: str) -> Listed:
    """Ids in rows, the best id first; -1 means no id."""
    if hasattr(source, "ndim"):
        ids = np.asarray(source)
        lengths = np.full(ids.shape[0], ids.shape[1])
    else:
        rows = [_row(row, i, judgments, name) for i, row in enumerate(source)]
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        full = [row for row in rows if len(row)]
        if not full:
            ids = np.zeros(0, np.int64)
        elif all(isinstance(row, np.ndarray) for row in full):
            ids = np.concatenate(full)
        else:
            flat = list(chain.from_iterable(full))
            ids = np.array(flat, dtype=object if {bool, np.bool_} & set(map(type, flat)) else None)
    if ids.dtype.kind not in "iu" or (ids.size and ids.max() > np.iinfo(np.int64).max):
        raise TypeError(f"{name}: ids in rows must be whole numbers that 64 bits hold" + _wrong(source, ids))
    docs = np.ascontiguousarray(ids, dtype=np.int64).reshape(-1)
    if judgments:
        values = np.ones(len(docs))
        if isinstance(source, (list, tuple)) and any(isinstance(row, Mapping) for row in source):
            values = list(chain.from_iterable(  # type: ignore[assignment]
                row.values() if isinstance(row, Mapping) else [1] * len(row) for row in source))
    elif hasattr(source, "ndim"):
        values = np.tile(-np.arange(float(ids.shape[1])), ids.shape[0])
    else:
        values = np.repeat(np.cumsum(lengths) - lengths, lengths) - np.arange(float(len(docs)))
    if len(docs) and docs.min() < 0:
        row_of = np.repeat(np.arange(len(lengths)), lengths)
        if docs.min() < -1:
            place = int(np.argmax(docs < -1))
            raise ValueError(f"{name}: an id in row {row_of[place]} is {docs[place]}: ids are 0 or more, and -1 means "
                             "no id")
        kept = docs >= 0
        lengths = np.bincount(row_of[kept], minlength=len(lengths))
        docs, values = docs[kept], np.asarray(values)[kept]
    return Listed(np.cumsum(lengths) - lengths, list(map(str, range(len(lengths)))), docs, values)


def _row(row: Any, i: int, judgments: bool, name: str) -> Any:
    if isinstance(row, (list, tuple)):
        return row
    if hasattr(row, "ndim"):
        if row.ndim == 1:
            return np.asarray(row)
    elif judgments and isinstance(row, (Mapping, set, frozenset)):
        return list(row)
    what = "a list of ids" + (", or a dict of ids and levels" if judgments else "")
    raise TypeError(f"{name}: row {i} is {row!r}: a row must be {what}")


def _wrong(source: Any, ids: NDArray[Any]) -> str:
    if hasattr(source, "ndim"):
        return (f", not {ids.dtype}: pass the ids alone, the best first; scores of all items, in a matrix of queries "
                "and items, are for hitcurve.HitCurves and GainCurves")
    odd = ((i, one) for i, row in enumerate(source) for one in row if not _whole(one))
    return next((f", but row {i} has {one!r}" for i, one in odd), "")


# --------------------------------------------------------------------------------------------------- texts

def text_of(source: Any) -> bool:
    """Whether `source` is the name of a file that is read as TREC or Parquet first."""
    if isinstance(source, str):
        named = source.startswith("ir_datasets:") or re.search(r"\.json(\.\w+)?$", source, re.IGNORECASE)
        return not named and not is_json(source)
    return isinstance(source, os.PathLike) and text_of(os.fspath(source))


def is_json(text: str) -> bool:
    """Whether a text is an object of JSON, rather than the name of a file."""
    text = text.strip()
    return text[:1] == "{" and text[-1:] == "}"


def of_ir_datasets(source: str, judgments: bool) -> Any:
    """The named tuples of a data set of ir_datasets."""
    name = source.partition(":")[2]
    what = "qrels" if judgments else "scoreddocs"
    try:
        found = needed("ir_datasets", repr(source)).load(name)
    except KeyError:
        raise ValueError(f"{source!r}: ir_datasets has no data set {name!r}") from None
    if not getattr(found, f"has_{what}")():
        raise ValueError(f"{source!r}: the data set has no {what}")
    return getattr(found, f"{what}_iter")()


def of_text(text: Any, value: str, name: str, how: str | ValueError, rows: Rows,
            more: Sequence[str] = ()) -> tuple[Any, Found | None]:
    """A mapping made from a text that is not in TREC's format, and the columns of its header if it has a header.

    `how` names the format, or is the error of reading the text as TREC. Then the format is guessed from the text, and
    the error is raised if the text looks like no other format. `more`: as for `find`. A table then has the column
    "line", too: the numbers of its lines.
    """
    of_file = isinstance(text, TextFile)
    written = how if isinstance(how, str) else _guessed(
        _unmarked(text.head() if of_file else text), value, name, how, rows)
    text = _unmarked(text.read() if of_file else text)
    if written == "json":
        return _json(text, name), None
    if written == "csv":
        return _csv(text, value, name, rows, more)
    return _three(text, value, written, name), Found({}, [], True)


def _unmarked(text: Any) -> bytes:
    return bytes(text).removeprefix(codecs.BOM_UTF8)


def form_of(text: bytes, value: str, name: str, rows: Rows, more: Sequence[str] = ()) -> tuple[str, list[bytes]]:
    """(what the first line looks like: "trec", "json", "csv" or "", the fields of this line)."""
    lines = (line.strip() for line in text.removeprefix(codecs.BOM_UTF8).split(b"\n", 99))
    first = next((line for line in lines if line and line[:1] != b"#"), b"")
    fields = first.split()
    width, place = (6, 4) if value == "score" else (max(4, 3 + len(more)), -1)
    if len(fields) == width and _floats(fields[place]):
        return "trec", fields
    if first[:1] in (b"{", b"["):
        return "json", fields
    return "csv" if _header(first.decode("utf-8", "surrogateescape"), value, name, rows, more) else "", fields


def _guessed(text: bytes, value: str, name: str, error: ValueError, rows: Rows) -> str:
    form, fields = form_of(text, value, name, rows)
    if form != "trec":
        if form:
            return form
        if len(fields) == 3 and _floats(fields[2]):
            if value != "score":
                return "msmarco"
            raise ValueError(f"{name}: the third of three columns may hold ranks or scores: for ranks use "
                             "hitcurve.read_run(path, format='msmarco'), for scores format='scores'") from None
        if re.search(r"\.(csv|tsv|tab|jsonl?)(\.\w+)?$", name, re.IGNORECASE):
            raise ValueError(f"{error}; {name} may be in another format: format= takes {', '.join(FORMATS)}") from None
    raise error


def _json(text: bytes, name: str) -> Any:
    import json

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            raise ValueError(f"{next(key for key in keys if keys.count(key) > 1)!r} occurs twice")
        return found

    extreme = re.search(rb"\d[eE]\+?\d{3}|\d{300}", text)  # Python reads a number beyond a double as infinite
    try:
        return json.loads(text, object_pairs_hook=once, parse_float=_held if extreme else None)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name}: JSON: {error}") from None


def _header(line: str, value: str, name: str, rows: Rows,
            more: Sequence[str] = ()) -> tuple[str, list[str], Found] | None:
    """The delimiter of a header, its names, and what they name; None if the line is no header."""
    problem: ValueError | None = None
    for delimiter in "\t,;":
        names = [one.strip().strip('"') for one in line.split(delimiter)]
        try:
            return delimiter, names, find(names, value, rows, name, text=True, more=more)
        except Unclear as error:
            problem = ValueError(str(error)) if len(names) > 1 else problem
        except ValueError:
            pass
    if problem is not None:
        raise problem
    return None


def _csv(text: bytes, value: str, name: str, rows: Rows, more: Sequence[str]) -> tuple[dict[str, Any], Found]:
    import csv

    lines = text.replace(b"\r\n", b"\n").removesuffix(b"\n").split(b"\n")
    begin = next((i for i, line in enumerate(lines) if line.strip() and line[:1] != b"#"), 0)
    header = lines[begin].decode("utf-8", "surrogateescape")
    known = _header(header.strip(), value, name, rows, more)
    if known is None:
        others = "".join(f"the {one}, " for one in more)
        raise ValueError(f"{name}, line {begin + 1}: the header must have columns for the query (such as query_id), "
                         f"{others}the document (doc_id) and the {value}, or columns= must name them: {header!r}")
    delimiter, names, found = known
    try:
        _check_marks(lines, begin, delimiter)
    except OpenMark as error:
        raise ValueError(f"{name}, {error}") from None
    texts = (line.decode("utf-8", "surrogateescape") + "\n" for line in lines[begin + 1 :])
    reader = csv.reader(texts, delimiter=delimiter, strict=True, skipinitialspace=True)
    width = header.count(delimiter) + 1
    numbered: list[tuple[int, list[str]]] = []
    try:
        for row in reader:
            if row:
                numbered.append((begin + 1 + reader.line_num, row))
                if len(row) != width:
                    raise ValueError(f"the row has {many(len(row), 'columns')}, but the header has {width}")
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{name}, line {begin + 1 + reader.line_num}: {error}") from None
    places = [names.index(found.heads[role]) if role in found.heads else -1
              for role in ("query", "document", value, "rank")]  # fmt: skip
    columns = _columns(value, numbered, places, name)
    if more:
        columns |= {one: [row[at] for _, row in numbered] for one in more for at in [names.index(found.heads[one])]}
        columns["line"] = [line for line, _ in numbered]
    return columns, found


def _check_marks(lines: list[bytes], begin: int, delimiter: str) -> None:
    """An error if a quotation mark opens a cell, with or without blanks before it, and is not closed."""
    ended = RowEnd(delimiter, begin)
    text = b"\n".join(lines[begin:])
    if b'"' in text:
        ended(re.sub(rb'(?<![^%b]) +(?=")' % ended.ends, b"", text), b"")
        ended.end()


def _three(text: bytes, value: str, written: str, name: str) -> dict[str, Any]:
    """The columns of a text with three columns and no header; judgments may have TREC's four columns."""
    numbered = [(i, row) for i, line in enumerate(text.split(b"\n"), 1) if (row := line.split()) and row[0][:1] != b"#"]
    width = len(numbered[0][1]) if numbered and value != "score" else 3
    for i, row in numbered:
        if len(row) != width or not 3 <= width <= 4:
            raise ValueError(f"{name}, line {i}: the line has {many(len(row), 'columns')}, but {written} has "
                             f"{'3' if value == 'score' else '3 or 4'}: {b' '.join(row)!r}")
    last = (-1, width - 1) if written == "msmarco" and value == "score" else (width - 1, -1)
    return _columns(value, numbered, [0, width - 2, *last], name)


def _columns(value: str, numbered: list[tuple[int, Any]], places: list[int], name: str) -> dict[str, Any]:
    """The columns at the places of query, document, value and rank (-1: no column). Ranks alone make the scores."""
    query, doc, place, rank = places
    found: dict[str, Any] = {"query_id": [row[query] for _, row in numbered]}
    found["doc_id"] = [row[doc] for _, row in numbered]
    if value == "relevance" and place < 0:  # each row is relevant
        found[value] = np.ones(len(numbered))
    for what, at in ((value, place), ("rank", rank)):
        if at >= 0:
            values = []
            for line, row in numbered:
                try:
                    values.append(_held(row[at]))
                except ValueError as error:
                    raise ValueError(f"{name}, line {line}: the {what} is {error}") from None
            found[what] = np.array(values, dtype=np.float64)
    return found


def _held(text: Any) -> float:
    """The number in a text; an error if no double holds it. Fractions become the nearest double."""
    try:
        number = _float(text)
    except ValueError:
        raise ValueError(f"{text!r}: it must be a number") from None
    if abs(number) >= LARGE:
        digits = (text.decode() if isinstance(text, bytes) else text).strip().lstrip("+-").lstrip("0")
        if math.isinf(number) and not digits[0].isalpha():
            raise ValueError(f"{text!r}: it is beyond the range of a double")
        if digits.isdigit() and int(digits) != abs(number):
            raise ValueError(f"{text!r}: it is a whole number that no double holds")
    return number


def _float(text: Any) -> float:
    number = float(text)
    if number != number or (b"_" if isinstance(text, bytes) else "_") in text:
        raise ValueError
    return number


def _floats(text: Any) -> bool:
    try:
        _float(text)
    except ValueError:
        return False
    return True
