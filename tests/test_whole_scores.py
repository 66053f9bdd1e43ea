"""Whole numbers beyond 2**53 through every way in that takes a score: exact, or an error that names place and value."""

import json
import tempfile
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest
from examples import few
from hypothesis import example, given
from hypothesis import strategies as st

import hitcurve as hc

NEAR = [2**k + d for k in (53, 60, 62, 63, 64, 70) for d in (-1, 0, 1, 2)]
WHOLE = st.sampled_from([*NEAR, *(-one for one in NEAR), 0, 1, -1, 7])
DISTINCT = st.lists(WHOLE, min_size=2, max_size=5, unique=True)
WAYS = (hc.HitCurve, hc.GainCurve)


def reciprocal_rank(scores):
    """Of the first item, the only relevant one, by Python's exact comparison; a score of None ranks last."""
    return 1 / (1 + sum(one is not None and (scores[0] is None or one > scores[0]) for one in scores))


def counted_rank(curve):
    """1 / rank of the only relevant item; no two of the scores have become equal."""
    assert curve.tied.tolist() == [1]
    return 1 / (curve.above[0].item() + 1)


# --- arrays ---------------------------------------------------------------------------------------------------


def missing_as_nan(scores):
    return [float("nan") if one is None else one for one in scores]


def of_numpy(scores):
    """numpy by itself makes floats of 2**63 beside smaller integers."""
    low, high = min(scores), max(scores)
    fits = [kind for kind in (np.int64, np.uint64) if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max]
    return np.array(scores, dtype=[*fits, object][0])


def of_pandas(scores, dtype=None):
    pd = pytest.importorskip("pandas")
    if dtype is None:  # pandas rounds a list on the way
        known = of_numpy([one or 0 for one in scores])
        scores = pd.arrays.IntegerArray(known, np.array([one is None for one in scores]))
    return pd.Series(scores, dtype=dtype)


def of_polars(scores):
    pl = pytest.importorskip("polars")
    return pl.Series(scores, dtype=pl.UInt64 if max(one or 0 for one in scores) >= 2**63 else pl.Int64)


def of_pyarrow(scores):
    pa = pytest.importorskip("pyarrow")
    return pa.array(scores, pa.uint64() if max(one or 0 for one in scores) >= 2**63 else pa.int64())


def frame_of_polars(scores):
    pl = pytest.importorskip("polars")
    return pl.DataFrame([of_polars([one]).alias(str(i)) for i, one in enumerate(scores)])


def frame_of_pandas(scores):
    return pytest.importorskip("pandas").DataFrame({str(i): [one] for i, one in enumerate(missing_as_nan(scores))})


COLUMNS = {
    "list": missing_as_nan,
    "tuple": lambda scores: tuple(missing_as_nan(scores)),
    "numpy": lambda scores: None if None in scores else of_numpy(scores),
    "objects": lambda scores: np.array(missing_as_nan(scores), dtype=object),
    "pandas": of_pandas,
    "pandas, of the array": lambda scores: of_pandas(scores).array,
    "pandas, of Arrow": lambda scores: (pytest.importorskip("pyarrow"), of_pandas(scores, "int64[pyarrow]"))[1],
    "pandas, of objects": lambda scores: of_pandas(missing_as_nan(scores), object),
    "polars": of_polars,
    "pyarrow": of_pyarrow,
    "pyarrow, chunked": lambda scores: pytest.importorskip("pyarrow").chunked_array([of_pyarrow(scores)]),
}
ROWS = {
    "lists": lambda scores: [missing_as_nan(scores)],
    "objects": lambda scores: np.array([missing_as_nan(scores)], dtype=object),
    "columns of polars": lambda scores: [of_polars(scores)],
    "columns of pandas": lambda scores: [of_pandas(scores)],
    "polars": frame_of_polars,
    "pandas": frame_of_pandas,
    "pyarrow": lambda scores: (pytest.importorskip("pyarrow"), frame_of_polars(scores).to_arrow())[1],
}


def made(make, scores):
    """What the container makes of the scores; None where it cannot hold them itself."""
    try:
        return make(scores)
    except (OverflowError, ValueError, TypeError):
        return None


def exact_or_named(read, scores, place):
    """The true value, or an error that names a score and its place by `place`, a function of the score's row."""
    try:
        found = read()
    except (TypeError, ValueError) as error:
        said = str(error)
        named = any(str(one) in said and place(i) in said for i, one in enumerate(scores))
        assert named or "cannot be compared exactly with scores of dtype" in said, said
    else:
        assert found == reciprocal_rank(scores)


def with_missing(scores, policy):
    """The scores with a missing one that is not relevant, or not."""
    return scores if policy == "raise" else [*scores, None]


@pytest.mark.parametrize("policy", ["raise", "worst", "omit"])
@pytest.mark.parametrize("way", COLUMNS)
def test_a_column(way, policy):
    @few(6)
    @example([2**63 + 1, 2**63, 1])
    @example([2**53, -(2**53) - 1, 2**53 + 1, 2**64])
    @given(DISTINCT)
    def check(scores):
        scores = with_missing(scores, policy)
        column = made(COLUMNS[way], scores)
        if column is None:
            return
        labels = [1] + [0] * (len(scores) - 1)

        def counted():
            counter = hc.HitCounter(COLUMNS[way](scores[:1]), nan_policy=policy)
            counter.update(labels, column)
            return counted_rank(counter.curve())

        def compared():
            found = hc.compare(labels, {"a": column, "b": column}, measures="RR(ties=worst)", nan_policy=policy, rng=0,
                               n_resamples=39)
            return found.systems[0].value

        def place(i):
            return f"[{i}] is"

        for kind in WAYS:
            exact_or_named(lambda kind=kind: counted_rank(kind(labels, column, nan_policy=policy)), scores, place)
        for kind in (hc.HitCurves, hc.GainCurves):
            at = {"offsets": [0, len(scores)], "nan_policy": policy}
            exact_or_named(lambda kind=kind, at=at: counted_rank(kind(labels, column, **at)[0]), scores, place)
        exact_or_named(counted, scores, lambda i: "is")
        exact_or_named(compared, scores, place)
        exact_or_named(lambda: hc.average_precision(labels, column, nan_policy=policy), scores, place)

    check()


@pytest.mark.parametrize("policy", ["raise", "worst", "omit"])
@pytest.mark.parametrize("way", ROWS)
def test_rows(way, policy):
    @few(6)
    @example([2**63 + 1, 2**63, 1])
    @example([2**53, -(2**53) - 1, 2**53 + 1, 2**64])
    @given(DISTINCT)
    def check(scores):
        scores = with_missing(scores, policy)
        rows = made(ROWS[way], scores)
        if rows is None:
            return
        labels = [[1] + [0] * (len(scores) - 1)]
        for kind in (hc.HitCurves, hc.GainCurves):
            exact_or_named(lambda kind=kind: counted_rank(kind(labels, rows, nan_policy=policy)[0]), scores,
                           lambda i: f"[0][{i}] is" if way.startswith("columns") else f"[0, {i}] is")

    check()


@pytest.mark.parametrize("way", COLUMNS)
def test_levels(way):
    """Labels from a level up, and levels of gain."""

    @few(8)
    @given(st.lists(st.sampled_from([one for one in [*NEAR, 0, 1] if one < 2**64]), min_size=2, max_size=5),
           st.sampled_from(NEAR), st.booleans())
    def check(levels, level, missing):
        column = made(COLUMNS[way], [*levels, None] if missing else levels)
        if column is None:
            return
        scores = list(range(len(column)))
        for read, expected in (
            (lambda: hc.HitCurve(column, scores, relevance_level=level).num_hits, sum(one >= level for one in levels)),
            (lambda: hc.GainCurve(column, [0] * len(column)).dcg(1, ties="best"), float(max(levels))),
        ):
            try:
                assert read() == expected
            except (TypeError, ValueError) as error:
                assert "] is" in str(error) or missing
            else:
                assert not missing

    check()


# --- runs -----------------------------------------------------------------------------------------------------


Scored = namedtuple("Scored", "query_id doc_id score")


def rows_of(scores):
    return [("q", f"d{i}", one) for i, one in enumerate(scores)]


def columns_of(scores):
    queries, docs, values = (list(column) for column in zip(*rows_of(scores), strict=True))
    return {"query_id": queries, "doc_id": docs, "score": values}


def table(scores):
    pa = pytest.importorskip("pyarrow")
    return pa.table(columns_of(scores) | {"score": of_pyarrow(scores)})


def text(name, lines):
    def make(scores, folder):
        path = folder / name
        path.write_text("".join(line + "\n" for line in lines(scores)))
        return path

    return make


def parquet(scores, folder):
    made = table(scores)
    pytest.importorskip("pyarrow.parquet").write_table(made, folder / "run.parquet")
    return folder / "run.parquet"


TREC = text("run.txt", lambda scores: (f"{q} Q0 {d} 1 {one} t" for q, d, one in rows_of(scores)))
RUNS = {
    "TREC": TREC,
    "TREC, zeros": text("run.txt", lambda scores: (
        f"{q} Q0 {d} 1 {'-' if one < 0 else '+'}{'0' * 25}{abs(one)} t" for q, d, one in rows_of(scores))),
    "TREC, queries apart": text("run.txt", lambda scores: [
        *(f"{q} Q0 {d} 1 {one} t\np Q0 {d} 1 0 t" for q, d, one in rows_of(scores))]),
    "csv": text("run.csv", lambda scores: [
        "query_id,doc_id,score", *(f"{q},{d},{one}" for q, d, one in rows_of(scores))]),
    "tsv": text("run.tsv", lambda scores: [
        "qid\tdocno\tscore", *(f"{q}\t{d}\t{'+0' if one >= 0 else ''}{one}" for q, d, one in rows_of(scores))]),
    "scores": text("three.txt", lambda scores: (f"{q} {d} {one}" for q, d, one in rows_of(scores))),
    "msmarco": text("three.txt", lambda scores: (f"{q} {d} {-one}" for q, d, one in rows_of(scores))),
    "JSON": text("run.json", lambda scores: [json.dumps({"q": {d: one for _, d, one in rows_of(scores)}})]),
    "JSON, text": lambda scores, _: json.dumps({"q": {d: one for _, d, one in rows_of(scores)}}),
    "dicts": lambda scores, _: {"q": {d: one for _, d, one in rows_of(scores)}},
    "dicts beside a fraction": lambda scores, _: {"q": {d: one for _, d, one in rows_of(scores)} | {"z": -1e30}},
    "dicts of objects": lambda scores, _: {"q": {d: np.array(one)[()] for _, d, one in rows_of(scores)}},
    "columns": lambda scores, _: columns_of(scores),
    "columns of arrays": lambda scores, _: columns_of(scores) | {"score": of_numpy(scores)},
    "three arrays": lambda scores, _: (
        *map(np.array, list(columns_of(scores).values())[:2]), of_numpy(scores)),
    "three lists": lambda scores, _: tuple(columns_of(scores).values()),
    "integer ids": lambda scores, _: (np.ones(len(scores), int), np.arange(len(scores)), of_numpy(scores)),
    "named tuples": lambda scores, _: [Scored(*row) for row in rows_of(scores)],
    "pandas": lambda scores, _: pytest.importorskip("pandas").DataFrame(
        columns_of(scores) | {"score": of_pandas(scores)}),
    "pandas, plain": lambda scores, _: pytest.importorskip("pandas").DataFrame(columns_of(scores)),
    "polars": lambda scores, _: pytest.importorskip("polars").DataFrame(
        columns_of(scores) | {"score": of_polars(scores)}),
    "pyarrow": lambda scores, _: table(scores),
    "parquet": parquet,
}
FORMS = {"scores": "scores", "msmarco": "msmarco"}
LINES = {"TREC": 0, "TREC, zeros": 0, "csv": 1, "tsv": 1, "scores": 0, "msmarco": 0}


@pytest.mark.parametrize("way", RUNS)
def test_a_run(way):
    qrels = hc.read_qrels({"1" if way == "integer ids" else "q": {"0" if way == "integer ids" else "d0": 1}})

    def place(i):
        if way.startswith("TREC, queries"):
            return f"line {2 * i + 1}:"
        return f"line {i + 1 + LINES[way]}:" if way in LINES else f"row {i}"

    @few(6)
    @example([2**63 + 1, 2**63, 1])
    @example([2**53, -(2**53) - 1, 2**53 + 1, 2**64])
    @given(DISTINCT)
    def check(scores):
        with tempfile.TemporaryDirectory() as folder:
            run = made(lambda one: RUNS[way](one, Path(folder)), scores)
            if run is None:
                return
            shown = [-one for one in scores] if way == "msmarco" else scores

            def read():
                read = run if way not in FORMS else hc.read_run(run, format=FORMS[way])
                worst, best = (hc.evaluate(qrels, read, "RR", ties=ties).means["RR"] for ties in ("worst", "best"))
                assert worst == best
                return worst

            try:
                found = read()
            except (TypeError, ValueError) as error:
                said = str(error)
                assert any(str(abs(one)) in said and place(i) in said for i, one in enumerate(shown)), said
                assert any(float(one) != one for one in scores)
            else:
                assert found == reciprocal_rank(scores)
            if way not in FORMS and way not in ("JSON, text",):
                try:
                    hc.read_run(run)
                except (TypeError, ValueError):
                    assert any(float(one) != one for one in scores)
                else:
                    assert all(float(one) == one for one in scores)

    check()


@given(DISTINCT)
def test_a_lenient_run_rounds_and_says_so(scores):
    rounded = [i for i, one in enumerate(scores, 1) if float(one) != one]
    with tempfile.TemporaryDirectory() as folder:
        path = TREC(scores, Path(folder))
        qrels = hc.read_qrels({"q": {"d0": 1}})
        if not rounded:
            assert hc.evaluate(qrels, path, "RR", strict=False).notes == []
            return
        many = "" if len(rounded) == 1 else "s"
        note = (f"{path}: {len(rounded)} whole score{many} above 2**53 that no double holds: rounded to the nearest "
                f"double, first in line {rounded[0]}")
        with pytest.warns(UserWarning) as caught:
            found = hc.evaluate(qrels, path, "RR", strict=False, ties="worst")
        assert [str(one.message) for one in caught] == found.notes == [note]
        assert found.means["RR"] == 1 / sum(float(one) >= float(scores[0]) for one in scores)
        problem = (rf"line {rounded[0]}: the score '-?\d+' is a whole number that no double holds "
                   r"\(strict=False accepts the line, as trec_eval does\): 'q Q0")
        with pytest.raises(ValueError, match=problem):
            hc.read_run(path)


@pytest.mark.parametrize("score", ["1e999", "-1e999", "1" + "0" * 400])
def test_a_score_beyond_a_double(tmp_path, score):
    qrels = {"q": {"d": 1}}
    for name, content, place in (
        ("r.txt", f"q Q0 d 1 {score} t\n", "line 1: the score "),
        ("r.csv", f"qid,docid,score\nq,d,{score}\n", "line 2: the score "),
        ("r.json", f'{{"q": {{"d": {score}}}}}', "r.json: "),
    ):
        (tmp_path / name).write_text(content)
        with pytest.raises(ValueError, match=place) as caught:
            hc.evaluate(qrels, tmp_path / name)
        assert "beyond" in str(caught.value) or "no float holds" in str(caught.value)
