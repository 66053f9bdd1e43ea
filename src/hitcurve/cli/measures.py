"""The command ``hitcurve measures``."""

from __future__ import annotations

import argparse
from textwrap import fill
from typing import Any

from hitcurve.cli.common import WIDTH, Option, command, measure
from hitcurve.measures import MEASURES, Definition

__all__ = ["add"]

_EXAMPLES = """
examples:
  hitcurve measures                 the definition of every measure
  hitcurve measures BEDROC EF@1%    definition, source and spelling of two
"""


def add(commands: Any) -> None:
    how = {"nargs": "*", "type": _record}
    options: list[Option] = [("names", "MEASURE", "a measure, such as AP or P@10 (default: all)", how)]
    about = "List the measures, or print definition, source and spellings of those that you name."
    text = "list the measures, or explain those that you name"
    command(commands, "measures", _run, options, help=text, description=about, epilog=_EXAMPLES)


def _record(text: str) -> Definition:
    named = [record for record in MEASURES if record.name == text]
    return named[0] if named else measure(text).record


def _run(options: argparse.Namespace) -> str:
    if options.names:
        details = []
        for record in dict.fromkeys(options.names):
            lines = [record.name, f"definition: {record.definition}", f"written as: {', '.join(record.forms)}",
                     f"trec_eval: {', '.join(record.synonyms) or 'has no such measure'}",
                     f"ties: {', '.join(record.ties) or 'make no difference'}"
                     + (f". {record.reading}" if record.reading else ""), f"source: {record.source}"]  # fmt: skip
            details.append("\n".join(fill(line, WIDTH, subsequent_indent="  ") for line in lines) + "\n")
        return "\n".join(details)
    return "\n".join(map(_line, MEASURES)) + """

@10: the first k = 10 items. @1%: the first 1 %. N: items, R: relevant items,
h(k): relevant items among the first k. Equal scores: the expected value by default,
or another reading by name, as in AP(ties=worst).
`hitcurve measures AP` says more about one measure.
"""


def _line(record: Definition) -> str:
    """The name and the definition beside it, or below a name that fills its column, as in the help of options."""
    name, column = record.forms[0], " " * 12
    if len(name) < len(column):
        return fill(record.definition, WIDTH, initial_indent=name.ljust(len(column)), subsequent_indent=column,
                    break_on_hyphens=False)
    return f"{name}\n" + fill(record.definition, WIDTH, initial_indent=column, subsequent_indent=column,
                               break_on_hyphens=False)
