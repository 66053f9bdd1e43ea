import faulthandler
import gc
import os
import sys
import time
from collections import Counter
from pathlib import Path

import absent
import pytest
import rooms
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
    parser.addoption("--room", help="run the tests of a room of tests/rooms.py")
    parser.addoption("--changed", nargs="?", const="HEAD", metavar="COMMIT",
                     help="run the tests of the rooms at and above the lowest that differs from a commit")  # fmt: skip


# ------------------------------------------------------------------------------------------------ which tests run

SECONDS = [Path(__file__).resolve().parents[1] / "build" / "seconds.txt", Path(__file__).with_name("seconds.txt")]
chosen = pytest.StashKey[object]()


def pytest_ignore_collect(collection_path, config):
    room, commit = config.getoption("--room"), config.getoption("--changed")
    if (room or commit) and collection_path.is_file() and collection_path.name.startswith("test_"):
        if chosen not in config.stash:
            try:
                config.stash[chosen] = rooms.wanted(room, commit)
            except ValueError as error:
                raise pytest.UsageError(str(error)) from None
        return None if config.stash[chosen](collection_path) else True
    return None


def file_of(nodeid):
    return nodeid.partition("::")[0].removeprefix("tests/")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--all") and "slow" not in config.option.markexpr:
        slow = {item for item in items if item.get_closest_marker("slow")}
        if slow:
            config.hook.pytest_deselected(items=[*slow])
            items[:] = [item for item in items if item not in slow]
    if hasattr(config, "workerinput"):
        # Several processes take a file each in this order: with the longest first they end together.
        known = next((path for path in SECONDS if path.exists()), None)
        took = dict(reversed(line.split()) for line in known.read_text().splitlines()) if known else {}
        items.sort(key=lambda item: -float(took.get(file_of(item.nodeid), 1)))


# ---------------------------------------------------------------------- what was skipped, and how long each file took

skipped, seconds = Counter(), Counter()


def pytest_runtest_logreport(report):
    seconds[file_of(report.nodeid)] += report.duration
    noted(report)


def pytest_collectreport(report):
    noted(report)


def noted(report):
    if report.skipped and not hasattr(report, "wasxfail"):
        skipped[report.longrepr[2].removeprefix("Skipped: ")] += 1


def skips():
    """(how many tests were skipped for want of each thing, what is wrong with them)."""
    may_lack, missing, wrong = os.environ.get("HITCURVE_MAY_LACK"), Counter(), []
    for reason, times in skipped.items():
        thing, problem = absent.problem(reason, None if may_lack is None else may_lack.split())
        missing[thing] += times
        wrong += [problem] if problem else []
    return missing, wrong


def pytest_terminal_summary(terminalreporter):
    missing, wrong = skips()
    if missing:
        terminalreporter.section("tests that did not run for want of")
        for thing, times in missing.most_common():
            terminalreporter.write_line(f"{thing}: {times}")
        for line in wrong:
            terminalreporter.write_line(line, red=True)


def pytest_sessionfinish(session):
    config = session.config
    if hasattr(config, "workerinput"):
        return
    if skips()[1]:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    option, whole = config.option, config.args == [str(Path(__file__).parent)]
    parts = option.keyword, option.markexpr, option.room, option.changed, option.all, option.collectonly
    if whole and not any(parts) and session.exitstatus == pytest.ExitCode.OK and SECONDS[0].parent.is_dir():
        SECONDS[0].write_text("".join(f"{took:.1f} {file}\n" for file, took in seconds.most_common()))


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
