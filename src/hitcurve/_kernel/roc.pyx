"""The area under the ROC curve: whole, up to a rate, between two rates, and over the logarithm of the false-positive rate.

Notation and precision as in ``formulas``.
"""
from libc.math cimport NAN, frexp, fmin, ldexp, log, log1p
from libc.stdint cimport int64_t, uint64_t

from hitcurve._kernel.groups cimport (
    TIES_THRESHOLD, Group, Ties, Wide, add, add_product, add_share, as_double, log1p_defect, next_group, whole_but_for_rounding,
)

cdef enum:
    SUMMED = 64  # logarithms of numbers below SUMMED, and fewer than SUMMED logarithms, are added one by one


cdef double roc_auc(const Table* table, const Reading* reading) noexcept nogil:
    """The share of (relevant, irrelevant) pairs in the right order. A tied pair counts 1/2, 1 or 0, as ties are read."""
    cdef Wide halves = [0, 0]
    cdef Wide pairs = [0, 0]
    cdef int64_t negatives = table.num_items - table.num_relevant
    cdef Group group = [0, 0, 0, 0, 0, 0, 0]
    if table.num_relevant == 0 or negatives == 0:
        return NAN
    while next_group(table, reading.ties, &group):
        add_product(&halves, group.hits, 2 * <uint64_t>(negatives - group.before - group.others) + <uint64_t>group.others)
    add_product(&pairs, table.num_relevant, negatives)
    return fmin(1.0, 0.5 * as_double(halves) / as_double(pairs))


cdef double partial_share(const Table* table, const Reading* reading) noexcept nogil:
    """Area under the ROC curve over the first k + x false positives, divided by the greatest. x is from -1/2 to 1/2."""
    cdef double total = 0.0, carry = 0.0, room, steps, part = reading.x, width = <double>reading.k + reading.x
    cdef int64_t down = reading.k
    cdef Group group = [0, 0, 0, 0, 0, 0, 0]
    if table.num_relevant == 0 or table.num_items == table.num_relevant:
        return NAN
    if part < 0.0:
        down -= 1
        part += 1.0
    while next_group(table, reading.ties, &group) and <double>(reading.k - group.before) + reading.x > 0.0:
        room = <double>(reading.k - group.before - group.others) + reading.x
        if room >= 0.0:
            room += 0.5 * <double>group.others
        elif reading.ties == TIES_THRESHOLD:  # a part of the ramp of the group
            room = <double>(reading.k - group.before) + reading.x
            room *= 0.5 * (room / <double>group.others)
        else:  # the first steps of the mean curve, each as wide as an irrelevant item
            steps = <double>(down - group.before)
            room = (steps + 1.0) / (<double>group.others + 1.0) * (0.5 * steps + part)
        add_share(&total, &carry, group.hits, room / width)
    return fmin(1.0, (total + carry) / <double>table.num_relevant)


cdef double partial_roc_area(const Table* table, const Reading* reading) noexcept nogil:
    cdef double negatives = <double>(table.num_items - table.num_relevant)
    return partial_share(table, reading) * ((<double>reading.k + reading.x) / negatives)


cdef double partial_roc_auc(const Table* table, const Reading* reading) noexcept nogil:
    """McClish's (1 + (area - least) / (most - least)) / 2, computed without cancellation."""
    cdef int64_t negatives = table.num_items - table.num_relevant
    cdef double beyond = (<double>(negatives - reading.k) - reading.x) / <double>negatives
    return (partial_share(table, reading) + beyond) / (1.0 + beyond)


cdef double auac(const Table* table, const Reading* reading) noexcept nogil:
    cdef double share = <double>table.num_relevant / <double>table.num_items if table.num_items > 0 else NAN
    return 0.5 if share == 1 else share / 2 + (1 - share) * roc_auc(table, reading)


cdef double roc_enrichment(const Table* table, const Reading* reading) noexcept nogil:
    """TPR / FPR after k + x false positives, x from -1/2 to 1/2. If x is rounding error, it counts as 0."""
    cdef int64_t down = reading.k, passed = 0, negatives = table.num_items - table.num_relevant
    cdef double tp = 0.0, part = reading.x
    cdef Group group = [0, 0, 0, 0, 0, 0, 0]
    if table.num_relevant == 0 or negatives == 0:
        return NAN
    if whole_but_for_rounding(reading.k, part):
        part = 0.0
    elif part < 0.0:
        down -= 1
        part += 1.0
    while next_group(table, reading.ties, &group) and down >= group.before:
        if down - group.before >= group.others:
            passed += group.hits
        elif reading.ties == TIES_THRESHOLD:
            tp = <double>group.hits * ((<double>(down - group.before) + part) / <double>group.others)
        else:  # the hits before the next irrelevant item
            tp = <double>group.hits * (<double>(down - group.before + 1) / <double>(group.others + 1))
    return (<double>passed + tp) / <double>table.num_relevant * (<double>negatives / (<double>down + part))


# --------------------------------------------------------------------------------------------------------- over logarithms

# A number of false positives: a whole number, and a rest from -1/2 to 1/2, so that rests near 0 keep their digits.
cdef struct Place:
    int64_t whole
    double rest


cdef Place place_at(double rate, int64_t negatives) noexcept nogil:
    """rate * negatives. Only the rest is rounded. The rate is in [0, 1]."""
    cdef int exponent = 0, shift
    cdef Wide product = [0, 0]
    cdef Wide rest = [0, 0]
    cdef uint64_t borrow
    cdef Place place = [0, 0.0]
    add_product(&product, <uint64_t>ldexp(frexp(rate, &exponent), 53), <uint64_t>negatives)
    shift = 53 - exponent  # at least 52, and the product is below 2**116
    if shift >= 128:
        place.rest = ldexp(as_double(product), -shift)
        return place
    if shift < 64:
        place.whole = <int64_t>(product.high << (64 - shift) | product.low >> shift)
        rest.low = product.low & ((<uint64_t>1 << shift) - 1)
    else:
        place.whole = <int64_t>(product.high >> (shift - 64))
        rest = product
        rest.high &= (<uint64_t>1 << (shift - 64)) - 1
    place.rest = ldexp(as_double(rest), -shift)
    if place.rest > 0.5:
        place.whole += 1
        borrow = rest.low > 0
        if shift < 64:
            rest.low = (<uint64_t>1 << shift) - rest.low
        else:
            rest.high = (<uint64_t>1 << (shift - 64)) - rest.high - borrow
            rest.low = 0 - rest.low
        place.rest = -ldexp(as_double(rest), -shift)
    return place


cdef inline double beyond(Place place, int64_t count) noexcept nogil:
    """The number of false positives at a place, minus `count`."""
    return <double>(place.whole - count) + place.rest


cdef inline double log_over(Place end, int64_t count) noexcept nogil:
    """log(end / count), where count is less than the end."""
    return log1p(beyond(end, count) / <double>count)


cdef double logs(Place end, int64_t first, int64_t last) noexcept nogil:
    """The sum of log(end / i) over whole i from first (above 0) to last (below the end).

    The first terms, and short sums, are added one by one. The other terms are the integral from first - 1/2 to last + 1/2
    and three corrections (the midpoint Euler-Maclaurin formula). The next correction is below 1e-16.
    """
    cdef double total = 0.0, carry = 0.0, a, b, c, width
    cdef bint few = last - first < SUMMED
    while first <= last and (few or first < SUMMED):
        add(&total, &carry, log_over(end, first))
        first += 1
    if first <= last:
        width = <double>(last - first + 1)
        a = <double>first - 0.5
        b = <double>last + 0.5
        add(&total, &carry, width * log1p((<double>(end.whole - last) + (end.rest - 0.5)) / b))
        add(&total, &carry, width * log1p_defect(width / a))
        c = a / b
        add(&total, &carry, -width / (24.0 * a * b))
        add(&total, &carry, 7.0 / 2880.0 * (1.0 - c * c * c) / (a * a * a))
        add(&total, &carry, -31.0 / 40320.0 * (1.0 - c * c * c * c * c) / (a * a * a * a * a))
    return total + carry


cdef double log_ramp(Place start, Place end, double span, int64_t before, int64_t others) noexcept nogil:
    """The integral over ln x, from start to end, of a ramp from 0 at x = before to 1 at x = before + others (then 1).

    The start is below the end of the ramp, and the end is above its beginning.
    """
    cdef double low = <double>before, offset = 0.0, length, rise, x
    cdef int64_t after = before + others
    cdef bint from_start = beyond(start, before) > 0.0, to_end = beyond(end, after) < 0.0
    if from_start:
        low = <double>start.whole + start.rest
        offset = beyond(start, before)
    if to_end:
        length = span if from_start else beyond(end, before)
    else:
        length = -beyond(start, after) if from_start else <double>others
    rise = length * (offset / low)
    if before > 0:
        x = length / low
        rise += <double>before * x * log1p_defect(x)
    return rise / <double>others + (0.0 if to_end else log_over(end, after))


cdef inline double log_width(const Reading* reading) noexcept nogil:
    if reading.most == 1.0 or reading.x < 1e-300:
        return log(reading.most) - log(reading.x)
    return log1p((reading.most - reading.x) / reading.x)


cdef double log_auc(const Table* table, const Reading* reading) noexcept nogil:
    """Area under TPR over log FPR from min_fpr to max_fpr, divided by the area of a perfect ranking.

    A relevant item of a tie group is equally likely before each of the d irrelevant items of the group, and after all.
    So its mean area is the mean of d + 1 steps.
    """
    cdef double total = 0.0, carry = 0.0, share, steps, width = log_width(reading), span
    cdef int64_t negatives = table.num_items - table.num_relevant, last, first, below
    cdef Place start, end
    cdef Group group = [0, 0, 0, 0, 0, 0, 0]
    if table.num_relevant == 0 or negatives == 0:
        return NAN
    start = place_at(reading.x, negatives)
    end = place_at(reading.most, negatives)
    span = (reading.most - reading.x) * <double>negatives
    first = start.whole + (start.rest >= 0.0)  # the first number of false positives beyond the start
    below = end.whole - (end.rest <= 0.0)      # the last one before the end
    while next_group(table, reading.ties, &group) and group.before <= below:
        last = group.before + group.others
        if last < first:
            share = 1.0
        elif reading.ties == TIES_THRESHOLD and group.others > 0:
            share = log_ramp(start, end, span, group.before, group.others) / width
        else:
            steps = <double>(group.others + 1)
            share = <double>max(0, first - group.before) / steps
            share += logs(end, max(first, group.before), min(below, last)) / width / steps
        # As a share of the item's area at the top, so that a perfect ranking adds whole numbers.
        add_share(&total, &carry, group.hits, share)
    return fmin(1.0, (total + carry) / <double>table.num_relevant)


cdef double adjusted_log_auc(const Table* table, const Reading* reading) noexcept nogil:
    return log_auc(table, reading) - (reading.most - reading.x) / log_width(reading)


# -------------------------------------------------------------------------------------------------- between two rates

# The part of the curve between two places of an axis: false positives, or hits. Both are read from the top of the ranking,
# or with `turned` from its bottom.
cdef struct Strip:
    Place low
    Place high
    double width
    int64_t total  # where the axis ends
    bint turned


cdef inline Strip strip_of(const Reading* reading, int64_t total, bint turned) noexcept nogil:
    cdef Place low = place_at(reading.x, total), high = place_at(reading.most, total)
    cdef Strip strip
    strip.width = (reading.most - reading.x) * <double>total
    strip.total = total
    strip.turned = turned
    if turned:
        low.whole, high.whole = total - high.whole, total - low.whole
        low.rest, high.rest = -high.rest, -low.rest
    strip.low = low
    strip.high = high
    return strip


cdef double rise(const Strip* strip, int64_t before, int64_t span, Ties ties) noexcept nogil:
    """The mean height over the strip of a curve that rises from 0 at `before` to 1 at before + span.

    With threshold ties it is a straight line. Otherwise it is the mean over all orders: steps of 1 / (span + 1), of which the
    first is at `before`.
    """
    cdef int64_t after = before + span, first = 0, last = span
    cdef double area = 0.0, length = <double>span, start = 0.0, part = 1.0, end = 0.0
    cdef bint from_low = beyond(strip.low, before) > 0.0, to_high = beyond(strip.high, after) < 0.0
    if beyond(strip.high, before) <= 0.0:
        return 0.0
    if beyond(strip.low, after) >= 0.0:
        return 1.0
    if not to_high:
        area = beyond(strip.high, after)
    if span == 0:
        return area / strip.width
    if ties == TIES_THRESHOLD:
        if from_low:
            start = beyond(strip.low, before)
            length = strip.width if to_high else -beyond(strip.low, after)
        elif to_high:
            length = beyond(strip.high, before)
        end = beyond(strip.high, before) if to_high else <double>span
        # The quotients first: the product of two small numbers could be 0.
        return area / strip.width + length / strip.width * (0.5 * (start + end) / <double>span)
    if from_low:
        first = strip.low.whole - (strip.low.rest < 0.0) - before
        part = -strip.low.rest if strip.low.rest < 0.0 else 1.0 - strip.low.rest
    if to_high:
        last = strip.high.whole - (strip.high.rest < 0.0) - before
        end = strip.high.rest + (strip.high.rest < 0.0)
    if first == last:
        length = <double>(first + 1) * (strip.width if from_low else end)
    else:
        length = <double>(first + 1) * part + <double>(last + 1) * end
        length += <double>(last - first - 1) * (0.5 * (<double>first + <double>last + 2.0))
    return (area + length / <double>(span + 1)) / strip.width


cdef void add_rise(double* total, double* carry, const Strip* strip, int64_t count, int64_t before, int64_t span,
                   Ties ties) noexcept nogil:
    if count > 0:
        add_share(total, carry, count, rise(strip, strip.total - before - span if strip.turned else before, span, ties))


cdef double mean_height(const Table* table, const Reading* reading, bint of_hits, bint over) noexcept nogil:
    """The mean true-positive rate between two false-positive rates, or with `of_hits` the mean true-negative rate between
    two true-positive rates. With `over`, 1 minus this mean, as a sum of positive terms."""
    cdef double total = 0.0, carry = 0.0
    cdef int64_t negatives = table.num_items - table.num_relevant, passed = 0
    cdef Group group = [0, 0, 0, 0, 0, 0, 0]
    cdef Strip strip
    if table.num_relevant == 0 or negatives == 0:
        return NAN
    # A relevant item counts from its place among the false positives on. Another item counts up to its place among the hits.
    strip = strip_of(reading, table.num_relevant if of_hits else negatives, of_hits != over)
    while next_group(table, reading.ties, &group):
        if of_hits:
            add_rise(&total, &carry, &strip, group.before - passed, group.seen, 0, reading.ties)
            add_rise(&total, &carry, &strip, group.others, group.seen, group.hits, reading.ties)
            passed = group.before + group.others
        else:
            add_rise(&total, &carry, &strip, group.hits, group.before, group.others, reading.ties)
    if of_hits:
        add_rise(&total, &carry, &strip, negatives - passed, group.seen, 0, reading.ties)
    return fmin(1.0, (total + carry) / <double>(negatives if of_hits else table.num_relevant))


cdef double standardized(const Table* table, const Reading* reading, bint of_hits) noexcept nogil:
    """McClish's (1 + (area - chance) / (most - chance)) / 2, from the half of the scale that holds it."""
    cdef double room = reading.x + reading.most if of_hits else (1.0 - reading.x) + (1.0 - reading.most)
    cdef double value = 1.0 - mean_height(table, reading, of_hits, True) / room, rest
    rest = reading.x - (1.0 - reading.most) if of_hits else (1.0 - reading.most) - reading.x
    if value < 0.5 and rest >= 0.0:
        value = (mean_height(table, reading, of_hits, False) + rest) / room
    return value


cdef double roc_area_from_fpr(const Table* table, const Reading* reading) noexcept nogil:
    return mean_height(table, reading, False, False) * (reading.most - reading.x)


cdef double roc_auc_from_fpr(const Table* table, const Reading* reading) noexcept nogil:
    return standardized(table, reading, False)


cdef double roc_area_from_tpr(const Table* table, const Reading* reading) noexcept nogil:
    return mean_height(table, reading, True, False) * (reading.most - reading.x)


cdef double roc_auc_from_tpr(const Table* table, const Reading* reading) noexcept nogil:
    return standardized(table, reading, True)
