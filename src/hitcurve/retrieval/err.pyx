"""Expected reciprocal rank (Chapelle, Metzler, Zhang & Grinspan 2009, CIKM), and its mean over all orders of ties."""
from libc.math cimport exp2, log1p, pow
from libc.stdint cimport int64_t

from hitcurve._kernel.formulas cimport add
from hitcurve.retrieval.query cimport Asked, Group, Query, Room, next_group
from hitcurve.retrieval.memory cimport grow

cdef enum:
    WORK_AT_ONCE = 1 << 26  # between two looks for Ctrl-C

cdef double NEGLIGIBLE = -42.0  # the logarithm of 6e-19
cdef double UNLIKELY = 1e-30

cdef extern from "Python.h":
    int PyErr_CheckSignals()


cdef inline double stop_chance(const Asked* asked, int64_t level) noexcept nogil:
    return (exp2(<double>level) - 1.0) / exp2(asked.top) if level > 0 else 0.0


cdef double err(const Query* query, const Asked* asked) noexcept nogil:
    cdef Py_ssize_t i
    cdef double reached = 1.0, total = 0.0, chance
    for i in range(query.num_rows):
        if asked.k >= 0 and query.rows[i].rank > asked.k:
            break
        chance = stop_chance(asked, query.rows[i].level)
        total += chance * reached / <double>query.rows[i].rank
        reached *= 1.0 - chance
    return total


# Documents drawn one by one without replacement: how likely it is that so many of some of them are drawn by now.
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
    """How many of n documents are drawn before the chance to get beyond them is negligible, or they or places end.

    It is at most (1 - mean chance)^depth, by Maclaurin's inequality.
    """
    cdef double deep = NEGLIGIBLE / log1p(-all_chances / <double>n)
    return min(n, last, <int64_t>min(deep, 1e18) + 1)


cdef bint signalled(Draws* draws, int64_t* work) noexcept nogil:
    """Whether a signal has raised; asked now and then."""
    work[0] += draws.high - draws.low + 8
    if work[0] < WORK_AT_ONCE:
        return False
    work[0] = 0
    with gil:
        return PyErr_CheckSignals() != 0


cdef bint expected_err(const Query* query, const Asked* asked, Room* room, double* found) noexcept nogil:
    """Tie group by tie group; False if there is no memory, or a signal has raised.

    Which documents with a chance to stop come first does not depend on the ranks they take. So the j-th of them adds
    the fall of the chance to get beyond it, over the rank that it has. The chance to get beyond j of them is the mean
    product of (1 - chance) over j drawn without replacement, an elementary symmetric mean: a power for those of one
    level, from which the levels are mixed one after the other. All that is added up is positive.
    """
    cdef Py_ssize_t i, j, depth, more_depth
    cdef int64_t t, last, hits, more, level, below, work = 0
    cdef double reached = 1.0, chance, all_chances, term, fall, get, total = 0.0, carry = 0.0
    cdef Draws draws
    cdef Group group
    cdef double* beyond          # of the levels mixed so far: the chance to get beyond j
    cdef double* falls           # and how much less it is than to get beyond j - 1
    cdef double* power           # the former, of the level that comes to them
    cdef double* next_beyond
    cdef double* next_falls
    group.stop = 0
    while next_group(query, True, &group):
        last = group.tied if asked.k < 0 else min(group.tied, asked.k - group.above)
        if last <= 0:
            break
        hits = level = 0
        all_chances = 0.0
        for i in range(group.start, group.stop):
            chance = stop_chance(asked, query.rows[i].level)
            all_chances += chance
            hits += chance > 0.0
            level = max(level, query.rows[i].level)
        if hits == 0:
            continue
        depth = depth_of(all_chances, hits, last) + 1  # the most: chances fall from level to level
        if not grow(<void**>&room.values, &room.values_size, 6 * depth, sizeof(double)):
            return False
        beyond = room.values
        falls = beyond + depth
        power = falls + depth
        next_beyond = power + depth
        next_falls = next_beyond + depth
        draws.likely = next_falls + depth
        hits = depth = 0
        all_chances = 0.0
        beyond[0] = next_beyond[0] = power[0] = 1.0
        while level > 0:
            more = below = 0
            for i in range(group.start, group.stop):
                more += query.rows[i].level == level
                if query.rows[i].level < level:
                    below = max(below, query.rows[i].level)
            chance = stop_chance(asked, level)
            all_chances += <double>more * chance
            more_depth = depth_of(all_chances, hits + more, last)
            for j in range(1, min(more, more_depth) + 1):
                power[j] = pow(1.0 - chance, <double>j)
            start_draws(&draws, hits, more, depth)
            for t in range(more_depth):
                # The next document after t, of which j are of the levels before, is one of those or one of this level.
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
                if signalled(&draws, &work):
                    return False
            beyond, next_beyond = next_beyond, beyond
            falls, next_falls = next_falls, falls
            hits += more
            depth = more_depth
            level = below
        # Among the documents without a chance, rank by rank.
        start_draws(&draws, hits, group.tied - hits, depth)
        for t in range(last):
            fall = 0.0
            for j in range(draws.low, min(draws.high + 1, depth)):
                fall += draws.likely[j] * <double>(hits - j) * falls[j + 1]
            add(&total, &carry, reached * fall / (<double>(draws.all - t) * <double>(group.above + t + 1)))
            draw(&draws)
            if draws.low == depth:
                break
            if signalled(&draws, &work):
                return False
        if depth < hits:
            break
        reached *= beyond[hits]
    found[0] = total + carry
    return True
