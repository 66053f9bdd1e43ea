from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from hitcurve.measures import Measure
from hitcurve.retrieval.runs import Judged

KERNELS: dict[str, int]

def measure(judged: Judged, measures: Sequence[Measure], reading: str = "ranks", judged_only: bool = False,
            depth: int = -1, rel: int = 1) -> NDArray[Any]: ...
