"""The targets of `hitcurve table`: files against their reader alone, a whole report, RDKit's scoring, memory.

    python benchmarks/screen.py [--quick] [--only TEXT] [--rounds N] [--folder DIR]

Commands run as a user runs them, in processes of their own, interpreter and imports included; contestants take turns
and count with the minimum of their rounds. Answers are compared with another way to them. The exit code is the number
of rows that miss their target. `--quick` shrinks the files: it shows that the rows run. Files are made in `--folder`
(default: a temporary one, about 3 GB at full size) and used again if they are there.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from functools import partial
from time import perf_counter

import numpy as np

import hitcurve as hc


class Row:
    """One line: the work, the target, what came out."""

    def __init__(self, work, target, unit="x", at_least=False):
        self.work, self.target, self.unit, self.at_least = work, target, unit, at_least
        self.measured = self.note = ""

    @property
    def met(self):
        return self.measured >= self.target if self.at_least else self.measured <= self.target

    def __str__(self):
        sign = "≥" if self.at_least else "≤"
        verdict = "met" if self.met else "NOT MET"
        return f"{self.work:<66} {sign} {self.target:g} {self.unit:<3} {self.measured:8.3g}  {verdict}  ({self.note})"


def command(*arguments):
    """Seconds and standard output of a Python command."""
    start = perf_counter()
    done = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, check=False)
    seconds = perf_counter() - start
    if done.returncode:
        raise RuntimeError(f"{arguments}: {done.stderr}")
    return seconds, done.stdout


def turns(calls, rounds):
    """The least result of each call, taking turns, after a round that warms the disk's cache."""
    for call in calls:
        call()
    return [min(results) for results in zip(*([call() for call in calls] for _ in range(rounds)), strict=True)]


def check(value, right):
    if not abs(value - right) <= 6e-5 * max(1, abs(right)):
        raise AssertionError(f"WRONG: {value!r}, but another way of counting says {right!r}")


def numbers(text):
    return {line.split()[0]: float(line.split()[1]) for line in text.splitlines()}


# --- files --------------------------------------------------------------------------------------------------


def items(n, share, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(np.int8)
    return y, rng.normal(size=n) + y


def one_score(folder, n):
    """The same items as CSV and Parquet, and their AP."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    y, s = items(n, 0.002)
    s = np.round(s, 6)
    paths = [os.path.join(folder, f"one_{n}.{kind}") for kind in ("csv", "parquet")]
    if not all(map(os.path.exists, paths)):
        table = pa.table({"id": np.arange(n), "label": y, "score": s})
        csv.write_csv(table, paths[0])
        parquet.write_table(table, paths[1])
    return (*paths, hc.average_precision(y, s))


# --- rows ---------------------------------------------------------------------------------------------------


def reading(options, row, kind):
    n = options.size(10_000_000)
    *paths, right = one_score(options.folder, n)
    path = paths[kind == "parquet"]
    alone = {
        "csv": "from pyarrow import csv; csv.read_csv(P, convert_options=csv.ConvertOptions(include_columns=C))",
        "parquet": "from pyarrow import parquet; parquet.read_table(P, columns=C)",
    }[kind]
    code = f"P, C = {path!r}, ['label', 'score']; {alone}"

    def ours():
        seconds, out = command("-m", "hitcurve", "table", path, "--label", "label", "--score", "score", "-m", "AP")
        check(numbers(out)["AP"], right)
        return seconds

    mine, theirs = turns([ours, lambda: command("-c", code)[0]], options.rounds)
    row.measured = mine / theirs
    row.note = f"{mine:.2f} s against {theirs:.2f} s, {n:,} rows"


def whole_report(options, row):
    import pyarrow as pa
    from pyarrow import parquet

    n = options.size(1_000_000)
    path = os.path.join(options.folder, f"four_{n}.parquet")
    rng = np.random.default_rng(1)
    y, _ = items(n, 0.002)
    scores = {f"score{at}": np.round(rng.normal(size=n) + at * 0.5 * y, 3) for at in range(1, 5)}
    parquet.write_table(pa.table({"label": y, **scores}), path)
    page = os.path.join(options.folder, "report.html")
    asked = [part for name in scores for part in ("--score", name)]
    arguments = ["table", path, "--label", "label", *asked, "--interval", "--compare", "--report", page]
    seconds, out = command("-m", "hitcurve", *arguments)
    found = re.findall(r"^AP +(score\d) +([\d.]+)", out, re.MULTILINE)
    assert [name for name, _ in found] == [*scores] * 2, "the first screen or the comparison lacks a score"
    for name, value in found:
        check(float(value), hc.average_precision(y, scores[name]))
    with open(page, encoding="utf-8") as file:
        text = file.read()
    assert text.count("<svg") == 10 and text.count("<table") == 8, "the page lacks a part"
    row.measured = seconds
    row.note = f"{n:,} rows x 4 scores: intervals, comparison, pictures, page of {len(text) / 1e6:.1f} MB"


def against_rdkit(options, row):
    from rdkit.ML.Scoring import Scoring

    n = options.size(1_000_000)
    y, s = items(n, 0.002)
    order = np.argsort(-s)
    ranked = y[order]
    rows = [(int(flag),) for flag in ranked]  # what RDKit takes: the items in order, made beforehand
    found = {}

    def theirs():
        start = perf_counter()
        found["theirs"] = (
            Scoring.CalcEnrichment(rows, 0, [0.01])[0],
            Scoring.CalcBEDROC(rows, 0, 20.0),
            Scoring.CalcAUC(rows, 0),
        )
        return perf_counter() - start

    def ours():
        start = perf_counter()
        curve = hc.HitCurve.from_ranked(ranked)
        found["ours"] = curve.enrichment_factor(0.01), curve.bedroc(20.0), curve.roc_auc(), curve.average_precision()
        return perf_counter() - start

    def sorting():
        start = perf_counter()
        curve = hc.HitCurve(y, s)
        _ = curve.enrichment_factor(0.01), curve.bedroc(20.0), curve.roc_auc(), curve.average_precision()
        return perf_counter() - start

    mine, unsorted, other = turns([ours, sorting, theirs], options.rounds)
    for value, right in zip(found["ours"], found["theirs"], strict=False):
        check(value, right)
    check(found["ours"][3], hc.average_precision(y, s))
    row.measured = other / mine
    row.note = f"{1e3 * mine:.2f} ms against {1e3 * other:.0f} ms, which has no AP; from scores {1e3 * unsorted:.1f} ms"


def memory(options, row):
    import pyarrow as pa
    from pyarrow import parquet

    n, relevant = options.size(100_000_000), 1000
    path = os.path.join(options.folder, f"large_{n}.parquet")
    step = 1_000_000 if n >= 1_000_000 else n
    marked = np.random.default_rng(2).choice(n, relevant, replace=False)
    counter = None
    for turn in range(2):
        held, writer = [], None
        for start in range(0, n, step):
            rng = np.random.default_rng([3, start])
            y = np.zeros(step, np.int8)
            y[marked[(marked >= start) & (marked < start + step)] - start] = 1
            s = rng.normal(size=step) + 2 * y
            if turn == 0:
                held.append(s[y == 1])
                if not options.reuse or not os.path.exists(path):
                    table = pa.table({"label": y, "score": s})
                    writer = writer or parquet.ParquetWriter(path + ".part", table.schema)
                    writer.write_table(table)
            else:
                counter.update(y, s)
        if turn == 0:
            counter = hc.HitCounter(np.concatenate(held))
            if writer is not None:
                writer.close()
                os.replace(path + ".part", path)
    code = (
        "import resource, sys; from hitcurve.cli.main import main; main(sys.argv[1:]); sys.stdout.flush(); "
        "print('peak', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    seconds, out = command("-c", code, "table", path, "--label", "label", "--score", "score", "-m", "AP")
    found = numbers(out)
    check(found["AP"], counter.curve().average_precision())
    row.measured = found["peak"]
    row.note = f"{n:,} rows, {relevant:,} relevant, file of {os.path.getsize(path) / 1e6:,.0f} MB, {seconds:.1f} s"


def rows(options):
    for kind, name in (("csv", "CSV"), ("parquet", "Parquet")):
        row = Row(f"table, 10 million rows of {name}, against pyarrow reading two columns", 1.5)
        yield row, partial(reading, options, row, kind)
    row = Row("whole report, 1 million rows x 4 scores", 60, "s")
    yield row, partial(whole_report, options, row)
    row = Row("EF, BEDROC, ROC AUC, AP of 1 million ranked items, against RDKit", 50, at_least=True)
    yield row, partial(against_rdkit, options, row)
    row = Row("peak memory, table of 100 million rows of Parquet", 700, "MB")
    yield row, partial(memory, options, row)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder")
    options = parser.parse_args()
    options.size = lambda n: max(10_000, n // 500) if options.quick else n
    options.reuse = options.folder is not None
    missed = 0
    with tempfile.TemporaryDirectory() as temporary:
        options.folder = options.folder or temporary
        for row, run in rows(options):
            if options.only.lower() in row.work.lower():
                run()
                missed += not row.met
                print(row, flush=True)
    return missed


if __name__ == "__main__":
    sys.exit(main())
