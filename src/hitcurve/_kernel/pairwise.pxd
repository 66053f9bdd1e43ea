# Kernels of measures of pairs of items, and of ranks. Plain pointers, no Python objects. The caller raises what a signal
# raised.
from hitcurve._kernel.gains cimport GainReading, GainRoom, Levels

cdef double pairwise_accuracy(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
cdef double somers_d(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
cdef double goodman_kruskal_gamma(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
cdef double mean_percentile_rank(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
