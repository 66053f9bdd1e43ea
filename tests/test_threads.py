"""Many threads and processes at once: the same bits as alone, and never more threads than there are cores."""

import concurrent.futures
import contextlib
import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from interrupts import interrupted_after, with_timer

import hitcurve as hc
from hitcurve._base import workers as _workers
from hitcurve._base.workers import cgroup_quota, in_threads, usable_cores
from hitcurve._base.workers import cores as real_cores  # conftest.py puts another number in its place

N = 30_000


def ranking(dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random(N) < 0.02, rng.integers(0, 5000, N).astype(dtype)


def numbers(y_true, y_score, workers=1):
    """Numbers of every kind that are read off one ranking, and off it as many queries."""
    curve = hc.HitCurve(y_true, y_score, workers=workers)
    curves = hc.HitCurves(y_true, y_score, offsets=np.arange(0, N + 1, 300), workers=workers)
    return (
        hc.average_precision(y_true, y_score, workers=workers),
        hc.mean_average_precision(y_true, y_score, qid=np.arange(N) % 97, workers=workers),
        curve.bedroc(),
        curve.score.tobytes(),
        curve.above.tobytes(),
        curves.average_precision(5).tobytes(),
        curves.row_offsets.tobytes(),
        tuple(curve.tie_report()),
    )


def at_once(function, threads):
    """What each thread's call gives; all of them begin together."""
    barrier, results = threading.Barrier(threads), [None] * threads

    def work(i):
        barrier.wait()
        results[i] = function(i)

    running = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return results


# --- Python threads -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.float16])
def test_threads_that_share_arrays(dtype):
    y_true, y_score = ranking(dtype)
    alone = numbers(y_true, y_score)
    assert at_once(lambda i: numbers(y_true, y_score, workers=1 + i % 3), 8) == [alone] * 8


@pytest.mark.parametrize("dtype", [np.float64, np.uint64, np.float16, np.longdouble])
def test_threads_that_share_a_curve(dtype):
    """A curve's scores get their own type when they are first asked for: by all threads at once."""
    y_true, y_score = ranking(dtype)
    expected = hc.HitCurve(y_true, y_score).score.tolist()
    for _ in range(15):
        curve = hc.HitCurve(y_true[:500], y_score[:500])
        seen = at_once(lambda i, curve=curve: curve.score, 6)
        assert all(score is seen[0] for score in seen)
        assert sys.getrefcount(seen[0]) <= 10
    curve = hc.HitCurve(y_true, y_score)
    curves = hc.HitCurves(y_true, y_score, offsets=[0, N // 2, N])

    def read(i):
        ties = ("expected", "best", "worst")[i % 3]
        return [curve.average_precision(k, ties=ties) for k in (None, 10, 1000)] + [
            curve.roc_auc(), curve.bedroc(), repr(curve), hash(curve), curve.score.tolist() == expected,
            curve == curves[0], curves.average_precision(ties=ties).tolist(), curves[1].hits.tolist(),
        ]  # fmt: skip

    assert at_once(read, 9) == [read(i) for i in range(9)]


def test_threads_with_counters_of_their_own():
    y_true, y_score = ranking()
    thresholds = y_score[y_true]

    def count(i):
        counter = hc.HitCounter(thresholds)
        counter.update(y_true[i::6], y_score[i::6])
        return counter

    counters = at_once(count, 6)
    total = counters[0]
    for counter in counters[1:]:
        total += counter
    assert total.curve() == hc.HitCurve(y_true, y_score)


@pytest.mark.parametrize("thresholds", [20, 3000, 150_000])
def test_threads_that_share_a_counter(thresholds):
    """A block is counted, or refused as a whole while another thread counts."""
    rng = np.random.default_rng(0)
    counter = hc.HitCounter(rng.random(thresholds))
    blocks = [rng.random(n) for n in (1000, 170_000, 400_000)]

    def count(i):
        counted = 0
        for block in blocks[i % 3 :] + blocks[: i % 3]:
            with contextlib.suppress(RuntimeError):
                counter.update(np.zeros(len(block), bool), block)
                counted += len(block)
        return counted

    assert sum(at_once(count, 6)) == counter.num_items > 0


@pytest.mark.parametrize("rounds", [25, pytest.param(100, marks=pytest.mark.slow)])
def test_arrays_that_another_thread_writes(rounds):
    """Any number or error, but no crash; afterwards the numbers of the array as it then is."""
    y_true, y_score = ranking()
    y_true, offsets = y_true.astype(np.uint8), np.arange(0, N + 1, 100)
    over = threading.Event()
    rng = np.random.default_rng(5)
    noise = rng.random(N)
    noise[rng.integers(0, N, 50)] = np.nan

    def write():
        while not over.is_set():
            y_score[:] = noise
            y_true[:] = noise < 0.5
            offsets[5:] = 0
            y_true[::7] = 3
            y_true[:] = 0
            offsets[:] = np.arange(0, N + 1, 100)
            y_score[:] = 0

    ways = ("compare", "search", "buckets", "parts", "throw")
    calls = [
        lambda: hc.average_precision(y_true, y_score, nan_policy="worst"),
        lambda: hc.HitCurve(y_true, y_score, nan_policy="omit", workers=2).roc_auc(),
        lambda: hc.HitCurves(y_true, y_score, offsets=offsets, nan_policy="worst").average_precision(),
        lambda: hc.HitCurves(y_true, y_score, qid=offsets.repeat(100)[:N]).bedroc(),
        lambda: hc.HitCurve(y_true[:300], y_score[:300], tiebreak=y_score[:300]),
        lambda: hc.HitCounter(edges=[0.1, 0.5]).update(y_true, y_score),
        *(lambda w=w: hc.HitCurve(y_true, y_score, _strategy=w, nan_policy="worst") for w in ways),
        *(lambda w=w: hc.HitCurve(y_true, y_score, _strategy=w, nan_policy="omit", workers=2) for w in ways),
    ]
    for call in calls:
        call()  # each is one that is taken while nothing changes
    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(rounds):
            for call in calls:
                with contextlib.suppress(ValueError):
                    call()
    finally:
        over.set()
        writer.join()
    y_true[:] = np.arange(N) % 3 == 0
    assert hc.average_precision(y_true, -np.arange(N)) == hc.average_precision(np.arange(N) % 3 == 0, -np.arange(N))


@pytest.mark.thread_unsafe(reason="the size of stacks is the process's")
@pytest.mark.skipif(sys.platform == "win32", reason="on Windows no thread has so small a stack")
def test_small_stacks():
    """128 KB, all that a thread has with musl. Scores in clusters within clusters take maps within maps."""
    code = """
import threading
import numpy as np, hitcurve as hc
threading.stack_size(128 * 1024)
rng = np.random.default_rng(0)
for n in (400, 6000, 200_000):
    level = rng.integers(0, 4, n)
    for s in (rng.random(n), 1 + rng.random(n) * 2.0 ** (-13 * level), rng.integers(0, 2**12, n) << 12 * level):
        y = rng.random(n) < 0.5
        def calls():
            curves = [hc.HitCurve(y, s, _strategy=strategy) for strategy in ("search", "buckets", "parts", "throw")]
            return ([(curve.average_precision(), curve.bedroc()) for curve in curves], hc.average_precision(y, s),
                    hc.mean_average_precision(y, s, offsets=[0, n // 2, n]))
        found = []
        thread = threading.Thread(target=lambda: found.append(calls()))
        thread.start()
        thread.join()
        assert found == [calls()]
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (done.returncode, done.stderr)


# --- pools and processes ------------------------------------------------------------------------------------


def in_a_process(seed):
    return hc.average_precision(*ranking(seed=seed), workers=-1)


EXPECTED = [hc.average_precision(*ranking(seed=seed)) for seed in range(4)]


def test_thread_pool():
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(in_a_process, range(4))) == EXPECTED


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_processes(method):
    """Forked after threads have counted, or begun anew."""
    assert in_a_process(0) == EXPECTED[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork while other threads run: what is tested
        context = multiprocessing.get_context(method)
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
            assert list(pool.map(in_a_process, range(4))) == EXPECTED


@pytest.mark.thread_unsafe(reason="a process whose threads keep every core busy: several at once starve each other")
def test_fork_while_threads_count():
    """The child has none of the parent's other threads, and must not need them."""
    if not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    code = """
import os, threading, warnings
import numpy as np, hitcurve as hc
warnings.simplefilter("ignore")
y, s = np.arange(200_000) % 50 == 0, np.arange(200_000) * 7919 % 100_003
over = threading.Event()
def work():
    while not over.is_set():
        hc.average_precision(y, s)
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for _ in range(5):
    child = os.fork()
    if child == 0:
        os._exit(0 if hc.average_precision(y, s, workers=2) == hc.average_precision(y, s) else 1)
    assert os.waitpid(child, 0)[1] == 0
over.set()
for thread in threads: thread.join()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib(backend):
    joblib = pytest.importorskip("joblib")
    parallel = joblib.Parallel(n_jobs=2, backend=backend)
    assert parallel(joblib.delayed(in_a_process)(seed) for seed in range(4)) == EXPECTED


def test_joblib_leaves_each_worker_its_share():
    joblib = pytest.importorskip("joblib")
    with joblib.parallel_config("loky", n_jobs=2, inner_max_num_threads=1):
        assert joblib.Parallel()(joblib.delayed(usable_cores)() for _ in range(2)) == [1, 1]


@pytest.mark.parametrize("scheduler", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
def test_dask(scheduler):
    dask = pytest.importorskip("dask")
    tasks = [dask.delayed(in_a_process)(seed) for seed in range(4)]
    assert list(dask.compute(*tasks, scheduler=scheduler, num_workers=2)) == EXPECTED


# --- calls side by side -------------------------------------------------------------------------------------


@pytest.mark.parametrize("ahead", [None, 2, 9])
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_come_in_order(workers, ahead):
    ended = [threading.Event() for _ in range(50)]

    def later(number):
        """Of two numbers the second ends first."""
        assert workers == 1 or number % 2 or ended[number + 1].wait(60)
        ended[number].set()
        return number

    assert list(in_threads(later, iter(range(50)), workers, ahead=ahead)) == list(range(50))
    assert list(in_threads(later, [], workers, ahead=ahead)) == []


@pytest.mark.parametrize("most", [0, 1, 2])
def test_fewer_threads_than_wanted(monkeypatch, most):
    """The system may start no more of them: what there are do the work, or else the caller."""
    began, start = [], threading.Thread.start

    def limited(thread):
        if len(began) == most:
            raise RuntimeError("can't start new thread")
        began.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)
    for ahead in (None, 7):
        began.clear()
        found = list(in_threads(lambda number: (number, threading.get_ident()), range(50), 4, ahead=ahead))
        assert [number for number, _ in found] == list(range(50))
        assert len({ident for _, ident in found}) <= max(most, 1)
        assert (threading.get_ident() in {ident for _, ident in found}) == (most == 0)
    began.clear()
    with pytest.raises(ZeroDivisionError):
        list(in_threads(lambda number: 1 // number, range(3), 4))


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_the_first_error_in_order_is_raised(workers):
    cancelled, taken, other = [], [], threading.Event()

    def fail(number):
        if number == 4:
            other.set()
        assert workers == 1 or number != 3 or other.wait(60)
        if number in (3, 4):
            raise ValueError(f"number {number}")
        return number

    def numbers():
        for number in range(1000):
            taken.append(number)
            yield number

    calls = in_threads(fail, numbers(), workers, cancel=lambda: cancelled.append(1))
    assert [next(calls) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="number 3"):
        next(calls)
    assert len(taken) < 20
    assert workers == 1 or cancelled == [1]


@pytest.mark.parametrize("workers", [1, 3])
def test_an_error_of_the_items_comes_after_their_results(workers):
    def numbers():
        yield from range(5)
        raise OSError("no more")

    found = []
    with pytest.raises(OSError, match="no more"):
        for number in in_threads(abs, numbers(), workers):
            found.append(number)
    assert found == list(range(5))


@pytest.mark.parametrize("workers", [1, 3])
def test_no_more_is_taken_than_asked_for(workers):
    taken = []

    def numbers():
        try:
            for number in range(1000):
                taken.append(number)
                yield number
        finally:
            taken.append("closed")

    calls = in_threads(abs, numbers(), workers, ahead=4)
    assert next(calls) == 0
    assert len(taken) <= 5
    calls.close()
    assert taken[-1] == "closed"


# --- how many threads ---------------------------------------------------------------------------------------


def started_threads(monkeypatch):
    """A list that gets an entry for each thread that starts; the calling one waits meanwhile."""
    started, start = [], threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda thread: started.append(thread) or start(thread))
    return started


@pytest.mark.thread_unsafe(reason="counts the threads of the process")
def test_no_more_threads_than_cores(monkeypatch):
    started = started_threads(monkeypatch)
    monkeypatch.setattr(_workers, "cores", lambda: 3)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    y_true, y_score = ranking()
    for workers, threads in ((-1, 3), (2, 2), (3, 3), (64, 3), (10**30, 3), (np.int64(-1), 3)):
        started.clear()
        hc.HitCurve(y_true, y_score, workers=workers)
        assert len(started) == threads
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    started.clear()
    hc.HitCurves(y_true, y_score, offsets=np.arange(0, N + 1, 300), workers=-1)
    assert len(started) == 2
    hc.HitCurves(y_true, y_score, offsets=np.arange(0, N + 1, 300), workers=3)
    assert len(started) == 2 + 3
    monkeypatch.setattr(_workers, "cores", lambda: 1)
    started.clear()
    hc.HitCurve(y_true, y_score, workers=5)
    assert started == []


@pytest.mark.thread_unsafe(reason="counts the threads of the process")
def test_other_threads_are_no_more_than_the_cores_either(monkeypatch):
    started = started_threads(monkeypatch)
    monkeypatch.setattr(_workers, "cores", lambda: 3)
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 2.0}}
    curve = hc.HitCurve([1, 0, 1] * 40, range(120))
    for call in (
        lambda workers: hc.evaluate(qrels, [run] * 9, "AP", workers=workers),
        lambda workers: curve.interval(method="bootstrap", n_resamples=2500, rng=0, workers=workers),
        lambda workers: curve.p_value(method="permutation", n_resamples=2500, rng=0, workers=workers),
    ):
        for workers, threads in ((1, 0), (3, 3), (10**30, 3), (np.int64(-1), 2)):
            started.clear()
            call(workers)
            assert len(started) == threads
        for bad, error in ((0, ValueError), (-2, ValueError), (True, TypeError), (1.5, TypeError), ("2", TypeError)):
            with pytest.raises(error, match=f"workers.*{bad}"):
                call(bad)


@pytest.mark.parametrize(
    ("value", "expected"), [("", 8), ("1", 1), ("3", 3), ("3,2", 3), ("0", 1), ("64", 8), ("many", 8), (" 2 ", 2)]
)
def test_omp_num_threads(monkeypatch, value, expected):
    monkeypatch.setattr(_workers, "cores", lambda: 8)
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert usable_cores() == expected


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system binds no process to a core")
def test_affinity():
    """In a process that is bound to one core."""
    code = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); from hitcurve._base import workers; "
    done = subprocess.run([sys.executable, "-c", code + "print(workers.cores())"], capture_output=True, text=True)
    assert done.stdout == "1\n", done.stderr


@pytest.mark.skipif(sys.version_info < (3, 13), reason="PYTHON_CPU_COUNT is new in Python 3.13")
def test_python_cpu_count():
    environment = os.environ | {"PYTHON_CPU_COUNT": "1"}
    code = "from hitcurve._base import workers as _workers; print(_workers.cores())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stdout == "1\n", done.stderr


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return cgroup_quota(str(root))


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({}, None),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, None),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "200000 100000\n"}, 2),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "150000 100000\n"}, 2),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "10000 100000\n"}, 1),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "nonsense\n"}, None),
        (  # a group and one above it: the least counts
            {
                "proc/self/cgroup": "0::/a/b/c\n",
                "sys/fs/cgroup/a/cpu.max": "300000 100000\n",
                "sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
                "sys/fs/cgroup/a/b/c/cpu.max": "400000 100000\n",
            },
            3,
        ),
        (  # a container that sees the host's path, but its own group as the root
            {"proc/self/cgroup": "0::/docker/0123\n", "sys/fs/cgroup/cpu.max": "100000 100000\n"},
            1,
        ),
        (
            {
                "proc/self/cgroup": "4:memory:/m\n3:cpu,cpuacct:/job\n0::/\n",
                "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us": "250000\n",
                "sys/fs/cgroup/cpu/job/cpu.cfs_period_us": "100000\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            3,
        ),
        ({"proc/self/cgroup": "3:cpuset:/job\nsomething else\n"}, None),
    ],
)
def test_cgroup_quota(tmp_path, files, quota):
    assert write(tmp_path, files) == quota


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes only there")
@pytest.mark.parametrize("utf8", [0, 1])
def test_cgroup_of_any_name(tmp_path, utf8):
    roots = []
    for name in (b"caf\xe9", "café".encode()):
        root = tmp_path / str(len(roots))
        folder = os.path.join(os.fsencode(root), b"sys/fs/cgroup", name)
        os.makedirs(folder)
        (root / "proc" / "self").mkdir(parents=True)
        (root / "proc" / "self" / "cgroup").write_bytes(b"0::/" + name + b"\n")
        Path(os.fsdecode(folder), "cpu.max").write_text("300000 100000\n", encoding="ascii")
        roots.append(str(root))
    code = f"from hitcurve._base.workers import cgroup_quota; print([cgroup_quota(root) for root in {roots}])"
    command = [sys.executable, "-X", f"utf8={utf8}", "-X", "warn_default_encoding", "-W", "error", "-c", code]
    environment = os.environ | {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    assert subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout == "[3, 3]\n"


def test_cores(monkeypatch):
    assert 1 <= real_cores() <= os.cpu_count()
    monkeypatch.setattr(_workers, "cgroup_quota", lambda: 1)
    assert real_cores() == (1 if sys.platform == "linux" else real_cores())


# --- Ctrl-C -------------------------------------------------------------------------------------------------

LONG = 3 << 23  # items: a few looks at Ctrl-C


def long_queries(parts, every):
    """name -> a call that ranks one query of LONG items, or of `parts` where half is relevant, by every way in.

    Each way has one or two workers, both if `every`.
    """
    labels = np.zeros(LONG, np.int8)
    labels[:: LONG // 100] = 1
    scores = np.random.default_rng(0).random(LONG, np.float32)
    offsets = [0, 10, LONG - 10, LONG]
    some = scores[:parts].copy()
    half = some[::-1] < 0.5
    ways = {
        "half": lambda w: hc.HitCurve(half, some, workers=w),
        "HitCurve": lambda w: hc.HitCurve(labels, scores, workers=w),
        "AP": lambda w: hc.average_precision(labels, scores, workers=w),
        "AP of half": lambda w: hc.average_precision(half, some, workers=w),
        "AP@10 of half": lambda w: hc.average_precision(half, some, k=10, workers=w),
        "offsets": lambda w: hc.HitCurves(labels, scores, offsets=offsets, workers=w),
        "rows": lambda w: hc.HitCurves(labels[None], scores[None], workers=w),
        "columns": lambda w: hc.HitCurves(labels, scores[:, None], workers=w),
        "MAP": lambda w: hc.mean_average_precision(labels, scores, offsets=offsets, workers=w),
    }
    for i, (name, call) in enumerate(ways.items()):
        for workers in (1, 2) if every else (1 + i % 2,):
            yield f"{name}, {workers}", lambda call=call, workers=workers: call(workers)


@with_timer
@pytest.mark.parametrize(("parts", "every"), [(5 << 20, False), pytest.param(LONG, True, marks=pytest.mark.slow)])
def test_ctrl_c_is_noticed_within_a_query(parts, every):
    """A handler runs while the kernels work, not once at their end; what it raises ends the call."""
    for name, call in long_queries(parts, every):
        ticks = []
        before = signal.signal(signal.SIGALRM, lambda *_, ticks=ticks: ticks.append(None))
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
            call()
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert len(ticks) > 3, name
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        with pytest.raises(KeyboardInterrupt), interrupted_after(0.002):
            call()


@pytest.mark.parametrize(
    ("dtype", "policy"),
    [(np.float32, "worst"), (np.float64, "omit"), (np.uint64, "worst"),
     *(pytest.param(*one, marks=pytest.mark.slow) for one in (
         (np.float32, "omit"), (np.float64, "worst"), (np.int64, "worst"), (np.int64, "omit"), (np.uint64, "omit"),
         (np.float16, "worst"), (np.float16, "omit")))],
)  # fmt: skip
def test_long_queries_beside_short_ones(dtype, policy):
    """Queries that are ranked in pieces have the curve that they have by themselves."""
    n = (1 << 22) + 1000
    rng = np.random.default_rng(1)
    scores = (rng.random(2 * n + 100) * 1000).astype(dtype)
    if scores.dtype.kind == "f":
        scores[rng.integers(0, len(scores), 50)] = np.nan
    labels = rng.random(len(scores)) < 1e-4
    labels[np.flatnonzero(scores != scores)[:20]] = True
    offsets = np.array([0, 0, 50, n + 50, n + 60, 2 * n + 60, 2 * n + 60, 2 * n + 100])
    each = [
        hc.HitCurve(labels[a:b], scores[a:b], nan_policy=policy, num_relevant=1000)
        for a, b in itertools.pairwise(offsets)
    ]
    for workers in (1, 3):
        options = {"offsets": offsets, "nan_policy": policy, "workers": workers, "num_relevant": 1000}
        curves = hc.HitCurves(labels, scores, **options)
        assert list(curves) == each
        assert curves.score.dtype == dtype
        mean = hc.mean_average_precision(labels, scores, **options)
        assert mean == np.mean([curve.average_precision() for curve in each])
    wide = np.stack([scores[:n], scores[n : 2 * n]], axis=1)
    together = hc.HitCurves(labels[:n], wide, nan_policy=policy)
    assert list(together) == [hc.HitCurve(labels[:n], column, nan_policy=policy) for column in wide.T]


def test_errors_in_long_queries_are_named_as_in_short_ones():
    n = (1 << 22) + 1000
    labels, scores = np.zeros(n + 10, np.int8), np.zeros(n + 10)
    labels[5] = labels[n] = 1
    scores[n] = np.nan
    for call in (hc.HitCurves, hc.mean_average_precision):
        with pytest.raises(ValueError, match=rf"y_score\[{n}\] is nan"):
            call(labels, scores, offsets=[0, 10, n + 10])
        with pytest.raises(ValueError, match=rf"y_score\[1, {n}\] is nan"):
            call(np.stack([labels, labels]), np.stack([np.zeros(n + 10), scores]))
        with pytest.raises(ValueError, match=rf"y_score\[{n}, 1\] is nan"):
            call(labels, np.stack([np.zeros(n + 10), scores], axis=1))
        labels[n + 1], scores[n] = 7, 0
        with pytest.raises(ValueError, match=rf"y_true\[{n + 1}\] is 7"):
            call(labels, scores, offsets=[0, 10, n + 10])
        with pytest.raises(ValueError, match=rf"y_true\[{n + 1}\] is 7"):
            call(labels, np.stack([np.zeros(n + 10), scores], axis=1))
        labels[n + 1], scores[n] = 0, np.nan
