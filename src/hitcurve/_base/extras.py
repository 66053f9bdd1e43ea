"""Optional libraries, and the extras that install them."""
from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

__all__ = ["Later", "advice", "frame_of", "lacking", "needed"]

_EXTRAS = {"argcomplete": "completion", "ir_measures": "ir-measures", "matplotlib": "plot", "pandas": "pandas",
           "polars": "polars", "pyarrow": "files", "pyspark": "spark", "python_calamine": "excel",
           "scipy": "stats"}  # fmt: skip


def needed(name: str, what: str) -> Any:
    """Import the module `name`, which `what` needs. If its library is missing, the error names the extra to install."""
    library = name.partition(".")[0]
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != library:
            raise  # the library is installed, but one of its own dependencies is missing
        raise ModuleNotFoundError(advice(library, what), name=error.name) from error


def frame_of(library: str, columns: Mapping[str, Any]) -> Any:
    """A frame of pandas or polars, which `to_pandas` or `to_polars` returns."""
    return needed(library, f"to_{library}").DataFrame(columns)


def lacking(name: str, what: str) -> list[str]:
    """The error text of `needed`, in a list, for a warning. The list is empty if the module can be imported."""
    try:
        needed(name, what)
    except ModuleNotFoundError as error:
        return [str(error)]
    return []


class Later:
    """A module that is imported when one of its attributes is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


def advice(library: str, what: str) -> str:
    """The text that says that `what` needs `library`, and how to install the library."""
    extra = _EXTRAS.get(library)
    return f"{what} needs {library}: pip install " + (f'".[{extra}]" in a checkout' if extra else library)
