# Items distributed to parts by their score. Plain pointers, no Python objects, nothing raised.
from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t

from hitcurve._kernel.columns cimport Items, ScoreType, Tally
from hitcurve._kernel.sort cimport Buckets, score_t

cdef enum:
    # The distance of the first blocks of two parts. With other distances, the addresses of all parts would compete for the
    # same lines of the cache.
    STAGGER = 24
    LINK = 256          # the number of items of a block
    SLOTS = 2           # the least number of slots for each threshold of a part
    IN_SLOTS = 0x8000   # a part with so many thresholds is not cut into slots
    CROWDED = 8         # a map for simd_buckets is good if no part has more than 1 / CROWDED of the scores
    MOST_THROWN = 0x7FFFFFFF  # the most items of a distributed ranking: positions have 32 bits

# An interval of scores, cut into slots of 2**shift keys. A slot has the number of thresholds of the part before it.
cdef struct Part:
    uint64_t least      # key of the least score
    size_t first        # its first slot, if the slots of all parts are in a single array
    uint32_t shift
    uint32_t slots      # the number of slots; 0: binary search in the thresholds

cdef struct Parts:
    void* items         # blocks of LINK items
    uint32_t* before    # for each block, the block before it in its part, or itself
    uint32_t* place     # for each part, the position of its next item
    uint32_t used


# A block of a part: the positions of its items.
cdef struct Link:
    uint32_t block
    uint32_t begin
    uint32_t end

# The map that distributes all items of a ranking, including the relevant items: part p has the irrelevant items in stream
# 2p, and the relevant items in stream 2p + 1.
cdef struct PartMap:
    Buckets buckets
    ScoreType type
    uint32_t number     # the number of parts
    const Part* parts   # the parts of the map, without slots; the parts before and after them have no bounds

# The sorted relevant scores of a part, and the counts of its other items.
cdef struct Counted:
    void* thresholds
    Py_ssize_t m
    uint32_t* counts    # as in ``count_items``
    int64_t* hits       # how often each threshold occurs; NULL: once each


cdef inline uint32_t first_place(uint32_t part) noexcept nogil:
    return part * LINK + part * STAGGER % LINK


cdef inline void last_link(const Parts* parts, uint32_t part, Link* link) noexcept nogil:
    link.end = parts.place[part]
    link.block = link.end // LINK
    link.begin = first_place(part) if link.block == part else link.block * LINK


cdef inline bint link_before(const Parts* parts, uint32_t part, Link* link) noexcept nogil:
    """Moves to the block before this block in its part. False if there is none."""
    if link.block == part:
        return False
    link.block = parts.before[link.block]
    link.begin = first_place(part) if link.block == part else link.block * LINK
    link.end = (link.block + 1) * LINK
    return True


cdef size_t parts_size(Py_ssize_t n, uint32_t number, size_t size) noexcept nogil
cdef void lay_parts(void* memory, Py_ssize_t n, uint32_t number, size_t size, Parts* parts) noexcept nogil
cdef void open_parts(Parts* parts, uint32_t number) noexcept nogil
cdef void lay_map(const Buckets* buckets, Part* part) noexcept nogil
cdef void cut_into_slots(Part* part, Py_ssize_t thresholds) noexcept nogil
cdef void throw_typed(const uint32_t* part_of, const score_t* x, Py_ssize_t n, const char* ahead, Py_ssize_t stride,
                      Parts* parts) noexcept nogil
cdef void count_part(const Part* part, const uint16_t* rank, const score_t* thresholds, Py_ssize_t m, const score_t* x,
                     Py_ssize_t n, const score_t* next_block, uint32_t* counts) noexcept nogil

cdef bint pays_throwing(Py_ssize_t relevant, Py_ssize_t n) noexcept nogil
cdef size_t part_map_size(Py_ssize_t relevant) noexcept nogil
cdef bint build_part_map(const Items* items, Py_ssize_t relevant, void* memory, PartMap* map) noexcept nogil
cdef size_t thrown_size(const PartMap* map, Py_ssize_t n) noexcept nogil
cdef void open_thrown(const PartMap* map, Py_ssize_t n, void* memory, Parts* thrown) noexcept nogil
cdef bint throw_scores(const Items* items, Py_ssize_t start, Py_ssize_t stop, const PartMap* map, Parts* thrown,
                       Tally* tally) noexcept nogil
cdef Py_ssize_t thrown_items(const Parts* thrown, uint32_t stream) noexcept nogil
cdef size_t counted_size(Py_ssize_t relevant) noexcept nogil
cdef void count_thrown(const PartMap* map, const Parts* thrown, Py_ssize_t workers, uint32_t part, void* memory,
                       Counted* counted) noexcept nogil
