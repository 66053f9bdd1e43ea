from typing import Any

from hitcurve.retrieval.runs import Judged

def run_tables(judged: Judged, places: Any, tied: bool, judged_only: bool, depth: int,
               least: float | None) -> tuple[Any, Any, Any, Any]: ...
