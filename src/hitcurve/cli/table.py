"""The command ``hitcurve table``."""

from __future__ import annotations

import argparse
import math
import os
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hitcurve._base.extras import needed
from hitcurve._base.words import singular
from hitcurve.cli.common import (
    PICTURES,
    Option,
    beside,
    command,
    count,
    few_resamples,
    measure,
    no_output,
    no_picture,
    pictures_lack,
    refuse,
    resamples,
    save_picture,
    seed,
    warn,
    write_page,
)
from hitcurve.measures import TIES, Measure, parse
from hitcurve.shown.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hitcurve.report.rows import Report, View
    from hitcurve.report.usual import Usual
    from hitcurve.sources.cells import Actives, Layout
    from hitcurve.sources.library import Library
    from hitcurve.sources.screen import Screen
    from hitcurve.statistics.comparison import Comparison

__all__ = ["add"]

_RESAMPLES = (1000, 9999)  # defaults: of the items, of the groups


def _level(text: str) -> float:
    try:
        level = float(text)
    except ValueError:
        level = 0.0
    if not 0 < level < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share between 0 and 1")
    return level


def _delimiter(text: str) -> str:
    return {"tab": "\t", "\\t": "\t"}.get(text, text)


_MANY: dict[str, Any] = {"nargs": "+", "action": "extend"}
_FORMS = ("table", "markdown", "latex", "csv", "json")
_OPTIONS: tuple[Option, ...] = (
    ("files", "FILE", argparse.SUPPRESS, {"nargs": "+"}),
    ("--label", "COL", "column of labels: 1 or true is relevant, 0 or false is not", {}),
    ("--positive", "WORD", "the label of relevant rows, if labels are words", {}),
    ("--grade", "COL", "column of relevance levels or gains, from 0 up, instead of --label", {}),
    ("--actives", "FILE", "file with the ids of the relevant items, instead of --label", {}),
    ("--id", "COL", "column of ids: --actives needs it; repeated ids are reported", {}),
    ("--library", "FILE", "ids of all docked compounds, or N: rank those without a row last",
     {"action": "append"}),
    ("--num-actives", "N", "number of actives in the library, if it has no labels", {"type": count}),
    ("--score", "COL", "column of scores; COL:lower if low scores are better; repeatable",
     {"required": True, "action": "append"}),
    ("--lower-is-better", None, "low scores are better, except in columns given as COL:higher", {}),
    ("--group", "COL", "column of groups, such as targets: rank each group, print the mean", {}),
    ("--by-file", None, "make each file a group", {}),
    ("--mean-only", None, "print the mean over the groups, without a line for each group", {}),
    ("--best-per", "COL", "keep the best row of each id in COL (the best pose of a ligand)", {}),
    ("--nan", "RULE", "missing scores: raise (default: error), worst (rank last), omit",
     {"choices": ("raise", "worst", "omit"), "default": "raise"}),
    ("--na", "TEXT", "treat TEXT as a missing score, like NA or an empty cell; repeatable", {"action": "append"}),
    ("-m", "M", "print these measures (default: AP ROCAUC BEDROC(20) EF@1%%)",
     {"dest": "measures", "type": measure, **_MANY}),
    ("--all", None, "print all usual measures under each --ties rule, as csv and json do", {}),
    ("--top", "N", "print how many of the first N items are relevant, and their share", {"type": count, **_MANY}),
    ("--ties", "RULE", f"equal scores: {', '.join(TIES)} (default: expected)", {"choices": TIES}),
    ("--interval", None, "print confidence intervals of all measures", {}),
    ("--compare", None, "compare the score columns: differences, intervals and p-values", {}),
    ("--level", "SHARE", "confidence level of the intervals (default: 0.95)", {"type": _level, "default": 0.95}),
    ("--resamples", "N", "number of resamples (default: 1000; groups: 9999; many pairs: more)", {"type": resamples}),
    ("--seed", "N", "seed of the bootstrap (default: 0)", {"type": seed, "default": 0}),
    ("--plot", "FILE", f"save a picture of the curves, or of the groups: {PICTURES}", {}),
    ("--report", "FILE", "write an HTML page with all results", {}),
    ("--format", "FORM", "table (default), markdown, latex, json, csv (names can be formulas)",
     {"choices": _FORMS, "default": "table"}),
    ("--delimiter", "C", "character between the cells of CSV (default: detected)", {"type": _delimiter}),
    ("--decimal", "C", "the decimal mark in CSV: . or , (default: detected)", {"choices": (".", ",")}),
    ("--no-header", None, "the first line is data (default: the first line names the columns)", {}),
    ("--workers", "N", "number of threads (default: all cores)", {"type": count, "default": -1}),
)  # fmt: skip

_EXAMPLES = """
examples:
  hitcurve table screen.csv --label active --score docking:lower
  hitcurve table a.sdf.gz --actives ids.txt --best-per _Name --score s:lower
  hitcurve table a.parquet --label y --score p --group target --report a.html

`hitcurve measures` lists the measures for -m.
"""


def add(commands: Any) -> None:
    usage = "hitcurve table FILE ... --label COL --score COL[:lower] [option ...]"
    about = "FILE: CSV TSV Parquet xlsx smi SDF; also gz xz bz2 zst. - is CSV. COL: name or number."
    text = "measure files with a row for each item"
    command(commands, "table", _run, _OPTIONS, help=text, usage=usage, description=about, epilog=_EXAMPLES)


def _run(options: argparse.Namespace) -> str:
    from hitcurve.report.rows import Report

    scores, files = _checked(options), options.files
    title = "standard input" if files == ["-"] else os.path.basename(files[0])
    title = f"{len(files)} files" if len(files) > 1 else title
    grouped = options.group is not None or options.by_file
    with Progress() as progress:
        found, notes = _read(options, scores)
        number = _number_of_resamples(options, found, grouped)
        drawn = {"n_resamples": number, "rng": options.seed, "workers": options.workers}
        comparison = None
        if options.compare:
            progress("comparing")
            comparison = _comparison(options, found, drawn)
            notes = [*notes, *few_resamples(comparison)]
        view, page = _views(options, found)
        made = Report(
            found.scores, view, page, title=title, ties=options.ties, each=not options.mean_only, notes=notes,
            quick=not options.interval, progress=progress,
            comparison=comparison, intervals={"confidence_level": options.level, **drawn},
            n_of_each=options.resamples or _RESAMPLES[False],
        )  # fmt: skip
        _pictures(options, found, made, page, drawn, progress)
    warn(made.warnings)
    return made.text(options.format)


def _views(options: argparse.Namespace, found: Screen) -> tuple[View, Usual | None]:
    """The view that is printed, and the additional view of a page."""
    from hitcurve.report.first import GRADED, First
    from hitcurve.report.named import Named
    from hitcurve.report.usual import Usual

    machine, graded = options.format in ("csv", "json"), options.grade is not None
    named: list[Measure] | None = options.measures or ([parse(name) for name in GRADED] if graded else None)

    def usual() -> Usual:
        return Usual(found.scores, options.ties, options.top, named if graded else None, named)

    page = usual() if options.report else None
    if options.measures or machine:
        return Named(named or (page or usual()).every), page
    if options.all and not graded:
        return page or usual(), page
    return First(graded, options.ties, options.top, whole=options.all), page


def _number_of_resamples(options: argparse.Namespace, found: Screen, grouped: bool) -> int:
    """For the intervals. A comparison over items draws the same number, so that both tables have the same interval."""
    given: int | None = options.resamples
    if given is None and options.compare and not grouped:
        from hitcurve.statistics.comparison import enough

        assert found.arrays is not None
        systems = len(found.scores)
        size = systems * found.arrays.label.shape[0]
        return enough(math.comb(systems, 2), options.level, _RESAMPLES[grouped], size)
    return given or _RESAMPLES[grouped]


def _checked(options: argparse.Namespace) -> list[tuple[str, bool]]:
    """The score columns, and whether low scores are better. Exits on wrong usage."""
    graded, ties = options.grade is not None, options.ties or "expected"
    for one in options.measures or ():
        problem = _no_reading(one, ties, graded)
        if problem and not graded and not _no_reading(one, ties, True):
            problem = f"{one.name} needs levels of relevance: --grade COL in place of --label"
        if problem:
            options.usage_error(problem)
    scores = []
    for text in options.score:
        column, _, direction = text.rpartition(":")
        if direction not in ("lower", "higher") or not column:
            column, direction = text, "lower" if options.lower_is_better else "higher"
        scores.append((column, direction == "lower"))
    labels, grade, ids, plot = options.label, options.grade, options.id, options.plot
    actives, best, files = options.actives, options.best_per, options.files
    twice = options.by_file and len(set(files)) < len(files)
    joined = [text for text in options.score if ":lower," in text or ":higher," in text]
    refuse(options, (
        (joined, f"--score {', '.join(joined)}: write --score once for each column"),
        (len(dict(scores)) < len(scores), "--score names a column twice: name each column once"),
        (labels is actives is grade is None,
         "--label, --actives or --grade is needed: it says which items are relevant"),
        ((labels, grade, actives).count(None) != 2,
         "--label, --grade and --actives exclude each other: use one of them"),
        (grade and options.top, "--top counts relevant items: with --grade, name measures with a cutoff: -m nDCG@10"),
        (grade and not options.measures and options.ties == "threshold",
         "--ties threshold is not defined for nDCG: use expected, best or worst, or name other measures with -m"),
        (options.measures and options.all, "--all and -m both choose the measures: use one of them"),
        (options.measures and options.top and not options.report,
         "--top adds to the usual measures: with -m, name Hits@N and P@N instead"),
        (options.positive is not None and labels is None, "--positive needs --label, a column of words"),
        *_no_library(options),
        (actives is not None and ids is None and best is None, "--actives needs --id, the column of the ids"),
        (best is not None and ids not in (None, best),
         "--best-per and --id name two columns of ids: name the same column"),
        (options.group is not None and options.by_file, "--group and --by-file both make groups: use one of them"),
        (files.count("-") > 1, "standard input can be read only once: name - once"),
        (twice, "--by-file makes each file a group: name each file once"),
        (options.compare and len(scores) < 2, "--compare needs two scores: name another column with --score"),
        no_picture(plot),
        *no_output(options, [*files, *(options.library or ()), *([] if actives is None else [actives])]),
    ))  # fmt: skip
    return scores


def _no_library(options: argparse.Namespace) -> Sequence[tuple[object, str]]:
    """Problems for `refuse`: options that a library does not go with."""
    given, number = options.library or [], _is_number(options.library)
    named = options.id is not None or options.best_per is not None
    grouped = options.group is not None or options.by_file
    actives = options.num_actives
    return (
        (actives is not None and not given, "--num-actives needs --library: the compounds that were docked"),
        (given and options.nan == "omit",
         "--library ranks compounds without a row last, so compounds without a score must rank last too: --nan worst"),
        (len(given) > 1 and any(map(str.isdigit, given)), "--library is a number or files: give one number, or files"),
        (given and not number and not named, "--library FILE needs --id, the column of the ids (or --best-per)"),
        (number and actives is None and options.actives is None,
         "--library N needs --num-actives: the number of actives among these compounds"),
        (number and grouped, "--library N is one number, but each group has a library of its own: give a file with the "
         "ids and the column of --group"),
        (actives is not None and grouped,
         "--num-actives is one number, but each group has actives of its own: give a file with labels"),
        (given and options.grade and (number or actives is not None),
         "--grade needs the levels of the library: give a file of ids with that column"),
    )  # fmt: skip


def _is_number(library: Sequence[str] | None) -> bool:
    return library is not None and len(library) == 1 and library[0].isdigit()


def _no_reading(one: Measure, ties: str, levels: bool) -> str:
    """The error if the measure is not defined for this rule of ties. Empty if it is defined."""
    try:
        one.reading(ties, levels=levels)
    except ValueError as error:
        return str(error)
    return ""


def _read(options: argparse.Namespace, scores: list[tuple[str, bool]]) -> tuple[Screen, list[str]]:
    """The table that was read, and warnings about it."""
    from hitcurve.sources.cells import Layout
    from hitcurve.sources.library import actives_of, lacks
    from hitcurve.sources.screen import read_screen
    from hitcurve.sources.tables import TableReader, read_actives

    ids = options.best_per if options.id is None else options.id
    actives = None if options.actives is None else read_actives(options.actives, ids, _groups(options))
    if actives is not None and not actives.listed:
        raise ValueError(f"{options.actives}: the file has no ids")
    columns, label = [column for column, _ in scores], options.label
    layout = Layout(not options.no_header, options.delimiter, options.decimal, options.na, options.positive)
    library, known = _library(options, ids, actives, layout), actives
    if library is not None and lacks(options.files, label, options.library):
        label, layout, known = None, layout._replace(positive=None), actives_of(library, label)
    reader = TableReader(
        options.files, label, columns, options.group, ids=ids, actives=known, by_file=options.by_file,
        nan_policy=options.nan, grade=options.grade, workers=options.workers, layout=layout,
    )  # fmt: skip
    found = read_screen(reader, scores, best_per_id=options.best_per is not None, keep=options.compare, library=library)
    return found, [*_strange(actives, options, library), *found.notes]


def _strange(actives: Actives | None, options: argparse.Namespace, library: Library | None) -> list[str]:
    """A warning about listed actives that do not occur. An error if none of them occurs."""
    if actives is None:
        return []
    path, listed, missing = options.actives, len(actives.listed), actives.missing()
    if actives.misread():
        raise ValueError(f"{path}: the first line, {actives.unsure!r}, is taken as the name of a column, but it is the "
                         "id of a row: write the name of the column of --id above the ids, or call the file .txt")
    # With a library, actives without a row count.
    by_number = library is not None and not library.targets
    if not missing or (by_number and len(missing) < listed):
        return []
    where = "table" if library is None or by_number else "library"
    group, one = missing[0]
    example = f"ids of {path} (such as {one!r}{'' if group is None else f' of group {group!r}'})"
    if len(missing) == listed:
        raise ValueError(f"none of the {listed:,} {example} is in the {where}")
    return [f"{len(missing):,} of the {listed:,} {example} are not in the {where}: these ids do not count"]


def _groups(options: argparse.Namespace) -> str | None:
    """The column of the groups, in files that list compounds. With --by-file it has the names of the files."""
    group: str | None = options.group
    return "file" if options.by_file else group


def _library(options: argparse.Namespace, ids: str | None, actives: Actives | None, layout: Layout) -> Library | None:
    """The library of the options."""
    from hitcurve.sources.library import library_of

    if options.library is None:
        return None
    number, graded = _is_number(options.library), options.grade is not None
    count = options.num_actives
    if number and count is None and actives is not None:
        count = len(actives.listed)
    return library_of(
        int(options.library[0]) if number else options.library, count, files=not number, ids=ids,
        label=options.grade if graded else options.label, graded=graded, group=_groups(options),
        grouped=options.group is not None or options.by_file, layout=layout, known=None if number else actives,
    )  # fmt: skip


def _comparison(options: argparse.Namespace, found: Screen, drawn: dict[str, Any]) -> Comparison:
    from hitcurve.report.first import FIRST, GRADED
    from hitcurve.statistics.comparison import compare

    arrays, group = found.arrays, None
    assert arrays is not None
    usual: Sequence[str] = FIRST if options.grade is None else GRADED
    if arrays.group is not None:
        group, usual = [found.group_names[code] for code in arrays.group.tolist()], usual[:1]
        drawn = drawn | {"n_resamples": options.resamples}
    measures = options.measures or [parse(name) for name in usual]
    if options.grade is not None:  # rel= marks the labels as levels, also if all measures are binary
        measures = [one if "gains" in one.record.of or one.rel is not None else one._replace(rel=1) for one in measures]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the command prints the warning itself
        made = compare(
            arrays.label, {score.name: values for score, values in zip(found.scores, arrays.scores, strict=True)},
            measures=measures, groups=group, confidence_level=options.level,
            nan_policy=options.nan if options.library is None else "worst",
            lower_is_better={score.name: score.lower_is_better for score in found.scores},
            ties=options.ties or "expected", **drawn,
        )  # fmt: skip
    return made if group is None else replace(made, unit=found.scores[0].unit)


def _pictures(options: argparse.Namespace, found: Screen, made: Report, view: Usual | None, drawn: dict[str, Any],
              progress: Progress) -> None:  # fmt: skip
    if not (options.plot or options.report):
        return
    with beside(options):
        from hitcurve._base.workers import check_workers
        from hitcurve.report.page import figures, groups_figure, groups_figures, table_page

        progress("drawing")
        lack, how = pictures_lack(), drawn | {"band": made.level, "workers": check_workers(options.workers)}
        pictures = [] if lack else figures(found.scores, **how)
        made.warnings += lack if options.report else []
        with beside(options):
            if options.plot:
                needed("matplotlib", "a picture")
                of_groups = made.grouped and not (len(pictures) == 1 and len(found.scores) == 1)
                drawn_first = groups_figure(made) if of_groups else pictures[0][0] if pictures else None
                if drawn_first is None:
                    one = singular(made.unit)
                    why = f"no {one} has a value of {made.view.names[0]}" if of_groups else "no item is relevant"
                    raise ValueError(f"{options.plot}: {why}, so there is nothing to draw")
                made.warnings += save_picture(drawn_first, options.plot)
        if view is not None:
            pictures += groups_figures(made, view) if made.grouped and not lack else []
            listed = [] if _is_number(options.library) else options.library or []
            files = list(dict.fromkeys([*options.files, *filter(None, [options.actives]), *listed]))
            page = table_page(made, view, found.num_rows, files, options.command, pictures, progress)
            write_page(options.report, page)
