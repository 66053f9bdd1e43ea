"""Tables of every size, kind of input and type of score against a plain sort."""

import re

import numpy as np
import pytest
from covering import covering

import hitcurve as hc

PARTS = 4  # each has every fourth size; a kind and a type of score have one of them in a run without the slow tests
# Every size up to 70, then those around the sizes of blocks and vectors.
SOME = (*range(71), *(n for power in (96, 128, 256, 512, 768, 1024) for n in (power - 1, power, power + 1)), 300, 700)
SIZES = [SOME[part::PARTS] for part in range(PARTS)]
# Beyond the sizes at which a kernel changes its strategy or its block.
LARGE = (2_047, 4_096, 20_001, 70_000)
DTYPES = (
    *("float16", "float32", "float64", "bool"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)
LABEL_DTYPES = ("bool", "int8", "uint8", "int64", "float64", "float32", "int32", "uint64")


def limits(dtype):
    if dtype == "bool":
        return 0, 1
    info = np.finfo(dtype) if dtype.startswith("float") else np.iinfo(dtype)
    return info.min, info.max


def random(rng, n, dtype):
    if dtype == "bool":
        return rng.integers(0, 2, n).astype(bool)
    if dtype.startswith("float"):
        return rng.standard_normal(n).astype(dtype)
    return rng.integers(*limits(dtype), n, dtype, endpoint=True)


def constant(rng, n, dtype):
    return np.full(n, random(rng, 1, dtype)[0], dtype)


def ascending(rng, n, dtype):
    return np.sort(random(rng, n, dtype))


def descending(rng, n, dtype):
    return np.sort(random(rng, n, dtype))[::-1].copy()


def few_values(rng, n, dtype):
    return rng.choice(random(rng, 5, dtype), n)


def one_odd(rng, n, dtype):
    scores = constant(rng, n, dtype)
    scores[n // 2 : n // 2 + 1] = random(rng, 1, dtype)[0]
    return scores


def infinities(rng, n, dtype):
    """Infinities among the scores; for integers the ends of their range."""
    scores = random(rng, n, dtype)
    ends = (-np.inf, np.inf) if dtype.startswith("float") else limits(dtype)
    place = rng.integers(0, 4, n)
    scores[place == 0] = ends[0]
    scores[place == 1] = ends[1]
    return scores


def zeros(rng, n, dtype):
    """Zeros of both signs and what lies next to them."""
    if not dtype.startswith("float"):
        return rng.integers(0, 2, n).astype(dtype)
    tiny = np.finfo(dtype).smallest_subnormal
    return rng.choice(np.array([0.0, -0.0, tiny, -tiny], dtype), n)


def heavy_tails(rng, n, dtype):
    scores = rng.standard_cauchy(n) * 1e3
    if dtype == "bool":
        return scores > 0
    if dtype.startswith("float"):
        with np.errstate(over="ignore"):
            return scores.astype(dtype)
    low, high = (float(limit) for limit in limits(dtype))
    return np.clip(scores, max(low, -(2.0**62)), min(high, 2.0**62)).astype(dtype)


def neighbours(rng, n, dtype):
    """Scores that differ in the last bit; in 64 bits they are all the same number to a float64."""
    step = rng.integers(0, 4, n)
    if dtype == "bool":
        return step > 1
    if dtype.startswith("float"):
        bits = np.array(1.5, dtype).view(f"u{np.dtype(dtype).itemsize}")
        return (bits + step.astype(bits.dtype)).view(dtype)
    return np.array(limits(dtype)[1], dtype) - step.astype(dtype)


def alike(rng, n, dtype):
    """Scores that differ in their lower bits alone: a map that sees the upper bits tells few of them apart."""
    bits = rng.integers(0, 256, n).astype(np.uint64)
    if dtype == "float64":
        uppers = [0, 1, 0x3FF00000, 0x3FF00001, 0x7FEFFFFF, 0x80000000, 0xBFF00000, 0xFFEFFFFF]
        upper = rng.choice(np.array(uppers, np.uint64), n)
        return (upper << np.uint64(32) | bits << np.uint64(rng.integers(0, 25))).view(dtype)
    if dtype == "float32":
        upper = rng.choice(np.array([0, 0x3F8, 0x7F7, 0x800, 0xBF8, 0xFF7], np.uint64), n)
        return (upper << np.uint64(20) | bits << np.uint64(rng.integers(0, 12))).astype(np.uint32).view(dtype)
    return bits.astype(dtype)


def subnormal(rng, n, dtype):
    if not dtype.startswith("float"):
        return random(rng, n, dtype)
    kind = np.finfo(dtype)
    steps = rng.integers(-(2**kind.nmant) + 1, 2**kind.nmant, n)
    return (steps * kind.smallest_subnormal.astype(np.float64)).astype(dtype)


def clustered(rng, n, dtype):
    """Scores for labels that are all relevant in one place: see `labels`."""
    return ascending(rng, n, dtype)


KINDS = (
    random,
    constant,
    ascending,
    descending,
    few_values,
    one_odd,
    infinities,
    zeros,
    heavy_tails,
    neighbours,
    alike,
    subnormal,
    clustered,
)


def labels(rng, n, kind):
    """None, one, few, half or all relevant, by size; in one run for the clustered kind."""
    count = min(n, (0, 1, 3, n // 20, n // 2, n)[int(rng.integers(0, 6))])
    y_true = np.zeros(n, bool)
    if kind is clustered:
        start = int(rng.integers(0, n - count + 1))
        y_true[start : start + count] = True
    else:
        y_true[rng.permutation(n)[:count]] = True
    return y_true


def plain_table(y_true, y_score, lower_is_better=False):
    """(score, above, tied, hits) by a sort of all scores."""
    values, group = np.unique(y_score, return_inverse=True)
    tied = np.bincount(group, minlength=len(values))
    hits = np.bincount(group[y_true], minlength=len(values))
    if not lower_is_better:
        values, tied, hits = values[::-1], tied[::-1], hits[::-1]
    above = np.cumsum(tied) - tied
    kept = hits > 0
    return values[kept], above[kept], tied[kept], hits[kept]


def check(curve, y_true, y_score, lower_is_better=False):
    expected = plain_table(y_true, y_score, lower_is_better)
    assert curve.num_items == len(y_true)
    for field, values in zip(("above", "tied", "hits"), expected[1:], strict=True):
        got = getattr(curve, field)
        assert got.dtype == np.int64
        assert np.array_equal(got, values), field
    # as Python numbers: an integer score beyond 2**53 must not have gone through a float
    assert curve.score.tolist() == expected[0].tolist()


def name_of(value):
    return getattr(value, "__name__", None)


@pytest.mark.parametrize(("kind", "dtype", "sizes"), covering(KINDS, DTYPES, SIZES), ids=name_of)
def test_sizes(kind, dtype, sizes):
    agree(kind, dtype, sizes)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_every_size(kind, dtype):
    agree(kind, dtype, range(1024))


def agree(kind, dtype, sizes):
    rng = np.random.default_rng(7)
    for n in sizes:
        y_score = kind(rng, n, dtype)
        y_true = labels(rng, n, kind)
        given = y_true.astype(LABEL_DTYPES[n // PARTS % len(LABEL_DTYPES)])
        try:
            check(hc.HitCurve(given, y_score), y_true, y_score)
        except AssertionError as error:
            raise AssertionError(f"{kind.__name__}, {dtype}, n = {n}, R = {y_true.sum()}: {error}") from error


@pytest.mark.parametrize(
    ("kind", "dtype", "relevant"),
    covering(KINDS, ["float32", "float64", "int32", "int64", "uint8"], ["three", "few", "half"]), ids=name_of)
def test_large(kind, dtype, relevant):
    rng = np.random.default_rng(8)
    for n in LARGE:
        y_score = kind(rng, n, dtype)
        y_true = np.zeros(n, bool)
        start = 0 if kind is not clustered else n // 3
        place = rng.permutation(n) if kind is not clustered else np.arange(start, n)
        y_true[place[: {"three": 3, "few": n // 100, "half": n // 2}[relevant]]] = True
        check(hc.HitCurve(y_true, y_score), y_true, y_score)


STRATEGIES = ("compare", "search", "buckets", "parts", "throw")


@pytest.mark.parametrize(
    ("kind", "dtype", "strategy"), covering(KINDS, ["float32", "float64", "int64"], STRATEGIES), ids=name_of)
@pytest.mark.parametrize("sizes", [(*range(70), *range(70, 1024, 93), 4_097, 20_000),
                                   pytest.param((*range(70, 1024, 31), 40_000, 60_001), marks=pytest.mark.slow)],
                         ids=["small", "large"])  # fmt: skip
def test_every_strategy(kind, dtype, strategy, sizes):
    """Each way to count, also where it would not be chosen."""
    rng = np.random.default_rng(14)
    for n in sizes:
        if n > 10_000 and strategy == "compare":
            continue
        y_score, y_true = kind(rng, n, dtype), labels(rng, n, kind)
        lower = bool(n % 2)
        curve = hc.HitCurve(y_true, y_score, lower_is_better=lower, _strategy=strategy)
        check(curve, y_true, y_score, lower)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_read_together(dtype):
    """Average precision is read off some rows at a time; the last of them may be that of the NaN, or stand alone."""
    rng = np.random.default_rng(18)
    for rows in (*range(1, 20), *range(254, 259), *range(510, 515), 1535, 1536, 2047):
        y_score = np.repeat(rng.permutation(rows), 3).astype(dtype)
        y_score[y_score == 0] = np.nan
        y_true = np.tile([True, False, False], rows)
        for lower in (False, True):
            options = {"nan_policy": "worst", "lower_is_better": lower}
            wanted = hc.HitCurve(y_true, y_score, **options).average_precision()
            assert hc.average_precision(y_true, y_score, **options) == wanted, rows
            assert hc.mean_average_precision(y_true, y_score, offsets=[0, 3 * rows], **options) == wanted, rows


WAYS = ((None, 1), (None, 3), ("throw", 2))  # strategy, workers


@pytest.mark.parametrize(
    ("kind", "dtype", "policy", "lower", "way"),
    covering(KINDS, ["float32", "float64", "int64"], ["worst", "omit"], [False, True], WAYS), ids=name_of)
def test_many_relevant(kind, dtype, policy, lower, way):
    """What is chosen for many relevant items, by any number of workers, has the bits of a search."""
    rng = np.random.default_rng(17)
    n = 210_000
    y_score, y_true = kind(rng, n, dtype), rng.random(n) < 0.4
    if dtype != "int64":
        y_score = np.where(rng.random(n) < 1e-3, np.nan, y_score).astype(dtype)
    options = {"lower_is_better": lower, "nan_policy": policy}
    wanted = hc.HitCurve(y_true, y_score, _strategy="search", **options)
    how = options | dict(zip(("_strategy", "workers"), way, strict=True))
    found = hc.HitCurve(y_true, y_score, **how)
    assert found == wanted
    assert hc.average_precision(y_true, y_score, **how) == wanted.average_precision()
    assert hc.average_precision(y_true, y_score, k=1000, **how) == wanted.average_precision(1000)


@pytest.mark.parametrize(("kind", "dtype", "most"), [
    pytest.param(kind, dtype, most, marks=() if most == 20 and (i + j) % 2 == 0 else pytest.mark.slow)
    for most in (20, 130) for i, kind in enumerate(KINDS)
    for j, dtype in enumerate(["float16", "float32", "float64", "int32", "int64", "uint64", "bool"])
], ids=name_of)  # fmt: skip
def test_queries_of_many_sizes(kind, dtype, most):
    """One batch of rankings of every size; by offsets and by unsorted ids."""
    rng = np.random.default_rng(15)
    sizes = rng.permutation([*range(most), 31, 32, 33, 64, 600, 1500])
    scores = [kind(rng, n, dtype) for n in sizes]
    flags = [labels(rng, n, kind) for n in sizes]
    y_score, y_true, offsets = np.concatenate(scores), np.concatenate(flags), np.cumsum([0, *sizes])
    order = rng.permutation(len(y_true))
    qid = np.repeat(np.arange(len(sizes)), sizes)[order]
    lower = {"lower_is_better": bool(rng.integers(0, 2))}
    for workers in (1, 3):
        by_offsets = hc.HitCurves(y_true, y_score, offsets=offsets, workers=workers, **lower)
        by_id = hc.HitCurves(y_true[order], y_score[order], qid=qid, workers=workers, **lower)
        assert len(by_offsets) == len(sizes)
        if workers == 1:
            alone = by_offsets
            for curve, y, s in zip(by_offsets, flags, scores, strict=True):
                check(curve, y, s, **lower)
        assert by_offsets == alone
        assert list(by_id) == [by_offsets[i] for i in np.flatnonzero(sizes)]
    long = int(np.argmax(sizes))
    rows = hc.HitCurves(np.stack([flags[long]] * 3), np.stack([scores[long]] * 3), **lower)
    for curve in rows:
        check(curve, flags[long], scores[long], **lower)


@pytest.mark.parametrize("dtype", DTYPES)
def test_lower_is_better(dtype):
    """The least integer has no negative: the order is turned round, not the numbers."""
    rng = np.random.default_rng(9)
    for n in (0, 1, 2, 9, 64, 300, 1023):
        for kind in KINDS:
            y_score, y_true = kind(rng, n, dtype), labels(rng, n, kind)
            check(hc.HitCurve(y_true, y_score, lower_is_better=True), y_true, y_score, lower_is_better=True)


@pytest.mark.parametrize("lower_is_better", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_curve_thresholds(dtype, lower_is_better):
    """Selecting at a point's threshold selects its items, in every type of score."""
    rng = np.random.default_rng(16)
    for n in (0, 1, 2, 5, 30, 100):
        for kind in (random, constant, few_values, one_odd, infinities, zeros, neighbours):
            y_score, y_true = kind(rng, n, dtype), labels(rng, n, kind)
            curve = hc.HitCurve(y_true, y_score, lower_is_better=lower_is_better)
            items, hits = curve.hit_curve(ties="threshold")
            threshold = curve.precision_recall_curve(ties="threshold").threshold
            assert len(threshold) == len(items) - 1
            for x, h, t in zip(items[:0:-1], hits[:0:-1], threshold, strict=True):
                selected = hc.at_threshold(y_true, y_score, t, lower_is_better=lower_is_better)
                assert (selected.tp, selected.fp) == (h, x - h), (kind.__name__, n, t)


@pytest.mark.parametrize("dtype", DTYPES)
def test_layouts(dtype):
    """Strides, byte orders, alignment and write protection change nothing."""
    rng = np.random.default_rng(10)
    for n in (0, 1, 2, 7, 31, 100, 257, 1000):
        y_score, y_true = few_values(rng, n, dtype), labels(rng, n, random)
        curve = hc.HitCurve(y_true, y_score)
        check(curve, y_true, y_score)
        scores, flags = [y_score], [y_true, y_true.tolist(), y_true.astype(np.int8)]
        for array, forms in ((y_score, scores), (y_true, flags), (y_true.astype(np.int64), flags)):
            forms.append(np.repeat(array, 3)[::3])
            forms.append(np.ascontiguousarray(array[::-1])[::-1])
            forms.append(np.asfortranarray(np.stack([array, array], axis=1))[:, 1])
            forms.append(np.ascontiguousarray(np.stack([array, array], axis=1))[:, 1])
            forms.append(array.astype(array.dtype.newbyteorder()))
            shifted = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype)  # not aligned
            shifted[:] = array
            forms.append(shifted)
            locked = array.copy()
            locked.flags.writeable = False
            forms.append(locked)
        for s in scores:
            before = s.copy()
            assert hc.HitCurve(y_true, s) == curve
            assert np.array_equal(s, before)
        for y in flags:
            assert hc.HitCurve(y, y_score) == curve


@pytest.mark.parametrize("dtype", LABEL_DTYPES)
def test_labels_of_every_type(dtype):
    """Only 0 and 1 are labels, wherever they stand: no other value becomes either, by its lower bits or its sign."""
    rng = np.random.default_rng(13)
    least, greatest = limits(dtype)
    powers = (2**bits + lowest for bits in (1, 7, 8, 16, 31, 32, 63) for lowest in (0, 1))
    wrong = {value for value in (-2, -1, *powers, least, greatest) if least <= value <= greatest} - {0, 1}
    for n in (1, 2, 7, 8, 9, 15, 16, 17, 63, 100, 2048, 2049):
        y_true, y_score = rng.integers(0, 2, n), random(rng, n, "float64")
        y_typed = y_true.astype(dtype)
        assert hc.HitCurve(y_typed, y_score) == hc.HitCurve(y_true.astype(np.uint8), y_score)
        for i in {0, n // 2, n - 1}:
            for value in wrong:
                y_bad = y_typed.copy()
                y_bad[i] = value
                with pytest.raises(ValueError, match=rf"y_true\[{i}\] is \S+: labels must be 0 or 1"):
                    hc.average_precision(y_bad, y_score)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("lower_is_better", [False, True])
def test_nan_policies(dtype, lower_is_better):
    rng = np.random.default_rng(11)
    for n in (0, 1, 2, 3, 8, 33, 100, 511, 1023):
        for kind in (random, few_values, infinities, zeros):
            y_score, y_true = kind(rng, n, dtype), labels(rng, n, kind)
            missing = rng.random(n) < rng.choice([0.02, 0.5, 1.0])
            y_score[missing] = np.nan
            options = {"lower_is_better": lower_is_better}
            if missing.any():
                with pytest.raises(ValueError, match=r"y_score\[\d+\] is nan") as error:
                    hc.HitCurve(y_true, y_score, **options)
                assert missing[int(re.search(r"\d+", str(error.value))[0])]
            omitted = hc.HitCurve(y_true, y_score, nan_policy="omit", **options)
            check(omitted, y_true[~missing], y_score[~missing], lower_is_better)
            worst = hc.HitCurve(y_true, y_score, nan_policy="worst", **options)
            assert (worst.num_items, worst.num_hits) == (n, y_true.sum())
            score, above, tied, hits = plain_table(y_true[~missing], y_score[~missing], lower_is_better)
            if y_true[missing].any():  # one tie group below all
                score = np.append(score, np.nan)
                above = np.append(above, n - missing.sum())
                tied = np.append(tied, missing.sum())
                hits = np.append(hits, y_true[missing].sum())
            for field, values in (("score", score), ("above", above), ("tied", tied), ("hits", hits)):
                assert np.array_equal(getattr(worst, field), values, equal_nan=True), field


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_counted_in_blocks(dtype):
    rng = np.random.default_rng(12)
    for n in (0, 1, 5, 64, 257, 1023, 5000):
        for kind in KINDS:
            y_score, y_true = kind(rng, n, dtype), labels(rng, n, kind)
            counter = hc.HitCounter(y_score[y_true])
            for part in np.array_split(np.arange(n), 4):
                counter.update(y_true[part], y_score[part])
            check(counter.curve(), y_true, y_score)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_workers_change_nothing(dtype):
    rng, turn = np.random.default_rng(13), ["float32", "float64", "int32"].index(dtype)
    for i, kind in enumerate(KINDS):
        for n in (0, 1, 3, 1000, 70_000) if (i + turn) % 3 == 0 else (0, 1, 3, 1000):
            y_score, y_true = kind(rng, n, dtype), labels(rng, n, kind)
            curves = [hc.HitCurve(y_true, y_score, workers=workers) for workers in (1, 2, 3, -1)]
            check(curves[0], y_true, y_score)
            for curve in curves:
                assert curve == curves[0]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint64"])
@pytest.mark.parametrize("m", [3, 500, 100_000])
def test_blocks_of_every_size(m, dtype):
    """Blocks are counted one by one; those of few items otherwise than large ones."""
    rng = np.random.default_rng(16)
    top = np.inf if dtype.startswith("float") else np.iinfo(dtype).max
    thresholds = np.unique(random(rng, 2 * m, dtype))[: m - 1]
    ends = np.array([top, top, top, limits(dtype)[0]], dtype)
    score = np.concatenate([thresholds, rng.choice(thresholds, 700), random(rng, 40_000, dtype)])
    score = np.concatenate([ends, score[rng.permutation(len(score))]])
    at = np.searchsorted(thresholds, score, side="left")
    equal = (at < len(thresholds)) & (thresholds[np.minimum(at, len(thresholds) - 1)] == score)
    y_true = equal & (rng.random(len(score)) < 0.1)
    counter = hc.HitCounter(thresholds)
    start = 0
    for n in (1, 0, 2, 3, 7, 40, 2_048, 2_049, 1, 9_000, len(score)):
        if start < 60:
            counter.curve()  # what was counted is not lost, nor counted twice
        counter.update(y_true[start : start + n], score[start : start + n])
        start += n
    counts = np.bincount(2 * at + equal, minlength=2 * len(thresholds) + 1)
    assert np.array_equal(counter.__getstate__()["items"], counts)
