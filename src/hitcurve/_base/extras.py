"""The libraries that some parts need beyond numpy, and the extras that install them."""
from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["Later", "advice", "lacking", "needed"]

_EXTRAS = {"argcomplete": "completion", "ir_measures": "ir-measures", "matplotlib": "plot", "pandas": "pandas",
           "polars": "polars", "pyarrow": "files", "pyspark": "spark", "python_calamine": "excel",
           "scipy": "stats"}  # fmt: skip


def needed(name: str, what: str) -> Any:
    """The module `name`, which `what` needs; without its library an error that names the extra to install."""
    library = name.partition(".")[0]
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != library:
            raise  # of a library that is there, and lacks one of its own
        raise ModuleNotFoundError(advice(library, what), name=error.name) from error


def lacking(name: str, what: str) -> list[str]:
    """The error of `needed` as a warning; empty if the module is there."""
    try:
        needed(name, what)
    except ModuleNotFoundError as error:
        return [str(error)]
    return []


class Later:
    """A module that is imported when something of it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


def advice(library: str, what: str) -> str:
    """What to do where `library` is missing, which `what` needs."""
    extra = _EXTRAS.get(library)
    return f"{what} needs {library}: pip install " + (f'".[{extra}]" in a checkout' if extra else library)
