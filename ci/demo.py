"""The demo: real rankings written to files, and the files measured.

usage: demo.py FOLDER                       write the demo's files to FOLDER and measure them
       demo.py FOLDER FILE --label COL ...  measure your own file: the arguments of `hitcurve table`

The data comes with scikit-learn: handwritten digits and breast-cancer cells.
"""

import gzip
import os
import shlex
import sys
import time

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import average_precision_score

import hitcurve
from hitcurve.cli.main import main as command
from hitcurve.sources.screen import read_screen
from hitcurve.sources.tables import TableReader

DIGITS = "digits.parquet"
CELLS = "bcancer.csv.gz"


def write_digits():
    """Each of the 1,797 images a query, ranked against all others by squared distance."""
    import pyarrow as pa
    from pyarrow import parquet

    images, digits = load_digits(return_X_y=True)
    images = images.astype(np.int64)
    lengths = (images**2).sum(axis=1)
    distance = lengths[:, None] + lengths - 2 * images @ images.T
    query, item = np.nonzero(~np.eye(len(images), dtype=bool))
    table = pa.table(
        {
            "query": query.astype(np.int32),
            "item": item.astype(np.int32),
            "distance": distance[query, item].astype(np.int32),
            "same_digit": digits[query] == digits[item],
        }
    )
    parquet.write_table(table, DIGITS, compression="zstd")


def write_cells():
    """569 tumours; a feature as measured, and the same noted to the nearest 5, which ties most of them."""
    data = load_breast_cancer()
    names = list(data.feature_names)
    radius, texture = (data.data[:, names.index(name)] for name in ("mean radius", "mean texture"))
    coarse = 5 * np.round(radius / 5).astype(int)
    with gzip.open(CELLS, "wt") as file:
        file.write("tumour,malignant,mean_radius,radius_to_5,mean_texture\n")
        for at, row in enumerate(zip(data.target == 0, radius, coarse, texture, strict=True)):
            malignant, *features = (value.item() for value in row)
            file.write(f"{at + 1},{int(malignant)},{','.join(map(str, features))}\n")


def write_runs():
    """The first image of every ten a query, ranked by two distances: TREC judgments and two runs."""
    images, digits = load_digits(return_X_y=True)
    images = images.astype(np.int64)
    with open("digits.qrels", "w") as qrels:
        for query in range(0, len(images), 10):
            for item in np.flatnonzero(digits == digits[query]):
                if item != query:
                    qrels.write(f"{query} 0 image{item} 1\n")
    for name, power in (("squares", 2), ("city-block", 1)):
        with open(f"digits.{name}.run", "w") as run:
            for query in range(0, len(images), 10):
                distance = (np.abs(images - images[query]) ** power).sum(axis=1)
                order = np.argsort(distance, kind="stable")
                order = order[order != query][:1000]
                for rank, item in enumerate(order, 1):
                    run.write(f"{query} Q0 image{item} {rank} {-distance[item]} {name}\n")


def measure(*arguments, name="table"):
    print(f"\n$ hitcurve {name} {shlex.join(arguments)}")
    status = command([name, *arguments])
    if status:
        sys.exit(status)


def timed(function):
    """The value and the seconds it takes: the least of five calls where they are short."""
    seconds = []
    while len(seconds) < 5 and sum(seconds) < 1:
        start = time.perf_counter()
        value = function()
        seconds.append(time.perf_counter() - start)
    return value, min(seconds)


def compare(what, ours, theirs):
    """Print both libraries' numbers and times; stop if the numbers differ."""
    value, seconds = timed(ours)
    expected, their_seconds = timed(theirs)
    equal = abs(value - expected) <= 1e-12
    print(f"\n{what} with ties='threshold', and scikit-learn's average_precision_score:")
    print(f"  scikit-learn  {expected:.15f}  {1000 * their_seconds:9,.3f} ms")
    print(f"  hitcurve      {value:.15f}  {1000 * seconds:9,.3f} ms   {'equal' if equal else 'NOT EQUAL'}")
    if not equal:
        sys.exit(1)


def items(path, label, score, group=None, lower_is_better=False):
    """What the command reads of the file."""
    return read_screen(TableReader([path], label, [score], group), [(score, lower_is_better)], keep=True).arrays


def digits():
    print("\n== Retrieval: which images show the same digit? ==\n")
    print("Each of 1,797 handwritten digits is a query; the other 1,796 are ranked by squared distance, nearest first.")
    print("Relevant: the same digit. Distances are integers, so many images tie.")
    measure(
        DIGITS, "--label", "same_digit", "--score", "distance", "--lower-is-better", "--group", "query", "--mean-only"
    )
    columns = items(DIGITS, "same_digit", "distance", "query", lower_is_better=True)
    rankings = [
        (columns.label[at], -columns.scores[0][at])
        for at in np.split(np.arange(len(columns.scores[0])), np.flatnonzero(np.diff(columns.group)) + 1)
    ]
    compare(
        "Mean average precision of the 1,797 queries",
        lambda: hitcurve.mean_average_precision(
            columns.label, columns.scores[0], qid=columns.group, lower_is_better=True, ties="threshold"
        ),
        lambda: np.mean([average_precision_score(label, score) for label, score in rankings]).item(),
    )


def runs():
    print("\n\n== The same as TREC has it: judgments, and two runs to compare ==\n")
    print("Every tenth image a query; the 1,000 nearest others by squared and by city-block distance.")
    measure("digits.qrels", "digits.squares.run", "digits.city-block.run", name="trec")
    arguments = ("digits.squares.run", "digits.city-block.run", "-m", "AP", "--ties", "expected", "--compare")
    measure("digits.qrels", *arguments, name="trec")


def cells():
    print("\n\n== Detection: which tumours are malignant? ==\n")
    print("569 tumours ranked by one feature, the mean radius of the cell nuclei. Relevant: malignant.")
    measure(CELLS, "--label", "malignant", "--score", "mean_radius")
    columns = items(CELLS, "malignant", "mean_radius")
    compare(
        "Average precision",
        lambda: hitcurve.average_precision(columns.label, columns.scores[0], ties="threshold"),
        lambda: average_precision_score(columns.label, columns.scores[0]),
    )
    print("\nThe same with the radius noted to the nearest 5: nearly all tumours tie, and AP depends on their order.")
    measure(CELLS, "--label", "malignant", "--score", "radius_to_5")


def main():
    folder, *own = sys.argv[1:] or [None]
    if folder is None:
        sys.exit(__doc__)
    if own:
        return command(["table", *own])
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    write_digits()
    write_runs()
    write_cells()
    print(f"hitcurve {hitcurve.__version__}. Files written to {folder}:")
    for name in (DIGITS, CELLS):
        print(f"  {name:<15} {os.path.getsize(name):>12,} bytes")
    digits()
    runs()
    cells()
    print("\nYour own file: ci/demo FILE --label COL --score COL [--group COL] [--lower-is-better] [-m MEASURE ...]")
    return 0


if __name__ == "__main__":
    sys.exit(main())
