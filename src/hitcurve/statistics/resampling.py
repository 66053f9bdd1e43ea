"""Resamples of the items of a ranking, and of values.

A resample of the items of a ranking is itself a table (`hitcurve._kernel.draw`): every measure with a name is computed
from it as from any other curve.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hitcurve._checks import check_count, check_flag, checked_seed
from hitcurve._curve import HitCurve, HitCurves, _curves_of
from hitcurve._workers import check_workers, in_threads
from hitcurve.measures import Measure, parse
from hitcurve.results import NO_WEIGHTS

__all__ = [
    "BLOCK_ROWS",
    "Kinds",
    "as_measure",
    "check_plain",
    "curve_blocks",
    "curves_of",
    "entropy",
    "in_chunks",
    "item_blocks",
    "item_kinds",
    "resample",
    "resampled_means",
]

_Array = NDArray[Any]
BLOCK_ROWS = 1 << 16  # rows of the tables that are drawn together: they stay in the cache until they are read
_BLOCK_TABLES = 1 << 10


# --- arguments ----------------------------------------------------------------------------------------------


def as_measure(measure: str | Measure) -> Measure:
    return measure if isinstance(measure, Measure) else parse(measure)


def check_plain(curve: HitCurve | HitCurves, what: str) -> None:
    if curve.weighted:
        raise ValueError(f"{what} {NO_WEIGHTS}")


# --- streams of random numbers ------------------------------------------------------------------------------


def entropy(rng: Any) -> list[int]:
    """Seed words for streams of one's own; a Generator moves on by them."""
    return [int(word) for word in np.random.default_rng(checked_seed(rng)).integers(0, 1 << 32, 8, np.uint64)]


def in_chunks(read: Callable[[np.random.Generator, int], Any], count: int, size: int, rng: Any,
              workers: int = 1) -> list[Any]:  # fmt: skip
    """read(a generator of its own, how many draws) for each `size` of `count` draws, whoever makes them, and when."""
    words = entropy(rng)

    def chunk(number: int) -> Any:
        stream = np.random.SFC64(np.random.SeedSequence(words, spawn_key=(number,)))
        return read(np.random.Generator(stream), min(size, count - number * size))

    return list(in_threads(chunk, range(-(-count // size)), workers))


# --- resamples of items -------------------------------------------------------------------------------------


def curves_of(lower: bool, offsets: _Array, *columns: Any) -> HitCurves:
    """Tables one after another: above, tied, hits by the row; items, retrieved and all relevant ones by the table."""
    rankings = len(offsets) - 1
    wide = [column if np.ndim(column) else np.full(rankings, column, np.int64) for column in columns]
    return _curves_of(None, lower, False, offsets, None, *wide)


def item_kinds(curve: HitCurve) -> _Array:
    """Items that are not relevant: before row g at 2 g, in it at 2 g + 1, after the last row at the end."""
    others = np.empty(2 * len(curve) + 1, np.int64)
    ends = curve.above + curve.tied
    others[0:-1:2] = curve.above
    others[-1] = curve.num_items
    others[2::2] -= ends
    others[1::2] = curve.tied - curve.hits
    return others


class Kinds(NamedTuple):
    """Items that a resample does not tell apart, counted: their places in each ranking, as Resampler takes them."""

    hit_weight: _Array
    hit_place: _Array
    other_weight: _Array
    other_place: _Array


def item_blocks(curves: list[HitCurve], kinds: Kinds, count: int, rng: Any, workers: int,
                measure: Callable[[list[HitCurves]], Any], stratified: bool) -> list[Any]:  # fmt: skip
    """measure(resamples of each ranking) for all blocks of `count` resamples."""
    from hitcurve._kernel.draw import Resampler

    rows = [len(curve) for curve in curves]
    resampler = Resampler(*kinds, rows, stratified)

    def block(draws: np.random.Generator, size: int) -> Any:
        tables = resampler.draw(draws.bit_generator, size)
        return measure([curves_of(curve.lower_is_better, *table) for curve, table in zip(curves, tables, strict=True)])

    return in_chunks(block, count, min(_BLOCK_TABLES, max(1, BLOCK_ROWS // max(1, sum(rows)))), rng, workers)


def curve_blocks(curve: HitCurve, count: int, rng: Any, workers: int, measure: Callable[[HitCurves], Any],
                 stratified: bool = False) -> list[Any]:  # fmt: skip
    """measure(resamples of one ranking) for all blocks: every bootstrap of one ranking is drawn by this."""
    others = item_kinds(curve)
    place = np.flatnonzero(others)
    row, hits = np.arange(len(curve)), curve.hits
    missing = curve.num_relevant - curve.num_hits
    if missing:
        row, hits = np.append(row, -1), np.append(hits, missing)
    kinds = Kinds(hits, row[:, None], others[place], place[:, None])
    return item_blocks([curve], kinds, count, rng, workers, lambda block: measure(block[0]), stratified)


def resample(curve: HitCurve, n_resamples: int = 1, *, stratified: bool = False, rng: Any = None,
             workers: int = 1) -> HitCurves:  # fmt: skip
    """The work behind `HitCurve.resample`."""
    check_plain(curve, "resample")
    check_flag(stratified, "stratified")
    count, threads = check_count(n_resamples, "n_resamples"), check_workers(workers)
    blocks = curve_blocks(curve, count, rng, threads, lambda block: block, stratified)
    rows = np.concatenate([[0], *(np.diff(block.row_offsets) for block in blocks)]).cumsum()
    names = ("above", "tied", "hits", "num_items", "num_hits", "num_relevant")
    columns = [np.concatenate([getattr(block, name) for block in blocks]) for name in names]
    return curves_of(curve.lower_is_better, rows, *columns)


# --- resamples of values ------------------------------------------------------------------------------------


def resampled_means(values: _Array, n_resamples: int, rng: Any) -> _Array:
    """Means of `n_resamples` resamples of the rows of `values`, each column as if it were drawn alone."""
    count = values.shape[0]
    if count < 2:  # one value does not say how values vary
        return np.full((n_resamples, values.shape[1]), math.nan)

    def means(draws: np.random.Generator, size: int) -> _Array:
        rows = draws.integers(0, count, (size, count))
        return np.stack([column[rows].mean(axis=1) for column in values.T], axis=1)

    return np.concatenate(in_chunks(means, n_resamples, max(1, (1 << 20) // count), rng))
