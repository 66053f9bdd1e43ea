"""Kernels of rank-biased overlap: of two rankings, and of a ranking with its nearest ideal ranking.

The agreement of two rankings at depth d is the share of their first d items that they have in common. Rank-biased overlap is
the mean of the agreement over all depths, in which depth d has the weight (1 - p) p^(d - 1).
"""
from libc.math cimport NAN, exp, expm1, fma, fmax, fmin, log, sqrt
from libc.stdint cimport int64_t, uint32_t

from hitcurve._kernel.err cimport signalled
from hitcurve._kernel.formulas cimport TIES_WORST, add
from hitcurve._kernel.gains cimport count_of, order_ideal
from hitcurve._kernel.memory cimport grow
from hitcurve._kernel.sort cimport sort_typed

cdef enum:
    CHECKED = 1 << 16  # depths between two looks for Ctrl-C
    DIRECT = 256       # terms of a series up to this one are added one by one


# ------------------------------------------------------------------------------------------------------------- weights

# The weight p^(d - 1) of a depth. Its rounding errors do not add up over millions of depths.
cdef struct Weight:
    double value
    double rest


cdef inline void fall(Weight* weight, double p) noexcept nogil:
    """Goes to the next depth."""
    cdef double product = weight.value * p
    weight.rest = fma(weight.value, p, -product) + weight.rest * p
    weight.value = product + weight.rest
    weight.rest -= weight.value - product


cdef double exponential_integral(double x) noexcept nogil:
    """The integral of exp(-t) / t over t from x to infinity: the series below 1, the continued fraction from 1 on."""
    cdef double total = -0.57721566490153286061 - log(x), carry = 0.0, term = -1.0, a, b, c, d, step
    cdef int i
    if x < 1.0:
        for i in range(1, 30):
            term *= -x / i
            add(&total, &carry, term / i)
        return total + carry
    b = x + 1.0
    c = 1e300
    d = 1.0 / b
    total = d
    for i in range(1, 200):
        a = -<double>i * i
        b += 2.0
        d = 1.0 / (a * d + b)
        c = b + a / c
        step = c * d
        total *= step
        if step == 1.0:
            break
    return total * exp(-x)


cdef double rest_of_logarithm(double p, int64_t first) noexcept nogil:
    """The sum of p^d / d over d from `first` to infinity: all of -log(1 - p) from 1 on.

    For p near 1 the sum is an integral from `first` - 1/2, with two corrections. The next one is below 1e-16 of the sum.
    """
    cdef double total = 0.0, carry = 0.0, rate = -log(p), x, term, left, inverse
    cdef int64_t d = first
    while rate > 0.01 or d < DIRECT:
        term = exp(-rate * <double>d) / <double>d
        add(&total, &carry, term)
        d += 1
        if term <= 1e-18 * total * rate:
            return total + carry
    x = <double>d - 0.5
    inverse = 1.0 / x
    left = exp(-rate * x) * inverse
    add(&total, &carry, exponential_integral(rate * x))
    add(&total, &carry, -left * (rate + inverse) / 24.0)
    add(&total, &carry, left * 7.0 / 5760.0 * (
        rate * rate * rate + inverse * (3.0 * rate * rate + inverse * (6.0 * rate + 6.0 * inverse))))
    return total + carry


# ----------------------------------------------------------------------------------------------------------- compatibility

cdef void first_ranks(const Levels* levels, bint worst, int64_t* ranks) noexcept nogil:
    """The rank of the first item of each pair of the table, with the items of a tie group in their best or worst order."""
    cdef Py_ssize_t row, pair, i, n, first = <Py_ssize_t>levels.starts[0]
    cdef int64_t rank
    for row in range(levels.table.rows):
        rank = levels.table.above[row] + 1
        if worst:
            rank += levels.table.tied[row] - levels.table.hits[row]
        n = <Py_ssize_t>(levels.starts[row + 1] - levels.starts[row])
        for i in range(n):  # the levels of a row rise
            pair = levels.starts[row] + i if worst else levels.starts[row + 1] - 1 - i
            ranks[pair - first] = rank
            rank += levels.count[pair]


cdef double shared_weight(const Levels* levels, const GainReading* reading, GainRoom* room, double* most,
                          int64_t* depth) noexcept nogil:
    """The sum of p^(d - 1) times the agreement with the nearest ideal ranking, up to the end of the longer ranking.

    The ideal ranking has falling levels. Items of a level keep the order of the ranking, and those never retrieved follow. So
    an item is in common from the greater of its two ranks on. `most` is the same sum of the ideal ranking with itself.
    """
    cdef Py_ssize_t i, n = 0, begun = 0, ended = 0, first = <Py_ssize_t>levels.starts[0]
    cdef Py_ssize_t pairs = <Py_ssize_t>levels.starts[levels.table.rows] - first
    cdef int64_t ideal = 0, d = 0, many, slope = 0, common = 0
    cdef int64_t* starts = room.keys
    cdef int64_t* ranks
    cdef int64_t* stops
    cdef double total = 0.0, carry = 0.0, most_carry = 0.0, p = reading.p
    cdef Weight weight = [1.0, 0.0]
    most[0] = 0.0
    if not grow(<void**>&room.values, &room.values_size, 2 * pairs + 1, sizeof(double)):
        room.failed = True
        return NAN
    ranks = <int64_t*>room.values
    stops = ranks + pairs
    first_ranks(levels, reading.ties == TIES_WORST, ranks)
    order_ideal(levels, reading, room)
    for i in range(room.num_ideal):
        many = count_of(levels, 0, room.ideal[i])
        if <Py_ssize_t><uint32_t>room.ideal[i] - first < pairs:  # not a pair of items never retrieved
            starts[n] = max(ranks[<Py_ssize_t><uint32_t>room.ideal[i] - first], ideal + 1)
            stops[n] = starts[n] + many
            n += 1
        ideal += many
    depth[0] = max(levels.table.num_items, ideal)
    if n > 1:
        sort_typed(starts, n, room.scratch)
        sort_typed(stops, n, room.scratch)
    while d < depth[0] and n > 0 and weight.value > fmax(1e-18 * (1.0 - p) * total, 1e-300):
        d += 1
        while begun < n and starts[begun] == d:
            begun += 1
            slope += 1
        while ended < n and stops[ended] == d:
            ended += 1
            slope -= 1
        common += slope
        add(&total, &carry, weight.value * (<double>common / <double>d))
        add(most, &most_carry, weight.value * (<double>min(d, ideal) / <double>d))
        fall(&weight, p)
        if d % CHECKED == 0 and signalled(&room.work, CHECKED):
            room.failed = True
            return NAN
    most[0] = most[0] + most_carry if n > 0 else <double>ideal
    return total + carry


cdef double compat(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil:
    """Divided by the overlap of the ideal ranking with itself."""
    cdef double most
    cdef int64_t depth
    cdef double found = shared_weight(levels, reading, room, &most, &depth)
    return found / most if most > 0.0 else NAN


cdef double compat_as_is(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil:
    """Divided by the sum of the weights."""
    cdef double most
    cdef int64_t depth
    cdef double found = shared_weight(levels, reading, room, &most, &depth)
    return found * ((1.0 - reading.p) / -expm1(<double>depth * log(reading.p))) if depth > 0 else 0.0


# ----------------------------------------------------------------------------------------------- overlap of two rankings

# How much of an item is seen at a depth.
cdef enum:
    UNSEEN, TIED, SEEN  # TIED: its tie group holds the depth

# A walk down a ranking.
cdef struct Descent:
    const Ordered* of
    Py_ssize_t group
    int64_t begin         # of the tie group that holds the depth
    int64_t end
    double share          # of this group's items that are above the depth; 1 if tied items have the same rank


cdef inline void see(Descent* walk, const Ordered* other, int64_t[3][3] both, int from_state, int to_state,
                     bint turned) noexcept nogil:
    """Moves the items of the group from a state to another. `both` counts the items of both rankings by their two states."""
    cdef int64_t i, item
    cdef int there
    for i in range(walk.begin, walk.end):
        item = walk.of.items[i]
        walk.of.state[item] = to_state
        there = other.state[item]
        if there == UNSEEN:
            continue
        if turned:
            both[there][from_state] -= 1
            both[there][to_state] += 1
        else:
            both[from_state][there] -= 1
            both[to_state][there] += 1


cdef inline void go_down(Descent* walk, const Ordered* other, int64_t[3][3] both, int64_t d, TieVariant variant,
                         bint turned) noexcept nogil:
    """Goes down to depth d, which is at most the size of the ranking."""
    if d > walk.end:
        if walk.end - walk.begin > 1:
            see(walk, other, both, TIED, SEEN, turned)
        walk.begin = walk.end
        walk.end = walk.of.ends[walk.group]
        walk.group += 1
        see(walk, other, both, UNSEEN, TIED if walk.end - walk.begin > 1 else SEEN, turned)
    walk.share = 1.0
    if variant != VARIANT_W and d < walk.end:
        walk.share = <double>(d - walk.begin) / <double>(walk.end - walk.begin)


cdef inline double squares(const Descent* walk) noexcept nogil:
    """The sum over the items of the square of the share that is seen."""
    return <double>walk.begin + walk.share * walk.share * <double>(walk.end - walk.begin)


cdef inline double agreement(const Descent* short, const Descent* long, double common, int64_t d,
                             TieVariant variant) noexcept nogil:
    """The agreement at depth d. Beyond the end of the shorter ranking its items have no ties."""
    cdef bint beyond = d > short.of.size
    if variant == VARIANT_A:
        return common / <double>d
    if variant == VARIANT_W:
        return 2.0 * common / <double>((d if beyond else short.end) + long.end)
    return common / sqrt((<double>d if beyond else squares(short)) * squares(long))


# A mean over depths. The weight that it lacks is summed too, so that the value is exactly 1 where all agreements are 1.
cdef struct Mean:
    double total, carry
    double lack, lack_carry


cdef inline void add_depth(Mean* mean, double weight, double agreement) noexcept nogil:
    add(&mean.total, &mean.carry, weight * agreement)
    add(&mean.lack, &mean.lack_carry, weight * (1.0 - agreement))


cdef inline double mean_of(const Mean* mean, double p) noexcept nogil:
    cdef double found = (1.0 - p) * (mean.total + mean.carry)
    return found if found < 0.5 else 1.0 - (1.0 - p) * (mean.lack + mean.lack_carry)


cdef void beyond_end(int64_t common, int64_t s, int64_t n, double p, Weight weight, Overlap* out, Mean* low, Mean* high,
                     double residual) noexcept nogil:
    """The depths beyond both rankings, for the bounds. `weight` is that of the first of these depths."""
    cdef double carry = 0.0, rest, q = 1.0 - p
    cdef int64_t d, stop = n + s - common  # from there on at most, all items can be in common
    cdef double last
    add(&low.total, &low.carry, <double>common / p * rest_of_logarithm(p, n + 1))
    for d in range(n + 1, stop + 1):
        add_depth(high, weight.value, <double>(2 * d - stop) / <double>d)
        add(&residual, &carry, weight.value * (<double>(2 * d - n - s) / <double>d))
        fall(&weight, p)
    last = weight.value / q
    add_depth(high, last, 1.0)
    rest = last - (<double>common / p * rest_of_logarithm(p, stop + 1) if common > 0 else 0.0)
    add(&residual, &carry, max(rest, 0.0))
    out.low = fmin(1.0, q * (low.total + low.carry))
    out.high = mean_of(high, p)
    out.residual = q * (residual + carry)


cdef void overlap(const Ordered* one, const Ordered* other, double p, TieVariant variant, Overlap* out) noexcept nogil:
    """Rank-biased overlap of two rankings (Webber, Moffat & Zobel 2010) with ties (Corsi & Urbano 2024)."""
    cdef const Ordered* shorter = one if one.size <= other.size else other
    cdef const Ordered* longer = other if one.size <= other.size else one
    cdef Descent short = [shorter, 0, 0, 0, 1.0]
    cdef Descent long = [longer, 0, 0, 0, 1.0]
    cdef int64_t[3][3] both
    cdef int64_t d, s = shorter.size, n = longer.size, unseen, full, tied, common
    cdef double at_end = NAN, seen, here, more, residual = 0.0, residual_carry = 0.0
    cdef Mean low = [0.0, 0.0, 0.0, 0.0]
    cdef Mean high = [0.0, 0.0, 0.0, 0.0]
    cdef Mean mid = [0.0, 0.0, 0.0, 0.0]
    cdef Weight weight = [1.0, 0.0]
    for d in range(9):
        both[d // 3][d % 3] = 0
    for d in range(1, n + 1):
        go_down(&long, shorter, both, d, variant, True)
        if d <= s:
            go_down(&short, longer, both, d, variant, False)
        elif d == s + 1 and short.end - short.begin > 1:
            see(&short, longer, both, TIED, SEEN, False)
        if d <= s:
            seen = (<double>both[SEEN][SEEN] + long.share * <double>both[SEEN][TIED] + short.share * <double>both[TIED][SEEN]
                    + short.share * long.share * <double>both[TIED][TIED])
            at_end = here = agreement(&short, &long, seen, d, variant)
            add_depth(&low, weight.value, here)
            add_depth(&high, weight.value, here)
            add_depth(&mid, weight.value, here)
        else:
            seen = <double>both[SEEN][SEEN] + long.share * <double>both[SEEN][TIED]
            unseen = d - s
            # The items of the longer ranking that the shorter ranking lacks: in whole groups, and in this group.
            tied = long.end - long.begin - both[SEEN][TIED] if long.end - long.begin > 1 else 0
            full = (long.begin if long.end - long.begin > 1 else long.end) - both[SEEN][SEEN]
            here = agreement(&short, &long, seen, d, variant)
            add_depth(&low, weight.value, here)
            more = <double>min(unseen, full) + long.share * <double>min(max(unseen - full, 0), tied)
            add_depth(&high, weight.value, agreement(&short, &long, seen + more, d, variant))
            add(&residual, &residual_carry, weight.value * agreement(&short, &long, more, d, variant))
            more = <double>unseen * at_end * ((<double>full + long.share * <double>tied) / <double>(full + tied))
            add_depth(&mid, weight.value, agreement(&short, &long, seen + more, d, variant))
        fall(&weight, p)
    if s == n and short.end - short.begin > 1:
        see(&short, longer, both, TIED, SEEN, False)
    if long.end - long.begin > 1:
        see(&long, shorter, both, TIED, SEEN, True)
    common = both[SEEN][SEEN]
    beyond_end(common, s, n, p, weight, out, &low, &high, residual + residual_carry)
    out.extrapolated = NAN
    if s > 0:
        add_depth(&mid, weight.value / (1.0 - p), (<double>common + <double>(n - s) * at_end) / <double>n)
        out.extrapolated = mean_of(&mid, p)
