"""Rank-biased overlap of two rankings: against its slow twin, all orders of ties, and published numbers."""

import math
import pickle
from itertools import permutations, product

import numpy as np
import pytest
import reference
from reference import mp

import hitcurve as hc

VARIANTS = ("a", "b", "w")
# Numbers of Corsi & Urbano (2024), from rbo/test.csv of github.com/julian-urbano/sigir2024-rbo: two rankings with tie
# groups in brackets, p, and ext, min and max of the variants w, a and b.
PUBLISHED = [
    ("(i5 i9 i13 i15 i16 i19 i20) (i3 i8)", "i6 (i4 i18) i2 i7 i8 i17 i14 (i11 i12) i1", 0.958074765324023, {
        "w": (0.0816485573277354, 0.0370062754797617, 0.59493569657566),
        "a": (0.0808189832771587, 0.0354671825076603, 0.593396603603558),
        "b": (0.0813693619867344, 0.0356267307324464, 0.593556151828344)}),
    ("i13 (i1 i4 i5 i6)", "i3 i14 i11 (i10 i15) i12 (i6 i9) i4 i2", 0.92238320668128, {
        "w": (0.117578490431637, 0.0763135264223449, 0.53999366118093),
        "a": (0.114619469221414, 0.0733545052121218, 0.537945108035391),
        "b": (0.11474835409049, 0.0734833900811979, 0.538589532380772)}),
    ("(i8 i13) i14 (i4 i11) (i1 i5)", "(i8 i13) i14 (i5 i11) (i1 i4)", 0.919017337671389, {
        "w": (0.975874736903505, 0.684039698708898, 0.975874736903505),
        "a": (0.929532918336715, 0.637697880142107, 0.929532918336715),
        "b": (0.981543358385111, 0.689708320190503, 0.981543358385111)}),
    ("(i16 i20) (i1 i14) i2 (i4 i6)", "(i1 i2 i4 i6 i8 i9 i10 i11 i13 i14 i15 i16 i18)", 0.967119895718279, {
        "w": (0.652204449681395, 0.27686790166856, 0.837757292369201),
        "a": (0.56781126629893, 0.240786316137156, 0.798809066096968),
        "b": (0.670915913331714, 0.285596607293936, 0.846726304168708)}),
]  # fmt: skip


def of_text(text):
    return [group.strip("()").split() for group in text.replace(") ", ")|").replace(" (", "|(").split("|")
            for group in ([group] if group[0] == "(" else group.split())]  # fmt: skip


def drawn(rng, size, items, tied=0.5):
    """A ranking in tie groups."""
    picked, groups = rng.permutation(items)[:size].tolist(), []
    for item in picked:
        if groups and rng.random() < tied:
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups


def as_scores(groups):
    return {item: -float(place) for place, group in enumerate(groups) for item in group}


def of_groups(x, y, **options):
    return hc.rbo(as_scores(x), as_scores(y), **options)


def assert_near(found, wanted, tolerance=1e-13):
    for name in ("ext", "min", "max", "residual"):
        ours, theirs = getattr(found, name), float(getattr(wanted, name))
        assert ours == pytest.approx(theirs, rel=tolerance, abs=1e-300, nan_ok=True), name


@pytest.mark.parametrize("p", [0.05, 0.5, 0.9, 0.99, 0.999999, 1 - 1e-12])
def test_the_twin(p, request):
    rng = np.random.default_rng(7)
    for case in range(60 if request.config.getoption("--all") else 9):
        sizes = rng.integers(0, 12, 2)
        x, y = (drawn(rng, size, int(rng.integers(12, 20)), (0.0, 0.5, 0.9)[case % 3]) for size in sizes)
        for ties in VARIANTS:
            if not (x or y):
                continue
            found = of_groups(x, y, p=p, ties=ties)
            assert_near(found, reference.rbo(x, y, p, ties))
            assert of_groups(y, x, p=p, ties=ties)[:4] == pytest.approx(found[:4], nan_ok=True)


def every_order(groups):
    return [sum(one, ()) for one in product(*map(permutations, groups))]


def test_variant_a_is_the_mean_over_all_orders():
    """Of the lower bound always; of the others if the rankings have the same length. The twin says so of each order."""
    rng = np.random.default_rng(3)
    for case in range(25):
        size = int(rng.integers(1, 6))
        x, y = drawn(rng, size, 8), drawn(rng, size if case % 2 else int(rng.integers(1, 6)), 8)
        pairs = [*product(every_order(x), every_order(y))]
        values = np.array([hc.rbo(one, other, p=0.8)[:4] for one, other in pairs])
        found = of_groups(x, y, p=0.8, ties="a")
        mean = [math.fsum(column) / len(pairs) for column in values.T]
        assert found.min == pytest.approx(mean[1], rel=1e-14)
        if sum(map(len, x)) == sum(map(len, y)):
            assert found[:4] == pytest.approx(mean, rel=1e-14)
        assert found.ext <= of_groups(x, y, p=0.8, ties="b").ext * (1 + 1e-15)


@pytest.mark.parametrize(("x", "y", "p", "values"), PUBLISHED)
def test_published_numbers(x, y, p, values):
    x, y = of_text(x), of_text(y)
    for ties, (ext, low, high) in values.items():
        found = of_groups(x, y, p=p, ties=ties)
        assert found[:4] == pytest.approx((ext, low, high, high - low), rel=1e-13)


def test_the_bounds_hold_for_every_continuation():
    rng = np.random.default_rng(11)
    for _ in range(60):
        x, y = (rng.permutation(9)[: rng.integers(1, 5)].tolist() for _ in range(2))
        found = hc.rbo(x, y, p=0.7)
        assert found.min <= found.ext <= found.max
        for _ in range(20):
            more = [[*one, *(item for item in rng.permutation(40).tolist() if item not in one)] for one in (x, y)]
            later = hc.rbo(*more, p=0.7)
            assert found.min - 1e-15 <= later.min <= later.max <= found.max + 1e-15
        assert found.residual == pytest.approx(found.max - found.min, rel=1e-13)
    # The upper bound is reached: the shorter ranking goes on with what it lacks, then both with the rest.
    high = hc.rbo([1, 2], [3, 2, 4], p=0.7).max
    assert hc.rbo([1, 2, 3, 4], [3, 2, 4, 1], p=0.7).ext == pytest.approx(high, rel=1e-15)


def test_identical_disjoint_and_empty():
    for n in (1, 2, 10, 1000):
        for p in (0.1, 0.9, 0.9999):
            items = [f"d{i}" for i in range(n)]
            for ties in VARIANTS:
                found = hc.rbo(items, items, p=p, ties=ties)
                assert found.ext == found.max == 1 and 0 < found.min <= 1
            tied = dict.fromkeys(items, 1.0)
            assert hc.rbo(tied, tied, p=p, ties="b").ext == hc.rbo(tied, tied, p=p, ties="w").ext == 1
            apart = hc.rbo(items, [f"e{i}" for i in range(n)], p=p)
            assert apart.ext == apart.min == 0 <= apart.max < 1
            assert apart.residual == pytest.approx(apart.max, rel=1e-15)
    for x, y in (([], ["a"]), (["a"], []), ([], []), ({}, {"a": 1.0})):
        found = hc.rbo(x, y)
        assert math.isnan(found.ext) and found[1:4] == (0, 1, 1)


@pytest.mark.parametrize("p", [0.3, 0.9, 0.98, 0.9901, 0.999, 1 - 1e-6, 1 - 1e-9, 1 - 1e-13, 1 - 2**-53])
def test_p_near_1(p):
    """The lower bound of one shared item is a logarithm; of many, its rest."""
    for n in (1, 3, 200, 300, 2000):
        x = mp.mpf(p)
        agreed = (1 - x) * mp.fsum(x ** (d - 1) for d in range(1, n + 1))
        rest = (1 - x) / x * n * (-mp.log(1 - x) - mp.fsum(x**d / d for d in range(1, n + 1)))
        items = [*range(n)]
        assert hc.rbo(items, items, p=p).min == pytest.approx(float(agreed + rest), rel=2e-15)


def test_many_items():
    """The sum over 70,000 depths, added without rounding error from the agreements by their definition."""
    rng = np.random.default_rng(5)
    n, p = 70_000, 0.99999
    x, y = rng.permutation(n), rng.permutation(n + n // 4)[:n]
    place = np.full(n + n // 4, n)
    place[y] = np.arange(n)
    at = np.maximum(np.arange(n), place[x])
    common = np.cumsum(np.bincount(at[at < n], minlength=n))
    depth = np.arange(1, n + 1)
    weight = np.exp((depth - 1) * np.log(np.longdouble(p)))
    finite = (1 - np.longdouble(p)) * np.sum(weight * common / depth)
    wanted = float(finite + common[-1] / np.longdouble(n) * np.exp(n * np.log(np.longdouble(p))))
    found = hc.rbo(x, y, p=p)
    assert found.ext == pytest.approx(wanted, rel=1e-14)
    assert hc.rbo(x.tolist(), y.tolist(), p=p) == found
    ranks = {int(item): -i for i, item in enumerate(x)}, {int(item): -i for i, item in enumerate(y)}
    assert hc.rbo(*ranks, p=p) == found


def test_scores_of_the_same_items():
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, 5, 20), rng.random(20).round(1).astype(np.float32)
    keyed = [dict(zip(map(str, range(20)), values.tolist(), strict=True)) for values in (x, y)]
    for ties in VARIANTS:
        found = hc.rbo(x, y, scores=True, ties=ties)
        assert found == hc.rbo(*keyed, ties=ties) == hc.rbo(x.tolist(), y.tolist(), scores=True, ties=ties)


@pytest.mark.parametrize("library", ["numpy", "pandas", "polars"])
def test_columns(library):
    module = pytest.importorskip(library)
    make = module.array if library == "numpy" else module.Series
    words, numbers = (["a", "b", "c"], ["b", "d"]), ([1, 2, 3], [2, 4])
    for x, y in (words, numbers):
        assert hc.rbo(make(x), make(y)) == hc.rbo(x, make(y)) == hc.rbo(x, y)
    assert hc.rbo(make([0.5, 0.25]), make([1.0, 2.0]), scores=True) == hc.rbo(["a", "b"], ["b", "a"])


# --- runs -----------------------------------------------------------------------------------------------------------


def runs(rng, as_id=str):
    made = []
    for _ in range(2):
        made.append({str(query): {as_id(doc): float(score) for doc, score in zip(
            rng.permutation(30)[: rng.integers(1, 30)].tolist(), rng.integers(0, 9, 30), strict=False)}
            for query in rng.permutation(12).tolist()})
    return made


@pytest.mark.parametrize("ties", VARIANTS)
def test_runs_have_the_numbers_of_their_queries(ties, tmp_path):
    x, y = runs(np.random.default_rng(4))
    found = hc.rbo(x, y, p=0.8, ties=ties)
    assert found.query_ids == sorted(x)
    each = [hc.rbo(x[query], y[query], p=0.8, ties=ties) for query in found.query_ids]
    for i, name in enumerate(found._fields[:4]):
        assert getattr(found, name).tolist() == [one[i] for one in each]
    paths = [tmp_path / "x.run", tmp_path / "y.run"]
    for path, run in zip(paths, (x, y), strict=True):
        path.write_text("".join(f"{query} Q0 {doc} 0 {score!r} tag\n" for query, docs in run.items()
                                for doc, score in docs.items()))  # fmt: skip
    columns = [tuple(np.array(column) for column in zip(*[(query, int(doc), score) for query, docs in run.items()
                                                         for doc, score in docs.items()], strict=True))
               for run in (x, y)]  # fmt: skip
    for one, other in ([*paths], [str(paths[0]), y], [hc.read_run(x), hc.read_run(paths[1])], columns, [columns[0], y]):
        again = hc.rbo(one, other, p=0.8, ties=ties)
        assert again.query_ids == found.query_ids
        assert np.array_equal(again[:4], found[:4])


def test_rows_of_ids_are_runs_of_numbered_queries():
    found = hc.rbo([[4, 2], [7]] * 6, [[2, 4], [7]] * 6)
    assert found.query_ids == [str(i) for i in range(12)]
    assert found.ext.tolist() == [hc.rbo([4, 2], [2, 4]).ext, 1.0] * 6


def test_queries_of_one_run():
    x, y = {"a": {"d": 1.0}, "b": {"d": 1.0}}, {"b": {"d": 1.0}, "c": {"d": 1.0}}
    with pytest.raises(ValueError, match=r"run has query 'a', which run lacks \(missing='raise'\)"):
        hc.rbo(x, y)
    assert hc.rbo(x, y, missing="skip").query_ids == ["b"]
    with pytest.raises(ValueError, match="which run lacks: the runs have no query in common"):
        hc.rbo({"a": {"d": 1.0}}, {"c": {"d": 1.0}}, missing="skip")


# --- what is refused, and what a result is --------------------------------------------------------------------------


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda: hc.rbo(["a", "b", "a"], ["a"]), ValueError, r"x\[2\] is 'a', as x\[0\] is: a ranking has each item once"),
    (lambda: hc.rbo([1], np.array([3, 5, 5])), ValueError, r"y\[2\] is 5, as y\[1\] is"),
    (lambda: hc.rbo(np.array([1, 2]), np.array([3, 2, 1, 2])), ValueError, r"y\[3\] is 2, as y\[1\] is"),
    (lambda: hc.rbo(np.array([2, 2]), np.array([3])), ValueError, r"x\[1\] is 2, as x\[0\] is"),
    (lambda: hc.rbo([0.5, 0.25], [1]), TypeError, r"x\[0\] is 0.5: an item must be a string or a whole number"),
    (lambda: hc.rbo(["a"], ["a", None]), TypeError, r"y\[1\] is None: an item must be"),
    (lambda: hc.rbo([1, True], [1]), TypeError, r"x\[1\] is True"),
    (lambda: hc.rbo(["a"], [1]), TypeError, "items of x are strings and those of y are whole numbers: no item"),
    (lambda: hc.rbo({"a": 1.0, "b": math.nan}, ["a"]), ValueError, r"x\['b'\] is nan"),
    (lambda: hc.rbo(["a"], {"a": 1.0, "b": "c"}), TypeError, r"y\['b'\] is 'c': a score must be a number"),
    (lambda: hc.rbo([1.0, math.nan], [1.0, 2.0], scores=True), ValueError, r"x\[1\] is nan"),
    (lambda: hc.rbo([1.0], [1.0, 2.0], scores=True), ValueError, "x has 1 score and y has 2: they must be"),
    (lambda: hc.rbo([1], [1], p=0), ValueError, "p is 0: must be between 0 and 1"),
    (lambda: hc.rbo([1], [1], p=1), ValueError, "p is 1: must be between 0 and 1"),
    (lambda: hc.rbo([1], [1], p="0.5"), TypeError, "p must be a number, got '0.5'"),
    (lambda: hc.rbo([1], [1], p=math.nan), ValueError, "p is nan"),
    (lambda: hc.rbo([1], [1], ties="c"), ValueError, "ties='c' is unknown: must be one of 'a', 'b', 'w'"),
    (lambda: hc.rbo([1], [1], missing="zero"), ValueError, "missing='zero' is unknown"),
    (lambda: hc.rbo([1], {"q": {"a": 1.0}}), TypeError, "x is a ranking, and y is a run with a ranking for each query"),
    (lambda: hc.rbo({"q": {"a": math.nan}}, {"q": {"a": 1.0}}), ValueError, "NaN"),
])
def test_what_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_a_result_is_a_tuple_that_pickles_and_prints():
    x, y = runs(np.random.default_rng(9))
    for found in (hc.rbo(["a"], ["b"]), hc.rbo(x, y)):
        again = pickle.loads(pickle.dumps(found))
        assert type(again) is hc.RankBiasedOverlap and again._fields == found._fields
        assert all(np.array_equal(one, other) for one, other in zip(again, found, strict=True))
        html = found._repr_html_()
        assert "RankBiasedOverlap" in html and "residual" in html
    assert "12 queries" in html and repr(hc.rbo(["a"], ["a"], p=0.5)).startswith("RankBiasedOverlap(ext=1.0, min=0.69")
