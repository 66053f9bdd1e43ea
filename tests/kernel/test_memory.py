"""Memory: none left is a MemoryError, and none is lost; arrays may overlap."""

import os
import subprocess
import sys
from textwrap import dedent

import numpy as np
import pytest

import hitcurve as hc

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/self/statm")


def run(code):
    # Large blocks go back to the system when they are freed: nothing is left over for the next call to find.
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "1"}
    command = [sys.executable, "-c", dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


CALLS = {
    "average_precision": "hc.average_precision(y, s)",
    "search": "hc.average_precision(y, s, _strategy='search')",
    "buckets": "hc.average_precision(y, s, _strategy='buckets')",
    "parts": "hc.average_precision(y, s, _strategy='parts')",
    "thrown": "hc.average_precision(y, s, _strategy='throw')",
    "parts of queries": "hc.HitCurves(y, s, offsets=[0, n // 3, n], _strategy='parts').mean_average_precision()",
    "HitCurve": "hc.HitCurve(y, s).average_precision()",
    "HitCurve of strided": "hc.HitCurve(y[::2], s[::2]).roc_auc()",
    "HitCurves": "hc.HitCurves(y, s, offsets=offsets).mean_average_precision()",
    "mean_average_precision": "hc.mean_average_precision(y, s, offsets=[0, n])",
    "qid": "hc.mean_average_precision(y, s, qid=qid)",
    "tiebreak": "hc.HitCurve(y, s, tiebreak='order').average_precision()",
    "list": "hc.average_precision(y.tolist(), s)",
    "HitCounter": "count(s[y])",
    "HitCounter in parts": "count(s)",
    "resample": "hc.HitCurve(y, s).resample(5, rng=1).average_precision().tolist()",
    "interval": "hc.HitCurve(y, s).interval('EF@1%', method='bootstrap', n_resamples=9, rng=1).confidence_interval",
    "compare": "hc.compare(y[:16384], {'a': s[:16384], 'b': -s[:16384]}, n_resamples=9, rng=1).rows",
    "evaluate": "hc.evaluate(qrels, run, ['AP', 'nDCG@10']).means",
}


@linux
@pytest.mark.parametrize("enough", [1, pytest.param(9, marks=pytest.mark.slow)])
def test_limited_address_space(enough):
    """With ever more address space: a MemoryError or the right number, both of them somewhere on the way.

    So many address spaces are enough: the last ones.
    """
    out = run(
        f"""
        import resource
        from concurrent.futures import ThreadPoolExecutor
        import numpy as np
        import hitcurve as hc
        from hitcurve.curves import sorted as resolve

        n = 1 << 18  # with fewer items, numpy itself crashes in a small address space
        rng = np.random.default_rng(0)
        y, s = rng.random(n) < 0.4, rng.random(n)
        offsets, qid = np.arange(0, n + 1, 1 << 13), rng.integers(0, 50, n)

        ids = {{"query_id": np.arange(n) >> 13, "doc_id": np.arange(n)}}
        qrels, run = ids | {{"relevance": y.astype(int)}}, ids | {{"score": s}}

        def count(thresholds):
            counter = hc.HitCounter(thresholds)
            counter.update(y, s)
            return counter.curve().average_precision()

        def outcomes(call):
            expected = call()  # whatever is imported on the way is there now
            seen, right = set(), 0
            for extra in [0, *(1 << bits for bits in range(14, 29, {2 if enough == 1 else 1}))]:
                with open("/proc/self/statm") as file:
                    size = int(file.read().split()[0]) * resource.getpagesize()
                resource.setrlimit(resource.RLIMIT_AS, (size + extra, resource.RLIM_INFINITY))
                try:
                    seen.add(call() == expected)
                    right += 1
                except MemoryError:
                    seen.add("MemoryError")
                finally:
                    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
                if right == {enough}:
                    break
            assert call() == expected
            return seen

        # The stack of another thread has its full size from the start. The first one's grows, and where it cannot the
        # process ends by a signal.
        with ThreadPoolExecutor(1) as pool:
            for name, call in {CALLS}.items():
                print(name, flush=True)
                print(*sorted(map(str, pool.submit(outcomes, eval("lambda: " + call)).result())))
        """
    )
    assert out.splitlines() == [line for name in CALLS for line in (name, "MemoryError True")]


@linux
def test_no_growth_over_many_calls():
    """25,000 rounds of small calls, those that raise too."""
    out = run(
        """
        import gc
        import numpy as np
        import hitcurve as hc

        rng = np.random.default_rng(0)
        y, s = rng.random(40) < 0.2, rng.integers(0, 20, 40) / 4
        bad = s.copy()
        bad[7] = np.nan
        ranks = np.flatnonzero(y) + 1
        large = np.zeros(600, bool)
        large[3] = True
        scores = np.arange(600.0)

        def calls(rounds):
            for _ in range(rounds):
                curve = hc.HitCurve(y, s, num_relevant=20)
                curve.average_precision(), curve.score, curve.above, curve.precision(5)
                hc.average_precision(large, scores, ties="best")
                try:
                    hc.average_precision(y, bad)
                except ValueError:
                    pass

        def more(rounds):
            for _ in range(rounds):
                hc.HitCurve.from_ranks(ranks, num_items=40).bedroc()
                hc.HitCurves(y, s, offsets=[0, 20, 40]).average_precision()

        def resident():
            gc.collect()
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1])

        calls(3000), more(300)
        before = resident()
        calls(25_000), more(750)
        print(resident() - before)
        """
    )
    assert int(out) < 30  # pages: 4.9 bytes a round


@pytest.mark.parametrize("n", [12, 900])
def test_overlapping_arrays(n):
    """Labels and scores that are views of one piece of memory, each other's bytes included."""
    rng = np.random.default_rng(n)
    memory = rng.integers(0, 2, 8 * n + 8).astype(np.uint8)
    label, score = memory[:n], memory[3 : 3 + n]
    assert hc.average_precision(label, score) == hc.average_precision(label.copy(), score.copy())
    wide = memory[: 8 * n].view(np.float64)
    assert hc.average_precision(label, wide) == hc.average_precision(label.copy(), wide.copy())
    same = np.arange(n) % 2
    assert hc.HitCurve(same, same) == hc.HitCurve(same.copy(), same.copy())
    assert hc.HitCurve(same, same, tiebreak=same) == hc.HitCurve(same, same.copy(), tiebreak=same.copy())
    offsets = np.array([0, 1, 1, 2, 3])
    assert hc.HitCurves(offsets[:3], offsets[2:], offsets=offsets[[0, 4]], nan_policy="omit", relevance_level=1) == (
        hc.HitCurves([0, 1, 1], [1, 2, 3], offsets=[0, 3])
    )
