"""The means of evaluations side by side, and the base class of `Evaluation`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hitcurve._base.checks import quoted
from hitcurve._base.words import many
from hitcurve.shown.board import Tested, board
from hitcurve.shown.grid import Grid
from hitcurve.shown.printed import Printed, checked_digits

__all__ = ["Evaluated", "Means", "means_of", "queries", "systems_of", "titles"]


class Means(Printed):
    """The base of a result that prints the means of one or several evaluations."""

    _tested: Tested | None = None

    def _by_system(self) -> dict[str, Any]:
        raise NotImplementedError

    def _blocks(self, digits: int = 4, caption: str = "", label: str = "") -> list[Grid | str]:
        found = self._by_system()
        means, names = means_of(list(found.values()))
        return [board(list(found), means, digits=checked_digits(digits), names=names, found=self._tested,
                      foot=[f"{queries(found.values())}."], caption=caption, label=label)]  # fmt: skip


class Evaluated(Means):
    """The base of `Evaluation`: the values of measures for each query of a system, and their means."""

    name: str
    query_ids: list[str]
    values: Any  # by measure
    means: Any


def systems_of(evaluations: Any, name: str = "evaluations") -> dict[str, Any]:
    """The evaluations by the names of their systems. A list of evaluations takes their own names."""
    found: dict[str, Any] = {}
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


def queries(evaluations: Iterable[Evaluated], form: str = "") -> str:
    """The number of queries, such as "50 queries". If evaluations differ, the least and the greatest number."""
    counts = {len(one.query_ids) for one in evaluations}
    least = f"{min(counts):{form}} to " if len(counts) > 1 else ""
    return least + many(max(counts), "queries", form)
