"""Expected reciprocal rank (Chapelle, Metzler, Zhang & Grinspan 2009, CIKM), and its mean over all orders of ties.

A discount other than 1 / rank makes the same sum for measures of novelty.

The first ranks of a run and of a tie group are added one by one. The others are an integral with the corrections of the
Euler-Maclaurin formula, so that the time for a row depends on its levels and not on its items.
"""
from libc.math cimport INFINITY, atan, cos, cosh, exp, fmin, log, log1p, pow, sin, sinh, sqrt
from libc.stdint cimport int64_t

from hitcurve._kernel.formulas cimport GAUSS_NODE, GAUSS_WEIGHT, add
from hitcurve._kernel.memory cimport grow

cdef enum:
    WORK_AT_ONCE = 1 << 26  # work between two checks for Ctrl-C
    RUN = 4096              # ranks of a run that are added one by one
    HEAD = 256              # ranks of a tie group that are added one by one
    MANY = 1 << 12          # in a group of so many items, the other ranks are an integral
    NEXT_TO_END = 64        # places at the end of a group, where a difference is a sum of few terms
    STEPS = 64              # the most steps on each side of a contour

cdef double NEGLIGIBLE = -42.0  # the logarithm of 6e-19
cdef double UNLIKELY = 1e-30

cdef extern from "Python.h":
    int PyErr_CheckSignals()
    Py_ssize_t PY_SSIZE_T_MAX


cdef bint signalled(int64_t* work, int64_t more) noexcept nogil:
    """Whether a signal has raised an exception. Checked now and then."""
    work[0] += more + 8
    if work[0] < WORK_AT_ONCE:
        return False
    work[0] = 0
    with gil:
        return PyErr_CheckSignals() != 0


cdef inline double in_run(const Err* err, double chance, double fall, double above, double i) noexcept nogil:
    """The term of the i-th item of a run, continued to real i."""
    return at_rank(err, chance * exp((i - 1.0) * fall), above + i)


cdef inline double differences(const double* near) noexcept nogil:
    """The correction of the midpoint Euler-Maclaurin formula at an end, from the four places around the end."""
    return (near[1] - near[2]) / 24.0 + 17.0 / 5760.0 * (near[3] - near[0] - 3.0 * (near[2] - near[1]))


cdef inline double corrections_of_run(const Err* err, double chance, double fall, double above, double i) noexcept nogil:
    """The correction of the midpoint Euler-Maclaurin formula at an end; of 1 / rank from the first and third derivative."""
    cdef double v = 1.0 / (above + i), slope = fall - v
    cdef double[4] near
    cdef int j
    if err.fade != FADE_RANK:
        for j in range(4):
            near[j] = in_run(err, chance, fall, above, i - 1.5 + <double>j)
        return differences(near)
    return in_run(err, chance, fall, above, i) * (
        -slope / 24.0 + 7.0 / 5760.0 * (slope * slope * slope + 3.0 * slope * v * v - 2.0 * v * v * v))


cdef double rest_of_run(const Err* err, double chance, double fall, double above, double first, double last) noexcept nogil:
    """The sum of the terms of a run from item `first` to item `last`."""
    cdef double left = first - 0.5, stop = last + 0.5, total = 0.0, carry = 0.0, right, half, middle, term
    cdef int i
    add(&total, &carry, -corrections_of_run(err, chance, fall, above, left))
    while left < stop:
        right = fmin(stop, left + fmin(0.5 * (above + left), -2.0 / (fall + err.log_power)))
        half = 0.5 * (right - left)
        middle = left + half
        term = 0.0
        for i in range(4):
            term += half * GAUSS_WEIGHT[i] * (in_run(err, chance, fall, above, middle - half * GAUSS_NODE[i])
                                              + in_run(err, chance, fall, above, middle + half * GAUSS_NODE[i]))
        add(&total, &carry, term)
        if term < 1e-20 * total:
            return total + carry
        left = right
    add(&total, &carry, corrections_of_run(err, chance, fall, above, stop))
    return total + carry


cdef bint err_in_order(Err* err, const Stop* stop, int64_t above, int64_t last) noexcept nogil:
    """Adds items with the same chance at the ranks after `above`, up to `last`. False if a signal has raised."""
    cdef double reached = err.reached, fall = log1p(-stop.chance)
    cdef int64_t i, number = min(stop.count, last - above)
    if stop.chance == 0.0:
        return True
    for i in range(min(number, RUN)):
        stop_at(err, stop.chance, above + i + 1)
        if i > 0:  # the rounding error of 1 - chance grows in a power
            err.reached = reached * exp(<double>(i + 1) * fall)
        if err.reached < 6e-19:
            err.reached = 0.0
            break
    if number > RUN and err.reached > 0.0:
        add(&err.total, &err.carry, reached * rest_of_run(err, stop.chance, fall, <double>above, RUN + 1, <double>number))
        err.reached = reached * exp(<double>number * fall)
        if err.reached < 6e-19:
            err.reached = 0.0
    return not signalled(err.work, min(max(number, 0), RUN))


# Items drawn one by one without replacement: the probability that so many of some items are drawn so far.
cdef struct Draws:
    int64_t all
    int64_t some
    int64_t drawn
    double* likely       # from `low` to `high`, where it is not negligible; at `depth`: so many or more
    Py_ssize_t low
    Py_ssize_t high
    Py_ssize_t depth


cdef void start_draws(Draws* draws, int64_t some, int64_t others, Py_ssize_t depth) noexcept nogil:
    cdef Py_ssize_t j
    draws.all = some + others
    draws.some = some
    draws.drawn = draws.low = draws.high = 0
    draws.depth = depth
    for j in range(depth + 1):
        draws.likely[j] = 0.0
    draws.likely[0] = 1.0


cdef void draw(Draws* draws) noexcept nogil:
    cdef Py_ssize_t j
    cdef double share = 1.0 / <double>(draws.all - draws.drawn), whole = 0.0
    if draws.drawn % 64 == 63:  # the sum is 1 except for rounding
        for j in range(draws.low, draws.high + 1):
            whole += draws.likely[j]
        share /= whole
    draws.high += draws.high < draws.depth
    for j in range(draws.high, draws.low, -1):
        draws.likely[j] = share * (draws.likely[j] * (
            <double>(draws.all - draws.drawn - (draws.some - j if j < draws.depth else 0)))
            + draws.likely[j - 1] * <double>(draws.some - j + 1))
    if draws.low < draws.depth:
        draws.likely[draws.low] *= share * <double>(draws.all - draws.drawn - draws.some + draws.low)
    while draws.high > draws.low and draws.likely[draws.high] < UNLIKELY:
        draws.likely[draws.high] = 0.0
        draws.high -= 1
    while draws.low < draws.high and draws.likely[draws.low] < UNLIKELY:
        draws.low += 1
    draws.drawn += 1


cdef inline Py_ssize_t depth_of(double all_chances, int64_t n, int64_t last) noexcept nogil:
    """How many of n items are drawn until the chance to get beyond them is negligible, or items or places end.

    It is at most (1 - mean chance)^depth, by Maclaurin's inequality.
    """
    cdef double deep = NEGLIGIBLE / log1p(-all_chances / <double>n)
    return min(n, last, <int64_t>min(deep, 1e18) + 1)


cdef bint place_by_place(Err* err, const Stop* stops, Py_ssize_t n, int64_t above, int64_t tied,
                         int64_t last) noexcept nogil:
    """Adds a tie group. Its chances are above 0 and falling, and its first `last` places count.

    False if there is no memory, or a signal has raised. The order of the items with a chance to stop is independent of
    the ranks that they take. So the j-th of these items adds the probability to stop there, divided by its rank. The
    chance to get beyond j of these items is the mean product of (1 - chance) over j items drawn without replacement, an
    elementary symmetric mean. For items with the same chance it is a power, and the chances are mixed one after the
    other. All terms are positive.
    """
    cdef Py_ssize_t i, j, depth = 0, more_depth
    cdef int64_t t, hits = 0, more
    cdef double chance, all_chances = 0.0, term, fall, get
    cdef Draws draws
    cdef double* beyond          # for the chances mixed so far: the chance to get beyond j items
    cdef double* falls           # the chance to get beyond j - 1 items, minus `beyond`
    cdef double* power           # `beyond` of the chance that is mixed in next
    cdef double* next_beyond
    cdef double* next_falls
    for i in range(n):
        hits += stops[i].count
        all_chances += <double>stops[i].count * stops[i].chance
        depth = max(depth, depth_of(all_chances, hits, last) + 1)
    if depth > PY_SSIZE_T_MAX // 48 or not grow(<void**>err.values, err.values_size, 6 * depth, sizeof(double)):
        return False
    beyond = err.values[0]
    falls = beyond + depth
    power = falls + depth
    next_beyond = power + depth
    next_falls = next_beyond + depth
    draws.likely = next_falls + depth
    hits = depth = 0
    all_chances = 0.0
    beyond[0] = next_beyond[0] = power[0] = 1.0
    for i in range(n):
        more = stops[i].count
        chance = stops[i].chance
        all_chances += <double>more * chance
        more_depth = depth_of(all_chances, hits + more, last)
        for j in range(1, min(more, more_depth) + 1):
            power[j] = pow(1.0 - chance, <double>j)
        start_draws(&draws, hits, more, depth)
        for t in range(more_depth):
            # After t items, j of them with the earlier chances, the next item has an earlier chance or this chance.
            fall = get = 0.0
            for j in range(draws.low, draws.high + 1):
                term = <double>(more - t + j) * beyond[j] * chance
                if j < depth:
                    term += <double>(hits - j) * falls[j + 1]
                if t - j <= more:
                    fall += draws.likely[j] * power[t - j] * term
            next_falls[t + 1] = fall / <double>(hits + more - t)
            draw(&draws)
            for j in range(draws.low, draws.high + 1):
                if t + 1 - j <= more:
                    get += draws.likely[j] * power[t + 1 - j] * beyond[j]
            next_beyond[t + 1] = get
            if signalled(err.work, draws.high - draws.low):
                return False
        beyond, next_beyond = next_beyond, beyond
        falls, next_falls = next_falls, falls
        hits += more
        depth = more_depth
    # With the items without a chance among them, rank by rank.
    start_draws(&draws, hits, tied - hits, depth)
    for t in range(last):
        fall = 0.0
        for j in range(draws.low, min(draws.high + 1, depth)):
            fall += draws.likely[j] * <double>(hits - j) * falls[j + 1]
        fall *= err.reached
        if err.fade == FADE_RANK:
            fall /= <double>(draws.all - t) * <double>(above + t + 1)
        else:
            fall = at_rank(err, fall / <double>(draws.all - t), <double>(above + t + 1))
        add(&err.total, &err.carry, fall)
        draw(&draws)
        if draws.low == depth:
            break
        if signalled(err.work, draws.high - draws.low):
            return False
    err.reached = err.reached * beyond[hits] if depth == hits else 0.0
    return True


# ------------------------------------------------------------------------------------------------------ groups of many

cdef inline double bend(double x) noexcept nogil:
    """atan(x) - x, without cancellation."""
    cdef double square = x * x, power = -x * square, total = 0.0
    cdef int i
    if square > 0.01:
        return atan(x) - x
    for i in range(3, 17, 2):
        total += power / i
        power *= -square
    return total


cdef double fall_at(const Stop* stops, Py_ssize_t n, double tied, double place) noexcept nogil:
    """The chance to reach a place minus the chance to get beyond it, continued to real places.

    The mean product of (1 - chance) over t of N items drawn without replacement puts (t)_j / (N)_j for u^j in the
    product G(u) of (1 - chance u) over all items, since these are the moments that u has under the weight
    u^(-t - 1) (1 - u)^(t - N - 1). The difference is that mean of -G' / N, of t = place - 1 items among the N - 1 others. On a
    line across the saddle of the weight, which is real there, the weight is nearly a bell curve. So a sum over steps of a
    third of its deviation is exact to 1e-17. The steps grow as sinh does.
    """
    cdef double beyond = max(tied + 1.0 - place, 50.0)  # at least 50, even if rounding loses the difference of large numbers
    cdef double tau = place / (tied + 1.0), left = beyond / (tied + 1.0), few = fmin(place, beyond)
    cdef double step = fmin(0.2, 0.35 * sqrt(max(tau, left) / few)), whole = 0.0, value = 0.0, base = 0.0
    cdef double eta, other, size, angle, weight, chance, count, miss, k, square, real, imaginary
    cdef Py_ssize_t i
    cdef int j
    for i in range(n):
        base += <double>stops[i].count * log1p(-stops[i].chance * tau)
    for j in range(STEPS):
        eta = other = sinh(<double>j * step)
        eta *= few / place
        other *= few / beyond
        size = -0.5 * (place * log1p(eta * eta) + beyond * log1p(other * other))
        if size < -45.0:
            break
        angle = beyond * bend(other) - place * bend(eta)
        weight = cosh(<double>j * step) * (1.0 if j == 0 else 2.0)
        whole += weight * exp(size) * cos(angle)
        size += base
        real = imaginary = 0.0
        for i in range(n):
            chance = stops[i].chance
            count = <double>stops[i].count
            miss = (1.0 - chance) + chance * left
            k = chance * tau * eta / miss
            square = k * k
            if j > 0:
                size += 0.5 * count * log1p(square)
                angle -= count * atan(k)
            count *= chance / (miss * (1.0 + square))
            real += count
            imaginary += count * k
        value += weight * exp(size) * (real * cos(angle) - imaginary * sin(angle))
    return value / whole / tied


cdef double last_places(const Err* err, const Stop* stops, Py_ssize_t n, double above, double tied, int behind) noexcept nogil:
    """The sum of the terms of the places near the end of a tie group, except for so many at the very end.

    For a place with s places after it, the difference is the sum of C(s, j - 1) / C(tied, j) times the chance to stop j
    times at all items, if the reader went on after each stop.
    """
    cdef double[NEXT_TO_END + 1] times  # the chance to stop so often, for the items so far
    cdef double[NEXT_TO_END + 1] more   # the same for the items of a single chance
    cdef double total = 0.0, carry = 0.0, chance, count, ways, fall
    cdef Py_ssize_t i
    cdef int s, j
    for j in range(NEXT_TO_END + 1):
        times[j] = 1.0 if j == 0 else 0.0
    for i in range(n):
        chance = stops[i].chance
        count = <double>stops[i].count
        ways = 0.0  # the logarithm of the number of ways
        for j in range(NEXT_TO_END + 1):
            more[j] = 0.0
            if j < count and chance < 1.0:
                more[j] = exp(ways + j * log(chance) + (count - j) * log1p(-chance))
            elif j == count:
                more[j] = exp(j * log(chance))
            ways += log((count - j) / (j + 1.0)) if j < count else 0.0
        for s in range(NEXT_TO_END, -1, -1):
            fall = 0.0
            for j in range(s + 1):
                fall += times[s - j] * more[j]
            times[s] = fall
    for s in range(NEXT_TO_END - 1, behind - 1, -1):
        fall = 0.0
        ways = 1.0 / tied
        for j in range(1, s + 2):
            fall += ways * times[j]
            ways *= <double>(s - j + 1) / j * ((j + 1.0) / (tied - j))
        add(&total, &carry, at_rank(err, fall, above + tied - s))
    return total + carry


cdef inline double share_at(const Err* err, const Stop* stops, Py_ssize_t n, double above, double tied,
                            double place) noexcept nogil:
    return at_rank(err, fall_at(stops, n, tied, place), above + place)


cdef double corrections_at(const Err* err, const Stop* stops, Py_ssize_t n, double above, double tied,
                           double end) noexcept nogil:
    """The same corrections for a tie group, from differences of the four places around the end."""
    cdef double[4] near
    cdef int i
    for i in range(4):
        near[i] = share_at(err, stops, n, above, tied, end - 1.5 + <double>i)
    return differences(near)


cdef bint rest_of_group(Err* err, const Stop* stops, Py_ssize_t n, double above, double tied, double last, int64_t behind,
                        double reached) noexcept nogil:
    """Adds the places of a tie group after the first places. False if a signal has raised."""
    cdef double left = HEAD + 0.5, stop = fmin(last, tied - NEXT_TO_END) + 0.5, total = 0.0, carry = 0.0
    cdef double right, half, middle, term, falls, most = -2.0 / err.log_power if err.fade == FADE_POWER else INFINITY
    cdef Py_ssize_t i
    add(&total, &carry, -corrections_at(err, stops, n, above, tied, left))
    while left < stop:
        falls = 0.0
        for i in range(n):
            falls += <double>stops[i].count * stops[i].chance / (
                (1.0 - stops[i].chance) + stops[i].chance * ((tied + 1.0 - left) / (tied + 1.0)))
        right = fmin(stop, left + fmin(fmin(0.5 * left, most), 2.0 * tied / falls))
        half = 0.5 * (right - left)
        middle = left + half
        term = 0.0
        for i in range(4):
            term += half * GAUSS_WEIGHT[i] * (share_at(err, stops, n, above, tied, middle - half * GAUSS_NODE[i])
                                              + share_at(err, stops, n, above, tied, middle + half * GAUSS_NODE[i]))
        add(&total, &carry, term)
        left = right
        if signalled(err.work, 16 * 32 * 16 * n):
            return False
        if term < 1e-20 * total:
            break
    if left >= stop:
        if stop < 1e10:  # beyond, the corrections are negligible
            add(&total, &carry, corrections_at(err, stops, n, above, tied, stop))
        if behind < NEXT_TO_END:
            add(&total, &carry, last_places(err, stops, n, above, tied, <int>behind))
    add(&err.total, &err.carry, reached * (total + carry))
    return True


cdef bint err_in_any_order(Err* err, const Stop* stops, Py_ssize_t n, int64_t above, int64_t tied,
                           int64_t last) noexcept nogil:
    """Adds a tie group. Its chances are falling, and its first `last` places count.

    False if there is no memory, or a signal has raised.
    """
    cdef double reached = err.reached, logs = 0.0
    cdef Py_ssize_t i
    while n > 0 and stops[n - 1].chance == 0.0:
        n -= 1
    if n == 0:
        return True
    if tied < MANY or last <= HEAD:
        return place_by_place(err, stops, n, above, tied, last)
    if not place_by_place(err, stops, n, above, tied, HEAD):
        return False
    if not rest_of_group(err, stops, n, <double>above, <double>tied, <double>last, tied - last, reached):
        return False
    for i in range(n):
        logs += <double>stops[i].count * log1p(-stops[i].chance)
    err.reached = reached * exp(logs) if logs > NEGLIGIBLE else 0.0
    return True
