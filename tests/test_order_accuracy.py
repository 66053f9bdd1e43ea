"""The share of pairs in the right order, where the cutoff is inside a tie group too large for all orders."""

from fractions import Fraction
from math import comb, isnan

import numpy as np
import pytest

import hitcurve as hc


def cut_curve(rng, size):
    """(curve, k, H, B, pairs in the right order above the cut group, its items, hits and places above the cutoff)."""
    flags = (rng.random(int(rng.integers(0, size))) < rng.random()).tolist()
    n = int(rng.integers(2, size))
    r, m = int(rng.integers(1, n + 1)), int(rng.integers(1, n))
    right = sum(flags[i] > flags[j] for i in range(len(flags)) for j in range(i + 1, len(flags)))
    labels = [*flags, *[True] * r, *[False] * (n - r), True]
    scores = [*range(1000, 1000 - len(flags), -1), *[1] * n, 0]
    return hc.HitCurve(labels, scores), len(flags) + m, sum(flags), len(flags) - sum(flags), right, n, r, m


def test_a_cutoff_inside_a_large_tie_group():
    """Of the number of hits above the cutoff, in exact fractions."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        curve, k, H, B, right, n, r, m = cut_curve(rng, 60)
        found, weights = {}, {}
        for x in range(max(0, m - (n - r)), min(r, m) + 1):
            pairs = (H + x) * (B + m - x)
            if pairs:
                own = [Fraction(twice * x * (m - x), 2) for twice in range(3)]
                found[x] = [(right + H * (m - x) + one) / pairs for one in own]
                weights[x] = Fraction(comb(r, x) * comb(n - r, m - x), comb(n, m))
        values = [curve.order_accuracy(k, ties=ties) for ties in ("worst", "expected", "best")]
        if not found:
            assert all(map(isnan, values))
            continue
        mean = sum(weights[x] * found[x][1] for x in found) / sum(weights.values())
        wanted = min(one[0] for one in found.values()), mean, max(one[2] for one in found.values())
        assert values == pytest.approx([*map(float, wanted)], rel=3e-15)


@pytest.mark.parametrize(("n", "r", "m", "H", "B"), [
    (4 * 10**9, 2 * 10**9, 10**9, 0, 0), (10**10, 10**9, 5 * 10**9, 12345, 10**7), (10**10, 9 * 10**9, 10**9, 3, 4),
])  # fmt: skip
def test_the_mean_of_many_orders(n, r, m, H, B):
    """In longer floats, from the greatest weight to both sides."""
    table = [H + B] if H == 0 else [0, H + B]  # the H relevant items first, then the B others
    tied, hits = ([n], [r]) if H == 0 else ([H, n], [H, r])
    curve = hc.HitCurve.from_table(None, table, tied, hits, num_items=H + B + n)
    mode = (r + 1) * (m + 1) // (n + 2)
    spread = 14 * int(np.sqrt(m * (r / n) * (1 - r / n) * (1 - m / n)))
    x = mode + np.arange(-spread, spread + 1).astype(np.longdouble)
    steps = (r - x[:-1]) * (m - x[:-1]) / ((x[:-1] + 1) * (n - r - m + x[:-1] + 1))
    logs = np.concatenate([[0], np.cumsum(np.log(steps))])
    weights = np.exp(logs - logs.max())
    right = np.longdouble(H) * B + np.longdouble(H) * (m - x) + x * (m - x) / 2
    shares = right / ((H + x) * (B + m - x))
    assert curve.order_accuracy(H + B + m) == pytest.approx(float((weights * shares).sum() / weights.sum()), rel=2e-15)
    bounds = [curve.order_accuracy(H + B + m, ties=ties) for ties in ("worst", "best")]
    assert bounds[0] <= curve.order_accuracy(H + B + m) <= bounds[1]


def test_the_largest_tables():
    for k in (1, 10**9, 2**61, 2**62 - 1, 2**62):
        curve = hc.HitCurve.from_table(None, [3, 2**61 + 9], [2**61, 2**60], [2**60, 1], num_items=2**62)
        worst, expected, best = (curve.order_accuracy(k, ties=ties) for ties in ("worst", "expected", "best"))
        assert 0 <= worst <= expected <= best <= 1 or (k == 1 and isnan(expected))


def test_without_a_cutoff_it_is_the_area_under_the_roc_curve():
    rng = np.random.default_rng(0)
    y, s = rng.integers(0, 2, 500), rng.integers(0, 40, 500)
    curve, more = hc.HitCurve(y, s), hc.HitCurve(y, s, num_relevant=1000)
    for ties in ("worst", "expected", "best"):
        area = curve.roc_auc(ties=ties)
        assert curve.order_accuracy(ties=ties) == curve.order_accuracy(500, ties=ties) == area
        assert more.order_accuracy(ties=ties) == area
    with pytest.raises(ValueError, match="order_accuracy is not defined for ties='threshold'"):
        curve.order_accuracy(ties="threshold")
