# Running sums over places from 1 up: a binary indexed tree (Fenwick 1994). Plain pointers, nothing raised.
from libc.stdint cimport int64_t

ctypedef fused sum_t:
    int64_t
    double


cdef inline Py_ssize_t place_of(const int64_t* values, Py_ssize_t n, int64_t value) noexcept nogil:
    """The place of a value among n rising values."""
    cdef Py_ssize_t before = 0, half
    while n > 1:
        half = n >> 1
        before += half if values[before + half] <= value else 0
        n -= half
    return before + 1


cdef inline sum_t up_to(const sum_t* tree, Py_ssize_t place) noexcept nogil:
    """The sum of the amounts at all places up to this place."""
    cdef sum_t total = 0
    while place > 0:
        total += tree[place - 1]
        place &= place - 1
    return total


cdef inline void add_at(sum_t* tree, Py_ssize_t places, Py_ssize_t place, sum_t amount) noexcept nogil:
    while place <= places:
        tree[place - 1] += amount
        place += place & -place
