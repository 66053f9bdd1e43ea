from typing import Any

from numpy.typing import NDArray

def stable_places(codes: NDArray[Any], offsets: NDArray[Any], places: NDArray[Any]) -> None: ...

LABELS: str
SCORES: str
