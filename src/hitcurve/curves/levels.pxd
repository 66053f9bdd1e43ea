# Levels of relevance as codes for the kernels, and the gains of levels.
from hitcurve._kernel.columns cimport Items
from hitcurve._kernel.gains cimport GainReading

cdef bint beyond_keys(object number) except -1
cdef int within_keys(object number, str what) except -1
cdef object coded(object levels, str name, object more)
cpdef object missing_levels(object unretrieved, str name=*)
cdef list missing_lists(object unretrieved)
cdef tuple run_lengths(object codes)
cdef tuple resolved(object codes, object score, object query, object lower, object key, object kept)
cdef tuple from_outside(object level_offsets, object level, object level_count, Py_ssize_t rows, object missing)
cdef object exponential(object values, double top)
cdef tuple pairs_of(const Items* base, Py_ssize_t step, object scores, object offsets, object codes, object row_starts,
                    object of_rows, object hits, bint lower)
cdef object unmasked(object mask, object y_true, object y_score)
cdef object gains_of(object gain, object values, object used)
cdef object weights_below(object weights, object values)

cdef object BY_RANK  # as `discount`: 1 / rank

# The arguments of a measure for the kernels, and the arrays that they point to.
cdef class Reader:
    cdef GainReading reading
    cdef object gains, places, falling, table
    cdef int set_gains(self, object gains) except -1
    cdef int set_discount(self, object discount) except -1

cdef double quick_ndcg(object y_true, object y_score, object k, object gain, object discount, object ties, object ideal_k,
                       object lower_is_better, object nan_policy) except? -1
cdef object quick_ndcgs(object y_true, object y_score, object qid, object offsets, object k, object gain, object discount,
                        object ties, object ideal_k, object lower_is_better, object nan_policy)
