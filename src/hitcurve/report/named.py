"""The view of named measures as a table, and of all usual measures as CSV and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hitcurve.report.rows import Report, Row, Score, View
from hitcurve.shown.grid import Grid

__all__ = ["Named"]


class Named(View):
    """Only the measures. Without groups, a line for each measure.

    With groups, a line for each group. If there are several columns of scores, each measure has a table with a column
    for each of them.
    """

    says_what_was_read = False

    def blocks(self, report: Report, form: str) -> list[Grid | str]:
        named, names = report.named, self.names
        if not report.grouped:
            if named and report.level is None:
                return [report.summary(names)]
            ended = report.level is not None
            rows = [["score"] * named + ["measure", "value"] + ["interval", "by"] * ended]
            rows += [
                [score.name] * named + [name, score.cell(name), *score.interval(name) * ended]
                for score in report.scores for name in names
            ]  # fmt: skip
            return [Grid(rows, 1 + named, bare=True)]
        foot = tuple(dict.fromkeys(sentence for score in report.scores for sentence in score.left_out(names)))
        if named and not report.each:
            rows = [["score", *report.heads(names)]]
            rows += [[score.name, *report.cells(score.rows[name] for name in names)] for score in report.scores]
            return [f"Means over the {report.unit}", Grid(rows, foot=foot, joined=report.joined(1, len(names)))]
        *tables, (title, last) = report.group_tables(names)
        blocks: list[Grid | str] = [one for table in tables for one in table]
        return [*blocks, *[title] * named, last._replace(foot=foot)]

    def _rankings(self, report: Report) -> Iterator[tuple[Score, list[Any], int | None]]:
        """For each line: its scores, the first cells, and the place of the group (None: the mean, or the only one)."""
        for score in report.scores:
            lead: list[Any] = [score.name] * report.named
            if score.groups is None:
                lead += [score.items[0], score.relevant[0]]
            else:
                for at, group in enumerate(score.groups if report.each else ()):
                    yield score, [*lead, str(group), score.items[at], score.relevant[at]], at
                lead += ["mean", "", ""]
            yield score, lead, None

    def lines(self, report: Report) -> list[list[Any]]:
        """A line for each ranking. Undefined numbers are nan."""
        ended = ("", " from", " to", " by") if report.level is not None else ("",)
        rows: list[list[Any]] = [[*_head(report), *(name + end for name in self.names for end in ended)]]
        for score, lead, at in self._rankings(report):
            measured = [score.rows[name] for name in self.names]
            rows.append([*lead, *(cell for row in measured for cell in row.ended(at)[: len(ended)])])
        return rows

    def tree(self, report: Report) -> dict[str, Any]:
        """An object. For several columns of scores, the object holds a list of objects."""
        found = [self._object(report, score) for score in report.scores]
        return {"scores": found} if report.named else found[0]

    def _object(self, report: Report, score: Score) -> dict[str, Any]:
        result: dict[str, Any] = {"score": score.name} if report.named else {}
        result |= {"ties": report.ties or "expected", "items": sum(score.items), "relevant": sum(score.relevant)}
        if score.counted is not None:
            result |= {"missing_scores": score.counted.num_missing, "repeated_ids": score.counted.num_repeated}
            if score.counted.num_absent is not None:
                result |= {"without_row": score.counted.num_absent,
                           "relevant_without_row": score.counted.num_absent_relevant}
        rows = [score.rows[name] for name in self.names]
        means = {row.measure: row.value for row in rows}
        if score.groups is None:
            result["measures"] = means
        else:
            if report.each:
                result["groups"] = [
                    {"group": group if isinstance(group, int) else str(group), "items": score.items[at],
                     "relevant": score.relevant[at], "measures": {row.measure: row.each[at] for row in rows},
                     **_intervals(report, rows, at)}
                    for at, group in enumerate(score.groups)
                ]  # fmt: skip
            skipped = len(score.groups) - len(score.kept)
            result |= {"mean": means, "num_groups": len(score.groups), "num_skipped": skipped}
        return result | _intervals(report, rows, None)


def _intervals(report: Report, rows: list[Row], at: int | None) -> dict[str, Any]:
    """The intervals of group `at`, or of the means or single values, if intervals were asked for."""
    if report.level is None:
        return {}
    ends = ((row.measure, row.ended(at)[1:]) for row in rows)
    return {"intervals": {name: {"from": low, "to": high, "by": by or None} for name, (low, high, by) in ends}}


def _head(report: Report) -> list[str]:
    return ["score"] * report.named + ["group"] * report.grouped + ["items", "relevant"]
