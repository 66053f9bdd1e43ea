"""Arrays right beside pages that may not be touched: not a byte before the first item or behind the last is read."""

import contextlib
import ctypes
import mmap
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import hitcurve as hc

PAGE = mmap.PAGESIZE
SIZES = (*range(71), 127, 128, 255, 511, 512, 513, 1000, 2047, 2048, 2049, 4097)
SCORES = (
    *("float16", "float32", "float64", "longdouble", "bool"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)
LABELS = ("bool", "int8", "uint8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float32", "float64")
STRATEGIES = (None, "compare", "search", "buckets", "parts", "throw")


class Fenced:
    """Some pages between two that may not be touched."""

    def __init__(self, pages):
        self.size = pages * PAGE
        self.memory = mmap.mmap(-1, self.size + 2 * PAGE)
        self.start = ctypes.addressof(ctypes.c_char.from_buffer(self.memory)) + PAGE
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        protect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
        for page in (self.start - PAGE, self.start + self.size):
            if protect(page, PAGE, 0) != 0:
                raise OSError(ctypes.get_errno(), "mprotect")

    def copy(self, array, last=True, step=1):
        """The array, its last byte right before the page behind, or its first right behind the page before."""
        array = np.asarray(array)
        n, size = len(array), array.itemsize
        length = ((n - 1) * abs(step) + 1) * size if n else 0
        place = self.start + self.size - length if last else self.start
        raw = np.ctypeslib.as_array((ctypes.c_ubyte * length).from_address(place))
        out = raw.view(array.dtype)[:: abs(step)][:: 1 if step > 0 else -1]
        out[...] = array
        return out


def fences(pages=40):
    return Fenced(pages), Fenced(pages)


def fence_works():
    """For the test of the test."""
    np.ctypeslib.as_array((ctypes.c_ubyte * 1).from_address(Fenced(1).start + PAGE)).sum()


def rankings(every):
    """Of the types that are counted as they are with every size and strategy.

    Of the others with every second size and two strategies in turn unless `every`.
    """
    rng = np.random.default_rng(1)
    labels, scores = fences()
    for at, dtype in enumerate(SCORES):
        whole = every or dtype in ("float32", "float64", "int64")
        for n in SIZES if whole else SIZES[at % 2 :: 2]:
            y = rng.random(n) < (0.01, 0.1, 0.5, 1.0)[(n + at) % 4]
            s = rng.integers(0, max(2, 2 * n), n).astype(dtype)
            expected = hc.HitCurve(y, s)
            for last in (True, False):
                for strategy in STRATEGIES if whole else STRATEGIES[(n + at + last) % 3 :: 3]:
                    step = (1, 1, 1, 2, -1, -3)[int(rng.integers(0, 6))]
                    given = labels.copy(y.astype(LABELS[int(rng.integers(0, len(LABELS)))]), last, step)
                    shown = scores.copy(s, last, (1, 1, -1, 2)[int(rng.integers(0, 4))])
                    assert hc.HitCurve(given, shown, _strategy=strategy) == expected, (dtype, n, strategy)
                assert hc.average_precision(labels.copy(y, last), scores.copy(s, last)) == pytest.approx(
                    expected.average_precision(), nan_ok=True, rel=0
                )


def others(every):
    """The other arrays that an entry reads."""
    rng = np.random.default_rng(2)
    first, second = fences()
    third, fourth = fences()
    for n in (*(range(40) if every else (*range(10), 15, 16, 17, 31, 32, 33)), 300, 513, 2049, 4097):
        y, s = rng.random(n) < 0.3, rng.integers(0, 2 * n + 1, n) / 4
        curve = hc.HitCurve(y, s)
        cuts, qid = np.array([0, n // 3, n // 3, n]), np.sort(rng.integers(0, 5, n))
        for last in (True, False):
            given, shown = first.copy(y, last), second.copy(s, last)
            missing = s.copy()
            missing[n // 2 :] = np.nan
            for policy in ("worst", "omit"):
                plain = hc.HitCurve(y, missing, nan_policy=policy)
                assert hc.HitCurve(given, second.copy(missing, last), nan_policy=policy) == plain
            shown = second.copy(s, last)
            assert hc.HitCurves(given, shown, offsets=third.copy(cuts, last)) == hc.HitCurves(y, s, offsets=cuts)
            for ids in (qid, qid[::-1].copy(), qid.astype(np.int8), qid.astype("U2")):
                assert hc.HitCurves(given, shown, qid=third.copy(ids, last)) == hc.HitCurves(y, s, qid=ids)
            assert hc.HitCurve(given, shown, tiebreak=third.copy(qid, last)) == hc.HitCurve(y, s, tiebreak=qid)
            weight = rng.random(n)
            assert hc.HitCurve(given, shown, sample_weight=third.copy(weight, last)) == (
                hc.HitCurve(y, s, sample_weight=weight)
            )
            counter = hc.HitCounter(third.copy(s[y], last))
            counter.update(given, shown)
            assert counter.curve() == curve
            assert hc.scan((given, shown), progress=False) == curve
            assert hc.at_threshold(given, shown, third.copy(s[:3], last)).tp.tolist() == [
                int((y & (s >= t)).sum()) for t in s[:3]
            ]
            assert hc.HitCurve.from_ranked(given) == hc.HitCurve.from_ranked(y)
            ranks = np.flatnonzero(y) + 1
            assert hc.HitCurve.from_ranks(third.copy(ranks, last), num_items=n) == (
                hc.HitCurve.from_ranks(ranks, num_items=n)
            )
            columns = [
                memory.copy(column, last)
                for memory, column in zip(
                    (first, second, third, fourth), (curve.score, curve.above, curve.tied, curve.hits), strict=True
                )
            ]
            assert hc.HitCurve.from_table(*columns, num_items=n) == curve
            given, shown = first.copy(np.tile(y, 3), last), second.copy(np.tile(s, 3), last)
            rows = hc.HitCurves(given.reshape(3, n), shown.reshape(3, n))
            assert list(rows) == [curve] * 3
            if n:
                topic, doc = first.copy(qid, last), second.copy(np.arange(n), last)
                qrels = {"query_id": topic, "doc_id": doc, "relevance": third.copy(y.astype(int), last)}
                run = {"query_id": topic, "doc_id": doc, "score": fourth.copy(s, last)}
                plain = {"query_id": qid, "doc_id": np.arange(n)}
                assert hc.evaluate(qrels, run, ["AP", "P@5"]).means == (
                    hc.evaluate(plain | {"relevance": y.astype(int)}, plain | {"score": s}, ["AP", "P@5"]).means
                )


def while_written(every):
    """Labels and scores that change meanwhile lead to any number or error, but nowhere else."""
    rng = np.random.default_rng(3)
    labels, scores = fences(100)
    for n, dtype in ((513, "float32"), (3000, "float64"), (20_000, "float32"), (20_000, "int64")):
        y, s = labels.copy((rng.random(n) < 0.3).astype(np.uint8)), scores.copy(rng.integers(0, n, n).astype(dtype))
        noise = rng.integers(0, 2**31, n).astype(dtype)
        if dtype[0] == "f":
            noise[::9] = np.nan
        over = threading.Event()

        def write(y=y, s=s, noise=noise, over=over):
            while not over.is_set():
                for label in (1, 0, 255, 1):
                    y[:] = label
                    s[:] = noise[::-1]
                    y[::50] = 1
                    s[:] = noise

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(8 if every else 1):
                for strategy in STRATEGIES:
                    for policy in ("worst", "omit"):
                        with contextlib.suppress(ValueError):
                            hc.HitCurve(y, s, nan_policy=policy, _strategy=strategy)
                        with contextlib.suppress(ValueError):
                            hc.HitCurves(y, s, offsets=[0, 300, n], nan_policy=policy, _strategy=strategy)
        finally:
            over.set()
            writer.join()


def in_a_process(call, isa):
    """A read beyond the end takes the process with it."""
    here = os.path.dirname(__file__)
    folders = [here, os.path.dirname(here)]
    code = f"import sys; sys.path[:0] = {folders!r}; import test_guard; test_guard.{call}"
    environment = os.environ | {"HITCURVE_ISA": isa}
    command = [sys.executable, "-X", "faulthandler", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, check=False)


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="fences memory with mprotect, which Windows lacks")


def test_the_fence():
    assert in_a_process("fence_works()", "").returncode != 0


@pytest.mark.parametrize(
    ("functions", "isa", "every"),
    [("rankings others while_written", "", False), ("rankings others", "portable", False),
     *(pytest.param("rankings others while_written", isa, True, marks=pytest.mark.slow) for isa in ("", "portable"))],
)  # fmt: skip
def test_nothing_beside_the_arrays_is_read(functions, isa, every):
    calls = [f"{function}({every})" for function in functions.split()]
    done = in_a_process("; test_guard.".join(calls), isa)
    assert done.returncode == 0, done.stderr
