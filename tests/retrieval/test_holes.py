"""Hole@k: documents that no query has a judgment of, as BEIR and MTEB count them."""

import warnings

import numpy as np
import pytest

import hitcurve as hc


def beir(qrels, results, k):
    """The mean over the judged queries, of the documents in a stable order by score."""
    known = {doc for docs in qrels.values() for doc in docs}
    orders = [sorted(docs, key=docs.get, reverse=True) for docs in results.values()]
    return round(sum(sum(doc not in known for doc in order[:k]) / k for order in orders) / len(qrels), 5)


def mteb(qrels, results, k):
    """The share of each query, of equal scores the greater id first."""
    known = set().union(*qrels.values())
    orders = {query: sorted(docs, key=lambda doc: (docs[doc], doc), reverse=True) for query, docs in results.items()}
    return {query: sum(doc not in known for doc in docs[:k]) / k for query, docs in orders.items()}


def drawn(rng, tied):
    docs = [f"d{i}" for i in range(60)]
    qrels, run = {}, {}
    for query in "abcdef":
        judged = rng.choice(docs, rng.integers(1, 8), replace=False)
        qrels[query] = {str(doc): int(rng.integers(-1, 3)) for doc in judged}
        listed = rng.choice(docs, rng.integers(1, 40), replace=False)
        scores = rng.integers(0, 5, len(listed)) if tied else rng.permutation(100)[: len(listed)]
        run[query] = {str(doc): float(score) for doc, score in zip(listed, scores, strict=True)}
    return qrels, run


@pytest.mark.parametrize("seed", range(10))
def test_holes_of_beir_and_mteb(seed):
    for tied in (False, True):
        qrels, run = drawn(np.random.default_rng(seed), tied)
        for k in (1, 3, 10, 100):
            found = hc.evaluate(qrels, run, f"Hole@{k}")
            wanted = mteb(qrels, run, k)
            assert found.values[f"Hole@{k}"].tolist() == [wanted[query] for query in found.query_ids]
            assert found[f"Hole_at_{k}"] == found[f"Hole@{k}"]
            if not tied:
                assert round(found[f"Hole@{k}"], 5) == beir(qrels, run, k)
    del run["a"]  # of which BEIR counts 0, and MTEB nothing
    missed = hc.evaluate(qrels, run, "Hole@3"), hc.evaluate(qrels, run, "Hole@3", missing="skip")
    assert missed[0].means["Hole@3"] * 6 == pytest.approx(missed[1].means["Hole@3"] * 5)
    assert missed[1]["Hole@3"] == pytest.approx(np.mean([*mteb(qrels, run, 3).values()]))


def test_ties_of_holes_alone():
    """No document that is judged for the query is in a tie, and yet the order of ties decides."""
    qrels = {"q": {"a": 1}, "r": {"b": 1}}
    run = {"q": {"a": 9.0, "b": 1.0, "x": 1.0, "y": 1.0}, "r": {"b": 1.0}}
    for name, worst, expected, best in (("Hole@2", 0.5, 1 / 3, 0.0), ("Hole@3", 2 / 3, 4 / 9, 1 / 3)):
        for ties, wanted in (("worst", worst), ("expected", expected), ("best", best), ("docid", worst)):
            found = hc.evaluate(qrels, run, ["AP", name], ties=ties)
            assert found["q"][name] == pytest.approx(wanted, rel=1e-15)
        band = hc.evaluate(qrels, run, name).tie_report()[name]
        assert band[:3] == pytest.approx((worst / 2, expected / 2, best / 2))
    assert hc.evaluate(qrels, run, "Hole@3", judged_only=True)["Hole@3"] == 0


def test_other_orders_and_integers():
    qrels, run = {"q": {1: 1}, "r": {2: 1}}, {"q": {7: 1.0, 2: 2.0, 1: 3.0}, "r": {2: 1.0}}
    columns = [tuple(np.array(column) for column in zip(*[(query, doc, value) for query, docs in of.items()
                                                         for doc, value in docs.items()], strict=True))
               for of in (qrels, run)]  # fmt: skip
    for rank_by, wanted in (("score", 0.0), ("listed", 0.5)):
        for judged, listed in ((qrels, run), columns, (hc.read_qrels(qrels), hc.read_run(run)), (columns[0], run)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # that scores rise
                assert hc.evaluate(judged, listed, "Hole@2", rank_by=rank_by)["q"]["Hole@2"] == wanted
    assert hc.evaluate(qrels, run, "Hole@5", depth=2)["Hole@5"] == 0
    assert hc.evaluate([[1], [2]], [[7, 2, 1], [2]], "Hole@2")["Hole@2"] == 0.25
