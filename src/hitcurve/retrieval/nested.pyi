from collections.abc import Mapping
from typing import Any

from hitcurve.retrieval.runs import Judged, Qrels

def judge_nested(qrels: Qrels, run: Mapping[Any, Any], single: bool = False) -> Judged | None: ...
