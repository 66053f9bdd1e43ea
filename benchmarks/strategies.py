"""Where each counting strategy is the fastest: what the cost model in _kernel/count.pyx was set by.

    python benchmarks/strategies.py [items]

Prints milliseconds of one average_precision call by strategy, type and number of relevant items, each the least of
several runs, the strategies in turn; the answers of all strategies are compared. The last column is the model's choice.
"""

import sys
import time
from functools import partial

import numpy as np

import hitcurve as hc

STRATEGIES = ("compare", "search", "buckets", "parts", "throw", None)
RELEVANT = (1, 4, 8, 12, 16, 24, 32, 64, 300, 5_000, 20_000, 50_000, 100_000, 200_000, 1_000_000, 5_000_000)
RUNS = 4


def main(num_items):
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64, np.int64):
        scores = (rng.standard_normal(num_items) * 1e6).astype(dtype)
        sort = min(timed(partial(np.sort, scores))[0] for _ in range(RUNS))
        print(f"\n{np.dtype(dtype).name}: {num_items:,} items, np.sort {sort:.0f} ms")
        print(f"{'relevant':>10} " + " ".join(f"{name or 'model':>10}" for name in STRATEGIES))
        for count in (r for r in RELEVANT if r <= num_items // 2):
            labels = np.zeros(num_items, np.uint8)
            labels[rng.choice(num_items, count, replace=False)] = 1
            best, answers = dict.fromkeys(STRATEGIES, float("inf")), set()
            for _ in range(RUNS):
                for name in STRATEGIES:
                    if name == "compare" and count > 64:
                        continue
                    spent, answer = timed(partial(hc.average_precision, labels, scores, _strategy=name))
                    best[name] = min(best[name], spent)
                    answers.add(answer)
            if len(answers) != 1:
                raise SystemExit(f"the strategies differ: {answers}")
            print(f"{count:>10,} " + " ".join(f"{best[name]:>10.1f}" for name in STRATEGIES))


def timed(call):
    start = time.perf_counter()
    answer = call()
    return (time.perf_counter() - start) * 1e3, answer


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
