# cython: wraparound=True
"""Methods that curves of hits and of gains share, and means over queries."""
from libc.math cimport NAN

from math import exp, fsum

import numpy as np

from hitcurve._base.checks cimport as_weight

from hitcurve._base.checks import check_empty
from hitcurve._base.words import are, many


def as_measure(name):
    """That of hitcurve.measures, whose table takes a while to import."""
    from hitcurve import measures
    return measures.as_measure(name)


# The curves do not inherit from the two classes below but take over each method by its name: a compiled class with a base in
# another module, or with two bases, has a slower constructor, and making the curve of a short ranking takes 0.3 microseconds.

# --------------------------------------------------------------------------------------------------------- one ranking

class OneRanking:
    """The methods of HitCurve and GainCurve. SubtopicCurve has them too."""
    def interval(self, measure=None, *, method=None, confidence_level=0.95, n_resamples=9999, stratified=False,
                 bootstrap_method="percentile", ties="expected", rng=None, workers=1):
        """Confidence interval for a measure, which takes the items as a random sample of a larger population.

        Parameters
        ----------
        measure : str, optional
            The name of a measure. Default: AP for a hit curve, nDCG for a gain curve, alpha_nDCG for items with subtopics.
            For a binary measure of a gain curve, the items of level ``rel=`` or higher are relevant. Without ``rel=`` in the
            name, the items of level 1 or higher are relevant.
        method : {None, "logit", "delong", "bootstrap"}
            ``"logit"`` for AP: normal on the scale of log(AP / (1 - AP)) with standard error 1/sqrt(R AP (1 - AP)) (Boyd,
            Eng & Page 2013). ``"logit"`` for ROCAUC: the same scale with DeLong's standard error. ``"delong"`` for ROCAUC:
            normal with the standard error of DeLong et al. 1988, exact under ties. ``"bootstrap"`` for every measure: from
            resamples of the items. None means logit for AP, delong for ROCAUC, and bootstrap for every other measure.
        confidence_level : float
            The nominal coverage. With fewer than about 100 relevant items the true coverage of every method may be lower.
        n_resamples : int
            The number of bootstrap resamples. The time for a resample depends on the number of rows of the table, not on
            the number of items.
        stratified : bool
            True draws relevant items and other items separately: every resample has as many relevant items as the curve.
            False draws all items together, so that the number of relevant items varies. In a gain curve the items above
            level 0 are relevant.
        bootstrap_method : {"percentile", "BCa"}
            ``"percentile"`` takes percentiles of the bootstrap distribution. ``"BCa"`` corrects the percentiles for bias
            and acceleration (Efron 1987). It is only available for a HitCurve.
        ties : {"expected", "best", "worst", "threshold"}
            How to interpret ties. An item that is drawn twice is tied with its copy.
        rng : int or numpy.random.Generator, optional
            The seed or the source of the random numbers.
        workers : int
            The number of threads; -1 means all cores. The result does not depend on the number of threads.

        Returns
        -------
        Interval
            The fields are confidence_interval (low, high), bootstrap_distribution, standard_error, estimate, measure,
            method and confidence_level. The ends are NaN if the measure is NaN. If the measure of a resample is undefined,
            such as AP without a relevant item, the distribution holds NaN and the interval leaves the resample out. AP 0
            and AP 1 have no logit: both ends are then the value itself.

        Raises
        ------
        ValueError
            If a name or choice is unknown, if the method is not available for the measure, or if the items have weights.

        References
        ----------
        Boyd, Eng & Page (2013), "Area under the precision-recall curve", ECML PKDD. DeLong, DeLong & Clarke-Pearson
        (1988), Biometrics 44:837. Efron (1987), J. Am. Stat. Assoc. 82:171.

        Examples
        --------
        >>> import hitcurve as hc
        >>> between = hc.HitCurve([1, 0, 1, 1, 0, 0, 1, 0], [9, 8, 7, 6, 5, 4, 3, 2]).interval("AP").confidence_interval
        >>> print(f"{between.low:.3f} {between.high:.3f}")
        0.237 0.966
        >>> curve = hc.GainCurve([2, 0, 3, 1, 0, 0, 1, 0], [9, 8, 7, 6, 5, 4, 3, 2])
        >>> round(curve.interval("nDCG@5", rng=0).estimate, 4)
        0.757
        """
        from hitcurve.statistics.intervals import curve_intervals
        return curve_intervals(
            self, [self._usual_measure if measure is None else measure], method=method, confidence_level=confidence_level,
            n_resamples=n_resamples, stratified=stratified, bootstrap_method=bootstrap_method, ties=ties, rng=rng,
            workers=workers)[0]

    def resample(self, n_resamples=1, *, stratified=False, rng=None, workers=1):
        """Draw resamples of the items, with replacement, and make the curve of each resample.

        Parameters
        ----------
        n_resamples : int
            The number of resamples.
        stratified, rng, workers
            As in ``interval``.

        Returns
        -------
        HitCurves, GainCurves or SubtopicCurves
            One curve for each resample, without scores. For example, quantiles of their ``recall(k)`` are a confidence
            band for ``recall(k)``. An item is drawn with its levels for all subtopics.

        Raises
        ------
        ValueError
            If the items have weights.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curve = hc.HitCurve([1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1])
        >>> resamples = curve.resample(100, rng=0)
        >>> len(resamples), resamples.recall(3).shape
        (100, (100,))
        """
        from hitcurve.statistics.resampling import resample
        return resample(self, n_resamples, stratified=stratified, rng=rng, workers=workers)


# ------------------------------------------------------------------------------------------------------- many rankings

class ManyRankings:
    """The methods of HitCurves and GainCurves. SubtopicCurves has them too."""
    def mean(self, measure, *, empty="skip", weights=None, ties="expected"):
        """The mean of a measure over the queries.

        The mean is arithmetic for most measures. It is geometric for GMAP (Robertson 2006), where values below 0.00001
        count as 0.00001. Counts such as ``NumRel`` are added up.

        In gain curves the measure decides which items are relevant. For a binary measure these are the items of level
        ``rel=`` or higher, or of level 1 or higher without ``rel=``. For a measure of levels they are the items above level
        0, for a measure of gains the items with a gain above 0, and for ``GAP`` the items of its least threshold or higher.

        Parameters
        ----------
        measure : str
            The name of a measure.
        empty : {"skip", "zero", "one", "raise"}
            How a query without a relevant item counts. ``"skip"`` leaves the query out, ``"zero"`` counts it as 0,
            ``"one"`` counts it as 1, and ``"raise"`` is an error that names the query. The value of the measure for such a
            query does not matter: ``"skip"`` leaves the query out even if its precision is 0. A query that has a relevant
            item but no value (``ROCAUC`` if all items are relevant) is left out, and ``"raise"`` makes it an error. The
            sum of a count includes all queries, unless ``"raise"`` makes a query an error.
        weights : array_like of shape (Q,), optional
            The weight of each query, in the order of `qid`, finite and not negative. A query of weight 2 counts twice.
        ties : {"expected", "best", "worst", "threshold"}
            How to interpret ties. An option ``ties=`` in the name of the measure takes precedence.

        Returns
        -------
        float
            The mean: sum w v / sum w, with the weights w and the values v. NaN when no query counts.

        Raises
        ------
        ValueError
            If the name is unknown, if the measure is not available for these curves, if a weight is negative or not finite,
            or if ``empty="raise"`` meets a query that it does not allow.

        References
        ----------
        Zhu, Jin, Tan, Pan, Zeng, Li & Gai (2017), "Optimized cost per click in Taobao display advertising", KDD, for GAUC:
        the mean of ROC AUC over users, weighted by their impressions or clicks.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curves = hc.HitCurves([1, 0, 0, 1, 0], [5, 4, 3, 3, 1], qid=[1, 1, 2, 2, 3])
        >>> curves.mean("AP"), curves.mean("P@1"), curves.mean("P@1", empty="zero")
        (0.875, 0.75, 0.5)
        >>> round(curves.mean("ROCAUC", weights=curves.num_items), 4)  # GAUC
        0.75
        >>> curves = hc.GainCurves([[2, 0, 1], [0, 3, 0], [0, 0, 0]], [[3, 2, 1], [3, 2, 1], [3, 2, 1]])
        >>> round(curves.mean("nDCG@2"), 4), round(curves.mean("nDCG@2", weights=[3, 1, 5]), 4)
        (0.6956, 0.7279)
        >>> round(curves.mean("ERR(max=3)"), 4), round(curves.mean("ERR(max=3)", empty="zero"), 4)
        (0.4193, 0.2795)
        """
        measure = as_measure(measure)
        return mean_over(measure(self, ties), empty, self.qid, measure.empty(self), weights, measure.name, measure.record.mean)

    def plot(self, kind=None, *, measure=None, ax=None, ties="expected", color=None):
        """Draw the mean precision-recall curve, or a measure over the queries, with matplotlib.

        Parameters
        ----------
        kind : {"precision-recall", "pr", "distribution", "queries", "dots"}, optional
            ``"precision-recall"`` or ``"pr"``, only for hit curves: the mean over queries of interpolated precision at
            recall 0, 0.1, ..., 1. ``"distribution"``: a histogram of the queries' values. ``"queries"``: a bar for each
            query. ``"dots"``: a row for each query. Default: ``"precision-recall"`` for hit curves, ``"distribution"``
            for all others.
        measure : str, optional
            The measure of every other kind. Default: AP for hit curves, nDCG for gain curves, alpha_nDCG for items
            with subtopics.
        ax, ties, color
            As for ``plot_evaluations``, which draws several systems.

        Returns
        -------
        Display
            The display has ``ax_``, ``figure_`` and every attribute of the axes.

        Raises
        ------
        ValueError, TypeError, ImportError
            As ``plot_evaluations`` raises.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curves = hc.HitCurves([1, 0, 0, 1], [4, 3, 2, 1], qid=[1, 1, 2, 2])
        >>> display = curves.plot(ax=hc.plot_figure().axes[0])
        >>> display.lines[0].get_ydata().tolist() == [0.75] * 11
        True
        >>> curves = hc.GainCurves([2, 0, 0, 1], [4, 3, 2, 1], qid=[1, 1, 2, 2])
        >>> display = curves.plot("queries", ax=hc.plot_figure().axes[0])
        >>> [f"{bar.get_height():.4f}" for bar in display.patches]
        ['1.0000', '0.6309']
        """
        from hitcurve.report.plot_queries import of_one
        return of_one(self, self._usual_picture if kind is None else kind, measure=measure, ax=ax, ties=ties, color=color)

    def interval(self, measure=None, *, method=None, confidence_level=0.95, n_resamples=9999,
                 bootstrap_method="percentile", empty="skip", ties="expected", rng=None):
        """Confidence interval for the mean of a measure, which takes the queries as a random sample of all queries.

        Parameters
        ----------
        measure : str, optional
            The name of a measure. Default: AP for hit curves, nDCG for gain curves, alpha_nDCG for items with subtopics.
        method : {None, "bootstrap", "t"}
            ``"bootstrap"``: from resamples of the queries. The interval is too narrow for fewer than about 20 queries.
            ``"t"``: Student's interval, for few queries, such as the folds of a cross-validation. This method needs scipy.
            None means ``"bootstrap"``.
        confidence_level, n_resamples, bootstrap_method, ties, rng
            As in ``HitCurve.interval``.
        empty : {"skip", "zero", "one", "raise"}
            How a query without a relevant item counts: see ``mean``.

        Returns
        -------
        Interval
            The fields are those of ``HitCurve.interval``, and the estimate is the mean. Both ends are NaN for fewer than
            two queries.

        Examples
        --------
        >>> import hitcurve as hc
        >>> curves = hc.HitCurves([1, 0, 0, 1], [4, 3, 2, 1], qid=[1, 1, 2, 2])
        >>> curves.interval(rng=0).estimate
        0.75
        >>> curves = hc.GainCurves([[2, 0, 1], [0, 3, 0]], [[3, 2, 1], [3, 2, 1]])
        >>> round(curves.interval("nDCG@2", rng=0).estimate, 4)
        0.6956
        """
        from hitcurve.statistics.intervals import curves_interval
        return curves_interval(
            self, self._usual_measure if measure is None else measure, method=method, confidence_level=confidence_level,
            n_resamples=n_resamples, bootstrap_method=bootstrap_method, empty=empty, ties=ties, rng=rng)


# ----------------------------------------------------------------------------------------------------------- all queries

cdef object query_named(object at, object qid):
    return f"query {at}" if qid is None else f"query {qid[at:at + 1].tolist()[0]!r}"


def totals(curves):
    """The counts of all queries together, as text for the repr."""
    return (f"{many(len(curves), 'queries')}: {many(curves.num_items.sum(), 'items')}, {curves.num_relevant.sum()} relevant, "
            f"{many(curves.num_hits.sum(), 'hits')}")


def counted(values, empty, qid, without=None, name="the measure"):
    """The per-query values that a mean takes, and a mask of their queries (None if every query counts).

    `without` is a mask of the queries without a relevant item; by default, these are the queries whose value is NaN. A
    query that has a relevant item but no value is left out.
    """
    check_empty(empty)
    undefined = np.isnan(values)
    without = undefined if without is None else without
    left = without | undefined
    if not left.any():
        return values, None
    if empty == "raise":
        q = int(np.argmax(left))
        if not without[q]:
            raise ValueError(f"{query_named(q, qid)} has a relevant item, but no value of {name}: empty='skip' leaves out "
                             "such queries")
        raise ValueError(f"{query_named(q, qid)} has no relevant item: use empty='skip', 'zero' or 'one'")
    if empty != "skip":
        values, left = np.where(without, 0.0 if empty == "zero" else 1.0, values), undefined & ~without
    return values[~left], ~left


def mean_over(values, empty, qid, without=None, weights=None, name="the measure", how="arithmetic"):
    """The mean of per-query values: see `counted`, and ``HitCurves.mean`` for the weights and other kinds of means."""
    values = np.asarray(values, np.float64)
    if weights is not None:
        whole = f"there {are(values.shape[0])} {many(values.shape[0], 'queries')}"
        weights = as_weight(weights, values.shape[0], None, "weights", whole)
        if empty == "raise":  # a query of weight 0 counts as absent
            values, without = np.where(weights > 0, values, 0.0), without & (weights > 0)
    if how == "sum":  # of counts, which are defined for every query
        if empty == "raise":
            counted(values, empty, qid, without, name)
        check_empty(empty)
        return fsum(values if weights is None else values * weights)
    values, kept = counted(values, empty, qid, without, name)
    if how == "geometric":
        from hitcurve.measures import LEAST
        values = np.log(np.maximum(values, LEAST))
    # Summed without rounding error, so that it does not depend on the order of the queries.
    if weights is None:
        mean = fsum(values) / values.shape[0] if values.shape[0] else NAN
    else:
        weights = weights if kept is None else weights[kept]
        weights = np.ldexp(weights, -int(np.frexp(weights.max(initial=0.0))[1]))  # a power of two rounds nothing
        mean = fsum(values * weights) / fsum(weights) if weights.any() else NAN
    return exp(mean) if how == "geometric" else mean
