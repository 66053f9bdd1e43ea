"""What to judge next: the pool, its residuals and the bounds of AP, by enumeration and by judging the documents."""

import csv
import io
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
import reference as ref

import hitcurve as hc

EXACT = 1e-13


def example(seed, distinct=None, docs=9, queries=4):
    """Judgments (0, 1, 2, and -1 for none) of some documents, and runs that lack some documents."""
    rng = np.random.default_rng(seed)
    names = [f"d{i}" for i in range(docs)]
    qrels, runs = {}, ({}, {})
    for q in range(queries):
        qrels[f"q{q}"] = {d: int(rng.integers(-1, 3)) for d in names if rng.random() < 0.5} or {"d0": 1}
        for run in runs:
            kept = [d for d in names if rng.random() < 0.8]
            run[f"q{q}"] = {d: float(rng.integers(distinct) if distinct else rng.random()) for d in kept}
    return qrels, runs


def groups_of(run, tied):
    """The documents in tie groups, best first."""
    order = sorted(run, key=lambda doc: (run[doc], doc), reverse=True)
    if not tied:
        return [[doc] for doc in order]
    return [[doc for doc in order if run[doc] == score] for score in sorted(set(run.values()), reverse=True)]


def expected_of(qrels, runs, k, ties, level, p):
    """The rows and the bounds of one query, by enumeration."""
    tied = ties != "docid"
    reading = ties if tied else "expected"
    orders = [groups_of(run, tied) for run in runs]
    known = [d for d, found in qrels.items() if found >= level]
    free = {d for d in {*runs[0], *runs[-1], *qrels} if qrels.get(d, -1) < 0}
    pool, above = set(), [{}, {}]
    for place, groups in zip(above, orders, strict=False):
        at = 0
        for group in groups:
            place |= dict.fromkeys(group, at)
            pool |= {d for d in group if at < k and d in free}
            at += len(group)
    pool = sorted(pool)
    rows, bounds = {d: [0, Fraction(0), Fraction(0)] for d in pool}, []
    for groups, place in zip(orders, above, strict=False):
        items, hits = [len(g) for g in groups], [sum(d in known for d in g) for g in groups]
        here = [d for g in groups for d in g if d in pool]
        elsewhere = [d for d in pool if d not in here]
        lost = len(known) - sum(hits)
        now, low, high, each = ref.over_ways_to_judge(
            items, hits, lost, [sum(d in pool for d in g) for g in groups], len(elsewhere), ties=reading)
        rbp = ref.rbp_of_groups(items, hits, p=p, ties=reading)
        for doc, alone in zip([*here, *elsewhere], each, strict=True):
            more = [n + (doc in g) for n, g in zip(hits, groups, strict=True)]
            rows[doc][0] += place.get(doc, math.inf) < k
            rows[doc][1] += (ref.rbp_of_groups(items, more, p=p, ties=reading) - rbp) / len(runs)
            rows[doc][2] += (alone - now) / len(runs)
        whole = [n + sum(d in pool for d in g) for n, g in zip(hits, groups, strict=True)]
        bounds.append((len(here), now, low, high, ref.rbp_of_groups(items, whole, p=p, ties=reading) - rbp))
    return rows, bounds if pool else []


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("ties", ["docid", "expected", "best", "worst"])
@pytest.mark.parametrize("seed", range(4))
def test_pool_by_enumeration(ties, seed, level):
    qrels, runs = example(seed, distinct=4 if seed % 2 else None, docs=7)
    k, p = 1 + 2 * seed, Fraction(3, 4)
    one, other = (hc.evaluate(qrels, run, "AP", ties=ties, relevance_level=level, name=name)
                  for run, name in zip(runs, "xy", strict=True))
    for number in (1, 2):
        found = one.unjudged(k, run=runs[0], also=[(other, runs[1])][: number - 1], p=float(p))
        bounds = {(row.system, row.query_id): row for row in found.bounds}
        seen = {(row.query_id, row.doc_id): row for row in found}
        assert len(seen) == len(found)
        for query, judged in qrels.items():
            rows, limits = expected_of(judged, [run[query] for run in runs[:number]], k, ties, level, p)
            assert {doc for of, doc in seen if of == query} == set(rows)
            for doc, (count, residual, change) in rows.items():
                row = seen[query, doc]
                assert row.runs == count
                assert row.residual == pytest.approx(float(residual), rel=EXACT, abs=EXACT)
                assert row.ap_change == pytest.approx(float(change), rel=EXACT, abs=EXACT)
            for name, limit in zip("xy", limits, strict=False):
                assert bounds[name, query][2:] == pytest.approx(tuple(map(float, limit)), rel=EXACT, abs=EXACT)
        assert [-row.residual for row in found] == sorted(-row.residual for row in found)


def test_what_judging_does():
    """The changes are those of `evaluate` with the document judged; AP and RBP of trec_eval's order."""
    qrels, (run, _) = example(11, docs=30, queries=8)
    measures = ["AP", "RBP(rel=1,p=0.8)"]
    before = hc.evaluate(qrels, run, measures)
    for row in before.unjudged(5, run=run):
        after = hc.evaluate({**qrels, row.query_id: {**qrels[row.query_id], row.doc_id: 1}}, run, measures)
        change = {name: after[row.query_id][name] - before[row.query_id][name] for name in measures}
        assert row.ap_change == pytest.approx(change["AP"], abs=1e-12)
        assert row.residual == pytest.approx(change[measures[1]], abs=1e-12)
        order = sorted(run[row.query_id], key=run[row.query_id].get, reverse=True)
        assert order[row.rank - 1] == row.doc_id
        assert row.score == run[row.query_id][row.doc_id]


@pytest.mark.filterwarnings("ignore:.*scores rise in the order")
def test_files_are_read_again(tmp_path):
    qrels, runs = example(3, distinct=5, docs=12)
    for number, run in enumerate(runs):
        lines = [f"{q} Q0 {d} {rank} {score} tag{number}\n" for q, docs in run.items()
                 for rank, (d, score) in enumerate(docs.items(), 1)]  # fmt: skip
        (tmp_path / f"run{number}.txt").write_text("".join(lines))
    paths = [tmp_path / f"run{number}.txt" for number in range(2)]
    for options in ({}, {"ties": "expected"}, {"rank_by": "listed"}, {"rank_by": "rank"}, {"depth": 3},
                    {"scores": "float32"}, {"missing": "skip"}):  # fmt: skip
        files = hc.evaluate(qrels, paths, "AP", **options)
        found = files[0].unjudged(4, also=files[1:])
        assert found.rows
        if options.get("rank_by") == "rank":
            continue
        memory = hc.evaluate(qrels, list(runs), "AP", **options)
        assert found.rows == memory[0].unjudged(4, run=runs[0], also=[(memory[1], runs[1])]).rows
        again = pickle.loads(pickle.dumps(files[0]))
        assert again.unjudged(4).rows == files[0].unjudged(4).rows
    listed = hc.evaluate(qrels, paths[0], "AP", rank_by="listed").unjudged(99)
    assert {row.doc_id: row.rank for row in listed if row.query_id == "q0"} == {
        d: rank for rank, d in enumerate(runs[0]["q0"], 1) if qrels["q0"].get(d, -1) < 0}  # fmt: skip
    paths[0].write_text("q0 Q0 d1 1 0.5 tag0\n")
    with pytest.raises(ValueError, match=r"run0.txt: query 'q0' has 1 document in .*run0.txt, but \d+ in the run that"):
        files[0].unjudged(4)


def test_empty_queries_missing_queries_and_integer_ids():
    qrels = {"none": {"a": 0}, "missing": {"a": 1}, "whole": {"a": 1}}
    run = {"none": {"a": 2.0, "b": 1.0}, "whole": {"a": 1.0}, "extra": {"c": 1.0}}
    found = hc.evaluate(qrels, run, "AP").unjudged(3, run=run, p=0.5)
    assert [tuple(row) for row in found] == [("none", "b", 2, 1.0, 1, 0.25, 0.5)]
    assert [tuple(row) for row in found.bounds] == [("run", "none", 1, 0.0, 0.0, 0.5, 0.25)]
    whole = hc.evaluate([{4: 1}], np.array([[7, 4, 12]]), "AP").unjudged(3, run=np.array([[7, 4, 12]]))
    assert [(row.query_id, row.doc_id, row.rank) for row in whole] == [("0", "7", 1), ("0", "12", 3)]
    all_judged = hc.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}).unjudged(run={"q": {"a": 1.0}})
    assert (len(all_judged), bool(all_judged), all_judged.bounds) == (0, True, ())
    assert repr(all_judged) == "Unjudged(0 documents of 0 queries, k=10)"


def test_frames_are_read_as_they_were(tmp_path):
    """With the columns and duplicates of `evaluate`, also from a file that is read again."""
    run = {"user": ["u", "u", "u", "v"], "item": ["a", "b", "b", "a"], "prediction": [3.0, 1.0, 2.0, 1.0]}
    head, rows = ",".join(run), zip(*run.values(), strict=True)
    (tmp_path / "run.csv").write_text("\n".join([head, *(",".join(map(str, row)) for row in rows)]))
    qrels = {"query_id": ["u", "v"], "doc_id": ["c", "b"], "liked": [1, 1]}
    how = {"columns": {"relevance": "liked", "score": "prediction"}, "duplicates": "best"}
    for source in (run, tmp_path / "run.csv"):
        found = hc.evaluate(qrels, source, "AP", **how)
        again = pickle.loads(pickle.dumps(found))
        rows = again.unjudged(run=None if source is not run else run, p=0.5)
        assert [row[:4] for row in rows] == [("u", "a", 1, 3.0), ("v", "a", 1, 1.0), ("u", "b", 2, 2.0)]


def test_a_fraction_as_the_level():
    qrels, run = {"q": {"a": 0.5, "b": 0.25}}, {"q": {"x": 3.0, "b": 2.0, "a": 1.0}}
    found = hc.evaluate(qrels, run, "AP", relevance_level=0.5).unjudged(run=run)
    assert [(row.doc_id, row.ap_change) for row in found] == [("x", pytest.approx((1 + 2 / 3) / 2 - 1 / 3))]
    with pytest.raises(ValueError, match=r"relevance level 0: .* which must be above 0"):
        hc.evaluate(qrels, run, "AP", relevance_level=0).unjudged(run=run)


def test_subsets_of_queries():
    qrels, (run, _) = example(5)
    found = hc.evaluate(qrels, run, "AP", queries=["q1", "q2"]).unjudged(5, run=run)
    assert {row.query_id for row in found} <= {"q1", "q2"}


def test_tables():
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    qrels, (run, _) = example(6)
    found = hc.evaluate(qrels, run, "AP").unjudged(3, run=run)
    fields = list(hc.UnjudgedDocument._fields)
    assert found.to_pandas().columns.tolist() == found.to_polars().columns == fields
    assert found.to_pandas("bounds").columns.tolist() == list(hc.UnjudgedQuery._fields)
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [row["doc_id"] for row in rows] == [row.doc_id for row in found]
    assert [float(row["residual"]) for row in rows] == [row.residual for row in found]
    assert str(found).splitlines()[0].split() == [*fields[:-1], "AP", "change"]
    assert found[0] == found.rows[0]
    assert "tabular" in found.to_latex()
    assert pickle.loads(pickle.dumps(found)) == found
    with pytest.raises(ValueError, match="table"):
        found.to_csv("pool")


def test_refusals():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 2.0, "b": 1.0}}
    found = hc.evaluate(qrels, run, "AP")
    with pytest.raises(ValueError, match=r"run: pass run=, the run that was evaluated"):
        found.unjudged(3)
    with pytest.raises(ValueError, match="query 'q' has 1 document in run, but 2 in the run that was evaluated"):
        found.unjudged(3, run={"q": {"a": 2.0}})
    with pytest.raises(ValueError, match="evaluate without the argument judged_only"):
        hc.evaluate(qrels, run, "AP", judged_only=True).unjudged(3, run=run)
    with pytest.raises(ValueError, match="relevance level 2"):
        found.unjudged(3, run=run, also=[(hc.evaluate(qrels, run, "AP", relevance_level=2), run)])
    with pytest.raises(TypeError, match=r"also\[0\] must be an Evaluation, or a pair"):
        found.unjudged(3, run=run, also=[run])
    with pytest.raises(TypeError, match=r"also must be a list of evaluations, got .* of type Evaluation"):
        found.unjudged(3, run=run, also=found)
    for p in (0, 1, 1.5, "x", True, math.nan):
        with pytest.raises(ValueError, match=r"p is .*: it must be a number between 0 and 1"):
            found.unjudged(3, run=run, p=p)
    for k in (0, 1.5, "x"):
        with pytest.raises((ValueError, TypeError), match="k"):
            found.unjudged(k, run=run)
