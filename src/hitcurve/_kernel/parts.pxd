# Items thrown into parts by their score. Plain pointers, no Python objects, nothing raised.
from libc.stdint cimport uint16_t, uint32_t, uint64_t

from hitcurve._kernel.sort cimport score_t

cdef enum:
    # The first block of a part begins so far behind that of the part before; else all parts would be written to at
    # addresses that share a place in the cache.
    STAGGER = 24
    LINK = 256          # items of a block
    SLOTS = 2           # slots of a part for each threshold, at least
    MANY_HERE = 0x8000  # set in the rank of a slot that holds more than one threshold

# An interval of scores, cut into slots of 2**shift keys; a slot knows how many thresholds of the part lie before it.
cdef struct Part:
    uint64_t least      # key of the least score
    size_t first        # its first slot among all
    uint32_t shift
    uint32_t slots      # how many; 0: the thresholds are searched

cdef struct Parts:
    void* items         # blocks of LINK
    uint32_t* before    # of each block: the block before it in its part, or itself
    uint32_t* place     # of each part: where its next item goes
    uint32_t used


cdef inline uint32_t first_place(uint32_t part) noexcept nogil:
    return part * LINK + part * STAGGER % LINK


cdef void open_parts(Parts* parts, uint32_t number) noexcept nogil
cdef void throw_typed(const uint32_t* part_of, const score_t* x, Py_ssize_t n, Parts* parts) noexcept nogil
cdef void count_part(const Part* part, const uint16_t* rank, const score_t* thresholds, Py_ssize_t m, const score_t* x,
                     Py_ssize_t n, const score_t* next_block, uint32_t* counts) noexcept nogil
