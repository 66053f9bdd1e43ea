"""Rank more than 2**31 items once, and compare every number with one that is counted in another way.

usage: large.py [ITEMS]    (default: 2**31 + 1000; from 2**32 on the counts are of another width)

The scores are int8, a byte an item; the labels are mostly memory that is never written, and so takes none.
"""

import resource
import sys
import time
from contextlib import contextmanager
from fractions import Fraction

import mpmath
import numpy as np

import hitcurve

ITEMS = 2**31 + 1000
BLOCK = 1 << 24  # items between which scratch memory is used again
RELEVANT = 200
LOWEST = 5  # items with the lowest score: few, so that the last row has nearly all items above it
READINGS = ("expected", "best", "worst", "threshold")

mp = mpmath.MPContext()
mp.dps = 60


def peak_memory():
    """Bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


@contextmanager
def step(what):
    """Print what is done, how long it takes, and the peak of memory at its end."""
    print(f"{what:<56}", end="", flush=True)
    start = time.perf_counter()
    yield
    print(f"{time.perf_counter() - start:8.1f} s{peak_memory() / 2**20:10,.0f} MiB", flush=True)


def same(what, ours, theirs):
    if ours != theirs:
        sys.exit(f"{what} is {ours!r}, not {theirs!r}")


def close(what, ours, exact, limit):
    error = abs(mp.mpf(ours) / exact - 1)
    if not error <= limit:
        sys.exit(f"{what} is {ours!r}: off by {mp.nstr(error, 3)}, more than {limit}")


def blocks(items):
    return [slice(start, min(items, start + BLOCK)) for start in range(0, items, BLOCK)]


def ranking(items):
    """Labels and scores; the first and the last item are relevant, and one of those with the lowest score."""
    rng = np.random.default_rng(31)
    score = np.empty(items, np.int8)
    for block in blocks(items):
        score[block] = rng.integers(-127, 128, block.stop - block.start, dtype=np.int8)
    label = np.zeros(items, np.uint8)
    label[rng.integers(items, size=RELEVANT)] = 1
    label[[0, -1]] = 1
    lowest = rng.integers(items, size=LOWEST)
    score[lowest] = -128
    label[lowest[0]] = 1
    return label, score


def counted(label, score):
    """Rows (score, above, tied, hits) from how often each of the 256 scores occurs."""
    tied, hits = np.zeros(256, np.int64), np.zeros(256, np.int64)
    for block in blocks(len(score)):
        place = score[block].view(np.uint8) ^ 128  # 0 for -128 up to 255 for 127
        tied += np.bincount(place, minlength=256)
        hits += np.bincount(place[label[block] == 1], minlength=256)
    above = len(score) - np.cumsum(tied)
    return [
        (place - 128, int(above[place]), int(tied[place]), int(hits[place]))
        for place in range(255, -1, -1)
        if hits[place]
    ]


def rows_of(curve):
    return list(zip(*(column.tolist() for column in (curve.score, curve.above, curve.tied, curve.hits)), strict=True))


def average_precision(rows, ties):
    """By the definition: a fraction, or 60 digits where a tie group's harmonic numbers are too long to add up."""
    total = mp.mpf(0) if ties == "expected" else Fraction(0)
    relevant = 0
    for _, above, tied, hits in rows:
        if ties == "threshold":
            total += Fraction(hits * (relevant + hits), above + tied)
        elif ties == "expected":
            slope = mp.mpf(hits - 1) / (tied - 1) if tied > 1 else mp.mpf(0)
            harmonic = mp.harmonic(above + tied) - mp.harmonic(above)
            total += mp.mpf(hits) / tied * (slope * tied + (relevant + 1 - slope * (above + 1)) * harmonic)
        else:
            before = above if ties == "best" else above + tied - hits
            total += sum(Fraction(relevant + i, before + i) for i in range(1, hits + 1))
        relevant += hits
    if isinstance(total, Fraction):
        total = mp.mpf(total.numerator) / total.denominator
    return total / relevant


def in_blocks(label, score):
    """Two counters, of every other block each, from the last to the first."""
    thresholds = score[np.flatnonzero(label.view(bool))]
    counters = [hitcurve.HitCounter(thresholds), hitcurve.HitCounter(thresholds)]
    for at, block in enumerate(reversed(blocks(len(score)))):
        counters[at % 2].update(label[block], score[block])
    return counters[0].merge(counters[1])


def main():
    items = int(sys.argv[1]) if len(sys.argv) > 1 else ITEMS
    print(f"hitcurve {hitcurve.__version__}, {items:,} items\n{'':<56}{'time':>10}{'peak memory':>14}")
    with step("making labels and scores"):
        label, score = ranking(items)
    with step("HitCurve"):
        curve = hitcurve.HitCurve(label, score)
    same("num_items", curve.num_items, items)
    same("the type of the scores", curve.score.dtype, score.dtype)
    with step("average_precision, all cores"):
        value = hitcurve.average_precision(label, score, workers=-1)
    same("average_precision", value, curve.average_precision())
    with step("counting by value with numpy"):
        rows = counted(label, score)
    same("the table", rows_of(curve), rows)
    same("num_relevant", curve.num_relevant, sum(hits for *_, hits in rows))
    with step("average precision of the table, exactly"):
        for ties in READINGS:
            value, limit = curve.average_precision(ties=ties), 1e-14 if ties == "expected" else 4e-15
            close(f"average precision, ties={ties}", value, average_precision(rows, ties), limit)
    with step("HitCounter, two of them merged"):
        counter = in_blocks(label, score)
    same("the curve of the counter", counter.curve(), curve)
    with step("HitCurve of equal scores: one tie group"):
        constant = hitcurve.HitCurve(label, np.broadcast_to(np.int8(0), items))
    same("the table of equal scores", rows_of(constant), [(0, 0, items, curve.num_hits)])
    same("average precision of equal scores", constant.average_precision(), constant.chance())
    print(f"\n{curve!r}")
    for ties in READINGS:
        print(f"  AP, ties={ties:<10} {curve.average_precision(ties=ties):.15g}")
    print("all equal")


if __name__ == "__main__":
    main()
