"""Kernels of measures that combine gain and precision: Q-measure, NCU, graded average precision, average gain.

Q-measure and normalised cumulative utility (Sakai & Robertson 2008) share a kernel. Gains are multiplied by beta, so that
a beta of 0 leaves precision. `p` is the chance to go on after a relevant item, or 1 if all relevant items have the same
weight. The term of a relevant item is (h + gain so far) / (rank + gain so far of the ideal order). Under expected ties the
mean numerator is linear in the place inside a tie group. The denominator is linear while the gain of the ideal order stays
the same. So a group is a harmonic sum for each of these parts. With p < 1 the weight of a place depends on the number of
relevant items before it, which is hypergeometric. The Euler-Maclaurin formula adds many places.
"""
from libc.math cimport INFINITY, NAN, exp, expm1, fabs, floor, log, pow
from libc.stdint cimport INT64_MAX, int64_t, uint32_t

from hitcurve._kernel.err cimport signalled
from hitcurve._kernel.formulas cimport (
    GAUSS_NODE, GAUSS_WEIGHT, NO_CUTOFF, TIES_BEST, TIES_EXPECTED, TIES_WORST, Table, Ties, add, harmonic_sums,
)
from hitcurve._kernel.gains cimport GainReading, GainRoom, Levels, all_hits, count_of, gained, order_ideal, pair_key
from hitcurve._kernel.memory cimport grow
from hitcurve._kernel.sort cimport sort_typed
from hitcurve._kernel.tree cimport add_at, place_of, up_to

cdef enum:
    DIRECT = 256  # so many places at the start and at the end of a group are added one by one, and so are short runs

cdef double NEGLIGIBLE = 1e-17
cdef double WIDE = 1e7  # from this variance on, cumulants replace the distribution


cdef double places(const GainReading* reading, int64_t start, int64_t stop) noexcept nogil:
    return <double>(stop - start)


cdef double average_gain(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil:
    cdef int64_t k = levels.table.num_items if reading.k == NO_CUTOFF else reading.k
    return gained(levels, reading, places, room) / <double>k if k > 0 else NAN


# -------------------------------------------------------------------------------------------------- the ideal order

# A walk down the ideal order, from one gain to the next.
cdef struct Ideal:
    const Levels* levels
    const GainReading* reading
    const int64_t* keys
    Py_ssize_t left
    int64_t start       # the ranks after `start`, up to `stop`, have the same gain
    int64_t stop
    double gain
    double total        # the sum of the gain up to `start`
    double carry


cdef void next_gain(Ideal* ideal) noexcept nogil:
    cdef int64_t place
    add(&ideal.total, &ideal.carry, ideal.gain * <double>(ideal.stop - ideal.start))
    ideal.start = ideal.stop
    if ideal.left == 0:
        ideal.gain = 0.0
        ideal.stop = INT64_MAX
        return
    place = ideal.keys[0] >> 32
    ideal.gain = ideal.reading.falling[place]
    while ideal.left > 0 and ideal.keys[0] >> 32 == place:
        ideal.stop += count_of(ideal.levels, 0, ideal.keys[0])
        ideal.keys += 1
        ideal.left -= 1


# -------------------------------------------------------------------------------------------------------------- utility

# A tie group in any order, or consecutive relevant items with the same gain.
cdef struct Run:
    int64_t above
    int64_t tied
    int64_t hits
    double had          # the number of relevant items above the run, plus their gain
    double rise         # 1 plus the mean gain of the relevant items of the run

# The state of a sum.
cdef struct Utility:
    Ideal ideal
    double p
    double reached      # the chance to get beyond the relevant items above the run
    double total
    double carry
    bint done           # whether the rest is negligible
    int64_t work
    bint failed         # whether a signal has raised


cdef inline bint enough(Utility* sum, double reached) noexcept nogil:
    """Whether the terms of the following relevant items are negligible. Each is at most 1."""
    return sum.p < 1.0 and reached < NEGLIGIBLE * (1.0 - sum.p) * sum.total


cdef void add_straight(Utility* sum, const Run* run, int64_t t, int64_t m, double below) noexcept nogil:
    """Adds m places after the first t, if all relevant items have the same weight. `below`: the denominator at t."""
    cdef double rate = 1.0, rest = 0.0, step = 1.0 + sum.ideal.gain, delta, slope, had, rise
    if run.hits < run.tied:
        rate = <double>(run.hits - 1) / <double>(run.tied - 1)
        rest = <double>(run.tied - run.hits) / <double>(run.tied - 1)
    had = run.had + run.rise * (rest + rate * <double>t)
    rise = run.rise * rate
    if run.hits < run.tied:
        had *= <double>run.hits / <double>run.tied
        rise *= <double>run.hits / <double>run.tied
    if m == 1:
        add(&sum.total, &sum.carry, sum.reached * ((had + rise) / (below + step)))
    elif had == below and rise == step:  # the ranking is ideal so far
        add(&sum.total, &sum.carry, sum.reached * <double>m)
    else:
        harmonic_sums(below / step, <double>m, &delta, &slope)
        add(&sum.total, &sum.carry, sum.reached * (had / step * delta + rise / step * slope))


cdef double met(Utility* sum, const Run* run, double t, double* reached) noexcept nogil:
    """The mean numerator after t places, times the chance to get there. Writes this chance. t may be fractional.

    The number of relevant items among t places is hypergeometric, with probabilities that are polynomials in t. For a
    fractional t, the rarer items are counted, relevant or not: there are far fewer than t, or their probability is 0. If
    the distribution is wide, p is so near to 1 that three cumulants are exact to 1e-16.
    """
    cdef double some = <double>(run.hits - 1), others = <double>(run.tied - run.hits), p = sum.p, swap
    cdef double mode, x, weight, power, mass = 0.0, chance = 0.0, mean = 0.0, fall, spread, skew, all = some + others
    cdef bint relevant = some <= others or t == floor(t)
    cdef int way
    if run.hits == run.tied:
        reached[0] = sum.reached * pow(p, t)
        return reached[0] * (run.had + (t + 1.0) * run.rise)
    mean = t * (some / all)
    spread = mean * (others / all) * ((all - t) / (all - 1.0)) if all > 1.0 else 0.0
    if spread > WIDE and p > 1.0 - 1e-5:
        fall = log(p)
        skew = spread * ((others - some) / all) * ((all - 2.0 * t) / (all - 2.0))
        reached[0] = sum.reached * exp(fall * (mean + fall * (spread / 2.0 + fall * (skew / 6.0))))
        return reached[0] * (run.had + run.rise * (1.0 + mean + fall * (spread + fall * (skew / 2.0))))
    mean = 0.0
    if not relevant:
        swap = some
        some = others
        others = swap
    mode = floor((some + 1.0) * ((t + 1.0) / (all + 2.0)))
    mode = max(min(mode, some, floor(t)), t - others, 0.0)
    mode = floor(mode)
    for way in range(2):  # up from the mode, then down from the mode
        x = mode
        weight = 1.0
        power = pow(p, x if relevant else t - x)
        while 0.0 <= x <= some:
            if way == 0 or x < mode:
                mass += weight
                chance += weight * power
                mean += weight * power * ((x if relevant else t - x) + 1.0)
                if fabs(weight) < 1e-25:
                    break
            if way == 0:
                weight *= (some - x) * (t - x) / ((x + 1.0) * (others - t + x + 1.0))
                x += 1.0
            else:
                weight *= x * (others - t + x) / ((some - x + 1.0) * (t - x + 1.0))
                x -= 1.0
            if (way == 0) == relevant:
                power *= p
            else:
                power = power / p if power > 1e-280 else pow(p, x if relevant else t - x)
        sum.work += <int64_t>fabs(x - mode)
    weight = sum.reached / mass
    reached[0] = weight * chance
    return weight * (run.had * chance + run.rise * mean)


cdef inline double term(Utility* sum, const Run* run, double t, double since, double below, double* reached) noexcept nogil:
    return met(sum, run, t, reached) / (below + (1.0 + sum.ideal.gain) * (t - since + 1.0))


cdef double end_of_smooth(Utility* sum, const Run* run, double t, double since, double below) noexcept nogil:
    """The correction of the Euler-Maclaurin formula at t - 1/2, from differences."""
    cdef double unused
    cdef double a = term(sum, run, t - 2.0, since, below, &unused), b = term(sum, run, t - 1.0, since, below, &unused)
    cdef double c = term(sum, run, t, since, below, &unused), d = term(sum, run, t + 1.0, since, below, &unused)
    return (c - b) / 24.0 - 17.0 / 5760.0 * (d - 3.0 * c + 3.0 * b - a)


cdef double add_smooth(Utility* sum, const Run* run, int64_t t, int64_t end, int64_t since, double below) noexcept nogil:
    """Adds the places from t to before `end`, over which the terms are smooth. Returns the chance to get beyond them."""
    cdef double left = <double>t - 0.5, last = <double>end - 0.5, right, middle, half, panel, reached, from_t = <double>since
    cdef double share = <double>run.hits / <double>run.tied, room
    cdef int i
    add(&sum.total, &sum.carry, share * end_of_smooth(sum, run, <double>t, from_t, below))
    while left < last:
        room = 1.0 / (1.0 - sum.p)
        if run.hits < run.tied:
            room = (<double>(run.tied - 1) - (1.0 - sum.p) * left) / (<double>(run.hits - 1) * (1.0 - sum.p))
        right = min(last, left + min(0.5 * left, room))
        middle = 0.5 * (left + right)
        half = 0.5 * (right - left)
        panel = 0.0
        for i in range(4):
            panel += GAUSS_WEIGHT[i] * (term(sum, run, middle - half * GAUSS_NODE[i], from_t, below, &reached)
                                        + term(sum, run, middle + half * GAUSS_NODE[i], from_t, below, &reached))
        add(&sum.total, &sum.carry, share * half * panel)
        left = right
        if signalled(&sum.work, 0):
            sum.failed = True
        if sum.failed or enough(sum, reached):
            return 0.0
    add(&sum.total, &sum.carry, -share * end_of_smooth(sum, run, <double>end, from_t, below))
    return reached


cdef void add_falling(Utility* sum, const Run* run, int64_t since, int64_t m, double below) noexcept nogil:
    """Adds m places after the first `since`, if each relevant item has less weight than the relevant item before."""
    cdef double share = <double>run.hits / <double>run.tied, reached = INFINITY
    cdef int64_t t = since, end = since + m, smooth = end
    cdef bint slow = share * (1.0 - sum.p) * DIRECT < 1.0
    if run.hits < run.tied:
        smooth = min(end, run.tied - DIRECT)
    while t < end and not sum.done:
        if slow and t >= DIRECT and smooth - t >= DIRECT:
            reached = add_smooth(sum, run, t, smooth, since, below)
            t = smooth
        else:
            add(&sum.total, &sum.carry, share * term(sum, run, <double>t, <double>since, below, &reached))
            t += 1
        if not sum.failed and signalled(&sum.work, 0):
            sum.failed = True
        sum.done = sum.failed or enough(sum, reached)


cdef void add_run(Utility* sum, const Run* run, int64_t last) noexcept nogil:
    """Adds the places of a run that are among the first `last` ranks."""
    cdef int64_t at = run.above, m
    cdef double below
    last = min(last, run.above + run.tied)
    while at < last and not sum.done:
        while sum.ideal.stop <= at:
            next_gain(&sum.ideal)
        m = min(last, sum.ideal.stop) - at
        below = <double>at + (sum.ideal.total + sum.ideal.carry + sum.ideal.gain * <double>(at - sum.ideal.start))
        if sum.p == 1.0 or run.hits == 1:
            add_straight(sum, run, at - run.above, m, below)
        else:
            add_falling(sum, run, at - run.above, m, below)
        at += m


cdef double utility(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil:
    """Normalised cumulative utility; Q-measure if p is 1. Items of level 0 have no gain. NaN if the room has failed."""
    cdef const Table* table = &levels.table
    cdef int64_t num_relevant = all_hits(table), seen = 0, last
    cdef double gain = 0.0, gain_carry = 0.0, one, of_run, most
    cdef Py_ssize_t row, pair, i, n
    cdef Utility sum
    cdef Run run
    order_ideal(levels, reading, room)
    for pair in range(levels.num_missing):
        num_relevant += levels.missing_count[pair]
    if num_relevant == 0:
        return NAN
    if reading.k != NO_CUTOFF:
        num_relevant = min(num_relevant, reading.k)
    sum.ideal = Ideal(levels, reading, room.ideal, room.num_ideal, 0, 0, 0.0, 0.0, 0.0)
    sum.p = reading.p
    sum.total = sum.carry = 0.0
    sum.done = sum.failed = False
    sum.work = room.work
    for row in range(table.rows):
        last = table.above[row] + table.tied[row]
        if reading.k != NO_CUTOFF:
            last = min(last, reading.k)
        sum.reached = pow(sum.p, <double>seen)
        sum.done = sum.done or enough(&sum, sum.reached)
        if last <= table.above[row] or sum.done:
            break
        run = Run(table.above[row], table.tied[row], table.hits[row], 0.0, 0.0)
        n = <Py_ssize_t>(levels.starts[row + 1] - levels.starts[row])
        if reading.ties == TIES_EXPECTED or (n == 1 and run.hits == run.tied):
            one = of_run = 0.0
            for pair in range(levels.starts[row], levels.starts[row + 1]):
                add(&one, &of_run, reading.gain[levels.code[pair]] * <double>levels.count[pair])
            run.had = <double>seen + (gain + gain_carry)
            if n == 1:
                run.rise = 1.0 + reading.gain[levels.code[levels.starts[row]]]
            else:
                run.rise = 1.0 + (one + of_run) / <double>run.hits
            add_run(&sum, &run, last)
            add(&gain, &gain_carry, one + of_run)
            seen += run.hits
            continue
        if reading.ties == TIES_WORST:
            run.above += run.tied - run.hits
        for i in range(n):
            pair = levels.starts[row] + i
            room.keys[i] = pair_key(reading, levels.code[pair], pair)
        sort_typed(room.keys, n, room.scratch)
        for i in range(n):
            pair = <uint32_t>room.keys[i if reading.ties == TIES_BEST else n - 1 - i]
            one = reading.gain[levels.code[pair]]
            run.tied = run.hits = levels.count[pair]
            run.had = <double>seen + (gain + gain_carry)
            run.rise = 1.0 + one
            sum.reached = pow(sum.p, <double>seen)
            sum.done = sum.done or enough(&sum, sum.reached)
            add_run(&sum, &run, last)
            add(&gain, &gain_carry, one * <double>run.hits)
            seen += run.hits
            run.above += run.hits
    room.work = sum.work
    room.failed = room.failed or sum.failed
    most = <double>num_relevant
    if sum.p < 1.0:
        most = -expm1(<double>num_relevant * log(sum.p)) / (1.0 - sum.p)
    return NAN if room.failed else min((sum.total + sum.carry) / most, 1.0)


# ---------------------------------------------------------------------------------------------- graded average precision

# The relevant items above, by weight, the highest weight first, in two trees of running sums.
cdef struct Weights:
    Py_ssize_t number      # the number of distinct weights
    const int64_t* places  # the places of these weights among the gains
    double* weight
    double* count          # the number of items so far of each weight
    double* sum            # the sum of their weights, from the lowest weight up


cdef inline Py_ssize_t find_weight(const Weights* seen, int64_t place) noexcept nogil:
    return place_of(seen.places, seen.number, place) - 1


cdef double shared(const Weights* seen, Py_ssize_t i) noexcept nogil:
    """The sum, over the items above, of the lesser of their weight and weight i."""
    return up_to(seen.sum, seen.number - i) + up_to(seen.count, i) * seen.weight[i]


cdef void count_in(Weights* seen, Py_ssize_t i, double count) noexcept nogil:
    add_at(seen.count, seen.number, i + 1, count)
    add_at(seen.sum, seen.number, seen.number - i, count * seen.weight[i])


cdef void add_precisions(double* total, double* carry, int64_t above, int64_t m, double had, double rise) noexcept nogil:
    """Adds (had + rise j) / (above + j) for j from 1 to m."""
    cdef double delta, slope
    if m == 1:
        add(total, carry, (had + rise) / (<double>above + 1.0))
    elif had == rise * <double>above:
        add(total, carry, rise * <double>m)
    elif m > 1:
        harmonic_sums(<double>above, <double>m, &delta, &slope)
        add(total, carry, had * delta + rise * slope)


cdef double of_thresholds(const Levels* levels, const GainReading* reading, GainRoom* room, bint levels_alike) noexcept nogil:
    cdef const Table* table = &levels.table
    cdef Weights seen
    cdef Py_ssize_t row, pair, i, n, step
    cdef Ties ties
    cdef int64_t start, last, end, left, k = INT64_MAX if reading.k == NO_CUTOFF else reading.k
    cdef double total = 0.0, carry = 0.0, most = 0.0, most_carry = 0.0, had, count, weight, pairs, higher, tied
    order_ideal(levels, reading, room)
    seen.number = 0
    for i in range(room.num_ideal):
        if i == 0 or room.ideal[i] >> 32 != room.ideal[i - 1] >> 32:
            room.keys[seen.number] = room.ideal[i] >> 32
            seen.number += 1
    if seen.number == 0:
        return NAN
    if not grow(<void**>&room.values, &room.values_size, 3 * seen.number, sizeof(double)):
        room.failed = True
        return NAN
    seen.places = room.keys
    seen.weight = room.values
    seen.count = seen.weight + seen.number
    seen.sum = seen.count + seen.number
    for i in range(seen.number):
        seen.weight[i] = <double>(seen.number - i) if levels_alike else reading.falling[seen.places[i]]
        seen.count[i] = seen.sum[i] = 0.0
    left = k
    for i in range(room.num_ideal):
        start = min(left, count_of(levels, 0, room.ideal[i]))
        add(&most, &most_carry, seen.weight[find_weight(&seen, room.ideal[i] >> 32)] * <double>start)
        left -= start
    for row in range(table.rows):
        start = table.above[row]
        last = min(start + table.tied[row], k)
        if last <= start:
            break
        n = <Py_ssize_t>(levels.starts[row + 1] - levels.starts[row])
        tied = <double>table.tied[row]
        had = pairs = 0.0
        higher = <double>table.hits[row]
        ties = reading.ties
        if n == 1 and table.hits[row] == table.tied[row]:
            ties = TIES_BEST  # all orders are the same
        if ties == TIES_WORST:
            start += table.tied[row] - table.hits[row]
        for i in range(n):
            pair = levels.starts[row] + (n - 1 - i if ties == TIES_BEST else i)
            step = find_weight(&seen, reading.place[levels.code[pair]])
            count = <double>levels.count[pair]
            weight = seen.weight[step]
            higher -= count
            if ties == TIES_EXPECTED:
                had += count / tied * (shared(&seen, step) + weight)
                if tied > 1.0:
                    pairs += count / tied * weight * ((count - 1.0 + 2.0 * higher) / (tied - 1.0))
            else:  # in the order of the items
                if last > start:
                    end = min(last, start + levels.count[pair])
                    add_precisions(&total, &carry, start, end - start, shared(&seen, step), weight)
                count_in(&seen, step, count)
                start += levels.count[pair]
        if ties != TIES_EXPECTED:
            continue
        add_precisions(&total, &carry, start, last - start, had - pairs, pairs)
        for pair in range(levels.starts[row], levels.starts[row + 1]):
            count_in(&seen, find_weight(&seen, reading.place[levels.code[pair]]), <double>levels.count[pair])
    most += most_carry
    return min((total + carry) / most, 1.0) if most > 0.0 else NAN


cdef double graded_precision(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil:
    """Graded average precision. The gain of a level is the sum of the weights of the thresholds up to it."""
    return of_thresholds(levels, reading, room, False)


cdef double graded_precision_of_levels(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil:
    """Graded average precision, where all levels of the ranking have the same weight."""
    return of_thresholds(levels, reading, room, True)
