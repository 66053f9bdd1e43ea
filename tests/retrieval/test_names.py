"""Names of measures: what each library writes, what comes near a wrong name, and the names that results keep."""

import pickle
import timeit

import pytest
from ranx_in_python import uncompiled

import hitcurve as hc
from hitcurve.measures import MEASURES, SYNONYMS, parse
from hitcurve.retrieval.names import resolve

QRELS = {"q1": {"a": 2, "b": 0, "c": 1, "e": 1}, "q10": {"c": 1}, "q2": {"d": 0}}
RUN = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0, "x": 0.5}, "q10": {"x": 3.0, "c": 2.0}}

# What is written, and the name here that it stands for.
WRITTEN = {
    "ranx": {
        "ndcg@10": "nDCG@10", "ndcg": "nDCG", "ndcg_burges@10": "nDCG(dcg=exp-log2)@10", "mrr@10": "RR@10", "mrr": "RR",
        "ndcg_burges": "nDCG(dcg=exp-log2)", "hit_rate@10": "Success@10", "precision@5": "P@5", "recall@5": "R@5",
        "r-precision": "Rprec", "map@100": "AP@100", "map": "AP", "f1@5": "F1@5", "hits@5": "Hits@5", "bpref": "Bpref",
        "rbp.95": "RBP(p=0.95,rel=1)", "rbp.5": "RBP(p=0.5,rel=1)", "precision@5-l2": "P(rel=2)@5",
        "rbp.95-l2": "RBP(p=0.95,rel=2)", "map-l3": "AP(rel=3)",
        "f1@5-l2": "F1(rel=2)@5", "r-precision-l2": "Rprec(rel=2)",
    },
    "BEIR": {"NDCG@10": "nDCG@10", "MAP@100": "AP@100", "Recall@100": "R@100", "P@10": "P@10", "MRR@10": "RR@10",
             "R_cap@100": "R(norm=min)@100"},
    "MTEB": {"ndcg_at_10": "nDCG@10", "map_at_100": "AP@100", "recall_at_5": "R@5", "precision_at_1": "P@1",
             "mrr_at_10": "RR@10", "hit_rate_at_5": "Success@5"},
    "ir_measures": {"AP@10": "AP@10", "MAP@10": "AP@10", "Precision@5": "P@5", "NDCG(dcg='exp-log2')@10":
                    "nDCG(dcg=exp-log2)@10", "RPrec": "Rprec", "BPref": "Bpref", "SetRelP": "SetP(relative)",
                    "MRR@10": "RR@10", "P(rel=2)@5": "P(rel=2)@5", "RBP(p=0.8,rel=1)@10": "RBP(p=0.8,rel=1)@10"},
    "trec_eval": {"map_cut_10": "AP@10", "map_cut.10": "AP@10", "P_5": "P@5", "P.5": "P@5", "recip_rank": "RR",
                  "iprec_at_recall_0.10": "IPrec(levels=trec_eval10)@0.1", "ndcg_cut_10": "nDCG@10",
                  "rbp": "RBP(p=0.9)", "rbp.0.95": "RBP(p=0.95)", "rbp.p=0.5": "RBP(p=0.5)", "set_P": "SetP",
                  "Rprec_mult_0.20": "RprecMult(0.2)"},
    "recommenders": {"HR@10": "Success@10", "hr@10": "Success@10", "hit@10": "Success@10", "Hit@10": "Success@10",
                     "hit_rate@10": "Success@10", "hit_ratio@10": "Success@10", "Hits@10": "Hits@10",
                     "hits@10": "Hits@10", "F@10": "F1@10", "f@10": "F1@10", "F(rel=2)@10": "F1(rel=2)@10"},
    "lower case": {"ap": "AP", "ap(norm=min)@5": "AP(norm=min)@5", "p@10": "P@10", "r@10": "R@10", "rr@10": "RR@10",
                   "gmap": "GMAP", "setp": "SetP", "infap": "infAP", "g": "G", "err@20": "ERR@20", "map@5": "AP@5",
                   "rbpresid": "RBPResid(p=0.8)", "set_p": "SetP", "p_10": "P@10", "f0.5@10": "F0.5@10"},
}


@pytest.mark.parametrize(("written", "name"), [pair for names in WRITTEN.values() for pair in names.items()])
def test_names_that_others_write(written, name):
    assert list(resolve(written)) == [written]
    (measure,) = resolve(written).values()
    assert measure.name == name
    if "." not in written or written[:3] != "rbp":
        assert measure == parse(written.replace("cut.", "cut_").replace("P.5", "P_5"))


def test_every_name_in_lower_case():
    """None of them means something else, but for RBP: rbp is trec_eval's, whose p is 0.9."""
    for record in MEASURES:
        for form in record.forms:
            head = form.partition("(")[0].partition("@")[0]
            lower = head.lower() + form[len(head):]
            if head == "RBP":
                with pytest.raises(ValueError, match=r"trec_eval's name rbp .* write RBP\("):
                    parse(lower)
            else:
                assert parse(lower) == parse(form)
    assert parse("RBP").keywords == (("p", 0.8),)
    assert parse("rbp").keywords == (("p", 0.9),)
    with pytest.raises(ValueError, match=r"no measure 'Rbp'; near names: RBP\(p=0.8\)"):
        parse("Rbp")


def test_synonyms_are_of_measures_and_each_is_one():
    assert {one.ours for one in SYNONYMS} <= {record.name for record in MEASURES}
    assert len({one.name for one in SYNONYMS}) == len(SYNONYMS)
    for one in SYNONYMS:
        (record,) = (record for record in MEASURES if record.name == one.ours)
        cutoff = "" if "" in record.cutoffs else "@7"
        options = f"({one.options})" if one.options else ""
        assert parse(one.name + cutoff) == parse(one.name.lower() + cutoff) == parse(one.ours + options + cutoff)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("f1", r"F needs a cutoff: F1@10, .*; for all documents of a run, as in ranx, write SetF"),
        ("precision", "write SetP$"), ("recall", "write SetR$"), ("hits", "write NumRelRet$"),
        ("F2", r"F needs a cutoff: F1@10, F0.5@10 or F2@1%$"), ("hit_rate", "Success needs a cutoff"),
        ("top_k_accuracy@10", "BEIR's top-k accuracy is Success@K"), ("auc", "ROCAUC"),
        ("auROC", "the area under the ROC curve is ROCAUC$"), ("AUROC", "is ROCAUC$"), ("auc-roc", "is ROCAUC$"),
        *((name, "the area under precision over recall is AP; with straight lines .* it is AP\\(interp=trapezoid\\)$")
          for name in ("PRAUC", "PR-AUC", "pr_auc", "aucpr", "AUCPR", "auprc")),
        *((name, r"GAUC is the mean of ROCAUC over users or groups, weighted by .* items: .*weights=curves.num_items")
          for name in ("GAUC", "gauc", "gAUC@5")),
        ("pAUC", r"is ROCAUC\(max_fpr=0.1\)"), ("adjusted_logAUC", r"is logAUC\(adjusted\)"),
        ("EF@1%,BEDROC(20)", r"'EF@1%,BEDROC\(20\)' holds 2 names: give each by itself: 'EF@1%' and 'BEDROC\(20\)'$"),
        ("nDCG(gains={1:0,2:1})@5; AP,P@2", r"3 names: .*: 'nDCG\(gains=\{1:0,2:1\}\)@5', 'AP' and 'P@2'$"),
        ("P@5,10", "'P@5,10': a name has one cutoff: write P@5 and P@10$"),
        ("nDCG@10,AP", "^'nDCG@10,AP' holds 2 names: give each by itself: 'nDCG@10' and 'AP'$"),
        ("map ndcg_cut_10  P@5", "'map ndcg_cut_10  P@5' holds 3 names: .* 'map', 'ndcg_cut_10' and 'P@5'$"),
        ("AP(rel=2), RBP(rel=1,p=0.5);BEDROC", r"3 names: .* 'AP\(rel=2\)', 'RBP\(rel=1,p=0.5\)' and 'BEDROC'$"),
        ("AP,PP", "there is no measure 'AP,PP'; near names: AP"),
        ("nDCG(dcg=log2)@5, 10,20", r"write nDCG\(dcg=log2\)@5, nDCG\(dcg=log2\)@10 and nDCG\(dcg=log2\)@20$"),
        ("ndcg@[5,10]", "write ndcg@5 and ndcg@10$"),
        ("P@5, AP", "'P@5, AP' holds 2 names: give each by itself: 'P@5' and 'AP'$"),
        *((f"HR@10{mark}nDCG(gains={{1:0,2:2}})@5", r"holds 2 names: give each by itself: 'HR@10' and 'nDCG\(")
          for mark in (" ", ",", ", ", ";", "\n")), ("HR", "Success needs a cutoff: Success@5"),
        ("BEDROC@20", r"BEDROC takes no cutoff: write BEDROC\(20\) or BEDROC\(80.5\)$"),
        ("AP(k=10)", "unknown option 'k=10'; AP takes norm, .* and ties; a cutoff is written after @$"),
        ("AP(norm)@5", "option 'norm' needs a value; AP takes norm, "), ("AP()", "an option is missing; AP takes"),
        ("ndcg@10-l2", "'ndcg@10-l2': nDCG uses all levels; to ignore levels, give them gain 0"),
        ("nope_at_5", "'nope_at_5': there is no measure 'nope'"),
        ("nope@5-l2", "'nope@5-l2': there is no measure 'nope'"),
        ("rbp@5", r"write RBP\(p=0.9\)@5"), ("rbp(p=0.8)@5", r"write RBP\(p=0.8\)@5"),
    ],
)
def test_what_is_unclear_is_said(name, problem):
    with pytest.raises(ValueError, match=problem):
        parse(name)


def test_a_mapping_is_no_list_of_measures():
    """The cutoffs in its values were silently left out."""
    for asked in ({"nDCG": [5, 10]}, {"nDCG@5": None}):
        with pytest.raises(TypeError, match=r"^measures is \{'nDCG.*: pass a list of names with their cutoffs, such"):
            hc.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, asked)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("P(rel=2)@2", "precision@2-l2"), ("AP@3", "map@3"), ("SetP", "precision"), ("SetR", "recall"),
        ("NumRelRet", "hits"), ("Hits@2", "hits@2"), ("SetF", "f1"), ("F1@2", "f1@2"),
        ("nDCG(dcg=exp-log2)@3", "ndcg_burges@3"), ("Rprec", "r-precision"), ("RBP(p=0.95,rel=1)", "rbp.95"),
        ("Success@2", "hit_rate@2"),
    ],
)
def test_they_are_the_numbers_of_ranx(name, value, monkeypatch):
    ranx = uncompiled(monkeypatch)
    qrels = {"q1": {"a": 2, "c": 1, "e": 1}} if name[:3] != "RBP" else {"q1": {"a": 1, "c": 1}}
    run = {"q1": RUN["q1"]}
    theirs = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), value)
    assert hc.evaluate(qrels, run, name).means[name] == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize(
    ("typo", "meant"),
    [
        ("ndgc@10", "nDCG@10"), ("nDCG10", "nDCG@10"), ("nDGC@10", "nDCG@10"), ("ndcg_cut10", "ndcg_cut_10"),
        ("ndgc_cut_10", "ndcg_cut_10"), ("nddcg@7", "nDCG@7"), ("mpa", "map"), ("mapp@10", "MAP@10"), ("APP", "AP"),
        ("recal@5", "Recall@5"), ("recal_10", "recall_10"), ("precison@5", "Precision@5"),
        ("presicion@5", "Precision@5"),
        ("P10", "P@10"), ("MRR10", "MRR@10"), ("hitrate@10", "hit_rate@10"), ("hit-rate@3", "hit_rate@3"),
        ("sucess@5", "Success@5"), ("sucess_5", "success_5"), ("roc_auc", "ROCAUC"), ("rocacu", "ROCAUC"),
        ("bedrok", "BEDROC(20)"), ("enrichment@1%", "EF@1%"), ("enrichment_factor@2%", "EF@2%"), ("brpef", "Bpref"),
        ("average_precisoin", "AP"), ("reciprocalrank", "RR"), ("recip_rnak", "recip_rank"), ("qmeasure", "Q-measure"),
        ("ERRR@20", "ERR@20"), ("IPrc@0.2", "IPrec@0.2"), ("ROCAUCC", "ROCAUC"), ("AP((", "AP"),
        ("ndgc(dcg=exp-log2)@10", "nDCG@10"), ("num_rel_rte", "num_rel_ret"), ("infaap", "infAP"),
        ("utilty", "Utility"),
        ("r-precison", "r-precision"), ("jugded@10", "Judged@10"), ("logauk", "logAUC"), ("map_at10", "MAP@10"),
    ],
)
def test_near_names_are_near(typo, meant):
    with pytest.raises(ValueError) as error:
        parse(typo)
    assert str(error.value).partition("near names: ")[2].split(", ")[0] == meant
    parse(meant)


def test_far_names_have_no_near_ones():
    for name in ("xyzzy", "XX", "", "@", "7", "hello world", "queries", "x" * 100_000, "7" * 100_000 + "x"):
        with pytest.raises(ValueError, match="the measures are AP, P, R"):
            parse(name)


def test_a_name_seen_before_is_looked_up():
    known = {"ndcg@10": parse("ndcg@10")}
    assert parse("ndcg@10") is parse("ndcg@10")

    def least(call):
        return min(timeit.repeat(call, globals={"parse": parse, "known": known}, number=2000, repeat=15))

    assert least("parse('ndcg@10')") <= 20 * least("known['ndcg@10']")  # 10 is the bar; machines that are busy jitter


ASKED = ["map", "ndcg_cut.10", "MAP@2", "hit_rate@1", "num_rel_ret", "AP", "rbp.95", parse("P@2")]


@pytest.mark.parametrize("empty", ["zero", "skip"])
def test_every_way_out_has_the_same_values_by_the_names_asked_for(empty):
    found = hc.evaluate(QRELS, RUN, ASKED, empty=empty)
    names = [str(one) for one in ASKED]
    plain = found.to_dict()
    assert list(found.means) == list(found.values) == list(plain["means"]) == names
    assert list(found) == found.query_ids == list(plain["queries"]) == ["q1", "q10", "q2"]
    for query in found:
        assert list(found[query]) == list(plain["queries"][query]) == names
        for name, value in plain["queries"][query].items():
            own = found[query][name]
            assert own == value or (own != own and value is None)
            assert repr(found[query][parse(name).name if "." not in name else name]) == repr(own)
    assert found["q1"]["AP"] == found["q1"]["map"] == found["q1"]["MAP"] == found["q1"]["ap"] == (1 + 2 / 3) / 3
    assert found["map"] == found.means["map"] == plain["means"]["map"]
    again = pickle.loads(pickle.dumps(found))
    assert again.to_dict() == plain
    assert again["q1"]["map"] == again["q1"]["ap"] == found["q1"]["map"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("empty", ["zero", "skip"])
def test_frames_have_them_too(library, empty):
    pytest.importorskip(library)
    found = hc.evaluate(QRELS, RUN, ASKED, empty=empty)
    frame = getattr(found, f"to_{library}")()
    assert list(frame.columns) == ["query_id", *map(str, ASKED)]
    assert list(frame["query_id"]) == found.query_ids
    for name in map(str, ASKED):
        assert frame[name].to_numpy().tobytes() == found.values[name].tobytes()
        assert [repr(float(one)) for one in frame[name]] == [repr(found[query][name]) for query in found]
