"""A judged run as curves: what options leave out, levels, files, pickles. Every measure is in test_register.py."""

import pickle

import numpy as np
import pytest
import routes

import hitcurve as hc


def drawn(rng, queries=None):
    """Judgments with levels below 0, and a run with ties, documents without a judgment and queries of its own."""
    ids = [f"d{i}" for i in range(12)]
    qrels, run = {}, {}
    for q in range(queries or rng.integers(1, 6)):
        judged, listed = rng.permutation(12)[: rng.integers(1, 9)], rng.permutation(12)[: rng.integers(0, 11)]
        qrels[f"q{q}"] = {ids[i]: int(rng.integers(-1, 4)) for i in judged}
        run[f"q{q}"] = {ids[i]: float(rng.integers(-2, 3)) for i in listed}
    run = {query: docs for query, docs in run.items() if docs} or {"q0": {"d0": 0.5}}
    return qrels, run | ({"z": {"d1": 1.0}} if rng.random() < 0.2 else {})


def test_what_the_options_of_a_run_leave_out():
    rng = np.random.default_rng(11)
    for _ in range(40):
        qrels, run = drawn(rng)
        depth, judged_only = int(rng.integers(1, 8)), bool(rng.integers(0, 2))
        found = hc.evaluate(qrels, run, ["Q", "DCG@3", "AP"], depth=depth, judged_only=judged_only)
        first = {query: sorted(docs.items(), key=lambda item: (item[1], item[0].encode()))[-depth:]
                 for query, docs in run.items()}  # fmt: skip
        world = routes.World(qrels, {query: dict(docs) for query, docs in first.items()})
        arrays = routes.by_offsets(routes.without_unjudged(world) if judged_only else world, "gains", 1, True)
        assert routes.table(found.curves()) == routes.table(arrays)
        np.testing.assert_allclose(found.values["DCG@3"], arrays.dcg(3), rtol=1e-14)
        here = hc.evaluate(qrels, run, "Q", missing="skip")
        assert here.curves().qid.tolist() == here.query_ids == [query for query in sorted(qrels) if query in run]


def test_from_files_dicts_and_arrays(tmp_path):
    qrels, run = drawn(np.random.default_rng(3), 50)
    names = ["Q@10", "NCU(stop=rbp,p=0.8)", "GAP", "AG@5", "INSQ(T=2)@5", "DCG(dcg=exp-log2)@7", "INST(ties=best)"]
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {one}\n" for q in qrels for d, one in qrels[q].items()))
    (tmp_path / "run").write_text("".join(f"{q} Q0 {d} 0 {one} x\n" for q in run for d, one in run[q].items()))
    found, again = hc.evaluate(qrels, run, names), hc.evaluate(tmp_path / "qrels", tmp_path / "run", names)
    assert found.curves() == again.curves()
    for name in names:
        assert found.values[name].tobytes() == again.values[name].tobytes()
        assert found.means[name] == pytest.approx(found.values[name].mean(), rel=1e-14)
    ranks = {}
    for query, docs in run.items():
        listed = sorted(docs, key=lambda doc: (docs[doc], doc.encode()))
        ranks[query] = {doc: float(place) for place, doc in enumerate(listed)}
    assert hc.evaluate(qrels, ranks, names, ties="expected").curves() == found.curves()


def test_a_level_gives_hit_curves():
    qrels, run = drawn(np.random.default_rng(5), 9)
    found = hc.evaluate(qrels, run, ["AP(rel=2)", "P(rel=3)@5"], ties="expected")
    np.testing.assert_allclose(found.curves(2).average_precision(), np.where(
        found.curves(2).num_relevant > 0, found.values["AP(rel=2)"], np.nan), rtol=1e-14)
    assert found.curves(3).precision(5).tolist() == found.values["P(rel=3)@5"].tolist()
    with pytest.raises(ValueError, match="level is 0: must be above 0"):
        found.curves(0)


def test_a_pickle_keeps_the_curves():
    qrels, run = drawn(np.random.default_rng(6), 200)
    found = hc.evaluate(qrels, run, ["nDCG@10", "Q@10"])
    again = pickle.loads(pickle.dumps(found))
    assert again.curves() == found.curves()
    assert again.curves().qid.tolist() == found.query_ids
    assert again.values["Q@10"].tolist() == found.values["Q@10"].tolist()


def test_without_rows():
    found = hc.evaluate({"q": {"a": 0}, "r": {"b": 1}}, {"q": {"a": 1.0}}, ["Q", "AG", "INSQ"])
    assert [found.values[name].tolist() for name in ("Q", "AG", "INSQ")] == [[0, 0], [0, 0], [0, 0]]
    assert found.curves().num_items.tolist() == [1, 0]
    assert found.curves().num_relevant.tolist() == [0, 1]
    with pytest.warns(UserWarning, match="no documents"):
        nothing = hc.evaluate({"q": {"a": 1}}, {}, "Q", missing="skip")
    assert len(nothing.curves()) == 0


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ROCAUC", "ROCAUC needs every item of the collection, but a run lists only some documents"),
        ("Fallout@10", "pass the labels and scores of all items to hitcurve.HitCurves"),
        ("OPA", "pass the labels and scores of all items to hitcurve.GainCurves"),
        ("MeanRank", "MeanRank needs every item"),
        ("Q(gains={0:1,1:2})", "level 0 cannot have a gain: this measure treats documents below level 1 like"),
        ("DCG(gains={-1:1})", "level -1 cannot have a gain"),
        ("GAP(max=1)", "max_level is 1, but an item has level 2"),
        ("INST", r"INST\(T=1\) has no expected value over ties in closed form"),
    ],
)
def test_what_a_run_cannot_give(name, text):
    with pytest.raises(ValueError, match=text):
        hc.evaluate({"q": {"a": 2}}, {"q": {"a": 1.0}}, name, ties="expected")


def test_the_value_lies_within_its_band():
    """Sums of trec_eval's order and curves differ in the last bits."""
    rng = np.random.default_rng(17)
    for _ in range(60):
        qrels, run = drawn(rng)
        for band in hc.evaluate(qrels, run, ["RBP", "nDCG", "AP", "ERR", "P@3", "Unjudged@3"]).tie_report().values():
            assert min(band.worst, band.best) <= band.value <= max(band.worst, band.best)


def test_a_run_without_ties_has_the_bits_of_docid():
    rng = np.random.default_rng(19)
    qrels, run = drawn(rng, 30)
    run = {query: {doc: place + rng.random() / 2 for place, doc in enumerate(docs)} for query, docs in run.items()}
    names = ["RBP", "nDCG@3", "AP", "ERR", "Q"]
    found = [hc.evaluate(qrels, run, names, ties=ties).values for ties in ("docid", "expected", "worst", "best")]
    for name in names:
        assert len({values[name].tobytes() for values in found}) == 1


def test_gains_at_the_end_of_float64():
    qrels, run = {"q": {"a": 1023, "b": 1022, "c": 1}}, {"q": {"a": 1.0, "b": 2.0, "c": 1.0}}
    found = hc.evaluate(qrels, run, "nDCG(dcg=exp-log2)")
    again = pickle.loads(pickle.dumps(found))
    band = again.tie_report()["nDCG(dcg=exp-log2)"]
    assert 0 < band.worst < band.expected < band.best < 1
    assert again.curves() == found.curves()


@pytest.mark.parametrize("level", [-1, 0, 1])
@pytest.mark.parametrize("ties", ["expected", "worst", "best"])
def test_levels_below_1_of_judged_documents_alone(level, ties):
    """A document of level -1 has no judgment, and goes with judged_only, however low the lowest relevant level is."""
    qrels, run = {"q": {"a": -1, "b": 0, "c": 2, "d": -1}}, {"q": {"a": 3.0, "b": 3.0, "c": 1.0, "d": 0.5, "u": 3.0}}
    plain = {"q": {"b": 3.0, "c": 1.0}}
    names = ["AP", "P@2", "R@2", "RR", "Hits@3", "Rprec", f"RBP(rel={level})"]
    found = hc.evaluate(qrels, run, names, ties=ties, judged_only=True, relevance_level=level)
    wanted = hc.evaluate(qrels, plain, names, relevance_level=level)
    for name in names:
        assert found.values[name] == pytest.approx(wanted.values[name], rel=1e-15)
