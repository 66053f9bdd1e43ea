"""The functions that other compiled code calls: see capi.pxd, which is their documentation."""
from libc.math cimport NAN, fabs, fmin, isfinite
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc

from hitcurve._kernel.count cimport (
    KIND_F32,
    KIND_F64,
    KIND_U8,
    SCORE_DOUBLE,
    SCORE_FLOAT,
    STRATEGY_AUTO,
    Index,
    Items,
    NanPolicy,
    Tally,
    count_items,
    count_labels,
    gather_relevant,
    score_size,
    scratch_size,
    tally_clear,
)
from hitcurve._kernel.formulas cimport (
    ALL_RANKS,
    CUTOFF,
    INTERPOLATES,
    INTERPOLATION_NONE,
    MEASURE_AVERAGE_PRECISION,
    NO_CUTOFF,
    NO_NUMBER,
    NO_THRESHOLD,
    NOT_NEGATIVE,
    NUM_MEASURES,
    RECORDS,
    SHARE,
    TIES_THRESHOLD,
    Interpolation,
    Normalize,
    Reading,
    Record,
    Table,
    Ties,
    read_measure,
)
from hitcurve._kernel.table cimport (
    SMALL,
    STATUS_BAD_LABEL,
    STATUS_BAD_SCORE,
    STATUS_NO_MEMORY,
    STATUS_OK,
    Ranking,
    SmallSpace,
    Status,
    Workspace,
    finish_ranking,
    index_relevant,
    num_rows,
    rank_items,
    ranking_average_precision,
    ranking_rows,
    ranking_scores,
    reserve_relevant,
    small_workspace,
    workspace_free,
    workspace_init,
)

cdef int64_t LARGEST = (<int64_t>1) << 62


def get_include():
    """The folder that holds hitcurve.h."""
    import os
    return os.path.dirname(os.path.abspath(__file__))


# --------------------------------------------------------------------------------------------------------- the options

cdef int take_options(const hitcurve_options* given, hitcurve_options* options) noexcept nogil:
    """The caller's options as this version has them. A caller compiled against another version knows fewer options, or
    more: those must be zero here."""
    cdef size_t known = sizeof(hitcurve_options), i
    memset(options, 0, known)
    options.size = known
    if given is NULL:
        return HITCURVE_OK
    if given.size < sizeof(hitcurve_options):  # when options are added: the size of the first version
        return HITCURVE_BAD_ARGUMENT
    for i in range(known, given.size):
        if (<const uint8_t*>given)[i] != 0:
            return HITCURVE_BAD_ARGUMENT
    memcpy(options, given, known)
    options.size = known
    if not (0 <= options.ties <= HITCURVE_TIES_THRESHOLD
            and 0 <= options.normalize <= HITCURVE_NORMALIZE_HITS
            and 0 <= options.interpolation <= HITCURVE_INTERPOLATION_CONTINUOUS
            and 0 <= options.nan_policy <= HITCURVE_NAN_OMIT
            and 0 <= options.lower_is_better <= 1
            and 0 <= options.empty <= HITCURVE_EMPTY_RAISE
            and 0 <= options.k
            and 0 <= options.num_relevant <= LARGEST):
        return HITCURVE_BAD_ARGUMENT
    if options.k > 0 and options.interpolation != HITCURVE_INTERPOLATION_NONE:
        return HITCURVE_BAD_ARGUMENT
    options.k = min(options.k, LARGEST)
    return HITCURVE_OK


cdef void set_reading(const hitcurve_options* options, Reading* reading) noexcept nogil:
    # The numbers that other packages were compiled with are those of the enums inside.
    reading.ties = <Ties>options.ties
    reading.normalize = <Normalize>options.normalize
    reading.interpolation = <Interpolation>options.interpolation
    reading.k = options.k if options.k > 0 else NO_CUTOFF
    reading.x = options.parameter


cdef void set_items(const uint8_t* label, const void* score, bint is_float, int64_t n, const hitcurve_options* options,
                    Items* items) noexcept nogil:
    items.label.data = <const char*>label
    items.label.stride = 1
    items.label.kind = KIND_U8
    items.score.data = <const char*>score
    items.score.stride = sizeof(float) if is_float else sizeof(double)
    items.score.kind = KIND_F32 if is_float else KIND_F64
    items.type = SCORE_FLOAT if is_float else SCORE_DOUBLE
    items.n = <Py_ssize_t>n
    items.nan_policy = <NanPolicy>options.nan_policy


cdef inline int64_t* told(int64_t* place, int64_t* unseen) noexcept nogil:
    """Where to write the place of what is wrong, also for a caller who does not ask; nothing is, so far."""
    if place is NULL:
        place = unseen
    place[0] = -1
    return place


cdef int status_of(Status status, const Tally* tally, int64_t* place) noexcept nogil:
    if status == STATUS_OK:
        return HITCURVE_OK
    if status == STATUS_NO_MEMORY:
        return HITCURVE_NO_MEMORY
    if status == STATUS_BAD_LABEL:
        place[0] = tally.bad_label
        return HITCURVE_BAD_LABEL
    place[0] = tally.bad_score
    return HITCURVE_BAD_SCORE


# ------------------------------------------------------------------------------------------------------------- ranking

cdef enum:
    ROOMY = 1 << 14        # items for whose scores room is made unseen, before the relevant ones are counted
    PIECE = 1 << 30        # items counted before 32-bit counts are emptied


cdef Status rank_huge(const Items* items, Py_ssize_t start, Py_ssize_t stop, bint lower, Py_ssize_t capacity,
                      Workspace* work, Ranking* ranking, Tally* tally, int64_t** wide) noexcept nogil:
    """More items than 32-bit counts can hold; the counts, in `wide`, are the caller's to free."""
    cdef Index index
    cdef uint32_t* counts
    cdef void* scratch
    cdef Py_ssize_t found, i, size, end, n = stop - start
    cdef bint fine = True
    tally_clear(tally)
    found = gather_relevant(items, start, stop, work.relevant.memory, 0, capacity, tally)
    if tally.bad_label >= 0:
        return STATUS_BAD_LABEL
    if tally.bad_score >= 0:
        return STATUS_BAD_SCORE
    if not index_relevant(items, n, found, STRATEGY_AUTO, work, &index):
        return STATUS_NO_MEMORY
    size = 2 * index.m + 2
    wide[0] = <int64_t*>PyMem_RawCalloc(size, sizeof(int64_t))
    counts = <uint32_t*>PyMem_RawMalloc(size * sizeof(uint32_t))
    scratch = PyMem_RawMalloc(scratch_size(&index, min(n, PIECE)))
    if wide[0] is not NULL and counts is not NULL and scratch is not NULL:
        while start < stop and fine:
            end = min(stop, start + PIECE)
            memset(counts, 0, size * sizeof(uint32_t))
            fine = count_items(items, start, end, &index, scratch, counts, tally)
            for i in range(size):
                wide[0][i] += counts[i]
            start = end
    PyMem_RawFree(counts)
    PyMem_RawFree(scratch)
    if wide[0] is NULL or start < stop and fine:
        return STATUS_NO_MEMORY
    if not fine:
        return STATUS_BAD_SCORE
    ranking.counts.narrow = NULL
    ranking.counts.wide = wide[0]
    finish_ranking(items, n, found, lower, &index, tally, ranking)
    return STATUS_OK


cdef Status rank_any(const Items* items, Py_ssize_t start, Py_ssize_t stop, bint lower, Workspace* work,
                     Ranking* ranking, Tally* tally, int64_t** wide) noexcept nogil:
    cdef Py_ssize_t n = stop - start, capacity = n
    wide[0] = NULL
    if n > ROOMY:
        tally_clear(tally)
        capacity = count_labels(&items.label, start, stop, tally)
        if capacity < 0:
            return STATUS_BAD_LABEL
    if not reserve_relevant(items, capacity, work):
        return STATUS_NO_MEMORY
    if n >> 32 > 0:
        return rank_huge(items, start, stop, lower, capacity, work, ranking, tally, wide)
    return rank_items(items, start, stop, lower, STRATEGY_AUTO, capacity, work, ranking, tally)


cdef bint interpolated(Ranking* ranking, const Reading* reading, int64_t num_relevant, double* value) noexcept nogil:
    """Average precision that needs the table as a whole; False without memory for it."""
    cdef Table table
    cdef Py_ssize_t rows = num_rows(ranking)
    cdef int64_t* memory = <int64_t*>PyMem_RawMalloc(3 * rows * sizeof(int64_t) + 1)
    if memory is NULL:
        return False
    ranking_rows(ranking, rows, memory, memory + rows, memory + 2 * rows)
    table.above = memory
    table.tied = memory + rows
    table.hits = memory + 2 * rows
    table.rows = rows
    table.num_items = ranking.num_items
    table.num_relevant = num_relevant
    value[0] = read_measure(MEASURE_AVERAGE_PRECISION, &table, reading)
    PyMem_RawFree(memory)
    return True


cdef int average_precision_at(const Items* items, Py_ssize_t start, Py_ssize_t stop, const hitcurve_options* options,
                              const int64_t* num_relevant, Workspace* work, double* value, int64_t* place) noexcept nogil:
    """Average precision of the items from start to stop; NULL for `num_relevant` means those found."""
    cdef Ranking ranking
    cdef Reading reading
    cdef Tally tally
    cdef int64_t* wide
    cdef int64_t relevant
    cdef int status = status_of(rank_any(items, start, stop, options.lower_is_better, work, &ranking, &tally, &wide),
                                &tally, place)
    if status == HITCURVE_OK:
        relevant = ranking.num_hits if num_relevant is NULL else num_relevant[0]
        set_reading(options, &reading)
        if not ranking.num_hits <= relevant <= LARGEST:
            status = HITCURVE_BAD_NUM_RELEVANT
        elif reading.interpolation == INTERPOLATION_NONE:
            value[0] = ranking_average_precision(&ranking, &reading, relevant)
        elif not interpolated(&ranking, &reading, relevant, value):
            status = HITCURVE_NO_MEMORY
    PyMem_RawFree(wide)
    return status


cdef int one_ranking(const uint8_t* label, const void* score, bint is_float, int64_t n, const hitcurve_options* given,
                     double* value, int64_t* place) noexcept nogil:
    cdef hitcurve_options options
    cdef Items items
    cdef SmallSpace space
    cdef Workspace work
    cdef int64_t unseen
    cdef int status = take_options(given, &options)
    place = told(place, &unseen)
    if status == HITCURVE_OK and (value is NULL or n < 0 or <Py_ssize_t>n != n
                                  or n > 0 and (label is NULL or score is NULL)):
        status = HITCURVE_BAD_ARGUMENT
    if status == HITCURVE_OK:
        set_items(label, score, is_float, n, &options, &items)
        if n < SMALL:
            small_workspace(&space, &work)
        else:
            workspace_init(&work)
        status = average_precision_at(&items, 0, items.n, &options,
                                      &options.num_relevant if options.num_relevant > 0 else NULL, &work, value, place)
        if n >= SMALL:
            workspace_free(&work)
        if status == HITCURVE_BAD_NUM_RELEVANT:
            place[0] = 0
    return status


cdef int hitcurve_average_precision_f32(const uint8_t* label, const float* score, int64_t n,
                                        const hitcurve_options* options, double* average_precision,
                                        int64_t* place) noexcept nogil:
    return one_ranking(label, score, True, n, options, average_precision, place)


cdef int hitcurve_average_precision_f64(const uint8_t* label, const double* score, int64_t n,
                                        const hitcurve_options* options, double* average_precision,
                                        int64_t* place) noexcept nogil:
    return one_ranking(label, score, False, n, options, average_precision, place)


# ------------------------------------------------------------------------------------------------------------ the mean

cdef enum:
    PARTIALS = 64  # parts of a sum of doubles that do not overlap: 2**1074 to 2**1024 is 2098 bits, 53 to a part


cdef struct ExactSum:
    double partials[PARTIALS]
    int count


cdef void exact_add(ExactSum* total, double x) noexcept nogil:
    """Shewchuk 1997, Adaptive Precision Floating-Point Arithmetic: the parts add up to the sum without rounding."""
    cdef int i, kept = 0
    cdef double y, high, low
    for i in range(total.count):
        y = total.partials[i]
        if fabs(x) < fabs(y):
            x, y = y, x
        high = x + y
        low = y - (high - x)
        if low != 0.0:
            total.partials[kept] = low
            kept += 1
        x = high
    total.partials[kept] = x
    total.count = kept + 1


cdef double exact_end(const ExactSum* total) noexcept nogil:
    """The sum, correctly rounded: what math.fsum gives, and so the same mean as from Python."""
    cdef int i = total.count - 1
    cdef double high, low = 0.0, x, y
    if i < 0:
        return 0.0
    high = total.partials[i]
    while i > 0:
        i -= 1
        x = high
        y = total.partials[i]
        high = x + y
        low = y - (high - x)
        if low != 0.0:
            break
    # Half-way between two doubles the parts that are left decide.
    if i > 0 and (low < 0.0 and total.partials[i - 1] < 0.0 or low > 0.0 and total.partials[i - 1] > 0.0):
        y = low * 2.0
        x = high + y
        if y == x - high:
            high = x
    return high


cdef int many_rankings(const uint8_t* label, const void* score, bint is_float, const int64_t* offsets,
                       int64_t num_queries, const int64_t* num_relevant, const hitcurve_options* given,
                       double* per_query, double* mean, int64_t* place) noexcept nogil:
    cdef hitcurve_options options
    cdef Items items
    cdef Workspace work
    cdef ExactSum total
    cdef double value = 0.0
    cdef const int64_t* relevant = NULL
    cdef int64_t unseen, q, queries = 0
    cdef int status = take_options(given, &options)
    place = told(place, &unseen)
    if status == HITCURVE_OK and (num_queries < 0 or offsets is NULL or options.num_relevant != 0):
        status = HITCURVE_BAD_ARGUMENT
    if status == HITCURVE_OK:
        for q in range(num_queries + 1):
            if offsets[q] < (offsets[q - 1] if q > 0 else 0):
                status = HITCURVE_BAD_OFFSETS
                place[0] = q
                break
    if status == HITCURVE_OK and offsets[num_queries] > offsets[0] and (
            label is NULL or score is NULL or <Py_ssize_t>offsets[num_queries] != offsets[num_queries]):
        status = HITCURVE_BAD_ARGUMENT
    if status == HITCURVE_OK:
        total.count = 0
        workspace_init(&work)
        set_items(label, score, is_float, offsets[num_queries], &options, &items)
        for q in range(num_queries):
            if num_relevant is not NULL:
                relevant = &num_relevant[q]
            status = average_precision_at(&items, <Py_ssize_t>offsets[q], <Py_ssize_t>offsets[q + 1], &options, relevant,
                                          &work, &value, place)
            if status != HITCURVE_OK:
                if status == HITCURVE_BAD_NUM_RELEVANT:
                    place[0] = q
                break
            if per_query is not NULL:
                per_query[q] = value
            if value != value:
                if options.empty == HITCURVE_EMPTY_SKIP:
                    continue
                if options.empty == HITCURVE_EMPTY_RAISE:
                    status = HITCURVE_EMPTY_QUERY
                    place[0] = q
                    break
                value = 1.0 if options.empty == HITCURVE_EMPTY_ONE else 0.0
            exact_add(&total, value)
            queries += 1
        workspace_free(&work)
    if status == HITCURVE_OK and mean is not NULL:
        mean[0] = exact_end(&total) / <double>queries if queries > 0 else NAN
    return status


cdef int hitcurve_mean_average_precision_f32(const uint8_t* label, const float* score, const int64_t* offsets,
                                             int64_t num_queries, const int64_t* num_relevant,
                                             const hitcurve_options* options, double* per_query, double* mean,
                                             int64_t* place) noexcept nogil:
    return many_rankings(label, score, True, offsets, num_queries, num_relevant, options, per_query, mean, place)


cdef int hitcurve_mean_average_precision_f64(const uint8_t* label, const double* score, const int64_t* offsets,
                                             int64_t num_queries, const int64_t* num_relevant,
                                             const hitcurve_options* options, double* per_query, double* mean,
                                             int64_t* place) noexcept nogil:
    return many_rankings(label, score, False, offsets, num_queries, num_relevant, options, per_query, mean, place)


# ---------------------------------------------------------------------------------------------------------- the tables

cdef bint usable(const hitcurve_table* table) noexcept nogil:
    return (table is not NULL and table.size >= sizeof(hitcurve_table) and table.rows >= 0
            and (table.rows == 0 or table.above is not NULL and table.tied is not NULL and table.hits is not NULL)
            and 0 <= table.num_hits <= table.num_relevant <= LARGEST and 0 <= table.num_items <= LARGEST)


cdef int write_table(const Items* items, const Workspace* work, Ranking* ranking, hitcurve_table* table,
                     int64_t* place) noexcept nogil:
    cdef int64_t rows = num_rows(ranking)
    cdef int64_t* memory
    if table.capacity > 0:
        if rows > table.capacity:
            place[0] = rows
            return HITCURVE_NO_ROOM
    else:
        memory = <int64_t*>PyMem_RawMalloc(<size_t>rows * (3 * sizeof(int64_t) + score_size(items.type)) + 1)
        if memory is NULL:
            return HITCURVE_NO_MEMORY
        PyMem_RawFree(table.memory)
        table.memory = memory
        table.above = memory
        table.tied = memory + rows
        table.hits = memory + 2 * rows
        table.score = memory + 3 * rows
    ranking_rows(ranking, rows, table.above, table.tied, table.hits)
    if table.score is not NULL:
        ranking_scores(items, work, ranking, table.score)
    table.rows = rows
    table.num_items = ranking.num_items
    table.num_hits = ranking.num_hits
    return HITCURVE_OK


cdef int make_table(const uint8_t* label, const void* score, bint is_float, int64_t n, const hitcurve_options* given,
                    hitcurve_table* table, int64_t* place) noexcept nogil:
    cdef hitcurve_options options
    cdef Items items
    cdef Workspace work
    cdef SmallSpace space
    cdef Ranking ranking
    cdef Tally tally
    cdef int64_t* wide = NULL
    cdef int64_t unseen
    cdef int status = take_options(given, &options)
    place = told(place, &unseen)
    if status == HITCURVE_OK and (table is NULL or table.size < sizeof(hitcurve_table) or table.capacity < 0
                                  or table.capacity > 0 and (table.above is NULL or table.tied is NULL or table.hits is NULL)
                                  or n < 0 or <Py_ssize_t>n != n or n > 0 and (label is NULL or score is NULL)):
        status = HITCURVE_BAD_ARGUMENT
    if status == HITCURVE_OK:
        set_items(label, score, is_float, n, &options, &items)
        if n < SMALL:
            small_workspace(&space, &work)
        else:
            workspace_init(&work)
        status = status_of(rank_any(&items, 0, items.n, options.lower_is_better, &work, &ranking, &tally, &wide), &tally,
                           place)
        if status == HITCURVE_OK and 0 < options.num_relevant < ranking.num_hits:
            status = HITCURVE_BAD_NUM_RELEVANT
            place[0] = 0
        if status == HITCURVE_OK:
            status = write_table(&items, &work, &ranking, table, place)
        if status == HITCURVE_OK:
            table.num_relevant = max(table.num_hits, options.num_relevant)
        PyMem_RawFree(wide)
        if n >= SMALL:
            workspace_free(&work)
    return status


cdef int hitcurve_make_table_f32(const uint8_t* label, const float* score, int64_t n, const hitcurve_options* options,
                                 hitcurve_table* table, int64_t* place) noexcept nogil:
    return make_table(label, score, True, n, options, table, place)


cdef int hitcurve_make_table_f64(const uint8_t* label, const double* score, int64_t n, const hitcurve_options* options,
                                 hitcurve_table* table, int64_t* place) noexcept nogil:
    return make_table(label, score, False, n, options, table, place)


cdef void hitcurve_free_table(hitcurve_table* table) noexcept nogil:
    if table is NULL or table.memory is NULL:
        return
    if table.above == table.memory:  # else the columns are the caller's, who had a table made by the library before
        table.above = table.tied = table.hits = NULL
        table.score = NULL
        table.rows = 0
    PyMem_RawFree(table.memory)
    table.memory = NULL


cdef int hitcurve_check_table(const hitcurve_table* table, int64_t* place) noexcept nogil:
    cdef int64_t unseen, end = 0, seen = 0, i
    place = told(place, &unseen)
    if table is NULL or table.size < sizeof(hitcurve_table):
        return HITCURVE_BAD_ARGUMENT
    if not usable(table):
        return HITCURVE_BAD_TABLE
    for i in range(table.rows):
        # Written so that no sum leaves 64 bits: all totals are at most 2**62.
        if (table.hits[i] < 1 or table.tied[i] < table.hits[i] or table.above[i] < end or table.above[i] > table.num_items
                or table.tied[i] > table.num_items - table.above[i]):
            place[0] = i
            return HITCURVE_BAD_TABLE
        end = table.above[i] + table.tied[i]
        seen += table.hits[i]
    return HITCURVE_OK if seen == table.num_hits else HITCURVE_BAD_TABLE


# -------------------------------------------------------------------------------------------------------- the measures

cdef bint fitting(const Record* record, const hitcurve_options* options) noexcept nogil:
    """Whether the options hold what the measure takes."""
    cdef double x = options.parameter
    if (record.readings == NO_THRESHOLD and options.ties == TIES_THRESHOLD or options.k != 0 and not record.takes & CUTOFF
            or options.interpolation != INTERPOLATION_NONE and not record.takes & INTERPOLATES):
        return False
    if record.domain == NO_NUMBER:
        return True
    return isfinite(x) and (x >= 0.0 if record.domain == NOT_NEGATIVE else 0.0 < x) and (record.domain != SHARE or x < 1.0)


cdef int hitcurve_read(const hitcurve_table* table, int measure, const hitcurve_options* given,
                       double* value) noexcept nogil:
    cdef hitcurve_options options
    cdef Reading reading
    cdef Table rows
    cdef const Record* record
    cdef int status = take_options(given, &options)
    if status != HITCURVE_OK:
        return status
    if value is NULL or not 0 <= measure < NUM_MEASURES or not usable(table):
        return HITCURVE_BAD_ARGUMENT
    record = &RECORDS[measure]
    if not fitting(record, &options):
        return HITCURVE_BAD_ARGUMENT
    if table.num_relevant > table.num_hits and record.takes & ALL_RANKS:
        return HITCURVE_NOT_RETRIEVED
    set_reading(&options, &reading)
    if measure == HITCURVE_ROC_ENRICHMENT:
        reading.k = <int64_t>fmin(reading.x, 4611686018427387904.0)
        reading.x -= <double>reading.k
    rows.above = table.above
    rows.tied = table.tied
    rows.hits = table.hits
    rows.rows = <Py_ssize_t>table.rows
    rows.num_items = table.num_items
    rows.num_relevant = table.num_relevant
    value[0] = record.formula(&rows, &reading)
    return HITCURVE_OK
