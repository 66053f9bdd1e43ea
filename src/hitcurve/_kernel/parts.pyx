"""Items are distributed to parts by their score, and counted part by part, in the first caches.

A part has some hundreds or thousands of thresholds. Its items are in a chain of blocks. If it pays off, a part is cut
into slots, so that few slots have more than one threshold.
"""
from libc.stdint cimport UINT32_MAX, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from hitcurve._kernel.columns cimport (
    BLOCK, NAN_RAISE, SCORE_DOUBLE, SCORE_FLOAT, Items, Tally, is_nan, load_labels, load_scores, score_size, simd,
)
from hitcurve._kernel.sort cimport CELLS, Cell, key_of, lay_small, sample_place, score_t, sort_typed
from hitcurve._kernel.thresholds cimport (
    ABOVE, OUTSIDE, beyond_all, bucket_of, count_search, distinct_typed, find_buckets, keep_typed, may_pack, most_buckets,
    not_below, spread_scores, spread_uppers,
)

# The same loop for AVX2 (see _simd.h).
cdef extern from "_simd.h":
    void simd_slots(const void* x, Py_ssize_t n, bint is_double, int64_t least, uint32_t shift, uint32_t* slots) noexcept nogil

cdef extern from "_memory.h":
    void prefetch(const void* memory) noexcept nogil

cdef extern from *:
    bint unlikely(bint) noexcept nogil


cdef inline size_t num_blocks(Py_ssize_t n, uint32_t number) noexcept nogil:
    return <size_t>n // LINK + 2 * number + 1


cdef size_t parts_size(Py_ssize_t n, uint32_t number, size_t size) noexcept nogil:
    """The bytes for n items of a size in so many parts."""
    return num_blocks(n, number) * (LINK * size + sizeof(uint32_t)) + number * sizeof(uint32_t)


cdef void lay_parts(void* memory, Py_ssize_t n, uint32_t number, size_t size, Parts* parts) noexcept nogil:
    """Makes empty parts in memory of parts_size(...) bytes."""
    parts.items = memory
    parts.before = <uint32_t*>(<char*>memory + num_blocks(n, number) * LINK * size)
    parts.place = parts.before + num_blocks(n, number)
    open_parts(parts, number)


cdef void open_parts(Parts* parts, uint32_t number) noexcept nogil:
    cdef uint32_t part
    for part in range(number):
        parts.before[part] = part
        parts.place[part] = first_place(part)
    parts.used = number


cdef void throw_typed(const uint32_t* part_of, const score_t* x, Py_ssize_t n, const char* ahead, Py_ssize_t stride,
                      Parts* parts) noexcept nogil:
    """Distributes n items to parts, and meanwhile prefetches the next items, which are so far apart."""
    cdef score_t* items = <score_t*>parts.items
    cdef uint32_t* places = parts.place
    cdef uint32_t part, place
    cdef Py_ssize_t i
    for i in range(n):
        if i % 8 == 0:
            prefetch(ahead + i * stride)
        part = part_of[i]
        place = places[part]
        items[place] = x[i]
        place += 1
        if unlikely(place % LINK == 0):
            parts.before[parts.used] = place // LINK - 1
            place = parts.used * LINK
            parts.used += 1
        places[part] = place


cdef void lay_map(const Buckets* buckets, Part* part) noexcept nogil:
    """Makes the parts of a map. They have no slots yet, and the shift of the whole part."""
    cdef uint64_t key = buckets.least
    cdef uint32_t cell, _inside
    for cell in range(buckets.num_cells):
        for _inside in range(<uint32_t>1 << (buckets.shift - buckets.cells[cell].shift)):
            part[0] = Part(key, 0, buckets.cells[cell].shift, 0)
            key += <uint64_t>1 << part.shift
            part += 1


cdef void cut_into_slots(Part* part, Py_ssize_t thresholds) noexcept nogil:
    """Cuts a part with so many thresholds (below IN_SLOTS) into SLOTS to 2 SLOTS for each, at most 2**16 slots."""
    cdef uint32_t bits = 0
    while bits < part.shift and (<Py_ssize_t>1 << bits) < SLOTS * thresholds:
        bits += 1
    part.shift -= bits
    part.slots = <uint32_t>1 << bits


cdef inline void find_slots(const Part* part, const score_t* x, Py_ssize_t n, uint32_t* slots) noexcept nogil:
    """Writes the slot of each score of a part, and up to 7 elements beyond."""
    cdef Py_ssize_t i
    if simd and score_t is not int64_t:
        simd_slots(x, n, score_t is double, <int64_t>(part.least ^ <uint64_t>1 << 63), part.shift, slots)
    else:
        for i in range(n):
            slots[i] = <uint32_t>((key_of(x[i]) - part.least) >> part.shift)


cdef void count_part(const Part* part, const uint16_t* rank, const score_t* thresholds, Py_ssize_t m, const score_t* x,
                     Py_ssize_t n, const score_t* next_block, uint32_t* counts) noexcept nogil:
    """Counts each item by its slot, which has the number of thresholds of the part before it."""
    cdef uint32_t slots[LINK + 8]
    cdef Py_ssize_t i, place
    if part.slots == 0:
        count_search(thresholds, m, x, n, counts)
        return
    for i in range(0, LINK * <Py_ssize_t>sizeof(score_t), 64):
        prefetch(<const char*>next_block + i)
    find_slots(part, x, n, slots)
    for i in range(n):
        place = rank[slots[i]]
        place += thresholds[place] < x[i]
        if unlikely(thresholds[place] < x[i]):  # the slot has a second threshold
            place += not_below(thresholds + place, rank[slots[i] + 1] - place, x[i])
        # The threshold is not below x, so "at most" means "equal", and is cheaper.
        counts[2 * place + (thresholds[place] <= x[i])] += 1


# ------------------------------------------------------------------------------------------ a ranking thrown as a whole
# If many items are relevant, sorting them, and counting against them, exceeds the caches. So they are distributed to parts
# as the other items are, by a map of a sample, and sorted part by part.

cdef enum:
    THROW_FROM = 80_000   # this pays off from so many relevant items,
    THROW_ITEMS = 24      # with at most so many items for each relevant item
    SAMPLED = 4096        # the size of the sample for the map
    IN_PART = 16384       # the wanted number of relevant items of a part, if distributed as all items
    PARTS_LEAST = 128     # the least number of parts
    PARTS_MOST = 512
    SAME = 8              # if less than 1 / SAME of the sample is distinct, sorting all scores costs little


cdef bint pays_throwing(Py_ssize_t relevant, Py_ssize_t n) noexcept nogil:
    return relevant >= THROW_FROM and n // THROW_ITEMS <= relevant


cdef inline uint32_t wanted_parts(Py_ssize_t relevant) noexcept nogil:
    return <uint32_t>max(PARTS_LEAST, min(PARTS_MOST, relevant // IN_PART))


cdef size_t part_map_size(Py_ssize_t relevant) noexcept nogil:
    """The bytes that build_part_map needs."""
    return ((CELLS + 2) * (sizeof(Cell) + sizeof(uint32_t)) + 2 * SAMPLED * sizeof(int64_t)
            + most_buckets(wanted_parts(relevant)) * sizeof(Part))


cdef inline Py_ssize_t sample_typed(const Items* items, score_t* sample) noexcept nogil:
    """Samples scores from the whole ranking, at least one score."""
    cdef score_t room
    cdef Py_ssize_t i, found = 0, wanted = min(SAMPLED, items.n)
    for i in range(wanted):
        sample[found] = load_scores(&items.score, sample_place(i, wanted, items.n), 1, &room)[0]
        found += not is_nan(sample[found])
    if found == 0:
        sample[0] = 0
    return max(found, 1)


cdef inline uint32_t most_alike(const Buckets* buckets, const score_t* sorted_scores, Py_ssize_t n) noexcept nogil:
    """The most scores in a bucket."""
    cdef uint32_t bucket, last = UINT32_MAX, alike = 0, most = 0
    cdef Py_ssize_t i
    for i in range(n):
        bucket = bucket_of(buckets, key_of(sorted_scores[i]))
        alike = alike + 1 if bucket == last else 1
        last = bucket
        most = max(most, alike)
    return most


cdef inline bint build_map_typed(const Items* items, uint32_t wanted, score_t* sample, Cell* cells, uint32_t* packed,
                                 PartMap* map) noexcept nogil:
    cdef score_t* scratch = sample + SAMPLED
    cdef Py_ssize_t n = sample_typed(items, sample), distinct
    cdef uint32_t alike = UINT32_MAX
    sort_typed(sample, n, scratch)
    distinct = distinct_typed(<const score_t*>sample, n)
    if may_pack(wanted, <const score_t*>sample):
        spread_uppers(&map.buckets, <const score_t*>sample, n, wanted, CELLS, <int64_t*>scratch, cells, packed)
        alike = most_alike(&map.buckets, <const score_t*>sample, n)
    if alike > n // CROWDED:
        spread_scores(&map.buckets, <const score_t*>sample, n, wanted, CELLS, cells)
        if alike <= 2 * most_alike(&map.buckets, <const score_t*>sample, n):
            spread_uppers(&map.buckets, <const score_t*>sample, n, wanted, CELLS, <int64_t*>scratch, cells, packed)
    return distinct > SAMPLED // SAME


cdef bint build_part_map(const Items* items, Py_ssize_t relevant, void* memory, PartMap* map) noexcept nogil:
    """Makes the map for items with so many relevant items. False if too few scores differ for this to pay off."""
    cdef Cell* cells = <Cell*>memory
    cdef uint32_t* packed = <uint32_t*>(cells + CELLS + 2)
    cdef int64_t* sample = <int64_t*>(packed + CELLS + 2)
    cdef Part* parts = <Part*>(sample + 2 * SAMPLED)
    cdef uint32_t wanted = wanted_parts(relevant)
    cdef bint differ
    map.type = items.type
    map.parts = parts
    if items.type == SCORE_FLOAT:
        differ = build_map_typed(items, wanted, <float*>sample, cells, packed, map)
    elif items.type == SCORE_DOUBLE:
        differ = build_map_typed(items, wanted, <double*>sample, cells, packed, map)
    else:
        differ = build_map_typed(items, wanted, sample, cells, packed, map)
    map.number = map.buckets.number + OUTSIDE
    lay_map(&map.buckets, parts)
    return differ


cdef size_t thrown_size(const PartMap* map, Py_ssize_t n) noexcept nogil:
    return parts_size(n, 2 * map.number, score_size(map.type))


cdef void open_thrown(const PartMap* map, Py_ssize_t n, void* memory, Parts* thrown) noexcept nogil:
    """Prepares parts for n items, in memory of thrown_size(...) bytes."""
    lay_parts(memory, n, 2 * map.number, score_size(map.type), thrown)


cdef bint throw_scores_typed(const Items* items, Py_ssize_t start, Py_ssize_t stop, const PartMap* map, const score_t* type,
                             Parts* thrown, Tally* tally) noexcept nogil:
    cdef uint8_t flags[BLOCK]
    cdef score_t scores[BLOCK]
    cdef uint32_t streams[BLOCK + 8]
    cdef const uint8_t* label
    cdef const score_t* x
    cdef Py_ssize_t i, n, kept
    while start < stop:
        n = min(stop - start, BLOCK)
        x = load_scores(&items.score, start, n, scores)
        if x is not scores:
            memcpy(scores, x, n * sizeof(score_t))  # another thread may write to x, but an item must be in its part
        label = load_labels(&items.label, start, n, flags)
        kept = n
        if find_buckets(&map.buckets, <const score_t*>scores, n, False, streams):
            kept = 0
            for i in range(n):
                if not is_nan(scores[i]):
                    scores[kept] = scores[i]
                    flags[kept] = label[i]
                    kept += 1
                elif items.nan_policy == NAN_RAISE:
                    tally.bad_score = start + i
                    return False
                elif label[i] != 0:
                    tally.nan_hits += 1
                else:
                    tally.nan_items += 1
            label = flags
            find_buckets(&map.buckets, <const score_t*>scores, kept, True, streams)
        for i in range(kept):
            streams[i] = 2 * streams[i] + (label[i] != 0)
        start += n
        throw_typed(streams, <const score_t*>scores, kept, items.score.data + start * items.score.stride,
                    items.score.stride, thrown)
    return True


cdef bint throw_scores(const Items* items, Py_ssize_t start, Py_ssize_t stop, const PartMap* map, Parts* thrown,
                       Tally* tally) noexcept nogil:
    """Distributes the items from start to stop. False if a NaN is not allowed. Allowed NaN are only counted."""
    if items.type == SCORE_FLOAT:
        return throw_scores_typed(items, start, stop, map, <const float*>NULL, thrown, tally)
    if items.type == SCORE_DOUBLE:
        return throw_scores_typed(items, start, stop, map, <const double*>NULL, thrown, tally)
    return throw_scores_typed(items, start, stop, map, <const int64_t*>NULL, thrown, tally)


cdef Py_ssize_t thrown_items(const Parts* thrown, uint32_t stream) noexcept nogil:
    cdef Link link
    cdef Py_ssize_t n
    last_link(thrown, stream, &link)
    n = link.end - link.begin
    while link_before(thrown, stream, &link):
        n += link.end - link.begin
    return n


cdef size_t counted_size(Py_ssize_t relevant) noexcept nogil:
    """The bytes that count_thrown needs for a part with so many relevant items."""
    return ((2 * <size_t>relevant + 2) * (sizeof(int64_t) + sizeof(uint32_t)) + (relevant + 4) * sizeof(uint16_t)
            + (2 * SLOTS * <size_t>relevant + 4) * sizeof(uint16_t))


cdef inline void keep_slots(score_t* scores, Py_ssize_t n, const Part* part, uint16_t* ranks, uint16_t* distinct,
                            int64_t* hits) noexcept nogil:
    """Keeps each of the sorted scores once, and changes the starts of the slots to positions among the distinct scores.

    ``distinct`` has space for n + 1 scores. Equal scores are in the same slot.
    """
    cdef Py_ssize_t i, slot, m = 0
    cdef bint fresh
    cdef score_t last = scores[0]
    for i in range(n):
        distinct[i] = <uint16_t>m
        fresh = (i == 0) | (scores[i] != last)
        last = scores[i]
        m += fresh
        scores[m - 1] = last
        hits[m - 1] = (hits[m - 1] & <int64_t>fresh - 1) + 1
    distinct[n] = <uint16_t>m
    for slot in range(<Py_ssize_t>part.slots + 1):
        ranks[slot] = distinct[ranks[slot]]


cdef inline void count_thrown_typed(const PartMap* map, const Parts* thrown, Py_ssize_t workers, uint32_t number,
                                    score_t* scores, Counted* counted) noexcept nogil:
    cdef Part part
    cdef Link link
    cdef uint32_t slots[LINK + 8]
    cdef Py_ssize_t n = 0, m, i, w
    cdef score_t* loose
    cdef uint32_t* counts
    cdef uint16_t* place
    cdef uint16_t* ranks
    cdef const score_t* items
    for w in range(workers):
        n += thrown_items(&thrown[w], 2 * number + 1)
    counts = <uint32_t*>(<int64_t*>scores + n + 1)
    loose = <score_t*>(counts + 2 * n + 2)
    place = <uint16_t*>(<int64_t*>loose + n + 1)
    ranks = place + n + 4
    part.slots = 0
    if ABOVE <= number < map.number - ABOVE and 0 < n < IN_SLOTS:
        part = map.parts[number - ABOVE]
        cut_into_slots(&part, n)
        memset(ranks, 0, (part.slots + 1) * sizeof(uint16_t))
    n = 0
    for w in range(workers):
        last_link(&thrown[w], 2 * number + 1, &link)
        while True:
            items = <const score_t*>thrown[w].items + link.begin
            m = link.end - link.begin
            memcpy(loose + n, items, m * sizeof(score_t))
            if part.slots > 0:
                find_slots(&part, items, m, slots)
                for i in range(m):
                    place[n + i] = <uint16_t>slots[i]
                    ranks[slots[i] + 1] += 1
            n += m
            if not link_before(&thrown[w], 2 * number + 1, &link):
                break
    counted.hits = NULL
    if part.slots > 0:
        lay_small(loose, n, scores, part.slots, ranks + 1, place, 0)
        m = distinct_typed(<const score_t*>scores, n)
        if m < n:
            counted.hits = <int64_t*>loose
            keep_slots(scores, n, &part, ranks, place, counted.hits)
    else:
        memcpy(scores, loose, n * sizeof(score_t))
        sort_typed(scores, n, loose)
        m = distinct_typed(<const score_t*>scores, n)
        if m < n:
            counted.hits = <int64_t*>loose
            keep_typed(scores, n, counted.hits)
    scores[m] = beyond_all(<const score_t*>scores, True)
    memset(counts, 0, (2 * m + 2) * sizeof(uint32_t))
    for w in range(workers):
        last_link(&thrown[w], 2 * number, &link)
        while True:
            items = <const score_t*>thrown[w].items
            if m == 0:
                counts[0] += link.end - link.begin
            else:
                count_part(&part, ranks, <const score_t*>scores, m, items + link.begin, link.end - link.begin,
                           items + thrown[w].before[link.block] * LINK, counts)
            if not link_before(&thrown[w], 2 * number, &link):
                break
    if part.slots > 0:
        counts[2 * m] += counts[2 * m + 1]  # items with the greatest possible score equal the threshold beyond all
    counted.thresholds = scores
    counted.m = m
    counted.counts = counts


cdef void count_thrown(const PartMap* map, const Parts* thrown, Py_ssize_t workers, uint32_t part, void* memory,
                       Counted* counted) noexcept nogil:
    """Sorts the relevant items of a part, from so many workers, and counts the other items against them."""
    if map.type == SCORE_FLOAT:
        count_thrown_typed(map, thrown, workers, part, <float*>memory, counted)
    elif map.type == SCORE_DOUBLE:
        count_thrown_typed(map, thrown, workers, part, <double*>memory, counted)
    else:
        count_thrown_typed(map, thrown, workers, part, <int64_t*>memory, counted)
