"""Measure rankings: average precision and all that reads off the hit curve, exact under ties."""
from typing import TYPE_CHECKING, Any

from hitcurve._curve import HitCurve, HitCurves, at_threshold, average_precision, mean_average_precision
from hitcurve.counter import HitCounter
from hitcurve.results import HitCurvePoints, PrecisionRecallCurve, RocCurve, ThresholdCounts, TieReport

if TYPE_CHECKING:
    from hitcurve.scanning import scan

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
    "scan",
]

# What is imported when it is first asked for: name -> module.
_LAZY = {"scan": "hitcurve.scanning"}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        from importlib import import_module

        globals()[name] = getattr(import_module(_LAZY[name]), name)
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
