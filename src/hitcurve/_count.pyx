"""Kernels that count items against the sorted scores of the relevant ones.

A row of the table needs only how many items score above and at each relevant score. So the relevant scores are
sorted (the thresholds), and every other item is counted against them; counts of disjoint blocks add up. All the
strategies stand behind ``count_items``: (thresholds, items) -> counts.

NaN never reaches a comparison: blocks that hold one are rewritten without it first.
"""
from libc.math cimport NAN
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

cimport numpy as cnp

cnp.import_array()

ctypedef fused score_t:
    float
    double
    int64_t

# numpy's own sort (SIMD, dispatched at run time) through the dtype's slot: it needs no GIL and no array.
ctypedef int (*sort_function)(void* start, cnp.npy_intp n, void* array) noexcept nogil

cdef extern from "numpy/ndarraytypes.h":
    ctypedef struct PyArray_ArrFuncs:
        void* sort[3]

cdef extern from "numpy/arrayobject.h":
    PyArray_ArrFuncs* PyDataType_GetArrFuncs(const cnp.PyArray_Descr* descr)


cdef sort_function sort_of(int type_number):
    cdef object descr = cnp.PyArray_DescrFromType(type_number)
    return <sort_function>PyDataType_GetArrFuncs(<const cnp.PyArray_Descr*>descr).sort[0]


cdef sort_function sort_float = sort_of(cnp.NPY_FLOAT)
cdef sort_function sort_double = sort_of(cnp.NPY_DOUBLE)
cdef sort_function sort_int64 = sort_of(cnp.NPY_INT64)


# ------------------------------------------------------------------------------------------------------------- sorting

cdef enum:
    INSERTION = 24  # up to here insertion beats the call of a sort


cdef void insertion_sort(score_t* scores, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef score_t x
    for i in range(1, n):
        x = scores[i]
        j = i
        while j > 0 and scores[j - 1] > x:
            scores[j] = scores[j - 1]
            j -= 1
        scores[j] = x


cdef void sift_down(score_t* heap, Py_ssize_t root, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t child
    cdef score_t x = heap[root]
    while True:
        child = 2 * root + 1
        if child >= n:
            break
        if child + 1 < n and heap[child] < heap[child + 1]:
            child += 1
        if not x < heap[child]:
            break
        heap[root] = heap[child]
        root = child
    heap[root] = x


cdef void heap_sort(score_t* scores, Py_ssize_t n) noexcept nogil:
    """Only for a numpy whose dtype has no sort slot."""
    cdef Py_ssize_t i
    cdef score_t x
    for i in range(n // 2 - 1, -1, -1):
        sift_down(scores, i, n)
    for i in range(n - 1, 0, -1):
        x = scores[0]
        scores[0] = scores[i]
        scores[i] = x
        sift_down(scores, 0, i)


cdef void sort_typed(score_t* scores, Py_ssize_t n) noexcept nogil:
    cdef sort_function sort
    if n <= INSERTION:
        insertion_sort(scores, n)
        return
    if score_t is float:
        sort = sort_float
    elif score_t is double:
        sort = sort_double
    else:
        sort = sort_int64
    if sort is NULL or sort(scores, n, NULL) != 0:
        heap_sort(scores, n)


cdef Py_ssize_t keep_distinct(score_t* scores, Py_ssize_t n, int64_t* hits) noexcept nogil:
    """Leaves each distinct one of the sorted scores once, in front, and how often it occurred."""
    cdef Py_ssize_t i, m = -1
    for i in range(n):
        if m >= 0 and scores[i] == scores[m]:
            hits[m] += 1
        else:
            m += 1
            scores[m] = scores[i]
            hits[m] = 1
    return m + 1


cdef Py_ssize_t sort_thresholds(void* scores, Py_ssize_t n, ScoreType type, int64_t* hits) noexcept nogil:
    """Makes thresholds of the relevant scores: sorts them and keeps each once. How many are left."""
    if type == SCORE_FLOAT:
        sort_typed(<float*>scores, n)
        return keep_distinct(<float*>scores, n, hits)
    if type == SCORE_DOUBLE:
        sort_typed(<double*>scores, n)
        return keep_distinct(<double*>scores, n, hits)
    sort_typed(<int64_t*>scores, n)
    return keep_distinct(<int64_t*>scores, n, hits)


# ------------------------------------------------------------------------------------------------------------- loading

ctypedef fused small_t:
    int8_t
    int16_t
    int32_t
    uint8_t
    uint16_t
    uint32_t
    float
    double

ctypedef fused long_t:
    int64_t
    uint64_t

ctypedef fused label_t:
    int8_t
    int16_t
    int32_t
    int64_t
    uint8_t
    uint16_t
    uint32_t
    uint64_t
    float
    double


cdef inline void widen(const char* data, Py_ssize_t stride, Py_ssize_t n, const small_t* kind, double* out) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = (<const small_t*>(data + i * stride))[0]


cdef inline void widen_long(const char* data, Py_ssize_t stride, Py_ssize_t n, const long_t* kind,
                            int64_t* out) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if long_t is uint64_t:
            out[i] = <int64_t>((<const uint64_t*>(data + i * stride))[0] ^ (<uint64_t>1 << 63))
        else:
            out[i] = (<const int64_t*>(data + i * stride))[0]


cdef inline double half_to_double(uint16_t bits) noexcept nogil:
    cdef uint64_t exponent = (bits >> 10) & 31, fraction = bits & 1023, wide
    cdef double value
    if exponent == 0:
        value = <double>fraction / 16777216.0  # subnormal, in units of 2**-24
        return -value if bits >> 15 else value
    exponent = 2047 if exponent == 31 else exponent + (1023 - 15)
    wide = (<uint64_t>(bits >> 15) << 63) | (exponent << 52) | (fraction << 42)
    memcpy(&value, &wide, sizeof(double))
    return value


cdef const score_t* load_scores(const Column* column, Py_ssize_t start, Py_ssize_t n, score_t* scratch) noexcept nogil:
    """A block of scores side by side: where they lie if that is possible, else copied to the scratch."""
    cdef const char* data = column.data + start * column.stride
    cdef Py_ssize_t i, stride = column.stride
    if score_t is float:
        if stride == sizeof(float):
            return <const float*>data
        for i in range(n):
            scratch[i] = (<const float*>(data + i * stride))[0]
    elif score_t is double:
        if column.kind == KIND_F64:
            if stride == sizeof(double):
                return <const double*>data
            widen(data, stride, n, <const double*>NULL, scratch)
        elif column.kind == KIND_F32:
            widen(data, stride, n, <const float*>NULL, scratch)
        elif column.kind == KIND_I8:
            widen(data, stride, n, <const int8_t*>NULL, scratch)
        elif column.kind == KIND_I16:
            widen(data, stride, n, <const int16_t*>NULL, scratch)
        elif column.kind == KIND_I32:
            widen(data, stride, n, <const int32_t*>NULL, scratch)
        elif column.kind == KIND_U8:
            widen(data, stride, n, <const uint8_t*>NULL, scratch)
        elif column.kind == KIND_U16:
            widen(data, stride, n, <const uint16_t*>NULL, scratch)
        elif column.kind == KIND_U32:
            widen(data, stride, n, <const uint32_t*>NULL, scratch)
        else:
            for i in range(n):
                scratch[i] = half_to_double((<const uint16_t*>(data + i * stride))[0])
    else:
        if column.kind == KIND_U64:
            widen_long(data, stride, n, <const uint64_t*>NULL, scratch)
        elif stride == sizeof(int64_t):
            return <const int64_t*>data
        else:
            widen_long(data, stride, n, <const int64_t*>NULL, scratch)
    return scratch


cdef inline void flag(const char* data, Py_ssize_t stride, Py_ssize_t n, const label_t* kind, uint8_t* out) noexcept nogil:
    """0 and 1 as they are, anything else as 2."""
    cdef Py_ssize_t i
    cdef label_t x
    for i in range(n):
        x = (<const label_t*>(data + i * stride))[0]
        out[i] = 0 if x == 0 else (1 if x == 1 else 2)


cdef const uint8_t* load_labels(const Column* column, Py_ssize_t start, Py_ssize_t n, uint8_t* scratch) noexcept nogil:
    cdef const char* data = column.data + start * column.stride
    cdef Py_ssize_t stride = column.stride
    if column.kind == KIND_U8:
        if stride == 1:
            return <const uint8_t*>data
        flag(data, stride, n, <const uint8_t*>NULL, scratch)
    elif column.kind == KIND_I8:
        if stride == 1:
            return <const uint8_t*>data  # a negative label is above 1 as a byte
        flag(data, stride, n, <const int8_t*>NULL, scratch)
    elif column.kind == KIND_I16:
        flag(data, stride, n, <const int16_t*>NULL, scratch)
    elif column.kind == KIND_I32:
        flag(data, stride, n, <const int32_t*>NULL, scratch)
    elif column.kind == KIND_I64:
        flag(data, stride, n, <const int64_t*>NULL, scratch)
    elif column.kind == KIND_U16:
        flag(data, stride, n, <const uint16_t*>NULL, scratch)
    elif column.kind == KIND_U32:
        flag(data, stride, n, <const uint32_t*>NULL, scratch)
    elif column.kind == KIND_U64:
        flag(data, stride, n, <const uint64_t*>NULL, scratch)
    elif column.kind == KIND_F32:
        flag(data, stride, n, <const float*>NULL, scratch)
    else:
        flag(data, stride, n, <const double*>NULL, scratch)
    return scratch


# -------------------------------------------------------------------------------------------------- labels and the NaN

cdef void tally_clear(Tally* tally) noexcept nogil:
    tally.bad_label = -1
    tally.bad_score = -1
    tally.nan_items = 0
    tally.nan_hits = 0


cdef inline bint is_nan(score_t x) noexcept nogil:
    if score_t is int64_t:
        return False
    else:
        return x != x


cdef inline bint has_nan(const score_t* x, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef bint found = False
    if score_t is int64_t:
        return False
    else:
        for i in range(n):
            found |= is_nan(x[i])
        return found


cdef Py_ssize_t count_labels(const Column* label, Py_ssize_t start, Py_ssize_t stop, Tally* tally) noexcept nogil:
    """Relevant items; the first label that is neither 0 nor 1 is left in the tally, and -1 returned."""
    cdef uint8_t flags[BLOCK]
    cdef const uint8_t* x
    cdef Py_ssize_t i, n, total = 0
    cdef uint32_t ones
    cdef uint8_t seen
    while start < stop:
        n = min(stop - start, BLOCK)
        x = load_labels(label, start, n, flags)
        ones = 0
        seen = 0
        for i in range(n):
            ones += x[i]
            seen |= x[i]
        if seen > 1:
            for i in range(n):
                if x[i] > 1:
                    tally.bad_label = start + i
                    return -1
        total += ones
        start += n
    return total


cdef Py_ssize_t gather_typed(const Items* items, Py_ssize_t start, Py_ssize_t stop, score_t* relevant,
                             Py_ssize_t found, Py_ssize_t capacity, Tally* tally) noexcept nogil:
    cdef uint8_t flags[BLOCK]
    cdef score_t single
    cdef score_t x
    cdef const uint8_t* label
    cdef Py_ssize_t i, n
    cdef uint64_t eight
    while start < stop:
        n = min(stop - start, BLOCK)
        label = load_labels(&items.label, start, n, flags)
        i = 0
        while i < n:
            if i + 8 <= n:
                memcpy(&eight, label + i, 8)
                if eight == 0:
                    i += 8
                    continue
            if label[i] == 0:
                i += 1
                continue
            if label[i] > 1:
                tally.bad_label = start + i
                return found
            x = load_scores(&items.score, start + i, 1, &single)[0]
            if is_nan(x):
                if items.nan_policy == NAN_RAISE:
                    tally.bad_score = start + i
                    return found
                tally.nan_hits += 1
            elif found < capacity:
                relevant[found] = x
                found += 1
            i += 1
        start += n
    return found


cdef Py_ssize_t gather_relevant(const Items* items, Py_ssize_t start, Py_ssize_t stop, void* relevant,
                                Py_ssize_t found, Py_ssize_t capacity, Tally* tally) noexcept nogil:
    """Scores of the relevant items, NaN left out, written from place `found` on; the next free place.

    Stops at a label that is neither 0 nor 1, or a NaN that is not allowed, and leaves its place in the tally. Never
    writes beyond `capacity`, whatever another thread does to the labels.
    """
    if items.type == SCORE_FLOAT:
        return gather_typed(items, start, stop, <float*>relevant, found, capacity, tally)
    if items.type == SCORE_DOUBLE:
        return gather_typed(items, start, stop, <double*>relevant, found, capacity, tally)
    return gather_typed(items, start, stop, <int64_t*>relevant, found, capacity, tally)


# ------------------------------------------------------------------------------------------------------------ counting

cdef inline void count_compare(const score_t* thresholds, Py_ssize_t m, const score_t* x, Py_ssize_t n,
                               uint32_t* counts) noexcept nogil:
    """Each threshold with all items at once: two vector comparisons an item and threshold."""
    cdef Py_ssize_t i, j
    cdef score_t u
    cdef uint32_t below = <uint32_t>n, at_least, above
    cdef int32_t narrow_at_least, narrow_above
    cdef int64_t wide_at_least, wide_above
    for j in range(m):
        u = thresholds[j]
        # Counters as wide as the scores, or the comparison's mask has to be narrowed at every step.
        if score_t is float:
            narrow_at_least = 0
            narrow_above = 0
            for i in range(n):
                narrow_at_least += x[i] >= u
                narrow_above += x[i] > u
            at_least = <uint32_t>narrow_at_least
            above = <uint32_t>narrow_above
        else:
            wide_at_least = 0
            wide_above = 0
            for i in range(n):
                wide_at_least += x[i] >= u
                wide_above += x[i] > u
            at_least = <uint32_t>wide_at_least
            above = <uint32_t>wide_above
        counts[2 * j] += below - at_least
        counts[2 * j + 1] += at_least - above
        below = above
    counts[2 * m] += below


cdef enum:
    TOGETHER = 8  # searches that run side by side: each waits for its own loads only


cdef inline void count_search(const score_t* thresholds, Py_ssize_t m, const score_t* x, Py_ssize_t n,
                              uint32_t* counts) noexcept nogil:
    """Each item by binary search among the thresholds, without branches, eight searches interleaved."""
    cdef Py_ssize_t i = 0, j, length, half
    cdef Py_ssize_t place[TOGETHER]
    while i + TOGETHER <= n:
        for j in range(TOGETHER):
            place[j] = 0
        length = m
        while length > 1:
            half = length >> 1
            for j in range(TOGETHER):
                place[j] += half * (thresholds[place[j] + half - 1] < x[i + j])
            length -= half
        for j in range(TOGETHER):
            counts[2 * place[j] + (thresholds[place[j]] <= x[i + j]) + (thresholds[place[j]] < x[i + j])] += 1
        i += TOGETHER
    while i < n:
        place[0] = 0
        length = m
        while length > 1:
            half = length >> 1
            place[0] += half * (thresholds[place[0] + half - 1] < x[i])
            length -= half
        counts[2 * place[0] + (thresholds[place[0]] <= x[i]) + (thresholds[place[0]] < x[i])] += 1
        i += 1


cdef inline void count_sorted(const score_t* thresholds, Py_ssize_t m, const score_t* x, Py_ssize_t n,
                              uint32_t* counts) noexcept nogil:
    """Sorted items merged with the thresholds."""
    cdef Py_ssize_t i, j = 0, before
    for i in range(m):
        before = j
        while j < n and x[j] < thresholds[i]:
            j += 1
        counts[2 * i] += <uint32_t>(j - before)
        before = j
        while j < n and x[j] == thresholds[i]:
            j += 1
        counts[2 * i + 1] += <uint32_t>(j - before)
    counts[2 * m] += <uint32_t>(n - j)


# --- The cost model. Costs in nanoseconds an item, measured on a 2.5 GHz x86-64 without AVX by timing each strategy
# (the private argument `_strategy`) over R at 10 million items; only their ratios matter.

cdef enum:
    COMPARE_UP_TO_FLOAT = 16
    COMPARE_UP_TO_WIDE = 8
    SORT_FROM_SHARE = 16  # sort when more than one item in so many is a threshold


cdef Strategy choose_strategy(ScoreType type, Py_ssize_t m, Py_ssize_t n) noexcept nogil:
    if m <= (COMPARE_UP_TO_FLOAT if type == SCORE_FLOAT else COMPARE_UP_TO_WIDE):
        return STRATEGY_COMPARE
    if m > 4096 and m > n // SORT_FROM_SHARE:
        return STRATEGY_SORT
    return STRATEGY_SEARCH


cdef inline Py_ssize_t sort_chunk(Py_ssize_t m, Py_ssize_t n) noexcept nogil:
    """Items sorted together: few enough to need little memory, enough that a merge is not mostly thresholds."""
    return min(n, max(m, <Py_ssize_t>1 << 18))


cdef Py_ssize_t scratch_size(Strategy strategy, Py_ssize_t m, Py_ssize_t n) noexcept nogil:
    """Scores of scratch that count_items needs for n items."""
    return (sort_chunk(m, n) if strategy == STRATEGY_SORT else 0) + BLOCK


cdef bint count_typed(const Items* items, Py_ssize_t start, Py_ssize_t stop, const score_t* thresholds, Py_ssize_t m,
                      Strategy strategy, score_t* scratch, uint32_t* counts, Tally* tally) noexcept nogil:
    cdef uint8_t flags[BLOCK]
    cdef const uint8_t* label = NULL
    cdef const score_t* x
    cdef score_t* to = scratch
    cdef Py_ssize_t i, kept, n, filled = 0, chunk = sort_chunk(m, stop - start)
    cdef bint whole
    while start < stop:
        n = min(stop - start, BLOCK)
        if strategy == STRATEGY_SORT:
            to = scratch + filled
            label = load_labels(&items.label, start, n, flags)
        x = load_scores(&items.score, start, n, to)
        whole = not has_nan(x, n)
        if not whole and items.nan_policy == NAN_RAISE:
            for i in range(n):
                if is_nan(x[i]):
                    tally.bad_score = start + i
                    break
            return False
        if strategy == STRATEGY_SORT:
            kept = 0
            for i in range(n):
                if whole or not is_nan(x[i]):
                    to[kept] = x[i]
                    kept += label[i] == 0
                elif label[i] == 0:
                    tally.nan_items += 1
            filled += kept
            if filled >= chunk or start + n == stop:
                sort_typed(scratch, filled)
                count_sorted(thresholds, m, <const score_t*>scratch, filled, counts)
                filled = 0
        else:
            if not whole:
                kept = 0
                for i in range(n):
                    to[kept] = x[i]
                    kept += not is_nan(x[i])
                tally.nan_items += n - kept
                x = to
                n = kept
            if m == 0:
                counts[0] += <uint32_t>n
            elif strategy == STRATEGY_COMPARE:
                count_compare(thresholds, m, x, n, counts)
            else:
                count_search(thresholds, m, x, n, counts)
            if not whole:
                n = min(stop - start, BLOCK)
        start += n
    return True


cdef bint count_items(const Items* items, Py_ssize_t start, Py_ssize_t stop, const void* thresholds, Py_ssize_t m,
                      Strategy strategy, void* scratch, uint32_t* counts, Tally* tally) noexcept nogil:
    """Adds the items from start to stop to the counts; False when a NaN that is not allowed was met.

    With STRATEGY_SORT only the items that are not relevant are counted. The scratch holds
    ``scratch_size(strategy, m, stop - start)`` scores, the counts are 2 * m + 1 and must not pass 2**32.
    """
    if items.type == SCORE_FLOAT:
        return count_typed(items, start, stop, <const float*>thresholds, m, strategy, <float*>scratch, counts, tally)
    if items.type == SCORE_DOUBLE:
        return count_typed(items, start, stop, <const double*>thresholds, m, strategy, <double*>scratch, counts, tally)
    return count_typed(items, start, stop, <const int64_t*>thresholds, m, strategy, <int64_t*>scratch, counts, tally)


# ---------------------------------------------------------------------------------------------------------------- rows

cdef inline int64_t count_at(const Counts* counts, Py_ssize_t i) noexcept nogil:
    return counts.wide[i] if counts.wide is not NULL else <int64_t>counts.narrow[i]


cdef Py_ssize_t emit_rows(const Counts* counts, Walk* walk, Py_ssize_t limit, int64_t* above, int64_t* tied,
                          int64_t* hits) noexcept nogil:
    """The next rows of the table, best first, at most `limit`; how many there were."""
    cdef Py_ssize_t i, rows = min(limit, counts.num_thresholds - walk.done), t
    cdef int64_t seen = walk.seen, relevant, items
    for i in range(rows):
        if counts.lower_is_better:
            t = walk.done + i
            seen += count_at(counts, 2 * t)
        else:
            t = counts.num_thresholds - 1 - walk.done - i
            seen += count_at(counts, 2 * t + 2)
        relevant = counts.hits[t] if counts.hits is not NULL else 1
        items = count_at(counts, 2 * t + 1)
        if counts.others_only:
            items += relevant
        above[i] = seen
        tied[i] = items
        hits[i] = relevant
        seen += items
    walk.seen = seen
    walk.done += rows
    return rows


cdef inline void scores_typed(const Counts* counts, const score_t* thresholds, bint nan_row, score_t* score) noexcept nogil:
    cdef Py_ssize_t i, m = counts.num_thresholds
    for i in range(m):
        score[i] = thresholds[i if counts.lower_is_better else m - 1 - i] + 0  # -0.0 becomes 0.0
    if score_t is not int64_t:
        if nan_row:
            score[m] = <score_t>NAN


cdef void emit_scores(const Counts* counts, const void* thresholds, ScoreType type, bint nan_row, void* score) noexcept nogil:
    """The score of each row, best first; NaN for the last row where NaN are ranked."""
    if type == SCORE_FLOAT:
        scores_typed(counts, <const float*>thresholds, nan_row, <float*>score)
    elif type == SCORE_DOUBLE:
        scores_typed(counts, <const double*>thresholds, nan_row, <double*>score)
    else:
        scores_typed(counts, <const int64_t*>thresholds, nan_row, <int64_t*>score)
