"""The command ``hitcurve``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from hitcurve.measures import MEASURES, TIES, Definition, Measure, parse

__all__ = ["main"]

_WIDTH = 88
_BROKEN_PIPE = 141  # what a shell reports for any program whose reader went away


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with the arguments `argv` (default: those of the process).

    Returns
    -------
    int
        0: done. 1: the data cannot be read or measured; one line on standard error says why. 2: wrong usage.
    """
    try:
        options = _parser().parse_args(argv)
        sys.stdout.write(options.run(options))
        sys.stdout.flush()
    except SystemExit as stop:  # argparse, which has said why
        return stop.code if isinstance(stop.code, int) else 2
    except BrokenPipeError:
        # Python would complain again when it flushes standard output at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except OSError as error:
        place = f"{error.filename}: " if error.filename is not None else ""
        return _failed(f"{place}{error.strerror or error}")
    except (ValueError, TypeError, ImportError) as error:
        return _failed(str(error))
    return 0


def _failed(problem: str) -> int:
    print(f"hitcurve: error: {' '.join(problem.split())}", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    from hitcurve import __version__

    parser = argparse.ArgumentParser(
        prog="hitcurve",
        description="Measure rankings: average precision and all that reads off the same curve, ties included.",
    )
    parser.add_argument("--version", action="version", version=f"hitcurve {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_table(commands)
    _add_trec(commands)
    _add_measures(commands)
    return parser


def _add_table(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "table",
        help="measure a CSV, TSV or Parquet file with a row for each item",
        usage="hitcurve table FILE --label COL --score COL [option ...]",
        description="Measure a file with a row for each item: its label and its score.",
        epilog="COL is a column's name or number, from 1. `hitcurve measures` lists the measures.",
        formatter_class=lambda prog: argparse.HelpFormatter(prog, max_help_position=22, width=_WIDTH),
    )
    parser.add_argument("file", metavar="FILE", help=".csv, .tsv, .parquet, also with .gz or .zst; - is CSV on stdin")
    parser.add_argument("--label", metavar="COL", required=True, help="labels, 1 or true = relevant (required)")
    parser.add_argument("--score", metavar="COL", required=True, help="scores (required)")
    parser.add_argument("--group", metavar="COL", help="groups, each a ranking of its own (default: none)")
    parser.add_argument("--lower-is-better", action="store_true", help="low scores rank first (default: high ones)")
    parser.add_argument(
        "-m",
        dest="measures",
        metavar="MEASURE",
        type=_measure,
        nargs="+",
        action="extend",
        help="such as AP@10 (default: a report of the usual ones)",
    )
    parser.add_argument(
        "--ties",
        choices=TIES,
        metavar="RULE",
        help=f"{', '.join(TIES)} (default: expected; in the report all)",
    )
    parser.add_argument(
        "--nan",
        choices=("raise", "worst", "omit"),
        default="raise",
        metavar="RULE",
        help="missing scores: raise an error, worst (last), omit (default: raise)",
    )
    parser.add_argument(
        "--format",
        choices=("table", "csv", "json"),
        default="table",
        metavar="FORM",
        help="table, csv or json (default: table)",
    )
    parser.add_argument("--mean-only", action="store_true", help="no lines for single groups (default: one each)")
    parser.add_argument("--no-header", action="store_true", help="the first line is data (default: column names)")
    parser.set_defaults(run=_table, usage_error=parser.error)


def _measure(text: str) -> Measure:
    try:
        return parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _table(options: argparse.Namespace) -> str:
    import hitcurve
    from hitcurve import report
    from hitcurve.tables import read_columns

    for measure in options.measures or ():
        try:
            measure.reading(options.ties or "expected")
        except ValueError as error:
            options.usage_error(str(error))
    found = read_columns(
        options.file,
        options.label,
        options.score,
        options.group,
        nan_policy=options.nan,
        header=not options.no_header,
    )
    names = None
    curves: hitcurve.HitCurve | hitcurve.HitCurves
    if found.group is None:
        curves = hitcurve.HitCurve(
            found.label, found.score, lower_is_better=options.lower_is_better, nan_policy=options.nan
        )
    else:
        many = hitcurve.HitCurves(
            found.label,
            found.score,
            qid=found.group,
            lower_is_better=options.lower_is_better,
            nan_policy=options.nan,
        )
        curves = many
        assert many.qid is not None
        names = [found.group_names[code] for code in many.qid.tolist()]
    each = not options.mean_only
    if options.measures is None and options.format == "table":
        title = "standard input" if options.file == "-" else os.path.basename(options.file)
        return report.report(curves, title=title, names=names, ties=options.ties, each=each)
    return report.measured(
        curves,
        options.measures or report.reported(options.ties),
        ties=options.ties or "expected",
        names=names,
        form=options.format,
        each=each,
    )


def _add_trec(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from hitcurve import cli_trec

    parser = commands.add_parser(
        "trec",
        help="measure TREC runs against judgments, and compare them",
        usage="hitcurve trec QRELS RUN... [option ...]",
        description="Measure runs against relevance judgments, as trec_eval does.",
        epilog="Exit status: 0, or 3 if anything was left out (standard error says what), 1 on an error.",
        formatter_class=lambda prog: argparse.HelpFormatter(prog, max_help_position=22, width=_WIDTH),
    )
    cli_trec.arguments(parser)


def _add_measures(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "measures",
        help="list the measures, or say more about some",
        description="List the measures; for those named: definition, source, and how to write them.",
    )
    parser.add_argument("names", metavar="MEASURE", nargs="*", type=_record, help="such as AP or P@10 (default: all)")
    parser.set_defaults(run=_measures)


def _record(text: str) -> Definition:
    named = [record for record in MEASURES if record.name == text]
    return named[0] if named else _measure(text).record


def _measures(options: argparse.Namespace) -> str:
    from textwrap import fill

    if options.names:
        details = []
        for record in dict.fromkeys(options.names):
            lines = [
                f"{record.name}",
                f"definition: {record.definition}",
                f"written as: {', '.join(record.forms)}",
                f"trec_eval: {', '.join(record.synonyms) or 'has no such measure'}",
                f"ties: {', '.join(record.ties) or 'make no difference'}",
                f"source: {record.source}",
            ]
            details.append("\n".join(fill(line, _WIDTH, subsequent_indent="  ") for line in lines) + "\n")
        return "\n".join(details)
    lines = [
        fill(record.definition, _WIDTH, initial_indent=f"{record.forms[0]:<12}", subsequent_indent=" " * 12)
        for record in MEASURES
    ]
    lines.append("")
    lines.append("@10: the first k = 10 items. @1%: the first 1 %. N: items, R: relevant items,")
    lines.append("h(k): relevant items among the first k. Ties: expected unless said, AP(ties=worst).")
    lines.append("`hitcurve measures AP` says more about one measure.")
    return "\n".join(lines) + "\n"
