# Plain pointers, no Python objects; what a signal raises is left for the caller.
from hitcurve.retrieval.query cimport Asked, Query, Room

cdef double err(const Query* query, const Asked* asked) noexcept nogil
cdef bint expected_err(const Query* query, const Asked* asked, Room* room, double* found) noexcept nogil
