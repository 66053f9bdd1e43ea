"""Measure rankings: average precision and all that reads off the hit curve, exact under ties."""
from typing import TYPE_CHECKING, Any

from hitcurve._curve import HitCurve, HitCurves, at_threshold, average_precision, mean_average_precision
from hitcurve.counter import HitCounter
from hitcurve.results import HitCurvePoints, PrecisionRecallCurve, RocCurve, ThresholdCounts, TieReport

if TYPE_CHECKING:
    from hitcurve.trec import Evaluation, evaluate, read_qrels, read_run

__version__ = "0.1.0"

# Imported when first asked for, so that `import hitcurve` stays quick.
_LAZY = {
    "Evaluation": "hitcurve.trec",
    "evaluate": "hitcurve.trec",
    "read_qrels": "hitcurve.trec",
    "read_run": "hitcurve.trec",
}

__all__ = [
    "Evaluation",
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
    "evaluate",
    "mean_average_precision",
    "read_qrels",
    "read_run",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        from importlib import import_module

        value = getattr(import_module(_LAZY[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'hitcurve' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
