"""The thresholds, which are the sorted scores of the relevant items: sorting, search, and a map from scores to buckets."""
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from hitcurve._kernel.columns cimport SCORE_DOUBLE, SCORE_FLOAT, has_nan, simd
from hitcurve._kernel.sort cimport key_of, sort_typed, spread_typed

# The same loops for AVX2 (see _simd.h).
cdef extern from "_simd.h":
    enum:
        RANKED      # the most scores that are sorted by rank
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
    # For these numbers of scores, sorting by rank is faster than insertion or a map. For floats up to RANKED.
    RANKED_LEAST = 4
    RANKED_DOUBLE = 64


cdef Py_ssize_t sort_relevant(void* scores, Py_ssize_t n, ScoreType type, void* scratch) noexcept nogil:
    """Sorts the relevant scores. Returns the number of distinct scores. The scratch has space for n scores."""
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
    """Moves each distinct score of the sorted scores to the front, and writes how often it occurs."""
    if type == SCORE_FLOAT:
        keep_typed(<float*>scores, n, hits)
    elif type == SCORE_DOUBLE:
        keep_typed(<double*>scores, n, hits)
    else:
        keep_typed(<int64_t*>scores, n, hits)


cdef enum:
    TOGETHER = 16  # the number of searches that run together: each waits only for its own loads


cdef void count_search(const score_t* thresholds, Py_ssize_t m, const score_t* x, Py_ssize_t n,
                       uint32_t* counts) noexcept nogil:
    """Counts items by binary search, several together. The memory has one more score, of any value, after the thresholds."""
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
    """Writes the bucket of each score, and up to 7 elements beyond. Returns whether a score is NaN, unless `whole`."""
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
    """Makes a map of m scores, with a cell for all lower scores and a cell for all higher scores."""
    cdef uint32_t cell
    spread_typed(scores, m, wanted, most_cells, cells, buckets)
    for cell in range(buckets.num_cells):
        cells[cell].base += ABOVE
    # After the shift, a position outside is 0 or 1: so each of these two cells has two buckets.
    cells[buckets.num_cells].shift = cells[buckets.num_cells + 1].shift = 63
    cells[buckets.num_cells].base = 0
    cells[buckets.num_cells + 1].base = buckets.number + ABOVE
    buckets.packed = NULL


cdef void spread_uppers(Buckets* buckets, const score_t* scores, Py_ssize_t m, uint32_t wanted, Py_ssize_t most_cells,
                        int64_t* uppers, Cell* cells, uint32_t* packed) noexcept nogil:
    """Makes the map of m sorted scores for simd_buckets, which uses only the upper 32 bits of a key."""
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
