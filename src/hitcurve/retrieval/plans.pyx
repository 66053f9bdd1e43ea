"""Measures of the judged documents of a run."""
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from libc.math cimport NAN, exp, isnan, log
from libc.stdint cimport int64_t
from libc.string cimport memset

import numpy as np

from hitcurve.measures import LEAST as _LEAST

cimport cython
cimport numpy as cnp

from hitcurve._kernel cimport formulas as _read
from hitcurve.retrieval cimport query as _query
from hitcurve.retrieval.formulas cimport arrange, measure_query
from hitcurve.retrieval.query cimport Asked, Query, Reading, Room
from hitcurve.retrieval.runs cimport Judged, Qrels, Section

cnp.import_array()

cdef extern from "Python.h":
    void* raise_pending "PyErr_Occurred"() except *  # what a signal has raised within a kernel


# In the order of `Kernel`.
KERNELS = {name: place for place, name in enumerate((
    "AP P R Hits F RR Rprec Success NumQ NumRet NumRel NumRelRet NumNonRelRet SetP SetRelP SetR SetF SetAP "
    "IPrec IPrecAvg Bpref infAP RBP RBPResid nDCG ERR Judged Unjudged RelP RprecMult Utility binG G nDCGrel "
    "RnDCG"
).split())}

cdef dict NORMS = {"relevant": _read.NORMALIZE_RELEVANT, "min": _read.NORMALIZE_MIN, "hits": _read.NORMALIZE_HITS}
cdef dict LEVELS = {"exact": _query.LEVELS_EXACT, "trec_eval9": _query.LEVELS_TREC_EVAL_9,
                    "trec_eval10": _query.LEVELS_TREC_EVAL_10}
cdef dict INTERPOLATIONS = {
    None: _read.INTERPOLATION_NONE, "11-point": _read.INTERPOLATION_11_POINT,
    "101-point": _read.INTERPOLATION_101_POINT, "all-point": _read.INTERPOLATION_ALL_POINT,
    "trapezoid": _read.INTERPOLATION_TRAPEZOID, "trapezoid-from-1": _read.INTERPOLATION_TRAPEZOID_FROM_1,
    "continuous": _read.INTERPOLATION_CONTINUOUS, "11-point-float": _read.INTERPOLATION_11_POINT_FLOAT,
    "101-point-float": _read.INTERPOLATION_101_POINT_FLOAT,
}
cdef dict READINGS = {"ranks": _query.READING_RANKS, "best": _query.READING_BEST, "worst": _query.READING_WORST,
                      "expected": _query.READING_EXPECTED}


cdef object set_asked(Asked* asked, measure, int64_t rel, int64_t top):
    """One measure, of qrels up to level `top`; returns the arrays that it points into, if any."""
    cdef str kernel = measure.record.kernel
    cdef dict options = dict(measure.keywords)
    cdef cnp.ndarray whole, numbers
    if "fraction" in options:
        raise ValueError(f"{measure.name}: a share in percent needs the size of the collection, which a run does not have; "
                         "give a rank")
    if kernel == "SetP" and options.get("relative"):
        kernel = "SetRelP"
    elif kernel == "R" and options.get("normalize") == "min":
        kernel = "RelP"
    elif kernel == "NumRet" and measure.rel is not None:
        kernel = "NumRelRet"
    memset(asked, 0, sizeof(Asked))
    asked.kernel = KERNELS[kernel]
    asked.k = options.get("k", -1)
    asked.rel = rel if measure.rel is None else measure.rel
    asked.x = options.get("beta", options.get("p", options.get("multiple", 1.0 if kernel == "SetF" else 0.0)))
    asked.norm = NORMS[options.get("normalize", "relevant")]
    asked.levels = LEVELS[options.get("levels", "exact")]
    asked.interpolation = INTERPOLATIONS[options.get("interpolation")]
    asked.exponential = options.get("dcg") == "exp-log2"
    asked.scaled = measure.rel is None
    asked.top = options.get("top", 4)
    if top > 1023 and (kernel == "ERR" or asked.exponential):
        raise ValueError(f"{measure.name}: the qrels have level {top}; 2**level is beyond the greatest float above level 1023")
    if kernel == "ERR" and top > asked.top:
        raise ValueError(f"{measure.name}: the qrels have level {top}; write ERR(max={top})")
    fractions = ()
    if kernel == "IPrec":
        fractions = (options["recall"],)
    elif kernel == "IPrecAvg":
        from fractions import Fraction
        fractions = options.get("at") or [Fraction(i, 10) for i in range(11)]
    values = options.get("weights", (1.0, -1.0, 0.0, 0.0)) if kernel == "Utility" else fractions
    gains = dict(options.get("gains", ()))
    if not values and not gains:
        return None
    numbers = np.array([*values, *gains.values()], dtype=np.float64)
    whole = np.array([*(one.numerator for one in fractions), *(one.denominator for one in fractions), *gains], dtype=np.int64)
    asked.num_values = len(values)
    asked.values = <double*>cnp.PyArray_DATA(numbers)
    asked.numerators = <int64_t*>cnp.PyArray_DATA(whole)
    asked.denominators = asked.numerators + len(fractions)
    asked.num_gains = len(gains)
    asked.gain_levels = asked.denominators + len(fractions)
    asked.gains = asked.values + len(values)
    return numbers, whole


@cython.final
cdef class Plan:
    """Measures as the kernel takes them, for judgments, one reading of ties and one way to treat unjudged documents."""
    cdef Asked* asked
    cdef Py_ssize_t size
    cdef list kept
    cdef Reading how
    cdef bint judged_only
    cdef readonly str reading

    def __init__(self, Qrels qrels, list measures, str reading="ranks", bint judged_only=False, int64_t rel=1):
        cdef Py_ssize_t i
        if self.asked is not NULL:
            raise TypeError("a Plan is immutable: make a new one")
        self.size = len(measures)
        self.reading = reading
        self.how = READINGS[reading]
        self.judged_only = judged_only
        self.asked = <Asked*>PyMem_RawCalloc(max(self.size, 1), sizeof(Asked))
        if self.asked is NULL:
            raise MemoryError
        top = qrels.max_level
        self.kept = [set_asked(&self.asked[i], measures[i], rel, top) for i in range(self.size)]

    def __dealloc__(self):
        PyMem_RawFree(self.asked)


def measure(Judged judged, Plan plan, int64_t depth=-1, list queries=None):
    """Values of a plan's measures for each query of the qrels, in the order of the qrels: an array (measures, queries).

    A query that is not in the run counts as one of which nothing was retrieved. NaN: the value cannot be computed.
    `queries`: the places of some of them, for an array of these alone.
    """
    cdef Py_ssize_t m = plan.size, q, at, i, stop, rows, n = judged.qrels.names.docs.size
    cdef int64_t retrieved
    cdef const Asked* asked = plan.asked
    cdef Room room
    cdef Query query
    cdef Section section
    cdef Qrels qrels = judged.qrels
    cdef bint good = True
    cdef cnp.ndarray places, found
    cdef const int64_t* some = NULL
    if queries is not None:
        if queries and not 0 <= min(queries) <= max(queries) < n:
            raise IndexError("queries are places in the qrels")
        places, n = np.array(queries, dtype=np.int64), len(queries)
        some = <const int64_t*>cnp.PyArray_DATA(places)
    found = cnp.PyArray_EMPTY(2, [m, n], cnp.NPY_DOUBLE, 0)
    cdef double* values = <double*>cnp.PyArray_DATA(found)
    memset(&room, 0, sizeof(Room))
    try:
        q = 0
        while q < n:
            stop = min(q + 4096, n)
            with nogil:
                while q < stop and good:
                    at = q if some is NULL else some[q]
                    section = judged.section(at)
                    rows = section.last - section.first
                    retrieved = max(section.retrieved, 0)
                    if depth >= 0 and retrieved > depth:
                        retrieved = depth
                        while rows > 0 and judged.rows.items[section.first + rows - 1].rank > depth:
                            rows -= 1
                    query.levels = qrels.levels + qrels.offsets[at]
                    query.num_judged = qrels.offsets[at + 1] - qrels.offsets[at]
                    for i in range(m):
                        # Measures that order tied documents alike share an arrangement.
                        if i == 0 or asked[i].num_gains > 0 or asked[i - 1].num_gains > 0:
                            good = arrange(judged.rows.items + section.first, rows, retrieved, plan.how, plan.judged_only,
                                           &asked[i], &room, &query)
                        good = good and measure_query(&query, &asked[i], plan.how, &room, &values[i * n + q])
                        if not good:
                            break
                    q += 1
            if not good:
                raise_pending()
                raise MemoryError
            PyErr_CheckSignals()
    finally:
        PyMem_RawFree(room.rows)
        PyMem_RawFree(room.numbers)
        PyMem_RawFree(room.gains)
        PyMem_RawFree(room.values)
    return found


cdef double LEAST = _LEAST


def mean(const double[:] values, str how):
    """Over the values that are not NaN, one after the other as trec_eval adds, so that the last bit agrees.

    `how`: arithmetic, geometric, or sum. NaN where there is no value, but for the sum.
    """
    cdef double total = 0.0
    cdef Py_ssize_t i, number = 0
    cdef bint geometric = how == "geometric"
    for i in range(values.shape[0]):
        if not isnan(values[i]):
            total += log(max(values[i], LEAST)) if geometric else values[i]
            number += 1
    if how == "sum":
        return total
    if number == 0:
        return NAN
    return exp(total / <double>number) if geometric else total / <double>number
