"""Kernels that count items against the sorted scores of the relevant items.

A row of the table needs only the numbers of items with scores above and at each relevant score. So the relevant scores
are sorted (the thresholds), and every other item is counted against them. Counts of disjoint blocks add up.
``count_items`` chooses among the strategies: (thresholds, items) -> counts.

NaN never reaches a comparison: blocks with NaN are first copied without NaN.
"""
from libc.math cimport NAN
from libc.stdint cimport UINT32_MAX, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from hitcurve._kernel.columns cimport (
    BLOCK, NAN_RAISE, SCORE_DOUBLE, SCORE_FLOAT, SCORE_INT64, has_nan, is_nan, load_labels, load_scores, score_size, simd,
)
from hitcurve._kernel.parts cimport (
    CROWDED, IN_SLOTS, LINK, SLOTS, Link, Part, Parts, count_part, cut_into_slots, last_link, lay_map, lay_parts, link_before,
    open_parts, parts_size, throw_typed,
)
from hitcurve._kernel.sort cimport CELLS, Cell, key_of, score_t
from hitcurve._kernel.thresholds cimport (
    ABOVE, OUTSIDE, beyond_all, bucket_of, count_search, find_buckets, may_pack, most_buckets, not_below, spread_scores,
    spread_uppers,
)

# The same loops for AVX2 (see _simd.h).
cdef extern from "_simd.h":
    enum:
        SHORT_MOST  # the most thresholds for which cells compare the items of a block
    bint simd_crowded(const void* thresholds, Py_ssize_t m, bint is_double) noexcept nogil
    void simd_compare_float(const float* thresholds, Py_ssize_t m, const float* x, Py_ssize_t n, bint whole,
                            const int64_t* hits, uint32_t* counts) noexcept nogil
    void simd_compare_double(const double* thresholds, Py_ssize_t m, const double* x, Py_ssize_t n, bint whole,
                             const int64_t* hits, uint32_t* counts) noexcept nogil

cdef extern from "_memory.h":
    void prefetch(const void* memory) noexcept nogil

cdef extern from *:
    bint unlikely(bint) noexcept nogil


# ------------------------------------------------------------------------------------------------------------ counting

cdef inline void count_compare(const Index* index, const score_t* thresholds, const score_t* x, Py_ssize_t n,
                               uint32_t* counts) noexcept nogil:
    """Compares each threshold with all items: two vector comparisons for each item and threshold."""
    cdef Py_ssize_t i, j, m = index.m
    cdef score_t u
    cdef uint32_t below = <uint32_t>n, at_least, above
    cdef int32_t narrow_at_least, narrow_above
    cdef int64_t wide_at_least, wide_above
    if simd:
        if score_t is float:
            simd_compare_float(thresholds, m, x, n, index.whole, index.hits, counts)
            return
        elif score_t is double:
            simd_compare_double(thresholds, m, x, n, index.whole, index.hits, counts)
            return
    for j in range(m):
        u = thresholds[j]
        # Counters are as wide as scores. Otherwise the mask of the comparison would be narrowed at every step.
        if score_t is float:
            narrow_at_least = 0
            narrow_above = 0
            for i in range(n):
                narrow_at_least += x[i] >= u
                narrow_above += x[i] > u
            at_least = <uint32_t>narrow_at_least
            above = <uint32_t>narrow_above
        else:
            wide_at_least = 0
            wide_above = 0
            for i in range(n):
                wide_at_least += x[i] >= u
                wide_above += x[i] > u
            at_least = <uint32_t>wide_at_least
            above = <uint32_t>wide_above
        counts[2 * j] += below - at_least
        counts[2 * j + 1] += at_least - above
        below = above
    counts[2 * m] += below


# Items are counted by bucket, in bytes. Items in a bucket with a threshold are put aside and compared. A single branch,
# which is rarely taken, finds both a full byte and a bucket with a threshold.

cdef struct Held:
    uint8_t* bytes     # the number of items of each bucket, modulo HELD
    uint32_t* full     # the items of each bucket that were counted when its byte was full
    uint8_t* dense     # so many items of the last block were put aside that the items of the next block are compared at once

cdef enum:
    HELD = 0x80         # a byte of at least this value: the bucket holds a threshold
    DENSELY = 6         # if at least one item in so many is put aside, every item is compared, which needs no branch


cdef inline Py_ssize_t step_buckets(const uint32_t* buckets, Py_ssize_t n, const score_t* ahead, uint8_t* bytes,
                                    uint32_t* full, uint16_t* aside) noexcept nogil:
    """Counts items by bucket. Writes the positions of the items in buckets with a threshold, and returns their number."""
    cdef Py_ssize_t i = 0, j, num_aside = 0
    cdef uint32_t bucket
    cdef uint8_t seen
    while i < n:
        prefetch(ahead + i)
        for j in range(i, min(i + 8, n)):
            bucket = buckets[j]
            seen = bytes[bucket]
            bytes[bucket] = seen + 1
            if unlikely(seen >= HELD - 1):
                if seen == HELD - 1:
                    full[bucket] += HELD
                    bytes[bucket] = 0
                else:
                    bytes[bucket] = HELD
                    aside[num_aside] = <uint16_t>j
                    num_aside += 1
        i += 8
    return num_aside


cdef inline void compare_held(const Index* index, const score_t* thresholds, Py_ssize_t held, score_t x,
                              uint32_t* counts) noexcept nogil:
    """Counts a score in a bucket with thresholds. The bucket is the one of this number among these buckets."""
    cdef Py_ssize_t place = index.first[held]
    place += not_below(thresholds + place, index.first[held + 1] - place, x)
    counts[2 * place + (thresholds[place] == x)] += 1


cdef inline void count_buckets(const Index* index, const score_t* thresholds, const score_t* x, Py_ssize_t n,
                               const uint32_t* buckets, const Held* held, uint32_t* counts) noexcept nogil:
    cdef uint16_t aside[BLOCK]
    cdef Py_ssize_t i, k, place, num_aside = 0, inside
    if held.dense[0] and index.num_held == index.m:  # no bucket holds two thresholds
        for i in range(n):
            k = index.coarse[buckets[i] >> 6] + index.fine[buckets[i]]
            inside = index.held[k] == buckets[i]
            num_aside += inside
            place = k + (inside & (thresholds[k] < x[i]))
            counts[2 * place + (inside & (thresholds[place] == x[i]))] += 1
    elif held.dense[0]:
        for i in range(n):
            k = index.coarse[buckets[i] >> 6] + index.fine[buckets[i]]
            if index.held[k] == buckets[i]:
                num_aside += 1
                compare_held(index, thresholds, k, x[i], counts)
            else:
                counts[2 * <size_t>index.first[k]] += 1
    else:
        num_aside = step_buckets(buckets, n, x + n, held.bytes, held.full, aside)
        for i in range(num_aside):
            k = buckets[aside[i]]
            compare_held(index, thresholds, index.coarse[k >> 6] + index.fine[k], x[aside[i]], counts)
    held.dense[0] = num_aside * DENSELY > n


cdef inline Held held_in(const Index* index, void* scratch) noexcept nogil:
    """The counts of buckets in the scratch, which keeps them from call to call."""
    cdef Held held
    cdef uint32_t number = index.buckets.number + OUTSIDE
    held.full = <uint32_t*>(<char*>scratch + (BLOCK + 1) * 8)
    held.bytes = <uint8_t*>(held.full + number)
    held.dense = held.bytes + number
    return held


cdef void open_counts(const Index* index, void* scratch) noexcept nogil:
    """Prepares the scratch for any number of calls of count_items."""
    cdef Held held
    cdef Py_ssize_t k
    if index.strategy == STRATEGY_BUCKETS:
        held = held_in(index, scratch)
        memset(held.full, 0, (index.buckets.number + OUTSIDE) * (sizeof(uint32_t) + 1) + 1)
        for k in range(index.num_held):
            held.bytes[index.held[k]] = HELD


cdef void settle_counts(const Index* index, void* scratch, uint32_t* counts) noexcept nogil:
    """Adds the counts in the scratch to `counts`. The scratch is then as after open_counts."""
    cdef Held held
    cdef uint32_t bucket, stop, start = 0, items
    cdef Py_ssize_t k
    if index.strategy == STRATEGY_BUCKETS:
        held = held_in(index, scratch)
        for k in range(index.num_held + 1):
            stop = min(index.held[k], index.buckets.number + OUTSIDE)
            items = 0
            for bucket in range(start, stop):
                items += held.full[bucket]
            for bucket in range(start, stop):
                items += held.bytes[bucket]
            counts[2 * <size_t>index.first[k]] += items
            if stop > start:
                memset(held.full + start, 0, (stop - start) * sizeof(uint32_t))
                memset(held.bytes + start, 0, stop - start)
            start = stop + 1  # the items of the bucket between were compared
        held.dense[0] = False


cdef inline void count_parts(const Index* index, const score_t* thresholds, Parts* parts, uint32_t* counts) noexcept nogil:
    """Counts the items in the parts, and empties the parts."""
    cdef const score_t* items = <const score_t*>parts.items
    cdef const Part* inside
    cdef Link link
    cdef Py_ssize_t first, m
    cdef uint32_t part, number = index.buckets.number
    for part in range(number + OUTSIDE):
        first = m = 0
        if part >= number + ABOVE:
            first = index.m
        elif part >= ABOVE:
            first = index.first[part - ABOVE]
            m = index.first[part - ABOVE + 1] - first
        last_link(parts, part, &link)
        while True:
            if m == 0:
                counts[2 * first] += link.end - link.begin
            else:
                inside = &index.parts[part - ABOVE]
                count_part(inside, index.ranks + inside.first, thresholds + first, m, items + link.begin,
                           link.end - link.begin, items + parts.before[link.block] * LINK, counts + 2 * first)
            if not link_before(parts, part, &link):
                break
    open_parts(parts, number + OUTSIDE)


# --- The cost model. benchmarks/strategies.py prints the milliseconds for ten million items at each number of thresholds;
# on another machine, run it again. Only the crossings of the lines matter. The cost of comparing grows with the number of
# thresholds, the cost of searching with its logarithm. Buckets cost the same for any number until they exceed the
# second-level cache. Parts cost the same for any number, except for sorting the thresholds.

cdef enum:
    # Comparing is the fastest up to so many thresholds: with vector comparisons, without them, for integers.
    COMPARE_VECTORS = 32
    COMPARE_FLOAT = 16
    COMPARE_DOUBLE = 6
    COMPARE_INT64 = 3
    COMPARE_SHORT = 1 << 16  # up to so many items, buckets cost more than comparing with SHORT_MOST thresholds
    COMPARE_ANYHOW = 8       # up to so many thresholds, crowded thresholds are compared too
    TOGETHER_MOST = 8        # the most thresholds in a bucket for which a map for simd_buckets is good
    BUCKETS_FEW = 20         # buckets for each threshold, up to so many thresholds
    BUCKETS_MANY = 8         # for more thresholds, as long as the buckets fit a cache
    BUCKETS_LEAST = 4
    MANY = 4096
    PARTS_FROM = 80_000      # from so many thresholds on, buckets do not fit a cache
    PART = 512               # the least number of thresholds of a part
    PARTS = 256              # about the number of parts: distributing to more parts takes longer
    MOST_IN_PART = 8192      # more thresholds in a part miss the cache: then there are more parts
    MOST_PARTS = 2048
    PARTS_CELLS = 1024       # the most cells of their map with blocks: each cell is at least one part, and a part has memory
    SEARCH_ITEMS = 32        # making buckets pays off from so many items for each threshold
    SLOTS_FROM = 8           # parts are cut into slots from so many items for each threshold


cdef inline bint vectors_compare(ScoreType type, const void* thresholds, Py_ssize_t m, Py_ssize_t n) noexcept nogil:
    """Whether vector comparisons with all m thresholds are the fastest way to count n items."""
    if m > (SHORT_MOST if n < COMPARE_SHORT else <Py_ssize_t>COMPARE_VECTORS):
        return False
    return m <= COMPARE_ANYHOW or n < 4 * CELLS or not simd_crowded(thresholds, m, type == SCORE_DOUBLE)


cdef Strategy choose_strategy(ScoreType type, const void* thresholds, Py_ssize_t m, Py_ssize_t n) noexcept nogil:
    """The fastest way to count n items against m sorted distinct thresholds."""
    if simd and type != SCORE_INT64:
        if vectors_compare(type, thresholds, m, n):
            return STRATEGY_COMPARE
    elif m <= (COMPARE_FLOAT if type == SCORE_FLOAT else COMPARE_DOUBLE if type == SCORE_DOUBLE else COMPARE_INT64):
        return STRATEGY_COMPARE
    if m >> 32 > 0:
        return STRATEGY_SEARCH  # the other strategies number the thresholds in 32 bits
    if m >= PARTS_FROM or (m >= MANY and m > n // 5 * 2):
        return STRATEGY_PARTS
    if n < m * SEARCH_ITEMS or n < 4 * CELLS:
        return STRATEGY_SEARCH
    return STRATEGY_BUCKETS


cdef inline bint wants_slots(Strategy strategy, Py_ssize_t m, Py_ssize_t n) noexcept nogil:
    return strategy == STRATEGY_PARTS and n // SLOTS_FROM >= m


cdef uint32_t wanted_buckets(Strategy strategy, Py_ssize_t m, Py_ssize_t n) noexcept nogil:
    if strategy == STRATEGY_BUCKETS:
        if m <= MANY:
            return <uint32_t>(BUCKETS_FEW * m)
        return <uint32_t>max(BUCKETS_LEAST * m, min(BUCKETS_MANY * m, <Py_ssize_t>1 << 19))
    if wants_slots(strategy, m, n):
        return <uint32_t>max(1, min(m // PART, max(PARTS, min(MOST_PARTS, m // MOST_IN_PART))))
    return <uint32_t>max(1, min(MOST_PARTS, m // PART))


cdef inline size_t num_ranks(Py_ssize_t m, size_t most) noexcept nogil:
    """The most slots of so many parts: a multiple of 4."""
    return 2 * SLOTS * <size_t>m + most + 4 & ~<size_t>3


cdef size_t index_size(Strategy strategy, Py_ssize_t m, Py_ssize_t n) noexcept nogil:
    """The bytes that build_index needs."""
    cdef size_t most, size
    if strategy < STRATEGY_BUCKETS or m == 0:
        return 0
    most = most_buckets(wanted_buckets(strategy, m, n))
    size = (CELLS + 2) * (sizeof(Cell) + sizeof(uint32_t))
    if strategy == STRATEGY_BUCKETS:
        return size + (most + 3 & ~<size_t>3) + 2 * (<size_t>m + 1) * sizeof(uint32_t) + (most // 64 + 1) * sizeof(uint32_t)
    if wants_slots(strategy, m, n):
        size += num_ranks(m, most) * sizeof(uint16_t)
    return size + (most + 1) * sizeof(uint32_t) + most * sizeof(Part)


cdef inline void build_typed(Index* index, score_t* thresholds, Py_ssize_t n, void* memory) noexcept nogil:
    cdef Cell* cells = <Cell*>memory
    cdef uint32_t* packed = <uint32_t*>(cells + CELLS + 2)
    # An item above all thresholds is compared with this threshold: they are not equal, or in a part it is not below.
    thresholds[index.m] = beyond_all(<const score_t*>thresholds, index.strategy == STRATEGY_PARTS)
    index.buckets.packed = NULL
    if index.strategy == STRATEGY_BUCKETS:
        build_buckets(index, <const score_t*>thresholds, wanted_buckets(index.strategy, index.m, n), cells, packed)
    elif index.strategy == STRATEGY_PARTS:
        build_parts(index, <const score_t*>thresholds, wanted_buckets(index.strategy, index.m, n),
                    PARTS_CELLS if n >= ENDLESS else CELLS, wants_slots(index.strategy, index.m, n), cells, packed)


cdef inline uint32_t hold_buckets(Index* index, const score_t* thresholds, uint32_t* held, uint32_t* first) noexcept nogil:
    """Lists the buckets with thresholds. Returns the most thresholds in a bucket."""
    cdef uint32_t bucket, longest = 0
    cdef Py_ssize_t i
    index.num_held = 0
    for i in range(index.m):
        bucket = bucket_of(&index.buckets, key_of(thresholds[i]))
        if index.num_held == 0 or held[index.num_held - 1] != bucket:
            held[index.num_held] = bucket
            first[index.num_held] = <uint32_t>i
            index.num_held += 1
        longest = max(longest, <uint32_t>(i + 1 - first[index.num_held - 1]))
    held[index.num_held] = UINT32_MAX
    first[index.num_held] = <uint32_t>index.m
    return longest


cdef inline void build_buckets(Index* index, const score_t* thresholds, uint32_t wanted, Cell* cells,
                               uint32_t* packed) noexcept nogil:
    cdef uint8_t* fine = <uint8_t*>(packed + CELLS + 2)  # a byte for each bucket: more than 8 for each threshold
    cdef int64_t* uppers = <int64_t*>fine
    cdef uint32_t* held = <uint32_t*>(fine + (most_buckets(wanted) + 3 & ~<size_t>3))
    cdef uint32_t* first = held + index.m + 1
    cdef uint32_t* coarse = first + index.m + 1
    cdef uint32_t bucket = 0, stop, longest = UINT32_MAX, k = 0, before = 0
    if may_pack(wanted, thresholds):
        spread_uppers(&index.buckets, thresholds, index.m, wanted, CELLS, uppers, cells, packed)
        longest = hold_buckets(index, thresholds, held, first)
    if longest > TOGETHER_MOST:
        spread_scores(&index.buckets, thresholds, index.m, wanted, CELLS, cells)
        hold_buckets(index, thresholds, held, first)
    while bucket < index.buckets.number + OUTSIDE:
        if bucket % 64 == 0:
            before = k
            coarse[bucket // 64] = k
        # The buckets up to the next that holds a threshold, itself included, or to the next multiple of 64.
        stop = min(min(held[k], (bucket | 63)) + 1, index.buckets.number + OUTSIDE)
        memset(fine + bucket, <int>(k - before), stop - bucket)
        k += held[k] == stop - 1
        bucket = stop
    index.held = held
    index.first = first
    index.coarse = coarse
    index.fine = fine


cdef inline uint32_t begin_parts(const Index* index, const score_t* thresholds, uint32_t* first) noexcept nogil:
    """Writes how many thresholds come before each part. Returns the most thresholds in a part."""
    cdef uint32_t part = 0, place, longest = 0
    cdef Py_ssize_t i
    first[0] = 0
    for i in range(index.m + 1):
        place = index.buckets.number
        if i < index.m:
            place = min(max(bucket_of(&index.buckets, key_of(thresholds[i])), <uint32_t>ABOVE) - ABOVE, index.buckets.number)
        while part < place:
            part += 1
            first[part] = <uint32_t>i
            longest = max(longest, first[part] - first[part - 1])
    return longest


cdef inline void build_parts(Index* index, const score_t* thresholds, uint32_t wanted, Py_ssize_t most_cells, bint slots,
                             Cell* cells, uint32_t* packed) noexcept nogil:
    cdef uint16_t* ranks = <uint16_t*>(packed + CELLS + 2)
    cdef Part* parts = <Part*>ranks
    cdef uint32_t* first
    cdef uint32_t longest = UINT32_MAX
    if slots:
        parts = <Part*>(ranks + num_ranks(index.m, most_buckets(wanted)))
    if slots and may_pack(wanted, thresholds):
        spread_uppers(&index.buckets, thresholds, index.m, wanted, most_cells, <int64_t*>ranks, cells, packed)
        first = <uint32_t*>(parts + index.buckets.number)
        longest = begin_parts(index, thresholds, first)
    if longest >= min(<uint32_t>IN_SLOTS, <uint32_t>(index.m // CROWDED)):
        spread_scores(&index.buckets, thresholds, index.m, wanted, most_cells, cells)
        first = <uint32_t*>(parts + index.buckets.number)
        begin_parts(index, thresholds, first)
    index.first = first
    index.parts = parts
    index.ranks = ranks
    cut_parts(index, thresholds, slots, parts, ranks)


cdef inline void cut_parts(const Index* index, const score_t* thresholds, bint wanted, Part* parts,
                           uint16_t* ranks) noexcept nogil:
    """Cuts each part into slots, if wanted."""
    cdef Part* part
    cdef Py_ssize_t i, start, stop
    cdef uint64_t slot, at
    cdef uint32_t number
    cdef size_t used = 0
    lay_map(&index.buckets, parts)
    for number in range(index.buckets.number):
        part = parts + number
        start = index.first[number]
        stop = index.first[number + 1]
        part.first = used
        if wanted and 0 < stop - start < IN_SLOTS:
            cut_into_slots(part, stop - start)
            slot = 0
            for i in range(start, stop):
                at = min((key_of(thresholds[i]) - part.least) >> part.shift, <uint64_t>part.slots - 1)
                while slot <= at:
                    ranks[used + slot] = <uint16_t>(i - start)
                    slot += 1
            while slot <= part.slots:
                ranks[used + slot] = <uint16_t>(stop - start)
                slot += 1
            used += part.slots + 1


cdef void build_index(Strategy strategy, ScoreType type, void* thresholds, Py_ssize_t m, Py_ssize_t n, void* memory,
                      Index* index) noexcept nogil:
    """Builds the index of m sorted distinct thresholds for count_items with at least n items. Writes one more threshold.

    The memory is index_size(...) bytes.
    """
    index.strategy = strategy if m > 0 else STRATEGY_SEARCH
    index.type = type
    index.m = m
    index.thresholds = thresholds
    index.hits = NULL
    index.whole = False
    index.others_only = False
    if type == SCORE_FLOAT:
        build_typed(index, <float*>thresholds, n, memory)
    elif type == SCORE_DOUBLE:
        build_typed(index, <double*>thresholds, n, memory)
    else:
        build_typed(index, <int64_t*>thresholds, n, memory)


cdef inline Py_ssize_t chunk_size(const Index* index, Py_ssize_t n) noexcept nogil:
    """How many items are distributed to parts together: enough that a pass over all thresholds pays off, but few enough
    to need little memory."""
    return min(n, max(min(2 * index.m, max(n // 3, <Py_ssize_t>1 << 20)), <Py_ssize_t>1 << 18)) + BLOCK


cdef size_t scratch_size(const Index* index, Py_ssize_t n) noexcept nogil:
    """The bytes of scratch that count_items needs for n items."""
    cdef size_t scores = (BLOCK + 1) * 8
    if index.strategy == STRATEGY_BUCKETS:
        scores += (index.buckets.number + OUTSIDE) * (sizeof(uint32_t) + 1) + 1
    elif index.strategy == STRATEGY_PARTS:
        scores += parts_size(chunk_size(index, n), index.buckets.number + OUTSIDE, score_size(index.type))
    return scores


cdef Py_ssize_t good_piece(const Index* index) noexcept nogil:
    """The least number of items for a call: with fewer items, most time goes into passes over the thresholds."""
    return 2 * index.m if index.strategy == STRATEGY_PARTS else 0


cdef bint count_typed(const Items* items, Py_ssize_t start, Py_ssize_t stop, const Index* index,
                      const score_t* thresholds, char* scratch, uint32_t* counts, Tally* tally) noexcept nogil:
    cdef uint8_t flags[BLOCK]
    cdef const uint8_t* label = NULL
    cdef const score_t* x
    cdef score_t* to = <score_t*>scratch
    cdef uint32_t buckets[BLOCK + 8]
    cdef Held held
    cdef Parts parts
    cdef Py_ssize_t i, kept, n, m = index.m, thrown = 0, full = 0
    cdef Strategy strategy = index.strategy
    cdef bint whole
    memset(&held, 0, sizeof(Held))
    memset(&parts, 0, sizeof(Parts))
    if strategy == STRATEGY_BUCKETS:
        held = held_in(index, scratch)
    elif strategy == STRATEGY_PARTS:
        full = chunk_size(index, stop - start) - BLOCK
        lay_parts(scratch + (BLOCK + 1) * 8, full + BLOCK, index.buckets.number + OUTSIDE, sizeof(score_t), &parts)
    while start < stop:
        n = min(stop - start, BLOCK)
        x = load_scores(&items.score, start, n, to)
        if strategy == STRATEGY_PARTS and x is not to:
            memcpy(to, x, n * sizeof(score_t))  # another thread may write to x, but an item must be in its part
            x = to
        if strategy == STRATEGY_BUCKETS:
            whole = not find_buckets(&index.buckets, x, n, tally.no_nan, buckets)
        else:
            whole = tally.no_nan or not has_nan(x, n)
        if not whole and items.nan_policy == NAN_RAISE:
            for i in range(n):
                if is_nan(x[i]):
                    tally.bad_score = start + i
                    break
            return False
        kept = 0
        if index.others_only:
            label = load_labels(&items.label, start, n, flags)
            for i in range(n):
                if whole or not is_nan(x[i]):
                    to[kept] = x[i]
                    kept += label[i] == 0
                elif label[i] == 0:
                    tally.nan_items += 1
            x = to
        elif whole:
            kept = n
        else:
            for i in range(n):
                to[kept] = x[i]
                kept += not is_nan(x[i])
            tally.nan_items += n - kept
            x = to
        start += n
        if strategy == STRATEGY_COMPARE:
            count_compare(index, thresholds, x, kept, counts)
        elif strategy == STRATEGY_SEARCH:
            count_search(thresholds, m, x, kept, counts)
        elif strategy == STRATEGY_BUCKETS:
            if not whole:  # even if all are kept: another thread may have replaced a NaN, and no bucket was written
                find_buckets(&index.buckets, x, kept, True, buckets)
            count_buckets(index, thresholds, x, kept, buckets, &held, counts)
        else:
            find_buckets(&index.buckets, x, kept, True, buckets)
            throw_typed(buckets, x, kept, items.score.data + start * items.score.stride, items.score.stride, &parts)
            thrown += kept
            if thrown >= full or start == stop:
                count_parts(index, thresholds, &parts, counts)
                thrown = 0
    return True


cdef bint count_items(const Items* items, Py_ssize_t start, Py_ssize_t stop, const Index* index, void* scratch,
                      uint32_t* counts, Tally* tally) noexcept nogil:
    """Adds the items from start to stop to the counts. False if there is a NaN that is not allowed.

    The scratch has ``scratch_size(index, stop - start)`` bytes, which open_counts has prepared; settle_counts adds its
    counts at the end. There are 2 * m + 2 counts, which must stay below 2**32.
    """
    if items.type == SCORE_FLOAT:
        return count_typed(items, start, stop, index, <const float*>index.thresholds, <char*>scratch, counts, tally)
    if items.type == SCORE_DOUBLE:
        return count_typed(items, start, stop, index, <const double*>index.thresholds, <char*>scratch, counts, tally)
    return count_typed(items, start, stop, index, <const int64_t*>index.thresholds, <char*>scratch, counts, tally)


# ---------------------------------------------------------------------------------------------------------------- rows

ctypedef fused count_t:
    uint32_t
    int64_t


cdef inline void emit_typed(const Counts* counts, const count_t* count, Walk* walk, Py_ssize_t rows, int64_t* above,
                            int64_t* tied, int64_t* hits) noexcept nogil:
    """Makes each row from the counts at a threshold and in the gap before it."""
    cdef Py_ssize_t i, t, step, gap
    cdef int64_t seen = walk.seen, items, relevant = 1, added = counts.others_only
    if counts.lower_is_better:
        t = walk.done
        step = 1
        gap = 0
    else:
        t = counts.num_thresholds - 1 - walk.done
        step = -1
        gap = 2
    if counts.hits is NULL:
        for i in range(rows):
            seen += count[2 * t + gap]
            items = count[2 * t + 1] + added
            above[i] = seen
            tied[i] = items
            hits[i] = 1
            seen += items
            t += step
    else:
        for i in range(rows):
            relevant = counts.hits[t]
            seen += count[2 * t + gap]
            items = count[2 * t + 1] + added * relevant
            above[i] = seen
            tied[i] = items
            hits[i] = relevant
            seen += items
            t += step
    walk.seen = seen


cdef Py_ssize_t emit_rows(const Counts* counts, Walk* walk, Py_ssize_t limit, int64_t* above, int64_t* tied,
                          int64_t* hits) noexcept nogil:
    """Writes the next rows of the table, best first, at most `limit`. Returns their number."""
    cdef Py_ssize_t rows = max(0, min(limit, counts.num_thresholds - walk.done))
    if counts.wide is NULL:
        emit_typed(counts, counts.narrow, walk, rows, above, tied, hits)
    else:
        emit_typed(counts, counts.wide, walk, rows, above, tied, hits)
    walk.done += rows
    return rows


cdef inline void scores_typed(const Counts* counts, const score_t* thresholds, bint nan_row, score_t* score) noexcept nogil:
    cdef Py_ssize_t i, m = counts.num_thresholds
    for i in range(m):
        score[i] = thresholds[i if counts.lower_is_better else m - 1 - i] + 0  # -0.0 becomes 0.0
    if score_t is not int64_t:
        if nan_row:
            score[m] = <score_t>NAN


cdef void emit_scores(const Counts* counts, const void* thresholds, ScoreType type, bint nan_row, void* score) noexcept nogil:
    """Writes the score of each row, best first. The last row has NaN if NaN scores are ranked."""
    if type == SCORE_FLOAT:
        scores_typed(counts, <const float*>thresholds, nan_row, <float*>score)
    elif type == SCORE_DOUBLE:
        scores_typed(counts, <const double*>thresholds, nan_row, <double*>score)
    else:
        scores_typed(counts, <const int64_t*>thresholds, nan_row, <int64_t*>score)
