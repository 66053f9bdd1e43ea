# The boundary: Python objects are checked here, and tables come out.
from cpython.pythread cimport PyThread_type_lock
from libc.stdint cimport int64_t, uint32_t

from hitcurve._kernel.count cimport Index, Items, NanPolicy, ScoreType, Tally
from hitcurve._kernel.formulas cimport Reading
from hitcurve._kernel.table cimport Status

# The table of one ranking in one block of memory, which belongs to whoever asked for it (PyMem_RawFree).
cdef struct OwnTable:
    void* block
    int64_t* above
    int64_t* tied
    int64_t* hits
    void* score
    Py_ssize_t rows
    int64_t num_items
    int64_t num_hits

cdef int parse_ties(object ties) except -1
cdef object whole_number(object value, str name)
cdef int parse_reading(object k, object ties, object interpolation, object normalize, Reading* reading) except -1
cdef object interpolated_cutoff(object k, object interpolation)
cdef int64_t parse_num_relevant(object num_relevant, int64_t num_hits) except -1
cdef bint parse_lower(object lower_is_better) except -1
cdef int allocate_table(Py_ssize_t rows, OwnTable* table) except -1
cdef object rank_table(object y_true, object y_score, object relevance_level, object lower_is_better,
                       object nan_policy, object workers, object strategy, OwnTable* table)
cdef object scores_as(const void* score, Py_ssize_t rows, ScoreType type, object origin)
cdef ScoreType compared_as(object origin) except *
cdef double rank_average_precision(object y_true, object y_score, object relevance_level, object lower_is_better,
                                   object nan_policy, object workers, object strategy, object num_relevant,
                                   const Reading* reading) except? -1

# The items of many rankings, query by query.
cdef class Queries:
    cdef Items items
    cdef readonly object labels
    cdef readonly object scores
    cdef readonly object offsets   # int64, one more than there are queries
    cdef readonly object qid       # distinct ids, ascending, or None
    cdef readonly object order     # where each of the caller's items lies now, or None if they lie as they came
    cdef readonly Py_ssize_t num_queries
    cdef Py_ssize_t width          # items of a row, for two-dimensional input
    cdef Py_ssize_t columns        # rankings, where each is a column
    cdef Py_ssize_t step           # bytes from a column to the next, where all share the labels; else 0
    cdef int share_labels(self, object labels, object scores, object relevance_level, NanPolicy nan_policy) except -1
    cdef object flat_labels(self)
    cdef object where(self, Py_ssize_t place)
    cdef int raise_status(self, Status status, const Tally* tally) except -1
    cdef object origin(self)
    cdef object laid_out(self, object values, str name)
    cdef object first_to_last(self)
    cdef object real_scores(self)
    cdef object per_query(self, object num_relevant)
    cdef object checked_relevant(self, object num_relevant, object num_hits)
    cdef object shares(self, Py_ssize_t workers)

cdef object queries_average_precision(Queries queries, object lower_is_better, object workers, object strategy,
                                      object num_relevant, const Reading* reading)
cdef object queries_tables(Queries queries, object lower_is_better, object workers, object strategy,
                           object num_relevant)

cdef object as_flags(object y_true, object y_score, object relevance_level)
cdef object as_real(object values, str name)
cdef object array_or_none(object values, str name)
cdef object as_ids(object qid, Py_ssize_t n, str whole)
cdef object as_offsets(object offsets, Py_ssize_t n, str name=*, str whole=*)
cdef object as_key(object tiebreak, Py_ssize_t n)
cdef object as_weight(object sample_weight, Py_ssize_t n)
cdef object apply_nan_policy(object nan_policy, object score, Queries queries)
cdef object one_dimension(object array, str name)

# Items counted block by block against thresholds.
cdef class BlockCounter:
    cdef readonly object cuts
    cdef readonly object nan_items
    cdef object thresholds       # as the kernels compare them, with room for one more
    cdef object memory
    cdef ScoreType type
    cdef Index index
    cdef uint32_t* narrow        # counts of the last blocks,
    cdef int64_t* wide           # and of those before, once there are too many for 32 bits
    cdef int64_t since           # items in the narrow counts
    cdef void* scratch
    cdef PyThread_type_lock taken  # while a block is counted; nobody waits for it

    cdef int add_block(self, score, nan_policy, bint checked) except -1
    cdef int prepare(self) except -1
    cdef int widen(self) except -1
    cdef int write_table(self, const int64_t* hits, bint lower, int64_t nan_hits, OwnTable* table) except -1
    cdef int64_t num_items(self) noexcept
