"""Rows in batches, for the tests of scans."""

N = 30_000


def batches(y, s, size, *groups):
    return lambda: (tuple(one[at : at + size] for one in (y, s, *groups)) for at in range(0, len(y), size))
