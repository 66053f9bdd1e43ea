# Labels and scores as they lie in arrays. Plain pointers, no Python objects, nothing raised.
from libc.stdint cimport int64_t, uint8_t

from hitcurve._kernel.sort cimport score_t

# The types in which scores are compared. Every other real type is widened to one of them exactly.
cdef enum ScoreType:
    SCORE_FLOAT
    SCORE_DOUBLE
    SCORE_INT64

# Element type of a column as it lies in memory.
cdef enum Kind:
    KIND_F16
    KIND_F32
    KIND_F64
    KIND_I8
    KIND_I16
    KIND_I32
    KIND_I64
    KIND_U8
    KIND_U16
    KIND_U32
    KIND_U64  # compared as int64 after turning the sign bit

cdef enum NanPolicy:
    NAN_RAISE
    NAN_WORST
    NAN_OMIT

cdef struct Column:
    const char* data
    Py_ssize_t stride  # bytes
    Kind kind

cdef struct Items:
    Column score
    Column label
    Py_ssize_t n
    ScoreType type
    NanPolicy nan_policy

# The results of a pass over some items.
cdef struct Tally:
    Py_ssize_t bad_label  # position of the first label that is neither 0 nor 1, or -1
    Py_ssize_t bad_score  # position of the first NaN that is not allowed, or -1
    int64_t nan_items
    int64_t nan_hits
    bint no_nan            # whether it is already known that no score is NaN

cdef enum:
    BLOCK = 2048           # items processed together; their scratch stays in the first-level cache

cdef bint simd  # whether the loops for AVX2 are used

cdef inline bint is_nan(score_t x) noexcept nogil:
    if score_t is int64_t:
        return False
    else:
        return x != x

cdef bint has_nan(const score_t* x, Py_ssize_t n) noexcept nogil
cdef const score_t* load_scores(const Column* column, Py_ssize_t start, Py_ssize_t n, score_t* scratch) noexcept nogil
cdef const uint8_t* load_labels(const Column* column, Py_ssize_t start, Py_ssize_t n, uint8_t* scratch) noexcept nogil
cdef void tally_clear(Tally* tally) noexcept nogil
cdef Py_ssize_t count_labels(const Column* label, Py_ssize_t start, Py_ssize_t stop, Tally* tally) noexcept nogil
cdef bint look_for_nan(const Items* items, Py_ssize_t start, Py_ssize_t stop) noexcept nogil
cdef Py_ssize_t gather_relevant(const Items* items, Py_ssize_t start, Py_ssize_t stop, void* relevant,
                                Py_ssize_t found, Py_ssize_t capacity, Tally* tally) noexcept nogil
cdef size_t score_size(ScoreType type) noexcept nogil
