"""The view of named measures as a table, and of all usual measures as CSV and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hitcurve.report.rows import Report, Row, Score, View, shown
from hitcurve.shown.grid import Grid

__all__ = ["Named"]


class Named(View):
    """Only the measures. With groups, a line for each group. Without groups, a line for each measure."""

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
        rows = [[*_head(report), *names]]
        for lead, numbers, of in self._rankings(report):
            rows.append([shown(cell) for cell in (*lead, *numbers)])
            for at, label in enumerate(("from", "to", "by") if of and report.level is not None else ()):
                rows.append([*lead[:-3], label, "", "", *(shown(row[-3:][at]) for row in of)])
        foot = dict.fromkeys(sentence for score in report.scores for sentence in score.left_out(names))
        return [Grid(rows, 1 + named, foot=tuple(foot))]

    def _rankings(self, report: Report) -> Iterator[tuple[list[Any], list[float], list[Row]]]:
        """For each line: the first cells, the numbers, and the rows with intervals (none for a single group)."""
        for score in report.scores:
            lead: list[Any] = [score.name] * report.named
            of = [score.rows[name] for name in self.names]
            if score.groups is None:
                lead += [score.items[0], score.relevant[0]]
            else:
                for at, group in enumerate(score.groups if report.each else ()):
                    yield [*lead, str(group), score.items[at], score.relevant[at]], [row.each[at] for row in of], []
                lead += ["mean", "", ""]
            yield lead, [row.value for row in of], of

    def lines(self, report: Report) -> list[list[Any]]:
        """A line for each ranking. Undefined numbers are nan."""
        ended = ("", " low", " high", " by") if report.level else ("",)
        rows: list[list[Any]] = [[*_head(report), *(name + end for name in self.names for end in ended)]]
        for lead, numbers, of in self._rankings(report):
            for at, number in enumerate(numbers):
                lead += [number, *(of[at][-3:] if of else ("", "", ""))][: len(ended)]
            rows.append(lead)
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
        rows = [score.rows[name] for name in self.names]
        means = {row.measure: row.value for row in rows}
        if score.groups is None:
            result["measures"] = means
        else:
            if report.each:
                result["groups"] = [
                    {"group": group if isinstance(group, int) else str(group), "items": score.items[at],
                     "relevant": score.relevant[at], "measures": {row.measure: row.each[at] for row in rows}}
                    for at, group in enumerate(score.groups)
                ]  # fmt: skip
            skipped = len(score.groups) - len(score.kept)
            result |= {"mean": means, "num_groups": len(score.groups), "num_skipped": skipped}
        if report.level is not None:
            result["intervals"] = {row.measure: [row.low, row.high] for row in rows}
            result["interval_methods"] = {row.measure: row.by or None for row in rows}
        return result


def _head(report: Report) -> list[str]:
    return ["score"] * report.named + ["group"] * report.grouped + ["items", "relevant"]
