"""`hitcurve table --library`: compounds that left no row."""

import hashlib
import json

import drawn_once
import numpy as np
import pytest

pytest.importorskip("pyarrow")

from hitcurve.cli.main import main

ROWS = "a,1,0.9,-3\nb,0,0.8,-1\nc,1,0.8,\nd,0,0.1,-2\n"
MISSING = "e,1,,\nf,0,,\ng,0,,\n"
TABLE = ("table", "s.csv", "--label", "y", "--score", "s")
SAID = "Compounds of the library without a row: 3, ranked last (1 active and 2 decoys)"


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = {
        "s.csv": "id,y,s,t\n" + ROWS, "full.csv": "id,y,s,t\n" + ROWS + MISSING,
        "unlabelled.csv": "id,s\na,0.9\nb,0.8\nc,0.8\nd,0.1\n",
        "library.csv": "id,y\n" + "".join(row[:3] + "\n" for row in (ROWS + MISSING).split()),
        "words.csv": "name;y\n" + "".join(f"{one};{'hit' if one in 'ace' else 'no'}\n" for one in "abcdefg"),
        "actives.smi": "CC a\nCC c\nCC e\n", "decoys.smi": "CC b\nCC d\nCC f\nCC g\n", "all.txt": "\n".join("abcdefg"),
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).write_text(text)


def run(capsys, *arguments):
    status = main(list(arguments))
    return status, *capsys.readouterr()


GIVEN = [
    (*TABLE, "--id", "id", "--library", "library.csv"),
    (*TABLE, "--best-per", "id", "--library", "library.csv"),
    (*TABLE, "--library", "7", "--num-actives", "3"),
    (*TABLE, "--id", "id", "--library", "all.txt", "--num-actives", "3"),
    (*TABLE, "--id", "id", "--library", "actives.smi", "--library", "decoys.smi", "--num-actives", "3"),
    ("table", "unlabelled.csv", "--score", "s", "--id", "id", "--actives", "actives.smi",
     "--library", "actives.smi", "--library", "decoys.smi"),
    ("table", "unlabelled.csv", "--score", "s", "--id", "id", "--actives", "actives.smi", "--library", "7"),
    ("table", "unlabelled.csv", "--score", "s", "--id", "id", "--label", "y", "--library", "library.csv"),
    ("table", "unlabelled.csv", "--score", "s", "--id", "id", "--label", "y", "--positive", "hit", "--library",
     "words.csv"),
]  # fmt: skip


@pytest.mark.parametrize("form", [("--all",), ("--interval",), ("-m", "AP", "EF@50%", "BEDROC(20)", "ROCAUC")])
def test_the_numbers_of_the_table_with_empty_scores(form, capsys):
    full = run(capsys, "table", "full.csv", "--label", "y", "--score", "s", "--nan", "worst", "--id", "id", *form,
               "--format", "csv")  # fmt: skip
    assert full[0] == 0
    for given in GIVEN:
        found = run(capsys, *given, *form, "--format", "csv")
        assert found[:2] == full[:2], given
        assert f"s: {SAID}" in found[2], given


def test_the_foot_says_how_many(capsys):
    status, out, _ = run(capsys, *TABLE, "--id", "id", "--library", "library.csv")
    assert status == 0
    assert f"{SAID}.\n" in out.replace("\n  ", " ")
    assert "s.csv: 7 items, 3 relevant" in out
    out = run(capsys, *TABLE, "--library", "4", "--num-actives", "2")[1]
    assert "Compounds of the library without a row: none." in out
    out = json.loads(run(capsys, *TABLE, "--library", "7", "--num-actives", "3", "--format", "json")[1])
    assert (out["items"], out["without_row"], out["relevant_without_row"]) == (7, 3, 1)


def test_two_scores_with_different_failures_and_the_page(capsys, tmp_path, monkeypatch):
    drawn_once.words_alone(monkeypatch)
    page = tmp_path / "page.html"
    two = ("--score", "t:lower", "--nan", "worst", "--compare", "--resamples", "99")
    full = run(capsys, "table", "full.csv", "--label", "y", "--score", "s", *two, "-m", "AP")
    found = run(capsys, *TABLE, *two, "-m", "AP", "--id", "id", "--library", "library.csv", "--report", str(page))
    assert found[:2] == full[:2]
    assert full[0] == 0
    assert SAID in page.read_text()
    for name in ("s.csv", "library.csv"):  # the files that the page is made of
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() in page.read_text()


def test_groups(capsys, tmp_path):
    rng = np.random.default_rng(1)
    rows = [(g, f"c{at}", int(rng.random() < 0.3), rng.integers(0, 9)) for g in ("p", "q") for at in range(40)]
    docked = rng.random(80) < 0.7
    (tmp_path / "g.csv").write_text("g,id,y,s\n" + "".join(
        f"{g},{one},{y},{s}\n" for (g, one, y, s), there in zip(rows, docked, strict=True) if there))
    (tmp_path / "full.csv").write_text("g,id,y,s\n" + "".join(
        f"{g},{one},{y},{s if there else ''}\n" for (g, one, y, s), there in zip(rows, docked, strict=True)))
    (tmp_path / "l.csv").write_text("id,y,g\n" + "".join(f"{one},{y},{g}\n" for g, one, y, _ in rows))
    given = ("--label", "y", "--score", "s", "--group", "g", "-m", "AP", "EF@10%", "--interval", "--resamples", "99")
    full = run(capsys, "table", "full.csv", *given, "--nan", "worst")
    found = run(capsys, "table", "g.csv", *given, "--id", "id", "--library", "l.csv")
    assert found[:2] == full[:2]
    assert full[0] == 0


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(
    "listed", [(), ("--library", "of_target.csv"), ("--library", "of_all.txt")], ids=["no library", "by target", "all"]
)
@pytest.mark.parametrize("group", [("--group", "g"), ("--by-file",)], ids=["group", "files"])
def test_actives_of_each_target(listed, group, kind, capsys, tmp_path):
    """A compound that is active for one target may be a decoy of another: the list of the actives says for which."""
    rng = np.random.default_rng(3)
    names = ["p", "q r/s", "7"] if group[0] == "--group" else ["p.csv", "q r.csv", "7.csv"]
    rows = [(g, f"c{at}", int(rng.random() < 0.3), rng.integers(0, 9), rng.random() < 0.8)
            for at in range(40) for g in names]
    if not listed:
        rows = [row for row in rows if row[4]]
    column = "g" if group[0] == "--group" else "file"
    active = [(g, one) for g, one, y, *_ in rows if y]
    actives = pytest.importorskip("pyarrow").table({column: [g for g, _ in active], "id": [one for _, one in active]})
    if kind == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(actives, tmp_path / "actives.parquet")
    else:
        (tmp_path / "actives.csv").write_text(f"{column},id\n" + "".join(f"{g},{one}\n" for g, one in active))
    (tmp_path / "of_target.csv").write_text(f"id,{column}\n" + "".join(f"{one},{g}\n" for g, one, *_ in rows))
    (tmp_path / "of_all.txt").write_text("".join(f"c{at}\n" for at in range(40)))
    files = {"g.csv": names} if group[0] == "--group" else {name: [name] for name in names}
    for name, held in files.items():
        (tmp_path / name).write_text("g,id,s\n" + "".join(f"{g},{one},{s}\n" for g, one, _, s, there in rows
                                                         if there and g in held))  # fmt: skip
    (tmp_path / "full.csv").write_text("g,id,y,s\n" + "".join(
        f"{g},{one},{y},{s if there else ''}\n" for g, one, y, s, there in rows))  # fmt: skip
    given = ("-m", "AP", "EF@10%", "--format", "csv", "--score", "s:lower")
    full = run(capsys, "table", "full.csv", *given, "--label", "y", "--group", "g", "--nan", "worst")
    found = run(capsys, "table", *files, *given, *group, "--id", "id", "--actives", f"actives.{kind}", *listed)
    assert sorted(found[1].splitlines()) == sorted(full[1].splitlines())
    assert full[0] == 0


def test_actives_of_a_target_that_do_not_occur(capsys, tmp_path):
    (tmp_path / "t.csv").write_text("g,id,s\nT,a,1\nT,b,2\nU,a,1\n")
    given = ("table", "t.csv", "--score", "s", "--id", "id", "--group", "g", "-m", "NumRel", "--format", "csv",
             "--actives", "a.csv")  # fmt: skip
    (tmp_path / "a.csv").write_text("g,id\nT,a\nU,b\nT,a\n")
    out, err = run(capsys, *given)[1:]
    assert out == "group,items,relevant,NumRel\nT,2,1,1\nU,1,0,0\nmean,,,1.0\n"
    assert "1 of the 2 ids of a.csv (such as 'b' of group 'U') are not in the table" in err
    (tmp_path / "a.csv").write_text("g,id\nW,a\n")
    assert "none of the 1 ids of a.csv (such as 'a' of group 'W') is in the table" in run(capsys, *given)[2]
    (tmp_path / "a.csv").write_text("g,id\n,a\n")
    assert "a.csv: column 'g': the group of 'a' is empty" in run(capsys, *given)[2]


@pytest.mark.parametrize("library", [(), ("--library", "all.txt")])
def test_a_list_of_actives_whose_first_line_is_an_id(library, capsys, tmp_path):
    """The first line of a table holds names. Without this error, the first active would be lost."""
    (tmp_path / "ids.csv").write_text("a\nc\n")
    given = ("table", "s.csv", "--score", "s", "--id", "id", "-m", "NumRel", *library, "--actives", "ids.csv")
    assert "ids.csv: the first line, 'a', is taken as the name of a column, but it is the id of a row: write the " \
           "name of the column of --id above the ids, or call the file .txt" in run(capsys, *given)[2]  # fmt: skip
    (tmp_path / "ids.csv").write_text("name\na\nc\n")
    assert run(capsys, *given)[:2] == (0, "NumRel  2\n")


def test_all_targets_have_all_compounds_of_a_library_without_targets(capsys, tmp_path):
    """A note says so if most of these compounds have no row."""
    (tmp_path / "t.csv").write_text("g,id,s,y\n" + "".join(f"T{g},c{g}{at},{at},{at % 2}\n" for g in range(4)
                                                          for at in range(5)))  # fmt: skip
    (tmp_path / "l.csv").write_text("id,y\n" + "".join(f"c{g}{at},{at % 2}\n" for g in range(4) for at in range(5)))
    given = ("table", "t.csv", "--score", "s", "--id", "id", "--group", "g", "--label", "y", "-m", "AP", "--library")
    said = "the library has no column 'g', so each of the 4 groups has all 20 compounds, and most of them have no row"
    assert said in run(capsys, *given, "l.csv")[2]
    (tmp_path / "m.csv").write_text("id,y,g\n" + "".join(f"c{g}{at},{at % 2},T{g}\n" for g in range(4)
                                                        for at in range(6)))  # fmt: skip
    assert said not in run(capsys, *given, "m.csv")[2]
    # A number of actives is refused with groups, so the error must not ask for it.
    (tmp_path / "n.csv").write_text("id,g\nc00,T0\n")
    err = run(capsys, *given, "n.csv")[2]
    assert "not known: give a column of labels in the file of the library, or a list of the actives' ids\n" in err


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (("--library", "library.csv"), "--library FILE needs --id"),
        (("--library", "7"), "--library N needs --num-actives"),
        (("--num-actives", "3"), "--num-actives needs --library"),
        (("--library", "7", "--library", "8"), "--library is a number or files"),
        (("--library", "7", "--num-actives", "3", "--group", "id"), "--library N is one number, but each group"),
        (("--library", "library.csv", "--id", "id", "--num-actives", "3", "--group", "t"),
         "--num-actives is one number"),
        (("--library", "library.csv", "--id", "id", "--nan", "omit"), "must rank last too: --nan worst"),
        (("--library", "library.csv", "--id", "id", "--report", "library.csv"), "library.csv is the same file"),
    ],
)  # fmt: skip
def test_wrong_usage(given, problem, capsys):
    status, out, err = run(capsys, *TABLE, *given)
    assert (status, out) == (2, "")
    assert problem in err


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (("--id", "id", "--library", "decoys.smi", "--num-actives", "3"),
         "2 ids of the rows (such as 'a') are not in the library"),
        (("--id", "id", "--library", "all.txt"), "library all.txt: the labels of its compounds are not known: give "
         "--num-actives, the number of actives"),
        (("--id", "id", "--library", "all.txt", "--library", "decoys.smi", "--num-actives", "3"),
         "library all.txt and library decoys.smi: 4 ids (such as 'b') come more than once"),
        (("--library", "3", "--num-actives", "3"), "library is 3, but the source has 4 rows"),
        (("--id", "id", "--library", "nowhere.csv"), "nowhere.csv: No such file"),
        (("--id", "id", "--library", "words.csv"), "library words.csv: compound 1, column 'y': the label is 'hit'"),
    ],
)  # fmt: skip
def test_errors(given, problem, capsys):
    status, out, err = run(capsys, *TABLE, *given)
    assert (status, out) == (1, "")
    assert problem in err


def test_actives_that_the_library_lacks(capsys, tmp_path):
    (tmp_path / "more.txt").write_text("a\nc\ne\nz\n")
    given = ("table", "s.csv", "--score", "s", "--id", "id", "-m", "NumRel", "--library", "all.txt", "--actives")
    status, out, err = run(capsys, *given, "more.txt")
    assert (status, out) == (0, "NumRel  3\n")
    assert "1 of the 4 ids of more.txt (such as 'z') are not in the library: these ids do not count" in err
    (tmp_path / "more.txt").write_text("y\nz\n")
    assert "none of the 2 ids of more.txt (such as 'y') is in the library" in run(capsys, *given, "more.txt")[2]
