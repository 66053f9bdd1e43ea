# cython: wraparound=True
"""Makes the tables of one ranking, or of many queries, from arrays.

The functions read an ndarray through numpy's C API, and convert it only if they cannot read it: a Python function or a
memoryview in front of the kernel would take longer than ranking a hundred items. The GIL is released only where the work
takes long enough.
"""
cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc, PyMem_RawRealloc
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove, memset

cimport numpy as cnp

import numpy as np

from hitcurve._base.checks cimport (
    LARGEST, array_or_none, as_column, as_ids, as_key, as_labels, as_ndarray, as_offsets, as_scores, as_whole, bad_label,
    bad_score, countable, kind_of, one_dimension, parse_lower, parse_nan_policy, parse_num_relevant, parse_strategy,
    same_items, set_column, type_of, whole_number,
)
from hitcurve._kernel.columns cimport (
    SCORE_INT64, Items, NanPolicy, ScoreType, Tally, count_labels, gather_relevant, score_size, tally_clear,
)
from hitcurve._kernel.count cimport (
    STRATEGY_AUTO, STRATEGY_SEARCH, STRATEGY_THROW, Index, Strategy, count_items, emit_scores, good_piece, open_counts,
    scratch_size, settle_counts,
)
from hitcurve._kernel.formulas cimport (
    AveragePrecision, Reading, average_precision_add, average_precision_begin, average_precision_end,
)
from hitcurve._kernel.parts cimport (
    MOST_THROWN, PartMap, Parts, build_part_map, counted_size, open_thrown, part_map_size, pays_throwing, throw_scores,
    thrown_items, thrown_size,
)
from hitcurve._kernel.sort cimport MOST_HEAPS, MOST_LAID, Item, Layout, count_heaps, lay_heap, throw_items
from hitcurve._kernel.table cimport (
    SMALL, STATUS_BAD_LABEL, STATUS_BAD_SCORE, STATUS_NO_MEMORY, STATUS_OK, Ranking, Rankings, SmallSpace, Status, Workspace,
    finish_ranking, index_relevant, num_rows, prefer_huge_pages, query_done, query_items, rank_items, rank_queries,
    ranking_average_precision, ranking_rows, ranking_scores, release, reserve_relevant, small_workspace, thrown_rows,
    workspace_free, workspace_init,
)

from hitcurve._base.checks import LABELS, SCORES
from hitcurve._base.words import are, many

cnp.import_array()

cdef enum:
    PIECE = 1 << 22          # items between two checks for Ctrl-C
    RUNS = 256               # groups of the parts of a thrown ranking

cdef int* NUMPY_TYPES = [cnp.NPY_FLOAT, cnp.NPY_DOUBLE, cnp.NPY_INT64]  # the type of each ScoreType
cdef Py_ssize_t NARROW = <Py_ssize_t>((<uint64_t>1 << 32) - 1)  # items that 32-bit counts can hold


cdef Py_ssize_t parse_workers(object workers) except -1:
    if workers is 1:
        return 1
    from hitcurve._base.workers import check_workers
    return check_workers(workers)


cdef object scores_as(const void* score, Py_ssize_t rows, ScoreType type, object origin):
    """Scores of the kernels' type, converted back to the type of the caller's scores."""
    cdef cnp.npy_intp shape = rows
    cdef object array = cnp.PyArray_SimpleNewFromData(1, &shape, NUMPY_TYPES[<int>type], <void*>score)
    if isinstance(origin, np.ndarray):
        return origin[array]
    if type == SCORE_INT64 and origin.kind == "u":
        return array.view(np.uint64) ^ np.uint64(1 << 63)
    return array.astype(origin)


cdef int raise_status(Status status, const Tally* tally, object y_true, object y_score) except -1:
    if status == STATUS_BAD_LABEL:
        raise bad_label(y_true, y_score, tally.bad_label, f"y_true[{tally.bad_label}]")
    if status == STATUS_NO_MEMORY:
        raise MemoryError("not enough memory to rank the items")
    raise bad_score("y_score", tally.bad_score)


cdef ScoreType compared_as(object origin) except *:
    """The type in which scores of this origin are compared (see ``as_scores``)."""
    if cnp.PyArray_Check(origin):
        return SCORE_INT64
    return type_of(kind_of((<cnp.dtype>origin).type_num))


cdef object origin_of(object kept):
    return kept[1] if isinstance(kept, tuple) else (<cnp.ndarray>kept).descr


# --------------------------------------------------------------------------------------------------------- one ranking


cdef void add_tally(Tally* total, Tally* tally) noexcept:
    """Moves the counts of another pass to `total`."""
    total.nan_items += tally.nan_items
    total.nan_hits += tally.nan_hits
    tally.nan_items = tally.nan_hits = 0
    if tally.bad_score >= 0 and (total.bad_score < 0 or tally.bad_score < total.bad_score):
        total.bad_score = tally.bad_score


@cython.final
cdef class Counting:
    """Counts many items in pieces, with a check for Ctrl-C between the pieces. Each worker counts a share of the items."""
    cdef Items items
    cdef Index index
    cdef uint32_t* narrow
    cdef int64_t* wide
    cdef Tally tally
    cdef bint cancelled
    cdef object lock

    def __dealloc__(self):
        PyMem_RawFree(self.narrow)
        PyMem_RawFree(self.wide)

    def count(self, tuple share):
        """Counts the items of a share, from its start to its stop, and adds the counts to the total."""
        cdef Py_ssize_t start = share[0], stop = share[1], end, since = 0
        cdef Py_ssize_t size = 2 * self.index.m + 2, piece = max(PIECE, good_piece(&self.index))
        cdef size_t room = scratch_size(&self.index, min(piece, stop - start))
        cdef uint32_t* counts = <uint32_t*>PyMem_RawCalloc(size, sizeof(uint32_t))
        cdef void* scratch = PyMem_RawMalloc(room)
        cdef Tally tally
        cdef bint fine = True
        tally_clear(&tally)
        prefer_huge_pages(counts, size * sizeof(uint32_t))
        prefer_huge_pages(scratch, room)
        try:
            if counts is NULL or scratch is NULL:
                raise MemoryError("not enough memory to count the items")
            open_counts(&self.index, scratch)
            while start < stop and fine and not self.cancelled:
                end = min(stop, start + piece)
                with nogil:
                    fine = count_items(&self.items, start, end, &self.index, scratch, counts, &tally)
                PyErr_CheckSignals()
                since += end - start
                start = end
                if since > NARROW - piece:
                    settle_counts(&self.index, scratch, counts)
                    counts = self.add(counts, &tally)
                    memset(counts, 0, size * sizeof(uint32_t))
                    since = 0
            settle_counts(&self.index, scratch, counts)
            counts = self.add(counts, &tally)
        finally:
            PyMem_RawFree(counts)
            PyMem_RawFree(scratch)

    cdef uint32_t* add(self, uint32_t* counts, Tally* tally) except? NULL:
        """Adds counts to the total, or makes them the total if there is none yet. Returns the memory to free."""
        cdef Py_ssize_t i
        with self.lock:
            if self.wide is not NULL:
                for i in range(2 * self.index.m + 2):
                    self.wide[i] += counts[i]
            elif self.narrow is not NULL:
                for i in range(2 * self.index.m + 2):
                    self.narrow[i] += counts[i]
            else:
                self.narrow = counts
                counts = NULL
            add_tally(&self.tally, tally)
        return counts

    cdef int run(self, Py_ssize_t workers) except -1:
        cdef Py_ssize_t size = 2 * self.index.m + 2, share, w, n = self.items.n
        import threading
        from hitcurve._base.workers import in_threads
        self.lock = threading.Lock()
        tally_clear(&self.tally)
        if n >= NARROW:
            self.wide = <int64_t*>PyMem_RawCalloc(size, sizeof(int64_t))
            if self.wide is NULL:
                raise MemoryError("not enough memory to count the items")
        share = (n + workers - 1) // workers
        shares = [(min(n, w * share), min(n, (w + 1) * share)) for w in range(workers)]
        list(in_threads(self.count, shares, workers, cancel=self.cancel, patience=None))
        return 0

    def cancel(self):
        self.cancelled = True


cdef Status rank_long(const Items* items, bint lower, Strategy strategy, Py_ssize_t workers, Py_ssize_t capacity,
                      Workspace* work, Ranking* ranking, Tally* tally, Counting counting) except *:
    """As rank_items, but in pieces with a check for Ctrl-C between them, and by several workers if there are several.

    ``counting`` owns the counts. The caller keeps it as long as the ranking is used.
    """
    cdef Py_ssize_t start = 0, stop, found = 0
    cdef bint fine
    while start < items.n and not counting.cancelled:
        stop = min(items.n, start + 4 * PIECE)
        with nogil:
            found = gather_relevant(items, start, stop, work.relevant.memory, found, capacity, tally)
        if tally.bad_label >= 0:
            return STATUS_BAD_LABEL
        if tally.bad_score >= 0:
            return STATUS_BAD_SCORE
        PyErr_CheckSignals()
        start = stop
    with nogil:
        fine = index_relevant(items, items.n, found, strategy, work, &counting.index)
    if not fine:
        return STATUS_NO_MEMORY
    release(&work.counts)  # workers have their own
    counting.items = items[0]
    counting.run(max(1, min(workers, items.n // SMALL)))
    tally.nan_items = counting.tally.nan_items
    tally.bad_score = counting.tally.bad_score
    if tally.bad_score >= 0:
        return STATUS_BAD_SCORE
    ranking.counts.narrow = counting.narrow
    ranking.counts.wide = counting.wide
    finish_ranking(items, items.n, found, lower, &counting.index, tally, ranking)
    return STATUS_OK


cdef int open_table(OwnTable* table, Py_ssize_t room) except -1:
    """Makes an empty table with room for `room` rows."""
    table.block = PyMem_RawMalloc(32 * room + 1)
    prefer_huge_pages(table.block, 32 * room)
    if table.block is NULL:
        raise MemoryError(f"not enough memory for a table of {room} rows")
    table.above = <int64_t*>table.block
    table.tied = table.above + room
    table.hits = table.tied + room
    table.score = table.hits + room
    table.rows = 0
    return 0


cdef void close_table(OwnTable* table, size_t size) noexcept:
    """Frees the memory that the rows do not need."""
    cdef Py_ssize_t rows = table.rows
    cdef void* block
    memmove(table.above + rows, table.tied, 8 * rows)
    memmove(table.above + 2 * rows, table.hits, 8 * rows)
    memmove(table.above + 3 * rows, table.score, size * rows)
    block = PyMem_RawRealloc(table.block, 32 * rows + 1)
    table.block = block if block is not NULL else table.block
    table.above = <int64_t*>table.block
    table.tied = table.above + rows
    table.hits = table.tied + rows
    table.score = table.hits + rows


cdef void put_rows(const OwnTable* rows, int64_t seen, size_t size, OwnTable* table, AveragePrecision* ap) noexcept nogil:
    """Adds rows to the table, or to the average precision. `seen` is the number of items above all of these rows."""
    cdef Py_ssize_t i, at
    for i in range(rows.rows):
        rows.above[i] += seen
    if table is NULL:
        average_precision_add(ap, rows.above, rows.tied, rows.hits, rows.rows)
        return
    at = table.rows
    memcpy(table.above + at, rows.above, 8 * rows.rows)
    memcpy(table.tied + at, rows.tied, 8 * rows.rows)
    memcpy(table.hits + at, rows.hits, 8 * rows.rows)
    memcpy(<char*>table.score + at * size, rows.score, size * rows.rows)
    table.rows = at + rows.rows


@cython.final
cdef class Rows:
    """The rows of some parts of a thrown ranking, and the number of items in these parts."""
    cdef OwnTable table
    cdef int64_t items

    def __cinit__(self, Py_ssize_t room):
        open_table(&self.table, room)

    def __dealloc__(self):
        PyMem_RawFree(self.table.block)


@cython.final
cdef class Throwing:
    """Ranks many relevant items by throwing them into parts: each worker throws a share, and then counts some parts."""
    cdef Items items
    cdef PartMap map
    cdef Tally tally
    cdef bint lower, scored, cancelled
    cdef Py_ssize_t workers
    cdef Parts* thrown  # of each worker
    cdef void** memory  # of each worker, and of the map
    cdef object lock

    def __dealloc__(self):
        cdef Py_ssize_t w
        if self.memory is not NULL:
            for w in range(self.workers + 1):
                PyMem_RawFree(self.memory[w])
        PyMem_RawFree(self.memory)
        PyMem_RawFree(self.thrown)

    cdef bint open(self, const Items* items, bint lower, Py_ssize_t relevant, Py_ssize_t workers) except -1:
        """Prepares the throwing. Returns whether it pays for these scores."""
        cdef bint pays
        import threading
        self.lock = threading.Lock()
        self.items = items[0]
        self.lower = lower
        tally_clear(&self.tally)
        self.workers = workers
        self.thrown = <Parts*>PyMem_RawCalloc(workers, sizeof(Parts))
        self.memory = <void**>PyMem_RawCalloc(workers + 1, sizeof(void*))
        if self.memory is not NULL:
            self.memory[workers] = PyMem_RawMalloc(part_map_size(relevant))
        if self.thrown is NULL or self.memory is NULL or self.memory[workers] is NULL:
            raise MemoryError("not enough memory to rank the items")
        with nogil:
            pays = build_part_map(&self.items, relevant, self.memory[workers], &self.map)
        return pays

    def throw(self, tuple share):
        """Throws the items of a worker's share, from its start to its stop."""
        cdef Py_ssize_t w = share[0], start = share[1], stop = share[2], end
        cdef size_t size = thrown_size(&self.map, stop - start)
        cdef Tally tally
        cdef bint fine = True
        tally_clear(&tally)
        self.memory[w] = PyMem_RawMalloc(size)
        if self.memory[w] is NULL:
            raise MemoryError("not enough memory to rank the items")
        prefer_huge_pages(self.memory[w], size)
        open_thrown(&self.map, stop - start, self.memory[w], &self.thrown[w])
        while start < stop and fine and not self.cancelled:
            end = min(stop, start + PIECE)
            with nogil:
                fine = throw_scores(&self.items, start, end, &self.map, &self.thrown[w], &tally)
            PyErr_CheckSignals()
            start = end
        with self.lock:
            add_tally(&self.tally, &tally)

    def count(self, tuple parts):
        """The rows of these parts, best first, as if the ranking began with these parts."""
        cdef Py_ssize_t room = 0, most = 0, found, rows = 0, w
        cdef size_t size = score_size(self.map.type)
        cdef uint32_t part
        cdef Rows out
        cdef OwnTable* table
        cdef void* memory
        for part in parts:
            found = 0
            for w in range(self.workers):
                found += thrown_items(&self.thrown[w], 2 * part + 1)
            room += found
            most = max(most, found)
        out = Rows(room)
        table = &out.table
        memory = PyMem_RawMalloc(counted_size(most))
        if memory is NULL:
            raise MemoryError("not enough memory to count the items")
        prefer_huge_pages(memory, counted_size(most))
        try:
            for part in parts:
                if self.cancelled:
                    break
                with nogil:
                    rows = table.rows
                    table.rows += thrown_rows(&self.map, self.thrown, self.workers, part, self.lower, memory, &out.items,
                                              table.above + rows, table.tied + rows, table.hits + rows,
                                              <char*>table.score + rows * size if self.scored else NULL)
                PyErr_CheckSignals()
        finally:
            PyMem_RawFree(memory)
        return out

    cdef list runs(self):
        """Groups of parts to count together, best first: enough groups for all workers, few enough to need little memory."""
        cdef Py_ssize_t items = 0, w, piece = max(self.items.n // RUNS, <Py_ssize_t>SMALL)
        cdef uint32_t part
        runs, run = [], []
        for part in range(self.map.number) if self.lower else range(self.map.number - 1, -1, -1):
            run.append(part)
            for w in range(self.workers):
                items += thrown_items(&self.thrown[w], 2 * part) + thrown_items(&self.thrown[w], 2 * part + 1)
            if items >= piece:
                runs.append(tuple(run))
                run, items = [], 0
        return [*runs, tuple(run)] if run else runs

    cdef Status run(self, OwnTable* table, object num_relevant, const Reading* reading, double* average_precision) except *:
        """Makes the table or, if `table` is NULL, computes the average precision."""
        cdef Py_ssize_t n = self.items.n, share = (n + self.workers - 1) // self.workers, found = 0, w
        cdef uint32_t number
        cdef int64_t seen = 0
        cdef size_t size = score_size(self.map.type)
        cdef Index nothing
        cdef Ranking ranking
        cdef AveragePrecision ap
        cdef Rows rows, last = Rows(1)
        from hitcurve._base.workers import in_threads
        self.scored = table is not NULL
        shares = [(w, min(n, w * share), min(n, (w + 1) * share)) for w in range(self.workers)]
        list(in_threads(self.throw, shares, self.workers, cancel=self.cancel, patience=None))
        if self.tally.bad_score >= 0:
            return STATUS_BAD_SCORE
        for w in range(self.workers):
            for number in range(self.map.number):
                found += thrown_items(&self.thrown[w], 2 * number + 1)
        memset(&nothing, 0, sizeof(Index))
        memset(&ranking, 0, sizeof(Ranking))
        nothing.others_only = True
        finish_ranking(&self.items, n, found, self.lower, &nothing, &self.tally, &ranking)
        if table is NULL:
            average_precision_begin(&ap, reading, parse_num_relevant(num_relevant, ranking.num_hits))
        else:
            open_table(table, found + 1)
            table.num_items = ranking.num_items
            table.num_hits = ranking.num_hits
        counted = in_threads(self.count, self.runs(), self.workers, cancel=self.cancel, patience=None)
        try:
            for rows in counted:
                with nogil:
                    put_rows(&rows.table, seen, size, table, &ap)
                seen += rows.items
                if table is NULL and ap.done:
                    break
            counted.close()  # not in a finalizer, which would swallow Ctrl-C
        except BaseException:
            if table is not NULL:
                PyMem_RawFree(table.block)
            raise
        # The row of the NaN scores, if there is one.
        last.table.rows = ranking_rows(&ranking, 1, last.table.above, last.table.tied, last.table.hits)
        emit_scores(&ranking.counts, NULL, self.map.type, last.table.rows == 1, last.table.score)
        put_rows(&last.table, 0, size, table, &ap)
        if table is NULL:
            average_precision[0] = average_precision_end(&ap)
        else:
            close_table(table, size)
        return STATUS_OK

    def cancel(self):
        self.cancelled = True


cdef Throwing to_be_thrown(const Items* items, bint lower, Strategy strategy, Py_ssize_t relevant, Py_ssize_t workers):
    """A Throwing, if the strategy asks for it or it pays; else None."""
    cdef Throwing throwing = Throwing.__new__(Throwing)
    cdef bint pays
    if relevant < 0 or items.n > MOST_THROWN or not (
            strategy == STRATEGY_THROW or (strategy == STRATEGY_AUTO and pays_throwing(relevant, items.n))):
        return None
    pays = throwing.open(items, lower, relevant, max(1, min(workers, items.n // SMALL)))
    return throwing if pays or strategy == STRATEGY_THROW else None


cdef Py_ssize_t count_relevant(const Items* items, Tally* tally) noexcept:
    """The number of relevant items, or -1 if a label is bad."""
    cdef Py_ssize_t relevant
    tally_clear(tally)
    with nogil:
        relevant = count_labels(&items.label, 0, items.n, tally)
    return relevant


cdef Status rank_large(const Items* items, bint lower, Strategy strategy, Py_ssize_t workers, Py_ssize_t relevant,
                       Workspace* work, Ranking* ranking, Tally* tally, Counting counting) except *:
    """Ranks at most `relevant` relevant items in heap memory, without the GIL. ``counting`` owns the counts."""
    cdef Status status = STATUS_OK
    cdef bint in_pieces = items.n > PIECE or workers > 1
    tally_clear(tally)
    with nogil:
        if not reserve_relevant(items, relevant, work):
            status = STATUS_NO_MEMORY
        elif not in_pieces:
            status = rank_items(items, 0, items.n, lower, strategy, relevant, work, ranking, tally)
    if status == STATUS_OK and in_pieces:
        status = rank_long(items, lower, strategy, workers, relevant, work, ranking, tally, counting)
    return status


cdef int write_table(const Items* items, const Workspace* work, Ranking* ranking, OwnTable* table) except -1:
    open_table(table, num_rows(ranking))
    table.rows = ranking_rows(ranking, num_rows(ranking), table.above, table.tied, table.hits)
    ranking_scores(items, work, ranking, table.score)
    table.num_items = ranking.num_items
    table.num_hits = ranking.num_hits
    return 0


cdef object rank_one(object y_true, object y_score, object relevance_level, object lower_is_better, object nan_policy,
                     object workers, object strategy, OwnTable* table, object num_relevant, const Reading* reading,
                     double* average_precision):
    """Makes the table of one ranking or, if `table` is NULL, computes its average precision.

    Returns the origin of the scores, from which ``scores_as`` restores their type.
    """
    cdef Items items
    cdef SmallSpace space
    cdef Workspace work
    cdef Ranking ranking
    cdef Tally tally
    cdef Status status
    cdef Counting counting  # owns memory that is in use, as do the names with an underscore
    cdef Throwing throwing
    cdef Py_ssize_t relevant
    cdef bint lower = parse_lower(lower_is_better), small
    cdef Strategy way = parse_strategy(strategy)
    cdef Py_ssize_t threads = parse_workers(workers)
    items.nan_policy = parse_nan_policy(nan_policy)
    _labels = as_labels(y_true, relevance_level, &items)
    scores = as_scores(y_score, "y_score", &items)
    small = items.n < SMALL and way <= STRATEGY_SEARCH
    try:
        if small:
            small_workspace(&space, &work)
            status = rank_items(&items, 0, items.n, lower, way, SMALL, &work, &ranking, &tally)
        else:
            workspace_init(&work)
            relevant = count_relevant(&items, &tally)
            throwing = to_be_thrown(&items, lower, way, relevant, threads)
            if relevant < 0:
                status = STATUS_BAD_LABEL
            elif throwing is not None:
                status = throwing.run(table, num_relevant, reading, average_precision)
                if status == STATUS_OK:
                    return origin_of(scores)
                tally = throwing.tally
            else:
                counting = Counting.__new__(Counting)
                status = rank_large(&items, lower, way, threads, relevant, &work, &ranking, &tally, counting)
        if status != STATUS_OK:
            raise_status(status, &tally, y_true, y_score)
        if table is not NULL:
            write_table(&items, &work, &ranking, table)
            return origin_of(scores)
        average_precision[0] = ranking_average_precision(
            &ranking, reading, parse_num_relevant(num_relevant, ranking.num_hits))
    finally:
        if not small:
            workspace_free(&work)


# -------------------------------------------------------------------------------------------------------- many rankings

cdef bint falls(object ids) except -1:
    """Whether an id is less than the one before it."""
    cdef Py_ssize_t start = 0, stop = min(4096, ids.shape[0])
    while stop - start > 1:
        if (ids[start + 1:stop] < ids[start:stop - 1]).any():
            return True
        PyErr_CheckSignals()
        start, stop = stop - 1, min(ids.shape[0], stop + PIECE)
    return False


cdef object texts_as_words(object ids):
    """Strings as rows of whole numbers with the same order."""
    if ids.dtype.kind == "U":
        codes = ids.view(np.dtype(np.uint32).newbyteorder(ids.dtype.byteorder)).reshape(ids.shape[0], -1)
        ids = codes.astype(np.uint8 if codes.max() < 256 else ">u4")
    else:
        ids = ids.view(np.uint8).reshape(ids.shape[0], -1)
    wide = 8 // ids.itemsize
    padded = np.zeros((ids.shape[0], -(-ids.shape[1] // wide) * wide), ids.dtype)
    padded[:, :ids.shape[1]] = ids
    return padded.view(">u8").astype(np.uint64)


cdef object distinct_ids(object ids):
    """(distinct ids ascending, the place of each id among them)."""
    if ids.dtype.kind not in "US" or ids.size == 0 or ids.dtype.itemsize == 0:
        try:
            distinct, codes = np.unique(ids, return_inverse=True)
        except TypeError:
            raise TypeError("qid holds ids that cannot be ordered, such as numbers and strings together") from None
        return distinct, codes.astype(np.int64, copy=False)
    codes = None
    for word in texts_as_words(np.ascontiguousarray(ids)).T:
        PyErr_CheckSignals()
        values, places = np.unique(word, return_inverse=True)
        if codes is not None:
            values, places = np.unique(codes * values.shape[0] + places, return_inverse=True)
        codes = places
    first = np.empty(values.shape[0], np.int64)
    first[codes] = np.arange(codes.shape[0])  # any item of the id
    return ids[first], codes


cdef object in_order(object array, object order):
    """The items of an array in this order."""
    cdef object out = np.empty(array.shape[0], array.dtype)
    cdef Py_ssize_t start
    for start in range(0, array.shape[0], PIECE):
        np.take(array, order[start:start + PIECE], out=out[start:start + PIECE], mode="clip")
        PyErr_CheckSignals()
    return out


cdef object lay_out(object ids, object low, Py_ssize_t span, object labels, object scores):
    """Sorts items by id: (where the items of each id from `low` on begin, the item at each place, labels, scores)."""
    cdef Py_ssize_t n = ids.shape[0], start
    cdef uint32_t heaps, heap, held, total = 0
    cdef Layout layout
    cdef bint carry = scores.dtype.itemsize in (4, 8) and kind_of(scores.dtype.num) >= 0
    memset(&layout, 0, sizeof(Layout))
    ids = np.ascontiguousarray(ids, ids.dtype if ids.itemsize == 8 else np.int64)
    order, offsets = np.empty(n, np.uint32), np.zeros(span + 1, np.int64)
    while (span - 1) >> layout.shift >= MOST_HEAPS:
        layout.shift += 1
    heaps = <uint32_t>((span - 1) >> layout.shift) + 1
    _ends, _places = np.zeros(heaps, np.uint32), np.empty(1 << layout.shift, np.uint32)
    _items = np.empty(n, "V16")
    layout.ids, layout.low, layout.span = <uint64_t*>cnp.PyArray_DATA(ids), <uint64_t>(int(low) % 2**64), span
    layout.order, layout.offsets = <uint32_t*>cnp.PyArray_DATA(order), counts_in(offsets)
    layout.ends, layout.places = <uint32_t*>cnp.PyArray_DATA(_ends), <uint32_t*>cnp.PyArray_DATA(_places)
    layout.codes, layout.items = layout.order, <Item*>cnp.PyArray_DATA(_items)  # shared: no step needs both
    prefer_huge_pages(layout.items, n * sizeof(Item))
    if carry:
        layout.size = scores.dtype.itemsize
        scores = np.ascontiguousarray(scores)
        laid_scores = np.empty_like(scores)
        layout.scores, layout.laid_scores = cnp.PyArray_DATA(scores), cnp.PyArray_DATA(laid_scores)
    if labels.dtype.itemsize == 1:
        labels = np.ascontiguousarray(labels)
        laid_labels = np.empty_like(labels)
        layout.labels = <const uint8_t*>cnp.PyArray_DATA(labels)
        layout.laid_labels = <uint8_t*>cnp.PyArray_DATA(laid_labels)
    for start in range(0, n, PIECE):
        with nogil:
            count_heaps(&layout, start, min(n, start + PIECE))
        PyErr_CheckSignals()
    ids = None  # the codes replace the ids
    for heap in range(heaps):
        held = layout.ends[heap]
        layout.ends[heap] = total
        total += held
    for start in range(0, n, PIECE):
        with nogil:
            throw_items(&layout, start, min(n, start + PIECE))
        PyErr_CheckSignals()
    for heap in range(heaps):
        with nogil:
            lay_heap(&layout, heap)
        PyErr_CheckSignals()
    offsets[span] = n
    return (offsets, order, in_order(labels, order) if layout.labels is NULL else laid_labels,
            laid_scores if carry else in_order(scores, order))


cdef object as_mask(object mask, object labels, object scores):
    """Checks a mask, True for each item that is not padding, against the shapes of both arrays."""
    flags = as_ndarray(mask, "mask", "flags must be bool, True for each item that counts")
    if flags.ndim != 2 or flags.dtype.kind != "b":
        raise ValueError(f"mask must be two-dimensional and of bool, got shape {flags.shape} of {flags.dtype}")
    for name, array in (("y_true", labels), ("y_score", scores)):
        if array.shape != flags.shape:
            raise ValueError(f"mask has shape {flags.shape}, {name} has shape {array.shape}")
    return flags


@cython.final
cdef class Queries:
    """The items of many rankings, query by query."""

    def __init__(self, y_true, y_score, qid, offsets, relevance_level, nan_policy, mask=None):
        labels = as_ndarray(y_true, "y_true", LABELS)
        scores = as_ndarray(y_score, "y_score", SCORES)
        self.order = self.qid = None
        self.width = self.columns = self.step = 0
        if mask is not None:
            if qid is not None or offsets is not None:
                raise ValueError("mask needs two-dimensional y_true and y_score, and cannot be combined with qid or offsets")
            mask = as_mask(mask, labels, scores)
        if labels.ndim == 2 or scores.ndim == 2:
            if qid is not None or offsets is not None:
                raise ValueError(f"{'qid' if offsets is None else 'offsets'} needs one-dimensional y_true and y_score; "
                                 f"in two dimensions each row is a query, got shapes {labels.shape} and {scores.shape}")
            if labels.ndim == 1 and scores.shape[0] == labels.shape[0]:
                # Each column ranks the same items.
                self.columns = scores.shape[1]
                scores = scores.T
                if scores.size > 0 and kind_of(scores.dtype.num) >= 0 and scores.strides[0] != 0:
                    self.share_labels(labels, scores, relevance_level, parse_nan_policy(nan_policy))
                    return
                labels = np.broadcast_to(labels, scores.shape)
            if labels.shape != scores.shape:
                raise ValueError(f"y_true has shape {labels.shape}, y_score has shape {scores.shape}")
            self.width = max(1, scores.shape[1])
            self.offsets = np.arange(scores.shape[0] + 1, dtype=np.int64) * scores.shape[1]
            if mask is not None:
                self.order = np.flatnonzero(mask)
                self.offsets = np.append(0, np.cumsum(mask.sum(axis=1)))
            labels, scores = (array.reshape(-1) if mask is None else array[mask] for array in (labels, scores))
        else:
            one_dimension(labels, "y_true")
            one_dimension(scores, "y_score")
            same_items(labels.shape[0], scores.shape[0])
            if qid is not None and offsets is not None:
                raise ValueError("qid and offsets are both given: only one of them can say which query an item belongs to")
            if qid is not None:
                labels, scores = self.group(as_ids(qid, labels.shape[0], "items"), labels, scores)
            elif offsets is not None:
                self.offsets = as_offsets(offsets, labels.shape[0])
            else:
                raise ValueError("one-dimensional y_true and y_score need qid or offsets to say which query an item belongs to")
        self.items.nan_policy = parse_nan_policy(nan_policy)
        self.labels = as_labels(labels, relevance_level, &self.items, self.where_label)
        self.scores = as_scores(scores, "y_score", &self.items, self.where)
        self.num_queries = self.offsets.shape[0] - 1

    cdef object group(self, object ids, object labels, object scores):
        """Sorts labels and scores by query. The items of a query keep their order."""
        cdef Py_ssize_t n = ids.shape[0]
        try:
            unsorted = falls(ids)
        except TypeError:
            unsorted = True  # distinct_ids raises a clear error
        distinct = None
        if unsorted:
            if ids.dtype.kind not in "iu" or int(ids.max()) - int(ids.min()) >= 4 * n + 1024:
                distinct, ids = distinct_ids(ids)
            low, span = ids.min(), int(ids.max()) - int(ids.min()) + 1
        if unsorted and max(n, span) <= MOST_LAID:
            offsets, self.order, labels, scores = lay_out(ids, low, span, labels, scores)
            present = np.flatnonzero(np.diff(offsets))
            starts, found = offsets[present], present.astype(ids.dtype) + low
        else:
            if unsorted:
                self.order = np.argsort(ids, kind="stable")
                ids, labels, scores = (in_order(array, self.order) for array in (ids, labels, scores))
            starts = np.concatenate([np.zeros(min(n, 1), np.int64), np.flatnonzero(ids[1:] != ids[:-1]) + 1])
            found = ids[starts]
        self.offsets = np.append(starts, n)
        self.qid = found if distinct is None else distinct
        return labels, scores

    cdef int share_labels(self, object labels, object scores, object relevance_level, NanPolicy nan_policy) except -1:
        """Takes each row of `scores` as a ranking of the same items, without a copy."""
        self.items.nan_policy = nan_policy
        self.labels = as_labels(labels, relevance_level, &self.items)
        as_scores(scores[0], "y_score", &self.items)
        self.scores = scores
        self.step = cnp.PyArray_STRIDE(<cnp.ndarray>scores, 0)
        # numpy may give a single row any stride.
        set_column(&self.items.score, <cnp.ndarray>scores[0], kind_of(scores.dtype.num))
        self.num_queries = scores.shape[0]
        self.width = scores.shape[1]
        self.offsets = np.arange(self.num_queries + 1, dtype=np.int64) * self.width
        return 0

    cdef object flat_labels(self):
        return np.tile(self.labels, self.num_queries) if self.columns > 0 and self.step != 0 else self.labels

    def where(self, Py_ssize_t place):
        """The caller's index of an item of `y_score`."""
        if self.order is not None:
            place = int(self.order[place])
        if self.columns > 0:
            return f"{place % self.width}, {place // self.width}"
        if self.width > 0:
            return f"{place // self.width}, {place % self.width}"
        return place

    def where_label(self, Py_ssize_t place):
        """The caller's index of an item in an array that all columns share, such as `y_true`."""
        return place % self.width if self.columns > 0 else self.where(place)

    def where_of(self, values):
        """`where` or `where_label`, by the shape of these values."""
        return self.where_label if np.ndim(values) == 1 else self.where

    cdef int raise_status(self, Status status, const Tally* tally) except -1:
        if status == STATUS_BAD_LABEL:
            raise bad_label(self.labels, self.scores if not isinstance(self.scores, tuple) else self.scores[0],
                            tally.bad_label % self.labels.shape[0], f"y_true[{self.where_label(tally.bad_label)}]")
        if status == STATUS_NO_MEMORY:
            raise MemoryError("not enough memory to rank the items")
        raise bad_score("y_score", self.where(tally.bad_score))

    cdef object laid_out(self, object values, str name):
        """An array with another value for each item, sorted by query as the items are."""
        array = as_column(values, name)
        if self.columns > 0:
            array = np.broadcast_to(array, (self.columns, array.shape[0])) if array.ndim == 1 else array.T
        if array.size != int(self.offsets[-1]) or (self.width == 0 and array.ndim != 1):
            number = self.offsets[-1]
            raise ValueError(f"{name} has shape {np.shape(values)}: must hold a value for each of {many(number, 'items')}")
        array = array.reshape(-1)
        return array if self.order is None else in_order(array, self.order)

    cdef object of_items(self):
        """The query of each item."""
        return np.repeat(np.arange(self.num_queries), np.diff(self.offsets))

    cdef object keys(self, object tiebreak):
        """The secondary key of each item, or None for the order of the items, which sorting by query keeps."""
        laid = tiebreak if isinstance(tiebreak, str) else self.laid_out(tiebreak, "tiebreak")
        return as_key(laid, self.offsets[-1], self.where_of(tiebreak))

    cdef object real_scores(self):
        return self.scores[1][self.scores[0]] if isinstance(self.scores, tuple) else self.scores.reshape(-1)

    cdef object per_query(self, object num_relevant):
        """num_relevant as an array with a number for each query, or None."""
        if num_relevant is None:
            return None
        array = array_or_none(num_relevant, "num_relevant")
        if array is None or array.ndim == 0:
            number = countable(whole_number(num_relevant, "num_relevant"), "num_relevant")
            return np.full(self.num_queries, max(number, -LARGEST), dtype=np.int64)
        array = as_whole(array, "num_relevant")
        if array.shape != (self.num_queries,):
            raise ValueError(f"num_relevant has shape {array.shape}, but there {are(self.num_queries)} "
                             f"{many(self.num_queries, 'queries')}")
        for q in np.flatnonzero(array > LARGEST)[:1]:
            countable(array[q], f"num_relevant[{q}]")
        return array.astype(np.int64)

    cdef object checked_relevant(self, object num_relevant, object num_hits):
        """Checks that num_relevant of each query is not less than its number of ranked relevant items."""
        if num_relevant is None:
            return num_hits
        low = np.flatnonzero(num_relevant < num_hits)
        if low.shape[0] > 0:
            q = int(low[0])
            name = f"query {q}" if self.qid is None else f"query {self.qid[q:q + 1].tolist()[0]!r}"
            raise ValueError(f"num_relevant[{q}] is {num_relevant[q]}, but {name} holds {many(num_hits[q], 'relevant items')}")
        return num_relevant

    cdef object shares(self, Py_ssize_t workers):
        """Ranges of queries, enough for all workers. A range has few items, for a check for Ctrl-C, or a single query."""
        piece = PIECE
        if workers > 1:
            piece = max(1, min(piece, int(self.offsets[-1]) // (4 * workers)))
        cuts = np.searchsorted(self.offsets, np.arange(piece, max(int(self.offsets[-1]), 1), piece))
        alone = np.flatnonzero(np.diff(self.offsets) > PIECE)
        cuts = np.unique(np.concatenate([[0], cuts, alone, alone + 1, [self.num_queries]]))
        return [(int(a), int(b)) for a, b in zip(cuts[:-1], cuts[1:], strict=True)]


@cython.final
cdef class QueryRanking:
    """One pass over many rankings, some queries at a time."""
    cdef Queries queries
    cdef Rankings all
    cdef object num_relevant, num_items, num_hits  # `all` points to these arrays
    cdef bint cancelled
    cdef list running  # the Counting of each long query in progress

    def __cinit__(self, Queries queries, lower_is_better, strategy, num_relevant):
        self.queries = queries
        self.all.items = queries.items
        self.all.offsets = counts_in(queries.offsets)
        self.all.step = queries.step
        self.all.lower_is_better = parse_lower(lower_is_better)
        self.all.strategy = parse_strategy(strategy)
        self.num_relevant = queries.per_query(num_relevant)
        self.num_items = np.zeros(queries.num_queries, np.int64)
        self.num_hits = np.zeros(queries.num_queries, np.int64)
        self.all.num_items = counts_in(self.num_items)
        self.all.num_hits = counts_in(self.num_hits)
        if self.num_relevant is not None:
            self.all.num_relevant = counts_in(self.num_relevant)
        self.running = []

    def rank(self, list ranges):
        cdef Py_ssize_t first, last
        cdef Tally tally
        cdef Status status
        for first, last in ranges:
            if self.cancelled:
                return
            if self.all.offsets[first + 1] - self.all.offsets[first] > PIECE:
                self.rank_alone(first)
                continue
            with nogil:
                status = rank_queries(&self.all, first, last, &tally)
            if status != STATUS_OK:
                self.queries.raise_status(status, &tally)
            PyErr_CheckSignals()

    cdef int rank_alone(self, Py_ssize_t q) except -1:
        """A query of so many items that it is ranked in pieces."""
        cdef Items items
        cdef Py_ssize_t capacity = query_items(&self.all, q, &items)
        cdef Workspace work
        cdef Ranking ranking
        cdef Tally tally
        cdef Status status = STATUS_BAD_LABEL
        cdef Counting counting = Counting.__new__(Counting)
        self.running.append(counting)
        counting.cancelled = self.cancelled
        workspace_init(&work)
        try:
            capacity = min(capacity, count_relevant(&items, &tally))
            if capacity >= 0:
                status = rank_large(&items, self.all.lower_is_better, self.all.strategy, 1, capacity, &work, &ranking, &tally,
                                    counting)
            if status != STATUS_OK:
                tally.bad_label += self.all.offsets[q]
                tally.bad_score += self.all.offsets[q]
                self.queries.raise_status(status, &tally)
            with nogil:
                query_done(&self.all, q, &work, &ranking)
        finally:
            workspace_free(&work)
            self.running.remove(counting)
        return 0

    def cancel(self):
        cdef Counting counting
        self.cancelled = True
        for counting in list(self.running):
            counting.cancel()

    cdef int run(self, workers) except -1:
        cdef Py_ssize_t threads = parse_workers(workers)
        from hitcurve._base.workers import in_threads
        ranges = self.queries.shares(threads)
        shares = [ranges[w::threads] for w in range(min(threads, len(ranges)))]
        list(in_threads(self.rank, shares, threads, cancel=self.cancel, patience=None))
        return 0


cdef object queries_average_precision(Queries queries, object lower_is_better, object workers, object strategy,
                                      object num_relevant, const Reading* reading):
    """Average precision of each query, without tables in memory."""
    cdef QueryRanking ranking = QueryRanking(queries, lower_is_better, strategy, num_relevant)
    average_precision = np.empty(queries.num_queries, np.float64)
    ranking.all.reading = reading
    ranking.all.average_precision = <double*>cnp.PyArray_DATA(<cnp.ndarray>average_precision)
    ranking.run(workers)
    queries.checked_relevant(ranking.num_relevant, ranking.num_hits)
    return average_precision


cdef object queries_tables(Queries queries, object lower_is_better, object workers, object strategy, object num_relevant):
    """(row offsets, score, above, tied, hits, items, hits and relevant items of each query)."""
    cdef QueryRanking ranking = QueryRanking(queries, lower_is_better, strategy, num_relevant)
    cdef Py_ssize_t num_queries = queries.num_queries, q, total = 0, relevant = 0
    cdef Tally tally
    cdef int64_t[::1] place = np.zeros(num_queries + 1, np.int64)
    cdef int64_t[::1] rows = np.zeros(num_queries + 1, np.int64)
    cdef const int64_t* offsets = ranking.all.offsets
    # Room for as many rows as relevant items.
    tally_clear(&tally)
    with nogil:
        for q in range(num_queries):
            place[q] = total
            if queries.step == 0 or q == 0:
                relevant = count_labels(&queries.items.label, <Py_ssize_t>offsets[q], <Py_ssize_t>offsets[q + 1], &tally)
            total += relevant
            if tally.bad_label >= 0:
                break
    if tally.bad_label >= 0:
        queries.raise_status(STATUS_BAD_LABEL, &tally)
    place[num_queries] = total
    columns = np.empty((3, total), np.int64)
    score = np.empty(total, (np.float32, np.float64, np.int64)[queries.items.type])
    ranking.all.above = counts_in(columns)
    ranking.all.tied = ranking.all.above + total
    ranking.all.hits = ranking.all.tied + total
    ranking.all.score = cnp.PyArray_DATA(<cnp.ndarray>score)
    ranking.all.place = &place[0]
    ranking.all.rows = &rows[0]
    ranking.run(workers)
    lengths = np.asarray(rows)[:num_queries]
    row_offsets = np.zeros(num_queries + 1, np.int64)
    np.cumsum(lengths, out=row_offsets[1:])
    if row_offsets[num_queries] < total:
        # Some relevant items share a row: close the gaps.
        keep = np.repeat(np.asarray(place)[:-1] - row_offsets[:-1], lengths) + np.arange(row_offsets[-1])
        columns = columns[:, keep]
        score = score[keep]
    score = scores_as(cnp.PyArray_DATA(<cnp.ndarray>score), score.shape[0], queries.items.type, origin_of(queries.scores))
    return (row_offsets, score, *columns, ranking.num_items, ranking.num_hits,
            queries.checked_relevant(ranking.num_relevant, ranking.num_hits))
