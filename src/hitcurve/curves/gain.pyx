# cython: wraparound=True
"""GainCurve and GainCurves: rankings of items with levels of relevance, and their gain."""
cimport cython
cimport numpy as cnp

import numpy as np

from hitcurve._base.checks cimport (
    apply_nan_policy, as_key, as_ndarray, as_real, as_scores, as_whole, checked_items, no_threshold, one_dimension, parse_lower,
    parse_ties, same_items, whole_number,
)
from hitcurve.curves.gain_measures cimport Gains
from hitcurve._kernel.columns cimport Items
from hitcurve._kernel.formulas cimport TIES_BEST, TIES_EXPECTED
from hitcurve.curves.levels cimport (
    coded, from_outside, gains_of, missing_levels, missing_lists, pairs_of, quick_ndcg, quick_ndcgs, resolved, run_lengths,
    unmasked,
)
from hitcurve.curves.ranking cimport Queries, queries_tables

from hitcurve._base.checks import SCORES, check_empty, check_flag
from hitcurve.curves.base import ManyRankings, OneRanking, mean_over, totals
from hitcurve.curves.hit import HitCurve, HitCurves, curve_of, curves_of
from hitcurve._base.words import are, many
from hitcurve._base.pickle import MAKERS as _MAKERS, gain_curve, gain_curves
from hitcurve.curves.sorted import other_items, running_sums
from hitcurve.results import GainCurvePoints

cnp.import_array()


# ----------------------------------------------------------------------------------------------------------- one curve

cdef int unweighted(object sample_weight) except -1:
    if sample_weight is not None:
        raise ValueError(f"sample_weight is of type {type(sample_weight).__name__}: measures of levels are not defined for "
                         "weighted items; for TF-Ranking's nDCG give weight * gain as y_true, and for weights of queries use "
                         "mean(..., weights=)")
    return 0


@cython.final
cdef class GainCurve(Gains):
    """GainCurve(y_true, y_score, *, unretrieved=None, tiebreak=None, lower_is_better=False, nan_policy="raise", \
sample_weight=None, workers=1)
--

The gain curve of one ranking of items with levels of relevance, and every measure computed from it.

    The table is the table of the ``HitCurve`` for which all items above level 0 are relevant, with the levels of each tie
    group added. The table only counts items of level 0.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        The level of relevance of each item, or its gain: whole or real numbers, at least 0.
    y_score : array_like of shape (n,)
        The scores. The highest score ranks first.
    unretrieved : array_like, optional
        The levels of items that were never retrieved. A level of 0 changes nothing.
    tiebreak, lower_is_better, nan_policy, workers
        As for ``HitCurve``.
    sample_weight : None
        Any other value is an error, because measures of levels are not defined for weighted items. TF-Ranking's nDCG of
        weighted items is the nDCG of the gains times the weights, ``GainCurve(weight * gain, y_score).ndcg(k)``, without the
        items of weight 0. Its mean over queries takes the weights sum(weight * gain) / sum(gain).

    Attributes
    ----------
    num_items, num_relevant, num_hits : int
        The numbers of all items, of all items above level 0, and of the ranked items above level 0.
    score, above, tied, hits : ndarray
        The columns of the table, as for ``HitCurve``.
    level_offsets : ndarray of shape (rows + 1,)
        Row i has the levels from level_offsets[i] up to, but not including, level_offsets[i + 1].
    level, level_count : ndarray
        The levels above 0 of the items of each row, ascending, and the number of items of each level.
    unretrieved : ndarray
        The levels above 0 of the items that were never retrieved, ascending.
    lower_is_better : bool
        The argument of this name.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid. The message names the argument, the place and the value.

    References
    ----------
    Jarvelin & Kekalainen (2002), "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20:422.

    Examples
    --------
    >>> import hitcurve as hc
    >>> curve = hc.GainCurve([2, 0, 1, 0], [0.9, 0.8, 0.8, 0.1])
    >>> round(curve.ndcg(), 4), round(curve.ndcg(2), 4)
    (0.9751, 0.8801)
    >>> curve.at_level(2).average_precision()
    1.0
    """
    def __init__(self, y_true, y_score, *, unretrieved=None, tiebreak=None, lower_is_better=False, nan_policy="raise",
                 sample_weight=None, workers=1):
        cdef Items items
        cdef bint by_lower, lower = parse_lower(lower_is_better)
        if self.curves is not None:
            raise TypeError("a GainCurve is immutable: make a new one")
        unweighted(sample_weight)
        by_lower = lower
        missing = missing_levels(unretrieved)
        codes, missing_codes, values = coded(y_true, "y_true", missing)
        one_dimension(codes, "y_true")
        score = by = one_dimension(as_ndarray(y_score, "y_score", SCORES), "y_score")
        same_items(codes.shape[0], score.shape[0])
        if tiebreak is not None:
            score = as_real(score, "y_score")
            key = as_key(tiebreak, codes.shape[0])
            codes, by, at_place = resolved(codes, score, np.zeros(codes.shape[0], np.int64), lower, key,
                                           apply_nan_policy(nan_policy, score, None))
            by_lower, nan_policy = True, "raise"
        codes = np.ascontiguousarray(codes)
        curve = HitCurve(codes != 0, by, lower_is_better=by_lower, nan_policy=nan_policy, workers=workers)
        items.n, of_rows = codes.shape[0], curve.score
        pairs = pairs_of(&items, 0, as_scores(by, "y_score", &items), np.array([0, items.n]), codes, np.array([0, len(curve)]),
                         of_rows, np.array([curve.num_hits]), by_lower)
        if tiebreak is not None:
            of_rows = at_place[of_rows]
        self.set_curve(lower, of_rows, curve.above, curve.tied, curve.hits, curve.num_items, values,
                       pairs, missing_codes)

    cdef int set_curve(self, lower, score, above, tied, hits, num_items, values, pairs, missing_codes) except -1:
        found = int(hits.sum())
        self.lower_is_better = lower
        self.curves = curve_of(lower, found + missing_codes.shape[0], score, above, tied, hits, num_items, found)
        missing, counts = run_lengths(missing_codes)
        self.set_levels(np.array([0, above.shape[0]]), np.array([num_items]), above, tied, hits, values, pairs,
                        (np.array([0, missing.shape[0]]), missing, counts))
        return 0

    cdef object shaped(self, object values, object shape):
        return float(values[0, 0]) if shape is None or shape == () else values[0].reshape(shape)

    @classmethod
    def from_ranked(cls, levels, *, num_items=None, unretrieved=None):
        """Make a curve from levels in rank order, best first. The curve has no ties and no scores.

        Parameters
        ----------
        levels : array_like of shape (n,)
            The level of the item at each rank, at least 0.
        num_items : int, optional
            The number of all items, if `levels` stops before the last item. The missing items have level 0.
        unretrieved : array_like, optional
            The levels of relevant items that were never retrieved.

        Returns
        -------
        GainCurve

        Raises
        ------
        ValueError
            If a level is below 0 or not finite, or if `num_items` is below the length of `levels`.

        Examples
        --------
        >>> import hitcurve as hc
        >>> round(hc.GainCurve.from_ranked([3, 0, 2], unretrieved=[1]).ndcg(3), 4)
        0.84
        """
        missing = missing_levels(unretrieved)
        codes, missing_codes, values = coded(levels, "levels", missing)
        one_dimension(codes, "levels")
        count = codes.shape[0] if num_items is None else checked_items(num_items)
        if count < codes.shape[0]:
            raise ValueError(f"num_items is {count}, but levels has {many(codes.shape[0], 'entries')}")
        above = np.flatnonzero(codes)
        ones = np.ones(above.shape[0], np.int64)
        cdef GainCurve curve = cls.__new__(cls)
        curve.set_curve(False, None, above, ones, ones, count, values,
                        (np.arange(above.shape[0] + 1), codes[above].astype(np.uint32), ones), missing_codes)
        return curve

    @classmethod
    def from_table(cls, score, above, tied, level_offsets, level, level_count, *, num_items, unretrieved=None,
                   lower_is_better=False):
        """Make a curve from its table, for example a table that another program made.

        Parameters
        ----------
        score, above, tied
            The columns of the table, as for ``HitCurve.from_table``.
        level_offsets, level, level_count
            The levels of the rows, as in the attributes of these names.
        num_items : int
            The number of all items, up to 2**62.
        unretrieved : array_like, optional
            The levels of relevant items that were never retrieved.
        lower_is_better : bool
            True if the scores rise down the table.

        Returns
        -------
        GainCurve

        Raises
        ------
        ValueError
            If no ranking can have this table. The message names the row and the values.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.GainCurve.from_table([6, 5], [0, 1], [1, 2], [0, 1, 2], [2, 1], [1, 1], num_items=4)
        >>> curve == hc.GainCurve([2, 1, 0, 0], [6, 5, 5, 3])
        True
        """
        missing = missing_levels(unretrieved)
        above = one_dimension(as_whole(above, "above"), "above")
        hits, values, pairs, missing_codes = from_outside(level_offsets, level, level_count, above.shape[0], missing)
        table = HitCurve.from_table(score, above, tied, hits, num_items=num_items, lower_is_better=lower_is_better)
        if table.weighted:
            raise TypeError("above and tied must be whole numbers: items with levels have no weights")
        cdef GainCurve curve = cls.__new__(cls)
        curve.set_curve(table.lower_is_better, table.score, table.above, table.tied, table.hits, table.num_items, values, pairs,
                        missing_codes)
        return curve

    @property
    def unretrieved(self):
        return np.repeat(self.values[self.missing_code], self.missing_count)

    def __bool__(self):
        return True  # also without rows

    def __repr__(self):
        used = self.used()
        used[0] = False
        levels = self.values[used]
        shown = ", ".join([f"{level:g}" for level in levels[:4]]) + (", ..." if levels.shape[0] > 4 else "")
        return (f"GainCurve(num_items={self.num_items}, num_relevant={self.num_relevant}, num_hits={self.num_hits}; "
                f"{'levels' if levels.shape[0] != 1 else 'level'} {shown or 'none'})")

    def __reduce__(self):
        return gain_curve, (self.score, self.above, self.tied, self.level_offsets, self.level, self.level_count,
                            self.num_items, self.unretrieved, self.lower_is_better)

    def at_level(self, level):
        """The hit curve for which the items of this level or higher are relevant, made from the same table.

        Parameters
        ----------
        level : float
            The lowest relevant level, above 0.

        Returns
        -------
        HitCurve
            The curve equals ``HitCurve(y_true, y_score, relevance_level=level)``. Levels are compared as float64. For
            levels of float32 write ``np.float32(0.7)``, which is not equal to 0.7.

        Examples
        --------
        >>> import hitcurve as hc
        >>> hc.GainCurve([2, 0, 1], [3, 2, 1]).at_level(1).average_precision()
        0.8333333333333333
        """
        hits, missing = self.from_level(level)
        rows = hits > 0
        found = int(hits.sum())
        return curve_of(self.lower_is_better, found + int(missing[0]), None if self.score is None else self.score[rows],
                        self.above[rows], self.tied[rows], hits[rows], self.num_items, found)

    def gain_curve(self, *, gain="linear", ties="expected", ideal=False):
        """Corner points of the gain curve: the total gain of the first x items, from (0, 0) to all items.

        Parameters
        ----------
        gain
            As in ``dcg``.
        ties : {"expected", "best", "worst"}
            Expected is straight across a tie group. Best adds a corner for each gain of the group, in falling order of
            gain, and worst adds the same corners in rising order.
        ideal : bool
            If True, take the ideal order instead: all items in falling order of gain, including the items that were never
            retrieved.

        Returns
        -------
        GainCurvePoints
            The fields are items and gain.

        References
        ----------
        Jarvelin & Kekalainen (2002), "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20:422.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.GainCurve([2, 0, 3, 1, 0], [5, 4, 3, 3, 1])
        >>> points = curve.gain_curve()
        >>> points.items.tolist(), points.gain.tolist()
        ([0, 1, 2, 4, 5], [0.0, 2.0, 2.0, 6.0, 6.0])
        >>> curve.gain_curve(ideal=True).gain.tolist()
        [0.0, 3.0, 5.0, 6.0, 6.0]
        """
        reading = no_threshold("gain_curve", parse_ties(ties))
        used = self.used()
        worth = gains_of(gain, self.values, used)
        self.bounded(worth[used], 1.0)
        if check_flag(ideal, "ideal"):  # all items in one place
            gains, counts = worth[np.append(self.code, self.missing_code)], np.append(self.count, self.missing_count)
            others = np.array([self.num_items - self.num_hits])
            return GainCurvePoints(*corners(np.zeros(counts.shape[0], np.int64), gains, counts, others, worth[0], TIES_BEST))
        place = np.repeat(2 * np.arange(len(self)) + 1, np.diff(self.starts))
        others = other_items(self.above, self.tied, self.hits, self.num_items)
        return GainCurvePoints(*corners(place, worth[self.code], self.count, others, worth[0], reading))

    def plot(self, kind="gain", *, ax=None, k=None, gain="linear", band=None, n_resamples=1000, rng=None,
             **line):
        """Draw the gain curve with matplotlib, beside the curves of the ideal order and of a random order.

        Parameters
        ----------
        kind : "gain"
            The only kind. Hit curves have the other kinds: ``curve.at_level(1).plot("roc")``.
        ax, k, gain, band, n_resamples, rng, line
            As for ``plot_curves``, which draws several curves. ``color``, ``label`` and other keywords go to matplotlib's
            line.

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
        >>> axes = hc.GainCurve([2, 0, 3, 1, 0], [5, 4, 3, 3, 1]).plot(k=3)
        """
        from hitcurve.report.plot import plot_curves
        return plot_curves({"": self}, kind, ax=ax, k=k, gain=gain, band=band, n_resamples=n_resamples, rng=rng,
                           **line)

    interval, resample = OneRanking.interval, OneRanking.resample


cdef tuple corners(object place, object gains, object counts, object others, double zero, int reading):
    """(number of items, their total gain) from the top, at each point where the slope may change.

    Each place holds items with gains, and a number `others` of items with the gain `zero`.
    """
    place, gains = np.append(place, np.arange(others.shape[0])), np.append(gains, np.full(others.shape[0], zero))
    counts = np.append(counts, others)
    inner = np.zeros(gains.shape[0]) if reading == TIES_EXPECTED else -gains if reading == TIES_BEST else gains
    order = np.lexsort((inner, place))
    order = order[counts[order] > 0]
    place, inner, counts = place[order], inner[order], counts[order]
    last = np.append((place[1:] != place[:-1]) | (inner[1:] != inner[:-1]), True)[:order.shape[0]]
    gained = running_sums(gains[order] * counts)
    return np.append(0, np.cumsum(counts)[last]), np.append(0.0, gained[last])


def _gain_curve_from(score, above, tied, level_offsets, level, level_count, num_items, unretrieved, lower_is_better):
    """Makes a GainCurve from its pickle."""
    return GainCurve.from_table(score, above, tied, level_offsets, level, level_count, num_items=num_items,
                                unretrieved=unretrieved, lower_is_better=lower_is_better)


# ---------------------------------------------------------------------------------------------------------- many curves

@cython.final
cdef class GainCurves(Gains):
    """GainCurves(y_true, y_score, *, qid=None, offsets=None, mask=None, unretrieved=None, tiebreak=None, \
lower_is_better=False, nan_policy="raise", sample_weight=None, workers=1)
--

The gain curves of many rankings: the measures of GainCurve, with a value for each query.

    Parameters
    ----------
    y_true, y_score : array_like
        Levels and scores as for GainCurve. In two dimensions each row is a query. If the scores have two dimensions
        (n, models) and the levels have one, each column of scores ranks the same items.
    qid : array_like of shape (n,), optional
        The query of each item, in any order and of any type that can be sorted. The curves are in ascending order of qid.
    offsets : array_like of int, shape (Q + 1,), optional
        Query q holds the items from offsets[q] up to, but not including, offsets[q + 1].
    mask : array_like of bool, optional
        In two dimensions: False marks padding, a place without an item.
    unretrieved : sequence of array_like, optional
        For each query the levels of items that were never retrieved. A level of 0 changes nothing.
    tiebreak, lower_is_better, nan_policy, workers
        As for ``HitCurves``.
    sample_weight : None
        Any other value is an error: see ``GainCurve``. ``mean`` takes weights of queries.

    Attributes
    ----------
    num_items, num_relevant, num_hits, qid, row_offsets, score, above, tied, hits, lower_is_better
        As for ``HitCurves``. An item above level 0 counts as relevant.
    level_offsets, level, level_count : ndarray
        As for ``GainCurve``, but for the rows of all queries.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid. The message names the argument, the place and the value.

    Examples
    --------
    >>> import hitcurve as hc
    >>> curves = hc.GainCurves([[2, 0, 1], [0, 3, 0]], [[0.9, 0.8, 0.7], [0.9, 0.8, 0.7]])
    >>> curves.ndcg(2).round(4).tolist()
    [0.7602, 0.6309]
    """
    def __init__(self, y_true, y_score, *, qid=None, offsets=None, mask=None, unretrieved=None, tiebreak=None,
                 lower_is_better=False, nan_policy="raise", sample_weight=None, workers=1):
        cdef Queries queries
        if self.curves is not None:
            raise TypeError("a GainCurves is immutable: make a new one")
        unweighted(sample_weight)
        lower = by_lower = parse_lower(lower_is_better)
        if mask is not None:
            if qid is not None or offsets is not None or tiebreak is not None:
                raise ValueError("mask needs two-dimensional y_true and y_score, and cannot be combined with qid, offsets or "
                                 "tiebreak")
            y_true, y_score, mask = unmasked(mask, y_true, y_score)
        missing = missing_lists(unretrieved)
        every = np.concatenate([np.empty(0), *missing])
        codes, missing_codes, values = coded(y_true, "y_true", every)
        queries = Queries(codes != 0, y_score, qid, offsets, None, nan_policy, mask)
        if unretrieved is not None and len(missing) != queries.num_queries:
            raise ValueError(f"unretrieved has {many(len(missing), 'lists')}, but there "
                             f"{are(queries.num_queries)} {many(queries.num_queries, 'queries')}")
        if queries.step == 0:
            codes = codes.reshape(-1)[:0] if queries.num_queries == 0 else (
                queries.laid_out(codes, "y_true") if mask is None else codes[mask])
        codes = np.ascontiguousarray(codes)
        at_place = None
        if tiebreak is not None:
            score = queries.real_scores()
            codes = np.tile(codes, queries.num_queries) if queries.step != 0 else codes
            key, kept = queries.keys(tiebreak), apply_nan_policy(nan_policy, score, queries.where)
            codes, place, at_place = resolved(codes, score, queries.of_items(), lower, key, kept)
            ids, bounds = queries.qid, queries.offsets
            if kept is not None:
                bounds = np.append(0, np.cumsum(kept))[bounds]
            queries = Queries(codes != 0, place, None, bounds, None, "raise")
            queries.qid = ids
            by_lower = True
        table = queries_tables(queries, by_lower, workers, None, None)
        row_starts, score, above, tied, hits, num_items, num_hits = table[:7]
        pairs = pairs_of(&queries.items, queries.step, queries.scores, queries.offsets, codes, row_starts, score, num_hits,
                         by_lower)
        if at_place is not None:
            score = at_place[score]
        lengths = np.array([len(levels) for levels in missing] or [0] * queries.num_queries, np.int64)
        self.set_curves(queries.qid, lower, (row_starts, score, above, tied, hits, num_items, num_hits, num_hits + lengths),
                        values, pairs, missing_pairs(missing_codes, lengths))

    cdef int set_curves(self, qid, lower, tuple table, values, tuple pairs, tuple missing) except -1:
        """`missing` holds the pairs of the items that were never retrieved, query by query."""
        self.lower_is_better = lower
        self.curves = curves_of(qid, lower, False, *table)
        self.set_levels(self.curves.row_offsets, self.curves.num_items, self.curves.above, self.curves.tied, self.curves.hits,
                        values, pairs, missing)
        return 0

    cdef object shaped(self, object values, object shape):
        return values.reshape((values.shape[0], *(shape or ())))

    @property
    def unretrieved(self):
        levels = np.repeat(self.values[self.missing_code], self.missing_count)
        ends = np.append(0, np.cumsum(self.missing_count))[self.missing_starts]
        return [levels[a:b] for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]

    @property
    def qid(self):
        return self.curves.qid

    @property
    def row_offsets(self):
        return self.curves.row_offsets

    def __getitem__(self, index):
        cdef GainCurve curve = GainCurve.__new__(GainCurve)
        hits = self.curves[index]
        q = whole_number(index, "index") % len(self)
        a, b = self.row_offsets[q], self.row_offsets[q + 1]
        first, last = self.starts[a], self.starts[b]
        missing = slice(self.missing_starts[q], self.missing_starts[q + 1])
        curve.set_curve(self.lower_is_better, hits.score, hits.above, hits.tied, hits.hits, hits.num_items, self.values,
                        (self.starts[a:b + 1] - first, self.code[first:last], self.count[first:last]),
                        np.repeat(self.missing_code[missing], self.missing_count[missing]))
        return curve

    def __iter__(self):
        return (self[q] for q in range(len(self)))

    def __repr__(self):
        return f"GainCurves({totals(self)})"

    def __reduce__(self):
        return gain_curves, (self.curves, self.level_offsets, self.level, self.level_count, self.unretrieved)

    def at_level(self, level):
        """The hit curves for which the items of this level or higher are relevant, made from the same tables.

        Parameters
        ----------
        level : float
            The lowest relevant level, above 0.

        Returns
        -------
        HitCurves
            The curves equal ``HitCurves(y_true, y_score, relevance_level=level, ...)``. Levels are compared as float64.
            For levels of float32 write ``np.float32(0.7)``, which is not equal to 0.7.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curves = hc.GainCurves([[2, 0, 1], [0, 3, 0]], [[3, 2, 1], [3, 2, 1]])
        >>> curves.at_level(2).average_precision().tolist()
        [1.0, 0.5]
        """
        hits, missing = self.from_level(level)
        rows = hits > 0
        before = np.append(0, np.cumsum(rows))
        found = np.append(0, np.cumsum(hits))
        num_hits = np.diff(found[self.row_offsets])
        return curves_of(self.qid, self.lower_is_better, False, before[self.row_offsets],
                         None if self.score is None else self.score[rows], self.above[rows], self.tied[rows], hits[rows],
                         self.num_items, num_hits, num_hits + missing)

    mean, interval, plot = ManyRankings.mean, ManyRankings.interval, ManyRankings.plot

    def mean_ndcg(self, k=None, *, empty="skip", gain="linear", discount="log2", ties="expected", ideal_k="same"):
        """Mean nDCG: the arithmetic mean of the queries' nDCG.

        Parameters
        ----------
        k : int, optional
            Only the first k items of each query count.
        empty : {"skip", "zero", "one", "raise"}
            How a query counts in which every gain is 0. ``"skip"`` leaves the query out, ``"zero"`` counts it as 0,
            ``"one"`` counts it as 1, and ``"raise"`` is an error that names the query.
        gain, discount, ties, ideal_k
            As in ``ndcg``.

        Returns
        -------
        float
            NaN when no query counts.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curves = hc.GainCurves([[2, 0, 1], [0, 3, 0], [0, 0, 0]], [[3, 2, 1], [3, 2, 1], [3, 2, 1]])
        >>> round(curves.mean_ndcg(2), 4), round(curves.mean_ndcg(2, empty="zero"), 4)
        (0.6956, 0.4637)
        """
        if k is not None:
            k = whole_number(k, "k")
        return mean_over(self.ndcg(k, gain=gain, discount=discount, ties=ties, ideal_k=ideal_k), empty, self.qid)


def _gain_curves_from(curves, level_offsets, level, level_count, unretrieved):
    """Makes a GainCurves from its pickle."""
    if not isinstance(curves, HitCurves) or curves.weighted:
        raise TypeError(f"curves is of type {type(curves).__name__}: must be a HitCurves without weights")
    missing = missing_lists(unretrieved)
    if unretrieved is not None and len(missing) != len(curves):
        raise ValueError(f"unretrieved has {many(len(missing), 'lists')}, but there "
                         f"{are(len(curves))} {many(len(curves), 'queries')}")
    lengths = np.array([levels.shape[0] for levels in missing] or [0] * len(curves), np.int64)
    for q in np.flatnonzero(curves.num_relevant - curves.num_hits != lengths)[:1]:
        raise ValueError(f"unretrieved[{q}] has {many(lengths[q], 'levels')}, but num_relevant - num_hits is "
                         f"{curves.num_relevant[q] - curves.num_hits[q]}")
    hits, values, pairs, codes = from_outside(level_offsets, level, level_count, curves.hits.shape[0],
                                              np.concatenate([np.empty(0), *missing]))
    for i in np.flatnonzero(hits != curves.hits)[:1]:
        raise ValueError(f"hits[{i}] is {curves.hits[i]}, but level_count holds {many(hits[i], 'items')} of that row")
    cdef GainCurves made = GainCurves.__new__(GainCurves)
    table = (curves.row_offsets, curves.score, curves.above, curves.tied, curves.hits, curves.num_items, curves.num_hits,
             curves.num_relevant)
    made.set_curves(curves.qid, curves.lower_is_better, table, values, pairs, missing_pairs(codes, lengths))
    return made


def gain_curves_of(lower, table, values, pairs, missing, qid=None):
    """Gain curves without scores that take over these arrays, without a check or a copy."""
    cdef GainCurves curves = GainCurves.__new__(GainCurves)
    curves.set_curves(qid, lower, (table[0], None, *table[1:]), values, pairs, missing)
    return curves


cdef tuple missing_pairs(codes, lengths):
    """(where the pairs of each query begin, codes, counts). `lengths` holds the number of codes of each query, sorted."""
    cdef Py_ssize_t q
    kinds, counts, starts = [np.empty(0, np.uint32)], [np.empty(0, np.int64)], [0]
    bounds = np.append(0, np.cumsum(lengths))
    if codes.shape[0] == 0:
        return np.zeros(lengths.shape[0] + 1, np.int64), kinds[0], counts[0]
    for q in range(lengths.shape[0]):
        found = run_lengths(codes[bounds[q]:bounds[q + 1]])
        kinds.append(found[0])
        counts.append(found[1])
        starts.append(starts[-1] + found[0].shape[0])
    return np.array(starts, np.int64), np.concatenate(kinds), np.concatenate(counts)


_MAKERS.update(GainCurve=_gain_curve_from, GainCurves=_gain_curves_from)


# ----------------------------------------------------------------------------------------------------- in one function

def ndcg(y_true, y_score, *, k=None, gain="linear", discount="log2", ties="expected", ideal_k="same", unretrieved=None,
         tiebreak=None, lower_is_better=False, nan_policy="raise", workers=1):
    """Normalised discounted cumulated gain of one ranking.

    nDCG is the sum of gain / log2(rank + 1) over the ranking, divided by the same sum over the ideal order.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        The level of relevance of each item, or its gain: whole or real numbers, at least 0.
    y_score : array_like of shape (n,)
        The scores. The highest score ranks first.
    k, gain, discount, ties, ideal_k
        How nDCG is computed: see ``GainCurve.ndcg``.
    unretrieved, tiebreak, lower_is_better, nan_policy, workers
        How the ranking is made: see ``GainCurve``.

    Returns
    -------
    float
        In [0, 1]. NaN when every gain is 0.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid. The message names the argument, the place and the value.

    References
    ----------
    Jarvelin & Kekalainen (2002), "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20:422. McSherry & Najork
    (2008), ECIR, for ties.

    Examples
    --------
    >>> import hitcurve as hc
    >>> round(hc.ndcg([1, 0, 3], [0.9, 0.8, 0.7]), 4)
    0.6885
    """
    cdef double value = -1
    if unretrieved is None and tiebreak is None and workers is 1:
        value = quick_ndcg(y_true, y_score, k, gain, discount, ties, ideal_k, lower_is_better, nan_policy)
    if value != -1:
        return value
    if k is not None:
        k = whole_number(k, "k")
    return GainCurve(
        y_true, y_score, unretrieved=unretrieved, tiebreak=tiebreak, lower_is_better=lower_is_better, nan_policy=nan_policy,
        workers=workers,
    ).ndcg(k, gain=gain, discount=discount, ties=ties, ideal_k=ideal_k)


def mean_ndcg(y_true, y_score, *, qid=None, offsets=None, mask=None, empty="skip", k=None, gain="linear", discount="log2",
              ties="expected", ideal_k="same", unretrieved=None, tiebreak=None, lower_is_better=False, nan_policy="raise",
              workers=1):
    """Mean nDCG of many rankings: the arithmetic mean of their nDCG.

    Parameters
    ----------
    y_true, y_score : array_like
        Levels and scores. In two dimensions each row is a query. In one dimension `qid` or `offsets` says to which query
        an item belongs.
    qid, offsets, mask, unretrieved, tiebreak, lower_is_better, nan_policy, workers
        How the rankings are made: see ``GainCurves``.
    empty : {"skip", "zero", "one", "raise"}
        How a query counts in which every gain is 0. ``"skip"`` leaves the query out, ``"zero"`` counts it as 0,
        ``"one"`` counts it as 1, and ``"raise"`` is an error that names the query.
    k, gain, discount, ties, ideal_k
        How nDCG is computed: see ``GainCurve.ndcg``.

    Returns
    -------
    float
        In [0, 1]. NaN when no query counts.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid. The message names the argument, the place and the value.

    References
    ----------
    Those of ``ndcg``.

    Examples
    --------
    >>> import hitcurve as hc
    >>> round(hc.mean_ndcg([[2, 0, 1], [0, 3, 0]], [[3, 2, 1], [3, 2, 1]], k=2), 4)
    0.6956
    """
    check_empty(empty)
    if mask is None and unretrieved is None and tiebreak is None and workers is 1:
        found = quick_ndcgs(y_true, y_score, qid, offsets, k, gain, discount, ties, ideal_k, lower_is_better, nan_policy)
        if found is not None:
            return mean_over(found[0], empty, found[1])
    return GainCurves(
        y_true, y_score, qid=qid, offsets=offsets, mask=mask, unretrieved=unretrieved, tiebreak=tiebreak,
        lower_is_better=lower_is_better, nan_policy=nan_policy, workers=workers,
    ).mean_ndcg(k, empty=empty, gain=gain, discount=discount, ties=ties, ideal_k=ideal_k)
