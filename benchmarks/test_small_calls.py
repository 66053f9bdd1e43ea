"""What one call costs when there is little to do."""

from functools import cache

import data
import pytest
from measure import by_library
from peers import PEERS

import hitcurve

SIZES = [(10, 2), (100, 5), (1_000, 20)]


@cache
def ranking(n, relevant):
    return data.one_ranking("normal", n, relevant)


@by_library("one")
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]} items")
def test_average_precision(measure, size, peer):
    n, relevant = size
    arguments = peer.prepare_one(*ranking(*size))
    task = f"one call: AP of {n:,} items, {relevant} relevant"
    measure(task, peer, peer.one, arguments, lambda r: data.answer(*ranking(*size), r), small=True)


def ap_of_curve(y, s):
    return hitcurve.HitCurve(y, s).average_precision()


def tolists(y, s):
    return y.tolist(), s.tolist()


OURS, SKLEARN = PEERS[0], PEERS[1]
SORT, SUM = (peer for peer in PEERS if peer.reading is None)
CALLS = [  # task, what it is called with, library, call
    ("one HitCurve of 100 items", None, OURS._replace(reading=None), hitcurve.HitCurve),
    ("one HitCurve of 100 items", None, SORT, SORT.one),
    ("one HitCurve of 100 items", None, SUM, SUM.one),
    ("one HitCurve of 100 items, and its AP", None, OURS, ap_of_curve),
    ("one HitCurve of 100 items, and its AP", None, SKLEARN, SKLEARN.one),
    ("one call: AP of two lists of 100", tolists, OURS, OURS.one),
    ("one call: AP of two lists of 100", tolists, SKLEARN, SKLEARN.one),
]


@pytest.mark.parametrize(("task", "prepare", "peer", "call"), CALLS, ids=[f"{c[0]}-{c[2].name}" for c in CALLS])
def test_other_calls(measure, task, prepare, peer, call):
    y, s = ranking(100, 5)
    arguments = prepare(y, s) if prepare else (y, s)
    measure(task, peer, call, arguments, lambda reading: data.answer(y, s, reading), small=True)
