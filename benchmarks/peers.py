"""One adapter a library: what is called, what it needs first, and which reading of ties its number is.

`one(y, s)` measures one ranking, `many(y, s)` the mean over the rows of 2-D arrays. `prepare_one` and `prepare_many`
make what a library wants in place of arrays (dicts, frames, tensors): not part of the time.
"""

import contextlib
import importlib.metadata
import importlib.util
import json
import platform
import warnings
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

import hitcurve


class Peer(NamedTuple):
    name: str
    distribution: str
    module: str
    reading: str | None  # of ties: "expected", "threshold", "order" (of the input); None: not AP, there for scale
    one: Callable | None = None
    many: Callable | None = None
    prepare_one: Callable | None = lambda y, s: (y, s)
    prepare_many: Callable | None = lambda y, s: (y, s)
    tolerance: float = 1e-12


def installed(peer):
    return importlib.util.find_spec(peer.module) is not None


def processor():
    """The name of the processor, where Linux tells it."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def versions():
    """Python and every library that is installed, with its version."""
    found = {"Python": platform.python_version(), "hitcurve": hitcurve.__version__}
    for peer in PEERS:
        if installed(peer) and peer.distribution not in found:
            found[peer.distribution] = importlib.metadata.version(peer.distribution)
    return found


# --- scikit-learn -------------------------------------------------------------------------------------------


@cache
def sklearn_function():
    from sklearn.metrics import average_precision_score

    return average_precision_score


def sklearn_one(y, s):
    return sklearn_function()(y, s)


def sklearn_many(y, s):
    return np.mean([sklearn_function()(labels, values) for labels, values in zip(y, s, strict=True)])


# --- numpy --------------------------------------------------------------------------------------------------


def argsort_one(y, s):
    places = np.flatnonzero(y[np.argsort(-s, kind="stable")])
    return np.mean(np.arange(1, len(places) + 1) / (places + 1))


def argsort_many(y, s):
    flags = np.take_along_axis(y, np.argsort(-s, axis=1, kind="stable"), axis=1)
    hits = np.cumsum(flags, axis=1, dtype=np.int64)
    return np.mean(np.sum(flags * hits / np.arange(1, y.shape[1] + 1), axis=1) / hits[:, -1])


def sort_only(y, s):
    np.sort(s)


def sum_only(y, s):
    s.sum()


# --- polars-ds ----------------------------------------------------------------------------------------------


def polars_frame(y, s):
    import polars as pl
    import polars_ds  # noqa: F401

    q = np.repeat(np.arange(len(y)), y.shape[1]) if y.ndim == 2 else np.zeros(len(y), dtype=np.int64)
    return (pl.DataFrame({"y": y.ravel().astype(np.int32), "s": s.ravel().astype(np.float64), "q": q}),)


def polars_metrics():
    import polars_ds

    return polars_ds.query_binary_metrics("y", "s").struct.field("avg_precision").alias("ap")


def polars_one(frame):
    return frame.select(polars_metrics())["ap"][0]


def polars_many(frame):
    return frame.group_by("q").agg(polars_metrics())["ap"].mean()


# --- pytrec_eval, ranx: dicts of dicts ----------------------------------------------------------------------


def dicts(y, s):
    # document ids fall: trec_eval breaks ties by descending id, which is then the order of the input
    names = [f"d{i:09d}" for i in range(y.shape[1] - 1, -1, -1)]
    qrels = {f"q{i}": dict(zip(names, row, strict=True)) for i, row in enumerate(y.tolist())}
    run = {f"q{i}": dict(zip(names, row, strict=True)) for i, row in enumerate(s.tolist())}
    return qrels, run


SCORES = {  # how the scores of `parsed_dicts` are, and how a table says it
    "distinct": "distinct, in no order",
    "sorted": "distinct, best first",
    "two decimals": "two decimals, best first",
    "one decimal": "one decimal, best first",
}


def parsed_dicts(queries, documents, judged, scores):
    """Judgments and a run as a reader of files makes them: no two ids are one object, and queries share few documents.

    Judged documents are drawn from those retrieved; single precision holds the distinct scores.
    """
    rng = np.random.default_rng(0)
    qrels, run = {}, {}
    for query in (f"q{i}" for i in range(queries)):
        ids = [f"doc{number:08d}" for number in rng.choice(10_000_000, documents, replace=False)]
        values = rng.choice(2**23, documents, replace=False) / 2**23
        if "decimal" in scores:
            values = values.round(2 if scores == "two decimals" else 1)
        if scores != "distinct":
            values = np.sort(values)[::-1]
        run[query] = json.loads(json.dumps(dict(zip(ids, values.tolist(), strict=True))))
        levels = {str(doc): int(rng.integers(0, 3)) for doc in rng.choice(ids, judged, replace=False)}
        qrels[query] = json.loads(json.dumps(levels))
    return qrels, run


def trec_dicts(y, s):
    import pytrec_eval

    qrels, run = dicts(y, s)
    return pytrec_eval.RelevanceEvaluator(qrels, {"map"}), run


def pytrec_eval_many(evaluator, run):
    values = evaluator.evaluate(run)
    return sum(value["map"] for value in values.values()) / len(values)


def ranx_prepare(y, s):
    from ranx import Qrels, Run

    qrels, run = dicts(y, s)
    relevant = {query: {name: 1 for name, label in row.items() if label} for query, row in qrels.items()}
    return Qrels(relevant), Run(run)


def ranx_many(qrels, run):
    from ranx import evaluate

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numba's, about casts of its own
        return evaluate(qrels, run, "map")


# --- torchmetrics -------------------------------------------------------------------------------------------


def tensors(y, s):
    import torch

    s = (s - s.min()) / max(float(np.ptp(s)), 1e-300)  # scores outside 0..1 would pass through a sigmoid
    return torch.from_numpy(np.ascontiguousarray(s)), torch.from_numpy(y.astype(np.int64))


def torchmetrics_one(s, y):
    from torchmetrics.functional.classification import binary_average_precision

    return float(binary_average_precision(s, y, validate_args=False))


def torchmetrics_many(s, y):
    from torchmetrics.functional.retrieval import retrieval_average_precision

    return float(np.mean([float(retrieval_average_precision(a, b)) for a, b in zip(s, y, strict=True)]))


# --- all ----------------------------------------------------------------------------------------------------

PEERS = (
    Peer("hitcurve", "hitcurve", "hitcurve", "expected", hitcurve.average_precision, hitcurve.mean_average_precision),
    Peer("scikit-learn", "scikit-learn", "sklearn", "threshold", sklearn_one, sklearn_many),
    Peer("argsort, in numpy", "numpy", "numpy", "order", argsort_one, argsort_many),
    Peer("polars-ds", "polars-ds", "polars_ds", "threshold", polars_one, polars_many, polars_frame, polars_frame),
    Peer("pytrec_eval", "pytrec_eval-terrier", "pytrec_eval", "order", None, pytrec_eval_many, None, trec_dicts),
    Peer("ranx", "ranx", "ranx", "order", None, ranx_many, None, ranx_prepare),
    Peer(
        "torchmetrics",
        "torchmetrics",
        "torchmetrics",
        "threshold",
        torchmetrics_one,
        torchmetrics_many,
        tensors,
        tensors,
        tolerance=1e-3,  # its counts and sums are float32
    ),
    Peer("cwl_eval", "cwl-eval", "cwl", "order"),
    Peer("pyndeval", "pyndeval", "pyndeval", "order"),
    Peer("np.sort of the scores", "numpy", "numpy", None, sort_only, sort_only),
    Peer("sum of the scores", "numpy", "numpy", None, sum_only, sum_only),
)
