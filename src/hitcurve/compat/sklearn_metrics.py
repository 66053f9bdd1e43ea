"""Ranking metrics of scikit-learn 1.9 by hitcurve: change the import, keep the calls.

>>> from hitcurve.compat.sklearn_metrics import average_precision_score, roc_auc_score
>>> average_precision_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
0.8333333333333333

Names, arguments, checks of arguments and the shapes of results are those of ``sklearn.metrics``. This module does not
import scikit-learn. If scikit-learn is loaded, warnings have its class ``UndefinedMetricWarning``. The page "Instead of
scikit-learn's metrics" of the documentation lists every difference.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any

import numpy as np

from hitcurve import GainCurves, HitCurve, HitCurves, multiclass_roc_auc
from hitcurve.compat._sklearn_checks import (
    as_array,
    as_column,
    as_numbers,
    as_weights,
    classes_of,
    flags_of,
    need,
    need_bool,
    need_class_columns,
    need_cutoff,
    need_finite,
    need_items,
    need_one_of,
    need_same_length,
    need_same_shape,
    needs_pos_label,
    refused,
    target_of,
)

__all__ = [
    "UndefinedMetricWarning", "auc", "average_precision_score", "coverage_error", "dcg_score", "det_curve",
    "label_ranking_average_precision_score", "label_ranking_loss", "ndcg_score", "precision_recall_curve",
    "roc_auc_score", "roc_curve", "top_k_accuracy_score",
]


class UndefinedMetricWarning(UserWarning):
    """A warning that a metric is undefined for the data. If scikit-learn is loaded, its class of this name is used."""


_AVERAGES = ("micro", "macro", "weighted", "samples")


def _warn(text: str) -> None:
    loaded = sys.modules.get("sklearn.exceptions")
    warnings.warn(text, getattr(loaded, "UndefinedMetricWarning", UndefinedMetricWarning), stacklevel=3)


# --- counts at every distinct score -----------------------------------------------------------------------------------


def _counts(flags: Any, score: Any, weight: Any) -> tuple[Any, Any, Any]:
    """Of each distinct score, highest first: the other and the positive items from it up, and the score.

    Counts of items need the scores in order and the table of the hits. Weights need the items in order: that of a
    stable sort, since sums depend on it in the last digit, and `drop_intermediate` on that digit.
    """
    need_same_length(flags, score, weight)
    score = need_finite(need_items(as_column(score)))
    if weight is None:
        ordered = np.sort(score)[::-1]
        ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), score.size - 1)
        table = HitCurve(flags, score)
        marks = np.zeros(score.size)
        marks[table.above] = table.hits
        tps = np.cumsum(marks)[ends]
        return 1.0 + ends - tps, tps, ordered[ends]
    if not weight.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    if not weight.all():
        flags, score, weight = (column[weight != 0] for column in (flags, score, weight))
    order = np.argsort(score)[::-1]
    ordered = score[order]
    ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), score.size - 1)
    if ends.size < score.size:  # the items of each group in turn, which is faster than a stable sort
        groups = np.repeat(np.arange(ends.size) * score.size, np.diff(ends, prepend=-1))
        order = np.sort(groups + order) - groups
    flags, weight = flags[order], weight[order]
    return np.cumsum(~flags * weight)[ends], np.cumsum(flags * weight)[ends], ordered[ends]


def _kept(keep: Any, *columns: Any) -> tuple[Any, ...]:
    ends = np.flatnonzero(np.concatenate([[True], keep, [True]]))
    return tuple(column[ends] for column in columns)


def _precision_recall(fps: Any, tps: Any) -> tuple[Any, Any]:
    """Precision and recall from the highest score down."""
    taken = tps + fps
    precision = np.divide(tps, taken, out=np.zeros(tps.shape), where=taken != 0)
    if tps[-1] == 0:
        _warn_no_positive()
        return precision, np.ones(tps.shape)
    return precision, tps / tps[-1]


def _warn_no_positive() -> None:
    warnings.warn("No positive class found in y_true, recall is set to one for all thresholds.", stacklevel=3)


def _rates(fps: Any, tps: Any) -> list[Any]:
    """False and true positive rates, from the point (0, 0) on."""
    rates = []
    for counts, texts in ((fps, ("negative", "false")), (tps, ("positive", "true"))):
        if counts[-1] <= 0:
            _warn(f"No {texts[0]} samples in y_true, {texts[1]} positive value should be meaningless")
        rates.append(np.append(0.0, counts) / (counts[-1] if counts[-1] > 0 else np.nan))
    return rates


# --- one number a ranking ---------------------------------------------------------------------------------------------


def _precisions(flags: Any, score: Any, weight: Any) -> Any:
    """Average precision of each row."""
    if weight is None:
        values = HitCurves(flags, score).average_precision(ties="threshold")
        if np.isnan(values).any():
            _warn_no_positive()
        return np.nan_to_num(values)
    points = [_precision_recall(*_counts(*row, weight)[:2]) for row in zip(flags, score, strict=True)]
    return np.array([max(0.0, np.sum(np.diff(recall, prepend=0.0) * precision)) for precision, recall in points])


def _areas(flags: Any, score: Any, weight: Any, max_fpr: Any = None) -> Any:
    """Area under the ROC curve of each row, NaN where a class is missing."""
    whole = max_fpr is None or max_fpr == 1
    if weight is None:
        curves = HitCurves(flags, score)
        values = curves.roc_auc() if whole else curves.roc_auc(max_fpr=max_fpr, ties="threshold")
        undefined = np.isnan(values)
    else:
        undefined = flags.all(axis=1) | ~flags.any(axis=1)
        values = np.full(flags.shape[0], np.nan)
        for i in np.flatnonzero(~undefined).tolist():
            fpr, tpr = _rates(*_counts(flags[i], score[i], weight)[:2])
            values[i] = auc(fpr, tpr) if whole else _partial(fpr, tpr, max_fpr)
    if undefined.any():
        _warn_one_class()
    return values


def _warn_one_class() -> None:
    _warn("Only one class is present in y_true. ROC AUC score is not defined in that case.")


def _partial(fpr: Any, tpr: Any, max_fpr: float) -> float:
    """The area up to `max_fpr`, 0.5 for chance and 1 for the best (McClish 1989)."""
    stop = np.searchsorted(fpr, max_fpr, "right")
    at = np.interp(max_fpr, fpr[stop - 1 : stop + 1], tpr[stop - 1 : stop + 1])
    area = auc(np.append(fpr[:stop], max_fpr), np.append(tpr[:stop], at))
    least = 0.5 * max_fpr**2
    return 0.5 * (1 + (area - least) / (max_fpr - least))


def _average(values_of: Callable[..., Any], labels: Any, flags: Any, score: Any, average: Any, weight: Any) -> Any:
    """The mean over columns or rows, or the value of all cells together."""
    need_same_length(labels, score, weight)
    score = as_numbers(score, "y_score", 2)
    need_same_shape(labels, score)
    if average == "micro":
        repeated = None if weight is None else np.repeat(weight, labels.shape[1])
        return float(values_of(flags.reshape(1, -1), score.reshape(1, -1), repeated)[0])
    shares = weight if average == "samples" else None
    if average == "weighted":
        shares = labels.sum(axis=0) if weight is None else (labels * weight[:, None]).sum(axis=0)
        if np.isclose(shares.sum(), 0):
            return 0
    if average != "samples":
        flags, score = flags.T, score.T
    values = values_of(flags, score, None if average == "samples" else weight)
    if average is None:
        return values
    if shares is not None:
        values[shares == 0] = 0
    return float(np.average(values, weights=shares))


# --- the functions ----------------------------------------------------------------------------------------------------


def auc(x: Any, y: Any) -> float:
    r"""Area under a curve by the trapezoidal rule, ∑ (xᵢ₊₁ − xᵢ)(yᵢ + yᵢ₊₁) / 2.

    Parameters
    ----------
    x : array-like of shape (n,)
        The values of x, rising or falling.
    y : array-like of shape (n,)

    Returns
    -------
    float
        The area, which is positive for falling `x` too. Fewer than two points are an error.

    Examples
    --------
    >>> auc([0, 0.5, 1], [0, 1, 1])
    0.75
    """
    x, y = as_array(x, "x"), as_array(y, "y")
    need_same_length(x, y)
    x, y = as_column(x), as_column(y)
    if x.shape[0] < 2:
        raise ValueError(f"At least 2 points are needed to compute area under curve, but x.shape = {x.shape[0]}")
    steps = np.diff(x)
    falling = bool((steps < 0).any())
    if falling and not (steps <= 0).all():
        raise ValueError(f"x is neither increasing nor decreasing : {x}.")
    return float(np.trapezoid(y, x)) * (-1 if falling else 1)


def average_precision_score(y_true: Any, y_score: Any, *, average: str | None = "macro", pos_label: Any = 1,
                            sample_weight: Any = None) -> Any:
    r"""Average precision AP = ∑ₙ (Rₙ − Rₙ₋₁) Pₙ over the distinct scores n, highest first.

    Rₙ and Pₙ are recall and precision of all items with at least this score: tied items enter at once
    (``ties="threshold"`` of :func:`hitcurve.average_precision`). Without a positive item AP is 0, with a warning.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_classes)
        Labels of two classes, labels of several classes, or a column of flags for each label.
    y_score : array-like of shape (n_samples,) or (n_samples, n_classes)
        Finite scores, higher for positive items.
    average : {'macro', 'micro', 'weighted', 'samples'} or None
        ``'macro'``: the mean over columns. ``'micro'``: all cells as one ranking. ``'weighted'``: the mean over
        columns, weighted by their positive items. ``'samples'``: the mean over rows. None: an array with a value for
        each column. For two classes `average` has no effect.
    pos_label : int, float, bool or str
        The label of the positive class, if there are two classes.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float or ndarray of shape (n_classes,)

    References
    ----------
    scikit-learn, `average_precision_score`. G. Salton, M. McGill, "Introduction to Modern Information Retrieval", 1983.

    Examples
    --------
    >>> average_precision_score(["no", "yes", "yes"], [0.3, 0.3, 0.9], pos_label="yes")
    0.8333333333333333
    """
    need_one_of("average", average, _AVERAGES, none=True)
    labels, score, weight = as_array(y_true, "y_true"), as_array(y_score, "y_score"), as_weights(sample_weight)
    target, two = target_of(labels)
    if target == "binary":
        if two.size == 2 and pos_label not in two:
            raise ValueError(f"pos_label={pos_label} is not a valid label. It should be one of {two}")
        flags = flags_of(labels, pos_label)
        need_same_length(labels, score, weight)
        return float(_precisions(flags[None], need_finite(need_items(as_column(score)))[None], weight)[0])
    if target not in ("multilabel-indicator", "multiclass"):
        raise refused(target)
    if pos_label != 1:
        raise ValueError(f"Parameter pos_label is fixed to 1 for {target} y_true. Do not set pos_label or set "
                         "pos_label to 1.")
    if target == "multiclass":
        labels = _indicator(labels, score)
    return _average(_precisions, labels, labels == 1, score, average, weight)


def _indicator(labels: Any, score: Any, classes: Any = None) -> Any:
    """A column of zeros and ones for each class."""
    labels = as_column(labels)
    classes = np.unique(labels) if classes is None else classes
    need_class_columns(score.shape == (labels.size, classes.size), score)
    return (labels[:, None] == classes).astype(np.int64)


def precision_recall_curve(y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None,
                           drop_intermediate: bool = False) -> tuple[Any, Any, Any]:
    """Precision and recall at each distinct score, lowest score first.

    A point counts the items with at least its score.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels. Without `pos_label` they are 0 and 1, or -1 and 1.
    y_score : array-like of shape (n_samples,)
    pos_label : int, float, bool or str, optional
    sample_weight : array-like of shape (n_samples,), optional
        Items of weight 0 are left out.
    drop_intermediate : bool
        Leave out points that have as many positive items as both of their neighbours.

    Returns
    -------
    precision, recall : ndarray of shape (n_thresholds + 1,)
        At the last point precision is 1 and recall is 0. If no item is positive, all other points have recall 1, with a
        warning.
    thresholds : ndarray of shape (n_thresholds,)
        The distinct scores in rising order, in their own type.

    Examples
    --------
    >>> for column in precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8]):
    ...     print(column.round(3))
    [0.5   0.667 1.    1.   ]
    [1.  1.  0.5 0. ]
    [0.1 0.4 0.8]
    """
    need_bool("drop_intermediate", drop_intermediate)
    flags = flags_of(as_array(y_true, "y_true"), pos_label)
    fps, tps, thresholds = _counts(flags, as_array(y_score, "y_score"), as_weights(sample_weight))
    if drop_intermediate and fps.size > 2:
        moved = np.diff(tps) != 0
        fps, tps, thresholds = _kept(moved[:-1] | moved[1:], fps, tps, thresholds)
    precision, recall = _precision_recall(fps, tps)
    return np.append(precision[::-1], 1.0), np.append(recall[::-1], 0.0), thresholds[::-1]


def roc_curve(y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None,
              drop_intermediate: bool = True) -> tuple[Any, Any, Any]:
    """True and false positive rate at each distinct score, highest score first.

    A point counts the items with at least its score.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels. Without `pos_label` they are 0 and 1, or -1 and 1.
    y_score : array-like of shape (n_samples,)
    pos_label : int, float, bool or str, optional
    sample_weight : array-like of shape (n_samples,), optional
        Items of weight 0 are left out.
    drop_intermediate : bool
        Leave out points that lie midway between their neighbours.

    Returns
    -------
    fpr, tpr : ndarray of shape (n_thresholds,)
        The false positive rate is NaN if no item is negative, and the true positive rate is NaN if no item is positive,
        both with a warning.
    thresholds : ndarray of shape (n_thresholds,)
        Infinity, then the distinct scores in falling order, as float64.

    Examples
    --------
    >>> for column in roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]):
    ...     print(column)
    [0.  0.  0.5 0.5 1. ]
    [0.  0.5 0.5 1.  1. ]
    [ inf 0.8  0.4  0.35 0.1 ]
    """
    need_bool("drop_intermediate", drop_intermediate)
    flags = flags_of(as_array(y_true, "y_true"), pos_label)
    fps, tps, thresholds = _counts(flags, as_array(y_score, "y_score"), as_weights(sample_weight))
    if drop_intermediate and fps.size > 2:
        fps, tps, thresholds = _kept((np.diff(fps, 2) != 0) | (np.diff(tps, 2) != 0), fps, tps, thresholds)
    fpr, tpr = _rates(fps, tps)
    return fpr, tpr, np.append(np.inf, thresholds.astype(np.float64))


def det_curve(y_true: Any, y_score: Any, pos_label: Any = None, sample_weight: Any = None,
              drop_intermediate: bool = False) -> tuple[Any, Any, Any]:
    """False positive and false negative rate at each distinct score, lowest score first.

    A point counts the items with at least its score as positive. The curve begins at the last point without a false
    negative and ends at the first point without a false positive.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes. Without `pos_label` they are 0 and 1, or -1 and 1.
    y_score : array-like of shape (n_samples,)
    pos_label : int, float, bool or str, optional
    sample_weight : array-like of shape (n_samples,), optional
        Items of weight 0 are left out.
    drop_intermediate : bool
        Leave out points that have as many positive items as both of their neighbours.

    Returns
    -------
    fpr, fnr : ndarray of shape (n_thresholds,)
    thresholds : ndarray of shape (n_thresholds,)
        Distinct scores in rising order, as float64. The last threshold is infinity if the best score has a false
        positive.

    References
    ----------
    A. Martin, G. Doddington, T. Kamm, M. Ordowski, M. Przybocki, "The DET curve in assessment of detection task
    performance", Eurospeech 1997.

    Examples
    --------
    >>> for column in det_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]):
    ...     print(column)
    [0.5 0.5 0. ]
    [0.  0.5 0.5]
    [0.35 0.4  0.8 ]
    """
    need_bool("drop_intermediate", drop_intermediate)
    labels = as_array(y_true, "y_true")
    fps, tps, thresholds = _counts(flags_of(labels, pos_label), as_array(y_score, "y_score"), as_weights(sample_weight))
    fps, tps = np.append(0.0, fps), np.append(0.0, tps)
    thresholds = np.append(np.inf, thresholds.astype(np.float64))
    if drop_intermediate and fps.size > 2:
        moved = np.diff(tps) != 0
        fps, tps, thresholds = _kept(moved[:-1] | moved[1:], fps, tps, thresholds)
    if np.unique(labels).size != 2:
        raise ValueError("Only one class is present in y_true. Detection error tradeoff curve is not defined in that "
                         "case.")
    first = int(np.searchsorted(fps, 0.0, side="right")) - 1
    part = slice(first if first >= 0 else None, int(np.searchsorted(tps, tps[-1])) + 1)
    return fps[part][::-1] / fps[-1], (tps[-1] - tps)[part][::-1] / tps[-1], thresholds[part][::-1]


def roc_auc_score(y_true: Any, y_score: Any, *, average: str | None = "macro", sample_weight: Any = None,
                  max_fpr: float | None = None, multi_class: str = "raise", labels: Any = None) -> Any:
    """Area under the ROC curve: the probability that a positive item scores above a negative item. Ties count one half.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_classes)
        Labels of two classes (the greater label is positive), labels of several classes, or a column of flags for each
        label.
    y_score : array-like of shape (n_samples,) or (n_samples, n_classes)
        Finite scores. For several classes, probabilities that sum to 1.
    average : {'macro', 'micro', 'weighted', 'samples'} or None
        As in :func:`average_precision_score`.
    sample_weight : array-like of shape (n_samples,), optional
    max_fpr : float in (0, 1], optional
        Measure the area up to this false positive rate, on a scale of 0.5 (random order) to 1 (best order).
    multi_class : {'raise', 'ovr', 'ovo'}
        ``'ovr'``: each class against the rest. ``'ovo'``: the mean over pairs of classes. ``'raise'``: an error for
        several classes.
    labels : array-like of shape (n_classes,), optional
        The classes of the columns, in order.

    Returns
    -------
    float or ndarray of shape (n_classes,)
        NaN with a warning if there is only one class.

    References
    ----------
    D. K. McClish, "Analyzing a portion of the ROC curve", Medical Decision Making 9, 1989. D. J. Hand, R. J. Till,
    "A simple generalisation of the area under the ROC curve", Machine Learning 45, 2001.

    Examples
    --------
    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    need_one_of("average", average, _AVERAGES, none=True)
    need_one_of("multi_class", multi_class, ("raise", "ovr", "ovo"))
    need(max_fpr is None or (isinstance(max_fpr, Real) and 0 < max_fpr <= 1), "max_fpr", max_fpr,
          "a float in the range (0.0, 1.0] or None")
    given = as_array(y_true, "y_true")
    target, two = target_of(given)
    score, weight = as_numbers(y_score, "y_score"), as_weights(sample_weight)
    need_items(given)
    if target == "multiclass" or (target == "binary" and score.ndim == 2 and score.shape[1] > 2):
        if max_fpr is not None and max_fpr != 1:
            raise ValueError("Partial AUC computation not available in multiclass setting, 'max_fpr' must be set to "
                             f"`None`, received `max_fpr={max_fpr}` instead")
        if multi_class == "raise":
            raise ValueError("multi_class must be in ('ovo', 'ovr')")
        return _multiclass_area(as_column(given), score, labels, multi_class, average, weight)
    if target == "binary":
        need_same_length(given, score, weight)
        if two.size < 2:
            _warn_one_class()
            return float("nan")
        return float(_areas((as_column(given) == two[1])[None], as_column(score)[None], weight, max_fpr)[0])
    if target != "multilabel-indicator":
        raise refused(target)
    flags = given == 1
    axis = {"micro": None, "samples": 1}.get(str(average), 0)
    if needs_pos_label(given, two) and np.ptp(given, axis=axis).any():  # a column of one class is undefined, not wrong
        flags_of(two, None)
    return _average(partial(_areas, max_fpr=max_fpr), given, flags, score, average, weight)


def _multiclass_area(y_true: Any, score: Any, labels: Any, multi_class: str, average: str | None, weight: Any) -> Any:
    need_class_columns(score.ndim == 2, score)
    if not np.allclose(1, score.sum(axis=1)):
        raise ValueError("Target scores need to be probabilities for multiclass roc_auc, i.e. they should sum up to "
                         "1.0 over classes")
    options = (*(("micro",) if multi_class == "ovr" else ()), "macro", "weighted", None)
    if average not in options:
        raise ValueError(f"average must be one of {options} for multiclass problems")
    if average is None and multi_class == "ovo":
        raise NotImplementedError("average=None is not implemented for multi_class='ovo'.")
    classes = classes_of(y_true, labels, score.shape[1],
                         "Number of classes in y_true not equal to the number of columns in 'y_score'",
                         "Number of given labels, {}, not equal to the number of columns in 'y_score', {}")
    if multi_class == "ovo" and weight is not None:
        raise ValueError("sample_weight is not supported for multiclass one-vs-one ROC AUC, 'sample_weight' must be "
                         "None in this case.")
    need_same_length(y_true, score, weight)
    if multi_class == "ovr":
        marked = _indicator(y_true, score, classes)
        return _average(_areas, marked, marked == 1, score, average, weight)
    present = np.unique(y_true)  # classes without an item have no pairs
    if present.size < 2:
        return np.average([], weights=[] if average == "weighted" else None)
    return np.float64(multiclass_roc_auc(y_true, score[:, np.isin(classes, present)], average=average))


# --- labels of many rows ----------------------------------------------------------------------------------------------


def _rows(y_true: Any, y_score: Any, sample_weight: Any, ndim: int | None = None, single: bool = False) -> Any:
    """Flags and scores of rankings of labels, one a row."""
    dense = y_true.toarray() if ndim is None and hasattr(y_true, "toarray") else y_true
    labels, score = as_numbers(dense, "y_true", ndim), as_numbers(y_score, "y_score", ndim)
    need_same_length(labels, score, sample_weight)
    target, _ = target_of(labels)
    if labels.shape != score.shape:
        raise ValueError("y_true and y_score have different shape")
    if target != "multilabel-indicator" and not (single and target == "binary" and labels.ndim == 2):
        raise refused(target)
    return labels != 0, score


def label_ranking_average_precision_score(y_true: Any, y_score: Any, *, sample_weight: Any = None) -> float:
    """Mean over samples of the average precision of the labels, ranked by their scores.

    Tied labels have the last rank of their tie group. A sample counts as 1 if none or all of its labels are relevant.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        Flags.
    y_score : array-like of shape (n_samples, n_labels)
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float

    References
    ----------
    G. Tsoumakas, I. Katakis, I. Vlahavas, "Mining multi-label data", in: Data Mining and Knowledge Discovery Handbook,
    2010.

    Examples
    --------
    >>> round(label_ranking_average_precision_score([[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1], [1, 0.2, 0.1]]), 4)
    0.4167
    """
    flags, score = _rows(y_true, y_score, sample_weight, single=True)
    values = HitCurves(flags, score).average_precision(ties="threshold")
    weight = np.ones(values.size) if sample_weight is None else np.asarray(sample_weight)
    return float(np.where(np.isnan(values), 1.0, values) @ weight / weight.sum())


def coverage_error(y_true: Any, y_score: Any, *, sample_weight: Any = None) -> float:
    """Mean number of labels that score at least as high as the lowest relevant label; 0 without a relevant label.

    Parameters
    ----------
    y_true : array-like of shape (n_samples, n_labels)
        Flags.
    y_score : array-like of shape (n_samples, n_labels)
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float

    References
    ----------
    Tsoumakas et al. 2010, as for :func:`label_ranking_average_precision_score`.

    Examples
    --------
    >>> coverage_error([[1, 0, 0], [0, 1, 1]], [[1, 0, 0], [0, 1, 1]])
    1.5
    """
    flags, score = _rows(y_true, y_score, sample_weight, ndim=2)
    curves = HitCurves(flags, score)
    depths = np.append(0, curves.above + curves.tied)
    last = np.where(np.diff(curves.row_offsets) > 0, curves.row_offsets[1:], 0)
    return float(np.average(depths[last], weights=sample_weight))


def label_ranking_loss(y_true: Any, y_score: Any, *, sample_weight: Any = None) -> float:
    """Mean over samples of the share of pairs of a relevant and an irrelevant label that are in the wrong order.

    Tied pairs count as wrong. A sample without relevant labels or without irrelevant labels counts as 0.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        Flags.
    y_score : array-like of shape (n_samples, n_labels)
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float

    References
    ----------
    Tsoumakas et al. 2010, as for :func:`label_ranking_average_precision_score`.

    Examples
    --------
    >>> label_ranking_loss([[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1], [1, 0.2, 0.1]])
    0.75
    """
    flags, score = _rows(y_true, y_score, sample_weight)
    return float(np.average(np.nan_to_num(1.0 - HitCurves(flags, score).roc_auc(ties="worst")), weights=sample_weight))


def _levels(y_true: Any, y_score: Any, k: Any, sample_weight: Any, ignore_ties: Any, ideal: bool) -> tuple[Any, Any]:
    """Levels and scores of rankings of labels, one a row. With `ideal` the levels must have an ideal order."""
    need_cutoff(k)
    need_bool("ignore_ties", ignore_ties)
    levels, score = as_numbers(y_true, "y_true"), as_numbers(y_score, "y_score")
    need_same_length(levels, score, sample_weight)
    if ideal and levels.min() < 0:
        raise ValueError("ndcg_score should not be used on negative y_true values.")
    if ideal and levels.ndim > 1 and levels.shape[1] <= 1:
        raise ValueError("Computing NDCG is only meaningful when there is more than 1 document. Got "
                         f"{levels.shape[1]} instead.")
    formats = ("multilabel-indicator", "continuous-multioutput", "multiclass-multioutput")
    target, _ = target_of(levels)
    if target not in formats:
        raise ValueError(f"Only {formats} formats are supported. Got {target} instead")
    need_same_shape(levels, score)
    return levels, score


def _gains(levels: Any, score: Any, k: Any, ignore_ties: bool) -> Any:
    """DCG of each row with the binary logarithm."""
    cut = min(k or levels.shape[1], levels.shape[1])
    discount = 1 / np.log2(np.arange(cut) + 2)
    if ignore_ties:  # the order of ties is that of numpy's sort, and of no rule
        order = np.argsort(score)[:, ::-1][:, :cut]
        return np.take_along_axis(levels, order, axis=1) @ discount
    least = min(levels.min(), 0)  # gain curves have no negative levels, and DCG is linear in the levels
    return GainCurves(levels.astype(np.float64) - least if least else levels, score).dcg(cut) + least * discount.sum()


def dcg_score(y_true: Any, y_score: Any, *, k: int | None = None, log_base: float = 2, sample_weight: Any = None,
              ignore_ties: bool = False) -> float:
    r"""Mean over samples of DCG = ∑ᵢ levelᵢ / log(i + 1) over the ranks i up to k.

    Each tied item has the mean level of its tie group. This gives the mean over all orders of the tied items.

    Parameters
    ----------
    y_true : array-like of shape (n_samples, n_labels)
        Levels of relevance, also negative ones.
    y_score : array-like of shape (n_samples, n_labels)
    k : int, optional
        The last rank that counts. None counts all ranks.
    log_base : float
        Base of the logarithm.
    sample_weight : array-like of shape (n_samples,), optional
    ignore_ties : bool
        True ranks tied items in the order that numpy's sort gives them.

    Returns
    -------
    float

    References
    ----------
    K. Järvelin, J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20, 2002. F. McSherry,
    M. Najork, "Computing information retrieval performance measures efficiently in the presence of tied scores", ECIR
    2008.

    Examples
    --------
    >>> round(dcg_score([[10, 0, 0, 1, 5]], [[0.1, 0.2, 0.3, 4, 70]], k=2), 4)
    5.6309
    """
    need(isinstance(log_base, Real) and log_base > 0, "log_base", log_base, "a float in the range (0.0, inf)")
    levels, score = _levels(y_true, y_score, k, sample_weight, ignore_ties, ideal=False)
    values = _gains(levels, score, k, ignore_ties) * np.log2(log_base)
    return float(np.average(values, weights=sample_weight))


def ndcg_score(y_true: Any, y_score: Any, *, k: int | None = None, sample_weight: Any = None,
               ignore_ties: bool = False) -> float:
    r"""Mean over samples of nDCG: DCG (see :func:`dcg_score`) divided by the DCG of the best order.

    A sample without a level above 0 counts as 0.

    Parameters
    ----------
    y_true : array-like of shape (n_samples, n_labels)
        Levels of relevance, at least 0, for two or more labels.
    y_score : array-like of shape (n_samples, n_labels)
    k : int, optional
        The last rank that counts. None counts all ranks.
    sample_weight : array-like of shape (n_samples,), optional
    ignore_ties : bool
        True ranks tied items in the order that numpy's sort gives them.

    Returns
    -------
    float

    References
    ----------
    Järvelin and Kekäläinen 2002, and McSherry and Najork 2008, as for :func:`dcg_score`.

    Examples
    --------
    >>> round(ndcg_score([[10, 0, 0, 1, 5]], [[0.1, 0.2, 0.3, 4, 70]]), 4)
    0.6957
    """
    levels, score = _levels(y_true, y_score, k, sample_weight, ignore_ties, ideal=True)
    if ignore_ties:
        best = _gains(levels, levels, k, ignore_ties)
        values = np.divide(_gains(levels, score, k, ignore_ties), best, out=np.zeros(best.shape), where=best != 0)
    else:
        values = np.nan_to_num(GainCurves(levels, score).ndcg(min(k or levels.shape[1], levels.shape[1])))
    return float(np.average(values, weights=sample_weight))


def top_k_accuracy_score(y_true: Any, y_score: Any, *, k: int = 2, normalize: bool = True, sample_weight: Any = None,
                         labels: Any = None) -> float:
    """Share of samples whose class is among the k best-scored classes. Of tied classes the greater class comes first.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Classes.
    y_score : array-like of shape (n_samples,) or (n_samples, n_classes)
        The score of each class. For two classes, the score of the greater class.
    k : int
        The number of best-scored classes.
    normalize : bool
        True returns the share of samples, False their number.
    sample_weight : array-like of shape (n_samples,), optional
    labels : array-like of shape (n_classes,), optional
        The classes of the columns, in order.

    Returns
    -------
    float

    References
    ----------
    scikit-learn, `top_k_accuracy_score`.

    Examples
    --------
    >>> top_k_accuracy_score([0, 1, 2, 2], [[0.5, 0.2, 0.2], [0.3, 0.4, 0.2], [0.2, 0.4, 0.3], [0.7, 0.2, 0.1]])
    0.75
    """
    need_cutoff(k, none=False)
    need_bool("normalize", normalize)
    own = as_column(as_array(y_true, "y_true"))
    target, _ = target_of(own)
    if target == "binary" and labels is not None and len(labels) > 2:
        target = "multiclass"
    if target not in ("binary", "multiclass"):
        raise ValueError(f"y type must be 'binary' or 'multiclass', got '{target}' instead.")
    score = as_numbers(y_score, "y_score")
    if target == "binary":
        if score.ndim == 2 and score.shape[1] != 1:
            raise ValueError(f"`y_true` is binary while y_score is 2d with {score.shape[1]} classes. If `y_true` does "
                             "not contain all the labels, `labels` must be provided.")
        score = as_column(score)
    else:
        need_class_columns(score.ndim == 2, score)
    need_same_length(own, score, sample_weight)
    columns = score.shape[1] if score.ndim == 2 else 2
    unequal = "({}) not equal to the number of classes in 'y_score' ({})."
    hint = "You can provide a list of all known classes by assigning it to the `labels` parameter."
    classes = classes_of(own, labels, columns, f"Number of classes in 'y_true' {unequal}{hint}",
                         f"Number of given labels {unequal}")
    if k >= classes.size:
        _warn(f"'k' ({k}) greater than or equal to 'n_classes' ({classes.size}) will result in a perfect score and is "
              "therefore meaningless.")
    if target == "binary":
        middle = 0.5 if score.min() >= 0 and score.max() <= 1 else 0
        hits = (own == classes[1]) == (score > middle) if k == 1 else np.ones(score.shape, bool)
    else:
        at = np.searchsorted(classes, own)[:, None]
        reached = np.take_along_axis(score, at, axis=1)
        hits = ((score > reached) | ((score == reached) & (np.arange(columns) > at))).sum(axis=1) < k
    if normalize:
        return float(np.average(hits, weights=sample_weight))
    return float(hits.sum() if sample_weight is None else np.dot(hits, sample_weight))


# --- what scikit-learn takes the functions for ------------------------------------------------------------------------


class _Metrics(str):
    """The name of this module. scikit-learn's `check_scoring` refuses metrics, which it knows by their module."""

    __slots__ = ()

    def startswith(self, prefix: Any, *place: Any) -> bool:
        return prefix == "sklearn.metrics." or super().startswith(prefix, *place)

    def __reduce__(self) -> tuple[type[str], tuple[str]]:  # a pickle names the module by a plain str
        return str, ("".join(self),)


for _name in __all__:
    if _name.islower():
        globals()[_name].__module__ = _Metrics(__name__)
