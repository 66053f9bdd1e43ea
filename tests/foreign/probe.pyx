# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False, cdivision=True
"""Every function of hitcurve's .pxd, as a foreign module calls it: for tests/test_foreign.py."""
from cython.parallel cimport prange
from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from hitcurve cimport (
    HITCURVE_OK,
    hitcurve_average_precision_f32,
    hitcurve_average_precision_f64,
    hitcurve_check_table,
    hitcurve_free_table,
    hitcurve_make_table_f32,
    hitcurve_make_table_f64,
    hitcurve_mean_average_precision_f32,
    hitcurve_mean_average_precision_f64,
    hitcurve_options,
    hitcurve_read,
    hitcurve_table,
)

ctypedef fused score_t:
    float
    double

SIZES = {"options": sizeof(hitcurve_options), "table": sizeof(hitcurve_table)}


cdef hitcurve_options options_from(dict given):
    cdef hitcurve_options options
    memset(&options, 0, sizeof(options))
    options.size = given.get("size", sizeof(options))
    options.ties = given.get("ties", 0)
    options.normalize = given.get("normalize", 0)
    options.interpolation = given.get("interpolation", 0)
    options.nan_policy = given.get("nan_policy", 0)
    options.lower_is_better = given.get("lower_is_better", 0)
    options.empty = given.get("empty", 0)
    options.k = given.get("k", 0)
    options.num_relevant = given.get("num_relevant", 0)
    options.parameter = given.get("parameter", 0.0)
    return options


def average_precision(const uint8_t[::1] label, const score_t[::1] score, **given):
    """(status, value, place)"""
    cdef hitcurve_options options = options_from(given)
    cdef const uint8_t* y = &label[0] if label.shape[0] else NULL
    cdef const score_t* s = &score[0] if score.shape[0] else NULL
    cdef double value = -1.0
    cdef int64_t place = -2
    cdef int status
    with nogil:
        if score_t is float:
            status = hitcurve_average_precision_f32(y, s, label.shape[0], &options, &value, &place)
        else:
            status = hitcurve_average_precision_f64(y, s, label.shape[0], &options, &value, &place)
    return status, value, place


def by_default(const uint8_t[::1] label, const double[::1] score):
    """NULL options, NULL place."""
    cdef double value = -1.0
    cdef int status = hitcurve_average_precision_f64(&label[0], &score[0], label.shape[0], NULL, &value, NULL)
    return status, value


def nothing_given():
    """The status of calls with NULL where a pointer is needed, or a size that was forgotten."""
    cdef hitcurve_options options
    cdef hitcurve_table table
    cdef double value
    cdef uint8_t label = 1
    cdef double score = 1.0
    cdef int64_t offsets[2]
    memset(&options, 0, sizeof(options))
    memset(&table, 0, sizeof(table))
    offsets[0] = 0
    offsets[1] = 1
    found = [
        hitcurve_average_precision_f64(NULL, &score, 1, NULL, &value, NULL),
        hitcurve_average_precision_f64(&label, NULL, 1, NULL, &value, NULL),
        hitcurve_average_precision_f64(&label, &score, 1, NULL, NULL, NULL),
        hitcurve_average_precision_f64(&label, &score, -1, NULL, &value, NULL),
        hitcurve_average_precision_f64(&label, &score, 1, &options, &value, NULL),
        hitcurve_mean_average_precision_f64(&label, &score, NULL, 1, NULL, NULL, NULL, &value, NULL),
        hitcurve_mean_average_precision_f64(NULL, &score, offsets, 1, NULL, NULL, NULL, &value, NULL),
        hitcurve_mean_average_precision_f64(&label, &score, offsets, -1, NULL, NULL, NULL, &value, NULL),
        hitcurve_make_table_f64(&label, &score, 1, NULL, NULL, NULL),
        hitcurve_make_table_f64(&label, &score, 1, NULL, &table, NULL),
        hitcurve_check_table(NULL, NULL),
        hitcurve_check_table(&table, NULL),
        hitcurve_read(NULL, 0, NULL, &value),
        hitcurve_read(&table, 0, NULL, &value),
    ]
    table.size = sizeof(table)
    found.append(hitcurve_read(&table, 0, NULL, NULL))
    table.capacity = 1
    found.append(hitcurve_make_table_f64(&label, &score, 1, NULL, &table, NULL))
    hitcurve_free_table(NULL)
    hitcurve_free_table(&table)
    return found


def mean_average_precision(const uint8_t[::1] label, const score_t[::1] score, const int64_t[::1] offsets,
                           num_relevant=None, per_query=None, **given):
    """(status, value, place); per_query is filled."""
    cdef hitcurve_options options = options_from(given)
    cdef const uint8_t* y = &label[0] if label.shape[0] else NULL
    cdef const score_t* s = &score[0] if score.shape[0] else NULL
    cdef const int64_t[::1] relevant
    cdef double[::1] values
    cdef const int64_t* r = NULL
    cdef double* each = NULL
    cdef double value = -1.0
    cdef int64_t place = -2, queries = offsets.shape[0] - 1
    cdef int status
    if num_relevant is not None:
        relevant = num_relevant
        r = &relevant[0]
    if per_query is not None:
        values = per_query
        each = &values[0]
    with nogil:
        if score_t is float:
            status = hitcurve_mean_average_precision_f32(y, s, &offsets[0], queries, r, &options, each, &value, &place)
        else:
            status = hitcurve_mean_average_precision_f64(y, s, &offsets[0], queries, r, &options, each, &value, &place)
    return status, value, place


def in_openmp_threads(const uint8_t[::1] label, const double[:, ::1] score, double[::1] out):
    """The average precision of each row, in threads that Python does not know; the worst status."""
    cdef Py_ssize_t i, n = label.shape[0]
    cdef int status = HITCURVE_OK
    for i in prange(score.shape[0], nogil=True, num_threads=4, schedule="dynamic"):
        status |= hitcurve_average_precision_f64(&label[0], &score[i, 0], n, NULL, &out[i], NULL)
    return status


cdef object rows_of(hitcurve_table* table, bint is_float):
    rows = []
    for i in range(table.rows):
        score = None
        if table.score is not NULL:
            score = (<float*>table.score)[i] if is_float else (<double*>table.score)[i]
        rows.append((score, table.above[i], table.tied[i], table.hits[i]))
    return rows, table.num_items, table.num_hits, table.num_relevant


def make_table(const uint8_t[::1] label, const score_t[::1] score, capacity=0, bint with_score=True, Py_ssize_t times=1,
               **given):
    """(status, place, (rows, num_items, num_hits, num_relevant)); with a capacity, in memory of our own."""
    cdef hitcurve_options options = options_from(given)
    cdef const uint8_t* y = &label[0] if label.shape[0] else NULL
    cdef const score_t* s = &score[0] if score.shape[0] else NULL
    cdef hitcurve_table table
    cdef int64_t place = -2
    cdef int status = -1
    cdef int64_t room = capacity
    cdef int64_t* memory = NULL
    memset(&table, 0, sizeof(table))
    table.size = sizeof(table)
    if room > 0:
        memory = <int64_t*>malloc(room * 32)
        table.capacity = room
        table.above = memory
        table.tied = memory + room
        table.hits = memory + 2 * room
        table.score = memory + 3 * room if with_score else NULL
    try:
        for _ in range(times):
            if score_t is float:
                status = hitcurve_make_table_f32(y, s, label.shape[0], &options, &table, &place)
            else:
                status = hitcurve_make_table_f64(y, s, label.shape[0], &options, &table, &place)
        return status, place, rows_of(&table, score_t is float) if status == HITCURVE_OK else None
    finally:
        hitcurve_free_table(&table)
        free(memory)


def columns_after(const uint8_t[::1] label, const double[::1] score):
    """A table in the library's memory, then one in columns of our own: whether they are left as they are at the end."""
    cdef int64_t[3][8] column
    cdef hitcurve_table table
    cdef int status
    memset(&table, 0, sizeof(table))
    table.size = sizeof(table)
    status = hitcurve_make_table_f64(&label[0], &score[0], label.shape[0], NULL, &table, NULL)
    table.capacity = 8
    table.above, table.tied, table.hits, table.score = column[0], column[1], column[2], NULL
    status |= hitcurve_make_table_f64(&label[0], &score[0], label.shape[0], NULL, &table, NULL)
    hitcurve_free_table(&table)
    hitcurve_free_table(&table)
    return status, table.memory is NULL, table.above is column[0], rows_of(&table, False)[0]


def read_after_free(const uint8_t[::1] label, const double[::1] score):
    """The status of making a table, of reading and of checking it once it is freed, and of making it again."""
    cdef hitcurve_table table
    cdef double value
    memset(&table, 0, sizeof(table))
    table.size = sizeof(table)
    made = hitcurve_make_table_f64(&label[0], &score[0], label.shape[0], NULL, &table, NULL)
    hitcurve_free_table(&table)
    found = made, hitcurve_read(&table, 0, NULL, &value), hitcurve_check_table(&table, NULL)
    again = hitcurve_make_table_f64(&label[0], &score[0], label.shape[0], NULL, &table, NULL)
    again |= hitcurve_read(&table, 0, NULL, &value)
    hitcurve_free_table(&table)
    return *found, again


cdef class Rows:
    """A table made elsewhere."""
    cdef hitcurve_table table
    cdef int64_t[::1] above, tied, hits

    def __init__(self, above, tied, hits, num_items, num_hits, num_relevant):
        self.above, self.tied, self.hits = above, tied, hits
        self.table.size = sizeof(hitcurve_table)
        self.table.rows = self.above.shape[0]
        if self.table.rows:
            self.table.above, self.table.tied, self.table.hits = &self.above[0], &self.tied[0], &self.hits[0]
        self.table.num_items = num_items
        self.table.num_hits = num_hits
        self.table.num_relevant = num_relevant

    def check(self):
        cdef int64_t place = -2
        return hitcurve_check_table(&self.table, &place), place

    def read(self, int measure, **given):
        cdef hitcurve_options options = options_from(given)
        cdef double value = -1.0
        cdef int status
        with nogil:
            status = hitcurve_read(&self.table, measure, &options, &value)
        return status, value


def from_the_future(const uint8_t[::1] label, const double[::1] score, uint8_t beyond):
    """The status for options that are longer than this version knows, with a value in what it does not know."""
    cdef uint8_t* memory = <uint8_t*>malloc(sizeof(hitcurve_options) + 16)
    cdef double value = -1.0
    memset(memory, 0, sizeof(hitcurve_options) + 16)
    (<hitcurve_options*>memory).size = sizeof(hitcurve_options) + 16
    memory[sizeof(hitcurve_options) + 9] = beyond
    status = hitcurve_average_precision_f64(&label[0], &score[0], label.shape[0], <hitcurve_options*>memory, &value, NULL)
    free(memory)
    return status, value
