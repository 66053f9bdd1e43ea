# Kernels that compute measures from the judged documents of one query. Plain pointers, no Python objects.
from libc.stdint cimport int64_t

from hitcurve._kernel.groups cimport Normalize
from hitcurve.retrieval.ranks cimport Row

# In which order a measure takes the documents of a tie group.
cdef enum TieOrder:
    ORDER_RANKS          # the order of the rows
    ORDER_BEST, ORDER_WORST
    ORDER_ANY            # the mean over all orders; rows keep their tie groups

# How many relevant documents reach a recall level.
cdef enum Rounding:
    ROUNDING_EXACT, ROUNDING_TREC_EVAL_9, ROUNDING_TREC_EVAL_10

# Memory for one query after another; belongs to one thread.
cdef struct Buffers:
    bint full            # whether an allocation failed
    Row* rows
    Py_ssize_t rows_size
    double* gains
    Py_ssize_t gains_size
    double* values
    Py_ssize_t values_size

# The judged documents of one query of a run.
cdef struct Query:
    const Row* rows
    Py_ssize_t num_rows
    int64_t num_ret
    int64_t num_rel        # the number of judgments that are relevant for the measure
    const int64_t* levels  # the levels of all judgments of the query, falling
    Py_ssize_t num_judged
    TieOrder order

# The documents of a score; if ties are resolved, a single document at its rank.
cdef struct TieGroup:
    Py_ssize_t start
    Py_ssize_t stop
    int64_t above
    int64_t tied


cdef inline bint next_group_of(const Query* query, bint tied, TieGroup* group) noexcept nogil:
    """Goes to the next group, which begins where `group` stops; False if there is no further group."""
    cdef const Row* row
    group.start = group.stop
    if group.start >= query.num_rows:
        return False
    row = &query.rows[group.stop]
    group.stop += 1
    group.above = row.above if tied else row.rank - 1
    group.tied = row.tied if tied else 1
    while tied and group.stop < query.num_rows and query.rows[group.stop].above == group.above:
        group.stop += 1
    return True


ctypedef double (*Sum)(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil

# A measure with its options.
cdef struct Asked:
    Sum sum
    bint needs_relevant    # whether the value of a query without a relevant document is 0
    int64_t k              # cutoff rank, or -1
    int64_t rel            # the lowest level that is relevant
    const double* scale    # the level of each code from 0 up, or NULL if levels are their own codes
    double x               # beta, persistence, or the multiple of R
    Normalize norm
    Rounding rounding
    bint exponential       # gains 2**level - 1
    bint scaled            # RBP: gains divided by the highest
    double top             # ERR: the highest possible level
    Py_ssize_t num_values  # recall levels, or the weights of Utility
    const double* values
    const int64_t* numerators    # the recall levels as fractions
    const int64_t* denominators
    Py_ssize_t num_gains
    const int64_t* gain_levels
    const double* gains

cdef int set_sum(Asked* asked, str name) except -1
cdef bint arrange(const Row* rows, Py_ssize_t n, int64_t num_ret, int64_t depth, TieOrder order, bint judged_only,
                  const Asked* asked, Buffers* buffers, Query* query) noexcept nogil
cdef double summed(Query* query, const Asked* asked, Buffers* buffers) noexcept nogil
