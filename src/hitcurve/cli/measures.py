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
  hitcurve measures                 what each of them is
  hitcurve measures BEDROC EF@1%    source and ways to write it as well
"""


def add(commands: Any) -> None:
    options: list[Option] = [("names", "MEASURE", "such as AP or P@10 (default: all)", {"nargs": "*", "type": _record})]
    about = "List the measures; for those named: definition, source, and how to write them."
    text = "list the measures, or say more about some"
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
    lines = [
        fill(record.definition, WIDTH, initial_indent=f"{record.forms[0]:<12}", subsequent_indent=" " * 12)
        for record in MEASURES
    ]
    return "\n".join(lines) + """

@10: the first k = 10 items. @1%: the first 1 %. N: items, R: relevant items,
h(k): relevant items among the first k. Ties: expected by default; AP(ties=worst) names another reading.
`hitcurve measures AP` says more about one measure.
"""
