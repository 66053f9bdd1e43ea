"""Scanning files larger than memory, against decoding the same columns alone with the same reader.

    python benchmarks/scan.py make FOLDER [--rows 1e8 ...] [--csv] [--share 0.1]   write the data
    python benchmarks/scan.py run FILE [--workers 2] [--max-memory BYTES] [--tolerance T]
    python benchmarks/scan.py grow FOLDER [--rounds 3]                             time by rows, of the Parquet files

`grow` writes the table of docs/larger-data.md and its picture, docs/scan.svg.

Scores are standard normal float32, those of relevant items one higher; labels are booleans. Every run is a process of
its own, so that its peak of memory is its own; answers are compared with HitCurve where the rows fit in memory. The
time of processors is that of all threads of a run: it says more than the seconds where others use the machine.
"""

import argparse
import glob
import json
import os
import resource
import subprocess
import sys
import time

import numpy as np
import report


def make(path, rows, share):
    """Parquet as pyarrow writes it by default: Snappy, row groups of 2**20 rows."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    rng = np.random.default_rng(1)
    schema = pa.schema([("score", pa.float32()), ("label", pa.bool_())])
    if path.endswith(".csv"):
        schema = pa.schema([("score", pa.float32()), ("label", pa.uint8())])
    with (csv.CSVWriter if path.endswith(".csv") else parquet.ParquetWriter)(path, schema) as writer:
        for start in range(0, rows, 1 << 20):
            n = min(1 << 20, rows - start)
            label = rng.random(n, dtype=np.float32) < share
            score = rng.standard_normal(n, dtype=np.float32) + label
            writer.write_table(pa.table({"score": score, "label": label}).cast(schema))


def decode(path, workers):
    """The two columns and nothing else."""
    from concurrent.futures import ThreadPoolExecutor

    if path.endswith(".csv"):
        from hitcurve.sources.tables import TableReader

        return sum(len(batch.label) for batch in TableReader([path], "label", ["score"], workers=workers))
    from pyarrow import parquet

    def share(worker):
        file = parquet.ParquetFile(path)
        groups = range(worker, file.num_row_groups, workers)
        return sum(file.read_row_group(g, ["score", "label"], use_threads=workers == 1).num_rows for g in groups)

    with ThreadPoolExecutor(workers) as pool:
        return sum(pool.map(share, range(workers)))


def arrow_csv(path, workers):
    """pyarrow's own reader of CSV, with its own threads."""
    from pyarrow import csv

    options = csv.ConvertOptions(include_columns=["score", "label"])
    return sum(batch.num_rows for batch in csv.open_csv(path, convert_options=options))


def scan(path, workers, max_memory, tolerance):
    import hitcurve as hc

    curve = hc.scan(path, "label", "score", workers=workers, max_memory=max_memory, tolerance=tolerance, progress=False)
    report = curve.tie_report()
    return {"rows": curve.num_items, "relevant": curve.num_relevant, "table": len(curve), "AP": report.expected,
            "worst": report.worst, "best": report.best}  # fmt: skip


def in_memory(path):
    import hitcurve as hc
    from hitcurve.sources.screen import read_screen
    from hitcurve.sources.tables import TableReader

    items = read_screen(TableReader([path], "label", ["score"]), [("score", False)], keep=True).arrays
    return {"AP": hc.average_precision(items.label, items.scores[0], workers=2)}


def alone(what, *arguments):
    """One step in a process of its own: what it returns, its seconds and those of all its threads (imports and start
    left out), its peak."""
    done = subprocess.run(
        [sys.executable, __file__, "step", what, json.dumps(arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def step(what, arguments):
    import pyarrow.compute
    import pyarrow.csv
    import pyarrow.parquet  # noqa: F401

    import hitcurve.sources.scanning
    import hitcurve.sources.tables  # noqa: F401

    steps = {"decode": decode, "arrow_csv": arrow_csv, "scan": scan, "in_memory": in_memory}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, busy = time.perf_counter(), time.process_time()
    value = steps[what](*json.loads(arguments))
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"value": value, "seconds": seconds, "busy": busy, "peak": peak / 1024, "base": before / 1024}))


def run(path, workers, max_memory, tolerance, rounds, check):
    readers = ["decode", "arrow_csv"] if path.endswith(".csv") else ["decode"]
    best = dict.fromkeys([*readers, "scan"], float("inf"))
    busy = dict(best)
    for _ in range(rounds):  # taking turns, so that a slow minute hurts all
        for what in best:
            found = alone(what, path, workers, *((max_memory, tolerance) if what == "scan" else ()))
            best[what], busy[what] = min(best[what], found["seconds"]), min(busy[what], found["busy"])
    value = found["value"]
    print(f"{path}: {value['rows']:,} rows, {value['relevant']:,} relevant, {value['table']:,} rows of the table")
    for reader in readers:
        print(f"  {reader:<10} {best[reader]:8.2f} s; scan takes {best['scan'] / best[reader]:.2f} times as long, "
              f"and {busy['scan'] / busy[reader]:.2f} times the time of processors ({busy[reader]:.2f} s)")  # fmt: skip
    print(f"  scan       {best['scan']:8.2f} s ({busy['scan']:.2f} s of processors), peak {found['peak']:,.0f} MiB, "
          f"{found['base']:,.0f} of it imports")  # fmt: skip
    print(f"  AP {value['AP']!r}, from {value['worst']!r} to {value['best']!r}")
    if check:
        right = alone("in_memory", path)["value"]["AP"]
        exact = max_memory is None
        same = right == value["AP"] if exact else value["worst"] <= right <= value["best"]
        verdict = "equal" if exact else f"inside; off by {abs(value['AP'] - right):.2g}"
        print(f"  in memory: {right!r}: {verdict if same else 'WRONG'}")
        if not same:
            sys.exit(1)
    return best["scan"]


def grow(paths, rounds):
    """A table and a picture of the time by the number of rows, two workers, and of decoding the same columns once."""
    from matplotlib.figure import Figure

    lines = ["| rows | relevant | decoding, s | scan, s | scan, ns a row | scan / decoding | peak of process, MiB |",
             "|--:|--:|--:|--:|--:|--:|--:|"]  # fmt: skip
    sizes, times = [], []
    for path in paths:
        decoded = scanned = float("inf")
        for _ in range(rounds):
            decoded = min(decoded, alone("decode", path, 2)["seconds"])
            found = alone("scan", path, 2, None, None)
            scanned = min(scanned, found["seconds"])
        value = found["value"]
        sizes.append(value["rows"])
        times.append((decoded, scanned))
        lines.append(
            f"| {value['rows']:,} | {value['relevant']:,} | {decoded:.3g} | {scanned:.3g} | "
            f"{scanned / value['rows'] * 1e9:.2f} | {scanned / decoded:.2f} | {found['peak']:,.0f} |"
        )
        print(lines[-1], flush=True)
    figure = Figure(figsize=(5, 3.4), layout="constrained")
    axes = figure.subplots()
    for place, name in enumerate(("decoding the two columns once", "hc.scan")):
        axes.loglog(sizes, [pair[place] for pair in times], marker="os"[place], label=name)
    axes.loglog(sizes, [times[-1][1] * size / sizes[-1] for size in sizes], "k:", lw=1, label="as the rows")
    axes.set_xlabel("rows of Parquet, 1 in 10,000 relevant")
    axes.set_ylabel("seconds, two workers")
    axes.legend(frameon=False, fontsize="small")
    report.put(report.ROOT / "docs" / "larger-data.md", lines, "scan")
    figure.savefig(report.ROOT / "docs" / "scan.svg", metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    maker = commands.add_parser("make")
    maker.add_argument("folder")
    maker.add_argument("--rows", type=float, nargs="+", default=[1e6, 1e7, 1e8])
    maker.add_argument("--share", type=float, default=1e-4)
    maker.add_argument("--csv", action="store_true")
    runner = commands.add_parser("run")
    runner.add_argument("file")
    runner.add_argument("--workers", type=int, default=2)
    runner.add_argument("--max-memory", type=int)
    runner.add_argument("--tolerance", type=float)
    runner.add_argument("--rounds", type=int, default=3)
    runner.add_argument("--check", action="store_true", help="also in memory")
    grower = commands.add_parser("grow")
    grower.add_argument("folder")
    grower.add_argument("--rounds", type=int, default=3)
    stepper = commands.add_parser("step")
    stepper.add_argument("what")
    stepper.add_argument("arguments")
    options = parser.parse_args()
    if options.command == "make":
        os.makedirs(options.folder, exist_ok=True)
        for rows in options.rows:
            name = f"{int(rows)}-{options.share:g}.{'csv' if options.csv else 'parquet'}"
            make(os.path.join(options.folder, name), int(rows), options.share)
    elif options.command == "run":
        run(options.file, options.workers, options.max_memory, options.tolerance, options.rounds, options.check)
    elif options.command == "grow":
        paths = glob.glob(os.path.join(options.folder, "*-0.0001.parquet"))
        grow(sorted(paths, key=os.path.getsize), options.rounds)
    else:
        step(options.what, options.arguments)


if __name__ == "__main__":
    main()
