"""A report as one HTML page that needs nothing else: tables, pictures, definitions, checksums of the files."""

from __future__ import annotations

import io
import os
import re
import shlex
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from hitcurve._curve import HitCurve, HitCurves
from hitcurve.measures import parse
from hitcurve.report.summary import LEGEND, METHODS, Grid, report_names, section, sizes_of, summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hitcurve.sources.screen import Screen

__all__ = ["SAVED", "figures", "page"]

# Of a picture nothing but the data should decide what is in the file.
SAVED: dict[str, Any] = {"metadata": {}}
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


def figures(
    found: Screen, *, band: float | None, rng: Any, n_resamples: int = 1000, workers: int = 1
) -> list[tuple[str, Figure]]:
    """The pictures of what was read: of all scores together, or with groups for each score those with most hits.

    Bands are drawn around few lines only, and not around those of groups.
    """
    from hitcurve.report.plot import KINDS, figure

    drawn = []
    plain = {score.name: score.curves for score in found.scores if isinstance(score.curves, HitCurve)}
    if plain:
        curves = {_literal(name): curve for name, curve in plain.items() if curve.num_hits}
        if curves:
            drawing: Any = {"n_resamples": n_resamples, "rng": rng, "workers": workers}
            drawing["band"] = band if len(curves) <= _MOST_BANDS else None
            every = all(curve.num_relevant < curve.num_items for curve in curves.values())
            kinds = tuple(kind for kind in KINDS if kind != "roc" or every)
            drawn.append(("", figure(curves, kinds, **drawing)))
        return drawn
    for score in found.scores:
        assert score.names is not None
        assert isinstance(score.curves, HitCurves)
        usable = [
            (_literal(str(name)), curve)
            for name, curve in zip(score.names, score.curves, strict=True)
            if 0 < curve.num_hits < curve.num_items
        ]
        largest = sorted(usable, key=lambda one: -one[1].num_relevant)[:_MOST_GROUPS]
        shown = {name: curve for name, curve in usable if (name, curve) in largest}
        if not shown:
            continue
        title = _literal(score.name) if len(found.scores) > 1 else ""
        if len(shown) < len(usable):
            title += f"{': ' if title else ''}the {len(shown)} of {len(usable):,} groups with the most relevant items"
        drawn.append((score.name, figure(shown, title=title)))
    return drawn


def _literal(name: str) -> str:
    """The name as matplotlib shows it letter by letter: it takes what stands between two $ for a formula."""
    return name.replace("$", r"\$")


def page(
    found: Screen,
    *,
    files: Sequence[str | os.PathLike[str]],
    command: Sequence[str],
    warnings: Sequence[str] = (),
    intervals: Sequence[Any] | None = None,
    ties: str | None = None,
    level: float = 0.95,
    list_sizes: Sequence[int] | None = None,
    comparison: Any = None,
    figures: Sequence[tuple[str, Figure]] = (),
    progress: Callable[[str], None] = lambda text: None,
) -> str:
    """The page as text.

    Parameters
    ----------
    found : Screen
    files : sequence of str or path
        What was read; each is read again for its checksum.
    command : sequence of str
        The words of the command line.
    warnings : sequence of str
    intervals : sequence, optional
        For each score what `section` takes.
    ties : str, optional
        As for `section`.
    level : float
        The confidence level of the intervals.
    list_sizes : sequence of int, optional
        As for `section`.
    comparison : Comparison, optional
    figures : sequence of (str, Figure)
    progress : callable
        Is told what is done.
    """
    from hitcurve import __version__

    names = ", ".join(os.path.basename(str(path)) for path in files[:3]) + (", ..." if len(files) > 3 else "")
    columns = f"{len(found.scores)} columns of scores" if len(found.scores) > 1 else "one column of scores"
    body = [f"<h1>{escape(names)}</h1>"]
    body.append(f'<p class="lead">{found.num_rows:,} rows, {columns}</p>')
    if warnings:
        body.append('<ul class="warnings">' + "".join(f"<li>{escape(one)}</li>" for one in warnings) + "</ul>")
    if len(found.scores) > 1:
        body.append("<h2>Summary</h2>")
        body.append(_table(summary([(score.name, score.curves, score.names) for score in found.scores])))
    for number, (_, drawing) in enumerate(figures):
        progress("drawing")
        caption = "Lines: expected over all orders of tied items; darker regions: from the worst to the best order."
        if any(ax.collections for ax in drawing.axes):
            caption += f" Light bands: {100 * level:g} % of bootstrap resamples, at each point by itself."
        body.append(f"<figure>{_svg(drawing, number)}<figcaption>{escape(caption)}</figcaption></figure>")
    if comparison is not None:
        body.append(f"<h2>Differences</h2><pre>{escape(str(comparison))}</pre>")
    used: dict[str, None] = {}
    for at, score in enumerate(found.scores):
        direction = "lower" if score.lower_is_better else "higher"
        ends = None if intervals is None else intervals[at]
        parts = section(score.curves, names=score.names, ties=ties, list_sizes=list_sizes, intervals=ends)
        body.append(f"<h2>{escape(score.name)} ({direction} is better)</h2><p>{escape(parts.counts)}</p>")
        body += [_table(grid) for grid in parts.grids]
        body += [f"<p>{escape(' '.join(parts.sentences))}</p>"]
        used |= dict.fromkeys(one for block in report_names(sizes_of(score.curves, list_sizes)) for one in block)
    body.append("<h2>Definitions</h2>" + _definitions(list(used)))
    lines = list(LEGEND)
    if intervals is not None:
        lines.append(f"Intervals: {100 * level:g} %, {METHODS[found.scores[0].names is not None]}")
    body += [f"<p>{escape(line)}</p>" for line in lines]
    progress("checksums")
    body.append("<h2>Where this comes from</h2>" + _files(files))
    body.append(f"<pre>{escape(shlex.join(command))}</pre><p>hitcurve {escape(__version__)}</p>")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(names)}: hitcurve</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def _table(grid: Grid) -> str:
    head, *rows = grid.rows
    last = len(head) - 1

    def kind(at: int, cell: str) -> str:
        if at < grid.left:
            return ' class="word"'
        return f' class="{cell}"' if grid.notes and at == last else ""

    def line(cells: list[str], tag: str, note: str) -> str:
        return "".join(f"<{tag}{kind(at, note)}>{escape(cell)}</{tag}>" for at, cell in enumerate(cells))

    lines = [
        f'<tr{" class=gap" if number in grid.breaks else ""}>{line(row, "td", "note")}</tr>'
        for number, row in enumerate(rows, 1)
    ]
    return (
        f'<div class="wide"><table><thead><tr>{line(head, "th", "word")}</tr></thead>\n<tbody>\n'
        + "\n".join(lines)
        + "\n</tbody></table></div>"
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


def _definitions(names: list[str]) -> str:
    records = dict.fromkeys(parse(name).record for name in names)
    rows = [
        f'<dt>{escape(record.name)}</dt><dd>{escape(record.definition)} <span class="source">({escape(record.source)})'
        "</span></dd>"
        for record in records
    ]
    return (
        f"<dl>{''.join(rows)}</dl><p>N items, R of them relevant, h(k) relevant ones among the first k. A share of the "
        "list stands for that share of N, rounded up.</p>"
    )


def _files(files: Sequence[str | os.PathLike[str]]) -> str:
    import hashlib

    rows = []
    for path in files:
        if str(path) == "-":
            rows.append(("standard input", "", ""))
            continue
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        rows.append((str(path), f"{os.path.getsize(path):,}", digest))
    lines = "".join(
        f'<tr><td class="word">{escape(name)}</td><td>{size}</td><td class="sum">{digest}</td></tr>'
        for name, size, digest in rows
    )
    return (
        '<div class="wide"><table><thead><tr><th class="word">file</th><th>bytes</th><th class="word">SHA-256</th></tr>'
        f"</thead><tbody>{lines}</tbody></table></div>"
    )
