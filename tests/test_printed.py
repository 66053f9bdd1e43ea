"""The table that papers print: systems in rows, measures in columns; best values and significant differences marked."""

import pickle
import re
from html.parser import HTMLParser
from math import copysign, isnan, nan
from pathlib import Path

import numpy as np
import pytest

import hitcurve as hc
from hitcurve.shown.board import board
from hitcurve.shown.grid import number

QRELS = {f"q{i}": {"d1": 1, "d2": 0, "d3": 2} for i in range(12)}
MEASURES = ["AP", "nDCG@2", "Unjudged@2", "NumRelRet"]


def run(seed, good):
    draws = np.random.default_rng(seed)
    return {query: {doc: float(draws.random() + good * (doc in ("d1", "d3"))) for doc in ("d1", "d2", "d3", "d9")}
            for query in QRELS}  # fmt: skip


RUNS = {"low": run(1, 0.0), "mid": run(2, 0.3), "top": run(3, 0.9), "last": run(4, -0.5)}
FOUND = {name: hc.evaluate(QRELS, one, MEASURES) for name, one in RUNS.items()}
COMPARED = hc.compare(FOUND, rng=0, n_resamples=999)
AGAINST = hc.compare(FOUND, baseline="mid", rng=0, n_resamples=999)


def table(markdown):
    """Of a table in Markdown: the head, and the rows by the name of the system."""
    lines = [line for line in markdown.splitlines() if line.startswith("| ")]
    head, _, *body = ([cell.strip() for cell in line[1:-1].split("|")] for line in lines)
    at = head.index("system")
    return head, {row[at]: dict(zip(head, row, strict=True)) for row in body}


def marks(cell):
    """(number, bold, underlined, raised marks)"""
    found = re.fullmatch(r"(\*\*)?(<ins>)?(-|\d+\.?\d*)(?:</ins>)?(?:\*\*)?(?:<sup>(.*)</sup>)?", cell)
    return found[3], bool(found[1]), bool(found[2]), found[4] or ""


# --- the best values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("digits", [0, 1, 2, 4, 9])
def test_best_and_second_best(digits):
    _, rows = table(hc.Leaderboard(FOUND).to_markdown(digits=digits))
    for measure in MEASURES:
        shown = {name: round(FOUND[name].means[measure], digits) for name in RUNS}
        order = sorted(set(shown.values()), reverse=measure != "Unjudged@2")
        for name, row in rows.items():
            text, bold, under, _ = marks(row[measure])
            if measure == "NumRelRet":
                assert (text, bold, under) == (str(int(FOUND[name].means[measure])), False, False)
                continue
            assert text == f"{FOUND[name].means[measure]:.{digits}f}"
            assert bold == (shown[name] == order[0])
            assert under == (shown[name] in order[1:2])


@pytest.mark.parametrize(
    ("values", "bold", "under"),
    [
        ([0.5, 0.5, 0.25], [0, 1], [2]),
        ([0.50001, 0.50002, 0.25], [0, 1], [2]),  # printed alike
        ([nan, 0.5, 0.25, nan], [1], [2]),
        ([nan, nan, nan], [], []),
        ([0.5, 0.25], [0], []),
        ([0.5], [], []),
        ([0.5, 0.5, 0.5], [0, 1, 2], []),
        ([-0.5, -0.25, -1.0], [1], [0]),
    ],
)
@pytest.mark.parametrize("measure", ["AP", "Unjudged@5", "the caller's own"])
def test_ties_and_missing_values(values, bold, under, measure):
    lower = measure == "Unjudged@5"
    rows = [{measure: -value if lower else value} for value in values]
    made = board([f"s{i}" for i in range(len(rows))], rows)
    cells = [row[1] for row in made.rows[1:]]
    assert [at for at, cell in enumerate(cells) if cell.bold] == bold
    assert [at for at, cell in enumerate(cells) if cell.under] == under
    assert [cell == "-" for cell in cells] == [isnan(value) for value in values]
    said = "".join(made.foot[0]) if made.foot else ""
    assert ("The least value is the best: Unjudged@5." in said) == (lower and len(values) > 1)


def test_a_measure_of_several_names_stands_once():
    found = {"a": hc.evaluate(QRELS, RUNS["low"], ["map", "P.2"]), "b": hc.evaluate(QRELS, RUNS["top"], ["AP", "RR"])}
    made = hc.Leaderboard(found)
    assert made.measures == ("map", "P.2", "RR")
    assert made.means["b"]["map"] == found["b"].means["AP"]
    assert isnan(made.means["a"]["RR"])
    assert isnan(made.means["b"]["P.2"])
    assert table(made.to_markdown())[1]["b"]["P.2"] == "-"
    assert marks(table(made.to_markdown())[1]["b"]["map"])[1]


def test_the_least_is_best_under_names_of_trec_eval():
    found = {name: hc.evaluate(QRELS, RUNS[name], "unj.2") for name in ("low", "top", "last")}
    assert hc.Leaderboard(found).to_markdown().endswith("The least value is the best: unj.2.")
    assert "The least value is the best: unj.2." in hc.compare(found, rng=0, n_resamples=9).to_markdown("wide")


def test_one_evaluation_is_a_row():
    found = FOUND["mid"]
    for form in ("to_markdown", "to_latex", "to_html"):
        assert getattr(found, form)(digits=3) == getattr(hc.Leaderboard([found]), form)(digits=3)
    _, rows = table(found.to_markdown())
    assert rows["run"]["AP"] == f"{found.means['AP']:.4f}"


# --- significance -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.5, 0.999])
@pytest.mark.parametrize("p", ["p_value", "p_holm", "p_t", "p_tukey", "p_interval"])
def test_letters_are_of_the_systems_that_are_worse(p, alpha):
    if p == "p_t":
        pytest.importorskip("scipy")
    text = COMPARED.to_markdown("wide", p=p, alpha=alpha)
    head, rows = table(text)
    assert head == ["#", "system", "AP", "nDCG@2", "Unjudged@2"]
    assert [row["#"] for row in rows.values()] == list("abcd")
    for row in COMPARED.rows:
        worse, better = sorted((row.system, row.baseline), key=lambda name: FOUND[name].means[row.measure])
        if row.measure == "Unjudged@2":
            worse, better = better, worse
        raised = [marks(rows[name][row.measure])[3] for name in (better, worse)]
        assert (rows[worse]["#"] in raised[0]) == (getattr(row, p) <= alpha)
        assert rows[better]["#"] not in raised[1] or row.difference == 0
    assert f"p at most {alpha:g}" in text
    assert ("(bootstrap test" in text) == (p == "p_interval")
    assert ("Holm" in text, "Tukey" in text, "Student" in text) == (p == "p_holm", p == "p_tukey", p == "p_t")


def test_daggers_are_of_one_baseline():
    text = AGAINST.to_markdown("wide", p="p_value", alpha=0.2)
    head, rows = table(text)
    assert head[0] == "system"
    seen = set()
    for row in AGAINST.rows:
        better = (row.difference > 0) != (row.measure == "Unjudged@2")
        expected = ("†" if better else "‡") if row.p_value <= 0.2 else ""
        assert marks(rows[row.system][row.measure])[3] == expected
        seen.add(expected)
    assert seen == {"†", "‡", ""}
    assert all(marks(rows["mid"][measure])[3] == "" for measure in head[1:])
    assert "†: significantly better than mid, ‡: worse" in text


def test_more_systems_than_letters():
    qrels = {f"q{at}": {f"s{i}": 8 * at + 5 * i for i in range(53)} for at in range(6)}
    found = {f"s{i}": hc.evaluate(qrels, {query: {f"s{i}": 1.0} for query in qrels}, "DCG@1") for i in range(53)}
    compared = hc.compare(found, rng=0, n_resamples=19)
    _, rows = table(compared.to_markdown("wide", p="p_value", alpha=0.05))
    assert [row["#"] for row in rows.values()] == [str(i) for i in range(1, 54)]
    assert marks(rows["s2"]["DCG@1"])[3] == "1,2,"
    _, rows = table(compared.to_markdown("wide", p="p_value", alpha=0.01))
    assert marks(rows["s52"]["DCG@1"])[3] == ""


def test_a_comparison_over_items():
    draws = np.random.default_rng(0)
    y = draws.random(400) < 0.3
    scores = {"noise": draws.random(400), "signal": draws.random(400) + y}
    text = hc.compare(y, scores, rng=0, n_resamples=99).to_markdown("wide")
    assert "400 items." in text
    assert "(DeLong or bootstrap test, Holm's correction, p at most 0.05)" in text
    assert [marks(table(text)[1]["signal"][name])[1:] for name in ("AP", "ROCAUC")] == [(True, False, "†")] * 2


# --- forms --------------------------------------------------------------------------------------------------


def test_plain_text_keeps_numbers_in_line():
    compared = hc.Leaderboard(FOUND)
    lines = str(compared).splitlines()
    assert {line.index(".", line.index(" ")) for line in lines[1:5]} == {lines[1].index(".", lines[1].index(" "))}
    assert lines[0].split() == ["system", *MEASURES]
    assert lines[5].startswith("12 queries. *Best* and _second best_ value of each measure.")


def test_latex():
    names = {"a&b_1": "low", "50 %": "mid", "x\\y": "top", "{z}": "last"}
    compared = hc.compare({name: FOUND[of] for name, of in names.items()}, rng=0, n_resamples=999)
    text = compared.to_latex("wide", p="p_value", caption=r"Runs of \emph{one} day", label="tab:runs")
    lines = text.splitlines()
    assert lines[:4] == [r"\begin{table}[ht]", r"\centering", r"\caption{Runs of \emph{one} day}", r"\label{tab:runs}"]
    assert lines[-1] == r"\end{table}"
    rows = [line for line in lines if line.endswith(r" \\")]
    assert len(rows) == 5
    assert {line.replace(r"\&", "").count(" & ") for line in rows} == {4}
    for name in (r"a\&b\_1", r"50 \%", r"x\textbackslash{}y", r"\{z\}"):
        assert sum(name in line for line in rows) == 1
    assert text.count(r"\textbf{") == 3 + 1  # of three measures, and what says so
    assert r"\textsuperscript{" in text
    assert re.search(r"\\begin\{tabular\}\{ll[lr]{3}\}", text)
    plain = compared.to_latex("wide", p="p_value")
    assert plain.startswith(r"\begin{tabular}")
    assert plain.splitlines()[-1].startswith(r"% 12 queries. \textbf{Best} and")
    assert r"$\dagger$: significantly better than mid, $\ddagger$: worse" in AGAINST.to_latex("wide", label="t")


def test_numbers_with_raised_marks_begin_at_one_place():
    from hitcurve.shown.grid import Grid, Marked, rendered

    rows = [["system", "DCG"], ["a", Marked("9.50", above="b")], ["b", Marked("10.25")], ["c", "-"]]
    assert rendered([Grid(rows)], "markdown").splitlines()[1] == "| --- | --- |"
    assert rendered([Grid([row[:1] * 2 for row in rows])], "markdown").splitlines()[1] == "| --- | --: |"
    lines = rendered([Grid(rows)], "latex").splitlines()
    assert lines[0] == r"\begin{tabular}{ll}"
    assert lines[4:7] == [
        r"a & \phantom{0}9.50\textsuperscript{b} \\",
        r"b & 10.25 \\",
        r"c & \phantom{0000}- \\",
    ]


class Reader(HTMLParser):
    """Refuses elements that are not closed in order; counts them, and keeps the texts of cells."""

    def __init__(self, text):
        super().__init__()
        self.open, self.count, self.cells = [], {}, []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.count[tag] = self.count.get(tag, 0) + 1
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and {"td", "th"} & set(self.open):
            self.cells[-1] += data


def test_html():
    many = {f"<b>{i}</b> & co": FOUND["low"] for i in range(40)}
    made = Reader(hc.Leaderboard(many | FOUND).to_html(caption="a < b"))
    assert made.count["tr"] == 1 + 40 + 4  # nothing is left out
    assert "<b>0</b> & co" in made.cells
    assert made.count["caption"] == 1
    assert made.count["b"] == 3 + 1  # of three measures, and what says so
    read = Reader(COMPARED.to_html("wide", p="p_value", alpha=0.5))
    assert read.count["b"] == 3 + 1
    assert read.count["u"] == 3 + 1
    assert read.count["sup"] > 3
    assert Reader(COMPARED.to_html()).count["table"] == 2
    assert "color" not in re.sub("currentColor", "", COMPARED.to_html())


def test_notebooks_show_it():
    text = hc.Leaderboard(FOUND)._repr_html_()
    assert Reader(text).count["b"] == 3 + 1


def test_the_long_form_has_as_many_decimals():
    assert COMPARED.to_markdown() == COMPARED.to_markdown("long", digits=4)
    number = re.search(r"\| AP \| low \| ([^|]+) \| ([^|]+) to ([^|]+) \|", COMPARED.to_markdown(digits=2))
    one = COMPARED.systems[0]
    assert number.groups() == (f"{one.value:.2f}", f"{one.low:.2f}", f"{one.high:.2f}")
    assert "+0.0" in COMPARED.to_latex(digits=1)


# --- frames -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(library):
    pytest.importorskip(library)
    made = hc.Leaderboard(FOUND)
    frame = getattr(made, f"to_{library}")()
    assert list(frame.columns) == ["system", *MEASURES]
    assert list(frame["system"]) == list(RUNS)
    assert list(frame["AP"]) == [one.means["AP"] for one in FOUND.values()]
    for name, rows in (("differences", AGAINST.rows), ("systems", AGAINST.systems)):
        frame = getattr(AGAINST, f"to_{library}")(name)
        assert list(frame.columns) == list(rows[0]._fields)
        for field in frame.columns:
            assert list(frame[field]) == [getattr(row, field) for row in rows]
    two = hc.compare({name: FOUND[name] for name in ("low", "top")}, rng=0, n_resamples=9)
    assert np.isnan(np.asarray(getattr(two, f"to_{library}")()["p_tukey"], float)).all()


# --- names --------------------------------------------------------------------------------------------------


def test_a_list_of_evaluations_keeps_its_names():
    evaluator = hc.Evaluator(QRELS, MEASURES)
    found = [evaluator.evaluate(one, name) for name, one in RUNS.items()]
    assert hc.Leaderboard(found).to_markdown() == hc.Leaderboard(FOUND).to_markdown()
    got = hc.compare(found, baseline="mid", rng=0, n_resamples=999)
    assert (got.rows, got.systems) == (AGAINST.rows, AGAINST.systems)
    assert hc.compare(tuple(found), rng=0, n_resamples=999).rows == COMPARED.rows


def test_evaluations_under_names_of_trec_eval_are_compared():
    found = [hc.Evaluator(QRELS, ["map", "P.2", "num_rel_ret"]).evaluate(RUNS[name], name) for name in ("low", "top")]
    assert [row.measure for row in hc.compare(found, rng=0, n_resamples=9).rows] == ["map", "P.2"]


@pytest.mark.parametrize("call", [hc.Leaderboard, hc.compare], ids=["Leaderboard", "compare"])
def test_two_of_one_name(call):
    evaluator = hc.Evaluator(QRELS, "AP")
    found = [evaluator.evaluate(RUNS["low"], name) for name in ("a", "same", "b", "same")]
    with pytest.raises(ValueError, match=r"\[1\] and \w+\[3\] are both named 'same': pass a mapping of names to"):
        call(found)


@pytest.mark.parametrize(
    ("call", "error", "problem"),
    [
        (lambda: hc.Leaderboard([]), ValueError, "evaluations is empty"),
        (lambda: hc.Leaderboard({}), ValueError, "evaluations is empty"),
        (lambda: hc.Leaderboard(FOUND["low"]), TypeError, "evaluations must be a list of evaluations, or a mapping"),
        (lambda: hc.Leaderboard([1]), TypeError, "evaluations must be a list of evaluations, or a mapping"),
        (lambda: hc.Leaderboard({"a": [0.5]}), TypeError, r"evaluations\['a'\] must be an Evaluation, got list"),
        (lambda: hc.Leaderboard({1: FOUND["low"]}), TypeError, "evaluations has the key 1: the name of a system"),
        (lambda: hc.compare([0.5, 0.25]), TypeError, "a list of evaluations, or one mapping .*; got list alone"),
        (lambda: FOUND["low"].to_markdown(digits=18), ValueError, "digits must be from 0 to 17, got 18"),
        (lambda: FOUND["low"].to_latex(digits=-1), ValueError, "digits must be from 0 to 17, got -1"),
        (lambda: FOUND["low"].to_html(digits=1.5), (TypeError, ValueError), "digits.*1.5"),
        (lambda: COMPARED.to_markdown("broad"), ValueError, "layout.*'broad'"),
        (lambda: COMPARED.to_latex("wide", p="p"), ValueError, "p='p' is unknown"),
        (lambda: COMPARED.to_html("wide", alpha=1.5), ValueError, "alpha.*1.5"),
        (lambda: COMPARED.to_markdown(caption="x"), ValueError, "caption='x' needs layout='wide'"),
        (lambda: COMPARED.to_latex(label="x"), ValueError, "label='x' needs layout='wide'"),
        (lambda: COMPARED.to_pandas("rows"), ValueError, "table.*'rows'"),
    ],
)
def test_what_is_refused(call, error, problem):
    with pytest.raises(error, match=problem):
        call()


@pytest.mark.parametrize("method", ["to_markdown", "to_latex", "to_html"])
@pytest.mark.parametrize("shown", [
    FOUND["low"], hc.Leaderboard(FOUND), COMPARED,
    hc.evaluate({"q": {"a": 1}}, {"q": {"b": 1.0}}, "AP").unjudged(run={"q": {"b": 1.0}}),
], ids=lambda one: type(one).__name__)  # fmt: skip
def test_a_layout_that_a_table_does_not_have(shown, method):
    """A bare TypeError said "takes 1 positional argument but 2 were given"."""
    made = getattr(shown, method)
    own = ("long", "wide") if isinstance(shown, hc.Comparison) else ("wide",)
    for layout in ("long", "wide", "tall", "", None, 3):
        if layout not in own:
            with pytest.raises((ValueError, TypeError), match=rf"layout.*{layout!r}.*'wide'|layout must be one of"):
                made(layout)
        elif layout == own[0]:
            assert made(layout) == made(layout=layout) == made()


def test_p_values_that_were_not_computed():
    two = hc.compare({name: FOUND[name] for name in ("low", "top")}, rng=0, n_resamples=9)
    with pytest.raises(ValueError, match="p='p_tukey' was not computed: it needs three systems or more"):
        two.to_markdown("wide", p="p_tukey")


def test_no_values_are_not_p_values_that_were_not_computed():
    nothing = {name: [nan, nan] for name in "abc"}
    for p in ("p_holm", "p_t", "p_tukey"):
        text = hc.compare(nothing, rng=0).to_markdown("wide", p=p)
        assert "| a | a | - |" in text
        assert "0 queries. 2 queries without a value were left out. Raised letters" in text


def test_one_query_is_no_queries():
    one = hc.compare({"a": [0.5, nan], "b": [0.25, nan]}, rng=0)
    for text in (str(one), one.to_markdown("wide")):
        assert "1 query. " in text
        assert "1 query without a value was left out." in text


def test_runs_of_different_queries_say_how_many():
    few = hc.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "AP")
    more = hc.evaluate({"q": {"a": 1}, "r": {"a": 1}}, {"q": {"a": 1.0}, "r": {"a": 1.0}}, "AP")
    assert "1 to 2 queries. *Best*" in str(hc.Leaderboard({"few": few, "more": more}))
    board = str(hc.Leaderboard({"few": few, "more": more}))
    assert board.endswith("The systems do not have the same queries: their means cannot be compared.")
    assert "not have the same" not in str(hc.Leaderboard([more]))


@pytest.mark.parametrize("missing", ["zero", "skip"])
@pytest.mark.parametrize("lacking", [(0,), (0, 0), (3,), (0, 3, 1), (1, 2, 3, 4, 5, 6, 7)])
@pytest.mark.parametrize("without", [0, 2])
def test_a_table_says_which_runs_lack_queries_and_how_many_have_nothing_relevant(missing, lacking, without):
    """A run that lacks a third of its users looks worse or, if they are left out, better: only `counts` said so."""
    qrels = {f"q{i}": {"a": int(i < 9 - without)} for i in range(9)}
    runs = {f"s{i}": {query: {"a": 1.0} for query in list(qrels)[absent:]} for i, absent in enumerate(lacking)}
    found = hc.evaluate(qrels, runs, "AP", missing=missing)
    named = [f"s{i} {absent}" for i, absent in enumerate(lacking) if absent]
    more = [f"{', '.join(named[:5])} and {len(named) - 5} more systems"] if len(named) > 5 else []
    how = "count as queries without results" if missing == "zero" else "are left out"
    said = [f"Missing queries {how}: {(more or [', '.join(named)])[0]}."] if named else []
    if without:
        said.append(f"Queries without a relevant document (from level 1 on): {without}.")
    if missing == "skip" and len(set(lacking)) > 1:
        said.insert(0, "The systems do not have the same queries: their means cannot be compared.")
    board = hc.Leaderboard(found)
    assert str(board).splitlines()[len(runs) + 2 :] == said
    half = hc.Leaderboard(found, queries=dict.fromkeys(list(qrels)[:5], "half"))
    for text in (str(half), board.to_markdown(), board.to_latex(), board.to_latex(caption="c"), board.to_html(),
                 board._repr_html_()):  # fmt: skip
        assert all(line in text for line in said)
    for one, absent in zip(found.values(), lacking, strict=True):
        assert f" queries{f', {absent} missing' if absent else ''}: AP" in repr(one)
        assert (f"Missing queries {how}: {one.name} {absent}." in one.to_markdown()) == (absent > 0)
    some = hc.Leaderboard(found, queries=lambda query: query in ("q0", "q8"))
    assert ("Missing queries" in str(some)) == (missing == "zero" and bool(named))


@pytest.mark.parametrize(("name", "expected"), [
    ("[a]", "{[}a]"), (" [a]", " {[}a]"), ("*", "{*}"), ("a--b---c", "a-{}-b-{}-{}-c"), ("a|b", r"a\textbar{}b"),
    ("a-b[1]*", "a-b[1]*"),
])  # fmt: skip
def test_latex_takes_no_name_for_a_command(name, expected):
    """An option of the rule or of the line's end that stands before it, a dash."""
    text = hc.compare({name: [0.1, 0.2], "other": [0.1, 0.3]}, rng=0).to_latex("wide")
    assert f"\n{expected} & " in text


def test_a_leaderboard_is_pickled():
    made = hc.Leaderboard(FOUND)
    again = pickle.loads(pickle.dumps(made))
    assert str(again) == str(made)
    assert repr(again) == "Leaderboard(4 systems: AP, nDCG@2, Unjudged@2, NumRelRet)"


def test_what_is_judged_has_no_best_value():
    """How many documents have judgments says nothing of quality: no best value, and no significant difference."""
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(12)}
    runs = {"all": {q: {"a": 2.0, "b": 1.0} for q in qrels}, "half": {q: {"a": 2.0, "x": 1.0} for q in qrels},
            "none": {q: {"x": 2.0, "y": 1.0} for q in qrels}}  # fmt: skip
    with pytest.warns(UserWarning, match="none of its 24 documents has a judgment"):
        found = {name: hc.evaluate(qrels, one, ["AP", "Judged@2"]) for name, one in runs.items()}
    compared = hc.compare(found, rng=0)
    assert min(row.p_holm for row in compared.rows if row.measure == "Judged@2") < 0.05
    for text in (hc.Leaderboard(found).to_markdown(), compared.to_markdown("wide"),
                 hc.compare(found, baseline="none", rng=0).to_markdown("wide")):  # fmt: skip
        rows = table(text)[1]
        assert [rows[name]["Judged@2"] for name in runs] == ["1.0000", "0.5000", "0.0000"]
        assert marks(rows["all"]["AP"])[1]


def test_a_measure_that_one_system_alone_has_is_not_marked():
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 2.0}}
    shown = hc.Leaderboard({"x": hc.evaluate(qrels, run, ["AP", "RR"]), "y": hc.evaluate(qrels, run, ["AP", "P@1"]),
                            "z": hc.evaluate(qrels, run, ["AP"])})
    rows = shown.to_markdown().splitlines()[2:5]
    assert rows == ["| x | **0.5000** | 0.5000 | - |", "| y | **0.5000** | - | 0.0000 |", "| z | **0.5000** | - | - |"]
    lower = hc.Leaderboard({"x": hc.evaluate(qrels, run, "Unjudged@1"), "y": hc.evaluate(qrels, run, "AP")})
    assert "**" not in lower.to_markdown()


# --- sorted and tested boards -------------------------------------------------------------------------------

NAMES = {"a&b_1": r"a\&b\_1", "50 % <b>": r"50 \% $<$b$>$", "x\\y": r"x\textbackslash{}y"}  # as LaTeX writes them
MANY = {}
for _at in range(50):
    _name = list(NAMES)[_at] if _at < len(NAMES) else f"s{_at}"
    MANY[_name] = hc.evaluate(QRELS, run(_at, 0.04 * (_at * 7 % 50)), MEASURES)


def first(number):
    return dict(list(MANY.items())[:number])


@pytest.mark.parametrize("number", [3, 13, 27, pytest.param(50, marks=pytest.mark.slow)])
@pytest.mark.parametrize("sort", ["AP", "map", "ndcg_cut.2", "Unjudged@2", "num_rel_ret"])
def test_rows_are_sorted(number, sort):
    found = first(number)
    made = hc.Leaderboard(found, sort=sort)
    measure = {"map": "AP", "ndcg_cut.2": "nDCG@2", "num_rel_ret": "NumRelRet"}.get(sort, sort)
    sign = 1 if sort == "Unjudged@2" else -1
    order = sorted(found, key=lambda name: sign * found[name].means[measure])  # equal means keep their order
    assert made.systems == tuple(order) == tuple(made.means)
    plain = hc.Leaderboard({name: found[name] for name in order})
    for form in ("__str__", "to_markdown", "to_latex", "to_html", "_repr_html_"):
        assert getattr(made, form)() == getattr(plain, form)()
    assert made._columns() == plain._columns()


def test_systems_without_a_value_come_last():
    empty = hc.evaluate({"q": {"a": 0}}, {"q": {"a": 1.0}}, "AP")
    found = {"none": empty, "other": hc.evaluate(QRELS, RUNS["low"], "P@2"), **FOUND}
    assert hc.Leaderboard(found, sort="AP").systems[-2:] == ("none", "other")


@pytest.mark.parametrize(("number", "p"), [
    (3, "p_holm"), (3, "p_t"), (13, "p_holm"), (27, "p_t"),
    *[pytest.param(*case, marks=pytest.mark.slow) for case in ((13, "p_t"), (50, "p_holm"), (50, "p_t"))],
])  # fmt: skip
def test_letters_and_marks_are_those_of_compare(number, p):
    """The same table, but for the counts, which have no test: as text, Markdown, LaTeX, HTML and in a notebook."""
    if p == "p_t":
        pytest.importorskip("scipy")
    found = {name: hc.evaluate(QRELS, one, MEASURES[:3]) for name, one in
             [(name, run(at, 0.04 * (at * 7 % 50))) for at, name in enumerate(first(number))]}  # fmt: skip
    for given in ({"letters": True}, {"baseline": list(found)[1]}):
        made = hc.Leaderboard(found, sort="AP", p=p, alpha=0.2, rng=5, n_resamples=6200, **given)
        order = {name: found[name] for name in made.systems}
        compared = hc.compare(order, baseline=given.get("baseline"), rng=5, n_resamples=6200)
        for form in ("to_markdown", "to_latex", "to_html"):
            assert getattr(made, form)() == getattr(compared, form)("wide", p=p, alpha=0.2)
        text = made.to_latex(caption="All", label="tab:all")
        assert text == compared.to_latex("wide", p=p, alpha=0.2, caption="All", label="tab:all")
        assert all(text.count(f"{escaped} & ") == 1 for escaped in NAMES.values())
        Reader(made.to_html())


def test_a_board_with_letters_and_a_baseline():
    both = hc.Leaderboard(FOUND, sort="AP", letters=True, baseline="mid", rng=0, p="p_value", alpha=0.3)
    alone = [hc.Leaderboard(FOUND, sort="AP", rng=0, p="p_value", alpha=0.3, **given)
             for given in ({"baseline": "mid"}, {"letters": True})]
    (_, rows), *parts = (table(one.to_markdown()) for one in (both, *alone))
    for name, row in rows.items():
        for measure in MEASURES:
            assert marks(row[measure])[3] == "".join(marks(part[name][measure])[3] for _, part in parts)
    said = both.to_markdown().splitlines()[-1]
    assert "†: significantly better than mid" in said and "Raised letters: significantly better" in said
    assert str(pickle.loads(pickle.dumps(both))) == str(both)
    two = {name: FOUND[name] for name in ("low", "top")}
    for given in ({"baseline": "top", "letters": True}, {"baseline": "top"}):
        assert "†: significantly better than top" in str(hc.Leaderboard(two, rng=0, **given))
        assert "#" not in str(hc.Leaderboard(two, rng=0, **given))


def test_successive_letters_are_a_range():
    from hitcurve.shown.board import ranged

    letters = "abcdefghij"
    for places, text in (((), ""), ((0, 1, 2), "abc"), ((0, 1, 2, 3), "a–d"), ((0, 2, 3, 4, 5, 6, 8, 9), "ac–gij")):
        assert "".join(ranged(places, letters)) == text
    numbers = [str(at) for at in range(1, 61)]
    assert "".join(ranged((0, 2, 3, 4, 5, 59), numbers)) == "1,3–6,60,"
    compared = hc.compare({f"s{i}": np.linspace(0, 1, 8) + i / 8 for i in range(6)}, rng=0)
    text = compared.to_latex("wide", p="p_value")
    assert re.findall(r"textsuperscript{(.*?)} ", text) == ["a", "ab", "abc", r"a\textendash{}d", r"a\textendash{}e"]
    assert "A range has all letters between its ends, in the order of the rows." in text
    _, rows = table(compared.to_markdown("wide", p="p_value"))
    assert marks(rows["s5"]["value"])[3] == "a–e"


@pytest.mark.parametrize(("rows", "begin"), [
    (33, r"\begin{table}[ht]|\centering"), (34, r"\begin{table}[htp]|\centering\footnotesize"),
    (45, r"\begin{table}[htp]|\centering\footnotesize"),
    (46, r"\begin{table}[htp]|\centering\scriptsize\setlength{\tabcolsep}{3pt}"),
])  # fmt: skip
def test_a_long_table_has_room_on_a_page_of_latex(rows, begin):
    text = hc.Leaderboard(first(rows)).to_latex(caption="All")
    assert text.startswith(begin.replace("|", "\n"))
    assert hc.Leaderboard(first(rows)).to_latex().startswith(r"\begin{tabular}")


LACKS = hc.evaluate(QRELS, {"q1": RUNS["low"]["q1"]}, MEASURES, missing="skip")


@pytest.mark.parametrize(("given", "error", "problem"), [
    ({"sort": "nDGC@2"}, ValueError, r"sort='nDGC@2' is not a measure of the systems: did you mean 'nDCG@2'"),
    ({"sort": "P@5"}, ValueError, r"sort='P@5' is not a measure .*: the measures are 'AP', 'nDCG@2', 'Unjudged@2'"),
    ({"sort": ["AP"]}, TypeError, r"sort must be the name of a measure, got \['AP'\] of type list"),
    ({"baseline": "Mid"}, ValueError, "baseline='Mid' is not one of .*'last'; did you mean 'mid'"),
    ({"letters": "yes"}, TypeError, "letters must be"),
    ({"letters": True, "p": "p"}, ValueError, "p='p' is unknown"),
    ({"letters": True, "alpha": 2}, ValueError, "alpha"),
    ({"p": "p_t"}, ValueError, "p, alpha and n_resamples need letters=True or a baseline"),
])  # fmt: skip
def test_what_a_sorted_or_tested_board_refuses(given, error, problem):
    with pytest.raises(error, match=problem):
        hc.Leaderboard(FOUND, **given)


def test_a_tested_board_needs_the_same_queries():
    more = {**FOUND, "short": LACKS}
    assert "1 to 12 queries." in str(hc.Leaderboard(more, sort="AP"))
    with pytest.raises(ValueError, match="letters=True: 'low' has 12 queries, 'short' has 1: all systems must have"):
        hc.Leaderboard(more, letters=True)
    with pytest.raises(ValueError, match="baseline='mid': 'low' has 12 queries, 'short' has 1: all systems must have"):
        hc.Leaderboard(more, baseline="mid")
    with pytest.raises(ValueError, match="letters=True: compare needs two systems or more, got 1"):
        hc.Leaderboard([LACKS], letters=True)


@pytest.mark.parametrize(("value", "sign", "text"), [
    (-9e-18, "", "0.0000"), (-9e-18, "+", "+0.0000"), (-0.0, "+", "+0.0000"), (-0.0, "", "0.0000"),
    (-3e-5, "+", "-0.0000"), (-6e-5, "+", "-0.0001"), (1e-20, "", "0.0000"),
    (1e300, "", "1.0000e+300"), (-1e300, "+", "-1.0000e+300"), (9e15, "", "9000000000000000.0000"),
    (float("inf"), "", "inf"), (float("nan"), "+", "-"),
])
def test_a_number_in_a_table(value, sign, text):
    assert number(value, sign) == text


def test_equal_means_differ_by_zero():
    """Whatever the order in which rounded sums are added up: in rows, frames, JSON and tables."""
    rng = np.random.default_rng(3)
    for n in (3, 10, 50):
        one = rng.random(n)
        other = rng.permutation(one)
        found = hc.compare({"a": one, "b": other, "c": (one + 0.1) - 0.1}, rng=0, n_resamples=99)
        for row in found.rows:
            assert (row.difference, copysign(1, row.difference)) == (0.0, 1.0)
        (row,) = (row for row in found.rows if (row.baseline, row.system) == ("a", "c"))
        assert (row.low, row.high) == (0.0, 0.0)
        assert row.p_interval == 1.0
        assert "-0.0000" not in found.to_markdown().replace("-0.0000 to", "")
    huge = hc.compare({"a": [1e300, 2e300, 3e300], "b": [2e300, 2e300, 3e300]}, rng=0, n_resamples=99)
    assert max(map(len, huge.to_markdown().splitlines()[:6])) < 200


# --- counts -------------------------------------------------------------------------------------------------

SOURCE = Path(__file__).resolve().parents[1] / "src" / "hitcurve"  # a wheel has no .pyx
UNITS = [
    "items", "queries", "groups", "rows", "documents", "judgments", "columns", "lists", "entries", "systems", "cells",
    "values", "levels", "bytes", "runs", "files", "resamples",
]  # fmt: skip
MANY_ARE_SURE = {  # what is never 1 where it stands
    "{room} rows", "{len(usable):,} groups", "{inside:,} items", "{low:,.0f} to {high:,.0f} relevant items",
    "{len(files)} files", "{len(self._file_names)} files", "{_MOST_ROWS:,} rows", "{names.count(column)} columns",
    "{max(rows)} rows", "{count} resamples", "{items:g} items", "{items} items", "{FEW_RELEVANT} relevant items",
}  # fmt: skip


def test_counts_have_a_singular():
    """Every count is written by `many`: a text with a number before a plural would say "1 queries"."""
    before = re.compile(rf"\{{[^{{}}]*\}} (?:(?:more|relevant|other) )?(?:{'|'.join(UNITS)})\b")
    texts = [path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py*") if path.suffix in (".py", ".pyx")]
    found = {match for text in texts for match in before.findall(text)}
    assert len(texts) > 90
    assert found <= MANY_ARE_SURE | {one.rpartition(" to ")[2] for one in MANY_ARE_SURE}


SINGLE = hc.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, "AP")
ONE_OF_EACH = (
    lambda: hc.HitCurves([1, 0], [2, 1], offsets=[0, 2]),
    lambda: hc.GainCurves([1, 0], [2, 1], offsets=[0, 2]),
    lambda: SINGLE,
    lambda: hc.Leaderboard([SINGLE]),
    lambda: hc.read_run({"q": {"d": 1.0}}),
    lambda: hc.read_qrels({"q": {"d": 1}}),
    lambda: hc.compare({"a": [0.5], "b": [0.25]}, measures="AP", n_resamples=1, rng=0),
    lambda: hc.HitCurves([1, 0], [2, 1], offsets=[0, 2])[1],
    lambda: hc.HitCurve([1], [1, 2]),
    lambda: hc.HitCurves([1], [1], offsets=[0, 2]),
    lambda: hc.HitCurves([1], [1], qid=[1, 2]),
    lambda: hc.HitCurves([1], [1], offsets=[0, 1], num_relevant=[1, 2]),
    lambda: hc.HitCurve([1], [1], tiebreak=[1, 2]),
    lambda: hc.HitCurve([1], [1], sample_weight=[1, 2]),
    lambda: hc.GainCurves([1], [1], offsets=[0, 1], unretrieved=[[], []]),
    lambda: hc.HitCurve([1], [1], num_relevant=0),
    lambda: hc.HitCurve.from_ranked([1], num_items=0),
)


@pytest.mark.parametrize("make", ONE_OF_EACH)
def test_counts_of_one(make):
    try:
        made = make()
        text = f"{made!r} {made}"
    except (ValueError, IndexError) as error:
        text = str(error)
    assert re.search(r"\b1 \w", text)
    assert not re.search(rf"\b1 (?:\w+ )?(?:{'|'.join(UNITS)})\b", text), text
    assert not re.search(r"\bare 1\b", text), text
