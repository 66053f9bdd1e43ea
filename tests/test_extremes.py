"""Tables far beyond any array: no overflow, no cancellation, no loss of small groups at large ranks.

The expected values are closed forms in harmonic numbers (of digamma, with enough digits that their differences do not
cancel) and geometric sums, or exact fractions.
"""

from fractions import Fraction
from itertools import pairwise
from math import isnan

import mpmath
import numpy as np
import pytest
import reference as ref

import hitcurve as hc

# What a context computes raises its precision for a while, for every thread.
pytestmark = pytest.mark.thread_unsafe(reason="one context of mpmath, which is for one thread")

mp = mpmath.MPContext()
mp.dps = 150  # alpha = 1e-9 over 2**62 items: factors of 1 - 2e-28, and differences of their sums

LAST = 2**62

# name -> (rows of (above, tied, hits), items)
TABLES = {
    "one item": ([(0, 1, 1)], 1),
    "one relevant item, first of 2**62": ([(0, 1, 1)], LAST),
    "one relevant item, last of 2**62": ([(LAST - 1, 1, 1)], LAST),
    "nothing relevant among 2**62": ([], LAST),
    "no items": ([], 0),
    "all relevant, in one group": ([(0, LAST, LAST)], LAST),
    "all relevant, in two groups": ([(0, 3, 3), (3, LAST - 3, LAST - 3)], LAST),
    "one giant group, one relevant": ([(0, LAST, 1)], LAST),
    "one giant group, two relevant": ([(0, LAST, 2)], LAST),
    "one giant group, a million relevant": ([(0, LAST, 10**6)], LAST),
    "one giant group, half relevant": ([(0, LAST, LAST // 2)], LAST),
    "one giant group, one not relevant": ([(0, LAST, LAST - 1)], LAST),
    "a group of a billion": ([(0, 10**9, 300)], 10**9),
    "a giant group below a hit": ([(0, 1, 1), (1, LAST - 1, 10**6)], LAST),
    "a hit below a giant group": ([(LAST - 1, 1, 1)], LAST),
    "a pair at 1e9": ([(10**9, 2, 1)], 10**9 + 2),
    "a pair of hits at 1e9": ([(10**9, 2, 2)], 10**9 + 2),
    "a pair at 1e18": ([(10**18, 2, 1)], LAST),
    "a pair of hits at 1e18": ([(10**18, 2, 2)], LAST),
    "a pair at 1e18 below a hit": ([(0, 1, 1), (10**18, 2, 1)], LAST),
    "ten at 1e9": ([(10**9, 10, 4)], 10**9 + 10),
    "65 at 1e9": ([(10**9, 65, 40)], 10**10),
    "a thousand at 1e15": ([(5, 2, 1), (10**15, 1000, 999)], 10**16),
    "a million at 1e12": ([(10**12, 10**6, 10**3)], 10**13),
    "half of all at the middle": ([(LAST // 4, LAST // 2, LAST // 8)], LAST),
    "around the change to a series": ([(c, n, n - 1) for c, n in ((0, 63), (63, 64), (127, 65), (192, 66))], 258),
    "groups that grow": ([(4**i - 1, 3 * 4**i, 4**i) for i in range(30)], 4**30),
    "groups that shrink": ([(LAST - 4 ** (31 - i), 3 * 4 ** (30 - i), 2 ** min(i, 3)) for i in range(30)], LAST),
    "hits dense at the top": ([(0, 10**6, 10**6), (10**6, 10**6, 10**6 - 1), (10**12, 10**12, 1)], LAST),
}

READINGS = ("expected", "best", "worst", "threshold")


@pytest.fixture(params=TABLES)
def case(request):
    rows, n = TABLES[request.param]
    above, tied, hits = (np.array([row[i] for row in rows], np.int64) for i in range(3))
    return hc.HitCurve.from_table(None, above, tied, hits, num_items=n), rows, n, int(sum(row[2] for row in rows))


def real(x):
    """A fraction or a number, with all digits."""
    x = Fraction(x)
    return mp.mpf(x.numerator) / x.denominator


def close(got, expected, rtol, atol=0.0):
    if isinstance(expected, float) and isnan(expected):
        assert isnan(got)
        return
    expected = real(expected) if not isinstance(expected, mp.mpf) else expected
    error = abs(mp.mpf(got) - expected)
    # below the least normal number only the absolute error can be small
    assert error <= rtol * abs(expected) + atol + 1e-307, (
        f"{got} is not {mp.nstr(expected, 20)}: off by {mp.nstr(error, 3)}"
    )


def harmonic(a, b):
    """The sum of 1 / i over a < i <= b."""
    return mp.harmonic(b) - mp.harmonic(a)


def with_hits_above(rows):
    H = 0
    for c, n, r in rows:
        yield c, H, n, r
        H += r


def run(c, H, m):
    """The sum of the precisions at m hits on end."""
    return m + (H - c) * harmonic(c, c + m)


def clamp(x, low, high):
    return max(low, min(x, high))


def precision_sum(rows, ties, k=None):
    """The sum of the precisions at the hits among the first k."""
    total = mp.mpf(0)
    for c, H, n, r in with_hits_above(rows):
        m = n if k is None else clamp(k - c, 0, n)
        if m == 0:
            continue
        if ties == "threshold":
            part = real(Fraction(r * m, n))
            total += part * (H + part) / (c + m)
        elif ties == "best":
            total += run(c, H, min(r, m))
        elif ties == "worst":
            total += run(c + n - r, H, clamp(m - (n - r), 0, r))
        else:
            B = real(Fraction(r - 1, n - 1)) if n > 1 else mp.mpf(0)
            total += real(Fraction(r, n)) * (B * m + (H + 1 - B * (c + 1)) * harmonic(c, c + m))
    return total


def hits_at(rows, k, ties):
    total = Fraction(0)
    for c, n, r in rows:
        m = clamp(k - c, 0, n)
        total += {"best": min(r, m), "worst": max(0, m - (n - r))}.get(ties, Fraction(r * m, n))
    return total


def cutoffs(rows, n):
    """Below, inside and beyond the groups."""
    ks = {1, 2, 10, 1000, max(n, 1), max(n // 3, 1)}
    for c, size, r in rows[:3] + rows[-2:]:
        ks |= {max(c, 1), c + 1, c + (size + 1) // 2, c + r, c + size}
    return sorted(k for k in ks if k <= LAST)


@pytest.mark.parametrize(
    "items, relevant", [((5,), (2,)), ((3, 6), (0, 2)), ((2, 4, 1), (1, 4, 0)), ((1, 3, 3), (1, 2, 1))]
)
def test_closed_forms(items, relevant):
    """The formulas of this file against the definitions, on rankings small enough to enumerate."""
    rank = ref.from_groups(items, relevant)
    rows, n = [row[1:] for row in ref.table(rank)], sum(items)
    for ties in READINGS:
        for k in (None, *range(1, n + 2)):
            expected = ref.average_precision(rank, k, ties=ties, normalize="relevant")
            assert abs(precision_sum(rows, ties, k) / sum(relevant) - real(expected)) < 1e-40
            if k:
                assert hits_at(rows, k, ties) == ref.hits_at(rank, k, ties=ties)
        assert roc_auc(rows, n, ties) == ref.roc_auc(rank, ties=ties)
    c, size, r = rows[0]
    assert abs(mean_reciprocal_rank(c, size, r) - real(ref.reciprocal_rank(rank))) < 1e-40


@pytest.mark.parametrize("ties", READINGS)
def test_average_precision(case, ties):
    curve, rows, _, R = case
    expected = precision_sum(rows, ties) / R if R else float("nan")
    close(curve.average_precision(ties=ties), expected, 1e-14 if ties == "expected" else 4e-15)


@pytest.mark.parametrize("ties", READINGS)
def test_average_precision_at_k(case, ties):
    curve, rows, n, R = case
    for k in cutoffs(rows, n):
        total = precision_sum(rows, ties, k) if R else float("nan")
        rtol = 1e-14 if ties == "expected" else 4e-15
        close(curve.average_precision(k, ties=ties), total / max(min(k, R), 1), rtol)
        close(curve.average_precision(k, ties=ties, normalize="relevant"), total / max(R, 1), rtol)
        if ties != "expected" and R:
            h = hits_at(rows, k, ties)
            expected = total / real(h) if h else mp.mpf(0)
            close(curve.average_precision(k, ties=ties, normalize="hits"), expected, rtol)


@pytest.mark.parametrize("above, tied, hits, k", [
    (0, 10**9, 300, 10**6),
    (0, 10**9, 300, 10**9 - 1),
    (7, 10**12, 40, 10**11),
    (10**9, 64, 30, 10**9 + 20),
    (0, LAST, 2, 10**9),
    (0, LAST, 60, LAST // 2),
    (10**15, 10**6, 25, 10**15 + 10**5),
    (0, 3000, 1500, 1000),
])  # fmt: skip
def test_mean_ratio_to_hits(above, tied, hits, k):
    """normalize="hits": the mean over the hypergeometric number of hits above the cutoff."""
    first = [(0, 1, 1)] if above else []
    H = len(first)
    before = mp.mpf(H)  # the precision at the first item
    m = k - above
    delta = harmonic(above, k)
    total = mp.mpf(0)
    for h in range(min(hits, m) + 1):
        if m - h > tied - hits or H + h == 0:
            continue
        probability = mp.binomial(hits, h) * ways(tied - hits, m - h) / ways(tied, m)
        B = real(Fraction(h - 1, m - 1)) if m > 1 else mp.mpf(0)
        total += probability * (before + real(Fraction(h, m)) * (B * m + (H + 1 - B * (above + 1)) * delta)) / (H + h)
    rows = [*first, (above, tied, hits)]
    curve = hc.HitCurve.from_table(None, *np.array(rows).T.copy(), num_items=above + tied)
    close(curve.average_precision(k, normalize="hits"), total, 1e-13)


def ways(n, m):
    """The binomial coefficient n over m, up to 2**62 over anything."""
    return mp.exp(mp.loggamma(n + 1) - mp.loggamma(m + 1) - mp.loggamma(n - m + 1))


@pytest.mark.parametrize("ties", READINGS)
def test_trapezoid(case, ties):
    curve, rows, _, R = case
    total = mp.mpf(0)
    for c, H, n, r in with_hits_above(rows):
        if ties == "threshold":
            at = real(Fraction(H + r, c + n))
            total += r * (at + (real(Fraction(H, c)) if c else at)) / 2
            continue
        if ties == "expected":
            B = real(Fraction(r - 1, n - 1)) if n > 1 else mp.mpf(0)
            first, length, share = c, n, real(Fraction(r, n))
        else:  # a run of hits: every other item of the run is relevant
            first, length, share, B = c + (n - r if ties == "worst" else 0), r, mp.mpf(1), mp.mpf(1)
        at = B * length + (H + 1 - B * (first + 1)) * harmonic(first, first + length)
        if first:
            before = B * length + (H - B * first) * harmonic(first - 1, first + length - 1)
        else:  # the first place has the precision of its hit before it
            before = 1 + B * (length - 1)
        total += share * (at + before) / 2
    expected = total / R if R else float("nan")
    close(curve.average_precision(ties=ties, interpolation="trapezoid"), expected, 1e-14)


@pytest.mark.parametrize("ties", READINGS)
def test_continuous(case, ties):
    curve, rows, _, R = case
    total = mp.mpf(0)
    for c, H, n, r in with_hits_above(rows):
        first, length = {"best": (c, r), "worst": (c + n - r, r)}.get(ties, (c, n))
        slope = real(Fraction(r, length))
        total += slope * r
        if first:
            total += slope * (H - slope * first) * mp.log(real(Fraction(first + length, first)))
    expected = total / R if R else float("nan")
    close(curve.average_precision(ties=ties, interpolation="continuous"), expected, 1e-14)


@pytest.mark.parametrize("interpolation", ["11-point", "101-point", "all-point"])
def test_envelope_of_the_groups(case, interpolation):
    curve, rows, _, R = case
    if R == 0:
        assert isnan(curve.average_precision(ties="threshold", interpolation=interpolation))
        return
    points = [(c + n, H + r) for c, H, n, r in with_hits_above(rows)]
    levels = {"11-point": 10, "101-point": 100, "all-point": R}[interpolation]
    value = [max((Fraction(h, x) for x, h in points[i:]), default=Fraction(0)) for i in range(len(points) + 1)]
    total, place = Fraction(0), 0
    if interpolation == "all-point":  # the levels up to a group's hits fall to that group
        total = sum(r * value[i] for i, (_, _, r) in enumerate(rows))
    else:
        for i in range(levels + 1):
            while place < len(points) and levels * points[place][1] < i * R:
                place += 1
            total += value[place]
        levels += 1
    close(curve.average_precision(ties="threshold", interpolation=interpolation), total / levels, 4e-15)


@pytest.mark.parametrize("ties", READINGS)
def test_cutoffs(case, ties):
    curve, rows, n, R = case
    for k in cutoffs(rows, n):
        h = hits_at(rows, k, ties)
        undefined = None if R else float("nan")
        close(curve.hits_at(k, ties=ties), h, 1e-15)
        close(curve.precision(k, ties=ties), h / k, 1e-15)
        close(curve.recall(k, ties=ties), undefined or h / max(R, 1), 1e-15)
        close(curve.f_score(k, ties=ties), 2 * h / (k + R), 2e-15)
        close(curve.enrichment_factor(k=k, ties=ties), undefined or h * n / (k * max(R, 1)), 2e-15)
        close(curve.normalized_enrichment_factor(k=k, ties=ties), undefined or h / max(min(k, R), 1), 1e-15)
        best = Fraction(min(k, R) * n, k * max(R, 1))
        close(curve.max_enrichment_factor(k=k), undefined or best, 2e-15)


@pytest.mark.parametrize("fraction", [0.07, 0.01, 1e-6, 0.3, 1.0])
def test_fraction_of_many(case, fraction):
    """ceil(fraction * N) in the decimal that was written: products beyond 2**53."""
    curve, rows, n, _ = case
    k = -(-Fraction(str(fraction)) * n // 1)
    if k:
        close(curve.hits_at(fraction=fraction, ties="best"), hits_at(rows, int(k), "best"), 1e-15)
        close(curve.hits_at(fraction=fraction), hits_at(rows, int(k), "expected"), 1e-15)


@pytest.mark.parametrize("fraction", [1e-20, 0.1234567890123456, 0.07, 1 / 3])
def test_fraction_of_many_queries(fraction):
    """Decimals with more digits than 64 bits hold."""
    y_true, y_score = np.tile([1, 0, 0, 1, 0], (2, 20)), np.tile(np.arange(100.0), (2, 1))
    curves = hc.HitCurves(y_true, y_score)
    k = -(-Fraction(str(fraction)) * 100 // 1)
    assert curves.hits_at(fraction=fraction).tolist() == curves.hits_at(int(k)).tolist()
    assert curves[0].hits_at(fraction=fraction) == curves[0].hits_at(int(k))


def test_cutoff_beyond_64_bits():
    curve = hc.HitCurve([1, 0, 1], [3, 2, 1])
    assert curve.average_precision(2**70) == curve.average_precision()
    assert curve.hits_at(2**70) == 2


def test_first_hit(case):
    """Success and reciprocal rank: what the first group says."""
    curve, rows, n, _ = case
    if not rows:
        assert isnan(curve.reciprocal_rank()) and isnan(curve.success(5))
        return
    c, size, r = rows[0]
    for k in cutoffs(rows, n):
        m = clamp(k - c, 0, size)
        miss = ways(size - r, m) / ways(size, m) if m <= size - r else mp.mpf(0)
        close(curve.success(k), 1 - miss, 1e-13)
    close(curve.reciprocal_rank(), mean_reciprocal_rank(c, size, r), 1e-13)


def mean_reciprocal_rank(c, n, r):
    """The mean of 1 / (c + j), j the place of the first of r hits among n: P(j) = C(n - j, r - 1) / C(n, r)."""
    if c < 1000:  # the sum over j = 1..n of C(n - j, r - 1) / j is C(n, r - 1) (H(n) - H(r - 1))
        total = ways(n + c, r - 1) * harmonic(r - 1, n + c)
        total -= sum(ways(n + c - j, r - 1) / j for j in range(1, c + 1))
        return total / ways(n, r)
    total, probability, j = mp.mpf(0), mp.mpf(r) / n, 1
    while probability > 1e-30 and j <= n - r + 1:
        total += probability / (c + j)
        probability = probability * (n - j - r + 1) / max(n - j, 1)
        j += 1
    return total


def roc_auc(rows, n, ties):
    R = sum(r for _, _, r in rows)
    if not 0 < R < n:
        return float("nan")
    total = Fraction(0)
    for c, H, size, r in with_hits_above(rows):
        below = (n - R) - (c - H) - (size - r)  # not relevant, ranked below the group
        total += r * below + r * (size - r) * {"best": Fraction(1), "worst": Fraction(0)}.get(ties, Fraction(1, 2))
    return total / (R * (n - R))


@pytest.mark.parametrize("ties", READINGS)
def test_roc_auc(case, ties):
    curve, rows, n, _ = case
    close(curve.roc_auc(ties=ties), roc_auc(rows, n, ties), 4e-15)


def polygon(rows, n, ties):
    """The corners (FPR, TPR) of the ROC curve."""
    R = sum(r for _, _, r in rows)
    points = [(0, 0)]
    for c, H, size, r in with_hits_above(rows):
        points.append((c - H, H))
        if ties == "best":
            points.append((c - H, H + r))
        if ties == "worst":
            points.append((c - H + size - r, H))
        points.append((c - H + size - r, H + r))
    points.append((n - R, R))
    return [(Fraction(x, n - R), Fraction(y, R)) for x, y in points]


@pytest.mark.parametrize("ties", READINGS)
@pytest.mark.parametrize("min_fpr", [0.001, 1e-9, 0.5])
def test_log_auc(case, ties, min_fpr):
    curve, rows, n, R = case
    if not 0 < R < n:
        assert isnan(curve.log_auc(min_fpr, ties=ties))
        return
    low, total = Fraction(min_fpr), mp.mpf(0)
    points = polygon(rows, n, ties)
    for (x1, y1), (x2, y2) in pairwise(points):
        start = max(x1, low)
        if start < x2:
            slope = (y2 - y1) / (x2 - x1)
            total += real(slope * (x2 - start)) + real(y1 - slope * x1) * mp.log(real(x2 / start))
    width = -mp.log(real(low))
    close(curve.log_auc(min_fpr, ties=ties), total / width, 1e-12)
    close(curve.log_auc(min_fpr, ties=ties, adjusted=True), (total - real(1 - low)) / width, 1e-12, 1e-15)


def geometric(alpha, n, c, m):
    """The sum of exp(-alpha * rank / n) over the ranks c + 1 .. c + m."""
    a = mp.mpf(alpha) / n
    return mp.exp(-a * (c + 1)) * mp.expm1(-a * m) / mp.expm1(-a)


ALPHAS = (1e-9, 1e-3, 1.0, 20.0, 321.9, 5000.0, 1e5)


@pytest.mark.parametrize("ties", READINGS[:3])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_rie_and_bedroc(case, ties, alpha):
    curve, rows, n, R = case
    if R == 0:
        assert isnan(curve.rie(alpha, ties=ties)) and isnan(curve.bedroc(alpha, ties=ties))
        return
    total = mp.mpf(0)
    for c, size, r in rows:
        if ties == "expected":
            total += geometric(alpha, n, c, size) * r / size
        else:
            total += geometric(alpha, n, c if ties == "best" else c + size - r, r)
    close(curve.rie(alpha, ties=ties), total / R / (geometric(alpha, n, 0, n) / n), 1e-12)
    if n == R:
        assert isnan(curve.bedroc(alpha, ties=ties))
        return
    low, high = geometric(alpha, n, n - R, R), geometric(alpha, n, 0, R)
    value = curve.bedroc(alpha, ties=ties)
    close(value, (total - low) / (high - low), 1e-12, 1e-15)
    assert 0 <= value <= 1


def test_bedroc_tends_to_roc_auc(case):
    curve, _, n, R = case
    if 0 < R < n:
        assert np.isclose(curve.bedroc(1e-9), curve.roc_auc(), rtol=1e-8)


def test_chance_and_minimum(case):
    curve, _, n, R = case
    if R == 0:
        assert isnan(curve.chance()) and isnan(curve.minimum())
        return
    chance = precision_sum([(0, n, R)], "expected") / R
    close(curve.chance(), chance, 1e-14)
    close(curve.minimum(), precision_sum([(0, n, R)], "worst") / R, 1e-14)
    if n == R:
        assert isnan(curve.normalized_average_precision())


def test_totals(case):
    curve, rows, n, R = case
    assert (curve.num_items, curve.num_relevant, curve.num_hits, len(curve)) == (n, R, R, len(rows))
    report = curve.tie_report()
    assert report.num_tied == sum(size for _, size, _ in rows if size > 1)
    assert report.largest_group == max((size for _, size, _ in rows), default=0)
    for k in cutoffs(rows, n):
        cut = [size for c, size, _ in rows if c < k < c + size]
        assert curve.tie_report(k).cutoff_group == (cut[0] if cut else 0)


@pytest.mark.parametrize("rows, n", [
    ([(0, 1, 2)], 5),  # more hits than items
    ([(0, 1, 0)], 5),  # a row without a hit
    ([(0, 2, 1), (1, 1, 1)], 5),  # groups that overlap
    ([(3, 1, 1), (0, 1, 1)], 5),  # out of order
    ([(0, 6, 1)], 5),  # more items than there are
    ([(-1, 1, 1)], 5),
    ([(0, 0, 0)], 5),
    ([(2**62, 2**62, 1)], 2**62),  # above + tied leaves 64 bits
    ([(0, 1, 1)], -1),
])  # fmt: skip
def test_impossible_tables(rows, n):
    above, tied, hits = np.array(rows, np.int64).T.copy()
    with pytest.raises(ValueError):
        hc.HitCurve.from_table(None, above, tied, hits, num_items=n)


@pytest.mark.parametrize("weights", [(1e-12, 0.0, 1e3), (1e-9, 1.0, 1e3), (1e9, 1e-9, 1.0), (2.0**-10, 0.0, 2.5)])
@pytest.mark.parametrize("interpolation", [None, "trapezoid", "continuous"])
def test_weights_of_different_size(weights, interpolation):
    """A light group below a heavy one, and the other way round."""
    y_true, y_score = [1, 0, 0], [0.0, 0.0, 1.0]
    rank = ref.ranking(y_true, y_score, sample_weight=weights)
    read = {"ties": "threshold", "interpolation": interpolation}
    expected = ref.average_precision(rank, **read)
    close(hc.average_precision(y_true, y_score, sample_weight=list(weights), **read), float(expected), 1e-13)


@pytest.mark.parametrize("scale", [-1060, -500, 500, 1020])
def test_a_power_of_two_in_all_weights_changes_nothing(scale):
    """Not even the last digit; no product of weights leaves a float's range."""
    reads = [
        lambda c: c.roc_auc(ties="threshold"),
        lambda c: c.average_precision(ties="threshold"),
        lambda c: c.average_precision(ties="threshold", interpolation="trapezoid"),
        lambda c: c.average_precision(ties="threshold", interpolation="continuous"),
    ]
    for y in ([1, 0, 1, 0], [0, 1, 1, 0]):
        for s in ([4, 3, 2, 1], [2, 2, 1, 1], [1, 1, 1, 1]):
            plain = hc.HitCurve(y, s, sample_weight=[1, 3, 5, 2.0])
            scaled = hc.HitCurve(y, s, sample_weight=np.ldexp([1, 3, 5, 2.0], scale))
            for read in reads:
                assert read(scaled) == read(plain) > 0
