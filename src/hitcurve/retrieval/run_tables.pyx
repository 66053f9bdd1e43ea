"""The tables of a judged run: the columns of which its curves are made."""
from cpython.mem cimport PyMem_RawFree
from libc.stdint cimport int64_t, uint32_t
from libc.stdlib cimport qsort
from libc.string cimport memset

cimport numpy as cnp

import numpy as np

from hitcurve.retrieval.ranks cimport Row
from hitcurve.retrieval.runs cimport Judged, Qrels, Section
from hitcurve.retrieval.trec_sums cimport ORDER_ANY, Buffers, Query, TieGroup, arrange, next_group_of

cnp.import_array()

# The columns, filled query by query.
cdef struct RunTables:
    int64_t* starts        # of the rows of each query; one more than there are queries, as below
    int64_t* above
    int64_t* tied
    int64_t* hits
    int64_t* pair_starts   # of each row: pairs are a code of a level, and how many items of the row have it
    uint32_t* code
    int64_t* count
    int64_t* retrieved     # of each query
    int64_t* num_hits
    int64_t* num_relevant
    int64_t* missing_starts  # of each query: pairs of what was not retrieved
    uint32_t* missing_code
    int64_t* missing_count
    Py_ssize_t rows
    Py_ssize_t pairs
    Py_ssize_t missing

# The relevant levels and their codes, from 1. `least` alone makes one code of all levels from there up.
cdef struct Scale:
    const int64_t* values  # rising
    Py_ssize_t number
    bint binary
    int64_t least
    int64_t* of_query      # items of each code, in a query
    int64_t* of_group      # and in a tie group
    uint32_t* codes        # which occur in a tie group


cdef uint32_t code_of(const Scale* scale, int64_t level) noexcept nogil:
    """The code of a level; 0 for a level that is not relevant."""
    cdef Py_ssize_t low = 0, high = scale.number, middle
    if scale.binary:
        return level >= scale.least
    if level <= 0:
        return 0
    while low < high:
        middle = (low + high) >> 1
        if scale.values[middle] < level:
            low = middle + 1
        else:
            high = middle
    return <uint32_t>low + 1


cdef int by_code(const void* a, const void* b) noexcept nogil:
    return (<const uint32_t*>a)[0] - <int64_t>(<const uint32_t*>b)[0]


cdef int64_t add_group(RunTables* tables, Scale* scale, const Row* rows, Py_ssize_t n, int64_t above,
                       int64_t tied) noexcept nogil:
    """The row of a tie group, if a relevant document is in it; returns the number of its relevant documents."""
    cdef Py_ssize_t i, number = 0
    cdef int64_t hits = 0
    cdef uint32_t code
    for i in range(n):
        code = code_of(scale, rows[i].level)
        if code > 0:
            if scale.of_group[code] == 0:
                scale.codes[number] = code
                number += 1
            scale.of_group[code] += 1
            hits += 1
    if hits == 0:
        return 0
    if number > 1:
        qsort(scale.codes, number, sizeof(uint32_t), by_code)
    tables.above[tables.rows], tables.tied[tables.rows], tables.hits[tables.rows] = above, tied, hits
    for i in range(number):
        code = scale.codes[i]
        tables.code[tables.pairs], tables.count[tables.pairs] = code, scale.of_group[code]
        tables.pairs += 1
        scale.of_query[code] += scale.of_group[code]
        scale.of_group[code] = 0
    tables.rows += 1
    tables.pair_starts[tables.rows] = tables.pairs
    return hits


cdef int64_t add_missing(RunTables* tables, Scale* scale, const int64_t* levels, Py_ssize_t n) noexcept nogil:
    """What the judgments of a query, falling, have of each level, less what was retrieved; returns how many in all."""
    cdef Py_ssize_t i = n, last
    cdef int64_t lacking, total = 0
    cdef uint32_t code
    while i > 0:
        last = i
        code = code_of(scale, levels[i - 1])
        while i > 0 and code_of(scale, levels[i - 1]) == code:
            i -= 1
        if code == 0:
            continue
        lacking = last - i - scale.of_query[code]
        scale.of_query[code] = 0
        if lacking > 0:
            tables.missing_code[tables.missing], tables.missing_count[tables.missing] = code, lacking
            tables.missing += 1
            total += lacking
    return total


cdef object relevant_levels(Judged judged, const int64_t[::1] places):
    """The distinct codes above 0 that the judgments of these queries have, rising."""
    cdef Qrels qrels = judged.qrels
    cdef Py_ssize_t q
    cdef int64_t i
    cdef set found = set()
    for q in range(places.shape[0]):
        for i in range(qrels.offsets[places[q]], qrels.offsets[places[q] + 1]):
            if qrels.levels[i] <= 0:
                break
            if i == qrels.offsets[places[q]] or qrels.levels[i] != qrels.levels[i - 1]:  # they fall within a query
                found.add(qrels.levels[i])
    return np.array(sorted(found), np.int64)


cdef object numbers(Py_ssize_t n):
    return np.empty(n, np.int64)


cdef int64_t* whole(object array):
    return <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>array)


def run_tables(Judged judged, const int64_t[::1] places, bint tied, bint judged_only, int64_t depth, least):
    """(table, values, pairs, missing) of some queries of a judged run, as `gain_curves_of` takes them.

    `tied`, `judged_only`, `least`: see `RunCurves.gains`. `depth`: only so many documents of each query; -1: all.
    """
    cdef Qrels qrels = judged.qrels
    cdef RunTables tables
    cdef Scale scale
    cdef Section section
    cdef Buffers buffers
    cdef Query query
    cdef TieGroup group
    cdef Py_ssize_t q, n = 0, total = 0, number = places.shape[0]
    cdef bint full = False
    for q in range(number):
        section = judged.section(places[q])
        n += section.last - section.first
        total += qrels.offsets[places[q] + 1] - qrels.offsets[places[q]]
    values = relevant_levels(judged, places) if least is None else np.array([1], np.int64)
    row_starts, missing_starts = numbers(number + 1), numbers(number + 1)
    retrieved, num_hits, num_relevant = numbers(number), numbers(number), numbers(number)
    above, tied_, hits, pair_starts, count = [numbers(n + 1) for _ in range(5)]
    missing_count, code, missing_code = numbers(total + 1), np.empty(n + 1, np.uint32), np.empty(total + 1, np.uint32)
    of_query, of_group = np.zeros(values.shape[0] + 1, np.int64), np.zeros(values.shape[0] + 1, np.int64)
    codes = np.empty(values.shape[0] + 1, np.uint32)
    tables = RunTables(
        whole(row_starts), whole(above), whole(tied_), whole(hits), whole(pair_starts), <uint32_t*>whole(code), whole(count),
        whole(retrieved), whole(num_hits), whole(num_relevant), whole(missing_starts), <uint32_t*>whole(missing_code),
        whole(missing_count), 0, 0, 0)
    scale = Scale(whole(values), values.shape[0], least is not None, 0 if least is None else qrels.code_from(least),
                  whole(of_query), whole(of_group), <uint32_t*>whole(codes))
    memset(&buffers, 0, sizeof(Buffers))
    with nogil:
        tables.pair_starts[0] = 0
        for q in range(number):
            tables.starts[q], tables.missing_starts[q], tables.num_hits[q] = tables.rows, tables.missing, 0
            section = judged.section(places[q])
            full = not arrange(judged.rows.items + section.first, section.last - section.first, section.retrieved, depth,
                               ORDER_ANY, judged_only, NULL, &buffers, &query)
            if full:
                break
            tables.retrieved[q] = query.num_ret
            group.stop = 0
            while next_group_of(&query, tied, &group):
                tables.num_hits[q] += add_group(&tables, &scale, query.rows + group.start, group.stop - group.start,
                                                group.above, group.tied)
            tables.num_relevant[q] = tables.num_hits[q] + add_missing(
                &tables, &scale, qrels.levels + qrels.offsets[places[q]],
                qrels.offsets[places[q] + 1] - qrels.offsets[places[q]])
        tables.starts[number], tables.missing_starts[number] = tables.rows, tables.missing
    PyMem_RawFree(buffers.rows)
    if full:
        raise MemoryError
    table = row_starts, above[:tables.rows], tied_[:tables.rows], hits[:tables.rows], retrieved, num_hits, num_relevant
    pairs = pair_starts[:tables.rows + 1], code[:tables.pairs], count[:tables.pairs]
    missing = missing_starts, missing_code[:tables.missing], missing_count[:tables.missing]
    return table, np.append(0.0, qrels.level_at(values) if least is None else values), pairs, missing
