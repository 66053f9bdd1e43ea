"""A report: measures of columns of scores under every reading of ties, as one object, and its forms in text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hitcurve.curves.gain import GainCurve
from hitcurve.curves.hit import HitCurve, mean_over
from hitcurve.measures import MEASURES, Measure, parse
from hitcurve.report.warnings import warnings_of
from hitcurve.shown.grid import Grid, are, as_csv, many, rendered
from hitcurve.shown.grid import number as printed
from hitcurve.shown.progress import Progress
from hitcurve.statistics.comparison import Comparison, tables_of
from hitcurve.statistics.intervals import interval_ends

if TYPE_CHECKING:
    from hitcurve.results import TieReport
    from hitcurve.sources.screen import Counted, ScreenedScore

__all__ = ["FIRST", "GRADED", "SUMMARY", "Report", "Score"]

LIST_SIZES = (10, 100, 1000)
_PERCENTS = ("0.1", "0.5", "1", "2", "5", "10")  # the early shares of the list that the field reports
_NOTES = {name: note for record in MEASURES for name, note in record.report}
GRADED = ("nDCG", "nDCG@10", "nDCG@100", "AP", "RR")  # the usual ones of levels; the last two of those from 1 up
SUMMARY = ("AP", "NormAP", "ROCAUC", "logAUC", "BEDROC(20)", "EF@1%")
FIRST = ("AP", "ROCAUC", "BEDROC(20)", "EF@1%")  # what a chemist reads first
_WIDTH = 80  # of its sentences
_MOST_GROUPS = 20  # lines of groups on the first screen
_MOST_DRAWN = 20_000_000  # resamples times rows, or groups, of intervals that nobody asked for: below a second
_NO_INTERVAL = (math.nan, math.nan, "")
# Beside the expected value the range it is the middle of, then scikit-learn's reading.
_READINGS = ("expected", "worst", "best", "threshold")
_LEGEND = (
    "expected: mean over all orders of tied items. worst, best: the worst and the best of these orders.",
    "threshold: a tie counts as one step; AP is then scikit-learn's average_precision_score.",
)
# How intervals are made.
_OF_MEANS = "of the means, by bootstrap over the groups: too narrow where these are fewer than some 20."
_OF_ITEMS = "AP by logit, ROC AUC by DeLong's method, the others by bootstrap over the items."
_OF_ENDS = "AP by logit, the others by bootstrap over the items."  # DeLong's counts a tied pair as a half


class Score(NamedTuple):
    """What a report says of one column of scores. A list has an entry for each group, or one without groups."""

    name: str
    direction: str  # of the better scores: "higher" or "lower"
    groups: list[Any] | None
    items: list[int]
    relevant: list[int]
    values: dict[str, list[float]]  # by the measure's name, which says the reading of ties if the report has another
    empty: dict[str, list[bool]]  # whether a ranking has no relevant item for the measure
    intervals: dict[str, tuple[float, float, str]]  # of some measures, with groups of their means: ends, method
    ties: TieReport[Any, Any]
    counted: Counted | None = None  # missing scores and repeated ids, where rows were read

    @property
    def kept(self) -> list[int]:
        """The rankings with a relevant item, of any level."""
        return [at for at, relevant in enumerate(self.relevant) if relevant > 0]

    def mean(self, measure: str | list[float]) -> float:
        """The one value. With groups what `mean` of curves gives, of a list the mean of what is defined.

        Of counts, which that adds up, the mean too.
        """
        without, how = None, "arithmetic"
        if isinstance(measure, str):
            without = np.array(self.empty[measure], bool)
            how = "geometric" if parse(measure).record.mean == "geometric" else how
            column = self.values[measure]
        else:
            column = measure
        return column[0] if self.groups is None else mean_over(column, "skip", None, without, how=how)

    def left_out(self, measures: Iterable[str]) -> list[str]:
        """What the means leave out, in sentences."""
        kept, total = self.kept, len(self.relevant)
        if self.groups is None:
            return []
        said = [f"Groups without a relevant item: {total - len(kept):,} of {total:,}, left out of the means."]
        said = said * (len(kept) < total)
        for name in measures:
            low = [at for at in kept if self.empty[name][at]]  # what is relevant there is below the measure's level
            if low:
                said.append(f"Groups without an item that is relevant for {name}: {len(low):,}, left out of its mean.")
            undefined = sum(math.isnan(self.values[name][at]) for at in kept) - sum(
                math.isnan(self.values[name][at]) for at in low)
            if undefined:
                said.append(f"Groups where {name} is undefined: {undefined:,}, left out of its mean.")
        return said


class Report:
    """Columns of scores measured: `text`, `csv` and `json` write it, and `hitcurve.report.page` as a page."""

    def __init__(self, found: Sequence[ScreenedScore], measures: Sequence[Measure] | None = None, *, title: str = "",
                 ties: str | None = None, each: bool = True, list_sizes: Sequence[int] | None = None,
                 whole: bool = False, page: bool = False, machine: bool = False, notes: Iterable[str] = (),
                 comparison: Comparison | None = None, intervals: dict[str, Any] | None = None, quick: bool = False,
                 progress: Progress | None = None) -> None:  # fmt: skip
        """Measure columns of scores, under every reading of ties side by side unless `ties` names one.

        `measures`: None for the first screen, which has `FIRST`, of levels `GRADED`, between the worst and the best
        order of ties; with `whole` or `machine` for all usual ones, of levels `GRADED` under one reading. `page`: the
        usual ones as well, of levels those of `measures`; `machine`: with intervals under every reading.
        `title` stands before the counts. `each`: with groups a line for each before the mean. `list_sizes`: where hits
        and hit rate are read, by default 10, 100 and 1000, as far as there are more items. `notes`: warnings that come
        before those about the measures. `intervals`: `confidence_level`, `n_resamples`, `rng` and `workers`, if there
        are to be some; `quick`: on the first screen alone, and only those that take little time. `progress` is told
        what is done.
        """
        progress = progress or Progress(False)
        self.graded = graded = any(score.graded for score in found)
        self.first, self.whole = measures is None and not machine and (graded or not whole), whole
        if self.first or (measures is None and graded):
            asked = [f"{name}@{size}" for size in dict.fromkeys(list_sizes or ()) for name in ("Hits", "P")]
            measures = [parse(name) for name in (GRADED if graded else (*FIRST, *asked))]
        self.title, self.ties, self.each = title, ties, each
        self.asked, self.warnings, self.scores = measures is not None and not self.first, list(notes), list[Score]()
        self.named, self.grouped = int(len(found) > 1), int(found[0].names is not None)  # columns that names take
        if quick and not self.first:
            intervals = None
        self.first_level: float | None = intervals["confidence_level"] if intervals else None
        self.level = None if quick else self.first_level
        method = _OF_MEANS if self.grouped else _OF_ENDS if ties in ("worst", "best") else _OF_ITEMS
        how = f"Intervals: {100 * (self.level or 0):g} %, {method}"
        self.left_to_draw = False
        self.how = (how,) if self.level is not None else ()
        self.differences = tables_of(comparison) if comparison else []
        self.usual = [[one.name for one in measures]] if graded and measures else _usual(found, list_sizes)
        plain = [parse(name) for block in self.usual for name in block]
        every = _readings(plain, ties)
        self.readings = (ties,) if ties else tuple(
            one for one in _READINGS if one == "expected" or any(one in measure.record.ties for measure in plain))
        self.legend = _LEGEND[: 1 + ("threshold" in self.readings)] if ties is None else ()
        shown = every if measures is None else list(measures)
        self.measures = [one.name for one in shown]
        wanted = dict.fromkeys(_readings(shown, ties) if self.first else shown)
        if measures is None or page:
            most = (parse(one.name.replace("EF@", "EFmax@")) for one in plain if one.name.startswith("EF@"))
            wanted |= dict.fromkeys([*every, *most])
        bounded = dict.fromkeys(plain if measures is None and not machine else shown)
        bounded |= dict.fromkeys(plain if page and not quick else ())
        suspected = plain if measures is None or (self.first and page) else measures
        for score in found:
            curves: Any = score.curves
            reading = ties or "expected"
            progress(f"measuring {score.name}")
            values = {one.name: _many(one(curves, reading)) for one in wanted}
            empty = {one.name: _many(one.empty(curves)) for one in wanted}
            drawn = not quick or not intervals or _drawn(curves) * intervals["n_resamples"] <= _MOST_DRAWN
            self.left_to_draw |= not drawn
            progress.begin(f"intervals of {score.name}", (intervals or {}).get("n_resamples"), "resamples")
            made = {"ties": reading, "drawn": drawn, "told": progress.add, **(intervals or {})}
            ends = interval_ends(curves, list(bounded), **made) if intervals else []
            between = {one.name: each for one, each in zip(bounded, ends, strict=False)}
            counts = _many(curves.num_items), _many(curves.num_relevant)
            direction = "lower" if score.lower_is_better else "higher"
            ties_of = score.hits.tie_report()
            ranked = Score(score.name, direction, score.names, *counts, values, empty, between, ties_of, score.counted)
            self.scores.append(ranked)
            if (self.asked or machine) and score.counted is not None and score.counted.num_missing:  # sections say it
                self.warnings.append(f"{score.name}: {score.counted.sentences()[0].removesuffix('.')}")
            self.warnings += warnings_of(score, suspected)

    def text(self, form: str = "table") -> str:
        """What a person reads, in a form of `hitcurve.shown.grid.rendered`."""
        parts = self._first(form) if self.first else [self._table()] if self.asked else self._sections()
        return rendered([*parts, *self.differences], form) + "\n"

    # --- the first screen

    def _first(self, form: str) -> list[Grid | str]:
        """How much was ranked, a line for each measure, and what ties and missing scores do."""
        parts: list[Grid | str] = []
        heads = [self.counts(score) for score in self.scores]
        for score, counts in zip(self.scores, heads, strict=True) if len(set(heads)) > 1 else [(None, heads[0])]:
            title = f"{self.title}, {score.name}" if score else self.title
            parts.append(f"{title}: {counts}" if title else counts)
        parts = ["\n".join(map(str, parts))]
        if self.grouped and self.each and not self.named:
            parts.append(self._groups(self.scores[0], None if self.whole else _MOST_GROUPS))
        parts.append(self._values())
        said = []
        for score in self.scores:
            lead = f"{score.name}: " * self.named
            read = score.counted.sentences() if score.counted is not None else []
            left = score.left_out(name for name in self.measures if name in score.values)
            said += [lead + one for one in (_tied(score), *left, *read)]
        by: dict[str, list[str]] = {}
        for name in self.measures:
            for low, _, method in (score.intervals.get(name, _NO_INTERVAL) for score in self.scores):
                if not math.isnan(low) and name not in by.setdefault(method, []):
                    by[method].append(name)
        if by:
            methods = {"delong": "DeLong's method"}
            methods["bootstrap"] = f"bootstrap over the {'groups' if self.grouped else 'items'}"
            listed = (f"{', '.join(names)} by {methods.get(method, method)}" for method, names in by.items())
            said.append(f"Intervals: {'; '.join(listed)}.")
        if form not in ("table", "terminal"):
            return [*parts, "\n".join(said)]
        rest = "--all lists every measure and reading of ties, -m those that you name."
        rest = "-m names other measures." if self.graded else rest
        more = [rest] + ["--interval adds the intervals that take longer."] * self.left_to_draw
        return [*parts, "\n".join(fill(line, _WIDTH, subsequent_indent="  ") for line in said), "\n".join(more)]

    def _groups(self, score: Score, most: int | None) -> Grid:
        columns = [score.values.get(name, [math.nan] * len(score.items)) for name in self.measures]
        rows = _by_group(score, self.measures, columns)
        left = len(rows) - 1 - (len(rows) if most is None else most)
        foot = (f"... and {many(left, 'more groups', ',')}, with --all.",) if left > 0 else ()
        return Grid(rows[: None if most is None else most + 1], foot=foot)

    def _values(self) -> Grid:
        """Of each measure the value, what another sample might give, and what the order of ties leaves open."""
        level, ties = self.first_level, self.ties is None
        # Others where a score is missing in a whole group, and for a measure of higher levels.
        empty = [score.empty[name] for score in self.scores for name in self.measures if name in score.empty]
        means = {one.count(False) for one in empty}
        of = f"of {many(min(means), 'groups', ',')}" if len(means) == 1 else "over groups"
        value = f"mean {of}" if self.grouped else self.ties or "value"
        head = ["measure", *["score"] * self.named, value]
        rows = [[*head, *[f"{100 * (level or 0):g} % interval"] * (level is not None), *["ties: worst to best"] * ties]]
        breaks = []
        for name in self.measures:
            breaks.append(len(rows))
            for score in self.scores:
                cells = [name, *[score.name] * self.named, _cell(score, name)]
                if level is not None:
                    cells.append(_interval(score.intervals.get(name, _NO_INTERVAL))[0])
                rows.append(cells + [_band(score, name)] * ties)
        return Grid(rows, 1 + self.named, breaks=tuple(breaks[1:]) if self.named else ())

    # --- the measures in columns

    def _lines(self) -> Iterator[tuple[list[Any], list[float], dict[str, tuple[float, float, str]]]]:
        """Of each line what stands before the numbers, the numbers, and their intervals."""
        for score in self.scores:
            lead: list[Any] = [score.name] * self.named
            if score.groups is None:
                lead += [score.items[0], score.relevant[0]]
            else:
                for at, group in enumerate(score.groups if self.each else ()):
                    numbers = [score.values[name][at] for name in self.measures]
                    yield [*lead, str(group), score.items[at], score.relevant[at]], numbers, {}
                lead += ["mean", "", ""]
            yield lead, [score.mean(name) for name in self.measures], score.intervals

    def _head(self) -> list[str]:
        return ["score"] * self.named + ["group"] * self.grouped + ["items", "relevant"]

    def _table(self) -> Grid:
        named, names = self.named, self.measures
        if not self.grouped:
            if named and self.level is None:
                return self.summary(names)
            rows = [["score"] * named + ["measure", "value"] + ["interval", "by"] * (self.level is not None)]
            rows += [
                [score.name] * named + [name, _cell(score, name), *self._between(score, name)]
                for score in self.scores for name in names
            ]  # fmt: skip
            return Grid(rows, 1 + named, bare=True)
        rows = [[*self._head(), *names]]
        for lead, numbers, ends in self._lines():
            rows.append([_shown(cell) for cell in (*lead, *numbers)])
            for at, label in enumerate(("from", "to", "by") if ends else ()):
                rows.append([*lead[:-3], label, "", "", *(_shown(ends[name][at]) for name in names)])
        foot = dict.fromkeys(sentence for score in self.scores for sentence in score.left_out(names))
        return Grid(rows, 1 + named, foot=tuple(foot))

    def _between(self, score: Score, name: str) -> list[str]:
        if self.level is None:
            return []
        return _interval(score.intervals[name])

    def csv(self) -> str:
        """A line for each ranking, numbers in full, undefined ones as nan."""
        more = ("", " low", " high", " by") if self.level else ("",)
        rows: list[list[Any]] = [[*self._head(), *(name + end for name in self.measures for end in more)]]
        for lead, numbers, ends in self._lines():
            for name, number in zip(self.measures, numbers, strict=True):
                lead += [number, *ends.get(name, [""] * (len(more) - 1))]
            rows.append(lead)
        return as_csv(rows)

    def json(self) -> str:
        """One object, with several scores one for each; undefined values are null."""
        import json

        found = [self._object(score) for score in self.scores]
        return json.dumps({"scores": found} if self.named else found[0], indent=2) + "\n"

    def _object(self, score: Score) -> dict[str, Any]:
        result: dict[str, Any] = {"score": score.name} if self.named else {}
        result |= {"ties": self.ties or "expected", "items": sum(score.items), "relevant": sum(score.relevant)}
        if score.counted is not None:
            result |= {"missing_scores": score.counted.num_missing, "repeated_ids": score.counted.num_repeated}
        means = {name: _finite(score.mean(name)) for name in self.measures}
        if score.groups is None:
            result["measures"] = means
        else:
            if self.each:
                result["groups"] = [
                    {"group": group if isinstance(group, int) else str(group), "items": score.items[at],
                     "relevant": score.relevant[at],
                     "measures": {name: _finite(score.values[name][at]) for name in self.measures}}
                    for at, group in enumerate(score.groups)
                ]  # fmt: skip
            skipped = len(score.groups) - len(score.kept)
            result |= {"mean": means, "num_groups": len(score.groups), "num_skipped": skipped}
        if self.level is not None:
            ends = {name: score.intervals[name] for name in self.measures}
            result["intervals"] = {name: [_finite(low), _finite(high)] for name, (low, high, _) in ends.items()}
            result["interval_methods"] = {name: method or None for name, (*_, method) in ends.items()}
        return result

    # --- the usual measures, a row for each

    def _sections(self) -> list[Grid | str]:
        parts: list[Grid | str] = []
        for score in self.scores:
            title = self.title + f", {score.name} ({score.direction} is better)" * self.named
            counts, grids, sentences = self.section(score)
            said = [*(self.legend if score is self.scores[-1] else ()), *sentences, *(() if self.named else self.how)]
            parts += [f"{title}: {counts}" if title else counts, *grids, "\n".join(said)]
        return [*parts, self.summary()._replace(foot=self.how)] if self.named else parts

    def summary(self, names: Sequence[str] | None = None) -> Grid:
        """Columns of scores side by side: some measures, with groups their means."""
        names = names or (self.usual[0] if self.graded else SUMMARY)
        rows = [[score.name, *(_cell(score, name) for name in names)] for score in self.scores]
        return Grid([["score", *names], *rows])

    def counts(self, score: Score) -> str:
        items, relevant = sum(score.items), sum(score.relevant)
        share = f" ({_percent(relevant / items)})" if items else ""
        counts = f"{many(items, 'items', ',')}, {relevant:,} relevant{share}"
        return counts if score.groups is None else f"{many(len(score.groups), 'groups', ',')}, {counts}"

    def section(self, score: Score) -> tuple[str, list[Grid], list[str]]:
        """Of one column of scores: how much was ranked, the tables, and what ties and undefined values do."""
        counts, grids, head, more, first = self.counts(score), [], "", self.readings[1:], self.usual[0][0]
        if score.groups is not None:
            head = f"mean of {many(len(score.kept), 'groups', ',')}"
            columns = zip(self.readings, (first, *(_under(first, one) for one in more)), strict=True)
            named = {first if one == "expected" else f"{first} {one}": name for one, name in columns}
            shown = {title: score.values[name] for title, name in named.items() if name in score.values}
            grids = [Grid(_by_group(score, list(shown), shown.values()))] if self.each else []
        rows, breaks = [[head, *self.readings, *["interval", "by"] * (self.level is not None), ""]], []
        for block in self.usual:
            breaks.append(len(rows))
            for name in block:
                cells = [_cell(score, one) for one in (name, *(_under(name, one) for one in more))]
                cells += self._between(score, name)
                record = parse(name).record
                if not record.ties and "gains" not in record.of:  # a constant of the data
                    cells[1:] = [""] * (len(cells) - 1)
                rows.append([name, *cells, _note(name, score)])
        grids.append(Grid(rows, last="note", breaks=tuple(breaks[1:])))
        names = [name for block in self.usual for name in block if name in score.values]
        read = score.counted.sentences() if score.counted is not None else []
        ties = [_tied(score)] if self.graded else _ties(score)
        return counts, grids, [*ties, *score.left_out(names), *read]


def _usual(found: Sequence[ScreenedScore], list_sizes: Sequence[int] | None) -> list[list[str]]:
    """The usual measures of hits, in blocks."""
    most = max((items for one in found for items in _many(one.curves.num_items)), default=0)
    sizes = [size for size in LIST_SIZES if size < most] if list_sizes is None else dict.fromkeys(list_sizes)
    usual = [[name for name in _NOTES if "@" not in name]]
    usual += [[name.replace("%", f"{share}%") for share in _PERCENTS] for name in _NOTES if name.endswith("@%")]
    return [*usual, [f"{name}@{size}" for size in sizes for name in ("Hits", "P")]]


def _readings(measures: Iterable[Measure], ties: str | None) -> list[Measure]:
    """The measures that have this reading of ties; without one each is followed by its other readings."""
    if ties is not None:
        return [one for one in measures if not one.record.ties or ties in one.record.ties]
    found = []
    for one in measures:
        others = [] if one.ties else [other for other in _READINGS[1:] if other in one.record.ties]
        found += [one, *(parse(_under(one.name, other)) for other in others)]
    return found


def _drawn(curves: Any) -> int:
    """How many numbers are drawn for one resample."""
    if isinstance(curves, GainCurve):  # a level of a tie group takes as long as three rows of hits
        return 3 * (len(curves.level) + len(curves.unretrieved))
    return len(curves.above) if isinstance(curves, HitCurve) else len(curves)


def _many(value: Any) -> list[Any]:
    found = value.tolist() if hasattr(value, "tolist") else value
    return found if isinstance(found, list) else [found]


def _under(name: str, reading: str) -> str:
    """The measure's name, with this reading of ties."""
    head, at, cutoff = name.partition("@")
    return (f"{head[:-1]},ties={reading})" if head.endswith(")") else f"{head}(ties={reading})") + at + cutoff


def _by_group(score: Score, heads: Sequence[str], columns: Iterable[list[float]]) -> list[list[str]]:
    """A row for each group, below what stands above the columns."""
    rows = [["group", "items", "relevant", *heads]]
    for group, *numbers in zip(score.groups or (), score.items, score.relevant, *columns, strict=True):
        rows.append([str(group), *map(_shown, numbers)])
    return rows


def _interval(ends: tuple[float, float, str]) -> list[str]:
    """From where to where, and how it was made."""
    low, high, method = ends
    return ["-", ""] if math.isnan(low) or math.isnan(high) else [f"{_shown(low)} to {_shown(high)}", method]


def _cell(score: Score, name: str) -> str:
    return _shown(score.mean(name)) if name in score.values else "-"


def _band(score: Score, name: str) -> str:
    """What the order of ties leaves open of the value."""
    ends = [_under(name, reading) for reading in ("worst", "best")]
    if not all(end in score.values for end in ends):
        return "-"
    low, high = map(score.mean, ends)
    if math.isnan(low) or math.isnan(high) or low == high:
        return "-"
    shown = [_shown(low), _shown(high)]
    return " to ".join(shown if shown[0] != shown[1] else _apart(low, high))


def _note(name: str, score: Score) -> str:
    head, _, cutoff = name.partition("@")
    note = _NOTES.get(name if not cutoff else f"{head}@%" if "%" in cutoff else f"{head}@K", "")
    most = score.mean(f"{head}max@{cutoff}") if "{most" in note else 0.0
    return note.format(at=cutoff.replace("%", " %") if "%" in cutoff else f"{int(cutoff or 0):,}", most=most)


def _tied(score: Score) -> str:
    """How many items are tied, in a sentence."""
    return _ties(score)[0].removesuffix(";").removesuffix(".") + "."


def _ties(score: Score) -> list[str]:
    """What ties do to AP, in lines."""
    if not score.kept:
        return ["No relevant items: AP is undefined."]
    ties, items = score.ties, sum(score.items)
    tied, largest = sum(_many(ties.num_tied)), max(_many(ties.largest_group))
    if not tied:
        return ["Ties: no relevant item is in a tie, so every order of tied items gives the same numbers."]
    worst, best, threshold = (score.mean(_many(one)) for one in (ties.worst, ties.best, ties.threshold))
    what = "AP" if score.groups is None else "the mean AP"
    shown = [_shown(worst)] if worst == best else _apart(worst, best)
    text = f"depending on their order {what} lies between {shown[0]} and {shown[-1]}."
    if worst == best:
        text = f"no order of theirs changes {what}."
    if not worst <= threshold <= best and _shown(threshold) not in shown:
        text += " The threshold reading lies outside."
    share = f"Ties: {tied:,} of the {many(items, 'items', ',')} ({_percent(tied / items)})"
    return [f"{share} {are(tied)} in a tie with a relevant item, up to {largest:,} in one tie;", text]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _shown(value: float | str) -> str:
    if isinstance(value, str | int):
        return value if isinstance(value, str) else f"{value:,}"
    if math.isnan(value):
        return "nan"
    return printed(value) if value == 0 or abs(value) >= 0.01 else f"{value:.3g}"


def _percent(share: float) -> str:
    percent = 100 * share
    if 0 < percent < 0.1:
        return f"{percent:.2g} %"
    if 99.5 <= percent < 100:  # "100 %" means all
        return f"{min(percent, 99.9):.1f} %"
    return f"{percent:.1f} %" if percent < 10 else f"{percent:.0f} %"


def _apart(low: float, high: float) -> list[str]:
    """Both numbers with as many decimals as it takes to tell them apart, four at least."""
    shown = ([f"{low:.{decimals}f}", f"{high:.{decimals}f}"] for decimals in range(4, 17))
    return next((pair for pair in shown if pair[0] != pair[1]), [repr(low), repr(high)])
