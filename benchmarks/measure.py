"""How one library is timed on one task: rounds by the time of a first call, the answer asserted afterwards."""

from time import perf_counter

import peers
import pytest


def by_library(which):
    """Parametrize over the libraries that have a `one` or a `many`; those not installed are skipped."""
    return pytest.mark.parametrize(
        "peer",
        [
            pytest.param(p, marks=[] if peers.installed(p) else pytest.mark.skip(reason=f"{p.name} is not installed"))
            for p in peers.PEERS
            if getattr(p, which)
        ],
        ids=lambda p: p.name,
    )


def measure(benchmark, quick, task, peer, run, arguments, expected, *, small=False):
    """Time `run(*arguments)` in the group `task`; `expected` is a function of the reading of ties."""
    benchmark.group = task
    start = perf_counter()
    run(*arguments)  # warms up
    first = perf_counter() - start
    if small and not quick:
        value = benchmark(run, *arguments)
    else:
        rounds = max(1, min(30, int((0.05 if quick else 3.0) / first)))
        value = benchmark.pedantic(run, args=arguments, rounds=rounds, iterations=1)
    benchmark.extra_info["library"] = peer.name
    benchmark.extra_info["reading"] = peer.reading
    if peer.reading is not None:
        right = expected(peer.reading)
        error = abs(value - right) / right
        benchmark.extra_info["error"] = error
        assert error <= peer.tolerance, f"{peer.name}: {value!r} against {right!r}"
