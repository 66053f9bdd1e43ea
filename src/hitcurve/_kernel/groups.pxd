# Tables of tie groups, and the parts that all formulas share. Plain pointers, no Python objects, nothing raised.
from libc.math cimport fabs, log1p
from libc.stdint cimport int64_t, uint32_t, uint64_t

# These numbers are part of the C interface and never change. New values come last.
cdef enum Ties:
    TIES_EXPECTED, TIES_BEST, TIES_WORST, TIES_THRESHOLD

cdef enum Normalize:
    NORMALIZE_MIN, NORMALIZE_RELEVANT, NORMALIZE_HITS

cdef enum Interpolation:
    INTERPOLATION_NONE, INTERPOLATION_11_POINT, INTERPOLATION_101_POINT, INTERPOLATION_ALL_POINT
    INTERPOLATION_TRAPEZOID, INTERPOLATION_CONTINUOUS, INTERPOLATION_11_POINT_FLOAT, INTERPOLATION_101_POINT_FLOAT
    INTERPOLATION_TRAPEZOID_FROM_1

# A row for each tie group with a relevant item, from the best score down.
cdef struct Table:
    const int64_t* above
    const int64_t* tied
    const int64_t* hits
    Py_ssize_t rows
    int64_t num_items
    int64_t num_relevant

# The arguments of a measure.
cdef struct Reading:
    Ties ties
    Normalize normalize
    Interpolation interpolation
    int64_t k       # the cutoff rank, or NO_CUTOFF; or the number of false positives or hits, rounded
    double x        # beta, alpha, the least rate, or the number of false positives or hits minus k
    double most     # the greatest rate, else 1


# --------------------------------------------------------------------------------------------- shares of whole numbers

# A share k/n is rounded to a float. This float times n differs from k by a few units in the last place.
cdef inline bint whole_but_for_rounding(int64_t whole, double rest) noexcept nogil:
    """Whether `rest` is only a rounding error. From 2**49 on, only a rest of 0 counts as one."""
    return rest == 0.0 or whole >> 49 == 0 and fabs(rest) <= <double>whole * 8.881784197001252e-16  # 2**-50


# ---------------------------------------------------------------------------------------------------- compensated sums

# A compensated sum.
cdef inline void add(double* total, double* carry, double term) noexcept nogil:
    cdef double t = total[0] + term
    if fabs(total[0]) >= fabs(term):
        carry[0] += (total[0] - t) + term
    else:
        carry[0] += (term - t) + total[0]
    total[0] = t


cdef inline void add_share(double* total, double* carry, int64_t count, double share) noexcept nogil:
    """Adds count * share. A count above 2**53 is added in two parts, so that a share of 1 is exact."""
    if count >> 53:
        add(total, carry, <double>(count >> 31 << 31) * share)
        count &= 0x7FFFFFFF
    add(total, carry, <double>count * share)


# ---------------------------------------------------------------------------------------------------------- tie groups

cdef inline void as_read(Ties ties, int64_t* above, int64_t* tied, int64_t hits) noexcept nogil:
    """In the best and the worst order, a group consists of its relevant items, at its first or its last places."""
    if ties == TIES_BEST or ties == TIES_WORST:
        if ties == TIES_WORST:
            above[0] += tied[0] - hits
        tied[0] = hits


cdef struct Group:      # all zeros before the first group
    Py_ssize_t row      # the next row
    int64_t above
    int64_t tied
    int64_t hits
    int64_t others      # irrelevant items in the group
    int64_t seen        # relevant items above
    int64_t before      # irrelevant items above


cdef inline bint next_group(const Table* table, Ties ties, Group* group) noexcept nogil:
    """Moves to the next group, as ties are read. False after the last group: then `seen` counts all hits."""
    group.seen += group.hits
    if group.row == table.rows:
        group.hits = 0
        return False
    group.above = table.above[group.row]
    group.tied = table.tied[group.row]
    group.hits = table.hits[group.row]
    group.row += 1
    as_read(ties, &group.above, &group.tied, group.hits)
    group.others = group.tied - group.hits
    group.before = group.above - group.seen
    return True


# ----------------------------------------------------------------------------------------------- products of two counts

# Exact products of counts need 128 bits, and C has no portable type of 128 bits.
cdef struct Wide:
    uint64_t high
    uint64_t low


cdef inline void add_product(Wide* total, uint64_t a, uint64_t b) noexcept nogil:
    cdef uint64_t a_low = <uint32_t>a, b_low = <uint32_t>b
    cdef uint64_t middle = (a >> 32) * b_low + (a_low * b_low >> 32)
    cdef uint64_t other = a_low * (b >> 32) + <uint32_t>middle
    cdef uint64_t low = a * b
    total.high += (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32)
    total.low += low
    total.high += total.low < low


cdef inline double as_double(Wide number) noexcept nogil:
    return <double>number.high * 18446744073709551616.0 + <double>number.low


# ----------------------------------------------------------------------------------------------------------- logarithms

cdef inline double log1p_defect(double x) noexcept nogil:
    """(x - log1p(x)) / x for x >= 0, without cancellation (series of artanh y, y = x / (2 + x))."""
    cdef double y, square, power, total
    cdef int i
    if x > 1.0:
        return 1.0 - log1p(x) / x
    y = x / (2.0 + x)
    square = y * y
    power = square
    total = 0.0
    for i in range(3, 60, 2):
        total += power / i
        power *= square
        if power <= 1e-17 * total:
            break
    return y - 2.0 * total / (2.0 + x)
