"""The drop-in for scikit-learn's ranking metrics gives what it gives: numbers, shapes, types, warnings and errors."""

import copy
import inspect
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from examples import few
from hypothesis import example, given
from hypothesis import strategies as st
from signatures import same_signature

from hitcurve.compat import sklearn_metrics as ours

pytest.importorskip("sklearn", minversion="1.9")  # older releases have other keywords, warnings and texts of errors
theirs = pytest.importorskip("sklearn.metrics")
pytestmark = pytest.mark.thread_unsafe(reason="warnings and the configuration are the process's")
NAMES = [name for name in ours.__all__ if name.islower()]
AVERAGES = ["macro", "micro", "weighted", "samples", None]


def outcome(function, args, options):
    """What comes back or is raised, and what is warned."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = function(*args, **options)
        except (ValueError, TypeError, NotImplementedError, ZeroDivisionError) as error:
            value = error
    kinds = {(one.category, str(one.message)) for one in caught if not issubclass(one.category, RuntimeWarning)}
    return value, kinds


def agree(name, *args, **options):
    """The value of both, or the error of both."""
    here, warned = outcome(getattr(ours, name), args, options)
    there, expected = outcome(getattr(theirs, name), args, options)
    if isinstance(there, Exception):
        assert isinstance(here, ValueError if isinstance(there, ValueError) else type(there)), (here, there)
        return here, there
    if isinstance(here, Exception):
        raise here
    assert type(here) is type(there)
    columns = zip(here, there, strict=True) if isinstance(there, tuple) else [(here, there)]
    for a, b in columns:
        a, b = np.asarray(a), np.asarray(b)
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    assert warned == expected
    return here, there


@pytest.mark.parametrize("name", NAMES)
def test_signature(name):
    same_signature(getattr(ours, name), getattr(theirs, name))


@pytest.mark.parametrize("name", NAMES)
def test_docstring_is_whole(name):
    function = getattr(ours, name)
    text = inspect.getdoc(function)
    for title in ("Parameters", "Returns", "Examples"):
        assert f"\n{title}\n{'-' * len(title)}\n" in text
    described = {part for line in re.findall(r"^(\w[\w, ]*) : ", text, re.MULTILINE) for part in line.split(", ")}
    assert set(inspect.signature(function).parameters) <= described


def test_examples():
    import doctest

    found = doctest.testmod(ours)
    assert found.attempted >= len(NAMES)
    assert not found.failed


# --- one ranking ------------------------------------------------------------------------------------------------------

SCORES = st.sampled_from(["few", "floats", "float32", "ints", "bytes", "bools"])
WEIGHTS = st.sampled_from([None, "whole", "tenths", "floats", "negative"])


def scores(kind, rng, shape):
    return {
        "few": lambda: rng.integers(-2, 3, shape) / 3,
        "floats": lambda: rng.normal(size=shape),
        "float32": lambda: rng.normal(size=shape).astype(np.float32).round(1),
        "ints": lambda: rng.integers(-9, 9, shape),
        "bytes": lambda: rng.integers(0, 9, shape, dtype=np.uint8),
        "bools": lambda: rng.random(shape) < 0.5,
    }[kind]()


def weights(kind, rng, n):
    if kind is None:
        return None
    found = {
        "whole": lambda: rng.integers(0, 4, n),
        "tenths": lambda: rng.integers(0, 4, n) / 10,
        "floats": lambda: rng.exponential(size=n),
        "negative": lambda: rng.integers(-1, 9, n) / 7,
    }[kind]()
    found[rng.integers(n)] = 1
    return found


@few(25)
@given(st.integers(0, 10**6), st.integers(1, 40), st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), SCORES, WEIGHTS,
       st.sampled_from(["01", "bool", "float", "sign", "text", "object", "column"]), st.booleans())
def test_two_classes(seed, n, share, kind, weighing, label, drop):
    rng = np.random.default_rng(seed)
    flags = rng.random(n) < share
    y = {"01": flags.astype(int), "bool": flags, "float": flags.astype(float), "sign": np.where(flags, 1, -1),
         "text": np.where(flags, "yes", "no"), "object": np.where(flags, "yes", "no").astype(object),
         "column": flags.astype(int)[:, None]}[label]
    s, weight = scores(kind, rng, n), weights(weighing, rng, n)
    named = {"pos_label": "yes"} if label in ("text", "object") else {}
    for name in ("precision_recall_curve", "roc_curve", "det_curve"):
        agree(name, y, s, sample_weight=weight, drop_intermediate=drop, **named)
    agree("average_precision_score", y, s, sample_weight=weight, **named)
    if weighing != "negative":  # the curve is none then
        for max_fpr in (None, 1, 0.3):
            agree("roc_auc_score", y, s, sample_weight=weight, max_fpr=max_fpr)


@given(st.integers(0, 10**6), st.integers(2, 60), SCORES, WEIGHTS, st.booleans())
def test_bits_of_det_curve(seed, n, kind, weighing, drop):
    rng = np.random.default_rng(seed)
    y = rng.permutation([0, 1, *rng.integers(0, 2, n - 2)])
    s, weight = scores(kind, rng, n), weights(weighing, rng, n)
    options = {"sample_weight": weight, "drop_intermediate": drop}
    pairs = zip(outcome(ours.det_curve, (y, s), options)[0], outcome(theirs.det_curve, (y, s), options)[0], strict=True)
    for here, there in pairs:
        # Of tied scores 0.0 and -0.0 either may be the threshold: adding 0.0 makes them one.
        assert (here.dtype, (here + 0.0).tobytes()) == (there.dtype, (there + 0.0).tobytes())


def test_negative_weights_of_areas():
    y, s, weight = [0, 1, 0, 1], [4, 3, 2, 1], [2, 1, -1, 1]
    here, there = agree("roc_auc_score", y, s, sample_weight=weight)
    assert str(here) == str(there)
    assert "neither increasing nor decreasing" in str(here)


def test_same_points_of_large_data():
    """The last digit of sums of weights decides which points are midway: as there, also under ties."""
    rng = np.random.default_rng(3)
    y = rng.random(20_000) < 0.4
    for s in (rng.normal(size=y.size), rng.integers(0, 500, y.size)):
        for weight in (None, np.full(y.size, 0.1), rng.random(y.size)):
            for name in ("roc_curve", "precision_recall_curve"):
                here, there = agree(name, y, s, sample_weight=weight, drop_intermediate=True)
                assert all(np.array_equal(a, b) for a, b in zip(here, there, strict=True))


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=8), st.booleans(), st.booleans())
def test_auc(x, ordered, falling):
    x = sorted(x, reverse=falling) if ordered else x
    agree("auc", x, np.arange(len(x)) % 3)


# --- several classes and labels ---------------------------------------------------------------------------------------


@few(25)
@given(st.integers(0, 10**6), st.integers(1, 15), st.integers(2, 5), st.sampled_from([0.0, 0.2, 0.6, 1.0]), SCORES,
       WEIGHTS, st.sampled_from(AVERAGES), st.sampled_from(["01", "sign", "02"]))
@example(1, 12, 3, 0.2, "floats", "floats", "weighted", "01")
def test_columns_of_labels(seed, n, columns, share, kind, weighing, average, label):
    rng = np.random.default_rng(seed)
    flags = rng.random((n, columns)) < share
    y = {"01": flags.astype(int), "sign": np.where(flags, 1, -1), "02": np.where(flags, 2, 0)}[label]
    s, weight = scores(kind, rng, y.shape), weights(weighing if weighing != "negative" else None, rng, n)
    options = {"average": average, "sample_weight": weight}
    agree("average_precision_score", y, s, **options)
    agree("roc_auc_score", y, s, **options)
    agree("roc_auc_score", y, s, max_fpr=0.5, **options)
    agree("label_ranking_loss", y, s, sample_weight=weight)
    agree("coverage_error", y, s, sample_weight=weight)
    if s.dtype.kind not in "ub":
        agree("label_ranking_average_precision_score", y, s, sample_weight=weight)


@few(25)
@given(st.integers(0, 10**6), st.integers(3, 25), st.integers(3, 5), WEIGHTS, st.sampled_from(AVERAGES), st.booleans())
def test_several_classes(seed, n, columns, weighing, average, text):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, columns, n)
    y = np.array(list("abcde"))[y] if text else y
    classes = np.array(list("abcde")[:columns]) if text else np.arange(columns)
    s, weight = rng.dirichlet(np.ones(columns), n).round(1), weights(weighing, rng, n)
    agree("average_precision_score", y, s, average=average, sample_weight=weight)
    for k in (1, 2, columns):
        for normalize in (True, False):
            agree("top_k_accuracy_score", y, s, k=k, normalize=normalize, sample_weight=weight, labels=classes)
            agree("top_k_accuracy_score", y, s, k=k, normalize=normalize, sample_weight=weight)
    s[:, 0] += 1 - s.sum(axis=1)
    for multi_class in ("ovr", "ovo", "raise"):
        for labels in (None, classes):
            if weighing != "negative":
                agree("roc_auc_score", y, s, average=average, multi_class=multi_class, labels=labels,
                      sample_weight=weight if multi_class == "ovr" else None)


@given(st.integers(0, 10**6), st.integers(1, 9), SCORES, st.integers(1, 3))
def test_top_one_of_two(seed, n, kind, k):
    rng = np.random.default_rng(seed)
    agree("top_k_accuracy_score", rng.integers(0, 2, n), scores(kind, rng, n), k=k)


@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 7), SCORES, WEIGHTS, st.sampled_from([None, 1, 2, 9]),
       st.sampled_from(["grades", "floats", "negative", "none"]), st.booleans(), st.sampled_from([2, 10, np.e, 0.5]))
def test_gains(seed, n, columns, kind, weighing, k, level, ignore, base):
    rng = np.random.default_rng(seed)
    y = {"grades": rng.integers(0, 4, (n, columns)), "floats": rng.exponential(size=(n, columns)),
         "negative": rng.integers(-3, 3, (n, columns)), "none": np.zeros((n, columns), int)}[level]
    s = scores("ints" if kind in ("bytes", "bools") else kind, rng, y.shape)
    weight = weights(weighing if weighing != "negative" else None, rng, n)
    agree("ndcg_score", y, s, k=k, sample_weight=weight, ignore_ties=ignore)
    agree("dcg_score", y, s, k=k, sample_weight=weight, ignore_ties=ignore, log_base=base)


@given(st.integers(0, 10**6), st.integers(1, 12))
def test_one_label(seed, n):
    rng = np.random.default_rng(seed)
    agree("label_ranking_average_precision_score", rng.integers(0, 2, (n, 1)), rng.normal(size=(n, 1)))


def test_sparse_labels():
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(4)
    y, s = rng.integers(0, 2, (20, 5)), rng.random((20, 5))
    for name in ("label_ranking_average_precision_score", "label_ranking_loss"):
        agree(name, sparse.csr_array(y), s)
    for name in ("coverage_error", "ndcg_score"):
        agree(name, sparse.csr_array(y), s)  # refused by both


def test_lists_and_frames():
    pandas = pytest.importorskip("pandas")
    y, s = [0, 1, 1, 0, 1], [0.1, 0.4, 0.4, 0.3, 0.9]
    for name in ("average_precision_score", "roc_auc_score", "roc_curve", "precision_recall_curve"):
        agree(name, y, s)
        weight = pandas.Series([1, 2, 1, 2, 1])
        agree(name, pandas.Series(y, index=list("abcde")), pandas.Series(s), sample_weight=weight)
    text = pandas.Series(["no", "yes", "yes", "no", "yes"])
    agree("average_precision_score", text, s, pos_label="yes")
    agree("roc_auc_score", text, s)


@pytest.mark.parametrize("labels", [[1], [0, 0], ["a", "a", "a"]])
def test_one_class_and_two_columns_of_probabilities(labels):
    here, there = agree("roc_auc_score", labels, np.full((len(labels), 2), 0.5))
    assert np.isnan(here) and np.isnan(there)


# --- errors -----------------------------------------------------------------------------------------------------------

Y, S, W = [0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], [[1, 0], [0, 1]]
ERRORS = [
    ("auc", ([1], [1]), {}),
    ("auc", ([0, 2, 1], [1, 1, 1]), {}),
    ("auc", ([0, 1], [1, 1, 1]), {}),
    ("average_precision_score", (Y, S), {"pos_label": 2}),
    ("average_precision_score", (["a", "b"], [1, 2]), {}),
    ("average_precision_score", (W, W), {"pos_label": 0}),
    ("average_precision_score", ([0, 1, 2], np.eye(3)), {"pos_label": 0}),
    ("average_precision_score", ([0, 1, 2], np.ones(3)), {}),
    ("average_precision_score", ([0.5, 1.5], [1, 2]), {}),
    ("average_precision_score", (Y, [0.1, np.nan, 0.3, 0.4]), {}),
    ("average_precision_score", (Y, [0.1, np.inf, 0.3, 0.4]), {}),
    ("average_precision_score", ([0, 1, np.nan, 1], S), {}),
    ("average_precision_score", (Y, S[:3]), {}),
    ("average_precision_score", (np.array(Y, complex), S), {}),
    ("roc_curve", (Y, np.array(S, complex)), {}),
    ("roc_auc_score", (np.array(Y, complex), S), {}),
    ("ndcg_score", (np.array(W, complex), W), {}),
    ("label_ranking_loss", (W, np.array(W, complex)), {}),
    ("average_precision_score", (Y, S), {"sample_weight": [1, 1]}),
    ("average_precision_score", (Y, S), {"sample_weight": [0, 0, 0, 0]}),
    ("average_precision_score", (Y, S), {"sample_weight": [1, 1, np.nan, 1]}),
    ("precision_recall_curve", ([0, 1, 2], [1, 2, 3]), {}),
    ("precision_recall_curve", ([1, 2, 1], [1, 2, 3]), {}),
    ("precision_recall_curve", (["a", "b", "a"], [1, 2, 3]), {}),
    ("precision_recall_curve", ([b"a", b"b", b"a"], [1, 2, 3]), {}),
    ("precision_recall_curve", (Y, [S]), {}),
    ("roc_curve", ([0.5, 1.5, 1], [1, 2, 3]), {}),
    ("roc_curve", (W, W), {}),
    ("roc_auc_score", (Y, np.ones((4, 2))), {}),
    ("roc_auc_score", ([0, 1, 2], np.eye(3)), {}),
    ("roc_auc_score", ([0, 1, 2], np.eye(3)), {"multi_class": "ovr", "max_fpr": 0.5}),
    ("roc_auc_score", ([0, 1, 2], np.ones((3, 3))), {"multi_class": "ovr"}),
    ("roc_auc_score", ([0, 1, 2], [1, 2, 3]), {"multi_class": "ovr"}),
    ("roc_auc_score", ([0, 1, 2], np.eye(3)), {"multi_class": "ovo", "average": None}),
    ("roc_auc_score", ([0, 1, 2], np.eye(3)), {"multi_class": "ovo", "average": "micro"}),
    ("roc_auc_score", ([0, 1, 2], np.eye(3)), {"multi_class": "ovo", "sample_weight": [1, 1, 1]}),
    ("roc_auc_score", ([0, 1, 3], np.eye(3)), {"multi_class": "ovr", "labels": [0, 1]}),
    ("roc_auc_score", ([0, 1, 2, 3], np.eye(4)[:, :3] + [[0], [0], [0], [1 / 3]]), {"multi_class": "ovr"}),
    ("roc_auc_score", ([[0, 1], [1, 2]], W), {}),
    ("label_ranking_average_precision_score", (Y, S), {}),
    ("label_ranking_average_precision_score", (W, [[1, 2]]), {}),
    ("label_ranking_loss", ([[0, 1], [1, 2]], W), {}),
    ("coverage_error", (Y, S), {}),
    ("det_curve", ([1, 1, 1, 1], S), {}),
    ("det_curve", ([0, 1, 2, 1], S), {}),
    ("det_curve", ([0, 1, 2, 1], S), {"pos_label": 1}),
    ("det_curve", (["a", "b", "a", "b"], S), {}),
    ("det_curve", (Y, S), {"sample_weight": [0, 0, 0, 0]}),
    ("coverage_error", (W, np.ones((2, 3))), {}),
    ("ndcg_score", (W, [[1, np.nan], [1, 2]]), {}),
    ("ndcg_score", ([[-1, 2]], [[1, 2]]), {}),
    ("ndcg_score", ([[1], [2]], [[1], [2]]), {}),
    ("ndcg_score", (Y, S), {}),
    ("dcg_score", (Y, S), {}),
    ("top_k_accuracy_score", ([0.5, 1.5], [1, 2]), {}),
    ("top_k_accuracy_score", ([0, 1, 2], [1, 2, 3]), {}),
    ("top_k_accuracy_score", (Y, np.ones((4, 3))), {}),
    ("top_k_accuracy_score", ([0, 1, 2], np.ones((3, 4))), {}),
    *[("top_k_accuracy_score", ([0, 1, 2], np.ones((3, 3))), {"labels": labels})
      for labels in ([0, 1, 1], [1, 0, 2], [0, 1], [0, 1, 3])],
]


@pytest.mark.parametrize("case", range(len(ERRORS)))
def test_errors(case):
    name, args, options = ERRORS[case]
    here, there = agree(name, *args, **options)
    assert isinstance(there, Exception)
    assert str(there).rstrip(".").startswith(str(here).rstrip(".")), (str(here), str(there))


@pytest.mark.parametrize(
    ("name", "args", "options"),
    [
        ("average_precision_score", (Y, S), {"average": "mean"}),
        ("average_precision_score", (Y, S), {"pos_label": [1]}),
        ("average_precision_score", (1, S), {}),
        ("precision_recall_curve", (Y, S), {"drop_intermediate": "no"}),
        ("det_curve", (Y, S), {"drop_intermediate": 1}),
        ("roc_auc_score", (Y, S), {"max_fpr": 0}),
        ("roc_auc_score", (Y, S), {"max_fpr": 1.5}),
        ("roc_auc_score", (Y, S), {"multi_class": "both"}),
        ("ndcg_score", (W, W), {"k": 0}),
        ("ndcg_score", (W, W), {"k": 1.5}),
        ("dcg_score", (W, W), {"log_base": 0}),
        ("dcg_score", (W, W), {"ignore_ties": None}),
        ("top_k_accuracy_score", (Y, S), {"k": None}),
    ],
)
def test_arguments_that_are_not_allowed(name, args, options):
    """Both errors at once, as there, and a text that names the argument and the value."""
    here, there = agree(name, *args, **options)
    assert isinstance(here, ValueError)
    assert isinstance(here, TypeError)
    argument, value = next(iter(options.items()), ("y_true", 1))
    for error in (here, there):
        assert f"The '{argument}' parameter" in str(error)
        assert f"Got {value!r} instead." in str(error)
    if isinstance(here, TypeError) and isinstance(there, TypeError):
        assert f"parameter of {name} must be" in str(there)
        assert f"'{argument}' parameter must be" in str(here)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_matrices():
    for module in (ours, theirs):
        with pytest.raises(TypeError, match=r"np\.matrix is not supported"):
            module.roc_auc_score(np.matrix([[0], [1]]), [1, 2])


def test_text_that_holds_scores():
    for module in (ours, theirs):
        with pytest.raises(ValueError, match="dtype='numeric'"):
            module.roc_auc_score(Y, list("1234"))


# --- without scikit-learn, and with it -------------------------------------------------------------------------------


def test_without_sklearn():
    """numpy alone, and a warning class of our own."""
    root = Path(ours.__file__).parents[2]
    code = f"""
import sys, warnings
sys.path.insert(0, {str(root)!r})
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("sklearn", "scipy", "pandas"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
from hitcurve.compat import sklearn_metrics as m
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    m.roc_auc_score([1, 1], [1, 2])
print(caught[0].category is m.UndefinedMetricWarning, issubclass(m.UndefinedMetricWarning, UserWarning))
print(m.roc_auc_score([0, 1], [1, 2]), m.ndcg_score([[0, 1]], [[1, 2]]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "True True\n1.0 1.0\n"


@pytest.mark.parametrize(
    ("name", "options", "builtin"),
    [
        ("average_precision_score", {}, "average_precision"),
        ("roc_auc_score", {}, "roc_auc"),
        ("average_precision_score", {"pos_label": "b"}, None),
        ("roc_auc_score", {"max_fpr": 0.2}, None),
        ("roc_auc_score", {"multi_class": "ovr", "average": "weighted"}, "roc_auc_ovr_weighted"),
        ("top_k_accuracy_score", {"k": 2}, "top_k_accuracy"),
    ],
)
def test_as_a_scorer(name, options, builtin):
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, cross_val_score

    rng = np.random.default_rng(0)
    classes = 3 if builtin in ("roc_auc_ovr_weighted", "top_k_accuracy") else 2
    y = rng.integers(0, classes, 240)
    x = rng.normal(size=(y.size, 3)) + y[:, None]
    y = np.array(["a", "b"])[y] if "pos_label" in options else y
    response = "predict_proba" if classes == 3 else ("decision_function", "predict_proba")
    mine, other = (getattr(module, name) for module in (ours, theirs))
    scorers = [theirs.make_scorer(one, response_method=response, **options) for one in (mine, other)]
    scorers[1] = builtin or scorers[1]
    model = LogisticRegression()
    np.testing.assert_allclose(*(cross_val_score(model, x, y, scoring=one, cv=2) for one in scorers), rtol=1e-12)
    both = dict(zip(("mine", "other"), scorers, strict=True))
    search = GridSearchCV(model, {"C": [0.01, 1.0]}, scoring=both, refit="mine", cv=3).fit(x, y)
    results, ranks = ([search.cv_results_[f"{what}_test_{one}"] for one in both] for what in ("mean", "rank"))
    np.testing.assert_allclose(*results, rtol=1e-12)
    np.testing.assert_array_equal(*ranks)
    assert 0.5 < search.best_score_ <= 1


# --- differences: a line each in docs/compat-sklearn.md ---------------------------------------------------------------


def test_columns_beyond_those_of_the_scores():
    y, s = [[0, 1, 1], [1, 0, 0]], [[1.0, 5.0], [4.0, 3.0]]
    assert theirs.average_precision_score(y, s) == 1.0  # the third column is not read
    with pytest.raises(ValueError, match=r"different shape: \(2, 3\) and \(2, 2\)"):
        ours.average_precision_score(y, s)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint64])
def test_unsigned_scores(dtype):
    """They are negated there, where 0 stays 0 and becomes the best."""
    y, s = np.array([[0, 1, 1], [1, 1, 0]]), np.array([[0, 1, 2], [7, 9, 0]])
    for name in ("label_ranking_average_precision_score", "ndcg_score", "dcg_score"):
        right = getattr(theirs, name)(y, s)
        assert getattr(ours, name)(y, s.astype(dtype)) == pytest.approx(right, rel=1e-12)
        assert getattr(theirs, name)(y, s.astype(dtype)) < right


def test_scores_that_are_flags():
    y, s = np.array([[0, 1, 1], [1, 1, 0]]), np.array([[False, True, False], [True, True, False]])
    for name in ("label_ranking_average_precision_score", "ndcg_score", "dcg_score"):
        with pytest.raises(TypeError, match="boolean negative"):
            getattr(theirs, name)(y, s)
        agree(name, y, s.astype(int))
        assert getattr(ours, name)(y, s) == getattr(ours, name)(y, s.astype(int))


def test_zeros_stored_in_a_sparse_matrix():
    sparse = pytest.importorskip("scipy.sparse")
    y = sparse.csr_array(np.array([[1, 0, 1], [0, 1, 0]]))
    y.data[1] = 0
    s = np.array([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]])
    for name in ("label_ranking_average_precision_score", "label_ranking_loss"):
        assert getattr(ours, name)(y, s) == getattr(ours, name)(y.toarray(), s) != getattr(theirs, name)(y, s)


def test_one_warning_for_all_columns():
    counts = []
    for module in (ours, theirs):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            module.roc_auc_score(np.zeros((4, 3), int), np.ones((4, 3)), average=None)
        counts.append(len(caught))
    assert counts == [1, 3]


def test_arrays_of_other_libraries():
    """They become numpy's."""

    class Foreign:
        def __init__(self, values):
            self.values = values

        def __array__(self, dtype=None, copy=None):
            return np.array(self.values, dtype)

    for name in ("roc_curve", "precision_recall_curve"):
        found = getattr(ours, name)(Foreign(Y), Foreign(S))
        assert all(type(column) is np.ndarray for column in found)
        assert all(np.array_equal(a, b) for a, b in zip(found, getattr(theirs, name)(Y, S), strict=True))


def test_configuration_is_not_read():
    import sklearn

    with sklearn.config_context(assume_finite=True, skip_parameter_validation=True):
        theirs.precision_recall_curve(Y, [1, 2, np.inf, 3], drop_intermediate="no")
        with pytest.raises(ValueError, match="contains infinity"):
            ours.precision_recall_curve(Y, [1, 2, np.inf, 3])
        with pytest.raises(ValueError, match="drop_intermediate"):
            ours.precision_recall_curve(Y, S, drop_intermediate="no")


def test_no_items():
    with pytest.raises(IndexError):
        theirs.average_precision_score([], [])
    with pytest.raises(ValueError, match="0 sample"):
        ours.average_precision_score([], [])


@pytest.mark.parametrize("name", NAMES)
def test_a_metric_is_no_scorer(name):
    """As of its own metrics, scikit-learn says so before a model is fitted; nothing else takes them for its own."""
    from sklearn.dummy import DummyClassifier
    from sklearn.metrics import check_scoring, make_scorer

    metric = getattr(ours, name)
    for one in (metric, getattr(theirs, name)):
        with pytest.raises(ValueError, match="looks like it is a metric function rather than a scorer"):
            check_scoring(DummyClassifier(), scoring=one)
    assert callable(check_scoring(DummyClassifier(), scoring=make_scorer(metric)))
    assert metric.__module__ == "hitcurve.compat.sklearn_metrics"
    assert metric.__module__.startswith("hitcurve.") and not metric.__module__.startswith("sklearn.metrics._scorer")
    assert inspect.getmodule(metric) is ours
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(metric, protocol)) is metric
    assert copy.deepcopy(metric) is metric
