"""A provider for ir_measures: ``hitcurve.ir_measures.provider`` in place of ``ir_measures``.

>>> from hitcurve.ir_measures import provider  # doctest: +SKIP
>>> provider.calc_aggregate([nDCG@10, AP], qrels, run)  # doctest: +SKIP

The provider takes the same judgments and runs as ir_measures. Its numbers are those of ir_measures' pytrec_eval
provider, also for RR at a cutoff: scores are compared in single precision, and documents of equal score are ranked by
id, as in trec_eval 9. Compat and Accuracy are those of ir_measures' own providers if no scores are equal. Measures of
subtopics have the numbers of its pyndeval provider: scores are compared in double precision, and of documents of equal
score the smaller id ranks first. At cutoff 1, where ndeval forgets to divide alpha_DCG and ERR_IA by their greatest
values, they are divided here.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Iterator
from typing import Any

from hitcurve import evaluate, read_qrels
from hitcurve._base.extras import needed
from hitcurve.measures import Measure, parse

__all__ = ["HitcurveProvider", "provider"]

_ir_measures = needed("ir_measures", "hitcurve.ir_measures")
_measures, _providers = _ir_measures.measures, _ir_measures.providers
NOT_PROVIDED, _Any = _providers.base.NOT_PROVIDED, _providers.base.Any


class _FromZero(_Any):  # type: ignore[misc, valid-type]
    """A value of at least 0."""

    def validate(self, value: Any) -> bool:
        return bool(super().validate(value) and (value is NOT_PROVIDED or value >= 0))


# The measures of users, each with the options that it has besides min_rel and max_rel.
_OF_USERS = {
    "SDCG": "cutoff! dcg", "BPM": "cutoff! T", "NERR8": "cutoff!", "NERR9": "cutoff!", "NERR10": "p", "NERR11": "T",
    "INSQ": "T", "INST": "T",
}


class HitcurveProvider(_providers.Provider):  # type: ignore[misc, name-defined]
    """A provider of ir_measures that computes with hitcurve."""

    NAME = "hitcurve"
    SUPPORTED_MEASURES = [
        getattr(_measures, f"_{name}")(**{one.strip("!"): _Any(required="!" in one) for one in options.split()})
        for names, options in (
            ("AP P R RR Success", "cutoff rel judged_only"), ("Rprec SetAP", "rel judged_only"),
            ("SetR Bpref infAP NumRet", "rel"), ("ERR Judged", "cutoff"), ("NumQ NumRel", ""),
            ("Accuracy", "cutoff rel"), ("Compat", "p normalize"),
            ("nDCG", "cutoff dcg gains judged_only"), ("RBP", "cutoff p rel!"), ("IPrec", "recall rel judged_only"),
            ("SetP", "rel relative judged_only"), ("SetF", "rel beta judged_only"),
            ("ERR_IA nERR_IA", "cutoff rel judged_only"), ("alpha_DCG alpha_nDCG", "cutoff alpha rel judged_only"),
            ("NRBP nNRBP", "alpha beta rel"), ("AP_IA", "rel judged_only"), ("P_IA", "cutoff! rel judged_only"),
            ("StRecall", "cutoff rel"),
        )
        for name in names.split()
    ] + [
        getattr(_measures, f"_{name}")(
            min_rel=_FromZero(), max_rel=_Any(required=True),
            **{one.strip("!"): _Any(required="!" in one) for one in options.split()})
        for name, options in _OF_USERS.items()
    ]

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> Any:
        return _Evaluator(list(measures), qrels)


class _Evaluator(_providers.Evaluator):  # type: ignore[misc, name-defined]
    def __init__(self, measures: list[Any], qrels: Any) -> None:
        asked = [(one, _ours(one)) for one in measures]
        self._topics = [pair for pair in asked if "subtopics" in pair[1].record.of]
        self._measures = [pair for pair in asked if "subtopics" not in pair[1].record.of]
        records: list[Any] = []
        if self._topics:
            qrels = records = list(_ir_measures.util.QrelsConverter(qrels).as_namedtuple_iter())
        nested = _ir_measures.util.QrelsConverter(qrels).as_dict_of_dict()
        super().__init__(measures, set(nested))
        self._qrels = read_qrels(nested, strict=False) if self._measures and any(nested.values()) else None
        self._by_subtopic = read_qrels(_by_subtopic(records), subtopics=True) if records else None

    def iter_calc(self, run: Any) -> Iterator[Any]:
        """The values of each query. As in ir_measures, a query without a value of Accuracy is left out."""
        return (one for one in super().iter_calc(run) if one.value == one.value)

    def _iter_calc(self, run: Any) -> Iterator[Any]:
        nested = _ir_measures.util.RunConverter(run).as_dict_of_dict()
        here = {query: docs for query, docs in nested.items() if docs and query in self.qrel_qids}
        for gaps in (False, True):
            asked = [pair for pair in self._measures if pair[1].record.gaps == gaps]
            empty = "skip" if gaps else "zero"
            queries = yield from _values(self._qrels, asked, here, scores="float32", empty=empty)
            for theirs, _ in asked if gaps else ():
                for query in self.qrel_qids - set(queries):
                    yield _ir_measures.Metric(query_id=query, measure=theirs, value=math.nan)
        yield from _values(self._by_subtopic, self._topics, _untied(here), subtopics=True)


def _values(qrels: Any, asked: list[tuple[Any, Measure]], run: dict[str, Any],
            **how: Any) -> Generator[Any, None, list[str]]:  # fmt: skip
    """The values of each query, and the queries that have them. ir_measures puts its own default for other queries."""
    if not asked or not run or qrels is None:
        return []
    ours = {measure.name: measure for _, measure in asked}
    found = evaluate(qrels, run, list(ours.values()), missing="skip", **how)
    for theirs, measure in asked:
        for query, value in zip(found.query_ids, found.values[measure.name].tolist(), strict=True):
            yield _ir_measures.Metric(query_id=query, measure=theirs, value=value)
    queries: list[str] = found.query_ids
    return queries


def _by_subtopic(records: list[Any]) -> dict[str, dict[str, dict[str, int]]]:
    """Judgments by subtopic, which ir_measures calls iteration. The last level of a document for a subtopic counts."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for one in records:
        levels = found.setdefault(one.query_id, {}).setdefault(one.doc_id, {})
        levels[getattr(one, "iteration", "0")] = one.relevance
    return found


def _untied(run: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """The same order of documents by other scores, where of documents of equal score the smaller id ranks first."""
    return {query: {doc: float(-place) for place, doc in enumerate(sorted(docs, key=lambda doc: (-docs[doc], doc)))}
            for query, docs in run.items()}  # fmt: skip


def _ours(measure: Any) -> Measure:
    """The measure of hitcurve that a measure of ir_measures stands for."""
    options = []
    for name in ("rel", "judged_only", "relative", "beta", "p", "normalize", "alpha", "dcg", "T", "min_rel", "max_rel",
                 "gains"):  # fmt: skip
        value = measure.params.get(name, measure[name] if name in measure.SUPPORTED_PARAMS else NOT_PROVIDED)
        if value is not NOT_PROVIDED and (value is not False or name == "normalize"):
            options.append(f"{name}={value}")
    at = measure[measure.AT_PARAM] if measure.AT_PARAM in measure.SUPPORTED_PARAMS else NOT_PROVIDED
    if measure.NAME == "IPrec":
        options.append("levels=trec_eval9")
        at = f"{at:.2f}"
    inside = f"({','.join(options)})" if options else ""
    return parse(f"{measure.NAME}{inside}" + ("" if at is NOT_PROVIDED else f"@{at}"))


#: The provider to call: ``provider.calc_aggregate(measures, qrels, run)``.
provider = _providers.register(HitcurveProvider())
