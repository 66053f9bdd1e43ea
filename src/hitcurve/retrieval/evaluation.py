"""Retrieval evaluation: qrels and runs in, values per query and means out."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from hitcurve._checks import check_choice, check_rank, whole_number
from hitcurve._extras import needed
from hitcurve._files import TextFile, opened_text
from hitcurve._workers import check_workers, in_threads
from hitcurve.measures import Measure, parse
from hitcurve.retrieval import plans, runs
from hitcurve.retrieval.nested import judge_nested
from hitcurve.retrieval.reading import columns_of, decoded, parquet, read_qrels, read_run, warn
from hitcurve.retrieval.runs import Judged, Qrels, Run
from hitcurve.retrieval.trec_eval import expand

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Evaluation", "Qrels", "Run", "TieBand", "evaluate", "read_qrels", "read_run"]

_TIES = {
    "docid": "equal scores by document id, falling",
    "expected": "the mean over all orders of equal scores",
    "worst": "equal scores at their worst",
    "best": "equal scores at their best",
    "order": "in the order of the file",
    "rank": "in the order of the rank column",
}
_MISSING = {
    "zero": "a judged query that the run lacks counts as one of which nothing was retrieved",
    "skip": "judged queries that the run lacks are left out",
    "raise": "no judged query is missing",
}
_CHOICES = {"ties": tuple(_TIES), "scores": ("float64", "float32"), "missing": tuple(_MISSING),
            "extra": ("skip", "raise"), "empty": ("zero", "skip", "raise")}
_BEYOND = 2**62
_NUM_REL = parse("NumRel")


class TieBand(NamedTuple):
    """What ties among the scores of a run leave open in a mean: `worst` .. `best`, and the mean over all orders."""

    worst: float
    expected: float
    """NaN where the measure has no expected value. Bounds are NaN where they cannot be computed."""
    best: float
    value: float
    """With the rule of the evaluation."""


# ----------------------------------------------------------------------------------------------------------- evaluation


@dataclass(repr=False, eq=False)
class Evaluation:
    """A run measured. Made by `evaluate`.

    Attributes
    ----------
    name : str
        The tag of the run.
    query_ids : list of str
        The queries that count, in the order of their bytes.
    values : dict of str to float64 array
        By canonical measure name, a value for each query; NaN where a query has none.
    means : dict of str to float
        Over the queries that have a value: the arithmetic mean, the geometric one for GMAP and GMBpref, the sum for
        counts.
    counts : dict of str to int
        ``queries``: those that count. ``missing``: judged, but not in the run. ``extra``: in the run, but not judged.
        ``empty``: without a relevant document. ``retrieved``, ``judged``: documents of the run, and those judged.
    definitions : dict of str to str
        What each measure is, and how ties, levels, unjudged documents and missing queries were read.
    missing, extra : list of str
        The queries counted so.
    notes : list of str
        What ``strict=False`` let pass.
    ties : str
        The rule by which it was ranked.
    """

    name: str
    query_ids: list[str]
    values: dict[str, NDArray[np.float64]]
    means: dict[str, float]
    counts: dict[str, int]
    definitions: dict[str, str]
    notes: list[str]
    ties: str
    missing: list[str]
    extra: list[str]
    # Only asked when `tie_report` and `level_strings` are, or when it is pickled: what they give goes along.
    _band: Callable[[], dict[str, TieBand]]
    _tables: Callable[[], list[tuple[int, list[tuple[int, int, int, int]]]]]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_band": self._band(), "_tables": self._tables()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        from functools import partial

        self.__dict__ |= {**state, "_band": partial(dict, state["_band"]), "_tables": partial(list, state["_tables"])}

    def tie_report(self) -> dict[str, TieBand]:
        """For each measure, the mean with all ties at their worst, their expected value, and their best.

        Measures that ties do not touch are left out; so is everything if the run was read with ``ties="order"`` or
        ``"rank"``, where there are none, or with ``depth=``.

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

    def level_strings(self, length: int = 10) -> list[str]:
        """For each query, the levels of its first documents: a digit, > beyond 9, - unjudged, . in the pool only.

        With ``depth=`` and ``judged_only=`` these are the first of those that the measures look at.
        Not under ``ties="expected"``, ``"worst"`` or ``"best"``, which give no single order: ids decide there.

        Parameters
        ----------
        length : int
            How many documents.

        Returns
        -------
        list of str

        Examples
        --------
        >>> import hitcurve as hc
        >>> found = hc.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}, "AP")
        >>> found.level_strings()
        ['01']
        """
        found = []
        for retrieved, table in self._tables():
            marks = {rank: ">" if level > 9 else str(level) if level >= 0 else "." for rank, _, _, level in table}
            found.append("".join(marks.get(rank, "-") for rank in range(1, min(length, retrieved) + 1)))
        return found

    def __repr__(self) -> str:
        means = ", ".join(f"{name} {mean:.4f}" for name, mean in self.means.items())
        return f"Evaluation({self.name!r}, {len(self.query_ids)} queries: {means})"

    def _columns(self) -> dict[str, Any]:
        """For a frame, whose texts are UTF-8: other bytes of an id are written as they are in messages."""
        texts = [query.encode("utf-8", "surrogateescape") for query in self.query_ids]
        return {"query_id": [text.decode("utf-8", "backslashreplace") for text in texts], **self.values}

    def to_pandas(self) -> Any:
        """The values as a pandas.DataFrame, a row for each query.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> import hitcurve as hc
        >>> found = hc.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}, "AP")
        >>> found.to_pandas().shape
        (1, 2)
        """
        return needed("pandas", "to_pandas").DataFrame(self._columns())

    def to_polars(self) -> Any:
        """The values as a polars.DataFrame, a row for each query.

        Returns
        -------
        polars.DataFrame

        Examples
        --------
        >>> import hitcurve as hc
        >>> found = hc.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}, "AP")
        >>> found.to_polars().shape
        (1, 2)
        """
        return needed("polars", "to_polars").DataFrame(self._columns())

    def to_dict(self) -> dict[str, Any]:
        """All of it in plain dicts, lists, strings and numbers; None where there is no value.

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
        means = {name: _or_none(mean) for name, mean in self.means.items()}
        queries = {query: {name: _or_none(float(column[i])) for name, column in self.values.items()}
                   for i, query in enumerate(self.query_ids)}
        return {"name": self.name, "ties": self.ties, "means": means, "queries": queries, "counts": self.counts,
                "definitions": self.definitions, "notes": self.notes}

    def to_json(self) -> str:
        """`to_dict` as JSON.

        Returns
        -------
        str

        Examples
        --------
        >>> import hitcurve as hc
        >>> found = hc.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}, "AP")
        >>> import json
        >>> json.loads(found.to_json())["means"]
        {'AP': 0.5}
        """
        import json

        return json.dumps(self.to_dict(), ensure_ascii=False)


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


class _Rules(NamedTuple):
    ties: str
    scores: str
    missing: str
    extra: str
    empty: str
    judged_only: bool
    rel: int
    depth: int
    strict: bool


@overload
def evaluate(
    qrels: Any, run: list[Any] | tuple[Any, ...], measures: str | Measure | Iterable[str | Measure] = ..., *,
    ties: str = ..., scores: str = ..., missing: str = ..., extra: str = ..., empty: str = ..., judged_only: bool = ...,
    rel: int = ..., depth: int | None = ..., strict: bool = ..., workers: int = ...,
    progress: Callable[[int], None] | None = ...,
) -> list[Evaluation]: ...
@overload
def evaluate(
    qrels: Any, run: Any, measures: str | Measure | Iterable[str | Measure] = ..., *, ties: str = ...,
    scores: str = ..., missing: str = ..., extra: str = ..., empty: str = ..., judged_only: bool = ..., rel: int = ...,
    depth: int | None = ..., strict: bool = ..., workers: int = ..., progress: Callable[[int], None] | None = ...,
) -> Evaluation: ...
def evaluate(
    qrels: Any, run: Any, measures: str | Measure | Iterable[str | Measure] = ("AP", "nDCG@10", "P@10"), *,
    ties: str = "docid", scores: str = "float64", missing: str = "zero", extra: str = "skip", empty: str = "zero",
    judged_only: bool = False, rel: int = 1, depth: int | None = None, strict: bool = True, workers: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Evaluation | list[Evaluation]:
    """Measure a run, or a list of runs, against relevance judgments.

    Parameters
    ----------
    qrels, run
        Whatever `read_qrels` and `read_run` take, or what they return. A list of runs is measured one by one (on
        `workers` threads), with the qrels read once.
    measures : name, Measure, or several
        Names of ir_measures (``"nDCG@10"``, ``"P(rel=2)@5"``) or trec_eval (``"ndcg_cut_10"``, ``"map"``), or
        trec_eval's sets (``"official"``, ``"all_trec"``, ``"set"``) and parameters (``"P.5,10"``).
    ties : {"docid", "expected", "worst", "best", "order", "rank"}
        How documents of equal score are ranked. ``"docid"``: the greater id (as bytes) first, trec_eval's rule.
        ``"expected"``: the mean over all orders, in closed form. ``"worst"``, ``"best"``: the bounds over all orders,
        as the measure counts gains (the best value of Unjudged and RBPResid is the least). ``"order"``: all documents
        in the order of the file, ``"rank"``: by the rank column, whatever their scores.
    scores : {"float64", "float32"}
        ``"float32"`` rounds scores to single precision first, as trec_eval 9 does, which makes more of them equal.
    missing : {"zero", "skip", "raise"}
        Judged queries for which the run has no documents: as if nothing was retrieved, left out, or an error.
    extra : {"skip", "raise"}
        Queries of the run that have no judgments.
    empty : {"zero", "skip", "raise"}
        Queries without a relevant document: 0, as trec_eval has it; no value; or an error.
    judged_only : bool
        Take documents without a judgment out of the ranking first, rather than count them as not relevant.
    rel : int
        The lowest level that is relevant, for measures that do not name one (``rel=2``) or use the levels themselves.
    depth : int, optional
        Only the first so many documents of each query, ties resolved by id, file order or rank.
    strict : bool
        See `read_run`.
    workers : int
        Threads, for a list of runs; -1 for all cores, and never more than there are.
    progress : callable, optional
        Called with the number of bytes read of a run's file, now and then.

    Returns
    -------
    Evaluation, or a list of them for a list of runs

    Raises
    ------
    ValueError
        Unreadable data (with file and line); an unknown measure or option; a measure without the reading of ties asked
        for, or a bound of G, nDCGrel or infAP that cannot be computed (see the page of measures); qrels and run that
        have no query in common.

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
    # Beyond 2**62 there is neither a level nor a rank.
    level = max(-_BEYOND, min(whole_number(rel, "rel"), _BEYOND))
    limit = -1 if depth is None else min(check_rank(depth, "depth"), _BEYOND)
    rules = _Rules(ties, scores, missing, extra, empty, bool(judged_only), level, limit, bool(strict))
    for option, values in _CHOICES.items():
        check_choice(getattr(rules, option), option, values)
    if limit > 0 and ties not in ("docid", "order", "rank"):
        raise ValueError(f"depth={limit} needs ranks, and ties={ties!r} resolves none")
    asked = resolve(measures)
    judgments = read_qrels(qrels, strict=strict)
    if not isinstance(run, (list, tuple)):
        return _evaluate(judgments, run, asked, rules, progress)
    threads = min(check_workers(workers), len(run))
    told = progress if threads <= 1 else None
    return list(in_threads(lambda one: _evaluate(judgments, one, asked, rules, told), run, threads))


def resolve(measures: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    """The measures that names, sets and parameters of trec_eval stand for, each once."""
    found: dict[str, Measure] = {}
    for one in [measures] if isinstance(measures, (str, Measure)) else measures:
        if not isinstance(one, (str, Measure)):
            raise TypeError(f"measures must be names of measures, got {one!r} of type {type(one).__name__}")
        for measure in [one] if isinstance(one, Measure) else [entry.measure for entry in expand(one) if entry.measure]:
            if measure.record.of_gains and not measure.record.kernel:
                raise ValueError(f"{measure.name} is measured on a hitcurve.GainCurve, not on a run with judgments")
            if not measure.record.kernel:
                raise ValueError(f"{measure.name} is measured on all items of a ranking, not on a run with judgments")
            found.setdefault(measure.name, measure)
    if not found:
        raise ValueError("no measures")
    return list(found.values())


def _judge(qrels: Qrels, run: Any, rules: _Rules, progress: Callable[[int], None] | None) -> Judged:
    order = rules.ties if rules.ties in ("order", "rank") else "score"
    single = rules.scores == "float32"
    if isinstance(run, (str, os.PathLike)):
        with opened_text(run, pieces=True) as (name, text):
            if text is not None:
                found = runs.judge_buffer(qrels, text, name, order, single, rules.strict, progress)
                if found is None:  # lines of a query apart
                    text = text.read() if isinstance(text, TextFile) else text
                    found = runs.judge(qrels, Run.from_buffer(text, name, rules.strict), order, single)
                warn(found.passed)
                return found
        run = parquet(run)
    if type(run) is dict and order == "score":
        nested = judge_nested(qrels, run, single)
        if nested is not None:
            return nested
    if not isinstance(run, Run):
        starts, names, docs, values, name, ranks = columns_of(run, ("score",), "run")
        plain = not isinstance(docs, list) and qrels.integers and ranks is None and order != "rank"
        if plain and len(set(names)) == len(names):
            ends = np.append(starts, len(docs))
            return runs.judge_integers(qrels, ends, names, docs, values, name, order, single)
        run = Run.from_columns(starts, names, docs, values, name, ranks)
    return runs.judge(qrels, run, order, single)


def _reading(measure: Measure, ties: str) -> str:
    """How the kernel interprets ties."""
    ties = measure.ties or ties
    if ties in ("docid", "order", "rank") or not measure.record.ties:
        return "ranks"
    if ties == "threshold" and ties in measure.record.ties:
        raise ValueError(f"{measure.name}: runs are not read with ties=threshold")
    if ties == "expected" and ties not in measure.record.ties:
        raise ValueError(f"{measure.name} has no expected value over ties in closed form; use best, worst or docid")
    if ties not in measure.record.ties:
        raise ValueError(f"{measure.name} has no reading of ties called {ties!r}")
    return ties


def _evaluate(qrels: Qrels, run: Any, measures: Sequence[Measure], rules: _Rules,
              progress: Callable[[int], None] | None) -> Evaluation:
    for measure in measures:
        _reading(measure, rules.ties)
    judged = _judge(qrels, run, rules, progress)
    retrieved = judged.num_retrieved()
    texts = judged.qrels.names.all_texts()
    here = retrieved >= 0
    if judged.others and not here.any():
        raise ValueError(f"{judged.source} and {qrels.source} have no query in common")
    absent = [texts[i] for i in np.flatnonzero(~here)]
    if absent and rules.missing == "raise":
        raise ValueError(f"{judged.source} lacks {_some(absent)}, which {qrels.source} has (missing='raise')")
    if judged.others and rules.extra == "raise":
        raise ValueError(f"{qrels.source} lacks {_some(judged.others)}, which {judged.source} has (extra='raise')")
    which = range(len(texts)) if rules.missing == "zero" else np.flatnonzero(here).tolist()
    places = np.array(sorted(which, key=texts.__getitem__), dtype=np.intp)
    query_ids = [decoded(texts[i]) for i in places]

    def none_relevant(of: Sequence[Measure]) -> Any:
        levels = [_NUM_REL._replace(rel=measure.rel) for measure in of]
        return plans.measure(judged, plans.Plan(qrels, levels, rel=rules.rel)) == 0

    empty = [texts[i] for i in places[none_relevant([_NUM_REL])[0, places]]]
    if empty and rules.empty == "raise":
        raise ValueError(f"{qrels.source} has no relevant document for {_some(empty)} (empty='raise')")

    def values(ties: str, of: Sequence[Measure]) -> dict[str, NDArray[np.float64]]:
        groups: dict[tuple[str, bool], list[int]] = {}
        for row, one in enumerate(of):
            groups.setdefault((_reading(one, ties), one.judged_only or rules.judged_only), []).append(row)
        found = np.empty((len(of), len(texts)))
        for (reading, judged_only), rows in groups.items():
            asked = [of[row] for row in rows]
            found[rows] = plans.measure(judged, plans.Plan(qrels, asked, reading, judged_only, rules.rel), rules.depth)
        for row, query in np.argwhere(np.isnan(found)):
            if ties == rules.ties:
                raise ValueError(f"{of[row].name}: the {of[row].ties or ties} value over ties of query "
                                 f"{decoded(texts[query])!r} cannot be computed")
            found[row] = np.nan
        if rules.empty == "skip":
            found[none_relevant(of) & np.array([[one.record.mean != "sum"] for one in of])] = np.nan
        return {one.name: np.ascontiguousarray(found[row, places]) for row, one in enumerate(of)}

    def means(found: dict[str, NDArray[np.float64]]) -> dict[str, float]:
        return {one.name: plans.mean(found[one.name], one.record.mean) for one in measures if one.name in found}

    found = values(rules.ties, measures)
    own = means(found)

    def band() -> dict[str, TieBand]:
        touched = [one for one in measures if one.record.ties and not one.ties]
        if rules.ties in ("order", "rank") or rules.depth > 0 or not judged.ties or not touched:
            return {}
        expecting = [one for one in touched if "expected" in one.record.ties]
        worst, best = (means(values(ties, touched)) for ties in ("worst", "best"))
        expected = means(values("expected", expecting)) if expecting else {}
        names = [one.name for one in touched]
        return {name: TieBand(worst[name], expected.get(name, math.nan), best[name], own[name]) for name in names}

    def table(i: int) -> tuple[int, list[tuple[int, int, int, int]]]:
        """Documents retrieved and the rows of a query, as far as the measures look at them."""
        number, rows = max(int(retrieved[i]), 0), judged.table(i)
        if rules.depth > 0:
            number, rows = min(number, rules.depth), [row for row in rows if row[0] <= rules.depth]
        if rules.judged_only:
            rows = [(rank, *row[1:]) for rank, row in enumerate((row for row in rows if row[3] >= 0), 1)]
            number = len(rows)
        return number, rows

    shared = [_TIES[rules.ties], f"relevant from level {rules.rel}", _MISSING[rules.missing]]
    shared += compress(
        ("scores in single precision", "judged documents only", "queries without relevant documents are left out"),
        (rules.scores == "float32", rules.judged_only, rules.empty == "skip"))
    counts = {"queries": len(query_ids), "missing": len(absent), "extra": len(judged.others), "empty": len(empty),
              "retrieved": int(retrieved[here].sum()), "judged": judged.num_judged}
    return Evaluation(
        judged.tag, query_ids, found, own, counts,
        definitions={one.name: "; ".join([one.record.definition, *shared]) for one in measures},
        notes=[*qrels.passed, *judged.passed], ties=rules.ties, missing=[decoded(one) for one in absent],
        extra=[decoded(one) for one in judged.others], _band=band, _tables=lambda: [table(i) for i in places],
    )


def _some(texts: Sequence[bytes]) -> str:
    shown = ", ".join(repr(one.decode("utf-8", "backslashreplace")) for one in texts[:3])
    more = f" and {len(texts) - 3} more" if len(texts) > 3 else ""
    return f"{'query' if len(texts) == 1 else 'queries'} {shown}{more}"
