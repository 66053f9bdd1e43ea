"""`hitcurve trec --queries`: some of the queries, and groups of queries."""

import contextlib
import csv
import io
import json
import re
from pathlib import Path

import drawn_once
import pytest

import hitcurve as hc
from hitcurve.cli.main import main


@pytest.fixture
def topics(tmp_path, monkeypatch):
    """Judgments, two runs, and files of ids and of groups."""
    monkeypatch.chdir(tmp_path)
    qrels = [f"{q} 0 d{d} {(q + d) % 3}\n" for q in range(1, 7) for d in range(6)]
    runs = {name: [f"{q} Q0 d{d} 1 {(q * d * step) % 7} {name}\n" for q in range(1, 7) for d in range(8)]
            for name, step in (("a.txt", 1), ("b.txt", 3))}  # fmt: skip
    groups = [f"{q}\t{'long ones' if q % 3 else 'short'}\n" for q in range(1, 6)]
    files = {"q.txt": qrels, **runs, "ids.txt": ["# a comment\n", "\n", "2\n", "4 \n"], "groups.txt": groups}
    for name, lines in files.items():
        (tmp_path / name).write_text("".join(lines))
    return "q.txt", "a.txt", "b.txt"


def test_some_of_the_queries(capsys, topics):
    for form in ("table", "trec", "csv"):
        assert main(["trec", *topics, "--queries", "ids.txt", "-q", "-m", "AP", "--format", form]) in (None, 0)
        out = capsys.readouterr().out
        assert not re.search(r"(?m)^\S+\s+[1356]\b", out)
    found = hc.evaluate(topics[0], topics[1], "AP", queries=["2", "4"])
    assert f"{found['AP']!r}" in out


def test_groups_of_queries(capsys, topics):
    command = ["trec", *topics, "--queries", "groups.txt", "-m", "AP"]
    found = hc.Leaderboard(dict(zip(topics[1:], hc.evaluate(topics[0], list(topics[1:]), "AP"), strict=True)),
                           queries={str(q): "long ones" if q % 3 else "short" for q in range(1, 6)})  # fmt: skip
    main([*command, "--format", "csv"])
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["run"], row["stratum"], row["query_id"]) for row in rows[:3]] == [
        ("a.txt", "all", "all"), ("a.txt", "long ones", "all"), ("a.txt", "short", "all")]  # fmt: skip
    for row in rows:
        means = found.means if row["stratum"] == "all" else found.strata[row["stratum"]]
        assert float(row["AP"]) == means[row["run"]]["AP"]
    main([*command, "--format", "csv", "-q"])
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["stratum"] for row in rows[:9]] == ["long ones", "long ones", "short", "long ones", "long ones", "",
                                                    "all", "long ones", "short"]  # fmt: skip
    main([*command, "--format", "json", "--compare", "--resamples", "99", "--report", "page.html"])
    tree = json.loads(capsys.readouterr().out)
    assert tree["runs"][0]["strata"]["short"] == {"queries": 1, "means": found.strata["short"]["a.txt"]}
    assert {group: part["count"] for group, part in tree["comparison"]["strata"].items()} == {
        "long ones": 4, "short": 1}  # fmt: skip
    page = Path("page.html").read_text(encoding="utf-8")
    assert re.findall("<caption>(.*?, queries: .*?)</caption>", page) == ["long ones, queries: 4", "short, queries: 1"]
    main([*command, "--format", "csv", "--compare", "--resamples", "99"])
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["stratum"] for row in rows] == ["all", "long ones", "short"]
    main([*command, "--format", "latex"])
    assert "stratum & queries & run & AP" in capsys.readouterr().out
    main([*command, "--format", "latex", "--compare"])
    assert capsys.readouterr().out.count("tabular") == 2  # the board alone
    main(command)
    assert capsys.readouterr().out.splitlines()[0].split() == ["run", "stratum", "AP"]


@pytest.mark.parametrize(
    ("text", "more", "problem"),
    [
        ("1\n22\n", (), "f.txt has '22', which is not among the 6 judged queries; near names: '2'"),
        ("", (), "f.txt selects none of the 6 queries"),
        ("1 x\n2\n", (), "f.txt, line 2: the query '2' has no group, unlike that of line 1"),
        ("1 x\n2 y\n1 z\n", (), "f.txt, line 3: the query '1' already has the group 'x'"),
        ("1 x\n", ("--format", "trec"), "--format trec prints no groups of queries: use csv or json"),
        ("1 x\n", ("--user-model", "RBP(p=0.8)"), "--user-model prints no groups of queries"),
    ],
)
def test_wrong_files_of_queries(capsys, topics, text, more, problem):
    Path("f.txt").write_text(text)
    with contextlib.suppress(SystemExit):
        main(["trec", *topics, "--queries", "f.txt", *more])
    said = capsys.readouterr()
    assert not said.out
    assert problem in said.err


def test_the_strata_of_many_systems_are_folded(capsys, topics, monkeypatch):
    drawn_once.words_alone(monkeypatch)
    runs = []
    for at in range(21):
        runs.append(f"run{at}.txt")
        Path(runs[-1]).write_text("".join(f"{q} Q0 d{at % q} 1 1 r{at}\n" for q in range(1, 6)))
    main(["trec", topics[0], *runs, "--queries", "groups.txt", "-m", "AP", "--report", "page.html"])
    page = Path("page.html").read_text(encoding="utf-8")
    assert "<summary>long ones, queries: 4: 21 rows</summary>" in page
    assert page.index("<summary>short, queries: 1: 21 rows</summary>") > page.index("Strata")
