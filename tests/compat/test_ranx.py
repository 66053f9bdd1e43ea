"""hitcurve.compat.ranx: numbers against formulas of its own and against ranx, its objects, its reports."""

from __future__ import annotations

import doctest
import gzip
import inspect
import json
import math
import subprocess
import sys

import numpy as np
import pytest
from signatures import same_signature

import hitcurve as hc
from hitcurve.compat import ranx as ours
from hitcurve.compat.ranx import Qrels, Report, Run, compare, evaluate

CUT = ("hits", "hit_rate", "precision", "recall", "f1", "mrr", "map", "dcg", "dcg_burges", "ndcg", "ndcg_burges")
NAMES = [name + k for name in CUT for k in ("", "@1", "@5", "@100")]
NAMES += ["r-precision", "bpref", "rbp.95", "rbp@5", "rbp.05"]
METRICS = [name + level for name in NAMES for level in ("", "-l2", "-l3")]


def data(seed=5, queries=30, lowest=0, tied=False):
    """Judgments and a run. Each query has documents of every level, and some that are in the run only."""
    rng = np.random.default_rng(seed)
    qrels, run = {}, {}
    for q in range(queries):
        docs = [f"d{doc}" for doc in rng.permutation(60)]
        levels = [lowest, 1, 2, 3, *rng.integers(lowest, 4, rng.integers(0, 20)).tolist()]
        found = rng.permutation(docs[:40])[: rng.integers(1, 40)].tolist()
        scores = rng.integers(0, 4, len(found)) if tied else rng.permutation(len(found)) + 0.5
        qrels[f"q{q}"] = dict(zip(docs, levels, strict=False))
        run[f"q{q}"] = dict(zip(found, map(float, scores), strict=True))
    return qrels, run


def formula(metric, levels, scores):
    """What ranx documents, step by step."""
    name, _, level = metric.partition("-l")
    level = int(level or 1)
    number = name.replace(".", "@").partition("@")[2]
    name, k = name.replace(".", "@").partition("@")[0], int(number or 0)
    ranked = sorted(scores, key=scores.get, reverse=True)
    relevant = {doc: of for doc, of in levels.items() if of >= level}
    top = ranked[: k or None]
    hits = sum(doc in relevant for doc in top)
    if name == "rbp":
        p = float(f"0.{number}")
        return (1 - p) * math.fsum(relevant.get(doc, 0) * p**i for i, doc in enumerate(ranked))
    if name in ("hits", "hit_rate"):
        return min(hits, 1) if name == "hit_rate" else hits
    precision, recall = hits / (k or len(ranked)), hits / len(relevant)
    if name in ("precision", "recall"):
        return precision if name == "precision" else recall
    if name == "f1":
        return 2 * precision * recall / (precision + recall) if hits else 0
    if name == "r-precision":
        return sum(doc in relevant for doc in ranked[: len(relevant)]) / len(relevant)
    if name == "mrr":
        return next((1 / i for i, doc in enumerate(top, 1) if doc in relevant), 0)
    if name == "map":
        places = [i for i, doc in enumerate(top, 1) if doc in relevant]
        return math.fsum(n / i for n, i in enumerate(places, 1)) / len(relevant)
    if name == "bpref":
        judged = [doc in relevant for doc in ranked if doc in levels]
        bound = min(len(relevant), len(levels) - len(relevant))
        above = [min(judged[:i].count(False), len(relevant)) for i, hit in enumerate(judged) if hit]
        return math.fsum(1 - one / bound for one in above) / len(relevant)

    def dcg(gains):
        gains = [2**gain - 1 if "burges" in name else gain for gain in gains]
        return math.fsum(gain / math.log2(i + 2) for i, gain in enumerate(gains))

    found = dcg(relevant.get(doc, 0) for doc in top)
    return found / dcg(sorted(relevant.values(), reverse=True)[: k or None]) if name[0] == "n" else found


@pytest.mark.parametrize("lowest", [0, -1])
def test_formulas(lowest):
    qrels, run = data(lowest=lowest)
    found = evaluate(Qrels(qrels), Run(run), METRICS, return_mean=False)
    assert list(found) == METRICS
    for metric in METRICS:
        wanted = [formula(metric, qrels[q], run[q]) for q in sorted(qrels)]
        np.testing.assert_allclose(found[metric], wanted, rtol=0, atol=1e-12, err_msg=metric)


# --- the peer itself ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def peer():
    return pytest.importorskip("ranx")


def test_signatures(peer):
    same_signature(evaluate, peer.evaluate)
    same_signature(compare, peer.compare)
    report = sys.modules["ranx.data_structures"].Report
    # Parts of theirs that are steps of to_table and to_latex.
    inner = {"get_superscript_for_table", "get_superscript_for_latex", "get_phantoms_for_latex"}
    for mine, theirs in ((Qrels, peer.Qrels), (Run, peer.Run), (Report, report)):
        for name, function in inspect.getmembers(theirs, inspect.isroutine):
            if name == "__init__" or (name[0] != "_" and name not in inner):
                same_signature(getattr(mine, name), function)
    apart = {"fuse", "normalize", "optimize_fusion", "plot"}
    assert {name for name in peer.__all__ if not hasattr(ours, name)} == apart


def both(peer, made, qrels, run):
    return [(of.Qrels(qrels), of.Run(run)) if made == "objects" else (qrels, run) for of in (peer, ours)]


@pytest.mark.slow  # it compiles itself
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("made", ["objects", "dicts"])
@pytest.mark.parametrize("lowest", [0, -1])
def test_numbers_of_the_peer(peer, made, lowest):
    theirs, mine = both(peer, made, *data(lowest=lowest))
    wanted = peer.evaluate(*theirs, METRICS, return_mean=False)
    found = evaluate(*mine, METRICS, return_mean=False)
    assert list(found) == list(wanted)
    for metric in METRICS:
        np.testing.assert_allclose(found[metric], wanted[metric], rtol=0, atol=1e-12, err_msg=metric)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("metrics", ["map", ["map"], ["map", "ndcg@5"]])
@pytest.mark.parametrize("how", [{}, {"return_std": True}, {"return_mean": False}])
def test_results_have_the_types_of_the_peer(peer, metrics, how):
    theirs, mine = both(peer, "objects", *data())

    def types(found):
        return {key: types(one) for key, one in found.items()} if isinstance(found, dict) else type(found)

    assert types(evaluate(*mine, metrics, **how)) == types(peer.evaluate(*theirs, metrics, **how))
    (_, wanted), (_, run) = theirs, mine
    for kept in ("scores", "mean_scores", "std_scores"):
        assert types(getattr(run, kept)) == types(getattr(wanted, kept))
    assert list(run.scores["map"]) == list(wanted.scores["map"])
    assert list(run.scores["map"].values()) == pytest.approx(list(wanted.scores["map"].values()), abs=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("stat_test", ["student", "tukey", "fisher"])
def test_reports_of_the_peer(peer, stat_test):
    """But for the random numbers of Fisher's test: its p-values have the spread of 4,000 random ways, 0.008."""
    qrels, run = data(queries=40)
    rng = np.random.default_rng(3)
    noisy = [{q: {doc: score + noise * rng.normal() for doc, score in docs.items()} for q, docs in run.items()}
             for noise in (0.0, 5.0, 60.0)]
    metrics = ["map", "ndcg@5-l2", "rbp.95", "hit_rate@3", "r-precision-l2"]
    found, wanted = (of.compare(of.Qrels(qrels), [of.Run(one, name=f"run_{name}") for one, name in
                                                  zip(noisy, "abc", strict=True)],
                                metrics, stat_test=stat_test, n_permutations=4000, max_p=0.05)
                     for of in (ours, peer))
    assert found.win_tie_loss == wanted.win_tie_loss
    exact = stat_test != "fisher"
    if exact:
        assert found.to_latex() == wanted.to_latex()
        assert found.to_dataframe().round(12).equals(wanted.to_dataframe().round(12))
    mine, theirs = found.to_dict(), wanted.to_dict()
    assert list(mine) == list(theirs)
    for name in found.model_names:
        assert mine[name]["scores"] == pytest.approx(theirs[name]["scores"], abs=1e-12)
        for other, chances in theirs[name]["comparisons"].items():
            assert mine[name]["comparisons"][other] == pytest.approx(chances, abs=1e-12 if exact else 0.06)


# --- differences, each with its definition in docs/compat-ranx.md --------------------------------------------


def test_ties_are_ranked_by_id():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}
    assert evaluate(qrels, run, "mrr") == evaluate(Qrels(qrels), Run(run), "mrr") == 1 / 3
    assert evaluate({"q": {"c": 1}}, run, "mrr") == 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_ties_of_the_peer(peer):
    qrels, run = {"q": {"b": 1}}, {"q": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0}}
    theirs = [peer.evaluate(*pair, "mrr") for pair in ((peer.Qrels(qrels), peer.Run(run)), (qrels, run))]
    assert theirs == [1 / 2, 1 / 3]  # in the order listed, and in the order turned round
    assert evaluate(qrels, run, "mrr") == 1 / 3
    qrels, run = data(tied=True)
    band = hc.evaluate(qrels, run, "AP").tie_report()["AP"]
    assert band.worst < band.best
    for made in ("objects", "dicts"):
        theirs, mine = both(peer, made, qrels, run)
        assert band.worst - 1e-12 <= peer.evaluate(*theirs, "map") <= band.best + 1e-12
        assert evaluate(*mine, "map") == pytest.approx(band.value, abs=1e-12)
        assert peer.evaluate(*theirs, "map") != pytest.approx(band.value, abs=1e-6)


UNDEFINED = (
    {"q1": {"a": 1, "b": 0}, "q2": {"a": 0}, "q3": {"a": 1, "b": 0}, "q4": {"a": 2}},
    {q: {"a": 1.0, "b": 0.5} for q in ("q1", "q2", "q3", "q4")},
)


def test_bpref_of_queries_that_lack_a_kind():
    """Without a relevant document 0; without one that is judged not relevant, no such one is ranked above: 1."""
    found = evaluate(*UNDEFINED, ["bpref", "map"], return_mean=False)
    assert found["bpref"].tolist() == found["map"].tolist() == [1, 0, 1, 1]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_bpref_of_the_peer(peer):
    """0/0 is NaN; a division by 0 ends the loop, and the queries after it stay 0."""
    found = peer.evaluate(*UNDEFINED, ["bpref", "map"], return_mean=False)
    assert found["bpref"].tolist() == [1, 0, 0, 0]
    alone = [{"q4": side["q4"]} for side in UNDEFINED]
    assert math.isnan(peer.evaluate(*alone, "bpref"))
    assert evaluate(*alone, "bpref") == 1


TURNED = {"q1": {"a": 1}, "q2": {"b": 1}}, {"q2": {"b": 1.0}, "q1": {"x": 1.0}}


def test_dicts_are_matched_by_query():
    found = evaluate(*TURNED, ["mrr", "dcg"], return_mean=False)
    assert found["mrr"].tolist() == found["dcg"].tolist() == [0, 1]  # as the judgments are listed
    turned = evaluate({"q2": {"b": 1}, "q1": {"a": 1}}, TURNED[1], ["mrr", "rbp.5"], return_mean=False)
    assert turned["mrr"].tolist() == [1, 0]
    assert turned["rbp.5"].tolist() == [0.5, 0]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_dicts_of_the_peer(peer):
    assert peer.evaluate(*TURNED, "mrr") == 0  # it compares the first with the first
    with pytest.raises(KeyError):
        peer.evaluate(*TURNED, "mrr@5", return_mean=False)
    assert evaluate(*TURNED, "mrr@5", return_mean=False).tolist() == [0, 1]


@pytest.mark.slow
def test_levels_with_fractions(peer):
    """In dicts they are used as they are, and levels below the level of relevance count as not relevant."""
    qrels, run = data(queries=20)
    qrels = {query: {doc: level / 2 for doc, level in of.items()} for query, of in qrels.items()}
    metrics = ["ndcg", "ndcg@5", "dcg@5", "ndcg_burges@10", "map", "recall@10", "r-precision", "hits@5", "ndcg@5-l2"]
    wanted, found = (of(qrels, run, metrics, return_mean=False) for of in (peer.evaluate, evaluate))
    for metric in metrics:
        np.testing.assert_allclose(found[metric], wanted[metric], rtol=1e-12)


def test_levels_of_judgments():
    assert evaluate({"q": {"a": 0.5, "b": 1.5}}, {"q": {"a": 2.0, "b": 1.0}}, "ndcg") == pytest.approx(1 / np.log2(3))
    assert Qrels({"q": {"a": 1.9}}).qrels == {"q": {"a": 1}}  # as there
    with pytest.raises(ValueError, match="'map-l0' has the level of relevance 0"):
        evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "map-l0")


def test_equal_runs_have_p_1():
    pytest.importorskip("scipy")
    qrels, run = data(queries=6)
    for stat_test in ("student", "fisher"):
        report = compare(Qrels(qrels), [Run(run, "a"), Run(run, "b")], "map", stat_test=stat_test)
        assert report.comparisons["a", "b"]["map"] == {"p_value": 1.0, "significant": False}
        assert report.win_tie_loss["a", "b"]["map"] == {"W": 0, "T": 6, "L": 0}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_other_differences_of_the_peer(peer):
    run = {"q": {"a": 1.0}}
    assert peer.evaluate({"q": {"a": 1.5}}, run, "dcg") == 1.5
    assert peer.evaluate({"q": {"a": 0}}, run, "map-l0") == 1
    assert peer.evaluate({"q": {"a": 1}}, {"q": {"a": math.nan}}, "map") == 1

    def report(of, scores, **how):
        qrels = of.Qrels({f"q{i:02}": {"a": 1} for i in range(30)})
        runs = [of.Run({f"q{i:02}": {"a": one, "b": 0.5} for i in range(30)}) for one in scores]
        return of.compare(qrels, runs, "mrr", **how)

    assert math.isnan(report(peer, (1.0, 2.0)).comparisons["run_1", "run_2"]["mrr"]["p_value"])
    assert report(ours, (1.0, 2.0)).comparisons["run_1", "run_2"]["mrr"]["p_value"] == 1
    chances = [report(of, (1.0, 0.0), stat_test="fisher").comparisons["run_1", "run_2"]["mrr"]["p_value"]
               for of in (peer, ours)]
    assert chances == [0, 1 / 1001]
    assert str(report(peer, (0.0, 0.0))).split()[-1] == "0.5"
    assert str(report(ours, (0.0, 0.0))).split()[-1] == "0.500"


# --- evaluate -----------------------------------------------------------------------------------------------


def test_what_is_returned_and_kept():
    qrels, run = data()
    qrels, run = Qrels(qrels), Run(run, name="mine")
    assert isinstance(evaluate(qrels, run, "map"), float)
    assert evaluate(qrels, run, ["map"]) == evaluate(qrels, run, "map") == run.mean_scores["map"]
    found = evaluate(qrels, run, ["map", "mrr"], return_std=True)
    values = evaluate(qrels, run, ["map", "mrr"], return_mean=False)
    assert found == {name: {"mean": np.mean(one), "std": np.std(one)} for name, one in values.items()}
    assert run.std_scores == {name: one["std"] for name, one in found.items()}
    assert run.scores["mrr"] == dict(zip(sorted(qrels.keys()), values["mrr"], strict=True))
    other = Run(run.run)
    evaluate(qrels, other, "map", save_results_in_run=False)
    assert not other.scores
    assert not other.mean_scores
    assert evaluate(qrels, run, "map", threads=3) == run.mean_scores["map"]


def test_queries_must_be_the_same():
    qrels, run = {"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"a": 1.0}, "q3": {"a": 1.0}}
    with pytest.raises(AssertionError, match="the run lacks 'q2'"):
        evaluate(Qrels(qrels), Run(run), "map")
    with pytest.raises(AssertionError, match="the qrels lack 'q3'"):
        evaluate({"q1": {"a": 1}}, run, "map")
    with pytest.raises(AssertionError, match="the run lacks 'q2'"):
        evaluate(qrels, run, "map", make_comparable=True)  # of objects only
    made = Run(run)
    assert evaluate(Qrels(qrels), made, "map", make_comparable=True) == 0.5
    assert made.run == {"q1": {"a": 1.0}, "q2": {}}


def test_queries_without_documents():
    """A query that has no judgments, or of which nothing was retrieved, is 0."""
    qrels, run = {"q1": {}, "q2": {"a": 2}, "q3": {"a": 2}}, {"q1": {"a": 1.0}, "q2": {}, "q3": {"a": 1.0}}
    for sides in ((qrels, run), (Qrels(qrels), Run(run))):
        for metric, value in (("map", 1), ("precision", 1), ("f1@1", 1), ("dcg", 2), ("rbp.5", 1), ("ndcg-l3", 0)):
            assert evaluate(*sides, [metric, "hits"], return_mean=False)[metric].tolist() == [0, 0, value]


def test_ids_may_be_integers():
    qrels, run = {10: {1: 1}, 9: {1: 1, 2: 3}}, {9: {2: 0.5, 1: 1.5}, 10: {2: 1.0}}
    found = evaluate(qrels, run, ["mrr", "dcg@1"], return_mean=False)
    assert [one.tolist() for one in found.values()] == [[0, 1], [0, 1]]
    assert evaluate(Qrels({"q": {"a": 1}}).to_dict(), Run({"q": {"a": 1}}).to_dict(), "map") == 1


def test_arrays_are_ranked_as_listed():
    qrels, run = np.array([[[2, 5], [4, 4], [5, 3]]]), np.array([[[1, 1], [2, 1], [3, 1], [4, 1], [5, 1]]])
    dcg = 5 / math.log2(3) + 4 / math.log2(5) + 3 / math.log2(6)
    assert evaluate(qrels, run, "dcg") == pytest.approx(dcg, abs=1e-12)
    assert evaluate(list(qrels), list(run), ["mrr", "hits-l4"]) == {"mrr": 0.5, "hits-l4": 2}
    assert evaluate([*qrels, []], [*run, run[0]], "dcg") == pytest.approx(dcg / 2, abs=1e-12)
    with pytest.raises(TypeError, match="run is a dict: give Qrels and a Run, two dicts, or arrays for both"):
        evaluate(qrels, {"q": {"d": 1.0}}, "mrr")
    with pytest.raises(TypeError, match="qrels is a int"):
        evaluate(3, run, "mrr")
    with pytest.raises(ValueError, match=r"run: query 0 has the shape \(3,\)"):
        evaluate(qrels, [[1, 2, 3]], "mrr")
    with pytest.raises(AssertionError, match="different queries"):
        evaluate(qrels, [*run, *run], "dcg")


@pytest.mark.parametrize("name", ["map@x", "nonsense", "map.5", "rbp", "MAP", "ndcg@", "ndcg-l", "map-l2@5", ""])
def test_unknown_metrics(name):
    with pytest.raises(ValueError, match="metrics: "):
        evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, name)


def test_metrics_are_strings():
    with pytest.raises(AssertionError, match="metrics must be strings, got 3"):
        evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, ["map", 3])
    with pytest.raises(ValueError, match="metrics is empty"):
        evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, [])


def test_changed_judgments_are_read_again():
    qrels, run = Qrels({"q": {"a": 1, "b": 2}}), Run({"q": {"a": 2.0, "b": 1.0, "c": 0.0}})
    assert evaluate(qrels, run, "dcg@1") == 1
    qrels.add_score("q", "a", 2)
    assert evaluate(qrels, run, "dcg@1") == 2
    levels = qrels.qrels["q"]
    levels["a"] = 3
    assert evaluate(qrels, run, "dcg@1") == 3
    levels["a"] = 4
    assert evaluate(qrels, run, "dcg@1") == 4
    qrels.add_score("q", "a", 2)
    assert evaluate(qrels, run, "dcg@1") == 2
    qrels.set_relevance_level(2)
    assert (evaluate(qrels, run, "dcg@1"), evaluate(qrels, run, "hits-l2")) == (1, 0)
    qrels.add("q", ["c"], [1])
    assert evaluate(qrels, run, "mrr") == 1 / 3
    run.add_score("q", "c", 9)
    assert evaluate(qrels, run, "mrr") == 1
    qrels.qrels = {"q": {"b": 1}}
    assert evaluate(qrels, run, "mrr") == 1 / 3


def test_judgments_are_read_once(monkeypatch):
    reads, read = [], ours.read_qrels
    monkeypatch.setattr(ours, "read_qrels", lambda held: reads.append(1) or read(held))
    qrels, run = data()
    qrels = Qrels(qrels)
    for metrics in ("map", "mrr", ["map", "dcg"]):
        evaluate(qrels, Run(run), metrics)
    assert len(reads) == 1
    qrels.add_score("q0", "new", 1)
    evaluate(qrels, Run(run), ["map", "map-l2"])
    assert len(reads) == 3


def test_data_of_the_caller_stay():
    qrels, run = {"b": {"x": 1, "y": -1}, "a": {"x": 1}}, {"b": {"y": 1, "x": 2}, "a": {"x": 1}}
    kept = json.dumps([qrels, run])
    evaluate(qrels, run, ["bpref", "map-l2"])
    of, made = Qrels(qrels), Run(run)
    of.add_score("a", "new", 1)
    made.add_score("a", "new", 1)
    made.to_dict()["a"]["other"] = 1
    assert json.dumps([qrels, run]) == kept
    assert made["a"] == {"x": 1.0, "new": 1.0}


# --- objects ------------------------------------------------------------------------------------------------


def test_what_is_read_stays_while_it_is_sorted():
    qrels = Qrels({"a": {"x": 1}})
    qrels.qrels = {"b": {"x": 1, "y": 2}, "a": {"x": 1}}
    queries = qrels.keys()
    qrels.sort()
    assert (list(queries), list(qrels.keys())) == (["b", "a"], ["a", "b"])
    assert list(qrels["b"]) == ["y", "x"]


def test_queries_that_are_added_sort_no_others(monkeypatch):
    run, sorts = Run(), []
    monkeypatch.setattr(ours, "sorted", lambda *args, **how: sorts.append(args) or sorted(*args, **how), raising=False)
    for at in range(50, 0, -1):
        run.add(f"q{at:02}", ["a", "b"], [1.0, 2.0])
    assert len(sorts) <= 2 * 50 + 1
    assert list(run.to_dict().items()) == [(f"q{at:02}", {"b": 2.0, "a": 1.0}) for at in range(1, 51)]
    run.run["q02"]["c"] = 3.0
    run.add("q51", ["a"], [1.0])
    assert list(run["q02"]) == ["c", "b", "a"]
    with pytest.raises(ValueError, match="zip"):
        run.add_multi(["q60", "q61"], [["a"]], [[1.0]])
    assert len(run) == 51


def test_documents_put_into_the_dicts_are_ranked():
    qrels, run = Qrels({"q": {"a": 1}}), Run({"q": {"b": 2.0, "c": 1.0}})
    assert evaluate(qrels, run, "mrr") == 0
    run.run["q"]["a"] = 3.0
    assert evaluate(qrels, run, "mrr") == 1
    qrels.qrels["q"]["c"] = 3
    assert round(float(evaluate(qrels, run, "ndcg")), 4) == 0.6885


def test_order():
    run = Run({"q2": {"a": 1, "b": 3, "c": 2}, "q1": {"a": 1}}, "mine")
    assert run.sorted
    assert [(q, list(docs)) for q, docs in run.run.items()] == [("q1", ["a"]), ("q2", ["b", "c", "a"])]
    run.add_score("q0", "a", 5)
    assert not run.sorted
    run.sort()
    assert run.get_query_ids() == list(run.keys()) == ["q0", "q1", "q2"]
    assert run.get_doc_ids_and_scores()[0] == {"a": 5.0}
    assert (run.size, len(run), run.name, repr(Run())) == (3, 3, "mine", "{}")
    assert isinstance(run["q0"]["a"], float)


@pytest.mark.parametrize("kind", ["json", "trec", "txt", "parquet", "parq"])
def test_files(tmp_path, kind):
    if kind.startswith("parq"):
        pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
    qrels, run = Qrels({"q1": {"a": 1, "ü": 2}, "q2": {"b": 3}}), Run({"q1": {"ü": 0.25, "a": 1e-300}}, name="tag")
    for table in (qrels, run):
        path = str(tmp_path / f"file.{kind}")
        table.save(path)
        of = type(table)
        read = (of.from_parquet if kind.startswith("parq") else of.from_file)(path)
        assert read.to_dict() == table.to_dict()
        assert list(read["q1"]) == list(table["q1"])
    assert read.name == ("tag" if kind in ("trec", "txt") else None)
    if kind == "trec":
        assert (tmp_path / "file.trec").read_text(encoding="utf-8") == "q1 Q0 ü 1 0.25 tag\nq1 Q0 a 2 1e-300 tag"
        packed = tmp_path / "file.gz"
        run.save(str(packed))
        assert gzip.decompress(packed.read_bytes()) == (tmp_path / "file.trec").read_bytes()
        assert Run.from_file(str(packed), name="other").name == "other"
        assert Run.from_file(str(packed)).run == run.run


def test_frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"q": ["q2", "q1", "q2"], "d": ["a", "a", "b"], "s": [1, 2, 3]})
    names = {"q_id_col": "q", "doc_id_col": "d", "score_col": "s"}
    qrels = Qrels.from_df(frame, **names)
    assert qrels.qrels == {"q1": {"a": 2}, "q2": {"b": 3, "a": 1}}
    assert Run.from_df(frame.astype({"s": float}), **names, name="x").to_dataframe().columns.tolist() == [
        "q_id", "doc_id", "score"]
    with pytest.raises(AssertionError, match="'s' must hold float numbers"):
        Run.from_df(frame, **names)
    with pytest.raises(AssertionError, match="'q' must hold strings"):
        Qrels.from_df(frame.assign(q=1), **names)


def test_bad_input(tmp_path):
    path = tmp_path / "run.trec"
    path.write_text("q Q0 a 1 0.5 x\n\nq Q0 b 2 much x\n")
    with pytest.raises(ValueError, match=r"run.trec, line 3: .*'much'"):
        Run.from_file(str(path))
    path.write_text("q 0 a 1\nq 0 b\n")
    with pytest.raises(ValueError, match=r"run.trec, line 2: it has 3 columns, it must have 4"):
        Qrels.from_file(str(path))
    with pytest.raises(AssertionError, match="kind is 'doc'"):
        Run.from_file("run.doc")
    with pytest.raises(AssertionError, match="use from_parquet to read Parquet"):
        Run.from_file("run.parquet")
    path.write_text("{")
    with pytest.raises(ValueError, match=r"run.trec: it is not JSON: .*line 1"):
        Run.from_file(str(path), kind="json")
    path.write_text("[1]")
    with pytest.raises(ValueError, match="an object of queries"):
        Qrels.from_file(str(path), kind="json")
    with pytest.raises(ValueError, match="document 'b' of query 'q' has 'x': "):
        Qrels({"q": {"a": 1, "b": "x"}})
    with pytest.raises(TypeError, match="document 'a' of query 'q' has None: "):
        Run({"q": {"a": None}})
    with pytest.raises(TypeError, match="query 'q' holds list"):
        Run({"q": ["a"]})
    with pytest.raises(ValueError, match="the score in row 0 is NaN"):
        evaluate({"q": {"a": 1}}, {"q": {"a": math.nan}}, "map")


def test_what_stays_with_ranx():
    for name in ("fuse", "normalize", "optimize_fusion", "plot"):
        said = rf"has no {name}: use ranx for .*, `from ranx import {name}`\..* has Qrels, .* and evaluate\.$"
        with pytest.raises(AttributeError, match=said):
            getattr(ours, name)
        assert not hasattr(ours, name)
        with pytest.raises(ImportError, match=said):
            exec(f"from hitcurve.compat.ranx import {name}")
        with pytest.raises(ImportError, match=said):
            exec(f"from hitcurve.compat.ranx import Qrels, {name} as other")
    with pytest.raises(ImportError, match="use ranx for fusion"):
        from hitcurve.compat.ranx import fuse  # noqa: F401
    with pytest.raises(ImportError, match="cannot import name 'other'"):
        exec("from hitcurve.compat.ranx import other")
    with pytest.raises(AttributeError, match="has no attribute 'other'"):
        ours.other  # noqa: B018
    for call in (lambda: Qrels.from_ir_datasets("x"), lambda: Run.from_ranxhub("x"), lambda: Run().save("a.lz4")):
        with pytest.raises(AttributeError, match=r"hitcurve\.compat\.ranx does not .* ranx"):
            call()
    with pytest.raises(AttributeError, match="no typed lists"):
        Run().to_typed_list()


# --- compare ------------------------------------------------------------------------------------------------


def reports(stat_test, **how):
    pytest.importorskip("scipy")
    qrels, run = data(queries=12)
    rng = np.random.default_rng(1)
    shuffled = {q: dict(zip(docs, rng.permutation(list(docs.values())).tolist(), strict=True)) for q, docs in
                run.items()}
    perfect = {q: {doc: float(qrels[q].get(doc, 0)) + i / 1e6 for i, doc in enumerate(qrels[q])} for q in run}
    runs = [Run(shuffled, "a_1"), Run(perfect), Run(run, "c")]
    return compare(Qrels(qrels), runs, ["map", "ndcg@5-l2"], stat_test=stat_test, **how), runs


def test_tests_are_those_of_hitcurve():
    report, runs = reports("fisher", n_permutations=500, random_seed=7)
    student, _ = reports("student")
    assert report.model_names == ["a_1", "run_2", "c"]
    for metric in report.metrics:
        values = {name: list(run.scores[metric].values()) for name, run in zip(report.model_names, runs, strict=True)}
        for row in hc.compare(values, n_resamples=99).rows:
            pair = row.baseline, row.system
            assert report.comparisons[pair][metric]["p_value"] == row.p_value  # all ways of 12 queries are gone through
            assert student.comparisons[pair[::-1]][metric]["p_value"] == row.p_t
            found = report.win_tie_loss[pair][metric]
            assert sum(found.values()) == 12
            assert found["W"] == report.win_tie_loss[pair[::-1]][metric]["L"]


def test_table_and_latex():
    report, _ = reports("student", max_p=0.05)
    rows = [line.split() for line in str(report).splitlines()]
    assert rows[0] == ["#", "Model", "MAP", "NDCG@5-l2"]
    assert [row[:2] for row in rows[1:]] == [["a", "a_1"], ["b", "run_2"], ["c", "c"]]
    assert rows[2][2] == f"{report.results['run_2']['map']:.3f}ᵃᶜ"
    assert {cell[-1] for cell in rows[1][2:] + rows[3][2:]} <= set("0123456789")
    latex = report.to_latex()
    mean = report.format_score(report.results["run_2"]["map"])
    assert f"b &\nrun\\_2 &\n\\textbf{{{mean}}}$^{{ac}}$\\hphantom{{}} &\n" in latex
    assert "paired Student's t-test with $p \\le 0.05$" in latex
    percent = Report(report.model_names, report.results, report.comparisons, report.metrics, 0.05,
                     report.win_tie_loss, 4, True)
    assert percent.format_score(0.12345) == "12.35"
    assert "Tukey's HSD test" in reports("tukey")[0].to_latex()


def test_more_runs_than_letters():
    qrels = Qrels({f"q{i}": {"d1": 1} for i in range(9)})
    scores = [{"d1": 2.0, "d2": 1.0}, *[{"d1": 1.0, "d2": 2.0}] * 27]
    runs = [Run({f"q{i}": docs for i in range(9)}, name=f"m{at}") for at, docs in enumerate(scores)]
    report = compare(qrels, runs, "mrr", stat_test="fisher")
    lines = str(report).splitlines()
    assert len(lines) == 29
    assert [line.split()[0] for line in lines[26:]] == ["z", "aa", "bb"]
    assert lines[1].split()[2] == "1.000ᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖ۹ʳˢᵗᵘᵛʷˣʸᶻᵃᵃᵇᵇ"
    assert "$^{bcdefghijklmnopqrstuvwxyzaabb}$" in report.to_latex()
    assert "bb &\nm27 &\n" in report.to_latex()


def test_report_is_kept(tmp_path, capsys):
    report, _ = reports("tukey")
    report.save(str(tmp_path / "report.json"))
    assert json.loads((tmp_path / "report.json").read_text()) == report.to_dict()
    report.print_results()
    assert json.loads(capsys.readouterr().out) == report.results
    with pytest.raises(NotImplementedError, match="stat_test is 'welch'"):
        reports("welch")
    with pytest.raises(TypeError, match=r"runs\[1\] is a dict, it must be a Run"):
        compare(Qrels({"q": {"a": 1}}), [Run({"q": {"a": 1.0}}), {"q": {"a": 1.0}}], "map")
    assert ("run_2", "a_1") in report.comparisons
    assert len(report.comparisons) == 3


@pytest.mark.thread_unsafe(reason="doctest takes the process's standard output")
def test_examples():
    found = doctest.testmod(ours)
    assert found.attempted > 8
    assert found.failed == 0


# --- what is loaded -----------------------------------------------------------------------------------------


def test_nothing_is_loaded_unasked():
    code = """
import sys, hitcurve
assert not [name for name in sys.modules if name.startswith("hitcurve.compat")]
from hitcurve.compat.ranx import Qrels, Run, evaluate
evaluate(Qrels({"q": {"a": 1}}), Run({"q": {"a": 1.0}}), ["map", "rbp.95"])
print(*{name.partition(".")[0] for name in sys.modules} & {"ranx", "numba", "pandas", "scipy", "tabulate"})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == []
