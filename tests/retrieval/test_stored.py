"""Evaluations that were written as values, as JSON or Parquet: they equal what was written, and say what they lack."""

import copy
import gzip
import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hitcurve as hc
from hitcurve.cli.main import main

QRELS = {"q 1": {"a": 2, "b": -1, "c": 1}, "é\n\"'": {"a": 1}, "none": {"a": 0}, "日本": {"x": 1}, "empty": {}}
RUN = {"q 1": {"b": -3.5, "a": 2.0, "x": 2.0}, "é\n\"'": {"d": -0.0, "x": 0.25, "a": -1.0}, "other": {"a": 1.0}}
MEASURES = ["map", "AP", "nDCG@2", "ndcg_cut.10", "P(rel=2)@1", "GMAP", "num_rel", "nDCG(gains={1:5,2:1})@3",
            "Judged@2"]  # fmt: skip
OPTIONS = [{}, {"ties": "expected"}, {"empty": "skip"}, {"missing": "skip", "relevance_level": 2},
           {"rank_by": "listed"}, {"name": "mine é"}, {"judged_only": True}]  # fmt: skip


def evaluated(**options):
    names = [one for one in MEASURES if options.get("ties") != "expected" or one != "Judged@2"]
    return hc.evaluate(QRELS, RUN, names, **options)


def through_json(found, folder):
    return hc.Evaluation.from_json(found.to_json())


def through_bytes(found, folder):
    return hc.Evaluation.from_json(found.to_json().encode())


def through_json_file(found, folder):
    path = folder / "values.json.gz"
    path.write_bytes(gzip.compress(found.to_json().encode()))
    return hc.Evaluation.from_json(path)


def through_a_path(found, folder):
    path = folder / "values.json"
    path.write_text("an old file")
    assert found.to_json(str(path)) is None
    assert path.read_text(encoding="utf-8") == found.to_json()
    assert not list(folder.glob(".*"))  # nothing is left of the file that replaced it
    return hc.Evaluation.from_json(path)


def through_parquet(found, folder):
    pytest.importorskip("pyarrow")
    found.to_parquet(folder / "values.parquet")
    return hc.Evaluation.from_parquet(folder / "values.parquet")


WAYS = [through_json, through_bytes, through_json_file, through_a_path, through_parquet]


def same(again, found):
    """Everything of the values, to the last bit."""
    assert again == found
    assert [again != found, found != again] == [False, False]
    assert hash(again) == hash(found)
    assert again.to_dict() == found.to_dict()
    assert list(again.values) == list(found.values) == list(again.means)
    for name, values in found.values.items():
        assert again.values[name].dtype == np.float64
        assert again.values[name].tobytes() == values.tobytes()
        assert np.array([again.means[name]]).tobytes() == np.array([found.means[name]]).tobytes()
    for field in ("name", "tag", "query_ids", "counts", "definitions", "notes", "missing", "extra", "ties", "rank_by",
                  "relevance_level"):
        assert getattr(again, field) == getattr(found, field)
    assert again.means.asked == found.means.asked
    assert again.values.asked == found.values.asked


@pytest.mark.filterwarnings("ignore:.*scores rise")
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("way", WAYS)
def test_what_was_written_is_read(way, options, tmp_path):
    found = evaluated(**options)
    assert found.missing
    assert found.extra
    again = way(found, tmp_path)
    same(again, found)
    same(way(again, tmp_path), found)
    for copied in (pickle.loads(pickle.dumps(again)), copy.deepcopy(again), copy.copy(again)):
        same(copied, found)
        with pytest.raises(ValueError, match="a file of values"):
            copied.curves()
    assert str(again["q 1"]) == str(found["q 1"])
    assert repr(again["ap"]) == repr(found["MAP"])
    assert repr(again) == repr(found)
    assert again._repr_html_() == found._repr_html_()
    assert str(hc.Leaderboard([again])) == str(hc.Leaderboard([found]))


@pytest.mark.parametrize("way", WAYS)
def test_a_run_without_documents_and_no_queries(way, tmp_path):
    with pytest.warns(UserWarning, match="no documents"):
        found = hc.evaluate(QRELS, {}, ["AP", "num_rel"], missing="skip")
    assert found.query_ids == []
    assert found.notes
    same(way(found, tmp_path), found)


@pytest.mark.parametrize("way", WAYS)
def test_ids_that_are_not_utf8(way, tmp_path):
    (tmp_path / "qrels").write_bytes(b"\xff 0 a 1\nq 0 a 1\n\xc3\xa9 0 a 1\n")
    found = hc.evaluate(tmp_path / "qrels", {"q": {"a": 1.0}}, "AP")
    assert found.query_ids == ["q", "é", "\udcff"]
    assert found.missing == ["\udcff", "é"]
    same(way(found, tmp_path), found)


NUMBERS = st.floats(allow_nan=True, allow_infinity=False)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=4))
def test_any_values(rows):
    found = hc.evaluate({str(i): {"a": 1} for i in range(len(rows) or 1)}, {"0": {"a": 1.0}}, ["AP", "P@1"])
    for name, column in zip(("AP", "P@1"), zip(*rows, strict=True), strict=False):
        found.values[name] = np.array([0.0 if value == 0 else value for value in column])
        found.means[name] = float(column[0])
    again = hc.Evaluation.from_json(found.to_json())
    assert again == found
    for name in ("AP", "P@1"):
        assert np.array_equal(again.values[name], found.values[name], equal_nan=True)


def test_what_the_command_prints(tmp_path, capsys):
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 b 0\np 0 a 2\n")
    (tmp_path / "run").write_text("q Q0 b 1 -1 mine\nq Q0 a 2 -2.5 mine\n")
    main(["trec", *map(str, (tmp_path / "qrels", tmp_path / "run")), "-q", "--format", "json", "-m", "AP", "P@1"])
    (entry,) = json.loads(capsys.readouterr().out)["runs"]
    found = hc.evaluate(tmp_path / "qrels", tmp_path / "run", ["AP", "P@1"])
    again = hc.Evaluation.from_json(json.dumps(entry))
    assert again.query_ids == found.query_ids
    assert again["q"] == found["q"] == {"AP": 0.5, "P@1": 0.0}


def test_what_a_file_of_values_lacks():
    found = hc.Evaluation.from_json(evaluated().to_json())
    for call in (found.curves, lambda: found.curves(1), lambda: found.curves(subtopics=True), found.tie_report,
                 found.level_strings):
        with pytest.raises(ValueError, match=r"read from a file of values, which has no documents.*evaluate the run"):
            call()


def test_pictures_and_comparisons_of_values():
    better = {query: {"a": 9.0, **docs} for query, docs in RUN.items()}
    both = [hc.evaluate(QRELS, run, ["AP", "P@1"], name=name) for name, run in (("one", RUN), ("two", better))]
    again = [hc.Evaluation.from_json(one.to_json()) for one in both]
    assert hc.compare(again, rng=0, n_resamples=99).rows == hc.compare(both, rng=0, n_resamples=99).rows
    pytest.importorskip("matplotlib")
    assert again[0].plot("queries").get_ylabel() == "AP"
    with pytest.raises(ValueError, match="a file of values"):
        again[0].plot("pr")


@pytest.mark.parametrize("change", [
    {"name": "other"}, {"ties": "best"}, {"counts": {}}, {"missing": []}, {"extra": []}, {"notes": ["x"]},
    {"relevance_level": 2}, {"query_ids": ["q"]}, {"definitions": {}}, {"tag": "x"}])
def test_what_makes_evaluations_differ(change):
    found = evaluated()
    other = copy.copy(found)
    assert other == found
    for name, value in change.items():
        setattr(other, name, value)
    assert other != found


def test_values_and_measures_make_evaluations_differ():
    found, other = evaluated(), evaluated()
    other.values["map"][0] += 1e-16 + other.values["map"][0] * 1e-15
    assert other != found
    other = evaluated()
    other.means["AP"] = float("nan")
    assert other != found
    assert found != hc.evaluate(QRELS, RUN, "map")
    assert hc.evaluate(QRELS, RUN, "map") != hc.evaluate(QRELS, RUN, "AP")
    assert found != 3
    assert len({found, evaluated(), hc.Evaluation.from_json(found.to_json())}) == 1


def changed(change):
    tree = json.loads(evaluated().to_json())
    change(tree)
    return json.dumps(tree)


@pytest.mark.parametrize(("text", "message"), [
    ("", "text: Evaluation.to_json did not write this: JSON: "),
    ("{a}", "text: Evaluation.to_json did not write this: JSON: "),
    ("{}", "text: Evaluation.to_json did not write this: it has no 'name'"),
    (changed(lambda tree: tree.pop("missing")), "it has no 'missing'"),
    (changed(lambda tree: tree.pop("queries")), "it has no 'queries'"),
    (changed(lambda tree: tree.update(means=[1])), "'means' is not an object"),
    (changed(lambda tree: tree["measures"].pop("map")), "'measures' and 'means' have different measures"),
    (changed(lambda tree: tree["means"].update(map="x")), "the mean of map is 'x': it must be a number or null"),
    (changed(lambda tree: tree["queries"]["q 1"].update(map=True)), "map of query 'q 1' is True: it must be a number"),
    (changed(lambda tree: tree["queries"]["q 1"].pop("map")), "query 'q 1' does not have the measures of the means"),
])
def test_texts_that_are_no_evaluation(text, message, tmp_path):
    with pytest.raises(ValueError) as error:
        hc.Evaluation.from_json(text)
    assert message in str(error.value)
    with pytest.raises(ValueError, match=r"^text: "):
        hc.Evaluation.from_json(text.encode())
    path = tmp_path / "values.json"
    path.write_text(text)
    with pytest.raises(ValueError) as error:
        hc.Evaluation.from_json(path)
    assert str(error.value).startswith(str(path))


def test_files_that_are_no_evaluation(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "values.parquet"
    found = evaluated()
    found.to_parquet(path)
    with pytest.raises(ValueError, match=r"is a Parquet file: read it with Evaluation\.from_parquet"):
        hc.Evaluation.from_json(path)
    table = parquet.read_table(path)
    assert table.column_names == ["query_id", *MEASURES]
    assert table.column("query_id").to_pylist() == found.query_ids
    parquet.write_table(table.drop_columns(["AP"]), path)
    with pytest.raises(ValueError, match=r"values\.parquet: the columns are .*, but by the metadata they are"):
        hc.Evaluation.from_parquet(path)
    parquet.write_table(pyarrow.table({"query_id": ["q"], "AP": [1.0]}), path)
    with pytest.raises(ValueError, match=r"Evaluation\.to_parquet did not write this: the metadata"):
        hc.Evaluation.from_parquet(path)
    with pytest.raises(FileNotFoundError):
        hc.Evaluation.from_json(tmp_path / "lost")
