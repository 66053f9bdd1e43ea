from typing import Any

from numpy.typing import NDArray

from hitcurve.retrieval.runs import Run

def overlap_of(x: NDArray[Any], x_ends: NDArray[Any], y: NDArray[Any], y_ends: NDArray[Any], num_items: int, p: float,
               ties: str) -> tuple[float, float, float, float]: ...
def numbered(x: NDArray[Any], y: NDArray[Any]) -> tuple[NDArray[Any], int, int]: ...
def overlaps_of_runs(x: Run, y: Run, queries: list[bytes], p: float, ties: str) -> NDArray[Any]: ...
