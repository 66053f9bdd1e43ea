# Judgments, runs, and the judged documents of a run.
cimport cython
from libc.stdint cimport int32_t, int64_t, uint64_t

from hitcurve.retrieval.lines cimport Doc, Docs, Trouble
from hitcurve.retrieval.ranks cimport Order, Rows, Work

# Documents of one query that came together.
cdef struct Segment:
    int64_t query
    Py_ssize_t start


@cython.final
cdef class Names:
    cdef Docs docs
    cdef uint64_t* slots
    cdef uint64_t mask
    cdef Py_ssize_t find(self, const Doc* name) noexcept nogil
    cdef Py_ssize_t add(self, const Doc* name) noexcept nogil


@cython.final
cdef class Scratch:
    cdef Work work
    cdef Docs docs


cdef class Grouped:
    cdef readonly str source
    cdef readonly Names names
    cdef readonly bint integers  # the document ids
    cdef readonly bint listed    # queries without ids of their own, numbered as they came
    cdef readonly list passed    # what strict=False let pass, in words
    cdef str tag                 # of a run
    cdef bint ranks              # the rank column was read
    cdef bint strict             # as the text was read
    cdef object keep             # what the text of a file lies in
    cdef tuple columns           # what it was made of, if not of text
    cdef const char* begin       # the text of a file, for line numbers
    cdef Py_ssize_t length
    cdef Docs docs
    cdef Segment* segments
    cdef Py_ssize_t num_segments
    cdef Py_ssize_t room_segments
    cdef int64_t* offsets        # of each query's documents
    cdef uint64_t* slots         # the queries' hash tables, one after the other
    cdef int64_t* first_slot
    cdef bint add_segment(self, const Doc* name, Py_ssize_t start) noexcept nogil
    cdef int finish(self) except -1
    cdef Py_ssize_t end_of(self, Py_ssize_t s) noexcept nogil


@cython.final
cdef class Qrels(Grouped):
    cdef int64_t* levels         # of each query's documents, falling
    cdef Qrels texts             # the same with the text of its integer ids, once a run asked for it
    cdef dict numbers            # of the queries, by their ids, and
    cdef list ids                # those of each query's documents, once a run in dicts asked for them
    cdef int32_t* spare          # a number for each query, all 0, which the next `Judged` takes; NULL: none is left

    cdef int32_t* take_places(self)
    cdef void give_places(self, int32_t* places)
    cdef dict places(self)
    cdef list ids_of(self, Py_ssize_t query)


@cython.final
cdef class Run(Grouped):
    pass


# The judged documents of one query of a run.
cdef struct Section:
    int64_t query                # of the qrels
    int64_t first                # its rows
    int64_t last
    int64_t retrieved            # documents; -1: the query is not in the run


@cython.final
@cython.no_gc_clear
cdef class Judged:
    cdef readonly Qrels qrels
    cdef readonly str source
    cdef readonly str tag
    cdef readonly list others    # queries of the run without judgments
    cdef readonly list passed
    cdef Order order
    cdef bint single             # scores are rounded to single precision
    cdef readonly Py_ssize_t contradicting  # queries whose scores rise in the order asked for,
    cdef readonly Py_ssize_t contradicted   # and the first of them
    cdef Rows rows
    cdef Section* sections       # of the queries in the run
    cdef Py_ssize_t num_sections
    cdef Py_ssize_t room_sections
    cdef int32_t* places         # per query of the qrels: its section, from 1 on; 0: not in the run

    @staticmethod
    cdef Judged start(Qrels qrels, str source, str tag, str order, bint single)
    cdef Section section(self, Py_ssize_t query) noexcept nogil
    cdef bint add_section(self, Py_ssize_t query, int64_t first, int64_t retrieved) noexcept nogil
    cdef Trouble add_query(self, Py_ssize_t query, const Doc* docs, Py_ssize_t n, Work* work) noexcept nogil
    cdef bint add_integers(self, Py_ssize_t query, const int64_t* ids, const double* scores, Py_ssize_t n,
                           Work* work) noexcept nogil
