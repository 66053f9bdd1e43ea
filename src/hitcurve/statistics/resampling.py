"""Resamples of the items of a ranking, and of values.

A resample of the items of a ranking is a table again (`hitcurve._kernel.draw`). Every measure with a name is computed
from this table as from any other curve.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hitcurve._base.checks import check_count, check_flag, checked_seed
from hitcurve._base.pickle import gain_curves
from hitcurve._base.workers import check_workers, in_threads
from hitcurve.curves.gain import GainCurve, GainCurves, gain_curves_of
from hitcurve.curves.hit import HitCurve, HitCurves, curves_of
from hitcurve.curves.sorted import group_starts
from hitcurve.curves.subtopics import SubtopicCurve, SubtopicCurves
from hitcurve.results import NO_WEIGHTS

__all__ = [
    "BLOCK_ROWS",
    "Kinds",
    "check_plain",
    "curve_blocks",
    "drawn_curves",
    "entropy",
    "in_chunks",
    "item_blocks",
    "item_kinds",
    "resample",
    "resampled_means",
]

_Array = NDArray[Any]
_Curve: TypeAlias = HitCurve | GainCurve | SubtopicCurve
BLOCK_ROWS = 1 << 16  # rows of the tables that are drawn together, so that the tables stay in the cache
_BLOCK_TABLES = 1 << 10


# --- arguments ----------------------------------------------------------------------------------------------


def check_plain(curve: _Curve, what: str) -> None:
    if isinstance(curve, HitCurve) and curve.weighted:
        raise ValueError(f"{what} {NO_WEIGHTS}")


# --- streams of random numbers ------------------------------------------------------------------------------


def entropy(rng: Any) -> list[int]:
    """Seed words for new streams of random numbers. Drawing them advances a Generator."""
    return [int(word) for word in np.random.default_rng(checked_seed(rng)).integers(0, 1 << 32, 8, np.uint64)]


def in_chunks(read: Callable[[np.random.Generator, int], Any], count: int, size: int, rng: Any,
              workers: int = 1) -> list[Any]:  # fmt: skip
    """The results of read(generator, number of draws) for `count` draws in chunks of `size`.

    Each chunk has a generator of its own, so that the results do not depend on the threads.
    """
    words = entropy(rng)

    def chunk(number: int) -> Any:
        stream = np.random.SFC64(np.random.SeedSequence(words, spawn_key=(number,)))
        return read(np.random.Generator(stream), min(size, count - number * size))

    return list(in_threads(chunk, range(-(-count // size)), workers))


# --- resamples of items -------------------------------------------------------------------------------------


def drawn_curves(lower: bool, offsets: _Array, *columns: Any) -> HitCurves:
    """The curves of tables one after another.

    columns: above, tied and hits, by row; the numbers of items, retrieved relevant items and relevant items, by table.
    """
    rankings = len(offsets) - 1
    wide = [column if np.ndim(column) else np.full(rankings, column, np.int64) for column in columns]
    return curves_of(None, lower, False, offsets, None, *wide)


def item_kinds(curve: HitCurve | GainCurve) -> _Array:
    """The numbers of items that are not relevant: before row g at 2 g, in it at 2 g + 1, after the last row at -1."""
    others = np.empty(2 * len(curve) + 1, np.int64)
    ends = curve.above + curve.tied
    others[0:-1:2] = curve.above
    others[-1] = curve.num_items
    others[2::2] -= ends
    others[1::2] = curve.tied - curve.hits
    return others


class Kinds(NamedTuple):
    """Kinds of items: items of a kind have the same place in each ranking. Resampler takes places and numbers."""

    hit_weight: _Array
    hit_place: _Array
    other_weight: _Array
    other_place: _Array


def table_of(curve: _Curve) -> HitCurve | GainCurve:
    """The curve itself. For items with subtopics, the gain curve whose levels are codes."""
    return curve._table if isinstance(curve, SubtopicCurve) else curve


def item_blocks(curves: Sequence[_Curve], kinds: Kinds, count: int, rng: Any, workers: int,
                measure: Callable[[list[Any]], Any], stratified: bool, level: _Array | None = None,
                by_level: bool = False) -> list[Any]:  # fmt: skip
    """The results of measure(resamples of each ranking) for all blocks of `count` resamples.

    level: for gain curves, the level of each kind of relevant items; for items with subtopics, their code. by_level:
    the items of each level are drawn apart.
    """
    from hitcurve._kernel.draw import Resampler

    rows = [len(curve) for curve in curves]
    resampler = Resampler(*kinds, rows, stratified)
    size_of = sum(rows)
    made: Callable[..., list[Any]] = _hit_curves
    if level is not None:
        found = int(np.count_nonzero(kinds.hit_place >= 0))
        size_of, made = max(size_of, found, kinds.hit_place.size - found), _gain_curves(kinds.hit_place, level)

    def block(draws: np.random.Generator, size: int) -> Any:
        drawn = None if level is None else np.empty((size, len(level)), np.int64)
        if drawn is not None and level is not None and by_level:
            for one in np.unique(level):
                weight = kinds.hit_weight[level == one]
                drawn[:, level == one] = draws.multinomial(weight.sum(), weight / weight.sum(), size)
        tables = resampler.draw(draws.bit_generator, size, drawn, drawn is not None and by_level)
        resamples = made([curve.lower_is_better for curve in curves], tables, drawn)
        return measure([curve._resampled(one) if isinstance(curve, SubtopicCurve) else one
                        for curve, one in zip(curves, resamples, strict=True)])

    return in_chunks(block, count, min(_BLOCK_TABLES, max(1, BLOCK_ROWS // max(1, size_of))), rng, workers)


def _hit_curves(lower: list[bool], tables: list[Any], _: None) -> list[HitCurves]:
    return [drawn_curves(one, *table) for one, table in zip(lower, tables, strict=True)]


def _gain_curves(place: _Array, level: _Array) -> Callable[..., list[Any]]:
    """The function that makes gain curves from tables and from how often each kind of relevant items was drawn."""
    values, code = np.unique(np.append(0.0, level), return_inverse=True)
    code = code[1:].astype(np.uint32)

    def pairs(rows: _Array, kinds: _Array) -> tuple[_Array, ...]:
        """(kinds, sorted; where each pair of a row and a level begins; the row and the code of each pair)."""
        kinds = kinds[np.lexsort((code[kinds], rows[kinds]))]
        starts = group_starts(rows[kinds], code[kinds])
        return kinds, starts, rows[kinds][starts], code[kinds][starts]

    both = [[pairs(rows, np.flatnonzero(some)) for some in (rows >= 0, rows < 0)] for rows in place.T]

    def counted(drawn: _Array, kinds: _Array, starts: _Array, rows: _Array, codes: _Array) -> tuple[_Array, ...]:
        """(table, row, code, count) of the pairs that were drawn."""
        counts = drawn[:, kinds]
        if len(starts) < len(kinds):  # some kinds differ only in other rankings
            counts = np.add.reduceat(counts, starts, axis=1)
        table, pair = np.nonzero(counts)
        return table, rows[pair], codes[pair], counts[table, pair]

    def made(lower: list[bool], tables: list[Any], drawn: _Array) -> list[GainCurves]:
        curves = []
        for one, columns, (found, never) in zip(lower, tables, both, strict=True):
            table, row, *levels = counted(drawn, *found)
            of_table, _, *missing = counted(drawn, *never)
            starts = np.append(group_starts(table, row), len(row))
            bounds = np.searchsorted(of_table, np.arange(len(drawn) + 1))
            curves.append(gain_curves_of(one, columns, values, (starts, *levels), (bounds, *missing)))
        return curves

    return made


def curve_blocks(curve: _Curve, count: int, rng: Any, workers: int, measure: Callable[[Any], Any],
                 stratified: bool = False, by_level: bool = False) -> list[Any]:  # fmt: skip
    """The results of measure(resamples) for all blocks of resamples of one ranking. Every bootstrap draws by this."""
    table, level = table_of(curve), None
    others = item_kinds(table)
    place = np.flatnonzero(others)
    row, hits = np.arange(len(table)), table.hits
    missing = np.array([table.num_relevant - table.num_hits])
    if isinstance(table, GainCurve):
        row, hits = np.repeat(row, np.diff(table.level_offsets)), table.level_count
        never, missing = np.unique(table.unretrieved, return_counts=True)
        level = np.append(table.level, never)
    missing = missing[missing > 0]
    row, hits = np.append(row, np.full(missing.shape[0], -1)), np.append(hits, missing)
    kinds = Kinds(hits, row[:, None], others[place], place[:, None])
    apart = stratified or by_level
    return item_blocks([curve], kinds, count, rng, workers, lambda block: measure(block[0]), apart, level, by_level)


def resample(curve: _Curve, n_resamples: int = 1, *, stratified: bool = False, rng: Any = None,
             workers: int = 1) -> HitCurves | GainCurves | SubtopicCurves:  # fmt: skip
    """The work behind `resample` of one curve."""
    if isinstance(curve, SubtopicCurve):
        drawn: Any = resample(curve._table, n_resamples, stratified=stratified, rng=rng, workers=workers)
        return curve._resampled(drawn)
    check_plain(curve, "resample")
    check_flag(stratified, "stratified")
    count, threads = check_count(n_resamples, "n_resamples"), check_workers(workers)
    blocks = curve_blocks(curve, count, rng, threads, lambda block: block, stratified)

    def joined(*names: str) -> list[_Array]:
        return [np.concatenate([getattr(block, name) for block in blocks]) for name in names]

    def offsets(name: str) -> _Array:
        return np.concatenate([[0], *(np.diff(getattr(block, name)) for block in blocks)]).cumsum()

    columns = joined("above", "tied", "hits", "num_items", "num_hits", "num_relevant")
    curves = drawn_curves(curve.lower_is_better, offsets("row_offsets"), *columns)
    if isinstance(curve, HitCurve):
        return curves
    never = [levels for block in blocks for levels in block.unretrieved]
    made: GainCurves = gain_curves(curves, offsets("level_offsets"), *joined("level", "level_count"), never)
    return made


# --- resamples of values ------------------------------------------------------------------------------------


def resampled_means(values: _Array, n_resamples: int, rng: Any) -> _Array:
    """The means of `n_resamples` resamples of the rows of `values`. Other columns do not change a column's means."""
    count = values.shape[0]
    if count < 2:  # a single value does not show how values vary
        return np.full((n_resamples, values.shape[1]), math.nan)

    def means(draws: np.random.Generator, size: int) -> _Array:
        rows = draws.integers(0, count, (size, count))
        return np.stack([column[rows].mean(axis=1) for column in values.T], axis=1)

    return np.concatenate(in_chunks(means, n_resamples, max(1, (1 << 20) // count), rng))
