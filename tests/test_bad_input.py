"""Bad calls: each has its exception, and a message that names the argument, the place and the value."""

import re
from collections import namedtuple
from math import inf, nan

import numpy as np
import pytest
from register import HITS, first_arguments

import hitcurve as hc

Y = np.array([0, 1, 0, 1, 0], dtype=np.int8)
S = np.array([0.5, 0.4, 0.3, 0.2, 0.1])
Y2, S2 = np.array([[0, 1, 0], [1, 1, 0]]), np.array([[3.0, 2.0, 1.0], [1.0, 2.0, 3.0]])
QID = np.array([7, 7, 8, 8, 8])
ARRAYS = (Y, S, Y2, S2, QID)

# call: the bad call. says: what its message must contain, in any order (regular expressions, any case).
Bad = namedtuple("Bad", "name error says call")


def bad(name, error, *says):
    def add(call):
        CASES.append(Bad(name, error, says, call))

    return add


CASES = []


def ap(y=Y, s=S, **options):
    return hc.average_precision(y, s, **options)


def mean_ap(y=Y2, s=S2, **options):
    return hc.mean_average_precision(y, s, **options)


def curve(**options):
    return hc.HitCurve(Y, S, **options)


def curves(**options):
    return hc.HitCurves(Y, S, **options)


def table(score=(3.0, 1.0), above=(0, 5), tied=(2, 1), hits=(1, 1), num_items=9, **options):
    return hc.HitCurve.from_table(score, above, tied, hits, num_items=num_items, **options)


def one_changed(values, place, value):
    values = list(values)
    values[place] = value
    return values


# --- y_true -------------------------------------------------------------------------------------------------

bad("label nan", ValueError, r"y_true\[2\]", "nan")(lambda: ap(one_changed(Y, 2, nan)))
bad("label 2", ValueError, r"y_true\[3\]", r"\b2\b")(lambda: ap(one_changed(Y, 3, 2)))
bad("label -1", ValueError, r"y_true\[0\]", "-1")(lambda: ap(one_changed(Y, 0, -1)))
bad("label 255", ValueError, r"y_true\[0\]", "255")(lambda: ap(np.array([255, 1, 0, 1, 0], dtype=np.uint8)))
bad("label 256", ValueError, r"y_true\[4\]", r"\b256\b")(lambda: ap(np.array([0, 1, 0, 1, 256])))
bad("label half", ValueError, r"y_true\[1\]", r"0\.5")(lambda: ap(one_changed(Y, 1, 0.5)))
bad("label inf", ValueError, r"y_true\[1\]", "inf")(lambda: ap(one_changed(Y, 1, inf)))
bad("label text", TypeError, "y_true", "str|U1|text")(lambda: ap(["0", "1", "0", "1", "0"]))
bad("label None", TypeError, "y_true", "None|object")(lambda: ap(one_changed(Y, 1, None)))
bad("label complex", TypeError, "y_true", "complex")(lambda: ap(Y.astype(complex)))
bad("label date", TypeError, "y_true", "datetime")(lambda: ap(np.zeros(5, dtype="datetime64[s]")))
bad("label in the second query", ValueError, r"y_true\[1, ?2\]", r"\b3\b")(lambda: mean_ap([[0, 1, 0], [1, 1, 3]]))
bad("swapped", ValueError, r"y_true\[0\]", r"0\.5")(lambda: ap(S, Y))
bad("labels ragged", ValueError, "y_true")(lambda: ap([[0], [1, 0]], S))
bad("labels 2-D, scores 1-D", ValueError, "y_true", r"2|\(2, 3\)")(lambda: hc.HitCurves(Y2, S, qid=QID))
bad("labels a number", ValueError, "y_true", r"0|\(\)")(lambda: ap(1, 0.5))
bad("level nan", ValueError, "relevance_level", "nan")(lambda: ap(relevance_level=nan))
bad("level text", TypeError, "relevance_level", "str|'high'")(lambda: ap(relevance_level="high"))
bad("graded label nan", ValueError, r"y_true\[1\]", "nan")(lambda: ap(one_changed(Y, 1, nan), relevance_level=1))

# --- y_score ------------------------------------------------------------------------------------------------

bad("score nan", ValueError, r"y_score\[3\]", "nan", "nan_policy")(lambda: ap(s=one_changed(S, 3, nan)))
bad("score nan, float32", ValueError, r"y_score\[0\]", "nan")(
    lambda: ap(s=np.array(one_changed(S, 0, nan), dtype=np.float32))
)
bad("score nan in a query", ValueError, r"y_score\[1, ?0\]", "nan")(lambda: mean_ap(s=[[3, 2, 1], [nan, 2, 1]]))
bad("score text", TypeError, "y_score", "str|U|text")(lambda: ap(s=["a", "b", "c", "d", "e"]))
bad("score None", TypeError, "y_score", "None|object")(lambda: ap(s=one_changed(S, 2, None)))
bad("score object", TypeError, "y_score", "object")(lambda: ap(s=np.array([object()] * 5)))
bad("score complex", TypeError, "y_score", "complex")(lambda: ap(s=S + 0j))
bad("score date", TypeError, "y_score", "datetime")(lambda: ap(s=np.zeros(5, dtype="datetime64[s]")))
bad("scores 2-D", ValueError, "y_score", r"\(1, 5\)|2")(lambda: ap(s=S[None]))
bad("both 2-D", ValueError, "y_true|y_score", r"\(2, 3\)|2")(lambda: ap(Y2, S2))
bad("3-D", ValueError, "y_true|y_score", r"\(1, 2, 3\)|3")(lambda: hc.HitCurves(Y2[None], S2[None]))
bad("scores ragged", ValueError, "y_score")(lambda: ap(s=[[1.0], [2.0, 3.0]]))
bad("lengths", ValueError, "y_true", "y_score", r"\b5\b", r"\b4\b")(lambda: ap(s=S[:4]))
bad("shapes", ValueError, "y_true", "y_score", r"\b3\b", r"\b2\b")(lambda: hc.HitCurves(Y2, S2[:, :2]))
bad("columns of another length", ValueError, "y_true", "y_score", r"\b5\b", r"\b2\b")(lambda: hc.HitCurves(Y, S2))
bad("no scores", TypeError, "y_score|2 positional")(lambda: hc.average_precision(Y))
bad("third positional", TypeError, "positional")(lambda: hc.average_precision(Y, S, 3))
bad("unknown option", TypeError, "cutoff")(lambda: ap(cutoff=3))

# --- options of the ranking ---------------------------------------------------------------------------------

for name, value, says in [
    ("ties", "average", "'?average"),
    ("ties", None, "None"),
    ("ties", 1, r"\b1\b"),
    ("nan_policy", "ignore", "ignore"),
    ("normalize", "R", "'R'"),
    ("interpolation", "12-point", "12-point"),
    ("interpolation", 11, r"\b11\b"),
    ("tiebreak", "random", "random"),
]:
    error = (ValueError, TypeError) if not isinstance(value, str) else ValueError
    bad(f"{name} {value}", error, name, says)(lambda name=name, value=value: ap(**{name: value}))
bad("normalize of precision", ValueError, "normalize", "min", "ranked")(lambda: curve().precision(2, normalize="min"))
bad("normalize of recall", ValueError, "normalize", "hits", "min")(lambda: curve().recall(2, normalize="hits"))
bad("normalize without a cutoff", ValueError, "normalize", "mean")(lambda: curve().average_precision(normalize="mean"))
bad("tiebreak length", ValueError, "tiebreak", r"\b4\b", r"\b5\b")(lambda: ap(tiebreak=[1, 2, 3, 4]))
bad("tiebreak nan", ValueError, r"tiebreak\[1\]", "nan")(lambda: ap(tiebreak=[1, nan, 3, 4, 5]))
bad("num_relevant below the hits", ValueError, "num_relevant", r"\b1\b", r"\b2\b")(lambda: ap(num_relevant=1))
bad("num_relevant below one hit", ValueError, "holds 1 relevant item$")(lambda: ap([0, 1, 0, 0, 0], num_relevant=0))
bad("num_relevant of a query below one hit", ValueError, "holds 1 relevant item$")(
    lambda: hc.HitCurves(Y2, S2, num_relevant=[0, 2])
)
bad("num_relevant -1", ValueError, "num_relevant", "-1")(lambda: ap(num_relevant=-1))
bad("num_relevant 2.5", TypeError, "num_relevant", r"2\.5|float")(lambda: ap(num_relevant=2.5))
bad("num_relevant text", TypeError, "num_relevant", "two|str")(lambda: ap(num_relevant="two"))
bad("num_relevant huge", ValueError, "num_relevant", str(2**63))(lambda: ap(num_relevant=2**63))
bad("num_relevant of a query", ValueError, r"num_relevant\[1\]", r"\b1\b", r"\b2\b")(
    lambda: hc.HitCurves(Y2, S2, num_relevant=[4, 1])
)
bad("num_relevant length", ValueError, "num_relevant", r"\b3\b", r"\b2\b")(
    lambda: hc.HitCurves(Y2, S2, num_relevant=[4, 4, 4])
)
bad("workers 0", ValueError, "workers", r"\b0\b")(lambda: ap(workers=0))
bad("workers -2", ValueError, "workers", "-2")(lambda: ap(workers=-2))
bad("workers text", TypeError, "workers", "two|str")(lambda: ap(workers="two"))
bad("workers 1.5", TypeError, "workers", r"1\.5|float")(lambda: ap(workers=1.5))

# --- weights ------------------------------------------------------------------------------------------------

W = np.ones(5)
for name, value in [("negative", -0.5), ("nan", nan), ("inf", inf)]:
    bad(f"weight {name}", ValueError, r"sample_weight\[2\]", str(value))(
        lambda value=value: ap(ties="threshold", sample_weight=one_changed(W, 2, value))
    )
bad("weights without a sum", ValueError, "sample_weight", "sum")(
    lambda: ap(ties="threshold", sample_weight=np.full(5, 1e308))
)
bad("weights without a sum, of queries", ValueError, "sample_weight", "sum")(
    lambda: curves(offsets=[0, 5], sample_weight=[1e308] * 5)
)
MASKED = np.ma.array(np.arange(5), mask=[0, 1, 0, 1, 0])
ARRAY_ARGUMENTS = {
    "y_true": ap,
    "y_true of graded labels": lambda v: ap(v, relevance_level=2),
    "y_true at a threshold": lambda v: hc.at_threshold(v, S, 0.3),
    "y_true of rows": lambda v: hc.HitCurves([v], [S]),
    "y_true of a counter": lambda v: hc.HitCounter([1.0]).update(v, S),
    "y_true of a scan": lambda v: hc.scan((v, S)),
    "y_true of a batch": lambda v: hc.scan(lambda: [(v, S)]),
    "y_true of columns of a scan": lambda v: hc.scan((np.ma.stack([v], axis=1), S), subtopics=True),
    "y_score": lambda v: ap(s=v),
    "y_score, NaN left out": lambda v: ap(s=v, nan_policy="omit"),
    "y_score of columns": lambda v: hc.HitCurves(Y, np.ma.stack([v], axis=1)),
    "y_score of a counter": lambda v: hc.HitCounter([1.0]).update(Y, v),
    "y_score of a scan": lambda v: hc.scan((Y, v)),
    "y_score of a system": lambda v: hc.compare(Y, {"a": S, "b": v}),
    "threshold": lambda v: hc.at_threshold(Y, S, v),
    "qid": lambda v: curves(qid=v),
    "offsets": lambda v: curves(offsets=v),
    "num_relevant": lambda v: hc.HitCurves(np.eye(5), np.eye(5), num_relevant=v),
    "num_relevant of the mean": lambda v: hc.mean_average_precision(np.eye(5), np.eye(5), num_relevant=v),
    "tiebreak": lambda v: ap(tiebreak=v),
    "tiebreak of queries": lambda v: curves(offsets=[0, 5], tiebreak=v),
    "sample_weight": lambda v: curve(sample_weight=v),
    "sample_weight of queries": lambda v: curves(offsets=[0, 5], sample_weight=v),
    "groups": lambda v: hc.compare(Y, {"a": S, "b": S}, groups=v),
    "groups of a scan": lambda v: hc.scan((Y, S, v)),
    "'A'": lambda v: hc.compare({"A": v, "B": S}),
    "'B'": lambda v: hc.compare({"A": S, "B": v}),
    "k": lambda v: curve().precision(v),
    "k of AP": lambda v: curve().average_precision(v),
    "k of queries": lambda v: curves(offsets=[0, 5]).recall(v),
    "k of the enrichment factor": lambda v: curve().enrichment_factor(k=v),
    "fraction": lambda v: curve().recall(fraction=v),
    "fraction of the enrichment factor": lambda v: curve().enrichment_factor(v),
    "fpr": lambda v: curve().roc_enrichment(v),
    "alpha": lambda v: curve().bedroc(v),
    "alpha of RIE": lambda v: curve().rie(v),
    "min_fpr": lambda v: curve().log_auc(v),
    "ranks": lambda v: hc.HitCurve.from_ranks(v, num_items=9),
    "hits": lambda v: hc.HitCurve.from_ranked(v),
    **{
        name: lambda v, at=at: hc.HitCurve.from_table(*[v if i == at else MASKED.data for i in range(4)], num_items=99)
        for at, name in enumerate(["score", "above", "tied", "hits of a table"])
    },
    "thresholds": lambda v: hc.HitCounter(v),
    "edges": lambda v: hc.HitCounter(edges=v),
    "actives": lambda v: hc.scan((Y, S), actives=v),
}
GIVES_MASKED = type("GivesMasked", (), {"__array__": lambda self, dtype=None, copy=None: MASKED})()
MASKED_BY = {
    "array": MASKED,
    "array of floats": MASKED.astype(float),
    "list": [0, np.ma.masked, 2, np.ma.masked, 4],
    "tuple of floats": (0.0, np.ma.masked, 2.0, np.ma.masked, 4.0),
    "object that gives one": GIVES_MASKED,
    "list of arrays": list(MASKED[:, None]),
}
for name, call in ARRAY_ARGUMENTS.items():
    for how, masked in MASKED_BY.items():
        if "columns" in name and how not in ("array", "array of floats"):
            continue  # the call stacks arrays
        if how == "object that gives one" and re.search("scan|batch|rows|columns", name):
            continue  # the call takes slices of it, or lays it into a list
        bad(
            f"masked {how} as {name}",
            ValueError,
            rf"{re.escape(re.split(' of |, | at ', name)[0])}(\['b'\])? is a masked array with 2 masked entries: leave",
        )(lambda call=call, masked=masked: call(masked))
bad("weight length", ValueError, "sample_weight", r"\b4\b", r"\b5\b")(lambda: ap(ties="threshold", sample_weight=W[:4]))
bad("weight text", TypeError, "sample_weight", "str|U")(lambda: ap(ties="threshold", sample_weight=["1"] * 5))
bad("weight complex", TypeError, "sample_weight", "complex")(lambda: ap(ties="threshold", sample_weight=W + 0j))
for ties in ("expected", "best", "worst"):
    bad(f"weight with {ties}", ValueError, "sample_weight|weight", "threshold")(
        lambda ties=ties: ap(sample_weight=W, ties=ties)
    )
bad("weight, ties unsaid", ValueError, "sample_weight|weight", "threshold")(lambda: ap(sample_weight=W))
bad("weight at a cutoff", ValueError, "weight")(lambda: ap(sample_weight=W, ties="threshold", k=2))
bad("weight with 11 points", ValueError, "weight", "11-point|interpolation")(
    lambda: ap(sample_weight=W, ties="threshold", interpolation="11-point")
)
for row in HITS:
    for ties in row.readings or [None]:
        if not (row.weighted and ties == "threshold"):
            read = {"ties": ties} if ties else {}
            bad(f"weighted {row.method} by {ties}", ValueError, "weight")(
                lambda row=row, read=read: getattr(curve(sample_weight=W), row.method)(
                    *first_arguments(row, 2, 0.5), **read
                )
            )
bad("weighted tie_report", ValueError, "weight")(lambda: curve(sample_weight=W).tie_report())

# --- cutoffs ------------------------------------------------------------------------------------------------

for k, error, says in [
    (0, ValueError, r"\b0\b"),
    (-3, ValueError, "-3"),
    (1.5, TypeError, r"1\.5|float"),
    ("3", TypeError, "'3'|str"),
    (True, TypeError, "True|bool"),
    (nan, TypeError, "nan|float"),
    ([2, 0], ValueError, r"k\[1\].*\b0\b"),
    ([1.0, 2.5], TypeError, r"float|2\.5"),
    ([True, False], TypeError, "bool|True"),
]:
    bad(f"k {k}", error, r"\bk\b", says)(lambda k=k: curve().precision(k))
    if not isinstance(k, list):
        bad(f"k {k} of AP", error, r"\bk\b", says)(lambda k=k: ap(k=k))
        bad(f"k {k} of the enrichment factor", error, r"\bk\b", says)(lambda k=k: curve().enrichment_factor(k=k))
for t, error, says in [
    (0, ValueError, r"\b0\b"),
    (0.0, ValueError, r"\b0(\.0)?\b"),
    (1.01, ValueError, r"1\.01"),
    (-0.1, ValueError, r"-0\.1"),
    (nan, ValueError, "nan"),
    ("1%", TypeError, "1%|str"),
    ([0.1, 2.0], ValueError, r"fraction\[1\].*\b2"),
    ("0.25", TypeError, "fraction must be a number.*'0.25'"),
    (np.array(["0.25", "0.5"]), TypeError, r"fraction\[0\] must be a number.*0\.25"),
]:
    bad(f"fraction {t}", error, "fraction", says)(lambda t=t: curve().recall(fraction=t))
    bad(f"fraction {t} of the enrichment factor", error, "fraction", says)(lambda t=t: curve().enrichment_factor(t))
for row in HITS:
    if {"k", "fraction"} == {*row.cutoffs}:
        bad(f"{row.method} of both", ValueError, r"\bk\b", "fraction")(
            lambda name=row.method: getattr(curve(), name)(k=2, fraction=0.5)
        )
for interpolation in ("11-point", "101-point", "all-point", "trapezoid", "continuous"):
    bad(f"{interpolation} at a cutoff", ValueError, r"\bk\b", "interpolation")(
        lambda i=interpolation: ap(k=2, interpolation=i)
    )

# --- other parameters of measures ---------------------------------------------------------------------------

for name in ("rie", "bedroc"):
    for alpha, error, says in [
        (0.0, ValueError, r"\b0"),
        (-20.0, ValueError, "-20"),
        (nan, ValueError, "nan"),
        (inf, ValueError, "inf"),
        ("20", TypeError, "'20'|str"),
    ]:
        bad(f"{name} alpha {alpha}", error, "alpha", says)(lambda n=name, a=alpha: getattr(curve(), n)(a))
for low in (0.0, 1.0, -0.1, 2.0, nan):
    bad(f"min_fpr {low}", ValueError, "min_fpr", f"{low:g}")(lambda low=low: curve().log_auc(low))
bad("standardize", TypeError, "standardize", "True or False")(lambda: curve().roc_auc(standardize=1))
bad("weighted roc_auc to a rate", ValueError, "weight")(
    lambda: curve(sample_weight=W).roc_auc(max_fpr=0.5, ties="threshold")
)
bad("min_fpr at max_fpr", ValueError, r"min_fpr is 0\.5", r"\[0, 0\.5\)")(
    lambda: curve().roc_auc(min_fpr=0.5, max_fpr=0.5)
)
bad("rates of both kinds", ValueError, r"min_fpr=0\.1", r"max_tpr=0\.9")(
    lambda: curve().roc_auc(min_fpr=0.1, max_tpr=0.9)
)
bad("min_tpr of 1", ValueError, "min_tpr is 1", r"\[0, 1\)")(lambda: curve().roc_auc(min_tpr=1))
bad("max_tpr of 0", ValueError, "max_tpr is 0", r"\(0, 1\]")(lambda: curve().roc_auc(max_tpr=0))
bad("a NaN rate", ValueError, r"min_tpr\[1\] is nan")(lambda: curve().roc_auc(min_tpr=[0.1, np.nan]))
bad("a rate of text", TypeError, "min_tpr", "'a'")(lambda: curve().roc_auc(min_tpr="a"))
bad("rates of two shapes", ValueError, r"min_tpr has shape \(2,\)", r"\(3,\)")(
    lambda: curve().roc_auc(min_tpr=[0.1, 0.2], max_tpr=[0.3, 0.4, 0.5])
)
bad("weights of an area between rates", ValueError, "roc_auc at a rate")(
    lambda: curve(sample_weight=W).roc_auc(min_tpr=0.5, ties="threshold")
)
bad("min_fpr above max_fpr", ValueError, r"min_fpr is 0\.5", r"0\.25")(lambda: curve().log_auc(0.5, max_fpr=0.25))
for fpr in (0.0, 1.5, -1.0, nan):
    bad(f"roc_auc to {fpr}", ValueError, "max_fpr", f"{fpr:g}")(lambda fpr=fpr: curve().roc_auc(max_fpr=fpr))
    bad(f"max_fpr {fpr}", ValueError, "max_fpr", f"{fpr:g}")(lambda fpr=fpr: curve().log_auc(max_fpr=fpr))
    bad(f"fpr {fpr}", ValueError, r"\bfpr\b", f"{fpr:g}")(lambda fpr=fpr: curve().roc_enrichment(fpr))
for beta in (-1.0, nan, inf):
    bad(f"beta {beta}", ValueError, "beta", f"{beta:g}")(lambda beta=beta: curve().f_score(2, beta=beta))
    bad(f"beta {beta} at a threshold", ValueError, "beta", f"{beta:g}")(
        lambda beta=beta: hc.at_threshold(Y, S, 0.3, beta=beta)
    )
bad("threshold nan", ValueError, "threshold", "nan")(lambda: hc.at_threshold(Y, S, nan))
bad("threshold text", TypeError, "threshold", "str|'high'")(lambda: hc.at_threshold(Y, S, "high"))
for row in HITS:
    if row.readings and "threshold" not in row.readings:
        bad(f"{row.method} by threshold", ValueError, "ties", "threshold")(
            lambda row=row: getattr(curve(), row.method)(*first_arguments(row, 2, 0.5), ties="threshold")
        )

# --- relevant items that were never retrieved ---------------------------------------------------------------

for row in HITS:
    if row.complete:
        bad(f"{row.method} of unretrieved items", ValueError, "num_relevant|relevant", r"\b7\b", r"\b2\b")(
            lambda row=row: getattr(curve(num_relevant=7), row.method)(*first_arguments(row, 2, 0.1))
        )
bad("roc_curve of unretrieved items", ValueError, "num_relevant|relevant", r"\b7\b", r"\b2\b")(
    lambda: curve(num_relevant=7).roc_curve(ties="threshold")
)

# --- many queries -------------------------------------------------------------------------------------------

bad("qid and offsets", ValueError, "qid", "offsets")(lambda: curves(qid=QID, offsets=[0, 5]))
bad("neither qid nor offsets", ValueError, "qid", "offsets")(lambda: curves())
bad("neither, for the mean", ValueError, "qid", "offsets")(lambda: mean_ap(Y, S))
bad("qid with rows", ValueError, "qid")(lambda: hc.HitCurves(Y2, S2, qid=[1, 2]))
bad("offsets with rows", ValueError, "offsets")(lambda: hc.HitCurves(Y2, S2, offsets=[0, 3, 6]))
bad("qid length", ValueError, "qid", r"\b4\b", r"\b5\b")(lambda: curves(qid=QID[:4]))
bad("qid nan", ValueError, r"qid\[1\]", "nan")(lambda: curves(qid=[1.0, nan, 2.0, 2.0, 2.0]))
bad("qid nan among texts", ValueError, r"qid\[1\]", "nan")(lambda: curves(qid=["a", nan, "b", "b", "b"]))
bad("qid None", ValueError, r"qid\[1\]", "None")(lambda: curves(qid=["a", None, "b", "b", "b"]))
bad("qid NaT", ValueError, r"qid\[1\]", "NaT")(
    lambda: curves(qid=np.array(["2020", "NaT", "2020", "2021", "2021"], "datetime64[D]"))
)
for name, call in {
    "qid": curves,
    "tiebreak": ap,
    "groups": lambda groups: hc.compare(Y, {"a": S, "b": S}, groups=groups),
}.items():
    bad(f"{name} of numbers and texts", TypeError, rf"{name}\[1\]", r"\b1\b", "int")(
        lambda name=name, call=call: call(**{name: ["1", 1, "1", "2", "2"]})
    )
    bad(f"{name} of texts and bytes", TypeError, rf"{name}\[4\]", "b'2'", "bytes")(
        lambda name=name, call=call: call(**{name: ["1", "1", "1", "2", b"2"]})
    )
for name, call in {"qid": curves, "groups": lambda groups: hc.compare(Y, {"a": S, "b": S}, groups=groups)}.items():
    for kind, ids in {"list": [True, True, 1, 1, 0], "tuple": (1, 0.5, True, 2, 2), "numpy": [1, np.True_, 1, 2, 2],
                      "object": np.array([1, 2, True, 2, 1], object)}.items():  # fmt: skip
        at = [isinstance(one, (bool, np.bool_)) for one in ids].index(True)
        bad(f"{name} of truth values in a {kind}", TypeError, rf"{name}\[{at}\] is .*True", "True equals 1")(
            lambda name=name, call=call, ids=ids: call(**{name: ids})
        )
bad("mask of another shape", ValueError, r"mask has shape \(2, 2\), y_true has shape \(2, 3\)")(
    lambda: hc.HitCurves(Y2, S2, mask=[[True, True], [True, False]]))
bad("mask of numbers", ValueError, "mask must be two-dimensional and of bool", "int64")(
    lambda: hc.HitCurves(Y2, S2, mask=np.ones((2, 3), np.int64)))
for name, value in {"qid": [1, 2], "offsets": [0, 3, 6]}.items():
    bad(f"mask and {name}", ValueError, "mask needs two-dimensional", "cannot be combined with qid or offsets")(
        lambda name=name, value=value: hc.HitCurves(Y2, S2, mask=Y2 >= 0, **{name: value}))
for name, value in {"tiebreak": "order", "sample_weight": np.ones((2, 3))}.items():
    bad(f"mask and {name}", ValueError, f"mask cannot be combined with {name}")(
        lambda name=name, value=value: hc.HitCurves(Y2, S2, mask=Y2 >= 0, **{name: value}))
for name, call in {"curves": hc.HitCurves, "mean": hc.mean_average_precision}.items():
    mask = np.array([[False, True, True], [True, False, True]])
    bad(f"a label beside a mask, {name}", ValueError, r"y_true\[1, 2\] is 7")(
        lambda call=call, mask=mask: call([[9, 1, 0], [1, 9, 7]], S2, mask=mask))
    bad(f"a score beside a mask, {name}", ValueError, r"y_score\[1, 2\] is nan")(
        lambda call=call, mask=mask: call(Y2, [[nan, 1, 0], [1, nan, nan]], mask=mask))
    bad(f"a level beside a mask, {name}", ValueError, r"y_true\[0, 2\] is nan")(
        lambda call=call, mask=mask: call([[nan, 1, nan], [1, 0, 0.5]], S2, mask=mask, relevance_level=1))
bad("tiebreak of objects", TypeError, r"tiebreak\[0\]", "object")(lambda: ap(tiebreak=[object()] * 5))
bad("tiebreak of mixed objects", TypeError, "tiebreak")(lambda: ap(tiebreak=np.array(["1", 1, 2, 3, 4], object)))
bad("qid 2-D", ValueError, "qid")(lambda: curves(qid=QID[None]))
bad("offsets fall", ValueError, r"offsets\[2\]", r"\b1\b", r"\b3\b")(lambda: curves(offsets=[0, 3, 1, 5]))
bad("offsets overrun", ValueError, r"offsets\[(-1|2)\]", r"\b6\b", r"\b5\b")(lambda: curves(offsets=[0, 3, 6]))
bad("offsets stop early", ValueError, r"offsets\[(-1|2)\]", r"\b4\b", r"\b5\b")(lambda: curves(offsets=[0, 3, 4]))
bad("offsets from 1", ValueError, r"offsets\[0\]", r"\b1\b")(lambda: curves(offsets=[1, 3, 5]))
bad("offsets -1", ValueError, r"offsets\[0\]", "-1")(lambda: curves(offsets=[-1, 3, 5]))
bad("offsets empty", ValueError, "offsets")(lambda: curves(offsets=[]))
bad("offsets in halves", TypeError, "offsets", "float")(lambda: curves(offsets=[0.0, 2.5, 5.0]))
bad("offsets 2-D", ValueError, "offsets")(lambda: curves(offsets=[[0, 5]]))
bad("empty text", ValueError, "empty", "'?drop")(lambda: mean_ap(empty="drop"))
bad("empty query", ValueError, "query", r"\b1\b")(lambda: mean_ap([[0, 1, 0], [0, 0, 0]], empty="raise"))
bad("no such query", IndexError, r"\b2\b")(lambda: hc.HitCurves(Y2, S2)[2])

# --- other ways in ------------------------------------------------------------------------------------------

bad("more hits than tied", ValueError, r"hits\[0\]", r"\b3\b", "tied", r"\b2\b")(lambda: table(hits=(3, 1)))
bad("no hits", ValueError, r"hits\[1\]", r"\b0\b")(lambda: table(hits=(1, 0)))
bad("overlapping rows", ValueError, r"above\[1\]", r"\b1\b")(lambda: table(above=(0, 1)))
bad("rows that fall", ValueError, r"above\[1\]", r"\b0\b")(lambda: table(above=(5, 0)))
bad("above -1", ValueError, r"above\[0\]", "-1")(lambda: table(above=(-1, 5)))
bad("tied 0", ValueError, r"tied\[0\]|hits\[0\]", r"\b0\b")(lambda: table(tied=(0, 1)))
bad("rows beyond the items", ValueError, "num_items", r"\b5\b")(lambda: table(num_items=5))
bad("num_items -1", ValueError, "num_items", "-1")(lambda: table((), (), (), (), num_items=-1))
bad("num_items huge", ValueError, "num_items", str(2**62 + 1))(lambda: table(num_items=2**62 + 1))
bad("num_items text", TypeError, "num_items", "str|'nine'")(lambda: table(num_items="nine"))
bad("above huge", ValueError, "row 1", "above", "num_items", str(2**62 + 1))(lambda: table(above=(0, 2**62)))
bad("num_relevant below the rows", ValueError, "num_relevant", r"\b1\b", r"\b2\b")(lambda: table(num_relevant=1))
bad("scores that rise", ValueError, r"score\[1\]", r"\b3")(lambda: table(score=(1.0, 3.0)))
bad("scores that fall, lower is better", ValueError, r"score\[1\]")(lambda: table(lower_is_better=True))
bad("score nan, not the last", ValueError, r"score\[0\]", "nan")(lambda: table(score=(nan, 1.0)))
bad("columns of several lengths", ValueError, "tied", r"\b1\b", r"\b2\b")(lambda: table(tied=(2,)))
bad("column of text", TypeError, "above", "str|U")(lambda: table(above=("a", "b")))
bad("column nan", ValueError, r"above\[1\]", "nan")(lambda: table(above=(0.0, nan)))
bad("column inf", ValueError, "row 1", "tied", "inf")(lambda: table(tied=(2.0, inf)))
bad("column of negative weights", ValueError, r"hits\[0\]", r"-0\.5")(lambda: table(hits=(-0.5, 1.0)))

for name, call in {
    "precision": lambda c: c.precision(1),
    "tie_report": lambda c: c.tie_report(),
    "interval": lambda c: c.interval(),
    "roc_auc": lambda c: c.roc_auc(),
    "roc_curve": lambda c: c.roc_curve(),
}.items():
    bad(f"{name} of a table of weights", ValueError, "weighted", "table of floats")(
        lambda call=call: call(table(None, [0.0], [2.0], [1.0], num_items=5))
    )

from_ranks, from_ranked = hc.HitCurve.from_ranks, hc.HitCurve.from_ranked
bad("rank twice", ValueError, "ranks", r"\b3\b")(lambda: from_ranks([1, 3, 3], num_items=9))
bad("rank 0", ValueError, r"ranks\[1\]", r"\b0\b")(lambda: from_ranks([1, 0], num_items=9))
bad("rank beyond", ValueError, r"ranks\[1\]", r"\b10\b", r"\b9\b")(lambda: from_ranks([1, 10], num_items=9))
bad("rank 1.5", TypeError, "ranks", "float")(lambda: from_ranks([1.0, 1.5], num_items=9))
bad("ranks 2-D", ValueError, "ranks")(lambda: from_ranks([[1, 2]], num_items=9))
bad("ranks without num_items", TypeError, "num_items")(lambda: from_ranks([1, 2]))
bad("ranks, few relevant", ValueError, "num_relevant", r"\b1\b", r"\b2\b")(
    lambda: from_ranks([1, 2], num_items=9, num_relevant=1)
)
bad("flag 2", ValueError, r"hits\[2\]", r"\b2\b")(lambda: from_ranked([1, 0, 2]))
bad("flag nan", ValueError, r"hits\[1\]", "nan")(lambda: from_ranked([1.0, nan]))
bad("flags 2-D", ValueError, "hits")(lambda: from_ranked([[1, 0]]))
bad("more flags than items", ValueError, "num_items", r"\b2\b", r"\b3\b")(lambda: from_ranked([1, 0, 1], num_items=2))
bad("flags, few relevant", ValueError, "num_relevant", r"\b1\b", r"\b2\b")(
    lambda: from_ranked([1, 0, 1], num_relevant=1)
)

# --- counters -----------------------------------------------------------------------------------------------


def counter(*updates, **options):
    c = hc.HitCounter(**({"thresholds": [0.4, 0.2]} | options))
    for y, s in updates:
        c.update(y, s)
    return c


bad("neither thresholds nor edges", (ValueError, TypeError), "thresholds", "edges")(lambda: hc.HitCounter())
bad("thresholds and edges", (ValueError, TypeError), "thresholds", "edges")(lambda: hc.HitCounter([1.0], edges=[1.0]))
bad("thresholds nan", ValueError, r"thresholds\[1\]", "nan")(lambda: hc.HitCounter([1.0, nan]))
bad("thresholds text", TypeError, "thresholds", "str|U")(lambda: hc.HitCounter(["a"]))
bad("edges fall", ValueError, r"edges\[2\]", r"\b1")(lambda: hc.HitCounter(edges=[0.0, 2.0, 1.0]))
bad("edges repeat", ValueError, r"edges\[1\]", r"\b2")(lambda: hc.HitCounter(edges=[2.0, 2.0]))
bad("edges nan", ValueError, r"edges\[0\]", "nan")(lambda: hc.HitCounter(edges=[nan, 2.0]))
bad("relevant score without a threshold", ValueError, r"y_score\[1\]", r"0\.4", "thresholds")(
    lambda: counter((Y, S), thresholds=[0.2])
)
bad("counter, score nan", ValueError, r"y_score\[0\]", "nan")(lambda: counter((Y, one_changed(S, 0, nan))))
bad("counter, label 2", ValueError, r"y_true\[0\]", r"\b2\b")(lambda: counter((one_changed(Y, 0, 2), S)))
bad("counter, lengths", ValueError, "y_true", "y_score", r"\b5\b", r"\b4\b")(lambda: counter((Y, S[:4])))
bad("merge of other thresholds", ValueError, "thresholds")(lambda: counter().merge(counter(thresholds=[0.4])))
bad("merge of as many other thresholds", ValueError, r"thresholds\[1\]", r"0\.5", r"0\.4")(
    lambda: counter(thresholds=[0.2, 0.4, 0.6]).merge(counter(thresholds=[0.2, 0.5, 0.7]))
)
bad("merge of as many other edges", ValueError, r"edges\[0\]", r"\b1", r"\b0")(
    lambda: hc.HitCounter(edges=[0.0, 2.0]).merge(hc.HitCounter(edges=[1.0, 2.0]))
)
bad("merge of bins", ValueError, "thresholds|edges")(lambda: counter().merge(hc.HitCounter(edges=[0.0])))
bad("merge of the other direction", ValueError, "lower_is_better")(
    lambda: counter().merge(counter(lower_is_better=True))
)
bad("merge of a number", TypeError, "HitCounter", "int|3")(lambda: counter().merge(3))
bad("counter, few relevant", ValueError, "num_relevant", r"\b1\b", r"\b2\b")(lambda: counter((Y, S)).curve(1))
bad("counter, nan_policy", ValueError, "nan_policy", "ignore")(lambda: counter(nan_policy="ignore"))


# --- the tests ----------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def arrays_are_untouched():
    before = [a.tobytes() for a in ARRAYS]
    yield
    assert [a.tobytes() for a in ARRAYS] == before


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_bad_call(case):
    with pytest.raises(case.error) as caught:
        case.call()
    for fragment in case.says:
        assert re.search(fragment, str(caught.value), re.IGNORECASE), f"{fragment!r} is not in {caught.value}"
    assert len(str(caught.value)) < 300


def test_cases_have_their_own_names():
    assert len({case.name for case in CASES}) == len(CASES) > 40


def test_helpers_are_good_calls():
    """Each bad call differs from a good one in the one thing its name says."""
    assert ap() == ap(k=5) == curve().average_precision()
    assert len(curves(qid=QID)) == len(curves(offsets=[0, 2, 5])) == 2
    assert 0 < mean_ap() <= 1
    assert len(table()) == 2
    assert len(table(score=(1.0, 1.0))) == 2  # items of one score whose tie was broken
    assert table(above=(0.0, 2.5)).weighted  # counts in floats are sums of weights
    assert counter((Y, S)).curve() == curve()
    assert curve(num_relevant=7).average_precision() == pytest.approx(ap() * 2 / 7, rel=1e-15)


def message(call):
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    return type(caught.value), str(caught.value)


@pytest.mark.parametrize(
    ("y", "s"),
    [
        (one_changed(Y, 3, 2), S),
        (one_changed(Y, 3, nan), S),
        (Y, one_changed(S, 4, nan)),
        (Y, S[:4]),
        (Y, S + 0j),
        (["a"] * 5, S),
        (S, Y),
    ],
    ids=["label 2", "label nan", "score nan", "lengths", "complex", "text", "swapped"],
)
def test_every_route_says_the_same(y, s):
    routes = [
        lambda: hc.average_precision(y, s),
        lambda: hc.HitCurve(y, s),
        lambda: hc.at_threshold(y, s, 0.3),
        lambda: hc.HitCurves(y, s, offsets=[0, 5]),
        lambda: hc.mean_average_precision(y, s, qid=QID),
        lambda: hc.HitCounter([0.4, 0.2]).update(y, s),
    ]
    assert len({message(route) for route in routes}) == 1


def test_read_only_arrays_give_the_same_message():
    y, s = np.array(one_changed(Y, 3, 2)), S.copy()
    y.flags.writeable = s.flags.writeable = False
    assert message(lambda: hc.HitCurve(y, s)) == message(lambda: hc.HitCurve(list(y), list(s)))


def test_first_of_many_places_is_named():
    n = 5000
    y = np.zeros(n, dtype=np.int8)
    y[[4000, 4500]] = 1, 7
    s = np.random.default_rng(0).random(n)
    s[[1234, 3000]] = nan
    assert "y_score[1234]" in message(lambda: hc.HitCurve(np.minimum(y, 1), s))[1]
    y[4700] = 9
    assert "y_true[4500]" in message(lambda: hc.HitCurve(y, np.nan_to_num(s)))[1]
    for workers in (1, 2):
        assert "y_score[1234]" in message(lambda w=workers: ap(np.minimum(y, 1), s, workers=w))[1]


def test_counter_is_unchanged_by_a_bad_update():
    c = counter((Y, S))
    before = c.curve()
    for y, s in [(Y, one_changed(S, 4, nan)), (one_changed(Y, 4, 2), S), (Y, S[:3]), ([1], [0.35])]:
        message(lambda y=y, s=s: c.update(y, s))
        assert c.curve() == before
        assert (c.num_items, c.num_hits) == (5, 2)


@pytest.mark.parametrize("name", ["num_items", "num_relevant", "num_hits", "above", "tied", "hits", "score"])
def test_curves_are_immutable(name):
    c = curve()
    with pytest.raises(AttributeError):
        setattr(c, name, 3)
    if isinstance(getattr(c, name), np.ndarray):
        with pytest.raises(ValueError, match="read-only"):
            getattr(c, name)[0] = 9
    assert c == curve()


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "u8"])
@pytest.mark.parametrize("kind", ["thresholds", "edges"])
def test_counters_keep_their_thresholds(kind, dtype):
    """Neither the array that was given nor the one that is shown is the counter's own to change."""
    given = np.array([2, 4, 8], dtype)
    c = hc.HitCounter(**{kind: given})
    for array in (given, getattr(c, kind), c.__getstate__()["cuts"]):
        assert array.tolist() == [2, 4, 8]
        if array is given:
            array[:] = 5
        else:
            with pytest.raises(ValueError, match="read-only"):
                array[:] = 5
    c.update([1, 0], np.array([4, 2], dtype) if dtype[0] == "f" else [4, 2])
    with pytest.raises(ValueError, match="read-only"):
        getattr(c, kind)[0] = 3  # in the type of the blocks, too
    assert getattr(c, kind).tolist() == [2, 4, 8]


@pytest.mark.parametrize("scores", [[2**63, 2**63 + 1, -1], [2**53 + 1, 2**53, 0.5]])
def test_integers_that_a_list_would_round(scores):
    with pytest.raises(ValueError, match=r"y_score\[\d\] is \d{16,}: no array type holds all"):
        hc.HitCurve([1, 0, 0], scores)


@pytest.mark.parametrize("relevant", [[0, 0], [0, 1]])
def test_recall_levels_of_weighted_items(relevant):
    """Refused whether there is a relevant item or not."""
    for weight in ([1, 1], [0, 0]):
        curve = hc.HitCurve(relevant, [1, 2], sample_weight=weight)
        with pytest.raises(ValueError, match="is not defined for weighted items"):
            curve.average_precision(ties="threshold", interpolation="11-point")


@pytest.mark.parametrize("number", [2**31, 2**70])
def test_more_resamples_than_can_be(number):
    with pytest.raises(ValueError, match=rf"n_resamples is {number}"):
        hc.HitCurve([1, 0, 1], [3, 2, 1]).resample(number)


@pytest.mark.parametrize("number", [2**62 + 1, 2**64, 2**100])
def test_num_relevant_that_no_count_can_be(number):
    y, s = [1, 0, 1], [3, 2, 1]
    for call in (
        lambda: hc.average_precision(y, s, num_relevant=number),
        lambda: hc.mean_average_precision(y, s, offsets=[0, 3], num_relevant=number),
        lambda: hc.HitCurves([y], [s], num_relevant=number),
    ):
        with pytest.raises(ValueError, match=rf"num_relevant is {number}: must be at most 2\*\*62"):
            call()
    with pytest.raises(ValueError, match=r"num_relevant\[0\] is 9223372036854775808"):
        hc.HitCurves([y], [s], num_relevant=np.array([2**63], np.uint64))
    with pytest.raises(ValueError, match="num_relevant"):
        hc.HitCurves([y], [s], num_relevant=-(2**100))


def test_ragged_lists_are_called_so():
    for call in (hc.HitCurve, hc.HitCurves, hc.average_precision):
        with pytest.raises(ValueError, match=r"^y_true holds lists of different lengths: give one flat list with qid="):
            call([[1, 0], [1]], [[1, 2], [3]])


SYSTEMS = {f"s{i}": hc.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}) for i in range(300)}


@pytest.mark.parametrize("long", ["x" * 30_000, SYSTEMS, list(SYSTEMS.values())], ids=["text", "mapping", "list"])
@pytest.mark.parametrize("call", [
    lambda long: hc.average_precision([1, 0], [2.0, 1.0], ties=long),
    lambda long: hc.average_precision([1, 0], [2.0, 1.0], tiebreak=long),
    lambda long: hc.average_precision(long, [2.0, 1.0]),
    lambda long: hc.average_precision([1, 0], [2.0, 1.0], k=long),
    lambda long: hc.at_threshold([1, 0], [2.0, 1.0], long),
    lambda long: hc.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, long),
    lambda long: hc.evaluate({"q": {"a": 1}}, {"q": {"a": long}}),
    lambda long: hc.evaluate({"q": {"a": long}}, {"q": {"a": 1.0}}),
    lambda long: hc.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, rank_by=long),
    lambda long: hc.compare({"a": [1.0, 2.0], "b": [2.0, 1.0]}, rng=long),
    lambda long: hc.compare({"a": [1.0, 2.0], "b": [2.0, 1.0]}, baseline=long),
    lambda long: hc.compare({"a": [1.0, 2.0], "b": [2.0, 1.0]}, confidence_level=long),
])  # fmt: skip
def test_an_error_cuts_a_long_value_short(call, long):
    with pytest.raises((TypeError, ValueError)) as caught:
        call(long)
    assert len(str(caught.value)) < 900  # an unknown measure lists the known ones
