"""What `read_qrels` and `read_run` return are mappings, in everything that a dict of the same numbers says."""

import collections.abc
import copy
import lzma
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hitcurve as hc
from hitcurve.compat import pytrec_eval, ranx
from hitcurve.retrieval.formats import is_mapping_of_runs, is_one_run

QRELS = {"q 1": {"é x": -1, "b": 2, "日本": 0}, "q2": {"a": 1}, "none": {}, "ÿ": {"b": 1}}
RUN = {"ÿ": {"b": -1.5, "é x": -0.0}, "q 1": {"b": 1e300, "x": 5e-324, "é x": -7}, "other": {"日本": 3.0}}
IDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=3)


class Twin(collections.abc.Mapping):
    """A mapping as the standard library makes it."""

    def __init__(self, held):
        self.held = held

    def __getitem__(self, key):
        return self.held[key]

    def __iter__(self):
        return iter(self.held)

    def __len__(self):
        return len(self.held)


def agree(found, held):
    """All that a mapping does, in the same order and of the same types."""
    assert isinstance(found, collections.abc.Mapping)
    assert not isinstance(found, collections.abc.Sequence)
    assert list(found) == list(held) == found.query_ids
    assert len(found) == len(held)
    assert bool(found) == bool(held)
    assert list(map(repr, found.values())) == list(map(repr, held.values()))  # with types, signs and order
    assert list(found.items()) == list(held.items())
    assert repr(found.to_dict()) == repr(dict(found)) == repr({**found}) == repr(held)
    assert found.keys() == held.keys()
    assert found.keys() & {"q2"} == held.keys() & {"q2"}
    assert found.items() == Twin(held).items()
    assert found == held
    assert held == found
    assert found == Twin(held)
    assert Twin(held) == found
    assert [found != one for one in (held, Twin(held), 1, [])] == [False, False, True, True]
    for query, docs in held.items():
        assert query in found
        assert found[query] == found.get(query) == found.get(query, 3) == docs
        assert found != {**held, query: {**docs, "more": 1}}
        assert found != {one: of for one, of in held.items() if one != query}
    for query in ("never", "", 0, None, ("q2",), "\ud800"):
        assert query not in found
        assert found.get(query) is None
        assert found.get(query, 3) == 3
        with pytest.raises(KeyError, match=r"has no query"):
            found[query]
    with pytest.raises(TypeError, match="not reversible"):
        reversed(found)
    for again in (pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found)):
        assert again == found
        assert hash(again) == hash(found)


def test_judgments_and_runs_of_dicts():
    agree(hc.read_qrels(QRELS), QRELS)
    full = {query: {doc: float(score) for doc, score in docs.items()} for query, docs in RUN.items()}
    agree(hc.read_run(RUN), full)
    agree(hc.read_run({**RUN, "nothing": {}}), full)  # a run leaves out queries without documents
    agree(hc.read_run({}), {})


@given(st.dictionaries(IDS, st.dictionaries(IDS, st.floats(allow_nan=False), max_size=4), max_size=4))
def test_any_run(held):
    found = hc.read_run(held)
    full = {query: docs for query, docs in held.items() if docs}
    assert repr(found.to_dict()) == repr(full)
    assert found == full
    assert found == hc.read_run(dict(reversed(full.items())))
    assert hash(found) == hash(hc.read_run(dict(reversed(full.items()))))


@given(st.dictionaries(IDS, st.dictionaries(IDS, st.integers(-(10**9), 10**9), min_size=1), min_size=1, max_size=4))
def test_any_judgments(held):
    found = hc.read_qrels(held)
    assert repr(found.to_dict()) == repr(held)
    assert found == hc.read_run(held)  # the same numbers
    assert hash(found) == hash(hc.read_run(held))


def test_files_whose_lines_are_in_any_order(tmp_path):
    path = tmp_path / "run"
    path.write_bytes(b"q1 Q0 b 1 2.5 t\n\xff Q0 a 1 -1e3 t\nq1 Q0 \xfe 2 0 t\n")
    agree(hc.read_run(path), {"q1": {"b": 2.5, "\udcfe": 0.0}, "\udcff": {"a": -1000.0}})
    path.write_bytes(b"q1 0 b 2\n\xff 0 a 1\nq1 0 \xfe -2\n")
    agree(hc.read_qrels(path), {"q1": {"b": 2, "\udcfe": -2}, "\udcff": {"a": 1}})


def test_integer_ids_are_texts():
    rows = {"query_id": np.array([3, 3, 10]), "doc_id": np.array([7, -8, 7]), "score": np.array([1.0, 0.5, 0.25])}
    agree(hc.read_run(rows), {"3": {"7": 1.0, "-8": 0.5}, "10": {"7": 0.25}})
    agree(hc.read_qrels([[4, 7], [2], {9: 3, 1: 1}]), {"0": {"4": 1, "7": 1}, "1": {"2": 1}, "2": {"9": 3, "1": 1}})
    with pytest.raises(KeyError, match="query ids are strings"):
        hc.read_qrels([[4, 7], [2]])[0]


def test_judgments_by_subtopic_have_the_highest_levels():
    agree(hc.read_qrels({"q": {"d": {"s": 1, "t": 3}, "e": {"s": 0}}}, subtopics=True), {"q": {"d": 3, "e": 0}})


def test_lookups_are_copies():
    run = hc.read_run({"q": {"a": 1.0}})
    run["q"]["b"] = 2.0
    run.to_dict()["q"]["a"] = 3.0
    assert run == {"q": {"a": 1.0}}
    with pytest.raises(TypeError):
        run["q"] = {}


def test_match_and_numpy_see_a_mapping():
    run = hc.read_run({"q": {"a": 1.0}})
    match run:
        case {"q": {"a": score}, **others}:
            assert (score, others) == (1.0, {})
        case _:
            raise AssertionError
    assert np.array([run, run]).shape == (2,)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(library, tmp_path):
    pytest.importorskip(library)
    qrels, run = hc.read_qrels(QRELS), hc.read_run(RUN)
    judged, ranked = (getattr(one, f"to_{library}")() for one in (qrels, run))
    assert list(judged.columns) == ["query_id", "doc_id", "relevance"]
    assert list(ranked.columns) == ["query_id", "doc_id", "score"]
    assert np.array(judged["relevance"]).dtype == np.int64
    assert list(zip(judged["query_id"], judged["doc_id"], judged["relevance"], strict=True)) == [
        (query, doc, level) for query, docs in QRELS.items() for doc, level in docs.items()]
    assert hc.read_qrels(judged) == {query: docs for query, docs in QRELS.items() if docs}
    assert repr(hc.read_run(ranked).to_dict()) == repr(run.to_dict())
    path = tmp_path / "run"
    path.write_bytes(b"q1 Q0 b 1 2.5 t\nq1 Q0 \xfe 2 0 t\n")
    ranked = getattr(hc.read_run(path), f"to_{library}")()
    assert list(ranked["doc_id"]) == ["b", "\\xfe"]
    assert list(ranked["rank"]) == [1, 2]
    path.write_bytes(b"q1 Q0 b x 2.5 t\nq1 Q0 c 2 0 t\n")
    assert "rank" not in getattr(hc.read_run(path), f"to_{library}")().columns
    empty = getattr(hc.read_run({}), f"to_{library}")()
    assert (len(empty), list(empty.columns)) == (0, ["query_id", "doc_id", "score"])


def test_ranks_come_back():
    pytest.importorskip("pandas")
    rows = {"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [1.0, 2.0], "rank": [1, 2]}
    again = hc.read_run(hc.read_run(rows).to_pandas())
    with pytest.warns(UserWarning, match="scores rise"):
        assert hc.evaluate({"q": {"a": 1}}, again, "P@1", rank_by="rank")["P@1"] == 1


@pytest.mark.parametrize("name", ["query", "qid", "query_id", "doc_id", "q"])
def test_a_run_is_one_run_whatever_its_queries_are_called(name):
    qrels, run = {name: {"query": 1, "b": 0}}, hc.read_run({name: {"b": 2.0, "query": 1.0}})
    assert not is_mapping_of_runs(run)
    assert is_one_run(run)
    assert is_mapping_of_runs({"mine": run})
    assert is_mapping_of_runs({"mine": hc.read_run({})})
    found = hc.evaluate(qrels, run, "RR")
    assert found["RR"] == 0.5
    assert hc.evaluate(qrels, {"mine": run}, "RR")["mine"]["RR"] == 0.5
    assert [one["RR"] for one in hc.evaluate(hc.read_qrels(qrels), [run, run], "RR")] == [0.5, 0.5]
    assert hc.rbo(run, run).ext.tolist() == [1.0]


def test_one_is_not_taken_for_the_other():
    qrels, run = hc.read_qrels({"q": {"a": 1}}), hc.read_run({"q": {"a": 1.0}})
    for call in (lambda: hc.evaluate(qrels, qrels), lambda: hc.read_run(qrels), lambda: hc.rbo(run, qrels),
                 lambda: hc.evaluate(qrels, {"mine": qrels})):
        with pytest.raises(TypeError, match=r"is a Qrels, not a Run: pass its to_dict\(\)"):
            call()
    with pytest.raises(TypeError, match=r"qrels is a Run, not judgments: pass its to_dict\(\)"):
        hc.evaluate(run, qrels)
    assert hc.evaluate(run.to_dict(), qrels.to_dict(), "AP")["AP"] == 1


@pytest.mark.parametrize("name", ["Leaderboard", "compare", "plot_curves", "plot_evaluations"])
def test_a_run_is_no_evaluation(name):
    if name.startswith("plot"):
        pytest.importorskip("matplotlib")
    with pytest.raises(TypeError, match=r"must be|is of type dict"):
        getattr(hc, name)(hc.read_run(RUN))


def test_the_modules_of_other_libraries_take_them():
    qrels, run = hc.read_qrels({"q": {"a": 1, "b": 0}}), hc.read_run({"q": {"a": 1.0, "b": 2.0}})
    evaluator = pytrec_eval.RelevanceEvaluator(qrels.to_dict(), {"map"})
    assert evaluator.evaluate(run.to_dict()) == {"q": {"map": 0.5}}
    assert ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "map") == 0.5


def test_real_runs(shared_data):
    path = min((shared_data / "trec_covid").rglob("runs/*RMITBM1*"))
    held = {}
    for line in lzma.decompress(path.read_bytes()).decode().splitlines():
        query, _, doc, _, score, _ = line.split()
        held.setdefault(query, {})[doc] = float(score)
    run = hc.read_run(path)
    assert repr(run.to_dict()) == repr(held)
    judged = {query: {doc: i % 3 - 1 for i, doc in enumerate(docs)} for query, docs in held.items()}
    found = hc.evaluate(judged, run, ["AP", "nDCG@10", "Bpref"])
    expected = hc.evaluate(judged, run.to_dict(), ["AP", "nDCG@10", "Bpref"])
    assert {name: of.tobytes() for name, of in found.values.items()} == {
        name: of.tobytes() for name, of in expected.values.items()}
