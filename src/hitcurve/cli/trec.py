"""The command ``hitcurve trec``: apart from `hitcurve.cli.main`, which every command imports."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hitcurve.cli.main import _count

if TYPE_CHECKING:
    from hitcurve.measures import Measure
    from hitcurve.retrieval.evaluation import Evaluation
    from hitcurve.retrieval.trec_eval import Entry

__all__ = ["arguments", "as_trec_eval", "run"]

_LEFT_OUT = 3  # exit status
_MEASURES = ("AP", "nDCG@10", "P@10", "RR", "R@1000")
_LONG = 1 << 26  # bytes of a file worth a progress line
_MOVED = 0.001  # what ties may move a mean without a warning

# Of trec_eval's measures: those that print a whole number, and those that have no line for a query.
_WHOLE = ("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret")
_MEAN_ONLY = ("num_q", "gm_map", "gm_bpref")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    parser.add_argument("qrels", metavar="QRELS", help="judgments: text, also .gz .xz .bz2 .zst; Parquet; - is stdin")
    parser.add_argument("runs", metavar="RUN", nargs="+", help="runs, in the same forms")
    parser.add_argument(
        "-m",
        dest="measures",
        metavar="MEASURE",
        action="append",
        help="such as nDCG@10, map_cut_10, P.5,10, official, all_trec; may be said again "
        f"(default: {' '.join(_MEASURES)}; with --format trec: official)",
    )
    parser.add_argument(
        "--ties",
        choices=("docid", "expected", "worst", "best", "order", "rank"),
        default="docid",
        metavar="RULE",
        help="equal scores: docid (trec_eval's rule), expected, worst, best; or all by file order or rank "
        "(default: docid)",
    )
    parser.add_argument("-q", dest="each", action="store_true", help="single queries as well (default: means only)")
    parser.add_argument(
        "-l", dest="rel", metavar="LEVEL", type=int, default=1, help="lowest level that is relevant (default: 1)"
    )
    parser.add_argument(
        "--missing",
        choices=("zero", "skip", "raise"),
        default="zero",
        metavar="HOW",
        help="judged queries that a run lacks: zero, skip, raise (default: zero, as trec_eval -c)",
    )
    parser.add_argument(
        "--empty",
        choices=("zero", "skip", "raise"),
        default="zero",
        metavar="HOW",
        help="queries without relevant documents: zero, skip, raise (default: zero)",
    )
    parser.add_argument(
        "-J", "--judged-only", action="store_true", help="drop unjudged documents first (default: not relevant)"
    )
    parser.add_argument(
        "-M", dest="depth", metavar="DEPTH", type=_count, help="only the first documents of each query (default: all)"
    )
    parser.add_argument(
        "--trec-eval",
        dest="version",
        type=int,
        choices=(9, 10),
        default=10,
        metavar="VERSION",
        help="whose numbers: 9 keeps scores in single precision and rounds recall levels up (default: 10)",
    )
    parser.add_argument(
        "--lenient", action="store_true", help="read bad lines as trec_eval does, and say so (default: an error)"
    )
    parser.add_argument(
        "--format",
        choices=("table", "trec", "csv", "json"),
        default="table",
        metavar="FORM",
        help="table, trec (what trec_eval prints), csv (names are kept, formulas too), json (default: table)",
    )
    parser.add_argument("--compare", action="store_true", help="test the differences between runs (default: no)")
    parser.add_argument("--baseline", metavar="RUN", help="compare with this run (default: every pair)")
    parser.add_argument(
        "--workers", metavar="N", type=_workers, default=1, help="threads, for several runs (default: 1)"
    )
    parser.set_defaults(run=run, usage_error=parser.error)


def _workers(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1 and number != -1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 up, nor -1 for all cores")
    return number


def run(options: argparse.Namespace) -> str:
    """Measure, print, and leave with a status that says whether anything was left out."""
    from hitcurve.retrieval.evaluation import evaluate, read_qrels
    from hitcurve.retrieval.trec_eval import expand

    if options.baseline is not None:
        options.compare = True
        if options.baseline not in options.runs:
            options.usage_error(f"--baseline {options.baseline}: it is none of the runs")
    if options.compare and len(options.runs) < 2:
        options.usage_error("--compare needs two runs or more")
    if options.compare and options.format in ("trec", "csv"):
        options.usage_error(f"--compare does not go with --format {options.format}")
    if options.compare and len(set(options.runs)) < len(options.runs):
        options.usage_error("--compare: a run is named twice")
    if [*options.runs, options.qrels].count("-") > 1:
        options.usage_error("standard input can be read once")
    asked = options.measures or (["official"] if options.format == "trec" else _MEASURES)
    try:
        entries = [entry for text in asked for entry in expand(text, options.version)]
    except ValueError as error:
        options.usage_error(f"argument -m: {error}")
    measures: list[Measure | str] = [entry.measure for entry in entries if entry.measure is not None]
    if not measures and options.format != "trec":
        options.usage_error(f"argument -m: {', '.join(asked)}: only --format trec prints it")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what was let pass stands in the evaluations too
        qrels = read_qrels(options.qrels, strict=not options.lenient)
        long = [one for one in options.runs if os.path.isfile(one) and os.path.getsize(one) > _LONG]
        progress = _progress(long[0]) if len(options.runs) == 1 and long and sys.stderr.isatty() else None
        found = evaluate(
            qrels,
            list(options.runs) if len(options.runs) > 1 else options.runs[0],
            measures or ["NumQ"],
            ties=options.ties,
            scores="float32" if options.version == 9 else "float64",
            missing=options.missing,
            empty=options.empty,
            judged_only=options.judged_only,
            rel=options.rel,
            depth=options.depth,
            strict=not options.lenient,
            workers=options.workers,
            progress=progress,
        )
    evaluations: list[Evaluation] = found if isinstance(found, list) else [found]
    if progress is not None:
        sys.stderr.write("\r\033[K")
    names = _names(options.runs)
    if options.format == "trec":
        text = "".join(as_trec_eval(one, entries, each=options.each, version=options.version) for one in evaluations)
    elif options.format == "json":
        text = _json(names, evaluations, options)
    elif options.format == "csv":
        text = _csv(names, evaluations, options.each)
    else:
        text = _table(names, evaluations, options.each)
        text += _counted(evaluations[0])
        if options.compare:
            text += _compared(names, evaluations, options)
    sys.stdout.write(text)
    sys.stdout.flush()
    if _say_what_is_left_out(names, evaluations, options):
        raise SystemExit(_LEFT_OUT)
    return ""


def _progress(path: str) -> Callable[[int], None]:
    size = os.path.getsize(path)

    def show(place: int) -> None:
        sys.stderr.write(f"\r{os.path.basename(path)}: {100 * place // size} %")
        sys.stderr.flush()

    return show


def _names(paths: Sequence[str]) -> list[str]:
    """File names, or paths where those are not distinct."""
    short = ["standard input" if path == "-" else os.path.basename(path) for path in paths]
    return short if len(set(short)) == len(short) else list(paths)


def as_trec_eval(evaluation: Evaluation, entries: list[Entry], *, each: bool, version: int = 10) -> str:
    """What trec_eval prints: ``name <tab> query <tab> value``; version 9 none for queries without documents."""
    silent = set(evaluation.missing) if version < 10 else set()
    lines: list[str] = []
    given = {entry.place[0] for entry in entries if entry.given}
    entries = [entry for entry in dict.fromkeys(entries) if entry.given or entry.place[0] not in given]
    entries.sort(key=lambda entry: entry.place)
    strings = {entry.name: evaluation.level_strings(entry.length) for entry in entries if entry.length and each}
    if each:
        columns = [(entry, None if entry.measure is None else evaluation.values[entry.measure.name].tolist())
                   for entry in entries if entry.name not in _MEAN_ONLY and entry.name != "runid"]
        for i, query in enumerate(evaluation.query_ids):
            if query in silent:
                continue
            for entry, values in columns:
                if values is None:
                    lines.append(f"{entry.name:<22}\t{query}\t'{strings[entry.name][i]}'\n")
                elif values[i] == values[i]:
                    lines.append(f"{entry.name:<22}\t{query}\t{_value(entry, values[i])}\n")
    for entry in entries:
        if entry.name == "runid":
            lines.append(f"{entry.name:<22}\tall\t{evaluation.name}\n")
        elif entry.measure is not None:
            lines.append(f"{entry.name:<22}\tall\t{_value(entry, evaluation.means[entry.measure.name])}\n")
    return "".join(lines)


def _value(entry: Entry, value: float) -> str:
    if entry.name in _WHOLE or (entry.measure is not None and entry.measure.record.mean == "sum"):
        return str(int(value))
    return f"{value:6.4f}"


def _json(names: list[str], evaluations: list[Evaluation], options: argparse.Namespace) -> str:
    import json

    found = []
    for name, one in zip(names, evaluations, strict=True):
        entry = {"run": name, **one.to_dict()}
        if not options.each:
            del entry["queries"]
        found.append(entry)
    return json.dumps({"runs": found}, indent=1) + "\n"


def _csv(names: list[str], evaluations: list[Evaluation], each: bool) -> str:
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["run", "query_id", *evaluations[0].means])
    for name, one in zip(names, evaluations, strict=True):
        if each:
            columns = [column.tolist() for column in one.values.values()]
            for query, *values in zip(one.query_ids, *columns, strict=True):
                writer.writerow([name, query, *("" if value != value else repr(value) for value in values)])
        writer.writerow([name, "all", *(repr(value) for value in one.means.values())])
    return out.getvalue()


def _table(names: list[str], evaluations: list[Evaluation], each: bool) -> str:
    from hitcurve.report.summary import Grid, aligned

    measures = list(evaluations[0].means)
    rows = [["run", *(["query"] if each else []), *measures]]
    for name, one in zip(names, evaluations, strict=True):
        if each:
            columns = [column.tolist() for column in one.values.values()]
            for query, *values in zip(one.query_ids, *columns, strict=True):
                rows.append([name, query, *map(_number, values)])
        rows.append([name, *(["all"] if each else []), *map(_number, one.means.values())])
    return aligned(Grid(rows, left=2 if each else 1))


def _number(value: float) -> str:
    if value != value:
        return "-"
    return str(int(value)) if value == int(value) and abs(value) > 1 else f"{value:.4f}"


def _counted(evaluation: Evaluation) -> str:
    return f"{_queries(evaluation.counts['queries'])}; equal scores: {evaluation.ties}\n"


def _compared(names: list[str], evaluations: list[Evaluation], options: argparse.Namespace) -> str:
    from hitcurve import compare

    results = dict(zip(names, evaluations, strict=True))
    baseline = None if options.baseline is None else names[options.runs.index(options.baseline)]
    # Seeded, so that the same call prints the same.
    return f"\n{compare(results, baseline=baseline, rng=0)}\n"


def _say_what_is_left_out(names: list[str], evaluations: list[Evaluation], options: argparse.Namespace) -> bool:
    """On standard error; whether anything was."""
    from hitcurve.cli.main import say

    left = False
    said = set()
    for name, one in zip(names, evaluations, strict=True):
        counts = one.counts
        lines = list(one.notes)
        left |= bool(one.notes)
        if counts["missing"]:
            how = "left out" if options.missing == "skip" else "counted as 0"
            lines.append(f"{name}: {_queries(counts['missing'])} of {options.qrels} missing: {how}")
            left |= options.missing == "skip"
        if counts["extra"]:
            lines.append(f"{name}: {_queries(counts['extra'])} without judgments: left out")
            left = True
        if counts["empty"]:
            how = "left out" if options.empty == "skip" else "counted as 0"
            lines.append(f"{options.qrels}: {_queries(counts['empty'])} without relevant documents: {how}")
            left |= options.empty == "skip"
        if options.ties == "docid":
            moved = {
                measure: band for measure, band in one.tie_report().items() if abs(band.best - band.worst) > _MOVED
            }
            if moved:
                shown = [f"{measure} {band.worst:.4f}..{band.best:.4f}" for measure, band in list(moved.items())[:3]]
                more = f" and {len(moved) - 3} more" if len(moved) > 3 else ""
                lines.append(f"{name}: equal scores leave open {', '.join(shown)}{more} (see --ties)")
        for line in lines:
            if line not in said:
                said.add(line)
                say(f"hitcurve: warning: {line}")
    return left


def _queries(count: int) -> str:
    return "1 query" if count == 1 else f"{count} queries"
