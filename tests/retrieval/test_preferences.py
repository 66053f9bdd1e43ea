"""Judgments with judgment groups: preferences, and means over groups, as trec_eval 10 has them."""

import importlib
import pickle
from collections import namedtuple
from fractions import Fraction
from importlib.util import find_spec
from itertools import chain, pairwise

import numpy as np
import pytest
import reference
from examples import few
from hypothesis import given
from hypothesis import strategies as st

import hitcurve as hc
from hitcurve.cli.main import main
from hitcurve.measures import parse

TWINS = {
    "Pref": reference.preference, "PairPref": reference.pair_preference, "GroupPref": reference.group_preference,
    "GroupPrefR": reference.group_preference_r, "NumPref": reference.number_of_preferences,
    "NumPrefMet": reference.fulfilled_preferences,
}  # fmt: skip
NAMES = [
    *(f"{name}{pairs}" for name in ("Pref", "PairPref", "GroupPref") for pairs in ("", "(pairs=any)", "(pairs=both)")),
    "GroupPrefR", "GroupPrefR(pairs=both)", "NumPref", "NumPrefMet", "NumPrefMet(pairs=both)",
]  # fmt: skip
# Two users of the same four documents: they agree on a and d, and not on b and c. The second compares two pairs alone.
USERS = {"q": {"u1": {"all": {"a": 2, "b": 1, "c": 0, "d": 0}}, "u2": {"s1": {"a": 3, "d": 1}, "s2": {"c": 2, "b": 1}}}}


def preferences(judgments):
    return hc.read_qrels(judgments, format="prefs")


# --- trec_eval's own numbers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "form", "asked", "qrels", "run"),
    [
        ("out.test.prefs", "prefs", "all_prefs", "prefs.test", "prefs.results.test"),
        ("out.test.prefs", "prefs", "all_prefs", "prefs.comment.test", "prefs.results.test"),
        ("out.test.qrels_prefs", "qrels_prefs", "all_prefs", "qrels.test", "results.test"),
        ("out.test.qrels_jg", "qrels_jg", "qrels_jg", "qrels.123", "results.test"),
        ("out.test.qrels_jg", "qrels_jg", "qrels_jg", "qrels.comments.123", "results.test"),
    ],
)
def test_its_own_regression_outputs(shared_data, capsys, output, form, asked, qrels, run):
    folder = shared_data / "trec_eval_suite" / "test"
    files = [str(folder / qrels), str(folder / run)]
    assert main(["trec", *files, "-R", form, "-m", asked, "-q", "--format", "trec"]) == 0
    assert capsys.readouterr().out == (folder / output).read_text(encoding="utf-8")


def test_names_of_trec_eval():
    for name, ours in (
        ("prefs_simp", "Pref"), ("prefs_simp_imp", "Pref(pairs=any)"), ("prefs_simp_ret", "Pref(pairs=both)"),
        ("prefs_pair_ret", "PairPref(pairs=both)"), ("prefs_avgjg_imp", "GroupPref(pairs=any)"),
        ("prefs_avgjg_Rnonrel_ret", "GroupPrefR(pairs=both)"), ("prefs_num_prefs_poss", "NumPref"),
        ("prefs_num_prefs_ful_ret", "NumPrefMet(pairs=both)"), ("map_avgjg", "AP"), ("P_avgjg_10", "P@10"),
        ("Rprec_mult_avgjg_0.20", "RprecMult(0.2)"), ("Pref(pairs=all)", "Pref"),
    ):  # fmt: skip
        assert parse(name).name == ours


# --- the twin ---------------------------------------------------------------------------------------------------------


@st.composite
def worlds(draw):
    """(tied retrieved documents, groups of subgroups). The levels of a group rise with hidden levels, so no circles."""
    docs = draw(st.permutations("abcdef"))
    groups = []
    for _ in range(draw(st.integers(1, 3))):
        hidden = {doc: draw(st.integers(-2, 3)) for doc in docs}
        subgroups = draw(st.lists(st.sets(st.sampled_from("abcdef"), min_size=1), min_size=1, max_size=3))
        groups.append([{doc: hidden[doc] * factor for doc in sorted(some)}
                       for some, factor in zip(subgroups, (1, 2.5, 0.5), strict=False)])  # fmt: skip
    sizes = draw(st.lists(st.integers(1, 3), max_size=3))
    places = [0, *np.cumsum(sizes).tolist()]
    tied = [docs[start:stop] for start, stop in pairwise(places)]
    return [group for group in tied if group], groups


def circle(tied, groups):
    """Whether the preferences of all groups between tied documents form a circle."""
    pairs = set().union(*map(reference.preferences_of, groups))
    for group in tied:
        within = [{a: 1, b: 0} for a, b in pairs if {a, b} <= {*group}]
        if any(a == b for a, b in reference.preferences_of(within)):
            return True
    return False


def nested(groups):
    return {"q": {f"u{g}": {f"s{i}": levels for i, levels in enumerate(group)} for g, group in enumerate(groups)}}


@few(10)
@given(worlds())
def test_any_judgments_have_the_numbers_of_the_twin(world):
    tied, groups = world
    judgments = preferences(nested(groups))
    scores = {doc: -float(place) for place, group in enumerate(tied) for doc in group}
    run = {"q": {"unjudged": 0.5, "another": -0.5, **scores}}
    judged = {doc for group in groups for levels in group for doc in levels}
    tied = [[doc for doc in group if doc in judged] for group in tied]
    ranked = list(chain.from_iterable(map(sorted, tied)))  # of equal scores the smaller id first
    for name in NAMES:
        measure = parse(name)
        twin, options = TWINS[measure.record.name], dict(measure.keywords)
        if options and measure.record.name in ("NumPrefMet", "GroupPrefR"):
            assert options == {"pairs": "both"}
        found = hc.evaluate(judgments, run, name)[name]
        assert found == pytest.approx(float(twin(ranked, groups, **options)), rel=1e-14), name
        for ties in ("worst", "expected", "best"):
            try:
                found = hc.evaluate(judgments, run, name, ties=ties)[name]
            except ValueError as error:
                assert f"{name}: the value for ties='{ties}' of query 'q' cannot be computed" in str(error)
                partial = any(len(group) > 1 for group in groups)
                assert (ties != "expected" and circle(tied, groups)) or ("GroupPrefR" in name and partial)
                continue
            wanted = reference.over_orders_of_documents(tied, groups, twin, ties, **options)
            assert found == pytest.approx(float(wanted), rel=1e-13), (name, ties)


def test_a_large_partial_order():
    """Closing the order of many documents, and counting it, gives what the definition gives."""
    rng = np.random.default_rng(3)
    hidden = rng.integers(0, 40, 90)
    group = [{f"d{i}": int(hidden[i]) for i in rng.choice(90, 5, replace=False)} for _ in range(40)]
    order = [f"d{i}" for i in rng.permutation(90)[:70]]
    run = {"q": {doc: -float(rank) for rank, doc in enumerate(order)}}
    found = hc.evaluate(preferences(nested([group])), run, NAMES)
    pairs = reference.preferences_of(group)
    known = {doc for levels in group for doc in levels}
    assert found["NumPref"] == len(pairs) > 500
    assert len(known) > 64
    assert found["NumPrefMet"] == sum(reference.counted(order, pairs, "all"))
    assert found["NumPrefMet(pairs=both)"] == sum(reference.counted(order, pairs, "both"))


def test_many_documents_need_no_table_of_pairs():
    n = 100_000
    rng = np.random.default_rng(5)
    level = rng.integers(0, 50, n)
    docs = [f"d{i:06d}" for i in range(n)]
    judgments = hc.read_qrels({"q": {"u": dict(zip(docs, level.tolist(), strict=True))}}, format="qrels_prefs")
    best = {"q": {doc: float(one) for doc, one in zip(docs, level, strict=True)}}
    number = (n * n - int((np.bincount(level) ** 2).sum())) // 2
    found = hc.evaluate(judgments, best, ["NumPref", "NumPrefMet", "Pref", "PairPref", "GroupPref"])
    assert [*found.means.values()] == [number, number, 1.0, 1.0, 1.0]
    tied = {"q": dict.fromkeys(docs[:3000], 1.0)}
    judgments = hc.read_qrels({"q": {"u": dict(zip(docs[:3000], level.tolist(), strict=False))}}, format="qrels_prefs")
    number = (3000**2 - int((np.bincount(level[:3000]) ** 2).sum())) // 2
    assert hc.evaluate(judgments, tied, "NumPrefMet", ties="expected")["NumPrefMet"] == number / 2
    assert hc.evaluate(judgments, tied, "Pref", ties="best")["Pref"] == 1.0


# --- by hand ----------------------------------------------------------------------------------------------------------


def test_preferences_of_two_users():
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    found = hc.evaluate(preferences(USERS), run, NAMES)
    # u1: a > b, a > c, a > d, b > c, b > d. u2: a > d, c > b. d was not retrieved. Only c > b is not fulfilled.
    assert found["NumPref"] == 7
    assert found["NumPrefMet"] == 6
    assert found["NumPrefMet(pairs=both)"] == 3
    assert found["Pref"] == 6 / 7
    assert found["Pref(pairs=both)"] == 3 / 4
    # The pairs are ab, ac, ad, bc, bd. Of bc the users disagree.
    assert found["PairPref"] == 4.5 / 5
    assert found["PairPref(pairs=both)"] == 2.5 / 3
    assert found["GroupPref"] == (1 + 1 / 2) / 2
    assert found["prefs_avgjg"] == found["GroupPref"]


def test_pairs_of_which_no_document_was_retrieved():
    judgments = preferences({"q": {"u": {"s": {"a": 2, "b": 1, "c": 0}}}})
    found = hc.evaluate(judgments, {"q": {"c": 1.0}}, NAMES)
    assert (found["NumPref"], found["Pref"], found["Pref(pairs=any)"], found["Pref(pairs=both)"]) == (3, 0, 0, 0)
    found = hc.evaluate(judgments, {"q": {"a": 1.0}}, NAMES)
    assert (found["Pref"], found["Pref(pairs=any)"], found["Pref(pairs=both)"]) == (2 / 3, 1, 0)


def test_preferences_follow_from_others():
    judgments = preferences({"q": {"u": {"s1": {"a": 3, "b": 2, "c": 1}, "s2": {"b": 5, "d": 4}}}})
    assert hc.evaluate(judgments, {"q": {"a": 1.0}}, "NumPref")["NumPref"] == 5  # a > d too, but not c and d


def test_tied_documents():
    judgments = preferences({"q": {"u": {"s": {"a": 1, "b": 0}}}})
    run = {"q": {"a": 1.0, "b": 1.0}}
    found = {ties: hc.evaluate(judgments, run, "Pref", ties=ties)["Pref"] for ties in ("worst", "expected", "best")}
    assert found == {"worst": 0.0, "expected": 0.5, "best": 1.0}
    band = hc.evaluate(judgments, run, "Pref").tie_report()["Pref"]
    assert (band.worst, band.expected, band.best, band.value) == (0.0, 0.5, 1.0, 1.0)


def test_the_smaller_id_ranks_first_and_for_other_measures_the_greater():
    """trec_eval compares ids one way in form_res_rels.c, and the other way in form_prefs_counts.c."""
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}
    found = hc.evaluate(qrels, run, ["Pref", "RR"])
    assert (found["Pref"], found["RR"]) == (1.0, 0.5)
    assert "the smaller id ranks first" in found.definitions["Pref"]
    assert "the greater id ranks first" in found.definitions["RR"]
    assert hc.evaluate(qrels, run, "Pref", rank_by="listed")["Pref"] == 1.0
    assert hc.evaluate(qrels, {"q": {"b": 1.0, "a": 1.0}}, "Pref", rank_by="listed")["Pref"] == 0.0


def test_depth_counts_documents_without_a_judgment():
    run = {"q": {"a": 9.0, "x": 5.0, "b": 4.0, "c": 3.0}}
    judgments = preferences({"q": {"u": {"s": {"a": 2, "b": 1, "c": 0}}}})
    for depth, met in ((1, 0), (2, 0), (3, 1), (4, 3)):
        name = "NumPrefMet(pairs=both)"
        assert hc.evaluate(judgments, run, name, depth=depth)[name] == met


def test_levels_are_the_preferences_of_one_group():
    levels = {"a": 2, "b": 1, "c": 0, "e": 1}
    run = {"q": {"c": 3.0, "a": 2.0, "x": 1.5, "b": 1.0}}
    grouped = hc.read_qrels({"q": {"u": levels}}, format="qrels_prefs")
    for ties in ("docid", "expected", "worst", "best"):
        found = [hc.evaluate(one, run, NAMES, ties=ties).means for one in ({"q": levels}, grouped)]
        assert found[0] == found[1]


def test_where_trec_eval_counts_more():
    """GroupPrefR: what the code of trec_eval counts, and its description of the measure does not say."""
    def value(levels, run, name="GroupPrefR"):
        judgments = hc.read_qrels({"q": {"u": levels}}, format="qrels_prefs")
        return hc.evaluate(judgments, {"q": {doc: -float(rank) for rank, doc in enumerate(run)}}, name)[name]

    # 1 relevant document, 2 others: only the first of the others counts. The program also counts the two others against
    # that first document: 2 preferences more, of which none is fulfilled.
    assert value({"a": 1, "b": 0, "c": 0}, "abc") == 1 / 3
    # A group without a preference makes the value of the query 0: the program adds 0 / 0.
    groups = {"u1": {"a": 1, "b": 0}, "u2": {"c": 0, "d": 0}}
    judgments = hc.read_qrels({"q": groups}, format="qrels_prefs")
    found = hc.evaluate(judgments, {"q": {"a": 1.0}}, ["GroupPref", "GroupPrefR"])
    assert (found["GroupPref"], found["GroupPrefR"]) == (0.5, 0.0)
    # Of two retrieved documents: 2 relevant documents, 1 of them retrieved, no other. 1 document is added for the one
    # that was retrieved, and counts for both.
    assert value({"a": 1, "b": 1}, "a", "GroupPrefR(pairs=both)") == 1 / 2


# --- bounds -----------------------------------------------------------------------------------------------------------


def test_groups_that_disagree_on_tied_documents_have_no_bounds():
    judgments = preferences({"q": {"u": {"s": {"a": 1, "b": 0}}, "v": {"s": {"b": 1, "a": 0}}}})
    run = {"q": {"a": 1.0, "b": 1.0}}
    assert hc.evaluate(judgments, run, "Pref", ties="expected")["Pref"] == 0.5
    for ties in ("best", "worst"):
        with pytest.raises(ValueError, match=f"Pref: the value for ties='{ties}' of query 'q' cannot be computed"):
            hc.evaluate(judgments, run, "Pref", ties=ties)
    found = hc.evaluate(judgments, run, ["Pref", "NumPrefMet"])
    for name in ("Pref", "NumPrefMet"):
        band = found.tie_report()[name]
        assert np.isnan([band.worst, band.best]).all()
        assert band.expected == found[name]
    # In an order of scores they have a value.
    assert hc.evaluate(judgments, {"q": {"a": 2.0, "b": 1.0}}, "Pref", ties="best")["Pref"] == 0.5


# --- means over groups ------------------------------------------------------------------------------------------------


GROUPS = {"q1": {"u1": {"a": 2, "b": 0, "c": 1}, "u2": {"b": 1, "z": 1}}, "q2": {"u1": {"a": 1}}, "q3": {"u": {"a": 0}}}
RUN = {"q1": {"a": 3.0, "b": 3.0, "c": 2.0, "x": 1.0}, "q2": {"b": 2.0, "a": 1.0}}


@pytest.mark.parametrize("ties", ["docid", "expected"])
def test_measures_of_levels_are_means_over_groups(ties):
    names = ["AP", "P@2", "nDCG@3", "Bpref", "RprecMult(0.2)", "Judged@2", "NumRelRet"]
    for options in ({}, {"judged_only": True}, {"relevance_level": 2}):
        found = hc.evaluate(hc.read_qrels(GROUPS, format="qrels_jg"), RUN, names, ties=ties, **options)
        assert found.query_ids == ["q1", "q2", "q3"]
        assert found.missing == ["q3"]
        for name in names:
            assert found["q3"][name] == 0
            for query in RUN:
                each = [hc.evaluate({query: levels}, {query: RUN[query]}, name, ties=ties, **options)[name]
                        for levels in GROUPS[query].values()]  # fmt: skip
                assert found[query][name] == sum(each) / len(each), (name, query)


def test_queries_without_a_relevant_document_of_any_group():
    judgments = hc.read_qrels(GROUPS, format="qrels_jg")
    found = hc.evaluate(judgments, RUN, ["AP", "Pref"], empty="skip")
    assert np.isnan(found.values["AP"]).tolist() == [False, False, True]
    assert np.isnan(found.values["Pref"]).tolist() == [False, True, True]  # a single document has no preference
    assert found.counts["empty"] == 1
    with pytest.raises(ValueError, match="Pref: qrels has no relevant document for queries 'q2', 'q3'"):
        hc.evaluate(judgments, RUN, "Pref", empty="raise")


def test_the_mean_over_groups_has_no_bounds():
    judgments = hc.read_qrels(GROUPS, format="qrels_jg")
    with pytest.raises(ValueError, match="AP: qrels has several judgment groups, and their best orders differ"):
        hc.evaluate(judgments, RUN, "AP", ties="best")
    band = hc.evaluate(judgments, RUN, ["AP", "Pref"]).tie_report()
    assert np.isnan([band["AP"].worst, band["AP"].best]).all()
    assert band["AP"].expected == hc.evaluate(judgments, RUN, "AP", ties="expected")["AP"]
    assert band["Pref"].worst <= band["Pref"].expected <= band["Pref"].best
    alone = hc.read_qrels({"q2": GROUPS["q2"]}, format="qrels_jg")
    assert hc.evaluate(alone, RUN, "AP", ties="best")["AP"] == 0.5


def test_levels_of_subgroups_cannot_be_averaged():
    with pytest.raises(ValueError, match="a group has several subgroups, whose levels cannot be compared"):
        hc.evaluate(preferences(USERS), {"q": {"a": 1.0}}, ["Pref", "AP"])
    with pytest.raises(ValueError, match=r"a level is 0\.5, but only measures of preferences"):
        hc.evaluate(hc.read_qrels({"q": {"u": {"a": 0.5}}}, format="qrels_prefs"), {"q": {"a": 1.0}}, "AP")
    assert hc.evaluate(preferences(USERS), {"q": {"a": 1.0}}, "NumQ")["NumQ"] == 1


# --- readers ----------------------------------------------------------------------------------------------------------


def written(tmp_path, text, name="judged"):
    path = tmp_path / name
    path.write_bytes(text.encode())
    return path


def test_files_and_dicts_are_the_same(tmp_path):
    text = "".join(f"{query}\t{group} {sub}  {doc} {level}\r\n" for query, groups in USERS.items()
                   for group, subs in groups.items() for sub, levels in subs.items()
                   for doc, level in levels.items())  # fmt: skip
    path = written(tmp_path, f"\ufeff# judgments\n\n  # more\n{text}")
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    wanted = hc.evaluate(preferences(USERS), run, NAMES).means
    judgments = hc.read_qrels(path, format="prefs")
    assert repr(judgments) == f"JudgmentGroups({str(path)!r}: 1 query, 2 groups, 8 judgments)"
    assert hc.evaluate(judgments, run, NAMES).means == wanted
    lines = text.split("\n")
    order = np.random.default_rng(1).permutation(len(lines))
    shuffled = written(tmp_path, "\n".join(lines[i] for i in order if lines[i]))
    assert hc.evaluate(hc.read_qrels(str(shuffled), format="prefs"), run, NAMES).means == wanted
    file = written(tmp_path, "".join(f"q Q0 {doc} 0 {score} tag\n" for doc, score in run["q"].items()), "run")
    assert hc.evaluate(judgments, file, NAMES).means == wanted
    frame = {"query_id": ["q"] * 3, "doc_id": ["a", "b", "c"], "score": [3.0, 2.0, 1.0]}
    assert hc.evaluate(judgments, hc.read_run(frame), NAMES).means == wanted
    several = hc.Evaluator(judgments, NAMES, workers=2).evaluate([file, run])
    assert [one.means for one in several] == [wanted, wanted]


COLUMNS = {"query_id": ["q", "q", "r", "q", "q"], "group": ["u", "v", "u", "u", "v"],
           "subgroup": ["s", "s", "s", "t", "s"], "doc_id": ["a", "a", "b", "b", "c"],
           "relevance": [2, 1, 1, 1, 3]}  # fmt: skip


def table(form):
    return {name: column for name, column in COLUMNS.items() if form == "prefs" or name != "subgroup"}


def frames(form, tmp_path):
    """The judgments of `COLUMNS` in every container, by its name."""
    columns = table(form)
    yield "lists", columns
    yield "arrays", {name: np.array(column) for name, column in columns.items()}
    yield "tuple", tuple(columns.values())
    row = namedtuple("row", columns)
    yield "named tuples", [row(*one) for one in zip(*columns.values(), strict=True)]
    yield "iterator", (row(*one) for one in zip(*columns.values(), strict=True))
    lines = [",".join(columns), *(",".join(map(str, one)) for one in zip(*columns.values(), strict=True))]
    yield "csv", written(tmp_path, "# from a sheet\n" + "\r\n".join(lines), "judged.csv")
    yield "tsv", str(written(tmp_path, "\n".join(lines).replace(",", "\t"), "judged"))
    pd, pl, pa = (find_spec(name) and importlib.import_module(name) for name in ("pandas", "polars", "pyarrow"))
    if pd:
        yield "pandas", pd.DataFrame(columns)
        yield "categories", pd.DataFrame(columns).astype({"query_id": "category", "group": "category"})
    if pl:
        yield "polars", pl.DataFrame(columns)
        yield "lazy", pl.LazyFrame(columns)
    if pa:
        yield "pyarrow", pa.table(columns)
        importlib.import_module("pyarrow.parquet").write_table(pa.table(columns), tmp_path / "judged.parquet")
        yield "parquet", tmp_path / "judged.parquet"


@pytest.mark.parametrize("form", ["prefs", "qrels_prefs", "qrels_jg"])
def test_frames_are_the_same_as_lines(tmp_path, form):
    text = "".join(" ".join(map(str, one)) + "\n" for one in zip(*table(form).values(), strict=True))
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}, "r": {"b": 1.0}}
    names = NAMES if form == "prefs" else [*NAMES, "AP", "nDCG"]
    wanted = hc.evaluate(hc.read_qrels(written(tmp_path, text), format=form), run, names).means
    for kind, source in frames(form, tmp_path):
        assert hc.evaluate(hc.read_qrels(source, format=form), run, names).means == wanted, kind
    renamed = dict(zip(("qid", "jg", "docno", "label"), map(table("qrels_jg").get, (
        "query_id", "group", "doc_id", "relevance")), strict=True))  # fmt: skip
    if form == "qrels_jg":
        assert hc.evaluate(hc.read_qrels(renamed, format=form), run, names).means == wanted


def test_judgments_that_were_read_keep_their_format():
    judgments = hc.read_qrels(COLUMNS, format="prefs")
    assert hc.read_qrels(judgments) is hc.read_qrels(judgments, format="prefs") is judgments
    with pytest.raises(ValueError, match="qrels was read with format='prefs', not 'qrels_jg'"):
        hc.read_qrels(judgments, format="qrels_jg")


def test_json(tmp_path):
    text = '{"q": {"u": {"a": 2, "b": 1}, "v": {"b": 0.5}}}'
    path = written(tmp_path, text, "judged.json")
    for source in (text, path, str(written(tmp_path, "\n" + text))):
        assert "1 query, 2 groups, 3 judgments" in repr(hc.read_qrels(source, format="qrels_prefs"))
    with pytest.raises(ValueError, match=r"judged\.json: the relevance of document 'b' of .*, group 'v' is 0\.5: it"):
        hc.read_qrels(path, format="qrels_jg")


def test_whole_ids_are_texts(tmp_path):
    judgments = hc.read_qrels({1: {2: {10: 1, 9: 0}}}, format="qrels_jg")
    for run in ({"1": {"9": 1.0, "10": 2.0}}, (np.array([1, 1]), np.array([9, 10]), np.array([1.0, 2.0]))):
        assert hc.evaluate(judgments, run, ["Pref", "AP"]).means == {"Pref": 1.0, "AP": 1.0}


@pytest.mark.parametrize(
    ("form", "text", "problem"),
    [
        ("prefs", "q u a 1\n", "line 1: the line has 4 columns, but a line of prefs has 5 (query, group, subgroup, "
                               "document, relevance): 'q u a 1'"),
        ("qrels_prefs", "# x\nq u s a 1\n", "line 2: the line has 5 columns, but a line of qrels_prefs has 4"),
        ("qrels_jg", "q u a 1\nq u b 1.5\n", "line 2: the relevance '1.5' is not a whole number from -1000000000 to "
                                            "1000000000: 'q u b 1.5'"),
        ("qrels_jg", "q u a 1000000001\n", "line 1: the relevance '1000000001' is not a whole number"),
        ("qrels_prefs", "q u a x\n", "line 1: the relevance 'x' is not a number: 'q u a x'"),
        ("qrels_prefs", "q u a nan\n", "line 1: the relevance 'nan' is not a number"),
        ("qrels_prefs", "q u a 1_0\n", "line 1: the relevance '1_0' is not a number"),
        ("qrels_prefs", "q u a 1e999\n", "line 1: the relevance '1e999' is not a number"),
        ("prefs", "q u s a 1\nq u t a 2\nq u s a 1\n", "line 3: document 'a' occurs twice in query 'q', group 'u', "
                                                      "subgroup 's', first in line 1"),
        ("qrels_jg", "q u a 1\nq u a 2\n", "line 2: document 'a' occurs twice in query 'q', group 'u', first in line"),
        ("prefs", "q u s a 1\nq u t a 0\n", "line 2: document 'a' has level 0 here, but a level above 0 in another "
                                           "subgroup of query 'q', group 'u'"),
        ("prefs", "q u s a 2\nq u s b 1\nq u t b 2\nq u t a 1\n", "the preferences of query 'q', group 'u' form "
                                                                "a circle: document 'a' would be preferred to itself"),
        ("prefs", "# nothing\n\n", "there are no judgments"),
        ("prefs", "q,u,s,a,1\n", "line 1: the line has 1 column, but a line of prefs has 5 (query, group, subgroup, "
                                 "document, relevance): 'q,u,s,a,1'; a text with commas needs a header with the "
                                 "columns query_id, group, subgroup, doc_id, relevance"),
        ("qrels_jg", "query_id,group,doc_id,relevance\nq,u,a,x\n", "line 2: the relevance is 'x': it must be a num"),
        ("qrels_jg", "query_id,group,doc_id,relevance\nq,u,a\n", "line 2: the row has 3 columns, but the header ha"),
    ],
)  # fmt: skip
def test_bad_lines(tmp_path, form, text, problem):
    path = written(tmp_path, text)
    with pytest.raises(ValueError) as caught:
        hc.read_qrels(path, format=form)
    assert str(caught.value).startswith(f"{path}")
    assert problem in str(caught.value)


def test_lenient_reading_takes_the_number_at_the_beginning(tmp_path):
    path = written(tmp_path, "q u a 2.5x\nq u b y\nq u c 1\n")
    with pytest.warns(UserWarning, match="2 relevances other than a number: .* first in line 1"):
        judgments = hc.read_qrels(path, format="qrels_prefs", strict=False)
    found = hc.evaluate(judgments, {"q": {"a": 3.0, "c": 2.0, "b": 1.0}}, "NumPrefMet")
    assert found["NumPrefMet"] == 3
    assert len(found.notes) == 1


@pytest.mark.parametrize(
    ("source", "form", "kind", "problem"),
    [
        ({"q": {"u": {"a": 1}}}, "prefs", TypeError, "query 'q', group 'u', subgroup 'a' holds int"),
        ({"q": {"a": 1}}, "qrels_prefs", TypeError, "query 'q', group 'a' holds int"),
        ({"q": {"u": {"a": "x"}}}, "qrels_prefs", TypeError, "relevance of document 'a' of query 'q', group 'u' is"),
        ({"q": {"u": {"a": float("nan")}}}, "qrels_prefs", ValueError, "is nan: it must be a finite number"),
        ({"q": {"u": {"a": 0.5}}}, "qrels_jg", ValueError, "is 0.5: it must be a whole number"),
        ({"q": {1.5: {"a": 1}}}, "qrels_jg", TypeError, "the id of a group is 1.5"),
        ({}, "qrels_jg", ValueError, "there are no judgments"),
        ([1], "qrels_jg", TypeError, "qrels is a list: format='qrels_jg' takes a path, nested dicts or a frame with "
                                     "the columns query_id, group, doc_id, relevance"),
        ({"q": {"u": {"a": 10**400}}}, "qrels_prefs", ValueError, "is inf: it must be a finite number"),
        ({"q": {"u": {"a": -10**10}}}, "qrels_jg", ValueError, "is -10000000000: it must be a whole number from"),
    ],
)
def test_bad_dicts(source, form, kind, problem):
    with pytest.raises(kind) as caught:
        hc.read_qrels(source, format=form)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("changed", "form", "kind", "problem"),
    [
        ({"relevance": [2, 1, 1, "x", 1]}, "qrels_jg", ValueError,
         "qrels: the relevance in row 3 is 'x': it must be a number (query 'q', document 'b')"),
        ({"relevance": [2, 1, 1, 0.5, 1]}, "qrels_jg", ValueError,
         "qrels: the relevance in row 3 (query 'q', document 'b') is 0.5: it must be a whole number from -1000000000"),
        ({"relevance": [2, 1, 1, -1e10, 1]}, "qrels_jg", ValueError, "is -10000000000: it must be a whole number from"),
        ({"relevance": np.array([2, np.nan, 1, 1, 1])}, "qrels_prefs", ValueError,
         "row 1 (query 'q', document 'a') is nan: it must be a finite number"),
        ({"relevance": [2, None, 1, 1, 1]}, "qrels_prefs", ValueError, "qrels: column 'relevance' is empty in row 1"),
        ({"group": ["u", None, "u", "u", "v"]}, "qrels_prefs", ValueError, "qrels: column 'group' is empty in row 1"),
        ({"group": ["u", 7, "u", "u", "v"]}, "qrels_prefs", TypeError, "qrels: the group id in row 1 is 7, after 'u'"),
        ({"subgroup": ["s", 1.5, "s", "t", "s"]}, "prefs", TypeError,
         "qrels: the subgroup id in row 1 is 1.5: ids are strings or whole numbers"),
        ({"doc_id": ["a", "a", "b", "\ud800", "c"]}, "prefs", ValueError,
         "qrels: the id of a document is '\\ud800': UTF-8 cannot encode its lone surrogate"),
        ({"doc_id": ["a", "a", "b", "a", "c"]}, "qrels_jg", ValueError,
         "qrels, row 3: document 'a' occurs twice in query 'q', group 'u', first in row 0"),
        ({"doc_id": ["a"]}, "qrels_jg", ValueError, "qrels: its columns have 5 rows, 5 rows, 1 row and 5 rows"),
        ({"group": None}, "qrels_jg", ValueError, "qrels has no column 'group', only query_id, doc_id, relevance"),
        ({"subgroup": None}, "prefs", ValueError, "qrels has no column 'subgroup', only query_id, group, doc_id"),
    ],
)  # fmt: skip
def test_bad_frames(changed, form, kind, problem):
    columns = {name: column for name, column in (table(form) | changed).items() if column is not None}
    with pytest.raises(kind) as caught:
        hc.read_qrels(columns, format=form)
    assert problem in str(caught.value)


def test_lenient_reading_cuts_fractions_off():
    for source in ({"q": {"u": {"a": 1.5, "b": 1}}}, dict(zip(table("qrels_jg"), (["q"] * 2, ["u"] * 2, ["a", "b"],
                                                                               [1.5, 1]), strict=True))):  # fmt: skip
        with pytest.warns(UserWarning, match="qrels: 1 relevance other than a whole number: the fraction is cut off"):
            judgments = hc.read_qrels(source, format="qrels_jg", strict=False)
        assert hc.evaluate(judgments, {"q": {"a": 2.0}}, "NumPref")["NumPref"] == 0


def test_what_needs_a_format_says_so(tmp_path, capsys):
    lines, run = written(tmp_path, "q u s a 1\n"), written(tmp_path, "q Q0 a 1 1.0 mine\n", "run")
    with pytest.raises(ValueError, match=r"5 columns, .*; read_qrels\(\.\.\., format='prefs'\) reads preferences"):
        hc.read_qrels(lines)
    assert main(["trec", str(lines), str(run)]) == 1
    assert "; -R prefs reads preferences" in capsys.readouterr().err
    written(tmp_path, "q u a 1\nq v a 1\n")
    for source in (lines, table("qrels_jg")):
        with pytest.raises(ValueError, match=r"twice .*read_qrels\(\.\.\., format='qrels_jg'\) those of several users"):
            hc.read_qrels(source)
    assert main(["trec", str(lines), str(run)]) == 1
    assert "-R qrels_jg those of several users" in capsys.readouterr().err
    with pytest.raises(TypeError, match=r"query 'q' holds dicts of dicts.* format='qrels_jg'"):
        hc.evaluate({"q": {"u": {"a": 1}}}, {"q": {"a": 1.0}}, "Pref")


def test_pickles():
    judgments = preferences(USERS)
    run = {"q": {"a": 3.0, "b": 3.0, "c": 1.0}}
    evaluator = hc.Evaluator(judgments, NAMES)
    wanted = evaluator.evaluate(run)
    assert repr(pickle.loads(pickle.dumps(judgments))) == repr(judgments)
    assert pickle.loads(pickle.dumps(evaluator)).evaluate(run).means == wanted.means
    again = pickle.loads(pickle.dumps(wanted))
    assert (again.means, again.query_ids) == (wanted.means, wanted.query_ids)
    for found in (wanted, again):
        with pytest.raises(ValueError, match="with judgment groups a query has no single curve"):
            found.curves()
        with pytest.raises(ValueError, match="with judgment groups a document has no single level"):
            found.level_strings()


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command(tmp_path, capsys):
    path = written(tmp_path, "q u s1 a 2\nq u s1 b 1\nq v s a 0\nq v s b 1\n")
    run = written(tmp_path, "q Q0 a 1 1.0 mine\nq Q0 b 2 1.0 mine\n", "run")
    assert main(["trec", str(path), str(run), "-R", "prefs", "--format", "trec"]) == 0
    assert capsys.readouterr().out == (
        "runid                 \tall\tmine\nnum_q                 \tall\t1\n"
        "prefs_num_prefs_poss  \tall\t2\nprefs_num_prefs_ful   \tall\t1\nprefs_num_prefs_ful_ret\tall\t1\n"
        "prefs_simp            \tall\t0.5000\nprefs_pair            \tall\t0.5000\n"
        "prefs_avgjg           \tall\t0.5000\n")
    assert main(["trec", str(path), str(run), "-R", "prefs"]) == 0
    assert capsys.readouterr().out.split()[:4] == ["run", "Pref", "PairPref", "GroupPref"]
    assert main(["trec", str(path), str(run), "-R", "prefs", "-m", "NumPrefMet", "--ties", "expected",
                 "--format", "trec"]) == 0  # fmt: skip
    assert capsys.readouterr().out == "prefs_num_prefs_ful   \tall\t1\n"
    one = written(tmp_path, "q u a 2\nq u b 1\n", "one")
    assert main(["trec", str(one), str(run), "-R", "qrels_prefs", "-m", "NumPrefMet", "--ties", "expected",
                 "--format", "trec"]) == 0  # fmt: skip
    assert capsys.readouterr().out == "prefs_num_prefs_ful   \tall\t0.5000\n"
    assert main(["trec", str(one), str(run), "-R", "qrels_jg"]) == 0
    assert capsys.readouterr().out.split()[:3] == ["run", "AP", "P@10"]
    assert main(["trec", str(one), str(run), "-R", "qrels_jg", "--plot", str(tmp_path / "x.svg")]) == 2
    assert "--plot cannot be combined with -R qrels_jg" in capsys.readouterr().err
    assert main(["trec", str(one), str(run), "-R", "prefs"]) == 1
    assert "line 1: the line has 4 columns" in capsys.readouterr().err


def test_means_of_fractions_are_exact():
    """A pair on which three users of five agree counts 3/5."""
    users = {f"u{i}": {"a": 1, "b": 0} if i < 3 else {"a": 0, "b": 1} for i in range(5)}
    judgments = hc.read_qrels({"q": users}, format="qrels_prefs")
    found = hc.evaluate(judgments, {"q": {"a": 2.0, "b": 1.0}}, ["PairPref", "Pref"])
    assert found["PairPref"] == found["Pref"] == float(Fraction(3, 5))
