"""The provider for ir_measures against its own providers, on its own test cases and on real runs."""

from __future__ import annotations

import lzma

import numpy as np
import pytest

ir_measures = pytest.importorskip("ir_measures")
pytest.importorskip("pytrec_eval", reason="pytrec_eval, whose provider has the expected numbers, is not installed")

from ir_measures import (  # noqa: E402
    AP,
    BPM,
    ERR,
    INSQ,
    INST,
    NERR8,
    NERR9,
    NERR10,
    NERR11,
    RBP,
    RR,
    SDCG,
    Accuracy,
    Bpref,
    Compat,
    IPrec,
    Judged,
    NumQ,
    NumRel,
    NumRet,
    P,
    R,
    Rprec,
    SetAP,
    SetF,
    SetP,
    SetR,
    Success,
    infAP,
    nDCG,
)

import hitcurve as hc  # noqa: E402
from hitcurve.ir_measures import provider  # noqa: E402

MEASURES = [
    AP, AP @ 2, AP @ 100, AP(rel=2), AP(judged_only=True), P @ 1, P @ 10, P(rel=2) @ 5, P(judged_only=True) @ 5,
    R @ 3, R @ 1000, R(rel=2) @ 20, RR, RR(rel=2), Rprec, Rprec(rel=2), nDCG, nDCG @ 2, nDCG @ 20,
    nDCG(gains={1: 5, 2: 2}) @ 10, nDCG(judged_only=True) @ 10, Bpref, Bpref(rel=2), infAP, IPrec @ 0.0, IPrec @ 0.1,
    IPrec @ 0.35, IPrec @ 1.0, Success @ 1, Success(rel=2) @ 10, SetP, SetP(relative=True), SetR, SetF, SetF(beta=2.0),
    SetAP, NumQ, NumRet, NumRet(rel=1), NumRet(rel=2), NumRel,
]

CASES = [
    (
        {"0": {"D0": 0, "D1": 1, "D2": 1, "D3": 1, "D4": 0}, "1": {"D0": 1, "D3": 2, "D5": 2}},
        {"0": {"D0": 0.8, "D2": 0.7, "D1": 0.3, "D3": 0.4, "D4": 0.1},
         "1": {"D1": 0.8, "D3": 0.7, "D4": 0.3, "D2": 0.4, "D0": 0.1}},
    ),
    ({"q": {"a": 1, "b": 0}, "none": {"a": 0}, "lost": {"a": 2}}, {"q": {"b": 1.0, "a": 1.0}, "none": {"a": 1.0}}),
    ({"q": {"a": 1, "b": -1, "c": 3}}, {"q": {"b": 1.0, "a": 1.00000001, "c": 1.0}, "other": {"a": 1.0}}),
]


def agree(qrels, run, measures):
    # One by one: together, ir_measures may take one variant (gains=, rel=) for another, by the order of its sets.
    wanted = {
        (m.measure, m.query_id): m.value for one in measures for m in ir_measures.iter_calc([one], qrels, run)
    }
    found = {(m.measure, m.query_id): m.value for m in provider.iter_calc(measures, qrels, run)}
    assert set(found) == set(wanted)
    for key, value in wanted.items():
        assert found[key] == pytest.approx(value, rel=1e-14, abs=1e-15), key
    wanted = {one: ir_measures.calc_aggregate([one], qrels, run)[one] for one in measures}
    found = provider.calc_aggregate(measures, qrels, run)
    for measure, value in wanted.items():
        assert found[measure] == pytest.approx(value, rel=1e-13, abs=1e-15), measure


def slow_user(looks_on, gains, last):
    """The mean gain of a user: a rank weighs the product of the chances to look on at the ranks before it."""
    weights = [1.0]
    for i in range(1, 20_000):
        weights.append(weights[-1] * looks_on(i, gains))
    used = sum(weight * gain for weight, gain in zip(weights[:last], gains[:last], strict=True))
    return used / sum(weights)


def test_insq_and_inst_by_their_definitions():
    qrels, run = {"q": {"a": 2, "b": 0, "c": 1}}, {"q": {"b": 3.0, "a": 2.0, "x": 1.5, "c": 1.0}}
    gains = [0.0, 1.0, 0.0, 0.5] + [0.0] * 20_000

    def insq(i, gains, wanted=2.0):
        return ((i + 2 * wanted - 1) / (i + 2 * wanted)) ** 2

    def inst(i, gains, wanted=2.0):
        left = wanted - sum(gains[: min(i, 4)])
        return ((i + wanted + left - 1) / (i + wanted + left)) ** 2

    for measure, user in ((INSQ(T=2.0, max_rel=2), insq), (INST(T=2.0, max_rel=2), inst)):
        assert provider.supports(measure)
        assert not provider.supports(type(measure)(T=2.0, max_rel=2, min_rel=-1))
        found = provider.calc_aggregate([measure], qrels, run)[measure]
        assert found == pytest.approx(slow_user(user, gains, 4), rel=2e-4)  # what lies beyond rank 20,000


def drawn_run(seed):
    """Documents without ties, some of them without a judgment, and judgments of others."""
    rng = np.random.default_rng(seed)
    qrels, run = {}, {}
    for query in ("a", "b", "c"):
        docs = [f"d{i}" for i in range(rng.integers(3, 40))]
        run[query] = dict(zip(docs, rng.permutation(len(docs)).astype(float).tolist(), strict=True))
        qrels[query] = {doc: int(rng.choice([-1, 0, 0, 1, 2, 3, 4])) for doc in [*docs[::2], "lost"]}
    return qrels, run


@pytest.mark.parametrize("seed", [*range(2), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 20))])
def test_user_models_agree_with_cwl_eval(seed):
    """cwl_eval ends at rank 1000: sums without a last rank differ by the share of the ranks beyond."""
    pytest.importorskip("cwl.cwl_eval", reason="cwl_eval, which has the expected numbers, is not installed")
    theirs, (qrels, run) = ir_measures.providers.registry["cwl_eval"], drawn_run(seed)
    for least, most in ((0, 4), (1, 3), (0, 2), (2, 4)):
        scale = {"min_rel": least, "max_rel": most}
        same = [SDCG(**scale) @ 5, SDCG(dcg="log2", **scale) @ 60, BPM(**scale) @ 6, BPM(T=2.5, **scale) @ 60,
                NERR8(**scale) @ 5, NERR9(**scale) @ 60, NERR10(**scale), NERR10(p=0.5, **scale)]
        deep = [INSQ(T=2.0, **scale), INST(T=2.0, **scale), NERR11(T=2.0, **scale)]
        assert all(provider.supports(one) for one in same + deep)
        wanted = {(one.measure, one.query_id): one for one in theirs.iter_calc(same + deep, qrels, run)}
        found = {(one.measure, one.query_id): one.value for one in provider.iter_calc(same + deep, qrels, run)}
        assert set(found) == set(wanted)
        curves = hc.evaluate(qrels, run, "AP").curves()
        for (measure, query), value in found.items():
            one = wanted[measure, query]
            if measure in same:
                assert value == pytest.approx(one.value, rel=1e-12), measure
                continue
            name = f"{measure.NAME}(T=2,min_rel={least},max_rel={most})"
            user = curves[["a", "b", "c"].index(query)].user_model(name, ties="best")
            assert value * user.depth == pytest.approx(one.value * one.expected_items, rel=1e-12)
            assert value <= one.value * (1 + 1e-12)


@pytest.mark.parametrize(("qrels", "run"), CASES)
def test_small_cases_agree_with_the_default_providers(qrels, run):
    agree(qrels, run, MEASURES)


def test_other_forms_of_input():
    qrels, run = CASES[0]
    flat_qrels = [ir_measures.Qrel(q, d, v) for q, docs in qrels.items() for d, v in docs.items()]
    flat_run = [ir_measures.ScoredDoc(q, d, v) for q, docs in run.items() for d, v in docs.items()]
    assert provider.calc_aggregate([AP, nDCG @ 10], iter(flat_qrels), iter(flat_run)) == pytest.approx(
        provider.calc_aggregate([AP, nDCG @ 10], qrels, run))
    evaluator = provider.evaluator([AP], qrels)
    assert [evaluator.calc_aggregate(run)[AP] for _ in range(2)] == [provider.calc_aggregate([AP], qrels, run)[AP]] * 2
    assert provider.calc_aggregate([AP], qrels, {}) == {AP: 0.0}


def test_measures_of_its_other_providers():
    """Where ties decide, those order documents otherwise: so, no ties."""
    qrels, run = CASES[0]
    agree(qrels, run, [Judged @ 3, Judged @ 10, RR @ 2])
    [err] = provider.calc_aggregate([ERR @ 2], {"q": {"a": 2, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}}).values()
    assert err == pytest.approx(3 / 16 + (13 / 16) * (1 / 16) / 2)
    [rbp] = provider.calc_aggregate([RBP(rel=1, p=0.5)], {"q": {"a": 2, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}}).values()
    assert rbp == pytest.approx(0.75)


def drawn_without_ties(rng):
    """Judgments and a run in which no scores are equal, and every query has a relevant document."""
    qrels, run = {}, {}
    for query in map(str, range(8)):
        docs = [f"d{i}" for i in range(30)]
        levels = rng.choice([-1, 0, 0, 1, 2, 3], 30)
        levels[rng.integers(30)] = 3
        kept = (levels > 2) | (rng.random(30) < 0.7)
        qrels[query] = {doc: int(level) for doc, level, keep in zip(docs, levels, kept, strict=True) if keep}
        listed = rng.permutation([*docs, *(f"n{i}" for i in range(10))])[: rng.integers(1, 40)]
        scores = rng.permutation(100)[: len(listed)] / 128
        run[query] = {str(doc): float(score) for doc, score in zip(listed, scores, strict=True)}
    return qrels, run


@pytest.mark.parametrize("seed", range(20))
def test_compat_and_accuracy_without_ties(seed):
    """Its own providers. Accuracy of theirs fails where all documents are relevant, so there are others here."""
    qrels, run = drawn_without_ties(np.random.default_rng(seed))
    for docs in run.values():
        docs["other"] = 99.0
    compat = [Compat, Compat(p=0.5), Compat(p=0.999), Compat(p=0.8, normalize=False)]
    accuracy = [Accuracy, Accuracy @ 1, Accuracy @ 5, Accuracy @ 100, Accuracy(rel=2), Accuracy(rel=3) @ 10]
    for measure in compat + accuracy:
        theirs = ir_measures.compat if measure in compat else ir_measures.providers.registry["accuracy"]
        wanted = {one.query_id: one.value for one in theirs.iter_calc([measure], qrels, run)}
        found = {one.query_id: one.value for one in provider.iter_calc([measure], qrels, run)}
        assert found == pytest.approx(wanted, rel=2e-14, abs=1e-15), measure
        mean = theirs.calc_aggregate([measure], qrels, run)[measure]
        assert provider.calc_aggregate([measure], qrels, run)[measure] == pytest.approx(mean, rel=2e-14, nan_ok=True)


def test_queries_without_a_value_of_accuracy():
    """Theirs fails where a query has relevant documents alone. Ours leaves it out, and one without any too."""
    qrels = {"q": {"a": 1, "b": 0, "c": 1}, "all": {"a": 1, "b": 1}, "none": {"a": 0}, "lost": {"z": 1},
             "away": {"a": 1}}  # fmt: skip
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}, "none": {"a": 1.0}, "lost": {"a": 1.0}, "extra": {"a": 1.0}}
    theirs = ir_measures.providers.registry["accuracy"]
    for measure in (Accuracy, Accuracy @ 2):
        wanted = [*theirs.iter_calc([measure], qrels, run)]
        assert [*provider.iter_calc([measure], qrels, run)] == wanted
        assert provider.calc_aggregate([measure, AP], qrels, run)[measure] == wanted[0].value
    run["all"] = {"a": 2.0, "b": 1.0}
    with pytest.raises(ZeroDivisionError):
        [*theirs.iter_calc([Accuracy], qrels, run)]
    assert [*provider.iter_calc([Accuracy], qrels, run)] == [ir_measures.Metric("q", Accuracy, 0.5)]
    assert [*provider.iter_calc([Accuracy], qrels, {})] == []


def test_what_is_supported():
    assert provider.is_available()
    assert provider.supports(nDCG @ 10)
    assert not provider.supports(RBP)  # graded: ir_measures does not say how


def test_its_own_calls_take_hitcurve_once_it_stands_first():
    """ir_measures looks for no entry points: the list of its providers is where it looks."""
    pipeline = ir_measures.DefaultPipeline
    assert ir_measures.providers.registry["hitcurve"] is provider
    qrels, run = CASES[2]
    wanted = ir_measures.calc_aggregate([AP, nDCG @ 10], qrels, run)
    pipeline.providers.insert(0, provider)
    try:
        used = pipeline.evaluator([AP, nDCG @ 10], qrels)
        assert type(used).__module__ == "hitcurve.ir_measures"
        assert used.calc_aggregate(run) == pytest.approx(wanted)
    finally:
        pipeline.providers.remove(provider)


def test_its_measures_are_measures():
    qrels = {f"q{i}": {"a": 1, "b": i % 3, "c": 2} for i in range(8)}
    one = {query: {"a": 1.0, "b": 0.5 + i, "c": 0.1 * i} for i, query in enumerate(qrels)}
    other = {query: {"a": 0.1 * i, "b": 2.0, "c": 1.0} for i, query in enumerate(qrels)}
    for objects in ([AP, nDCG @ 2, P(rel=2) @ 1], [RR]):
        names = [str(measure) for measure in objects]
        found = [hc.evaluate(qrels, run, objects) for run in (one, other)]
        assert hc.Evaluator(qrels, objects).evaluate(one).means == found[0].means
        assert list(found[0].means) == names
        systems = {"one": found[0], "other": found[1]}
        rows = hc.compare(systems, measures=objects, rng=1).rows
        assert [row.measure for row in rows] == names
        assert rows == hc.compare(systems, measures=names, rng=1).rows
        assert hc.compare(systems, measures=objects[0], rng=1).rows == rows[:1]
    y, s = [1, 0, 1, 0, 1], {"a": [5, 4, 3, 2, 1], "b": [1, 2, 3, 4, 5]}
    assert hc.compare(y, s, measures=[AP, P @ 2], n_resamples=99, rng=1).rows == hc.compare(
        y, s, measures=["AP", "P@2"], n_resamples=99, rng=1).rows
    with pytest.raises(ValueError, match="Compat"):
        hc.compare(systems, measures=[ir_measures.Compat(p=0.8)])


@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.slow)])
def test_real_runs(shared_data, every):
    folder = shared_data / "codec/entity"
    qrels = list(ir_measures.read_trec_qrels(str(folder / "qrels_graded.txt")))
    path = sorted((folder / "runs").glob("*.xz"))[0]
    run = list(ir_measures.read_trec_run(lzma.decompress(path.read_bytes()).decode()))
    queries = {*sorted({one.query_id for one in qrels})[::every]}
    qrels, run = ([one for one in rows if one.query_id in queries] for rows in (qrels, run))
    agree(qrels, run, MEASURES)
