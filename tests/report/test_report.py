"""Reports: the whole of a screen by one command, in text, in a machine's form, and as a page of its own."""

import csv
import gzip
import hashlib
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("matplotlib")

from html_page import Page

import hitcurve as hc
from hitcurve.cli.main import main
from hitcurve.measures import parse
from hitcurve.report import plot
from hitcurve.report import usual as report

RNG = np.random.default_rng(7)
N = 600
Y = (RNG.random(N) < 0.1).astype(int)
DOCK = np.round(-6 - Y - RNG.normal(size=N), 1)
SIMILAR = np.round(RNG.random(N) + 0.2 * Y, 3)
TARGET = RNG.choice(["t1", "t2", "t3"], N)
ID = np.array([f"c{at}" for at in range(N)])


@pytest.fixture
def path(tmp_path):
    rows = zip(ID, Y, DOCK, SIMILAR, TARGET, strict=True)
    text = "id,active,dock,<sim & co>,target\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    (tmp_path / "s.csv").write_text(text)
    return str(tmp_path / "s.csv")


def run(capsys, *arguments):
    status = main(["table", *map(str, arguments)])
    captured = capsys.readouterr()
    assert status == 0, captured.err
    return captured.out, captured.err


@pytest.fixture
def few_kinds(monkeypatch):
    """Groups have two of the four curves, for drawing takes most of the time. `test_the_page` has all of them."""
    monkeypatch.setattr(plot.figure, "__defaults__", (("hits", "precision-recall"),))


ARGUMENTS = ("--label", "active", "--score", "dock:lower", "--score", "<sim & co>")
COMPARED = ("AP", "ROCAUC", "BEDROC(20)", "EF@1%")  # unless measures are named
BOTH = {"dock": hc.HitCurve(Y, DOCK, lower_is_better=True), "<sim & co>": hc.HitCurve(Y, SIMILAR)}


# --- text and machine forms ---------------------------------------------------------------------------------


def test_every_measure_of_the_field_under_every_reading(capsys, path):
    out, _ = run(capsys, path, "--label", "active", "--score", "dock:lower", "--top", "7", "500", "--all")
    rows = {line.split("  ")[0]: line for line in out.splitlines()}
    names = ["AP", "NormAP", "ROCAUC", "AUAC", "logAUC", "logAUC(adjusted)", "RIE(20)"]
    names += [f"BEDROC({alpha})" for alpha in ("20", "80.5", "160.9", "321.9")]
    names += [f"{name}@{percent}%" for name in ("EF", "NEF", "ROCE") for percent in ("0.1", "0.5", "1", "2", "5", "10")]
    names += ["Hits@7", "P@7", "Hits@500", "P@500"]
    for name in names:
        measure = parse(name)
        cells = rows[name][len(name) :].split()[:4]
        for reading, cell in zip(("expected", "worst", "best", "threshold"), cells, strict=True):
            if reading in measure.record.ties:
                assert float(cell) == pytest.approx(measure(BOTH["dock"], reading), abs=6e-5, rel=2e-3), (name, reading)
            else:
                assert cell == "-"
    greatest = BOTH["dock"].max_enrichment_factor(0.01)
    assert rows["EF@1%"].endswith(f"over chance; at most {greatest:.4g}")


def test_list_sizes_stay_within_the_list(capsys, path):
    out, _ = run(capsys, path, "--label", "active", "--score", "dock:lower", "--all")
    assert "Hits@100 " in out
    assert "Hits@1000" not in out


def test_several_scores(capsys, path):
    out, _ = run(capsys, path, *ARGUMENTS, "--all")
    assert "s.csv, dock (lower is better): 600 items" in out
    assert "s.csv, <sim & co> (higher is better): 600 items" in out
    assert out.count("expected: the mean over all orders") == 1
    tail = out[out.index("\nscore ") :].splitlines()
    assert tail[1].split() == ["score", *report.SUMMARY]
    assert tail[2].split()[1:] == [f"{parse(name)(BOTH['dock']):.4f}" for name in report.SUMMARY]
    out, _ = run(capsys, path, *ARGUMENTS, "-m", "AP", "EF@1%")
    assert [line.split()[-2:] for line in out.splitlines()] == [
        ["AP", "EF@1%"],
        *([f"{one.average_precision():.4f}", f"{one.enrichment_factor(0.01):.4f}"] for one in BOTH.values()),
    ]


def test_several_scores_for_programs(capsys, path):
    out, _ = run(capsys, path, *ARGUMENTS, "-m", "AP", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["score"], float(row["AP"])) for row in rows] == [
        (name, one.average_precision()) for name, one in BOTH.items()
    ]
    found = json.loads(run(capsys, path, *ARGUMENTS, "--format", "json")[0])["scores"]
    assert [one["score"] for one in found] == list(BOTH)
    for one, curve in zip(found, BOTH.values(), strict=True):
        assert one["measures"]["EF(ties=worst)@1%"] == curve.enrichment_factor(0.01, ties="worst")
        assert one["measures"]["BEDROC(80.5,ties=best)"] == curve.bedroc(80.5, ties="best")
        assert one["measures"]["logAUC(adjusted,ties=threshold)"] == curve.log_auc(adjusted=True, ties="threshold")


def test_directions(capsys, path):
    one, _ = run(capsys, path, "--label", "active", "--score", "dock", "--lower-is-better", "-m", "AP")
    assert one == f"AP  {BOTH['dock'].average_precision():.4f}\n"
    two, _ = run(capsys, path, *ARGUMENTS[:2], "--score", "dock:lower", "--score", "<sim & co>:higher",
                 "--lower-is-better", "-m", "AP")  # fmt: skip
    assert f"{BOTH['<sim & co>'].average_precision():.4f}" in two


def test_actives_by_id(capsys, path, tmp_path):
    wanted = [*ID[Y == 1], "unknown"]
    (tmp_path / "actives.txt.gz").write_bytes(gzip.compress("\n".join(wanted).encode()))
    arguments = (path, "--actives", tmp_path / "actives.txt.gz", "--id", "id", "--score", "dock:lower", "-m", "AP")
    out, err = run(capsys, *arguments)
    assert out == f"AP  {BOTH['dock'].average_precision():.4f}\n"
    assert f"1 of the {len(wanted)} ids" in err
    assert "(such as 'unknown') are not in the table: these ids do not count" in err
    (tmp_path / "none.txt").write_text("x1\n")
    assert main(["table", path, "--actives", str(tmp_path / "none.txt"), "--id", "id", "--score", "dock"]) == 1
    assert "none of the 1 ids" in capsys.readouterr().err
    (tmp_path / "none.txt").write_text("\n")
    assert main(["table", path, "--actives", str(tmp_path / "none.txt"), "--id", "id", "--score", "dock"]) == 1
    assert "the file has no ids" in capsys.readouterr().err


def test_best_pose_and_repeated_ids(capsys, tmp_path):
    (tmp_path / "p.csv").write_text("id,y,s\na,1,-5\na,1,-9\nb,0,-7\nb,0,-6\nc,0,-8\n")
    arguments = (tmp_path / "p.csv", "--label", "y", "--score", "s:lower", "-m", "NumRet", "AP")
    out, _ = run(capsys, *arguments, "--best-per", "id")
    assert out == "NumRet       3\nAP      1.0000\n"
    out, err = run(capsys, *arguments, "--id", "id")
    assert "NumRet       5" in out
    assert "2 rows repeat the id of another row" in err


def test_each_file_a_group(capsys, tmp_path):
    for name, text in (("b.csv", "y,s\n1,2\n0,1\n"), ("a.csv", "y,s\n1,1\n0,2\n")):
        (tmp_path / name).write_text(text)
    arguments = ("--label", "y", "--score", "s", "-m", "AP", "--format", "csv")
    rows = run(capsys, tmp_path / "b.csv", tmp_path / "a.csv", "--by-file", *arguments)[0].splitlines()
    assert rows[1:] == ["b.csv,2,1,1.0", "a.csv,2,1,0.5", "mean,,,0.75"]
    assert run(capsys, tmp_path / "b.csv", tmp_path / "a.csv", *arguments)[0].splitlines()[1].startswith("4,2,")


def test_intervals(capsys, path):
    out, _ = run(capsys, path, "--label", "active", "--score", "dock:lower", "-m", "AP", "ROCAUC", "--interval")
    low, high = BOTH["dock"].interval("AP").confidence_interval
    assert out.splitlines()[0] == f"AP      {BOTH['dock'].average_precision():.4f}  {low:.4f} to {high:.4f}   logit"
    arguments = (path, *ARGUMENTS, "-m", "AP", "EF@1%", "--interval", "--level", "0.8", "--seed", "3")
    out, _ = run(capsys, *arguments, "--format", "csv")
    assert out == run(capsys, *arguments, "--format", "csv", "--workers", "1")[0]
    rows = list(csv.DictReader(io.StringIO(out)))
    low, high = BOTH["dock"].interval("AP", confidence_level=0.8).confidence_interval
    assert (float(rows[0]["AP from"]), float(rows[0]["AP to"])) == (low, high)
    assert float(rows[1]["EF@1% from"]) <= float(rows[1]["EF@1%"]) <= float(rows[1]["EF@1% to"])
    found = json.loads(run(capsys, *arguments, "--format", "json")[0])["scores"][0]["intervals"]
    assert found["AP"] == {"from": low, "to": high, "by": "logit"}


@pytest.mark.parametrize("ties", ["expected", "worst", "threshold"])
def test_the_command_and_python_draw_the_same(capsys, path, ties):
    """One interval for one number: whatever is asked for beside it, to the bit."""
    names = ["EF@1%", "BEDROC(20)", "AP", "AP(ties=best)", "ROCAUC", "P@10", "AP@20", "AUAC"]
    names.remove("BEDROC(20)" if ties == "threshold" else "AP@20")
    options = {"n_resamples": 150, "rng": 4, "confidence_level": 0.8, "ties": ties}
    arguments = (path, *ARGUMENTS, "--interval", "--level", "0.8", "--seed", "4", "--resamples", "150", "--ties", ties)
    scores, lower = {"dock": DOCK, "<sim & co>": SIMILAR}, {"dock": True}
    compared = hc.compare(Y, scores, measures=names, lower_is_better=lower, **options).systems
    means = {name: hc.HitCurves(Y, s, qid=TARGET, lower_is_better=name in lower) for name, s in scores.items()}
    over_groups = hc.compare(Y, scores, groups=TARGET, measures=names, lower_is_better=lower, **options).systems
    for more, curves, stated in (((), BOTH, compared), (("--group", "target"), means, over_groups)):
        out, _ = run(capsys, *arguments, *more, "-m", *names, "--format", "csv", "--mean-only")
        rows = {row["score"]: row for row in csv.DictReader(io.StringIO(out))}
        found = json.loads(run(capsys, *arguments, *more, "-m", *names[::-1], "--format", "json")[0])["scores"]
        for name in names:
            for score, entry in zip(BOTH, found, strict=True):
                one = curves[score].interval(name, **options)
                low, high = one.confidence_interval
                (system,) = [of for of in stated if (of.measure, of.system) == (name, score)]
                assert system[2:] == (one.estimate, low, high, one.method)
                row = rows[score]
                assert [row[f"{name}{end}"] for end in ("", " from", " to", " by")] == [
                    *map(str, (one.estimate, low, high)), one.method
                ]  # fmt: skip
                assert entry["intervals"][name] == {"from": low, "to": high, "by": one.method}


def test_intervals_in_the_report(capsys, path):
    out, _ = run(capsys, path, "--label", "active", "--score", "dock:lower", "--interval", "--all")
    rows = {line.split("  ")[0]: line for line in out.splitlines()}
    low, high = BOTH["dock"].interval("AP").confidence_interval
    assert f"  {low:.4f} to {high:.4f}      logit  average precision" in rows["AP"]
    assert " to " not in rows["Chance"]
    assert "Intervals: 95 %, AP by logit, ROC AUC by DeLong's method, the others by bootstrap over the items." in out
    out, _ = run(capsys, path, "--label", "active", "--score", "dock:lower", "--interval", "--all", "--ties", "best")
    assert next(line for line in out.splitlines() if line.startswith("ROCAUC ")).split()[5] == "bootstrap"
    assert "Intervals: 95 %, AP by logit, the others by bootstrap over the items." in out
    out, _ = run(capsys, path, "--label", "active", "--score", "dock:lower", "--interval", "--all", "--ties",
                 "threshold")  # fmt: skip
    rows = {line.split("  ")[0]: line.split() for line in out.splitlines()}
    assert rows["BEDROC(20)"][1:3] == ["-", "-"]  # no such reading, no interval
    assert "logit" in rows["AP"]


def test_intervals_of_means_over_groups(capsys, path):
    curves = hc.HitCurves(Y, DOCK, qid=TARGET, lower_is_better=True)
    low, high = curves.interval("AP", rng=0).confidence_interval
    arguments = (path, "--label", "active", "--score", "dock:lower", "--group", "target", "--interval")
    out, _ = run(capsys, *arguments, "-m", "AP")
    assert out.splitlines()[-1].split()[-3:] == [f"{low:.4f}", f"{high:.4f}", "bootstrap"]
    out, _ = run(capsys, *arguments, "--all")
    assert f"{low:.4f} to {high:.4f}  bootstrap  average precision" in out
    assert "by bootstrap over the targets" in out


def test_comparison(capsys, path):
    out, _ = run(capsys, path, *ARGUMENTS, "-m", "AP", "--compare", "--seed", "5")
    scores = {"dock": DOCK, "<sim & co>": SIMILAR}
    lower = {"dock": True, "<sim & co>": False}
    expected = hc.compare(Y, scores, measures=["AP"], lower_is_better=lower, n_resamples=1000, rng=5)
    assert out.endswith(f"\n\n{expected}\n")
    out, _ = run(capsys, path, *ARGUMENTS, "--compare", "--group", "target")
    groups = TARGET.tolist()
    expected = replace(hc.compare(Y, scores, groups=groups, lower_is_better=lower, rng=0), unit="targets")
    assert out.endswith(f"\n\n{expected}\n")


@pytest.mark.usefixtures("no_layout")
def test_pictures(capsys, few_kinds, path, tmp_path):
    (tmp_path / "few.csv").write_text("y,s\n1,2\n0,1\n1,0\n1,-1\n")
    for form, begin in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
        few = ("--label", "y", "--score", "s", "-m", "AP", "--plot", tmp_path / f"p.{form}")
        run(capsys, tmp_path / "few.csv", *few)
        assert (tmp_path / f"p.{form}").read_bytes().startswith(begin)
    run(capsys, path, "--label", "active", "--score", "dock", "--group", "target", "--plot", tmp_path / "g.svg")
    assert (tmp_path / "g.svg").read_bytes().startswith(b"<?xml")
    text = (tmp_path / "g.svg").read_text()
    assert len(text) > 10_000
    arguments = ["table", path, *ARGUMENTS, "--group", "target", "--plot", str(tmp_path / "g.svg")]
    assert main(arguments) == 0
    assert (tmp_path / "g.svg").read_text() != text
    capsys.readouterr()
    (tmp_path / "n.csv").write_text("y,s\n0,1\n")
    arguments = ["table", str(tmp_path / "n.csv"), "--label", "y", "--score", "s", "--plot", str(tmp_path / "n.png")]
    assert main(arguments) == 1
    assert "no item is relevant, so there is nothing to draw" in capsys.readouterr().err


# --- the page -----------------------------------------------------------------------------------------------


def the_same_interval(page):
    """What "Differences" says of a score is what stands in its table: one interval for one number."""
    whole = [table for table in page.tables if "interval" in table[0]]  # of the differences it says "95 % interval"
    said = next(table for table in page.tables if table[0][:2] == ["measure", "system"])[1:]
    assert {method for *_, method in said} <= {"logit", "delong", "bootstrap"}
    for measure, score, _, between, method in said:
        rows = {row[0]: row for row in whole[list(BOTH).index(score)]}
        if measure in rows:
            at = rows[measure].index(method)
            # The table has fewer decimals above 1.
            assert rows[measure][at - 1] == between
    return len(said)


@pytest.mark.parametrize("more", [("--group", "target"), ("-m", "AP", "P@10"), ("--ties", "best")])
def test_the_page_states_one_interval_for_one_number(capsys, monkeypatch, path, tmp_path, more):
    monkeypatch.setattr("hitcurve.cli.table.pictures_lack", lambda: ["no pictures"])  # which take most of the time
    run(capsys, path, *ARGUMENTS, "--interval", "--compare", "--report", tmp_path / "r.html", *more)
    page = Page((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert the_same_interval(page) == 2 * (1 if "--group" in more else 2 if "-m" in more else 4)


@pytest.mark.usefixtures("no_layout")
def test_the_page(capsys, path, tmp_path):
    out = tmp_path / "r.html"
    run(capsys, path, *ARGUMENTS, "--interval", "--compare", "--report", out)
    text = out.read_text(encoding="utf-8")
    page = Page(text)
    assert the_same_interval(page) == 8
    assert page.fetched == []
    assert not re.search(r"url\((?!#)|@import|<script|<link|<iframe|<img", text)
    assert len(page.ids) == len(set(page.ids))
    assert text.count("<figure>") == 1
    pictures = [attributes["aria-label"] for tag, attributes in page.tags if tag == "svg" and "role" in attributes]
    assert [said.split(":")[0] for said in pictures] == ["Hit curve", "Precision and recall", "ROC", "Enrichment"]
    assert all(said.endswith("dock, <sim & co>") for said in pictures)
    assert "Light bands: 95 % of the bootstrap resamples" in text
    words = "".join(page.words)
    assert "<sim & co> (higher is better)" in words  # escaped in the source
    assert "<sim" not in text
    summary, systems, differences, dock, similar, files = page.tables
    assert [row[:2] for row in systems] == [["measure", "system"], *([one, name] for one in COMPARED for name in BOTH)]
    assert [row[:3] for row in differences[1:]] == [[one, "<sim & co>", "dock"] for one in COMPARED]
    assert summary[0] == ["score", *report.SUMMARY]
    assert dock[0][1:7] == ["expected", "worst", "best", "threshold", "interval", "by"]
    rows = {row[0]: row for row in similar}
    assert rows["AP"][1] == f"{BOTH['<sim & co>'].average_precision():.4f}"
    low, high = BOTH["<sim & co>"].interval("AP").confidence_interval
    assert rows["AP"][5:7] == [f"{low:.4f} to {high:.4f}", "logit"]
    with open(path, "rb") as file:
        data = file.read()
    assert files[1] == [path, f"{len(data):,}", hashlib.sha256(data).hexdigest()]
    assert f"hitcurve {hc.__version__}" in words
    assert "--compare --report" in words
    assert "bootstrap test" in words
    for name in ("AP", "BEDROC", "logAUC", "AUAC", "EF"):
        assert parse(name if name not in ("EF",) else "EF@1%").record.definition in words


@pytest.mark.usefixtures("no_layout")
def test_the_page_is_the_same_again(capsys, monkeypatch, path, tmp_path):
    monkeypatch.setattr("hitcurve.report.page.KINDS", ("roc",))  # one picture has bands as four have
    pages = []
    for _ in range(2):
        run(capsys, path, *ARGUMENTS, "--interval", "--compare", "--resamples", "99", "--report", tmp_path / "r.html")
        pages.append((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert "Light bands" in pages[0] and pages[0] == pages[1]


def test_groups_without_relevant_items_are_in_no_mean(capsys, tmp_path):
    rows = [(int(at < 6 and at % 2), at % 5, -at, f"g{at // 4}") for at in range(12)]  # none in the third group
    (tmp_path / "g.csv").write_text("y,a,b,g\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    arguments = (tmp_path / "g.csv", "--label", "y", "--score", "a", "--score", "b", "--group", "g", "-m", "P@2")
    out, _ = run(capsys, *arguments, "--interval", "--compare", "--mean-only")
    lines = [line.split() for line in out.splitlines() if line]
    curves = hc.HitCurves([row[0] for row in rows[:8]], [row[1] for row in rows[:8]], qid=[0] * 4 + [1] * 4)
    one = curves.interval("P@2", rng=0)
    shown = [f"{number:.4f}" for number in (one.estimate, *one.confidence_interval)]
    assert lines[1:3] == [["score", "P@2", "from", "to", "by"], ["a", *shown, "bootstrap"]]
    (compared,) = [line for line in lines if line[:2] == ["P@2", "a"] and "to" in line and len(line) == 7]
    assert [compared[2], compared[3], compared[5]] == shown


@pytest.mark.usefixtures("no_layout")
def test_the_page_of_groups(capsys, few_kinds, path, tmp_path):
    out = tmp_path / "r.html"
    _, err = run(capsys, path, *ARGUMENTS, "--group", "target", "--report", out, "-m", "AP")
    page = Page(out.read_text(encoding="utf-8"))
    values, per_score = page.tables[1], page.tables[2]
    assert "Light bands" not in "".join(page.words)
    assert [row[0] for row in values] == ["target", "t1", "t2", "t3", "mean"]
    assert values[0] == ["target", "items", "relevant", *BOTH]
    assert [row[0] for row in per_score] == ["target", "t1", "t2", "t3"]
    # Of each score the curves of its targets; then the distribution, each target, and the differences.
    assert out.read_text(encoding="utf-8").count("<figure>") == 5
    assert sum(tag == "svg" and "role" in attributes for tag, attributes in page.tags) == 2 * 2 + 3
    assert len(page.ids) == len(set(page.ids))
    for line in err.splitlines():
        assert line.removeprefix("hitcurve: warning: ") in "".join(page.words)


def test_the_curves_of_many_groups_are_not_drawn(capsys, tmp_path):
    rows = "".join(f"{at % 3 == 0:d},{at * 7 % 11},g{at % 10}\n" for at in range(400))
    (tmp_path / "m.csv").write_text("y,s,g\n" + rows)
    out = tmp_path / "r.html"
    run(capsys, tmp_path / "m.csv", "--label", "y", "--score", "s", "--group", "g", "--report", out)
    page = Page(out.read_text(encoding="utf-8"))
    pictures = [one["aria-label"] for tag, one in page.tags if tag == "svg" and "role" in one]
    assert [text.partition(":")[0] for text in pictures] == ["AP, 10 groups", "AP of each group"]


def test_the_page_without_relevant_items(capsys, tmp_path):
    (tmp_path / "n.csv").write_text("y,s\n0,1\n")
    run(capsys, tmp_path / "n.csv", "--label", "y", "--score", "s", "--report", tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<svg" not in text
    assert "No relevant items" in text


def test_warnings_stay_off_standard_output(capsys, path):
    arguments = (path, "--label", "active", "--score", "dock", "-m", "AP", "--format", "csv")
    out, err = run(capsys, *arguments)
    assert len(out.splitlines()) == 2
    assert "hitcurve: warning: dock: the relevant items rank worse than chance" in err
    assert "should lower be better?" in err
