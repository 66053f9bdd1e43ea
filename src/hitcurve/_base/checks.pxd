# Checks of arguments, and conversions to what the kernels read.
cimport numpy as cnp
from libc.stdint cimport int64_t

from hitcurve._kernel.columns cimport (
    KIND_F32, KIND_I64, KIND_U64, SCORE_DOUBLE, SCORE_FLOAT, SCORE_INT64, Column, Items, Kind, NanPolicy, ScoreType,
)
from hitcurve._kernel.count cimport Strategy
from hitcurve._kernel.formulas cimport Reading

cdef int64_t LARGEST  # the greatest count that is allowed
cdef tuple TIES, NAN_POLICIES, STRATEGIES

cdef int other_choice(object value, str name, tuple choices) except -1
cpdef bint check_flag(object value, str name) except -1
cdef object not_a(object value, str name, str what)
cpdef object check_number(object value, str name)
cpdef object whole_number(object value, str name)
cpdef object check_rank(object value, str name)
cdef object check_within(object value, str name, str domain, double low, double high, bint with_low=*)
cdef object not_negative(object value, str name)
cdef object countable(object number, str name)
cdef int parse_reading(object k, object ties, object interpolation, object normalize, Reading* reading) except -1
cdef object interpolated_cutoff(object k, object interpolation)
cdef int64_t parse_num_relevant(object num_relevant, int64_t num_hits) except -1
cdef int no_threshold(str name, int ties) except -1
cdef int all_ranked(str name, object num_relevant, object num_hits) except -1

cdef int kind_of(int type_number) noexcept nogil
cdef object as_ndarray(object values, str name, str what)
cpdef object as_column(object values, str name)
cpdef object as_real(object values, str name, str what=*)
cpdef object as_whole(object values, str name)
cdef object array_or_none(object values, str name)
cpdef object one_dimension(object array, str name)
cdef object frozen(object array)
cdef int same_items(Py_ssize_t n, Py_ssize_t m, str name=*) except -1
cdef object as_labels(object y_true, object relevance_level, Items* items, object where=*)
cdef object as_scores(object y_score, str name, Items* items, object where=*)
cpdef object as_flags(object y_true, object y_score, object relevance_level, object where=*)
cdef object as_ids(object qid, Py_ssize_t n, str unit)
cdef object as_offsets(object offsets, Py_ssize_t n, str name=*, str whole=*)
cdef object as_key(object tiebreak, Py_ssize_t n, object where=*)
cdef object as_weight(object values, Py_ssize_t n, object where=*, str name=*, str whole=*)
cdef object apply_nan_policy(object nan_policy, object score, object where)
cdef object bad_label(object y_true, object y_score, Py_ssize_t place, str where)
cdef object bad_score(object name, object shown)

cdef object each(object values, str name)
cdef object quotients(object values, str name, object whole, bint zero=*)
cdef object ranks_from(object k, object fraction, object num_items)
cdef object whole_ranks(object k)
cdef object parameters(object values, str name, str domain, double low, double high)

cdef object checked_items(object num_items)
cdef list table_columns(object score, object above, object tied, object hits)
cdef int check_rows(object above, object tied, object hits, object num_items, bint weighted, object lengths=*) except -1
cdef object within(object lengths)
cdef int check_scores(object score, bint lower, object same=*) except -1
cdef object query_totals(object values, str name, Py_ssize_t n, bint weighted)


cdef inline int choice(object value, str name, tuple choices) except -1:
    """The place of a value among its choices."""
    cdef Py_ssize_t i
    for i in range(len(choices)):
        if value is choices[i]:
            return <int>i
    return other_choice(value, name, choices)


cdef inline int parse_ties(object ties) except -1:
    return choice(ties, "ties", TIES)


cdef inline NanPolicy parse_nan_policy(object nan_policy) except *:
    return <NanPolicy>choice(nan_policy, "nan_policy", NAN_POLICIES)


cdef inline Strategy parse_strategy(object strategy) except *:
    return <Strategy>choice(strategy, "_strategy", STRATEGIES)


cdef inline bint parse_lower(object lower_is_better) except -1:
    return lower_is_better is not False and check_flag(lower_is_better, "lower_is_better")


cdef inline ScoreType type_of(int kind) noexcept nogil:
    if kind == KIND_F32:
        return SCORE_FLOAT
    if kind == KIND_I64 or kind == KIND_U64:
        return SCORE_INT64
    return SCORE_DOUBLE


cdef inline void set_column(Column* column, cnp.ndarray array, int kind) noexcept:
    column.data = cnp.PyArray_BYTES(array)
    column.stride = cnp.PyArray_STRIDE(array, 0)
    column.kind = <Kind>kind
