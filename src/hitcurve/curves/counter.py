"""HitCounter: the table of a ranking that is never in memory as a whole, from the added counts of blocks of items."""
from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np

from hitcurve._base.checks import as_real, check_choice, check_options, checked_block, checked_sorted, equal_numbers
from hitcurve._base.words import many
from hitcurve.curves.blocks import BlockCounter
from hitcurve.curves.hit import HitCurve


class Counter:
    """The base of HitCounter and GainCounter: thresholds or bins, and the numbers of items at and between them."""

    def __init__(self, thresholds: Any, edges: Any, lower_is_better: bool, nan_policy: str) -> None:
        if (thresholds is None) == (edges is None):
            raise ValueError("give either thresholds or edges" if edges is None
                             else "thresholds and edges are both given: a counter takes only one of them")
        check_options(lower_is_better, nan_policy)
        self._kind = "thresholds" if edges is None else "edges"
        self._cuts = checked_sorted(thresholds if edges is None else edges, self._kind, nan_policy)
        self._cuts.flags.writeable = False  # an attribute shows them
        self.lower_is_better = bool(lower_is_better)
        self.nan_policy = nan_policy
        self._counting = BlockCounter(self._cuts)
        self._merged: Any = None  # the counts of merged counters, in the same layout
        self._merged_nan = 0
        self._rows = self._cuts.shape[0] + (edges is not None)

    def _items(self) -> Any:
        """The numbers of items between and at the cuts."""
        counts = self._counting.counts()
        return counts if self._merged is None else counts + self._merged

    @property
    def _nan_items(self) -> int:
        return self._counting.nan_items + self._merged_nan

    def _hits_at(self) -> Any:
        """The number of relevant items of each row, and then of relevant items with a NaN score."""
        raise NotImplementedError

    @property
    def thresholds(self) -> Any:
        return self._cuts if self._kind == "thresholds" else None

    @property
    def edges(self) -> Any:
        return self._cuts if self._kind == "edges" else None

    @property
    def num_items(self) -> int:
        return int(self._items().sum()) + self._nan_items

    @property
    def num_hits(self) -> int:
        return int(self._hits_at().sum())

    def _count(self, y_true: Any, y_score: Any, level: Any = None) -> tuple[Any, Any]:
        """Counts a block: (row, level) of each relevant item. The row of a NaN score is one beyond the last row."""
        relevant, score, cuts = checked_block(y_true, y_score, self._cuts)
        found = score[relevant]
        if level is None:
            found.sort()
        else:
            order = np.argsort(found)
            found, level = found[order], level[order]
        nan_hits = int(np.count_nonzero(found != found))
        found = found[: found.shape[0] - nan_hits]  # NaN sort last
        place = np.searchsorted(cuts, found, "left" if self._kind == "thresholds" else "right")
        if self._kind == "thresholds":
            known = place < cuts.shape[0]
            known[known] = cuts[place[known]] == found[known]
            if not known.all():
                strange = relevant & np.isin(score, found[~known])
                at = int(np.argmax(strange))
                raise ValueError(f"y_score[{at}] is {score[at]}, the score of a relevant item, but the thresholds "
                                 "lack this score: they must be the scores of all relevant items")
        counting = self._counting if cuts.dtype == self._cuts.dtype else BlockCounter(cuts)
        counting.add(score, self.nan_policy)
        if counting is not self._counting:
            # A block of a wider type: the counts stay, and the thresholds change to the wider type.
            self._merged, self._merged_nan = self._items(), self._nan_items
            self._cuts, self._counting = cuts, counting
            self._cuts.flags.writeable = False
        if self.nan_policy == "worst":
            place = np.append(place, np.full(nan_hits, self._rows))
        return place, None if level is None else level[: place.shape[0]]

    def merge(self, other: Self) -> Self:
        """Add the counts of another counter, which counted other blocks, and return self.

        ``counter += other`` does the same. ``counter + other`` makes a new counter and changes neither operand, as
        ``sum(counters, hc.HitCounter(thresholds))`` needs.

        Parameters
        ----------
        other : HitCounter or GainCounter
            A counter of the same class, with the same thresholds or edges, direction, NaN policy and levels.

        Returns
        -------
        HitCounter or GainCounter
            This counter.

        Raises
        ------
        ValueError
            If `other` has other thresholds, edges or options.

        Examples
        --------
        >>> import hitcurve as hc
        >>> one, other = hc.HitCounter([0.9, 0.3]), hc.HitCounter([0.9, 0.3])
        >>> one.update([1, 0], [0.9, 0.5])
        >>> other.update([1], [0.3])
        >>> one.merge(other)
        HitCounter(2 thresholds; num_items=3, num_hits=2)
        """
        if not isinstance(other, type(self)):
            raise TypeError(f"other must be a {type(self).__name__}, got {type(other).__name__}")
        if difference := self._difference(other):
            raise ValueError(f"{difference}: only counters with the same arguments can be merged")
        self._merged = other._items() if self._merged is None else self._merged + other._items()
        self._merged_nan += other._nan_items
        self._add_hits(other)
        return self

    def _add_hits(self, other: Self) -> None:
        raise NotImplementedError

    def _difference(self, other: Self) -> str:
        """The text of the first difference between the arguments of both counters, empty if there is none."""
        for name in ("lower_is_better", "nan_policy", "_kind"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                return f"other has {name.strip('_')} {theirs!r}, this counter {mine!r}"
        if self._cuts.shape != other._cuts.shape:
            return f"other has {other._cuts.shape[0]} {self._kind}, not the {self._cuts.shape[0]} of this counter"
        for at in np.flatnonzero(~equal_numbers(self._cuts, other._cuts)).tolist()[:1]:
            return f"{self._kind}[{at}] of other is {other._cuts[at]}, not {self._cuts[at]} as in this counter"
        return ""

    def __iadd__(self, other: Self) -> Self:
        return self.merge(other)

    def __add__(self, other: Self) -> Self:
        return copy(self).merge(other) if isinstance(other, Counter) else NotImplemented

    def _hit_curve(self, num_relevant: int | None = None) -> HitCurve:
        cuts, items, hits = self._cuts, self._items(), self._hits_at()
        if self._kind == "edges":
            # Bin i holds the scores from edge i - 1 up to edge i. No score lies between bins.
            cuts, bins = np.append(-np.inf, cuts), np.append(items[0], items[1::2] + items[2::2])
            items = np.zeros(2 * cuts.shape[0] + 1, np.int64)
            items[1::2] = bins
        return table_from_counts(cuts, items, hits[:-1], self._nan_items, int(hits[-1]),
                                 lower_is_better=self.lower_is_better, num_relevant=num_relevant)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return (not self._difference(other) and np.array_equal(self._items(), other._items())
                and self._nan_items == other._nan_items and self._same_hits(other))

    def _same_hits(self, other: Self) -> bool:
        return np.array_equal(self._hits_at(), other._hits_at())

    __hash__ = None  # type: ignore[assignment]  # counters are mutable

    def __getstate__(self) -> dict[str, Any]:
        # The keys of a pickle stay, even if the names of the attributes change.
        return {"kind": self._kind, "cuts": self._cuts, "items": self._items(), "nan_items": self._nan_items,
                "lower_is_better": self.lower_is_better, "nan_policy": self.nan_policy}

    def __setstate__(self, state: dict[str, Any]) -> None:
        kind = check_choice(state["kind"], "kind", ("thresholds", "edges"))
        cuts, policy = as_real(state["cuts"], "cuts"), state["nan_policy"]
        made = self._made({kind: cuts, "lower_is_better": state["lower_is_better"], "nan_policy": policy}, state)
        if not np.array_equal(made._cuts, cuts):
            raise ValueError(f"cuts must be distinct and ascending, as the {kind} of a counter are")
        made._merged = checked_counts(state["items"], "items", 2 * made._cuts.shape[0] + 1)
        made._merged_nan = int(checked_counts([state["nan_items"]], "nan_items", 1)[0])
        if policy != "worst" and made._merged_nan:
            raise ValueError(f"nan_items is {made._merged_nan}, but nan_policy={policy!r} counts no NaN scores")
        made._set_hits(state)
        nan_hits = int(made._hits_at()[-1])
        if nan_hits > made._merged_nan:
            raise ValueError(f"nan_hits is {nan_hits}, but nan_items is {made._merged_nan}")
        made._hit_curve()  # checks the numbers of relevant items
        self.__dict__ = made.__dict__

    @classmethod
    def _made(cls, options: dict[str, Any], state: dict[str, Any]) -> Self:
        """A new counter without counts."""
        return cls(**options)

    def _set_hits(self, state: dict[str, Any]) -> None:
        raise NotImplementedError

    def __repr__(self) -> str:
        return (f"{type(self).__name__}({many(self._cuts.shape[0], self._kind)}; num_items={self.num_items}, "
                f"num_hits={self.num_hits})")


class HitCounter(Counter):
    """Count items block by block. The blocks may come in any order, and from many machines.

    A row of the hit-curve table needs only the numbers of items above and at each relevant item's score. If you give
    these scores as `thresholds` (from a first pass over the data, or of known actives), the counter is exact and holds
    only these scores in memory. If you give bin `edges`, the counter needs no scores beforehand and one pass. Each bin
    is then a tie group, so ``ties="worst"`` and ``ties="best"`` are guaranteed bounds of the true value.

    Parameters
    ----------
    thresholds : array_like, optional
        The scores of all relevant items, in any order. A score may occur more than once, and NaN may be among them.
    edges : array_like, optional
        Increasing bin edges, in place of `thresholds`. A bin holds the scores from an edge up to, but not including,
        the next edge. Two more bins hold the scores below the first edge and the scores from the last edge on.
    lower_is_better : bool
        If True, the lowest score ranks first.
    nan_policy : {"raise", "worst", "omit"}
        As for HitCurve.

    Attributes
    ----------
    thresholds, edges : ndarray or None
        The distinct thresholds or edges, ascending. The arrays are read-only.
    num_items, num_hits : int
        The numbers of items and of relevant items that were counted so far.
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
    >>> counter = hc.HitCounter([0.9, 0.3])
    >>> counter.update([0, 1], [0.3, 0.9])
    >>> counter.update([1, 0], [0.3, 0.1])
    >>> counter.curve() == hc.HitCurve([0, 1, 1, 0], [0.3, 0.9, 0.3, 0.1])
    True
    """

    __module__ = "hitcurve"  # the module that pickles name

    def __init__(self, thresholds: Any = None, *, edges: Any = None, lower_is_better: bool = False,
                 nan_policy: str = "raise") -> None:
        super().__init__(thresholds, edges, lower_is_better, nan_policy)
        self._hits = np.zeros(self._rows + 1, np.int64)  # the last entry: NaN scores

    def _hits_at(self) -> Any:
        return self._hits

    def update(self, y_true: Any, y_score: Any) -> None:
        """Count a block of items.

        Parameters
        ----------
        y_true : array_like of shape (n,)
            1 or True for a relevant item, 0 or False for any other item.
        y_score : array_like of shape (n,)
            The scores, of a type that compares exactly with the type of the thresholds.

        Raises
        ------
        ValueError
            If the score of a relevant item is not among the thresholds, or if the labels or scores are invalid.

        Examples
        --------
        >>> import hitcurve as hc
        >>> counter = hc.HitCounter([0.9, 0.3])
        >>> counter.update([0, 1, 0], [0.3, 0.9, 0.1])
        >>> counter
        HitCounter(2 thresholds; num_items=3, num_hits=1)
        """
        place, _ = self._count(y_true, y_score)
        np.add.at(self._hits, place, 1)

    def _add_hits(self, other: HitCounter) -> None:
        self._hits = self._hits + other._hits

    def curve(self, num_relevant: int | None = None) -> HitCurve:
        """The hit curve of the items counted so far.

        Parameters
        ----------
        num_relevant : int, optional
            The number of all relevant items, if some were never retrieved.

        Returns
        -------
        HitCurve
            With `edges`, each row is a bin, and its score is the bin's lower edge (minus infinity for the lowest bin).

        Examples
        --------
        >>> import hitcurve as hc
        >>> counter = hc.HitCounter(edges=[0.0, 0.5])
        >>> counter.update([1, 0, 0], [0.9, 0.7, 0.2])
        >>> report = counter.curve().tie_report()
        >>> report.worst, report.best
        (0.5, 1.0)
        """
        return self._hit_curve(num_relevant)

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"hits": self._hits[:-1].copy(), "nan_hits": int(self._hits[-1])}

    def _set_hits(self, state: dict[str, Any]) -> None:
        self._hits = np.append(checked_counts(state["hits"], "hits", self._rows),
                               checked_counts([state["nan_hits"]], "nan_hits", 1))


def checked_counts(values: Any, name: str, size: int) -> Any:
    """Checks counts from a pickle and returns a copy."""
    array = as_real(values, name)
    if array.dtype.kind not in "iu" or array.shape != (size,):
        raise ValueError(f"{name} has dtype {array.dtype} and shape {array.shape}: must be {size} whole numbers")
    if (array < 0).any() or array.sum(dtype=np.float64) > 2**62:
        raise ValueError(f"{name} holds a number below 0, or more than 2**62 in all")
    return array.astype(np.int64)


def table_from_counts(cuts: Any, items: Any, hits: Any, nan_items: int, nan_hits: int, *, lower_is_better: bool,
                      num_relevant: int | None = None) -> HitCurve:
    """The curve from the numbers of items between and at the cuts (`BlockCounter.counts`), and of hits at the cuts."""
    tied, before = items[1::2], items[:-1:2] if lower_is_better else items[2::2]
    num_items = int(items.sum()) + nan_items
    if not lower_is_better:
        cuts, before, tied, hits = cuts[::-1], before[::-1], tied[::-1], hits[::-1]
    above = np.cumsum(before + tied) - tied
    rows = hits > 0
    score, above, tied, hits = cuts[rows], above[rows], tied[rows], hits[rows]
    if nan_hits > 0:
        score = np.append(score, score.dtype.type(np.nan) if score.dtype.kind == "f" else np.nan)
        last = (num_items - nan_items, nan_items, nan_hits)
        above, tied, hits = (np.append(one, of_nan) for one, of_nan in zip((above, tied, hits), last, strict=True))
    return HitCurve.from_table(score, above, tied, hits, num_items=num_items, num_relevant=num_relevant,
                               lower_is_better=lower_is_better)
