from collections.abc import Iterator, Sequence
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hitcurve.measures import Measure
from hitcurve.results import (
    HitCurvePoints,
    Interval,
    PrecisionRecallCurve,
    PValue,
    RocCurve,
    ThresholdCounts,
    TieReport,
)

_Ties: TypeAlias = Literal["expected", "best", "worst", "threshold"]
_Orders: TypeAlias = Literal["expected", "best", "worst"]
_Interpolation: TypeAlias = Literal[
    "11-point", "101-point", "all-point", "trapezoid", "continuous", "11-point-float", "101-point-float"
]
_Normalize: TypeAlias = Literal["min", "relevant", "hits"]
_Empty: TypeAlias = Literal["skip", "zero", "one", "raise"]
_NanPolicy: TypeAlias = Literal["raise", "worst", "omit"]
_Picture: TypeAlias = Literal["hits", "precision-recall", "roc", "enrichment"]
_Floats: TypeAlias = NDArray[np.float64]

# Arguments are typed Any where any array-like is taken: numpy's ArrayLike refuses columns of other libraries.
_Column: TypeAlias = Any
_Number: TypeAlias = float | np.floating[Any] | np.integer[Any]
_Rank: TypeAlias = int | np.integer[Any]

class _Array(Protocol):
    def __array__(self) -> NDArray[Any]: ...

# What an array comes back for.
_Numbers: TypeAlias = Sequence[_Number] | Sequence[Sequence[_Number]] | NDArray[Any] | _Array
_Ranks: TypeAlias = Sequence[_Rank] | Sequence[Sequence[_Rank]] | NDArray[np.integer[Any]] | _Array

def average_precision(
    y_true: _Column,
    y_score: _Column,
    *,
    k: _Rank | None = None,
    ties: _Ties = "expected",
    interpolation: _Interpolation | None = None,
    normalize: _Normalize = "min",
    num_relevant: _Number | None = None,
    relevance_level: _Number | None = None,
    tiebreak: _Column | None = None,
    lower_is_better: bool = False,
    nan_policy: _NanPolicy = "raise",
    sample_weight: _Column | None = None,
    workers: int = 1,
    _strategy: str | None = None,
) -> float: ...
def mean_average_precision(
    y_true: _Column,
    y_score: _Column,
    *,
    qid: _Column | None = None,
    offsets: ArrayLike | None = None,
    empty: _Empty = "skip",
    k: _Rank | None = None,
    ties: _Ties = "expected",
    interpolation: _Interpolation | None = None,
    normalize: _Normalize = "min",
    num_relevant: ArrayLike | None = None,
    relevance_level: _Number | None = None,
    tiebreak: _Column | None = None,
    lower_is_better: bool = False,
    nan_policy: _NanPolicy = "raise",
    sample_weight: _Column | None = None,
    workers: int = 1,
    _strategy: str | None = None,
) -> float: ...
@overload
def at_threshold(
    y_true: _Column,
    y_score: _Column,
    threshold: _Number,
    *,
    beta: float = 1.0,
    relevance_level: _Number | None = None,
    lower_is_better: bool = False,
    nan_policy: _NanPolicy = "raise",
) -> ThresholdCounts[float, int]: ...
@overload
def at_threshold(
    y_true: _Column,
    y_score: _Column,
    threshold: _Numbers,
    *,
    beta: float = 1.0,
    relevance_level: _Number | None = None,
    lower_is_better: bool = False,
    nan_policy: _NanPolicy = "raise",
) -> ThresholdCounts[_Floats, NDArray[np.int64]]: ...

# The value for one rank or number: a float of a HitCurve, an array of one for each query of a HitCurves.
_Value_co = TypeVar("_Value_co", covariant=True)

class _Measures(Generic[_Value_co]):
    @property
    def above(self) -> NDArray[Any]: ...
    @property
    def tied(self) -> NDArray[Any]: ...
    @property
    def hits(self) -> NDArray[Any]: ...
    @property
    def prevalence(self) -> _Value_co: ...
    @property
    def lower_is_better(self) -> bool: ...
    @property
    def weighted(self) -> bool: ...
    def __len__(self) -> int: ...
    @overload
    def average_precision(
        self,
        k: _Rank | None = None,
        *,
        ties: _Ties = "expected",
        interpolation: _Interpolation | None = None,
        normalize: _Normalize = "min",
    ) -> _Value_co: ...
    @overload
    def average_precision(
        self,
        k: _Ranks,
        *,
        ties: _Ties = "expected",
        interpolation: _Interpolation | None = None,
        normalize: _Normalize = "min",
    ) -> _Floats: ...
    @overload
    def precision(self, k: _Rank | None = None, *,
                  fraction: _Number | None = None, ties: _Ties = "expected") -> _Value_co: ...
    @overload
    def precision(self, k: _Ranks, *, fraction: None = None, ties: _Ties = "expected") -> _Floats: ...
    @overload
    def precision(self, k: None = None, *, fraction: _Numbers, ties: _Ties = "expected") -> _Floats: ...
    @overload
    def recall(self, k: _Rank | None = None, *,
               fraction: _Number | None = None, ties: _Ties = "expected") -> _Value_co: ...
    @overload
    def recall(self, k: _Ranks, *, fraction: None = None, ties: _Ties = "expected") -> _Floats: ...
    @overload
    def recall(self, k: None = None, *, fraction: _Numbers, ties: _Ties = "expected") -> _Floats: ...
    @overload
    def f_score(self, k: _Rank | None = None, *,
                fraction: _Number | None = None, beta: float = 1.0, ties: _Ties = "expected") -> _Value_co: ...
    @overload
    def f_score(self, k: _Ranks, *, fraction: None = None, beta: float = 1.0, ties: _Ties = "expected") -> _Floats: ...
    @overload
    def f_score(self, k: None = None, *,
                fraction: _Numbers, beta: float = 1.0, ties: _Ties = "expected") -> _Floats: ...
    @overload
    def hits_at(self, k: _Rank | None = None, *,
                fraction: _Number | None = None, ties: _Ties = "expected") -> _Value_co: ...
    @overload
    def hits_at(self, k: _Ranks, *, fraction: None = None, ties: _Ties = "expected") -> _Floats: ...
    @overload
    def hits_at(self, k: None = None, *, fraction: _Numbers, ties: _Ties = "expected") -> _Floats: ...
    @overload
    def success(self, k: _Rank | None = None, *,
                fraction: _Number | None = None, ties: _Orders = "expected") -> _Value_co: ...
    @overload
    def success(self, k: _Ranks, *, fraction: None = None, ties: _Orders = "expected") -> _Floats: ...
    @overload
    def success(self, k: None = None, *, fraction: _Numbers, ties: _Orders = "expected") -> _Floats: ...
    def r_precision(self, *, ties: _Ties = "expected") -> _Value_co: ...
    @overload
    def reciprocal_rank(self, k: _Rank | None = None, *, ties: _Orders = "expected") -> _Value_co: ...
    @overload
    def reciprocal_rank(self, k: _Ranks, *, ties: _Orders = "expected") -> _Floats: ...
    def roc_auc(self, *, ties: _Ties = "expected") -> _Value_co: ...
    def auac(self, *, ties: _Ties = "expected") -> _Value_co: ...
    @overload
    def roc_enrichment(self, fpr: _Number, *, ties: _Ties = "expected") -> _Value_co: ...
    @overload
    def roc_enrichment(self, fpr: _Numbers, *, ties: _Ties = "expected") -> _Floats: ...
    @overload
    def enrichment_factor(self, fraction: _Number | None = None, *,
                          k: _Rank | None = None, ties: _Ties = "expected") -> _Value_co: ...
    @overload
    def enrichment_factor(self, fraction: _Numbers, *, k: None = None, ties: _Ties = "expected") -> _Floats: ...
    @overload
    def enrichment_factor(self, fraction: None = None, *, k: _Ranks, ties: _Ties = "expected") -> _Floats: ...
    @overload
    def max_enrichment_factor(self, fraction: _Number | None = None, *, k: _Rank | None = None) -> _Value_co: ...
    @overload
    def max_enrichment_factor(self, fraction: _Numbers, *, k: None = None) -> _Floats: ...
    @overload
    def max_enrichment_factor(self, fraction: None = None, *, k: _Ranks) -> _Floats: ...
    @overload
    def normalized_enrichment_factor(self, fraction: _Number | None = None, *,
                                     k: _Rank | None = None, ties: _Ties = "expected") -> _Value_co: ...
    @overload
    def normalized_enrichment_factor(self, fraction: _Numbers, *,
                                     k: None = None, ties: _Ties = "expected") -> _Floats: ...
    @overload
    def normalized_enrichment_factor(self, fraction: None = None, *,
                                     k: _Ranks, ties: _Ties = "expected") -> _Floats: ...
    @overload
    def rie(self, alpha: _Number = 20.0, *, ties: _Orders = "expected") -> _Value_co: ...
    @overload
    def rie(self, alpha: _Numbers, *, ties: _Orders = "expected") -> _Floats: ...
    @overload
    def bedroc(self, alpha: _Number = 20.0, *, ties: _Orders = "expected") -> _Value_co: ...
    @overload
    def bedroc(self, alpha: _Numbers, *, ties: _Orders = "expected") -> _Floats: ...
    @overload
    def log_auc(self, min_fpr: _Number = 0.001, *, adjusted: bool = False, ties: _Ties = "expected") -> _Value_co: ...
    @overload
    def log_auc(self, min_fpr: _Numbers, *, adjusted: bool = False, ties: _Ties = "expected") -> _Floats: ...
    def chance(self) -> _Value_co: ...
    def minimum(self) -> _Value_co: ...
    def normalized_average_precision(self, *, ties: _Ties = "expected") -> _Value_co: ...

@final
class HitCurve(_Measures[float]):
    def __init__(
        self,
        y_true: _Column,
        y_score: _Column,
        *,
        num_relevant: _Number | None = None,
        relevance_level: _Number | None = None,
        tiebreak: _Column | None = None,
        lower_is_better: bool = False,
        nan_policy: _NanPolicy = "raise",
        sample_weight: _Column | None = None,
        workers: int = 1,
        _strategy: str | None = None,
    ) -> None: ...
    @classmethod
    def from_ranked(
        cls,
        hits: _Column,
        *,
        num_items: _Rank | None = None,
        num_relevant: _Rank | None = None,
    ) -> HitCurve: ...
    @classmethod
    def from_ranks(cls, ranks: _Column, *, num_items: _Rank, num_relevant: _Rank | None = None) -> HitCurve: ...
    @classmethod
    def from_table(
        cls,
        score: _Column | None,
        above: _Column,
        tied: _Column,
        hits: _Column,
        *,
        num_items: _Number,
        num_relevant: _Number | None = None,
        lower_is_better: bool = False,
    ) -> HitCurve: ...
    @property
    def num_items(self) -> int: ...
    @property
    def num_relevant(self) -> int: ...
    @property
    def num_hits(self) -> int: ...
    @property
    def score(self) -> NDArray[Any] | None: ...
    def __bool__(self) -> Literal[True]: ...
    def tie_report(self, k: _Rank | None = None) -> TieReport[float, int]: ...
    def precision_recall_curve(self, *, ties: _Ties = "expected") -> PrecisionRecallCurve: ...
    def roc_curve(self, *, ties: _Ties = "expected") -> RocCurve: ...
    def plot(
        self,
        kind: _Picture = "hits",
        *,
        ax: Any = None,
        k: int | None = None,
        band: float | None = None,
        n_resamples: int = 1000,
        rng: Any = None,
    ) -> Any: ...
    def hit_curve(self, *, ties: _Ties = "expected") -> HitCurvePoints: ...
    def interval(
        self,
        measure: str | Measure = "AP",
        *,
        method: Literal["logit", "delong", "bootstrap"] | None = None,
        confidence_level: float = 0.95,
        n_resamples: int = 9999,
        stratified: bool = False,
        bootstrap_method: Literal["percentile", "BCa"] = "percentile",
        ties: _Ties = "expected",
        rng: Any = None,
        workers: int = 1,
    ) -> Interval: ...
    def resample(
        self, n_resamples: int = 1, *, stratified: bool = False, rng: Any = None, workers: int = 1
    ) -> HitCurves: ...
    def p_value(
        self,
        measure: str | Measure = "AP",
        *,
        method: Literal["exact", "permutation"] | None = None,
        n_resamples: int = 9999,
        ties: _Ties = "expected",
        rng: Any = None,
        workers: int = 1,
    ) -> PValue: ...

@final
class HitCurves(_Measures[_Floats]):
    def __init__(
        self,
        y_true: _Column,
        y_score: _Column,
        *,
        qid: _Column | None = None,
        offsets: ArrayLike | None = None,
        num_relevant: ArrayLike | None = None,
        relevance_level: _Number | None = None,
        tiebreak: _Column | None = None,
        lower_is_better: bool = False,
        nan_policy: _NanPolicy = "raise",
        sample_weight: _Column | None = None,
        workers: int = 1,
        _strategy: str | None = None,
    ) -> None: ...
    @property
    def qid(self) -> NDArray[Any] | None: ...
    @property
    def row_offsets(self) -> NDArray[np.int64]: ...
    @property
    def score(self) -> NDArray[Any]: ...
    @property
    def num_items(self) -> NDArray[Any]: ...
    @property
    def num_relevant(self) -> NDArray[Any]: ...
    @property
    def num_hits(self) -> NDArray[Any]: ...
    def __getitem__(self, key: _Rank, /) -> HitCurve: ...
    def __iter__(self) -> Iterator[HitCurve]: ...
    def mean_average_precision(
        self,
        k: _Rank | None = None,
        *,
        empty: _Empty = "skip",
        ties: _Ties = "expected",
        interpolation: _Interpolation | None = None,
        normalize: _Normalize = "min",
    ) -> float: ...
    def interval(
        self,
        measure: str | Measure = "AP",
        *,
        method: Literal["bootstrap", "t"] | None = None,
        confidence_level: float = 0.95,
        n_resamples: int = 9999,
        bootstrap_method: Literal["percentile", "BCa"] = "percentile",
        empty: _Empty = "skip",
        ties: _Ties = "expected",
        rng: Any = None,
    ) -> Interval: ...
    def tie_report(self, k: _Rank | None = None) -> TieReport[_Floats, NDArray[np.int64]]: ...

def _curves_of(qid: Any, lower: bool, weighted: bool, *table: Any) -> HitCurves: ...
def _curve_of(
    lower: bool, num_relevant: int | None, score: Any, above: Any, tied: Any, hits: Any, num_items: int, num_hits: int
) -> HitCurve: ...
