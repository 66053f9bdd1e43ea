# Kernels of measures of gain, from a table whose relevant items have levels. Plain pointers, no Python objects. The caller
# raises what a signal raised.
from libc.stdint cimport int64_t, uint32_t

from hitcurve._kernel.columns cimport Items
from hitcurve._kernel.formulas cimport Table, Ties

# A table with the levels of its relevant items. A level has a code, which is not 0. A pair is a code and the number of
# items with this code. The pairs of a row are next to each other.
cdef struct Levels:
    Table table
    const int64_t* starts         # where the pairs of each row start, and the end of all
    const uint32_t* code
    const int64_t* count
    Py_ssize_t num_missing        # the number of pairs of relevant items that were never retrieved
    const uint32_t* missing_code
    const int64_t* missing_count

cdef enum Discount:
    DISCOUNT_LOG    # scale / log(rank + shift), 1 before rank `plain`
    DISCOUNT_TABLE  # the discount of each rank is in a table; 0 beyond
    DISCOUNT_RANK   # 1 / rank

# How the chance to look at a rank falls with the rank, while no item stops the user.
cdef enum Fall:
    FALL_NOT      # 1
    FALL_RANK     # 1 / rank
    FALL_POWER    # p^(rank - 1)
    FALL_SQUARE   # (2T / (rank + 2T - 1))^2

# Which number of a user: the gain for each item that the user looks at, the whole gain, or the number of these items.
cdef enum UserPart:
    PART_RATE
    PART_TOTAL
    PART_DEPTH

cdef enum:
    LOOKS = 1024  # a table has the chances to look at so many ranks

# The arguments of a measure.
cdef struct GainReading:
    Ties ties
    int64_t k             # the cutoff rank, or NO_CUTOFF
    int64_t ideal_k       # the same for the ideal order
    Discount discount
    double scale
    double shift
    int64_t plain
    const double* table
    Py_ssize_t length
    double p              # the persistence, or the gain T that a user wants
    const double* gain     # the gain of each code; code 0 is for irrelevant items
    const uint32_t* place  # the place of each code among the distinct gains, best first
    const double* falling  # the distinct gains, best first
    UserPart part
    bint hopeful           # ranks beyond the last item, or beyond k, have gain 1
    Fall fall
    const double* looks    # the chance to look at each of the first LOOKS ranks
    const double* looked   # from 0 on, the sum of these chances up to each rank, and after these what the sums lack
    double scale_gain      # BPM: the gain of the highest level
    double more_gain       # BPM: how much more a user wants, and
    double more_ranks      # how much further a user goes, for each unit of gain of an item above `middle`
    double middle

# Memory for the pairs of the largest table and two more. A thread has its own.
cdef struct GainRoom:
    int64_t* keys
    int64_t* scratch   # as many elements, directly after the keys
    double* values     # memory of ERR, which grows
    Py_ssize_t values_size
    bint failed        # there was no memory, or a signal has raised
    int64_t work       # the work since the last check for Ctrl-C
    int64_t* ideal     # the pairs of a ranking in the ideal order
    Py_ssize_t num_ideal  # the number of these pairs; below 0: not yet known

# The sum of the values of a unit of gain at the ranks after `start`, up to `stop`.
ctypedef double (*Worth)(const GainReading* reading, int64_t start, int64_t stop) noexcept nogil

ctypedef double (*GainFormula)(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil

# The pairs of a ranking, found among its items.
cdef struct Pairs:
    int64_t* keys        # memory for twice the number of items with a level
    int64_t* starts      # where the pairs of each row start
    uint32_t* code
    int64_t* count
    Py_ssize_t number

cdef Py_ssize_t find_pairs(const Items* items, const void* codes, bint narrow, const Items* rows, bint lower_is_better,
                           bint nan_row, Py_ssize_t room, Pairs* pairs) noexcept nogil

# A key sorts a pair by its gain, best first.
cdef inline int64_t pair_key(const GainReading* reading, uint32_t code, Py_ssize_t pair) noexcept nogil:
    return <int64_t>reading.place[code] << 32 | <int64_t>pair


cdef int64_t count_of(const Levels* levels, int64_t others, int64_t key) noexcept nogil
cdef int64_t all_hits(const Table* table) noexcept nogil
cdef void order_ideal(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
cdef double discounts(const GainReading* reading, int64_t start, int64_t stop) noexcept nogil
cdef double gained(const Levels* levels, const GainReading* reading, Worth worth, GainRoom* room) noexcept nogil
cdef double greatest(const Levels* levels, const GainReading* reading) noexcept nogil
cdef double discounts(const GainReading* reading, int64_t start, int64_t stop) noexcept nogil
cdef double dcg(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
cdef double ndcg(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
cdef double rbp(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
cdef double err(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
