"""The functions for compiled code, tables of any numbers, and any objects as the arguments of any entry."""

import ctypes
import re
from importlib.util import find_spec
from math import isnan, nan
from pathlib import Path

import numpy as np
import reference as ref
from register import HITS

import hitcurve as hc
from hitcurve import capi, measures

from .draws import (
    READINGS,
    SCORES,
    WORDS,
    Hostile,
    HostileArray,
    HostileInterface,
    HostileTensor,
    Shapeless,
    dressed,
    number,
    refusing,
    same,
    small_ranking,
)

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
NATIVE_MEASURES = {row.number: row for row in HITS if row.number is not None and "fpr" not in row.cutoffs}
NATIVE_INTERPOLATIONS = (None, "11-point", "101-point", "all-point", "trapezoid", "continuous")
HEADER = (Path(hc.__file__).parent / "hitcurve.h").read_text()
LISTED = HEADER[HEADER.index("HITCURVE_AVERAGE_PRECISION"):].partition("};")[0]
NATIVE_NUMBERS = {int(number) for number in re.findall(r"HITCURVE_\w+ = (\d+)", LISTED)}


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
        options.k = abs(number(draw)) % (2**62 + 1)
    elif draw.chance(3):
        options.interpolation = draw.whole(1, 5)
    if wrong:
        field = draw.pick(["size", "ties", "normalize", "interpolation", "nan_policy", "lower_is_better", "empty", "k"])
        setattr(options, field, {"size": 3, "k": -1 - draw.whole(0, 2**60)}.get(field, draw.pick([-1, 6, 2**31 - 1])))
    value, place = ctypes.c_double(), LONG()
    build = {"lower_is_better": bool(options.lower_is_better),
             "nan_policy": ("raise", "worst", "omit")[options.nan_policy % 3]}  # fmt: skip
    read = {"ties": READINGS[options.ties % 4], "normalize": ref.NORMALIZE[options.normalize % 3],
            "interpolation": NATIVE_INTERPOLATIONS[options.interpolation % 6]}  # fmt: skip
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
    which = draw.whole(-2, max(NATIVE_NUMBERS) + 2)
    options.k, options.interpolation, row, arguments = 0, 0, NATIVE_MEASURES.get(which), {}
    if row and "k" in row.cutoffs:
        options.k = arguments["k"] = draw.whole(1, n + 3)
    if row and row.parameter[0] == "recall":
        arguments["recall"] = draw.pick([0.0, 0.25, 0.5, 1.0])  # whose products with any number are exact
    elif row and row.parameter[0]:
        arguments[row.parameter[0]] = draw.pick(row.parameter[1])
    elif row and row.method == "f_score":
        arguments["beta"] = draw.pick([0.5, 1.0])
    options.parameter = next((one for keyword, one in arguments.items() if keyword != "k"), draw.whole(0, 9) / 2)
    if "recall" in arguments:
        options.parameter *= max(options.num_relevant, curve.num_hits)
    status = NATIVE["read"](ctypes.byref(table), which, ctypes.byref(options), ctypes.byref(value))
    if row:
        curve = hc.HitCurve(label, score, num_relevant=max(options.num_relevant, curve.num_hits), **build)
        if row.method == "average_precision":
            arguments["normalize"] = read["normalize"]
        if row.readings:
            arguments["ties"] = read["ties"]
        expected = refusing(lambda: getattr(curve, row.method)(**arguments))
        if (status == 0) != (expected is not None):
            raise AssertionError(f"status {status} for {row.method}, {arguments}: {expected} in Python")
        if status == 0:
            same(value.value, expected, f"{row.method} from C")
    elif which not in NATIVE_NUMBERS and status != 1:
        raise AssertionError(f"status {status} for measure {which}, which there is not")
    NATIVE["free"](ctypes.byref(table))


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
    one, many = draw.pick(KINDS)
    if one is hc.SubtopicCurve:
        label = np.stack([label, label[::-1]], axis=1)
    return draw.pick([lambda: one(label, score), lambda: many(label, score, offsets=[0, 0, len(label)])])()


def source(draw):
    """Something like qrels or a run."""
    if draw.chance(3):
        return anything(draw)
    if draw.chance(2):
        return {anything_hashable(draw): draw.pick([anything(draw), {anything_hashable(draw): anything(draw)}])}
    names = [("query_id", "doc_id", draw.pick(["score", "relevance"])), ("query_id", "doc_id"), ("qid", "docno"),
             ("user", "item", draw.pick(["rating", "prediction", "user_id"]))]  # fmt: skip
    return {name: draw.pick([anything(draw), [1, 2], ["a", "b"]]) for name in draw.pick(names)}


def source_of_columns(draw):
    return {name: draw.pick([anything(draw), [1, 2], ["a", "b"]]) for name in ("query_id", "doc_id", "relevance")}


def groups_of_queries(draw):
    """Something like the argument `queries`."""
    groups = {anything_hashable(draw): draw.pick(["x", "y", anything(draw)]) for _ in range(3)}
    return draw.pick([None, groups, {0: "x", "a": "x", 1: "y"}, list(groups), lambda query: draw.chance(2),
                      lambda query: anything(draw), anything(draw)])  # fmt: skip


def of_rows(draw):
    """How the rows of a source are read."""
    role = draw.pick(["query", "relevance", "subtopic", "group", anything_hashable(draw)])
    named = {role: draw.pick(["user", "rating", None, anything(draw)])}
    options = {"columns": draw.pick([None, None, named, anything(draw)]),
               "duplicates": draw.pick(["raise", "first", "best", anything(draw)])}  # fmt: skip
    return {name: value for name, value in options.items() if draw.chance(2)}


def anything_hashable(draw):
    value = anything(draw)
    return value if isinstance(value, int | float | str | bytes | None | tuple) else "q"


KINDS = [(hc.HitCurve, hc.HitCurves), (hc.GainCurve, hc.GainCurves), (hc.SubtopicCurve, hc.SubtopicCurves)]
METHODS = {
    cls: sorted(
        name for name in dir(cls) if not name.startswith("_") and callable(getattr(cls, name))
        and name not in ("plot", "interval", "resample", "p_value")
    )
    for kinds in KINDS for cls in kinds
}
GAINS = ("unretrieved", "tiebreak", "lower_is_better", "nan_policy", "workers")
READ_GAINS = ("k", "gain", "discount", "ties", "ideal_k", "max_level", "p")


def anywhere(draw):
    """Any objects as the arguments of any entry."""
    entry = draw.whole(0, 28)
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
        hc.read_qrels(source(draw), **some(draw, ("strict",)), **of_rows(draw))
    elif entry == 12:
        hc.read_run(source(draw), **some(draw, ("strict",)), **of_rows(draw))
    elif entry == 13:
        options = ("ties", "scores", "missing", "extra", "empty", "judged_only", "relevance_level", "depth", "strict",
                   "workers", "queries")  # fmt: skip
        names, run = draw.pick([anything(draw), "AP", ["P@1", "nDCG"]]), source(draw)
        found = hc.evaluate(source(draw), run, names, **some(draw, options), **of_rows(draw))
        if isinstance(found, hc.Evaluation):
            found.unjudged(**some(draw, ("k", "also", "p")), run=draw.pick([run, anything(draw)]))
            found.by(groups_of_queries(draw))
    elif entry == 14:
        options = ("label", "score", "group", "subtopics", "actives", "nan_policy", "num_relevant", "unretrieved",
                   "sorted", "max_memory", "tolerance")  # fmt: skip
        sources = [anything(draw), (y, s), (y, s, anything(draw)), lambda: iter([(y, s)]), lambda: anything(draw)]
        hc.scan(draw.pick(sources), progress=False, **some(draw, options))
    elif entry == 15:
        scores = draw.pick([anything(draw), {"a": s, "b": anything(draw)}, {"a": s, "b": s}])
        options = ("measures", "baseline", "groups", "method", "confidence_level", "stratified", "ties",
                   "lower_is_better", "relevance_level", "nan_policy", "rng", "paired")  # fmt: skip
        if draw.chance(2):
            hc.compare(draw.pick([y, scores]), scores, n_resamples=9, **some(draw, options))
        else:
            hc.compare(scores, n_resamples=9, queries=groups_of_queries(draw), **some(draw, options))
    elif entry == 16:
        curve, name = a_curve(draw), draw.pick(["interval", "resample", "p_value"])
        options = ("method", "confidence_level", "stratified", "bootstrap_method", "ties", "rng", "workers")
        counted = {"n_resamples": draw.pick([9, 0, -1, None, 2.5, "9", 2**70])}
        arguments = [anything(draw)] if draw.chance(3) and name != "resample" else []
        if hasattr(curve, name):
            getattr(curve, name)(*arguments, **some(draw, options), **counted)
    elif entry == 17 and draw.chance(100) and find_spec("matplotlib"):
        hc.plot_curves(draw.pick([{"a": a_curve(draw)}, anything(draw)]), *([anything(draw)] * draw.chance(2)))
    elif entry == 18:
        many = draw.chance(2)
        options = (*GAINS, "qid", "offsets", "mask") if many else GAINS
        (hc.GainCurves if many else hc.GainCurve)(y, s, **some(draw, options)).ndcg(**some(draw, READ_GAINS[:5]))
    elif entry == 19:
        options = (*GAINS, *READ_GAINS[:5])
        if draw.chance(2):
            hc.ndcg(y, s, **some(draw, options))
        else:
            hc.mean_ndcg(y, s, **some(draw, (*options, "qid", "offsets", "mask", "empty")))
    elif entry == 20:
        hc.GainCurve.from_ranked(y, **some(draw, ("num_items", "unretrieved"))).ndcg()
    elif entry == 21:
        levels = [anything(draw) if draw.chance(3) else good for good in ([0, 1, 2], [1, 2], [1, 1])]
        hc.GainCurve.from_table(
            s, *([anything(draw), anything(draw)] if draw.chance(3) else [[0, 1], [1, 1]]), *levels,
            num_items=anything(draw) if draw.chance(2) else 3, **some(draw, ("unretrieved", "lower_is_better")),
        ).err()  # fmt: skip
    elif entry == 22:
        form = draw.pick(["prefs", "qrels_prefs", "qrels_jg", anything(draw)])
        hc.read_qrels(draw.pick([source(draw), {"q": {"u": source(draw)}}]), format=form, **some(draw, ("strict",)),
                      **of_rows(draw))
    elif entry == 23:
        columns = {"group": ["u", "v"], "subgroup": ["s", "s"], "subtopic": [1, 2]}
        options = {"subtopics": True} if draw.chance(2) else {"format": draw.pick(["prefs", "qrels_jg"])}
        hc.read_qrels({**columns, **source_of_columns(draw)}, **options, **of_rows(draw))
    elif entry == 24:
        one, other = draw.pick([(y, s), (source(draw), source(draw)), (["a", "b"], [anything(draw), "b"])])
        hc.rbo(one, other, **some(draw, ("p", "ties", "scores", "missing")))
    elif entry == 25:
        many = draw.chance(2)
        y = draw.pick([y, np.stack([np.asarray(y)] * 2, axis=-1) if isinstance(y, np.ndarray) else y])
        options = ("subtopics", *GAINS, *(("qid", "offsets") if many else ()))
        (hc.SubtopicCurves if many else hc.SubtopicCurve)(y, s, **some(draw, options)).alpha_dcg()
    else:
        curve = a_curve(draw)
        method = getattr(curve, draw.pick(METHODS[type(curve)]))
        arguments = [anything(draw) for _ in range(draw.pick([0, 0, 1, 1, 2]))]
        options = ("fraction", "alpha", "beta", "fpr", "min_fpr", "adjusted", "empty", "weights", "ideal", "normalize")
        method(*arguments, **some(draw, (*READ, *options, *READ_GAINS)))
        curve == anything(draw), hash(curve), repr(curve), len(curve)
        if isinstance(curve, hc.HitCurves | hc.GainCurves | hc.SubtopicCurves):
            curve[anything(draw)]
