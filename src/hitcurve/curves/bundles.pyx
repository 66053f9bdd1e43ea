# cython: wraparound=True
"""From a table of items with subtopics to a hit curve for each subtopic, and the measures of novelty."""
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_RawFree
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport qsort

cimport numpy as cnp

import numpy as np

from hitcurve._base.checks cimport check_within, no_threshold, parse_ties, whole_ranks
from hitcurve._kernel.err cimport Fade
from hitcurve._kernel.formulas cimport NO_CUTOFF, Table, Ties
from hitcurve._kernel.novelty cimport GreedyRoom, Novelty, NoveltyRoom, Pool, Sets, cascade, greedy
from hitcurve.curves.ranking cimport counts_in

cnp.import_array()

FADES = ("rank", "log", "power")  # in the order of the kernel's Fade

cdef extern from "Python.h":
    void* raise_pending "PyErr_Occurred"() except *  # raises the error that a signal has set within a kernel


cdef inline double* numbers_in(object array):
    """The memory of an array of float64."""
    return <double*>cnp.PyArray_DATA(<cnp.ndarray>array)


def level_keys(levels, Py_ssize_t bits):
    """A whole number for each row of an array of uint8, from the bits of its levels: different for different rows."""
    cdef Py_ssize_t n = levels.shape[0], width = levels.shape[1], i, j
    cdef uint64_t key
    cdef const uint8_t* level = <const uint8_t*>cnp.PyArray_DATA(<cnp.ndarray>levels)
    cdef uint8_t* narrow = NULL
    cdef uint64_t* wide = NULL
    keys = np.empty(n, np.uint8 if width * bits <= 8 else np.uint64)
    if width * bits <= 8:
        narrow = <uint8_t*>cnp.PyArray_DATA(<cnp.ndarray>keys)
    else:
        wide = <uint64_t*>cnp.PyArray_DATA(<cnp.ndarray>keys)
    with nogil:
        for i in range(n):
            key = 0
            for j in range(width):
                key |= <uint64_t>level[i * width + j] << (j * bits)
            if narrow is not NULL:
                narrow[i] = <uint8_t>key
            else:
                wide[i] = key
    return keys


# ------------------------------------------------------------------------------------------------------- hit curves

# A table of items with subtopics, for all queries together, and the hit curves made from it.
cdef struct Bundle:
    const int64_t* row_starts    # of each query
    const int64_t* pair_starts   # of each row
    const int64_t* code
    const int64_t* count
    const int64_t* pool_starts   # of each query
    const int64_t* pool
    Sets sets
    int64_t* relevant            # of each subtopic, 0 between two queries
    int64_t* place               # of each subtopic: the place of its next row
    int64_t* last                # of each subtopic: its last row so far, and one more
    int64_t* subtopic            # of each hit curve
    int64_t* num_relevant
    int64_t* starts              # of each hit curve
    int64_t* row                 # of each row of a hit curve
    int64_t* hits
    int64_t curves
    int64_t rows


cdef int ascending(const void* a, const void* b) noexcept nogil:
    cdef int64_t x = (<const int64_t*>a)[0], y = (<const int64_t*>b)[0]
    return (x > y) - (x < y)


cdef void add_curves(Bundle* all, Py_ssize_t q) noexcept nogil:
    """Adds the hit curves of a query, a curve for each subtopic that has a relevant item."""
    cdef int64_t at, i, j, row, first = all.curves, rows = all.rows
    for i in range(all.pool_starts[q], all.pool_starts[q + 1]):
        for at in range(all.sets.starts[all.pool[i]], all.sets.starts[all.pool[i] + 1]):
            j = all.sets.member[at]
            if all.relevant[j] == 0:
                all.subtopic[all.curves] = j
                all.curves += 1
                all.place[j] = all.last[j] = 0
            all.relevant[j] += 1
    qsort(all.subtopic + first, all.curves - first, sizeof(int64_t), ascending)
    for row in range(all.row_starts[q], all.row_starts[q + 1]):
        for i in range(all.pair_starts[row], all.pair_starts[row + 1]):
            for at in range(all.sets.starts[all.code[i]], all.sets.starts[all.code[i] + 1]):
                j = all.sets.member[at]
                all.place[j] += all.last[j] != row + 1
                all.last[j] = row + 1
    for i in range(first, all.curves):
        j = all.subtopic[i]
        all.num_relevant[i] = all.relevant[j]
        all.starts[i] = rows
        rows += all.place[j]
        all.place[j] = all.starts[i]
        all.relevant[j] = all.last[j] = 0
    all.starts[all.curves] = all.rows = rows
    for row in range(all.row_starts[q], all.row_starts[q + 1]):
        for i in range(all.pair_starts[row], all.pair_starts[row + 1]):
            for at in range(all.sets.starts[all.code[i]], all.sets.starts[all.code[i] + 1]):
                j = all.sets.member[at]
                if all.last[j] != row + 1:
                    all.row[all.place[j]] = row
                    all.hits[all.place[j]] = 0
                    all.place[j] += 1
                    all.last[j] = row + 1
                all.hits[all.place[j] - 1] += all.count[i]


def bundle(list columns, Py_ssize_t num_subtopics):
    """The hit curves of the subtopics: (curves of each query, subtopic, relevant items, rows, row of the table, hits).

    The columns are those of the kernel's Bundle, contiguous and of int64: where the rows of each query begin, where the
    pairs of each row begin, the code and count of each pair, where the pool of each query begins, the codes of all items that
    have subtopics, where the subtopics of each code begin, and the subtopics.
    """
    cdef Bundle all
    row_starts, pair_starts, code, count, pool_starts, pool, set_starts, member = columns
    cdef Py_ssize_t q, queries = row_starts.shape[0] - 1
    sizes = np.diff(set_starts)
    most_rows, most_curves = int(sizes[code].sum()), int(sizes[pool].sum())
    by_subtopic = np.zeros((3, num_subtopics), np.int64)
    curve_starts, subtopic = np.zeros(queries + 1, np.int64), np.empty(most_curves, np.int64)
    num_relevant, starts = np.empty(most_curves, np.int64), np.zeros(most_curves + 1, np.int64)
    row, hits = np.empty(most_rows, np.int64), np.empty(most_rows, np.int64)
    cdef int64_t* ends = counts_in(curve_starts)
    all.row_starts, all.pair_starts, all.code, all.count = (
        counts_in(row_starts), counts_in(pair_starts), counts_in(code), counts_in(count))
    all.pool_starts, all.pool = counts_in(pool_starts), counts_in(pool)
    all.sets = Sets(counts_in(set_starts), counts_in(member))
    all.relevant = counts_in(by_subtopic)
    all.place = all.relevant + num_subtopics
    all.last = all.place + num_subtopics
    all.subtopic, all.num_relevant, all.starts = counts_in(subtopic), counts_in(num_relevant), counts_in(starts)
    all.row, all.hits = counts_in(row), counts_in(hits)
    all.curves = all.rows = 0
    with nogil:
        for q in range(queries):
            add_curves(&all, q)
            ends[q + 1] = all.curves
    n, rows = int(all.curves), int(all.rows)
    return (curve_starts, *[column[:end].copy() for column, end in (
        (subtopic, n), (num_relevant, n), (starts, n + 1), (row, rows), (hits, rows))])


# --------------------------------------------------------------------------------------------------------- measures

cdef Novelty asked_for(object ties, double alpha, object powers, object fade, double power) except *:
    return Novelty(<Ties>parse_ties(ties), NO_CUTOFF, alpha, numbers_in(powers), <Fade>FADES.index(fade), power)


def cascades(curves, ranks, ties, double alpha, powers, fade, double power):
    """The value of each hit curve at each rank, or one column if `ranks` is None. `powers`: those of 1 - alpha."""
    cdef Table table
    cdef Novelty asked = asked_for(ties, alpha, powers, fade, power)
    cdef NoveltyRoom room = NoveltyRoom(NULL, 0, 0, False)
    cdef Py_ssize_t c, i, n = 1 if ranks is None else ranks.shape[0], number = len(curves)
    cdef const int64_t* k = NULL if ranks is None else counts_in(ranks)
    columns = curves.row_offsets, curves.above, curves.tied, curves.hits
    cdef const int64_t* starts = counts_in(columns[0])
    cdef const int64_t* above = counts_in(columns[1])
    cdef const int64_t* tied = counts_in(columns[2])
    cdef const int64_t* hits = counts_in(columns[3])
    values = np.empty((number, n))
    cdef double* out = numbers_in(values)
    with nogil:
        for c in range(number):
            table = Table(above + starts[c], tied + starts[c], hits + starts[c], <Py_ssize_t>(starts[c + 1] - starts[c]), 0, 0)
            for i in range(n):
                if k is not NULL:
                    asked.k = k[i]
                if not room.failed:
                    out[c * n + i] = cascade(&table, &asked, &room)
            if room.failed:
                break
    PyMem_RawFree(room.values)
    if room.failed:
        raise_pending()
        raise MemoryError
    return values


def greedy_values(pool_starts, pool, set_starts, member, weights, ranks, double alpha, powers, fade, double power):
    """The discounted gain of the greedy order of each query at each rank, or one column if `ranks` is None.

    A row of `weights` has the weights of all subtopics for a query; a single row is for all queries.
    """
    cdef Pool items
    cdef Sets sets = Sets(counts_in(set_starts), counts_in(member))
    cdef Novelty asked = asked_for("expected", alpha, powers, fade, power)
    cdef GreedyRoom room
    cdef Py_ssize_t q, n = 1 if ranks is None else ranks.shape[0], queries = pool_starts.shape[0] - 1
    cdef Py_ssize_t codes = set_starts.shape[0]
    cdef const int64_t* k = NULL if ranks is None else counts_in(ranks)
    cdef const int64_t* starts = counts_in(pool_starts)
    cdef const int64_t* code = counts_in(pool)
    cdef Py_ssize_t step = weights.shape[1] if weights.shape[0] > 1 else 0
    cdef const double* weight = numbers_in(weights)
    most = int(np.diff(pool_starts).max(initial=0))
    by_code, by_subtopic = np.zeros((5, codes), np.int64), np.zeros(weights.shape[1], np.int64)
    by_item, gain = np.empty(most + 1, np.int64), np.empty(codes)
    terms, values = np.empty(int(np.diff(set_starts).max(initial=0)) + 1), np.empty((queries, n))
    cdef double* out = numbers_in(values)
    room.place = counts_in(by_code)
    room.codes = room.place + codes
    room.first = room.codes + codes
    room.step = room.first + codes
    room.heap = room.step + codes
    room.hits, room.following = counts_in(by_subtopic), counts_in(by_item)
    room.gain, room.terms = numbers_in(gain), numbers_in(terms)
    for q in range(queries):
        items = Pool(code + starts[q], <Py_ssize_t>(starts[q + 1] - starts[q]), weight + q * step)
        with nogil:
            greedy(&items, &sets, &asked, k, n, &room, out + q * n)
        if q % 64 == 0:
            PyErr_CheckSignals()
    return values


# ------------------------------------------------------------------------------------------------------- arguments

def cutoffs(k):
    """(ranks, their shape), or (None, None) without a cutoff."""
    return (None, None) if k is None else whole_ranks(k)


def reading_of(name, ties):
    """A reading of ties that is about orders."""
    no_threshold(name, parse_ties(ties))
    return ties


def share(value, name, bint ends=False):
    """A number between 0 and 1. `ends` allows both ends."""
    domain = "from 0 to 1" if ends else "between 0 and 1"
    return float(check_within(value, name, domain, 0.0, 1.0000000000000002 if ends else 1.0, ends))
