"""Words that depend on a count, for errors and reports."""
from __future__ import annotations

from typing import Any


def many(count: Any, unit: str, form: str = "") -> str:
    """A count with its unit: "1 query", "2 queries". `unit` is a plural."""
    one = f"{unit[:-3]}y" if unit.endswith("ies") else unit[:-1]
    return f"{count:{form}} {one if count == 1 else unit}"


def are(count: Any) -> str:
    """The verb after a count: "is" or "are"."""
    return "is" if count == 1 else "are"
