/* hitcurve for C and C++; capi.pxd declares the same functions for Cython. Include Python.h before this file. Call
 * hitcurve_import() once, with the GIL, in each file that includes this file: it returns 0, or -1 with a Python exception
 * set.
 *
 * The functions take plain C types, do not need the GIL and raise no exceptions. A function returns HITCURVE_OK, or an
 * error code, and then its results are undefined. Any thread may call a function, also a thread that Python did not start,
 * and several threads may use the same data. Nothing is kept between calls. A call needs less than 100 KB of the thread's
 * stack. Names, signatures and the order of fields never change; additions come at the end.
 */
#ifndef HITCURVE_H
#define HITCURVE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What a function returns. `place` receives the item, query or row of an error. It may be NULL. */
enum {
    HITCURVE_OK = 0,
    HITCURVE_BAD_ARGUMENT = 1,  /* a NULL pointer, a negative length, an unknown choice, or an option out of range */
    HITCURVE_BAD_LABEL = 2,  /* place: the item whose label is neither 0 nor 1 */
    HITCURVE_BAD_SCORE = 3,  /* place: the item whose score is NaN, with HITCURVE_NAN_RAISE */
    HITCURVE_NO_MEMORY = 4,
    HITCURVE_NO_ROOM = 5,  /* place: the number of rows that the table needs */
    HITCURVE_BAD_NUM_RELEVANT = 6,  /* num_relevant is less than the number of ranked relevant items; place: the query */
    HITCURVE_BAD_OFFSETS = 7,  /* place: the offset that is negative or less than the offset before it */
    HITCURVE_BAD_TABLE = 8,  /* place: the row that is impossible, or -1 if the totals are */
    HITCURVE_EMPTY_QUERY = 9,  /* place: the query without relevant items, with HITCURVE_EMPTY_RAISE */
    HITCURVE_NOT_RETRIEVED = 10,  /* the measure needs the rank of every relevant item */
};

/* How to interpret a group of equal scores. */
enum { HITCURVE_TIES_EXPECTED = 0, HITCURVE_TIES_BEST = 1, HITCURVE_TIES_WORST = 2, HITCURVE_TIES_THRESHOLD = 3 };

/* The divisor of average precision at a cutoff: min(k, R), R, or the number of relevant items among the first k. */
enum { HITCURVE_NORMALIZE_MIN = 0, HITCURVE_NORMALIZE_RELEVANT = 1, HITCURVE_NORMALIZE_HITS = 2 };

enum {
    HITCURVE_INTERPOLATION_NONE = 0, HITCURVE_INTERPOLATION_11_POINT = 1, HITCURVE_INTERPOLATION_101_POINT = 2,
    HITCURVE_INTERPOLATION_ALL_POINT = 3, HITCURVE_INTERPOLATION_TRAPEZOID = 4, HITCURVE_INTERPOLATION_CONTINUOUS = 5,
};

/* What a NaN score means: an error, a rank below all other scores (as one tie group), or an item to leave out. */
enum { HITCURVE_NAN_RAISE = 0, HITCURVE_NAN_WORST = 1, HITCURVE_NAN_OMIT = 2 };

/* How a query without relevant items counts in a mean: it is left out, counts as 0, counts as 1, or is an error. */
enum { HITCURVE_EMPTY_SKIP = 0, HITCURVE_EMPTY_ZERO = 1, HITCURVE_EMPTY_ONE = 2, HITCURVE_EMPTY_RAISE = 3 };

/* The measures of hitcurve_read. In brackets: the options that a measure uses besides `ties`. [k] must be set, [k?] may be
 * 0. */
enum {
    HITCURVE_AVERAGE_PRECISION = 0,  /* [k?, normalize, interpolation] */
    HITCURVE_PRECISION = 1, HITCURVE_RECALL = 2,  /* [k] */
    HITCURVE_F_SCORE = 3,  /* [k, parameter: beta] */
    HITCURVE_HITS = 4, HITCURVE_SUCCESS = 5,  /* [k] */
    HITCURVE_R_PRECISION = 6,
    HITCURVE_RECIPROCAL_RANK = 7,  /* [k?] */
    HITCURVE_ROC_AUC = 8,
    /* [parameter: the number of false positives, a real number above 0, at most the number of items that are not relevant.
     * A number within rounding error of a whole number counts as the whole number.] */
    HITCURVE_ROC_ENRICHMENT = 9,
    HITCURVE_ENRICHMENT_FACTOR = 10, HITCURVE_MAX_ENRICHMENT_FACTOR = 11,  /* [k] */
    HITCURVE_NORMALIZED_ENRICHMENT_FACTOR = 12,  /* [k] */
    HITCURVE_RIE = 13, HITCURVE_BEDROC = 14,  /* [parameter: alpha] */
    HITCURVE_LOG_AUC = 15, HITCURVE_ADJUSTED_LOG_AUC = 16,  /* [parameter: the least false-positive rate] */
    HITCURVE_CHANCE = 17, HITCURVE_MINIMUM = 18, HITCURVE_NORMALIZED_AVERAGE_PRECISION = 19, HITCURVE_AUAC = 20,
    HITCURVE_FALL_OUT = 21,  /* [k] */
    HITCURVE_MEAN_RANK = 22,
    /* [parameter: the number of false positives, a real number above 0, at most the number of items that are not
     * relevant] */
    HITCURVE_PARTIAL_ROC_AUC = 23, HITCURVE_PARTIAL_ROC_AREA = 24,
    /* [parameter: recall times num_relevant, a real number from 0 to num_relevant. A number within rounding error of a
     * whole number counts as the whole number.] */
    HITCURVE_INTERPOLATED_PRECISION = 25,
    HITCURVE_PRECISION_OF_RANKED = 26,  /* [k]: divided by min(k, num_items) */
    /* [parameter: the least rate, above 0 and below 1. The area is that from this false-positive rate, or this true-positive
     * rate, to rate 1.] */
    HITCURVE_ROC_AUC_FROM_FPR = 27, HITCURVE_ROC_AREA_FROM_FPR = 28,
    HITCURVE_ROC_AUC_FROM_TPR = 29, HITCURVE_ROC_AREA_FROM_TPR = 30,
    HITCURVE_ORDER_ACCURACY = 31,  /* [k?] */
    HITCURVE_PRG_AUC = 32,
};

/* The defaults are zeros: clear the struct with memset, then set `size` and the options that differ. A NULL pointer to
 * options means all defaults. */
typedef struct hitcurve_options {
    size_t size;  /* sizeof(hitcurve_options) in the caller's code */
    int ties;
    int normalize;
    int interpolation;
    int nan_policy;
    int lower_is_better;  /* 0 or 1 */
    int empty;
    int64_t k;  /* the cutoff rank, at most 2^62; 0: no cutoff */
    int64_t num_relevant;  /* the number of all relevant items, if some were never retrieved; 0: all were retrieved */
    double parameter;  /* beta, alpha, ...: see the measures */
} hitcurve_options;

/* The table has a row for each group of equal scores that holds a relevant item, the best group first. */
typedef struct hitcurve_table {
    size_t size;  /* sizeof(hitcurve_table) in the caller's code */
    int64_t *above;  /* number of items ranked above the group */
    int64_t *tied;  /* number of items in the group */
    int64_t *hits;  /* number of relevant items in the group */
    void *score;  /* score of the group, of the type of the caller's scores; NULL if not wanted */
    int64_t capacity;  /* number of rows that the caller's columns can hold; 0: the library allocates the columns */
    int64_t rows;
    int64_t num_items;
    int64_t num_hits;  /* number of relevant items that were ranked */
    int64_t num_relevant;  /* number of all relevant items */
    void *memory;  /* memory of the library, which hitcurve_free_table frees */
} hitcurve_table;

/* Average precision of one ranking of n items. Labels are 0 or 1. The value is NaN if there is no relevant item. */
static int (*hitcurve_average_precision_f32)(const uint8_t *label, const float *score, int64_t n,
    const hitcurve_options *options, double *average_precision, int64_t *place);
static int (*hitcurve_average_precision_f64)(const uint8_t *label, const double *score, int64_t n,
    const hitcurve_options *options, double *average_precision, int64_t *place);

/* Mean average precision. Query q holds the items from offsets[q] up to, but not including, offsets[q + 1]. num_relevant
 * holds a number for each query, or is NULL. options.num_relevant must be 0. per_query has num_queries entries. per_query
 * and mean may be NULL. */
static int (*hitcurve_mean_average_precision_f32)(const uint8_t *label, const float *score, const int64_t *offsets,
    int64_t num_queries, const int64_t *num_relevant, const hitcurve_options *options, double *per_query,
    double *mean, int64_t *place);
static int (*hitcurve_mean_average_precision_f64)(const uint8_t *label, const double *score, const int64_t *offsets,
    int64_t num_queries, const int64_t *num_relevant, const hitcurve_options *options, double *per_query,
    double *mean, int64_t *place);

/* The table of one ranking. If table.capacity is 0, the library allocates the columns, and hitcurve_free_table frees them.
 * Otherwise the columns are the caller's, with room for table.capacity rows; the number of relevant items is always enough.
 * A freed table cannot be read: its num_items is -1. */
static int (*hitcurve_make_table_f32)(const uint8_t *label, const float *score, int64_t n,
    const hitcurve_options *options, hitcurve_table *table, int64_t *place);
static int (*hitcurve_make_table_f64)(const uint8_t *label, const double *score, int64_t n,
    const hitcurve_options *options, hitcurve_table *table, int64_t *place);
static void (*hitcurve_free_table)(hitcurve_table *table);

/* Checks that a ranking can have this table. Use it for tables from other programs: hitcurve_read does not check the
 * rows. */
static int (*hitcurve_check_table)(const hitcurve_table *table, int64_t *place);

/* A measure of a table. It uses table.num_relevant and ignores options.num_relevant. If there is no relevant item, the value
 * is 0 for precision, F, hits, success and the reciprocal rank, and NaN for measures that divide by the number of relevant
 * items. */
static int (*hitcurve_read)(const hitcurve_table *table, int measure, const hitcurve_options *options, double *value);

static int hitcurve_import(void) {
    static const struct {
        const char *name;
        void *pointer;
    } functions[] = {
        {"hitcurve_average_precision_f32", (void *)&hitcurve_average_precision_f32},
        {"hitcurve_average_precision_f64", (void *)&hitcurve_average_precision_f64},
        {"hitcurve_mean_average_precision_f32", (void *)&hitcurve_mean_average_precision_f32},
        {"hitcurve_mean_average_precision_f64", (void *)&hitcurve_mean_average_precision_f64},
        {"hitcurve_make_table_f32", (void *)&hitcurve_make_table_f32},
        {"hitcurve_make_table_f64", (void *)&hitcurve_make_table_f64},
        {"hitcurve_free_table", (void *)&hitcurve_free_table},
        {"hitcurve_check_table", (void *)&hitcurve_check_table},
        {"hitcurve_read", (void *)&hitcurve_read},
    };
    PyObject *module = PyImport_ImportModule("hitcurve.capi"), *capsules, *capsule;
    void *function;
    size_t i;
    if (module == NULL) return -1;
    capsules = PyObject_GetAttrString(module, "__pyx_capi__");
    Py_DECREF(module);
    if (capsules == NULL) return -1;
    for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        capsule = PyMapping_GetItemString(capsules, functions[i].name);
        function = capsule == NULL ? NULL : PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule));
        Py_XDECREF(capsule);
        if (function == NULL) {
            if (PyErr_ExceptionMatches(PyExc_KeyError))
                PyErr_Format(PyExc_ImportError,
                             "the installed hitcurve is older than the hitcurve that this was compiled with: it has no %s",
                             functions[i].name);
            Py_DECREF(capsules);
            return -1;
        }
        memcpy(functions[i].pointer, &function, sizeof(function)); /* ISO C has no cast from an object to a function */
    }
    Py_DECREF(capsules);
    return 0;
}

#endif
