"""The functions that pickles name, besides public classes. Their names never change, even if the code moves."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

MAKERS: dict[str, Callable[..., Any]] = {}  # filled by the modules of the classes


def hit_curve(*table: Any) -> Any:
    return MAKERS["HitCurve"](*table)


def hit_curves(*tables: Any) -> Any:
    return MAKERS["HitCurves"](*tables)


def gain_curve(*table: Any) -> Any:
    return _of("hitcurve.curves.gain", "GainCurve")(*table)


def gain_curves(*tables: Any) -> Any:
    return _of("hitcurve.curves.gain", "GainCurves")(*tables)


def subtopic_curve(*parts: Any) -> Any:
    return _of("hitcurve.curves.subtopics", "SubtopicCurve")(*parts)


def subtopic_curves(*parts: Any) -> Any:
    return _of("hitcurve.curves.subtopics", "SubtopicCurves")(*parts)


def judgments_or_run(*parts: Any) -> Any:
    return _of("hitcurve.retrieval.runs", "judgments_or_run")(*parts)


def judgment_groups(*parts: Any) -> Any:
    return _of("hitcurve.retrieval.groups", "JudgmentGroups")(*parts)


def judgments_of_subtopics(*columns: Any) -> Any:
    return _of("hitcurve.retrieval.topics", "judgments_of_subtopics")(*columns)


def _of(module: str, name: str) -> Callable[..., Any]:
    """The maker of the class `name`. Importing `module` adds the maker to `MAKERS`."""
    from importlib import import_module  # which few programs need

    import_module(module)
    return MAKERS[name]
