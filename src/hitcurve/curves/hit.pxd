# What curves of hits and of gains have in common.

cdef class Curve:
    cdef readonly bint lower_is_better
