"""The table of measures, and the names that stand for them in files, reports and on the command line.

A name is written ``NAME(option=value, ...)@cutoff``: the names and definitions of ir_measures where it has the
measure, trec_eval's own names as synonyms. ``parse("AP(norm=min)@10")`` gives a `Measure`, which is called on a curve.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from hitcurve._checks import check_choice

if TYPE_CHECKING:
    from hitcurve import HitCurve, HitCurves

__all__ = ["MEASURES", "TIES", "Definition", "Measure", "Option", "parse"]

TIES = ("expected", "best", "worst", "threshold")
_ORDERS = ("expected", "best", "worst")

# What others call a measure, and the options that a name of trec_eval's stands for.
_ALIASES = {
    "MAP": "AP", "Precision": "P", "Recall": "R", "MRR": "RR", "NDCG": "nDCG", "RPrec": "Rprec", "BPref": "Bpref",
}
_MEANT = {
    "rbp": "p=0.9",
    "rbp_resid": "p=0.9",
    "set_relative_P": "relative",
    "iprec_at_recall_X": "levels=trec_eval10",
    "11pt_avg": "levels=trec_eval10",
}


class Option(NamedTuple):
    """One option of a measure, as written between its brackets."""

    name: str
    keyword: str
    convert: Callable[[str], Any]
    bare: bool = False
    """Written without ``name=``: ``BEDROC(20)``, ``logAUC(adjusted)``."""


class Definition(NamedTuple):
    """One measure: how it is written, what it is, where it comes from, and what gives it."""

    name: str
    forms: tuple[str, ...]
    """Ways to write it, as examples."""
    definition: str
    source: str
    method: str = ""
    """The method or attribute of `HitCurve` and `HitCurves` that holds the value; none if it takes graded judgments."""
    kernel: str = ""
    """By what `hitcurve.evaluate` measures a run; none for measures that need all scores."""
    synonyms: tuple[str, ...] = ()
    """trec_eval's names; ``K`` stands for a number, ``X`` for one with decimals."""
    cutoffs: tuple[str, ...] = ("",)
    """The keywords a cutoff may go to: ``k`` (a rank), ``fraction`` or ``fpr`` (a share in percent), ``recall`` (a
    level); ``""`` means none needed."""
    ties: tuple[str, ...] = ()
    """The readings of ties it has; none where ties make no difference."""
    options: tuple[Option, ...] = ()
    defaults: tuple[tuple[str, Any], ...] = ()
    mean: str = "arithmetic"
    """Over queries: arithmetic, geometric (values below 0.00001 count as that) or sum."""
    graded: bool = False
    """Uses the levels of relevance themselves, so that ``rel=`` says nothing."""
    lower_is_better: bool = False
    """Its best reading of ties is the least value, its worst the greatest."""


class Measure(NamedTuple):
    """A measure with its options and cutoff fixed: what `parse` returns.

    Call it on a curve: ``measure(curve, ties="expected")`` is a number for a `HitCurve` and an array, one value per
    ranking, for `HitCurves`. Where the name itself says ``ties=``, that reading wins.

    Attributes
    ----------
    name : str
        The canonical text: synonyms resolved, options in a fixed order, defaults left out.
    record : Definition
        The row of `MEASURES` it belongs to.
    keywords : tuple of (str, value)
        What is passed to the curve's method.
    ties : str or None
        The reading of ties said by the name.
    rel : int or None
        The lowest level that counts as relevant, if the name says it.
    judged_only : bool
        Documents without a judgment are taken out of the ranking first.
    """

    name: str
    record: Definition
    keywords: tuple[tuple[str, Any], ...]
    ties: str | None = None
    rel: int | None = None
    judged_only: bool = False

    def reading(self, ties: str = "expected") -> str:
        """The reading of ties that a call with `ties` uses.

        Raises
        ------
        ValueError
            `ties` is unknown, or the measure has no such reading.
        """
        if not self.record.method or self.rel is not None or self.judged_only:
            raise ValueError(f"{self.name} needs judgments with levels: hitcurve.evaluate, or `hitcurve trec`")
        ties = self.ties or ties
        check_choice(ties, "ties", TIES)
        if self.record.ties and ties not in self.record.ties:
            raise ValueError(f"{self.name} has no reading of ties called {ties!r}, only {_listed(self.record.ties)}")
        return ties

    def __call__(self, curve: HitCurve | HitCurves, ties: str = "expected") -> Any:
        """The measure of `curve`: a number, or an array with one value per ranking."""
        ties = self.reading(ties)
        value = getattr(curve, self.record.method)
        if not callable(value):
            return value
        keywords = dict(self.keywords)
        if self.record.ties:
            keywords["ties"] = ties
        return value(**keywords)

    def __str__(self) -> str:
        return self.name


def _listed(words: tuple[str, ...], joint: str = "or") -> str:
    *head, last = words
    return f"{', '.join(head)} {joint} {last}" if head else last


def _choice(*words: str) -> Callable[[str], str]:
    def convert(text: str) -> str:
        if text not in words:
            raise ValueError(f"must be {_listed(words)}")
        return text

    return convert


def _positive(text: str) -> float:
    # Not float(): it also takes "1_0", "inf" and "nan".
    if not re.fullmatch(r"\d+(\.\d*)?([eE][-+]?\d+)?|\.\d+", text) or not 0 < float(text) < float("inf"):
        raise ValueError("must be a number above 0")
    return float(text)


def _share(text: str) -> float:
    value = _positive(text)
    if value >= 1:
        raise ValueError("must be a number between 0 and 1")
    return value


def _flag(text: str) -> bool:
    if text not in ("", "True"):
        raise ValueError("takes no value but True")
    return True


def _finite(text: str) -> float:
    if not re.fullmatch(r"-?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", text.strip(), re.ASCII) or math.isinf(float(text)):
        raise ValueError("must be a number")
    return float(text)


def _whole(text: str) -> int:
    if not re.fullmatch(r"-?\d+", text, re.ASCII) or abs(int(text)) > 10**9:
        raise ValueError("must be a whole number")
    return int(text)


def _recall(text: str) -> Fraction:
    # As trec_eval writes levels, "0.10" and ".1" alike.
    if not re.fullmatch(r"\d+(\.\d*)?|\.\d+", text, re.ASCII) or len(text.lstrip("0")) > 12 or Fraction(text) > 1:
        raise ValueError("must be a recall level from 0 to 1")
    return Fraction(text)


def _recalls(text: str) -> tuple[Fraction, ...]:
    return tuple(_recall(one) for one in text.split("/"))


def _weights(text: str) -> tuple[float, ...]:
    try:
        weights = tuple(_finite(one) for one in text.split("/"))
    except ValueError:
        weights = ()
    if len(weights) != 4:
        raise ValueError("must be four numbers, as in 1/-1/0/0")
    return weights


def _gains(text: str) -> tuple[tuple[int, float], ...]:
    match = re.fullmatch(r"\{(.*)\}", text.strip())
    pairs = [one.partition(":") for one in match[1].split(",")] if match else []
    try:
        gains = {_whole(level.strip()): _finite(gain) for level, _, gain in pairs}
    except ValueError:
        gains = {}
    if not gains or len(gains) < len(pairs):
        raise ValueError("must be levels, each once, with their gains, as in {1:1, 2:3}")
    return tuple(sorted(gains.items()))


_ALPHA = (Option("alpha", "alpha", _positive, bare=True),)
_AT = ("k", "fraction")
_BOUNDS = ("best", "worst")
_LEVELS = Option("levels", "levels", _choice("exact", "trec_eval9", "trec_eval10"))

MEASURES: tuple[Definition, ...] = (
    Definition(
        name="AP",
        forms=("AP", "AP@10", "AP(norm=min)@10", "AP(norm=hits)@10", "AP(interp=11-point)", "AP(ties=worst)"),
        definition="average precision: the precision at each relevant item, summed, divided by R (norm=min: min(k, R); "
        "norm=hits: the relevant items among the first k)",
        source="Zhu 2004, Recall, Precision and Average Precision; ties: McSherry & Najork 2008, ECIR",
        method="average_precision",
        kernel="AP",
        synonyms=("map", "map_cut_K"),
        cutoffs=("", "k"),
        ties=TIES,
        options=(
            Option("norm", "normalize", _choice("min", "relevant", "hits")),
            Option(
                "interp",
                "interpolation",
                _choice(
                    "11-point", "101-point", "all-point", "trapezoid", "continuous", "11-point-float", "101-point-float"
                ),
            ),
        ),
    ),
    Definition(
        name="P",
        forms=("P@10", "P@1%"),
        definition="precision: relevant items among the first k, divided by k",
        source="Kent, Berry, Luehrs & Perry 1955, American Documentation 6:93",
        method="precision",
        kernel="P",
        synonyms=("P_K",),
        cutoffs=_AT,
        ties=TIES,
    ),
    Definition(
        name="R",
        forms=("R@1000", "R@1%"),
        definition="recall: relevant items among the first k, divided by R",
        source="Kent, Berry, Luehrs & Perry 1955, American Documentation 6:93",
        method="recall",
        kernel="R",
        synonyms=("recall_K",),
        cutoffs=_AT,
        ties=TIES,
    ),
    Definition(
        name="Hits",
        forms=("Hits@500", "Hits@1%"),
        definition="hits: the number of relevant items among the first k, h(k)",
        source="Zhu 2004, Recall, Precision and Average Precision",
        method="hits_at",
        kernel="Hits",
        cutoffs=_AT,
        ties=TIES,
    ),
    Definition(
        name="F",
        forms=("F1@10", "F0.5@10", "F2@1%"),
        definition="F: the harmonic mean of precision and recall at k, recall weighted beta^2 times",
        source="van Rijsbergen 1979, Information Retrieval, ch. 7",
        method="f_score",
        kernel="F",
        cutoffs=_AT,
        ties=TIES,
    ),
    Definition(
        name="RR",
        forms=("RR", "RR@10"),
        definition="reciprocal rank: 1 / the rank of the first relevant item; 0 if it comes after k",
        source="Voorhees 1999, The TREC-8 Question Answering Track Report",
        method="reciprocal_rank",
        kernel="RR",
        synonyms=("recip_rank",),
        cutoffs=("", "k"),
        ties=_ORDERS,
    ),
    Definition(
        name="Rprec",
        forms=("Rprec",),
        definition="R-precision: precision at k = R",
        source="Buckley & Voorhees 2005, Retrieval System Evaluation (in TREC, MIT Press)",
        method="r_precision",
        kernel="Rprec",
        ties=TIES,
    ),
    Definition(
        name="Success",
        forms=("Success@5",),
        definition="success: 1 if a relevant item is among the first k, else 0",
        source="Craswell & Hawking 2004, Overview of the TREC-2004 Web Track",
        method="success",
        kernel="Success",
        synonyms=("success_K",),
        cutoffs=_AT,
        ties=_ORDERS,
    ),
    Definition(
        name="EF",
        forms=("EF@1%", "EF@100"),
        definition="enrichment factor: precision at k divided by that of a random order, (h(k)/k) / (R/N)",
        source="Truchon & Bayly 2007, J. Chem. Inf. Model. 47:488",
        method="enrichment_factor",
        cutoffs=_AT,
        ties=TIES,
    ),
    Definition(
        name="NEF",
        forms=("NEF@1%", "NEF@100"),
        definition="normalised enrichment factor: EF divided by EFmax, h(k) / min(R, k)",
        source="Liu et al. 2019, J. Chem. Inf. Model. 59:282",
        method="normalized_enrichment_factor",
        kernel="RelP",
        cutoffs=_AT,
        ties=TIES,
    ),
    Definition(
        name="EFmax",
        forms=("EFmax@1%", "EFmax@100"),
        definition="the largest enrichment factor any order could have, (min(R, k)/k) / (R/N)",
        source="Truchon & Bayly 2007, J. Chem. Inf. Model. 47:488",
        method="max_enrichment_factor",
        cutoffs=_AT,
    ),
    Definition(
        name="RIE",
        forms=("RIE(20)",),
        definition="robust initial enhancement: the mean of exp(-alpha rank/N) over the relevant items, divided by its "
        "value in a random order; alpha is 20 unless said",
        source="Sheridan et al. 2001, J. Chem. Inf. Comput. Sci. 41:1395",
        method="rie",
        ties=_ORDERS,
        options=_ALPHA,
        defaults=(("alpha", 20.0),),
    ),
    Definition(
        name="BEDROC",
        forms=("BEDROC(20)", "BEDROC(80.5)"),
        definition="early recognition: RIE scaled to 0 (relevant items last) .. 1 (first); alpha is 20 unless said",
        source="Truchon & Bayly 2007, J. Chem. Inf. Model. 47:488",
        method="bedroc",
        ties=_ORDERS,
        options=_ALPHA,
        defaults=(("alpha", 20.0),),
    ),
    Definition(
        name="ROCAUC",
        forms=("ROCAUC",),
        definition="area under the ROC curve: the share of relevant/other pairs in the right order, ties a half",
        source="Hanley & McNeil 1982, Radiology 143:29",
        method="roc_auc",
        ties=TIES,
    ),
    Definition(
        name="AUAC",
        forms=("AUAC",),
        definition="area under the accumulation curve, recall over the share of the list: 1/2 for a random order",
        source="Truchon & Bayly 2007, J. Chem. Inf. Model. 47:488",
        method="auac",
        ties=TIES,
    ),
    Definition(
        name="ROCE",
        forms=("ROCE@1%",),
        definition="ROC enrichment: the true positive rate at a false positive rate, divided by the latter",
        source="Jain & Nicholls 2008, J. Comput.-Aided Mol. Des. 22:133",
        method="roc_enrichment",
        cutoffs=("fpr",),
        ties=TIES,
    ),
    Definition(
        name="logAUC",
        forms=("logAUC", "logAUC(adjusted)", "logAUC(min_fpr=0.01)"),
        definition="area under the ROC curve over log10 of the false positive rate from min_fpr (0.001) to 1, divided "
        "by the area's width; adjusted: less that of a random order",
        source="Mysinger & Shoichet 2010, J. Chem. Inf. Model. 50:1561",
        method="log_auc",
        ties=TIES,
        options=(Option("adjusted", "adjusted", _flag, bare=True), Option("min_fpr", "min_fpr", _share)),
    ),
    Definition(
        name="Chance",
        forms=("Chance",),
        definition="the expected average precision of a random order of the same items",
        source="Bestgen 2015, Prague Bull. Math. Linguistics 103:131",
        method="chance",
    ),
    Definition(
        name="NormAP",
        forms=("NormAP",),
        definition="average precision on a scale of 0 (chance) .. 1 (perfect): (AP - chance) / (1 - chance)",
        source="correction for chance: Cohen 1960, Educ. Psychol. Meas. 20:37",
        method="normalized_average_precision",
        ties=TIES,
    ),
    Definition(
        name="NumRet",
        forms=("NumRet", "NumRet(rel=2)"),
        definition="N: the number of items ranked",
        source="trec_eval",
        method="num_items",
        kernel="NumRet",
        synonyms=("num_ret",),
        mean="sum",
    ),
    Definition(
        name="NumRel",
        forms=("NumRel",),
        definition="R: the number of relevant items, ranked or not",
        source="trec_eval",
        method="num_relevant",
        kernel="NumRel",
        synonyms=("num_rel",),
        mean="sum",
    ),
    Definition(
        name="NumRelRet",
        forms=("NumRelRet",),
        definition="the number of relevant items ranked",
        source="trec_eval",
        method="num_hits",
        kernel="NumRelRet",
        synonyms=("num_rel_ret",),
        mean="sum",
    ),
    Definition(
        name="NumQ",
        forms=("NumQ",),
        definition="the number of queries",
        source="trec_eval",
        kernel="NumQ",
        synonyms=("num_q",),
        mean="sum",
    ),
    Definition(
        name="NumNonRelRet",
        forms=("NumNonRelRet",),
        definition="the number of documents ranked that are judged, but not relevant",
        source="trec_eval",
        kernel="NumNonRelRet",
        synonyms=("num_nonrel_judged_ret",),
        mean="sum",
    ),
    Definition(
        name="GMAP",
        forms=("GMAP",),
        definition="AP, with the geometric mean over queries; values below 0.00001 count as 0.00001",
        source="Robertson 2006, CIKM",
        kernel="AP",
        synonyms=("gm_map",),
        ties=_ORDERS,
        mean="geometric",
    ),
    Definition(
        name="nDCG",
        forms=("nDCG", "nDCG@10", "nDCG(dcg=exp-log2)@10", "nDCG(gains={1:1,2:10})@10"),
        definition="discounted gain, sum of gain / log2(rank + 1), divided by that of the ideal order of all judged "
        "documents; the gain is the level of relevance (dcg=exp-log2: 2^level - 1), 0 below level 0",
        source="Jarvelin & Kekalainen 2002, ACM TOIS 20:422; Burges et al. 2005, ICML; ties: McSherry & Najork 2008",
        kernel="nDCG",
        synonyms=("ndcg", "ndcg_cut_K"),
        cutoffs=("", "k"),
        ties=_ORDERS,
        options=(
            Option("dcg", "dcg", _choice("log2", "exp-log2")),
            Option("gains", "gains", _gains),
        ),
        graded=True,
    ),
    Definition(
        name="ERR",
        forms=("ERR@20", "ERR", "ERR(max=3)@20"),
        definition="expected reciprocal rank: the sum over ranks of the chance to stop there / rank; a document of "
        "level g stops with (2^g - 1) / 2^max; max is 4 unless said, as in TREC's gdeval",
        source="Chapelle, Metzler, Zhang & Grinspan 2009, CIKM",
        kernel="ERR",
        cutoffs=("", "k"),
        ties=_ORDERS,
        options=(Option("max", "top", _whole),),
        graded=True,
    ),
    Definition(
        name="RBP",
        forms=("RBP(p=0.8)", "RBP(p=0.5,rel=2)@10"),
        definition="rank-biased precision: (1 - p) times the sum of gain p^(rank - 1); p is 0.8 unless said. The gain "
        "is 1 for relevant documents where rel= is said, else the level / the query's highest (if above 1)",
        source="Moffat & Zobel 2008, ACM TOIS 27:2",
        kernel="RBP",
        synonyms=("rbp",),
        cutoffs=("", "k"),
        ties=_ORDERS,
        options=(Option("p", "p", _share),),
        defaults=(("p", 0.8),),
        graded=True,
    ),
    Definition(
        name="RBPResid",
        forms=("RBPResid(p=0.8)",),
        definition="the residual of RBP: what it would gain if all documents without a judgment were relevant",
        source="Moffat & Zobel 2008, ACM TOIS 27:2; trec_eval 10",
        kernel="RBPResid",
        synonyms=("rbp_resid",),
        ties=_BOUNDS,
        options=(Option("p", "p", _share),),
        defaults=(("p", 0.8),),
        graded=True,
        lower_is_better=True,
    ),
    Definition(
        name="Bpref",
        forms=("Bpref",),
        definition="the mean over relevant items of 1 - (judged others ranked above it, up to R) / min(judged others, "
        "R); items without a judgment are passed over",
        source="Buckley & Voorhees 2004, SIGIR",
        kernel="Bpref",
        synonyms=("bpref",),
        ties=_ORDERS,
    ),
    Definition(
        name="GMBpref",
        forms=("GMBpref",),
        definition="Bpref, with the geometric mean over queries; values below 0.00001 count as 0.00001",
        source="trec_eval",
        kernel="Bpref",
        synonyms=("gm_bpref",),
        ties=_ORDERS,
        mean="geometric",
    ),
    Definition(
        name="infAP",
        forms=("infAP",),
        definition="AP inferred where only a sample of the pool was judged (the rest of the pool: levels below 0)",
        source="Yilmaz & Aslam 2006, CIKM",
        kernel="infAP",
        synonyms=("infAP",),
        ties=_BOUNDS,
    ),
    Definition(
        name="IPrec",
        forms=("IPrec@0.1", "IPrec(levels=trec_eval9)@0.1"),
        definition="interpolated precision: the highest precision at this recall or beyond. The level is reached with "
        "ceil(level R) hits, exactly; trec_eval 9 takes floor(level R + 0.9), 10 the nearest whole number",
        source="Manning, Raghavan & Schutze 2008, Introduction to Information Retrieval, 8.4",
        kernel="IPrec",
        synonyms=("iprec_at_recall_X",),
        cutoffs=("recall",),
        ties=_BOUNDS,
        options=(_LEVELS,),
    ),
    Definition(
        name="IPrecAvg",
        forms=("IPrecAvg", "IPrecAvg(levels=trec_eval9)", "IPrecAvg(at=0.2/0.5/0.8)"),
        definition="the mean of IPrec at the recall levels 0, 0.1, ..., 1, or at those said",
        source="trec_eval",
        kernel="IPrecAvg",
        synonyms=("11pt_avg",),
        ties=_BOUNDS,
        options=(_LEVELS, Option("at", "at", _recalls)),
    ),
    Definition(
        name="SetP",
        forms=("SetP", "SetP(relative)"),
        definition="relevant items / all items ranked; relative: divided by the most it could be",
        source="trec_eval",
        kernel="SetP",
        synonyms=("set_P", "set_relative_P"),
        options=(Option("relative", "relative", _flag, bare=True),),
    ),
    Definition(
        name="SetR",
        forms=("SetR",),
        definition="relevant items ranked / R",
        source="trec_eval",
        kernel="SetR",
        synonyms=("set_recall",),
    ),
    Definition(
        name="SetF",
        forms=("SetF", "SetF(beta=2)"),
        definition="(beta + 1) P R / (beta P + R) of all items ranked; beta is 1 unless said, and not squared",
        source="trec_eval",
        kernel="SetF",
        synonyms=("set_F",),
        options=(Option("beta", "beta", _positive),),
    ),
    Definition(
        name="SetAP",
        forms=("SetAP",),
        definition="SetP times SetR",
        source="trec_eval",
        kernel="SetAP",
        synonyms=("set_map",),
    ),
    Definition(
        name="Judged",
        forms=("Judged@10", "Judged"),
        definition="judged documents among the first k, divided by k or by the documents ranked if fewer",
        source="ir_measures",
        kernel="Judged",
        cutoffs=("", "k"),
        ties=_ORDERS,
        graded=True,
    ),
    Definition(
        name="Unjudged",
        forms=("Unjudged@10",),
        definition="documents without a judgment among the first k, divided by k",
        source="trec_eval 10",
        kernel="Unjudged",
        synonyms=("unj_K",),
        cutoffs=("k",),
        ties=_ORDERS,
        graded=True,
        lower_is_better=True,
    ),
    Definition(
        name="RelP",
        forms=("RelP@10",),
        definition="precision at k divided by the most it could be: h(k) / min(k, R)",
        source="trec_eval",
        kernel="RelP",
        synonyms=("relative_P_K",),
        cutoffs=("k",),
        ties=_ORDERS,
    ),
    Definition(
        name="RprecMult",
        forms=("RprecMult(0.2)",),
        definition="precision at a multiple x of R: at rank floor(x R + 0.9)",
        source="trec_eval",
        kernel="RprecMult",
        synonyms=("Rprec_mult_X",),
        ties=_ORDERS,
        options=(Option("x", "multiple", _positive, bare=True),),
        defaults=(("x", 1.0),),
    ),
    Definition(
        name="Utility",
        forms=("Utility", "Utility(2/-1/0/0)"),
        definition="a weighted sum of relevant ranked, other ranked, relevant not ranked and other not ranked items "
        "(the last as if there were no items but these); weights 1/-1/0/0 unless said",
        source="trec_eval",
        kernel="Utility",
        synonyms=("utility",),
        options=(Option("weights", "weights", _weights, bare=True),),
    ),
    Definition(
        name="binG",
        forms=("binG",),
        definition="the mean over relevant items of 1 / log2(2 + others ranked above it)",
        source="trec_eval, experimental",
        kernel="binG",
        synonyms=("binG",),
        ties=_BOUNDS,
    ),
    Definition(
        name="G",
        forms=("G",),
        definition="the sum of gain / log2(2 + ideal gain so far - gain so far), divided by all gain",
        source="trec_eval, experimental",
        kernel="G",
        synonyms=("G",),
        ties=_BOUNDS,
        options=(Option("gains", "gains", _gains),),
        graded=True,
    ),
    Definition(
        name="nDCGrel",
        forms=("nDCGrel",),
        definition="nDCG at the rank of each document with a gain, averaged",
        source="trec_eval, experimental",
        kernel="nDCGrel",
        synonyms=("ndcg_rel",),
        ties=_BOUNDS,
        options=(Option("gains", "gains", _gains),),
        graded=True,
    ),
    Definition(
        name="RnDCG",
        forms=("RnDCG",),
        definition="nDCG at the ranks where the gain of the ideal order falls, averaged",
        source="trec_eval, experimental",
        kernel="RnDCG",
        synonyms=("Rndcg",),
        ties=_BOUNDS,
        options=(Option("gains", "gains", _gains),),
        graded=True,
    ),
)


def parse(name: str) -> Measure:
    """The measure that `name` stands for.

    Parameters
    ----------
    name : str
        ``NAME(option=value, ...)@cutoff``. A cutoff is a rank (``@10``) or a share in percent (``@1%``, which stands
        for ``ceil(N/100)`` items, exactly; for ROCE a false positive rate). ``AP@10`` divides by R, as ir_measures and
        trec_eval's ``map_cut_10`` do; ``AP(norm=min)@10`` by min(10, R). Any measure that depends on ties takes
        ``ties=``. trec_eval's names (``map``, ``P_10``, ``recall_1000`` ...) mean the same definitions, with ties read
        as asked for.

    Returns
    -------
    Measure

    Raises
    ------
    ValueError
        The name is unknown (the text lists near ones), or an option or cutoff does not fit the measure.

    Examples
    --------
    >>> from hitcurve.measures import parse
    >>> parse("map_cut_10").name
    'AP@10'
    >>> parse("BEDROC").name
    'BEDROC(20)'
    """
    if not isinstance(name, str):
        raise TypeError(f"name is {name!r}: a measure is named by a string")
    text = name.strip()
    match = re.fullmatch(r"([^()@]+)(?:\(([^()]*)\))?(?:@([^()@]*))?", text)
    if match is None:
        raise ValueError(f"{name!r} is not a measure name: write NAME(option=value)@cutoff{_near(text)}")
    for record in MEASURES:
        for synonym in record.synonyms:
            pattern = synonym.replace("K", "([0-9]+)").replace("X", "([0-9]+[.][0-9]+)")
            number = re.fullmatch(pattern, text)
            if number is None:
                continue
            value = number[1] if number.groups() else None
            if record.cutoffs == ("",) and value is not None:  # an option, as in Rprec_mult_0.20
                return _measure(text, record, record.name, [], None, value)
            return _measure(text, record, record.name, [], value, _MEANT.get(synonym))
    head, brackets, at = match.groups()
    head = _ALIASES.get(head.strip(), head.strip())
    if head == "SetRelP":
        head, brackets = "SetP", ",".join(filter(None, ("relative", brackets)))
    beta = re.fullmatch(r"F(\d+(?:\.\d+)?)", head)
    found = [record for record in MEASURES if record.name == ("F" if beta else head)]
    for record in MEASURES:
        if not found and head in record.synonyms:
            inside = ",".join(filter(None, (_MEANT.get(head), brackets)))
            ours = record.name + (f"({inside})" if inside else "") + ("" if at is None else f"@{at}")
            parse(ours)  # or what is wrong with it
            raise ValueError(f"{name!r}: trec_eval's name {head} takes no options or cutoff like this: write {ours}")
    if not found or head == "F":
        raise ValueError(f"{name!r}: there is no measure {head!r}{_near(text)}")
    extra: list[tuple[str, Any]] = []
    if beta:
        if float(beta[1]) == 0:
            raise ValueError(f"{name!r}: beta must be above 0")
        if math.isinf(float(beta[1])):
            raise ValueError(f"{name!r}: beta must be finite")
        head = f"F{_digits(float(beta[1]))}"
        extra.append(("beta", float(beta[1])))
    return _measure(text, found[0], head, extra, at, brackets)


def _measure(
    text: str,
    record: Definition,
    head: str,
    keywords: list[tuple[str, Any]],
    at: str | None,
    brackets: str | None = None,
) -> Measure:
    keyword, value, written_cutoff = _cutoff(text, record, at)
    options, ties, rel, judged_only = _options(text, record, brackets)
    for option_name, default in record.defaults:
        options.setdefault(option_name, default)
    if record.name == "AP":
        if keyword:
            if "interp" in options:
                raise ValueError(f"{text!r}: interp= goes with the whole ranking, not with a cutoff")
            options.setdefault("norm", "relevant")
        elif "norm" in options:
            raise ValueError(f"{text!r}: norm= says what a cutoff divides by; write {text}@10")
    if keyword:
        keywords.append((keyword, value))
    written = []
    for option in record.options:
        if option.name in options:
            keywords.append((option.keyword, options[option.name]))
            if (option.name, options[option.name]) != ("norm", "relevant"):
                written.append(_written(option, options[option.name]))
    if rel is not None:
        written.append(f"rel={rel}")
    if judged_only:
        written.append("judged_only=True")
    if ties:
        written.append(f"ties={ties}")
    inside = f"({','.join(written)})" if written else ""
    return Measure(f"{head}{inside}{written_cutoff}", record, tuple(keywords), ties, rel, judged_only)


def _written(option: Option, value: Any) -> str:
    if value is True:
        return option.name
    if option.convert is _gains:
        shown = "{" + ",".join(f"{level}:{_plain(gain)}" for level, gain in value) + "}"
    elif isinstance(value, tuple):
        shown = "/".join(_digits(float(one)) if option.convert is _recalls else _plain(one) for one in value)
    else:
        shown = _plain(value) if isinstance(value, float) else str(value)
    return shown if option.bare else f"{option.name}={shown}"


def _plain(value: float) -> str:
    """The shortest text that is read as just this number."""
    text = format(value, ".15g")
    return text if float(text) == value else repr(value)


def _digits(value: float) -> str:
    """The same without an exponent, for the places where a name takes none."""
    return format(Decimal(_plain(value)), "f")


def _cutoff(text: str, record: Definition, at: str | None) -> tuple[str, Any, str]:
    """The keyword a cutoff goes to, its value, and how it is written; keyword "" for none."""
    forms = _listed(tuple(form for form in record.forms if "@" in form) or record.forms)
    if at is None:
        if "" not in record.cutoffs:
            raise ValueError(f"{text!r}: {record.name} needs a cutoff: {forms}")
        return "", None, ""
    at = at.strip()
    if record.cutoffs == ("recall",):
        try:
            level = _recall(at)
        except ValueError as error:
            raise ValueError(f"{text!r}: {at!r} {error}") from None
        return "recall", level, f"@{_digits(float(level))}"
    takes_rank = "k" in record.cutoffs
    share = next((keyword for keyword in record.cutoffs if keyword in ("fraction", "fpr")), "")
    if not takes_rank and not share:
        raise ValueError(f"{text!r}: {record.name} takes no cutoff")
    if re.fullmatch(r"\d+", at, re.ASCII):
        if not takes_rank:
            raise ValueError(f"{text!r}: the cutoff of {record.name} is a share: {forms}")
        if not 1 <= int(at) < 2**63:
            raise ValueError(f"{text!r}: a cutoff is a rank from 1 up, below 2**63")
        return "k", int(at), f"@{int(at)}"
    if re.fullmatch(r"(\d+(\.\d*)?|\.\d+)%", at, re.ASCII):
        if not share:
            raise ValueError(f"{text!r}: the cutoff of {record.name} is a rank: {forms}")
        percent = Decimal(at[:-1]).normalize()
        if not 0 < percent <= 100:
            raise ValueError(f"{text!r}: a share lies above 0 and up to 100 %")
        # Up to 15 digits a float prints as the decimal it was read from, and the curve rounds up on that decimal.
        if len(percent.as_tuple().digits) > 15:
            raise ValueError(f"{text!r}: a share has at most 15 digits")
        return share, float(percent / 100), f"@{percent:f}%"
    raise ValueError(f"{text!r}: {at!r} is no cutoff: give a rank (10) or a share (1%)")


def _options(
    text: str, record: Definition, brackets: str | None
) -> tuple[dict[str, Any], str | None, int | None, bool]:
    options: dict[str, Any] = {}
    ties = rel = None
    judged_only = False
    # A comma within braces belongs to the value.
    for part in re.split(r",(?![^{}]*\})", brackets) if brackets is not None else []:
        name, equals, value = (piece.strip() for piece in part.partition("="))
        value = value.strip("'\"")
        if name == "rel" and equals and record.kernel and rel is None:
            try:
                rel = _whole(value)
            except ValueError as error:
                raise ValueError(f"{text!r}: rel is {value!r}, it {error}") from None
            continue
        if name == "judged_only" and record.kernel and not judged_only and value in ("", "True", "False"):
            judged_only = value != "False"
            continue
        if name == "ties" and equals and record.ties and ties is None:
            if value not in record.ties:
                raise ValueError(f"{text!r}: ties={value}: {record.name} reads ties as {_listed(record.ties)}")
            ties = value
            continue
        found = [one for one in record.options if one.name == name and bool(equals) == (one.convert is not _flag)]
        found += [one for one in record.options if one.name == name and one.convert is _flag and value == "True"]
        if not found and not equals:
            found = [one for one in record.options if one.bare and one.convert is not _flag]
            value = name
        option = found[0] if found else None
        if option is None or option.name in options:
            allowed = [one.name for one in record.options] + (["ties"] if record.ties else [])
            allowed += ["rel", "judged_only"] if record.kernel else []
            raise ValueError(
                f"{text!r}: {part.strip()!r} is no option, or said twice; {record.name} takes "
                + (_listed(tuple(allowed), "and") if allowed else "no options")
            )
        try:
            options[option.name] = option.convert(value)
        except ValueError as error:
            raise ValueError(f"{text!r}: {option.name} is {value!r}, it {error}") from None
    return options, ties, rel, judged_only


def _near(text: str) -> str:
    from difflib import get_close_matches

    known: dict[str, str] = {}
    for record in MEASURES:
        for form in (*record.forms, *(synonym.replace("K", "10").replace("X", "0.10") for synonym in record.synonyms)):
            known.setdefault(form.lower(), form)
    near = get_close_matches(text.lower(), known, n=3, cutoff=0.5)
    if not near:
        return "; the measures are " + ", ".join(record.name for record in MEASURES)
    return "; near names: " + ", ".join(known[one] for one in near)
