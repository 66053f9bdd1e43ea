"""The measured columns of scores that every view of a report shows, and how numbers are printed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hitcurve._base.words import are, many, singular
from hitcurve.curves.gain import GainCurve
from hitcurve.curves.hit import HitCurve, mean_over
from hitcurve.measures import Measure, parse
from hitcurve.report.warnings import warnings_of
from hitcurve.shown.grid import Grid
from hitcurve.shown.grid import number as printed
from hitcurve.shown.printed import Written
from hitcurve.shown.progress import Progress
from hitcurve.statistics.intervals import interval_ends

if TYPE_CHECKING:
    from hitcurve.results import TieReport
    from hitcurve.sources.screen import Counted, ScreenedScore
    from hitcurve.statistics.comparison import Comparison

__all__ = ["READINGS", "Report", "Row", "Score", "View", "apart", "once", "readings", "shown", "under"]

_MOST_DRAWN = 20_000_000  # resamples times rows (or groups): without --interval, more (about a second) are skipped
_MOST_NAMES = 3  # names of scores in a warning
_Ends = tuple[float, float, str]  # low, high, and the method of the interval
_NO_INTERVAL: _Ends = (math.nan, math.nan, "")
_ENDS = ("from", "to", "by")  # the heads of the columns of an interval
# The expected value, then its bounds, then scikit-learn's reading.
READINGS = ("expected", "worst", "best", "threshold")


class Row(NamedTuple):
    """A measure of a column of scores."""

    measure: str  # its name, with the reading of ties if that is not the report's
    each: list[float]  # the value of each group; without groups a single value
    empty: list[bool]  # for each ranking, whether it has no relevant item for the measure
    value: float  # with groups their mean, as `curves.mean` computes it
    low: float
    high: float
    by: str
    ends: Sequence[_Ends] = ()  # the interval of each group; empty without such intervals

    def ended(self, at: int | None) -> tuple[float, float, float, str]:
        """The value of group `at` with its interval. None stands for the mean, or for the single value."""
        if at is None:
            return self.value, self.low, self.high, self.by
        return self.each[at], *(self.ends[at] if self.ends else _NO_INTERVAL)


class Score(NamedTuple):
    """A column of scores. Lists have an entry for each group. Without groups, they have a single entry."""

    name: str
    direction: str  # which scores are better: "higher" or "lower"
    groups: list[Any] | None
    items: list[int]
    relevant: list[int]
    rows: dict[str, Row]  # by the name of the measure
    ties: TieReport[Any, Any]
    counted: Counted | None = None  # missing scores and repeated ids, where rows were read
    unit: str = "groups"  # the word for groups

    @property
    def kept(self) -> list[int]:
        """The positions of the rankings with a relevant item of any level."""
        return [at for at, relevant in enumerate(self.relevant) if relevant > 0]

    def counts(self) -> str:
        items, relevant = sum(self.items), sum(self.relevant)
        share = f" ({_percent(relevant / items)})" if items else ""
        counts = f"{many(items, 'items', ',')}, {relevant:,} relevant{share}"
        return counts if self.groups is None else f"{many(len(self.groups), self.unit, ',')}, {counts}"

    def cell(self, name: str) -> str:
        return shown(self.rows[name].value) if name in self.rows else "-"

    def interval(self, name: str) -> list[str]:
        """Two cells: the ends of the interval of a measure, and the method of the interval."""
        row = self.rows.get(name)
        if row is None or math.isnan(row.low) or math.isnan(row.high):
            return ["-", ""]
        return [f"{shown(row.low)} to {shown(row.high)}", row.by]

    def left_out(self, names: Iterable[str]) -> list[str]:
        """Sentences about the groups that the means of these measures leave out."""
        kept, total = self.kept, len(self.relevant)
        if self.groups is None:
            return []
        groups = self.unit.capitalize()
        said = [f"{groups} without a relevant item: {total - len(kept):,} of {total:,}, left out of the means."]
        said = said * (len(kept) < total)
        for row in (self.rows[name] for name in names if name in self.rows):
            low = [at for at in kept if row.empty[at]]  # all relevant items are below the measure's level
            if low:
                said.append(f"{groups} without a relevant item for {row.measure}: {len(low):,}, "
                            "left out of its mean.")  # fmt: skip
            undefined = sum(math.isnan(row.each[at]) for at in kept) - sum(math.isnan(row.each[at]) for at in low)
            if undefined:
                said.append(f"{groups} where {row.measure} is undefined: {undefined:,}, left out of its mean.")
        return said

    def sentences(self, names: Iterable[str]) -> list[str]:
        """Sentences about what the means leave out, and about missing scores and repeated ids."""
        return self.left_out(names) + (self.counted.sentences() if self.counted is not None else [])

    def tied(self) -> str:
        """A sentence: how many items are tied."""
        return self.ties_of_ap()[0].rstrip(";.") + "."

    def ties_of_ap(self) -> list[str]:
        """Lines: how many items are tied, and the range of AP."""
        if not self.kept:
            return ["No relevant items: AP is undefined."]
        ties, items = self.ties, sum(self.items)
        tied, largest = sum(listed(ties.num_tied)), max(listed(ties.largest_group))
        if not tied:
            return ["Ties: no relevant item is in a tie, so every order of tied items gives the same values."]
        worst, best, threshold = (_mean(listed(one), self.groups) for one in (ties.worst, ties.best, ties.threshold))
        what = "AP" if self.groups is None else "the mean AP"
        ends = [shown(worst)] if worst == best else apart(worst, best)
        text = f"depending on their order {what} lies between {ends[0]} and {ends[-1]}."
        if worst == best:
            text = f"their order does not change {what}."
        if not worst <= threshold <= best and shown(threshold) not in ends:
            text += " The value of the threshold reading lies outside."
        share = f"Ties: {tied:,} of the {many(items, 'items', ',')} ({_percent(tied / items)})"
        return [f"{share} {are(tied)} in a tie with a relevant item, up to {largest:,} in one tie;", text]


class View:
    """A way to show a report: which measures it needs, and how it makes tables and sentences of them."""

    unasked = False  # whether quick intervals are computed without --interval
    says_what_was_read = True  # whether the view prints missing scores; otherwise warnings do

    def __init__(self, measures: Iterable[Measure], measured: Iterable[Measure] | None = None) -> None:
        self.measures = list(measures)  # they have intervals, and warnings check them
        self.measured = self.measures if measured is None else list(measured)  # all that are computed
        self.names = [one.name for one in self.measures]
        self.of_each = self.measures  # with groups, they also have an interval for each group

    def blocks(self, report: Report, form: str) -> list[Grid | str]:
        raise NotImplementedError

    def lines(self, report: Report) -> list[list[Any]]:
        raise NotImplementedError

    def tree(self, report: Report) -> dict[str, Any]:
        raise NotImplementedError


class Report(Written):
    """Columns of scores, measured for a view, and for a page if there is one."""

    def __init__(self, found: Sequence[ScreenedScore], view: View, page: View | None = None, *, title: str = "",
                 ties: str | None = None, each: bool = True, notes: Iterable[str] = (),
                 comparison: Comparison | None = None, intervals: dict[str, Any] | None = None, quick: bool = False,
                 n_of_each: int = 1000, progress: Progress | None = None) -> None:  # fmt: skip
        """Measure the columns of scores. `ties` is the reading of ties. None means the expected value.

        `title` is printed before the counts. `each`: with groups, print a line for each group before the mean. `notes`:
        warnings that come before the warnings about measures. `intervals`: None for no intervals, or their
        `confidence_level`, `n_resamples`, `rng` and `workers`. `quick`: compute only intervals of the first screen, and
        only if they take little time. `n_of_each`: the number of resamples for the interval of each group, which is
        computed if each group has a line, and if not `quick`. `progress` is called with each step.
        """
        self.view, self.title, self.ties, self.each = view, title, ties, each
        self.graded, self.grouped, self.unit = found[0].graded, found[0].names is not None, found[0].unit
        self.named = int(len(found) > 1)  # the number of columns for the names of scores
        self.differences, self.comparison = list[Grid | str](), comparison
        self.seed = intervals["rng"] if intervals else None
        if comparison is not None:
            from hitcurve.statistics.comparison import tables_of

            self.differences = tables_of(comparison)
        if quick and not view.unasked:
            intervals = None
        self.drawn_level: float | None = intervals["confidence_level"] if intervals else None
        self.level = None if quick else self.drawn_level
        self.left_to_draw = False
        self.warnings, self.scores = list(notes), list[Score]()
        views = [view] if page is None else [view, page]
        wanted = dict.fromkeys(one for each_view in views for one in each_view.measured)
        bounded = dict.fromkeys(one for each_view in views[: 1 if quick else 2] for one in each_view.measures)
        of_each = dict.fromkeys(one for each_view in views for one in each_view.of_each)
        self._of_each = list(of_each) if self.grouped and each and self.level is not None else []
        self._n_of_each = n_of_each
        suspected = views[-1 if view.unasked else 0].measures
        said = list[tuple[str, str]]()  # names of scores, and warnings
        for score in found:
            self.scores.append(self._measured(score, list(wanted), list(bounded), intervals, quick,
                                              progress or Progress(False)))  # fmt: skip
            if not view.says_what_was_read and score.counted is not None:
                said += [(score.name, sentence.removesuffix(".")) for sentence in score.counted.failures()]
            said += [(score.name, sentence) for sentence in warnings_of(score, suspected)]
        self.warnings += once(said, len(found) if self.named else 0)

    def _measured(self, score: ScreenedScore, wanted: list[Measure], bounded: list[Measure],
                  intervals: dict[str, Any] | None, quick: bool, progress: Progress) -> Score:  # fmt: skip
        curves: Any = score.curves
        reading, ends = self.ties or "expected", dict[Measure, tuple[float, float, str]]()
        progress(f"measuring {score.name}")
        values = [(one, listed(one(curves, reading)), listed(one.empty(curves))) for one in wanted]
        if intervals:
            drawn = not quick or _drawn(curves) * intervals["n_resamples"] <= _MOST_DRAWN
            self.left_to_draw |= not drawn
            progress.begin(f"intervals of {score.name}", intervals["n_resamples"], "resamples")
            ends = interval_ends(curves, bounded, ties=reading, drawn=drawn, told=progress.add, **intervals)
        of_each = self._ends_of_each(score, intervals, progress)
        rows = {one.name: Row(one.name, each, empty, _mean(each, score.names, empty, one),
                              *ends.get(one, _NO_INTERVAL), of_each.get(one, []))
                for one, each, empty in values}  # fmt: skip
        counts = listed(curves.num_items), listed(curves.num_relevant)
        direction = "lower" if score.lower_is_better else "higher"
        return Score(score.name, direction, score.names, *counts, rows, score.hits.tie_report(), score.counted,
                     score.unit)  # fmt: skip

    def _ends_of_each(self, score: ScreenedScore, intervals: dict[str, Any] | None,
                      progress: Progress) -> dict[Measure, list[_Ends]]:  # fmt: skip
        """The interval of each group, as `interval` of its curve makes it."""
        if not (self._of_each and intervals):
            return {}
        curves: Any = score.curves
        progress.begin(f"intervals of each of the {self.unit} of {score.name}", len(curves), self.unit)
        found, how = [], intervals | {"n_resamples": self._n_of_each}
        for curve in curves:
            found.append(interval_ends(curve, self._of_each, ties=self.ties or "expected", **how))
            progress.add(1)
        return {one: [ends.get(one, _NO_INTERVAL) for ends in found] for one in self._of_each}

    def blocks(self, form: str) -> list[Grid | str]:
        return [*self.view.blocks(self, form), *self.differences]

    def lines(self) -> Iterable[Iterable[Any]]:
        if self.comparison is None:
            return self.view.lines(self)
        from hitcurve.statistics.comparison import lines_of

        return lines_of(self.comparison)

    def tree(self) -> dict[str, Any]:
        tree = self.view.tree(self)
        if self.comparison is None:
            return tree
        from hitcurve.statistics.comparison import tree_of

        return tree | {"comparison": tree_of(self.comparison, self.seed)}

    def summary(self, names: Sequence[str]) -> Grid:
        """A table of some measures (with groups, of their means): a row for each column of scores."""
        return Grid([["score", *names], *([score.name, *map(score.cell, names)] for score in self.scores)])

    def heads(self, names: Iterable[str], *, ended: bool = True) -> list[str]:
        """The heads of values, each with the heads of its interval."""
        return [head for name in names for head in (name, *_ENDS)[: self._width(ended)]]

    def cells(self, rows: Iterable[Row], at: int | None = None, *, ended: bool = True) -> list[str]:
        """Values of group `at` (None: means), each with the columns of its interval."""
        return [shown(cell) for row in rows for cell in row.ended(at)[: self._width(ended)]]

    def joined(self, lead: int, count: int, *, ended: bool = True) -> tuple[int, ...]:
        """The places of the columns of intervals, of `count` values after `lead` other columns."""
        width = self._width(ended)
        return tuple(lead + at for at in range(count * width) if at % width)

    def _width(self, ended: bool) -> int:
        return 1 + len(_ENDS) if ended and self.level is not None else 1

    def group_table(self, columns: Sequence[tuple[str, Row]], counted: Sequence[Score], *, mean: bool = True,
                    ended: bool = True, most: int | None = None) -> Grid:  # fmt: skip
        """A row for each group, and the mean. The columns are rows of the report, with their heads.

        `counted`: the numbers of items of these columns of scores are shown, if they are equal. `most`: the greatest
        number of groups that the table shows.
        """
        alike = all((one.items, one.relevant) == (counted[0].items, counted[0].relevant) for one in counted)
        counts = [("items", counted[0].items), ("relevant", counted[0].relevant)] * alike
        groups = (counted[0].groups or []) if self.each else []
        names, measured = [name for name, _ in columns], [row for _, row in columns]
        rows = [[singular(self.unit), *(head for head, _ in counts), *self.heads(names, ended=ended)]]
        for at, group in enumerate(groups[:most]):
            cells = self.cells(measured, at, ended=ended)
            rows.append([str(group), *(f"{numbers[at]:,}" for _, numbers in counts), *cells])
        if mean:
            rows.append(["mean", *("" for _ in counts), *self.cells(measured, ended=ended)])
        left = len(groups) - len(groups[:most])
        foot = (f"... and {left:,} more {self.unit}, with --all.",) if left else ()
        return Grid(rows, foot=foot, joined=self.joined(1 + len(counts), len(names), ended=ended))

    def group_tables(self, names: Sequence[str], most: int | None = None, *,
                     mean: bool = True) -> list[tuple[str, Grid]]:  # fmt: skip
        """Tables with a row for each group: of each measure with a column for each column of scores, or, for a single
        column of scores, of all measures. Each table has a title."""
        if not self.named:
            only = self.scores[0]
            columns = [(name, only.rows[name]) for name in names if name in only.rows]
            return [(f"Each {singular(self.unit)}", self.group_table(columns, self.scores, most=most))]
        made = []
        for name in names:
            columns = [(score.name, score.rows[name]) for score in self.scores if name in score.rows]
            table = self.group_table(columns, self.scores, mean=mean, most=most)
            made.append((f"{name} of each {singular(self.unit)}", table))
        return made


def _mean(each: list[float], groups: list[Any] | None, empty: list[bool] | None = None,
          measure: Measure | None = None) -> float:  # fmt: skip
    """Without groups, the single value. With groups, the mean as `curves.mean` computes it; without `empty`, the mean
    of the defined values.

    Counts have a mean too, although `curves.mean` adds them up.
    """
    if groups is None:
        return each[0]
    how = "geometric" if measure is not None and measure.record.mean == "geometric" else "arithmetic"
    return mean_over(each, "skip", None, None if empty is None else np.array(empty, bool), how=how)


def readings(measures: Iterable[Measure], ties: str | None) -> list[Measure]:
    """The measures that have the reading `ties`. If `ties` is None, all measures, each with its other readings."""
    if ties is not None:
        return [one for one in measures if not one.record.ties or ties in one.record.ties]
    found = []
    for one in measures:
        others = [] if one.ties else [other for other in READINGS[1:] if other in one.record.ties]
        found += [one, *(parse(under(one.name, other)) for other in others)]
    return found


def under(name: str, reading: str) -> str:
    """The name of the measure with the option ``ties=``."""
    head, at, cutoff = name.partition("@")
    return (f"{head[:-1]},ties={reading})" if head.endswith(")") else f"{head}(ties={reading})") + at + cutoff


def _drawn(curves: Any) -> int:
    """How many numbers a resample draws."""
    if isinstance(curves, GainCurve):  # a level in a tie group takes as long as three rows of hits
        return 3 * (len(curves.level) + len(curves.unretrieved))
    return len(curves.above) if isinstance(curves, HitCurve) else len(curves)


def listed(value: Any) -> list[Any]:
    found = value.tolist() if hasattr(value, "tolist") else value
    return found if isinstance(found, list) else [found]


def shown(value: float | str) -> str:
    if isinstance(value, str | int):
        return value if isinstance(value, str) else f"{value:,}"
    if math.isnan(value):
        return "nan"
    return printed(value) if value == 0 or abs(value) >= 0.01 else f"{value:.3g}"


def once(said: Iterable[tuple[str, str]], every: int) -> list[str]:
    """Sentences about scores, each once, in front of it the names of its scores. Without names: of `every` score.

    Sentences that begin alike, up to a colon, follow each other.
    """
    kinds: dict[str, dict[str, list[str]]] = {}
    for name, sentence in said:
        kinds.setdefault(sentence.partition(":")[0], {}).setdefault(sentence, []).append(name)
    return [sentence if len(names) == every else f"{_listed(names)}: {sentence}"
            for alike in kinds.values() for sentence, names in alike.items()]


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")


def _percent(share: float) -> str:
    percent = 100 * share
    if 0 < percent < 0.1:
        return f"{percent:.2g} %"
    if 99.5 <= percent < 100:  # "100 %" is printed only for all
        return f"{min(percent, 99.9):.1f} %"
    return f"{percent:.1f} %" if percent < 10 else f"{percent:.0f} %"


def apart(low: float, high: float) -> list[str]:
    """Both numbers with at least four decimals, and as many as needed to differ."""
    pairs = ([f"{low:.{decimals}f}", f"{high:.{decimals}f}"] for decimals in range(4, 17))
    return next((pair for pair in pairs if pair[0] != pair[1]), [repr(low), repr(high)])
