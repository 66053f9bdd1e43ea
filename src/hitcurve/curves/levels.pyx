# cython: wraparound=True
"""Levels of relevance as codes for the kernels, the gains of levels, and nDCG of short rankings without a table."""
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, NAN, log
from libc.stdint cimport int64_t, uint8_t, uint32_t

cimport cython
cimport numpy as cnp

from collections.abc import Mapping, Set

import numpy as np

from hitcurve._base.checks cimport (
    array_or_none, as_labels, as_ndarray, as_scores, as_whole, check_number, check_within, countable, not_a, not_negative,
    one_dimension, parse_lower, parse_nan_policy, parse_ties,
)
from hitcurve._kernel.columns cimport (
    KIND_I64, KIND_U8, KIND_U64, SCORE_DOUBLE, SCORE_FLOAT, Column, Items, Tally, load_scores,
)
from hitcurve._kernel.count cimport STRATEGY_AUTO
from hitcurve._kernel.err cimport stop_chance
from hitcurve._kernel.formulas cimport NO_CUTOFF, TIES_THRESHOLD, Table, Ties
from hitcurve._kernel.gains cimport (
    DISCOUNT_LOG, DISCOUNT_RANK, DISCOUNT_TABLE, GainReading, GainRoom, Levels, Pairs, find_pairs, ndcg,
)
from hitcurve._kernel.table cimport (
    SMALL, STATUS_BAD_LABEL, STATUS_NO_MEMORY, STATUS_OK, Ranking, SmallSpace, Status, Workspace, num_rows, rank_items,
    ranking_rows, ranking_scores, reserve_relevant, small_workspace, workspace_free, workspace_init,
)
from hitcurve.curves.ranking cimport Queries, as_mask, counts_in

from hitcurve._base.checks import SCORES
from hitcurve._base.words import many
from hitcurve.curves.sorted import group_starts, ranks_of

cnp.import_array()

LEVELS = "levels must be real numbers"
cdef str GAIN = "'linear', 'exponential', a mapping or an array"
cdef str DISCOUNT = "'log2', ('log', base) or an array"
LEVEL_RULE = "a level must be finite and at least 0"

_MOST_KEYS = 2**31 - 1  # the most rows, levels, or pairs of both that the kernels support in one ranking

cdef enum:
    MOST_WHOLE = 1 << 16     # whole levels below this are their own codes
    MOST_EXPONENTIAL = 1023  # the greatest level whose gain 2**level - 1 is a number


# -------------------------------------------------------------------------------------------------------------- levels

cdef int bad_level(object array, object bad, str name, str rule) except -1:
    """Raises an error for the first bad level, if there is one."""
    for place in np.argwhere(bad)[:1]:
        where = ", ".join(map(str, place.tolist()))
        raise ValueError(f"{name}[{where}] is {array[tuple(place)]}: {rule}")
    return 0


cdef bint beyond_keys(object number) except -1:
    return number > _MOST_KEYS


cdef int within_keys(object number, str what) except -1:
    if beyond_keys(number):
        raise ValueError(f"{what.format(number)}: at most {_MOST_KEYS} are supported")
    return 0


cdef object coded(object levels, str name, object more):
    """(codes of the levels, codes of `more` levels, the level of each code). Code 0 stands for level 0."""
    array = as_ndarray(levels, name, LEVELS)
    if array.dtype.kind == "b":
        array = array.view(np.uint8)
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        with np.errstate(over="ignore", under="ignore"):
            narrow = array.astype(np.float64)
        bad_level(array, (narrow == 0) & (array != 0), name, "float64 cannot hold so small a level")
        array = narrow
    if array.dtype.kind in "if" and not array.min(initial=0) >= 0 or array.dtype.kind == "f" and np.isinf(array).any():
        bad_level(array, ~((array >= 0) & (array < np.inf)), name, LEVEL_RULE)
    top = max(float(array.max(initial=0)), more.max(initial=0.0))
    if top < MOST_WHOLE and all((one == np.floor(one)).all() for one in (more, array) if one.dtype.kind == "f"):
        codes = array if array.dtype == np.uint8 else array.astype(np.uint8 if top < 256 else np.uint32)
        return codes, more.astype(np.uint32), np.arange(int(top) + 1, dtype=np.float64)
    held_by_float64(array, name)
    graded = array != 0
    values = np.unique(np.concatenate([[0.0], array[graded].astype(np.float64), more]))
    within_keys(values.shape[0], name + " has {} different levels")
    codes = np.zeros(array.shape, np.uint32)
    codes[graded] = np.searchsorted(values, array[graded].astype(np.float64))
    return codes, np.searchsorted(values, more).astype(np.uint32), values


def block_levels(y_true):
    """(codes of the levels of a block of items, the level of each code). Code 0 stands for level 0."""
    codes, _, values = coded(y_true, "y_true", np.empty(0))
    return codes, values


cdef int held_by_float64(object levels, str name) except -1:
    if levels.dtype.kind in "iu":
        bad_level(levels, levels > 2**53, name, "a whole level must be at most 2**53")
    return 0


cdef tuple as_float64(object values, str name, str what):
    """(numbers as an array, the same as float64). A number that is too large for float64 becomes infinite."""
    array = one_dimension(as_ndarray(values, name, what), name)
    with np.errstate(over="ignore", under="ignore"):
        return array, np.ascontiguousarray(array, np.float64)


cdef object levels_above(object values, str name, bint zero=False):
    """The levels, unsorted, all above 0. With `zero` levels of 0 are left out; without it they are an error."""
    array, levels = as_float64(values, name, LEVELS)
    held_by_float64(array, name)
    bad_level(array, (levels == 0) & (array != 0), name, "float64 cannot hold so small a level")
    if zero:
        bad_level(levels, ~((levels >= 0) & (levels < np.inf)), name, LEVEL_RULE)
        return levels[levels > 0]
    bad_level(levels, ~((levels > 0) & (levels < np.inf)), name, "a level must be above 0 and finite")
    return levels


cpdef object missing_levels(object unretrieved, str name="unretrieved"):
    """The levels above 0 of items that were never retrieved, ascending."""
    return np.sort(levels_above([] if unretrieved is None else unretrieved, name, True))


cdef list missing_lists(object unretrieved):
    """The `missing_levels` of each query."""
    if unretrieved is None:
        return []
    try:
        lists = None if isinstance(unretrieved, (Mapping, Set, str, bytes)) else list(unretrieved)
    except TypeError:
        lists = None
    if lists is None:
        raise not_a(unretrieved, "unretrieved", "a list of levels for each query")
    return [missing_levels(levels, f"unretrieved[{q}]") for q, levels in enumerate(lists)]


cdef tuple run_lengths(object codes):
    """(distinct codes, how often each occurs) of sorted codes."""
    starts = group_starts(codes) if codes.shape[0] else np.empty(0, np.int64)
    return codes[starts], np.diff(np.append(starts, codes.shape[0])).astype(np.int64)


cdef object comparable(object score, Items* items):
    """Scores as a contiguous array in a type that the kernels compare. Sets the score column."""
    items.n = score.shape[0]
    kept = as_scores(score, "y_score", items)
    if isinstance(kept, tuple):
        return kept[0]
    if kept.dtype == np.uint64:
        return (kept ^ np.uint64(1 << 63)).view(np.int64)
    kind = np.float32 if items.type == SCORE_FLOAT else np.float64 if items.type == SCORE_DOUBLE else np.int64
    return np.ascontiguousarray(kept, kind)


cdef tuple resolved(object codes, object score, object query, object lower, object key, object kept):
    """(codes, places, the score at each place) of the items in `kept`, or of all items if it is None.

    Places number the distinct triples of query, score and key, best first. If the key is None, each item has its own place.
    """
    if kept is not None:
        codes, score, query = codes[kept], score[kept], query[kept]
        key = None if key is None else key[kept]
    ranks = ranks_of(score, lower)
    key = np.arange(ranks.shape[0]) if key is None else key
    order = np.lexsort((key, ranks, query))
    starts = group_starts(query[order], ranks[order], key[order])
    places = np.empty(order.shape[0], np.int64)
    places[order] = np.repeat(np.arange(starts.shape[0]), np.diff(np.append(starts, order.shape[0])))
    at_place = score[order[starts]]
    return codes, places, at_place + 0 if score.dtype.kind == "f" else at_place


cdef tuple pairs_of(const Items* base, Py_ssize_t step, object scores, object offsets, object codes, object row_starts,
                    object of_rows, object hits, bint lower):
    """(where the pairs of each row start, the code of each pair, its count) of the rows of rankings.

    Ranking q holds the items offsets[q] to offsets[q + 1], and the rows row_starts[q] to row_starts[q + 1], whose scores
    are in `of_rows`. If `step` is not 0, all rankings share the codes, and `step` is the distance between their scores.
    """
    cdef Items items, rows
    cdef Pairs pairs
    cdef Py_ssize_t q, start, most, number = hits.shape[0], size = codes.dtype.itemsize, raw_size, found = 0
    cdef const char* data = <const char*>cnp.PyArray_DATA(<cnp.ndarray>codes)
    cdef const char* raw_data
    cdef const int64_t* item_at
    cdef const int64_t* row_at
    cdef const int64_t* wanted
    cdef const uint8_t* nan_row
    cdef int64_t* starts_at
    raw = np.searchsorted(scores[1], of_rows) if isinstance(scores, tuple) else comparable(of_rows, &rows)
    raw_data, raw_size = <const char*>cnp.PyArray_DATA(<cnp.ndarray>raw), raw.dtype.itemsize
    has_nan = np.zeros(number, np.uint8)
    if of_rows.dtype.kind == "f":
        full = np.flatnonzero(np.diff(row_starts))
        has_nan[full] = np.isnan(of_rows[row_starts[full + 1] - 1])
    within_keys(np.diff(row_starts).max(initial=0), "a ranking has {} tie groups above level 0")
    offsets, row_starts, hits = (np.ascontiguousarray(column, np.int64) for column in (offsets, row_starts, hits))
    most = hits.max(initial=0)
    starts, code = np.zeros(raw.shape[0] + 1, np.int64), np.empty(hits.sum(), np.uint32)
    count, keys = np.empty(code.shape[0], np.int64), np.empty(2 * most, np.int64)
    starts_at, item_at, row_at, wanted = counts_in(starts), counts_in(offsets), counts_in(row_starts), counts_in(hits)
    nan_row = <const uint8_t*>cnp.PyArray_DATA(<cnp.ndarray>has_nan)
    pairs = Pairs(counts_in(keys), NULL, <uint32_t*>cnp.PyArray_DATA(<cnp.ndarray>code), counts_in(count), 0)
    with nogil:
        for q in range(number):
            items, start = base[0], <Py_ssize_t>item_at[q]
            items.n = <Py_ssize_t>item_at[q + 1] - start
            items.score.data += q * step if step != 0 else start * items.score.stride
            rows.score.data = raw_data + row_at[q] * raw_size
            rows.n = <Py_ssize_t>(row_at[q + 1] - row_at[q])
            pairs.starts = starts_at + row_at[q]
            found = find_pairs(&items, data + (0 if step != 0 else start * size), size == 1, &rows, lower, nan_row[q],
                               <Py_ssize_t>wanted[q], &pairs)
            if found != wanted[q]:
                break
    if number > 0 and found != hits[number - 1]:
        raise ValueError("y_true or y_score changed while the items were ranked")
    return starts, code[:pairs.number].copy(), count[:pairs.number].copy()


cdef object unmasked(object mask, object y_true, object y_score):
    """(levels, scores, flags) of arrays of the same shape. The level of padding becomes 0."""
    levels, scores = as_ndarray(y_true, "y_true", LEVELS), as_ndarray(y_score, "y_score", SCORES)
    flags = as_mask(mask, levels, scores)
    return np.where(flags, levels, levels.dtype.type(0)), scores, flags


cdef tuple from_outside(object level_offsets, object level, object level_count, Py_ssize_t rows, object missing):
    """Checks a table that another program made. Returns (hits of each row, values, pairs, codes of the missing levels)."""
    starts = one_dimension(as_whole(level_offsets, "level_offsets"), "level_offsets").astype(np.int64)
    level = levels_above(level, "level")
    count = one_dimension(as_whole(level_count, "level_count"), "level_count")
    if level.shape != count.shape:
        raise ValueError(f"level has {many(level.shape[0], 'entries')}, level_count has {count.shape[0]}")
    if starts.shape[0] != rows + 1 or starts[0] != 0 or starts[-1] != level.shape[0] or (np.diff(starts) < 1).any():
        raise ValueError(f"level_offsets must be {rows + 1} whole numbers that increase from 0 to {level.shape[0]}: the places "
                         "where the levels of each row begin")
    for i in np.flatnonzero(count < 1)[:1]:
        raise ValueError(f"level_count[{i}] is {count[i]}: must be at least 1")
    if count.sum(dtype=np.float64) >= 2.0**62:
        countable(sum(count.tolist()), "the sum of level_count")
    count = count.astype(np.int64)
    same_row = np.ones(level.shape[0], bool)
    same_row[starts[:-1]] = False
    for i in np.flatnonzero(same_row[1:] & (level[1:] <= level[:-1]))[:1]:
        raise ValueError(f"level[{i + 1}] is {level[i + 1]}, after {level[i]}: the levels of a row must increase")
    hits = np.add.reduceat(np.append(count, 0), starts[:-1]) if rows else np.empty(0, np.int64)
    values = np.unique(np.concatenate([[0.0], level, missing]))
    within_keys(values.shape[0], "level has {} different levels")
    codes, missing_codes = (np.searchsorted(values, levels).astype(np.uint32) for levels in (level, missing))
    return hits, values, (starts, codes, count), missing_codes


# --------------------------------------------------------------------------------------------------------------- gains

cdef object listed(object values, str name, str kind, str choices):
    """Gains, weights or discounts of a list or array, as float64."""
    if array_or_none(values, name) is None:
        raise not_a(values, name, choices)
    _, numbers = as_float64(values, name, f"{kind}s must be real numbers")
    bad_level(numbers, ~((numbers >= 0) & (numbers < np.inf)), name, f"a {kind} must be finite and at least 0")
    return numbers


cdef dict by_level(object given, str name, str kind, str choices):
    """{level: number} from the caller's mapping or list. Whole levels stay int, so that rounding changes no level."""
    if not isinstance(given, Mapping):
        return dict(enumerate(listed(given, name, kind, choices).tolist()))
    known = {}
    for level, worth in given.items():
        if not 0 <= check_number(level, f"a level of {name}") < INFINITY:
            raise ValueError(f"{name} has the level {level}: {LEVEL_RULE}")
        known[int(level) if isinstance(level, (int, np.integer)) else float(level)] = float(
            not_negative(worth, f"{name}[{level}]"))
    return known


cdef object exponential(object values, double top):
    """(2**value - 1) / 2**top for each value."""
    cdef Py_ssize_t i, number = values.shape[0]
    cdef double* value
    chances = np.array(values, np.float64)
    value = <double*>cnp.PyArray_DATA(<cnp.ndarray>chances)
    for i in range(number):
        value[i] = stop_chance(value[i], top)
    return chances


cdef object gains_of(object gain, object values, object used):
    """The gain of each code. The gains of codes that are not used do not matter."""
    if isinstance(gain, str):
        if gain == "linear":
            return values
        if gain != "exponential":
            raise ValueError(f"gain is {gain!r}: must be {GAIN}")
        top = values[used].max(initial=0.0)
        if top > MOST_EXPONENTIAL:
            raise ValueError(f"gain='exponential': a level is {top:g}, but 2**level - 1 fits in float64 only up to level "
                             f"{MOST_EXPONENTIAL}")
        return exponential(np.where(used, values, 0.0), 0.0)
    if isinstance(gain, Mapping):
        from hitcurve.measures import ByLevel  # strings and arrays work without the table of measures
        if isinstance(gain, ByLevel):
            gain = {level: gain[level] for level in values[used].tolist()}
    known, said = by_level(gain, "gain", "gain", GAIN), ""
    if not isinstance(gain, Mapping):
        said = f": it has the levels 0 to {len(known) - 1}" if known else ": it is empty"
    gains = np.zeros(values.shape[0])
    for at in np.flatnonzero(used).tolist():
        level = float(values[at])
        if level not in known and level != 0:
            raise ValueError(f"gain has no level {level:g}{said}")
        gains[at] = known.get(level, 0.0)
    return gains


cdef object weights_below(object weights, object values):
    """For each level, the sum of the weights of this level and of all lower levels above 0."""
    shares = by_level(weights, "weights", "weight", "a mapping or an array")
    if shares.get(0, 0.0) != 0.0:
        raise ValueError(f"weights[0] is {shares[0]}: only a level above 0 is a threshold")
    known = sorted(shares)
    each = np.array([shares[level] for level in known])
    if each.max(initial=0.0) > 2.0**900:  # sums may overflow: a smaller power of two gives the same quotient
        less = np.ldexp(each, -100)
        for i in np.flatnonzero(np.ldexp(less, 100) != each)[:1]:
            raise ValueError(f"weights[{known[i]}] is {shares[known[i]]}, but the greatest weight is {max(shares.values())}: "
                             "the weights differ by too much for float64")
        each = less
    below = np.append(0.0, np.cumsum(each))
    return below[np.searchsorted(np.array(known, np.float64), values, side="right")]


BY_RANK = object()


@cython.final
cdef class Reader:
    """The arguments of a measure for the kernels, and the arrays that they point to."""
    cdef int set_gains(self, object gains) except -1:
        if (gains[1:] > gains[:-1]).all():  # as levels are, which is soon seen
            distinct, places = gains, np.arange(gains.shape[0])
        else:
            distinct, places = np.unique(gains, return_inverse=True)
        self.gains = np.ascontiguousarray(gains)
        self.places = (distinct.shape[0] - 1 - places).astype(np.uint32)
        self.falling = np.ascontiguousarray(distinct[::-1])
        self.reading.gain = <const double*>cnp.PyArray_DATA(<cnp.ndarray>self.gains)
        self.reading.place = <const uint32_t*>cnp.PyArray_DATA(<cnp.ndarray>self.places)
        self.reading.falling = <const double*>cnp.PyArray_DATA(<cnp.ndarray>self.falling)
        return 0

    cdef int set_discount(self, object discount) except -1:
        if discount is BY_RANK:
            self.reading.discount = DISCOUNT_RANK
            return 0
        self.reading.discount = DISCOUNT_LOG
        self.reading.scale, self.reading.shift, self.reading.plain = log(2.0), 1.0, 0
        if isinstance(discount, str) and discount == "log2":
            return 0
        if isinstance(discount, tuple) and len(discount) == 2 and isinstance(discount[0], str) and discount[0] == "log":
            base = check_within(discount[1], "discount[1]", "above 1 and below 2**62", 1.0, 2.0**62)
            self.reading.scale, self.reading.shift, self.reading.plain = log(base), 0.0, <int64_t>np.ceil(base)
            return 0
        if isinstance(discount, (str, tuple)):
            raise ValueError(f"discount is {discount!r}: must be {DISCOUNT}")
        table = listed(discount, "discount", "discount", DISCOUNT)
        for i in np.flatnonzero(table[1:] > table[:-1])[:1]:
            raise ValueError(f"discount[{i + 1}] is {table[i + 1]}, above discount[{i}], {table[i]}: discounts must not rise")
        self.reading.discount = DISCOUNT_TABLE
        self.table = table
        self.reading.table = <const double*>cnp.PyArray_DATA(<cnp.ndarray>table)
        self.reading.length = table.shape[0]
        return 0


# ------------------------------------------------------------------------------------- nDCG without a table in between
# For whole levels below 256 and rankings that fit in the caches: one step ranks the items and computes nDCG.

cdef enum:
    MOST_QUICK = 1 << 16   # the most items of a ranking
    TOGETHER = 1 << 22     # items between two checks for Ctrl-C


# Memory for the table of one ranking of `items` items, with room for two more.
cdef struct Space:
    uint8_t* flags
    int64_t* above
    int64_t* tied
    int64_t* hits
    int64_t* starts
    int64_t* count
    int64_t* keys
    int64_t* ideal
    uint32_t* code
    double* score

cdef struct SmallLevels:
    uint8_t codes[SMALL]
    uint8_t flags[SMALL + 2]
    int64_t numbers[8 * (SMALL + 2)]
    uint32_t code[SMALL + 2]
    double score[SMALL + 2]


cdef void lay_space(Space* space, Py_ssize_t n, int64_t* numbers, uint32_t* code, double* score, uint8_t* flags) noexcept nogil:
    """Divides memory for 8 * (n + 2) whole numbers, and for n + 2 of each other type, among the columns of n items."""
    space.above = numbers
    space.tied = space.above + n + 2
    space.hits = space.tied + n + 2
    space.starts = space.hits + n + 2
    space.count = space.starts + n + 2
    space.keys = space.count + n + 2
    space.ideal = space.keys + 2 * (n + 2)
    space.code = code
    space.score = score
    space.flags = flags


cdef double rank_levels(Items* items, const uint8_t* codes, bint lower, Workspace* work, const Space* space,
                        const GainReading* reading, Tally* tally, Status* status) noexcept nogil:
    """nDCG of one ranking."""
    cdef Ranking ranking
    cdef Items rows
    cdef Levels levels
    cdef GainRoom room
    cdef Pairs pairs = Pairs(space.keys, space.starts, space.code, space.count, 0)
    cdef Py_ssize_t i, n = items.n
    cdef uint8_t* flags = space.flags
    for i in range(n):
        flags[i] = codes[i] != 0
    items.label = Column(<const char*>flags, 1, KIND_U8)
    status[0] = rank_items(items, 0, n, lower, STRATEGY_AUTO, n, work, &ranking, tally)
    if status[0] != STATUS_OK:
        return NAN
    rows.n = num_rows(&ranking)
    rows.score.data = <const char*>space.score
    ranking_rows(&ranking, rows.n, space.above, space.tied, space.hits)
    ranking_scores(items, work, &ranking, space.score)
    if find_pairs(items, codes, True, &rows, lower, ranking.nan_hits > 0, n, &pairs) < 0:
        status[0] = STATUS_BAD_LABEL  # they change
        return NAN
    levels.table = Table(space.above, space.tied, space.hits, rows.n, ranking.num_items, 0)
    levels.starts, levels.code, levels.count = space.starts, space.code, space.count
    levels.num_missing = 0
    room.keys = space.keys
    room.scratch = space.keys + n + 2
    room.ideal = space.ideal
    room.num_ideal = -1
    return ndcg(&levels, reading, &room)


cdef bint as_codes(const Column* column, Py_ssize_t n, uint8_t* codes) noexcept nogil:
    """Converts fewer than SMALL levels of any type to 8-bit codes. False if a level is not a whole number from 0 to 255."""
    cdef double scratch[SMALL]
    cdef int64_t wide[SMALL]
    cdef const double* numbers
    cdef const int64_t* whole
    cdef double number
    cdef int64_t level
    cdef Py_ssize_t i
    if column.kind == KIND_U8:
        for i in range(n):
            codes[i] = (<const uint8_t*>(column.data + i * column.stride))[0]
    elif column.kind == KIND_U64:
        return False
    elif column.kind == KIND_I64:
        whole = load_scores(column, 0, n, wide)
        for i in range(n):
            level = whole[i]
            if not 0 <= level < 256:
                return False
            codes[i] = <uint8_t>level
    else:
        numbers = load_scores(column, 0, n, scratch)
        for i in range(n):
            number = numbers[i]
            if not 0 <= number < 256 or number != <uint8_t>number:
                return False
            codes[i] = <uint8_t>number
    return True


cdef Reader reader_of(object gain):
    cdef Reader reader = Reader.__new__(Reader)
    reader.set_gains(gains_of(gain, np.arange(256.0), np.ones(256, bool)))
    reader.set_discount("log2")
    return reader


cdef Reader LINEAR = reader_of("linear")
cdef Reader EXPONENTIAL = reader_of("exponential")


cdef bint quick_reading(object k, object gain, object discount, object ties, object ideal_k, GainReading* reading) except -1:
    """Sets the reading. False if the arguments need another way, because the gains or discounts depend on the levels."""
    if type(gain) is not str or type(discount) is not str or type(ideal_k) is not str or discount != "log2":
        return False
    if gain == "linear":
        reading[0] = LINEAR.reading
    elif gain == "exponential":
        reading[0] = EXPONENTIAL.reading
    else:
        return False
    reading.ties = <Ties>parse_ties(ties)
    reading.k = NO_CUTOFF
    if k is not None:
        if type(k) is not int or not 0 < k < MOST_QUICK:
            return False
        reading.k = k
    reading.ideal_k = reading.k if ideal_k == "same" else NO_CUTOFF
    return reading.ties != TIES_THRESHOLD and (ideal_k == "same" or ideal_k == "all")


cdef double quick_ndcg(object y_true, object y_score, object k, object gain, object discount, object ties, object ideal_k,
                       object lower_is_better, object nan_policy) except? -1:
    """nDCG of a short ranking, or -1 if the arguments need the general way."""
    cdef GainReading reading
    cdef Items items
    cdef SmallSpace small
    cdef SmallLevels levels
    cdef Workspace work
    cdef Space space
    cdef Tally tally
    cdef Status status
    cdef double value
    cdef bint lower = parse_lower(lower_is_better)
    if not quick_reading(k, gain, discount, ties, ideal_k, &reading):
        return -1
    items.nan_policy = parse_nan_policy(nan_policy)
    if not cnp.PyArray_CheckExact(y_true) or (<cnp.ndarray>y_true).descr.kind not in b"biuf":
        y_true = as_ndarray(y_true, "y_true", LEVELS)
    _levels = as_labels(y_true, None, &items)
    if items.n >= SMALL or not as_codes(&items.label, items.n, levels.codes):
        return -1
    _scores = as_scores(y_score, "y_score", &items)
    small_workspace(&small, &work)
    lay_space(&space, SMALL, levels.numbers, levels.code, levels.score, levels.flags)
    value = rank_levels(&items, levels.codes, lower, &work, &space, &reading, &tally, &status)
    return value if status == STATUS_OK else -1


cdef object narrow_codes(object y_true):
    """Levels as 8-bit codes. None if a level is not a whole number from 0 to 255."""
    array = as_ndarray(y_true, "y_true", LEVELS)
    if array.dtype.kind == "b":
        return array.view(np.uint8)
    if array.dtype == np.uint8:
        return array
    if array.dtype.kind not in "iuf" or not (array.min(initial=0) >= 0 and array.max(initial=0) < 256):
        return None
    narrow = array.astype(np.uint8)
    return None if array.dtype.kind == "f" and not (narrow == array).all() else narrow


cdef Status rank_some(const Items* every, const uint8_t* codes, const int64_t* offsets, Py_ssize_t number, bint lower,
                      Workspace* work, const Space* space, const GainReading* reading, double* out,
                      Py_ssize_t* q) noexcept nogil:
    """nDCG of the rankings from q on, until the next check for Ctrl-C is due or a ranking fails."""
    cdef Items items
    cdef Tally tally
    cdef Status status = STATUS_OK
    cdef Py_ssize_t start, since = 0
    while q[0] < number and since < TOGETHER:
        start = <Py_ssize_t>offsets[q[0]]
        items = every[0]
        items.n = <Py_ssize_t>offsets[q[0] + 1] - start
        items.score.data += start * items.score.stride
        out[q[0]] = rank_levels(&items, codes + start, lower, work, space, reading, &tally, &status)
        if status != STATUS_OK:
            break
        since += items.n + 64
        q[0] += 1
    return status


cdef Status rank_queries(Queries queries, Py_ssize_t longest, bint lower, const GainReading* reading, object values) except *:
    """nDCG of every ranking. No ranking has more than `longest` items."""
    cdef Workspace work
    cdef Space space
    cdef Status status = STATUS_OK
    cdef Py_ssize_t q = 0
    labels, offsets = np.ascontiguousarray(queries.labels), np.ascontiguousarray(queries.offsets, np.int64)
    numbers, score = np.empty(8 * (longest + 2), np.int64), np.empty(longest + 2)
    code, flags = np.empty(longest + 2, np.uint32), np.empty(longest + 2, np.uint8)
    cdef const uint8_t* codes = <const uint8_t*>cnp.PyArray_DATA(<cnp.ndarray>labels)
    cdef const int64_t* places = counts_in(offsets)
    cdef double* out = <double*>cnp.PyArray_DATA(<cnp.ndarray>values)
    lay_space(&space, longest, counts_in(numbers), <uint32_t*>cnp.PyArray_DATA(<cnp.ndarray>code),
              <double*>cnp.PyArray_DATA(<cnp.ndarray>score), <uint8_t*>cnp.PyArray_DATA(<cnp.ndarray>flags))
    workspace_init(&work)
    try:
        if not reserve_relevant(&queries.items, longest, &work):
            return STATUS_NO_MEMORY
        while q < queries.num_queries and status == STATUS_OK:
            with nogil:
                status = rank_some(&queries.items, codes, places, queries.num_queries, lower, &work, &space, reading, out, &q)
            PyErr_CheckSignals()
    finally:
        workspace_free(&work)
    return status


cdef object quick_ndcgs(object y_true, object y_score, object qid, object offsets, object k, object gain, object discount,
                        object ties, object ideal_k, object lower_is_better, object nan_policy):
    """(nDCG of each query, ids of the queries), or None if the arguments need the general way."""
    cdef GainReading reading
    cdef Queries queries
    cdef Status status
    cdef bint lower = parse_lower(lower_is_better)
    if not quick_reading(k, gain, discount, ties, ideal_k, &reading):
        return None
    codes = narrow_codes(y_true)
    if codes is None:
        return None
    queries = Queries(codes, y_score, qid, offsets, None, nan_policy)
    longest = np.diff(queries.offsets).max(initial=0)
    if longest > MOST_QUICK or queries.step != 0:
        return None
    values = np.empty(queries.num_queries)
    status = rank_queries(queries, longest, lower, &reading, values)
    if status == STATUS_NO_MEMORY:
        raise MemoryError("not enough memory to rank the items")
    return (values, queries.qid) if status == STATUS_OK else None
