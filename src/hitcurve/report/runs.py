"""Measured runs as text, CSV and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import TYPE_CHECKING, Any

from hitcurve._base.queries import ALL
from hitcurve.shown.board import best_first, board, printed_digits, record_of, says_how_good
from hitcurve.shown.grid import Grid, number
from hitcurve.shown.means import means_of, queries, stacked, strata_of
from hitcurve.shown.printed import Written

if TYPE_CHECKING:
    from hitcurve.retrieval.evaluation import Evaluation
    from hitcurve.statistics.comparison import Comparison

__all__ = ["Runs"]


class Runs(Written):
    """Measured runs, and their comparison if there is one."""

    indent = 1

    def __init__(self, names: list[str], evaluations: list[Evaluation], compared: Comparison | None = None,
                 first: str | None = None, *, each: bool = False, seed: int = 0, p: str = "p_holm",
                 tables: str | None = None, caption: str = "", label: str = "", digits: int = 4) -> None:  # fmt: skip
        """`evaluations` have the same judgments and measures. `compared` is their comparison, made with `seed`.

        `first`: the measure that a picture or a page shows for each query. `each`: also print the values of each query.
        `p`: the p-value that decides which differences are significant. `tables`: "board" prints only the table of
        means, "all" also prints the tables of the comparison. `digits`: the decimals in tables, but not on a page.
        """
        self.names, self.evaluations, self.compared, self.first = names, evaluations, compared, first
        self.each, self.seed, self.p, self.shown = each, seed, p, tables
        self.caption, self.label, self.digits = caption, label, digits
        self.strata = strata_of(dict(zip(names, evaluations, strict=True)), None)
        self.lead = ["run", *["stratum"] * bool(self.strata)]  # the names of the columns before those of a query

    def _rows(self) -> Iterator[tuple[list[str], str, list[float]]]:
        """The rows (run, query, values) of the means, and of the queries if these are printed.

        With groups of queries, the stratum comes after the run.
        """
        for name, one in zip(self.names, self.evaluations, strict=True):
            groups = one.groups or {}

            def lead(stratum: str, name: str = name) -> list[str]:
                return [name, *[stratum] * bool(self.strata)]

            if self.each:
                columns = [column.tolist() for column in one.values.values()]
                for query, *values in zip(one.query_ids, *columns, strict=True):
                    yield lead(groups.get(query, "")), query, values
            yield lead(ALL), "all", list(one.means.values())
            for stratum, systems in self.strata.items():
                yield lead(stratum), "all", list(systems[name].means.values())

    def lines(self) -> Iterator[Iterable[Any]]:
        if self.compared is not None:
            from hitcurve.statistics.comparison import lines_of

            yield from lines_of(self.compared)
            return
        yield [*self.lead, "query_id", *self.evaluations[0].means]
        for lead, query, values in self._rows():
            yield [*lead, query, *("" if value != value else value for value in values)]

    def tree(self) -> dict[str, Any]:
        runs = [{"run": name, **one.to_dict()} for name, one in zip(self.names, self.evaluations, strict=True)]
        for entry in () if self.each else runs:
            del entry["queries"]
        for entry in runs if self.strata else ():
            of_run = {group: of[entry["run"]] for group, of in self.strata.items()}
            entry["strata"] = {group: {"queries": len(one), "means": dict(one.means)} for group, one in of_run.items()}
        if self.compared is None:
            return {"runs": runs}
        from hitcurve.statistics.comparison import tree_of

        return {"runs": runs, "comparison": tree_of(self.compared, self.seed)}

    def blocks(self, form: str) -> list[Grid | str]:
        each = int(self.each)
        shown = self.shown or ("board" if form == "latex" else "all")  # the other tables are wider than a page
        more = list[Grid | str]()
        if self.compared is not None and shown == "all":
            from hitcurve.statistics.comparison import tables_of

            more = tables_of(self.compared, self.digits)
        if form in ("markdown", "latex") and not each:
            if self.strata:
                return [self.stacked(self.caption, self.label, self.digits), *more]
            return [self.board(self.caption, self.label, self.digits), *more]
        measures = self.evaluations[0].means
        digits = [printed_digits(record_of(measure), self.digits) for measure in measures]
        rows = [[*self.lead, *["query"] * each, *measures]]
        for lead, query, values in self._rows():
            rows.append([*lead, *[query] * each, *map(number, values, repeat(""), digits)])
        return [Grid(rows, len(self.lead) + each, foot=(self._foot(),)), *more]

    def stacked(self, caption: str = "", label: str = "", digits: int = 4, *, best_first: bool = False) -> Grid:
        """The `board` of all queries, and below it that of each group of queries.

        `best_first`: the runs are in the order of the board of all queries.
        """
        order, by = self.best_first() if best_first else (list(range(len(self.names))), "")
        names, foot = [self.names[at] for at in order], [f"{self._foot()}.", *_ordered(by)]
        whole = dict(zip(self.names, self.evaluations, strict=True))
        parts = {group: {name: of[name] for name in names} for group, of in ({ALL: whole} | self.strata).items()}
        tested = {}
        if self.compared is not None:
            from hitcurve.statistics.comparison import marks_of, parts_of

            tested = {group: marks_of(one, names, self.p, 0.05) for group, one in parts_of(self.compared).items()}
        grid = stacked(parts, digits, head="run", foot=foot, tested=tested)
        return grid._replace(caption=caption, label=label)

    def best_first(self) -> tuple[list[int], str]:
        """The places of the runs, best first, and the measure: `first`, or the first that says which run is best."""
        means, own = means_of(self.evaluations)
        measures = [measure for measure, name in own.items() if says_how_good(record_of(name))]
        if len(means) < 2 or not measures:
            return list(range(len(means))), ""
        by = next((measure for measure, name in own.items() if self.first in (measure, name)), measures[0])
        return best_first([row[by] for row in means], record_of(own[by])), by

    def board(self, caption: str = "", label: str = "", digits: int = 4, *, best_first: bool = False) -> Grid:
        """The table of means: a row for each run. Best values and significant differences are marked."""
        means, own = means_of(self.evaluations)
        names, found, by = self.names, None, ""
        if best_first:
            order, by = self.best_first()
            names, means = [names[at] for at in order], [means[at] for at in order]
        if self.compared is not None:
            from hitcurve.statistics.comparison import marks_of

            found = marks_of(self.compared, names, self.p, 0.05)
        foot = [f"{self._foot()}.", *_ordered(by)]
        return board(names, means, digits=digits, found=found, names=own, head="run", foot=foot, caption=caption,
                     label=label)  # fmt: skip

    def _foot(self) -> str:
        first = self.evaluations[0]
        how = {"score": f"equal scores: {first.ties}", "listed": "ranked as listed", "rank": "ranked by rank"}
        return f"{queries(self.evaluations)}; {how[first.rank_by]}"


def _ordered(by: str) -> list[str]:
    return [f"The runs are in the order of {by}."] if by else []
