"""Counts the instructions of kernels and of calls under valgrind, and compares them with the committed counts."""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from itertools import chain
from pathlib import Path

COUNTS = Path(__file__).with_suffix(".txt")
TOLERANCE, OF_CALLS = 0.02, 0.01
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

# Calls of a few items, of which most is arguments and objects. Everything is counted that the process does for each.
CALLS = {
    "call: average_precision of 10 items": "hc.average_precision(few[0], few[1])",
    "call: average_precision of 100 items": "hc.average_precision(y, s)",
    "call: HitCurve of 100 items": "hc.HitCurve(y, s)",
    "call: GainCurve of 100 items": "hc.GainCurve(levels, s)",
    "call: HitCurves of 5 queries of 20 items": "hc.HitCurves(y, s, offsets=offsets)",
    "call: curve.average_precision()": "curve.average_precision()",
    "call: curve.precision(5)": "curve.precision(5)",
    "call: curve.roc_auc()": "curve.roc_auc()",
    "call: curve.prg_auc()": "curve.prg_auc()",
    "call: curves.average_precision() of 5 queries": "curves.average_precision()",
    "call: gains.ndcg(10)": "gains.ndcg(10)",
    "call: mean_average_precision of 5 queries": "hc.mean_average_precision(y, s, offsets=offsets)",
    "call: evaluate of 5 queries in dicts": "hc.evaluate(qrels, run, ['AP', 'nDCG@10'])",
    "call: Evaluator of 5 queries in dicts": "evaluator.evaluate(run)",
}
ROUNDS = 200
MARK = "getppid"  # a function of libc that nothing else calls: callgrind writes its counts where it is entered


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


def run_calls():
    import numpy as np

    import hitcurve as hc

    rng = np.random.default_rng(0)
    levels, s = np.minimum(rng.integers(0, 9, 100), 3), rng.standard_normal(100)
    y, offsets = levels == 3, np.arange(0, 101, 20)
    few = (y[:10].copy(), s[:10].copy())
    curve, curves, gains = hc.HitCurve(y, s), hc.HitCurves(y, s, offsets=offsets), hc.GainCurve(levels, s)
    qrels = {f"q{q}": {f"d{d}": int(levels[20 * q + d]) for d in range(20)} for q in range(5)}
    run = {f"q{q}": {f"d{d}": float(s[20 * q + d]) for d in range(20)} for q in range(5)}
    evaluator = hc.Evaluator(qrels, ["AP", "nDCG@10"])
    names = {"hc": hc, "few": few, "y": y, "s": s, "levels": levels, "offsets": offsets, "curve": curve,
             "curves": curves, "gains": gains, "qrels": qrels, "run": run, "evaluator": evaluator}
    for text in CALLS.values():
        exec(f"def rounds(times):\n    for _ in range(times): {text}", names)
        names["rounds"](20)  # what is made once is made
        os.getppid()
        names["rounds"](ROUNDS)
        os.getppid()


def under_valgrind(arguments, *options, isa=""):
    """The instructions that callgrind counts in a run of this file: in each dump, and from the last to its end."""
    settings = {"OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "HITCURVE_ISA": isa}
    with tempfile.TemporaryDirectory() as folder:
        tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/callgrind.out", *options]
        command = [*tool, sys.executable, __file__, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | settings)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        dumps = {path.suffix[1:]: path.read_text() for path in Path(folder).iterdir()}
    end = dumps.pop("out")
    texts = [*(dumps[number] for number in sorted(dumps, key=int)), end]
    return [int(re.search(r"^totals: (\d+)", text, re.M)[1]) for text in texts]


def of_calls():
    """The instructions of each call. The portable kernels, so that the machine makes no difference."""
    dumps = under_valgrind(["--calls"], f"--dump-before={MARK}", isa="portable")
    if len(dumps) != 2 * len(CALLS) + 1:
        raise SystemExit(f"{MARK} was entered {len(dumps) - 1} times, not {2 * len(CALLS)}")
    return {name: total // ROUNDS for name, total in zip(CALLS, dumps[1::2], strict=True)}


def of_kernel(case):
    """The instructions inside the kernel of a case."""
    kernel, *numbers, strategy = CASES[case]
    module = MODULES[kernel]
    found = under_valgrind(["--case", *map(str, numbers), strategy], "--collect-atstart=no",
                           f"--toggle-collect=__pyx_f_8hitcurve_7_kernel_{len(module)}{module}_{kernel}")[-1]
    if found == 0:
        raise SystemExit(f"{kernel} was never entered")
    return found


def compiler():
    return subprocess.run(["cc", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the counts in place of comparing them")
    parser.add_argument("--case", nargs=4, help=argparse.SUPPRESS)
    parser.add_argument("--calls", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        run(*map(int, options.case[:3]), options.case[3])
        return 0
    if options.calls:
        run_calls()
        return 0
    kept = {}
    if not options.write:
        kept = dict(line.rsplit(None, 1) for line in COUNTS.read_text().splitlines() if not line.startswith("#"))
    lines, worse = [f"# {compiler()}, x86-64 with AVX2"], 0
    for case, found in chain(((case, of_kernel(case)) for case in CASES), of_calls().items()):
        lines.append(f"{case:<60} {found}")
        if case not in kept:
            print(lines[-1], "" if options.write else "  has no committed count")
            worse += not options.write
            continue
        change = found / int(kept[case]) - 1
        tolerance = OF_CALLS if case in CALLS else TOLERANCE
        verdict = "" if abs(change) <= tolerance else "  slower" if change > 0 else "  faster: write the counts again"
        worse += change > tolerance
        print(f"{lines[-1]} {change:+8.2%}{verdict}")
    if options.write:
        COUNTS.write_text("\n".join(lines) + "\n")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
