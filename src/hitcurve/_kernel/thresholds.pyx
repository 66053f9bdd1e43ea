"""The sorted scores of the relevant items, the thresholds: sorted, searched, and the map from scores to buckets."""
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from hitcurve._kernel.columns cimport SCORE_DOUBLE, SCORE_FLOAT, has_nan, simd
from hitcurve._kernel.sort cimport key_of, sort_typed, spread_typed

# The same loops for AVX2 (see there).
cdef extern from "_simd.h":
    enum:
        RANKED      # most scores that are sorted by rank
    void simd_sort_float(float* x, Py_ssize_t n) noexcept nogil
    void simd_sort_double(double* x, Py_ssize_t n) noexcept nogil
    bint simd_buckets(const void* x, Py_ssize_t n, bint is_double, int32_t least, int32_t greatest, uint32_t shift,
                      uint32_t above, const uint32_t* packed, uint32_t* buckets) noexcept nogil


cdef Py_ssize_t distinct_typed(const score_t* scores, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef int64_t again = 0
    for i in range(1, n):
        again += scores[i] == scores[i - 1]
    return n - again


cdef void keep_typed(score_t* scores, Py_ssize_t n, int64_t* hits) noexcept nogil:
    cdef Py_ssize_t i, m = -1
    for i in range(n):
        if m >= 0 and scores[i] == scores[m]:
            hits[m] += 1
        else:
            m += 1
            scores[m] = scores[i]
            hits[m] = 1


cdef enum:
    # Scores that sorting by rank sorts faster than by insertion or by a map; of floats, RANKED.
    RANKED_LEAST = 4
    RANKED_DOUBLE = 64


cdef Py_ssize_t sort_relevant(void* scores, Py_ssize_t n, ScoreType type, void* scratch) noexcept nogil:
    """Sorts the relevant scores; how many distinct ones there are. The scratch has room for as many."""
    if type == SCORE_FLOAT:
        if simd and RANKED_LEAST <= n <= RANKED:
            simd_sort_float(<float*>scores, n)
        else:
            sort_typed(<float*>scores, n, <float*>scratch)
        return distinct_typed(<const float*>scores, n)
    if type == SCORE_DOUBLE:
        if simd and RANKED_LEAST <= n <= RANKED_DOUBLE:
            simd_sort_double(<double*>scores, n)
        else:
            sort_typed(<double*>scores, n, <double*>scratch)
        return distinct_typed(<const double*>scores, n)
    sort_typed(<int64_t*>scores, n, <int64_t*>scratch)
    return distinct_typed(<const int64_t*>scores, n)


cdef void keep_distinct(void* scores, Py_ssize_t n, ScoreType type, int64_t* hits) noexcept nogil:
    """Leaves each of the sorted scores once, in front, and how often it occurred."""
    if type == SCORE_FLOAT:
        keep_typed(<float*>scores, n, hits)
    elif type == SCORE_DOUBLE:
        keep_typed(<double*>scores, n, hits)
    else:
        keep_typed(<int64_t*>scores, n, hits)


cdef enum:
    TOGETHER = 16  # searches that run side by side: each waits for its own loads only


cdef void count_search(const score_t* thresholds, Py_ssize_t m, const score_t* x, Py_ssize_t n,
                       uint32_t* counts) noexcept nogil:
    """Each item by binary search, several side by side. There is a score behind the last threshold, of any value."""
    cdef Py_ssize_t i = 0, left, half
    cdef int j
    cdef const score_t* at[TOGETHER]
    if m == 0:
        counts[0] += <uint32_t>n
        return
    while i + TOGETHER <= n:
        for j in range(TOGETHER):
            at[j] = thresholds
        left = m
        while left > 1:
            half = left >> 1
            for j in range(TOGETHER):
                at[j] += half & -<Py_ssize_t>(at[j][half - 1] < x[i + j])
            left -= half
        for j in range(TOGETHER):
            at[j] += at[j][0] < x[i + j]
            left = at[j] - thresholds
            counts[2 * left + ((at[j][0] == x[i + j]) & (left < m))] += 1
        i += TOGETHER
    while i < n:
        left = not_below(thresholds, m, x[i])
        counts[2 * left + ((thresholds[left] == x[i]) & (left < m))] += 1
        i += 1


# ------------------------------------------------------------------------------------------------------------- the map

cdef bint find_buckets(const Buckets* map, const score_t* x, Py_ssize_t n, bint whole, uint32_t* buckets) noexcept nogil:
    """The bucket of each score; whether one of them is NaN, unless it is known that none is. Writes up to 7 places beyond."""
    cdef Py_ssize_t i
    cdef uint64_t least = map.least ^ <uint64_t>1 << 63
    if map.packed is not NULL:
        if score_t is double:
            return simd_buckets(x, n, True, <int32_t>(least >> 32), <int32_t>((least + map.span) >> 32), map.shift - 32,
                                map.number + ABOVE, map.packed, buckets)
        else:
            return simd_buckets(x, n, False, <int32_t>least, <int32_t>(least + map.span), map.shift, map.number + ABOVE,
                                map.packed, buckets)
    if not whole and has_nan(x, n):
        return True
    for i in range(n):
        buckets[i] = bucket_of(map, key_of(x[i]))
    return False


cdef void spread_scores(Buckets* buckets, const score_t* scores, Py_ssize_t m, uint32_t wanted, Py_ssize_t most_cells,
                        Cell* cells) noexcept nogil:
    """Makes a map of m scores, with a cell for what lies below them all and one for what lies above."""
    cdef uint32_t cell
    spread_typed(scores, m, wanted, most_cells, cells, buckets)
    for cell in range(buckets.num_cells):
        cells[cell].base += ABOVE
    # Of a place that has wrapped one bit is left: hence two buckets each.
    cells[buckets.num_cells].shift = cells[buckets.num_cells + 1].shift = 63
    cells[buckets.num_cells].base = 0
    cells[buckets.num_cells + 1].base = buckets.number + ABOVE
    buckets.packed = NULL


cdef void spread_uppers(Buckets* buckets, const score_t* scores, Py_ssize_t m, uint32_t wanted, Py_ssize_t most_cells,
                        int64_t* uppers, Cell* cells, uint32_t* packed) noexcept nogil:
    """Makes the map of m sorted scores for simd_buckets, which sees the upper 32 bits of a key: the others do not matter."""
    cdef uint32_t lower = 32 if score_t is double else 0, cell
    cdef Py_ssize_t i
    for i in range(m):
        uppers[i] = <int64_t>(key_of(scores[i]) ^ <uint64_t>1 << 63) >> lower
    spread_scores(buckets, <const int64_t*>uppers, m, wanted, most_cells, cells)
    buckets.packed = packed
    for cell in range(buckets.num_cells):
        packed[cell] = cells[cell].base << 5 | cells[cell].shift
        cells[cell].shift += lower
    buckets.least = <uint64_t>uppers[0] << lower ^ <uint64_t>1 << 63
    buckets.span = ((buckets.span + 1) << lower) - 1
    buckets.shift += lower
