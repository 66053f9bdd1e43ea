from typing import Any

from numpy.typing import NDArray

def true_ranks(rows: Any, col: Any) -> NDArray[Any]: ...
