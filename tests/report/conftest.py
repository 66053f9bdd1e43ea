import sys

import pytest


@pytest.fixture
def plt(no_pyplot, monkeypatch):
    """pyplot as a program that uses it has it: without a display, and without figures before and after."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", pyplot)
    yield pyplot
    pyplot.close("all")


@pytest.fixture
def no_layout(monkeypatch):
    """Pictures are drawn without a layout, which takes half of their time: for tests that do not look at places."""
    try:
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError:
        return
    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", lambda self, whole: None)
