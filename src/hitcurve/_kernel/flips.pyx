"""Randomisation tests of systems on the same queries: kernels, and their Python functions.

A sign belongs to a query. So a set of signs gives a sum for each system, and the flipped sum of the differences of a
pair is the difference of two of these sums. A word has 32 signs. A table has the sums of eight queries for all 256 sets
of their signs. Every sum is made in the order of the queries.
"""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t, uint32_t

cimport numpy as cnp
from numpy.random cimport bitgen_t

from hitcurve._kernel.draw cimport draw_below

import numpy as np

cnp.import_array()


# ------------------------------------------------------------------------------------------------------- turned signs

cdef void fill_table(const double* value, double* table) noexcept nogil:
    """The sums of eight values for each set of signs. A bit 1 means plus. Opposite signs give opposite sums."""
    cdef Py_ssize_t k, i, half = 1
    cdef double x
    table[0] = 0.0
    for k in range(8):
        x = value[k]
        for i in range(half):
            table[half + i] = table[i] + x
            table[i] -= x
        half *= 2


cdef void flip_sums(Py_ssize_t words, Py_ssize_t draws, Py_ssize_t stride, const uint32_t* signs, const double* value,
                    double* table, double* sums) noexcept nogil:
    """sums[r] is the sum of 32 * words values with the signs of draw r: signs[r], signs[r + stride], ..."""
    cdef Py_ssize_t w, k, r
    cdef uint32_t x
    for r in range(draws):
        sums[r] = 0.0
    for w in range(words):
        for k in range(4):
            fill_table(value + 32 * w + 8 * k, table + 256 * k)
        for r in range(draws):
            x = signs[w * stride + r]
            sums[r] += ((table[x & 255] + table[256 + (x >> 8 & 255)])
                        + (table[512 + (x >> 16 & 255)] + table[768 + (x >> 24)]))


cdef int64_t count_reached(Py_ssize_t draws, const double* a, const double* b, double least) noexcept nogil:
    cdef Py_ssize_t r
    cdef int64_t count = 0
    for r in range(draws):
        count += fabs(b[r] - a[r]) >= least
    return count


def flips_reached(const uint32_t[:, ::1] signs, Py_ssize_t draws, const double[:, ::1] values,
                  const int32_t[:, ::1] pairs, const double[::1] least):
    """For each pair of columns: how many of `draws` flipped sums of differences have an absolute value of at least `least`.

    signs: (words, `draws` or more), a bit for each query, 32 to a word. values: (columns, 32 * words), 0 after the last
    query. pairs: (pairs, 2).
    """
    cdef Py_ssize_t columns = values.shape[0], words = signs.shape[0], stride = signs.shape[1], count = pairs.shape[0], i
    if values.shape[1] != 32 * words or not 0 < draws <= stride or pairs.shape[1] != 2 or least.shape[0] != count:
        raise ValueError(f"{draws} draws of signs ({words}, {stride}) for values ({columns}, {values.shape[1]}), pairs "
                         f"({count}, {pairs.shape[1]}) and {least.shape[0]} sums")
    cdef double[::1] table = np.empty(1024)
    cdef double[:, ::1] sums = np.empty((columns, draws))
    counts = np.empty(count, np.int64)
    cdef int64_t[::1] reached = counts
    with nogil:
        for i in range(columns):
            flip_sums(words, draws, stride, &signs[0, 0], &values[i, 0], &table[0], &sums[i, 0])
        for i in range(count):
            reached[i] = count_reached(draws, &sums[pairs[i, 0], 0], &sums[pairs[i, 1], 0], least[i])
    return counts


# ------------------------------------------------------------------------------------------------------ random orders

def shuffled_ranges(bit_generator, Py_ssize_t draws, const double[:, ::1] values):
    """The range of the column sums (greatest minus least) for each of `draws` shuffles, which shuffle every row."""
    cdef bitgen_t* rng = <bitgen_t*>PyCapsule_GetPointer(bit_generator.capsule, "BitGenerator")
    cdef Py_ssize_t rows = values.shape[0], columns = values.shape[1], r, q, i, j
    cdef double[::1] row = np.empty(columns), sums = np.empty(columns)
    cdef double low, high
    ranges = np.empty(draws)
    cdef double[::1] found = ranges
    if columns == 0:
        raise ValueError("shuffled_ranges needs a column")
    with nogil:
        for r in range(draws):
            for i in range(columns):
                sums[i] = 0.0
            for q in range(rows):
                for i in range(columns):  # Durstenfeld's shuffle (1964) from the front
                    j = <Py_ssize_t>draw_below(rng, i + 1)
                    row[i] = row[j]
                    row[j] = values[q, i]
                for i in range(columns):
                    sums[i] += row[i]
            low = high = sums[0]
            for i in range(1, columns):
                low = sums[i] if sums[i] < low else low
                high = sums[i] if sums[i] > high else high
            found[r] = high - low
    return ranges
