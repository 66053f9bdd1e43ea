"""ranx, whose functions Python runs itself.

numba compiles each function of ranx at its first call: 7 s for one measure, 16 s for one object. Its numbers are the
same without, but for the order of tied documents. Slow tests have ranx as it is.
"""

import importlib
import sys

import pytest

_MODULES = {}


def _of_ranx():
    return {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "ranx"}


def uncompiled(monkeypatch):
    """The package, until the end of the test."""
    pytest.importorskip("ranx")  # with the parts of numba that it needs: they must be loaded with the compiler
    monkeypatch.setattr(sys.modules["numba"].config, "DISABLE_JIT", 1)
    compiled = _of_ranx()
    for name in compiled:
        del sys.modules[name]
    try:
        if not _MODULES:
            importlib.import_module("ranx")
            _MODULES.update(_of_ranx())
    finally:
        for name in _of_ranx():
            del sys.modules[name]
        sys.modules.update(compiled)
    for name, module in _MODULES.items():
        monkeypatch.setitem(sys.modules, name, module)
    return _MODULES["ranx"]
