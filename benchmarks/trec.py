"""Runs against judgments: hitcurve beside trec_eval, ir_measures, ranx and pytrec_eval. Prints a Markdown table.

usage: trec.py [--trec-eval BINARY] [--only WORDS] [--small]

Whole processes, interpreter start and imports included, on the same generated files; the means that the two print are
compared in the same run, and a difference stops it. trec_eval is looked for in $TREC_EVAL and on the path as well;
rows whose peer is missing are said. --small makes every file a tenth as long.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

IR_MEASURES = """
import sys, ir_measures
from ir_measures import AP, nDCG, P
found = ir_measures.calc_aggregate([AP, nDCG @ 10, P @ 10], ir_measures.read_trec_qrels(sys.argv[1]),
                                   ir_measures.read_trec_run(sys.argv[2]))
for name, measure in (("AP", AP), ("nDCG@10", nDCG @ 10), ("P@10", P @ 10)):
    print(name, "all", found[measure])
"""

RANX = """
import sys
from ranx import Qrels, Run, evaluate
found = evaluate(Qrels.from_file(sys.argv[1], kind="trec"), Run.from_file(sys.argv[2], kind="trec"),
                 ["map", "ndcg@10", "precision@10"], make_comparable=True)
for name, key in (("AP", "map"), ("nDCG@10", "ndcg@10"), ("P@10", "precision@10")):
    print(name, "all", float(found[key]))
"""


def generate(folder, queries, documents, judged, runs=1, seed=1):
    """A qrels file and runs whose documents come with falling, distinct scores."""
    rng = np.random.default_rng(seed)
    name = Path(folder) / f"{queries}x{documents}"
    with open(f"{name}.qrels", "w") as qrels:
        files = [open(f"{name}.{i}.run", "w") for i in range(runs)]  # noqa: SIM115 (closed below)
        for query in range(1_000_000, 1_000_000 + queries):
            ids = int(rng.integers(8_000_000)) + np.cumsum(rng.integers(1, 800, documents))
            for file in files:
                order = rng.permutation(ids).tolist()
                scores = (40.0 - np.cumsum(rng.integers(1, 40_000, documents)) / 1e6).tolist()
                rows = zip(order, scores, strict=True)
                file.write("".join(f"{query} Q0 {d} {k} {s:.6f} run\n" for k, (d, s) in enumerate(rows, 1)))
            chosen = rng.choice(ids, min(judged, documents), replace=False).tolist()
            levels = [1, *rng.integers(0, 4, len(chosen) - 1).tolist()]
            qrels.write("".join(f"{query} 0 {d} {level}\n" for d, level in zip(chosen, levels, strict=True)))
        for file in files:
            file.close()
    return f"{name}.qrels", [f"{name}.{i}.run" for i in range(runs)]


def run(command, timeout=3600.0):
    """Seconds, peak memory in MB, and output of a process."""
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE)
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 3):
            raise RuntimeError(f"{command[0]}: {errors.decode(errors='replace')[-500:]}")
        out.seek(0)
        peak = usage.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
        return seconds, peak, out.read().decode()


def least(command, times):
    """The quickest of some runs."""
    return min((run(command) for _ in range(times)), key=lambda found: found[0])


def means(text):
    known = {"map": "AP", "ndcg_cut_10": "nDCG@10", "P_10": "P@10"}
    found = {}
    for line in text.splitlines():
        name, topic, value = re.split(r"\s+", line.strip())[:3]
        if topic == "all":
            found[known.get(name, name)] = float(value)
    return found


def check(ours, theirs, what, digits=4):
    for name, value in means(ours).items():
        if abs(value - means(theirs)[name]) > 1.01 * 10**-digits:
            sys.exit(f"{what}: {name} is {value} here and {means(theirs)[name]} there")


def hitcurve(qrels, *runs, workers=1):
    return [sys.executable, "-m", "hitcurve", "trec", qrels, *runs, "-m", "map", "-m", "ndcg_cut_10", "-m", "P_10",
            "--format", "trec", "--workers", str(workers)]


def row(what, peer, ours, theirs, memory=""):
    print(f"| {what} | {peer} | {theirs:.2f} s | {ours:.2f} s | {theirs / ours:.1f}x{memory} |", flush=True)


def against_trec_eval(binary, what, qrels, file, times=3):
    seconds, peak, text = least(hitcurve(qrels, file), times)
    command = [binary, "-m", "map", "-m", "ndcg_cut.10", "-m", "P.10", qrels, file]
    their_seconds, their_peak, their_text = least(command, times)
    check(text, their_text, what)
    row(what, "trec_eval", seconds, their_seconds, f", memory {peak:.0f} MB for {their_peak:.0f}")
    return seconds, text


def in_memory(queries=1000, documents=1000):
    import pytrec_eval

    import hitcurve as hc

    rng = np.random.default_rng(3)
    query = np.repeat(np.arange(queries), documents)
    document = (np.cumsum(rng.integers(1, 800, (queries, documents)), axis=1)).ravel()
    score = rng.random(queries * documents)
    chosen = rng.random(len(query)) < 0.01
    judgments = {"query_id": query[chosen], "doc_id": document[chosen],
                 "relevance": rng.integers(0, 3, int(chosen.sum()))}
    ranking = {"query_id": query, "doc_id": document, "score": score}
    nested_qrels, nested_run = {}, {}
    for q, d, r in zip(*(column.tolist() for column in judgments.values()), strict=True):
        nested_qrels.setdefault(str(q), {})[str(d)] = r
    start = time.perf_counter()
    for q, d, s in zip(*(column.tolist() for column in ranking.values()), strict=True):
        nested_run.setdefault(str(q), {})[str(d)] = s
    built = time.perf_counter() - start
    evaluator = pytrec_eval.RelevanceEvaluator(nested_qrels, {"map", "ndcg_cut_10", "P_10"})
    start = time.perf_counter()
    theirs = evaluator.evaluate(nested_run)
    their_seconds = time.perf_counter() - start
    qrels = hc.read_qrels(judgments)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        ours = hc.evaluate(qrels, ranking, ["AP", "nDCG@10", "P@10"], missing="skip")
        times.append(time.perf_counter() - start)
    for name, key in (("AP", "map"), ("nDCG@10", "ndcg_cut_10"), ("P@10", "P_10")):
        wanted = np.mean([theirs[q][key] for q in ours.query_ids])
        if abs(wanted - ours.means[name]) > 1e-12:
            sys.exit(f"in memory: {name} differs")
    shape = f"{queries:,} x {documents:,} in arrays of integers"
    row(shape, "pytrec_eval, dicts built", min(times), their_seconds)
    row(shape, "pytrec_eval, building the dicts too", min(times), their_seconds + built)


def main():
    parser = argparse.ArgumentParser(description="See the top of this file.")
    parser.add_argument("--trec-eval", default=os.environ.get("TREC_EVAL") or shutil.which("trec_eval"))
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    scale = 10 if options.small else 1
    wanted = lambda name: options.only in name  # noqa: E731
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print("| work | peer | peer's time | hitcurve | ratio |\n|---|---|---|---|---|")
    skipped = []
    with tempfile.TemporaryDirectory() as folder:
        if wanted("one run"):
            qrels, [file] = generate(folder, 1000 // scale, 1000, 30)
            what = f"one run, {1000 // scale:,} x 1,000"
            if options.trec_eval:
                seconds, text = against_trec_eval(options.trec_eval, what, qrels, file)
            else:
                skipped.append("trec_eval")
                seconds, _, text = least(hitcurve(qrels, file), 3)
            for name, code in (("ir_measures", IR_MEASURES), ("ranx", RANX)):
                if importlib.util.find_spec(name) is None:
                    skipped.append(name)
                    continue
                their_seconds, _, their_text = least([sys.executable, "-c", code, qrels, file], 1)
                check(text, their_text, name)
                row(what, name, seconds, their_seconds)
        if wanted("MS MARCO") and options.trec_eval:
            qrels, [file] = generate(folder, 6980 // scale, 1000, 2)
            against_trec_eval(options.trec_eval, f"MS MARCO dev size, {6980 // scale:,} x 1,000", qrels, file, 2)
        if wanted("many queries") and options.trec_eval:
            qrels, [file] = generate(folder, 200_000 // scale, 20, 2)
            against_trec_eval(options.trec_eval, f"many queries, {200_000 // scale:,} x 20", qrels, file, 1)
        if wanted("ten runs"):
            qrels, files = generate(folder, 500 // scale, 1000, 30, runs=10)
            seconds, _, text = least(hitcurve(qrels, *files, workers=2), 2)
            apart = [least(hitcurve(qrels, file), 2) for file in files]
            if text != "".join(one for _, _, one in apart):
                sys.exit("ten runs: the outputs differ")
            what = f"ten runs of {500 // scale:,} x 1,000, two workers"
            row(what, "ten calls of hitcurve", seconds, sum(one for one, _, _ in apart))
        if wanted("in memory"):
            if importlib.util.find_spec("pytrec_eval") is None:
                skipped.append("pytrec_eval")
            else:
                in_memory(1000 // scale)
    for name in dict.fromkeys(skipped):
        print(f"\n{name} is not there: its rows are left out.")


if __name__ == "__main__":
    main()
