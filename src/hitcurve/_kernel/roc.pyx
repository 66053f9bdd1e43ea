"""The area under the ROC curve, whole, partial and over the logarithm of the false-positive rate.

Notation and precision as in ``formulas``.
"""
from libc.math cimport NAN, floor, fma, fmin, log, log1p
from libc.stdint cimport int64_t, uint64_t

from hitcurve._kernel.groups cimport Group, Wide, add_product, add_share, as_double, log1p_defect, next_group


cdef double roc_auc(const Table* table, const Reading* reading) noexcept nogil:
    """Share of (relevant, not relevant) pairs in the right order; a tied pair counts a half, one or nothing."""
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
    """Area under the ROC curve over the first k and x false positives, over that of a perfect ranking."""
    cdef double total = 0.0, carry = 0.0, room, width = <double>reading.k + reading.x
    cdef int64_t last = reading.k
    cdef Group group = [0, 0, 0, 0, 0, 0, 0]
    if table.num_relevant == 0 or table.num_items == table.num_relevant:
        return NAN
    while next_group(table, reading.ties, &group) and group.before <= last:
        if group.before + group.others <= last:
            room = (<double>(last - group.before - group.others) + reading.x) + 0.5 * <double>group.others
        else:  # the ramp up to the last of them, a share of its whole height
            room = <double>(last - group.before) + reading.x
            room *= 0.5 * (room / <double>group.others)
        add_share(&total, &carry, group.hits, room / width)
    return fmin(1.0, (total + carry) / <double>table.num_relevant)


cdef double partial_roc_area(const Table* table, const Reading* reading) noexcept nogil:
    cdef double negatives = <double>(table.num_items - table.num_relevant)
    return partial_share(table, reading) * ((<double>reading.k + reading.x) / negatives)


cdef double partial_roc_auc(const Table* table, const Reading* reading) noexcept nogil:
    """McClish's (1 + (area - least) / (most - least)) / 2, without its differences."""
    cdef int64_t negatives = table.num_items - table.num_relevant
    cdef double beyond = (<double>(negatives - reading.k) - reading.x) / <double>negatives
    return (partial_share(table, reading) + beyond) / (1.0 + beyond)


cdef double auac(const Table* table, const Reading* reading) noexcept nogil:
    cdef double share = <double>table.num_relevant / <double>table.num_items if table.num_items > 0 else NAN
    return 0.5 if share == 1 else share / 2 + (1 - share) * roc_auc(table, reading)


cdef double roc_enrichment(const Table* table, const Reading* reading) noexcept nogil:
    """TPR / FPR where the curve has passed so many false positives and the rest of one."""
    cdef int64_t false_positives = reading.k, passed = 0, negatives = table.num_items - table.num_relevant
    cdef double tp = 0.0
    cdef Group group = [0, 0, 0, 0, 0, 0, 0]
    if table.num_relevant == 0 or negatives == 0:
        return NAN
    while next_group(table, reading.ties, &group) and false_positives >= group.before:
        if false_positives - group.before >= group.others:
            passed += group.hits
        else:
            tp = <double>group.hits * ((<double>(false_positives - group.before) + reading.x) / <double>group.others)
    return (<double>passed + tp) / <double>table.num_relevant * (<double>negatives / (<double>false_positives + reading.x))


cdef inline int64_t false_positives_at(double rate, double negatives, double* rest) noexcept nogil:
    """The whole number of false positives at a rate, and the rest of one: their product, without its rounding error."""
    cdef double product = rate * negatives, down = floor(product)
    rest[0] = (product - down) + fma(rate, negatives, -product)
    if rest[0] < 0.0:
        down -= 1.0
        rest[0] += 1.0
    return <int64_t>down


cdef double log_area_term(double before, double others, double after, double least, double log_end) noexcept nogil:
    """Integral over ln x, from `least` on, of a ramp from 0 at x = before to 1 at x = after (then 1); x in negatives."""
    cdef double x
    if after <= least or others == 0:
        return log_end
    if before > least:
        x = others / before
        return log_end + log1p_defect(x)
    x = (after - least) / least
    return log_end + (before * x * log1p_defect(x) + (after - least) * ((least - before) / least)) / others


cdef inline double log_width(const Reading* reading) noexcept nogil:
    if reading.most == 1.0 or reading.x < 1e-300:
        return log(reading.most) - log(reading.x)
    return log1p((reading.most - reading.x) / reading.x)


cdef double log_auc(const Table* table, const Reading* reading) noexcept nogil:
    """Area under TPR over log FPR from min_fpr to max_fpr, over that of a perfect ranking."""
    cdef double total = 0.0, carry = 0.0, log_end, whole, least, room, min_fpr = reading.x, width = log_width(reading)
    cdef double rest = 0.0
    cdef int64_t after, negatives = table.num_items - table.num_relevant, last = negatives
    cdef Group group = [0, 0, 0, 0, 0, 0, 0]
    if table.num_relevant == 0 or negatives == 0:
        return NAN
    whole = <double>negatives
    least = min_fpr * whole
    if reading.most < 1.0:
        last = false_positives_at(reading.most, whole, &rest)
    while next_group(table, reading.ties, &group):
        after = group.before + group.others
        if after > last:  # the ramp up to max_fpr, a share of its whole height
            room = <double>(last - group.before) + rest
            if room > 0.0:
                add_share(&total, &carry, group.hits, room / <double>group.others * log_area_term(
                    <double>group.before, room, <double>last + rest, least, 0.0) / width)
            continue
        # Log of max_fpr over the rate at which the group is passed, from whichever side of it is the exact small number.
        if <double>after <= least:
            log_end = width
        elif reading.most < 1.0:
            log_end = log1p((<double>(last - after) + rest) / <double>after)
        elif 2 * after > negatives:
            log_end = -log1p(-(<double>(negatives - after) / whole))
        else:
            log_end = -log(<double>after / whole)
        # As a share of what the item has at the top: a perfect ranking adds up to whole numbers.
        add_share(&total, &carry, group.hits, log_area_term(
            <double>group.before, <double>group.others, <double>after, least, log_end) / width)
    return fmin(1.0, (total + carry) / <double>table.num_relevant)


cdef double adjusted_log_auc(const Table* table, const Reading* reading) noexcept nogil:
    return log_auc(table, reading) - (reading.most - reading.x) / log_width(reading)
