"""Rankings in memory against the twin, against counts by numpy, in batches and blocks; what must be refused."""

import json
import pickle
import tempfile
import threading
from contextlib import redirect_stderr, redirect_stdout
from fractions import Fraction
from io import StringIO
from math import inf, isnan, nan
from pathlib import Path

import numpy as np
import reference as ref
from register import HITS, calls

import hitcurve as hc
from hitcurve import measures
from hitcurve.cli import main as cli

from .draws import (
    LABELS,
    PROMISED,
    READINGS,
    SCORES,
    STRATEGIES,
    agree,
    close,
    dressed,
    refusing,
    same,
    small_ranking,
)


def reading(draw, n):
    """The name of some method, and arguments for it."""
    row = draw.pick(HITS)
    share = draw.pick([1e-9, 0.07, 0.3, 1 / 3, 0.5, 1.0])
    at = {"k": draw.whole(1, n + 2), "fraction": share, "fpr": draw.pick([0.01, 0.25, 0.5, 1.0])}
    every = list(calls(row, more=True, **at))
    every += [((value,), options) for value in row.parameter[1] for options in row.options]
    args, keywords = draw.pick(every)
    return row.method, args, keywords | ({"ties": draw.pick(READINGS)} if row.readings else {})


def against_the_twin(draw):
    """Small rankings, in any dress and with any options, against exact fractions."""
    label, score = small_ranking(draw)
    n = len(label)
    build = {"lower_is_better": draw.chance(2)}
    if draw.chance(8):
        label = np.array([draw.whole(0, 3) for _ in range(n)], dtype=draw.pick(("u1", "i8", "f4", "f8")))
        build["relevance_level"] = draw.pick([1, 2, 1.5])
    hits = int((label >= build.get("relevance_level", 1)).sum())
    if draw.chance(3):
        build["num_relevant"] = hits + draw.whole(0, 3)
    if draw.chance(5):
        build["tiebreak"] = draw.pick(["order", [draw.whole(-1, 1) for _ in range(n)], list("baca")[:n]])
        if len(build["tiebreak"]) != n:
            build["tiebreak"] = "order"
    if draw.chance(10) and not {"num_relevant", "tiebreak"} & set(build):
        build["sample_weight"] = [draw.pick([0.0, 0.5, 1.0, 2.25]) for _ in range(n)]
    if score.dtype.kind == "f" and draw.chance(4):
        score[[draw.chance(3) for _ in range(n)]] = nan
        build["nan_policy"] = draw.pick(["worst", "omit", "raise"])
        if score.dtype == np.longdouble:
            score = score.astype("f8")
    values = [nan if x != x else Fraction(float(x)) for x in score]
    rank = refusing(lambda: ref.ranking([int(x) for x in label], values, **build))
    y, s = dressed(draw, label), dressed(draw, score)
    if "sample_weight" in build:
        build["sample_weight"] = dressed(draw, np.array(build["sample_weight"]))
    curve = refusing(lambda: hc.HitCurve(y, s, **build))
    if rank is None or curve is None:
        if rank is not None or curve is not None:
            raise AssertionError(f"refused by {'HitCurve' if curve is None else 'the twin'} alone")
        return
    rows = [(row.above, row.tied, row.hits) for row in ref.table(rank)]
    if rows != list(zip(curve.above.tolist(), curve.tied.tolist(), curve.hits.tolist(), strict=True)):
        raise AssertionError("rows")
    ties = draw.pick(READINGS)
    k = draw.pick([None, None, 1, 2, 3, 5, 2**40])
    read = {"ties": ties, "normalize": draw.pick(ref.NORMALIZE)}
    read["interpolation"] = draw.pick(ref.INTERPOLATIONS) if k is None else None
    expected = refusing(lambda: ref.average_precision(rank, k, **read))
    got = refusing(lambda: hc.average_precision(y, s, k=k, workers=draw.pick([1, 1, 1, 2]), **build, **read))
    agree(got, expected, "average_precision")
    if got is not None:
        same(got, curve.average_precision(k, **read), "average_precision of a curve")
        many = hc.HitCurves(y, s, offsets=[0, n], **build)
        same(got, many[0].average_precision(k, **read), "of one query")
        same(got, many.average_precision(k, **read)[0], "of queries")
    for _ in range(2):
        name, args, read = reading(draw, n)
        expected = refusing(lambda name=name, args=args, read=read: getattr(ref, name)(rank, *args, **read))
        agree(refusing(lambda name=name, args=args, read=read: getattr(curve, name)(*args, **read)), expected, name)
    if draw.chance(4) and not curve.weighted:
        points = curve.hit_curve(ties=ties)
        corners = ref.corners(list(zip(points.items.tolist(), points.hits.tolist(), strict=True)))
        if corners != ref.hit_curve(rank, ties=ties):
            raise AssertionError("hit_curve")
        t = draw.whole(-1, 5)
        options = {name: build[name] for name in ("relevance_level", "lower_is_better", "nan_policy") if name in build}
        twin = ref.at_threshold([int(x) for x in label], values, t, **options)
        for one, other in zip(hc.at_threshold(y, s, t, **options), twin, strict=True):
            close(float(one), other, "at_threshold")
    if pickle.loads(pickle.dumps(curve)) != curve:
        raise AssertionError("pickle")


def table_by_numpy(label, score, lower):
    """(score, above, tied, hits) of the groups that hold a relevant item."""
    values, places = np.unique(score, return_inverse=True)
    tied = np.bincount(places, minlength=len(values))
    hits = np.bincount(places[label == 1], minlength=len(values))
    if not lower:
        values, tied, hits = values[::-1], tied[::-1], hits[::-1]
    above = np.cumsum(tied) - tied
    rows = hits > 0
    return values[rows], above[rows], tied[rows], hits[rows]


def precisions_by_numpy(above, tied, hits, n):
    """Average precision under each reading, item by item; good to about 1e-12."""
    before, relevant = np.cumsum(hits) - hits, hits.sum()
    group = np.repeat(np.arange(len(hits)), hits)
    nth = np.arange(relevant) - before[group] + 1
    best = ((before[group] + nth) / (above[group] + nth)).sum()
    worst = ((before[group] + nth) / (above[group] + tied[group] - hits[group] + nth)).sum()
    threshold = (hits * (before + hits) / (above + tied)).sum()
    place = np.repeat(np.arange(len(hits)), tied)
    j = np.arange(tied.sum()) - (np.cumsum(tied) - tied)[place] + 1
    others = (j - 1) * (hits - 1)[place] / np.maximum(tied - 1, 1)[place]
    expected = ((hits / tied)[place] * (before[place] + 1 + others) / (above[place] + j)).sum()
    return [value / relevant for value in (expected, best, worst, threshold)]


SIZES = [8, 31, 32, 33, 64, 100, 511, 512, 513, 1000, 2047, 2048, 2049, 4100]


def some_scores(draw, rng, n, dtype):
    kind = draw.whole(0, 8)
    if kind == 0:
        score = rng.random(n)
    elif kind == 1:
        score = rng.standard_cauchy(n)
    elif kind == 2:
        score = rng.integers(0, draw.pick([1, 2, 30, 10**6]), n).astype(float)
    elif kind == 3:
        score = rng.integers(0, 2**63, n, dtype=np.uint64).view(np.float64)
        score[np.isnan(score)] = np.inf
    elif kind == 4:
        score = np.sort(rng.random(n))[:: draw.pick([1, -1])]
    elif kind == 5:
        score = rng.choice([0.0, -0.0, 5e-324, -5e-324, 1e-40, -1e-40, inf, -inf, 1.0], n)
    elif kind == 6:  # neighbours: they differ in the last bits
        score = 1 + rng.integers(-9, 9, n) * 2.0 ** -draw.pick([9, 22, 23, 50, 52])
    elif kind == 7:
        score = rng.standard_normal(n) * np.where(rng.random(n) < 0.5, 1e-12, 1e12)
    else:
        score = np.where(rng.random(n) < 0.9, 0.5, rng.random(n))
    if dtype[0] in "iu" and draw.chance(3):  # the whole range, and its ends
        limits = np.iinfo(dtype)
        exact = rng.integers(limits.min, limits.max, n, dtype=dtype, endpoint=True)
        exact[rng.random(n) < 0.1] = draw.pick([limits.min, limits.max])
        return exact
    with np.errstate(all="ignore"):
        return (np.nan_to_num(score) * 100 if dtype[0] in "iu" else score).astype(dtype)


def an_end(draw, n):
    """A place among n, often one where a loop or a block ends."""
    return min(n - 1, draw.pick([0, 7, 8, 31, 32, 511, 2047, 2048, n - 2, n - 1, draw.whole(0, n - 1)]))


def against_numpy(draw):
    """Larger rankings of every type, by every strategy, against counts by np.unique."""
    rng = draw.generator()
    n = draw.pick(SIZES) if draw.whole(0, 60) else draw.pick([9_000, 20_001])
    label = (rng.random(n) < draw.pick([0.0, 0.003, 0.02, 0.05, 0.5, 0.97, 1.0])).astype(draw.pick(LABELS))
    score = some_scores(draw, rng, n, draw.pick(SCORES))
    if draw.chance(6):  # relevant items side by side
        label = label[np.argsort(np.argsort(score, kind="stable"), kind="stable")]
    lower = draw.chance(2)
    options = {"lower_is_better": lower, "_strategy": draw.pick(STRATEGIES), "workers": draw.pick([1, 1, 1, 1, 2])}
    kept, nan_items, nan_hits = slice(None), 0, 0
    if score.dtype.kind == "f" and score.dtype != np.longdouble and draw.chance(4):
        missing = rng.random(n) < draw.pick([2 / n, 0.3, 1.0])
        if draw.chance(2):
            missing[:] = False
            missing[an_end(draw, n)] = True
        score[missing], kept = nan, ~missing
        options["nan_policy"] = draw.pick(["worst", "omit"])
        if options["nan_policy"] == "worst":
            nan_items, nan_hits = int(missing.sum()), int((label[missing] == 1).sum())
    # A list of large uint64 is refused: numpy makes float64 of it, which rounds.
    lists = score.dtype != np.uint64 and n < 600
    y, s = dressed(draw, label, lists), dressed(draw, score, lists)
    curve = hc.HitCurve(y, s, **options)
    expected = table_by_numpy(label[kept], score[kept], lower)
    items = int(expected[1].shape[0] and label[kept].shape[0]) or label[kept].shape[0]
    if nan_hits:
        last = (score.dtype.type(nan), items, nan_items, nan_hits)
        expected = tuple(np.append(column, value) for column, value in zip(expected, last, strict=True))
    for got, column in zip((curve.score, curve.above, curve.tied, curve.hits), expected, strict=True):
        if not np.array_equal(got, column, equal_nan=score.dtype.kind == "f"):
            raise AssertionError(f"a column of {score.dtype}, {options}, {n} items")
    if curve.num_items != items + nan_items:
        raise AssertionError("num_items")
    ties = draw.pick(READINGS)
    value = hc.average_precision(y, s, ties=ties, **options)
    same(value, curve.average_precision(ties=ties), "average_precision of a curve")
    if curve.num_hits:
        twin = precisions_by_numpy(*expected[1:], curve.num_items)
        close(value, twin[READINGS.index(ties)], "average_precision", 1e-10)
        k = draw.whole(1, n)
        share = np.clip(k - expected[1], 0, expected[2]) / expected[2] * expected[3]
        close(curve.precision(k), share.sum() / k, "precision", 1e-10)
        others, seen = expected[1] - (np.cumsum(expected[3]) - expected[3]), curve.num_items - curve.num_hits
        if seen:
            right = (expected[3] * (seen - others - (expected[2] - expected[3]) / 2)).sum() / seen / curve.num_hits
            close(curve.roc_auc(), right, "roc_auc", 1e-10)


def many_queries(draw):
    """Rankings query by query, by offsets, by id or in two dimensions, and each alone."""
    rng = draw.generator()
    lengths = rng.integers(0, draw.pick([2, 9, 9, 70, 700]), draw.whole(0, 9))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(draw.pick(["i8", "i4", "u8", "u2"]))
    n = int(offsets[-1])
    label, score = rng.random(n) < 0.2, rng.integers(0, 50, n).astype(draw.pick(SCORES))
    options = {"lower_is_better": draw.chance(2), "workers": draw.pick([1, 1, 2])}
    if draw.chance(4):
        options["tiebreak"] = "order"
    queries = np.arange(len(lengths))
    names = draw.pick([queries, (queries * 30 - 128).astype("i1"), queries - 2**40,
                       queries.astype("u8") + np.uint64(2**63 - 4),
                       queries.astype("f4") / 7, np.array([f"q{q}" for q in queries], str)])  # fmt: skip
    qid = np.repeat(names, lengths)
    order = rng.permutation(n)
    if "tiebreak" in options:  # queries mixed, the items of each in their order
        order[np.argsort(np.repeat(queries, lengths)[order], kind="stable")] = np.arange(n)
    curves = hc.HitCurves(dressed(draw, label), dressed(draw, score), offsets=dressed(draw, offsets, False), **options)
    by_id = hc.HitCurves(label[order], score[order], qid=dressed(draw, qid[order], qid.dtype.kind != "u"), **options)
    k = draw.pick([None, 1, 5])
    values = curves.average_precision(k)
    if len(values) != len(lengths):
        raise AssertionError("queries")
    if not np.array_equal(by_id.qid, np.unique(qid)):
        raise AssertionError("ids")
    if by_id.average_precision().tobytes() != curves.average_precision()[lengths > 0].tobytes():
        raise AssertionError("by qid")
    empty = draw.pick(["skip", "zero", "one"])
    mean = hc.mean_average_precision(label, score, offsets=offsets, k=k, empty=empty, **options)
    same(mean, curves.mean_average_precision(k, empty=empty), "mean of curves")
    counted = values[~np.isnan(values)] if empty == "skip" else np.nan_to_num(values, nan=float(empty == "one"))
    close(mean, counted.mean() if len(counted) else nan, "mean")
    alone = {name: value for name, value in options.items() if name != "workers"}
    for q in range(len(lengths)):
        a, b = int(offsets[q]), int(offsets[q + 1])
        if hc.HitCurve(label[a:b], score[a:b], **alone) != curves[q]:
            raise AssertionError(f"query {q}")
    if pickle.loads(pickle.dumps(curves)) != curves:
        raise AssertionError("pickle")


def in_two_dimensions(draw):
    """A ranking in each row or column of an array, and each alone."""
    rng = draw.generator()
    rows, n = draw.whole(1, 5), draw.pick([1, 2, 7, 40, 600])
    label, score = rng.random((rows, n)) < 0.3, rng.integers(0, 9, (rows, n)).astype(draw.pick(SCORES))
    arrays = [score, np.asfortranarray(score), score[:, ::-1].copy()[:, ::-1], np.repeat(score, 2, axis=0)[::2],
              score[::-1].copy()[::-1], score.astype(score.dtype.newbyteorder())]  # fmt: skip
    if draw.chance(5):
        score = np.broadcast_to(score[0], (rows, n))
        arrays = [score, np.broadcast_to(score[0], (rows, n))]
    if draw.chance(2):  # a row is a query
        curves, labels = hc.HitCurves(label, draw.pick(arrays), workers=draw.pick([1, 2])), label
    else:  # a column is a ranking of the same items
        labels = [label[0]] * rows
        curves = hc.HitCurves(dressed(draw, label[0]), draw.pick(arrays).T, workers=draw.pick([1, 2]))
    for q in range(rows):
        if hc.HitCurve(labels[q], score[q]) != curves[q]:
            raise AssertionError(f"row {q}")
    values = curves.average_precision(ties="best")
    if values.tolist() != [curve.average_precision(ties="best") for curve in curves] and not np.isnan(values).any():
        raise AssertionError("values")


def in_blocks(draw):
    """Rankings counted block by block and scanned, and as a whole."""
    rng = draw.generator()
    n = draw.pick([0, 1, 20, 600, 3000]) if draw.whole(0, 40) else 20_000
    dtype = draw.pick(["f4", "f8", "i4", "i8", "u8"])
    label = rng.random(n) < draw.pick([0.03, 0.1, 0.6])
    score = rng.integers(0, draw.pick([3, 10**6]), n).astype(dtype)
    options = {"lower_is_better": draw.chance(2)}
    if dtype[0] == "f" and draw.chance(3):
        score[rng.random(n) < 0.1] = nan
        options["nan_policy"] = draw.pick(["worst", "omit"])
    counter, other = hc.HitCounter(score[label], **options), hc.HitCounter(score[label], **options)
    cuts = np.sort(rng.integers(0, n + 1, 2))
    for at, part in enumerate(np.split(np.arange(n), cuts)):
        (counter, other)[at % 2].update(dressed(draw, label[part], n < 600), dressed(draw, score[part], lists=False))
    if draw.chance(2):
        other = pickle.loads(pickle.dumps(other))
    curve = hc.HitCurve(label, score, **options)
    if counter.merge(other).curve() != curve:
        raise AssertionError("blocks")
    if draw.chance(2):
        pieces = [(label[part], score[part]) for part in np.split(np.arange(n), cuts)]
        arrays = dressed(draw, label, False), dressed(draw, score, False)
        source, arguments = draw.pick([arrays, lambda: iter(pieces)]), {}
        if draw.chance(3) and "nan_policy" not in options:
            source, arguments = arrays, {"actives": score[label]}
        elif draw.chance(3):
            order = np.argsort(score, kind="stable")
            order = order if options["lower_is_better"] else order[::-1]
            if "nan_policy" not in options:
                source, arguments = (label[order], score[order]), {"sorted": "score"}
        found = hc.scan(source, workers=draw.pick([1, 2]), progress=False, **options, **arguments)
        if found != curve:
            raise AssertionError(f"scan {arguments.keys()}")
    edges = np.unique(rng.random(draw.whole(1, 30)))
    scores = rng.random(n)
    binned = hc.HitCounter(edges=edges)
    binned.update(label, scores)
    report, exact = binned.curve().tie_report(), hc.average_precision(label, scores)
    if not isnan(exact) and not report.worst * (1 - 1e-12) <= exact <= report.best * (1 + 1e-12):
        raise AssertionError("bins do not bound")


def by_group(draw):
    """scan with groups."""
    rng = draw.generator()
    n = draw.pick([0, 1, 30, 400])
    label, score = rng.random(n) < 0.2, rng.integers(0, 50, n).astype(draw.pick(["f4", "f8", "i8"]))
    group = rng.integers(0, draw.whole(1, 9), n)
    if draw.chance(2):
        group = np.sort(group)
        source = (label, score, group)
        found = hc.scan(source, sorted="group", progress=False)
    else:
        found = hc.scan((label, score, group), workers=draw.pick([1, 2]), progress=False)
    if n and found != hc.HitCurves(label, score, qid=group):
        raise AssertionError("groups")


def malformed(draw):
    """Good input with one thing wrong: it must be refused, by every entry that takes it, and at the right place."""
    rng = draw.generator()
    n = draw.pick([3, 40, 600, 3000])
    score = rng.integers(0, 99, n).astype(draw.pick(("f2", "f4", "f8", "g", "i4", "i8", "u8")))
    label = rng.random(n) < 0.3
    label = label.astype(draw.pick([kind for kind in LABELS if kind != "?"]))
    label[0], place, options, spot = 1, an_end(draw, n), {}, None
    wrong = draw.whole(0, 7)
    if wrong == 0:
        cut = draw.pick([1, n // 2, n])
        label, score = draw.pick([(label[cut:], score), (label, score[cut:]), (label, np.append(score, score))])
    elif wrong == 1:
        label[place] = 2
        spot = f"y_true[{place}]"
    elif wrong == 2 and score.dtype.kind == "f":
        score[place] = nan
        spot = f"y_score[{place}]"
    elif wrong == 3:
        options["num_relevant"] = int(label.sum()) - 1
    elif wrong == 4:
        label = label.reshape(1, n)
        label, score = draw.pick([(label, score), (label, score.reshape(n, 1)), (label[0], score.reshape(n, 1, 1))])
    elif wrong == 5:
        name = draw.pick(["num_relevant", "tiebreak", "sample_weight"])
        options[name] = draw.pick([1.5, nan, "x", [0], [[1]], n + 0.5])
    elif wrong == 6 and label.dtype.kind != "u":
        label[place] = -1
        spot = f"y_true[{place}]"
    elif label.dtype.kind == "f":
        label[place] = draw.pick([nan, inf, 0.5])
        spot = f"y_true[{place}]"
    else:
        options["nan_policy"] = draw.pick(["", None, 0, "drop"])
    y, s = (dressed(draw, array, n < 99 and array.ndim == 1) if array.ndim == 1 else array for array in (label, score))
    ways = [lambda: hc.HitCurve(y, s, _strategy=draw.pick(STRATEGIES), workers=draw.pick([1, 2]), **options),
            lambda: hc.average_precision(y, s, **options)]  # fmt: skip
    if not options and label.ndim == 1:
        ways += [lambda: hc.HitCounter(score).update(y, s) if spot or wrong == 0 else refuse(),
                 lambda: hc.scan((label, score), progress=False)]  # fmt: skip
    if label.ndim == 1:
        cuts = [0, len(label) // 2, len(label)]
        many = options | {"num_relevant": [1, 1, 1]} if wrong == 3 else options
        ways += [lambda: hc.HitCurves(y, s, offsets=cuts, **many),
                 lambda: hc.mean_average_precision(y, s, qid=np.zeros(len(label)), **many)]  # fmt: skip
    at = draw.whole(0, len(ways) - 1)
    try:
        ways[at]()
    except (ValueError, TypeError) as error:
        if spot and spot not in str(error) and at not in (2, 3):
            raise AssertionError(f"{error} does not say {spot}") from error
    else:
        raise AssertionError(f"way {at} takes what is wrong ({wrong})")


def refuse():
    raise ValueError


# --- resampling ---------------------------------------------------------------------------------------------


def resampled(draw):
    """What resamples of a ranking must keep, and that the same seed gives the same."""
    label, score = small_ranking(draw, draw.pick([7, 40]))
    curve = hc.HitCurve(label, score)
    stratified, seed, count = draw.chance(2), draw.whole(0, 2**40), draw.whole(0, 30)
    try:
        drawn = curve.resample(count, stratified=stratified, rng=seed)
    except ValueError:
        if count and curve.num_items:
            raise
        return
    if len(drawn) != count or (drawn.num_items != curve.num_items).any() or (drawn.hits > drawn.tied).any():
        raise AssertionError("resample")
    if stratified and (drawn.num_relevant != curve.num_relevant).any():
        raise AssertionError("stratified")
    if drawn != curve.resample(count, stratified=stratified, rng=seed, workers=2):
        raise AssertionError("workers")
    if not 2 <= curve.num_relevant < curve.num_items - 1:
        return
    name = draw.pick(["AP", "ROCAUC", "P@2", "EF@50%", "RR", "BEDROC(20)"])
    for method in ("bootstrap", None) if name in ("AP", "ROCAUC") else ("bootstrap",):
        found = curve.interval(name, method=method, n_resamples=20, rng=seed)
        low, high = found.confidence_interval
        if not (low <= high or isnan(low)):
            raise AssertionError(f"{name} from {low} to {high}")
        same(found.estimate, measures.parse(name)(curve), "estimate")
    if draw.chance(3) and not 0 < curve.p_value(name, n_resamples=20, rng=seed).pvalue <= 1:
        raise AssertionError("p_value")
    if draw.chance(3):
        other = np.array([draw.whole(0, 4) for _ in label])
        found = hc.compare(label, {"a": score, "b": other, "c": score}, measures=["AP", name], n_resamples=20, rng=seed)
        for row in found.rows:
            if {row.baseline, row.system} == {"a", "c"}:
                same(row.difference, 0.0, "a difference from itself")
        str(found), found.to_markdown(), found.to_latex()


def command_intervals(draw):
    """Intervals by the command and by Python: the same for the same seed and number of resamples."""
    rng = draw.generator()
    hits, n_resamples = draw.pick([(5, 200), (60, 40), (2300, 1000)])  # tables of one block and of many
    label = rng.permutation(np.arange(3 * hits) < hits).astype(int)
    score = rng.permutation(len(label)) // draw.pick([1, 2])
    seed, name = draw.whole(0, 2**40), draw.pick(["RIE(20)", "BEDROC(5)", "P@9", "EF@20%", "RR"])
    quiet = redirect_stderr(StringIO())
    with tempfile.TemporaryDirectory(dir=".") as folder, redirect_stdout(StringIO()) as out, quiet:
        path = Path(folder) / "table.csv"
        path.write_text("y,s\n" + "".join(f"{y},{s}\n" for y, s in zip(label.tolist(), score.tolist(), strict=True)))
        cli.main(["table", str(path), "--label", "y", "--score", "s", "-m", name, "--interval", "--format", "json",
                  "--resamples", str(n_resamples), "--seed", str(seed)])  # fmt: skip
    [found] = json.loads(out.getvalue())["intervals"].values()
    expected = hc.HitCurve(label, score).interval(name, n_resamples=n_resamples, rng=seed).confidence_interval
    if (found["from"], found["to"]) != tuple(expected):
        raise AssertionError(f"{name} with seed {seed}: {found} by the command, {tuple(expected)} in Python")


def while_written(draw):
    """Arrays that another thread changes during the call: any number or error."""
    rng = draw.generator()
    n = draw.pick([10, 400, 3000, 20_000])
    label, score = (rng.random(n) < 0.3).astype("u1"), rng.random(n).astype(draw.pick(["f4", "f8"]))
    offsets = np.linspace(0, n, 8).astype("i8")
    others = [np.array([np.nan, np.inf, 0, -1, 5])[rng.integers(0, 5, n)], rng.random(n)]
    over = threading.Event()

    def write():
        while not over.is_set():
            score[:] = others[0]
            label[:] = 1
            offsets[2:6] = 2**40
            score[:] = others[1]
            label[::3] = 7
            label[:] = 0
            offsets[:] = np.linspace(0, n, 8)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(10):
            policy, strategy = draw.pick(["raise", "worst", "omit"]), draw.pick(STRATEGIES)
            try:
                hc.HitCurve(label, score, nan_policy=policy, _strategy=strategy, workers=draw.pick([1, 2])).bedroc()
                hc.mean_average_precision(label, score, offsets=offsets, nan_policy=policy)
                hc.HitCurves(label, score, offsets=offsets, nan_policy=policy, _strategy=strategy).average_precision(3)
            except PROMISED:
                pass
    finally:
        over.set()
        writer.join()
