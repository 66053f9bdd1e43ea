# Kernels of measures of novelty, where an item counts less the more items of its subtopic rank above it. Plain pointers, no
# Python objects. The caller raises what a signal raised.
from libc.stdint cimport int64_t

from hitcurve._kernel.err cimport Err, Fade
from hitcurve._kernel.formulas cimport Table, Ties

# The arguments of a measure.
cdef struct Novelty:
    Ties ties
    int64_t k              # the cutoff rank, or NO_CUTOFF
    double alpha           # the share of an item's value that the next item of its subtopic lacks
    const double* powers   # the powers of (1 - alpha), as many as the table has hits, and one more
    Fade fade
    double power

# The memory of a thread. The caller frees `values`.
cdef struct NoveltyRoom:
    double* values
    Py_ssize_t values_size
    int64_t work           # since the last check for Ctrl-C
    bint failed            # there was no memory, or a signal has raised

# The subtopics of each code.
cdef struct Sets:
    const int64_t* starts
    const int64_t* member

# The items of a ranking that have subtopics, in the order that breaks ties of the greedy order.
cdef struct Pool:
    const int64_t* code
    Py_ssize_t number
    const double* weight   # of each subtopic

# Memory for the greedy order: `first`, `place` and `hits` are 0 for every code and subtopic between two calls.
cdef struct GreedyRoom:
    int64_t* place         # of each code: its place among the codes of the pool, from 1
    int64_t* hits          # of each subtopic
    int64_t* codes         # the codes of the pool
    int64_t* first         # of each of these codes: its next item, or -1
    int64_t* following     # of each item: the next item of its code, or -1
    int64_t* step          # the rank for which the gain of a code was computed
    int64_t* heap          # these codes, the code to take first at the top
    double* gain
    double* terms          # as many as a code has subtopics

cdef double cascade(const Table* table, const Novelty* asked, NoveltyRoom* room) noexcept nogil
cdef void greedy(const Pool* pool, const Sets* sets, const Novelty* asked, const int64_t* k, Py_ssize_t n,
                 const GreedyRoom* room, double* out) noexcept nogil
