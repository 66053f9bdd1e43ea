/* hitcurve for C and C++; capi.pxd declares the same for Cython. In C, Python.h must come first; call hitcurve_import()
 * once, with the GIL, in each file that includes this: it returns 0, or -1 with a Python exception set.
 *
 * Plain C types, no GIL, nothing raised: a function returns HITCURVE_OK or what was wrong, and then its results mean
 * nothing. Any thread may call, Python's or not, also several on the same data; nothing is kept between calls. A call
 * takes less than 100 KB of the thread's stack. Names, signatures and the order of fields never change; what is new is
 * added at the end.
 */
#ifndef HITCURVE_H
#define HITCURVE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What a function returns. `place`, which may be NULL, tells where: an item, a query, or a row. */
enum {
    HITCURVE_OK = 0,
    HITCURVE_BAD_ARGUMENT = 1,  /* NULL, a negative length, an unknown choice or an option that is out of range */
    HITCURVE_BAD_LABEL = 2,  /* place: the item whose label is neither 0 nor 1 */
    HITCURVE_BAD_SCORE = 3,  /* place: the item whose score is NaN, with HITCURVE_NAN_RAISE */
    HITCURVE_NO_MEMORY = 4,
    HITCURVE_NO_ROOM = 5,  /* place: the rows that the table needs */
    HITCURVE_BAD_NUM_RELEVANT = 6,  /* less than the relevant items that were ranked; place: the query */
    HITCURVE_BAD_OFFSETS = 7,  /* place: the offset that is negative or less than the one before */
    HITCURVE_BAD_TABLE = 8,  /* place: the row that no ranking has, or -1 for the totals */
    HITCURVE_EMPTY_QUERY = 9,  /* place: the query without relevant items, with HITCURVE_EMPTY_RAISE */
    HITCURVE_NOT_RETRIEVED = 10,  /* the measure needs the rank of every relevant item */
};

/* How a group of equal scores is read. */
enum { HITCURVE_TIES_EXPECTED = 0, HITCURVE_TIES_BEST = 1, HITCURVE_TIES_WORST = 2, HITCURVE_TIES_THRESHOLD = 3 };

/* What average precision at a cutoff is divided by: min(k, R), R, or the hits among the first k. */
enum { HITCURVE_NORMALIZE_MIN = 0, HITCURVE_NORMALIZE_RELEVANT = 1, HITCURVE_NORMALIZE_HITS = 2 };

enum {
    HITCURVE_INTERPOLATION_NONE = 0, HITCURVE_INTERPOLATION_11_POINT = 1, HITCURVE_INTERPOLATION_101_POINT = 2,
    HITCURVE_INTERPOLATION_ALL_POINT = 3, HITCURVE_INTERPOLATION_TRAPEZOID = 4, HITCURVE_INTERPOLATION_CONTINUOUS = 5,
};

/* What a NaN score is: an error, below all others as one tie group, or an item to leave out. */
enum { HITCURVE_NAN_RAISE = 0, HITCURVE_NAN_WORST = 1, HITCURVE_NAN_OMIT = 2 };

/* What a query without relevant items counts as in a mean: nothing, 0, 1, or an error. */
enum { HITCURVE_EMPTY_SKIP = 0, HITCURVE_EMPTY_ZERO = 1, HITCURVE_EMPTY_ONE = 2, HITCURVE_EMPTY_RAISE = 3 };

/* What hitcurve_read reads. In brackets what it takes from the options besides `ties`; [k] is needed, [k?] may be 0. */
enum {
    HITCURVE_AVERAGE_PRECISION = 0,  /* [k?, normalize, interpolation] */
    HITCURVE_PRECISION = 1, HITCURVE_RECALL = 2,  /* [k] */
    HITCURVE_F_SCORE = 3,  /* [k, parameter: beta] */
    HITCURVE_HITS = 4, HITCURVE_SUCCESS = 5,  /* [k] */
    HITCURVE_R_PRECISION = 6,
    HITCURVE_RECIPROCAL_RANK = 7,  /* [k?] */
    HITCURVE_ROC_AUC = 8,
    /* [parameter: false positives, a real number above 0 and at most all; next to a whole number it is that number] */
    HITCURVE_ROC_ENRICHMENT = 9,
    HITCURVE_ENRICHMENT_FACTOR = 10, HITCURVE_MAX_ENRICHMENT_FACTOR = 11,  /* [k] */
    HITCURVE_NORMALIZED_ENRICHMENT_FACTOR = 12,  /* [k] */
    HITCURVE_RIE = 13, HITCURVE_BEDROC = 14,  /* [parameter: alpha] */
    HITCURVE_LOG_AUC = 15, HITCURVE_ADJUSTED_LOG_AUC = 16,  /* [parameter: least false-positive rate] */
    HITCURVE_CHANCE = 17, HITCURVE_MINIMUM = 18, HITCURVE_NORMALIZED_AVERAGE_PRECISION = 19, HITCURVE_AUAC = 20,
    HITCURVE_FALL_OUT = 21,  /* [k] */
    HITCURVE_MEAN_RANK = 22,
    /* [parameter: false positives, a real number above 0 and at most all] */
    HITCURVE_PARTIAL_ROC_AUC = 23, HITCURVE_PARTIAL_ROC_AREA = 24,
    /* [parameter: recall times num_relevant, a real number from 0 up to all; next to a whole number it is that number] */
    HITCURVE_INTERPOLATED_PRECISION = 25,
};

/* Zeros are the defaults: memset, then set `size` and what differs. NULL in place of options means all defaults. */
typedef struct hitcurve_options {
    size_t size;  /* sizeof(hitcurve_options), as the caller was compiled */
    int ties;
    int normalize;
    int interpolation;
    int nan_policy;
    int lower_is_better;  /* 0 or 1 */
    int empty;
    int64_t k;  /* the cutoff rank, up to 2^62; 0: none, the whole list */
    int64_t num_relevant;  /* relevant items in all, if some were never retrieved; 0: those found */
    double parameter;  /* beta, alpha, ...: see the measures */
} hitcurve_options;

/* A row for each group of equal scores that holds a relevant item, best first. */
typedef struct hitcurve_table {
    size_t size;  /* sizeof(hitcurve_table), as the caller was compiled */
    int64_t *above;  /* items ranked above the group */
    int64_t *tied;  /* items in the group */
    int64_t *hits;  /* relevant items in the group */
    void *score;  /* their score, float or double as it came in; NULL if not wanted */
    int64_t capacity;  /* rows that the caller's columns hold; 0: the library allocates them */
    int64_t rows;
    int64_t num_items;
    int64_t num_hits;  /* relevant items that were ranked */
    int64_t num_relevant;  /* relevant items in all */
    void *memory;  /* the library's, for hitcurve_free_table */
} hitcurve_table;

/* Average precision of one ranking: n labels, 0 or 1, and n scores. NaN without a relevant item. */
static int (*hitcurve_average_precision_f32)(const uint8_t *label, const float *score, int64_t n,
    const hitcurve_options *options, double *average_precision, int64_t *place);
static int (*hitcurve_average_precision_f64)(const uint8_t *label, const double *score, int64_t n,
    const hitcurve_options *options, double *average_precision, int64_t *place);

/* Mean average precision. Query q holds the items offsets[q] to offsets[q + 1]; num_relevant has a number for each
 * query, or is NULL (options.num_relevant must then be 0). per_query, num_queries long, may be NULL, and so may mean. */
static int (*hitcurve_mean_average_precision_f32)(const uint8_t *label, const float *score, const int64_t *offsets,
    int64_t num_queries, const int64_t *num_relevant, const hitcurve_options *options, double *per_query,
    double *mean, int64_t *place);
static int (*hitcurve_mean_average_precision_f64)(const uint8_t *label, const double *score, const int64_t *offsets,
    int64_t num_queries, const int64_t *num_relevant, const hitcurve_options *options, double *per_query,
    double *mean, int64_t *place);

/* The table of one ranking. With table.capacity 0 the library allocates its columns, and hitcurve_free_table frees them;
 * else they are the caller's, of that many rows (as many as relevant items always suffice). A table that was freed cannot
 * be read: its num_items is -1. */
static int (*hitcurve_make_table_f32)(const uint8_t *label, const float *score, int64_t n,
    const hitcurve_options *options, hitcurve_table *table, int64_t *place);
static int (*hitcurve_make_table_f64)(const uint8_t *label, const double *score, int64_t n,
    const hitcurve_options *options, hitcurve_table *table, int64_t *place);
static void (*hitcurve_free_table)(hitcurve_table *table);

/* Whether a table that was made elsewhere is one that a ranking can have. hitcurve_read does not look. */
static int (*hitcurve_check_table)(const hitcurve_table *table, int64_t *place);

/* A measure of a table. options.num_relevant is not looked at: table.num_relevant counts. Without a relevant item the
 * value is NaN where their number divides, and 0 for precision, F, hits, success and the reciprocal rank. */
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
                PyErr_Format(PyExc_ImportError, "the installed hitcurve is older than the one compiled against: it has no %s",
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
