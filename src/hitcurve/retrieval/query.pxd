# What a measure is asked and what it is read from: one query of a run, for whoever measures.
from libc.stdint cimport int64_t

from hitcurve._kernel.formulas cimport Interpolation, Normalize

# A judged document of a run. The rows of a query are in the order of their ranks.
cdef struct Row:
    int64_t rank         # from 1, ties resolved
    int64_t above        # documents with a higher score
    int64_t tied         # documents with this score, this one included
    int64_t level        # the judgment; below 0: in the pool, but not judged

cdef enum Reading:
    READING_RANKS        # as the rows are
    READING_BEST, READING_WORST
    READING_EXPECTED     # rows keep their tie groups

# In the order of `KERNELS` in runs.pyx.
cdef enum Kernel:
    KERNEL_AP, KERNEL_P, KERNEL_R, KERNEL_HITS, KERNEL_F, KERNEL_RR, KERNEL_RPREC, KERNEL_SUCCESS, KERNEL_NUM_Q, KERNEL_NUM_RET,
    KERNEL_NUM_REL, KERNEL_NUM_REL_RET, KERNEL_NUM_NONREL_JUDGED_RET, KERNEL_SET_P, KERNEL_SET_REL_P, KERNEL_SET_R,
    KERNEL_SET_F, KERNEL_SET_AP, KERNEL_IPREC, KERNEL_IPREC_AVG, KERNEL_BPREF, KERNEL_INF_AP, KERNEL_RBP, KERNEL_RBP_RESID,
    KERNEL_NDCG, KERNEL_ERR, KERNEL_JUDGED, KERNEL_UNJUDGED, KERNEL_REL_P, KERNEL_RPREC_MULT, KERNEL_UTILITY, KERNEL_BIN_G,
    KERNEL_G, KERNEL_NDCG_REL, KERNEL_R_NDCG

cdef enum Levels:
    LEVELS_EXACT, LEVELS_TREC_EVAL_9, LEVELS_TREC_EVAL_10

# One measure, its options fixed.
cdef struct Asked:
    Kernel kernel
    int64_t k              # cutoff rank, or -1
    int64_t rel            # the lowest level that is relevant
    double x               # beta, persistence, a multiple of R
    Normalize norm
    Levels levels
    Interpolation interpolation  # of AP
    bint exponential       # gains 2**level - 1
    bint scaled            # RBP: gains divided by the highest
    double top             # ERR: the highest level there can be
    Py_ssize_t num_values  # recall levels, or the weights of Utility
    const double* values
    const int64_t* numerators    # the recall levels as fractions
    const int64_t* denominators
    Py_ssize_t num_gains
    const int64_t* gain_levels
    const double* gains

# The judged documents of one query of a run.
cdef struct Query:
    const Row* rows
    Py_ssize_t num_rows
    int64_t num_ret
    const int64_t* levels  # all judgments of the query, falling
    Py_ssize_t num_judged

# Documents of one score; where `tied` says no, each by itself, at its rank.
cdef struct Group:
    Py_ssize_t start
    Py_ssize_t stop
    int64_t above
    int64_t tied


cdef inline bint next_group(const Query* query, bint tied, Group* group) noexcept nogil:
    """The group that begins where the one before stops; False if there is none."""
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


# Memory for one query after another; belongs to one thread.
cdef struct Room:
    Row* rows
    Py_ssize_t rows_size
    int64_t* numbers
    Py_ssize_t numbers_size
    double* gains
    Py_ssize_t gains_size
    double* values
    Py_ssize_t values_size
