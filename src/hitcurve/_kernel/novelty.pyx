"""Kernels of measures of novelty (Clarke and others 2008, SIGIR; 2009, ICTIR).

The value of a subtopic is the sum, over the ranks of its items, of (1 - alpha)^(items of the subtopic above) times a discount
of the rank. This is the sum of expected reciprocal rank with one chance to stop, alpha, divided by alpha, and so is its mean
over the orders of a tie group.
"""
from libc.math cimport NAN, expm1, log, pow
from libc.stdint cimport int64_t

from hitcurve._kernel.err cimport (
    FADE_LOG, FADE_RANK, Err, Stop, at_rank, err_in_any_order, err_in_order, signalled, start_err,
)
from hitcurve._kernel.formulas cimport NO_CUTOFF, TIES_EXPECTED, TIES_WORST, Table, add, harmonic_sums
from hitcurve._kernel.gains cimport DISCOUNT_LOG, GainReading, discounts


cdef double plain(const Novelty* asked, int64_t start, int64_t stop) noexcept nogil:
    """The sum of the discounts of the ranks after `start`, up to `stop`."""
    cdef GainReading reading
    cdef double total, slope
    if stop <= start:
        return 0.0
    if asked.fade == FADE_LOG:
        reading.discount, reading.scale, reading.shift, reading.plain = DISCOUNT_LOG, log(2.0), 1.0, 0
        return discounts(&reading, start, stop)
    if asked.fade == FADE_RANK:
        harmonic_sums(<double>start, <double>(stop - start), &total, &slope)
        return total
    if stop - start == 1:
        return pow(asked.power, <double>start)
    return -expm1(<double>(stop - start) * log(asked.power)) / (1.0 - asked.power) * pow(asked.power, <double>start)


cdef double repeated(const Table* table, const Novelty* asked) noexcept nogil:
    """The sum for alpha = 0: an item counts the same however many items of its subtopic rank above it."""
    cdef double total = 0.0, carry = 0.0, share
    cdef Py_ssize_t row
    cdef int64_t start, last
    for row in range(table.rows):
        start = table.above[row]
        last = start + table.tied[row]
        share = 1.0
        if asked.ties == TIES_EXPECTED:
            share = <double>table.hits[row] / <double>table.tied[row]
        elif asked.ties == TIES_WORST:
            start = last - table.hits[row]
        else:
            last = start + table.hits[row]
        if asked.k != NO_CUTOFF:
            last = min(last, asked.k)
        if last > start:
            add(&total, &carry, share * plain(asked, start, last))
    return total + carry


cdef double cascade(const Table* table, const Novelty* asked, NoveltyRoom* room) noexcept nogil:
    """The value of one subtopic. NaN if the room has failed."""
    cdef Err state
    cdef Stop stop
    cdef Py_ssize_t row
    cdef int64_t seen = 0, start, last
    if asked.alpha == 0.0:
        return repeated(table, asked)
    start_err(&state, &room.values, &room.values_size, &room.work)
    state.fade = asked.fade
    state.power = asked.power
    state.log_power = log(asked.power)
    stop.chance = asked.alpha
    for row in range(table.rows):
        start = table.above[row]
        last = start + table.tied[row]
        if asked.k != NO_CUTOFF:
            last = min(last, asked.k)
        state.reached = asked.powers[seen]
        if last <= start or state.reached < 6e-19 or room.failed:
            break
        stop.count = table.hits[row]
        seen += stop.count
        if table.tied[row] == 1:
            add(&state.total, &state.carry, at_rank(&state, stop.chance * state.reached, <double>last))
        elif asked.ties == TIES_EXPECTED and stop.count < table.tied[row]:
            room.failed = not err_in_any_order(&state, &stop, 1, start, table.tied[row], last - start)
        else:
            if asked.ties == TIES_WORST:
                start += table.tied[row] - stop.count
            room.failed = not err_in_order(&state, &stop, start, last)
    room.failed = room.failed or signalled(&room.work, table.rows)
    return NAN if room.failed else (state.total + state.carry) / asked.alpha


# ---------------------------------------------------------------------------------------------------- the greedy order

cdef double gain_of(const Pool* pool, const Sets* sets, const Novelty* asked, const GreedyRoom* room,
                    int64_t code) noexcept nogil:
    """What an item of this code would add. Its terms are added in ascending order, so that equal terms give equal sums."""
    cdef Py_ssize_t n = 0, i
    cdef int64_t at
    cdef double term, total = 0.0
    for at in range(sets.starts[code], sets.starts[code + 1]):
        term = pool.weight[sets.member[at]] * asked.powers[room.hits[sets.member[at]]]
        i = n
        while i > 0 and room.terms[i - 1] > term:
            room.terms[i] = room.terms[i - 1]
            i -= 1
        room.terms[i] = term
        n += 1
    for i in range(n):
        total += room.terms[i]
    return total


cdef Py_ssize_t list_codes(const Pool* pool, const GreedyRoom* room) noexcept nogil:
    """Lists the codes of the pool, each with its items in order. Returns the number of codes."""
    cdef Py_ssize_t codes = 0, i
    cdef int64_t code
    for i in range(pool.number - 1, -1, -1):
        code = pool.code[i]
        if room.place[code] == 0:
            room.codes[codes] = code
            room.first[codes] = -1
            codes += 1
            room.place[code] = codes
        room.following[i] = room.first[room.place[code] - 1]
        room.first[room.place[code] - 1] = i
    return codes


cdef inline bint comes_first(const GreedyRoom* room, int64_t a, int64_t b) noexcept nogil:
    """Whether code a is taken before code b. A code without items left has a gain below 0."""
    return room.gain[a] > room.gain[b] or (room.gain[a] == room.gain[b] and room.first[a] < room.first[b])


cdef void sink(const GreedyRoom* room, Py_ssize_t codes, Py_ssize_t at) noexcept nogil:
    """Moves the code at a place of the heap down to its place."""
    cdef int64_t moved = room.heap[at]
    cdef Py_ssize_t child = 2 * at + 1
    while child < codes:
        child += child + 1 < codes and comes_first(room, room.heap[child + 1], room.heap[child])
        if not comes_first(room, room.heap[child], moved):
            break
        room.heap[at] = room.heap[child]
        at = child
        child = 2 * at + 1
    room.heap[at] = moved


cdef void greedy(const Pool* pool, const Sets* sets, const Novelty* asked, const int64_t* k, Py_ssize_t n,
                 const GreedyRoom* room, double* out) noexcept nogil:
    """The discounted gain of the greedy order at each of n ranks, or of all items if k is NULL.

    At each rank the order takes the item that adds most; of items that add the same, the first of the pool. A gain only falls
    as items are taken. So a gain that was computed earlier is a bound, and only the greatest gains, at the top of a heap, are
    computed again.
    """
    cdef Py_ssize_t codes = list_codes(pool, room), c, i
    cdef int64_t best = 0
    cdef double total = 0.0, carry = 0.0
    cdef int64_t rank, at, most = pool.number
    cdef Err state
    start_err(&state, NULL, NULL, NULL)
    state.fade = asked.fade
    state.power = asked.power
    if k is not NULL:
        most = 0
        for i in range(n):
            out[i] = NAN
            most = max(most, min(k[i], <int64_t>pool.number))
    for c in range(codes):
        room.gain[c] = gain_of(pool, sets, asked, room, room.codes[c])
        room.step[c] = 1
        room.heap[c] = c
    for c in range(codes // 2 - 1, -1, -1):
        sink(room, codes, c)
    for rank in range(1, most + 1):
        best = room.heap[0]
        while room.gain[best] > 0.0 and room.step[best] < rank:
            room.gain[best] = gain_of(pool, sets, asked, room, room.codes[best])
            room.step[best] = rank
            sink(room, codes, 0)
            best = room.heap[0]
        if room.gain[best] <= 0.0:
            break
        add(&total, &carry, at_rank(&state, room.gain[best], <double>rank))
        room.first[best] = room.following[room.first[best]]
        if room.first[best] < 0:
            room.gain[best] = -1.0
        sink(room, codes, 0)
        for at in range(sets.starts[room.codes[best]], sets.starts[room.codes[best] + 1]):
            room.hits[sets.member[at]] += 1
        if k is not NULL:
            for i in range(n):
                if k[i] == rank:
                    out[i] = total + carry
    for i in range(n):
        if k is NULL or not out[i] == out[i]:
            out[i] = total + carry
    for c in range(codes):
        room.place[room.codes[c]] = 0
        for at in range(sets.starts[room.codes[c]], sets.starts[room.codes[c] + 1]):
            room.hits[sets.member[at]] = 0
