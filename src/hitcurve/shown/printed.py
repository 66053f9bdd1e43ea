"""The output of results: tables in Markdown, LaTeX and HTML, and frames of pandas and polars."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from hitcurve._base.checks import quoted, whole_number
from hitcurve._base.extras import frame_of
from hitcurve.shown.grid import Grid, as_csv, as_json, rendered
from hitcurve.shown.notebook import EVERY_ROW, shown

__all__ = ["MOST_DIGITS", "Printed", "Written", "as_utf8", "checked_digits", "columns_of_rows", "part_of_page"]

MOST_DIGITS = 17  # enough for every double
_STYLE = """<style>
.leaderboard .wide { overflow-x: auto; margin-bottom: 1em; } .leaderboard table { border-collapse: collapse; }
.leaderboard th { border-bottom: 1px solid currentColor; } .leaderboard caption { text-align: left; }
.leaderboard th, .leaderboard td { padding: 0.2em 0.6em; text-align: right; white-space: nowrap; }
.leaderboard td { font-variant-numeric: tabular-nums; } .leaderboard sup { line-height: 0; }
.leaderboard .wide .word { text-align: left; } .leaderboard .wide .gap td { border-top: 1px solid currentColor; }
</style>"""


def checked_digits(digits: Any) -> int:
    found = whole_number(digits, "digits")
    if not 0 <= found <= MOST_DIGITS:
        raise ValueError(f"digits must be from 0 to {MOST_DIGITS}, got {digits!r}")
    return found


def as_utf8(texts: Iterable[str]) -> list[str]:
    """The texts for a frame, which holds UTF-8. Other bytes are escaped."""
    return [text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace") for text in texts]


def columns_of_rows(kind: Any, rows: Sequence[Any]) -> dict[str, list[Any]]:
    """The fields of rows of named tuples of a kind, as the columns of a frame. A value that was not computed is NaN."""
    columns = {}
    for name in kind._fields:
        cells = [getattr(row, name) for row in rows]
        columns[name] = as_utf8(cells) if kind.__annotations__[name] == "str" else [
            math.nan if cell is None else cell for cell in cells]  # fmt: skip
    return columns


def part_of_page(blocks: Iterable[Grid | str]) -> str:
    """HTML of the tables, as a part of any page, in the colours of the page."""
    return f'<div class="leaderboard">{_STYLE}\n{rendered(blocks, "html")}\n</div>'


class Written:
    """The base of a result that a command prints."""

    indent = 2  # the indent of JSON

    def blocks(self, form: str) -> Sequence[Grid | str]:
        """The tables, and text between them."""
        raise NotImplementedError

    def lines(self) -> Iterable[Iterable[Any]]:
        """The rows of CSV. The first row is the head."""
        raise NotImplementedError

    def tree(self) -> dict[str, Any]:
        """The content of JSON, as dicts and lists."""
        raise NotImplementedError

    def text(self, form: str = "table") -> str:
        """The text as "csv" or "json" in full precision, or in a form of `hitcurve.shown.grid.rendered`."""
        if form == "csv":
            return as_csv(self.lines())
        return as_json(self.tree(), self.indent) if form == "json" else rendered(self.blocks(form), form) + "\n"


class Printed:
    """The base of a result that has tables in text and a table as a frame."""

    def _blocks(self, digits: int = 4, caption: str = "", label: str = "") -> list[Grid | str]:
        """The tables, and text between them."""
        raise NotImplementedError

    def _columns(self) -> dict[str, Any]:
        """The columns of a frame."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return shown(self._blocks(), EVERY_ROW)

    def _one_table(self, layout: str, *how: Any) -> list[Grid | str]:
        if layout != "wide":
            raise ValueError(f"layout={quoted(layout)}: {type(self).__name__} has one table, whose layout is 'wide'; "
                             "the Comparison that compare() returns has 'long' and 'wide'")
        return self._blocks(*how)

    def to_markdown(self, layout: str = "wide", *, digits: int = 4, caption: str = "") -> str:
        """The means in Markdown: a row for each system, a column for each measure.

        The best value of each measure is bold. With three or more systems, the second best is underlined. Values that
        are printed alike count as equal: if several values are best, all of them are bold. "-" means no value. For
        measures such as Unjudged@10 the least value is the best. Counts and Judged@10 are not marked, because they say
        nothing about quality.

        Parameters
        ----------
        layout : {"wide"}
            The layout of this table, as `Comparison` names it.
        digits : int
            The number of decimals, from 0 to 17.
        caption : str
            A line before the table. By default there is no line.

        Returns
        -------
        str

        Examples
        --------
        >>> import hitcurve as hc
        >>> qrels = {"q": {"a": 1, "b": 0}}
        >>> runs = {"q": {"a": 2.0, "b": 1.0}}, {"q": {"a": 1.0, "b": 2.0}}
        >>> first, second = hc.evaluate(qrels, runs, ["AP", "P@1"])
        >>> print(hc.Leaderboard({"mine": first, "other": second}).to_markdown(digits=2))
        | system | AP | P@1 |
        | --- | --: | --: |
        | mine | **1.00** | **1.00** |
        | other | 0.50 | 0.00 |
        <BLANKLINE>
        1 query. **Best** value of each measure.
        """
        return rendered(self._one_table(layout, digits, caption), "markdown")

    def to_latex(self, layout: str = "wide", *, digits: int = 4, caption: str = "", label: str = "") -> str:
        r"""The table of `to_markdown` in LaTeX, with the rules of the package booktabs.

        Parameters
        ----------
        layout : {"wide"}
            The layout of this table, as `Comparison` names it.
        digits : int
            The number of decimals, from 0 to 17.
        caption, label : str
            With a caption or a label the table is in a ``table`` environment, with the explanation in small print below
            it. Without both it is a ``tabular``, with the explanation in comments. The caption is LaTeX code. Special
            characters of names are escaped. A table that is wider than a line of the class article is in smaller print,
            or in parts one below the other. More than 60 rows are a ``longtable``, which runs over several pages of one
            column.

        Returns
        -------
        str

        Examples
        --------
        >>> import hitcurve as hc
        >>> found = hc.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 2.0}}, ["AP", "P@1"])
        >>> print(found.to_latex(caption="Effectiveness", label="tab:all"))
        \begin{table}[ht]
        \centering
        \caption{Effectiveness}
        \label{tab:all}
        \begin{tabular}{lrr}
        \toprule
        system & AP & P@1 \\
        \midrule
        run & 0.5000 & 0.0000 \\
        \bottomrule
        \end{tabular}
        \par\smallskip
        {\footnotesize 1 query.\par}
        \end{table}
        """
        return rendered(self._one_table(layout, digits, caption, label), "latex")

    def to_html(self, layout: str = "wide", *, digits: int = 4, caption: str = "") -> str:
        """The table of `to_markdown` in HTML: a part of a page, in the colours of the page.

        Parameters
        ----------
        layout : {"wide"}
            The layout of this table, as `Comparison` names it.
        digits : int
            The number of decimals, from 0 to 17.
        caption : str
            The caption of the table.

        Returns
        -------
        str

        Examples
        --------
        >>> import hitcurve as hc
        >>> found = hc.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 2.0}}, "AP")
        >>> "<td>0.5000</td>" in found.to_html()
        True
        """
        return part_of_page(self._one_table(layout, digits, caption))

    def to_pandas(self) -> Any:
        """A pandas.DataFrame: a row for each query of an Evaluation, or for each system of a Leaderboard.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> import hitcurve as hc
        >>> found = hc.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}, "AP")
        >>> found.to_pandas().columns.tolist(), hc.Leaderboard({"mine": found}).to_pandas().columns.tolist()
        (['query_id', 'AP'], ['system', 'AP'])
        """
        return frame_of("pandas", self._columns())

    def to_polars(self) -> Any:
        """A polars.DataFrame: a row for each query of an Evaluation, or for each system of a Leaderboard.

        Returns
        -------
        polars.DataFrame

        Examples
        --------
        >>> import hitcurve as hc
        >>> found = hc.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}, "AP")
        >>> found.to_polars().columns, hc.Leaderboard({"mine": found}).to_polars().columns
        (['query_id', 'AP'], ['system', 'AP'])
        """
        return frame_of("polars", self._columns())
