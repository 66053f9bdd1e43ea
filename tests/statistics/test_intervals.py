"""Intervals: of one ranking against formulas and scipy, of means over queries; what is refused."""

import math
from itertools import pairwise

import numpy as np
import pytest
from draws import ranking, seeded, slow_delong
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

import hitcurve as hc
from hitcurve.measures import MEASURES, parse
from hitcurve.statistics.intervals import acceleration_of, delete_one, delong_error

# --- intervals in closed form -------------------------------------------------------------------------------


def test_logit_formula():
    y, s = ranking(500, 50)
    got = hc.HitCurve(y, s).interval()
    ap = hc.average_precision(y, s)
    middle, half = math.log(ap / (1 - ap)), 1.959963984540054 / math.sqrt(50 * ap * (1 - ap))
    expected = [1 / (1 + math.exp(-x)) for x in (middle - half, middle + half)]
    assert_allclose(got.confidence_interval, expected, rtol=1e-12)
    assert got.method == "logit"
    assert got.bootstrap_distribution is None
    assert_allclose(got.standard_error, math.sqrt(ap * (1 - ap) / 50))
    wide, narrow = (hc.HitCurve(y, s).interval(confidence_level=c).confidence_interval for c in (0.99, 0.5))
    assert wide.low < got.confidence_interval.low < narrow.low < ap < narrow.high


@pytest.mark.parametrize("step", [None, 1.0, 100.0])
@pytest.mark.parametrize("relevant", [2, 20, 57])
def test_delong_against_all_pairs(step, relevant):
    y, s = ranking(60, relevant, seed=relevant, step=step)
    auc, covariance = slow_delong(y.tolist(), [s.tolist()])
    got = hc.HitCurve(y, s).interval("ROCAUC")
    assert got.method == "delong"
    assert_allclose(got.estimate, float(auc[0]), rtol=1e-14)
    assert_allclose(got.standard_error, math.sqrt(covariance[0][0]), rtol=1e-12, atol=1e-15)
    half = stats.norm.ppf(0.975) * got.standard_error
    expected = np.clip([got.estimate - half, got.estimate + half], 0, 1)
    assert_allclose(got.confidence_interval, expected, rtol=1e-12)
    if step != 100.0:
        low, high = hc.HitCurve(y, s).interval("ROCAUC", method="logit").confidence_interval
        assert 0 < low < got.estimate < high < 1


def test_a_part_of_the_roc_curve_takes_the_bootstrap():
    got = hc.HitCurve(*ranking(60, 20)).interval("ROCAUC(max_fpr=0.5)", n_resamples=99, rng=1)
    assert got.method == "bootstrap"


def test_delong_without_variance():
    nan = hc.HitCurve([1, 0, 0], [3, 2, 1]).interval("ROCAUC")  # one relevant item: no variance to estimate
    assert np.isnan(nan.confidence_interval).all()
    assert nan.estimate == 1.0
    assert math.isnan(delong_error(hc.HitCurve([1, 0, 0], [3, 2, 1])))
    sure = hc.HitCurve([1, 1, 0, 0], [4, 3, 2, 1]).interval("ROCAUC")
    assert tuple(sure.confidence_interval) == (1.0, 1.0)


# --- percentiles and BCa ------------------------------------------------------------------------------------


def test_measures_of_a_kind_each():
    """Every measure of the table has an interval that holds its estimate, or is a constant."""
    y, s = ranking(400, 40, step=0.2)
    curve = hc.HitCurve(y, s)
    for record in MEASURES:
        if not hasattr(curve, record.method):
            continue
        for form in record.forms:
            if parse(form).rel is not None or parse(form).judged_only:
                continue  # needs judgments
            got = curve.interval(form, method="bootstrap", n_resamples=300, rng=1)
            low, high = got.confidence_interval
            assert got.measure == parse(form).name
            assert got.estimate == parse(form)(curve)
            assert low <= got.estimate <= high, form
            assert got.bootstrap_distribution.shape == (300,)
            drawn = got.bootstrap_distribution
            assert record.gaps or not np.isnan(drawn).any()  # a resample without a pair has no value
            assert_allclose(got.standard_error, np.nanstd(drawn, ddof=1))


@pytest.mark.parametrize("step", [None, 0.4])
@pytest.mark.parametrize("name", ["AP", "ROCAUC", "BEDROC(20)", "P@20", "AP(ties=worst)"])
def test_delete_one_of_every_item(step, name):
    y, s = ranking(80, 12, seed=3, step=step)
    measure, curve = parse(name), hc.HitCurve(y, s)
    slow = np.array([measure(hc.HitCurve(np.delete(y, i), np.delete(s, i))) for i in range(len(y))])
    parts = delete_one(curve, measure, "expected")
    for (values, weight), label in zip(parts, (1, 0), strict=True):
        assert_allclose(np.sort(np.repeat(values, weight)), np.sort(slow[y == label]), rtol=1e-12)
    both = [np.concatenate(column) for column in zip(*parts, strict=True)]
    influence = (len(y) - 1) * (slow.mean() - slow)
    expected = np.sum(influence**3) / (6 * np.sum(influence**2) ** 1.5)
    assert_allclose(acceleration_of([tuple(both)]), expected, rtol=1e-8)


def test_delete_one_with_missing_relevant():
    curve = hc.HitCurve.from_ranked([1, 0, 1, 0, 0], num_relevant=4)
    hit, other = delete_one(curve, parse("AP"), "expected")
    less = hc.HitCurve.from_ranked([1, 0, 1, 0, 0], num_relevant=3).average_precision()
    assert_allclose(hit[0][-1], less)
    assert hit[1].tolist() == [1, 1, 2]
    assert other[1].sum() == 3


def test_delete_one_of_many_rows(monkeypatch):
    """Some rows stand for those between them: close to all of them."""
    y, s = ranking(6000, 900)
    curve, measure = hc.HitCurve(y, s), parse("AP")
    joined = [np.concatenate(column) for column in zip(*delete_one(curve, measure, "expected"), strict=True)]
    monkeypatch.setattr("hitcurve.statistics.intervals._DELETED_ROWS", 300_000)
    some = [np.concatenate(column) for column in zip(*delete_one(curve, measure, "expected"), strict=True)]
    assert some[0].shape == joined[0].shape
    assert_allclose(acceleration_of([tuple(some)]), acceleration_of([tuple(joined)]), rtol=0.02)


@pytest.mark.parametrize("stratified", [False, True])
def test_intervals_are_those_of_scipy(stratified):
    """scipy is given the distribution; percentiles and BCa must then come out as its own."""
    y, s = ranking(150, 25, seed=2)
    curve = hc.HitCurve(y, s)
    up, down = s[y == 1], s[y == 0]

    def statistic(*samples):
        if stratified:
            labels = np.repeat([1, 0], [len(samples[0]), len(samples[1])])
            return hc.average_precision(labels, np.concatenate(samples))
        return hc.average_precision(samples[0].astype(np.int8), samples[1])

    data = (up, down) if stratified else (y, s)
    for kind in ("percentile", "BCa"):
        got = curve.interval(
            method="bootstrap",
            bootstrap_method=kind,
            stratified=stratified,
            n_resamples=999,
            rng=3,
            confidence_level=0.9,
        )
        theirs = stats.bootstrap(
            data,
            statistic,
            paired=not stratified,
            vectorized=False,
            n_resamples=0,
            method=kind,
            confidence_level=0.9,
            bootstrap_result=stats._resampling.BootstrapResult(None, got.bootstrap_distribution, None),
        )
        assert_allclose(got.confidence_interval, theirs.confidence_interval, rtol=1e-9)
        assert_allclose(got.standard_error, theirs.standard_error)


def test_undefined_resamples_are_left_out():
    got = hc.HitCurve([0, 1, 0, 0], [4, 3, 2, 1]).interval("AP", method="bootstrap", n_resamples=2000, rng=1)
    gone = np.isnan(got.bootstrap_distribution)
    assert 0.25 < gone.mean() < 0.39  # (3/4)**4 = 0.32
    assert not np.isnan(got.confidence_interval).any()
    assert got.confidence_interval.high == 1.0


@pytest.mark.parametrize(
    ("y", "s"), [([], []), ([0, 0], [2, 1]), ([1], [1.0]), ([1, 1], [1, 1]), ([1, 0], [2, 1]), ([0, 1], [1, 1])]
)
def test_smallest_rankings(y, s):
    curve = hc.HitCurve(y, s)
    for name in ("AP", "ROCAUC", "P@1", "NumRel"):
        for method in (None, "bootstrap"):
            got = curve.interval(name, method=method, n_resamples=50, rng=1)
            if not math.isnan(got.estimate) and len(curve) and not math.isnan(got.confidence_interval.low):
                assert got.confidence_interval.low <= got.confidence_interval.high
    assert len(curve.resample(3, rng=1)) == 3
    curve.p_value(rng=1)


# --- over queries -------------------------------------------------------------------------------------------


def many(queries=30, seed=0):
    rng = np.random.default_rng(seed)
    return hc.HitCurves(rng.random((queries, 50)) < 0.1, rng.random((queries, 50)))


def test_mean_over_queries():
    curves = many()
    values = curves.average_precision()
    values = values[~np.isnan(values)]
    got = curves.interval(rng=1)
    assert got.estimate == pytest.approx(curves.mean_average_precision(), rel=1e-15)
    assert got.bootstrap_distribution.shape == (9999,)
    error = values.std() / math.sqrt(len(values))
    assert got.standard_error == pytest.approx(error, rel=0.05)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=9999, method="percentile", **seeded(5))
    assert_allclose(got.confidence_interval, theirs.confidence_interval, atol=0.15 * error)
    bca = curves.interval(rng=1, bootstrap_method="BCa")
    again = stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=0,
        method="BCa",
        bootstrap_result=stats._resampling.BootstrapResult(None, bca.bootstrap_distribution, None),
    )
    assert_allclose(bca.confidence_interval, again.confidence_interval, rtol=1e-9)
    t = curves.interval(method="t")
    assert_allclose(t.confidence_interval, stats.t.interval(0.95, len(values) - 1, values.mean(), stats.sem(values)))
    assert_array_equal(curves.interval(rng=4).bootstrap_distribution, curves.interval(rng=4).bootstrap_distribution)


def test_queries_without_relevant_items():
    curves = hc.HitCurves([[1, 0], [0, 0], [0, 1]], [[2, 1]] * 3)
    assert curves.interval(rng=1).estimate == 0.75
    assert curves.interval(rng=1, empty="zero").estimate == 0.5
    assert curves.interval(rng=1, empty="one").estimate == pytest.approx(2.5 / 3)
    with pytest.raises(ValueError, match=r"query 1 has no relevant item"):
        curves.interval(empty="raise")
    named = hc.HitCurves([0, 1], [1, 2], qid=["b", "a"])
    with pytest.raises(ValueError, match=r"query 'b' has no relevant item"):
        named.interval(empty="raise")
    nothing = hc.HitCurves([[0, 0]], [[2, 1]]).interval()
    assert math.isnan(nothing.estimate)
    assert math.isnan(nothing.confidence_interval.low)


@pytest.mark.parametrize("empty", ["zero", "skip"])
def test_the_mean_of_an_evaluation(empty):
    """Its interval is that of `compare`, and where no rule for empty queries tells them apart that of curves."""
    rng = np.random.default_rng(7)
    docs = [f"d{i}" for i in range(12)]
    qrels = {f"q{i}": {d: int(rng.integers(3)) * (i > 1) for d in docs} for i in range(25)}
    runs = {name: {q: {d: float(rng.integers(5)) for d in docs} for q in qrels} for name in "ab"}
    found = hc.evaluate(qrels, runs, ["map", "nDCG@5", "NumRelRet", "GMAP", "P.3"], empty=empty)
    compared = {(one.system, one.measure): one for one in hc.compare(found, rng=3).systems}
    for name, one in found.items():
        for measure, asked in (("map", "AP"), ("map", "map"), ("nDCG@5", "ndcg_cut_5"), ("P.3", "P@3"), ("map", None)):
            got = one.interval(asked, rng=3)
            assert got.estimate == pytest.approx(one.means[measure], rel=1e-14)
            of = compared[name, measure]
            assert got.confidence_interval == pytest.approx((of.low, of.high), rel=1e-14)
        curves = one.curves(1).interval("AP", rng=3, empty=empty, method="t")
        students = one.interval("AP", method="t")
        assert students.confidence_interval == pytest.approx(curves.confidence_interval, rel=1e-12)
    one = found["a"]
    assert one.interval("AP", rng=1, n_resamples=99, confidence_level=0.5).confidence_level == 0.5
    again = hc.Evaluation.from_json(one.to_json())
    assert again.interval("AP", rng=3).confidence_interval == one.interval("AP", rng=3).confidence_interval
    for measure, problem in (("RR", "'a' has no 'RR': it was evaluated for map, nDCG@5, NumRelRet, GMAP, P.3"),
                             ("NumRelRet", "NumRelRet is summed over the queries"),
                             ("GMAP", "GMAP is a geometric mean over queries, .*: name AP")):
        with pytest.raises(ValueError, match=problem):
            one.interval(measure)
    with pytest.raises(ValueError, match=r"GMAP is a geometric mean over queries, .*: name AP"):
        one.curves(1).interval("GMAP")
    nothing = hc.evaluate({"q": {"a": 0}}, {"q": {"a": 1.0}}, "AP", empty="skip").interval()
    assert math.isnan(nothing.estimate)
    assert math.isnan(nothing.confidence_interval.low)


# --- what is refused ----------------------------------------------------------------------------------------


CURVE = hc.HitCurve([1, 0, 1, 0], [4, 3, 2, 1])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: CURVE.interval("APP"), "there is no measure 'APP'"),
        (lambda: CURVE.interval(method="jackknife"), "method='jackknife' is unknown: must be one of 'logit', 'delong'"),
        (lambda: CURVE.interval(method="delong"), "method='delong' is not available for AP"),
        (lambda: CURVE.interval("ROCAUC(max_fpr=0.1)", method="delong"), "method='delong' is not available for ROCAUC"),
        (lambda: CURVE.interval("AP@2", method="logit"), "method='logit' is not available for AP@2"),
        (lambda: CURVE.interval("ROCAUC", method="delong", ties="best"), "got ties='best'"),
        (lambda: CURVE.interval(confidence_level=95), "confidence_level is 95: must be between 0 and 1"),
        (lambda: CURVE.interval(confidence_level="high"), "confidence_level must be a number, got 'high'"),
        (lambda: CURVE.interval(method="bootstrap", n_resamples=0), "n_resamples is 0: must be 1 or more"),
        (lambda: CURVE.interval(method="bootstrap", n_resamples=1.5), "n_resamples must be a whole number, got 1.5"),
        (lambda: CURVE.interval(method="bootstrap", bootstrap_method="basic"), "bootstrap_method='basic' is unknown"),
        (lambda: CURVE.interval(method="bootstrap", ties="mean"), "ties='mean' is unknown"),
        (lambda: CURVE.interval(method="bootstrap", workers=0), "workers is 0: must be at least 1"),
        (lambda: CURVE.interval(method="bootstrap", rng=True), "rng must be a seed or a numpy.random.Generator"),
        (lambda: CURVE.interval("RR", method="bootstrap", ties="threshold"), "is not defined for ties='threshold'"),
        (
            lambda: hc.HitCurve([1, 0], [2, 1]).interval(method="bootstrap", bootstrap_method="BCa"),
            "only 1 is relevant",
        ),
        (lambda: CURVE.resample(-1), "n_resamples is -1"),
        (lambda: CURVE.p_value(method="all"), "method='all' is unknown"),
        (lambda: hc.HitCurve(*ranking(500, 50)).p_value(method="exact"), "use 'permutation'"),
        (lambda: many().interval(method="logit"), "method='logit' is unknown: must be one of 'bootstrap', 't'"),
        (lambda: many().interval(empty="half"), "empty='half' is unknown"),
    ],
)
def test_refused(call, text):
    with pytest.raises((ValueError, TypeError), match=text.replace("(", r"\(")):
        call()


def test_weighted_items_are_refused():
    curve = hc.HitCurve([1, 0, 1], [3, 2, 1], sample_weight=[1.0, 0.5, 2.0])
    for call in (curve.interval, curve.resample, curve.p_value):
        with pytest.raises(ValueError, match="is not defined for weighted items"):
            call()


def test_measure_that_needs_every_rank():
    with pytest.raises(ValueError, match="needs the rank of every relevant item"):
        hc.HitCurve.from_ranked([1, 0, 1], num_relevant=4).interval("ROCAUC", method="bootstrap")


@pytest.mark.thread_unsafe(reason="tracemalloc counts what all threads allocate")
def test_memory_is_given_back():
    import gc
    import tracemalloc

    curve = hc.HitCurve(*ranking(3_000, 300))

    def calls():
        curve.interval(method="bootstrap", bootstrap_method="BCa", n_resamples=20, rng=1)
        curve.p_value(n_resamples=9, rng=1)
        with pytest.raises(ValueError, match="unknown"):
            curve.interval(method="none")

    def traced(rounds):
        for _ in range(rounds):
            calls()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        traced(10)
        memory = [traced(20) for _ in range(3)]
    finally:
        tracemalloc.stop()
    # What is lost is lost in each; what the interpreter keeps it takes once. A table of Poisson variates is 10,000.
    assert min(later - earlier for earlier, later in pairwise(memory)) < 10_000
