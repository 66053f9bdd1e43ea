"""Kernels that compute measures from the judged documents of one query.

With ranks (ties resolved: by document id, file order, rank column, or at their best or worst) sums are taken term by
term in the order of the ranks, as trec_eval does, so that the numbers agree to the last bit. Expected values over
ties are those of `hitcurve._kernel.formulas` where the measure is binary, else of McSherry & Najork 2008.
"""
from libc.math cimport NAN, exp2, expm1, log, log2, lround, pow
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from hitcurve._kernel cimport formulas as _read
from hitcurve._kernel.err cimport MOST_LEVEL, Err, Stop, err_in_any_order, start_err, stop_at, stop_chance
from hitcurve._kernel.memory cimport grow


# ---------------------------------------------------------------------------------------------------- rows and readings

cdef inline double key_of(const Asked* asked, int64_t level) noexcept nogil:
    """What a measure orders tied documents by: gains of its own, or the level, which all others rise with."""
    return gain_of(asked, level) if asked.num_gains > 0 else <double>level


cdef void sort_levels(Row* rows, Py_ssize_t n, bint falling, const Asked* asked) noexcept nogil:
    """Orders the levels within a tie group; few are distinct, so a pass for each."""
    cdef Py_ssize_t i, done = 0
    cdef int64_t most
    cdef double key, other
    while done < n:
        most = rows[done].level
        key = key_of(asked, most)
        for i in range(done + 1, n):
            other = key_of(asked, rows[i].level)
            if other > key if falling else other < key:
                most = rows[i].level
                key = other
        for i in range(done, n):
            if rows[i].level == most:
                rows[i].level = rows[done].level
                rows[done].level = most
                done += 1


cdef bint arrange(const Row* rows, Py_ssize_t n, int64_t num_ret, Reading reading, bint judged_only,
                  const Asked* asked, Room* room, Query* query) noexcept nogil:
    """The rows of a query in the order that the measure needs; False if there is no memory."""
    cdef Py_ssize_t i, m = 0
    cdef int64_t kept, above
    cdef bint first
    cdef Group group
    query.rows = rows
    query.num_rows = n
    query.num_ret = num_ret
    if not judged_only and (reading == READING_RANKS or reading == READING_EXPECTED):
        return True
    if not grow(<void**>&room.rows, &room.rows_size, n + 1, sizeof(Row)):
        return False
    if judged_only:
        group.stop = 0
        while next_group(query, True, &group):
            above = m
            kept = 0
            for i in range(group.start, group.stop):
                kept += rows[i].level >= 0
            for i in range(group.start, group.stop):
                if rows[i].level >= 0:
                    room.rows[m] = Row(m + 1, above, kept, rows[i].level)
                    m += 1
        query.num_rows = query.num_ret = m
    elif n > 0:  # or there may be no rows to point at
        memcpy(room.rows, rows, n * sizeof(Row))
    query.rows = room.rows
    group.stop = 0
    while (reading == READING_BEST or reading == READING_WORST) and next_group(query, True, &group):
        if group.tied == 1:
            continue
        sort_levels(room.rows + group.start, group.stop - group.start, reading == READING_BEST, asked)
        for i in range(group.start, group.stop):
            # Documents without a judgment have gain 0: above those of a negative one.
            first = reading == READING_BEST
            if asked.num_gains > 0 and gain_of(asked, room.rows[i].level) < 0.0:
                first = not first
            room.rows[i].rank = group.above + (1 + i - group.start if first else group.tied + 1 - group.stop + i)
    return True


cdef inline int64_t count_from(const Query* query, int64_t level) noexcept nogil:
    """Judgments of at least this level."""
    cdef Py_ssize_t low = 0, high = query.num_judged, middle
    while low < high:
        middle = (low + high) >> 1
        if query.levels[middle] >= level:
            low = middle + 1
        else:
            high = middle
    return low


cdef double judged_to(const Query* query, int64_t k, bint tied, int64_t least) noexcept nogil:
    """Documents judged at least so among the first k; in tie groups their expected number."""
    cdef Py_ssize_t i
    cdef int64_t some, whole = 0, shares = 0, of = 1
    cdef Group group
    group.stop = 0
    while next_group(query, tied, &group) and group.above < k:
        some = 0
        for i in range(group.start, group.stop):
            some += query.rows[i].level >= least
        if group.above + group.tied <= k:
            whole += some
        else:  # one group alone
            shares = some * (k - group.above)
            of = group.tied
    return <double>whole + <double>shares / <double>of


# ---------------------------------------------------------------------------------------------------- binary relevance

cdef double average_precision(const Query* query, const Asked* asked, int64_t num_rel) noexcept nogil:
    cdef Py_ssize_t i
    cdef int64_t seen = 0
    cdef double total = 0.0
    for i in range(query.num_rows):
        if asked.k >= 0 and query.rows[i].rank > asked.k:
            break
        if query.rows[i].level >= asked.rel:
            seen += 1
            total += <double>seen / <double>query.rows[i].rank
    if seen == 0:
        return 0.0
    if asked.norm == _read.NORMALIZE_HITS:
        return total / <double>seen
    if asked.norm == _read.NORMALIZE_MIN and asked.k >= 0:
        return total / <double>min(asked.k, num_rel)
    return total / <double>num_rel


cdef double interpolated(const Query* query, int64_t rel, int64_t from_hit) noexcept nogil:
    """The highest precision from this relevant document on; 0 if so many were not retrieved."""
    cdef Py_ssize_t i
    cdef int64_t hits = <int64_t>judged_to(query, query.num_ret, False, rel)
    cdef double precision, most = 0.0
    if from_hit > hits:
        return 0.0
    for i in range(query.num_rows - 1, -1, -1):
        if query.rows[i].level >= rel:
            if hits < from_hit:
                break
            precision = <double>hits / <double>query.rows[i].rank
            if precision > most:
                most = precision
            hits -= 1
    return most


cdef int64_t hit_at_level(const Asked* asked, Py_ssize_t i, int64_t num_rel) noexcept nogil:
    """The relevant document with which a recall level is reached."""
    if asked.levels == LEVELS_TREC_EVAL_9:
        return <int64_t>(asked.values[i] * <double>num_rel + 0.9)
    if asked.levels == LEVELS_TREC_EVAL_10:
        return lround(asked.values[i] * <double>num_rel)
    return (asked.numerators[i] * num_rel + asked.denominators[i] - 1) // asked.denominators[i]


cdef double interpolated_average(const Query* query, const Asked* asked, int64_t num_rel) noexcept nogil:
    """The mean over recall levels, which may be one."""
    cdef Py_ssize_t i
    cdef double total = 0.0
    for i in range(asked.num_values - 1, -1, -1):  # from the highest level down, as trec_eval adds
        total += interpolated(query, asked.rel, hit_at_level(asked, i, num_rel))
    return total / <double>asked.num_values


cdef double bpref(const Query* query, bint tied, int64_t rel, int64_t num_rel) noexcept nogil:
    """In a tie group with n judged others, a relevant one has 0, 1, ..., n of them before it, equally often."""
    cdef Py_ssize_t i
    cdef int64_t others = 0, all_others = count_from(query, 0) - num_rel, hits, more, j
    cdef double total = 0.0, part
    cdef Group group
    group.stop = 0
    while next_group(query, tied, &group):
        hits = more = 0
        for i in range(group.start, group.stop):
            hits += query.rows[i].level >= max(rel, 0)
            more += query.rows[i].level >= 0 and query.rows[i].level < rel
        part = 0.0
        if hits > 0:
            for j in range(others, others + more + 1):
                part += 1.0 if j == 0 else 1.0 - <double>min(j, num_rel) / <double>min(all_others, num_rel)
            total += <double>hits * part / <double>(more + 1)
        others += more
    return total / <double>num_rel


cdef enum:
    FAR_DOWN = 100000  # 1 / EPSILON

cdef double EPSILON = 0.00001


cdef inline double inferred_precision(int64_t rank, int64_t seen, int64_t others, int64_t unjudged) noexcept nogil:
    """Of a relevant document below so many relevant, not relevant, and not judged documents of the pool."""
    cdef double j = <double>(rank - 1)
    if rank == 1:
        return 1.0
    return 1.0 / (j + 1.0) + (j / (j + 1.0)) * (<double>(seen + others + unjudged) / j) * (
        (<double>seen + EPSILON) / (<double>(seen + others) + 2 * EPSILON))


cdef inline double unjudged_slope(int64_t seen, int64_t others, int64_t outside) noexcept nogil:
    """Below 0 if documents of the pool without a judgment raise the inferred precision of what they come before.

    With u of them that is p + slope / (u + seen + others + outside + 1), p = (seen + e) / (seen + others + 2 e).
    """
    return 1.0 - (<double>seen + EPSILON) / (<double>(seen + others) + 2 * EPSILON) * (<double>outside + 1.0)


cdef double inferred_ap(const Query* query, int64_t rel, int64_t num_rel, Reading reading) noexcept nogil:
    """As ranked, or the greatest or the least over all orders of tied documents; NaN where these rules do not hold.

    A document outside of the pool, and a judged other one, lower the inferred precision of all they come before, so
    they go last or first. (Above FAR_DOWN the others do so: epsilon is too small to tell against the rank.) Those of
    the pool without a judgment lower it for the first relevant documents and raise it for the rest, as the slope says,
    which falls from one relevant document to the next. At best they therefore stand between the two; at worst some go
    before all relevant ones and some after, and the sum falls, then rises with how many go before.
    """
    cdef double total = 0.0, slope, place
    cdef int64_t seen = 0, others = 0, unjudged = 0, hits, more_others, more, outside, i, low, high, middle, inside
    cdef Group group
    group.stop = 0
    while next_group(query, reading != READING_RANKS, &group):
        more = more_others = 0
        for i in range(group.start, group.stop):
            more += query.rows[i].level < 0
            more_others += 0 <= query.rows[i].level < rel
        hits = group.stop - group.start - more - more_others
        if hits > 0:
            if unjudged == 0 and more_others > 0 and group.above + group.tied > FAR_DOWN:
                return NAN
            outside = group.above - seen - others - unjudged
            low = 0
            if reading == READING_WORST:
                outside += group.tied - (group.stop - group.start)
                others += more_others
                high = more
                while low < high:
                    middle = (low + high) >> 1
                    slope = 0.0
                    for i in range(seen, seen + hits):
                        place = <double>(1 + i + others + outside + unjudged + middle)
                        slope += unjudged_slope(i, others, outside) / (place * (place + 1.0))
                    if slope > 0.0:
                        low = middle + 1
                    else:
                        high = middle
            for i in range(seen, seen + hits):
                inside = unjudged + low
                if reading == READING_BEST and unjudged_slope(i, others, outside) < 0.0:
                    inside = unjudged + more
                total += inferred_precision(1 + i + others + outside + inside, i, others, inside)
            if reading == READING_WORST:
                others -= more_others
        seen += hits
        others += more_others
        unjudged += more
    return total / <double>num_rel


cdef double bin_g(const Query* query, int64_t rel, int64_t num_rel) noexcept nogil:
    cdef Py_ssize_t i
    cdef int64_t seen = 0
    cdef double total = 0.0
    for i in range(query.num_rows):
        if query.rows[i].level >= rel:
            seen += 1
            total += 1.0 / log2(<double>(2 + query.rows[i].rank - seen))
    return total / <double>num_rel


# ----------------------------------------------------------------------------------------------------- graded relevance

cdef inline double gain_of(const Asked* asked, int64_t level) noexcept nogil:
    cdef Py_ssize_t i
    if level < 0:
        return 0.0
    for i in range(asked.num_gains):
        if asked.gain_levels[i] == level:
            return asked.gains[i]
    return exp2(<double>level) - 1.0 if asked.exponential else <double>level


cdef inline double discounted(const Asked* asked, const Row* row) noexcept nogil:
    cdef double gain = gain_of(asked, row.level)
    return gain / log2(<double>(row.rank + 1)) if gain != 0.0 else 0.0


cdef Py_ssize_t ideal_gains(const Query* query, const Asked* asked, Room* room) noexcept nogil:
    """All positive gains of the query, falling; how many, or -1 if there is no memory."""
    cdef Py_ssize_t i, j, n = 0
    cdef double gain
    if not grow(<void**>&room.gains, &room.gains_size, query.num_judged + 1, sizeof(double)):
        return -1
    for i in range(query.num_judged):
        if query.levels[i] < 0:
            break
        gain = gain_of(asked, query.levels[i])
        if gain <= 0.0:
            continue
        j = n
        if n > 0 and gain > room.gains[n - 1]:  # only where gains do not rise with levels
            while j > 0 and room.gains[j - 1] < gain:
                room.gains[j] = room.gains[j - 1]
                j -= 1
        room.gains[j] = gain
        n += 1
    return n


cdef double ndcg(const Query* query, const Asked* asked, bint tied, const double* gains, Py_ssize_t n) noexcept nogil:
    """`gains`: all n positive ones of the query, falling."""
    cdef Py_ssize_t i
    cdef int64_t last, rank
    cdef double gain, one, first, total = 0.0, ideal = 0.0
    cdef bint even
    cdef Group group
    group.stop = 0
    while next_group(query, tied, &group):
        last = group.above + group.tied if asked.k < 0 else min(group.above + group.tied, asked.k)
        if last <= group.above:
            break
        gain = 0.0
        first = gain_of(asked, query.rows[group.start].level)
        even = group.stop - group.start == group.tied
        for i in range(group.start, group.stop):
            one = gain_of(asked, query.rows[i].level)
            even &= one == first
            gain += one
        # The mean gain of each item; where all are alike it is theirs to the last bit, as in the ideal order.
        gain = first if even else gain / <double>group.tied
        if gain != 0.0:
            for rank in range(group.above + 1, last + 1):
                total += gain / log2(<double>(rank + 1))
    for i in range(n if asked.k < 0 else min(n, asked.k)):
        ideal += gains[i] / log2(<double>(i + 2))
    return total / ideal


cdef double ndcg_at_relevant(const Query* query, const Asked* asked, Reading reading, const double* gains,
                             Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, j = 0, found = 0
    cdef double gain, dcg = 0.0, ideal = 0.0, total = 0.0
    cdef bint tied = False, negative = False
    # An earlier rank is the better one as long as no gain below 0 can make what is divided by the rising ideal negative.
    for i in range(query.num_rows):
        tied |= query.rows[i].tied > 1
        negative |= query.rows[i].above + 1 < n and gain_of(asked, query.rows[i].level) < 0.0
    if reading != READING_RANKS and tied and negative:
        return NAN
    for i in range(query.num_rows):
        gain = gain_of(asked, query.rows[i].level)
        if gain == 0.0:
            continue
        dcg += gain / log2(<double>(query.rows[i].rank + 1))
        while j < n and j < query.rows[i].rank:
            ideal += gains[j] / log2(<double>(j + 2))
            j += 1
        if gain > 0.0:
            total += dcg / ideal
            found += 1
    while j < n:
        ideal += gains[j] / log2(<double>(j + 2))
        j += 1
    total += <double>(n - found) * dcg / ideal
    return total / <double>n if total > 0.0 else 0.0


cdef double ndcg_at_levels(const Query* query, const Asked* asked, const double* gains, Py_ssize_t n) noexcept nogil:
    """nDCG wherever the gain of the ideal order falls, and at the end, averaged."""
    cdef Py_ssize_t i = 0, j, points = 0
    cdef double dcg = 0.0, ideal = 0.0, total = 0.0
    for j in range(1, n + 1):
        ideal += gains[j - 1] / log2(<double>(j + 1))
        if j < n and gains[j] == gains[j - 1]:
            continue
        while i < query.num_rows and query.rows[i].rank <= j:
            dcg += discounted(asked, &query.rows[i])
            i += 1
        total += dcg / ideal
        points += 1
    if n + 1 < query.num_ret:
        while i < query.num_rows:
            dcg += discounted(asked, &query.rows[i])
            i += 1
        total += dcg / ideal
        points += 1
    return total / <double>points


cdef double normalized_gain(const Query* query, const Asked* asked, const double* gains, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef int64_t j = 0
    cdef double gain, gained = 0.0, cost = 0.0, total = 0.0, ideal = 0.0
    for i in range(query.num_rows):
        gain = gain_of(asked, query.rows[i].level)
        if gain == 0.0:
            continue
        while j < query.rows[i].rank:
            cost += max(gains[j], 1.0) if j < n else 1.0
            j += 1
        gained += gain
        total += gain / log2(2 + cost - gained)
    for i in range(n):
        ideal += gains[i]
    return total / ideal


cdef enum:
    MOST_STATES = 1 << 22
    MOST_GAINS = 23  # of as many distinct ones, each once, are the states more

cdef bint normalized_gain_bound(const Query* query, const Asked* asked, Reading reading, Room* room, Py_ssize_t n,
                                double* found) noexcept nogil:
    """The greatest or the least `normalized_gain` over all orders of tied documents; False if there is no memory.

    What a document adds depends on the gain and the number of those before it, not on their order: so the bound of a
    tie group follows from those of its parts, one state for each number of documents of each gain. NaN if these are
    too many. Documents without gain come last at best, first at worst; beside gains below 0 they are states as well.
    """
    cdef Py_ssize_t i, v, kinds, states, s
    cdef double[MOST_GAINS] gains
    cdef int64_t[MOST_GAINS] counts
    cdef int64_t[MOST_GAINS] taken
    cdef Py_ssize_t[MOST_GAINS] stride
    cdef int64_t first, rank, zeros
    cdef double gain, gained = 0.0, now, reach, bound, total = 0.0, ideal = 0.0, cost = 0.0
    cdef bint negative
    cdef Group group
    found[0] = NAN
    for i in range(n):
        ideal += room.gains[i]
        cost += max(room.gains[i], 1.0)
        room.gains[i] = cost  # of the ranks to here
    group.stop = 0
    while next_group(query, True, &group):
        kinds = 0
        negative = False
        first = group.above
        zeros = group.tied
        for i in range(group.start, group.stop):
            gain = gain_of(asked, query.rows[i].level)
            if gain == 0.0:
                continue
            zeros -= 1
            negative |= gain < 0.0
            v = 0
            while v < kinds and gains[v] != gain:
                v += 1
            if v == MOST_GAINS - 1:  # the last is for gain 0
                return True
            if v == kinds:
                gains[v] = gain
                counts[v] = 0
                kinds += 1
            counts[v] += 1
        if kinds > 0 and negative:
            gains[kinds] = 0.0
            counts[kinds] = zeros
            kinds += 1
        elif reading == READING_WORST:
            first += zeros
        states = 1
        for v in range(kinds):
            stride[v] = states
            taken[v] = 0
            if counts[v] >= MOST_STATES // states:
                return True
            states *= counts[v] + 1
        if not grow(<void**>&room.values, &room.values_size, states, sizeof(double)):
            return False
        room.values[0] = total
        for s in range(1, states):
            v = 0
            while taken[v] == counts[v]:
                taken[v] = 0
                v += 1
            taken[v] += 1
            rank = first
            now = gained
            for v in range(kinds):
                rank += taken[v]
                now += <double>taken[v] * gains[v]
            cost = room.gains[min(rank, n) - 1] + <double>max(rank - n, 0)
            reach = log2(2 + cost - now)
            bound = NAN
            for v in range(kinds):  # the last of them
                if taken[v] > 0:
                    now = room.values[s - stride[v]] + gains[v] / reach
                    if not (bound >= now if reading == READING_BEST else bound <= now):
                        bound = now
            room.values[s] = bound
        total = room.values[states - 1]
        for v in range(kinds):
            gained += <double>counts[v] * gains[v]
    found[0] = total / ideal
    return True


cdef double rbp(const Query* query, const Asked* asked, Reading reading) noexcept nogil:
    cdef Py_ssize_t i
    cdef int64_t rank = 1
    cdef double weight = 1.0, total = 0.0, gain, most = 1.0, fall
    cdef Group group
    if asked.scaled and query.num_judged > 0:
        most = max(1.0, <double>query.levels[0])
    if reading == READING_EXPECTED:
        group.stop = 0
        while next_group(query, True, &group) and (asked.k < 0 or group.above < asked.k):
            gain = 0.0
            for i in range(group.start, group.stop):
                gain += rbp_gain(asked, query.rows[i].level, most)
            rank = group.tied if asked.k < 0 else min(group.tied, asked.k - group.above)
            fall = 1.0 - pow(asked.x, <double>rank)
            if fall < 0.1:  # where the difference loses digits
                fall = -expm1(<double>rank * log(asked.x))
            total += gain / <double>group.tied * pow(asked.x, <double>group.above) * fall
        return total
    for i in range(query.num_rows):
        if asked.k >= 0 and query.rows[i].rank > asked.k:
            break
        gain = rbp_gain(asked, query.rows[i].level, most)
        if gain == 0.0:
            continue
        while rank < query.rows[i].rank and weight > 0.0:
            weight *= asked.x
            rank += 1
        total += gain * weight
    return (1.0 - asked.x) * total


cdef inline double rbp_gain(const Asked* asked, int64_t level, double most) noexcept nogil:
    if asked.scaled:
        return max(<double>level, 0.0) / most
    return <double>(level >= asked.rel)


cdef double rbp_residual(const Query* query, double p) noexcept nogil:
    cdef Py_ssize_t i = 0
    cdef int64_t rank
    cdef double weight = 1.0, total = 0.0
    cdef bint some = False, here
    for rank in range(1, query.num_ret + 1):
        here = i < query.num_rows and query.rows[i].rank == rank
        if not here or query.rows[i].level < 0:
            some = True
            total += weight
        i += here
        weight *= p
    return weight + (1.0 - p) * total if some else 0.0


# ------------------------------------------------------------------------------------------------- expected, as a table

cdef double read_table(const Query* query, const Asked* asked, int64_t num_rel, bint ties, Room* room) noexcept nogil:
    """By the kernels of `hitcurve._kernel.formulas`, from the tie groups that hold relevant documents."""
    cdef Py_ssize_t i, rows = 0
    cdef int64_t* above
    cdef int64_t* tied
    cdef int64_t* hits
    cdef _read.Table table
    cdef _read.Reading reading
    cdef _read.Measure measure
    cdef Group group
    if not grow(<void**>&room.numbers, &room.numbers_size, 3 * query.num_rows + 3, sizeof(int64_t)):
        return NAN
    above = room.numbers
    tied = above + query.num_rows + 1
    hits = tied + query.num_rows + 1
    group.stop = 0
    while next_group(query, ties, &group):
        above[rows] = group.above
        tied[rows] = group.tied
        hits[rows] = 0
        for i in range(group.start, group.stop):
            hits[rows] += query.rows[i].level >= asked.rel
        rows += hits[rows] > 0
    table.above = above
    table.tied = tied
    table.hits = hits
    table.rows = rows
    table.num_items = query.num_ret
    table.num_relevant = num_rel
    reading.ties = _read.TIES_EXPECTED
    reading.normalize = asked.norm
    reading.interpolation = asked.interpolation
    reading.k = asked.k if asked.k >= 0 else _read.NO_CUTOFF
    reading.x = asked.x
    reading.most = 1.0
    measure = (_read.MEASURE_AVERAGE_PRECISION if asked.kernel == KERNEL_AP
               else _read.MEASURE_RECIPROCAL_RANK if asked.kernel == KERNEL_RR
               else _read.MEASURE_SUCCESS if asked.kernel == KERNEL_SUCCESS else _read.MEASURE_R_PRECISION)
    return _read.read_measure(measure, &table, &reading)


# --------------------------------------------------------------------------------------------- expected reciprocal rank

cdef double err(const Query* query, const Asked* asked) noexcept nogil:
    cdef Err state
    cdef Py_ssize_t i
    start_err(&state, NULL, NULL, NULL)
    for i in range(query.num_rows):
        if asked.k >= 0 and query.rows[i].rank > asked.k:
            break
        stop_at(&state, stop_chance(<double>query.rows[i].level, asked.top), query.rows[i].rank)
    return state.total


cdef Py_ssize_t find_stops(const Query* query, const Asked* asked, const Group* group, Stop* stops) noexcept nogil:
    """The chances of a tie group, falling; returns how many."""
    cdef Py_ssize_t i, n = 0
    cdef int64_t level = 0, below
    for i in range(group.start, group.stop):
        level = max(level, query.rows[i].level)
    while level > 0:
        stops[n].chance = stop_chance(<double>level, asked.top)
        stops[n].count = below = 0
        for i in range(group.start, group.stop):
            stops[n].count += query.rows[i].level == level
            if query.rows[i].level < level:
                below = max(below, query.rows[i].level)
        n += 1
        level = below
    return n


cdef bint expected_err(const Query* query, const Asked* asked, Room* room, double* found) noexcept nogil:
    """Tie group by tie group; False if there is no memory, or a signal has raised."""
    cdef Stop[MOST_LEVEL] stops
    cdef Err state
    cdef Group group
    cdef int64_t last, work = 0
    cdef Py_ssize_t n
    start_err(&state, &room.values, &room.values_size, &work)
    group.stop = 0
    while state.reached > 0.0 and next_group(query, True, &group):
        last = group.tied if asked.k < 0 else min(group.tied, asked.k - group.above)
        if last <= 0:
            break
        n = find_stops(query, asked, &group, stops)
        if not err_in_any_order(&state, stops, n, group.above, group.tied, last):
            return False
    found[0] = state.total + state.carry
    return True


# ------------------------------------------------------------------------------------------------------- the one switch

cdef enum:
    LEAST_LEVEL = -1000000000

cdef bint measure_query(const Query* query, const Asked* asked, Reading reading, Room* room, double* value) noexcept nogil:
    """False if there is no memory, no such reading, or a signal has raised; NaN is a value that cannot be computed."""
    cdef Kernel kernel = asked.kernel
    cdef bint tied = reading == READING_EXPECTED
    cdef int64_t num_rel = count_from(query, asked.rel), k = asked.k, cut
    cdef Py_ssize_t i, n
    cdef double hits, retrieved = <double>query.num_ret, relevant = <double>num_rel, square = 0.0
    value[0] = 0.0
    if kernel == KERNEL_NUM_Q:
        value[0] = 1.0
    elif kernel == KERNEL_NUM_RET:
        value[0] = retrieved
    elif kernel == KERNEL_NUM_REL:
        value[0] = relevant
    elif kernel in (KERNEL_NDCG, KERNEL_NDCG_REL, KERNEL_R_NDCG, KERNEL_G):
        n = ideal_gains(query, asked, room)
        if n < 0 or (tied and kernel != KERNEL_NDCG):
            return False
        if n == 0 or (kernel == KERNEL_R_NDCG and num_rel == 0):
            pass
        elif kernel == KERNEL_NDCG:
            value[0] = ndcg(query, asked, tied, room.gains, n)
        elif kernel == KERNEL_NDCG_REL:
            value[0] = ndcg_at_relevant(query, asked, reading, room.gains, n)
        elif kernel == KERNEL_R_NDCG:
            value[0] = ndcg_at_levels(query, asked, room.gains, n)
        elif reading != READING_RANKS:
            return normalized_gain_bound(query, asked, reading, room, n, value)
        else:
            value[0] = normalized_gain(query, asked, room.gains, n)
    elif kernel == KERNEL_ERR:
        if tied:
            return expected_err(query, asked, room, value)
        value[0] = err(query, asked)
    elif kernel == KERNEL_RBP:
        value[0] = rbp(query, asked, reading)
    elif kernel == KERNEL_RBP_RESID:
        value[0] = rbp_residual(query, asked.x)
        return not tied
    elif kernel == KERNEL_JUDGED:
        cut = query.num_ret if k < 0 else min(k, query.num_ret)
        if cut > 0:
            value[0] = judged_to(query, cut, tied, LEAST_LEVEL) / <double>cut
    elif kernel == KERNEL_UNJUDGED:
        value[0] = (<double>min(k, query.num_ret) - judged_to(query, k, tied, 0)) / <double>k
    elif kernel in (KERNEL_UTILITY, KERNEL_NUM_NONREL_JUDGED_RET, KERNEL_NUM_REL_RET, KERNEL_SET_P, KERNEL_SET_REL_P,
                    KERNEL_SET_R, KERNEL_SET_F, KERNEL_SET_AP):
        hits = judged_to(query, query.num_ret, False, asked.rel)
        if kernel == KERNEL_UTILITY:
            value[0] = (asked.values[0] * hits + asked.values[1] * (retrieved - hits)
                        + asked.values[2] * (relevant - hits) + asked.values[3] * (hits - retrieved - relevant))
        elif kernel == KERNEL_NUM_NONREL_JUDGED_RET:
            value[0] = judged_to(query, query.num_ret, False, 0) - hits
        elif hits == 0 or kernel == KERNEL_NUM_REL_RET:
            value[0] = hits
        elif kernel == KERNEL_SET_P:
            value[0] = hits / retrieved
        elif kernel == KERNEL_SET_REL_P:
            value[0] = hits / min(retrieved, relevant)
        elif kernel == KERNEL_SET_R:
            value[0] = hits / relevant
        elif kernel == KERNEL_SET_F:
            value[0] = ((asked.x + 1.0) * (hits / retrieved) * (hits / relevant)
                        / (asked.x * (hits / retrieved) + hits / relevant))
        else:
            value[0] = hits * hits / (retrieved * relevant)
    elif num_rel == 0:
        pass  # all the rest is 0 where nothing is relevant
    elif kernel == KERNEL_BPREF:
        value[0] = bpref(query, tied, asked.rel, num_rel)
    elif kernel in (KERNEL_P, KERNEL_R, KERNEL_F, KERNEL_REL_P, KERNEL_RPREC_MULT, KERNEL_HITS):
        if kernel == KERNEL_RPREC_MULT:
            square = asked.x * relevant + 0.9
            k = <int64_t>min(square, 4e18)
            if k == 0:
                return True
        hits = judged_to(query, k, tied, asked.rel)
        if kernel == KERNEL_R:
            value[0] = hits / relevant
        elif kernel == KERNEL_HITS:
            value[0] = hits
        elif kernel == KERNEL_F:
            square = min(asked.x * asked.x, 1e200)  # beyond that F is recall, and the products stay finite
            value[0] = (1 + square) * hits / (<double>k + square * relevant)
        elif kernel == KERNEL_REL_P:
            value[0] = hits / <double>min(k, num_rel)
        elif kernel == KERNEL_RPREC_MULT and square > 4e18:
            value[0] = hits / square
        else:
            value[0] = hits / <double>k
    elif tied and kernel not in (KERNEL_AP, KERNEL_RR, KERNEL_SUCCESS, KERNEL_RPREC):
        return False
    elif tied or (kernel == KERNEL_AP and asked.interpolation != _read.INTERPOLATION_NONE):
        value[0] = read_table(query, asked, num_rel, tied, room)
        return value[0] == value[0]
    elif kernel == KERNEL_AP:
        value[0] = average_precision(query, asked, num_rel)
    elif kernel == KERNEL_RR:
        for i in range(query.num_rows):
            if query.rows[i].level >= asked.rel:
                if k < 0 or query.rows[i].rank <= k:
                    value[0] = 1.0 / <double>query.rows[i].rank
                break
    elif kernel == KERNEL_RPREC:
        value[0] = judged_to(query, num_rel, False, asked.rel) / relevant
    elif kernel == KERNEL_SUCCESS:
        value[0] = <double>(judged_to(query, k, False, asked.rel) > 0)
    elif kernel in (KERNEL_IPREC, KERNEL_IPREC_AVG):
        value[0] = interpolated_average(query, asked, num_rel)
    elif kernel == KERNEL_INF_AP:
        value[0] = inferred_ap(query, asked.rel, num_rel, reading)
    else:
        value[0] = bin_g(query, asked.rel, num_rel)
    return True
