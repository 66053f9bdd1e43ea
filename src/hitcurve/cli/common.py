"""What the commands share: how they are declared, types of arguments, and what they say on standard error."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterable
from typing import Any

from hitcurve.measures import Measure, parse

__all__ = ["WIDTH", "Option", "Run", "command", "count", "measure", "refuse", "say", "seed"]

WIDTH = 88
Run = Callable[[argparse.Namespace], str]
Option = tuple[str, str | None, str, dict[str, Any]]
"""Names, the value's name (None: a flag), the help, and what else argparse takes."""


def command(commands: Any, name: str, run: Run, options: Iterable[Option], **texts: str) -> None:
    """Declare a command that `run` carries out: it returns what is printed."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name, formatter_class=lambda prog: argparse.HelpFormatter(prog, max_help_position=22, width=WIDTH), **texts
    )
    parser.set_defaults(run=run, usage_error=parser.error)
    for names, metavar, text, how in options:
        value: dict[str, Any] = {"action": "store_true"} if metavar is None else {"metavar": metavar}
        parser.add_argument(*names.split(), help=text, **value | how)


def refuse(options: argparse.Namespace, problems: Iterable[tuple[object, str]]) -> None:
    """Wrong usage ends here."""
    for wrong, text in problems:
        if wrong:
            options.usage_error(text)


def count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 up")
    return int(text)


def seed(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 up")
    return int(text)


def measure(text: str) -> Measure:
    try:
        return parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def say(line: str) -> None:
    """On standard error; a full device or a reader that went away must not cost the numbers."""
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr)
