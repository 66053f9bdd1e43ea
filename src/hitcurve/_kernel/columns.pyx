"""Kernels that load labels and scores from arrays, check them, and gather the scores of the relevant items."""
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from hitcurve._kernel.sort cimport score_t

cdef extern from "_simd.h":
    bint simd_available() noexcept nogil
    bint simd_nan_float(const float* x, Py_ssize_t n) noexcept nogil
    bint simd_nan_double(const double* x, Py_ssize_t n) noexcept nogil
    void simd_flags(const void* label, Py_ssize_t n, bint wide, uint8_t* flags) noexcept nogil
    Py_ssize_t simd_labels(const uint8_t* label, Py_ssize_t n, uint64_t* masks, uint8_t* seen) noexcept nogil
    void simd_places(const uint64_t* masks, Py_ssize_t n, uint16_t* places) noexcept nogil


cdef bint choose_simd() except -1:
    """Whether to use AVX2: as HITCURVE_ISA=portable or avx2 says, else if this machine has AVX2."""
    import os
    wanted = os.environ.get("HITCURVE_ISA", "")
    if wanted not in ("", "portable", "avx2"):
        raise ImportError(f"HITCURVE_ISA={wanted!r} is unknown: must be 'portable' or 'avx2'")
    if wanted == "avx2" and not simd_available():
        raise ImportError("HITCURVE_ISA='avx2', but this machine or this build has no AVX2")
    return wanted != "portable" and simd_available()


cdef bint simd = choose_simd()


def instruction_set():
    """The instruction set that the kernels use: "avx2" or "portable"."""
    return "avx2" if simd else "portable"


# -------------------------------------------------------------------------------------------------------------- loading

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
    """A block of contiguous scores: in the array itself if possible, else a copy in the scratch."""
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
    """Labels as bytes: 0 and 1 stay, everything else becomes 2."""
    cdef Py_ssize_t i
    cdef label_t x
    for i in range(n):
        x = (<const label_t*>(data + i * stride))[0]
        out[i] = 0 if x == 0 else (1 if x == 1 else 2)


cdef const uint8_t* load_labels(const Column* column, Py_ssize_t start, Py_ssize_t n, uint8_t* scratch) noexcept nogil:
    cdef const char* data = column.data + start * column.stride
    cdef Py_ssize_t stride = column.stride
    cdef bint wide = column.kind == KIND_I64 or column.kind == KIND_U64
    if simd and (wide or column.kind == KIND_I32 or column.kind == KIND_U32) and stride == (8 if wide else 4):
        simd_flags(data, n, wide, scratch)
        return scratch
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


cdef bint has_nan(const score_t* x, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef bint found = False
    if score_t is int64_t:
        return False
    else:
        if simd:
            return simd_nan_float(x, n) if score_t is float else simd_nan_double(x, n)
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
    """Whether any score is NaN. If the scores fit the cache, this pass comes first, because it also loads them into the
    cache in order: otherwise each of the scattered relevant scores would be a cache miss."""
    if items.type == SCORE_FLOAT:
        return look_typed(items, start, stop, <const float*>NULL)
    if items.type == SCORE_DOUBLE:
        return look_typed(items, start, stop, <const double*>NULL)
    return False


cdef enum:
    MASKS = BLOCK >> 6  # of 64 labels each


cdef inline Py_ssize_t look_at_labels(const uint8_t* label, Py_ssize_t n, uint64_t* masks, uint8_t* seen) noexcept nogil:
    """The number of labels that are not 0, if `seen` is at most 1: no label is above 1. simd_places needs the masks."""
    cdef Py_ssize_t i
    cdef uint32_t ones = 0
    cdef uint8_t bits = 0
    if simd:
        return simd_labels(label, n, masks, seen)
    for i in range(n):
        ones += label[i]
        bits |= label[i]
    seen[0] = bits
    return ones


cdef Py_ssize_t count_labels(const Column* label, Py_ssize_t start, Py_ssize_t stop, Tally* tally) noexcept nogil:
    """The number of relevant items. -1 if a label is neither 0 nor 1: the tally then has the first such label."""
    cdef uint8_t flags[BLOCK]
    cdef uint64_t masks[MASKS]
    cdef const uint8_t* x
    cdef Py_ssize_t i, n, ones, total = 0
    cdef uint8_t seen
    while start < stop:
        n = min(stop - start, BLOCK)
        x = load_labels(label, start, n, flags)
        ones = look_at_labels(x, n, masks, &seen)
        if seen > 1:
            for i in range(n):
                if x[i] > 1:
                    tally.bad_label = start + i
                    return -1
        total += ones
        start += n
    return total


cdef enum:
    DENSE = 12  # if at least one label in so many is a hit, every score is read, which needs no branch


cdef Py_ssize_t gather_dense(const uint8_t* label, const score_t* x, Py_ssize_t n, score_t* relevant, Py_ssize_t found,
                             Py_ssize_t capacity) noexcept nogil:
    """Gathers the scores of a block with many hits. Writes one element beyond the scores that it keeps."""
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


cdef inline Py_ssize_t find_labels(const uint8_t* label, Py_ssize_t n, uint16_t* places) noexcept nogil:
    """Writes the positions of the labels that are not 0. Returns their number."""
    cdef Py_ssize_t i = 0, found = 0
    cdef uint64_t eight
    while i < n:
        if i + 8 <= n:
            memcpy(&eight, label + i, 8)
            if eight == 0:
                i += 8
                continue
        if label[i] != 0:
            places[found] = <uint16_t>i
            found += 1
        i += 1
    return found


cdef Py_ssize_t gather_typed(const Items* items, Py_ssize_t start, Py_ssize_t stop, score_t* relevant,
                             Py_ssize_t found, Py_ssize_t capacity, Tally* tally) noexcept nogil:
    cdef uint8_t flags[BLOCK]
    cdef score_t scratch[BLOCK]
    cdef score_t x
    cdef const score_t* block
    cdef uint16_t places[BLOCK + 4]
    cdef const uint8_t* label
    cdef Py_ssize_t i, j, n, kept, ones, at
    cdef uint64_t masks[MASKS]
    cdef uint8_t seen
    while start < stop:
        at = start
        n = min(stop - at, BLOCK)
        start += n
        label = load_labels(&items.label, at, n, flags)
        ones = look_at_labels(label, n, masks, &seen)
        if ones == 0:
            continue
        if seen <= 1 and ones * DENSE > n:
            kept = gather_dense(label, load_scores(&items.score, at, n, scratch), n, relevant, found, capacity)
            if tally.no_nan or not has_nan(<const score_t*>relevant + found, kept - found):
                found = kept
                continue
        if simd:
            simd_places(masks, n, places)
        else:
            ones = find_labels(label, n, places)
        if seen <= 1 and tally.no_nan and items.score.stride == sizeof(score_t) and found + ones <= capacity:
            block = load_scores(&items.score, at, n, scratch)
            for j in range(ones):
                relevant[found + j] = block[places[j]]
            found += ones
            continue
        for j in range(ones):
            i = places[j]
            if label[i] > 1:
                tally.bad_label = at + i
                return found
            x = load_scores(&items.score, at + i, 1, scratch)[0]
            if is_nan(x):
                if items.nan_policy == NAN_RAISE:
                    tally.bad_score = at + i
                    return found
                tally.nan_hits += 1
            elif found < capacity:
                relevant[found] = x
                found += 1
    return found


cdef Py_ssize_t gather_relevant(const Items* items, Py_ssize_t start, Py_ssize_t stop, void* relevant,
                                Py_ssize_t found, Py_ssize_t capacity, Tally* tally) noexcept nogil:
    """Writes the scores of the relevant items, without NaN, from position `found` on. Returns the next free position.

    Stops at a label that is neither 0 nor 1, or at a NaN that is not allowed: the tally then has its position. Never
    writes beyond `capacity`, even if another thread changes the labels.
    """
    if items.type == SCORE_FLOAT:
        return gather_typed(items, start, stop, <float*>relevant, found, capacity, tally)
    if items.type == SCORE_DOUBLE:
        return gather_typed(items, start, stop, <double*>relevant, found, capacity, tally)
    return gather_typed(items, start, stop, <int64_t*>relevant, found, capacity, tally)


cdef size_t score_size(ScoreType type) noexcept nogil:
    return 4 if type == SCORE_FLOAT else 8
