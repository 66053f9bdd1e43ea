"""A report as one HTML page that needs nothing else: tables, pictures, definitions, checksums of the files."""

from __future__ import annotations

import hashlib
import io
import os
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from hitcurve._curve import HitCurve, HitCurves
from hitcurve._grid import Grid, rendered
from hitcurve._version import __version__
from hitcurve.measures import parse
from hitcurve.report.plot import KINDS, figure, literal
from hitcurve.report.summary import Report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hitcurve.sources.screen import ScreenedScore

__all__ = ["figures", "page"]

_MOST_GROUPS = 7  # lines that a person can tell apart
_MOST_BANDS = 4

_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; color: #1a1a1a;
  background: #fff; max-width: 66rem; margin: 2rem auto; padding: 0 1.2rem; }
h1 { font-size: 1.6rem; margin: 0 0 .2rem; } h2 { font-size: 1.2rem; margin: 2.4rem 0 .6rem; }
p.lead { color: #555; margin-top: 0; }
table { border-collapse: collapse; margin: .8rem 0 1.2rem; font-variant-numeric: tabular-nums; font-size: 14px; }
th, td { padding: .18rem .75rem .18rem 0; text-align: right; white-space: nowrap; }
th { border-bottom: 1.5px solid #1a1a1a; font-weight: 600; }
.word { text-align: left; } td.note { text-align: left; color: #555; white-space: normal; }
tr.gap td { border-top: 1px solid #ccc; }
tbody tr:hover { background: #f3f6fa; }
.wide { overflow-x: auto; }
ul.warnings { background: #fff4e0; border-left: 4px solid #d55e00; padding: .6rem 1rem .6rem 2rem; }
figure { margin: 1rem 0; } figure svg { width: 100%; height: auto; }
figcaption { color: #555; font-size: 13px; }
dl { display: grid; grid-template-columns: max-content auto; gap: .3rem 1.2rem; font-size: 14px; }
dt { font-weight: 600; } dd { margin: 0; } dd .source { color: #555; }
code, pre { font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
pre { background: #f6f6f6; padding: .6rem .8rem; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
td.sum { font: 12px ui-monospace, "DejaVu Sans Mono", monospace; text-align: left; overflow-wrap: anywhere;
  white-space: normal; }
@media print { body { max-width: none; margin: 0; } tbody tr { break-inside: avoid; } figure { break-inside: avoid; } }
"""


def figures(found: Sequence[ScreenedScore], *, band: float | None, **how: Any) -> list[Figure]:
    """Pictures of all scores together; with groups, for each score the groups with most hits.

    Bands are drawn around few lines only, and not around those of groups.
    """
    plain = {score.name: score.curves for score in found if isinstance(score.curves, HitCurve)}
    curves = {literal(name): curve for name, curve in plain.items() if curve.num_hits}
    if curves:
        every = all(curve.num_relevant < curve.num_items for curve in curves.values())
        kinds = tuple(kind for kind in KINDS if kind != "roc" or every)
        band = band if len(curves) <= _MOST_BANDS else None
        return [figure(curves, kinds, band=band, **how)]
    drawn = []
    for score in found if not plain else ():
        assert isinstance(score.curves, HitCurves)
        named = zip(score.names or (), score.curves, strict=True)
        usable = [(literal(str(name)), curve) for name, curve in named if 0 < curve.num_hits < curve.num_items]
        most = sorted(range(len(usable)), key=lambda at: -usable[at][1].num_relevant)[:_MOST_GROUPS]
        if not most:
            continue
        title = literal(score.name) if len(found) > 1 else ""
        if len(most) < len(usable):
            title += f"{': ' if title else ''}the {len(most)} of {len(usable):,} groups with the most relevant items"
        drawn.append(figure(dict(usable[at] for at in sorted(most)), title=title))
    return drawn


def page(report: Report, num_rows: int, files: Sequence[str], command: Sequence[str], figures: Sequence[Figure],
         progress: Callable[[str], None]) -> str:  # fmt: skip
    """The report, made with ``page=True``, as text of one page.

    `num_rows` were read, from `files`, each of which is read again for its checksum; `command`: the words of the
    command line. `progress` is told what is done.
    """
    names = ", ".join(os.path.basename(path) for path in files[:3]) + (", ..." if len(files) > 3 else "")
    columns = f"{len(report.scores)} columns of scores" if report.named else "one column of scores"
    body = [f"<h1>{escape(names)}</h1>", f'<p class="lead">{num_rows:,} rows, {columns}</p>']
    if report.warnings:
        warnings = "".join(f"<li>{escape(one)}</li>" for one in report.warnings)
        body.append(f'<ul class="warnings">{warnings}</ul>')

    def part(title: str, *blocks: Grid | str) -> None:
        body.extend([f"<h2>{escape(title)}</h2>", rendered(blocks, "html")])

    if report.named:
        part("Summary", report.summary())
    for number, drawing in enumerate(figures):
        progress("drawing")
        caption = "Lines: expected over all orders of tied items; darker regions: from the worst to the best order."
        if report.level is not None and any(ax.collections for ax in drawing.axes):
            caption += f" Light bands: {100 * report.level:g} % of bootstrap resamples, at each point by itself."
        body.append(f"<figure>{_svg(drawing, number)}<figcaption>{escape(caption)}</figcaption></figure>")
    if report.differences:
        part("Differences", *report.differences)
    for score in report.scores:
        counts, grids, sentences = report.section(score)
        part(f"{score.name} ({score.direction} is better)", counts, *grids, " ".join(sentences))
    body.append("<h2>Definitions</h2>" + _definitions(name for block in report.usual for name in block))
    body.append(rendered([*report.legend, *report.how], "html"))
    progress("checksums")
    part("Where this comes from", Grid([["file", "bytes", "SHA-256"], *map(_file, files)], last="sum"))
    body.append(f"<pre>{escape(shlex.join(command))}</pre><p>hitcurve {__version__}</p>")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(names)}: hitcurve</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def _svg(drawing: Figure, number: int) -> str:
    """The picture as an element of the page; its ids are its own."""
    from warnings import catch_warnings, filterwarnings

    from matplotlib import rc_context

    out = io.StringIO()
    # Text stays text, in the fonts of the page; ids come from the salt, so that the same data give the same page.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": f"hitcurve-{number}"}), catch_warnings():
        filterwarnings("ignore", "Glyph .* missing from")  # of matplotlib's own font, which is not used
        drawing.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    # Without the licence block that matplotlib adds: it names addresses.
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text[text.index("<svg") :], flags=re.DOTALL)
    # Groups are numbered anew in each picture, and nothing points at them.
    used = set(re.findall(r"#([\w.-]+)", text))
    return re.sub(r' id="([\w.-]+)"', lambda found: found[0] if found[1] in used else "", text)


def _definitions(names: Iterable[str]) -> str:
    rows = ""
    for record in dict.fromkeys(parse(name).record for name in names):
        source = f'<span class="source">({escape(record.source)})</span>'
        rows += f"<dt>{escape(record.name)}</dt><dd>{escape(record.definition)} {source}</dd>"
    what = "N items, R of them relevant, h(k) relevant ones among the first k."
    return f"<dl>{rows}</dl><p>{what} A share of the list stands for that share of N, rounded up.</p>"


def _file(path: str) -> list[str]:
    if path == "-":
        return ["standard input", "", ""]
    with open(path, "rb") as file:
        return [path, f"{os.path.getsize(path):,}", hashlib.file_digest(file, "sha256").hexdigest()]
