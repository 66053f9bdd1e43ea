"""The table of measures, and their names in files, in reports and on the command line.

A name is written ``NAME(option=value, ...)@cutoff``. Measures that ir_measures also has use its names and definitions.
The names of trec_eval are synonyms. ``parse("AP(norm=min)@10")`` makes a `Measure`, which you call with a curve.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import lru_cache
from numbers import Rational
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from hitcurve._base.checks import check_choice, quoted
from hitcurve._kernel.formulas import readings
from hitcurve._trec_names import PARAMETERS, names_here

if TYPE_CHECKING:
    from fractions import Fraction
    from typing import TypeAlias

    from typing_extensions import TypeIs

    from hitcurve import GainCurve, GainCurves, HitCurve, HitCurves, SubtopicCurve, SubtopicCurves

    _Curves: TypeAlias = HitCurve | HitCurves | GainCurve | GainCurves | SubtopicCurve | SubtopicCurves

__all__ = ["MEASURES", "SYNONYMS", "TIES", "Definition", "Measure", "Option", "Synonym", "parse"]

LEAST = 1e-5  # in a geometric mean, smaller values count as this value, as in trec_eval
#: The values of ``ties=``: the ways to interpret tied scores.
TIES = ("expected", "best", "worst", "threshold")
_ORDERS = TIES[:3]
_BOUNDS = TIES[1:3]
#: What computes measures of subtopics, besides SubtopicCurve.
OF_SUBTOPICS = ("hitcurve.evaluate", "`hitcurve trec`")


class Synonym(NamedTuple):
    """Another library's name for a measure. The names of trec_eval are not here, but in the records of `MEASURES`.

    Attributes
    ----------
    name : str
        The other library's name.
    ours : str
        The name of the measure's record.
    options : str
        The options that the name implies, such as ``norm=min``.
    users : str
        The libraries or authors that use the name.
    """

    name: str
    ours: str
    options: str
    users: str


#: The names that other libraries use for hitcurve's measures.
SYNONYMS: tuple[Synonym, ...] = tuple(Synonym(*row) for row in (
    ("MAP", "AP", "", "BEIR, MTEB, ranx, ir_measures"), ("Precision", "P", "", "MTEB, ranx, ir_measures"),
    ("Recall", "R", "", "BEIR, MTEB, ranx, ir_measures"), ("R_cap", "R", "norm=min", "BEIR"),
    ("retrieval_precision", "P", "", "torcheval"), ("retrieval_recall", "R", "", "torcheval"),
    ("MRR", "RR", "", "BEIR, MTEB, ranx, ir_measures"), ("reciprocal_rank", "RR", "", "torcheval"),
    ("RecipRank", "RR", "", "LensKit"), ("hit_rate", "Success", "", "ranx"),
    ("hit_ratio", "Success", "", "He et al. 2017, WWW"), ("HR", "Success", "", "Elliot"),
    ("Hit", "Success", "", "RecBole"),
    ("NDCG", "nDCG", "", "BEIR, MTEB, ranx, ir_measures"), ("ndcg_burges", "nDCG", "dcg=exp-log2", "ranx"),
    ("dcg_burges", "DCG", "dcg=exp-log2", "ranx"), ("areaUnderROC", "ROCAUC", "", "Spark"),
    ("ordered_pair_accuracy", "OPA", "", "TF-Ranking"), ("r_precision", "Rprec", "", "Recommenders"),
    ("RPrec", "Rprec", "", "ir_measures"), ("r-precision", "Rprec", "", "ranx"), ("BPref", "Bpref", "", "ir_measures"),
    ("SetRelP", "SetP", "relative", "ir_measures"), ("MPR", "MeanPercentileRank", "", "Hu, Koren & Volinsky"),
    ("Q-measure", "Q", "", "Sakai"),
    ("α_DCG", "alpha_DCG", "", "ir_measures"), ("alpha-DCG", "alpha_DCG", "", "ndeval"),
    ("α_nDCG", "alpha_nDCG", "", "ir_measures"), ("alpha-nDCG", "alpha_nDCG", "", "ndeval"),
    ("ERR-IA", "ERR_IA", "", "ndeval"), ("nERR-IA", "nERR_IA", "", "ndeval"),
    ("MAP_IA", "AP_IA", "", "ir_measures"), ("MAP-IA", "AP_IA", "", "ndeval"), ("P-IA", "P_IA", "", "ndeval"),
    ("strec", "StRecall", "", "ndeval"),
))
# The options that a name of trec_eval implies.
_MEANT = {
    "rbp": "p=0.9", "rbp_resid": "p=0.9", "set_relative_P": "relative", "iprec_at_recall_X": "levels=trec_eval10",
    "11pt_avg": "levels=trec_eval10",
    **dict.fromkeys(("prefs_simp_ret", "prefs_pair_ret", "prefs_avgjg_ret", "prefs_avgjg_Rnonrel_ret",
                     "prefs_num_prefs_ful_ret"), "pairs=both"),
    **dict.fromkeys(("prefs_simp_imp", "prefs_pair_imp", "prefs_avgjg_imp"), "pairs=any"),
}
# Hints for names with several meanings or without a measure. The keys are the letters and digits in lower case.
_ROC, _PR = (
    "the area under the ROC curve is ROCAUC",
    "the area under precision over recall is AP; with straight lines between the points it is AP(interp=trapezoid)",
)
_UNCLEAR = {
    **dict.fromkeys(("auroc", "aucroc"), _ROC), **dict.fromkeys(("prauc", "aucpr", "auprc", "aupr"), _PR),
    "gauc": "GAUC is the mean of ROCAUC over users or groups, weighted by their items: with HitCurves it is "
            "curves.mean('ROCAUC', weights=curves.num_items); RecBole weighs by the relevant items "
            "(weights=curves.num_relevant), Elliot and CatBoost (QueryAUC) do not weigh",
    **dict.fromkeys(("dsc", "fmeasure", "fscore"), "the harmonic mean of precision and recall is F1@K, of beta 2 F2@K"),
    "arp": "the average relevance position of TF-Ranking is MeanRank, with levels as weights; Elliot's ARP is the "
           "popularity of the listed items, which hitcurve does not have",
    "mar": "Elliot's MAR is the mean of R@1, R@2, ..., R@K, which has no name here",
    "lauc": "Elliot's LAUC is ROC AUC of the first K items, which has no name here; the area up to a false "
            "positive rate is ROCAUC(max_fpr=0.1)",
    **dict.fromkeys(("pauc", "partialauc"), "the area up to a false positive rate is ROCAUC(max_fpr=0.1)"),
    **dict.fromkeys(("rbo", "rankbiasedoverlap"), "rank-biased overlap compares two rankings: it is hitcurve.rbo"),
    **dict.fromkeys(("handtill", "multiclassrocauc"), "the area of several classes is hitcurve.multiclass_roc_auc"),
    **dict.fromkeys(("roccurve", "calcroc", "precisionrecallcurve", "detcurve"),
                    "curves have no name here: HitCurve has the methods roc_curve and precision_recall_curve, and "
                    "hitcurve.compat.sklearn_metrics has det_curve"),
    "runid": "it is the tag of a run, which `hitcurve trec --format trec` prints",
    "relstring": "it is a text, which Evaluation.level_strings and `hitcurve trec --format trec` have",
    "adjustedlogauc": "the adjusted logAUC is logAUC(adjusted)",
    "topkaccuracy": "BEIR's top-k accuracy is Success@K",
    "auc": "the area under the ROC curve is ROCAUC; the area under the precision-recall curve is AP",
}
# The measures of all documents of a run, which ranx means by a name without a cutoff.
_OF_ALL = {"P": "SetP", "R": "SetR", "Hits": "NumRelRet", "F": "SetF"}


class Option(NamedTuple):
    """One option of a measure, as written in the brackets of a name.

    Attributes
    ----------
    name : str
        The name of the option.
    keyword : str
        The argument of the curve's method that the option sets.
    convert : callable
        Makes the value of the argument from its text.
    bare : bool
        True if the option is written without ``name=``, as in ``BEDROC(20)`` or ``logAUC(adjusted)``.
    needed : bool
        True if a name must give the option.
    """

    name: str
    keyword: str
    convert: Callable[[str], Any]
    bare: bool = False
    needed: bool = False


class Definition(NamedTuple):
    """The record of a measure: its names, definition, source and options, and the method that computes it.

    Attributes
    ----------
    name : str
        The name of the measure without options and cutoff.
    forms : tuple of str
        Examples of its names with options and cutoffs.
    definition, source : str
        What the measure is, and the publication or program that defines it.
    of : tuple of str
        The data that it needs. ``"hits"``: a hit curve. ``"gains"``: a gain curve. ``"judged"``: the documents of a
        run, which are relevant, judged not relevant, or without a judgment. ``"levels"``: these documents with their
        levels. ``"all"``: the judgments of all queries. ``"subtopics"``: items with a level for each subtopic.
        ``"preferences"``: judgments of several groups, or the levels, each as preferences.
    method : str
        The method or attribute of the curves that computes it.
    synonyms : tuple of str
        Its names in trec_eval. ``K`` stands for a whole number, ``X`` for a decimal.
    cutoffs : tuple of str
        The arguments that a cutoff can set: ``k`` (a rank), ``fraction`` or ``fpr`` (a share in percent), ``recall`` (a
        level). An empty string says that the measure needs no cutoff.
    ties : tuple of str
        The values of ``ties=`` that it has. Empty if ties make no difference, or if `ordered`.
    reading : str
        When ``ties="expected"`` is not the mean over all orders, or "best" and "worst" are not bounds.
    options : tuple of Option
        Its options, except ``rel``, ``judged_only`` and ``ties``.
    defaults : tuple of (str, value)
        The values for options that a name leaves out. The canonical name shows them.
    mean : {"arithmetic", "geometric", "sum"}
        The mean over queries. In the geometric mean, values below 0.00001 count as 0.00001.
    of_all : bool
        True if it needs the rank of every item, also of level 0. A run of a search engine lacks these ranks.
    ordered : bool
        True if it is defined for a single order only: ties are an error if their order changes the value.
    lower_is_better : bool
        True if low values are good. ``ties="best"`` is then the least value, and ``ties="worst"`` is the greatest.
    gaps : bool
        True if a query with a relevant item may have no value. The value is then NaN, and the mean leaves it out.
    report : tuple of (str, str)
        The names of its rows in a report, each with a note. ``@%`` stands for each share of the list, ``@K`` for each
        list size, and ``{at}`` in a note for the cutoff.
    """

    name: str
    forms: tuple[str, ...]
    definition: str
    source: str
    of: tuple[str, ...] = ("hits",)
    method: str = ""
    synonyms: tuple[str, ...] = ()
    cutoffs: tuple[str, ...] = ("",)
    ties: tuple[str, ...] = ()
    reading: str = ""
    options: tuple[Option, ...] = ()
    defaults: tuple[tuple[str, Any], ...] = ()
    mean: str = "arithmetic"
    of_all: bool = False
    ordered: bool = False
    lower_is_better: bool = False
    gaps: bool = False
    report: tuple[tuple[str, str], ...] = ()

    @property
    def of_runs(self) -> bool:
        """Whether a run of a search engine, which lists only some documents of a collection, can have this measure."""
        return not self.of_all

    @property
    def graded(self) -> bool:
        """Whether it uses the levels of relevance themselves, and not only which items are relevant."""
        return not {"hits", "judged", "subtopics"} & {*self.of}


class Measure(NamedTuple):
    """A measure with its options and cutoff. `parse` makes measures.

    Call a measure with a curve: ``measure(curve, ties="expected")`` is a number for a `HitCurve`, and an array with a
    value for each ranking for `HitCurves`. An option ``ties=`` in the name takes precedence.

    Attributes
    ----------
    name : str
        The canonical name. It replaces synonyms, has the options in a fixed order, and shows the defaults of the
        record, as in ``BEDROC(20)``.
    record : Definition
        The row of `MEASURES` that defines the measure.
    keywords : tuple of (str, value)
        The arguments for the curve's method.
    ties : str or None
        The value of the option ``ties=``, if the name has this option.
    rel : int or None
        The lowest relevant level, if the name has the option ``rel=``.
    judged_only : bool
        True if documents without a judgment are first removed from the ranking.
    """

    name: str
    record: Definition
    keywords: tuple[tuple[str, Any], ...]
    ties: str | None = None
    rel: int | None = None
    judged_only: bool = False

    def reading(self, ties: str = "expected", levels: bool = False, subtopics: bool = False) -> str:
        """How a call with `ties` interprets ties: as the name's option ``ties=`` says, or else as `ties` says.

        `levels` is True for a call with a `GainCurve` or `GainCurves`, and `subtopics` for a call with a
        `SubtopicCurve` or `SubtopicCurves`.

        Raises
        ------
        ValueError
            If `ties` is unknown, or if the measure is not defined for it.
        """
        record = self.record
        if "subtopics" in record.of and (not subtopics or self.judged_only):
            what = "judgments" if self.judged_only else "items"
            places = ("hitcurve.SubtopicCurve",) * (not self.judged_only) + OF_SUBTOPICS
            raise ValueError(f"{self.name} needs {what} with subtopics: use {_listed(places)}")
        if subtopics and "subtopics" not in record.of:  # it is read from the highest levels
            return self.reading(ties, levels=True)
        if levels and self.judged_only:
            raise ValueError(f"{self.name} needs judgments: use hitcurve.evaluate or `hitcurve trec`")
        if levels and "gains" not in record.of:
            return self._replace(rel=None).reading(ties)
        if not (levels or subtopics) and ("hits" not in record.of or self.rel is not None or self.judged_only):
            plain = "gains" in record.of and not self.judged_only
            ways = ("hitcurve.GainCurve",) * plain + ("hitcurve.evaluate", "`hitcurve trec`") * record.of_runs
            what = "items" if "gains" in record.of else "judgments"
            raise ValueError(f"{self.name} needs {what} with levels: use {_listed(ways)}")
        ties = check_choice(self.ties or ties, "ties", TIES)
        allowed = record.ties
        if levels and "levels" in record.of:  # a curve has no documents without a judgment
            allowed = _ORDERS
        if allowed and ties not in allowed:
            raise ValueError(f"{self.name} is not defined for ties={ties!r}: use {_listed(allowed)}")
        return ties

    def __call__(self, curve: _Curves, ties: str = "expected") -> Any:
        """Compute the measure of `curve`: a number, or an array with a value for each ranking.

        For a binary measure of a `GainCurve` or `GainCurves`, the items of level `rel` or higher are relevant. Without
        `rel` the items of level 1 or higher are relevant. In a `SubtopicCurve` or `SubtopicCurves` an item has, for a
        measure without subtopics, its highest level over the subtopics.
        """
        record, levels, subtopics = self.record, of_levels(curve), of_subtopics(curve)
        if subtopics and "subtopics" not in record.of:
            return self(curve.highest_levels(), ties)  # type: ignore[union-attr]
        ties = self.reading(ties, levels, subtopics)
        if levels and "gains" not in record.of:
            hits = curve.at_level(1 if self.rel is None else self.rel)  # type: ignore[union-attr]
            if record.name == "NumRet" and self.rel is not None:
                return hits.num_hits  # as ir_measures and evaluate count
            return self._replace(rel=None)(hits, ties)
        value = getattr(curve, record.method)
        if not callable(value):
            return value
        keywords = dict(self.keywords)
        if subtopics and self.rel is not None:
            keywords["relevance_level"] = self.rel
        if record.ties:
            keywords["ties"] = ties
        return value(**keywords)

    def empty(self, curve: _Curves) -> Any:
        """Whether `curve` has no relevant item for this measure: a bool, or an array with a bool for each ranking.

        In a `GainCurve` or `GainCurves` the measure decides which items are relevant. For a binary measure these are
        the items of level `rel` or higher, or of level 1 or higher without `rel`. For a measure of levels they are the
        items above level 0, or above level `min_rel`, for a measure of gains the items with a gain above 0, and for GAP
        the items of its least threshold or higher. For a measure of subtopics they are the items of level `rel` or
        higher for any subtopic.
        """
        if of_subtopics(curve):
            if "subtopics" not in self.record.of:
                return self.empty(curve.highest_levels())
            return curve.num_subtopics(self.relevant_level()) == 0
        if not of_levels(curve):
            return curve.num_relevant == 0
        if "gains" not in self.record.of:
            return curve.at_level(1 if self.rel is None else self.rel).num_relevant == 0
        gain = dict(self.keywords).get("gain")
        if isinstance(gain, ByLevel):
            ideal = curve.ndcg(gain=gain)
            return ideal != ideal
        least = dict(self.keywords).get("min_rel")
        level = self.lowest_level() if least is None else math.nextafter(least, math.inf)
        return (curve.at_level(level) if level > 1 else curve).num_relevant == 0

    def relevant_level(self, relevance_level: float = 1) -> float:
        """The lowest relevant level: `rel` if the name has it, 1 for measures of levels, else `relevance_level`."""
        return self.rel if self.rel is not None else 1 if self.record.graded else relevance_level

    def lowest_level(self, relevance_level: float = 1) -> float:
        """The lowest whole level that the measure uses: for GAP its least threshold, else `relevant_level`."""
        if "min_rel" in dict(self.keywords):
            return int(dict(self.keywords)["min_rel"]) + 1
        weights = dict(self.keywords).get("weights")
        by_level = weights.items() if isinstance(weights, ByLevel) else ()
        thresholds = [level for level, weight in by_level if weight > 0 and level > 0]
        return min(thresholds, default=self.relevant_level(relevance_level))

    def __str__(self) -> str:
        return self.name


class ByLevel(dict[int, float]):
    """A number for each level, as an argument of a measure. It never changes.

    Attributes
    ----------
    otherwise : {"", "linear", "exponential"}
        The gain of a level that is not listed. An empty string makes such a level an error.
    """

    def __init__(self, numbers: Any, otherwise: str = "") -> None:
        super().__init__(numbers)
        self.otherwise = otherwise

    def __missing__(self, level: float) -> float:
        if not self.otherwise:
            raise KeyError(level)
        if self.otherwise == "linear":
            return level
        return 2**level - 1 if level < 1024 else math.inf  # an infinite gain is an error later

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, dict) and dict(self) == dict(other)
        return same and self.otherwise == getattr(other, "otherwise", "")

    def __ne__(self, other: object) -> bool:  # that of dict knows nothing of `otherwise`
        return not self.__eq__(other)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash((*self.items(), self.otherwise))

    def __reduce__(self) -> Any:
        return ByLevel, (dict(self), self.otherwise)


def as_measure(measure: str | Measure) -> Measure:
    """The measure that has this name. A measure is returned as it is."""
    return measure if isinstance(measure, Measure) else parse(measure)


def of_levels(curve: _Curves) -> TypeIs[GainCurve | GainCurves]:
    """Whether the items of the curves have levels."""
    return bool(curve._family == "gains")


def of_subtopics(curve: _Curves) -> TypeIs[SubtopicCurve | SubtopicCurves]:
    """Whether the items of the curves have subtopics."""
    return bool(curve._family == "subtopics")


def _listed(words: tuple[str, ...], joint: str = "or") -> str:
    *head, last = words
    return f"{', '.join(head)} {joint} {last}" if head else last


# Conversions of a value from its text. Not by float() alone: it also takes "1_0", "inf" and "nan".
_REAL = r"(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?"


def _choice(*words: str) -> Callable[[str], str]:
    def convert(text: str) -> str:
        if text not in words:
            raise ValueError(f"must be {_listed(words)}")
        return text

    return convert


def _number(what: str, pattern: str, low: float, high: float, kind: type = float) -> Callable[[str], Any]:
    def convert(text: str) -> Any:
        if not re.fullmatch(pattern, text, re.ASCII) or not low < kind(text) < high:
            raise ValueError(f"must be {what}")
        return kind(text)

    return convert


_finite = _number("a number", "-?" + _REAL, -math.inf, math.inf)
_positive = _number("a number above 0", _REAL, 0, math.inf)
_share = _number("a number between 0 and 1", _REAL, 0, 1)
_whole = _number("a whole number", r"-?\d+", -1e9 - 1, 1e9 + 1, int)


def _flag(text: str) -> bool:
    return _choice("True", "False")(text) == "True"


def _recall(text: str) -> Fraction:
    from fractions import Fraction

    # As trec_eval writes levels, "0.10" and ".1" alike.
    if not re.fullmatch(r"\d+(\.\d*)?|\.\d+", text, re.ASCII) or len(text.lstrip("0")) > 12 or Fraction(text) > 1:
        raise ValueError("must be a recall level from 0 to 1")
    return Fraction(text)


def _weights(text: str) -> tuple[float, ...]:
    try:
        _, _, _, _ = weights = tuple(_finite(one.strip()) for one in text.split("/"))
    except ValueError:
        raise ValueError("must be four numbers, as in 1/-1/0/0") from None
    return weights


def _gains(text: str) -> tuple[tuple[int, float], ...]:
    pairs = [one.split(":") for one in text[1:-1].split(",")]
    try:
        gains = {_whole(level.strip()): _finite(gain.strip()) for level, gain in pairs}
    except ValueError:
        gains = {}
    if text[:1] + text[-1:] != "{}" or len(gains) < len(pairs):
        raise ValueError("must give each level once, with its gain, as in {1:1, 2:3}")
    return tuple(sorted(gains.items()))


_ALPHA = (Option("alpha", "alpha", _positive, bare=True),)
_AP = (
    Option("norm", "normalize", _choice("min", "relevant", "hits")),
    Option("interp", "interpolation", _choice(
        "11-point", "101-point", "all-point", "trapezoid", "trapezoid-from-1", "continuous", "11-point-float",
        "101-point-float")),
)
_GAINS = (Option("gains", "gain", _gains),)
_PAIRS = (Option("pairs", "pairs", _choice("all", "any", "both")),)
_BOTH = (Option("pairs", "pairs", _choice("all", "both")),)
_LEVELS = Option("levels", "levels", _choice("exact", "trec_eval9", "trec_eval10"))
_P = (Option("p", "p", _share),)
_NORMALIZE = Option("normalize", "normalize", _choice("True", "False"))
_LEAST_LEVEL = Option("min_rel", "min_rel", _number("a number that is at least 0", _REAL, -1, math.inf))
_WANTED = (Option("T", "T", _positive), Option("max_rel", "max_rel", _positive), _LEAST_LEVEL)
_SCALE = (Option("max_rel", "max_rel", _positive, needed=True), _LEAST_LEVEL)
_CHANGES = tuple(Option(name, name, _number("a number that is at least 0", _REAL, -1, high)) for name, high in (
    ("hb", math.inf), ("hc", math.inf), ("gain_med", 1 + 2**-52)))
_OF_RUNS = (Option("rel", "rel", _whole), Option("judged_only", "judged_only", _flag))
_AT = ("k", "fraction")
_TOP = ("", "k")
_NOVELTY = Option("alpha", "alpha", _number("a number from 0 to 1", _REAL, -1, 1.0000000000000002))
_NORM = Option("norm", "normalize", _choice("none", "max"))
_IDEAL = Option("ideal", "ideal", _choice("greedy", "exact"))
_UNIFORM = "best and worst only where the relevant items of each tie group have the same subtopics"

_READINGS = readings()
_PREFERENCES: dict[str, Any] = {"ties": _ORDERS, "of": "levels preferences"}
_CIRCLE = "best and worst: no value if the preferences of several groups between tied documents form a circle"


def _row(name: str, forms: str, definition: str, source: str, synonyms: str = "", **others: Any) -> Definition:
    """A record of the table. A measure of hit curves has the ``ties`` that its kernel has."""
    of = tuple(others.pop("of", "hits").split())
    others = {"of": of, "ties": TIES[: _READINGS.get(others.get("method", ""), 0)] if "hits" in of else (), **others}
    others |= {key: tuple(others.get(key, {}).items()) for key in ("defaults", "report")}
    return Definition(name, tuple(forms.split()), definition, source, synonyms=tuple(synonyms.split()), **others)


#: A record for each measure: its names, definition, source and values of ``ties=``.
MEASURES: tuple[Definition, ...] = (
    _row("AP", "AP AP@10 AP(norm=min)@10 AP(norm=hits)@10 AP(interp=11-point) AP(ties=worst)",
         "average precision: the sum of the precision at each relevant item, divided by R (norm=min: by min(k, R); "
         "norm=hits: by the relevant items among the first k)",
         "Zhu 2004, Recall, Precision and Average Precision; ties: McSherry & Najork 2008, ECIR",
         method="average_precision", synonyms="map map_cut_K map_avgjg", cutoffs=_TOP, options=_AP,
         reading="interp=11-point, 101-point, all-point (and -float): expected is that of the mean hit curve; "
         "interp=continuous: expected spreads hits evenly over a group, as threshold does; neither is the mean over "
         "the orders. norm=hits: best and worst are no bounds: fewer hits above the cutoff may give more",
         report={"AP": "average precision"}),
    _row("P", "P@10 P@1% P(norm=ranked)@10",
         "precision: relevant items among the first k, divided by k",
         "Kent, Berry, Luehrs & Perry 1955, American Documentation 6:93; norm=ranked, divided by min(k, N): XGBoost, "
         "CatBoost, TF-Ranking",
         method="precision", synonyms="P_K P_avgjg_K", cutoffs=_AT,
         options=(Option("norm", "normalize", _choice("k", "ranked")),),
         report={"P@K": "hit rate: as a share of the {at}"}),
    _row("R", "R@1000 R@1% R(norm=min)@10",
         "recall: relevant items among the first k, divided by R (norm=min: by min(k, R))",
         "Kent, Berry, Luehrs & Perry 1955, American Documentation 6:93", method="recall", synonyms="recall_K",
         cutoffs=_AT, options=(Option("norm", "normalize", _choice("min", "relevant")),)),
    _row("Hits", "Hits@500 Hits@1%", "hits: the number of relevant items among the first k, h(k)",
         "Zhu 2004, Recall, Precision and Average Precision", method="hits_at", cutoffs=_AT,
         report={"Hits@K": "relevant items among the first {at}"}),
    _row("F", "F1@10 F0.5@10 F2@1%", "F: the harmonic mean of precision and recall at k, recall weighted beta^2 times",
         "van Rijsbergen 1979, Information Retrieval, ch. 7", method="f_score", cutoffs=_AT),
    _row("Fallout", "Fallout@10 Fallout@1%",
         "fall-out: items among the first k that are not relevant, divided by all items that are not; lower is better",
         "van Rijsbergen 1979, Information Retrieval, ch. 7", method="fall_out", of_all=True, cutoffs=_AT,
         lower_is_better=True),
    _row("RR", "RR RR@10", "reciprocal rank: 1 / the rank of the first relevant item; 0 if it comes after k",
         "Voorhees 1999, The TREC-8 Question Answering Track Report", method="reciprocal_rank", synonyms="recip_rank",
         cutoffs=_TOP),
    _row("MeanRank", "MeanRank", "the mean rank of the relevant items; lower is better",
         "Bordes, Usunier, Garcia-Duran, Weston & Yakhnenko 2013, NIPS; ties: Wilcoxon 1945, Biometrics Bull. 1:80",
         of="hits gains", method="mean_rank", of_all=True, lower_is_better=True),
    _row("MeanPercentileRank", "MeanPercentileRank",
         "the mean of (rank - 1) / (N - 1) over the relevant items, 1/2 for a single item; gain curves weigh each item "
         "by its level; lower is better", "Hu, Koren & Volinsky 2008, ICDM", of="hits gains",
         method="mean_percentile_rank", ties=TIES, of_all=True, lower_is_better=True),
    _row("Rprec", "Rprec", "R-precision: precision at k = R",
         "Buckley & Voorhees 2005, Retrieval System Evaluation (in TREC, MIT Press)", method="r_precision",
         synonyms="Rprec"),
    _row("Success", "Success@5", "success: 1 if a relevant item is among the first k, else 0",
         "Craswell & Hawking 2004, Overview of the TREC-2004 Web Track", method="success", synonyms="success_K",
         cutoffs=_AT),
    _row("Chance", "Chance", "the expected average precision of a random order of the same items",
         "Bestgen 2015, Prague Bull. Math. Linguistics 103:131", method="chance", of_all=True,
         report={"Chance": "AP of a random order"}),
    _row("NormAP", "NormAP", "average precision on a scale of 0 (chance) .. 1 (perfect): (AP - chance) / (1 - chance)",
         "chance: Bestgen 2015, Prague Bull. Math. Linguistics 103:131; correction for it: Cohen 1960, Educ. Psychol. "
         "Meas. 20:37", method="normalized_average_precision", of_all=True,
         report={"NormAP": "AP between chance (0) and perfect (1)"}),
    _row("ROCAUC", "ROCAUC ROCAUC(max_fpr=0.1) ROCAUC(min_fpr=0.1,max_fpr=0.2) ROCAUC(min_tpr=0.9)",
         "area under the ROC curve: the share of relevant/other pairs in the right order, ties a half; min_fpr, "
         "max_fpr: between these false positive rates; min_tpr, max_tpr: beside the curve between these true positive "
         "rates; both on a scale of 1/2 (random) .. 1 (perfect)",
         "Hanley & McNeil 1982, Radiology 143:29; between rates: McClish 1989, Med. Decis. Making 9:190; true positive "
         "rates: Jiang, Metz & Nishikawa 1996, Radiology 201:745", method="roc_auc", of_all=True,
         options=tuple(Option(rate, rate, _share) for rate in ("min_fpr", "max_fpr", "min_tpr", "max_tpr")),
         report={"ROCAUC": "area under the ROC curve"}),
    _row("Accuracy", "Accuracy Accuracy@10",
         "the share of the pairs of a relevant and another item, both among the first k, that are in the right order; "
         "without a pair there is no value. It is not BEIR's Accuracy@k, which is Success@k",
         "ir_measures; without a cutoff it is ROC AUC of the ranked items: Hanley & McNeil 1982, Radiology 143:29",
         method="order_accuracy", cutoffs=_TOP, gaps=True,
         reading="orders without a pair among the first k do not count"),
    _row("AUPRG", "AUPRG",
         "area under precision gain over recall gain from 0 to 1; the gain of a precision or recall x is "
         "(x - p) / ((1 - p) x), p = R/N: 0 at the precision of a random order, 1 at the greatest",
         "Flach & Kull 2015, NIPS", method="prg_auc", of_all=True),
    _row("AUAC", "AUAC", "area under the accumulation curve, recall over the share of the list: 1/2 for a random order",
         "Truchon & Bayly 2007, J. Chem. Inf. Model. 47:488", method="auac", of_all=True,
         report={"AUAC": "area under the accumulation curve"}),
    _row("logAUC", "logAUC logAUC(adjusted) logAUC(min_fpr=0.01) logAUC(max_fpr=0.1)",
         "area under the ROC curve over log10 of the false positive rate from min_fpr (0.001) to max_fpr (1), divided "
         "by the area's width; adjusted: less that of a random order",
         "Mysinger & Shoichet 2010, J. Chem. Inf. Model. 50:1561", method="log_auc", of_all=True,
         options=(Option("adjusted", "adjusted", _flag, bare=True), Option("min_fpr", "min_fpr", _share),
                  Option("max_fpr", "max_fpr", _share)),
         report={"logAUC": "ROC area over log10 of the false positive rate",
                 "logAUC(adjusted)": "less that of a random order"}),
    _row("RIE", "RIE(20)",
         "robust initial enhancement: the mean of exp(-alpha rank/N) over the relevant items, divided by its value in "
         "a random order; alpha is 20 by default", "Sheridan et al. 2001, J. Chem. Inf. Comput. Sci. 41:1395",
         method="rie", of_all=True, report={"RIE(20)": "early recognition, 1 by chance"}, options=_ALPHA,
         defaults={"alpha": 20.0}),
    _row("BEDROC", "BEDROC(20) BEDROC(80.5)",
         "early recognition: RIE scaled to 0 (relevant items last) .. 1 (first); alpha is 20 by default",
         "Truchon & Bayly 2007, J. Chem. Inf. Model. 47:488", method="bedroc", of_all=True, options=_ALPHA,
         # Where 80 % of the score comes from in an exponential ranking: Truchon & Bayly 2007, table 1.
         defaults={"alpha": 20.0}, report={"BEDROC(20)": "early recognition, 0 to 1: the first 8 %",
         "BEDROC(80.5)": "the first 2 %", "BEDROC(160.9)": "the first 1 %", "BEDROC(321.9)": "the first 0.5 %"}),
    _row("EF", "EF@1% EF@100", "enrichment factor: precision at k divided by that of a random order, (h(k)/k) / (R/N)",
         "Pearlman & Charifson 2001, J. Med. Chem. 44:502", method="enrichment_factor", of_all=True, cutoffs=_AT,
         report={"EF@%": "hits in the first {at}, over chance; at most {most:.4g}"}),
    _row("NEF", "NEF@1% NEF@100", "normalised enrichment factor: EF divided by EFmax, h(k) / min(R, k)",
         "Liu et al. 2019, J. Chem. Inf. Model. 59:282", method="normalized_enrichment_factor",
         cutoffs=_AT, report={"NEF@%": "EF at {at} as a share of the most it can be"}),
    _row("EFmax", "EFmax@1% EFmax@100", "the largest enrichment factor any order could have, (min(R, k)/k) / (R/N)",
         "Truchon & Bayly 2007, J. Chem. Inf. Model. 47:488", method="max_enrichment_factor", of_all=True, cutoffs=_AT),
    _row("ROCE", "ROCE@1%", "ROC enrichment: the true positive rate at a false positive rate, divided by the latter",
         "Jain & Nicholls 2008, J. Comput.-Aided Mol. Des. 22:133", method="roc_enrichment", of_all=True,
         cutoffs=("fpr",), report={"ROCE@%": "TPR/FPR at {at} false positives"}),
    _row("NumRet", "NumRet NumRet(rel=2)", "N: the number of items ranked", "trec_eval", method="num_items",
         synonyms="num_ret", mean="sum"),
    _row("NumRel", "NumRel", "R: the number of relevant items, ranked or not", "trec_eval", method="num_relevant",
         synonyms="num_rel", mean="sum"),
    _row("NumRelRet", "NumRelRet", "the number of relevant items ranked", "trec_eval", method="num_hits",
         synonyms="num_rel_ret", mean="sum"),
    _row("NumQ", "NumQ", "the number of queries", "trec_eval", synonyms="num_q", mean="sum", of="judged"),
    _row("NumNonRelRet", "NumNonRelRet", "the number of documents ranked that are judged, but not relevant",
         "trec_eval", synonyms="num_nonrel_judged_ret", mean="sum", of="judged"),
    _row("GMAP", "GMAP", "AP, with the geometric mean over queries; values below 0.00001 count as 0.00001",
         "Robertson 2006, CIKM", method="average_precision", synonyms="gm_map", mean="geometric"),
    _row("DCG", "DCG DCG@10 DCG(dcg=exp-log2)@10 DCG(gains={1:1,2:10})@10",
         "discounted gain: the sum of gain / log2(rank + 1). The gain is the level of relevance (dcg=exp-log2: 2^level "
         "- 1)", "Jarvelin & Kekalainen 2002, ACM TOIS 20:422; Burges et al. 2005, ICML; ties: McSherry & Najork 2008",
         cutoffs=_TOP, ties=_ORDERS, options=(Option("dcg", "gain", _choice("log2", "exp-log2")), *_GAINS), of="gains",
         method="dcg"),
    _row("nDCG", "nDCG nDCG@10 nDCG(dcg=exp-log2)@10 nDCG(gains={1:1,2:10})@10",
         "the sum of gain / log2(rank + 1), divided by the same sum of the ideal order of all judged documents; "
         "the gain is the level of relevance (dcg=exp-log2: 2^level - 1), 0 below level 0",
         "Jarvelin & Kekalainen 2002, ACM TOIS 20:422; Burges et al. 2005, ICML; ties: McSherry & Najork 2008",
         synonyms="ndcg ndcg_cut_K", cutoffs=_TOP, ties=_ORDERS,
         options=(Option("dcg", "gain", _choice("log2", "exp-log2")), *_GAINS), of="gains", method="ndcg"),
    _row("NCRR", "NCRR NCRR@10 NCRR(rel=2)@10",
         "normalised cumulative reciprocal rank: the sum of 1 / rank over the relevant items among the first k, "
         "divided by the same sum of the ideal order",
         "Salah, Truong & Lauw 2020, J. Mach. Learn. Res. 21:95 (Cornac)", cutoffs=_TOP, ties=_ORDERS,
         options=(Option("rel", "relevance_level", _whole),), of="gains", method="ncrr"),
    _row("ERR", "ERR@20 ERR ERR(max=3)@20",
         "expected reciprocal rank: the sum over ranks of the chance that the user stops there, divided by the rank; a "
         "document of level g stops a user with chance (2^g - 1) / 2^max; max is 4 by default, as in TREC's gdeval",
         "Chapelle, Metzler, Zhang & Grinspan 2009, CIKM", cutoffs=_TOP, ties=_ORDERS,
         options=(Option("max", "max_level", _whole),), of="gains", method="err"),
    _row("RBP", "RBP(p=0.8) RBP(p=0.5,rel=2)@10",
         "rank-biased precision: (1 - p) times the sum of gain p^(rank - 1); p is 0.8 by default. With rel= relevant "
         "documents gain 1. Without it a document gains its level / the query's highest level (if above 1)",
         "Moffat & Zobel 2008, ACM TOIS 27:2", synonyms="rbp", cutoffs=_TOP, ties=_ORDERS,
         options=(*_P, Option("rel", "relevance_level", _whole)),
         defaults={"p": 0.8}, of="gains", method="rbp"),
    _row("Q", "Q(beta=1) Q(beta=1)@10 Q(beta=0.5,gains={1:1,2:10})",
         "Q-measure: the sum over relevant items of (h(r) + beta gain so far) / (r + beta gain of the ideal order so "
         "far), divided by R, at a cutoff by min(k, R); beta is 1 by default",
         "Sakai 2004, AIRS; Sakai & Robertson 2008, EVIA", cutoffs=_TOP, ties=_ORDERS,
         options=(Option("beta", "beta", _positive), *_GAINS), defaults={"beta": 1.0},
         of="gains", method="q_measure"),
    _row("NCU", "NCU NCU@10 NCU(stop=rbp,p=0.8) NCU(stop=rbp,p=0.8,utility=blended,beta=1)",
         "normalised cumulative utility: the mean precision where a user stops. Users stop at each relevant item with "
         "equal probability, or (stop=rbp) p times that of the relevant item before. utility=blended: the mean of the "
         "terms of Q in place of precision",
         "Sakai & Robertson 2008, EVIA", cutoffs=_TOP, ties=_ORDERS,
         options=(Option("stop", "stop", _choice("uniform", "rbp")), *_P,
                  Option("utility", "utility", _choice("precision", "blended")), Option("beta", "beta", _positive),
                  *_GAINS), of="gains", method="ncu"),
    _row("GAP", "GAP GAP(max=3)@10 GAP(weights={1:0.7,2:0.3})",
         "graded average precision: the mean of AP over the levels from which items may be relevant, by the weight of "
         "a level (equal by default) times the relevant items from that level up, at most k; the levels are those that "
         "occur in the ranking, with max=3 the levels 1, 2 and 3 of the scale",
         "Robertson, Kanoulas & Yilmaz 2010, SIGIR", cutoffs=_TOP, ties=_ORDERS,
         options=(Option("weights", "weights", _gains), Option("max", "max_level", _whole)),
         of="gains", method="graded_average_precision"),
    _row("AG", "AG@10 AG", "average gain: the mean gain of the first k items, or of all",
         "Jarvelin & Kekalainen 2002, ACM TOIS 20:422", cutoffs=_TOP, ties=_ORDERS, options=_GAINS, of="gains",
         method="average_gain"),
    _row("RBPResid", "RBPResid(p=0.8)",
         "the residual of RBP: what RBP would gain if all documents without a judgment were relevant",
         "Moffat & Zobel 2008, ACM TOIS 27:2; trec_eval 10", synonyms="rbp_resid", ties=_BOUNDS, options=_P,
         defaults={"p": 0.8}, of="gains levels", method="rbp_residual", lower_is_better=True),
    _row("INSQ", "INSQ(T=1) INSQ(T=3,max_rel=2)@10",
         "the sum of gain / (rank + 2T - 1)^2, divided by that of a gain of 1 at every rank; T, the gain that a user "
         "wants, is 1 by default; the gain is the level / max_rel, at most 1, by default the level / the ranking's "
         "highest level (if above 1)",
         "Moffat, Scholer & Thomas 2012, ADCS; Moffat, Bailey, Scholer & Thomas 2017, ACM TOIS 35:24",
         cutoffs=_TOP, ties=_ORDERS, options=_WANTED, defaults={"T": 1.0}, of="gains", method="insq"),
    _row("INST", "INST(T=1,ties=best) INST(T=3,max_rel=2,ties=worst)@10",
         "as INSQ, but the user decides by what is still missing of T: the user looks at the next rank with chance "
         "((i + T + T_i - 1) / (i + T + T_i))^2, T_i being T less the gain up to rank i",
         "Bailey, Moffat, Scholer & Thomas 2015, SIGIR; Moffat, Bailey, Scholer & Thomas 2017, ACM TOIS 35:24",
         cutoffs=_TOP, ties=_BOUNDS,
         options=_WANTED, defaults={"T": 1.0}, of="gains", method="inst"),
    _row("SDCG", "SDCG(max_rel=3)@10 SDCG(max_rel=4,min_rel=1)@10",
         "scaled DCG: the sum of gain / log2(rank + 1) over the first k ranks, divided by that of k documents of gain "
         "1; the gain is (level - min_rel) / (max_rel - min_rel), from 0 to 1; min_rel is 0 by default",
         "Jarvelin & Kekalainen 2002, ACM TOIS 20:422; scaled: Azzopardi, Thomas & Moffat 2019, SIGIR",
         cutoffs=("k",), ties=_ORDERS, options=(Option("dcg", "", _choice("log2")), *_SCALE), of="gains",
         method="sdcg"),
    _row("BPM", "BPM(T=1,max_rel=3)@10 BPM(T=1,max_rel=3,hb=1,hc=1,gain_med=0.5)@10",
         "bejeweled player model: the mean gain of the documents up to the first rank where the gain so far is at "
         "least T or the rank is at least k; T is 1 by default; the gain is as in SDCG; each document adds hb (gain - "
         "gain_med) to T and hc (gain - gain_med) to k; hb and hc are 0 and gain_med is 0.5 by default",
         "Zhang, Liu, Li, Zhang, Xu & Ma 2017, SIGIR",
         cutoffs=("k",), options=(Option("T", "T", _positive), *_SCALE, *_CHANGES), defaults={"T": 1.0}, of="gains",
         method="bpm", ordered=True),
    *(_row(f"NERR{equation}", forms,
           f"nearly ERR: the mean gain of a user who goes on after rank i with chance {chance}",
           f"Azzopardi, Mackenzie & Moffat 2021, ICTIR, equation {equation}", cutoffs=cutoffs, ties=_BOUNDS,
           options=options + _SCALE, defaults=defaults, of="gains", method=f"nerr{equation}")
      for equation, forms, chance, cutoffs, options, defaults in (
          (8, "NERR8(max_rel=3,ties=best)@10", "1 - gain, up to rank k; the gain is as in SDCG", ("k",), (), {}),
          (9, "NERR9(max_rel=3,ties=best)@10", "i / (i + 1) times 1 - gain, up to rank k; the gain is as in SDCG",
           ("k",), (), {}),
          (10, "NERR10(p=0.9,max_rel=3,ties=best) NERR10(p=0.9,max_rel=3,ties=worst)@10",
           "p times 1 - gain; p is 0.9 by default; the gain is as in SDCG", _TOP, _P, {"p": 0.9}),
          (11, "NERR11(T=1,max_rel=3,ties=best) NERR11(T=1,max_rel=3,ties=worst)@10",
           "((i + 2T - 1) / (i + 2T))^2 times 1 - gain; T is 1 by default; the gain is as in SDCG", _TOP,
           (Option("T", "T", _positive),), {"T": 1.0}))),
    _row("Compat", "Compat(p=0.95,ties=best) Compat(p=0.8,normalize=False,ties=worst)",
         "compatibility: the rank-biased overlap with the nearest ideal ranking, divided by that of the ideal ranking "
         "with itself (normalize=False: not divided); p is 0.95 by default. The ideal ranking has falling levels, and "
         "items of a level keep their order",
         "Clarke, Vtyurina & Smucker 2021, ACM TOIS 39:33", ties=_BOUNDS, options=(*_P, _NORMALIZE),
         defaults={"p": 0.95}, of="gains", method="compat"),
    _row("OPA", "OPA",
         "pairwise accuracy: the share of the pairs of items of differing level that are in the right order, ties a "
         "half",
         "Joachims 2002, KDD", ties=_ORDERS, of="gains", method="pairwise_accuracy", of_all=True),
    _row("SomersD", "SomersD", "Somers' D of the score on the level: 2 OPA - 1",
         "Somers 1962, Am. Sociol. Rev. 27:799", ties=_ORDERS, of="gains", method="somers_d",
         of_all=True),
    _row("Gamma", "Gamma",
         "Goodman and Kruskal's gamma: (right - wrong) / (right + wrong), the numbers of pairs of differing level that "
         "are in the right order and in the wrong order",
         "Goodman & Kruskal 1954, J. Am. Stat. Assoc. 49:732",
         of="gains", method="goodman_kruskal_gamma", of_all=True),
    _row("P_IA", "P_IA@20 P_IA(rel=2)@20",
         "intent-aware precision: the mean over the subtopics of their precision at k",
         "Agrawal, Gollapudi, Halverson & Ieong 2009, WSDM", cutoffs=("k",), ties=_ORDERS, of="subtopics",
         method="precision_ia"),
    _row("AP_IA", "AP_IA AP_IA(rel=2)",
         "intent-aware average precision: the mean over the subtopics of their average precision",
         "Agrawal, Gollapudi, Halverson & Ieong 2009, WSDM", ties=_ORDERS, of="subtopics",
         method="average_precision_ia", reading=_UNIFORM),
    _row("StRecall", "StRecall@20 StRecall",
         "subtopic recall: the share of the subtopics with a relevant item among the first k",
         "Zhai, Cohen & Lafferty 2003, SIGIR", cutoffs=_TOP, ties=_ORDERS, of="subtopics",
         method="subtopic_recall", reading=_UNIFORM),
    _row("alpha_DCG", "alpha_DCG(alpha=0.5,norm=max)@20 alpha_DCG(alpha=0.5,norm=none)@20",
         "discounted gain by novelty: the sum over ranks and subtopics of (1 - alpha)^(items with the subtopic "
         "above) / log2(rank + 1); alpha is 0.5 by default; norm=max, the default, divides by the value if each of the "
         "first k items had every subtopic, as ndeval does",
         "Clarke, Kolla, Cormack, Vechtomova, Ashkan, Buttcher & MacKinnon 2008, SIGIR", cutoffs=_TOP, ties=_ORDERS,
         options=(_NOVELTY, _NORM), defaults={"alpha": 0.5, "norm": "max"}, of="subtopics", method="alpha_dcg",
         reading=_UNIFORM),
    _row("alpha_nDCG", "alpha_nDCG(alpha=0.5)@20 alpha_nDCG(alpha=0.5,ideal=exact)@5",
         "alpha-DCG, divided by that of an ideal order of all items; the greedy order, the default, takes at each rank "
         "the item that adds most, which need not give the best order (ideal=exact)",
         "Clarke, Kolla, Cormack, Vechtomova, Ashkan, Buttcher & MacKinnon 2008, SIGIR", cutoffs=_TOP, ties=_ORDERS,
         options=(_NOVELTY, _IDEAL), defaults={"alpha": 0.5}, of="subtopics", method="alpha_ndcg",
         reading=_UNIFORM),
    _row("ERR_IA", "ERR_IA(alpha=0.5,norm=max)@20 ERR_IA(alpha=0.5,norm=none)@20",
         "intent-aware ERR: the mean over the subtopics of the sum of alpha (1 - alpha)^(items with the subtopic "
         "above) / rank; alpha is 0.5 by default; norm=max, the default, divides by the value if each of the first k "
         "items had every subtopic, as ndeval does",
         "Chapelle, Metzler, Zhang & Grinspan 2009, CIKM; Clarke, Craswell, Soboroff & Ashkan 2011, WSDM", cutoffs=_TOP,
         ties=_ORDERS, options=(_NOVELTY, _NORM), defaults={"alpha": 0.5, "norm": "max"}, of="subtopics",
         method="err_ia", reading=_UNIFORM),
    _row("nERR_IA", "nERR_IA(alpha=0.5)@20 nERR_IA(alpha=0.5,ideal=exact)@5",
         "ERR-IA, divided by that of an ideal order of all items, as in alpha_nDCG",
         "Chapelle, Metzler, Zhang & Grinspan 2009, CIKM; Clarke, Craswell, Soboroff & Ashkan 2011, WSDM", cutoffs=_TOP,
         ties=_ORDERS, options=(_NOVELTY, _IDEAL), defaults={"alpha": 0.5}, of="subtopics", method="nerr_ia",
         reading=_UNIFORM),
    _row("NRBP", "NRBP(alpha=0.5,beta=0.5)",
         "novelty- and rank-biased precision: (1 - (1 - alpha) beta) times the mean over the subtopics of the sum of "
         "(1 - alpha)^(items with the subtopic above) beta^(rank - 1); alpha and beta are 0.5 by default",
         "Clarke, Kolla & Vechtomova 2009, ICTIR", cutoffs=_TOP, ties=_ORDERS,
         options=(_NOVELTY, Option("beta", "beta", _share)), defaults={"alpha": 0.5, "beta": 0.5}, of="subtopics",
         method="nrbp", reading=_UNIFORM),
    _row("nNRBP", "nNRBP(alpha=0.5,beta=0.5) nNRBP(alpha=0.5,beta=0.5,ideal=exact)@5",
         "NRBP, divided by that of an ideal order of all items, as in alpha_nDCG",
         "Clarke, Kolla & Vechtomova 2009, ICTIR", cutoffs=_TOP, ties=_ORDERS,
         options=(_NOVELTY, Option("beta", "beta", _share), _IDEAL), defaults={"alpha": 0.5, "beta": 0.5},
         of="subtopics", method="nnrbp", reading=_UNIFORM),
    _row("Bpref", "Bpref",
         "the mean over relevant items of 1 - min(judged others ranked above it, R) / min(judged others, R); "
         "items without a judgment do not count", "Buckley & Voorhees 2004, SIGIR", synonyms="bpref", ties=_ORDERS,
         of="judged"),
    _row("GMBpref", "GMBpref", "Bpref, with the geometric mean over queries; values below 0.00001 count as 0.00001",
         "trec_eval", synonyms="gm_bpref", ties=_ORDERS, mean="geometric", of="judged"),
    _row("Pref", "Pref Pref(pairs=any) Pref(pairs=both)",
         "preferences fulfilled / all preferences, of all judgment groups: a preference is fulfilled if the preferred "
         "document ranks above the other, or alone was retrieved. pairs=any leaves out pairs of which no document was "
         "retrieved, pairs=both those of which a document was not retrieved",
         "Carterette & Bennett 2008, SIGIR (rpref; pairs=any: ppref); trec_eval",
         synonyms="prefs_simp prefs_simp_imp prefs_simp_ret", options=_PAIRS, reading=_CIRCLE, **_PREFERENCES),
    _row("PairPref", "PairPref PairPref(pairs=any) PairPref(pairs=both)",
         "the mean over pairs of documents of the share of a pair's preferences that is fulfilled; pairs= as for Pref",
         "trec_eval", synonyms="prefs_pair prefs_pair_imp prefs_pair_ret", options=_PAIRS, reading=_CIRCLE,
         **_PREFERENCES),
    _row("GroupPref", "GroupPref GroupPref(pairs=any) GroupPref(pairs=both)",
         "the mean of Pref over judgment groups, 0 for a group without preferences; pairs= as for Pref",
         "trec_eval", synonyms="prefs_avgjg prefs_avgjg_imp prefs_avgjg_ret", options=_PAIRS, reading=_CIRCLE,
         **_PREFERENCES),
    _row("GroupPrefR", "GroupPrefR GroupPrefR(pairs=both)",
         "GroupPref as if each group with R documents above level 0 had R documents of level 0 as well: the first R "
         "that it has, or more behind all others. The page of measures says where trec_eval counts more than that",
         "trec_eval", synonyms="prefs_avgjg_Rnonrel prefs_avgjg_Rnonrel_ret", options=_BOTH,
         reading=f"{_CIRCLE}. In a group with subgroups, no value if a tie decides which documents of level 0 are the "
         "first R", **_PREFERENCES),
    _row("NumPref", "NumPref", "the number of preferences of all judgment groups", "trec_eval",
         synonyms="prefs_num_prefs_poss", mean="sum", of="levels preferences"),
    _row("NumPrefMet", "NumPrefMet NumPrefMet(pairs=both)",
         "the number of preferences fulfilled: see Pref; pairs=both: of those between two retrieved documents",
         "trec_eval", synonyms="prefs_num_prefs_ful prefs_num_prefs_ful_ret", mean="sum", options=_BOTH,
         reading=_CIRCLE, **_PREFERENCES),
    _row("infAP", "infAP",
         "AP inferred where only a sample of the pool was judged (the rest of the pool: levels below 0)",
         "Yilmaz & Aslam 2006, CIKM", synonyms="infAP", ties=_BOUNDS, of="judged"),
    _row("IPrec", "IPrec@0.1 IPrec(levels=trec_eval9)@0.1",
         "interpolated precision: the highest precision at this recall or beyond. The level is reached with ceil(level "
         "R) hits, exactly; trec_eval 9 takes floor(level R + 0.9), 10 the nearest whole number",
         "Manning, Raghavan & Schutze 2008, Introduction to Information Retrieval, 8.4", synonyms="iprec_at_recall_X",
         cutoffs=("recall",), ties=_BOUNDS, options=(_LEVELS,), of="judged"),
    _row("IPrecAvg", "IPrecAvg IPrecAvg(levels=trec_eval9) IPrecAvg(at=0.2/0.5/0.8)",
         "the mean of IPrec at the recall levels 0, 0.1, ..., 1, or at those of at=", "trec_eval", synonyms="11pt_avg",
         ties=_BOUNDS, options=(_LEVELS, Option("at", "at", lambda text: tuple(map(_recall, text.split("/"))))),
         of="judged"),
    _row("SetP", "SetP SetP(relative)",
         "relevant items / all items ranked; relative: divided by its greatest possible value",
         "trec_eval", synonyms="set_P set_relative_P", of="judged",
         options=(Option("relative", "relative", _flag, bare=True),)),
    _row("SetR", "SetR", "relevant items ranked / R", "trec_eval", synonyms="set_recall", of="judged"),
    _row("SetF", "SetF SetF(beta=2)",
         "(beta + 1) P R / (beta P + R) of all items ranked; beta is 1 by default, and not squared", "trec_eval",
         synonyms="set_F", options=(Option("beta", "beta", _positive),), of="judged"),
    _row("SetAP", "SetAP", "SetP times SetR", "trec_eval", synonyms="set_map", of="judged"),
    _row("Judged", "Judged@10 Judged",
         "judged documents among the first k, divided by k, or by the number of documents ranked if that is less",
         "ir_measures", cutoffs=_TOP, ties=_ORDERS, of="levels"),
    _row("Unjudged", "Unjudged@10", "documents without a judgment among the first k, divided by k", "trec_eval 10",
         synonyms="unj_K", cutoffs=("k",), ties=_ORDERS, lower_is_better=True, of="levels"),
    _row("Hole", "Hole@10", "documents among the first k that have no judgment in any query, divided by k",
         "Thakur, Reimers, Ruckle, Srivastava & Gurevych 2021, NeurIPS Datasets and Benchmarks (BEIR)", cutoffs=("k",),
         ties=_ORDERS, lower_is_better=True, of="levels all"),
    _row("RelP", "RelP@10", "precision at k divided by its greatest possible value: h(k) / min(k, R)", "trec_eval",
         synonyms="relative_P_K", cutoffs=("k",), ties=_ORDERS, of="judged"),
    _row("RprecMult", "RprecMult(0.2)", "precision at a multiple x of R: at rank floor(x R + 0.9)", "trec_eval",
         synonyms="Rprec_mult_X Rprec_mult_avgjg_X", ties=_ORDERS,
         options=(Option("x", "multiple", _positive, bare=True),), defaults={"x": 1.0}, of="judged"),
    _row("Utility", "Utility Utility(2/-1/0/0)",
         "a weighted sum of relevant ranked, other ranked, relevant not ranked and other not ranked items (the last as "
         "if there were no other items); weights 1/-1/0/0 by default", "trec_eval", synonyms="utility",
         options=(Option("weights", "weights", _weights, bare=True),), of="judged"),
    _row("binG", "binG", "the mean over relevant items of 1 / log2(2 + others ranked above it)",
         "trec_eval, experimental", synonyms="binG", ties=_BOUNDS, of="judged"),
    _row("G", "G", "the sum of gain / log2(2 + ideal gain so far - gain so far), divided by all gain",
         "trec_eval, experimental", synonyms="G", ties=_BOUNDS, options=_GAINS, of="levels"),
    _row("nDCGrel", "nDCGrel", "nDCG at the rank of each document with a gain, averaged", "trec_eval, experimental",
         synonyms="ndcg_rel", ties=_BOUNDS, options=_GAINS, of="levels"),
    _row("RnDCG", "RnDCG", "nDCG at the ranks where the gain of the ideal order falls, averaged",
         "trec_eval, experimental", synonyms="Rndcg", ties=_BOUNDS, options=_GAINS, of="levels"),
)



_BETWEEN = re.compile(r"[\s,;|]+(?![^(]*\))")  # outside of brackets


def parse(name: str) -> Measure:
    """Make the measure that has this name.

    Parameters
    ----------
    name : str
        A name ``NAME(option=value, ...)@cutoff``. A cutoff is a rank (``@10``) or a share in percent (``@1%``, exactly
        ``ceil(N/100)`` items). For ROCE a share is a false positive rate. Every measure that depends on ties has the
        option ``ties=``. ``AP@10`` divides by R, as ir_measures and trec_eval's ``map_cut_10`` do. ``AP(norm=min)@10``
        divides by min(10, R), as the method ``average_precision(10)`` does by default. Names of trec_eval (``map``,
        ``P_10``, ``recall_1000`` ...), of BEIR and MTEB (``MAP@100``, ``ndcg_at_10``) and of ranx (``hit_rate@10``,
        ``precision@5-l2``, ``rbp.95``) are synonyms, also in lower case. A synonym has hitcurve's definition, and the
        ``ties`` of the call.

    Returns
    -------
    Measure

    Raises
    ------
    ValueError
        If the name is unknown (the message lists similar names), or if the measure does not take an option or cutoff.

    Examples
    --------
    >>> from hitcurve.measures import parse
    >>> parse("map_cut_10").name
    'AP@10'
    >>> parse("BEDROC").name, parse("hit_rate@5").name
    ('BEDROC(20)', 'Success@5')
    """
    if not isinstance(name, str):
        raise TypeError(f"name is {name!r}: a measure is named by a string")
    text = name.strip()
    try:
        return _parsed(text)
    except ValueError:
        if not (several := _several(text)):
            raise
    named = _listed(tuple(map(quoted, several)), "and")
    raise ValueError(f"{quoted(text)} holds {len(several)} names: give each by itself: {named}")


def _several(text: str) -> tuple[str, ...]:
    """The names of measures in a list of names; empty if it is no such list."""
    parts = tuple(filter(None, _BETWEEN.split(text)))
    try:
        return parts if len(parts) > 1 and all(map(_parsed, parts)) else ()
    except ValueError:
        return ()


def of_ir_measures(one: Any) -> bool:
    """Whether `one` is a measure of ir_measures. Its text is a name that `parse` takes."""
    return type(one).__module__.partition(".")[0] == "ir_measures"


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Measure:
    record, brackets, at, beta = _parts(text)
    head = record.name if beta is None else f"F{_plain(beta)}"
    keyword, value, cutoff = _cutoff(text, record, at, beta)
    options = {**dict(record.defaults), **_options(text, record, brackets)}
    if record.name == "AP":
        if keyword:
            if "interp" in options:
                raise ValueError(f"{text!r}: interp= cannot be combined with a cutoff")
            options.setdefault("norm", "relevant")
        elif "norm" in options:
            raise ValueError(f"{text!r}: norm= needs a cutoff: write {text}@10")
    elif (record.name, options.get("norm")) in (("R", "relevant"), ("P", "k")):  # as without it
        del options["norm"]
    elif options.get("pairs") == "all":
        del options["pairs"]
    _check_scale(text, record, options)
    if options.get("normalize") == "True":
        del options["normalize"]
    written = []
    for option in _taken(record):
        if option.name in options and (option.name, options[option.name]) != ("norm", "relevant"):
            shown = _shown(options[option.name])
            bare = option.name if shown == "True" else shown
            written.append(bare if option.bare else f"{option.name}={shown}")
    keywords = [] if beta is None else [("beta", beta)]
    keywords += [(keyword, value)] if keyword else []
    keywords += _arguments(record, options)
    return Measure(
        head + (f"({','.join(written)})" if written else "") + cutoff, record, tuple(keywords), options.get("ties"),
        options.get("rel"), "judged_only" in options)


def _check_scale(text: str, record: Definition, options: dict[str, Any]) -> None:
    """Checks the options for the scale of levels, and removes those that change nothing."""
    for option in record.options:
        if option.needed and option.name not in options:
            raise ValueError(f"{text!r}: {record.name} needs {option.name}=: write {_listed(record.forms)}")
    if options.get("min_rel", 0.0) >= options.get("max_rel", math.inf):
        raise ValueError(f"{text!r}: min_rel is {_shown(options['min_rel'])}, but must be below max_rel, which is "
                         f"{_shown(options['max_rel'])}")
    if options.get("min_rel") and "max_rel" not in options:
        raise ValueError(f"{text!r}: min_rel= needs max_rel=")
    if options.get("min_rel") == 0:
        del options["min_rel"]
    if record.name == "SDCG":  # the only value of dcg=
        options.pop("dcg", None)


def _arguments(record: Definition, options: dict[str, Any]) -> list[tuple[str, Any]]:
    """The options as arguments of the method."""
    found: dict[str, Any] = {}
    for option in record.options:
        if option.name in options:
            value = options[option.name]
            if option.name == "dcg":
                value = {"log2": "linear", "exp-log2": "exponential"}[value]
            elif option is _NORMALIZE:
                value = value == "True"
            elif option.convert is _gains:
                value = ByLevel(value, found.get("gain", "linear") if option.keyword == "gain" else "")
            found[option.keyword] = value
    return [*found.items()]


def _parts(text: str, said: str = "") -> tuple[Definition, str | None, str | None, float | None]:
    """(record, text in the brackets, text of the cutoff, beta of F) of a name."""
    said = said or text
    for pattern, ours in _GRAMMARS:
        match = re.fullmatch(pattern, text)
        if match is not None:
            return _parts(match.expand(ours), said)
    match = re.fullmatch(r"(.+)-l([0-9]+)", text)
    if match is not None:  # ranx's suffix for the lowest relevant level
        record, brackets, at, beta = _parts(match[1], said)
        if all(option.name != "rel" for option in _taken(record)):
            raise ValueError(f"{said!r}: {record.name} uses all levels; to ignore levels, give them gain 0, as in "
                             "nDCG(gains={1:0,2:2})@10")
        options = [(brackets or "").removesuffix(",rel=1"), f"rel={match[2]}"]
        return record, ",".join(filter(None, options)), at, beta
    match = re.fullmatch(r"([^()@]+)(?:\(([^()]*)\))?(?:@([^()@]*))?", text)
    if match is None:
        raise ValueError(f"{quoted(said)} is not a measure name: write NAME(option=value)@cutoff{_near(text)}")
    head, brackets, at = match.groups()
    head = head.strip()
    of_f = re.fullmatch(r"[Ff](\d+(?:\.\d+)?)?", head)
    if of_f:
        beta = float(of_f[1] or 1)
        if not 0 < beta < math.inf:
            raise ValueError(f"{said!r}: beta must be above 0 and finite")
        return next(record for record in MEASURES if record.name == "F"), brackets, at, beta
    found = _of_trec_eval(text) or _heads().get(head) or _heads().get(head.lower())
    if found is None and head.lower() not in _heads(ambiguous=True):
        found = _of_trec_eval(text.lower(), lower=True)
    if found is not None:
        record, meant, value = found
        if value is not None:
            return (record, value, None, None) if record.cutoffs == ("",) else (record, meant or None, value, None)
        return record, ",".join(filter(None, (meant, brackets))) if meant else brackets, at, None
    return _parts(_of_parameters(head, said), said) if brackets is at is None and "." in head else _unknown(
        text, said, head, brackets, at)


def _of_parameters(head: str, said: str) -> str:
    """The name of the measure for a name of trec_eval with a parameter, such as P.10."""
    of, _, parameters = head.partition(".")
    if not parameters or of not in PARAMETERS:
        _unknown(head, said, head, None, None)
    try:
        names = [parse(ours).name for *_, ours in names_here(of, parameters, 10) if ours]
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{said!r}: {error}") from None
    if len(names) > 1:
        raise ValueError(f"{said!r} stands for {len(names)} measures: {', '.join(names)}")
    return names[0] if names else _unknown(head, said, head, None, None)


def _unknown(text: str, said: str, head: str, brackets: str | None, at: str | None) -> NoReturn:
    """Raises the error for a name of trec_eval with options, of several meanings, or of no measure."""
    for record in MEASURES:
        if head in record.synonyms:
            meant = _MEANT.get(head, "")
            brackets = ",".join(filter(None, ("" if brackets and "p=" in brackets else meant, brackets)))
            ours = record.name + (f"({brackets})" if brackets else "") + ("" if at is None else f"@{at}")
            parse(ours)  # raises a clearer error if the options are wrong
            raise ValueError(f"{said!r}: trec_eval's name {head} takes no options or cutoff in this form: write {ours}")
    from hitcurve.tools import hint

    unclear = _UNCLEAR.get(_letters(head), "")
    if not unclear and _letters(head) not in map(_letters, _heads()):  # else the near names have the right spelling
        unclear = hint(head)
    unknown = f"{quoted(said)}: there is no measure {quoted(head)}"
    raise ValueError(unknown + (f": {unclear}" if unclear else _near(text)))


# How MTEB and ranx write options and cutoffs.
_GRAMMARS = ((r"([^()@]+)_at_([0-9]+)", r"\1@\2"), (r"rbp[.]([0-9]+)", r"RBP(p=0.\1,rel=1)"))
_Found = tuple[Definition, str, str | None]


def _of_trec_eval(text: str, lower: bool = False) -> _Found | None:
    """(record, implied options, number in the name) for a name of trec_eval. `lower`: the name is in lower case."""
    _, _, number = text.rpartition("_")
    kind = "K" if re.fullmatch("[0-9]+", number) else "X" if re.fullmatch("[0-9]+[.][0-9]+", number) else ""
    found = _trec_names(lower).get((text.removesuffix(number) if kind else text, kind))
    return (*found, number if kind else None) if found else None


@lru_cache(maxsize=2)
def _trec_names(lower: bool) -> dict[tuple[str, str], tuple[Definition, str]]:
    """{(name of trec_eval without its number, kind of the number): (record, implied options)}."""
    names = [(record, synonym, synonym.rstrip("KX")) for record in MEASURES for synonym in record.synonyms]
    return {(stem.lower() if lower else stem, synonym.removeprefix(stem)): (record, _MEANT.get(synonym, ""))
            for record, synonym, stem in names}


@lru_cache(maxsize=2)
def _heads(ambiguous: bool = False) -> dict[str, _Found]:
    """The records by names and synonyms, also in lower case. `ambiguous`: only lower-case names with two meanings."""
    records = {record.name: record for record in MEASURES if record.name != "F"}
    exact: dict[str, _Found] = {name: (record, "", None) for name, record in records.items()}
    exact |= {one.name: (records[one.ours], one.options, None) for one in SYNONYMS}
    lower = {name.lower(): found for name, found in exact.items()}
    twice = {name: found for name, found in lower.items() if (_of_trec_eval(name) or found) != found}
    return twice if ambiguous else {name: found for name, found in lower.items() if name not in twice} | exact


def _plain(value: float) -> str:
    """The text of a number without an exponent."""
    from decimal import Decimal

    return format(Decimal(_shown(value)), "f")


def _shown(value: Any) -> str:
    """The text of an option's value in a name."""
    if isinstance(value, Rational) and not isinstance(value, int):  # a recall level
        return _plain(float(value))
    if isinstance(value, float):  # the shortest text that stands for exactly this number
        text = format(value, ".15g")
        return text if float(text) == value else repr(value)
    if not isinstance(value, tuple):
        return str(value)
    if isinstance(value[0], tuple):
        return "{" + ",".join(f"{level}:{_shown(gain)}" for level, gain in value) + "}"
    return "/".join(map(_shown, value))


def _cutoff(text: str, record: Definition, at: str | None, beta: float | None) -> tuple[str, Any, str]:
    """(keyword for the cutoff, its value, its text in the name). The keyword is "" without a cutoff."""
    forms = _listed(tuple(form for form in record.forms if "@" in form) or record.forms)
    if at is None:
        if "" not in record.cutoffs:
            of_all = _OF_ALL.get(record.name, "") if beta in (None, 1.0) else ""
            raise ValueError(f"{text!r}: {record.name} needs a cutoff: {forms}"
                             + (f"; for all documents of a run, as in ranx, write {of_all}" if of_all else ""))
        return "", None, ""
    at = at.strip()
    if record.cutoffs == ("",):
        raise ValueError(f"{text!r}: {record.name} takes no cutoff: write {forms}")
    if record.cutoffs == ("recall",):
        level = _converted(text, "the cutoff", _recall, at)
        return "recall", level, f"@{_shown(level)}"
    if re.fullmatch(r"\d+", at, re.ASCII):
        if "k" not in record.cutoffs:
            raise ValueError(f"{text!r}: the cutoff of {record.name} is a share: {forms}")
        if not 1 <= int(at) <= 2**62:
            raise ValueError(f"{text!r}: a cutoff must be a rank from 1 to 2**62")
        return "k", int(at), f"@{int(at)}"
    several = re.split(r"[\s,;/|]+", at.strip("[]{} "))
    if len(several) > 1:
        names = [f"{text.rpartition('@')[0]}@{one}" for one in several if one]
        raise ValueError(f"{text!r}: a name has one cutoff: write {_listed(tuple(names), 'and')}")
    if not re.fullmatch(r"(\d+(\.\d*)?|\.\d+)%", at, re.ASCII):
        raise ValueError(f"{text!r}: {at!r} is not a cutoff: give a rank (10) or a share (1%)")
    if record.cutoffs[-1] in _TOP:
        raise ValueError(f"{text!r}: the cutoff of {record.name} is a rank: {forms}")
    from decimal import Decimal

    percent = Decimal(at[:-1]).normalize()
    if not 0 < percent <= 100:
        raise ValueError(f"{text!r}: a share must be above 0 and at most 100 %")
    # 17 digits are enough to write any float exactly, such as the float nearest to 1/19.
    if len(percent.as_tuple().digits) > 17:
        raise ValueError(f"{text!r}: a share must have at most 17 digits")
    return record.cutoffs[-1], float(percent / 100), f"@{percent:f}%"


def _converted(text: str, name: str, convert: Callable[[str], Any], value: str) -> Any:
    try:
        return convert(value)
    except ValueError as error:
        raise ValueError(f"{text!r}: {name} is {value!r}, but {error}") from None


def _taken(record: Definition) -> tuple[Option, ...]:
    """The options that a measure takes, in the order in which they are written."""
    ties = (Option("ties", "ties", _choice(*record.ties)),) if record.ties else ()
    return record.options + _OF_RUNS[record.graded :] * record.of_runs + ties


def _options(text: str, record: Definition, brackets: str | None) -> dict[str, Any]:
    """The options in the brackets. A flag that is False counts as not given."""
    options: dict[str, Any] = {}
    takes = _taken(record)
    # A comma within braces belongs to the value.
    for part in re.split(r",(?![^{}]*\})", brackets) if brackets is not None else []:
        name, equals, value = (piece.strip() for piece in part.partition("="))
        found = [one for one in takes if one.name == name and (equals or one.convert is _flag)]
        if not equals:
            found += [one for one in takes if one.bare and one.convert is not _flag]
            value = "True" if found and found[0].convert is _flag else name
        if found and found[0].name in options:
            raise ValueError(f"{text!r}: option {found[0].name!r} is given twice")
        if not found:
            allowed = tuple(one.name for one in takes)
            unknown = f"option {name!r} needs a value" if name in allowed else f"unknown option {part.strip()!r}"
            raise ValueError(f"{text!r}: {unknown if part.strip() else 'an option is missing'}; {record.name} takes "
                             + (_listed(allowed, "and") if allowed else "no options")
                             + ("; a cutoff is written after @" if name in _AT and record.cutoffs != ("",) else "")
                             + ("; levels below a lowest level gain 0 by gains=, as in {1:0,2:2}" * any(
                                 option.name == "gains" for option in takes) if name == "rel" else ""))
        options[found[0].name] = _converted(text, found[0].name, found[0].convert, value.strip("'\""))
    return {name: value for name, value in options.items() if value is not False}


def _near(text: str) -> str:
    """The names, with cutoffs, that are similar to a wrong name."""
    from difflib import SequenceMatcher

    head, mark, number = _split(re.sub(r"\([^)]*\)?", "", text[:100]))
    likeness = SequenceMatcher(b=head, autojunk=False)
    found = []
    for place, (key, form, record) in enumerate(_candidates()):
        likeness.set_seq1(key)
        if likeness.real_quick_ratio() <= 0.6 or likeness.ratio() <= 0.6:
            continue
        _, joint, cutoff = _split(form)
        alike = bool(cutoff) == bool(number)
        if cutoff and number and ("%" in number, "." in number.strip("%")) == ("%" in cutoff, "." in cutoff):
            form = form[: -len(cutoff)] + number
        elif number.endswith("%") and cutoff:
            alike = False
        begins = 0.15 * (len(head) >= 4 and key.startswith(head))
        style = 0.02 * (joint != mark) + 0.01 * (("_" in text) != ("_" in form))
        found.append((1 - likeness.ratio() + 0.05 * (not alike) + style - begins, place, form, record))
    near: dict[str, str] = {}
    for _, _, form, record in sorted(found):
        near.setdefault(record, form)
    if not near or not head:
        return "; the measures are " + ", ".join(record.name for record in MEASURES)
    return "; near names: " + ", ".join(list(near.values())[:3])


def _split(text: str) -> tuple[str, str, str]:
    """(letters and digits of a name in lower case, the mark before its cutoff, its cutoff)."""
    head, mark, number = re.fullmatch(r"(.*?)(?:(@|_at_?|_|)(\d[\d.]*%?))?", text, re.DOTALL).groups("")  # type: ignore[union-attr]
    return _letters(head), mark, number


def _letters(name: str) -> str:
    """The letters and digits of a name, in lower case."""
    return re.sub(r"[\W_]", "", name.lower())


@lru_cache(maxsize=1)
def _candidates() -> list[tuple[str, str, str]]:
    """(text to compare a wrong name with, the name to suggest, the name of its record)."""
    found = []
    for record in MEASURES:
        forms = [form for form in record.forms if "(" not in form] or [record.forms[0]]
        found += [(_split(form)[0] if "(" not in form else record.name.lower(), form, record.name) for form in forms]
        found += [(record.name.lower(), forms[0], record.name)]
        written = [one.replace("K", "10").replace("X", "0.10") for one in record.synonyms]
        named = [one.name for one in SYNONYMS if one.ours == record.name and one.name.isascii()]
        written += [f"{name}@10" for name in named if "k" in record.cutoffs]
        written += [name for name in named if "" in record.cutoffs]
        found += [(_split(form)[0], form, record.name) for form in written]
        found += [(record.method.replace("_", ""), forms[0], record.name)] * bool(record.method)
    return found
