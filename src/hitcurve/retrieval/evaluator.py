"""Evaluate runs against relevance judgments: `evaluate` and `Evaluator`."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import compress, repeat
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from hitcurve._base.checks import check_choice, check_flag, check_rank, quoted, whole_number
from hitcurve._base.files import Path, file_name
from hitcurve._base.given import at_hand
from hitcurve._base.queries import Queries
from hitcurve._base.words import many
from hitcurve._base.workers import check_workers, in_threads
from hitcurve.measures import ByLevel, Measure, parse
from hitcurve.retrieval import plans, preferences, runs
from hitcurve.retrieval.evaluation import Evaluation, Named, Table, TieBand, mean_over_queries
from hitcurve.retrieval.formats import is_json, is_mapping_of_runs, is_one_run
from hitcurve.retrieval.frames import rows_as
from hitcurve.retrieval.groups import JudgmentGroups
from hitcurve.retrieval.judging import Judge, Told
from hitcurve.retrieval.names import resolve
from hitcurve.retrieval.reading import decoded, qrels_of, warn
from hitcurve.retrieval.runs import Judged, Run
from hitcurve.retrieval.trec_sums import SUMS
from hitcurve.shown.progress import Progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hitcurve.curves.gain import GainCurves
    from hitcurve.curves.subtopics import SubtopicCurves
    from hitcurve.retrieval.judged import CurvePlan, RunCurves

__all__ = ["Evaluator", "evaluate"]

Asked = str | Measure | Iterable[str | Measure]
DEFAULT = ("AP", "nDCG@10", "P@10")

_TIES = {
    "docid": "of documents of equal score the greater id ranks first",
    "expected": "the mean over all orders of documents of equal score",
    "worst": "documents of equal score in their worst order",
    "best": "documents of equal score in their best order",
}
_PREFERENCES_BY_ID = "of documents of equal score the smaller id ranks first, as in trec_eval's measures of preferences"
_RANK_BY = {"listed": "documents ranked as the run lists them", "rank": "documents ranked by the rank column"}
_MISSING = {
    "zero": "a judged query that the run lacks counts as if no document was retrieved",
    "skip": "judged queries that the run lacks are left out",
    "raise": "the run has all judged queries",
}
_CHOICES = {"ties": tuple(_TIES), "rank_by": ("score", *_RANK_BY), "scores": ("float64", "float32"),
            "missing": tuple(_MISSING), "extra": ("skip", "raise"), "empty": ("zero", "skip", "one", "raise")}
_Planned = list[tuple["plans.Plan | CurvePlan | _Preferences", list[int]]]
#: ("sums", "curves" or "preferences", reading of ties, without unjudged documents, from all judgments): places of the
#: measures.
_Groups = dict[tuple[str, str, bool, bool], list[int]]
_BEYOND = 2**62  # no level and no rank is so high
_SEVERAL = 10  # if a run has fewer queries, it may well have no document with a judgment


class Evaluator:
    """Judgments and measures that evaluate one run after another.

    Parameters
    ----------
    qrels, measures, queries, rank_by, ties, scores, missing, extra, empty, judged_only, relevance_level, depth, strict,
    subtopics, columns, duplicates, workers
        As for `evaluate`.

    Raises
    ------
    ValueError, TypeError
        As `evaluate` raises, for every error that does not depend on a run.

    Notes
    -----
    An evaluator never changes. Threads may share an evaluator, and unpickling makes an equal evaluator.

    Examples
    --------
    >>> import hitcurve as hc
    >>> evaluator = hc.Evaluator({"q": {"a": 1, "b": 0, "c": 2}}, ["map", "nDCG@10"])
    >>> evaluator
    Evaluator('qrels', 1 query: map, nDCG@10)
    >>> round(evaluator.evaluate({"q": {"a": 1.0, "b": 2.0, "c": 0.5}})["map"], 4)
    0.5833
    """

    __module__ = "hitcurve"  # what a pickle names

    def __init__(self, qrels: Any, measures: Asked = DEFAULT, *, queries: Any = None, rank_by: str = "score",
                 ties: str = "docid", scores: str = "float64", missing: str = "zero", extra: str = "skip",
                 empty: str = "zero", judged_only: bool = False, relevance_level: float = 1, depth: int | None = None,
                 strict: bool = True, subtopics: bool = False, columns: Mapping[str, str | None] | None = None,
                 duplicates: str = "raise", workers: int = 1) -> None:
        chosen = {"ties": ties, "rank_by": rank_by, "scores": scores, "missing": missing, "extra": extra,
                  "empty": empty}
        for option, value in chosen.items():
            check_choice(value, option, _CHOICES[option])
        self._options = {"measures": measures, **chosen, "judged_only": judged_only, "relevance_level": relevance_level,
                         "depth": depth, "strict": strict, "subtopics": subtopics, "columns": columns,
                         "duplicates": duplicates, "workers": workers}
        self._depth = -1 if depth is None else check_rank(min(whole_number(depth, "depth"), _BEYOND), "depth")
        if rank_by != "score" and ties != "docid":
            raise ValueError(f"ties={ties!r} cannot be combined with rank_by={rank_by!r}, which uses no scores")
        if self._depth > 0 and ties != "docid":
            raise ValueError(f"depth={depth} cannot be combined with ties={ties!r}, which gives no single order")
        self._workers = check_workers(workers)
        counting = queries if queries is None or isinstance(queries, Queries) else Queries(queries)
        self._level = _level_as(relevance_level)
        self._ties, self._rank_by, self._missing, self._extra, self._empty = ties, rank_by, missing, extra, empty
        single, strict = scores == "float32", check_flag(strict, "strict")
        self._judged_only = check_flag(judged_only, "judged_only")
        self._asked = resolve(measures)
        self._options["measures"] = tuple(self._asked)  # an iterator could be read only once
        self._measures = list({one.name: one for one in self._asked.values()}.values())
        self._names = {one.name: name for name, one in self._asked.items()}
        self._by_group: JudgmentGroups | None = None
        groups = self._groups(ties, self._measures)  # or an error, before the qrels are read
        rows = rows_as(columns, duplicates)
        read = qrels_of(qrels, strict, subtopics, rows)
        self._qrels = read.qrels if isinstance(read, JudgmentGroups) else read
        self._passed, self._num_relevant = read.passed, read.num_relevant
        if isinstance(read, JudgmentGroups):
            self._by_group = read
            groups = self._groups(ties, self._measures)
            self._check_groups(read, groups)
        self._rows = rows.after(self._qrels.heads or {})
        self._topics = self._qrels.topics
        for one in self._measures if self._topics is None else ():
            if "subtopics" in one.record.of:
                raise ValueError(f"{self._names[one.name]}: {self._qrels.source} has no subtopics: pass subtopics=True "
                                 "and judgments by subtopic")
        self._judge = Judge(self._qrels if self._topics is None else self._topics.codes, rank_by, single, strict,
                            any(by_any for *_, by_any in groups), self._rows)
        self._own = self._planned(groups, self._measures)
        # Of a run without ties all readings are the same.
        untied = groups if ties == "docid" else self._groups("docid", self._measures)
        self._untied = self._own if untied is groups else self._planned(untied, self._measures)
        self._texts = self._qrels.names.all_texts()
        order = list(range(len(self._texts)))
        if not self._qrels.listed:
            order.sort(key=self._texts.__getitem__)
        self._places, self._in_order = np.array(order, dtype=np.intp), order == list(range(len(order)))
        self._query_ids = [decoded(self._texts[i]) for i in order]
        self._choose(counting)
        self._without = self._num_relevant(self._level) == 0
        self._any_without = bool(self._without.any())
        self._empty_of = {one.name: self._empty_queries(one) for one in self._measures} if empty != "zero" else {}
        self._definitions = self._defined(single)

    def _defined(self, single: bool) -> dict[str, str]:
        """For each measure its definition, and how the arguments treat documents and queries."""
        order = _TIES[self._ties] if self._rank_by == "score" else _RANK_BY[self._rank_by]
        shared = [f"relevant from level {self._level}", _MISSING[self._missing]]
        shared += compress(
            ("scores in single precision", "judged documents only", "queries without relevant documents are left out",
             "queries without relevant documents count as 1"),
            (single, self._judged_only, self._empty == "skip", self._empty == "one"))
        if self._by_group is not None or [one for one in self._measures if _of_preferences(one)]:
            return {name: "; ".join([one.record.definition, *self._said_of(one, order), *shared])
                    for name, one in self._asked.items()}  # fmt: skip
        said = "; ".join([order, *shared])
        return {name: f"{one.record.definition}; {said}" for name, one in self._asked.items()}

    def _choose(self, queries: Queries | None) -> None:
        """Keep the queries that count, and note their groups."""
        self._chosen, self._groups_of = np.ones(len(self._texts), bool), None
        if queries is None:
            return
        kept = queries.places(self._query_ids)
        self._places, self._query_ids = self._places[kept], [self._query_ids[at] for at in kept]
        self._chosen[:] = False
        self._chosen[self._places] = True
        if queries.groups is not None:
            known = set(self._query_ids)
            self._groups_of = {query: group for query, group in queries.groups.items() if query in known}
        # An evaluator is copied with what was chosen: a function cannot be pickled.
        self._options["queries"] = self._query_ids if self._groups_of is None else self._groups_of

    def _said_of(self, one: Measure, order: str) -> list[str]:
        """What the definition says of the order of documents, and of judgment groups."""
        if _of_preferences(one) and self._rank_by == "score" and self._ties == "docid":
            order = _PREFERENCES_BY_ID
        averaged = self._by_group is not None and not self._needs_no_levels(one)
        return [order, *["the mean over the judgment groups of a query"] * averaged]

    def __repr__(self) -> str:
        return f"Evaluator({self._qrels.source!r}, {many(len(self._query_ids), 'queries')}: {', '.join(self._asked)})"

    def __getstate__(self) -> dict[str, Any]:
        return {"qrels": self._qrels if self._by_group is None else self._by_group, **self._options}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    @overload
    def evaluate(self, run: list[list[int]], name: str | None = ...) -> Evaluation: ...
    @overload
    def evaluate(self, run: list[Any] | tuple[Any, ...], name: None = ...) -> list[Evaluation]: ...
    @overload
    def evaluate(self, run: Mapping[str, Path | Run], name: None = ...) -> dict[str, Evaluation]: ...
    @overload
    def evaluate(self, run: Any, name: str | None = ...) -> Evaluation: ...
    def evaluate(self, run: Any, name: str | None = None) -> Evaluation | list[Evaluation] | dict[str, Evaluation]:
        """Measure one or several runs.

        Parameters
        ----------
        run
            As for `hitcurve.evaluate`.
        name : str, optional
            The name of the evaluation of a single run. Default: as for `hitcurve.evaluate`.

        Returns
        -------
        Evaluation, list of Evaluation, or dict of str to Evaluation
            As `hitcurve.evaluate` returns.

        Raises
        ------
        ValueError, TypeError
            As `hitcurve.evaluate` raises, for every error that depends on a run.

        Examples
        --------
        >>> import hitcurve as hc
        >>> evaluator = hc.Evaluator({"q": {"a": 1, "b": 0}}, "P@1")
        >>> evaluator.evaluate({"q": {"a": 1.0, "b": 2.0}}, "mine")
        Evaluation('mine', 1 query: P@1 0.0000)
        """
        return self._evaluated(run, name, None)  # type: ignore[no-any-return]

    def _evaluated(self, run: Any, name: str | None, progress: Told) -> Any:
        run = at_hand(run)
        named = is_mapping_of_runs(run, self._rows)
        if not named and is_one_run(run):
            if name is not None and not isinstance(name, str):
                raise TypeError(f"name must be a string, got {quoted(name)}")
            return self._of(run, name, progress)
        if name is not None:
            raise ValueError(f"name is {quoted(name)}, which names a single run, but run has {many(len(run), 'runs')}: "
                             "pass a mapping of names to runs")
        names = list(run) if named else repeat(None, len(run))
        pairs = list(zip(run.values() if named else run, names, strict=True))
        for one in names if named else ():
            if not isinstance(one, str):
                raise TypeError(f"the names of runs must be strings, got {quoted(one)}")
        threads = min(self._workers, len(pairs))
        if not isinstance(progress, Progress):
            told = progress if threads <= 1 else None
            found = list(in_threads(lambda pair: self._of(*pair, told), pairs, threads))
        else:
            found = []
            progress.begin("evaluate", len(pairs), "runs")
            for one in in_threads(lambda pair: self._of(*pair, None), pairs, threads, idle=progress.draw):
                found.append(one)
                progress.add(1)
        if named:
            return dict(zip(names, found, strict=True))
        for evaluation, distinct in zip(found, _distinct(found, run), strict=True):
            evaluation.name = distinct
        return found

    def _groups(self, ties: str, measures: Sequence[Measure]) -> _Groups:
        """The measures that a plan can compute together; an error if `ties` or `depth` does not go with a measure."""
        groups: _Groups = {}
        for row, one in enumerate(measures):
            reading = _reading(one, ties)
            if reading != "ranks" and self._depth > 0:
                raise ValueError(f"{one.name}: depth={self._depth} needs ranks, and ties={one.ties!r} resolves none")
            kind = "preferences" if self._needs_no_levels(one) else "sums" if _is_summed(one, reading) else "curves"
            how = kind, reading, one.judged_only or self._judged_only, "all" in one.record.of
            groups.setdefault(how, []).append(row)
        return groups

    def _needs_no_levels(self, one: Measure) -> bool:
        """Whether preferences alone give the measure. Subgroups have no levels that can be compared."""
        return "preferences" in one.record.of or (self._by_group is not None and one.record.name == "NumQ")

    def _check_groups(self, by_group: JudgmentGroups, groups: _Groups) -> None:
        """An error if a measure cannot be averaged over judgment groups with its reading of ties."""
        for (kind, reading, _, by_any), rows in groups.items():
            if kind == "preferences" or by_any or not len(by_group.by_level):  # or an error
                continue
            if reading in ("best", "worst") and by_group.several_groups:
                raise ValueError(f"{self._measures[rows[0]].name}: {by_group.source} has several judgment groups, and "
                                 f"their {reading} orders differ: the mean over groups has no bound for "
                                 f"ties={reading!r}; use docid or expected")

    def _planned(self, groups: _Groups, measures: Sequence[Measure]) -> _Planned:
        """The plans that compute the measures, each with the places of its measures in `measures`."""
        found: _Planned = []
        for (kind, reading, judged_only, by_any), rows in groups.items():
            of = [measures[row] for row in rows]
            if kind == "preferences":
                found.append((_Preferences(of, reading), rows))
                continue
            qrels = self._qrels if self._by_group is None or by_any else self._by_group.by_level
            if kind == "sums":
                found.append((plans.Plan(qrels, of, reading, judged_only, self._level, by_any), rows))
            else:
                from hitcurve.retrieval.judged import CurvePlan

                found.append((CurvePlan.made(qrels, of, reading, judged_only, self._level), rows))
        return found

    def _empty_queries(self, one: Measure) -> NDArray[np.bool_]:
        """Which queries have no relevant document at a measure's level; with gains, no document of gain above 0."""
        count = self._num_relevant
        if _of_preferences(one):
            return self._without_preferences()
        keywords, level = dict(one.keywords), one.lowest_level(self._level)
        if one.record.graded and one.rel is None and "weights" not in keywords:
            level = math.nextafter(level - 1, math.inf)  # every level above the lowest one counts, also a fraction
        number, gains = count(level), keywords.get("gain")
        for level, gain in gains.items() if isinstance(gains, ByLevel) else ():
            if (gain > 0) != (level > 0):
                of_level = count(level) - count(math.nextafter(level, math.inf))
                number = number + of_level * (1 if gain > 0 else -1)
        return np.asarray(number == 0)

    def _without_preferences(self) -> NDArray[np.bool_]:
        """Which queries have no preference between two documents."""
        nothing = Run.from_columns(np.empty(0, np.int64), [], [], np.empty(0), "run")
        judged = runs.judge(self._qrels, nothing)
        return np.asarray(_Preferences([parse("NumPref")], "ranks").values(judged, -1, self._by_group)[0] == 0)

    def _of(self, run: Any, name: str | None, progress: Told) -> Evaluation:
        judged = self._judge(run, progress)
        if self._topics is not None:
            judged = self._topics.judged(self._qrels, judged)
        counted = self._counted(judged)
        notes = self._notes(judged)
        found = _Found(self, judged, counted)
        values, means = found.values, found.own
        tag = judged.tag or file_name(judged.source)
        path = _path_of(run)
        read = path, self._judge.strict, self._judge.single, self._judged_only, self._depth, tuple(self._rows)
        return Evaluation(
            _name_of(run, path, tag) if name is None else name, list(counted.query_ids),
            Named({name: values[one.name] for name, one in self._asked.items()}, self._names),
            Named({name: means[one.name] for name, one in self._asked.items()}, self._names),
            counted.counts(judged, self._chosen), dict(self._definitions), notes, self._ties, self._rank_by,
            counted.missing, [decoded(one) for one in judged.others], found.band, found.tables, found.curves,
            self._level, tag, found.topics, self._groups_of, read,
        )

    def _counted(self, judged: Judged) -> _Counted:
        """The queries that count; an error if the options do not allow a missing, an extra or an empty query."""
        qrels, texts = self._qrels, self._texts
        here = judged.counts()[0]
        if judged.others and not here:
            sides = f"{judged.source} has {_some(judged.others)}, {qrels.source} has {_some(texts)}"
            raise ValueError(f"{judged.source} and {qrels.source} have no query in common: {sides}")
        lacking = (judged.num_retrieved() < 0) & self._chosen if here < len(texts) else ()
        absent = [texts[i] for i in np.flatnonzero(lacking)]
        if absent and self._missing == "raise":
            raise ValueError(f"{judged.source} lacks {_some(absent)}, which {qrels.source} has (missing='raise')")
        if judged.others and self._extra == "raise":
            raise ValueError(f"{qrels.source} lacks {_some(judged.others)}, which {judged.source} has (extra='raise')")
        places, query_ids = self._places, self._query_ids
        if absent and self._missing != "zero":
            places = places[judged.num_retrieved()[places] >= 0]
            query_ids = [decoded(texts[i]) for i in places.tolist()]
        for one in self._measures if self._empty == "raise" else ():
            without = [texts[i] for i in places[self._empty_of[one.name][places]]]
            if without:
                raise ValueError(f"{self._names[one.name]}: {qrels.source} has no relevant document for "
                                 f"{_some(without)} (empty='raise')")
        empty = int(self._without[places].sum()) if self._any_without else 0
        return _Counted(places, query_ids, [decoded(one) for one in absent], empty)

    def _notes(self, judged: Judged) -> list[str]:
        """The notes about this run. Notes that did not come up as warnings during reading become warnings here."""
        more, quiet = list[str](), list[str]()
        here, retrieved, known = judged.counts()
        if not here:
            how = "left out" if self._missing == "skip" else "measured as if nothing was retrieved"
            more.append(f"{judged.source}: the run has no documents: every query is {how}")
        elif retrieved and not known:
            doc = next(one for docs in self._qrels.values() for one in docs)
            (quiet if here < _SEVERAL else more).append(
                f"{judged.source}: none of its {many(retrieved, 'documents', ',')} has a judgment: are the ids of "
                f"documents the same in both? {self._qrels.source} has {doc!r}")
        if judged.contradicting:
            first = decoded(self._texts[judged.contradicted])
            more.append(f"{judged.source}: scores rise in the order of rank_by={self._rank_by!r} in "
                        f"{many(judged.contradicting, 'queries')}, first in {first!r}")
        for note in more:
            warn([note])
        return [*self._passed, *judged.passed, *more, *quiet]


class _Preferences(NamedTuple):
    """Measures of preferences to compute, with how they interpret ties."""

    measures: list[Measure]
    reading: str

    def values(self, judged: Judged, depth: int, by_group: JudgmentGroups | None) -> NDArray[np.float64]:
        """An array with a row for each measure and a column for each query of the judgments."""
        partial = None if by_group is None else by_group.partial
        return preferences.measure(judged, self.measures, self.reading, depth, partial)


class _Counted(NamedTuple):
    """The queries of a run that count."""

    places: NDArray[np.intp]  #: The places of the queries in the judgments.
    query_ids: list[str]
    missing: list[str]
    empty: int

    def counts(self, judged: Judged, chosen: NDArray[np.bool_]) -> dict[str, int]:
        _, retrieved, with_judgment = judged.counts(chosen.view(np.uint8))
        return {"queries": len(self.query_ids), "missing": len(self.missing), "extra": len(judged.others),
                "empty": self.empty, "retrieved": retrieved, "judged": with_judgment,
                "contradicting": judged.contradicting}


class _Found:
    """The values of an evaluator's measures for one run."""

    def __init__(self, by: Evaluator, judged: Judged, counted: _Counted) -> None:
        self._by, self._judged, self._counted = by, judged, counted
        planned = by._own if judged.ties else by._untied
        self.values = self._columns(by._ties, planned, by._measures, self._curves_of(planned))
        self.own = self._means(self.values, by._measures)

    def _columns(self, ties: str, planned: _Planned, measures: Sequence[Measure],
                 curves: Any) -> dict[str, NDArray[np.float64]]:
        """Values of each measure for each query that counts."""
        by, places = self._by, self._counted.places
        read = [self._read(plan, curves) for plan, _ in planned]
        if len(read) == 1:
            found = read[0]
        else:
            found = np.empty((len(measures), len(by._texts)))
            for values, (_, rows) in zip(read, planned, strict=True):
                found[rows] = values
        unknown = (found != found) & by._chosen
        if unknown.any():
            unknown &= ~np.array([one.record.gaps for one in measures], bool)[:, None]
            if unknown.any():
                self._check_known(ties, measures, unknown)
            found[unknown.any(axis=1)] = np.nan
        if by._empty in ("skip", "one"):
            for one, column in zip(measures, found, strict=True):
                if one.record.mean != "sum":
                    column[by._empty_of[one.name]] = np.nan if by._empty == "skip" else 1.0
        if not by._in_order or len(places) < len(by._texts):
            found = found.take(places, axis=1)
        return {one.name: column for one, column in zip(measures, found, strict=True)}

    def _check_known(self, ties: str, measures: Sequence[Measure], unknown: NDArray[np.bool_]) -> None:
        """An error for the first value that cannot be computed. Bounds may be unknown."""
        by = self._by
        if ties == by._ties:
            row, query = np.argwhere(unknown)[0].tolist()
            raise ValueError(f"{measures[row].name}: the value for ties={measures[row].ties or ties!r} of query "
                             f"{decoded(by._texts[query])!r} cannot be computed")

    def _read(self, plan: plans.Plan | CurvePlan | _Preferences, curves: Any) -> NDArray[np.float64]:
        """The values of a plan's measures for each query of the judgments."""
        by = self._by
        if isinstance(plan, plans.Plan):
            if by._by_group is None or plan.by_any:  # of all judgments together, whatever their groups
                return plans.measure(self._judged, plan, by._depth)
            values = plans.measure(self._of_levels, plan, by._depth)
        elif isinstance(plan, _Preferences):
            return plan.values(self._judged, by._depth, by._by_group)
        else:
            values = plan.values(curves)
        return values if by._by_group is None else by._by_group.mean(values)

    @cached_property
    def _of_levels(self) -> Judged:
        """The judged documents with their levels; with judgment groups, those of each group."""
        return self._judged if self._by._by_group is None else self._by._by_group.spread(self._judged)

    def _curves_of(self, planned: _Planned) -> RunCurves | None:
        """What plans of curves read, if there is any among them."""
        if all(isinstance(plan, (plans.Plan, _Preferences)) for plan, _ in planned):
            return None
        from hitcurve.retrieval.judged import RunCurves

        return RunCurves(self._of_levels, self._by._depth)

    @staticmethod
    def _means(found: dict[str, NDArray[np.float64]], measures: Sequence[Measure]) -> dict[str, float]:
        return {one.name: mean_over_queries(found[one.name], one.record) for one in measures}

    def band(self) -> Named[TieBand]:
        by = self._by
        touched = [one for one in by._measures if one.record.ties and not one.ties]
        if by._rank_by != "score" or by._depth > 0 or not self._judged.ties or not touched:
            return Named({}, by._names)
        # A mean over several judgment groups has no bounds.
        several = by._by_group is not None and by._by_group.several_groups
        bounded = [one for one in touched if not _bounds_may_lack(one) and (_of_preferences(one) or not several)]
        of = {ties: [one for one in (touched if ties == "expected" else bounded) if ties in one.record.ties]
              for ties in ("worst", "expected", "best")}  # fmt: skip
        planned = {ties: by._planned(by._groups(ties, measures), measures) for ties, measures in of.items()}
        curves = self._curves_of([plan for plans_ in planned.values() for plan in plans_])
        read = {ties: self._means(self._columns(ties, planned[ties], measures, curves), measures)
                for ties, measures in of.items()}  # fmt: skip
        bands = {}
        for one in touched:
            value, name = self.own[one.name], one.name
            low, high = (max, min) if one.record.lower_is_better else (min, max)
            bands[by._names[name]] = TieBand(
                _bound(read["worst"].get(name, math.nan), value, low), read["expected"].get(name, math.nan),
                _bound(read["best"].get(name, math.nan), value, high), value)
        return Named(bands, by._names)

    def tables(self) -> list[Table] | None:
        """For each query, the number of retrieved documents and the judged rows that the measures use."""
        if self._by._by_group is not None:
            return None
        places = self._counted.places
        return list(map(self._table, places.tolist(), self._judged.num_retrieved()[places].tolist()))

    def _table(self, i: int, number: int) -> Table:
        depth, rows = self._by._depth, self._judged.table(i)
        number = max(number, 0)
        if depth > 0:
            number, rows = min(number, depth), [row for row in rows if row[0] <= depth]
        if self._by._judged_only:
            rows = [(rank, *row[1:]) for rank, row in enumerate((row for row in rows if row[3] >= 0), 1)]
            number = len(rows)
        return number, rows

    def curves(self) -> GainCurves | None:
        if self._by._by_group is not None:
            return None
        return self._run().gains(self._tied, self._by._judged_only)

    def topics(self) -> SubtopicCurves | None:
        return None if self._by._topics is None else self._run().topics(self._tied, self._by._judged_only)

    @property
    def _tied(self) -> bool:
        """Whether documents of equal score are a tie group."""
        return self._by._rank_by == "score" and self._by._ties != "docid"

    def _run(self) -> RunCurves:
        from hitcurve.retrieval.judged import RunCurves

        return RunCurves(self._judged, self._by._depth, self._counted.places, self._counted.query_ids)


@overload
def evaluate(
    qrels: Any, run: list[list[int]], measures: Asked = ..., *, name: str | None = ..., queries: Any = ...,
    rank_by: str = ..., ties: str = ..., scores: str = ...,
    missing: str = ..., extra: str = ..., empty: str = ..., judged_only: bool = ..., relevance_level: float = ...,
    depth: int | None = ..., strict: bool = ..., subtopics: bool = ...,
    columns: Mapping[str, str | None] | None = ..., duplicates: str = ..., workers: int = ...,
    progress: Callable[[int], None] | bool | None = ...,
) -> Evaluation: ...
@overload
def evaluate(
    qrels: Any, run: list[Any] | tuple[Any, ...], measures: Asked = ..., *, name: None = ..., queries: Any = ...,
    rank_by: str = ..., ties: str = ..., scores: str = ...,
    missing: str = ..., extra: str = ..., empty: str = ..., judged_only: bool = ..., relevance_level: float = ...,
    depth: int | None = ..., strict: bool = ..., subtopics: bool = ...,
    columns: Mapping[str, str | None] | None = ..., duplicates: str = ..., workers: int = ...,
    progress: Callable[[int], None] | bool | None = ...,
) -> list[Evaluation]: ...
@overload
def evaluate(
    qrels: Any, run: Mapping[str, Path | Run], measures: Asked = ..., *, name: None = ..., queries: Any = ...,
    rank_by: str = ..., ties: str = ..., scores: str = ...,
    missing: str = ..., extra: str = ..., empty: str = ..., judged_only: bool = ..., relevance_level: float = ...,
    depth: int | None = ..., strict: bool = ..., subtopics: bool = ...,
    columns: Mapping[str, str | None] | None = ..., duplicates: str = ..., workers: int = ...,
    progress: Callable[[int], None] | bool | None = ...,
) -> dict[str, Evaluation]: ...
@overload
def evaluate(
    qrels: Any, run: Any, measures: Asked = ..., *, name: str | None = ..., queries: Any = ...,
    rank_by: str = ..., ties: str = ..., scores: str = ...,
    missing: str = ..., extra: str = ..., empty: str = ..., judged_only: bool = ..., relevance_level: float = ...,
    depth: int | None = ..., strict: bool = ..., subtopics: bool = ...,
    columns: Mapping[str, str | None] | None = ..., duplicates: str = ..., workers: int = ...,
    progress: Callable[[int], None] | bool | None = ...,
) -> Evaluation: ...
def evaluate(
    qrels: Any, run: Any, measures: Asked = DEFAULT, *, name: str | None = None, queries: Any = None,
    rank_by: str = "score", ties: str = "docid", scores: str = "float64", missing: str = "zero", extra: str = "skip",
    empty: str = "zero", judged_only: bool = False, relevance_level: float = 1, depth: int | None = None,
    strict: bool = True, subtopics: bool = False, columns: Mapping[str, str | None] | None = None,
    duplicates: str = "raise", workers: int = 1, progress: Callable[[int], None] | bool | None = None,
) -> Evaluation | list[Evaluation] | dict[str, Evaluation]:
    """Measure one or several runs against relevance judgments.

    Parameters
    ----------
    qrels, run
        Anything that `read_qrels` and `read_run` take or return: files, dicts, frames, arrays, objects of other
        libraries, and a row of ids for each query. A list of runs, or a mapping of names to runs, is measured one by
        one (on `workers` threads), and the qrels are read once. Queries without ids are numbered from 0, and the
        results keep this order. If only one side has ids, they must be those numbers, all of them. If `qrels` has
        judgment groups (`read_qrels` with ``format="prefs"`` and the like), measures of levels are means over the
        groups of a query, without ``ties="best"`` and ``"worst"``.
    measures : name, Measure, or several
        Names of ir_measures (``"nDCG@10"``, ``"P(rel=2)@5"``), names of trec_eval (``"ndcg_cut_10"``, ``"map"``), and
        trec_eval's sets (``"official"``, ``"all_trec"``, ``"set"``) and parameters (``"P.5,10"``). Measures of
        ir_measures are allowed too. `Evaluation.values` keeps the names that you asked for.
    name : str, optional
        The name of a single run. The default is the first of these names that exists: the name of the run in a mapping,
        the name of its file without the folder and ``.gz`` and the like, the name that an object of another library
        has, ``"run"``. `Evaluation.tag` has the tag of a TREC file. If two files of a list have the same name, all
        files of the list are named by their paths. If a run occurs twice, its names are numbered.
    queries : list, set, callable, mapping or frame, optional
        Which judged queries count, or their groups. A list, a set or an array of ids: only these count. A function of
        the id: the queries for which it returns True count. A mapping of ids to groups, or a frame with a column of
        ids and a column of groups: all queries count, and tables show the means of each group (stratum) below those of
        all queries: see `Evaluation.by`. A query whose group is None or NaN, or that the mapping lacks, is in no group.
        Default: all judged queries count.
    rank_by : {"score", "listed", "rank"}
        The order of the documents of a query. ``"score"``: by score. ``"listed"``: as the run lists them. ``"rank"``:
        by the rank column. With ``"listed"`` and ``"rank"`` a warning says where scores contradict the order.
    ties : {"docid", "expected", "worst", "best"}
        How documents of equal score are ranked. ``"docid"``: the greater id (as bytes) first, trec_eval's rule. For
        measures of preferences trec_eval's rule, and that of ``"docid"``, is the smaller id first.
        ``"expected"``: the mean over all orders, in closed form. ``"worst"``, ``"best"``: the bounds over all orders.
        For Unjudged, Hole and RBPResid, ``"best"`` is the lowest value.
    scores : {"float64", "float32"}
        ``"float32"`` first rounds scores to single precision, as trec_eval 9 does. More scores are then equal.
    missing : {"zero", "skip", "raise"}
        How a judged query counts if the run has no documents for it. ``"zero"``: as if no document was retrieved.
        ``"skip"``: the query is left out. ``"raise"``: an error.
    extra : {"skip", "raise"}
        What happens to a query of the run that has no judgments. ``"skip"``: it is left out. ``"raise"``: an error.
    empty : {"zero", "skip", "one", "raise"}
        How a query counts if it has no relevant document at the level of the measure, or, for a measure of levels, no
        document above level 0. ``"zero"``: its value is 0, as in trec_eval; measures that use no levels, such as
        ``Judged`` and ``RBPResid``, keep their value. ``"skip"``: the query has no value. ``"one"``: its value is 1.
        ``"raise"``: an error. Counts, which are summed, keep their value.
    judged_only : bool
        True first removes the documents without a judgment from each ranking. Such condensed rankings favour systems
        whose documents were not pooled (Sakai 2007, 2008). False counts documents without a judgment as not relevant.
    relevance_level : float
        The lowest relevant level, for binary measures whose names do not have a level, as ``P(rel=2)@10`` has. Measures
        of gain, such as nDCG, use the levels as they are, also fractions.
    depth : int, optional
        Only the first `depth` documents of each query count. `depth` needs ``ties="docid"``, or an order by `rank_by`.
    strict : bool
        See `read_run`.
    subtopics : bool
        True reads judgments by subtopic: see `read_qrels`. Measures of subtopics, such as ``"alpha_nDCG@20"``, need
        them. For all other measures a document has its highest level over the subtopics.
    columns : dict of str to str, optional
        The names of columns in frames and in files with a header, as for `read_qrels`, in one mapping for judgments and
        runs: ``{"query": "user", "document": "item", "relevance": "rating", "score": "prediction"}``. The relevance is
        looked for in `qrels` only, and the score in `run` only. The query and the document may have these names in one
        of both; the other then has a usual name.
    duplicates : {"raise", "first", "best"}
        What happens to a document that occurs twice in a query, as for `read_qrels`. `Evaluation.notes` says how many
        rows were left out. In judgments by subtopic, and in those of several users, it is an error.
    workers : int
        The number of threads for a list of runs, at most the number of cores; -1 takes all cores.
    progress : bool or callable, optional
        True shows per cent and time left on standard error, for a run's file or for a list of runs. In a notebook that
        has tqdm it shows a bar. A callable is called from time to time with the number of bytes of a run's file that
        were read so far; for a compressed file, bytes of the text. Default: no progress is shown.

    Returns
    -------
    Evaluation, list of Evaluation, or dict of str to Evaluation
        An Evaluation for a single run, a list for a list of runs, and a dict with the same names for a mapping of names
        to runs.

    Warns
    -----
    UserWarning
        If a run has no documents, if it has ten queries or more and none of its documents has a judgment, if scores
        contradict `rank_by`, or if ``strict=False`` let bad lines pass. `Evaluation.notes` has the texts.

    Raises
    ------
    ValueError
        If data cannot be read (the message names file and line), if a measure or option is unknown, if `queries` has an
        id that is not judged (the message has near names) or selects none, if a measure is not defined for `ties`, if a
        bound of G, nDCGrel, infAP or a measure of preferences cannot be computed (see the page of measures), if qrels
        and run have no query in common, or if one of both has rows without ids of queries and the other other ids.

    References
    ----------
    Sakai (2007), "Alternatives to Bpref", SIGIR, 71-78. Sakai (2008), "Comparing metrics across TREC and NTCIR: the
    robustness to system bias", CIKM, 581-590.

    Examples
    --------
    >>> import hitcurve as hc
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 2}}, {"q": {"a": 1.0, "b": 2.0, "c": 0.5}}
    >>> found = hc.evaluate(qrels, run, ["AP", "nDCG@10"])
    >>> round(found.means["AP"], 4), round(found.means["nDCG@10"], 4)
    (0.5833, 0.6199)
    >>> hc.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}, "AP", ties="expected").means
    {'AP': 0.75}
    """
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise TypeError(f"progress is {progress!r}: it must be True, False or a callable")
    evaluator = Evaluator(
        qrels, measures, queries=queries, rank_by=rank_by, ties=ties, scores=scores, missing=missing, extra=extra,
        empty=empty, judged_only=judged_only, relevance_level=relevance_level, depth=depth, strict=strict,
        subtopics=subtopics, columns=columns, duplicates=duplicates, workers=workers)
    if not isinstance(progress, bool):
        return evaluator._evaluated(run, name, progress)  # type: ignore[no-any-return]
    with Progress(progress) as shown:
        return evaluator._evaluated(run, name, shown)  # type: ignore[no-any-return]


def _level_as(value: Any) -> float:
    """The argument `relevance_level`, as an int if it is whole."""
    if isinstance(value, (float, np.floating)):
        if not math.isfinite(value):
            raise ValueError(f"relevance_level is {value}: it must be finite")
        if value != int(value):
            return float(value)
        value = int(value)
    return max(-_BEYOND, min(whole_number(value, "relevance_level"), _BEYOND))


def _distinct(found: Sequence[Evaluation], runs: Sequence[Any]) -> list[str]:
    """Names of the evaluations of several runs that differ: their own names, or the paths of files, or numbers."""
    own = [one.name for one in found]
    for names in (own, [_file_of(run) or name for run, name in zip(runs, own, strict=True)],
                  [name if own.count(name) == 1 else f"{name} {i}" for i, name in enumerate(own, 1)]):
        if len(set(names)) == len(names):
            return names
    return [f"run {i}" for i in range(1, len(own) + 1)]


def _name_of(run: Any, path: str, tag: str) -> str:
    """The name of a run: that of its file, or else the tag."""
    file = _file_of(run) if path or isinstance(run, Run) else ""
    return file_name(file) if file else tag


def _file_of(run: Any) -> str:
    """The name of the file that a run was read from; empty if it was not read from a file."""
    path = run.source if isinstance(run, Run) else _path_of(run)
    if path.startswith("ir_datasets:") or (isinstance(run, Run) and path == "run"):  # the source of dicts and frames
        return ""
    return "standard input" if path == "-" else path


def _path_of(run: Any) -> str:
    """The path of a run; empty if it is not the path of a file."""
    path = os.fspath(run) if isinstance(run, (str, os.PathLike)) else ""
    return "" if is_json(path) else path


def _reading(measure: Measure, ties: str) -> str:
    """How the kernel interprets ties; an error if the measure is not defined for these ties."""
    ties = measure.ties or ties
    if measure.record.ordered and ties != "docid":
        raise ValueError(f"{measure.name} is not defined for ties={ties!r}: it needs a single order, so use "
                         "ties='docid'")
    if ties == "docid" or not measure.record.ties:
        return "ranks"
    if ties == "threshold" and ties in measure.record.ties:
        raise ValueError(f"{measure.name}: runs cannot be measured with ties=threshold")
    if ties == "expected" and ties not in measure.record.ties:
        raise ValueError(f"{measure.name} has no expected value over ties in closed form: use best, worst or docid")
    if ties not in measure.record.ties:
        raise ValueError(f"{measure.name} is not defined for ties={ties!r}")
    return ties


def _bound(bound: float, value: float, further: Callable[[float, float], float]) -> float:
    """A bound that holds the value: sums and curves differ in the last bits."""
    return further(bound, value) if abs(bound - value) <= 1e-13 * abs(value) else bound


def _of_preferences(measure: Measure) -> bool:
    return "preferences" in measure.record.of


def _bounds_may_lack(measure: Measure) -> bool:
    """Whether the data decide if the best and the worst order of ties are known."""
    return "subtopics" in measure.record.of and bool(measure.record.reading)


def _is_summed(measure: Measure, reading: str) -> bool:
    """Whether a sum over the judged documents computes the measure, rather than a curve.

    Sums compute measures that need more than a curve has. For ranks without ties they also give trec_eval's last bits.
    """
    if "judged" in measure.record.of or "levels" in measure.record.of:
        return True
    if measure.record.name not in SUMS:
        return False
    keywords = dict(measure.keywords)
    if "interpolation" in keywords or keywords.get("normalize") == "ranked":
        return False
    return reading == "ranks" or any(gain < 0 or level <= 0 for level, gain in plans.signed_gains(measure))


def _some(texts: Sequence[bytes]) -> str:
    shown = ", ".join(repr(one.decode("utf-8", "backslashreplace")) for one in texts[:3])
    more = f" and {len(texts) - 3} more" if len(texts) > 3 else ""
    return f"{'query' if len(texts) == 1 else 'queries'} {shown}{more}"
