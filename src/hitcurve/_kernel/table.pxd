# Kernels that turn rankings into hit-curve tables. Plain pointers, no Python objects, nothing raised.
from libc.stdint cimport int64_t, uint32_t

from hitcurve._kernel.columns cimport BLOCK, Items, Tally
from hitcurve._kernel.count cimport Counts, Index, Strategy, Walk
from hitcurve._kernel.formulas cimport Reading
from hitcurve._kernel.parts cimport PartMap, Parts

cdef enum Status:
    STATUS_OK
    STATUS_BAD_LABEL   # tally.bad_label says where
    STATUS_BAD_SCORE   # tally.bad_score says where
    STATUS_NO_MEMORY

# Memory that grows, unless it is on the stack.
cdef struct Room:
    void* memory
    size_t bytes
    bint on_stack

# Memory for one ranking after another. A thread has its own.
cdef struct Workspace:
    Room relevant  # the scores of the relevant items and one more, then the thresholds
    Room hits      # how often each threshold occurs, if some occur more than once
    Room counts    # counts, and the scratch of sorting
    Room wide      # counts of 64 bits
    Room index
    Room scratch

cdef enum:
    SMALL = 512    # a ranking of fewer items has its memory on the stack

cdef struct SmallSpace:
    double relevant[SMALL + 1]
    double scratch[BLOCK + 1]
    int64_t hits[SMALL]
    uint32_t counts[2 * SMALL + 2]

cdef inline void on_stack(Room* room, void* memory, size_t size) noexcept nogil:
    room.memory = memory
    room.bytes = size
    room.on_stack = True

cdef inline void small_workspace(SmallSpace* space, Workspace* work) noexcept nogil:
    on_stack(&work.relevant, space.relevant, sizeof(space.relevant))
    on_stack(&work.hits, space.hits, sizeof(space.hits))
    on_stack(&work.counts, space.counts, sizeof(space.counts))
    on_stack(&work.wide, NULL, 0)
    on_stack(&work.index, NULL, 0)  # allocated only for strategies that need it
    on_stack(&work.scratch, space.scratch, sizeof(space.scratch))

# The counts of a ranking, ready for a walk down.
cdef struct Ranking:
    Counts counts
    Walk walk
    int64_t num_items
    int64_t num_hits
    int64_t nan_items      # the items of a last group below all others, if nan_hits > 0
    int64_t nan_hits

# Many rankings, and the memory for their tables, or for their average precision under a reading.
cdef struct Rankings:
    Items items
    const int64_t* offsets       # query q has the items offsets[q] to offsets[q + 1]
    Py_ssize_t step              # bytes from the scores of a query to those of the next query, if all share the labels; else 0
    bint lower_is_better
    Strategy strategy
    int64_t* num_items
    int64_t* num_hits
    const Reading* reading       # NULL: tables
    const int64_t* num_relevant  # a number for each query; NULL: as counted
    double* average_precision
    int64_t* above               # the rows of all tables
    int64_t* tied
    int64_t* hits
    void* score
    const int64_t* place         # a ranking may write from row place[q] to place[q + 1]
    int64_t* rows                # the number of rows of each ranking

cdef extern from "_memory.h":
    void prefer_huge_pages(void* memory, size_t size) noexcept nogil

cdef void workspace_init(Workspace* work) noexcept nogil
cdef void workspace_free(Workspace* work) noexcept nogil
cdef void release(Room* room) noexcept nogil
cdef bint reserve(Room* room, size_t count, size_t size) noexcept nogil
cdef bint reserve_relevant(const Items* items, Py_ssize_t relevant, Workspace* work) noexcept nogil

cdef bint index_relevant(const Items* items, Py_ssize_t n, Py_ssize_t found, Strategy strategy, Workspace* work,
                         Index* index) noexcept nogil
cdef void finish_ranking(const Items* items, Py_ssize_t n, int64_t num_hits, bint lower_is_better, const Index* index,
                         const Tally* tally, Ranking* ranking) noexcept nogil
cdef Status rank_items(const Items* items, Py_ssize_t start, Py_ssize_t stop, bint lower_is_better, Strategy strategy,
                       Py_ssize_t capacity, Workspace* work, Ranking* ranking, Tally* tally) noexcept nogil
cdef Py_ssize_t ranking_rows(Ranking* ranking, Py_ssize_t limit, int64_t* above, int64_t* tied,
                             int64_t* hits) noexcept nogil
cdef Py_ssize_t num_rows(const Ranking* ranking) noexcept nogil
cdef void ranking_scores(const Items* items, const Workspace* work, const Ranking* ranking, void* score) noexcept nogil
cdef double ranking_average_precision(Ranking* ranking, const Reading* reading, int64_t num_relevant) noexcept nogil
cdef Py_ssize_t thrown_rows(const PartMap* map, const Parts* thrown, Py_ssize_t workers, uint32_t part, bint lower_is_better,
                            void* memory, int64_t* seen, int64_t* above, int64_t* tied, int64_t* hits,
                            void* score) noexcept nogil
cdef Py_ssize_t query_items(const Rankings* all, Py_ssize_t q, Items* items) noexcept nogil
cdef void query_done(const Rankings* all, Py_ssize_t q, const Workspace* work, Ranking* ranking) noexcept nogil
cdef Status rank_queries(const Rankings* all, Py_ssize_t first, Py_ssize_t last, Tally* tally) noexcept nogil
