"""Measure rankings: average precision, nDCG, BEDROC and many more measures, exact under ties."""
import typing

from hitcurve._version import __version__ as __version__
from hitcurve.curves.hit import HitCurve, HitCurves, at_threshold, average_precision, mean_average_precision
from hitcurve.results import (
    ConfidenceInterval,
    GainCurvePoints,
    HitCurvePoints,
    Interval,
    PrecisionRecallCurve,
    PrecisionRecallGainCurve,
    RocCurve,
    ThresholdCounts,
    TieReport,
)

if typing.TYPE_CHECKING:
    from hitcurve.curves.counter import HitCounter
    from hitcurve.curves.gain import GainCurve, GainCurves, mean_ndcg, ndcg
    from hitcurve.curves.gain_counter import GainCounter
    from hitcurve.curves.multiclass import multiclass_roc_auc
    from hitcurve.curves.subtopics import SubtopicCurve, SubtopicCurves
    from hitcurve.curves.users import UserModel
    from hitcurve.presets import PRESETS
    from hitcurve.report.plot import plot_curves, plot_figure
    from hitcurve.report.plot_queries import plot_evaluations
    from hitcurve.retrieval.evaluation import Evaluation
    from hitcurve.retrieval.evaluator import Evaluator, evaluate
    from hitcurve.retrieval.overlap import RankBiasedOverlap, rbo
    from hitcurve.retrieval.reading import read_qrels, read_run
    from hitcurve.retrieval.unjudged import Unjudged, UnjudgedDocument, UnjudgedQuery
    from hitcurve.shown.leaderboard import Leaderboard
    from hitcurve.sources.scanning import scan
    from hitcurve.statistics.comparison import Comparison, Difference, SystemValue, compare
    from hitcurve.statistics.random_order import PValue

__all__ = [
    "PRESETS", "Comparison", "ConfidenceInterval", "Difference", "Evaluation", "Evaluator", "GainCounter", "GainCurve",
    "GainCurvePoints", "GainCurves", "HitCounter", "HitCurve", "HitCurvePoints", "HitCurves", "Interval", "Leaderboard",
    "PValue", "PrecisionRecallCurve", "PrecisionRecallGainCurve", "RankBiasedOverlap", "RocCurve", "SubtopicCurve",
    "SubtopicCurves", "SystemValue", "ThresholdCounts", "TieReport", "Unjudged", "UnjudgedDocument", "UnjudgedQuery",
    "UserModel", "at_threshold", "average_precision", "compare", "evaluate", "mean_average_precision", "mean_ndcg",
    "multiclass_roc_auc", "ndcg", "plot_curves", "plot_evaluations", "plot_figure", "rbo", "read_qrels", "read_run",
    "scan",
]

_LAZY = {name: f"hitcurve.{module}" for module, names in {
    "curves.counter": "HitCounter",
    "curves.gain": "GainCurve GainCurves mean_ndcg ndcg",
    "curves.gain_counter": "GainCounter",
    "curves.multiclass": "multiclass_roc_auc",
    "curves.subtopics": "SubtopicCurve SubtopicCurves",
    "curves.users": "UserModel",
    "shown.leaderboard": "Leaderboard",
    "presets": "PRESETS",
    "report.plot": "plot_curves plot_figure",
    "report.plot_queries": "plot_evaluations",
    "retrieval.evaluation": "Evaluation",
    "retrieval.evaluator": "Evaluator evaluate",
    "retrieval.overlap": "RankBiasedOverlap rbo",
    "retrieval.reading": "read_qrels read_run",
    "retrieval.unjudged": "Unjudged UnjudgedDocument UnjudgedQuery",
    "sources.scanning": "scan",
    "statistics.comparison": "Comparison Difference SystemValue compare",
    "statistics.random_order": "PValue",
}.items() for name in names.split()}

if not typing.TYPE_CHECKING:  # or type checkers would accept any name as public

    def __getattr__(name: str) -> typing.Any:
        if name in _LAZY:
            from importlib import import_module

            found = globals()[name] = getattr(import_module(_LAZY[name]), name)  # for the next access
            return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *_LAZY})
