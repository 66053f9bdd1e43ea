"""Evaluator: one set of judgments and measures for many runs, from dicts as they are."""

import gzip
import lzma
import math
import os
import pickle
import re
import sys
import threading
from collections import OrderedDict, defaultdict, namedtuple
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hitcurve as hc
from hitcurve.cli.main import main
from hitcurve.measures import parse
from hitcurve.retrieval import runs
from hitcurve.retrieval.nested import judge_nested, judgments_of

# Ids whose order by characters, by UTF-16 and by bytes could differ, or that begin alike for long. Scores that single
# precision makes equal.
IDS = st.sampled_from([
    "a", "b", "aa", "ab", "B", "é", "\u00ff", "\u0100", "\uffff", "\U00010000", "\U0010ffff", "d1", "d10", "",
    "document-1", "document-10", "document-1\0", "document-12345678a", "document-12345678b", "document-2",
])
SCORES = st.sampled_from([
    0.0, -0.0, 1.0, 1 + 2**-40, -1e300, 1e300, 5e-324, 1, 2**53 - 1, -3, np.float32(1.5), np.float64(1.0),
])
RUNS = st.dictionaries(st.sampled_from("abcdx"), st.dictionaries(IDS, SCORES, max_size=16), max_size=5)
LEVELS = st.dictionaries(IDS, st.integers(-1, 3), min_size=1, max_size=9)
QRELS = st.dictionaries(st.sampled_from("abcd"), LEVELS, min_size=1)
MEASURES = ["map", "ndcg_cut.10", "P@2", "Bpref", "NumRet"]


def tables(judged):
    return ([judged.table(q) for q in range(len(judged.qrels))], judged.num_retrieved().tolist(), judged.others,
            judged.ties, judged.counts())


@given(QRELS, RUNS, st.booleans(), st.booleans())
def test_dicts_as_they_are_and_their_documents(levels, run, falling, single):
    """The way that looks judged documents up and the way that reads all of them have the same rows."""
    if falling:
        run = {query: dict(sorted(of.items(), key=lambda item: -float(item[1]))) for query, of in run.items()}
    qrels = hc.read_qrels(levels)
    found = judge_nested(qrels, run, single)
    assert found is not None
    assert tables(found) == tables(runs.judge(qrels, hc.read_run(run), "score", single))


@pytest.mark.parametrize("size", [1, 63, 64, 65, 300])
@pytest.mark.parametrize("distinct", [1, 3, 40, 10**9])
def test_dicts_of_every_size(size, distinct):
    rng = np.random.default_rng(size * distinct)
    for judged in {1, size // 2 + 1, size}:
        run = {f"q{i}": {f"d{j}": rng.integers(0, distinct) / 7 for j in rng.permutation(size)} for i in range(4)}
        levels = {f"d{j}": int(rng.integers(0, 3)) for j in rng.permutation(size + 9)[:judged]}
        qrels = hc.read_qrels(dict.fromkeys(run, levels))
        assert tables(judge_nested(qrels, run)) == tables(runs.judge(qrels, hc.read_run(run)))
        for ties in ("docid", "expected", "best", "worst"):
            asked = ["AP", "nDCG@5", "RR"]
            found, again = (hc.evaluate(qrels, one, asked, ties=ties) for one in (run, hc.read_run(run)))
            assert {name: of.tobytes() for name, of in found.values.items()} == {
                name: of.tobytes() for name, of in again.values.items()}
            assert found.tie_report() == again.tie_report()


@pytest.mark.parametrize(
    ("run", "problem"),
    [
        ({"q": {"a": float("nan"), "b": 1.0}}, r"the score in row 0 is NaN \(query 'q', document 'a'\)"),
        ({"q": {"a": 1.0}, "x": {"b": float("nan")}}, r"the score in row 1 is NaN \(query 'x', document 'b'\)"),
        ({"q": {"a": "1"}}, r"the value in row 0 is '1': it must be a number \(query 'q', document 'a'\)"),
        ({"q": {"a": None}}, "the value in row 0 is None"),
        ({"q": {"a": [1], "b": [2]}}, "run has queries 'a', 'b', qrels has query 'q'"),  # a run named q, and its lists
        ({"q": {"a": [1], "b": 2}}, "query 'b' holds int, not a mapping of documents, nor a list of their ids"),
        ({"q": {"a": 1.0, "b": np.array([2])}}, r"the value in row 1 is array\(\[2\]\): it must be a number"),
        ({"q": {"a": 2**53 + 1}}, "which a double cannot hold"),
        ({"q": {"a": 10**400}}, "an integer beyond the range of a double"),
        ({"q": {b"a": 1.0}}, "an id is b'a'"),
        ({"q": {1.5: 1.0}}, "an id is 1.5"),
        ({"q": {"\ud800": 1.0}}, "UTF-8 cannot encode its lone surrogate"),
        ({"q": {"a": 1.0}, None: {}}, "an id is None"),
        ({"q": [("a", 1.0)]}, r"query 'q' holds \('a', 1.0\) in a list: a list has ids alone"),
    ],
)
def test_what_is_refused(run, problem):
    """Whatever the quick way leaves is refused by the other one, in its words."""
    assert judge_nested(hc.read_qrels({"q": {"a": 1}}), run) is None
    with pytest.raises((ValueError, TypeError), match=problem):
        hc.evaluate({"q": {"a": 1}}, run, "AP")


def test_ids_as_numbers_and_as_texts():
    qrels = {"1": {"4": 1, "5": 0}}
    texts = {"1": {"4": 1.0, "5": 2.0}}
    for judged in (qrels, {1: {4: 1, 5: 0}}, {"qid": [1, 1], "docid": [4, 5], "rel": [1, 0]}):
        for run in (texts, {1: {4: 1.0, 5: 2.0}}, {"1": {4: True, 5: 2.0}},
                    {"1": {"4": np.float16(1), "5": np.longdouble(2)}}):
            assert hc.evaluate(judged, run, "RR").means == {"RR": 0.5}
    assert judgments_of({1: {4: 1}}, "qrels") is None


@pytest.mark.parametrize("level", [2e9, math.nan, "1", None, True, 2**31, -(2**31), 10**30])
def test_judgments_that_are_no_levels(level):
    assert judgments_of({"q": {"a": 1, "b": level}}, "qrels") is None
    if level is not True:
        with pytest.raises(ValueError, match="row 1"):
            hc.read_qrels({"q": {"a": 1, "b": level}})


def test_dicts_of_other_kinds():
    """As parsers make them; a class of one's own goes the way of all mappings."""

    class Upper(dict):
        def items(self):
            return [(key.upper(), value) for key, value in super().items()]

        def __iter__(self):
            return iter([key.upper() for key in super().__iter__()])

    made = OrderedDict(b=2.0, a=1.0)
    made.move_to_end("b", last=False)
    runs_ = [defaultdict(dict, q=made), OrderedDict(q=defaultdict(float, made)), {"q": MappingProxyType(made)}]
    for judged in (defaultdict(dict, q=OrderedDict(a=1, b=0)), {"q": MappingProxyType({"a": 1, "b": 0})}):
        for run in runs_:
            assert hc.evaluate(judged, run, "RR").means == {"RR": 0.5}
            assert list(judged) == list(run) == ["q"]
    assert hc.evaluate({"q": {"A": 1}}, {"q": Upper(made)}, "RR").means == {"RR": 0.5}


def test_ordered_dicts_that_were_reordered():
    """Their order is not that of the dict beneath, which the C functions see."""
    levels, docs = OrderedDict(a=1, b=0), OrderedDict(a=1.0, b=1.0, c=1.0)
    levels.move_to_end("a")
    docs.move_to_end("a")
    for run in (docs, dict(docs)):
        assert hc.evaluate({"q": levels}, {"q": run}, ["RR", "NumRel"]).means == {"RR": 1 / 3, "NumRel": 1.0}
    assert hc.evaluate({"q": levels}, {"q": docs}, "RR", rank_by="listed").means == {"RR": 1 / 3}


def test_a_dict_that_another_thread_changes():
    """A query is measured as it is at one moment: here the judged document is always the last."""
    docs = {"a": 1.0, **{f"b{i}": 1.0 for i in range(2000)}}
    evaluator = hc.Evaluator({"q": {"a": 1}}, ["RR", "NumRet"])
    stop, interval = threading.Event(), sys.getswitchinterval()

    def change():
        while not stop.is_set():
            for i in range(500):
                docs[f"c{i}"] = 1.0
            for i in range(500):
                del docs[f"c{i}"]

    thread = threading.Thread(target=change)
    sys.setswitchinterval(1e-6)
    thread.start()
    try:
        found = [evaluator.evaluate({"q": docs}).means for _ in range(1000)]
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        thread.join()
    assert [one for one in found if one["RR"] != 1 / one["NumRet"]] == []


def test_a_query_called_like_a_measure():
    found = hc.evaluate({"map": {"a": 1}, "P_1": {"a": 1}}, {"map": {"a": 1.0}}, ["P@1", "AP", "map"])
    assert found["map"] == found["AP"] == 0.5  # as it was asked for
    assert found["P_1"] == {"P@1": 0.0, "AP": 0.0, "map": 0.0}  # the query, as the measure was asked for otherwise
    assert found["P@1"] == found["precision@1"] == 0.5


def test_names_that_were_asked_for():
    qrels, run = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}, {"q1": {"a": 1.0, "b": 2.0}, "q2": {"c": 1.0}}
    found = hc.evaluate(qrels, run, ["map", "ndcg_cut.10", "AP@5", parse("P@1")])
    assert list(found.values) == list(found.means) == list(found.definitions) == ["map", "ndcg_cut.10", "AP@5", "P@1"]
    assert found.means["map"] == found.means["AP"] == found["map"] == found["AP"] == found["MAP"] == 0.75
    assert found.means["nDCG@10"] == found.means["ndcg_cut_10"] == found["ndcg_cut.10"]
    assert found["q1"]["map"] == found["q1"]["AP"] == 0.5
    assert list(found) == found.query_ids == ["q1", "q2"]
    assert len(found) == 2
    assert [found[q]["P@1"] for q in found] == found.values["P_1"].tolist() == [0.0, 1.0]
    assert found.to_dict()["queries"] == {q: dict(found[q]) for q in found}
    for name in ("RR", "no such measure", "q3", 7, None):
        with pytest.raises(KeyError):
            found.means[name]
        with pytest.raises(KeyError):
            found[name]
        assert name not in found.means
        assert found.means.get(name) is None
    for name, alike in (("Q1", "'q1'"), ("AP@50", "'AP@5'"), ("mapp", "'map'")):
        with pytest.raises(KeyError, match=f"neither a measure nor a query of this evaluation; near names: .*{alike}"):
            found[name]
    again = pickle.loads(pickle.dumps(found))
    assert again["AP"] == again["map"] == 0.75
    tied = hc.evaluate(qrels, {"q1": {"a": 1.0, "b": 1.0}}, ["map"])
    for one in (tied, pickle.loads(pickle.dumps(tied)), pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(tied))))):
        assert one.tie_report()["AP"] == one.tie_report()["map"] == tied.tie_report()["map"]
    # A set goes by the names here, a measure under two names is there twice.
    assert list(hc.evaluate(qrels, run, "set").means)[:2] == ["NumQ", "NumRet"]
    assert dict(hc.evaluate(qrels, run, ["AP", "map"]).means) == {"AP": 0.75, "map": 0.75}


def test_measures_of_ir_measures():
    ir_measures = pytest.importorskip("ir_measures")
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 2.0}}
    asked = [ir_measures.AP @ 5, ir_measures.nDCG(dcg="exp-log2") @ 10, ir_measures.P(rel=1) @ 1, ir_measures.RR]
    found = hc.evaluate(qrels, run, asked)
    assert list(found.means) == [str(one) for one in asked]
    assert found.means[ir_measures.AP @ 5] == found["AP@5"] == 0.5
    assert hc.evaluate(qrels, run, ir_measures.RR).means == {"RR": 0.5}


def test_an_evaluator_is_evaluate():
    qrels = {"q": {"a": 1, "b": 0, "c": 2}, "r": {"a": 1}, "s": {"b": 0}}
    mine = {"q": {"a": 1.0, "b": 1.0, "c": 0.5}, "x": {"a": 1.0}}
    for options in ({}, {"ties": "expected"}, {"missing": "skip"}, {"empty": "skip"}, {"relevance_level": 2},
                    {"judged_only": True}, {"depth": 1}, {"rank_by": "listed"}, {"scores": "float32"}):
        evaluator = hc.Evaluator(qrels, MEASURES, **options) if options.get("ties") is None else hc.Evaluator(
            qrels, ["map", "P@2"], **options)
        copy = pickle.loads(pickle.dumps(evaluator))
        for one in (evaluator, copy):
            found = one.evaluate(mine)
            asked = list(found.means)
            assert found.to_dict() == hc.evaluate(qrels, mine, asked, **options).to_dict()
            assert found.tie_report() == hc.evaluate(qrels, mine, asked, **options).tie_report()
    assert hc.Evaluator(qrels).evaluate(mine, "mine").name == "mine"
    with pytest.raises(ValueError, match=r"^name is 'm', which names a single run, but run has 2 runs"):
        hc.Evaluator(qrels, workers=2).evaluate([mine, mine], "m")


def test_an_evaluator_does_not_follow_its_arguments():
    qrels, names = {"q": {"a": 1}}, ["AP"]
    evaluator = hc.Evaluator(qrels, names)
    before = evaluator.evaluate({"q": {"a": 1.0}}).to_dict()
    qrels["q"]["b"] = 1
    names.append("RR")
    assert evaluator.evaluate({"q": {"a": 1.0}}).to_dict() == before
    assert pickle.loads(pickle.dumps(evaluator)).evaluate({"q": {"a": 1.0}}).to_dict() == before
    found = evaluator.evaluate({"q": {"a": 1.0}})
    found.definitions.clear()
    found.query_ids.clear()
    assert evaluator.evaluate({"q": {"a": 1.0}}).to_dict() == before


@pytest.mark.parametrize("kind", ["text", "arrays", "texts"])
def test_judgments_and_runs_are_pickled(tmp_path, kind):
    path = tmp_path / "qrels"
    path.write_text("q 0 a 1\nq 0 b 0\n")
    source = {"text": path, "arrays": {"qid": [1, 1], "docid": [4, 5], "rel": [1, 0]}, "texts": {"q": {"a": 1}}}[kind]
    qrels = hc.read_qrels(source)
    again = pickle.loads(pickle.dumps(qrels))
    assert (repr(again), again.query_ids, again.integers) == (repr(qrels), qrels.query_ids, qrels.integers)
    run = hc.read_run({"q": {"a": 1.0, "b": 2.0}})
    if kind == "arrays":
        run = hc.read_run({"qid": [1, 1], "docid": [4, 5], "score": [1.0, 2.0]})
    found = hc.evaluate(again, pickle.loads(pickle.dumps(run)), "RR")
    assert found.to_dict() == hc.evaluate(qrels, run, "RR").to_dict()


def test_threads_share_an_evaluator():
    rng = np.random.default_rng(0)
    qrels = {f"q{i}": {f"d{j}": int(j % 3) for j in range(20)} for i in range(30)}
    some = [{q: {f"d{j}": float(rng.random()) for j in range(50)} for q in qrels} for _ in range(8)]
    evaluator = hc.Evaluator(hc.read_qrels(qrels), ["AP", "nDCG@10"])
    known = [hc.evaluate(qrels, run, ["AP", "nDCG@10"]).means for run in some]
    found = [None] * len(some)

    def work(i):
        for _ in range(5):
            found[i] = evaluator.evaluate(some[i]).means

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(some))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == known


def test_no_report_for_a_measure_that_no_tie_touches():
    found = hc.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 2.0}}, ["AP", "ndcg"])
    assert found.tie_report() == {}
    for name in ("AP", "map", "ndcg", "nDCG", "RR"):
        assert name not in found.tie_report()
        assert found.tie_report().get(name) is None
        with pytest.raises(KeyError, match=name):
            found.tie_report()[name]


@pytest.mark.parametrize("option", ["judged_only", "strict"])
def test_options_that_are_true_or_false(option):
    with pytest.raises(TypeError, match=f"{option} must be True or False"):
        hc.Evaluator({"q": {"a": 1}}, **{option: "no"})


def test_warnings_point_at_the_caller(tmp_path):
    path = tmp_path / "run"
    path.write_text("q Q0 a 1 x t\n")
    qrels = {"q": {"a": 1}}
    for call in (lambda: hc.evaluate(qrels, path, strict=False), lambda: hc.read_run(path, strict=False),
                 lambda: hc.Evaluator(qrels, strict=False).evaluate([path]),
                 lambda: hc.evaluate(qrels, {"q": {"b": 1.0, "a": 2.0}}, rank_by="listed")):
        with pytest.warns(UserWarning) as told:
            call()
        assert [one.filename for one in told] == [__file__]


# --- names ----------------------------------------------------------------------------------------------------


@pytest.fixture
def written(tmp_path):
    """Runs in files, by their names: the tag, and what is written."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    for name, tag, score in (("a/run.txt", "t", 2), ("b/run.txt", "t", 0), ("low.txt.gz", "t", 0.5),
                             ("other.res", "u", 3), ("packed.xz", "v", 3)):
        text = f"q Q0 d 1 {score} {tag}\nq Q0 e 2 1 {tag}\n".encode()
        pack = {"gz": gzip.compress, "xz": lzma.compress}.get(name[-2:], bytes)
        (tmp_path / name).write_bytes(pack(text))
    (tmp_path / "empty.txt.gz").write_bytes(gzip.compress(b""))
    (tmp_path / "run.csv").write_text("query_id,doc_id,score\nq,d,1\n")
    (tmp_path / "run.json").write_text('{"q": {"d": 1}}')
    return tmp_path


Scored = namedtuple("Scored", "query_id doc_id score")
DICT = {"q": {"d": 1.0, "e": 2.0}}
JUDGED = {"q": {"d": 1, "e": 0}}


@pytest.mark.parametrize(
    ("runs", "names"),
    [
        (["a/run.txt", "other.res"], ["run.txt", "other.res"]),
        (["a/run.txt", "low.txt.gz", "other.res"], ["run.txt", "low.txt", "other.res"]),
        (["a/run.txt", "b/run.txt"], ["a/run.txt", "b/run.txt"]),
        (["a/run.txt", "a/run.txt", "other.res"], ["run.txt 1", "run.txt 2", "other.res"]),
        ([DICT, DICT], ["run 1", "run 2"]),
        ([DICT, "other.res", DICT], ["run 1", "other.res", "run 3"]),
        (["run.csv", "run.json", "packed.xz"], ["run.csv", "run.json", "packed"]),
        ([DICT], ["run"]),
    ],
)
def test_runs_of_a_list_have_names_that_differ(written, monkeypatch, runs, names):
    monkeypatch.chdir(written)
    for one in (runs, [run if run is DICT else hc.read_run(run) for run in runs]):
        found = hc.evaluate(JUDGED, one, "AP", workers=2)
        assert [one.name for one in found] == names
        hc.Leaderboard(found)
        if len(found) > 1:
            assert [one.system for one in hc.compare(found, n_resamples=9, rng=0).systems] == names
    for run, one in zip(runs, found, strict=True):
        alone = hc.evaluate(JUDGED, run)
        assert (one.tag, one.name.partition(" ")[0].endswith(alone.name)) == (alone.tag, True)


@pytest.mark.parametrize(("runs", "baseline", "name"), [
    (["a/run.txt", "low.txt.gz", "other.res"], "low.txt.gz", "low.txt"),
    (["a/run.txt", "low.txt.gz", "other.res"], "low", "low.txt"),
    (["a/run.txt", "low.txt.gz", "other.res"], "other", "other.res"),
    (["a/run.txt", "low.txt.gz", "other.res"], "u", "other.res"),
    (["a/run.txt", "low.txt.gz", "other.res"], "./a/../a/run.txt", "run.txt"),
    (["a/run.txt", "low.txt.gz", "other.res"], Path("a/run.txt"), "run.txt"),
    (["a/run.txt", "b/run.txt"], "b/run.txt", "b/run.txt"),
    ({"first": "a/run.txt", "run": "other.res"}, "run", "run"),  # a name wins
    ({"first": "a/run.txt", "run": "other.res"}, "run.txt", "first"),
    ({"v1.0": "a/run.txt", "v1.5": "other.res"}, "t", "v1.0"),
])  # fmt: skip
def test_a_baseline_is_a_name_a_file_or_a_tag(written, monkeypatch, capsys, runs, baseline, name):
    """The same in `compare`, in `Leaderboard`, from values in JSON, and for files on the command line."""
    monkeypatch.chdir(written)
    judged = {"q": JUDGED["q"], "p": JUDGED["q"]}
    found = hc.evaluate(judged, runs, "AP")
    rows = hc.compare(found, baseline=baseline, n_resamples=9, rng=0).rows
    assert {row.baseline for row in rows} == {name}
    assert f"better than {name}, " in str(hc.Leaderboard(found, baseline=baseline, n_resamples=9, rng=0))
    named = isinstance(runs, dict)
    if not named and os.path.basename(baseline) == baseline and not baseline.endswith(".gz"):
        again = [hc.Evaluation.from_json(one.to_json()) for one in found]
        assert hc.compare(again, baseline=baseline, n_resamples=9, rng=0).rows == rows
    if not named:
        Path("qrels.txt").write_text("".join(f"{q} 0 {d} {level}\n" for q in judged for d, level in judged[q].items()))
        arguments = "-m", "AP", "--resamples", "9", "--format", "csv", "--baseline", str(baseline)
        main(["trec", "qrels.txt", *runs, *arguments])
        assert {line.split(",")[1] for line in capsys.readouterr().out.splitlines()[1:]} == {name}


@pytest.mark.parametrize(("runs", "baseline", "problem"), [
    (["a/run.txt", "low.txt.gz"], "t", "baseline='t' is more than one of the systems: 'run.txt' (tag 't'), "
                                       "'low.txt' (tag 't'): name one of them"),
    (["a/run.txt", "b/run.txt"], "run", "'a/run.txt' (tag 't'), 'b/run.txt' (tag 't'): name one of them"),
    ({"x": "a/run.txt", "low": "low.txt.gz", "d": DICT}, "lox", "baseline='lox' is not one of the systems: "
     "'x' (file 'a/run.txt', tag 't'), 'low' (tag 't'), 'd'; did you mean 'low'?"),
    ({"v1.0": DICT, "w": DICT}, "v1", "baseline='v1' is not one of the systems: 'v1.0', 'w'"),
    ({"v1.0": DICT, "w": DICT}, ".", "baseline='.' is not one of the systems: "),
    ({"v1.0": DICT, "w": DICT}, "", "baseline='' is not one of the systems: "),
    ({"v1.0": DICT, "w": DICT}, 3, "baseline=3 is not one of the systems: "),
])  # fmt: skip
def test_a_baseline_that_is_not_one_system(written, monkeypatch, runs, baseline, problem):
    monkeypatch.chdir(written)
    found = hc.evaluate(JUDGED, runs, "AP")
    for call in (hc.compare, hc.Leaderboard):
        with pytest.raises(ValueError, match=re.escape(problem)):
            call(found, baseline=baseline)


def test_runs_of_any_iterable_are_those_of_a_list(written, monkeypatch):
    monkeypatch.chdir(written)
    paths = ["a/run.txt", "low.txt.gz", "other.res"]
    found = hc.evaluate(JUDGED, paths, "AP")
    numbered = dict(enumerate(paths))
    for several in (iter(paths), map(Path, paths), dict.fromkeys(paths).keys(), numbered.values(), tuple(paths)):
        assert hc.evaluate(JUDGED, several, "AP") == found
    assert hc.evaluate(JUDGED, Path().glob("low.*"), "AP") == found[1:2]
    named = {one.name: one for one in found}
    for call in (hc.Leaderboard, lambda some: hc.compare(some, n_resamples=9, rng=0)):
        assert str(call(named.values())) == str(call(iter(found))) == str(call(found))


def test_a_run_without_a_tag_has_the_name_of_its_file(written):
    with pytest.warns(UserWarning, match=r"empty.txt.gz: the run has no documents"):
        assert hc.evaluate(JUDGED, written / "empty.txt.gz").name == "empty.txt"
    assert hc.evaluate(JUDGED, written / "run.csv").name == "run.csv"
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"query_id": ["q"], "doc_id": ["d"], "score": [1.0]})
    pytest.importorskip("pyarrow.parquet").write_table(table, written / "run.parquet")
    for run in (written / "run.parquet", hc.read_run(written / "run.parquet")):
        for one in (run, pickle.loads(pickle.dumps(run))):
            assert hc.evaluate(JUDGED, one).name == "run.parquet"
    with pytest.raises(ValueError, match=r"run.parquet and qrels have no query in common"):
        hc.evaluate({"p": {"d": 1}}, written / "run.parquet")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_mapping_of_names_to_runs(written, workers):
    columns = {"query_id": ["q", "q"], "doc_id": ["d", "e"], "score": [1.0, 2.0]}
    runs = {"file": written / "a/run.txt", "text": str(written / "b/run.txt"), "dict": DICT, "columns": columns,
            "read": hc.read_run(DICT), "arrays": tuple(map(np.array, columns.values())),
            "tuples": [Scored(*row) for row in zip(*columns.values(), strict=True)]}
    found = hc.evaluate(JUDGED, MappingProxyType(runs), "AP", workers=workers)
    assert list(found) == [one.name for one in found.values()] == list(runs)
    assert {name: one.means["AP"] for name, one in found.items()} == {
        name: hc.evaluate(JUDGED, run, "AP").means["AP"] for name, run in runs.items()}
    hc.Leaderboard(found)
    hc.compare(found, baseline="dict", n_resamples=9, rng=0)
    assert hc.evaluate(JUDGED, runs["file"], "AP", name="mine").name == "mine"
    for run, name, problem in (
        ({3: DICT}, None, "^the names of runs must be strings, got 3"),
        (DICT, 3, "^name must be a string, got 3"),
        (runs, "x", "^name is 'x', which names a single run, but run has 7 runs"),
    ):
        with pytest.raises((TypeError, ValueError), match=problem):
            hc.evaluate(JUDGED, run, "AP", name=name)


def test_an_error_shows_the_queries_of_either_side():
    sides = r"run has queries '1.0', 'b', 'c' and 1 more, qrels has query '1'"
    with pytest.raises(ValueError, match=rf"^run and qrels have no query in common: {sides}$"):
        hc.evaluate({"1": {"d": 1}}, {query: {"d": 1.0} for query in ("1.0", "b", "c", "d")})


@pytest.mark.parametrize("queries", [1, 9, 10, 40])
@pytest.mark.parametrize("kind", ["dicts", "frames", "rows", "read"])
def test_ids_of_documents_that_are_never_the_same(queries, kind, recwarn):
    """Items 178 and 178.0 are not the same: every value is 0, and nothing else says why."""
    qrels = {str(q): {str(100 + q + i): 1 for i in range(3)} for q in range(queries)}
    for apart in (True, False):
        run = {query: {doc + ".0" * apart: float(doc) for doc in docs} for query, docs in qrels.items()}
        judged, listed = qrels, run
        if kind == "frames":
            rows = [[(query, doc, value) for query, docs in one.items() for doc, value in docs.items()]
                    for one in (qrels, run)]
            judged, listed = (dict(zip(("user_id", "item_id", name), map(list, zip(*one, strict=True)), strict=True))
                              for one, name in zip(rows, ("rating", "score"), strict=True))
        elif kind == "rows":
            judged = [list(map(int, docs)) for docs in qrels.values()]
            listed = [[doc + 10**6 * apart for doc in docs] for docs in judged]
        elif kind == "read":
            listed = hc.read_run(run)
        found = hc.evaluate(judged, listed, ["AP", "P@5"])
        said = [note for note in found.notes if "none of its" in note]
        assert len(said) == apart == (found.counts["judged"] == 0)
        assert [str(one.message) for one in recwarn] == (said if queries >= 10 else [])
        assert not said or said[0].startswith(f"run: none of its {3 * queries} documents has a judgment: ")
        assert not said or said[0].endswith("qrels has '100'")
        recwarn.clear()
