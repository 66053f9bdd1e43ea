"""From a caller's measures to `Measure` objects: names of hitcurve and trec_eval, and objects of ir_measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from hitcurve._base.checks import quoted
from hitcurve.measures import Measure, of_ir_measures
from hitcurve.retrieval.trec_eval import expand

__all__ = ["measure_of", "resolve"]


def resolve(measures: Any) -> dict[str, Measure]:
    """The measures that a caller names, in a dict keyed by the caller's names.

    The measures of a set of trec_eval, or of a name with several parameters, have hitcurve's names.
    """
    if isinstance(measures, Mapping):
        raise TypeError(f"measures is {quoted(measures)}: pass a list of names with their cutoffs, such as "
                        "['nDCG@5', 'nDCG@10']")
    found: dict[str, Measure] = {}
    single = isinstance(measures, (str, Measure)) or of_ir_measures(measures) or not isinstance(measures, Iterable)
    for one in [measures] if single else measures:
        named = _named(one)
        for name, measure in named:
            if not measure.record.of_runs:
                curve = "HitCurves" if "hits" in measure.record.of else "GainCurves"
                raise ValueError(f"{measure.name} needs every item of the collection, but a run lists only some "
                                 f"documents: pass the labels and scores of all items to hitcurve.{curve}")
            if "fraction" in dict(measure.keywords):
                raise ValueError(f"{measure.name}: a cutoff in percent needs the size of the collection, which a run "
                                 "does not have: use a rank as the cutoff")
            found[name] = measure
    if not found:
        raise ValueError("measures is empty")
    return found


def measure_of(name: Any) -> Measure:
    """The measure that a name stands for; an error if the name stands for several measures."""
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
