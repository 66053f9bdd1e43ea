"""`queries=`: subsets and strata of evaluations, leaderboards and comparisons."""

import math
import pickle

import numpy as np
import pytest

import hitcurve as hc

MEASURES = ["AP", "nDCG@10", "NumRel", "GMAP"]
IDS = [f"q{i}" for i in range(11)]
GROUPS = {query: ("long" if i % 3 == 1 else "short") for i, query in enumerate(IDS)}
rng = np.random.default_rng(3)
QRELS = {q: {f"d{j}": int(rng.integers(0, 3)) for j in range(9)} for q in IDS}
RUNS = {name: {q: {f"d{j}": float(rng.integers(0, 12)) for j in range(12)} for q in IDS[: 11 - at]}
        for at, name in enumerate(("one", "two"))}  # fmt: skip
SHORT = [q for q in IDS if GROUPS[q] == "short"]


def evaluated(**options):
    return {name: hc.evaluate(QRELS, run, MEASURES, name=name, **options) for name, run in RUNS.items()}


def same(one, other):
    """Two evaluations, to the last bit."""
    assert one.query_ids == other.query_ids
    assert one.means == pytest.approx(other.means, rel=0, abs=0, nan_ok=True)
    for name, column in one.values.items():
        np.testing.assert_array_equal(column, other.values[name])
    assert one.counts == other.counts
    assert one.missing == other.missing


@pytest.mark.parametrize("queries", [SHORT, set(SHORT), np.array(SHORT), lambda q: q in SHORT, dict.fromkeys(SHORT)])
@pytest.mark.parametrize("options", [{}, {"missing": "skip"}, {"ties": "expected"}, {"empty": "skip"}])
def test_a_subset_is_the_judgments_of_the_subset(queries, options):
    queries = list(queries) if isinstance(queries, dict) else queries
    for name, run in RUNS.items():
        found = hc.evaluate(QRELS, run, MEASURES, queries=queries, name=name, **options)
        same(found, hc.evaluate({q: QRELS[q] for q in SHORT}, {q: run[q] for q in SHORT if q in run}, MEASURES,
                                name=name, **options))  # fmt: skip
        assert len(found.curves()) == len(found.query_ids)
        whole = hc.evaluate({q: QRELS[q] for q in SHORT}, run, MEASURES, **options)
        for name_of, band in found.tie_report().items():
            assert band == pytest.approx(whole.tie_report()[name_of], nan_ok=True)


def test_missing_queries_of_the_subset_alone():
    found = hc.evaluate(QRELS, RUNS["two"], "AP", queries=IDS[:4], missing="raise")
    assert found.missing == []
    with pytest.raises(ValueError, match="lacks query 'q10'"):
        hc.evaluate(QRELS, RUNS["two"], "AP", queries=IDS[8:], missing="raise")
    assert hc.evaluate(QRELS, RUNS["two"], "AP", queries=IDS[8:]).missing == ["q10"]


def test_ids_that_are_not_judged():
    with pytest.raises(ValueError, match=r"queries has 'q91', which is not among the 11 judged queries, nor are "
                                         "1 more; near names: 'q"):  # fmt: skip
        hc.evaluate(QRELS, RUNS["one"], "AP", queries=["q1", "q91", "x"])
    with pytest.raises(ValueError, match="queries selects none of the 11 queries"):
        hc.evaluate(QRELS, RUNS["one"], "AP", queries=[])
    with pytest.raises(ValueError, match="queries selects none"):
        hc.evaluate(QRELS, RUNS["one"], "AP", queries=lambda query: False)
    with pytest.raises(ValueError, match="gives groups to 1 query, of which none is judged, such as 'Q1'"):
        hc.evaluate(QRELS, RUNS["one"], "AP", queries={"Q1": "short"})
    for wrong in ("q1", 7, [1.5], [None]):
        with pytest.raises(TypeError, match="queries"):
            hc.evaluate(QRELS, RUNS["one"], "AP", queries=wrong)
    with pytest.raises(TypeError, match=r"queries\('q0'\) is None"):
        hc.evaluate(QRELS, RUNS["one"], "AP", queries=lambda query: None)
    with pytest.raises(ValueError, match="'all', which is the name of the row of all queries"):
        hc.evaluate(QRELS, RUNS["one"], "AP", queries={"q1": "all"})
    with pytest.raises(TypeError, match="a group must be a string"):
        hc.evaluate(QRELS, RUNS["one"], "AP", queries={"query_id": ["q1"], "group": ["short"]})
    with pytest.raises(TypeError, match=r"queries\['short'\] is .* such as {'q1': 'short'}"):
        hc.evaluate(QRELS, RUNS["one"], "AP", queries={"short": ["q1", "q2"]})
    with pytest.raises(ValueError, match="no query with a group"):
        hc.evaluate(QRELS, RUNS["one"], "AP", queries={"q1": None})


def test_strata_are_the_subsets():
    whole = evaluated()
    board = hc.Leaderboard(whole, queries=GROUPS)
    assert list(board.strata) == ["short", "long"]  # the order of the mapping
    for name, run in RUNS.items():
        assert board.means[name] == whole[name].means
        for group in ("short", "long"):
            part = hc.evaluate(QRELS, run, MEASURES, queries=[q for q in IDS if GROUPS[q] == group])
            assert board.strata[group][name] == part.means
    text = str(board).splitlines()
    assert text[0].split() == ["stratum", "queries", "system", *MEASURES]
    assert [line.split()[:3] for line in text[1:3]] == [["all", "11", "one"], ["all", "11", "two"]]
    assert [line.split()[:2] for line in text if line.startswith("short")] == [["short", "7"]] * 2
    assert text[-2].startswith("*Best* value of each measure.")
    assert text[-1] == "Missing queries count as queries without results: two 1."


def test_groups_of_an_evaluation():
    found = evaluated(queries=GROUPS)
    one = found["one"]
    assert one.groups == GROUPS
    assert one.means == evaluated()["one"].means
    assert one.by().strata == hc.Leaderboard({"one": one}).strata == evaluated()["one"].by(GROUPS).strata
    assert hc.Leaderboard(found).strata == hc.Leaderboard(evaluated(), queries=GROUPS).strata
    assert one.to_markdown().count("| short |") == 1
    assert one.to_dict()["groups"] == GROUPS
    assert "groups" not in evaluated()["one"].to_dict()
    again = pickle.loads(pickle.dumps(one))
    assert again.by().strata == one.by().strata
    other = hc.evaluate(QRELS, RUNS["two"], MEASURES, queries={"q1": "x"}, name="two")
    assert hc.Leaderboard([one, other]).strata == {}  # groups that differ
    assert one != evaluated()["one"]
    with pytest.raises(ValueError, match="one has no groups of queries"):
        evaluated()["one"].by()


def test_groups_in_files_of_values(tmp_path):
    one = evaluated(queries=GROUPS)["one"]
    again = hc.Evaluation.from_json(one.to_json())
    assert again == one
    assert again.by().strata == one.by().strata
    with pytest.raises(ValueError, match="'groups' is not an object"):
        hc.Evaluation.from_json(one.to_json().replace('"groups": {', '"groups": [], "other": {'))
    pytest.importorskip("pyarrow")
    one.to_parquet(tmp_path / "one.parquet")
    assert hc.Evaluation.from_parquet(tmp_path / "one.parquet") == one
    plain = evaluated()["one"]
    plain.to_parquet(tmp_path / "one.parquet")
    assert hc.Evaluation.from_parquet(tmp_path / "one.parquet").groups is None


def test_a_sorted_board_has_marks_in_each_stratum():
    ids = {f"q{i}": ("even" if i % 2 else "few") for i in range(15)}
    ids["q0"] = ids["q2"] = ids["q4"] = ids["q6"] = "even"
    qrels = {q: {"a": 1, "b": 0, "c": i % 2} for i, q in enumerate(ids)}
    runs = {"low": {"b": 3.0, "c": 2.0, "a": 1.0}, "high": {"a": 3.0, "b": 2.0, "c": 1.0}, "same": {"a": 3.0, "b": 2.0}}
    found = hc.evaluate(qrels, {name: dict.fromkeys(ids, run) for name, run in runs.items()}, "AP", queries=ids)
    text = str(hc.Leaderboard(found, sort="AP", letters=True, baseline="low", rng=0))
    cells = [line.split() for line in text.splitlines()]
    assert cells[0] == ["stratum", "queries", "#", "system", "AP"]
    assert [row[3] for row in cells if row and row[0] == "few"] == ["high", "same", "low"]
    assert "(exact randomization test, Holm's correction" in text
    whole, even, few = ([row for row in cells if row and row[0] == group and "high" in row]
                        for group in ("all", "even", "few"))  # fmt: skip
    assert "†" in whole[0][5] and "†" in even[0][5] and len(few[0]) == 5  # 4 queries are too few
    compared = hc.compare(found, baseline="low", rng=0, queries=ids)
    for group, part in compared.strata.items():
        assert (part.rows[0].p_holm <= 0.05) == (group == "even")
    some = hc.Leaderboard(found, queries=list(ids)[:8], sort="AP", baseline="low", rng=0)
    assert some.strata == {}
    assert "†" in str(some)


def test_queries_without_a_group():
    assert list(evaluated()["one"].by({"q1": 2.0, "q2": math.nan, "q3": 2.5}).strata) == ["2", "2.5"]
    found = evaluated()["one"].by({"q1": "x", "q2": None, "q3": math.nan, "unknown": "y"})
    assert found.strata["x"]["one"]["AP"] == evaluated()["one"]["q1"]["AP"]
    assert list(found.strata) == ["x"]


def test_frames_of_groups():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    expected = evaluated()["one"].by(GROUPS).strata
    columns = {"topic": list(GROUPS), "kind": list(GROUPS.values())}
    polars = pl.DataFrame(columns)
    frames = [pd.DataFrame(columns), polars, polars.lazy(), polars.to_arrow(),
              pd.DataFrame({"kind": columns["kind"], "qid": columns["topic"]}),
              pd.DataFrame({"kind": columns["kind"], "User ID": columns["topic"], "group": columns["kind"]}),
              pd.DataFrame({"words": 1, "group": columns["kind"], "query_id": columns["topic"]})]  # fmt: skip
    for frame in frames:
        assert evaluated()["one"].by(frame).strata == expected
    with pytest.raises(ValueError, match="queries has the columns a, b, c"):
        evaluated()["one"].by(pd.DataFrame({"a": ["q1"], "b": ["x"], "c": [1]}))
    with pytest.raises(ValueError, match="two groups for the query 'q1': 'x' and 'y'"):
        evaluated()["one"].by(pd.DataFrame({"a": ["q1", "q1"], "b": ["x", "y"]}))
    series = pd.Series(SHORT)
    assert hc.evaluate(QRELS, RUNS["one"], "AP", queries=series).query_ids == sorted(SHORT)
    frame = hc.Leaderboard(evaluated(), queries=GROUPS).to_pandas()
    assert frame.columns.tolist() == ["stratum", "queries", "system", *MEASURES]
    assert frame["stratum"].tolist() == ["all", "all", "short", "short", "long", "long"]
    assert frame["queries"].tolist() == [11, 11, 7, 7, 4, 4]


def test_a_relation_of_duckdb_has_groups():
    duckdb, pa = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")
    table = pa.table({"qid": list(GROUPS), "kind": list(GROUPS.values())})
    with duckdb.connect() as connection:
        assert evaluated()["one"].by(connection.from_arrow(table)).strata == evaluated()["one"].by(GROUPS).strata


def test_a_function_is_called_once_for_each_query():
    asked = []
    found = evaluated()
    chosen = hc.Leaderboard(found, queries=lambda query: asked.append(query) is None).means
    assert (chosen, asked) == (hc.Leaderboard(found).means, found["one"].query_ids)
    asked.clear()
    hc.compare(found, queries=lambda query: asked.append(query) is None, n_resamples=9, measures=["AP", "nDCG@10"])
    assert asked == found["one"].query_ids


def test_whole_numbers_are_ids():
    qrels, run = {1: {"a": 1}, 2: {"a": 1}}, {1: {"a": 1.0}, 2: {"b": 1.0}}
    assert hc.evaluate(qrels, run, "AP", queries=[1]).query_ids == ["1"]
    assert hc.evaluate(qrels, run, "AP", queries=np.array([2])).query_ids == ["2"]
    assert hc.evaluate(qrels, run, "AP", queries={1: 3, 2: 4}).by().strata == {
        "3": {"run": {"AP": 1.0}}, "4": {"run": {"AP": 0.0}}}  # fmt: skip
    listed = hc.evaluate([[7], [8], [9]], [[7], [9], [9]], "P@1", queries=[2, 1])
    assert listed.query_ids == ["1", "2"]


def test_an_evaluator_with_queries_is_pickled():
    for queries in (SHORT, lambda query: query in SHORT, GROUPS):
        one = hc.Evaluator(QRELS, MEASURES, queries=queries)
        again = pickle.loads(pickle.dumps(one))
        same(one.evaluate(RUNS["one"]), again.evaluate(RUNS["one"]))
        assert one.evaluate(RUNS["one"]).groups == again.evaluate(RUNS["one"]).groups


def test_leaderboard_of_a_subset():
    board = hc.Leaderboard(evaluated(), queries=SHORT)
    assert board.means == {n: one.means for n, one in evaluated(queries=SHORT).items()}
    assert "7 queries" in str(board)
    with pytest.raises(ValueError, match="queries has 'q99'"):
        hc.Leaderboard(evaluated(), queries=["q99"])


@pytest.mark.parametrize("of", ["evaluations", "curves", "arrays"])
def test_compare_strata(of):
    whole = evaluated()
    ids, measures = IDS, ["AP", "nDCG@10"]
    if of == "curves":
        whole, measures = {name: one.curves(1) for name, one in whole.items()}, ["AP"]
    if of == "arrays":
        order = whole["one"].query_ids
        whole, measures = {name: one.values["AP"] for name, one in whole.items()}, ["AP"]
        ids = list(range(11))
        groups = {at: GROUPS[q] for at, q in enumerate(order)}
    else:
        groups = GROUPS
    found = hc.compare(whole, measures=measures, queries=groups, rng=0, n_resamples=99)
    assert found.rows == hc.compare(whole, measures=measures, rng=0, n_resamples=99).rows
    for group in ("short", "long"):
        part = hc.compare(whole, measures=measures, rng=0, n_resamples=99,
                          queries=[one for one in ids if groups[one] == group])  # fmt: skip
        assert found.strata[group].rows == part.rows
        assert found.strata[group].systems == part.systems
    text = str(found)
    assert "11 queries (" in text
    assert "short: 7" in text
    assert "p (Holm) is corrected for the pairs of a measure in a stratum." in text
    with pytest.raises(ValueError, match="layout='wide' has no strata"):
        found.to_latex("wide")
    assert found.strata["short"].to_latex("wide")


def test_frames_of_a_comparison_with_strata():
    pytest.importorskip("pandas")
    found = hc.compare(evaluated(), measures="AP", queries=GROUPS, rng=0, n_resamples=99)
    assert found.to_pandas()["stratum"].tolist() == ["all", "short", "long"]
    assert found.to_pandas("systems")["stratum"].tolist() == ["all", "all", "short", "short", "long", "long"]
    assert "stratum" not in hc.compare(evaluated(), measures="AP", rng=0, n_resamples=99).to_pandas().columns
    assert pickle.loads(pickle.dumps(found)).strata["short"].rows == found.strata["short"].rows


def users(library, ids):
    """The ids as users hold them, each beside the other things that a user may hold."""
    if library == "pandas":
        pd = pytest.importorskip("pandas")
        return {"index": pd.Index(ids), "series": pd.Series(ids), "array": pd.array(ids)}
    return {"list": ids, "set": set(ids), "tuple": tuple(ids), "array": np.array(ids), "dict": dict.fromkeys(ids)}


@pytest.mark.parametrize("library", ["pandas", "plain"])
def test_groups_that_hold_their_ids_are_told_to_turn_round(library):
    """An index of pandas was no group at all: "queries has no query with a group"."""
    for ids in users(library, [1, 2]).values():
        with pytest.raises(TypeError, match=r"(?s)^queries\['cold'\] is .*turn it round, {one: group for group, ids"):
            hc.Leaderboard(evaluated(), queries={"cold": ids})


def test_a_series_of_groups_is_no_list_of_ids():
    """Its values are taken, so the error says how the index gives what is meant."""
    pd = pytest.importorskip("pandas")
    whole = {str(at): {"a": 1} for at in range(10)}
    found = hc.evaluate(whole, {query: {"a": 1.0} for query in whole}, "AP", name="one")
    number = pd.Series(range(10), index=range(10))
    groups = number.map(lambda one: "few" if one < 4 else "many")
    for series in (groups, number < 4, pd.cut(number, 2)):
        with pytest.raises((TypeError, ValueError), match=r"its to_dict\(\) gives .* series\.index\[series\]"):
            hc.Leaderboard([found], queries=series)
    assert list(hc.Leaderboard([found], queries=groups.to_dict()).strata) == ["few", "many"]
    assert list(hc.Leaderboard([found], queries=pd.cut(number, 2).to_dict()).strata) == ["(-0.009, 4.5]", "(4.5, 9.0]"]
    assert str(hc.Leaderboard([found], queries=number.index[number < 4])).endswith("4 queries.")
    assert str(hc.Leaderboard([found], queries=number[number < 4])).endswith("4 queries.")  # a column of ids
    with pytest.raises(ValueError, match="queries has '10', which is not among the 10 judged queries; near names: "):
        hc.Leaderboard([found], queries=[10])


def test_a_function_is_told_that_ids_are_strings():
    whole = {at: {"a": 1} for at in range(10)}
    for queries, problem in ((lambda one: one < 3, r"queries\('0'\): '<' not .* is given each id as a string"),
                             (lambda one: one in {1, 2}, r"none of the 10 queries, whose ids are str.* as '0'$")):
        with pytest.raises((TypeError, ValueError), match=problem):
            hc.evaluate(whole, whole, "AP", queries=queries)
    with pytest.raises(TypeError, match="unsupported"):  # numbered queries of curves are numbers
        hc.compare({"a": [0.5, 1.0], "b": [0.25, 0.5]}, queries=lambda one: one + "")


def test_values_of_a_query_by_its_number():
    found = hc.evaluate({7: {"a": 1}, 8: {"b": 1}}, {7: {"a": 1.0}}, ["AP", "P@1"])
    assert found[7] == found["7"] == found[np.int64(7)] == {"AP": 1.0, "P@1": 1.0}
    problem = r"77 is neither a measure nor a query .*; near names: '7'; its measures are 'AP', 'P@1'"
    with pytest.raises(KeyError, match=problem):
        found[77]
    for name in (True, 7.0, "P@3"):
        with pytest.raises(KeyError, match=f"{name!r} is neither"):
            found[name]
