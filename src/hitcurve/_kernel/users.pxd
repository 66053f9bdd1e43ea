# Kernels of measures that model a user who goes down the ranking. Plain pointers, no Python objects. The caller raises what
# a signal raised.
from hitcurve._kernel.gains cimport GainReading, GainRoom, Levels

cdef double squares(double scale, double first, double count) noexcept nogil
cdef double insq(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
cdef double inst(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
cdef double rbp_residual(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
cdef void fill_looks(const GainReading* reading, double* chances, double* sums) noexcept nogil
cdef double nerr(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
cdef double bpm(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
