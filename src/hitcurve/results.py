"""The classes of results that hold more than one number."""
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


class RankBiasedOverlap(NamedTuple, Generic[_Value]):
    """Rank-biased overlap of two rankings whose further items are unknown.

    The overlap of two rankings is a ``RankBiasedOverlap[float]``. For two runs the first four fields are arrays with a
    value for each query.

    Attributes
    ----------
    ext
        The extrapolated value: the agreement beyond the end of the rankings stays what it is there.
    min, max
        The bounds: beyond the end, no further item is in both rankings, or as many items as possible are.
    residual
        ``max`` minus ``min``: the weight of what is unknown. It is computed without the rounding errors of the bounds.
    p
        The persistence.
    ties
        How tied items count: ``"a"``, ``"b"`` or ``"w"``.
    query_ids
        The ids of the queries of two runs, in the order of their bytes. None for two rankings.
    """

    ext: _Value
    min: _Value
    max: _Value
    residual: _Value
    p: float
    ties: str
    query_ids: list[str] | None

    def _repr_html_(self) -> str:
        from hitcurve.shown.notebook import overlap_tables, shown
        return shown(overlap_tables(self))


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


class UserModel(NamedTuple, Generic[_Value]):
    """What a user gains and spends who goes down a ranking as a measure assumes: the numbers of the C/W/L framework.

    The user looks at rank i with chance V(i), which is 1 at rank 1. The fields are floats for one ranking, and arrays
    for many rankings.

    Attributes
    ----------
    utility
        The gain for each item that the user looks at: ``total_utility / depth``. This is the value of the measure.
    total_utility
        The gain of all items that the user looks at: the sum of V(i) times the gain of rank i.
    cost
        The cost of each item that the user looks at: ``total_cost / depth``.
    total_cost
        The cost of all items that the user looks at: the sum of V(i) times the cost of rank i.
    depth
        The number of items that the user looks at: the sum of V(i).
    residual
        How much each of these numbers would change if every rank beyond the last item had gain 1, as a ``UserModel``
        whose own ``residual`` is None. In that of ``Evaluation.user_model`` each document without a judgment has gain
        1 too.
    """

    utility: _Value
    total_utility: _Value
    cost: _Value
    total_cost: _Value
    depth: _Value
    residual: UserModel[_Value] | None


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


class PValue(NamedTuple):
    """A p-value: how often a random order of the items does at least as well as the observed order.

    Attributes
    ----------
    pvalue
        The share of orders whose measure is at least as good as the observed measure.
    statistic
        The observed measure.
    null_distribution
        The measure of each random order.
    method
        ``"exact"``: the share is over all orders. ``"permutation"``: the share is over random orders and the observed
        order.
    resolution
        The least value that `pvalue` can have.
    """

    pvalue: float
    statistic: float
    null_distribution: NDArray[np.float64]
    method: str
    resolution: float


for _result in (
    TieReport, RankBiasedOverlap, PrecisionRecallCurve, RocCurve, HitCurvePoints, GainCurvePoints, ThresholdCounts,
    UserModel, ConfidenceInterval, Interval, PValue,
):  # fmt: skip
    _result.__module__ = "hitcurve"  # the module that pickles name
