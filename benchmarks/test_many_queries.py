"""Mean AP over many queries: rows of a matrix, ragged with offsets, unsorted query ids."""

from functools import cache

import data
import numpy as np
import peers
import pytest
from measure import by_library

import hitcurve

ROWS = [(10_000, 1_000, relevant) for relevant in (1, 5, 20, 100)]


@cache
def matrix(queries, items, relevant):
    return data.rows(queries, items, relevant)


@cache
def matrix_answer(shape):
    return data.mean_answer(zip(*matrix(*shape), strict=True), "order")  # no ties: all readings are the same


@by_library("many")
@pytest.mark.parametrize("shape", ROWS, ids=lambda shape: f"{shape[2]} relevant")
def test_rows(measure, shape, peer, quick):
    queries, items, relevant = shape = (20, 100, min(shape[2], 20)) if quick else shape
    arguments = peer.prepare_many(*matrix(*shape))
    name = f"MAP of {queries:,} queries x {items:,} float32, {relevant} relevant each"
    measure(name, peer, peer.many, arguments, lambda reading: matrix_answer(shape))


@cache
def ends(quick):
    return data.ragged(200 if quick else 50_000, 400, 0.03)


@cache
def ends_answer(quick):
    return data.mean_answer(data.split(*ends(quick)), "expected")


def offsets_hitcurve(y, s, offsets):
    return hitcurve.mean_average_precision(y, s, offsets=offsets)


def offsets_sklearn(y, s, offsets):
    queries = data.split(y, s, offsets)
    return np.mean([peers.sklearn_one(*query) for query in queries if query[0].any()])  # else it warns, and says 0


RAGGED = {
    "hitcurve": offsets_hitcurve,
    "scikit-learn": offsets_sklearn,
    "sum of the scores": lambda y, s, offsets: peers.sum_only(y, s),
}


@pytest.mark.parametrize("name", RAGGED)
def test_offsets(measure, name, quick):
    peer = next(p for p in peers.PEERS if p.name == name)
    arguments = ends(quick)
    task = f"MAP of {len(arguments[2]) - 1:,} queries of 1 to 400 items, 3 % relevant, float64"
    measure(task, peer, RAGGED[name], arguments, lambda reading: ends_answer(quick))


@cache
def mixed(quick):
    return data.unsorted_queries(20_000 if quick else 10_000_000, 2_000 if quick else 1_000_000, 0.05)


@cache
def mixed_answer(quick):
    return data.mean_answer(data.split_by_id(*mixed(quick)), "expected")


def mean_of_ids(y, s, qid):
    return hitcurve.mean_average_precision(y, s, qid=qid)


def sort_ids(y, s, qid):
    np.argsort(qid, kind="stable")


UNSORTED = {
    "hitcurve": (peers.PEERS[0], mean_of_ids),
    "argsort": (peers.Peer("stable np.argsort of the ids", "numpy", "numpy", None), sort_ids),
}


@pytest.mark.parametrize("name", UNSORTED)
def test_unsorted_ids(measure, name, quick):
    peer, run = UNSORTED[name]
    arguments = mixed(quick)
    task = f"MAP of {len(arguments[0]):,} items, ten a query, in no order, float64"
    measure(task, peer, run, arguments, lambda reading: mixed_answer(quick))
