"""The measures of a ranking: every test that sweeps over measures runs over this table. A new measure is one row here.

A row says what a measure is read from and what it must be equal to: its slow twin in reference.py, and the same number
from every way in.
"""

from fractions import Fraction
from typing import NamedTuple

import reference
from reference import INTERPOLATIONS, NORMALIZE, TIES

ORDERS = TIES[:3]
BOUNDS = TIES[1:3]


class Row(NamedTuple):
    method: str
    """Of the curves; none where only a run has the measure. The slow twin has its name too, or that of `twin`."""
    name: str = ""
    """In `hitcurve.measures`; none where it has no name."""
    cutoffs: tuple[str, ...] = ()
    """The keywords a cutoff goes by: k, fraction or fpr; the first is the first argument."""
    needed: bool = False
    """It has no value without a first argument."""
    options: tuple[dict, ...] = ({},)
    """Keywords of calls without a cutoff."""
    at_cutoff: tuple[dict, ...] = ({},)
    """Keywords of calls with a cutoff."""
    more: tuple[dict, ...] = ()
    """The same, for sweeps over few rankings or drawn calls."""
    parameter: tuple[str, tuple[float, ...]] = ("", ())
    """The keyword of the first argument of a measure without a cutoff, and values of it."""
    readings: tuple[str, ...] = TIES
    """Of ties; none if it does not take `ties`."""
    readings_of_gains: tuple[str, ...] = ()
    """Of a GainCurve, where it has more than a run, whose documents without a judgment take some away."""
    complete: bool = False
    """Refused where relevant items were not retrieved."""
    weighted: bool = False
    """Takes weights where ties="threshold"."""
    rounded: float = 0.0
    """The absolute error where the definition subtracts equal numbers."""
    perfect: bool = False
    """Exactly 1 where the relevant items come first, cut off at their number."""
    by_any: bool = False
    """Needs the judgments of all queries."""
    gaps: bool = False
    """A ranking with a relevant item may have no value, which is NaN for a run too."""
    lower_is_better: bool = False
    """Its best reading of ties is the least value."""
    number: int | None = None
    """In the C interface."""
    written: tuple[tuple[str, dict], ...] = ()
    """Names, and the keywords of the calls that they stand for."""
    of_runs: tuple[tuple[str, dict], ...] = ()
    """More of them, which `evaluate` alone takes; the keywords are the twin's."""
    of: tuple[str, ...] = ("hits",)
    """What it is read from: `hits` of a HitCurve, and of a GainCurve from a level up; `gains` of a GainCurve; `judged`
    rows of a run, by `evaluate`. Without `judged` a run is refused: it has not all items. `subtopics` of a
    SubtopicCurve."""
    twin: str = ""
    """Of levels, in reference.py."""
    twin_of_runs: str = ""
    """Where documents without a judgment make another measure of it."""
    graded: bool = False
    """Uses the levels themselves: the lowest relevant level says nothing."""
    attribute: bool = False
    """The method is a number of the curve, not a call."""
    ordered: bool = False
    """Refused where the order of tied items changes the value."""
    same: str = ""
    """The measure that has the same value for each ranking, with another mean."""
    sums: tuple[str, ...] = ()
    """How `evaluate` may read ties where it adds in another order than the curves, so that the last bits may differ, by
    1e-14: trec_eval's order under "docid". For all others the bits are the same."""
    smaller_first: bool = False
    """Under "docid" the smaller id of two tied documents ranks first, not the greater id."""
    provided: bool = False
    """hitcurve.ir_measures gives it."""

    @property
    def readings_of_curves(self):
        """Of ties, by every curve that has the measure."""
        return self.readings_of_gains or self.readings


JUDGED = ("hits", "judged")
GAINS = ("gains", "judged")
SUBTOPICS = ("subtopics",)
# How `evaluate` reads the ties of a run; "docid" is the order of trec_eval.
OF_RUNS = ("docid", *ORDERS)
RANKED = ("docid",)
TENTHS = tuple(Fraction(i, 10) for i in range(11))
AT = ("k", "fraction")
SHARE = ("fraction", "k")
MEASURES = (
    Row("average_precision", "AP", ("k",), options=tuple({"interpolation": one} for one in INTERPOLATIONS),
        at_cutoff=tuple({"normalize": one} for one in NORMALIZE), weighted=True, perfect=True, number=0, of=JUDGED,
        sums=RANKED, provided=True, of_runs=(("AP(rel=2)", {"rel": 2}), ("AP(judged_only=True)@3", {
            "k": 3, "normalize": "relevant", "judged_only": True})),
        written=(("AP", {}), ("AP@3", {"k": 3, "normalize": "relevant"}),
                 ("AP(norm=min)@3", {"k": 3, "normalize": "min"}), ("AP(norm=hits)@3", {"k": 3, "normalize": "hits"}),
                 *((f"AP(interp={one})", {"interpolation": one}) for one in INTERPOLATIONS if one))),
    Row("interpolated_precision", parameter=("recall", (0.3, 0.0, 0.5, 0.7, 0.07, 1.0)), needed=True, perfect=True,
        number=25),
    Row("precision", "P", AT, at_cutoff=({}, {"normalize": "ranked"}), number=1, perfect=True, of=JUDGED, provided=True,
        of_runs=(("P(rel=2)@3", {"k": 3, "rel": 2}),),
        written=(("P@3", {"k": 3}), ("P@30%", {"fraction": 0.3}),
                 ("P(norm=ranked)@9", {"k": 9, "normalize": "ranked"}))),
    Row("recall", "R", AT, at_cutoff=({}, {"normalize": "min"}), number=2, perfect=True, of=JUDGED, provided=True,
        written=(("R@3", {"k": 3}), ("R@12.5%", {"fraction": 0.125}), ("R(norm=min)@3", {"k": 3, "normalize": "min"}))),
    Row("fall_out", "Fallout", AT, complete=True, lower_is_better=True, number=21,
        written=(("Fallout@3", {"k": 3}), ("Fallout@12.5%", {"fraction": 0.125}))),
    Row("f_score", "F", AT, at_cutoff=({}, {"beta": 0.5}), number=3, perfect=True, of=JUDGED,
        more=({"beta": 0.3}, {"beta": 0.7}, {"beta": 2.0}, {"beta": 0.0}),
        written=(("F1@3", {"k": 3}), ("F0.5@3", {"k": 3, "beta": 0.5}), ("F2@2", {"k": 2, "beta": 2.0}))),
    Row("hits_at", "Hits", AT, number=4, of=JUDGED, written=(("Hits@3", {"k": 3}),)),
    Row("success", "Success", AT, readings=ORDERS, perfect=True, number=5, of=JUDGED, provided=True,
        written=(("Success@2", {"k": 2}),)),
    Row("r_precision", "Rprec", perfect=True, number=6, of=JUDGED, provided=True, written=(("Rprec", {}),)),
    Row("reciprocal_rank", "RR", ("k",), readings=ORDERS, perfect=True, number=7, of=JUDGED, provided=True,
        written=(("RR", {}), ("RR@2", {"k": 2}))),
    Row("mean_rank", "MeanRank", complete=True, lower_is_better=True, number=22, of=("hits", "gains"),
        twin="rank_of_levels", written=(("MeanRank", {}),)),
    Row("mean_percentile_rank", "MeanPercentileRank", complete=True, lower_is_better=True, of=("hits", "gains"),
        twin="percentile_rank_of_levels", written=(("MeanPercentileRank", {}), ("MPR", {}))),
    Row("roc_auc", "ROCAUC", complete=True, weighted=True, perfect=True, number=8,
        options=({}, {"max_fpr": 0.3}, {"max_fpr": 1.0}, {"max_fpr": 0.07, "standardize": False}, {"min_fpr": 0.2},
                 {"min_fpr": 0.1, "max_fpr": 0.45}, {"min_fpr": 0.8, "max_fpr": 0.9, "standardize": False},
                 {"min_tpr": 0.7}, {"max_tpr": 0.4}, {"min_tpr": 0.3, "max_tpr": 0.35, "standardize": False}),
        rounded=1e-15,
        written=(("ROCAUC", {}), ("ROCAUC(max_fpr=0.3)", {"max_fpr": 0.3}),
                 ("ROCAUC(min_fpr=0.2,max_fpr=0.6)", {"min_fpr": 0.2, "max_fpr": 0.6}),
                 ("ROCAUC(min_tpr=0.7)", {"min_tpr": 0.7}), ("ROCAUC(max_tpr=0.4)", {"max_tpr": 0.4}))),
    Row("order_accuracy", "Accuracy", ("k",), readings=ORDERS, number=31, of=JUDGED, provided=True, gaps=True,
        written=(("Accuracy", {}), ("Accuracy@3", {"k": 3}))),
    Row("roc_enrichment", "ROCE", ("fpr",), needed=True, complete=True, number=9,
        written=(("ROCE@25%", {"fpr": 0.25}),)),
    Row("enrichment_factor", "EF", SHARE, complete=True, number=10,
        written=(("EF@25%", {"fraction": 0.25}), ("EF@3", {"k": 3}))),
    Row("max_enrichment_factor", "EFmax", SHARE, readings=(), complete=True, number=11,
        written=(("EFmax@25%", {"fraction": 0.25}),)),
    Row("normalized_enrichment_factor", "NEF", SHARE, perfect=True, number=12, of=JUDGED,
        written=(("NEF@25%", {"fraction": 0.25}), ("NEF@3", {"k": 3}))),
    Row("rie", "RIE", parameter=("alpha", (80.5, 20.0, 1.0)), readings=ORDERS, complete=True, number=13,
        written=(("RIE(10)", {"alpha": 10.0}),)),
    Row("bedroc", "BEDROC", parameter=("alpha", (80.5, 20.0, 321.9, 0.5, 1e-9)), readings=ORDERS, complete=True,
        rounded=1e-14, perfect=True, number=14,
        written=(("BEDROC", {"alpha": 20.0}), ("BEDROC(80.5)", {"alpha": 80.5}))),
    Row("log_auc", "logAUC", options=({}, {"adjusted": True}, {"max_fpr": 0.4}, {"max_fpr": 0.5, "adjusted": True}),
        parameter=("min_fpr", (0.3, 0.01)), complete=True,
        rounded=1e-15, perfect=True, number=15,
        written=(("logAUC", {}), ("logAUC(adjusted)", {"adjusted": True}),
                 ("logAUC(min_fpr=0.01)", {"min_fpr": 0.01}), ("logAUC(max_fpr=0.4)", {"max_fpr": 0.4}))),
    Row("prg_auc", "AUPRG", complete=True, rounded=1e-14, perfect=True, number=32, written=(("AUPRG", {}),)),
    Row("auac", "AUAC", complete=True, number=20, written=(("AUAC", {}),)),
    Row("chance", "Chance", readings=(), number=17, written=(("Chance", {}),)),
    Row("minimum", readings=(), number=18),
    Row("normalized_average_precision", "NormAP", rounded=1e-13, perfect=True, number=19, written=(("NormAP", {}),)),
    Row("num_items", "NumRet", readings=(), attribute=True, of=JUDGED, twin="retrieved", provided=True,
        graded=True, written=(("NumRet", {}),), of_runs=(("NumRet(rel=2)", {"rel": 2}),)),
    Row("num_relevant", "NumRel", readings=(), attribute=True, of=JUDGED, twin="relevant", provided=True,
        written=(("NumRel", {}),)),
    Row("num_hits", "NumRelRet", readings=(), attribute=True, of=JUDGED, twin="relevant_retrieved",
        provided=True, written=(("NumRelRet", {}),)),
    Row("average_precision", "GMAP", same="AP", of=JUDGED, sums=RANKED, written=(("GMAP", {}),)),
    Row("dcg", "DCG", ("k",), readings=ORDERS, of=GAINS, twin="dcg", graded=True,
        written=(("DCG", {}), ("DCG@3", {"k": 3}), ("DCG(dcg=exp-log2)@3", {"k": 3, "gain": "exponential"}),
                 ("DCG(gains={1:1,2:10})@3", {"k": 3, "gain": [0, 1, 10, 3]}))),
    Row("ndcg", "nDCG", ("k",), readings=ORDERS, of=GAINS, twin="ndcg", graded=True, sums=RANKED, provided=True,
        written=(("nDCG", {}), ("nDCG@2", {"k": 2}), ("nDCG(dcg=exp-log2)@3", {"k": 3, "gain": "exponential"}),
                 ("nDCG(gains={1:5,2:1})@3", {"k": 3, "gain": [0, 5, 1, 3]})),
        of_runs=(("nDCG(gains={0:-1,1:3})", {"gain": {0: -1, 1: 3}}),
                 ("nDCG(judged_only=True)@2", {"k": 2, "judged_only": True}))),
    Row("ncrr", "NCRR", ("k",), readings=ORDERS, of=GAINS, twin="ncrr", graded=True,
        written=(("NCRR", {}), ("NCRR@3", {"k": 3})), of_runs=(("NCRR(rel=2)@3", {"k": 3, "rel": 2}),)),
    Row("err", "ERR", ("k",), readings=ORDERS, of=GAINS, twin="err", graded=True, sums=RANKED, provided=True,
        written=(("ERR", {}), ("ERR@3", {"k": 3}), ("ERR(max=3)@3", {"k": 3, "max_level": 3}))),
    Row("rbp", "RBP", ("k",), readings=ORDERS, of=GAINS, twin="rbp", graded=True, sums=RANKED, provided=True,
        written=(("RBP", {"p": 0.8}), ("RBP(p=0.4)@3", {"k": 3, "p": 0.4})),
        of_runs=(("RBP(p=0.4,rel=2)@3", {"k": 3, "p": 0.4, "rel": 2}),)),
    Row("q_measure", "Q", ("k",), readings=ORDERS, of=GAINS, twin="q_measure", graded=True,
        written=(("Q", {"beta": 1.0}), ("Q(beta=3)@3", {"k": 3, "beta": 3.0}),
                 ("Q(beta=0.5,gains={1:1,2:10})", {"beta": 0.5, "gain": [0, 1, 10, 3]}))),
    Row("ncu", "NCU", ("k",), readings=ORDERS, of=GAINS, twin="ncu", graded=True,
        written=(("NCU", {}), ("NCU@3", {"k": 3}), ("NCU(stop=rbp,p=0.4)@3", {"k": 3, "stop": "rbp", "p": 0.4}),
                 ("NCU(stop=rbp,p=0.7,utility=blended,beta=3)",
                  {"stop": "rbp", "p": 0.7, "utility": "blended", "beta": 3.0}))),
    Row("graded_average_precision", "GAP", ("k",), readings=ORDERS, of=GAINS, twin="graded_average_precision",
        graded=True,
        written=(("GAP", {}), ("GAP(max=3)@3", {"k": 3, "max_level": 3}),
                 ("GAP(weights={1:0.25,2:0.75})@3", {"k": 3, "weights": {1: 0.25, 2: 0.75}}))),
    Row("average_gain", "AG", ("k",), readings=ORDERS, of=GAINS, twin="average_gain", graded=True,
        written=(("AG", {}), ("AG@3", {"k": 3}), ("AG(gains={1:2,2:5})@2", {"k": 2, "gain": [0, 2, 5, 3]}))),
    Row("rbp_residual", "RBPResid", ("k",), readings=BOUNDS, of=GAINS, twin="rbp_residual", readings_of_gains=ORDERS,
        lower_is_better=True, graded=True, twin_of_runs="rbp_residual_of_runs",
        written=(("RBPResid", {"p": 0.8}), ("RBPResid(p=0.4)", {"p": 0.4}))),
    Row("insq", "INSQ", ("k",), readings=ORDERS, of=GAINS, twin="insq", graded=True, provided=True,
        written=(("INSQ", {}), ("INSQ(T=2.0,max_rel=2)", {"T": 2.0, "max_rel": 2}),
                 ("INSQ(T=3,max_rel=2)@3", {"k": 3, "T": 3.0, "max_rel": 2}))),
    Row("inst", "INST", ("k",), readings=BOUNDS, of=GAINS, twin="inst", graded=True, provided=True,
        written=(("INST", {}), ("INST(T=2.0,max_rel=2)", {"T": 2.0, "max_rel": 2}),
                 ("INST(T=3,max_rel=2)@3", {"k": 3, "T": 3.0, "max_rel": 2}))),
    Row("sdcg", "SDCG", ("k",), needed=True, readings=ORDERS, of=GAINS, twin="sdcg", graded=True, provided=True,
        written=(("SDCG(max_rel=3)@3", {"k": 3, "max_rel": 3}), ("SDCG(max_rel=2)@50", {"k": 50, "max_rel": 2}),
                 ("SDCG(dcg='log2',max_rel=3,min_rel=1)@3", {"k": 3, "max_rel": 3, "min_rel": 1}))),
    Row("bpm", "BPM", ("k",), needed=True, readings=(), of=GAINS, twin="bpm", graded=True, ordered=True, provided=True,
        written=(("BPM(max_rel=3)@3", {"k": 3, "max_rel": 3}),
                 ("BPM(T=2.5,max_rel=2)@50", {"k": 50, "T": 2.5, "max_rel": 2}),
                 ("BPM(T=0.7,max_rel=3,min_rel=1)@4", {"k": 4, "T": 0.7, "max_rel": 3, "min_rel": 1}),
                 ("BPM(T=1.5,max_rel=3,hb=0.5,hc=2,gain_med=0.25)@4",
                  {"k": 4, "T": 1.5, "max_rel": 3, "hb": 0.5, "hc": 2.0, "gain_med": 0.25}))),
    *(Row(f"nerr{equation}", f"NERR{equation}", ("k",), needed=equation < 10, readings=BOUNDS, of=GAINS,
          twin=f"nerr{equation}", graded=True, provided=True,
          written=tuple((f"NERR{equation}({text}max_rel={most}){at}", {**options, "max_rel": most, **k})
                        for text, options in said for most, at, k in (
                            (3, *(("@50", {"k": 50}) if equation < 10 else ("", {}))), (2, "@3", {"k": 3}))))
      for equation, said in ((8, (("", {}),)), (9, (("", {}), ("min_rel=1,", {"min_rel": 1}))),
                             (10, (("", {"p": 0.9}), ("p=0.4,", {"p": 0.4}))),
                             (11, (("", {"T": 1.0}), ("T=2.5,", {"T": 2.5}))))),
    Row("compat", "Compat", readings=BOUNDS, of=GAINS, twin="compat", graded=True, provided=True,
        written=(("Compat", {"p": 0.95}), ("Compat(p=0.4,normalize=False)", {"p": 0.4, "normalize": False}),
                 ("Compat(p=0.999)", {"p": 0.999}))),
    Row("pairwise_accuracy", "OPA", readings=ORDERS, of=("gains",), twin="pairwise_accuracy", complete=True,
        graded=True, written=(("OPA", {}),)),
    Row("somers_d", "SomersD", readings=ORDERS, of=("gains",), twin="somers_d", complete=True, graded=True,
        written=(("SomersD", {}),)),
    Row("goodman_kruskal_gamma", "Gamma", readings=(), of=("gains",), twin="goodman_kruskal_gamma", complete=True,
        graded=True, written=(("Gamma", {}),)),
    Row("precision_ia", "P_IA", ("k",), needed=True, of=SUBTOPICS, readings=ORDERS, twin="precision_ia",
        written=(("P_IA@3", {"k": 3}), ("P_IA(rel=2)@2", {"k": 2, "relevance_level": 2}))),
    Row("average_precision_ia", "AP_IA", of=SUBTOPICS, readings=ORDERS, twin="average_precision_ia",
        written=(("AP_IA", {}), ("AP_IA(rel=2)", {"relevance_level": 2}))),
    Row("subtopic_recall", "StRecall", ("k",), of=SUBTOPICS, readings=ORDERS, twin="subtopic_recall",
        written=(("StRecall", {}), ("StRecall@2", {"k": 2}), ("StRecall(rel=2)@3", {"k": 3, "relevance_level": 2}))),
    Row("alpha_dcg", "alpha_DCG", ("k",), of=SUBTOPICS, readings=ORDERS, twin="alpha_dcg",
        written=(("alpha_DCG@3", {"k": 3, "alpha": 0.5, "normalize": "max"}),
                 ("alpha_DCG(norm=none)", {"alpha": 0.5, "normalize": "none"}),
                 ("alpha_DCG(alpha=0.3,norm=none,rel=2)@4",
                  {"k": 4, "alpha": 0.3, "normalize": "none", "relevance_level": 2}),
                 ("alpha_DCG(alpha=0)", {"alpha": 0.0, "normalize": "max"}))),
    Row("alpha_ndcg", "alpha_nDCG", ("k",), of=SUBTOPICS, readings=ORDERS, twin="alpha_ndcg",
        written=(("alpha_nDCG", {"alpha": 0.5}), ("alpha_nDCG@3", {"k": 3, "alpha": 0.5}),
                 ("alpha_nDCG(alpha=0.7,ideal=exact)@3", {"k": 3, "alpha": 0.7, "ideal": "exact"}),
                 ("alpha_nDCG(alpha=1,rel=2)@3", {"k": 3, "alpha": 1.0, "relevance_level": 2}))),
    Row("err_ia", "ERR_IA", ("k",), of=SUBTOPICS, readings=ORDERS, twin="err_ia",
        written=(("ERR_IA@3", {"k": 3, "alpha": 0.5, "normalize": "max"}),
                 ("ERR_IA(alpha=0.3,norm=none)", {"alpha": 0.3, "normalize": "none"}),
                 ("ERR_IA(alpha=1,rel=2)@3", {"k": 3, "alpha": 1.0, "normalize": "max", "relevance_level": 2}))),
    Row("nerr_ia", "nERR_IA", ("k",), of=SUBTOPICS, readings=ORDERS, twin="nerr_ia",
        written=(("nERR_IA", {"alpha": 0.5}), ("nERR_IA(alpha=0)@3", {"k": 3, "alpha": 0.0}),
                 ("nERR_IA(ideal=exact,rel=2)@3", {"k": 3, "alpha": 0.5, "ideal": "exact", "relevance_level": 2}))),
    Row("nrbp", "NRBP", ("k",), of=SUBTOPICS, readings=ORDERS, twin="nrbp",
        written=(("NRBP", {"alpha": 0.5, "beta": 0.5}),
                 ("NRBP(alpha=0.2,beta=0.8,rel=2)@4", {"k": 4, "alpha": 0.2, "beta": 0.8, "relevance_level": 2}),
                 ("NRBP(alpha=0)", {"alpha": 0.0, "beta": 0.5}), ("NRBP(alpha=1)", {"alpha": 1.0, "beta": 0.5}))),
    Row("nnrbp", "nNRBP", ("k",), of=SUBTOPICS, readings=ORDERS, twin="nnrbp",
        written=(("nNRBP", {"alpha": 0.5, "beta": 0.5}),
                 ("nNRBP(alpha=0.2,beta=0.8,ideal=exact)@4", {"k": 4, "alpha": 0.2, "beta": 0.8, "ideal": "exact"}))),
    Row("", "NumQ", readings=(), of=("judged",), twin="queries", provided=True, written=(("NumQ", {}),)),
    Row("", "NumNonRelRet", readings=(), of=("judged",), twin="others_retrieved", written=(("NumNonRelRet", {}),)),
    Row("", "Bpref", readings=ORDERS, of=("judged",), twin="bpref", provided=True, written=(("Bpref", {}),),
        of_runs=(("Bpref(rel=2)", {"rel": 2}),)),
    Row("", "GMBpref", readings=ORDERS, of=("judged",), twin="bpref", same="Bpref", written=(("GMBpref", {}),)),
    Row("", "Pref", readings=ORDERS, of=("judged",), twin="preference_of_levels", graded=True, smaller_first=True,
        written=(("Pref", {}), *((f"Pref(pairs={one})", {"pairs": one}) for one in ("any", "both")))),
    Row("", "PairPref", readings=ORDERS, of=("judged",), twin="pair_preference_of_levels", graded=True,
        smaller_first=True, written=(("PairPref", {}), ("PairPref(pairs=any)", {"pairs": "any"}))),
    Row("", "GroupPref", readings=ORDERS, of=("judged",), twin="group_preference_of_levels", graded=True,
        smaller_first=True, written=(("GroupPref", {}), ("GroupPref(pairs=both)", {"pairs": "both"}))),
    Row("", "GroupPrefR", readings=ORDERS, of=("judged",), twin="group_preference_r_of_levels", graded=True,
        smaller_first=True, written=(("GroupPrefR", {}), ("GroupPrefR(pairs=both)", {"pairs": "both"}))),
    Row("", "NumPref", readings=(), of=("judged",), twin="number_of_preferences_of_levels", graded=True,
        smaller_first=True, written=(("NumPref", {}),)),
    Row("", "NumPrefMet", readings=ORDERS, of=("judged",), twin="fulfilled_preferences_of_levels", graded=True,
        smaller_first=True, written=(("NumPrefMet", {}), ("NumPrefMet(pairs=both)", {"pairs": "both"}))),
    Row("", "infAP", readings=BOUNDS, of=("judged",), twin="inferred_ap", provided=True, written=(("infAP", {}),),
        of_runs=(("infAP(rel=2)", {"rel": 2}), ("infAP(judged_only=True)", {"judged_only": True}))),
    Row("", "IPrec", readings=BOUNDS, of=("judged",), twin="interpolated_precision_of_runs", provided=True,
        written=(("IPrec@0", {"recalls": (0,)}), ("IPrec@0.51", {"recalls": (Fraction(51, 100),)}),
                 ("IPrec@1", {"recalls": (1,)}),
                 ("IPrec(levels=trec_eval9)@0.51", {"recalls": (Fraction(51, 100),), "hits": "trec_eval9"}),
                 ("IPrec(levels=trec_eval10)@0.51", {"recalls": (Fraction(51, 100),), "hits": "trec_eval10"}))),
    Row("", "IPrecAvg", readings=BOUNDS, of=("judged",), twin="interpolated_precision_of_runs",
        written=(("IPrecAvg", {"recalls": TENTHS}),
                 ("IPrecAvg(levels=trec_eval9)", {"recalls": TENTHS, "hits": "trec_eval9"}),
                 ("IPrecAvg(at=0.2/0.7)", {"recalls": (Fraction(1, 5), Fraction(7, 10))}))),
    Row("", "SetP", readings=(), of=("judged",), twin="set_precision", provided=True,
        written=(("SetP", {}), ("SetP(relative)", {"relative": True}))),
    Row("", "SetR", readings=(), of=("judged",), twin="set_recall", provided=True, written=(("SetR", {}),)),
    Row("", "SetF", readings=(), of=("judged",), twin="set_f", provided=True,
        written=(("SetF", {}), ("SetF(beta=2)", {"beta": 2.0}))),
    Row("", "SetAP", readings=(), of=("judged",), twin="set_average_precision", provided=True,
        written=(("SetAP", {}),)),
    Row("", "Judged", ("k",), readings=ORDERS, of=("judged",), twin="judged_share", graded=True, provided=True,
        written=(("Judged", {}), ("Judged@3", {"k": 3}))),
    Row("", "Unjudged", ("k",), needed=True, readings=ORDERS, of=("judged",), twin="unjudged_share", graded=True,
        lower_is_better=True, written=(("Unjudged@3", {"k": 3}),)),
    Row("", "Hole", ("k",), needed=True, readings=ORDERS, of=("judged",), twin="hole_share", graded=True,
        lower_is_better=True, by_any=True, written=(("Hole@3", {"k": 3}), ("Hole@8", {"k": 8}))),
    Row("", "RelP", ("k",), needed=True, readings=ORDERS, of=("judged",), twin="relative_precision",
        written=(("RelP@3", {"k": 3}),)),
    Row("", "RprecMult", readings=ORDERS, of=("judged",), twin="precision_at_multiple",
        written=(("RprecMult(0.2)", {"multiple": 0.2}), ("RprecMult(1.5)", {"multiple": 1.5}))),
    Row("", "Utility", readings=(), of=("judged",), twin="utility",
        written=(("Utility", {}), ("Utility(2/-1/0.5/0.25)", {"weights": (2, -1, 0.5, 0.25)}))),
    Row("", "binG", readings=BOUNDS, of=("judged",), twin="bin_g", written=(("binG", {}),)),
    Row("", "G", readings=BOUNDS, of=("judged",), twin="normalized_gain", graded=True,
        written=(("G", {}), ("G(gains={1:3,2:1})", {"gain": {1: 3, 2: 1}}))),
    Row("", "nDCGrel", readings=BOUNDS, of=("judged",), twin="ndcg_at_relevant", graded=True,
        written=(("nDCGrel", {}), ("nDCGrel(gains={1:3,2:1})", {"gain": {1: 3, 2: 1}}))),
    Row("", "RnDCG", readings=BOUNDS, of=("judged",), twin="ndcg_at_levels",
        written=(("RnDCG", {}), ("RnDCG(gains={1:3,2:1})", {"gain": {1: 3, 2: 1}}))),
)  # fmt: skip
ROW = {row.name: row for row in MEASURES if row.name}
# The methods of hit curves that take arguments, each once.
HITS = tuple(row for row in MEASURES if "hits" in row.of and not (row.attribute or row.same))


def calls(row, *, array=False, more=False, **cutoffs):
    """(positional, keywords without `ties`) of every call of the row; at the cutoffs given, by keyword."""
    parameter, values = row.parameter
    for options in row.options:
        if not row.needed:
            yield (), options
        if parameter:
            yield (values if array else values[0],), options
    for options in row.at_cutoff + (row.more if more else ()):
        for keyword in filter(cutoffs.__contains__, row.cutoffs):
            first = keyword == row.cutoffs[0]
            yield ((cutoffs[keyword],), options) if first else ((), {keyword: cutoffs[keyword], **options})


def first_arguments(row, k, share):
    """The first arguments of a call: a cutoff where the measure takes one, a parameter where it needs one."""
    if row.cutoffs:
        return ({"k": k}.get(row.cutoffs[0], share),)
    return row.parameter[1][:1] if row.needed else ()


def perfect_calls(row, hits):
    """The calls that give exactly 1 where so many relevant items come first."""
    for args, options in calls(row, k=hits, more=True) if row.perfect else ():
        whole = not args and not options and "fraction" in row.cutoffs  # all items, not those that are relevant
        if not whole and not {"adjusted", "standardize"} & {*options}:
            yield args, options
    for value in row.parameter[1] if row.perfect else ():
        yield (value,), {}


def slow(row, keywords, query, ties, rel=1, of="judged"):
    """The twin's value of a `reference.Judged`, of which documents from level `rel` are relevant; `of` as in the row.

    NaN where the definition divides by 0.
    """
    keywords = dict(keywords)
    if keywords.pop("judged_only", False):
        query = reference.without_unjudged(query)
    if ties == "docid":  # of documents in an order
        ties = (*row.readings, "expected")[0]
    read = {"ties": ties} if row.readings else {}
    if row.of[0] == "hits" and not (row.twin and of != "hits"):
        ranking = reference.at_level(query, keywords.pop("rel", rel))
        return getattr(reference, row.method)(ranking, **keywords, **read)
    if "subtopics" in row.of:
        return getattr(reference, row.twin)(query, **keywords, **read)
    twin = getattr(reference, row.twin_of_runs * (of == "judged") or row.twin)
    return twin(query, **{**({"rel": rel} if of == "judged" and not row.graded else {}), **keywords, **read})


def with_ties(name, ties):
    """The name with its reading of ties as an option."""
    head, at, cutoff = name.partition("@")
    if not ties:
        return name
    return (f"{head[:-1]},ties={ties})" if head.endswith(")") else f"{head}(ties={ties})") + at + cutoff
