# Counts items block by block against thresholds.
from cpython.pythread cimport PyThread_type_lock
from libc.stdint cimport int64_t, uint32_t

from hitcurve._kernel.columns cimport ScoreType
from hitcurve._kernel.count cimport Index

cdef class BlockCounter:
    cdef readonly object cuts
    cdef readonly object nan_items
    cdef object thresholds       # in the type that the kernels compare, with room for one more
    cdef object memory
    cdef ScoreType type
    cdef Index index
    cdef uint32_t* narrow        # the counts of the last blocks
    cdef int64_t* wide           # the counts of earlier blocks, if 32 bits cannot hold the sums
    cdef int64_t since           # the number of items in the narrow counts
    cdef void* scratch
    cdef PyThread_type_lock taken  # locked while a block is counted; no thread waits for the lock

    cdef int prepare(self) except -1
    cdef int take(self) except -1
    cdef int settle(self) except -1
    cdef int widen(self) except -1
