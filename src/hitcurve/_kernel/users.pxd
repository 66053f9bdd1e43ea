# Kernels of measures that stand for a user who goes down the ranking. Plain pointers, no Python objects; what a signal
# raises is left for the caller.
from hitcurve._kernel.gains cimport GainReading, GainRoom, Levels

cdef double squares(double scale, double first, double count) noexcept nogil
cdef double insq(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
cdef double inst(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
cdef double rbp_residual(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
