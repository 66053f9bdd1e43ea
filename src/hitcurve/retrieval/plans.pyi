from collections.abc import Sequence
from typing import Any, final

from numpy.typing import NDArray

from hitcurve.measures import Measure
from hitcurve.retrieval.runs import Judged, Qrels

SUMS: dict[str, int]

@final
class Plan:
    def __init__(self, qrels: Qrels, measures: Sequence[Measure], reading: str = "ranks", judged_only: bool = False,
                 rel: int = 1) -> None: ...
    @property
    def reading(self) -> str: ...

def signed_gains(measure: Measure) -> list[tuple[float, float]]: ...
def check_levels(measure: Measure, top: int) -> None: ...
def measure(judged: Judged, plan: Plan, depth: int = -1, queries: list[int] | None = None) -> NDArray[Any]: ...
def mean(values: NDArray[Any], how: str) -> float: ...
