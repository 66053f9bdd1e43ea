# Kernels that read a hit-curve table. Plain pointers, no Python objects, nothing raised.
from libc.stdint cimport int64_t

from hitcurve._kernel.groups cimport (
    INTERPOLATION_11_POINT, INTERPOLATION_11_POINT_FLOAT, INTERPOLATION_101_POINT, INTERPOLATION_101_POINT_FLOAT,
    INTERPOLATION_ALL_POINT, INTERPOLATION_CONTINUOUS, INTERPOLATION_NONE, INTERPOLATION_TRAPEZOID,
    INTERPOLATION_TRAPEZOID_FROM_1, NORMALIZE_HITS, NORMALIZE_MIN, NORMALIZE_RELEVANT, TIES_BEST, TIES_EXPECTED,
    TIES_THRESHOLD, TIES_WORST, Interpolation, Normalize, Reading, Table, Ties, add,
)

# These numbers are part of the C interface and never change. A new measure comes last.
cdef enum Measure:
    MEASURE_AVERAGE_PRECISION, MEASURE_PRECISION, MEASURE_RECALL, MEASURE_F_SCORE, MEASURE_HITS, MEASURE_SUCCESS
    MEASURE_R_PRECISION, MEASURE_RECIPROCAL_RANK, MEASURE_ROC_AUC, MEASURE_ROC_ENRICHMENT, MEASURE_ENRICHMENT_FACTOR
    MEASURE_MAX_ENRICHMENT_FACTOR, MEASURE_NORMALIZED_ENRICHMENT_FACTOR, MEASURE_RIE, MEASURE_BEDROC, MEASURE_LOG_AUC
    MEASURE_ADJUSTED_LOG_AUC, MEASURE_CHANCE, MEASURE_MINIMUM, MEASURE_NORMALIZED_AVERAGE_PRECISION, MEASURE_AUAC
    MEASURE_FALL_OUT, MEASURE_MEAN_RANK, MEASURE_PARTIAL_ROC_AUC, MEASURE_PARTIAL_ROC_AREA
    MEASURE_INTERPOLATED_PRECISION, MEASURE_PRECISION_OF_RANKED
    MEASURE_ROC_AUC_FROM_FPR, MEASURE_ROC_AREA_FROM_FPR, MEASURE_ROC_AUC_FROM_TPR, MEASURE_ROC_AREA_FROM_TPR
    MEASURE_ORDER_ACCURACY, MEASURE_PRG_AUC
    NUM_MEASURES

# A rank that no ranking reaches: "no cutoff".
cdef enum:
    NO_CUTOFF = -1

# How a measure is computed. Its name and definition are in measures.py.
ctypedef double (*Formula)(const Table* table, const Reading* reading) noexcept nogil

cdef enum Readings:       # how many of the first Ties a measure has
    ONE_READING = 0       # ties make no difference
    NO_THRESHOLD = 3      # a tie group that enters at once has no first item
    ALL_READINGS = 4

cdef enum:
    CUTOFF = 1            # takes a cutoff rank; without a cutoff all items count
    DIVIDES = 2           # divides by the cutoff
    ALL_RANKS = 4         # needs the rank of every relevant item
    WEIGHTS = 8           # is defined for items with weights
    INTERPOLATES = 16     # takes an interpolation

cdef enum Domain:         # the domain of the number that a measure takes
    NO_NUMBER
    NOT_NEGATIVE
    POSITIVE
    SHARE                 # between 0 and 1

cdef struct Record:
    const char* method    # the method of HitCurve and HitCurves
    Formula formula
    Readings readings
    int takes
    Domain domain

cdef Record* RECORDS      # a record for each Measure
cdef double read_measure(Measure measure, const Table* table, const Reading* reading) noexcept nogil

# Nodes and weights of the 8-point Gauss-Legendre rule on [-1, 1] (positive half).
cdef double* GAUSS_NODE
cdef double* GAUSS_WEIGHT

# Average precision of rows that come in pieces, best first.
cdef struct AveragePrecision:
    Ties ties
    Normalize normalize
    int64_t k
    int64_t num_relevant
    int64_t seen_hits   # relevant items in the rows added so far
    bint done           # the cutoff has been passed
    double sum
    double ratio        # with NORMALIZE_HITS: the mean ratio, if the cutoff is inside a group
    double carry        # not next to `sum`: gcc would keep both in a single register, and the loop would take twice as long

cdef void average_precision_begin(AveragePrecision* ap, const Reading* reading, int64_t num_relevant) noexcept nogil
cdef void average_precision_add(AveragePrecision* ap, const int64_t* above, const int64_t* tied, const int64_t* hits,
                                Py_ssize_t rows) noexcept nogil
cdef double average_precision_end(const AveragePrecision* ap) noexcept nogil

cdef void harmonic_sums(double c, double m, double* delta, double* slope) noexcept nogil
cdef double mean_precision(double c, double above_hits, double n, double r) noexcept nogil
