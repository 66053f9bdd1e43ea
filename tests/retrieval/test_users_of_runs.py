"""Users of runs: what they gain and spend, and what is unknown, by the exact twin and by cwl_eval."""

import itertools
import json
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
import reference as ref

import hitcurve as hc
from hitcurve.cli.main import main
from hitcurve.measures import parse

mp = ref.mp
NUMBERS = ("utility", "total_utility", "cost", "total_cost", "depth")


# --- the exact twin -------------------------------------------------------------------------------------------------


def scaled(most, least=0, number=Fraction):
    """The gain of a level on a scale; without `most` its highest level is that of the query."""
    return lambda level, highest: number(min(max(Fraction(level - least) / ((most or max(highest, 1)) - least), 0), 1))


def relevant(rel=1):
    return lambda level, highest: Fraction(level >= rel)


def insq(x):
    """The chance to go on at x = i + 2T - 1."""
    return (x / (x + 1)) ** 2


def nothing(*_):
    return 0


def of_inst(T):
    return (lambda i, g, G: insq(i + 2 * mp.mpf(T) - G - 1),
            lambda n, G, more: 1 / (1 - insq(n + 2 * mp.mpf(T) - G - 1)) if more else ref.beyond(n + 2 * mp.mpf(T) - G))


def of_insq(T):
    return lambda i, g, G: insq(i + 2 * mp.mpf(T) - 1), lambda n, G, more: ref.beyond(n + 2 * mp.mpf(T))


def until(k, chance):
    """A user who never looks beyond rank k."""
    return lambda i, g, G: chance(i, g, G) if i < k else 0, nothing


RBP = lambda i, g, G: Fraction(3, 4), lambda n, G, more: 4
NERR10 = lambda i, g, G: Fraction(3, 4) * (1 - g), lambda n, G, more: 1 if more else 4
NERR11 = (lambda i, g, G: insq(mp.mpf(i + 2)) * (1 - g),  # of T = 1.5
          lambda n, G, more: mp.mpf(1) if more else ref.beyond(mp.mpf(n + 3)))
real = ref.mpf
# The gain of a level, the user, the rank at which a user stops, and the rank from which on all gains are unknown.
USERS = {
    "RBP(p=0.75)": (scaled(None), RBP, None, None), "RBP(p=0.75,rel=2)@3": (relevant(2), RBP, None, 3),
    "P@4": (relevant(), until(4, lambda i, g, G: 1), 4, None),
    "P(rel=2)@4": (relevant(2), until(4, lambda i, g, G: 1), 4, None),
    "RR@5": (relevant(), until(5, lambda i, g, G: 1 - g), 5, None),
    "SDCG(max_rel=4)@6": (scaled(4, 0, real), until(6, lambda i, g, G: mp.log(i + 1) / mp.log(i + 2)), 6, None),
    "BPM(T=1.5,max_rel=3)@5": (scaled(3), until(5, lambda i, g, G: int(Fraction(3, 2) > G)), 5, None),
    "NERR8(max_rel=3)@5": (scaled(3), until(5, lambda i, g, G: 1 - g), 5, None),
    "NERR9(max_rel=2,min_rel=1)@5": (scaled(2, 1), until(5, lambda i, g, G: Fraction(i, i + 1) * (1 - g)), 5, None),
    "NERR10(p=0.75,max_rel=3)": (scaled(3), NERR10, None, None),
    "NERR10(p=0.75,max_rel=5)@2": (scaled(5), NERR10, None, 2),
    "NERR11(T=1.5,max_rel=3)": (scaled(3, 0, real), NERR11, None, None),
    "INSQ(T=1.5,max_rel=4)": (scaled(4, 0, real), of_insq(1.5), None, None),
    "INSQ(T=0.75)@4": (scaled(None, 0, real), of_insq(0.75), None, 4),
    "INST(T=2)": (scaled(None, 0, real), of_inst(2), None, None),
    "INST(T=1.5,max_rel=2,min_rel=1)": (scaled(2, 1, real), of_inst(1.5), None, None),
    "INST(T=1,max_rel=3)@2": (scaled(3, 0, real), of_inst(1), None, 2),
}  # fmt: skip
EXPECTED = [name for name in USERS if parse(name).record.name in ("RBP", "P", "SDCG", "INSQ")]
BOUNDED = [name for name in USERS if not name.startswith("BPM")]
READINGS = [(name, ties) for ties, names in zip(
    ("docid", "expected", "best", "worst"), (USERS, EXPECTED, BOUNDED, BOUNDED), strict=True) for name in names]


def drawn(seed):
    """(levels by document, scores by document): ties, documents without a judgment, and some that are lost."""
    rng = np.random.default_rng(seed)
    docs = [f"d{i}" for i in range(rng.integers(0, 8))]
    scores = {doc: float(rng.integers(0, 5)) for doc in docs}
    levels = {doc: int(rng.choice([-1, 0, 0, 1, 2, 3])) for doc in docs if rng.random() < 0.6}
    return levels | {"lost": int(rng.integers(0, 4))}, scores


def groups_of(levels, scores, ties, judged_only=False):
    """The levels of each tie group, None without a judgment."""
    level = {doc: levels[doc] if levels.get(doc, -1) >= 0 else None for doc in scores}
    docs = [doc for doc in sorted(scores, key=lambda doc: (scores[doc], doc), reverse=True)
            if not judged_only or level[doc] is not None]  # fmt: skip
    if ties == "docid":
        return [[level[doc]] for doc in docs]
    return [[level[doc] for doc in group] for _, group in itertools.groupby(docs, key=scores.get)]


def slow(name, groups, levels, ties, costs=(1,)):
    """(numbers, residuals) of the user of a measure."""
    gain_of, user, stops, unknown = USERS[name]
    highest = max(levels.values())
    gains = [[None if level is None else gain_of(level, highest) for level in group] for group in groups]

    def order(hopeful):
        filled = [[hopeful if gain is None else gain for gain in group] for group in gains]
        if ties in ("best", "worst"):
            filled = [sorted(group, reverse=ties == "best") for group in filled]
        ranks = list(itertools.chain(*filled))[:unknown]
        return (ranks + [None] * ((stops or 0) - len(ranks)))[:stops]

    if ties != "expected":
        return ref.residuals_of_run(order(0), order(1), *user, costs)
    both = []
    for one in itertools.product(*map(itertools.permutations, gains)):
        ranks = list(itertools.chain(*one))[:unknown]
        ranks = (ranks + [None] * ((stops or 0) - len(ranks)))[:stops]
        both.append(ref.residuals_of_run(ranks, ranks, *user, costs))
    return [[sum(column) / len(both) for column in zip(*part, strict=True)] for part in zip(*both, strict=True)]


def agree(user, place, wanted, tolerance=1e-13):
    known, more = wanted
    for name, value, rest in zip(NUMBERS, known, more, strict=True):
        assert float(getattr(user, name)[place]) == pytest.approx(float(value), rel=tolerance, abs=1e-300), name
        assert abs(float(getattr(user.residual, name)[place]) - float(rest)) < 20 * tolerance, name


@pytest.mark.parametrize("queries", [5, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("name", "ties"), READINGS)
def test_residuals_are_exact(name, ties, queries):
    cases = {f"q{seed}": drawn(seed) for seed in range(queries // 2 if ties == "expected" else queries)}
    qrels, run = ({query: pair[i] for query, pair in cases.items()} for i in (0, 1))
    found = hc.evaluate(qrels, run, "NumQ", ties=ties)
    user = found.user_model(name)
    costs = [[3, 1, 0.5], [2, 0.25], [1, 2]]
    by_rank = [costs[i % 3] for i in range(len(cases))]
    spent = found.user_model(name, cost=by_rank) if not name.startswith("BPM") else None
    for place, query in enumerate(found.query_ids):
        groups = groups_of(qrels[query], run[query], ties)
        agree(user, place, slow(name, groups, qrels[query], ties))
        if spent is not None and sum(map(len, groups)) >= 3:
            exact = isinstance(USERS[name][0](1, 1), Fraction)
            of_costs = [(Fraction if exact else mp.mpf)(cost) for cost in by_rank[place]]
            agree(spent, place, slow(name, groups, qrels[query], ties, of_costs))
    plain = found.curves().user_model(name, ties="best" if ties == "docid" else ties)
    for field in NUMBERS:
        assert getattr(plain, field).tobytes() == getattr(user, field).tobytes()
    assert (user.residual.utility >= -1e-15).all()
    assert (user.utility + user.residual.utility <= 1 + 1e-14).all()
    again = pickle.loads(pickle.dumps(found)).user_model(name)
    assert [getattr(again.residual, field).tobytes() for field in NUMBERS] == [
        getattr(user.residual, field).tobytes() for field in NUMBERS]  # fmt: skip


def test_arguments_of_evaluate():
    qrels = {"q": {"a": 2, "b": 0, "c": -1, "d": 1, "z": 1}}
    run = {"q": {"a": 1.0, "b": 5.0, "c": 4.0, "d": 3.0, "e": 2.0, "f": 0.5}}

    def users(name="P@4", **options):
        user = hc.evaluate(qrels, run, "AP", **options).user_model(name)
        return float(user.utility[0]), float(user.residual.utility[0])

    assert users() == (1 / 4, 2 / 4)  # b c d e: c and e have no judgment
    assert users(judged_only=True) == (2 / 4, 1 / 4)  # b d a, and no fourth document
    assert users(depth=3) == (1 / 4, 2 / 4)  # b c d, and what depth leaves out
    assert users(relevance_level=2) == (0, 2 / 4)
    assert users("P(rel=1)@4", relevance_level=2) == users()
    assert users("SDCG(max_rel=2)@4", relevance_level=2) == users("SDCG(max_rel=2)@4")
    found = hc.evaluate(qrels, {"q": {"b": 0.0, "e": 0.0, "a": 0.0}}, "AP", rank_by="listed")
    assert found.user_model("RR@3").residual.utility.tolist() == [1 / 2 - 1 / 3]
    found = hc.evaluate({**qrels, "r": {"a": 1}}, run, "AP")  # r has no documents
    user = found.user_model("RBP(p=0.5)")
    assert (user.utility[1], user.residual.utility[1]) == (0, 1)
    assert len(hc.evaluate({**qrels, "r": {"a": 1}}, run, "AP", missing="skip").user_model("RBP").utility) == 1
    assert hc.evaluate(qrels, {"q": {"b": 1.0, "a": 0.0}}, "AP").user_model("RR@9").residual[:5] == tuple([0.0] * 5)


def test_the_residual_of_rbp_is_that_of_trec_eval():
    """Which is 0, and leaves out the ranks beyond the run, if all documents of a query have a judgment."""
    cases = {f"q{seed}": drawn(seed) for seed in range(40)}
    qrels, run = ({query: pair[i] for query, pair in cases.items()} for i in (0, 1))
    found = hc.evaluate(qrels, run, "RBPResid(p=0.5)")
    values, user = found.values["RBPResid(p=0.5)"], found.user_model("RBP(p=0.5,rel=1)")
    whole = np.array([all(qrels[query].get(doc, -1) >= 0 for doc in run[query]) for query in found.query_ids])
    assert 0 < whole.sum() < 20 and not values[whole].any()
    np.testing.assert_allclose(user.residual.utility[~whole], values[~whole], 1e-13)
    np.testing.assert_allclose(user.residual.utility[whole], [0.5 ** len(run[query]) for query, all_ in zip(
        found.query_ids, whole, strict=True) if all_], 1e-13)  # fmt: skip


def test_the_residual_of_average_precision_is_not_a_number():
    """1 / rank, added up over infinitely many relevant ranks, diverges."""
    user = hc.evaluate({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, "AP").user_model("AP")
    assert user.utility.tolist() == [0.5]
    assert np.isnan([user.residual.utility, user.residual.depth]).all()


def test_subtopics_and_other_forms_of_input(tmp_path):
    judged = {"q": {"a": {"x": 1}, "b": {"x": 0, "y": 2}}}
    run = {"q": {"n": 3.0, "b": 2.0, "a": 1.0}}
    user = hc.evaluate(judged, run, "AP", subtopics=True).user_model("INSQ(T=2,max_rel=2)")
    flat = {"q": {"a": 1, "b": 2}}
    plain = hc.evaluate(flat, run, "AP").user_model("INSQ(T=2,max_rel=2)")
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 b 2\n")
    (tmp_path / "run").write_text("q Q0 a 3 1 t\nq Q0 n 1 3 t\nq Q0 b 2 2 t\n")
    of_files = hc.evaluate(tmp_path / "qrels", tmp_path / "run", "AP").user_model("INSQ(T=2,max_rel=2)")
    of_ids = hc.evaluate([[1, 2]], [[3, 2, 1]], "AP").user_model("P@3")
    assert (of_ids.utility.tolist(), of_ids.residual.utility.tolist()) == ([2 / 3], [1 - 2 / 3])
    for other in (plain, of_files):
        assert [column.tolist() for column in other[:5]] == [column.tolist() for column in user[:5]]
        assert [column.tolist() for column in other.residual[:5]] == [column.tolist() for column in user.residual[:5]]


def test_a_pickle_of_0_1_0_has_what_is_needed():
    """Residuals come from the judged rows, which every pickle of an evaluation has."""
    found = hc.evaluate({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, "AP")
    state = {key: value for key, value in found.__getstate__().items() if key != "_topics"}
    again = object.__new__(type(found))
    again.__setstate__(state)
    assert again.user_model("P@2").residual.utility.tolist() == [0.5]


@pytest.mark.parametrize(("options", "measure", "error", "text"), [
    ({}, "nDCG", ValueError, "nDCG has no user model here"),
    ({}, "foo", ValueError, "there is no measure 'foo'"),
    ({}, 3, TypeError, "measures must be names"),
    ({}, "P.5,10", ValueError, "measure is 'P.5,10': it must name one measure, not 2"),
    ({}, ["RBP", "INST"], ValueError, "must name one measure, not 2"),
    ({}, "P@10%", ValueError, "a cutoff in percent needs the size of the collection"),
    ({}, "INST(ties=best)", ValueError, r"INST\(T=1,ties=best\): the option ties= needs tie groups, .* ties='best'"),
    ({}, "RBP(judged_only=True)", ValueError,
     "leave out the option judged_only, and evaluate with judged documents only"),
    ({"ties": "expected"}, "INST", ValueError, "is not defined for ties='expected': use best or worst"),
    ({"ties": "best"}, "BPM(max_rel=1)@3", ValueError,
     r"BPM\(T=1,max_rel=1\)@3 is not defined for ties='best': it needs a single order, so evaluate with ties='docid'"),
    ({"relevance_level": 0}, "P@3", ValueError, "level is 0: must be above 0"),
])  # fmt: skip
def test_errors(options, measure, error, text):
    found = hc.evaluate({"q": {"a": 1, "c": 0}}, {"q": {"a": 1.0, "c": 1.0, "b": 0.5}}, "NumQ", **options)
    with pytest.raises(error, match=text):
        found.user_model(measure)


def test_judgment_groups_have_no_users(tmp_path):
    (tmp_path / "qrels").write_text("q 1 a 1\nq 2 a 0\n")
    found = hc.evaluate(hc.read_qrels(tmp_path / "qrels", format="qrels_jg"), {"q": {"a": 1.0}}, "AP")
    with pytest.raises(ValueError, match="with judgment groups a query has no single curve"):
        found.user_model("RBP")


# --- cwl_eval -------------------------------------------------------------------------------------------------------

# The files of cwl_eval's own tests: gains in fifths, and the elements of the ranks of documents D1 to D10.
GAINS = {
    "T1": {"D1": 5, "D2": 0, "D3": 5, "D4": 5, "D7": 5, "D8": 0, "D9": 5, "D10": 0},
    "T2": {"D1": 1, "D2": 2, "D5": 5, "D6": 0, "D7": 1, "D8": 5, "D9": 2, "D10": 0},
    "T3": {"D4": 0, "D5": 0, "D6": 4, "D7": 1, "D8": 2, "D9": 0, "D10": 5},
}
ELEMENTS = {"T1": "2212312123", "T2": "1112212123", "T3": "3212212123"}
COSTS = {"E1": 1.0, "E2": 2.0, "E3": 5.0}
DEPTH = 1000  # of cwl_eval
# Our name with the highest level left open, cwl_eval's class with its parameters, and the user if the chance to look
# beyond DEPTH counts.
OF_CWL = (
    ("RBP(p=0.8,rel={0})", "RBPCWLMetric", (0.8,), None), ("P(rel={0})@5", "PrecisionCWLMetric", (5,), None),
    ("P(rel={0})@20", "PrecisionCWLMetric", (20,), None), ("RR(rel={0})@1000", "RRCWLMetric", (), None),
    ("SDCG(max_rel={0})@10", "NDCGCWLMetric", (10,), None), ("SDCG(max_rel={0})@60", "NDCGCWLMetric", (60,), None),
    ("BPM(T=1,max_rel={0})@1000", "BPMCWLMetric", (1, 1000), None),
    ("BPM(T=1000,max_rel={0})@10", "BPMCWLMetric", (1000, 10), None),
    ("BPM(T=1.25,max_rel={0})@10", "BPMCWLMetric", (1.25, 10), None),
    ("NERR8(max_rel={0})@6", "NERReq8CWLMetric", (6,), None),
    ("NERR8(max_rel={0})@90", "NERReq8CWLMetric", (90,), None),
    ("NERR9(max_rel={0})@6", "NERReq9CWLMetric", (6,), None),
    ("NERR9(max_rel={0})@90", "NERReq9CWLMetric", (90,), None),
    ("NERR10(p=0.8,max_rel={0})", "NERReq10CWLMetric", (0.8,), None),
    ("INSQ(T=1.5,max_rel={0})", "INSQCWLMetric", (1.5,), of_insq(1.5)),
    ("INST(T=1.5,max_rel={0})", "INSTCWLMetric", (1.5,), of_inst(1.5)),
    ("NERR11(T=1.5,max_rel={0})", "NERReq11CWLMetric", (1.5,), NERR11),
)
IN_TIES = [(*one, ties) for one in OF_CWL for ties in ("docid", "best", "worst")
           if ties == "docid" or not one[0].startswith("BPM")]  # fmt: skip
CASES_OF_CWL = pytest.mark.parametrize(("ours", "name", "parameters", "deep"), OF_CWL, ids=[one[0] for one in OF_CWL])


@pytest.fixture
def cwl():
    return pytest.importorskip("cwl.ruler.cwl_ruler")


def of_cwl(cwl, name, parameters, gains, costs, last):
    """The user of cwl_eval after a ranking with these gains, NaN for a document without a judgment."""
    user = getattr(cwl, name)(*parameters)
    user.residuals = True
    user.measure(cwl.Ranking("q", list(gains), list(costs), max_cost=last, min_cost=last, max_n=DEPTH))
    more = [user.residual_expected_utility, user.residual_expected_total_utility, user.residual_expected_cost,
            user.residual_expected_total_cost, user.residual_expected_items]  # fmt: skip
    return user, user.get_scores(), more


def to_the_end(user, deep, gains, last, hopeful):
    """(total utility, total cost, depth) of a user of cwl_eval, with what follows rank 1000 added."""
    eu, _, ec, _, ed = user._do_score(user.ranking, not hopeful)
    chance, gained, (go_on, rest) = 1.0, 0.0, deep
    for i in range(1, DEPTH + 1):
        gain = gains[i - 1] if i <= len(gains) else math.nan
        gain = float(hopeful) if math.isnan(gain) else gain
        gained += gain
        chance *= float(go_on(i, gain, gained))
    left = chance * float(rest(DEPTH, gained, hopeful))
    return [eu * ed + left * hopeful, ec * ed + left * last, ed + left]


def agree_with_cwl(cwl, case, orders, found, most, place, costs=None):
    """`orders`: the levels in rank order, NaN without a judgment, of the numbers and of the residuals."""
    ours, name, parameters, deep = case
    last = 1.0 if costs is None else costs[place][-1]
    binary = ours[0] in "PR"
    gains = [[level / most if not binary or math.isnan(level) else float(level >= most) for level in order]
             for order in orders]  # fmt: skip
    both = [of_cwl(cwl, name, parameters, one, [] if costs is None else costs[place], last) for one in gains]
    user = found.user_model(ours.format(most), cost=1.0 if costs is None else costs)
    known = [float(column[place]) for column in user[:5]]
    more = [float(column[place]) for column in user.residual[:5]]
    if deep:
        wanted = [to_the_end(of[0], deep, one, last, hopeful)
                  for of, one, hopeful in zip(both, gains, (0, 1), strict=True)]  # fmt: skip
        assert [known[1], *known[3:]] == pytest.approx(wanted[0], rel=1e-12)
        hoped = [a + b for a, b in zip(known, more, strict=True)]
        assert [hoped[1], *hoped[3:]] == pytest.approx(wanted[1], rel=1e-12)
        assert known[0] + more[0] == pytest.approx(wanted[1][0] / wanted[1][2], rel=1e-12)
        return
    assert known == pytest.approx(both[0][1], rel=1e-12)
    hoped = [a + b for a, b in zip(both[1][1], both[1][2], strict=True)]
    assert [a + b for a, b in zip(known, more, strict=True)] == pytest.approx(hoped, rel=1e-12)
    if str(orders[0]) == str(orders[1]):  # NaN is not equal to NaN
        assert more == pytest.approx(both[0][2], rel=1e-11, abs=1e-12)


@CASES_OF_CWL
def test_the_files_of_cwl_eval(cwl, tmp_path, ours, name, parameters, deep):
    handler = pytest.importorskip("cwl.seeker.trec_qrel_handler").TrecQrelHandler
    maker = pytest.importorskip("cwl.ruler.ranking").RankingMaker
    lines = [(topic, doc, level) for topic, docs in GAINS.items() for doc, level in docs.items()]
    (tmp_path / "gains").write_text("".join(f"{topic} 00 {doc} {level / 5}\n" for topic, doc, level in lines))
    (tmp_path / "qrels").write_text("".join(f"{topic} 00 {doc} {level}\n" for topic, doc, level in lines))
    (tmp_path / "run").write_text("".join(
        f"{topic} E{element} D{i} {i} {5 - i / 10} R1\n" for topic, elements in ELEMENTS.items()
        for i, element in enumerate(elements, 1)))  # fmt: skip
    found = hc.evaluate(tmp_path / "qrels", tmp_path / "run", "AP")
    costs = [[COSTS[f"E{element}"] for element in ELEMENTS[topic]] for topic in found.query_ids]
    judged = handler(str(tmp_path / "gains"))
    for place, topic in enumerate(found.query_ids):
        theirs = maker(topic, judged, COSTS)
        for i, element in enumerate(ELEMENTS[topic], 1):
            theirs.add(f"D{i}", f"E{element}")
        ranking = theirs.get_ranking()
        assert ranking._costs == costs[place] and np.isnan(ranking._gains).sum() in (2, 3)
        order = [5 * gain for gain in ranking._gains]
        for of_ranks in (None, costs) if place == 0 else (costs,):
            agree_with_cwl(cwl, (ours, name, parameters, deep), (order, order), found, 5, place, of_ranks)


@pytest.mark.parametrize("queries", ["a", pytest.param("abc", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("ours", "name", "parameters", "deep", "ties"), IN_TIES)
def test_random_runs_agree_with_cwl_eval(cwl, ours, name, parameters, deep, ties, queries):
    rng = np.random.default_rng(len(ours))
    qrels, run = {}, {}
    for query in queries:
        docs = [f"d{i}" for i in range(rng.integers(2, 50))]
        run[query] = {doc: float(rng.integers(0, 40 if ties == "docid" else 12)) for doc in docs}
        qrels[query] = {doc: int(rng.choice([0, 0, 0, 1, 2, 4])) for doc in docs if rng.random() < 0.7} | {"lost": 3}
    found = hc.evaluate(qrels, run, "AP", ties=ties)
    costs = [rng.choice([0.5, 1.0, 2.0, 5.0], len(run[query])).tolist() for query in found.query_ids]
    for place, query in enumerate(found.query_ids):
        groups = [[math.nan if level is None else level for level in group]
                  for group in groups_of(qrels[query], run[query], ties)]  # fmt: skip
        orders = []
        for unjudged in (0, 4):
            key = lambda level, unjudged=unjudged: unjudged if math.isnan(level) else level  # noqa: E731
            ordered = groups if ties == "docid" else [sorted(one, key=key, reverse=ties == "best") for one in groups]
            orders.append(list(itertools.chain(*ordered)))
        for of_ranks in (None, costs) if ties == "docid" else (costs,):
            agree_with_cwl(cwl, (ours, name, parameters, deep), orders, found, 4, place, of_ranks)


# --- the command ----------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("1 0 a 2\n1 0 b 0\n1 0 c 1\nall 0 a 1\n")
    (tmp_path / "one").write_text("1 Q0 b 1 7.5 t\n1 Q0 c 2 6 t\n1 Q0 a 3 6 t\nall Q0 d 1 3 t\nall Q0 a 2 2 t\n")
    (tmp_path / "two").write_text("1 Q0 a 1 7.5 t\n1 Q0 c 2 6 t\nall Q0 a 1 2 t\n")
    return ["trec", "qrels", "one", "two"]


def test_the_command_prints_users(capsys, files):
    name = "INST(T=2,max_rel=2)"
    assert main([*files, "--user-model", name, "--format", "csv", "-q"]) == 0
    head, *lines = [line.split(",") for line in capsys.readouterr().out.splitlines()]
    assert head == ["run", "query_id", *NUMBERS, *(f"residual_{one}" for one in NUMBERS)]
    models = [hc.evaluate("qrels", one, "AP").user_model(name) for one in ("one", "two")]
    wanted = [np.array([*model[:5], *model.residual[:5]]) for model in models]
    assert [line[:2] for line in lines] == [[run, query] for run in ("one", "two") for query in ("1", "all", "all")]
    for i, line in enumerate(lines):
        of_run = wanted[i // 3]
        np.testing.assert_allclose(np.array(line[2:], float), of_run.mean(1) if i % 3 == 2 else of_run[:, i % 3], 1e-15)
    assert main([*files, "--user-model", name, "--format", "json", "-q"]) == 0
    tree = json.loads(capsys.readouterr().out)
    assert tree["user_model"] == name and [one["run"] for one in tree["runs"]] == ["one", "two"]
    assert tree["runs"][0]["queries"]["all"]["residual"]["depth"] == models[0].residual.depth[1]
    assert tree["runs"][1]["means"]["utility"] == models[1].utility.mean()
    assert main([*files, "--user-model", name, "--format", "json"]) == 0
    assert "queries" not in json.loads(capsys.readouterr().out)["runs"][0]


def test_the_table_of_users(capsys, files):
    assert main([*files[:3], "--user-model", "P@4"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "run  number          value  residual", "one  utility        0.3750    0.5000",
        "one  total utility  1.5000    2.0000", "one  cost           1.0000    0.0000",
        "one  total cost     4.0000    0.0000", "one  depth          4.0000    0.0000",
        "user of P@4; 2 queries; equal scores: docid"]  # fmt: skip
    assert err == ""
    assert main([*files, "--user-model", "RR", "-q", "--format", "markdown", "--ties", "best"]) == 0
    out = capsys.readouterr().out
    assert "| one | all | total utility | 1.0000 | 0.0000 |" in out and "equal scores: best" in out


@pytest.mark.parametrize(("more", "text"), [
    (["-m", "AP"], "--user-model cannot be combined with -m"),
    (["--compare"], "--user-model cannot be combined with --compare"),
    (["--format", "trec"], "--user-model cannot be combined with --format trec"),
    (["--empty", "skip"], "--user-model cannot be combined with --empty"),
    (["-R", "prefs"], "--user-model cannot be combined with -R prefs"),
    (["--plot", "a.png"], "--user-model cannot be combined with --plot"),
])  # fmt: skip
def test_options_that_do_not_go_with_users(capsys, files, more, text):
    with pytest.raises(SystemExit) as stop:
        raise SystemExit(main([*files, "--user-model", "RBP", *more]))
    assert stop.value.code == 2 and text in capsys.readouterr().err


def test_a_measure_without_users(capsys, files):
    assert main([*files, "--user-model", "nDCG"]) == 1
    assert "hitcurve: error: nDCG has no user model here" in capsys.readouterr().err
