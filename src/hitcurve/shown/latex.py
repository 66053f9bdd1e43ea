"""Tables in LaTeX that fit the page: in smaller print, in parts one below the other, or over several pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Column", "environment", "tables", "width", "words"]

# In points: the line of the class article, and that of A4 paper with margins of an inch. A table between them is in the
# smallest print, and not in parts.
_LINE, _LONGEST_LINE = 345.0, 451.0
_ROWS_OF_A_PAGE = 60  # in the smallest print
_ROWS_OF_A_HEAD = 3  # the room of a head and of the gap before it
_GAP = 12.0  # between two columns


class _Print(NamedTuple):
    """A size of print: its commands, its width as a share of that of 10 points, and the gap between two columns."""

    commands: str
    share: float
    gap: float


_PRINTS = (_Print("", 1.0, _GAP), _Print(r"\footnotesize", 0.85, _GAP),
           _Print(r"\scriptsize\setlength{\tabcolsep}{3pt}", 0.8, 6.0))  # fmt: skip
_FLOATING = (33, 45)  # a float of more rows has the second, or the third print, so that a page has room for its caption

# The widths of Computer Modern, in points.
_WIDTHS = {mark: width for marks, width in (
    ("ijl.,:;'|!", 2.8), ("frst()-[] ", 3.8), ("mw%@+=#&<>", 8.0), ("MW", 9.7), ("ABCDEFGHJKLNOPQRSTUVXYZ", 7.1)
) for mark in marks}  # fmt: skip
_OTHER = 5.2


def width(text: str) -> float:
    """The width of a plain text in 10 points, to some percent."""
    return sum(_WIDTHS.get(mark, _OTHER) for mark in text)


class Column(NamedTuple):
    """A column of a table. The first cell is the head."""

    cells: Sequence[str]  # LaTeX code
    width: float  # in points, without the gap
    left: bool = False  # whether the cells are aligned to the left
    joined: bool = False  # whether the column stays beside the column before it


class _Layout(NamedTuple):
    """How a table fits the page."""

    print: _Print
    parts: list[list[Column]]  # one below the other
    long: bool  # whether the table runs over several pages


def _laid_out(columns: Sequence[Column], num_lead: int, most_rows: Sequence[int] = ()) -> _Layout:
    """The largest print in which the columns fit the line, or parts of the columns in the smallest print."""
    num_rows = len(columns[0].cells) - 1
    long = num_rows > _ROWS_OF_A_PAGE
    for how in _PRINTS[0 if long else sum(num_rows > most for most in most_rows) :]:
        if _wide(columns, how) <= (_LINE if how is not _PRINTS[-1] else _LONGEST_LINE):
            return _Layout(how, [list(columns)], long)
    parts = _parts(columns, num_lead, _PRINTS[-1])
    return _Layout(_PRINTS[-1], parts, len(parts) * (num_rows + _ROWS_OF_A_HEAD) > _ROWS_OF_A_PAGE)


def _parts(columns: Sequence[Column], num_lead: int, how: _Print) -> list[list[Column]]:
    """Parts of the columns that fit the line, each after the first columns."""
    blocks = list[list[Column]]()
    for column in columns[num_lead:]:
        if column.joined and blocks:
            blocks[-1].append(column)
        else:
            blocks.append([column])
    parts = [list(columns[:num_lead])]
    for block in blocks:
        if len(parts[-1]) > num_lead and _wide([*parts[-1], *block], how) > _LINE:
            parts.append(list(columns[:num_lead]))
        parts[-1] += block
    return parts


def _wide(columns: Sequence[Column], how: _Print) -> float:
    return sum(column.width for column in columns) * how.share + len(columns) * how.gap


def tables(columns: Sequence[Column], num_lead: int, breaks: Sequence[int] = ()) -> str:
    """The table with the rules of the package booktabs. The first `num_lead` columns stand in each part."""
    layout = _laid_out(columns, num_lead)
    made = [_table(part, breaks, layout.long) for part in layout.parts]
    text = "\n".join([_NEEDS_LONGTABLE, *made]) if layout.long else _BELOW.join(made)
    return f"{{{layout.print.commands}\n{text}\n}}" if layout.print.commands else text


_NEEDS_LONGTABLE = "% This table runs over several pages: it needs the package longtable, and text in one column."
_BELOW = "\n\\par\\medskip\n"  # between the parts of a table


def environment(columns: Sequence[Column], num_lead: int, breaks: Sequence[int], caption: str, label: str,
                foot: str) -> str:  # fmt: skip
    """A table environment, or one that runs over several pages, with the lines below the table in small print."""
    layout = _laid_out(columns, num_lead, _FLOATING)
    named = [rf"\caption{{{caption}}}"] * bool(caption) + [rf"\label{{{label}}}"] * bool(label)
    below = [rf"{{\footnotesize {foot}\par}}"] * bool(foot)
    if layout.long:
        names = ["".join(named), *[""] * (len(layout.parts) - 1)]
        made = [_table(part, breaks, True, name) for part, name in zip(layout.parts, names, strict=True)]
        return "\n".join([_NEEDS_LONGTABLE, "{" + layout.print.commands, *made, "}", *below])
    small = bool(layout.print.commands)
    parts = _BELOW.join(_table(part, breaks) for part in layout.parts)
    lines = [rf"\begin{{table}}[{'htp' if small else 'ht'}]", rf"\centering{layout.print.commands}", *named, parts]
    return "\n".join([*lines, *[r"\par\smallskip"] * bool(foot), *below, r"\end{table}"])


def _table(columns: Sequence[Column], breaks: Sequence[int], long: bool = False, named: str = "") -> str:
    """A tabular, or a longtable, which repeats the head on each page."""
    kinds = "".join("l" if column.left else "r" for column in columns)
    head, *body = (" & ".join(row) + r" \\" for row in zip(*(column.cells for column in columns), strict=True))
    body = ["\\addlinespace\n" * (at in breaks) + row for at, row in enumerate(body, 1)]
    top = [r"\toprule", head, r"\midrule"]
    if not long:
        return "\n".join([rf"\begin{{tabular}}{{{kinds}}}", *top, *body, r"\bottomrule", r"\end{tabular}"])
    first = [named + r" \\", *top, r"\endfirsthead"] if named else []
    ends = [r"\endhead", r"\midrule", r"\endfoot", r"\bottomrule", r"\endlastfoot"]
    return "\n".join([rf"\begin{{longtable}}{{{kinds}}}", *first, *top, *ends, *body, r"\end{longtable}"])


_MARKS = str.maketrans({mark: f"\\{mark}" for mark in "&%$#_{}"} | {
    mark: rf"\text{name}{{}}"
    for mark, name in {"\\": "backslash", "–": "endash", "~": "asciitilde", "^": "asciicircum"}.items()
} | {mark: f"${name}$" for mark, name in {"<": "<", ">": ">", "†": r"\dagger", "‡": r"\ddagger"}.items()} | {
    "|": r"\textbar{}"})  # fmt: skip


def words(text: str) -> str:
    """The text of one line escaped. "--" must not become a dash, nor a first "[" or "*" an argument of a line end."""
    kept = re.sub(r"^(\s*)([\[*])", r"\1{\2}", text.translate(_MARKS))
    return re.sub("-(?=-)", "-{}", kept)
