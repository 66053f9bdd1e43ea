"""The classes of results that hold more than one number. Rarer classes stand beside their functions."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import TypeVar

    _Value = TypeVar("_Value", default=Any)
    _Count = TypeVar("_Count", default=Any)
else:
    from typing import TypeVar

    _Value, _Count = TypeVar("_Value"), TypeVar("_Count")


WEIGHTED = "weighted items (made with sample_weight, or from a table of floats)"
NO_WEIGHTS = f"is not defined for {WEIGHTED}"


class TieReport(NamedTuple, Generic[_Value, _Count]):
    """How much ties can change average precision: bounds over all orders of tied items, and the number of tied items.

    The report of one ranking is a ``TieReport[float, int]``. In the report of many rankings, all fields are arrays.

    Attributes
    ----------
    worst, expected, best
        Three values of average precision: with the relevant items last in each tie group, the mean over all orders of
        the tied items, and with the relevant items first.
    threshold
        Average precision with the precision at the end of each tie group (scikit-learn's value). The value may lie
        outside the bounds.
    num_tied
        The number of items in tie groups of two or more items that hold a relevant item. Ties without a relevant item
        change no measure.
    tied_share
        ``num_tied`` as a share of all items.
    largest_group
        The number of items in the largest tie group that holds a relevant item.
    cutoff_group
        The number of items in the tie group that holds the cutoff ``k``. 0 if ``k`` falls between two groups.
    """

    worst: _Value
    expected: _Value
    best: _Value
    threshold: _Value
    num_tied: _Count
    tied_share: _Value
    largest_group: _Count
    cutoff_group: _Count

    def _repr_html_(self) -> str:
        from hitcurve.shown.notebook import shown, tie_tables
        return shown(tie_tables(self))


class PrecisionRecallCurve(NamedTuple):
    """Corner points of precision over recall, by increasing threshold.

    Attributes
    ----------
    precision, recall
        The coordinates of the points. At the last point, precision 1 and recall 0, no item is selected.
    threshold
        ``threshold[i]`` selects the items of point i: their score is the threshold or better. The last point has no
        threshold. None for a curve without scores.
    """

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    threshold: NDArray[Any] | None


class PrecisionRecallGainCurve(NamedTuple):
    """Corner points of precision gain over recall gain, by increasing threshold.

    Attributes
    ----------
    precision_gain, recall_gain
        The coordinates of the points. The last point has recall gain 0, where a straight line may cross it.
    threshold
        ``threshold[i]`` selects the items of point i: their score is the threshold or better. The last point has no
        threshold. None for a curve without scores.
    """

    precision_gain: NDArray[np.float64]
    recall_gain: NDArray[np.float64]
    threshold: NDArray[Any] | None


class RocCurve(NamedTuple):
    """Corner points of the ROC curve, from (0, 0) to (1, 1).

    Attributes
    ----------
    fpr, tpr
        The false-positive rate and the true-positive rate of each point.
    threshold
        ``threshold[i]`` selects the items of point i: their score is the threshold or better. None for a curve without
        scores.
    """

    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    threshold: NDArray[Any] | None


class HitCurvePoints(NamedTuple):
    """Corner points of the hit curve, from (0, 0).

    Attributes
    ----------
    items
        The number of items from the top of the ranking.
    hits
        The number of relevant items among these items.
    """

    items: NDArray[Any]
    hits: NDArray[Any]


class GainCurvePoints(NamedTuple):
    """Corner points of the gain curve, from (0, 0).

    Attributes
    ----------
    items
        The number of items from the top of the ranking.
    gain
        The total gain of these items.
    """

    items: NDArray[np.int64]
    gain: NDArray[np.float64]


class ThresholdCounts(NamedTuple, Generic[_Value, _Count]):
    """Counts and shares of the items that a threshold selects: every item whose score is the threshold or better.

    The counts of one threshold are a ``ThresholdCounts[float, int]``. For an array of thresholds, all fields are
    arrays.

    Attributes
    ----------
    tp, fp, fn, tn
        Four counts: relevant items that are selected (tp), other items that are selected (fp), relevant items that are
        not selected (fn), and other items that are not selected (tn).
    precision, recall, f_score
        The shares computed from these counts.
    """

    tp: _Count
    fp: _Count
    fn: _Count
    tn: _Count
    precision: _Value
    recall: _Value
    f_score: _Value


class ConfidenceInterval(NamedTuple):
    """The two ends of an interval.

    Attributes
    ----------
    low, high
        The ends of the interval.
    """

    low: float
    high: float


class Interval(NamedTuple):
    """A confidence interval for a measure, with the fields of the result of scipy.stats.bootstrap.

    Attributes
    ----------
    confidence_interval
        The ends of the interval, ``low`` and ``high``.
    bootstrap_distribution
        The value of the measure in each resample, NaN if the measure is undefined there. None for an interval in closed
        form.
    standard_error
        The standard error of the measure. For the bootstrap it is the standard deviation of the distribution.
    estimate
        The value of the measure.
    measure
        The name of the measure.
    method
        How the interval was made, such as ``"bootstrap"``.
    confidence_level
        The nominal coverage of the interval.
    """

    confidence_interval: ConfidenceInterval
    bootstrap_distribution: NDArray[np.float64] | None
    standard_error: float
    estimate: float
    measure: str
    method: str
    confidence_level: float

    def _repr_html_(self) -> str:
        from hitcurve.shown.notebook import interval_tables, shown
        return shown(interval_tables(self))


for _result in (
    TieReport, PrecisionRecallCurve, PrecisionRecallGainCurve, RocCurve, HitCurvePoints, GainCurvePoints,
    ThresholdCounts, ConfidenceInterval, Interval,
):  # fmt: skip
    _result.__module__ = "hitcurve"  # the module that pickles name
