# Kernels of the measures that combine gain and precision. Plain pointers, no Python objects. The caller raises what a
# signal raised.
from hitcurve._kernel.gains cimport GainReading, GainRoom, Levels

cdef double average_gain(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
cdef double utility(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
cdef double graded_precision(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
cdef double graded_precision_of_levels(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
