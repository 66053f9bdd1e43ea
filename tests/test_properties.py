"""What must hold of any ranking, and every public route to a number."""

import inspect
import pickle
from itertools import pairwise
from math import isnan, nan

import numpy as np
import pytest
import reference as ref
import routes
from examples import few
from hypothesis import assume, given
from hypothesis import strategies as st
from register import HITS, calls, first_arguments

import hitcurve as hc

READINGS = ref.TIES

few_values = st.integers(-3, 3).map(float)
many_values = st.floats(allow_nan=False, width=32)
dtypes = st.sampled_from([np.float64, np.float32])


@st.composite
def rankings(draw, max_size=40, scores=None, min_size=0):
    n = draw(st.integers(min_size, max_size))
    y_true = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    values = scores if scores is not None else draw(st.sampled_from([few_values, many_values]))
    y_score = draw(st.lists(values, min_size=n, max_size=n))
    return np.array(y_true, np.int8), np.array(y_score, draw(dtypes))


@st.composite
def untied(draw, max_size=40):
    scores = draw(st.lists(st.integers(-100, 100), max_size=max_size, unique=True))
    y_true = draw(st.lists(st.integers(0, 1), min_size=len(scores), max_size=len(scores)))
    return np.array(y_true, np.int8), np.array(scores, float)


orders = st.randoms(use_true_random=False)
orders.validate()  # imports its module, which pytest rewrites: Python 3.11 cannot do that in several threads at once
cutoffs = st.integers(1, 50)


def same(a, b):
    return np.array_equal(a, b, equal_nan=True)


def numbers(curve, k, ties):
    """Every number of a curve under one reading; None: those that ties do not change."""
    return {
        (row.method, args, tuple(options.items())): getattr(curve, row.method)(
            *args, **options, **({"ties": ties} if ties else {})
        )
        for row in HITS
        if (ties in row.readings if ties else not row.readings)
        for args, options in calls(row, k=k, fraction=0.3, fpr=0.2)
    }


LOWER_IS_BETTER = {row.method for row in HITS if row.lower_is_better}


def all_numbers(curve, k):
    return {(key, ties): value for ties in (*READINGS, None) for key, value in numbers(curve, k, ties).items()}


def assert_same_numbers(a, b, k):
    a, b = all_numbers(a, k), all_numbers(b, k)
    assert {key: (a[key], b[key]) for key in a if not same(a[key], b[key])} == {}


# --- readings of ties ---------------------------------------------------------------------------------------


@few(15)
@given(rankings(), cutoffs)
def test_expected_lies_between_worst_and_best(items, k):
    curve = hc.HitCurve(*items)
    worst, expected, best = (numbers(curve, k, ties) for ties in ("worst", "expected", "best"))
    for key in expected:
        if ("normalize", "hits") in key[-1]:  # best and worst are no bounds of this ratio
            continue
        if {("interpolation", one) for one in ("11-point", "101-point", "all-point")} & {*key[-1]}:
            continue  # read off the mean hit curve
        low, value, high = worst[key], expected[key], best[key]
        if key[0] in LOWER_IS_BETTER:
            low, high = high, low
        room = 1e-13 * (abs(value) + 1)
        assert (isnan(value) and isnan(low) and isnan(high)) or low - room <= value <= high + room, key


@few(15)
@given(untied(), cutoffs)
def test_readings_agree_without_ties(items, k):
    curve = hc.HitCurve(*items)
    readings = [numbers(curve, k, ties) for ties in READINGS]
    for other in readings[1:]:
        for key, value in other.items():
            # The expected area under precision-recall gain is a sum of other terms than its bounds.
            near = key[0] == "prg_auc" and abs(value - readings[0][key]) <= 1e-14
            assert near or same(value, readings[0][key]), key


@few(25)
@given(rankings(max_size=30, scores=few_values), cutoffs)
def test_expected_is_the_mean_over_orders(items, k):
    """Position by position, in exact fractions: rankings too large to enumerate their orders."""
    curve = hc.HitCurve(*items)
    rank = ref.ranking(items[0].tolist(), items[1].tolist())
    pairs = [
        (curve.average_precision(), ref.average_precision_by_position(rank)),
        (curve.average_precision(interpolation="trapezoid"), ref.trapezoid_by_position(rank)),
        (curve.reciprocal_rank(), ref.reciprocal_rank_by_position(rank)),
        (curve.reciprocal_rank(k), ref.reciprocal_rank_by_position(rank, k)),
        (curve.success(k), ref.success_by_position(rank, k)),
        (curve.rie(80.5), ref.rie_by_position(rank, 80.5)),
    ]
    for normalize in ref.NORMALIZE:
        value = ref.average_precision_by_position(rank, k, normalize=normalize)
        pairs.append((curve.average_precision(k, normalize=normalize), value))
    for got, expected in pairs:
        assert np.isclose(got, float(expected), rtol=1e-14, atol=0, equal_nan=True)
    # the worst BEDROC is 0, a difference of equal sums
    assert np.isclose(curve.bedroc(), float(ref.bedroc_by_position(rank)), rtol=1e-14, atol=1e-14, equal_nan=True)


@few(14)
@given(rankings(), st.integers(0, 3))
def test_threshold_and_bounds_are_exact(items, missing):
    y_true, y_score = items
    R = int(y_true.sum()) + missing
    curve = hc.HitCurve(y_true, y_score, num_relevant=R)
    rank = ref.ranking(y_true.tolist(), y_score.tolist(), num_relevant=R)
    for ties in ("threshold", "best", "worst"):
        for interpolation in ref.INTERPOLATIONS:
            got = curve.average_precision(ties=ties, interpolation=interpolation)
            expected = float(ref.average_precision(rank, ties=ties, interpolation=interpolation))
            rtol = 1e-14 if interpolation == "continuous" else 4e-16
            assert np.isclose(got, expected, rtol=rtol, atol=0, equal_nan=True), (ties, interpolation)


# --- what must not matter -----------------------------------------------------------------------------------


@few(12)
@given(rankings(), orders, cutoffs)
def test_order_of_items_does_not_matter(items, random, k):
    y_true, y_score = items
    order = list(range(len(y_true)))
    random.shuffle(order)
    a, b = hc.HitCurve(y_true, y_score), hc.HitCurve(y_true[order], y_score[order])
    assert a == b
    assert_same_numbers(a, b, k)


@few(12)
@given(rankings(), st.data(), cutoffs)
def test_increasing_map_does_not_matter(items, data, k):
    y_true, y_score = items
    values, place = np.unique(y_score, return_inverse=True)
    new = data.draw(st.lists(many_values, min_size=len(values), max_size=len(values), unique=True))
    # a float32 value in float64: the map goes to another type as well
    mapped = np.sort(np.array(new, np.float64))[place]
    assert_same_numbers(hc.HitCurve(y_true, y_score), hc.HitCurve(y_true, mapped), k)


@few(12)
@given(rankings(), cutoffs)
def test_lower_is_better_is_the_negated_score(items, k):
    y_true, y_score = items
    a, b = hc.HitCurve(y_true, y_score, lower_is_better=True), hc.HitCurve(y_true, -y_score)
    assert a.lower_is_better and not b.lower_is_better
    assert same(a.score, -b.score)
    for field in ("above", "tied", "hits"):
        assert same(getattr(a, field), getattr(b, field))
    assert_same_numbers(a, b, k)


@few(20)
@given(rankings())
def test_input_is_left_alone(items):
    y_true, y_score = items
    before = y_true.copy(), y_score.copy()
    all_numbers(hc.HitCurve(y_true, y_score), 3)
    hc.average_precision(y_true, y_score)
    hc.HitCurves(y_true, y_score, offsets=[0, len(y_true)])
    assert same(before[0], y_true) and same(before[1], y_score)


# --- blocks and tables --------------------------------------------------------------------------------------


@few(25)
@given(rankings(), st.integers(1, 6), st.booleans(), st.integers(0, 2))
def test_blocks_add_up(items, blocks, lower_is_better, missing):
    y_true, y_score = items
    R = int(y_true.sum()) + missing
    whole = hc.HitCurve(y_true, y_score, lower_is_better=lower_is_better, num_relevant=R)
    total = routes.counter(y_true, y_score, blocks, lower_is_better=lower_is_better)
    assert (total.num_items, total.num_hits) == (len(y_true), y_true.sum())
    assert total.curve(R) == whole
    # the same blocks in the other order, into one counter
    thresholds = y_score[y_true == 1]
    one = hc.HitCounter(thresholds, lower_is_better=lower_is_better)
    for y, s in list(zip(np.array_split(y_true, blocks), np.array_split(y_score, blocks), strict=True))[::-1]:
        one.update(y, s)
    assert one.curve(R) == whole
    assert one == total == pickle.loads(pickle.dumps(total))


@few(20)
@given(rankings(), st.integers(0, 2), st.booleans())
def test_table_makes_the_curve_again(items, missing, lower_is_better):
    y_true, y_score = items
    R = int(y_true.sum()) + missing
    curve = hc.HitCurve(y_true, y_score, num_relevant=R, lower_is_better=lower_is_better)
    again = hc.HitCurve.from_table(
        curve.score,
        curve.above,
        curve.tied,
        curve.hits,
        num_items=curve.num_items,
        num_relevant=curve.num_relevant,
        lower_is_better=lower_is_better,
    )
    assert again == curve and hash(again) == hash(curve)
    assert_same_numbers(again, curve, 3) if not missing else None


@few(25)
@given(rankings(min_size=1), st.lists(st.floats(-4, 4), min_size=2, max_size=6, unique=True))
def test_bins_are_tie_groups(items, edges):
    """Binned, best and worst are bounds of the exact value."""
    y_true, y_score = items
    edges = np.sort(edges)
    counter = hc.HitCounter(edges=edges)
    counter.update(y_true, y_score)
    binned = counter.curve()
    bins = np.searchsorted(edges, y_score.astype(float), side="right")
    expected = hc.HitCurve(y_true, bins)
    for field in ("above", "tied", "hits"):
        assert same(getattr(binned, field), getattr(expected, field))
    exact = hc.HitCurve(y_true, y_score)
    assume(y_true.any())
    assert binned.average_precision(ties="worst") <= exact.average_precision(ties="worst") * (1 + 1e-15)
    assert binned.average_precision(ties="best") >= exact.average_precision(ties="best") * (1 - 1e-15)


@few(30)
@given(
    rankings(max_size=20, scores=st.one_of(few_values, st.just(nan))),
    st.floats(-4, 4) | few_values | st.sampled_from([np.inf, -np.inf]),
    st.sampled_from(["raise", "worst", "omit"]),
    st.booleans(),
    st.sampled_from([0.0, 0.5, 1.0, 3.0]),
)
def test_at_threshold(items, threshold, nan_policy, lower_is_better, beta):
    y_true, y_score = items
    options = {"nan_policy": nan_policy, "lower_is_better": lower_is_better, "beta": beta}
    try:
        expected = ref.at_threshold(y_true.tolist(), y_score.tolist(), threshold, **options)
    except ValueError:
        with pytest.raises(ValueError):
            hc.at_threshold(y_true, y_score, threshold, **options)
        return
    got = hc.at_threshold(y_true, y_score, threshold, **options)
    assert tuple(got[:4]) == expected[:4]
    assert np.allclose(got[4:], np.array(expected[4:], float), rtol=1e-15, atol=0, equal_nan=True)


@given(rankings(max_size=20, scores=st.one_of(few_values, st.just(nan))), st.booleans())
def test_thresholds_select_their_points_beside_nan(items, lower_is_better):
    """The scores at a threshold or better are the items of its point, those of the NaN group's own point aside."""
    y_true, y_score = items
    curve = hc.HitCurve(y_true, y_score, nan_policy="worst", lower_is_better=lower_is_better)
    scored = np.count_nonzero(~np.isnan(y_score))
    ranks = curve.hit_curve(ties="threshold").items
    roc = curve.roc_curve(ties="threshold").threshold
    assert same(curve.precision_recall_curve(ties="threshold").threshold, roc[:0:-1])
    for rank, threshold in zip(ranks, roc, strict=True):
        if rank > scored and y_true[np.isnan(y_score)].any():
            assert rank == len(y_score) and isnan(threshold)
            continue
        selected = np.count_nonzero(y_score <= threshold if lower_is_better else y_score >= threshold)
        assert selected == min(rank, scored)


def test_the_point_of_all_scored_items():
    nans = {"nan_policy": "worst"}
    for lower, worst in ((False, -np.inf), (True, np.inf)):
        curve = hc.HitCurve([1, 0, 1], [2.0, 2.0 + (1 if lower else -1), nan], lower_is_better=lower, **nans)
        assert same(curve.precision_recall_curve().threshold, [nan, worst, 2.0])
        assert same(curve.roc_curve(ties="best").threshold, [-worst, 2.0, worst, nan])


def test_at_threshold_compares_integers_exactly():
    y_score = np.array([2**53, 2**53 + 1, 2**53 + 2], np.int64)
    for threshold in (2**53 + 1, np.int64(2**53 + 1), np.array([2**53 + 1])):
        counts = hc.at_threshold([0, 1, 1], y_score, threshold)
        assert (np.ravel(counts.tp).item(), np.ravel(counts.fp).item()) == (2, 0)
        counts = hc.at_threshold([0, 1, 1], y_score, threshold, lower_is_better=True)
        assert (np.ravel(counts.tp).item(), np.ravel(counts.fp).item()) == (1, 1)


# --- many queries -------------------------------------------------------------------------------------------


@st.composite
def query_batches(draw):
    """Labels and scores query by query; few values, so that there are ties."""
    sizes = draw(st.lists(st.integers(0, 12), min_size=1, max_size=6))
    n = sum(sizes)
    y_true = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    y_score = draw(st.lists(few_values, min_size=n, max_size=n))
    return np.array(y_true, np.int8), np.array(y_score, draw(dtypes)), np.cumsum([0, *sizes])


def numbers_alone(singles, k):
    """Every number, of each curve of a query by itself."""
    return [all_numbers(curve, k) for curve in singles]


def assert_queries(curves, singles, k, alone=None):
    """`alone`: the numbers of the single curves, where they are known."""
    assert len(curves) == len(singles)
    assert list(curves) == singles
    assert pickle.loads(pickle.dumps(curves)) == curves
    assert [curves[i] for i in range(len(singles))] == singles
    for field in ("num_items", "num_relevant", "num_hits"):
        assert getattr(curves, field).tolist() == [getattr(curve, field) for curve in singles]
    together, alone = all_numbers(curves, k), alone or numbers_alone(singles, k)
    for key, values in together.items():
        assert same(values, np.array([numbers[key] for numbers in alone])), key
    report = curves.tie_report(k)
    for field in ref.TieReport._fields:
        assert same(getattr(report, field), [getattr(curve.tie_report(k), field) for curve in singles])
    ap = np.array([numbers[("average_precision", (), (("interpolation", None),)), "expected"] for numbers in alone])
    if not np.isnan(ap).all():
        assert np.isclose(curves.mean_average_precision(), np.nanmean(ap), rtol=1e-15)
    else:
        assert isnan(curves.mean_average_precision())


@few(10)
@given(query_batches(), cutoffs)
def test_offsets(batch, k):
    y_true, y_score, offsets = batch
    singles = [hc.HitCurve(y_true[a:b], y_score[a:b]) for a, b in pairwise(offsets)]
    assert_queries(hc.HitCurves(y_true, y_score, offsets=offsets), singles, k)


@few(8)
@given(query_batches(), orders, cutoffs)
def test_qid(batch, random, k):
    """Items in any order, ids of any type: the queries come out in ascending order of id."""
    y_true, y_score, offsets = batch
    qid = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = list(range(len(qid)))
    random.shuffle(order)
    assume(order)
    present = np.unique(qid)
    singles = [hc.HitCurve(y_true[qid == q], y_score[qid == q]) for q in present]
    labels, scores, alone = y_true[order], y_score[order], numbers_alone(singles, k)
    names = np.array([f"q{i:02}" for i in range(len(offsets))])
    for ids in (qid * 1000 - 2500, qid.astype(np.uint8), qid + 0.5, names[qid], names[qid].astype(object)):
        curves = hc.HitCurves(labels, scores, qid=ids[order])
        assert curves.qid.tolist() == np.unique(ids).tolist()
        assert_queries(curves, singles, k, alone)
    curves = hc.HitCurves(labels.tolist(), scores.tolist(), qid=names[qid][order].tolist())
    assert_queries(curves, singles, k, alone)


@few(25)
@given(query_batches(), st.data(), st.sampled_from(["raise", "worst", "omit"]), st.booleans())
def test_options_query_by_query(batch, data, nan_policy, lower_is_better):
    """What is given for each item or each query goes to the right one, whatever the order of the items."""
    y_true, y_score, offsets = batch
    n = len(y_true)

    def per_item(values):
        return np.array(data.draw(st.lists(values, min_size=n, max_size=n)))

    if nan_policy != "raise":
        y_score[per_item(st.booleans()).astype(bool)] = np.nan
    build = {"nan_policy": nan_policy, "lower_is_better": lower_is_better}
    extra = data.draw(st.sampled_from([None, "tiebreak", "sample_weight", "order"]))
    arrays = {}
    if extra == "tiebreak":
        arrays["tiebreak"] = per_item(st.integers(0, 2))
    elif extra == "sample_weight":
        arrays["sample_weight"] = per_item(st.sampled_from([0.0, 0.5, 1.0, 4.0]))
    elif extra == "order":
        build["tiebreak"] = "order"
    parts = [slice(a, b) for a, b in pairwise(offsets)]
    missing = np.arange(len(parts)) % 3

    def alone(part, more):
        options = {**build, **{key: values[part] for key, values in arrays.items()}}
        if extra == "sample_weight":
            return hc.HitCurve(y_true[part], y_score[part], **options)
        hits = hc.HitCurve(y_true[part], y_score[part], **options).num_hits
        return hc.HitCurve(y_true[part], y_score[part], num_relevant=hits + more, **options)

    singles = [alone(part, more) for part, more in zip(parts, missing, strict=True)]
    R = None if extra == "sample_weight" else np.array([curve.num_relevant for curve in singles])
    curves = hc.HitCurves(y_true, y_score, offsets=offsets, num_relevant=R, **build, **arrays)
    assert list(curves) == singles

    qid = np.repeat(np.arange(len(parts)), np.diff(offsets))
    order = np.array(data.draw(st.permutations(range(n))), int)
    present = np.unique(qid)
    shuffled = {key: values[order] for key, values in arrays.items()}
    assume(n)
    curves = hc.HitCurves(
        y_true[order],
        y_score[order],
        qid=qid[order],
        num_relevant=None if R is None else R[present],
        **build,
        **shuffled,
    )
    if extra == "order":
        again = [order[qid[order] == q] for q in present]
        singles = [
            hc.HitCurve(y_true[i], y_score[i], num_relevant=r, **build) for i, r in zip(again, R[present], strict=True)
        ]
        assert list(curves) == singles
    else:
        assert list(curves) == [singles[q] for q in present]


@few(8)
@given(st.integers(1, 5), st.integers(0, 12), st.data(), cutoffs)
def test_rows_and_columns(queries, n, data, k):
    y_true = np.array(data.draw(st.lists(st.integers(0, 1), min_size=queries * n, max_size=queries * n)), np.int8)
    y_score = np.array(data.draw(st.lists(few_values, min_size=queries * n, max_size=queries * n)))
    y_true, y_score = y_true.reshape(queries, n), y_score.reshape(queries, n)
    singles = [hc.HitCurve(y, s) for y, s in zip(y_true, y_score, strict=True)]
    alone = numbers_alone(singles, k)
    assert_queries(hc.HitCurves(y_true, y_score), singles, k, alone)
    assert_queries(hc.HitCurves(np.asfortranarray(y_true), np.asfortranarray(y_score)), singles, k, alone)
    # columns: the rankings of the same items by several models
    singles = [hc.HitCurve(y_true[0], s) for s in y_score]
    alone = numbers_alone(singles, k)
    assert_queries(hc.HitCurves(y_true[0], y_score.T), singles, k, alone)
    assert_queries(hc.HitCurves(y_true[0], np.ascontiguousarray(y_score.T)), singles, k, alone)


@given(query_batches(), st.sampled_from(["skip", "zero", "one", "raise"]), st.none() | cutoffs)
def test_mean_average_precision(batch, empty, k):
    y_true, y_score, offsets = batch
    ranks = [ref.ranking(y_true[a:b].tolist(), y_score[a:b].tolist()) for a, b in pairwise(offsets)]
    curves = hc.HitCurves(y_true, y_score, offsets=offsets)

    def function():
        return hc.mean_average_precision(y_true, y_score, offsets=offsets, empty=empty, k=k, ties="best")

    def method():
        return curves.mean_average_precision(k, empty=empty, ties="best")

    try:
        expected = float(ref.mean_average_precision(ranks, k, empty=empty, ties="best"))
    except ValueError:
        with pytest.raises(ValueError):
            routes.agree({"function": function, "method": method})
    else:
        value = routes.agree({"function": function, "method": method})
        assert np.isclose(value, expected, rtol=1e-15, atol=0, equal_nan=True)


# --- every route --------------------------------------------------------------------------------------------

read_options = st.fixed_dictionaries(
    {"ties": st.sampled_from(READINGS)},
    optional={
        "interpolation": st.sampled_from(ref.INTERPOLATIONS),
        "normalize": st.sampled_from(ref.NORMALIZE),
    },
)
build_options = st.fixed_dictionaries(
    {},
    optional={
        "lower_is_better": st.booleans(),
        "num_relevant": st.integers(0, 45),
        "tiebreak": st.sampled_from([None, "order"]),
        "nan_policy": st.sampled_from(["raise", "worst", "omit"]),
    },
)
sometimes_nan = st.one_of(few_values, few_values, few_values, st.just(nan))


def twin(name, y_true, y_score, *args, build, **read):
    rank = ref.ranking(y_true.tolist(), y_score.tolist(), **build)
    return float(getattr(ref, name)(rank, *args, **read))


@few(30)
@given(rankings(max_size=8, scores=sometimes_nan), st.none() | cutoffs, build_options, read_options)
def test_average_precision_by_every_route(items, k, build, read):
    try:
        expected = twin("average_precision", *items, k, build=build, **read)
    except ValueError:
        with pytest.raises(ValueError):
            routes.average_precision(*items, k=k, build=build, **read)
    else:
        value = routes.average_precision(*items, k=k, build=build, **read)
        assert np.isclose(value, expected, rtol=1e-14, atol=0, equal_nan=True)


@few(30)
@given(rankings(max_size=8, scores=sometimes_nan), cutoffs, build_options, st.sampled_from(READINGS))
def test_measures_by_every_route(items, k, build, ties):
    """Every measure but AP, which is above, of curves that are made once."""
    try:
        ref.ranking(*(column.tolist() for column in items), **build)
    except ValueError:
        with pytest.raises(ValueError):
            routes.measure("precision", *items, k, build=build)
        return
    curves = routes.curves(*items, **build)
    batches = {name: make() for name, make in routes.batches(*items, **build).items()
               if len(items[0]) or not name.startswith("qid")}  # fmt: skip

    def agreed(method, *args, **read):
        reads = {name: lambda one=one: getattr(one, method)(*args, **read) for name, one in curves.items()}
        for name, many in batches.items():
            reads[f"{name}, all at once"] = lambda many=many: routes.only(getattr(many, method)(*args, **read))
        return routes.agree(reads)

    for row in HITS[1:]:
        args, read = first_arguments(row, k, 0.3), {"ties": ties} if row.readings else {}
        try:
            expected = twin(row.method, *items, *args, build=build, **read)
        except ValueError:
            with pytest.raises(ValueError):
                agreed(row.method, *args, **read)
        else:
            value = agreed(row.method, *args, **read)
            assert np.isclose(value, expected, rtol=1e-14, atol=1e-13, equal_nan=True), row.method


@few(25)
@given(rankings(max_size=12, scores=few_values), st.data())
def test_secondary_key(items, data):
    y_true, y_score = items
    key = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(y_true), max_size=len(y_true))))
    curves = routes.curves(y_true, y_score, tiebreak=key)
    rank = ref.ranking(y_true.tolist(), y_score.tolist(), tiebreak=key.tolist())
    rows = zip(*(getattr(curves["HitCurve"], field).tolist() for field in ref.Row._fields), strict=True)
    assert list(rows) == ref.table(rank)


@few(12)
@given(rankings(max_size=12, scores=few_values), st.data())
def test_weights(items, data):
    y_true, y_score = items
    weights = st.lists(st.sampled_from([0.0, 0.25, 1.0, 2.5, 2.0**-10]), min_size=len(y_true), max_size=len(y_true))
    weight = np.array(data.draw(weights))
    rank = ref.ranking(y_true.tolist(), y_score.tolist(), sample_weight=weight.tolist())
    build = {"sample_weight": weight}
    for interpolation in (None, "trapezoid", "continuous"):
        read = {"ties": "threshold", "interpolation": interpolation}
        expected = float(ref.average_precision(rank, **read))
        value = routes.average_precision(y_true, y_score, build=build, **read)
        assert np.isclose(value, expected, rtol=2e-15, atol=0, equal_nan=True), interpolation
    expected = float(ref.roc_auc(rank, ties="threshold"))
    value = routes.measure("roc_auc", y_true, y_score, build=build, ties="threshold")
    assert np.isclose(value, expected, rtol=2e-15, atol=0, equal_nan=True)
    curve = hc.HitCurve(y_true, y_score, **build)
    assert curve.weighted and curve.above.dtype == np.float64
    rows = zip(*(getattr(curve, field).tolist() for field in ref.Row._fields), strict=True)
    assert list(rows) == ref.table(rank)  # these weights add up without rounding
    points = list(zip(*(axis.tolist() for axis in curve.hit_curve(ties="threshold")), strict=True))
    assert ref.corners(points) == ref.hit_curve(rank, ties="threshold")
    refused = [(row.method, first_arguments(row, 1, 0.5)) for row in HITS if not row.weighted]
    for name, args in [*refused, ("tie_report", ())]:
        with pytest.raises(ValueError):
            getattr(curve, name)(*args)


# Of any ratio, down to the least number that a float holds; their sum stays one.
any_weight = st.one_of(
    st.floats(0, 1e306), st.sampled_from([0.0, 0.1, 1 / 3, 1.0, 1e9, 1e16, 1e-30, 1e300, 5e-324, 1e306])
)


@few(15)
@given(rankings(max_size=8, scores=st.integers(1, 3).map(float)), st.data())
def test_weights_of_any_ratio(items, data):
    y_true, y_score = items
    weight = data.draw(st.lists(any_weight, min_size=len(y_true), max_size=len(y_true)))
    rank = ref.ranking(y_true.tolist(), y_score.tolist(), sample_weight=weight)
    with np.errstate(all="raise"):
        curve = hc.HitCurve(y_true, y_score, sample_weight=weight)
        values = weighted_numbers(curve)
        precision, recall, _ = curve.precision_recall_curve(ties="threshold")
        fpr, tpr, _ = curve.roc_curve(ties="threshold")
    with ref.mp.workdps(1400):
        for (name, interpolation), value in values.items():
            options = {} if name == "roc_auc" else {"interpolation": interpolation}
            expected = getattr(ref, name)(rank, ties="threshold", **options)
            # Below the least normal number digits are lost.
            assert (
                isnan(value)
                if isnan(expected)
                else abs(ref.mpf(value) - as_mpf(expected)) <= (2e-15 * as_mpf(expected) + 1e-300)
            ), (name, interpolation)
    others = any(w > 0 and not y for w, y in zip(weight, y_true, strict=True))
    relevant = any(w > 0 and y for w, y in zip(weight, y_true, strict=True))
    assert (fpr[-1] == 1.0 and (np.diff(fpr) >= 0).all()) if others else np.isnan(fpr).all()
    assert (tpr[-1] == recall[0] == 1.0 and (np.diff(tpr) >= 0).all()) if relevant else np.isnan(tpr).all()
    assert ((precision >= 0) & (precision <= 1)).all()
    assert same(list(values.values()), list(weighted_numbers(pickle.loads(pickle.dumps(curve))).values()))
    curves = hc.HitCurves(
        *(np.append(one, one) for one in items), offsets=[0, len(weight), 2 * len(weight)], sample_weight=2 * weight
    )
    for again in (curves, pickle.loads(pickle.dumps(curves))):
        assert again[1] == curve
        found = [number for _, number in weighted_numbers(again).items()]
        assert same(found, [[value, value] for value in values.values()])


def as_mpf(number):
    return number if isinstance(number, ref.mp.mpf) else ref.mpf(number)


def weighted_numbers(curve):
    values = {
        ("average_precision", interpolation): curve.average_precision(ties="threshold", interpolation=interpolation)
        for interpolation in (None, "trapezoid", "continuous")
    }
    return values | {("roc_auc", None): curve.roc_auc(ties="threshold")}


BAD = {
    "a label of 2": (([0, 1, 2], [1.0, 2.0, 3.0]), {}),
    "a label of -1": (([0, 1, -1], [1.0, 2.0, 3.0]), {}),
    "a label of 0.5": (([0, 1, 0.5], [1.0, 2.0, 3.0]), {}),
    "NaN among the labels": (([0, 1, nan], [1.0, 2.0, 3.0]), {}),
    "a NaN score": (([0, 1, 0], [1.0, nan, 3.0]), {}),
    "an unknown NaN policy": (([0, 1], [1.0, 2.0]), {"nan_policy": "first"}),
    "an unknown tiebreak": (([0, 1], [1.0, 2.0]), {"tiebreak": "random"}),
    "fewer relevant than hits": (([1, 1], [1.0, 2.0]), {"num_relevant": 1}),
    "a negative number of relevant": (([0, 0], [1.0, 2.0]), {"num_relevant": -1}),
    "a negative weight": (([0, 1], [1.0, 2.0]), {"sample_weight": [1.0, -1.0]}),
    "a NaN weight": (([0, 1], [1.0, 2.0]), {"sample_weight": [1.0, nan]}),
    "complex scores": (([0, 1], [1j, 2j]), {}),
    "scores of strings": (([0, 1], ["a", "b"]), {}),
}


@pytest.mark.parametrize("case", BAD)
def test_errors_by_every_route(case):
    items, build = BAD[case]
    with pytest.raises((ValueError, TypeError)) as error:
        routes.average_precision(*items, build=build)
    assert not isinstance(error.value, AssertionError) and str(error.value)


@pytest.mark.parametrize(
    "k, ties, normalize, interpolation",
    [
        (0, "expected", "min", None),
        (-1, "expected", "min", None),
        (1, "mean", "min", None),
        (1, "expected", "R", None),
        (None, "expected", "min", "12-point"),
        (1, "expected", "min", "11-point"),
    ],
)
def test_unknown_options_by_every_route(k, ties, normalize, interpolation):
    with pytest.raises(ValueError):
        routes.average_precision(
            [0, 1, 1], [1.0, 2.0, 2.0], k=k, ties=ties, normalize=normalize, interpolation=interpolation
        )


@pytest.mark.parametrize("y_true, y_score", [([0, 1], [1.0]), ([0, 1, 1], [1.0, 2.0]), ([], [1.0])])
def test_different_lengths(y_true, y_score):
    for route in (
        lambda: hc.average_precision(y_true, y_score),
        lambda: hc.HitCurve(y_true, y_score),
        lambda: hc.HitCurves(y_true, y_score, offsets=[0, len(y_true)]),
        lambda: hc.HitCurves([y_true], [y_score]),
        lambda: hc.at_threshold(y_true, y_score, 1.0),
        lambda: hc.HitCounter([1.0]).update(y_true, y_score),
    ):
        with pytest.raises(ValueError):
            route()


def test_which_interpolations_are_means_over_the_orders():
    """Of one relevant item tied with another: the trapezoid is, levels are read off the mean hit curve."""
    curve = hc.HitCurve([1, 0], [1.0, 1.0])
    assert curve.average_precision(interpolation="trapezoid") == 5 / 8
    for interpolation in ("11-point", "101-point", "all-point", "11-point-float", "101-point-float"):
        assert curve.average_precision(interpolation=interpolation) == pytest.approx(1 / 2)
    for ties in ("expected", "threshold"):
        assert curve.average_precision(interpolation="continuous", ties=ties) == 1 / 2


@given(rankings())
def test_a_curve_is_true(items):
    curve = hc.HitCurve(*items)
    assert bool(curve) and len(curve) == len(np.unique(items[1][items[0] == 1]))


@few(20)
@given(rankings(min_size=1))
def test_without_a_cutoff_the_whole_list_counts(items):
    """For whatever takes k, of one ranking and of many."""
    y_true, y_score = items
    curves = hc.HitCurves(y_true, y_score, offsets=[0, 0, len(y_true)])
    methods = {name: getattr(hc.HitCurve, name) for name in dir(hc.HitCurve) if name[0] != "_" and name != "plot"}
    taking = [name for name, one in methods.items() if callable(one) and "k" in inspect.signature(one).parameters]
    assert {row.method for row in HITS if "k" in row.cutoffs} | {"tie_report"} == {*taking}
    for name in taking:
        whole = np.asarray(getattr(curves[1], name)())
        assert same(whole, np.asarray(getattr(curves[1], name)(k=len(y_true)))), name
        assert same(whole, np.asarray(getattr(curves, name)())[..., 1]), name


def test_hits_over_the_most_there_can_be_need_no_other_ranks():
    curve = hc.HitCurve.from_ranked([1, 0, 1], num_relevant=5)
    assert curve.normalized_enrichment_factor(k=2) == 1 / 2
    assert curve.normalized_enrichment_factor() == curve.normalized_enrichment_factor(1) == 2 / 3
    for read in (curve.enrichment_factor, curve.max_enrichment_factor):
        with pytest.raises(ValueError, match="needs the rank of every relevant item: num_relevant is 5"):
            read(k=2)
