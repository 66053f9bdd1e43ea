"""hc.scan with subtopics=: curves of subtopics from every source, with the bits of the same rows in memory."""

import tracemalloc

import numpy as np
import pytest
from blocks import SOURCES, batches, rows_as, written
from covering import covering
from examples import few
from hypothesis import given
from hypothesis import strategies as st

import hitcurve as hc

NAMES = ["car", "cat", "system"]
MEASURES = ["alpha_nDCG", "alpha_nDCG@5", "nERR_IA@3", "ERR_IA@20", "nNRBP", "P_IA@10", "AP_IA", "StRecall@5", "AP"]
ROWS = 6_000
LEVELS = {
    "whole": [0, 0, 0, 1, 2], "real": [0.0, 0.0, 0.25, 1 / 3, 1e-300], "large": [0, 0, 1, 70_000, 2**53],
    "flags": [False, False, True],
}  # fmt: skip


def same(curve, expected):
    """Equal in everything, with the items in the same order for the ideal, and in the bits of measures."""
    assert curve == expected
    assert hash(curve) == hash(expected)
    assert repr(curve) == repr(expected)
    assert curve.subtopics == expected.subtopics
    for column, known in zip((*curve._sets, *curve._pool), (*expected._sets, *expected._pool), strict=True):
        assert np.array_equal(column, known)
    for name in MEASURES:
        assert np.array(curve.measure(name)).tobytes() == np.array(expected.measure(name)).tobytes(), name
    assert curve.subtopic(curve.subtopics[0]) == expected.subtopic(curve.subtopics[0])
    assert curve.highest_levels() == expected.highest_levels()


@st.composite
def items(draw):
    """(levels, scores, groups, options): items as arrays."""
    number, width = draw(st.integers(0, 30)), draw(st.sampled_from([1, 2, 3, 40]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    level = rng.choice(LEVELS[draw(st.sampled_from(sorted(LEVELS)))], (number, width))
    level[rng.random(number) < draw(st.sampled_from([0.0, 0.5, 1.0]))] = 0
    score = rng.choice([0.25, -0.0, 0.0, 1.5, np.inf, np.nan], number)
    options = {"lower_is_better": draw(st.booleans()), "nan_policy": draw(st.sampled_from(["worst", "omit"]))}
    return level, score, rng.integers(0, 4, number), options


@few(15)
@given(items(), st.integers(1, 9), st.sampled_from([1, 3]), st.booleans())
def test_blocks_of_any_size_and_every_nan_policy(rows, size, workers, missing):
    level, score, group, options = rows
    apart = np.ones((2, level.shape[1])) if missing else None
    names = [f"s{at}" for at in range(level.shape[1])]
    expected = hc.SubtopicCurve(level, score, subtopics=names, unretrieved=apart, **options)
    how = {"subtopics": names, "workers": workers, **options}
    same(hc.scan((level, score), unretrieved=apart, **how), expected)
    same(hc.scan(batches(level, score, size), unretrieved=apart, **how), expected)
    order = np.lexsort((score if options["lower_is_better"] else -score, np.isnan(score)))
    expected = hc.SubtopicCurve(level[order], score[order], subtopics=names, unretrieved=apart, **options)
    same(hc.scan(batches(level[order], score[order], size), sorted="score", unretrieved=apart, **how), expected)
    pytest.importorskip("pyarrow")  # of groups
    expected = hc.SubtopicCurves(level, score, qid=group, subtopics=names, **options)
    same(hc.scan(batches(level, score, size, group), group=3, **how), expected)
    order = np.argsort(group, kind="stable")
    expected = hc.SubtopicCurves(level[order], score[order], qid=group[order], subtopics=names, **options)
    same(hc.scan(batches(level[order], score[order], size, group[order]), group=3, sorted="group", **how), expected)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    level = rng.choice([1, 2, 4], (ROWS, 3)) * (rng.random((ROWS, 3)) < 0.03)
    level[1_500:2_900] = 0  # some row groups have no relevant row, and some only of one subtopic
    level[2_900:4_400, [0, 2]] = 0
    score = (rng.standard_normal(ROWS) + level.sum(1) / 4).astype(np.float32).round(2)
    return level, score, rng.integers(0, 50, ROWS)


def source_of(name, folder, level, score, group=None):
    """(source, keywords of scan)"""
    groups = {} if group is None else {"query": group}
    columns = {"score": score} | dict(zip(NAMES, level.T, strict=True)) | groups
    how = {"subtopics": NAMES}
    if name != "arrays" and groups:
        how["group"] = 3 if name == "tuples" else "query"
    if name not in ("arrays", "tuples"):
        how["score"] = "score"
    return rows_as(name, folder, [level, score, *groups.values()], columns, row_group_size=700), how


@pytest.mark.parametrize(
    ("name", "workers", "kept", "lower"), covering(SOURCES, [1, 3], ["memory", "disk"], [False, True]))
def test_every_source_gives_the_curve_of_the_rows(name, workers, kept, lower, rows, tmp_path, monkeypatch):
    from hitcurve.sources import scanning, tables

    pytest.importorskip("pyarrow")  # of groups
    if kept == "disk":
        monkeypatch.setattr(scanning, "_HELD", 1000)
    monkeypatch.setattr(tables, "_SLAB", 5_000)
    level, score, group = rows
    if name in ("csv", "smi"):
        score = score.astype(np.float64)
    missing = [[0, 4, 0], [0, 0, 0], [1, 1, 0.5]]
    how = {"lower_is_better": lower, "workers": workers}
    source, columns = source_of(name, tmp_path, level, score)
    expected = hc.SubtopicCurve(level, score, subtopics=NAMES, unretrieved=missing, lower_is_better=lower)
    same(hc.scan(source, unretrieved=missing, **columns, **how), expected)
    source, columns = source_of(name, tmp_path, level, score, group)
    expected = hc.SubtopicCurves(level, score, qid=group, subtopics=NAMES, lower_is_better=lower)
    same(hc.scan(source, **columns, **how), expected)


@pytest.mark.parametrize("name", ["parquet", "csv", "tuples"])
@pytest.mark.parametrize("policy", ["worst", "omit"])
def test_missing_scores(name, policy, rows, tmp_path):
    pytest.importorskip("pyarrow")  # of groups
    level, score, group = rows
    level, score = level / 8, np.where(np.arange(ROWS) % 7 == 0, np.nan, score.astype(np.float64))
    source, how = source_of(name, tmp_path, level, score)
    expected = hc.SubtopicCurve(level, score, subtopics=NAMES, nan_policy=policy)
    same(hc.scan(source, **how, nan_policy=policy), expected)
    source, how = source_of(name, tmp_path, level, score, group)
    expected = hc.SubtopicCurves(level, score, qid=group, subtopics=NAMES, nan_policy=policy)
    same(hc.scan(source, **how, nan_policy=policy), expected)
    with pytest.raises(ValueError, match="nan"):
        hc.scan(source, **how)


def test_the_order_of_the_rows_decides_as_in_memory(tmp_path):
    level, score = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]]), np.array([1.0, 3.0, 2.0])
    found = set()
    for order in ([0, 1, 2], [1, 0, 2], [2, 0, 1]):
        curve = hc.scan(batches(level[order], score[order], 1), subtopics=True)
        expected = hc.SubtopicCurve(level[order], score[order])
        same(curve, expected)
        found.add(curve.alpha_ndcg(2))
    assert len(found) == 2


def test_a_second_start_counts_items_once(tmp_path):
    """The first pass reads only integers, and the second pass meets a missing score: the thresholds become float64."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    level, cells = np.array([[1, 0], [0, 0], [0, 2], [0, 0]]), [4, 5, 2, None]
    table = pa.table({"a": level[:, 0], "b": level[:, 1], "s": pa.array(cells, pa.int64())})
    for statistics in (True, False):
        parquet.write_table(table, tmp_path / "n.parquet", row_group_size=1, write_statistics=statistics)
        for policy in ("omit", "worst"):
            curve = hc.scan(tmp_path / "n.parquet", score="s", subtopics=["a", "b"], nan_policy=policy, max_memory=4000)
            expected = hc.SubtopicCurve(level, [4.0, 5.0, 2.0, np.nan], subtopics=["a", "b"], nan_policy=policy)
            same(curve, expected)


def test_columns_by_number_and_of_every_type(tmp_path):
    from decimal import Decimal

    pa = pytest.importorskip("pyarrow")
    score, whole = np.arange(6) % 4, pa.array([0, 1, 0, 0, 2, 0])
    for cells in (
        pa.array([0, 1, 2, 0, 3, 0], pa.uint8()), pa.array([False, True, True, False, False, True]),
        pa.array([0, 0.5, 2, 0, 3, 0], pa.float32()), pa.array(["0", "1.5", " 2", "0", "3", "0"]),
        pa.array([Decimal("0.5"), *map(Decimal, range(5))], pa.decimal128(5, 2)),
        pa.array(["0", "1", "2", "0", "3", "0"]).dictionary_encode(),
    ):  # fmt: skip
        level = np.array([[float(cell) for cell in column.to_pylist()] for column in (cells, whole)]).T
        table = pa.table({"a": cells, "b": whole, "score": score})
        same(hc.scan(table, score="score", subtopics=["a", "b"]), hc.SubtopicCurve(level, score, subtopics=["a", "b"]))
        same(hc.scan(table, score=3, subtopics=[2, 1]), hc.SubtopicCurve(level[:, ::-1], score, subtopics=[2, 1]))
    path = tmp_path / "plain.csv"
    path.write_text("3,0,0.5\n0,1,0.25\n")
    expected = hc.SubtopicCurve([[3, 0], [0, 1]], [0.5, 0.25], subtopics=[1, 2])
    same(hc.scan(path, score=3, subtopics=[1, 2], header=False), expected)
    with pytest.raises(ValueError, match=r"the first line holds a level \('3'\) and a score \('0.5'\)"):
        hc.scan(path, score=3, subtopics=[1, 2])


def test_nothing_to_rank():
    empty = np.zeros((0, 2))
    same(hc.scan((empty, empty[:, 0]), subtopics=True), hc.SubtopicCurve(empty, empty[:, 0]))
    same(hc.scan(lambda: iter(()), subtopics=["a"]), hc.SubtopicCurve(empty[:, :1], empty[:, 0], subtopics=["a"]))
    with pytest.raises(ValueError, match="subtopics=True, but the source gave no batch: name the subtopics"):
        hc.scan(lambda: iter(()), subtopics=True)
    nothing = hc.scan(([[0, 0], [0, 0]], [0.5, 0.25]), subtopics=True)
    same(nothing, hc.SubtopicCurve([[0, 0], [0, 0]], [0.5, 0.25]))
    assert np.isnan(nothing.alpha_ndcg())
    pytest.importorskip("pyarrow")  # of groups
    assert len(hc.scan((empty, empty[:, 0], empty[:, 0]), subtopics=True)) == 0


@pytest.mark.parametrize("kind", ["few rows of levels", "as many as items"])
@pytest.mark.parametrize("way", ["twice", "sorted", "groups"])
def test_memory_is_bounded(kind, way):
    rng = np.random.default_rng(0)
    number = 12_000 if kind == "as many as items" else 30_000
    score = -np.sort(-rng.random(number))
    level = np.stack([score * 50_021 % 1, score * 7_919 % 1], 1) if kind[0] == "a" else rng.choice([1, 2], (number, 2))
    group = np.arange(number) // 100
    source = batches(level, score, number // 3, *([group] if way == "groups" else []))
    if way == "groups":
        pytest.importorskip("pyarrow")
    how = {"twice": {}, "sorted": {"sorted": "score"}, "groups": {"group": 3, "sorted": "group"}}[way]
    with pytest.raises(ValueError, match=r"needs about max_memory=[\d.]+ MiB, not 1.0 MiB") as caught:
        hc.scan(source, subtopics=True, max_memory=1 << 20, **how)
    assert "tolerance" not in str(caught.value)
    needed = 1 << 20
    while True:  # the need is known only as far as the rows are read
        try:
            hc.scan(source, subtopics=True, max_memory=needed, **how)
            break
        except ValueError as error:
            needed = int(float(str(error).split("max_memory=")[1].split(" MiB")[0]) * 2**20 * 1.02) + (1 << 17)
    tracemalloc.start()
    curve = hc.scan(source, subtopics=True, max_memory=needed, **how)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    expected = hc.SubtopicCurves(level, score, qid=group) if way == "groups" else hc.SubtopicCurve(level, score)
    assert curve == expected
    assert used <= needed


ARRAYS = np.array([[2, 0, 0], [0, 0, 1]]), np.array([0.5, 0.25])
WRONG = {
    "label": ({"label": "car"}, ValueError, "subtopics and label are both given: levels take the place of labels"),
    "grade": ({"grade": "car"}, ValueError, "subtopics and grade are both given: a curve has levels, or levels for"),
    "actives": ({"actives": [1.0]}, ValueError, "subtopics and actives are both given: actives are items without"),
    "num_relevant": ({"num_relevant": 9}, ValueError, "subtopics and num_relevant are both given: unretrieved has"),
    "tolerance": ({"tolerance": 0.1, "max_memory": 10**6}, ValueError,
                  "subtopics and tolerance are both given: curves of subtopics are not binned"),
    "positive": ({"positive": "yes"}, ValueError, "positive='yes', but there is no column of labels"),
    "group": ({"group": "query", "unretrieved": [[1, 0, 0]]}, ValueError, "cannot be combined with group"),
    "no score": ({"score": None}, TypeError, "score must name the column of the scores"),
    "level": ({"unretrieved": [[0, 0, -1]]}, ValueError, r"unretrieved\[0, 2\] is -1: a level must be finite"),
    "width": ({"unretrieved": [[0, 1]]}, ValueError, r"unretrieved has shape \(1, 2\), but y_true has 3 subtopics"),
    "column": ({"subtopics": ["car", "dog"]}, ValueError, "there is no column 'dog'"),
    "twice": ({"subtopics": ["car", "cat", "car"]}, ValueError,
              r"subtopics\[2\] is 'car', which subtopics\[0\] is too: name each subtopic once"),
    "same": ({"subtopics": ["car", 1]}, ValueError, "subtopics 'car' and 1 are the same column: name each once"),
    "text": ({"subtopics": "car"}, TypeError, "subtopics is 'car': it must be a list of columns"),
    "number": ({"subtopics": 1}, TypeError, "subtopics is 1: it must be a list of columns, one for each subtopic"),
    "true": ({"subtopics": True}, TypeError, "subtopics=True is for arrays: name the column of each subtopic"),
    "list": ({"subtopics": ["car", ["cat"]]}, TypeError, r"subtopics\[1\] is .* of type list: it must be a name"),
    "none": ({"subtopics": []}, ValueError, "subtopics is empty: it must name the column of each subtopic"),
    "type": ({"subtopics": ["car", 1.5]}, TypeError, "column 1.5 is of type float: it must be a name or a number"),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["csv", "parquet", "table"])
@pytest.mark.parametrize("name", WRONG)
def test_scans_that_make_no_sense(name, kind, tmp_path):
    how, error, text = WRONG[name]
    columns = {"car": [2, 0], "cat": [0, 0], "system": [0, 1], "score": [1.5, 2.5], "query": [1, 1]}
    source = pytest.importorskip("pyarrow").table(columns) if kind == "table" else written(tmp_path, kind, **columns)
    with pytest.raises(error, match=text):
        hc.scan(source, **{"score": "score", "subtopics": NAMES, **how})


@pytest.mark.parametrize(
    ("kind", "cells", "said"),
    [
        ("csv", ["1", "", "2"], "row 2 \\(line 3\\), column 'cat': the level is empty: a level must be finite"),
        ("csv", ["1", "0", "-2"], "row 3 .*column 'cat': the level is '-2': a level must be finite and at least 0"),
        ("csv", ["1", "0", "much"], "row 3 .*column 'cat': the level is 'much', not a number"),
        ("parquet", [1, 0, -2], "row 3, column 'cat': the level is -2: a level must be"),
        ("parquet", [1, None, 2], "row 2, column 'cat': the level is empty: a level must be"),
        ("parquet", [1, 0, float("nan")], "row 3, column 'cat': the level is nan: a level must be"),
        ("parquet", [[1], [0], [2]], "column 'cat': the column holds list.*, not numbers"),
        ("arrays", [1, 0, -2], "row 3, column 'cat': the level is -2: a level must be"),
        ("arrays", [1, 0, np.nan], "row 3, column 'cat': the level is nan: a level must be"),
        ("arrays", [1, 0, 2**53 + 1], "row 3, column 'cat': .*a whole level must be at most"),
    ],
)
def test_bad_levels_are_named(kind, cells, said, tmp_path):
    score = [0.1, 0.2, 0.3]
    if kind == "arrays":
        source, how = (np.array([[0, 0, 1], cells]).T, np.array(score)), {}
    else:
        source, how = written(tmp_path, kind, car=[0, 0, 1], cat=cells, score=score), {"score": "score"}
    with pytest.raises(ValueError, match=said):
        hc.scan(source, subtopics=["car", "cat"], **how)


@pytest.mark.parametrize(
    ("levels", "subtopics", "error", "said"),
    [
        (ARRAYS[0][:, 0], True, ValueError, r"row 1: y_true has shape \(2,\): it needs two axes"),
        (ARRAYS[0][:, 0], NAMES, ValueError, r"y_true has shape \(2,\): it needs a level for each of 3 subtopics"),
        (ARRAYS[0], NAMES[:2], ValueError, r"y_true has shape \(2, 3\): it needs a level for each of 2 subtopics"),
        (ARRAYS[0][:1], True, ValueError, "row 1: y_true has 1 item, y_score has 2|different lengths, 1 and 2"),
        (np.array([["a"], ["b"]]), True, TypeError, r"y_true.*levels must be real numbers"),
        (np.ma.masked_array(ARRAYS[0], ARRAYS[0] == 1), True, (TypeError, ValueError), "y_true.*mask"),
    ],
)  # fmt: skip
def test_arrays_without_a_column_for_each_subtopic(levels, subtopics, error, said):
    for source in ((levels, ARRAYS[1]), lambda: [(levels, ARRAYS[1])]):
        with pytest.raises(error, match=said):
            hc.scan(source, subtopics=subtopics)


def test_batches_keep_their_number_of_subtopics():
    level, score = ARRAYS
    same(hc.scan(lambda: [(level, score), (level.tolist(), score)], subtopics=True),
         hc.SubtopicCurve(np.tile(level, (2, 1)), np.tile(score, 2)))
    with pytest.raises(ValueError, match=r"row 3: y_true has shape \(2, 2\): it needs a level for each of 3 subtopics"):
        hc.scan(lambda: [(level, score), (level[:, 1:], score)], subtopics=True)
    with pytest.raises(ValueError, match=r"unretrieved has shape \(1, 2\), but y_true has 3 subtopics"):
        hc.scan(lambda: [(level, score)], subtopics=True, unretrieved=[[1, 0]])
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(TypeError, match="subtopics=True is for arrays: name the column of each subtopic"):
        hc.scan(lambda: [pa.table({"a": level[:, 0], "s": score})], score="s", subtopics=True)
