"""Every number of every small ranking against the slow twin: all labels, all tie patterns, up to six items."""

from functools import cache
from itertools import pairwise, product
from math import nan

import numpy as np
import pytest
import reference as ref
import register
from register import HITS

import hitcurve as hc


def sizes(last, most):
    """Numbers of items up to `most`; those above `last` are slow."""
    return [pytest.param(n, marks=pytest.mark.slow if n > last else ()) for n in range(most + 1)]


SIZES_AND_MISSING = [pytest.param(n, missing, marks=pytest.mark.slow if n + missing > 6 or n == 6 else ())
                     for n in range(7) for missing in (0, 2)]  # fmt: skip
PARTS = {3: 2, 4: 8, 5: 24}  # of the calls, for rankings of so many items in a run without the slow tests
KS = (1, 2, 3, 5, 8)
FRACTIONS = (0.07, 0.5)
REFUSED = object()

# Exact up to rounding. Where the definition itself subtracts equal numbers, the error is that of the larger ones.
RTOL = 1e-14
ATOL = {row.method: row.rounded for row in HITS}


def calls():
    """(method, positional, keywords), the same for a curve and for the twin; a tuple among them is an array of k's."""
    for row in HITS:
        for ties in ref.TIES if row.readings else [None]:
            for args, keywords in register.calls(row, array=True, k=KS, fraction=FRACTIONS, fpr=(0.3, 0.5)):
                yield row.method, args, keywords | ({"ties": ties} if ties else {})
    for ties in ref.TIES:
        yield "average_precision", (2,), {"ties": ties, "interpolation": "trapezoid"}


CALLS = list(calls())


def compositions(n):
    """Every way to cut n items into groups."""
    if n == 0:
        return [()]
    return [(first, *rest) for first in range(1, n + 1) for rest in compositions(n - first)]


def patterns(n):
    """(y_true, y_score, items, relevant) for every label pattern and every tie pattern of n items."""
    for items in compositions(n):
        y_score = [len(items) - g for g, size in enumerate(items) for _ in range(size)]
        for y_true in product((0, 1), repeat=n):
            relevant = [0] * len(items)
            for y, s in zip(y_true, y_score, strict=True):
                relevant[len(items) - s] += y
            relevant = tuple(relevant)
            yield y_true, y_score, items, relevant


def spread(args, keywords):
    """The calls with one number each that a call with an array stands for."""
    for i, value in enumerate(args):
        if isinstance(value, tuple):
            return [((*args[:i], v, *args[i + 1 :]), keywords) for v in value]
    for key, value in keywords.items():
        if isinstance(value, tuple):
            return [(args, {**keywords, key: v}) for v in value]
    return [(args, keywords)]


def twin(rank, name, args, keywords):
    """The value as an array (of one element for a scalar), or REFUSED."""
    try:
        return np.array([float(getattr(ref, name)(rank, *a, **kw)) for a, kw in spread(args, keywords)])
    except ValueError:
        return REFUSED


@cache
def expected_values(items, relevant, num_relevant, part, parts):
    rank = ref.from_groups(items, relevant, num_relevant)
    return [twin(rank, *call) for call in CALLS[part::parts]]


def ours(curve, name, args, keywords):
    try:
        return np.atleast_1d(getattr(curve, name)(*args, **keywords))
    except ValueError:
        return REFUSED


def all_close(calls, got, expected):
    """Whether all numbers of a curve are those of the twin; one comparison for all, since there are many curves."""
    pairs = [(a, b, ATOL[name]) for (name, _, _), a, b in zip(calls, got, expected, strict=True)]
    if any((a is REFUSED) != (b is REFUSED) or np.shape(a) != np.shape(b) for a, b, _ in pairs):
        return False
    a = np.concatenate([a for a, _, _ in pairs if a is not REFUSED])
    b = np.concatenate([b for _, b, _ in pairs if b is not REFUSED])
    atol = np.concatenate([np.full(len(b), atol) for _, b, atol in pairs if b is not REFUSED])
    return np.allclose(a, b, rtol=RTOL, atol=atol, equal_nan=True)


def differences(calls, got, expected):
    return [
        (*call, "REFUSED" if a is REFUSED else a, "REFUSED" if b is REFUSED else b)
        for call, a, b in zip(calls, got, expected, strict=True)
        if ((a is REFUSED or b is REFUSED) and a is not b)
        or (b is not REFUSED and not np.allclose(a, b, rtol=RTOL, atol=ATOL[call[0]], equal_nan=True))
    ]


@pytest.mark.parametrize(("n", "missing"), SIZES_AND_MISSING)
def test_every_number(n, missing, request):
    """Of three items or more each table has a part of the calls, and each call a part of the tables.

    The rankings of a table give the same curve, whatever the order of tied items.
    """
    parts = 1 if request.config.getoption("--all") else PARTS.get(n, 1)
    tables = {}
    for y_true, y_score, items, relevant in patterns(n):
        R = sum(relevant) + missing
        curve = hc.HitCurve(np.array(y_true, np.int8), np.array(y_score, np.float64), num_relevant=R)
        if (items, relevant) in tables:
            assert curve == tables[items, relevant], (y_true, y_score)
            continue
        part = len(tables) % parts
        tables[items, relevant] = curve
        calls = CALLS[part::parts]
        got, expected = [ours(curve, *call) for call in calls], expected_values(items, relevant, R, part, parts)
        assert all_close(calls, got, expected), (y_true, y_score, R, differences(calls, got, expected))


@pytest.mark.parametrize(("n", "missing"), SIZES_AND_MISSING)
def test_every_number_of_many_queries(n, missing, request):
    """All rankings of one size as the rows of one input: the numbers of each alone, to the last bit."""
    parts = 1 if request.config.getoption("--all") else PARTS.get(n, 1)
    rows = list(patterns(n))
    y_true = np.array([row[0] for row in rows], np.int8).reshape(len(rows), n)
    y_score = np.array([row[1] for row in rows], np.float64).reshape(len(rows), n)
    R = y_true.sum(axis=1) + missing
    curves = hc.HitCurves(y_true, y_score, num_relevant=R)
    single = [hc.HitCurve(y, s, num_relevant=r) for y, s, r in zip(y_true, y_score, R, strict=True)]
    assert list(curves) == single
    for name, args, keywords in CALLS[missing % parts :: parts]:
        alone = [ours(curve, name, args, keywords) for curve in single]
        together = ours(curves, name, args, keywords)
        if together is REFUSED:
            assert all(value is REFUSED for value in alone), (name, args, keywords)
        else:
            assert np.array_equal(together.reshape(len(rows), -1), np.array(alone), equal_nan=True), (name, keywords)


@pytest.mark.parametrize("n", sizes(2, 4))
def test_one_cutoff_is_an_element_of_many(n):
    """A number where CALLS has an array: a float, and the very element."""
    for y_true, y_score, _, _ in patterns(n):
        curve = hc.HitCurve(y_true, y_score)
        for name, args, keywords in CALLS:
            values = ours(curve, name, args, keywords)
            if values is REFUSED:
                continue
            for value, (a, kw) in zip(values, spread(args, keywords), strict=True):
                one = getattr(curve, name)(*a, **kw)
                assert type(one) is float
                assert np.array_equal(one, value, equal_nan=True), (name, a, kw)


@pytest.mark.parametrize("n", sizes(4, 6))
def test_tables_and_reports(n):
    for y_true, y_score, items, relevant in patterns(n):
        curve = hc.HitCurve(y_true, y_score)
        rank = ref.from_groups(items, relevant)
        rows = list(zip(curve.score, curve.above, curve.tied, curve.hits, strict=True))
        assert rows == ref.table(rank)
        assert (curve.num_items, len(curve)) == (n, len(rows))
        assert curve.num_relevant == curve.num_hits == sum(y_true)
        assert np.array_equal(curve.prevalence, sum(y_true) / n if n else nan, equal_nan=True)
        for k in (None, 1, 3):
            report, expected = curve.tie_report(k), ref.tie_report(rank, k)
            for field in expected._fields:
                got, value = float(getattr(report, field)), float(getattr(expected, field))
                assert np.isclose(got, value, rtol=RTOL, atol=0, equal_nan=True), (y_true, y_score, k, field)


@pytest.mark.parametrize("missing", [0, 2])
@pytest.mark.parametrize("n", sizes(3, 4))
def test_interpolated_precision_is_what_recall_levels_average(n, missing):
    levels = {"11-point": [i / 10 for i in range(11)], "101-point": [i / 100 for i in range(101)]}
    for y_true, y_score, _, _ in patterns(n):
        curve = hc.HitCurve(y_true, y_score, num_relevant=sum(y_true) + missing)
        for ties in ref.TIES:
            for interpolation, recall in levels.items():
                value = curve.average_precision(interpolation=interpolation, ties=ties)
                mean = curve.interpolated_precision(recall, ties=ties).mean()
                assert np.isclose(mean, value, rtol=1e-15 * len(recall), atol=0, equal_nan=True), (y_true, y_score)


def points_of(x, y):
    return list(zip(x.tolist(), y.tolist(), strict=True))


@pytest.mark.parametrize("ties", ref.TIES)
@pytest.mark.parametrize("n", sizes(4, 6))
def test_curves(n, ties):
    """The corners, whatever points lie on the straight lines between them, and thresholds that select each point."""
    for y_true, y_score, items, relevant in patterns(n):
        curve, rank, R = hc.HitCurve(y_true, y_score), ref.from_groups(items, relevant), sum(y_true)
        points = points_of(*curve.hit_curve(ties=ties))
        assert points[0] == (0, 0) and points[-1] == (n, R)
        assert len(points) == 1 or all(a != b for a, b in pairwise(points))
        assert ref.corners(points) == ref.hit_curve(rank, ties=ties)

        fpr, tpr, roc_threshold = curve.roc_curve(ties=ties)
        assert np.array_equal(fpr, [(x - h) / (n - R) if n > R else nan for x, h in points], equal_nan=True)
        assert np.array_equal(tpr, [h / R if R else nan for _, h in points], equal_nan=True)

        precision, recall, threshold = curve.precision_recall_curve(ties=ties)
        assert precision.tolist() == [h / x for x, h in points[:0:-1]] + [1]
        assert np.array_equal(recall, [h / R if R else nan for _, h in points[:0:-1]] + [0], equal_nan=True)
        expected = [(float(p), float(r)) for p, r in ref.precision_recall_curve(rank, ties=ties) if p]
        assert R == 0 or set(expected) <= set(points_of(precision, recall))

        assert roc_threshold[0] == np.inf and len(roc_threshold) == len(points)
        assert np.array_equal(roc_threshold[:0:-1], threshold) and (threshold[1:] >= threshold[:-1]).all()
        if ties == "threshold":
            for (x, h), t in zip(points, roc_threshold, strict=True):
                selected = hc.at_threshold(y_true, y_score, t)
                assert (selected.tp + selected.fp, selected.tp) == (x, h)


@pytest.mark.parametrize("n", range(1, 5))
def test_precision_recall_curve_is_scikit_learn(n):
    metrics = pytest.importorskip("sklearn.metrics")
    for y_true, y_score, _, _ in patterns(n):
        if any(y_true):
            precision, recall, _ = hc.HitCurve(y_true, y_score).precision_recall_curve(ties="threshold")
            p, r, _ = metrics.precision_recall_curve(y_true, y_score, drop_intermediate=True)
            # below the first hit it may have two points of no recall
            assert [a for a in points_of(precision, recall) if a != (0, 0)] == [
                a for a in points_of(p, r) if a != (0, 0)
            ]


@pytest.mark.parametrize("n", range(2, 5))
def test_partial_roc_auc_is_scikit_learn(n, request):
    metrics = pytest.importorskip("sklearn.metrics")
    rates, one_each = (0.05, 0.3, 0.5, 0.9, 1.0), n > 2 and not request.config.getoption("--all")
    for i, (y_true, y_score, _, _) in enumerate(patterns(n)):
        if 0 < sum(y_true) < n:
            for max_fpr in rates[i % len(rates) :][:1] if one_each else rates:
                expected = metrics.roc_auc_score(y_true, y_score, max_fpr=max_fpr)
                curve = hc.HitCurve(y_true, y_score)
                assert np.isclose(curve.roc_auc(max_fpr=max_fpr, ties="threshold"), expected, rtol=1e-14, atol=0)


@pytest.mark.parametrize("n", sizes(4, 5)[1:])
def test_trapezoid_from_1_is_scikit_learn(n):
    metrics = pytest.importorskip("sklearn.metrics")
    for y_true, y_score, _, _ in patterns(n):
        if any(y_true):
            precision, recall, _ = metrics.precision_recall_curve(y_true, y_score)
            got = hc.average_precision(y_true, y_score, **hc.PRESETS["scikit-learn auc"])
            assert np.isclose(got, metrics.auc(recall, precision), rtol=1e-14, atol=1e-16), (y_true, y_score)


@pytest.mark.parametrize("lower_is_better", [False, True])
@pytest.mark.parametrize("n", sizes(3, 4))
def test_at_threshold(n, lower_is_better, request):
    thresholds = [-1, 0, *range(1, n + 1), 1.5, n + 1, np.inf, -np.inf]
    betas, every = (0.5, 1.0, 2.0), request.config.getoption("--all")
    for i, (y_true, y_score, _, _) in enumerate(patterns(n)):
        for beta in betas if every else betas[i % 3 :][:1]:
            options = {"beta": beta, "lower_is_better": lower_is_better}
            assert_counts(y_true, y_score, thresholds, options)


def assert_counts(y_true, y_score, thresholds, options):
    together = hc.at_threshold(y_true, y_score, np.array(thresholds, float), **options)
    for i, threshold in enumerate(thresholds):
        expected = ref.at_threshold(y_true, y_score, threshold, **options)
        alone = hc.at_threshold(y_true, y_score, threshold, **options)
        for field in expected._fields:
            value = float(getattr(expected, field))
            for got in (getattr(alone, field), getattr(together, field)[i]):
                assert np.isclose(float(got), value, rtol=RTOL, atol=0, equal_nan=True), (y_true, threshold, options)
