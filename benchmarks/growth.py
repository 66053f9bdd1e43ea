"""How the cost of average precision grows: with the items, the relevant ones, and the queries.

    python benchmarks/growth.py [--largest N] [--plot FILE.svg]

Prints a table of nanoseconds an item, each the least of several runs; up to a million items the answers are compared
with those of an argsort in numpy.
"""

import argparse
from time import perf_counter

import numpy as np

import hitcurve as hc

SHARES = (0.0001, 0.01, 0.1, 0.5)  # of the items that are relevant
CHECKED = 1_000_000


def least(call, budget=1.0):
    """(seconds, answer): the least of the runs that fit the budget, two at least."""
    best, spent, runs = float("inf"), 0.0, 0
    while runs < 2 or (spent < budget and runs < 200):
        start = perf_counter()
        answer = call()
        took = perf_counter() - start
        best, spent, runs = min(best, took), spent + took, runs + 1
    return best, answer


def by_argsort(labels, scores):
    hits = labels[np.argsort(-scores, kind="stable")]
    return float(np.mean(np.cumsum(hits)[hits > 0] / (np.flatnonzero(hits) + 1)))


def one_ranking(largest, dtype):
    rng = np.random.default_rng(0)
    rows = []
    for size in (int(10**power) for power in range(3, 10)):
        if size > largest:
            break
        scores = rng.permutation(size).astype(dtype) / size if size <= 1 << 24 else rng.random(size, dtype=dtype)
        cells = []
        for share in SHARES:
            relevant = max(1, round(share * size))
            labels = np.zeros(size, np.uint8)
            labels[rng.choice(size, relevant, replace=False)] = 1
            seconds, answer = least(lambda labels=labels, scores=scores: hc.average_precision(labels, scores))
            if size <= CHECKED and abs(answer / by_argsort(labels, scores) - 1) > 1e-12:
                raise SystemExit(f"wrong answer at {size} items, {relevant} relevant")
            cells.append(seconds / size * 1e9)
        rows.append((size, cells))
    return rows


def many_queries(largest):
    rng = np.random.default_rng(0)
    rows = []
    for queries in (int(10**power) for power in range(1, 7)):
        if queries * 100 > largest:
            break
        cells = []
        for items, relevant in ((100, 2), (1000, 5)):
            if queries * items > largest:
                cells.append(float("nan"))
                continue
            scores = rng.random((queries, items), dtype=np.float32)
            labels = np.zeros((queries, items), np.uint8)
            labels[np.arange(queries)[:, None], rng.integers(0, items, (queries, relevant))] = 1
            seconds, answer = least(lambda labels=labels, scores=scores: hc.mean_average_precision(labels, scores))
            if queries <= 1000:
                expected = np.mean([by_argsort(*pair) for pair in zip(labels, scores, strict=True)])
                if abs(answer / expected - 1) > 1e-6:  # float32 scores may tie
                    raise SystemExit(f"wrong answer at {queries} queries of {items}")
            cells.append(seconds / (queries * items) * 1e9)
        rows.append((queries, cells))
    return rows


def show(title, names, rows):
    print(f"| {title} | " + " | ".join(names) + " |")
    print("|--:|" + "--:|" * len(names))
    for size, cells in rows:
        print(f"| {size:,} | " + " | ".join("" if cell != cell else f"{cell:.3g}" for cell in cells) + " |")
    print()


def plot(path, panels):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.2), layout="constrained")
    axes = figure.subplots(1, len(panels))
    for ax, (title, names, rows) in zip(axes, panels, strict=True):
        for place, name in enumerate(names):
            costs = [cells[place] for _, cells in rows]
            ax.loglog([size for size, _ in rows], costs, marker="os^D"[place % 4], label=name)
        ax.set_xlabel(title)
        ax.legend(fontsize="small", frameon=False)
    axes[0].set_ylabel("nanoseconds an item")
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=100_000_000, help="items of the largest input")
    parser.add_argument("--plot", metavar="FILE", help="draw the tables as well")
    options = parser.parse_args()
    shares = [f"{share:.2%} relevant".replace(".00%", "%") for share in SHARES]
    panels = [
        ("items, float32", shares, one_ranking(options.largest, np.float32)),
        ("items, float64", shares, one_ranking(options.largest, np.float64)),
        ("queries, float32", ["100 items, 2 relevant", "1,000 items, 5 relevant"], many_queries(options.largest)),
    ]
    for panel in panels:
        show(*panel)
    if options.plot:
        plot(options.plot, panels)


if __name__ == "__main__":
    main()
