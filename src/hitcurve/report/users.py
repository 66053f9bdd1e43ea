"""What the users of measured runs gain and spend, as text, CSV and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from hitcurve.curves.users import UserModel
from hitcurve.report.runs import Runs
from hitcurve.retrieval.plans import mean
from hitcurve.shown.grid import Grid, number

if TYPE_CHECKING:
    from hitcurve.retrieval.evaluation import Evaluation

__all__ = ["Users"]

_NUMBERS = UserModel._fields[:5]


class Users(Runs):
    """The numbers of the user of a measure in runs, with their residuals."""

    def __init__(self, names: list[str], evaluations: list[Evaluation], measure: str, *, each: bool = False) -> None:
        """`each`: also print the numbers of each query."""
        super().__init__(names, evaluations, each=each)
        self.measure, self.models = measure, [one.user_model(measure) for one in evaluations]

    def _numbers(self) -> Iterator[tuple[str, str, list[float], list[float]]]:
        """The rows (run, query, numbers, residuals): of the queries if these are printed, and of the means."""
        for name, one, model in zip(self.names, self.evaluations, self.models, strict=True):
            both: list[Any] = [model[:5], (model.residual or model)[:5]]
            for i, query in enumerate(one.query_ids if self.each else ()):
                known, more = ([float(column[i]) for column in columns] for columns in both)
                yield name, query, known, more
            known, more = ([mean(column, "arithmetic") for column in columns] for columns in both)
            yield name, "all", known, more

    def lines(self) -> Iterator[Iterable[Any]]:
        yield ["run", "query_id", *_NUMBERS, *(f"residual_{name}" for name in _NUMBERS)]
        for name, query, known, more in self._numbers():
            yield [name, query, *("" if cell != cell else cell for cell in (*known, *more))]

    def tree(self) -> dict[str, Any]:
        rows, runs = self._numbers(), []
        for name, one in zip(self.names, self.evaluations, strict=True):
            found = [self._tree(*next(rows)[2:]) for _ in range(len(one.query_ids) * self.each + 1)]
            runs.append({"run": name, "means": found.pop()})
            if self.each:
                runs[-1]["queries"] = dict(zip(one.query_ids, found, strict=True))
        return {"user_model": self.measure, "runs": runs}

    @staticmethod
    def _tree(known: list[float], more: list[float]) -> dict[str, Any]:
        return {**dict(zip(_NUMBERS, known, strict=True)), "residual": dict(zip(_NUMBERS, more, strict=True))}

    def blocks(self, form: str) -> list[Grid | str]:
        each = int(self.each)
        rows = [["run", *["query"] * each, "number", "value", "residual"]]
        breaks = []
        for name, query, known, more in self._numbers():
            breaks += [len(rows)] * (len(rows) > 1)
            for label, value, rest in zip(_NUMBERS, known, more, strict=True):
                rows.append([name, *[query] * each, label.replace("_", " "), number(value), number(rest)])
        return [Grid(rows, 2 + each, breaks=tuple(breaks), foot=(f"user of {self.measure}; {self._foot()}",))]
