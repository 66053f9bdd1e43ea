# Kernels of rank-biased overlap. Plain pointers, no Python objects. The caller raises what a signal raised.
from libc.stdint cimport int64_t, uint8_t

from hitcurve._kernel.gains cimport GainReading, GainRoom, Levels

# How the agreement of rankings with ties is defined.
cdef enum TieVariant:
    VARIANT_W  # tied items have the same rank
    VARIANT_A  # the mean over all orders of tied items
    VARIANT_B  # the same, divided by the agreement of each ranking with itself

# A ranking. Items are numbers; the tie group with index i ends before place ends[i].
cdef struct Ordered:
    const int64_t* items
    Py_ssize_t size
    const int64_t* ends
    uint8_t* state        # how much of each item is seen; all 0 before

cdef struct Overlap:
    double extrapolated, low, high, residual

cdef double compat(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
cdef double compat_as_is(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
cdef double rest_of_logarithm(double p, int64_t first) noexcept nogil
cdef void overlap(const Ordered* one, const Ordered* other, double p, TieVariant variant, Overlap* out) noexcept nogil
