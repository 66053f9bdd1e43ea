# cython: wraparound=True
"""HitCurve and HitCurves: the table of one ranking or of many, and every measure computed from it."""
cimport cython
from cpython.mem cimport PyMem_RawFree
from libc.math cimport INFINITY, NAN
from libc.stdint cimport int64_t

cimport numpy as cnp

from itertools import pairwise

import numpy as np

from hitcurve._kernel.columns cimport ScoreType
from hitcurve._base.checks cimport (
    all_ranked, apply_nan_policy, as_flags, as_ids, as_key, as_offsets, as_real, as_weight, as_whole,
    check_flag, check_rank, check_rows, check_scores, check_within, checked_items, each, frozen, interpolated_cutoff,
    no_threshold, not_negative, one_dimension, parameters, parse_lower, parse_num_relevant, parse_reading, parse_ties,
    query_totals, quotients, ranks_from, same_items, table_columns, whole_number, whole_ranks, within,
)
from hitcurve.curves.ranking cimport (
    OwnTable, Queries, compared_as, counts_in, queries_average_precision, queries_tables, rank_one, scores_as,
)
from hitcurve._kernel cimport formulas
from hitcurve._kernel.formulas cimport (
    TIES_BEST, TIES_THRESHOLD, TIES_WORST, Formula, Measure, Reading, Record, Table, mean_precision,
)

from hitcurve._base.checks import check_choice, check_empty, equal_numbers
from hitcurve._base.words import many
from hitcurve._base.pickle import MAKERS as _MAKERS, hit_curve, hit_curves
from hitcurve.curves.base import ManyRankings, OneRanking, as_measure, mean_over, totals
from hitcurve.curves.sorted import checked_others, other_items, running_sums, sorted_tables, sum_of
from hitcurve.results import NO_WEIGHTS as _NO_WEIGHTS, WEIGHTED as _WEIGHTED
from hitcurve.results import (
    HitCurvePoints, PrecisionRecallCurve, PrecisionRecallGainCurve, RocCurve, ThresholdCounts, TieReport,
)

cnp.import_array()

# --------------------------------------------------------------------------------------------------------- the measures

# Several tables, one after the other: where the rows of each table begin, and the totals of each table. The three pointers are
# NULL for a single table, because `rows` holds its totals.
cdef struct Tables:
    Table rows
    Py_ssize_t number
    const int64_t* starts
    const int64_t* items
    const int64_t* relevant


cdef inline void table_at(const Tables* tables, Py_ssize_t q, Table* table) noexcept nogil:
    table[0] = tables.rows
    if tables.starts is not NULL:
        table.above, table.tied, table.hits = (
            table.above + tables.starts[q], table.tied + tables.starts[q], table.hits + tables.starts[q])
        table.rows = <Py_ssize_t>(tables.starts[q + 1] - tables.starts[q])
        table.num_items, table.num_relevant = tables.items[q], tables.relevant[q]


cdef bint same(a, b) except -1:
    """Whether two parts of curves are equal, whatever their types."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all([same(x, y) for x, y in zip(a, b)])
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        return type(a) is type(b) and a == b  # numbers, flags, curves or None
    return a.shape == b.shape and (a.dtype == b.dtype and (a == b).all() or equal_numbers(a, b).all())


cdef class Curve:
    """The base of HitCurve, HitCurves, GainCurve and GainCurves. Its subclasses ``Hits`` and ``Gains`` have the measures."""
    def _repr_html_(self):
        from hitcurve.shown.notebook import curve_tables, shown
        return shown(curve_tables(self))

    def __eq__(self, other):
        if type(self) is not type(other):
            return NotImplemented
        return all([same(a, b) for a, b in zip(self.__reduce__()[1], other.__reduce__()[1])])

    def __hash__(self):
        parts = self.num_items, self.num_relevant, self.above, self.tied, self.hits
        return hash(tuple([np.asarray(part).tobytes() for part in parts]))

    def measure(self, name, *, ties="expected"):
        """Compute a measure by its name, such as ``"P@10"``. Files, reports and the command line use the same names.

        Parameters
        ----------
        name : str
            A name ``NAME(option=value, ...)@cutoff``: see ``hitcurve.measures.parse``. For a binary measure of gain curves,
            the items of level ``rel=`` or higher are relevant. Without ``rel=`` in the name, the items of level 1 or higher
            are relevant.
        ties : str
            How to interpret ties. An option ``ties=`` in the name takes precedence.

        Returns
        -------
        float or ndarray

        Raises
        ------
        ValueError
            If the name is unknown, or if the measure is not available for these curves.

        Examples
        --------
        >>> import hitcurve as hc
        >>> hc.HitCurve([1, 0, 1], [3, 2, 1]).measure("P@2")
        0.5
        >>> hc.GainCurve([2, 0, 1], [3, 2, 1]).measure("P(rel=2)@2")
        0.5
        """
        return as_measure(name)(self, ties)


cdef class Hits(Curve):
    """The measures of HitCurve and HitCurves: a number for a HitCurve, an array with a number for each query for HitCurves."""
    cdef readonly bint weighted
    _family, _usual_measure, _usual_picture = "hits", "AP", "precision-recall"

    cdef object read(self, Formula formula, Reading* reading, object ranks, object numbers, object shape):
        """The measure for each rank or number. `shape` is the shape of the ranks or numbers, None for a single value."""

    cdef object read_all(self, const Tables* tables, Formula formula, Reading* reading, object ranks, object numbers):
        """The measure for each table and each rank or number. All tables share the ranks, or each table has a row of ranks."""
        cdef Table table
        cdef Py_ssize_t q, i, n = 1, step = 0
        cdef const int64_t* k = NULL
        cdef const double* x = NULL
        cdef double* out
        if ranks is not None:
            k = counts_in(ranks)
        if numbers is not None:
            x = <const double*>cnp.PyArray_DATA(<cnp.ndarray>numbers)
        given = numbers if ranks is None else ranks
        if given is not None:
            n = given.shape[given.ndim - 1]
            step = n if given.ndim == 2 else 0
        values = np.empty((tables.number, n))
        out = <double*>cnp.PyArray_DATA(<cnp.ndarray>values)
        with nogil:
            for q in range(tables.number):
                table_at(tables, q, &table)
                for i in range(n):
                    if k is not NULL:
                        reading.k = k[q * step + i]
                    if x is not NULL:
                        reading.x = x[q * step + i]
                    out[q * n + i] = formula(&table, reading)
        return values

    cdef object weighted_read(self, Measure measure, object ties, object interpolation):
        """The measure of items with weights."""

    cdef int needs_all(self, const char* name) except -1:
        """Raises an error if relevant items were never retrieved: this measure needs the rank of every relevant item."""

    cdef int needs_plain(self, const char* name) except -1:
        """Raises an error if the items have weights, because this measure is not defined for weighted items."""
        if self.weighted:
            raise ValueError(f"{name.decode()} {_NO_WEIGHTS}")
        return 0

    cdef const Record* checked(self, Measure measure, object ties, Reading* reading) except NULL:
        """The record of the measure, after a check that the curves have everything that the measure needs."""
        cdef const Record* record = &formulas.RECORDS[<int>measure]
        parse_reading(None, ties, None, "min", reading)
        if record.readings == formulas.NO_THRESHOLD and reading.ties == TIES_THRESHOLD:
            no_threshold(record.method.decode(), reading.ties)
        if not record.takes & formulas.WEIGHTS:
            self.needs_plain(record.method)
        if record.takes & formulas.ALL_RANKS:
            self.needs_all(record.method)
        return record

    cdef object measured(self, Measure measure, object ties="expected", object k=None, object fraction=None, double x=0.0):
        """A measure of all items, or of the items above a cutoff."""
        cdef Reading reading
        cdef const Record* record = self.checked(measure, ties, &reading)
        if self.weighted:
            return self.weighted_read(measure, ties, None)
        reading.x = x
        if fraction is None and isinstance(k, int):  # without arrays: making arrays takes longer than the measure
            reading.k = check_rank(k, "k")
            k = None
        if k is None and fraction is None:
            return self.read(record.formula, &reading, None, None, None)
        ranks, shape = ranks_from(k, fraction, self.num_items)
        return self.read(record.formula, &reading, ranks, None, shape)

    cdef object at_rate(self, Measure measure, object ties, object rate, str name, object whole, bint zero=False):
        """A measure at each rate, a share of `whole` items, exact for the decimal as written. `zero` allows the rate 0."""
        cdef Reading reading
        cdef const Record* record = self.checked(measure, ties, &reading)
        counts, rests, shape = quotients(rate, name, whole, zero)
        return self.read(record.formula, &reading, counts, rests, shape)

    cdef object with_number(self, Measure measure, object ties, object values, str name, double most=1.0):
        """A measure for each value of its parameter, such as alpha."""
        cdef Reading reading
        cdef const Record* record = self.checked(measure, ties, &reading)
        domain = "finite and above 0"
        if record.domain == formulas.SHARE:
            domain, reading.most = f"in (0, {most:g})", most
        else:
            most = INFINITY
        if isinstance(values, (int, float)):
            reading.x = check_within(values, name, domain, 0.0, most)
            return self.read(record.formula, &reading, None, None, None)
        numbers, shape = parameters(values, name, domain, 0.0, most)
        return self.read(record.formula, &reading, None, numbers, shape)

    cdef object between(self, Measure measure, object ties, object low, object high, str kind):
        """A measure between two rates, 0 and 1 where they are None. Each may be an array."""
        cdef Reading reading
        cdef const Record* record = self.checked(measure, ties, &reading)
        lows, shape = each(0.0 if low is None else low, f"min_{kind}")
        highs, other = each(1.0 if high is None else high, f"max_{kind}")
        if shape is not None and other is not None and shape != other:
            raise ValueError(f"min_{kind} has shape {shape}, max_{kind} has shape {other}: must have the same shape")
        number = max(len(lows), len(highs)) if len(lows) and len(highs) else 0
        values = []
        for i in range(number):
            most, name = highs[i % len(highs)]
            reading.most = check_within(most, name, "in (0, 1]", 0.0, 1 + 2.0**-52)
            least, name = lows[i % len(lows)]
            reading.x = check_within(least, name, f"in [0, {most:g})", 0.0, most, True)
            values.append(self.read(record.formula, &reading, None, None, None))
        shape = other if shape is None else shape
        if shape is None:
            return values[0]
        return np.stack(values, axis=-1).reshape((*np.shape(values[0]), *shape)) if values else np.empty(
            (*np.shape(self.num_items), *shape))

    def average_precision(self, k=None, *, ties="expected", interpolation=None, normalize="min"):
        """Average precision: the mean, over the relevant items, of the precision at each (Zhu 2004).

        AP = (1/R) sum over relevant items of h(x) / x. R is the number of relevant items, x is the item's rank, and h(x)
        is the number of relevant items among the first x items. Relevant items that were never retrieved add 0.

        Parameters
        ----------
        k : int or array of int, optional
            Only the first k items count.
        ties : {"expected", "best", "worst", "threshold"}
            How to interpret a group of equal scores. ``"expected"`` takes the mean over all orders of the group's items,
            in closed form (McSherry & Najork 2008). ``"best"`` puts the group's relevant items first, ``"worst"`` puts
            them last: the values of all orders lie between these two values, except with ``normalize="hits"``.
            ``"threshold"`` takes the precision at the end of each group: (1/R) sum r_g H_g / N_g, where group g has r_g
            relevant items, and the items down to its end are N_g, H_g of them relevant. This is scikit-learn's value; it
            is neither a mean nor a bound. Without ties all four values are equal.
        interpolation : str, optional
            None is the sum above. ``"11-point"``, ``"101-point"`` and ``"all-point"`` take the mean over recall levels:
            the value of a level is the greatest precision at this recall or a higher recall. There are 11 levels (PASCAL
            VOC 2007), 101 levels (COCO), or a level for each relevant item (VOC 2010). Levels are compared in whole
            numbers. Under expected ties these three take the mean hit curve. ``"11-point-float"`` and
            ``"101-point-float"`` compare levels in floats, as the well-known Python code of VOC 2007 and COCO does: a
            comparison in floats misses some levels.
            ``"trapezoid"`` joins the points of precision over recall by straight lines and starts at recall 0 with the
            first point's precision. Under expected ties it is the mean over all orders. ``"trapezoid-from-1"`` starts at
            precision 1, which changes the value only under threshold ties: it is then scikit-learn's
            ``auc(recall, precision)`` and CatBoost's ``PRAUC``.
            ``"continuous"`` is the integral of precision over recall, with the hits of a tie group spread evenly over the
            group (Davis & Goadrich 2006; Keilwagen et al. 2014). It is the same for expected and threshold ties.
        normalize : {"min", "relevant", "hits"}
            The divisor of AP@k. ``"min"`` divides by min(k, R) (Spark, recommenders). ``"relevant"`` divides by R
            (trec_eval's ``map_cut``). ``"hits"`` divides by the number of relevant items among the first k (torchmetrics);
            under expected ties the value is the mean of this ratio, which is 0 without a hit. The measure name ``"AP@10"``
            divides by R, as trec_eval does, and ``average_precision(10)`` divides by min(10, R).

        Returns
        -------
        float or ndarray
            NaN when there is no relevant item.

        Raises
        ------
        ValueError
            If a choice is unknown, if k is below 1, or if k and an interpolation are both given.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> curve.average_precision()
        0.861111111111111
        >>> curve.average_precision(ties="worst"), curve.average_precision(ties="best")
        (0.8055555555555555, 0.9166666666666666)
        >>> curve.average_precision([1, 2], normalize="relevant").round(4).tolist()
        [0.3333, 0.5]
        """
        cdef Reading reading
        cdef bint single = k is None or isinstance(k, int)
        ranks, shape = (None, None) if single else whole_ranks(k)
        parse_reading(k if single else None, ties, interpolation, normalize, &reading)
        if k is None and self.weighted:
            return self.weighted_read(formulas.MEASURE_AVERAGE_PRECISION, ties, interpolation)
        if k is not None and interpolation is not None:
            raise interpolated_cutoff(k, interpolation)
        self.needs_plain("average_precision at k")
        return self.read(formulas.RECORDS[<int>formulas.MEASURE_AVERAGE_PRECISION].formula, &reading, ranks, None, shape)

    def interpolated_precision(self, recall, *, ties="expected"):
        """Interpolated precision: the greatest precision at this recall or a higher recall.

        The value at recall r is the maximum of h(x) / x over all x with h(x) >= r R. The mean of the values at recall 0, 0.1,
        ..., 1 is ``average_precision(interpolation="11-point")``.

        Parameters
        ----------
        recall : float or array of float
            The recall level, in [0, 1]. The decimal as written is compared exactly with h(x) / R. A float that was computed
            as h / R stands for exactly h / R. A ``fractions.Fraction`` works too.
        ties : {"expected", "best", "worst", "threshold"}
            ``"expected"`` takes the mean hit curve, which is straight across a tie group and may reach the recall between
            two items. ``"best"`` puts a group's relevant items first, and ``"worst"`` puts them last. ``"threshold"`` has a
            point only at the end of each group.

        Returns
        -------
        float or ndarray
            In [0, 1]. 0 if the retrieved relevant items do not reach this recall. NaN when there is no relevant item.

        Raises
        ------
        ValueError
            If `recall` is outside [0, 1], or if the items have weights.

        References
        ----------
        Manning, Raghavan & Schutze (2008), "Introduction to Information Retrieval", section 8.4.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> curve.interpolated_precision([0, 0.5, 1]).round(4).tolist()
        [1.0, 0.75, 0.75]
        >>> curve.interpolated_precision(0.5, ties="best")
        1.0
        """
        return self.at_rate(formulas.MEASURE_INTERPOLATED_PRECISION, ties, recall, "recall", self.num_relevant, True)

    def precision(self, k=None, *, fraction=None, normalize="k", ties="expected"):
        """Precision among the first k items, h(k) / k (Kent et al. 1955).

        Parameters
        ----------
        k : int or array of int, optional
            The cutoff rank, from 1. If neither `k` nor `fraction` is given, all items count: k = N.
        fraction : float or array of float, in place of k
            A share of the items: k = ceil(fraction * N), computed exactly for the decimal as written (0.07 of 100 is 7).
            A float that was computed as k / N stands for rank k.
        normalize : {"k", "ranked"}
            The divisor of the hits. ``"k"`` divides by k: places beyond the last item count as not relevant (trec_eval).
            ``"ranked"`` divides by min(k, N), the number of items that are ranked among the first k (XGBoost's ``pre``,
            CatBoost's ``PrecisionAt``, TF-Ranking's ``PrecisionMetric``, torcheval's ``retrieval_precision`` with
            ``limit_k_to_size=True``). The two values differ only if k exceeds N.
        ties : {"expected", "best", "worst", "threshold"}
            Which number of hits counts if k falls inside a tie group: the value of a straight line across the group
            (expected, threshold), the greatest number of any order (best), or the least number (worst).

        Returns
        -------
        float or ndarray
            In [0, 1]. NaN only if there are no items and no `k`.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> curve.precision(2), curve.precision(2, ties="worst")
        (0.75, 0.5)
        >>> curve.precision([1, 3]).round(4).tolist()
        [1.0, 0.6667]
        >>> curve.precision(10), curve.precision(10, normalize="ranked")
        (0.3, 0.5)
        """
        if normalize != "k" and check_choice(normalize, "normalize", ("k", "ranked")) == "ranked":
            return self.measured(formulas.MEASURE_PRECISION_OF_RANKED, ties, k, fraction)
        return self.measured(formulas.MEASURE_PRECISION, ties, k, fraction)

    def recall(self, k=None, *, fraction=None, normalize="relevant", ties="expected"):
        """Recall among the first k items, h(k) / R (Kent et al. 1955).

        Parameters
        ----------
        k, fraction, ties
            As in ``precision``.
        normalize : {"relevant", "min"}
            The divisor of the hits. ``"relevant"`` divides by R. ``"min"`` divides by min(k, R), the greatest number of
            relevant items that k items can hold.

        Returns
        -------
        float or ndarray
            In [0, 1]; NaN when there is no relevant item.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> curve.recall(4)
        1.0
        >>> round(curve.recall(fraction=0.5), 4)
        0.6667
        >>> round(curve.recall(1), 4), curve.recall(1, normalize="min")
        (0.3333, 1.0)
        """
        if check_choice(normalize, "normalize", ("relevant", "min")) == "relevant":
            return self.measured(formulas.MEASURE_RECALL, ties, k, fraction)
        self.needs_plain("recall")
        return self.measured(formulas.MEASURE_NORMALIZED_ENRICHMENT_FACTOR, ties, k, fraction)

    def fall_out(self, k=None, *, fraction=None, ties="expected"):
        """Fall-out: the share of the items that are not relevant which the first k items hold (van Rijsbergen 1979).

        Fall-out is (k - h(k)) / (N - R), the false-positive rate. Lower is better.

        Parameters
        ----------
        k, fraction, ties
            As in ``precision``, but a k above N counts as N. The best order has the least fall-out.

        Returns
        -------
        float or ndarray
            In [0, 1]; NaN when all items are relevant.

        Raises
        ------
        ValueError
            If relevant items were never retrieved, as in ``roc_auc``.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> curve.fall_out([1, 4, 6]).round(4).tolist()
        [0.0, 0.3333, 1.0]
        >>> curve.fall_out(2, ties="best"), round(curve.fall_out(2, ties="worst"), 4)
        (0.0, 0.3333)
        """
        return self.measured(formulas.MEASURE_FALL_OUT, ties, k, fraction)

    def f_score(self, k=None, *, fraction=None, beta=1.0, ties="expected"):
        """F score of the first k items, (1 + beta**2) h(k) / (k + beta**2 R) (van Rijsbergen 1979).

        Parameters
        ----------
        k, fraction, ties
            As in ``precision``.
        beta : float
            The weight of recall relative to precision, at least 0.

        Returns
        -------
        float or ndarray
            In [0, 1]. 0 when there is no relevant item. NaN only if there are no items and no `k`.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> curve.f_score(3), round(curve.f_score(3, beta=2.0), 4)
        (0.6666666666666666, 0.6667)
        """
        not_negative(beta, "beta")
        return self.measured(formulas.MEASURE_F_SCORE, ties, k, fraction, beta)

    def hits_at(self, k=None, *, fraction=None, ties="expected"):
        """The number of relevant items among the first k items, h(k): the hit curve itself (Zhu 2004).

        Parameters
        ----------
        k, fraction, ties
            As in ``precision``.

        Returns
        -------
        float or ndarray
            In [0, min(k, R)]. Under expected and threshold ties the value may be a fraction if k falls inside a tie group.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> curve.hits_at([1, 2, 3, 4]).tolist()
        [1.0, 1.5, 2.0, 3.0]
        >>> curve.hits_at(2, ties="best")
        2.0
        """
        return self.measured(formulas.MEASURE_HITS, ties, k, fraction)

    def success(self, k=None, *, fraction=None, ties="expected"):
        """1 if a relevant item is among the first k items, else 0 (Craswell & Hawking 2004).

        Under expected ties it is the probability P of a relevant item among the first k items. The first tie group with
        relevant items has n items, r of them relevant, and m places among the first k: P = 1 - C(n - r, m) / C(n, m).

        Parameters
        ----------
        k, fraction
            As in ``precision``.
        ties : {"expected", "best", "worst"}
            As in ``average_precision``, but ``"threshold"`` is an error.

        Returns
        -------
        float or ndarray
            0 when there is no relevant item.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 0, 0], [2, 2, 2, 1])
        >>> round(curve.success(1), 4), curve.success(1, ties="worst")
        (0.3333, 0.0)
        """
        return self.measured(formulas.MEASURE_SUCCESS, ties, k, fraction)

    def r_precision(self, *, ties="expected"):
        """Precision among the first R items, h(R) / R, which is also their recall (Buckley & Voorhees 2005).

        Parameters
        ----------
        ties : {"expected", "best", "worst", "threshold"}
            As in ``precision``.

        Returns
        -------
        float or ndarray
            NaN when there is no relevant item.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> round(curve.r_precision(), 4)
        0.6667
        """
        return self.measured(formulas.MEASURE_R_PRECISION, ties)

    def reciprocal_rank(self, k=None, *, ties="expected"):
        """Reciprocal rank: 1 / rank of the first relevant item, 0 if no relevant item is retrieved (Voorhees 1999).

        With `k`, it is also 0 if no relevant item is among the first k items. Under expected ties it is the mean over the
        orders of the first tie group with relevant items: sum p_j / (c + j) over the group's places j, with p_1 = r/n and
        p_{j+1} = p_j (n - j - r + 1) / (n - j). The group has n items, r of them relevant, and c items rank above it
        (McSherry & Najork 2008).

        Parameters
        ----------
        k : int or array of int, optional
            Only the first k items count.
        ties : {"expected", "best", "worst"}
            As in ``average_precision``, but ``"threshold"`` is an error.

        Returns
        -------
        float or ndarray
            0 when there is no relevant item.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 0, 0], [2, 2, 2, 1])
        >>> round(curve.reciprocal_rank(), 4), curve.reciprocal_rank(ties="best")
        (0.6111, 1.0)
        """
        return self.measured(formulas.MEASURE_RECIPROCAL_RANK, ties, k)

    def mean_rank(self, *, ties="expected"):
        """Mean rank of the relevant items, from 1; lower is better (Bordes et al. 2013).

        Parameters
        ----------
        ties : {"expected", "best", "worst", "threshold"}
            The relevant items of a tie group have the group's middle rank, c + (n + 1) / 2 (expected and threshold: the
            midrank, Wilcoxon 1945), or the group's first ranks (best), or the group's last ranks (worst).

        Returns
        -------
        float or ndarray
            From (R + 1) / 2 to N - (R - 1) / 2. NaN when there is no relevant item.

        Raises
        ------
        ValueError
            If relevant items were never retrieved, as in ``roc_auc``, or if the items have weights.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> curve.mean_rank(), round(curve.mean_rank(ties="best"), 4)
        (2.5, 2.3333)
        """
        return self.measured(formulas.MEASURE_MEAN_RANK, ties)

    def mean_percentile_rank(self, *, ties="expected"):
        """Mean percentile rank of the relevant items: 0 for the first rank, 1 for the last (Hu, Koren & Volinsky 2008).

        It is the mean of (rank - 1) / (N - 1), and 1/2 in a random order. Lower is better.

        Parameters
        ----------
        ties : {"expected", "best", "worst", "threshold"}
            As in ``mean_rank``.

        Returns
        -------
        float or ndarray
            1/2 if there is a single item, which is relevant. NaN when there is no relevant item.

        Raises
        ------
        ValueError
            If relevant items were never retrieved, as in ``roc_auc``, or if the items have weights.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> curve.mean_percentile_rank()
        0.3
        """
        self.needs_plain("mean_percentile_rank")
        self.needs_all("mean_percentile_rank")
        ranks = self.mean_rank(ties=ties)
        alone = np.equal(self.num_items, 1)
        shares = (ranks - 1.0 + 0.5 * alone) / (self.num_items - 1.0 + alone)
        return float(shares) if isinstance(ranks, float) else shares

    def roc_auc(self, *, min_fpr=None, max_fpr=None, min_tpr=None, max_tpr=None, standardize=True, ties="expected"):
        """Area under the ROC curve: the share of (relevant, not relevant) pairs in the right order (Hanley & McNeil 1982).

        Parameters
        ----------
        min_fpr, max_fpr : float or array of float, optional
            Only the curve between these false-positive rates counts, with 0 <= min_fpr < max_fpr <= 1. `max_fpr` alone is
            exact for the decimal as written. Two arrays have the same shape.
        min_tpr, max_tpr : float or array of float, optional
            Only the curve between these true-positive rates (sensitivities) counts: the area beside the curve, which is the
            integral of the true-negative rate over the true-positive rate (Jiang, Metz & Nishikawa 1996). They cannot be
            combined with false-positive rates.
        standardize : bool
            Only between rates. If True, the area A is scaled to (1 + (A - least) / (most - least)) / 2, which is 1/2 for a
            random order and 1 for a perfect order (McClish 1989). Between rates a and b, most is b - a. The area of a random
            order, least, is (b - a) (a + b) / 2 for false-positive rates, and (b - a) (1 - (a + b) / 2) for true-positive
            rates. If False, the value is A itself, at most b - a. scikit-learn has the scaled value up to `max_fpr`. pROC
            has A, and with ``partial.auc.correct=TRUE`` the scaled value, but NA where the scaled value is below 1/2.
        ties : {"expected", "best", "worst", "threshold"}
            A tied pair counts 1/2 (expected, threshold), 1 (best) or 0 (worst). Between rates the expected value is the
            mean over all orders, and ``"threshold"`` takes the straight segment across a tie group, as pROC and
            scikit-learn do.

        Returns
        -------
        float or ndarray
            NaN when all items are relevant, or when there is no relevant item.

        Raises
        ------
        ValueError
            If relevant items were never retrieved (``num_relevant > num_hits``): the measure needs their ranks. If a rate
            is outside its bounds, if rates of both kinds are given, or if the items have weights and a rate is given.

        References
        ----------
        McClish (1989), "Analyzing a portion of the ROC curve", Medical Decision Making 9:190. Jiang, Metz & Nishikawa
        (1996), "A receiver operating characteristic partial area index for highly sensitive diagnostic tests", Radiology
        201:745.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> round(curve.roc_auc(), 4)
        0.8333
        >>> round(curve.roc_auc(max_fpr=0.5), 4), round(curve.roc_auc(max_fpr=0.5, standardize=False), 4)
        (0.7778, 0.3333)
        >>> round(curve.roc_auc(min_fpr=0.25, max_fpr=0.5), 4), round(curve.roc_auc(min_tpr=0.5), 4)
        (0.8667, 0.8148)
        """
        raw = not check_flag(standardize, "standardize")
        if min_fpr is None and max_fpr is None and min_tpr is None and max_tpr is None:
            return self.measured(formulas.MEASURE_ROC_AUC, ties)
        given = {"min_fpr": min_fpr, "max_fpr": max_fpr, "min_tpr": min_tpr, "max_tpr": max_tpr}
        names = [name for name, rate in given.items() if rate is not None]
        if len({name[4:] for name in names}) > 1:
            raise ValueError(f"{names[0]}={given[names[0]]!r} and {names[-1]}={given[names[-1]]!r} are both given: the curve "
                             "is cut at false-positive rates or at true-positive rates")
        self.needs_plain("roc_auc at a rate")
        if names == ["max_fpr"]:
            measure = formulas.MEASURE_PARTIAL_ROC_AREA if raw else formulas.MEASURE_PARTIAL_ROC_AUC
            return self.at_rate(measure, ties, max_fpr, "max_fpr", self.num_items - self.num_relevant)
        if names[0].endswith("fpr"):
            measure = formulas.MEASURE_ROC_AREA_FROM_FPR if raw else formulas.MEASURE_ROC_AUC_FROM_FPR
            return self.between(measure, ties, min_fpr, max_fpr, "fpr")
        measure = formulas.MEASURE_ROC_AREA_FROM_TPR if raw else formulas.MEASURE_ROC_AUC_FROM_TPR
        return self.between(measure, ties, min_tpr, max_tpr, "tpr")

    def order_accuracy(self, k=None, *, ties="expected"):
        """The share of the pairs of a relevant and another item that are in the right order, of ranked items only.

        Relevant items that were never retrieved do not count. Without `k`, if all relevant items were retrieved, it is
        ``roc_auc`` (Hanley & McNeil 1982). ir_measures calls it Accuracy. It is not the share of correct labels.

        Parameters
        ----------
        k : int or array of int, optional
            Only the first k items count.
        ties : {"expected", "best", "worst"}
            As in ``average_precision``, but ``"threshold"`` is an error. Orders without such a pair among the first k items do
            not count: the expected value is the mean over the other orders, and best and worst are their bounds.

        Returns
        -------
        float or ndarray
            NaN when no order has such a pair: no item is relevant, or every item is relevant.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1], num_relevant=5)
        >>> round(curve.order_accuracy(), 4), curve.order_accuracy(4)
        (0.8333, 0.5)
        """
        return self.measured(formulas.MEASURE_ORDER_ACCURACY, ties, k)

    def prg_auc(self, *, ties="expected"):
        """Area under the precision-recall-gain curve, over recall gain from 0 to 1 (Flach & Kull 2015).

        With the prevalence p = R / N, the gain of a precision or recall x is (x - p) / ((1 - p) x). A gain is 1 for x = 1, and
        0 for x = p, the precision of a random order. Recall gain is 0 at R**2 / N hits. The area is 0 if precision is p
        throughout, and negative where precision is mostly below p.

        Parameters
        ----------
        ties : {"expected", "best", "worst", "threshold"}
            ``"expected"`` is the mean over all orders, in closed form. ``"best"`` puts a group's relevant items first, and
            ``"worst"`` puts them last: the values of all orders lie between. ``"threshold"`` takes the straight segment
            across a tie group, as the authors' program does.

        Returns
        -------
        float or ndarray
            At most 1. NaN when all items are relevant, or when there is no relevant item.

        Raises
        ------
        ValueError
            If relevant items were never retrieved, as in ``roc_auc``, or if the items have weights.

        References
        ----------
        Flach & Kull (2015), "Precision-recall-gain curves: PR analysis done right", NIPS.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> round(curve.prg_auc(), 4), round(curve.prg_auc(ties="threshold"), 4)
        (0.6458, 0.5833)
        """
        return self.measured(formulas.MEASURE_PRG_AUC, ties)

    def auac(self, *, ties="expected"):
        """Area under the accumulation curve: recall over the share of the list, by trapezoids.

        (1 / 2RN) sum_k h(k-1) + h(k) = R/2N + (1 - R/N) ROC AUC  (Truchon & Bayly 2007).

        Parameters
        ----------
        ties : {"expected", "best", "worst", "threshold"}
            As in ``roc_auc``.

        Returns
        -------
        float or ndarray
            From R/2N to 1 - R/2N, and 1/2 for a random order. NaN when there is no relevant item.

        Raises
        ------
        ValueError
            If relevant items were never retrieved, as in ``roc_auc``, or if the items have weights.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> round(curve.auac(), 4)
        0.6667
        """
        return self.measured(formulas.MEASURE_AUAC, ties)

    def roc_enrichment(self, fpr, *, ties="expected"):
        """ROC enrichment: the true-positive rate at the false-positive rate `fpr`, divided by `fpr`.

        The true-positive rate is read off the ROC polygon. If the polygon rises at exactly `fpr`, the upper end of the rise
        counts (Nicholls 2008; Jain & Nicholls 2008).

        Parameters
        ----------
        fpr : float or array of float
            The rate is in (0, 1], and exact for the decimal as written. A float that was computed as k / n stands for
            exactly k of n items.
        ties : {"expected", "best", "worst", "threshold"}
            ``"expected"`` takes the mean over all orders, ``"best"`` and ``"worst"`` take the two extreme orders, and
            ``"threshold"`` takes the straight segment across a tie group.

        Returns
        -------
        float or ndarray
            In [0, 1 / fpr]. NaN when all items are relevant, or when there is no relevant item.

        Raises
        ------
        ValueError
            If relevant items were never retrieved, as in ``roc_auc``.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> round(curve.roc_enrichment(0.5), 4)
        2.0
        """
        return self.at_rate(formulas.MEASURE_ROC_ENRICHMENT, ties, fpr, "fpr", self.num_items - self.num_relevant)

    def enrichment_factor(self, fraction=None, *, k=None, ties="expected"):
        """Enrichment factor: precision among the first k items over the prevalence, (h(k) / k) / (R / N).

        Pearlman & Charifson (2001) introduced the measure.

        Parameters
        ----------
        fraction, k, ties
            As in ``precision``, but the fraction is the first argument, as in "EF at 1 %".

        Returns
        -------
        float or ndarray
            In [0, ``max_enrichment_factor``], and 1 for a random order. NaN when there is no relevant item. If k exceeds N,
            the places beyond the last item count as not relevant, as in ``precision``: the value of every order is N / k.

        Raises
        ------
        ValueError
            If relevant items were never retrieved, as in ``roc_auc``.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> round(curve.enrichment_factor(0.5), 4), curve.enrichment_factor(k=1)
        (1.3333, 2.0)
        """
        return self.measured(formulas.MEASURE_ENRICHMENT_FACTOR, ties, k, fraction)

    def max_enrichment_factor(self, fraction=None, *, k=None):
        """The enrichment factor of a perfect ranking, min(R, k) / k * N / R (Truchon & Bayly 2007).

        The value is N / k if k exceeds N.

        Parameters
        ----------
        fraction, k
            As in ``enrichment_factor``.

        Returns
        -------
        float or ndarray
            NaN when there is no relevant item.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> curve.max_enrichment_factor(0.5)
        2.0
        """
        return self.measured(formulas.MEASURE_MAX_ENRICHMENT_FACTOR, "expected", k, fraction)

    def normalized_enrichment_factor(self, fraction=None, *, k=None, ties="expected"):
        """The enrichment factor over its maximum, h(k) / min(R, k) (Liu et al. 2019).

        Only `fraction` needs N, so R may include relevant items that were never retrieved.

        Parameters
        ----------
        fraction, k, ties
            As in ``enrichment_factor``.

        Returns
        -------
        float or ndarray
            In [0, 1]; NaN when there is no relevant item.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> round(curve.normalized_enrichment_factor(0.5), 4)
        0.6667
        """
        return self.measured(formulas.MEASURE_NORMALIZED_ENRICHMENT_FACTOR, ties, k, fraction)

    def rie(self, alpha=20.0, *, ties="expected"):
        """Robust initial enhancement: mean exp(-alpha * rank / N) of the relevant items, divided by the mean of all items.

        RIE = (1/R) sum exp(-alpha x_i / N) / ((1/N) (1 - exp(-alpha)) / (exp(alpha/N) - 1)), with x_i the rank of the i-th
        relevant item (Sheridan et al. 2001). Under expected ties a group of n items, r of them relevant, below c items adds
        (r/n) q^(c+1) (1 - q^n) / (1 - q) to the sum, with q = exp(-alpha/N).

        Parameters
        ----------
        alpha : float or array of float
            How much the top of the list counts, above 0. About the first 1/alpha of the list matters.
        ties : {"expected", "best", "worst"}
            As in ``average_precision``, but ``"threshold"`` is an error.

        Returns
        -------
        float or ndarray
            1 for a random order. NaN when there is no relevant item.

        Raises
        ------
        ValueError
            If relevant items were never retrieved, as in ``roc_auc``, or if alpha is not above 0.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> round(curve.rie(20.0), 4)
        1.9644
        """
        return self.with_number(formulas.MEASURE_RIE, ties, alpha, "alpha")

    def bedroc(self, alpha=20.0, *, ties="expected"):
        """Boltzmann-enhanced discrimination of ROC: RIE scaled so that its least value is 0 and its greatest value is 1.

        BEDROC = (S - S_min) / (S_max - S_min), S = sum exp(-alpha x_i / N) (Truchon & Bayly 2007). The sums are evaluated
        without cancellation: BEDROC tends to ROC AUC as alpha tends to 0, and it stays accurate for large alpha.

        Parameters
        ----------
        alpha, ties
            As in ``rie``. Customary values of alpha are 20, 80.5, 160.9 and 321.9.

        Returns
        -------
        float or ndarray
            NaN when all items are relevant, or when there is no relevant item.

        Raises
        ------
        ValueError
            If relevant items were never retrieved, as in ``roc_auc``, or if alpha is not above 0.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> round(curve.bedroc(20.0), 4)
        0.9822
        >>> curve.bedroc([1.0, 20.0]).round(4).tolist()
        [0.8265, 0.9822]
        """
        return self.with_number(formulas.MEASURE_BEDROC, ties, alpha, "alpha")

    def log_auc(self, min_fpr=0.001, *, max_fpr=1.0, adjusted=False, ties="expected"):
        """Area under the ROC curve over log10 of the false-positive rate, from min_fpr to max_fpr; 1 for a perfect order.

        Under expected ties, in a tie group of r relevant items and d others, r(j + 1) / (d + 1) relevant items come before
        the (j + 1)th other item, and the area of these steps is exact. Under threshold ties the segments of the ROC curve
        are straight: a segment has the area dy/ln 10 + b dlog10 x with b = y2 - x2 dy/dx (Mysinger & Shoichet 2010, as
        their programs compute it).

        Parameters
        ----------
        min_fpr : float or array of float
            The smallest false-positive rate, in (0, max_fpr).
        max_fpr : float
            The greatest false-positive rate, in (0, 1].
        adjusted : bool
            If True, subtract the value of a random order, (max_fpr - min_fpr) / ln(max_fpr / min_fpr). From 0.001 to 1
            this value is 0.1446.
        ties : {"expected", "best", "worst", "threshold"}
            As in ``roc_enrichment``.

        Returns
        -------
        float or ndarray
            NaN when all items are relevant, or when there is no relevant item.

        Raises
        ------
        ValueError
            If relevant items were never retrieved, as in ``roc_auc``, or if a rate is outside its bounds.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> round(curve.log_auc(), 4), round(curve.log_auc(adjusted=True), 4)
        (0.5795, 0.4349)
        >>> round(curve.log_auc(max_fpr=0.5), 4)
        0.5326
        """
        measure = formulas.MEASURE_ADJUSTED_LOG_AUC if check_flag(adjusted, "adjusted") else formulas.MEASURE_LOG_AUC
        most = check_within(max_fpr, "max_fpr", "in (0, 1]", 0.0, 1 + 2.0**-52)
        return self.with_number(measure, ties, min_fpr, "min_fpr", most)

    def chance(self):
        """Expected average precision of a random order of the same items.

        The value is (R-1)/(N-1) + (N-R)/(N-1) H_N / N with H_N the harmonic number (Bestgen 2015): the expected AP if all
        items were one tie group. It is about R/N for large N. If relevant items were never retrieved, the formula takes
        the retrieved relevant items as R, and the value is multiplied by their share of all relevant items.

        Returns
        -------
        float or ndarray
            NaN when there is no relevant item.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> round(curve.chance(), 4)
        0.645
        """
        return self.measured(formulas.MEASURE_CHANCE)

    def minimum(self):
        """The least average precision of any order of the same items: all relevant items come last.

        The value is (1/R) sum i / (N - R + i), i = 1..R (Boyd et al. 2012).

        Returns
        -------
        float or ndarray
            NaN when there is no relevant item.

        References
        ----------
        Boyd, Santos Costa, Davis & Page (2012), "Unachievable region in precision-recall space", ICML.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> round(curve.minimum(), 4)
        0.3833
        """
        return self.measured(formulas.MEASURE_MINIMUM)

    def normalized_average_precision(self, *, ties="expected"):
        """Average precision corrected for chance: 0 for a random order, 1 for a perfect order.

        The value is (AP - chance) / (1 - chance). The form of the correction is Cohen's (1960), and ``chance()`` is exact
        (Bestgen 2015).

        Parameters
        ----------
        ties : {"expected", "best", "worst", "threshold"}
            As in ``average_precision``.

        Returns
        -------
        float or ndarray
            NaN when there is no relevant item, or when all items are relevant.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> round(curve.normalized_average_precision(), 4)
        0.6088
        """
        return self.measured(formulas.MEASURE_NORMALIZED_AVERAGE_PRECISION, ties)


# ------------------------------------------------------------------------------------------------------------ one curve

cdef object own_scores(object score):
    """A read-only copy with 0.0 in place of -0.0."""
    return None if score is None else frozen(np.array(score + 0 if score.dtype.kind == "f" else score))


cdef int one_of_two(object tiebreak, object sample_weight) except -1:
    if tiebreak is not None and sample_weight is not None:
        raise ValueError("tiebreak and sample_weight cannot be combined: measures of weighted items need ties='threshold', "
                         "which resolves no ties")
    return 0


cdef object shares(object parts, object whole):
    with np.errstate(under="ignore"):
        return parts / whole if whole else np.full(parts.shape, NAN)


@cython.final
cdef class HitCurve(Hits):
    """HitCurve(y_true, y_score, *, num_relevant=None, relevance_level=None, tiebreak=None, lower_is_better=False, \
nan_policy="raise", sample_weight=None, workers=1)
--

The hit curve of one ranking: the tie groups that hold a relevant item, and every measure computed from them.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        1 or True for a relevant item, 0 or False for any other item. With `relevance_level`, graded labels.
    y_score : array_like of shape (n,)
        The scores. The highest score ranks first. float32 and float64 are compared in their own type, integers exactly.
    num_relevant : int, optional
        The number of all relevant items, if some were never retrieved. It is at least the number of relevant items in
        `y_true`. Default: the number of relevant items in `y_true`.
    relevance_level : number, optional
        Items whose graded label is this level or higher are relevant. Whole labels are compared with the level exactly.
        For float labels the level is rounded to the type of the labels.
    tiebreak : "order" or array_like of shape (n,), optional
        Resolves ties while ranking. ``"order"`` keeps the order of the items. An array has a key for each item, a number
        or a string: the smaller key ranks first, and items of equal score and equal key stay tied. None keeps ties; the
        argument ``ties`` of a measure says how to interpret them.
    lower_is_better : bool
        If True, the lowest score ranks first (docking energies, distances).
    nan_policy : {"raise", "worst", "omit"}
        What a NaN score means. ``"raise"``: an error. ``"worst"``: the item ranks below all other scores, and all such
        items are one tie group. ``"omit"``: the item is left out.
    sample_weight : array_like of shape (n,), optional
        The weights of the items. Every count becomes a sum of weights, and measures need ``ties="threshold"``. Items of
        weight 0 count as absent.
    workers : int
        The number of threads, at most the number of cores that this process may use (its CPU affinity and control group
        count). -1 means all these cores, but not more than the environment variable OMP_NUM_THREADS, which joblib and
        dask set. The result does not depend on the number of threads.

    Attributes
    ----------
    num_items, num_relevant, num_hits : int
        The numbers of all items, of all relevant items, and of the relevant items that were ranked. With `sample_weight`
        they are sums of weights.
    prevalence : float
        num_relevant / num_items.
    score, above, tied, hits : ndarray
        The table. A row is a tie group that holds a relevant item, and the best row is the first. `score` is the group's
        score, `above` counts the items ranked above the group, `tied` counts the items in the group, and `hits` counts
        the relevant items in the group. `score` is None for a curve made from ranks. ``len(curve)`` is the number of
        rows. ``bool(curve)`` is True even if the table has no rows.
    lower_is_better, weighted : bool
        `lower_is_better` is the argument of this name. `weighted` says whether the items have weights.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid. The message names the argument, the place and the value.

    Notes
    -----
    ``hitcurve.measures.MEASURES`` holds each measure's definition and source; ``hitcurve measures NAME`` prints them.

    Examples
    --------
    >>> import hitcurve as hc
    >>> curve = hc.HitCurve([0, 1, 1, 0], [0.3, 0.9, 0.3, 0.1])
    >>> curve.average_precision()
    0.9166666666666666
    >>> curve.average_precision(ties="worst"), curve.average_precision(ties="best")
    (0.8333333333333333, 1.0)
    """
    cdef Table table
    cdef OwnTable own           # memory of the table, its scores in the type of comparison; NULL if an owner keeps it
    cdef object owner
    cdef ScoreType raw_type
    cdef object origin          # from which the scores' own type is restored; None without scores
    cdef object own_score       # the scores in their own type, made when they are first needed
    cdef object weights         # sums of weights (above, tied, hits, items, relevant, all hits, other items), or None

    def __init__(self, y_true, y_score, *, num_relevant=None, relevance_level=None, tiebreak=None,
                 lower_is_better=False, nan_policy="raise", sample_weight=None, workers=1, _strategy=None):
        cdef OwnTable table
        if self.table.num_items != -1:
            raise TypeError("a HitCurve is immutable: make a new one")
        if tiebreak is not None or sample_weight is not None:
            self.rank_sorted(y_true, y_score, num_relevant, relevance_level, tiebreak, lower_is_better, nan_policy,
                             sample_weight)
            return
        self.origin = rank_one(y_true, y_score, relevance_level, lower_is_better, nan_policy, workers, _strategy, &table,
                               None, NULL, NULL)
        self.own = table
        self.table.above, self.table.tied, self.table.hits, self.table.rows = table.above, table.tied, table.hits, table.rows
        self.raw_type = compared_as(self.origin)
        self.table.num_relevant = parse_num_relevant(num_relevant, table.num_hits)
        self.lower_is_better = lower_is_better
        self.table.num_items = table.num_items

    def __cinit__(self):
        self.table.num_items = -1  # until the curve is made

    def __dealloc__(self):
        PyMem_RawFree(self.own.block)

    cdef int rank_sorted(self, y_true, y_score, num_relevant, relevance_level, tiebreak, lower_is_better, nan_policy,
                         sample_weight) except -1:
        """Makes the table of a ranking that must be sorted, because of a tiebreak or weights."""
        lower = parse_lower(lower_is_better)
        relevant = one_dimension(as_flags(y_true, y_score, relevance_level), "y_true")
        score = one_dimension(as_real(y_score, "y_score"), "y_score")
        n = relevant.shape[0]
        same_items(n, score.shape[0])
        one_of_two(tiebreak, sample_weight)
        key = as_key(tiebreak, n) if tiebreak is not None else None
        weight = as_weight(sample_weight, n) if sample_weight is not None else None
        _, score, above, tied, hits, items, _, others = sorted_tables(
            relevant, score, np.zeros(n, np.int64), 1, lower, key, weight, apply_nan_policy(nan_policy, score, None))
        if weight is not None:
            self.set_weighted(score, above, tied, hits, items[0], num_relevant, others)
        else:
            self.set_table(score, above, tied, hits, items[0], num_relevant)
        self.lower_is_better = lower
        return 0

    cdef int set_table(self, score, above, tied, hits, num_items, num_relevant) except -1:
        """Copies a table that has been checked."""
        above, tied, hits = (np.array(column, np.int64, order="C") for column in (above, tied, hits))
        return self.adopt(own_scores(score), above, tied, hits, num_items, np.sum(hits), num_relevant)

    cdef int adopt(self, score, above, tied, hits, int64_t num_items, int64_t num_hits, num_relevant) except -1:
        """Takes over these arrays without a copy."""
        self.owner = above, tied, hits
        self.table.above, self.table.tied, self.table.hits = counts_in(above), counts_in(tied), counts_in(hits)
        self.table.rows = above.shape[0]
        self.table.num_relevant = parse_num_relevant(num_relevant, num_hits)
        self.own_score = score
        self.own.num_hits = num_hits
        self.table.num_items = num_items
        return 0

    cdef int set_weighted(self, score, above, tied, hits, num_items, num_relevant, others) except -1:
        cdef double found = sum_of(hits)
        if num_relevant is None:
            num_relevant = found
        elif not found * (1 - 1e-12) <= float(not_negative(num_relevant, "num_relevant")):
            raise ValueError(f"num_relevant is {num_relevant}, but the weights of the relevant items sum to {found}")
        elif float(num_relevant) * (1 - 1e-12) <= found:
            num_relevant = found  # the same weights, added up in another order
        self.own_score = own_scores(score)
        self.weights = (frozen(np.array(above, np.float64)), frozen(np.array(tied, np.float64)),
                        frozen(np.array(hits, np.float64)), float(num_items), float(num_relevant), found,
                        frozen(np.array(others, np.float64)))
        self.weighted = True
        self.table.rows = above.shape[0]
        self.table.num_items = 0
        return 0

    # Other constructors.

    @classmethod
    def from_ranked(cls, hits, *, num_items=None, num_relevant=None):
        """Make a curve from hit flags in rank order, best first. The curve has no ties and no scores.

        Parameters
        ----------
        hits : array_like of shape (n,)
            1 or True if the item at this rank is relevant (a true neighbour, a true detection), else 0 or False.
        num_items : int, optional
            The number of all items, if `hits` stops before the last item. The missing items are not relevant.
        num_relevant : int, optional
            The number of all relevant items, if some were never retrieved.

        Returns
        -------
        HitCurve

        Raises
        ------
        ValueError
            If a flag is neither 0 nor 1, `num_items` is below the length of `hits`, or `num_relevant` is below the number
            of hits.

        Examples
        --------
        >>> import hitcurve as hc
        >>> hc.HitCurve.from_ranked([1, 0, 1], num_items=100, num_relevant=5)
        HitCurve(num_items=100, num_relevant=5, num_hits=2; 0 tied)
        >>> round(hc.HitCurve.from_ranked([1, 0, 1]).average_precision(), 4)
        0.8333
        """
        flags = one_dimension(as_real(hits, "hits"), "hits")
        for i in np.flatnonzero((flags != 0) & (flags != 1))[:1]:
            raise ValueError(f"hits[{i}] is {flags[i]}: flags must be 0 or 1, False or True")
        count = flags.shape[0] if num_items is None else whole_number(num_items, "num_items")
        if count < flags.shape[0]:
            raise ValueError(f"num_items is {count}, but hits has {many(flags.shape[0], 'entries')}")
        return cls.from_ranks(np.flatnonzero(flags) + 1, num_items=count, num_relevant=num_relevant)

    @classmethod
    def from_ranks(cls, ranks, *, num_items, num_relevant=None):
        """Make a curve from the ranks of the relevant items. The curve has no ties and no scores.

        Parameters
        ----------
        ranks : array_like of int, shape (r,)
            The ranks, from 1, in any order. No rank may occur twice.
        num_items : int
            The number of all items.
        num_relevant : int, optional
            The number of all relevant items, if some were never retrieved.

        Returns
        -------
        HitCurve

        Raises
        ------
        ValueError
            If a rank is below 1 or above `num_items`, if a rank is given twice, or if `num_relevant` is below the number
            of ranks.

        Examples
        --------
        >>> import hitcurve as hc
        >>> hc.HitCurve.from_ranks([1, 3], num_items=100)
        HitCurve(num_items=100, num_relevant=2, num_hits=2; 0 tied)
        >>> round(hc.HitCurve.from_ranks([1, 3], num_items=100).average_precision(), 4)
        0.8333
        """
        places = one_dimension(as_whole(ranks, "ranks"), "ranks")
        count = checked_items(num_items)
        for i in np.flatnonzero(places < 1)[:1]:
            raise ValueError(f"ranks[{i}] is {places[i]}: ranks start at 1")
        for i in np.flatnonzero(places > count)[:1]:
            raise ValueError(f"ranks[{i}] is {places[i]}, but num_items is {count}")
        order = np.argsort(places, kind="stable")
        above = places[order].astype(np.int64) - 1
        for i in np.flatnonzero(above[1:] == above[:-1])[:1]:
            first, second = sorted(order[i:i + 2].tolist())
            raise ValueError(f"ranks[{first}] and ranks[{second}] are both {places[second]}: a rank may occur only once")
        ones = np.ones(above.shape[0], np.int64)
        cdef HitCurve curve = cls.__new__(cls)
        curve.set_table(None, above, ones, ones, count, num_relevant)
        return curve

    @classmethod
    def from_table(cls, score, above, tied, hits, *, num_items, num_relevant=None, lower_is_better=False):
        """Make a curve from its table, for example a table that another program made.

        Parameters
        ----------
        score : array_like of shape (rows,) or None
            The score of each tie group, best first. None makes a curve without scores.
        above, tied, hits : array_like of int, shape (rows,)
            For each tie group, the number of items ranked above the group, of items in the group, and of relevant items in
            the group (at least 1). If these are floats, they are sums of weights.
        num_items : int
            The number of all items, up to 2**62.
        num_relevant : int, optional
            The number of all relevant items, if some were never retrieved.
        lower_is_better : bool
            True if the scores rise down the table.

        Returns
        -------
        HitCurve

        Raises
        ------
        ValueError
            If no ranking can have this table. The message names the row and the values.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve.from_table([6, 5], above=[0, 1], tied=[1, 2], hits=[1, 1], num_items=6)
        >>> curve == hc.HitCurve([1, 0, 1, 0, 0, 0], [6, 5, 5, 3, 2, 1])
        True
        """
        lower = parse_lower(lower_is_better)
        columns = table_columns(score, above, tied, hits)
        above, tied, hits = columns[:3]
        # The type of an empty list says nothing.
        weighted = (any([column.dtype.kind == "f" for column in columns[:3]]) if above.size > 0 else
                    isinstance(num_items, (float, np.floating)))
        num_items = float(not_negative(num_items, "num_items")) if weighted else checked_items(num_items)
        check_rows(above, tied, hits, num_items, weighted)
        if score is not None:
            score = columns[3]
            check_scores(score, lower)
        cdef HitCurve curve = cls.__new__(cls)
        if weighted:
            above, tied, hits = [column.astype(np.float64) for column in columns[:3]]
            curve.set_weighted(score, above, tied, hits, num_items, num_relevant, other_items(above, tied, hits, num_items))
        else:
            curve.set_table(score, above, tied, hits, num_items, num_relevant)
        curve.lower_is_better = lower
        return curve

    # The table.

    @property
    def num_items(self):
        return self.table.num_items if self.weights is None else self.weights[3]

    @property
    def num_relevant(self):
        return self.table.num_relevant if self.weights is None else self.weights[4]

    @property
    def num_hits(self):
        return self.own.num_hits if self.weights is None else self.weights[5]

    @property
    def prevalence(self):
        items = self.num_items
        return self.num_relevant / items if items else NAN

    @property
    def score(self):
        # The only attribute that is still written once a curve is made. While a critical section waits, other threads may
        # enter it: several threads may then make the array, and the first array is kept.
        with cython.critical_section(self):
            score = self.own_score
        if score is None and self.own.score is not NULL:
            made = frozen(scores_as(self.own.score, self.table.rows, self.raw_type, self.origin))
            with cython.critical_section(self):
                if self.own_score is None:
                    self.own_score = made
                score = self.own_score
        return score

    cdef object column(self, const int64_t* counts, int at):
        """An array on the curve's memory, or of weights."""
        cdef cnp.npy_intp rows = self.table.rows
        if self.weights is not None:
            return self.weights[at]
        cdef cnp.ndarray array = cnp.PyArray_SimpleNewFromData(1, &rows, cnp.NPY_INT64, <void*>counts)
        cnp.set_array_base(array, self)
        cnp.PyArray_CLEARFLAGS(array, cnp.NPY_ARRAY_WRITEABLE)
        return array

    @property
    def above(self):
        return self.column(self.table.above, 0)

    @property
    def tied(self):
        return self.column(self.table.tied, 1)

    @property
    def hits(self):
        return self.column(self.table.hits, 2)

    def __len__(self):
        return self.table.rows

    def __bool__(self):
        return True  # also without rows

    def __repr__(self):
        tied = "weighted" if self.weighted else f"{self.tied[self.tied > 1].sum()} tied"
        return (f"HitCurve(num_items={self.num_items}, num_relevant={self.num_relevant}, num_hits={self.num_hits}; "
                f"{tied})")

    def __reduce__(self):
        return hit_curve, (self.score, self.above, self.tied, self.hits, self.num_items, self.num_relevant,
                           self.lower_is_better, None if self.weights is None else self.weights[6])

    # How measures are computed from the table.

    cdef object read(self, Formula formula, Reading* reading, object ranks, object numbers, object shape):
        if ranks is None and numbers is None:
            return formula(&self.table, reading)
        cdef Tables tables = Tables(self.table, 1, NULL, NULL, NULL)
        values = self.read_all(&tables, formula, reading, ranks, numbers)
        return float(values[0, 0]) if shape is None else values.reshape(shape)

    cdef int needs_all(self, const char* name) except -1:
        if self.weights is None and self.table.num_relevant <= self.own.num_hits:  # the usual case, kept fast
            return 0
        return all_ranked(name.decode(), self.num_relevant, self.num_hits)

    cdef object weighted_read(self, Measure measure, object ties, object interpolation):
        name = formulas.RECORDS[<int>measure].method.decode()
        if parse_ties(ties) != TIES_THRESHOLD:
            raise ValueError(f"ties={ties!r}: {name} of {_WEIGHTED} needs ties='threshold'")
        hits, relevant, others = self.weights[2], self.weights[4], self.weights[6]
        seen, passed = running_sums(hits), running_sums(others)
        above_hits = np.append(0.0, seen)[:-1]
        if interpolation is not None and interpolation not in ("trapezoid", "trapezoid-from-1", "continuous"):
            raise ValueError(f"interpolation={interpolation!r} {_NO_WEIGHTS}: use None, 'trapezoid', 'trapezoid-from-1' or "
                             "'continuous'")
        if relevant == 0 or (measure == formulas.MEASURE_ROC_AUC and passed[-1] == 0):
            return NAN
        # Sums of positive terms alone, and quotients of them in [0, 1]: weights may differ by all that a float holds.
        above = above_hits + passed[:-1:2]
        with np.errstate(under="ignore"):
            at = seen / (seen + passed[1::2])
            first = np.ones_like(at) if interpolation == "trapezoid-from-1" else at.copy()
            before = np.divide(above_hits, above, out=first, where=above > 0)
            if measure == formulas.MEASURE_ROC_AUC:
                at = running_sums(others[::-1])[::-1][2::2] / passed[-1] + 0.5 * (others[1::2] / passed[-1])
            elif interpolation in ("trapezoid", "trapezoid-from-1"):
                at = 0.5 * (before + at)
            elif interpolation == "continuous":
                at = np.array([mean_precision(c, h, n, r) for c, h, n, r in zip(above, above_hits, hits + others[1::2], hits)])
            # A power of two, which rounds nothing, keeps the products in a float's range.
            exponent = -int(np.frexp(relevant)[1])
            total = running_sums(np.ldexp(hits, exponent) * at)
            return min(1.0, float(total[-1] / np.ldexp(relevant, exponent))) if total.shape[0] else 0.0

    def tie_report(self, k=None):
        """Report what ties do to average precision: the bounds over all orders, and how many items are tied.

        Parameters
        ----------
        k : int, optional
            Report on AP@k, with the divisor min(k, R), and on the tie group that holds the cutoff.

        Returns
        -------
        TieReport
            worst, expected, best, threshold, num_tied, tied_share, largest_group, cutoff_group.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> report = curve.tie_report()
        >>> round(report.worst, 4), round(report.expected, 4), round(report.best, 4), report.num_tied
        (0.8056, 0.8611, 0.9167, 2)
        """
        self.needs_plain("tie_report")
        tied, cut = self.tied, 0
        if k is not None:
            rank = check_rank(k, "k")
            inside = (self.above < rank) & (rank < self.above + tied)
            cut = int(tied[inside].sum())  # of one group at most
        num_tied = int(tied[tied > 1].sum())
        return TieReport(
            *(self.average_precision(k, ties=ties) for ties in ("worst", "expected", "best", "threshold")),
            num_tied, num_tied / self.num_items if self.num_items else NAN, int(tied.max()) if len(self) else 0, cut)

    cdef object corners(self, object ties):
        """Corner points of the hit curve after (0, 0): others, hits, row, and whether the row's group is passed."""
        cdef int reading = parse_ties(ties)
        hits = self.hits
        if self.weights is None:
            others, sums = other_items(self.above, self.tied, hits, self.num_items), np.cumsum
        elif reading != TIES_THRESHOLD:
            raise ValueError(f"ties={ties!r}: the curves of {_WEIGHTED} need ties='threshold'")
        else:
            others, sums = self.weights[6], running_sums
        rows = hits.shape[0]
        passed_hits = np.append(np.zeros(1, hits.dtype), sums(hits))
        seen, seen_after, others_after = passed_hits[:-1], passed_hits[1:], sums(others)
        start, end = others_after[:-1:2], others_after[1::2]
        # Three candidates a row: where its group begins, a corner inside it, where it ends.
        inside, inside_hits = (start, seen_after) if reading == TIES_BEST else (end, seen)
        split = (others[1::2] > 0) & (reading == TIES_BEST or reading == TIES_WORST)
        f = np.stack([start, inside, end], axis=1).reshape(-1)
        h = np.stack([seen, inside_hits, seen_after], axis=1).reshape(-1)
        keep = np.stack([others[:-1:2] > 0, split, np.ones(rows, bool)], axis=1).reshape(-1)
        row = np.repeat(np.arange(rows), 3)
        passed = np.tile([False, True, True], rows)
        f, h, row, passed = f[keep], h[keep], row[keep], passed[keep]
        if others[-1] > 0:
            f, h = np.append(f, others_after[-1]), np.append(h, passed_hits[-1])
            row, passed = np.append(row, rows), np.append(passed, False)
        return f, h, row, passed

    cdef object thresholds(self, object row, object passed):
        """For each corner point, a threshold at which just its items are selected."""
        score, lower = self.score, self.lower_is_better
        if score is None:
            return None
        if score.dtype.kind == "b":
            score = score.view(np.uint8)
        number = score.dtype.type
        if score.dtype.kind == "f":
            worst = number(np.inf if lower else -np.inf)
            # All scores are better than NaN.
            just_above = np.where(np.isnan(score), worst, np.nextafter(score, -worst))
        else:
            # A point between groups exists only where a better score exists, so no value overflows the type.
            worst = number(np.iinfo(number).max if lower else np.iinfo(number).min)
            just_above = score - number(1) if lower else score + number(1)
        return np.where(passed | (row == len(self)), np.append(score, worst)[row], np.append(just_above, worst)[row])

    interval, resample = OneRanking.interval, OneRanking.resample

    def p_value(self, measure="AP", *, method=None, n_resamples=9999, ties="expected", rng=None, workers=1):
        """The p-value of a measure: how often a random order of the items does at least as well as this order.

        Under the null hypothesis every set of ranks of the relevant items is equally likely, and no items are tied.

        Parameters
        ----------
        measure : str
            The name of a measure. If lower values are better, the orders with at most this order's value count.
        method : {None, "exact", "permutation"}
            ``"exact"`` enumerates all C(N, R) sets of ranks. ``"permutation"`` draws `n_resamples` random sets. None means
            ``"exact"`` if all sets together have at most five million ranks, else ``"permutation"``.
        n_resamples : int
            The number of random orders. The time for each depends on R, not on N.
        ties : {"expected", "best", "worst", "threshold"}
            How to interpret the ties of this curve.
        rng, workers
            As in ``interval``.

        Returns
        -------
        PValue
            The fields are pvalue, statistic, null_distribution, method and resolution. If b of all m orders do at least as
            well, the exact p-value is b/m. If b of m random orders do at least as well, the p-value of the permutation
            test is (b + 1)/(m + 1). The resolution is the least possible p-value, 1/m or 1/(m + 1). The p-value is NaN if
            the measure is NaN.

        Raises
        ------
        ValueError
            If a name or choice is unknown, if the items have weights, or if there are too many orders for ``"exact"``.

        References
        ----------
        Phipson & Smyth (2010), "Permutation p-values should never be zero", Stat. Appl. Genet. Mol. Biol. 9:39.

        Examples
        --------
        >>> import hitcurve as hc
        >>> round(hc.HitCurve([1, 1, 0, 0, 0, 0], [6, 5, 4, 3, 2, 1]).p_value().pvalue, 4)
        0.0667
        """
        from hitcurve.statistics.random_order import p_value
        return p_value(self, measure, method=method, n_resamples=n_resamples, ties=ties, rng=rng, workers=workers)

    def precision_recall_curve(self, *, ties="expected"):
        """Corner points of precision over recall.

        The points are those of scikit-learn's ``precision_recall_curve`` with ``drop_intermediate=True``, except that
        scikit-learn may repeat the point (0, 0). They are sorted by increasing threshold. The last point (precision 1,
        recall 0) has no threshold.

        Parameters
        ----------
        ties : {"expected", "threshold", "best", "worst"}
            Best and worst add the corner inside each tie group.

        Returns
        -------
        PrecisionRecallCurve
            The fields are precision, recall and threshold. precision and recall have one entry more than threshold.
            ``threshold[i]`` selects the items of point i: their score is this threshold or better. A point that also
            selects the items below the last row has the least value of the score type as its threshold (the greatest value
            with `lower_is_better`). If the last row holds the NaN scores of ``nan_policy="worst"``, its threshold is NaN.
            NaN scores without a relevant item have no row. threshold is None for a curve without scores.

        References
        ----------
        Davis & Goadrich (2006), "The relationship between precision-recall and ROC curves", ICML.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> points = curve.precision_recall_curve(ties="threshold")
        >>> points.recall.round(2).tolist(), points.precision.round(2).tolist()
        ([1.0, 1.0, 0.67, 0.33, 0.0], [0.5, 0.75, 0.67, 1.0, 1.0])
        >>> points.threshold.tolist()
        [-9223372036854775808, 3, 5, 6]
        """
        f, h, row, passed = self.corners(ties)
        thresholds = self.thresholds(row, passed)
        with np.errstate(under="ignore"):
            precision = h / (f + h)
        return PrecisionRecallCurve(np.append(precision[::-1], 1.0), np.append(shares(h, self.num_relevant)[::-1], 0.0),
                                    None if thresholds is None else thresholds[::-1])

    def roc_curve(self, *, ties="expected"):
        """Corner points of the ROC curve, from (0, 0) to (1, 1).

        Parameters
        ----------
        ties : {"expected", "threshold", "best", "worst"}
            Expected and threshold are straight across a tie group. Best and worst add the corner inside the group.

        Returns
        -------
        RocCurve
            The fields are fpr, tpr and threshold. threshold is as in ``precision_recall_curve``, but always floating point:
            the first threshold is infinite and selects no item. fpr is NaN when all items are relevant, and tpr is NaN
            when there is no relevant item.

        Raises
        ------
        ValueError
            If relevant items were never retrieved.

        References
        ----------
        Fawcett (2006), "An introduction to ROC analysis", Pattern Recognition Letters 27:861.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> points = curve.roc_curve()
        >>> points.fpr.round(2).tolist(), points.tpr.round(2).tolist()
        ([0.0, 0.0, 0.33, 0.33, 1.0], [0.0, 0.33, 0.67, 1.0, 1.0])
        """
        self.needs_all("roc_curve")
        f, h, row, passed = self.corners(ties)
        thresholds = self.thresholds(row, passed)
        if thresholds is not None:
            # The first threshold selects no item. No integer type has such a threshold.
            thresholds = np.append(-np.inf if self.lower_is_better else np.inf, thresholds)
        f, h = np.append(0, f), np.append(0, h)
        return RocCurve(shares(f, f[-1]), shares(h, self.num_relevant), thresholds)

    def precision_recall_gain_curve(self, *, ties="expected"):
        """Corner points of precision gain over recall gain, from recall gain 1 to 0 (Flach & Kull 2015).

        Straight lines between the points are exact. ``prg_auc`` computes the area below, but under expected ties it is the mean
        of the areas of all orders.

        Parameters
        ----------
        ties : {"expected", "threshold", "best", "worst"}
            Expected and threshold are straight across a tie group. Best and worst add the corner inside the group.

        Returns
        -------
        PrecisionRecallGainCurve
            The fields are precision_gain, recall_gain and threshold. precision_gain and recall_gain have one entry more than
            threshold, which is as in ``precision_recall_curve``. The last point, at recall gain 0, lies where R**2 / N
            relevant items have been passed. When all items are relevant, or when there is no relevant item, the curve is a
            single point of NaN.

        Raises
        ------
        ValueError
            If relevant items were never retrieved, or if the items have weights.

        References
        ----------
        Flach & Kull (2015), "Precision-recall-gain curves: PR analysis done right", NIPS.

        Examples
        --------
        >>> import hitcurve as hc
        >>> points = hc.HitCurve([1, 1, 0, 0, 1, 0], [8, 8, 6, 4, 4, 2]).precision_recall_gain_curve()
        >>> points.recall_gain.tolist(), points.precision_gain.round(4).tolist()
        ([1.0, 1.0, 0.5, 0.5, 0.0], [0.0, 0.3333, 0.5, 1.0, 1.0])
        """
        self.needs_plain("precision_recall_gain_curve")
        self.needs_all("precision_recall_gain_curve")
        f, h, row, passed = self.corners(ties)
        thresholds = self.thresholds(row, passed)
        relevant, others = float(self.num_relevant), float(self.num_items - self.num_relevant)
        if not relevant or not others:
            return PrecisionRecallGainCurve(np.full(1, NAN), np.full(1, NAN), None if thresholds is None else thresholds[:0])
        start = relevant * (relevant / (relevant + others))
        first = int(np.searchsorted(h, start, "right"))  # the first corner beyond recall gain 0
        f0, h0 = (float(f[first - 1]), float(h[first - 1])) if first else (0.0, 0.0)
        crossing = f0 + (float(f[first]) - f0) * ((start - h0) / (float(h[first]) - h0))
        f, h = np.append(f[first:][::-1], crossing), np.append(h[first:][::-1], start)
        recall_gain = 1.0 - relevant * (relevant - h) / (others * h)
        recall_gain[-1] = 0.0
        return PrecisionRecallGainCurve(1.0 - relevant * f / (others * h), recall_gain,
                                        None if thresholds is None else thresholds[first:][::-1])

    def plot(self, kind="hits", *, ax=None, k=None, band=None, n_resamples=1000, rng=None, log_x=True, **line):
        """Draw the hit curve, or a curve computed from it, with matplotlib.

        Parameters
        ----------
        kind : {"hits", "precision-recall", "pr", "roc", "enrichment"}
            Which curve to draw: see ``plot_curves``.
        ax, k, band, n_resamples, rng, log_x, line
            As for ``plot_curves``, which draws several curves. ``color``, ``label`` and other keywords go to matplotlib's
            line.

        Returns
        -------
        CurveDisplay
            The display has ``ax_``, ``figure_``, ``line_`` and every attribute of the axes, such as ``figure.savefig``.

        Raises
        ------
        ValueError, TypeError, ImportError
            As ``plot_curves`` raises.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> display = curve.plot("roc", log_x=False, color="black")
        >>> display.line_.get_label()
        'AUC = 0.83'
        """
        from hitcurve.report.plot import plot_curves
        return plot_curves({"": self}, kind, ax=ax, k=k, band=band, n_resamples=n_resamples, rng=rng, log_x=log_x,
                           **line)

    def hit_curve(self, *, ties="expected"):
        """Corner points of the hit curve: relevant items among the first x items, from (0, 0) to (N, hits).

        Parameters
        ----------
        ties : {"expected", "threshold", "best", "worst"}
            Expected and threshold are straight across a tie group. Best and worst add the corner inside the group.

        Returns
        -------
        HitCurvePoints
            The fields are items and hits.

        References
        ----------
        Zhu (2004), "Recall, Precision and Average Precision".

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> points = curve.hit_curve()
        >>> points.items.tolist(), points.hits.tolist()
        ([0, 1, 3, 4, 6], [0, 1, 2, 3, 3])
        """
        f, h, _, _ = self.corners(ties)
        return HitCurvePoints(np.append(np.zeros(1, f.dtype), f + h), np.append(np.zeros(1, h.dtype), h))


def _curve_from(score, above, tied, hits, num_items, num_relevant, lower_is_better, others=None):
    """Makes a HitCurve from its pickle."""
    cdef HitCurve curve = HitCurve.from_table(score, above, tied, hits, num_items=num_items, num_relevant=num_relevant,
                                              lower_is_better=lower_is_better)
    if curve.weighted and others is not None:
        others = checked_others(as_real(others, "others"), curve.above, curve.tied, curve.hits, curve.num_items)
        curve.weights = (*curve.weights[:6], frozen(others))
    return curve


# ---------------------------------------------------------------------------------------------------------- many curves

@cython.final
cdef class HitCurves(Hits):
    """HitCurves(y_true, y_score, *, qid=None, offsets=None, mask=None, num_relevant=None, relevance_level=None, \
tiebreak=None, lower_is_better=False, nan_policy="raise", sample_weight=None, workers=1)
--

The hit curves of many rankings: the measures of HitCurve, with a value for each query.

    Parameters
    ----------
    y_true, y_score : array_like
        Labels and scores as for HitCurve. In two dimensions each row is a query. If the scores have two dimensions
        (n, models) and the labels have one, each column of scores ranks the same items.
    qid : array_like of shape (n,), optional
        The query of each item, in any order and of any type that can be sorted. The curves are in ascending order of qid.
    offsets : array_like of int, shape (Q + 1,), optional
        Query q holds the items from offsets[q] up to, but not including, offsets[q + 1].
    mask : array_like of bool, optional
        In two dimensions: False marks padding, a place without an item. `mask` cannot be combined with `tiebreak` or
        `sample_weight`.
    num_relevant : int or array_like of int, shape (Q,), optional
        The number of all relevant items of each query, if some were never retrieved.
    relevance_level, tiebreak, lower_is_better, nan_policy, sample_weight, workers
        As for HitCurve. An array of keys or weights has the shape of y_score or of y_true.

    Attributes
    ----------
    num_items, num_relevant, num_hits : ndarray of shape (Q,)
        For each query the numbers of all items, of all relevant items, and of the relevant items that were ranked. With
        `sample_weight` they are sums of weights.
    prevalence : ndarray of shape (Q,)
        num_relevant / num_items of each query.
    qid : ndarray of shape (Q,) or None
        The distinct query ids, ascending.
    row_offsets : ndarray of shape (Q + 1,)
        Query q has the rows of the table from row_offsets[q] up to, but not including, row_offsets[q + 1].
    score, above, tied, hits : ndarray
        The columns of HitCurve's table, with the tables of all queries one after the other.
    lower_is_better, weighted : bool
        As for HitCurve.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid. The message names the argument, the place and the value.

    Examples
    --------
    >>> import hitcurve as hc
    >>> curves = hc.HitCurves([1, 0, 0, 1], [0.9, 0.1, 0.8, 0.3], qid=["b", "b", "a", "a"])
    >>> curves.qid.tolist(), curves.average_precision().tolist()
    (['a', 'b'], [0.5, 1.0])
    """
    cdef readonly object qid, row_offsets, score, above, tied, hits, num_items, num_relevant, num_hits
    cdef object others                 # the other items of the rows, query by query, if the items have weights; else None
    cdef Tables tables

    def __init__(self, y_true, y_score, *, qid=None, offsets=None, mask=None, num_relevant=None, relevance_level=None,
                 tiebreak=None, lower_is_better=False, nan_policy="raise", sample_weight=None, workers=1, _strategy=None):
        cdef Queries queries
        if self.row_offsets is not None:
            raise TypeError("a HitCurves is immutable: make a new one")
        lower = parse_lower(lower_is_better)
        if mask is not None and (tiebreak is not None or sample_weight is not None):
            raise ValueError(f"mask cannot be combined with {'sample_weight' if tiebreak is None else 'tiebreak'}")
        queries = Queries(y_true, y_score, qid, offsets, relevance_level, nan_policy, mask)
        if tiebreak is None and sample_weight is None:
            table = queries_tables(queries, lower, workers, _strategy, num_relevant)
        else:
            table = self.rank_sorted(queries, lower, num_relevant, tiebreak, nan_policy, sample_weight)
        self.set_tables(queries.qid, lower, sample_weight is not None, table)

    cdef int set_tables(self, qid, bint lower, bint weighted, tuple table) except -1:
        self.qid, self.weighted, self.lower_is_better = frozen(qid), weighted, lower
        self.row_offsets, self.score, self.above, self.tied, self.hits, self.num_items, self.num_hits, self.num_relevant = [
            None if column is None else frozen(np.ascontiguousarray(column)) for column in table[:8]]
        self.others = frozen(table[8]) if weighted else None
        self.tables = Tables(
            Table(counts_in(self.above), counts_in(self.tied), counts_in(self.hits), 0, 0, 0), len(self),
            counts_in(self.row_offsets), counts_in(self.num_items), counts_in(self.num_relevant))
        return 0

    cdef tuple rank_sorted(self, Queries queries, bint lower, num_relevant, tiebreak, nan_policy, sample_weight):
        """Makes the table of a ranking that must be sorted, because of a tiebreak or weights."""
        one_of_two(tiebreak, sample_weight)
        score = queries.real_scores()
        relevant = as_flags(queries.flat_labels(), score, None, queries.where_label)
        key = queries.keys(tiebreak) if tiebreak is not None else None
        weight = None
        if sample_weight is not None:
            weight = as_weight(queries.laid_out(sample_weight, "sample_weight"), score.shape[0],
                               queries.where_of(sample_weight))
        wanted = queries.per_query(num_relevant)
        if wanted is not None and weight is not None:
            raise ValueError("num_relevant and sample_weight are both given: with weights, num_relevant of a query is the "
                             "sum of its relevant items' weights")
        row_offsets, score, above, tied, hits, num_items, num_hits, others = sorted_tables(
            relevant, score, queries.of_items(), queries.num_queries, lower, key, weight,
            apply_nan_policy(nan_policy, score, queries.where))
        return (row_offsets, score + 0 if score.dtype.kind == "f" else score, above, tied, hits, num_items, num_hits,
                queries.checked_relevant(wanted, num_hits), others)

    def __len__(self):
        return self.num_items.shape[0]

    def __getitem__(self, index):
        cdef HitCurve curve = HitCurve.__new__(HitCurve)
        cdef Py_ssize_t q
        number = whole_number(index, "index")
        if not -len(self) <= number < len(self):
            raise IndexError(f"index {number} is out of range for {many(len(self), 'queries')}")
        q = number % len(self)
        start, stop = self.row_offsets[q], self.row_offsets[q + 1]
        score = None if self.score is None else self.score[start:stop]
        if self.weighted:
            curve.set_weighted(score, self.above[start:stop], self.tied[start:stop], self.hits[start:stop], self.num_items[q],
                               self.num_relevant[q], self.others[2 * start + q:2 * stop + q + 1])
        else:
            curve.owner = self
            table_at(&self.tables, q, &curve.table)
            curve.own.num_hits = self.num_hits[q]
            curve.own_score = score
        curve.lower_is_better = self.lower_is_better
        return curve

    def __iter__(self):
        return (self[q] for q in range(len(self)))

    def __repr__(self):
        tied = "weighted" if self.weighted else f"{self.tied[self.tied > 1].sum()} tied"
        return f"HitCurves({totals(self)}, {tied})"

    def __reduce__(self):
        return hit_curves, (self.qid, self.lower_is_better, self.weighted, self.row_offsets, self.score, self.above,
                            self.tied, self.hits, self.num_items, self.num_hits, self.num_relevant, self.others)

    @property
    def prevalence(self):
        return np.divide(self.num_relevant, self.num_items, out=np.full(len(self), NAN), where=self.num_items > 0)

    cdef object read(self, Formula formula, Reading* reading, object ranks, object numbers, object shape):
        return self.read_all(&self.tables, formula, reading, ranks, numbers).reshape((len(self), *(shape or ())))

    cdef int needs_all(self, const char* name) except -1:
        return 0 if self.weighted else all_ranked(name.decode(), self.num_relevant, self.num_hits)

    cdef object weighted_read(self, Measure measure, object ties, object interpolation):
        parse_ties(ties)
        if len(self) == 0:
            return np.empty(0)
        return np.array([(<HitCurve>curve).weighted_read(measure, ties, interpolation) for curve in self])

    mean, interval, plot = ManyRankings.mean, ManyRankings.interval, ManyRankings.plot

    def mean_average_precision(self, k=None, *, empty="skip", ties="expected", interpolation=None, normalize="min"):
        """Mean average precision: the arithmetic mean of the queries' average precision.

        Parameters
        ----------
        k : int, optional
            Only the first k items of each query count.
        empty : {"skip", "zero", "one", "raise"}
            How a query without relevant items counts. ``"skip"`` leaves the query out, ``"zero"`` counts it as 0,
            ``"one"`` counts it as 1, and ``"raise"`` is an error that names the query.
        ties, interpolation, normalize
            As in ``average_precision``.

        Returns
        -------
        float
            NaN when no query counts.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curves = hc.HitCurves([1, 0, 0, 1, 0], [5, 4, 3, 3, 1], qid=[1, 1, 2, 2, 3])
        >>> curves.mean_average_precision(), curves.mean_average_precision(empty="zero")
        (0.875, 0.5833333333333334)
        """
        if k is not None:
            k = whole_number(k, "k")
        return mean_over(self.average_precision(k, ties=ties, interpolation=interpolation, normalize=normalize), empty,
                         self.qid)

    def tie_report(self, k=None):
        """Report what ties do to the average precision of each query.

        Parameters
        ----------
        k : int, optional
            As in ``HitCurve.tie_report``.

        Returns
        -------
        TieReport
            The fields are arrays with an entry for each query.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curves = hc.HitCurves([1, 0, 0, 1, 0], [5, 4, 3, 3, 1], qid=[1, 1, 2, 2, 3])
        >>> report = curves.tie_report()
        >>> report.worst.tolist(), report.best.tolist()
        ([1.0, 0.5, nan], [1.0, 1.0, nan])
        """
        self.needs_plain("tie_report")
        reports = [curve.tie_report(k) for curve in self]
        kinds = "f8 f8 f8 f8 i8 f8 i8 i8".split()
        return TieReport(*[np.array([report[i] for report in reports], kind) for i, kind in enumerate(kinds)])


def _curves_from(qid, lower, weighted, row_offsets, score, above, tied, hits, num_items, num_hits, num_relevant,
                 others=None):
    """Makes a HitCurves from its pickle: copies the arrays and checks them as ``from_table`` does."""
    lower = parse_lower(lower)
    check_flag(weighted, "weighted")
    columns = [np.array(column) for column in table_columns(score, above, tied, hits)]
    row_offsets = as_offsets(row_offsets, columns[0].shape[0], "row_offsets", "the table")
    lengths = np.diff(row_offsets)
    items, found, relevant = (
        query_totals(column, name, lengths.shape[0], weighted)
        for column, name in ((num_items, "num_items"), (num_hits, "num_hits"), (num_relevant, "num_relevant")))
    if qid is not None:
        qid = np.array(as_ids(qid, lengths.shape[0], "queries"))
    check_rows(columns[0], columns[1], columns[2], items, weighted, lengths)
    if score is not None:
        check_scores(columns[3], lower, within(lengths))
    columns[:3] = [column.astype(np.float64 if weighted else np.int64, copy=False) for column in columns[:3]]
    bounds = list(pairwise(row_offsets.tolist())) if weighted else ()
    if weighted:
        sums, slack = np.array([sum_of(columns[2][a:b]) for a, b in bounds], np.float64), 1e-12
    else:
        sums, slack = np.diff(np.append(0, np.cumsum(columns[2]))[row_offsets]), 0
    for q in np.flatnonzero(~(np.abs(found - sums) <= slack * sums))[:1]:
        raise ValueError(f"num_hits[{q}] is {found[q]}, but the rows of that query hold {sums[q]}")
    for q in np.flatnonzero(~(relevant >= (found * (1 - slack) if weighted else found)))[:1]:
        raise ValueError(f"num_relevant[{q}] is {relevant[q]}, less than num_hits[{q}] = {found[q]}")
    if weighted:
        if others is not None:  # None in the pickles of versions that did not keep the other items
            others, size = np.array(as_real(others, "others"), np.float64), 2 * columns[0].shape[0] + lengths.shape[0]
            if others.shape != (size,):
                raise ValueError(f"others has shape {others.shape}, but the table needs {size} sums of weights")
        parts = [np.empty(0)]
        for q, (a, b) in enumerate(bounds):
            rows = [column[a:b] for column in columns[:3]]
            parts.append(other_items(*rows, items[q]) if others is None else
                         checked_others(others[2 * a + q:2 * b + q + 1], *rows, items[q]))
        others = np.concatenate(parts)
    return curves_of(qid, lower, weighted, row_offsets, None if score is None else columns[3], *columns[:3], items, found,
                     relevant, others)


# The names in the pickles of 0.1.0.
_MAKERS.update(HitCurve=_curve_from, HitCurves=_curves_from)


def curves_of(qid, lower, weighted, *table):
    """A HitCurves that takes over these arrays, without a check or a copy."""
    cdef HitCurves curves = HitCurves.__new__(HitCurves)
    curves.set_tables(qid, lower, weighted, table)
    return curves


def curve_of(lower, num_relevant, score, above, tied, hits, num_items, num_hits):
    """A HitCurve that takes over these arrays, without a check or a copy."""
    cdef HitCurve curve = HitCurve.__new__(HitCurve)
    curve.adopt(frozen(score), above, tied, hits, num_items, num_hits, num_relevant)
    curve.lower_is_better = lower
    return curve


# ------------------------------------------------------------------------------------------------------- in one function

def average_precision(y_true, y_score, *, k=None, ties="expected", interpolation=None, normalize="min",
                      num_relevant=None, relevance_level=None, tiebreak=None, lower_is_better=False, nan_policy="raise",
                      sample_weight=None, workers=1, _strategy=None):
    """Average precision of one ranking.

    AP = (1/R) sum over relevant items of h(x) / x. R is the number of relevant items, x is the relevant item's rank, and
    h(x) is the number of relevant items among the first x items by score.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        1 or True for a relevant item, 0 or False for any other item. With `relevance_level`, graded labels.
    y_score : array_like of shape (n,)
        The scores. The highest score ranks first.
    k, ties, interpolation, normalize
        How average precision is computed: see ``HitCurve.average_precision``. ``ties="threshold"`` gives scikit-learn's
        value. With `k` the divisor is min(k, R) unless `normalize` says otherwise. The measure name ``"AP@10"`` divides by
        R instead.
    num_relevant, relevance_level, tiebreak, lower_is_better, nan_policy, sample_weight, workers
        How the ranking is made: see ``HitCurve``.

    Returns
    -------
    float
        In [0, 1]. NaN when there is no relevant item, also when there is no item.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid. The message names the argument, the place and the value.

    References
    ----------
    Zhu (2004), "Recall, Precision and Average Precision". McSherry & Najork (2008), "Computing Information Retrieval
    Performance Measures Efficiently in the Presence of Tied Scores", ECIR.

    Examples
    --------
    >>> import hitcurve as hc
    >>> hc.average_precision([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.8333333333333333
    """
    cdef Reading reading
    cdef double value
    if tiebreak is not None or sample_weight is not None or interpolation is not None:
        # These need the whole table.
        return HitCurve(
            y_true, y_score, num_relevant=num_relevant, relevance_level=relevance_level, tiebreak=tiebreak, workers=workers,
            lower_is_better=lower_is_better, nan_policy=nan_policy, sample_weight=sample_weight, _strategy=_strategy,
        ).average_precision(k, ties=ties, interpolation=interpolation, normalize=normalize)
    parse_reading(k, ties, interpolation, normalize, &reading)
    rank_one(y_true, y_score, relevance_level, lower_is_better, nan_policy, workers, _strategy, NULL, num_relevant, &reading,
             &value)
    return value


def mean_average_precision(y_true, y_score, *, qid=None, offsets=None, mask=None, empty="skip", k=None, ties="expected",
                           interpolation=None, normalize="min", num_relevant=None, relevance_level=None, tiebreak=None,
                           lower_is_better=False, nan_policy="raise", sample_weight=None, workers=1, _strategy=None):
    """Mean average precision of many rankings: the arithmetic mean of their average precision.

    Parameters
    ----------
    y_true, y_score : array_like
        Labels and scores. In two dimensions each row is a query. In one dimension `qid` or `offsets` says to which query
        an item belongs.
    qid, offsets, mask
        See ``HitCurves``.
    empty : {"skip", "zero", "one", "raise"}
        How a query without relevant items counts. ``"skip"`` leaves the query out, ``"zero"`` counts it as 0, ``"one"``
        counts it as 1, and ``"raise"`` is an error that names the query.
    k, ties, interpolation, normalize
        How average precision is computed: see ``HitCurve.average_precision``.
    num_relevant, relevance_level, tiebreak, lower_is_better, nan_policy, sample_weight, workers
        How the rankings are made: see ``HitCurves``.

    Returns
    -------
    float
        In [0, 1]. NaN when no query counts.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid. The message names the argument, the place and the value.

    References
    ----------
    Buckley & Voorhees (2000), "Evaluating evaluation measure stability", SIGIR.

    Examples
    --------
    >>> import hitcurve as hc
    >>> hc.mean_average_precision([1, 0, 0, 1], [0.9, 0.1, 0.8, 0.3], qid=["b", "b", "a", "a"])
    0.75
    """
    cdef Reading reading
    cdef Queries queries
    check_empty(empty)
    if tiebreak is not None or sample_weight is not None or interpolation is not None:
        return HitCurves(
            y_true, y_score, qid=qid, offsets=offsets, mask=mask, num_relevant=num_relevant,
            relevance_level=relevance_level, tiebreak=tiebreak, lower_is_better=lower_is_better, nan_policy=nan_policy,
            sample_weight=sample_weight, workers=workers, _strategy=_strategy,
        ).mean_average_precision(k, empty=empty, ties=ties, interpolation=interpolation, normalize=normalize)
    parse_reading(k, ties, interpolation, normalize, &reading)
    queries = Queries(y_true, y_score, qid, offsets, relevance_level, nan_policy, mask)
    return mean_over(queries_average_precision(queries, lower_is_better, workers, _strategy, num_relevant, &reading), empty,
                     queries.qid)


def at_threshold(y_true, y_score, threshold, *, beta=1.0, relevance_level=None, lower_is_better=False, nan_policy="raise"):
    """Count the items that a score threshold selects, and compute precision, recall and F.

    precision = tp / (tp + fp), recall = tp / (tp + fn), F = (1 + beta**2) tp / ((1 + beta**2) tp + beta**2 fn + fp).

    Parameters
    ----------
    y_true, y_score, relevance_level, lower_is_better
        As for ``HitCurve``.
    threshold : float or array of float
        The threshold selects the items whose score is the threshold or better: at or above the threshold, or at or below
        it with `lower_is_better`. Items of equal score are selected together.
    beta : float
        The weight of recall in F, not negative.
    nan_policy : {"raise", "worst", "omit"}
        What a NaN score means. ``"raise"``: an error. ``"worst"``: the item is never selected. ``"omit"``: the item is
        left out.

    Returns
    -------
    ThresholdCounts
        The fields are tp, fp, fn, tn, precision, recall and f_score: numbers, or arrays of the shape of `threshold`.
        precision is NaN when no item is selected. recall is NaN when there is no relevant item. f_score is NaN when both
        are NaN.

    Raises
    ------
    ValueError, TypeError
        If a threshold is NaN or not a number, if `beta` is below 0, or if the labels or scores are invalid.

    References
    ----------
    van Rijsbergen (1979), "Information Retrieval", chapter 7.

    Examples
    --------
    >>> import hitcurve as hc
    >>> counts = hc.at_threshold([1, 0, 1, 1], [4, 3, 2, 1], 2)
    >>> counts.tp, counts.fp, counts.fn, counts.tn
    (2, 1, 1, 0)
    >>> round(counts.precision, 4), round(counts.recall, 4)
    (0.6667, 0.6667)
    """
    not_negative(beta, "beta")
    lower = parse_lower(lower_is_better)
    relevant = one_dimension(as_flags(y_true, y_score, relevance_level), "y_true")
    score = one_dimension(as_real(y_score, "y_score"), "y_score")
    same_items(relevant.shape[0], score.shape[0])
    cut = as_real(threshold, "threshold")
    if cut.dtype.kind == "f" and np.isnan(cut).any():
        raise ValueError("threshold is nan: must be a number")
    kept = apply_nan_policy(nan_policy, score, None)
    if kept is not None:
        relevant, score = relevant[kept], score[kept]
    tp, fp = (selected_at(score[relevant == flag], cut, lower) for flag in (True, False))
    fn = np.count_nonzero(relevant) - tp
    tn = relevant.shape[0] - np.count_nonzero(relevant) - fp
    square = min(float(beta) ** 2 if beta < 1e100 else 1e200, 1e200)
    with np.errstate(invalid="ignore"):
        values = (tp, fp, fn, tn, np.divide(tp, tp + fp), np.divide(tp, tp + fn),
                  np.divide((1 + square) * tp, (1 + square) * tp + square * fn + fp))
    return ThresholdCounts(*([value.item() for value in values] if cut.ndim == 0 else values))


cdef object exact_cuts(object score, object cut, bint lower):
    """(scores, cuts, mask of the cuts that select nothing) in one type. numpy would compare 64-bit integers as floats.

    Each cut moves to the next better number that the type of the scores has, which selects the same scores.
    """
    cuts = []
    out = np.zeros(cut.shape, bool)
    if score.dtype.kind == "f":
        # Whole numbers of 64 bits as cuts of floats.
        if score.dtype.itemsize < 8:
            score = score.astype(np.float64)
        for c in cut.reshape(-1).tolist():
            near = score.dtype.type(c)
            if (int(near) > c) if lower else (int(near) < c):
                near = np.nextafter(near, score.dtype.type(-np.inf if lower else np.inf))
            cuts.append(near)
        return score, np.array(cuts, score.dtype).reshape(cut.shape), out
    if score.dtype.kind == "b":
        score = score.view(np.uint8)
    least, most = int(np.iinfo(score.dtype).min), int(np.iinfo(score.dtype).max)
    for i, c in enumerate(cut.reshape(-1)):
        if cut.dtype.kind != "f":
            c = int(c)
        else:
            c = float(c) if np.isinf(c) else int(np.floor(c) if lower else np.ceil(c))
        out.reshape(-1)[i] = c < least if lower else c > most
        cuts.append(int(min(max(c, least), most)))
    return score, np.array(cuts, score.dtype).reshape(cut.shape), out


cdef object selected_at(object score, object cut, bint lower):
    """How many scores are each cut or better. NaN is never counted."""
    if score.dtype.kind == "f":
        score = score[~np.isnan(score)]
    wide = np.promote_types(score.dtype, cut.dtype)
    if wide.kind == "f" and np.finfo(wide).nmant < 63 and any(
            array.dtype.kind in "iu" and array.dtype.itemsize == 8 for array in (score, cut)):
        score, cut, out = exact_cuts(score, cut, lower)
        return np.where(out, 0, selected_at(score, cut, lower))
    if cut.size <= 8:
        return np.array([np.count_nonzero(score <= c if lower else score >= c) for c in cut.reshape(-1)],
                        dtype=np.int64).reshape(cut.shape)
    ordered = np.sort(score)
    return np.searchsorted(ordered, cut, "right") if lower else ordered.shape[0] - np.searchsorted(ordered, cut, "left")
