"""What the commands share: how they are declared, types of arguments, and what they say on standard error."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable
from typing import Any

from hitcurve.measures import Measure, parse

__all__ = ["WIDTH", "Run", "command", "count", "measure", "say"]

WIDTH = 88
Run = Callable[[argparse.Namespace], str]


def command(commands: Any, name: str, run: Run, **texts: str) -> argparse.ArgumentParser:
    """The parser of a command that `run` carries out: it returns what is printed."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name, formatter_class=lambda prog: argparse.HelpFormatter(prog, max_help_position=22, width=WIDTH), **texts
    )
    parser.set_defaults(run=run, usage_error=parser.error)
    return parser


def count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 up")
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
