"""The table that papers print: a row for each system, a column for each measure, the best values marked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from hitcurve._base.checks import check_choice, check_level, quoted, whole_number
from hitcurve._base.extras import needed
from hitcurve.measures import Definition, parse
from hitcurve.shown.grid import Grid, Marked, many, number, rendered

if TYPE_CHECKING:
    from hitcurve.retrieval.evaluation import Evaluation
    from hitcurve.statistics.comparison import Difference

__all__ = [
    "Leaderboard",
    "Printed",
    "Tested",
    "as_utf8",
    "board",
    "checked_digits",
    "means_of",
    "page",
    "printed_digits",
    "queries",
    "record_of",
    "systems_of",
    "tested",
    "titles",
]

_MOST_DIGITS = 17  # of a double
_BY = {"p_value": "{} test", "p_holm": "{} test, Holm's correction", "p_t": "Student's paired t test",
       "p_tukey": "randomised Tukey test", "p_interval": "{} test"}  # fmt: skip
_STYLE = """<style>
.leaderboard .wide { overflow-x: auto; margin-bottom: 1em; } .leaderboard table { border-collapse: collapse; }
.leaderboard th { border-bottom: 1px solid currentColor; } .leaderboard caption { text-align: left; }
.leaderboard th, .leaderboard td { padding: 0.2em 0.6em; text-align: right; white-space: nowrap; }
.leaderboard td { font-variant-numeric: tabular-nums; } .leaderboard sup { line-height: 0; }
.leaderboard .word { text-align: left; }
</style>"""


class Tested(NamedTuple):
    """Which differences are significant."""

    letters: tuple[str, ...]  # one for each system, where all are compared with all
    marks: dict[tuple[str, str], tuple[str, ...]]  # of a measure and a system
    said: str


def record_of(name: str) -> Definition | None:
    """The record of a measure; None for a name that is the caller's own, of values in arrays."""
    for text in (name, name.replace(".", "_")):  # trec_eval's parameters, and the names that it prints
        try:
            return parse(text).record
        except ValueError:
            continue
    return None


def printed_digits(record: Definition | None, digits: int = 4) -> int:
    """The decimals of a measure: counts have none."""
    return 0 if record is not None and record.mean == "sum" else digits


def _says_how_good(record: Definition | None) -> bool:
    """Whether a system may be the best by it: not by counts, nor by how much of what it retrieved has judgments."""
    return record is None or not (record.mean == "sum" or record.name == "Judged")


def systems_of(evaluations: Any, name: str = "evaluations") -> dict[str, Any]:
    """The evaluations by the names of their systems: those of a mapping, or of a list by their own."""
    found: dict[str, Any] = {}
    if isinstance(evaluations, Mapping):
        found = dict(evaluations)
    elif isinstance(evaluations, list | tuple) and all(hasattr(one, "query_ids") for one in evaluations):
        for at, one in enumerate(evaluations):
            if one.name in found:
                first = list(found).index(one.name)
                both = f"{name}[{first}] and {name}[{at}] are both named {quoted(one.name)}"
                raise ValueError(f"{both}: pass a mapping of names to evaluations")
            found[one.name] = one
    else:
        raise TypeError(f"{name} must be a list of evaluations, or a mapping of names to them, "
                        f"got {type(evaluations).__name__}")  # fmt: skip
    for system in found:
        if not isinstance(system, str):
            raise TypeError(f"{name} has the name {quoted(system)}: the name of a system must be a string")
    return found


def checked_digits(digits: Any) -> int:
    found = whole_number(digits, "digits")
    if not 0 <= found <= _MOST_DIGITS:
        raise ValueError(f"digits must be from 0 to {_MOST_DIGITS}, got {digits!r}")
    return found


def tested(rows: Sequence[Difference], systems: Sequence[str], p: str, alpha: float) -> Tested:
    """By the p-values called `p`: † and ‡ against one baseline, else the letters of the systems that are worse."""
    check_choice(p, "p", tuple(_BY))
    level = check_level(alpha, "alpha")
    if any(getattr(row, p) is None for row in rows):
        lacks = "scipy, and queries or groups" if p == "p_t" else "three systems or more, over queries or groups"
        raise ValueError(f"p={p!r} was not computed: it needs {lacks}")
    baselines = {row.baseline for row in rows}
    single = len(baselines) == 1
    signs = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    letters = [signs[at] if len(systems) <= len(signs) else f"{at + 1}," for at in range(len(systems))]
    marks: dict[tuple[str, str], tuple[str, ...]] = {}
    for row in rows:
        if not getattr(row, p) <= level:  # NaN is not
            continue
        record = record_of(row.measure)
        if not _says_how_good(record):
            continue
        better = (row.difference < 0) == (record is not None and record.lower_is_better)
        winner, other = (row.system, row.baseline) if better else (row.baseline, row.system)
        if single:
            marks[row.measure, row.system] = ("†" if better else "‡",)
        else:
            marks[row.measure, winner] = (*marks.get((row.measure, winner), ()), letters[systems.index(other)])
    tests = {row.test if p != "p_interval" or row.method == "delong" else row.method for row in rows}
    test = _BY[p].format(" or ".join(sorted(tests)))
    how = f"({test}, p at most {level:g})."
    if single:
        said = f"†: significantly better than {baselines.pop()}, ‡: worse {how}"
    else:
        said = f"Raised letters: significantly better than the systems of these letters {how}"
    return Tested(() if single else tuple(one.rstrip(",") for one in letters), marks, said)


def board(systems: Sequence[str], means: Sequence[Mapping[str, float]], *, digits: int = 4,
          found: Tested | None = None, names: Mapping[str, str] | None = None, head: str = "system",
          foot: Iterable[str] = (), caption: str = "", label: str = "") -> Grid:  # fmt: skip
    """The table of the means of each system.

    `names`: those of the records, of measures that go by others. What is printed decides which values are equal.
    """
    measures = list(dict.fromkeys(measure for row in means for measure in row))
    columns, less, marked = [], [], False
    for measure in measures:
        record = record_of((names or {}).get(measure, measure))
        places = printed_digits(record, digits)
        values = [row.get(measure, math.nan) for row in means]
        cells = [number(value, digits=places) for value in values]
        known = [float(cell) for cell in cells if cell != "-"]
        lower = record is not None and record.lower_is_better
        best, next_best = [*sorted(set(known), reverse=not lower), None, None][:2]
        says = _says_how_good(record)
        if len(known) < 2 or not says:
            best = next_best = None
        if lower and says and len(systems) > 1:
            less.append(measure)
        marked |= best is not None
        column = [measure]
        for system, cell in zip(systems, cells, strict=True):
            value = None if cell == "-" else float(cell)
            above = found.marks.get((measure, system), ()) if found is not None else ()
            bold = value is not None and value == best
            under = len(systems) > 2 and value is not None and value == next_best
            column.append(Marked(cell, bold=bold, under=under, above=above))
        columns.append(column)
    lead = [[head, *systems]]
    if found is not None and found.letters:
        lead.insert(0, ["#", *found.letters])
    said: list[tuple[str, ...]] = [(one,) for one in foot]
    if marked:
        second = (" and ", Marked("second best", under=True)) if len(systems) > 2 else ()
        said.append((Marked("Best", bold=True), *second, " value of each measure."))
    if less:
        said.append((f"The least value is the best: {', '.join(less)}.",))
    if found is not None:
        said.append((found.said,))
    line = tuple(part for one in said for part in (" ", *one))[1:]
    rows = [list(row) for row in zip(*lead, *columns, strict=True)]
    return Grid(rows, len(lead), foot=(line,) if line else (), caption=caption, label=label)


def titles(found: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The measures of evaluations by what they go by, each with its record's name: one of several names stands once."""
    known: dict[str, str] = {}
    for one in found:
        own = {asked: name for name, asked in getattr(one, "asked", {}).items()}
        for measure in one:
            known.setdefault(own.get(measure, measure), measure)
    return {measure: name for name, measure in known.items()}


def means_of(evaluations: Sequence[Evaluation]) -> tuple[list[dict[str, float]], dict[str, str]]:
    """Of each evaluation the means, NaN where one was not asked for; and the `titles`."""
    names = titles(one.means for one in evaluations)
    return [{measure: one.means.get(measure, math.nan) for measure in names} for one in evaluations], names


def as_utf8(texts: Iterable[str]) -> list[str]:
    """For a frame, whose texts are UTF-8: other bytes are written as they are in messages."""
    return [text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace") for text in texts]


def queries(evaluations: Iterable[Evaluation], form: str = "") -> str:
    """How many queries count; of evaluations that differ in it the least and the most."""
    counts = {len(one.query_ids) for one in evaluations}
    least = f"{min(counts):{form}} to " if len(counts) > 1 else ""
    return least + many(max(counts), "queries", form)


def page(blocks: Iterable[Grid | str]) -> str:
    """HTML of the tables, for any page: in its colours."""
    return f'<div class="leaderboard">{_STYLE}\n{rendered(blocks, "html")}\n</div>'


class Printed:
    """What evaluations are printed as: one or several of them."""

    def _by_system(self) -> dict[str, Evaluation]:
        raise NotImplementedError

    def _grid(self, digits: int = 4, caption: str = "", label: str = "") -> Grid:
        found = self._by_system()
        means, names = means_of(list(found.values()))
        foot = [f"{queries(found.values())}."]
        return board(list(found), means, digits=checked_digits(digits), names=names, foot=foot, caption=caption,
                     label=label)  # fmt: skip

    def to_markdown(self, *, digits: int = 4, caption: str = "") -> str:
        """The means in Markdown: a row for each system, a column for each measure.

        The best value of each measure is bold. With three or more systems, the second best is underlined. Values that
        are printed alike count as equal: if several values are best, all of them are bold. "-" means no value. For
        measures such as Unjudged@10 the least value is the best. Counts and Judged@10 are not marked, because they say
        nothing about quality.

        Parameters
        ----------
        digits : int
            The number of decimals, from 0 to 17.
        caption : str
            A line before the table.

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
        return rendered([self._grid(digits, caption)], "markdown")

    def to_latex(self, *, digits: int = 4, caption: str = "", label: str = "") -> str:
        r"""The table of `to_markdown` in LaTeX, with the rules of the package booktabs.

        Parameters
        ----------
        digits : int
            The number of decimals, from 0 to 17.
        caption, label : str
            With a caption or a label the table is in a ``table`` environment, with the explanation in small print below
            it. Without both it is a ``tabular``, with the explanation in comments. The caption is LaTeX code. Special
            characters of names are escaped.

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
        return rendered([self._grid(digits, caption, label)], "latex")

    def to_html(self, *, digits: int = 4, caption: str = "") -> str:
        """The table of `to_markdown` in HTML: a part of a page, in the colours of the page.

        Parameters
        ----------
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
        return page([self._grid(digits, caption)])

    def _columns(self) -> dict[str, Any]:
        """What a frame of it holds."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """A pandas.DataFrame: each query of an Evaluation, or the means of each system of a Leaderboard.

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
        return needed("pandas", "to_pandas").DataFrame(self._columns())

    def to_polars(self) -> Any:
        """A polars.DataFrame: each query of an Evaluation, or the means of each system of a Leaderboard.

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
        return needed("polars", "to_polars").DataFrame(self._columns())


class Leaderboard(Printed):
    """Evaluations side by side: a row for each system, a column for each measure.

    Parameters
    ----------
    evaluations : list of Evaluation, or mapping of str to Evaluation
        A list of evaluations, as `evaluate` returns it for a list of runs: each evaluation keeps its name. Or a mapping
        of evaluations by the names of their systems.

    Attributes
    ----------
    systems : tuple of str
        The names of the systems.
    measures : tuple of str
        The measures of all systems. A measure that has several names occurs once.
    means : dict of str to dict of str to float
        The means, by the system and then by the measure. NaN if a system does not have the measure.

    Raises
    ------
    ValueError, TypeError
        If there are no evaluations, if two evaluations in a list have the same name, or if an object is no evaluation.

    Examples
    --------
    >>> import hitcurve as hc
    >>> qrels = {"q": {"a": 1, "b": 0}}
    >>> runs = {"q": {"a": 2.0, "b": 1.0}}, {"q": {"a": 1.0, "b": 2.0}}
    >>> first, second = hc.evaluate(qrels, runs, ["AP", "P@1"])
    >>> print(hc.Leaderboard({"mine": first, "other": second}))
    system       AP       P@1
    mine    *1.0000*  *1.0000*
    other    0.5000    0.0000
    1 query. *Best* value of each measure.
    """

    __module__ = "hitcurve"

    def __init__(self, evaluations: Sequence[Evaluation] | Mapping[str, Evaluation]) -> None:
        found = systems_of(evaluations)
        if not found:
            raise ValueError("evaluations is empty")
        for name, one in found.items():
            if not hasattr(one, "means"):
                raise TypeError(f"evaluations[{name!r}] must be an Evaluation, got {type(one).__name__}")
        self._evaluations: dict[str, Evaluation] = found
        self.systems = tuple(found)
        rows, names = means_of(list(found.values()))
        self.means = dict(zip(found, rows, strict=True))
        self.measures = tuple(names)

    def _by_system(self) -> dict[str, Evaluation]:
        return self._evaluations

    def __repr__(self) -> str:
        return f"Leaderboard({many(len(self.systems), 'systems')}: {', '.join(self.measures)})"

    def __str__(self) -> str:
        """The table in plain text, the best value between asterisks, the second best between underscores."""
        return rendered([self._grid()])

    def _repr_html_(self) -> str:
        from hitcurve.shown.notebook import shown
        return shown([self._grid()])

    def _columns(self) -> dict[str, Any]:
        columns = {measure: [row[measure] for row in self.means.values()] for measure in self.measures}
        return {"system": as_utf8(self.systems), **columns}
