# The rows of a query of a run.
from libc.stdint cimport int64_t

# A judged document of a run. The rows of a query are in the order of their ranks.
cdef struct Row:
    int64_t rank         # from 1, ties resolved
    int64_t above        # documents with a higher score
    int64_t tied         # documents with this score, including this document
    int64_t level        # the level of the judgment; below 0: in the pool, but not judged
