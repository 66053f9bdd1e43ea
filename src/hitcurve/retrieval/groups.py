"""Judgments with judgment groups: several users' levels, or their preferences, for the documents of a query."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hitcurve._base.checks import quoted
from hitcurve._base.given import id_of
from hitcurve._base.pickle import MAKERS, judgment_groups
from hitcurve._base.words import many
from hitcurve.retrieval.preferences import Partial, closed, columns_of_lines, spread
from hitcurve.retrieval.runs import Judged, Qrels

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["GROUPED", "JudgmentGroups", "encoded", "groups_of_columns", "groups_of_dicts", "groups_of_text"]

#: The formats of trec_eval that have judgment groups, with their columns.
GROUPED = {
    "prefs": ("query", "group", "subgroup", "document", "relevance"),
    "qrels_prefs": ("query", "group", "document", "relevance"),
    "qrels_jg": ("query", "group", "document", "relevance"),
}
_NUMBER = re.compile(rb"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_MOST = 10**9  # of a whole level
_WHOLE = f"whole number from {-_MOST} to {_MOST}"
_Where = Callable[[int], str]


class JudgmentGroups:
    """Judgments of several users or occasions. `read_qrels` makes them, if `format` names such a format.

    A *judgment group* has the levels that a user gives to documents. It prefers documents of a higher level to
    documents of a lower level. In the format ``"prefs"`` a group may have *subgroups*, whose levels are not comparable
    with each other. The preferences of such a group are those within its subgroups, and those that follow from them:
    if a is preferred to b and b to c, then a is preferred to c.

    Attributes
    ----------
    format : str
        The argument of `read_qrels`.
    source : str
        The name of the file, or ``"qrels"``.
    """

    def __init__(self, format: str, source: str, columns: Sequence[Any], where: _Where | None = None,
                 passed: Sequence[str] = (), heads: dict[str, str] | None = None) -> None:
        self.format, self.source, self.passed = format, source, list(passed)
        self._columns, self._heads = columns, heads
        self._build(where or (lambda row: f"{source}, judgment {row}"))

    def _build(self, where: _Where) -> None:
        """Sort the judgments by query, group, subgroup and falling level, and check them."""
        queries, groups, subgroups, docs, levels = self._columns
        if not queries:
            raise ValueError(f"{self.source}: there are no judgments")
        names = list(dict.fromkeys(queries))
        query = _codes(queries, names)
        known = [sorted(set(column)) for column in (groups, subgroups, docs)]
        group, subgroup, doc = (_codes(column, one) for column, one in zip(self._columns[1:4], known, strict=True))
        level = np.asarray(levels, dtype=np.float64)
        pairs, of_pair = np.unique(query * len(known[2]) + doc, return_inverse=True)
        starts = np.searchsorted(pairs, np.arange(len(names) + 1) * len(known[2])).astype(np.int64)
        place = of_pair.astype(np.int64) - starts[query]
        order = np.lexsort((place, -level, subgroup, group, query))
        self._check_twice(order, (query, group, subgroup, place), where)
        #: All documents of each query, by id. The level of a document is its place among them.
        self.qrels = Qrels.from_columns(
            starts[:-1], names, [known[2][i] for i in (pairs % len(known[2])).tolist()],
            np.arange(len(pairs)) - np.repeat(starts[:-1], np.diff(starts)).astype(np.float64), self.source,
            heads=self._heads)
        new = _changes(query[order], group[order])
        entries = np.append(np.flatnonzero(new), len(order))  # where each group's judgments begin
        self._groups = np.searchsorted(query[order][new], np.arange(len(names) + 1)).astype(np.int64)
        self._form(starts, entries, subgroup[order], place[order], level[order],
                   lambda at: (where(int(order[at])), int(order[at])))

    def _check_twice(self, order: Any, columns: tuple[Any, ...], where: _Where) -> None:
        by_doc = np.lexsort(columns[::-1])
        same = ~_changes(*(one[by_doc] for one in columns))
        if same.any():
            later = by_doc[same]  # the sort is stable: of two judgments the later one
            row = int(later.min())
            first = where(int(by_doc[np.flatnonzero(by_doc == row)[0] - 1])).removeprefix(self.source).lstrip(", ")
            raise ValueError(f"{where(row)}: document {_shown(self._columns[3][row])} occurs twice in {self._of(row)}, "
                             f"first in {first}")

    def _of(self, row: int) -> str:
        """The query, the group and the subgroup of a judgment, for a message."""
        what = f"query {_shown(self._columns[0][row])}, group {_shown(self._columns[1][row])}"
        return what + (f", subgroup {_shown(self._columns[2][row])}" if self.format == "prefs" else "")

    def _form(self, starts: Any, entries: Any, subgroup: Any, place: Any, level: Any,
              where: Callable[[int], tuple[str, int]]) -> None:
        """The groups as arrays: groups with one subgroup by levels, the others as partial orders."""
        begins, sizes = entries[:-1], np.diff(entries)
        of_group = np.repeat(np.arange(len(sizes)), sizes)
        number = np.cumsum(_changes(of_group, subgroup, level)) - 1
        number = (number - number[begins][of_group]).astype(np.int64)
        several = subgroup[begins] != subgroup[entries[1:] - 1]
        levels = np.where(several, 0, number[entries[1:] - 1] + 1).astype(np.int64)
        first, rows, size = np.full(len(several), -1, np.int64), [np.empty(0, np.uint64)], 0
        sign, kept = (level > 0).astype(np.int8), np.ones(len(place), dtype=bool)
        sign[(level < 0) & several[of_group]] = -1
        for g in np.flatnonzero(several).tolist():
            begin = int(entries[g])
            here = slice(begin, int(entries[g + 1]))
            last, bits = self._partial_order(place[here], number[here], subgroup[here], level[here], begin, where)
            kept[here] = False
            kept[begin + last] = True
            first[g], sizes[g], size = size, len(last), size + len(bits)
            rows.append(bits)
        self._members = np.append(0, np.cumsum(sizes)).astype(np.int64)
        self._place, self._level = place[kept], level[kept]
        self._several = bool(several.any())
        self.partial = Partial(starts, self._groups, self._members, self._place, number[kept], sign[kept], levels,
                               first, np.concatenate(rows))

    def _partial_order(self, place: Any, number: Any, subgroup: Any, level: Any, begin: int,
                       where: Callable[[int], tuple[str, int]]) -> tuple[Any, Any]:
        """The judgments that stand for the documents of a group, and a row of bits for each; `begin`: its first one.

        Bit b of row a says that document a is preferred to document b. trec_eval takes a document's level from its last
        subgroup.
        """
        docs, of = np.unique(place, return_inverse=True)
        last = np.empty(len(docs), np.int64)
        last[of] = np.arange(len(place))  # the last assignment counts
        most, least = np.full(len(docs), -math.inf), np.full(len(docs), math.inf)
        np.maximum.at(most, of, level)
        np.minimum.at(least, of, np.abs(level))
        for one in np.flatnonzero((most > 0) & (least == 0))[:1]:
            at, row = where(begin + int(np.flatnonzero((of == one) & (level == 0))[0]))
            raise ValueError(f"{at}: document {_shown(self._columns[3][row])} has level 0 here, but a level above 0 in "
                             f"another subgroup of {self._in_group(row)}")
        rank = np.empty(len(docs), np.int64)
        rank[np.argsort(last)] = np.arange(len(docs))
        bits = np.zeros(len(docs) * (len(docs) + 63 >> 6), np.uint64)
        waiting = closed(len(docs), rank[of], number, subgroup[_changes(number)].astype(np.int64), bits)[rank[of]]
        if waiting.any():
            at, row = where(begin + _in_circle(waiting, of, number, subgroup))
            raise ValueError(f"{at}: the preferences of {self._in_group(row)} form a circle: document "
                             f"{_shown(self._columns[3][row])} would be preferred to itself")
        return np.sort(last), bits

    def _in_group(self, row: int) -> str:
        return f"query {_shown(self._columns[0][row])}, group {_shown(self._columns[1][row])}"

    # ------------------------------------------------------------------------------------------ a query for each group

    @cached_property
    def by_level(self) -> Qrels:
        """Judgments with a query for each group, for measures that are averaged over the groups."""
        if self._several:
            raise ValueError(f"{self.source}: a group has several subgroups, whose levels cannot be compared: only "
                             "measures of preferences, such as Pref, can be computed")
        odd = np.flatnonzero((self._level != np.trunc(self._level)) | (np.abs(self._level) > _MOST))
        if len(odd):
            raise ValueError(f"{self.source}: a level is {self._level[odd[0]]:g}, but only measures of preferences, "
                             f"such as Pref, take levels other than whole numbers up to {_MOST}")
        names = list(map(str, range(len(self._members) - 1)))
        return Qrels.from_columns(self._members[:-1], names, self._place, self._level, self.source)

    def spread(self, judged: Judged) -> Judged:
        """The judged documents of a run, of `by_level`."""
        return spread(judged, self.by_level, self._groups, self._members, self._place, self._level.astype(np.int64))

    def mean(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The means over the groups of each query, added in the order of the groups' ids, as trec_eval adds."""
        found = np.zeros((len(values), len(self.qrels)))
        sizes = np.diff(self._groups)
        for i in range(int(sizes.max())):
            some = np.flatnonzero(sizes > i)
            found[:, some] += values[:, self._groups[some] + i]
        return found / sizes

    @property
    def several_groups(self) -> bool:
        """Whether a query has more than one group."""
        return bool((np.diff(self._groups) > 1).any())

    def num_relevant(self, level: float) -> NDArray[np.int64]:
        """For each query, the number of documents that some group gives this level or a higher level."""
        found = np.zeros(len(self.qrels), np.int64)
        owner = np.repeat(np.repeat(np.arange(len(found)), np.diff(self._groups)), np.diff(self._members))
        some = np.unique(np.stack([owner, self._place])[:, self._level >= level], axis=1)
        np.add.at(found, some[0], 1)
        return found

    # ------------------------------------------------------------------------------------------------------------ shown

    def __len__(self) -> int:
        return len(self.qrels)

    def __repr__(self) -> str:
        numbers = zip((len(self), len(self._members) - 1, len(self._columns[0])), ("queries", "groups", "judgments"),
                      strict=True)
        return f"JudgmentGroups({self.source!r}: {', '.join(many(*one) for one in numbers)})"

    def __reduce__(self) -> Any:
        return judgment_groups, (self.format, self.source, self._columns, None, self.passed, self._heads)


MAKERS["JudgmentGroups"] = JudgmentGroups


def _codes(column: Sequence[Any], known: Sequence[Any]) -> NDArray[np.int64]:
    """The place of each text of a column in `known`."""
    number = {text: i for i, text in enumerate(known)}
    return np.fromiter(map(number.__getitem__, column), np.int64, len(column))


def _changes(*columns: Any) -> NDArray[np.bool_]:
    """Whether each row differs from the row before it."""
    found = np.zeros(len(columns[0]), dtype=bool)
    found[:1] = True
    for one in columns:
        found[1:] |= one[1:] != one[:-1]
    return found


def _in_circle(waiting: Any, doc: Any, number: Any, subgroup: Any) -> int:
    """The first judgment of a document in a circle. `waiting`: whether its document is in a circle, or above one."""
    at, met = int(doc[waiting][0]), set()
    while at not in met:  # from each such document some way leads down to another
        met.add(at)
        for one in np.flatnonzero(doc == at).tolist():
            below = np.flatnonzero(waiting & (number == number[one] + 1) & (subgroup == subgroup[one]))
            if len(below):
                at = int(doc[below[0]])
                break
    return int(np.flatnonzero(doc == at)[0])


def _shown(text: bytes) -> str:
    return repr(text.decode("utf-8", "backslashreplace"))


# ------------------------------------------------------------------------------------------------------------- readers

def groups_of_text(text: bytes, name: str, format: str, strict: bool) -> JudgmentGroups:
    """Judgments from lines in a format of trec_eval."""
    kinds, text = GROUPED[format], text.removeprefix(b"\xef\xbb\xbf")
    columns, lines, bad = columns_of_lines(text, len(kinds))

    def where(row: int) -> str:
        return f"{name}, line {lines[row] + 1}"

    def shown(line: int) -> str:
        return _shown(text.split(b"\n")[line].strip())

    if bad is not None:
        line, number = bad
        named = ", ".join({"query": "query_id", "document": "doc_id"}.get(kind, kind) for kind in kinds)
        other = f"; a text with commas needs a header with the columns {named}" if number == 1 else ""
        raise ValueError(f"{name}, line {line + 1}: the line has {many(number, 'columns')}, but a line of {format} has "
                         f"{len(kinds)} ({', '.join(kinds)}): {shown(line)}{other}")
    query, group, *rest, doc, level = columns
    if not query:
        raise ValueError(f"{name}: there are no judgments")
    subgroup = rest[0] if rest else [b"0"] * len(query)
    read, odd = {}, set()
    for one in dict.fromkeys(level):
        value = _level(one, format == "qrels_jg")
        if value is None:
            value = _prefix(one, format == "qrels_jg")
            odd.add(one)
        read[one] = value
        if (one in odd and strict) or abs(value) == math.inf or (format == "qrels_jg" and abs(value) > _MOST):
            row = level.index(one)
            what = f"a {_WHOLE}" if format == "qrels_jg" else "a number"
            raise ValueError(f"{where(row)}: the relevance {_shown(one)} is not {what}: {shown(int(lines[row]))}")
    passed = [row for row, one in enumerate(level) if one in odd] if odd else []
    notes = [f"{name}: {many(len(passed), 'relevances')} other than a number: the number at the beginning counts, or 0 "
             f"if there is none, first in line {lines[passed[0]] + 1}"] if passed else []
    return JudgmentGroups(format, name, (query, group, subgroup, doc, list(map(read.__getitem__, level))), where, notes)


def _level(text: bytes, whole: bool) -> float | None:
    """The number that a text is, or None."""
    if _NUMBER.fullmatch(text) is None or (whole and not text.lstrip(b"+-").isdigit()):
        return None
    return float(text)


def _prefix(text: bytes, whole: bool) -> float:
    """The number that a text begins with, as in C, or 0."""
    found = re.match(rb"[-+]?[0-9]+", text) if whole else _NUMBER.match(text)
    return float(found[0]) if found else 0.0


def groups_of_columns(ids: Sequence[Sequence[bytes]], levels: NDArray[np.float64], name: str, format: str, strict: bool,
                      where: _Where, said: _Where, found: Any = None) -> JudgmentGroups:
    """Judgments from a column for each of `GROUPED`. `said` names a level in a message; `found`: the columns' names."""
    query, group, *rest, doc = ids
    if not query:
        raise ValueError(f"{name}: there are no judgments")
    bad, cut = ~np.isfinite(levels), np.zeros(len(levels), dtype=bool)
    if format == "qrels_jg":
        cut = np.trunc(levels) != levels
        bad |= (np.abs(levels) > _MOST) | (cut & strict)
    for row in np.flatnonzero(bad)[:1].tolist():
        what = _WHOLE if format == "qrels_jg" else "finite number"
        raise ValueError(f"{said(row)} is {levels[row]:.17g}: it must be a {what}")
    notes = [] if found is None else list(found.notes)
    if cut.any():
        notes.append(f"{name}: {many(int(cut.sum()), 'relevances')} other than a whole number: the fraction is cut off")
    subgroup = rest[0] if rest else [b"0"] * len(query)
    columns = query, group, subgroup, doc, (np.trunc(levels) if cut.any() else levels).tolist()
    return JudgmentGroups(format, name, columns, where, notes, None if found is None else found.heads)


def groups_of_dicts(source: Any, name: str, format: str, strict: bool) -> JudgmentGroups:
    """From ``{query: {group: {document: level}}}``; in the format "prefs" with subgroups between."""
    *kinds, _ = GROUPED[format]
    paths: list[tuple[bytes, ...]] = []
    levels: list[float] = []

    def walk(held: Any, path: tuple[bytes, ...]) -> None:
        if not isinstance(held, Mapping):
            inner = "".join(f"{{{kind}: " for kind in kinds)
            plain = "; judgments without groups need no format" * (len(path) == 2)
            raise TypeError(f"{name}: {of(path)} holds {type(held).__name__}, but format={format!r} takes dicts "
                            f"{inner}level{'}' * len(kinds)}{plain}")
        for key, value in held.items():
            what = kinds[len(path)]
            here = *path, encoded(id_of(key, name, f"the id of a {what}"), what, name)
            if len(here) < len(kinds):
                walk(value, here)
            elif not isinstance(value, (int, float, np.number, np.bool_)) or isinstance(value, np.complexfloating):
                raise TypeError(f"{said(here)} is {quoted(value)}: it must be a number")
            else:
                paths.append(here)
                levels.append(_double(value))

    def of(path: tuple[bytes, ...]) -> str:
        return ", ".join(f"{kind} {_shown(one)}" for kind, one in zip(kinds, path, strict=False)) or "the source"

    def said(path: tuple[bytes, ...]) -> str:
        return f"{name}: the relevance of document {_shown(path[-1])} of {of(path[:-1])}"

    walk(source, ())
    return groups_of_columns(list(zip(*paths, strict=True)) or [()] * len(kinds), np.array(levels), name, format,
                             strict, lambda row: f"{name}, {of(paths[row][:-1])}", lambda row: said(paths[row]))


def _double(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def encoded(text: str, what: str, name: str) -> bytes:
    """An id as bytes."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise ValueError(f"{name}: the id of a {what} is {text!r}: UTF-8 cannot encode its lone surrogate") from None
