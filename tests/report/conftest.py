import sys

import drawn_once
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
    drawn_once.no_layout(monkeypatch)
