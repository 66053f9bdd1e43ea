"""Pickles of one version are read by the next: those in tests/data are read here, and give the numbers of objects made
anew.

`python tests/test_pickles.py --write` writes the file of this version. A release adds a file; no file is changed after
its release.
"""

import base64
import io
import json
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

import hitcurve as hc

DATA = Path(__file__).resolve().parent / "data"
Y, S = [1, 0, 1, 1, 0, 0, 1, 0], [9.0, 8.0, 8.0, 5.0, 5.0, 5.0, 2.0, 1.0]
TOPICS = [[1, 0], [0, 0], [1, 1], [0, 2], [0, 0], [1, 0], [0, 1], [0, 0]]
LEVELS = [2, 0, 1, 1.5, 0, 0, 3, 0]
QRELS = {"q1": {"a": 2, "b": 0, "c": 1, "d": -1, "é": 3}, "q2": {"a": 0, "b": 1}, "q3": {"a": 0}}
RUN = {"q1": {"a": 0.5, "b": 2.0, "x": 0.5, "c": -1.0}, "q2": {"b": 1.0, "a": 1.0}, "q4": {"a": 1.0}}
MEASURES = ["map", "P@2", "nDCG@3", "Q", "Bpref", "GMAP"]


def counted(counter, labels):
    counter.update(labels, S)
    return counter


def objects():
    """An object of every kind that can be pickled."""
    flags = np.array(Y)
    return {
        "HitCurve": hc.HitCurve(Y, S, num_relevant=5),
        "HitCurve lower": hc.HitCurve(Y, np.array(S, np.float32), lower_is_better=True),
        "HitCurve integers": hc.HitCurve(Y, np.array(S).astype(np.uint64)),
        "HitCurve nan": hc.HitCurve(Y, [*S[:6], float("nan"), 1.0], nan_policy="worst"),
        "HitCurve weighted": hc.HitCurve(Y, S, sample_weight=np.arange(8) / 4),
        "HitCurve ranks": hc.HitCurve.from_ranks([2, 4], num_items=9),
        "HitCurves": hc.HitCurves(Y, S, qid=list("abababcc")),
        "HitCurves weighted": hc.HitCurves(Y, S, offsets=[0, 3, 8], sample_weight=np.ones(8)),
        "GainCurve": hc.GainCurve(LEVELS, S, unretrieved=[1]),
        "GainCurve ranks": hc.GainCurve.from_ranked([2, 0, 1], num_items=9),
        "GainCurves": hc.GainCurves([2, 0, 1, 1, 0, 0, 3, 0], S, qid=list("abababcc"), unretrieved=[[1], [], [2, 2]]),
        "SubtopicCurve": hc.SubtopicCurve(TOPICS, S, subtopics="ab", unretrieved=[[0, 1]]),
        "SubtopicCurves": hc.SubtopicCurves(TOPICS, S, qid=list("abababcc"), unretrieved=[[[1, 1]], [], [[2, 0]]]),
        "HitCounter": counted(hc.HitCounter(np.array(S)[flags == 1]), Y),
        "HitCounter of bins": counted(hc.HitCounter(edges=[2.0, 5.0]), Y),
        "GainCounter": counted(hc.GainCounter(S, [1, 1.5, 2, 3]), LEVELS),
        "RankBiasedOverlap": hc.rbo({"q": {"a": 1.0, "b": 1.0}}, {"q": {"b": 1.0}}),
        "TieReport": hc.HitCurve(Y, S).tie_report(),
        "Evaluation": hc.evaluate(QRELS, RUN, MEASURES),
        "Evaluation tied": hc.evaluate(QRELS, RUN, MEASURES, ties="expected", judged_only=True, relevance_level=2),
        "Comparison": hc.compare({"a": hc.evaluate(QRELS, RUN, "AP"), "b": hc.evaluate(QRELS, {
            query: dict(zip(docs, range(len(docs)), strict=True)) for query, docs in QRELS.items()}, "AP")}, rng=0,
            n_resamples=99),
        "Evaluator": hc.Evaluator(QRELS, MEASURES, ties="best"),
        "Qrels": hc.read_qrels(QRELS),
        "Run": hc.read_run(RUN),
    }  # fmt: skip


OBJECTS = objects()
KEPT = {(path.stem, name): base64.b64decode(text) for path in sorted(DATA.glob("pickles-*.json"))
        for name, text in json.loads(path.read_text()).items()}  # fmt: skip


def numbers(one):
    """Everything that an object says, as what can be compared."""
    if isinstance(one, (hc.HitCounter, hc.GainCounter)):
        return [one.num_items, one.num_hits, *numbers(one.curve())]
    if isinstance(one, (hc.SubtopicCurve, hc.SubtopicCurves)):
        return [repr(one), one.subtopics, bits(one.alpha_ndcg()), bits(one.precision_ia(3, relevance_level=2)),
                *numbers(one.highest_levels())]  # fmt: skip
    if isinstance(one, (hc.GainCurve, hc.GainCurves)):
        unretrieved = [np.asarray(levels).tolist() for levels in one.unretrieved]
        return [repr(one), bits(one.ndcg()), bits(one.err(max_level=4)), unretrieved, *numbers(one.at_level(1))]
    if isinstance(one, (hc.HitCurve, hc.HitCurves)):
        ties = "threshold" if one.weighted else "expected"
        dtype = None if one.score is None else one.score.dtype
        return [repr(one), dtype, bits(one.average_precision(ties=ties)), bits(one.roc_auc(ties=ties))
                if np.all(one.num_hits == one.num_relevant) else None]  # fmt: skip
    if isinstance(one, hc.Comparison):
        return [one.rows, one.systems, str(one)]
    if isinstance(one, hc.Evaluation):
        values = {name: column.tobytes() for name, column in one.values.items()}
        return [one.to_json(), values, one.values["AP"].tobytes(), one.tie_report(), one.level_strings(), one.missing,
                one.extra, one.relevance_level, one.curves().qid.tolist(), *numbers(one.curves())]  # fmt: skip
    if isinstance(one, hc.Evaluator):
        return numbers(one.evaluate(RUN))
    if type(one) is type(OBJECTS["Qrels"]):
        return numbers(hc.evaluate(one, RUN, MEASURES))
    if type(one) is type(OBJECTS["Run"]):
        return numbers(hc.evaluate(QRELS, one, MEASURES))
    return [one]


def bits(value):
    return np.asarray(value, np.float64).tobytes()


def assert_same(found, expected):
    assert type(found) is type(expected)
    assert numbers(found) == numbers(expected)
    if hasattr(expected, "lower_is_better"):
        assert found == expected


def test_there_are_pickles_of_every_kind():
    names = {name for _, name in KEPT}
    assert names == set(OBJECTS)
    kinds = {type(one).__name__ for one in OBJECTS.values()}
    assert kinds >= {"HitCurve", "HitCurves", "GainCurve", "GainCurves", "SubtopicCurve", "SubtopicCurves",
                     "HitCounter", "GainCounter", "Evaluation", "Evaluator", "Qrels", "Run"}  # fmt: skip


@pytest.mark.parametrize(("file", "name"), KEPT)
def test_pickles_of_earlier_versions(file, name):
    assert_same(pickle.loads(KEPT[file, name]), OBJECTS[name])


@pytest.mark.parametrize("name", OBJECTS)
def test_pickles_of_this_version(name):
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert_same(pickle.loads(pickle.dumps(OBJECTS[name], protocol)), OBJECTS[name])


def modules(data):
    """The modules whose names a pickle asks for."""
    asked = set()

    class Asking(pickle.Unpickler):
        def find_class(self, module, name):
            asked.add(module)
            return super().find_class(module, name)

    Asking(io.BytesIO(data)).load()
    return asked


@pytest.mark.parametrize("name", OBJECTS)
def test_pickles_name_nothing_that_may_move(name):
    for data in (pickle.dumps(OBJECTS[name], 4), *(data for (_, of), data in KEPT.items() if of == name)):
        others = {module for module in modules(data) if module.partition(".")[0] != "numpy"}
        assert others <= {"hitcurve", "hitcurve._base.pickle"}


@pytest.mark.parametrize("ties", ["docid", "expected"])
@pytest.mark.parametrize("relevant", [0.0, 0.3, 1.0])
def test_the_size_of_an_evaluation(relevant, ties):
    """For each judged document at most 24 bytes, and 40 more if it is relevant: it has a row of the curves."""
    rng, number, queries = np.random.default_rng(0), 10_000, 20
    ids = {"query_id": np.arange(number) % queries, "doc_id": np.arange(number)}
    level = np.where(rng.random(number) < relevant, rng.integers(1, 4, number), 0)
    qrels, run = {**ids, "relevance": level}, {**ids, "score": rng.random(number)}
    found = hc.evaluate(qrels, run, ["AP", "nDCG@10", "P@10"], ties=ties)
    assert found.counts["judged"] == number
    assert len(pickle.dumps(found)) <= 24 * number + 40 * np.count_nonzero(level)


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    path = DATA / f"pickles-{hc.__version__}.json"
    texts = {name: base64.b64encode(pickle.dumps(one, 4)).decode() for name, one in OBJECTS.items()}
    path.write_text(json.dumps(texts, indent=1) + "\n")
    print(path)
