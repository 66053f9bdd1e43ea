"""Numbers that were quietly wrong, or refused for no reason: each against something that is obviously right."""

import copy
from fractions import Fraction

import numpy as np
import pytest

import hitcurve as hc
from hitcurve.measures import parse
from hitcurve.statistics import intervals as resample

CURVE = hc.HitCurve([1, 0, 1, 0, 0], [5, 4, 3, 2, 1])
SECOND = 2**53 + 1  # the first whole number that no float64 has


# --- tables ---------------------------------------------------------------------------------------------------


def test_a_copied_counter_counts_for_itself():
    counter = hc.HitCounter([1.0, 2.0])
    counter.update([1, 0], [1.0, 2.0])
    other = copy.copy(counter)
    other.update([1], [2.0])
    assert (counter.num_hits, counter.num_items) == (1, 2)
    assert (other.num_hits, other.num_items) == (2, 3)


@pytest.mark.parametrize("seed", range(30))
def test_weighted_queries_are_those_of_single_rankings(seed):
    rng = np.random.default_rng(seed)
    y, s, w, q = rng.integers(0, 2, 300), rng.random(300), rng.random(300), rng.integers(0, 3, 300)
    curves = hc.HitCurves(y, s, qid=q, sample_weight=w)
    singles = [hc.HitCurve(y[q == i], s[q == i], sample_weight=w[q == i]) for i in range(3)]
    assert list(curves) == singles
    for read in ("average_precision", "roc_auc"):
        assert getattr(curves, read)(ties="threshold").tolist() == [
            getattr(one, read)(ties="threshold") for one in singles
        ]


@pytest.mark.parametrize("seed", range(30))
def test_weights_of_the_relevant_items_in_another_order_of_addition(seed):
    rng = np.random.default_rng(seed)
    y, s, w = rng.integers(0, 2, 1000), rng.random(1000), rng.random(1000)
    curve = hc.HitCurve(y, s, sample_weight=w, num_relevant=w[y == 1].sum())
    assert curve.num_relevant >= curve.num_hits
    assert curve.average_precision(ties="threshold") == pytest.approx(
        hc.average_precision(y, s, sample_weight=w, ties="threshold"), rel=1e-15
    )
    with pytest.raises(ValueError, match="but the weights of the relevant items sum to"):
        hc.HitCurve(y, s, sample_weight=w, num_relevant=0.999 * w[y == 1].sum())


@pytest.mark.parametrize("weight", [[0.1, 0.4, 0.1], [0.1, 0.2, 0.3], [1e-300, 1.0, 1e300]])
def test_weights_of_relevant_items_alone(weight):
    """Sums of the same weights in two orders differ in the last digit; no other item has any."""
    for y, s in (([1, 1, 1], [3.0, 2, 1]), ([1, 1, 1], [1.0, 2, 1]), ([1, 0, 1, 1], [1.0, 2, 2, 0])):
        w = weight if len(y) == 3 else [weight[0], 0.0, *weight[1:]]
        curve = hc.HitCurve(y, s, sample_weight=w)
        table = [getattr(curve, name) for name in ("score", "above", "tied", "hits")]
        for one in (curve, hc.HitCurve.from_table(*table, num_items=curve.num_items)):
            assert np.isnan(one.roc_auc(ties="threshold"))
            assert np.isnan(one.roc_curve(ties="threshold").fpr).all()
            assert one.average_precision(ties="threshold") == 1.0


@pytest.mark.parametrize("other", [1e9, 1e16, 1e300])
def test_weights_of_a_light_item_above_a_heavy_one(other):
    for interpolation in (None, "trapezoid", "continuous"):
        read = {"sample_weight": [1 / 3, other], "ties": "threshold", "interpolation": interpolation}
        assert hc.average_precision([1, 0], [2.0, 1.0], **read) == 1.0
    assert hc.HitCurve([1, 0], [2.0, 1.0], sample_weight=[1e-30, other]).roc_auc(ties="threshold") == 1.0
    assert hc.HitCurve([0, 1], [2.0, 1.0], sample_weight=[1e-30, other]).roc_auc(ties="threshold") == 0.0


@pytest.mark.parametrize("name", ["roc_auc", "roc_curve"])
def test_relevant_weights_that_were_never_retrieved(name):
    curve = hc.HitCurve([1, 0], [2.0, 1.0], sample_weight=[0.5, 1.0], num_relevant=0.75)
    with pytest.raises(ValueError, match=f"^{name} needs the rank of every relevant item: num_relevant is 0.75"):
        getattr(curve, name)(ties="threshold")


@pytest.mark.parametrize("others", [[0.0], [0.0, 1.0, -1.0], [0.0, np.nan, 1.0], [0.0, 0.0, 2.0], [1.0, 0.0, 0.0]])
def test_weights_from_outside_that_no_table_has(others):
    """The state of a pickle."""
    curve = hc.HitCurve([1, 0], [2.0, 1.0], sample_weight=[1.0, 1.0])
    make, state = curve.__reduce__()
    with pytest.raises(ValueError, match=r"^others "):
        make(*state[:-1], np.array(others))
    make, state = hc.HitCurves([1, 0], [2.0, 1.0], offsets=[0, 2], sample_weight=[1.0, 1.0]).__reduce__()
    with pytest.raises(ValueError, match=r"^others "):
        make(*state[:-1], np.array(others))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint32])
def test_tables_of_narrow_integers(dtype):
    columns = [np.array(column, dtype) for column in ([0, 100], [100, 100], [100, 1])]
    curve = hc.HitCurve.from_table([3, 2], *columns, num_items=10**6)
    assert curve == hc.HitCurve.from_table([3, 2], [0, 100], [100, 100], [100, 1], num_items=10**6)


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("number", [float("nan"), float("inf"), -1.0])
def test_weights_in_all_are_a_finite_number(rows, number):
    column = [1.0] * rows
    with pytest.raises(ValueError, match=rf"^num_items is {number}: must be finite and not negative"):
        hc.HitCurve.from_table(None, [0.0] * rows, column, column, num_items=number)


@pytest.mark.parametrize("number", [True, "3", None])
def test_weights_in_all_are_a_number(number):
    with pytest.raises(TypeError, match=f"^num_items must be a number, got {number!r}"):
        hc.HitCurve.from_table(None, [0.0], [1.0], [1.0], num_items=number)


# --- read-outs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [5e-324, 1e-323, 1e-310])
def test_bedroc_of_the_smallest_alpha_is_roc_auc(alpha):
    assert CURVE.bedroc(alpha) == pytest.approx(CURVE.roc_auc(), rel=1e-15)
    assert CURVE.rie(alpha) == 1.0


def test_success_where_nearly_all_of_a_giant_group_are_relevant():
    n = 13815943107764542
    for others in (1, 2):
        curve = hc.HitCurve.from_table(None, [0], [n], [n - others], num_items=n)
        for k in (1, 2, 4096):
            assert curve.success(k) == pytest.approx(1, abs=3e-16)
    few = hc.HitCurve.from_table(None, [0], [n], [2], num_items=n)
    for k in (n - 2, n - 4):
        assert few.success(k) == pytest.approx(1, abs=3e-16)


def test_roc_auc_is_no_more_than_1():
    rng = np.random.default_rng(0)
    for _ in range(300):
        hits = rng.integers(1, 10**17, 3)
        above = np.concatenate([[0], np.cumsum(hits)[:-1]])
        items = int(hits.sum()) + int(rng.integers(1, 10**17))
        assert hc.HitCurve.from_table(None, above, hits, hits, num_items=items).roc_auc() == pytest.approx(1, abs=4e-16)
        assert hc.HitCurve.from_table(None, above, hits, hits, num_items=items).roc_auc() <= 1


@pytest.mark.parametrize("name", ["precision", "f_score", "enrichment_factor", "max_enrichment_factor"])
def test_a_rank_that_cannot_be_divided_by_is_refused(name):
    read = getattr(CURVE, name)
    assert read(k=2**62) > 0
    with pytest.raises(ValueError, match=rf"^k\[1\] is {2**62 + 1}: must be at most 2\*\*62"):
        read(k=[1, 2**62 + 1])
    assert CURVE.recall([2**62, 1]).tolist() == [1.0, 0.5]


@pytest.mark.parametrize("call", [
    lambda: CURVE.precision([True, 2]),
    lambda: CURVE.precision(fraction=[True, 0.5]),
    lambda: CURVE.bedroc([True, 2.5]),
])  # fmt: skip
def test_truth_values_among_numbers_are_no_numbers(call):
    with pytest.raises(TypeError, match=r"^(k|fraction|alpha)\[0\] must be a (whole )?number, got True"):
        call()


@pytest.mark.parametrize("share", ["0.25", ["0.25"], *(np.array(["0.25"], dtype) for dtype in ("U", "S", object))])
def test_text_is_no_share(share):
    with pytest.raises(TypeError, match=r"^fraction(\[0\])? must be a number, got .*0\.25"):
        CURVE.precision(fraction=share)
    with pytest.raises(TypeError, match=r"^fpr(\[0\])? must be a number, got .*0\.25"):
        CURVE.roc_enrichment(share)


@pytest.mark.parametrize("call", [
    lambda: CURVE.bedroc(10**400),
    lambda: CURVE.f_score(1, beta=10**400),
    lambda: hc.at_threshold([1], [1], 1, beta=10**400),
])  # fmt: skip
def test_whole_numbers_beyond_floats_are_named(call):
    with pytest.raises(ValueError, match=r"^(alpha|beta) is 10+: must be finite"):
        call()


def test_a_tie_report_has_one_cutoff():
    with pytest.raises(TypeError, match=r"^k must be a whole number, got \[1, 2\]"):
        CURVE.tie_report([1, 2])


# --- thresholds -----------------------------------------------------------------------------------------------

NUMBERS = [0, 1, -1, 2, SECOND - 1, SECOND, SECOND + 1, -SECOND, 2**63 - 1, 2**63, 2**63 + 1, -(2**63), 2**64 - 1]
FLOATS = [0.5, -0.5, float(2**53), 1.5e19, -1.5e19, float("inf"), float("-inf"), float(2**63), float(2**64), 1e300]


def exact(number):
    return Fraction(int(number)) if isinstance(number, int | np.integer) else number


def fitting(dtype):
    if np.dtype(dtype).kind == "f":
        with np.errstate(over="ignore"):
            return np.array([float(i) for i in NUMBERS] + FLOATS, np.float64).astype(dtype)
    info = np.iinfo(dtype)
    return np.array([i for i in NUMBERS if info.min <= i <= info.max], dtype)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("cuts", [np.int64, np.uint64, np.float64, np.float32, np.int32, np.float16])
@pytest.mark.parametrize("scores", [np.int64, np.uint64, np.float64, np.float32, np.int32, np.float16])
def test_thresholds_are_compared_exactly(scores, cuts, lower):
    score, cut = fitting(scores), fitting(cuts)
    score, cut = score[~np.isnan(score)], cut[~np.isnan(cut)]
    order = [exact(one) for one in score.tolist()]
    wanted = [sum(s <= exact(c) if lower else s >= exact(c) for s in order) for c in cut.tolist()]
    found = hc.at_threshold(np.ones(score.shape[0]), score, cut, lower_is_better=lower)
    assert found.tp.tolist() == wanted
    assert [
        hc.at_threshold(np.ones(score.shape[0]), score, one, lower_is_better=lower).tp for one in cut
    ] == wanted


# --- intervals and comparisons ----------------------------------------------------------------------------------


def test_acceleration_from_some_rows_is_that_from_all(monkeypatch):
    """Rows that hold no other item, and gaps that hold none, have none to leave out."""
    rng = np.random.default_rng(0)
    y = rng.random(3000) < 0.5
    curve = hc.HitCurve(y, np.round(rng.normal(y * 1.0) * 2000))
    for name in ("AP", "ROCAUC"):
        found = []
        for rows in (10**9, 3 * len(curve) ** 2 // 2):
            monkeypatch.setattr(resample, "_DELETED_ROWS", rows)
            parts = resample.delete_one(curve, parse(name), "expected")
            assert all(np.isfinite(values).all() for values, _ in parts)
            found.append(resample.acceleration_of(parts))
        assert found[0] != 0
        assert found[1] == pytest.approx(found[0], rel=0.02)


@pytest.mark.parametrize("bootstrap", ["percentile", "BCa"])
def test_a_ranking_without_a_hit_has_an_interval(bootstrap):
    curve = hc.HitCurve([0, 0, 0], [1, 2, 3], num_relevant=2)
    for name in ("AP", "P@2", "RR"):
        interval = curve.interval(name, method="bootstrap", bootstrap_method=bootstrap, n_resamples=99, rng=0)
        assert (interval.estimate, *interval.confidence_interval) == (0.0, 0.0, 0.0)


def test_integers_beyond_int64_are_compared_as_they_are_ranked():
    big = 2**63
    y, a, b = [1, 0, 1, 0, 1, 0], [big + 1, big, 5, big + 3, 2, 1], [6, 5, 4, 3, 2, 1]
    as_list = hc.compare(y, {"a": a, "b": b}, rng=0, n_resamples=200)
    as_array = hc.compare(y, {"a": np.array(a, np.uint64), "b": b}, rng=0, n_resamples=200)
    assert (as_list.systems, as_list.rows) == (as_array.systems, as_array.rows)


@pytest.mark.parametrize("call", [
    lambda: CURVE.interval(method="bootstrap", stratified="no"),
    lambda: CURVE.resample(2, stratified="no"),
    lambda: hc.compare([1, 0], {"a": [1, 2], "b": [2, 1]}, stratified="no"),
])  # fmt: skip
def test_stratified_is_true_or_false(call):
    with pytest.raises(TypeError, match=r"^stratified must be True or False, got 'no'"):
        call()


@pytest.mark.parametrize("rng", [1.5, -1, "seed", True])
@pytest.mark.parametrize("call", [
    lambda rng: CURVE.interval("P@1", rng=rng),
    lambda rng: hc.compare({"a": [1, 2, 3], "b": [2, 1, 5]}, rng=rng),
])  # fmt: skip
def test_seeds_are_named(call, rng):
    with pytest.raises((TypeError, ValueError), match=r"^rng"):
        call(rng)


# --- names ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [
    "F0.00001@10", "F12345678901234567@10", "F0.12345678901234567@10", "BEDROC(20.000000000000004)", "BEDROC(1e-7)",
    "RBP(p=0.12345678901234567)", "IPrec@0.0000000001", "IPrec@.12345678901", "IPrecAvg(at=0.00001/0.5)",
    "nDCG(gains={1:0.12345678901234567})", "Utility(0.12345678901234567/-1e-7/0/0)", "logAUC(min_fpr=1e-9)",
])  # fmt: skip
def test_names_are_read_as_the_measure_they_name(name):
    measure = parse(name)
    assert parse(measure.name) == measure


@pytest.mark.parametrize("name", [
    "Utility(nan/1/1/1)", "Utility(inf/1/1/1)", "Utility(1e400/1/1/1)", "Utility(1_0/1/1/1)", "nDCG(gains={1:nan})",
    "nDCG(gains={1:1e400})", "nDCG(gains={1:1,1:2})", "nDCG(gains={1_0:1})", "F" + "9" * 400 + "@10",
])  # fmt: skip
def test_options_that_are_no_numbers(name):
    with pytest.raises(ValueError, match=r"must (be|give)"):
        parse(name)


# --- runs -------------------------------------------------------------------------------------------------------


def test_runs_read_with_options_beyond_all_documents():
    qrels, run = {"q": {"a": 1, "b": 2}}, {"q": {"b": 2.0, "a": 1.0}}
    recall, multiple = hc.evaluate(qrels, run, [f"F{10**200}@1", "RprecMult(1e300)"]).values.values()
    assert recall.tolist() == [0.5]
    assert multiple.tolist() == pytest.approx([2 / 2e300], rel=1e-15)


@pytest.mark.parametrize("name", ["nDCG(dcg=exp-log2)", "ERR(max=1024)"])
def test_levels_beyond_powers_of_two_are_named(name):
    with pytest.raises(ValueError, match="the qrels have level 1024"):
        hc.evaluate({"q": {"a": 1024, "b": 1}}, {"q": {"b": 2.0, "a": 1.0}}, [name])
