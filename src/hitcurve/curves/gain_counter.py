"""GainCounter: the table of a ranking with levels of relevance, from the added counts of blocks of items."""
from __future__ import annotations

from typing import Any

import numpy as np

from hitcurve._base.checks import as_real
from hitcurve.curves.counter import Counter, checked_counts
from hitcurve.curves.gain import GainCurve
from hitcurve.curves.hit import HitCurve
from hitcurve.curves.levels import block_levels, missing_levels
from hitcurve.curves.sorted import group_starts, ranks_of

_WAITING = 1 << 16  # items, at least, that are collected before they are added up


class LevelCounts:
    """The number of items for each pair of key and level that occurs."""

    def __init__(self, key: Any = (), level: Any = (), count: Any = ()) -> None:
        columns = (key, np.int64), (level, np.float64), (count, np.int64)
        self._pairs: list[list[Any]] = [[np.asarray(column, dtype)] for column, dtype in columns]
        self._known = 0
        self._waiting: int = self._pairs[0][0].shape[0]

    def __len__(self) -> int:
        return self._known + self._waiting

    def add(self, key: Any, level: Any, count: Any = None) -> None:
        if not key.shape[0]:
            return
        ones = np.ones(key.shape[0], np.int64) if count is None else count
        for column, array in zip(self._pairs, (key, level, ones), strict=True):
            column.append(array)
        self._waiting += key.shape[0]
        if self._waiting > max(_WAITING, self._known):
            self.pairs()

    def pairs(self) -> tuple[Any, Any, Any]:
        """(keys, levels, numbers of items), sorted by key and level."""
        key, level, count = (np.concatenate(column) for column in self._pairs)
        if self._waiting:
            order = np.lexsort((level, key))
            key, level = key[order], level[order]
            starts = group_starts(key, level)
            key, level, count = key[starts], level[starts], np.add.reduceat(count[order], starts)
            self._pairs = [[column] for column in (key, level, count)]
            self._known, self._waiting = starts.shape[0], 0
        return key, level, count


def with_levels(curve: HitCurve, counts: LevelCounts, unretrieved: Any = None) -> GainCurve:
    """The gain curve of the items of a hit curve. The keys of `counts` are in the order of the rows."""
    key, level, count = counts.pairs()
    starts = group_starts(key) if key.shape[0] else key
    return GainCurve.from_table(curve.score, curve.above, curve.tied, np.append(starts, key.shape[0]), level, count,
                                num_items=curve.num_items, unretrieved=unretrieved,
                                lower_is_better=curve.lower_is_better)


def scored_levels(curve: HitCurve, score: Any, level: Any, nan_policy: str, unretrieved: Any = None) -> GainCurve:
    """The gain curve of the items of a hit curve, from the scores and levels of the relevant items."""
    if nan_policy == "omit" and score.dtype.kind == "f":
        present = score == score
        score, level = score[present], level[present]
    counts = LevelCounts(ranks_of(score, curve.lower_is_better), level, np.ones(level.shape[0], np.int64))
    return with_levels(curve, counts, unretrieved)


class GainCounter(Counter):
    """Count items with levels of relevance block by block. The blocks may come in any order, and from many machines.

    GainCounter works as HitCounter does, and also counts the levels of the items at each threshold. If you give the
    scores of all items above level 0 as `thresholds`, the counter is exact. If you give bin `edges`, each bin is a tie
    group, so ``ties="worst"`` and ``ties="best"`` are bounds.

    Levels may be whole numbers or real gains. The counter holds an entry for each pair of score and level that occurs:
    at most as many as there are items above level 0.

    Parameters
    ----------
    thresholds : array_like, optional
        The scores of all items above level 0, in any order. A score may occur more than once, and NaN may be among
        them.
    levels : array_like, optional
        The levels above 0 that may occur. An item of any other level above 0 is then an error. None allows all levels.
    edges : array_like, optional
        Increasing bin edges, in place of `thresholds`, as for HitCounter.
    lower_is_better : bool
        If True, the lowest score ranks first.
    nan_policy : {"raise", "worst", "omit"}
        As for HitCurve.

    Attributes
    ----------
    thresholds, edges, levels : ndarray or None
        The distinct thresholds, edges or levels, ascending. The arrays are read-only.
    num_items, num_hits : int
        The numbers of items and of items above level 0 that were counted so far.
    lower_is_better, nan_policy
        The arguments of these names.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid. The counter is then unchanged.
    RuntimeError
        If another thread is running ``update``. Give each thread a counter of its own, and merge the counters.

    Examples
    --------
    >>> import hitcurve as hc
    >>> counter = hc.GainCounter([0.9, 0.3])
    >>> counter.update([0, 3], [0.3, 0.9])
    >>> counter.update([1, 0], [0.3, 0.1])
    >>> counter.curve() == hc.GainCurve([0, 3, 1, 0], [0.3, 0.9, 0.3, 0.1])
    True
    """

    __module__ = "hitcurve"  # the module that pickles name

    def __init__(self, thresholds: Any = None, levels: Any = None, *, edges: Any = None, lower_is_better: bool = False,
                 nan_policy: str = "raise") -> None:
        super().__init__(thresholds, edges, lower_is_better, nan_policy)
        self._levels = None if levels is None else np.unique(missing_levels(levels, "levels"))
        if self._levels is not None:
            self._levels.flags.writeable = False
        self._counts = LevelCounts()

    @property
    def levels(self) -> Any:
        return self._levels

    def _hits_at(self) -> Any:
        place, _, count = self._counts.pairs()
        hits = np.zeros(self._rows + 1, np.int64)
        np.add.at(hits, place, count)
        return hits

    def _same_hits(self, other: GainCounter) -> bool:
        pairs = zip(self._counts.pairs(), other._counts.pairs(), strict=True)
        return all(np.array_equal(mine, theirs) for mine, theirs in pairs)

    def update(self, y_true: Any, y_score: Any) -> None:
        """Count a block of items.

        Parameters
        ----------
        y_true : array_like of shape (n,)
            The level of relevance of each item, or its gain: whole or real numbers, at least 0.
        y_score : array_like of shape (n,)
            The scores, of a type that compares exactly with the type of the thresholds.

        Raises
        ------
        ValueError
            If the score of an item above level 0 is not among the thresholds, if a level is not among `levels`, or if
            the levels or scores are invalid.

        Examples
        --------
        >>> import hitcurve as hc
        >>> counter = hc.GainCounter([0.9, 0.3], [1, 2, 3])
        >>> counter.update([0, 3, 0], [0.3, 0.9, 0.1])
        >>> counter
        GainCounter(2 thresholds; num_items=3, num_hits=1)
        """
        codes, values = block_levels(y_true)
        level = values[codes[codes != 0]]
        if self._levels is not None and not (known := np.isin(level, self._levels)).all():
            at = np.flatnonzero(codes)[int(np.argmin(known))]
            raise ValueError(f"y_true[{at}] is {level[np.argmin(known)]:g}, but levels holds "
                             f"{', '.join(f'{one:g}' for one in self._levels[:10])}")
        self._counts.add(*self._count(codes != 0, y_score, level))

    def _add_hits(self, other: GainCounter) -> None:
        self._counts.add(*other._counts.pairs())

    def _difference(self, other: GainCounter) -> str:
        mine, theirs = ("no levels" if one._levels is None else f"levels {one._levels.tolist()}"
                        for one in (self, other))
        return super()._difference(other) or (f"other has {theirs}, this counter {mine}" if mine != theirs else "")

    def curve(self, unretrieved: Any = None) -> GainCurve:
        """The gain curve of the items counted so far.

        Parameters
        ----------
        unretrieved : array_like, optional
            The levels of relevant items that were never retrieved.

        Returns
        -------
        GainCurve
            With `edges`, each row is a bin, and its score is the bin's lower edge (minus infinity for the lowest bin).

        Examples
        --------
        >>> import hitcurve as hc
        >>> counter = hc.GainCounter(edges=[0.0, 0.5])
        >>> counter.update([3, 0, 1], [0.9, 0.7, 0.2])
        >>> [round(counter.curve().ndcg(ties=ties), 4) for ties in ("worst", "best")]
        [0.659, 0.9639]
        """
        place, level, count = self._counts.pairs()
        # Items with a NaN score come last in both directions.
        rank = np.where(place == self._rows, place, place if self.lower_is_better else self._rows - 1 - place)
        return with_levels(self._hit_curve(), LevelCounts(rank, level, count), unretrieved)

    def __getstate__(self) -> dict[str, Any]:
        place, level, count = self._counts.pairs()
        return super().__getstate__() | {"levels": self._levels, "place": place, "level": level, "count": count}

    @classmethod
    def _made(cls, options: dict[str, Any], state: dict[str, Any]) -> GainCounter:
        return cls(**options, levels=state["levels"])

    def _set_hits(self, state: dict[str, Any]) -> None:
        level = as_real(state["level"], "level").astype(np.float64)
        size = level.shape[0] if level.ndim == 1 else -1
        place, count = (checked_counts(state[name], name, size) for name in ("place", "count"))
        for at in np.flatnonzero(~((place <= self._rows) & (level > 0) & (level < np.inf) & (count > 0)))[:1]:
            raise ValueError(f"place[{at}], level[{at}] and count[{at}] are {place[at]}, {level[at]} and {count[at]}: "
                             f"must be from 0 to {self._rows}, above 0 and finite, and at least 1")
        if self._levels is not None and not np.isin(level, self._levels).all():
            raise ValueError(f"level holds a level that is not in levels, {self._levels.tolist()}")
        made = LevelCounts(place, level, count)
        if made.pairs()[0].shape != place.shape:
            raise ValueError("place and level hold the same pair twice")
        self._counts = made
