"""Kernels of INSQ, INST, NERR, BPM and the residual of RBP: measures that model a user who goes down the ranking.

C(i) is the share of users at rank i who look at the next item. The weight of a rank is the product of C over the ranks
before it, divided by the sum of these products over all ranks. A run of items with the same gain costs at most a few
hundred terms: after the first items the products are gamma functions, which the Euler-Maclaurin formula adds.
"""
from libc.math cimport INFINITY, NAN, ceil, exp, expm1, fma, fmax, log, log1p, pow
from libc.stdint cimport int64_t

from hitcurve._kernel.err cimport signalled
from hitcurve._kernel.formulas cimport GAUSS_NODE, GAUSS_WEIGHT, NO_CUTOFF, TIES_WORST, Table, add, harmonic_sums
from hitcurve._kernel.gains cimport (
    FALL_NOT, FALL_POWER, FALL_RANK, LOOKS, PART_DEPTH, PART_RATE, PART_TOTAL, gained, greatest,
)

cdef enum:
    DIRECT = 256   # terms with a denominator below DIRECT are added one by one
    LEAST = -650   # the logarithm of a negligible weight
    HEAD = 512     # so many items of a run are added one by one


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


cdef inline double part_of(const GainReading* reading, double total, double depth) noexcept nogil:
    return total if reading.part == PART_TOTAL else depth if reading.part == PART_DEPTH else total / depth


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
    cdef double x, last
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
    if reading.hopeful:
        go_on(&user, 0.0, stop - rank)
    x = user.x + user.x_carry
    last = exp(user.fall + user.fall_carry)
    if reading.hopeful:  # each of infinitely many ranks has gain 1
        last /= -expm1(log_chance(x))
        add(&user.total, &user.carry, last)
        add(&user.weights, &user.weights_carry, last)
    else:
        add(&user.weights, &user.weights_carry, last * squares(x, x, INFINITY))
    return part_of(reading, user.total + user.carry, user.weights + user.weights_carry)


# ---------------------------------------------------------------------------------------------------------------- NERR
# The chance to look at a rank is a chance that falls with the rank, times the chance that no item before it stops the user.
# An item stops the user with a chance that is its gain.

cdef double beyond(const GainReading* reading, double start, double count) noexcept nogil:
    """The sum of the chances to look at `count` ranks after `start`, from a formula; the number may be infinite."""
    cdef double delta, slope, fall
    if reading.fall == FALL_NOT:
        return count
    if reading.fall == FALL_RANK:
        harmonic_sums(start, count, &delta, &slope)
        return delta
    if reading.fall == FALL_POWER:
        fall = log(reading.p)
        return pow(reading.p, start) * expm1(count * fall) / expm1(fall)
    return squares(2.0 * reading.p, 2.0 * reading.p + start, count)


cdef inline double looks(const GainReading* reading, int64_t start, int64_t stop) noexcept nogil:
    """The sum of the chances to look at the ranks after `start`, up to `stop`."""
    cdef const double* rest = reading.looked + LOOKS + 1
    cdef double total = 0.0
    cdef int64_t last = min(stop, LOOKS)
    if start < last:
        total = (reading.looked[last] - reading.looked[start]) + (rest[last] - rest[start])
        start = last
    return total if start >= stop else total + beyond(reading, <double>start, <double>(stop - start))


cdef void fill_looks(const GainReading* reading, double* chances, double* sums) noexcept nogil:
    """Fills the tables of a reading: LOOKS chances, and 2 (LOOKS + 1) numbers for their sums."""
    cdef double total = 0.0, carry = 0.0
    cdef double* rest = sums + LOOKS + 1
    cdef Py_ssize_t i
    sums[0] = rest[0] = 0.0
    for i in range(LOOKS):
        chances[i] = beyond(reading, <double>i, 1.0)
        add(&total, &carry, chances[i])
        sums[i + 1] = total + carry
        rest[i + 1] = (total - sums[i + 1]) + carry


cdef inline double look(const GainReading* reading, int64_t rank) noexcept nogil:
    return reading.looks[rank - 1] if rank <= LOOKS else beyond(reading, <double>(rank - 1), 1.0)


cdef inline double falling_term(double power, double fall, double x, double i) noexcept nogil:
    return exp(i * fall) * pow(x + i, -power)


cdef inline double falling_end(double power, double fall, double x, double i) noexcept nogil:
    """The corrections of the midpoint Euler-Maclaurin formula at an end, from the first and the third derivative."""
    cdef double v = 1.0 / (x + i), slope = fall - power * v, bend = power * v * v
    return falling_term(power, fall, x, i) * (
        -slope / 24.0 + 7.0 / 5760.0 * (slope * (slope * slope + 3.0 * bend) - 2.0 * bend * v))


cdef double falling(double power, double fall, double x, int64_t many) noexcept nogil:
    """The sum of exp(i fall) / (x + i)^power over i = 0, 1, ..., many - 1. `fall` is below 0, and x is above 0.

    After the first terms, the integral in pieces and its corrections at the ends.
    """
    cdef double total = 0.0, carry = 0.0, left, right, half, middle, term
    cdef int64_t i
    cdef int j
    for i in range(min(many, <int64_t>HEAD)):
        term = falling_term(power, fall, x, <double>i)
        add(&total, &carry, term)
        if term < 1e-20 * total:
            return total + carry
    if many <= HEAD:
        return total + carry
    left = HEAD - 0.5
    add(&total, &carry, -falling_end(power, fall, x, left))
    while left < <double>many - 0.5:
        right = min(<double>many - 0.5, left + min(0.5 * (x + left), -2.0 / fall))
        half = 0.5 * (right - left)
        middle = left + half
        term = 0.0
        for j in range(4):
            term += half * GAUSS_WEIGHT[j] * (falling_term(power, fall, x, middle - half * GAUSS_NODE[j])
                                              + falling_term(power, fall, x, middle + half * GAUSS_NODE[j]))
        add(&total, &carry, term)
        if term < 1e-20 * total:
            return total + carry
        left = right
    add(&total, &carry, falling_end(power, fall, x, left))
    return total + carry


# The user after `rank` items.
cdef struct Visit:
    int64_t rank
    double reached        # the chance that no item so far stops the user
    double reached_carry
    double total
    double carry
    double depth
    double depth_carry


cdef inline void walk_on(Visit* walk, const GainReading* reading, double gain) noexcept nogil:
    cdef double weight = (walk.reached + walk.reached_carry) * look(reading, walk.rank + 1), left = 1.0 - gain
    cdef double reached = walk.reached * left
    add(&walk.total, &walk.carry, gain * weight)
    add(&walk.depth, &walk.depth_carry, weight)
    walk.reached_carry = fma(walk.reached, left, -reached) + walk.reached_carry * left + walk.reached * ((1.0 - left) - gain)
    walk.reached = reached
    walk.rank += 1


cdef void walk_through(Visit* walk, const GainReading* reading, double gain, int64_t many) noexcept nogil:
    """`many` items with the same gain, which is from 0 to 1."""
    cdef double fall, reached = walk.reached + walk.reached_carry, weight
    if many <= 0 or reached == 0.0:
        return
    if many == 1:
        walk_on(walk, reading, gain)
        return
    if gain == 0.0:
        add(&walk.depth, &walk.depth_carry, reached * looks(reading, walk.rank, walk.rank + many))
        walk.rank += many
        return
    if gain == 1.0:
        walk_on(walk, reading, gain)
        walk.rank += many - 1
        return
    fall = log1p(-gain)
    if reading.fall == FALL_NOT:
        weight = -expm1(<double>many * fall) / gain
    elif reading.fall == FALL_POWER:
        weight = fall + log(reading.p)
        weight = pow(reading.p, <double>walk.rank) * expm1(<double>many * weight) / expm1(weight)
    elif reading.fall == FALL_RANK:
        weight = falling(1.0, fall, <double>walk.rank + 1.0, many)
    else:
        weight = 4.0 * reading.p * reading.p * falling(2.0, fall, <double>walk.rank + 2.0 * reading.p, many)
    weight *= reached
    add(&walk.total, &walk.carry, gain * weight)
    add(&walk.depth, &walk.depth_carry, weight)
    walk.reached = reached * exp(<double>many * fall)
    walk.reached_carry = 0.0
    walk.rank += many


cdef double nerr(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil:
    """A measure of NERR of the best or the worst order, as ties are read. `p` holds p or T."""
    cdef const Table* table = &levels.table
    cdef Visit walk = [0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    cdef int64_t stop = table.num_items, many
    cdef Py_ssize_t row, i, pair, n
    cdef bint worst = reading.ties == TIES_WORST, ends = reading.fall == FALL_NOT or reading.fall == FALL_RANK
    if reading.k != NO_CUTOFF:
        stop = min(stop, reading.k)
    for row in range(table.rows):
        if walk.rank >= stop or walk.reached == 0.0:
            break
        many = table.above[row] - walk.rank
        if worst:
            many += table.tied[row] - table.hits[row]
        walk_through(&walk, reading, 0.0, min(many, stop - walk.rank))
        n = <Py_ssize_t>(levels.starts[row + 1] - levels.starts[row])
        for i in range(n):
            pair = levels.starts[row] + i if worst else levels.starts[row + 1] - 1 - i
            walk_through(&walk, reading, reading.gain[levels.code[pair]], min(levels.count[pair], stop - walk.rank))
            if signalled(&room.work, 16):
                room.failed = True
                return NAN
    if walk.reached > 0.0:
        walk_through(&walk, reading, 0.0, stop - walk.rank)
        if reading.hopeful and not (ends and stop >= reading.k):
            walk_on(&walk, reading, 1.0)
        elif ends:
            walk_through(&walk, reading, 0.0, reading.k - walk.rank)
        else:
            stop = max(walk.rank, LOOKS)
            walk_through(&walk, reading, 0.0, stop - walk.rank)
            add(&walk.depth, &walk.depth_carry,
                (walk.reached + walk.reached_carry) * beyond(reading, <double>stop, INFINITY))
    return part_of(reading, walk.total + walk.carry, walk.depth + walk.depth_carry)


# ----------------------------------------------------------------------------------------------------------------- BPM

# The user after `rank` items. `gain` is in units of levels, as is `wanted`.
cdef struct Player:
    double rank
    double gain
    double carry
    double wanted    # the user stops when the gain is at least `wanted`, and
    double most      # when the rank is at least `most`
    bint stopped


cdef inline double first_time(double step, double need) noexcept nogil:
    """The least whole number i from 1 up with i * step >= need, or infinity."""
    cdef double i
    if step >= need:
        return 1.0
    if step <= 0.0:
        return INFINITY
    i = ceil(need / step)
    if (i - 1.0) * step >= need:
        return i - 1.0
    return i if i * step >= need else i + 1.0


cdef void play(Player* player, const GainReading* reading, double gain, double many) noexcept nogil:
    """`many` items with the same gain; their number may be infinite."""
    cdef double more = reading.more_gain * (gain - reading.middle * reading.scale_gain)
    cdef double further = reading.more_ranks * (gain / reading.scale_gain - reading.middle)
    cdef double left = player.wanted - (player.gain + player.carry), items
    if more != 0.0 or further != 0.0:
        items = min(first_time(gain - more, left - more), first_time(1.0 - further, (player.most - player.rank) - further))
    else:
        items = max(1.0, player.most - player.rank)
        if gain > 0.0 and min(items, many) * gain >= left:
            items = min(items, first_time(gain, left))
    player.stopped = items <= many
    items = min(items, many)
    player.rank += items
    if gain > 0.0:
        add(&player.gain, &player.carry, items * gain)
    player.wanted += items * more
    player.most += items * further


cdef inline bint alike(const Levels* levels, const GainReading* reading, Py_ssize_t row) noexcept nogil:
    """Whether all items of a tie group have the same gain."""
    cdef Py_ssize_t pair, first = <Py_ssize_t>levels.starts[row]
    cdef double gain = reading.gain[levels.code[first]]
    for pair in range(first + 1, levels.starts[row + 1]):
        if reading.gain[levels.code[pair]] != gain:
            return False
    return gain == 0.0 or levels.table.hits[row] == levels.table.tied[row]


cdef double bpm(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil:
    """BPM. `p` holds the wanted gain in units of levels. Below 0 if the order of a tie group matters: minus its first rank."""
    cdef const Table* table = &levels.table
    cdef Player player = [0.0, 0.0, 0.0, reading.p, <double>reading.k, False]
    cdef double gain
    cdef Py_ssize_t row, pair
    cdef bint fixed = reading.more_gain == 0.0 and reading.more_ranks == 0.0
    for row in range(table.rows):
        if not player.stopped and player.rank < <double>table.above[row]:
            play(&player, reading, 0.0, <double>table.above[row] - player.rank)
        if player.stopped:
            break
        if table.tied[row] > 1 and not alike(levels, reading, row):
            gain = player.gain + player.carry
            for pair in range(levels.starts[row], levels.starts[row + 1]):
                gain += reading.gain[levels.code[pair]] * <double>levels.count[pair]
            if not fixed or gain >= player.wanted or player.rank + <double>table.tied[row] > player.most:
                return -1.0 - player.rank
            play(&player, reading, 0.0, <double>(table.tied[row] - table.hits[row]))
        for pair in range(levels.starts[row], levels.starts[row + 1]):
            if not player.stopped:
                play(&player, reading, reading.gain[levels.code[pair]], <double>levels.count[pair])
    if not player.stopped and player.rank < <double>table.num_items:
        play(&player, reading, 0.0, <double>table.num_items - player.rank)
    if not player.stopped:
        play(&player, reading, reading.scale_gain if reading.hopeful else 0.0, INFINITY)
    gain = (player.gain + player.carry) / reading.scale_gain
    if player.rank == INFINITY and reading.part == PART_RATE:
        return 1.0
    return part_of(reading, gain, player.rank)


# ------------------------------------------------------------------------------------------------------------ residuals

cdef double rbp_residual(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil:
    """The weight of the ranks beyond the last item, or beyond k."""
    cdef int64_t stop = levels.table.num_items
    if reading.k != NO_CUTOFF:
        stop = min(stop, reading.k)
    return pow(reading.p, <double>stop)
