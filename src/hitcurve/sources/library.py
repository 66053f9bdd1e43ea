"""The library of a screen: all compounds that were docked, also those that left no row in the table of scores.

A `Library` is told every row of the first pass. It then gives the compounds without a row, as pieces without a score.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hitcurve._base.checks import check_count, quoted, whole_number
from hitcurve._base.extras import Later, needed
from hitcurve._base.given import frame_columns
from hitcurve._base.words import are, many
from hitcurve.curves.sorted import group_starts
from hitcurve.sources.cells import Actives, BadCell, Column, Layout, converted, numbers_of, strings, whole
from hitcurve.sources.pieces import LAST, Piece, Source, piece_of
from hitcurve.sources.tables import column_names, places_of, read_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

pa: Any = Later("pyarrow")
pc: Any = Later("pyarrow.compute")

__all__ = ["Library", "actives_of", "is_file", "lacks", "library_of"]

_BLOCK = 1 << 18  # compounds of a piece
_MOST_UNKNOWN = 100_000  # ids that the library lacks, until the pass ends early
_LABELS = "a column of labels in the file of the library, or a list of the actives' ids"
_NEEDS = f"give num_actives, the number of actives in the library, or labels: {_LABELS}"


class Library:
    """The compounds that were docked, as ids or as a number.

    targets : for each group, and under None for all other groups: the distinct ids, and their labels or levels (or None
        if they are not known). For a library that is only a number it is None.
    size, actives : the number of compounds, and of actives among them. With `targets`, `actives` may be None.
    graded, grouped : whether the compounds have levels; whether the rows have groups.
    column : the name of the column of the groups, for a note.

    `num_absent` and `num_absent_relevant` are known once `absent` was called.
    """

    def __init__(self, targets: dict[str | None, tuple[Any, NDArray[Any] | None]] | None, size: int | None = None,
                 actives: int | None = None, graded: bool = False, grouped: bool = False,
                 column: Column | None = None) -> None:  # fmt: skip
        self.targets, self.size, self.actives = targets, size, actives
        self.graded, self.grouped, self.column = graded, grouped, column
        self.repeats = False  # whether rows may repeat an id, as poses do
        self.num_absent = self.num_absent_relevant = 0
        self.lock = threading.Lock()
        self.begin(False)

    def begin(self, merged: bool) -> None:
        """Forget the rows. `merged`: the next rows are merged from rows whose ids are known already."""
        self.rows = self.relevant = 0
        if not merged:
            self.seen: dict[int, NDArray[np.bool_]] = {}  # by the code of the group, and for no group under 0
            self.names: dict[int, str | None] = {}
            self.unknown: dict[tuple[str | None, str], None] = {}

    def meet(self, piece: Piece, source: Source) -> None:
        """Note the rows of a piece. It is an error if an id comes again, or if its label is another one."""
        label = piece.label
        hits = np.count_nonzero(label) if label is not None else piece.relevant[0].shape[0] if piece.relevant else 0
        with self.lock:
            self.rows += piece.rows
            self.relevant += int(hits)
            if self.targets is None or piece.ids is None or not piece.rows:
                return
            if piece.group is None:
                self._meet(0, None, piece.ids, label, source, piece.start)
                return
            for code, rows in _apart(piece.group):
                if code not in self.names:
                    places, names = source.group_order()
                    self.names.update((one, str(names[place])) for one, place in enumerate(places.tolist()))
                some = None if label is None else label[rows]
                self._meet(code, self.names[code], piece.ids.take(pa.array(rows)), some, source, piece.start, rows)

    def _meet(self, code: int, name: str | None, ids: Any, label: Any, source: Source, start: int,
              rows: Any = None) -> None:  # fmt: skip
        """The rows of a group."""
        known, labels = self._target(name)
        if code not in self.seen:
            self.seen[code] = np.zeros(len(known), bool)
        place = numbers_of(pc.index_in(ids, value_set=known), -1).astype(np.int64)
        if (place < 0).any():
            self.unknown.update(((name, one), None) for one in ids.filter(pa.array(place < 0)).to_pylist())
            if len(self.unknown) > _MOST_UNKNOWN:
                raise self._foreign("more than ")
        at = np.flatnonzero(place >= 0)
        found, seen = place[at], self.seen[code]

        def where(wrong: int) -> tuple[str, str]:
            row = int(at[wrong])
            return source.place(start + int(row if rows is None else rows[row])), quoted(ids[row].as_py())

        if not self.repeats:
            order = np.argsort(found, kind="stable")
            again = seen[found]
            again[order[1:]] |= found[order[1:]] == found[order[:-1]]
            if again.any():
                row, one = where(int(np.argmax(again)))
                raise ValueError(f"{row}: the id {one} comes again, but a library has one row for each compound: keep "
                                 "one row of each id (hitcurve table --best-per keeps the best)")
        if labels is not None and label is not None:
            wrong = labels[found] != label[at]
            if wrong.any():
                first = int(np.argmax(wrong))
                row, one = where(first)
                what = "level" if self.graded else "label"
                raise ValueError(f"{row}: the {what} of {one} is {label[at][first]}, but {labels[found][first]} in the "
                                 f"library: a compound must have the same {what} in both")
        seen[found] = True

    def _target(self, name: str | None) -> tuple[Any, NDArray[Any] | None]:
        assert self.targets is not None
        found = self.targets.get(name) or self.targets.get(None)
        return (strings([]), None) if found is None else found

    def _foreign(self, more: str = "") -> ValueError:
        group, first = next(iter(self.unknown))
        of = "" if group is None else f" of group {group!r}"
        number = min(len(self.unknown), _MOST_UNKNOWN)
        return ValueError(f"{more}{many(number, 'ids', ',')} of the rows (such as {quoted(first)}{of}) {are(number)} "
                          "not in the library: it must have all compounds that were docked, also the actives")

    def check(self) -> None:
        """Raise an error if the rows do not fit the library."""
        if self.unknown:
            raise self._foreign()
        rows, relevant = self.rows, self.relevant
        hits = f"{many(relevant, 'relevant rows', ',')} {are(relevant)} in the source"
        too_few = f"num_actives is {self.actives or 0:,}, but {hits}"
        if self.size is not None and self.size < rows:
            raise ValueError(f"library is {self.size:,}, but the source has {many(rows, 'rows', ',')}: the library "
                             "must have all compounds of the source (keep one row of each compound)")
        if self.actives is not None and self.actives < relevant:
            raise ValueError(f"{too_few}: the library must have all actives of the source")
        left = self._left()
        if self.actives is not None and self.actives - relevant > left:
            raise ValueError(f"{too_few}, and only {many(left, 'compounds', ',')} without a row {are(left)} left: too "
                             "many actives for this library")

    def _left(self) -> int:
        """The number of compounds without a row."""
        if self.size is not None:
            return self.size - self.rows
        return int(sum(one.shape[0] - np.count_nonzero(one) for one in self._seen().values()))

    def _seen(self) -> dict[int, NDArray[np.bool_]]:
        """For each group, which compounds have a row."""
        if not self.seen and not self.grouped:
            return {0: np.zeros(len(self._target(None)[0]), bool)}
        return self.seen

    def absent(self, want: str, dtypes: Sequence[np.dtype[Any]]) -> Iterator[Piece]:
        """The compounds without a row, in pieces whose scores are NaN of these types."""
        self.num_absent = self.num_absent_relevant = 0
        if self.actives is not None:
            labels = np.zeros(self._left(), np.uint8)
            labels[: self.actives - self.relevant] = 1
            left = [(0, labels)]
        else:
            left = [(code, self._labels(code, one)) for code, one in sorted(self._seen().items())]
        for _, labels in left:
            self.num_absent += labels.shape[0]
            self.num_absent_relevant += int(np.count_nonzero(labels))
        start = LAST
        for code, labels in left:
            for at in range(0, labels.shape[0], _BLOCK):
                some = labels[at : at + _BLOCK]
                group = np.full(some.shape[0], code, np.int64) if self.grouped else None
                scores = tuple(np.full(some.shape[0], np.nan, dtype) for dtype in dtypes)
                yield piece_of(want, scores, some, group, start, graded=self.graded)
                start += some.shape[0]

    def _labels(self, code: int, seen: NDArray[np.bool_]) -> NDArray[Any]:
        labels = self._target(self.names.get(code))[1]
        assert labels is not None
        return labels[~seen]

    def notes(self) -> list[str]:
        """A sentence about groups of the library without any row, or about compounds that no group may have had."""
        targets = self.targets or {}
        if self.grouped and None in targets:
            if self.num_absent <= self.rows:
                return []
            each = f"each of the {many(len(self.names), 'groups', ',')} has all {len(targets[None][0]):,} compounds"
            return [f"the library has no column {self.column!r}, so {each}, and most of them have no row: add this "
                    "column if each group has compounds of its own"]  # fmt: skip
        met = {None, *self.names.values()}
        left = [name for name in targets if name not in met]
        if not left:
            return []
        return [f"{many(len(left), 'groups', ',')} of the library (such as {left[0]!r}) {are(len(left))} left out: "
                "the table has no row of them"]  # fmt: skip


def _apart(codes: NDArray[Any]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Each of the codes, in rising order, with the places where it stands."""
    order = np.argsort(codes, kind="stable")
    starts = group_starts(codes[order])
    return zip(codes[order[starts]].tolist(), np.split(order, starts)[1:], strict=True)


def is_file(library: Any) -> bool:
    return isinstance(library, (str, os.PathLike))


def is_frame(library: Any) -> bool:
    return hasattr(library, "__arrow_c_stream__") and frame_columns(library) is not None


def lacks(sources: Iterable[Any], column: Column | None, library: Any) -> bool:
    """Whether the first file or frame lacks a column that the library has: then the library's labels are taken."""
    if not isinstance(column, str) or column.isdigit() or library is None:
        return False
    first, listed = next(iter(sources), "-"), library[0] if isinstance(library, list) and library else library
    try:
        here = _names(first)
        if here is None or column in here:
            return False
        return isinstance(library, Mapping) or column in (_names(listed) or ())
    except ValueError:  # a file without columns, such as a text of ids
        return False


def _names(one: Any) -> Iterable[Any] | None:
    """The names of the columns of a file or frame; None if they are not known."""
    if is_file(one):
        return None if os.fspath(one) == "-" else column_names(one)
    return list(frame_columns(one)) if is_frame(one) else None


def library_of(given: Any, actives: Any, *, files: bool, ids: Column | None, label: Column | None, graded: bool,
               group: Column | None, grouped: bool, layout: Layout, known: Actives | None = None) -> Library:
    """The library that a caller means: a number, a file (or with `files` a list of files), a frame, ids, or a mapping.

    actives : the number of actives in the library, or None. known : the ids of the actives, or None.
    label : the column of the labels (or levels) in the files.
    """
    if actives is not None:
        actives = whole_number(actives, "num_actives")
        if actives < 0:
            raise ValueError(f"num_actives is {actives}: it must not be negative")
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        size = check_count(given, "library", 1 << 62)
        problems = (
            (grouped, "library is a number, but each group has a library of its own: give a file with the ids and a "
             "column of the groups"),
            (graded, "library is a number, but the levels of its compounds are not known: give a file or a mapping "
             "with the levels"),
            (actives is None, f"library is {size:,}, but the number of actives in it is not known: give "
             "num_actives"),
        )  # fmt: skip
        for wrong, problem in problems:
            if wrong:
                raise ValueError(problem)
        return Library(None, size, actives)
    if ids is None:
        raise ValueError("library has ids, but id does not name the column of the ids: give id, or the number of "
                         "compounds as library")
    if actives is not None and (grouped or graded):
        raise ValueError(f"num_actives cannot be combined with {'group' if grouped else 'grade'}: give a file with "
                         f"a column of {'labels' if grouped else 'levels'}")
    needed("pyarrow", "a library of ids")
    needed("pyarrow.compute", "a library of ids")
    if files or is_file(given):
        parts = [_read(path, ids, label, graded, group, layout) for path in (given if files else [given])]
    elif is_frame(given):
        table = pa.table(given)
        (at,) = places_of("library", table.column_names, [("ids", ids)])
        cells = [whole(table.column(one)) if one in table.column_names else None for one in (label, group)]
        parts = [_part("library", [whole(table.column(at)), *cells], ids, label, graded, group, layout)]
    else:
        parts = [_listed(given, graded)]
    made = _made(parts, actives, known, graded, grouped)
    made.column = group
    return made


_Names = tuple["NDArray[np.int64]", list[str]]  # the place of each compound's group in the names of the groups
_Part = tuple[str, Any, "NDArray[Any] | None", "_Names | None"]  # name, ids, labels, groups


def _read(path: Any, ids: Column, label: Column | None, graded: bool, group: Column | None, layout: Layout) -> _Part:
    """The compounds of a file."""
    cells = read_columns(path, ids, (label, group), header=layout.header)
    return _part(f"library {os.fspath(path)}", cells, ids, label, graded, group, layout)


def _part(shown: str, cells: Sequence[Any], ids: Column, label: Column | None, graded: bool, group: Column | None,
          layout: Layout) -> _Part:  # fmt: skip
    """The compounds whose cells these are: ids, labels and groups, the last two None without such a column."""
    roles = [("ids", ids), ("grade" if graded else "label", label), ("group", group)]
    there: Any = [(role, cell) for role, cell in zip(roles, cells, strict=True) if cell is not None]
    rules = layout.rules("raise", label is not None)
    try:
        values = converted([role for role, _ in there], [cell for _, cell in there], rules)
    except BadCell as bad:
        raise bad.named(shown, lambda index: f"compound {index + 1}") from None
    of = {role: value for ((role, _), _), value in zip(there, values, strict=True)}
    if not len(of["ids"]):
        raise ValueError(f"{shown}: there are no ids")
    groups = None
    if "group" in of:
        groups = numbers_of(of["group"].indices), list(map(str, of["group"].dictionary.to_pylist()))
    return shown, of["ids"], of.get("label", of.get("grade")), groups


def _listed(given: Any, graded: bool) -> _Part:
    """The compounds of a mapping of ids to labels, or of ids."""
    what = "levels" if graded else "labels"
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        raise TypeError(f"library is of type {type(given).__name__}: it must be a number, a file, a frame, ids, or a "
                        f"mapping of ids to {what}")
    texts = [str(one).strip() for one in given]
    if not all(texts):
        raise ValueError(f"library: compound {texts.index('') + 1}: the id is empty")
    if texts and os.path.isfile(texts[0]):
        raise ValueError(f"library is a list of ids, but {quoted(texts[0])} is a file: give one file, or the ids")
    labels = None
    if isinstance(given, Mapping):
        role = "grade" if graded else "label"
        values = [value.item() if isinstance(value, np.generic) else value for value in given.values()]
        try:
            cells = strings(str(value) for value in values)
            (labels,) = converted([(role, role)], [cells], Layout().rules("raise", True))
        except BadCell as bad:
            raise ValueError(f"library[{texts[bad.index or 0]!r}]: {bad}") from None
    return "library", strings(texts), labels, None


def _made(parts: list[_Part], actives: int | None, known: Actives | None, graded: bool,
          grouped: bool) -> Library:  # fmt: skip
    """The library of several parts. An id must not come twice."""
    by_group = {groups is not None for _, _, _, groups in parts}
    labelled = {labels is not None for _, _, labels, _ in parts}
    if len(by_group) > 1 or (len(labelled) > 1 and known is None):
        what = "groups" if len(by_group) > 1 else "labels"
        lacking = next(name for name, _, labels, groups in parts if (groups if what == "groups" else labels) is None)
        raise ValueError(f"{lacking}: the file has no column of {what}, but another file of the library has one")
    ids = pa.chunked_array([one for _, one, _, _ in parts], pa.string()).combine_chunks()
    labels = None if False in labelled else np.concatenate([one for _, _, one, _ in parts])
    groups, given = None, labels
    if True in by_group:
        place: dict[str, int] = {}
        placed = [np.array([place.setdefault(name, len(place)) for name in part[1]])[part[0]]
                  for *_, part in parts if part is not None]  # fmt: skip
        groups = np.concatenate(placed), list(place)
    if known is not None:
        labels = _known(ids, given, known, groups, parts[0][0])
    if labels is None and actives is None:
        raise ValueError(f"{parts[0][0]}: the {'levels' if graded else 'labels'} of its compounds are not known: "
                         + ("give a file with a column of the levels" if graded else
                            f"give {_LABELS}" if grouped else _NEEDS))
    targets: dict[str | None, tuple[Any, Any]] = {None: (ids, labels)}
    if groups is not None:
        codes, names = groups
        targets = {names[code]: (ids.take(pa.array(rows)), None if labels is None else labels[rows])
                   for code, rows in _apart(codes)}  # fmt: skip
    elif known is not None:  # all groups have the same compounds
        every = np.zeros(len(ids), np.int64)
        targets |= {one: (ids, _known(ids, given, known, (every, [one]), parts[0][0])) for one in known.groups}
    _check_once(targets, ' and '.join(name for name, _, _, _ in parts))
    if actives is not None and labels is not None and actives != np.count_nonzero(labels):
        raise ValueError(f"num_actives is {actives:,}, but {np.count_nonzero(labels):,} compounds of the library "
                         "are labelled as active: leave it out")
    return Library(targets, None, None if labels is not None else actives, graded, grouped)


def _known(ids: Any, labels: NDArray[Any] | None, known: Actives, groups: _Names | None,
           shown: str) -> NDArray[Any]:  # fmt: skip
    """The labels of compounds whose actives are listed. Labels in the files must not contradict the list."""
    active = known.labels(ids, *(groups or (np.zeros(len(ids), np.int64), [""])))
    if labels is not None and (wrong := labels != active).any():
        at = int(np.argmax(wrong))
        raise ValueError(f"{shown}: the label of {quoted(ids[at].as_py())} is {labels[at]}, but the id is "
                         f"{'' if active[at] else 'not '}in the list of the actives")
    return active


def _check_once(targets: dict[str | None, tuple[Any, Any]], shown: str) -> None:
    """Raise an error if an id comes twice in a group."""
    for target, (some, _) in targets.items():
        counted = some.dictionary_encode()
        number = np.bincount(numbers_of(counted.indices), minlength=1)
        if number.max(initial=0) > 1:
            first = counted.dictionary[int(np.argmax(number > 1))].as_py()
            of = "" if target is None else f" of group {target!r}"
            again = int(np.count_nonzero(number > 1))
            raise ValueError(f"{shown}: {many(again, 'ids', ',')} (such as "
                             f"{quoted(first)}{of}) {'comes' if again == 1 else 'come'} more than once: name each "
                             "compound once")  # fmt: skip


def actives_of(library: Library, column: Any) -> Actives:
    """The ids of the actives, for a table without labels."""
    found = {}
    for name, (ids, labels) in (library.targets or {}).items():
        if labels is None:
            raise ValueError(f"column {column!r}: neither the table nor the library has it")
        found[name] = ids.filter(pa.array(labels != 0)).to_pylist()
    return Actives(found)
