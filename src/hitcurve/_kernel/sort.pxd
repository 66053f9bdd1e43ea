# Scores told apart by their bits: the map from scores to buckets, and sorting by it. Plain pointers, no Python objects.
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

# The types in which scores are compared. Every other real type is widened to one of them exactly.
ctypedef fused score_t:
    float
    double
    int64_t

cdef enum:
    CELLS = 2048        # most cells of a map

# A cell is an interval of keys, and cut into 2**j buckets: bucket = (key >> shift) + base, modulo 2**32.
cdef struct Cell:
    uint32_t base
    uint32_t shift

# A monotone map from scores to buckets 0 .. number - 1. Scores below the least or above the greatest go to the
# buckets BELOW and ABOVE after these.
cdef struct Buckets:
    uint64_t least      # key of the least score
    uint64_t span       # key of the greatest less that of the least
    uint32_t shift      # (key - least) >> shift is the cell
    uint32_t number
    uint32_t outside    # the cells for what lies below and above
    Cell* cells

cdef enum:
    BELOW = 0           # number + BELOW and the one after it
    ABOVE = 2
    OUTSIDE = 4


cdef inline uint64_t key_of(score_t x) noexcept nogil:
    """Whole numbers in the order of the scores; 0.0 and -0.0 have the same. Not for NaN."""
    cdef int32_t narrow
    cdef int64_t wide
    if score_t is float:
        memcpy(&narrow, &x, sizeof(float))
        wide = narrow >> 31
        wide = (narrow ^ (wide & 0x7FFFFFFF)) - wide
    elif score_t is double:
        memcpy(&wide, &x, sizeof(double))
        wide = (wide ^ <int64_t>(<uint64_t>(wide >> 63) >> 1)) - (wide >> 63)
    else:
        wide = x
    return <uint64_t>wide ^ (<uint64_t>1 << 63)


cdef inline uint32_t bucket_of(const Buckets* buckets, uint64_t key) noexcept nogil:
    cdef uint64_t place = key - buckets.least
    cdef uint64_t cell = place >> buckets.shift
    if place > buckets.span:
        cell = buckets.outside + (key > buckets.least)
    return <uint32_t>(place >> buckets.cells[cell].shift) + buckets.cells[cell].base


cdef inline uint32_t bucket_inside(const Buckets* buckets, uint64_t key) noexcept nogil:
    """For a key between the least and the greatest."""
    cdef uint64_t place = key - buckets.least
    cdef Cell cell = buckets.cells[place >> buckets.shift]
    return <uint32_t>(place >> cell.shift) + cell.base


cdef void spread_typed(const score_t* scores, Py_ssize_t n, uint32_t limit, Py_ssize_t most_cells, Cell* cells,
                       Buckets* buckets) noexcept nogil
cdef void sort_typed(score_t* scores, Py_ssize_t n, score_t* scratch) noexcept nogil
