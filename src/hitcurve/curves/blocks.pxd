# Items counted block by block against thresholds.
from cpython.pythread cimport PyThread_type_lock
from libc.stdint cimport int64_t, uint32_t

from hitcurve._kernel.columns cimport ScoreType
from hitcurve._kernel.count cimport Index

cdef class BlockCounter:
    cdef readonly object cuts
    cdef readonly object nan_items
    cdef object thresholds       # as the kernels compare them, with room for one more
    cdef object memory
    cdef ScoreType type
    cdef Index index
    cdef uint32_t* narrow        # counts of the last blocks,
    cdef int64_t* wide           # and of those before, once there are too many for 32 bits
    cdef int64_t since           # items in the narrow counts
    cdef void* scratch
    cdef PyThread_type_lock taken  # while a block is counted; nobody waits for it

    cdef int prepare(self) except -1
    cdef int take(self) except -1
    cdef int settle(self) except -1
    cdef int widen(self) except -1
