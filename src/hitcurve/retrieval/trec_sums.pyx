"""Kernels that compute measures from the judged documents of one query.

Some measures of curves are here too, because `ties="docid"` must give trec_eval's number to the last bit: these kernels
add the terms in the order of the ranks, as trec_eval does. The other measures need documents without a judgment or levels
below 1, which a curve does not have.
"""
from libc.math cimport NAN, exp2, log2, lround
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from hitcurve._kernel cimport groups as _read
from hitcurve._kernel.err cimport Err, start_err, stop_at, stop_chance
from hitcurve._kernel.memory cimport grow


# ---------------------------------------------------------------------------------------------------------- arrangement

cdef inline double level_of(const Asked* asked, int64_t code) noexcept nogil:
    return <double>code if asked.scale is NULL or code <= 0 else asked.scale[code]


cdef inline double gain_of(const Asked* asked, int64_t level) noexcept nogil:
    cdef Py_ssize_t i
    if level < 0:
        return 0.0
    for i in range(asked.num_gains):
        if asked.gain_levels[i] == level:
            return asked.gains[i]
    return exp2(level_of(asked, level)) - 1.0 if asked.exponential else level_of(asked, level)


cdef inline double rank_key(const Asked* asked, int64_t level) noexcept nogil:
    """The value by which a measure orders tied documents: the gain if it names gains; otherwise gains rise with levels."""
    return gain_of(asked, level) if asked.num_gains > 0 else <double>level


cdef void sort_levels(Row* rows, Py_ssize_t n, bint falling, const Asked* asked) noexcept nogil:
    """Orders the levels within a tie group, with a pass for each distinct level, as these are few."""
    cdef Py_ssize_t i, done = 0
    cdef int64_t most
    cdef double key, other
    while done < n:
        most = rows[done].level
        key = rank_key(asked, most)
        for i in range(done + 1, n):
            other = rank_key(asked, rows[i].level)
            if other > key if falling else other < key:
                most = rows[i].level
                key = other
        for i in range(done, n):
            if rows[i].level == most:
                rows[i].level = rows[done].level
                rows[done].level = most
                done += 1


cdef bint arrange(const Row* rows, Py_ssize_t n, int64_t num_ret, int64_t depth, TieOrder order, bint judged_only,
                  const Asked* asked, Buffers* buffers, Query* query) noexcept nogil:
    """Puts the rows of a query in the order that the measure needs; False if there is no memory.

    `num_ret`: -1 for a query that the run lacks. `depth`: only so many documents count; -1: all of them. `asked`: only
    read for the best and the worst order.
    """
    cdef Py_ssize_t i, m = 0
    cdef int64_t kept, above
    cdef bint first
    cdef TieGroup group
    query.rows = rows
    query.num_ret = max(num_ret, 0)
    query.order = order
    if depth >= 0 and query.num_ret > depth:
        query.num_ret = depth
        while n > 0 and rows[n - 1].rank > depth:
            n -= 1
    query.num_rows = n
    if not judged_only and (order == ORDER_RANKS or order == ORDER_ANY):
        return True
    if not grow(<void**>&buffers.rows, &buffers.rows_size, n + 1, sizeof(Row)):
        return False
    if judged_only:
        group.stop = 0
        while next_group_of(query, True, &group):
            above = m
            kept = 0
            for i in range(group.start, group.stop):
                kept += rows[i].level >= 0
            for i in range(group.start, group.stop):
                if rows[i].level >= 0:
                    buffers.rows[m] = Row(m + 1, above, kept, rows[i].level)
                    m += 1
        query.num_rows = query.num_ret = m
    elif n > 0:  # without rows there is nothing to point at
        memcpy(buffers.rows, rows, n * sizeof(Row))
    query.rows = buffers.rows
    group.stop = 0
    while (order == ORDER_BEST or order == ORDER_WORST) and next_group_of(query, True, &group):
        if group.tied == 1:
            continue
        sort_levels(buffers.rows + group.start, group.stop - group.start, order == ORDER_BEST, asked)
        for i in range(group.start, group.stop):
            # Documents without a judgment have gain 0, so documents of negative gain come after them at best.
            first = order == ORDER_BEST
            if asked.num_gains > 0 and gain_of(asked, buffers.rows[i].level) < 0.0:
                first = not first
            buffers.rows[i].rank = group.above + (1 + i - group.start if first else group.tied + 1 - group.stop + i)
    return True


cdef inline int64_t count_from(const Query* query, int64_t level) noexcept nogil:
    """The number of judgments of this level or higher."""
    cdef Py_ssize_t low = 0, high = query.num_judged, middle
    while low < high:
        middle = (low + high) >> 1
        if query.levels[middle] >= level:
            low = middle + 1
        else:
            high = middle
    return low


cdef enum:
    LEAST_LEVEL = -1000000000


cdef double judged_to(const Query* query, int64_t k, bint tied, int64_t least) noexcept nogil:
    """The number of documents of level `least` or higher among the first k; the expected number if ties are open."""
    cdef Py_ssize_t i
    cdef int64_t some, whole = 0, shares = 0, of = 1
    cdef TieGroup group
    group.stop = 0
    while next_group_of(query, tied, &group) and group.above < k:
        some = 0
        for i in range(group.start, group.stop):
            some += query.rows[i].level >= least
        if group.above + group.tied <= k:
            whole += some
        else:  # only the last group can be cut
            shares = some * (k - group.above)
            of = group.tied
    return <double>whole + <double>shares / <double>of


# -------------------------------------------------------------------------------------------------------------- counting

cdef double num_queries(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    return 1.0


cdef double num_retrieved(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    return <double>query.num_ret


cdef double num_relevant(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    return <double>query.num_rel


cdef double hits_retrieved(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    return judged_to(query, query.num_ret, False, asked.rel)


cdef double others_retrieved(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    return judged_to(query, query.num_ret, False, 0) - hits_retrieved(query, asked, buffers)


cdef double set_precision(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    cdef double hits = hits_retrieved(query, asked, buffers)
    return hits / <double>query.num_ret if hits > 0.0 else 0.0


cdef double set_relative_precision(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    cdef double hits = hits_retrieved(query, asked, buffers)
    return hits / <double>min(query.num_ret, query.num_rel) if hits > 0.0 else 0.0


cdef double set_recall(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    cdef double hits = hits_retrieved(query, asked, buffers)
    return hits / <double>query.num_rel if hits > 0.0 else 0.0


cdef double set_f(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    cdef double precision = set_precision(query, asked, buffers), recall = set_recall(query, asked, buffers)
    return (asked.x + 1.0) * precision * recall / (asked.x * precision + recall) if recall > 0.0 else 0.0


cdef double set_average_precision(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    cdef double hits = hits_retrieved(query, asked, buffers)
    return hits * hits / (<double>query.num_ret * <double>query.num_rel) if hits > 0.0 else 0.0


cdef double utility(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    cdef double hits = hits_retrieved(query, asked, buffers)
    cdef double retrieved = <double>query.num_ret, relevant = <double>query.num_rel
    return (asked.values[0] * hits + asked.values[1] * (retrieved - hits)
            + asked.values[2] * (relevant - hits) + asked.values[3] * (hits - retrieved - relevant))


cdef double judged(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    cdef int64_t k = query.num_ret if asked.k < 0 else min(asked.k, query.num_ret)
    return judged_to(query, k, query.order == ORDER_ANY, LEAST_LEVEL) / <double>k if k > 0 else 0.0


cdef double unjudged(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    cdef double with_judgment = judged_to(query, asked.k, query.order == ORDER_ANY, 0)
    return (<double>min(asked.k, query.num_ret) - with_judgment) / <double>asked.k


cdef double holes(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    """The share of documents without a row. The rows are the documents that are judged for any query."""
    cdef double with_judgment = judged_to(query, asked.k, query.order == ORDER_ANY, LEAST_LEVEL)
    return (<double>min(asked.k, query.num_ret) - with_judgment) / <double>asked.k


# ----------------------------------------------------------------------------------------------------- binary relevance

cdef double hits_to(const Query* query, const Asked* asked, int64_t k) noexcept nogil:
    return judged_to(query, k, query.order == ORDER_ANY, asked.rel)


cdef double hits(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    return hits_to(query, asked, asked.k)


cdef double precision(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    return hits_to(query, asked, asked.k) / <double>asked.k


cdef double recall(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    return hits_to(query, asked, asked.k) / <double>query.num_rel


cdef double relative_precision(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    return hits_to(query, asked, asked.k) / <double>min(asked.k, query.num_rel)


cdef double f_score(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    cdef double square = min(asked.x * asked.x, 1e200)  # above that F equals recall, and the limit keeps the products finite
    return (1 + square) * hits_to(query, asked, asked.k) / (<double>asked.k + square * <double>query.num_rel)


cdef double success(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    return <double>(hits_to(query, asked, asked.k) > 0)


cdef double r_precision(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    return hits_to(query, asked, query.num_rel) / <double>query.num_rel


cdef double precision_at_multiple(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    cdef double square = asked.x * <double>query.num_rel + 0.9
    cdef int64_t k = <int64_t>min(square, 4e18)
    return hits_to(query, asked, k) / (square if square > 4e18 else <double>k) if k > 0 else 0.0


cdef double reciprocal_rank(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(query.num_rows):
        if query.rows[i].level >= asked.rel:
            return 1.0 / <double>query.rows[i].rank if asked.k < 0 or query.rows[i].rank <= asked.k else 0.0
    return 0.0


cdef double average_precision(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
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
        return total / <double>min(asked.k, query.num_rel)
    return total / <double>query.num_rel


cdef double precision_from(const Query* query, int64_t rel, int64_t from_hit) noexcept nogil:
    """The highest precision from relevant document number `from_hit` on; 0 if fewer relevant documents were retrieved."""
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
    """The number of relevant documents that reach a recall level."""
    if asked.rounding == ROUNDING_TREC_EVAL_9:
        return <int64_t>(asked.values[i] * <double>num_rel + 0.9)
    if asked.rounding == ROUNDING_TREC_EVAL_10:
        return lround(asked.values[i] * <double>num_rel)
    return (asked.numerators[i] * num_rel + asked.denominators[i] - 1) // asked.denominators[i]


cdef double interpolated_precision(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    """The mean interpolated precision over one or several recall levels."""
    cdef Py_ssize_t i
    cdef double total = 0.0
    for i in range(asked.num_values - 1, -1, -1):  # from the highest level down, as trec_eval adds
        total += precision_from(query, asked.rel, hit_at_level(asked, i, query.num_rel))
    return total / <double>asked.num_values


cdef double bpref(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    """Bpref. In a tie group with n judged documents that are not relevant, 0, 1, ..., n of them precede a relevant document,
    each number with the same probability."""
    cdef Py_ssize_t i
    cdef int64_t num_rel = query.num_rel, others = 0, all_others = count_from(query, 0) - num_rel, hits, more, j
    cdef double total = 0.0, part
    cdef TieGroup group
    group.stop = 0
    while next_group_of(query, query.order == ORDER_ANY, &group):
        hits = more = 0
        for i in range(group.start, group.stop):
            hits += query.rows[i].level >= max(asked.rel, 0)
            more += query.rows[i].level >= 0 and query.rows[i].level < asked.rel
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
    """The inferred precision at a relevant document.

    seen, others, unjudged: how many relevant, other judged, and unjudged documents of the pool rank above it.
    """
    cdef double j = <double>(rank - 1)
    if rank == 1:
        return 1.0
    return 1.0 / (j + 1.0) + (j / (j + 1.0)) * (<double>(seen + others + unjudged) / j) * (
        (<double>seen + EPSILON) / (<double>(seen + others) + 2 * EPSILON))


cdef inline double unjudged_slope(int64_t seen, int64_t others, int64_t outside) noexcept nogil:
    """A value below 0 if unjudged documents of the pool raise the inferred precision of the documents below them.

    With u unjudged documents above it, a document has the inferred precision
    p + slope / (u + seen + others + outside + 1), where p = (seen + e) / (seen + others + 2 e).
    """
    return 1.0 - (<double>seen + EPSILON) / (<double>(seen + others) + 2 * EPSILON) * (<double>outside + 1.0)


cdef double inferred_ap(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    """Inferred AP as ranked, or its greatest or least value over all orders of tied documents.

    A bound is NaN if the rules below do not give it. Documents outside of the pool, and judged documents that are not
    relevant, lower the inferred precision of every document below them. So they come last at best, and first at worst. (This
    holds for judged documents up to rank FAR_DOWN. Below it, epsilon is too small beside the rank.) Unjudged documents of the
    pool lower the inferred precision of the first relevant documents and raise that of the others, as the sign of the slope
    says. The slope falls from one relevant document to the next. So at best the unjudged documents come between the two. At
    worst some come before all relevant documents, and the others after them: the sum falls, then rises with their number.
    """
    cdef double total = 0.0, slope, place
    cdef int64_t seen = 0, others = 0, unjudged = 0, hits, more_others, more, outside, i, low, high, middle, inside
    cdef TieGroup group
    group.stop = 0
    while next_group_of(query, query.order != ORDER_RANKS, &group):
        more = more_others = 0
        for i in range(group.start, group.stop):
            more += query.rows[i].level < 0
            more_others += 0 <= query.rows[i].level < asked.rel
        hits = group.stop - group.start - more - more_others
        if hits > 0:
            if unjudged == 0 and more_others > 0 and group.above + group.tied > FAR_DOWN:
                return NAN
            outside = group.above - seen - others - unjudged
            low = 0
            if query.order == ORDER_WORST:
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
                if query.order == ORDER_BEST and unjudged_slope(i, others, outside) < 0.0:
                    inside = unjudged + more
                total += inferred_precision(1 + i + others + outside + inside, i, others, inside)
            if query.order == ORDER_WORST:
                others -= more_others
        seen += hits
        others += more_others
        unjudged += more
    return total / <double>query.num_rel


cdef double bin_g(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    cdef Py_ssize_t i
    cdef int64_t seen = 0
    cdef double total = 0.0
    for i in range(query.num_rows):
        if query.rows[i].level >= asked.rel:
            seen += 1
            total += 1.0 / log2(<double>(2 + query.rows[i].rank - seen))
    return total / <double>query.num_rel


# ----------------------------------------------------------------------------------------------------- graded relevance

cdef inline double discounted(const Asked* asked, const Row* row) noexcept nogil:
    cdef double gain = gain_of(asked, row.level)
    return gain / log2(<double>(row.rank + 1)) if gain != 0.0 else 0.0


cdef Py_ssize_t ideal_gains(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    """Puts all positive gains of the query, falling, into `buffers.gains`; returns their number."""
    cdef Py_ssize_t i, j, n = 0
    cdef double gain
    if not grow(<void**>&buffers.gains, &buffers.gains_size, query.num_judged + 1, sizeof(double)):
        buffers.full = True
        return 0
    for i in range(query.num_judged):
        if query.levels[i] < 0:
            break
        gain = gain_of(asked, query.levels[i])
        if gain <= 0.0:
            continue
        j = n
        if n > 0 and gain > buffers.gains[n - 1]:  # only if gains do not rise with levels
            while j > 0 and buffers.gains[j - 1] < gain:
                buffers.gains[j] = buffers.gains[j - 1]
                j -= 1
        buffers.gains[j] = gain
        n += 1
    return n


cdef double ndcg(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    """nDCG, also as the mean over all orders of ties: a curve does not have gains below 0 or gains of level 0."""
    cdef Py_ssize_t i, n = ideal_gains(query, asked, buffers)
    cdef int64_t last, rank
    cdef double gain, one, first, total = 0.0, ideal = 0.0
    cdef bint even
    cdef TieGroup group
    if n == 0:
        return 0.0
    group.stop = 0
    while next_group_of(query, query.order == ORDER_ANY, &group):
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
        # The mean gain of the items. If all gains are equal, the mean is that gain to the last bit, as in the ideal order.
        gain = first if even else gain / <double>group.tied
        if gain != 0.0:
            for rank in range(group.above + 1, last + 1):
                total += gain / log2(<double>(rank + 1))
    for i in range(n if asked.k < 0 else min(n, asked.k)):
        ideal += buffers.gains[i] / log2(<double>(i + 2))
    return total / ideal


cdef double ndcg_at_relevant(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    cdef const double* gains
    cdef Py_ssize_t i, j = 0, found = 0, n = ideal_gains(query, asked, buffers)
    cdef double gain, dcg = 0.0, ideal = 0.0, total = 0.0
    cdef bint tied = False, negative = False
    if n == 0:
        return 0.0
    gains = buffers.gains
    # An earlier rank is better unless a gain below 0 can make DCG negative, which is divided by the rising ideal DCG.
    for i in range(query.num_rows):
        tied |= query.rows[i].tied > 1
        negative |= query.rows[i].above + 1 < n and gain_of(asked, query.rows[i].level) < 0.0
    if query.order != ORDER_RANKS and tied and negative:
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


cdef double ndcg_at_levels(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    """The mean of nDCG at the ranks where the gain of the ideal order falls, and at the end."""
    cdef const double* gains
    cdef Py_ssize_t i = 0, j, points = 0, n = ideal_gains(query, asked, buffers)
    cdef double dcg = 0.0, ideal = 0.0, total = 0.0
    if n == 0:
        return 0.0
    gains = buffers.gains
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


cdef enum:
    MOST_STATES = 1 << 22
    MOST_GAINS = 23  # with so many distinct gains there are more than MOST_STATES states

# The documents of a tie group by their gains. `counts` has the number of documents of each gain. `stride` has the distance
# between states that differ by one document of a gain.
cdef struct Kinds:
    Py_ssize_t number
    double[MOST_GAINS] gains
    int64_t[MOST_GAINS] counts
    Py_ssize_t[MOST_GAINS] stride
    int64_t zeros        # documents of gain 0
    bint negative
    Py_ssize_t states    # 0 if there are too many


cdef void find_kinds(const Query* query, const Asked* asked, const TieGroup* group, Kinds* kinds) noexcept nogil:
    cdef Py_ssize_t i, v
    cdef double gain
    kinds.number = kinds.states = 0
    kinds.negative = False
    kinds.zeros = group.tied
    for i in range(group.start, group.stop):
        gain = gain_of(asked, query.rows[i].level)
        if gain == 0.0:
            continue
        kinds.zeros -= 1
        kinds.negative |= gain < 0.0
        v = 0
        while v < kinds.number and kinds.gains[v] != gain:
            v += 1
        if v == MOST_GAINS - 1:  # the last entry is for gain 0
            return
        if v == kinds.number:
            kinds.gains[v] = gain
            kinds.counts[v] = 0
            kinds.number += 1
        kinds.counts[v] += 1
    if kinds.negative:  # beside gains below 0, the place of documents of gain 0 matters too
        kinds.gains[kinds.number] = 0.0
        kinds.counts[kinds.number] = kinds.zeros
        kinds.number += 1
    kinds.states = 1
    for v in range(kinds.number):
        kinds.stride[v] = kinds.states
        if kinds.counts[v] >= MOST_STATES // kinds.states:
            kinds.states = 0
            return
        kinds.states *= kinds.counts[v] + 1


cdef double normalized_gain_bound(const Query* query, const Asked* asked, Buffers* buffers, Py_ssize_t n) noexcept nogil:
    """The greatest or the least `normalized_gain` over all orders of tied documents; NaN if there are too many states.

    What a document adds depends on the gain and the number of the documents before it, not on their order. So the bound of a
    tie group follows from the bounds of its parts, with a state for each number of documents of each gain. Documents of gain
    0 come last at best, and first at worst.
    """
    cdef Py_ssize_t i, v, s
    cdef Kinds kinds
    cdef int64_t[MOST_GAINS] taken
    cdef int64_t first, rank
    cdef double gained = 0.0, now, reach, bound, total = 0.0, ideal = 0.0, cost = 0.0
    cdef TieGroup group
    for i in range(n):
        ideal += buffers.gains[i]
        cost += max(buffers.gains[i], 1.0)
        buffers.gains[i] = cost  # the cost of the ranks up to this rank
    group.stop = 0
    while next_group_of(query, True, &group):
        find_kinds(query, asked, &group, &kinds)
        if kinds.states == 0:
            return NAN
        first = group.above
        if query.order == ORDER_WORST and not kinds.negative:
            first += kinds.zeros
        if not grow(<void**>&buffers.values, &buffers.values_size, kinds.states, sizeof(double)):
            buffers.full = True
            return NAN
        for v in range(kinds.number):
            taken[v] = 0
        buffers.values[0] = total
        for s in range(1, kinds.states):
            v = 0
            while taken[v] == kinds.counts[v]:
                taken[v] = 0
                v += 1
            taken[v] += 1
            rank = first
            now = gained
            for v in range(kinds.number):
                rank += taken[v]
                now += <double>taken[v] * kinds.gains[v]
            cost = buffers.gains[min(rank, n) - 1] + <double>max(rank - n, 0)
            reach = log2(2 + cost - now)
            bound = NAN
            for v in range(kinds.number):  # the gain of the last document
                if taken[v] > 0:
                    now = buffers.values[s - kinds.stride[v]] + kinds.gains[v] / reach
                    if not (bound >= now if query.order == ORDER_BEST else bound <= now):
                        bound = now
            buffers.values[s] = bound
        total = buffers.values[kinds.states - 1]
        for v in range(kinds.number):
            gained += <double>kinds.counts[v] * kinds.gains[v]
    return total / ideal


cdef double normalized_gain(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    cdef const double* gains
    cdef Py_ssize_t i, n = ideal_gains(query, asked, buffers)
    cdef int64_t j = 0
    cdef double gain, gained = 0.0, cost = 0.0, total = 0.0, ideal = 0.0
    if n == 0:
        return 0.0
    if query.order != ORDER_RANKS:
        return normalized_gain_bound(query, asked, buffers, n)
    gains = buffers.gains
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


cdef double rbp(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    cdef Py_ssize_t i
    cdef int64_t rank = 1, level
    cdef double weight = 1.0, total = 0.0, gain, most = 1.0
    if query.num_judged > 0:
        most = max(most, level_of(asked, query.levels[0]))
    for i in range(query.num_rows):
        if asked.k >= 0 and query.rows[i].rank > asked.k:
            break
        level = query.rows[i].level
        gain = max(level_of(asked, level), 0.0) / most if asked.scaled else <double>(level >= asked.rel)
        if gain == 0.0:
            continue
        while rank < query.rows[i].rank and weight > 0.0:
            weight *= asked.x
            rank += 1
        total += gain * weight
    return (1.0 - asked.x) * total


cdef double rbp_residual(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
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
        weight *= asked.x
    return weight + (1.0 - asked.x) * total if some else 0.0


cdef double err(const Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    cdef Err state
    cdef Py_ssize_t i
    start_err(&state, NULL, NULL, NULL)
    for i in range(query.num_rows):
        if asked.k >= 0 and query.rows[i].rank > asked.k:
            break
        stop_at(&state, stop_chance(level_of(asked, query.rows[i].level), asked.top), query.rows[i].rank)
    return state.total


# ------------------------------------------------------------------------------------------------------------ the table

cdef enum:
    MOST_SUMS = 40

cdef struct SumRecord:
    Sum sum
    bint needs_relevant  # 0 for a query without a relevant document

cdef SumRecord[MOST_SUMS] SUM_RECORDS
#: The names of measures that have a sum here, each with its place among the records.
SUMS = {}


cdef int add(str names, Sum sum, bint needs_relevant) except -1:
    cdef Py_ssize_t place = len(set(SUMS.values()))
    if place == MOST_SUMS:
        raise IndexError("MOST_SUMS is too small")
    SUM_RECORDS[place] = SumRecord(sum, needs_relevant)
    SUMS.update(dict.fromkeys(names.split(), place))
    return 0


add("AP GMAP", average_precision, True)
add("P", precision, True)
add("R", recall, True)
add("Hits", hits, True)
add("F", f_score, True)
add("RR", reciprocal_rank, True)
add("Rprec", r_precision, True)
add("RprecMult", precision_at_multiple, True)
add("Success", success, True)
add("RelP NEF", relative_precision, True)
add("IPrec IPrecAvg", interpolated_precision, True)
add("nDCG", ndcg, False)
add("ERR", err, False)
add("RBP", rbp, False)
add("NumQ", num_queries, False)
add("NumRet", num_retrieved, False)
add("NumRel", num_relevant, False)
add("NumRelRet", hits_retrieved, False)
add("NumNonRelRet", others_retrieved, False)
add("SetP", set_precision, False)
add("SetRelP", set_relative_precision, False)
add("SetR", set_recall, False)
add("SetF", set_f, False)
add("SetAP", set_average_precision, False)
add("Utility", utility, False)
add("Judged", judged, False)
add("Unjudged", unjudged, False)
add("Hole", holes, False)
add("Bpref GMBpref", bpref, True)
add("infAP", inferred_ap, True)
add("binG", bin_g, True)
add("RBPResid", rbp_residual, False)
add("nDCGrel", ndcg_at_relevant, False)
add("RnDCG", ndcg_at_levels, True)
add("G", normalized_gain, False)


cdef int set_sum(Asked* asked, str name) except -1:
    asked.sum, asked.needs_relevant = SUM_RECORDS[<int>SUMS[name]].sum, SUM_RECORDS[<int>SUMS[name]].needs_relevant
    return 0


cdef double summed(Query* query, const Asked* asked, Buffers* buffers) noexcept nogil:
    """The value of a measure for a query; NaN if it cannot be computed, or if an allocation failed."""
    query.num_rel = count_from(query, asked.rel)
    return asked.sum(query, asked, buffers) if query.num_rel > 0 or not asked.needs_relevant else 0.0
