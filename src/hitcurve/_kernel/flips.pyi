from typing import Any

from numpy.typing import NDArray

def flips_reached(
    signs: NDArray[Any], draws: int, values: NDArray[Any], pairs: NDArray[Any], least: NDArray[Any]
) -> NDArray[Any]: ...
def shuffled_ranges(bit_generator: Any, draws: int, values: NDArray[Any]) -> NDArray[Any]: ...
