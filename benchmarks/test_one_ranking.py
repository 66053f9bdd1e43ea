"""AP of one ranking: size, share of relevant items, type and kind of scores."""

from functools import cache, lru_cache

import data
import pytest
from measure import by_library

MILLION = 1_000_000
# (items, relevant, dtype, kind of scores)
TASKS = [
    *[(10 * MILLION, relevant, "f8", "normal") for relevant in (300, 20_000, 200_000, MILLION, 5 * MILLION)],
    *[(10 * MILLION, relevant, "f4", "normal") for relevant in (300, 20_000, 200_000, MILLION, 5 * MILLION)],
    *[(10 * MILLION, 20_000, "f8", kind) for kind in data.KINDS[1:]],
    *[(n, max(5, n // 500), "f8", "normal") for n in (1_000, 10_000, 100_000, MILLION)],
]


def named(task):
    n, relevant, dtype, kind = task
    type_name = {"f4": "float32", "f8": "float64"}[dtype]
    return f"AP of {n:,} {type_name}, {relevant:,} relevant, {kind}"


@lru_cache(maxsize=2)  # ten million items at a time
def ranking(n, relevant, dtype, kind):
    return data.one_ranking(kind, n, relevant, dtype)


@cache
def answer(task, reading):
    return data.answer(*ranking(*task), reading)


@by_library("one")
@pytest.mark.parametrize("task", TASKS, ids=named)  # the lower decorator changes last: all libraries, then the next
def test_average_precision(measure, task, peer, quick):
    if quick:
        n, relevant, *rest = task
        task = (max(1_000, n // 500), max(5, relevant // 500), *rest)
    arguments = peer.prepare_one(*ranking(*task))
    measure(named(task), peer, peer.one, arguments, lambda reading: answer(task, reading))
