"""What the commands share: how they are declared, types of arguments, and what they say on standard error."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable
from typing import Any

from hitcurve.measures import Measure, parse

__all__ = ["WIDTH", "Progress", "Run", "command", "count", "measure", "say"]

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


class Progress:
    """One line on standard error that says what is done, where somebody may be watching it."""

    def __init__(self) -> None:
        self.watched = sys.stderr.isatty()
        self.width = 0
        self.last = 0.0

    def __call__(self, text: str) -> None:
        if not self.watched:
            return
        from time import monotonic

        now = monotonic()
        if now - self.last > 0.1 or not text.endswith(("rows", "%")):
            sys.stderr.write(f"\r{text:<{self.width}}")
            sys.stderr.flush()
            self.width, self.last = len(text), now

    def clear(self) -> None:
        if self.width:
            sys.stderr.write(f"\r{'':<{self.width}}\r")
            sys.stderr.flush()
