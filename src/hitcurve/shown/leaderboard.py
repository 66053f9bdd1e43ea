"""Evaluations side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hitcurve._base.words import many
from hitcurve.shown.grid import rendered
from hitcurve.shown.means import Evaluated, Means, means_of, systems_of
from hitcurve.shown.printed import as_utf8

if TYPE_CHECKING:
    from hitcurve.retrieval.evaluation import Evaluation

__all__ = ["Leaderboard"]


class Leaderboard(Means):
    """Evaluations side by side: a row for each system, a column for each measure.

    Parameters
    ----------
    evaluations : list of Evaluation, or mapping of str to Evaluation
        A list of evaluations, as `evaluate` returns for a list of runs: each evaluation keeps its name. Or a mapping of
        the names of systems to evaluations.

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
        If there are no evaluations, if two evaluations in a list have the same name, or if an object is not an
        Evaluation.

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
            if not isinstance(one, Evaluated):
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
        """The table in plain text. Best values are between asterisks, second best values between underscores."""
        return rendered(self._blocks())

    def _columns(self) -> dict[str, Any]:
        columns = {measure: [row[measure] for row in self.means.values()] for measure in self.measures}
        return {"system": as_utf8(self.systems), **columns}
