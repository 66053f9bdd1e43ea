"""What callers give: sources that are not at hand yet, and ids."""

from __future__ import annotations

from collections.abc import KeysView, ValuesView
from typing import Any

import numpy as np

__all__ = ["at_hand", "frame_columns", "id_of"]


def at_hand(source: Any) -> Any:
    """A lazy frame of polars as a frame, and an iterator or the values of a dict as a list; others stay as they are."""
    if isinstance(source, (dict, list, str)):  # first: these are the most frequent, and need no slow checks
        return source
    if hasattr(source, "collect") and hasattr(source, "lazy"):
        return source.collect()
    return list(source) if hasattr(source, "__next__") or isinstance(source, KeysView | ValuesView) else source


def frame_columns(source: Any) -> Any:
    """The names of the columns of a frame: of pyarrow and DuckDB, or of pandas and polars. None: it is no frame."""
    return getattr(source, "column_names", getattr(source, "columns", None))


def id_of(value: Any, name: str, what: str = "an id") -> str:
    """An id as a text."""
    if isinstance(value, str):
        return value
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return str(int(value))
    advice = ", so make whole numbers of them first, such as column.astype(int)" if isinstance(value, float) else ""
    raise TypeError(f"{name}: {what} is {value!r}: ids are strings or whole numbers{advice}")
