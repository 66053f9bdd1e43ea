"""The tables of a judged run: the columns of which its curves are made."""
from libc.stdint cimport int64_t, uint32_t
from libc.stdlib cimport qsort

cimport numpy as cnp

import numpy as np

from hitcurve.retrieval.query cimport Row

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


cdef void add_group(RunTables* tables, Scale* scale, const Row* rows, Py_ssize_t n, int64_t above,
                    int64_t tied, bint judged_only) noexcept nogil:
    """The row of a tie group, if a relevant document is in it."""
    cdef Py_ssize_t i, number = 0
    cdef int64_t hits = 0
    cdef uint32_t code
    for i in range(n):
        code = 0 if judged_only and rows[i].level < 0 else code_of(scale, rows[i].level)
        if code > 0:
            if scale.of_group[code] == 0:
                scale.codes[number] = code
                number += 1
            scale.of_group[code] += 1
            hits += 1
    if hits == 0:
        return
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


cdef int64_t add_rows(RunTables* tables, Scale* scale, const Row* rows, Py_ssize_t n, bint tied,
                      bint judged_only) noexcept nogil:
    """The rows of a query; returns how many of its documents have a judgment."""
    cdef Py_ssize_t i = 0, k, first
    cdef int64_t above, size, kept, seen = 0
    while i < n:
        first = i
        i += 1
        while tied and i < n and rows[i].above == rows[first].above:
            i += 1
        above = rows[first].above if tied else rows[first].rank - 1
        size = rows[first].tied if tied else 1
        kept = 0
        for k in range(first, i):
            kept += rows[k].level >= 0
        if judged_only:
            above, size = seen, kept
        seen += kept
        add_group(tables, scale, rows + first, i - first, above, size, judged_only)
    return seen


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


cdef object numbers(Py_ssize_t n):
    return np.empty(n, np.int64)


cdef int64_t* whole(object array):
    return <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>array)


def run_tables(judged, places, bint tied, bint judged_only, int64_t depth, least):
    """(table, values, pairs, missing) of some queries of a judged run, as `gain_curves_of` takes them.

    `tied`, `judged_only`, `least`: see `RunCurves.gains`. `depth`: only so many documents of each query; -1: all.
    """
    cdef RunTables tables
    cdef Scale scale
    cdef Py_ssize_t q, n, m, total, number = len(places)
    starts, rows = judged.rows_of(places)
    level_starts, levels = judged.qrels.levels_of(places)
    retrieved = judged.num_retrieved()[places]
    values = np.unique(levels[levels > 0]) if least is None else np.array([1], np.int64)
    n, total = rows.shape[0], levels.shape[0]
    row_starts, missing_starts, num_hits, num_relevant = [numbers(number + 1) for _ in range(4)]
    above, tied_, hits, pair_starts, count = [numbers(n + 1) for _ in range(5)]
    missing_count, code, missing_code = numbers(total + 1), np.empty(n + 1, np.uint32), np.empty(total + 1, np.uint32)
    of_query, of_group, codes = np.zeros(values.shape[0] + 1, np.int64), np.zeros(values.shape[0] + 1, np.int64), np.empty(
        values.shape[0] + 1, np.uint32)
    tables = RunTables(
        whole(row_starts), whole(above), whole(tied_), whole(hits), whole(pair_starts), <uint32_t*>whole(code), whole(count),
        whole(retrieved), whole(num_hits), whole(num_relevant), whole(missing_starts), <uint32_t*>whole(missing_code),
        whole(missing_count), 0, 0, 0)
    scale = Scale(whole(values), values.shape[0], least is not None, 0 if least is None else least, whole(of_query),
                  whole(of_group), <uint32_t*>whole(codes))
    cdef const int64_t* start = whole(starts)
    cdef const int64_t* level_start = whole(level_starts)
    cdef const int64_t* level = whole(levels)
    cdef const Row* row = <const Row*>whole(rows)
    cdef int64_t seen
    with nogil:
        tables.pair_starts[0] = 0
        for q in range(number):
            tables.starts[q], tables.missing_starts[q] = tables.rows, tables.missing
            m = start[q + 1] - start[q]
            tables.retrieved[q] = max(tables.retrieved[q], 0)
            if depth >= 0:
                tables.retrieved[q] = min(tables.retrieved[q], depth)
                while m > 0 and row[start[q] + m - 1].rank > depth:
                    m -= 1
            seen = add_rows(&tables, &scale, row + start[q], m, tied, judged_only)
            if judged_only:
                tables.retrieved[q] = seen
            tables.num_hits[q] = 0
            for m in range(tables.starts[q], tables.rows):
                tables.num_hits[q] += tables.hits[m]
            tables.num_relevant[q] = tables.num_hits[q] + add_missing(
                &tables, &scale, level + level_start[q], level_start[q + 1] - level_start[q])
        tables.starts[number], tables.missing_starts[number] = tables.rows, tables.missing
    table = (row_starts, above[:tables.rows], tied_[:tables.rows], hits[:tables.rows], retrieved, num_hits[:number],
             num_relevant[:number])
    pairs = pair_starts[:tables.rows + 1], code[:tables.pairs], count[:tables.pairs]
    missing = missing_starts, missing_code[:tables.missing], missing_count[:tables.missing]
    return table, np.append(0.0, values), pairs, missing
