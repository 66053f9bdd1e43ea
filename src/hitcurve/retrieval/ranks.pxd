# The judged documents of a query and their ranks. Plain pointers, no Python objects, nothing raised.
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from hitcurve.retrieval.lines cimport Doc, Trouble, same_id

# A judged document of a run. The rows of a query are in the order of their ranks.
cdef struct Row:
    int64_t rank         # from 1, ties resolved
    int64_t above        # documents with a higher score
    int64_t tied         # documents with this score, including this document
    int64_t level        # the level of the judgment; below 0: in the pool, but not judged

cdef struct Rows:
    Row* items
    Py_ssize_t size
    Py_ssize_t capacity

# What orders the documents of a query.
cdef enum Order:
    ORDER_SCORE, ORDER_FILE, ORDER_RANK

cdef struct KeyedPlace:
    uint64_t key
    int64_t place

# Memory for one query after another; belongs to one thread.
cdef struct Work:
    Py_ssize_t size        # documents for which there is room
    void* memory           # what holds all but the table
    uint64_t* seen         # a hash table of the documents
    KeyedPlace* items
    KeyedPlace* spare
    double* scores
    double* ordered        # scores sorted
    int64_t* found         # places of the judged documents
    int64_t* levels        # the level of every document, or NOT_JUDGED
    float* rounded         # scores in single precision
    int32_t* table         # a hash table of integer ids; entries up to `used` are from earlier queries, and count as empty
    Py_ssize_t table_size
    int64_t used
    bint rising            # whether the scores rise somewhere in the order of `rank_by`
    Py_ssize_t bad         # the document that causes an error
    Py_ssize_t other       # the other document of the error, such as one of the same id

# How the place of a score among others is found.
cdef enum Way:
    WAY_FALLING, WAY_COUNTED, WAY_SORTED

cdef enum:
    DIGITS = 24


cdef inline uint64_t table_mask(Py_ssize_t n) noexcept nogil:
    """The mask of a hash table that n documents fill at most by half."""
    cdef uint64_t size = 2
    while size < 2 * <uint64_t>n:
        size *= 2
    return size - 1


cdef inline Py_ssize_t place_in(uint64_t slot) noexcept nogil:
    return <Py_ssize_t><uint32_t>slot - 1


cdef inline uint64_t find_slot(const uint64_t* slots, uint64_t mask, const Doc* docs, const Doc* doc) noexcept nogil:
    """The slot of a document in a hash table, or the empty slot where the document belongs.

    A slot holds half of a hash and a place from 1 on, or 0 if it is empty. So most comparisons do not read the document.
    """
    cdef uint64_t h = doc.hash, at = h & mask, slot = slots[at]
    while slot != 0 and ((slot ^ h) >> 32 != 0 or not same_id(&docs[place_in(slot)], doc)):
        at = (at + 1) & mask
        slot = slots[at]
    return at


cdef Py_ssize_t fill_table(const Doc* docs, Py_ssize_t n, uint64_t* slots, uint64_t mask, Py_ssize_t* before) noexcept nogil
cdef Trouble check_twice(const Doc* docs, Py_ssize_t n, Work* work) noexcept nogil
cdef Trouble rank_judged(const Doc* docs, Py_ssize_t n, const Doc* judged, const uint64_t* slots, uint64_t mask,
                         Order order, bint single, Work* work, Rows* rows) noexcept nogil
cdef Py_ssize_t find_integers(const int64_t* ids, const double* scores, Py_ssize_t n, const Doc* judged,
                              Py_ssize_t num_judged, Work* work) noexcept nogil
cdef bint rank_integers(const double* scores, Py_ssize_t n, Py_ssize_t m, Work* work, Rows* rows) noexcept nogil
cdef int64_t id_text(const Doc* doc, char* room, const char** text) noexcept nogil
cdef bint reserve_work(Work* work, Py_ssize_t n) noexcept nogil
cdef void sort_items(KeyedPlace* items, KeyedPlace* room, Py_ssize_t n, const Doc* docs) noexcept nogil
cdef Way way_to_place(const double* scores, Py_ssize_t n, bint falling, Py_ssize_t m, Work* work) noexcept nogil
cdef void place_score(const double* scores, Py_ssize_t n, Way way, const Work* work, double score, int64_t* above,
                      int64_t* equal) noexcept nogil
