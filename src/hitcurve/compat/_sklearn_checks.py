"""What scikit-learn's metrics check of their arguments, and the errors they raise."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from hitcurve._base.checks import readable


class _InvalidParameter(ValueError, TypeError):
    """An argument that is none of those allowed: both errors, as in scikit-learn."""


def need(allowed: bool, name: str, value: Any, rule: str) -> None:
    if not allowed:
        raise _InvalidParameter(f"The {name!r} parameter must be {rule}. Got {value!r} instead.")


def need_one_of(name: str, value: Any, options: tuple[str, ...], none: bool = False) -> None:
    allowed = (none and value is None) or (isinstance(value, str) and value in options)
    need(allowed, name, value, f"a str among {set(options)}" + (" or None" if none else ""))


def need_bool(name: str, value: Any) -> None:
    need(isinstance(value, (bool, np.bool_)), name, value, "an instance of 'bool'")


def need_cutoff(k: Any, none: bool = True) -> None:
    allowed = (none and k is None) or (isinstance(k, Integral) and int(k) >= 1)
    need(bool(allowed), "k", k, "an int in the range [1, inf)" + (" or None" if none else ""))


def as_array(values: Any, name: str) -> Any:
    if isinstance(values, np.matrix):
        raise TypeError("np.matrix is not supported. Please convert to a numpy array with np.asarray.")
    try:
        array = np.asarray(values)
    except Exception:
        other = readable(values)
        if other is values:
            raise
        array = np.asarray(other)
    need(array.ndim > 0, name, values, "an array-like")
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    return array


def need_finite(array: Any, name: str = "") -> Any:
    if array.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            finite = np.isfinite(array.sum()) or np.isfinite(array).all()
        if not finite:
            what = "NaN" if np.isnan(array).any() else f"infinity or a value too large for {array.dtype!r}"
            raise ValueError(f"Input {name} contains {what}.".replace("  ", " "))
    return array


def need_items(array: Any) -> Any:
    if not array.size:
        what = "feature" if array.shape[0] else "sample"
        raise ValueError(f"Found array with 0 {what}(s) (shape={array.shape}) while a minimum of 1 is required.")
    return array


def as_column(array: Any) -> Any:
    if array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1):
        return array.reshape(-1)
    raise ValueError(f"y should be a 1d array, got an array of shape {array.shape} instead.")


def as_numbers(values: Any, name: str, ndim: int | None = None) -> Any:
    """An array of finite numbers in one or two dimensions, with at least one item."""
    array = as_array(values, name)
    if array.dtype.kind in "USV":
        raise ValueError("dtype='numeric' is not compatible with arrays of bytes/strings.Convert your data to numeric "
                         "values explicitly instead.")
    if array.dtype.kind == "O":
        array = array.astype(np.float64)
    if array.ndim > 2:
        raise ValueError(f"Found array with dim {array.ndim}, while dim <= 2 is required.")
    if ndim is not None and array.ndim != ndim:
        raise ValueError(f"Expected {ndim}D array, got {array.ndim}D array instead:\narray={array}.")
    return need_finite(need_items(array))


def need_same_length(*arrays: Any) -> None:
    lengths = [len(array) for array in arrays if array is not None]
    if len(set(lengths)) > 1:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {lengths}")


def need_same_shape(labels: Any, score: Any) -> None:
    if labels.shape != score.shape:
        raise ValueError(f"y_true and y_score have different shape: {labels.shape} and {score.shape}")


def need_class_columns(fits: bool, score: Any) -> None:
    if not fits:
        raise ValueError("`y_score` needs to be of shape `(n_samples, n_classes)`, since `y_true` contains multiple "
                         f"classes. Got `y_score.shape={score.shape}`.")


def as_weights(sample_weight: Any) -> Any:
    if sample_weight is None:
        return None
    return need_finite(as_column(as_array(sample_weight, "sample_weight")).astype(np.float64), "sample_weight")


def up_to_two(labels: Any) -> Any:
    """The distinct labels in order if there are one or two, else None. Nothing is sorted but these."""
    flat = labels.reshape(-1)
    if flat.dtype.kind in "biuf":
        low, high = flat.min(), flat.max()
        near = flat.dtype.kind != "f" and int(high) - int(low) <= 1
        return np.unique([low, high]) if near or ((flat == low) | (flat == high)).all() else None
    rest = flat[flat != flat[0]]
    return np.unique([flat[0], *rest[:1]]) if (rest == rest[:1]).all() else None


def target_of(labels: Any) -> tuple[str, Any]:
    """What the labels are, in the words of scikit-learn's ``type_of_target``, and `up_to_two` of them."""
    if labels.ndim > 2 or (labels.ndim == 2 and not labels.size):
        return "unknown", None
    if not labels.size:
        return "binary", labels
    first = labels.flat[0]
    if isinstance(first, bytes):
        raise TypeError("Support for labels represented as bytes is not supported. Convert the labels to a string or "
                        "integer format.")
    if labels.dtype.kind == "O" and not isinstance(first, str):
        return "unknown", None
    wide = labels.ndim == 2 and labels.shape[1] > 1
    suffix = "-multioutput" if wide else ""
    if labels.dtype.kind == "f" and not (np.trunc(need_finite(labels, "y_true")) == labels).all():
        return "continuous" + suffix, None
    two = up_to_two(labels)
    if wide and two is not None and labels.dtype.kind in "biuf":
        return "multilabel-indicator", two
    return ("multiclass" + suffix if wide or two is None else "binary"), two


def refused(target: str) -> ValueError:
    return ValueError(f"{target} format is not supported")


def needs_pos_label(labels: Any, two: Any) -> bool:
    return labels.dtype.kind in "OUS" or set(two.tolist()) not in ({0, 1}, {-1, 1}, {0}, {-1}, {1})


def flags_of(labels: Any, pos_label: Any) -> Any:
    """Which of the labels of two classes are the positive one."""
    need(pos_label is None or isinstance(pos_label, (Real, str, np.bool_)), "pos_label", pos_label,
          "an instance of 'float', an instance of 'str', an instance of 'bool' or None")
    target, two = target_of(labels)
    if target != "binary" and (target != "multiclass" or pos_label is None):
        raise refused(target)
    if pos_label is None and needs_pos_label(labels, two):
        values = ", ".join(map(repr, two.tolist()))
        raise ValueError(f"y_true takes value in {{{values}}} and pos_label is not specified: either make y_true take "
                         "value in {0, 1} or {-1, 1} or pass pos_label explicitly.")
    return as_column(labels) == (1 if pos_label is None else pos_label)


def classes_of(y_true: Any, labels: Any, columns: int, text: str, text_of_labels: str) -> Any:
    """The class of each column of scores, from `labels` if given. The texts say that their number is wrong."""
    given = None if labels is None else as_column(as_array(labels, "labels"))
    classes = np.unique(y_true if given is None else given)
    if given is not None and classes.shape != given.shape:
        raise ValueError("Parameter 'labels' must be unique.")
    if given is not None and not np.array_equal(classes, given):
        raise ValueError("Parameter 'labels' must be ordered.")
    if classes.size != columns:
        raise ValueError((text if given is None else text_of_labels).format(classes.size, columns))
    if given is not None and not np.isin(y_true, classes).all():
        raise ValueError("'y_true' contains labels not in parameter 'labels'.")
    return classes
