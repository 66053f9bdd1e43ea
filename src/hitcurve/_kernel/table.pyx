"""Kernels that make hit-curve tables: they sort the relevant scores, count the items, and write the rows."""
from libc.stdint cimport int64_t, uint32_t
from libc.string cimport memset

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc

from hitcurve._kernel.columns cimport (
    BLOCK, NAN_OMIT, Items, Tally, gather_relevant, look_for_nan, score_size, tally_clear,
)
from hitcurve._kernel.count cimport (
    STRATEGY_AUTO, STRATEGY_PARTS, STRATEGY_SEARCH, STRATEGY_THROW, Counts, Index, Strategy, Walk, build_index,
    choose_strategy, count_items, emit_rows, emit_scores, index_size, open_counts, scratch_size, settle_counts,
)
from hitcurve._kernel.formulas cimport (
    AveragePrecision, Reading, average_precision_add, average_precision_begin, average_precision_end,
)
from hitcurve._kernel.parts cimport Counted, PartMap, Parts, count_thrown
from hitcurve._kernel.thresholds cimport keep_distinct, sort_relevant


# ----------------------------------------------------------------------------------------------------------- workspace

cdef void workspace_init(Workspace* work) noexcept nogil:
    memset(work, 0, sizeof(Workspace))


cdef void workspace_free(Workspace* work) noexcept nogil:
    release(&work.relevant)
    release(&work.hits)
    release(&work.counts)
    release(&work.wide)
    release(&work.index)
    release(&work.scratch)


cdef void release(Room* room) noexcept nogil:
    PyMem_RawFree(room.memory)
    room.memory = NULL
    room.bytes = 0


cdef bint reserve(Room* room, size_t count, size_t size) noexcept nogil:
    """Memory for `count` elements of a size. If it grows, its content is lost."""
    if count > (<size_t>1 << 62) // size:
        return False
    if room.memory is not NULL and count * size <= room.bytes:
        return True
    if room.on_stack:
        return False
    PyMem_RawFree(room.memory)
    room.bytes = count * size
    room.memory = PyMem_RawMalloc(room.bytes)
    if room.memory is NULL:
        room.bytes = 0
        return False
    prefer_huge_pages(room.memory, room.bytes)
    return True


cdef bint reserve_relevant(const Items* items, Py_ssize_t relevant, Workspace* work) noexcept nogil:
    """Memory for the scores of so many relevant items."""
    return reserve(&work.relevant, <size_t>relevant + 1, score_size(items.type))


# --------------------------------------------------------------------------------------------------------- one ranking

cdef enum:
    OTHERS_FROM = 8  # if more than 1 / OTHERS_FROM of the items is relevant, leaving them out costs less than searching them


cdef bint index_relevant(const Items* items, Py_ssize_t n, Py_ssize_t found, Strategy strategy, Workspace* work,
                         Index* index) noexcept nogil:
    """Makes thresholds of the relevant scores in the workspace, for counting n items."""
    cdef Py_ssize_t m
    if not reserve(&work.counts, 2 * <size_t>found + 2, sizeof(uint32_t)):  # first used as scratch
        return False
    m = sort_relevant(work.relevant.memory, found, items.type, work.counts.memory)
    if m < found:
        if not reserve(&work.hits, m, sizeof(int64_t)):
            return False
        keep_distinct(work.relevant.memory, found, items.type, <int64_t*>work.hits.memory)
    if strategy == STRATEGY_AUTO:
        strategy = choose_strategy(items.type, work.relevant.memory, m, n)
    elif strategy == STRATEGY_THROW:
        strategy = STRATEGY_PARTS  # the ranking is one of many
    if index_size(strategy, m, n) > 0 and not reserve(&work.index, index_size(strategy, m, n), 1):
        return False
    build_index(strategy, items.type, work.relevant.memory, m, n, work.index.memory, index)
    index.others_only = index.strategy == STRATEGY_PARTS or (index.strategy == STRATEGY_SEARCH and OTHERS_FROM * found > n)
    if m < found:
        index.hits = <const int64_t*>work.hits.memory
    return True


cdef void finish_ranking(const Items* items, Py_ssize_t n, int64_t num_hits, bint lower_is_better, const Index* index,
                         const Tally* tally, Ranking* ranking) noexcept nogil:
    """Sets the totals, after all n items are counted. num_hits is the number of relevant items with a score."""
    cdef int64_t nan_items = tally.nan_items + (tally.nan_hits if index.others_only else 0)
    ranking.counts.hits = index.hits
    ranking.counts.num_thresholds = index.m
    ranking.counts.others_only = index.others_only
    ranking.counts.lower_is_better = lower_is_better
    ranking.walk.done = 0
    ranking.walk.seen = 0
    ranking.num_items = n
    ranking.num_hits = num_hits
    ranking.nan_items = 0
    ranking.nan_hits = 0
    if items.nan_policy == NAN_OMIT:
        ranking.num_items -= nan_items
    else:
        ranking.num_hits += tally.nan_hits
        ranking.nan_items = nan_items
        ranking.nan_hits = tally.nan_hits


cdef enum:
    CACHED = 1 << 15        # so many scores stay in the second-level cache between two passes
    MOST_COUNTED = 1 << 30  # the most items of a call


cdef Status rank_items(const Items* items, Py_ssize_t start, Py_ssize_t stop, bint lower_is_better, Strategy strategy,
                       Py_ssize_t capacity, Workspace* work, Ranking* ranking, Tally* tally) noexcept nogil:
    """Counts a ranking from start to end in the calling thread.

    The workspace has memory for `capacity` relevant items. No more are read, even if another thread changes the labels.
    All other memory is allocated here.
    """
    cdef Index index
    cdef uint32_t* counts
    cdef int64_t* wide = NULL
    cdef Py_ssize_t n = stop - start, found, end, size, i
    tally_clear(tally)
    if n <= CACHED:
        tally.no_nan = not look_for_nan(items, start, stop)
    found = gather_relevant(items, start, stop, work.relevant.memory, 0, capacity, tally)
    if tally.bad_label >= 0:
        return STATUS_BAD_LABEL
    if tally.bad_score >= 0:
        return STATUS_BAD_SCORE
    if not index_relevant(items, n, found, strategy, work, &index):
        return STATUS_NO_MEMORY
    size = 2 * index.m + 2
    if not (reserve(&work.counts, size, sizeof(uint32_t)) and (n >> 32 == 0 or reserve(&work.wide, size, sizeof(int64_t)))
            and reserve(&work.scratch, scratch_size(&index, min(n, MOST_COUNTED)), 1)):
        return STATUS_NO_MEMORY
    index.whole = n <= BLOCK
    counts = <uint32_t*>work.counts.memory
    memset(counts, 0, size * sizeof(uint32_t))
    if n >> 32 > 0:
        wide = <int64_t*>work.wide.memory
        memset(wide, 0, size * sizeof(int64_t))
    open_counts(&index, work.scratch.memory)
    while start < stop:
        end = min(stop, start + MOST_COUNTED)
        if not count_items(items, start, end, &index, work.scratch.memory, counts, tally):
            return STATUS_BAD_SCORE
        settle_counts(&index, work.scratch.memory, counts)
        if wide is not NULL:
            for i in range(size):
                wide[i] += counts[i]
            memset(counts, 0, size * sizeof(uint32_t))
        start = end
    ranking.counts.narrow = counts if wide is NULL else NULL
    ranking.counts.wide = wide
    finish_ranking(items, n, found, lower_is_better, &index, tally, ranking)
    return STATUS_OK


cdef Py_ssize_t num_rows(const Ranking* ranking) noexcept nogil:
    return ranking.counts.num_thresholds + (1 if ranking.nan_hits > 0 else 0)


cdef Py_ssize_t ranking_rows(Ranking* ranking, Py_ssize_t limit, int64_t* above, int64_t* tied,
                             int64_t* hits) noexcept nogil:
    """Writes the next rows, at most `limit`. Returns their number, which is 0 at the end."""
    cdef Py_ssize_t rows = emit_rows(&ranking.counts, &ranking.walk, limit, above, tied, hits)
    if rows < limit and ranking.walk.done == ranking.counts.num_thresholds and ranking.nan_hits > 0:
        above[rows] = ranking.num_items - ranking.nan_items
        tied[rows] = ranking.nan_items
        hits[rows] = ranking.nan_hits
        ranking.walk.done += 1
        rows += 1
    return rows


cdef void ranking_scores(const Items* items, const Workspace* work, const Ranking* ranking, void* score) noexcept nogil:
    """Writes the score of each row."""
    emit_scores(&ranking.counts, work.relevant.memory, items.type, ranking.nan_hits > 0, score)


cdef enum:
    ROWS_TOGETHER = 256


cdef double ranking_average_precision(Ranking* ranking, const Reading* reading, int64_t num_relevant) noexcept nogil:
    """Average precision from a few rows at a time, without the whole table in memory."""
    cdef int64_t above[ROWS_TOGETHER]
    cdef int64_t tied[ROWS_TOGETHER]
    cdef int64_t hits[ROWS_TOGETHER]
    cdef AveragePrecision ap
    cdef Py_ssize_t rows
    average_precision_begin(&ap, reading, num_relevant)
    while True:
        rows = ranking_rows(ranking, ROWS_TOGETHER, above, tied, hits)
        average_precision_add(&ap, above, tied, hits, rows)
        if rows < ROWS_TOGETHER or ap.done:
            return average_precision_end(&ap)


cdef Py_ssize_t thrown_rows(const PartMap* map, const Parts* thrown, Py_ssize_t workers, uint32_t part, bint lower_is_better,
                            void* memory, int64_t* seen, int64_t* above, int64_t* tied, int64_t* hits,
                            void* score) noexcept nogil:
    """Writes the rows of a part, from so many workers. Returns their number. The memory has counted_size(...) bytes.

    ``seen`` is the number of items above the part, and afterwards the number of items above the next part.
    """
    cdef Counted counted
    cdef Counts counts
    cdef Walk walk
    count_thrown(map, thrown, workers, part, memory, &counted)
    counts = Counts(counted.counts, NULL, counted.hits, counted.m, True, lower_is_better)
    walk = Walk(0, seen[0])
    emit_rows(&counts, &walk, counted.m, above, tied, hits)
    if score is not NULL:
        emit_scores(&counts, counted.thresholds, map.type, False, score)
    seen[0] = walk.seen + counted.counts[0 if not lower_is_better else 2 * counted.m]
    return counted.m


# -------------------------------------------------------------------------------------------------------- many rankings

cdef Py_ssize_t query_items(const Rankings* all, Py_ssize_t q, Items* items) noexcept nogil:
    """Selects the items of query q. Returns the number of relevant items for which there is memory."""
    cdef Py_ssize_t start = <Py_ssize_t>all.offsets[q]
    items[0] = all.items
    items.n = <Py_ssize_t>all.offsets[q + 1] - start
    if all.step == 0:
        items.label.data += start * items.label.stride
        items.score.data += start * items.score.stride
    else:
        items.score.data += q * all.step
    return items.n if all.reading is not NULL else <Py_ssize_t>(all.place[q + 1] - all.place[q])


cdef void query_done(const Rankings* all, Py_ssize_t q, const Workspace* work, Ranking* ranking) noexcept nogil:
    """Writes the results of query q, after it is counted."""
    cdef Py_ssize_t place
    all.num_items[q] = ranking.num_items
    all.num_hits[q] = ranking.num_hits
    if all.reading is not NULL:
        all.average_precision[q] = ranking_average_precision(
            ranking, all.reading, ranking.num_hits if all.num_relevant is NULL else all.num_relevant[q])
        return
    place = <Py_ssize_t>all.place[q]
    if num_rows(ranking) > all.place[q + 1] - place:
        ranking.nan_hits = 0  # the labels changed while they were counted
    all.rows[q] = num_rows(ranking)
    ranking_scores(&all.items, work, ranking, <char*>all.score + place * score_size(all.items.type))
    ranking_rows(ranking, num_rows(ranking), all.above + place, all.tied + place, all.hits + place)


cdef Status rank_queries(const Rankings* all, Py_ssize_t first, Py_ssize_t last, Tally* tally) noexcept nogil:
    """Computes the rankings `first` to `last`. The tally has the position of an error among all items."""
    cdef Items items
    cdef Workspace work
    cdef Ranking ranking
    cdef Status status = STATUS_OK
    cdef Py_ssize_t q, longest = 0, capacity
    workspace_init(&work)
    for q in range(first, last):
        longest = max(longest, <Py_ssize_t>(all.offsets[q + 1] - all.offsets[q]))
    if not reserve_relevant(&all.items, longest, &work):
        return STATUS_NO_MEMORY
    for q in range(first, last):
        capacity = query_items(all, q, &items)
        status = rank_items(&items, 0, items.n, all.lower_is_better, all.strategy, capacity, &work, &ranking, tally)
        if status != STATUS_OK:
            tally.bad_label += all.offsets[q]
            tally.bad_score += all.offsets[q]
            break
        query_done(all, q, &work, &ranking)
    workspace_free(&work)
    return status
