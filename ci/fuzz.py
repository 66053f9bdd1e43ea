"""Random calls of every public entry: no crash, no hang, no wrong number, no error but those that are promised.

usage: fuzz.py [SECONDS [CASES]]     until both are reached (default: 600 1000000)
       fuzz.py --case SEED           one case again
       fuzz.py --atheris SECONDS     guided by coverage
"""

import faulthandler
import gc
import mmap
import os
import random
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from fractions import Fraction
from math import isclose, isnan
from pathlib import Path
from types import FunctionType

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import reference as ref

import hitcurve as hc
from hitcurve import measures

PROMISED = (ValueError, TypeError, MemoryError)
HANG = 60  # seconds that no case takes
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
        self.random = random.Random(seed)

    def whole(self, low, high):
        return self.random.randint(low, high)

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
    how = draw.whole(0, 9)
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
    return array


def small_ranking(draw, most=7):
    n = draw.whole(0, most)
    label = np.array([draw.whole(0, 1) for _ in range(n)], dtype=draw.pick(LABELS))
    score = np.array([draw.whole(0, 4) for _ in range(n)], dtype=float).astype(draw.pick(SCORES))
    return label, score


def close(got, expected, what):
    expected = float(expected)
    if not (isclose(got, expected, rel_tol=1e-13, abs_tol=1e-14) or (isnan(got) and isnan(expected))):
        raise AssertionError(f"{what}: {got!r}, not {expected!r}")


# --- the cases ----------------------------------------------------------------------------------------------


def against_the_twin(draw):
    """Small rankings, in any dress, against exact fractions."""
    label, score = small_ranking(draw)
    hits = int(label.sum())
    build = {"lower_is_better": bool(draw.whole(0, 1))}
    if draw.chance(3):
        build["num_relevant"] = hits + draw.whole(0, 3)
    if draw.chance(4):
        build["tiebreak"] = "order"
    rank = ref.ranking([int(x) for x in label], [Fraction(float(x)) for x in score], **build)
    y, s = dressed(draw, label), dressed(draw, score)
    ties = draw.pick(READINGS)
    k = draw.pick([None, 1, 2, 3, 5, 2**40])
    normalize = draw.pick(ref.NORMALIZE)
    interpolation = draw.pick(ref.INTERPOLATIONS) if k is None else None
    read = {"ties": ties, "normalize": normalize, "interpolation": interpolation}
    workers = draw.pick([1, 1, 1, 2])
    got = hc.average_precision(y, s, k=k, workers=workers, **build, **read)
    curve = hc.HitCurve(y, s, **build)
    same(got, curve.average_precision(k, **read), "average_precision of a curve")
    n = len(label)
    same(got, hc.HitCurves(y, s, offsets=[0, n], **build)[0].average_precision(k, **read), "of one query")
    try:
        expected = ref.average_precision(rank, k, **read)
    except ValueError:
        raise AssertionError("the twin refuses what the library takes") from None
    close(got, expected, "average_precision")
    k = k or 1 + n // 2
    close(curve.precision(k, ties=ties), ref.precision(rank, k, ties=ties), "precision")
    close(curve.recall(k, ties=ties), ref.recall(rank, k, ties=ties), "recall")
    if hits == curve.num_relevant:
        close(curve.roc_auc(ties=ties), ref.roc_auc(rank, ties=ties), "roc_auc")
    if ties != "threshold":
        close(curve.reciprocal_rank(k, ties=ties), ref.reciprocal_rank(rank, k, ties=ties), "reciprocal_rank")


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


def against_numpy(draw):
    """Larger rankings of every type, by every strategy, against counts by np.unique."""
    rng = draw.generator()
    n = draw.pick([8, 31, 32, 33, 64, 100, 511, 512, 513, 1000, 2047, 2049, 4100])
    label = (rng.random(n) < draw.pick([0.0, 0.003, 0.05, 0.5, 0.97, 1.0])).astype(draw.pick(LABELS))
    kind = draw.whole(0, 4)
    if kind == 0:
        score = rng.random(n)
    elif kind == 1:
        score = rng.standard_cauchy(n)
    elif kind == 2:
        score = rng.integers(0, draw.pick([1, 2, 30, 10**6]), n).astype(float)
    elif kind == 3:
        score = rng.integers(0, 2**63, n, dtype=np.uint64).view(np.float64)
        score[np.isnan(score)] = np.inf
    else:
        score = np.sort(rng.random(n))[:: draw.pick([1, -1])]
    dtype = draw.pick(SCORES)
    with np.errstate(all="ignore"):
        score = (score * (100 if dtype[0] in "iu" and kind in (0, 4) else 1)).astype(dtype)
    lower = bool(draw.whole(0, 1))
    strategy = draw.pick([None, "compare", "search", "sort"])
    # A list of large uint64 is refused: numpy makes float64 of it, which rounds.
    curve = hc.HitCurve(dressed(draw, label), dressed(draw, score, score.dtype != np.uint64), lower_is_better=lower,
                        _strategy=strategy)  # fmt: skip
    for got, expected in zip(
        (curve.score, curve.above, curve.tied, curve.hits), table_by_numpy(label, score, lower), strict=True
    ):
        if not np.array_equal(got, expected):
            raise AssertionError(f"a column of {score.dtype}, {strategy}, {n} items")
    worst, expected, best, _, *_ = curve.tie_report()
    if not (
        isnan(best) or (worst <= expected * (1 + 1e-12) and expected <= best * (1 + 1e-12) and 0 <= best <= 1 + 1e-12)
    ):
        raise AssertionError(f"bounds {worst}, {expected}, {best}")


def many_queries(draw):
    """Rankings query by query, by offsets or by id, and each alone."""
    rng = draw.generator()
    lengths = rng.integers(0, draw.pick([2, 9, 700]), draw.whole(0, 9))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(draw.pick(["i8", "i4", "u8", "u2"]))
    n = int(offsets[-1])
    label, score = rng.random(n) < 0.2, rng.integers(0, 50, n).astype(draw.pick(SCORES))
    qid = np.repeat(np.arange(len(lengths)), lengths)
    order = rng.permutation(n)
    workers = draw.pick([1, 2])
    curves = hc.HitCurves(dressed(draw, label), dressed(draw, score), offsets=dressed(draw, offsets), workers=workers)
    by_id = hc.HitCurves(label[order], score[order], qid=dressed(draw, qid[order]))
    values = curves.average_precision(draw.pick([None, 1, 5]))
    if len(values) != len(lengths):
        raise AssertionError("queries")
    present = np.unique(qid)
    if by_id.average_precision().tobytes() != curves.average_precision()[present].tobytes():
        raise AssertionError("by qid")
    for q in range(len(lengths)):
        a, b = int(offsets[q]), int(offsets[q + 1])
        if hc.HitCurve(label[a:b], score[a:b]) != curves[q]:
            raise AssertionError(f"query {q}")


def in_blocks(draw):
    rng = draw.generator()
    n = draw.pick([0, 1, 20, 600, 3000])
    dtype = draw.pick(["f4", "f8", "i4", "i8", "u8"])
    label, score = rng.random(n) < 0.1, rng.integers(0, draw.pick([3, 10**6]), n).astype(dtype)
    counter, other = hc.HitCounter(score[label]), hc.HitCounter(score[label])
    cuts = np.sort(rng.integers(0, n + 1, 2))
    for at, part in enumerate(np.split(np.arange(n), cuts)):
        (counter, other)[at % 2].update(dressed(draw, label[part]), dressed(draw, score[part], lists=False))
    if counter.merge(other).curve() != hc.HitCurve(label, score):
        raise AssertionError("blocks")
    edges = np.unique(rng.random(draw.whole(1, 30)))
    scores = rng.random(n)
    binned = hc.HitCounter(edges=edges)
    binned.update(label, scores)
    report, exact = binned.curve().tie_report(), hc.average_precision(label, scores)
    if not isnan(exact) and not report.worst * (1 - 1e-12) <= exact <= report.best * (1 + 1e-12):
        raise AssertionError("bins do not bound")


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


METHODS = {
    cls: sorted(
        name for name in dir(cls) if not name.startswith("_") and callable(getattr(cls, name)) and name != "plot"
    )
    for cls in (hc.HitCurve, hc.HitCurves)
}


def anywhere(draw):
    """Any objects as the arguments of any entry."""
    entry = draw.whole(0, 13)
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
            policy, strategy = draw.pick(["raise", "worst", "omit"]), draw.pick([None, "compare", "search", "sort"])
            try:
                hc.HitCurve(label, score, nan_policy=policy, _strategy=strategy, workers=draw.pick([1, 2])).bedroc()
                hc.mean_average_precision(label, score, offsets=offsets, nan_policy=policy)
                hc.HitCurves(label, score, offsets=offsets, nan_policy=policy, _strategy=strategy).average_precision(3)
            except PROMISED:
                pass
    finally:
        over.set()
        writer.join()


CASES = [against_the_twin] * 4 + [against_numpy] * 3 + [many_queries] + [in_blocks] + [tables] * 4 + [anywhere] * 12


def one_case(draw):
    case = while_written if draw.chance(2000) else draw.pick(CASES)
    try:
        with np.errstate(all="ignore"):
            case(draw)
    except PROMISED as error:
        if case not in (tables, anywhere):
            raise AssertionError(f"{case.__name__} refused good input: {error!r}") from error
        return case.__name__ + ", refused"
    except (Boom, AttributeError, IndexError, OverflowError, StopIteration) as error:
        # Only what a hostile object raised itself, or IndexError from an index.
        if case is not anywhere or not ("hostile" in str(error) or isinstance(error, Boom | IndexError)):
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
    first, children = start * 1_000_000_000 % 2**62, []
    for w in range(processes):
        place = Path(tempfile.mkstemp(dir=".")[1])
        place.write_bytes(bytes(16))
        command = [sys.executable, "-X", "faulthandler", __file__, "--work", str(first + w), str(processes),
                   str(start + seconds), str(-(-cases // processes)), str(place)]  # fmt: skip
        children.append((subprocess.Popen(command, stdout=subprocess.PIPE, text=True), place))
    total, seen, failed = 0, Counter(), False
    for child, place in children:
        out, _ = child.communicate()
        seed, done = struct.unpack("qq", place.read_bytes())
        place.unlink()
        if child.returncode != 0:
            failed = True
            print(f"case {seed} ended the process with status {child.returncode}: fuzz.py --case {seed}")
        else:
            total += done + 1
            seen.update(eval(out))
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

    atheris.Setup(
        [sys.argv[0], f"-max_total_time={seconds}", "-max_len=512", f"-timeout={HANG}", "-print_final_stats=1"], case
    )
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
