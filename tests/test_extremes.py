"""Tables far beyond any array: no overflow, no cancellation, no loss of small groups at large ranks.

The expected values are closed forms in harmonic numbers (of digamma, with enough digits that their differences do not
cancel) and geometric sums, or exact fractions.
"""

import functools
import inspect
import random
import re
from fractions import Fraction
from itertools import product
from math import isnan
from pathlib import Path

import mpmath
import numpy as np
import pytest
import reference as ref
import register
from hypothesis import settings
from register import HITS

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


def figures():
    """The relative errors that the documentation states, by measure."""
    text = (Path(__file__).resolve().parents[1] / "docs" / "definitions.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+) \| \$(?:(\d) \\cdot )?10\^\{-(\d+)\}\$ \|$", text, re.MULTILINE)
    return {name: int(times or 1) * 10.0 ** -int(power) for names, times, power in rows for name in names.split(", ")}


WITHIN = figures()
BY_HITS = "AP divided by the hits above the cutoff"


def test_every_figure_is_held():
    text = Path(__file__).read_text(encoding="utf-8")
    assert len(WITHIN) > 20
    assert all(f'"{name}"' in text for name in WITHIN)


def drawn(rng):
    """A table of any size: groups and gaps of every magnitude, some of them all relevant, or nearly."""

    def size(most):
        return min(most, int(2 ** rng.uniform(0, most.bit_length())))

    items, rows, above = size(LAST), [], 0
    for _ in range(rng.randint(1, 6)):
        if items - above > 1 and rng.random() < 0.5:
            above += size(items - above - 1)
        if above < items:
            tied = size(items - above)
            few = size(tied)
            rows.append((above, tied, rng.choice([few, few, tied, tied - few or 1])))
            above += tied
    return rows, items


TABLES |= {f"drawn {seed}": drawn(random.Random(seed)) for seed in range(14)}


# In an ordinary run five of the drawn tables.
USUAL = [name for name in TABLES if not re.fullmatch(r"drawn ([5-9]|1\d)", name)]


def curve_of(name):
    """(curve, rows, items, relevant items) of a table."""
    rows, n = TABLES[name]
    above, tied, hits = (np.array([row[i] for row in rows], np.int64) for i in range(3))
    return hc.HitCurve.from_table(None, above, tied, hits, num_items=n), rows, n, int(sum(row[2] for row in rows))


def of_every_table(test):
    """Runs the test for each table, as one case: pytest takes longer to start a test than most of these take."""

    def with_each(request):
        for name in TABLES if request.config.getoption("--all") else USUAL:
            try:
                test(curve_of(name))
            except Exception as error:
                error.add_note(f"table {name!r}")
                raise

    return with_each


def by_reading(test):
    """The test with each reading of ties and each table."""

    def with_each(case):
        for ties in READINGS:
            test(case, ties)

    return of_every_table(with_each)


def real(x):
    """A fraction or a number, with all digits."""
    x = Fraction(x)
    return mp.mpf(x.numerator) / x.denominator


def close(got, expected, rtol, atol=0.0, **where):
    if isinstance(expected, float) and isnan(expected):
        assert isnan(got), where
        return
    expected = mp.mpf(expected) if hasattr(expected, "_mpf_") else real(expected)
    error = abs(mp.mpf(got) - expected)
    # below the least normal number only the absolute error can be small
    assert error <= rtol * abs(expected) + atol + 1e-307, (
        f"{got} is not {mp.nstr(expected, 20)}: off by {mp.nstr(error, 3)}", where
    )


harmonic_number = functools.cache(mp.harmonic)


def harmonic(a, b):
    """The sum of 1 / i over a < i <= b."""
    return harmonic_number(b) - harmonic_number(a)


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


@by_reading
def test_average_precision(case, ties):
    curve, rows, _, R = case
    expected = precision_sum(rows, ties) / R if R else float("nan")
    close(curve.average_precision(ties=ties), expected, WITHIN["AP"])


@by_reading
def test_average_precision_at_k(case, ties):
    curve, rows, n, R = case
    for k in cutoffs(rows, n):
        total = precision_sum(rows, ties, k) if R else float("nan")
        rtol = WITHIN["AP at a cutoff"]
        close(curve.average_precision(k, ties=ties), total / max(min(k, R), 1), rtol)
        close(curve.average_precision(k, ties=ties, normalize="relevant"), total / max(R, 1), rtol)
        if ties != "expected" and R:
            h = hits_at(rows, k, ties)
            expected = total / real(h) if h else mp.mpf(0)
            close(curve.average_precision(k, ties=ties, normalize="hits"), expected, WITHIN[BY_HITS])


@pytest.mark.parametrize("above, tied, hits, k", [
    (0, 10**9, 300, 10**6),
    (0, 10**9, 300, 10**9 - 1),
    (7, 10**12, 40, 10**11),
    (10**9, 64, 30, 10**9 + 20),
    (0, LAST, 2, 10**9),
    (0, LAST, 60, LAST // 2),
    (10**15, 10**6, 25, 10**15 + 10**5),
    (0, 1000, 500, 300), pytest.param(0, 3000, 1500, 1000, marks=pytest.mark.slow),
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
    close(curve.average_precision(k, normalize="hits"), total, WITHIN[BY_HITS])


@functools.cache
def ways(n, m):
    """The binomial coefficient n over m, up to 2**62 over anything."""
    return mp.exp(mp.loggamma(n + 1) - mp.loggamma(m + 1) - mp.loggamma(n - m + 1))


@by_reading
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
    close(curve.average_precision(ties=ties, interpolation="trapezoid"), expected, WITHIN["interpolated AP"])


@by_reading
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
    close(curve.average_precision(ties=ties, interpolation="continuous"), expected, WITHIN["interpolated AP"])


@of_every_table
def test_envelope_of_the_groups(case):
    for interpolation in ("11-point", "101-point", "all-point"):
        assert_envelope(case, interpolation)


def assert_envelope(case, interpolation):
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
    close(
        curve.average_precision(ties="threshold", interpolation=interpolation),
        total / levels,
        WITHIN["interpolated AP"],
    )


@by_reading
def test_cutoffs(case, ties):
    curve, rows, n, R = case
    for k in cutoffs(rows, n):
        h = hits_at(rows, k, ties)
        undefined = None if R else float("nan")
        close(curve.hits_at(k, ties=ties), h, WITHIN["hits"])
        close(curve.precision(k, ties=ties), h / k, WITHIN["precision"])
        close(curve.recall(k, ties=ties), undefined or h / max(R, 1), WITHIN["recall"])
        close(curve.recall(k, normalize="min", ties=ties), undefined or h / max(min(k, R), 1), WITHIN["recall"])
        close(curve.f_score(k, ties=ties), 2 * h / (k + R), WITHIN["F"])
        close(curve.f_score(k, beta=0.3, ties=ties), (1 + BETA) * h / (k + BETA * R), WITHIN["F"])
        rtol = WITHIN["enrichment factors"]
        close(curve.enrichment_factor(k=k, ties=ties), undefined or h * n / (k * max(R, 1)), rtol)
        close(curve.normalized_enrichment_factor(k=k, ties=ties), undefined or h / max(min(k, R), 1), rtol)
        best = Fraction(min(k, R) * n, k * max(R, 1))
        close(curve.max_enrichment_factor(k=k), undefined or best, rtol)
        passed = (min(k, n) - h) / (n - R) if n > R else float("nan")
        close(curve.fall_out(k, ties=ties), passed, WITHIN["fall-out"])
    close(curve.r_precision(ties=ties), hits_at(rows, R, ties) / R if R else float("nan"), WITHIN["R-precision"])


BETA = Fraction(0.3) ** 2


@of_every_table
def test_fraction_of_many(case):
    """ceil(fraction * N) in the decimal that was written: products beyond 2**53."""
    curve, rows, n, _ = case
    for fraction in (0.07, 0.01, 1e-6, 0.3, 1.0):
        k = -(-Fraction(str(fraction)) * n // 1)
        for ties in ("best", "expected") if k else ():
            found = curve.hits_at(fraction=fraction, ties=ties)
            close(found, hits_at(rows, int(k), ties), WITHIN["hits"], fraction=fraction, ties=ties)


@pytest.mark.parametrize("fraction", [1e-20, 0.1234567890123456, 0.07, 1 / 3])
def test_fraction_of_many_queries(fraction):
    """Decimals with more digits than 64 bits hold."""
    y_true, y_score = np.tile([1, 0, 0, 1, 0], (2, 20)), np.tile(np.arange(100.0), (2, 1))
    curves = hc.HitCurves(y_true, y_score)
    k = -(-Fraction(str(fraction)) * 100 // 1)
    assert curves.hits_at(fraction=fraction).tolist() == curves.hits_at(int(k)).tolist()
    assert curves[0].hits_at(fraction=fraction) == curves[0].hits_at(int(k))


CURVE = hc.HitCurve([1, 0, 1], [3, 2, 1])
GAINS = hc.GainCurve([1, 0, 2], [3, 2, 1])
METHODS = {name: getattr(curve, name) for curve in (CURVE, GAINS) for name in dir(curve)
           if name[0] != "_" and callable(getattr(curve, name))}  # fmt: skip
WITH_K = [name for name, one in METHODS.items() if "k" in inspect.signature(one).parameters and name != "plot"]
CUTOFFS = {name: METHODS[name] for name in WITH_K} | {
    "one line": lambda k: hc.average_precision([1, 0, 1], [3, 2, 1], k=k),
    "the mean": lambda k: hc.mean_average_precision([[1, 0, 1]], [[3, 2, 1]], k=k),
    "its method": lambda k: hc.HitCurves([[1, 0, 1]], [[3, 2, 1]]).mean_average_precision(k),
    "nDCG": lambda k: hc.ndcg([1, 0, 1], [3, 2, 1], k=k),
    "mean nDCG": lambda k: hc.mean_ndcg([[1, 0, 1]], [[3, 2, 1]], k=k),
    "a name": lambda k: CURVE.measure(f"R@{k}"),
    "a run": lambda k: hc.evaluate({"q": {"d": 1}}, {"q": {"d": 1}}, f"R@{k}"),
}


@pytest.mark.parametrize("name", CUTOFFS)
def test_cutoffs_end_at_the_number_of_items_that_can_be(name):
    call = CUTOFFS[name]
    if name == "inst" or name.startswith("nerr"):
        call = functools.partial(call, ties="best")
    if name in ("sdcg", "bpm") or name.startswith("nerr"):
        call = functools.partial(call, max_rel=3)
    call(k=2**62)
    for k in (2**62 + 1, 2**64, 2**70):
        with pytest.raises(ValueError, match=rf"{k}.*(2\*\*62)"):
            call(k=k)


@of_every_table
def test_first_hit(case):
    """Success and reciprocal rank: what the first group says."""
    curve, rows, n, _ = case
    if not rows:
        assert curve.reciprocal_rank() == curve.success(5) == 0
        return
    c, size, r = rows[0]
    for k in cutoffs(rows, n):
        m = clamp(k - c, 0, size)
        miss = ways(size - r, m) / ways(size, m) if m <= size - r else mp.mpf(0)
        close(curve.success(k), 1 - miss, WITHIN["success"])
    if size // r < 1000 or c == 0:
        close(curve.reciprocal_rank(), mean_reciprocal_rank(c, size, r), WITHIN["reciprocal rank"])


def mean_reciprocal_rank(c, n, r):
    """The mean of 1 / (c + j), j the place of the first of r hits among n: P(j) = C(n - j, r - 1) / C(n, r)."""
    if c == 0:  # the sum over j = 1..n of C(n - j, r - 1) / j is C(n, r - 1) (H(n) - H(r - 1))
        return ways(n, r - 1) * harmonic(r - 1, n) / ways(n, r)
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


@by_reading
def test_roc_auc(case, ties):
    curve, rows, n, _ = case
    close(curve.roc_auc(ties=ties), roc_auc(rows, n, ties), WITHIN["ROC AUC"])


@by_reading
def test_mean_rank(case, ties):
    """The share of pairs in the wrong order says how many items lie above a relevant one."""
    curve, rows, n, R = case
    wrong = (1 - roc_auc(rows, n, ties)) * (n - R) if 0 < R < n else 0
    close(curve.mean_rank(ties=ties), wrong + Fraction(R + 1, 2) if R else float("nan"), WITHIN["mean rank"])
    share = (wrong + Fraction(R - 1, 2)) / (n - 1) if n > 1 else Fraction(1, 2)
    close(curve.mean_percentile_rank(ties=ties), share if R else float("nan"), WITHIN["mean percentile rank"])


MOST = (1e-9, 0.1, 0.5, 1 / 3, 0.99999999, 1 - 1e-12, 1 - 2**-53, 1.0, 1e-300)


def in_turn(cases, n, parts):
    """In an ordinary run each table has a part of the cases, which depends on its number of items."""
    if settings.default.max_examples != settings.get_profile("ordinary").max_examples:
        return cases
    return list(cases)[n % parts :: parts]


@of_every_table
def test_partial_roc_auc(case):
    curve, rows, n, R = case
    rank = ref.from_table(*map(list, zip(*rows, strict=True)), n, R) if 0 < R < n else None
    for max_fpr, ties in in_turn(product(MOST, READINGS), n, 3):
        read = {"max_fpr": max_fpr, "ties": ties}
        if rank is None:
            assert isnan(curve.roc_auc(**read)), read
            continue
        expected = ref.partial_roc_area_by_group(rank, ref.decimal(max_fpr), ties=ties)
        close(curve.roc_auc(**read, standardize=False), expected, WITHIN["ROC AUC up to a rate"], **read)
        expected = ref.roc_auc_by_group(rank, **read)
        close(curve.roc_auc(**read), expected, WITHIN["ROC AUC up to a rate"], **read)


RATES = (
    *((0.1, 0.2), (0.0, 0.25), (0.9, 1.0), (1e-9, 1e-3), (1 / 4, 1 / 3), (0.5, 0.5 + 2**-50), (1 - 2**-53, 1.0)),
    *((0.3, 0.30000001), (1e-300, 1e-200), (0.1 - 2**-56, 0.1), (0.0, 1.0), (2**-62, 0.99999999)),
)


@of_every_table
def test_roc_auc_between_rates(case):
    curve, rows, n, R = case
    rank = ref.from_table(*map(list, zip(*rows, strict=True)), n, R) if 0 < R < n else None
    for (low, high), kind, ties in in_turn(product(RATES, ("fpr", "tpr"), READINGS), n, 3):
        read = {f"min_{kind}": low, f"max_{kind}": high, "ties": ties}
        if rank is None:
            assert isnan(curve.roc_auc(**read)) and isnan(curve.roc_auc(**read, standardize=False)), read
            continue
        expected = ref.roc_auc_by_group(rank, **read, standardize=False)
        close(curve.roc_auc(**read, standardize=False), expected, WITHIN["ROC AUC up to a rate"], **read)
        # Next to 0 the correction subtracts equal numbers.
        expected = ref.roc_auc_by_group(rank, **read)
        close(curve.roc_auc(**read), expected, WITHIN["ROC AUC up to a rate"], 1e-15, **read)


FROM_AND_TO = (
    *((0.001, 1.0), (1e-9, 1.0), (0.5, 1.0), (0.001, 0.1), (1e-9, 1e-3), (1 / 4, 1 / 3), (5e-324, 1.0)),
    *((1e-300, 1e-200), (0.5, 0.5 + 2**-50), (1 - 2**-53, 1.0), (0.3, 0.30000001), (2**-62, 2**-61)),
    (0.1 - 2**-56, 0.1),
)


@of_every_table
def test_log_auc(case):
    curve, rows, n, R = case
    rank = ref.from_table(*map(list, zip(*rows, strict=True)), n, R) if 0 < R < n else None
    for (min_fpr, max_fpr), ties in in_turn(product(FROM_AND_TO, READINGS), n, 3):
        read = {"min_fpr": min_fpr, "max_fpr": max_fpr, "ties": ties}
        if rank is None:
            assert isnan(curve.log_auc(**read)), read
            continue
        low, high = Fraction(min_fpr), Fraction(max_fpr)
        share = ref.log_auc_by_group(rank, **read)
        close(curve.log_auc(**read), share, WITHIN["log AUC"], **read)
        adjusted = share - real(high - low) / mp.log(real(high / low))
        close(curve.log_auc(**read, adjusted=True), adjusted, 0, WITHIN["adjusted log AUC"], **read)


@functools.cache
def geometric(alpha, n, c, m):
    """The sum of exp(-alpha * rank / n) over the ranks c + 1 .. c + m."""
    a = mp.mpf(alpha) / n
    return mp.exp(-a * (c + 1)) * mp.expm1(-a * m) / mp.expm1(-a)


ALPHAS = (1e-9, 1e-3, 1.0, 20.0, 321.9, 5000.0, 1e5)


@of_every_table
def test_rie_and_bedroc(case):
    curve, rows, n, R = case
    for alpha, ties in in_turn(product(ALPHAS, READINGS[:3]), n, 2):
        read = {"alpha": alpha, "ties": ties}
        if R == 0:
            assert isnan(curve.rie(**read)) and isnan(curve.bedroc(**read)), read
            continue
        total = mp.mpf(0)
        for c, size, r in rows:
            if ties == "expected":
                total += geometric(alpha, n, c, size) * r / size
            else:
                total += geometric(alpha, n, c if ties == "best" else c + size - r, r)
        close(curve.rie(**read), total / R / (geometric(alpha, n, 0, n) / n), WITHIN["RIE"], **read)
        if n == R:
            assert isnan(curve.bedroc(**read)), read
            continue
        low, high = geometric(alpha, n, n - R, R), geometric(alpha, n, 0, R)
        value = curve.bedroc(**read)
        close(value, (total - low) / (high - low), WITHIN["BEDROC"], 1e-290, **read)
        assert 0 <= value <= 1, read


@of_every_table
def test_bedroc_tends_to_roc_auc(case):
    curve, _, n, R = case
    if 0 < R < n:
        assert np.isclose(curve.bedroc(1e-9), curve.roc_auc(), rtol=1e-8)


@of_every_table
def test_chance_and_minimum(case):
    curve, _, n, R = case
    if R == 0:
        assert isnan(curve.chance()) and isnan(curve.minimum())
        return
    chance = precision_sum([(0, n, R)], "expected") / R
    close(curve.chance(), chance, WITHIN["chance"])
    close(curve.minimum(), precision_sum([(0, n, R)], "worst") / R, WITHIN["minimum"])


@by_reading
def test_normalized_average_precision(case, ties):
    curve, rows, n, R = case
    value = curve.normalized_average_precision(ties=ties)
    if R in (0, n):
        assert isnan(value)
        return
    chance = precision_sum([(0, n, R)], "expected") / R
    expected = (precision_sum(rows, ties) / R - chance) / (1 - chance)
    close(value, expected, 0, WITHIN["normalised AP"] * max(1, abs(expected)))


@pytest.mark.parametrize("n", [10**12, 10**16])
def test_normalized_average_precision_of_one_other_item(n):
    curve = hc.HitCurve.from_table(None, [0, 2], [1, n - 2], [1, n - 2], num_items=n)
    mean = (1 + precision_sum([(0, 1, 1), (2, n - 2, n - 2)], "best") - 1) / (n - 1)
    chance = precision_sum([(0, n, n - 1)], "expected") / (n - 1)
    close(curve.normalized_average_precision(), (mean - chance) / (1 - chance), WITHIN["normalised AP"])


# The hits at recall level i of 10, and next to it, where 10 * hits no longer fits a float, or 64 bits.
@pytest.mark.parametrize("whole", [2**20, 2**53 + 7, 2**55 - 1, 3 * 2**56, 10 * 2**56, 2**60 + 11])
@pytest.mark.parametrize("beside", [-1, 0, 1])
def test_recall_levels_are_compared_in_whole_numbers(whole, beside):
    for level in (1, 3, 7):
        first = -(-level * whole // 10) + beside
        for between in (0, 1, 2**58):
            rank = ref.from_groups([first, between, whole - first, 2**60], [first, 0, whole - first, 0])
            curve = hc.HitCurve.from_table(None, *columns(rank), num_items=ref.num_items(rank))
            rank = rank._replace(groups=tuple(g for g in rank.groups if g.items))
            for interpolation in ("11-point", "101-point"):
                for ties in ("threshold", "expected"):
                    expected = ref.average_precision(rank, ties=ties, interpolation=interpolation)
                    value = curve.average_precision(ties=ties, interpolation=interpolation)
                    close(value, expected, WITHIN["interpolated AP"])


def columns(rank):
    return (list(column) for column in list(zip(*ref.table(rank), strict=True))[1:])


def test_recall_levels_of_2_to_the_60th():
    first, second = 3 * 2**56 - 1, 7 * 2**56 + 1
    curve = hc.HitCurve.from_table(None, [0, first + 2**60], [first, second], [first, second], num_items=2**62)
    rank = ref.from_groups([first, 2**60, second], [first, 0, second])
    close(curve.average_precision(interpolation="11-point", ties="threshold"), 0.5524475524475525, 1e-15)
    expected = ref.average_precision(rank, ties="expected", interpolation="11-point")
    close(curve.average_precision(interpolation="11-point"), expected, 1e-15)


@pytest.mark.parametrize("others", [10, 2**20, 2**53 - 1, 2**54, 3 * 2**58])
@pytest.mark.parametrize("fpr", [0.5, 1 / 3, 0.9999999999999999, 1e-9, 1.0, 2**-40])
def test_roc_enrichment_next_to_a_group(others, fpr):
    """Groups that begin and end where the rate is reached, one item before, and one after."""
    reached = ref.share_of(fpr, others)
    for start in {max(0, min(int(reached) + step, others)) for step in (-1, 0, 1, 2)}:
        for mixed in {0, min(1, others - start), min(7, others - start), others - start}:
            items, hits = [start, 10 + mixed, others - start - mixed], [0, 10, 0]
            rank = ref.from_groups(*zip(*((n, r) for n, r in zip(items, hits, strict=True) if n), strict=True))
            curve = hc.HitCurve.from_table(None, *columns(rank), num_items=others + 10)
            both = hc.HitCurves([[1, 0]], [[2, 1]])  # the other route: one value a query
            assert both.roc_enrichment([fpr, 1.0]).shape == (1, 2)
            for ties in READINGS:
                expected = ref.roc_enrichment_by_group(rank, fpr, ties=ties)
                close(curve.roc_enrichment(fpr, ties=ties), expected, WITHIN["ROC enrichment"])
            worst = 1 / ref.decimal(fpr) if start + mixed <= reached else 0
            close(curve.roc_enrichment(fpr, ties="worst"), worst, WITHIN["ROC enrichment"])


def perfect_calls(ties, hits, n):
    """Those that give 1 where the hits come first."""
    for row in HITS:
        if ties in row.readings:
            for args, options in register.perfect_calls(row, hits):
                yield row.method, args, options
    yield "average_precision", (max(1, hits // 2),), {}
    yield "average_precision", (n,), {"normalize": "hits"}
    if ties != "threshold":
        yield "success", (1,), {}


def perfect(rng, size):
    """A table with the relevant items first, in groups of any size, and the number of items."""
    above, rows = 0, []
    while above < size:
        tied = min(size - above, int(2 ** rng.uniform(0, size.bit_length())))
        rows.append((above, tied, tied))
        above += tied
    return rows


@pytest.mark.parametrize("ties", READINGS)
def test_a_perfect_ranking_has_exactly_1(ties, request):
    rng = random.Random(0)
    shapes = [(hits, n) for n in range(2, 26) for hits in range(1, n)] + [(41, 42), (3, 9 * 10**6), (2**53 + 1, 2**54)]
    shapes += [(rng.randrange(1, 2**size), LAST) for size in range(1, 62) for _ in range(2)]
    if not request.config.getoption("--all"):  # each reading has its own third
        shapes = shapes[READINGS.index(ties) % 3 :: 3]
    for hits, n in shapes:
        for rows in (perfect(rng, hits), [(0, hits, hits)]):
            curve = hc.HitCurve.from_table(None, *(list(column) for column in zip(*rows, strict=True)), num_items=n)
            for name, args, options in perfect_calls(ties, hits, n):
                assert getattr(curve, name)(*args, **options, ties=ties) == 1.0, (name, args, options, rows, n)


def test_expected_reciprocal_rank_of_many():
    """A product of thousands of factors, one for each place, and the integral beyond them."""
    for n in (100, 10**4, 10**6, 10**9, 10**16, LAST):
        for hits in (2, 3, 50, 5000, n // 1000, n // 3, n // 2, n - 5, n):
            if hits < 1 or hits > n:
                continue
            curve = hc.HitCurve.from_table(None, [0], [n], [hits], num_items=n)
            close(curve.reciprocal_rank(), mean_reciprocal_rank(0, n, hits), WITHIN["reciprocal rank"])


@pytest.mark.parametrize("power", range(-40, 5))
def test_hits_far_below_others_of_every_ratio(power):
    """Group size over what lies above it: the series of x - log(1 + x), wherever it stops."""
    for c in (2**20 + 3, 10**13):
        n = max(2, int(c * 2.0**power))
        for r in (1, n // 2 or 1, n):
            rows = [(0, c, c // 2), (c, n, r)]
            curve = hc.HitCurve.from_table(None, *(list(column) for column in zip(*rows, strict=True)), num_items=c + n)
            close(curve.average_precision(), precision_sum(rows, "expected") / (c // 2 + r), WITHIN["AP"])


def documents(rng, n):
    """Levels and scores of n documents, none tied."""
    return [rng.choice([0, 0, 0, 1, 2, 3]) for _ in range(n)], rng.sample(range(10 * n), n)


@pytest.mark.parametrize(("n", "seeds"), [(10, 3), (10_000, 1), pytest.param(10_000, 3, marks=pytest.mark.slow)])
def test_graded_measures_of_a_run(n, seeds):
    for seed in range(seeds):
        levels, scores = documents(random.Random(seed), n)
        run = {"q": {f"d{i:05}": float(score) for i, score in enumerate(scores)}}
        values = hc.evaluate(
            {"q": {f"d{i:05}": level for i, level in enumerate(levels)}}, run, ["nDCG", "RBP(p=0.8,rel=1)", "ERR"]
        ).values
        order = [levels[i] for i in sorted(range(n), key=lambda i: -scores[i])]
        dcg, ideal = (
            mp.fsum(level / mp.log(i + 2, 2) for i, level in enumerate(some) if level)
            for some in (order, sorted(levels)[::-1])
        )
        ndcg, rbp, err = (value[0] for value in values.values())
        close(ndcg, dcg / ideal, WITHIN["nDCG"])
        close(rbp, rank_biased(order), WITHIN["RBP"])
        close(err, expected_reciprocal(order), WITHIN["ERR of up to 10,000 documents"])


def rank_biased(order):
    return real(1 - Fraction(0.8)) * mp.fsum(mp.mpf(0.8) ** i for i, level in enumerate(order) if level > 0)


def expected_reciprocal(order):
    total, left = mp.mpf(0), mp.mpf(1)
    for i, level in enumerate(order):
        stop = mp.mpf(2**level - 1) / 2**4
        total += left * stop / (i + 1)
        left *= 1 - stop
    return total


@of_every_table
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
    curve = hc.HitCurve(y_true, y_score, sample_weight=weights)
    close(curve.average_precision(**read), expected, WITHIN["AP with weights"])
    close(curve.roc_auc(ties="threshold"), ref.roc_auc(rank, ties="threshold"), WITHIN["ROC AUC with weights"])


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
