"""PRESETS: the keyword arguments that reproduce the numbers of other tools."""
from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["PRESETS", "Preset"]


class Preset(dict[str, Any]):
    """Keyword arguments that reproduce a number of another tool. A call of a preset calls the right function with them.

    Attributes
    ----------
    function : str
        What takes the arguments, by its name in ``hitcurve``.

    Examples
    --------
    >>> import hitcurve as hc
    >>> preset = hc.PRESETS["LightGBM map"]
    >>> preset
    mean_average_precision(..., normalize='min', empty='one', tiebreak='order')
    >>> preset([1, 0, 0, 0], [0.5, 0.5, 0.9, 0.8], offsets=[0, 2, 4], k=10)
    1.0
    """

    __slots__ = ()

    @property
    def function(self) -> str:
        if "scores" in self:
            return "evaluate"
        if "measure" in self:
            from hitcurve.measures import parse

            return "HitCurves.mean" if "hits" in parse(self["measure"]).record.of else "GainCurves.mean"
        if "num_relevant" in self:
            return "HitCurve"
        return "mean_ndcg" if "gain" in self else "mean_average_precision" if "empty" in self else "average_precision"

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        """Call the function with the arguments of the preset and with others, which replace those of the preset."""
        from hitcurve.curves import gain, hit
        from hitcurve.retrieval import evaluator

        asked = {**self, **more}
        owner, _, method = self.function.partition(".")
        if owner == "average_precision" and not {"qid", "offsets", "empty"}.isdisjoint(asked):
            owner = "mean_average_precision"
        of_method = {key: asked.pop(key) for key in ("measure", "ties", "empty", "weights") if method and key in asked}
        home = evaluator if owner == "evaluate" else hit if hasattr(hit, owner) else gain
        made = getattr(home, owner)(*arguments, **asked)
        return getattr(made, method)(**of_method) if method else made

    def __repr__(self) -> str:
        name = self.function.replace(".", "(...).")
        return f"{name}({'' if '.' in name else '..., '}{', '.join(f'{key}={value!r}' for key, value in self.items())})"

    def __reduce__(self) -> Any:  # a pickle has a plain dict: it names no class of this module, which may move
        return dict, (dict(self),)


class _Presets(dict[str, Preset]):
    """The presets by their names. A name that is unknown is an error with the near names."""

    def __missing__(self, name: object) -> NoReturn:
        from difflib import get_close_matches

        of_tool = [one for one in self if one.split()[0] == str(name).split(" ")[0]]
        near = of_tool or get_close_matches(str(name), self)
        raise KeyError(f"there is no preset {name!r}; " + ("near names: " if near else "the presets are ")
                       + ", ".join(map(repr, near or self)))


_ARGUMENTS: dict[str, dict[str, Any]] = {
    # average_precision_score: a tie group enters at once. label_ranking_average_precision_score: a row is a query.
    "scikit-learn": {"ties": "threshold"},
    "scikit-learn label ranking": {"ties": "threshold", "empty": "one"},
    # auc(recall, precision) of precision_recall_curve.
    "scikit-learn auc": {"ties": "threshold", "interpolation": "trapezoid-from-1"},
    # evaluate(qrels, run, measures, ...). Queries without results: trec_eval 9 and pytrec_eval skip them, 10 stops.
    "trec_eval 9": {"ties": "docid", "scores": "float32", "missing": "skip", "empty": "zero"},
    "trec_eval 10": {"ties": "docid", "scores": "float64", "missing": "raise", "empty": "zero"},
    "pytrec_eval": {"ties": "docid", "scores": "float32", "missing": "skip", "empty": "zero"},
    "ir_measures": {"ties": "docid", "scores": "float32", "missing": "zero", "empty": "zero"},
    # map and map_cut of arrays. Ties: tiebreak= needs the documents' ids in descending order. 9 needs float32 scores.
    "trec_eval arrays": {"normalize": "relevant", "empty": "zero"},
    # map and map@k. ranx uses an unstable sort, so no argument reproduces its order of ties.
    "ranx": {"normalize": "relevant", "empty": "zero"},
    # RetrievalMAP. The order of ties is that of torch.topk. Items with scores of 0 and below count as not retrieved.
    "torchmetrics": {"normalize": "hits", "empty": "zero"},
    # RankingMetrics, of lists in rank order; BinaryClassificationMetrics.areaUnderPR with numBins=0.
    "Spark": {"normalize": "min", "empty": "zero", "tiebreak": "order"},
    "Spark areaUnderPR": {"ties": "threshold", "interpolation": "trapezoid"},
    # Tied rows keep their order, and relevant rows that are not ranked are unknown.
    "RDKit": {"tiebreak": "order", "num_relevant": None},
    # The items are detections, and num_relevant is the number of objects. Both development kits use a stable sort.
    # "code": recall levels are compared as floats.
    "VOC 2007": {"interpolation": "11-point", "tiebreak": "order"},
    "VOC 2007 code": {"interpolation": "11-point-float", "tiebreak": "order"},
    "VOC 2010": {"interpolation": "all-point", "tiebreak": "order"},
    "COCO": {"interpolation": "101-point", "tiebreak": "order"},
    "COCO code": {"interpolation": "101-point-float", "tiebreak": "order"},
    # ndcg_score and dcg_score: the mean over all orders of a tie group. With k=5 the second has the measure "DCG@5".
    "scikit-learn ndcg": {"gain": "linear", "ties": "expected", "empty": "zero"},
    "scikit-learn dcg": {"measure": "DCG", "ties": "expected", "empty": "zero"},
    # RetrievalNormalizedDCG, in single precision.
    "torchmetrics ndcg": {"gain": "linear", "ties": "expected", "empty": "zero"},
    # ndcg@k with the default label_gain, and map@k. Both tools use a stable sort: ties keep the order of the data.
    "LightGBM": {"gain": "exponential", "empty": "one", "tiebreak": "order"},
    "LightGBM map": {"normalize": "min", "empty": "one", "tiebreak": "order"},
    "XGBoost": {"gain": "exponential", "empty": "one", "tiebreak": "order"},
    "XGBoost ndcg-": {"gain": "exponential", "empty": "zero", "tiebreak": "order"},
    "XGBoost map": {"normalize": "min", "empty": "one", "tiebreak": "order"},
    "XGBoost map-": {"normalize": "min", "empty": "zero", "tiebreak": "order"},
    # Metrics of all items: groups of LightGBM make no difference to average_precision.
    "LightGBM average_precision": {"ties": "threshold"},
    "XGBoost aucpr": {"ties": "threshold", "interpolation": "continuous"},
    # NDCG: in a tie group the items of the lowest level come first. For type=Exp use gain="exponential".
    "CatBoost": {"gain": "linear", "ties": "worst", "empty": "one"},
    "CatBoost map": {"normalize": "min", "ties": "worst", "empty": "zero"},
    "CatBoost mrr": {"measure": "RR", "ties": "worst", "empty": "zero"},
    "CatBoost recall": {"measure": "R@10", "ties": "worst", "empty": "one"},
    "CatBoost precision": {"measure": "P(norm=ranked)@10", "ties": "worst", "empty": "zero"},
    "CatBoost dcg": {"measure": "DCG", "ties": "worst", "empty": "zero"},
    # QueryAUC: a query with relevant items alone counts as 0 there, and is left out here.
    "CatBoost query auc": {"measure": "ROCAUC", "ties": "expected", "empty": "zero"},
    "CatBoost prauc": {"ties": "threshold", "interpolation": "trapezoid-from-1"},
}

#: Keyword arguments that reproduce another tool's numbers, in a dictionary for each tool and measure. A name is that of
#: the tool, with the measure if it is not the tool's only one here or its first. Call a preset with the data,
#: ``hc.PRESETS["LightGBM map"](y, s, offsets=offsets, k=10)``, or pass it to a function, as
#: ``**hc.PRESETS["scikit-learn"]`` to ``average_precision`` or ``mean_average_precision``. Presets with ``empty`` go to
#: ``mean_average_precision`` only, presets with ``gain`` to ``mean_ndcg``, and presets with ``measure`` to the method
#: ``mean`` of ``HitCurves``, or of ``GainCurves`` if the measure uses levels. Presets of tools that read judgments and
#: runs go to ``evaluate``, and ``"RDKit"`` goes to ``HitCurve``. The page "The numbers of other libraries" of the
#: documentation says for each tool what else the tool does to the data, and what no argument can reproduce.
PRESETS: dict[str, Preset] = _Presets((name, Preset(arguments)) for name, arguments in _ARGUMENTS.items())
