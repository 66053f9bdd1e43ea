"""What the commands share: how they are declared, types of arguments, colours, and what they say on standard error."""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
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
FAILURES = (OSError, ValueError, TypeError, ImportError, MemoryError)  # that end the command with a line
Run = Callable[[argparse.Namespace], str]
Option = tuple[str, str | None, str, dict[str, Any]]
"""Names, the value's name (None: a flag), the help, and what else argparse takes."""

_SAID = re.compile(r"^(hitcurve[^:]*: )(warning|error):")
_COLOURS = {"warning": "1;35", "error": "1;31"}  # as compilers have them, on light and dark


class _Help(argparse.HelpFormatter):
    """Of what stands around the options indented lines stay as they are."""

    def __init__(self, prog: str, width: int = WIDTH) -> None:
        super().__init__(prog, max_help_position=22, width=width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = text.splitlines()
        return "\n".join(line if line[:1] == " " else super(_Help, self)._fill_text(line, width, indent)
                         for line in lines)  # fmt: skip


class Parser(argparse.ArgumentParser):
    """A command's parser, or that of all commands."""

    def __init__(self, **texts: Any) -> None:
        super().__init__(formatter_class=_Help, **texts)

    def format_help(self) -> str:
        """As wide as the terminal, at most `WIDTH`."""
        from shutil import get_terminal_size

        width = min(WIDTH, get_terminal_size((WIDTH + 2, 24)).columns - 2)
        self.formatter_class = lambda prog: _Help(prog, width)
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        say(f"{self.prog}: error: {message}")
        sys.exit(2)


def command(commands: Any, name: str, run: Run, options: Iterable[Option], **texts: str) -> None:
    """Declare a command that `run` carries out: it returns what is printed."""
    parser: Parser = commands.add_parser(name, **texts)
    parser.set_defaults(run=run, usage_error=parser.error)
    for names, metavar, text, how in options:
        value: dict[str, Any] = {"action": "store_true"} if metavar is None else {"metavar": metavar}
        declared: Any = parser.add_argument(*names.split(), help=text, **value | how)
        if "-m" in names.split() or metavar == "MEASURE":
            declared.completer = _measures  # where argcomplete is installed


def _measures(prefix: str, **_: Any) -> list[str]:
    """What may stand for a measure on the command line: forms, then trec_eval's names."""
    forms = [form for record in MEASURES for form in record.forms]
    synonyms = [name for record in MEASURES for name in record.synonyms if prefix]
    return forms + [name.replace("_K", "_10").replace("_X", "_0.20") for name in synonyms]


def refuse(options: argparse.Namespace, problems: Iterable[tuple[object, str]]) -> None:
    """Wrong usage ends here."""
    for wrong, text in problems:
        if wrong:
            options.usage_error(text)


def no_picture(path: str | None) -> tuple[object, str]:
    """For `refuse`: whether the name of a picture has an ending that none is written for."""
    endings = tuple(PICTURES.replace(" or", ",").split(", "))
    return path and not path.lower().endswith(endings), f"--plot {path}: the name must end in {PICTURES}"


def no_output(options: argparse.Namespace, inputs: Iterable[str]) -> Iterator[tuple[object, str]]:
    """For `refuse`: whether a picture or a page would be written over a file that is read, or over another output."""
    outputs = [(flag, path) for flag, path in (("--plot", options.plot), ("--report", options.report)) if path]
    for flag, path in outputs:
        for one in inputs:
            said = "standard input" if one == "-" else one
            yield same_file(path, _number(sys.stdin) if one == "-" else one), f"{flag} {path}: {said} is the same file"
        yield same_file(path, _number(sys.stdout)), f"{flag} {path}: standard output is the same file"
    paths = {os.path.realpath(path) for _, path in outputs}
    yield len(paths) < len(outputs), "--plot and --report name the same file"


def _number(stream: Any) -> int:
    """By which the system knows a stream; -1: it does not."""
    try:
        return int(stream.fileno())
    except (AttributeError, OSError, ValueError):
        return -1


@contextlib.contextmanager
def beside(options: argparse.Namespace) -> Iterator[None]:
    """What is written beside the numbers: an error there is said after they are printed, and is the status."""
    try:
        yield
    except FAILURES as error:
        options.failed.append(error)


def pictures_lack() -> list[str]:
    """What a page is warned of that is written without pictures; empty where they can be drawn."""
    return lacking("matplotlib", "there are no pictures on the page: a picture")


def save_picture(figure: Any, path: str) -> list[str]:
    """Write it; what a person should know of it."""
    from warnings import catch_warnings

    form, drawn = os.path.splitext(path)[1][1:].lower(), io.BytesIO()
    with catch_warnings(record=True, action="always") as caught:
        # Nothing but the data should decide what is in the file; JPEG has no such texts.
        figure.savefig(drawn, format=form, **({} if form == "jpg" else {"metadata": {}}))
    write_file(path, drawn.getvalue())
    lacking = "matplotlib's font lacks letters of the names, which are drawn as boxes"
    return [f"{path}: {lacking}"] if any("missing from" in str(one.message) for one in caught) else []


def whole(least: int, most: float = math.inf, also: str = "") -> Callable[[str], int]:
    """The type of an argument: a number of digits; or `also`, which stands for a word of its own."""

    def number(text: str) -> int:
        if also and text == also:
            return int(text)
        if not (text.isascii() and text.isdigit() and int(text) >= least):
            more = f", nor {also} for all cores" if also else ""
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} up{more}")
        if int(text) > most:
            raise argparse.ArgumentTypeError(f"{text} are too many: at most {most:,}")
        return int(text)

    return number


count, seed = whole(1), whole(0)
resamples = whole(1, 1_000_000)  # a number of each is kept in memory


def few_resamples(comparison: Comparison, p: str = "p_holm") -> list[str]:
    """A warning where there were too few resamples for a significant difference."""
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
    """Whether text on the stream has colours: on terminals, unless the environment says otherwise."""
    if os.environ.get("NO_COLOR") or os.environ.get("FORCE_COLOR"):
        return not os.environ.get("NO_COLOR")
    plain = os.environ.get("TERM") == "dumb" or (os.name == "nt" and "WT_SESSION" not in os.environ)
    return not plain and stream is not None and bool(stream.isatty())


def say(line: str) -> None:
    """One line on standard error; a full device or a reader that went away must not cost the numbers."""
    line = one_line(line)
    if coloured(sys.stderr):
        line = _SAID.sub(lambda found: f"{found[1]}\x1b[{_COLOURS[found[2]]}m{found[2]}:\x1b[0m", line)
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr)


def warn(lines: Iterable[str]) -> None:
    for line in lines:
        say(f"hitcurve: warning: {line}")


def write_page(path: str, text: str) -> None:
    write_file(path, text.encode("utf-8", "backslashreplace"))  # names of files may hold bytes that are no text
