# Kernels that read gains off a table whose relevant items have levels. Plain pointers, no Python objects; what
# a signal raises is left for the caller.
from libc.stdint cimport int64_t, uint32_t

from hitcurve._kernel.columns cimport Items
from hitcurve._kernel.formulas cimport Table, Ties

# A table with the levels of its relevant items, each a code for the level itself: pairs of a code, not 0, and how many
# items have it, those of a row together.
cdef struct Levels:
    Table table
    const int64_t* starts         # of the pairs of each row; one more than there are rows
    const uint32_t* code
    const int64_t* count
    Py_ssize_t num_missing        # pairs of the relevant items that were never retrieved
    const uint32_t* missing_code
    const int64_t* missing_count

cdef enum Discount:
    DISCOUNT_LOG    # scale / log(rank + shift), 1 before rank `plain`
    DISCOUNT_TABLE  # of each rank as it stands in a table, 0 beyond

# What is asked of the levels, besides the measure itself.
cdef struct GainReading:
    Ties ties
    int64_t k             # cutoff rank, or NO_CUTOFF
    int64_t ideal_k       # the same of the ideal order
    Discount discount
    double scale
    double shift
    int64_t plain
    const double* table
    Py_ssize_t length
    double p              # persistence, or the gain that a user wants
    const double* gain     # of each code; that of code 0 is of the items that are not relevant
    const uint32_t* place  # of each code among the distinct gains, best first,
    const double* falling  # and these

# Room for the pairs of the largest table and two more; belongs to one thread.
cdef struct GainRoom:
    int64_t* keys
    int64_t* scratch   # as many, right behind them
    double* values     # of ERR; it grows
    Py_ssize_t values_size
    bint failed        # no memory, or a signal has raised
    int64_t work       # since the last look for Ctrl-C
    int64_t* ideal     # the pairs of a ranking in the ideal order,
    Py_ssize_t num_ideal  # and how many; below 0: not yet known

# What a unit of gain is worth at the ranks after `start`, up to `stop`, added up.
ctypedef double (*Worth)(const GainReading* reading, int64_t start, int64_t stop) noexcept nogil

ctypedef double (*GainFormula)(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil

# The pairs of one ranking, found among its items.
cdef struct Pairs:
    int64_t* keys        # room for all graded items, twice
    int64_t* starts      # of each row
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
cdef double gained(const Levels* levels, const GainReading* reading, Worth worth, GainRoom* room) noexcept nogil
cdef double greatest(const Levels* levels, const GainReading* reading) noexcept nogil
cdef double discounts(const GainReading* reading, int64_t start, int64_t stop) noexcept nogil
cdef double dcg(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
cdef double ndcg(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
cdef double rbp(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
cdef double err(const Levels* levels, const GainReading* reading, GainRoom* room) noexcept nogil
