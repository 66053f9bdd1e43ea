"""Gain curves of data that are not in memory as arrays: GainCounter, hc.scan with grade=, `hitcurve table --grade`."""

import pickle
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from blocks import SOURCES, batches, rows_as, written
from covering import covering
from examples import few
from hypothesis import given
from hypothesis import strategies as st
from waiting import Announced

import hitcurve as hc

LEVELS = {
    "whole": st.sampled_from([0, 0, 0, 1, 2, 5]),
    "real": st.sampled_from([0.0, 0.0, 0.25, 1.0, 1 / 3, 1e-300, 7.5]),
    "large": st.sampled_from([0, 0, 1, 70_000, 2**53]),
    "flags": st.booleans(),
}
SCORES = {
    "float64": st.sampled_from([0.1, 0.2, 0.3, 0.4, -0.0, 0.0, np.inf, -np.inf, np.nan]),
    "int64": st.integers(-3, 3),
    "uint64": st.sampled_from([0, 5, 2**63, 2**64 - 1]),
}


@st.composite
def graded(draw, policies=("worst", "omit")):
    """(levels, scores, options): items as arrays."""
    number, kind = draw(st.integers(0, 30)), draw(st.sampled_from(sorted(SCORES)))
    level = np.array(draw(st.lists(LEVELS[draw(st.sampled_from(sorted(LEVELS)))], min_size=number, max_size=number)))
    score = draw(st.lists(SCORES[kind], min_size=number, max_size=number))
    policy = draw(st.sampled_from(policies)) if kind == "float64" else "raise"
    options = {"lower_is_better": draw(st.booleans()), "nan_policy": policy}
    return level if number else np.zeros(0, np.int64), np.array(score, kind), options


def same(curve, expected):
    """Equal in everything, and in the bits of measures."""
    assert curve == expected
    assert hash(curve) == hash(expected)
    assert repr(curve) == repr(expected)
    for ties in ("expected", "worst", "best"):
        for at in (None, 3):
            every = [*expected.level.tolist(), *expected.unretrieved.tolist()]
            for gain in ("linear", {**dict.fromkeys(every, 2.5), **dict.fromkeys([1.0, 7.5], 4)}):
                numbers = [np.array(one.dcg(at, gain=gain, ties=ties)).tobytes() for one in (curve, expected)]
                assert numbers[0] == numbers[1]
            numbers = [np.array([one.ndcg(at, ties=ties), one.rbp(at, ties=ties)]).tobytes()
                       for one in (curve, expected)]  # fmt: skip
            assert numbers[0] == numbers[1]


@few(20)
@given(graded(), st.data())
def test_counters_are_exact_for_any_blocks_and_order(items, data):
    level, score, options = items
    expected = hc.GainCurve(level, score, **options)
    thresholds = data.draw(st.permutations(score[level > 0].tolist() if score.dtype.kind == "f" else score.tolist()))
    thresholds = np.array(thresholds, score.dtype)
    levels = data.draw(st.sampled_from([None, np.append(level[level > 0], 3)]))
    order = np.array(data.draw(st.permutations(range(len(level)))), np.int64)
    block = data.draw(st.lists(st.integers(0, 3), min_size=len(level), max_size=len(level)))
    total = hc.GainCounter(thresholds, levels, **options)
    parts = [hc.GainCounter(thresholds, levels, **options) for _ in range(4)]
    for at, part in enumerate(parts):
        here = order[np.array(block, np.int64) == at]
        for some in np.array_split(here, data.draw(st.integers(1, 3))):
            part.update(level[some], score[some])
    for part in parts:
        total += pickle.loads(pickle.dumps(part))
    same(total.curve(), expected)
    assert (total.num_items, total.num_hits) == (expected.num_items, expected.num_hits)
    missing = [2.5, 1, 1]
    complete = hc.GainCurve(level, score, unretrieved=missing, **options)
    same(total.curve(unretrieved=missing), complete)
    whole = hc.GainCounter(thresholds, levels, **options)
    whole.update(level, score)
    assert whole == total
    assert repr(whole) == repr(total)
    assert (whole == hc.GainCounter(thresholds, levels, **options)) == (not expected.num_items)


@given(graded(policies=("worst",)), st.data())
def test_bins_bound_the_exact_numbers(items, data):
    level, score, options = items
    edges = sorted(set(data.draw(st.lists(st.integers(0, 5) if score.dtype.kind == "u" else st.integers(-3, 3)))))
    if not edges:
        return
    counter = hc.GainCounter(edges=np.array(edges, score.dtype), **options)
    counter.update(level, score)
    curve = counter.curve()
    bins = np.where(score == score, np.searchsorted(np.array(edges, score.dtype), score, "right"), np.nan)
    binned = hc.GainCurve(level, bins, **options)
    for column in ("above", "tied", "hits", "level_offsets", "level", "level_count"):
        assert np.array_equal(getattr(curve, column), getattr(binned, column))
    lowest = np.append(-np.inf, np.array(edges, np.float64))
    at = binned.score[binned.score == binned.score].astype(int)
    assert curve.score[: len(at)].tolist() == lowest[at].tolist()
    exact = hc.GainCurve(level, score, **options)
    if exact.num_hits:
        assert curve.ndcg(ties="worst") <= exact.ndcg(ties="worst") + 1e-12
        assert curve.ndcg(ties="best") >= exact.ndcg(ties="best") - 1e-12


def test_many_small_blocks_are_added_up_now_and_then(monkeypatch):
    from hitcurve.curves import gain_counter

    monkeypatch.setattr(gain_counter, "_WAITING", 5)
    rng = np.random.default_rng(0)
    level, score = rng.integers(0, 3, 500), rng.integers(0, 9, 500)
    counter = hc.GainCounter(range(9))
    for at in range(0, 500, 3):
        counter.update(level[at : at + 3], score[at : at + 3])
        assert counter._counts._waiting <= max(5, 18) + 3
        assert sum(map(len, counter._counts._pairs[0])) <= 18 + 18 + 3
    assert counter.curve() == hc.GainCurve(level, score)


def test_blocks_of_wider_types_are_counted_with_what_was_before():
    counter = hc.GainCounter([1, 2])
    counter.update([2, 1, 0], [1, 2, 2])
    counter.update([2, 0], [2.0, 1.5])
    same(counter.curve(), hc.GainCurve([2, 1, 0, 2, 0], [1.0, 2.0, 2.0, 2.0, 1.5]))


BAD = {
    "level": (lambda: hc.GainCounter([1.0]).update([0, -1], [1.0, 1.0]), ValueError, r"y_true\[1\] is -1: a level"),
    "nan level": (lambda: hc.GainCounter([1.0]).update([np.nan], [1.0]), ValueError, r"y_true\[0\] is nan: a level"),
    "unknown": (lambda: hc.GainCounter([1.0], [1, 3]).update([0, 0, 2], [1.0] * 3), ValueError,
                r"y_true\[2\] is 2, but levels holds 1, 3"),
    "zero": (lambda: hc.GainCounter([1.0], [1, -1]), ValueError, r"levels\[1\] is -1.0: a level must"),
    "threshold": (lambda: hc.GainCounter([1.0]).update([0, 2], [5.0, 5.0]), ValueError,
                  r"y_score\[1\] is 5.0, the score of a relevant item, but the thresholds lack this score"),
    "nan": (lambda: hc.GainCounter([1.0]).update([0, 2], [5.0, np.nan]), ValueError, r"y_score\[1\] is nan"),
    "lengths": (lambda: hc.GainCounter([1.0]).update([0, 2], [5.0]), ValueError, "y_true has 2.*y_score has 1|2.*1"),
    "neither": (lambda: hc.GainCounter(), ValueError, "either thresholds or edges"),
    "merge": (lambda: hc.GainCounter([1.0]).merge(hc.HitCounter([1.0])), TypeError,
              "other must be a GainCounter, got HitCounter"),
    "hits": (lambda: hc.HitCounter([1.0]).merge(hc.GainCounter([1.0])), TypeError,
             "other must be a HitCounter, got GainCounter"),
    "levels": (lambda: hc.GainCounter([1.0], [1]).merge(hc.GainCounter([1.0])), ValueError,
               r"other has no levels, this counter levels \[1.0\]: only counters with"),
    "unretrieved": (lambda: hc.GainCounter([1.0]).curve([-1]), ValueError, r"unretrieved\[0\] is -1"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_of_counters(name):
    call, error, text = BAD[name]
    with pytest.raises(error, match=text):
        call()


def test_a_counter_that_raised_is_as_it_was():
    counter, other = hc.GainCounter([1.0, 2.0], [1, 2]), hc.GainCounter([1.0, 2.0], [1, 2])
    for one in (counter, other):
        one.update([1, 0], [2.0, 0.0])
    for bad in (([3], [1.0]), ([1], [1.5]), ([-1], [1.0]), ([1, 0], [1.0, np.nan])):
        with pytest.raises(ValueError, match="y_"):
            counter.update(*bad)
        assert counter == other
    with pytest.raises(ValueError, match="read-only"):
        counter.levels[0] = 5
    with pytest.raises(TypeError, match="unhashable"):
        hash(counter)
    assert counter != hc.HitCounter([1.0, 2.0])


STATES = {
    "cuts": np.array([2.0, 1.0]), "items": np.ones(4, np.int64), "nan_items": 1, "kind": "bins",
    "place": np.array([0, 3]), "level": np.array([1.0, 0.0]), "count": np.array([1, 0]), "levels": [3.0],
}  # fmt: skip


@pytest.mark.parametrize("name", [*STATES, "twice", "too many"])
def test_states_from_outside(name):
    counter = hc.GainCounter([1.0, 2.0], [1, 2])
    counter.update([1, 2, 0], [1.0, 2.0, 3.0])
    state = counter.__getstate__()
    wrong = STATES.get(name)
    made = hc.GainCounter.__new__(hc.GainCounter)
    changed = {name: wrong} if wrong is not None else {"count": np.array([1, 2])}
    if name == "twice":
        changed = {"place": np.array([0, 0]), "level": np.array([1.0, 1.0])}
    with pytest.raises(ValueError, match=r"\w"):
        made.__setstate__(state | changed)
    if name in state:
        with pytest.raises(KeyError, match=name):
            made.__setstate__({key: value for key, value in state.items() if key != name})
    made.__setstate__(state)
    assert made == counter


# --- hc.scan ------------------------------------------------------------------------------------------------

ROWS = 3_000


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    level = np.where(rng.random(ROWS) < 0.1, rng.integers(1, 5, ROWS), 0)
    score = (rng.standard_normal(ROWS) + level / 4).astype(np.float32).round(2)
    return level, score, rng.integers(0, 150, ROWS)


def source_of(name, folder, level, score, group=None):
    """(source, keywords of scan)"""
    groups = {} if group is None else {"query": group}
    how = {"grade": 1} if name in ("arrays", "tuples") else {"grade": "grade", "score": "score"}
    if name != "arrays" and groups:
        how["group"] = 3 if name == "tuples" else "query"
    return rows_as(name, folder, [level, score, *groups.values()], {"grade": level, "score": score} | groups), how


@pytest.mark.parametrize(
    ("name", "workers", "kept", "lower"), covering(SOURCES, [1, 3], ["memory", "disk"], [False, True]))
def test_scans_of_levels_are_exact(name, workers, kept, lower, rows, tmp_path, monkeypatch):
    from hitcurve.sources import scanning, tables

    pytest.importorskip("pyarrow")  # of groups
    if kept == "disk":
        monkeypatch.setattr(scanning, "_HELD", 150)
    monkeypatch.setattr(tables, "_SLAB", 750)
    level, score, group = rows
    if name in ("csv", "smi"):
        score = score.astype(np.float64)
    missing = [4, 0.5]
    source, how = source_of(name, tmp_path, level, score)
    how |= {"lower_is_better": lower, "workers": workers}
    expected = hc.GainCurve(level, score, unretrieved=missing, lower_is_better=lower)
    same(hc.scan(source, unretrieved=missing, **how), expected)
    source, how = source_of(name, tmp_path, level, score, group)
    curves = hc.scan(source, **how, lower_is_better=lower, workers=workers)
    expected = hc.GainCurves(level, score, qid=group, lower_is_better=lower)
    assert curves == expected
    assert curves.ndcg([3, 10]).tobytes() == expected.ndcg([3, 10]).tobytes()


@pytest.mark.parametrize("name", ["parquet", "csv", "tuples"])
@pytest.mark.parametrize("policy", ["worst", "omit"])
def test_scans_of_levels_with_missing_scores(name, policy, rows, tmp_path):
    pytest.importorskip("pyarrow")  # of groups
    level, score, group = rows
    level, score = level / 8, np.where(np.arange(ROWS) % 7 == 0, np.nan, score.astype(np.float64))
    source, how = source_of(name, tmp_path, level, score)
    same(hc.scan(source, **how, nan_policy=policy), hc.GainCurve(level, score, nan_policy=policy))
    source, how = source_of(name, tmp_path, level, score, group)
    assert hc.scan(source, **how, nan_policy=policy) == hc.GainCurves(level, score, qid=group, nan_policy=policy)


@few(25)
@given(graded(), st.integers(1, 7), st.booleans())
def test_scans_of_levels_are_exact_for_any_blocks(items, size, in_order):
    level, score, options = items
    same(hc.scan(batches(level, score, size), grade=1, **options), hc.GainCurve(level, score, **options))
    key = score.astype(np.float64) if score.dtype.kind == "f" else score
    order = np.argsort(key, kind="stable")
    if not options["lower_is_better"]:
        order = order[::-1]
        order = np.concatenate([order[score[order] == score[order]], order[score[order] != score[order]]])
    level, score = level[order], score[order]
    curve = hc.scan(batches(level, score, size), grade=1, sorted="score", **options)
    same(curve, hc.GainCurve(level, score, **options))


def test_scans_of_levels_whose_rows_come_in_order(rows, monkeypatch):
    from hitcurve.sources import scanning

    pytest.importorskip("pyarrow")  # of groups
    level, score, group = rows
    order = np.argsort(group, kind="stable")
    level, score, group = level[order], score[order], group[order]
    monkeypatch.setattr(scanning, "_TOGETHER", 1_000)
    found = hc.scan(batches(level, score, 500, group), grade=1, group=3, sorted="group")
    assert found == hc.GainCurves(level, score, qid=group)
    assert hc.scan(batches(level[:0], score[:0], 5), grade=1) == hc.GainCurve([], [])
    assert len(hc.scan(batches(level[:0], score[:0], 5, group[:0]), grade=1, group=3)) == 0


def test_levels_stay_beside_their_scores_in_many_threads(rows, tmp_path, monkeypatch):
    """Threads collect relevant scores and their levels at once: each lets one that came later go first, if it can."""
    from hitcurve.sources import scanning
    from hitcurve.sources.spools import Spool

    level, score, _ = rows
    source, how = source_of("parquet", tmp_path, level, score)
    meet, append = scanning.Job.meet, Spool.append
    changed, mine = threading.Condition(), threading.local()
    came, went = [0], [0]  # rows; pieces that are collected, and threads that wait for a lock

    def goes():
        with changed:
            went[0] += 1
            changed.notify_all()

    def coming(self, piece, scores):
        with changed:
            came[0] += piece.rows
            mine.last, mine.went, mine.appended = came[0] == len(level), went[0], 0
        meet(self, piece, scores)

    def after_another(self, array):
        append(self, array)
        mine.appended += 1
        with changed:
            assert mine.appended > 1 or mine.last or changed.wait_for(lambda: went[0] > mine.went, 60)
        if mine.appended == 2:
            goes()

    locks = {"Lock": lambda: Announced(threading.Lock(), goes), "Event": threading.Event}
    monkeypatch.setattr(scanning, "threading", SimpleNamespace(**locks))
    monkeypatch.setattr(scanning.Job, "meet", coming)
    monkeypatch.setattr(Spool, "append", after_another)
    expected = hc.GainCurve(level, score)
    for _ in range(3):
        came[0] = 0
        assert hc.scan(source, **how, workers=8) == expected


def test_memory_is_bounded_with_levels_too(rows, tmp_path):
    import tracemalloc

    rng = np.random.default_rng(0)
    score = rng.random(100_000)
    level = (score * 50_021 % 1).round(6)  # as many levels as items, all above 0
    source = batches(level, score, 10_000)
    with pytest.raises(ValueError, match=r"the table of [\d,]+ relevant items needs about max_memory=[\d.]+") as caught:
        hc.scan(source, grade=1, max_memory=1 << 18)
    assert "tolerance" not in str(caught.value)
    needed = int(float(str(caught.value).split("max_memory=")[1].split(" MiB")[0]) * 2**20 * 1.02)
    hc.scan(source, grade=1, max_memory=needed)
    tracemalloc.start()
    curve = hc.scan(source, grade=1, max_memory=needed)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert curve == hc.GainCurve(level, score)
    assert used <= needed


WRONG = {
    "both": ({"label": "label", "grade": "grade", "score": "score"}, ValueError, "grade and label are both given"),
    "actives": ({"grade": "grade", "score": "score", "actives": [1.0]}, ValueError,
                "grade and actives are both given: actives are items without levels"),
    "num_relevant": ({"grade": "grade", "score": "score", "num_relevant": 9}, ValueError,
                     "grade and num_relevant are both given: unretrieved has the levels"),
    "tolerance": ({"grade": "grade", "score": "score", "tolerance": 0.1, "max_memory": 10**6}, ValueError,
                  "grade and tolerance are both given: gain curves are not binned"),
    "unretrieved": ({"label": "label", "score": "score", "unretrieved": [1]}, ValueError, "unretrieved needs grade"),
    "groups": ({"grade": "grade", "score": "score", "group": 4, "unretrieved": [1]}, ValueError, "combined with group"),
    "missing": ({"grade": "grade", "score": "score", "unretrieved": [-1]}, ValueError, r"unretrieved\[0\] is -1"),
    "column": ({"grade": "grad", "score": "score"}, ValueError, "there is no column 'grad'; did you mean 'grade'"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_scans_that_make_no_sense(name, tmp_path):
    how, error, text = WRONG[name]
    path = written(tmp_path, "csv", grade=[2, 0], label=[1, 0], score=[1.5, 2.5], query=[1, 1])
    with pytest.raises(error, match=text):
        hc.scan(path, **how)


def test_tuples_of_arrays_say_by_a_number_that_they_hold_levels():
    level, score = np.array([2, 0]), np.array([0.5, 0.25])
    with pytest.raises(ValueError, match="grade is 'grade', but source is a tuple of arrays: grade=1 says"):
        hc.scan((level, score), grade="grade")
    with pytest.raises(ValueError, match="grade is 2, but the source gives tuples of arrays: grade=1 says"):
        hc.scan(lambda: [(level, score)], grade=2)
    same(hc.scan(([2, 0], [0.5, 0.25]), grade=1), hc.GainCurve(level, score))
    with pytest.raises(TypeError, match=r"y_true\[0\] is 'a' of type str: levels must be real numbers"):
        hc.scan((["a", "b"], score), grade=1)
    with pytest.raises(ValueError, match="row 1: the label is 2"):
        hc.scan((level, score))


@pytest.mark.parametrize(
    ("kind", "cells", "said"),
    [
        ("csv", ["1", "", "2"], "row 2 \\(line 3\\), column 'grade': the level is empty: a level must be finite"),
        ("csv", ["1", "0", "-2"], "row 3 .*the level is '-2': a level must be finite and at least 0"),
        ("csv", ["1", "0", "inf"], "row 3 .*the level is 'inf': a level must be"),
        ("csv", ["1", "0", "much"], "row 3 .*the level is 'much', not a number"),
        ("csv", ["1", "0", "1e999"], "row 3 .*the level '1e999' is beyond the range of float64"),
        ("csv", ["1", "0", "9007199254740993"], "row 3 .*a whole level must be at most"),
        ("parquet", [1, 0, -2], "row 3, column 'grade': the level is -2: a level must be"),
        ("parquet", [1, None, 2], "row 2, column 'grade': the level is empty: a level must be"),
        ("parquet", [1, 0, float("nan")], "row 3, column 'grade': the level is nan: a level must be"),
        ("parquet", [1, 0, 2**53 + 1], "row 3, column 'grade': .*a whole level must be at most"),
        ("parquet", [[1], [0], [2]], "column 'grade': the column holds list.*, not numbers"),
        ("arrays", [1, 0, -2], "row 3: the level is -2: a level must be"),
        ("arrays", [1, 0, np.nan], "row 3: the level is nan: a level must be"),
    ],
)
def test_bad_levels_are_named(kind, cells, said, tmp_path):
    score = [0.1, 0.2, 0.3]
    if kind == "arrays":
        with pytest.raises(ValueError, match=said):
            hc.scan((np.array(cells), np.array(score)), grade=1)
        return
    path = written(tmp_path, kind, grade=cells, score=score)
    with pytest.raises(ValueError, match=said):
        hc.scan(path, grade="grade", score="score")


def test_levels_of_every_type(tmp_path):
    from decimal import Decimal

    pa = pytest.importorskip("pyarrow")
    score = np.arange(6) % 4
    for cells in (
        pa.array([0, 1, 2, 0, 3, 0], pa.uint8()), pa.array([False, True, True, False, False, True]),
        pa.array([0, 0.5, 2, 0, 3, 0], pa.float32()), pa.array(["0", "1.5", " 2", "0", "3", "0"]),
        pa.array([Decimal("0.5"), *map(Decimal, range(5))], pa.decimal128(5, 2)),
        pa.array(["0", "1", "2", "0", "3", "0"]).dictionary_encode(),
    ):  # fmt: skip
        level = [float(cell) for cell in cells.to_pylist()]
        found = hc.scan(pa.table({"grade": cells, "score": score}), grade="grade", score="score")
        same(found, hc.GainCurve(level, score))
    path = tmp_path / "plain.csv"
    path.write_text("3,0.5\n0,0.25\n")
    same(hc.scan(path, grade=1, score=2, header=False), hc.GainCurve([3, 0], [0.5, 0.25]))
    with pytest.raises(ValueError, match=r"the first line holds a level \('3'\) and a score \('0.5'\)"):
        hc.scan(path, grade=1, score=2)


# --- hitcurve table --grade ---------------------------------------------------------------------------------


@pytest.fixture
def command(capsys, monkeypatch, tmp_path):
    """Runs `hitcurve table` on rows of two queries, one of which has no item above level 0, and one more."""
    from hitcurve.cli.main import main

    columns = {"query": [*"aaaabbbbcc"], "level": [3, 0, 0.5, 1, 0, 2, 2, 0, 0, 0],
               "score": [9, 8, 8, 5, 5, 4, 4, 1, 2, 1], "other": [1, 2, 3, 4, 4, 3, 2, 1, 1, 2],
               "id": [*"xyzwxyzwxy"]}  # fmt: skip
    written(tmp_path, "csv", **columns)
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        try:
            status = main(["table", "rows.csv", "--score", "score", *arguments])
        except SystemExit as left:
            status = left.code
        out, err = capsys.readouterr()
        return status, out, err

    return run, {name: np.array(column) for name, column in columns.items()}


@pytest.mark.parametrize("ties", ["expected", "worst", "best"])
def test_table_of_levels(command, ties):
    import json

    run, columns = command
    level, score, query = (columns[name] for name in ("level", "score", "query"))
    names = ["nDCG", "nDCG(dcg=exp-log2)@2", "nDCG(ties=best)@3", "ERR(max=3)", "RBP(p=0.5)", "AP", "AP(rel=2)", "P@2",
             "NumRel"]  # fmt: skip
    whole, curves = hc.GainCurve(level, score), hc.GainCurves(level, score, qid=query)
    status, out, err = run("--grade", "level", "--ties", ties, "--format", "json", "-m", *names)
    assert status == 0, err
    found = json.loads(out)
    assert (found["items"], found["relevant"]) == (10, 5)
    assert found["measures"] == {name: whole.measure(name, ties=ties) for name in names}
    status, out, err = run("--grade", "2", "--group", "query", "--ties", ties, "--format", "json", "-m", *names)
    assert status == 0, err
    found = json.loads(out)
    assert [one["group"] for one in found["groups"]] == ["a", "b", "c"]
    for name in names:
        values = curves.measure(name, ties=ties)
        for one, value in zip(found["groups"], values.tolist(), strict=True):
            assert one["measures"][name] == (None if np.isnan(value) else value)
        kept = values[:2][~np.isnan(values[:2])]
        assert found["mean"][name] == pytest.approx(kept.mean(), rel=1e-15)
    assert (found["num_groups"], found["num_skipped"]) == (3, 1)


def test_table_of_levels_by_default(command):
    run, columns = command
    status, out, _ = run("--grade", "level", "--group", "query")
    assert status == 0
    lines = [line.split() for line in out.splitlines() if line]
    usual = ["nDCG", "nDCG@10", "nDCG@100", "AP", "RR"]
    assert lines[1] == ["query", "items", "relevant", *usual]
    curves = hc.GainCurves(columns["level"], columns["score"], qid=columns["query"])
    assert lines[2] == ["a", "4", *lines[2][2:3], f"{curves.ndcg()[0]:.4f}", *lines[2][4:]]
    assert lines[5][:4] == ["measure", "mean", "of", "2"]
    assert [line[0] for line in lines[6:11]] == usual
    mean, low, high = (hc.mean_ndcg(columns["level"], columns["score"], qid=columns["query"], ties=ties)
                       for ties in ("expected", "worst", "best"))  # fmt: skip
    assert (lines[6][1], " ".join(lines[6][-3:])) == (f"{mean:.4f}", f"{low:.4f} to {high:.4f}")
    assert run("--grade", "level", "--group", "query", "--all")[1] == out  # few groups
    status, out, err = run("--grade", "level", "--ties", "best")
    found = dict(line.split()[:2] for line in out.splitlines()[2:8])
    assert found["measure"] == "best"
    assert found["nDCG"] == f"{hc.ndcg(columns['level'], columns['score'], ties='best'):.4f}"
    assert "only 5 relevant items" in err


def test_table_of_levels_with_other_options(command):
    run, columns = command
    level, score, other = (columns[name] for name in ("level", "score", "other"))
    status, out, _ = run("--grade", "level", "--score", "other:lower", "-m", "nDCG")
    assert status == 0
    both = [hc.ndcg(level, score), hc.ndcg(level, other, lower_is_better=True)]
    assert [float(line.split()[1]) for line in out.splitlines()[1:]] == [round(one, 4) for one in both]
    by_query = "--grade", "level", "--group", "query", "--format", "csv"
    _, out, _ = run(*by_query, "--interval", "--resamples", "99", "-m", "nDCG@2")
    curves = hc.GainCurves(level[:8], score[:8], qid=columns["query"][:8])
    ends = curves.interval("nDCG@2", n_resamples=99, rng=0).confidence_interval
    assert [float(one) for one in out.splitlines()[-1].split(",")[4:6]] == pytest.approx(list(ends), rel=1e-15)
    _, out, _ = run("--grade", "level", "--by-file", "-m", "nDCG@1", "--format", "csv")
    assert out.splitlines()[1].startswith("rows.csv,10,5,")
    _, out, _ = run(*by_query, "--best-per", "id", "-m", "nDCG")
    again = hc.GainCurves(level, score, qid=columns["query"]).ndcg()
    assert [float(line.split(",")[3]) for line in out.splitlines()[1:4]] == pytest.approx(again.tolist(), nan_ok=True)
    status, _, err = run("--grade", "level", "--best-per", "id")
    assert status == 1
    assert "the rows of id 'x' have different levels: all rows of an id must have the same level" in err


def test_poses_of_one_level_are_one_item(command, tmp_path):
    run, _ = command
    written(tmp_path, "csv", level=[0.5, 0.5, 2, 0, 0], score=[1.0, 9.0, 5.0, 4.0, 5.0], id=[*"aabcc"])
    status, out, _ = run("--grade", "level", "--best-per", "id", "-m", "nDCG", "NumRel", "--format", "csv")
    assert status == 0
    assert float(out.splitlines()[1].split(",")[2]) == hc.ndcg([0.5, 2, 0], [9, 5, 5])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--label", "level"], "--label, --grade and --actives exclude each other: use one of them"),
        (["--actives", "rows.csv", "--id", "id"], "--label, --grade and --actives exclude each other: use one of them"),
        (["--ties", "threshold", "-m", "nDCG"], "nDCG is not defined for ties='threshold': use expected"),
        (["-m", "nDCG(rel=2)"], "unknown option 'rel=2'; nDCG takes"),
        (["-m", "AP(judged_only)"], "AP(judged_only=True) needs judgments"),
        (["-m", "Bpref"], "Bpref needs judgments"),
    ],
)
def test_what_does_not_go_with_levels_is_refused(command, arguments, said):
    status, out, err = command[0]("--grade", "level", *arguments)
    assert (status, out) == (2, "")
    assert said in err


def test_a_level_that_a_measure_does_not_have_is_said(command, tmp_path):
    run, _ = command
    written(tmp_path, "csv", level=[5, 0], score=[1.0, 2.0])
    status, _, err = run("--grade", "level", "-m", "ERR")
    assert status == 1
    assert "max_level is 4, but an item has level 5" in err
