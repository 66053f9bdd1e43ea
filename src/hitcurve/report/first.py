"""The first screen of a report: counts of items, a line for each usual measure, and the effects of ties."""

from __future__ import annotations

import math
from collections.abc import Iterable
from textwrap import fill

from hitcurve._base.words import many
from hitcurve.measures import parse
from hitcurve.report.rows import Report, Score, View, apart, once, readings, shown, under
from hitcurve.shown.grid import Grid

__all__ = ["FIRST", "GRADED", "First"]

GRADED = ("nDCG", "nDCG@10", "nDCG@100", "AP", "RR")  # of levels; AP and RR count levels from 1 up as relevant
FIRST = ("AP", "ROCAUC", "BEDROC(20)", "EF@1%")  # the usual measures of virtual screening
_WIDTH = 80  # of sentences, in letters
_MOST_GROUPS = 20  # groups with a line of their own


class First(View):
    """The measures `FIRST`, or `GRADED` if there are levels, each with its value in the worst and best order of ties.

    `list_sizes`: numbers of items from the top for which hits and hit rate are added. `whole`: every group has a line.
    """

    unasked = True

    def __init__(self, graded: bool = False, ties: str | None = None, list_sizes: Iterable[int] | None = None, *,
                 whole: bool = False) -> None:  # fmt: skip
        asked = [f"{name}@{size}" for size in dict.fromkeys(list_sizes or ()) for name in ("Hits", "P")]
        names = [parse(name) for name in (GRADED if graded else (*FIRST, *asked))]
        super().__init__(names, readings(names, ties))
        self.most = None if whole else _MOST_GROUPS

    def blocks(self, report: Report, form: str) -> list[Grid | str]:
        heads = [score.counts() for score in report.scores]
        parts = []
        for score, counts in zip(report.scores, heads, strict=True) if len(set(heads)) > 1 else [(None, heads[0])]:
            title = f"{report.title}, {score.name}" if score else report.title
            parts.append(f"{title}: {counts}" if title else counts)
        blocks: list[Grid | str] = ["\n".join(parts)]
        most = self.most if form in ("table", "terminal") else None  # a paper has every group
        if report.grouped and report.each and not report.named:
            columns = [(name, report.scores[0].rows[name]) for name in self.names if name in report.scores[0].rows]
            blocks.append(report.group_table(columns, report.scores, mean=False, most=most))
        elif report.grouped and report.each:
            blocks += report.group_tables(self.names[:1], most, mean=False)[0]
        blocks.append(self._values(report))
        of_scores = [(one.name, text) for one in report.scores for text in (one.tied(), *one.sentences(self.names))]
        said = [*once(of_scores, len(report.scores)), *self._methods(report)]
        if form not in ("table", "terminal"):
            return [*blocks, "\n".join(said)]
        more = "-m prints other measures." if report.graded else (
            "--all lists the usual measures under every rule of ties, -m those that you name.")  # fmt: skip
        more += "\n--interval adds the intervals that take longer to compute." * report.left_to_draw
        return [*blocks, "\n".join(fill(line, _WIDTH, subsequent_indent="  ") for line in said), more]

    def _methods(self, report: Report) -> list[str]:
        """A sentence with the methods of the intervals."""
        by: dict[str, list[str]] = {}
        for name in self.names:
            for row in (score.rows[name] for score in report.scores if name in score.rows):
                if not math.isnan(row.low) and name not in by.setdefault(row.by, []):
                    by[row.by].append(name)
        methods = {"delong": "DeLong's method"}
        methods["bootstrap"] = f"bootstrap over the {report.unit if report.grouped else 'items'}"
        said = "; ".join(f"{', '.join(names)} by {methods.get(method, method)}" for method, names in by.items())
        return [f"Intervals: {said}."] if said else []

    def _values(self, report: Report) -> Grid:
        """A table: each measure with its value, its interval, and its range over the orders of tied items."""
        level, ties, named = report.drawn_level, report.ties is None, report.named
        # Means may differ in their groups: scores may lack a group, and measures may need higher levels.
        empty = [score.rows[name].empty for score in report.scores for name in self.names if name in score.rows]
        means = {one.count(False) for one in empty}
        of = f"of {many(min(means), report.unit, ',')}" if len(means) == 1 else f"over {report.unit}"
        value = f"mean {of}" if report.grouped else report.ties or "value"
        rows = [["measure", *["score"] * named, value,
                 *[f"{100 * (level or 0):g} % interval"] * (level is not None), *["ties: worst to best"] * ties]]
        for name in self.names:
            for score in report.scores:
                ends = score.interval(name)[:1] * (level is not None)
                rows.append([name, *[score.name] * named, score.cell(name), *ends, *[_band(score, name)] * ties])
        size = len(report.scores)
        return Grid(rows, 1 + named, breaks=tuple(range(1, len(rows), size))[1:] if named else ())


def _band(score: Score, name: str) -> str:
    """The values in the worst and the best order of tied items, or "-" if they are equal."""
    ends = [score.rows[end].value for end in (under(name, "worst"), under(name, "best")) if end in score.rows]
    if len(ends) < 2 or any(map(math.isnan, ends)) or ends[0] == ends[1]:
        return "-"
    texts = [shown(end) for end in ends]
    return " to ".join(texts if texts[0] != texts[1] else apart(*ends))
