"""The area under the ROC curve of several classes, from the rankings of the items by the score of each class."""
from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from hitcurve._base.checks import as_column, as_real, check_choice, no_nan, one_dimension
from hitcurve._base.words import many
from hitcurve.curves.hit import HitCurves

_TIES = ("expected", "best", "worst")


def multiclass_roc_auc(y_true: Any, y_score: Any, *, labels: Any = None, method: str = "ovo",
                       average: str | None = "macro", ties: str = "expected", lower_is_better: bool = False,
                       workers: int = 1) -> Any:
    """Area under the ROC curve of several classes (Hand & Till 2001).

    A(i, j) is the probability that an item of class i has a higher score of class i than an item of class j has. Hand
    and Till's M is the mean of (A(i, j) + A(j, i)) / 2 over the pairs of classes.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        The class of each item: numbers or strings.
    y_score : array_like of shape (n, c)
        The scores of each item, with a column for each class. The scores of an item need not sum to 1.
    labels : array_like of shape (c,), optional
        The class of each column. Default: the classes that occur in `y_true`, in increasing order.
    method : {"ovo", "ovr"}
        ``"ovo"``: each class against each other class (Hand & Till). ``"ovr"``: each class against all other items
        (Provost & Domingos 2000).
    average : {"macro", "weighted", "micro"} or None
        ``"macro"``: the plain mean over pairs or classes. ``"weighted"``: a pair or a class counts by its number of
        items. ``"micro"``, only with ``"ovr"``: one ranking of all n c scores. None: no mean.
    ties : {"expected", "best", "worst"}
        A tied pair counts 1/2, 1 or 0.
    lower_is_better : bool
        If True, a low score speaks for a class.
    workers : int
        The number of threads, as for ``HitCurve``.

    Returns
    -------
    float or ndarray
        With ``average=None`` an array. For ``"ovo"`` it has A(i, j) in row i and column j, and NaN on the diagonal. For
        ``"ovr"`` it has a value for each class. The values are those of scikit-learn's ``roc_auc_score(multi_class=)``.

    Raises
    ------
    ValueError, TypeError
        If the shapes do not fit, if a score or a label is NaN, if there are fewer than two classes, if a class has
        no item, or if an item has a class that is not in `labels`. The message names the argument, the place and the
        value.

    References
    ----------
    Hand & Till (2001), "A simple generalisation of the area under the ROC curve for multiple class classification
    problems", Machine Learning 45:171. Provost & Domingos (2000), "Well-trained PETs", CeDER working paper IS-00-04.

    Examples
    --------
    >>> import hitcurve as hc
    >>> y_score = [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.2, 0.5, 0.3], [0.5, 0.1, 0.4], [0.1, 0.1, 0.8]]
    >>> round(hc.multiclass_roc_auc(["a", "a", "b", "c", "c"], y_score), 4)
    0.9583
    >>> hc.multiclass_roc_auc(["a", "a", "b", "c", "c"], y_score, average=None).tolist()
    [[nan, 1.0, 0.75], [1.0, nan, 1.0], [1.0, 1.0, nan]]
    """
    check_choice(method, "method", ("ovo", "ovr"))
    check_choice(average, "average", ("macro", "weighted", "micro", None))
    if (method, average) == ("ovo", "micro"):
        raise ValueError("average='micro' needs method='ovr': pairs of classes have no ranking in common")
    read: Any = {"ties": check_choice(ties, "ties", _TIES)}
    of, score = _classes(y_true, y_score, labels)
    sizes = np.bincount(of, minlength=score.shape[1])
    how: Any = {"lower_is_better": lower_is_better, "workers": workers}
    if method == "ovo":
        values = _of_pairs(of, score, sizes, read, how)
        if average is None:
            return values
        pairs = list(combinations(range(sizes.size), 2))
        both = [(values[a, b] + values[b, a]) / 2 for a, b in pairs]
        shares = [(sizes[a] + sizes[b]) / of.size for a, b in pairs] if average == "weighted" else None
        return float(np.average(both, weights=shares))
    flags = (of[:, None] == np.arange(sizes.size)).T
    if average == "micro":
        return float(HitCurves(flags.reshape(1, -1), score.T.reshape(1, -1), **how).roc_auc(**read)[0])
    values = HitCurves(flags, score.T, **how).roc_auc(**read)
    return values if average is None else float(np.average(values, weights=sizes if average == "weighted" else None))


def _classes(y_true: Any, y_score: Any, labels: Any) -> tuple[Any, Any]:
    """The column of each item's class, and the checked scores."""
    own, score = _labels(y_true, "y_true"), as_real(y_score, "y_score")
    if score.ndim != 2 or score.shape[0] != own.shape[0]:
        raise ValueError(f"y_score has shape {score.shape}, y_true has shape {own.shape}: y_score must have a row for "
                         "each item and a column for each class")
    no_nan(score, "y_score", ": a score of a class must be a number")
    try:
        classes, of = np.unique(own, return_inverse=True)
    except TypeError:
        raise TypeError("y_true holds labels of types that cannot be ordered together") from None
    if labels is not None:
        classes, of = _in_order(own, classes, of, _labels(labels, "labels"))
    if classes.size != score.shape[1]:
        hint = "; labels= names the class of each column" if labels is None else ""
        source = "y_true" if labels is None else "labels"
        raise ValueError(f"y_score has {many(score.shape[1], 'columns')}, but {source} has "
                         f"{many(classes.size, 'different labels')}{hint}")
    if classes.size < 2:
        raise ValueError(f"y_score has {many(classes.size, 'columns')}: ROC AUC of classes needs two or more classes")
    for column in np.flatnonzero(np.bincount(of, minlength=classes.size) == 0)[:1].tolist():
        raise ValueError(f"labels[{column}] is {classes.tolist()[column]!r}, but y_true has no item of this class: "
                         "leave out the class and its column of y_score")
    return of, score


def _labels(values: Any, name: str) -> Any:
    column = one_dimension(as_column(values, name), name)
    no_nan(column, name, ": a label must not be missing")
    return column.astype(object) if column.dtype.kind in "US" else column  # so that an error shows a plain string


def _in_order(own: Any, found: Any, of: Any, classes: Any) -> tuple[Any, Any]:
    """The classes in the order of the caller's labels, and the place of each item's class in this order."""
    place: dict[Any, int] = {}
    for at, one in enumerate(classes.tolist()):
        if place.setdefault(one, at) != at:
            raise ValueError(f"labels[{at}] is {one!r}, as labels[{place[one]}] is: must be distinct")
    columns = np.array([place.get(one, -1) for one in found.tolist()], np.int64)
    for item in np.flatnonzero(columns[of] < 0)[:1].tolist():
        raise ValueError(f"y_true[{item}] is {own.tolist()[item]!r}: this class is not in labels")
    return classes, columns[of]


def _of_pairs(of: Any, score: Any, sizes: Any, read: Any, how: Any) -> Any:
    """A(i, j) of every pair of classes: for each class, its rankings with the items of each other class."""
    number = sizes.size
    values = np.full((number, number), np.nan)
    rows = np.split(np.argsort(of, kind="stable"), np.cumsum(sizes)[:-1])
    for a in range(number):
        others = [b for b in range(number) if b != a]
        items = np.concatenate([np.concatenate([rows[a], rows[b]]) for b in others])
        offsets = np.cumsum([0, *(sizes[a] + sizes[b] for b in others)])
        values[a, others] = HitCurves(of[items] == a, score[items, a], offsets=offsets, **how).roc_auc(**read)
    return values
