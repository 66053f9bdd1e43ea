# The library for other compiled code: `from hitcurve cimport ...` in Cython, `#include "hitcurve.h"` in C and C++.
# hitcurve.h, beside this file, is the documentation: it says what each name here means.
#
# Names, signatures and the order of fields never change; additions come at the end of both files.
from libc.stdint cimport int64_t, uint8_t

cdef enum:
    HITCURVE_OK = 0, HITCURVE_BAD_ARGUMENT = 1, HITCURVE_BAD_LABEL = 2, HITCURVE_BAD_SCORE = 3, HITCURVE_NO_MEMORY = 4
    HITCURVE_NO_ROOM = 5, HITCURVE_BAD_NUM_RELEVANT = 6, HITCURVE_BAD_OFFSETS = 7, HITCURVE_BAD_TABLE = 8
    HITCURVE_EMPTY_QUERY = 9, HITCURVE_NOT_RETRIEVED = 10
    HITCURVE_TIES_EXPECTED = 0, HITCURVE_TIES_BEST = 1, HITCURVE_TIES_WORST = 2, HITCURVE_TIES_THRESHOLD = 3
    HITCURVE_NORMALIZE_MIN = 0, HITCURVE_NORMALIZE_RELEVANT = 1, HITCURVE_NORMALIZE_HITS = 2
    HITCURVE_INTERPOLATION_NONE = 0, HITCURVE_INTERPOLATION_11_POINT = 1, HITCURVE_INTERPOLATION_101_POINT = 2
    HITCURVE_INTERPOLATION_ALL_POINT = 3, HITCURVE_INTERPOLATION_TRAPEZOID = 4, HITCURVE_INTERPOLATION_CONTINUOUS = 5
    HITCURVE_NAN_RAISE = 0, HITCURVE_NAN_WORST = 1, HITCURVE_NAN_OMIT = 2
    HITCURVE_EMPTY_SKIP = 0, HITCURVE_EMPTY_ZERO = 1, HITCURVE_EMPTY_ONE = 2, HITCURVE_EMPTY_RAISE = 3
    HITCURVE_AVERAGE_PRECISION = 0, HITCURVE_PRECISION = 1, HITCURVE_RECALL = 2, HITCURVE_F_SCORE = 3, HITCURVE_HITS = 4
    HITCURVE_SUCCESS = 5, HITCURVE_R_PRECISION = 6, HITCURVE_RECIPROCAL_RANK = 7, HITCURVE_ROC_AUC = 8
    HITCURVE_ROC_ENRICHMENT = 9, HITCURVE_ENRICHMENT_FACTOR = 10, HITCURVE_MAX_ENRICHMENT_FACTOR = 11
    HITCURVE_NORMALIZED_ENRICHMENT_FACTOR = 12, HITCURVE_RIE = 13, HITCURVE_BEDROC = 14, HITCURVE_LOG_AUC = 15
    HITCURVE_ADJUSTED_LOG_AUC = 16, HITCURVE_CHANCE = 17, HITCURVE_MINIMUM = 18
    HITCURVE_NORMALIZED_AVERAGE_PRECISION = 19, HITCURVE_AUAC = 20, HITCURVE_FALL_OUT = 21
    HITCURVE_MEAN_RANK = 22, HITCURVE_PARTIAL_ROC_AUC = 23, HITCURVE_PARTIAL_ROC_AREA = 24
    HITCURVE_INTERPOLATED_PRECISION = 25, HITCURVE_PRECISION_OF_RANKED = 26
    HITCURVE_ROC_AUC_FROM_FPR = 27, HITCURVE_ROC_AREA_FROM_FPR = 28
    HITCURVE_ROC_AUC_FROM_TPR = 29, HITCURVE_ROC_AREA_FROM_TPR = 30
    HITCURVE_ORDER_ACCURACY = 31, HITCURVE_PRG_AUC = 32

cdef struct hitcurve_options:
    size_t size
    int ties
    int normalize
    int interpolation
    int nan_policy
    int lower_is_better
    int empty
    int64_t k
    int64_t num_relevant
    double parameter

cdef struct hitcurve_table:
    size_t size
    int64_t* above
    int64_t* tied
    int64_t* hits
    void* score
    int64_t capacity
    int64_t rows
    int64_t num_items
    int64_t num_hits
    int64_t num_relevant
    void* memory

cdef int hitcurve_average_precision_f32(const uint8_t* label, const float* score, int64_t n, const hitcurve_options* options,
                                        double* average_precision, int64_t* place) noexcept nogil
cdef int hitcurve_average_precision_f64(const uint8_t* label, const double* score, int64_t n, const hitcurve_options* options,
                                        double* average_precision, int64_t* place) noexcept nogil
cdef int hitcurve_mean_average_precision_f32(
    const uint8_t* label, const float* score, const int64_t* offsets, int64_t num_queries, const int64_t* num_relevant,
    const hitcurve_options* options, double* per_query, double* mean, int64_t* place) noexcept nogil
cdef int hitcurve_mean_average_precision_f64(
    const uint8_t* label, const double* score, const int64_t* offsets, int64_t num_queries, const int64_t* num_relevant,
    const hitcurve_options* options, double* per_query, double* mean, int64_t* place) noexcept nogil
cdef int hitcurve_make_table_f32(const uint8_t* label, const float* score, int64_t n, const hitcurve_options* options,
                                 hitcurve_table* table, int64_t* place) noexcept nogil
cdef int hitcurve_make_table_f64(const uint8_t* label, const double* score, int64_t n, const hitcurve_options* options,
                                 hitcurve_table* table, int64_t* place) noexcept nogil
cdef void hitcurve_free_table(hitcurve_table* table) noexcept nogil
cdef int hitcurve_check_table(const hitcurve_table* table, int64_t* place) noexcept nogil
cdef int hitcurve_read(const hitcurve_table* table, int measure, const hitcurve_options* options,
                       double* value) noexcept nogil
