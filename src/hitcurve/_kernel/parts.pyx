"""Items thrown into parts by their score, and counted part by part, in the first caches.

A part holds some hundreds or thousands of thresholds. Its items lie in a chain of blocks. Where it pays, a part is cut
into slots, so many that few hold more than one threshold.
"""
from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t

from hitcurve._kernel.columns cimport simd
from hitcurve._kernel.sort cimport key_of
from hitcurve._kernel.thresholds cimport count_search, not_below

# The same loop for AVX2 (see there).
cdef extern from "_simd.h":
    void simd_slots(const void* x, Py_ssize_t n, bint is_double, int64_t least, uint32_t shift, uint32_t* slots) noexcept nogil

cdef extern from "_memory.h":
    void prefetch(const void* memory) noexcept nogil

cdef extern from *:
    bint unlikely(bint) noexcept nogil


cdef void open_parts(Parts* parts, uint32_t number) noexcept nogil:
    cdef uint32_t part
    for part in range(number):
        parts.before[part] = part
        parts.place[part] = first_place(part)
    parts.used = number


cdef void throw_typed(const uint32_t* part_of, const score_t* x, Py_ssize_t n, Parts* parts) noexcept nogil:
    cdef score_t* items = <score_t*>parts.items
    cdef uint32_t* places = parts.place
    cdef uint32_t part, place
    cdef Py_ssize_t i
    for i in range(n):
        part = part_of[i]
        place = places[part]
        items[place] = x[i]
        place += 1
        if unlikely(place % LINK == 0):
            parts.before[parts.used] = place // LINK - 1
            place = parts.used * LINK
            parts.used += 1
        places[part] = place


cdef inline void find_slots(const Part* part, const score_t* x, Py_ssize_t n, uint32_t* slots) noexcept nogil:
    """The slot of each score of a part. Writes up to 7 places beyond."""
    cdef Py_ssize_t i
    if simd and score_t is not int64_t:
        simd_slots(x, n, score_t is double, <int64_t>(part.least ^ <uint64_t>1 << 63), part.shift, slots)
    else:
        for i in range(n):
            slots[i] = <uint32_t>((key_of(x[i]) - part.least) >> part.shift)


cdef void count_part(const Part* part, const uint16_t* rank, const score_t* thresholds, Py_ssize_t m, const score_t* x,
                     Py_ssize_t n, const score_t* next_block, uint32_t* counts) noexcept nogil:
    """Each item by its slot, which knows how many thresholds of the part lie before it."""
    cdef uint32_t slots[LINK + 8]
    cdef uint16_t aside[LINK]
    cdef Py_ssize_t i, num_aside = 0, place
    cdef uint32_t many, slot
    if part.slots == 0:
        count_search(thresholds, m, x, n, counts)
        return
    for i in range(0, LINK * <Py_ssize_t>sizeof(score_t), 64):
        prefetch(<const char*>next_block + i)
    find_slots(part, x, n, slots)
    for i in range(n):
        place = rank[slots[i]]
        many = <uint32_t>(place >> 15)
        place &= MANY_HERE - 1
        aside[num_aside] = <uint16_t>i
        num_aside += many
        place += thresholds[place] < x[i]
        # From here it is not below x; that makes "at most" the cheaper way to say "equal".
        counts[2 * place + (thresholds[place] <= x[i])] += 1 - many
    for i in range(num_aside):
        slot = slots[aside[i]]
        place = rank[slot] & (MANY_HERE - 1)
        place += not_below(thresholds + place, (rank[slot + 1] & (MANY_HERE - 1)) - place, x[aside[i]])
        counts[2 * place + (thresholds[place] == x[aside[i]])] += 1
