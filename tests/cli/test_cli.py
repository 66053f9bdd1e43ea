"""The command: what it prints, what it returns, and what it says when it cannot."""

import argparse
import csv
import io
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import hitcurve as hc
from hitcurve.cli import measures as measures_command
from hitcurve.cli import table as table_command
from hitcurve.cli import trec as trec_command
from hitcurve.cli.main import main
from hitcurve.measures import parse
from hitcurve.report.first import First
from hitcurve.report.named import Named
from hitcurve.report.rows import Report
from hitcurve.sources.screen import ScreenedScore

ROWS = [
    # label, score, group
    (0, 9, "b"),
    (1, 8, "b"),
    (0, 8, "b"),
    (1, 8, "a"),
    (1, 5, "a"),
    (0, 5, "a"),
    (0, 5, "b"),
    (0, 4, "c"),
    (1, 3, "b"),
    (0, 2, "c"),
]
LABEL, SCORE, GROUP = (np.array(column) for column in zip(*ROWS, strict=True))


@pytest.fixture
def path(tmp_path):
    text = "label,score,set\n" + "".join(f"{label},{score},{group}\n" for label, score, group in ROWS)
    (tmp_path / "t.csv").write_text(text)
    return str(tmp_path / "t.csv")


def run(capsys, *arguments):
    status = main(list(arguments))
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def table(capsys, path, *arguments):
    status, out, err = run(capsys, "table", path, "--label", "label", "--score", "score", *arguments)
    assert status == 0
    assert all(line.startswith("hitcurve: warning: ") for line in err.splitlines())
    return out


def numbers(out):
    """The lines of a report by their first word."""
    return {line.split()[0]: line.split()[1:] for line in out.splitlines() if line.split()}


def test_the_report(capsys, path):
    curve = hc.HitCurve(LABEL, SCORE)
    out = table(capsys, path, "--all")
    assert out.splitlines()[0] == "t.csv: 10 items, 4 relevant (40 %)"
    lines = numbers(out)
    assert lines["expected"] == ["worst", "best", "threshold"]
    readings = ("expected", "worst", "best", "threshold")
    assert lines["AP"][:4] == [f"{curve.average_precision(ties=ties):.4f}" for ties in readings]
    assert lines["NormAP"][0] == f"{curve.normalized_average_precision():.4f}"
    assert lines["EF@1%"][0] == f"{curve.enrichment_factor(0.01):.4f}"
    assert lines["BEDROC(20)"][:4] == [*(f"{curve.bedroc(ties=ties):.4f}" for ties in readings[:3]), "-"]
    assert lines["ROCAUC"][0] == f"{curve.roc_auc():.4f}"
    assert lines["Chance"][0] == f"{curve.chance():.4f}"
    ties = curve.tie_report()
    assert f"Ties: {ties.num_tied} of the 10 items (60 %) are in a tie with a relevant item, up to 3 in one tie;" in out
    assert f"AP lies between {ties.worst:.4f} and {ties.best:.4f}." in out


def test_the_report_without_ties(capsys, tmp_path):
    (tmp_path / "t.csv").write_text("label,score\n1,3\n0,2\n0,2\n1,1\n")
    out = table(capsys, str(tmp_path / "t.csv"), "--all")
    assert "Ties: no relevant item is in a tie" in out


def test_the_report_when_ties_change_nothing(capsys, tmp_path):
    (tmp_path / "t.csv").write_text("label,score\n" + "0,9\n" * 100 + "1,1\n" * 10)
    out = table(capsys, str(tmp_path / "t.csv"), "--all")
    assert "their order does not change AP. The value of the threshold reading lies outside." in out
    assert numbers(out)["AP"][:4] == ["0.0514", "0.0514", "0.0514", "0.0909"]


def test_the_report_without_relevant_items(capsys, tmp_path):
    for text in ("label,score\n0,3\n0,2\n", "label,score\n"):
        (tmp_path / "t.csv").write_text(text)
        out = table(capsys, str(tmp_path / "t.csv"))
        assert "No relevant items: AP is undefined." in out
        assert numbers(out)["AP"][0] == "nan"


def test_one_item(capsys, tmp_path):
    (tmp_path / "t.csv").write_text("label,score\n1,2\n")
    out = table(capsys, str(tmp_path / "t.csv"))
    assert numbers(out)["AP"][0] == "1.0000"
    assert numbers(out)["ROCAUC"][0] == "nan"
    assert "Groups" not in out


def test_all_means_all(capsys, tmp_path):
    (tmp_path / "t.csv").write_text("label,score\n" + "1,9\n0,9\n" * 500 + "1,1\n")
    assert "1,000 of the 1,001 items (99.9 %)" in table(capsys, str(tmp_path / "t.csv"))
    (tmp_path / "t.csv").write_text("label,score\n" + "1,9\n0,9\n" * 500)
    assert "1,000 of the 1,000 items (100 %)" in table(capsys, str(tmp_path / "t.csv"))


def test_lower_is_better(capsys, path):
    curve = hc.HitCurve(LABEL, SCORE, lower_is_better=True)
    assert numbers(table(capsys, path, "--lower-is-better"))["AP"][0] == f"{curve.average_precision():.4f}"


def test_one_reading_of_ties(capsys, path):
    lines = numbers(table(capsys, path, "--ties", "threshold", "--all"))
    assert "worst" not in lines
    assert lines["AP"][0] == f"{hc.average_precision(LABEL, SCORE, ties='threshold'):.4f}"
    assert lines["BEDROC(20)"][0] == "-"


def test_measures(capsys, path):
    curve = hc.HitCurve(LABEL, SCORE)
    out = table(capsys, path, "-m", "AP@10", "map_cut_3", "-m", "AP(ties=worst)", "num_rel")
    assert numbers(out) == {
        "AP@10": [f"{curve.average_precision(10, normalize='relevant'):.4f}"],
        "AP@3": [f"{curve.average_precision(3, normalize='relevant'):.4f}"],
        "AP(ties=worst)": [f"{curve.average_precision(ties='worst'):.4f}"],
        "NumRel": ["4"],
    }
    out = table(capsys, path, "--ties", "best", "-m", "AP", "AP(ties=worst)")
    assert numbers(out)["AP"] == [f"{curve.average_precision(ties='best'):.4f}"]
    assert numbers(out)["AP(ties=worst)"] == [f"{curve.average_precision(ties='worst'):.4f}"]


def test_groups(capsys, path):
    out = table(capsys, path, "--group", "set", "-m", "AP", "P@2", "NumRet")
    curves = hc.HitCurves(LABEL, SCORE, qid=GROUP)
    ap, precision = curves.average_precision(), curves.precision(2)
    assert [line.split() for line in out.splitlines()[:-1]] == [
        ["set", "items", "relevant", "AP", "P@2", "NumRet"],
        ["a", "3", "2", f"{ap[0]:.4f}", f"{precision[0]:.4f}", "3"],
        ["b", "5", "2", f"{ap[1]:.4f}", f"{precision[1]:.4f}", "5"],
        ["c", "2", "0", "nan", "0.0000", "2"],
        ["mean", f"{ap[:2].mean():.4f}", f"{precision[:2].mean():.4f}", "4.0000"],
    ]
    assert out.splitlines()[-1] == "Sets without a relevant item: 1 of 3, left out of the means."


def test_the_report_of_groups(capsys, path):
    out = table(capsys, path, "--group", "set", "--all")
    curves = hc.HitCurves(LABEL, SCORE, qid=GROUP)
    assert out.splitlines()[0] == "t.csv: 3 sets, 10 items, 4 relevant (40 %)"
    lines = numbers(out)
    assert lines["set"] == ["items", "relevant", "AP", "AP", "worst", "AP", "best", "AP", "threshold"]
    assert lines["b"][2] == f"{curves.average_precision()[1]:.4f}"
    assert lines["mean"][:3] == ["of", "2", "sets"]
    assert lines["AP"][0] == f"{curves.mean_average_precision():.4f}"
    assert "the mean AP lies between" in out
    assert "Sets without a relevant item: 1 of 3, left out of the means." in out
    short = table(capsys, path, "--group", "set", "--mean-only", "--all")
    assert "set" not in numbers(short)
    assert numbers(short)["AP"] == lines["AP"]


def test_groups_where_a_measure_is_undefined(capsys, tmp_path):
    (tmp_path / "t.csv").write_text("label,score,set\n1,3,a\n1,2,a\n0,2,b\n1,1,b\n")
    out = table(capsys, str(tmp_path / "t.csv"), "--group", "set", "-m", "ROCAUC")
    assert out.splitlines()[-2].split() == ["mean", "0.0000"]
    assert out.splitlines()[-1] == "Sets where ROCAUC is undefined: 1, left out of its mean."


def test_groups_left_without_items(capsys, tmp_path):
    (tmp_path / "t.csv").write_text("label,score,set\n1,,a\n0,2,b\n1,1,b\n")
    out = table(capsys, str(tmp_path / "t.csv"), "--group", "set", "--nan", "omit", "-m", "AP")
    assert numbers(out)["b"] == ["2", "1", "0.5000"]
    assert numbers(out)["mean"] == ["0.5000"]


def test_csv(capsys, path):
    curve = hc.HitCurve(LABEL, SCORE)
    out = table(capsys, path, "-m", "AP", "P@2", "--format", "csv")
    assert list(csv.DictReader(io.StringIO(out))) == [
        {"items": "10", "relevant": "4", "AP": repr(curve.average_precision()), "P@2": repr(curve.precision(2))}
    ]
    rows = list(csv.DictReader(io.StringIO(table(capsys, path, "--group", "set", "-m", "AP", "--format", "csv"))))
    assert [row["group"] for row in rows] == ["a", "b", "c", "mean"]
    assert rows[2] == {"group": "c", "items": "2", "relevant": "0", "AP": "nan"}
    assert float(rows[3]["AP"]) == hc.mean_average_precision(LABEL, SCORE, qid=GROUP)
    rows = table(capsys, path, "--group", "set", "-m", "AP", "--format", "csv", "--mean-only").splitlines()
    assert len(rows) == 2


def test_json(capsys, path):
    curve = hc.HitCurve(LABEL, SCORE)
    assert json.loads(table(capsys, path, "-m", "AP", "NumRel", "--ties", "best", "--format", "json")) == {
        "ties": "best",
        "items": 10,
        "relevant": 4,
        "missing_scores": 0,
        "repeated_ids": None,
        "measures": {"AP": curve.average_precision(ties="best"), "NumRel": 4},
    }
    found = json.loads(table(capsys, path, "--group", "set", "-m", "AP", "--format", "json"))
    assert found["groups"][2] == {"group": "c", "items": 2, "relevant": 0, "measures": {"AP": None}}
    assert found["mean"]["AP"] == hc.mean_average_precision(LABEL, SCORE, qid=GROUP)
    assert (found["num_groups"], found["num_skipped"]) == (3, 1)
    found = json.loads(table(capsys, path, "--group", "set", "-m", "AP", "--format", "json", "--mean-only"))
    assert "groups" not in found


def test_machine_formats_of_the_report(capsys, path):
    found = json.loads(table(capsys, path, "--format", "json"))
    assert list(found["measures"])[:4] == ["AP", "AP(ties=worst)", "AP(ties=best)", "AP(ties=threshold)"]
    found = json.loads(table(capsys, path, "--format", "json", "--ties", "threshold"))
    assert "AP" in found["measures"] and "BEDROC(20)" not in found["measures"]


@pytest.mark.parametrize("policy", ["worst", "omit"])
def test_missing_scores(capsys, tmp_path, policy):
    (tmp_path / "t.csv").write_text("label,score\n0,3\n1,2\n1,\n0,NA\n")
    out = table(capsys, str(tmp_path / "t.csv"), "--nan", policy, "-m", "AP", "NumRet")
    ap = hc.average_precision([0, 1, 1, 0], [3, 2, np.nan, np.nan], nan_policy=policy)
    assert numbers(out) == {"AP": [f"{ap:.4f}"], "NumRet": ["4" if policy == "worst" else "2"]}


def test_columns_by_number_and_no_header(capsys, tmp_path):
    (tmp_path / "t.tsv").write_text("0\t3\n1\t2\n")
    arguments = ("table", str(tmp_path / "t.tsv"), "--label", "1", "--score", "2")
    assert run(capsys, *arguments, "--no-header", "-m", "AP")[:2] == (0, "AP  0.5000\n")
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (1, "")
    assert "--no-header" in err


@pytest.mark.parametrize(
    ("text", "arguments", "problem"),
    [
        ("label,scores\n1,2\n", (), "t.csv: there is no column 'score'; did you mean 'scores'?"),
        ("label,score\n1,2\n0,x\n", (), "t.csv: row 2 (line 3), column 'score': the score is 'x', not a number"),
        ("label,score\n1,2\n2,3\n", (), "t.csv: row 2 (line 3), column 'label': the label is '2'"),
        ("label,score\n1,2\n0,\n", (), "t.csv: row 2 (line 3), column 'score': the score is empty"),
        ("label,score\n1,2\n", ("--group", "set"), "t.csv: there is no column 'set'"),
        ("label,score\n1,2\ndecoy,1\n", (), "the label is 'decoy': labels must be 0 or 1, False or True; if labels are "
         "words, --positive WORD is the word of relevant rows\n"),
        ("label,score\n1,2\n7,1\n", (), "the label is '7': labels must be 0 or 1, False or True\n"),
    ],
)
def test_data_errors_are_one_line(capsys, tmp_path, text, arguments, problem):
    (tmp_path / "t.csv").write_text(text)
    path = str(tmp_path / "t.csv")
    status, out, err = run(capsys, "table", path, "--label", "label", "--score", "score", *arguments)
    assert (status, out) == (1, "")
    assert err.startswith(f"hitcurve: error: {tmp_path}")
    assert problem in err
    assert err.count("\n") == 1


def test_a_file_that_is_not_there(capsys, tmp_path):
    path = str(tmp_path / "none.csv")
    status, _, err = run(capsys, "table", path, "--label", "1", "--score", "2")
    assert status == 1
    assert err == f"hitcurve: error: {path}: No such file or directory\n"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "required: COMMAND"),
        (("tabel",), "invalid choice"),
        (("table", "t.csv"), "required: --score"),
        (("table", "t.csv", "--score", "1"), "--label, --actives or --grade is needed: it says"),
        (("table", "t.csv", "--score", "1", "--actives", "a"), "--actives needs --id"),
        (("table", "t.csv", "--label", "1", "--score", "2", "--score", "2:lower"), "--score names a column twice"),
        (("table", "t.csv", "--label", "1", "--score", "2", "--compare"),
         "--compare needs two scores: name another column"),
        (("table", "t.csv", "--label", "1", "--score", "2", "--plot", "a.gif"), "must end in .png, .svg, .pdf or .jpg"),
        (("table", "t.csv", "--label", "1", "--score", "2", "--group", "3", "--by-file"), "both make groups"),
        (("table", "t.csv", "--label", "1", "--score", "2", "--best-per", "3", "--id", "4"), "name two columns"),
        (("table", "t.csv", "--label", "1", "--score", "2", "--top", "0"), "'0' is not a whole number from 1 up"),
        (("table", "t.csv", "--label", "1", "--score", "2", "--level", "95"), "'95' is not a share between 0 and 1"),
        (("table", "t.csv", "--label", "1", "--score", "2", "-m", "APP"), "there is no measure 'APP'; near names: AP"),
        (("table", "t.csv", "--label", "1", "--score", "2", "--ties", "random"), "invalid choice: 'random'"),
        (
            ("table", "t.csv", "--label", "1", "--score", "2", "-m", "RR", "--ties", "threshold"),
            "RR is not defined for ties='threshold': use expected, best or worst",
        ),
        (("table", "t.csv", "--label", "1", "--score", "2", "-m", "AP", "--all"), "--all and -m both choose"),
        (("table", "t.csv", "--label", "1", "--score", "2", "-m", "AP", "--top", "5"),
         "with -m, name Hits@N and P@N instead"),
        (("measures", "P@"), "'' is not a cutoff"),
        (("table", "t.csv", "--label", "1", "--score", "a:lower,b"),
         "hitcurve table: error: --score a:lower,b: write --score once for each column"),
        (("table", "t.csv", "--score", "a", "b:lower", "--label", "1"),
         "hitcurve table: error: unrecognized arguments: b:lower; write --score once for each column"),
        (("table", "t.csv", "--label", "1", "--score", "2", "--latex"), "arguments: --latex; write --format latex"),
        (("trec", "q", "r", "--csv"), "hitcurve trec: error: unrecognized arguments: --csv; write --format csv"),
        (("table", "t.csv", "--label", "1", "--score", "2", "--measures", "AP"),
         "unrecognized arguments: --measures AP\n"),
        (("table", "t.csv", "--label", "1", "--score", "2", "-m", "AP,EF@1%"), "give each by itself: 'AP' and 'EF@1%'"),
    ],
)
def test_wrong_usage(capsys, arguments, problem):
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert problem in err


def test_the_list_of_measures(capsys):
    from hitcurve.measures import MEASURES

    status, out, err = run(capsys, "measures")
    assert (status, err) == (0, "")
    for record in MEASURES:
        assert record.forms[0] in out
    assert max(map(len, out.splitlines())) <= 88
    for record in MEASURES:
        name, word = record.forms[0], record.definition.split()[0]
        assert re.search(rf"^{re.escape(name)}(?: +|\n {{12}}){re.escape(word)}", out, re.M), name
    status, out, _ = run(capsys, "measures", "AP", "P_10", "AP@3")
    assert "source: Zhu 2004" in out
    assert out.count("definition: ") == 2


def test_measures_by_what_other_tools_call_them(capsys):
    """A name of another tool, in any case; a name of several measures; a tool."""
    for name, found in (("RetrievalMAP", ["AP"]), ("hits", ["Hits", "Success"]), ("ndcg_score", ["nDCG"]),
                        ("auc", ["ROCAUC"]), ("map", ["AP"]), ("MAP:top=10", ["AP"]), ("map@10-", ["AP"]),
                        ("AverageGain:top=5", ["AG"]), ("label_ranking_loss", ["ROCAUC"]), ("ndcg_cut", ["nDCG"]),
                        ("iprec_at_recall", ["IPrec"]), ("P.5,10", ["P"]), ("RBP@0.8", ["RBP"]),
                        ("set", ["NumRet", "NumRel", "NumRelRet", "NumQ", "SetP", "SetR", "SetF", "SetAP", "Utility"]),
                        ("enrichment_factor", ["EF"]), ("roc_auc", ["ROCAUC"])):  # fmt: skip
        status, out, err = run(capsys, "measures", name)
        assert (status, err) == (0, "")
        assert re.findall(r"^(\w+)\ndefinition: ", out, re.M) == found, name
    status, out, _ = run(capsys, "measures", "scikit-learn", "RIE", "xgboost")
    assert status == 0
    assert re.findall(r"^(\w[\w-]*): the measures that it has too", out, re.M) == ["scikit-learn", "XGBoost"]
    assert "\nnDCG        ndcg_score\n" in out
    assert "\nP           pre@K: divides by min(K, N): P(norm=ranked)@K\n" in out
    assert "other tools: RDKit (CalcRIE: ties in the order of the rows)" in out
    assert max(map(len, out.splitlines())) <= 88
    for name, problem in (("coverage", "RecBole (ItemCoverage)"), ("nope", "there is no measure 'nope'"),
                          ("rmse", "XGBoost (logloss, rmse)"), ("rbo", "it is hitcurve.rbo"), ("runid", "the tag of a"),
                          ("det_curve", "hitcurve.compat.sklearn_metrics has det_curve"),
                          ("P@x", "'x' is not a cutoff")):  # fmt: skip
        status, out, err = run(capsys, "measures", name)
        assert (status, out) == (2, "")
        assert problem in err


@pytest.mark.parametrize("arguments", [("--help",), ("table", "--help"), ("measures", "--help")])
def test_help_fits_a_screen(capsys, monkeypatch, arguments):
    monkeypatch.setenv("COLUMNS", "90")
    status, out, err = run(capsys, *arguments)
    assert (status, err) == (0, "")
    options, _, examples = out.partition("\nexamples:\n")
    assert len(options.splitlines()) <= 38
    assert max(map(len, options.splitlines())) <= 88
    assert max(map(len, examples.splitlines())) < 80


@pytest.mark.parametrize("command", [table_command, trec_command, measures_command])
def test_every_option_has_a_line_of_its_own_in_the_help(capsys, command):
    name = command.__name__.rpartition(".")[2]
    _, out, _ = run(capsys, name, "--help")
    for names, _, text, _ in getattr(command, "_OPTIONS", ()):
        if names.startswith("-"):
            assert text != argparse.SUPPRESS
            assert re.search(rf"^  {re.escape(names.replace(' ', ', '))} ", out, re.M), names


def test_version(capsys):
    assert run(capsys, "--version") == (0, f"hitcurve {hc.__version__}\n", "")


def test_as_a_module(path):
    command = [sys.executable, "-m", "hitcurve", "table", "-", "--label", "label", "--score", "score", "-m", "NumRel"]
    with open(path, "rb") as file:
        found = subprocess.run(command, stdin=file, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, "NumRel  4\n")
    assert found.stderr.startswith("hitcurve: warning: score: only 4 relevant items")


def test_a_reader_that_goes_away(path):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "hitcurve", "measures"]
    found = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (found.returncode, found.stderr) == (141, "")


def test_the_report_in_python():
    curve = ScreenedScore("score", False, hc.HitCurve(LABEL, SCORE), None)
    assert Report([curve], First()).text().splitlines()[0] == "10 items, 4 relevant (40 %)"
    curves = ScreenedScore("score", False, hc.HitCurves(LABEL, SCORE, qid=GROUP), ["a", "b", "c"])
    found = Report([curves], Named([parse("AP")]))
    assert found.scores[0].kept == [0, 1]
    assert Report([curve], Named([parse("NumRel")])).text() == "NumRel  4\n"


@pytest.mark.parametrize("more", [(), ("--group", "set"), ("-m", "AP", "P@2"), ("-m", "AP", "--group", "set"),
                                  ("--all",), ("--group", "set", "--all")])  # fmt: skip
def test_every_form_has_every_number(capsys, path, more):
    """The cells of the table, in Markdown, and in LaTeX; what stands between the tables is kept."""
    plain, markdown, latex = (table(capsys, path, *more, "--format", form) for form in ("table", "markdown", "latex"))
    lines = [line.replace("\\", "")[1:-1].split("|") for line in markdown.splitlines() if line[:1] == "|"]
    rows = [[cell.strip() for cell in line] for line in lines]
    cells = [row for row in rows if row[0] != "---"]
    other = [line.replace("\\", "").split("&") for line in latex.splitlines() if " & " in line]
    assert cells == [[cell.strip() for cell in row] for row in other]
    lines = [" ".join(line.split()) for line in plain.splitlines()]
    assert all(" ".join(filter(None, row)) in lines for row in cells if row != ["measure", "value"])
    said = " ".join(" ".join(line.removeprefix("% ") for line in latex.splitlines()).split())
    for line in lines:
        if line.endswith(".") and not line.startswith("--"):  # not what the options are
            assert line in said


def test_resamples_grow_with_the_pairs_while_they_are_affordable(capsys, tmp_path, monkeypatch):
    from hitcurve.statistics import comparison

    names = [f"s{i:02}" for i in range(12)]
    rows = [[int(i % 3 == 0), *(i * at % 19 for at in range(1, 13))] for i in range(20)]
    text = "".join(",".join(map(str, row)) + "\n" for row in [["y", *names], *rows])
    (tmp_path / "t.csv").write_text(text)
    columns = [word for name in names for word in ("--score", name)]
    arguments = ("table", str(tmp_path / "t.csv"), "--label", "y", *columns, "-m", "P@5", "--compare")
    status, out, err = run(capsys, *arguments)
    assert status == 0 and "13199 resamples" in " ".join(out.split()) and "too few" not in err
    monkeypatch.setattr(comparison, "_AFFORDABLE", 20 * 12 * 13_199 - 1)
    status, out, err = run(capsys, *arguments)
    assert status == 0 and "13199 resamples" not in " ".join(out.split())
    assert "warning: 1000 resamples are too few: no p-value from them, corrected for" in err
