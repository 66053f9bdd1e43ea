"""How the cost of average precision of normal scores grows: with the items, the relevant ones, and the queries.

    python benchmarks/growth.py [--largest N] [--plot FILE.svg]

Prints a table of nanoseconds an item, each the least of several runs; up to a million items the answers are compared
with those of an argsort in numpy.
"""

import argparse
from itertools import pairwise
from time import perf_counter

import data
import numpy as np

import hitcurve as hc

SHARES = (0.0001, 0.01, 0.1, 0.5)  # of the items that are relevant
NUMBERS = (12, 60, 300)  # of relevant items, whatever the size
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


def cost(size, relevant, dtype, budget=1.0):
    """Nanoseconds an item."""
    labels, scores = data.one_ranking("normal", size, relevant, dtype)
    seconds, answer = least(lambda: hc.average_precision(labels, scores), budget)
    if size <= CHECKED and abs(answer / data.answer(labels, scores, "expected") - 1) > 1e-12:
        raise SystemExit(f"wrong answer at {size} items, {relevant} relevant")
    return seconds / size * 1e9


def one_ranking(largest, dtype):
    sizes = [int(10**power) for power in range(3, 10) if 10**power <= largest]
    return [(size, [cost(size, max(1, round(share * size)), dtype) for share in SHARES]) for size in sizes]


def steps(largest, dtype):
    """(where, cost of an item over that of half as many items): at a fixed share or number of relevant items."""
    sizes = [1_000 << power for power in range(24) if 1_000 << power <= largest]
    kinds = [(f"{share:.2%} relevant", [max(1, round(share * size)) for size in sizes]) for share in SHARES]
    kinds += [(f"{number} relevant", [number] * len(sizes)) for number in NUMBERS]
    for kind, numbers in kinds:
        costs = [cost(size, number, dtype, 0.1) for size, number in zip(sizes, numbers, strict=True)]
        for size, (before, after) in zip(sizes[1:], pairwise(costs), strict=True):
            yield f"{size:,} items, {kind}", after / before


def many_queries(largest):
    rows = []
    for queries in (int(10**power) for power in range(1, 7)):
        if queries * 100 > largest:
            break
        cells = []
        for items, relevant in ((100, 2), (1000, 5)):
            if queries * items > largest:
                cells.append(float("nan"))
                continue
            labels, scores = data.rows(queries, items, relevant)
            seconds, answer = least(lambda labels=labels, scores=scores: hc.mean_average_precision(labels, scores))
            if queries <= 1000:
                expected = data.mean_answer(zip(labels, scores, strict=True), "order")
                if abs(answer / expected - 1) > 1e-12:
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
