"""Counts the instructions of the main kernels under valgrind, and compares them with the committed counts."""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

COUNTS = Path(__file__).with_suffix(".txt")
TOLERANCE = 0.02
# Case: (kernel, items, relevant, queries, strategy). Each is counted by itself, inside the kernel alone.
CASES = {
    "compare: 500 queries x 1,000 float32, 20 relevant each": ("count_items", 1_000, 20, 500, "compare"),
    "cells: 500 queries x 1,000 float32, 100 relevant each": ("count_items", 1_000, 100, 500, "compare"),
    "search: 500 queries x 1,000 float32, 100 relevant each": ("count_items", 1_000, 100, 500, "search"),
    "buckets: 500,000 float32, 5,000 relevant": ("count_items", 500_000, 5_000, 1, "buckets"),
    "parts: 500,000 float32, 100,000 relevant": ("count_items", 500_000, 100_000, 1, "parts"),
    "gathering: 500,000 float32, 5,000 relevant": ("gather_relevant", 500_000, 5_000, 1, "buckets"),
    "slots: 500,000 float32, 20,000 relevant": ("count_items", 500_000, 20_000, 1, "parts"),
    "sorting: 100,000 relevant float32": ("sort_relevant", 500_000, 100_000, 1, "parts"),
    "thrown: 500,000 float32, 200,000 relevant": ("thrown_rows", 500_000, 200_000, 1, "throw"),
    "reading: average precision of 100,000 rows": ("ranking_average_precision", 500_000, 100_000, 1, "parts"),
}
MODULES = {"count_items": "count", "gather_relevant": "columns", "sort_relevant": "thresholds", "thrown_rows": "table",
           "ranking_average_precision": "table"}


def run(items, relevant, queries, strategy):
    import numpy as np

    import hitcurve

    rng = np.random.default_rng(0)
    scores = rng.standard_normal((queries, items), dtype=np.float32)
    labels = np.zeros((queries, items), np.uint8)
    for row in labels:
        row[rng.choice(items, relevant, replace=False)] = 1
    if queries == 1:
        hitcurve.average_precision(labels[0], scores[0], _strategy=strategy)
    else:
        hitcurve.mean_average_precision(labels, scores, _strategy=strategy)


def count(case):
    kernel, *numbers, strategy = CASES[case]
    module = MODULES[kernel]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "callgrind.out")
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--collect-atstart=no",
                   f"--toggle-collect=__pyx_f_8hitcurve_7_kernel_{len(module)}{module}_{kernel}",
                   sys.executable, __file__, "--case", *map(str, numbers), strategy]
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"})
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        with out.open() as lines:
            found = next(int(line.split()[1]) for line in lines if line.startswith(("summary:", "totals:")))
    if found == 0:
        raise SystemExit(f"{kernel} was never entered: {' '.join(command)}")
    return found


def compiler():
    return subprocess.run(["cc", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the counts in place of comparing them")
    parser.add_argument("--case", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        run(*map(int, options.case[:3]), options.case[3])
        return 0
    kept = {}
    if not options.write:
        kept = dict(line.rsplit(None, 1) for line in COUNTS.read_text().splitlines() if not line.startswith("#"))
    lines, worse = [f"# {compiler()}, x86-64 with AVX2"], 0
    for case in CASES:
        found = count(case)
        lines.append(f"{case:<60} {found}")
        if case not in kept:
            print(lines[-1])
            continue
        change = found / int(kept[case]) - 1
        verdict = "" if abs(change) <= TOLERANCE else "  slower" if change > 0 else "  faster: write the counts again"
        worse += change > TOLERANCE
        print(f"{lines[-1]} {change:+8.2%}{verdict}")
    if options.write:
        COUNTS.write_text("\n".join(lines) + "\n")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
