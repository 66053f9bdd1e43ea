# Kernels of expected reciprocal rank. Plain pointers, no Python objects. The caller raises what a signal raised.
from libc.math cimport exp2, expm1, log, pow
from libc.stdint cimport int64_t

from hitcurve._kernel.formulas cimport add

cdef enum:
    MOST_LEVEL = 1023  # 2**level is finite up to this level

# A number of items at which a reader stops with the same chance.
cdef struct Stop:
    double chance
    int64_t count

# What an item adds at a rank.
cdef enum Fade:
    FADE_RANK   # 1 / rank
    FADE_LOG    # 1 / log2(rank + 1)
    FADE_POWER  # power^(rank - 1)

# The state that passes from tie group to tie group.
cdef struct Err:
    double reached           # the chance to reach the next tie group; 0 if negligible
    double total
    double carry
    int64_t* work            # the caller's work since the last check for Ctrl-C
    double** values          # the caller's memory, which grows
    Py_ssize_t* values_size
    Fade fade
    double power
    double log_power         # 0 for other discounts than FADE_POWER


cdef inline double stop_chance(double level, double top) noexcept nogil:
    if level <= 0.0:
        return 0.0
    return (expm1(level * 0.6931471805599453) if level < 1.0 else exp2(level) - 1.0) / exp2(top)


cdef inline void start_err(Err* err, double** values, Py_ssize_t* values_size, int64_t* work) noexcept nogil:
    err.reached = 1.0
    err.total = err.carry = 0.0
    err.work = work
    err.values = values
    err.values_size = values_size
    err.fade = FADE_RANK
    err.power = 1.0
    err.log_power = 0.0


cdef inline double at_rank(const Err* err, double value, double rank) noexcept nogil:
    """A value times the discount of a rank, which need not be whole."""
    if err.fade == FADE_RANK:
        return value / rank
    if err.fade == FADE_LOG:
        return value * (0.6931471805599453 / log(rank + 1.0))
    return value * pow(err.power, rank - 1.0)


cdef inline void stop_at(Err* err, double chance, int64_t rank) noexcept nogil:
    """Adds the item at the next rank with a chance to stop."""
    add(&err.total, &err.carry, at_rank(err, chance * err.reached, <double>rank))
    err.reached *= 1.0 - chance


cdef bint signalled(int64_t* work, int64_t more) noexcept nogil
cdef bint err_in_order(Err* err, const Stop* stop, int64_t above, int64_t last) noexcept nogil
cdef bint err_in_any_order(Err* err, const Stop* stops, Py_ssize_t n, int64_t above, int64_t tied,
                           int64_t last) noexcept nogil
