"""The functions of pytrec_eval: write ``from hitcurve.compat import pytrec_eval`` in place of ``import pytrec_eval``.

The numbers are those of trec_eval 9, to the last bit. The page "pytrec_eval and ir_measures" of the documentation lists
the differences.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sized
from functools import lru_cache
from typing import Any

import numpy as np

from hitcurve import read_qrels, read_run
from hitcurve._base.checks import whole_number
from hitcurve._trec_names import PARAMETERS
from hitcurve.measures import LEAST, Measure
from hitcurve.retrieval import plans, runs
from hitcurve.retrieval.nested import judge_nested, judgments_of
from hitcurve.retrieval.trec_eval import expand, names_of

__all__ = [
    "RelevanceEvaluator", "compute_aggregated_measure", "parse_qrel", "parse_run", "supported_measures",
    "supported_nicknames",
]

#: The names of measures. Parameters follow a dot or an underscore: ``"P.5,10"``, ``"P_5"``.
supported_measures = set(names_of("all_trec", 9))

#: The names of sets of measures, with their measures. As in pytrec_eval, the sets of preferences and of judgment groups
#: are only listed here: an evaluator refuses their measures.
supported_nicknames = {
    name: set(names_of(name, 9)) for name in ("official", "set", "all_trec", "all_prefs", "prefs", "qrels_jg")
}

_MOST = 2**31 - 1  # of a relevance level
_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_WITH_PARAMETERS = re.compile(rf"({'|'.join(sorted(supported_measures))})[._]({_NUMBER}(?:,{_NUMBER})*)")
_Column = tuple[tuple[int, float], str, Measure | None]


class RelevanceEvaluator:
    """Judgments and measures, for one run after another.

    Parameters
    ----------
    query_relevance : mapping of str to dict of str to int
        The relevance of each judged document of each query. Queries without documents are left out.
    measures : iterable of str
        Names from `supported_measures` and `supported_nicknames`, also with parameters: ``"P"``, ``"P_5"``,
        ``"P.5,10"``, ``"official"``.
    relevance_level : int, default 1
        The lowest relevance that counts as relevant.
    judged_docs_only_flag : bool, default False
        True removes the documents without a judgment from the ranking first.

    Raises
    ------
    TypeError
        If an argument has the wrong type, or if `relevance_level` is below 1.
    ValueError
        If a measure is unknown, or if it does not take the parameters.

    Notes
    -----
    An evaluator never changes, so threads may share an evaluator. Scores are compared in single precision. Documents of
    equal score are ranked by id, the greater id first. A query without relevant documents has the value 0.
    See trec_eval 9.0.8, https://github.com/usnistgov/trec_eval.

    Examples
    --------
    >>> from hitcurve.compat import pytrec_eval
    >>> evaluator = pytrec_eval.RelevanceEvaluator({"q": {"a": 1, "b": 0}}, {"map", "P.1,5"})
    >>> evaluator.evaluate({"q": {"a": 1.0, "b": 2.0}})
    {'q': {'map': 0.5, 'P_1': 0.0, 'P_5': 0.2}}
    """

    def __init__(self, query_relevance: Mapping[str, Mapping[str, int]], measures: Iterable[str],
                 relevance_level: int = 1, judged_docs_only_flag: bool = False) -> None:
        columns = _columns_for(measures)
        self._keys = [key for _, key, _ in columns]
        measured = [measure for _, _, measure in columns if measure is not None]
        rows = iter(range(len(measured)))
        self._rows = [-1 if measure is None else next(rows) for _, _, measure in columns]
        self._logarithms = [row for row, one in enumerate(measured) if one.record.mean == "geometric"]
        nested = {query: docs for query, docs in query_relevance.items() if not isinstance(docs, Sized) or len(docs)}
        level, judged_only = (
            whole_number(int(value) if isinstance(value, bool) else value, name)
            for name, value in (("relevance_level", relevance_level), ("judged_docs_only_flag", judged_docs_only_flag)))
        if not 1 <= level <= _MOST:
            raise TypeError(f"relevance_level is {level}: it must lie from 1 to {_MOST}")
        self._places: dict[str, int] = {}
        if nested:
            self._qrels = judgments_of(nested, "query_relevance") or read_qrels(
                _plain(nested, "query_relevance", "relevance", (int, np.integer), int))
            self._places = {name: place for place, name in enumerate(self._qrels.query_ids)}
            self._plan = plans.Plan(self._qrels, measured, "ranks", judged_only != 0, level)

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Measure a run.

        Parameters
        ----------
        scores : dict of str to dict of str to float
            The score of each document of each query.

        Returns
        -------
        dict of str to dict of str to float
            The value of each measure, in a dict for each query that has judgments, in the order of the run. The values
            of ``gm_map`` and ``gm_bpref`` are logarithms. Those of ``runid`` and ``relstring`` are 0.

        Raises
        ------
        TypeError
            If `scores` is not a dict of dicts, if an id is not a string, or if a score is not a number.
        ValueError
            If a score is NaN.

        Examples
        --------
        >>> from hitcurve.compat import pytrec_eval
        >>> evaluator = pytrec_eval.RelevanceEvaluator({"q": {"a": 1}}, ["recip_rank"])
        >>> evaluator.evaluate({"q": {"a": 1.0, "b": 2.0}, "another": {"a": 1.0}})
        {'q': {'recip_rank': 0.5}}
        """
        if not scores:
            return {}
        if not isinstance(scores, dict):
            raise TypeError(f"scores is a {type(scores).__name__}: it must be a dict of dicts")
        run = scores if type(scores) is dict else dict(scores)
        if not self._places:
            _plain(run, "scores", "score", _SCORES, float)
            return {}
        judged = judge_nested(self._qrels, run, True)
        if judged is None:
            run = _plain(run, "scores", "score", _SCORES, float)
            # The second is for an id with a lone surrogate.
            judged = judge_nested(self._qrels, run, True) or runs.judge(self._qrels, read_run(run), "score", True)
        names = [name for name in run if name in self._places]
        values = plans.measure(judged, self._plan, -1, [self._places[name] for name in names]).tolist()
        for row in self._logarithms:
            values[row] = [math.log(max(value, LEAST)) for value in values[row]]
        values.append([0.0] * len(names))  # of what is no number
        columns = [values[row] for row in self._rows]
        of_queries = zip(*columns, strict=True) if columns else [()] * len(names)
        return {name: dict(zip(self._keys, row, strict=True)) for name, row in zip(names, of_queries, strict=True)}


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Read the lines of a run: query, Q0, document, rank, score and tag.

    Parameters
    ----------
    f_run : iterable of str
        The lines, for example an open file.

    Returns
    -------
    dict of str to dict of str to float

    Raises
    ------
    ValueError
        If a line has the wrong number of columns, or if a score is not a number.
    AssertionError
        If a document occurs twice in a query.

    Examples
    --------
    >>> from hitcurve.compat import pytrec_eval
    >>> dict(pytrec_eval.parse_run(["q1 Q0 d1 1 0.5 mine"]))
    {'q1': {'d1': 0.5}}
    """
    return _parsed(f_run, 6, 4, float)


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Read the lines of judgments: query, iteration, document and relevance.

    Parameters
    ----------
    f_qrel : iterable of str
        The lines, for example an open file.

    Returns
    -------
    dict of str to dict of str to int

    Raises
    ------
    ValueError
        If a line has the wrong number of columns, or if a relevance is not a whole number.
    AssertionError
        If a document occurs twice in a query.

    Examples
    --------
    >>> from hitcurve.compat import pytrec_eval
    >>> dict(pytrec_eval.parse_qrel(["q1 0 d1 2"]))
    {'q1': {'d1': 2}}
    """
    return _parsed(f_qrel, 4, 3, int)


def compute_aggregated_measure(measure: str, values: list[float]) -> float:
    """Aggregate the values of queries: to a sum for ``num_...``, to a geometric mean for ``gm_...``, else to a mean.

    Parameters
    ----------
    measure : str
        A key of the results.
    values : list of float
        A value for each query. For ``gm_map`` and ``gm_bpref`` these are logarithms.

    Returns
    -------
    float
        Without values, a sum is 0 and a mean is NaN.

    Examples
    --------
    >>> from hitcurve.compat import pytrec_eval
    >>> pytrec_eval.compute_aggregated_measure("map", [0.5, 1.0])
    0.75
    """
    if measure.startswith("num_"):
        return float(np.sum(values))
    if measure.startswith("gm_"):
        return float(np.exp(np.sum(values) / len(values)))
    return float(np.mean(values))


_SCORES = (float, int, np.floating, np.integer)


def _plain(nested: Mapping[Any, Any], argument: str, what: str, kinds: tuple[type, ...],
           convert: Callable[[Any], Any]) -> dict[str, dict[str, Any]]:
    """The same in dicts, texts and numbers of Python's own, or an error for the first that is something else."""
    plain: dict[str, dict[str, Any]] = {}
    for query, docs in nested.items():
        if not isinstance(query, str):
            raise TypeError(f"{argument}: the id of a query is {query!r}: it must be a string")
        if not isinstance(docs, dict):
            raise TypeError(f"{argument}: query {query!r} holds {type(docs).__name__}, not a dict of documents")
        of_query = plain[str(query)] = {}
        for doc, value in docs.items():
            if not isinstance(doc, str):
                raise TypeError(f"{argument}: the id of a document of query {query!r} is {doc!r}: it must be a string")
            if not isinstance(value, kinds):
                raise TypeError(f"{argument}: the {what} of document {doc!r} of query {query!r} is {value!r}: it must "
                                f"be {'a whole number' if convert is int else 'a number'}")
            if value != value:
                raise ValueError(f"{argument}: the {what} of document {doc!r} of query {query!r} is NaN")
            try:
                of_query[str(doc)] = convert(value)
            except OverflowError:
                raise OverflowError(f"{argument}: the {what} of document {doc!r} of query {query!r} is too large for "
                                    "a float") from None
    return plain


def _columns_for(measures: Iterable[str]) -> list[_Column]:
    """What the names stand for, in the order of trec_eval's output."""
    parameters: dict[str, set[str]] = {}
    for name in measures:
        if not isinstance(name, str):
            raise TypeError(f"measures holds {name!r}: a measure is named by a string")
        for one in supported_nicknames.get(name, (name,)):
            given = None if one in supported_measures else _WITH_PARAMETERS.match(one)
            if given is None and one not in supported_measures:
                raise ValueError(f"measures: unsupported measure {one}")
            base, listed = (one, []) if given is None else (given[1], given[2].split(","))
            parameters.setdefault(base, set()).update(listed)
    found = [column for base, given in parameters.items() for column in _expanded(base, tuple(sorted(given)))]
    return sorted(found, key=lambda column: column[0])


@lru_cache(maxsize=1024)
def _expanded(base: str, parameters: tuple[str, ...]) -> list[_Column]:
    """Of a measure: its places in the output, keys, and measures; None for one that is no number."""
    if base not in PARAMETERS or base == "set_F":
        parameters = parameters[: base == "set_F"]  # the others change nothing there either
    found = expand(".".join([base, ",".join(parameters)]) if parameters else base, 9)
    by_parameter = bool(PARAMETERS.get(base, ("",))[0])
    return [(entry.place, entry.name if by_parameter and entry.measure else base, entry.measure) for entry in found]


def _parsed(lines: Iterable[str], number: int, place: int, convert: Callable[[str], Any]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for row, line in enumerate(lines, 1):
        cells = line.split()
        if len(cells) != number:
            raise ValueError(f"line {row}: the number of columns must be {number}, got {len(cells)}: {line.rstrip()!r}")
        query, doc = found[cells[0]], cells[2]
        if doc in query:
            raise AssertionError(f"line {row}: document {doc!r} occurs twice in query {cells[0]!r}")
        try:
            query[doc] = convert(cells[place])
        except ValueError as error:
            raise ValueError(f"line {row}: {error}") from None
    return found
