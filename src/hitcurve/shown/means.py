"""The means of evaluations side by side, and the base class of `Evaluation`."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hitcurve._base.checks import quoted
from hitcurve._base.files import file_name
from hitcurve._base.given import at_hand
from hitcurve._base.queries import ALL, Queries
from hitcurve._base.words import many, meant
from hitcurve.shown.board import Tested, board
from hitcurve.shown.grid import Grid
from hitcurve.shown.notebook import EVERY_ROW, shown
from hitcurve.shown.printed import Printed, checked_digits

__all__ = [
    "Evaluated", "Means", "chosen", "means_of", "queries", "remarks", "strata_of", "system_named", "systems_of",
    "titles",
]  # fmt: skip


class Means(Printed):
    """The base of a result that prints the means of one or several evaluations."""

    _tested: Tested | None = None
    _marks: Mapping[str, Tested] = {}  # with groups of queries: what is significant over all queries, and in each group

    def _by_system(self) -> dict[str, Any]:
        raise NotImplementedError

    def _strata(self) -> Mapping[str, Mapping[str, Any]]:
        """The evaluations of the queries of each group, by group and system."""
        return {}

    def _blocks(self, digits: int = 4, caption: str = "", label: str = "") -> list[Grid | str]:
        found, strata = self._by_system(), self._strata()
        if strata:
            grid = stacked({ALL: found, **strata}, checked_digits(digits), tested=self._marks)
            grid = grid._replace(caption=caption, label=label)
        else:
            means, names = means_of(list(found.values()))
            grid = board(list(found), means, digits=checked_digits(digits), names=names, found=self._tested,
                         foot=[f"{queries(found.values())}."], caption=caption, label=label)  # fmt: skip
        return [grid._replace(foot=(*grid.foot, *remarks(found)))]

    def _repr_html_(self) -> str:
        return shown(self._blocks(), EVERY_ROW, (note for one in self._by_system().values() for note in one.notes))


class Evaluated(Means):
    """The base of `Evaluation`: the values of measures for each query of a system, and their means."""

    name: str
    query_ids: list[str]
    values: Any  # by measure
    means: Any
    groups: dict[str, str] | None
    counts: dict[str, int]
    missing: list[str]
    relevance_level: float
    notes: list[str]

    def _origin(self) -> dict[str, str]:
        """The ``file`` that the run was read from, and the ``tag`` in it, where they are known."""
        raise NotImplementedError

    def _only(self, places: list[int]) -> Any:
        raise NotImplementedError

    def _strata(self) -> Mapping[str, Mapping[str, Any]]:
        return strata_of(self._by_system(), None)


def systems_of(evaluations: Any, name: str = "evaluations") -> dict[str, Any]:
    """The evaluations by the names of their systems. A list of evaluations takes their own names."""
    found: dict[str, Any] = {}
    evaluations = at_hand(evaluations)
    if isinstance(evaluations, Mapping):
        found = dict(evaluations)
    elif isinstance(evaluations, list | tuple) and all(isinstance(one, Evaluated) for one in evaluations):
        for at, one in enumerate(evaluations):
            if one.name in found:
                first = list(found).index(one.name)
                both = f"{name}[{first}] and {name}[{at}] are both named {quoted(one.name)}"
                raise ValueError(f"{both}: pass a mapping of names to evaluations")
            found[one.name] = one
    else:
        raise TypeError(f"{name} must be a list of evaluations, or a mapping of names to evaluations, "
                        f"got {type(evaluations).__name__}")  # fmt: skip
    for system in found:
        if not isinstance(system, str):
            raise TypeError(f"{name} has the key {quoted(system)}: the name of a system must be a string")
    return found


def system_named(asked: Any, systems: Mapping[str, Any]) -> str:
    """The name of the system that `baseline` names: by its name, or by the path, the file or the tag of its run.

    A name wins over a path, and a path over the name of a file, with or without its ending, and over a tag.
    """
    if isinstance(asked, os.PathLike):
        asked = os.fspath(asked)
    if asked in systems:
        return str(asked)
    origins = {name: one._origin() if isinstance(one, Evaluated) else {} for name, one in systems.items()}
    if isinstance(asked, str):
        path = os.path.normpath(asked)
        by_path = [name for name, of in origins.items() if of.get("file") and os.path.normpath(of["file"]) == path]
        found = by_path or [name for name, origin in origins.items() if asked in _also(name, origin)]
        if len(found) == 1:
            return found[0]
        if found:
            listed = ", ".join(_described(name, origins[name]) for name in found)
            raise ValueError(f"baseline={quoted(asked)} is more than one of the systems: {listed}: name one of them")
    near = meant(asked, systems).rstrip()
    listed = ", ".join(_described(*pair) for pair in origins.items()) + (f"; {near}" if near else "")
    raise ValueError(f"baseline={quoted(asked)} is not one of the systems: {listed}")


def _also(name: str, origin: Mapping[str, str]) -> set[str]:
    """Further names of a system: the file of its run, with and without its endings, and the tag."""
    file = origin.get("file", "")
    known = {os.path.basename(file), file_name(file), *map(_stem, (file, name)), origin.get("tag", "")}
    return known - {""}


def _stem(path: str) -> str:
    """The name of a file without its endings, such as "bm25" for "runs/bm25.txt.gz". A number is no ending."""
    stem, ending = os.path.splitext(file_name(path))
    return stem if ending[1:2].isalpha() else stem + ending


def _described(name: str, origin: Mapping[str, str]) -> str:
    """A system in an error: its name, and the file and the tag of its run where the name does not say them."""
    file, tag = origin.get("file", ""), origin.get("tag", "")
    said = [f"file {quoted(file)}"] if file and _stem(file) != _stem(name) else []
    said += [f"tag {quoted(tag)}"] if tag and tag not in (name, _stem(name), "run", file_name(file)) else []
    return repr(name) + (f" ({', '.join(said)})" if said else "")


def chosen(found: dict[str, Any], given: Queries | None) -> dict[str, Any]:
    """The evaluations of the queries that count. An error if no evaluation has one of the ids, or if none is left."""
    if given is None:
        return found
    known = list(dict.fromkeys(query for one in found.values() for query in one.query_ids))
    places = given.places(known)
    if given.groups is not None:
        return found
    wanted = {known[at] for at in places}
    return {name: one._only([at for at, query in enumerate(one.query_ids) if query in wanted])
            for name, one in found.items()}  # fmt: skip


def strata_of(found: dict[str, Any], given: Queries | None) -> dict[str, dict[str, Any]]:
    """The evaluations of each group of queries. Without `given` the groups are those that all evaluations have."""
    if given is None:
        groups = [one.groups for one in found.values()]
        if not groups or groups[0] is None or any(other != groups[0] for other in groups):
            return {}
        given = Queries(groups[0])
    places = {name: given.strata(one.query_ids) for name, one in found.items()}
    names = {group: None for group in (given.groups or {}).values() if any(group in one for one in places.values())}
    return {group: {name: one._only(places[name].get(group, [])) for name, one in found.items()} for group in names}


def stacked(strata: Mapping[str, Mapping[str, Any]], digits: int = 4, head: str = "system",
            foot: Iterable[str] = (), tested: Mapping[str, Tested] | None = None) -> Grid:  # fmt: skip
    """The tables of the means of each group of queries, one below the other. `tested`: what is significant in each."""
    rows: list[list[str]] = []
    breaks, said = [], dict[Any, None]()
    for group, found in strata.items():
        means, names = means_of(list(found.values()))
        grid = board(list(found), means, digits=digits, names=names, head=head, found=(tested or {}).get(group))
        count = queries(found.values(), ",", "")
        if rows:
            breaks.append(len(rows))
        else:
            rows.append(["stratum", "queries", *grid.rows[0]])
        rows += [[group, count, *row] for row in grid.rows[1:]]
        said |= dict.fromkeys(grid.foot)
    return Grid(rows, 2 + grid.left, breaks=tuple(breaks), foot=(*foot, *list(said)[:1]))


def titles(found: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The measures by the names that the caller asked for, each with the name of its record. Each occurs once."""
    known: dict[str, str] = {}
    for one in found:
        own = {asked: name for name, asked in getattr(one, "asked", {}).items()}
        for measure in one:
            known.setdefault(own.get(measure, measure), measure)
    return {measure: name for name, measure in known.items()}


def means_of(evaluations: Sequence[Evaluated]) -> tuple[list[dict[str, float]], dict[str, str]]:
    """The means of each evaluation, NaN for a measure that it does not have; and the `titles`."""
    names = titles(one.means for one in evaluations)
    return [{measure: one.means.get(measure, math.nan) for measure in names} for one in evaluations], names


_MOST_NAMES = 5  # of systems, in a sentence


def remarks(found: Mapping[str, Evaluated]) -> list[str]:
    """Sentences about queries that a run lacks or that have nothing relevant, and about systems that differ in them."""
    said = list[str]()
    first, *others = (one.query_ids for one in found.values())
    if any(ids != first and set(ids) != set(first) for ids in others):
        said.append("The systems do not have the same queries: their means cannot be compared.")
    for counted, how in ((True, "count as queries without results"), (False, "are left out")):
        lacking = [f"{name} {one.counts['missing']:,}" for name, one in found.items()
                   if one.counts.get("missing") and counted != set(one.missing).isdisjoint(one.query_ids)]  # fmt: skip
        if lacking:
            more = f" and {many(len(lacking) - _MOST_NAMES, 'more systems')}" if len(lacking) > _MOST_NAMES else ""
            said.append(f"Missing queries {how}: {', '.join(lacking[:_MOST_NAMES])}{more}.")
    empty = {(one.counts.get("empty", 0), f"{one.relevance_level:.15g}") for one in found.values()}
    for number, level in sorted(empty)[-1:]:
        if number:
            least = "up to " if len(empty) > 1 else ""
            said.append(f"Queries without a relevant document (from level {level} on): {least}{number:,}.")
    return said


def queries(evaluations: Iterable[Evaluated], form: str = "", unit: str = "queries") -> str:
    """The number of queries, such as "50 queries". If evaluations differ, the least and the greatest number."""
    counts = {len(one.query_ids) for one in evaluations}
    least = f"{min(counts):{form}} to " if len(counts) > 1 else ""
    return least + (many(max(counts), unit, form) if unit else f"{max(counts):{form}}")
