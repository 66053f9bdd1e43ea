"""What a scan takes while it runs: memory within its bound, threads, progress on a terminal, Ctrl-C."""

import io
import os
import pickle
import re
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from blocks import N, batches
from waiting import Clock

import hitcurve as hc
from hitcurve._base import workers as _workers

pytest.importorskip("pyarrow")


def test_progress_is_for_terminals(items, capfd, monkeypatch):
    y, s, _ = items

    clock = Clock(monkeypatch)

    def slow():
        for batch in batches(y, s, 10_000)():
            clock.now += 0.25
            yield batch

    hc.scan(slow)
    assert capfd.readouterr() == ("", "")
    hc.scan(slow, progress=True)
    out, err = capfd.readouterr()
    assert out == "" and "pass 1 of 2: 10,000 rows" in err and err.endswith("\r") and "\n" not in err
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    hc.scan(slow)
    assert "million a second" in terminal.getvalue()


@pytest.mark.parametrize("different", [4, 1_000, 1 << 30])
@pytest.mark.parametrize("lower_is_better", [False, True])
def test_bins_within_max_memory(different, lower_is_better):
    rng = np.random.default_rng(9)
    y = rng.random(1_500_000) < 0.5
    s = rng.integers(0, different, y.size) / 8
    limit = 8 << 20
    tracemalloc.start()
    try:
        curve = hc.scan(batches(y, s, 1 << 14), lower_is_better=lower_is_better, max_memory=limit, tolerance=0.5)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < limit
    # Where few scores are different, no bin is needed.
    assert (curve == hc.HitCurve(y, s, lower_is_better=lower_is_better)) == (different < 1 << 30)


@pytest.mark.parametrize("sorted_", [None, "group"])
def test_groups_within_max_memory(sorted_):
    rng = np.random.default_rng(10)
    y, s = rng.random(1_000_000) < 0.01, rng.random(1_000_000)
    limit = 6 << 20

    many, few = (np.arange(y.size) // (y.size // groups) for groups in (1_000, 4))
    options = {"group": 3, "sorted": sorted_, "max_memory": limit}
    hc.scan(batches(y[:100], s[:100], 50, many[:100]), **options)  # what is imported on first use is not counted
    tracemalloc.start()
    try:
        curves = hc.scan(batches(y, s, 1 << 14, many), **options)
        assert tracemalloc.get_traced_memory()[1] < limit
        tracemalloc.reset_peak()
        with pytest.raises(ValueError, match=r"ranking [\d,]+ items together.* needs about max_memory=\d.* 6\.0 MiB"):
            hc.scan(batches(y, s, 1 << 14, few), **options)
        assert tracemalloc.get_traced_memory()[1] < limit
    finally:
        tracemalloc.stop()
    assert curves == hc.HitCurves(y, s, qid=many)


def test_a_sorted_scan_within_max_memory():
    s = np.arange(200_000.0)
    y = np.ones(s.size, bool)
    options = {"sorted": "score", "lower_is_better": True}
    tracemalloc.start()
    try:
        assert len(hc.scan(batches(y, s, 1 << 10), max_memory=24 << 20, **options)) == s.size
        assert tracemalloc.get_traced_memory()[1] < 24 << 20
        tracemalloc.reset_peak()
        with pytest.raises(ValueError, match=r"the table of at least [\d,]+ rows needs .* not 4\.0 MiB"):
            hc.scan(batches(y, s, 1 << 10), max_memory=4 << 20, **options)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def test_actives_within_max_memory():
    s = np.random.default_rng(11).random(200_000)
    y = np.ones(s.size, bool)
    for limit in (200 << 20, 64 << 20):
        tracemalloc.start()
        try:
            assert hc.scan(batches(y, s, 1 << 14), actives=s, max_memory=limit, workers=2).num_hits == s.size
            assert tracemalloc.get_traced_memory()[1] < limit
        finally:
            tracemalloc.stop()
    with pytest.raises(ValueError, match=r"the table of 200,000 actives needs about max_memory=\d.* not 8\.0 MiB"):
        hc.scan((y, s), actives=s, max_memory=8 << 20)


_INTERRUPTED = """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has its background jobs ignore it
signal.alarm(100)  # ends the process, should an interrupt be lost
there, here = os.pipe()
os.set_blocking(here, False)
signal.set_wakeup_fd(here)

def wait_for_interrupt():
    os.read(there, 1)  # also of one that comes just before the read
"""


def started(code, folder):
    """A process whose temporary files are in the folder."""
    return subprocess.Popen(
        [sys.executable, "-c", _INTERRUPTED + textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(folder)},
        text=True,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT to a process, which Windows cannot")
def test_interrupted_it_leaves_nothing_behind(tmp_path):
    code = """
        import threading, numpy as np, hitcurve as hc
        from hitcurve.sources import scanning
        scanning._HELD = 1
        def source():
            for at in range(40):
                print(at, flush=True)
                yield np.arange(1000) % 3 == 0, np.random.rand(1000)
            wait_for_interrupt()
        try:
            hc.scan(source, workers=3)
        except KeyboardInterrupt:
            print("stopped", threading.active_count(), flush=True)
    """
    process = started(code, tmp_path)
    for line in process.stdout:
        if line.strip() == "20":
            break
    process.send_signal(signal.SIGINT)
    rest = process.stdout.read().split("\n")
    process.stdout.close()
    assert process.wait(20) == 0 and rest[-2] == "stopped 1"
    assert list(tmp_path.iterdir()) == []


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("processes", "distributed in processes")]


@pytest.fixture(params=["threads", "distributed", *SLOW])
def dask_scheduler(request):
    if not request.param.startswith("distributed"):
        yield request.param
        return
    distributed = pytest.importorskip("distributed")
    apart = request.param.endswith("processes")
    with (distributed.LocalCluster(2, threads_per_worker=1, processes=apart, dashboard_address=None) as cluster,
          distributed.Client(cluster) as client):  # fmt: skip
        yield client


# What dask itself warns of is not ours to be strict about. pickle looks for a function in every module.
@pytest.mark.filterwarnings("default", "ignore:numpy.core is deprecated")
def test_the_recipe_for_dask_counts_the_same_twice(items, dask_scheduler):
    """As the page has it; the counts of the blocks are kept, as they are on a cluster, and added up twice."""
    dask = pytest.importorskip("dask")
    page = Path(__file__).resolve().parents[2] / "docs" / "larger-data.md"
    block = re.search(r"With Dask.*?\n\n(    .*?)\n\n\S", page.read_text(encoding="utf-8"), re.DOTALL)
    recipe = textwrap.dedent(block[1])
    first, joint, rest = recipe.partition("while ")
    y, s, _ = items
    for kept in (False, True):
        blocks = [(y[at : at + 1_000], s[at : at + 1_000]) for at in range(0, N, 1_000)]
        names = {"dask": dask, "hc": hc, "thresholds": s[y], "blocks": blocks}
        with dask.config.set(scheduler=dask_scheduler, num_workers=2):
            exec(first, names)
            held = dask.persist(*names["parts"]) if kept else names["parts"]
            names["parts"] = list(held)
            exec(joint + rest, names)
            assert names["curve"] == names["parts"][0].compute().curve() == hc.HitCurve(y, s)


@pytest.mark.parametrize("make", [lambda: hc.HitCounter([0.9, 0.3]), lambda: hc.GainCounter([0.9, 0.3]),
                                  lambda: hc.HitCounter(edges=[0.0, 0.5])])  # fmt: skip
def test_a_sum_changes_neither(make):
    one, other, both = make(), make(), make()
    for counter in (one, both):
        counter.update([1, 0, 0], [0.9, 0.5, 0.3])
    for counter in (other, both):
        counter.update([1, 0], [0.3, 0.1])
    before = pickle.dumps(one), pickle.dumps(other)
    assert one + other == other + one == sum([one, other], make()) == both
    added = one + other
    added.update([1], [0.3])
    assert (pickle.dumps(one), pickle.dumps(other)) == before
    assert added.num_items == 6 and one.num_items == 3
    assert one.merge(other) is one and one == both
    for wrong in (3, None, hc.HitCounter([5.0]), hc.GainCounter([0.9, 0.3], [1])):
        with pytest.raises((TypeError, ValueError)):
            one + wrong
    assert one == both


@pytest.mark.parametrize("workers", [1, 2])
def test_the_source_runs_in_the_thread_of_the_caller(workers):
    base = sqlite3.connect(":memory:")  # refuses any other thread
    base.execute("create table items (y integer, s real)")
    base.executemany("insert into items values (?, ?)", [(at % 3 == 0, at / 7) for at in range(1_000)])
    threads = set()

    def source():
        rows = base.execute("select y, s from items")
        while part := rows.fetchmany(300):
            threads.add(threading.get_ident())
            yield tuple(map(list, zip(*part, strict=True)))

    assert hc.scan(source, workers=workers).num_items == 1_000 and threads == {threading.get_ident()}
    base.close()


def test_no_more_threads_than_cores(monkeypatch):
    started = []
    start = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda self: started.append(1) or start(self))
    monkeypatch.setattr(_workers, "cores", lambda: 3)
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    for workers, number in ((64, 3), (-1, 2), (1, 0)):
        started.clear()
        hc.scan(lambda: [([1, 0], [2.0, 1.0])], sorted=None, workers=workers)
        assert len(started) == 2 * number


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT to a process, which Windows cannot")
@pytest.mark.parametrize("workers", [1, 2])
def test_interrupted_while_the_source_waits(workers, tmp_path):
    code = f"""
        import numpy as np, hitcurve as hc
        from hitcurve._base import workers as _workers
        from hitcurve.sources import scanning
        scanning._HELD = 1
        _workers.cores = lambda: 4
        def source():
            for at in range(5):
                yield np.arange(1000) % 3 == 0, np.random.rand(1000)
            print("waits", flush=True)
            wait_for_interrupt()
        try:
            hc.scan(source, workers={workers})
        except KeyboardInterrupt:
            print("stopped", flush=True)
    """
    process = started(code, tmp_path)
    try:
        assert process.stdout.readline() == "waits\n"
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "stopped\n"
        assert process.wait(10) == 0 and time.monotonic() - began < 10
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("tolerance", [0, 1e-300, 1e-9])
def test_bins_never_ask_for_more_than_the_exact_table(tolerance):
    rng = np.random.default_rng(3)
    y = rng.random(200_000) < 0.3
    s = rng.standard_normal(200_000) + y
    with pytest.raises(ValueError, match=r"max_memory=1\.0 MiB: about [\d.]+ MiB would be enough") as caught:
        hc.scan((y, s), max_memory=1 << 20, tolerance=tolerance)
    with pytest.raises(ValueError) as exact:
        hc.scan((y, s), max_memory=1 << 20)
    advised, needed = (float(re.search(r"([\d.]+) MiB(?:,| would)", str(one.value))[1]) for one in (caught, exact))
    assert advised <= needed
    assert hc.scan((y, s), max_memory=int((advised + 0.1) * 2**20), tolerance=tolerance).num_items == 200_000


@pytest.mark.thread_unsafe(reason="counts the threads of the process")
@pytest.mark.parametrize("last", [0, 1, 2])
def test_interrupted_while_threads_start(last, monkeypatch):
    """Those that run end, even one that runs although its start was interrupted."""
    begun = []
    start = threading.Thread.start

    def interrupted(thread):
        start(thread)
        begun.append(thread)
        if len(begun) > last:
            raise KeyboardInterrupt

    monkeypatch.setattr(_workers, "cores", lambda: 3)
    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        hc.scan(lambda: [([1, 0], [2.0, 1.0])], workers=3)
    for thread in begun:
        thread.join(10)
    assert [thread.is_alive() for thread in begun] == [False] * (last + 1)
