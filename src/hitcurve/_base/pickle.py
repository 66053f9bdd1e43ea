"""The names that pickles hold, besides those of public classes: they stay, wherever the code moves."""
from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

MAKERS: dict[str, Callable[..., Any]] = {}  # filled by the module of the curves, which lies above this one


def hit_curve(*table: Any) -> Any:
    return MAKERS["HitCurve"](*table)


def hit_curves(*tables: Any) -> Any:
    return MAKERS["HitCurves"](*tables)


def gain_curve(*table: Any) -> Any:
    return _of("hitcurve.curves.gain", "GainCurve")(*table)


def gain_curves(*tables: Any) -> Any:
    return _of("hitcurve.curves.gain", "GainCurves")(*tables)


def judgments_or_run(*parts: Any) -> Any:
    return _of("hitcurve.retrieval.runs", "judgments_or_run")(*parts)


def _of(module: str, name: str) -> Callable[..., Any]:
    """Their module is loaded when one of its names is first used, which may be here."""
    import_module(module)
    return MAKERS[name]
