from collections.abc import Iterator, Sequence
from typing import Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hitcurve import results
from hitcurve.curves.gain_measures import Gains, _Discount, _Gain, _Ideal
from hitcurve.curves.hit import (
    _K,
    HitCurve,
    HitCurves,
    _Bootstrap,
    _Column,
    _Counts,
    _Empty,
    _Floats,
    _NanPolicy,
    _Number,
    _Orders,
    _Ties,
)
from hitcurve.measures import Measure

def ndcg(
    y_true: _Column, y_score: _Column, *, k: _K = None, gain: _Gain = "linear", discount: _Discount = "log2",
    ties: _Orders = "expected", ideal_k: _Ideal = "same", unretrieved: _Column = None, tiebreak: _Column = None,
    lower_is_better: bool = False, nan_policy: _NanPolicy = "raise", workers: int = 1,
) -> float: ...
def mean_ndcg(
    y_true: _Column, y_score: _Column, *, qid: _Column = None, offsets: ArrayLike | None = None,
    mask: _Column = None, empty: _Empty = "skip", k: _K = None, gain: _Gain = "linear",
    discount: _Discount = "log2", ties: _Orders = "expected", ideal_k: _Ideal = "same",
    unretrieved: Sequence[_Column] | None = None, tiebreak: _Column = None, lower_is_better: bool = False,
    nan_policy: _NanPolicy = "raise", workers: int = 1,
) -> float: ...

@final
class GainCurve(Gains[float, int]):
    def __init__(
        self, y_true: _Column, y_score: _Column, *, unretrieved: _Column = None, tiebreak: _Column = None,
        lower_is_better: bool = False, nan_policy: _NanPolicy = "raise", sample_weight: None = None, workers: int = 1,
    ) -> None: ...
    @classmethod
    def from_ranked(cls, levels: _Column, *, num_items: _K = None, unretrieved: _Column = None) -> GainCurve: ...
    @classmethod
    def from_table(
        cls, score: _Column, above: _Column, tied: _Column, level_offsets: _Column, level: _Column,
        level_count: _Column, *, num_items: _Number, unretrieved: _Column = None, lower_is_better: bool = False,
    ) -> GainCurve: ...
    @property
    def unretrieved(self) -> _Floats: ...
    def __bool__(self) -> Literal[True]: ...
    def at_level(self, level: _Number) -> HitCurve: ...
    def gain_curve(self, *, gain: _Gain = "linear", ties: _Orders = "expected",
                   ideal: bool = False) -> results.GainCurvePoints: ...
    def plot(self, kind: Literal["gain"] = "gain", *, ax: Any = None, k: int | None = None, gain: _Gain = "linear",
             band: float | None = None, n_resamples: int = 1000, rng: Any = None, **line: Any) -> Any: ...
    def resample(self, n_resamples: int = 1, *, stratified: bool = False, rng: Any = None,
                 workers: int = 1) -> GainCurves: ...
    def interval(
        self, measure: str | Measure | None = None, *, method: Literal["logit", "delong", "bootstrap"] | None = None,
        confidence_level: float = 0.95, n_resamples: int = 9999, stratified: bool = False,
        bootstrap_method: Literal["percentile"] = "percentile", ties: _Ties = "expected", rng: Any = None,
        workers: int = 1,
    ) -> results.Interval: ...

@final
class GainCurves(Gains[_Floats, NDArray[Any]]):
    def __init__(
        self, y_true: _Column, y_score: _Column, *, qid: _Column = None, offsets: ArrayLike | None = None,
        mask: _Column = None, unretrieved: Sequence[_Column] | None = None, tiebreak: _Column = None,
        lower_is_better: bool = False, nan_policy: _NanPolicy = "raise", sample_weight: None = None, workers: int = 1,
    ) -> None: ...
    @property
    def qid(self) -> NDArray[Any] | None: ...
    @property
    def row_offsets(self) -> _Counts: ...
    @property
    def unretrieved(self) -> list[NDArray[np.float64]]: ...
    def __getitem__(self, key: int | np.integer[Any], /) -> GainCurve: ...
    def __iter__(self) -> Iterator[GainCurve]: ...
    def at_level(self, level: _Number) -> HitCurves: ...
    def mean(self, measure: str | Measure, *, empty: _Empty = "skip", weights: _Column = None,
             ties: _Ties = "expected") -> float: ...
    def mean_ndcg(
        self, k: _K = None, *, empty: _Empty = "skip", gain: _Gain = "linear", discount: _Discount = "log2",
        ties: _Orders = "expected", ideal_k: _Ideal = "same",
    ) -> float: ...
    def plot(self, kind: Literal["distribution", "queries", None] = None, *, measure: str | Measure | None = None,
             ax: Any = None, ties: _Orders = "expected", color: Any = None) -> Any: ...
    def interval(
        self, measure: str | Measure | None = None, *, method: Literal["bootstrap", "t"] | None = None,
        confidence_level: float = 0.95, n_resamples: int = 9999, bootstrap_method: _Bootstrap = "percentile",
        empty: _Empty = "skip", ties: _Ties = "expected", rng: Any = None,
    ) -> results.Interval: ...

def gain_curves_of(
    lower: bool, table: tuple[Any, ...], values: Any, pairs: tuple[Any, ...], missing: tuple[Any, ...], qid: Any = None,
) -> GainCurves: ...
