"""Bootstrap resamples of the items of hit-curve tables, drawn from counts: kernels, and their Python class.

Items that no measure distinguishes form a category: the relevant items of a row, the other items of a row, the items
between two rows. The number of items of each category in a resample is multinomial, and is drawn from this
distribution, without the items themselves. Several tables of the same items may share their categories.
"""
cimport cython
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memset

cimport numpy as cnp
from numpy.random cimport bitgen_t

import numpy as np

cnp.import_array()


cdef extern from "numpy/random/distributions.h":
    ctypedef struct binomial_t:
        pass
    int64_t random_binomial(bitgen_t* rng, double p, int64_t n, binomial_t* binomial) nogil
    int64_t random_poisson(bitgen_t* rng, double mean) nogil


# -------------------------------------------------------------------------------------------------------- the sampler

cdef enum:
    LEVELS = 3               # base-32 digits of a weight with a Poisson table; numpy's sampler draws the higher digits
    TABLES = 31 * LEVELS
    LIGHT = 1 << (5 * LEVELS)
    ALIAS = (1 << 12) - 1    # the low bits of a cell; the other bits hold the threshold, exact to 2**-52
    DIRECT = 4               # up to so many draws for each category, items are drawn one by one
    CORRECTIONS = 16         # the same, for the draws that bring a sum of Poisson variates to the total

# Walker's alias table of a Poisson distribution.
cdef struct Poisson:
    uint64_t* cell
    int64_t low    # the value of the first cell
    int bits       # there are 2**bits cells


@cython.final
cdef class _Drawn:
    """Categories with whole weights, from which items are drawn with replacement."""
    cdef const int64_t* end      # running totals of the weights, all of which are positive
    cdef const int32_t* guide    # first category that ends beyond guide_cell << shift
    cdef Py_ssize_t count
    cdef int64_t whole
    cdef int shift
    cdef bint even               # every weight is 1
    cdef bint by_poisson
    cdef bint heavy              # some weights are at least LIGHT
    cdef double rate             # Poisson variates of mean rate * weight rarely add up to more than the number of items to draw
    cdef Py_ssize_t num_digits   # the number of nonzero digits of all weights
    cdef const uint8_t* digit    # the table of each nonzero digit
    cdef const int32_t* owner    # the category of each nonzero digit
    cdef Poisson[TABLES] tables
    cdef list held               # the arrays that own the memory of the pointers

    def __init__(self, weight, double spread):
        """spread: the standard deviation of the number of items to draw. Its mean is the sum of the weights."""
        self.held = []
        end = np.cumsum(weight, dtype=np.int64)
        self.end = <const int64_t*>self.hold(end)
        self.count = end.shape[0]
        self.whole = end[self.count - 1] if self.count else 0
        if self.count >= 1 << 31:
            raise OverflowError(f"a table of {self.count} kinds of items: at most 2**31 - 1 can be resampled")
        self.even = self.whole == self.count
        while self.whole >> self.shift > 2 * self.count:
            self.shift += 1
        if not self.even:
            starts = np.arange(((self.whole - 1) >> self.shift) + 1, dtype=np.int64) << self.shift
            self.guide = <const int32_t*>self.hold(np.searchsorted(end, starts, side="right").astype(np.int32))
        spare = 2.0 * sqrt(<double>self.whole) + 2.0 * spread
        self.by_poisson = self.whole > DIRECT * self.count and spare < CORRECTIONS * self.count and spare < 0.5 * self.whole
        if self.by_poisson:
            self.rate = (<double>self.whole - spare) / <double>self.whole
            self.make_tables(np.asarray(weight, dtype=np.int64))

    cdef const void* hold(self, array) except NULL:
        self.held.append(array)
        return cnp.PyArray_DATA(<cnp.ndarray>array)

    cdef int make_tables(self, weight) except -1:
        cdef Poisson* table
        cdef double[::1] chance
        cdef int32_t[:, ::1] lists
        digits = np.stack([(weight >> 5 * level & 31).astype(np.uint8) for level in range(LEVELS)], axis=1)
        digit = (digits + np.arange(-1, TABLES - 1, 31, dtype=np.int16)).astype(np.uint8)[digits > 0]
        owner = np.repeat(np.arange(weight.shape[0], dtype=np.int32), np.count_nonzero(digits, axis=1))
        self.num_digits = digit.shape[0]
        self.digit = <const uint8_t*>self.hold(digit)
        self.owner = <const int32_t*>self.hold(owner)
        self.heavy = bool((weight >= LIGHT).any())
        for i in np.unique(digit).tolist():
            low, probability = poisson_distribution(self.rate * (i % 31 + 1) * 32.0 ** (i // 31))
            table = &self.tables[<Py_ssize_t>i]
            table.low = low
            table.bits = max(1, (probability.shape[0] - 1).bit_length())
            table.cell = <uint64_t*>self.hold(np.empty(1 << table.bits, np.uint64))
            padded = np.zeros(1 << table.bits)
            padded[:probability.shape[0]] = probability
            chance = padded
            lists = np.empty((2, 1 << table.bits), np.int32)
            fill_alias(table, &chance[0], &lists[0, 0], &lists[1, 0])
        return 0

    cdef inline Py_ssize_t draw_category(self, bitgen_t* rng) noexcept nogil:
        cdef int64_t item = draw_below(rng, self.whole)
        cdef Py_ssize_t i
        if self.even:
            return <Py_ssize_t>item
        i = self.guide[item >> self.shift]
        while self.end[i] <= item:
            i += 1
        return i

    cdef int64_t draw_poisson(self, bitgen_t* rng, int64_t* counts) noexcept nogil:
        """Draws a Poisson variate of mean rate * weight for each category, as a sum over digits. Returns their sum."""
        cdef int64_t drawn = 0, before = 0, value, weight
        cdef const Poisson* table
        cdef uint64_t bits, cell, place
        cdef Py_ssize_t i
        memset(counts, 0, self.count * sizeof(int64_t))
        # A plain loop, so that the processor loads many tables at once from the second-level cache.
        for i in range(self.num_digits):
            table = &self.tables[self.digit[i]]
            bits = rng.next_uint64(rng.state)
            place = bits >> (64 - table.bits)
            cell = table.cell[place]
            value = table.low + <int64_t>(place if bits << table.bits < cell else cell & ALIAS)
            counts[self.owner[i]] += value
            drawn += value
        if self.heavy:
            for i in range(self.count):
                weight = self.end[i] - before
                before = self.end[i]
                if weight >= LIGHT:
                    value = random_poisson(rng, self.rate * <double>(weight & ~<int64_t>(LIGHT - 1)))
                    counts[i] += value
                    drawn += value
        return drawn

    cdef void draw_counts(self, int64_t total, bitgen_t* rng, int64_t* counts) noexcept nogil:
        """Draws how often each category occurs among `total` items drawn with replacement."""
        cdef Py_ssize_t i
        cdef int64_t drawn = 0, before = 0, left = total
        cdef binomial_t binomial
        if total <= DIRECT * self.count:
            memset(counts, 0, self.count * sizeof(int64_t))
        elif self.by_poisson:
            # Given their sum, independent Poisson variates are multinomial, also after the missing draws are added
            # (Brown & Bromberg 1984). If the sum is too large, all are drawn again: the sum is independent of the shares.
            while True:
                drawn = self.draw_poisson(rng, counts)
                if drawn <= total:
                    break
        else:
            memset(&binomial, 0, sizeof(binomial_t))
            for i in range(self.count):
                counts[i] = left  # the last category
                if i < self.count - 1:
                    counts[i] = random_binomial(rng, <double>(self.end[i] - before) / <double>(self.whole - before), left,
                                                &binomial)
                left -= counts[i]
                before = self.end[i]
            return
        for _ in range(total - drawn):
            counts[self.draw_category(rng)] += 1


cdef void fill_alias(Poisson* table, double* chance, int32_t* small, int32_t* large) noexcept nogil:
    """Vose's construction. chance[i] becomes the share of cell i that belongs to i. The rest belongs to its alias."""
    cdef Py_ssize_t i, j, cells = (<Py_ssize_t>1) << table.bits
    cdef Py_ssize_t num_small = 0, num_large = 0
    for i in range(cells):
        chance[i] *= cells
        table.cell[i] = ~<uint64_t>ALIAS | <uint64_t>i
        if chance[i] < 1.0:
            small[num_small] = <int32_t>i
            num_small += 1
        else:
            large[num_large] = <int32_t>i
            num_large += 1
    while num_small > 0 and num_large > 0:
        num_small -= 1
        i = small[num_small]
        j = large[num_large - 1]
        table.cell[i] = (<uint64_t>(chance[i] * 18446744073709549568.0) & ~<uint64_t>ALIAS) | <uint64_t>j
        chance[j] -= 1.0 - chance[i]
        if chance[j] < 1.0:
            num_large -= 1
            small[num_small] = <int32_t>j
            num_small += 1


# ---------------------------------------------------------------------------------------------------------- the tables

cdef Py_ssize_t write_table(Py_ssize_t rows, const int64_t* hits_drawn, const int64_t* others_drawn, int64_t* above,
                            int64_t* tied, int64_t* hits, int64_t* num_items, int64_t* num_hits) noexcept nogil:
    """Writes the rows with a relevant item. others_drawn: other items before the row, other items in the row, for each row."""
    cdef Py_ssize_t i, kept = 0
    cdef int64_t seen = 0, found = 0, n
    for i in range(rows):
        # The next row overwrites a row without a hit: writing costs less than an unpredictable branch.
        n = hits_drawn[i] + others_drawn[2 * i + 1]
        seen += others_drawn[2 * i]
        above[kept] = seen
        tied[kept] = n
        hits[kept] = hits_drawn[i]
        kept += hits_drawn[i] > 0
        found += hits_drawn[i]
        seen += n
    num_items[0] = seen + others_drawn[2 * rows]
    num_hits[0] = found
    return kept


cdef object poisson_distribution(double mean):
    """(least value, probabilities) of a Poisson distribution, without the tails below 1e-20 of the mode."""
    mode = int(mean)
    reach = int(10 * sqrt(mean)) + 30
    up = np.cumprod(mean / np.arange(mode + 1, mode + reach))
    down = np.cumprod(np.arange(mode, max(0, mode - reach), -1) / mean)
    up, down = up[up > 1e-20], down[down > 1e-20]
    chance = np.concatenate([down[::-1], [1.0], up])
    return mode - down.shape[0], chance / np.sum(np.sort(chance))


@cython.final
cdef class Resampler:
    """Tables of resampled items, for one or more rankings of the same items.

    hit_weight: the number of relevant items of each kind. hit_place, (kinds, rankings): their row in each ranking, -1 if
    they were never retrieved. other_weight, other_place: the same for the other items, where place 2 g is between row
    g - 1 and row g, and place 2 g + 1 is in row g. rows: the number of rows of each ranking. stratified: relevant and
    other items are drawn separately, each in their own number.
    """
    cdef _Drawn hit_kinds, other_kinds
    cdef const int32_t[:, ::1] hit_place, other_place
    cdef const int64_t[::1] rows
    cdef bint stratified
    cdef bint one_a_row     # there is a single ranking, and its rows are the kinds of relevant items
    cdef readonly int64_t num_relevant, num_others

    def __init__(self, hit_weight, hit_place, other_weight, other_place, rows, bint stratified):
        self.num_relevant = np.sum(hit_weight, dtype=np.int64)
        self.num_others = np.sum(other_weight, dtype=np.int64)
        self.stratified = stratified
        whole = float(self.num_relevant + self.num_others)
        spread = 0.0 if stratified or whole == 0 else sqrt(self.num_relevant / whole * self.num_others)
        self.hit_kinds = _Drawn(hit_weight, spread)
        self.other_kinds = _Drawn(other_weight, spread)
        self.hit_place = np.ascontiguousarray(hit_place, dtype=np.int32)
        self.other_place = np.ascontiguousarray(other_place, dtype=np.int32)
        self.rows = np.array(rows, np.int64)
        if max(rows, default=0) >= 1 << 30:
            raise OverflowError(f"a table of {max(rows)} rows: fewer than 2**30 can be resampled")
        self.one_a_row = len(rows) == 1 and np.array_equal(self.hit_place[:, 0], np.arange(rows[0]))

    def draw(self, bit_generator, Py_ssize_t count, int64_t[:, ::1] drawn=None, bint given=False):
        """Draw `count` resamples: for each ranking (row_offsets, above, tied, hits, num_items, num_hits, num_relevant).

        drawn, (count, kinds): the number of relevant items of each kind is written to this array. If `given` is true, the
        numbers are read from this array.
        """
        cdef bitgen_t* rng = <bitgen_t*>PyCapsule_GetPointer(bit_generator.capsule, "BitGenerator")
        cdef Py_ssize_t rankings = self.rows.shape[0], s, b, i, n, kept, most = max(self.rows, default=0)
        cdef _Drawn hit_kinds = self.hit_kinds, other_kinds = self.other_kinds
        cdef const int32_t* hit_place = &self.hit_place[0, 0]
        cdef const int32_t* other_place = &self.other_place[0, 0]
        cdef const int64_t[::1] rows = self.rows, first = np.append(0, np.cumsum(rows))
        cdef int64_t[:, ::1] columns = np.empty((3, max(1, count * first[rankings])), np.int64)
        cdef int64_t[:, ::1] offsets = np.zeros((rankings, count + 1), np.int64)
        cdef int64_t[:, ::1] num_items = np.empty((rankings, count), np.int64)
        cdef int64_t[:, ::1] num_hits = np.zeros((rankings, count), np.int64)
        cdef int64_t[::1] num_relevant = np.empty(count, np.int64)
        cdef int64_t[::1] room = np.empty(max(1, hit_kinds.count), np.int64)
        cdef int64_t[::1] other_counts = np.empty(max(1, other_kinds.count), np.int64)
        cdef int64_t[::1] hits_drawn = np.empty(max(1, most), np.int64)
        cdef int64_t[::1] others_drawn = np.empty(2 * most + 1, np.int64)
        cdef int64_t* hit_counts = &room[0]
        cdef int64_t* hits
        cdef int64_t relevant, others, whole = self.num_relevant + self.num_others
        cdef binomial_t binomial
        if drawn is not None and (drawn.shape[0] != count or drawn.shape[1] != hit_kinds.count):
            raise ValueError(f"drawn has shape ({drawn.shape[0]}, {drawn.shape[1]}), but there are {count} resamples of "
                             f"{hit_kinds.count} kinds")
        memset(&binomial, 0, sizeof(binomial_t))
        with nogil:
            for b in range(count):
                relevant = self.num_relevant
                if not (self.stratified or given) and 0 < relevant < whole:
                    relevant = random_binomial(rng, <double>relevant / <double>whole, whole, &binomial)
                others = whole - relevant
                num_relevant[b] = relevant
                if drawn is not None and hit_kinds.count > 0:
                    hit_counts = &drawn[b, 0]
                if not given:
                    hit_kinds.draw_counts(relevant, rng, hit_counts)
                other_kinds.draw_counts(others, rng, &other_counts[0])
                for s in range(rankings):
                    n = rows[s]
                    memset(&others_drawn[0], 0, (2 * n + 1) * sizeof(int64_t))
                    for i in range(other_kinds.count):
                        others_drawn[other_place[i * rankings + s]] += other_counts[i]
                    hits = hit_counts
                    if not self.one_a_row:
                        hits = &hits_drawn[0]
                        memset(hits, 0, n * sizeof(int64_t))
                        for i in range(hit_kinds.count):
                            if hit_place[i * rankings + s] >= 0:
                                hits[hit_place[i * rankings + s]] += hit_counts[i]
                    i = count * first[s] + offsets[s, b]
                    kept = write_table(n, hits, &others_drawn[0], &columns[0, i], &columns[1, i], &columns[2, i],
                                       &num_items[s, b], &num_hits[s, b])
                    offsets[s, b + 1] = offsets[s, b] + kept
        table = np.asarray(columns)
        out = []
        for s in range(rankings):
            i = count * first[s]
            out.append((np.asarray(offsets)[s], *table[:, i:i + offsets[s, count]], np.asarray(num_items)[s],
                        np.asarray(num_hits)[s], np.asarray(num_relevant)))
        return out
