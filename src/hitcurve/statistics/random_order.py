"""The p-value of a measure against random orders of the items."""

from __future__ import annotations

import math
from itertools import chain, combinations, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hitcurve._base.checks import check_choice, check_count
from hitcurve._base.workers import check_workers
from hitcurve.curves.hit import HitCurve
from hitcurve.measures import Measure, as_measure
from hitcurve.statistics.resampling import BLOCK_ROWS, check_plain, drawn_curves, in_chunks

__all__ = ["PValue", "p_value", "random_ranks"]

_Array = NDArray[Any]
_EXACT_RANKS = 5_000_000  # the greatest number of ranks that are enumerated


class PValue(NamedTuple):
    """A p-value: how often a random order of the items does at least as well as the observed order.

    Attributes
    ----------
    pvalue
        The share of orders whose measure is at least as good as the observed measure.
    statistic
        The observed measure.
    null_distribution
        The measure of each random order.
    method
        ``"exact"``: the share is over all orders. ``"permutation"``: the share is over random orders and the observed
        order.
    resolution
        The least value that `pvalue` can have.
    """

    pvalue: float
    statistic: float
    null_distribution: NDArray[np.float64]
    method: str
    resolution: float


PValue.__module__ = "hitcurve"  # the module that pickles name


def p_value(curve: HitCurve, measure: str | Measure = "AP", *, method: str | None = None, n_resamples: int = 9999,
            ties: str = "expected", rng: Any = None, workers: int = 1) -> PValue:  # fmt: skip
    """The work behind `HitCurve.p_value`."""
    check_plain(curve, "p_value")
    known = as_measure(measure)
    count, threads = check_count(n_resamples, "n_resamples"), check_workers(workers)
    if method is not None:
        check_choice(method, "method", ("exact", "permutation"))
    items, hits = int(curve.num_items), int(curve.num_hits)
    value = float(known(curve, ties))
    if math.isnan(value) or hits == 0:
        return PValue(math.nan if math.isnan(value) else 1.0, value, np.empty(0), method or "exact", math.nan)
    orders = math.comb(items, hits) if min(hits, items - hits) * math.log2(max(2, items)) < 400 else 1 << 400
    if method is None:
        method = "exact" if orders * hits <= _EXACT_RANKS else "permutation"
    elif method == "exact" and orders * hits > 100 * _EXACT_RANKS:
        raise ValueError(
            f"method='exact' would go through more than {100 * _EXACT_RANKS // hits} orders of {hits} relevant among "
            f"{items} items: use 'permutation'"
        )
    size = max(1, BLOCK_ROWS // hits)

    def read(ranks: _Array) -> _Array:
        ones, offsets = np.ones(ranks.size, np.int64), np.arange(ranks.shape[0] + 1, dtype=np.int64) * hits
        curves = drawn_curves(False, offsets, ranks.reshape(-1), ones, ones, items, hits, int(curve.num_relevant))
        return np.asarray(known(curves, ties), dtype=np.float64)

    if method == "exact":
        sets = combinations(range(items), hits)
        blocks = []
        for start in range(0, orders, size):
            n = min(size, orders - start)
            blocks.append(read(np.fromiter(chain.from_iterable(islice(sets, n)), np.int64, n * hits).reshape(n, hits)))
    else:
        blocks = in_chunks(lambda draws, n: read(random_ranks(draws, items, hits, n)), count, size, rng, threads)
    null = np.concatenate(blocks)
    # Equal values may differ in the last bits if their sums were taken in another order.
    better = -1.0 if known.record.lower_is_better else 1.0
    as_good = int(np.count_nonzero(better * null >= better * value - 1e-12 * abs(value)))
    good, of = (as_good, orders) if method == "exact" else (as_good + 1, count + 1)
    return PValue(good / of, value, null, method, 1 / of)


def random_ranks(rng: np.random.Generator, items: int, hits: int, count: int) -> _Array:
    """`count` random sets of `hits` distinct numbers below `items`: an array (count, hits), each row ascending.

    Numbers are drawn until enough are distinct. Every number has the same chance, so all sets are equally likely.
    """
    out = np.empty((count, hits), np.int64)
    few = min(hits, items - hits)
    for i in range(count):
        chosen = np.unique(rng.integers(0, items, few))
        while chosen.shape[0] < few:
            chosen = np.union1d(chosen, rng.integers(0, items, few - chosen.shape[0]))
        if few < hits:
            left = np.ones(items, bool)
            left[chosen] = False
            chosen = np.flatnonzero(left)
        out[i] = chosen
    return out
