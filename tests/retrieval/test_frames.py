"""Frames as recommenders have them: columns of any name, ratings that are not whole, lists of items, duplicates."""

import itertools
import json
import math
import pickle
import re
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hitcurve as hc
from hitcurve.cli.main import main

MEASURES = ["AP", "AP@3", "nDCG@3", "nDCG", "P@2", "R@2", "RR", "Success@2", "Rprec", "RBP(p=0.5)", "ERR(max=5)@3",
            "Q@4", "Bpref", "F@2", "NumRel", "NumRelRet"]  # fmt: skip
COLUMNS = {"query": "user", "document": "item", "relevance": "rating", "score": "prediction"}
TEST = {"user": ["u1", "u1", "u1", "u2", "u2", "u3"], "item": ["a", "b", "c", "a", "d", "c"],
        "rating": [4.5, 0.5, 3.0, 2.5, 5.0, 3.5]}
PREDICTED = {"user": ["u1", "u2", "u1", "u1", "u3", "u2", "u2"], "item": ["b", "a", "x", "a", "y", "x", "d"],
             "prediction": [0.75, 0.5, 0.5, 0.25, 0.125, 0.5, -1.0]}
JUDGED = {"u1": {"a": 4.5, "b": 0.5, "c": 3.0}, "u2": {"a": 2.5, "d": 5.0}, "u3": {"c": 3.5}}
RUN = {"u1": {"b": 0.75, "x": 0.5, "a": 0.25}, "u2": {"a": 0.5, "x": 0.5, "d": -1.0}, "u3": {"y": 0.125}}


def duckdb(columns):
    """A relation, from a frame that only it knows."""
    module = pytest.importorskip("duckdb")
    return module.connect().from_arrow(pytest.importorskip("pyarrow").table(columns))


EXAMPLES = settings.default.max_examples  # of a test by hypothesis in this run
LIBRARIES = {
    "dict": dict,
    "pandas": lambda columns: pytest.importorskip("pandas").DataFrame(columns),
    "polars": lambda columns: pytest.importorskip("polars").DataFrame(columns),
    "lazy": lambda columns: pytest.importorskip("polars").DataFrame(columns).lazy(),
    "pyarrow": lambda columns: pytest.importorskip("pyarrow").table(columns),
    "duckdb": duckdb,
}


def bits(found):
    return found.query_ids, {name: column.tobytes() for name, column in found.values.items()}


def renamed(columns, **names):
    return {names.get(name, name): column for name, column in columns.items()}


@pytest.fixture(params=LIBRARIES)
def frame(request):
    return LIBRARIES[request.param]


# ----------------------------------------------------------------------------------------------------------- columns


@pytest.mark.parametrize("ties", ["docid", "best", *(pytest.param(one, marks=pytest.mark.slow)
                                                     for one in ("expected", "worst"))])  # fmt: skip
def test_frames_give_the_numbers_of_dicts(frame, ties):
    wanted = bits(hc.evaluate(JUDGED, RUN, MEASURES, ties=ties, relevance_level=3.5))
    for columns in (None, COLUMNS):
        found = hc.evaluate(frame(TEST), frame(PREDICTED), MEASURES, ties=ties, relevance_level=3.5, columns=columns)
        assert bits(found) == wanted
    evaluator = hc.Evaluator(frame(TEST), MEASURES, ties=ties, relevance_level=3.5, columns=COLUMNS)
    for one in (evaluator, pickle.loads(pickle.dumps(evaluator))):
        assert bits(one.evaluate(frame(PREDICTED))) == wanted
    qrels, run = hc.read_qrels(frame(TEST), columns=COLUMNS), hc.read_run(frame(PREDICTED), columns=COLUMNS)
    for one in ((qrels, run), pickle.loads(pickle.dumps((qrels, run)))):
        assert bits(hc.evaluate(*one, MEASURES, ties=ties, relevance_level=3.5, columns=COLUMNS)) == wanted


@pytest.mark.parametrize("numbers", [np.int64, np.int32, np.uint8])
def test_ids_that_are_numbers(frame, numbers):
    """Integers in arrays are not made texts, and give the same."""
    test = {"userId": np.array([1, 1, 2], numbers), "itemId": np.array([10, 9, 10], numbers), "rating": [4.0, 2.5, 1.0]}
    run = {"userId": np.array([1, 2, 1], numbers), "itemId": np.array([9, 10, 10], numbers),
           "prediction": [1.0, 0.5, 2.0]}
    found = hc.evaluate(frame(test), frame(run), MEASURES, relevance_level=2.5)
    assert bits(found) == bits(hc.evaluate({1: {10: 4.0, 9: 2.5}, 2: {10: 1.0}}, {1: {9: 1.0, 10: 2.0}, 2: {10: 0.5}},
                                           MEASURES, relevance_level=2.5))
    assert len(found.notes) == 2


NAMES = {
    "pyterrier": ("qid", "docno", "label", "score"), "beir": ("query-id", "corpus-id", "score", "score"),
    "house": ("query_id", "doc_id", "relevance", "score"), "microsoft": ("userID", "itemID", "rating", "prediction"),
    "camel": ("userId", "itemId", "rating", "prediction"), "snake": ("user_id", "item_id", "rating", "score"),
    "movielens": ("userId", "movieId", "rating", "prediction"),
    "recbole": ("user_id:token", "item_id:token", "rating:float", "score"),
    "title": ("User ID", "Item ID", "Rating", "Prediction"), "short": ("user", "item", "rating", "prediction"),
}


@pytest.mark.parametrize(("of", "frame"), [
    pytest.param(of, library, marks=() if (i + j) % 3 == 0 else pytest.mark.slow)
    for i, of in enumerate(NAMES) for j, library in enumerate(LIBRARIES)], indirect=["frame"])  # fmt: skip
def test_usual_names(frame, of, tmp_path):
    query, doc, relevance, score = NAMES[of]
    whole = {**TEST, "rating": [4, 0, 3, 2, 5, 3]}
    test, run = (renamed(one, user=query, item=doc, rating=relevance, prediction=score) for one in (whole, PREDICTED))
    if of in ("title", "recbole") and frame is dict:
        return  # the keys of a dict might be users: only usual spellings make it a frame
    found = hc.evaluate(frame(test), frame(run), MEASURES)
    judged = {"u1": {"a": 4, "b": 0, "c": 3}, "u2": {"a": 2, "d": 5}, "u3": {"c": 3}}
    assert bits(found) == bits(hc.evaluate(judged, RUN, MEASURES))
    said = [f"{name}: columns found by their names: {query!r} as the query, {doc!r} as the document" + (
        f", {value!r} as the {role}") * (value != role)
        for name, value, role in (("qrels", relevance, "relevance"), ("run", score, "score"))]  # fmt: skip
    assert found.notes == ([] if of == "house" else said)
    for columns in (test, run):
        rows = zip(*columns.values(), strict=True)
        text = "".join(",".join(map(str, row)) + "\n" for row in (tuple(columns), *rows))
        (tmp_path / ("test.csv" if columns is test else "run.csv")).write_text(text)
    of_files = hc.evaluate(tmp_path / "test.csv", tmp_path / "run.csv", MEASURES)
    assert bits(of_files) == bits(found)
    assert [note.rpartition("/")[2] for note in of_files.notes] == [
        note.replace("qrels:", "test.csv:").replace("run:", "run.csv:") for note in found.notes]


def test_what_is_said_is_no_warning(recwarn):
    for _ in range(3):
        hc.evaluate(TEST, PREDICTED)
    assert not recwarn.list


def test_a_name_may_be_in_one_of_both():
    run, test = renamed(PREDICTED, user="customer"), renamed(TEST, user="customer")
    wanted = bits(hc.evaluate(JUDGED, RUN, MEASURES))
    for one in ((TEST, run), (test, PREDICTED), (test, run), (JUDGED, run), (test, RUN)):
        assert bits(hc.evaluate(*one, MEASURES, columns={"query": "customer"})) == wanted
    evaluator = hc.Evaluator(test, MEASURES, columns={"query": "customer"})
    for one in (run, PREDICTED, RUN):
        assert bits(evaluator.evaluate(one)) == bits(pickle.loads(pickle.dumps(evaluator)).evaluate(one)) == wanted
    several = hc.evaluate(TEST, {"user": run, "item": run}, MEASURES, columns={"query": "customer"})
    assert [bits(one) for one in several.values()] == [wanted] * 2


def test_names_of_files(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    columns = {"query": "who", "document": "what", "relevance": "stars", "score": "guess"}
    test, run = (renamed(one, user="who", item="what", rating="stars", prediction="guess") for one in (TEST, PREDICTED))
    pyarrow.parquet.write_table(pa.table(test), tmp_path / "test.parquet")
    pyarrow.parquet.write_table(pa.table(run), tmp_path / "run.parquet")
    for one, name in ((test, "test.tsv"), (run, "run.tsv")):
        text = "".join("\t".join(map(str, row)) + "\n" for row in (tuple(one), *zip(*one.values(), strict=True)))
        (tmp_path / name).write_text(text)
    wanted = bits(hc.evaluate(JUDGED, RUN, MEASURES))
    for end in ("parquet", "tsv"):
        files = tmp_path / f"test.{end}", tmp_path / f"run.{end}"
        assert bits(hc.evaluate(*files, MEASURES, columns=columns)) == wanted
        assert hc.evaluate(*files, MEASURES, columns=columns).notes == []
        with pytest.raises(ValueError, match=r"test\.\w+.*(no column|the header must have|tab|columns)"):
            hc.evaluate(*files, MEASURES)
        with pytest.raises(ValueError, match=r"test\.\w+ has no column 'star', which columns= names as the relevance, "
                                             "only who, what, stars; near names: 'stars'"):  # fmt: skip
            hc.evaluate(*files, MEASURES, columns={**columns, "relevance": "star"})


def test_judgments_by_subtopic():
    frame = {"user": ["q", "q", "q"], "genre": ["x", "y", "x"], "item": ["a", "a", "b"], "rating": [1, 2, 1]}
    found = hc.read_qrels(frame, subtopics=True, columns={"subtopic": "genre"})
    assert repr(found) == repr(hc.read_qrels({"q": {"a": {"x": 1, "y": 2}, "b": {"x": 1}}}, subtopics=True))
    with pytest.raises(ValueError, match="duplicates='first' cannot be combined with subtopics=True"):
        hc.read_qrels(frame, subtopics=True, columns={"subtopic": "genre"}, duplicates="first")
    with pytest.raises(ValueError, match=r"has no column 'genr', which columns= names as the subtopic.*names: 'genre'"):
        hc.read_qrels(frame, subtopics=True, columns={"subtopic": "genr"})


OF_USERS = {"customer": ["q", "q", "q", "r"], "sort": ["x", "y", "x", "y"], "part": ["s", "s", "t", "s"],
            "item": ["a", "a", "b", "a"], "stars": [1, 2, 1, 1]}  # fmt: skip
SORTED = {"q": {"a": {"x": 1, "y": 2}, "b": {"x": 1}}, "r": {"a": {"y": 1}}}
BY_SORT = {"q": {"x": {"s": {"a": 1}, "t": {"b": 1}}, "y": {"s": {"a": 2}}}, "r": {"y": {"s": {"a": 1}}}}


def of_forms(columns, folder):
    """The columns in each library, and in files, if it is there."""
    yield from (make(columns) for name, make in LIBRARIES.items()
                if name == "dict" or find_spec({"lazy": "polars"}.get(name, name)))  # fmt: skip
    for end, mark in (("csv", ","), ("tsv", "\t")):
        rows = tuple(columns), *zip(*columns.values(), strict=True)
        (folder / f"of.{end}").write_text("".join(mark.join(map(str, row)) + "\n" for row in rows))
        yield folder / f"of.{end}"
    (folder / "of.json").write_text(json.dumps(columns))
    yield folder / "of.json"


def test_columns_of_subtopics_may_have_any_name(tmp_path):
    names = ["alpha_nDCG@2", "P_IA@2", "AP"]
    run = {"q": {"b": 1.0, "a": 0.5}, "r": {"x": 1.0, "a": 0.5}}
    frame = {"customer": ["q", "q", "r", "r"], "item": ["b", "a", "x", "a"], "prediction": [1.0, 0.5, 1.0, 0.5]}
    wanted = bits(hc.evaluate(SORTED, run, names, subtopics=True))
    columns = {"query": "customer", "subtopic": "sort", "relevance": "stars"}
    for source in of_forms(OF_USERS, tmp_path):
        for one in (run, frame, renamed(frame, customer="user")):
            found = hc.evaluate(source, one, names, subtopics=True, columns=columns)
            assert bits(found) == wanted
            qrels = found.notes[0].partition(":")[0]
            assert found.notes[0] == f"{qrels}: columns found by their names: 'item' as the document"
        evaluator = hc.Evaluator(source, names, subtopics=True, columns=columns)
        again = pickle.loads(pickle.dumps(evaluator))
        assert bits(again.evaluate(frame)) == wanted and again.evaluate(frame).notes == evaluator.evaluate(frame).notes
    ones = {query: {doc: dict.fromkeys(of, 1) for doc, of in docs.items()} for query, docs in SORTED.items()}
    found = hc.evaluate(OF_USERS, run, names, subtopics=True, columns={**columns, "relevance": None})
    assert bits(found) == bits(hc.evaluate(ones, run, names, subtopics=True))
    twice = {name: [*column, column[-1]] for name, column in frame.items()}
    kept = hc.evaluate(OF_USERS, twice, names, subtopics=True, columns=columns, duplicates="first")
    assert bits(kept) == wanted and "1 row left out" in kept.notes[-1]
    for source in (SORTED, json.dumps(SORTED)):
        with pytest.raises(ValueError, match=r"qrels has no columns, and no other source has the column 'usr'"):
            hc.read_qrels(source, subtopics=True, columns={"query": "usr"})


@pytest.mark.parametrize("form", ["prefs", "qrels_prefs", "qrels_jg"])
def test_columns_of_groups_may_have_any_name(tmp_path, form, recwarn):
    names = ["Pref", "NumPref"] if form == "prefs" else ["Pref", "NumPref", "AP", "nDCG"]
    judged = BY_SORT if form == "prefs" else {
        query: {user: {doc: level for of in parts.values() for doc, level in of.items()}
                for user, parts in of_query.items()} for query, of_query in BY_SORT.items()}  # fmt: skip
    frame = {"customer": ["q", "q", "r"], "item": ["b", "a", "a"], "prediction": [1.0, 0.5, 0.5]}
    run = {"q": {"b": 1.0, "a": 0.5}, "r": {"a": 0.5}}
    wanted = bits(hc.evaluate(hc.read_qrels(judged, format=form), run, names))
    columns = {"query": "customer", "group": "sort", "subgroup": "part", "relevance": "stars"}
    for source in of_forms(OF_USERS, tmp_path):
        groups = hc.read_qrels(source, format=form, columns=columns)
        for qrels in (groups, pickle.loads(pickle.dumps(groups))):
            for one in (run, frame, renamed(frame, customer="user")):
                found = hc.evaluate(qrels, one, names, columns={"query": "customer"})
                assert bits(found) == wanted
                assert found.notes[0].endswith(": columns found by their names: 'item' as the document")
    twice = {name: [*column, column[-1]] for name, column in frame.items()}
    assert bits(hc.evaluate(groups, twice, names, columns=columns, duplicates="best")) == wanted
    assert not recwarn.list
    with pytest.raises(ValueError, match=f"duplicates='best' cannot be combined with format='{form}'"):
        hc.read_qrels(OF_USERS, format=form, columns=columns, duplicates="best")
    with pytest.raises(ValueError, match=r"no column 'group', only .*: name the column with columns=\{'group'"):
        hc.read_qrels(OF_USERS, format=form, columns={"query": "customer"})
    with pytest.raises(ValueError, match=r"qrels has no columns, and no other source has the column 'usr'"):
        hc.read_qrels(judged, format=form, columns={"query": "usr"})
    (tmp_path / "lines").write_text("".join(
        "\t".join(map(str, [q, u, *[s] * (form == "prefs"), d, level])) + "\n"
        for q, u, s, d, level in zip(*OF_USERS.values(), strict=True)))
    for one in (tmp_path / "lines", str(tmp_path / "lines")):
        with pytest.raises(ValueError, match=r"lines has no columns, and no other source has the column 'customer'"):
            hc.read_qrels(one, format=form, columns={"query": "customer"})


def test_users_of_runs_with_ratings():
    """What users gain, and what is unknown of it, is the same for levels twice as high."""
    twice = {query: {doc: int(2 * level) for doc, level in of.items()} for query, of in JUDGED.items()}
    for name, level in (("P@2", 1), ("RR", 7), ("AP", 3)):
        for ties in ("docid", "worst"):
            found, wanted = (hc.evaluate(judged, RUN, "AP", ties=ties, relevance_level=of).user_model(name)
                             for judged, of in ((JUDGED, level / 2), (twice, level)))  # fmt: skip
            np.testing.assert_array_equal(found.utility, wanted.utility)
            np.testing.assert_array_equal(found.residual.utility, wanted.residual.utility)
    judged, run = {"q": {"a": 4.5, "b": 0.5, "c": 3.0}}, {"q": {"b": 3.0, "x": 2.0, "a": 1.0}}
    user = hc.evaluate(judged, run, "AP").user_model("RBP(p=0.5)")  # x gains as much as a, and all ranks from 4 too
    assert user.utility.tolist() == [0.5 * (0.5 / 4.5 + 0.25)]
    np.testing.assert_allclose(user.residual.utility, [0.25 + 0.125], rtol=1e-14)


@pytest.mark.parametrize(("test", "run", "columns", "problem"), [
    (TEST, PREDICTED, {"query": "usr"}, "run has no column 'usr', which columns= names as the query, only user, item, "
     "prediction; near names: 'user'"),
    (TEST, RUN, {"query": "usr"}, "columns={'query': 'usr'}: run has no columns, and no other source has the column "
     "'usr'"),
    (JUDGED, PREDICTED, {"document": "itm"}, "run has no column 'itm', which columns= names as the document"),
    (TEST, PREDICTED, {"relevance": "ratng"}, "qrels has no column 'ratng', which columns= names as the relevance, "
     "only user, item, rating; near names: 'rating'"),
    (TEST, PREDICTED, {"score": "predicted"}, "run has no column 'predicted', which columns= names as the score"),
    (renamed(TEST, rating="ratng"), PREDICTED, None, "qrels has no column 'relevance', only user, item, ratng: name "
     "the column with columns={'relevance': ...}, or None if each row is relevant"),
    (renamed(TEST, user="usr"), renamed(PREDICTED, user="usr"), None, "qrels has no column 'query_id', only usr, item, "
     "rating: name the column with columns={'query': ...}"),
    (renamed(TEST, user="usr", item="itm", rating="stars"), PREDICTED, {"relevance": "stars"}, "qrels has no column "
     "'query_id', only usr, itm, stars"),
    (TEST, renamed(PREDICTED, item="itm"), None, "run has no column 'doc_id', only user, itm, prediction: name the "
     "column with columns={'document': ...}"),
    (TEST, renamed(PREDICTED, prediction="p"), None, "run has no column 'score', only user, item, p: name the column "
     "with columns={'score': ...}"),
    ({**TEST, "user_id": TEST["user"]}, PREDICTED, None, "qrels has the columns user, user_id: name one of them as the "
     "query, with columns={'query': ...}"),
    (TEST, PREDICTED, {"user": "query"}, "columns has the key 'user': the keys are 'query', 'document', 'relevance', "
     "'score', 'rank', 'subtopic', 'group', 'subgroup', so write {'query': 'user'}"),
    (TEST, PREDICTED, {"qery": "user"}, "columns has the key 'qery': .*; near names: 'query'"),
    (TEST, PREDICTED, {"score": None}, "columns['score'] is None: only the relevance may be None"),
    (TEST, PREDICTED, {"score": 3}, "columns['score'] must be the name of a column, got 3"),
    (TEST, PREDICTED, ["user"], "columns must be a mapping such as {'query': 'user'}, got ['user']"),
    (renamed(TEST, user="query_id", item="doc_id", rating="score"), RUN, None, "qrels has no column 'relevance', only "
     "query_id, doc_id, score"),
    (renamed(TEST, user="query-id", item="corpus-id", rating="score"), RUN, None, "qrels: the relevance in row 0 is "
     "4.5: it must be a whole number (query 'u1', document 'a')"),
])  # fmt: skip
def test_what_is_refused(test, run, columns, problem):
    """A misspelt column must not become numbers."""
    pattern = problem if "|" in problem or ".*" in problem else re.escape(problem)
    with pytest.raises((ValueError, TypeError), match=pattern) as caught:
        hc.evaluate(test, run, columns=columns)
    assert type(caught.value) in (ValueError, TypeError)


def test_a_frame_whose_ids_are_in_its_index_or_in_its_head():
    """What groupby and pivot_table return. A wide frame printed hundreds of columns."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(TEST)
    for index in (["user"], ["user", "item"]):
        problem = f"; its index has {', '.join(index)}, of which its reset_index\\(\\) makes columns$"
        with pytest.raises(ValueError, match=problem):
            hc.evaluate(frame.set_index(index), PREDICTED)
        assert bits(hc.evaluate(frame.set_index(index).reset_index(), PREDICTED)) == bits(hc.evaluate(TEST, PREDICTED))
    for number, shown in ((12, "11"), (13, "12"), (14, "11 and 2 more"), (500, "11 and 488 more")):
        wide = pd.DataFrame(np.zeros((2, number)))
        with pytest.raises(ValueError, match=rf"no column 'query_id', only 0, 1, .*, {shown}: name the column.*}}$"):
            hc.evaluate(wide, PREDICTED)


@pytest.mark.parametrize("library", ["dict", "pandas", "polars"])
def test_a_frame_with_a_list_in_each_row(library):
    """What groupby(...).agg(list) and Spark's recommendations are."""
    frame = LIBRARIES[library]({"user": ["u1", "u2"], "item": [["a", "x"], ["d", "a"]]})
    problem = "only user, item: .*; its column 'item' holds lists: pass a dict from each query to its list, the best"
    for test, run in ((TEST, frame), (frame, PREDICTED)):
        with pytest.raises(ValueError, match=problem):
            hc.evaluate(test, run)
    assert hc.evaluate(TEST, dict(zip(frame["user"], frame["item"], strict=True)), "RR")["RR"] == 2 / 3


@pytest.mark.parametrize("column", ["user", "item"])
def test_ids_that_became_floats_say_what_to_do(column):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"user": [1, 1, 2], "item": [1, 2, 1], "rating": [1, 0, 1]})
    run = frame.rename(columns={"rating": "score"})
    with pytest.raises(TypeError, match=r"^run: the \w+ id in row 0 is 1\.0: ids are .*as column\.astype\(int\)$"):
        hc.evaluate(frame, run.astype({column: float}))
    assert hc.evaluate(frame, run.astype({column: float}).astype({column: int}), "AP")["AP"] == 1.0


def test_a_score_may_be_named_as_the_relevance():
    beir = renamed(TEST, user="query-id", item="corpus-id", rating="score")
    found = hc.evaluate(beir, RUN, MEASURES, columns={"relevance": "score"})
    assert bits(found) == bits(hc.evaluate(JUDGED, RUN, MEASURES))


def test_files_whose_third_column_may_be_a_score(tmp_path):
    for text in ("q a 1\nq b 0.5\n", "query_id,doc_id,score\nq,a,1\nq,b,0.5\n"):
        (tmp_path / "q").write_text(text)
        with pytest.raises(ValueError, match=r"q: the relevance in row 1 is 0\.5: it must be a whole number"):
            hc.read_qrels(tmp_path / "q")


def test_two_columns_of_a_kind():
    """A name of hitcurve's own goes first, and the other name is said."""
    found = hc.evaluate({**TEST, "label": [1, 0, 1, 0, 1, 1]}, PREDICTED, MEASURES)
    judged = {"u1": {"a": 1, "b": 0, "c": 1}, "u2": {"a": 0, "d": 1}, "u3": {"c": 1}}
    assert bits(found) == bits(hc.evaluate(judged, RUN, MEASURES))
    assert found.notes[0].endswith("'label' as the relevance, and not 'rating'")


def test_ranks_alone_make_scores(frame):
    ranked = {"user": ["u1", "u1", "u2"], "item": ["a", "b", "d"], "rank": [2, 1, 1]}
    found = hc.evaluate(JUDGED, frame(ranked), MEASURES)
    assert bits(found) == bits(hc.evaluate(JUDGED, {"u1": ["b", "a"], "u2": ["d"]}, MEASURES))
    assert bits(found) == bits(hc.evaluate(JUDGED, frame(ranked), MEASURES, rank_by="rank"))
    named = renamed(ranked, rank="place")
    assert bits(hc.evaluate(JUDGED, frame(named), MEASURES, columns={"rank": "place"})) == bits(found)


# ------------------------------------------------------------------------------------------------------ lists and sets


def test_rows_without_a_relevance(frame, tmp_path):
    test = {"user": TEST["user"], "item": TEST["item"]}
    wanted = bits(hc.evaluate({user: dict.fromkeys(of, 1) for user, of in JUDGED.items()}, RUN, MEASURES))
    assert bits(hc.evaluate(frame(test), RUN, MEASURES, columns={"relevance": None})) == wanted
    assert bits(hc.evaluate(frame(TEST), RUN, MEASURES, columns={"relevance": None})) == wanted
    path = tmp_path / "test.csv"
    path.write_text("".join(f"{user},{item}\n" for user, item in [("user", "item"), *zip(*test.values(), strict=True)]))
    assert bits(hc.evaluate(path, RUN, MEASURES, columns={"relevance": None})) == wanted


@pytest.mark.parametrize("kind", [list, tuple, set, frozenset, np.array, dict.fromkeys], ids=lambda kind: kind.__name__)
def test_items_of_each_user(kind):
    used = {1: [10, 20, 30], 2: [20], 3: [40, 10]}
    top = {1: [20, 50, 10], 2: (50, 20), 3: np.array([10]), 4: [10]}
    scores = {user: {item: -place for place, item in enumerate(items)} for user, items in top.items()}
    wanted = bits(hc.evaluate({user: dict.fromkeys(items, 1) for user, items in used.items()}, scores, MEASURES))
    judged = {user: dict.fromkeys(items, 1) if kind == dict.fromkeys else kind(items) for user, items in used.items()}
    assert bits(hc.evaluate(judged, top, MEASURES)) == wanted
    assert bits(hc.evaluate(judged, {**scores, 1: top[1]}, MEASURES)) == wanted
    texts = {str(user): [str(item) for item in items] for user, items in used.items()}
    assert bits(hc.evaluate(texts, top, MEASURES)) == wanted
    systems = hc.evaluate(judged, {"one": top, "other": {user: list(items) for user, items in top.items()}}, MEASURES)
    assert [bits(one) for one in systems.values()] == [wanted] * 2
    assert bits(hc.evaluate(judged, hc.read_run(top), MEASURES, rank_by="listed")) == wanted


@pytest.mark.parametrize(("judged", "run", "problem"), [
    ({"u": {"a"}}, {"u": {"a"}}, "run: query 'u' holds a set, which has no order: a run needs a list, the best "),
    ({"u": {"a"}}, {"u": [("a", 0.5)]}, r"run: query 'u' holds \('a', 0.5\) in a list: a list has ids alone"),
    ({"u": "abc"}, {"u": ["a"]}, "qrels: query 'u' holds str, not a mapping of documents, nor a list of their ids"),
    ({"u": ["a", 1]}, {"u": ["a"]}, "^$|ids are strings or whole numbers"),
    ({"u": [None]}, {"u": ["a"]}, "qrels: an id is None"),
    ({"u": ["a"]}, {"u": ["a", "b", "a"]}, "run: document 'a' occurs twice in query 'u'; duplicates='first' keeps "
     "the first row, duplicates='best' the best"),
    ({"u": []}, {"u": ["a"]}, "qrels: there are no judgments"),
])  # fmt: skip
def test_lists_that_are_refused(judged, run, problem):
    if problem.startswith("^$"):
        assert hc.evaluate(judged, run, "P@1").means == {"P@1": 1.0}  # as in a dict: the number 1 is the text "1"
        return
    with pytest.raises((ValueError, TypeError), match=problem):
        hc.evaluate(judged, run, "P@1")


# ---------------------------------------------------------------------------------------------------------- duplicates


def kept(rows, policy):
    """{query: {document: value}} of the rows to keep."""
    found = {}
    for query, doc, value in rows:
        of = found.setdefault(query, {})
        if doc not in of or (policy == "best" and value > of[doc]):
            of.pop(doc, None)
            of[doc] = value
    return found


ROWS = st.lists(st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(-1, 3)), min_size=1, max_size=14)


@given(st.data())
@settings(max_examples=EXAMPLES // 3)
def test_duplicates(tmp_path_factory, data):
    judged, run = data.draw(ROWS), [(q, d, s / 2) for q, d, s in data.draw(ROWS)]
    policy = data.draw(st.sampled_from(["first", "best"]))
    folder = tmp_path_factory.mktemp("rows")
    if not {q for q, *_ in judged} & {q for q, *_ in run}:
        return
    wanted = hc.evaluate(kept(judged, policy), kept(run, policy), ["AP", "nDCG", "RR", "NumRet", "Bpref"])
    (folder / "q").write_text("".join(f"{q} 0 {d} {level}\n" for q, d, level in judged))
    (folder / "r").write_text("".join(f"{q} Q0 {d} 1 {score} t\n" for q, d, score in run))
    (folder / "r.csv").write_text("user,item,score\n" + "".join(f"{q},{d},{score}\n" for q, d, score in run))
    of_judged, of_run = (tuple(map(np.array, zip(*rows, strict=True))) for rows in (judged, run))
    frame = dict(zip(("user", "item", "score"), of_run, strict=True))
    lost = [len(rows) - sum(map(len, kept(rows, policy).values())) for rows in (judged, run)]
    texts = {"qid": of_judged[0], "docno": list(map(str, of_judged[1])), "label": of_judged[2]}
    for qrels in (of_judged, folder / "q", texts):
        for one in (of_run, frame, folder / "r", folder / "r.csv"):
            found = hc.evaluate(qrels, one, list(wanted.values), duplicates=policy)
            assert bits(found) == bits(wanted)
            left = [note for note in found.notes if "left out" in note]
            assert [int(re.search(r": (\d+) rows? left out", note)[1]) for note in left] == [n for n in lost if n]
    held = hc.read_qrels(of_judged, duplicates=policy), hc.read_run(folder / "r", duplicates=policy)
    again = pickle.loads(pickle.dumps(held))
    assert bits(hc.evaluate(*again, list(wanted.values))) == bits(wanted)


@pytest.mark.filterwarnings("ignore:.* scores rise in the order")
def test_the_best_row_keeps_its_place():
    """It is the row that is kept: with its rank, and in its place."""
    rows = {"user": [1, 1, 1], "item": [7, 8, 7], "score": [1.0, 2.0, 3.0], "rank": [1, 2, 3]}
    for policy, first in (("first", 0.0), ("best", 1.0)):
        run = hc.read_run(rows, duplicates=policy)
        for order in ("rank", "listed"):
            assert hc.evaluate({1: {8: 1}}, run, "P@1", rank_by=order).means == {"P@1": first}
    with pytest.raises(ValueError, match="duplicates='last' is unknown: must be one of 'raise', 'first', 'best'"):
        hc.read_run(rows, duplicates="last")


# ------------------------------------------------------------------------------------------------ ratings in fractions

LEVELS = st.sampled_from([-1.5, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.5, 5.0])
BINARY = ["AP", "AP@2", "P@2", "R@2", "RR", "Rprec", "Bpref", "infAP", "NumRel", "NumRelRet", "Success@1", "SetF",
          "F@2", "IPrec@0.1", "RBP(rel=1)", "Judged@2", "Unjudged@2", "Pref", "NumPref"]  # fmt: skip


def draw(data, levels=LEVELS):
    judged = data.draw(st.dictionaries(st.sampled_from("abc"), st.dictionaries(
        st.sampled_from("uvwxyz"), levels, min_size=1, max_size=6), min_size=1, max_size=3))  # fmt: skip
    run = {query: data.draw(st.dictionaries(st.sampled_from("tuvwxyz"), st.sampled_from([0.0, 0.5, 1.0]), min_size=1))
           for query in judged}  # fmt: skip
    return judged, run


@given(st.data())
@settings(max_examples=EXAMPLES // 3)
def test_gains_are_taken_as_they_are(data):
    """Twice the ratings are whole, and nDCG of twice the gains has the same bits."""
    judged, run = draw(data)
    twice = {query: {doc: int(2 * level) for doc, level in of.items()} for query, of in judged.items()}
    names = ["nDCG", "nDCG@2", "nDCGrel", "RnDCG"]
    for ties in ("docid", "expected", "best", "worst"):
        asked = names if ties == "docid" else names[:2]
        for empty in ("zero", "skip", "one"):
            fractions, whole = (hc.evaluate(one, run, asked, ties=ties, empty=empty) for one in (judged, twice))
            assert bits(fractions) == bits(whole)
            assert repr(fractions.tie_report()) == repr(whole.tie_report())


@given(st.data(), st.sampled_from([0.5, 1, 1.5, 2.0, 2.25, 3.5, 4, 5.0, 7.5]))
@settings(max_examples=EXAMPLES // 3)
def test_the_level_from_which_items_are_relevant(data, least):
    judged, run = draw(data)
    named = "P(rel=1)@2"
    flags = {q: {d: -1 if level < 0 else int(level >= least) for d, level in of.items()} for q, of in judged.items()}
    for ties in ("docid", "expected", "best", "worst"):
        asked = [one for one in BINARY if "Pref" not in one and one != "RBP(rel=1)"]
        asked = [one for one in asked if not (ties == "expected" and one == "infAP")]
        asked = asked if ties == "docid" else [one for one in asked if one not in ("Rprec", "IPrec@0.1")]
        found = hc.evaluate(judged, run, [*asked, named], ties=ties, relevance_level=least)
        wanted = hc.evaluate(flags, run, [*asked, "P@2"], ties=ties)
        for name in asked:
            assert found.values[name].tobytes() == wanted.values[name].tobytes(), (name, ties)
        assert found.counts == wanted.counts
        of_one = {q: {d: int(level >= 1) for d, level in of.items()} for q, of in judged.items()}
        assert found.values[named].tobytes() == hc.evaluate(of_one, run, "P@2", ties=ties).values["P@2"].tobytes()
    if least > 0:
        curves, wanted = hc.evaluate(judged, run, "AP").curves(least), hc.evaluate(flags, run, "AP").curves(1)
        assert curves.average_precision().tobytes() == wanted.average_precision().tobytes()


@given(st.data())
@settings(max_examples=EXAMPLES // 3, deadline=None)
def test_measures_of_gain_by_hand(data):
    """ERR, RBP and exponential gains of ratings, over every order of tied documents."""
    judged, run = draw(data)
    names = {"nDCG(dcg=exp-log2)@3": _exponential, "ERR(max=5)": _err, "RBP(p=0.5)": _rbp}
    orders = {query: _orders(of) for query, of in run.items()}
    for ties, over in (("expected", np.mean), ("best", max), ("worst", min)):
        found = hc.evaluate(judged, run, list(names), ties=ties)
        for name, by_hand in names.items():
            wanted = [over([by_hand([judged[query].get(doc, 0.0) for doc in order], list(judged[query].values()))
                            for order in orders[query]]) for query in found.query_ids]  # fmt: skip
            np.testing.assert_allclose(found.values[name], wanted, rtol=1e-12, atol=1e-14)


def _orders(scores):
    groups = [sorted(doc for doc in scores if scores[doc] == one) for one in sorted(set(scores.values()), reverse=True)]
    return [list(itertools.chain(*order)) for order in itertools.product(*map(itertools.permutations, groups))][:5040]


def _exponential(levels, all_levels):
    gains, ideal = ([2 ** max(one, 0.0) - 1 for one in of] for of in (levels, sorted(all_levels, reverse=True)))
    dcg, best = (sum(gain / math.log2(i + 2) for i, gain in enumerate(of[:3])) for of in (gains, ideal))
    return dcg / best if best else 0.0


def _err(levels, all_levels):
    found, stay = 0.0, 1.0
    for rank, level in enumerate(levels, 1):
        stop = (2 ** max(level, 0.0) - 1) / 2**5
        found += stay * stop / rank
        stay *= 1 - stop
    return found


def _rbp(levels, all_levels):
    most = max(1.0, *all_levels, 0.0)
    return 0.5 * sum(max(level, 0.0) / most * 0.5**i for i, level in enumerate(levels))


def test_levels_of_a_run_in_fractions():
    found = hc.evaluate(JUDGED, RUN, ["AP", "Q@2"], relevance_level=3.5)
    assert found.relevance_level == 3.5
    assert "relevant from level 3.5" in found.definitions["AP"]
    assert found.level_strings() == ["0-4", "-25", "-"]
    assert pickle.loads(pickle.dumps(found)).level_strings() == found.level_strings()
    curves = found.curves()
    wanted = hc.GainCurves([[0.5, 0, 4.5], [0, 2.5, 5.0], [0, 0, 0]], [[3, 2, 1]] * 3, unretrieved=[[3.0], [], [3.5]],
                           mask=[[True] * 3, [True] * 3, [True, False, False]])  # fmt: skip
    assert curves.ndcg(3).tobytes() == wanted.ndcg(3).tobytes()
    assert found.values["Q@2"].tobytes() == np.nan_to_num(wanted.q_measure(2)).tobytes()
    assert hc.evaluate(JUDGED, RUN, "AP", relevance_level=3.0).relevance_level == 3
    for level, problem in ((math.nan, "relevance_level is nan: it must be finite"), ("3", "relevance_level must be")):
        with pytest.raises((ValueError, TypeError), match=problem):
            hc.evaluate(JUDGED, RUN, "AP", relevance_level=level)
    with pytest.raises(ValueError, match=r"ERR: the qrels have level 5\.0, above .* highest level: use ERR\(max=5\)"):
        hc.evaluate(JUDGED, RUN, "ERR")
    with pytest.warns(UserWarning, match="4 relevances other than a whole number: the fraction is cut off"):
        cut = hc.evaluate(JUDGED, RUN, "nDCG", strict=False)
    whole = {query: {doc: int(level) for doc, level in of.items()} for query, of in JUDGED.items()}
    assert bits(cut) == bits(hc.evaluate(whole, RUN, "nDCG"))


def test_gains_by_level_beside_fractions():
    """A gain that a name gives to a level is the gain of just that level."""
    judged, run = {"q": {"a": 1.0, "b": 1.5, "c": 0.0}}, {"q": {"c": 3.0, "b": 2.0, "a": 1.0}}
    found = hc.evaluate(judged, run, "nDCG(gains={0:0,1:3})").values["nDCG(gains={0:0,1:3})"][0]
    assert found == pytest.approx((1.5 / math.log2(3) + 3 / 2) / (3 + 1.5 / math.log2(3)), rel=1e-14)


# --------------------------------------------------------------------------------------------------------------- peers


def interactions(seed, users=30, items=40):
    """A frame of held-out ratings and a frame of the ten best items of each user, without ties."""
    rng = np.random.default_rng(seed)
    held = [(u, i, int(rng.integers(1, 11)) / 2) for u in range(users)
            for i in rng.permutation(items)[: rng.integers(1, 9)].tolist()]  # fmt: skip
    top = [(u, i, s) for u in range(users) for i, s in zip(
        rng.permutation(items)[:10].tolist(), np.sort(rng.random(10))[::-1].tolist(), strict=True)]  # fmt: skip
    names = ("userID", "itemID", "rating"), ("userID", "itemID", "prediction")
    return [dict(zip(of, zip(*rows, strict=True), strict=True)) for of, rows in zip(names, (held, top), strict=True)]


@pytest.mark.parametrize("k", [1, 3, 10])
def test_formulas_of_recommenders(k):
    """Precision, recall, MAP, MRR and nDCG at k over users, as libraries of recommenders write them with arrays."""
    test, top = interactions(k)
    users, items, ratings = (np.array(column) for column in test.values())
    hits = {}
    for user in np.unique(users).tolist():
        mine = np.array(top["userID"]) == user
        listed = np.array(top["itemID"])[mine][np.argsort(-np.array(top["prediction"])[mine])][:k]
        of = dict(zip(items[users == user].tolist(), ratings[users == user].tolist(), strict=True))
        hits[user] = np.isin(listed, list(of)), np.array([of.get(item, 0.0) for item in listed.tolist()]), of
    log2 = np.log2(np.arange(2, k + 2))
    wanted = {
        f"P@{k}": np.mean([hit.sum() / k for hit, _, _ in hits.values()]),
        f"R@{k}": np.mean([hit.sum() / len(of) for hit, _, of in hits.values()]),
        f"AP(norm=min)@{k}": np.mean([(hit * np.cumsum(hit) / np.arange(1, k + 1)).sum() / min(k, len(of))
                                      for hit, _, of in hits.values()]),
        f"RR@{k}": np.mean([1 / (1 + hit.argmax()) if hit.any() else 0.0 for hit, _, _ in hits.values()]),
        f"Success@{k}": np.mean([hit.any() for hit, _, _ in hits.values()]),
        f"nDCG@{k}": np.mean([
            (gains / log2).sum() / (np.sort([*of.values()])[::-1][:k] / log2[: len(of)]).sum()
            for _, gains, of in hits.values()]),
    }  # fmt: skip
    for columns in (None, {**COLUMNS, "query": "userID", "document": "itemID"}):
        found = hc.evaluate(test, top, list(wanted), columns=columns, relevance_level=0.5)
        assert found.means == pytest.approx(wanted, rel=1e-13)


def test_the_numbers_of_ir_measures():
    """From the same frames, with the columns renamed and the ratings in half stars."""
    ir_measures, pandas = pytest.importorskip("ir_measures"), pytest.importorskip("pandas")
    test, top = interactions(7)
    names = ["nDCG@10", "P(rel=7)@5", "R(rel=7)@10", "AP(rel=7)@10", "RR(rel=7)", "Success(rel=7)@5"]
    qrels = pandas.DataFrame(test).set_axis(["query_id", "doc_id", "relevance"], axis=1)
    run = pandas.DataFrame(top).set_axis(["query_id", "doc_id", "score"], axis=1)
    qrels["relevance"] = (2 * qrels["relevance"]).astype(int)
    qrels, run = (one.astype({"query_id": str, "doc_id": str}) for one in (qrels, run))
    theirs = ir_measures.calc_aggregate([ir_measures.parse_measure(one) for one in names], qrels, run)
    ours = hc.evaluate(pandas.DataFrame(test), pandas.DataFrame(top), [one.replace("(rel=7)", "") for one in names],
                       relevance_level=3.5)  # fmt: skip
    wanted = {str(name).replace("(rel=7)", ""): value for name, value in theirs.items()}
    assert ours.means == pytest.approx(wanted, rel=1e-12)


def test_names_that_loggers_take():
    """MLflow takes letters, digits, and _ - . / and blanks; trec_eval's names have only these."""
    asked = ["ndcg_cut_10", "P_5", "recall_10", "map_cut_10", "recip_rank", "success_1", "map", "Rprec"]
    found = hc.evaluate(TEST, PREDICTED, asked)
    assert list(found.means) == asked
    assert all(re.fullmatch(r"[\w\-./ ]+", name) for name in found.means)
    assert found.means["ndcg_cut_10"] == found.means["nDCG@10"]


# ------------------------------------------------------------------------------------------------------------- command


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, columns in (("test.csv", renamed(TEST, user="customer")), ("model.csv", PREDICTED)):
        rows = (tuple(columns), *zip(*columns.values(), strict=True))
        (tmp_path / name).write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    return tmp_path


def test_the_command_and_groups_or_subtopics(tmp_path, capsys):
    rows = [*zip(*OF_USERS.values(), strict=True)]
    (tmp_path / "lines").write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
    (tmp_path / "of.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in (tuple(OF_USERS), *rows)))
    (tmp_path / "run.csv").write_text("customer,item,score\nq,b,1\nq,a,0.5\nr,a,0.5\nr,a,0.25\n")
    run = {"q": {"b": 1.0, "a": 0.5}, "r": {"a": 0.5}}
    columns = "query=customer,group=sort,subgroup=part,subtopic=sort,relevance=stars"
    groups = hc.evaluate(hc.read_qrels(BY_SORT, format="prefs"), run, "Pref")["Pref"]
    topics = hc.evaluate(SORTED, run, "alpha_nDCG@1", subtopics=True)["alpha_nDCG@1"]
    prefs = ["-R", "prefs", "-m", "Pref"]
    for of, how, wanted in (("lines", prefs, groups), ("of.csv", prefs, groups),
                            ("of.csv", ["--subtopics", "-m", "alpha_nDCG@1"], topics)):  # fmt: skip
        files = [str(tmp_path / of), str(tmp_path / "run.csv")]
        more = ["--format", "json", "--columns", columns, "--duplicates", "best"]
        assert main(["trec", *files, *how, *more]) == 3  # a row was left out
        assert list(json.loads(capsys.readouterr().out)["runs"][0]["means"].values()) == [wanted]
    assert main(["trec", *files, "--subtopics", "-m", "AP", "--columns", "query=customer,subtopic=srt"]) == 1
    assert "has no column 'srt', which --columns names as the subtopic" in capsys.readouterr().err


def test_the_command(files, capsys):
    command = ["trec", "test.csv", "model.csv", "-m", "nDCG@3", "P@2", "-l", "3.5", "--format", "csv"]
    assert main([*command, "--columns", "query=customer,document=item"]) == 0
    out, err = capsys.readouterr()
    wanted = hc.evaluate(JUDGED, RUN, ["nDCG@3", "P@2"], relevance_level=3.5).means
    cells = out.splitlines()[1].split(",")[-2:]
    assert list(map(float, cells)) == pytest.approx(list(wanted.values()), abs=1e-4)
    assert [line for line in err.splitlines() if "columns" in line] == [
        "hitcurve: note: test.csv: columns found by their names: 'rating' as the relevance",
        "hitcurve: note: model.csv: columns found by their names: 'user' as the query, 'prediction' as the score"]
    with open("model.csv", "a") as file:
        file.write("u3,y,0.5\n")
    assert main([*command, "--columns", "query=customer", "--columns", "relevance="]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == (
        "hitcurve: error: model.csv: document 'y' occurs twice in query 'u3'; --duplicates first keeps the first row, "
        "--duplicates best the best")
    assert main([*command, "--columns", "query=customer,relevance=", "--duplicates", "best"]) == 3
    assert "hitcurve: warning: model.csv: 1 row left out: the query has the document" in capsys.readouterr().err


@pytest.mark.parametrize(("more", "status", "problem"), [
    ([], 1, "test.csv has no column 'query_id', only customer, item, rating: name the column with --columns query=..."),
    (["--columns", "query=customr"], 1, "test.csv has no column 'customr', which --columns names as the query, only "
     "customer, item, rating; near names: 'customer'"),
    (["--columns", "customer"], 2, "--columns: 'customer': write what the column holds and its name, as in query=user"),
    (["--columns", "user=query"], 2, "--columns: columns has the key 'user': the keys are 'query', 'document'"),
    (["-l", "many"], 2, "argument -l: 'many' is not a number"),
])  # fmt: skip
def test_what_the_command_refuses(files, capsys, more, status, problem):
    assert main(["trec", "test.csv", "model.csv", "-m", "P@1", *more]) == status
    assert problem in capsys.readouterr().err
