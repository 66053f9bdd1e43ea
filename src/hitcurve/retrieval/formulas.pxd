# Kernels that read measures off the judged documents of one query. Plain pointers, no Python objects, nothing raised.
from libc.stdint cimport int64_t

from hitcurve.retrieval.query cimport *

cdef bint arrange(const Row* rows, Py_ssize_t n, int64_t num_ret, Reading reading, bint judged_only,
                  const Asked* asked, Room* room, Query* query) noexcept nogil
cdef bint measure_query(const Query* query, const Asked* asked, Reading reading, Room* room, double* value) noexcept nogil
