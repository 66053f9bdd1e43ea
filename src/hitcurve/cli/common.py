"""What the commands share: declarations, types of arguments, colours, and messages on standard error."""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from hitcurve._base.extras import lacking
from hitcurve._base.files import same_file, write_file
from hitcurve.measures import MEASURES, Measure, parse
from hitcurve.shown.grid import one_line

if TYPE_CHECKING:
    from hitcurve.statistics.comparison import Comparison

__all__ = [
    "FAILURES", "PICTURES", "WIDTH", "Option", "Parser", "Run", "beside", "coloured", "command", "count",
    "few_resamples", "measure", "no_output", "no_picture", "pictures_lack", "refuse", "resamples", "save_picture",
    "say", "seed", "warn", "whole", "write_page",
]  # fmt: skip

PICTURES = ".png, .svg, .pdf or .jpg"

WIDTH = 88
FAILURES = (OSError, ValueError, TypeError, ImportError, MemoryError)  # they end the command with one line
Run = Callable[[argparse.Namespace], str]
Option = tuple[str, str | None, str, dict[str, Any]]
"""The names, the name of the value (None: a flag), the help, and further arguments of `add_argument`."""

_SAID = re.compile(r"^(hitcurve[^:]*: )(warning|error):")
_COLOURS = {"warning": "1;35", "error": "1;31"}  # the colours of compilers, readable on light and on dark


class _Help(argparse.HelpFormatter):
    """Indented lines of the description and of the epilog keep their line ends."""

    def __init__(self, prog: str, width: int = WIDTH) -> None:
        super().__init__(prog, max_help_position=22, width=width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = text.splitlines()
        return "\n".join(line if line[:1] == " " else super(_Help, self)._fill_text(line, width, indent)
                         for line in lines)  # fmt: skip


class Parser(argparse.ArgumentParser):
    """The parser of one command, or of ``hitcurve`` itself."""

    def __init__(self, **texts: Any) -> None:
        super().__init__(formatter_class=_Help, **texts)

    def format_help(self) -> str:
        """The help, as wide as the terminal, at most `WIDTH`."""
        from shutil import get_terminal_size

        width = min(WIDTH, get_terminal_size((WIDTH + 2, 24)).columns - 2)
        self.formatter_class = lambda prog: _Help(prog, width)
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        say(f"{self.prog}: error: {message}")
        sys.exit(2)


def command(commands: Any, name: str, run: Run, options: Iterable[Option], **texts: str) -> None:
    """Declare a command. `run` carries out the command and returns the text to print."""
    parser: Parser = commands.add_parser(name, **texts)
    parser.set_defaults(run=run, usage_error=parser.error)
    for names, metavar, text, how in options:
        value: dict[str, Any] = {"action": "store_true"} if metavar is None else {"metavar": metavar}
        declared: Any = parser.add_argument(*names.split(), help=text, **value | how)
        if "-m" in names.split() or metavar == "MEASURE":
            declared.completer = _measures  # argcomplete calls it, if installed


def _measures(prefix: str, **_: Any) -> list[str]:
    """Completions of a measure: forms of its name, then trec_eval's names."""
    forms = [form for record in MEASURES for form in record.forms]
    synonyms = [name for record in MEASURES for name in record.synonyms if prefix]
    return forms + [name.replace("_K", "_10").replace("_X", "_0.20") for name in synonyms]


def unknown(options: argparse.Namespace, more: Sequence[str]) -> str:
    """What to write in place of arguments that no option takes, or an empty text."""
    forms = [one[2:] for one in more if one in ("--csv", "--json", "--latex", "--markdown")]
    if forms and hasattr(options, "format"):
        return f"; write --format {forms[0]}"
    if hasattr(options, "score") and not more[0].startswith("-"):
        return "; write --score once for each column, and all files together"
    return ""


def refuse(options: argparse.Namespace, problems: Iterable[tuple[object, str]]) -> None:
    """Exit with the text of the first problem whose condition is true."""
    for wrong, text in problems:
        if wrong:
            options.usage_error(text)


def no_picture(path: str | None) -> tuple[object, str]:
    """A problem for `refuse`: the name of a picture has an ending that is not supported."""
    endings = tuple(PICTURES.replace(" or", ",").split(", "))
    return path and not path.lower().endswith(endings), f"--plot {path}: the name must end in {PICTURES}"


def no_output(options: argparse.Namespace, inputs: Iterable[str]) -> Iterator[tuple[object, str]]:
    """Problems for `refuse`: a picture or a page would overwrite an input file or another output."""
    outputs = [(flag, path) for flag, path in (("--plot", options.plot), ("--report", options.report)) if path]
    for flag, path in outputs:
        for one in inputs:
            said = "standard input" if one == "-" else one
            yield same_file(path, _number(sys.stdin) if one == "-" else one), f"{flag} {path}: {said} is the same file"
        yield same_file(path, _number(sys.stdout)), f"{flag} {path}: standard output is the same file"
    paths = {os.path.realpath(path) for _, path in outputs}
    yield len(paths) < len(outputs), "--plot and --report name the same file"


def _number(stream: Any) -> int:
    """The file descriptor of a stream, or -1 if it has none."""
    try:
        return int(stream.fileno())
    except (AttributeError, OSError, ValueError):
        return -1


@contextlib.contextmanager
def beside(options: argparse.Namespace) -> Iterator[None]:
    """For a picture or a page: an error is reported after the numbers are printed, and sets the exit status."""
    try:
        yield
    except FAILURES as error:
        options.failed.append(error)


def pictures_lack() -> list[str]:
    """The warning of a page without pictures, in a list. The list is empty if pictures can be drawn."""
    return lacking("matplotlib", "there are no pictures on the page: a picture")


def save_picture(figure: Any, path: str) -> list[str]:
    """Write the picture to a file. Returns warnings."""
    from warnings import catch_warnings

    form, drawn = os.path.splitext(path)[1][1:].lower(), io.BytesIO()
    with catch_warnings(record=True, action="always") as caught:
        # Without metadata, such as the date, equal data give equal files. JPEG has no metadata.
        figure.savefig(drawn, format=form, **({} if form == "jpg" else {"metadata": {}}))
    write_file(path, drawn.getvalue())
    lacking = "matplotlib's font lacks some letters of the names: boxes are drawn in their place"
    return [f"{path}: {lacking}"] if any("missing from" in str(one.message) for one in caught) else []


def whole(least: int, most: float = math.inf, also: str = "") -> Callable[[str], int]:
    """The type of an argument: a whole number in digits, or the text `also`, which has a meaning of its own."""

    def number(text: str) -> int:
        if also and text == also:
            return int(text)
        if not (text.isascii() and text.isdigit() and int(text) >= least):
            more = f", nor {also} for all cores" if also else ""
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} up{more}")
        if int(text) > most:
            raise argparse.ArgumentTypeError(f"{text} is too large: at most {most:,}")
        return int(text)

    return number


count, seed = whole(1), whole(0)
resamples = whole(1, 1_000_000)  # memory holds a number for each resample


def few_resamples(comparison: Comparison, p: str = "p_holm") -> list[str]:
    """A warning if there are too few resamples for a significant difference, in a list."""
    from hitcurve.statistics.comparison import too_few
    from hitcurve.statistics.paired import alpha_of

    few = too_few(comparison, p, alpha_of(comparison.confidence_level))
    return [few.removesuffix(".")] if few else []


def measure(text: str) -> Measure:
    try:
        return parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def coloured(stream: Any) -> bool:
    """Whether text on the stream gets colours. Terminals do, unless the environment says otherwise."""
    if os.environ.get("NO_COLOR") or os.environ.get("FORCE_COLOR"):
        return not os.environ.get("NO_COLOR")
    plain = os.environ.get("TERM") == "dumb" or (os.name == "nt" and "WT_SESSION" not in os.environ)
    return not plain and stream is not None and bool(stream.isatty())


def say(line: str) -> None:
    """Write one line to standard error. A full disk or a closed pipe must not lose the numbers."""
    line = one_line(line)
    if coloured(sys.stderr):
        line = _SAID.sub(lambda found: f"{found[1]}\x1b[{_COLOURS[found[2]]}m{found[2]}:\x1b[0m", line)
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr)


def warn(lines: Iterable[str]) -> None:
    for line in lines:
        say(f"hitcurve: warning: {line}")


def write_page(path: str, text: str) -> None:
    write_file(path, text.encode("utf-8", "backslashreplace"))  # file names may have bytes that are not UTF-8
