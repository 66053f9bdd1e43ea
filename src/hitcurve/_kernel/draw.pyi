from typing import Any, final

from numpy.typing import NDArray

@final
class Resampler:
    def __init__(
        self,
        hit_weight: NDArray[Any],
        hit_place: NDArray[Any],
        other_weight: NDArray[Any],
        other_place: NDArray[Any],
        rows: list[int],
        stratified: bool,
    ) -> None: ...
    @property
    def num_relevant(self) -> int: ...
    @property
    def num_others(self) -> int: ...
    def draw(
        self, bit_generator: Any, count: int, drawn: NDArray[Any] | None = None, given: bool = False
    ) -> list[tuple[NDArray[Any], ...]]: ...
