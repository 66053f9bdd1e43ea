import faulthandler
import gc
import os
import sys
import time
from pathlib import Path

import pytest
from hypothesis import settings

from hitcurve._base import workers as _workers

# No deadline: the exact twin is slow by design. Derandomized: a run is the same every time, with more examples under
# --all; a search for new examples is a run with HYPOTHESIS_PROFILE=explore.
settings.register_profile("ordinary", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("all", deadline=None, derandomize=True, max_examples=300)
settings.register_profile("explore", deadline=None, max_examples=2000)

# What some runners set: the tests compare texts.
os.environ.pop("FORCE_COLOR", None)
os.environ["COLUMNS"] = "90"

# A test that hangs for so many seconds: standard error gets the traceback of every thread. pytest's own
# faulthandler_timeout starts and ends a thread for each test; this thread is started anew once a minute.
HANGS, ANEW = 300, 60
stderr, started = pytest.StashKey[int](), pytest.StashKey[float]()


def pytest_configure(config):
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("all" if config.getoption("--all") else "ordinary"))
    config.stash[stderr] = os.dup(sys.__stderr__.fileno())


def pytest_unconfigure(config):
    faulthandler.cancel_dump_traceback_later()
    os.close(config.stash[stderr])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    now, stash = time.monotonic(), item.config.stash
    if now - stash.get(started, -ANEW) >= ANEW:
        faulthandler.dump_traceback_later(HANGS + ANEW, file=stash[stderr])
        stash[started] = now


def pytest_collection_finish():
    """What is collected stays to the end: a collection of garbage need not look at it again."""
    gc.freeze()


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="run the tests marked slow too")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--all") or "slow" in config.option.markexpr:
        return
    slow = {item for item in items if item.get_closest_marker("slow")}
    if slow:
        config.hook.pytest_deselected(items=[*slow])
        items[:] = [item for item in items if item not in slow]


@pytest.fixture(scope="session")
def shared_data():
    """The folder of real data with expected results that lies beside the checkout; it is not part of it."""
    named = os.environ.get("HITCURVE_SHARED_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        what = "the shared data (TREC runs, score dumps and detections with the numbers of other programs)"
        pytest.skip(f"{what} are not at {folder}: HITCURVE_SHARED_DATA names their folder")
    return folder


@pytest.fixture(autouse=True, scope="session")
def many_cores():
    """As on a large machine: `workers` never is more than there are cores, and the tests are for any number of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_workers, "cores", lambda: 8)
        yield


@pytest.fixture(autouse=True)
def no_pyplot():
    """Whatever else has loaded it in this process: pictures go to its current axes where it is loaded.

    Not by `monkeypatch`: ci/threads takes a test that asks for it for one that needs a thread of its own.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
        yield
