# cython: boundscheck=True, wraparound=True
"""A column of rows that are Python objects."""
from cpython.exc cimport PyErr_CheckSignals

import numpy as np

cdef enum:
    ROWS_AT_ONCE = 1 << 20  # between two looks for Ctrl-C


def true_ranks(rows, col):
    """The ranks, from 1, of the rows that are true in a column: ``rows[i][col]``, whatever kind of object holds them."""
    cdef Py_ssize_t i, n = len(rows), place = 0
    cdef bint whole = type(col) is int and -(1 << 31) < col < 1 << 31
    cdef object flags = np.zeros(n, np.uint8)
    cdef unsigned char[::1] flag = flags
    if whole:
        place = col
    for i in range(n):
        if i % ROWS_AT_ONCE == 0:
            PyErr_CheckSignals()
        if whole:
            flag[i] = 1 if rows[i][place] else 0
        else:
            flag[i] = 1 if rows[i][col] else 0
    return np.flatnonzero(flags) + 1
