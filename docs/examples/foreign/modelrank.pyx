# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""Many models that rank the same items: each one's measures, in compiled code, without the GIL."""
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memset

from hitcurve cimport (
    HITCURVE_AVERAGE_PRECISION,
    HITCURVE_BEDROC,
    HITCURVE_NAN_WORST,
    HITCURVE_NO_MEMORY,
    HITCURVE_OK,
    HITCURVE_TIES_WORST,
    hitcurve_average_precision_f32,
    hitcurve_free_table,
    hitcurve_make_table_f32,
    hitcurve_options,
    hitcurve_read,
    hitcurve_table,
)


def average_precisions(const uint8_t[::1] label, const float[:, ::1] score, double[::1] out):
    """Average precision of each model, a row of `score`, under the worst order of tied items."""
    cdef hitcurve_options options
    cdef Py_ssize_t i
    cdef int64_t place = -1
    cdef int status = HITCURVE_OK
    if score.shape[1] != label.shape[0] or out.shape[0] != score.shape[0]:
        raise ValueError("label, score and out do not fit together")
    if label.shape[0] == 0:
        raise ValueError("no items")
    memset(&options, 0, sizeof(options))  # zeros are the defaults
    options.size = sizeof(options)
    options.ties = HITCURVE_TIES_WORST
    options.nan_policy = HITCURVE_NAN_WORST
    with nogil:
        for i in range(score.shape[0]):
            status = hitcurve_average_precision_f32(&label[0], &score[i, 0], label.shape[0], &options, &out[i], &place)
            if status != HITCURVE_OK:
                break
    if status == HITCURVE_NO_MEMORY:
        raise MemoryError
    if status != HITCURVE_OK:
        raise ValueError(f"model {i}, item {place}: hitcurve's status is {status}")


def measures(const uint8_t[::1] label, const float[::1] score, double alpha=20.0):
    """Several measures of one ranking, which is counted once: (average precision, at 10, BEDROC)."""
    cdef hitcurve_options options
    cdef hitcurve_table table
    cdef double[3] value
    cdef int status
    if score.shape[0] != label.shape[0] or label.shape[0] == 0:
        raise ValueError("label and score do not fit together")
    memset(&options, 0, sizeof(options))
    memset(&table, 0, sizeof(table))
    options.size = sizeof(options)
    table.size = sizeof(table)
    with nogil:
        status = hitcurve_make_table_f32(&label[0], &score[0], label.shape[0], &options, &table, NULL)
        if status == HITCURVE_OK:
            status = hitcurve_read(&table, HITCURVE_AVERAGE_PRECISION, &options, &value[0])
        if status == HITCURVE_OK:
            options.k = 10
            status = hitcurve_read(&table, HITCURVE_AVERAGE_PRECISION, &options, &value[1])
        if status == HITCURVE_OK:
            options.k = 0
            options.parameter = alpha
            status = hitcurve_read(&table, HITCURVE_BEDROC, &options, &value[2])
        hitcurve_free_table(&table)
    if status != HITCURVE_OK:
        raise ValueError(f"hitcurve's status is {status}")
    return value[0], value[1], value[2]
