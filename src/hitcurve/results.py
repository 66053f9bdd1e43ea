"""The types of the results that are more than one number."""
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


WEIGHTED = "weighted items (sample_weight was given, or above, tied or hits in floats)"
NO_WEIGHTS = f"has no meaning for {WEIGHTED}"


class TieReport(NamedTuple, Generic[_Value, _Count]):
    """What ties do to average precision: its bounds over all orders of the tied items, and how much is tied.

    A ``TieReport[float, int]`` of one ranking; of many, all fields are arrays.

    Attributes
    ----------
    worst, expected, best
        Average precision with the relevant items last in each tie group, its mean over all orders, and with the
        relevant items first.
    threshold
        Average precision when a tie group enters at once (scikit-learn's number); it need not lie between the bounds.
    num_tied
        Items in tie groups of more than one item that hold a relevant item; no other tie changes a measure.
    tied_share
        ``num_tied`` as a share of all items.
    largest_group
        Items in the largest tie group that holds a relevant item.
    cutoff_group
        Items in the tie group that the cutoff ``k`` falls inside, 0 when it falls between groups.
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
        from hitcurve._notebook import shown, tie_tables
        return shown(tie_tables(self))


class PrecisionRecallCurve(NamedTuple):
    """Corner points of precision over recall, by increasing threshold.

    Attributes
    ----------
    precision, recall
        The points; the last, precision 1 at recall 0, is where nothing is selected.
    threshold
        Selecting the scores at it or better gives the point; one entry shorter than the others.
    """

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    threshold: NDArray[Any] | None


class RocCurve(NamedTuple):
    """Corner points of the ROC curve, from (0, 0) to (1, 1).

    Attributes
    ----------
    fpr, tpr
        False-positive and true-positive rate.
    threshold
        Selecting the scores at it or better gives the point.
    """

    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    threshold: NDArray[Any] | None


class HitCurvePoints(NamedTuple):
    """Corner points of the hit curve, from (0, 0).

    Attributes
    ----------
    items
        Items from the top of the ranking.
    hits
        Relevant items among them.
    """

    items: NDArray[Any]
    hits: NDArray[Any]


class GainCurvePoints(NamedTuple):
    """Corner points of the gain curve, from (0, 0).

    Attributes
    ----------
    items
        Items from the top of the ranking.
    gain
        What they gain together.
    """

    items: NDArray[np.int64]
    gain: NDArray[np.float64]


class ThresholdCounts(NamedTuple, Generic[_Value, _Count]):
    """What selecting every item at a threshold or better gives.

    A ``ThresholdCounts[float, int]`` for one threshold; for an array of them, all fields are arrays.

    Attributes
    ----------
    tp, fp, fn, tn
        Relevant and other items selected, relevant and other items left.
    precision, recall, f_score
        The shares read off these counts.
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
        Its ends.
    """

    low: float
    high: float


class Interval(NamedTuple):
    """An interval for a measure, in the shape of the result of scipy.stats.bootstrap.

    Attributes
    ----------
    confidence_interval
        Its ends, ``low`` and ``high``.
    bootstrap_distribution
        The measure of each resample, NaN where it is undefined; None for an interval in closed form.
    standard_error
        Of the measure; for the bootstrap the standard deviation of the distribution.
    estimate
        The measure itself.
    measure
        Its name.
    method
        How the interval was made.
    confidence_level
        Its nominal coverage.
    """

    confidence_interval: ConfidenceInterval
    bootstrap_distribution: NDArray[np.float64] | None
    standard_error: float
    estimate: float
    measure: str
    method: str
    confidence_level: float

    def _repr_html_(self) -> str:
        from hitcurve._notebook import interval_tables, shown
        return shown(interval_tables(self))


class PValue(NamedTuple):
    """How often a random order of the items does as well as this one.

    Attributes
    ----------
    pvalue
        The share of random orders whose measure is no worse.
    statistic
        The measure itself.
    null_distribution
        The measure of each random order.
    method
        ``"exact"``: all orders were looked at; ``"permutation"``: some, drawn at random, and the observed one.
    resolution
        The least value that pvalue can take.
    """

    pvalue: float
    statistic: float
    null_distribution: NDArray[np.float64]
    method: str
    resolution: float


for _result in (
    TieReport, PrecisionRecallCurve, RocCurve, HitCurvePoints, GainCurvePoints, ThresholdCounts, ConfidenceInterval,
    Interval, PValue,
):  # fmt: skip
    _result.__module__ = "hitcurve"  # what a pickle names
