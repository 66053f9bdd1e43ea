"""Of a product of parameters the few cases that cover every pair of values; the others are slow."""

from itertools import combinations, product

import pytest


def covering(*axes):
    """All cases for `parametrize`: for any two axes, each pair of their values is in a case that is not slow."""
    cases = list(product(*(range(len(axis)) for axis in axes)))
    pairs = {case: {(i, j, case[i], case[j]) for i, j in combinations(range(len(axes)), 2)} for case in cases}
    left, chosen = set().union(*pairs.values()), set()
    while left:
        best = max(cases, key=lambda case: len(pairs[case] & left))
        chosen.add(best)
        left -= pairs[best]
    values = [[axis[at] for axis, at in zip(axes, case, strict=True)] for case in cases]
    marks = [() if case in chosen else pytest.mark.slow for case in cases]
    return [pytest.param(*value, marks=mark) for value, mark in zip(values, marks, strict=True)]
