# Kernels that count items against sorted relevant scores. Plain pointers, no Python objects, nothing raised.
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from hitcurve._kernel.columns cimport Items, ScoreType, Tally
from hitcurve._kernel.parts cimport Part
from hitcurve._kernel.sort cimport Buckets

cdef enum Strategy:
    STRATEGY_AUTO
    STRATEGY_COMPARE  # compares each threshold with all items of a block
    STRATEGY_SEARCH   # finds each item by binary search in the thresholds
    STRATEGY_BUCKETS  # counts items by bucket, and compares only items in buckets with a threshold
    STRATEGY_PARTS    # distributes items to parts that fit the cache, and searches there
    STRATEGY_THROW    # distributes the relevant items too, and sorts them in the parts

# The sorted distinct scores of the relevant items, and what is needed to count against them. Shared by threads.
cdef struct Index:
    Strategy strategy
    ScoreType type
    Py_ssize_t m
    const void* thresholds  # m thresholds, and one more that is beyond all scores
    const int64_t* hits     # how often each threshold occurs; NULL: once each
    bint whole              # the items are the whole ranking of the thresholds, in a single block
    bint others_only        # only the items that are not relevant are counted
    Buckets buckets         # for STRATEGY_BUCKETS; for STRATEGY_PARTS a bucket is a part
    const uint32_t* first   # how many thresholds come before each part, or before each bucket with a threshold
    # For STRATEGY_BUCKETS:
    const uint32_t* held    # the buckets with a threshold, and one more beyond all
    Py_ssize_t num_held
    const uint32_t* coarse  # how many of these buckets come before each group of 64 buckets,
    const uint8_t* fine     # and from the start of the group to each bucket
    # For STRATEGY_PARTS:
    const Part* parts
    const uint16_t* ranks   # of the slots

# Counts of items against m sorted thresholds: counts[2i] lie between threshold i-1 and i, counts[2i+1] equal
# threshold i, counts[2m] lie above the last. (The arrays have 2m + 2 entries.)
cdef struct Counts:
    const uint32_t* narrow
    const int64_t* wide    # in place of narrow, from 2**32 items up
    const int64_t* hits    # relevant items at each threshold; NULL: one
    Py_ssize_t num_thresholds
    bint others_only       # the relevant items have not been counted
    bint lower_is_better

# The position of a walk down the ranking.
cdef struct Walk:
    Py_ssize_t done        # thresholds passed
    int64_t seen           # items above the next threshold's gap

cdef enum:
    ENDLESS = 1 << 30      # items of a counter of blocks, whose memory is limited

cdef Strategy choose_strategy(ScoreType type, const void* thresholds, Py_ssize_t m, Py_ssize_t n) noexcept nogil
cdef size_t index_size(Strategy strategy, Py_ssize_t m, Py_ssize_t n) noexcept nogil
cdef void build_index(Strategy strategy, ScoreType type, void* thresholds, Py_ssize_t m, Py_ssize_t n, void* memory,
                      Index* index) noexcept nogil
cdef size_t scratch_size(const Index* index, Py_ssize_t n) noexcept nogil
cdef Py_ssize_t good_piece(const Index* index) noexcept nogil
cdef void open_counts(const Index* index, void* scratch) noexcept nogil
cdef void settle_counts(const Index* index, void* scratch, uint32_t* counts) noexcept nogil
cdef bint count_items(const Items* items, Py_ssize_t start, Py_ssize_t stop, const Index* index, void* scratch,
                      uint32_t* counts, Tally* tally) noexcept nogil
cdef Py_ssize_t emit_rows(const Counts* counts, Walk* walk, Py_ssize_t limit, int64_t* above, int64_t* tied,
                          int64_t* hits) noexcept nogil
cdef void emit_scores(const Counts* counts, const void* thresholds, ScoreType type, bint nan_row, void* score) noexcept nogil
