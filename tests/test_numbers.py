"""Numbers that were quietly wrong, or refused for no reason: each against something that is obviously right."""

import copy
from fractions import Fraction

import numpy as np
import pytest

import hitcurve as hc
from hitcurve import resample
from hitcurve.measures import parse

CURVE = hc.HitCurve([1, 0, 1, 0, 0], [5, 4, 3, 2, 1])
SECOND = 2**53 + 1  # the first whole number that no float64 has


# --- tables ---------------------------------------------------------------------------------------------------


def test_a_copied_counter_counts_for_itself():
    counter = hc.HitCounter([1.0, 2.0])
    counter.update([1, 0], [1.0, 2.0])
    other = copy.copy(counter)
    other.update([1], [2.0])
    assert (counter.num_hits, counter.num_items) == (1, 2)
    assert (other.num_hits, other.num_items) == (2, 3)


# --- read-outs ------------------------------------------------------------------------------------------------


# --- thresholds -----------------------------------------------------------------------------------------------

NUMBERS = [0, 1, -1, 2, SECOND - 1, SECOND, SECOND + 1, -SECOND, 2**63 - 1, 2**63, 2**63 + 1, -(2**63), 2**64 - 1]
FLOATS = [0.5, -0.5, float(2**53), 1.5e19, -1.5e19, float("inf"), float("-inf"), float(2**63), float(2**64), 1e300]


def exact(number):
    return Fraction(int(number)) if isinstance(number, int | np.integer) else number


def fitting(dtype):
    if np.dtype(dtype).kind == "f":
        with np.errstate(over="ignore"):
            return np.array([float(i) for i in NUMBERS] + FLOATS, np.float64).astype(dtype)
    info = np.iinfo(dtype)
    return np.array([i for i in NUMBERS if info.min <= i <= info.max], dtype)


# --- intervals and comparisons ----------------------------------------------------------------------------------


# --- names ------------------------------------------------------------------------------------------------------
