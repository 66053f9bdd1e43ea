"""Which other tools have hitcurve's measures, under which names, and where their numbers differ."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from hitcurve.measures import Definition

__all__ = ["NOT_OURS", "TOOLS", "Peer", "hint", "measures_of", "parsed", "peers"]


class Peer(NamedTuple):
    """What another tool calls a measure.

    Attributes
    ----------
    tool : str
        The tool, as in `TOOLS`.
    names : tuple of str
        Its names of the measure: what its command, its configuration or its results call it, or a function or class.
        ``K`` stands for a cutoff.
    differs : str
        What makes its number another than hitcurve's with default arguments. Empty if nothing does but ties.
    """

    tool: str
    names: tuple[str, ...]
    differs: str


#: The tools of the table.
TOOLS = (
    "trec_eval", "pytrec_eval", "ir_measures", "pyndeval", "cwl_eval", "ranx", "BEIR", "MTEB", "scikit-learn", "scipy",
    "RDKit", "torchmetrics", "torcheval", "TF-Ranking", "TF-Recommenders", "LightGBM", "XGBoost", "CatBoost", "Spark",
    "RecBole", "Elliot", "Cornac", "LensKit", "Recommenders",
)  # fmt: skip

# An entry for each measure: the tools, each with its names and, in brackets, what differs. The names of trec_eval stand
# in the records of the measures.
_AT_ONCE = "a tie group enters at once"
_MIN = "divides by min(K, R): AP(norm=min)@K"
_RANKED = "divides by min(K, N): P(norm=ranked)@K"
_ORDER = "ties in the order of the data; 1 without relevant items"
_WORST = "ties in the worst order"
_EXP = "gain 2^level - 1: dcg=exp-log2"
_ASCENDING = "ties by ascending id"
_PEERS = {
    "AP": "ir_measures: AP, AP@K, MAP; cwl_eval: AP; ranx: map, map@K; BEIR: MAP@K; MTEB: map_at_K; "
          f"scikit-learn: average_precision_score, label_ranking_average_precision_score [{_AT_ONCE}]; "
          "torchmetrics: RetrievalMAP [divides by the relevant items among the first K; items with scores of 0 and "
          f"below count as not relevant]; torchmetrics: BinaryAveragePrecision [{_AT_ONCE}]; "
          f"torcheval: binary_auprc [{_AT_ONCE}]; TF-Ranking: map; LightGBM: map@K [{_MIN}; {_ORDER}]; "
          f"LightGBM: average_precision [of the items of all queries together; {_AT_ONCE}]; "
          f"XGBoost: map@K [{_MIN}; {_ORDER}]; XGBoost: aucpr [AP(interp=continuous)]; "
          f"CatBoost: MAP [{_MIN}; {_WORST}]; CatBoost: PRAUC [AP(interp=trapezoid-from-1)]; "
          f"Spark: meanAveragePrecision, meanAveragePrecisionAt [{_MIN}]; RecBole: MAP [{_MIN}]; "
          "Elliot: MAP [the mean of P@1, ..., P@K, whether the items at these ranks are relevant or not]; "
          f"Cornac: MAP [{_AT_ONCE}]; LensKit: AveragePrecision [{_MIN}]; Recommenders: map; "
          f"Recommenders: map_at_k [{_MIN}]",
    "P": "ir_measures: P@K, Precision@K; cwl_eval: P@K; ranx: precision@K; BEIR: P@K; MTEB: precision_at_K; "
         "torchmetrics: RetrievalPrecision; torcheval: retrieval_precision [limit_k_to_size=True divides by min(K, N): "
         f"P(norm=ranked)@K]; TF-Ranking: precision [{_RANKED}]; XGBoost: pre@K [{_RANKED}]; "
         f"CatBoost: PrecisionAt [{_RANKED}; {_WORST}]; Spark: precisionAt; RecBole: Precision; Elliot: Precision; "
         f"Cornac: Precision; LensKit: Precision [{_RANKED}]; Recommenders: precision_at_k",
    "R": "ir_measures: R@K, Recall@K; ranx: recall@K; BEIR: Recall@K; BEIR: R_cap@K [divides by min(K, R): "
         "R(norm=min)@K]; MTEB: recall_at_K; torchmetrics: RetrievalRecall; torcheval: retrieval_recall; "
         f"TF-Ranking: recall; CatBoost: RecallAt [{_WORST}; 1 without relevant items]; Spark: recallAt; "
         "RecBole: Recall; Elliot: Recall; Cornac: Recall; LensKit: Recall [divides by min(K, R): R(norm=min)@K]; "
         "Recommenders: recall_at_k",
    "Hits": "ranx: hits@K",
    "F": "ranx: f1@K; Elliot: F1, DSC; Cornac: FMeasure",
    "Fallout": "torchmetrics: RetrievalFallOut",
    "RR": "ir_measures: RR, RR@K, MRR; cwl_eval: RR; ranx: mrr, mrr@K; BEIR: MRR@K; MTEB: mrr_at_K; "
          f"torchmetrics: RetrievalMRR; torcheval: reciprocal_rank; TF-Ranking: mrr; CatBoost: MRR [{_WORST}]; "
          "RecBole: MRR; Elliot: MRR; Cornac: MRR; LensKit: RecipRank",
    "MeanRank": "TF-Ranking: arp [weighs each rank by the level]",
    "Rprec": "ir_measures: Rprec, RPrec; ranx: r-precision; torchmetrics: RetrievalRPrecision; "
             "Recommenders: r_precision_at_k [only the first K items count]",
    "Success": "ir_measures: Success@K; ranx: hit_rate@K; BEIR: Accuracy@K; MTEB: hit_rate_at_K; "
               "torchmetrics: RetrievalHitRate; torcheval: hit_rate; TF-Ranking: hits; "
               "TF-Recommenders: top_K_categorical_accuracy; RecBole: Hit; Elliot: HR; LensKit: Hit",
    "ROCAUC": "scikit-learn: roc_auc_score; scikit-learn: label_ranking_loss [1 - ROCAUC(ties=worst)]; "
              "RDKit: CalcAUC [ties in the order of the rows]; torchmetrics: BinaryAUROC, RetrievalAUROC; "
              "torcheval: binary_auroc; LightGBM: auc [of the items of all queries together]; "
              "XGBoost: auc [of data with groups it also counts pairs of equal labels]; CatBoost: AUC; "
              "CatBoost: QueryAUC [a query of relevant items alone counts as 0]; Spark: areaUnderROC; RecBole: AUC; "
              "RecBole: GAUC [the mean over users, weighted by their relevant items]; Elliot: AUC, GAUC [GAUC is the "
              "mean over users without weights]; Cornac: AUC [a tied pair counts as wrong]; Recommenders: auc",
    "logAUC": "torchmetrics: BinaryLogAUC [straight lines over the logarithm of the rate]",
    "RIE": "RDKit: CalcRIE [ties in the order of the rows]",
    "BEDROC": "RDKit: CalcBEDROC [ties in the order of the rows]",
    "EF": "RDKit: CalcEnrichment [ties in the order of the rows; fraction times N is rounded up from a float]",
    "NumRet": "ir_measures: NumRet",
    "NumRel": "ir_measures: NumRel",
    "NumRelRet": "ir_measures: NumRelRet",
    "NumQ": "ir_measures: NumQ",
    "DCG": f"ranx: dcg@K; ranx: dcg_burges@K [{_EXP}]; scikit-learn: dcg_score; TF-Ranking: dcg [{_EXP}]; "
           f"CatBoost: DCG [{_WORST}]; LensKit: DCG",
    "nDCG": f"ir_measures: nDCG, nDCG@K, NDCG; ranx: ndcg, ndcg@K; ranx: ndcg_burges@K [{_EXP}]; BEIR: NDCG@K; "
            "MTEB: ndcg_at_K; scikit-learn: ndcg_score; torchmetrics: RetrievalNormalizedDCG; "
            f"TF-Ranking: ndcg [{_EXP}]; LightGBM: ndcg@K [{_EXP}; {_ORDER}]; XGBoost: ndcg@K [{_EXP}; {_ORDER}]; "
            f"CatBoost: NDCG [{_WORST}; 1 without relevant items]; Spark: ndcgAt; RecBole: NDCG [every relevant item "
            "gains 1]; Elliot: nDCG [gain 2^(rating - threshold + 1) - 1]; Elliot: nDCGRendle2020 [every relevant item "
            "gains 1]; Cornac: NDCG; LensKit: NDCG; Recommenders: ndcg_at_k",
    "NCRR": "Cornac: NCRR [the ideal order has at most as many items as were ranked]",
    "AG": f"CatBoost: AverageGain [divides by min(K, N); {_WORST}]",
    "ERR": "ir_measures: ERR@K; CatBoost: ERR [the label itself is the chance to stop]",
    "RBP": "ir_measures: RBP; cwl_eval: RBP@p; ranx: rbp.p; LensKit: RBP [p is 0.85 by default]",
    "INSQ": "ir_measures: INSQ; cwl_eval: INSQ-T",
    "INST": "ir_measures: INST; cwl_eval: INST-T",
    "OPA": "TF-Ranking: ordered_pair_accuracy [a tied pair counts as wrong]",
    "SomersD": "scipy: somersd",
    "Bpref": "ir_measures: Bpref, BPref; ranx: bpref; TF-Ranking: bpref",
    "infAP": "ir_measures: infAP",
    "IPrec": "ir_measures: IPrec [recall levels as in trec_eval 9: IPrec(levels=trec_eval9)]",
    "SetP": "ir_measures: SetP, SetRelP",
    "SetR": "ir_measures: SetR",
    "SetF": "ir_measures: SetF",
    "SetAP": "ir_measures: SetAP",
    "Judged": "ir_measures: Judged@K",
    "Hole": "BEIR: Hole@K; MTEB: Hole@K",
    "Accuracy": "ir_measures: Accuracy, Accuracy@K",
    "Compat": "ir_measures: Compat [ties by ascending id; documents never retrieved have score 0]",
    "SDCG": "ir_measures: SDCG; cwl_eval: NDCG-k@K",
    "BPM": "ir_measures: BPM; cwl_eval: BPM-Static; cwl_eval: BPM-Dynamic [the patience never changes]",
    "NERR8": "ir_measures: NERR8; cwl_eval: NERR-EQ8",
    "NERR9": "ir_measures: NERR9; cwl_eval: NERR-EQ9",
    "NERR10": "ir_measures: NERR10; cwl_eval: NERR-EQ10",
    "NERR11": "ir_measures: NERR11; cwl_eval: NERR-EQ11 [ends at rank 1,000]",
    "P_IA": f"ir_measures: P_IA; pyndeval: P-IA@K [{_ASCENDING}]",
    "AP_IA": f"ir_measures: AP_IA, MAP_IA; pyndeval: MAP-IA [{_ASCENDING}]",
    "StRecall": f"ir_measures: StRecall; pyndeval: strec@K [{_ASCENDING}]",
    "alpha_DCG": f"ir_measures: alpha_DCG, α_DCG; pyndeval: alpha-DCG@K [{_ASCENDING}; not divided at K = 1]",
    "alpha_nDCG": f"ir_measures: alpha_nDCG, α_nDCG; pyndeval: alpha-nDCG@K [{_ASCENDING}]",
    "ERR_IA": f"ir_measures: ERR_IA; pyndeval: ERR-IA@K [{_ASCENDING}; not divided at K = 1]",
    "nERR_IA": f"ir_measures: nERR_IA; pyndeval: nERR-IA@K [{_ASCENDING}]",
    "NRBP": f"ir_measures: NRBP; pyndeval: NRBP [{_ASCENDING}]",
    "nNRBP": f"ir_measures: nNRBP; pyndeval: nNRBP [{_ASCENDING}]",
}
# Of trec_eval 10 alone, or of judgment groups.
_NOT_IN_PYTREC_EVAL = re.compile("rbp|rbp_resid|unj_K|prefs_.*|.*_avgjg.*")

#: Measures that are not about ranking relevant items, which hitcurve does not have: what they are, and who has them.
NOT_OURS = (
    ("coverage: how much of the catalogue, or how many users, the lists reach",
     "RecBole: ItemCoverage; Elliot: ItemCoverage, UserCoverage, UserCoverageAtN; Recommenders: catalog_coverage, "
     "distributional_coverage"),
    ("novelty: how unknown the listed items are", "Elliot: EFD, EPC; Recommenders: novelty, historical_item_novelty"),
    ("serendipity: how unexpected the relevant items are",
     "Recommenders: serendipity, user_serendipity, user_item_serendipity"),
    ("diversity: how far the items of one list lie apart (intra-list distance)",
     "LensKit: ILS; Recommenders: diversity, user_diversity"),
    ("concentration: how evenly the lists share the items out",
     "RecBole: GiniIndex, ShannonEntropy; Elliot: Gini, SEntropy; LensKit: ListGini, ExposureGini, Entropy, "
     "RankBiasedEntropy"),
    ("popularity: how popular the listed items are",
     "RecBole: AveragePopularity, TailPercentage; Elliot: APLT, ACLT; LensKit: MeanPopRank"),
    ("error: how far predicted ratings or probabilities are from the true ones",
     "scikit-learn: log_loss, brier_score_loss, mean_squared_error; LightGBM: binary_logloss, cross_entropy; XGBoost: "
     "logloss, rmse; CatBoost: Logloss, BrierScore; RecBole: RMSE, MAE, LogLoss; Elliot: RMSE, MAE, MSE; Cornac: RMSE, "
     "MAE, MSE; LensKit: RMSE, MAE; Recommenders: rmse, mae, rsquared, exp_var, logloss"),
)  # fmt: skip


def parsed(line: str) -> list[Peer]:
    """The peers of a line of the table."""
    found = re.findall(r"([\w-]+): ([^;\[]+?)(?: \[([^\]]*)\])?(?:; |$)", line)
    return [Peer(tool, tuple(names.split(", ")), differs) for tool, names, differs in found]


def peers(record: Definition) -> list[Peer]:
    """The tools that have a measure, in the order of `TOOLS`. Of pytrec_eval these are its names of trec_eval."""
    found = [Peer("trec_eval", record.synonyms, "")] * bool(record.synonyms)
    of_python = tuple(name for name in record.synonyms if not _NOT_IN_PYTREC_EVAL.fullmatch(name))
    found += [Peer("pytrec_eval", of_python, "")] * bool(of_python)
    return sorted(found + parsed(_PEERS.get(record.name, "")), key=lambda peer: TOOLS.index(peer.tool))


def _key(name: str) -> str:
    """The letters and digits of a tool's name, in lower case, without a cutoff."""
    head = re.sub(r"(@|_at_|:|\.|-T=?)([kK0-9p].*)?$|:top=.*$", "", name.strip().partition("(")[0])
    return re.sub(r"[\W_]", "", head).lower()


@lru_cache(maxsize=1)
def _by_name() -> dict[str, list[tuple[str, Peer]]]:
    found: dict[str, list[tuple[str, Peer]]] = {}
    for measure, line in _PEERS.items():
        for peer in parsed(line):
            for name in peer.names:
                found.setdefault(_key(name), []).append((measure, peer._replace(names=(name,))))
    return found


def measures_of(name: str) -> list[str]:
    """The names of the measures that a tool has, or that tools give this name."""
    key = _key(name)
    of_tool = [measure for measure, line in _PEERS.items()
               if any(key == _key(peer.tool) for peer in parsed(line))]
    return of_tool or list(dict.fromkeys(measure for measure, _ in _by_name().get(key, [])))


def hint(name: str) -> str:
    """What another tool means by a name that is not hitcurve's, for an error; empty if no tool has it."""
    key = _key(name)
    for what, line in NOT_OURS:
        if key in {_key(what.partition(":")[0])} | {_key(one) for peer in parsed(line) for one in peer.names}:
            has = "; ".join(f"{peer.tool} ({', '.join(peer.names)})" for peer in parsed(line))
            return f"hitcurve has no measures of {what}. Tools that have them: {has}"
    found = [f"{peer.names[0]} of {peer.tool} is {measure}" + (f" ({peer.differs})" if peer.differs else "")
             for measure, peer in _by_name().get(key, [])]
    return "; ".join(found)
