"""The view of all usual measures: --all prints it, and the page of --report shows it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from hitcurve._base.words import many
from hitcurve.measures import MEASURES, Measure, parse
from hitcurve.report.first import FIRST
from hitcurve.report.rows import READINGS, Report, Score, View, listed, readings, under
from hitcurve.shown.grid import Grid

if TYPE_CHECKING:
    from hitcurve.sources.screen import ScreenedScore

__all__ = ["SUMMARY", "Usual"]

LIST_SIZES = (10, 100, 1000)
SUMMARY = ("AP", "NormAP", "ROCAUC", "logAUC", "BEDROC(20)", "EF@1%")
_PERCENTS = ("0.1", "0.5", "1", "2", "5", "10")  # the shares of the list that papers on virtual screening report
_NOTES = {name: note for record in MEASURES for name, note in record.report}
_LEGEND = (
    "expected: the mean over all orders of tied items. worst, best: the worst and the best of these orders.",
    "threshold: a tie counts as a single step; AP is then scikit-learn's average_precision_score.",
)
# The methods of the intervals.
_OF_MEANS = "of the means, by bootstrap over the {0}: too narrow for fewer than about 20 {0}."
_OF_ITEMS = "AP by logit, ROC AUC by DeLong's method, the others by bootstrap over the items."
_OF_ENDS = "AP by logit, the others by bootstrap over the items."  # DeLong's method counts a tied pair as a half


class Usual(View):
    """The usual measures in blocks, under the reading `ties`. If `ties` is None, under every reading.

    `list_sizes`: the numbers of items from the top for hits and hit rate, by default those of 10, 100 and 1000 that are
    less than the number of items. `measures`: measures that replace the usual measures, for levels. `of_each`: the
    measures of the summary. With groups, they have a table with each group; by default those of the first screen have.
    """

    def __init__(self, found: Sequence[ScreenedScore], ties: str | None = None,
                 list_sizes: Iterable[int] | None = None, measures: Sequence[Measure] | None = None,
                 of_each: Sequence[Measure] | None = None) -> None:  # fmt: skip
        self.usual = _usual(found, list_sizes) if measures is None else [[one.name for one in measures]]
        self.summary = [one.name for one in of_each or ()] or (SUMMARY if measures is None else self.usual[0])
        plain = [parse(name) for block in self.usual for name in block]
        self.every = readings(plain, ties)
        most = [parse(one.name.replace("EF@", "EFmax@")) for one in plain if one.name.startswith("EF@")]
        super().__init__(plain, [*self.every, *most])
        self.of_each = list(of_each or measures or map(parse, FIRST))
        self.readings = (ties,) if ties else tuple(
            one for one in READINGS if one == "expected" or any(one in measure.record.ties for measure in plain))
        self.legend = _LEGEND[: 1 + ("threshold" in self.readings)] if ties is None else ()

    def how(self, report: Report) -> tuple[str, ...]:
        """A sentence with the methods of the intervals. Empty without intervals."""
        if report.level is None:
            return ()
        method = _OF_ENDS if report.ties in ("worst", "best") else _OF_ITEMS
        method = _OF_MEANS.format(report.unit) if report.grouped else method
        return (f"Intervals: {100 * report.level:g} %, {method}",)

    def blocks(self, report: Report, form: str) -> list[Grid | str]:
        parts: list[Grid | str] = []
        how, named = self.how(report), report.named
        for score in report.scores:
            title = report.title + f", {score.name} ({score.direction} is better)" * named
            grids, sentences = self.section(report, score)
            said = [*(self.legend if score is report.scores[-1] else ()), *sentences, *(() if named else how)]
            parts += [f"{title}: {score.counts()}" if title else score.counts(), *grids, "\n".join(said)]
        if not named:
            return parts
        if report.grouped and report.each:
            parts += [one for table in report.group_tables([one.name for one in self.of_each]) for one in table]
        return [*parts, report.summary(self.summary)._replace(foot=how)]

    def section(self, report: Report, score: Score) -> tuple[list[Grid], list[str]]:
        """For a column of scores: the tables, and sentences about ties and undefined values."""
        grids, head, more, first = list[Grid](), "", self.readings[1:], self.names[0]
        if score.groups is not None:
            head = f"mean of {many(len(score.kept), report.unit, ',')}"
            titles = {first if one == "expected" else f"{first} {one}": name for one, name in zip(
                self.readings, (first, *(under(first, one) for one in more)), strict=True)}  # fmt: skip
            columns = [(title, score.rows[name]) for title, name in titles.items() if name in score.rows]
            grids = [report.group_table(columns, [score], mean=False, ended=False)] if report.each else []
        ended = report.level is not None
        rows, breaks = [[head, *self.readings, *["interval", "by"] * ended, ""]], []
        for block in self.usual:
            breaks.append(len(rows))
            for name in block:
                cells = [score.cell(one) for one in (name, *(under(name, one) for one in more))]
                cells += score.interval(name) * ended
                record = parse(name).record
                if not record.ties and "gains" not in record.of:  # the same value under every reading
                    cells[1:] = [""] * (len(cells) - 1)
                rows.append([name, *cells, _note(name, score)])
        grids.append(Grid(rows, last="note", breaks=tuple(breaks[1:])))
        ties = [score.tied()] if report.graded else score.ties_of_ap()
        return grids, [*ties, *score.sentences(self.names)]


def _usual(found: Sequence[ScreenedScore], list_sizes: Iterable[int] | None) -> list[list[str]]:
    """The names of the usual measures of labels, in blocks."""
    most = max((items for one in found for items in listed(one.curves.num_items)), default=0)
    sizes = [size for size in LIST_SIZES if size < most] if list_sizes is None else dict.fromkeys(list_sizes)
    usual = [[name for name in _NOTES if "@" not in name]]
    usual += [[name.replace("%", f"{share}%") for share in _PERCENTS] for name in _NOTES if name.endswith("@%")]
    return [*usual, [f"{name}@{size}" for size in sizes for name in ("Hits", "P")]]


def _note(name: str, score: Score) -> str:
    head, _, cutoff = name.partition("@")
    note = _NOTES.get(name if not cutoff else f"{head}@%" if "%" in cutoff else f"{head}@K", "")
    most = score.rows[f"{head}max@{cutoff}"].value if "{most" in note else 0.0
    return note.format(at=cutoff.replace("%", " %") if "%" in cutoff else f"{int(cutoff or 0):,}", most=most)
