"""From files of scores to curves: several scores, groups, best poses, tables larger than memory."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hitcurve._base.words import are, many
from hitcurve.curves.gain import GainCurve, GainCurves
from hitcurve.curves.hit import HitCurve, HitCurves
from hitcurve.sources.cells import joined, numbers_of
from hitcurve.sources.opening import OtherSchema, Parquet, all_parquet
from hitcurve.sources.pieces import Piece, Source, Task, piece_of
from hitcurve.sources.scanning import Job, ScanProgress, run_tasks
from hitcurve.sources.spools import Parts, keys_of, texts_of
from hitcurve.sources.tables import TableReader

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hitcurve.sources.library import Library

__all__ = ["Counted", "Screen", "ScreenedScore", "read_screen"]


class Counted(NamedTuple):
    """The number of rows that were read for a column of scores, without a score, and with a repeated id."""

    num_rows: int
    num_missing: int
    """Rows without a score."""
    num_repeated: int | None
    """Rows that repeat the id of another row of their group; None if ids were not read."""
    nan_policy: str
    best_per_id: bool
    num_absent: int | None = None
    """Compounds of the library without a row, which rank last; None without a library."""
    num_absent_relevant: int | None = None

    def sentences(self) -> list[str]:
        """Sentences with these numbers, and how these rows were treated."""
        absent = ["Compounds of the library without a row: none."] * (self.num_absent == 0)
        missing = ["Rows without a score: none."] * (not self.num_missing)
        best = "the best row of each id is ranked" if self.best_per_id else "each ranked by itself"
        repeated = f"Rows that repeat an id: {self.num_repeated or 0:,} of {self.num_rows:,}, {best}."
        if not self.num_repeated:
            repeated = "Rows that repeat an id: none."
        if self.num_repeated is None:
            repeated = "Rows that repeat an id: not counted, because --id names no column of ids."
        return [*absent, *self.failures(), *missing, repeated]

    def failures(self) -> list[str]:
        """Sentences about compounds without a row, and about rows without a score, where there are any."""
        said = []
        if self.num_absent and self.num_absent_relevant is not None:
            others = many(self.num_absent - self.num_absent_relevant, "decoys", ",")
            said.append(f"Compounds of the library without a row: {self.num_absent:,}, ranked last "
                        f"({many(self.num_absent_relevant, 'actives', ',')} and {others}).")
        if self.num_missing:
            last = "ranked last" if self.nan_policy == "worst" else "left out"
            said.append(f"Rows without a score: {self.num_missing:,} of {self.num_rows:,}, {last}.")
        return said


class ScreenedScore(NamedTuple):
    """A column of scores, and the curves of the items ranked by it."""

    name: str
    lower_is_better: bool
    curves: HitCurve | HitCurves | GainCurve | GainCurves
    names: list[Any] | None
    """The names of the groups of `curves`; None for a single curve."""
    counted: Counted | None = None
    """The numbers of rows that were read; None if the curves were not read from files."""
    unit: str = "groups"
    """The word for groups, such as "targets"."""

    @property
    def graded(self) -> bool:
        return isinstance(self.curves, GainCurve | GainCurves)

    @property
    def hits(self) -> HitCurve | HitCurves:
        """The hit curves. With levels, all items above level 0 are relevant."""
        if isinstance(self.curves, GainCurve | GainCurves):
            return self.curves.at_level(5e-324)  # the least float above 0
        return self.curves


class Arrays(NamedTuple):
    """The items, if they were kept."""

    label: NDArray[Any]
    """uint8: 1 for a relevant item, else 0. With levels: float64."""
    scores: list[NDArray[Any]]
    group: NDArray[np.int64] | None
    """The place of each item's group in the names of the groups."""


class Screen(NamedTuple):
    """The result of `read_screen`."""

    scores: list[ScreenedScore]
    num_rows: int
    notes: list[str]
    """Sentences about unusual rows and files."""
    arrays: Arrays | None
    group_names: list[Any]


def read_screen(reader: TableReader, scores: Sequence[tuple[str, bool]], *, best_per_id: bool = False,
                keep: bool = False, library: Library | None = None) -> Screen:  # fmt: skip
    """Read the files of `reader` and rank their items by each score.

    scores : the name of each score column of the reader, and whether low scores rank first.
    best_per_id : of the rows that share an id (and group), such as poses of a compound, keep the best value of each
        score. Rows without a score lose. It is a ValueError if such rows have different labels.
    keep : keep all items in memory, and return them.
    library : the compounds that were docked. Those without a row rank last.
    """
    lower = [low for _, low in scores]
    source = _source(reader, keep)
    grouped = reader.grouped
    with ScanProgress(source, (1 if grouped else 2) + best_per_id, None) as shown, ExitStack() as opened:
        options: dict[str, Any] = {"nan_policy": reader.nan_policy, "workers": reader.workers, "library": library}
        job = Job(source, shown, lower, **options)
        reading = job
        if best_per_id:
            source = _BestOfEach(job, grouped)
            opened.callback(source.parts.close)
            job = Job(source, shown, lower, **options)
            job.types = reading.types
        elif any(role == "ids" for role, _ in reader.roles):
            job.ids = _Ids(grouped, job.held)
            opened.callback(job.ids.close)
        job.kept = [] if keep else None
        curves: Sequence[Any] = job.by_group(None) if grouped else job.twice()
        places, names = source.group_order() if grouped else (np.empty(0, np.int64), [])
        arrays = None
        if job.kept is not None:
            pieces = sorted(job.kept, key=lambda piece: piece.start)
            arrays = Arrays(
                joined((piece.label for piece in pieces), np.float64 if reader.graded else np.uint8),
                [joined((one.scores[at] for one in pieces), types.common()) for at, types in enumerate(job.types)],
                places[joined((piece.group for piece in pieces), np.int64)] if grouped else None,
            )
        repeated = job.ids.repeated() if job.ids is not None else []
    absent = 0 if library is None else library.num_absent
    rows = reading.rows - (0 if best_per_id else absent)
    again = sum(number for number, _ in repeated) if job.ids is not None else None
    if best_per_id:
        again = rows - (job.rows - absent)
    lacking = (None, None) if library is None else (absent, library.num_absent_relevant)
    notes = [
        *reader.notes,
        *(library.notes() if library is not None else ()),
        *(
            f"{many(number, 'rows', ',')} {'repeats' if number == 1 else 'repeat'} the id of another row"
            f"{' of their group' if grouped else ''} (such as {example!r}) and {are(number)} ranked by "
            f"{'itself' if number == 1 else 'themselves'}: --best-per keeps the best row of each id"
            for number, example in repeated
        ),
    ]
    groups = names if grouped else None
    columns = zip(scores, curves, reading.missing, strict=True)
    ranked = [
        ScreenedScore(*score, one, groups, Counted(rows, missing, again, reader.nan_policy, best_per_id, *lacking),
                      reader.unit)
        for score, one, missing in columns
    ]
    return Screen(ranked, rows, notes, arrays, names)


def _source(reader: TableReader, keep: bool) -> Source:
    roles = [role for role, _ in reader.roles]
    if keep or reader.grouped or "ids" in roles or "label" not in roles or not all_parquet(reader):
        return reader
    try:
        return Parquet(reader)
    except OtherSchema:
        return reader


def _id_codes(texts: Any, group: NDArray[np.int64] | None) -> tuple[Any, NDArray[np.int64], int]:
    """(the distinct ids, a code of id and group for each row, the divisor that turns a code into its id's place)."""
    coded = texts.dictionary_encode()
    codes = numbers_of(coded.indices).astype(np.int64)
    width = 1 if group is None else int(group.max(initial=0)) + 1
    return coded.dictionary, codes if group is None else codes * width + group, width


class _Ids(Parts):
    """Parts of ids, to find repeated ids."""

    def __init__(self, grouped: bool, held: int) -> None:
        super().__init__(2 + grouped, held)

    def add(self, piece: Piece) -> None:
        rows = np.arange(piece.start, piece.start + piece.rows)
        self.put(keys_of(piece.ids), [piece.ids, rows, *(() if piece.group is None else (piece.group,))])

    def repeated(self) -> list[tuple[int, str]]:
        """[(the number of rows that repeat an id, the first such id)]; an empty list if no row does."""
        found = []
        for ids, rows, *group in self.apart():
            if not rows[0].length:
                continue
            distinct, codes, width = _id_codes(texts_of(*ids), group[0][0].all(np.int64) if group else None)
            ordered = np.sort(codes)
            again = ordered[1:][ordered[1:] == ordered[:-1]]
            if again.shape[0]:
                first = np.full(len(distinct), sys.maxsize)
                np.minimum.at(first, codes // width, rows[0].all(np.int64))
                which = np.unique(again // width)
                one = which[np.argmin(first[which])]
                found.append((int(first[one]), distinct[int(one)].as_py(), again.shape[0]))
        return [(sum(number for _, _, number in found), min(found)[1])] if found else []


class _BestOfEach(Source):
    """A source that merges the rows of another source that share an id (and group), with the best of each score."""

    def __init__(self, job: Job, grouped: bool) -> None:
        self.job, self.graded, self.merged = job, job.source.graded, True
        self.parts = Parts(2 + grouped + len(job.lower), job.held)

        def put(worker: int, piece: Piece) -> None:
            job.meet(piece, piece.scores)
            if job.library is not None:
                job.library.meet(piece, job.source)
            group = () if piece.group is None else (piece.group,)
            self.parts.put(keys_of(piece.ids), [piece.ids, piece.label, *piece.scores, *group])

        if job.library is not None:
            job.library.repeats = True
        try:
            run_tasks(job.source.tasks("rows"), put, job.workers, job.shown)
        except BaseException:
            self.parts.close()
            raise
        job.shown.next_pass(0)

    def group_order(self) -> tuple[NDArray[np.int64], list[Any]]:
        return self.job.source.group_order()

    def tasks(self, want: str) -> Iterator[Task]:
        for at, part in enumerate(self.parts.apart()):
            if part[1][0].length:
                yield lambda at=at, part=part: (self._best(want, at, *part),)  # type: ignore[misc]

    def _best(self, want: str, at: int, ids: Any, labels: Any, *columns: Any) -> Piece:
        columns = tuple(column for column, _ in columns)
        count = len(self.job.lower)
        group = columns[count].all(np.int64) if len(columns) > count else None
        distinct, codes, width = _id_codes(texts_of(*ids), group)
        order = np.argsort(codes, kind="stable")
        codes = codes[order]
        starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
        label = labels[0].all(np.float64 if self.graded else np.uint8)[order]
        low, high = np.minimum.reduceat(label, starts), np.maximum.reduceat(label, starts)
        if np.any(low != high):
            code = int(codes[starts[int(np.argmax(low != high))]])
            place = ""
            if group is not None:
                ranks, names = self.group_order()
                place = f" of group {names[ranks[code % width]]!r}"
            what = "level" if self.graded else "label"
            raise ValueError(f"the rows of id {distinct[code // width].as_py()!r}{place} have different {what}s: all "
                             f"rows of an id must have the same {what}")
        # fmin and fmax prefer a number to NaN.
        best = tuple((np.fmin if down else np.fmax).reduceat(column.all(types.common())[order], starts) for column,
                     types, down in zip(columns, self.job.types, self.job.lower, strict=False))
        return piece_of(want, best, low, None if group is None else group[order][starts], at, graded=self.graded)
