# cython: wraparound=True
"""The measures of gain, of one ranking and of many."""
from libc.stdint cimport int64_t, uint32_t

from cpython.mem cimport PyMem_RawFree

cimport numpy as cnp

import numpy as np

from hitcurve._checks cimport check_number, check_within, frozen, no_threshold, parse_ties, whole_ranks
from hitcurve._kernel.err cimport MOST_LEVEL, signalled
from hitcurve._kernel.formulas cimport NO_CUTOFF, TIES_THRESHOLD, Ties
from hitcurve._kernel.gains cimport (
    GainFormula, GainReading, GainRoom, Levels, dcg as read_dcg, err as read_err, ndcg as read_ndcg, rbp as read_rbp,
)
from hitcurve._levels cimport Reader, beyond_keys, exponential, gains_of, within_keys

cnp.import_array()

cdef extern from "Python.h":
    void* raise_pending "PyErr_Occurred"() except *  # what a signal has raised within a kernel

cdef enum:
    STEPS = 16  # that reading a row takes, as those of ERR are counted


cdef class _Gains:
    """The measures of gain, written once: a number for a GainCurve, an array of one per query for a GainCurves."""
    cdef int set_levels(self, object row_starts, object num_items, object above, object tied, object hits, object values,
                        tuple pairs, tuple missing) except -1:
        self.row_starts, self.sizes = (np.ascontiguousarray(column, np.int64) for column in (row_starts, num_items))
        self.values = values
        self.starts, self.code, self.count = (frozen(np.ascontiguousarray(column)) for column in pairs)
        self.missing_starts, self.missing_code, self.missing_count = (
            frozen(np.ascontiguousarray(column)) for column in missing)
        self.levels.table.above = <const int64_t*>cnp.PyArray_DATA(<cnp.ndarray>above)
        self.levels.table.tied = <const int64_t*>cnp.PyArray_DATA(<cnp.ndarray>tied)
        self.levels.table.hits = <const int64_t*>cnp.PyArray_DATA(<cnp.ndarray>hits)
        self.levels.starts = <const int64_t*>cnp.PyArray_DATA(<cnp.ndarray>self.starts)
        self.levels.code = <const uint32_t*>cnp.PyArray_DATA(<cnp.ndarray>self.code)
        self.levels.count = <const int64_t*>cnp.PyArray_DATA(<cnp.ndarray>self.count)
        self.levels.missing_code = <const uint32_t*>cnp.PyArray_DATA(<cnp.ndarray>self.missing_code)
        self.levels.missing_count = <const int64_t*>cnp.PyArray_DATA(<cnp.ndarray>self.missing_count)
        return 0

    cdef object used(self):
        """Which codes occur; 0 always does."""
        used = np.zeros(self.values.shape[0], bool)
        used[self.code] = used[self.missing_code] = True
        used[0] = True
        return used

    cdef object stop_chances(self, object max_level):
        """Of each code."""
        cdef double top = 4.0 if max_level is None else check_within(
            max_level, "max_level", f"above 0 and below {MOST_LEVEL + 1}", 0.0, MOST_LEVEL + 1.0)
        used = self.used()
        highest = self.values[used].max()
        if highest > top:
            raise ValueError(f"max_level is {top:g}, but an item has level {highest:g}: say max_level={highest:g}")
        return exponential(np.where(used, self.values, 0.0), top)

    cdef object read_all(self, GainFormula formula, Reader reader, object ranks, bint ideal_all):
        """The measure for each ranking and rank; without ranks one column."""
        cdef Levels levels = self.levels
        cdef GainReading reading = reader.reading
        cdef GainRoom room
        cdef Py_ssize_t q, i, number = self.sizes.shape[0], n = 1, room_size, row, first
        cdef int64_t* starts = NULL  # of the rows of one ranking, from its first pair on
        cdef const int64_t* row_starts = <const int64_t*>cnp.PyArray_DATA(<cnp.ndarray>self.row_starts)
        cdef const int64_t* missing_starts = <const int64_t*>cnp.PyArray_DATA(<cnp.ndarray>self.missing_starts)
        cdef const int64_t* num_items = <const int64_t*>cnp.PyArray_DATA(<cnp.ndarray>self.sizes)
        cdef const int64_t* k = NULL
        cdef double* out
        if ranks is not None:
            k = <const int64_t*>cnp.PyArray_DATA(<cnp.ndarray>ranks)
            n = ranks.shape[0]
        pairs = np.diff(self.starts[self.row_starts]) + np.diff(self.missing_starts)
        within_keys(pairs.max(initial=0), "a ranking has {} pairs of a tie group and a level")
        room_size = pairs.max(initial=0) + 2
        if beyond_keys(self.code.shape[0]):  # then the pairs of each ranking are counted for themselves
            own_starts = np.empty(np.diff(self.row_starts).max(initial=0) + 1, np.int64)
            starts = <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>own_starts)
        values = np.empty((number, n))
        keys = np.empty(3 * room_size, np.int64)
        out = <double*>cnp.PyArray_DATA(<cnp.ndarray>values)
        room.keys = <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>keys)
        room.scratch = room.keys + room_size
        room.ideal = room.scratch + room_size
        room.values, room.values_size, room.failed, room.work = NULL, 0, False, 0
        with nogil:
            for q in range(number):
                levels.table.above = self.levels.table.above + row_starts[q]
                levels.table.tied = self.levels.table.tied + row_starts[q]
                levels.table.hits = self.levels.table.hits + row_starts[q]
                levels.table.rows = <Py_ssize_t>(row_starts[q + 1] - row_starts[q])
                levels.table.num_items = num_items[q]
                levels.starts = self.levels.starts + row_starts[q]
                if starts is not NULL:
                    first = levels.starts[0]
                    for row in range(levels.table.rows + 1):
                        starts[row] = levels.starts[row] - first
                    levels.starts = starts
                    levels.code = self.levels.code + first
                    levels.count = self.levels.count + first
                levels.num_missing = <Py_ssize_t>(missing_starts[q + 1] - missing_starts[q])
                levels.missing_code = self.levels.missing_code + missing_starts[q]
                levels.missing_count = self.levels.missing_count + missing_starts[q]
                room.num_ideal = -1
                for i in range(n):
                    reading.k = k[i] if k is not NULL else NO_CUTOFF
                    reading.ideal_k = NO_CUTOFF if ideal_all else reading.k
                    out[q * n + i] = formula(&levels, &reading, &room)
                    room.failed = room.failed or signalled(&room.work, STEPS * (levels.table.rows + levels.num_missing))
                    if room.failed:
                        break
                if room.failed:
                    break
        PyMem_RawFree(room.values)
        if room.failed:
            raise_pending()
            raise MemoryError
        return values

    cdef object read(self, GainFormula formula, str name, object k, object ties, object gain, object discount, bint ideal_all,
                     double p, object gains=None):
        cdef Reader reader = Reader.__new__(Reader)
        ranks, shape = (None, None) if k is None else whole_ranks(k)
        reader.reading.ties = <Ties>parse_ties(ties)
        if reader.reading.ties == TIES_THRESHOLD:
            no_threshold(name, TIES_THRESHOLD)
        used = self.used()
        worth = gains_of(gain, self.values, used) if gains is None else gains
        reader.set_gains(worth)
        reader.set_discount(discount)
        most = max(1.0, reader.table.max(initial=0.0) if reader.table is not None else 0.0)
        items = float(self.sizes.max(initial=0)) + float(self.missing_count.sum())
        with np.errstate(over="ignore"):
            if np.isinf(worth[used].max(initial=0.0) * items * most):
                raise ValueError(f"a gain is {worth[used].max():g}: the sum over {items:g} items may be no number")
        reader.reading.p = p
        return self.shaped(self.read_all(formula, reader, ranks, ideal_all), shape)

    cdef object shaped(self, object values, object shape):
        """Of a row of values for each ranking: numbers, or arrays of a shape."""

    def __eq__(self, other):
        if type(self) is not type(other):
            return NotImplemented
        pairs = zip((<_Gains>self).parts(), (<_Gains>other).parts(), strict=True)
        return self.curves == (<_Gains>other).curves and all([np.array_equal(mine, theirs) for mine, theirs in pairs])

    def __hash__(self):
        return hash((self.curves, self.level.tobytes(), self.count.tobytes()))

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
    def lower_is_better(self):
        return self.curves.lower_is_better

    @property
    def level(self):
        return frozen(self.values[self.code])

    @property
    def level_count(self):
        return self.count

    @property
    def level_offsets(self):
        return self.starts

    cdef tuple parts(self):
        """All that a curve has besides its hit curves."""
        return (self.starts, self.level, self.count, self.missing_starts, self.values[self.missing_code], self.missing_count)

    cdef tuple from_level(self, object level):
        """(hits of each row, those of the rows before it and in it, relevant items never retrieved), from a level up."""
        exact = int(level) if isinstance(check_number(level, "level"), np.integer) else level
        if not exact > 0:
            raise ValueError(f"level is {level!r}: must be above 0")
        bound = float(min(exact, 2**1024 - 2**971) if isinstance(exact, int) else exact)
        if bound != exact:
            raise ValueError(f"level is {level}: no float64 holds it")
        hits = np.append(0, np.cumsum(np.where(self.values[self.code] >= bound, self.count, 0)))
        missing = np.append(0, np.cumsum(np.where(self.values[self.missing_code] >= bound, self.missing_count, 0)))
        return hits[self.starts[1:]] - hits[self.starts[:-1]], hits[self.starts], np.diff(missing[self.missing_starts])

    # The measures.

    def dcg(self, k=None, *, gain="linear", discount="log2", ties="expected"):
        """Discounted cumulated gain: the sum, over the first k ranks, of gain times discount.

        Parameters
        ----------
        k : int or array of int, optional
            Only the first k items count. None counts all.
        gain : {"linear", "exponential"}, mapping or array
            What an item of a level gains: the level itself, 2**level - 1, ``gain[level]``. Every level that occurs needs
            a gain, finite and at least 0; level 0 gains 0 unless the mapping or the array says otherwise.
        discount : "log2", ("log", b) or array
            What a rank is worth: 1 / log2(rank + 1); 1 up to rank b and 1 / log_b(rank) beyond (Jarvelin & Kekalainen);
            or the values themselves, the first for rank 1, which must not rise and count as 0 beyond the last.
        ties : {"expected", "best", "worst"}
            How a group of equal scores is read: the mean over all orders of its items, the order with the most gain
            first, or that with the least.

        Returns
        -------
        float or ndarray
            0 where nothing gains.

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
        """Normalised discounted cumulated gain: DCG divided by that of the ideal order of all relevant items.

        Parameters
        ----------
        k, gain, discount, ties
            As in ``dcg``.
        ideal_k : {"same", "all"}
            How many items of the ideal order count: as many as of the ranking, or all.

        Returns
        -------
        float or ndarray
            In [0, 1]; NaN where no item gains anything.

        References
        ----------
        As of ``dcg``.

        Examples
        --------
        >>> import hitcurve as hc
        >>> round(hc.GainCurve([1, 0, 3], [0.9, 0.8, 0.7]).ndcg(), 4)
        0.6885
        """
        if not isinstance(ideal_k, str) or ideal_k not in ("same", "all"):
            raise ValueError(f"ideal_k is {ideal_k!r}: must be 'same' or 'all'")
        return self.read(read_ndcg, "ndcg", k, ties, gain, discount, ideal_k == "all", 0.5)

    def err(self, k=None, *, max_level=None, ties="expected"):
        """Expected reciprocal rank: of a reader who goes down the ranking and stops at the first item that satisfies.

        ERR = sum over ranks r of R(r) / r times the product, over the ranks before r, of 1 - R. R(r) is the chance that the
        item at rank r satisfies: (2**level - 1) / 2**max_level.

        Parameters
        ----------
        k, ties
            As in ``dcg``.
        max_level : float, optional
            The highest level there can be, below 1024. None means 4, as in TREC's gdeval. Levels need not be whole.

        Returns
        -------
        float or ndarray
            0 without a relevant item.

        Raises
        ------
        ValueError
            For an item of a level above `max_level`, retrieved or not.
        MemoryError
            For expected ties of more items with a small chance than memory holds: 50 bytes for each of the first
            42 / R items of a group.

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

    def rbp(self, k=None, *, p=0.8, ties="expected"):
        """Rank-biased precision: (1 - p) times the sum of gain times p**(rank - 1).

        The gain is the level, divided by the greatest level of the ranking where that is above 1.

        Parameters
        ----------
        k, ties
            As in ``dcg``.
        p : float
            The chance to look at the next item, between 0 and 1.

        Returns
        -------
        float or ndarray
            NaN without a relevant item.

        References
        ----------
        Moffat & Zobel (2008), "Rank-biased precision for measurement of retrieval effectiveness", ACM TOIS 27:2.

        Examples
        --------
        >>> import hitcurve as hc
        >>> round(hc.GainCurve([1, 0, 1], [0.9, 0.8, 0.7]).rbp(p=0.5), 4)
        0.625
        """
        persistence = check_within(p, "p", "between 0 and 1", 0.0, 1.0)
        return self.read(read_rbp, "rbp", k, ties, "linear", "log2", False, persistence)

    def measure(self, name, *, ties="expected"):
        """The measure that a name stands for, as in files, reports and on the command line.

        Parameters
        ----------
        name : str
            ``NAME(option=value, ...)@cutoff``, as ``hitcurve.measures.parse`` takes it. Binary measures
            take items from level ``rel=`` up as relevant, else from level 1.
        ties : str
            How ties are read, unless the name itself says it.

        Returns
        -------
        float or ndarray

        Raises
        ------
        ValueError
            The name is unknown, or the measure is not one of these curves.

        Examples
        --------
        >>> import hitcurve as hc
        >>> hc.GainCurve([2, 0, 1], [3, 2, 1]).measure("P(rel=2)@2")
        0.5
        """
        from hitcurve.measures import parse
        return (name if callable(name) else parse(name))(self, ties)
