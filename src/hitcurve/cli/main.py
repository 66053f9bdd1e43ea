"""The command ``hitcurve``."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import sys
from collections.abc import Sequence
from typing import Any

from hitcurve._progress import Progress
from hitcurve.measures import MEASURES, TIES, Definition, Measure, parse

__all__ = ["main", "say"]

_WIDTH = 88
_RESAMPLES = (1000, 9999)  # of items, of groups
_MOST_RESAMPLES = 1_000_000  # a number of each is kept in memory
# What stands for the library's arguments, which its errors name.
_OPTIONS = {"nan_policy": "--nan", "header": "--no-header", "strict": "--lenient", "ties": "--ties", "depth": "-M",
            "missing": "--missing", "empty": "--empty"}  # fmt: skip
_ARGUMENT = re.compile(rf"\b({'|'.join(_OPTIONS)})=(?:'(\w+)'|(\d+)\b|False\b)")
_BROKEN_PIPE = 141  # what a shell reports for any program whose reader went away
_INTERRUPTED = 130  # and for one that was stopped by Ctrl-C


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with the arguments `argv` (default: those of the process).

    Returns
    -------
    int
        0: done. 1: the data cannot be read or measured; one line on standard error says why. 2: wrong usage.
    """
    status = _status(argv)
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            # Python would complain again when it flushes the stream at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return status


def _status(argv: Sequence[str] | None) -> int:
    try:
        _streams()
        status = 0
        try:
            options = _parser().parse_args(argv)
            options.command = ["hitcurve", *(sys.argv[1:] if argv is None else argv)]
            sys.stdout.write(options.run(options))
        except SystemExit as stop:  # argparse, which has said why
            status = stop.code if isinstance(stop.code, int) else 2
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        return _BROKEN_PIPE
    except OSError as error:
        place = f"{error.filename}: " if error.filename is not None else ""
        return _failed(f"{place}{error.strerror or error}")
    except (ValueError, TypeError, ImportError) as error:
        return _failed(str(error))
    except KeyboardInterrupt:
        return _INTERRUPTED


def _streams() -> None:
    """Standard streams that the caller closed, and text that their encoding lacks, are no reason to break off late."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (to the end of the process)
    if sys.stdout is None:
        raise ValueError("standard output is closed")
    encoding = str(sys.stdout.encoding).lower().replace("-", "")
    if isinstance(sys.stdout, io.TextIOWrapper) and (sys.stdout.errors == "strict" or encoding != "utf8"):
        # As standard error does. UTF-8 lacks nothing but the odd bytes of file names, which it may hand on.
        sys.stdout.reconfigure(errors="backslashreplace")


def _failed(problem: str) -> int:
    problem = _ARGUMENT.sub(lambda said: " ".join(filter(None, (_OPTIONS[said[1]], said[2], said[3]))), problem)
    say(f"hitcurve: error: {' '.join(problem.split())}")
    return 1


def say(line: str) -> None:
    """On standard error; a full device or a reader that went away must not cost the numbers."""
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr)


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
        help="measure files with a row for each item",
        usage="hitcurve table FILE ... --label COL --score COL[:lower] [option ...]",
        description="FILE: CSV, TSV, Parquet, SMILES (.smi) or SDF, also .gz or .zst, a row for each item; - is CSV on "
        "stdin. COL: a column's name or number, from 1. M: see `hitcurve measures`.",
        formatter_class=lambda prog: argparse.HelpFormatter(prog, max_help_position=22, width=_WIDTH),
    )

    def add(name: str, metavar: str | None, text: str, **options: Any) -> None:
        if metavar is not None:
            options["metavar"] = metavar
        parser.add_argument(name, help=text, **options)

    flag: dict[str, Any] = {"action": "store_true"}
    parser.add_argument("files", metavar="FILE", nargs="+", help=argparse.SUPPRESS)
    add("--label", "COL", "labels, 1 or true = relevant")
    add("--actives", "FILE", "in place of labels: a list of the ids of the relevant items")
    add("--id", "COL", "ids, for --actives; repeated ones are reported")
    add("--score", "COL", "scores; COL:lower if low ones are better; may be repeated", action="append", required=True)
    add("--lower-is-better", None, "low scores rank first, unless COL:higher (default: high ones)", **flag)
    add("--group", "COL", "groups (targets, folds), each a ranking; adds the mean over them")
    add("--by-file", None, "each file is a group", **flag)
    add("--best-per", "COL", "of the rows with one id keep the best (the best pose of a compound)")
    nan = {"choices": ("raise", "worst", "omit"), "default": "raise"}
    add("--nan", "RULE", "missing scores: raise an error, worst (last), omit (default: raise)", **nan)
    add("-m", "M", "measures, such as AP@10 (default: a report of the usual ones)", dest="measures", type=_measure,
        nargs="+", action="extend")  # fmt: skip
    add("--top", "N", "report hits and hit rate among the first N items", type=_count, nargs="+", action="extend")
    add("--ties", "RULE", f"{', '.join(TIES)} (default: expected; report: all)", choices=TIES)
    add("--interval", None, "confidence intervals, of a mean over groups for other groups", **flag)
    add("--compare", None, "is one score better than another: differences with intervals", **flag)
    add("--level", "SHARE", "confidence level (default: 0.95)", type=_level, default=0.95)
    add("--resamples", "N", "of the bootstrap (default: 1000; over groups: 9999)", type=_resamples)
    add("--seed", "N", "of the bootstrap (default: 0)", type=_seed, default=0)
    add("--plot", "FILE", "draw the curves: .png, .svg or .pdf")
    add("--report", "FILE", "write one HTML page with all of it")
    forms = {"choices": ("table", "csv", "json"), "default": "table"}
    add("--format", "FORM", "table, csv (names are kept, formulas too), json (default: table)", **forms)
    add("--mean-only", None, "no lines for single groups", **flag)
    add("--no-header", None, "the first line is data (default: column names)", **flag)
    add("--workers", "N", "threads (default: all cores)", type=_count, default=-1)
    parser.set_defaults(run=_table, usage_error=parser.error)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 up")
    return int(text)


def _resamples(text: str) -> int:
    number = _count(text)
    if number > _MOST_RESAMPLES:
        raise argparse.ArgumentTypeError(f"{text} are too many: at most {_MOST_RESAMPLES:,}")
    return number


def _seed(text: str) -> int:
    return 0 if text == "0" else _count(text)


def _level(text: str) -> float:
    try:
        level = float(text)
    except ValueError:
        level = 0.0
    if not 0 < level < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share between 0 and 1")
    return level


def _measure(text: str) -> Measure:
    try:
        return parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _table(options: argparse.Namespace) -> str:
    from hitcurve.report import summary as report
    from hitcurve.sources import screen
    from hitcurve.statistics import intervals as resample

    scores = _checked(options)
    options.resamples = options.resamples or _RESAMPLES[options.group is not None or options.by_file]
    with Progress() as progress:
        reader, actives = _reader(options, scores)
        found = screen.read_screen(
            reader,
            [(name, lower) for name, _, lower in scores],
            best_per_id=options.best_per is not None,
            keep=options.compare,
        )
        warnings = [*_missing_actives(reader, actives, options.actives), *found.notes]
        ties, level, each = options.ties or "expected", options.level, not options.mean_only
        sizes = None if options.top is None else tuple(dict.fromkeys(options.top))

        def intervals_of(score: screen.ScreenedScore, measures: list[Measure]) -> Any:
            progress(f"intervals for {score.name}")
            return resample.interval_ends(
                score.curves,
                measures,
                ties=ties,
                confidence_level=level,
                n_resamples=options.resamples,
                rng=options.seed,
                workers=options.workers,
            )

        intervals: list[Any] = [None] * len(found.scores)
        for at, score in enumerate(found.scores):
            asked = options.measures or _report_measures(score.curves, sizes)
            warnings += screen.warnings_of(score, asked)
            if options.interval:
                intervals[at] = intervals_of(score, _measures_of(options, score.curves, sizes))
        comparison = _comparison(options, found, progress) if options.compare else None
        if options.plot or options.report:
            in_page: list[Any] | None = None
            if options.report and options.interval:
                in_page = intervals
                if options.measures is not None or options.format != "table":
                    in_page = [intervals_of(one, _report_measures(one.curves, sizes)) for one in found.scores]
            _pictures(options, found, warnings, in_page, sizes, comparison, progress)
    for warning in warnings:
        say(f"hitcurve: warning: {warning}")
    if options.measures is None and options.format == "table":
        return _report(options, found, intervals, sizes, comparison)
    several = len(found.scores) > 1
    entries = [
        report.Entry(
            score.name if several else None,
            report.values(score.curves, _measures_of(options, score.curves, sizes), ties, score.names),
            ends,
        )
        for score, ends in zip(found.scores, intervals, strict=True)
    ]
    text = report.measured_scores(entries, ties, options.format, each)
    return text if comparison is None or options.format != "table" else f"{text}\n{comparison}\n"


def _checked(options: argparse.Namespace) -> list[tuple[str, str, bool]]:
    """The score columns: what they are called, the column, whether low is better. Wrong usage ends here."""
    for measure in options.measures or ():
        try:
            measure.reading(options.ties or "expected")
        except ValueError as error:
            options.usage_error(str(error))
    scores = []
    for text in options.score:
        column, _, direction = text.rpartition(":")
        if direction not in ("lower", "higher") or not column:
            column, direction = text, "lower" if options.lower_is_better else "higher"
        scores.append((column, column, direction == "lower"))
    wrong = None
    if len({name for name, _, _ in scores}) < len(scores):
        wrong = "--score names a column twice"
    elif (options.label is None) == (options.actives is None):
        wrong = "one of --label and --actives is needed"
    elif options.actives is not None and options.id is None and options.best_per is None:
        wrong = "--actives needs --id, the column of the ids"
    elif options.best_per is not None and options.id not in (None, options.best_per):
        wrong = "--best-per and --id name two columns: an item has one id"
    elif options.group is not None and options.by_file:
        wrong = "--group and --by-file both make groups"
    elif options.files.count("-") > 1:
        wrong = "standard input can be read once"
    elif options.by_file and len(set(options.files)) < len(options.files):
        wrong = "--by-file makes a group of each file, and one is named twice"
    elif options.compare and len(scores) < 2:
        wrong = "--compare needs two --score or more"
    elif options.compare and options.format != "table":
        wrong = "--compare is printed as a table"
    elif options.plot and os.path.splitext(options.plot)[1].lower() not in (".png", ".svg", ".pdf"):
        wrong = f"--plot {options.plot}: the name must end in .png, .svg or .pdf"
    if wrong:
        options.usage_error(wrong)
    return scores


def _reader(options: argparse.Namespace, scores: list[tuple[str, str, bool]]) -> tuple[Any, list[str] | None]:
    """The reader of the files, and the ids of the list of actives."""
    from hitcurve.sources.tables import TableReader, read_ids

    ids = options.best_per if options.id is None else options.id
    actives = None
    if options.actives is not None:
        actives = read_ids(options.actives, ids)
        if not actives:
            raise ValueError(f"{options.actives}: there is no id in it")
    reader = TableReader(
        options.files,
        options.label,
        [column for _, column, _ in scores],
        options.group,
        ids=ids,
        actives=actives,
        by_file=options.by_file,
        nan_policy=options.nan,
        header=not options.no_header,
        workers=options.workers,
    )
    return reader, actives


def _missing_actives(reader: Any, actives: list[str] | None, path: str) -> list[str]:
    """Which ids of the list are in no row, in a sentence; an error if none is."""
    missing = [one for one in actives or () if one not in reader.found]
    if not missing:
        return []
    assert actives is not None
    if len(missing) == len(actives):
        raise ValueError(f"none of the {len(missing):,} ids of {path} (such as {missing[0]!r}) is in the table")
    return [
        f"{len(missing):,} of the {len(actives):,} ids of {path} (such as {missing[0]!r}) are not in the table and do "
        "not count"
    ]


def _measures_of(options: argparse.Namespace, curves: Any, sizes: tuple[int, ...] | None) -> list[Measure]:
    """The measures asked for; of the report those of its table, in a machine's form under every reading of ties."""
    from hitcurve.report import summary as report

    if options.measures is not None:
        return list(options.measures)
    if options.format == "table":
        return _report_measures(curves, sizes)
    return report.reported(options.ties, report.sizes_of(curves, sizes))


def _report_measures(curves: Any, sizes: tuple[int, ...] | None) -> list[Measure]:
    from hitcurve.report import summary as report

    return [parse(name) for block in report.report_names(report.sizes_of(curves, sizes)) for name in block]


def _report(
    options: argparse.Namespace, found: Any, intervals: list[Any], sizes: tuple[int, ...] | None, comparison: Any
) -> str:
    from hitcurve.report import summary as report

    text = ""
    several = len(found.scores) > 1
    for score, ends in zip(found.scores, intervals, strict=True):
        title = _title(options)
        if several:
            title += f", {score.name} ({'lower' if score.lower_is_better else 'higher'} is better)"
        text += report.report(
            score.curves,
            title=title,
            names=score.names,
            ties=options.ties,
            each=not options.mean_only,
            list_sizes=sizes,
            intervals=ends,
            legend=score is found.scores[-1],
        )
        text += "\n" if several else ""
    if several:
        grid = report.summary([(score.name, score.curves, score.names) for score in found.scores])
        text += report.aligned(grid)
    if options.interval:
        text += f"Intervals: {100 * options.level:g} %, {report.METHODS[found.scores[0].names is not None]}\n"
    return text if comparison is None else f"{text}\n{comparison}\n"


def _title(options: argparse.Namespace) -> str:
    if len(options.files) > 1:
        return f"{len(options.files)} files"
    return "standard input" if options.files[0] == "-" else os.path.basename(options.files[0])


def _comparison(options: argparse.Namespace, found: Any, progress: Any) -> Any:
    import numpy as np

    import hitcurve

    progress("comparing")
    arrays, group = found.arrays, None
    if arrays.group is not None:
        # Groups without a relevant item are left out of the means everywhere.
        kept = np.isin(arrays.group, arrays.group[arrays.label != 0])
        arrays = arrays._replace(label=arrays.label[kept], scores=[one[kept] for one in arrays.scores])
        group = [found.group_names[code] for code in found.arrays.group[kept].tolist()]
    default = None if group is not None else ["AP", "ROCAUC", "BEDROC(20)", "EF@1%"]
    return hitcurve.compare(
        arrays.label,
        {score.name: values for score, values in zip(found.scores, arrays.scores, strict=True)},
        measures=options.measures or default,
        groups=group,
        confidence_level=options.level,
        n_resamples=options.resamples,
        ties=options.ties or "expected",
        lower_is_better={score.name: score.lower_is_better for score in found.scores},
        nan_policy=options.nan,
        rng=options.seed,
        workers=options.workers,
    )


def _pictures(
    options: argparse.Namespace,
    found: Any,
    warnings: list[str],
    intervals: list[Any] | None,
    sizes: tuple[int, ...] | None,
    comparison: Any,
    progress: Any,
) -> None:
    from warnings import catch_warnings, simplefilter

    from hitcurve._workers import check_workers
    from hitcurve.report import page

    drawing = {
        "band": options.level if options.interval else None,
        "n_resamples": options.resamples,
        "rng": options.seed,
        "workers": check_workers(options.workers),
    }
    if options.plot:
        progress("drawing")
        figures = page.figures(found, **drawing)
        if not figures:
            raise ValueError(f"{options.plot}: there is no relevant item, and nothing to draw")
        if len(figures) > 1:
            raise ValueError(f"{options.plot}: groups are drawn for one score; --report has a picture for each")
        with catch_warnings(record=True) as caught:
            simplefilter("always")
            figures[0][1].savefig(options.plot, **page.SAVED)
        if any("missing from" in str(one.message) for one in caught):
            warnings.append(f"{options.plot}: matplotlib's font lacks letters of the names, which are drawn as boxes")
    if options.report:
        text = page.page(
            found,
            files=options.files if options.actives is None else [*options.files, options.actives],
            command=options.command,
            warnings=warnings,
            intervals=intervals,
            ties=options.ties,
            level=options.level,
            list_sizes=sizes,
            comparison=comparison,
            figures=page.figures(found, **drawing),
            progress=progress,
        )
        # Names of files may hold bytes that are no text.
        encoded = text.encode("utf-8", "backslashreplace")
        try:
            with open(options.report, "wb") as file:
                file.write(encoded)
        except OSError as error:  # a full device is not named
            raise OSError(error.errno, error.strerror, options.report) from None


def _add_trec(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from hitcurve.cli import trec as cli_trec

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
