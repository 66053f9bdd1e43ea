"""Every strategy on every instruction set gives the same bits, whatever the input looks like."""

import os
import subprocess
import sys
import threading
import zlib

import numpy as np
import pytest

import hitcurve as hc
from hitcurve._kernel.columns import instruction_set

STRATEGIES = ("compare", "search", "buckets", "parts", "throw", None)
KINDS = {
    "random": lambda rng, n: rng.standard_normal(n),
    "ascending": lambda rng, n: np.sort(rng.standard_normal(n)),
    "descending": lambda rng, n: -np.sort(rng.standard_normal(n)),
    "all equal": lambda rng, n: np.full(n, 0.25),
    "few distinct": lambda rng, n: rng.integers(0, 7, n).astype(float),
    "heavy tails": lambda rng, n: rng.standard_cauchy(n),
    "huge heavy tails": lambda rng, n: rng.standard_cauchy(n) * 1e150,
    "subnormal": lambda rng, n: rng.standard_normal(n) * 1e-310,
    "two scales": lambda rng, n: rng.standard_normal(n) * np.where(rng.random(n) < 0.5, 1e-12, 1e12),
    "last bit": lambda rng, n: np.nextafter(1.0, 2.0 * rng.integers(0, 2, n)),
    "infinite": lambda rng, n: rng.choice([-np.inf, 0.0, 1.0, np.inf], n),
    "two densities": lambda rng, n: np.where(rng.random(n) < 0.5, 1 + rng.random(n) * 1e-12, rng.random(n)),
    "saturated": lambda rng, n: 1 / (1 + np.exp(-12 * rng.standard_normal(n))),
    "signed zeros": lambda rng, n: rng.choice([-0.0, 0.0, -5e-324, 5e-324, 1e-40], n),
    "clustered": lambda rng, n: rng.standard_normal(n),
}


def inputs(every=False):
    """Of each kind, size and type of score; every second of them unless `every`."""
    rng, sizes, dtypes = np.random.default_rng(7), ((40, 3), (700, 12), (3000, 130), (9000, 4500)), range(3)
    for at, (kind, make) in enumerate(KINDS.items()):
        for i, (n, relevant) in enumerate(sizes):
            for dtype in [(np.float32, np.float64, np.int64)[j] for j in dtypes if every or (at + i + j) % 2 == 0]:
                with np.errstate(over="ignore", invalid="ignore"):
                    scores = make(rng, n)
                    if dtype == np.int64:
                        scores = np.clip(np.nan_to_num(scores) * 1e3, -(2.0**62), 2.0**62)
                    scores = scores.astype(dtype)
                labels = np.zeros(n, np.uint8)
                if kind == "clustered":
                    labels[np.argsort(scores, kind="stable")[n // 3 : n // 3 + relevant]] = 1
                else:
                    labels[rng.permutation(n)[:relevant]] = 1
                yield kind, labels, scores


def digests(every=False):
    """A line for each input: the bits of the table by every strategy, which must agree."""
    for kind, labels, scores in inputs(every):
        tables = {
            repr((curve.score.tobytes(), curve.above.tobytes(), curve.tied.tobytes(), curve.hits.tobytes()))
            for curve in (hc.HitCurve(labels, scores, _strategy=strategy) for strategy in STRATEGIES)
        }
        assert len(tables) == 1, (kind, scores.dtype, scores.size)
        yield f"{kind} {scores.dtype} {scores.size} {zlib.crc32(tables.pop().encode())}"


@pytest.fixture(scope="module")
def every(request):
    return request.config.getoption("--all")


@pytest.fixture(scope="module")
def digested(every):
    return [*digests(every)]


def test_strategies_agree(digested, every):
    assert len(digested) == len(KINDS) * (12 if every else 6)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_against_a_plain_sort(strategy, every):
    for kind, labels, scores in inputs(every):
        values, group = np.unique(scores, return_inverse=True)
        tied = np.bincount(group, minlength=len(values))[::-1]
        hits = np.bincount(group, labels, minlength=len(values)).astype(int)[::-1]
        curve = hc.HitCurve(labels, scores, _strategy=strategy)
        assert np.array_equal(curve.tied, tied[hits > 0]), (kind, scores.dtype, scores.size)
        assert np.array_equal(curve.above, (np.cumsum(tied) - tied)[hits > 0]), (kind, scores.dtype, scores.size)


def run(code, isa):
    environment = os.environ | {"HITCURVE_ISA": isa}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)


def ours(code, isa):
    """What the code prints, which calls this file `t`."""
    here = os.path.dirname(__file__)
    folders = [here, os.path.dirname(here)]
    return run(f"import sys; sys.path[:0] = {folders!r}; import test_variants as t; {code}", isa)


@pytest.mark.parametrize("calls", [24, pytest.param(600, marks=pytest.mark.slow)])
def test_instruction_sets_agree(digested, calls, every):
    """The portable one, in a process of its own, where another thread writes too, and that of this process."""
    # On a machine without AVX2 there is one, and the comparison is with itself.
    code = f"print(*t.digests({every}), sep='\\n'); t.count_what_changes({calls}); print(t.instruction_set())"
    portable = ours(code, "portable")
    assert portable.returncode == 0, portable.stderr
    assert portable.stdout.splitlines() == [*digested, "portable"]


def count_what_changes(calls):
    """Counts while another thread writes a NaN over some scores, and a number over the NaN."""
    rng = np.random.default_rng(0)
    labels, scores = rng.random(20_000) < 0.02, rng.random(20_000)
    spots = np.flatnonzero(~labels)[::500]
    for dtype in (np.float32, np.float64):
        changing, over = scores.astype(dtype), threading.Event()

        def write(changing=changing, over=over):
            while not over.is_set():
                changing[spots] = np.nan
                changing[spots] = 0.5

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for call in range(calls):
                curve = hc.HitCurve(labels, changing, nan_policy="omit", _strategy=STRATEGIES[call % len(STRATEGIES)])
                assert curve.num_hits == labels.sum()
        finally:
            over.set()
            writer.join()


@pytest.mark.parametrize("calls", [60, pytest.param(600, marks=pytest.mark.slow)])
def test_nan_that_another_thread_writes_over(calls):
    count_what_changes(calls)


def test_forcing_an_instruction_set():
    assert instruction_set() in ("portable", "avx2")
    assert "HITCURVE_ISA='mmx' is unknown" in run("import hitcurve", "mmx").stderr
