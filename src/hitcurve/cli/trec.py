"""The command ``hitcurve trec``."""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hitcurve._base.files import opened_text
from hitcurve._base.queries import Queries
from hitcurve._base.words import TAKEN, many, meant
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
    warn,
    whole,
    write_page,
)
from hitcurve.retrieval.frames import DUPLICATES, rows_as
from hitcurve.retrieval.trec_eval import Entry, expand
from hitcurve.shown.board import best_first
from hitcurve.shown.grid import number
from hitcurve.shown.printed import MOST_DIGITS
from hitcurve.shown.progress import Progress

if TYPE_CHECKING:
    from hitcurve.measures import Measure
    from hitcurve.report.runs import Runs
    from hitcurve.retrieval.evaluation import Evaluation
    from hitcurve.statistics.comparison import Comparison

__all__ = ["add", "as_trec_eval"]

_LEFT_OUT = 3  # exit status: queries or lines were left out
_MEASURES = ("AP", "nDCG@10", "P@10", "RR", "R@1000")
_MOVED = 0.001  # if ties change a mean by more, a warning says so
_COUNTS = re.compile(r"'[^']*'|\d+( \w+)?")  # the parts of a note that differ between runs

# Measures that trec_eval prints as whole numbers, and measures that it prints only as means.
_WHOLE = ("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret")
_MEAN_ONLY = ("num_q", "gm_map", "gm_bpref")


class _Measures(argparse.Action):
    """Take the measures of -m. Files may follow the measures, as on trec_eval's command line."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option: str | None = None) -> None:
        for at, text in enumerate(values):
            try:
                expand(text, 10)
            except ValueError as error:
                if at and len(namespace.files) < 2:
                    namespace.more = values[at:]
                    return
                raise argparse.ArgumentError(self, str(error)) from None
            namespace.measures = [*namespace.measures, text]


_P_VALUES = ("p_holm", "p_value", "p_t", "p_tukey", "p_interval")


def _p_value(text: str) -> str:
    """The name of a p-value, with or without the "p_" that Python's `to_latex` uses."""
    return text if text in _P_VALUES or f"p_{text}" not in _P_VALUES else f"p_{text}"


_RULES = ("docid", "expected", "worst", "best")
_ORDERS = ("score", "listed", "rank")
_GROUPED = {"prefs": ("Pref", "PairPref", "GroupPref"), "qrels_prefs": ("Pref", "PairPref", "GroupPref"),
            "qrels_jg": ("AP", "P@10")}  # formats with judgment groups, and the measures without -m
def _level(text: str) -> float:
    """A level of relevance, such as a rating."""
    try:
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


class _Columns(argparse.Action):
    """Take the columns of --columns, such as ``query=user,document=item``."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option: str | None = None) -> None:
        try:
            for text in values.split(","):
                role, mark, name = text.partition("=")
                if not mark:
                    raise ValueError(f"{text!r}: write what the column holds and its name, as in query=user")
                namespace.columns = {**namespace.columns, role: name or None}
            rows_as(namespace.columns, "raise")
        except ValueError as error:
            raise argparse.ArgumentError(self, str(error)) from None


_PAPER = ("markdown", "latex")
_PRINTED = ("table", "terminal", *_PAPER)  # "terminal" is a table with colours
_FORMS = ("table", "markdown", "latex", "trec", "csv", "json")
_MISSING = {"choices": ("zero", "skip", "raise"), "default": "zero"}
_EMPTY = {"choices": ("zero", "skip", "one", "raise"), "default": "zero"}
_OPTIONS: tuple[Option, ...] = (
    ("files", "QRELS RUN", "judgments, then runs: text (.gz .xz .bz2 .zst), Parquet; -: stdin",
     {"nargs": "*", "default": ()}),
    ("-m", "MEASURE", "measures, such as nDCG@10, P.5,10, official, all_trec; repeatable "
     f"(default: {' '.join(_MEASURES)}; with --format trec: official)",
     {"dest": "measures", "nargs": "+", "action": _Measures, "default": ()}),
    ("--ties", "RULE", "equal scores: docid (default, as trec_eval), expected, worst, best",
     {"choices": _RULES, "default": "docid"}),
    ("--rank-by", "ORDER", "rank by score (default), listed (file order), rank (rank column)",
     {"choices": _ORDERS, "default": "score"}),
    ("-q", None, "also print the values of each query (default: means only)", {"dest": "each"}),
    ("-R", "FORMAT", "format of QRELS: qrels (default), prefs, qrels_prefs, qrels_jg",
     {"dest": "qrels_format", "choices": ("qrels", *_GROUPED), "default": "qrels"}),
    ("-l", "LEVEL", "the lowest level that counts as relevant (default: 1)",
     {"dest": "relevance_level", "type": _level, "default": 1}),
    ("--columns", "NAMES", "columns of CSV, Parquet: query=user,document=item (default: usual)",
     {"action": _Columns, "default": {}}),
    ("--duplicates", "HOW", "a document twice in a query: raise (default), first, best",
     {"choices": DUPLICATES, "default": "raise"}),
    ("--missing", "HOW", "judged queries that a run lacks: zero (default), skip, raise", _MISSING),
    ("--empty", "HOW", "queries without relevant items: zero (default), skip, one, raise", _EMPTY),
    ("-J --judged-only", None, "leave out unjudged documents (default: they are not relevant)", {}),
    ("--queries", "FILE", "lines of ids that count (default: all), or of an id and its group", {}),
    ("-M", "DEPTH", "use the first DEPTH documents of each query (default: all)", {"dest": "depth", "type": count}),
    ("--trec-eval", "N", "10 (default) or 9 (single precision, recall levels rounded up)",
     {"dest": "version", "type": int, "choices": (9, 10), "default": 10}),
    ("--subtopics", None, "QRELS has subtopics (in column 2 if it has no header)", {}),
    ("--lenient", None, "read bad lines as trec_eval does, and warn (default: an error)", {}),
    ("--format", "FORM", "table (default), markdown, latex, trec (what trec_eval prints), json, "
     "csv (names can be formulas)", {"choices": _FORMS, "default": "table"}),
    ("--user-model", "M", "print what a user of measure M gains and spends instead", {}),
    ("--sort", "MEASURE", "sort the runs by this measure, best first (default: as given)", {}),
    ("--compare", None, "test the differences between runs; csv then has nothing else", {}),
    ("--baseline", "RUN", "compare with this run: its file or tag (default: every pair)", {}),
    ("--names", "WHAT", "name runs by file (default) or by tag",
     {"choices": ("file", "tag"), "default": "file"}),
    ("--caption", "TEXT", "caption in markdown and latex: there LaTeX code (default: none)", {"default": ""}),
    ("--label", "NAME", "label of the table, in latex (default: none)", {"default": ""}),
    ("--digits", "N", "decimals in table, markdown and latex (default: 4)",
     {"type": whole(0, most=MOST_DIGITS), "default": 4}),
    ("--tables", "WHICH", "with --compare: all tables (default), or board (default in latex)",
     {"choices": ("board", "all")}),
    ("--p", "WHICH", "p-value for the marks: holm (default), value, t, tukey, interval",
     {"type": _p_value, "choices": _P_VALUES, "default": "p_holm"}),
    ("--resamples", "N", "number of resamples of --compare (default: 9999; many pairs: more)", {"type": resamples}),
    ("--seed", "N", "seed of the random numbers of --compare (default: 0)", {"type": seed, "default": 0}),
    ("--plot", "FILE", f"save a picture of precision and recall: {PICTURES}", {}),
    ("--report", "FILE", "write an HTML page with all results", {}),
    ("--workers", "N", "threads, for several runs (default: 1; -1: all cores)",
     {"type": whole(1, also="-1"), "default": 1}),
)  # fmt: skip


_EXAMPLES = """examples:
  hitcurve trec qrels.txt run.txt -m AP nDCG@10
  hitcurve trec qrels.txt runs/* -m AP nDCG@10 --sort AP
  hitcurve trec qrels.txt runs/* --baseline bm25 --format latex --label tab:runs
  hitcurve trec qrels.txt run.txt -q --format trec -m all_trec

Exit status: 0; 1 on an error; 2 on wrong usage; 3 if queries or lines were left out.
`hitcurve measures` lists the measures for -m.
"""


def add(commands: Any) -> None:
    text, usage = "measure TREC runs against judgments, and compare them", "hitcurve trec QRELS RUN... [option ...]"
    about = "Measure runs against relevance judgments, as trec_eval does."
    command(commands, "trec", _run, _OPTIONS, help=text, usage=usage, description=about, epilog=_EXAMPLES)


def _checked(options: argparse.Namespace) -> list[Entry]:
    """The measures of -m. Exits on wrong usage."""
    files = [*options.files, *getattr(options, "more", ())]
    if len(files) < 2:
        options.usage_error(f"the following arguments are required: {', '.join(('QRELS', 'RUN')[len(files):])}")
    options.qrels, *options.runs = files
    options.compare = options.compare or options.baseline is not None
    runs, form = options.runs, options.format
    refuse(options, (
        (options.compare and len(runs) < 2, "--compare needs two runs or more"),
        (options.compare and form == "trec", "--compare cannot be combined with --format trec"),
        (options.compare and form == "csv" and options.each,
         "-q and --compare are two tables, but --format csv prints a single table"),
        (options.resamples and not options.compare, "--resamples needs --compare"),
        (options.tables and not (options.compare and form in _PRINTED),
         f"--tables needs --compare and --format table, {' or '.join(_PAPER)}"),
        (options.digits != 4 and form not in _PRINTED, f"--digits needs --format table, {' or '.join(_PAPER)}"),
        (options.p != "p_holm" and not options.compare, "--p needs --compare"),
        (options.p != "p_holm" and form not in _PAPER and not options.report,
         f"--p needs --format {' or '.join(_PAPER)}, or --report: only these mark significance"),
        (options.p != "p_holm" and options.each and not options.report, "--p cannot be combined with -q"),
        (options.p == "p_tukey" and len(runs) < 3, "--p tukey needs three runs or more"),
        (options.caption and form not in _PAPER, f"--caption needs --format {' or '.join(_PAPER)}"),
        (options.label and form != "latex", "--label needs --format latex"),
        ((options.caption or options.label) and options.each, "--caption and --label cannot be combined with -q"),
        *((getattr(options, name) and options.qrels_format in _GROUPED, f"--{name} cannot be combined with -R "
           f"{options.qrels_format}: judgment groups have no single curve") for name in ("plot", "report")),
        *_no_user_model(options),
        ((*files, options.queries).count("-") > 1, "standard input can be read only once: name - once"),
        *((getattr(options, name) and len(set(runs)) < len(runs), f"--{name}: a run is named twice: name each run once")
          for name in ("compare", "plot", "report")),
        no_picture(options.plot), *no_output(options, files),
    ))  # fmt: skip
    asked = options.measures or _usual(options.qrels_format, form)
    entries = [] if options.user_model else [entry for text in asked for entry in expand(text, options.version)]
    if form != "trec" and entries and all(entry.measure is None for entry in entries):
        options.usage_error(f"argument -m: {', '.join(asked)}: only --format trec prints this measure")
    if options.sort is not None:
        options.sort = _key(options, [entry.measure for entry in entries if entry.measure is not None])
    return entries


def _no_user_model(options: argparse.Namespace) -> list[tuple[object, str]]:
    """Problems for `refuse`: what --user-model does not go with."""
    others = {"-m": options.measures, "--sort": options.sort, "--compare": options.compare, "--plot": options.plot,
              "--report": options.report, "--empty": options.empty != "zero", "--caption": options.caption,
              "--label": options.label, "--digits": options.digits != 4, "--format trec": options.format == "trec",
              f"-R {options.qrels_format}": options.qrels_format in _GROUPED}
    return [(options.user_model and given, f"--user-model cannot be combined with {name}")
            for name, given in others.items()]


def _usual(qrels_format: str, form: str) -> Sequence[str]:
    """The measures without -m."""
    if form == "trec":
        return [{"qrels": "official", "qrels_jg": "qrels_jg"}.get(qrels_format, "prefs")]
    return _GROUPED.get(qrels_format, _MEASURES)


def _key(options: argparse.Namespace, shown: list[Measure]) -> Measure:
    """The measure that sorts the runs, under any of its names."""
    try:
        named = [entry.measure for entry in expand(options.sort, options.version)]
    except ValueError as error:
        options.usage_error(f"argument --sort: {error}")
    if len(named) == 1 and named[0] in shown:
        return named[0]
    listed = ", ".join(one.name for one in shown)
    near = meant(options.sort, [one.name for one in shown])
    return options.usage_error(f"argument --sort: {options.sort!r}: {near}use one of {listed}")  # type: ignore[no-any-return]


def _run(options: argparse.Namespace) -> str:
    """Measure and print. Exits with `_LEFT_OUT` if something was left out."""
    from hitcurve.report.runs import Runs
    from hitcurve.retrieval.evaluator import evaluate
    from hitcurve.retrieval.reading import qrels_of

    entries, queries = _checked(options), None if options.queries is None else _queries(options.queries)
    if queries is not None and queries.groups is not None:
        refuse(options, ((options.format == "trec", "--format trec prints no groups of queries: use csv or json"),
                         (options.user_model, "--user-model prints no groups of queries: give --queries ids alone")))
    measures: list[Measure | str] = [entry.measure for entry in entries if entry.measure is not None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the evaluations hold these warnings too
        grouped = options.qrels_format if options.qrels_format in _GROUPED else None
        qrels = options.qrels
        if grouped:
            qrels = qrels_of(qrels, not options.lenient, False, rows_as(options.columns, options.duplicates), grouped)
        found = evaluate(
            qrels, options.runs, measures or ["NumQ"], queries=queries, rank_by=options.rank_by, ties=options.ties,
            missing=options.missing, empty=options.empty,
            scores="float32" if options.version == 9 else "float64", judged_only=options.judged_only,
            relevance_level=options.relevance_level, depth=options.depth, strict=not options.lenient,
            subtopics=options.subtopics, columns=options.columns, duplicates=options.duplicates,
            workers=options.workers, progress=Progress().on,
        )  # fmt: skip
    evaluations = found if isinstance(found, list) else [found]
    names = _tags(evaluations) if options.names == "tag" else [one.name for one in evaluations]
    if options.baseline is not None:
        options.baseline = _baseline(options, dict(zip(names, evaluations, strict=True)))
    if options.sort is not None:
        names, evaluations = _sorted(names, evaluations, options.sort)
    compared = _compared(options, names, evaluations) if options.compare else None  # its strata are those of --queries
    if options.user_model:
        from hitcurve.report.users import Users

        runs: Runs = Users(names, evaluations, options.user_model, each=options.each)
    else:
        runs = Runs(
            names, evaluations, compared, options.sort.name if options.sort is not None else None,
            each=options.each, seed=options.seed, p=options.p, tables=options.tables, caption=options.caption,
            label=options.label, digits=options.digits,
        )  # fmt: skip
    with beside(options):
        if options.plot:
            from hitcurve.report.plot_queries import runs_figure

            warn(save_picture(runs_figure(names, evaluations, runs.compared, runs.first), options.plot))
    with beside(options):
        if options.report:
            _write_page(options, runs)
    if options.format == "trec":
        text = "".join(as_trec_eval(one, entries, each=options.each, version=options.version) for one in evaluations)
    else:
        text = runs.text(options.format)
    sys.stdout.write(text)
    sys.stdout.flush()
    if _say_what_is_left_out(options, runs):
        raise SystemExit(_LEFT_OUT)
    return ""


def _queries(path: str) -> Queries:
    """The queries that the lines of a file name, with their groups if it has them. # begins a comment."""
    with opened_text(path) as (name, text):
        if text is None:
            raise ValueError(f"{name} is a Parquet file: --queries needs a text of ids, or of ids and groups")
        lines = bytes(text).decode("utf-8", "surrogateescape").removeprefix("\ufeff").splitlines()
    rows = [(at, line.split(maxsplit=1)) for at, line in enumerate(lines, 1)]
    rows = [(at, row) for at, row in rows if row and not row[0].startswith("#")]
    for at, row in rows:
        if len(row) != len(rows[0][1]):
            has = "no group" if len(row) == 1 else "a group"
            raise ValueError(f"{name}, line {at}: the query {row[0]!r} has {has}, unlike that of line {rows[0][0]}")
    if not rows or len(rows[0][1]) == 1:
        return Queries([query for _, (query,) in rows], name)
    pairs: dict[str, str] = {}
    for at, (query, group) in rows:
        if pairs.setdefault(query, group.strip()) != group.strip():
            raise ValueError(f"{name}, line {at}: the query {query!r} already has the group {pairs[query]!r}")
    return Queries(pairs, name)


def _compared(options: argparse.Namespace, names: list[str], evaluations: list[Evaluation]) -> Comparison:
    from hitcurve.statistics.comparison import compare

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the command prints the warning itself
        return compare(dict(zip(names, evaluations, strict=True)), baseline=options.baseline,
                       queries=evaluations[0].groups, n_resamples=options.resamples, rng=options.seed)  # fmt: skip


def _write_page(options: argparse.Namespace, runs: Runs) -> None:
    from hitcurve.report.leaderboard_page import figures, runs_page

    lack = pictures_lack()
    drawn = [] if lack else figures(runs)
    warn(lack)
    with Progress() as progress:
        text = runs_page(runs, [options.qrels, *options.runs], options.command, drawn, progress, lack)
    write_page(options.report, text)


def _tags(evaluations: list[Evaluation]) -> list[str]:
    """The tags of the runs. Runs that share a tag have the names of their files, and a warning says so."""
    tags = [one.tag for one in evaluations]
    names = [one.name if tags.count(one.tag) > 1 else one.tag for one in evaluations]
    for tag in dict.fromkeys(tag for tag in tags if tags.count(tag) > 1):
        files = ", ".join(one.name for one in evaluations if one.tag == tag)
        warn([f"--names tag: {many(tags.count(tag), 'runs')} have the tag {tag!r} and are named by file: {files}"])
    return names if len(set(names)) == len(names) else [one.name for one in evaluations]


def _baseline(options: argparse.Namespace, systems: dict[str, Evaluation]) -> str:
    """The name of the run that --baseline names. Exits if there is no such run, or more than one."""
    from hitcurve.shown.means import system_named

    try:
        return system_named(options.baseline, systems)
    except ValueError as error:
        said = str(error).replace("baseline=", "--baseline ", 1)
        return options.usage_error(said)  # type: ignore[no-any-return]


def _sorted(names: list[str], evaluations: list[Evaluation], by: Measure) -> tuple[list[str], list[Evaluation]]:
    """The runs, best first. Runs without a value come last. Runs with equal values keep their order."""
    order = best_first([one.means[by.name] for one in evaluations], by.record)
    return [names[at] for at in order], [evaluations[at] for at in order]


def as_trec_eval(evaluation: Evaluation, entries: list[Entry], *, each: bool, version: int = 10) -> str:
    """The lines of trec_eval: ``name <tab> query <tab> value``. Version 9 skips queries without documents."""
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
    # Under expected ties a number of preferences, and in judgment groups a number of documents, may be a fraction.
    whole = (entry.name in _WHOLE or entry.measure.record.mean == "sum") and value == value // 1
    return str(int(value)) if whole else f"{value:6.4f}"


def _say_what_is_left_out(options: argparse.Namespace, runs: Runs) -> bool:
    """Warn of what was left out. A warning of several runs names the first run and their number. True if any was."""
    left = False
    warn(few_resamples(runs.compared, options.p) if runs.compared is not None else ())
    said: dict[str, list[tuple[str, str]]] = {}  # by kind: the name and the text of each warning

    def add(kind: str, where: str, what: str) -> None:
        said.setdefault(kind, []).append((where, what))

    for name, one in zip(runs.names, runs.evaluations, strict=True):
        for note in one.notes:
            where, _, what = note.partition(": ")
            add(f"{where == options.qrels} {what}" if TAKEN in note else _COUNTS.sub("", what), where, what)
        # Notes on columns, contradicting scores and a run without documents do not mean that something was left out.
        lost = len(one.notes) - sum(TAKEN in note for note in one.notes)
        left |= lost > (one.counts["contradicting"] > 0) + (one.counts["retrieved"] == 0)
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
            add("ties", name, f"ties change the means: {', '.join(shown)}{more} (see --ties)")
    for found in said.values():
        (where, what), alike = found[0], len(set(found))
        line = f"{where}{f', first of {alike} such runs' if alike > 1 else ''}: {what}"
        if TAKEN in line:
            say(f"hitcurve: note: {line}")
        else:
            warn([line])
    return left
