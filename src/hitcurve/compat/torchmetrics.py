"""Classes of torchmetrics 1.9: ``from hitcurve.compat.torchmetrics import RetrievalMAP``.

The classes have ``update``, ``compute``, ``reset``, ``merge_state``, ``clone`` and ``to``, with the arguments and
defaults of torchmetrics. If you call a metric with a batch, it keeps the batch and returns the batch's value. A batch
may be tensors in main memory, arrays or lists. This module does not import torch: values are numpy floats. If items of
a query are tied, the value is the mean over their orders; torchmetrics ranks tied items as torch's sort does.
``empty_target_action`` says how a query without relevant items counts. Items with the label ``ignore_index`` are left
out. Processes are not synchronised: ``merge_state`` adds the batches of a metric that another process pickled.

>>> from hitcurve.compat.torchmetrics import RetrievalMAP
>>> metric = RetrievalMAP(empty_target_action="skip", top_k=10)
>>> metric.update([0.9, 0.2, 0.7], [0, 1, 1], indexes=[0, 0, 0])
>>> metric.update([0.4, 0.3], [0, 0], indexes=[1, 1])
>>> round(metric.compute().item(), 4)
0.5833
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hitcurve import GainCurves, HitCurve, HitCurves
from hitcurve._base.checks import as_real, check_number, check_rank

__all__ = [
    "BinaryAUROC", "BinaryAveragePrecision", "RetrievalHitRate", "RetrievalMAP", "RetrievalMRR",
    "RetrievalNormalizedDCG", "RetrievalPrecision", "RetrievalRPrecision", "RetrievalRecall",
]

_Array = NDArray[Any]


# The keywords of every metric of torchmetrics, and the values that change nothing here.
_DEVICES = ("cuda", "mps", "xpu", "meta", "hpu", "xla", "npu")
_FLAGS = (True, False)
_KEYWORDS: dict[str, tuple[Any, ...]] = {
    "compute_on_cpu": _FLAGS, "dist_sync_on_step": (False,), "process_group": (None,), "dist_sync_fn": (None,),
    "distributed_available_fn": (None,), "sync_on_compute": _FLAGS, "compute_with_cache": _FLAGS,
}  # fmt: skip


def _no_others(kwargs: dict[str, Any]) -> None:
    unknown = [name for name in kwargs if name not in _KEYWORDS]
    if unknown:
        raise ValueError(f"Unexpected keyword arguments: {', '.join(unknown)}")
    for name, value in kwargs.items():
        if not any(value is one for one in _KEYWORDS[name]):
            known = " or ".join(map(repr, _KEYWORDS[name]))
            raise ValueError(f"{name}={value!r} must be {known}: this class is not a torch module; use merge_state to "
                             "merge processes")


class _Metric(ABC):
    """Batches that are kept until ``compute``."""

    is_differentiable, higher_is_better, full_state_update = False, True, False

    def __init__(self, ignore_index: int | None, kwargs: dict[str, Any]) -> None:
        _no_others(kwargs)
        if ignore_index is not None and not isinstance(ignore_index, int):
            raise ValueError(f"ignore_index is {ignore_index!r}: must be a whole number or None")
        self.ignore_index = ignore_index
        self.reset()

    def reset(self) -> None:
        """Remove all batches."""
        self._blocks: list[list[_Array]] = []
        self._num_updates = 0

    @property
    def update_count(self) -> int:
        """The number of batches that ``update`` or a call kept since the last ``reset``."""
        return self._num_updates

    @property
    def update_called(self) -> bool:
        """Whether ``update`` or a call kept a batch since the last ``reset``."""
        return self._num_updates > 0

    def clone(self) -> Self:
        """Return a copy with the same batches. An update of the copy does not change this metric."""
        return copy.deepcopy(self)

    def to(self, device: Any = "cpu", *args: Any, **kwargs: Any) -> Self:
        """Return this metric. A device other than ``"cpu"`` raises a ValueError. Types have no effect."""
        if isinstance(device, int) or str(device).partition(":")[0] in _DEVICES:
            raise ValueError(f"device is {device!r}: must be 'cpu': this class computes on the processor")
        return self

    def cpu(self) -> Self:
        """Return this metric, which is in main memory."""
        return self

    @abstractmethod
    def update(self, *args: Any, **kwargs: Any) -> None:
        """Keep a batch."""

    @abstractmethod
    def compute(self) -> np.float64:
        """The value of all batches since the last ``reset``."""

    def forward(self, *args: Any, **kwargs: Any) -> np.float64:
        """Keep a batch, and return the value of the batch."""
        batch = copy.copy(self)
        batch.reset()
        batch.update(*args, **kwargs)
        self._take(batch._blocks[0])
        return batch.compute()

    __call__ = forward

    def merge_state(self, incoming_state: Any) -> None:
        """Add the batches of another metric of this class, such as a metric that another process pickled."""
        if not isinstance(incoming_state, type(self)):
            raise ValueError(f"incoming_state is of type {type(incoming_state).__name__}: must be a "
                             f"{type(self).__name__}")
        self._blocks = [*self._blocks, *incoming_state._blocks]

    def _take(self, block: list[_Array]) -> None:
        self._blocks = [*self._blocks, block]
        self._num_updates += 1

    def _keep(self, **given: Any) -> list[_Array]:
        """The columns of a batch, flat and without what is ignored."""
        columns = [as_real(values, name) for name, values in given.items()]
        for name, array in zip(given, columns, strict=True):
            if array.shape != columns[0].shape:
                raise ValueError(f"{name} has shape {array.shape}, preds has shape {columns[0].shape}")
        if columns[0].dtype.kind != "f":
            raise ValueError(f"preds has dtype {columns[0].dtype}: must be floats")
        columns = [array.ravel() for array in columns]
        used = slice(None) if self.ignore_index is None else columns[1] != self.ignore_index
        return [np.array(array[used]) for array in columns]

    def _columns(self) -> list[_Array]:
        if not self._blocks:
            raise ValueError("No samples to concatenate: call update first")
        return [np.concatenate(column) for column in zip(*self._blocks, strict=True)]


class _Retrieval(_Metric):
    """Measures of queries: one value each, then one of all."""

    _levels = False  # labels other than 0 and 1
    _above_zero = True  # an item with a score of 0 or below counts as not relevant

    def __init__(self, empty_target_action: str = "neg", ignore_index: int | None = None, top_k: int | None = None,
                 aggregation: str | Callable[..., Any] = "mean", **kwargs: Any) -> None:
        super().__init__(ignore_index, kwargs)
        if empty_target_action not in ("error", "skip", "neg", "pos"):
            raise ValueError(f"empty_target_action={empty_target_action!r} is unknown: must be one of 'error', 'skip', "
                             "'neg', 'pos'")
        if not (callable(aggregation) or aggregation in _AGGREGATIONS):
            raise ValueError(f"aggregation={aggregation!r} is unknown: must be one of "
                             f"{', '.join(map(repr, _AGGREGATIONS))}, or a function")
        self.empty_target_action, self.aggregation = empty_target_action, aggregation
        try:
            self.top_k = None if top_k is None else int(check_rank(top_k, "top_k"))
        except TypeError as error:
            raise ValueError(str(error)) from None

    def update(self, preds: Any, target: Any, indexes: Any) -> None:
        """Keep a batch: scores, labels, and the query of each item. A query may continue in another batch."""
        if indexes is None:
            raise ValueError("indexes is None: every item needs the number of its query")
        preds, target, indexes = self._keep(preds=preds, target=target, indexes=indexes)
        if indexes.dtype.kind not in "iu":
            raise ValueError(f"indexes has dtype {indexes.dtype}: must be whole numbers")
        if not len(preds):
            raise ValueError("preds has no items" + (" that are not ignored" if self.ignore_index is not None else ""))
        if not self._levels and not np.isin(target, (0, 1)).all():
            raise ValueError(f"target holds {target[~np.isin(target, (0, 1))][0]}: must be 0 or 1")
        self._take([preds.astype(np.float32), target, indexes])

    def compute(self) -> np.float64:
        """The aggregated value of the queries of all batches since the last ``reset``."""
        values = self._values(*self._columns())
        empty = np.isnan(values)
        if empty.any():
            if self.empty_target_action == "error":
                raise ValueError("`compute` method was provided with a query with no positive target.")
            filled = np.where(empty, float(self.empty_target_action == "pos"), values)
            values = values[~empty] if self.empty_target_action == "skip" else filled
        if not values.size:
            return np.float64(0.0)
        if callable(self.aggregation):
            return np.float64(self.aggregation(values, dim=None))
        return np.float64(_AGGREGATIONS[self.aggregation](values))

    def _values(self, preds: _Array, target: _Array, indexes: _Array) -> _Array:
        """The value of each query, NaN for one without a relevant item."""
        curves = HitCurves(target, preds, qid=indexes)
        relevant = curves.num_relevant
        if self._above_zero and (preds <= 0).any():
            curves = HitCurves(target * (preds > 0), preds, qid=indexes, num_relevant=relevant)
        return np.where(relevant > 0, self._measure(curves), np.nan)

    @abstractmethod
    def _measure(self, curves: HitCurves) -> _Array:
        """The value of each query that has a relevant item."""


_AGGREGATIONS: dict[Any, Callable[[_Array], Any]] = {
    "mean": np.mean, "median": lambda values: np.quantile(values, 0.5, method="lower"), "min": np.min, "max": np.max,
}


class RetrievalMAP(_Retrieval):
    """Mean average precision. The sum of precisions is divided by the number of hits among the first ``top_k``.

    A relevant item with a score of 0 or below counts as not relevant, also in the reciprocal rank, precision and
    recall.
    """

    def _measure(self, curves: HitCurves) -> _Array:
        return curves.average_precision(self.top_k or int(curves.num_items.max()), normalize="hits")


class RetrievalMRR(_Retrieval):
    """Mean reciprocal rank of the first relevant item, 0 if it is not among the first ``top_k``."""

    def _measure(self, curves: HitCurves) -> _Array:
        return curves.reciprocal_rank(self.top_k)


class RetrievalPrecision(_Retrieval):
    """Share of relevant items among the first ``top_k``. With ``adaptive_k``, among all items of a shorter query."""

    def __init__(self, empty_target_action: str = "neg", ignore_index: int | None = None, top_k: int | None = None,
                 adaptive_k: bool = False, aggregation: str | Callable[..., Any] = "mean", **kwargs: Any) -> None:
        super().__init__(empty_target_action, ignore_index, top_k, aggregation, **kwargs)
        if not isinstance(adaptive_k, bool):
            raise ValueError(f"adaptive_k is {adaptive_k!r}: must be True or False")
        self.adaptive_k = adaptive_k

    def _measure(self, curves: HitCurves) -> _Array:
        if self.top_k is None or not self.adaptive_k:
            return curves.precision(self.top_k)
        return np.asarray(curves.hits_at(self.top_k) / np.minimum(curves.num_items, self.top_k))


class RetrievalRecall(_Retrieval):
    """Share of the relevant items that are among the first ``top_k``."""

    def _measure(self, curves: HitCurves) -> _Array:
        return curves.recall(self.top_k)


class RetrievalHitRate(_Retrieval):
    """1 if a relevant item is among the first ``top_k``, else 0."""

    _above_zero = False

    def _measure(self, curves: HitCurves) -> _Array:
        return curves.success(self.top_k)


class RetrievalRPrecision(_Retrieval):
    """Precision among the first R items, where R is the number of relevant items."""

    _above_zero = False

    def __init__(self, empty_target_action: str = "neg", ignore_index: int | None = None,
                 aggregation: str | Callable[..., Any] = "mean", **kwargs: Any) -> None:
        _no_others(kwargs)
        super().__init__(empty_target_action, ignore_index, None, aggregation)

    def _measure(self, curves: HitCurves) -> _Array:
        return curves.r_precision()


class RetrievalNormalizedDCG(_Retrieval):
    """nDCG among the first ``top_k``, with the level of an item as its gain.

    Levels below 0 are subtracted. A query counts as empty if the sum of its levels is 0.
    """

    _levels = True

    def _values(self, preds: _Array, target: _Array, indexes: _Array) -> _Array:
        least = min(target.min(), 0)
        curves = GainCurves(target - least, preds, qid=indexes)
        if least == 0:
            return self._measure(curves)
        # The sum is linear in the levels: those from `least` up less what as many items of -`least` would add.
        last = curves.num_items if self.top_k is None else np.minimum(curves.num_items, self.top_k)
        added = -least * np.cumsum(1 / np.log2(np.arange(last.max()) + 2))[last - 1]
        gain, ideal = (GainCurves(target - least, order, qid=indexes).dcg(self.top_k) - added
                       for order in (preds, target))  # fmt: skip
        sums = np.zeros(len(curves))
        np.add.at(sums, np.searchsorted(np.asarray(curves.qid), indexes), target)
        values = np.divide(gain, ideal, out=np.zeros_like(gain), where=ideal != 0)
        return np.where(sums != 0, values, np.nan)

    def _measure(self, curves: Any) -> _Array:
        return np.asarray(curves.ndcg(self.top_k))


class _Binary(_Metric):
    """Measures of one ranking."""

    normalization: str | None = "sigmoid"

    def __init__(self, thresholds: None, ignore_index: int | None, kwargs: dict[str, Any]) -> None:
        super().__init__(ignore_index, kwargs)
        if thresholds is not None:
            raise ValueError(f"thresholds is {thresholds!r}: must be None, every score is a "
                             "threshold (hitcurve.HitCounter(edges=...) counts in bins)")

    def update(self, preds: Any, target: Any) -> None:
        """Keep a batch of scores and labels 0 or 1. If a score is outside [0, 1], each score becomes its sigmoid."""
        preds, target = self._keep(preds=preds, target=target)
        if target.dtype.kind == "f":
            raise ValueError(f"target has dtype {target.dtype}: must be whole numbers")
        if not np.isin(target, (0, 1)).all():
            raise RuntimeError(f"target holds {target[~np.isin(target, (0, 1))][0]}: must be 0 or 1")
        if self.normalization and not ((preds >= 0) & (preds <= 1)).all():
            with np.errstate(over="ignore", under="ignore"):
                preds = 1 / (1 + np.exp(-preds))
        self._take([preds, target])


class BinaryAveragePrecision(_Binary):
    """Average precision. Tied items enter together. The value is 0 if there is no relevant item."""

    def __init__(self, thresholds: None = None, ignore_index: int | None = None, validate_args: bool = True,
                 normalization: str | None = "sigmoid", **kwargs: Any) -> None:
        super().__init__(thresholds, ignore_index, kwargs)
        if normalization not in ("sigmoid", None):
            raise ValueError(f"normalization={normalization!r} is unknown: must be one of 'sigmoid', None")
        self.normalization = normalization

    def compute(self) -> np.float64:
        """The average precision of all batches since the last ``reset``."""
        preds, target = self._columns()
        return np.float64(np.nan_to_num(HitCurve(target, preds).average_precision(ties="threshold")))


class BinaryAUROC(_Binary):
    """Area under the ROC curve, with McClish's correction up to ``max_fpr``. 0 if all items have the same label."""

    def __init__(self, max_fpr: float | None = None, thresholds: None = None, ignore_index: int | None = None,
                 validate_args: bool = True, **kwargs: Any) -> None:
        super().__init__(thresholds, ignore_index, kwargs)
        if max_fpr is not None and not 0 < check_number(max_fpr, "max_fpr") <= 1:
            raise ValueError(f"max_fpr is {max_fpr!r}: must be a number above 0 and up to 1, or None")
        self.max_fpr = max_fpr

    def compute(self) -> np.float64:
        """The area of all batches since the last ``reset``."""
        preds, target = self._columns()
        most = 1.0 if self.max_fpr is None else self.max_fpr
        return np.float64(np.nan_to_num(HitCurve(target, preds).roc_auc(max_fpr=most, ties="threshold")))
