from typing import Any, final

from numpy.typing import NDArray

from hitcurve.measures import Measure
from hitcurve.retrieval.runs import Judged, Qrels

KINDS: dict[str, int]

@final
class Partial:
    def __init__(self, docs: Any, groups: Any, members: Any, place: Any, level: Any, sign: Any, levels: Any, first: Any,
                 bits: Any) -> None: ...

def measure(judged: Judged, measures: list[Measure], reading: str = "ranks", depth: int = -1,
            partial: Partial | None = None) -> NDArray[Any]: ...
def columns_of_lines(text: bytes, columns: int) -> tuple[list[list[bytes]], NDArray[Any], tuple[int, int] | None]: ...
def closed(size: int, doc: Any, level: Any, subgroup: Any, bits: Any) -> NDArray[Any]: ...
def spread(judged: Judged, qrels: Qrels, groups: Any, members: Any, place: Any, level: Any) -> Judged: ...
