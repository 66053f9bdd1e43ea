"""PRESETS: the keyword arguments that reproduce the numbers of other tools."""
from __future__ import annotations

from typing import Any

#: Keyword arguments that reproduce another tool's average precision, in a dictionary for each tool. Pass a preset as
#: ``**hc.PRESETS["scikit-learn"]`` to ``average_precision`` or ``mean_average_precision``. Presets with ``empty`` go to
#: ``mean_average_precision`` only. Presets with ``gain`` go to ``mean_ndcg``, but ``"scikit-learn dcg"`` goes to the
#: method ``dcg`` of ``GainCurves``. Presets of tools that read judgments and runs go to ``evaluate``, and ``"RDKit"``
#: goes to ``HitCurve``. The page "The numbers of other libraries" of the documentation says for each tool what else the
#: tool does to the data, and what no argument can reproduce.
PRESETS: dict[str, dict[str, Any]] = {
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
    # Tied rows keep their order.
    "RDKit": {"tiebreak": "order"},
    # The items are detections, and num_relevant is the number of objects. Both development kits use a stable sort.
    # "code": recall levels are compared as floats.
    "VOC 2007": {"interpolation": "11-point", "tiebreak": "order"},
    "VOC 2007 code": {"interpolation": "11-point-float", "tiebreak": "order"},
    "VOC 2010": {"interpolation": "all-point", "tiebreak": "order"},
    "COCO": {"interpolation": "101-point", "tiebreak": "order"},
    "COCO code": {"interpolation": "101-point-float", "tiebreak": "order"},
    # ndcg_score and dcg_score: the mean over all orders of a tie group.
    "scikit-learn ndcg": {"gain": "linear", "ties": "expected", "empty": "zero"},
    "scikit-learn dcg": {"gain": "linear", "ties": "expected"},
    # RetrievalNormalizedDCG, in single precision.
    "torchmetrics ndcg": {"gain": "linear", "ties": "expected", "empty": "zero"},
    # ndcg@k with the default label_gain. Both use a stable sort: ties keep the order of the data.
    "LightGBM": {"gain": "exponential", "empty": "one", "tiebreak": "order"},
    "XGBoost": {"gain": "exponential", "empty": "one", "tiebreak": "order"},
    # NDCG: in a tie group the items of the lowest level come first. For type=Exp use gain="exponential".
    "CatBoost": {"gain": "linear", "ties": "worst", "empty": "one"},
}
