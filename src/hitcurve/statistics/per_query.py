"""The values of systems for each query, from evaluations, from curves of queries, or from arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hitcurve._base.checks import as_real
from hitcurve._base.words import many
from hitcurve.curves.gain import GainCurves
from hitcurve.curves.hit import HitCurves
from hitcurve.curves.subtopics import SubtopicCurves
from hitcurve.measures import Measure, as_measure
from hitcurve.shown.board import record_of
from hitcurve.shown.means import Evaluated, titles

__all__ = [
    "check_apart", "check_mean", "held_measures", "ids_of", "in_one_order", "per_query", "per_system", "uncompared",
]  # fmt: skip

_Array = NDArray[Any]


def held_measures(results: Mapping[str, Any], names: list[str]) -> Sequence[str]:
    """The measures that all evaluations have and that have an arithmetic mean over queries.

    For curves the usual one, and for arrays, of which nobody knows what they hold, the title "value".
    """
    if not all(isinstance(results[name], Evaluated) for name in names):
        kinds = {getattr(results[name], "_usual_measure", None) for name in names}
        return (kinds.pop() or "value",) if len(kinds) == 1 else ("AP",)
    return [measure for measure, mean in _means(results, names).items() if mean == "arithmetic"]


def uncompared(results: Mapping[str, Any], names: list[str]) -> tuple[str, ...]:
    """The measures that all evaluations have and that are sums or geometric means over queries."""
    if not all(isinstance(results[name], Evaluated) for name in names):
        return ()
    return tuple(measure for measure, mean in _means(results, names).items() if mean != "arithmetic")


def _means(results: Mapping[str, Any], names: list[str]) -> dict[str, str]:
    """The measures of evaluations, and the kind of their means over queries."""
    known = titles(results[name].values for name in names)
    return {measure: as_measure(name).record.mean for measure, name in known.items()}


def per_query(results: Mapping[str, Any], names: list[str], measures: list[Any],
              ties: str) -> dict[str, tuple[_Array, list[Any]]]:  # fmt: skip
    """For each measure: an array of values (queries, systems), and the names of the queries."""
    found = {}
    for wanted in measures:
        titles, values, ids = zip(*(_values_of(results[name], name, wanted, ties) for name in names), strict=True)
        found[titles[-1]] = in_one_order(names, ids, values), ids[0]
    return found


def per_system(results: Mapping[str, Any], names: list[str], measures: list[Any],
               ties: str) -> dict[str, list[tuple[_Array, list[Any]]]]:  # fmt: skip
    """For each measure: the values of each system, and the names of its queries."""
    found = {}
    for wanted in measures:
        titles, values, ids = zip(*(_values_of(results[name], name, wanted, ties) for name in names), strict=True)
        found[titles[-1]] = list(zip(values, ids, strict=True))
    return found


def check_apart(results: Mapping[str, Any], names: list[str], ids: Sequence[list[Any]]) -> None:
    """An error if two systems share a query. Queries without names are not compared."""
    first: dict[Any, str] = {}
    for name, own in zip(names, ids, strict=True):
        if not isinstance(results[name], Evaluated) and getattr(results[name], "qid", None) is None:
            continue
        shared = [query for query in own if query in first]
        if shared:
            raise ValueError(f"{first[shared[0]]!r} and {name!r} share {many(len(shared), 'queries')}, such as "
                             f"{shared[0]!r}: for paired=False systems must share no query; leave paired=False out, or "
                             "pass arrays of values if equal names are different queries")
        first |= dict.fromkeys(own, name)


def in_one_order(names: list[str], ids: Sequence[list[Any]], values: Sequence[_Array]) -> _Array:
    """The values of systems, (queries, systems, ...), in the order in which the first system has its queries."""
    columns, queries = [], ids[0]
    for name, column, own in zip(names, values, ids, strict=True):
        if len(queries) != len(own):
            counts = f"{names[0]!r} has {many(len(queries), 'queries')}, {name!r} has {len(own)}"
            raise ValueError(f"{counts}: all systems must have the same queries{_advice(queries, own)}")
        if queries != own:
            place = {query: i for i, query in enumerate(own)}
            other = next((query for query in queries if query not in place), None)
            if other is not None:
                raise ValueError(f"query {other!r} of {names[0]!r} is not in {name!r}: all systems must have the same "
                                 f"queries{_advice(queries, own)}")
            column = column[[place[query] for query in queries]]
        columns.append(column)
    return np.stack(columns, axis=1)


def _advice(queries: list[Any], own: list[Any]) -> str:
    """A query that some systems lack, or what to use for systems that share no query. Unnamed queries are numbers."""
    if set(queries) & set(own) and not all(isinstance(one, int) for one in (*queries, *own)):
        longer, shorter = sorted((queries, own), key=len, reverse=True)
        such = next(query for query in longer if query not in set(shorter))
        return f", but only one of them has {such!r}; missing='zero' counts 0 for a query that a run lacks"
    return "; for systems that share no query, such as two years of topics, use compare(..., paired=False)"


def ids_of(curves: HitCurves | GainCurves | SubtopicCurves) -> list[Any]:
    """The names of the queries, or their numbers if they have no names."""
    return list(range(len(curves))) if curves.qid is None else curves.qid.tolist()


def _values_of(result: Any, system: str, measure: Any, ties: str) -> tuple[str, _Array, list[Any]]:
    """(the name of the measure, a value for each query, the names of the queries) of a system."""
    if isinstance(result, HitCurves | GainCurves | SubtopicCurves):
        known = as_measure(measure)
        check_mean(known.name)
        values = np.asarray(known(result, ties), np.float64)
        values = values if known.record.mean == "sum" else np.where(known.empty(result), np.nan, values)
        return known.name, values, ids_of(result)
    if isinstance(result, Evaluated):
        name = measure.name if isinstance(measure, Measure) else measure
        if name not in result.values:
            name = as_measure(measure).name
        if name not in result.values:
            raise ValueError(f"{system!r} has no {name}: it was evaluated for {', '.join(result.values)}")
        check_mean(name)
        return name, np.asarray(result.values[name], np.float64), list(result.query_ids)
    takes = "a system must be an evaluation, a HitCurves, a GainCurves, a SubtopicCurves or a number for each query"
    values = as_real(result, repr(system), takes)
    if values.ndim != 1:
        raise TypeError(f"{system!r} has shape {values.shape}: {takes}")
    return str(measure), values.astype(np.float64), list(range(values.shape[0]))


def check_mean(name: str) -> None:
    """An error for a geometric mean: its values for the queries are those of another measure, and so is their mean."""
    record = record_of(name)
    if record is not None and record.mean == "geometric":
        of = record.name.removeprefix("GM")
        raise ValueError(f"{name} is a geometric mean over queries, and its values for the queries are those of {of}, "
                         f"whose mean is another number: name {of}")
