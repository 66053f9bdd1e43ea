from typing import Any

from hitcurve.retrieval.runs import Judged

def run_tables(judged: Judged, places: Any, tied: bool, judged_only: bool, depth: int,
               least: int | None) -> tuple[Any, Any, Any, Any]: ...
