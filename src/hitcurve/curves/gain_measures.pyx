# cython: wraparound=True
"""The measures of gain curves, for one ranking and for many rankings."""
from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint32_t

from cpython.mem cimport PyMem_RawFree

cimport numpy as cnp

import numpy as np

from hitcurve._base.checks cimport (
    all_ranked, check_number, check_within, frozen, no_threshold, not_negative, parse_ties, whole_ranks,
)
from hitcurve._kernel.err cimport MOST_LEVEL, signalled
from hitcurve._kernel.formulas cimport NO_CUTOFF, TIES_EXPECTED, TIES_THRESHOLD, Ties
from hitcurve._kernel.gains cimport (
    FALL_NOT, FALL_POWER, FALL_RANK, FALL_SQUARE, LOOKS, PART_RATE, Fall, GainFormula, GainReading, GainRoom, Levels, UserPart,
    dcg as read_dcg, discounts, err as read_err, ndcg as read_ndcg, rbp as read_rbp,
)
from hitcurve._kernel.graded cimport (
    average_gain as read_average_gain, graded_precision, graded_precision_of_levels, utility as read_utility,
)
from hitcurve._kernel.overlap cimport compat as read_compat, compat_as_is as read_compat_as_is
from hitcurve._kernel.pairwise cimport (
    goodman_kruskal_gamma as read_gamma, mean_percentile_rank as read_mean_percentile_rank,
    pairwise_accuracy as read_pairwise_accuracy, somers_d as read_somers_d,
)
from hitcurve._kernel.users cimport (
    bpm as read_bpm, fill_looks, insq as read_insq, inst as read_inst, nerr as read_nerr, rbp_residual as read_rbp_residual,
    squares,
)
from hitcurve.curves.levels cimport BY_RANK, Reader, beyond_keys, exponential, gains_of, weights_below, within_keys
from hitcurve.curves.ranking cimport counts_in

from functools import lru_cache

from hitcurve._base.checks import check_choice, check_count, check_flag

cnp.import_array()

cdef extern from "Python.h":
    void* raise_pending "PyErr_Occurred"() except *  # raises the error that a signal has set within a kernel

cdef enum:
    STEPS = 16  # the work for the items of a level in a row, in the unit of ERR


cdef double persistence(object p) except -1:
    return check_within(p, "p", "between 0 and 1", 0.0, 1.0)


cdef double scale(object max_rel, object min_rel) except -1:
    """The highest level of a scale, above its lowest level."""
    cdef double most = check_within(max_rel, "max_rel", "above 0 and finite", 0.0, INFINITY)
    if not_negative(min_rel, "min_rel") >= most:
        raise ValueError(f"min_rel is {min_rel}: must be below max_rel, which is {max_rel}")
    return most


@lru_cache(maxsize=64)
def _looks(int fall, double p):
    """The chances to look at the first ranks, and their sums, for the kernel of NERR."""
    cdef GainReading reading
    reading.fall, reading.p = <Fall>fall, p
    chances, sums = np.empty(LOOKS), np.empty(2 * (LOOKS + 1))
    fill_looks(&reading, <double*>cnp.PyArray_DATA(<cnp.ndarray>chances), <double*>cnp.PyArray_DATA(<cnp.ndarray>sums))
    return frozen(chances), frozen(sums)


cdef object raised(object gains):
    """Multiplies very small or very large gains by a power of two, which keeps quotients of gains, so that sums fit float64."""
    most = gains.max(initial=0.0)
    return np.ldexp(gains, 1000) if 0.0 < most < 1e-280 else np.ldexp(gains, -200) if most > 1e280 else gains


# Several tables, one after the other: where the rows and the missing pairs of each table begin, and its number of items.
cdef struct GainTables:
    Levels levels            # of all tables together
    Py_ssize_t number
    const int64_t* row_starts
    const int64_t* missing_starts
    const int64_t* num_items
    int64_t* own_starts      # memory for the places where the pairs of one ranking's rows begin, from its first pair; or NULL


cdef void ranking_at(const GainTables* tables, Py_ssize_t q, Levels* levels) noexcept nogil:
    cdef Py_ssize_t start = <Py_ssize_t>tables.row_starts[q], row, first
    levels[0] = tables.levels
    levels.table.above, levels.table.tied, levels.table.hits = (
        levels.table.above + start, levels.table.tied + start, levels.table.hits + start)
    levels.table.rows = <Py_ssize_t>tables.row_starts[q + 1] - start
    levels.table.num_items = tables.num_items[q]
    levels.starts += start
    if tables.own_starts is not NULL:
        first = <Py_ssize_t>levels.starts[0]
        for row in range(levels.table.rows + 1):
            tables.own_starts[row] = levels.starts[row] - first
        levels.starts = tables.own_starts
        levels.code += first
        levels.count += first
    start = <Py_ssize_t>tables.missing_starts[q]
    levels.num_missing = <Py_ssize_t>tables.missing_starts[q + 1] - start
    levels.missing_code += start
    levels.missing_count += start


cdef void read_rankings(const GainTables* tables, GainFormula formula, GainReading* reading, const int64_t* k, Py_ssize_t n,
                        bint ideal_all, GainRoom* room, double* out) noexcept nogil:
    """The measure of each ranking at each of n ranks, or of all items if k is NULL. Stops when the room has failed."""
    cdef Levels levels
    cdef Py_ssize_t q, i
    for q in range(tables.number):
        ranking_at(tables, q, &levels)
        room.num_ideal = -1
        for i in range(n):
            reading.k = k[i] if k is not NULL else NO_CUTOFF
            reading.ideal_k = NO_CUTOFF if ideal_all else reading.k
            out[q * n + i] = formula(&levels, reading, room)
            room.failed = room.failed or signalled(&room.work, STEPS * (
                levels.starts[levels.table.rows] - levels.starts[0] + levels.num_missing))
            if room.failed:
                return


cdef class Gains(Curve):
    """The measures of GainCurve and GainCurves: a number for a GainCurve, an array of numbers by query for GainCurves."""
    _family, _usual_measure, _usual_picture = "gains", "nDCG", "distribution"

    cdef int set_levels(self, object row_starts, object num_items, object above, object tied, object hits, object values,
                        tuple pairs, tuple missing) except -1:
        self.row_starts, self.sizes = (np.ascontiguousarray(column, np.int64) for column in (row_starts, num_items))
        self.values = values
        self.starts, self.code, self.count = (frozen(np.ascontiguousarray(column)) for column in pairs)
        self.missing_starts, self.missing_code, self.missing_count = (
            frozen(np.ascontiguousarray(column)) for column in missing)
        self.levels.table.above = counts_in(above)
        self.levels.table.tied = counts_in(tied)
        self.levels.table.hits = counts_in(hits)
        self.levels.starts = counts_in(self.starts)
        self.levels.code = <const uint32_t*>cnp.PyArray_DATA(<cnp.ndarray>self.code)
        self.levels.count = counts_in(self.count)
        self.levels.missing_code = <const uint32_t*>cnp.PyArray_DATA(<cnp.ndarray>self.missing_code)
        self.levels.missing_count = counts_in(self.missing_count)
        return 0

    cdef object used(self):
        """A mask of the codes that occur. Code 0 always counts as occurring."""
        used = np.zeros(self.values.shape[0], bool)
        used[self.code] = used[self.missing_code] = True
        used[0] = True
        return used

    cdef object stop_chances(self, object max_level):
        """The chance of each code that an item of its level stops the user."""
        cdef double top = 4.0 if max_level is None else check_within(
            max_level, "max_level", f"above 0 and below {MOST_LEVEL + 1}", 0.0, MOST_LEVEL + 1.0)
        self.below_top(top)
        return exponential(np.where(self.used(), self.values, 0.0), top)

    cdef int below_top(self, double top) except -1:
        """Raises an error if a level is above the highest level of the scale."""
        highest = self.values[self.used()].max()
        if highest > top:
            raise ValueError(f"max_level is {top:g}, but an item has level {highest:g}: give max_level={highest:g}")
        return 0

    cdef object scaled(self, object max_rel, object min_rel):
        """The gain of each code: 0 up to level `min_rel`, 1 from `max_rel` on. Without `max_rel`, the level itself."""
        cdef double least = not_negative(min_rel, "min_rel"), most
        if max_rel is None:
            if least > 0.0:
                raise ValueError(f"min_rel is {min_rel}, but max_rel is None: min_rel needs the highest level of the scale")
            return np.where(self.used(), self.values, 0.0)
        most = scale(max_rel, min_rel)
        return self.clipped(least, most) / (most - least)

    cdef object clipped(self, double least, double most):
        """How far the level of each code is above `least`, as if no level were above `most`."""
        return np.where(self.used(), np.clip(self.values, least, most) - least, 0.0)

    cdef int bounded(self, object worth, double most) except -1:
        """Raises an error if the sum of all gains, each multiplied by up to `most`, may overflow."""
        items = float(self.sizes.max(initial=0)) + float(self.missing_count.sum())
        with np.errstate(over="ignore"):
            if np.isinf(worth.max(initial=0.0) * items * most):
                raise ValueError(f"a gain is {worth.max():g}: the sum over {items:g} items may be beyond the greatest float64")
        return 0

    cdef object read_all(self, GainFormula formula, Reader reader, object ranks, bint ideal_all):
        """The measure for each ranking and each rank, or one column if there are no ranks."""
        cdef GainReading reading = reader.reading
        cdef GainRoom room
        cdef Py_ssize_t n = 1, room_size
        cdef const int64_t* k = NULL
        cdef double* out
        cdef GainTables tables = GainTables(self.levels, self.sizes.shape[0], counts_in(self.row_starts),
                                            counts_in(self.missing_starts), counts_in(self.sizes), NULL)
        if ranks is not None:
            k, n = counts_in(ranks), ranks.shape[0]
        pairs = np.diff(self.starts[self.row_starts]) + np.diff(self.missing_starts)
        within_keys(pairs.max(initial=0), "a ranking has {} pairs of a tie group and a level")
        room_size = pairs.max(initial=0) + 2
        if beyond_keys(self.code.shape[0]):  # then the pairs are counted separately in each ranking
            own_starts = np.empty(np.diff(self.row_starts).max(initial=0) + 1, np.int64)
            tables.own_starts = counts_in(own_starts)
        values = np.empty((tables.number, n))
        keys = np.empty(3 * room_size, np.int64)
        out = <double*>cnp.PyArray_DATA(<cnp.ndarray>values)
        room.keys = counts_in(keys)
        room.scratch = room.keys + room_size
        room.ideal = room.scratch + room_size
        room.values, room.values_size, room.failed, room.work = NULL, 0, False, 0
        with nogil:
            read_rankings(&tables, formula, &reading, k, n, ideal_all, &room, out)
        PyMem_RawFree(room.values)
        if room.failed:
            raise_pending()
            raise MemoryError
        return values

    cdef object read(self, GainFormula formula, str name, object k, object ties, object gain, object discount, bint ideal_all,
                     double p, object gains=None):
        ranks, shape = (None, None) if k is None else whole_ranks(k)
        reader = self.asked(name, ties, gain, discount, p, gains)
        return self.shaped(self.read_all(formula, reader, ranks, ideal_all), shape)

    cdef Reader asked(self, str name, object ties, object gain, object discount, double p, object gains):
        """The arguments of a measure for its kernel."""
        cdef Reader reader = Reader.__new__(Reader)
        reader.reading.ties = <Ties>parse_ties(ties)
        if reader.reading.ties == TIES_THRESHOLD:
            no_threshold(name, TIES_THRESHOLD)
        used = self.used()
        worth = gains_of(gain, self.values, used) if gains is None else gains
        reader.set_gains(worth)
        reader.set_discount(discount)
        most = max(1.0, reader.table.max(initial=0.0) if reader.table is not None else 0.0)
        self.bounded(worth[used], most)
        reader.reading.p = p
        return reader

    cdef object utility(self, str name, object k, object ties, object gain, object beta, double p):
        """A measure of utility, for which each gain is multiplied by beta."""
        cdef double share = not_negative(beta, "beta")
        used = self.used()
        gains = gains_of(gain, self.values, used)
        if gains[0] != 0:
            raise ValueError(f"gain[0] is {gains[0]:g}: the gain of level 0 must be 0 for {name}")
        with np.errstate(over="ignore", invalid="ignore"):
            worth = np.where(used, gains, 0.0) * share
        if np.isinf(worth).any():
            raise ValueError(f"beta is {beta}: beta times a gain of {gains[used].max():g} is beyond the greatest float64")
        return self.read(read_utility, name, k, ties, None, "log2", False, p, worth)

    cdef object shaped(self, object values, object shape):
        """Turns the rows of values, a row for each ranking, into numbers or arrays of this shape."""

    # The table.

    def __len__(self):
        return len(self.curves)

    @property
    def num_items(self):
        return self.curves.num_items

    @property
    def num_relevant(self):
        return self.curves.num_relevant

    @property
    def num_hits(self):
        return self.curves.num_hits

    @property
    def score(self):
        return self.curves.score

    @property
    def above(self):
        return self.curves.above

    @property
    def tied(self):
        return self.curves.tied

    @property
    def hits(self):
        return self.curves.hits

    @property
    def level(self):
        return frozen(np.take(self.values, self.code))

    @property
    def level_count(self):
        return self.count

    @property
    def level_offsets(self):
        return self.starts

    cdef tuple from_level(self, object level):
        """(hits of each row, relevant items never retrieved) if the items of this level or higher are relevant."""
        exact = int(level) if isinstance(check_number(level, "level"), np.integer) else level
        if not exact > 0:
            raise ValueError(f"level is {level!r}: must be above 0")
        bound = float(min(exact, 2**1024 - 2**971) if isinstance(exact, int) else exact)
        if bound != exact:
            raise ValueError(f"level is {level}: float64 cannot hold it exactly")
        hits = np.append(0, np.cumsum(np.where(self.values[self.code] >= bound, self.count, 0)))
        missing = np.append(0, np.cumsum(np.where(self.values[self.missing_code] >= bound, self.missing_count, 0)))
        return np.diff(hits[self.starts]), np.diff(missing[self.missing_starts])

    # The measures.

    def dcg(self, k=None, *, gain="linear", discount="log2", ties="expected"):
        """Discounted cumulated gain: the sum, over the first k ranks, of gain times discount.

        Parameters
        ----------
        k : int or array of int, optional
            Only the first k items count. None counts all items.
        gain : {"linear", "exponential"}, mapping or array
            The gain of an item of a level. ``"linear"``: the level itself. ``"exponential"``: 2**level - 1. A mapping or an
            array: ``gain[level]``. Every level that occurs needs a gain, finite and at least 0. Level 0 has gain 0 unless
            the mapping or the array gives another gain.
        discount : "log2", ("log", b) or array
            The weight of a rank. ``"log2"``: 1 / log2(rank + 1). ``("log", b)``: 1 up to rank b and 1 / log_b(rank) beyond
            (Jarvelin & Kekalainen). An array: the weights themselves, from rank 1 on. The weights must not rise, and ranks
            beyond the last weight have weight 0.
        ties : {"expected", "best", "worst"}
            How to interpret a group of equal scores. ``"expected"``: the mean over all orders of its items. ``"best"``: the
            order with the highest gain first. ``"worst"``: the order with the lowest gain first.

        Returns
        -------
        float or ndarray
            0 when every gain is 0.

        References
        ----------
        Jarvelin & Kekalainen (2002), "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20:422. Burges et al.
        (2005), "Learning to rank using gradient descent", ICML, for 2**level - 1. McSherry & Najork (2008), ECIR, for ties.

        Examples
        --------
        >>> import hitcurve as hc
        >>> hc.GainCurve([3, 0, 1], [0.9, 0.8, 0.7]).dcg()
        3.5
        """
        return self.read(read_dcg, "dcg", k, ties, gain, discount, False, 0.5)

    def ndcg(self, k=None, *, gain="linear", discount="log2", ties="expected", ideal_k="same"):
        """Normalised discounted cumulated gain: DCG divided by the DCG of the ideal order of all relevant items.

        Parameters
        ----------
        k, gain, discount, ties
            As in ``dcg``.
        ideal_k : {"same", "all"}
            How many items of the ideal order count. ``"same"``: the first k, as in the ranking. ``"all"``: all items.

        Returns
        -------
        float or ndarray
            In [0, 1]. NaN when every gain is 0.

        References
        ----------
        Those of ``dcg``.

        Examples
        --------
        >>> import hitcurve as hc
        >>> round(hc.GainCurve([1, 0, 3], [0.9, 0.8, 0.7]).ndcg(), 4)
        0.6885
        """
        if not isinstance(ideal_k, str) or ideal_k not in ("same", "all"):
            raise ValueError(f"ideal_k is {ideal_k!r}: must be 'same' or 'all'")
        return self.read(read_ndcg, "ndcg", k, ties, gain, discount, ideal_k == "all", 0.5,
                         raised(gains_of(gain, self.values, self.used())))

    def ncrr(self, k=None, *, relevance_level=None, ties="expected"):
        """Normalised cumulative reciprocal rank: nDCG of relevant items that all gain 1, with the discount 1 / rank.

        NCRR = the sum of 1 / rank over the relevant items among the first k, divided by 1 + 1/2 + ... + 1/min(k, R). R is
        the number of relevant items, also of those that were never retrieved.

        Parameters
        ----------
        k, ties
            As in ``dcg``.
        relevance_level : number, optional
            The lowest relevant level, above 0. None takes every item above level 0 as relevant.

        Returns
        -------
        float or ndarray
            In [0, 1]. NaN when there is no relevant item.

        References
        ----------
        Salah, Truong & Lauw (2020), "Cornac: a comparative framework for multimodal recommender systems", JMLR 21:95.

        Examples
        --------
        >>> import hitcurve as hc
        >>> round(hc.GainCurve([0, 2, 1], [0.9, 0.8, 0.7]).ncrr(), 4)
        0.5556
        """
        relevant = self.values > 0
        if relevance_level is not None:
            least = check_within(relevance_level, "relevance_level", "above 0 and finite", 0.0, INFINITY)
            relevant = np.array([level >= least for level in self.values.tolist()])
        return self.read(read_ndcg, "ncrr", k, ties, None, BY_RANK, False, 0.5, relevant.astype(np.float64))

    def err(self, k=None, *, max_level=None, ties="expected"):
        """Expected reciprocal rank: the expected value of 1 / rank for the rank at which an item satisfies the user.

        ERR is the sum, over the ranks r, of R(r) / r times the product of 1 - R over the ranks before r. R(r) is the chance
        that the item at rank r satisfies the user: (2**level - 1) / 2**max_level.

        Parameters
        ----------
        k, ties
            As in ``dcg``.
        max_level : float, optional
            The highest level of the scale, below 1024. None means 4, as in TREC's gdeval. Levels need not be whole.

        Returns
        -------
        float or ndarray
            0 when there is no relevant item.

        Raises
        ------
        ValueError
            If an item has a level above `max_level`, also if the item was never retrieved.
        MemoryError
            If expected ties need more memory than there is. A tie group whose items satisfy the user with a small chance R
            needs 50 bytes for each of its first 42 / R items.

        References
        ----------
        Chapelle, Metzler, Zhang & Grinspan (2009), "Expected reciprocal rank for graded relevance", CIKM.

        Examples
        --------
        >>> import hitcurve as hc
        >>> hc.GainCurve([1, 0, 3], [0.9, 0.8, 0.7]).err()
        0.19921875
        >>> hc.GainCurve([1, 0, 3], [0.9, 0.8, 0.7]).err(max_level=3)
        0.3802083333333333
        """
        return self.read(read_err, "err", k, ties, None, "log2", False, 0.5, self.stop_chances(max_level))

    def rbp(self, k=None, *, p=0.8, relevance_level=None, ties="expected"):
        """Rank-biased precision: (1 - p) times the sum of gain times p**(rank - 1).

        The gain is the level. If the greatest level of the ranking is above 1, all levels are divided by this level.
        With `relevance_level` the gain is 1 for a relevant item, and 0 for any other item.

        Parameters
        ----------
        k, ties
            As in ``dcg``.
        p : float
            The chance to look at the next item, between 0 and 1.
        relevance_level : number, optional
            The lowest relevant level, above 0. None takes the levels as gains.

        Returns
        -------
        float or ndarray
            0 when there is no relevant item.

        References
        ----------
        Moffat & Zobel (2008), "Rank-biased precision for measurement of retrieval effectiveness", ACM TOIS 27:2.

        Examples
        --------
        >>> import hitcurve as hc
        >>> round(hc.GainCurve([1, 0, 1], [0.9, 0.8, 0.7]).rbp(p=0.5), 4)
        0.625
        """
        gains = self.values
        if relevance_level is not None:
            least = check_within(relevance_level, "relevance_level", "above 0 and finite", 0.0, INFINITY)
            gains = np.array([float(level >= least) for level in self.values.tolist()])
        return self.read(read_rbp, "rbp", k, ties, None, "log2", False, persistence(p), gains)

    def q_measure(self, k=None, *, gain="linear", beta=1.0, ties="expected"):
        """Q-measure: average precision that also credits gain.

        Q = 1/R times the sum, over the ranks r of relevant items, of (h(r) + beta cg(r)) / (r + beta cg*(r)). h(r) counts
        the relevant items among the first r items, and cg(r) adds up their gain. cg*(r) is the gain of the first r items of
        the ideal order. R and the ideal order include the relevant items that were never retrieved.

        Parameters
        ----------
        k : int or array of int, optional
            Only the first k items count, and the sum is divided by min(k, R), as in NTCIREVAL and in
            ``HitCurve.average_precision``. None counts all items.
        gain : {"linear", "exponential"}, mapping or array
            The gain of an item of a level, as in ``dcg``. Level 0 must have gain 0.
        beta : float
            The weight of gain, at least 0. With 0 the measure is average precision.
        ties : {"expected", "best", "worst"}
            How to interpret a group of equal scores. ``"expected"``: the mean over all orders of its items. ``"best"``:
            relevant items first, the highest gain first. ``"worst"``: relevant items last, the highest gain last. The
            values of best and worst bound the value of every order.

        Returns
        -------
        float or ndarray
            In [0, 1]. NaN when there is no relevant item. An item above level 0 is relevant, even if its gain is 0.

        References
        ----------
        Sakai (2004), "Ranking the NTCIR systems based on multigrade relevance", AIRS, LNCS 3411:251. Sakai & Robertson
        (2008), "Modelling a user population for designing information retrieval metrics", EVIA.

        Examples
        --------
        >>> import hitcurve as hc
        >>> round(hc.GainCurve([1, 0, 3], [0.9, 0.8, 0.7]).q_measure(), 4)
        0.6786
        """
        return self.utility("q_measure", k, ties, gain, beta, 1.0)

    def ncu(self, k=None, *, stop="uniform", p=0.8, utility="precision", gain="linear", beta=1.0, ties="expected"):
        """Normalised cumulative utility: the mean utility for users who stop at one of the relevant items.

        NCU is the sum, over the relevant items, of the chance that the user stops at the item times the utility of the ranks
        down to the item. With uniform stopping, NCU is average precision for the utility ``"precision"`` and Q-measure for
        the utility ``"blended"``.

        Parameters
        ----------
        k : int or array of int, optional
            Only the first k items count, and the user stops at one of the first min(k, R) relevant items. None counts all
            items.
        stop : {"uniform", "rbp"}
            The chance that the user stops at the j-th of R relevant items. ``"uniform"``: 1 / R. ``"rbp"``: p**(j - 1),
            divided by the sum of these numbers over all j.
        p : float
            The chance to go on after a relevant item (gamma in the paper), between 0 and 1. Only ``"rbp"`` uses it.
        utility : {"precision", "blended"}
            The utility of the ranks down to r. ``"precision"``: h(r) / r. ``"blended"``: (h(r) + beta cg(r)) /
            (r + beta cg*(r)) as in ``q_measure``.
        gain, beta
            As in ``q_measure``. Only the blended utility uses them.
        ties : {"expected", "best", "worst"}
            As in ``q_measure``. The time does not depend on the size of a tie group, with one exception: ``stop="rbp"``
            under expected ties may take n**1.5 steps for a group of n items with n different gains.

        Returns
        -------
        float or ndarray
            In [0, 1]. NaN when there is no relevant item.

        References
        ----------
        Sakai & Robertson (2008), "Modelling a user population for designing information retrieval metrics", EVIA.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.GainCurve([1, 0, 3], [0.9, 0.8, 0.7])
        >>> round(curve.ncu(), 4), round(curve.ncu(stop="rbp", p=0.5, utility="blended"), 4)
        (0.8333, 0.619)
        """
        check_choice(stop, "stop", ("uniform", "rbp"))
        check_choice(utility, "utility", ("precision", "blended"))
        cdef double chance = persistence(p)
        not_negative(beta, "beta")
        return self.utility("ncu", k, ties, gain, beta if utility == "blended" else 0.0, 1.0 if stop == "uniform" else chance)

    def graded_average_precision(self, k=None, *, weights=None, max_level=None, ties="expected"):
        """Graded average precision: AP for a user whose threshold of relevance is known only by its probabilities.

        GAP is the sum over thresholds j of g_j R_j AP_j, divided by the sum of g_j R_j. g_j is the chance that j is the
        user's threshold: the items of level j or higher are then relevant. R_j is the number of these items, including the
        items that were never retrieved. AP_j is their average precision.

        Parameters
        ----------
        k : int or array of int, optional
            Only the first k items count, and min(k, R_j) takes the place of R_j, so that a perfect ranking has GAP 1 at
            each k. None counts all items.
        weights : mapping or array, optional
            ``weights[level]`` is the chance of this threshold, or a number in proportion to the chance. A threshold may lie
            between the levels that occur. None gives the same chance to each level above 0 that occurs in the ranking or
            among the items that were never retrieved. A level that no item has is then no threshold of this ranking.
        max_level : int, optional
            The highest level of the scale, in place of `weights`. Each of the thresholds 1, 2, ..., max_level has the same
            chance in every ranking (the paper's equiprobable thresholds). No item may have a higher level.
        ties : {"expected", "best", "worst"}
            How to interpret a group of equal scores. ``"expected"``: the mean over all orders of its items. ``"best"``: the
            highest level first. ``"worst"``: the highest level last. The values of best and worst bound the value of every
            order.

        Returns
        -------
        float or ndarray
            In [0, 1]. NaN when no item has the level of a weighted threshold or a higher level.

        Raises
        ------
        ValueError
            If `weights` and `max_level` are both given, or if an item has a level above `max_level`.

        References
        ----------
        Robertson, Kanoulas & Yilmaz (2010), "Extending average precision to graded relevance judgments", SIGIR.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.GainCurve([1, 0, 2], [0.9, 0.8, 0.7])
        >>> round(curve.graded_average_precision(), 4), round(curve.graded_average_precision(weights={1: 0.9, 2: 0.1}), 4)
        (0.6667, 0.807)
        >>> curve = hc.GainCurve([3, 0, 1], [0.7, 0.8, 0.9])
        >>> round(curve.graded_average_precision(), 4), round(curve.graded_average_precision(max_level=3), 4)
        (0.6667, 0.5833)
        """
        if max_level is not None:
            if weights is not None:
                raise ValueError("weights and max_level are both given: only one of them can set the thresholds")
            top = check_count(max_level, "max_level", MOST_LEVEL)
            self.below_top(float(top))
            gains = np.floor(self.values)  # so many thresholds lie at or below a level
        else:
            gains = self.values if weights is None else raised(weights_below(weights, self.values))
        of_levels = weights is None and max_level is None
        return self.read(graded_precision_of_levels if of_levels else graded_precision, "graded_average_precision", k,
                         ties, None, "log2", False, 0.5, gains)

    def average_gain(self, k=None, *, gain="linear", ties="expected"):
        """Average gain: the mean gain of the first k items, cg(k) / k.

        Parameters
        ----------
        k : int or array of int, optional
            The cutoff rank. Places beyond the last item count as items of gain 0. None counts all ranked items.
        gain, ties
            As in ``dcg``.

        Returns
        -------
        float or ndarray
            0 when every gain is 0. NaN if there are no items and no k.

        References
        ----------
        Jarvelin & Kekalainen (2002), "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20:422.

        Examples
        --------
        >>> import hitcurve as hc
        >>> hc.GainCurve([3, 0, 1, 0], [0.9, 0.8, 0.7, 0.6]).average_gain([2, 4]).tolist()
        [1.5, 1.0]
        """
        return self.read(read_average_gain, "average_gain", k, ties, gain, "log2", False, 0.5)

    def rbp_residual(self, k=None, *, p=0.8, ties="expected"):
        """The residual of RBP: the gain of RBP if all unknown items were fully relevant.

        Every item of an array has a level, so only the ranks beyond the last item, or beyond k, are unknown. The residual is
        p**min(k, N). RBP of a longer ranking lies between ``rbp`` and ``rbp`` plus the residual. Lower is better.
        ``hitcurve.evaluate`` differs, as trec_eval does: documents without a judgment are unknown there, and the residual is
        0 if there are none.

        Parameters
        ----------
        k, p
            As in ``rbp``.
        ties : {"expected", "best", "worst"}
            Ties make no difference.

        Returns
        -------
        float or ndarray
            1 when there is no item.

        References
        ----------
        Moffat & Zobel (2008), "Rank-biased precision for measurement of retrieval effectiveness", ACM TOIS 27:2.

        Examples
        --------
        >>> import hitcurve as hc
        >>> hc.GainCurve([1, 0, 1], [0.9, 0.8, 0.7]).rbp_residual(p=0.5)
        0.125
        """
        return self.read(read_rbp_residual, "rbp_residual", k, ties, None, "log2", False, persistence(p), self.no_gains())

    def sdcg(self, k, *, max_rel, min_rel=0, ties="expected"):
        """Scaled discounted cumulated gain: DCG divided by the DCG of k items of the highest level of the scale.

        SDCG is the sum of gain / log2(rank + 1) over the first k ranks, divided by the sum of 1 / log2(rank + 1) over these
        ranks. The gain of an item is (level - min_rel) / (max_rel - min_rel), at least 0 and at most 1. Places beyond the last
        item have gain 0.

        Parameters
        ----------
        k : int or array of int
            The cutoff rank.
        max_rel : float
            The highest level of the scale.
        min_rel : float
            The lowest level of the scale, at least 0 and below `max_rel`. Items up to this level have gain 0.
        ties : {"expected", "best", "worst"}
            As in ``dcg``.

        Returns
        -------
        float or ndarray
            In [0, 1]. 0 when no item is above level `min_rel`.

        Raises
        ------
        ValueError
            If `max_rel` is not above 0 and finite, or if `min_rel` is not below `max_rel`.

        References
        ----------
        Jarvelin & Kekalainen (2002), "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20:422. As a user model:
        Moffat & Zobel (2008), ACM TOIS 27:2; Azzopardi, Thomas & Moffat (2019), "cwl_eval: an evaluation tool for information
        retrieval", SIGIR.

        Examples
        --------
        >>> import hitcurve as hc
        >>> round(hc.GainCurve([3, 0, 1], [0.9, 0.8, 0.7]).sdcg(3, max_rel=3), 4)
        0.5475
        """
        ranks, shape = whole_ranks(k)
        reader = self.asked("sdcg", ties, None, "log2", 0.5, self.scaled(max_rel, min_rel))
        weights = np.array([discounts(&reader.reading, 0, rank) for rank in ranks.tolist()])
        return self.shaped(self.read_all(read_dcg, reader, ranks, False) / weights, shape)

    cdef object ordered(self, str name, object ties):
        """Raises an error for expected ties, because the measure is a quotient of numbers that both depend on the order."""
        if parse_ties(ties) == TIES_EXPECTED:
            raise ValueError(f"{name} has no expected value over ties in closed form: use ties='best' or ties='worst'")

    cdef object nerr(self, Fall fall, object k, object ties, double p, object max_rel, object min_rel, UserPart part,
                     bint hopeful):
        cdef Reader reader
        cdef str name = ("nerr8", "nerr9", "nerr10", "nerr11")[<int>fall]
        scale(max_rel, min_rel)
        ranks, shape = (None, None) if k is None else whole_ranks(k)
        self.ordered(name, ties)
        reader = self.asked(name, ties, None, "log2", p, self.scaled(max_rel, min_rel))
        chances, sums = _looks(fall, p)
        reader.reading.looks = <const double*>cnp.PyArray_DATA(<cnp.ndarray>chances)
        reader.reading.looked = <const double*>cnp.PyArray_DATA(<cnp.ndarray>sums)
        reader.reading.fall, reader.reading.part, reader.reading.hopeful = fall, part, hopeful
        return self.shaped(self.read_all(read_nerr, reader, ranks, False), shape)

    cdef object bpm_part(self, object k, object T, object max_rel, object min_rel, object hb, object hc, object gain_med,
                         UserPart part, bint hopeful):
        cdef double most = scale(max_rel, min_rel), least = min_rel
        cdef Reader reader
        from fractions import Fraction
        # By decimals: 0.07 times 100 is 7.
        wanted = Fraction(repr(float(check_within(T, "T", "above 0 and finite", 0.0, INFINITY)))) * (
            Fraction(repr(most)) - Fraction(repr(least)))
        ranks, shape = whole_ranks(k)
        reader = self.asked("bpm", "best", None, "log2", min(float(wanted), 1e300), self.clipped(least, most))
        reader.reading.scale_gain = most - least
        reader.reading.more_gain, reader.reading.more_ranks = not_negative(hb, "hb"), not_negative(hc, "hc")
        reader.reading.middle = check_within(gain_med, "gain_med", "from 0 to 1", 0.0, 1.0 + 2.0**-52, True)
        reader.reading.part, reader.reading.hopeful = part, hopeful
        values = self.read_all(read_bpm, reader, ranks, False)
        for q, i in np.argwhere(values < 0)[:1]:
            first = int(-values[q, i])
            row = self.row_starts[q] + np.searchsorted(self.above[self.row_starts[q]:self.row_starts[q + 1]], first - 1)
            where = f" of ranking {q}" if len(self.row_starts) > 2 else ""
            last = first - 1 + self.tied[row]
            raise ValueError(f"bpm depends on the order of tied items: ranks {first} to {last}{where} have "
                             "the same score and different gains; break the ties with tiebreak=, or rank a run with "
                             "ties='docid'")
        return self.shaped(values, shape)

    def _part(self, method, part, hopeful, k, *, ties=None, T=1.0, p=0.9, max_rel=None, min_rel=0, hb=0.0, hc=0.0,
              gain_med=0.5):
        """A number of the user of INST, BPM or NERR. `part` is an element of the enum UserPart."""
        if method == "inst":
            return self.inst_part(k, ties, T, max_rel, min_rel, part, hopeful)
        if method == "bpm":
            return self.bpm_part(k, T, max_rel, min_rel, hb, hc, gain_med, part, hopeful)
        falls = {"nerr8": FALL_NOT, "nerr9": FALL_RANK, "nerr10": FALL_POWER, "nerr11": FALL_SQUARE}
        return self.nerr(falls[method], k, ties, p if method == "nerr10" else T, max_rel, min_rel, part, hopeful)

    def _looks(self, str model, double T, double start, double count):
        """The sum of the chances to look at so many ranks after `start`, for INSQ and SDCG."""
        cdef Reader reader
        if model == "INSQ":
            return squares(2.0 * T, 2.0 * T + start, count)
        reader = Reader.__new__(Reader)
        reader.set_discount("log2")
        return discounts(&reader.reading, <int64_t>start, <int64_t>(start + count))

    def _sum_of_reciprocals(self, level, ties):
        """The sum of 1 / rank over the items of this level or higher."""
        return self.read(read_dcg, "AP", None, ties, None, BY_RANK, False, 0.5, (self.values >= level).astype(float))

    def nerr8(self, k, *, max_rel, ties, min_rel=0):
        """NERR8: a user model near to ERR, in which an item stops the user with a chance that is its gain.

        The user looks at the next rank with chance 1 - gain, and stops at rank k. The weight of rank i is W(i) = V(i) / sum V,
        where V(i) is the product of 1 - gain over the ranks before i. NERR8 is the sum of W times gain over the first k ranks.
        The gain of an item is (level - min_rel) / (max_rel - min_rel), at least 0 and at most 1. Places beyond the last item
        have gain 0.

        Parameters
        ----------
        k : int or array of int
            The cutoff rank.
        max_rel, min_rel
            As in ``sdcg``.
        ties : {"best", "worst"}
            How to interpret a group of equal scores. ``"best"``: the order with the highest gain first. ``"worst"``: the order
            with the lowest gain first. The argument has no default, because the expected value has no closed form.

        Returns
        -------
        float or ndarray
            In [0, 1]. 0 when no item is above level `min_rel`.

        References
        ----------
        Azzopardi, Mackenzie & Moffat (2021), "ERR is not C/W/L: exploring the relationship between expected reciprocal rank
        and other metrics", ICTIR, equation 8.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.GainCurve([1, 0, 2], [0.9, 0.8, 0.7])
        >>> curve.nerr8(3, max_rel=2, ties="best"), curve.nerr8(2, max_rel=4, ties="best")
        (0.5, 0.14285714285714285)
        """
        return self.nerr(FALL_NOT, k, ties, 0.5, max_rel, min_rel, PART_RATE, False)

    def nerr9(self, k, *, max_rel, ties, min_rel=0):
        """NERR9: as NERR8, but the chance to look at a rank also falls as 1 / rank.

        The user looks at the rank after rank i with chance i / (i + 1) times 1 - gain, and stops at rank k.

        Parameters
        ----------
        k, max_rel, ties, min_rel
            As in ``nerr8``.

        Returns
        -------
        float or ndarray
            In [0, 1]. 0 when no item is above level `min_rel`.

        References
        ----------
        Azzopardi, Mackenzie & Moffat (2021), as for ``nerr8``, equation 9.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.GainCurve([1, 0, 2], [0.9, 0.8, 0.7])
        >>> round(curve.nerr9(3, max_rel=2, ties="best"), 4)
        0.4706
        """
        return self.nerr(FALL_RANK, k, ties, 0.5, max_rel, min_rel, PART_RATE, False)

    def nerr10(self, k=None, *, max_rel, ties, p=0.9, min_rel=0):
        """NERR10: as NERR8, but the user goes on with chance p times 1 - gain, and no rank is the last.

        Parameters
        ----------
        k : int or array of int, optional
            Only the first k items count. All other items and ranks have gain 0.
        max_rel, ties, min_rel
            As in ``nerr8``.
        p : float
            The persistence, between 0 and 1.

        Returns
        -------
        float or ndarray
            In [0, 1]. 0 when no item is above level `min_rel`.

        References
        ----------
        Azzopardi, Mackenzie & Moffat (2021), as for ``nerr8``, equation 10.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.GainCurve([1, 0, 2], [0.9, 0.8, 0.7])
        >>> round(curve.nerr10(max_rel=2, ties="best"), 4)
        0.4879
        """
        return self.nerr(FALL_POWER, k, ties, persistence(p), max_rel, min_rel, PART_RATE, False)

    def nerr11(self, k=None, *, max_rel, ties, T=1.0, min_rel=0):
        """NERR11: as NERR8, but the user goes on with INSQ's chance times 1 - gain, and no rank is the last.

        The user looks at the rank after rank i with chance ((i + 2T - 1) / (i + 2T))**2 times 1 - gain.

        Parameters
        ----------
        k : int or array of int, optional
            Only the first k items count. All other items and ranks have gain 0.
        max_rel, ties, min_rel
            As in ``nerr8``.
        T : float
            The gain that the user wants, above 0 and below 2**53.

        Returns
        -------
        float or ndarray
            In [0, 1]. 0 when no item is above level `min_rel`.

        References
        ----------
        Azzopardi, Mackenzie & Moffat (2021), as for ``nerr8``, equation 11.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.GainCurve([1, 0, 2], [0.9, 0.8, 0.7])
        >>> round(curve.nerr11(max_rel=2, ties="best"), 4)
        0.4639
        """
        cdef double wanted = check_within(T, "T", "above 0 and below 2**53", 0.0, 9007199254740992.0)
        return self.nerr(FALL_SQUARE, k, ties, wanted, max_rel, min_rel, PART_RATE, False)

    def bpm(self, k, *, max_rel, T=1.0, min_rel=0, hb=0.0, hc=0.0, gain_med=0.5):
        """The bejeweled player model: the mean gain of the items that a user looks at, who stops by gain or by rank.

        The user stops at the first rank i with G(i) >= T or i >= k, where G(i) is the gain of the first i items. BPM is
        G(i) / i. The gain of an item is (level - min_rel) / (max_rel - min_rel), at least 0 and at most 1. Places beyond the
        last item have gain 0. In the dynamic model each item adds hb * (gain - gain_med) to T and hc * (gain - gain_med) to k,
        after the user has decided whether to stop at this item.

        Parameters
        ----------
        k : int or array of int
            The number of ranks for which the user has patience.
        max_rel, min_rel
            As in ``sdcg``.
        T : float
            The gain that the user wants, above 0.
        hb, hc : float
            How much an item changes T and k, at least 0. With 0 the limits are static.
        gain_med : float
            The gain that changes neither limit, from 0 to 1.

        Returns
        -------
        float or ndarray
            0 when no item is above level `min_rel`.

        Raises
        ------
        ValueError
            If the order of tied items changes the value. Then neither a mean nor bounds have a closed form: with several
            gains in a tie group, the order with the highest gain first need not be the best one. The static model needs the
            order only of the tie group in which the user stops.

        Notes
        -----
        Gains are added as levels, so that three items of gain 1/3 are a gain of 1.

        The mean over the orders of a tie group depends on which of its subsets have a gain below T. A group of n items with
        general gains has up to 2**n different sums, and no polynomial algorithm is known that counts them. So `bpm` refuses
        such ties, and does not approximate. The mean over several random `tiebreak` keys is an estimate.

        References
        ----------
        Zhang, Liu, Li, Zhang, Xu & Ma (2017), "Evaluating web search with a bejeweled player model", SIGIR.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.GainCurve([1, 0, 2, 2], [0.9, 0.8, 0.7, 0.6])
        >>> curve.bpm([2, 10], max_rel=2).tolist(), curve.bpm(10, max_rel=2, T=2.5)
        ([0.25, 0.5], 0.625)
        """
        return self.bpm_part(k, T, max_rel, min_rel, hb, hc, gain_med, PART_RATE, False)

    def insq(self, k=None, *, T=1.0, max_rel=None, min_rel=0, ties="expected"):
        """INSQ: a user who wants T relevant items looks at the item after rank i with chance ((i + 2T - 1) / (i + 2T))**2.

        The weight of rank i is thus proportional to 1 / (i + 2T - 1)**2, and the weights of infinitely many ranks sum to 1.
        INSQ is the sum of gain times weight.

        Parameters
        ----------
        k, ties
            As in ``dcg``.
        T : float
            The gain that the user wants, above 0 and below 2**53.
        max_rel : float, optional
            The highest level of the scale. The gain of an item is level / max_rel, and 1 for a higher level, as in
            ir_measures. With None the gain is that of ``rbp``, which divides by the highest level of each ranking: values
            of rankings with different highest levels are then not comparable.
        min_rel : float
            The lowest level of the scale, at least 0. The gain of an item is (level - min_rel) / (max_rel - min_rel), and 0 for
            a lower level.

        Returns
        -------
        float or ndarray
            Below 1. 0 when there is no relevant item.

        References
        ----------
        Moffat, Scholer & Thomas (2012), "Models and metrics: IR evaluation as a user process", ADCS. Moffat, Bailey,
        Scholer & Thomas (2017), "Incorporating user expectations and behavior into the measurement of search
        effectiveness", ACM TOIS 35:24.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.GainCurve([1, 0, 1], [0.9, 0.8, 0.7])
        >>> round(curve.insq(), 4), round(curve.insq(T=2), 4), round(curve.insq(max_rel=2), 4)
        (0.4845, 0.3181, 0.2423)
        """
        cdef double wanted = check_within(T, "T", "above 0 and below 2**53", 0.0, 9007199254740992.0)
        return self.read(read_insq, "insq", k, ties, None, "log2", False, wanted, self.scaled(max_rel, min_rel)) / squares(
            2.0 * wanted, 2.0 * wanted, INFINITY)

    def inst(self, k=None, *, ties, T=1.0, max_rel=None, min_rel=0):
        """INST: as INSQ, but the user's chance to go on depends on the gain that is still missing.

        The user looks at the item after rank i with chance C(i) = ((i + T + T_i - 1) / (i + T + T_i))**2, where T_i is T less
        the gain of the first i items. The weight of rank i is the product of C over the ranks before i, divided by the sum of
        these products over infinitely many ranks. INST is the sum of gain times weight.

        Parameters
        ----------
        k : int or array of int, optional
            Only the first k items count. All other items and ranks have gain 0.
        ties : {"best", "worst"}
            How to interpret a group of equal scores. ``"best"``: the order with the highest gain first. ``"worst"``: the order
            with the lowest gain first. The argument has no default, because the expected value has no closed form.
        T : float
            The gain that the user wants, at least 0.5 and below 2**53.
        max_rel, min_rel
            As in ``insq``.

        Returns
        -------
        float or ndarray
            0 when there is no relevant item.

        References
        ----------
        Bailey, Moffat, Scholer & Thomas (2015), "User variability and IR system evaluation", SIGIR, 625-634. Moffat, Bailey,
        Scholer & Thomas (2017), "Incorporating user expectations and behavior into the measurement of search
        effectiveness", ACM TOIS 35:24.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.GainCurve([1, 0, 1], [0.9, 0.8, 0.8])
        >>> round(curve.inst(ties="best"), 4), round(curve.inst(ties="worst"), 4)
        (0.8857, 0.7231)
        """
        return self.inst_part(k, ties, T, max_rel, min_rel, PART_RATE, False)

    cdef object inst_part(self, object k, object ties, object T, object max_rel, object min_rel, UserPart part, bint hopeful):
        cdef double wanted = check_within(T, "T", "from 0.5 up and below 2**53", 0.5, 9007199254740992.0, True)
        cdef Reader reader
        self.ordered("inst", ties)
        ranks, shape = (None, None) if k is None else whole_ranks(k)
        reader = self.asked("inst", ties, None, "log2", wanted, self.scaled(max_rel, min_rel))
        reader.reading.part, reader.reading.hopeful = part, hopeful
        return self.shaped(self.read_all(read_inst, reader, ranks, False), shape)

    def user_model(self, measure, *, cost=1.0, ties="expected"):
        """What the user of a measure gains and spends: the numbers of the C/W/L framework.

        A measure assumes a user who looks at rank 1, and after each rank looks at the next rank with a chance C. The user looks
        at rank i with chance V(i), the product of C over the ranks before i. W(i) = V(i) / sum V is the weight of rank i. The
        measure is the sum of W(i) times the gain of rank i. No rank is the last: the sums are over infinitely many ranks.

        Parameters
        ----------
        measure : str or Measure
            ``"RBP"``, ``"INSQ"``, ``"SDCG"``, ``"P@10"`` (V(i) depends on the rank alone), ``"INST"``, ``"NERR8"`` to
            ``"NERR11"``, ``"BPM"``, ``"RR"`` or ``"AP"`` (V(i) depends on the items), with options and cutoff as in
            ``hitcurve.measures.parse``. For P, RR and AP a relevant item has gain 1.
        cost : float, array or sequence of arrays
            The cost of looking at an item, at least 0. A number: the cost of every item. An array: the cost of each rank, from
            rank 1 on; each rank beyond the array costs as much as the last rank of the array. Without ties these are the
            costs of the items in the order of the ranking. For many rankings, an array for each of them.
        ties : {"expected", "best", "worst"}
            How to interpret a group of equal scores. ``"expected"`` is defined where V(i) depends on the rank alone. ``"best"``
            and ``"worst"``: the order with the highest and with the lowest gain first. An option ``ties=`` in the name of the
            measure takes precedence. BPM ignores this argument and refuses ties whose order matters.

        Returns
        -------
        UserModel
            The numbers ``utility``, ``total_utility``, ``cost``, ``total_cost`` and ``depth``, and ``residual``, which says how
            much they would change if every rank beyond the last item had gain 1. If the measure counts only the first k
            items (RBP, INSQ, INST, NERR10, NERR11), these are the ranks beyond k. Documents of a run without a judgment have
            gain 0 here: the residuals of ``Evaluation.user_model`` count them too. With BPM and an array of costs, k is the
            cost at which patience ends.

            RR: depth is infinite if no item is relevant and the name has no cutoff. AP: a relevant item that was never
            retrieved has an infinite rank; all numbers are NaN if no item is relevant, and the residual is NaN, because the
            sum of 1 / rank over infinitely many relevant ranks diverges.

        Raises
        ------
        ValueError
            If the measure has no user model, if its user model has no value for these `ties`, or if a cost is below 0.

        References
        ----------
        Moffat, Bailey, Scholer & Thomas (2017), "Incorporating user expectations and behavior into the measurement of search
        effectiveness", ACM TOIS 35:24. Azzopardi, Thomas & Moffat (2019), "cwl_eval: an evaluation tool for information
        retrieval", SIGIR.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.GainCurve([1, 0, 1], [0.9, 0.8, 0.7])
        >>> user = curve.user_model("RBP(p=0.5)", cost=[2, 1, 3])
        >>> user.utility, user.total_utility, user.cost, user.total_cost, user.depth
        (0.625, 1.25, 2.0, 4.0, 2.0)
        >>> user.residual.utility
        0.125
        >>> curve.user_model("AP", ties="best").depth
        1.5
        """
        from hitcurve.curves.users import user_model
        return user_model(self, measure, cost, ties)

    def compat(self, *, ties, p=0.95, normalize=True):
        """Compatibility: rank-biased overlap of the ranking with its nearest ideal ranking.

        The ideal ranking has all items above level 0 by falling level, those never retrieved included. Items of a level keep
        the order of the ranking, and those never retrieved follow. The agreement A(d) is the number of items that the first
        d of both rankings have in common, divided by d. The value is the sum of p**(d - 1) A(d) over d = 1, ..., D, divided
        by the same sum of the ideal ranking with itself. D is the length of the longer ranking. Levels matter only by their
        order: they are preferences.

        Parameters
        ----------
        ties : {"best", "worst"}
            How to interpret a group of equal scores. ``"best"``: the highest level first. ``"worst"``: the highest level last.
            The values of best and worst bound the value of every order. Both are the value of a ranking without ties, such as
            a curve made with ``tiebreak="order"``. The argument has no default, because the expected value has no closed form.
        p : float
            The persistence, between 0 and 1: the chance that a user goes on to the next depth.
        normalize : bool
            False divides by the sum of p**(d - 1), so that a perfect ranking has a value below 1.

        Returns
        -------
        float or ndarray
            From 0 to 1. When there is no relevant item, NaN, or 0 with ``normalize=False``.

        References
        ----------
        Clarke, Vtyurina & Smucker (2021), "Assessing top-k preferences", ACM TOIS 39:33.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.GainCurve([1, 0, 3, 0], [0.9, 0.8, 0.7, 0.6])
        >>> round(curve.compat(ties="best"), 4), round(curve.compat(ties="best", normalize=False), 4)
        (0.5051, 0.4058)
        """
        cdef double falls = persistence(p)
        if parse_ties(ties) == TIES_EXPECTED:
            raise ValueError("compat has no expected value over ties in closed form: use ties='best' or ties='worst', or give "
                             "the items an order with tiebreak=")
        formula = read_compat if check_flag(normalize, "normalize") else read_compat_as_is
        # The place of each level stands for the level, because only the order matters.
        places = np.arange(self.values.shape[0], dtype=np.float64)
        return self.read(formula, "compat", None, ties, None, "log2", False, falls, places)

    # Measures of the order of the levels.

    cdef object no_gains(self):
        return np.zeros(self.values.shape[0])

    cdef object read_order(self, GainFormula formula, str name, object ties, object gains):
        """A measure that needs the rank of every relevant item."""
        all_ranked(name, self.num_relevant, self.num_hits)
        return self.read(formula, name, None, ties, None, "log2", False, 0.5, gains)

    def pairwise_accuracy(self, *, ties="expected"):
        """The share of pairs in the right order: of two items of different levels, the higher level has the better score.

        With two levels, pairwise accuracy is ROC AUC.

        Parameters
        ----------
        ties : {"expected", "best", "worst"}
            A pair of equal scores counts 1/2 (expected), 1 (best) or 0 (worst).

        Returns
        -------
        float or ndarray
            NaN when all items have the same level.

        Raises
        ------
        ValueError
            If relevant items were never retrieved (``unretrieved=``): the measure needs their ranks.

        References
        ----------
        Joachims (2002), "Optimizing search engines using clickthrough data", KDD.

        Examples
        --------
        >>> import hitcurve as hc
        >>> round(hc.GainCurve([2, 0, 1, 0], [0.9, 0.8, 0.8, 0.1]).pairwise_accuracy(), 4)
        0.9
        """
        return self.read_order(read_pairwise_accuracy, "pairwise_accuracy", ties, self.no_gains())

    def somers_d(self, *, ties="expected"):
        """Somers' D of the score on the level: the level is the independent variable.

        D = (C - D') / P. P is the number of pairs of different levels. The higher level has the better score in C of these
        pairs, and the worse score in D' pairs. D is twice ``pairwise_accuracy`` minus 1, from -1 to 1. Kendall's tau-b is not
        offered: it needs the tied pairs of items of level 0, and a curve only counts these items.

        Parameters
        ----------
        ties : {"expected", "best", "worst"}
            A pair of equal scores counts as neither right nor wrong (expected: Somers' definition), as right (best), or as
            wrong (worst).

        Returns
        -------
        float or ndarray
            NaN when all items have the same level.

        Raises
        ------
        ValueError
            If relevant items were never retrieved, as in ``pairwise_accuracy``.

        References
        ----------
        Somers (1962), "A new asymmetric measure of association for ordinal variables", Am. Sociol. Rev. 27:799.

        Examples
        --------
        >>> import hitcurve as hc
        >>> hc.GainCurve([2, 0, 1, 0], [0.9, 0.8, 0.8, 0.1]).somers_d()
        0.8
        """
        return self.read_order(read_somers_d, "somers_d", ties, self.no_gains())

    def goodman_kruskal_gamma(self):
        """Goodman and Kruskal's gamma: as Somers' D, but only over pairs that differ both in level and in score.

        Gamma is (C - D') / (C + D'), with C and D' as in ``somers_d``. Pairs of equal scores are left out, so there is no
        argument ``ties``.

        Returns
        -------
        float or ndarray
            From -1 to 1. NaN when no two items differ both in level and in score.

        Raises
        ------
        ValueError
            If relevant items were never retrieved, as in ``pairwise_accuracy``.

        References
        ----------
        Goodman & Kruskal (1954), "Measures of association for cross classifications", J. Am. Stat. Assoc. 49:732.

        Examples
        --------
        >>> import hitcurve as hc
        >>> hc.GainCurve([2, 0, 1, 0], [0.9, 0.8, 0.8, 0.1]).goodman_kruskal_gamma()
        1.0
        """
        return self.read_order(read_gamma, "goodman_kruskal_gamma", "expected", self.no_gains())

    def mean_rank(self, *, ties="expected"):
        """Mean rank of the items above level 0, from 1: ``HitCurve.mean_rank`` of these items. Lower is better.

        Parameters
        ----------
        ties : {"expected", "best", "worst", "threshold"}
            The relevant items of a tie group have the group's middle rank (expected and threshold), or the group's first
            ranks (best), or the group's last ranks (worst).

        Returns
        -------
        float or ndarray
            NaN when there is no relevant item.

        Raises
        ------
        ValueError
            If relevant items were never retrieved, as in ``pairwise_accuracy``.

        References
        ----------
        Bordes, Usunier, Garcia-Duran, Weston & Yakhnenko (2013), "Translating embeddings for modeling multi-relational
        data", NIPS.

        Examples
        --------
        >>> import hitcurve as hc
        >>> hc.GainCurve([2, 0, 1, 0], [0.9, 0.8, 0.8, 0.1]).mean_rank()
        1.75
        """
        return self.curves.mean_rank(ties=ties)

    def mean_percentile_rank(self, *, ties="expected"):
        """Mean percentile rank, weighted by level: 0 where all levels lie at the first rank, 1 where they lie at the last.

        The value is the sum of level times (rank - 1) / (N - 1), divided by the sum of the levels. It is 1/2 in a random order.
        Lower is better.

        Parameters
        ----------
        ties : {"expected", "best", "worst", "threshold"}
            How to interpret a group of equal scores. ``"expected"`` and ``"threshold"``: the mean over all orders of its items.
            ``"best"``: the order with the highest level first. ``"worst"``: the order with the lowest level first.

        Returns
        -------
        float or ndarray
            1/2 if there is a single item, which is relevant. NaN when there is no relevant item.

        Raises
        ------
        ValueError
            If relevant items were never retrieved, as in ``pairwise_accuracy``.

        References
        ----------
        Hu, Koren & Volinsky (2008), "Collaborative filtering for implicit feedback datasets", ICDM.

        Examples
        --------
        >>> import hitcurve as hc
        >>> round(hc.GainCurve([2, 0, 1, 0], [0.9, 0.8, 0.8, 0.1]).mean_percentile_rank(), 4)
        0.1667
        """
        if parse_ties(ties) == TIES_THRESHOLD:
            ties = "expected"
        # A power of two, which rounds nothing, keeps the sums in a float's range.
        with np.errstate(under="ignore"):
            gains = np.ldexp(self.values, -int(np.frexp(self.values.max())[1]))
        return self.read_order(read_mean_percentile_rank, "mean_percentile_rank", ties, gains)
