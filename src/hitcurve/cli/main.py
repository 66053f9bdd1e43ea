# PYTHON_ARGCOMPLETE_OK (argcomplete looks for these words before it calls a program)
"""The command ``hitcurve``."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Sequence

from hitcurve._base.extras import needed
from hitcurve._version import __version__
from hitcurve.cli import measures, table, trec
from hitcurve.cli.common import FAILURES, Parser, coloured, say, unknown

__all__ = ["main"]

# The options of the command, by the arguments that errors of the library name.
_OPTIONS = {"nan_policy": "--nan", "header": "--no-header", "strict": "--lenient", "ties": "--ties",
            "rank_by": "--rank-by", "depth": "-M", "missing": "--missing", "empty": "--empty",
            "na": "--na", "delimiter": "--delimiter", "decimal": "--decimal", "positive": "--positive",
            "subtopics": "--subtopics", "duplicates": "--duplicates", "columns": "--columns"}  # fmt: skip
_ARGUMENT = re.compile(rf"\b({'|'.join(_OPTIONS)})=(?:'([^']+)'|(\d+)\b|False\b|True\b)")
_FORMAT = re.compile(r"read_qrels\(\.\.\., format='(\w+)'\)")
_MAPPED = re.compile(r"\bcolumns=(?:\{'(\w+)': '?([^'}]*)'?\}|(?= ))")
_BROKEN_PIPE = 141  # the status of a program whose output pipe was closed
_INTERRUPTED = 130  # the status of a program that Ctrl-C stopped


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with the arguments `argv` (default: the arguments of the process).

    Returns
    -------
    int
        The exit status. 0: no error. 1: the data cannot be read or measured, and one line on standard error says why.
        2: wrong usage. 3: `hitcurve trec` left out queries or lines, and standard error says which.
    """
    status = _status(argv)
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            # Otherwise Python would report the error again when it flushes the stream at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return status


def _status(argv: Sequence[str] | None) -> int:
    try:
        _streams()
        status = 0
        failed: list[Exception] = []
        try:
            parser = _parser()
            if "_ARGCOMPLETE" in os.environ:  # the shell asks for completions
                needed("argcomplete", "completion").autocomplete(parser, print_suppressed=True)
            options, more = parser.parse_known_args(argv)
            if more:
                options.usage_error(f"unrecognized arguments: {' '.join(more)}{unknown(options, more)}")
            if getattr(options, "format", "") == "table" and coloured(sys.stdout):
                options.format = "terminal"
            options.command = ["hitcurve", *(sys.argv[1:] if argv is None else argv)]
            options.failed = failed
            sys.stdout.write(options.run(options))
        except SystemExit as stop:  # argparse has printed the reason
            status = stop.code if isinstance(stop.code, int) else 2
        sys.stdout.flush()
        for error in failed:
            status = _failed(error)
        return status
    except BrokenPipeError:
        return _BROKEN_PIPE
    except FAILURES as error:
        return _failed(error)
    except KeyboardInterrupt:
        return _INTERRUPTED


def _streams() -> None:
    """Prepare the standard streams: a closed stream or its encoding must not cause an error after the computation."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (open until the process ends)
    if sys.stdout is None:
        raise ValueError("standard output is closed")
    encoding = str(sys.stdout.encoding).lower().replace("-", "")
    if isinstance(sys.stdout, io.TextIOWrapper) and (sys.stdout.errors == "strict" or encoding != "utf8"):
        # Standard error does the same. UTF-8 has all characters: its error handler may pass on odd bytes of file names.
        sys.stdout.reconfigure(errors="backslashreplace")


def _failed(error: Exception) -> int:
    """Print the error as one line on standard error. Returns the exit status 1."""
    problem = str(error)
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename is not None else ""
        problem = f"{place}{error.strerror or error}"
    elif isinstance(error, MemoryError):
        problem = f"out of memory{': ' if problem else ''}{problem}"
    problem = _ARGUMENT.sub(lambda said: " ".join(filter(None, (_OPTIONS[said[1]], said[2], said[3]))), problem)
    problem = _FORMAT.sub(r"-R \1", problem)
    problem = problem.replace("num_actives", "--num-actives")
    problem = _MAPPED.sub(lambda said: "--columns" + (f" {said[1]}={said[2]}" if said[1] else ""), problem)
    say(f"hitcurve: error: {' '.join(problem.split())}")
    return 1


_EXAMPLES = """
examples:
  hitcurve table screen.csv --label active --score docking:lower
  hitcurve trec qrels.txt run.txt -m AP nDCG@10
  hitcurve measures BEDROC

`hitcurve COMMAND --help` lists the options of a command.
"""


def _parser() -> Parser:
    about = "Measure rankings: average precision, nDCG, ROC AUC, BEDROC and more, with exact handling of ties."
    parser = Parser(prog="hitcurve", description=about, epilog=_EXAMPLES)
    parser.add_argument("--version", action="version", version=f"hitcurve {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for each in (table, trec, measures):
        each.add(commands)
    return parser
