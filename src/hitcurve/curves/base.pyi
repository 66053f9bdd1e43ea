from typing import Any

import numpy as np
from numpy.typing import NDArray

from hitcurve import results
from hitcurve.measures import Measure

_Floats = NDArray[np.float64]

def as_measure(name: str | Measure) -> Measure: ...
def totals(curves: Any) -> str: ...
def counted(values: _Floats, empty: str, qid: Any, without: NDArray[np.bool] | None = None,
            name: str = "the measure") -> tuple[_Floats, NDArray[np.bool] | None]: ...
def mean_over(values: Any, empty: str, qid: Any, without: NDArray[np.bool] | None = None, weights: Any = None,
              name: str = "the measure", how: str = "arithmetic") -> float: ...

# The stubs of the curves have these methods with the types of each class.
class OneRanking:
    def interval(
        self, measure: Any = None, *, method: Any = None, confidence_level: float = 0.95, n_resamples: int = 9999,
        stratified: bool = False, bootstrap_method: Any = "percentile", ties: Any = "expected", rng: Any = None,
        workers: int = 1,
    ) -> results.Interval: ...
    def resample(self, n_resamples: int = 1, *, stratified: bool = False, rng: Any = None, workers: int = 1) -> Any: ...

class ManyRankings:
    def mean(self, measure: Any, *, empty: Any = "skip", weights: Any = None, ties: Any = "expected") -> float: ...
    def plot(self, kind: Any = None, *, measure: Any = None, ax: Any = None, ties: Any = "expected",
             color: Any = None) -> Any: ...
    def interval(
        self, measure: Any = None, *, method: Any = None, confidence_level: float = 0.95, n_resamples: int = 9999,
        bootstrap_method: Any = "percentile", empty: Any = "skip", ties: Any = "expected", rng: Any = None,
    ) -> results.Interval: ...
