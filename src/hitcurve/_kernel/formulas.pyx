"""Kernels that compute measures from a hit-curve table.

Notation, as in the docstrings of the public methods: a row is a tie group of ``n`` items, ``r`` of them relevant,
with ``c`` items and ``H`` relevant items ranked above it. There are N items and R relevant items in all.

The terms of every sum have the same sign and are computed without cancellation. Sums are compensated (Neumaier 1974). So
results are exact to a few units in the last place for any table up to N = 2**62. No result depends on the order of the
input, the number of workers or the instruction set.
"""
from libc.math cimport NAN, exp, expm1, floor, fma, fmax, fmin, isfinite, isnan, log, log1p, sqrt
from libc.stdint cimport int64_t, uint64_t

from hitcurve._kernel.groups cimport (
    Group, Wide, add_product, add_share, as_double, as_read, log1p_defect, next_group, whole_but_for_rounding,
)
from hitcurve._kernel.roc cimport (
    adjusted_log_auc, auac, log_auc, partial_roc_area, partial_roc_auc, roc_area_from_fpr, roc_area_from_tpr, roc_auc,
    roc_auc_from_fpr, roc_auc_from_tpr, roc_enrichment,
)


# ---------------------------------------------------------------------------------------------------------- tie groups

cdef int64_t total_hits(const Table* table) noexcept nogil:
    cdef Group group = [0, 0, 0, 0, 0, 0, 0]
    while next_group(table, TIES_EXPECTED, &group):
        pass
    return group.seen


cdef inline bint product_above(int64_t a, int64_t b, int64_t c, int64_t d) noexcept nogil:
    """a * b > c * d."""
    cdef Wide left = [0, 0]
    cdef Wide right = [0, 0]
    if (a | b | c | d) >> 31 == 0:
        return a * b > c * d
    add_product(&left, a, b)
    add_product(&right, c, d)
    return left.high > right.high or (left.high == right.high and left.low > right.low)


# ------------------------------------------------------------------------------------------------------- harmonic sums

cdef enum:
    # From this denominator on, four terms of the asymptotic series are exact to 2e-17 (the next term is
    # 0.0042 / a**8). Shorter sums are added term by term.
    ASYMPTOTIC_FROM = 64
    DIRECT_TERMS = 64


cdef void harmonic_sums(double c, double m, double* delta, double* slope) noexcept nogil:
    """delta = sum 1 / (c + j) and slope = sum j / (c + j) over j = 1..m, for real c >= 0 and whole m >= 0.

    Both are sums of positive terms; slope = m - c * delta would cancel for m << c.
    """
    cdef double total = 0.0, carry = 0.0, moment = 0.0, moment_carry = 0.0
    cdef double a, b, x, series, tail, tail_slope, inverse, skipped
    cdef int64_t j, direct

    direct = 0
    if m <= DIRECT_TERMS:
        direct = <int64_t>m
    elif c < ASYMPTOTIC_FROM:
        direct = ASYMPTOTIC_FROM - <int64_t>c
    for j in range(1, direct + 1):
        inverse = 1.0 / (c + j)
        add(&total, &carry, inverse)
        add(&moment, &moment_carry, j / (c + j))
    if direct < m:
        # The rest of the sum starts at c + direct. In the rest, j counts from `direct`.
        skipped = <double>direct
        m -= skipped
        c += skipped
        a = c + 0.5
        b = c + m + 0.5
        x = m / a
        # psi(b + 1/2) - psi(a + 1/2) = log(b / a) + series, psi(z + 1/2) = log z + 1/24 z^-2 - 7/960 z^-4 + ...
        series = -m * (a + b) / (a * a * b * b) * (
            1.0 / 24 - 7.0 / 960 * (1.0 / (a * a) + 1.0 / (b * b))
            + 31.0 / 8064 * (1.0 / (a * a * a * a) + 1.0 / (a * a * b * b) + 1.0 / (b * b * b * b)))
        tail = log1p(x) + series
        tail_slope = m * log1p_defect(x) + 0.5 * log1p(x) - c * series
        add(&total, &carry, tail)
        add(&moment, &moment_carry, tail_slope)
        add(&moment, &moment_carry, skipped * tail)
    delta[0] = total + carry
    slope[0] = moment + moment_carry


cdef inline double precisions_of_run(double c, double above_hits, double m) noexcept nogil:
    """sum (H + i) / (c + i), i = 1..m: the precisions at m consecutive relevant items."""
    cdef double delta, slope
    if m == 1:
        return (above_hits + 1) / (c + 1)
    if above_hits == c:
        return m
    harmonic_sums(c, m, &delta, &slope)
    return above_hits * delta + slope


cdef inline double expected_precisions(double c, double above_hits, double n, double r, double m) noexcept nogil:
    """Mean over all orders of a group of the sum of precisions at the relevant items among its first m places."""
    cdef double delta, slope, rate
    if n == 1:
        return r * m * (above_hits + 1) / (c + 1)
    if r == n:
        return precisions_of_run(c, above_hits, m)
    rate = (r - 1) / (n - 1)
    harmonic_sums(c, m, &delta, &slope)
    return r / n * ((above_hits + 1 - rate) * delta + rate * slope)


# ----------------------------------------------------------------------------------------------------- hypergeometric

cdef double* GAUSS_NODE = [0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363]
cdef double* GAUSS_WEIGHT = [0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763]

cdef enum:
    # Sums of at most so many terms are added term by term. Longer sums are smooth enough for 8 Gauss points.
    DIRECT_PRODUCT = 4096
    DIRECT_RANKS = 16384


cdef double log_no_hit(double n, double r, double m) noexcept nogil:
    """log of C(n - r, m) / C(n, m), the probability that m of n places have none of the r relevant items. m may be real."""
    cdef double fewer = fmin(r, m), more = fmax(r, m), count = r, other = m, total = 0.0, carry = 0.0, middle, half
    cdef int64_t i
    if m >= n - r + 1:
        return -1e300
    if fewer * more / n > 800.0:
        return -800.0
    if r > DIRECT_PRODUCT:
        count, other = m, r
    if count <= DIRECT_PRODUCT and count == floor(count):
        for i in range(<int64_t>count):
            add(&total, &carry, log1p(-other / (n - i)))
        return total + carry if total > -800.0 else -800.0  # minus infinity where other / n rounds to 1
    # The midpoint rule in reverse: the sum over `fewer` unit steps is an integral, with an error below 1 / n**2.
    middle = n + 0.5 - 0.5 * fewer
    half = 0.5 * fewer
    for i in range(4):
        total += half * GAUSS_WEIGHT[i] * (log1p(-more / (middle + half * GAUSS_NODE[i]))
                                           + log1p(-more / (middle - half * GAUSS_NODE[i])))
    return total


cdef inline double first_hit_density(double c, double n, double r, double x) noexcept nogil:
    """P(first relevant item at place x of the group) / (c + x), continued to real x."""
    return r / n * exp(log_no_hit(n - 1, r - 1, x - 1)) / (c + x)


cdef double first_hit_slope(double c, double n, double r, double x) noexcept nogil:
    """Derivative of first_hit_density in x."""
    cdef double falls = 0.0, density = first_hit_density(c, n, r, x)
    cdef int64_t i
    if density == 0.0:
        return 0.0
    if r <= DIRECT_PRODUCT:
        for i in range(<int64_t>r - 1):
            falls += 1.0 / (n - x - i)
    else:
        falls = log((n - x + 0.5) / (n - x - r + 1.5))
    return -density * (falls + 1.0 / (c + x))


cdef double expected_reciprocal_rank(double c, double n, double r, double m) noexcept nogil:
    """The mean of 1 / (c + place of the first relevant item) over all orders. A place beyond m counts as 0."""
    cdef double last = fmin(m, n - r + 1)
    cdef double delta, slope, total = 0.0, carry = 0.0, p = r / n, p_carry = 0.0, rate, left, right, middle, half, width
    cdef int64_t j, direct
    cdef int i
    if r == 1:
        harmonic_sums(c, last, &delta, &slope)
        return delta / n
    direct = <int64_t>fmin(last, DIRECT_RANKS)
    for j in range(1, direct + 1):
        add(&total, &carry, (p + p_carry) / (c + j))
        rate = (r - 1) / (n - j)
        if rate < 0.5:
            # A product of many factors near 1 would lose digits, so differences of successive terms are added.
            add(&p, &p_carry, -(p + p_carry) * rate)
        else:
            p = (p + p_carry) * ((n - j - r + 1) / (n - j))
            p_carry = 0.0
        if p < 1e-25 * total:
            return total + carry
    if direct < last:
        # The Euler-Maclaurin formula for the smooth rest, in panels over which the density falls by a bounded factor.
        left = direct + 0.5
        add(&total, &carry, first_hit_slope(c, n, r, left) / 24)
        while left < last + 0.5:
            width = fmin(0.5 * left, n / r)
            right = fmin(left + width, last + 0.5)
            middle = 0.5 * (left + right)
            half = 0.5 * (right - left)
            p = 0.0
            for i in range(4):
                p += half * GAUSS_WEIGHT[i] * (first_hit_density(c, n, r, middle + half * GAUSS_NODE[i])
                                               + first_hit_density(c, n, r, middle - half * GAUSS_NODE[i]))
            add(&total, &carry, p)
            left = right
            if p < 1e-20 * total:
                return total + carry
        add(&total, &carry, -first_hit_slope(c, n, r, last + 0.5) / 24)
    return total + carry


# A value that depends on the number of relevant items in the first places of a group; `of` has the other numbers.
ctypedef double (*OfHits)(const double* of, double hits) noexcept nogil


cdef inline double hits_variance(int64_t n, int64_t r, int64_t m) noexcept nogil:
    """The variance of the number of a group's relevant items in its first m places."""
    cdef double mean = <double>m * (<double>r / <double>n)
    return mean * (<double>(n - r) / <double>n) * (<double>(n - m) / <double>(n - 1)) if n > 1 else 0.0


cdef double mean_over_hits(int64_t n, int64_t r, int64_t m, int64_t low, int64_t high, OfHits value,
                           const double* of) noexcept nogil:
    """The mean of a value over the orders of a group that have `low` to `high` relevant items in the first m places."""
    cdef double weight, total = 0.0, carry = 0.0, mass = 0.0, mass_carry = 0.0
    cdef int64_t mode, h
    cdef int up
    # The mode, from the side of the cutoff with fewer places, in whole numbers: floats of large numbers are inexact.
    if m > n >> 1:
        mode = r - <int64_t>(<double>(r + 1) * (<double>(n - m + 1) / <double>(n + 2)))
    else:
        mode = <int64_t>(<double>(r + 1) * (<double>(m + 1) / <double>(n + 2)))
    mode = min(max(mode, low), high)
    for up in range(1, -1, -1):  # up from the mode, then down from below it
        h = mode
        weight = 1.0
        while low <= h <= high:
            if up or h < mode:
                add(&mass, &mass_carry, weight)
                add(&total, &carry, weight * value(of, <double>h))
                if weight < 1e-22:
                    break
            if up:
                weight *= <double>(r - h) * <double>(m - h) / (<double>(h + 1) * <double>(n - r - m + h + 1))
                h += 1
            else:
                weight *= <double>h * <double>(n - r - m + h) / (<double>(r - h + 1) * <double>(m - h + 1))
                h -= 1
    return (total + carry) / (mass + mass_carry)


cdef double hit_ratio(const double* of, double hits) noexcept nogil:
    """(sum of precisions at the hits above the cutoff) / (hits above the cutoff), in the mean over orders."""
    cdef double above_hits = of[0], before = of[1], linear = of[2], square = of[3]
    if above_hits + hits == 0:
        return 0.0
    return (before + linear * hits + square * hits * (hits - 1)) / (above_hits + hits)


cdef double expected_hit_ratio(double c, double above_hits, int64_t n, int64_t r, int64_t m, double before) noexcept nogil:
    """The mean over all orders of (sum of precisions at the hits above the cutoff) / (hits above the cutoff).

    ``before`` is the sum of precisions above the group. m of the group's n places are above the cutoff. The number h of
    the group's r relevant items in these places is hypergeometric, and the h items are in random order there.
    """
    cdef double delta, slope, linear, square, u, at_pole, mean, places = <double>m, variance = hits_variance(n, r, m)
    cdef double[4] of
    harmonic_sums(c, places, &delta, &slope)
    linear = (above_hits + 1) * delta / places
    square = (slope - delta) / (places * (places - 1)) if m > 1 else 0.0
    if variance > 1e8:
        # The spread relative to the mean is below 1e-4, so the second-order expansion is exact to 1e-16.
        mean = places * (<double>r / <double>n)
        u = above_hits + mean
        at_pole = before - linear * above_hits + square * above_hits * (above_hits + 1)
        return (before + linear * mean + square * mean * (mean - 1)) / u + at_pole / u * (variance / (u * u))
    of[0], of[1], of[2], of[3] = above_hits, before, linear, square
    return mean_over_hits(n, r, m, max(0, m - (n - r)), min(r, m), hit_ratio, of)


# --------------------------------------------------------------------------------------------------- average precision

cdef void average_precision_begin(AveragePrecision* ap, const Reading* reading, int64_t num_relevant) noexcept nogil:
    ap[0] = AveragePrecision(reading.ties, reading.normalize, reading.k, num_relevant, 0, False, 0.0, -1.0, 0.0)


cdef double cut_group(AveragePrecision* ap, int64_t above, int64_t tied, int64_t hits, int64_t places) noexcept nogil:
    """The sum of precisions of a group with only its first `places` items above the cutoff."""
    cdef double share, precision
    if ap.ties == TIES_THRESHOLD:
        share = <double>hits * <double>places / <double>tied
        precision = (ap.seen_hits + share) / <double>ap.k
        if ap.normalize == NORMALIZE_HITS:
            ap.ratio = (ap.sum + ap.carry + share * precision) / (ap.seen_hits + share)
        return share * precision
    if ap.ties == TIES_EXPECTED and ap.normalize == NORMALIZE_HITS:
        ap.ratio = expected_hit_ratio(<double>above, <double>ap.seen_hits, tied, hits, places, ap.sum + ap.carry)
    return expected_precisions(<double>above, <double>ap.seen_hits, <double>tied, <double>hits, <double>places)


cdef void average_precision_add(AveragePrecision* ap, const int64_t* above, const int64_t* tied, const int64_t* hits,
                                Py_ssize_t rows) noexcept nogil:
    cdef Py_ssize_t i
    cdef int64_t c, n, r, places, seen = ap.seen_hits
    cdef double term, total = ap.sum, carry = ap.carry
    if ap.done:
        return
    for i in range(rows):
        c = above[i]
        n = tied[i]
        r = hits[i]
        if n > 1:
            as_read(ap.ties, &c, &n, r)
        if ap.k >= 0 and ap.k - c < n:
            ap.done = True
            places = ap.k - c
            if places > 0 and seen == c and r == n:
                add_share(&total, &carry, places, 1.0)
            elif places > 0:
                ap.sum = total
                ap.carry = carry
                ap.seen_hits = seen
                add(&total, &carry, cut_group(ap, c, n, r, places))
            seen += max(places, 0)  # used only if all items of the group are relevant; otherwise ap.ratio is set
            break
        if n == 1:
            term = <double>(seen + 1) / <double>(c + 1)
        elif seen == c and r == n:
            # All items so far are relevant. So a perfect ranking has exactly 1.
            add_share(&total, &carry, r, 1.0)
            seen += r
            continue
        elif ap.ties == TIES_THRESHOLD:
            term = <double>r * (<double>(seen + r) / <double>(c + n))
        else:
            term = expected_precisions(<double>c, <double>seen, <double>n, <double>r, <double>n)
        seen += r
        add(&total, &carry, term)
    ap.sum = total
    ap.carry = carry
    ap.seen_hits = seen


cdef double average_precision_end(const AveragePrecision* ap) noexcept nogil:
    cdef double total = ap.sum + ap.carry
    if ap.num_relevant == 0:
        return NAN
    if ap.k < 0:
        return total / <double>ap.num_relevant
    if ap.normalize == NORMALIZE_HITS:
        if ap.ratio >= 0:
            return ap.ratio
        return total / <double>ap.seen_hits if ap.seen_hits > 0 else 0.0
    if ap.normalize == NORMALIZE_MIN:
        return total / <double>min(ap.k, ap.num_relevant)
    return total / <double>ap.num_relevant


# -------------------------------------------------------------------------------------------------------- interpolated

cdef double trapezoid_term(double c, double above_hits, double n, double r, Ties ties, bint from_1) noexcept nogil:
    """The trapezoids under the precisions before and at the hits of a group. `from_1`: precision 1 before all items."""
    cdef double rate, at, before, delta, slope
    if n == 1 or (r == n and ties != TIES_THRESHOLD):
        at = precisions_of_run(c, above_hits, r)
        # The precisions before the hits are the precision before the group, and those at all hits except the last.
        before = above_hits / c + (precisions_of_run(c, above_hits, r - 1) if r > 1 else 0.0)
        return 0.5 * (at + before)
    if ties == TIES_THRESHOLD:
        at = (above_hits + r) / (c + n)
        before = above_hits / c if c > 0 else 1.0 if from_1 else at
        return r * (0.5 * (before + at))
    rate = (r - 1) / (n - 1)
    harmonic_sums(c, n, &delta, &slope)
    at = (above_hits + 1 - rate) * delta + rate * slope
    if c == 0:
        before = 1 + (r - 1)
    else:
        harmonic_sums(c, n - 1, &delta, &slope)
        before = above_hits / c + (above_hits * delta + rate * slope)
    return r / n * (0.5 * (before + at))


cdef double mean_precision(double c, double above_hits, double n, double r) noexcept nogil:
    """The mean precision over the recall of a group, with its hits spread evenly over its n places. Also for weights."""
    cdef double x, old = 0.0, new = 1.0
    if above_hits == c and r == n:
        return 1.0
    if c > 0:
        x = n / c
        new = log1p_defect(x) if isfinite(x) else 1.0
        old = 1.0 - new if x < 1.0 else log1p(x) / x if isfinite(x) else (log(n) - log(c)) * (c / n)
        old *= above_hits / c
    return old + new * (r / n)


cdef double summed_area(const Table* table, const Reading* reading) noexcept nogil:
    cdef double total = 0.0, carry = 0.0, c, n, r, above_hits
    cdef Group group = [0, 0, 0, 0, 0, 0, 0]
    while next_group(table, reading.ties, &group):
        c = <double>group.above
        n = <double>group.tied
        r = <double>group.hits
        above_hits = <double>group.seen
        if above_hits == c and n == r:
            add_share(&total, &carry, group.hits, 1.0)
        elif reading.interpolation != INTERPOLATION_CONTINUOUS:
            add(&total, &carry, trapezoid_term(c, above_hits, n, r, reading.ties,
                                               reading.interpolation == INTERPOLATION_TRAPEZOID_FROM_1))
        else:
            add_share(&total, &carry, group.hits, mean_precision(c, above_hits, n, r))
    return (total + carry) / <double>table.num_relevant


cdef int64_t first_hit(int64_t level, int64_t levels, int64_t num_relevant, bint floats) noexcept nogil:
    """The least number of hits with hits / num_relevant >= level / levels: exact, or with `floats` as in common code.

    Common code compares floats, with levels of numpy's arange or linspace, which multiply the step: 3 * 0.1 > 3 / 10.
    """
    cdef int64_t hits = level * (num_relevant // levels) + (level * (num_relevant % levels) + levels - 1) // levels
    cdef double recall = <double>level * (0.1 if levels == 10 else 0.01)
    if floats:
        while hits > 0 and <double>(hits - 1) / <double>num_relevant >= recall:
            hits -= 1
        while <double>hits / <double>num_relevant < recall:
            hits += 1
    return hits


cdef int64_t* LEVELS = [0, 10, 100, 0, 0, 0, 10, 100]  # recall levels above 0, by Interpolation; 0: all that occur


# The greatest precision from a point of the hit curve on, in a walk from the last group up.
cdef struct Envelope:
    Py_ssize_t row
    int64_t seen             # relevant items above the group
    double c, n, r           # items above the group; items, and relevant items, in the group
    double end, below, best  # the precision at the group's end, the greatest beyond, the greater of both
    bint falls               # precision falls inside the group, which happens only for a mean hit curve


cdef inline Envelope envelope_begin(const Table* table) noexcept nogil:
    return Envelope(table.rows, total_hits(table), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, False)


cdef inline bint envelope_up(const Table* table, Ties ties, Envelope* at) noexcept nogil:
    """Moves to the next group up.

    The greatest precision inside a group is at its end. The exception is the mean hit curve of a group with a lower
    precision than the items above: there precision falls inside the group.
    """
    if at.row == 0:
        return False
    at.row -= 1
    at.c = <double>table.above[at.row]
    at.n = <double>table.tied[at.row]
    at.r = <double>table.hits[at.row]
    at.seen -= table.hits[at.row]
    at.below = at.best
    at.end = (<double>at.seen + at.r) / (at.c + at.r if ties == TIES_BEST else at.c + at.n)
    at.best = fmax(at.best, at.end)
    at.falls = ties == TIES_EXPECTED and product_above(at.seen, table.tied[at.row], table.hits[at.row], table.above[at.row])
    return True


cdef inline double envelope_at(const Envelope* at, int64_t whole, double rest) noexcept nogil:
    """The greatest precision from whole + rest hits on. The group must reach this number of hits."""
    cdef double hits
    if not at.falls:
        return at.best
    hits = fmax(<double>(whole - at.seen) + rest, 0.0)  # at least the start of the group, in spite of rounding
    return fmax(at.best, (<double>at.seen + hits) / (at.c + hits * (at.n / at.r)))


cdef double over_levels(const Table* table, const Reading* reading) noexcept nogil:
    """The mean, over recall levels, of the greatest precision at this recall or a higher recall."""
    cdef double total = 0.0, carry = 0.0
    cdef int64_t levels = LEVELS[<int>reading.interpolation], level = levels, relevant = table.num_relevant
    cdef bint floats = reading.interpolation >= INTERPOLATION_11_POINT_FLOAT
    cdef int64_t first = first_hit(level, levels, relevant, floats)
    cdef Envelope at = envelope_begin(table)
    while at.seen < first:
        level -= 1
        first = first_hit(level, levels, relevant, floats)
    while envelope_up(table, reading.ties, &at):
        while at.seen < first:
            add(&total, &carry, envelope_at(&at, level * (relevant // levels), <double>(level * (relevant % levels)) / levels))
            level -= 1
            first = first_hit(level, levels, relevant, floats)
    add(&total, &carry, at.best)  # recall 0
    return (total + carry) / (levels + 1)


cdef double over_hits(const Table* table, const Reading* reading) noexcept nogil:
    """The same mean over a level for each relevant item."""
    cdef double total = 0.0, carry = 0.0, rate, own, delta, slope
    cdef Envelope at = envelope_begin(table)
    while envelope_up(table, reading.ties, &at):
        if not at.falls:
            add_share(&total, &carry, table.hits[at.row], at.best)
            continue
        rate = at.r / at.n
        own = at.r
        if at.below > at.end:
            own = fmin(fmax(floor((<double>at.seen - at.below * at.c) / (at.below / rate - 1)), 0.0), at.r)
        harmonic_sums(rate * at.c, own, &delta, &slope)
        add(&total, &carry, rate * (<double>at.seen * delta + slope))
        add(&total, &carry, (at.r - own) * at.best)
    return (total + carry) / <double>table.num_relevant


cdef double interpolated_precision(const Table* table, const Reading* reading) noexcept nogil:
    """The greatest precision from k + x hits on, with x from -1/2 to 1/2. If x is rounding error, it counts as 0."""
    cdef double rest = 0.0 if whole_but_for_rounding(reading.k, reading.x) else reading.x
    cdef int64_t first = reading.k + (rest > 0.0)
    cdef Envelope at = envelope_begin(table)
    if table.num_relevant == 0:
        return NAN
    if at.seen < first:
        return 0.0
    while envelope_up(table, reading.ties, &at):
        if at.seen < first:
            return envelope_at(&at, reading.k, rest)
    return at.best


cdef double average_precision(const Table* table, const Reading* reading) noexcept nogil:
    cdef AveragePrecision ap
    if reading.interpolation == INTERPOLATION_NONE:
        average_precision_begin(&ap, reading, table.num_relevant)
        average_precision_add(&ap, table.above, table.tied, table.hits, table.rows)
        return average_precision_end(&ap)
    if table.num_relevant == 0:
        return NAN
    if reading.interpolation in (INTERPOLATION_TRAPEZOID, INTERPOLATION_TRAPEZOID_FROM_1, INTERPOLATION_CONTINUOUS):
        return summed_area(table, reading)
    return over_hits(table, reading) if reading.interpolation == INTERPOLATION_ALL_POINT else over_levels(table, reading)


# --------------------------------------------------------------------------------------------------------- at a cutoff

cdef double hits_above(const Table* table, int64_t k, Ties ties) noexcept nogil:
    """h(k): relevant items among the first k."""
    cdef int64_t seen = 0, places, c, n
    cdef Py_ssize_t i
    for i in range(table.rows):
        c = table.above[i]
        n = table.tied[i]
        if k - c < n:
            as_read(ties, &c, &n, table.hits[i])
            places = max(0, min(k - c, n))
            if ties == TIES_BEST or ties == TIES_WORST:
                return <double>(seen + places)
            return <double>seen + <double>table.hits[i] * <double>places / <double>n
        seen += table.hits[i]
    return <double>seen


cdef inline int64_t cutoff(const Table* table, const Reading* reading) noexcept nogil:
    return table.num_items if reading.k == NO_CUTOFF else reading.k


cdef double hits_at(const Table* table, const Reading* reading) noexcept nogil:
    return hits_above(table, cutoff(table, reading), reading.ties)


cdef double precision(const Table* table, const Reading* reading) noexcept nogil:
    cdef double k = <double>cutoff(table, reading)
    return NAN if k == 0 else hits_at(table, reading) / k


cdef double precision_of_ranked(const Table* table, const Reading* reading) noexcept nogil:
    cdef int64_t k = cutoff(table, reading)
    return NAN if k == 0 else hits_at(table, reading) / <double>max(1, min(k, table.num_items))


cdef double recall(const Table* table, const Reading* reading) noexcept nogil:
    return NAN if table.num_relevant == 0 else hits_at(table, reading) / <double>table.num_relevant


cdef double fall_out(const Table* table, const Reading* reading) noexcept nogil:
    """The share of the irrelevant items that are among the first k. They are counted, because k - h(k) would cancel."""
    cdef int64_t k = min(cutoff(table, reading), table.num_items), negatives = table.num_items - table.num_relevant
    cdef Group group = [0, 0, 0, 0, 0, 0, 0]
    cdef double passed
    if negatives == 0:
        return NAN
    while next_group(table, reading.ties, &group) and group.above + group.tied <= k:
        pass
    if group.hits > 0 and group.above < k:
        passed = <double>group.before + <double>group.others * <double>(k - group.above) / <double>group.tied
    else:
        passed = <double>(k - group.seen)
    return fmin(1.0, passed / <double>negatives)


cdef double f_score(const Table* table, const Reading* reading) noexcept nogil:
    cdef double hits = hits_at(table, reading)
    cdef double square = fmin(reading.x * reading.x, 1e200)  # for greater beta F equals recall, and the products stay finite
    cdef double whole = <double>cutoff(table, reading) + square * <double>table.num_relevant
    return NAN if whole == 0 else (hits + square * hits) / whole


cdef double max_enrichment_factor(const Table* table, const Reading* reading) noexcept nogil:
    cdef double k = <double>cutoff(table, reading), relevant = <double>table.num_relevant
    return NAN if relevant == 0 or k == 0 else fmin(relevant, k) / k * (<double>table.num_items / relevant)


cdef double enrichment_factor(const Table* table, const Reading* reading) noexcept nogil:
    cdef double k = <double>cutoff(table, reading), relevant = <double>table.num_relevant
    return NAN if relevant == 0 or k == 0 else hits_at(table, reading) / k * (<double>table.num_items / relevant)


cdef double normalized_enrichment_factor(const Table* table, const Reading* reading) noexcept nogil:
    cdef double most = fmin(<double>table.num_relevant, <double>cutoff(table, reading))
    return NAN if most == 0 else hits_at(table, reading) / most


cdef double r_precision(const Table* table, const Reading* reading) noexcept nogil:
    cdef int64_t relevant = table.num_relevant
    return NAN if relevant == 0 else hits_above(table, relevant, reading.ties) / <double>relevant


cdef double success(const Table* table, const Reading* reading) noexcept nogil:
    cdef int64_t k = cutoff(table, reading), places
    if table.rows > 0 and reading.ties == TIES_EXPECTED:
        places = k - table.above[0]
        if 0 < places < table.tied[0]:
            return -expm1(log_no_hit(<double>table.tied[0], <double>table.hits[0], <double>places))
    return 1.0 if hits_above(table, k, reading.ties) > 0 else 0.0


cdef double reciprocal_rank(const Table* table, const Reading* reading) noexcept nogil:
    cdef int64_t k = cutoff(table, reading)
    cdef Group group = [0, 0, 0, 0, 0, 0, 0]
    if not next_group(table, reading.ties, &group) or k <= group.above:
        return 0.0
    if reading.ties == TIES_EXPECTED and group.tied > 1:
        return expected_reciprocal_rank(<double>group.above, <double>group.tied, <double>group.hits,
                                        <double>min(k - group.above, group.tied))
    return 1.0 / <double>(group.above + 1)


cdef double mean_rank(const Table* table, const Reading* reading) noexcept nogil:
    """The mean rank of the relevant items. Those of a tie group have the middle rank of the group, as ties are read."""
    cdef Wide halves = [0, 0]
    cdef Group group = [0, 0, 0, 0, 0, 0, 0]
    if table.num_relevant == 0:
        return NAN
    while next_group(table, reading.ties, &group):
        add_product(&halves, group.hits, 2 * <uint64_t>group.above + <uint64_t>group.tied + 1)
    return 0.5 * as_double(halves) / <double>table.num_relevant


# ----------------------------------------------------------------------------------------------- precision-recall-gain

cdef double inverse_squares(int64_t first, int64_t number) noexcept nogil:
    """The sum of 1 / x**2 - 1 / b**2 over whole x from first (above 0) to b - 1, with b = first + number.

    Short sums, and terms of x below ASYMPTOTIC_FROM, are added one by one. The other terms are an integral and corrections
    (the Euler-Maclaurin formula). The next correction is below 1e-17.
    """
    cdef double total = 0.0, carry = 0.0, x = <double>first, b = <double>first + <double>number, m = <double>number, q, t
    while m > 0.0 and (number <= DIRECT_TERMS or x < ASYMPTOTIC_FROM):
        add(&total, &carry, m / b * ((x + b) / b) / (x * x))
        x += 1.0
        m -= 1.0
    if m > 0.0:
        q = x / b
        t = m / b
        add(&total, &carry, t * (t / q) / b)
        add(&total, &carry, 0.5 * t * (1.0 + q) / (x * x))
        add(&total, &carry, t * (1.0 + q + q * q) / (6.0 * x * x * x))
        add(&total, &carry, -t * (1.0 + q + q * q + q * q * q + q * q * q * q) / (30.0 * x * x * x * x * x))
    return total + carry


cdef inline double squares_between(double a, double b, double apart) noexcept nogil:
    """1 / a**2 - 1 / b**2, for a <= b. `apart` is b - a, which the difference of large numbers would round."""
    return apart / a * ((b + a) / b) / (a * b)


cdef inline double after_start(const Table* table, int64_t hits) noexcept nogil:
    """The hits less R**2 / N, where recall gain is 0. The smaller of the hits so far and the hits to come is exact enough."""
    cdef double relevant = <double>table.num_relevant, items = <double>table.num_items
    if table.num_relevant < table.num_items - table.num_relevant:
        return <double>hits - relevant * (relevant / items)
    return relevant * (<double>(table.num_items - table.num_relevant) / items) - <double>(table.num_relevant - hits)


cdef double prg_auc(const Table* table, const Reading* reading) noexcept nogil:
    """1 minus the integral of 1 - precision gain over recall gain from 0 to 1.

    At h hits and f others, 1 - precision gain is c f / h, and recall gain is 1 + c - c R / h, with c = R / (N - R). So the
    rise from a to b hits at f others loses c**2 R / 2 times f (1 / a**2 - 1 / b**2). Recall gain 0 is at R**2 / N hits.
    """
    cdef double total = 0.0, carry = 0.0, relevant = <double>table.num_relevant, c, start, seen, others, step, b, apart
    cdef int64_t first, rest, place
    cdef Group group = [0, 0, 0, 0, 0, 0, 0]
    if table.num_relevant == 0 or table.num_items == table.num_relevant:
        return NAN
    c = relevant / <double>(table.num_items - table.num_relevant)
    start = relevant * (relevant / <double>table.num_items)
    while next_group(table, reading.ties, &group):
        seen = <double>group.seen
        b = <double>(group.seen + group.hits)
        others = <double>group.before
        if after_start(table, group.seen + group.hits) <= 0.0:
            continue
        if reading.ties == TIES_THRESHOLD:  # a straight line
            step = <double>group.others / <double>group.hits
            apart = <double>group.hits
            if after_start(table, group.seen) < 0.0:
                others -= step * after_start(table, group.seen)
                seen = start
                apart = after_start(table, group.seen + group.hits)
            add(&total, &carry, apart / seen / b * (others / seen + <double>(group.before + group.others) / b))
            continue
        step = <double>group.others / <double>(group.hits + 1)  # on average, the others before a hit of the group
        first = group.seen
        rest = group.hits
        if after_start(table, first) < 0.0:
            place = first + 1 + <int64_t>floor(-after_start(table, first))  # the next whole number of hits
            rest -= place - first
            others += step * <double>(place - first)
            add(&total, &carry, others * squares_between(start, <double>place, after_start(table, place)))
            first = place
        if rest > 0:
            add(&total, &carry, others * squares_between(<double>first, b, <double>rest))
            add(&total, &carry, step * inverse_squares(first, rest))
    return 1.0 - (total + carry) * c * c * (0.5 * relevant)


# --------------------------------------------------------------------------------------------------- early recognition

cdef inline double weight_below(double alpha, int64_t above, int64_t num_items) noexcept nogil:
    """exp(-alpha * above / num_items). The exponent has two parts, because its rounding error would be in the result."""
    cdef double c = <double>above, n = <double>num_items, share = c / n, exponent = alpha * share
    cdef double rest = (fma(-share, n, c) + (<double>(above - <int64_t>c) - share * <double>(num_items - <int64_t>n))) / n
    return exp(-exponent) * (1.0 - (fma(alpha, share, -exponent) + alpha * rest))


cdef inline double mean_weight(double beta, double n) noexcept nogil:
    """Mean of exp(-beta * j) over j = 0..n-1."""
    if n == 1.0 or beta * n == 0.0:
        return 1.0
    return expm1(-beta * n) / (n * expm1(-beta))


cdef double rie(const Table* table, const Reading* reading) noexcept nogil:
    """The weight exp(-alpha * rank / N) of the relevant items, divided by its mean over random orders."""
    cdef double total = 0.0, carry = 0.0, alpha = reading.x, beta = alpha / <double>table.num_items
    cdef double whole = mean_weight(beta, <double>table.num_items)
    cdef Group group = [0, 0, 0, 0, 0, 0, 0]
    if table.num_relevant == 0:
        return NAN
    while next_group(table, reading.ties, &group):
        add_share(&total, &carry, group.hits,
                  weight_below(alpha, group.above, table.num_items) * mean_weight(beta, <double>group.tied) / whole)
    return (total + carry) / <double>table.num_relevant


# Coefficients of log(sinh(z) / z) in z**2. Eight terms are exact to 3e-17 below z = 0.3.
cdef double* LOG_SINHC = [1.0 / 6, -1.0 / 180, 1.0 / 2835, -1.0 / 37800, 1.0 / 467775, -691.0 / 3831077250.0,
                          2.0 / 127702575.0, -3617.0 / 2605132530000.0]


cdef double log_sinhc_slope(double u, double v) noexcept nogil:
    """(log_sinhc(sqrt(u)) - log_sinhc(sqrt(v))) / (u - v), with u - v divided out of every term of the series."""
    cdef double total = 0.0, part = 1.0, power = 1.0
    cdef int i
    for i in range(8):
        total += LOG_SINHC[i] * part
        power *= v
        part = u * part + power
    return total


cdef inline double log_sinhc(double z) noexcept nogil:
    """log(sinh(z) / z), z >= 0."""
    if z < 0.3:
        return z * z * log_sinhc_slope(z * z, 0.0)
    return z + log1p(-exp(-2 * z)) - log(2 * z)


cdef double log_sinhc_rise(double small, double rise) noexcept nogil:
    """log_sinhc(small + rise) - log_sinhc(small), for small > 0 and rise >= 0, without cancellation."""
    cdef double large = small + rise
    if rise > small or rise > 1.0:
        return log_sinhc(large) - log_sinhc(small)
    if large < 0.3:
        return rise * (large + small) * log_sinhc_slope(large * large, small * small)
    return rise + log1p(exp(-2 * small) * -expm1(-2 * rise) / -expm1(-2 * small)) - log1p(rise / small)


cdef inline double gain_of_run(double beta, int64_t run, int64_t negatives) noexcept nogil:
    """The weight that relevant items gain if they are at the first places instead of the last."""
    return <double>run * mean_weight(beta, <double>run) * -expm1(-beta * <double>negatives) if run > 0 else 0.0


cdef double bedroc(const Table* table, const Reading* reading) noexcept nogil:
    """(S - S_min) / (S_max - S_min), S the weight exp(-alpha * rank / N) of the relevant items.

    The sum of the gains of the relevant items over their places in the worst order, exp(-b x) * (1 - exp(-b d)), where d
    irrelevant items are below the item. Every term is positive, for any alpha and any number of relevant items.
    """
    cdef double total = 0.0, carry = 0.0, r, others, last, gain, low, alpha = reading.x
    # For a tiny alpha this is ROC AUC. The bound keeps beta above 0, because beta 0 would give 0 / 0.
    cdef double beta = fmax(alpha / <double>table.num_items, 1e-300)
    cdef int64_t lead = 0, below, num_items = table.num_items, negatives = num_items - table.num_relevant
    cdef Group group = [0, 0, 0, 0, 0, 0, 0]
    if table.num_relevant == 0 or negatives == 0:
        return NAN
    while next_group(table, reading.ties, &group):
        r = <double>group.hits
        others = <double>group.others
        below = negatives - group.before - group.others
        if group.before == 0 and group.others == 0:
            lead = group.seen + group.hits  # all items so far are relevant: a single run, as in a perfect ranking
            continue
        # The r items at the last places of the group, and the gain from spreading them over the group.
        last = r * (weight_below(alpha, group.above + group.others, num_items) * mean_weight(beta, r))
        low = -expm1(-beta * <double>below)
        gain = 0.5 * beta * others + log_sinhc_rise(0.5 * beta * r, 0.5 * beta * others) if group.others > 0 else 0.0
        if gain <= 1.0:
            add(&total, &carry, last * (expm1(gain) + low))
        else:
            add(&total, &carry, r * (weight_below(alpha, group.above, num_items) * mean_weight(beta, <double>group.tied)
                                     - weight_below(alpha, negatives + group.seen, num_items) * mean_weight(beta, r)))
    add(&total, &carry, gain_of_run(beta, lead, negatives))
    return fmin(1.0, (total + carry) / gain_of_run(beta, table.num_relevant, negatives))


# ------------------------------------------------------------------------------------------------------ order accuracy

cdef double right_share(const double* of, double hits) noexcept nogil:
    """The share of the pairs above the cutoff that are in the right order, with so many hits in the places of the cut group.

    of: the hits and the others above the group, their pairs in the right order, the places, and the share of the group's own
    pairs that are in the right order.
    """
    cdef double others = of[3] - hits
    return (of[2] + of[0] * others + of[4] * hits * others) / ((of[0] + hits) * (of[1] + others))


cdef double best_right_share(const double* of, int64_t low, int64_t high) noexcept nogil:
    """The greatest share: with the relevant items first, the share of wrong pairs falls up to a number of hits, then rises."""
    cdef double above = of[0], others = of[1], all_others = of[1] + of[3], wrong = above * others - of[2], root, hits
    cdef double square = wrong * wrong - others * (others * above * all_others - wrong * (all_others - above))
    cdef double best = fmax(right_share(of, <double>low), right_share(of, <double>high))
    if others > 0.0 and square > 0.0:
        root = floor((sqrt(square) - wrong) / others)
        hits = fmin(fmax(root, <double>low), <double>high)
        best = fmax(best, right_share(of, hits))
        hits = fmin(fmax(root + 1.0, <double>low), <double>high)
        best = fmax(best, right_share(of, hits))
    return best


cdef double cut_right_share(double* of, int64_t n, int64_t r, Ties ties) noexcept nogil:
    """The share of pairs in the right order if the cutoff is inside a group of n items, r of them relevant.

    Orders without a pair above the cutoff do not count. NaN if there are only such orders.
    """
    cdef int64_t m = <int64_t>of[3], low = max(0, m - (n - r)), high = min(r, m)
    cdef double mean, all_others = of[1] + of[3], u, v, right, wrong, variance = hits_variance(n, r, m)
    low = max(low, <int64_t>(of[0] == 0.0))
    high = min(high, m - <int64_t>(of[1] == 0.0))
    if low > high:
        return NAN
    of[4] = 0.5 if ties == TIES_EXPECTED else <double>(ties == TIES_BEST)
    if ties == TIES_BEST:
        return best_right_share(of, low, high)
    if ties == TIES_WORST:  # with the relevant items last, more of them make the share lower
        return right_share(of, <double>high)
    if variance > 1e8:
        # The share is a constant minus two fractions with a pole each. Their spread is small, as in `expected_hit_ratio`.
        mean = of[3] * (<double>r / <double>n)
        u = of[0] + mean
        v = all_others - mean
        wrong = of[0] * of[1] - of[2]
        right = (of[2] + 0.5 * of[0] * (of[3] + of[0])) / (all_others + of[0])
        wrong = (wrong + 0.5 * all_others * of[1]) / (all_others + of[0])
        return right_share(of, mean) + variance * (right / (u * u * u) - wrong / (v * v * v))
    return mean_over_hits(n, r, m, low, high, right_share, of)


cdef double order_accuracy(const Table* table, const Reading* reading) noexcept nogil:
    """The share of the pairs of a relevant and another item, both ranked and above the cutoff, that are in the right order."""
    cdef Wide halves = [0, 0]
    cdef Wide pairs = [0, 0]
    cdef int64_t stop = table.num_items, others, cut = 0, tied = 0, hits = 0
    cdef double share
    cdef double[5] of
    cdef Table above = table[0]
    cdef Group group = [0, 0, 0, 0, 0, 0, 0]
    if reading.k >= 0:
        stop = min(stop, reading.k)
    above.rows = 0
    while above.rows < table.rows and table.above[above.rows] + table.tied[above.rows] <= stop:
        hits += table.hits[above.rows]
        above.rows += 1
    others = stop - hits
    if above.rows < table.rows and table.above[above.rows] < stop:
        cut = stop - table.above[above.rows]
        tied = table.tied[above.rows]
        others = table.above[above.rows] - hits
    while next_group(&above, reading.ties, &group):
        add_product(&halves, group.hits, 2 * <uint64_t>(others - group.before - group.others) + <uint64_t>group.others)
    if cut > 0:
        of[0], of[1], of[2], of[3] = <double>hits, <double>others, 0.5 * as_double(halves), <double>cut
        share = cut_right_share(of, tied, table.hits[above.rows], reading.ties)
        return share if isnan(share) else fmin(1.0, share)
    if hits == 0 or others == 0:
        return NAN
    add_product(&pairs, hits, others)
    return fmin(1.0, 0.5 * as_double(halves) / as_double(pairs))


# -------------------------------------------------------------------------------------------------------------- chance

cdef inline Reading plain_reading(Ties ties) noexcept nogil:
    return Reading(ties, NORMALIZE_RELEVANT, INTERPOLATION_NONE, NO_CUTOFF, 0.0, 1.0)


cdef double one_group(const Table* table, Ties ties) noexcept nogil:
    """Average precision if all items of the table were tied."""
    cdef int64_t above = 0, hits = total_hits(table)
    cdef Table group = Table(&above, &table.num_items, &hits, hits > 0, table.num_items, table.num_relevant)
    cdef Reading reading = plain_reading(ties)
    return average_precision(&group, &reading)


cdef double chance(const Table* table, const Reading* reading) noexcept nogil:
    return one_group(table, TIES_EXPECTED)


cdef double minimum(const Table* table, const Reading* reading) noexcept nogil:
    return one_group(table, TIES_WORST)


cdef double lost_precisions(int64_t above, int64_t seen, int64_t tied, int64_t hits, Ties ties) noexcept nogil:
    """The sum of 1 - precision over the relevant items of a group, from the counts of irrelevant items."""
    cdef double delta, slope, n = <double>tied, r = <double>hits
    if ties == TIES_THRESHOLD or tied == 1:
        return r * (<double>(above - seen + tied - hits) / (<double>above + n))
    as_read(ties, &above, &tied, hits)
    harmonic_sums(<double>above, <double>tied, &delta, &slope)
    if tied == hits:
        return <double>(above - seen) * delta
    return r / n * (<double>(above - seen) * delta + <double>(tied - hits) / (n - 1) * (slope - delta))


cdef double normalized_average_precision(const Table* table, const Reading* asked) noexcept nogil:
    cdef Reading reading = plain_reading(asked.ties)
    cdef double total = 0.0, carry = 0.0, chance = one_group(table, TIES_EXPECTED), lost
    cdef int64_t hits = total_hits(table)
    cdef Group group = [0, 0, 0, 0, 0, 0, 0]
    if chance <= 0.5:
        return (average_precision(table, &reading) - chance) / (1.0 - chance)
    if table.num_relevant == 0 or hits == table.num_items == table.num_relevant:
        return NAN
    # Near 1, from the differences of both from 1.
    lost = lost_precisions(0, 0, table.num_items, hits, TIES_EXPECTED)
    while next_group(table, TIES_EXPECTED, &group):
        add(&total, &carry, lost_precisions(group.above, group.seen, group.tied, group.hits, asked.ties))
    return (lost - (total + carry)) / (lost + <double>(table.num_relevant - hits))


# --------------------------------------------------------------------------------------------------------- the records

cdef Record[NUM_MEASURES] FOUND
RECORDS = FOUND


cdef void record(int measure, const char* method, Formula formula, Readings readings, int takes=0,
                 Domain domain=NO_NUMBER) noexcept:
    RECORDS[measure] = Record(method, formula, readings, takes, domain)


record(MEASURE_AVERAGE_PRECISION, "average_precision", average_precision, ALL_READINGS, CUTOFF | WEIGHTS | INTERPOLATES)
record(MEASURE_PRECISION, "precision", precision, ALL_READINGS, CUTOFF | DIVIDES)
record(MEASURE_RECALL, "recall", recall, ALL_READINGS, CUTOFF)
record(MEASURE_F_SCORE, "f_score", f_score, ALL_READINGS, CUTOFF | DIVIDES, NOT_NEGATIVE)
record(MEASURE_HITS, "hits_at", hits_at, ALL_READINGS, CUTOFF)
record(MEASURE_SUCCESS, "success", success, NO_THRESHOLD, CUTOFF)
record(MEASURE_R_PRECISION, "r_precision", r_precision, ALL_READINGS)
record(MEASURE_RECIPROCAL_RANK, "reciprocal_rank", reciprocal_rank, NO_THRESHOLD, CUTOFF)
record(MEASURE_ROC_AUC, "roc_auc", roc_auc, ALL_READINGS, ALL_RANKS | WEIGHTS)
record(MEASURE_ROC_ENRICHMENT, "roc_enrichment", roc_enrichment, ALL_READINGS, ALL_RANKS, POSITIVE)
record(MEASURE_ENRICHMENT_FACTOR, "enrichment_factor", enrichment_factor, ALL_READINGS, CUTOFF | DIVIDES | ALL_RANKS)
record(MEASURE_MAX_ENRICHMENT_FACTOR, "max_enrichment_factor", max_enrichment_factor, ONE_READING,
       CUTOFF | DIVIDES | ALL_RANKS)
record(MEASURE_NORMALIZED_ENRICHMENT_FACTOR, "normalized_enrichment_factor", normalized_enrichment_factor, ALL_READINGS,
       CUTOFF)
record(MEASURE_RIE, "rie", rie, NO_THRESHOLD, ALL_RANKS, POSITIVE)
record(MEASURE_BEDROC, "bedroc", bedroc, NO_THRESHOLD, ALL_RANKS, POSITIVE)
record(MEASURE_LOG_AUC, "log_auc", log_auc, ALL_READINGS, ALL_RANKS, SHARE)
record(MEASURE_ADJUSTED_LOG_AUC, "log_auc", adjusted_log_auc, ALL_READINGS, ALL_RANKS, SHARE)
record(MEASURE_CHANCE, "chance", chance, ONE_READING)
record(MEASURE_MINIMUM, "minimum", minimum, ONE_READING)
record(MEASURE_NORMALIZED_AVERAGE_PRECISION, "normalized_average_precision", normalized_average_precision, ALL_READINGS)
record(MEASURE_AUAC, "auac", auac, ALL_READINGS, ALL_RANKS)
record(MEASURE_FALL_OUT, "fall_out", fall_out, ALL_READINGS, CUTOFF | ALL_RANKS)
record(MEASURE_MEAN_RANK, "mean_rank", mean_rank, ALL_READINGS, ALL_RANKS)
record(MEASURE_PARTIAL_ROC_AUC, "roc_auc", partial_roc_auc, ALL_READINGS, ALL_RANKS, POSITIVE)
record(MEASURE_PARTIAL_ROC_AREA, "roc_auc", partial_roc_area, ALL_READINGS, ALL_RANKS, POSITIVE)
record(MEASURE_INTERPOLATED_PRECISION, "interpolated_precision", interpolated_precision, ALL_READINGS, 0, NOT_NEGATIVE)
record(MEASURE_PRECISION_OF_RANKED, "precision", precision_of_ranked, ALL_READINGS, CUTOFF | DIVIDES)
record(MEASURE_ROC_AUC_FROM_FPR, "roc_auc", roc_auc_from_fpr, ALL_READINGS, ALL_RANKS, SHARE)
record(MEASURE_ROC_AREA_FROM_FPR, "roc_auc", roc_area_from_fpr, ALL_READINGS, ALL_RANKS, SHARE)
record(MEASURE_ROC_AUC_FROM_TPR, "roc_auc", roc_auc_from_tpr, ALL_READINGS, ALL_RANKS, SHARE)
record(MEASURE_ROC_AREA_FROM_TPR, "roc_auc", roc_area_from_tpr, ALL_READINGS, ALL_RANKS, SHARE)
record(MEASURE_ORDER_ACCURACY, "order_accuracy", order_accuracy, NO_THRESHOLD, CUTOFF)
record(MEASURE_PRG_AUC, "prg_auc", prg_auc, ALL_READINGS, ALL_RANKS)


cdef double read_measure(Measure measure, const Table* table, const Reading* reading) noexcept nogil:
    return RECORDS[<int>measure].formula(table, reading)


def readings():
    """The number of readings of ties of each measure, by the method of the curves."""
    cdef int i
    return {RECORDS[i].method.decode(): <int>RECORDS[i].readings for i in range(<int>NUM_MEASURES)}
