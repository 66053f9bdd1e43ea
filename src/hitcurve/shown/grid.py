"""Tables of cells, as aligned text, Markdown, LaTeX, HTML or CSV."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from hitcurve.shown import latex

__all__ = [
    "Grid", "Marked", "as_csv", "as_html", "as_json", "between", "escaped", "number", "one_line", "rendered",
]  # fmt: skip


class Marked(str):
    """A text that is printed bold, underlined, or with raised marks after it. Otherwise it is a plain string."""

    bold: bool
    under: bool
    above: tuple[str, ...]

    def __new__(cls, text: str, *, bold: bool = False, under: bool = False, above: Iterable[str] = ()) -> Marked:
        made = super().__new__(cls, text)
        made.bold, made.under, made.above = bold, under, tuple(above)
        return made


class Grid(NamedTuple):
    """Rows of cells. The first row is the head. The first `left` columns hold words, the others numbers."""

    rows: list[list[str]]
    left: int = 1
    last: str = ""  # if the last column holds words, its class in HTML
    bare: bool = False  # whether plain text leaves out the head
    breaks: tuple[int, ...] = ()  # rows with a gap before them
    foot: tuple[str | tuple[str, ...], ...] = ()  # lines below the table; a line may be a tuple of parts
    caption: str = ""  # LaTeX code in LaTeX
    label: str = ""  # the label of the table in LaTeX
    joined: tuple[int, ...] = ()  # columns that stay beside the column before them, such as the ends of an interval

    def kinds(self) -> list[str]:
        """The class of each column in HTML: "word", "word mark" for the letters of rows, `last`, or "" for numbers."""
        head = self.rows[0]
        words = ["word mark" if title == "#" else "word" for title in head[: self.left]]
        return words + [""] * (len(head) - len(words) - 1) + [self.last] * (len(head) > len(words))


def rendered(blocks: Iterable[Grid | str], form: str = "table") -> str:
    """The tables, and the text between them, as one text.

    `form` is "table" (aligned text), "terminal" (aligned text with bold heads), "markdown", "latex" or "html".
    """
    how = _FORMS[form]

    def line(text: str | tuple[str, ...]) -> str:
        return how.line(text) if isinstance(text, str) else how.put("".join(_set(part, how) for part in text))

    def block(grid: Grid) -> str:
        if form == "latex" and (grid.caption or grid.label):
            return _environment(grid)
        lead = [line(grid.caption)] if grid.caption and form != "html" else []
        return ("\n" if form in ("table", "terminal") else "\n\n").join([*lead, how.table(grid), *map(line, grid.foot)])

    return "\n\n".join(line(one) if isinstance(one, str) else block(one) for one in blocks)


_ROUNDING, _LARGE = 1e-13, 1e16


def number(value: float, sign: str = "", digits: int = 4) -> str:
    """A number as tables print it: "-" for NaN, no sign on a rounded 0, an exponent from 1e16 on."""
    if math.isnan(value):
        return "-"
    if abs(value) < _ROUNDING and digits <= 12:
        value = 0.0
    return f"{value:{sign}.{digits}{'f' if abs(value) < _LARGE else 'e'}}"


def between(low: float, high: float, sign: str = "", digits: int = 4) -> str:
    if math.isnan(low) or math.isnan(high):
        return "-"
    return f"{number(low, sign, digits)} to {number(high, sign, digits)}"


def as_csv(rows: Iterable[Iterable[Any]]) -> str:
    import csv
    import io

    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def as_json(tree: Any, indent: int | None = None) -> str:
    """A tree of dicts and lists as JSON. NaN and infinite numbers become null."""
    import json

    return json.dumps(_finite(tree), indent=indent) + "\n"


def _finite(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {name: _finite(one) for name, one in tree.items()}
    if isinstance(tree, list | tuple):
        return [_finite(one) for one in tree]
    return tree if not isinstance(tree, float) or math.isfinite(tree) else None


# C0, DEL and C1, Unicode's line and paragraph separators, and characters that change the writing direction.
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def escaped(text: str) -> str:
    """The text with control characters, which names may have, written as in Python (``\\x1b``).

    Line ends stay.
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def one_line(text: str) -> str:
    """The `escaped` text in one line: line ends, which names may have, become spaces."""
    return escaped(" ".join(text.splitlines()))


def _set(cell: str, how: _Form) -> str:
    """The text of a cell with its marks, in one form."""
    text = how.words(cell)
    if isinstance(cell, Marked):
        for asked, mark in ((cell.bold, how.bold), (cell.under, how.under)):
            text = mark.format(text) if asked else text
        text += how.above.format(how.words("".join(cell.above))) if cell.above else ""
    return text


def _raised(cells: Iterable[str]) -> dict[str, None]:
    """The distinct raised marks of a column, in order. A column with raised marks is aligned to the left."""
    return dict.fromkeys(mark for cell in cells if isinstance(cell, Marked) for mark in cell.above)


def _text(grid: Grid) -> str:
    how, columns = _FORMS["table"], list[list[str]]()
    for cells, kind in zip(zip(*grid.rows[grid.bare :], strict=True), grid.kinds(), strict=True):
        made = [_set(cell, how) for cell in cells]
        if not kind:  # align the numbers, without the marks after them
            after = [len(one) - len(how.words(cell)) - (isinstance(cell, Marked) and cell.bold + cell.under)
                     for one, cell in zip(made, cells, strict=True)]  # fmt: skip
            made = [one + " " * (max(after) - own) for one, own in zip(made, after, strict=True)]
        width = max(map(len, made))
        columns.append([one.ljust(width) if kind else one.rjust(width) for one in made])
    rows = ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]
    return "\n".join(("\n" if at in grid.breaks else "") + row for at, row in enumerate(rows))


def _terminal(grid: Grid) -> str:
    head, *body = _text(grid).split("\n")
    return "\n".join([head if grid.bare else f"\x1b[1m{head}\x1b[0m", *body])


_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def _markdown_words(text: str) -> str:
    """The text escaped for a cell of Markdown. "_" inside a word needs no escape."""
    marks = r"[&<>\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])"
    return re.sub(marks, lambda found: _ENTITIES.get(found[0], "\\" + found[0]), one_line(text))


def _markdown(grid: Grid) -> str:
    head, *body = ([_set(cell, _FORMS["markdown"]) for cell in row] for row in grid.rows)
    left = [kind or _raised(cells) for kind, cells in zip(grid.kinds(), zip(*grid.rows, strict=True), strict=True)]
    rule = ["---" if one else "--:" for one in left]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *body))


def _latex_words(text: str) -> str:
    return latex.words(one_line(text))


def _latex_columns(grid: Grid) -> list[latex.Column]:
    """The columns. Numbers with raised marks are aligned to the left, after a space as wide as the digits they lack."""
    columns = []
    for at, (cells, kind) in enumerate(zip(zip(*grid.rows, strict=True), grid.kinds(), strict=True)):
        made = [_set(cell, _FORMS["latex"]) for cell in cells]
        left = bool(kind or _raised(cells))
        if left and not kind:
            width = max(map(len, cells[1:]))
            lead = [rf"\phantom{{{'0' * (width - len(cell))}}}" if len(cell) < width else "" for cell in cells[1:]]
            made[1:] = [one + number for one, number in zip(lead, made[1:], strict=True)]
        columns.append(latex.Column(made, max(map(_latex_width, cells)), left, at in grid.joined))
    return columns


def _latex_width(cell: str) -> float:
    width = latex.width(cell)
    if not isinstance(cell, Marked):
        return width
    return width * (_BOLD if cell.bold else 1) + _RAISED * latex.width("".join(cell.above))


_BOLD, _RAISED = 1.15, 0.85  # the widths of bold and of raised print


def _latex(grid: Grid) -> str:
    return latex.tables(_latex_columns(grid), grid.left, grid.breaks)


def _environment(grid: Grid) -> str:
    """A table environment with caption and label, and the lines below the table in small print."""
    how = _FORMS["latex"]
    foot = ["".join(_set(part, how) for part in ((one,) if isinstance(one, str) else one)) for one in grid.foot]
    return latex.environment(_latex_columns(grid), grid.left, grid.breaks, grid.caption, grid.label, " ".join(foot))


def as_html(text: str) -> str:
    """The text escaped for HTML, also inside quotation marks."""
    from html import escape

    return escape(escaped(text))


_DIGIT = "\u2007"  # a space as wide as a digit


def _html(grid: Grid) -> str:
    """A table. Numbers with raised marks are aligned to the left, after spaces as wide as the digits that they lack."""
    columns = list(zip(*grid.rows, strict=True))
    widths = [0 if kind or not _raised(cells) else max(map(len, cells[1:]))
              for kind, cells in zip(grid.kinds(), columns, strict=True)]  # fmt: skip

    def line(row: list[str], tag: str) -> str:
        made = []
        for text, kind, width in zip(row, grid.kinds(), widths, strict=True):
            kind = "word" if kind and tag == "th" and not kind.startswith("word") else kind
            how = f' class="{kind}"' if kind else ' style="text-align:left"' if width else ""
            lead = _DIGIT * (width - len(text)) if tag == "td" else ""
            made.append(f"<{tag}{how}>{lead}{_set(text, _FORMS['html'])}</{tag}>")
        return "".join(made)

    head, *body = grid.rows
    rows = [f"<tr{' class=gap' if at in grid.breaks else ''}>{line(row, 'td')}</tr>" for at, row in enumerate(body, 1)]
    caption = f"<caption>{as_html(grid.caption)}</caption>" if grid.caption else ""
    lines = [f'<div class="wide"><table>{caption}<thead><tr>' + line(head, "th") + "</tr></thead>", "<tbody>", *rows]
    return "\n".join([*lines, "</tbody></table></div>"])


class _Form(NamedTuple):
    table: Callable[[Grid], str]
    words: Callable[[str], str]  # escapes a text
    line: Callable[[str], str]  # makes a line between tables of plain text
    put: Callable[[str], str]  # makes such a line of escaped text
    bold: str
    under: str
    above: str


_FORMS: dict[str, _Form] = {
    "table": _Form(_text, one_line, escaped, str, "*{}*", "_{}_", " {}"),
    "terminal": _Form(_terminal, one_line, escaped, str, "*{}*", "_{}_", " {}"),
    "markdown": _Form(
        _markdown, _markdown_words, lambda text: "\n".join(map(_markdown_words, text.splitlines())), str,
        "**{}**", "<ins>{}</ins>", "<sup>{}</sup>"),
    "latex": _Form(
        _latex, _latex_words, lambda text: "% " + escaped(text).replace("\n", "\n% "), lambda text: "% " + text,
        r"\textbf{{{}}}", r"\underline{{{}}}", r"\textsuperscript{{{}}}"),
    "html": _Form(
        _html, as_html, lambda text: f"<p>{as_html(text)}</p>", lambda text: f"<p>{text}</p>",
        "<b>{}</b>", "<u>{}</u>", "<sup>{}</sup>"),
}  # fmt: skip
