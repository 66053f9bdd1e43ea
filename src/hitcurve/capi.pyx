"""The functions for other compiled code. hitcurve.h documents them."""
from libc.math cimport NAN, fabs, isfinite
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, memset

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc

from hitcurve._kernel.columns cimport (
    KIND_F32, KIND_F64, KIND_U8, SCORE_DOUBLE, SCORE_FLOAT, Column, Items, NanPolicy, Tally, count_labels, score_size,
    tally_clear,
)
from hitcurve._kernel.count cimport STRATEGY_AUTO
from hitcurve._kernel.formulas cimport (
    ALL_RANKS, CUTOFF, INTERPOLATES, INTERPOLATION_NONE, MEASURE_AVERAGE_PRECISION, NO_CUTOFF, NO_NUMBER, NO_THRESHOLD,
    NOT_NEGATIVE, NUM_MEASURES, RECORDS, SHARE, TIES_THRESHOLD, Interpolation, Normalize, Reading, Record, Table, Ties,
    read_measure,
)
from hitcurve._kernel.table cimport (
    SMALL, STATUS_BAD_LABEL, STATUS_BAD_SCORE, STATUS_NO_MEMORY, STATUS_OK, Ranking, SmallSpace, Status, Workspace, num_rows,
    rank_items, ranking_average_precision, ranking_rows, ranking_scores, reserve_relevant, small_workspace, workspace_free,
    workspace_init,
)

cdef int64_t LARGEST = (<int64_t>1) << 62


def get_include():
    """Return the folder that holds hitcurve.h."""
    import os
    return os.path.dirname(os.path.abspath(__file__))


# --------------------------------------------------------------------------------------------------------- the options

cdef int take_options(const hitcurve_options* given, hitcurve_options* options) noexcept nogil:
    """Copies the caller's options. A caller that was compiled with another version has fewer options, or more. Options that
    this version does not have must be zero."""
    cdef size_t known = sizeof(hitcurve_options), i
    memset(options, 0, known)
    options.size = known
    if given is NULL:
        return HITCURVE_OK
    if given.size < sizeof(hitcurve_options):  # if options are added: compare with the size of the first version
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
            and 0 <= options.k <= LARGEST
            and 0 <= options.num_relevant <= LARGEST):
        return HITCURVE_BAD_ARGUMENT
    if options.k > 0 and options.interpolation != HITCURVE_INTERPOLATION_NONE:
        return HITCURVE_BAD_ARGUMENT
    return HITCURVE_OK


cdef void set_reading(const hitcurve_options* options, Reading* reading) noexcept nogil:
    # The enums of hitcurve.h and of the kernels have the same numbers.
    reading[0] = Reading(<Ties>options.ties, <Normalize>options.normalize, <Interpolation>options.interpolation,
                         options.k if options.k > 0 else NO_CUTOFF, options.parameter, 1.0)


# The arguments and the working memory of one call.
cdef struct Call:
    hitcurve_options options
    Reading reading
    Items items
    Workspace work
    SmallSpace space
    Ranking ranking
    Tally tally
    int64_t* place
    int64_t unseen   # the place, if the caller passes NULL


cdef int begin(Call* call, const uint8_t* label, const void* score, bint is_float, int64_t n, const hitcurve_options* given,
               bint fine, int64_t* place) noexcept nogil:
    """Prepares a call. `fine` says that its other arguments are valid."""
    cdef int status = take_options(given, &call.options)
    call.place = &call.unseen if place is NULL else place
    call.place[0] = -1
    if status != HITCURVE_OK:
        return status
    if not fine or n < 0 or <Py_ssize_t>n != n or n > 0 and (label is NULL or score is NULL):
        return HITCURVE_BAD_ARGUMENT
    set_reading(&call.options, &call.reading)
    call.items.label = Column(<const char*>label, 1, KIND_U8)
    call.items.score = Column(<const char*>score, sizeof(float) if is_float else sizeof(double),
                              KIND_F32 if is_float else KIND_F64)
    call.items.type = SCORE_FLOAT if is_float else SCORE_DOUBLE
    call.items.n = <Py_ssize_t>n
    call.items.nan_policy = <NanPolicy>call.options.nan_policy
    if n < SMALL:
        small_workspace(&call.space, &call.work)
    else:
        workspace_init(&call.work)
    return HITCURVE_OK


cdef inline void end(Call* call) noexcept nogil:
    if call.items.n >= SMALL:
        workspace_free(&call.work)


# ------------------------------------------------------------------------------------------------------------- ranking

cdef enum:
    ROOMY = 1 << 14        # items whose scores get memory without a count of the relevant items


cdef int rank(Call* call, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    cdef Py_ssize_t capacity = stop - start
    cdef Status status = STATUS_NO_MEMORY
    tally_clear(&call.tally)
    if capacity > ROOMY:
        capacity = count_labels(&call.items.label, start, stop, &call.tally)
    if capacity < 0:
        status = STATUS_BAD_LABEL
    elif reserve_relevant(&call.items, capacity, &call.work):
        status = rank_items(&call.items, start, stop, call.options.lower_is_better, STRATEGY_AUTO, capacity, &call.work,
                            &call.ranking, &call.tally)
    if status == STATUS_BAD_LABEL:
        call.place[0] = call.tally.bad_label
        return HITCURVE_BAD_LABEL
    if status == STATUS_BAD_SCORE:
        call.place[0] = call.tally.bad_score
        return HITCURVE_BAD_SCORE
    return HITCURVE_OK if status == STATUS_OK else HITCURVE_NO_MEMORY


cdef bint interpolated(Ranking* ranking, const Reading* reading, int64_t num_relevant, double* value) noexcept nogil:
    """Average precision that needs the whole table. Returns False if there is no memory for the table."""
    cdef Table table
    cdef Py_ssize_t rows = num_rows(ranking)
    cdef int64_t* memory = <int64_t*>PyMem_RawMalloc(3 * rows * sizeof(int64_t) + 1)
    if memory is NULL:
        return False
    ranking_rows(ranking, rows, memory, memory + rows, memory + 2 * rows)
    table = Table(memory, memory + rows, memory + 2 * rows, rows, ranking.num_items, num_relevant)
    value[0] = read_measure(MEASURE_AVERAGE_PRECISION, &table, reading)
    PyMem_RawFree(memory)
    return True


cdef int average_precision_at(Call* call, Py_ssize_t start, Py_ssize_t stop, const int64_t* num_relevant,
                              double* value) noexcept nogil:
    """Average precision of the items from start to stop. If `num_relevant` is NULL, all relevant items were retrieved."""
    cdef int64_t relevant
    cdef int status = rank(call, start, stop)
    if status != HITCURVE_OK:
        return status
    relevant = call.ranking.num_hits if num_relevant is NULL else num_relevant[0]
    if not call.ranking.num_hits <= relevant <= LARGEST:
        return HITCURVE_BAD_NUM_RELEVANT
    if call.reading.interpolation == INTERPOLATION_NONE:
        value[0] = ranking_average_precision(&call.ranking, &call.reading, relevant)
    elif not interpolated(&call.ranking, &call.reading, relevant, value):
        return HITCURVE_NO_MEMORY
    return HITCURVE_OK


cdef int one_ranking(const uint8_t* label, const void* score, bint is_float, int64_t n, const hitcurve_options* given,
                     double* value, int64_t* place) noexcept nogil:
    cdef Call call
    cdef int status = begin(&call, label, score, is_float, n, given, value is not NULL, place)
    if status == HITCURVE_OK:
        status = average_precision_at(&call, 0, call.items.n,
                                      &call.options.num_relevant if call.options.num_relevant > 0 else NULL, value)
        if status == HITCURVE_BAD_NUM_RELEVANT:
            call.place[0] = 0
        end(&call)
    return status


cdef int hitcurve_average_precision_f32(const uint8_t* label, const float* score, int64_t n, const hitcurve_options* options,
                                        double* average_precision, int64_t* place) noexcept nogil:
    return one_ranking(label, score, True, n, options, average_precision, place)


cdef int hitcurve_average_precision_f64(const uint8_t* label, const double* score, int64_t n, const hitcurve_options* options,
                                        double* average_precision, int64_t* place) noexcept nogil:
    return one_ranking(label, score, False, n, options, average_precision, place)


# ------------------------------------------------------------------------------------------------------------ the mean

cdef enum:
    PARTIALS = 64  # parts of a sum of doubles that do not overlap: 2**-1074 to 2**1024 is 2098 bits, and a part has 53


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
    """The correctly rounded sum of one or more numbers, as math.fsum gives it: the mean is the same as from Python."""
    cdef int i = total.count - 1
    cdef double high = total.partials[i], low = 0.0, x, y
    while i > 0 and low == 0.0:
        i -= 1
        x = high
        y = total.partials[i]
        high = x + y
        low = y - (high - x)
    # If the sum is half-way between two doubles, the remaining parts, none of which is 0, decide.
    if i > 0 and (low < 0.0) == (total.partials[i - 1] < 0.0):
        y = low * 2.0
        x = high + y
        if y == x - high:
            high = x
    return high


cdef int many_rankings(const uint8_t* label, const void* score, bint is_float, const int64_t* offsets,
                       int64_t num_queries, const int64_t* num_relevant, const hitcurve_options* given,
                       double* per_query, double* mean, int64_t* place) noexcept nogil:
    cdef Call call
    cdef ExactSum total
    cdef double value = 0.0
    cdef const int64_t* relevant = NULL
    cdef bint fine = num_queries >= 0 and offsets is not NULL
    cdef int64_t q, n = 0, bad = -1, queries = 0
    cdef int status
    if fine:
        for q in range(num_queries + 1):
            if offsets[q] < (offsets[q - 1] if q > 0 else 0):
                bad = q
                break
        if bad < 0 and offsets[num_queries] > offsets[0]:
            n = offsets[num_queries]
    status = begin(&call, label, score, is_float, n, given, fine, place)
    if status != HITCURVE_OK:
        return status
    if call.options.num_relevant != 0:
        return HITCURVE_BAD_ARGUMENT
    if bad >= 0:
        call.place[0] = bad
        return HITCURVE_BAD_OFFSETS
    total.count = 0
    for q in range(num_queries):
        if num_relevant is not NULL:
            relevant = &num_relevant[q]
        status = average_precision_at(&call, <Py_ssize_t>offsets[q], <Py_ssize_t>offsets[q + 1], relevant, &value)
        if status == HITCURVE_BAD_NUM_RELEVANT:
            call.place[0] = q
        if status != HITCURVE_OK:
            break
        if per_query is not NULL:
            per_query[q] = value
        if value != value:
            if call.options.empty == HITCURVE_EMPTY_SKIP:
                continue
            if call.options.empty == HITCURVE_EMPTY_RAISE:
                status = HITCURVE_EMPTY_QUERY
                call.place[0] = q
                break
            value = 1.0 if call.options.empty == HITCURVE_EMPTY_ONE else 0.0
        exact_add(&total, value)
        queries += 1
    end(&call)
    if status == HITCURVE_OK and mean is not NULL:
        mean[0] = exact_end(&total) / <double>queries if queries > 0 else NAN
    return status


cdef int hitcurve_mean_average_precision_f32(
        const uint8_t* label, const float* score, const int64_t* offsets, int64_t num_queries, const int64_t* num_relevant,
        const hitcurve_options* options, double* per_query, double* mean, int64_t* place) noexcept nogil:
    return many_rankings(label, score, True, offsets, num_queries, num_relevant, options, per_query, mean, place)


cdef int hitcurve_mean_average_precision_f64(
        const uint8_t* label, const double* score, const int64_t* offsets, int64_t num_queries, const int64_t* num_relevant,
        const hitcurve_options* options, double* per_query, double* mean, int64_t* place) noexcept nogil:
    return many_rankings(label, score, False, offsets, num_queries, num_relevant, options, per_query, mean, place)


# ---------------------------------------------------------------------------------------------------------- the tables

cdef bint usable(const hitcurve_table* table) noexcept nogil:
    return (table is not NULL and table.size >= sizeof(hitcurve_table) and table.rows >= 0
            and (table.rows == 0 or table.above is not NULL and table.tied is not NULL and table.hits is not NULL)
            and (table.rows > 0 or table.num_hits == 0)
            and 0 <= table.num_hits <= table.num_relevant <= LARGEST and 0 <= table.num_items <= LARGEST)


cdef int write_table(Call* call, hitcurve_table* table) noexcept nogil:
    cdef int64_t rows = num_rows(&call.ranking)
    cdef int64_t* memory
    if 0 < call.options.num_relevant < call.ranking.num_hits:
        call.place[0] = 0
        return HITCURVE_BAD_NUM_RELEVANT
    if table.capacity > 0:
        if rows > table.capacity:
            call.place[0] = rows
            return HITCURVE_NO_ROOM
    else:
        memory = <int64_t*>PyMem_RawMalloc(<size_t>rows * (3 * sizeof(int64_t) + score_size(call.items.type)) + 1)
        if memory is NULL:
            return HITCURVE_NO_MEMORY
        PyMem_RawFree(table.memory)
        table.memory = memory
        table.above = memory
        table.tied = memory + rows
        table.hits = memory + 2 * rows
        table.score = memory + 3 * rows
    ranking_rows(&call.ranking, rows, table.above, table.tied, table.hits)
    if table.score is not NULL:
        ranking_scores(&call.items, &call.work, &call.ranking, table.score)
    table.rows = rows
    table.num_items = call.ranking.num_items
    table.num_hits = call.ranking.num_hits
    table.num_relevant = max(table.num_hits, call.options.num_relevant)
    return HITCURVE_OK


cdef int make_table(const uint8_t* label, const void* score, bint is_float, int64_t n, const hitcurve_options* given,
                    hitcurve_table* table, int64_t* place) noexcept nogil:
    cdef Call call
    cdef bint fine = (table is not NULL and table.size >= sizeof(hitcurve_table) and table.capacity >= 0 and (
        table.capacity == 0 or table.above is not NULL and table.tied is not NULL and table.hits is not NULL))
    cdef int status = begin(&call, label, score, is_float, n, given, fine, place)
    if status == HITCURVE_OK:
        status = rank(&call, 0, call.items.n)
        if status == HITCURVE_OK:
            status = write_table(&call, table)
        end(&call)
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
    if table.above == table.memory:  # else the columns are the caller's; `memory` is of an earlier table
        table.above = table.tied = table.hits = NULL
        table.score = NULL
        table.rows = 0
        table.num_items = -1  # so that the table cannot be read
    PyMem_RawFree(table.memory)
    table.memory = NULL


cdef int hitcurve_check_table(const hitcurve_table* table, int64_t* place) noexcept nogil:
    cdef int64_t unseen, end = 0, seen = 0, i
    place = &unseen if place is NULL else place
    place[0] = -1
    if table is NULL or table.size < sizeof(hitcurve_table):
        return HITCURVE_BAD_ARGUMENT
    if not usable(table):
        return HITCURVE_BAD_TABLE
    for i in range(table.rows):
        # No sum here can overflow 64 bits, because all totals are at most 2**62.
        if (table.hits[i] < 1 or table.tied[i] < table.hits[i] or table.above[i] < end or table.above[i] > table.num_items
                or table.tied[i] > table.num_items - table.above[i]):
            place[0] = i
            return HITCURVE_BAD_TABLE
        end = table.above[i] + table.tied[i]
        seen += table.hits[i]
    return HITCURVE_OK if seen == table.num_hits else HITCURVE_BAD_TABLE


# -------------------------------------------------------------------------------------------------------- the measures

cdef bint fitting(const Record* record, const hitcurve_options* options, bint of_all) noexcept nogil:
    """Whether the options are valid for the measure. `of_all` says that the measure works without a cutoff."""
    cdef double x = options.parameter
    if (record.readings == NO_THRESHOLD and options.ties == TIES_THRESHOLD or options.k != 0 and not record.takes & CUTOFF
            or options.k == 0 and record.takes & CUTOFF and not of_all
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
    cdef int64_t most
    cdef int status = take_options(given, &options)
    if status != HITCURVE_OK:
        return status
    if value is NULL or not 0 <= measure < NUM_MEASURES or not usable(table):
        return HITCURVE_BAD_ARGUMENT
    record = &RECORDS[measure]
    if not fitting(record, &options, measure in (
            HITCURVE_AVERAGE_PRECISION, HITCURVE_RECIPROCAL_RANK, HITCURVE_ORDER_ACCURACY)):
        return HITCURVE_BAD_ARGUMENT
    if table.num_relevant > table.num_hits and record.takes & ALL_RANKS:
        return HITCURVE_NOT_RETRIEVED
    set_reading(&options, &reading)
    if measure in (HITCURVE_ROC_ENRICHMENT, HITCURVE_PARTIAL_ROC_AUC, HITCURVE_PARTIAL_ROC_AREA,
                   HITCURVE_INTERPOLATED_PRECISION):
        most = table.num_relevant if measure == HITCURVE_INTERPOLATED_PRECISION else table.num_items - table.num_relevant
        if reading.x > <double>most:
            return HITCURVE_BAD_ARGUMENT
        reading.k = <int64_t>reading.x
        reading.x -= <double>reading.k
        if reading.x > 0.5:
            reading.k += 1
            reading.x -= 1.0
    rows = Table(table.above, table.tied, table.hits, <Py_ssize_t>table.rows, table.num_items, table.num_relevant)
    value[0] = record.formula(&rows, &reading)
    return HITCURVE_OK
