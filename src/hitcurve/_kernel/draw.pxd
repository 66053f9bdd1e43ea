"""Random whole numbers below a bound."""
from libc.stdint cimport int64_t, uint32_t, uint64_t

from numpy.random cimport bitgen_t


cdef inline int64_t draw_below(bitgen_t* rng, int64_t bound) noexcept nogil:
    """A whole number from 0 to bound - 1, all equally likely (Lemire 2019)."""
    cdef uint64_t product, span = <uint64_t>bound, mask
    cdef int i
    if span < <uint64_t>1 << 32:
        product = <uint64_t>rng.next_uint32(rng.state) * span
        if <uint32_t>product < span:
            mask = ((<uint64_t>1 << 32) - span) % span
            while <uint32_t>product < mask:
                product = <uint64_t>rng.next_uint32(rng.state) * span
        return <int64_t>(product >> 32)
    mask = span - 1
    for i in range(6):
        mask |= mask >> (1 << i)
    while True:
        product = rng.next_uint64(rng.state) & mask
        if product < span:
            return <int64_t>product
