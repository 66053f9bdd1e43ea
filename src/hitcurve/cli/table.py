"""The command ``hitcurve table``."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from hitcurve._progress import Progress
from hitcurve.cli.common import command, count, measure, say
from hitcurve.measures import TIES

if TYPE_CHECKING:
    from hitcurve.report.summary import Report
    from hitcurve.sources.screen import Screen
    from hitcurve.statistics.comparison import Comparison

__all__ = ["add"]

_RESAMPLES = (1000, 9999)  # of items, of groups
_MOST_RESAMPLES = 1_000_000  # a number of each is kept in memory


def add(commands: Any) -> None:
    parser = command(
        commands,
        "table",
        _run,
        help="measure files with a row for each item",
        usage="hitcurve table FILE ... --label COL --score COL[:lower] [option ...]",
        description="FILE: CSV, TSV, Parquet, SMILES (.smi) or SDF, also .gz or .zst, a row for each item; - is CSV on "
        "stdin. COL: a column's name or number, from 1. M: see `hitcurve measures`.",
    )

    def option(name: str, metavar: str | None, text: str, **how: Any) -> None:
        how |= {"metavar": metavar} if metavar is not None else {"action": "store_true"}
        parser.add_argument(name, help=text, **how)

    parser.add_argument("files", metavar="FILE", nargs="+", help=argparse.SUPPRESS)
    option("--label", "COL", "labels, 1 or true = relevant")
    option("--actives", "FILE", "in place of labels: a list of the ids of the relevant items")
    option("--id", "COL", "ids, for --actives; repeated ones are reported")
    option("--score", "COL", "scores; COL:lower if low ones are better; may be repeated", required=True,
           action="append")  # fmt: skip
    option("--lower-is-better", None, "low scores rank first, unless COL:higher (default: high ones)")
    option("--group", "COL", "groups (targets, folds), each a ranking; adds the mean over them")
    option("--by-file", None, "each file is a group")
    option("--best-per", "COL", "of the rows with one id keep the best (the best pose of a compound)")
    nan = {"choices": ("raise", "worst", "omit"), "default": "raise"}
    option("--nan", "RULE", "missing scores: raise an error, worst (last), omit (default: raise)", **nan)
    several: dict[str, Any] = {"nargs": "+", "action": "extend"}
    option("-m", "M", "measures, such as AP@10 (default: a report of the usual ones)", dest="measures", type=measure,
           **several)  # fmt: skip
    option("--top", "N", "report hits and hit rate among the first N items", type=count, **several)
    option("--ties", "RULE", f"{', '.join(TIES)} (default: expected; report: all)", choices=TIES)
    option("--interval", None, "confidence intervals, of a mean over groups for other groups")
    option("--compare", None, "is one score better than another: differences with intervals")
    option("--level", "SHARE", "confidence level (default: 0.95)", type=_level, default=0.95)
    option("--resamples", "N", "of the bootstrap (default: 1000; over groups: 9999)", type=_resamples)
    option("--seed", "N", "of the bootstrap (default: 0)", type=_seed, default=0)
    option("--plot", "FILE", "draw the curves: .png, .svg or .pdf")
    option("--report", "FILE", "write one HTML page with all of it")
    forms = {"choices": ("table", "markdown", "latex", "csv", "json"), "default": "table"}
    text = "table (default), markdown, latex, json, csv (formulas are kept)"
    option("--format", "FORM", text, **forms)
    option("--mean-only", None, "no lines for single groups")
    option("--no-header", None, "the first line is data (default: column names)")
    option("--workers", "N", "threads (default: all cores)", type=count, default=-1)


def _resamples(text: str) -> int:
    number = count(text)
    if number > _MOST_RESAMPLES:
        raise argparse.ArgumentTypeError(f"{text} are too many: at most {_MOST_RESAMPLES:,}")
    return number


def _seed(text: str) -> int:
    return 0 if text == "0" else count(text)


def _level(text: str) -> float:
    try:
        level = float(text)
    except ValueError:
        level = 0.0
    if not 0 < level < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share between 0 and 1")
    return level


def _run(options: argparse.Namespace) -> str:
    from hitcurve.report.summary import report

    scores = _checked(options)
    grouped = options.group is not None or options.by_file
    drawn = {"n_resamples": options.resamples or _RESAMPLES[grouped], "rng": options.seed, "workers": options.workers}
    machine = options.format in ("csv", "json")
    with Progress() as progress:
        found, notes = _read(options, scores)
        made = report(
            found.scores,
            options.measures,
            title=f"{len(options.files)} files" if len(options.files) > 1 else _title(options.files[0]),
            ties=options.ties,
            each=not options.mean_only,
            list_sizes=options.top,
            page=options.report is not None,
            machine=machine,
            notes=notes,
            comparison=_comparison(options, found, drawn, progress) if options.compare else None,
            intervals={"confidence_level": options.level, **drawn} if options.interval else None,
            progress=progress,
        )
        _pictures(options, found, made, drawn, progress)
    for warning in made.warnings:
        say(f"hitcurve: warning: {warning}")
    if machine:
        return made.csv() if options.format == "csv" else made.json()
    return made.text(options.format)


def _title(path: str) -> str:
    return "standard input" if path == "-" else os.path.basename(path)


def _checked(options: argparse.Namespace) -> list[tuple[str, bool]]:
    """The score columns, and whether low scores are better. Wrong usage ends here."""
    for one in options.measures or ():
        try:
            one.reading(options.ties or "expected")
        except ValueError as error:
            options.usage_error(str(error))
    scores = []
    for text in options.score:
        column, _, direction = text.rpartition(":")
        if direction not in ("lower", "higher") or not column:
            column, direction = text, "lower" if options.lower_is_better else "higher"
        scores.append((column, direction == "lower"))
    for wrong, text in (
        (len(dict(scores)) < len(scores), "--score names a column twice"),
        ((options.label is None) == (options.actives is None), "one of --label and --actives is needed"),
        (
            options.actives is not None and options.id is None and options.best_per is None,
            "--actives needs --id, the column of the ids",
        ),
        (
            options.best_per is not None and options.id not in (None, options.best_per),
            "--best-per and --id name two columns: an item has one id",
        ),
        (options.group is not None and options.by_file, "--group and --by-file both make groups"),
        (options.files.count("-") > 1, "standard input can be read once"),
        (
            options.by_file and len(set(options.files)) < len(options.files),
            "--by-file makes a group of each file, and one is named twice",
        ),
        (options.compare and len(scores) < 2, "--compare needs two --score or more"),
        (options.compare and options.format in ("csv", "json"), "--compare is printed as a table"),
        (
            options.plot and not options.plot.lower().endswith((".png", ".svg", ".pdf")),
            f"--plot {options.plot}: the name must end in .png, .svg or .pdf",
        ),
    ):
        if wrong:
            options.usage_error(text)
    return scores


def _read(options: argparse.Namespace, scores: list[tuple[str, bool]]) -> tuple[Screen, list[str]]:
    """What was read, and what is odd about it, in sentences."""
    from hitcurve.sources.screen import read_screen
    from hitcurve.sources.tables import TableReader, read_ids

    ids = options.best_per if options.id is None else options.id
    path, actives = options.actives, None
    if path is not None:
        actives = read_ids(path, ids)
        if not actives:
            raise ValueError(f"{path}: there is no id in it")
    reader = TableReader(
        options.files,
        options.label,
        [column for column, _ in scores],
        options.group,
        ids=ids,
        actives=actives,
        by_file=options.by_file,
        nan_policy=options.nan,
        header=not options.no_header,
        workers=options.workers,
    )
    best = options.best_per is not None
    found = read_screen(reader, scores, best_per_id=best, keep=options.compare)
    missing = [one for one in actives or () if one not in reader.found]
    if not actives or not missing:
        return found, found.notes
    example = f"ids of {path} (such as {missing[0]!r})"
    if len(missing) == len(actives):
        raise ValueError(f"none of the {len(missing):,} {example} is in the table")
    left = f"{len(missing):,} of the {len(actives):,} {example} are not in the table and do not count"
    return found, [left, *found.notes]


def _comparison(
    options: argparse.Namespace, found: Screen, drawn: dict[str, Any], progress: Progress
) -> Comparison:
    import numpy as np

    from hitcurve.statistics.comparison import compare

    progress("comparing")
    arrays, group = found.arrays, None
    assert arrays is not None
    if arrays.group is not None:
        # Groups without a relevant item are left out of the means everywhere.
        kept = np.isin(arrays.group, arrays.group[arrays.label != 0])
        group = [found.group_names[code] for code in arrays.group[kept].tolist()]
        arrays = arrays._replace(label=arrays.label[kept], scores=[one[kept] for one in arrays.scores])
    default = None if group is not None else ["AP", "ROCAUC", "BEDROC(20)", "EF@1%"]
    return compare(
        arrays.label,
        {score.name: values for score, values in zip(found.scores, arrays.scores, strict=True)},
        measures=options.measures or default,
        groups=group,
        confidence_level=options.level,
        ties=options.ties or "expected",
        lower_is_better={score.name: score.lower_is_better for score in found.scores},
        nan_policy=options.nan,
        **drawn,
    )


def _pictures(
    options: argparse.Namespace, found: Screen, made: Report, drawn: dict[str, Any], progress: Progress
) -> None:
    if not (options.plot or options.report):
        return
    from warnings import catch_warnings, simplefilter

    from hitcurve._workers import check_workers
    from hitcurve.report import page

    progress("drawing")
    figures = page.figures(found.scores, **drawn | {"band": made.level, "workers": check_workers(options.workers)})
    if options.plot:
        if not figures:
            raise ValueError(f"{options.plot}: there is no relevant item, and nothing to draw")
        if len(figures) > 1:
            raise ValueError(f"{options.plot}: groups are drawn for one score; --report has a picture for each")
        with catch_warnings(record=True) as caught:
            simplefilter("always")
            figures[0].savefig(options.plot, **page.SAVED)
        if any("missing from" in str(one.message) for one in caught):
            lacking = "matplotlib's font lacks letters of the names, which are drawn as boxes"
            made.warnings.append(f"{options.plot}: {lacking}")
    if options.report:
        files = options.files if options.actives is None else [*options.files, options.actives]
        text = page.page(
            made, num_rows=found.num_rows, files=files, command=options.command, figures=figures, progress=progress
        )
        try:
            # Names of files may hold bytes that are no text.
            with open(options.report, "wb") as file:
                file.write(text.encode("utf-8", "backslashreplace"))
        except OSError as error:  # a full device is not named
            raise OSError(error.errno, error.strerror, options.report) from None
