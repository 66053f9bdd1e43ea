"""`compare`: differences between rankings of the same items, or between systems on the same queries, in pairs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hitcurve._base.checks import (
    as_column,
    as_flags,
    as_real,
    check_choice,
    check_count,
    check_flag,
    check_level,
    checked_seed,
    equal_numbers,
    no_flags,
)
from hitcurve._base.extras import advice, frame_of
from hitcurve._base.given import at_hand, frame_columns
from hitcurve._base.queries import ALL, Queries
from hitcurve._base.words import many, unit_of
from hitcurve._base.workers import check_workers
from hitcurve.curves.gain import GainCurve, GainCurves
from hitcurve.curves.hit import HitCurve, HitCurves
from hitcurve.curves.subtopic_sets import coded, levels_of_items
from hitcurve.curves.subtopics import SubtopicCurve, SubtopicCurves
from hitcurve.measures import Measure, as_measure, of_ir_measures
from hitcurve.shown.board import Tested, board, ranged, record_of, says_how_good
from hitcurve.shown.grid import Grid, between, number, rendered
from hitcurve.shown.means import Evaluated, system_named, systems_of
from hitcurve.shown.printed import Printed, as_utf8, checked_digits, columns_of_rows, part_of_page
from hitcurve.statistics import intervals
from hitcurve.statistics.paired import (
    alpha_of,
    delong_covariance,
    holm,
    normal_p,
    paired_randomization,
    paired_t,
    tukey,
)
from hitcurve.statistics.per_query import check_apart, held_measures, per_query, per_system, uncompared
from hitcurve.statistics.resampling import Kinds, entropy, item_blocks, resampled_means
from hitcurve.statistics.unpaired import unpaired_permutation, welch_t

__all__ = [
    "Comparison", "Difference", "SystemValue", "compare", "enough", "lines_of", "marks_of", "parts_of", "tables_of",
    "too_few", "tree_of",
]  # fmt: skip

_Array = NDArray[Any]
_Curve = HitCurve | GainCurve | SubtopicCurve
_KINDS: tuple[tuple[Any, Any], ...] = ((HitCurve, HitCurves), (GainCurve, GainCurves), (SubtopicCurve, SubtopicCurves))
_BY = {"p_value": "{} test", "p_holm": "{} test, Holm's correction", "p_t": "Student's paired t test",
       "p_tukey": "randomised Tukey test", "p_interval": "{} test"}  # fmt: skip
_TESTED = ("p_value", "p_holm")  # p-values of the randomisation test; over items, of the bootstrap
_USUAL = {"items": 1999, "queries": 9999, "groups": 9999}  # the usual numbers of resamples
_ROUNDING = 1e-14  # the relative difference up to which two values count as equal
_MOST = 1_000_000  # the greatest number of resamples that the caller did not ask for
_AFFORDABLE = 10**10  # items * systems * resamples: 10 to 50 seconds of one core


class SystemValue(NamedTuple):
    """The value of a measure for one system, with its interval.

    Attributes
    ----------
    measure, system
        The names of the measure and of the system.
    value
        The value of the measure. Over queries or groups it is the mean.
    low, high
        The ends of the interval that the method ``interval`` of the system's curve makes.
    method
        How the interval was made: ``"logit"``, ``"delong"`` or ``"bootstrap"``.
    """

    measure: str
    system: str
    value: float
    low: float
    high: float
    method: str


class Difference(NamedTuple):
    """The difference between two systems in a measure.

    Attributes
    ----------
    measure, baseline, system
        The names of the measure and of the two systems.
    difference
        The value of the system minus the value of the baseline.
    low, high
        The ends of the interval of the difference, made by `method`.
    p_value
        The two-sided p-value of `test`. Over queries or groups, `test` is another procedure than `method`.
    test
        ``"randomization"``, ``"exact randomization"`` (over all ways to turn the signs), ``"bootstrap"`` or
        ``"DeLong"``. Without pairs ``"permutation"`` or ``"exact permutation"`` (over all ways to divide the queries).
    p_holm
        `p_value`, corrected for all the pairs compared in this measure (Holm 1979).
    p_t
        The p-value of Student's paired test over queries or groups; without pairs that of Welch's test. None over
        items, and if scipy is not installed.
    p_tukey
        The p-value of the randomised Tukey test of all systems, over queries or groups. None over items, without pairs,
        and for fewer than three systems.
    method
        How the interval was made: ``"bootstrap"`` or ``"delong"``.
    p_interval
        The two-sided p-value of the procedure that made the interval. For the bootstrap it is twice the smaller share
        of resamples on one side of 0, from the same resamples as the interval. Over items it equals `p_value`.
    """

    measure: str
    baseline: str
    system: str
    difference: float
    low: float
    high: float
    p_value: float
    test: str
    p_holm: float
    p_t: float | None
    p_tukey: float | None
    method: str
    p_interval: float


for _row in (SystemValue, Difference):
    _row.__module__ = "hitcurve"  # what a pickle names


@dataclass(repr=False, eq=False)
class Comparison(Printed):
    """The result of `compare`: the values of the systems, their differences, and tables of both.

    Attributes
    ----------
    systems : tuple of SystemValue
        The value of each system in each measure.
    rows : tuple of Difference
        The difference of each pair of systems in each measure.
    unit : str
        What was resampled: ``"items"``, ``"queries"`` or ``"groups"``. If `groups` is a column of a frame, its name
        gives the word for groups, such as ``"targets"`` for "target_id".
    count : int
        The number of items, queries or groups.
    left_out : int
        The number of queries or groups that have no value in any system.
    n_resamples : int
        The number of resamples of the randomisation (over queries or groups) or of the bootstrap (over items).
    n_bootstrap : int
        The number of resamples of the bootstrap, which makes intervals and `p_interval`, and of the randomised Tukey
        test.
    confidence_level : float
        The nominal coverage of the intervals.
    paired : bool
        Whether the systems have the same items, queries or groups.
    counts : dict of str to int
        Without pairs, the number of queries of each system; `count` is their sum. Otherwise empty.
    strata : dict of str to Comparison
        The comparison of each group of queries (stratum), if ``queries=`` gave groups. `rows` are over all queries.
    not_compared : tuple of str
        The measures of the evaluations that were not compared, because they are sums or geometric means over queries.
    """

    __module__ = "hitcurve"  # what a pickle names

    systems: tuple[SystemValue, ...]
    rows: tuple[Difference, ...]
    unit: str
    count: int
    left_out: int
    n_resamples: int
    n_bootstrap: int
    confidence_level: float
    paired: bool = True
    counts: dict[str, int] = field(default_factory=dict)
    strata: dict[str, Comparison] = field(default_factory=dict)
    not_compared: tuple[str, ...] = ()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= {"counts": {}, "strata": {}, **state}  # pickles of earlier versions lack these

    def __repr__(self) -> str:
        return f"Comparison({many(len(self.rows), 'differences')} over {many(self.count, self.unit)})"

    def __str__(self) -> str:
        """The tables in plain text, and how they were made."""
        return rendered(self._blocks())

    def _blocks(self, digits: int = 4, caption: str = "", label: str = "") -> list[Grid | str]:
        return tables_of(self, checked_digits(digits))

    def _laid_out(self, layout: str, p: str, alpha: float, digits: int, caption: str, label: str) -> list[Grid | str]:
        if check_choice(layout, "layout", ("long", "wide")) == "long":
            for name, text in (("caption", caption), ("label", label)):
                if text:
                    raise ValueError(f"{name}={text!r} needs layout='wide', which is one table")
            return self._blocks(digits)
        if self.strata:
            raise ValueError("layout='wide' has no strata: use strata[name].to_latex('wide') and the like, or "
                             "layout='long'")
        means: dict[str, dict[str, float]] = {}
        for one in self.systems:
            means.setdefault(one.system, {})[one.measure] = one.value
        systems, foot = list(means), [f"{_counted_units(self)}."]
        foot += [_left_out(self)] if self.left_out else []
        how: dict[str, Any] = {"digits": checked_digits(digits), "found": marks_of(self, systems, p, alpha)}
        return [board(systems, list(means.values()), foot=foot, caption=caption, label=label, **how)]

    def to_markdown(self, layout: str = "long", *, p: str = "p_holm", alpha: float = 0.05, digits: int = 4,
                    caption: str = "") -> str:  # fmt: skip
        r"""The tables in Markdown.

        Parameters
        ----------
        layout : {"long", "wide"}
            ``"long"``: two tables. The first has a row for each measure and system, with intervals; the second has a
            row for each difference, with p-values. ``"wide"``: a row for each system and a column for each measure, as
            papers print it. The best value of each measure is bold. With three or more systems, the second best is
            underlined. Each system has a letter: a raised letter at a value says that the value is significantly better
            than that system's value. Four or more successive letters are written as a range, such as d–m. Against one
            baseline, † marks significantly better and ‡ significantly worse values. A line below the table names the
            test and the correction.
        p : {"p_holm", "p_value", "p_t", "p_tukey", "p_interval"}
            Wide layout only: the field of `Difference` that decides what is significant.
        alpha : float
            Wide layout only: a difference is significant if its p-value is at most `alpha`.
        digits : int
            The number of decimals, from 0 to 17.
        caption : str
            Wide layout only: a line before the table.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If the p-values `p` were not computed, or if a caption is given for the long layout.

        Examples
        --------
        >>> import hitcurve as hc
        >>> values = [0.1, 0.4, 0.3, 0.2, 0.5, 0.6]
        >>> comparison = hc.compare({"a": values, "b": [value + 0.125 for value in values]}, rng=0)
        >>> print(comparison.to_markdown().splitlines()[0])
        | measure | system | mean | 95 % interval | by |
        >>> table, said = comparison.to_markdown("wide").split("\n\n")
        >>> print(table)
        | system | value |
        | --- | --- |
        | a | 0.3500 |
        | b | **0.4750**<sup>†</sup> |
        >>> print(said[said.index("†") :])
        †: significantly better than a, ‡: worse (exact randomization test, Holm's correction, p at most 0.05).
        """
        return rendered(self._laid_out(layout, p, alpha, digits, caption, ""), "markdown")

    def to_latex(self, layout: str = "long", *, p: str = "p_holm", alpha: float = 0.05, digits: int = 4,
                 caption: str = "", label: str = "") -> str:  # fmt: skip
        r"""The tables in LaTeX, with the rules of the package booktabs.

        Parameters
        ----------
        layout, p, alpha, digits
            As for `to_markdown`.
        caption, label : str
            Wide layout only. With a caption or a label the table is in a ``table`` environment, with the explanation in
            small print below it. Without both it is a ``tabular``, with the explanation in comments. The caption is
            LaTeX code. Special characters of names are escaped.

        Returns
        -------
        str

        Examples
        --------
        >>> import hitcurve as hc
        >>> comparison = hc.compare({"a": [0.1, 0.4, 0.3], "b": [0.2, 0.4, 0.5]}, rng=0)
        >>> print(comparison.to_latex().splitlines()[1])
        \toprule
        >>> print(comparison.to_latex("wide", caption="Two systems", label="tab:two").splitlines()[2])
        \caption{Two systems}
        """
        return rendered(self._laid_out(layout, p, alpha, digits, caption, label), "latex")

    def to_html(self, layout: str = "long", *, p: str = "p_holm", alpha: float = 0.05, digits: int = 4,
                caption: str = "") -> str:  # fmt: skip
        """The tables in HTML: a part of a page, in the colours of that page.

        Parameters
        ----------
        layout, p, alpha, digits, caption
            As for `to_markdown`.

        Returns
        -------
        str

        Examples
        --------
        >>> import hitcurve as hc
        >>> comparison = hc.compare({"a": [0.1, 0.4, 0.3], "b": [0.2, 0.4, 0.5]}, rng=0)
        >>> "<b>0.3667</b>" in comparison.to_html("wide")
        True
        """
        return part_of_page(self._laid_out(layout, p, alpha, digits, caption, ""))

    def _columns(self, table: str = "differences") -> dict[str, list[Any]]:
        check_choice(table, "table", ("differences", "systems"))
        kind = Difference if table == "differences" else SystemValue
        parts = {name: one.rows if table == "differences" else one.systems for name, one in parts_of(self).items()}
        rows = [row for part in parts.values() for row in part]
        lead = {"stratum": as_utf8(name for name, part in parts.items() for _ in part)} if self.strata else {}
        return lead | columns_of_rows(kind, rows)

    def to_pandas(self, table: str = "differences") -> Any:
        """A pandas.DataFrame of the differences or of the systems.

        Parameters
        ----------
        table : {"differences", "systems"}
            ``"differences"``: a row for each `Difference`. ``"systems"``: a row for each `SystemValue`. Their fields
            are the columns. A value that was not computed is NaN.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> import hitcurve as hc
        >>> comparison = hc.compare({"a": [0.1, 0.4, 0.3], "b": [0.2, 0.4, 0.5]}, rng=0)
        >>> comparison.to_pandas()["system"].tolist(), comparison.to_pandas("systems")["system"].tolist()
        (['b'], ['a', 'b'])
        """
        return frame_of("pandas", self._columns(table))

    def to_polars(self, table: str = "differences") -> Any:
        """A polars.DataFrame of the differences or of the systems.

        Parameters
        ----------
        table : {"differences", "systems"}
            ``"differences"``: a row for each `Difference`. ``"systems"``: a row for each `SystemValue`. Their fields
            are the columns. A value that was not computed is NaN.

        Returns
        -------
        polars.DataFrame

        Examples
        --------
        >>> import hitcurve as hc
        >>> comparison = hc.compare({"a": [0.1, 0.4, 0.3], "b": [0.2, 0.4, 0.5]}, rng=0)
        >>> comparison.to_polars()["system"].to_list(), comparison.to_polars("systems")["system"].to_list()
        (['b'], ['a', 'b'])
        """
        return frame_of("polars", self._columns(table))

    def plot(self, kind: str = "differences", *, measure: str | None = None, ax: Any = None) -> Any:
        """Draw the differences or the systems with their intervals (a forest plot).

        Parameters
        ----------
        kind : {"differences", "systems"}
            ``"differences"``: the difference of each pair. A filled mark says that the Holm-corrected p-value is at
            most 1 - `confidence_level`. ``"systems"``: the value of each system. The picture has 60 rows at most: the
            greatest differences, or the first systems. The legend says how many others were left out.
        measure : str, optional
            One of the compared measures. Default: the first.
        ax : matplotlib Axes, optional
            Where to draw, as for ``plot_curves``.

        Returns
        -------
        Display
            The display has ``ax_``, ``figure_`` and every attribute of the axes.

        Raises
        ------
        ValueError
            If the kind or the measure is unknown, or if there is no value to draw.
        ImportError
            If matplotlib is not installed.

        Examples
        --------
        >>> import hitcurve as hc
        >>> comparison = hc.compare({"a": [0.1, 0.4, 0.3], "b": [0.2, 0.4, 0.5]}, measures="P@5", rng=0)
        >>> [label.get_text() for label in comparison.plot().get_yticklabels()]
        ['b']
        """
        from hitcurve.report.plot_queries import plot_comparison
        return plot_comparison(self, kind, measure=measure, ax=ax)


def parts_of(found: Comparison) -> dict[str, Comparison]:
    """The comparison over all queries, and that of each stratum."""
    return {ALL: found, **found.strata}


def tables_of(found: Comparison, digits: int = 4) -> list[Grid | str]:
    """The tables of a comparison, and a text that says how they were made."""
    over_items, level = found.unit == "items", f"{100 * found.confidence_level:.6g} % interval"
    parts, lead = parts_of(found), ["stratum"] * bool(found.strata)
    values = [[*lead, "measure", "system", "value" if over_items else "mean", level, "by"]]
    breaks: list[list[int]] = [[], []]
    for name, part in parts.items():
        breaks[0] += [len(values)] * (len(values) > 1)
        for one in part.systems:
            ends = between(one.low, one.high, "", digits)
            cells = [one.measure, one.system, number(one.value, "", digits), ends, one.method]
            values.append([*[name] * len(lead), *cells])
    titles = {"p_value": "p", "p_holm": "p (Holm)", "p_t": "p (t)" if found.paired else "p (Welch)",
              "p_tukey": "p (Tukey)"}  # fmt: skip
    if not over_items:  # first the p-value of the interval, then those of other procedures
        tested = "p (randomization)" if found.paired else "p (permutation)"
        titles = {"p_interval": "p (bootstrap)", **titles, "p_value": tested}
    made = [name for name in titles if any(getattr(row, name) is not None for row in found.rows)]
    rows = [[*lead, "measure", "system", "baseline", "difference", level, "by", *(titles[name] for name in made)]]
    for name, part in parts.items():
        breaks[1] += [len(rows)] * (len(rows) > 1)
        for row in part.rows:
            chances = [getattr(row, p) for p in made]
            ends = between(row.low, row.high, "+", digits)
            cells = [number(row.difference, "+", digits), ends, row.method, *map(_probability, chances)]
            rows.append([*[name] * len(lead), row.measure, row.system, row.baseline, *cells])
    of_values, of_rows = (tuple(one) for one in breaks)
    return [Grid(values, 2 + len(lead), breaks=of_values), Grid(rows, 3 + len(lead), breaks=of_rows), _said(found)]


def _said(found: Comparison) -> str:
    """The text below the tables: how they were made."""
    over_items = found.unit == "items"
    said = {row.test for part in parts_of(found).values() for row in part.rows}
    number_drawn = many(found.n_resamples, "resamples")
    drawn = dict.fromkeys(("randomization", "permutation"), f" ({number_drawn})")
    tests = " or ".join(f"{name} test{drawn.get(name, '')}" for name in sorted(said)) if said else "no pair"
    text = f"{_counted_units(found)}. "
    if over_items:
        resamples = "" if said == {"DeLong"} else f"; bootstrap intervals from {number_drawn}"
        text += f"p: {tests}, two-sided{resamples}."
    else:
        tested = "p (randomization)" if found.paired else "p (permutation)"
        text += f"All p are two-sided. {tested} and p (Holm): {tests}. "
        text += f"Intervals and p (bootstrap): {many(found.n_bootstrap, 'resamples')}."
    if found.strata:
        text += " p (Holm) is corrected for the pairs of a measure in a stratum."
    if found.left_out:
        text += f" {_left_out(found)}"
    if found.not_compared:
        text += f" Not compared: {', '.join(found.not_compared)} (sums and geometric means)."
    if few := too_few(found, "p_holm", alpha_of(found.confidence_level)):
        text += f" {few}"
    if not over_items and any(row.p_t is None for row in found.rows):
        text += " " + advice("scipy", "Student's t" if found.paired else "Welch's t") + "."
    return text


def _counted_units(found: Comparison) -> str:
    """The number of items, queries or groups; with strata, and without pairs, also their numbers."""
    parts = {name: one.count for name, one in found.strata.items()} or found.counts
    each = f" ({', '.join(f'{name}: {count}' for name, count in parts.items())})" if parts else ""
    return many(found.count, found.unit) + each


def lines_of(found: Comparison) -> Iterator[Iterable[Any]]:
    """The rows of CSV: a row for each difference. Values that were not computed are empty."""
    lead = ["stratum"] * bool(found.strata)
    yield [*lead, *Difference._fields]
    for name, part in parts_of(found).items():
        for row in part.rows:
            yield [*[name] * len(lead), *("" if cell is None or cell != cell else cell for cell in row)]


def tree_of(found: Comparison, seed: Any) -> dict[str, Any]:
    """The content of JSON. `seed` made the random numbers."""
    counts = {name: getattr(found, name) for name in ("unit", "count", "left_out", "n_resamples", "n_bootstrap")}
    strata = {name: {"count": one.count, "left_out": one.left_out, **_listed(one)}
              for name, one in found.strata.items()}
    without = {"not_compared": list(found.not_compared)} if found.not_compared else {}
    return {**counts, "seed": seed, "confidence_level": found.confidence_level, **without, **_listed(found),
            **({"strata": strata} if strata else {})}  # fmt: skip


def _listed(found: Comparison) -> dict[str, Any]:
    return {"systems": [one._asdict() for one in found.systems], "differences": [one._asdict() for one in found.rows]}


def marks_of(found: Comparison, systems: Sequence[str], p: str, alpha: float) -> Tested:
    """The marks of significance by the p-values called `p`, and the text that explains them.

    Against one baseline the marks are † and ‡; otherwise they are the letters of the systems that are worse. The text
    also says if there were too few resamples, and which measures were not tested. It names the tests of all strata.
    """
    rows = found.rows
    check_choice(p, "p", tuple(_BY))
    level = check_level(alpha, "alpha")
    if any(getattr(row, p) is None for row in rows):
        systems_of_tukey = "three systems or more, over the same queries or groups"
        lacks = "scipy, and queries or groups" if p == "p_t" else systems_of_tukey
        raise ValueError(f"p={p!r} was not computed: it needs {lacks}")
    baselines = {row.baseline for row in rows}
    single, place = len(baselines) == 1, {name: at for at, name in enumerate(systems)}
    signs = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    letters = tuple(signs if len(systems) <= len(signs) else map(str, range(1, len(systems) + 1)))[: len(systems)]
    marks: dict[tuple[str, str], tuple[str, ...]] = {}
    worse: dict[tuple[str, str], list[int]] = {}  # the places of the systems that are worse
    for row in rows:
        if not getattr(row, p) <= level:  # also true for NaN
            continue
        record = record_of(row.measure)
        if not says_how_good(record):
            continue
        better = (row.difference < 0) == (record is not None and record.lower_is_better)
        winner, other = (row.system, row.baseline) if better else (row.baseline, row.system)
        if single:
            marks[row.measure, row.system] = ("†" if better else "‡",)
        else:
            worse.setdefault((row.measure, winner), []).append(place[other])
    marks |= {key: ranged(sorted(found), letters) for key, found in worse.items()}
    tests = {row.test if p != "p_interval" or row.method == "delong" else row.method
             for part in parts_of(found).values() for row in part.rows}
    test = _BY[p].format(" or ".join(sorted(tests))) if found.paired or p != "p_t" else "Welch's t test"
    how = f"({test}, p at most {level:g})."
    if single:
        said = f"†: significantly better than {baselines.pop()}, ‡: worse {how}"
    else:
        said = f"Raised letters: significantly better than the systems of these letters {how}"
        ranges = [mark for marked in marks.values() for mark in marked if "–" in mark]
        said += " A range has all letters between its ends, in the order of the rows." if ranges else ""
    if without := [measure for measure in found.not_compared if says_how_good(record_of(measure))]:
        said += f" Not tested: {', '.join(without)}."
    if few := too_few(found, p, alpha):
        said += f" {few}"
    return Tested(() if single else letters, marks, said)


def too_few(found: Comparison, p: str, alpha: float) -> str:
    """A warning if no p-value called `p` of random resamples can be as small as `alpha`; otherwise an empty text."""
    count = found.n_resamples if p in _TESTED else found.n_bootstrap
    most: tuple[int, ...] = ()
    for rows in _by_measure(found.rows):
        by = {row.test if p in _TESTED else p if p == "p_tukey" else row.method for row in rows}
        if p == "p_t" or not by & {"randomization", "permutation", "bootstrap", "p_tukey"}:
            continue
        sides = 2 if by & {"bootstrap", "permutation"} else 1  # these double the smaller tail
        # Holm's correction multiplies by the number of pairs that do not have smaller p-values, from exact tests.
        pairs = sum(row.p_value >= sides / (count + 1) for row in rows) if p == "p_holm" else 1
        if pairs * (sides / (count + 1)) > alpha:
            most = max(most, (sides, pairs))
    if not most:
        return ""
    sides, pairs = most
    corrected = f", corrected for {pairs} {'pair' if pairs == 1 else 'pairs'}," if p == "p_holm" else ""
    return (f"{count} resamples are too few: no p-value from them{corrected} can be {alpha:g} or less. "
            f"At least {_least(pairs * sides, alpha)} are needed.")  # fmt: skip


def _least(times: int, alpha: float) -> int:
    """The least number n of resamples with times / (n + 1) <= alpha, with a tolerance for rounding."""
    return max(1, math.ceil(round(times / alpha, 6)) - 1)


def _by_measure(rows: Sequence[Difference]) -> list[list[Difference]]:
    """The rows of each measure that have a p-value."""
    found: dict[str, list[Difference]] = {}
    for row in rows:
        if not math.isnan(row.p_value):
            found.setdefault(row.measure, []).append(row)
    return list(found.values())


def _left_out(found: Comparison) -> str:
    return f"{many(found.left_out, found.unit)} without a value {'was' if found.left_out == 1 else 'were'} left out."


def _probability(p: float | None) -> str:
    if p is None or math.isnan(p):
        return "-"
    return f"{p:.4f}" if p >= 0.0001 else "<0.0001"


# --- the one function ---------------------------------------------------------------------------------------


def compare(y_true: Any, y_score: Mapping[str, Any] | None = None, *,
            measures: str | Measure | Sequence[str | Measure] | None = None, baseline: str | None = None,
            groups: Any = None, queries: Any = None, paired: bool = True, method: str | None = None,
            confidence_level: float = 0.95, n_resamples: int | None = None, stratified: bool = False,
            ties: str = "expected",
            lower_is_better: bool | Mapping[str, bool] = False, relevance_level: float | None = None,
            nan_policy: str = "raise", rng: Any = None, workers: int = 1) -> Comparison:  # fmt: skip
    """Compare rankings of the same items, or systems on the same queries: differences with intervals and tests.

    With labels and a mapping of scores, `compare` resamples items: it draws items with replacement, and draws the same
    items for every ranking. With `groups`, or with per-query results, `compare` takes differences of means and
    resamples the groups or queries.

    Parameters
    ----------
    y_true : array_like of shape (n,), mapping, or list of Evaluation
        With `y_score`, the labels of the items, or their levels if a measure needs levels, such as nDCG. Levels of
        shape (n, subtopics) are those of SubtopicCurve. Without `y_score`, a mapping from the names of the systems to
        their per-query results: an Evaluation of `evaluate`, a HitCurves, a GainCurves, a SubtopicCurves, or an array
        with a value for each query. A list of evaluations is also allowed, and each keeps its name. All systems must
        have the same queries, but with ``paired=False`` no two systems share a query.
    y_score : mapping of str to array_like of shape (n,), or frame, optional
        The scores of the same items, by the name of the ranking. A frame has a column for each ranking.
    measures : str or sequence of str, optional
        The names of the measures, or measures of ir_measures. None takes AP and ROCAUC over items, nDCG for GainCurves,
        AP for HitCurves and for groups, and alpha_nDCG for items with subtopics. For evaluations None takes every
        measure that they have, except sums and geometric means, which ``not_compared`` names. For arrays the name is
        only a title, ``"value"`` if you do not say it. Measures of gain need levels; so do measures with ``rel=``, such
        as AP(rel=2). If a measure needs levels, the items of level ``rel=`` or higher are relevant to a binary measure;
        without ``rel=`` the items of level 1 or higher.
    baseline : str, optional
        The system with which every other system is compared: its name, or for an evaluation of a file the path or the
        name of the file (with or without its ending) or the tag in it. None compares all pairs.
    groups : array_like of shape (n,), optional
        The group (target, assay, query) of each item. Each group is a ranking, and `compare` resamples groups. If it is
        a column of a frame, tables and pictures call the groups by its name, such as "targets".
    queries : list, set, callable, mapping or frame, optional
        Only for per-query results: which queries count, or their groups, as for `evaluate`. A list, a set or a function
        of the id selects queries. A mapping of ids to groups, or a frame of both, compares the systems over all queries
        and within each group (stratum): see ``Comparison.strata``. Queries without names are numbered from 0.
    paired : bool
        Only for per-query results. False compares systems that share no query, such as two years of topics: means of
        independent samples.
    method : {None, "bootstrap", "delong"}
        Only over items. None takes DeLong's paired test for ROCAUC and the bootstrap for every other measure. For items
        with levels None takes the bootstrap for every measure.
    confidence_level : float
        The nominal coverage of the intervals.
    n_resamples : int, optional
        The number of resamples of the bootstrap and of every random test. None takes 9,999 over queries and groups, and
        1,999 over items. For many pairs None takes more, because Holm's correction multiplies p-values by the number of
        pairs: the least n with n + 1 >= 10 * pairs / (1 - `confidence_level`), at most 10**6. For 50 systems n is
        244,999. Over queries and groups only the randomisation test takes more. Over items None stays at 1,999 if
        items * systems * n is above 10**10, which would take 10 to 50 seconds on one core.
    stratified : bool
        Only over items. If True, draw relevant items and other items apart.
    ties, relevance_level, nan_policy
        As for HitCurve. ``nan_policy="omit"`` leaves out an item if any of its scores is missing. `relevance_level`
        cannot be combined with measures of gain.
    lower_is_better : bool or mapping of str to bool
        Whether the lowest score ranks first: a bool for all rankings, or a mapping from names of rankings to bools. For
        a ranking that the mapping lacks, the highest score ranks first.
    rng : int or numpy.random.Generator, optional
        The seed or the source of the random numbers.
    workers : int
        The number of threads; -1 takes all cores. The result is the same for any number.

    Returns
    -------
    Comparison
        ``rows`` has the difference, the interval and the p-values of each measure and pair. ``systems`` has the value
        of each system and its interval: the curve of the system makes the same interval with the same `rng` and number
        of resamples. ``str()``, ``to_markdown()``, ``to_latex()``, ``to_html()``, ``to_pandas()`` and ``to_polars()``
        make tables. Queries and groups in which no system has a value (NaN) are left out, and ``left_out`` counts them.
        A group without an item that is relevant to the measure has no value.

    Warns
    -----
    UserWarning
        If there are too few resamples for a significant difference: no p-value of random resamples, corrected for the
        number of pairs, can be 1 - `confidence_level` or less. The text below the tables has this warning too.

    Raises
    ------
    ValueError, TypeError
        If there are fewer than two systems, if two evaluations have the same name, if a baseline or measure is unknown,
        if the systems hold different queries (with ``paired=False``: if they share one), if `queries` has an unknown id
        (the message has near names) or selects none, if a value is infinite, if a query has a value in some systems
        only, or if HitCurve refuses the labels or scores.

    Notes
    -----
    Over items the interval and the p-value come from the same procedure. For ROCAUC both are those of DeLong, DeLong &
    Clarke-Pearson (1988), Biometrics 44:837. For every other measure the p-value inverts the percentile interval: it is
    twice the smaller share (b + 1)/(m + 1), where b of m resamples lie on one side of 0.

    Over queries the interval is the bootstrap interval, and ``p_interval`` is the p-value that inverts this interval,
    from the same resamples. The other p-values come from tests that the field uses, and may differ from ``p_interval``
    near the level. ``p_value`` and ``p_holm`` come from paired randomisation, which is exact if at most 20 queries
    differ (Smucker, Allan & Carterette 2007, CIKM). ``p_t`` comes from Student's paired t test, if scipy is installed.
    ``p_tukey`` comes from the randomised Tukey test, for three or more systems (Carterette 2012, ACM Trans. Inf. Syst.
    30:4). Tables name the procedure of each p-value.

    The randomisation draws a sign for each query, and takes the same signs for every pair. So systems with equal values
    have equal p-values, and no p-value depends on the order of the systems.

    Without pairs the mean of each system is drawn from its own queries. ``p_value`` and ``p_holm`` come from a
    two-sample permutation test of the difference of the means, two-sided as in ``scipy.stats.permutation_test``: exact
    if both systems have at most 30 queries together. ``p_t`` comes from Welch's t test (``scipy.stats.ttest_ind`` with
    ``equal_var=False``). A difference between two years is one of systems and of topics: no test separates the two.

    Examples
    --------
    >>> import hitcurve as hc
    >>> result = hc.compare({"A": [0.1, 0.5, 0.3, 0.2], "B": [0.3, 0.6, 0.5, 0.2]}, rng=1)
    >>> row = result.rows[0]
    >>> print(f"{row.system} - {row.baseline} = {row.difference:.3f}, p = {row.p_value}")
    B - A = 0.125, p = 0.25
    >>> years = {"2023": [0.1, 0.5, 0.3, 0.2], "2024": [0.3, 0.6, 0.5]}
    >>> row = hc.compare(years, paired=False, rng=1).rows[0]
    >>> print(f"{row.difference:.3f}, {row.test}: p = {row.p_value:.3f}, Welch: p = {row.p_t:.3f}")
    0.192, exact permutation: p = 0.286, Welch: p = 0.182
    """
    level, threads = check_level(confidence_level), check_workers(workers)
    check_flag(stratified, "stratified")
    checked_seed(rng)
    chosen, paired = None if queries is None else Queries(queries), check_flag(paired, "paired")
    if y_score is not None and (chosen is not None or not paired):
        name = "queries" if chosen is not None else "paired=False"
        raise ValueError(f"{name} needs per-query results, such as evaluations: it cannot be combined with labels and "
                         "scores")
    if n_resamples is not None:
        n_resamples = check_count(n_resamples, "n_resamples")
    drawn: dict[str, Any] = {"confidence_level": level, "n_resamples": n_resamples, "rng": rng, "workers": threads}
    if y_score is None:
        return _warned(_of_results(y_true, measures, baseline, groups, method, ties, chosen, paired, drawn))
    return _warned(_of_labels(y_true, y_score, measures, baseline, groups, method, ties, lower_is_better,
                              relevance_level, nan_policy, stratified, drawn))  # fmt: skip


def _of_labels(y_true: Any, y_score: Any, measures: Any, baseline: str | None, groups: Any, method: Any, ties: str,
               lower_is_better: Any, relevance_level: float | None, nan_policy: str, stratified: bool,
               drawn: dict[str, Any]) -> Comparison:  # fmt: skip
    """Compare rankings of the same items."""
    columns = frame_columns(y_score)
    if columns is not None and not isinstance(y_score, Mapping):
        y_score = {name: y_score[name] for name in columns}
    if not isinstance(y_score, Mapping):
        of_runs = isinstance(y_true, Evaluated)
        advice = ": pass both evaluations in one list, compare([first, second])" if of_runs else ""
        raise TypeError(f"y_score must be a mapping of names to scores, got {type(y_score).__name__}{advice}")
    names, pairs = _checked_names(y_score, "y_score", baseline)
    lower = _directions(lower_is_better, names)
    topics = len(y_true.shape if hasattr(y_true, "shape") else np.shape(y_true)) == 2
    usual = ("alpha_nDCG",) if topics else ("AP",) if groups is not None else ("AP", "ROCAUC")
    known = [as_measure(one) for one in _listed_measures(measures, usual)]
    if groups is not None:
        given, column, groups = groups, getattr(groups, "name", None), as_column(groups, "groups")
        no_flags(given, groups, "groups")
    if nan_policy == "omit":
        y_true, y_score, groups = _complete(y_true, y_score, groups, names)
        nan_policy = "raise"
    make: dict[str, Any] = {"nan_policy": nan_policy, "workers": drawn["workers"]}
    with_levels = {"gains", "subtopics"}
    of_gains = next((one for one in known if topics or with_levels & {*one.record.of} or one.rel is not None), None)
    if of_gains is None:
        make["relevance_level"] = relevance_level
    elif relevance_level is not None:
        raise ValueError(f"relevance_level cannot be combined with {of_gains.name}, which needs levels: for AP of the "
                         "items of level 2 or higher write AP(rel=2)")  # fmt: skip
    one_curve, many_curves = _KINDS[2 if topics else of_gains is not None]
    if groups is not None:
        if method is not None:
            raise ValueError("method cannot be combined with groups: groups are compared by bootstrap and "
                             "randomisation")
        many = _ranked(many_curves, y_true, y_score, lower, qid=groups, **make)
        found = per_query(dict(zip(names, many, strict=True)), names, known, ties)
        made = _over_queries(found, names, pairs, "groups", **drawn)
        return replace(made, unit=unit_of(column) if isinstance(column, str) else "groups")
    if method is not None:
        check_choice(method, "method", ("bootstrap", "delong"))
    curves = _ranked(one_curve, y_true, y_score, lower, **make)
    if topics:  # codes in place of levels
        levels = coded([levels_of_items(y_true, "y_true")])[0][0]
    elif of_gains is not None:
        levels = as_real(y_true, "y_true")
    else:
        levels = as_flags(y_true, as_real(y_score[names[0]], "y_score"), relevance_level)
    kinds, kind_levels = _kinds(levels, [y_score[name] for name in names], curves)
    if drawn["n_resamples"] is None:
        size = len(names) * int(curves[0].num_items)
        drawn["n_resamples"] = enough(len(pairs), drawn["confidence_level"], _USUAL["items"], size)
    how = {**drawn, "stratified": stratified, "method": method, "ties": ties}
    return _over_items(curves, kinds, None if of_gains is None else kind_levels, known, names, pairs, **how)


def _of_results(results: Any, measures: Any, baseline: str | None, groups: Any, method: Any, ties: str,
                chosen: Queries | None, paired: bool, drawn: dict[str, Any]) -> Comparison:  # fmt: skip
    """Compare systems by the values that they have for each query."""
    results = at_hand(results)
    if isinstance(results, list | tuple) and results and all(isinstance(one, Evaluated) for one in results):
        results = systems_of(results)
    if not isinstance(results, Mapping):
        takes = "labels and a mapping of scores, a list of evaluations, or one mapping of per-query results"
        raise TypeError(f"compare takes {takes}; got {type(results).__name__} alone")
    for name, value in (("groups", groups), ("method", method)):
        if value is not None:
            raise ValueError(f"{name} needs labels and scores: it cannot be combined with per-query results")
    names, pairs = _checked_names(results, "systems", baseline)
    others = uncompared(results, names) if measures is None else ()
    asked = _listed_measures(measures, held_measures(results, names), others)
    whole: Any = per_query(results, names, asked, ties) if paired else per_system(results, names, asked, ties)
    read: Any = _over_queries if paired else _over_samples
    if not paired:
        check_apart(results, names, [ids for _, ids in next(iter(whole.values()))])
    if chosen is None:
        made: Comparison = read(whole, names, pairs, "queries", **drawn)
        return replace(made, not_compared=others)
    first = next(iter(whole.values()))
    known = first[1] if paired else list(dict.fromkeys(query for _, ids in first for query in ids))

    def of(places: list[int]) -> Comparison:
        part = _part(whole, {known[at] for at in places})
        return read(part, names, pairs, "queries", **drawn)  # type: ignore[no-any-return]

    made = of(chosen.places(known))
    made.strata |= {group: of(places) for group, places in chosen.strata(known).items()}
    return replace(made, not_compared=others)


def _part(whole: dict[str, Any], wanted: set[Any]) -> dict[str, Any]:
    """`per_query` or `per_system` of the queries that are wanted."""

    def part(values: _Array, ids: list[Any]) -> tuple[_Array, list[Any]]:
        kept = [at for at, query in enumerate(ids) if query in wanted]
        return values[kept], [ids[at] for at in kept]

    return {title: part(*of) if isinstance(of, tuple) else [part(*sample) for sample in of]
            for title, of in whole.items()}  # fmt: skip


def enough(pairs: int, level: float, usual: int, size: int = 0) -> int:
    """The number of resamples with which a p-value, corrected for so many pairs, can be well below 1 - level.

    It is never below `usual`. size : items * systems that each resample draws. If more resamples than `usual` would
    take too long, the number is `usual`.
    """
    wanted = min(_MOST, _least(10 * pairs, alpha_of(level)))
    return usual if wanted * size > _AFFORDABLE else max(usual, wanted)


def _warned(found: Comparison) -> Comparison:
    """The comparison, after a warning to the caller of `compare` if there were too few resamples."""
    if few := too_few(found, "p_holm", alpha_of(found.confidence_level)):
        warnings.warn(few, stacklevel=3)
    return found


def _ranked(kind: Any, y_true: Any, y_score: Mapping[str, Any], lower: dict[str, bool], **how: Any) -> list[Any]:
    made = []
    for name, lower_is_better in lower.items():
        try:
            made.append(kind(y_true, y_score[name], lower_is_better=lower_is_better, **how))
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name!r}: {error}") from None
    return made


def _listed_measures(measures: Any, default: Sequence[str], others: Sequence[str] = ()) -> list[Any]:
    """The measures that are asked for, or the default. `others`: those that are not compared."""
    why = f": sums and geometric means are not compared: {', '.join(others)}" if others else ""
    measures = default if measures is None else measures
    single = isinstance(measures, str | Measure) or of_ir_measures(measures)
    chosen = [str(one) if of_ir_measures(one) else one for one in ([measures] if single else measures)]
    if not chosen:
        raise ValueError(f"measures is empty{why}")
    return chosen


def _checked_names(systems: Mapping[str, Any], argument: str,
                   baseline: str | None) -> tuple[list[str], list[tuple[int, int]]]:  # fmt: skip
    """The names of the systems, and the pairs (baseline, system) as places."""
    named = systems_of(systems, argument)
    names = list(named)
    if len(names) < 2:
        raise ValueError(f"compare needs two systems or more, got {len(names)}")
    if baseline is None:
        return names, list(combinations(range(len(names)), 2))
    first = names.index(system_named(baseline, named))
    return names, [(first, i) for i in range(len(names)) if i != first]


def _directions(lower_is_better: Any, names: list[str]) -> dict[str, bool]:
    if not isinstance(lower_is_better, Mapping):
        return dict.fromkeys(names, lower_is_better)
    for name in lower_is_better:
        if name not in names:
            listed = ", ".join(map(repr, names))
            raise ValueError(f"lower_is_better names {name!r}, which is not one of the rankings: {listed}")
    return {name: lower_is_better.get(name, False) for name in names}


def _complete(y_true: Any, y_score: Any, groups: Any, names: list[str]) -> tuple[Any, dict[str, Any], Any]:
    """The labels, scores and groups of the items that have no missing score."""
    columns = {name: as_real(y_score[name], f"y_score[{name!r}]") for name in names}
    label = as_column(y_true, "y_true")
    kept = np.ones(label.shape[:1], bool)
    for name, column in columns.items():
        if column.shape != label.shape[:1]:
            raise ValueError(f"y_true has shape {label.shape}, scores {name!r} have shape {column.shape}")
        if column.dtype.kind == "f":
            kept &= ~np.isnan(column)
    if groups is not None:
        if groups.shape != label.shape[:1]:
            raise ValueError(f"y_true has shape {label.shape}, groups has shape {groups.shape}")
        groups = groups[kept]
    return label[kept], {name: column[kept] for name, column in columns.items()}, groups


# --- over items ---------------------------------------------------------------------------------------------


def _kinds(levels: _Array, scores: list[Any], curves: Sequence[_Curve]) -> tuple[Kinds, _Array]:
    """The kinds of items, and the level of each kind of relevant items.

    Items of a kind have the same level and the same place in every ranking.
    """
    scores = [as_real(score, "y_score") for score in scores]
    relevant = levels > 0
    places = [_places(score, curve) for score, curve in zip(scores, curves, strict=True)]
    sizes = [2 * len(curve) + 1 for curve in curves]
    distinct, codes = np.unique(levels[relevant], return_inverse=True)
    hit_place, hit_weight = _counted([*(place[relevant] for place in places), codes], [*sizes, max(1, len(distinct))])
    other_place, other_weight = _counted([place[~relevant] for place in places], sizes)
    # The place of a relevant item is always a row.
    return Kinds(hit_weight, hit_place[:, :-1] >> 1, other_weight, other_place), distinct[hit_place[:, -1]]


def _places(score: _Array, curve: _Curve) -> _Array:
    """The place of each item in a table: 2 g before row g, 2 g + 1 in row g."""
    rows = np.asarray(curve.score)
    if score.dtype.kind == "b":
        score, rows = score.view(np.uint8), rows.astype(np.uint8)
    score = score.astype(rows.dtype.newbyteorder("="), copy=False)
    if not curve.lower_is_better:  # reverse the order; NaN stays last
        score, rows = (-one if one.dtype.kind == "f" else ~one for one in (score, rows))
    row = np.searchsorted(rows, score)
    same = row < rows.shape[0]
    same[same] = equal_numbers(rows[row[same]], score[same])
    return np.asarray(2 * row + same)


def _counted(places: list[_Array], sizes: list[int]) -> tuple[_Array, _Array]:
    """(the distinct places, the number of items of each): arrays (kinds, rankings) and (kinds,)."""
    if math.prod(sizes) >= 1 << 62:
        distinct, weight = np.unique(np.stack(places, axis=1), axis=0, return_counts=True)
        return distinct, weight
    key = np.zeros(places[0].shape[0], np.int64)
    for place, size in zip(places, sizes, strict=True):
        key *= size
        key += place
    if math.prod(sizes) <= 4 * key.shape[0]:
        count = np.bincount(key)
        distinct = np.flatnonzero(count)
        weight = count[distinct]
    else:
        distinct, weight = np.unique(key, return_counts=True)
    columns = np.unravel_index(distinct, sizes) if distinct.shape[0] else [np.zeros(0, np.int64)] * len(sizes)
    return np.stack(columns, axis=1), weight


def _over_items(curves: list[Any], kinds: Kinds, levels: _Array | None, measures: list[Measure], names: list[str],
                pairs: list[tuple[int, int]], **how: Any) -> Comparison:  # fmt: skip
    level, n_resamples = how["confidence_level"], how["n_resamples"]
    alone = [intervals.curve_intervals(curve, measures, **how) for curve in curves]
    systems = [
        SystemValue(one.measure, name, one.estimate, low, high, one.method)
        for of_measure in zip(*alone, strict=True) for name, one in zip(names, of_measure, strict=True)
        for low, high in [one.confidence_interval]
    ]  # fmt: skip
    by_delong = [one.method == "delong" and levels is None for one in alone[0]]
    drawn = np.full((0, len(measures), len(names)), math.nan)
    if not all(by_delong) and min(map(len, curves)) > 0:

        def read(block: list[Any]) -> _Array:
            values = [[one(curve, how["ties"]) for curve in block] for one in measures]
            return np.moveaxis(np.asarray(values, np.float64), 2, 0)

        blocks = item_blocks(curves, kinds, n_resamples, how["rng"], how["workers"], read, how["stratified"], levels)
        drawn = np.concatenate(blocks)
    covariance = _auc_covariance(curves, kinds) if any(by_delong) else None
    differences: list[Difference] = []
    for m, one in enumerate(measures):
        rows = []
        for a, b in pairs:
            value = float(_apart(alone[a][m].estimate, alone[b][m].estimate))
            if by_delong[m]:
                weight = np.eye(len(names))[b] - np.eye(len(names))[a]
                error = math.sqrt(max(0.0, float(weight @ covariance @ weight)))
                between, p, test = intervals.normal_interval(value, error, level), normal_p(value, error), "DeLong"
                method = "delong"
            else:
                apart = _apart(drawn[:, m, a], drawn[:, m, b])
                between, p, test = intervals.quantiles(apart, value, level, None), _bootstrap_p(apart), "bootstrap"
                method = "bootstrap"
            of = one.name, names[a], names[b], value
            rows.append(Difference(*of, *between, p, test, math.nan, None, None, method, p))
        differences += _corrected(rows)
    return Comparison(tuple(systems), tuple(differences), "items", int(curves[0].num_items), 0, n_resamples,
                      n_resamples, level)  # fmt: skip


def _auc_covariance(curves: list[HitCurve], kinds: Kinds) -> _Array:
    parts = [intervals.auc_components(curve) for curve in curves]
    hits = [hit[place] for (hit, _, _), place in zip(parts, kinds.hit_place.T, strict=True)]
    others = [other[place] for (_, other, _), place in zip(parts, kinds.other_place.T, strict=True)]
    return delong_covariance(np.stack(hits, axis=1), kinds.hit_weight, np.stack(others, axis=1), kinds.other_weight)


def _apart(first: Any, second: Any) -> _Array:
    """The second minus the first; 0 if the difference may come from rounding alone."""
    difference = np.subtract(second, first)
    negligible = np.abs(difference) <= _ROUNDING * np.maximum(np.abs(first), np.abs(second))
    return np.where(negligible, 0.0, difference)


def _bootstrap_p(sums: _Array) -> float:
    known = sums[~np.isnan(sums)]
    tail = min(int(np.count_nonzero(known <= 0)), int(np.count_nonzero(known >= 0)))
    return min(1.0, 2 * (tail + 1) / (known.shape[0] + 1)) if known.shape[0] else math.nan


def _power(samples: Sequence[_Array]) -> int:
    """The power of two by which values are divided, so that no sum overflows. Division by it changes no bit."""
    return max(0, int(np.frexp(max(np.abs(one).max(initial=0.0) for one in samples))[1]) - 900)


def _ends(mean: float, sums: _Array, level: float, power: int) -> tuple[float, float, float]:
    """The mean and the ends of its interval, times a power of two."""
    with np.errstate(over="ignore"):
        mean, low, high = np.ldexp([mean, *intervals.quantiles(sums, mean, level, None)], power).tolist()
    return mean, low, high


def _corrected(rows: list[Difference]) -> list[Difference]:
    return [row._replace(p_holm=p) for row, p in zip(rows, holm([row.p_value for row in rows]), strict=True)]


# --- over queries -------------------------------------------------------------------------------------------


def _over_queries(found: dict[str, tuple[_Array, list[Any]]], names: list[str], pairs: list[tuple[int, int]],
                  unit: str, *, confidence_level: float, n_resamples: int | None, rng: Any,
                  workers: int) -> Comparison:  # fmt: skip
    level = confidence_level
    n_bootstrap = n_resamples or _USUAL[unit]
    n_drawn = n_resamples or enough(len(pairs), level, _USUAL[unit])
    systems: list[SystemValue] = []
    differences: list[Difference] = []
    count = left_out = 0
    for title, (values, ids) in found.items():
        without = np.asarray(np.isnan(values).all(axis=1))
        wrong = np.argwhere(~np.isfinite(values) & ~without[:, None])
        if wrong.shape[0]:
            q, s = wrong[0].tolist()
            place = f"{'group' if unit == 'groups' else 'query'} {ids[q]!r} is {values[q, s]} for {names[s]!r}"
            raise ValueError(f"{title} of {place}: a value must be finite, or nan in all systems")
        kept = values[~without]
        count, left_out = max(count, kept.shape[0]), max(left_out, values.shape[0] - kept.shape[0])
        if kept.shape[0] == 0:
            nan = math.nan
            systems += [SystemValue(title, name, nan, nan, nan, "bootstrap") for name in names]
            honest_p = nan if len(names) > 2 else None
            rest = nan, nan, nan, nan, "randomization", nan, paired_t(kept[:, 0]), honest_p, "bootstrap", nan
            differences += [Difference(title, names[a], names[b], *rest) for a, b in pairs]
            continue
        power = _power([kept])
        kept = np.ldexp(kept, -power)

        def shown(values: _Array, sums: _Array, power: int = power) -> tuple[float, float, float]:
            return _ends(math.fsum(values) / values.shape[0], sums, level, power)

        drawn = np.ascontiguousarray(resampled_means(kept, n_bootstrap, rng).T)
        for name, column, sums in zip(names, kept.T, drawn, strict=True):
            systems.append(SystemValue(title, name, *shown(column, sums), "bootstrap"))
        # Each measure and test has its own stream, so that its numbers do not depend on the other measures.
        if isinstance(rng, np.random.Generator):
            signs, orders = (np.random.default_rng(entropy(rng)) for _ in range(2))
        else:
            signs, orders = map(np.random.default_rng, np.random.SeedSequence(rng).spawn(3)[1:])
        honest = tukey(kept, n_bootstrap, orders, workers) if len(names) > 2 else None
        chances = paired_randomization(kept, pairs, n_drawn, signs, workers)
        rows = []
        for (a, b), (p, exact) in zip(pairs, chances, strict=True):
            difference = kept[:, b] - kept[:, a]
            apart = _apart(drawn[a], drawn[b])
            mean = shown(difference, apart)
            if not _apart(math.fsum(kept[:, a]), math.fsum(kept[:, b])):
                mean = 0.0, *mean[1:]
            test = "exact randomization" if exact else "randomization"
            others = math.nan, paired_t(difference), None if honest is None else float(honest[a, b])
            of = title, names[a], names[b], *mean
            rows.append(Difference(*of, p, test, *others, "bootstrap", _bootstrap_p(apart)))
        differences += _corrected(rows)
    return Comparison(tuple(systems), tuple(differences), unit, count, left_out, n_drawn, n_bootstrap, level)


# --- over queries that differ -------------------------------------------------------------------------------


def _over_samples(found: dict[str, list[tuple[_Array, list[Any]]]], names: list[str], pairs: list[tuple[int, int]],
                  unit: str, *, confidence_level: float, n_resamples: int | None, rng: Any,
                  workers: int) -> Comparison:  # fmt: skip
    """Compare systems that share no queries. Queries without a value are left out of their system."""
    level, n_bootstrap = confidence_level, n_resamples or _USUAL[unit]
    n_drawn = n_resamples or enough(len(pairs), level, _USUAL[unit])
    systems: list[SystemValue] = []
    differences: list[Difference] = []
    counts, left_out = dict.fromkeys(names, 0), 0
    for title, samples in found.items():
        known: list[_Array] = []
        for name, (values, ids) in zip(names, samples, strict=True):
            for at in np.flatnonzero(np.isinf(values))[:1].tolist():
                raise ValueError(f"{title} of query {ids[at]!r} is {values[at]} for {name!r}: a value must be finite "
                                 "or nan")
            known.append(values[~np.isnan(values)])
            counts[name] = max(counts[name], len(known[-1]))
        left_out = max(left_out, sum(len(values) for values, _ in samples) - sum(map(len, known)))
        power = _power(known)
        kept = [np.ldexp(one, -power) for one in known]
        means = [math.fsum(one) / len(one) if len(one) else math.nan for one in kept]
        for name, column, mean in zip(names, kept, means, strict=True):
            sums = resampled_means(column[:, None], n_bootstrap, rng)[:, 0]
            systems.append(SystemValue(title, name, *_ends(mean, sums, level, power), "bootstrap"))
        # The means of a difference have streams of their own: resamples with the same seed are not independent.
        words = entropy(rng) if isinstance(rng, np.random.Generator) else rng
        streams = list(map(np.random.default_rng, np.random.SeedSequence(words).spawn(len(names) + 1)))
        drawn = [resampled_means(column[:, None], n_bootstrap, stream)[:, 0]
                 for column, stream in zip(kept, streams[1:], strict=True)]  # fmt: skip
        rows = []
        for a, b in pairs:
            apart = _apart(drawn[a], drawn[b])
            p, exact = unpaired_permutation(kept[a], kept[b], n_drawn, streams[0], workers)
            test = "exact permutation" if exact else "permutation"
            of = title, names[a], names[b], *_ends(float(_apart(means[a], means[b])), apart, level, power)
            rest = math.nan, welch_t(kept[a], kept[b]), None, "bootstrap", _bootstrap_p(apart)
            rows.append(Difference(*of, p, test, *rest))
        differences += _corrected(rows)
    count = sum(counts.values())
    return Comparison(tuple(systems), tuple(differences), unit, count, left_out, n_drawn, n_bootstrap, level,
                      False, counts)  # fmt: skip
