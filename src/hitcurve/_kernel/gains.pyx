"""Kernels of measures of gain, from a table whose relevant items have levels.

A row is a tie group. Under expected ties each place of a group has the mean gain of the group (McSherry & Najork 2008).
The best and the worst order put the gains of a group in falling or rising order. Sums are compensated. A tie group of any
size costs a few dozen terms, because the Euler-Maclaurin formula adds the discounts of a long run of places.
"""
from libc.math cimport NAN, expm1, log, log2, pow
from libc.stdint cimport INT64_MAX, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from hitcurve._kernel.columns cimport KIND_F64, KIND_U64, SCORE_DOUBLE, SCORE_FLOAT, Column, is_nan, load_scores
from hitcurve._kernel.err cimport Err, Stop, err_in_any_order, err_in_order, start_err
from hitcurve._kernel.formulas cimport (
    GAUSS_NODE, GAUSS_WEIGHT, NO_CUTOFF, TIES_EXPECTED, TIES_WORST, add, harmonic_sums,
)
from hitcurve._kernel.sort cimport score_t, sort_typed

cdef extern from "_bits.h":
    int first_byte "hitcurve_first_byte"(uint64_t eight) noexcept nogil

cdef enum:
    TABULATED = 1024  # a table has the discounts 1 / log2(rank + 1) of so many ranks
    DIRECT = 256      # ranks up to this rank, and runs of at most so many ranks, are added one by one
    COUNTED = 40      # among so many rows, counting is faster than a search
    SEARCHED = 8      # the number of scores that are searched together
    FEW_PLACES = 64   # so many adjacent distinct gains are sorted by counting

cdef double[TABULATED + 1] LOG2
cdef Py_ssize_t _rank
for _rank in range(1, TABULATED + 1):
    LOG2[_rank] = 1.0 / log2(<double>_rank + 1.0)


# ----------------------------------------------------------------------------------------------------------- discounts

cdef inline double discount(const GainReading* reading, int64_t rank) noexcept nogil:
    if reading.discount == DISCOUNT_TABLE:
        return reading.table[rank - 1] if rank <= reading.length else 0.0
    if reading.discount == DISCOUNT_RANK:
        return 1.0 / <double>rank
    if rank < reading.plain:
        return 1.0
    if rank <= TABULATED and reading.shift == 1.0:
        return LOG2[rank]
    return reading.scale / log(<double>rank + reading.shift)


cdef double smooth_sum(double scale, double shift, int64_t start, int64_t stop) noexcept nogil:
    """The sum of scale / log(x + shift) over whole x from start, at least DIRECT, to stop.

    The integral in pieces, whose ends have a ratio of at most 1.5, and the first three corrections. The next correction
    is below 1e-17 of the sum.
    """
    cdef double total = 0.0, carry = 0.0, low = 0.0, high, middle, half, u, first, last, width = <double>(stop - start)
    cdef double a = <double>start + shift, b = <double>stop + shift, la = log(a), lb = log(b)
    cdef int i
    while low < width:  # relative to the start, because a double may not hold its last digits
        high = min(width, 1.5 * low + 0.5 * <double>start)
        middle = a + 0.5 * (low + high)
        half = 0.5 * (high - low)
        u = 0.0
        for i in range(4):
            u += GAUSS_WEIGHT[i] * (1.0 / log(middle - half * GAUSS_NODE[i]) + 1.0 / log(middle + half * GAUSS_NODE[i]))
        add(&total, &carry, half * u)
        low = high
    add(&total, &carry, 0.5 * (1.0 / la + 1.0 / lb))
    first = -1.0 / (a * la * la)
    last = -1.0 / (b * lb * lb)
    add(&total, &carry, (last - first) / 12.0)
    first = -(2.0 * la * la + 6.0 * la + 6.0) / (a * a * a * la * la * la * la)
    last = -(2.0 * lb * lb + 6.0 * lb + 6.0) / (b * b * b * lb * lb * lb * lb)
    add(&total, &carry, -(last - first) / 720.0)
    return scale * (total + carry)


cdef double discounts(const GainReading* reading, int64_t start, int64_t stop) noexcept nogil:
    """The sum of the discounts of the ranks after `start`, up to `stop`."""
    cdef double total = 0.0, carry = 0.0, slope
    cdef int64_t rank = start + 1, direct = stop
    if stop - start == 1:
        return discount(reading, stop)
    if reading.discount == DISCOUNT_RANK:
        harmonic_sums(<double>start, <double>(stop - start), &total, &slope)
        return total
    if reading.discount == DISCOUNT_TABLE:
        direct = min(stop, reading.length)
    else:
        if rank < reading.plain:
            direct = min(stop, reading.plain - 1)
            add(&total, &carry, <double>(direct + 1 - rank))
            rank = direct + 1
            direct = stop
        if stop - rank >= DIRECT:
            direct = max(rank, DIRECT) - 1
    while rank <= direct:
        add(&total, &carry, discount(reading, rank))
        rank += 1
    if rank <= stop and reading.discount != DISCOUNT_TABLE:
        add(&total, &carry, smooth_sum(reading.scale, reading.shift, rank, stop))
    return total + carry


cdef double powers(const GainReading* reading, int64_t start, int64_t stop) noexcept nogil:
    """The sum of (1 - p) p^(rank - 1) over the ranks after `start`, up to `stop`."""
    cdef double fall = log(reading.p)
    if stop - start == 1:
        return (1.0 - reading.p) * pow(reading.p, <double>start)
    return -expm1(<double>(stop - start) * fall) * pow(reading.p, <double>start)


# --------------------------------------------------------------------------------------------------------- gain by gain

# Keys from this value on are pairs of relevant items that were never retrieved. The last key is for irrelevant items.
cdef int64_t MISSING = <int64_t>1 << 31
cdef int64_t OTHERS = (<int64_t>1 << 32) - 1


cdef int64_t count_of(const Levels* levels, int64_t others, int64_t key) noexcept nogil:
    """The number of items of a key."""
    cdef int64_t pair = <uint32_t>key
    if pair == OTHERS:
        return others
    return levels.missing_count[pair - MISSING] if pair >= MISSING else levels.count[pair]


cdef void sort_keys(int64_t* keys, Py_ssize_t n, int64_t* scratch) noexcept nogil:
    """Sorts the keys by gain, best first."""
    cdef Py_ssize_t[FEW_PLACES + 1] ends
    cdef int64_t least = keys[0] >> 32, greatest = least, place
    cdef Py_ssize_t i, end = 0, many
    for i in range(1, n):
        least = min(least, keys[i] >> 32)
        greatest = max(greatest, keys[i] >> 32)
    if greatest == least:
        return
    if greatest - least >= FEW_PLACES:
        sort_typed(keys, n, scratch)
        return
    for i in range(<Py_ssize_t>(greatest - least) + 1):
        ends[i] = 0
    for i in range(n):
        ends[(keys[i] >> 32) - least] += 1
    for i in range(<Py_ssize_t>(greatest - least) + 1):
        many = ends[i]
        ends[i] = end
        end += many
    for i in range(n):
        place = (keys[i] >> 32) - least
        scratch[ends[place]] = keys[i]
        ends[place] += 1
    memcpy(keys, scratch, n * sizeof(int64_t))


cdef double in_order(const Levels* levels, const GainReading* reading, Worth worth, const int64_t* keys, Py_ssize_t n,
                     int64_t others, int64_t start, int64_t stop, bint rising) noexcept nogil:
    """The value of the items of sorted keys at the places after `start`, up to `stop`, with the best gain first or last."""
    cdef double total = 0.0, carry = 0.0, gain
    cdef Py_ssize_t i = 0, step = 1, left = n
    cdef int64_t many, place, last
    if rising:
        i = n - 1
        step = -1
    while left > 0 and start < stop:
        place = keys[i] >> 32
        many = 0
        while left > 0 and keys[i] >> 32 == place:
            many += count_of(levels, others, keys[i])
            i += step
            left -= 1
        last = min(start + many, stop)
        gain = reading.falling[place]
        if gain != 0.0 and last > start:
            add(&total, &carry, gain * worth(reading, start, last))
        start += many
    return total + carry


cdef int64_t all_hits(const Table* table) noexcept nogil:
    cdef int64_t hits = 0
    cdef Py_ssize_t row
    for row in range(table.rows):
        hits += table.hits[row]
    return hits


cdef double gained(const Levels* levels, const GainReading* reading, Worth worth, GainRoom* room) noexcept nogil:
    """The sum over items of the gain times the value of the place."""
    cdef const Table* table = &levels.table
    cdef double total = 0.0, carry = 0.0, zero = reading.gain[0], gain, gain_carry
    cdef int64_t stop = table.num_items, end = 0, last, others
    cdef Py_ssize_t row, pair, n
    if reading.k != NO_CUTOFF:
        stop = min(stop, reading.k)
    for row in range(table.rows):
        if zero != 0.0 and end < min(table.above[row], stop):
            add(&total, &carry, zero * worth(reading, end, min(table.above[row], stop)))
        end = table.above[row] + table.tied[row]
        last = min(end, stop)
        if last <= table.above[row]:
            break
        if table.tied[row] == 1:
            gain = reading.gain[levels.code[levels.starts[row]]]
            if gain != 0.0:
                add(&total, &carry, gain * worth(reading, table.above[row], last))
            continue
        others = table.tied[row] - table.hits[row]
        n = 0
        if reading.ties == TIES_EXPECTED or (others == 0 and levels.starts[row + 1] - levels.starts[row] == 1):
            gain = gain_carry = 0.0
            for pair in range(levels.starts[row], levels.starts[row + 1]):
                add(&gain, &gain_carry, reading.gain[levels.code[pair]] * <double>levels.count[pair])
                n += 1
            add(&gain, &gain_carry, zero * <double>others)
            gain = (gain + gain_carry) / <double>table.tied[row]
            if n == 1 and others == 0:  # equal to the ideal order to the last bit
                gain = reading.gain[levels.code[levels.starts[row]]]
            if gain != 0.0:
                add(&total, &carry, gain * worth(reading, table.above[row], last))
            continue
        for pair in range(levels.starts[row], levels.starts[row + 1]):
            room.keys[n] = pair_key(reading, levels.code[pair], pair)
            n += 1
        room.keys[n] = pair_key(reading, 0, OTHERS)
        sort_keys(room.keys, n + 1, room.scratch)
        add(&total, &carry, in_order(levels, reading, worth, room.keys, n + 1, others, table.above[row], last,
                                     reading.ties == TIES_WORST))
    if zero != 0.0 and end < stop:
        add(&total, &carry, zero * worth(reading, end, stop))
    return total + carry


cdef void order_ideal(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil:
    """Sorts the pairs of all items by falling gain, including the items that were never retrieved."""
    cdef const Table* table = &levels.table
    cdef Py_ssize_t pair, n = 0
    if room.num_ideal >= 0:  # the order is the same for every cutoff
        return
    if table.rows > 0:
        for pair in range(levels.starts[0], levels.starts[table.rows]):
            room.ideal[n] = pair_key(reading, levels.code[pair], pair)
            n += 1
    for pair in range(levels.num_missing):
        room.ideal[n] = pair_key(reading, levels.missing_code[pair], MISSING + pair)
        n += 1
    if reading.gain[0] != 0.0:
        room.ideal[n] = pair_key(reading, 0, OTHERS)
        n += 1
    if n > 1:
        sort_keys(room.ideal, n, room.scratch)
    room.num_ideal = n


cdef double ideal(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil:
    """The discounted gain of all items in the ideal order."""
    cdef int64_t stop = INT64_MAX if reading.ideal_k == NO_CUTOFF else reading.ideal_k, others = 0
    if reading.gain[0] != 0.0:
        others = levels.table.num_items - all_hits(&levels.table)
    order_ideal(levels, reading, room)
    return in_order(levels, reading, discounts, room.ideal, room.num_ideal, others, 0, stop, False)


cdef double dcg(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil:
    return gained(levels, reading, discounts, room)


cdef double ndcg(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil:
    cdef double most = ideal(levels, reading, room)
    return gained(levels, reading, discounts, room) / most if most > 0.0 else NAN


cdef double greatest(const Levels* levels, const GainReading* reading) noexcept nogil:
    """The divisor of the gains of a ranking: the greatest gain, but at least 1."""
    cdef double most = 1.0
    cdef Py_ssize_t pair
    if levels.table.rows > 0:
        for pair in range(levels.starts[0], levels.starts[levels.table.rows]):
            most = max(most, reading.gain[levels.code[pair]])
    for pair in range(levels.num_missing):
        most = max(most, reading.gain[levels.missing_code[pair]])
    return most


cdef double rbp(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil:
    return gained(levels, reading, powers, room) / greatest(levels, reading)


cdef double err(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil:
    """Expected reciprocal rank. The gains are chances to stop, which rise with the codes. NaN if the room has failed."""
    cdef const Table* table = &levels.table
    cdef Stop* stops = <Stop*>room.keys  # 16 bytes each: the memory is large enough
    cdef Err state
    cdef Py_ssize_t row, pair, i, n
    cdef int64_t start, last
    cdef bint worst = reading.ties == TIES_WORST
    start_err(&state, &room.values, &room.values_size, &room.work)
    for row in range(table.rows):
        start = table.above[row]
        last = start + table.tied[row]
        if reading.k != NO_CUTOFF:
            last = min(last, reading.k)
        if last <= start or state.reached == 0.0 or room.failed:
            break
        n = <Py_ssize_t>(levels.starts[row + 1] - levels.starts[row])
        for i in range(n):
            pair = levels.starts[row] + i if worst else levels.starts[row + 1] - 1 - i
            stops[i].chance = reading.gain[levels.code[pair]]
            stops[i].count = levels.count[pair]
        if reading.ties == TIES_EXPECTED and (n > 1 or table.hits[row] < table.tied[row]):
            room.failed = not err_in_any_order(&state, stops, n, start, table.tied[row], last - start)
            continue
        if worst:
            start += table.tied[row] - table.hits[row]
        for i in range(n):
            room.failed = room.failed or not err_in_order(&state, &stops[i], start, last)
            start += stops[i].count
    return NAN if room.failed else state.total + state.carry


# ------------------------------------------------------------------------------------------------------ levels of a row

ctypedef fused code_t:
    uint8_t
    uint32_t


cdef inline uint32_t row_among_few(const score_t* score, Py_ssize_t rows, bint lower_is_better, score_t x) noexcept nogil:
    """The row of a score, by counting the rows before it, eight at a time."""
    cdef uint32_t before = 0
    cdef Py_ssize_t i
    if lower_is_better:
        for i in range(rows):
            before += score[i] < x
    else:
        for i in range(rows):
            before += score[i] > x
    return before


cdef inline void search_rows(const score_t* score, Py_ssize_t rows, bint lower_is_better, const score_t* x,
                             Py_ssize_t* row) noexcept nogil:
    """The rows of SEARCHED scores. Each binary search waits only for its own loads."""
    cdef Py_ssize_t middle
    cdef int j
    for j in range(SEARCHED):
        row[j] = 0
    while rows > 1:
        middle = rows >> 1
        if lower_is_better:
            for j in range(SEARCHED):
                row[j] += middle & -<Py_ssize_t>(score[row[j] + middle] <= x[j])
        else:
            for j in range(SEARCHED):
                row[j] += middle & -<Py_ssize_t>(score[row[j] + middle] >= x[j])
        rows -= middle


cdef inline void find_rows(const score_t* score, Py_ssize_t rows, bint lower_is_better, const score_t* x, Py_ssize_t n,
                           int64_t* keys) noexcept nogil:
    """Puts the row of each of n scores into the upper half of its key."""
    cdef score_t[SEARCHED] some
    cdef Py_ssize_t[SEARCHED] row
    cdef Py_ssize_t i = 0, j, many
    if rows <= COUNTED:
        for i in range(n):
            keys[i] |= <int64_t>row_among_few(score, rows, lower_is_better, x[i]) << 32
        return
    while i < n:
        many = min(<Py_ssize_t>SEARCHED, n - i)
        for j in range(SEARCHED):
            some[j] = x[i + min(j, many - 1)]
        search_rows(score, rows, lower_is_better, some, row)
        for j in range(many):
            keys[i + j] |= <int64_t>row[j] << 32
        i += SEARCHED


cdef inline const score_t* as_they_lie(const Column* column, const score_t* type) noexcept nogil:
    """The scores, if they are contiguous and need no conversion, else NULL."""
    if column.stride != sizeof(score_t) or (score_t is double and column.kind != KIND_F64) or (
            score_t is int64_t and column.kind == KIND_U64):
        return NULL
    return <const score_t*>column.data


cdef inline Py_ssize_t next_coded(const code_t* codes, Py_ssize_t i, Py_ssize_t n) noexcept nogil:
    """The next item from i on with a level, or n."""
    cdef uint64_t some
    while i + 8 // <Py_ssize_t>sizeof(code_t) <= n:
        memcpy(&some, codes + i, 8)
        if some != 0:
            return i + first_byte(some) // <Py_ssize_t>sizeof(code_t)
        i += 8 // <Py_ssize_t>sizeof(code_t)
    while i < n and codes[i] == 0:
        i += 1
    return i


cdef inline bint alone(Pairs* pairs, Py_ssize_t n) noexcept nogil:
    """Whether each of n rows has a single key. If so, the keys become the pairs."""
    cdef Py_ssize_t i
    cdef bint once = True
    cdef uint32_t* code = pairs.code + pairs.number
    for i in range(n):
        code[i] = 0
    for i in range(n):
        once &= code[pairs.keys[i] >> 32] == 0
        code[pairs.keys[i] >> 32] = <uint32_t>pairs.keys[i]
    if once:
        for i in range(n):
            pairs.starts[i] = pairs.number + i
            pairs.count[pairs.number + i] = 1
        pairs.number += n
        pairs.starts[n] = pairs.number
    return once


cdef Py_ssize_t find_typed(const Items* items, const code_t* codes, const score_t* rows, Py_ssize_t num_rows,
                           bint lower_is_better, bint nan_row, Py_ssize_t room, Pairs* pairs) noexcept nogil:
    cdef score_t x, held
    cdef score_t* some = <score_t*>(pairs.keys + room)  # the scores of the items with a level
    cdef const score_t* scores = as_they_lie(&items.score, rows)
    cdef Py_ssize_t i = next_coded(codes, 0, items.n), n = 0, numbers = num_rows - nan_row, row
    cdef int64_t key, last = -1
    while i < items.n:
        x = scores[i] if scores is not NULL else load_scores(&items.score, i, 1, &held)[0]
        if nan_row if is_nan(x) else numbers > 0:
            if n == room:
                return -1  # codes or scores have changed since the rows were made
            pairs.keys[n] = <int64_t>codes[i]
            some[n] = x
            n += 1
        i = next_coded(codes, i + 1, items.n)
    find_rows(rows, numbers, lower_is_better, some, n, pairs.keys)
    if nan_row:
        for i in range(n):
            if is_nan(some[i]):
                pairs.keys[i] = <int64_t>numbers << 32 | <uint32_t>pairs.keys[i]
    if n == num_rows and alone(pairs, n):
        return n
    sort_typed(pairs.keys, n, pairs.keys + room)
    row = 0
    for i in range(n):
        key = pairs.keys[i]
        if key != last:
            while row <= key >> 32:
                pairs.starts[row] = pairs.number
                row += 1
            pairs.code[pairs.number] = <uint32_t>key
            pairs.count[pairs.number] = 0
            pairs.number += 1
            last = key
        pairs.count[pairs.number - 1] += 1
    while row <= num_rows:
        pairs.starts[row] = pairs.number
        row += 1
    return n


cdef inline Py_ssize_t find_coded(const Items* items, const code_t* codes, const Items* rows, bint lower_is_better,
                                  bint nan_row, Py_ssize_t room, Pairs* pairs) noexcept nogil:
    if items.type == SCORE_FLOAT:
        return find_typed(items, codes, <const float*>rows.score.data, rows.n, lower_is_better, nan_row, room, pairs)
    if items.type == SCORE_DOUBLE:
        return find_typed(items, codes, <const double*>rows.score.data, rows.n, lower_is_better, nan_row, room, pairs)
    return find_typed(items, codes, <const int64_t*>rows.score.data, rows.n, lower_is_better, nan_row, room, pairs)


cdef Py_ssize_t find_pairs(const Items* items, const void* codes, bint narrow, const Items* rows, bint lower_is_better,
                           bint nan_row, Py_ssize_t room, Pairs* pairs) noexcept nogil:
    """Appends the pairs of a ranking, and where the pairs of each row start. ``rows`` are the scores of the rows.

    Codes have 8 bits if narrow, else 32. Code 0 is for items without a level. Returns the number of items with a level,
    or -1 if there are more than ``room``.
    """
    if narrow:
        return find_coded(items, <const uint8_t*>codes, rows, lower_is_better, nan_row, room, pairs)
    return find_coded(items, <const uint32_t*>codes, rows, lower_is_better, nan_row, room, pairs)
