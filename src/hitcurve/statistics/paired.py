"""Tests of paired differences: randomisation, Student's t and Tukey over queries, DeLong over items, and Holm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hitcurve._base.extras import needed
from hitcurve.statistics.resampling import in_chunks

__all__ = ["alpha_of", "delong_covariance", "holm", "normal_p", "paired_randomization", "paired_t", "tukey"]

_Array = NDArray[Any]
_EXACT_QUERIES = 20
_SAME = 1e-12  # relative to the sum of all sizes: equal sums may differ in the last bits
_SIGNS = 32  # signs in a word
_DRAWS = 1024  # draws that are summed together: for 50 systems the sums stay in the second-level cache
_COLUMNS = 64  # columns of differences that are summed together


def alpha_of(level: float) -> float:
    """The significance level of a confidence level: 1 - level in decimal arithmetic, such as exactly 0.1 for 0.9."""
    return float(1 - Decimal(repr(level)))


def paired_randomization(values: _Array, pairs: Sequence[tuple[int, int]], n_resamples: int = 9999, rng: Any = None,
                         workers: int = 1) -> list[tuple[float, bool]]:  # fmt: skip
    """The paired randomisation test of each pair of systems: (two-sided p-value, whether it is exact).

    ``values`` is (queries, systems). The hypothesis is that the two values of a query could be swapped. The test flips
    the signs of the queries' differences, and compares the size of the mean. If at most 20 queries differ, it goes
    through all ways. Otherwise p = (b + 1) / (m + 1), where b of m random ways reach the observed mean. Fisher (1935);
    for retrieval Smucker, Allan & Carterette (2007), CIKM.

    All pairs use the same random sign for a query in a resample. So systems with equal values have equal p-values, and
    the order of the systems changes nothing.
    """
    queries, systems = values.shape
    words = -(-queries // _SIGNS)
    columns = np.zeros((systems, _SIGNS * words))
    columns[:, :queries] = values.T
    sizes = [math.fsum(column) for column in np.abs(columns)]
    found: list[tuple[float, bool]] = [(1.0, True)] * len(pairs)
    least = np.zeros(len(pairs))  # the least sum that counts as reaching the observed sum
    shared: list[int] = []
    alone: list[int] = []
    for at, (a, b) in enumerate(pairs):
        difference = values[:, b] - values[:, a]
        size = np.abs(difference[difference != 0])
        whole = math.fsum(size)
        least[at] = abs(math.fsum(difference)) - _SAME * whole
        if size.shape[0] == 0:
            continue
        if size.shape[0] <= _EXACT_QUERIES:
            found[at] = _share_of_all(size, least[at]), True
        # The rounding of two sums depends on their sizes. For nearly equal systems it may hide that the sums are equal.
        elif (words + 12) * 2.0**-53 * (sizes[a] + sizes[b]) < _SAME / 2 * whole:
            shared.append(at)
        else:
            alone.append(at)
    ends = np.array(pairs, np.int32).reshape(-1, 2)
    parts = [(shared, columns, ends[shared])] if shared else []
    for start in range(0, len(alone), _COLUMNS):
        part = alone[start : start + _COLUMNS]
        apart = columns[ends[part, 1]] - columns[ends[part, 0]]
        places = np.arange(1, len(part) + 1, dtype=np.int32)
        parts.append((part, np.pad(apart, ((1, 0), (0, 0))), np.stack([np.zeros_like(places), places], axis=1)))
    if not parts:
        return found
    from hitcurve._kernel.flips import flips_reached

    def reached(draws: np.random.Generator, count: int) -> _Array:
        counts = np.zeros(len(pairs), np.int64)
        for start in range(0, count, _DRAWS):
            signs = draws.integers(0, 1 << _SIGNS, (words, _DRAWS), np.uint32)
            for part, sums_of, between in parts:
                counts[part] += flips_reached(signs, min(_DRAWS, count - start), sums_of, between, least[part])
        return counts

    counts = sum(in_chunks(reached, n_resamples, 16 * _DRAWS, rng, workers))
    for at in (*shared, *alone):
        found[at] = float((counts[at] + 1) / (n_resamples + 1)), False
    return found


def _share_of_all(size: _Array, least: float) -> float:
    """The share of all 2**n sums of these sizes, with either sign each, that are at least `least` in size."""
    if least <= 0:
        return 1.0
    sums = []
    for half in np.array_split(size, 2):
        ways = np.zeros(1)
        for one in half:
            ways = np.concatenate([ways + one, ways - one])
        sums.append(np.sort(ways))
    below = np.searchsorted(sums[1], least - sums[0])
    return 2 * float(np.mean(1 - below / sums[1].shape[0]))  # twice, for sums <= -least


def paired_t(difference: _Array) -> float | None:
    """Two-sided p-value of Student's paired t test; NaN below two queries, 1 if nothing differs, None without scipy."""
    try:
        special = needed("scipy.special", "Student's t")
    except ModuleNotFoundError:
        return None
    count = difference.shape[0]
    if count < 2:
        return math.nan
    if not difference.any():
        return 1.0
    difference = np.ldexp(difference, -np.frexp(np.abs(difference).max())[1])  # so that squares stay finite
    spread = float(np.std(difference, ddof=1))
    if spread == 0:
        return 0.0
    return float(2 * special.stdtr(count - 1, -abs(float(np.mean(difference))) / (spread / math.sqrt(count))))


def holm(p_values: list[float]) -> list[float]:
    """Holm's step-down correction (1979). NaN stay NaN and are not counted."""
    known = sorted((p, i) for i, p in enumerate(p_values) if not math.isnan(p))
    corrected = list(p_values)
    least = 0.0
    for place, (p, i) in enumerate(known):
        least = max(least, min(1.0, (len(known) - place) * p))
        corrected[i] = least
    return corrected


def tukey(values: _Array, n_resamples: int = 9999, rng: Any = None, workers: int = 1) -> _Array:
    """The p-value of each pair of systems by the randomised form of Tukey's honest significant differences.

    ``values`` is (queries, systems). The hypothesis is that no systems differ: each query's values are then in random
    order. The p-value of a pair is the share of random orders in which the greatest difference of any two means reaches
    the difference of the pair. Carterette (2012), ACM Trans. Inf. Syst. 30:4.
    """
    queries = values.shape[0]
    means = values.mean(axis=0)
    observed = np.abs(means[:, None] - means[None, :])

    from hitcurve._kernel.flips import shuffled_ranges

    ordered = np.ascontiguousarray(np.sort(values, axis=1))  # any order of the systems gives the same p-values

    def ranges(draws: np.random.Generator, count: int) -> _Array:
        return np.asarray(shuffled_ranges(draws.bit_generator, count, ordered) / queries)

    reached = np.sort(np.concatenate(in_chunks(ranges, n_resamples, _DRAWS, rng, workers)))
    below = np.searchsorted(reached, observed - _SAME * np.abs(values).max(initial=0.0), side="left")
    p = (n_resamples - below + 1) / (n_resamples + 1)
    np.fill_diagonal(p, 1.0)
    return np.asarray(p)


def delong_covariance(hit: _Array, hit_weight: _Array, other: _Array, other_weight: _Array) -> _Array:
    """The covariance of the ROC AUC of rankings of the same items (DeLong, DeLong & Clarke-Pearson 1988).

    ``hit`` and ``other`` are DeLong's components of relevant and of other items: arrays (kinds of items, rankings).
    """
    total = np.zeros((hit.shape[1], hit.shape[1]))
    for values, weight in ((hit, hit_weight), (other, other_weight)):
        count = int(weight.sum())
        if count < 2:
            return np.full_like(total, math.nan)
        centred = values - np.average(values, axis=0, weights=weight)
        total += (centred * weight[:, None]).T @ centred / (count - 1) / count
    return total


def normal_p(difference: float, error: float) -> float:
    """The two-sided p-value of a difference with a standard error; 1 if the difference is 0."""
    if math.isnan(difference) or math.isnan(error):
        return math.nan
    if difference == 0:
        return 1.0
    return math.erfc(abs(difference) / error / math.sqrt(2)) if error > 0 else 0.0
