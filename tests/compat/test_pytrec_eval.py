"""The drop-in for pytrec_eval against pytrec_eval itself: every value to the last bit, every difference by name."""

import doctest
import lzma
import math
import random
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from hitcurve.compat import pytrec_eval as ours

theirs = pytest.importorskip("pytrec_eval", reason="pytrec_eval, whose numbers these are, is not installed")

sys.path.insert(0, str(Path(__file__).parent))
from signatures import same_signature  # noqa: E402

ALL = sorted(theirs.supported_measures)
QRELS = {"q": {"a": 1, "b": 0, "c": 2, "z": 1}, "q2": {"a": 0}}
RUN = {"q": {"a": 1.0, "b": 2.0, "c": 0.5, "u": 0.1}, "q2": {"a": 1.0, "b": 2}}


def case(seed):
    """Judgments and a run. Each query has a document that is judged 0 and retrieved, see the differences below."""
    rng = random.Random(seed)
    qrels, run = {}, {}
    for q in rng.sample(range(20), rng.choice([1, 3, 9])):
        docs = {rng.choice("dé\u03a9\U0001d4b3") + str(rng.randrange(10**rng.choice([2, 6])))
                for _ in range(rng.choice([1, 3, 12, 50, 120 if seed % 9 else 1200]))}
        score = rng.random if rng.random() < 0.5 else lambda: rng.choice([0, 1, 1.5, -2, 1 + 1e-9, 1e39, -0.0, True])
        levels = rng.choice([[0, 1], [-3, -1, 0, 1, 2, 5], [0]])
        share = rng.choice([0.1, 0.5, 1.0])
        judged = [doc for doc in sorted(docs) if rng.random() < share]
        judged += [f"x{i}" for i in range(rng.choice([0, 1, 30]))]
        if rng.random() < 0.9:
            run[f"qué{q}"] = {doc: score() for doc in rng.sample(sorted(docs | {"in"}), len(docs) + 1)}
        if rng.random() < 0.9:
            qrels[f"qué{q}"] = {doc: rng.choice(levels) for doc in judged} | {"in": 0}
    return qrels, run, rng.choice([1, 1, 2, 3, 7]), rng.random() < 0.3


def agree(qrels, run, measures, *options):
    """Queries, keys, their order, types, and every bit."""
    wanted = theirs.RelevanceEvaluator(qrels, measures, *options).evaluate(run)
    found = ours.RelevanceEvaluator(qrels, measures, *options).evaluate(run)
    assert type(found) is dict
    assert list(found) == list(wanted)
    for query, values in wanted.items():
        assert type(found[query]) is dict
        assert list(found[query]) == list(values)
        assert set(map(type, found[query].values())) <= {float}
        values |= dict.fromkeys(values.keys() & {"runid", "relstring"}, 0.0)  # not written there
        wrong = {name: (found[query][name], value) for name, value in values.items()
                 if found[query][name].hex() != value.hex()}
        assert not wrong, query
    return found


def said(code):
    """What the peer answers in a process of its own, which it may end."""
    code = "import pytrec_eval, math\nprint(" + code + ")"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    return done.stdout.strip() if done.returncode == 0 else "died"


# --- the same -------------------------------------------------------------------------------------------------


def test_names():
    assert ours.supported_measures == theirs.supported_measures
    assert ours.supported_nicknames == theirs.supported_nicknames
    assert type(ours.supported_measures) is type(theirs.supported_measures)
    assert set(theirs.__all__) <= set(ours.__all__)


@pytest.mark.parametrize("name", ["RelevanceEvaluator", "RelevanceEvaluator.evaluate", "RelevanceEvaluator.__init__",
                                  "parse_qrel", "parse_run", "compute_aggregated_measure"])
def test_signatures(name):
    def found(module):
        for part in name.split("."):
            module = getattr(module, part)
        return module

    same_signature(found(ours), found(theirs))


@pytest.mark.parametrize("first", range(0, 200, 25))
def test_every_measure_of_random_runs(first):
    queries = 0
    for seed in range(first, first + 25):
        qrels, run, level, judged_only = case(seed)
        queries += len(agree(qrels, run, ALL, level, judged_only))
    assert queries > 50


@pytest.mark.parametrize("measure", ALL)
def test_one_measure(measure):
    for seed in range(4):
        qrels, run, level, judged_only = case(seed)
        agree(qrels, run, [measure], level, judged_only)


@pytest.mark.parametrize("measures", [
    ["official"], ["set"], ["all_trec"], ("official", "set", "ndcg"), {"map"}, "P", [], set(), {"map": None},
    ["P.5,10"], ["P_5"], ["P_5,7"], ["P", "P_5"], ["P_5", "P", "P.10,5"], ["ndcg_cut.1,2,3,1000"],
    ["ndcg_cut", "ndcg_cut.1,4", "ndcg_cut_20,4", "ndcg_cut_15", "recall.1000", "P"], ["all_trec", "P_3"],
    ["map_cut.3"], ["iprec_at_recall.0.5,0.554,0.05"],
    ["iprec_at_recall_0.10"], ["Rprec_mult.0.5,1.7"], ["success.3"], ["recall_7"],
    ["relative_P.2"], ["11pt_avg.0.1,0.5"], ["set_F.0.5"], ["set_F.2"], ["set_F_0.5,2"], ["utility.1,2,3,4"],
    ["relstring.5"], ["runid.3"], ["num_q_3"], ["recip_rank_10"], ["map.5"], ["bpref_3"],
    ["P.10abc"], ["P.5.7"], ["P.99999999999"],
    ["gm_map"], ["gm_bpref"],
], ids=str)  # fmt: skip
def test_measures(measures):
    for qrels, run, *_ in [(QRELS, RUN), case(3), case(12)]:
        agree(qrels, run, measures)


def test_an_iterator_of_measures():
    assert ours.RelevanceEvaluator(QRELS, iter(["map"])).evaluate(RUN) == agree(QRELS, RUN, ["map"])


def test_queries_come_in_the_order_of_the_run():
    some = {"missing": {"a": 1.0}, "q2": RUN["q2"], "q": RUN["q"]}
    assert list(agree(QRELS, some, ALL)) == ["q2", "q"]
    assert list(agree({**QRELS, "none": {}}, {**some, "none": {"a": 1.0}}, ALL)) == ["q2", "q"]
    assert list(agree(QRELS, {"q2": RUN["q2"]}, ALL)) == ["q2"]
    assert agree(QRELS, {"missing": {"a": 1.0}}, ALL) == {}


@pytest.mark.parametrize(("qrels", "run"), [
    (QRELS, {}), (QRELS, None), ({}, RUN), ({}, {}), ({"q": {}}, RUN), ({"": {"": 1}}, {"": {"": 1.0}}),
    (MappingProxyType(QRELS), RUN), ({"q": {"a": True, "b": False}}, RUN),
    (QRELS, {"q": {"a": 10**30, "b": 2**60 + 1}}),
    (QRELS, {"q": {"a": math.inf, "b": 1e39, "c": -math.inf}}), (QRELS, {"q": {"a": np.float64(1), "b": 1.5}}),
    (QRELS, defaultdict(dict, RUN)), ({"q": defaultdict(int, a=1)}, {"q": defaultdict(float, a=1.0)}),
    ({"q\u00e9": {"\u65e5": 1, "\U0001d4b3": 2}}, {"q\u00e9": {"\U0001d4b3": 1.0, "\u65e5": 1.0, "\uffff": 1.0}}),
])  # fmt: skip
def test_forms(qrels, run):
    agree(qrels, run, ["map", "ndcg", "P_1", "num_ret"])


def test_texts_and_numbers_of_other_classes():
    class Text(str):
        __slots__ = ()

    class Number(float):
        pass

    run = {Text("q"): {Text("a"): Number(1), "b": True, Text("c"): Number(1e300)}}
    agree({Text("q"): {Text("a"): 1, Text("c"): True}}, run, ALL)


def test_an_evaluator_stays_as_it_is():
    qrels, run, *_ = case(5)
    before = repr((qrels, run))
    evaluator = ours.RelevanceEvaluator(qrels, ["official", "ndcg_cut.5,3"])
    first = evaluator.evaluate(run)
    qrels.clear()
    assert evaluator.evaluate(scores=run) == first
    assert repr((case(5)[0], run)) == before


def test_real_runs(shared_data):
    folder = shared_data / "codec/entity"
    qrels = ours.parse_qrel((folder / "qrels_graded.txt").read_text(encoding="utf-8").splitlines())
    for path in sorted((folder / "runs").glob("*.xz"))[:3]:
        lines = lzma.decompress(path.read_bytes()).decode().splitlines()
        run = ours.parse_run(lines)
        assert run == theirs.parse_run(lines)
        for options in ((), (2,), (1, True)):
            agree(qrels, run, ALL, *options)


@pytest.mark.parametrize("lines", [
    ["q1 0 d1 1", "q1 0 d2 -2\n", "  q2\t0 d1 03 "], [], ["q1 0 d1"], ["q1 0 d1 1 2"], [""], ["q1 0 d1 x"],
    ["q1 0 d1 1.0"], ["q1 0 d1 1", "q1 0 d1 1"],
])  # fmt: skip
def test_parse_qrel(lines):
    agree_on(lambda module: module.parse_qrel(lines))


@pytest.mark.parametrize("lines", [
    ["q1 Q0 d1 1 0.5 tag", "q1 Q0 d2 2 1e-3 tag\n", "q2 Q0 d1 x inf t"], [], ["q1 Q0 d1 1 0.5"], [""], ["q Q0 d 1 x t"],
    ["q1 Q0 d1 1 0.5 t", "q1 Q0 d1 2 0.4 t"],
])  # fmt: skip
def test_parse_run(lines):
    agree_on(lambda module: module.parse_run(lines))


@pytest.mark.parametrize("measure", ["map", "P_10", "num_ret", "num_q", "gm_map", "gm_bpref"])
def test_aggregates(measure):
    values = [random.Random(i).random() for i in range(1000)]
    for one in (values, values[:7], [0.5], [1, 2], np.array(values)):
        found = agree_on(lambda module, one=one: module.compute_aggregated_measure(measure, one))
        assert type(found) is float


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_aggregates_of_nothing():
    assert ours.compute_aggregated_measure("num_q", []) == theirs.compute_aggregated_measure("num_q", []) == 0
    for measure in ("map", "gm_map"):
        assert math.isnan(ours.compute_aggregated_measure(measure, []))
        assert math.isnan(theirs.compute_aggregated_measure(measure, []))


def agree_on(call):
    """The same answer, or an error of the same class."""
    try:
        wanted = call(theirs)
    except Exception as error:
        with pytest.raises(type(error)) as caught:
            call(ours)
        assert type(caught.value) is type(error)
        return None
    found = call(ours)
    assert found == wanted
    assert type(found) is type(wanted)
    return found


@pytest.mark.parametrize(("qrels", "measures", "options", "text"), [
    (QRELS, ["mapp"], (), "unsupported measure mapp"), (QRELS, "map", (), "unsupported measure m"),
    (QRELS, ["prefs"], (), "unsupported measure prefs"), (QRELS, ["qrels_jg"], (), "unsupported measure"),
    (QRELS, ["P_"], (), "unsupported measure P_"), (QRELS, ["iprec_at_recall_.5"], (), "unsupported measure"),
    (QRELS, [3], (), "3"), (QRELS, None, (), "None"), (QRELS, ["map"], (0,), "relevance_level is 0"),
    (QRELS, ["map"], (1.0,), "relevance_level .*1.0"),
    (QRELS, ["map"], (2**40,), f"relevance_level is {2**40}"), (QRELS, ["map"], (1, None), "judged_docs_only_flag"),
    ([1], ["map"], (), "items"), ({"q": {"a": 1.0}}, ["map"], (), "relevance of document 'a' of query 'q' is 1.0"),
    ({"q": {"a": "1"}}, ["map"], (), "relevance of document 'a' of query 'q' is '1'"),
    ({1: {"a": 1}}, ["map"], (), "id of a query is 1"), ({"q": {1: 1}}, ["map"], (), "of query 'q' is 1"),
    ({"q": ["a"]}, ["map"], (), "query 'q' holds list"), ({"q": 3}, ["map"], (), "query 'q' holds int"),
])  # fmt: skip
def test_errors(qrels, measures, options, text):
    agree_on(lambda module: module.RelevanceEvaluator(qrels, measures, *options))
    with pytest.raises((TypeError, ValueError, AttributeError), match=text):
        ours.RelevanceEvaluator(qrels, measures, *options)


@pytest.mark.parametrize(("run", "text"), [
    ([1], "scores is a list"), ({"q": {"a": "1"}}, "score of document 'a' of query 'q' is '1'"),
    ({"q": {"a": None}}, "score of document 'a' of query 'q' is None"), ({1: {"a": 1.0}}, "id of a query is 1"),
    ({"q": {1: 1.0}}, "of query 'q' is 1"), ({"q": [1]}, "query 'q' holds list"),
    ({"extra": [1]}, "query 'extra' holds list"),
])  # fmt: skip
@pytest.mark.parametrize("qrels", [QRELS, {}])
def test_errors_of_runs(qrels, run, text):
    with pytest.raises(TypeError):
        theirs.RelevanceEvaluator(qrels, ["map"]).evaluate(run)
    with pytest.raises(TypeError, match=text):
        ours.RelevanceEvaluator(qrels, ["map"]).evaluate(run)


# --- the differences: each is listed in docs/compat-pytrec-eval.md --------------------------------------------


@pytest.mark.parametrize("number", [np.float32(2), np.float16(2), np.int64(2), np.uint8(2)])
def test_numbers_of_numpy_are_numbers(number):
    with pytest.raises(TypeError):
        theirs.RelevanceEvaluator(QRELS, ["map"]).evaluate({"q": {"a": number, "b": 1.0}})
    found = ours.RelevanceEvaluator(QRELS, ["map"]).evaluate({"q": {"a": number, "b": 1.0}})
    assert found == agree(QRELS, {"q": {"a": 2.0, "b": 1.0}}, ["map"])
    if isinstance(number, np.integer):
        with pytest.raises(TypeError):
            theirs.RelevanceEvaluator({"q": {"a": number}}, ["map"])
        made = ours.RelevanceEvaluator({"q": {"a": number, "c": 1}}, ["ndcg"])
        assert made.evaluate(RUN) == agree({"q": {"a": 2, "c": 1}}, RUN, ["ndcg"])


def test_nan_is_no_score():
    run = {"q": {"a": math.nan, "b": 1.0}}
    assert theirs.RelevanceEvaluator(QRELS, ["map"]).evaluate(run)
    with pytest.raises(ValueError, match="scores: the score of document 'a' of query 'q' is NaN"):
        ours.RelevanceEvaluator(QRELS, ["map"]).evaluate(run)


def test_numbers_beyond_a_double_or_a_level():
    with pytest.raises(SystemError):
        theirs.RelevanceEvaluator(QRELS, ["map"]).evaluate({"q": {"a": 10**400}})
    with pytest.raises(OverflowError, match="score of document 'a' of query 'q'"):
        ours.RelevanceEvaluator(QRELS, ["map"]).evaluate({"q": {"a": 10**400}})
    with pytest.raises(SystemError):
        theirs.RelevanceEvaluator({"q": {"a": 2**70}}, ["map"])
    with pytest.raises(ValueError, match=str(2**70)):
        ours.RelevanceEvaluator({"q": {"a": 2**70}}, ["map"])


def test_a_relevance_level_below_0_is_an_error():
    assert theirs.RelevanceEvaluator(QRELS, ["map"], -1).evaluate(RUN)["q"] == {"map": 0.0}  # as 2**32 - 1
    with pytest.raises(TypeError, match="relevance_level is -1"):
        ours.RelevanceEvaluator(QRELS, ["map"], -1)


def test_a_ranking_of_no_documents_has_precision_0():
    """The division by its length: NaN there."""
    call = "pytrec_eval.RelevanceEvaluator({'q': {'a': 0, 'z': 1}}, {%r}, 1, True).evaluate({'q': {'u': 1.0}})"
    for measure, key in (("iprec_at_recall", "iprec_at_recall_0.00"), ("11pt_avg", "11pt_avg")):
        assert said(f"math.isnan({call % measure}['q'][{key!r}])") == "True"
    evaluator = ours.RelevanceEvaluator({"q": {"a": 0, "z": 1}}, ["iprec_at_recall", "11pt_avg"], 1, True)
    assert set(evaluator.evaluate({"q": {"u": 1.0}})["q"].values()) == {0.0}


def test_queries_without_documents_and_without_levels_from_0_up():
    """The process ends there, or goes on for ever: it reads memory that it did not write."""
    counted = {"num_q": 1.0, "runid": 0.0, "gm_map": math.log(1e-5), "gm_bpref": math.log(1e-5)}
    for qrels, run, others in [({"q": {"z": 1, "b": 0}}, {"q": {}}, {"num_rel": 1.0}),
                               ({"q": {"z": -1}}, {"q": {}}, {"num_rel": 0.0})]:
        found = ours.RelevanceEvaluator(qrels, ["all_trec"]).evaluate(run)["q"]
        assert set(found) == set(ours.RelevanceEvaluator(QRELS, ["all_trec"]).evaluate(RUN)["q"])
        assert {name: value for name, value in found.items() if value or name in counted | others} == counted | others


@pytest.mark.parametrize(("measure", "answer"), [
    ("P.0", "died"), ("ndcg_5", "died"), ("G.1", "died"), ("utility.1,2", "{'q': {'utility': 0.0}}"),
    ("set_F.0", "{'q': {'set_F': 0.0}}"), ("Rprec_mult.0", "{'q': {'Rprec_mult_0.00': 0.0}}"),
    ("iprec_at_recall.2", "{'q': {'iprec_at_recall_2.00': 0.0}}"),
])  # fmt: skip
def test_parameters_outside_of_the_definition(measure, answer):
    call = f"pytrec_eval.RelevanceEvaluator({{'q': {{'a': 0}}}}, [{measure!r}]).evaluate({{'q': {{'a': 1.0}}}})"
    assert said(call) == answer
    with pytest.raises(ValueError, match=measure.replace("_5", ".5").partition(".")[0]):
        ours.RelevanceEvaluator({"q": {"a": 0}}, [measure])


def test_parameters_that_are_one_number():
    assert said("pytrec_eval.RelevanceEvaluator({'q': {'a': 1}}, ['P.05,5']).evaluate({'q': {'a': 1.0}})") == "died"
    assert ours.RelevanceEvaluator({"q": {"a": 1}}, ["P.05,5"]).evaluate({"q": {"a": 1.0}}) == {"q": {"P_5": 0.2}}


def test_ids_do_not_end_at_a_nul():
    qrels, run = {"q": {"a\0b": 1, "a": 0}}, {"q": {"a\0b": 3.0, "c": 4.0}}
    assert said(f"pytrec_eval.RelevanceEvaluator({qrels}, ['map']).evaluate({run})['q']['map']") != "0.5"
    assert ours.RelevanceEvaluator(qrels, ["map"]).evaluate(run) == {"q": {"map": 0.5}}


# --- the module -----------------------------------------------------------------------------------------------


def test_examples():
    assert doctest.testmod(ours).attempted > 8
    assert doctest.testmod(ours).failed == 0


def test_it_needs_no_peer():
    code = "import sys, hitcurve.compat.pytrec_eval as p; print(*(n for n in sys.modules if 'trec_eval' in n))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert set(done.stdout.split()) == {"hitcurve.compat.pytrec_eval", "hitcurve.retrieval.trec_eval"}
