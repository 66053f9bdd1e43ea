# Internal functions that Python modules use.
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEVELS: str
LEVEL_RULE: str

def block_levels(y_true: Any) -> tuple[NDArray[Any], NDArray[np.float64]]: ...
def missing_levels(unretrieved: Any, name: str = "unretrieved") -> NDArray[np.float64]: ...
