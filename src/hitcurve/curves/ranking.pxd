# Makes tables from arrays.
from libc.stdint cimport int64_t

cimport numpy as cnp

from hitcurve._kernel.columns cimport Items, NanPolicy, ScoreType, Tally
from hitcurve._kernel.formulas cimport Reading
from hitcurve._kernel.table cimport Status

cdef inline int64_t* counts_in(object array):
    """The memory of an array of int64."""
    return <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>array)


# The table of one ranking in one block of memory, which the caller must free (PyMem_RawFree).
cdef struct OwnTable:
    void* block
    int64_t* above
    int64_t* tied
    int64_t* hits
    void* score
    Py_ssize_t rows
    int64_t num_items
    int64_t num_hits

cdef object rank_one(object y_true, object y_score, object relevance_level, object lower_is_better, object nan_policy,
                     object workers, object strategy, OwnTable* table, object num_relevant, const Reading* reading,
                     double* average_precision)
cdef object scores_as(const void* score, Py_ssize_t rows, ScoreType type, object origin)
cdef ScoreType compared_as(object origin) except *

cdef object as_mask(object mask, object labels, object scores)

# The items of many rankings, query by query.
cdef class Queries:
    cdef Items items
    cdef readonly object labels
    cdef readonly object scores
    cdef readonly object offsets   # int64, one more than there are queries
    cdef readonly object qid       # distinct ids, ascending, or None
    cdef readonly object order     # the caller's item at each place, or None if the items kept their order
    cdef readonly Py_ssize_t num_queries
    cdef Py_ssize_t width          # the number of items in a row, for two-dimensional input
    cdef Py_ssize_t columns        # the number of rankings, if each ranking is a column
    cdef Py_ssize_t step           # bytes from a column to the next, if all columns share the labels; else 0
    cdef object group(self, object ids, object labels, object scores)
    cdef int share_labels(self, object labels, object scores, object relevance_level, NanPolicy nan_policy) except -1
    cdef object flat_labels(self)
    cdef int raise_status(self, Status status, const Tally* tally) except -1
    cdef object laid_out(self, object values, str name)
    cdef object real_scores(self)
    cdef object of_items(self)
    cdef object keys(self, object tiebreak)
    cdef object per_query(self, object num_relevant)
    cdef object checked_relevant(self, object num_relevant, object num_hits)
    cdef object shares(self, Py_ssize_t workers)

cdef object queries_average_precision(Queries queries, object lower_is_better, object workers, object strategy,
                                      object num_relevant, const Reading* reading)
cdef object queries_tables(Queries queries, object lower_is_better, object workers, object strategy, object num_relevant)
