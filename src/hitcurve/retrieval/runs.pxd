# Judgments, runs, and the judged documents of a run.
cimport cython
from libc.stdint cimport int32_t, int64_t, uint64_t

from hitcurve.retrieval.lines cimport Doc, Docs, Trouble
from hitcurve.retrieval.ranks cimport Order, Rows, Work

# Documents of a query that follow one another in the source.
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
    cdef readonly bint integers  # whether the document ids are integers
    cdef readonly bint listed    # whether the queries have no ids of their own, and are numbered in their order
    cdef readonly list passed    # what strict=False accepted, columns that were found, rows left out; in sentences
    cdef readonly dict heads     # the names of the columns that it was made from, or None
    cdef readonly str duplicates  # the argument of `read_qrels`,
    cdef readonly Py_ssize_t left_out  # and how many rows that left out
    cdef str tag                 # the tag of a run
    cdef bint ranks              # the rank column was read
    cdef bint strict             # the argument with which the text was read
    cdef object keep             # the object that holds the text of a file
    cdef tuple columns           # the arguments of `from_columns`, if it was not made from a text
    cdef const char* begin       # the text of a file, for line numbers
    cdef Py_ssize_t length
    cdef Docs docs
    cdef Segment* segments
    cdef Py_ssize_t num_segments
    cdef Py_ssize_t room_segments
    cdef int64_t* offsets        # where each query's documents begin
    cdef uint64_t* slots         # the queries' hash tables, one after the other
    cdef int64_t* first_slot
    cdef bint add_segment(self, const Doc* name, Py_ssize_t start) noexcept nogil
    cdef int finish(self) except -1
    cdef list all_query_ids(self)
    cdef int leave_out(self) except -1
    cdef Py_ssize_t end_of(self, Py_ssize_t s) noexcept nogil


@cython.final
cdef class Qrels(Grouped):
    # Levels that are not all whole are held as codes. They rise with the level, and have its sign.
    cdef int64_t* levels         # the levels of each query's documents, falling
    cdef readonly object scale   # the level of each code, from the lowest code on, or None if levels are their own codes
    cdef Py_ssize_t zero         # the place of level 0 in the scale
    cdef Qrels texts             # a copy with the text of the integer ids, made on first use
    cdef Names union             # the documents of all queries, each once, made on first use
    cdef dict numbers            # the numbers of the queries, by their ids, made on first use
    cdef list ids                # the ids of each query's documents, made on first use
    cdef public object topics    # Topics, if documents are judged by subtopic; else None
    cdef int32_t* spare          # an array of zeros with an entry for each query, for the next `Judged`; or NULL

    cdef object set_scale(self, values)
    cdef Names of_any(self)
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
    cdef readonly Judged by_any  # the documents that are judged for any query; None unless a measure needs them
    cdef Names union             # the documents of all queries, if this is such a `by_any`
    cdef bint single             # scores are rounded to single precision
    cdef readonly Py_ssize_t contradicting  # queries whose scores rise in the order asked for,
    cdef readonly Py_ssize_t contradicted   # and the first of them
    cdef Rows rows
    cdef Section* sections       # of the queries in the run
    cdef Py_ssize_t num_sections
    cdef Py_ssize_t room_sections
    cdef int32_t* places         # per query of the qrels: its section, from 1 on; 0: not in the run
    cdef public object coded     # the same documents with codes in place of levels, if they are judged by subtopic

    @staticmethod
    cdef Judged start(Qrels qrels, str source, str tag, str order, bint single)
    cdef Section section(self, Py_ssize_t query) noexcept nogil
    cdef bint add_section(self, Py_ssize_t query, int64_t first, int64_t retrieved) noexcept nogil
    cdef Trouble add_query(self, Py_ssize_t query, const Doc* docs, Py_ssize_t n, Work* work) noexcept nogil
    cdef bint add_integers(self, Py_ssize_t query, const int64_t* ids, const double* scores, Py_ssize_t n,
                           Work* work) noexcept nogil
