"""The classes of torchmetrics against a slow reading of their rules, and against torchmetrics where it is installed."""

import copy
import doctest
import inspect
import pickle
import subprocess
import sys
import warnings
from itertools import product

import numpy as np
import pytest
from signatures import same_signature

import hitcurve as hc
from hitcurve.compat import torchmetrics as ours

RETRIEVAL = [name for name in ours.__all__ if name.startswith("Retrieval")]
# The parameters of torchmetrics 1.9, with their defaults.
COMMON = "empty_target_action='neg', ignore_index=None, {}aggregation='mean', **kwargs"
SIGNATURES = {
    **{name: COMMON.format("top_k=None, ") for name in RETRIEVAL},
    "RetrievalPrecision": COMMON.format("top_k=None, adaptive_k=False, "),
    "RetrievalRPrecision": COMMON.format(""),
    "BinaryAveragePrecision":
        "thresholds=None, ignore_index=None, validate_args=True, normalization='sigmoid', **kwargs",
    "BinaryAUROC": "max_fpr=None, thresholds=None, ignore_index=None, validate_args=True, **kwargs",
}


def value_of(name, s, y, k, adaptive_k):
    """The measure of one query without ties, by the functions of torchmetrics.functional.retrieval."""
    order = np.argsort(-s)
    first = order[: k or len(s)]
    hits = y[first] * (s[first] > 0)
    if name == "RetrievalMAP":
        return np.mean([(i + 1) / (place + 1) for i, place in enumerate(np.flatnonzero(hits))]) if hits.any() else 0.0
    if name == "RetrievalMRR":
        return 1 / (np.argmax(hits) + 1) if hits.any() else 0.0
    if name == "RetrievalPrecision":
        return hits.sum() / (len(s) if k is None or (adaptive_k and k > len(s)) else k)
    if name == "RetrievalRecall":
        return hits.sum() / y.sum()
    if name == "RetrievalHitRate":
        return float(y[first].any())
    if name == "RetrievalRPrecision":
        return y[order][: y.sum()].mean()
    discount = 1 / np.log2(np.arange(len(first)) + 2)
    return (y[first] * discount).sum() / (np.sort(y)[::-1][: len(first)] * discount).sum()


AGGREGATED = {"mean": np.mean, "min": np.min, "max": np.max, "median": lambda v: sorted(v)[(len(v) - 1) // 2]}


def expected(name, s, y, q, *, empty_target_action="neg", ignore_index=None, top_k=None, adaptive_k=False,
             aggregation="mean"):
    used = y != ignore_index
    values = []
    for one in np.unique(q[used]):
        here = used & (q == one)
        if y[here].any():
            values.append(value_of(name, s[here], y[here], top_k, adaptive_k))
        elif empty_target_action != "skip":
            values.append(float(empty_target_action == "pos"))
    return AGGREGATED[aggregation](values) if values else 0.0


def data(seed, name):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 200))
    s = ((rng.permutation(n) + 1) / n - (0.4 if seed % 2 else 0)).astype(np.float32)
    y = rng.integers(0, 4, n) if name == "RetrievalNormalizedDCG" else (rng.random(n) < 0.2).astype(int)
    y[: n // 10] = -100 if seed % 3 == 0 else 0
    return s, y, rng.integers(0, 9, n), {"ignore_index": -100} if seed % 3 == 0 else {}


def choices(name):
    for action, aggregation, k in product(("neg", "pos", "skip"), AGGREGATED, (None, 1, 4, 50)):
        options = {"empty_target_action": action, "aggregation": aggregation}
        if name != "RetrievalRPrecision":
            options["top_k"] = k
        yield options
        if name == "RetrievalPrecision":
            yield {**options, "adaptive_k": True}


def measured(metric, s, y, q):
    half = len(s) // 2
    metric.update(s[:half], y[:half], indexes=q[:half])
    metric.update(s[half:], y[half:], q[half:])
    return metric.compute()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", RETRIEVAL)
def test_retrieval(name, seed):
    s, y, q, ignore = data(seed, name)
    for options in choices(name):
        found = measured(getattr(ours, name)(**options, **ignore), s, y, q)
        assert isinstance(found, np.float64)
        assert found == pytest.approx(expected(name, s, y, q, **options, **ignore), rel=1e-12), options


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", RETRIEVAL)
def test_retrieval_as_torchmetrics(name, seed):
    torch = pytest.importorskip("torch")
    theirs = getattr(pytest.importorskip("torchmetrics.retrieval"), name)
    s, y, q, ignore = data(seed, name)
    tensors = [torch.tensor(array) for array in (s, y, q)]
    for options in choices(name):
        found, wanted = (measured(make(**options, **ignore), *tensors) for make in (getattr(ours, name), theirs))
        assert found == pytest.approx(wanted.item(), rel=2e-6, abs=1e-7), options


@pytest.mark.parametrize("logits", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_binary(seed, logits):
    rng = np.random.default_rng(seed)
    s = (rng.integers(0, 30, 96) / 32).astype(np.float32)
    y = (rng.random(96) < 0.3).astype(int)
    y[:3] = -1
    given = 20 * s - 9 if logits else s
    for name, options in (("BinaryAveragePrecision", {}), ("BinaryAUROC", {}), ("BinaryAUROC", {"max_fpr": 0.3})):
        metric = getattr(ours, name)(ignore_index=-1, **options)
        metric.update(given[:50], y[:50])
        metric.update(given[50:].reshape(2, 23), y[50:].reshape(2, 23))
        curve = hc.HitCurve(y[3:], s[3:])  # a sigmoid changes no order
        read = curve.roc_auc if name == "BinaryAUROC" else curve.average_precision
        wanted = read(ties="threshold", **options)
        assert metric.compute() == pytest.approx(wanted, rel=1e-15)


@pytest.mark.parametrize("seed", range(6))
def test_binary_as_torchmetrics(seed):
    torch = pytest.importorskip("torch")
    classes = pytest.importorskip("torchmetrics.classification")
    rng = np.random.default_rng(seed)
    s, y = torch.tensor((rng.integers(0, 30, 96) / 32).astype("f4")), torch.tensor((rng.random(96) < 0.3).astype(int))
    logits = torch.tensor((rng.permutation(96) / 10 - 5).astype("f4"))  # its sigmoid may give equal logits two values
    labels = [y, y * 0] if seed else [y, y * 0, y * 0 + 1]
    for name, options in (("BinaryAveragePrecision", {}), ("BinaryAUROC", {}), ("BinaryAUROC", {"max_fpr": 0.3})):
        for scores, target in product((s, logits), labels):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of labels that are all the same
                wanted = getattr(classes, name)(**options)(scores, target)
            assert getattr(ours, name)(**options)(scores, target) == pytest.approx(wanted.item(), rel=2e-6, abs=1e-7)


def test_ties():
    """The mean over the orders, where torchmetrics has one order that no rule gives."""
    metric = ours.RetrievalMAP()
    assert metric([0.5] * 3, [1, 0, 0], [4] * 3) == pytest.approx((1 + 1 / 2 + 1 / 3) / 3, rel=1e-15)
    assert ours.RetrievalHitRate(top_k=1)([0.5] * 4, [1, 0, 0, 0], [4] * 4) == pytest.approx(0.25, rel=1e-15)


@pytest.mark.parametrize("name", ours.__all__)
def test_batches(name):
    """A call keeps its batch; reset, merge_state, copies and pickles."""
    s, y, q, _ = data(1, name)
    y = (y > 0).astype(int)
    batches = [[column[part] for column in ((s, y, q) if name in RETRIEVAL else (s, y))]
               for part in (slice(0, 5), slice(5, None))]
    whole, parts = getattr(ours, name)(), [getattr(ours, name)() for _ in batches]
    alone = [whole(*batch) for batch in batches]
    for part, batch, value in zip(parts, batches, alone, strict=True):
        part.update(*batch)
        assert part.compute() == value
    before = copy.copy(parts[0])
    parts[0].merge_state(pickle.loads(pickle.dumps(parts[1])))
    assert parts[0].compute() == whole.compute()
    assert before.compute() == alone[0]  # a copy shares no list
    assert pickle.loads(pickle.dumps(whole)).compute() == whole.compute()
    for column in batches[0]:
        column[:] = 0  # nothing of the caller's is kept
    assert parts[0].compute() == whole.compute()
    whole.reset()
    with pytest.raises(ValueError, match="No samples to concatenate"):
        whole.compute()
    with pytest.raises(ValueError, match=f"incoming_state is of type int: must be a {name}"):
        whole.merge_state(3)


def test_a_function_that_aggregates():
    metric = ours.RetrievalMRR(aggregation=lambda values, dim: values[dim is None :].sum())
    assert metric([3.0, 2.0, 1.0, 0.5], [1, 0, 0, 1], [0, 0, 1, 1]) == 0.5


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("RetrievalMAP", {"empty_target_action": "none"}, "empty_target_action='none' is unknown"),
        ("RetrievalMAP", {"aggregation": "sum"}, "aggregation='sum' is unknown"),
        ("RetrievalMAP", {"ignore_index": "a"}, "ignore_index is 'a'"),
        ("RetrievalMRR", {"top_k": 0}, "top_k is 0"),
        ("RetrievalRecall", {"top_k": 2.5}, "top_k must be a whole number"),
        ("RetrievalPrecision", {"adaptive_k": 1}, "adaptive_k is 1"),
        ("RetrievalRPrecision", {"top_k": 3}, "Unexpected keyword arguments: top_k"),
        ("BinaryAUROC", {"sync": True}, "Unexpected keyword arguments: sync$"),
        ("BinaryAUROC", {"dist_sync_on_step": True}, "=True must be False: this class is not a torch module"),
        ("RetrievalMAP", {"process_group": 1}, "process_group=1 must be None: this class is not a torch module"),
        ("RetrievalMAP", {"sync_on_compute": 1}, "sync_on_compute=1 must be True or False"),
        *(("BinaryAUROC", {"max_fpr": one}, f"max_fpr is {one}: must be a number above 0 and up to 1, or None")
          for one in (0.0, -0.5, 1.5, float("nan"))),
        ("BinaryAUROC", {"thresholds": 100}, r"thresholds is 100: must be None.*HitCounter\(edges=...\)"),
        ("BinaryAveragePrecision", {"normalization": "softmax"}, "normalization='softmax' is unknown"),
    ],
)
def test_options(name, options, message):
    with pytest.raises(ValueError, match=message):
        getattr(ours, name)(**options)


@pytest.mark.parametrize(
    ("name", "args", "error", "message"),
    [
        ("RetrievalMAP", ([0.5], [1], None), ValueError, "indexes is None"),
        ("RetrievalMAP", ([0.5], [1], [0.0]), ValueError, "indexes has dtype float64"),
        ("RetrievalMAP", ([0.5], [1, 0], [0]), ValueError, r"target has shape \(2,\), preds has shape \(1,\)"),
        ("RetrievalMAP", ([1], [1], [0]), ValueError, "preds has dtype int64: must be floats"),
        ("RetrievalMAP", ([0.5, 0.1], [1, 3], [0, 0]), ValueError, "target holds 3: must be 0 or 1"),
        ("RetrievalNormalizedDCG", (np.zeros(0), np.zeros(0, int), np.zeros(0, int)), ValueError, "preds has no items"),
        ("BinaryAUROC", ([0.5], [1.0]), ValueError, "target has dtype float64: must be whole numbers"),
        ("BinaryAUROC", ([0.5, 0.2], [1, 2]), RuntimeError, "target holds 2: must be 0 or 1"),
    ],
)
def test_bad_batches(name, args, error, message):
    metric = getattr(ours, name)()
    with pytest.raises(error, match=message):
        metric.update(*args)
    with pytest.raises(ValueError, match="No samples"):
        metric.compute()


@pytest.mark.parametrize("name", ours.__all__)
def test_what_every_metric_of_torchmetrics_has(name):
    defaults = {"compute_on_cpu": False, "dist_sync_on_step": False, "sync_on_compute": True, "process_group": None,
                "dist_sync_fn": None, "distributed_available_fn": None, "compute_with_cache": True}  # fmt: skip
    metric = getattr(ours, name)(**defaults)
    batch = ([0.9, 0.2, 0.7], [0, 1, 1], *([[0, 0, 0]] if name[0] == "R" else []))
    assert (metric.update_count, metric.update_called) == (0, False)
    metric.update(*batch)
    value = metric(*batch)
    assert (metric.update_count, metric.update_called) == (2, True)
    other = metric.clone()
    assert type(other) is type(metric) and other.compute() == metric.compute()
    other.update([0.1, 0.3, 0.9], [0, 0, 0], *([[5, 5, 5]] if name[0] == "R" else []))
    assert (metric.update_count, other.update_count) == (2, 3)
    assert metric.compute() != other.compute()
    assert metric.to("cpu") is metric.to(device="cpu") is metric.cpu() is metric
    with pytest.raises(ValueError, match="device is 'cuda:0': must be 'cpu'"):
        metric.to("cuda:0")
    assert metric.higher_is_better is True and metric.is_differentiable is False
    other.merge_state(metric)
    assert other.update_count == 3  # as in torchmetrics
    metric.reset()
    assert metric.update_count == 0 and metric(*batch) == value


@pytest.mark.parametrize("top_k", [None, 1, 3, 100])
def test_levels_below_zero(top_k):
    rng = np.random.default_rng(3)
    q = rng.permutation(np.repeat([7, 2, 9, 4], [5, 8, 1, 3]))
    s = rng.permutation(len(q)) / 100 + 0.1
    y = rng.integers(-2, 4, len(q))
    y[q == 4] = [1, -2, 1]  # they add up to 0
    values = []
    for one in np.unique(q):
        levels = y[q == one]
        discount = 1 / np.log2(np.arange(len(levels)) + 2) * (np.arange(len(levels)) < (top_k or 100))
        ranked, ideal = levels[np.argsort(-s[q == one])] @ discount, np.sort(levels)[::-1] @ discount
        values.append(ranked / ideal if levels.sum() else 1.0)
    metric = ours.RetrievalNormalizedDCG("pos", top_k=top_k)
    assert metric(s, y, q) == pytest.approx(np.mean(values), rel=1e-12)
    theirs = pytest.importorskip("torchmetrics.retrieval")
    import torch

    found = theirs.RetrievalNormalizedDCG("pos", top_k=top_k)(*map(torch.tensor, (s, y, q)))
    assert metric.compute() == pytest.approx(found.item(), rel=1e-5)


def test_queries_without_relevant_items():
    for action, wanted in (("neg", 0.5), ("pos", 1.0), ("skip", 1.0)):
        assert ours.RetrievalMAP(action)([0.5, 0.5], [0, 1], [0, 1]) == wanted
    assert ours.RetrievalMAP("skip")([0.5], [0], [0]) == 0
    with pytest.raises(ValueError, match="query with no positive target"):
        ours.RetrievalMAP("error")([0.5], [0], [0])


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures(name):
    names = {}
    exec(f"def wanted(self, {SIGNATURES[name]}): pass", names)
    same_signature(getattr(ours, name).__init__, names["wanted"])
    updates = "preds target indexes" if name in RETRIEVAL else "preds target"
    assert list(inspect.signature(getattr(ours, name)().update).parameters) == updates.split()


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures_of_torchmetrics(name):
    pytest.importorskip("torchmetrics")
    module = "retrieval" if name in RETRIEVAL else "classification"
    theirs = getattr(pytest.importorskip(f"torchmetrics.{module}"), name)
    for method in ("update", "compute", "reset", "merge_state"):
        same_signature(getattr(getattr(ours, name), method), getattr(theirs, method))
    makes = theirs.__init__ if name != "BinaryAveragePrecision" else theirs.__mro__[1].__init__
    same_signature(getattr(ours, name).__init__, makes)


def test_nothing_is_imported():
    code = "import sys, hitcurve.compat.torchmetrics; assert not {'torch', 'torchmetrics'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.thread_unsafe(reason="examples have the process's standard output")
def test_examples():
    found = doctest.testmod(ours)
    assert found.attempted >= 4
    assert not found.failed
