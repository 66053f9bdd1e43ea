"""Kernels of INSQ, INST and the residual of RBP: measures that model a user who goes down the ranking.

C(i) is the share of users at rank i who look at the next item. The weight of a rank is the product of C over the ranks
before it, divided by the sum of these products over all ranks. A run of items with the same gain costs at most a few
hundred terms: after the first items the products are gamma functions, which the Euler-Maclaurin formula adds.
"""
from libc.math cimport INFINITY, NAN, exp, expm1, fmax, log1p, pow
from libc.stdint cimport int64_t

from hitcurve._kernel.err cimport signalled
from hitcurve._kernel.formulas cimport GAUSS_NODE, GAUSS_WEIGHT, NO_CUTOFF, TIES_WORST, Table, add
from hitcurve._kernel.gains cimport gained, greatest

cdef enum:
    DIRECT = 256   # terms with a denominator below DIRECT are added one by one
    LEAST = -650   # the logarithm of a negligible weight


cdef double squares(double scale, double first, double count) noexcept nogil:
    """The sum of (scale / x)^2 over x = first, first + 1, ... (`count` terms, which may be infinite).

    The integral and the first three corrections. The next correction is below 1e-16 of the sum.
    """
    cdef double total = 0.0, carry = 0.0, low, high, last, x = first
    cdef int64_t i = 0
    while i < count and (count < DIRECT or x < DIRECT):
        add(&total, &carry, (scale / x) * (scale / x))
        i += 1
        x = first + <double>i
    if i < count:
        last = count - <double>i - 1.0
        low = scale / x
        high = scale / (x + last)
        add(&total, &carry, low * (scale if last == INFINITY else high * last))
        low *= low
        high *= high
        last += x
        add(&total, &carry, 0.5 * (low + high))
        add(&total, &carry, (low / x - high / last) / 6.0)
        add(&total, &carry, (high / (last * last * last) - low / (x * x * x)) / 30.0)
    return total + carry


# ---------------------------------------------------------------------------------------------------------------- INSQ

cdef double from_rank(const GainReading* reading, int64_t start, int64_t stop) noexcept nogil:
    """The sum of the weights of the ranks after `start`, up to `stop`. The first rank has weight 1."""
    return squares(2.0 * reading.p, 2.0 * reading.p + <double>start, <double>(stop - start))


cdef double insq(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil:
    """INSQ, not yet divided by the weight of all ranks. `p` holds T."""
    return gained(levels, reading, from_rank, room) / greatest(levels, reading)


# ---------------------------------------------------------------------------------------------------------------- INST

# The state of the user. C(i) = ((x - 1) / x)^2. x = i + T + T(i) grows by 1 - gain with each item, and is never below 1.
cdef struct User:
    double x
    double x_carry
    double fall      # the logarithm of the weight of the next rank (first rank: 1), because a product would lose digits
    double fall_carry
    double total     # the sum of weight times gain
    double carry
    double weights   # the sum of the weights
    double weights_carry


cdef inline double log_weight(double x, double step, double items) noexcept nogil:
    """The logarithm of the product of ((y - 1) / y)^2 over y = x + step, ..., x + items * step, for x from DIRECT.

    By the Euler-Maclaurin formula. The next term is below 1e-16.
    """
    cdef double y = x + items * step, u = 1.0 / y, v = 1.0 / x, power = 1.0, part = 1.0, integral = 0.0, ends
    cdef int n
    for n in range(1, 7):  # the series of (z - 1) log(1 - 1/z), which is -1 + 1 / (2 z) + 1 / (6 z^2) + 1 / (12 z^3) + ...
        integral += part / <double>(n * (n + 1))
        power *= v
        part = u * part + power
    integral = -log1p(items * step * v) / step - items * u * v * integral
    ends = 0.5 * (log1p(-u) - log1p(-v)) + step / 12.0 * (u * u / (1.0 - u) - v * v / (1.0 - v))
    ends -= step * step * step / 120.0 * (u * u * u * u * (1.0 + 2.0 * u) - v * v * v * v * (1.0 + 2.0 * v))
    return 2.0 * (integral + ends)


cdef inline double slopes(double x, double step) noexcept nogil:
    """(f' / 12 - f''' / 720) / f, where f is the weight of an item as a function of its place, at this x."""
    cdef double both = x * (x - 1.0), second = 2.0 * step / (x * x), third = -4.0 * step * step / (x * x * x)
    cdef double first = 2.0 * log1p(-1.0 / x) + step / both - step * step / 6.0 * (2.0 * x - 1.0) / (both * both)
    return first / 12.0 - (first * (first * first + 3.0 * second) + third) / 720.0


cdef double long_run(double x, double step, int64_t many) noexcept nogil:
    """The sum of the weights of a run, whose first item has weight 1. x is at least DIRECT.

    The integral in pieces, over which the weight falls to at least 0.6 of itself, the ends, and the first two corrections.
    """
    cdef double total = 0.0, carry = 0.0, low = 0.0, high, middle, half, u, width = <double>(many - 1), end
    cdef int i
    while low < width:
        high = min(width, low + 0.25 * (x + low * step))
        middle = 0.5 * (low + high)
        half = 0.5 * (high - low)
        u = 0.0
        for i in range(4):
            u += GAUSS_WEIGHT[i] * (exp(log_weight(x, step, middle - half * GAUSS_NODE[i]))
                                    + exp(log_weight(x, step, middle + half * GAUSS_NODE[i])))
        add(&total, &carry, half * u)
        low = high
        if log_weight(x, step, low) < LEAST:
            break
    end = exp(log_weight(x, step, width))
    add(&total, &carry, 0.5 * (1.0 + end))
    add(&total, &carry, end * slopes(x + width * step, step) - slopes(x, step))
    return total + carry


cdef inline double log_chance(double x) noexcept nogil:
    """The logarithm of the chance to look at the next item. For a chance of 0, the logarithm of a negligible weight."""
    return fmax(2.0 * log1p(-1.0 / x), 2.0 * LEAST)


cdef void go_on(User* user, double gain, int64_t many) noexcept nogil:
    """Adds `many` items with the same gain, which is from 0 to 1."""
    cdef double weights = 0.0, carry = 0.0, step = 1.0 - gain, x = user.x + user.x_carry, at = x, fall, fall_carry = 0.0
    cdef double before = user.fall + user.fall_carry
    cdef int64_t i = 0
    if before < LEAST or many == 0:
        return
    if gain == 0.0:
        weights = squares(x, x, <double>many)
        fall = -2.0 * log1p(<double>many / x)
    elif step == 0.0:
        fall = log_chance(x)
        weights = expm1(<double>many * fall) / expm1(fall)
        fall *= <double>many
    else:
        fall = 0.0
        while i < many and at < DIRECT and fall > LEAST:
            add(&weights, &carry, exp(fall + fall_carry))
            i += 1
            at = x + <double>i * step
            add(&fall, &fall_carry, log_chance(at))
        if i < many and fall > LEAST:
            add(&weights, &carry, exp(fall + fall_carry) * long_run(at, step, many - i))
            add(&fall, &fall_carry, log_weight(at, step, <double>(many - i)))
        elif i < many:
            fall = 2.0 * LEAST
    add(&user.x, &user.x_carry, <double>many * step)
    add(&user.fall, &user.fall_carry, fall)
    add(&user.fall, &user.fall_carry, fall_carry)
    weights = exp(before) * (weights + carry)
    add(&user.total, &user.carry, gain * weights)
    add(&user.weights, &user.weights_carry, weights)


cdef double inst(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil:
    """INST of the best or the worst order, as ties are read. `p` holds T."""
    cdef const Table* table = &levels.table
    cdef User user = [2.0 * reading.p, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    cdef double x
    cdef double most = greatest(levels, reading)
    cdef int64_t stop = table.num_items, rank = 0, many
    cdef Py_ssize_t row, i, pair, n
    cdef bint worst = reading.ties == TIES_WORST
    if reading.k != NO_CUTOFF:
        stop = min(stop, reading.k)
    for row in range(table.rows):
        if rank >= stop:
            break
        many = table.above[row] - rank
        if worst:
            many += table.tied[row] - table.hits[row]
        many = min(many, stop - rank)
        go_on(&user, 0.0, many)
        rank += many
        n = <Py_ssize_t>(levels.starts[row + 1] - levels.starts[row])
        for i in range(n):
            pair = levels.starts[row] + i if worst else levels.starts[row + 1] - 1 - i
            many = min(levels.count[pair], stop - rank)
            go_on(&user, reading.gain[levels.code[pair]] / most, many)
            rank += many
            if signalled(&room.work, 16):
                room.failed = True
                return NAN
    x = user.x + user.x_carry
    add(&user.weights, &user.weights_carry, exp(user.fall + user.fall_carry) * squares(x, x, INFINITY))
    return (user.total + user.carry) / (user.weights + user.weights_carry)


# ------------------------------------------------------------------------------------------------------------ residuals

cdef double rbp_residual(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil:
    """The weight of the ranks beyond the last item, or beyond k."""
    cdef int64_t stop = levels.table.num_items
    if reading.k != NO_CUTOFF:
        stop = min(stop, reading.k)
    return pow(reading.p, <double>stop)
