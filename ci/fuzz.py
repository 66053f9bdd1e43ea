"""Random calls of every public entry: no crash, no hang, no wrong number, no error but those that are promised.

usage: fuzz.py [SECONDS [CASES]]     until both are reached (default: 600 1000000)
       fuzz.py --case SEED           one case again
       fuzz.py --atheris SECONDS     guided by coverage

A case is one input from a seed, and the calls that take it. Odd seeds run the loops of any machine, even ones those of
this machine.
"""

import ctypes
import faulthandler
import gc
import mmap
import os
import pickle
import random
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from fractions import Fraction
from importlib.util import find_spec
from math import inf, isclose, isnan, log2, nan
from pathlib import Path
from types import FunctionType

import numpy as np

if sys.argv[1:2] in (["--work"], ["--case"]) and int(sys.argv[2]) % 2:
    os.environ["HITCURVE_ISA"] = "portable"  # is looked at when hitcurve is imported
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import reference as ref

import hitcurve as hc
from hitcurve import capi, measures

PROMISED = (ValueError, TypeError, MemoryError)
HANG = 60  # seconds that no case takes
STRATEGIES = (None, None, "compare", "search", "buckets", "parts")
READINGS = ("expected", "best", "worst", "threshold")
SCORES = ("f2", "f4", "f8", "g", "?", "i1", "u1", "i2", "i4", "i8", "u4", "u8")
LABELS = ("?", "u1", "i1", "i4", "i8", "u8", "f4", "f8", "f2")
WORDS = ("expected", "best", "worst", "threshold", "min", "relevant", "hits", "raise", "omit", "skip", "zero", "one",
         "order", "11-point", "all-point", "trapezoid", "continuous", "", "\0", "é" * 40, "logit")  # fmt: skip
HUGE = [sign * 2**power + shift for power in (0, 8, 24, 31, 32, 52, 53, 61, 62, 63, 64, 100) for shift in (-2, -1, 0, 1)
        for sign in (1, -1)]  # fmt: skip


class Boom(Exception):
    """Raised by hostile objects; what they raise may come through."""


class Hostile:
    """Claims to be many things, and fails or lies at some."""

    def __init__(self, draw):
        self.draw = draw
        self.array = draw.pick([None, np.ones(3), np.array([object()]), 5, np.ones((2, 2)), [1, 0], np.ones(0)])

    def behave(self, honest):
        mood = self.draw.whole(0, 5)
        if mood == 0:
            raise Boom
        if mood == 1:
            errors = [ValueError, TypeError, AttributeError, IndexError, OverflowError, StopIteration]
            raise self.draw.pick(errors)("hostile")
        if mood == 2:
            return self.draw.pick([None, -1, 2**70, "x", self, float("nan"), b"", ()])
        return honest

    def __len__(self):
        return self.behave(3)

    def __getitem__(self, at):
        if isinstance(at, int) and at >= 3:
            raise IndexError
        return self.behave(1)

    def __iter__(self):
        return self.behave(iter([1, 0, 1]))

    def __float__(self):
        return self.behave(1.0)

    def __index__(self):
        return self.behave(1)

    def __bool__(self):
        return self.behave(True)

    def __eq__(self, other):
        return self.behave(False)

    def __lt__(self, other):
        return self.behave(False)

    __hash__ = None


class HostileArray(Hostile):
    def __array__(self, dtype=None, copy=None):
        return self.behave(self.array)


class HostileTensor(Hostile):
    def __dlpack__(self, **options):
        return self.behave(np.ones(3).__dlpack__())

    def __dlpack_device__(self):
        return self.behave((1, 0))


class HostileInterface(Hostile):
    @property
    def __array_interface__(self):
        return self.behave({"shape": (3,), "typestr": "<f8", "version": 3, "data": np.ones(3).tobytes()})


class Shapeless(np.ndarray):
    """A subclass of ndarray that says that its length is another."""

    def __len__(self):
        return 10**9


class Draw:
    """Choices from a seed."""

    def __init__(self, seed):
        source = random.Random(seed)
        self.bits, self.share = source.getrandbits, source.random

    def whole(self, low, high):
        span = high - low + 1
        return low + (int(self.share() * span) if span < 1 << 40 else self.bits(span.bit_length() + 8) % span)

    def pick(self, values):
        return values[self.whole(0, len(values) - 1)]

    def chance(self, of):
        return self.whole(1, of) == 1

    def generator(self):
        return np.random.Generator(np.random.PCG64(self.whole(0, 2**32)))


class AtherisDraw(Draw):
    """Choices from the fuzzer's bytes."""

    def __init__(self, data):
        import atheris

        self.data = atheris.FuzzedDataProvider(data)

    def whole(self, low, high):
        return self.data.ConsumeIntInRange(low, high)


# --- arrays -------------------------------------------------------------------------------------------------


def dressed(draw, array, lists=True):
    """The same values in another layout, byte order or container."""
    how = draw.whole(0, 12)
    if how == 0:
        array = np.repeat(array, 3)[::3]
    elif how == 1:
        array = array[::-1].copy()[::-1]
    elif how == 2:
        array = array.astype(array.dtype.newbyteorder())
    elif how == 3:
        array = array.copy()
        array.flags.writeable = False
    elif how == 4:
        raw = np.empty(array.nbytes + 1, np.uint8)
        raw[1:] = np.frombuffer(array.tobytes(), np.uint8)
        array = raw[1:].view(array.dtype)
    elif how == 5 and lists and array.dtype != np.longdouble and array.dtype != np.float16:
        return array.tolist()
    elif how == 6 and array.dtype.kind in "biuf" and array.dtype != np.longdouble:
        return memoryview(array.copy()) if array.dtype != np.float16 else array
    elif how == 7:
        return np.ma.masked_array(array)
    elif how == 8:  # steps that are no multiple of the item's size
        records = np.zeros(len(array), [("before", "i1"), ("it", array.dtype)])
        records["it"] = array
        array = records["it"]
    elif how == 9:
        array = np.stack([array, array[::-1]], axis=1)[:, 0]
    elif how == 10 and lists and array.dtype.kind in "bif" and array.dtype != np.longdouble:
        return array.astype(object)
    return array


def small_ranking(draw, most=7):
    n = draw.whole(0, most)
    label = np.array([draw.whole(0, 1) for _ in range(n)], dtype=draw.pick(LABELS))
    score = np.array([draw.whole(0, 4) for _ in range(n)], dtype=float).astype(draw.pick(SCORES))
    return label, score


def close(got, expected, what, rel=1e-13):
    expected = float(expected)
    if not (isclose(got, expected, rel_tol=rel, abs_tol=rel / 10) or (isnan(got) and isnan(expected))):
        raise AssertionError(f"{what}: {got!r}, not {expected!r}")


# --- the cases ----------------------------------------------------------------------------------------------


def refusing(call):
    """What a call gives, or None for a ValueError."""
    try:
        return call()
    except ValueError:
        return None


def reading(draw, n):
    """The name of some method, and arguments for it."""
    at = {"k": draw.whole(1, n + 2)} if draw.chance(2) else {"fraction": draw.pick([1e-9, 0.07, 0.3, 1 / 3, 0.5, 1.0])}
    name, arguments = draw.pick([
        ("precision", at), ("recall", at), ("hits_at", at), ("f_score", at | {"beta": draw.pick([0.5, 1.0, 3.0, 0.0])}),
        ("success", at), ("enrichment_factor", at), ("normalized_enrichment_factor", at), ("max_enrichment_factor", at),
        ("r_precision", {}), ("reciprocal_rank", {"k": draw.pick([None, 1, 3])}), ("roc_auc", {}), ("auac", {}),
        ("roc_enrichment", {"fpr": draw.pick([0.01, 0.25, 0.5, 1.0])}), ("rie", {"alpha": draw.pick([1e-3, 20.0])}),
        ("log_auc", {"min_fpr": draw.pick([0.001, 0.2]), "adjusted": draw.chance(2)}), ("chance", {}), ("minimum", {}),
        ("bedroc", {"alpha": draw.pick([0.1, 20.0])}), ("normalized_average_precision", {}),
    ])  # fmt: skip
    if name not in ("max_enrichment_factor", "chance", "minimum"):
        arguments = arguments | {"ties": draw.pick(READINGS)}
    return name, arguments


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
        name, arguments = reading(draw, n)
        expected = refusing(lambda name=name, arguments=arguments: getattr(ref, name)(rank, **arguments))
        agree(refusing(lambda name=name, arguments=arguments: getattr(curve, name)(**arguments)), expected, name)
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


def agree(got, expected, what):
    if (got is None) != (expected is None):
        raise AssertionError(f"{what}: {'the twin' if expected is None else 'the library'} alone refuses")
    if got is not None:
        close(got, expected, what, 1e-11)


def same(a, b, what):
    if a != b and not (isnan(a) and isnan(b)):
        raise AssertionError(f"{what}: {a!r}, not {b!r}")


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


# --- retrieval ----------------------------------------------------------------------------------------------


def retrieval(draw):
    """Qrels and runs in dicts and arrays against the obvious."""
    judged, run = {}, {}
    for q in range(draw.whole(1, 3)):
        docs = list(range(-2, draw.whole(1, 12)))
        judged[q] = {d: draw.whole(-1, 3) for d in docs if draw.chance(2)}
        run[q] = {d: draw.whole(0, 4) / 4 for d in docs if not draw.chance(3)}
    judged, run = ({q: docs for q, docs in one.items() if docs} for one in (judged, run))
    if not judged or not set(judged) & set(run):
        return
    text = draw.pick([str, str, lambda i: i])
    ties = draw.pick(["docid", "docid", "best", "worst"])
    expected = {name: [] for name in ("AP", "P@3", "RR", "Rprec", "R@5", "nDCG@4")}
    queries = sorted(judged, key=lambda q: str(q).encode())
    for q in queries:
        level = judged[q]
        good = {d for d, value in level.items() if value >= 1}
        by_id = sorted(run.get(q, {}).items(), key=lambda item: str(item[0]).encode(), reverse=True)
        if ties != "docid":
            by_id.sort(key=lambda item, good=good: (item[0] in good) == (ties == "worst"))
        ranked = sorted(by_id, key=lambda item: -item[1])
        flags = [d in good for d, _ in ranked]
        relevant = sum(value >= 1 for value in level.values())
        ranks = [i + 1 for i, flag in enumerate(flags) if flag]
        expected["AP"].append(sum((i + 1) / rank for i, rank in enumerate(ranks)) / relevant if relevant else 0.0)
        expected["P@3"].append(sum(flags[:3]) / 3)
        expected["RR"].append(1 / ranks[0] if ranks else 0.0)
        expected["Rprec"].append(sum(flags[:relevant]) / relevant if relevant else 0.0)
        expected["R@5"].append(sum(flags[:5]) / relevant if relevant else 0.0)
        gains = [max(level.get(d, 0), 0) for d, _ in ranked][:4]
        ideal = sorted((max(value, 0) for value in level.values()), reverse=True)[:4]
        dcg, most = (sum(g / log2(i + 2) for i, g in enumerate(one)) for one in (gains, ideal))
        expected["nDCG@4"].append(dcg / most if most else 0.0)
    if ties != "docid":
        del expected["nDCG@4"]
    qrels, docs = columns(draw, judged, "relevance", text, "i8"), columns(draw, run, "score", text, "f8")
    if draw.chance(3):
        qrels = hc.read_qrels(qrels)
        docs = hc.read_run(docs)
    found = hc.evaluate(qrels, docs, list(expected), ties=ties)
    if found.query_ids != [str(q) for q in queries]:
        raise AssertionError("queries")
    for name, values in expected.items():
        if not np.allclose(found.values[name], values, rtol=1e-12, atol=1e-14):
            raise AssertionError(f"{name}: {found.values[name]}, not {values}")
        close(found.means[name], sum(values) / len(values), name)


def columns(draw, nested, name, text, dtype):
    """{query: {document: value}} as such, or as columns."""
    if draw.chance(2):
        return {text(q): {text(d): value for d, value in docs.items()} for q, docs in nested.items()}
    rows = [(text(q), text(d), value) for q, docs in nested.items() for d, value in docs.items()]
    order = [rows[i] for i in draw.generator().permutation(len(rows))]
    ids = draw.pick([list, np.array])
    return {"query_id": ids([row[0] for row in order]), "doc_id": ids([row[1] for row in order]),
            name: np.array([row[2] for row in order], dtype=dtype)}  # fmt: skip


# --- from compiled code -------------------------------------------------------------------------------------


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), *((name, ctypes.c_int) for name in (
        "ties", "normalize", "interpolation", "nan_policy", "lower_is_better", "empty")), ("k", ctypes.c_int64),
        ("num_relevant", ctypes.c_int64), ("parameter", ctypes.c_double)]  # fmt: skip


class Table(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), *((name, ctypes.c_void_p) for name in ("above", "tied", "hits", "score")),
                *((name, ctypes.c_int64) for name in ("capacity", "rows", "num_items", "num_hits", "num_relevant")),
                ("memory", ctypes.c_void_p)]  # fmt: skip


def native(name, *types):
    capsule = capi.__pyx_capi__["hitcurve_" + name]
    for function, result in (("PyCapsule_GetName", ctypes.c_char_p), ("PyCapsule_GetPointer", ctypes.c_void_p)):
        getattr(ctypes.pythonapi, function).restype = result
    ctypes.pythonapi.PyCapsule_GetName.argtypes = [ctypes.py_object]
    ctypes.pythonapi.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer(capsule, ctypes.pythonapi.PyCapsule_GetName(capsule))
    return ctypes.CFUNCTYPE(ctypes.c_int, *types)(pointer)


P, LONG = ctypes.c_void_p, ctypes.c_int64
NATIVE = {
    **{("ap", size): native(f"average_precision_f{size}", P, P, LONG, P, P, P) for size in (32, 64)},
    **{("map", size): native(f"mean_average_precision_f{size}", P, P, P, LONG, P, P, P, P, P) for size in (32, 64)},
    **{("table", size): native(f"make_table_f{size}", P, P, LONG, P, P, P) for size in (32, 64)},
    "free": native("free_table", P), "check": native("check_table", P, P),
    "read": native("read", P, ctypes.c_int, P, P),
}  # fmt: skip
NATIVE_MEASURES = {1: ("precision", "k"), 2: ("recall", "k"), 4: ("hits_at", "k"), 5: ("success", "k"),
                   6: ("r_precision", ""), 7: ("reciprocal_rank", "k"), 8: ("roc_auc", ""), 17: ("chance", ""),
                   18: ("minimum", ""), 13: ("rie", "alpha"), 14: ("bedroc", "alpha"),
                   15: ("log_auc", "min_fpr")}  # fmt: skip


def from_c(draw):
    """The functions for compiled code, by pointers: the numbers of the Python ones, or a status."""
    rng = draw.generator()
    n, bits = draw.pick([0, 1, 5, 40, 511, 512, 600, 3000]), draw.pick([32, 64])
    label, score = (rng.random(n) < 0.2).astype("u1"), rng.integers(0, draw.pick([4, 10**6]), n).astype(f"f{bits // 8}")
    options = Options(ctypes.sizeof(Options), draw.whole(0, 3), draw.whole(0, 2))
    options.lower_is_better, options.empty = draw.whole(0, 1), draw.whole(0, 2)
    if draw.chance(5) and n:
        score[draw.whole(0, n - 1)] = nan
        options.nan_policy = draw.whole(0, 2)
    wrong = draw.chance(6)
    if draw.chance(2):
        options.k = abs(number(draw)) % 2**63
    elif draw.chance(3):
        options.interpolation = draw.whole(1, 5)
    if wrong:
        field = draw.pick(["size", "ties", "normalize", "interpolation", "nan_policy", "lower_is_better", "empty", "k"])
        setattr(options, field, {"size": 3, "k": -1 - draw.whole(0, 2**60)}.get(field, draw.pick([-1, 6, 2**31 - 1])))
    value, place = ctypes.c_double(), LONG()
    build = {"lower_is_better": bool(options.lower_is_better),
             "nan_policy": ("raise", "worst", "omit")[options.nan_policy % 3]}  # fmt: skip
    read = {"ties": READINGS[options.ties % 4], "normalize": ref.NORMALIZE[options.normalize % 3],
            "interpolation": ref.INTERPOLATIONS[options.interpolation % 6]}  # fmt: skip
    status = NATIVE["ap", bits](label.ctypes.data, score.ctypes.data, n, ctypes.byref(options), ctypes.byref(value),
                                ctypes.byref(place))  # fmt: skip
    if wrong:
        if status != 1:
            raise AssertionError(f"status {status} for bad options")
        return
    curve = refusing(lambda: hc.HitCurve(label, score, **build))
    if (status == 3) != (curve is None) or status not in (0, 3):
        raise AssertionError(f"status {status}")
    if curve is None:
        return
    same(value.value, curve.average_precision(options.k or None, **read), "average precision from C")
    cuts = np.concatenate([[0], np.sort(rng.integers(0, n + 1, draw.whole(0, 4))), [n]]).astype("i8")
    each, mean = np.full(len(cuts) - 1, -1.0), ctypes.c_double()
    status = NATIVE["map", bits](label.ctypes.data, score.ctypes.data, cuts.ctypes.data, len(cuts) - 1, None,
                                 ctypes.byref(options), each.ctypes.data, ctypes.byref(mean), None)  # fmt: skip
    many = hc.HitCurves(label, score, offsets=cuts, **build)
    if status or each.tobytes() != many.average_precision(options.k or None, **read).tobytes():
        raise AssertionError(f"status {status}: values of queries from C")
    read["empty"] = ("skip", "zero", "one")[options.empty]
    same(mean.value, many.mean_average_precision(options.k or None, **read), "mean from C")
    rows, table = len(curve), Table(ctypes.sizeof(Table))
    room = np.full((4, rows + 2), -7, "i8")
    if draw.chance(2) and rows:
        table.capacity = rows - draw.chance(4)
        table.above, table.tied, table.hits, table.score = (line.ctypes.data + 8 for line in room)
    short = table.capacity and table.capacity < rows
    options.num_relevant = curve.num_hits + draw.whole(0, 1) if curve.num_hits else 0
    status = NATIVE["table", bits](label.ctypes.data, score.ctypes.data, n, ctypes.byref(options), ctypes.byref(table),
                                   ctypes.byref(place))  # fmt: skip
    if short or (rows == 1 and table.capacity == 0 and status == 5):
        if status != 5 or place.value != rows:
            raise AssertionError(f"status {status} without room")
        return
    if status or table.rows != rows or (room[:, 0] != -7).any() or (room[:, -1] != -7).any():
        raise AssertionError(f"status {status}: table from C")
    for column in ("above", "tied", "hits"):
        found = np.frombuffer((LONG * rows).from_address(getattr(table, column)), "i8") if rows else np.zeros(0)
        if not np.array_equal(found, getattr(curve, column)):
            raise AssertionError(f"{column} from C")
    if NATIVE["check"](ctypes.byref(table), None):
        raise AssertionError("check_table")
    which = draw.whole(-2, 25)
    options.k, options.interpolation = 0, 0
    name, takes = NATIVE_MEASURES.get(which, ("", ""))
    argument = {"k": draw.whole(1, n + 3), "alpha": 20.0, "min_fpr": 0.001}.get(takes)
    if takes == "k":
        options.k = argument
    else:
        options.parameter = argument or 0.0
    status = NATIVE["read"](ctypes.byref(table), which, ctypes.byref(options), ctypes.byref(value))
    if name and status == 0:
        curve = hc.HitCurve(label, score, num_relevant=max(options.num_relevant, curve.num_hits), **build)
        arguments = {takes: argument} if takes else {}
        if name not in ("chance", "minimum"):
            arguments["ties"] = read["ties"]
        same(value.value, getattr(curve, name)(**arguments), f"{name} from C")
    elif not name and not 0 <= which <= 19 and status != 1:
        raise AssertionError(f"status {status} for measure {which}")
    NATIVE["free"](ctypes.byref(table))


def number(draw):
    return draw.pick(HUGE) if draw.whole(0, 1) else draw.whole(0, 20)


def tables(draw):
    """Tables of any numbers: refused, or read without overflow."""
    rows = draw.whole(0, 4)
    if draw.chance(2):  # one that a ranking has, of any size
        above, tied, hits, end = [], [], [], 0
        for _ in range(rows):
            above.append(end + abs(number(draw)) % 2 ** draw.whole(1, 60))
            tied.append(1 + abs(number(draw)) % 2 ** draw.whole(1, 60))
            hits.append(1 + draw.whole(0, tied[-1] - 1))
            end = above[-1] + tied[-1]
        num_items = end + abs(number(draw)) % 2**40
        num_relevant = sum(hits) + draw.pick([0, 0, 1, 2**40])
    else:
        above, tied, hits = ([number(draw) for _ in range(rows)] for _ in range(3))
        num_items, num_relevant = number(draw), draw.pick([None, number(draw)])
    score = draw.pick([None, list(range(rows, 0, -1)), [float("nan")] * rows, [0] * (rows + 1)])
    try:
        columns = [np.array(column, dtype=draw.pick(["i8", "u8", "f8", "O", None])) for column in (above, tied, hits)]
    except (OverflowError, ValueError):
        columns = [above, tied, hits]
    curve = hc.HitCurve.from_table(score, *columns, num_items=num_items, num_relevant=num_relevant,
                                   lower_is_better=bool(draw.whole(0, 1)))  # fmt: skip
    if curve.weighted:
        curve.average_precision(ties="threshold"), curve.roc_auc(ties="threshold"), repr(curve)
        return
    bounds = {ties: curve.average_precision(ties=ties) for ties in READINGS}
    if not isnan(bounds["best"]):
        low, middle, high = bounds["worst"], bounds["expected"], bounds["best"]
        if not (0 <= low <= middle * (1 + 1e-12) and middle <= high * (1 + 1e-12) and high <= 1 + 1e-12):
            raise AssertionError(f"bounds {bounds}")
    k = max(1, abs(number(draw)))
    for ties in READINGS:
        for value in (curve.precision(k, ties=ties), curve.recall(k, ties=ties), curve.f_score(k, ties=ties),
                      curve.average_precision(k, ties=ties, normalize=draw.pick(ref.NORMALIZE))):  # fmt: skip
            if not (isnan(value) or -1e-12 <= value <= 1 + 1e-12):
                raise AssertionError(f"{value} at k={k}, ties={ties}")
    if curve.num_relevant == curve.num_hits:
        for value in (curve.roc_auc(), curve.bedroc(), curve.log_auc(), curve.rie() / 1e300):
            if not (isnan(value) or 0 <= value <= 1 + 1e-12):
                raise AssertionError(f"{value}")
    curve.success(k), curve.reciprocal_rank(k), curve.chance(), curve.minimum(), curve.tie_report(k), repr(curve)
    curve.precision_recall_curve(), curve.hit_curve(ties="best")


def anything(draw):
    """Some object of some kind."""
    kind = draw.whole(0, 17)
    if kind == 0:
        return draw.pick([None, True, 0, 1, -1, 0.5, float("nan"), float("inf"), 1j, b"", "", (), [], {}, object, ...])
    if kind == 1:
        return number(draw)
    if kind == 2:
        return draw.pick(WORDS)
    if kind == 3:
        return draw.pick([HostileArray, HostileTensor, HostileInterface, Hostile])(draw)
    if kind == 4:
        return [draw.pick([0, 1, 0.5, None, "1", float("nan"), 2**70, [1]]) for _ in range(draw.whole(0, 4))]
    if kind == 5:
        return np.array(draw.pick([1, 0, 2.5, np.nan]))
    if kind == 6:
        return np.ones((draw.whole(0, 3),) * draw.whole(0, 4), dtype=draw.pick(SCORES))
    if kind == 7:
        return np.array(["a", "b", "c"], dtype=draw.pick(["U1", "S1", "O"]))
    if kind == 8:
        return np.array([1, 2, 3], dtype=draw.pick(["M8[s]", "m8[s]", "c16", "V4", [("a", "i4")]]))
    if kind == 9:
        return np.array([draw.pick([0, 1, None, Hostile(draw), "x", 2**65]) for _ in range(3)] + [0], dtype=object)[:3]
    if kind == 10:
        return np.ones(3).view(Shapeless)
    if kind == 11:
        return np.broadcast_to(np.float64(1), draw.pick([3, 10, (3, 3)]))
    if kind == 12:
        whole = np.arange(12) % 2
        return np.lib.stride_tricks.as_strided(whole, (3,), (draw.pick([0, 8, 16]),))
    if kind == 13:
        return np.ma.masked_array([1, 0, 1], [0, draw.whole(0, 1), 0])
    if kind == 14:
        return iter([1, 0, 1])
    if kind == 15:
        return range(draw.whole(0, 5))
    label, score = small_ranking(draw, 4)
    return dressed(draw, draw.pick([label, score]))


BUILD = ("num_relevant", "relevance_level", "tiebreak", "lower_is_better", "nan_policy", "sample_weight", "workers")
READ = ("k", "ties", "interpolation", "normalize")
CURVES = None


def some(draw, names):
    """Options, most of them with a value of the right kind for another option."""
    return {draw.pick(names): anything(draw) for _ in range(draw.pick([0, 0, 1, 1, 2, 3]))}


def a_curve(draw):
    label, score = small_ranking(draw)
    return draw.pick(
        [lambda: hc.HitCurve(label, score), lambda: hc.HitCurves(label, score, offsets=[0, 0, len(label)])]
    )()


def source(draw):
    """Something like qrels or a run."""
    if draw.chance(3):
        return anything(draw)
    if draw.chance(2):
        return {anything_hashable(draw): draw.pick([anything(draw), {anything_hashable(draw): anything(draw)}])}
    names = [("query_id", "doc_id", draw.pick(["score", "relevance"])), ("query_id", "doc_id"), ("qid", "docno")]
    return {name: draw.pick([anything(draw), [1, 2], ["a", "b"]]) for name in draw.pick(names)}


def anything_hashable(draw):
    value = anything(draw)
    return value if isinstance(value, int | float | str | bytes | None | tuple) else "q"


METHODS = {
    cls: sorted(
        name for name in dir(cls) if not name.startswith("_") and callable(getattr(cls, name))
        and name not in ("plot", "interval", "resample", "p_value")
    )
    for cls in (hc.HitCurve, hc.HitCurves)
}


def anywhere(draw):
    """Any objects as the arguments of any entry."""
    entry = draw.whole(0, 19)
    y, s = anything(draw), anything(draw)
    if draw.chance(2):
        y, s = (dressed(draw, array) for array in small_ranking(draw))
    if entry == 0:
        hc.average_precision(y, s, **some(draw, BUILD + READ))
    elif entry == 1:
        hc.mean_average_precision(y, s, **some(draw, (*BUILD, *READ, "qid", "offsets", "empty")))
    elif entry == 2:
        hc.HitCurve(y, s, **some(draw, BUILD))
    elif entry == 3:
        hc.HitCurves(y, s, **some(draw, (*BUILD, "qid", "offsets")))
    elif entry == 4:
        hc.HitCurve.from_ranked(y, **some(draw, ("num_items", "num_relevant")))
    elif entry == 5:
        hc.HitCurve.from_ranks(y, num_items=anything(draw), **some(draw, ("num_relevant",)))
    elif entry == 6:
        hc.HitCurve.from_table(y, s, anything(draw), anything(draw), num_items=anything(draw),
                               **some(draw, ("num_relevant", "lower_is_better")))  # fmt: skip
    elif entry == 7:
        counter = hc.HitCounter(anything(draw), **some(draw, ("edges", "lower_is_better", "nan_policy")))
        counter.update(y, s)
        counter.merge(draw.pick([anything(draw), counter])).curve(**some(draw, ("num_relevant",)))
    elif entry == 8:
        hc.at_threshold(
            y, s, anything(draw), **some(draw, ("beta", "relevance_level", "lower_is_better", "nan_policy"))
        )
    elif entry == 9:
        measures.parse("".join(draw.pick("APERTNDCGFlogauc@()=,%.-0123456789 \0é") for _ in range(draw.whole(0, 12))))
    elif entry == 10:
        measures.parse(draw.pick([anything(draw), draw.pick(["AP", "P", "EF", "BEDROC", "AP(ties=worst)"]) + draw.pick(
            ["@5", "@0", "@", "(2", "@1%", "(norm=min)@3", "@99999999999999999999"])]))  # fmt: skip
    elif entry == 11:
        hc.read_qrels(source(draw), **some(draw, ("strict",)))
    elif entry == 12:
        hc.read_run(source(draw), **some(draw, ("strict",)))
    elif entry == 13:
        options = ("ties", "scores", "missing", "extra", "empty", "judged_only", "rel", "depth", "strict", "workers")
        names = draw.pick([anything(draw), "AP", ["P@1", "nDCG"]])
        hc.evaluate(source(draw), source(draw), names, **some(draw, options))
    elif entry == 14:
        options = ("label", "score", "group", "actives", "nan_policy", "num_relevant", "sorted", "max_memory",
                   "tolerance")  # fmt: skip
        sources = [anything(draw), (y, s), (y, s, anything(draw)), lambda: iter([(y, s)]), lambda: anything(draw)]
        hc.scan(draw.pick(sources), progress=False, **some(draw, options))
    elif entry == 15:
        scores = draw.pick([anything(draw), {"a": s, "b": anything(draw)}, {"a": s, "b": s}])
        options = ("measures", "baseline", "groups", "method", "confidence_level", "stratified", "ties",
                   "lower_is_better", "relevance_level", "nan_policy", "rng")  # fmt: skip
        hc.compare(draw.pick([y, scores]), scores, n_resamples=9, **some(draw, options))
    elif entry == 16:
        curve, name = a_curve(draw), draw.pick(["interval", "resample", "p_value"])
        options = ("method", "confidence_level", "stratified", "bootstrap_method", "ties", "rng", "workers")
        counted = {"n_resamples": draw.pick([9, 0, -1, None, 2.5, "9", 2**70])}
        arguments = [anything(draw)] if draw.chance(3) and name != "resample" else []
        if hasattr(curve, name):
            getattr(curve, name)(*arguments, **some(draw, options), **counted)
    elif entry == 17 and draw.chance(100) and find_spec("matplotlib"):
        hc.plot_curves(draw.pick([{"a": a_curve(draw)}, anything(draw)]), *([anything(draw)] * draw.chance(2)))
    else:
        curve = a_curve(draw)
        method = getattr(curve, draw.pick(METHODS[type(curve)]))
        arguments = [anything(draw) for _ in range(draw.pick([0, 0, 1, 1, 2]))]
        method(*arguments, **some(draw, (*READ, "fraction", "alpha", "beta", "fpr", "min_fpr", "adjusted", "empty")))
        curve == anything(draw), hash(curve), repr(curve), len(curve)
        if isinstance(curve, hc.HitCurves):
            curve[anything(draw)]


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


CASES = [against_the_twin] * 12 + [against_numpy] * 12 + [many_queries] * 4 + [in_two_dimensions] * 4 + [in_blocks] * 4
CASES += [retrieval] * 4 + [malformed] * 6 + [from_c] * 6 + [resampled] * 2 + [tables] * 8 + [anywhere] * 24
if find_spec("pyarrow"):
    CASES += [by_group]


def one_case(draw):
    case = while_written if draw.chance(2000) else draw.pick(CASES)
    try:
        with np.errstate(all="ignore"):
            case(draw)
    except PROMISED as error:
        if case not in (tables, anywhere):
            raise AssertionError(f"{case.__name__} refused good input: {error!r}") from error
        return case.__name__ + ", refused"
    except OSError:
        if case is not anywhere:  # what a path that does not exist gives
            raise
        return case.__name__ + ", refused"
    except (Boom, AttributeError, IndexError, OverflowError, StopIteration, RuntimeError) as error:
        # Only what a hostile object raised itself, or Python over its length, or IndexError from an index.
        known = ("hostile", "raised StopIteration", "index-sized integer")
        allowed = isinstance(error, Boom | IndexError) or any(text in str(error) for text in known)
        if case is not anywhere or not allowed:
            raise
        return case.__name__ + ", hostile"
    return case.__name__


def work(first, step, deadline, least, place):
    """Cases first, first + step, ...: a child process."""
    import warnings

    warnings.simplefilter("ignore")
    with open(place, "r+b") as file:
        at = mmap.mmap(file.fileno(), 16)
    done, seen = 0, Counter()
    while done < least or time.time() < deadline:
        if done % 500 == 0:
            faulthandler.dump_traceback_later(HANG, exit=True)
            gc.collect()
        seed = first + done * step
        at[:16] = struct.pack("qq", seed, done)
        seen[one_case(Draw(seed))] += 1
        done += 1
    print(dict(seen))


def run(seconds, cases):
    processes, start = max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2), int(time.time())
    first, step, children = start * 1_000_000_000 % 2**62, processes + processes % 2, []
    for w in range(processes):
        place = Path(tempfile.mkstemp(dir=".")[1])
        place.write_bytes(bytes(16))
        command = [sys.executable, "-X", "faulthandler", __file__, "--work", str(first + w), str(step),
                   str(start + seconds), str(-(-cases // processes)), str(place)]  # fmt: skip
        children.append((subprocess.Popen(command, stdout=subprocess.PIPE, text=True), place))
    total, seen, failed = 0, Counter(), False
    while any(child.poll() is None for child, _ in children):
        if any(child.poll() for child, _ in children):  # one finding is enough
            for child, _ in children:
                child.terminate()
        time.sleep(0.2)
    for child, place in children:
        out = child.stdout.read()
        seed, done = struct.unpack("qq", place.read_bytes())
        place.unlink()
        total += done
        if child.returncode == 0:
            total += 1
            seen.update(eval(out))
        elif child.returncode != -signal.SIGTERM:
            failed = True
            print(f"case {seed} ended the process with status {child.returncode}: fuzz.py --case {seed}")
    for name, count in sorted(seen.items()):
        print(f"{count:>10,}  {name}")
    verdict = "FAILED" if failed else "no crash, no hang, no wrong number"
    print(f"{total:,} cases in {time.time() - start:.0f} s: {verdict}")
    return failed


def guided(seconds):
    import atheris

    for module in (measures, sys.modules["hitcurve.counter"]):
        for name, value in list(vars(module).items()):
            if isinstance(value, FunctionType):  # compiled ones report by themselves, or not at all
                setattr(module, name, atheris.instrument_func(value))

    def case(data):
        one_case(AtherisDraw(data))

    limits = [f"-max_total_time={seconds}", "-max_len=512", "-len_control=0", f"-timeout={HANG}"]
    atheris.Setup([sys.argv[0], *limits, "-print_final_stats=1"], case)
    atheris.Fuzz()


def main():
    match sys.argv[1:]:
        case ["--work", first, step, deadline, least, place]:
            work(int(first), int(step), float(deadline), int(least), place)
        case ["--case", seed]:
            print(one_case(Draw(int(seed))))
        case ["--atheris", seconds]:
            guided(int(seconds))
        case []:
            return run(600, 1_000_000)
        case [seconds]:
            return run(int(seconds), 0)
        case [seconds, cases]:
            return run(int(seconds), int(cases))
        case _:
            sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main())
