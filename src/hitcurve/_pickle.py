"""The names that pickles hold, besides those of public classes: they stay, wherever the code moves."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

MAKERS: dict[str, Callable[..., Any]] = {}  # filled by the module of the curves, which lies above this one


def hit_curve(*table: Any) -> Any:
    return MAKERS["HitCurve"](*table)


def hit_curves(*tables: Any) -> Any:
    return MAKERS["HitCurves"](*tables)
