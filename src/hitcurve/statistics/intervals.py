"""Confidence intervals for measures of one ranking or of many rankings."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hitcurve._base.checks import check_choice, check_count, check_flag, check_level
from hitcurve._base.extras import needed
from hitcurve._base.workers import check_workers
from hitcurve.curves.base import counted
from hitcurve.curves.gain import GainCurve, GainCurves
from hitcurve.curves.hit import HitCurve, HitCurves
from hitcurve.curves.subtopics import SubtopicCurve, SubtopicCurves
from hitcurve.measures import Measure, as_measure
from hitcurve.results import ConfidenceInterval, Interval
from hitcurve.statistics.per_query import check_mean
from hitcurve.statistics.resampling import (
    check_plain,
    curve_blocks,
    drawn_curves,
    item_kinds,
    resampled_means,
)

__all__ = [
    "acceleration_of",
    "auc_components",
    "closed_form",
    "curve_intervals",
    "curves_interval",
    "delete_one",
    "delong_error",
    "interval_ends",
    "logit_interval",
    "mean_interval",
    "normal_interval",
    "quantiles",
    "standard_error",
    "weighted_variance",
]

_Array = NDArray[Any]
_NOTHING = ConfidenceInterval(math.nan, math.nan)


# --- from a distribution to an interval ---------------------------------------------------------------------


def quantiles(distribution: _Array, estimate: float, level: float, acceleration: float | None) -> ConfidenceInterval:
    """The percentile interval or, with an acceleration, the BCa interval (Efron 1987). NaN are left out."""
    unknown = np.isnan(distribution)
    known = distribution[~unknown] if unknown.any() else distribution
    if known.shape[0] == 0:
        return _NOTHING
    tails = [(1 - level) / 2, (1 + level) / 2]
    if acceleration is not None:
        normal = NormalDist()
        below = (np.mean(known < estimate) + np.mean(known <= estimate)) / 2
        if not 0 < below < 1:
            # All resamples lie on one side of the estimate: the bias is infinite, and only the nearest value is left.
            edge = float(known.min() if below == 0 else known.max())
            return ConfidenceInterval(edge, edge)
        shift = normal.inv_cdf(float(below))
        z = [shift + normal.inv_cdf(tail) for tail in tails]
        tails = [normal.cdf(shift + one / (1 - acceleration * one)) for one in z]
    return ConfidenceInterval(*(_quantile(known, tail) for tail in tails))


def _quantile(values: _Array, share: float) -> float:
    """np.quantile, to the last bit, in half the time: it selects at one place at a time."""
    place: float = share * (values.shape[0] - 1)
    at = math.floor(place)
    parted = np.partition(values, at)
    low = float(parted[at])
    high = float(parted[at + 1 :].min(initial=math.inf)) if place > at else low
    between = place - at
    step = high - low
    return high - step * (1 - between) if between >= 0.5 else low + step * between


def standard_error(distribution: _Array) -> float:
    known = distribution[~np.isnan(distribution)]
    return float(np.std(known, ddof=1)) if known.shape[0] > 1 else math.nan


def acceleration_of(parts: list[tuple[_Array, _Array]]) -> float:
    """The acceleration. `parts`: for each stratum, the delete-one values and the number of items of each value."""
    third = second = 0.0
    for values, weight in parts:
        count = float(weight.sum())
        if count >= 2:
            influence = (count - 1) * (np.average(values, weights=weight) - values)
            third += float(np.sum(weight * influence**3)) / count**3
            second += float(np.sum(weight * influence**2)) / count**2
    return third / (6 * second**1.5) if second > 0 else 0.0


_DELETED_ROWS = 20_000_000  # the greatest number of rows in all delete-one tables


def delete_one(curve: HitCurve, measure: Measure, ties: str) -> list[tuple[_Array, _Array]]:
    """(values of the measure without one item, the number of such items), for relevant items and for other items.

    Items of a kind have the same value. If there are too many rows, the values of evenly spaced rows are computed, and
    the values between them are interpolated.
    """
    rows, row, others = len(curve), np.arange(len(curve)), item_kinds(curve)
    points = np.linspace(0, rows - 1, max(2, min(rows, _DELETED_ROWS // (3 * rows))))
    points = np.unique(points.round().astype(np.int64))
    above, tied, hits = (np.asarray(column) for column in (curve.above, curve.tied, curve.hits))

    def read(offsets: _Array, *columns: Any) -> _Array:
        return np.asarray(measure(drawn_curves(curve.lower_is_better, offsets, *columns), ties), dtype=np.float64)

    def spread(at: _Array, there: _Array, gap: int = 0, hit: int = 0) -> _Array:
        """The values without an item before a row (gap) or in it, relevant (hit) or not; `there`: rows with such."""
        if not there[at].all():
            places = np.flatnonzero(there)
            few = np.linspace(0, max(0, places.shape[0] - 1), min(places.shape[0], at.shape[0]))
            at = places[np.unique(few.round().astype(np.int64))]
        if not at.shape[0]:
            return np.zeros(there.shape[0])
        found = []
        for some in np.array_split(at, max(1, min(at.shape[0], at.shape[0] * rows // 1_000_000))):
            after, inside = row > some[:, None] - gap, (row == some[:, None]) * (1 - gap)
            columns = above - after, tied - inside, hits - inside * hit
            keep = columns[2] > 0
            offsets = np.concatenate([[0], keep.sum(axis=1).cumsum()])
            totals = curve.num_items - 1, curve.num_hits - hit, curve.num_relevant - hit
            found.append(read(offsets, *(column[keep] for column in columns), *totals))
        return np.asarray(np.interp(np.arange(there.shape[0]), at, np.concatenate(found)))

    missing = curve.num_relevant - curve.num_hits
    hit_values, hit_weight = spread(points, hits > 0, hit=1), hits
    if missing:
        totals = curve.num_items, curve.num_hits, curve.num_relevant - 1
        hit_values = np.append(hit_values, read(np.array([0, rows]), above, tied, hits, *totals))
        hit_weight = np.append(hit_weight, missing)
    other_values = np.empty(2 * rows + 1)
    other_values[0::2] = spread(np.append(points, rows), np.append(above > np.cumsum(hits) - hits, True), gap=1)
    other_values[1::2] = spread(points, others[1::2] > 0)
    known = others > 0
    return [(hit_values, hit_weight), (other_values[known], others[known])]


# --- intervals ----------------------------------------------------------------------------------------------


def normal_interval(value: float, error: float, level: float) -> ConfidenceInterval:
    half = NormalDist().inv_cdf((1 + level) / 2) * error
    return ConfidenceInterval(value - half, value + half)


def logit_interval(value: float, error: float, level: float) -> ConfidenceInterval:
    """The normal interval on the scale of log(v / (1 - v)), with the standard error by the delta method."""
    if math.isnan(value) or not 0 < value < 1:
        return ConfidenceInterval(value, value)
    half = NormalDist().inv_cdf((1 + level) / 2) * error / (value * (1 - value))
    middle = math.log(value / (1 - value))
    return ConfidenceInterval(*(1 / (1 + math.exp(-x)) if x > -700 else 0.0 for x in (middle - half, middle + half)))


def auc_components(curve: HitCurve) -> tuple[_Array, _Array, _Array]:
    """DeLong's components of the relevant items of each row and of each kind of other items; the sizes of the kinds."""
    others = item_kinds(curve)
    passed = np.cumsum(others)
    seen = np.concatenate([[0], np.cumsum(curve.hits)])
    negatives, relevant = int(passed[-1]), int(seen[-1])
    hit = (negatives - passed[1::2] + 0.5 * others[1::2]) / negatives if negatives else np.full(len(curve), math.nan)
    other = np.empty(others.shape[0])
    other[0::2], other[1::2] = seen, seen[:-1] + 0.5 * curve.hits
    return hit, other / relevant if relevant else other * math.nan, others


def weighted_variance(values: _Array, weight: _Array) -> float:
    """The variance (divisor n - 1) of values that occur `weight` times; NaN below two values."""
    count = int(weight.sum())
    if count < 2:
        return math.nan
    # The same type for both: numpy casts mixed types through a buffer, and ends the process without memory for it.
    weight = weight.astype(np.float64)
    centred = values - np.average(values, weights=weight)
    return float(np.sum(weight * centred**2)) / (count - 1)


def delong_error(curve: HitCurve) -> float:
    """The standard error of ROC AUC (DeLong, DeLong & Clarke-Pearson 1988), computed from the table."""
    hit, other, weight = auc_components(curve)
    variance = weighted_variance(hit, curve.hits) / max(1, curve.num_relevant)
    return math.sqrt(variance + weighted_variance(other, weight) / max(1, int(weight.sum())))


def closed_form(curve: HitCurve | GainCurve | SubtopicCurve, measure: Measure, ties: str, method: str,
                level: float) -> Interval:  # fmt: skip
    """The interval in closed form: logit for AP, logit or DeLong for ROC AUC. For the bootstrap, only the estimate."""
    value = float(measure(curve, ties))
    name = measure.record.name
    if method == "bootstrap":
        return Interval(_NOTHING, np.empty(0), math.nan, value, measure.name, method, level)
    if isinstance(curve, SubtopicCurve):
        curve = curve.highest_levels()
    if isinstance(curve, GainCurve):
        curve, measure = curve.at_level(measure.rel or 1), measure._replace(rel=None)
    if name == "AP" and method == "logit" and not measure.keywords:
        relevant = curve.num_relevant
        error = math.sqrt(value * (1 - value) / relevant) if relevant else math.nan
        between = logit_interval(value, error, level)
    elif name == "ROCAUC" and not measure.keywords and method in ("delong", "logit"):
        if measure.reading(ties) not in ("expected", "threshold"):
            raise ValueError(f"method={method!r} needs ties='expected' or 'threshold', got "
                             f"ties={measure.reading(ties)!r}")
        error = math.nan if math.isnan(value) else delong_error(curve)
        between = (logit_interval if method == "logit" else normal_interval)(value, error, level)
        between = ConfidenceInterval(*np.clip(between, 0.0, 1.0).tolist())
    else:
        raise ValueError(
            f"method={method!r} is not available for {measure.name}: 'logit' is for AP and ROCAUC, "
            "'delong' for ROCAUC, 'bootstrap' for every measure"
        )
    return Interval(between, None, error, value, measure.name, method, level)


def _usual_method(measure: Measure, ties: str) -> str:
    """The default method for the interval of a measure of one ranking."""
    plain = "" if measure.keywords else measure.record.name
    tied = (measure.ties or ties) in ("expected", "threshold")
    return "logit" if plain == "AP" else "delong" if plain == "ROCAUC" and tied else "bootstrap"


def curve_intervals(curve: HitCurve | GainCurve | SubtopicCurve, measures: Sequence[str | Measure], *,
                    method: str | None = None, confidence_level: float = 0.95, n_resamples: int = 9999,
                    stratified: bool = False, bootstrap_method: str = "percentile", ties: str = "expected",
                    rng: Any = None, workers: int = 1,
                    told: Callable[[int], None] = lambda drawn: None) -> list[Interval]:  # fmt: skip
    """The work behind `interval` of one curve, for several measures. All bootstrap intervals use the same resamples.

    `told` is called in any thread, with the number of resamples that were measured.
    """
    check_plain(curve, "interval")
    check_flag(stratified, "stratified")
    asked = [as_measure(one) for one in measures]
    level, count = check_level(confidence_level), check_count(n_resamples, "n_resamples")
    workers = check_workers(workers)
    check_choice(bootstrap_method, "bootstrap_method", ("percentile", "BCa"))
    if method is not None:
        check_choice(method, "method", ("logit", "delong", "bootstrap"))
    found = [closed_form(curve, known, ties, method or _usual_method(known, ties), level) for known in asked]
    drawn = [at for at, one in enumerate(found) if one.method == "bootstrap" and not math.isnan(one.estimate)]
    if bootstrap_method == "BCa" and not isinstance(curve, HitCurve):
        raise ValueError("bootstrap_method='BCa' is not available for items with levels: use 'percentile'")
    if drawn and bootstrap_method == "BCa" and curve.num_relevant < 2:
        few = f"only {curve.num_relevant} is relevant"
        raise ValueError(f"bootstrap_method='BCa' needs two relevant items or more, but {few}: use 'percentile'")

    def read(block: HitCurves | GainCurves | SubtopicCurves) -> list[_Array]:
        values = [np.asarray(asked[at](block, ties), dtype=np.float64) for at in drawn]
        told(len(block))
        return values

    blocks = curve_blocks(curve, count, rng, workers, read, stratified) if drawn else []
    for at, parts in zip(drawn, zip(*blocks, strict=True), strict=True):
        distribution, acceleration = np.concatenate(parts), None
        if bootstrap_method == "BCa" and isinstance(curve, HitCurve):
            less = delete_one(curve, asked[at], ties) if len(curve) else []
            if less and not stratified:
                less = [(np.concatenate([part[0] for part in less]), np.concatenate([part[1] for part in less]))]
            acceleration = acceleration_of(less)
        found[at] = found[at]._replace(
            confidence_interval=quantiles(distribution, found[at].estimate, level, acceleration),
            bootstrap_distribution=distribution,
            standard_error=standard_error(distribution),
        )
    return found


def curves_interval(curves: HitCurves | GainCurves | SubtopicCurves, measure: str | Measure = "AP", *,
                    empty: str = "skip", ties: str = "expected", **how: Any) -> Interval:  # fmt: skip
    """The work behind `interval` of many curves. `how`: see `mean_interval`."""
    known = as_measure(measure)
    check_mean(known.name)
    values = np.asarray(known(curves, ties), dtype=np.float64)
    values, _ = counted(values, empty, curves.qid, known.empty(curves), known.name)
    return mean_interval(values, known.name, **how)


def mean_interval(values: _Array, name: str, *, method: str | None = None, confidence_level: float = 0.95,
                  n_resamples: int = 9999, bootstrap_method: str = "percentile",
                  rng: Any = None) -> Interval:  # fmt: skip
    """The interval of the mean of the values of queries, which are a random sample of all queries."""
    level, count = check_level(confidence_level), check_count(n_resamples, "n_resamples")
    check_choice(bootstrap_method, "bootstrap_method", ("percentile", "BCa"))
    method = check_choice(method or "bootstrap", "method", ("bootstrap", "t"))
    size = values.shape[0]
    mean = math.fsum(values) / size if size else math.nan
    between, distribution, error, acceleration = _NOTHING, None, math.nan, None
    if size and method == "bootstrap":
        distribution = resampled_means(values[:, None], count, rng)[:, 0]
        if bootstrap_method == "BCa":
            acceleration = acceleration_of([((size * mean - values) / max(1, size - 1), np.ones(size))])
        between, error = quantiles(distribution, mean, level, acceleration), standard_error(distribution)
    elif size > 1:
        error = float(np.std(values, ddof=1)) / math.sqrt(size)
        half = float(needed("scipy.special", "Student's t").stdtrit(size - 1, (1 + level) / 2)) * error
        between = ConfidenceInterval(mean - half, mean + half)
    return Interval(between, distribution, error, mean, name, method, level)


def interval_ends(curves: HitCurve | HitCurves | GainCurve | GainCurves, measures: Sequence[Measure], *, ties: str,
                  workers: int, drawn: bool = True, told: Callable[[int], None] = lambda drawn: None,
                  **how: Any) -> dict[Measure, tuple[float, float, str]]:  # fmt: skip
    """(low, high, method) of `interval`, by the measure. A measure that is not defined for `ties` has no interval.

    A constant of the data, such as a number of items, has no interval either. For many rankings the interval is that of
    the mean over the rankings with a relevant item. `drawn`: False leaves out bootstrap intervals. `told`: as for
    `curve_intervals`, for one ranking only.
    """
    of_gains = isinstance(curves, GainCurve | GainCurves)
    varying = [one for one in measures
               if (one.ties or ties) in one.record.ties or (of_gains and "gains" in one.record.of)]
    if not drawn:
        single = isinstance(curves, HitCurve | GainCurve)
        varying = [one for one in varying if single and _usual_method(one, ties) != "bootstrap"]
    if isinstance(curves, HitCurve | GainCurve):
        made = curve_intervals(curves, varying, ties=ties, workers=workers, told=told, **how)
    else:
        made = [curves_interval(curves, one, ties=ties, **how) for one in varying]
    return {of: (*one.confidence_interval, one.method) for of, one in zip(varying, made, strict=True)}
