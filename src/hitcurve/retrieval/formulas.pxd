# Kernels that compute measures from the judged documents of one query. Plain pointers, no Python objects; what a signal
# raises is left for the caller.
from libc.stdint cimport int64_t

from hitcurve.retrieval.query cimport *

cdef bint arrange(const Row* rows, Py_ssize_t n, int64_t num_ret, Reading reading, bint judged_only,
                  const Asked* asked, Room* room, Query* query) noexcept nogil
cdef bint measure_query(const Query* query, const Asked* asked, Reading reading, Room* room, double* value) noexcept nogil
