"""SubtopicCurve and SubtopicCurves: rankings of items that are relevant to subtopics, and measures of diversity."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hitcurve._base.checks import as_column, as_real, as_whole, check_choice, one_dimension
from hitcurve._base.given import frame_columns
from hitcurve._base.pickle import MAKERS, gain_curves, subtopic_curve, subtopic_curves
from hitcurve._base.words import are, many
from hitcurve.curves.base import ManyRankings, OneRanking, totals
from hitcurve.curves.bundles import cascades, cutoffs, greedy_values, reading_of, share
from hitcurve.curves.gain import GainCurve, GainCurves
from hitcurve.curves.hit import Curve, HitCurve, HitCurves, curve_of, curves_of
from hitcurve.curves.sorted import group_starts
from hitcurve.curves.subtopic_sets import (
    Bundle,
    Items,
    LevelRows,
    Sets,
    best_values,
    bundled,
    coded,
    drawn_pool,
    joined,
    level_of,
    levels_of_items,
    powers_of,
)

if TYPE_CHECKING:
    from typing import Self

    from hitcurve.measures import Measure
    from hitcurve.results import Interval

    _Curve = Curve[Any, Any]
else:
    _Curve = Curve

__all__ = ["SubtopicCurve", "SubtopicCurves", "Subtopics", "counted_subtopics", "missing_items", "subtopic_curves_of"]

_NORMALIZE = ("none", "max")
_IDEALS = ("greedy", "exact")


# --- the measures -----------------------------------------------------------------------------------------------------


class Subtopics(_Curve):
    """The measures of SubtopicCurve and SubtopicCurves: a number for one ranking, or an array by query."""

    __slots__ = ("_bundles", "_names", "_pool", "_sets", "_table")
    _family, _usual_measure, _usual_picture = "subtopics", "alpha_nDCG", "distribution"
    _table: Any  # the gain curves whose levels are codes
    _sets: Sets
    _pool: tuple[Any, Any]
    _names: tuple[Any, ...]

    def _keep(self, table: Any, sets: Sets, pool: tuple[Any, Any], names: Any) -> None:
        self._table, self._sets, self._pool, self._names = table, sets, pool, names
        self._bundles: dict[float, Bundle] = {}
        for column in (*sets, *pool):
            column.flags.writeable = False

    @classmethod
    def _of(cls, table: Any, sets: Sets, pool: tuple[Any, Any], names: tuple[Any, ...]) -> Self:
        """Curves of gain curves whose levels are codes, without a check or a copy."""
        made = cls.__new__(cls)
        made._keep(table, sets, pool, names)
        return made

    # The table.

    def __len__(self) -> int:
        return len(self._table)

    @property
    def subtopics(self) -> tuple[Any, ...]:
        return self._names

    @property
    def lower_is_better(self) -> bool:
        return bool(self._table.lower_is_better)

    @property
    def num_items(self) -> Any:
        return self._table.num_items

    @property
    def num_relevant(self) -> Any:
        return self._table.num_relevant

    @property
    def num_hits(self) -> Any:
        return self._table.num_hits

    @property
    def score(self) -> Any:
        return self._table.score

    @property
    def above(self) -> Any:
        return self._table.above

    @property
    def tied(self) -> Any:
        return self._table.tied

    @property
    def hits(self) -> Any:
        return self._table.hits

    @property
    def levels(self) -> Any:
        place = np.repeat(self._table.level.astype(np.int64), self._table.level_count)
        return self._sets.levels(place, len(self._names))

    @property
    def _row_starts(self) -> Any:
        return np.array([0, self.above.shape[0]])

    def _shaped(self, values: Any, shape: Any) -> Any:
        """Turns a row of values for each ranking into numbers or arrays of this shape."""
        raise NotImplementedError

    def _bundle(self, relevance_level: Any) -> Bundle:
        level = level_of(relevance_level)
        found = self._bundles.get(level)
        if found is None:
            found = self._bundles[level] = bundled(
                self._table, self._row_starts, np.atleast_1d(self.num_items), self._pool, self._sets.from_level(level),
                len(self._names))
        return found

    def num_subtopics(self, relevance_level: float = 1) -> Any:
        """The number of subtopics that have a relevant item, ranked or not. All measures leave out other subtopics.

        Parameters
        ----------
        relevance_level : float
            The lowest relevant level, above 0.

        Returns
        -------
        int or ndarray

        Examples
        --------
        >>> import hitcurve as hc
        >>> hc.SubtopicCurve([[1, 0, 0], [0, 1, 0]], [0.9, 0.8]).num_subtopics()
        2
        """
        found = self._shaped(self._bundle(relevance_level).sizes[:, None], None)
        return int(found) if isinstance(found, float) else found

    # Arguments.

    def _in_order(self, name: str, ties: Any, ranks: Any, bundle: Bundle) -> str:
        """A reading of ties. Best and worst need that the items of each tie group have the same subtopics."""
        wanted = reading_of(name, ties)
        if wanted == "expected":
            return wanted
        number = bundle.sets.alike()[self._table.level.astype(np.int64)]
        row = np.repeat(np.arange(self.above.shape[0]), np.diff(self._table.level_offsets))
        row, number = row[number > 0], number[number > 0]
        last = int(ranks.max(initial=0)) if ranks is not None else 2**62
        for i in np.flatnonzero((row[1:] == row[:-1]) & (number[1:] != number[:-1]) & (self.above[row[1:]] < last))[:1]:
            raise ValueError(f"{name} has no value for ties={ties!r} here: the tie group from rank "
                             f"{self.above[row[i]] + 1} on has items with different subtopics, and no formula gives "
                             "their best or worst order: use ties='expected', or break the ties with tiebreak=")
        return wanted

    def _weights(self, weights: Any) -> Any:
        """The weights of all subtopics: a row for each query, or a single row."""
        if weights is None:
            return np.ones((1, len(self._names)))
        if isinstance(weights, Mapping):
            known = set(self._names)
            other = [name for name in weights if name not in known]
            left = [name for name in self._names if name not in weights]
            if other or left:
                wrong = f"has no subtopic {left[0]!r}" if left else f"has {other[0]!r}, which is no subtopic"
                raise ValueError(f"weights {wrong}: the subtopics are {', '.join(map(str, self._names[:20]))}")
            weights = [weights[name] for name in self._names]
        found = np.atleast_2d(as_real(weights, "weights", "weights must be real numbers").astype(np.float64))
        wanted = (1, len(self._names)), (self._pool[0].shape[0] - 1, len(self._names))
        if found.shape not in wanted:
            raise ValueError(f"weights has shape {np.shape(weights)}: there {are(len(self._names))} "
                             f"{many(len(self._names), 'subtopics')}; a row for each query is allowed too")
        for place in np.argwhere(~((found >= 0) & (found < np.inf)))[:1]:
            at = ", ".join(map(str, place.tolist()))
            raise ValueError(f"weights[{at}] is {found[tuple(place)]}: a weight must be finite and at least 0")
        return found

    def _mean(self, bundle: Bundle, values: Any, weights: Any) -> Any:
        """The weighted mean of the values of the subtopics. A query without weight has NaN."""
        each = _weight_of_each(bundle, weights)
        total = _sums(bundle, each)
        with np.errstate(invalid="ignore", divide="ignore"):
            return _sums(bundle, np.where(each > 0, each * values, 0.0)) / np.where(total > 0, total, np.nan)

    # The measures.

    def precision_ia(self, k: Any = None, *, weights: Any = None, relevance_level: float = 1,
                     ties: str = "expected") -> Any:  # fmt: skip
        """Intent-aware precision at k: the mean over the subtopics of their precision at k.

        Parameters
        ----------
        k : int or array of int, optional
            The cutoff rank. Places beyond the last item count as not relevant. None counts all ranked items.
        weights : mapping or array, optional
            The weight of each subtopic: the chance that it is what the user wants, or a number in proportion to the
            chance. A mapping has the names of the subtopics. An array has a column for each subtopic, and may have a
            row for each query. The weights of a query are divided by their sum over the subtopics that have a relevant
            item. None gives all subtopics the same weight.
        relevance_level : float
            The lowest relevant level, above 0.
        ties : {"expected", "best", "worst"}
            How to interpret a group of equal scores. ``"expected"``: the mean over all orders of its items. ``"best"``:
            the items with the greatest weight of their subtopics first. ``"worst"``: these items last.

        Returns
        -------
        float or ndarray
            In [0, 1]. NaN when no subtopic has a relevant item.

        References
        ----------
        Agrawal, Gollapudi, Halverson & Ieong (2009), "Diversifying search results", WSDM, 5-14.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.SubtopicCurve([[1, 0], [0, 0], [1, 1]], [0.9, 0.8, 0.7])
        >>> curve.precision_ia(2), curve.precision_ia(2, weights=[3, 1])
        (0.25, 0.375)
        """
        weight, level = self._weights(weights), level_of(relevance_level)
        ranks, shape = cutoffs(k)
        wanted = reading_of("precision_ia", ties)
        if weight.shape[0] > 1:
            parts = [self._one(q).precision_ia(ranks, weights=weight[q], relevance_level=level, ties=wanted)
                     for q in range(weight.shape[0])]
            return self._shaped(np.reshape(parts, (len(parts), _number_of(ranks))), shape)
        bundle = self._bundle(level)
        sets = bundle.sets
        worth = np.append(0.0, np.cumsum(weight[0, sets.member]))[sets.starts] if weights is not None else sets.starts
        gain = np.diff(worth).astype(np.float64)
        values = self._table.average_gain(ranks, gain=gain, ties=wanted)
        count = _sums(bundle, _weight_of_each(bundle, weight))
        with np.errstate(invalid="ignore"):
            values = np.reshape(values, (count.shape[0], _number_of(ranks))) / np.where(count > 0, count, np.nan)
        return self._shaped(values, shape)

    def subtopic_recall(self, k: Any = None, *, relevance_level: float = 1, ties: str = "expected") -> Any:
        """Subtopic recall at k: the share of the subtopics that have a relevant item among the first k items.

        Parameters
        ----------
        k : int or array of int, optional
            The cutoff rank. None counts all ranked items.
        relevance_level : float
            The lowest relevant level, above 0.
        ties : {"expected", "best", "worst"}
            ``"expected"``: the mean over all orders of the items of a tie group. ``"best"`` and ``"worst"`` are defined
            where the relevant items of each tie group have the same subtopics. Elsewhere the best order is a problem of
            covering that no formula solves, and both are errors.

        Returns
        -------
        float or ndarray
            In [0, 1]. NaN when no subtopic has a relevant item.

        References
        ----------
        Zhai, Cohen & Lafferty (2003), "Beyond independent relevance: methods and evaluation metrics for subtopic
        retrieval", SIGIR, 10-17.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.SubtopicCurve([[1, 0], [0, 0], [1, 1]], [0.9, 0.8, 0.7])
        >>> curve.subtopic_recall([1, 3]).tolist()
        [0.5, 1.0]
        """
        bundle = self._bundle(relevance_level)
        ranks, shape = cutoffs(k)
        wanted = self._in_order("subtopic_recall", ties, ranks, bundle)
        values = bundle.curves.success(np.array([2**62]) if ranks is None else ranks, ties=wanted)
        return self._shaped(self._mean(bundle, values, self._weights(None)), shape)

    def average_precision_ia(self, k: Any = None, *, normalize: str = "min", weights: Any = None,
                             relevance_level: float = 1, ties: str = "expected") -> Any:  # fmt: skip
        """Intent-aware average precision: the mean over the subtopics of their average precision.

        Parameters
        ----------
        k : int or array of int, optional
            Only the first k items count.
        normalize : {"min", "relevant", "hits"}
            The divisor at a cutoff, as in ``HitCurve.average_precision``.
        weights, relevance_level
            As in ``precision_ia``.
        ties : {"expected", "best", "worst"}
            As in ``subtopic_recall``.

        Returns
        -------
        float or ndarray
            In [0, 1]. NaN when no subtopic has a relevant item.

        References
        ----------
        Agrawal, Gollapudi, Halverson & Ieong (2009), "Diversifying search results", WSDM, 5-14.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.SubtopicCurve([[1, 0], [0, 0], [1, 1]], [0.9, 0.8, 0.7])
        >>> round(curve.average_precision_ia(), 4)
        0.5833
        """
        bundle, weight = self._bundle(relevance_level), self._weights(weights)
        ranks, shape = cutoffs(k)
        wanted = self._in_order("average_precision_ia", ties, ranks, bundle)
        values = bundle.curves.average_precision(ranks, ties=wanted, normalize=normalize)
        return self._shaped(self._mean(bundle, values.reshape(len(bundle.curves), _number_of(ranks)), weight), shape)

    def _novelty(self, name: str, k: Any, ties: Any, relevance_level: Any, alpha: Any, fade: str, power: float = 1.0, *,
                 weights: Any = None, normalize: str = "none", ideal: str = "") -> tuple[Any, Any]:  # fmt: skip
        """The weighted mean over the subtopics of (1 - alpha)^(hits above) times a discount, as a row for each ranking.

        It is divided by its value if each item had every subtopic (`normalize` is "max"), or by that of the ideal
        order. With it comes the shape of the cutoffs.
        """
        chance = share(alpha, "alpha", True)
        check_choice(normalize, "normalize", _NORMALIZE)
        bundle, weight = self._bundle(relevance_level), self._weights(weights)
        ranks, shape = cutoffs(k)
        wanted = self._in_order(name, ties, ranks, bundle)
        powers = powers_of(chance, int(bundle.curves.num_relevant.max(initial=0)))
        means = self._mean(bundle, cascades(bundle.curves, ranks, wanted, chance, powers, fade, power), weight)
        if normalize == "max":
            last = np.maximum(np.atleast_1d(self.num_items), 1) if ranks is None else ranks
            zeros = np.zeros_like(last)
            rows = np.arange(last.shape[0] + 1)
            every = curves_of(None, False, False, rows, None, zeros, last, last, last, last, last)
            most = cascades(every, None, "best", chance, powers_of(chance, 1), fade, power)
            means = means / (most if ranks is None else most.T)
        if ideal:
            if ideal == "greedy":
                pool = self._pool[0], np.take(bundle.sets.alike(), self._pool[1])  # fewer codes, the same order
                best = greedy_values(*pool, *_columns(bundle.sets), weight, ranks, chance, powers, fade, power)
            else:
                best = best_values(self._pool, bundle.sets, weight, ranks, powers, fade, power)
            with np.errstate(invalid="ignore", divide="ignore"):
                means = means * _sums(bundle, _weight_of_each(bundle, weight)) / np.where(best > 0, best, np.nan)
        return means, shape

    def alpha_dcg(self, k: Any = None, *, alpha: float = 0.5, normalize: str = "none", relevance_level: float = 1,
                  ties: str = "expected") -> Any:  # fmt: skip
        """Alpha-DCG: discounted gain in which an item counts less if earlier items have the same subtopics.

        Alpha-DCG is the sum, over the first k ranks r and the subtopics of the item at rank r, of (1 - alpha)^c /
        log2(r + 1). c is the number of items above with this subtopic.

        Parameters
        ----------
        k : int or array of int, optional
            Only the first k items count. None counts all items.
        alpha : float
            The share of its value that an item loses for each earlier item with the same subtopic, from 0 to 1.
        normalize : {"none", "max"}
            ``"max"`` divides by the value that the first k items would have if each had every subtopic, as ndeval and
            ir_measures do: by the number of subtopics times the sum of (1 - alpha)^(r - 1) / log2(r + 1) over r = 1,
            ..., k. Without k, all ranked items take the place of the first k. ndeval forgets the division at k = 1.
        relevance_level : float
            The lowest relevant level, above 0.
        ties : {"expected", "best", "worst"}
            As in ``subtopic_recall``.

        Returns
        -------
        float or ndarray
            0 when no subtopic has a relevant item, and NaN with ``normalize="max"``.

        References
        ----------
        Clarke, Kolla, Cormack, Vechtomova, Ashkan, Buttcher & MacKinnon (2008), "Novelty and diversity in information
        retrieval evaluation", SIGIR, 659-666.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.SubtopicCurve([[1, 0], [1, 0], [1, 1]], [0.9, 0.8, 0.7])
        >>> round(curve.alpha_dcg(), 4), round(curve.alpha_dcg(2, normalize="max"), 4)
        (1.9405, 0.5)
        """
        means, shape = self._novelty("alpha_dcg", k, ties, relevance_level, alpha, "log", normalize=normalize)
        if normalize == "none":
            means = np.nan_to_num(means * self._bundle(relevance_level).sizes[:, None])
        return self._shaped(means, shape)

    def alpha_ndcg(self, k: Any = None, *, alpha: float = 0.5, ideal: str = "greedy", relevance_level: float = 1,
                   ties: str = "expected") -> Any:  # fmt: skip
        """Alpha-nDCG: alpha-DCG divided by that of an ideal order of all items, also of those never retrieved.

        Parameters
        ----------
        k, alpha, relevance_level, ties
            As in ``alpha_dcg``.
        ideal : {"greedy", "exact"}
            ``"greedy"``, as in the paper and in ndeval: at each rank the item that adds most, and of several such items
            the first in the order of the input; items that were never retrieved come last. This order is not always the
            best order, so values above 1 are possible. ``"exact"``: the best order, found by a search. The search is
            for few subtopics: if it takes more than 100,000 steps for a query, it is an error.

        Returns
        -------
        float or ndarray
            NaN when no subtopic has a relevant item.

        References
        ----------
        Those of ``alpha_dcg``.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.SubtopicCurve([[1, 0], [1, 0], [1, 1]], [0.9, 0.8, 0.7])
        >>> round(curve.alpha_ndcg(), 4), round(curve.alpha_ndcg(ideal="exact"), 4)
        (0.7951, 0.7951)
        """
        means, shape = self._novelty("alpha_ndcg", k, ties, relevance_level, alpha, "log", ideal=_ideal(ideal))
        return self._shaped(means, shape)

    def err_ia(self, k: Any = None, *, alpha: float = 0.5, normalize: str = "none", weights: Any = None,
               relevance_level: float = 1, ties: str = "expected") -> Any:  # fmt: skip
        """Intent-aware ERR: the mean over the subtopics of their expected reciprocal rank.

        The ERR of a subtopic is the sum, over the ranks r of its items, of alpha (1 - alpha)^c / r. c is the number of
        items above with this subtopic, and alpha is the chance that a relevant item satisfies the user.

        Parameters
        ----------
        k : int or array of int, optional
            Only the first k items count. None counts all items.
        alpha : float
            The chance that a relevant item satisfies the user, from 0 to 1. ERR of levels 0 and 1 has the chance 1/2.
        normalize : {"none", "max"}
            ``"max"`` divides by the value that the first k items would have if each had every subtopic, as in
            ``alpha_dcg``. This is the ERR-IA of ndeval and ir_measures.
        weights, relevance_level
            As in ``precision_ia``.
        ties : {"expected", "best", "worst"}
            As in ``subtopic_recall``.

        Returns
        -------
        float or ndarray
            NaN when no subtopic has a relevant item.

        References
        ----------
        Chapelle, Metzler, Zhang & Grinspan (2009), "Expected reciprocal rank for graded relevance", CIKM, 621-630.
        Agrawal, Gollapudi, Halverson & Ieong (2009), "Diversifying search results", WSDM, 5-14. Clarke, Craswell,
        Soboroff & Ashkan (2011), "A comparative analysis of cascade measures for novelty and diversity", WSDM, 75-84.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.SubtopicCurve([[1, 0], [1, 0], [1, 1]], [0.9, 0.8, 0.7])
        >>> round(curve.err_ia(), 4), round(curve.err_ia(2, normalize="max"), 4)
        (0.4167, 0.5)
        """
        means, shape = self._novelty("err_ia", k, ties, relevance_level, alpha, "rank", weights=weights,
                                     normalize=normalize)
        return self._shaped(means * alpha if normalize == "none" else means, shape)

    def nerr_ia(self, k: Any = None, *, alpha: float = 0.5, ideal: str = "greedy", weights: Any = None,
                relevance_level: float = 1, ties: str = "expected") -> Any:  # fmt: skip
        """Normalised intent-aware ERR: ERR-IA divided by that of an ideal order of all items.

        Parameters
        ----------
        k, alpha, weights, relevance_level, ties
            As in ``err_ia``.
        ideal
            As in ``alpha_ndcg``. An item adds the weights of its subtopics, each times (1 - alpha)^c.

        Returns
        -------
        float or ndarray
            NaN when no subtopic has a relevant item.

        References
        ----------
        Those of ``err_ia``.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.SubtopicCurve([[1, 0], [1, 0], [1, 1]], [0.9, 0.8, 0.7])
        >>> round(curve.nerr_ia(), 4)
        0.7143
        """
        means, shape = self._novelty("nerr_ia", k, ties, relevance_level, alpha, "rank", weights=weights,
                                     ideal=_ideal(ideal))
        return self._shaped(means, shape)

    def nrbp(self, k: Any = None, *, alpha: float = 0.5, beta: float = 0.5, relevance_level: float = 1,
             ties: str = "expected") -> Any:  # fmt: skip
        """Novelty- and rank-biased precision.

        NRBP is (1 - (1 - alpha) beta) times the mean over the subtopics of the sum, over the ranks r of the subtopic's
        items, of (1 - alpha)^c beta^(r - 1). c is the number of items above with this subtopic.

        Parameters
        ----------
        k : int or array of int, optional
            Only the first k items count. None counts all items.
        alpha : float
            The chance that a relevant item satisfies the user, from 0 to 1.
        beta : float
            The chance that a user who is not satisfied looks at the next item, between 0 and 1.
        relevance_level : float
            The lowest relevant level, above 0.
        ties : {"expected", "best", "worst"}
            As in ``subtopic_recall``.

        Returns
        -------
        float or ndarray
            In [0, 1]. NaN when no subtopic has a relevant item.

        References
        ----------
        Clarke, Kolla & Vechtomova (2009), "An effectiveness measure for ambiguous and underspecified queries", ICTIR,
        188-199.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.SubtopicCurve([[1, 0], [1, 0], [1, 1]], [0.9, 0.8, 0.7])
        >>> round(curve.nrbp(), 4)
        0.5859
        """
        means, shape = self._novelty("nrbp", k, ties, relevance_level, alpha, "power", share(beta, "beta"))
        return self._shaped(means * (1 - (1 - alpha) * beta), shape)

    def nnrbp(self, k: Any = None, *, alpha: float = 0.5, beta: float = 0.5, ideal: str = "greedy",
              relevance_level: float = 1, ties: str = "expected") -> Any:  # fmt: skip
        """Normalised NRBP: NRBP divided by that of an ideal order of all items.

        Parameters
        ----------
        k, alpha, beta, relevance_level, ties
            As in ``nrbp``.
        ideal
            As in ``alpha_ndcg``.

        Returns
        -------
        float or ndarray
            NaN when no subtopic has a relevant item.

        References
        ----------
        Those of ``nrbp``.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.SubtopicCurve([[1, 0], [1, 0], [1, 1]], [0.9, 0.8, 0.7])
        >>> round(curve.nnrbp(), 4)
        0.6757
        """
        means, shape = self._novelty("nnrbp", k, ties, relevance_level, alpha, "power", share(beta, "beta"),
                              ideal=_ideal(ideal))
        return self._shaped(means, shape)

    # Other curves.

    def _one(self, q: int) -> Subtopics:
        """The curve of a query."""
        return self

    def _levels(self) -> tuple[Any, Any, Any, Any]:
        """(where the levels of each row begin, levels, numbers of items, highest level of each code)."""
        highest = self._sets.highest()
        rows = self.above.shape[0]
        row = np.repeat(np.arange(rows), np.diff(self._table.level_offsets))
        level = highest[self._table.level.astype(np.int64)]
        order = np.lexsort((level, row))
        row, level, count = row[order], level[order], self._table.level_count[order]
        starts = group_starts(row, level)
        count = np.add.reduceat(count, starts) if starts.shape[0] else count
        return np.searchsorted(row[starts], np.arange(rows + 1)), level[starts], count, highest

    def _of_subtopic(self, name: Any, relevance_level: Any) -> tuple[Any, Any]:
        """(hits of each row, relevant items of each query) for one subtopic."""
        if name not in self._names:
            known = ", ".join(map(str, self._names[:20]))
            raise ValueError(f"there is no subtopic {name!r}: the subtopics are {known}")
        sets = self._sets.from_level(level_of(relevance_level))
        has = np.zeros(sets.starts.shape[0] - 1, np.int64)
        has[np.searchsorted(sets.starts, np.flatnonzero(sets.member == self._names.index(name)), side="right") - 1] = 1
        hits = np.append(0, np.cumsum(has[self._table.level.astype(np.int64)] * self._table.level_count))
        relevant = np.append(0, np.cumsum(has[self._pool[1]]))
        return np.diff(hits[self._table.level_offsets]), np.diff(relevant[self._pool[0]])

    def _parts(self) -> tuple[Any, ...]:
        """The parts of a pickle. They hold only the codes that occur, so that equal curves have equal parts."""
        codes = self._table.level.astype(np.int64)
        used = np.unique(np.concatenate([np.zeros(1, np.int64), codes, self._pool[1]]))
        table = _with_codes(self._table, lambda levels: np.searchsorted(used, levels).astype(np.float64))
        return (table, self._names, *self._sets.of(used), self._pool[0], np.searchsorted(used, self._pool[1]))


def _number_of(ranks: Any) -> int:
    """The number of values of a ranking."""
    return 1 if ranks is None else int(ranks.shape[0])


def _ideal(value: Any) -> str:
    return check_choice(value, "ideal", _IDEALS)


def _columns(sets: Sets) -> tuple[Any, Any]:
    return np.ascontiguousarray(sets.starts, np.int64), np.ascontiguousarray(sets.member, np.int64)


def _weight_of_each(bundle: Bundle, weights: Any) -> Any:
    """The weight of the subtopic of each hit curve, as a column."""
    of_query = np.repeat(np.arange(bundle.starts.shape[0] - 1), bundle.sizes)
    return weights[of_query % weights.shape[0], bundle.subtopic][:, None]


def _sums(bundle: Bundle, values: Any) -> Any:
    """The sums of values over the subtopics of each query. NaN for a query without a subtopic."""
    found = np.full((bundle.starts.shape[0] - 1, values.shape[1]), np.nan)
    filled = bundle.sizes > 0
    if filled.any():
        found[filled] = np.add.reduceat(values, bundle.starts[:-1][filled], axis=0)
    return found


def _with_codes(table: Any, numbered: Any, unretrieved: Any = None) -> Any:
    """The same gain curves with other codes. `unretrieved`: for a table without these, the new codes."""
    if isinstance(table, GainCurve):
        parts: Any = table.__reduce__()[1]
        score, above, tied, offsets, level, count, items, missing, lower = parts
        level, count = _ascending(offsets, numbered(level), count)
        return GainCurve.from_table(score, above, tied, offsets, level, count, num_items=items, lower_is_better=lower,
                                    unretrieved=numbered(missing) if unretrieved is None else unretrieved)
    curves, offsets, level, count, missing = table.__reduce__()[1]
    return gain_curves(curves, offsets, *_ascending(offsets, numbered(level), count),
                       [numbered(one) for one in missing])


def _ascending(offsets: Any, level: Any, count: Any) -> tuple[Any, Any]:
    """The codes of each row in ascending order, with their numbers of items."""
    order = np.lexsort((level, np.repeat(np.arange(offsets.shape[0] - 1), np.diff(offsets))))
    return level[order], count[order]


def _column_names(subtopics: Any, width: int, levels: Any, of: str = "y_true") -> tuple[Any, ...]:
    """The names of the subtopics. Without names, those of the columns of a frame, or else numbers."""
    if subtopics is None:
        columns = frame_columns(levels)
        named = columns is not None and len(columns) == len({*columns}) == width
        subtopics = columns if named else range(width)
    names = tuple(subtopics)
    if len(names) != width or len({*names}) < width:
        raise ValueError(f"subtopics has {many(len(names), 'names')}, {len({*names})} of them different, but {of} "
                         f"has {many(width, 'subtopics')}")
    return names


def _missing(values: Any, name: str, width: int, of: str = "y_true") -> Items:
    """The levels of items that were never retrieved."""
    if values is None or (isinstance(values, list | tuple | np.ndarray) and not len(values)):
        return Items((0,), np.empty(0, np.int64), np.zeros((0, width)))
    items = levels_of_items(values, name, 2)
    if items.levels.shape[1] != width:
        shape = (*items.shape, items.levels.shape[1])
        raise ValueError(f"{name} has shape {shape}, but {of} has {many(width, 'subtopics')}")
    return items


def _tabled(score: Any, above: Any, tied: Any, row: Any, code: Any, missing: Any, num_items: int,
            lower: bool = False) -> GainCurve:  # fmt: skip
    """The gain curve of items with codes in these rows of a table."""
    kept = code != 0
    row, code = row[kept], code[kept].astype(np.int64)
    order = np.lexsort((code, row))
    row, code = row[order], code[order]
    starts = group_starts(row, code)
    count = np.diff(np.append(starts, row.shape[0]))
    offsets = np.searchsorted(row[starts], np.arange(above.shape[0] + 1))
    return GainCurve.from_table(score, above, tied, offsets, code[starts], count, num_items=num_items,
                                unretrieved=missing, lower_is_better=lower)


# --- one ranking ------------------------------------------------------------------------------------------------------


class SubtopicCurve(Subtopics):
    """One ranking of items that are relevant to subtopics, and every measure of diversity computed from it.

    A query with subtopics is a bundle of hit curves over one ranking, a curve for each subtopic. The items are ranked
    once: the table holds, for each tie group, how many of its items have each set of levels.

    Parameters
    ----------
    y_true : array_like of shape (n, subtopics)
        The level of relevance of each item to each subtopic, at least 0: 0 and 1, or more levels.
    y_score : array_like of shape (n,)
        The scores. The highest score ranks first.
    subtopics : sequence, optional
        The names of the subtopics. Default: the columns of a data frame, else 0, 1, 2, ...
    unretrieved : array_like of shape (m, subtopics), optional
        The levels of items that were never retrieved.
    tiebreak, lower_is_better, nan_policy, workers
        As for ``HitCurve``.

    Attributes
    ----------
    subtopics : tuple
        The names of the subtopics.
    num_items, num_relevant, num_hits : int
        The numbers of all items, of all items above level 0 for any subtopic, and of those of them that were ranked.
    score, above, tied, hits : ndarray
        The columns of the table, as for ``HitCurve``. An item above level 0 for any subtopic counts as relevant.
    levels : ndarray of shape (num_hits, subtopics)
        The levels of the ranked items that count as relevant, row by row of the table.
    unretrieved : ndarray of shape (num_relevant - num_hits, subtopics)
        The levels of the items that were never retrieved.
    lower_is_better : bool
        The argument of this name.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid. The message names the argument, the place and the value.

    Notes
    -----
    ``resample`` and ``interval`` draw an item with its levels for all subtopics. The greedy ideal order of a resample
    needs an order of its items: those with the same levels are spread evenly over the places of such items in the
    input. So a resample that happens to have the items of the ranking has the values of the ranking.

    An item that is drawn twice repeats its subtopics. So measures that reward novelty (alpha-DCG, ERR-IA, NRBP, their
    normalised forms, and subtopic recall) are lower in resamples than in the ranking, and their bootstrap intervals
    over items lie too low. P-IA and AP-IA do not have this bias, nor do intervals over queries
    (``SubtopicCurves.interval``).

    References
    ----------
    Clarke, Kolla, Cormack, Vechtomova, Ashkan, Buttcher & MacKinnon (2008), "Novelty and diversity in information
    retrieval evaluation", SIGIR, 659-666. Agrawal, Gollapudi, Halverson & Ieong (2009), "Diversifying search results",
    WSDM, 5-14.

    Examples
    --------
    >>> import hitcurve as hc
    >>> curve = hc.SubtopicCurve([[1, 0], [1, 0], [0, 1]], [0.9, 0.8, 0.7], subtopics=["band", "fruit"])
    >>> round(curve.alpha_ndcg(), 4), curve.subtopic_recall(2), curve.precision_ia(2)
    (0.9652, 0.5, 0.5)
    >>> curve.subtopic("fruit").average_precision()
    0.3333333333333333
    """

    __slots__ = ()

    def __init__(self, y_true: Any, y_score: Any, *, subtopics: Any = None, unretrieved: Any = None,
                 tiebreak: Any = None, lower_is_better: bool = False, nan_policy: Any = "raise",
                 workers: int = 1) -> None:  # fmt: skip
        if hasattr(self, "_table"):
            raise TypeError("a SubtopicCurve is immutable: make a new one")
        items = levels_of_items(y_true, "y_true", 2)
        names = _column_names(subtopics, items.levels.shape[1], y_true)
        (code, missing), sets = coded([items, _missing(unretrieved, "unretrieved", items.levels.shape[1])])
        table = GainCurve(code, y_score, unretrieved=missing, tiebreak=tiebreak, lower_is_better=lower_is_better,
                          nan_policy=nan_policy, workers=workers)
        place = _kept(items.place, y_score, nan_policy)
        self._keep(table, sets, joined(np.zeros(place.shape[0], np.int64), code[place], [missing], 1), names)

    def _shaped(self, values: Any, shape: Any) -> Any:
        return float(values[0, 0]) if shape is None or shape == () else values[0].reshape(shape)

    @classmethod
    def from_ranked(cls, levels: Any, *, tied: Any = None, subtopics: Any = None, num_items: int | None = None,
                    unretrieved: Any = None) -> SubtopicCurve:  # fmt: skip
        """Make a curve from levels in rank order, best first. The curve has no scores.

        Parameters
        ----------
        levels : array_like of shape (n, subtopics)
            The levels of the item at each rank, at least 0.
        tied : array_like of int, optional
            The number of items of each tie group, from the top; the sum is the number of all items. Default: no ties.
        subtopics : sequence, optional
            The names of the subtopics. Default: the columns of a data frame, else 0, 1, 2, ...
        num_items : int, optional
            The number of all items, if `levels` stops before the last item. The missing items have level 0.
        unretrieved : array_like of shape (m, subtopics), optional
            The levels of items that were never retrieved.

        Returns
        -------
        SubtopicCurve

        Raises
        ------
        ValueError
            If a level is below 0 or not finite, if `num_items` is below the length of `levels`, or if the sum of `tied`
            is not the number of all items.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.SubtopicCurve.from_ranked([[1, 0], [1, 0], [0, 1]])
        >>> round(curve.alpha_ndcg(), 4), curve.subtopic_recall(2)
        (0.9652, 0.5)
        >>> hc.SubtopicCurve.from_ranked([[1, 0], [1, 0], [0, 1]], tied=[1, 2]).subtopic_recall(2)
        0.75
        """
        items = levels_of_items(levels, "levels", 2)
        width = items.levels.shape[1]
        names = _column_names(subtopics, width, levels, "levels")
        (code, missing), sets = coded([items, _missing(unretrieved, "unretrieved", width, "levels")])
        table = GainCurve.from_ranked(code, num_items=num_items, unretrieved=missing)
        if tied is not None:
            sizes = one_dimension(as_whole(tied, "tied"), "tied")
            for i in np.flatnonzero(sizes < 1)[:1]:
                raise ValueError(f"tied[{i}] is {sizes[i]}: a tie group has at least 1 item")
            if sum(sizes.tolist()) != table.num_items:
                raise ValueError(f"the sum of tied is {sum(sizes.tolist())}, but there {are(table.num_items)} "
                                 f"{many(table.num_items, 'items')}")
            ends = np.cumsum(sizes, dtype=np.int64)
            group = np.searchsorted(ends, table.above, side="right")
            rows, row = np.unique(group, return_inverse=True)
            table = _tabled(None, (ends - sizes)[rows], sizes[rows], row.reshape(-1), code[table.above], missing,
                            table.num_items)
        return cls._of_codes(table, sets, code, missing, names)

    @classmethod
    def from_table(cls, score: Any, above: Any, tied: Any, hits: Any, levels: Any, *, num_items: int,
                   subtopics: Any = None, unretrieved: Any = None, lower_is_better: bool = False) -> SubtopicCurve:
        """Make a curve from its table, for example a table that another program made.

        Parameters
        ----------
        score, above, tied, hits
            The columns of the table, as for ``HitCurve.from_table``. An item counts as a hit if it is above level 0 for
            any subtopic.
        levels : array_like of shape (sum of hits, subtopics)
            The levels of these items, row by row of the table. The greedy ideal order takes them in this order.
        num_items : int
            The number of all items, up to 2**62.
        subtopics : sequence, optional
            The names of the subtopics. Default: the columns of a data frame, else 0, 1, 2, ...
        unretrieved : array_like of shape (m, subtopics), optional
            The levels of items that were never retrieved.
        lower_is_better : bool
            True if the scores rise down the table.

        Returns
        -------
        SubtopicCurve

        Raises
        ------
        ValueError
            If no ranking can have this table. The message names the row and the values.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.SubtopicCurve.from_table([6, 5], [0, 1], [1, 2], [1, 1], [[1, 0], [0, 2]], num_items=4)
        >>> curve == hc.SubtopicCurve([[1, 0], [0, 0], [0, 2], [0, 0]], [6, 5, 5, 3])
        True
        """
        items = levels_of_items(levels, "levels", 2)
        width = items.levels.shape[1]
        names = _column_names(subtopics, width, levels, "levels")
        (code, missing), sets = coded([items, _missing(unretrieved, "unretrieved", width, "levels")])
        plain = HitCurve.from_table(score, above, tied, hits, num_items=num_items, lower_is_better=lower_is_better)
        if plain.weighted:
            raise TypeError("above and tied must be whole numbers: items with subtopics have no weights")
        if plain.num_hits != code.shape[0]:
            raise ValueError(f"levels has {many(code.shape[0], 'rows')}, but the sum of hits is {plain.num_hits}")
        for i in np.flatnonzero(code == 0)[:1]:
            raise ValueError(f"levels[{i}] is 0 for each subtopic: a hit is above level 0 for a subtopic")
        row = np.repeat(np.arange(len(plain)), plain.hits)
        table = _tabled(plain.score, plain.above, plain.tied, row, code, missing, plain.num_items,
                        plain.lower_is_better)  # fmt: skip
        return cls._of_codes(table, sets, code, missing, names)

    @classmethod
    def _of_codes(cls, table: GainCurve, sets: Sets, code: Any, missing: Any, names: tuple[Any, ...]) -> SubtopicCurve:
        """The curve of the items with these codes, in the order of the input."""
        code = code[code != 0]
        return cls._of(table, sets, joined(np.zeros(code.shape[0], np.int64), code, [missing], 1), names)

    @property
    def unretrieved(self) -> Any:
        return self._sets.levels(self._table.unretrieved.astype(np.int64), len(self._names))

    def _resampled(self, table: GainCurves) -> SubtopicCurves:
        """The curves of resamples. `table`: their gain curves, whose levels are codes."""
        return subtopic_curves_of(table, self._sets, drawn_pool(table, self._pool[1]), self._names)

    if TYPE_CHECKING:

        def interval(self, measure: str | Measure | None = None, *,
                     method: Literal["logit", "delong", "bootstrap"] | None = None, confidence_level: float = 0.95,
                     n_resamples: int = 9999, stratified: bool = False,
                     bootstrap_method: Literal["percentile"] = "percentile", ties: str = "expected", rng: Any = None,
                     workers: int = 1) -> Interval: ...  # fmt: skip
        def resample(self, n_resamples: int = 1, *, stratified: bool = False, rng: Any = None,
                     workers: int = 1) -> SubtopicCurves: ...  # fmt: skip
    else:
        interval, resample = OneRanking.interval, OneRanking.resample

    def plot(self, kind: str = "hits", *, relevance_level: float = 1, ax: Any = None, k: int | None = None,
             band: float | None = None, n_resamples: int = 1000, rng: Any = None, log_x: bool = True,
             **line: Any) -> Any:  # fmt: skip
        """Draw the hit curves of the subtopics with matplotlib, or curves computed from them.

        Each subtopic that has a relevant item has a line, with its name in the legend.

        Parameters
        ----------
        kind : {"hits", "precision-recall", "pr", "roc", "enrichment"}
            The kind of picture, as for ``plot_curves``.
        relevance_level : float
            The lowest relevant level, above 0.
        ax, k, band, n_resamples, rng, log_x, line
            As for ``plot_curves``. Bands are those of each subtopic by itself.

        Returns
        -------
        CurveDisplay
            The display has ``ax_``, ``figure_``, ``line_`` and every attribute of the axes, such as ``figure.savefig``.

        Raises
        ------
        ValueError, TypeError, ImportError
            As ``plot_curves`` raises.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.SubtopicCurve([[1, 0], [1, 0], [0, 1]], [0.9, 0.8, 0.7], subtopics=["band", "fruit"])
        >>> curve.plot("precision-recall", ax=hc.plot_figure().axes[0]).get_legend_handles_labels()[1]
        ['band (AP = 1.00)', 'fruit (AP = 0.33)']
        """
        from hitcurve.report.plot import plot_curves

        used = np.sort(self._bundle(relevance_level).subtopic)
        curves = {str(self._names[i]): self.subtopic(self._names[i], relevance_level) for i in used.tolist()}
        if not curves:
            raise ValueError(f"no subtopic has an item of level {relevance_level} or higher: there is nothing to draw")
        return plot_curves(curves, kind, ax=ax, k=k, band=band, n_resamples=n_resamples, rng=rng, log_x=log_x, **line)

    def __bool__(self) -> bool:
        return True  # also without rows

    def __repr__(self) -> str:
        return (f"SubtopicCurve(num_items={self.num_items}, num_relevant={self.num_relevant}, "
                f"num_hits={self.num_hits}; {many(len(self._names), 'subtopics')})")

    def __reduce__(self) -> Any:
        return subtopic_curve, self._parts()

    def subtopic(self, name: Any, relevance_level: float = 1) -> HitCurve:
        """The hit curve of a subtopic, made from the same table.

        Parameters
        ----------
        name : object
            The name of the subtopic.
        relevance_level : float
            The lowest relevant level, above 0.

        Returns
        -------
        HitCurve

        Raises
        ------
        ValueError
            If there is no such subtopic.

        Examples
        --------
        >>> import hitcurve as hc
        >>> hc.SubtopicCurve([[1, 0], [1, 0], [0, 1]], [0.9, 0.8, 0.7]).subtopic(1).average_precision()
        0.3333333333333333
        """
        hits, relevant = self._of_subtopic(name, relevance_level)
        rows = hits > 0
        return curve_of(self.lower_is_better, int(relevant[0]), None if self.score is None else self.score[rows],
                        self.above[rows], self.tied[rows], hits[rows], self.num_items, int(hits.sum()))

    def highest_levels(self) -> GainCurve:
        """The gain curve for which the level of an item is its highest level over the subtopics.

        Returns
        -------
        GainCurve
            Measures without subtopics are read from this curve: an item is relevant if any subtopic has it.

        Examples
        --------
        >>> import hitcurve as hc
        >>> hc.SubtopicCurve([[1, 0], [0, 0], [2, 1]], [0.9, 0.8, 0.7]).highest_levels().level.tolist()
        [1.0, 2.0]
        """
        starts, level, count, highest = self._levels()
        table = self._table
        return GainCurve.from_table(table.score, table.above, table.tied, starts, level, count,
                                    num_items=table.num_items, unretrieved=highest[table.unretrieved.astype(np.int64)],
                                    lower_is_better=self.lower_is_better)


# --- many rankings ----------------------------------------------------------------------------------------------------


class SubtopicCurves(Subtopics):
    """Many rankings of items that are relevant to subtopics: the measures of SubtopicCurve, a value for each query.

    Parameters
    ----------
    y_true, y_score : array_like
        Levels and scores as for SubtopicCurve. If the scores have two dimensions, each row is a query, and the levels
        have three dimensions: query, item and subtopic. If the levels have two dimensions (n, subtopics) and the scores
        too (n, models), each column of scores ranks the same items.
    subtopics : sequence, optional
        The names of the subtopics, of all queries together. Default: the columns of a data frame, else 0, 1, 2, ...
    qid, offsets, mask
        As for ``HitCurves``.
    unretrieved : sequence of array_like, optional
        For each query the levels of items that were never retrieved, of shape (m, subtopics).
    tiebreak, lower_is_better, nan_policy, workers
        As for ``HitCurves``.

    Attributes
    ----------
    subtopics : tuple
        The names of the subtopics. A query has only those that have a relevant item.
    num_items, num_relevant, num_hits, qid, row_offsets, score, above, tied, hits, lower_is_better
        As for ``HitCurves``. An item above level 0 for any subtopic counts as relevant.
    levels : ndarray of shape (sum of num_hits, subtopics)
        The levels of the ranked items that count as relevant, row by row of the tables.
    unretrieved : list of ndarray
        For each query the levels of the items that were never retrieved.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid. The message names the argument, the place and the value.

    Examples
    --------
    >>> import hitcurve as hc
    >>> curves = hc.SubtopicCurves([[1, 0], [1, 0], [0, 1], [1, 1]], [0.9, 0.8, 0.7, 0.6], qid=[1, 1, 1, 2])
    >>> curves.alpha_ndcg(2).round(4).tolist(), curves.subtopic_recall(2).tolist()
    ([0.8066, 1.0], [0.5, 1.0])
    >>> round(curves.mean("alpha_nDCG@2"), 4)
    0.9033
    """

    __slots__ = ()

    def __init__(self, y_true: Any, y_score: Any, *, subtopics: Any = None, qid: Any = None, offsets: Any = None,
                 mask: Any = None, unretrieved: Any = None, tiebreak: Any = None, lower_is_better: bool = False,
                 nan_policy: Any = "raise", workers: int = 1) -> None:  # fmt: skip
        if hasattr(self, "_table"):
            raise TypeError("a SubtopicCurves is immutable: make a new one")
        items = levels_of_items(y_true, "y_true", mask=mask)
        width = items.levels.shape[1]
        names = _column_names(subtopics, width, y_true)
        rows = [] if unretrieved is None else [
            _missing(one, f"unretrieved[{q}]", width) for q, one in enumerate(unretrieved)]
        (code, *missing), sets = coded([items, *rows])
        table = GainCurves(
            code, y_score, qid=qid, offsets=offsets, mask=mask, unretrieved=None if unretrieved is None else missing,
            tiebreak=tiebreak, lower_is_better=lower_is_better, nan_policy=nan_policy, workers=workers)
        query, found = _of_queries(code, items.place, y_score, qid, offsets, table.qid, len(table), nan_policy)
        self._keep(table, sets, joined(query, found, missing, len(table)), names)

    @property
    def qid(self) -> Any:
        return self._table.qid

    @property
    def row_offsets(self) -> Any:
        return self._table.row_offsets

    @property
    def unretrieved(self) -> list[Any]:
        return [self._sets.levels(codes.astype(np.int64), len(self._names)) for codes in self._table.unretrieved]

    @property
    def _row_starts(self) -> Any:
        return self._table.row_offsets

    def _shaped(self, values: Any, shape: Any) -> Any:
        return values.reshape((values.shape[0], *(shape or ())))

    def _one(self, q: int) -> Subtopics:
        return self[q]

    def __getitem__(self, index: int) -> SubtopicCurve:
        table = self._table[index]
        q = int(index) % len(self)
        start, stop = self._pool[0][q : q + 2].tolist()
        pool = np.array([0, stop - start]), self._pool[1][start:stop]
        return SubtopicCurve._of(table, self._sets, pool, self._names)

    def __iter__(self) -> Iterator[SubtopicCurve]:
        return (self[q] for q in range(len(self)))

    def __repr__(self) -> str:
        return f"SubtopicCurves({totals(self)}, {many(len(self._names), 'subtopics')})"

    def __reduce__(self) -> Any:
        return subtopic_curves, self._parts()

    if TYPE_CHECKING:

        def mean(self, measure: str | Measure, *, empty: str = "skip", weights: Any = None,
                 ties: str = "expected") -> float: ...  # fmt: skip
        def interval(self, measure: str | Measure | None = None, *, method: Literal["bootstrap", "t"] | None = None,
                     confidence_level: float = 0.95, n_resamples: int = 9999,
                     bootstrap_method: Literal["percentile", "BCa"] = "percentile", empty: str = "skip",
                     ties: str = "expected", rng: Any = None) -> Interval: ...  # fmt: skip
        def plot(self, kind: Literal["distribution", "queries"] | None = None, *, measure: str | Measure | None = None,
                 ax: Any = None, ties: str = "expected", color: Any = None) -> Any: ...  # fmt: skip
    else:
        mean, interval, plot = ManyRankings.mean, ManyRankings.interval, ManyRankings.plot

    def subtopic(self, name: Any, relevance_level: float = 1) -> HitCurves:
        """The hit curves of a subtopic, made from the same tables.

        Parameters
        ----------
        name : object
            The name of the subtopic.
        relevance_level : float
            The lowest relevant level, above 0.

        Returns
        -------
        HitCurves
            A query without a relevant item of this subtopic has a curve too, whose average precision is NaN.

        Raises
        ------
        ValueError
            If there is no such subtopic.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curves = hc.SubtopicCurves([[1, 0], [1, 0], [0, 1], [1, 1]], [0.9, 0.8, 0.7, 0.6], qid=[1, 1, 1, 2])
        >>> curves.subtopic(1).average_precision().round(4).tolist()
        [0.3333, 1.0]
        """
        hits, relevant = self._of_subtopic(name, relevance_level)
        rows = hits > 0
        before, found = np.append(0, np.cumsum(rows)), np.append(0, np.cumsum(hits))
        score = None if self.score is None else self.score[rows]
        return curves_of(self.qid, self.lower_is_better, False, before[self.row_offsets], score, self.above[rows],
                         self.tied[rows], hits[rows], self.num_items, np.diff(found[self.row_offsets]), relevant)

    def highest_levels(self) -> GainCurves:
        """The gain curves for which the level of an item is its highest level over the subtopics.

        Returns
        -------
        GainCurves
            Measures without subtopics are read from these curves: an item is relevant if any subtopic has it.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curves = hc.SubtopicCurves([[1, 0], [2, 0], [0, 1], [1, 1]], [0.9, 0.8, 0.7, 0.6], qid=[1, 1, 1, 2])
        >>> curves.highest_levels().ndcg(1).tolist()
        [0.5, 1.0]
        """
        starts, level, count, highest = self._levels()
        missing = [highest[codes.astype(np.int64)] for codes in self._table.unretrieved]
        found: GainCurves = gain_curves(self._table.__reduce__()[1][0], starts, level, count, missing)
        return found


def _kept(place: Any, y_score: Any, nan_policy: str) -> Any:
    """The places of the items that are not omitted."""
    if nan_policy != "omit":
        return place
    score = as_real(y_score, "y_score").reshape(-1)
    return place[score[place] == score[place]]


def _of_queries(code: Any, place: Any, y_score: Any, qid: Any, offsets: Any, ids: Any, num_queries: int,
                nan_policy: str) -> tuple[Any, Any]:  # fmt: skip
    """(query, code) of each item that has a subtopic, in the order of the items."""
    if code.ndim == 1 and qid is None and offsets is None:  # the columns of the scores rank the same items
        query, codes = np.repeat(np.arange(num_queries), place.shape[0]), np.tile(code[place], num_queries)
        score = as_real(y_score, "y_score")[place].T.reshape(-1)
        kept = (score == score) | (nan_policy != "omit")
        return query[kept], codes[kept]
    place = _kept(place, y_score, nan_policy)
    codes = code.reshape(-1)[place]
    if code.ndim > 1:
        return place // max(1, code.shape[1]), codes
    if qid is not None:
        return np.searchsorted(ids, as_column(qid, "qid")[place]), codes
    return np.searchsorted(np.asarray(offsets), place, side="right") - 1, codes


# --- pickles ----------------------------------------------------------------------------------------------------------


def _made(kind: type[Subtopics], many_tables: type[Any], table: Any, names: Any, *columns: Any) -> Subtopics:
    """Makes curves from their pickle."""
    if not isinstance(table, many_tables):
        raise TypeError(f"table is of type {type(table).__name__}: must be a {many_tables.__name__}")
    starts, member, level, pool_starts, pool = (np.array(column) for column in columns)
    queries = len(table) if isinstance(table, GainCurves) else 1
    codes = starts.shape[0] - 1
    fine = (
        all(column.dtype.kind in "iu" and column.ndim == 1 for column in (starts, member, pool_starts, pool))
        and codes >= 1 and starts[0] == 0 and starts[-1] == member.shape[0] == level.shape[0]
        and bool((np.diff(starts) >= 0).all()) and pool_starts.shape[0] == queries + 1 and pool_starts[0] == 0
        and pool_starts[-1] == pool.shape[0] and bool((np.diff(pool_starts) == table.num_relevant).all())
        and member.min(initial=0) >= 0 and member.max(initial=-1) < len(names)
        and pool.min(initial=0) >= 0 and max(pool.max(initial=0), table.level.max(initial=0)) < codes
        and bool((level > 0).all()) and bool(np.isfinite(level).all())
    )  # fmt: skip
    if not fine:
        raise ValueError("the parts of the pickle do not belong together")
    return kind._of(table, Sets(starts, member, level.astype(np.float64)), (pool_starts, pool), tuple(names))


def _curve_from(*parts: Any) -> Subtopics:
    return _made(SubtopicCurve, GainCurve, *parts)


def _curves_from(*parts: Any) -> Subtopics:
    return _made(SubtopicCurves, GainCurves, *parts)


def subtopic_curves_of(table: GainCurves, sets: Sets, pool: tuple[Any, Any], names: tuple[Any, ...]) -> SubtopicCurves:
    """Curves of gain curves whose levels are codes, without a check or a copy."""
    return SubtopicCurves._of(table, sets, pool, names)


def missing_items(values: Any, width: int) -> Items:
    """The items that were never retrieved."""
    return _missing(values, "unretrieved", width)


def counted_subtopics(table: Any, rows: LevelRows, query: Any, number: Any, names: tuple[Any, ...],
                      unretrieved: Any = None) -> SubtopicCurve | SubtopicCurves:  # fmt: skip
    """Curves of items that were counted.

    The levels of `table` are numbers of `rows`. `query` and `number` are those of each item with a subtopic, in the
    order of the input. `unretrieved` is for a single ranking: the levels of items that were never retrieved.
    """
    one = isinstance(table, GainCurve)
    missing = missing_items(unretrieved, len(names))
    (code, of_missing), sets = coded([levels_of_items(rows.rows(len(names)), "levels", 2), missing])
    table = _with_codes(table, lambda level: code[level.astype(np.int64)].astype(np.float64), of_missing)
    pool = joined(query, code[number], [of_missing] * one, 1 if one else len(table))
    return (SubtopicCurve if one else SubtopicCurves)._of(table, sets, pool, names)


MAKERS.update(SubtopicCurve=_curve_from, SubtopicCurves=_curves_from)
