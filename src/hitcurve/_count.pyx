"""Kernels that count items against the sorted scores of the relevant ones.

A row of the table needs only how many items score above and at each relevant score. So the relevant scores are
sorted (the thresholds), and every other item is counted against them; counts of disjoint blocks add up. All the
strategies stand behind ``count_items``: (thresholds, items) -> counts.

NaN never reaches a comparison: blocks that hold one are rewritten without it first.
"""
from libc.math cimport INFINITY, NAN
from libc.stdint cimport INT64_MAX, INT64_MIN, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

cimport numpy as cnp

cnp.import_array()

ctypedef fused score_t:
    float
    double
    int64_t

# numpy's own sort (SIMD, dispatched at run time) through the dtype's slot: it needs no GIL and no array.
ctypedef int (*sort_function)(void* start, cnp.npy_intp n, void* array) noexcept nogil

# The same loops for AVX2 (see there).
cdef extern from "_simd.h":
    bint simd_available() noexcept nogil
    void simd_compare_float(const float* thresholds, Py_ssize_t m, const float* x, Py_ssize_t n,
                            uint32_t* counts) noexcept nogil
    void simd_compare_double(const double* thresholds, Py_ssize_t m, const double* x, Py_ssize_t n,
                             uint32_t* counts) noexcept nogil
    Py_ssize_t simd_search_float(const float* thresholds, Py_ssize_t m, const float* tree, int levels, const float* x,
                                 Py_ssize_t n, uint32_t* counts) noexcept nogil
    Py_ssize_t simd_search_double(const double* thresholds, Py_ssize_t m, const double* tree, int levels,
                                  const double* x, Py_ssize_t n, uint32_t* counts) noexcept nogil

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


cdef bint choose_simd() except -1:
    """HITCURVE_ISA=portable or avx2 forces one; else the best that this machine has."""
    import os
    wanted = os.environ.get("HITCURVE_ISA", "")
    if wanted not in ("", "portable", "avx2"):
        raise ImportError(f"HITCURVE_ISA={wanted!r} is unknown: must be 'portable' or 'avx2'")
    if wanted == "avx2" and not simd_available():
        raise ImportError("HITCURVE_ISA='avx2', but this machine or this build has no AVX2")
    return wanted != "portable" and simd_available()


cdef bint simd = choose_simd()


def instruction_set():
    """The instruction set that the kernels use here."""
    return "avx2" if simd else "portable"


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


cdef Py_ssize_t sort_relevant(void* scores, Py_ssize_t n, ScoreType type) noexcept nogil:
    """Sorts the relevant scores; how many distinct ones there are."""
    if type == SCORE_FLOAT:
        sort_typed(<float*>scores, n)
        return distinct_typed(<const float*>scores, n)
    if type == SCORE_DOUBLE:
        sort_typed(<double*>scores, n)
        return distinct_typed(<const double*>scores, n)
    sort_typed(<int64_t*>scores, n)
    return distinct_typed(<const int64_t*>scores, n)


cdef void keep_distinct(void* scores, Py_ssize_t n, ScoreType type, int64_t* hits) noexcept nogil:
    """Leaves each of the sorted scores once, in front, and how often it occurred."""
    if type == SCORE_FLOAT:
        keep_typed(<float*>scores, n, hits)
    elif type == SCORE_DOUBLE:
        keep_typed(<double*>scores, n, hits)
    else:
        keep_typed(<int64_t*>scores, n, hits)


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
    tally.no_nan = False


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


cdef inline bint look_typed(const Items* items, Py_ssize_t start, Py_ssize_t stop, const score_t* type) noexcept nogil:
    cdef score_t scratch[BLOCK]
    cdef Py_ssize_t n
    while start < stop:
        n = min(stop - start, BLOCK)
        if has_nan(load_scores(&items.score, start, n, scratch), n):
            return True
        start += n
    return False


cdef bint look_for_nan(const Items* items, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    """Whether any score is NaN. Done first where the scores fit the cache, it also brings them there in order; the
    scattered relevant scores would each have to be waited for."""
    if items.type == SCORE_FLOAT:
        return look_typed(items, start, stop, <const float*>NULL)
    if items.type == SCORE_DOUBLE:
        return look_typed(items, start, stop, <const double*>NULL)
    return False


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


cdef enum:
    DENSE = 12  # one label in so many is a hit: from there on every score is looked at, which needs no branch


cdef Py_ssize_t gather_dense(const uint8_t* label, const score_t* x, Py_ssize_t n, score_t* relevant, Py_ssize_t found,
                             Py_ssize_t capacity) noexcept nogil:
    """Writes one place beyond what it keeps."""
    cdef Py_ssize_t i = 0, j
    while i + 8 <= n and found + 8 <= capacity:
        for j in range(8):
            relevant[found] = x[i + j]
            found += label[i + j] & 1
        i += 8
    while i < n:
        relevant[found] = x[i]
        found += label[i] & (found < capacity)
        i += 1
    return found


cdef Py_ssize_t gather_typed(const Items* items, Py_ssize_t start, Py_ssize_t stop, score_t* relevant,
                             Py_ssize_t found, Py_ssize_t capacity, Tally* tally) noexcept nogil:
    cdef uint8_t flags[BLOCK]
    cdef score_t scratch[BLOCK]
    cdef score_t x
    cdef const uint8_t* label
    cdef Py_ssize_t i, n, kept
    cdef uint64_t eight
    cdef uint32_t ones
    cdef uint8_t seen
    while start < stop:
        n = min(stop - start, BLOCK)
        label = load_labels(&items.label, start, n, flags)
        ones = 0
        seen = 0
        for i in range(n):
            ones += label[i]
            seen |= label[i]
        if ones == 0:
            start += n
            continue
        if seen <= 1 and ones * DENSE > <uint32_t>n:
            kept = gather_dense(label, load_scores(&items.score, start, n, scratch), n, relevant, found, capacity)
            if tally.no_nan or not has_nan(<const score_t*>relevant + found, kept - found):
                found = kept
                start += n
                continue
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
            x = load_scores(&items.score, start + i, 1, scratch)[0]
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
    if simd:
        if score_t is float:
            simd_compare_float(thresholds, m, x, n, counts)
            return
        elif score_t is double:
            simd_compare_double(thresholds, m, x, n, counts)
            return
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
    TOGETHER = 16  # searches that run side by side: each waits for its own loads only


cdef inline score_t least_score(const score_t* type) noexcept nogil:
    if score_t is int64_t:
        return INT64_MIN
    else:
        return -<score_t>INFINITY


cdef inline score_t greatest_score(const score_t* type) noexcept nogil:
    if score_t is int64_t:
        return INT64_MAX
    else:
        return <score_t>INFINITY


cdef inline void build_tree(const score_t* thresholds, Py_ssize_t m, int levels, score_t* tree) noexcept nogil:
    """A search tree over the thresholds in breadth-first order, root at 1.

    Places beyond the last threshold hold the greatest score, which no score exceeds.
    """
    cdef Py_ssize_t j, place
    cdef int level
    for level in range(levels):
        for j in range(<Py_ssize_t>1 << level):
            place = ((2 * j + 1) << (levels - 1 - level)) - 1
            tree[(<Py_ssize_t>1 << level) + j] = thresholds[place] if place < m else greatest_score(thresholds)


cdef inline void count_search(const score_t* thresholds, Py_ssize_t m, const score_t* tree, int levels,
                              const score_t* x, Py_ssize_t n, uint32_t* counts) noexcept nogil:
    """Each item down the tree, without branches, several side by side."""
    cdef Py_ssize_t i = 0
    cdef int j, _level
    cdef uint32_t leaves = <uint32_t>1 << levels
    cdef uint32_t place[TOGETHER]
    if simd:
        if score_t is float:
            i = simd_search_float(thresholds, m, tree, levels, x, n, counts)
        elif score_t is double:
            i = simd_search_double(thresholds, m, tree, levels, x, n, counts)
    while i + TOGETHER <= n:
        for j in range(TOGETHER):
            place[j] = 1
        for _level in range(levels):
            for j in range(TOGETHER):
                place[j] = 2 * place[j] + (tree[place[j]] < x[i + j])
        for j in range(TOGETHER):
            place[j] -= leaves
            counts[2 * <size_t>place[j] + (thresholds[place[j]] == x[i + j])] += 1
        i += TOGETHER
    while i < n:
        place[0] = 1
        for _level in range(levels):
            place[0] = 2 * place[0] + (tree[place[0]] < x[i])
        place[0] -= leaves
        counts[2 * <size_t>place[0] + (thresholds[place[0]] == x[i])] += 1
        i += 1


cdef enum:
    MERGED = 1024  # thresholds of one segment; four segments are merged side by side


cdef inline Py_ssize_t first_at_least(const score_t* x, Py_ssize_t low, Py_ssize_t high, score_t bound) noexcept nogil:
    cdef Py_ssize_t middle
    while low < high:
        middle = (low + high) >> 1
        if x[middle] < bound:
            low = middle + 1
        else:
            high = middle
    return low


cdef inline void count_sorted(const score_t* thresholds, Py_ssize_t m, score_t* x, Py_ssize_t n,
                              uint32_t* counts) noexcept nogil:
    """Sorted items merged with the thresholds; x[n] may be written.

    For every threshold the number of items below it. A step moves on by one threshold or by one item, without a branch;
    it waits for the one before, so four segments of thresholds are merged side by side. A segment takes exactly as many
    steps as it has thresholds, and items below its last one.
    """
    cdef uint32_t below[4 * MERGED]
    cdef Py_ssize_t t[4]
    cdef Py_ssize_t j[4]
    cdef Py_ssize_t steps[4]
    cdef Py_ssize_t first = 0, last, stop, start = 0, common, i, s, counted = 0, place, _step
    cdef Py_ssize_t step
    x[n] = greatest_score(<const score_t*>x)
    while first < m:
        last = min(m, first + 4 * MERGED)
        for s in range(4):
            t[s] = first + (last - first) * s // 4
            stop = first + (last - first) * (s + 1) // 4
            j[s] = start
            steps[s] = 0
            if stop > t[s]:
                start = first_at_least(<const score_t*>x, start, n, thresholds[stop - 1])
                steps[s] = stop - t[s] + start - j[s]
        common = min(min(steps[0], steps[1]), min(steps[2], steps[3]))
        for _step in range(common):
            for s in range(4):
                step = x[j[s]] < thresholds[t[s]]
                below[t[s] - first] = <uint32_t>j[s]
                j[s] += step
                t[s] += 1 - step
        for s in range(4):
            for _step in range(steps[s] - common):
                step = x[j[s]] < thresholds[t[s]]
                below[t[s] - first] = <uint32_t>j[s]
                j[s] += step
                t[s] += 1 - step
        for i in range(first, last):
            place = below[i - first]
            counts[2 * i] += <uint32_t>(place - counted)
            counted = place
            while counted < n and x[counted] == thresholds[i]:
                counted += 1
            counts[2 * i + 1] += <uint32_t>(counted - place)
        first = last
    counts[2 * m] += <uint32_t>(n - counted)


# --- The cost model. What benchmarks/strategies.py printed on a 3 GHz x86-64 with AVX2 and 512 KiB of second-level
# cache; run it again on another machine, only where the lines cross matters. Comparing costs so much a threshold;
# searching so much a level, and more once the tree, thresholds and counts have left the cache; sorting the same for any
# number of thresholds, but a merge.

cdef enum:
    # Thresholds up to which comparing is the fastest: with vector comparisons, without, for integers.
    COMPARE_FLOAT = 20
    COMPARE_DOUBLE = 24
    COMPARE_FLOAT_PORTABLE = 12
    COMPARE_DOUBLE_PORTABLE = 6
    COMPARE_INT64 = 3
    # Thresholds from which sorting is: in all, and where the items are not many more.
    SORT_FLOAT = 40_000
    SORT_DOUBLE = 60_000
    SORT_INT64 = 130_000
    SORT_NEVER = 4096


cdef Strategy choose_strategy(ScoreType type, Py_ssize_t m, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t compare, sort
    if type == SCORE_FLOAT:
        compare = COMPARE_FLOAT if simd else COMPARE_FLOAT_PORTABLE
        sort = SORT_FLOAT
    elif type == SCORE_DOUBLE:
        compare = COMPARE_DOUBLE if simd else COMPARE_DOUBLE_PORTABLE
        sort = SORT_DOUBLE
    else:
        compare = COMPARE_INT64
        sort = SORT_INT64
    if m <= compare:
        return STRATEGY_COMPARE
    if m >= sort or (m > SORT_NEVER and m > n // 5 * 2):
        return STRATEGY_SORT
    return STRATEGY_SEARCH


cdef inline int tree_levels(Py_ssize_t m) noexcept nogil:
    """Levels of a tree that tells m + 1 places apart."""
    cdef int levels = 1
    while (<Py_ssize_t>1 << levels) <= m:
        levels += 1
    return levels


cdef size_t score_size(ScoreType type) noexcept nogil:
    return 4 if type == SCORE_FLOAT else 8


cdef size_t tree_size(Strategy strategy, ScoreType type, Py_ssize_t m) noexcept nogil:
    """Bytes of tree that build_index needs; vector loads read up to 8 scores from the first of a level."""
    return (score_size(type) << tree_levels(m)) + 32 if strategy == STRATEGY_SEARCH else 0


cdef inline void build_typed(Index* index, score_t* thresholds) noexcept nogil:
    thresholds[index.m] = least_score(<const score_t*>thresholds)
    if index.strategy == STRATEGY_SEARCH:
        build_tree(<const score_t*>thresholds, index.m, index.levels, <score_t*>index.tree)


cdef void build_index(Strategy strategy, ScoreType type, void* thresholds, Py_ssize_t m, void* tree,
                      Index* index) noexcept nogil:
    """Makes what count_items needs of m sorted distinct thresholds, which have room for one more."""
    index.strategy = strategy
    index.type = type
    index.m = m
    index.thresholds = thresholds
    index.tree = tree
    index.hits = NULL
    index.levels = tree_levels(m)
    if type == SCORE_FLOAT:
        build_typed(index, <float*>thresholds)
    elif type == SCORE_DOUBLE:
        build_typed(index, <double*>thresholds)
    else:
        build_typed(index, <int64_t*>thresholds)


cdef inline Py_ssize_t chunk_size(const Index* index, Py_ssize_t n) noexcept nogil:
    """Items sorted together: enough that a pass over all thresholds is worth it, few enough to need little memory."""
    return min(n, max(index.m // 2, <Py_ssize_t>1 << 18))


cdef size_t scratch_size(const Index* index, Py_ssize_t n) noexcept nogil:
    """Bytes of scratch that count_items needs for n items."""
    cdef size_t scores = BLOCK + 1
    if index.strategy == STRATEGY_SORT:
        scores += <size_t>chunk_size(index, n)
    return scores * score_size(index.type)


cdef Py_ssize_t good_piece(const Index* index) noexcept nogil:
    """Items that should be counted in one call: below that, passes over the thresholds are what costs."""
    return 2 * index.m if index.strategy == STRATEGY_SORT else 0


cdef bint count_typed(const Items* items, Py_ssize_t start, Py_ssize_t stop, const Index* index,
                      const score_t* thresholds, char* scratch, uint32_t* counts, Tally* tally) noexcept nogil:
    cdef uint8_t flags[BLOCK]
    cdef const uint8_t* label = NULL
    cdef const score_t* x
    cdef score_t* chunk = <score_t*>scratch
    cdef score_t* to
    cdef Py_ssize_t i, kept, n, m = index.m, filled = 0, full = chunk_size(index, stop - start)
    cdef Strategy strategy = index.strategy
    cdef bint whole
    while start < stop:
        n = min(stop - start, BLOCK)
        to = chunk + filled
        if strategy == STRATEGY_SORT:
            label = load_labels(&items.label, start, n, flags)
        x = load_scores(&items.score, start, n, to)
        whole = tally.no_nan or not has_nan(x, n)
        start += n
        if not whole and items.nan_policy == NAN_RAISE:
            for i in range(n):
                if is_nan(x[i]):
                    tally.bad_score = start - n + i
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
            if filled >= full or start == stop:
                sort_typed(chunk, filled)
                count_sorted(thresholds, m, chunk, filled, counts)
                filled = 0
            continue
        if not whole:
            kept = 0
            for i in range(n):
                to[kept] = x[i]
                kept += not is_nan(x[i])
            tally.nan_items += n - kept
            n = kept
            x = to
        if m == 0:
            counts[0] += <uint32_t>n
        elif strategy == STRATEGY_COMPARE:
            count_compare(thresholds, m, x, n, counts)
        else:
            count_search(thresholds, m, <const score_t*>index.tree, index.levels, x, n, counts)
    # What equals the padding of a tree lies above the last threshold.
    counts[2 * m] += counts[2 * m + 1]
    counts[2 * m + 1] = 0
    return True


cdef bint count_items(const Items* items, Py_ssize_t start, Py_ssize_t stop, const Index* index, void* scratch,
                      uint32_t* counts, Tally* tally) noexcept nogil:
    """Adds the items from start to stop to the counts; False when a NaN that is not allowed was met.

    With STRATEGY_SORT only the items that are not relevant are counted. The scratch holds
    ``scratch_size(index, stop - start)`` bytes, the counts are 2 * m + 2 and must not pass 2**32.
    """
    if items.type == SCORE_FLOAT:
        return count_typed(items, start, stop, index, <const float*>index.thresholds, <char*>scratch, counts, tally)
    if items.type == SCORE_DOUBLE:
        return count_typed(items, start, stop, index, <const double*>index.thresholds, <char*>scratch, counts, tally)
    return count_typed(items, start, stop, index, <const int64_t*>index.thresholds, <char*>scratch, counts, tally)


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
