"""Measure rankings: average precision and all that reads off the hit curve, exact under ties."""
from hitcurve._curve import HitCurve, HitCurves, at_threshold, average_precision, mean_average_precision
from hitcurve.counter import HitCounter
from hitcurve.results import HitCurvePoints, PrecisionRecallCurve, RocCurve, ThresholdCounts, TieReport

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
]
