# The map from scores to buckets by the bits of the scores, and sorting by this map. Plain pointers, no Python objects.
from libc.math cimport floor
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

# The types in which scores are compared. Every other real type is widened to one of them exactly.
ctypedef fused score_t:
    float
    double
    int64_t

cdef enum:
    CELLS = 2048        # the most cells of a map

# A cell is an interval of keys, which is cut into 2**j buckets: bucket = (key >> shift) + base, modulo 2**32.
cdef struct Cell:
    uint32_t base
    uint32_t shift

# A monotone map from scores to buckets 0 .. number - 1.
cdef struct Buckets:
    uint64_t least      # key of the least score
    uint64_t span       # key of the greatest score minus key of the least score
    uint32_t shift      # the cell is (key - least) >> shift
    uint32_t number
    uint32_t num_cells
    Cell* cells
    const uint32_t* packed  # the cells for simd_buckets: base << 5 | shift; NULL: the map is not for simd_buckets


cdef inline uint64_t key_of(score_t x) noexcept nogil:
    """A whole number for each score, in the order of the scores. 0.0 and -0.0 have the same key. Not for NaN."""
    cdef int32_t narrow
    cdef int64_t wide
    if score_t is float:
        memcpy(&narrow, &x, sizeof(float))
        wide = narrow >> 31
        wide = (narrow ^ (wide & 0x7FFFFFFF)) - wide
    elif score_t is double:
        memcpy(&wide, &x, sizeof(double))
        wide = (wide ^ <int64_t>(<uint64_t>(wide >> 63) >> 1)) - (wide >> 63)
    else:
        wide = x
    return <uint64_t>wide ^ (<uint64_t>1 << 63)


cdef inline uint32_t bucket_inside(const Buckets* buckets, uint64_t key) noexcept nogil:
    """The bucket of a key between the least and the greatest key."""
    cdef uint64_t place = key - buckets.least
    cdef Cell cell = buckets.cells[place >> buckets.shift]
    return <uint32_t>(place >> cell.shift) + cell.base


cdef inline Py_ssize_t sample_place(Py_ssize_t i, Py_ssize_t sampled, Py_ssize_t n) noexcept nogil:
    """Position i of a sample of n positions, spread evenly, but without a period that data could have."""
    cdef double golden = 0.6180339887498949 * <double>i
    return <Py_ssize_t>((<double>i + golden - floor(golden)) * <double>n / <double>sampled)


cdef void spread_typed(const score_t* scores, Py_ssize_t n, uint32_t limit, Py_ssize_t most_cells, Cell* cells,
                       Buckets* buckets) noexcept nogil
cdef void lay_small(score_t* scores, Py_ssize_t n, score_t* to, uint32_t number, uint16_t* ends, const uint16_t* place,
                    int depth) noexcept nogil
cdef void sort_typed(score_t* scores, Py_ssize_t n, score_t* scratch) noexcept nogil

# Items are sorted by their id, in a stable order: distributed to heaps by the upper bits, then sorted heap by heap.
cdef enum:
    MOST_HEAPS = 512        # the most heaps: writing to more positions at a time misses the caches
    MOST_LAID = 0x7FFFFFFF  # the most items, and the greatest range of ids

cdef struct Item:
    uint64_t score
    uint32_t id             # the lower bits of the id, and the label above these bits
    uint32_t place

cdef struct Layout:
    const uint64_t* ids     # modulo 2**64
    const void* scores
    uint32_t size           # the bytes of a score: 8 or 4; 0: no scores
    const uint8_t* labels   # NULL: no labels
    void* laid_scores
    uint8_t* laid_labels
    uint32_t* order         # the item at each position
    int64_t* offsets        # where the items of each id start
    uint64_t low            # the least id
    uint64_t span           # the number of ids from the least to the greatest
    uint32_t shift          # the heap of an id is (id - low) >> shift
    uint32_t* codes         # id - low of each item: a copy, because another thread may write to the ids
    uint32_t* ends          # for each heap: first its number of items, then the position of its next item, then its end
    uint32_t* places        # positions for the ids of a heap
    Item* items

cdef void count_heaps(const Layout* layout, Py_ssize_t start, Py_ssize_t stop) noexcept nogil
cdef void throw_items(const Layout* layout, Py_ssize_t start, Py_ssize_t stop) noexcept nogil
cdef void lay_heap(const Layout* layout, uint32_t heap) noexcept nogil
