"""Kernels of measures that use only the order of the items: of pairs of items with different levels, and of ranks.

Pairs of items are counted exactly, in 128 bits. A tree of running sums has the levels seen so far, so that n entries (a
level and its count) take n log n steps. Items of level 0 are counted without a loop over them.
"""
from libc.math cimport NAN, fmin
from libc.stdint cimport int64_t

from hitcurve._kernel.err cimport signalled
from hitcurve._kernel.gains cimport all_hits, gained
from hitcurve._kernel.groups cimport TIES_BEST, TIES_WORST, Table, Wide, add, add_product, as_double
from hitcurve._kernel.sort cimport sort_typed
from hitcurve._kernel.tree cimport add_at, place_of, up_to


# --------------------------------------------------------------------------------------------------------------- pairs

# Pairs of items with different levels: the item of the higher level has the better, the worse, or the same score.
cdef struct PairCounts:
    Wide right
    Wide wrong
    Wide tied


cdef inline Wide plus(Wide a, Wide b) noexcept nogil:
    cdef Wide total = [a.high + b.high, a.low + b.low]
    total.high += total.low < a.low
    return total


cdef inline bint none(Wide a) noexcept nogil:
    return a.high == 0 and a.low == 0


cdef inline double difference(Wide a, Wide b) noexcept nogil:
    """a - b as a double. The subtraction is exact; only the conversion rounds."""
    if a.high < b.high or (a.high == b.high and a.low < b.low):
        return -difference(b, a)
    return as_double(Wide(a.high - b.high - (a.low < b.low), a.low - b.low))


cdef bint count_pairs(const Levels* levels, GainRoom* room, PairCounts* counts) noexcept nogil:
    """Counts the pairs. False if all items have the same level, or if the room has failed."""
    cdef const Table* table = &levels.table
    cdef int64_t* codes = room.keys
    cdef int64_t* tree = room.scratch  # used after the codes are sorted
    cdef Py_ssize_t row, pair, place, n = 0, kinds = 0
    cdef int64_t zeros = table.num_items - all_hits(table), seen = 0, in_row, before, others, lower, many
    counts.right = counts.wrong = counts.tied = Wide(0, 0)
    if table.rows == 0:
        return False
    for pair in range(levels.starts[0], levels.starts[table.rows]):
        codes[n] = levels.code[pair]
        n += 1
    sort_typed(codes, n, room.scratch)
    for pair in range(n):
        if kinds == 0 or codes[pair] != codes[kinds - 1]:
            codes[kinds] = codes[pair]
            kinds += 1
    for place in range(kinds):
        tree[place] = 0
    for row in range(table.rows):
        others = table.tied[row] - table.hits[row]
        before = table.above[row] - seen
        in_row = 0
        for pair in range(levels.starts[row], levels.starts[row + 1]):
            place = place_of(codes, kinds, levels.code[pair])
            many = levels.count[pair]
            lower = up_to(tree, place - 1)
            add_product(&counts.right, many, (zeros - before - others) + (seen - up_to(tree, place)))
            add_product(&counts.wrong, many, before + lower)
            add_product(&counts.tied, many, others + in_row)
            in_row += many
        for pair in range(levels.starts[row], levels.starts[row + 1]):
            place = place_of(codes, kinds, levels.code[pair])
            add_at(tree, kinds, place, levels.count[pair])
        seen += table.hits[row]
        if signalled(&room.work, 16 * (levels.starts[row + 1] - levels.starts[row])):
            room.failed = True
            return False
    return not (none(counts.right) and none(counts.wrong) and none(counts.tied))


cdef double pairwise_accuracy(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil:
    cdef PairCounts counts
    cdef Wide halves
    if not count_pairs(levels, room, &counts):
        return NAN
    halves = plus(counts.right, counts.right)
    if reading.ties != TIES_WORST:
        halves = plus(halves, counts.tied)
    if reading.ties == TIES_BEST:
        halves = plus(halves, counts.tied)
    return fmin(1.0, 0.5 * as_double(halves) / as_double(plus(plus(counts.right, counts.wrong), counts.tied)))


cdef double somers_d(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil:
    cdef PairCounts counts
    cdef double pairs
    if not count_pairs(levels, room, &counts):
        return NAN
    pairs = as_double(plus(plus(counts.right, counts.wrong), counts.tied))
    if reading.ties == TIES_BEST:
        counts.right = plus(counts.right, counts.tied)
    elif reading.ties == TIES_WORST:
        counts.wrong = plus(counts.wrong, counts.tied)
    return difference(counts.right, counts.wrong) / pairs


cdef double goodman_kruskal_gamma(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil:
    cdef PairCounts counts
    cdef Wide untied
    if not count_pairs(levels, room, &counts):
        return NAN
    untied = plus(counts.right, counts.wrong)
    return NAN if none(untied) else difference(counts.right, counts.wrong) / as_double(untied)


# --------------------------------------------------------------------------------------------------------------- ranks

cdef double items_above(const GainReading* reading, int64_t start, int64_t stop) noexcept nogil:
    """The sum of rank - 1 over the ranks after `start`, up to `stop`."""
    return 0.5 * <double>(stop - start) * (<double>start + <double>(stop - 1))


cdef double mean_percentile_rank(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil:
    """The mean percentile rank of the items, weighted by their gains."""
    cdef const Table* table = &levels.table
    cdef double total = 0.0, carry = 0.0
    cdef Py_ssize_t pair
    if table.rows == 0:
        return NAN
    if table.num_items == 1:  # the same value as for more items that are all relevant
        return 0.5
    for pair in range(levels.starts[0], levels.starts[table.rows]):
        add(&total, &carry, reading.gain[levels.code[pair]] * <double>levels.count[pair])
    return gained(levels, reading, items_above, room) / (total + carry) / <double>(table.num_items - 1)
