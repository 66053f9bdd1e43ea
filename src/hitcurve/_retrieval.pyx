"""Kernels that read measures off the judged documents of one query of a run.

With ranks (ties resolved: by document id, file order, rank column, or at their best or worst) sums are taken term by
term in the order of the ranks, as trec_eval does, so that the numbers agree to the last bit. Expected values over
ties are those of `hitcurve._read` where the measure is binary, else of McSherry & Najork 2008.
"""
from cpython.mem cimport PyMem_RawFree, PyMem_RawRealloc
from libc.math cimport NAN, exp2, log2, lround, pow
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from hitcurve cimport _read


# -------------------------------------------------------------------------------------------------------------- memory

cdef void free_room(Room* room) noexcept nogil:
    PyMem_RawFree(room.rows)
    PyMem_RawFree(room.numbers)
    PyMem_RawFree(room.gains)


cdef bint room_for(void** memory, Py_ssize_t* size, Py_ssize_t wanted, size_t each) noexcept nogil:
    cdef void* moved
    if wanted <= size[0]:
        return True
    moved = PyMem_RawRealloc(memory[0], <size_t>(2 * wanted) * each)
    if moved is NULL:
        return False
    memory[0] = moved
    size[0] = 2 * wanted
    return True


# ---------------------------------------------------------------------------------------------------- rows and readings

cdef void sort_levels(Row* rows, Py_ssize_t n, bint falling) noexcept nogil:
    """Orders the levels within a tie group; few are distinct, so a pass for each."""
    cdef Py_ssize_t i, done = 0
    cdef int64_t most
    while done < n:
        most = rows[done].level
        for i in range(done + 1, n):
            if (rows[i].level > most) == falling and rows[i].level != most:
                most = rows[i].level
        for i in range(done, n):
            if rows[i].level == most:
                rows[i].level = rows[done].level
                rows[done].level = most
                done += 1


cdef bint arrange(const Row* rows, Py_ssize_t n, int64_t num_ret, Reading reading, bint judged_only, Room* room,
                  Query* query) noexcept nogil:
    """The rows of a query as they are to be read; False if there is no memory."""
    cdef Py_ssize_t i, start, stop, m
    cdef int64_t dropped = 0, kept
    cdef Row* own
    query.rows = rows
    query.num_rows = n
    query.num_ret = num_ret
    if not judged_only and (reading == READING_RANKS or reading == READING_EXPECTED):
        return True
    if not room_for(<void**>&room.rows, &room.rows_size, n + 1, sizeof(Row)):
        return False
    own = room.rows
    if n > 0:  # or there may be no rows to point at
        memcpy(own, rows, n * sizeof(Row))
    query.rows = own
    if judged_only:
        m = 0
        start = 0
        while start < n:
            stop = start
            kept = 0
            while stop < n and own[stop].above == own[start].above:
                kept += own[stop].level >= 0
                stop += 1
            dropped = m
            for i in range(start, stop):
                if rows[i].level >= 0:
                    own[m].rank = m + 1
                    own[m].above = dropped
                    own[m].tied = kept
                    own[m].level = rows[i].level
                    m += 1
            start = stop
        n = m
        query.num_rows = n
        query.num_ret = n
    if reading == READING_BEST or reading == READING_WORST:
        start = 0
        while start < n:
            stop = start + 1
            while stop < n and own[stop].above == own[start].above:
                stop += 1
            if own[start].tied > 1:
                sort_levels(own + start, stop - start, reading == READING_BEST)
                for i in range(start, stop):
                    if reading == READING_BEST:
                        own[i].rank = own[i].above + 1 + i - start
                    else:
                        own[i].rank = own[i].above + own[i].tied + 1 - stop + i
            start = stop
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


cdef inline int64_t hits_to(const Query* query, int64_t rel, int64_t k) noexcept nogil:
    """Relevant documents among the first k."""
    cdef Py_ssize_t i
    cdef int64_t hits = 0
    for i in range(query.num_rows):
        if query.rows[i].rank > k:
            break
        hits += query.rows[i].level >= rel
    return hits


cdef inline int64_t hits_in_all(const Query* query, int64_t rel) noexcept nogil:
    cdef Py_ssize_t i
    cdef int64_t hits = 0
    for i in range(query.num_rows):
        hits += query.rows[i].level >= rel
    return hits


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
    if asked.norm == NORM_HITS:
        return total / <double>seen
    if asked.norm == NORM_MIN and asked.k >= 0:
        return total / <double>min(asked.k, num_rel)
    return total / <double>num_rel


cdef double interpolated(const Query* query, int64_t rel, int64_t from_hit) noexcept nogil:
    """The highest precision from this relevant document on; 0 if so many were not retrieved."""
    cdef Py_ssize_t i
    cdef int64_t hits = hits_in_all(query, rel)
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
    cdef Py_ssize_t i
    cdef double total = 0.0
    for i in range(asked.num_values - 1, -1, -1):  # from the highest level down, as trec_eval adds
        total += interpolated(query, asked.rel, hit_at_level(asked, i, num_rel))
    return total / <double>asked.num_values


cdef double bpref(const Query* query, int64_t rel, int64_t num_rel) noexcept nogil:
    cdef Py_ssize_t i
    cdef int64_t others = 0, all_others = count_from(query, 0) - num_rel
    cdef double total = 0.0
    for i in range(query.num_rows):
        if query.rows[i].level < 0:
            continue
        if query.rows[i].level < rel:
            others += 1
        elif others > 0:
            total += 1.0 - <double>min(others, num_rel) / <double>min(all_others, num_rel)
        else:
            total += 1.0
    return total / <double>num_rel


cdef double expected_bpref(const Query* query, int64_t rel, int64_t num_rel) noexcept nogil:
    """In a tie group with n judged others, a relevant one has 0, 1, ..., n of them before it, equally often."""
    cdef Py_ssize_t start = 0, stop
    cdef int64_t others = 0, all_others = count_from(query, 0) - num_rel, hits, more, j
    cdef double total = 0.0, part
    while start < query.num_rows:
        stop = start
        hits = more = 0
        while stop < query.num_rows and query.rows[stop].above == query.rows[start].above:
            hits += query.rows[stop].level >= rel
            more += query.rows[stop].level >= 0 and query.rows[stop].level < rel
            stop += 1
        part = 0.0
        if hits > 0:
            for j in range(others, others + more + 1):
                part += 1.0 if j == 0 else 1.0 - <double>min(j, num_rel) / <double>min(all_others, num_rel)
            total += <double>hits * part / <double>(more + 1)
        others += more
        start = stop
    return total / <double>num_rel


cdef double inferred_ap(const Query* query, int64_t rel, int64_t num_rel) noexcept nogil:
    cdef double epsilon = 0.00001, total = 0.0, j
    cdef Py_ssize_t i
    cdef int64_t seen = 0, others = 0, unjudged = 0
    for i in range(query.num_rows):
        if query.rows[i].level < 0:
            unjudged += 1
        elif query.rows[i].level < rel:
            others += 1
        elif query.rows[i].rank == 1:
            seen += 1
            total += 1.0
        else:
            seen += 1
            j = <double>(query.rows[i].rank - 1)
            total += 1.0 / (j + 1.0) + (j / (j + 1.0)) * (<double>(seen - 1 + others + unjudged) / j) * (
                (<double>(seen - 1) + epsilon) / (<double>(seen - 1 + others) + 2 * epsilon))
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


cdef Py_ssize_t ideal_gains(const Query* query, const Asked* asked, Room* room) noexcept nogil:
    """All positive gains of the query, falling; how many, or -1 if there is no memory."""
    cdef Py_ssize_t i, j, n = 0
    cdef double gain
    if not room_for(<void**>&room.gains, &room.gains_size, query.num_judged + 1, sizeof(double)):
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


cdef double ndcg(const Query* query, const Asked* asked, Reading reading, Room* room) noexcept nogil:
    cdef Py_ssize_t i, start = 0, stop, n
    cdef int64_t last, rank
    cdef double gain, first, total = 0.0, ideal = 0.0
    cdef bint even
    n = ideal_gains(query, asked, room)
    if n < 0:
        return NAN
    if reading == READING_EXPECTED:
        while start < query.num_rows:
            stop = start
            gain = 0.0
            first = gain_of(asked, query.rows[start].level)
            even = True
            while stop < query.num_rows and query.rows[stop].above == query.rows[start].above:
                even = even and gain_of(asked, query.rows[stop].level) == first
                gain += gain_of(asked, query.rows[stop].level)
                stop += 1
            # The mean gain of each item; where all are alike it is theirs to the last bit, as in the ideal order.
            gain = first if even and stop - start == query.rows[start].tied else gain / <double>query.rows[start].tied
            last = query.rows[start].above + query.rows[start].tied
            if asked.k >= 0:
                last = min(last, asked.k)
            if gain != 0.0:
                for rank in range(query.rows[start].above + 1, last + 1):
                    total += gain / log2(<double>(rank + 1))
            start = stop
    else:
        for i in range(query.num_rows):
            if asked.k >= 0 and query.rows[i].rank > asked.k:
                break
            gain = gain_of(asked, query.rows[i].level)
            if gain != 0.0:
                total += gain / log2(<double>(query.rows[i].rank + 1))
    for i in range(n if asked.k < 0 else min(n, asked.k)):
        ideal += room.gains[i] / log2(<double>(i + 2))
    return total / ideal if ideal > 0.0 else 0.0


cdef double ndcg_at_relevant(const Query* query, const Asked* asked, Room* room) noexcept nogil:
    cdef Py_ssize_t i, j = 0, n = ideal_gains(query, asked, room), found = 0
    cdef double gain, dcg = 0.0, ideal = 0.0, total = 0.0
    if n <= 0:
        return 0.0 if n == 0 else NAN
    for i in range(query.num_rows):
        gain = gain_of(asked, query.rows[i].level)
        if gain == 0.0:
            continue
        dcg += gain / log2(<double>(query.rows[i].rank + 1))
        while j < n and j < query.rows[i].rank:
            ideal += room.gains[j] / log2(<double>(j + 2))
            j += 1
        if gain > 0.0:
            total += dcg / ideal
            found += 1
    while j < n:
        ideal += room.gains[j] / log2(<double>(j + 2))
        j += 1
    total += <double>(n - found) * dcg / ideal
    return total / <double>n if total > 0.0 else 0.0


cdef double ndcg_at_levels(const Query* query, const Asked* asked, Room* room) noexcept nogil:
    """nDCG wherever the gain of the ideal order falls, and at the end, averaged."""
    cdef Py_ssize_t i = 0, j, n = ideal_gains(query, asked, room), points = 0
    cdef double gain, dcg = 0.0, ideal = 0.0, total = 0.0
    if n <= 0:
        return 0.0 if n == 0 else NAN
    for j in range(1, n + 1):
        ideal += room.gains[j - 1] / log2(<double>(j + 1))
        if j < n and room.gains[j] == room.gains[j - 1]:
            continue
        while i < query.num_rows and query.rows[i].rank <= j:
            gain = gain_of(asked, query.rows[i].level)
            if gain != 0.0:
                dcg += gain / log2(<double>(query.rows[i].rank + 1))
            i += 1
        total += dcg / ideal
        points += 1
    if n + 1 < query.num_ret:
        while i < query.num_rows:
            gain = gain_of(asked, query.rows[i].level)
            if gain != 0.0:
                dcg += gain / log2(<double>(query.rows[i].rank + 1))
            i += 1
        total += dcg / ideal
        points += 1
    return total / <double>points


cdef double normalized_gain(const Query* query, const Asked* asked, Room* room) noexcept nogil:
    cdef Py_ssize_t i, n = ideal_gains(query, asked, room)
    cdef int64_t j = 0
    cdef double gain, gained = 0.0, cost = 0.0, total = 0.0, ideal = 0.0
    if n <= 0:
        return 0.0 if n == 0 else NAN
    for i in range(query.num_rows):
        gain = gain_of(asked, query.rows[i].level)
        if gain == 0.0:
            continue
        while j < query.rows[i].rank:
            cost += max(room.gains[j], 1.0) if j < n else 1.0
            j += 1
        gained += gain
        total += gain / log2(2 + cost - gained)
    for i in range(n):
        ideal += room.gains[i]
    return total / ideal


cdef double rbp(const Query* query, const Asked* asked, Reading reading) noexcept nogil:
    cdef Py_ssize_t i, start = 0, stop
    cdef int64_t rank = 1
    cdef double weight = 1.0, total = 0.0, gain, most = 1.0
    if asked.scaled and query.num_judged > 0:
        most = max(1.0, <double>query.levels[0])
    if reading == READING_EXPECTED:
        while start < query.num_rows:
            stop = start
            gain = 0.0
            while stop < query.num_rows and query.rows[stop].above == query.rows[start].above:
                gain += rbp_gain(asked, query.rows[stop].level, most)
                stop += 1
            if asked.k < 0 or query.rows[start].above < asked.k:
                rank = query.rows[start].tied
                if asked.k >= 0:
                    rank = min(rank, asked.k - query.rows[start].above)
                total += gain / <double>query.rows[start].tied * pow(asked.x, <double>query.rows[start].above) * (
                    1.0 - pow(asked.x, <double>rank))
            start = stop
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
    cdef bint some = False
    for rank in range(1, query.num_ret + 1):
        if i < query.num_rows and query.rows[i].rank == rank:
            if query.rows[i].level < 0:
                some = True
                total += weight
            i += 1
        else:
            some = True
            total += weight
        weight *= p
    return weight + (1.0 - p) * total if some else 0.0


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


cdef double expected_err(const Query* query, const Asked* asked, Room* room) noexcept nogil:
    """The term at a rank is the fall in the chance of getting beyond it, over the rank.

    Within a tie group that chance is the mean product of (1 - chance) over the documents drawn so far without
    replacement: an elementary symmetric mean, by the recurrence over documents.
    """
    cdef Py_ssize_t start = 0, stop, i, j, n
    cdef int64_t t, m, last
    cdef double reached = 1.0, total = 0.0, last_chance, now, keep, share
    while start < query.num_rows:
        stop = start
        n = 0
        while stop < query.num_rows and query.rows[stop].above == query.rows[start].above:
            stop += 1
        m = query.rows[start].tied
        last = m
        if asked.k >= 0:
            last = min(last, asked.k - query.rows[start].above)
        if last <= 0:
            break
        if not room_for(<void**>&room.gains, &room.gains_size, m + 1, sizeof(double)):
            return NAN
        # room.gains[t]: the mean product over t documents drawn from those of the group met so far.
        for t in range(m + 1):
            room.gains[t] = 1.0
        n = m
        for i in range(start, stop):
            n -= stop_chance(asked, query.rows[i].level) > 0.0
        # First the documents without a chance, whose products are all 1; then the others, one by one.
        for i in range(start, stop):
            if stop_chance(asked, query.rows[i].level) <= 0.0:
                continue
            keep = 1.0 - stop_chance(asked, query.rows[i].level)
            n += 1
            for j in range(n, 0, -1):
                share = <double>j / <double>n  # that the new one is among j of n
                now = room.gains[j] if j < n else 0.0
                room.gains[j] = share * keep * room.gains[j - 1] + (1.0 - share) * now
        last_chance = 1.0
        for t in range(1, last + 1):
            total += reached * (last_chance - room.gains[t]) / <double>(query.rows[start].above + t)
            last_chance = room.gains[t]
        reached *= room.gains[m]
        start = stop
    return total


# ------------------------------------------------------------------------------------------------- expected, as a table

cdef double read_table(const Query* query, const Asked* asked, int64_t num_rel, Reading order,
                       Room* room) noexcept nogil:
    """By the kernels of `hitcurve._read`, from the tie groups that hold relevant documents."""
    cdef Py_ssize_t i, rows = 0
    cdef int64_t* above
    cdef int64_t* tied
    cdef int64_t* hits
    cdef _read.Table table
    cdef _read.Reading reading
    cdef _read.Measure measure
    if not room_for(<void**>&room.numbers, &room.numbers_size, 3 * query.num_rows + 3, sizeof(int64_t)):
        return NAN
    above = room.numbers
    tied = above + query.num_rows + 1
    hits = tied + query.num_rows + 1
    for i in range(query.num_rows):
        if query.rows[i].level < asked.rel:
            continue
        if order != READING_EXPECTED:
            above[rows] = query.rows[i].rank - 1
            tied[rows] = 1
        elif rows > 0 and above[rows - 1] == query.rows[i].above:
            hits[rows - 1] += 1
            continue
        else:
            above[rows] = query.rows[i].above
            tied[rows] = query.rows[i].tied
        hits[rows] = 1
        rows += 1
    table.above = above
    table.tied = tied
    table.hits = hits
    table.rows = rows
    table.num_items = query.num_ret
    table.num_relevant = num_rel
    reading.ties = _read.TIES_EXPECTED
    reading.normalize = _read.NORMALIZE_RELEVANT
    if asked.norm == NORM_MIN:
        reading.normalize = _read.NORMALIZE_MIN
    elif asked.norm == NORM_HITS:
        reading.normalize = _read.NORMALIZE_HITS
    reading.interpolation = <_read.Interpolation>asked.interpolation
    reading.k = asked.k if asked.k >= 0 else _read.NO_CUTOFF
    reading.x = asked.x
    if asked.kernel == KERNEL_AP:
        measure = _read.MEASURE_AVERAGE_PRECISION
    elif asked.kernel == KERNEL_RR:
        measure = _read.MEASURE_RECIPROCAL_RANK
    elif asked.kernel == KERNEL_SUCCESS:
        measure = _read.MEASURE_SUCCESS
    elif asked.kernel == KERNEL_RPREC:
        measure = _read.MEASURE_R_PRECISION
    else:
        measure = _read.MEASURE_HITS
    return _read.read_measure(measure, &table, &reading)


cdef inline double judged_to(const Query* query, int64_t k, Reading reading, int64_t least) noexcept nogil:
    """Documents judged at least so among the first k; in tie groups their expected number."""
    cdef Py_ssize_t i
    cdef int64_t inside, whole = 0, shares = 0, tied = 1
    for i in range(query.num_rows):
        if query.rows[i].level < least:
            continue
        if reading == READING_EXPECTED:
            inside = min(max(k - query.rows[i].above, 0), query.rows[i].tied)
            if inside == query.rows[i].tied:
                whole += 1
            elif inside > 0:  # of one group alone
                shares += inside
                tied = query.rows[i].tied
        elif query.rows[i].rank <= k:
            whole += 1
    return <double>whole + <double>shares / <double>tied


# ------------------------------------------------------------------------------------------------------- the one switch

cdef enum:
    LEAST_LEVEL = -1000000000

cdef bint measure_query(const Query* query, const Asked* asked, Reading reading, Room* room,
                        double* value) noexcept nogil:
    """False if there is no memory, or no such reading."""
    cdef Kernel kernel = asked.kernel
    cdef int64_t num_rel, k = asked.k, cut
    cdef Py_ssize_t i
    cdef double hits, square = 0.0
    cdef double precision, recall
    value[0] = 0.0
    if kernel == KERNEL_NUM_Q:
        value[0] = 1.0
        return True
    if kernel == KERNEL_NUM_RET:
        value[0] = <double>query.num_ret
        return True
    if kernel == KERNEL_NDCG:
        value[0] = ndcg(query, asked, reading, room)
        return value[0] == value[0]
    if kernel == KERNEL_ERR:
        value[0] = expected_err(query, asked, room) if reading == READING_EXPECTED else err(query, asked)
        return value[0] == value[0]
    if kernel == KERNEL_RBP:
        value[0] = rbp(query, asked, reading)
        return True
    if kernel == KERNEL_RBP_RESID:
        value[0] = rbp_residual(query, asked.x)
        return reading != READING_EXPECTED
    if kernel == KERNEL_JUDGED:
        cut = query.num_ret if k < 0 else min(k, query.num_ret)
        if cut > 0:
            value[0] = judged_to(query, cut, reading, LEAST_LEVEL) / <double>cut
        return True
    if kernel == KERNEL_UNJUDGED:
        value[0] = (<double>min(k, query.num_ret) - judged_to(query, k, reading, 0)) / <double>k
        return True
    if kernel == KERNEL_NDCG_REL:
        value[0] = ndcg_at_relevant(query, asked, room)
        return value[0] == value[0] and reading != READING_EXPECTED
    if kernel == KERNEL_G:
        value[0] = normalized_gain(query, asked, room)
        return value[0] == value[0] and reading != READING_EXPECTED

    num_rel = count_from(query, asked.rel)
    if kernel == KERNEL_NUM_REL:
        value[0] = <double>num_rel
        return True
    if kernel == KERNEL_UTILITY:
        hits = <double>hits_in_all(query, asked.rel)
        value[0] = (asked.values[0] * hits + asked.values[1] * (<double>query.num_ret - hits)
                    + asked.values[2] * (<double>num_rel - hits)
                    + asked.values[3] * (hits - <double>query.num_ret - <double>num_rel))
        return True
    if kernel == KERNEL_NUM_NONREL_JUDGED_RET:
        value[0] = <double>(hits_in_all(query, 0) - hits_in_all(query, asked.rel))
        return True
    if num_rel == 0:
        return True  # all the rest is 0 where nothing is relevant
    if kernel == KERNEL_NUM_REL_RET:
        value[0] = <double>hits_in_all(query, asked.rel)
        return True
    if kernel == KERNEL_SET_P or kernel == KERNEL_SET_REL_P or kernel == KERNEL_SET_R or kernel == KERNEL_SET_F \
            or kernel == KERNEL_SET_AP:
        hits = <double>hits_in_all(query, asked.rel)
        if hits == 0:
            return True
        precision = hits / <double>query.num_ret
        recall = hits / <double>num_rel
        if kernel == KERNEL_SET_P:
            value[0] = precision
        elif kernel == KERNEL_SET_REL_P:
            value[0] = hits / <double>min(query.num_ret, num_rel)
        elif kernel == KERNEL_SET_R:
            value[0] = recall
        elif kernel == KERNEL_SET_F:
            value[0] = (asked.x + 1.0) * precision * recall / (asked.x * precision + recall)
        else:
            value[0] = hits * hits / (<double>query.num_ret * <double>num_rel)
        return True
    if kernel == KERNEL_BPREF:
        if reading == READING_EXPECTED:
            value[0] = expected_bpref(query, asked.rel, num_rel)
        else:
            value[0] = bpref(query, asked.rel, num_rel)
        return True
    if kernel == KERNEL_P or kernel == KERNEL_R or kernel == KERNEL_F or kernel == KERNEL_REL_P \
            or kernel == KERNEL_RPREC_MULT:
        if kernel == KERNEL_RPREC_MULT:
            square = asked.x * <double>num_rel + 0.9
            k = <int64_t>min(square, 4e18)
            if k == 0:
                return True
        if reading == READING_EXPECTED:
            hits = judged_to(query, k, reading, asked.rel)
        else:
            hits = <double>hits_to(query, asked.rel, k)
        if kernel == KERNEL_R:
            value[0] = hits / <double>num_rel
        elif kernel == KERNEL_F:
            square = min(asked.x * asked.x, 1e200)  # beyond that F is recall, and the products stay finite
            value[0] = (1 + square) * hits / (<double>k + square * <double>num_rel)
        elif kernel == KERNEL_REL_P:
            value[0] = hits / <double>min(k, num_rel)
        elif kernel == KERNEL_RPREC_MULT and square > 4e18:
            value[0] = hits / square
        else:
            value[0] = hits / <double>k
        return True
    if kernel == KERNEL_AP and asked.interpolation != <int>_read.INTERPOLATION_NONE:
        value[0] = read_table(query, asked, num_rel, reading, room)
        return value[0] == value[0]
    if reading == READING_EXPECTED:
        if kernel == KERNEL_AP or kernel == KERNEL_RR or kernel == KERNEL_SUCCESS or kernel == KERNEL_RPREC:
            value[0] = read_table(query, asked, num_rel, reading, room)
            return value[0] == value[0]
        return False
    if kernel == KERNEL_AP:
        value[0] = average_precision(query, asked, num_rel)
    elif kernel == KERNEL_RR:
        for i in range(query.num_rows):
            if query.rows[i].level >= asked.rel:
                if k < 0 or query.rows[i].rank <= k:
                    value[0] = 1.0 / <double>query.rows[i].rank
                break
    elif kernel == KERNEL_RPREC:
        value[0] = <double>hits_to(query, asked.rel, num_rel) / <double>num_rel
    elif kernel == KERNEL_SUCCESS:
        value[0] = 1.0 if hits_to(query, asked.rel, k) > 0 else 0.0
    elif kernel == KERNEL_IPREC:
        value[0] = interpolated(query, asked.rel, hit_at_level(asked, 0, num_rel))
    elif kernel == KERNEL_IPREC_AVG:
        value[0] = interpolated_average(query, asked, num_rel)
    elif kernel == KERNEL_INF_AP:
        value[0] = inferred_ap(query, asked.rel, num_rel)
    elif kernel == KERNEL_BIN_G:
        value[0] = bin_g(query, asked.rel, num_rel)
    else:
        value[0] = ndcg_at_levels(query, asked, room)
    return True
