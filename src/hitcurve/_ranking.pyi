from typing import Any

from numpy.typing import NDArray

def in_threads(function: Any, calls: list[tuple[Any, ...]], cancel: Any) -> None: ...
def stable_places(codes: NDArray[Any], offsets: NDArray[Any], places: NDArray[Any]) -> None: ...

LABELS: str
SCORES: str
