"""Evaluations side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hitcurve._base.checks import check_flag, quoted
from hitcurve._base.queries import ALL, Queries
from hitcurve._base.words import many, meant
from hitcurve.measures import Measure, as_measure, of_ir_measures
from hitcurve.shown.board import Tested, best_first, record_of, together
from hitcurve.shown.grid import rendered
from hitcurve.shown.means import Evaluated, Means, chosen, means_of, strata_of, systems_of
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
    queries : list, set, callable, mapping or frame, optional
        Which queries count, or their groups, as for `evaluate`. With groups the table has the means of each group
        (stratum) below those of all queries. Default: all queries, with the groups that all evaluations have. `sort`
        goes by all queries. `baseline` and `letters` compare the systems in each group too.
    sort : str, optional
        The measure that orders the rows, best first: any name of one of the `measures`. For measures such as
        Unjudged@10 the least value is the best. Equal means keep their order, and systems without a value (NaN) come
        last. None keeps the order of `evaluations`.
    baseline : str, optional
        The system with which every other system is compared, as ``compare(evaluations, baseline=...)`` does: its name,
        or the file or the tag of its run. † marks values that are significantly better, ‡ marks values that are
        significantly worse.
    letters : bool
        True compares all pairs of systems, as ``compare(evaluations)`` does. Each system has a letter, in the order of
        the rows. A raised letter at a value says that the value is significantly better than that system's value. Four
        or more successive letters are written as a range, such as d–m. A board may have both letters and a baseline.
        Two systems are one pair, which has the marks † and ‡.
    p, alpha
        As for ``Comparison.to_latex("wide")``: the p-value that decides what is significant, and its greatest value. A
        line below the table names the test and the correction.
    n_resamples, rng, workers
        As for `compare`. With the same `rng` the marks are those of
        ``compare(evaluations, rng=rng).to_latex("wide", p=p, alpha=alpha)``.

    Attributes
    ----------
    systems : tuple of str
        The names of the systems, in the order of the rows.
    measures : tuple of str
        The measures of all systems. A measure that has several names occurs once.
    means : dict of str to dict of str to float
        The means, by the system and then by the measure. NaN if a system does not have the measure.
    strata : dict of str to dict of str to dict of str to float
        The means of each group of queries, by the group, the system and the measure. Empty without groups.

    Raises
    ------
    ValueError, TypeError
        If there are no evaluations, if two evaluations in a list have the same name, if an object is not an Evaluation,
        if no system has the measure `sort`, or if no system is called `baseline`. With `baseline` or `letters` also if
        the systems hold different queries, if a query has a value in some systems only, or if there is only one system.
        Also if `queries` has an id that no evaluation has, or selects none.
        ``evaluate(..., missing="zero")``, the default, gives all runs the same queries.

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
    >>> hc.Leaderboard([first], queries={"q": "short"}).strata
    {'short': {'run 1': {'AP': 1.0, 'P@1': 1.0}}}
    >>> qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(8)}
    >>> runs = {"mine": {"a": 2.0, "b": 1.0}, "other": {"a": 1.0, "b": 2.0}, "same": {"a": 9.0}}
    >>> found = hc.evaluate(qrels, {name: dict.fromkeys(qrels, run) for name, run in runs.items()}, "AP")
    >>> board = hc.Leaderboard(found, sort="AP", letters=True, rng=0)
    >>> for line in str(board).splitlines()[:4]:
    ...     print(line)
    #  system       AP
    a  mine    *1.0000* c
    b  same    *1.0000* c
    c  other   _0.5000_
    """

    __module__ = "hitcurve"

    def __init__(self, evaluations: Sequence[Evaluation] | Mapping[str, Evaluation], *,
                 queries: Any = None, sort: str | Measure | None = None, baseline: str | None = None,
                 letters: bool = False, p: str = "p_holm", alpha: float = 0.05, n_resamples: int | None = None,
                 rng: Any = None, workers: int = 1) -> None:  # fmt: skip
        found = systems_of(evaluations)
        if not found:
            raise ValueError("evaluations is empty")
        for name, one in found.items():
            if not isinstance(one, Evaluated):
                raise TypeError(f"evaluations[{name!r}] must be an Evaluation, got {type(one).__name__}")
        given = None if queries is None else Queries(queries)
        found = chosen(found, given)
        rows, names = means_of(list(found.values()))
        if sort is not None:
            by = _column(sort, names)
            order = best_first([row[by] for row in rows], record_of(names[by]))
            found, rows = {list(found)[at]: list(found.values())[at] for at in order}, [rows[at] for at in order]
        self._evaluations: dict[str, Evaluation] = found
        self._by_stratum: dict[str, dict[str, Evaluation]] = strata_of(found, given)
        self.strata = {group: dict(zip(of, means_of(list(of.values()))[0], strict=True))
                       for group, of in self._by_stratum.items()}
        self.systems = tuple(found)
        self.means = dict(zip(found, rows, strict=True))
        self.measures = tuple(names)
        asked: dict[str, str | None] = {f"baseline={quoted(baseline)}": baseline} if baseline is not None else {}
        if check_flag(letters, "letters") and not (asked and len(found) == 2):
            asked["letters=True"] = None
        if not asked and (p, alpha, n_resamples) != ("p_holm", 0.05, None):
            raise ValueError("p, alpha and n_resamples need letters=True or a baseline: they decide what is marked")
        how = {"n_resamples": n_resamples, "rng": rng, "workers": workers}
        if self._by_stratum:
            how["queries"] = next(iter(found.values())).groups if given is None else given.groups
        tested = [self._compared(text, one, p, alpha, how) for text, one in asked.items()]
        self._marks = {group: together([one[group] for one in tested]) for group in (tested[0] if tested else ())}
        self._tested = self._marks.get(ALL)

    def _compared(self, text: str, baseline: str | None, p: str, alpha: float,
                  how: dict[str, Any]) -> dict[str, Tested]:  # fmt: skip
        """What is significant against the baseline, or for None between all pairs: over all queries, and in each group.

        `text`: the argument that asks.
        """
        from hitcurve.statistics.comparison import compare, marks_of, parts_of

        try:
            found = compare(self._evaluations, baseline=baseline, **how)
        except ValueError as error:
            raise ValueError(error if str(error).startswith("baseline=") else f"{text}: {error}") from None
        return {group: marks_of(one, self.systems, p, alpha) for group, one in parts_of(found).items()}

    def _by_system(self) -> dict[str, Evaluation]:
        return self._evaluations

    def _strata(self) -> Mapping[str, Mapping[str, Any]]:
        return self._by_stratum

    def __repr__(self) -> str:
        return f"Leaderboard({many(len(self.systems), 'systems')}: {', '.join(self.measures)})"

    def __str__(self) -> str:
        """The table in plain text. Best values are between asterisks, second best values between underscores."""
        return rendered(self._blocks())

    def _columns(self) -> dict[str, Any]:
        strata = {ALL: self._evaluations, **self._by_stratum}
        rows = [row for means in (self.means, *self.strata.values()) for row in means.values()]
        lead: dict[str, Any] = {} if not self.strata else {
            "stratum": as_utf8(group for group, of in strata.items() for _ in of),
            "queries": [len(one.query_ids) for of in strata.values() for one in of.values()]}
        columns = {measure: [row[measure] for row in rows] for measure in self.measures}
        return {**lead, "system": as_utf8(self.systems) * len(strata), **columns}


def _column(sort: Any, names: Mapping[str, str]) -> str:
    """The measure that `sort` names. `names`: the measures, each with the name of its record."""
    if isinstance(sort, str) and sort in names:
        return str(sort)
    if not isinstance(sort, str | Measure) and not of_ir_measures(sort):
        raise TypeError(f"sort must be the name of a measure, got {quoted(sort)} of type {type(sort).__name__}")
    texts = [sort, sort.replace(".", "_")] if isinstance(sort, str) else [sort]  # names of trec_eval, in both forms
    for text in texts:
        with suppress(ValueError):
            key = as_measure(text).name
            if found := [measure for measure, name in names.items() if name == key]:
                return found[0]
    raise ValueError(f"sort={quoted(sort)} is not a measure of the systems: {meant(sort, names)}the measures are "
                     f"{', '.join(map(repr, names))}")  # fmt: skip
