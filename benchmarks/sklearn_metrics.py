"""scikit-learn's ranking metrics and the drop-in, side by side: least CPU time of some runs in ms, answers compared."""

import time
import warnings

import numpy as np
import sklearn.metrics as theirs

from hitcurve.compat import sklearn_metrics as ours

rng = np.random.default_rng(0)
y = (rng.random(1_000_000) < 0.5).astype(int)
s = rng.normal(size=y.size) + y
tied = s.round(2)
w = rng.random(y.size)
Y = (rng.random((100_000, 10)) < 0.2).astype(int)
S = rng.normal(size=Y.shape) + Y
levels = rng.integers(0, 5, Y.shape)
classes = rng.integers(0, 5, 200_000)
shares = rng.dirichlet(np.ones(5), classes.size)

CASES = [
    ("average_precision_score", "1,000,000 items", (y, s), {}),
    ("average_precision_score", "the same, two decimals", (y, tied), {}),
    ("average_precision_score", "the same, weights", (y, s), {"sample_weight": w}),
    ("average_precision_score", "two decimals, weights", (y, tied), {"sample_weight": w}),
    ("average_precision_score", "100,000 × 10 labels", (Y, S), {}),
    ("average_precision_score", 'the same, average="samples"', (Y, S), {"average": "samples"}),
    ("average_precision_score", "1,000 items", (y[:1000], s[:1000]), {}),
    ("precision_recall_curve", "1,000,000 items", (y, s), {}),
    ("precision_recall_curve", "the same, weights", (y, s), {"sample_weight": w}),
    ("roc_curve", "1,000,000 items", (y, s), {}),
    ("roc_curve", "the same, weights", (y, s), {"sample_weight": w}),
    ("roc_auc_score", "1,000,000 items", (y, s), {}),
    ("roc_auc_score", "the same, max_fpr=0.1", (y, s), {"max_fpr": 0.1}),
    ("roc_auc_score", "the same, weights", (y, s), {"sample_weight": w}),
    ("roc_auc_score", "1,000 items", (y[:1000], s[:1000]), {}),
    ("roc_auc_score", "200,000 items, 5 classes, ovr", (classes, shares), {"multi_class": "ovr"}),
    ("roc_auc_score", "200,000 items, 5 classes, ovo", (classes, shares), {"multi_class": "ovo"}),
    ("ndcg_score", "100,000 × 10 levels", (levels, S), {}),
    ("ndcg_score", "the same, ignore_ties=True", (levels, S), {"ignore_ties": True}),
    ("dcg_score", "100,000 × 10 levels, k=5", (levels, S), {"k": 5}),
    ("label_ranking_average_precision_score", "100,000 × 10 labels", (Y, S), {}),
    ("label_ranking_loss", "100,000 × 10 labels", (Y, S), {}),
    ("coverage_error", "100,000 × 10 labels", (Y, S), {}),
    ("top_k_accuracy_score", "200,000 items, 5 classes", (classes, shares), {}),
]


def measured(function, args, options):
    """The answer and the least CPU time of some runs, in ms."""
    best = np.inf
    for _ in range(5 if len(args[0]) > 1000 else 500):
        start = time.process_time()
        value = function(*args, **options)
        best = min(best, time.process_time() - start)
        if best > 2:
            break
    return value, 1e3 * best


def shown(ms):
    return f"{ms:,.0f}" if ms >= 100 else f"{ms:.3g}"


warnings.simplefilter("ignore")
print("| function | data | scikit-learn, ms | hitcurve, ms | times |\n|---|---|--:|--:|--:|")
for name, what, args, options in CASES:
    (expected, slow), (found, fast) = (measured(getattr(module, name), args, options) for module in (theirs, ours))
    for a, b in zip(*([one] if np.isscalar(one) else one for one in (found, expected)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    print(f"| `{name}` | {what} | {shown(slow)} | {shown(fast)} | {slow / fast:,.1f} |", flush=True)
