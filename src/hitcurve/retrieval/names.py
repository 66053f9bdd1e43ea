"""The measures that are asked for: names of ours, of trec_eval and its sets, and objects of ir_measures."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from hitcurve.measures import Measure, of_ir_measures
from hitcurve.retrieval.trec_eval import expand

__all__ = ["measure_of", "resolve"]


def resolve(measures: Any) -> dict[str, Measure]:
    """The measures that names, sets and parameters of trec_eval stand for, by the names that were asked for.

    Those of a set, or of several parameters, go by their own names.
    """
    found: dict[str, Measure] = {}
    single = isinstance(measures, (str, Measure)) or of_ir_measures(measures) or not isinstance(measures, Iterable)
    for one in [measures] if single else measures:
        named = _named(one)
        for name, measure in named:
            if not measure.record.of_runs:
                curve = "HitCurves" if "hits" in measure.record.of else "GainCurves"
                raise ValueError(f"{measure.name} needs every item of the collection, and a run lists some documents "
                                 f"alone: give labels and scores of all items to hitcurve.{curve}")
            if "fraction" in dict(measure.keywords):
                raise ValueError(f"{measure.name}: a share in percent needs the size of the collection, which a run "
                                 "does not have; give a rank")
            found[name] = measure
    if not found:
        raise ValueError("no measures")
    return found


def measure_of(name: Any) -> Measure:
    """The one measure that a name stands for."""
    ((_, measure),) = _named(name)
    return measure


def _named(one: Any) -> tuple[tuple[str, Measure], ...]:
    if isinstance(one, Measure):
        return ((one.name, one),)
    if not isinstance(one, str):
        if not of_ir_measures(one):
            raise TypeError(f"measures must be names of measures, got {one!r} of type {type(one).__name__}")
        one = str(one)
    return _expanded(one)


@lru_cache(maxsize=4096)
def _expanded(text: str) -> tuple[tuple[str, Measure], ...]:
    measures = [entry.measure for entry in expand(text) if entry.measure is not None]
    return ((text, measures[0]),) if len(measures) == 1 else tuple((one.name, one) for one in measures)
