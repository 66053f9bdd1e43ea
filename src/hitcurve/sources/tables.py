"""Read labels and scores of items from files, batch by batch: CSV, TSV, Parquet, Excel, SMILES with scores, SDF."""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hitcurve._base.checks import LARGE, check_options, quoted
from hitcurve._base.extras import Later, needed
from hitcurve._base.files import (
    OpenMark,
    Path,
    RowEnd,
    check_unchanged,
    file_kind,
    file_state,
    first_line,
    opened,
    parquet_errors,
)
from hitcurve._base.words import many, meant, unit_of
from hitcurve._base.workers import check_workers, in_threads
from hitcurve.sources.cells import (
    KNOWN,
    LABELS,
    MISSING,
    Actives,
    BadCell,
    Column,
    Layout,
    Rules,
    ascending,
    coded,
    converted,
    has_nan,
    is_number,
    strings,
    text_of,
    whole,
)
from hitcurve.sources.pieces import Piece, Source, Task, new_rows, piece_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

pa: Any = Later("pyarrow")
pc: Any = Later("pyarrow.compute")
arrow_csv: Any = Later("pyarrow.csv")
parquet: Any = Later("pyarrow.parquet")

__all__ = ["TableReader", "column_names", "places_of", "read_actives", "read_columns"]

# Text is read in slabs of whole rows. Each thread reads one slab, which fits its cache.
_SLAB = 2 << 20
_FIRST_SLAB = 1 << 16  # read cell by cell
_PARQUET_ROWS = 1 << 18
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}  # delimiters that are tried
_TITLE = "_Name"  # RDKit's name for the first line of an SDF record


class TableReader(Source):
    """The wanted columns of one or several files, in the order of the rows. Each iteration reads the files again.

    paths : the files, which are read one after the other. ``"-"`` is standard input, which is read as CSV, once.
    label, scores, group, ids : columns, by name or by number from 1. A text of digits is a number unless a column has
        that name. The columns of SDF have no numbers; ``_Name`` is the first line of a record. Labels are 0/1 or
        true/false in any case. Scores are numbers, and ``inf`` is a number. An empty cell, ``nan``, ``NA`` and ``null``
        are missing scores. Scores in text are int64 if all scores of the batch are integers of 64 bits, else float64.
        Integers beside missing scores become float64. Decimals become int64 without a fraction, else the nearest
        float64. It is an error if an integer or a decimal must become float64 and no float64 holds its digits.
    grade : the column of the levels of relevance, in place of `label`.
    subtopics : the columns of the levels for each subtopic, in place of `label`.
    actives : the ids of the relevant items, or for each group its ids, in place of `label`. It needs `ids`.
    by_file : each file is a group, with the name of the file, or with its path if two files have the same name.
    nan_policy : "raise": a missing score is an error. Otherwise it is NaN in the batch.
    unlabelled : no row is relevant, in place of `label`.
    layout : how text is written. Parquet always has the names of its columns. The first line of a SMILES file holds
        names if a column is wanted by name, or if the line has no number in place of the score. Without `delimiter` the
        ending of the file's name decides, and without `decimal` the decimal mark is a point. If the first rows (64 KB)
        cannot be read in this form, but can be read with one other of commas, semicolons and tabs, or with decimal
        commas, that form is taken, and `notes` says so. `na` are further texts that mean a missing score; if such a
        text is a number, cells of its value are missing scores too. `positive` is the label of relevant rows; rows with
        any other label are not relevant, and an empty label is an error.
    workers : the number of threads, -1 for all cores. The batches do not depend on it.

    `codes` has the code of each group so far, in the order in which the groups occur. It is kept when the files are
    read again. `notes` are sentences about how files were read. A ValueError while iterating names file, row (from 1,
    without the header; for text and Excel files also the line), column and value.
    """

    def __init__(self, paths: Sequence[Path], label: Column | None, scores: Sequence[Column],
                 group: Column | None = None, *, ids: Column | None = None,
                 actives: Actives | Iterable[str] | Mapping[str | None, Iterable[str]] | None = None,
                 by_file: bool = False, nan_policy: str = "raise", unlabelled: bool = False,
                 grade: Column | None = None, subtopics: Sequence[Column] = (), workers: int = -1,
                 layout: Layout = Layout()) -> None:  # fmt: skip  # noqa: B008
        check_options(nan_policy=nan_policy)
        self.rules = layout.rules(nan_policy, label is not None)
        self._delimiter, self._any_decimal = _checked_delimiter(layout.delimiter, paths), layout.decimal is None
        self._forms: dict[str, _Form] = {}  # of files whose form is not what their names say
        self._sheets: dict[str, str] = {}
        if (label is not None) + (grade is not None) + (actives is not None) + unlabelled + bool(subtopics) != 1:
            raise ValueError("give exactly one of label, grade and actives")
        if actives is not None and ids is None:
            raise ValueError("actives are found by their ids, but ids does not name the column of the ids")
        if by_file and group is not None:
            raise ValueError("by_file and group are both given, but only one of them can make the groups")
        self.workers = check_workers(workers)
        needed("pyarrow", "reading files")
        needed("pyarrow.compute", "reading files")  # import it early: if memory lacks, the import ends the process
        self.paths, self.nan_policy, self.header = list(paths), nan_policy, layout.header
        shown = [file_kind(path)[0] for path in paths]
        short = [os.path.basename(path) for path in shown]
        self._file_names = dict(zip(shown, short if len({*short}) == len(short) else shown, strict=True))
        self.codes: dict[Any, int] = {}  # the codes of the groups, in the order in which the groups occur
        self._starts: list[int] = []  # the number of rows before each file
        self._by_file, self._group = by_file, group
        self.grouped = by_file or group is not None
        self.unit = "files" if by_file else unit_of(str(group))  # the word for groups
        self._header_read = layout.header
        self.actives = actives if actives is None or isinstance(actives, Actives) else Actives(actives)
        # The columns, in their order in the batches of cells.
        columns = [("label", label), ("grade", grade), *(("grade", column) for column in subtopics),
                   *(("score", score) for score in scores), ("group", group)]
        self.roles = [(role, column) for role, column in [*columns, ("ids", ids)] if column is not None]
        self.asked = [column for _, column in self.roles]
        self.graded, self.names = grade is not None or bool(subtopics), tuple(subtopics)
        self.rows_of_levels = new_rows() if subtopics else None

    def __iter__(self) -> Iterator[Piece]:
        for task in self.tasks("rows"):
            yield from task()

    def tasks(self, want: str) -> Iterator[Task]:
        start, self._starts = 0, []
        for path in self.paths:
            self._starts.append(start)
            for piece in self.batches(path, want, start):
                start += piece.rows
                yield lambda piece=piece: (piece,)  # type: ignore[misc]
        one = len(self._file_names) == 1
        self.rules.check_met(next(iter(self._file_names)) if one else f"{len(self._file_names)} files")

    @property
    def notes(self) -> list[str]:  # type: ignore[override]
        """Sentences about files whose form is not what their names say, and about Excel files with several sheets."""
        alike: dict[str, list[str]] = {}
        for shown, form in self._forms.items():
            _, kind, _ = file_kind("-" if shown == "standard input" else shown)
            as_said = form.delimiter == (self._delimiter or kind)
            between = [] if as_said else [f"{_DELIMITERS[form.delimiter]} between cells"]
            commas = ["decimal commas"] * (form.decimal != self.rules.decimal)
            alike.setdefault(" and ".join(between + commas), []).append(shown)
        said = []
        for found, files in alike.items():
            more = f" and {len(files) - 1:,} more" if len(files) > 1 else ""
            said.append(f"{files[0]}{more}: read with {found}")
        return [*said, *(f"{shown}: {sheet}" for shown, sheet in self._sheets.items())]

    def batches(self, path: Path, want: str, start: int) -> Iterator[Piece]:
        """The rows of a file, after `start` rows of other files. It is an error if the file changes meanwhile."""
        state = file_state(path)
        try:
            yield from self._batches(path, want, start)
        except (ValueError, RuntimeError):  # a generator turns StopIteration into RuntimeError
            if file_state(path) == state:
                raise
        check_unchanged(path, state)

    def _batches(self, path: Path, want: str, start: int) -> Iterator[Piece]:
        shown, kind, _ = file_kind(path)
        at = start
        try:
            with opened(path) as stream:
                read = {"parquet": self._parquet, "sdf": self._sdf, "excel": self._excel}.get(kind, self._text)
                for values in read(stream, path):
                    piece = self._piece(want, values, shown, at)
                    at += piece.rows
                    yield piece
        except BadCell as bad:
            raise bad.named(shown, lambda index: self._place(path, at - start + index + 1)) from None
        except (pa.ArrowException, csv.Error, OpenMark) as error:
            raise ValueError(f"{shown}: {first_line(error)}") from None
        except OSError as error:
            # The system's own errors name the file; those of a broken compressed stream do not.
            if error.filename is None:
                raise ValueError(f"{shown}: cannot be read: {first_line(error)}") from None
            raise

    def _piece(self, want: str, values: list[Any], shown: str, start: int) -> Piece:
        """The converted columns, with codes for the groups."""
        of: dict[str, Any] = {role: value for (role, _), value in zip(self.roles, values, strict=True)}
        scores = tuple(value for (role, _), value in zip(self.roles, values, strict=True) if role == "score")
        rows, group = scores[0].shape[0], None
        label = of.get("label", of.get("grade"))
        if self.rows_of_levels is not None:
            label = self.rows_of_levels.numbers_of(
                [value for (role, _), value in zip(self.roles, values, strict=True) if role == "grade"])
        elif label is None:
            label = np.zeros(rows, np.uint8)
        if self._by_file:
            group = np.full(rows, self.codes.setdefault(self._file_names[shown], len(self.codes)), np.int64)
        elif "group" in of:
            group = coded(of["group"], self.codes, self._group)
        if self.actives is not None:
            label = self.actives.labels(of["ids"], group, self.codes)
        return piece_of(want, scores, label, group, start, of.get("ids"), self.graded)

    def group_order(self) -> tuple[NDArray[np.int64], list[Any]]:
        """For each group its place in ascending order; the names in that order, as integers if all names are."""
        names = list(self.codes)
        if self._by_file:
            return np.arange(len(names)), names
        try:
            integers = [int(name) for name in names]
        except (TypeError, ValueError):
            integers = []
        return ascending(integers if list(map(str, integers)) == list(map(str, names)) else names)

    def place(self, row: int) -> str:
        at = max(at for at, start in enumerate(self._starts) if start <= row)
        path = self.paths[at]
        return f"{file_kind(path)[0]}: {self._place(path, row - self._starts[at] + 1)}"

    def _place(self, path: Path, row: int) -> str:
        return _place(path, self._header_read, row, self._form(path).delimiter)

    def _form(self, path: Path) -> _Form:
        """The form in which the text of a file is read."""
        shown, kind, _ = file_kind(path)
        return self._forms.get(shown, _Form(self._delimiter or kind, self.rules.decimal))

    def guess(self) -> int | None:
        """The number of rows, estimated from the first megabyte of each file; None unless all are plain text files."""
        rows = 0
        for path in self.paths:
            shown, kind, compression = file_kind(path)
            if compression is not None or kind in ("parquet", "sdf", "excel") or not os.path.isfile(shown):
                return None
            with open(path, "rb") as file:
                start = file.read(1 << 20)
            if start:
                rows += round(os.path.getsize(path) * start.count(b"\n") / len(start))
        return rows

    def _values(self, cells: list[Any]) -> list[Any]:
        return converted(self.roles, cells, self.rules)

    def _places(self, shown: str, names: list[str] | None, decimal: str, found: bool = False) -> list[int]:
        """The places of the columns; `found`: True if the first line was recognised as names."""
        if names is None:
            places = [_number(shown, column) - 1 for column in self.asked]
        else:
            places = [_found(shown, names, column) for column in self.asked]
            if not found:
                self._refuse_data_as_names(shown, names, places, decimal)
        _check_apart(shown, self.roles, places)
        return places

    # Each of these methods reads a kind of file, and yields the values of its batches in file order.

    def _parquet(self, stream: Any, path: Path) -> Iterator[list[Any]]:
        shown, rows = file_kind(path)[0], 0
        with parquet_errors(shown):
            # Without pre_buffer, as it would keep whole columns in memory to the end of the file.
            file = parquet.ParquetFile(stream, pre_buffer=False, page_checksum_verification=True)
            schema = file.schema_arrow
            leaves = [leaves_of(schema, at) for at in places_of(shown, schema.names, self.roles)]
            groups = list(range(file.num_row_groups))
            for cells in columns_of(file.reader, leaves, _PARQUET_ROWS, groups, self.workers > 1):
                rows += len(cells[0])
                yield self._values(cells)
            if rows != file.metadata.num_rows:
                said = f"its metadata says {file.metadata.num_rows:,}"
                raise pa.ArrowInvalid(f"the file holds {many(rows, 'rows', ',')}, but {said}")

    def _sdf(self, stream: Any, path: Path) -> Iterator[list[Any]]:
        shown = file_kind(path)[0]
        for column in self.asked:
            if isinstance(column, int):
                raise ValueError(f"{shown}: column {column!r}: the properties of an SDF have names, not numbers")
        names = [str(column) for column in self.asked]
        slabs = _slabs(stream, lambda _, line: line.startswith(b"$$$$"))
        for first in slabs:
            # A name that no record of the first slab has is an error, which lists the names of the first record.
            seen, known = (
                list(dict.fromkeys([_TITLE, *(name.decode("utf-8", "replace") for name in _SDF_NAME.findall(text))]))
                for text in (first, first.partition(b"$$$$")[0])
            )
            for name in names:
                if name not in seen:
                    _found(shown, known, name)
            yield from in_threads(lambda slab: self._values(_sdf_cells(slab, names)), itertools.chain([first], slabs),
                                  self.workers, ahead=self.workers + 2)  # fmt: skip

    def _excel(self, stream: Any, path: Path) -> Iterator[list[Any]]:
        shown = file_kind(path)[0]
        sheets, rows = _sheet(stream)
        if len(sheets) > 1:
            self._sheets[shown] = f"only the first of its {len(sheets)} sheets, {sheets[0]!r}, is read"
        self._header_read = self.header
        if self.header and not rows:
            raise ValueError(f"{shown}: there is no row with column names")
        names = rows[0][1] if self.header else None
        places = self._places(shown, names, self.rules.decimal)
        width = len(rows[0][1]) if rows else 0
        if rows and max(places) >= width:
            raise ValueError(f"{shown}: the sheet has fewer than {many(max(places) + 1, 'columns')}")
        for start in range(int(self.header), len(rows), _PARQUET_ROWS):
            some = rows[start : start + _PARQUET_ROWS]
            yield self._values([strings(cells[place] for _, cells in some) for place in places])

    def _text(self, stream: Any, path: Path) -> Iterator[list[Any]]:
        shown, kind, _ = file_kind(path)
        if kind == "smiles":
            begun = self._begun(stream, shown, _Form("\t", self.rules.decimal), smiles=True)
        else:
            begun = self._found_out(_Head(stream), shown, self._form(path))
        if begun is not None:
            # The first slab was read cell by cell as text. It decides which columns of scores are integers.
            yield begun.values
            yield from in_threads(begun.parser, begun.slabs, self.workers, ahead=self.workers + 2)

    def _found_out(self, head: _Head, shown: str, form: _Form) -> _Begun | None:
        """The beginning of a file in this form, or else in the only other form in which it can be read."""
        met = dict(self.rules.met or {})
        try:
            begun = self._begun(head, shown, form)
        except _NoNamesError:
            raise  # the form is right: try no other
        except (BadCell, ValueError, csv.Error) as error:
            fits, near = self._others(head, shown, form)
            if not fits and near and not isinstance(error, (BadCell, OpenMark)):
                # In the other form all columns exist, and a cell is wrong: raise that error.
                self._forms[shown], bad = near
                raise bad from None
            if not fits:
                raise
            if len(fits) > 1:
                given = " and ".join(f"delimiter={one.delimiter!r}" for one in fits)
                raise ValueError(f"{shown}: the file can be read with {given}: pass one of them") from None
            (form,) = fits
            if self.rules.met is not None:  # forget the labels of other forms
                self.rules.met.clear()
                self.rules.met.update(met)
            head.again()
            begun = self._begun(head, shown, form)
            found_out = self._any_decimal and form.decimal == ","
            if begun is not None and found_out and (number := begun.thousands()) is not None:
                raise ValueError(f"{shown}: the comma of {number!r} may separate thousands or be the decimal mark: "
                                 "pass decimal=',' if it is the decimal mark") from None
            self._forms[shown] = form
        head.settled = True
        return begun

    def _others(self, head: _Head, shown: str,
                form: _Form) -> tuple[list[_Form], tuple[_Form, BadCell | OpenMark] | None]:  # fmt: skip
        """(the other forms in which a file can be read, the form that gets furthest before an error, with the error).

        The second is None unless exactly one delimiter makes the columns. Each delimiter is tried with decimal points,
        then with decimal commas.
        """
        fits: list[_Form] = []
        near: list[tuple[_Form, BadCell | OpenMark]] = []
        for delimiter in (form.delimiter,) if self._delimiter else dict.fromkeys([form.delimiter, *_DELIMITERS]):
            for decimal in (".", ",") if self._any_decimal else (form.decimal,):
                other = _Form(delimiter, decimal)
                if other == form:
                    continue
                head.again()
                try:
                    self._begun(head, shown, other)
                except (BadCell, OpenMark) as bad:
                    near.append((other, bad))
                except (ValueError, csv.Error):
                    pass
                else:
                    fits.append(other)
                    break
        alone = len({other.delimiter for other, _ in near}) == 1
        return fits, max(near, key=lambda one: one[1].index or 0) if alone else None

    def _begun(self, stream: Any, shown: str, form: _Form, smiles: bool = False) -> _Begun | None:
        """Read the first line and the first rows; None without rows."""
        delimiter, names = form.delimiter, None
        ended = RowEnd(delimiter)
        if smiles:
            names, spaces = _smiles_layout(stream, self.roles)
        elif self.header:
            # Arrow looks up columns by name only. Reading the first line here allows numbers and repeated names.
            names = next((row for row in _rows(stream, delimiter, ended=ended) if row), None)
            if names is None:
                raise ValueError(f"{shown}: there is no line with column names")
        self._header_read = names is not None
        places = self._places(shown, names, form.decimal, smiles)
        pieces = _slabs(stream, lambda *_: True) if smiles else _slabs(stream, ended, ended.end)
        slabs = (slab for slab in pieces if not slab.isspace())
        if smiles and spaces:
            slabs = (_SPACES.sub(b"\t", _MARGINS.sub(b"", slab)) for slab in slabs)
        first = next(slabs, None)
        if first is None:
            return None
        width = len(names or next(row for row in _rows(io.BytesIO(first), delimiter, not smiles) if row))
        if max(places) >= width:
            raise ValueError(f"{shown}: the first line has fewer than {many(max(places) + 1, 'columns')}")
        rules = self.rules._replace(decimal=form.decimal)
        parser = _TextParser(self, delimiter, width, places, not smiles, rules)
        return _Begun(parser, first, parser.slowly(first), slabs)

    def _refuse_data_as_names(self, shown: str, names: list[str], places: list[int], decimal: str) -> None:
        """Raise an error if the first line holds a label and a score, unless columns are wanted by such names."""
        at = {role: place for (role, _), place in reversed(list(zip(self.roles, places, strict=True)))}
        first_score = names[at["score"]]
        by_name = any(one == names[place] != str(place + 1) for one, place in zip(self.asked, places, strict=True))
        no_label = "label" in at and not self.rules.positive and names[at["label"]].strip().lower() not in LABELS
        no_label |= "grade" in at and not is_number(names[at["grade"]], decimal)
        if by_name or no_label or not is_number(first_score, decimal):
            return
        shown_as = {"label": "a label", "grade": "a level"}
        held = " and ".join([*(f"{shown_as[one]} ({names[at[one]]!r})" for one in shown_as if one in at), "a score"])
        raise _NoNamesError(f"{shown}: the first line holds {held} ({first_score!r}) where column names should be; "
                            "read it with header=False")


class _NoNamesError(ValueError):
    """The first line holds data where column names should be."""


class _Form(NamedTuple):
    """How delimited text is written."""

    delimiter: str
    decimal: str


class _Head:
    """A stream that can be read again from its beginning, until `settled`."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.held, self.at, self.settled = stream, bytearray(), 0, False

    def again(self) -> None:
        self.at = 0

    def read(self, size: int) -> bytes:
        if self.at >= len(self.held):
            return self._kept(self.stream.read(size))
        piece = bytes(self.held[self.at : self.at + size])
        self.at += len(piece)
        return piece

    def readline(self) -> bytes:
        if self.at >= len(self.held):
            return self._kept(self.stream.readline())
        end = self.held.find(b"\n", self.at) + 1
        line = bytes(self.held[self.at : end or None])
        self.at += len(line)
        return line if end else line + self.readline()

    def _kept(self, data: bytes) -> bytes:
        if not self.settled:
            self.held += data
            self.at = len(self.held)
        return data


class _Begun(NamedTuple):
    """Delimited text whose first rows were read."""

    parser: _TextParser
    slab: bytes
    values: list[Any]
    slabs: Iterator[bytes]

    def thousands(self) -> str | None:
        """The first number with a comma, if all commas of numbers may separate thousands; otherwise None."""
        columns = zip(self.parser.roles, self.parser.texts(self.slab), strict=True)
        texts = (text for role, column in columns if role in ("score", "grade") for text in column.to_pylist())
        numbers = [text for text in texts if text and "," in text]
        return numbers[0] if numbers and all(map(_THOUSANDS.fullmatch, numbers)) else None


_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2}(,\d{3})+\s*", re.ASCII)


class _TextParser:
    """The values of a slab of delimited rows: by Arrow's converters or, if these fail, cell by cell."""

    def __init__(self, reader: TableReader, delimiter: str, width: int, places: list[int], quotes: bool,
                 rules: Rules) -> None:  # fmt: skip
        self.reader, self.delimiter, self.quotes, self.rules = reader, delimiter, quotes, rules
        self.known = {**KNOWN, "null_values": [*KNOWN["null_values"], *rules.na]}
        self.names = [f"f{place}" for place in range(width)]
        self.keys = [f"f{place}" for place in places]
        self.roles = [role for role, _ in reader.roles]
        self.integers = [False] * len(places)

    def _read(self, slab: bytes, types: dict[str, Any], refuse: Any = None, **options: Any) -> list[Any]:
        # The slab is a single block, so that rows keep their numbers and no thread waits for another.
        size = min(len(slab) + 1, 2**31 - 1)
        read = arrow_csv.ReadOptions(column_names=self.names, use_threads=False, block_size=size)
        quotes = self.quotes and b'"' in slab
        parse = arrow_csv.ParseOptions(delimiter=self.delimiter, quote_char='"' if quotes else False,
                                       newlines_in_values=quotes, invalid_row_handler=refuse)
        convert = arrow_csv.ConvertOptions(column_types=types, include_columns=list(types),
                                           decimal_point=self.rules.decimal, **options)
        table = arrow_csv.read_csv(pa.BufferReader(slab), read, parse, convert)
        return [whole(table.column(key)) for key in self.keys]

    def texts(self, slab: bytes, refuse: Any = None) -> list[Any]:
        return self._read(slab, dict.fromkeys(self.keys, pa.string()), refuse)

    def slowly(self, slab: bytes) -> list[Any]:
        """The values from the cells as text. It accepts every valid cell, names a wrong cell, and keeps integers."""
        bad_rows: list[Any] = []

        def refuse(row: Any) -> str:
            bad_rows.append(row)
            return "error"

        try:
            cells = self.texts(slab)
        except pa.ArrowInvalid:
            with suppress(pa.ArrowInvalid):  # again, for the bad row: Arrow does not report rows that are not UTF-8
                self.texts(slab.decode("utf-8", "replace").encode(), refuse)
            if not bad_rows:
                self._named(self._read(slab, dict.fromkeys(self.keys, pa.binary())))
                raise
            bad = bad_rows[0]
            width = many(bad.actual_columns, "cells")
            problem = f"the row has {width}, but the first line has {bad.expected_columns}: {quoted(bad.text)}"
            raise BadCell(bad.number - 1, problem) from None
        values = converted(self.reader.roles, cells, self.rules)
        self.integers = [isinstance(one, np.ndarray) and one.dtype == np.int64 for one in values]
        return values

    def _named(self, columns: list[Any]) -> None:
        """Raise an error that names the first cell that is not UTF-8, if there is such a cell."""
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
        words = pa.dictionary(pa.int32(), pa.string())
        kinds = {"label": pa.bool_() if self.rules.positive is None else words, "grade": pa.float64(),
                 "score": pa.float64(), "group": words, "ids": pa.string()}  # fmt: skip
        types = {key: kinds[role] for key, role in zip(self.keys, self.roles, strict=True)}
        if [types[key] for key in self.keys] != [kinds[role] for role in self.roles]:
            return self.slowly(slab)  # a column has two roles
        try:
            values = converted(self.reader.roles, self._read(slab, types, **self.known), self.rules)
        except (pa.ArrowInvalid, BadCell):
            return self.slowly(slab)
        for at, (role, integers) in enumerate(zip(self.roles, self.integers, strict=True)):
            if role in ("grade", "score") and (np.abs(values[at]) >= LARGE).any():
                return self.slowly(slab)
            if role == "score" and integers and not has_nan(values[at]):
                exact = values[at].astype(np.int64)
                values[at] = exact if np.array_equal(exact, values[at]) else values[at]
        return values


def leaves_of(schema: Any, at: int) -> list[int]:
    """The numbers of the Parquet columns (leaves) of the schema's column `at`. Names need not be distinct."""
    first = sum(_leaves(schema.field(before).type) for before in range(at))
    return list(range(first, first + _leaves(schema.field(at).type)))


def _leaves(type_: Any) -> int:
    if isinstance(type_, pa.BaseExtensionType):
        return _leaves(type_.storage_type)
    if pa.types.is_nested(type_):
        return sum(_leaves(type_.field(at).type) for at in range(type_.num_fields))
    return 1


def columns_of(reader: Any, leaves: list[list[int]], rows: int, groups: list[int], threads: bool) -> Iterator[Any]:
    """Batches of row groups of a Parquet file: lists with a column for each entry of `leaves`, None without leaves."""
    # A batch has the columns in the order of the file, each once, however many leaves a column has.
    order = sorted({tuple(one) for one in leaves if one})
    for batch in reader.iter_batches(rows, row_groups=groups, column_indices=sum(order, ()), use_threads=threads):
        yield [batch.column(order.index(tuple(one))) if one else None for one in leaves]


def read_actives(path: Path, column: str | None = None, group: str | None = None) -> Actives:
    """The ids of a file, without white space around them: of each group if the file has the column `group`.

    Empty lines and cells are left out. `read_columns` says which files have ids, and where. SDF is refused: it holds
    the compounds themselves. If neither column is in the first line of a CSV or Excel file, that line is taken as names
    of columns, but it may be data: its first cell is the unsure id.
    """
    try:
        kind = file_kind(path)[1]
    except ValueError:
        kind = "lines"
    if kind == "sdf":
        raise ValueError(f"{os.fspath(path)}: a list of ids is a text, CSV, TSV, Parquet, Excel or SMILES file")
    first: list[str] = []
    read = read_columns(path, column, (group,), of_text=list, first=first)
    cells, groups = (one if one is None or isinstance(one, list) else one.to_pylist() for one in read)
    of: dict[str | None, dict[str, None]] = {}
    for at, cell in enumerate(cells or ()):
        if cell is None or not (text := str(cell).strip()):
            continue
        name = None if groups is None else "" if groups[at] is None else str(groups[at])
        if name == "":
            raise ValueError(f"{os.fspath(path)}: column {group!r}: the group of {quoted(text)} is empty")
        of.setdefault(name, {})[text] = None
    return Actives(of, first[0].strip() if first else None)


def read_columns(path: Path, ids: Column | None, others: Sequence[Column | None] = (), *, header: bool = True,
                 of_text: _Column = strings, first: list[str] | None = None) -> list[Any]:  # fmt: skip
    """The ids of a file and the cells of other columns, as Arrow arrays; None for a column that the file lacks.

    In a file that `TableReader` reads, the ids are in the column `ids`, or else in the first column (in SMILES files
    the second, in SDF the first line of a record). The first line of CSV, TSV and Excel holds names if `header`. The
    first line of SMILES files and of other files holds names if it has the name `ids`. Other files have an id on each
    line. CSV and TSV have the usual delimiter, or another one that shows the columns. `of_text`: makes the columns of
    files that are read without Arrow. `first`: is filled with the cells of a first line that has none of the columns.
    """
    shown = os.fspath(path)
    try:
        kind = file_kind(path)[1]
    except ValueError:
        kind = "lines"

    def places(names: Sequence[str], usual: int = 0) -> list[int | None]:
        at = [names.index(one) if one in names else None for one in (ids, *others)]
        if first is not None and at.count(None) == len(at):
            first.extend(names)
        return [usual if at[0] is None else at[0], *at[1:]]

    with opened(path) as stream:
        if kind == "parquet":
            return _parquet_columns(stream, shown, places)
        if kind == "sdf":
            return _sdf_columns(stream, [ids, *others])
        if kind == "excel":
            table = [row for _, row in _sheet(stream)[1]]
        elif kind == "lines":
            table = [[text] for line in stream if (text := line.decode("utf-8-sig", "replace").strip())]
        elif kind == "smiles":
            table = [row for line in stream if (row := line.decode("utf-8-sig", "replace").split())]
        else:
            try:
                return _delimited_columns(stream, kind, places, header, {ids, *others}, of_text)
            except (csv.Error, OpenMark, BadCell) as error:
                raise ValueError(f"{shown}: {error}") from None
    named = ids is not None and not str(ids).isdigit() and ids in [cell for row in table[:1] for cell in row]
    names = table[:1] if named or (header and kind == "excel") else []
    at = places(names[0] if names else (), int(kind == "smiles"))
    return [None if place is None else of_text(row[min(place, len(row) - 1)] for row in table[len(names) :])
            for place in at]  # fmt: skip


def column_names(path: Path) -> set[str]:
    """The names of the columns of a file, with every delimiter that it may have."""
    _, kind, _ = file_kind(path)
    with opened(path) as stream:
        if kind == "parquet":
            with parquet_errors(os.fspath(path)):
                return set(needed("pyarrow.parquet", "Parquet").ParquetFile(stream).schema_arrow.names)
        if kind == "sdf":
            first = next(_slabs(stream, lambda _, line: line.startswith(b"$$$$")), b"")
            return {_TITLE, *(name.decode("utf-8", "replace") for name in _SDF_NAME.findall(first))}
        if kind == "excel":
            return {name for _, row in _sheet(stream)[1][:1] for name in row}
        head, names = _Head(stream), set[str]()
        for delimiter in (*_DELIMITERS, *" " * (kind == "smiles")):
            head.again()
            with suppress(csv.Error, OpenMark):
                names.update(next((row for row in _rows(head, delimiter) if row), ()))
        return names


_Places = Callable[[Sequence[str]], "list[int | None]"]
_Column = Callable[[Iterable[str]], Any]


def _delimited_columns(stream: Any, usual: str, places: _Places, header: bool, wanted: set[Any],
                       of_text: _Column) -> list[Any]:  # fmt: skip
    head, delimiter = _Head(stream), usual
    for one in dict.fromkeys([usual, *_DELIMITERS]) if header else ():
        head.again()
        with suppress(csv.Error, OpenMark):
            if not wanted.isdisjoint(next((row for row in _rows(head, one) if row), ())):
                delimiter = one
                break
    head.again()
    if header and of_text is strings:
        if (made := _arrow_columns(head, delimiter, places)) is not None:
            return made
        head.again()
    head.settled = True
    rows: Any = _rows(head, delimiter)
    at, line, short = None if header else places(()), 1, ""
    columns: list[list[str]] = []
    for row in rows:
        if row and at is None:
            at = places(row)
        elif row:
            columns = columns or [[] for _ in at or ()]
            last = max(place for place in at or () if place is not None)
            if len(row) <= last:  # raised at the end: an open quotation mark may be the cause, and comes first
                short = short or f"line {line}: the ids are in column {last + 1}, but the row ends at column {len(row)}"
            else:
                for column, place in zip(columns, at or (), strict=True):
                    column += [] if place is None else [row[place]]
        line = rows.line_num + 1
    if short:
        raise BadCell(None, short)
    return [None if place is None else of_text(columns[i] if columns else ()) for i, place in enumerate(at or [0])]


def _arrow_columns(head: _Head, delimiter: str, places: _Places) -> list[Any] | None:
    """The columns, if no cell is in quotation marks, and if all rows are as long as the first line."""
    names = next((row for row in _rows(head, delimiter) if row), [])
    text = b"".join(iter(lambda: head.read(_SLAB), b""))
    odd = b'"' in text or codecs.BOM_UTF8 in text or text.count(b"\r") != text.count(b"\r\n")
    if odd or not names or not text:
        return None
    keys = [None if place is None else f"f{place}" for place in places(names)]
    read = arrow_csv.ReadOptions(column_names=[f"f{place}" for place in range(len(names))])
    parse = arrow_csv.ParseOptions(delimiter=delimiter, quote_char=False)
    types = dict.fromkeys(filter(None, keys), pa.string())
    convert = arrow_csv.ConvertOptions(column_types=types, include_columns=list(types))
    try:
        table = arrow_csv.read_csv(pa.BufferReader(text), read, parse, convert)
    except pa.ArrowInvalid:
        return None
    return [None if key is None else whole(table.column(key)) for key in keys]


def _parquet_columns(stream: Any, shown: str, places: _Places) -> list[Any]:
    reader = needed("pyarrow.parquet", "Parquet")
    name = ""
    try:
        with parquet_errors(shown):
            file = reader.ParquetFile(stream, page_checksum_verification=True)
            names, found = file.schema_arrow.names, []
            for place in places(names):
                name = "" if place is None else names[place]
                found.append(None if place is None else text_of(whole(file.read([name]).column(0))))
            return found
    except BadCell as bad:
        raise ValueError(f"{shown}: column {name!r}: {bad}") from None


def _sdf_columns(stream: Any, wanted: Sequence[Column | None]) -> list[Any]:
    names = [_TITLE, *(str(name) for name in wanted)]
    slabs = [_sdf_cells(b"", names)]
    slabs += [_sdf_cells(slab, names) for slab in _slabs(stream, lambda _, line: line.startswith(b"$$$$"))]
    title, ids, *others = (pa.chunked_array(parts, pa.string()).combine_chunks() for parts in zip(*slabs, strict=True))
    none = len(ids) == ids.null_count
    return [title if none else ids, *(None if len(one) == one.null_count else one for one in others)]


def _slabs(stream: Any, ended: Callable[[bytes, bytes], bool],
           end: Callable[[], None] = lambda: None) -> Iterator[bytes]:  # fmt: skip
    """The stream in pieces of about `_SLAB` bytes. Lines are added to a piece until `ended(piece, its last line)`.

    `end` is called if the stream ends before `ended` is true.
    """
    size = min(_FIRST_SLAB, _SLAB)
    while piece := stream.read(size):
        # Complete the line in which the piece ends, then add whole lines.
        line = piece[piece.rfind(b"\n") + 1 :] + stream.readline()
        lines = [piece[: piece.rfind(b"\n") + 1], line]
        while not ended(lines[0], line):
            line = stream.readline()
            if not line:
                end()
                break
            lines.append(line)
        yield b"".join(lines)
        size = _SLAB


# A data header comes after the molecule. The free text before it (title, comment) may look like a data header.
_SDF_NAME = re.compile(rb"^>[^\n<]*<([^>\n]+)>", re.MULTILINE)


def _sdf_cells(slab: bytes, names: list[str]) -> list[Any]:
    """The values of the properties `names`: an array of texts for each, null if a record lacks the property."""
    wanted = b"|".join(re.escape(name.encode()) for name in dict.fromkeys(names))
    marks = re.compile(rb"^(?:(\$\$\$\$[^\n]*\n?)|(M  END)|>[^\n<]*<(" + wanted + rb")>[^\n]*\n([^\r\n]*))",
                       re.MULTILINE)
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
        close()  # the last record of a file may lack its end mark
    return [strings(cells[name]) for name in names]


_SPACES = re.compile(rb"[ \t]+(?=[^ \t\r\n])")
_MARGINS = re.compile(rb"^[ \t]+|[ \t]+(?=\r?$)", re.MULTILINE)


def _smiles_layout(stream: Any, roles: list[tuple[str, Column]]) -> tuple[list[str] | None, bool]:
    """(the names in the first line, or None if it may be data; whether spaces separate its cells)."""
    line = stream.peek(1).partition(b"\n")[0].rstrip(b"\r").decode("utf-8-sig", "replace")
    spaces = "\t" not in line
    cells = line.split() if spaces else line.split("\t")
    if all(not isinstance(column, str) or column.isdigit() for _, column in roles):
        score = next(int(column) for role, column in roles if role == "score")
        first = cells[score - 1].strip() if 0 < score <= len(cells) else ""
        if is_number(first) or first.lower() in MISSING:
            return None, spaces
    stream.readline()
    return cells, spaces


def _sheet(stream: Any) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """(the names of an Excel file's sheets, the full rows of the first sheet: number of the row, cells as texts)."""
    calamine = needed("python_calamine", "reading Excel files")
    data = stream.read()
    _check_extent(data)
    try:
        with calamine.CalamineWorkbook.from_filelike(io.BytesIO(data)) as book:
            names = book.sheet_names
            found = book.get_sheet_by_index(0).to_python(skip_empty_area=False)
    except calamine.CalamineError as error:
        raise OSError(first_line(error)) from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # an exception of Rust, whose class cannot be imported
            raise
        raise OSError(str(error)) from None
    rows = ((line, list(map(_cell_text, cells))) for line, cells in enumerate(found, 1))
    return names, [(line, cells) for line, cells in rows if any(cells)]


_MOST_ROWS, _MOST_COLUMNS = 1 << 20, 1 << 14  # of Excel
_MOST_CELLS, _MOST_A_CELL = 1 << 24, 16  # the largest rectangle of a sheet: so many cells, or so many a full cell
_TAG = re.compile(rb"<(?:[\w.-]+:)?(row|c)(?=[\s/>])(?:[^>]*?\sr\s*=\s*[\"'](?:([A-Za-z]+)|)(\d*))?")


def _check_extent(data: bytes) -> None:
    """Raise an error if the rectangle of a sheet is too large: the reader allocates empty cells too."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            sheets = [(name, text) for name in archive.namelist() if b"sheetData" in (text := archive.read(name))]
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError):
        return  # the reader reports what is wrong
    for name, text in sheets:
        row = column = last_row = last_column = cells = 0
        places: dict[bytes, int] = {}
        for tag, letters, digits in _TAG.findall(text):
            if tag == b"row":
                row, column = int(digits[:10]) if digits else row + 1, 0
                continue
            cells += 1
            if letters:
                column = places.get(letters) or places.setdefault(letters, _column_number(letters))
            else:
                column += 1
            at = int(digits[:10]) if digits else row
            if at > last_row:
                last_row = at
            if column > last_column:
                last_column = column
        fits = last_row <= _MOST_ROWS and last_column <= _MOST_COLUMNS
        if not fits or last_row * last_column > max(_MOST_CELLS, _MOST_A_CELL * cells):
            span = f"{many(last_row, 'rows', ',')} and {many(last_column, 'columns', ',')}"
            raise OSError(f"the sheet {name} is too large: its {many(cells, 'cells', ',')} span {span}")


def _column_number(letters: bytes) -> int:
    return reduce(lambda number, letter: 26 * number + letter - 64, letters[:10].upper(), 0)


def _cell_text(cell: Any) -> str:
    """The text of a cell as in a text file. Excel has no integers, so 1.0 becomes 1."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return repr(cell).removesuffix(".0") if isinstance(cell, float) else str(cell)


def _checked_delimiter(delimiter: Any, paths: Sequence[Path]) -> str | None:
    if delimiter is None:
        return None
    if not isinstance(delimiter, str):
        raise TypeError(f"delimiter is of type {type(delimiter).__name__}: it must be a character")
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter.isalnum() or delimiter in '"\r\n+-.':
        raise ValueError(f"delimiter is {delimiter!r}: it must be one character that no number has, such as ';'")
    for path in paths:
        shown, kind, _ = file_kind(path)
        if kind not in _DELIMITERS:
            raise ValueError(f"delimiter={delimiter!r} is for CSV and TSV files, but {shown} is neither")
    return delimiter


def _rows(stream: Any, delimiter: str, quotes: bool = True, ended: RowEnd | None = None) -> Iterator[list[str]]:
    """The rows of delimited text, read only as far as needed; an empty list for a blank line."""
    ended = ended or RowEnd(delimiter)

    def lines() -> Iterator[str]:
        row: list[bytes] = []
        while line := stream.readline():
            if row or (quotes and b'"' in line):
                row.append(line)
                if ended(b"", line):
                    yield from (one.decode("utf-8-sig", "replace") for one in row)
                    row.clear()
            else:
                ended.lines += 1
                yield line.decode("utf-8-sig", "replace")
        ended.end()

    return csv.reader(lines(), delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE)


def _place(path: Path, header: bool, row: int, delimiter: str) -> str:
    """The place of a row in words, for a text file with the line, which needs to read the file again."""
    _, kind, _ = file_kind(path)
    if kind == "parquet" or os.fspath(path) == "-":
        return f"row {row}"
    with opened(path) as stream:
        if kind == "sdf":
            ends = (at for at, line in enumerate(stream, 1) if line.startswith(b"$$$$"))
            return f"record {row} (line {next(itertools.islice(ends, row - 2, None), 0) + 1 if row > 1 else 1})"
        if kind == "excel":
            return f"row {row} (line {_sheet(stream)[1][row + header - 1][0]})"
        reader: Any = _rows(stream, "\t" if kind == "smiles" else delimiter, kind != "smiles")
        left = row + header
        try:
            while left:
                line = reader.line_num + 1
                left -= bool(next(reader))
        except csv.Error:  # a cell is too long for the csv module, or a line contains a CR, which ends a line for Arrow
            return f"row {row}"
    return f"row {row} (line {line})"


def _found(shown: str, names: list[str], column: str | int) -> int:
    """The place of a column among the names of the file."""
    if not isinstance(column, (str, int, np.integer)):
        raise TypeError(f"{shown}: column {column!r} is of type {type(column).__name__}: it must be a name or a number")
    if isinstance(column, str) and column in names:
        if names.count(column) > 1:
            places = ", ".join(str(place + 1) for place, name in enumerate(names) if name == column)
            raise ValueError(f"{shown}: {names.count(column)} columns are called {column!r}; give a number: {places}")
        return names.index(column)
    if not isinstance(column, str) or (column.isascii() and column.isdigit()):
        number = _number(shown, column)
        if number > len(names):
            raise ValueError(f"{shown}: there is no column {number}: the file has {len(names)}")
        return number - 1
    listed = ", ".join(map(repr, names[:20])) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    raise ValueError(f"{shown}: there is no column {column!r}; {meant(column, names)}the columns are {listed}")


def places_of(shown: str, names: list[str], roles: Sequence[tuple[str, Column]]) -> list[int]:
    """The places of the columns; an error if two subtopics have the same column."""
    places = [_found(shown, names, column) for _, column in roles]
    _check_apart(shown, roles, places)
    return places


def _check_apart(shown: str, roles: Sequence[tuple[str, Column]], places: Sequence[int]) -> None:
    """Raise an error if two subtopics have the same column."""
    met: dict[int, Column] = {}
    for (role, column), place in zip(roles, places, strict=True):
        if role == "grade" and met.setdefault(place, column) != column:
            raise ValueError(f"{shown}: subtopics {met[place]!r} and {column!r} are the same column: name each once")


def _number(shown: str, column: str | int) -> int:
    if not str(column).isascii() or not str(column).isdigit() or int(column) < 1:
        raise ValueError(f"{shown}: column {column!r}: without column names, a column must be a number from 1 up")
    return int(column)
