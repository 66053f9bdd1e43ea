"""Judgments and runs in dicts of dicts, against pytrec_eval in the same process.

    python benchmarks/dicts.py [--rounds N] [--print]

The table goes between the markers of docs/compat-pytrec-eval.md; --print only prints it. Each row has the least CPU
time of the rounds, in which the contestants take turns. Evaluators are made before, and their answers are compared.
"""

import argparse
import sys
from functools import partial
from importlib.metadata import version
from time import process_time

import bars
import peers
import report

import hitcurve as hc
from hitcurve.compat import pytrec_eval as compat

MEASURES = ("map", "ndcg_cut.10", "P.10", "recip_rank")
ROWS = (  # queries, documents, judged documents, scores
    *((500, 1_000, 20, scores) for scores in peers.SCORES),
    (500, 1_000, 100, "distinct"),
    (1, 100, 20, "distinct"),
)


def contestants(queries, documents, judged, scores):
    """A call each: pytrec_eval, the drop-in, and hitcurve's own evaluator. Their answers are equal."""
    import pytrec_eval

    qrels, run = peers.parsed_dicts(queries, documents, judged, scores)
    theirs, drop_in = (module.RelevanceEvaluator(qrels, set(MEASURES)) for module in (pytrec_eval, compat))
    own = hc.Evaluator(qrels, MEASURES)
    right, found = theirs.evaluate(run), own.evaluate(run)
    if drop_in.evaluate(run) != right:
        raise bars.WrongAnswerError("WRONG: the drop-in's results are not pytrec_eval's")
    for name in MEASURES:
        if [found[query][name] for query in right] != [values[name.replace(".", "_")] for values in right.values()]:
            raise bars.WrongAnswerError(f"WRONG: {name} differs from pytrec_eval's")
    return [partial(evaluator.evaluate, run) for evaluator in (theirs, drop_in, own)]


def times(faster, slower):
    return f"{slower / faster:.2g}"


def table(rounds):
    head = ["queries × documents", "judged a query", "scores", "pytrec_eval", "the drop-in", "times as fast"]
    yield "| " + " | ".join([*head, "`hc.Evaluator`", "times as fast"]) + " |"
    yield "|--:|--:|---|--:|--:|--:|--:|--:|"
    for queries, documents, judged, scores in ROWS:
        calls = contestants(queries, documents, judged, scores)
        theirs, drop_in, own = bars.seconds(calls, rounds, 0.02 if queries == 1 else 0.0, process_time)
        cells = [f"{queries:,} × {documents:,}", str(judged), peers.SCORES[scores], report.time(theirs)]
        cells += [report.time(drop_in), times(drop_in, theirs), report.time(own), times(own, theirs)]
        yield "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description="Measure dicts of dicts against pytrec_eval.")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--print", action="store_true", help="print the table, write nothing")
    options = parser.parse_args()
    lines = [*table(options.rounds), ""]
    versions = f"hitcurve {hc.__version__}, pytrec_eval-terrier {version('pytrec_eval-terrier')}"
    lines.append(f"CPU time of one thread, the least of {options.rounds} rounds; {peers.processor()}, {versions}.")
    lines.append("Command: `python benchmarks/dicts.py`.")
    sys.stdout.write("\n".join(lines) + "\n")
    if not options.print:
        report.put(report.ROOT / "docs" / "compat-pytrec-eval.md", lines)


if __name__ == "__main__":
    main()
