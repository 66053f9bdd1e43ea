"""Rank-biased overlap of two rankings of numbers, and of the rankings of two runs."""
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_RawFree
from libc.stdint cimport int64_t, uint8_t, uint64_t

import numpy as np

cimport numpy as cnp

from hitcurve._kernel.memory cimport grow
from hitcurve._kernel.overlap cimport VARIANT_A, VARIANT_B, VARIANT_W, Ordered, Overlap, TieVariant, overlap
from hitcurve._kernel.sort cimport key_of
from hitcurve.retrieval.lines cimport Doc
from hitcurve.retrieval.ranks cimport KeyedPlace, fill_table, find_slot, place_in, sort_items, table_mask
from hitcurve.retrieval.runs cimport Run

cnp.import_array()

cdef dict VARIANTS = {"w": VARIANT_W, "a": VARIANT_A, "b": VARIANT_B}


def overlap_of(const int64_t[::1] x, const int64_t[::1] x_ends, const int64_t[::1] y, const int64_t[::1] y_ends,
               Py_ssize_t num_items, double p, str ties):
    """(extrapolated, low, high, residual) of two rankings of numbers below `num_items`, whose tie groups have these ends."""
    cdef TieVariant variant = VARIANTS[ties]
    cdef cnp.ndarray states = cnp.PyArray_ZEROS(1, [2 * num_items + 2], cnp.NPY_UINT8, 0)
    cdef uint8_t* state = <uint8_t*>cnp.PyArray_DATA(states)
    cdef int64_t none = 0
    cdef Ordered one = [&none, 0, &none, state]
    cdef Ordered other = [&none, 0, &none, state + num_items]
    cdef Overlap found
    if x.shape[0]:
        one = Ordered(&x[0], x.shape[0], &x_ends[0], state)
    if y.shape[0]:
        other = Ordered(&y[0], y.shape[0], &y_ends[0], state + num_items)
    with nogil:
        overlap(&one, &other, p, variant, &found)
    return found.extrapolated, found.low, found.high, found.residual


cdef inline Py_ssize_t slot_of(const int64_t* slots, int shift, const int64_t* items, int64_t item) noexcept nogil:
    """The slot of an item, or the empty slot where it belongs. A slot has the place of an item from 1 on."""
    cdef uint64_t mask = (<uint64_t>1 << (64 - shift)) - 1, at = (<uint64_t>item * <uint64_t>0x9E3779B97F4A7C15) >> shift
    while slots[at] != 0 and items[slots[at] - 1] != item:
        at = (at + 1) & mask
    return <Py_ssize_t>at


def numbered(const int64_t[::1] x, const int64_t[::1] y):
    """The items of `y` as numbers, where the items of `x` are 0, 1, 2, ...

    Also the place of an item that comes twice in `x`, and the place of one in `y`; -1 if there is none.
    """
    cdef Py_ssize_t i, slot, n = x.shape[0], m = y.shape[0], x_twice = -1, y_twice = -1
    cdef int shift = 63
    cdef cnp.ndarray both = np.concatenate([x, y]), found = cnp.PyArray_EMPTY(1, [m], cnp.NPY_INT64, 0), table
    cdef const int64_t* items = <const int64_t*>cnp.PyArray_DATA(both)
    cdef int64_t* numbers = <int64_t*>cnp.PyArray_DATA(found)
    cdef int64_t* slots
    while <uint64_t>1 << (64 - shift) < 2 * <uint64_t>(n + m):
        shift -= 1
    table = cnp.PyArray_ZEROS(1, [<cnp.npy_intp>1 << (64 - shift)], cnp.NPY_INT64, 0)
    slots = <int64_t*>cnp.PyArray_DATA(table)
    with nogil:
        for i in range(n):
            slot = slot_of(slots, shift, items, items[i])
            if slots[slot] != 0 and x_twice < 0:
                x_twice = i
            slots[slot] = i + 1
        for i in range(n, n + m):
            slot = slot_of(slots, shift, items, items[i])
            numbers[i - n] = slots[slot] - 1 if slots[slot] != 0 else i
            if slots[slot] > n and y_twice < 0:
                y_twice = i - n
            slots[slot] = i + 1  # from now on the item of `y`: it was here
    return found, x_twice, y_twice


# Memory for one query after another.
cdef struct OverlapRoom:
    uint64_t* slots
    Py_ssize_t slots_size
    KeyedPlace* sorted
    Py_ssize_t sorted_size
    int64_t* numbers       # of both rankings: the items in the order of their ranks, then the ends of the tie groups
    Py_ssize_t numbers_size
    uint8_t* states
    Py_ssize_t states_size


cdef void order(const Doc* docs, Py_ssize_t n, const int64_t* number, OverlapRoom* room, int64_t* items,
                int64_t* ends) noexcept nogil:
    """The numbers of the documents by falling score, and the ends of their tie groups."""
    cdef Py_ssize_t i, group = 0
    for i in range(n):
        room.sorted[i].key = key_of(docs[i].score)
        room.sorted[i].place = i
    sort_items(room.sorted, room.sorted + n, n, NULL)
    for i in range(n):
        items[i] = number[room.sorted[i].place]
        if i + 1 == n or room.sorted[i + 1].key != room.sorted[i].key:
            ends[group] = i + 1
            group += 1


cdef bint of_query(const Doc* x, Py_ssize_t n, const Doc* y, Py_ssize_t m, double p, TieVariant variant, OverlapRoom* room,
                   Overlap* found) noexcept nogil:
    """The overlap of the documents of a query; False if there is no memory."""
    cdef Py_ssize_t i, before, most = max(n, m)
    cdef uint64_t mask = table_mask(n), slot
    cdef int64_t* numbers
    cdef Ordered one, other
    if not (grow(<void**>&room.slots, &room.slots_size, <Py_ssize_t>mask + 1, sizeof(uint64_t))
            and grow(<void**>&room.sorted, &room.sorted_size, 2 * most, sizeof(KeyedPlace))
            and grow(<void**>&room.numbers, &room.numbers_size, 2 * (n + m) + most, sizeof(int64_t))
            and grow(<void**>&room.states, &room.states_size, 2 * (n + m), sizeof(uint8_t))):
        return False
    fill_table(x, n, room.slots, mask, &before)
    numbers = room.numbers + 2 * (n + m)
    for i in range(2 * (n + m)):
        room.states[i] = 0
    for i in range(n):
        numbers[i] = i
    one = Ordered(room.numbers, n, room.numbers + n, room.states)
    order(x, n, numbers, room, room.numbers, room.numbers + n)
    for i in range(m):
        slot = room.slots[find_slot(room.slots, mask, x, &y[i])]
        numbers[i] = n + i if slot == 0 else place_in(slot)
    other = Ordered(room.numbers + 2 * n, m, room.numbers + 2 * n + m, room.states + n + m)
    order(y, m, numbers, room, room.numbers + 2 * n, room.numbers + 2 * n + m)
    overlap(&one, &other, p, variant, found)
    return True


def overlaps_of_runs(Run x, Run y, list queries, double p, str ties):
    """An array with the columns (extrapolated, low, high, residual) and a row for each query, which both runs have."""
    cdef TieVariant variant = VARIANTS[ties]
    cdef OverlapRoom room = [NULL, 0, NULL, 0, NULL, 0, NULL, 0]
    cdef Overlap found
    cdef cnp.ndarray values = np.empty((len(queries), 4))
    cdef double* out = <double*>cnp.PyArray_DATA(values)
    cdef Py_ssize_t i, q, r
    cdef bint done
    if x.integers != y.integers:
        x, y = x.as_text(), y.as_text()
    x_places, y_places = ({text: i for i, text in enumerate(run.names.all_texts())} for run in (x, y))
    try:
        for i in range(len(queries)):
            q, r = x_places[queries[i]], y_places[queries[i]]
            with nogil:
                done = of_query(x.docs.items + x.offsets[q], x.offsets[q + 1] - x.offsets[q], y.docs.items + y.offsets[r],
                                y.offsets[r + 1] - y.offsets[r], p, variant, &room, &found)
            if not done:
                raise MemoryError
            out[4 * i], out[4 * i + 1], out[4 * i + 2], out[4 * i + 3] = (
                found.extrapolated, found.low, found.high, found.residual)
            if i % 64 == 0:
                PyErr_CheckSignals()
    finally:
        PyMem_RawFree(room.slots)
        PyMem_RawFree(room.sorted)
        PyMem_RawFree(room.numbers)
        PyMem_RawFree(room.states)
    return values
