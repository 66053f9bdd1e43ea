"""What the tests of draws share: rankings, the test of counts, DeLong's covariance from all pairs."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import scipy
from scipy import stats

UNLIKELY = 1e-4  # a correct sampler fails a check once in ten thousand seeds; the seeds are fixed


def seeded(seed):
    """A seed as an argument of scipy's functions that draw: `rng`, and before scipy 1.15 `random_state`."""
    new = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 15)
    return {"rng" if new else "random_state": np.random.default_rng(seed)}


def ranking(n, relevant, seed=0, step=None, shift=1.0):
    """Labels and scores; with a step the scores are rounded to it, which ties them."""
    rng = np.random.default_rng(seed)
    y = np.zeros(n, np.int8)
    y[rng.choice(n, relevant, replace=False)] = 1
    s = rng.standard_normal(n) + shift * y
    return y, s if step is None else np.round(s / step) * step


def every_draw(n):
    """Of all n**n ways to draw n items: the places drawn, rising, and how many ways give them."""
    return Counter(tuple(sorted(drawn)) for drawn in product(range(n), repeat=n))


def chi_square(observed, expected):
    """p-value of counts against expected ones, cells with few expected joined."""
    order = np.argsort(expected)
    observed, expected = np.asarray(observed, float)[order], np.asarray(expected, float)[order]
    joined = np.cumsum(expected) // 10
    seen, hoped = (np.bincount(joined.astype(int), column) for column in (observed, expected))
    seen, hoped = seen[hoped > 0], hoped[hoped > 0]
    if len(hoped) > 1 and hoped[-1] < 5:
        seen, hoped = np.append(seen[:-2], seen[-2:].sum()), np.append(hoped[:-2], hoped[-2:].sum())
    return stats.chi2.sf(np.sum((seen - hoped) ** 2 / hoped), max(1, len(hoped) - 1))


def slow_delong(y, rankings):
    """ROC AUC and its covariance from the matrices of all pairs, in fractions."""
    wins = []
    for s in rankings:
        up = [x for x, label in zip(s, y, strict=True) if label]
        down = [x for x, label in zip(s, y, strict=True) if not label]
        wins.append([[Fraction((a > b) * 2 + (a == b), 2) for b in down] for a in up])
    m, n = len(wins[0]), len(wins[0][0])
    auc = [sum(map(sum, w)) / (m * n) for w in wins]
    by_hit = [[sum(row) / n for row in w] for w in wins]
    by_other = [[sum(column) / m for column in zip(*w, strict=True)] for w in wins]

    def covariance(a, b, mean_a, mean_b):
        return sum((x - mean_a) * (z - mean_b) for x, z in zip(a, b, strict=True)) / (len(a) - 1) / len(a)

    k = len(rankings)
    return auc, [
        [float(sum(covariance(part[i], part[j], auc[i], auc[j]) for part in (by_hit, by_other))) for j in range(k)]
        for i in range(k)
    ]
