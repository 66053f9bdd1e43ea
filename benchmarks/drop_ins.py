"""The drop-ins against what they take over from: the figures of docs/compat-rdkit.md and docs/compat-torchmetrics.md.

    python benchmarks/drop_ins.py [--rows N] [--rounds N]

CPU time of one thread, the minimum of the rounds; answers are compared. A peer that is not installed is left out.
"""

import argparse
import importlib
import warnings
from functools import partial
from time import process_time

import numpy as np


def best(call, rounds):
    """(the least CPU time in milliseconds, the answer)"""
    times = []
    for _ in range(rounds):
        start = process_time()
        answer = call()
        times.append(process_time() - start)
    return min(times) * 1e3, answer


def compare(work, theirs, ours, rounds, tolerance):
    (peer, wanted), (here, found) = best(theirs, rounds), best(ours, rounds)
    np.testing.assert_allclose(found, wanted, rtol=tolerance)
    print(f"{work:55} {peer:9.2f} ms {here:9.2f} ms {peer / here:6.1f} x", flush=True)


def rdkit(num_rows, rounds):
    from hitcurve.compat import rdkit_scoring

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of RDKit's own imports
        scoring = importlib.import_module("rdkit.ML.Scoring.Scoring")
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.random(num_rows), rng.random(num_rows) < 0.01])
    lists = [[score, int(flag)] for score, flag in table.tolist()]
    scattered = [lists[i] for i in rng.permutation(num_rows)]
    calls = {"CalcAUC": (), "CalcROC": (), "CalcBEDROC": (20.0,), "CalcRIE": (20.0,), "CalcEnrichment": ([0.01, 0.05],)}
    for kind, rows in (("lists", lists), ("scattered lists", scattered), ("an array", table)):
        for name, args in calls.items():
            theirs, ours = (partial(getattr(module, name), rows, 1, *args) for module in (scoring, rdkit_scoring))
            compare(f"{name}, {num_rows:,} rows in {kind}", theirs, ours, rounds, 1e-12 + num_rows / 20 * 2.3e-16)


def torchmetrics(rounds):
    from hitcurve.compat import torchmetrics as ours

    torch, theirs = importlib.import_module("torch"), importlib.import_module("torchmetrics.retrieval")
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    scores = rng.permutation(200_000).astype(np.float32) / 200_000 + 1e-6
    columns = [torch.tensor(c) for c in (scores, rng.random(200_000) < 0.1, np.repeat(np.arange(2000), 100))]

    def measured(make):
        metric = make(top_k=10)
        metric.update(*columns)
        return metric.compute().item()

    for name in ("RetrievalMAP", "RetrievalMRR", "RetrievalNormalizedDCG"):
        both = (partial(measured, getattr(module, name)) for module in (theirs, ours))
        compare(f"{name}, 2,000 queries of 100 items", *both, rounds, 1e-5)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    for run in (partial(rdkit, asked.rows, asked.rounds), partial(torchmetrics, asked.rounds)):
        try:
            run()
        except ModuleNotFoundError as error:
            print(f"left out: {error}")
