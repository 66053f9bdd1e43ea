"""Kernels that read numbers off a hit-curve table.

Notation, as in the docstrings of the public methods: a row is a tie group of ``n`` items, ``r`` of them relevant,
with ``c`` items and ``H`` relevant items ranked above it; N items and R relevant items in all.

Every sum is over terms of one sign, evaluated without cancellation, and compensated (Neumaier 1974), so that a result
is good to a few units in the last place for any table up to N = 2**62. Nothing here depends on the order of the
input, the number of workers or the instruction set.
"""
from libc.math cimport NAN, exp, expm1, floor, fmax, fmin, log, log1p
from libc.stdint cimport int64_t


# ------------------------------------------------------------------------------------------------------- harmonic sums

cdef enum:
    # From this denominator on, four terms of the asymptotic series are exact to 2e-17 (the next one is
    # 0.0042 / a**8); shorter sums are added term by term.
    ASYMPTOTIC_FROM = 64
    DIRECT_TERMS = 64


cdef inline double log1p_defect(double x) noexcept nogil:
    """x - log1p(x) for x >= 0, without cancellation (series of artanh y, y = x / (2 + x))."""
    cdef double y, square, power, total
    cdef int i
    if x > 1.0:
        return x - log1p(x)
    y = x / (2.0 + x)
    square = y * y
    power = square
    total = 0.0
    for i in range(3, 60, 2):
        total += power / i
        power *= square
        if power < 1e-18:
            break
    return x * y - 2.0 * y * total


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
        # The rest starts at c + direct; j there counts from `direct`.
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
        tail_slope = a * log1p_defect(x) + 0.5 * log1p(x) - c * series
        add(&total, &carry, tail)
        add(&moment, &moment_carry, tail_slope)
        add(&moment, &moment_carry, skipped * tail)
    delta[0] = total + carry
    slope[0] = moment + moment_carry


cdef inline double precisions_of_run(double c, double above_hits, double m) noexcept nogil:
    """sum (H + i) / (c + i), i = 1..m: the precisions at m relevant items that follow one another."""
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

# Nodes and weights of the 8-point Gauss-Legendre rule on [-1, 1] (positive half).
cdef double* GAUSS_NODE = [0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363]
cdef double* GAUSS_WEIGHT = [0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763]

cdef enum:
    # Sums up to this long are added term by term; longer ones are smooth enough for 8 Gauss points.
    DIRECT_PRODUCT = 4096
    DIRECT_RANKS = 16384


cdef double log_no_hit(double n, double r, double m) noexcept nogil:
    """log of C(n - r, m) / C(n, m): no relevant item among m of n places, r of the n items relevant. m may be real."""
    cdef double fewer = fmin(r, m), more = fmax(r, m)
    cdef double total = 0.0, carry = 0.0, middle, half
    cdef int64_t i
    if m >= n - r + 1:
        return -1e300
    if fewer * more / n > 800.0:
        return -800.0
    if r <= DIRECT_PRODUCT:
        for i in range(<int64_t>r):
            add(&total, &carry, log1p(-m / (n - i)))
        return total + carry if total > -800.0 else -800.0  # minus infinity where m / n rounds to 1
    if m <= DIRECT_PRODUCT and m == floor(m):
        for i in range(<int64_t>m):
            add(&total, &carry, log1p(-r / (n - i)))
        return total + carry if total > -800.0 else -800.0  # minus infinity where r / n rounds to 1
    # Midpoint rule read backwards: the sum over `fewer` unit steps is an integral, its error below 1 / n**2.
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
    """Mean of 1 / (c + place of the first relevant item) over all orders; 0 where it is beyond place m."""
    cdef double last = fmin(m, n - r + 1)
    cdef double delta, slope, total = 0.0, carry = 0.0, p = r / n, left, right, middle, half, width
    cdef int64_t j, direct
    cdef int i
    if r == 1:
        harmonic_sums(c, last, &delta, &slope)
        return delta / n
    direct = <int64_t>fmin(last, DIRECT_RANKS)
    for j in range(1, direct + 1):
        add(&total, &carry, p / (c + j))
        p *= (n - j - r + 1) / (n - j)
        if p < 1e-25 * total:
            return total + carry
    if direct < last:
        # Euler-Maclaurin for the smooth rest, in panels on which the density falls by a bounded factor.
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


cdef double expected_hit_ratio(double c, double above_hits, double n, double r, double m, double before) noexcept nogil:
    """Mean over all orders of (sum of precisions at the hits above the cutoff) / (hits above the cutoff).

    ``before`` is the sum of precisions above the group, m of the group's n places lie above the cutoff. Given that h
    of its r relevant items fall there (hypergeometric), they are in random order among the m places.
    """
    cdef double delta, slope, low, high, mode, h, weight, start, total = 0.0, carry = 0.0, mass = 0.0, mass_carry = 0.0
    cdef double mean, variance, linear, square, u, at_pole
    cdef int direction
    harmonic_sums(c, m, &delta, &slope)
    # Given h: (before + linear * h + square * h * (h - 1)) / (H + h)
    linear = (above_hits + 1) * delta / m
    square = (slope - delta) / (m * (m - 1)) if m > 1 else 0.0
    mean = m * (r / n)
    variance = mean * ((n - r) / n) * ((n - m) / (n - 1)) if n > 1 else 0.0
    if variance > 1e8:
        # The spread relative to the mean is below 1e-4, so the second-order expansion is exact to 1e-16.
        u = above_hits + mean
        at_pole = before - linear * above_hits + square * above_hits * (above_hits + 1)
        return (before + linear * mean + square * mean * (mean - 1)) / u + at_pole / u * (variance / (u * u))
    low = fmax(0.0, m - (n - r))
    high = fmin(r, m)
    mode = fmin(fmax(floor((r + 1) * ((m + 1) / (n + 2))), low), high)
    for direction in range(2):
        h = mode
        weight = 1.0
        start = 1.0
        if direction == 1:
            # Downwards from the mode, which has been counted.
            if mode <= low:
                break
            weight = h * (n - r - m + h) / ((r - h + 1) * (m - h + 1))
            h -= 1
        while True:
            add(&mass, &mass_carry, weight)
            if above_hits + h > 0:
                add(&total, &carry,
                    weight * ((before + linear * h + square * h * (h - 1)) / (above_hits + h)))
            if weight < 1e-22 * start:
                break
            if direction == 0:
                if h >= high:
                    break
                weight *= (r - h) * (m - h) / ((h + 1) * (n - r - m + h + 1))
                h += 1
            else:
                if h <= low:
                    break
                weight *= h * (n - r - m + h) / ((r - h + 1) * (m - h + 1))
                h -= 1
    return (total + carry) / (mass + mass_carry)


# --------------------------------------------------------------------------------------------------- average precision

cdef void average_precision_begin(AveragePrecision* ap, const Reading* reading, int64_t num_relevant) noexcept nogil:
    ap.ties = reading.ties
    ap.normalize = reading.normalize
    ap.k = reading.k
    ap.num_relevant = num_relevant
    ap.seen_hits = 0
    ap.done = False
    ap.sum = 0.0
    ap.carry = 0.0
    ap.ratio = -1.0


cdef double cut_group(AveragePrecision* ap, int64_t above, int64_t tied, int64_t hits, int64_t places) noexcept nogil:
    """What a group adds to the sum of precisions when only its first `places` items lie above the cutoff.

    Leaves in ap.seen_hits the number of hits above the cutoff where that is a whole number.
    """
    cdef double share
    cdef int64_t first
    if ap.ties == TIES_EXPECTED:
        if ap.normalize == NORMALIZE_HITS:
            ap.ratio = expected_hit_ratio(<double>above, <double>ap.seen_hits, <double>tied, <double>hits,
                                          <double>places, ap.sum + ap.carry)
        return expected_precisions(<double>above, <double>ap.seen_hits, <double>tied, <double>hits, <double>places)
    if ap.ties == TIES_THRESHOLD:
        share = <double>hits * <double>places / <double>tied
        if ap.normalize == NORMALIZE_HITS:
            ap.ratio = (ap.sum + ap.carry + share * ((ap.seen_hits + share) / <double>ap.k)) / (ap.seen_hits + share)
        return share * ((ap.seen_hits + share) / <double>ap.k)
    first = above
    if ap.ties == TIES_WORST:
        first = above + (tied - hits)
        places -= tied - hits
    places = min(max(places, 0), hits)
    if places == 0:
        return 0.0
    share = precisions_of_run(<double>first, <double>ap.seen_hits, <double>places)
    ap.seen_hits += places
    return share


cdef void average_precision_add(AveragePrecision* ap, const int64_t* above, const int64_t* tied, const int64_t* hits,
                                Py_ssize_t rows) noexcept nogil:
    cdef Py_ssize_t i
    cdef int64_t c, n, r, seen = ap.seen_hits
    cdef double term, total = ap.sum, carry = ap.carry
    if ap.done:
        return
    for i in range(rows):
        c = above[i]
        n = tied[i]
        r = hits[i]
        if ap.k >= 0 and ap.k - c < n:
            ap.done = True
            if ap.k > c:
                ap.sum = total
                ap.carry = carry
                ap.seen_hits = seen
                term = cut_group(ap, c, n, r, ap.k - c)
                add(&total, &carry, term)
                seen = ap.seen_hits
            break
        if n == 1:
            term = <double>(seen + 1) / <double>(c + 1)
        elif ap.ties == TIES_THRESHOLD:
            term = <double>r * (<double>(seen + r) / <double>(c + n))
        elif ap.ties == TIES_EXPECTED:
            term = expected_precisions(<double>c, <double>seen, <double>n, <double>r, <double>n)
        elif ap.ties == TIES_BEST:
            term = precisions_of_run(<double>c, <double>seen, <double>r)
        else:
            term = precisions_of_run(<double>(c + n - r), <double>seen, <double>r)
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


cdef double average_precision_of(const Table* table, const Reading* reading) noexcept nogil:
    cdef AveragePrecision ap
    average_precision_begin(&ap, reading, table.num_relevant)
    average_precision_add(&ap, table.above, table.tied, table.hits, table.rows)
    return average_precision_end(&ap)


# -------------------------------------------------------------------------------------------------------- interpolated

cdef double run_trapezoids(double c, double above_hits, double m) noexcept nogil:
    """Twice the trapezoids under the precisions before and at m relevant items that follow one another."""
    cdef double at, before
    if c == 0:
        return 2 * m
    at = precisions_of_run(c, above_hits, m)
    if m == 1:
        before = above_hits / c
    else:
        # The precisions before the m items are those at the m - 1 first of them, and the one before them all.
        before = above_hits / c + precisions_of_run(c, above_hits, m - 1)
    return at + before


cdef double trapezoid_term(double c, double above_hits, double n, double r, Ties ties) noexcept nogil:
    cdef double rate, at, before, delta, slope
    if ties == TIES_BEST or n == 1:
        return 0.5 * run_trapezoids(c, above_hits, r)
    if ties == TIES_WORST:
        return 0.5 * run_trapezoids(c + (n - r), above_hits, r)
    if ties == TIES_THRESHOLD:
        at = (above_hits + r) / (c + n)
        before = above_hits / c if c > 0 else at
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


cdef double run_integral(double c, double above_hits, double n, double r) noexcept nogil:
    """Integral of precision over recall, times R, with the hits spread evenly over the group's n places."""
    cdef double x
    if c == 0:
        return r * (r / n)
    x = n / c
    return r / n * (above_hits * log1p(x) + r * (log1p_defect(x) / x))


cdef double continuous_term(double c, double above_hits, double n, double r, Ties ties) noexcept nogil:
    if ties == TIES_BEST:
        return run_integral(c, above_hits, r, r)
    if ties == TIES_WORST:
        return run_integral(c + (n - r), above_hits, r, r)
    return run_integral(c, above_hits, n, r)


cdef double summed_area(const Table* table, const Reading* reading) noexcept nogil:
    cdef double total = 0.0, carry = 0.0, c, n, r, above_hits
    cdef int64_t seen = 0
    cdef Py_ssize_t i
    for i in range(table.rows):
        c = <double>table.above[i]
        n = <double>table.tied[i]
        r = <double>table.hits[i]
        above_hits = <double>seen
        if reading.interpolation == INTERPOLATION_TRAPEZOID:
            add(&total, &carry, trapezoid_term(c, above_hits, n, r, reading.ties))
        else:
            add(&total, &carry, continuous_term(c, above_hits, n, r, reading.ties))
        seen += table.hits[i]
    return (total + carry) / <double>table.num_relevant


cdef bint reaches(int64_t level, int64_t levels, int64_t hits, int64_t num_relevant, bint floats) noexcept nogil:
    """hits / num_relevant >= level / levels, in whole numbers as long as they fit; or as well-known code has it in floats.

    That code makes its levels by numpy's arange or linspace, which multiply the step: 3 * 0.1 is above 3 / 10.
    """
    cdef double step = 0.1 if levels == 10 else 0.01
    if floats:
        return <double>hits / <double>num_relevant >= <double>level * step
    if num_relevant < (<int64_t>1 << 55):
        return hits * levels >= level * num_relevant
    return <double>hits * <double>levels >= <double>level * <double>num_relevant


cdef double envelope(const Table* table, const Reading* reading) noexcept nogil:
    """Mean, over recall levels, of the greatest precision at that recall or a higher one.

    Walks from the last group up with the greatest precision so far. Within a group precision is greatest at its
    end, but for the mean hit curve of a group that is poorer than what lies above it: there it falls all along.
    """
    cdef double total = 0.0, carry = 0.0, best = 0.0, end, c, n, r, above_hits, below, rate, h, delta, slope, own
    cdef int64_t seen = 0, level, levels = 0
    cdef Py_ssize_t i
    cdef bint falls, floats = False
    for i in range(table.rows):
        seen += table.hits[i]
    if reading.interpolation == INTERPOLATION_11_POINT or reading.interpolation == INTERPOLATION_11_POINT_FLOAT:
        levels = 10
    elif reading.interpolation == INTERPOLATION_101_POINT or reading.interpolation == INTERPOLATION_101_POINT_FLOAT:
        levels = 100
    if reading.interpolation == INTERPOLATION_11_POINT_FLOAT or reading.interpolation == INTERPOLATION_101_POINT_FLOAT:
        floats = True
    level = levels
    while level > 0 and not reaches(level, levels, seen, table.num_relevant, floats):
        level -= 1
    for i in range(table.rows - 1, -1, -1):
        c = <double>table.above[i]
        n = <double>table.tied[i]
        r = <double>table.hits[i]
        seen -= table.hits[i]
        above_hits = <double>seen
        below = best
        end = (above_hits + r) / (c + r) if reading.ties == TIES_BEST else (above_hits + r) / (c + n)
        best = fmax(best, end)
        falls = reading.ties == TIES_EXPECTED and above_hits * n > r * c
        if levels == 0:
            own = r
            if falls:
                rate = r / n
                if below > end:
                    own = fmin(fmax(floor((above_hits - below * c) / (below / rate - 1)), 0.0), r)
                harmonic_sums(rate * c, own, &delta, &slope)
                add(&total, &carry, rate * (above_hits * delta + slope))
                own = r - own
            add(&total, &carry, own * best)
        else:
            while level > 0 and not reaches(level, levels, seen, table.num_relevant, floats):
                if falls:
                    # Hits above the group's start at this level: its numerator is a whole number.
                    if table.num_relevant < (<int64_t>1 << 55):
                        h = <double>(level * table.num_relevant - levels * seen) / levels
                    else:
                        h = <double>level * <double>table.num_relevant / levels - above_hits
                    h = fmax(h, 0.0)  # the group's start itself, where rounding put it just below the level
                    add(&total, &carry, fmax(best, (above_hits + h) / (c + h * (n / r))))
                else:
                    add(&total, &carry, best)
                level -= 1
    if levels == 0:
        return (total + carry) / <double>table.num_relevant
    add(&total, &carry, best)  # recall 0
    return (total + carry) / (levels + 1)


cdef double interpolated(const Table* table, const Reading* reading) noexcept nogil:
    if table.num_relevant == 0:
        return NAN
    if reading.interpolation == INTERPOLATION_TRAPEZOID or reading.interpolation == INTERPOLATION_CONTINUOUS:
        return summed_area(table, reading)
    return envelope(table, reading)


# --------------------------------------------------------------------------------------------------------- at a cutoff

cdef double hits_above(const Table* table, int64_t k, Ties ties) noexcept nogil:
    """h(k): relevant items among the first k."""
    cdef int64_t seen = 0, places, n, r
    cdef Py_ssize_t i
    for i in range(table.rows):
        places = k - table.above[i]
        n = table.tied[i]
        r = table.hits[i]
        if places >= n:
            seen += r
            continue
        if places > 0:
            if ties == TIES_BEST:
                seen += min(r, places)
            elif ties == TIES_WORST:
                seen += max(0, places - (n - r))
            else:
                return <double>seen + <double>r * <double>places / <double>n
        break
    return <double>seen


cdef double success_above(const Table* table, int64_t k, Ties ties) noexcept nogil:
    cdef int64_t places
    if table.num_relevant == 0:
        return NAN
    if table.rows == 0 or k <= table.above[0]:
        return 0.0
    places = k - table.above[0]
    if ties == TIES_EXPECTED and places < table.tied[0]:
        return -expm1(log_no_hit(<double>table.tied[0], <double>table.hits[0], <double>places))
    return 1.0 if hits_above(table, k, ties) > 0 else 0.0


cdef double reciprocal_rank(const Table* table, int64_t k, Ties ties) noexcept nogil:
    cdef int64_t rank
    if table.num_relevant == 0:
        return NAN
    if table.rows == 0 or (k >= 0 and k <= table.above[0]):
        return 0.0
    if ties == TIES_EXPECTED and table.tied[0] > 1:
        return expected_reciprocal_rank(<double>table.above[0], <double>table.tied[0], <double>table.hits[0],
                                        <double>(table.tied[0] if k < 0 else min(k - table.above[0], table.tied[0])))
    rank = table.above[0] + 1
    if ties == TIES_WORST:
        rank += table.tied[0] - table.hits[0]
    return 1.0 / <double>rank if k < 0 or rank <= k else 0.0


# ----------------------------------------------------------------------------------------------------------------- ROC

cdef int64_t total_hits(const Table* table) noexcept nogil:
    cdef int64_t seen = 0
    cdef Py_ssize_t i
    for i in range(table.rows):
        seen += table.hits[i]
    return seen


cdef double roc_auc(const Table* table, Ties ties) noexcept nogil:
    """Share of (relevant, not relevant) pairs in the right order; a tied pair counts a half, one or nothing."""
    cdef double total = 0.0, carry = 0.0
    cdef int64_t seen = 0, r, others, negatives = table.num_items - table.num_relevant, below
    cdef Py_ssize_t i
    if table.num_relevant == 0 or negatives == 0:
        return NAN
    for i in range(table.rows):
        r = table.hits[i]
        others = table.tied[i] - r
        below = negatives - (table.above[i] - seen) - others
        add(&total, &carry, <double>r * <double>below)
        if ties == TIES_BEST:
            add(&total, &carry, <double>r * <double>others)
        elif ties != TIES_WORST:
            add(&total, &carry, 0.5 * (<double>r * <double>others))
        seen += r
    return fmin(1.0, (total + carry) / (<double>table.num_relevant * <double>negatives))


cdef double roc_enrichment(const Table* table, double false_positives, Ties ties) noexcept nogil:
    """TPR / FPR where the curve has passed the given number of false positives (a real number)."""
    cdef int64_t seen = 0, r, negatives = table.num_items - table.num_relevant
    cdef double start, others, tp = 0.0
    cdef Py_ssize_t i
    if table.num_relevant == 0 or negatives == 0:
        return NAN
    for i in range(table.rows):
        r = table.hits[i]
        start = <double>(table.above[i] - seen)
        others = <double>(table.tied[i] - r)
        if false_positives < start:
            break
        if false_positives >= start + others or ties == TIES_BEST:
            tp += r
        elif ties != TIES_WORST:
            tp += <double>r * ((false_positives - start) / others)
        seen += r
    return tp / <double>table.num_relevant * (<double>negatives / false_positives)


cdef double log_area_term(double before, double others, double after, double least, double log_end) noexcept nogil:
    """Integral over ln x, from `least` on, of a ramp from 0 at x = before to 1 at x = after (then 1); x in negatives."""
    cdef double x
    if after <= least:
        return log_end
    if others == 0:
        return log_end
    if before > least:
        x = others / before
        return log_end + log1p_defect(x) / x
    x = (after - least) / least
    return log_end + (before * log1p_defect(x) + (after - least) * ((least - before) / least)) / others


cdef double log_auc(const Table* table, double min_fpr, Ties ties) noexcept nogil:
    """Area under TPR over log FPR from min_fpr to 1, over that of a perfect ranking."""
    cdef double total = 0.0, carry = 0.0, log_end, whole, least
    cdef int64_t seen = 0, others, before, after, negatives = table.num_items - table.num_relevant
    cdef Py_ssize_t i
    if table.num_relevant == 0 or negatives == 0:
        return NAN
    whole = <double>negatives
    least = min_fpr * whole
    for i in range(table.rows):
        others = table.tied[i] - table.hits[i]
        before = table.above[i] - seen
        after = before + others
        if ties == TIES_BEST:
            after = before
        elif ties == TIES_WORST:
            before = after
        # Minus the log of the rate at which the group is passed, from whichever side of it is the exact small number.
        if <double>after <= least:
            log_end = -log(min_fpr)
        elif 2 * after > negatives:
            log_end = -log1p(-(<double>(negatives - after) / whole))
        else:
            log_end = -log(<double>after / whole)
        add(&total, &carry, <double>table.hits[i] * log_area_term(<double>before, <double>(after - before),
                                                                  <double>after, least, log_end))
        seen += table.hits[i]
    return fmin(1.0, (total + carry) / <double>table.num_relevant / -log(min_fpr))


# --------------------------------------------------------------------------------------------------- early recognition

cdef inline double mean_weight(double beta, double n) noexcept nogil:
    """Mean of exp(-beta * j) over j = 0..n-1."""
    if beta * n == 0.0:
        return 1.0
    return expm1(-beta * n) / (n * expm1(-beta))


cdef double rie(const Table* table, double alpha, Ties ties) noexcept nogil:
    """Weight exp(-alpha * rank / N) of the relevant items over that of items at random."""
    cdef double total = 0.0, carry = 0.0, c, n, r, beta = alpha / <double>table.num_items
    cdef Py_ssize_t i
    if table.num_relevant == 0:
        return NAN
    for i in range(table.rows):
        c = <double>table.above[i]
        n = <double>table.tied[i]
        r = <double>table.hits[i]
        if ties == TIES_BEST:
            n = r
        elif ties == TIES_WORST:
            c = <double>(table.above[i] + table.tied[i] - table.hits[i])
            n = r
        add(&total, &carry, r * (exp(-beta * c) * mean_weight(beta, n)))
    return (total + carry) / <double>table.num_relevant / mean_weight(beta, <double>table.num_items)


cdef inline double log_sinhc(double z) noexcept nogil:
    """log(sinh(z) / z), z >= 0."""
    cdef double square = z * z
    if z < 0.3:
        return square * (1.0 / 6 - square * (1.0 / 180 - square * (1.0 / 2835 - square * (
            1.0 / 37800 - square * (1.0 / 467775 - square * (691.0 / 3831077250.0))))))
    return z + log1p(-exp(-2 * z)) - log(2 * z)


cdef double log_sinhc_rise(double small, double rise) noexcept nogil:
    """log_sinhc(small + rise) - log_sinhc(small), for small > 0 and rise >= 0, without cancellation."""
    cdef double large = small + rise, u, v, d, factor
    if rise > small or rise > 1.0:
        return log_sinhc(large) - log_sinhc(small)
    if large < 0.3:
        # The difference of two power series in z**2, with (u - v) taken out of every term.
        u = large * large
        v = small * small
        d = rise * (large + small)
        factor = (1.0 / 6 - (u + v) / 180 + (u * u + u * v + v * v) / 2835
                  - (u + v) * (u * u + v * v) / 37800
                  + (u * u * u * u + u * u * u * v + u * u * v * v + u * v * v * v + v * v * v * v) / 467775
                  - 691.0 / 3831077250.0 * (u + v) * (u * u * u * u + u * u * v * v + v * v * v * v))
        return d * factor
    return rise + log1p(exp(-2 * small) * -expm1(-2 * rise) / -expm1(-2 * small)) - log1p(rise / small)


cdef double bedroc(const Table* table, double alpha, Ties ties) noexcept nogil:
    """(S - S_min) / (S_max - S_min), S the weight exp(-alpha * rank / N) of the relevant items.

    Summed as what each relevant item gains over its place in the worst order, exp(-b x) * (1 - exp(-b d)) with d the
    items not relevant below it: every term is positive, whatever alpha and however many items are relevant.
    """
    # For a tiny alpha this is ROC AUC; the bound keeps beta from vanishing, which would leave 0 / 0.
    cdef double total = 0.0, carry = 0.0, c, n, r, last, gain, low, beta = fmax(alpha / <double>table.num_items, 1e-300)
    cdef int64_t seen = 0, others, below, negatives = table.num_items - table.num_relevant
    cdef Py_ssize_t i
    if table.num_relevant == 0 or negatives == 0:
        return NAN
    for i in range(table.rows):
        c = <double>table.above[i]
        n = <double>table.tied[i]
        r = <double>table.hits[i]
        others = table.tied[i] - table.hits[i]
        below = negatives - (table.above[i] - seen) - others
        seen += table.hits[i]
        if ties == TIES_BEST:
            add(&total, &carry, r * (exp(-beta * c) * mean_weight(beta, r)) * -expm1(-beta * <double>(below + others)))
            continue
        # The r items at the group's last places, and what spreading them over the group gains on that.
        last = r * (exp(-beta * (c + <double>others)) * mean_weight(beta, r))
        low = -expm1(-beta * <double>below)
        if ties == TIES_WORST or others == 0:
            add(&total, &carry, last * low)
            continue
        gain = 0.5 * beta * <double>others + log_sinhc_rise(0.5 * beta * r, 0.5 * beta * <double>others)
        if gain <= 1.0:
            add(&total, &carry, last * (expm1(gain) + low))
        else:
            add(&total, &carry, r * (exp(-beta * c) * mean_weight(beta, n)) - last * exp(-beta * <double>below))
    r = <double>table.num_relevant
    return fmin(1.0, (total + carry) / (r * mean_weight(beta, r) * -expm1(-beta * <double>negatives)))


# -------------------------------------------------------------------------------------------------------------- chance

cdef void plain_reading(Reading* reading, Ties ties) noexcept nogil:
    reading.ties = ties
    reading.normalize = NORMALIZE_RELEVANT
    reading.interpolation = INTERPOLATION_NONE
    reading.k = NO_CUTOFF
    reading.x = 0.0


cdef double one_group(const Table* table, Ties ties) noexcept nogil:
    """Average precision of the table's items if all of them were tied."""
    cdef int64_t above = 0, hits = total_hits(table)
    cdef Table group
    cdef Reading reading
    group.above = &above
    group.tied = &table.num_items
    group.hits = &hits
    group.rows = 1 if hits > 0 else 0
    group.num_items = table.num_items
    group.num_relevant = table.num_relevant
    plain_reading(&reading, ties)
    return average_precision_of(&group, &reading)


cdef double normalized_average_precision(const Table* table, Ties ties) noexcept nogil:
    cdef Reading reading
    cdef double chance = one_group(table, TIES_EXPECTED)
    plain_reading(&reading, ties)
    if chance >= 1.0:
        return NAN
    return (average_precision_of(table, &reading) - chance) / (1.0 - chance)


# ------------------------------------------------------------------------------------------------------- the one switch

cdef double read_measure(Measure measure, const Table* table, const Reading* reading) noexcept nogil:
    cdef double hits, k, relevant, items, square
    if measure == MEASURE_AVERAGE_PRECISION:
        if reading.interpolation == INTERPOLATION_NONE:
            return average_precision_of(table, reading)
        return interpolated(table, reading)
    if measure == MEASURE_R_PRECISION:
        if table.num_relevant == 0:
            return NAN
        return hits_above(table, table.num_relevant, reading.ties) / <double>table.num_relevant
    if measure == MEASURE_SUCCESS:
        return success_above(table, reading.k, reading.ties)
    if measure == MEASURE_RECIPROCAL_RANK:
        return reciprocal_rank(table, reading.k, reading.ties)
    if measure == MEASURE_ROC_AUC:
        return roc_auc(table, reading.ties)
    if measure == MEASURE_ROC_ENRICHMENT:
        return roc_enrichment(table, reading.x, reading.ties)
    if measure == MEASURE_RIE:
        return rie(table, reading.x, reading.ties)
    if measure == MEASURE_BEDROC:
        return bedroc(table, reading.x, reading.ties)
    if measure == MEASURE_LOG_AUC:
        return log_auc(table, reading.x, reading.ties)
    if measure == MEASURE_ADJUSTED_LOG_AUC:
        return log_auc(table, reading.x, reading.ties) - (1.0 - reading.x) / -log(reading.x)
    if measure == MEASURE_CHANCE:
        return one_group(table, TIES_EXPECTED)
    if measure == MEASURE_MINIMUM:
        return one_group(table, TIES_WORST)
    if measure == MEASURE_NORMALIZED_AVERAGE_PRECISION:
        return normalized_average_precision(table, reading.ties)

    # The rest are quotients of h(k).
    k = <double>reading.k
    relevant = <double>table.num_relevant
    items = <double>table.num_items
    if measure == MEASURE_MAX_ENRICHMENT_FACTOR:
        return NAN if relevant == 0 or k == 0 else fmin(relevant, k) / k * (items / relevant)
    hits = hits_above(table, reading.k, reading.ties)
    if measure == MEASURE_HITS:
        return hits
    if measure == MEASURE_PRECISION:
        return NAN if k == 0 else hits / k
    if measure == MEASURE_RECALL:
        return NAN if relevant == 0 else hits / relevant
    if measure == MEASURE_F_SCORE:
        square = fmin(reading.x * reading.x, 1e200)  # beyond that F is recall, and the products stay finite
        return NAN if k + square * relevant == 0 else (1 + square) * hits / (k + square * relevant)
    if measure == MEASURE_ENRICHMENT_FACTOR:
        return NAN if relevant == 0 or k == 0 else hits / k * (items / relevant)
    # MEASURE_NORMALIZED_ENRICHMENT_FACTOR
    return NAN if relevant == 0 or k == 0 else hits / fmin(relevant, k)
