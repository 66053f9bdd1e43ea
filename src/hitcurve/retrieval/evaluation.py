"""The result of an evaluation: values per query, means, and the range that ties leave open."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeVar, overload

import numpy as np

from hitcurve._base.checks import quoted
from hitcurve._base.words import many, near
from hitcurve.measures import parse
from hitcurve.retrieval import plans
from hitcurve.retrieval.names import measure_of, resolve
from hitcurve.shown.grid import number
from hitcurve.shown.means import Evaluated
from hitcurve.shown.printed import as_utf8

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from hitcurve import GainCurves, HitCurves, SubtopicCurves, UserModel
    from hitcurve.measures import Definition, Measure
    from hitcurve.results import Interval
    from hitcurve.retrieval.unjudged import Unjudged
    from hitcurve.shown.leaderboard import Leaderboard

__all__ = ["Evaluation", "Named", "Table", "TieBand", "mean_over_queries"]


_Value = TypeVar("_Value")
#: A query's number of retrieved documents, and the (rank, above, tied, level) of each document with a judgment.
Table = tuple[int, list[tuple[int, int, int, float]]]


class TieBand(NamedTuple):
    """The range that ties among the scores of a run leave open in a mean."""

    worst: float
    """The mean with all ties at their worst. NaN if the bound cannot be computed."""
    expected: float
    """The mean over all orders of the tied documents. NaN if the measure has no expected value."""
    best: float
    """The mean with all ties at their best. NaN if the bound cannot be computed."""
    value: float
    """The mean with the evaluation's own rule for ties."""


class Named(dict[str, _Value]):
    """A dict keyed by the measure names that you asked for. Lookup also accepts synonyms."""

    def __init__(self, found: Mapping[str, _Value], asked: Mapping[str, str]) -> None:
        super().__init__(found)
        self.asked = asked  # by the canonical name

    def __missing__(self, name: Any) -> _Value:
        try:
            own = self.asked[measure_of(name).name]
        except (KeyError, ValueError, TypeError):
            own = name
        if not dict.__contains__(self, own):
            raise KeyError(name)
        return self[own]

    def __contains__(self, name: Any) -> bool:
        return self.get(name, self) is not self

    def get(self, name: Any, default: Any = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return default

    def __reduce__(self) -> Any:
        return Named, (dict(self), dict(self.asked))


@dataclass(repr=False, eq=False)
class Evaluation(Evaluated):
    """The values of the measures for a run. `evaluate` makes evaluations.

    Attributes
    ----------
    name : str
        The name of the run: see `evaluate`.
    query_ids : list of str
        The ids of the queries that count, in the order of their bytes. Numbered queries, which had no ids, are in the
        order of their numbers.
    values : dict of str to float64 array
        For each measure an array with a value for each query, NaN for a query without a value. The keys are the measure
        names that you asked for. Lookup also accepts synonyms. If you ask for a set such as ``"official"``, its
        measures have hitcurve's names.
    means : dict of str to float
        The mean of each measure over the queries that have a value, with the keys of `values`. The mean is arithmetic,
        but geometric for GMAP and GMBpref. Counts are summed.
    counts : dict of str to int
        Numbers of queries and documents. ``queries``: queries that count. ``missing``: judged queries that the run does
        not have. ``extra``: queries of the run that have no judgments. ``empty``: queries without a relevant document.
        ``retrieved``: documents of the run. ``judged``: documents of the run that have a judgment. ``contradicting``:
        queries whose scores rise somewhere in the order of ``rank_by="listed"`` or ``"rank"``.
    definitions : dict of str to str
        For each measure its definition, and how ties, levels, unjudged documents and missing queries were treated.
    missing, extra : list of str
        The ids of the queries that `counts` counts as ``missing`` and as ``extra``.
    notes : list of str
        Sentences about the data: which columns were found by usual names, how many rows `duplicates` left out, which
        bad lines ``strict=False`` accepted, where scores contradict `rank_by`, and whether the run has no documents, or
        none with a judgment.
    ties, rank_by : str
        The arguments of `evaluate` that ranked the documents.
    relevance_level : float
        The lowest level that is relevant, for measures that do not name a level.
    tag : str
        The tag in the run's file. `name` may differ.
    groups : dict of str to str, or None
        The group of each query that has one, if ``queries=`` of `evaluate` gave groups.
    """

    __module__ = "hitcurve"  # what a pickle names

    name: str
    query_ids: list[str]
    values: Named[NDArray[np.float64]]
    means: Named[float]
    counts: dict[str, int]
    definitions: dict[str, str]
    notes: list[str]
    ties: str
    rank_by: str
    missing: list[str]
    extra: list[str]
    # `tie_report`, `level_strings` and `curves` call these functions. A pickle has their results.
    _band: Callable[[], Named[TieBand]]
    _tables: Callable[[], list[Table] | None]  # None with judgment groups, as below
    _curves: Callable[[], GainCurves | None]
    relevance_level: float = 1
    tag: str = ""
    _topics: Callable[[], SubtopicCurves | None] = lambda: None
    groups: dict[str, str] | None = None
    # For `unjudged`: the path of the run, and how it was read: the fields of `unjudged._Read`.
    _read: tuple[Any, ...] = ("", True, False, False, -1, ({}, "raise", frozenset()))

    # A pickle has plain dicts and tuples: it names no class of this module, which may move.
    def __getstate__(self) -> dict[str, Any]:
        results: dict[str, Any] = dict.fromkeys(_FUNCTIONS)
        if self._band is not _not_held:
            results = {field: getattr(self, field)() for field in _FUNCTIONS}
            results["_band"] = {name: tuple(one) for name, one in results["_band"].items()}
        return {**self.__dict__, "values": dict(self.values), "means": dict(self.means), **results,
                "_asked": dict(self.means.asked)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        from copy import copy
        from functools import partial

        asked, curves, tables = state.pop("_asked"), state["_curves"], state["_tables"]
        topics = state.get("_topics")
        functions: dict[str, Any] = dict.fromkeys(_FUNCTIONS, _not_held)
        if state["_band"] is not None:
            band = Named({name: TieBand(*one) for name, one in state["_band"].items()}, asked)
            functions = {"_band": partial(copy, band), "_tables": lambda: tables, "_curves": lambda: curves,
                         "_topics": lambda: topics}
        self.__dict__ |= {**state, "values": Named(state["values"], asked), "means": Named(state["means"], asked),
                          **functions}

    def tie_report(self) -> Named[TieBand]:
        """For each measure, the mean with all ties at their worst, at their expected value, and at their best.

        Measures that do not depend on ties are left out. The report is empty if the run was read with
        ``rank_by="listed"`` or ``"rank"``, which leave no ties, or with ``depth=``.

        Returns
        -------
        dict of str to TieBand

        Examples
        --------
        >>> import hitcurve as hc
        >>> found = hc.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}, "AP")
        >>> band = found.tie_report()["AP"]
        >>> band.worst, band.best
        (0.5, 1.0)
        """
        return self._band()

    def interval(self, measure: str | Measure | None = None, *, method: Literal["bootstrap", "t"] | None = None,
                 confidence_level: float = 0.95, n_resamples: int = 9999,
                 bootstrap_method: Literal["percentile", "BCa"] = "percentile",
                 rng: Any = None) -> Interval:  # fmt: skip
        """Confidence interval for the mean of a measure, which takes the queries as a random sample of all queries.

        The estimate is that of `means`, up to the last bits. For the same `rng` and `n_resamples`, ``compare`` gives
        each system this interval.

        Parameters
        ----------
        measure : str or Measure, optional
            A measure of the evaluation, by any of its names. Default: its first measure.
        method : {None, "bootstrap", "t"}
            ``"bootstrap"``, the default: from resamples of the queries. The interval is too narrow for fewer than
            about 20 queries. ``"t"``: Student's interval, for few queries. This method needs scipy.
        confidence_level, n_resamples, bootstrap_method, rng
            As in ``HitCurves.interval``.

        Returns
        -------
        Interval
            The fields are those of ``HitCurve.interval``. Queries without a value (NaN) are left out. Both ends are NaN
            if no query has a value, and with ``method="t"`` also for a single query.

        Raises
        ------
        ValueError
            If the evaluation does not have the measure, if the measure is a sum or a geometric mean over queries, or if
            an argument is unknown.

        Examples
        --------
        >>> import hitcurve as hc
        >>> qrels = {f"q{i}": {"a": 1, "b": i % 2} for i in range(30)}
        >>> found = hc.evaluate(qrels, {query: {"b": 2.0, "a": 1.0} for query in qrels}, ["AP", "P@1"])
        >>> interval = found.interval("P@1", rng=0)
        >>> interval.estimate, [round(end, 2) for end in interval.confidence_interval]
        (0.5, [0.33, 0.67])
        """
        from hitcurve.statistics.intervals import mean_interval
        from hitcurve.statistics.per_query import check_mean

        asked: Any = next(iter(self.values)) if measure is None else measure
        if asked not in self.values:
            raise ValueError(f"{self.name!r} has no {quoted(measure)}: it was evaluated for {', '.join(self.values)}")
        values, known = self.values[asked], measure_of(asked)
        check_mean(known.name)
        if known.record.mean == "sum":
            raise ValueError(f"{known.name} is summed over the queries: it has no mean, and so no interval")
        return mean_interval(values[~np.isnan(values)], known.name, method=method, confidence_level=confidence_level,
                             n_resamples=n_resamples, bootstrap_method=bootstrap_method, rng=rng)

    @overload
    def curves(self, level: None = ..., *, subtopics: Literal[False] = ...) -> GainCurves: ...
    @overload
    def curves(self, level: float, *, subtopics: Literal[False] = ...) -> HitCurves: ...
    @overload
    def curves(self, level: None = ..., *, subtopics: Literal[True]) -> SubtopicCurves: ...
    def curves(self, level: float | None = None, *, subtopics: bool = False) -> GainCurves | HitCurves | SubtopicCurves:
        """The curves of the run, a curve for each of `query_ids`, with every measure, interval and resample.

        The gain of a document is its level, or 0 if its level is below 0 or it has no judgment. A relevant document
        that the run lacks is an item that was never retrieved. Under ``ties="docid"``, and with `rank_by`, each
        document has its own rank. Otherwise documents of equal score are a tie group. The arguments ``judged_only=``
        and ``depth=`` of `evaluate` apply. The curves have no scores. Each call makes new curves. A pickle of the
        evaluation contains the curves: about 24 bytes for each judged document, and 40 more for a relevant document.

        Parameters
        ----------
        level : float, optional
            The lowest relevant level, above 0, for hit curves. None makes gain curves.
        subtopics : bool
            True makes the curves of subtopics, for judgments by subtopic.

        Returns
        -------
        GainCurves, HitCurves or SubtopicCurves

        Raises
        ------
        ValueError
            If `level` is not above 0, if the judgments have judgment groups, if they have no subtopics, if `level` and
            `subtopics` are both given, or if the evaluation was read by `from_json` or `from_parquet`.

        Notes
        -----
        For a query without a relevant document, nDCG and similar measures are NaN on curves, and 0 in `evaluate`, as in
        trec_eval. Under ``ties="docid"``, `evaluate` adds the terms of AP, nDCG, RBP and other sums in trec_eval's
        order, so its last bits may differ from those of the curves.

        Examples
        --------
        >>> import hitcurve as hc
        >>> found = hc.evaluate({"q": {"a": 1, "b": 0, "c": 2}}, {"q": {"a": 1.0, "b": 2.0, "c": 0.5}}, "nDCG")
        >>> curves = found.curves()
        >>> curves.q_measure().round(4).tolist(), found.curves(level=2).average_precision().round(4).tolist()
        ([0.6167], [0.3333])
        """
        if subtopics:
            found = self._topics()
            if level is not None:
                raise ValueError(f"level={level} and subtopics=True are both given: curves of subtopics have every "
                                 "level")
            if found is None:
                raise ValueError("the judgments have no subtopics: evaluate with subtopics=True")
            return found
        curves = self._curves()
        if curves is None:
            raise ValueError(f"{self.name}: with judgment groups a query has no single curve")
        return curves if level is None else curves.at_level(level)

    def user_model(self, measure: str | Measure, *, cost: Any = 1.0) -> UserModel[NDArray[np.float64]]:
        """What the user of a measure gains and spends in each query, and how much of it is unknown.

        The numbers are those of ``curves().user_model(measure)``. The residuals count what is unknown in a run: they
        say how much the numbers would change if each document without a judgment, and each rank beyond the last
        document, had gain 1. A document of a level below 0 has no judgment. The arguments of `evaluate` apply: with
        ``judged_only=True`` only the ranks beyond the last document are unknown.

        Parameters
        ----------
        measure : str or Measure
            As for ``GainCurves.user_model``. It need not be a measure of the evaluation. Without `rel` in its name, a
            document of P, RR and AP is relevant from `relevance_level` up.
        cost : float, array or sequence of arrays
            As for ``GainCurves.user_model``: a number, the costs of the ranks, or for each of `query_ids` the costs of
            its ranks.

        Returns
        -------
        UserModel
            Arrays with a value for each of `query_ids`. With ``ties="best"`` (``"worst"``) the highest gain is first
            (last) in each tie group. For the residual this is the order of the gains of which one is assumed to be 1
            where a judgment lacks.

        Raises
        ------
        ValueError
            As ``GainCurves.user_model`` raises, if the judgments have judgment groups, if the name of the measure has
            ``judged_only``, or if it has ``ties=`` and the evaluation has no tie groups.

        References
        ----------
        Moffat & Zobel (2008), "Rank-biased precision for measurement of retrieval effectiveness", ACM TOIS 27:2.
        Azzopardi, Thomas & Moffat (2019), "cwl_eval: an evaluation tool for information retrieval", SIGIR.

        Examples
        --------
        >>> import hitcurve as hc
        >>> found = hc.evaluate({"q": {"a": 1, "c": 0}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, "RBP(p=0.5)")
        >>> user = found.user_model("RBP(p=0.5)")
        >>> user.utility.tolist(), user.residual.utility.tolist()
        ([0.5], [0.375])
        >>> found.curves().user_model("RBP(p=0.5)").residual.utility.tolist()
        [0.125]
        """
        from hitcurve.curves.users import full_level, user_model
        from hitcurve.retrieval.judged import hoped_curves

        one, *others = resolve(measure).values()
        if others:
            raise ValueError(f"measure is {quoted(measure)}: it must name one measure, not {len(others) + 1}")
        curves, tables = self.curves(), self._tables()
        tied = self.rank_by == "score" and self.ties != "docid"
        if one.ties and not tied:
            raise ValueError(f"{one.name}: the option ties= needs tie groups, but this evaluation gives each document "
                             f"a rank of its own: evaluate with ties={one.ties!r}")
        if one.record.ordered and tied:
            raise ValueError(f"{one.name} is not defined for ties={self.ties!r}: it needs a single order, so evaluate "
                             "with ties='docid'")
        if one.judged_only:
            raise ValueError(f"{one.name}: leave out the option judged_only, and evaluate with judged documents only")
        if not one.record.graded:
            level: Any = one.relevant_level(self.relevance_level)  # also a fraction
            one = one._replace(rel=level)
        hoped = hoped_curves(curves, tables or [], tied, full_level(one))
        return user_model(curves, one, cost, self.ties if tied else "best", hoped)

    def unjudged(self, k: int = 10, *, run: Any = None, also: Sequence[Any] = (), p: float = 0.8) -> Unjudged:
        """What to judge next: the documents without a judgment among the first k, and how much each could change.

        The documents of all evaluations are a pool. A document of a level below 0 has no judgment. Under ``ties=``
        other than ``"docid"`` a tie group that begins among the first k is in the pool as a whole.

        Parameters
        ----------
        k : int
            How many documents of each query are looked at. With ``depth=`` of `evaluate`, at most `depth`.
        run : run, optional
            The run that was evaluated, as `evaluate` takes it. Default: its file is read again. An evaluation keeps no
            documents of a run in memory.
        also : list of Evaluation, or of pairs of an Evaluation and its run
            Evaluations of other runs with the same judgments.
        p : float
            The persistence of RBP, between 0 and 1.

        Returns
        -------
        Unjudged
            ``rows`` has the documents, the greatest residual first. Its ``bounds`` has, for each run and query, the
            least and the greatest AP over all ways to judge the pool, and the residual of RBP. ``to_pandas()``,
            ``to_polars()`` and ``to_csv()`` make tables.

        Raises
        ------
        ValueError
            If `run` lacks and no file was evaluated, if a query has another number of documents in a run than in the
            run that was evaluated, if the judgments have judgment groups, with ``judged_only=True``, or if
            `relevance_level` is not above 0.

        Notes
        -----
        The weight of a document at rank i is (1 - p) p**(i - 1). Its residual is the mean of this weight over the
        evaluations, 0 where a run does not have the document: Moffat, Webber and Zobel judge documents in this order.
        Under ``ties="expected"`` the weight is the mean over the ranks of the tie group, and under ``"best"``
        (``"worst"``) that of the rank behind (before) the relevant documents of the group. AP is exact under ties: its
        bounds over all 2**n ways to judge n documents are found among 2(n + 1) of them. Whether documents are relevant
        goes by `relevance_level`.

        References
        ----------
        Moffat & Zobel (2008), "Rank-biased precision for measurement of retrieval effectiveness", ACM TOIS 27:2.
        Moffat, Webber & Zobel (2007), "Strategic system comparisons via targeted relevance judgments", SIGIR.

        Examples
        --------
        >>> import hitcurve as hc
        >>> qrels, run = {"q": {"c": 1, "d": 0}}, {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}
        >>> found = hc.evaluate(qrels, run, "AP").unjudged(10, run=run, p=0.5)
        >>> [(row.doc_id, row.rank, row.residual, round(row.ap_change, 4)) for row in found]
        [('a', 1, 0.5, 0.5), ('b', 2, 0.25, 0.25)]
        >>> [(round(row.ap_low, 4), row.ap_high, row.residual) for row in found.bounds]
        [(0.3333, 1.0, 0.75)]
        """
        from hitcurve.retrieval.unjudged import unjudged

        if not isinstance(also, list | tuple):
            raise TypeError(f"also must be a list of evaluations, got {quoted(also)} of type {type(also).__name__}")
        pairs = [(self, run), *((one, None) if isinstance(one, Evaluation) else one for one in also)]
        for at, pair in enumerate(pairs):
            if not (isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[0], Evaluation)):
                raise TypeError(f"also[{at - 1}] must be an Evaluation, or a pair of an Evaluation and its run, got "
                                f"{quoted(pair)}")
        return unjudged([one for one, _ in pairs], [run for _, run in pairs], k, p)

    def level_strings(self, length: int = 10) -> list[str]:
        """For each query, a text with a character for the level of each of its first documents.

        The character is a digit for a level up to 9 (its whole part), ``>`` for a level above 9, ``-`` for a document
        without a judgment, and ``.`` for a document whose level is below 0 (in the pool, but not judged). With
        ``depth=`` and ``judged_only=`` only the documents that the measures use have a character. ``ties="expected"``,
        ``"worst"`` and ``"best"`` give no single order: the ids of the documents then decide.

        Parameters
        ----------
        length : int
            The number of documents.

        Returns
        -------
        list of str

        Raises
        ------
        ValueError
            If the judgments have judgment groups.

        Examples
        --------
        >>> import hitcurve as hc
        >>> found = hc.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}, "AP")
        >>> found.level_strings()
        ['01']
        """
        found, tables = [], self._tables()
        if tables is None:
            raise ValueError(f"{self.name}: with judgment groups a document has no single level")
        for retrieved, table in tables:
            marks = {rank: ">" if level > 9 else str(int(level)) if level >= 0 else "." for rank, _, _, level in table}
            found.append("".join(marks.get(rank, "-") for rank in range(1, min(length, retrieved) + 1)))
        return found

    def __getitem__(self, name: Any) -> Any:
        """The mean of a measure, ``found["map"]``, or the values of a query, ``found["q1"]["map"]``.

        A whole number is the id of a query, as in the judgments: ``found[7]`` is ``found["7"]``.
        """
        if "_rows" not in self.__dict__:
            self.__dict__["_rows"] = {query: i for i, query in enumerate(self.query_ids)}
        asked = dict.__contains__(self.means, name)  # first, as the lookup of a synonym takes long
        query = str(int(name)) if isinstance(name, int | np.integer) and not isinstance(name, bool) else name
        row = None if asked else self.__dict__["_rows"].get(query)
        if row is None:
            if name in self.means:
                return self.means[name]
            alike = near(name, [*self.means, *self.query_ids[:1000]])
            raise KeyError(f"{name!r} is neither a measure nor a query of this evaluation{alike}; its measures are "
                           f"{', '.join(map(repr, self.means))}")
        return Named({one: float(column[row]) for one, column in self.values.items()}, self.means.asked)

    def __iter__(self) -> Iterator[str]:
        return iter(self.query_ids)

    def __len__(self) -> int:
        return len(self.query_ids)

    def __bool__(self) -> bool:
        return True  # also without queries

    def __eq__(self, other: object) -> bool:
        """Whether two evaluations have the same values, and say the same of the run."""
        if not isinstance(other, Evaluation):
            return NotImplemented
        if any(getattr(self, field) != getattr(other, field) for field in ("query_ids", "groups", *_PLAIN)):
            return False
        if self.values.keys() != other.values.keys():
            return False
        columns = [([self.means[name], *self.values[name]], [other.means[name], *other.values[name]])
                   for name in self.values]  # fmt: skip
        return all(np.array_equal(one, another, equal_nan=True) for one, another in columns)

    def __hash__(self) -> int:
        return hash((tuple(self.query_ids), frozenset(self.values)))

    def __repr__(self) -> str:
        means = ", ".join(f"{name} {number(mean) if mean == mean else mean}" for name, mean in self.means.items())
        missing = f", {self.counts['missing']} missing" if self.counts.get("missing") else ""
        return f"Evaluation({self.name!r}, {many(len(self.query_ids), 'queries')}{missing}: {means})"

    def _repr_html_(self) -> str:
        from hitcurve.shown.notebook import evaluation_tables, shown
        return shown(evaluation_tables(self), notes=self.notes)

    def plot(self, kind: str = "distribution", *, measure: Any = None, ax: Any = None, color: Any = None) -> Any:
        """Draw the values of a measure over the queries, or the mean precision-recall curve, with matplotlib.

        Parameters
        ----------
        kind : {"distribution", "queries", "dots", "precision-recall", "pr"}
            ``"distribution"``: a histogram of the queries' values. ``"queries"``: a bar for each query. ``"dots"``: a
            row for each query. ``"precision-recall"`` or ``"pr"``: the mean interpolated precision at 11 recall levels,
            read off the curves.
        measure, ax, color
            As for ``plot_evaluations``, which draws several systems.

        Returns
        -------
        Display
            The display has ``ax_``, ``figure_`` and every attribute of the axes.

        Raises
        ------
        ValueError, TypeError, ImportError
            As ``plot_evaluations`` raises.

        Examples
        --------
        >>> import hitcurve as hc
        >>> found = hc.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 2.0}}, "AP")
        >>> found.plot("queries").get_ylabel()
        'AP'
        >>> found.plot("pr").get_xlabel()
        'recall'
        """
        from hitcurve.report.plot_queries import of_one
        return of_one(self, kind, measure=measure, ax=ax, color=color)

    def _columns(self) -> dict[str, Any]:
        return {"query_id": as_utf8(self.query_ids), **self.values}

    def _by_system(self) -> dict[str, Evaluation]:
        return {self.name: self}

    def _origin(self) -> dict[str, str]:
        return {"file": self._read[0], "tag": self.tag}

    def _only(self, places: list[int]) -> Evaluation:
        """The values and means of some of the queries, for tables and tests. It has no curves."""
        own = {asked: name for name, asked in self.means.asked.items()}
        values = {name: column[places] for name, column in self.values.items()}
        means = {name: mean_over_queries(column, parse(own[name]).record) for name, column in values.items()}
        ids = [self.query_ids[at] for at in places]
        counts = {"queries": len(ids), "missing": len(set(self.missing).intersection(ids))}
        return replace(self, query_ids=ids, counts=counts, values=Named(values, self.means.asked),
                       means=Named(means, self.means.asked), groups=None)

    def by(self, queries: Any = None) -> Leaderboard:
        """The means of each group of queries (stratum) below those of all queries, in one table.

        Parameters
        ----------
        queries : mapping or frame, optional
            The groups, as for `evaluate`. Default: `groups`.

        Returns
        -------
        Leaderboard
            ``strata`` has the means of each group. `Leaderboard` with ``queries=`` does the same for several systems,
            and ``compare`` tests the differences in each group.

        Raises
        ------
        ValueError, TypeError
            If there are no groups, or if none of the queries has a group.

        Examples
        --------
        >>> import hitcurve as hc
        >>> qrels = {"q1": {"a": 1}, "q2": {"a": 0, "b": 1}, "q3": {"b": 1}}
        >>> found = hc.evaluate(qrels, {query: {"a": 2.0, "b": 1.0} for query in qrels}, "AP", name="mine")
        >>> print(found.by({"q1": "short", "q2": "long", "q3": "long"}))
        stratum  queries  system      AP
        all      3        mine    0.6667
        <BLANKLINE>
        short    1        mine    1.0000
        <BLANKLINE>
        long     2        mine    0.5000
        """
        from hitcurve.shown.leaderboard import Leaderboard

        groups = self.groups if queries is None else queries
        if groups is None:
            raise ValueError(f"{self.name} has no groups of queries: pass a mapping of ids to groups")
        return Leaderboard({self.name: self}, queries=groups)

    def to_dict(self) -> dict[str, Any]:
        """The evaluation in plain dicts, lists, strings and numbers. None stands for a missing value.

        Returns
        -------
        dict

        Examples
        --------
        >>> import hitcurve as hc
        >>> found = hc.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}, "AP")
        >>> found.to_dict()["queries"]
        {'q': {'AP': 0.5}}
        """
        queries = {query: {name: _or_none(float(column[i])) for name, column in self.values.items()}
                   for i, query in enumerate(self.query_ids)}
        fields = self._but_values()
        long = (*_PLAIN[5:], "groups")  # the long texts come last
        last = {field: fields.pop(field) for field in long if field in fields}
        return {**fields, "queries": queries, **last}

    def _but_values(self) -> dict[str, Any]:
        """All but the values."""
        own = {name: one for one, name in self.means.asked.items()}
        groups = {} if self.groups is None else {"groups": self.groups}
        return {**{field: getattr(self, field) for field in _PLAIN}, **groups,
                "measures": {name: own.get(name) or measure_of(name).name for name in self.means},
                "means": {name: _or_none(mean) for name, mean in self.means.items()}}

    @classmethod
    def _of_fields(cls, fields: dict[str, Any], query_ids: list[str], values: dict[str, Any]) -> Self:
        """The evaluation with these `_but_values` and values. It has no documents."""
        asked = {one: name for name, one in fields["measures"].items()}
        means = {name: math.nan if mean is None else float(mean) for name, mean in fields["means"].items()}
        others: dict[str, Any] = {field: fields[field] for field in _PLAIN} | dict.fromkeys(_FUNCTIONS, _not_held)
        return cls(query_ids=query_ids, values=Named(values, asked), means=Named(means, asked),
                   groups=fields.get("groups"), **others)

    @overload
    def to_json(self, path: None = ...) -> str: ...
    @overload
    def to_json(self, path: str | os.PathLike[str]) -> None: ...
    def to_json(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """`to_dict` as JSON.

        Parameters
        ----------
        path : path, optional
            The file to write, which `from_json` reads. It is replaced if it exists. Default: the text is returned.

        Returns
        -------
        str or None

        Raises
        ------
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import hitcurve as hc
        >>> found = hc.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}, "AP")
        >>> import json
        >>> json.loads(found.to_json())["means"]
        {'AP': 0.5}

        See Also
        --------
        from_json
        """
        from hitcurve._base.files import write_file
        from hitcurve.retrieval.stored import as_text

        text = as_text(self.to_dict())
        if path is None:
            return text
        write_file(path, text.encode())
        return None

    @classmethod
    def from_json(cls, text: str | bytes | os.PathLike[str]) -> Self:
        """The evaluation that `to_json` wrote: it equals the evaluation that was written.

        The text has values, means and what else `to_dict` gives, but no documents. So `curves`, `tie_report` and
        `level_strings` of the evaluation raise an error. `compare`, `Leaderboard` and the frames need values only.

        Parameters
        ----------
        text : str, bytes or path
            What `to_json` returned, or the path of a file with this text. The file may be compressed.

        Returns
        -------
        Evaluation

        Raises
        ------
        ValueError
            If the text is not what `to_json` returns. The message says what is wrong.

        Examples
        --------
        >>> import hitcurve as hc
        >>> found = hc.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}, ["AP", "P@1"])
        >>> again = hc.Evaluation.from_json(found.to_json())
        >>> again == found, again["q"]["map"]
        (True, 0.5)
        """
        from hitcurve.retrieval.stored import of_json

        return cls._of_fields(*of_json(text, _PLAIN))

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the values to a Parquet file, which `from_parquet` reads.

        The file has a column ``query_id`` and a column for each measure, and a row for each query, as `to_pandas` has.
        Every library that reads Parquet can read it. The metadata of the schema have, under ``hitcurve``, all that
        `to_dict` gives besides the values, as JSON. Writing needs pyarrow: ``pip install ".[files]"``.

        Parameters
        ----------
        path : path
            The file. It is replaced if it exists.

        Returns
        -------
        None

        Raises
        ------
        ImportError, OSError
            If pyarrow is missing, or if the file cannot be written.

        Examples
        --------
        >>> import hitcurve as hc, os
        >>> found = hc.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}, ["AP", "P@1"])
        >>> found.to_parquet("values.parquet")
        >>> hc.Evaluation.from_parquet("values.parquet") == found
        True
        >>> os.remove("values.parquet")
        """
        from hitcurve.retrieval.stored import write_parquet

        write_parquet(path, self._but_values(), self.query_ids, self._columns())

    @classmethod
    def from_parquet(cls, path: str | os.PathLike[str]) -> Self:
        """The evaluation that `to_parquet` wrote: it equals the evaluation that was written.

        As with `from_json`, there are no documents: `curves`, `tie_report` and `level_strings` raise an error.

        Parameters
        ----------
        path : path

        Returns
        -------
        Evaluation

        Raises
        ------
        ValueError
            If `to_parquet` did not write the file.
        ImportError, OSError
            If pyarrow is missing, or if the file cannot be read.

        Examples
        --------
        >>> import hitcurve as hc, os
        >>> found = hc.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}, "AP")
        >>> found.to_parquet("values.parquet")
        >>> hc.Evaluation.from_parquet("values.parquet").values["AP"].tolist()
        [0.5]
        >>> os.remove("values.parquet")
        """
        from hitcurve.retrieval.stored import of_parquet

        return cls._of_fields(*of_parquet(path, _PLAIN))


#: What an evaluation says of a run besides its queries and their groups, measures, values and means.
_PLAIN = ("name", "tag", "ties", "rank_by", "relevance_level", "counts", "definitions", "notes", "missing", "extra")
_FUNCTIONS = ("_band", "_tables", "_curves", "_topics")


def _not_held() -> Any:
    """What an evaluation that was read from a file of values has in place of `_FUNCTIONS`."""
    raise ValueError("this evaluation was read from a file of values, which has no documents, curves or ties: evaluate "
                     "the run again")


def mean_over_queries(values: NDArray[np.float64], record: Definition) -> float:
    """The mean of a measure, or its sum. A sum, unlike a mean, is unknown without the value of a query."""
    if record.mean == "sum" and (values != values).any():
        return math.nan
    return plans.mean(values, record.mean)


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
