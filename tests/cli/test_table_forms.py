"""`hitcurve table` for tables as people have them, and what it says about missing scores and repeated ids."""

import json

import drawn_once
import pytest

pytest.importorskip("pyarrow")

from hitcurve.cli.main import main

# Semicolons, decimal commas, words, a code and a gap for missing scores, an id that comes twice.
TEXT = "name;class;score\na;active;0,5\nb;inactive;0,25\nc;active;\nd;inactive;n.d.\na;active;0,1\n"
COLUMNS = ("--label", "class", "--score", "score", "--positive", "active")
FORM = "hitcurve: warning: t.csv: read with semicolons between cells and decimal commas"


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text(TEXT)
    monkeypatch.chdir(tmp_path)


def run(capsys, *arguments, columns=COLUMNS):
    status = main(["table", "t.csv", *columns, *arguments])
    return status, *capsys.readouterr()


def test_what_was_found_out_is_said(capsys):
    status, out, err = run(capsys, "--nan", "worst", "--na", "n.d.", "-m", "AP", "NumRel")
    assert (status, out) == (0, "AP      0.7806\nNumRel       3\n")
    assert err.splitlines()[:2] == [
        FORM, "hitcurve: warning: score: Rows without a score: 2 of 5, ranked last",
    ]  # fmt: skip
    given = ("--delimiter", ";", "--decimal", ",", "--nan", "worst", "--na", "n.d.", "-m", "AP", "NumRel")
    assert run(capsys, *given)[:2] == (0, out)
    assert "read with" not in run(capsys, *given)[2]


@pytest.mark.parametrize("given", [("--delimiter", "tab"), ("--delimiter", r"\t"), ("--delimiter", "\t"), ()])
def test_tabs_by_name(capsys, tmp_path, given):
    (tmp_path / "t.csv").write_text(TEXT.replace(";", "\t"))
    status, out, err = run(capsys, "--nan", "omit", "--na", "n.d.", "-m", "NumRet", *given)
    assert (status, out) == (0, "NumRet  3\n")
    assert ("tabs between cells" in err) == (not given)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "t.csv: row 4 (line 5), column 'score': the score is 'n.d.', not a number"),
        (("--na", "n.d."), "t.csv: row 3 (line 4), column 'score': the score is empty: give --nan worst to rank it "
         "below all other scores, or --nan omit to leave it out"),
        (("--decimal", "."), "the score is '0,5', not a number (it is a number with --decimal ,)"),
        (("--delimiter", ","), "t.csv: there is no column 'class'; the columns are 'name;class;score'"),
        (("--delimiter", "::"), "delimiter is '::': it must be one character"),
        (("--na", "n.d.", "--nan", "worst", "--positive", "Active"),
         "t.csv: no label is --positive Active; the labels are 'active', 'inactive'"),
    ],
)  # fmt: skip
def test_errors(capsys, arguments, problem):
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (1, "")
    assert problem in err.splitlines()[-1]


def test_unclear_forms_name_the_options(capsys, tmp_path):
    (tmp_path / "t.csv").write_text("class;score\nactive;1,234\n")
    assert "pass --decimal , if it is the decimal mark" in run(capsys)[2]
    (tmp_path / "t.csv").write_text("a;1;2;b\t1\t3\n")
    _, _, err = run(capsys, "--no-header", columns=("--label", "2", "--score", "3"))
    assert r"the file can be read with --delimiter ; and --delimiter \t: pass one of them" in err
    assert main(["table", "t.csv", "--grade", "1", "--score", "2", "--positive", "x"]) == 2
    assert "--positive needs --label, a column of words" in capsys.readouterr().err
    assert main(["table", "t.csv", "--label", "1", "--score", "2", "-m", "AP", "nDCG@10"]) == 2
    assert "error: nDCG@10 needs levels of relevance: --grade COL in place of --label" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
@pytest.mark.parametrize(("nan", "fate"), [("worst", "ranked last"), ("omit", "left out")])
@pytest.mark.parametrize(("best", "each"), [("--id", "each ranked by itself"),
                                            ("--best-per", "the best row of each id is ranked")])  # fmt: skip
def test_reports_count_missing_scores_and_repeated_ids(capsys, form, nan, fate, best, each):
    status, out, _ = run(capsys, "--nan", nan, "--na", "n.d.", best, "name", "--format", form)
    assert status == 0
    lines = [line.removeprefix("% ") for line in out.splitlines()]
    assert f"Rows without a score: 2 of 5, {fate}." in lines
    assert f"Rows that repeat an id: 1 of 5, {each}." in lines
    found = json.loads(run(capsys, "--nan", nan, "--na", "n.d.", best, "name", "-m", "AP", "--format", "json")[1])
    assert (found["missing_scores"], found["repeated_ids"]) == (2, 1)


def test_reports_count_none(capsys, tmp_path):
    (tmp_path / "t.csv").write_text("class,score\nactive,2\ninactive,1\n")
    out = run(capsys)[1]
    assert "Rows without a score: none." in out.splitlines()
    assert out.count("Rows that repeat an id: not counted, because --id names no column of ids.") == 1
    found = json.loads(run(capsys, "--format", "json")[1])
    assert (found["missing_scores"], found["repeated_ids"]) == (0, None)
    assert "Rows that repeat an id: none." in run(capsys, "--id", "score")[1].splitlines()


def test_the_page_counts_them_too(capsys, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    drawn_once.words_alone(monkeypatch)
    for more in ((), ("-m", "AP")):
        assert run(capsys, "--nan", "worst", "--na", "n.d.", "--id", "name", "--report", "r.html", *more)[0] == 0
        page = (tmp_path / "r.html").read_text(encoding="utf-8")
        assert "Rows without a score: 2 of 5, ranked last." in page
        assert "Rows that repeat an id: 1 of 5, each ranked by itself." in page
        assert "<li>t.csv: read with semicolons between cells and decimal commas</li>" in page


def test_each_score_and_file_by_itself(capsys, tmp_path):
    (tmp_path / "t.csv").write_text("class;s;t\nactive;1;\ninactive;;\nactive;2;3\n")
    (tmp_path / "u.csv").write_text("class,s,t\nactive,1,\ninactive,,4\n")
    arguments = ["table", "t.csv", "u.csv", "--by-file", "--label", "class", "--positive", "active", "--score", "s",
                 "--score", "t", "--nan", "omit", "--format", "json", "-m", "AP"]  # fmt: skip
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert [score["missing_scores"] for score in json.loads(out)["scores"]] == [2, 3]
    assert "t.csv: read with semicolons between cells\n" in err
    assert "u.csv: read" not in err
