"""The command ``hitcurve measures``."""

from __future__ import annotations

import argparse
import re
from textwrap import fill
from typing import Any

from hitcurve.cli.common import WIDTH, Option, command
from hitcurve.measures import MEASURES, Definition, parse
from hitcurve.retrieval.trec_eval import expand
from hitcurve.tools import TOOLS, measures_of, peers

__all__ = ["add"]

_EXAMPLES = """
examples:
  hitcurve measures                 the definition of every measure
  hitcurve measures BEDROC EF@1%    definition, source and names of both
  hitcurve measures RetrievalMAP    the measure that torchmetrics calls so
  hitcurve measures scikit-learn    the measures that scikit-learn has too
"""


def add(commands: Any) -> None:
    how = {"nargs": "*", "type": _asked}
    text = "a measure, such as AP or P@10, by its name in any tool; a tool; a set of trec_eval (default: all measures)"
    options: list[Option] = [("names", "MEASURE", text, how)]
    about = "List all measures, or print the definition, source and names of the measures that you name."
    text = "list the measures, or explain some of them"
    command(commands, "measures", _run, options, help=text, description=about, epilog=_EXAMPLES)


def _asked(text: str) -> str | list[Definition]:
    """The name of a tool, or the measures that have this name: here, or else in other tools."""
    named = [record for record in MEASURES if record.name == text]
    tools = [tool for tool in TOOLS if tool.lower() == text.lower()]
    if named or tools:
        return named or tools[0]
    try:
        found = {entry.measure.record.name for entry in expand(text) if entry.measure is not None}
        found = found or {parse(text).record.name}  # or an error: runid of trec_eval is no measure
    except ValueError as error:
        elsewhere = re.search("no measure|needs a cutoff|'[^']+' is not a cutoff", str(error))
        found = {*measures_of(text)} if elsewhere else set()
        found = found or {record.name for record in MEASURES if record.method == text}
        if not found:
            raise argparse.ArgumentTypeError(str(error)) from None
    return [record for record in MEASURES if record.name in found]


def _run(options: argparse.Namespace) -> str:
    if options.names:
        shown: dict[str, None] = {}
        for asked in options.names:
            shown |= dict.fromkeys([_of_tool(asked)] if isinstance(asked, str) else map(_details, asked))
        return "\n".join(shown)
    return "\n".join(map(_line, MEASURES)) + """

@10: the first k = 10 items. @1%: the first 1 %. N: items, R: relevant items,
h(k): relevant items among the first k. Equal scores: by default the expected value
over all orders; AP(ties=worst) is the value in the worst order.
`hitcurve measures AP` prints the source and the other names of a measure.
"""


def _details(record: Definition) -> str:
    """The definition, the names and the source of a measure."""
    others = [f"{peer.tool} ({', '.join(peer.names)}{': ' if peer.differs else ''}{peer.differs})"
              for peer in peers(record) if peer.tool not in ("trec_eval", "pytrec_eval")]  # fmt: skip
    none = "an error if their order matters" if record.ordered else "make no difference"
    lines = [record.name, f"definition: {record.definition}", f"written as: {', '.join(record.forms)}",
             f"trec_eval: {', '.join(record.synonyms) or 'has no such measure'}",
             *[f"other tools: {'; '.join(others)}"] * bool(others), f"ties: {', '.join(record.ties) or none}"
             + (f". {record.reading}" if record.reading else ""), f"source: {record.source}"]  # fmt: skip
    return "\n".join(fill(line, WIDTH, subsequent_indent="  ") for line in lines) + "\n"


def _of_tool(tool: str) -> str:
    """The measures that a tool has too, and what it calls them."""
    lines = [f"{record.name.ljust(12)}{', '.join(peer.names)}" + (f": {peer.differs}" if peer.differs else "")
             for record in MEASURES for peer in peers(record) if peer.tool == tool]  # fmt: skip
    shown = [fill(line, WIDTH, subsequent_indent=" " * 12, break_on_hyphens=False) for line in lines]
    return "\n".join([f"{tool}: the measures that it has too, its names, and where its numbers differ", *shown]) + "\n"


def _line(record: Definition) -> str:
    """The name, and the definition beside it. If the name fills its column, the definition is below it."""
    name, column = record.forms[0], " " * 12
    if len(name) < len(column):
        return fill(record.definition, WIDTH, initial_indent=name.ljust(len(column)), subsequent_indent=column,
                    break_on_hyphens=False)
    return f"{name}\n" + fill(record.definition, WIDTH, initial_indent=column, subsequent_indent=column,
                               break_on_hyphens=False)
