"""The speed of the bootstrap: against one AP call, and against resampling the items; and of all pairs of systems.

    python benchmarks/resample.py [--quick] [--rounds N]

The same rankings are resampled item by item with scikit-learn, and both distributions compared, in mean and spread.
The exit code is the number of rows that miss their target.
"""

import argparse
import math
import sys
from time import perf_counter, process_time

import data
import numpy as np
from bars import Row, WrongAnswerError, seconds

import hitcurve as hc


def scores_of(n, relevant, seed=1):
    y, s = data.one_ranking("normal", n, relevant)
    return y, s + 0.3 * y * np.random.default_rng(seed).random(n)


def items_resampled(y, s, count, seed=2):
    """AP of `count` resamples of the items, by scikit-learn; and the seconds each took."""
    from sklearn.metrics import average_precision_score

    rng = np.random.default_rng(seed)
    values = []
    start = perf_counter()
    for _ in range(count):
        drawn = rng.integers(0, len(y), len(y))
        values.append(average_precision_score(y[drawn], s[drawn]))
    return np.array(values), (perf_counter() - start) / count


def against_one_call(rounds, n, relevant, resamples):
    y, s = scores_of(n, relevant)
    curve = hc.HitCurve(y, s)
    ours, one = seconds(
        [
            lambda: curve.interval("AP", method="bootstrap", n_resamples=resamples, rng=1),
            lambda: hc.average_precision(y, s),
        ],
        rounds,
    )
    row = Row(f"{resamples:,} resamples, {n:,} items, R = {relevant:,}", "one average_precision", 10.0)
    row.measured, row.note = ours / one, f"{ours:.3f} s and {one:.3f} s"
    return row


def against_items(rounds, n, relevant, resamples, count):
    y, s = scores_of(n, relevant)
    curve = hc.HitCurve(y, s)
    found = curve.interval("AP", method="bootstrap", n_resamples=resamples, ties="threshold", rng=1)
    slow, theirs = items_resampled(y, s, count)
    fast = found.bootstrap_distribution
    error = slow.std(ddof=1) / math.sqrt(count)
    if abs(fast.mean() - slow.mean()) > 4.5 * error:
        raise WrongAnswerError(f"WRONG: means {fast.mean()} and {slow.mean()} of {count} resamples differ")
    if abs(math.log(fast.std() / slow.std())) > 4.5 / math.sqrt(2 * count):
        raise WrongAnswerError(f"WRONG: standard deviations {fast.std()} and {slow.std()} differ")
    (ours,) = seconds([lambda: curve.interval("AP", method="bootstrap", n_resamples=resamples, rng=1)], rounds)
    ours /= resamples
    row = Row(
        f"one resample, {n:,} items, R = {relevant:,}", "items resampled, scikit-learn ÷ ours", 100, at_least=True
    )
    row.measured = theirs / ours
    row.note = f"{theirs * 1e3:.3g} ms and {ours * 1e3:.3g} ms"
    return row


def all_pairs(systems, queries):
    """User seconds of a comparison of all pairs; of some of them p is computed again from signs of their own."""
    rng = np.random.default_rng(1)
    hard = rng.beta(1, 2, queries)
    values = {f"s{i}": np.clip(hard + rng.normal(rng.normal(0, 0.05), 0.1, queries), 0, 1) for i in range(systems)}
    start = process_time()
    found = hc.compare(values, rng=1)
    took = process_time() - start
    for row in found.rows[:: max(1, len(found.rows) // 20)]:
        d = values[row.system] - values[row.baseline]
        signs = rng.integers(0, 2, (100_000, queries)) * 2.0 - 1
        p = float(np.mean(np.abs(signs @ d) >= abs(d.sum()) * (1 - 1e-12)))
        if abs(row.p_value - p) > 5 * math.sqrt((p + 1e-4) * (1 / 100_000 + 1 / found.n_resamples)) + 1e-4:
            raise WrongAnswerError(f"WRONG: p of {row.system} - {row.baseline} is {row.p_value}, and {p} by plain sums")
    work = f"{len(found.rows):,} pairs, {queries} queries, {found.n_resamples:,} resamples"
    row = Row(work, "seconds of one core", 10)
    row.measured = took
    row.note = f"{sum(one.p_holm <= 0.05 for one in found.rows)} significant after Holm's correction"
    return row


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small inputs: that it runs, not how fast")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args(arguments)
    small = 100 if given.quick else 1
    missed = 0
    for fill in (
        lambda: against_one_call(given.rounds, 10_000_000 // small, 20_000 // small, 1000),
        lambda: against_items(given.rounds, 1_000_000 // small, 2_000 // small, 1000, 40 * min(small, 10)),
        lambda: against_items(given.rounds, 100_000 // small, 200 // min(small, 10), 1000, 200),
        lambda: against_items(given.rounds, 10_000 // min(small, 10), 50, 1000, 400),
        lambda: all_pairs(10 if given.quick else 50, 50),
    ):
        row = fill()
        print(row, flush=True)
        missed += row.met is False
    return 0 if given.quick else missed


if __name__ == "__main__":
    sys.exit(main())
