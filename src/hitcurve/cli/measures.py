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
  hitcurve measures BEDROC EF@1%    definition, source and names of both
"""


def add(commands: Any) -> None:
    how = {"nargs": "*", "type": _record}
    options: list[Option] = [("names", "MEASURE", "a measure, such as AP or P@10 (default: all)", how)]
    about = "List all measures, or print the definition, source and names of the measures that you name."
    text = "list the measures, or explain some of them"
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
h(k): relevant items among the first k. Equal scores: by default the expected value
over all orders; AP(ties=worst) is the value in the worst order.
`hitcurve measures AP` prints the source and the other names of a measure.
"""


def _line(record: Definition) -> str:
    """The name, and the definition beside it. If the name fills its column, the definition is below it."""
    name, column = record.forms[0], " " * 12
    if len(name) < len(column):
        return fill(record.definition, WIDTH, initial_indent=name.ljust(len(column)), subsequent_indent=column,
                    break_on_hyphens=False)
    return f"{name}\n" + fill(record.definition, WIDTH, initial_indent=column, subsequent_indent=column,
                               break_on_hyphens=False)
