"""Tests of two samples that share no queries: Welch's t and the permutation of all values."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hitcurve._base.extras import needed
from hitcurve.statistics.resampling import in_chunks

__all__ = ["unpaired_permutation", "welch_t"]

_Array = NDArray[Any]
_EXACT_QUERIES = 30  # of both samples: each half of them has at most 2**15 subsets
_SAME = 1e-12  # relative to the sum of all sizes: equal sums may differ in the last bits
_VALUES = 1 << 20  # random numbers of a chunk


def welch_t(first: _Array, second: _Array) -> float | None:
    """Two-sided p-value of Welch's t test. NaN if a sample has fewer than two queries, None without scipy.

    The variances may differ; the degrees of freedom are Satterthwaite's. Welch (1947), Biometrika 34:28.
    """
    try:
        special = needed("scipy.special", "Welch's t")
    except ModuleNotFoundError:
        return None
    if min(len(first), len(second)) < 2:
        return math.nan
    power = -int(np.frexp(max(np.abs(first).max(), np.abs(second).max()))[1])  # so that squares stay finite
    first, second = np.ldexp(first, power), np.ldexp(second, power)
    difference = float(np.mean(second)) - float(np.mean(first))
    errors = [float(np.var(one, ddof=1)) / len(one) for one in (first, second)]
    if sum(errors) == 0:
        return 1.0 if difference == 0 else 0.0
    shares = [error / sum(errors) for error in errors]  # squares of the errors themselves may be 0
    freedom = 1 / sum(share**2 / (len(one) - 1) for share, one in zip(shares, (first, second), strict=True))
    return float(2 * special.stdtr(freedom, -abs(difference) / math.sqrt(sum(errors))))


def unpaired_permutation(first: _Array, second: _Array, n_resamples: int = 9999, rng: Any = None,
                         workers: int = 1) -> tuple[float, bool]:  # fmt: skip
    """The permutation test of two means: (two-sided p-value, whether it is exact).

    The hypothesis is that every query could be in either sample. The test divides all queries into samples of the same
    sizes, and compares the difference of the means. The p-value is twice the smaller of the two one-sided p-values, as
    in scipy. It goes through all ways for at most 30 queries. Otherwise a one-sided p-value is (b + 1) / (m + 1), where
    b of m random ways reach the observed difference. Pitman (1937), J. R. Stat. Soc. Suppl. 4:119.

    The difference of the means rises with the sum of a sample, so the sums of the smaller sample are compared. The
    order of the queries and of the samples does not matter.
    """
    smaller = min(first, second, key=len)
    values = np.sort(np.concatenate([first, second]))
    size, slack = len(smaller), _SAME * math.fsum(np.abs(values))
    observed = math.fsum(smaller)
    if size == 0:
        return math.nan, True
    if len(values) <= _EXACT_QUERIES:
        at_least, at_most = _ways(values, size, observed - slack), _ways(-values, size, -observed - slack)
        return min(1.0, 2 * min(at_least, at_most) / math.comb(len(values), size)), True

    def reached(draws: np.random.Generator, count: int) -> _Array:
        chosen = draws.random((count, len(values))).argpartition(size - 1, axis=1)[:, :size]
        sums = values[chosen].sum(axis=1)
        return np.array([(sums >= observed - slack).sum(), (sums <= observed + slack).sum()])

    counts = sum(in_chunks(reached, n_resamples, max(1, _VALUES // len(values)), rng, workers))
    return min(1.0, 2 * float(min(counts) + 1) / (n_resamples + 1)), False


def _ways(values: _Array, size: int, least: float) -> int:
    """How many subsets of `size` values have a sum of at least `least`."""
    halves = []
    for half in np.array_split(values, 2):
        sums = [np.zeros(1)] + [np.empty(0)] * len(half)  # by the number of values in the subset
        for value in half:
            sums = [sums[0], *(np.append(more, less + value) for less, more in pairwise(sums))]
        halves.append(sums)
    total = 0
    for number, ways in enumerate(halves[0]):
        if 0 <= size - number < len(halves[1]):
            others = np.sort(halves[1][size - number])
            total += int((len(others) - np.searchsorted(others, least - ways)).sum())
    return total
