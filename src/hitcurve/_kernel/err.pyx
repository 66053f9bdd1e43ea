"""Expected reciprocal rank (Chapelle, Metzler, Zhang & Grinspan 2009, CIKM), and its mean over all orders of ties."""
from libc.math cimport exp, log1p, pow
from libc.stdint cimport int64_t

from hitcurve._kernel.formulas cimport add
from hitcurve._kernel.memory cimport grow

cdef enum:
    WORK_AT_ONCE = 1 << 26  # between two looks for Ctrl-C

cdef double NEGLIGIBLE = -42.0  # the logarithm of 6e-19
cdef double UNLIKELY = 1e-30

cdef extern from "Python.h":
    int PyErr_CheckSignals()
    Py_ssize_t PY_SSIZE_T_MAX


cdef bint signalled(int64_t* work, int64_t more) noexcept nogil:
    """Whether a signal has raised; asked now and then."""
    work[0] += more + 8
    if work[0] < WORK_AT_ONCE:
        return False
    work[0] = 0
    with gil:
        return PyErr_CheckSignals() != 0


cdef bint err_in_order(Err* err, const Stop* stop, int64_t above, int64_t last) noexcept nogil:
    """Items of one chance at the ranks after `above`, up to `last`; False if a signal has raised."""
    cdef double reached = err.reached, fall = log1p(-stop.chance)
    cdef int64_t i
    if stop.chance == 0.0:
        return True
    for i in range(min(stop.count, last - above)):
        stop_at(err, stop.chance, above + i + 1)
        if i > 0:  # what rounding leaves of 1 - chance adds up in a power of it
            err.reached = reached * exp(<double>(i + 1) * fall)
        if err.reached < 6e-19:
            err.reached = 0.0
            break
        if signalled(err.work, 0):
            return False
    return True


# Items drawn one by one without replacement: how likely it is that so many of some of them are drawn by now.
cdef struct Draws:
    int64_t all
    int64_t some
    int64_t drawn
    double* likely       # from `low` to `high`, where it is worth a thought; at `depth`: so many or more
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
    if draws.drawn % 64 == 63:  # the whole is 1 but for what rounding adds up to
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
    """How many of n items are drawn before the chance to get beyond them is negligible, or they or places end.

    It is at most (1 - mean chance)^depth, by Maclaurin's inequality.
    """
    cdef double deep = NEGLIGIBLE / log1p(-all_chances / <double>n)
    return min(n, last, <int64_t>min(deep, 1e18) + 1)


cdef bint err_in_any_order(Err* err, const Stop* stops, Py_ssize_t n, int64_t above, int64_t tied,
                           int64_t last) noexcept nogil:
    """A tie group, its chances falling, of which the first `last` places count.

    False if there is no memory, or a signal has raised. Which items with a chance to stop come first does not depend on
    the ranks they take. So the j-th of them adds the fall of the chance to get beyond it, over the rank that it has. The
    chance to get beyond j of them is the mean product of (1 - chance) over j drawn without replacement, an elementary
    symmetric mean: a power for those of one chance, from which the chances are mixed one after the other. All that is
    added up is positive.
    """
    cdef Py_ssize_t i, j, depth = 0, more_depth
    cdef int64_t t, hits = 0, more
    cdef double chance, all_chances = 0.0, term, fall, get
    cdef Draws draws
    cdef double* beyond          # of the chances mixed so far: the chance to get beyond j
    cdef double* falls           # and how much less it is than to get beyond j - 1
    cdef double* power           # the former, of the chance that comes to them
    cdef double* next_beyond
    cdef double* next_falls
    while n > 0 and stops[n - 1].chance == 0.0:
        n -= 1
    if n == 0:
        return True
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
            # The next item after t, of which j are of the chances before, is one of those or one of this chance.
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
    # Among the items without a chance, rank by rank.
    start_draws(&draws, hits, tied - hits, depth)
    for t in range(last):
        fall = 0.0
        for j in range(draws.low, min(draws.high + 1, depth)):
            fall += draws.likely[j] * <double>(hits - j) * falls[j + 1]
        add(&err.total, &err.carry, err.reached * fall / (<double>(draws.all - t) * <double>(above + t + 1)))
        draw(&draws)
        if draws.low == depth:
            break
        if signalled(err.work, draws.high - draws.low):
            return False
    err.reached = err.reached * beyond[hits] if depth == hits else 0.0
    return True
