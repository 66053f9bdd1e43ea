"""Tests of paired differences: randomisation, Student's and Tukey's over queries, DeLong's over items; Holm."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hitcurve._extras import needed
from hitcurve.statistics.resampling import in_chunks

__all__ = ["delong_covariance", "holm", "normal_p", "paired_randomization", "paired_t", "tukey"]

_Array = NDArray[Any]
_EXACT_QUERIES = 20  # 2**20 sums take some milliseconds
_CHUNK = 1 << 20  # random numbers that are held at a time


def paired_randomization(difference: _Array, n_resamples: int = 9999, rng: Any = None) -> tuple[float, bool]:
    """(two-sided p-value, whether it is exact) of the hypothesis that either system could have had either value.

    The sign of each query's difference is turned at random, and the mean compared in size; up to 20 queries that
    differ, all ways are gone through. Otherwise p = (b + 1) / (m + 1) with b of m random ways that reach the observed
    mean. Fisher (1935); for retrieval Smucker, Allan & Carterette (2007), CIKM.
    """
    size = np.abs(difference[difference != 0])
    observed = abs(math.fsum(difference))
    if size.shape[0] == 0:
        return 1.0, True
    reached = observed - 1e-12 * math.fsum(size)  # equal sums may differ in the last bits
    if size.shape[0] <= _EXACT_QUERIES:
        sums = np.zeros(1)
        for one in size:
            sums = np.concatenate([sums + one, sums - one])
        return float(np.mean(np.abs(sums) >= reached)), True

    def found(draws: np.random.Generator, count: int) -> int:
        signs = draws.integers(0, 2, (count, size.shape[0]), np.int8) * 2.0 - 1.0
        return int(np.count_nonzero(np.abs(signs @ size) >= reached))

    return (sum(in_chunks(found, n_resamples, max(1, _CHUNK // size.shape[0]), rng)) + 1) / (n_resamples + 1), False


def paired_t(difference: _Array) -> float | None:
    """Two-sided p of Student's paired test; NaN below two queries, 1 where nothing differs, None without scipy."""
    try:
        special = needed("scipy.special", "Student's t")
    except ModuleNotFoundError:
        return None
    count = difference.shape[0]
    if count < 2:
        return math.nan
    if not difference.any():
        return 1.0
    difference = np.ldexp(difference, -np.frexp(np.abs(difference).max())[1])  # no square overflows, nor vanishes
    spread = float(np.std(difference, ddof=1))
    if spread == 0:
        return 0.0
    return float(2 * special.stdtr(count - 1, -abs(float(np.mean(difference))) / (spread / math.sqrt(count))))


def holm(p_values: list[float]) -> list[float]:
    """Holm's step-down correction (1979), NaN left as they are and not counted."""
    known = sorted((p, i) for i, p in enumerate(p_values) if not math.isnan(p))
    corrected = list(p_values)
    least = 0.0
    for place, (p, i) in enumerate(known):
        least = max(least, min(1.0, (len(known) - place) * p))
        corrected[i] = least
    return corrected


def tukey(values: _Array, n_resamples: int = 9999, rng: Any = None) -> _Array:
    """p-value of each pair of systems by the randomised form of Tukey's honest significant differences.

    ``values`` is (queries, systems). Under the hypothesis that no system differs from any other, each query's values
    are in random order; a pair's p is how often the greatest difference of any two means reaches the pair's.
    Carterette (2012), ACM Trans. Inf. Syst. 30:4.
    """
    queries, systems = values.shape
    means = values.mean(axis=0)
    observed = np.abs(means[:, None] - means[None, :])

    def ranges(draws: np.random.Generator, count: int) -> _Array:
        mixed = draws.permuted(np.broadcast_to(values, (count, queries, systems)), axis=2).mean(axis=1)
        return np.asarray(mixed.max(axis=1) - mixed.min(axis=1))

    reached = np.sort(np.concatenate(in_chunks(ranges, n_resamples, max(1, _CHUNK // max(1, values.size)), rng)))
    below = np.searchsorted(reached, observed - 1e-12 * np.abs(values).max(initial=0.0), side="left")
    p = (n_resamples - below + 1) / (n_resamples + 1)
    np.fill_diagonal(p, 1.0)
    return np.asarray(p)


def delong_covariance(hit: _Array, hit_weight: _Array, other: _Array, other_weight: _Array) -> _Array:
    """Covariance of the ROC AUC of rankings of the same items (DeLong, DeLong & Clarke-Pearson 1988).

    ``hit`` and ``other`` are the components of the kinds of relevant and of other items, (kinds, rankings).
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
    """Two-sided p-value of a difference with a standard error; 1 where nothing differs."""
    if math.isnan(difference) or math.isnan(error):
        return math.nan
    if difference == 0:
        return 1.0
    return math.erfc(abs(difference) / error / math.sqrt(2)) if error > 0 else 0.0
