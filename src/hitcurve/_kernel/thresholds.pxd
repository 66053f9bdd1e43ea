# The thresholds: sorting, search, and the map from scores to buckets. Plain pointers, no Python objects, nothing raised.
from libc.math cimport INFINITY
from libc.stdint cimport INT64_MAX, INT64_MIN, int64_t, uint32_t, uint64_t

from hitcurve._kernel.columns cimport ScoreType, simd
from hitcurve._kernel.sort cimport CELLS, Buckets, Cell, score_t

cdef inline score_t beyond_all(const score_t* type, bint above) noexcept nogil:
    if score_t is int64_t:
        return INT64_MAX if above else INT64_MIN
    else:
        return <score_t>INFINITY if above else -<score_t>INFINITY


cdef inline Py_ssize_t not_below(const score_t* thresholds, Py_ssize_t m, score_t x) noexcept nogil:
    """How many of the m thresholds (m > 0) are below x: a binary search without branches that depend on x."""
    cdef Py_ssize_t place = 0, half
    while m > 1:
        half = m >> 1
        place += half & -<Py_ssize_t>(thresholds[place + half - 1] < x)
        m -= half
    return place + (thresholds[place] < x)


cdef enum:
    # The buckets of a map for counting: two for scores below the least threshold, `number` between, two for scores above.
    ABOVE = 2           # the buckets for scores above are number + ABOVE and the next
    OUTSIDE = 4
    MOST_PACKED = 1 << 25  # the most wanted buckets of a map for simd_buckets


cdef inline uint32_t bucket_of(const Buckets* buckets, uint64_t key) noexcept nogil:
    """The bucket of a score, by a map of spread_scores."""
    cdef uint64_t place = key - buckets.least
    cdef uint64_t cell = place >> buckets.shift
    if place > buckets.span:
        cell = buckets.num_cells + (key > buckets.least)
    return <uint32_t>(place >> buckets.cells[cell].shift) + buckets.cells[cell].base


cdef inline size_t most_buckets(uint32_t wanted) noexcept nogil:
    """The most buckets of a map for which so many were wanted (see spread_typed)."""
    return 2 * <size_t>wanted + CELLS + OUTSIDE


cdef inline bint may_pack(uint32_t wanted, const score_t* type) noexcept nogil:
    return simd and score_t is not int64_t and wanted < MOST_PACKED

cdef Py_ssize_t distinct_typed(const score_t* scores, Py_ssize_t n) noexcept nogil
cdef void keep_typed(score_t* scores, Py_ssize_t n, int64_t* hits) noexcept nogil
cdef Py_ssize_t sort_relevant(void* scores, Py_ssize_t n, ScoreType type, void* scratch) noexcept nogil
cdef void keep_distinct(void* scores, Py_ssize_t n, ScoreType type, int64_t* hits) noexcept nogil
cdef void count_search(const score_t* thresholds, Py_ssize_t m, const score_t* x, Py_ssize_t n, uint32_t* counts) noexcept nogil
cdef void spread_scores(Buckets* buckets, const score_t* scores, Py_ssize_t m, uint32_t wanted, Py_ssize_t most_cells,
                        Cell* cells) noexcept nogil
cdef void spread_uppers(Buckets* buckets, const score_t* scores, Py_ssize_t m, uint32_t wanted, Py_ssize_t most_cells,
                        int64_t* uppers, Cell* cells, uint32_t* packed) noexcept nogil
cdef bint find_buckets(const Buckets* map, const score_t* x, Py_ssize_t n, bint whole, uint32_t* buckets) noexcept nogil
