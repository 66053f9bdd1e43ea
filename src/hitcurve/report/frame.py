"""The parts of every HTML page of a report: head and style, sections with tables, pictures, sources.

A page is a single file without scripts and links. It is made for screens in light and dark mode, for phones, where wide
tables scroll by themselves, for paper, and for screen readers.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hitcurve._base.words import many
from hitcurve._version import __version__
from hitcurve.report.svg import DARK, pictures
from hitcurve.shown.grid import Grid, as_html, number, rendered

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hitcurve.statistics.comparison import Comparison

__all__ = ["definitions", "document", "drawn", "first_names", "names_of", "picture", "section", "won"]

# The colours of the page in light and in dark mode. Text has a contrast of at least 4.5 (WCAG AA).
_COLOURS = {
    "ink": ("#1a1a1a", "#e8e8e8"), "paper": ("#ffffff", "#14171a"), "soft": ("#555555", "#b3b9bf"),
    "rule": ("#cccccc", "#40464c"), "shade": ("#f3f5f8", "#20252a"), "alert": ("#fff4e0", "#33260f"),
    "bar": ("#d55e00", "#ff8a3c"),
}  # fmt: skip
_LIGHT = "".join(f"--{name}:{pair[0]};" for name, pair in _COLOURS.items()) + "".join(f"--c{c[1:]}:{c};" for c in DARK)
_NIGHT = "".join(f"--{name}:{pair[1]};" for name, pair in _COLOURS.items())
_NIGHT += "".join(f"--c{light[1:]}:{dark};" for light, dark in DARK.items())
_STYLE = f"""
:root {{ color-scheme: light dark; {_LIGHT} }}
@media screen and (prefers-color-scheme: dark) {{ :root {{ {_NIGHT} }} }}""" + """
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; color: var(--ink);
  background: var(--paper); max-width: 66rem; margin: 2rem auto; padding: 0 1.2rem; overflow-wrap: anywhere;
  -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .2rem; }
h2 { font-size: 1.2rem; margin: 2.4rem 0 .6rem; } h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; }
p.lead { color: var(--soft); margin-top: 0; }
.wide { overflow-x: auto; margin: .8rem 0 1.2rem; overflow-wrap: normal; }
.wide:focus-visible { outline: 2px solid var(--bar); outline-offset: 2px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .875rem; }
th, td { padding: .18rem .75rem .18rem 0; text-align: right; white-space: nowrap; vertical-align: baseline; }
th { border-bottom: 1.5px solid var(--ink); font-weight: 600; }
.word, caption { text-align: left; } sup { line-height: 0; }
td.note { text-align: left; color: var(--soft); white-space: normal; min-width: 14rem; }
tr.gap td { border-top: 1px solid var(--rule); }
tbody tr:hover { background: var(--shade); }
ul.warnings { background: var(--alert); border-left: 4px solid var(--bar); padding: .6rem 1rem .6rem 2rem; }
summary { cursor: pointer; }
figure { margin: 1rem 0; }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: .8rem 1.2rem; }
.pictures svg { width: 100%; max-width: 42rem; height: auto; fill: currentColor; }
ul.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.4rem; justify-content: center; padding: 0;
  margin: .4rem 0; font-size: .875rem; }
ul.legend svg { vertical-align: middle; margin-right: .5rem; fill: currentColor; }
figcaption { color: var(--soft); font-size: .8125rem; }
dl { display: grid; grid-template-columns: max-content auto; gap: .3rem 1.2rem; font-size: .875rem; }
dt { font-weight: 600; } dd { margin: 0; } dd .source { color: var(--soft); }
pre, td.sum { font: .8125rem/1.45 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
pre { background: var(--shade); padding: .6rem .8rem; white-space: pre-wrap; }
td.sum { text-align: left; overflow-wrap: anywhere; white-space: normal; min-width: 17rem; }
@media (max-width: 40rem) {
  body { margin: 1rem auto; padding: 0 .9rem; } h1 { font-size: 1.35rem; }
  dl { display: block; } dt { margin-top: .6rem; }
  .word { white-space: normal; overflow-wrap: anywhere; min-width: 5.5rem; max-width: 24vw; }
  .mark { min-width: 0; }
  tr > :first-child:not(.mark), .mark + .word { position: sticky; left: 0; background: var(--paper);
    white-space: normal; min-width: 5.5rem; max-width: 45vw; overflow-wrap: break-word; }
}
@media print {
  body { max-width: none; margin: 0; padding: 0; font-size: 10pt; }
  h2, h3 { break-after: avoid; } tbody tr, .pictures svg, ul.warnings li { break-inside: avoid; }
  .wide { overflow: visible; } table { font-size: 7.5pt; } th, td { padding-right: .5rem; }
  td.note, td.sum { min-width: 0; } tbody tr:hover { background: none; }
  .pictures { grid-template-columns: 1fr 1fr; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""


_MOST_FILES = 20  # a table of more files is folded


def document(title: str, lead: str, warnings: Iterable[str], body: Iterable[str], files: Iterable[str],
             command: Sequence[str], progress: Callable[[str], None]) -> str:  # fmt: skip
    """The HTML of the page: title, a line `lead` below it, warnings, the parts `body`, and the sources.

    The sources are `files` with their checksums, for which each file is read again, the `command`, and the version.
    """
    progress("checksums")
    table = Grid([["file", "bytes", "SHA-256"], *map(_file, files)], last="sum")
    made_of = section("Where this comes from", table, most=_MOST_FILES)
    made_of += f"\n<pre>{as_html(shlex.join(command))}</pre><p>hitcurve {__version__}</p>"
    said = "".join(f"<li>{as_html(one)}</li>" for one in warnings)
    parts = [f"<h1>{as_html(title)}</h1>", f'<p class="lead">{as_html(lead)}</p>']
    parts += [f'<ul class="warnings" aria-label="Warnings">{said}</ul>'] if said else []
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{as_html(title)}: hitcurve</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join([*parts, *body, made_of])
        + "\n</body>\n</html>\n"
    )


def section(title: str, *blocks: Grid | str, most: int = 200) -> str:
    """HTML of a heading, and below it tables and lines of text.

    A table of more than `most` rows is folded. The line that unfolds it has the caption and the number of rows.
    """
    # A table scrolls by itself, also with the keyboard. Screen readers read its label.
    scrolled = f'<div class="wide" role="group" tabindex="0" aria-label="{as_html(title)}">'
    parts = [f"<h2>{as_html(title)}</h2>"]
    for block in blocks:
        folded = f"{many(len(block.rows) - 1, 'rows', ',')}" if isinstance(block, Grid) else ""
        if isinstance(block, Grid) and len(block.rows) - 1 > most:
            folded = f"{block.caption}: {folded}" if block.caption else folded
            block = block._replace(caption="")
        else:
            folded = ""
        text = rendered([block], "html").replace('<div class="wide">', scrolled)
        parts.append(f"<details><summary>{as_html(folded)}</summary>\n{text}\n</details>" if folded else text)
    return "\n\n".join(parts)


def won(comparison: Comparison, ids: Sequence[Any], values: Mapping[str, Mapping[str, Any]]) -> Grid:
    """A table: for each pair of systems, the numbers of queries (or groups) in which either system is ahead.

    `values`: for each system and measure, an array with a value for each of `ids`.
    """
    unit = comparison.unit
    head = ["measure", "system", "baseline", f"{unit} higher", "equal", "lower"]
    rows = [[*head, "most higher", "by", "most lower", "by"]]
    for row in comparison.rows:
        apart = values[row.system][row.measure] - values[row.baseline][row.measure]
        counts = [int((apart > 0).sum()), int((apart == 0).sum()), int((apart < 0).sum())]
        ends = []
        for count, place in ((counts[0], np.argmax), (counts[2], np.argmin)):
            most = int(place(np.nan_to_num(apart, nan=0.0)))
            ends += [str(ids[most]), number(float(apart[most]), "+")] if count else ["-", "-"]
        rows.append([row.measure, row.system, row.baseline, *(f"{count:,}" for count in counts), *ends])
    return Grid(rows, 3, foot=(f"Higher: {unit} in which the system's value is above the baseline's.",))


def definitions(found: Iterable[tuple[str, str, str]]) -> str:
    """HTML of the definitions: rows of name, definition and source, which may be empty."""
    rows = ""
    for name, text, source in found:
        source = f' <span class="source">({as_html(source)})</span>' if source else ""
        rows += f"<dt>{as_html(name)}</dt><dd>{as_html(text)}{source}</dd>"
    return f"<h2>Definitions</h2><dl>{rows}</dl>"


def drawn(figures: Iterable[tuple[Figure, str]], progress: Callable[[str], None]) -> Iterator[str]:
    """HTML of all figures of a page, each with its caption."""
    for at, (drawing, caption) in enumerate(figures):
        progress("drawing")
        yield picture(drawing, at, caption)


def picture(drawing: Figure, number: int, caption: str) -> str:
    """HTML of figure `number` of a page: pictures side by side where there is room, legend and caption."""
    title, parts, legend, notes = pictures(drawing, number)
    caption += "".join(f" {note[0].upper()}{note[1:]}." for note in notes)
    entries = "".join(f"<li>{line}{as_html(name)}</li>" for line, name in legend)
    return (
        (f"<h3>{as_html(title)}</h3>" if title else "")
        + f'<figure><div class="pictures">{"".join(parts)}</div>'
        + (f'<ul class="legend" aria-label="Legend">{entries}</ul>' if entries else "")
        + f"<figcaption>{as_html(caption)}</figcaption></figure>"
    )


def names_of(files: Sequence[str]) -> str:
    """The names of the first files, without their folders."""
    return first_names(["standard input" if path == "-" else os.path.basename(path) for path in files])


def first_names(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")


def _file(path: str) -> list[str]:
    if path == "-":
        return ["standard input", "", ""]
    with open(path, "rb") as file:
        return [path, f"{os.path.getsize(path):,}", hashlib.file_digest(file, "sha256").hexdigest()]
