"""The command ``hitcurve trec``."""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

from hitcurve._base.files import file_name
from hitcurve.cli.common import (
    PICTURES,
    Option,
    beside,
    command,
    count,
    few_resamples,
    no_output,
    no_picture,
    pictures_lack,
    refuse,
    resamples,
    save_picture,
    say,
    seed,
    write_page,
)
from hitcurve.shown.board import board, printed_digits, record_of
from hitcurve.shown.grid import Grid, as_csv, many, number, rendered
from hitcurve.shown.means import means_of, queries
from hitcurve.shown.progress import Progress

if TYPE_CHECKING:
    from hitcurve.measures import Measure
    from hitcurve.retrieval.evaluation import Evaluation
    from hitcurve.retrieval.trec_eval import Entry
    from hitcurve.statistics.comparison import Comparison

__all__ = ["add", "as_trec_eval"]

_LEFT_OUT = 3  # exit status
_MEASURES = ("AP", "nDCG@10", "P@10", "RR", "R@1000")
_MOVED = 0.001  # what ties may move a mean without a warning
_COUNTS = re.compile(r"'[^']*'|\d+( \w+)?")  # in a note, what differs between runs

# Of trec_eval's measures: those that print a whole number, and those that have no line for a query.
_WHOLE = ("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret")
_MEAN_ONLY = ("num_q", "gm_map", "gm_bpref")


class _Measures(argparse.Action):
    """Takes measures, and leaves the files that follow them, as on trec_eval's command line, to be files."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option: str | None = None) -> None:
        from hitcurve.retrieval.trec_eval import expand

        for at, text in enumerate(values):
            try:
                expand(text, 10)
            except ValueError as error:
                if at and len(namespace.files) < 2:
                    namespace.more = values[at:]
                    return
                raise argparse.ArgumentError(self, str(error)) from None
            namespace.measures = [*namespace.measures, text]


def _workers(text: str) -> int:
    try:
        return -1 if text == "-1" else count(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}, nor -1 for all cores") from None


_P_VALUES = ("p_holm", "p_value", "p_t", "p_tukey", "p_interval")


def _p_value(text: str) -> str:
    """Its name, with or without the p_ of Python's `to_latex`."""
    return text if text in _P_VALUES or f"p_{text}" not in _P_VALUES else f"p_{text}"


_RULES = ("docid", "expected", "worst", "best")
_ORDERS = ("score", "listed", "rank")
_PAPER = ("markdown", "latex")
_FORMS = ("table", "markdown", "latex", "trec", "csv", "json")
_MISSING = {"choices": ("zero", "skip", "raise"), "default": "zero"}
_EMPTY = {"choices": ("zero", "skip", "one", "raise"), "default": "zero"}
_OPTIONS: tuple[Option, ...] = (
    ("files", "QRELS RUN", "judgments, then runs: text, also .gz .xz .bz2 .zst; Parquet; - is stdin",
     {"nargs": "*", "default": ()}),
    ("-m", "MEASURE", "such as nDCG@10, map_cut_10, P.5,10, official, all_trec; may be repeated "
     f"(default: {' '.join(_MEASURES)}; with --format trec: official)",
     {"dest": "measures", "nargs": "+", "action": _Measures, "default": ()}),
    ("--ties", "RULE", "equal scores: docid (default, as trec_eval), expected, worst, best",
     {"choices": _RULES, "default": "docid"}),
    ("--rank-by", "ORDER", "rank by score (default), listed (file order), rank (rank column)",
     {"choices": _ORDERS, "default": "score"}),
    ("-q", None, "print the values of each query too (default: means only)", {"dest": "each"}),
    ("-l", "LEVEL", "the lowest level that counts as relevant (default: 1)",
     {"dest": "relevance_level", "type": int, "default": 1}),
    ("--missing", "HOW", "judged queries that a run lacks: zero (default), skip, raise", _MISSING),
    ("--empty", "HOW", "queries with nothing relevant: zero (default), skip, one, raise", _EMPTY),
    ("-J --judged-only", None, "remove unjudged documents (default: count as not relevant)", {}),
    ("-M", "DEPTH", "take the first DEPTH documents of each query (default: all)", {"dest": "depth", "type": count}),
    ("--trec-eval", "VERSION", "version to reproduce: 9 has scores in single precision and rounds recall levels up "
     "(default: 10)", {"dest": "version", "type": int, "choices": (9, 10), "default": 10}),
    ("--lenient", None, "read bad lines as trec_eval does, and warn (default: an error)", {}),
    ("--format", "FORM", "table (default), markdown, latex, trec (what trec_eval prints), json, "
     "csv (formulas are kept)", {"choices": _FORMS, "default": "table"}),
    ("--sort", "MEASURE", "sort runs by this measure, best first (default: runs as given)", {}),
    ("--compare", None, "test differences between runs; csv prints only these (default: no)", {}),
    ("--baseline", "RUN", "compare with this run: path, name or tag (default: every pair)", {}),
    ("--names", "WHAT", "name runs by file (default) or by tag",
     {"choices": ("file", "tag"), "default": "file"}),
    ("--caption", "TEXT", "caption of the table, in markdown and latex (default: none)", {"default": ""}),
    ("--label", "NAME", "label of the table, in latex (default: none)", {"default": ""}),
    ("--tables", "WHICH", "tables of --compare: board, all (default: all; in latex board)",
     {"choices": ("board", "all")}),
    ("--p", "WHICH", "p-value for the marks: holm (default), value, t, tukey, interval",
     {"type": _p_value, "choices": _P_VALUES, "default": "p_holm"}),
    ("--resamples", "N", "number of resamples of --compare (default: 9999; many pairs: more)", {"type": resamples}),
    ("--seed", "N", "seed of the random numbers of --compare (default: 0)", {"type": seed, "default": 0}),
    ("--plot", "FILE", f"draw mean precision and recall: {PICTURES}", {}),
    ("--report", "FILE", "write an HTML page with all results", {}),
    ("--workers", "N", "threads, for several runs (default: 1)", {"type": _workers, "default": 1}),
)  # fmt: skip


_EXAMPLES = """examples:
  hitcurve trec qrels.txt run.txt -m AP nDCG@10
  hitcurve trec qrels.txt runs/* -m AP nDCG@10 --sort AP
  hitcurve trec qrels.txt runs/* --baseline bm25.txt --format latex --label tab:runs
  hitcurve trec qrels.txt run.txt -q --format trec -m all_trec

"""


def add(commands: Any) -> None:
    epilog = _EXAMPLES + "Exit status: 0, or 3 if anything was left out (standard error says what), 1 on an error."
    text, usage = "measure TREC runs against judgments, and compare them", "hitcurve trec QRELS RUN... [option ...]"
    about = "Measure runs against relevance judgments, as trec_eval does."
    command(commands, "trec", _run, _OPTIONS, help=text, usage=usage, description=about, epilog=epilog)


def _checked(options: argparse.Namespace) -> list[Entry]:
    """What was asked for. Wrong usage ends here."""
    from hitcurve.retrieval.trec_eval import expand

    files = [*options.files, *getattr(options, "more", ())]
    if len(files) < 2:
        options.usage_error(f"the following arguments are required: {', '.join(('QRELS', 'RUN')[len(files):])}")
    options.qrels, *options.runs = files
    options.compare = options.compare or options.baseline is not None
    runs, form = options.runs, options.format
    refuse(options, (
        (options.compare and len(runs) < 2, "--compare needs two runs or more"),
        (options.compare and form == "trec", "--compare cannot be combined with --format trec"),
        (options.compare and form == "csv" and options.each, "-q and --compare are two tables: --format csv has one"),
        (options.compare and len(set(runs)) < len(runs), "--compare: a run is named twice"),
        (options.resamples and not options.compare, "--resamples needs --compare"),
        (options.tables and not (options.compare and form in ("table", *_PAPER)),
         f"--tables needs --compare and --format table, {' or '.join(_PAPER)}"),
        (options.p != "p_holm" and not options.compare, "--p needs --compare"),
        (options.p != "p_holm" and form not in _PAPER and not options.report,
         f"--p needs --format {' or '.join(_PAPER)}, or --report: only these have marks"),
        (options.p != "p_holm" and options.each and not options.report, "--p cannot be combined with -q"),
        (options.p == "p_tukey" and len(runs) < 3, "--p tukey needs three runs or more"),
        (options.caption and form not in _PAPER, f"--caption needs --format {' or '.join(_PAPER)}"),
        (options.label and form != "latex", "--label needs --format latex"),
        ((options.caption or options.label) and options.each, "--caption and --label cannot be combined with -q"),
        (files.count("-") > 1, "standard input can be read once"),
        (options.plot and len(set(runs)) < len(runs), "--plot: a run is named twice"),
        no_picture(options.plot),
        (options.report and len(set(runs)) < len(runs), "--report: a run is named twice"),
        *no_output(options, files),
    ))  # fmt: skip
    asked = options.measures or (["official"] if form == "trec" else _MEASURES)
    entries = [entry for text in asked for entry in expand(text, options.version)]
    if form != "trec" and all(entry.measure is None for entry in entries):
        options.usage_error(f"argument -m: {', '.join(asked)}: only --format trec prints it")
    if options.sort is not None:
        options.sort = _key(options, [entry.measure for entry in entries if entry.measure is not None])
    return entries


def _key(options: argparse.Namespace, shown: list[Measure]) -> Measure:
    """By what runs are sorted: one of the measures, under any of its names."""
    from hitcurve.retrieval.trec_eval import expand

    try:
        named = [entry.measure for entry in expand(options.sort, options.version)]
    except ValueError as error:
        options.usage_error(f"argument --sort: {error}")
    key = named[0] if len(named) == 1 else None
    if key is not None and key in shown:
        return key
    listed = ", ".join(one.name for one in shown)
    return options.usage_error(f"argument --sort: {options.sort!r} is none of the measures: {listed}")  # type: ignore[no-any-return]


def _run(options: argparse.Namespace) -> str:
    """Measure, print, and leave with a status that says whether anything was left out."""
    from hitcurve.retrieval.evaluator import evaluate
    from hitcurve.retrieval.reading import read_qrels

    entries = _checked(options)
    measures: list[Measure | str] = [entry.measure for entry in entries if entry.measure is not None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what was let pass stands in the evaluations too
        qrels = read_qrels(options.qrels, strict=not options.lenient)
        found = evaluate(
            qrels, options.runs, measures or ["NumQ"], rank_by=options.rank_by, ties=options.ties,
            missing=options.missing, empty=options.empty,
            scores="float32" if options.version == 9 else "float64", judged_only=options.judged_only,
            relevance_level=options.relevance_level, depth=options.depth, strict=not options.lenient,
            workers=options.workers, progress=Progress().on,
        )  # fmt: skip
    evaluations: list[Evaluation] = found if isinstance(found, list) else [found]
    names = [one.name for one in evaluations] if options.names == "tag" else _names(options.runs)
    if options.baseline is not None:
        options.baseline = _baseline(options, names, [one.tag for one in evaluations])
    if options.sort is not None:
        names, evaluations = _sorted(names, evaluations, options.sort)
    if options.plot or options.report:
        _draw(names, evaluations, options)
    if options.format == "trec":
        text = "".join(as_trec_eval(one, entries, each=options.each, version=options.version) for one in evaluations)
    elif options.format == "json":
        text = _json(names, evaluations, options)
    else:
        text = _table(names, evaluations, options)
    sys.stdout.write(text)
    sys.stdout.flush()
    if _say_what_is_left_out(names, evaluations, options):
        raise SystemExit(_LEFT_OUT)
    return ""


def _draw(names: list[str], evaluations: list[Evaluation], options: argparse.Namespace) -> None:
    """Write the picture and the page."""
    compared = _compared(names, evaluations, options) if options.compare else None
    key = options.sort.name if options.sort is not None else None
    with beside(options):
        if options.plot:
            from hitcurve.report.plot_queries import runs_figure

            for line in save_picture(runs_figure(names, evaluations, compared, key), options.plot):
                say(f"hitcurve: warning: {line}")
    with beside(options):
        if options.report:
            from hitcurve.report.leaderboard_page import figures, page

            files = [options.qrels, *options.runs]
            lack = pictures_lack()
            drawn = [] if lack else figures(names, evaluations, compared, key)
            for line in lack:
                say(f"hitcurve: warning: {line}")
            with Progress() as progress:
                board = _board(names, evaluations, compared, options)
                text = page(names, evaluations, board, compared, files, options.command, drawn, progress, key, lack)
            write_page(options.report, text)


def _names(paths: Sequence[str]) -> list[str]:
    """File names, or paths where those are not distinct."""
    short = ["standard input" if path == "-" else file_name(path) for path in paths]
    return short if len(set(short)) == len(short) else list(paths)


def _baseline(options: argparse.Namespace, names: list[str], tags: list[str]) -> str:
    """The name of the run that --baseline names by its path, its printed name or its tag."""
    for known in (options.runs, names, [os.path.basename(path) for path in options.runs], tags):
        places = [at for at, one in enumerate(known) if one == options.baseline]
        if len(places) == 1:
            return names[places[0]]
        if places:
            shared = ", ".join(names[at] for at in places)
            options.usage_error(f"--baseline {options.baseline}: it is the tag of {shared}: give the name of a file")
    listed = ", ".join(names)
    return options.usage_error(f"--baseline {options.baseline}: it is none of the runs: {listed}")  # type: ignore[no-any-return]


def _sorted(names: list[str], evaluations: list[Evaluation], by: Measure) -> tuple[list[str], list[Evaluation]]:
    """The best run first; runs without a value last, equal ones in the order given."""
    sign = 1 if by.record.lower_is_better else -1

    def place(at: int) -> tuple[bool, float]:
        mean = evaluations[at].means[by.name]
        return (True, 0.0) if mean != mean else (False, sign * mean)

    order = sorted(range(len(names)), key=place)
    return [names[at] for at in order], [evaluations[at] for at in order]


def as_trec_eval(evaluation: Evaluation, entries: list[Entry], *, each: bool, version: int = 10) -> str:
    """What trec_eval prints: ``name <tab> query <tab> value``; version 9 none for queries without documents."""
    silent = set(evaluation.missing) if version < 10 else set()
    given = {entry.place[0] for entry in entries if entry.given}
    entries = [entry for entry in dict.fromkeys(entries) if entry.given or entry.place[0] not in given]
    entries.sort(key=lambda entry: entry.place)
    lines: list[tuple[str, str, str]] = []
    columns: list[tuple[Entry, list[Any]]] = []
    for entry in entries if each else ():
        if entry.measure is not None and entry.name not in _MEAN_ONLY:
            columns.append((entry, evaluation.values[entry.measure.name].tolist()))
        elif entry.measure is None and entry.name != "runid":
            columns.append((entry, [f"'{levels}'" for levels in evaluation.level_strings(entry.length)]))
    for i, query in enumerate(evaluation.query_ids):
        if query not in silent:
            found = ((entry, values[i]) for entry, values in columns)
            lines += [(entry.name, query, _value(entry, value)) for entry, value in found if value == value]
    for entry in entries:
        if entry.name == "runid":
            lines.append((entry.name, "all", evaluation.tag))
        elif entry.measure is not None:
            lines.append((entry.name, "all", _value(entry, evaluation.means[entry.measure.name])))
    return "".join(f"{name:<22}\t{query}\t{value}\n" for name, query, value in lines)


def _value(entry: Entry, value: Any) -> str:
    if entry.measure is None:
        return str(value)
    return str(int(value)) if entry.name in _WHOLE or entry.measure.record.mean == "sum" else f"{value:6.4f}"


def _compared(names: list[str], evaluations: list[Evaluation], options: argparse.Namespace) -> Comparison:
    from hitcurve.statistics.comparison import compare

    if not hasattr(options, "compared"):  # a picture and a table show the same
        named = dict(zip(names, evaluations, strict=True))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the command says it itself
            options.compared = compare(named, baseline=options.baseline, n_resamples=options.resamples,
                                       rng=options.seed)  # fmt: skip
    made: Comparison = options.compared
    return made


def _json(names: list[str], evaluations: list[Evaluation], options: argparse.Namespace) -> str:
    runs: list[dict[str, Any]] = [{"run": name, **one.to_dict()} for name, one in zip(names, evaluations, strict=True)]
    for entry in () if options.each else runs:
        del entry["queries"]
    found: dict[str, Any] = {"runs": runs}
    if options.compare:
        made = _compared(names, evaluations, options)
        found["comparison"] = {
            "unit": made.unit, "count": made.count, "left_out": made.left_out, "n_resamples": made.n_resamples,
            "n_bootstrap": made.n_bootstrap,
            "seed": options.seed, "confidence_level": made.confidence_level,
            "systems": [_defined(one._asdict()) for one in made.systems],
            "differences": [_defined(one._asdict()) for one in made.rows],
        }  # fmt: skip
    import json

    return json.dumps(found, indent=1) + "\n"


def _defined(row: dict[str, Any]) -> dict[str, Any]:
    """None for what is not a number, which JSON has no word for."""
    return {name: None if value != value else value for name, value in row.items()}


def _rows(names: list[str], evaluations: list[Evaluation], each: bool) -> Iterator[tuple[str, str, list[float]]]:
    for name, one in zip(names, evaluations, strict=True):
        if each:
            columns = [column.tolist() for column in one.values.values()]
            for query, *values in zip(one.query_ids, *columns, strict=True):
                yield name, query, values
        yield name, "all", list(one.means.values())


def _table(names: list[str], evaluations: list[Evaluation], options: argparse.Namespace) -> str:
    rows, measures, each = _rows(names, evaluations, options.each), evaluations[0].means, int(options.each)
    if options.format == "csv" and options.compare:
        from hitcurve.statistics.comparison import Difference

        differences = (_defined(row._asdict()).values() for row in _compared(names, evaluations, options).rows)
        return as_csv([Difference._fields, *differences])
    if options.format == "csv":
        body = ([name, query, *("" if one != one else one for one in values)] for name, query, values in rows)
        return as_csv([["run", "query_id", *measures], *body])
    compared = _compared(names, evaluations, options) if options.compare else None
    if options.format in _PAPER and not each:
        table = _board(names, evaluations, compared, options, options.caption, options.label)
    else:
        foot = f"{queries(evaluations)}; {_order(evaluations[0])}"
        digits = [printed_digits(record_of(measure)) for measure in measures]
        cells = [[name, *[query] * each, *map(number, values, repeat(""), digits)] for name, query, values in rows]
        table = Grid([["run", *["query"] * each, *measures], *cells], 1 + each, foot=(foot,))
    shown = options.tables or ("board" if options.format == "latex" else "all")  # the others are wider than paper
    parts: list[Grid | str] = [table]
    if compared is not None and shown == "all":
        from hitcurve.statistics.comparison import tables_of

        parts += tables_of(compared)
    return rendered(parts, options.format) + "\n"


def _board(names: list[str], evaluations: list[Evaluation], compared: Comparison | None, options: argparse.Namespace,
           caption: str = "", label: str = "") -> Grid:  # fmt: skip
    """A row for each run, the best values marked, and what is significant."""
    from hitcurve.statistics.comparison import marks_of

    means, own = means_of(evaluations)
    found = marks_of(compared, names, options.p, 0.05) if compared is not None else None
    foot = f"{queries(evaluations)}; {_order(evaluations[0])}."
    return board(names, means, found=found, names=own, head="run", foot=[foot], caption=caption, label=label)


def _order(evaluation: Evaluation) -> str:
    how = {"score": f"equal scores: {evaluation.ties}", "listed": "ranked as listed", "rank": "ranked by rank"}
    return how[evaluation.rank_by]


def _say_what_is_left_out(names: list[str], evaluations: list[Evaluation], options: argparse.Namespace) -> bool:
    """On standard error, of many runs the first and how many they are; whether anything was."""
    for few in few_resamples(_compared(names, evaluations, options), options.p) if options.compare else ():
        say(f"hitcurve: warning: {few}")
    left = False
    said: dict[str, list[tuple[str, str]]] = {}  # by kind, of each run: of what it is said, and what

    def add(kind: str, where: str, what: str) -> None:
        said.setdefault(kind, []).append((where, what))

    for name, one in zip(names, evaluations, strict=True):
        for note in one.notes:
            where, _, what = note.partition(": ")
            add(_COUNTS.sub("", what), where, what)
        # These two leave nothing out: scores that contradict the order, and a run without documents.
        left |= len(one.notes) > (one.counts["contradicting"] > 0) + (one.counts["retrieved"] == 0)
        for kind, where, what, how in (
            ("missing", name, f"of {options.qrels} missing", options.missing),
            ("extra", name, "without judgments", "skip"),
            ("empty", options.qrels, "without relevant documents", options.empty),
        ):
            if one.counts[kind]:
                said_how = {"skip": "left out", "one": "counted as 1"}.get(how, "counted as 0")
                text = f"{many(one.counts[kind], 'queries')} {what}: {said_how}"
                add(kind if where == name else text, where, text)
                left |= how == "skip"
        bands = one.tie_report() if options.ties == "docid" else {}
        moved = {measure: band for measure, band in bands.items() if abs(band.best - band.worst) > _MOVED}
        if moved:
            first = list(moved.items())[:3]
            shown = [f"{measure} {number(band.worst)}..{number(band.best)}" for measure, band in first]
            more = f" and {len(moved) - 3} more" if len(moved) > 3 else ""
            add("ties", name, f"equal scores leave open {', '.join(shown)}{more} (see --ties)")
    for found in said.values():
        (where, what), runs = found[0], len(set(found))
        say(f"hitcurve: warning: {where}{f', first of {runs} such runs' if runs > 1 else ''}: {what}")
    return left
