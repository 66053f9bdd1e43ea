# cython: wraparound=True
"""From a table of items with subtopics to a hit curve for each subtopic, and the measures of novelty."""
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_RawFree
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport qsort
from libc.string cimport memcpy, memset

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


cdef inline bint all_zero(const uint8_t* eights, Py_ssize_t number) noexcept nogil:
    """Whether a number of times eight bytes are 0."""
    cdef uint64_t eight, found = 0
    cdef Py_ssize_t i
    for i in range(number):
        memcpy(&eight, eights + 8 * i, 8)
        found |= eight
    return found == 0


cdef inline uint64_t bytes_of(const uint8_t* row, Py_ssize_t size, uint64_t kept) noexcept nogil:
    """0 if all bytes of a row are 0. A row of fewer than eight bytes is read with what follows it, and `kept` hides that."""
    cdef uint64_t eight, found = 0
    cdef Py_ssize_t i
    if size < 8:
        memcpy(&eight, row, 8)
        return eight & kept
    for i in range(0, size - 8, 8):
        memcpy(&eight, row + i, 8)
        found |= eight
    memcpy(&eight, row + size - 8, 8)
    return found | eight


def nonzero_rows(rows):
    """The places of the rows of an array in one piece that have a byte other than 0. Mostly eight rows at once have none."""
    cdef Py_ssize_t n = rows.shape[0], size = rows.shape[1] * rows.itemsize, i = 0, row, last
    cdef Py_ssize_t whole = (n * size - 8) // size + 1 if n * size >= 8 else 0  # rows with eight bytes from their start on
    cdef const uint8_t* at = <const uint8_t*>cnp.PyArray_DATA(<cnp.ndarray>rows)
    cdef int64_t found = 0
    cdef uint64_t kept = 0
    places = np.empty(n + 1, np.int64)
    cdef int64_t* place = counts_in(places)
    memset(&kept, 0xFF, min(size, 8))
    with nogil:
        while i < whole:
            last = min(i + 8, whole)
            if last < i + 8 or not all_zero(at + i * size, size):
                for row in range(i, last):
                    place[found] = row
                    found += bytes_of(at + row * size, size, kept) != 0
            i = last
        for row in range(whole, n if size else 0):
            place[found] = row
            for i in range(size):
                if at[row * size + i] != 0:
                    found += 1
                    break
    return places[:int(found)].copy()


def level_keys(levels, Py_ssize_t bits):
    """A whole number for each row of an array of uint8, from the bits of its levels: different for different rows."""
    cdef Py_ssize_t n = levels.shape[0], width = levels.shape[1], i, j
    cdef uint64_t key
    cdef const uint8_t* level = <const uint8_t*>cnp.PyArray_DATA(<cnp.ndarray>levels)
    keys = np.empty(n, np.uint64)
    cdef uint64_t* out = <uint64_t*>cnp.PyArray_DATA(<cnp.ndarray>keys)
    with nogil:
        for i in range(n):
            key = 0
            for j in range(width):
                key |= <uint64_t>level[i * width + j] << (j * bits)
            out[i] = key
    return keys


# ------------------------------------------------------------------------------------------------------- hit curves

# A table of items with subtopics, for all queries together, and the hit curves made from it.
cdef struct Bundle:
    const int64_t* row_starts    # of each query
    const int64_t* above         # of each row
    const int64_t* tied
    const int64_t* pair_starts
    const double* code
    const int64_t* count
    const int64_t* pool_starts   # of each query
    const int64_t* pool
    Sets sets
    int64_t* relevant            # of each subtopic, 0 between two queries
    int64_t* place               # of each subtopic: the place of its next row
    int64_t* last                # of each subtopic: its last row so far, and one more
    int64_t* subtopic            # of each hit curve
    int64_t* num_relevant
    int64_t* num_hits
    int64_t* starts
    int64_t* rows_above          # of each row of a hit curve
    int64_t* rows_tied
    int64_t* hits
    int64_t curves
    int64_t rows


cdef int ascending(const void* a, const void* b) noexcept nogil:
    cdef int64_t x = (<const int64_t*>a)[0], y = (<const int64_t*>b)[0]
    return (x > y) - (x < y)


cdef void add_curves(Bundle* all, Py_ssize_t q) noexcept nogil:
    """Adds the hit curves of a query, a curve for each subtopic that has a relevant item."""
    cdef int64_t at, code, i, j, row, first = all.curves, rows = all.rows
    cdef const int64_t* pairs = all.pair_starts
    cdef const int64_t* starts = all.sets.starts
    cdef const int64_t* member = all.sets.member
    cdef int64_t* relevant = all.relevant
    cdef int64_t* place = all.place
    cdef int64_t* last = all.last
    for i in range(all.pool_starts[q], all.pool_starts[q + 1]):
        for at in range(starts[all.pool[i]], starts[all.pool[i] + 1]):
            j = member[at]
            if relevant[j] == 0:
                all.subtopic[all.curves] = j
                all.curves += 1
                place[j] = last[j] = 0
            relevant[j] += 1
    qsort(all.subtopic + first, all.curves - first, sizeof(int64_t), ascending)
    for row in range(all.row_starts[q], all.row_starts[q + 1]):
        for i in range(pairs[row], pairs[row + 1]):
            code = <int64_t>all.code[i]
            for at in range(starts[code], starts[code + 1]):
                j = member[at]
                place[j] += last[j] != row + 1
                last[j] = row + 1
    for i in range(first, all.curves):
        j = all.subtopic[i]
        all.num_relevant[i] = relevant[j]
        all.num_hits[i] = 0
        all.starts[i] = rows
        rows += place[j]
        place[j] = all.starts[i]
        last[j] = 0
    all.starts[all.curves] = all.rows = rows
    for row in range(all.row_starts[q], all.row_starts[q + 1]):
        for i in range(pairs[row], pairs[row + 1]):
            code = <int64_t>all.code[i]
            for at in range(starts[code], starts[code + 1]):
                j = member[at]
                if relevant[j] == 0:  # an item that the pool lacks, in a pickle that was made by hand
                    continue
                if last[j] != row + 1:
                    all.rows_above[place[j]] = all.above[row]
                    all.rows_tied[place[j]] = all.tied[row]
                    all.hits[place[j]] = 0
                    place[j] += 1
                    last[j] = row + 1
                all.hits[place[j] - 1] += all.count[i]
    for i in range(first, all.curves):
        relevant[all.subtopic[i]] = 0
        for row in range(all.starts[i], all.starts[i + 1]):
            all.num_hits[i] += all.hits[row]


def bundle(list columns, Py_ssize_t num_subtopics):
    """The hit curves of the subtopics: (curves of each query, subtopic, relevant items, hits, rows, above, tied, hits of rows).

    The columns are those of the kernel's Bundle, contiguous and of int64, but the code of float64: where the rows of each
    query begin, the items above and tied with each row, where the pairs of each row begin, the code and count of each pair,
    where the pool of each query begins, the codes of all items that have subtopics, where the subtopics of each code begin,
    and the subtopics.
    """
    cdef Bundle all
    row_starts, above, tied, pair_starts, code, count, pool_starts, pool, set_starts, member = columns
    cdef Py_ssize_t q, i, queries = row_starts.shape[0] - 1, pairs = code.shape[0], items = pool.shape[0]
    cdef int64_t most_rows = 0, most_curves = 0
    all.row_starts, all.above, all.tied = counts_in(row_starts), counts_in(above), counts_in(tied)
    all.pair_starts, all.code, all.count = counts_in(pair_starts), numbers_in(code), counts_in(count)
    all.pool_starts, all.pool = counts_in(pool_starts), counts_in(pool)
    all.sets = Sets(counts_in(set_starts), counts_in(member))
    with nogil:
        for i in range(pairs):
            most_rows += all.sets.starts[<int64_t>all.code[i] + 1] - all.sets.starts[<int64_t>all.code[i]]
        for i in range(items):
            most_curves += all.sets.starts[all.pool[i] + 1] - all.sets.starts[all.pool[i]]
    by_subtopic = np.zeros((3, num_subtopics), np.int64)
    curve_starts, of_curve = np.zeros(queries + 1, np.int64), np.empty((4, most_curves + 1), np.int64)
    of_row = np.empty((3, most_rows), np.int64)
    cdef int64_t* ends = counts_in(curve_starts)
    all.relevant = counts_in(by_subtopic)
    all.place = all.relevant + num_subtopics
    all.last = all.place + num_subtopics
    all.subtopic, all.num_relevant = counts_in(of_curve[0]), counts_in(of_curve[1])
    all.num_hits, all.starts = counts_in(of_curve[2]), counts_in(of_curve[3])
    all.rows_above, all.rows_tied, all.hits = counts_in(of_row[0]), counts_in(of_row[1]), counts_in(of_row[2])
    all.starts[0] = all.curves = all.rows = 0
    with nogil:
        for q in range(queries):
            add_curves(&all, q)
            ends[q + 1] = all.curves
    n, rows = int(all.curves), int(all.rows)
    if rows < most_rows:  # tie groups of items that share a subtopic
        of_row = of_row[:, :rows].copy()
    return (curve_starts, *(of_curve[i, :n].copy() for i in range(3)), of_curve[3, :n + 1].copy(), *of_row)


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
