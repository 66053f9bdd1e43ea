"""Measures of the judged documents of a run."""
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from libc.math cimport NAN, exp, isnan, log
from libc.stdint cimport int64_t
from libc.string cimport memset

import math

import numpy as np

from hitcurve.measures import LEAST as _LEAST, ByLevel

cimport cython
cimport numpy as cnp

from hitcurve._kernel cimport formulas as _read
from hitcurve.retrieval cimport trec_sums
from hitcurve.retrieval.trec_sums cimport Asked, TieOrder, Query, Buffers, arrange, set_sum, summed
from hitcurve.retrieval.runs cimport Judged, Qrels, Section

cnp.import_array()

cdef dict NORMS = {"relevant": _read.NORMALIZE_RELEVANT, "min": _read.NORMALIZE_MIN, "hits": _read.NORMALIZE_HITS}
cdef dict ROUNDINGS = {"exact": trec_sums.ROUNDING_EXACT, "trec_eval9": trec_sums.ROUNDING_TREC_EVAL_9,
                       "trec_eval10": trec_sums.ROUNDING_TREC_EVAL_10}
cdef dict ORDERS = {"ranks": trec_sums.ORDER_RANKS, "best": trec_sums.ORDER_BEST, "worst": trec_sums.ORDER_WORST,
                    "expected": trec_sums.ORDER_ANY}


def signed_gains(measure):
    """The (level, gain) pairs of a measure that a curve cannot have: a gain below 0, or a gain of a level below 1."""
    gains = dict(measure.keywords).get("gain")
    if not isinstance(gains, ByLevel):
        return []
    return [(level, gain) for level, gain in gains.items() if gain < 0 or gain and level <= 0]


def check_levels(measure, top):
    """Raises if `top`, the highest level of the judgments, has no finite gain or is above the highest level of ERR."""
    keywords = dict(measure.keywords)
    of_err = measure.record.name == "ERR"
    most = math.ceil(top)
    if top > 1023 and (of_err or getattr(keywords.get("gain"), "otherwise", keywords.get("gain")) == "exponential"):
        raise ValueError(f"{measure.name}: the qrels have level {top}, but 2**level is beyond the range of a double")
    if of_err and top > keywords.get("max_level", 4):
        raise ValueError(f"{measure.name}: the qrels have level {top}, above the measure's highest level: use ERR(max={most})")


cdef object set_asked(Asked* asked, measure, rel, Qrels qrels, cnp.ndarray scale):
    """Fills the struct of a measure, for these qrels; returns the arrays that it points into, if any."""
    cdef str name = measure.record.name
    cdef dict options = dict(measure.keywords)
    cdef cnp.ndarray whole, numbers
    if name == "SetP" and options.get("relative"):
        name = "SetRelP"
    elif name == "R" and options.get("normalize") == "min":
        name = "RelP"
    elif name == "NumRet" and measure.rel is not None:
        name = "NumRelRet"
    gain = options.get("gain", "linear")
    memset(asked, 0, sizeof(Asked))
    set_sum(asked, name)
    asked.k = options.get("k", -1)
    asked.rel = qrels.code_from(rel if measure.rel is None else measure.rel)
    if scale is not None and measure.record.graded and measure.rel is None:
        asked.rel = 1  # every level above 0
    asked.scale = NULL if scale is None else <double*>cnp.PyArray_DATA(scale)
    asked.x = options.get("beta", options.get("p", options.get("multiple", 1.0 if name == "SetF" else 0.0)))
    asked.norm = NORMS[options.get("normalize", "relevant")]
    asked.rounding = ROUNDINGS[options.get("levels", "exact")]
    asked.exponential = (gain if isinstance(gain, str) else gain.otherwise) == "exponential"
    asked.scaled = measure.rel is None
    asked.top = options.get("max_level", 4)
    check_levels(measure, qrels.max_level)
    fractions = ()
    if name == "IPrec":
        fractions = (options["recall"],)
    elif name == "IPrecAvg":
        from fractions import Fraction
        fractions = options.get("at") or [Fraction(i, 10) for i in range(11)]
    values = options.get("weights", (1.0, -1.0, 0.0, 0.0)) if name == "Utility" else fractions
    gains = {} if isinstance(gain, str) else gain
    if not values and not gains:
        return None
    numbers = np.array([*values, *gains.values()], dtype=np.float64)
    whole = np.array([*(one.numerator for one in fractions), *(one.denominator for one in fractions),
                      *map(qrels.code_at, gains)], dtype=np.int64)
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
    """Measures in the form that the kernels take, with how they interpret ties and unjudged documents."""
    cdef Asked* asked
    cdef Py_ssize_t size
    cdef list kept
    cdef TieOrder order
    cdef bint judged_only
    cdef readonly str reading
    cdef readonly bint by_any  # the measures need the documents that are judged for any query

    def __init__(self, Qrels qrels, list measures, str reading="ranks", bint judged_only=False, rel=1,
                 bint by_any=False):
        cdef Py_ssize_t i
        if self.asked is not NULL:
            raise TypeError("a Plan is immutable: make a new one")
        self.size = len(measures)
        self.reading = reading
        self.order = ORDERS[reading]
        self.judged_only = judged_only
        self.by_any = by_any
        self.asked = <Asked*>PyMem_RawCalloc(max(self.size, 1), sizeof(Asked))
        if self.asked is NULL:
            raise MemoryError
        scale = qrels.gains
        self.kept = [scale, *(set_asked(&self.asked[i], measures[i], rel, qrels, scale) for i in range(self.size))]

    def __dealloc__(self):
        PyMem_RawFree(self.asked)


def measure(Judged judged, Plan plan, int64_t depth=-1, list queries=None):
    """Values of a plan's measures for each query of the qrels, in the order of the qrels: an array (measures, queries).

    A query that is not in the run counts as if no document was retrieved. NaN means that the value cannot be computed.
    `queries`: if given, only the queries at these places have a column.
    """
    cdef Py_ssize_t m = plan.size, q, at, i, stop, n = judged.qrels.names.docs.size
    cdef const Asked* asked = plan.asked
    cdef Buffers buffers
    cdef Query query
    cdef Section section
    cdef Qrels qrels = judged.qrels
    cdef cnp.ndarray places, found
    cdef const int64_t* some = NULL
    if plan.by_any:
        judged = judged.by_any
    if queries is not None:
        if queries and not 0 <= min(queries) <= max(queries) < n:
            raise IndexError("queries must be places in the qrels")
        places, n = np.array(queries, dtype=np.int64), len(queries)
        some = <const int64_t*>cnp.PyArray_DATA(places)
    found = cnp.PyArray_EMPTY(2, [m, n], cnp.NPY_DOUBLE, 0)
    cdef double* values = <double*>cnp.PyArray_DATA(found)
    memset(&buffers, 0, sizeof(Buffers))
    try:
        q = 0
        while q < n:
            stop = min(q + 4096, n)
            with nogil:
                while q < stop and not buffers.full:
                    at = q if some is NULL else some[q]
                    section = judged.section(at)
                    query.levels = qrels.levels + qrels.offsets[at]
                    query.num_judged = qrels.offsets[at + 1] - qrels.offsets[at]
                    for i in range(m):
                        # Measures that order tied documents alike share an arrangement.
                        if i == 0 or asked[i].num_gains > 0 or asked[i - 1].num_gains > 0:
                            buffers.full |= not arrange(
                                judged.rows.items + section.first, section.last - section.first, section.retrieved, depth,
                                plan.order, plan.judged_only, &asked[i], &buffers, &query)
                        if buffers.full:
                            break
                        values[i * n + q] = summed(&query, &asked[i], &buffers)
                    q += 1
            if buffers.full:
                raise MemoryError
            PyErr_CheckSignals()
    finally:
        PyMem_RawFree(buffers.rows)
        PyMem_RawFree(buffers.gains)
        PyMem_RawFree(buffers.values)
    return found


cdef double LEAST = _LEAST


def mean(const double[:] values, str how):
    """The mean of the values that are not NaN, added in trec_eval's order, so that the last bit agrees.

    `how`: arithmetic, geometric, or sum. Without values a mean is NaN, and a sum is 0.
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
