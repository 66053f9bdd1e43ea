"""The table of the tools that have a measure: every name in it is of a measure, and the tools themselves have it."""

import re

import numpy as np
import pytest

import hitcurve as hc
from hitcurve import tools
from hitcurve.measures import MEASURES, SYNONYMS, parse

ROWS = [(record.name, peer) for record in MEASURES for peer in tools.peers(record)]
NAMES = [(measure, peer.tool, name) for measure, peer in ROWS for name in peer.names]
# Names that are of another measure here, each with a line in docs/measures.md: "Some names mean different things".
OTHERWISE = {("Success", "TF-Ranking", "hits"): "Hits", ("Success", "BEIR", "Accuracy@K"): "Accuracy"}


def filled(name):
    """A name with a number for its cutoff or parameter."""
    return re.sub(r"(?<=@)K$|(?<=_)[kK]$", "10", name).replace("_X", "_0.20").replace("@p", "@0.8").replace(".p", ".80")


def test_the_table_is_whole():
    """Every line is of a measure, and is read to its end; a tool says the same name once."""
    assert set(tools._PEERS) <= {record.name for record in MEASURES}
    for line in [*tools._PEERS.values(), *(line for _, line in tools.NOT_OURS)]:
        found = tools.parsed(line)
        said = [f"{one.tool}: {', '.join(one.names)}" + (f" [{one.differs}]" if one.differs else "") for one in found]
        assert "; ".join(said) == line
        assert {one.tool for one in found} <= set(tools.TOOLS)
    assert len(set(NAMES)) == len(NAMES)
    # pyndeval has measures of subtopics alone.
    assert {tool for _, tool, _ in NAMES} >= {*tools.TOOLS} - {"pyndeval"}


def test_names_are_of_their_measures():
    """`parse` takes each as a synonym, or its error names the measure."""
    for measure, tool, name in NAMES:
        try:
            found = parse(filled(name)).record.name
            assert found == OTHERWISE.get((measure, tool, name), measure), (tool, name)
        except ValueError as error:
            if (measure, tool, name) in OTHERWISE:
                assert measure not in str(error), (tool, name)
            else:
                near = re.search(r"near names: ([^,]+)", str(error))
                right = parse(near[1]).record.name == measure if near else re.search(rf"\b{measure}", str(error))
                assert right, (tool, name, str(error))
        if tool not in ("trec_eval", "pytrec_eval"):
            assert measure in tools.measures_of(filled(name)), (tool, name)


def test_the_synonyms_of_tools_are_in_the_table():
    """What `SYNONYMS` says of a tool of the table."""
    have = {(tool, tools._key(name), measure) for measure, tool, name in NAMES}
    for one in SYNONYMS:
        for tool in {*one.users.split(", ")} & {*tools.TOOLS} - {"BEIR", "MTEB"}:
            theirs = "_at_k" if tool == "Recommenders" else ""
            assert (tool, tools._key(one.name + theirs), one.ours) in have, one


def test_what_is_not_ours():
    for name in ("coverage", "novelty", "EPC@10", "serendipity", "diversity", "concentration", "popularity"):
        with pytest.raises(ValueError, match=f"no measure '{name.partition('@')[0]}': hitcurve has no measures of"):
            parse(name)
    with pytest.raises(ValueError, match=r"ILS.*intra-list distance\). Tools that have them: LensKit \(ILS\); Recomm"):
        parse("ILS")
    for what, line in tools.NOT_OURS:
        for peer in tools.parsed(line):
            assert peer.differs == "" and what
            for name in peer.names:
                with pytest.raises(ValueError, match="hitcurve has no measures of"):
                    parse(name)


def test_hints():
    for name, text in (
        ("average_precision", "average_precision of LightGBM is AP .*; AveragePrecision of LensKit is AP"),
        ("RetrievalMAP", r"RetrievalMAP of torchmetrics is AP \(divides by the relevant items among the first K;"),
        ("CalcBEDROC", "CalcBEDROC of RDKit is BEDROC"), ("DSC@10", "is F1@K"), ("FMeasure", "is F1@K"),
        ("pre@10", r"pre@K of XGBoost is P \(divides by min\(K, N\): P\(norm=ranked\)@K\)$"),
        ("MAR@5", "the mean of R@1, R@2"),
        ("RecallAt:top=10", "RecallAt of CatBoost is R .*; recallAt of Spark is R$"),
        ("ARP", "MeanRank, .*popularity of the listed items"),
        ("LAUC", "of the first K items"), ("GAUC", "RecBole weighs by .* Elliot and CatBoost"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=text):
            parse(name)


def test_gauc_of_each_tool():
    """The weights that the error names."""
    curves = hc.HitCurves([1, 0, 0, 1, 0, 1, 1, 0], [9, 2, 4, 3, 8, 9, 9, 3], qid=[1, 1, 1, 2, 2, 2, 3, 3])
    areas = curves.roc_auc()
    for weights, shares in ((curves.num_items, [3, 3, 2]), (curves.num_relevant, [1, 2, 1]), (None, [1, 1, 1])):
        ours = curves.mean("ROCAUC", weights=weights)
        assert ours == pytest.approx(sum(a * w for a, w in zip(areas, shares, strict=True)) / sum(shares))


def test_label_ranking_loss_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(31)
    for _ in range(50):
        y, score = rng.integers(0, 2, (3, 6)), rng.integers(0, 4, (3, 6)).astype(float)
        y[:, :2] = 1, 0
        ours = 1 - hc.HitCurves(y, score).roc_auc(ties="worst").mean()
        assert metrics.label_ranking_loss(y, score) == pytest.approx(ours, abs=1e-15)


def test_ncrr_of_cornac():
    """Its rule, written anew. Its ideal order has at most as many items as the list, so a short list counts more."""
    rng = np.random.default_rng(28)

    def cornac(relevant, num_relevant, k):
        ranks = np.flatnonzero(relevant[:k]) + 1
        return sum(1 / ranks) / sum(1 / np.arange(1, min(num_relevant, len(relevant[:k])) + 1)) if len(ranks) else 0.0

    for size in range(2, 30):
        level, score = rng.permutation([1, *rng.integers(0, 2, size - 1)]), rng.permutation(size)
        relevant = level[np.argsort(-score)]
        for k in (1, 3, 50):
            ours = hc.GainCurve(level, score).ncrr(k)
            assert ours == pytest.approx(cornac(relevant, level.sum(), k), rel=1e-14)
    short = hc.GainCurve([1], [1.0], unretrieved=[1, 1]).ncrr()
    assert cornac(np.array([1]), 3, 50) == 1 and short == pytest.approx(1 / (1 + 1 / 2 + 1 / 3))


# --- the tools themselves ------------------------------------------------------------------------------------------


def of_tool(tool):
    return {name: measure for measure, one, name in NAMES if one == tool}


def test_ir_measures():
    """Every name of ir_measures whose measure is here, but for those that it computes of subtopics or pairs."""
    registry = pytest.importorskip("ir_measures").measures.registry
    theirs = {name.partition("@")[0] for name in of_tool("ir_measures")}
    assert theirs <= set(registry)
    ours = {record.name for record in MEASURES}
    assert {name for name, one in registry.items() if one.NAME in ours} <= theirs


def test_pytrec_eval():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    stems = {re.sub(r"_[KX]$", "", name) for name in of_tool("pytrec_eval")}
    assert stems == pytrec_eval.supported_measures - {"runid", "relstring"}


def test_ranx():
    switch = pytest.importorskip("ranx.metrics").metric_switch
    for name in of_tool("ranx"):
        if name != "rbp.p":
            assert callable(switch(name.partition("@")[0]))


def test_scikit_learn_scipy_and_rdkit():
    for tool, module in (("scikit-learn", "sklearn.metrics"), ("RDKit", "rdkit.ML.Scoring.Scoring"),
                         ("scipy", "scipy.stats")):  # fmt: skip
        found = pytest.importorskip(module)
        assert of_tool(tool) and all(hasattr(found, name) for name in of_tool(tool))
