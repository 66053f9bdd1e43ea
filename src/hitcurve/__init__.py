"""Measure rankings: average precision and all that reads off the hit curve, exact under ties."""
from typing import TYPE_CHECKING, Any

from hitcurve._curve import HitCurve, HitCurves, at_threshold, average_precision, mean_average_precision
from hitcurve.counter import HitCounter
from hitcurve.results import HitCurvePoints, PrecisionRecallCurve, RocCurve, ThresholdCounts, TieReport

if TYPE_CHECKING:
    from hitcurve.plot import plot_curves

__version__ = "0.1.0"

__all__ = [
    "HitCounter",
    "HitCurve",
    "HitCurvePoints",
    "HitCurves",
    "PrecisionRecallCurve",
    "RocCurve",
    "ThresholdCounts",
    "TieReport",
    "at_threshold",
    "average_precision",
    "mean_average_precision",
    "plot_curves",
]

# Public names whose modules are imported when they are first asked for.
_LAZY = {
    "plot_curves": "hitcurve.plot",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
