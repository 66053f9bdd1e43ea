"""The first screen of `hitcurve table`: four measures, what another sample and another order of ties would give."""

import csv
import io
import json

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import hitcurve as hc
from hitcurve.cli.main import main
from hitcurve.measures import parse
from hitcurve.report import rows as report
from hitcurve.report.first import First
from hitcurve.report.usual import Usual
from hitcurve.sources.screen import ScreenedScore

RNG = np.random.default_rng(3)
N = 500
Y = (RNG.random(N) < 0.1).astype(int)
DOCK = np.round(-6 - Y - RNG.normal(size=N), 1)
OTHER = np.round(RNG.random(N) + 0.2 * Y, 2)
TARGET = RNG.integers(0, 25, N)
CURVES = {"dock": hc.HitCurve(Y, DOCK, lower_is_better=True), "other": hc.HitCurve(Y, OTHER)}
FIRST = ["AP", "ROCAUC", "BEDROC(20)", "EF@1%"]
DOCKING = ("--label", "y", "--score", "dock:lower")


@pytest.fixture
def path(tmp_path):
    rows = zip(Y, DOCK, OTHER, TARGET, strict=True)
    text = "y,dock,other,target\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    (tmp_path / "s.csv").write_text(text)
    return str(tmp_path / "s.csv")


def run(capsys, *arguments):
    status = main(["table", *map(str, arguments)])
    captured = capsys.readouterr()
    assert status == 0, captured.err
    return captured.out, captured.err


def shown(value):
    return report.shown(float(value))


def between(low, high):
    return f"{shown(low)} to {shown(high)}"


def band(name, curve):
    low, high = (parse(name)(curve, ties) for ties in ("worst", "best"))
    return "-" if low == high else between(low, high)


def row(out, *first):
    """The cells of the line that begins so."""
    (line,) = [line for line in out.splitlines() if tuple(line.split()[: len(first)]) == first]
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


def test_what_a_chemist_reads_first(capsys, path):
    out, _ = run(capsys, path, *DOCKING)
    curve, lines = CURVES["dock"], out.splitlines()
    assert lines[0] == f"s.csv: 500 items, {Y.sum()} relevant ({100 * Y.mean():.1f} %)"
    assert [line.split()[0] for line in lines[2:7]] == ["measure", *FIRST]
    assert row(out, "measure") == ["measure", "value", "95 % interval", "ties: worst to best"]
    for name in FIRST:
        measure = parse(name)
        ends = curve.interval(name, n_resamples=1000, rng=0).confidence_interval
        assert row(out, name) == [name, shown(measure(curve)), between(*ends), band(name, curve)]
    assert "ROCAUC by DeLong's method; BEDROC(20), EF@1% by bootstrap over the items." in " ".join(out.split())
    assert lines[-1] == "--all lists the usual measures under every rule of ties, -m those that you name."
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 24


def test_options_of_the_first_screen(capsys, path):
    usual = run(capsys, path, *DOCKING)[0]
    assert run(capsys, path, *DOCKING, "--interval")[0] == usual  # few rows: all intervals are there anyway
    out, _ = run(capsys, path, *DOCKING, "--level", "0.8", "--seed", "4", "--resamples", "200", "--top", "7")
    options = {"n_resamples": 200, "rng": 4, "confidence_level": 0.8}
    assert row(out, "measure")[2] == "80 % interval"
    for name in ("EF@1%", "Hits@7", "ROCAUC"):
        assert row(out, name)[2] == between(*CURVES["dock"].interval(name, **options).confidence_interval)
    out, _ = run(capsys, path, *DOCKING, "--ties", "threshold")
    assert row(out, "measure") == ["measure", "threshold", "95 % interval"]
    assert row(out, "AP")[1] == shown(CURVES["dock"].average_precision(ties="threshold"))
    assert row(out, "BEDROC(20)")[1:] == ["-", "-"]


def test_bands_that_are_none(capsys, tmp_path):
    (tmp_path / "t.csv").write_text("y,s\n1,4\n0,3\n1,2\n0,1\n")
    out, _ = run(capsys, tmp_path / "t.csv", "--label", "y", "--score", "s")
    assert [row(out, name)[3] for name in FIRST] == ["-"] * 4
    (tmp_path / "t.csv").write_text("y,s\n0,4\n0,3\n")
    out, _ = run(capsys, tmp_path / "t.csv", "--label", "y", "--score", "s")
    assert [row(out, name)[1:] for name in FIRST] == [["nan", "-", "-"]] * 4
    assert "No relevant items: AP is undefined." in out.splitlines()
    assert "Intervals:" not in out


def test_narrow_bands_have_the_decimals_they_need(capsys, tmp_path):
    score, label = [*range(4_000), 3_880], [at % 97 == 0 for at in range(4_001)]
    (tmp_path / "t.csv").write_text("y,s\n" + "".join(f"{y:d},{s}\n" for y, s in zip(label, score, strict=True)))
    curve = hc.HitCurve(label, score)
    out, _ = run(capsys, tmp_path / "t.csv", "--label", "y", "--score", "s")
    low, high = (curve.roc_auc(ties=ties) for ties in ("worst", "best"))
    assert 0 < high - low < 1e-5
    ends = row(out, "ROCAUC")[3].split(" to ")
    assert ends[0] != ends[1] and [float(end) for end in ends] == pytest.approx([low, high], abs=5e-6)


def test_several_scores(capsys, path):
    out, _ = run(capsys, path, *DOCKING, "--score", "other")
    assert out.splitlines()[0].startswith("s.csv: 500 items")
    for name in FIRST:
        for score, curve in CURVES.items():
            found = row(out, name, score)
            assert found[2] == shown(parse(name)(curve))
            assert found[4] == band(name, curve)
    foot = out.partition("\n\nTies")[2] or out.partition("\n\ndock: Ties")[2]
    assert foot.count("Rows without a score: none.") == 1 and "\nRows without a score: none." in foot
    heads = [line.partition(":")[0] for line in foot.splitlines() if not line.startswith(" ")]
    assert "dock: Ties" in out and "other: Ties" in out and heads.index("Rows without a score") > heads.index("other")


def test_scores_of_which_other_rows_are_missing(capsys, tmp_path):
    (tmp_path / "t.csv").write_text("y,a,b\n1,4,1\n0,3,2\n1,,3\n0,1,4\n")
    arguments = (tmp_path / "t.csv", "--label", "y", "--score", "a", "--score", "b", "--nan", "omit")
    out, _ = run(capsys, *arguments)
    assert out.splitlines()[:2] == ["t.csv, a: 3 items, 1 relevant (33 %)", "t.csv, b: 4 items, 2 relevant (50 %)"]
    assert "a: Rows without a score: 1 of 4, left out." in out.splitlines()
    _, err = run(capsys, *arguments, "--format", "csv")  # which has no place for it
    assert "hitcurve: warning: a: Rows without a score: 1 of 4, left out" in err.splitlines()


def test_means_over_other_groups(capsys, tmp_path):
    (tmp_path / "t.csv").write_text("y,g,a,b\n1,1,4,\n0,1,3,2\n1,2,3,3\n0,2,1,4\n")
    out, _ = run(capsys, tmp_path / "t.csv", "--label", "y", "--score", "a", "--score", "b", "--group", "g", "--nan",
                 "omit")  # fmt: skip
    assert row(out, "measure")[2] == "mean over groups"  # of two for one score, of one for the other
    assert row(out, "AP", "a")[2] == "1.0000" and row(out, "AP", "b")[2] == "0.5000"
    assert "b: Groups without a relevant item: 1 of 2, left out of the means." in out.splitlines()


def test_means_are_those_of_curves(capsys, tmp_path):
    """A group counts in a mean if it has an item that is relevant for that measure, as in `mean` of curves."""
    levels, scores, groups = [1, 0, 0, 2, 0, 3, 0, 0], [4, 3, 2, 1, 2, 2, 5, 4], [1, 1, 2, 2, 3, 3, 4, 4]
    rows = zip(levels, scores, groups, strict=True)
    (tmp_path / "t.csv").write_text("y,s,g\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    curves = hc.GainCurves(levels, scores, qid=groups)
    names = ["AP", "AP(rel=2)", "P@1", "P(rel=2)@1", "RR", "RR(rel=3)", "Success@1", "nDCG", "DCG@1", "ERR", "GMAP",
             "GMAP(rel=2)", "nDCG(gains={1:0,2:1,3:1})@1", "GAP(weights={3:1})"]  # fmt: skip
    arguments = (tmp_path / "t.csv", "--grade", "y", "--score", "s", "--group", "g", "-m", *names)
    means = json.loads(run(capsys, *arguments, "--format", "json")[0])["mean"]
    assert means == {parse(name).name: curves.mean(name) for name in names}
    out = run(capsys, *arguments)[0].splitlines()
    assert "Groups without a relevant item: 1 of 4, left out of the means." in out
    assert "Groups without a relevant item for P(rel=2)@1: 1, left out of its mean." in out
    assert "Groups without a relevant item for RR(rel=3): 2, left out of its mean." in out
    assert not [line for line in out if "undefined" in line or "for P@1" in line]


def test_groups(capsys, path):
    out, _ = run(capsys, path, *DOCKING, "--group", "target")
    curves = hc.HitCurves(Y, DOCK, qid=TARGET, lower_is_better=True)
    kept = curves.num_relevant > 0
    found = row(out, curves.qid.tolist()[0].__str__())
    assert found[3] == shown(curves.average_precision()[0])
    assert "... and 5 more targets, with --all." in out.splitlines()
    assert row(out, "measure")[1] == f"mean of {kept.sum()} targets"
    ends = curves.interval("AP", rng=0).confidence_interval
    assert row(out, "AP")[1:3] == [shown(curves.mean_average_precision()), between(*ends)]
    assert "by bootstrap over the targets." in " ".join(out.split())
    short, _ = run(capsys, path, *DOCKING, "--group", "target", "--mean-only")
    assert "target " not in short and row(short, "AP") == row(out, "AP")
    whole, _ = run(capsys, path, *DOCKING, "--group", "target", "--all")
    assert all(any(line.startswith(f"{name} ") for line in whole.splitlines()) for name in range(25))


def test_many_rows_or_groups_have_no_bootstrap_unless_asked(capsys, path, monkeypatch):
    usual = run(capsys, path, *DOCKING)[0]
    grouped = run(capsys, path, *DOCKING, "--group", "target")[0]
    monkeypatch.setattr(report, "_MOST_DRAWN", 1000)
    out, _ = run(capsys, path, *DOCKING)
    for name in ("AP", "ROCAUC"):  # closed forms
        assert row(out, name) == row(usual, name)
    for name in ("BEDROC(20)", "EF@1%"):
        assert row(out, name) == [*row(usual, name)[:2], "-", row(usual, name)[3]]
    assert "Intervals: AP by logit; ROCAUC by DeLong's method." in out.splitlines()
    assert out.splitlines()[-1] == "--interval adds the intervals that take longer to compute."
    assert run(capsys, path, *DOCKING, "--interval")[0] == usual
    out, _ = run(capsys, path, *DOCKING, "--group", "target")
    assert [row(out, name)[2] for name in FIRST] == ["-"] * 4
    asked = run(capsys, path, *DOCKING, "--group", "target", "--interval")[0]
    assert asked.partition("measure")[2] == grouped.partition("measure")[2]


@pytest.mark.usefixtures("no_layout")
def test_programs_and_pages_have_all_as_ever(capsys, monkeypatch, path, tmp_path):
    for form in ("csv", "json"):
        out, _ = run(capsys, path, *DOCKING, "--format", form)
        assert out == run(capsys, path, *DOCKING, "--format", form, "--all")[0]
        names = next(csv.reader(io.StringIO(out)))[2:] if form == "csv" else list(json.loads(out)["measures"])
        assert len(names) > 100 and names[:2] == ["AP", "AP(ties=worst)"]
        assert not [name for name in names if name.endswith((" low", " high"))]
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("hitcurve.report.page.KINDS", ("hits",))
    pages = []
    for more in ((), ("--all",)):
        run(capsys, path, *DOCKING, "--report", tmp_path / "r.html", *more)
        text = (tmp_path / "r.html").read_text(encoding="utf-8")
        assert "logAUC(adjusted)" in text and "Light bands" not in text and "<th>interval" not in text
        pages.append(text.replace(" --all", ""))
    assert pages[0] == pages[1]


def test_in_python():
    found = [ScreenedScore("dock", True, CURVES["dock"], None)]
    lines = report.Report(found, First()).text().splitlines()
    assert lines[2].split() == ["measure", "value", "ties:", "worst", "to", "best"]
    assert "interval" not in "".join(lines[:-1])
    assert "threshold" in report.Report(found, Usual(found)).text()
