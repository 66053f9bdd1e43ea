r"""ranx 0.3.21's calls for evaluation: ``from hitcurve.compat.ranx import Qrels, Run, compare, evaluate``.

Numbers are those of `hitcurve.evaluate`. Documents of equal score are ranked by id, as in trec_eval: the greater id
first. Fusion, normalisation, plots and the data of ir_datasets and ranxhub are not in this module: use ranx for
them.

>>> from hitcurve.compat.ranx import Qrels, Run, evaluate
>>> qrels = Qrels({"q1": {"d1": 1, "d2": 3}, "q2": {"d3": 2}})
>>> run = Run({"q1": {"d1": 0.9, "d4": 0.5, "d2": 0.1}, "q2": {"d3": 0.2}}, name="mine")
>>> {name: round(float(mean), 4) for name, mean in evaluate(qrels, run, ["map@10", "ndcg-l2"]).items()}
{'map@10': 0.9167, 'ndcg-l2': 0.75}
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import sys
from collections import UserDict, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain, combinations
from opcode import opmap
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple, Never

import numpy as np
from numpy.typing import NDArray

from hitcurve import Evaluator, GainCurves, read_qrels
from hitcurve._base.extras import needed
from hitcurve._base.files import opened_text, write_file
from hitcurve._base.words import many
from hitcurve.shown.grid import Grid, rendered
from hitcurve.statistics.paired import paired_randomization, paired_t

__all__ = ["Qrels", "Report", "Run", "compare", "evaluate"]

_Array = NDArray[np.float64]
_Nested = dict[str, dict[str, Any]]
# The title of each metric in a report. `hitcurve.measures` knows these names too, but for what stands below.
_TITLES = {
    "hits": "Hits", "hit_rate": "Hit Rate", "precision": "P", "recall": "Recall", "f1": "F1", "r-precision": "R-Prec",
    "mrr": "MRR", "map": "MAP", "dcg": "DCG", "dcg_burges": "DCG Burges", "ndcg": "NDCG", "ndcg_burges": "NDCG Burges",
    "bpref": "BPref", "rbp": "RBP",
}  # fmt: skip
_OF_ALL = {"hits": "NumRelRet", "hit_rate": f"Success@{2**62}", "precision": "SetP", "recall": "SetR", "f1": "SetF"}
_NO_CUTOFF = ("r-precision", "bpref")
_SHARES = {"dcg": "ndcg", "dcg_burges": "ndcg_burges"}  # the measure is that share of the greatest possible value
_TESTS = {"fisher": "Fisher's randomization test", "student": "paired Student's t-test", "tukey": "Tukey's HSD test"}
_LETTERS, _RAISED = "abcdefghijklmnopqrstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖ۹ʳˢᵗᵘᵛʷˣʸᶻ"
_KINDS = ("json", "trec", "gz", "parquet")
_APART = {"fuse": "fusion", "normalize": "normalisation", "optimize_fusion": "fusion", "plot": "plots"}


def __getattr__(name: str) -> Never:
    if name in _APART:
        text = (f"hitcurve.compat.ranx has no {name}: use ranx for {_APART[name]}, `from ranx import {name}`. "
                f"hitcurve.compat.ranx has {', '.join(__all__[:-1])} and {__all__[-1]}.")
        # An import would put its own, shorter text in place of an AttributeError's.
        caller = sys._getframe(1)
        imported = caller.f_code.co_code[caller.f_lasti] == opmap["IMPORT_FROM"]
        raise (ImportError if imported else AttributeError)(text)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# --- judgments and runs -------------------------------------------------------------------------------------


class _Table:
    """Numbers by query and document: queries in the order of their ids, of each the greatest number first."""

    _number: ClassVar[type[int] | type[float]]
    _fields: ClassVar[tuple[int, int, int]]  # how many a line of TREC has; where the document and the number stand

    def __init__(self, held: Mapping[str, Mapping[str, Any]] | None, name: str | None) -> None:
        self._held: _Nested = {query: self._numbers(query, docs) for query, docs in (held or {}).items()}
        self._ready: dict[Any, Any] = {}  # what was read of it for evaluation
        self._lent = False
        self.sorted = False
        self.name = name
        if held is not None:
            self.sort()

    def _numbers(self, query: str, docs: Mapping[str, Any]) -> dict[str, Any]:
        """The documents of a query with their numbers, as this holds them."""
        if not isinstance(docs, Mapping):
            raise TypeError(f"query {query!r} holds {type(docs).__name__}, it must hold a dict of documents")
        try:
            return dict(zip(docs, map(self._number, docs.values()), strict=True))
        except (TypeError, ValueError, OverflowError):
            for doc, value in docs.items():
                try:
                    self._number(value)
                except (TypeError, ValueError, OverflowError) as error:
                    raise type(error)(f"document {doc!r} of query {query!r} has {value!r}: {error}") from None
            raise

    def _own(self) -> _Nested:
        """The dicts, to be changed."""
        self._ready = {}
        return self._held

    def _lend(self) -> _Nested:
        """The dicts, which the caller may change at any time."""
        self._lent = True
        return self._held

    def keys(self) -> Any:
        """The ids of the queries."""
        return self._held.keys()

    def add_score(self, q_id: str, doc_id: str, score: Any) -> None:
        """Set the number of a document of a query."""
        self._own().setdefault(q_id, {}).update(self._numbers(q_id, {doc_id: score}))
        self.sorted = False

    def add(self, q_id: str, doc_ids: list[str], scores: list[Any]) -> None:
        """Add a query with its documents. They replace all documents that the query already has."""
        self.add_multi([q_id], [doc_ids], [scores])

    def add_multi(self, q_ids: list[str], doc_ids: list[list[str]], scores: list[list[Any]]) -> None:
        """Add queries with their documents, as `add` does for each query."""
        if self._lent or not self.sorted:
            self.sort()
        held = dict(self._own())
        for query, docs, values in zip(q_ids, doc_ids, scores, strict=True):
            held[query] = _ranked(self._numbers(query, dict(zip(docs, values, strict=True))))
        self._held = {query: held[query] for query in sorted(held)}

    def get_query_ids(self) -> list[str]:
        """The ids of the queries."""
        return list(self._held)

    def get_doc_ids_and_scores(self) -> list[dict[str, Any]]:
        """A list of dicts, one for each query: its documents and their numbers."""
        return list(self._lend().values())

    def sort(self) -> None:
        """Sort the queries by id, and the documents of a query by number, the greatest number first."""
        held = self._own()  # threads may read it, and sort it too
        self._held = {query: _ranked(held[query]) for query in sorted(held)}
        self.sorted = True

    def to_typed_list(self) -> Never:
        """Raise an AttributeError: only ranx has typed lists of numba."""
        raise AttributeError("hitcurve.compat.ranx does not use numba, so it has no typed lists")

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Copy the table into plain dicts.

        Returns
        -------
        dict
        """
        return defaultdict(dict, {query: dict(docs) for query, docs in self._held.items()})

    def to_dataframe(self) -> Any:
        """A pandas.DataFrame with the columns ``q_id``, ``doc_id`` and ``score``.

        Returns
        -------
        pandas.DataFrame
        """
        rows = [(query, doc, score) for query, docs in self._held.items() for doc, score in docs.items()]
        return needed("pandas", "to_dataframe").DataFrame(rows, columns=["q_id", "doc_id", "score"])

    def _line(self, query: str, doc: str, rank: int, score: Any) -> str:
        raise NotImplementedError

    def _save(self, path: str, kind: str | None) -> None:
        kind = _kind_of(path, kind)
        if kind == "parquet":
            out = io.BytesIO()
            self.to_dataframe().to_parquet(out, index=False)
            write_file(path, out.getvalue())
            return
        if kind == "json":
            text = json.dumps(self._held, indent=2, ensure_ascii=False, default=self._number).encode()
        else:
            text = "\n".join(self._line(query, doc, rank, score) for query, docs in self._held.items()
                             for rank, (doc, score) in enumerate(docs.items(), 1)).encode()
        write_file(path, gzip.compress(text, mtime=0) if kind == "gz" else text)

    @property
    def size(self) -> int:
        """The number of queries."""
        return len(self._held)

    def __getitem__(self, q_id: str) -> dict[str, Any]:
        return dict(self._held[q_id])

    def __len__(self) -> int:
        return len(self._held)

    def __repr__(self) -> str:
        return repr(self._held)


class Qrels(_Table):
    """Relevance judgments.

    Parameters
    ----------
    qrels : dict of str to dict of str to int, optional
        The level of each judged document of each query. Fractions are cut off.
    name : str, optional

    Examples
    --------
    >>> from hitcurve.compat.ranx import Qrels
    >>> Qrels({"q1": {"d1": 1, "d2": 3}})
    {'q1': {'d2': 3, 'd1': 1}}
    """

    _number, _fields = int, (4, 2, 3)

    def __init__(self, qrels: dict[str, dict[str, int]] | None = None, name: str | None = None) -> None:
        super().__init__(qrels, name)

    @property
    def qrels(self) -> _Nested:
        """The judgments as dicts. You may change the dicts."""
        return self._lend()

    @qrels.setter
    def qrels(self, held: _Nested) -> None:
        self._held, self._lent = held, True

    def set_relevance_level(self, rel_lvl: int = 1) -> None:
        """Subtract ``rel_lvl - 1`` from every level, so that documents are relevant from `rel_lvl` up."""
        for docs in self._own().values():
            docs.update({doc: level - (rel_lvl - 1) for doc, level in docs.items()})

    def _line(self, query: str, doc: str, rank: int, score: Any) -> str:
        return f"{query} 0 {doc} {score}"

    def save(self, path: str = "qrels.json", kind: str | None = None) -> None:
        """Write a file. `kind` or the suffix of the name chooses JSON, TREC's qrels or Parquet."""
        self._save(path, kind)

    @staticmethod
    def from_dict(d: dict[str, dict[str, int]]) -> Qrels:
        """Make judgments from dicts."""
        return Qrels(d)

    @staticmethod
    def from_file(path: str, kind: str | None = None) -> Qrels:
        """Read judgments from a file of JSON or TREC's qrels. The file may be compressed."""
        return Qrels(_of_file(Qrels, path, kind)[0])

    @staticmethod
    def from_df(df: Any, q_id_col: str = "q_id", doc_id_col: str = "doc_id", score_col: str = "score") -> Qrels:
        """Make judgments from a data frame. The scores must be integers."""
        return Qrels(_of_frame(df, (q_id_col, doc_id_col, score_col), "iu", "int"))

    @staticmethod
    def from_parquet(path: str, q_id_col: str = "q_id", doc_id_col: str = "doc_id", score_col: str = "score",
                     pd_kwargs: dict[str, Any] | None = None) -> Qrels:
        """Read judgments from a Parquet file. ``pandas.read_parquet`` takes `pd_kwargs`."""
        return Qrels.from_df(_parquet(path, pd_kwargs), q_id_col, doc_id_col, score_col)

    @staticmethod
    def from_ir_datasets(dataset_id: str) -> Never:
        """Raise an AttributeError: only ranx loads data of ir_datasets."""
        raise AttributeError(f"hitcurve.compat.ranx does not load {dataset_id!r} of ir_datasets: use ranx, or "
                             f"hitcurve.evaluate, which reads 'ir_datasets:{dataset_id}'")


class Run(_Table):
    """The documents that a system retrieved, with their scores.

    Parameters
    ----------
    run : dict of str to dict of str to float, optional
        The score of each retrieved document of each query.
    name : str, optional

    Attributes
    ----------
    scores, mean_scores, std_scores : dict
        The results of `evaluate`, by metric: the values of the queries, the mean, and the standard deviation if you
        asked for it.
    metadata : dict

    Examples
    --------
    >>> from hitcurve.compat.ranx import Run
    >>> Run({"q1": {"d1": 0.5, "d2": 2}}, name="mine")
    {'q1': {'d2': 2.0, 'd1': 0.5}}
    """

    _number, _fields = float, (6, 2, 4)

    def __init__(self, run: dict[str, dict[str, float]] | None = None, name: str | None = None) -> None:
        super().__init__(run, name)
        self.metadata: dict[str, Any] = {}
        self.scores: dict[str, dict[str, Any]] = defaultdict(dict)
        self.mean_scores: dict[str, Any] = {}
        self.std_scores: dict[str, Any] = {}

    @property
    def run(self) -> _Nested:
        """The scores as dicts. You may change the dicts."""
        return self._lend()

    @run.setter
    def run(self, held: _Nested) -> None:
        self._held = held

    def make_comparable(self, qrels: Qrels) -> Run:
        """Remove queries that have no judgments, and add judged queries that the run lacks, without documents.

        Returns
        -------
        Run
            This run, changed in place.
        """
        self._held = {query: self._held.get(query, {}) for query in qrels.get_query_ids()}
        self.sort()
        return self

    def _line(self, query: str, doc: str, rank: int, score: Any) -> str:
        return f"{query} Q0 {doc} {rank} {score} {self.name}"

    def save(self, path: str = "run.json", kind: str | None = None) -> None:
        """Write a file. `kind` or the suffix of the name chooses JSON, a TREC run or Parquet."""
        if not self.sorted:
            self.sort()
        self._save(path, kind)

    @staticmethod
    def from_dict(d: dict[str, dict[str, float]], name: str | None = None) -> Run:
        """Make a run from dicts."""
        return Run(d, name)

    @staticmethod
    def from_file(path: str, kind: str | None = None, name: str | None = None) -> Run:
        """Read a run from a file of JSON or of TREC. The file may be compressed. `name` replaces its tag."""
        held, tag = _of_file(Run, path, kind)
        return Run(held, tag if name is None else name)

    @staticmethod
    def from_df(df: Any, q_id_col: str = "q_id", doc_id_col: str = "doc_id", score_col: str = "score",
                name: str | None = None) -> Run:
        """Make a run from a data frame. The scores must be floats."""
        return Run(_of_frame(df, (q_id_col, doc_id_col, score_col), "f", "float"), name)

    @staticmethod
    def from_parquet(path: str, q_id_col: str = "q_id", doc_id_col: str = "doc_id", score_col: str = "score",
                     pd_kwargs: dict[str, Any] | None = None, name: str | None = None) -> Run:
        """Read a run from a Parquet file. ``pandas.read_parquet`` takes `pd_kwargs`."""
        return Run.from_df(_parquet(path, pd_kwargs), q_id_col, doc_id_col, score_col, name)

    @staticmethod
    def from_ranxhub(id: str) -> Never:
        """Raise an AttributeError: only ranx downloads runs of ranxhub."""
        raise AttributeError(f"hitcurve.compat.ranx does not download {id!r} of ranxhub: use ranx")


def _ranked(docs: dict[str, Any]) -> dict[str, Any]:
    return dict(sorted(docs.items(), key=itemgetter(1), reverse=True))


def _kind_of(path: str, kind: str | None) -> str:
    """What a file holds, by its suffix unless `kind` says it."""
    if kind is None:
        suffix = os.path.splitext(path)[1][1:]
        kind = {"txt": "trec", "parq": "parquet"}.get(suffix, suffix)
    if kind == "lz4":
        raise AttributeError(f"{path}: hitcurve.compat.ranx does not read or write LZ4, the format of ranxhub: let "
                             "ranx save JSON")
    if kind not in _KINDS:
        raise AssertionError(f"{path}: kind is {kind!r}, it must be one of {', '.join(_KINDS)}")
    return kind


def _of_file(of: type[_Table], path: str, kind: str | None) -> tuple[_Nested, str | None]:
    """What a file holds, and its tag."""
    kind = _kind_of(path, kind)
    if kind == "parquet":
        raise AssertionError(f"{path}: use from_parquet to read Parquet")
    with opened_text(path) as (name, text):
        if text is None:
            raise ValueError(f"{name}: it is Parquet, not {kind}")
        if kind == "json":
            try:
                found = json.loads(bytes(text))
            except ValueError as error:
                raise ValueError(f"{name}: it is not JSON: {error}") from None
            if not isinstance(found, dict) or not all(isinstance(docs, dict) for docs in found.values()):
                raise ValueError(f"{name}: it must hold an object of queries, each an object of documents")
            return found, None
        held: _Nested = {}
        tag, (count, doc, value) = None, of._fields
        for number, line in enumerate(bytes(text).decode("utf-8", "surrogateescape").splitlines(), 1):
            fields = line.split()
            if not fields:
                continue
            try:
                if len(fields) != count:
                    raise ValueError(f"it has {many(len(fields), 'columns')}, it must have {count}")
                held.setdefault(fields[0], {})[fields[doc]] = of._number(fields[value])
            except ValueError as error:
                raise ValueError(f"{name}, line {number}: {error}") from None
            tag = tag or (fields[5] if count > 5 else None)
        return held, tag


def _parquet(path: str, pd_kwargs: dict[str, Any] | None) -> Any:
    return needed("pandas", "from_parquet").read_parquet(path, **(pd_kwargs or {}))


def _of_frame(df: Any, columns: tuple[str, str, str], kinds: str, called: str) -> _Nested:
    queries, docs, scores = (np.asarray(df[column]) for column in columns)
    for column, ids in zip(columns, (queries, docs), strict=False):
        if ids.dtype.kind not in "OUT":
            raise AssertionError(f"column {column!r} must hold strings, it has dtype {ids.dtype}")
    if scores.dtype.kind not in kinds:
        raise AssertionError(f"column {columns[2]!r} must hold {called} numbers, it has dtype {scores.dtype}")
    held: _Nested = {}
    for query, doc, score in zip(queries.tolist(), docs.tolist(), scores.tolist(), strict=True):
        held.setdefault(query, {})[doc] = score
    return held


# --- evaluation ---------------------------------------------------------------------------------------------


class _Metric(NamedTuple):
    ours: str  # the measure here
    level: int  # the lowest that is relevant
    name: str
    k: int  # 0 for all
    title: str


@lru_cache(maxsize=4096)
def _parsed(text: str) -> _Metric:
    found = re.fullmatch(r"([a-z][a-z_1-]*?)(?:([@.])(\d+))?(?:-l(\d+))?", text, re.ASCII)
    if found is None or found[1] not in _TITLES or (found[2] == "." and found[1] != "rbp"):
        raise ValueError(f"metrics: unknown metric {text!r}: use one of {', '.join(_TITLES)}; add a cutoff (ndcg@10) "
                         "or a persistence (rbp.95), and a level of relevance (ndcg@10-l2)")
    name, mark, number, level = found.groups()
    if name == "rbp" and not number:
        raise ValueError(f"metrics: {text!r} needs a persistence: rbp.95 for 0.95")
    if level is not None and int(level) < 1:
        raise ValueError(f"metrics: {text!r} has the level of relevance {level}, it must be 1 or more")
    k = 0 if name == "rbp" else int(number or 0)
    ours = f"RBP(p=0.{number})" if name == "rbp" else _SHARES.get(name, name)
    ours = f"{ours}@{k}" if k and name not in _NO_CUTOFF else _OF_ALL.get(name, ours)
    title = _TITLES[name] + (mark + number if mark else "") + (f"-l{level}" if level else "")
    return _Metric(ours, int(level or 1), name, k, title)


def _judgments(held: _Nested, level: int, fractions: bool = False) -> _Nested:
    """Levels from `level` up as they are; 0 for all others, which are judged not relevant."""
    if level == 1 and not fractions and not any(docs and min(docs.values()) < 0 for docs in held.values()):
        return held
    return {query: {doc: of if of >= level else 0 for doc, of in docs.items()} for query, docs in held.items()}


def _most(held: _Nested, metric: _Metric) -> _Array:
    """The greatest possible value of each query: its ideal DCG; for RBP its greatest level."""
    if metric.name == "rbp":
        return np.array([max([1, *docs.values()]) for docs in held.values()], dtype=np.float64)
    levels = np.array([*chain.from_iterable(docs.values() for docs in held.values())], dtype=np.float64)
    offsets = np.cumsum([0, *map(len, held.values())])
    gain: Any = "linear" if metric.name == "dcg" else "exponential"
    return GainCurves(levels, levels, offsets=offsets).dcg(metric.k or None, gain=gain)


def _by_query(qrels: _Nested, run: _Nested, metrics: Sequence[str], ready: dict[Any, Any]) -> dict[str, _Array]:
    """For each metric its values, in the order of the judgments; `ready` keeps what does not depend on the run."""
    parsed = {metric: _parsed(metric) for metric in metrics}
    found: dict[str, _Array] = dict.fromkeys(metrics, np.zeros(0))
    for level in dict.fromkeys(one.level for one in parsed.values()):
        of_level = {metric: one for metric, one in parsed.items() if one.level == level}
        names = tuple(dict.fromkeys(one.ours for one in of_level.values()))
        if level not in ready:
            held = _judgments(qrels, level)
            read = read_qrels(held)
            if read.scale is not None:  # levels between 0 and 1 are not relevant there
                held = _judgments(qrels, level, True)
                read = read_qrels(held)
            ready[level] = held, read
        if (level, names) not in ready:
            ready[level, names] = Evaluator(ready[level][1], names)
        evaluated = ready[level, names].evaluate(run)
        row = {query: i for i, query in enumerate(evaluated.query_ids)}
        places = [row.get(str(query), -1) for query in qrels]
        for metric, one in of_level.items():
            found[metric] = np.append(evaluated.values[one.ours], 0.0)[places]  # the last: without a judgment
            if one.name in _SHARES or one.name == "rbp":
                most = (level, one.name, one.k)
                if most not in ready:
                    ready[most] = _most(ready[level][0], one)
                found[metric] *= ready[most]
    return found


def _of_arrays(side: Any, name: str) -> _Nested:
    """Arrays of the rows (id, number), one for each query; of a run the order counts, not the number."""
    if not hasattr(side, "__iter__") or isinstance(side, (str, Mapping, _Table)):
        raise TypeError(f"{name} is a {type(side).__name__}: give Qrels and a Run, two dicts, or arrays for both")
    held: _Nested = {}
    for query, rows in enumerate(side):
        array = np.asarray(rows, dtype=np.float64)
        if array.size and (array.ndim != 2 or array.shape[1] != 2):
            raise ValueError(f"{name}: query {query} has the shape {array.shape}, it must have rows (id, number)")
        docs = held.setdefault(str(query), {})
        for place, (doc, number) in enumerate(array.reshape(-1, 2).tolist()):
            docs.setdefault(str(doc), -place if name == "run" else number)
    return held


def _text_list(metrics: list[str] | str) -> list[str]:
    listed = [metrics] if isinstance(metrics, str) else list(metrics)
    for one in listed:
        if not isinstance(one, str):
            raise AssertionError(f"metrics must be strings, got {one!r}")
    if not listed:
        raise ValueError("metrics is empty")
    return listed


def evaluate(qrels: Any, run: Any, metrics: list[str] | str, return_mean: bool = True, return_std: bool = False,
             threads: int = 0, save_results_in_run: bool = True, make_comparable: bool = False) -> Any:
    """Measure a run against judgments.

    Parameters
    ----------
    qrels, run : Qrels and Run, dicts, or one array of the rows (id, number) for each query
        The judgments and the run. Both hold the same queries. Arrays of judgments are sorted by level, the highest
        level first. Arrays of a run are in the order of the ranking.
    metrics : str or list of str
        ``hits``, ``hit_rate``, ``precision``, ``recall``, ``f1``, ``r-precision``, ``mrr``, ``map``, ``dcg``,
        ``dcg_burges``, ``ndcg``, ``ndcg_burges``, ``bpref``, ``rbp.95``; with ``@k`` and ``-l2`` as in ranx.
    return_mean : bool
        True returns the means, False the values of all queries.
    return_std : bool
        True returns standard deviations too.
    threads : int
        This argument has no effect: `evaluate` uses a single thread.
    save_results_in_run : bool
        True stores the values in `run`, if `run` is a Run.
    make_comparable : bool
        True calls `Run.make_comparable` first.

    Returns
    -------
    float, array or dict
        The value of a single metric, or a dict with the value of each metric if there are several metrics.

    Raises
    ------
    AssertionError
        If qrels and run hold different queries.
    ValueError
        If a metric is unknown, or for a reason that `hitcurve.evaluate` lists.

    Examples
    --------
    >>> from hitcurve.compat.ranx import evaluate
    >>> round(float(evaluate({"q": {"a": 1, "b": 2}}, {"q": {"c": 2.0, "b": 1.0}}, "mrr")), 4)
    0.5
    """
    asked = _text_list(metrics)
    if make_comparable and isinstance(qrels, Qrels) and isinstance(run, Run):
        run = run.make_comparable(qrels)
    for side in (qrels, run):
        if isinstance(side, _Table) and not side.sorted:
            side.sort()
    ready = qrels._ready if isinstance(qrels, _Table) and not qrels._lent else {}
    judged, ranked = (side._held if isinstance(side, _Table) else side for side in (qrels, run))
    if not isinstance(judged, Mapping) or not isinstance(ranked, Mapping):
        judged, ranked, ready = _of_arrays(qrels, "qrels"), _of_arrays(run, "run"), {}
    if judged.keys() != ranked.keys():
        lost, extra = ([one for one in a if one not in b] for a, b in ((judged, ranked), (ranked, judged)))
        said = f"the run lacks {lost[0]!r}" if lost else f"the qrels lack {extra[0]!r}"
        raise AssertionError(f"qrels and run hold different queries: {said}; make_comparable=True removes queries "
                             "without judgments from the run, and adds judged queries that it lacks")
    found = _by_query(dict(judged), dict(ranked), asked, ready)
    means = {metric: np.mean(values) for metric, values in found.items()}
    deviations = {metric: np.std(values) for metric, values in found.items()} if return_std and return_mean else {}
    if isinstance(run, Run) and save_results_in_run:
        run.mean_scores |= means
        run.std_scores |= deviations
        for metric, values in found.items():
            run.scores[metric].update(zip(judged, values, strict=True))
    results: dict[str, Any] = means if return_mean else found
    if deviations:
        results = {metric: {"mean": means[metric], "std": deviations[metric]} for metric in found}
    return results[asked[0]] if len(asked) == 1 else results


# --- comparison ---------------------------------------------------------------------------------------------


def compare(qrels: Qrels, runs: list[Run], metrics: list[str] | str, stat_test: str = "student",
            n_permutations: int = 1000, max_p: float = 0.01, random_seed: int = 42, threads: int = 0,
            rounding_digits: int = 3, show_percentages: bool = False, make_comparable: bool = False) -> Report:
    """Measure runs against the same judgments, and test the differences of each pair.

    Parameters
    ----------
    qrels, metrics, threads, make_comparable
        As for `evaluate`.
    runs : list of Run
        A run without a name is called ``run_1``, by its place.
    stat_test : {"student", "fisher", "tukey"}
        ``"student"``: Student's paired t test. ``"fisher"``: the paired randomisation of `hitcurve.compare`, which is
        exact if at most 20 queries differ. ``"tukey"``: Tukey's honest significant differences of
        `scipy.stats.tukey_hsd`, which does not pair the queries.
    n_permutations, random_seed : int
        The number of random permutations of ``"fisher"``, and their seed.
    max_p : float
        The greatest p-value that counts as significant.
    rounding_digits : int
    show_percentages : bool
        The report shows the means with so many digits, or as percentages.

    Returns
    -------
    Report

    Raises
    ------
    NotImplementedError
        If the test is unknown.
    ModuleNotFoundError
        If ``"student"`` or ``"tukey"`` is chosen and scipy is not installed.

    Examples
    --------
    >>> from hitcurve.compat.ranx import Qrels, Run, compare
    >>> qrels = Qrels({f"q{i}": {"d1": 1} for i in range(9)})
    >>> good = Run({f"q{i}": {"d1": 2.0, "d2": 1.0} for i in range(9)}, name="good")
    >>> bad = Run({f"q{i}": {"d1": 1.0, "d2": 2.0} for i in range(9)}, name="bad")
    >>> print(compare(qrels, [good, bad], "mrr", stat_test="fisher"))
    #  Model  MRR
    a  good   1.000ᵇ
    b  bad    0.500
    """
    asked = _text_list(metrics)
    if stat_test not in _TESTS:
        raise NotImplementedError(f"stat_test is {stat_test!r}, it must be one of {', '.join(_TESTS)}")
    for i, run in enumerate(runs):
        if not isinstance(run, Run):
            raise TypeError(f"runs[{i}] is a {type(run).__name__}, it must be a Run")
    names = [f"run_{i}" if run.name is None else run.name for i, run in enumerate(runs, 1)]
    values: dict[str, dict[str, _Array]] = {}
    for name, run in zip(names, runs, strict=True):
        found = evaluate(qrels, run, asked, return_mean=False, threads=threads, make_comparable=make_comparable)
        values[name] = {asked[0]: found} if len(asked) == 1 else found
    results = {name: {metric: float(np.mean(values[name][metric])) for metric in asked} for name in names}
    pairs = list(combinations(dict.fromkeys(names), 2))
    comparisons = _Pairs()
    outcomes: dict[tuple[str, str], dict[str, dict[str, int]]] = {}
    for metric in asked:
        chances = _chances([values[name][metric] for name in values], stat_test, n_permutations, random_seed)
        for (a, b), p in zip(pairs, chances, strict=True):
            comparisons.setdefault((a, b), {})[metric] = {"p_value": p, "significant": p <= max_p}
            for one, other in ((a, b), (b, a)):
                signs = np.sign(values[one][metric] - values[other][metric])
                outcomes.setdefault((one, other), {})[metric] = {
                    key: int(np.count_nonzero(signs == sign)) for key, sign in (("W", 1), ("T", 0), ("L", -1))}
    return Report(names, results, comparisons, asked, max_p, outcomes, rounding_digits, show_percentages, stat_test)


def _chances(values: list[_Array], stat_test: str, n_permutations: int, random_seed: int) -> list[float]:
    """The p-value of each pair."""
    pairs = list(combinations(range(len(values)), 2))
    if stat_test == "fisher":
        return [p for p, _ in paired_randomization(np.stack(values, axis=1), pairs, n_permutations, random_seed)]
    if stat_test == "student":
        needed("scipy", 'stat_test="student"')
        return [float(paired_t(values[a] - values[b])) for a, b in pairs]  # type: ignore[arg-type]
    chances = needed("scipy.stats", 'stat_test="tukey"').tukey_hsd(*values).pvalue if pairs else {}
    return [float(chances[pair]) for pair in pairs]


class _Pairs(UserDict[Any, Any]):
    """Values by a pair of names, in either order."""

    def __getitem__(self, pair: Any) -> Any:
        return self.data[frozenset(pair)]

    def __setitem__(self, pair: Any, value: Any) -> None:
        self.data[frozenset(pair)] = value

    def __delitem__(self, pair: Any) -> None:
        del self.data[frozenset(pair)]

    def __contains__(self, pair: object) -> bool:
        return frozenset(pair) in self.data  # type: ignore[call-overload]


def _letter(place: int, letters: str = _LETTERS) -> str:
    """That of a model: a to z, then aa to zz, and so on."""
    return letters[place % 26] * (place // 26 + 1)


class Report:
    """The result of `compare`: print it, typeset it in LaTeX, or save it.

    Parameters
    ----------
    model_names : list of str
    results : dict
        The mean of each metric, in a dict for each model.
    comparisons : mapping
        For each pair of models a dict by metric: ``p_value`` and ``significant``.
    metrics : list of str
    max_p : float
    win_tie_loss : dict
        For each pair of models a dict by metric: the numbers of queries for which the first model is better (``W``),
        equal (``T``) and worse (``L``).
    rounding_digits, show_percentages, stat_test
        As for `compare`.
    """

    def __init__(self, model_names: list[str], results: dict[str, dict[str, float]], comparisons: Any,
                 metrics: list[str], max_p: float, win_tie_loss: dict[tuple[str, str], dict[str, dict[str, int]]],
                 rounding_digits: int = 3, show_percentages: bool = False, stat_test: str = "student") -> None:
        self.model_names, self.results, self.comparisons = model_names, results, comparisons
        self.metrics, self.max_p, self.win_tie_loss = metrics, max_p, win_tie_loss
        self.rounding_digits, self.show_percentages, self.stat_test = rounding_digits, show_percentages, stat_test

    def format_score(self, score: float) -> str:
        """A mean as the report shows it."""
        digits = max(0, self.rounding_digits - 2) if self.show_percentages else self.rounding_digits
        return f"{round(100 * score if self.show_percentages else score, digits):.{digits}f}"

    def get_metric_label(self, m: str) -> str:
        """The title of a metric."""
        return _parsed(m).title

    def get_stat_test_label(self, stat_test: str) -> str:
        """The name of a statistical test."""
        return _TESTS[stat_test]

    def _letters(self, model: str, metric: str, letters: str, better: bool = True) -> str:
        """Those of the models that this one is significantly better than, or of the others."""
        return "".join(
            _letter(i, letters) for i, other in enumerate(self.model_names) if other != model and better == bool(
                self.comparisons[model, other][metric]["significant"]
                and self.results[model][metric] > self.results[other][metric]))

    def to_table(self) -> str:
        """The table as aligned text. A raised letter names a model that is significantly worse than the row's model."""
        rows = [["#", "Model", *map(self.get_metric_label, self.metrics)]]
        for i, (model, means) in enumerate(self.results.items()):
            rows.append([_letter(i), model, *(self.format_score(means[metric]) + self._letters(model, metric, _RAISED)
                                          for metric in self.metrics)])
        return rendered([Grid(rows, len(rows[0]))])

    def to_latex(self) -> str:
        """The table in LaTeX. It needs the packages graphicx and booktabs. The text is the same as in ranx.

        Returns
        -------
        str
        """
        shown = {model: {metric: round(self.results[model][metric], self.rounding_digits) for metric in self.metrics}
                 for model in self.model_names}
        best = {}
        for metric in self.metrics:
            most = max(shown[model][metric] for model in self.model_names)
            best[metric] = next((model for model in self.model_names if shown[model][metric] == most > 0), None)
        body = []
        for i, model in enumerate(self.model_names):
            cells = []
            for metric in self.metrics:
                mean = self.format_score(self.results[model][metric])
                mean = f"\\textbf{{{mean}}}" if best[metric] == model else mean
                above, others = (self._letters(model, metric, _LETTERS, better) for better in (True, False))
                cells.append(f"{mean}$^{{{above}}}$\\hphantom{{$^{{{others}}}$}} ")
            body.append(f"{_letter(i)} &\n{model} &\n" + "&\n".join(cells) + "\\\\")
        rule = "=" * 24
        heads = "".join(f"\n& \\textbf{{{self.get_metric_label(metric)}}}" for metric in self.metrics)
        return "\n".join([
            rule, "% Add in preamble", r"\usepackage{graphicx}", r"\usepackage{booktabs}", rule, "", "",
            "% To change the table size, act on the resizebox argument `0.8`.", r"\begin{table*}[ht]", r"\centering",
            r"\caption{", "Overall effectiveness of the models.", "The best results are highlighted in boldface.",
            f"Superscripts denote significant differences in {self.get_stat_test_label(self.stat_test)} "
            f"with $p \\le {self.max_p}$.", "}", r"\resizebox{0.8\textwidth}{!}{",
            rf"\begin{{tabular}}{{c|l{'|c' * len(self.metrics)}}}", r"\toprule", r"\textbf{\#}",
            rf"& \textbf{{Model}}{heads} \\ ", r"\midrule",
            "\n".join(body).replace("_", r"\_").replace("$^{}$", ""), r"\bottomrule", r"\end{tabular}", "}",
            r"\label{tab:results}", r"\end{table*}"])

    def to_dict(self) -> dict[str, Any]:
        """The report as a dict: ``scores``, ``comparisons`` (p-values) and ``win_tie_loss`` of each model.

        Returns
        -------
        dict
        """
        found: dict[str, Any] = {
            "stat_test": self.stat_test, "metrics": self.metrics, "model_names": self.model_names}
        for model in self.model_names:
            others = [other for other in self.model_names if other != model]
            found[model] = {
                "scores": self.results[model],
                "comparisons": {other: {metric: self.comparisons[model, other][metric]["p_value"]
                                        for metric in self.metrics} for other in others},
                "win_tie_loss": {other: {metric: self.win_tie_loss[model, other][metric] for metric in self.metrics}
                                 for other in others}}
        return found

    def to_dataframe(self) -> Any:
        """The means as a pandas.DataFrame, a row for each model.

        Returns
        -------
        pandas.DataFrame
        """
        rows = [[model, *(self.results[model][metric] for metric in self.metrics)] for model in self.results]
        return needed("pandas", "to_dataframe").DataFrame(rows, columns=["model_names", *self.metrics])

    def save(self, path: str) -> None:
        """Write the dict that `to_dict` makes as JSON."""
        write_file(path, json.dumps(self.to_dict(), indent=4).encode())

    def print_results(self) -> None:
        """Print the means as JSON."""
        print(json.dumps(self.results, indent=4))

    def __repr__(self) -> str:
        return self.to_table()
