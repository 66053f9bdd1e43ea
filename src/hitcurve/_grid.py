"""One table of cells, set as aligned text, Markdown, LaTeX, HTML or CSV."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

__all__ = ["Grid", "as_csv", "between", "number", "rendered"]


class Grid(NamedTuple):
    """Cells in rows, the first of which is the head: `left` columns of words, then numbers."""

    rows: list[list[str]]
    left: int = 1
    last: str = ""  # if the last column holds words: their class in HTML
    bare: bool = False  # plain text leaves out the head
    breaks: tuple[int, ...] = ()  # rows before which there is a gap
    foot: tuple[str, ...] = ()  # lines below the table

    def kinds(self) -> list[str]:
        """For each column "word", the class of other words, or "" for numbers."""
        width = len(self.rows[0])
        return ["word" if at < self.left else self.last if at == width - 1 else "" for at in range(width)]


def rendered(blocks: Iterable[Grid | str], form: str = "table") -> str:
    """The tables and the text between them; `form` is "table" (aligned text), "terminal" (the same, heads in bold),
    "markdown", "latex" or "html"."""
    table, lines = _FORMS[form]
    gap = "\n" if form in ("table", "terminal") else "\n\n"
    parts = [lines(one) if isinstance(one, str) else gap.join([table(one), *map(lines, one.foot)]) for one in blocks]
    return "\n\n".join(parts)


def number(value: float, sign: str = "") -> str:
    return "-" if math.isnan(value) else f"{value:{sign}.4f}"


def between(low: float, high: float, sign: str = "") -> str:
    return "-" if math.isnan(low) or math.isnan(high) else f"{low:{sign}.4f} to {high:{sign}.4f}"


def as_csv(rows: Iterable[Iterable[Any]]) -> str:
    import csv
    import io

    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def _line(text: str) -> str:
    """The text without line ends, which names may hold and a line of a table must not."""
    return " ".join(text.splitlines())


def _text(grid: Grid) -> str:
    rows = [[_line(cell) for cell in row] for row in grid.rows[grid.bare :]]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for number, row in enumerate(rows):
        cells = zip(row, widths, grid.kinds(), strict=True)
        line = "  ".join(cell.ljust(width) if kind else cell.rjust(width) for cell, width, kind in cells)
        lines.append(("\n" if number in grid.breaks else "") + line.rstrip())
    return "\n".join(lines)


def _terminal(grid: Grid) -> str:
    head, *body = _text(grid).split("\n")
    return "\n".join([head if grid.bare else f"\x1b[1m{head}\x1b[0m", *body])


_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def _markdown_words(text: str) -> str:
    """The text letter by letter: no markup, no HTML, no end of a cell or line. Inside a word "_" means nothing."""
    marks = r"[&<>\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])"
    return re.sub(marks, lambda found: _ENTITIES.get(found[0], "\\" + found[0]), _line(text))


def _markdown(grid: Grid) -> str:
    head, *body = ([_markdown_words(cell) for cell in row] for row in grid.rows)
    rule = ["---" if kind else "--:" for kind in grid.kinds()]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *body))


_LATEX = str.maketrans({mark: f"\\{mark}" for mark in "&%$#_{}"} | {"<": "$<$", ">": "$>$"} | {
    mark: rf"\text{name}{{}}" for mark, name in {"\\": "backslash", "~": "asciitilde", "^": "asciicircum"}.items()
})  # fmt: skip


def _latex(grid: Grid) -> str:
    """With the rules of the package booktabs."""
    head, *body = (" & ".join(_line(cell).translate(_LATEX) for cell in row) + r" \\" for row in grid.rows)
    columns = "".join("l" if kind else "r" for kind in grid.kinds())
    lines = [r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"]
    return "\n".join([rf"\begin{{tabular}}{{{columns}}}", *lines])


def _html_words(text: str) -> str:
    from html import escape

    return escape(text)


def _html(grid: Grid) -> str:
    def line(row: list[str], tag: str) -> str:
        cells = zip(row, grid.kinds(), strict=True)
        marked = [(f' class="{kind if tag == "td" else "word"}"' if kind else "", cell) for cell, kind in cells]
        return "".join(f"<{tag}{kind}>{_html_words(cell)}</{tag}>" for kind, cell in marked)

    head, *body = grid.rows
    rows = [f"<tr{' class=gap' if at in grid.breaks else ''}>{line(row, 'td')}</tr>" for at, row in enumerate(body, 1)]
    lines = ['<div class="wide"><table><thead><tr>' + line(head, "th") + "</tr></thead>", "<tbody>", *rows]
    return "\n".join([*lines, "</tbody></table></div>"])


_FORMS: dict[str, tuple[Callable[[Grid], str], Callable[[str], str]]] = {
    "table": (_text, str),
    "terminal": (_terminal, str),
    "markdown": (_markdown, lambda text: "\n".join(map(_markdown_words, text.splitlines()))),
    "latex": (_latex, lambda text: "% " + text.replace("\n", "\n% ")),
    "html": (_html, lambda text: f"<p>{_html_words(text)}</p>"),
}
