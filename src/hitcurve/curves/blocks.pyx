# cython: wraparound=True
"""Counts blocks of scores against thresholds, for rankings that are never in memory as a whole."""
cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc
from cpython.pythread cimport (
    NOWAIT_LOCK, PyThread_acquire_lock, PyThread_allocate_lock, PyThread_free_lock, PyThread_release_lock,
)
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

cimport numpy as cnp

import numpy as np

from hitcurve._base.checks cimport as_scores, bad_score, kind_of, parse_nan_policy, type_of
from hitcurve._kernel.columns cimport NAN_RAISE, NAN_WORST, Items, ScoreType, Tally, look_for_nan, tally_clear
from hitcurve._kernel.count cimport (
    ENDLESS, STRATEGY_PARTS, STRATEGY_SEARCH, Index, Strategy, build_index, choose_strategy, count_items, index_size,
    open_counts, scratch_size, settle_counts,
)
from hitcurve._kernel.table cimport Ranking, num_rows, prefer_huge_pages, ranking_rows
from hitcurve._kernel.thresholds cimport keep_distinct, sort_relevant

cnp.import_array()

cdef enum:
    PIECE = 1 << 22          # items between two checks for Ctrl-C

cdef Py_ssize_t NARROW = <Py_ssize_t>((<uint64_t>1 << 32) - 1)  # items that 32-bit counts can hold


def distinct_scores(scores):
    """(distinct scores, how often each occurs). Sorts the array in place. No score may be NaN."""
    cdef Py_ssize_t m, n = scores.shape[0]
    cdef ScoreType type
    turned = scores.dtype == np.uint64
    if turned:
        scores ^= np.uint64(1 << 63)
        scores = scores.view(np.int64)
    type = type_of(kind_of((<cnp.dtype>scores.dtype).type_num))
    scratch = np.empty_like(scores)
    cdef void* data = cnp.PyArray_DATA(<cnp.ndarray>scores)
    cdef void* room = cnp.PyArray_DATA(<cnp.ndarray>scratch)
    with nogil:
        m = sort_relevant(data, n, type, room)
    scratch = None
    hits = np.empty(m, np.int64)
    room = cnp.PyArray_DATA(<cnp.ndarray>hits)
    with nogil:
        keep_distinct(data, n, type, <int64_t*>room)
    if turned:
        scores = scores.view(np.uint64)
        scores ^= np.uint64(1 << 63)
    return scores[:m], hits


@cython.final
cdef class BlockCounter:
    """Counts blocks of scores against sorted thresholds. Siblings share the thresholds, but not the counts.

    The index of the thresholds is built once, so that the time for a small block does not grow with their number.
    """

    def __cinit__(self):
        self.taken = PyThread_allocate_lock()
        if self.taken is NULL:
            raise MemoryError("not enough memory for a counter")

    def __init__(self, cuts):
        cdef Items items
        cdef Py_ssize_t m = cuts.shape[0]
        cdef Strategy strategy
        items.n = m
        as_scores(cuts, "thresholds", &items)
        self.type = items.type
        self.thresholds = np.append(cuts, cuts.dtype.type(0))
        if cuts.dtype == np.uint64:
            self.cuts = cuts
            self.thresholds = (self.thresholds ^ np.uint64(1 << 63)).view(np.int64)
        else:
            self.cuts = self.thresholds[:m]
        strategy = choose_strategy(self.type, cnp.PyArray_DATA(<cnp.ndarray>self.thresholds), m, PIECE)
        self.memory = np.empty(index_size(strategy, m, ENDLESS), np.uint8)
        build_index(strategy, self.type, cnp.PyArray_DATA(<cnp.ndarray>self.thresholds), m, ENDLESS,
                    cnp.PyArray_DATA(<cnp.ndarray>self.memory), &self.index)
        self.nan_items = 0

    def __dealloc__(self):
        PyMem_RawFree(self.narrow)
        PyMem_RawFree(self.wide)
        PyMem_RawFree(self.scratch)
        if self.taken is not NULL:
            PyThread_free_lock(self.taken)

    def sibling(self):
        """A counter of the same thresholds, without counts, for another thread."""
        cdef BlockCounter other = BlockCounter.__new__(BlockCounter)
        other.cuts, other.thresholds, other.memory = self.cuts, self.thresholds, self.memory
        other.type, other.index = self.type, self.index
        other.nan_items = 0
        return other

    cdef int prepare(self) except -1:
        """Allocates memory for the counts."""
        cdef Py_ssize_t size = 2 * self.cuts.shape[0] + 2
        if self.scratch is NULL:
            self.scratch = PyMem_RawMalloc(scratch_size(&self.index, PIECE))
            prefer_huge_pages(self.scratch, scratch_size(&self.index, PIECE))
            if self.scratch is not NULL:
                open_counts(&self.index, self.scratch)
        if self.narrow is NULL:
            self.narrow = <uint32_t*>PyMem_RawCalloc(size, sizeof(uint32_t))
            prefer_huge_pages(self.narrow, size * sizeof(uint32_t))
        if self.scratch is NULL or self.narrow is NULL:
            raise MemoryError("not enough memory to count the items")
        return 0

    cdef int settle(self) except -1:
        """Adds the counts that blocks have left in the scratch memory."""
        self.take()
        if self.scratch is not NULL and self.narrow is not NULL:
            settle_counts(&self.index, self.scratch, self.narrow)
        PyThread_release_lock(self.taken)
        return 0

    cdef int take(self) except -1:
        if not PyThread_acquire_lock(self.taken, NOWAIT_LOCK):
            raise RuntimeError("another thread is using this counter: give each thread a counter of its own, and merge the "
                               "counters")
        return 0

    cdef int widen(self) except -1:
        cdef Py_ssize_t i, size = 2 * self.cuts.shape[0] + 2
        if self.wide is NULL:
            self.wide = <int64_t*>PyMem_RawCalloc(size, sizeof(int64_t))
            if self.wide is NULL:
                raise MemoryError("not enough memory to count the items")
        with nogil:
            if self.scratch is not NULL:
                settle_counts(&self.index, self.scratch, self.narrow)
            for i in range(size):
                self.wide[i] += self.narrow[i]
            memset(self.narrow, 0, size * sizeof(uint32_t))
        self.since = 0
        return 0

    def add(self, score, nan_policy, bint checked=False):
        """Counts a block of the thresholds' type. A NaN that is not allowed is an error before anything is counted.

        `checked` says that the block has no NaN.
        """
        cdef Items items
        cdef Index index = self.index
        cdef Tally tally
        cdef Py_ssize_t start = 0, stop
        cdef bint missing
        self.take()
        try:
            items.n = score.shape[0]
            items.nan_policy = parse_nan_policy(nan_policy)
            _kept = as_scores(score, "y_score", &items)
            if items.type != self.type:
                raise TypeError(f"y_score has dtype {score.dtype}, but the thresholds have dtype {self.cuts.dtype}")
            with nogil:
                missing = not checked and look_for_nan(&items, 0, items.n)
            if missing and items.nan_policy == NAN_RAISE:
                raise bad_score("y_score", int(np.argmax(np.isnan(score))))
            tally_clear(&tally)
            tally.no_nan = not missing
            self.prepare()
            if index.strategy == STRATEGY_PARTS and items.n < <Py_ssize_t>index.buckets.number:
                index.strategy = STRATEGY_SEARCH  # the cost of a call grows with the number of parts
            while start < items.n:
                stop = min(items.n, start + PIECE)
                if self.since > NARROW - (stop - start):
                    self.widen()
                with nogil:
                    count_items(&items, start, stop, &index, self.scratch, self.narrow, &tally)
                self.since += stop - start
                PyErr_CheckSignals()
                start = stop
            if items.nan_policy == NAN_WORST:
                self.nan_items += tally.nan_items
        finally:
            PyThread_release_lock(self.taken)

    def add_between(self, Py_ssize_t gap, Py_ssize_t number):
        """Counts items whose scores lie above `gap` thresholds and below the others."""
        cdef Py_ssize_t part
        self.take()
        try:
            self.prepare()
            while number > 0:
                part = min(number, NARROW)
                if self.since > NARROW - part:
                    self.widen()
                self.narrow[2 * gap] += <uint32_t>part
                self.since += part
                number -= part
        finally:
            PyThread_release_lock(self.taken)

    def absorb(self, BlockCounter other):
        """Moves the counts of a sibling to this counter."""
        cdef Py_ssize_t i, size = 2 * self.cuts.shape[0] + 2
        self.nan_items += other.nan_items
        other.nan_items = 0
        if other.narrow is NULL:
            return
        other.settle()
        if self.narrow is NULL:
            self.narrow, self.wide, self.since = other.narrow, other.wide, other.since
            other.narrow, other.wide, other.since = NULL, NULL, 0
            return
        if other.wide is not NULL or self.since + other.since > NARROW:
            self.widen()
            other.widen()
            with nogil:
                for i in range(size):
                    self.wide[i] += other.wide[i]
        else:
            with nogil:
                for i in range(size):
                    self.narrow[i] += other.narrow[i]
            self.since += other.since
        PyMem_RawFree(other.narrow)
        PyMem_RawFree(other.wide)
        other.narrow, other.wide, other.since = NULL, NULL, 0

    def table(self, const int64_t[::1] hits, bint lower, int64_t nan_hits):
        """(score, above, tied, hits, items, hits in all), where `hits` are the relevant items at each threshold."""
        cdef Ranking ranking
        cdef Py_ssize_t i, row, rows, m = self.cuts.shape[0]
        cdef Py_ssize_t bad = -1
        cdef int64_t* above
        self.settle()
        if self.narrow is NULL:
            self.prepare()
        if self.wide is not NULL:
            self.widen()
        PyMem_RawFree(self.scratch)
        self.scratch = NULL
        memset(&ranking, 0, sizeof(Ranking))
        ranking.counts.narrow = self.narrow
        ranking.counts.wide = self.wide
        ranking.counts.num_thresholds = m
        ranking.counts.lower_is_better = lower
        ranking.nan_items = self.nan_items
        ranking.nan_hits = nan_hits
        ranking.num_items = self.nan_items
        for i in range(2 * m + 1):
            ranking.num_items += self.narrow[i] if self.wide is NULL else self.wide[i]
        ranking.num_hits = nan_hits
        rows = num_rows(&ranking)
        columns, score = np.empty((3, rows), np.int64), np.empty(rows, self.cuts.dtype)
        above = <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>columns)
        with nogil:
            ranking_rows(&ranking, rows, above, above + rows, above + 2 * rows)
            for row in range(m):
                i = row if lower else m - 1 - row
                above[2 * rows + row] = hits[i]
                ranking.num_hits += hits[i]
                if above[rows + row] < hits[i]:
                    bad = i
        if bad >= 0 or ranking.nan_items < nan_hits:
            raise ValueError(f"the source changed between the passes: relevant items with score "
                             f"{self.cuts[bad] if bad >= 0 else np.nan} are missing in the second pass")
        score[:m] = self.cuts if lower else self.cuts[::-1]
        if nan_hits > 0:
            score[m] = np.nan
        return score, columns[0], columns[1], columns[2], ranking.num_items, ranking.num_hits

    def counts(self):
        """The numbers of items between and at the m thresholds: 2 * m + 1 numbers."""
        cdef Py_ssize_t i, size = 2 * self.cuts.shape[0] + 1
        cdef int64_t[::1] total = np.zeros(size, np.int64)
        self.settle()
        for i in range(size):
            if self.wide is not NULL:
                total[i] = self.wide[i]
            if self.narrow is not NULL:
                total[i] += self.narrow[i]
        return np.asarray(total)
