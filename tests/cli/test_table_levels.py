"""`hitcurve table --grade` with intervals and comparisons: the numbers are those of the library."""

import csv
import gzip
import io
import json

import numpy as np
import pytest

pytest.importorskip("pyarrow")

import hitcurve as hc
from hitcurve.cli.main import main
from hitcurve.measures import parse

RNG = np.random.default_rng(3)
QUERY = np.repeat([*"abcdefgh"], 25)
# Fractions beside levels, ties in both scores, and no relevant item in the last query.
LEVEL = np.where(QUERY == "h", 0, RNG.choice([0, 0, 0, 0.5, 1, 2, 3], QUERY.size))
FIRST = np.round(LEVEL + 1.5 * RNG.normal(size=QUERY.size), 1)
SECOND = np.round(RNG.normal(size=QUERY.size) - LEVEL / 3, 1)
SCORES = {"first": FIRST, "second": SECOND}
LOWER = {"first": False, "second": True}
USUAL = ["nDCG", "nDCG@10", "nDCG@100", "AP", "RR"]
NAMED = [parse(name).name for name in (
    "nDCG@5", "nDCG(dcg=exp-log2)", "ERR(max=3)@10", "Q@5", "OPA", "Gamma", "nDCG(ties=worst)@3", "AP(rel=2)",
    "AP", "ROCAUC", "P(rel=3)@5")]  # fmt: skip
ONE, BOTH = ("--score", "first"), ("--score", "first", "--score", "second:lower")
DRAWN = {"n_resamples": 200, "rng": 5}
SEEDED = ("--resamples", "200", "--seed", "5")


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    rows = zip(LEVEL.tolist(), FIRST.tolist(), SECOND.tolist(), QUERY.tolist(), strict=True)
    text = "level,first,second,query\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    (tmp_path / "t.csv").write_text(text)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(capsys):
    def call(*arguments, status=0, files=("t.csv",)):
        try:
            found = main(["table", *files, "--grade", "level", *arguments])
        except SystemExit as left:
            found = left.code
        out, err = capsys.readouterr()
        assert found == status, err
        return out if status == 0 else err

    return call


def curves_of(name, grouped):
    if grouped:
        return hc.GainCurves(LEVEL, SCORES[name], qid=QUERY, lower_is_better=LOWER[name])
    return hc.GainCurve(LEVEL, SCORES[name], lower_is_better=LOWER[name])


def shown(value):
    return f"{value:.4f}" if abs(value) >= 0.01 or value == 0 else f"{value:.3g}"


GROUPS = pytest.mark.parametrize("grouped", [False, True], ids=["one", "groups"])
TIES = pytest.mark.parametrize("ties", ["expected", "worst", "best"])


# --- intervals ----------------------------------------------------------------------------------------------


@GROUPS
@TIES
def test_intervals_for_programs(run, grouped, ties):
    more = ("--group", "query") if grouped else ()
    given = (*BOTH, *more, "--interval", "--ties", ties, *SEEDED, "--level", "0.9", "-m", *NAMED)
    objects = json.loads(run(*given, "--format", "json"))["scores"]
    rows = csv.DictReader(io.StringIO(run(*given, "--format", "csv")))
    lines = [row for row in rows if row.get("group", "mean") == "mean"]
    for one, row in zip(objects, lines, strict=True):
        assert one["score"] == row["score"]
        for name in NAMED:
            made = curves_of(one["score"], grouped).interval(name, ties=ties, confidence_level=0.9, **DRAWN)
            ends = list(made.confidence_interval)
            assert one["mean" if grouped else "measures"][name] == pytest.approx(made.estimate, rel=1e-15)
            assert (one["intervals"][name], one["interval_methods"][name]) == (ends, made.method)
            assert [float(row[f"{name} {end}"]) for end in ("low", "high")] == ends
            assert row[f"{name} by"] == made.method


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_intervals_of_one_ranking_as_text(run, form):
    out = run(*ONE, "--interval", *SEEDED, "--format", form, "-m", *NAMED)
    for name in NAMED:
        made = curves_of("first", False).interval(name, **DRAWN)
        (line,) = [one for one in out.splitlines() if name in one.replace("\\", "").replace("|", " ").split()]
        assert shown(made.estimate) in line
        assert " to ".join(map(shown, made.confidence_interval)) in line
        assert made.method in line


@GROUPS
def test_the_first_screen_has_intervals(run, grouped):
    out = run(*ONE, *(("--group", "query") if grouped else ()))
    lines = {line.split()[0]: line for line in out.partition("measure")[2].splitlines() if line}
    for name in USUAL:
        made = curves_of("first", grouped).interval(name, n_resamples=9999 if grouped else 1000, rng=0)
        assert f"{shown(made.estimate)}  {' to '.join(map(shown, made.confidence_interval))}" in lines[name]
    assert ("AP by logit" in out) is not grouped


def test_what_takes_long_is_not_drawn_unless_asked_for(run, monkeypatch):
    monkeypatch.setattr("hitcurve.report.summary._MOST_DRAWN", 1)
    out = run(*ONE)
    assert "--interval adds the intervals that take longer." in out.splitlines()
    assert "Intervals: AP by logit." in out.splitlines()
    assert "RR by bootstrap" in " ".join(run(*ONE, "--interval").split())


# --- comparisons --------------------------------------------------------------------------------------------


def compared(measures, grouped, **how):
    groups = QUERY.tolist() if grouped else None
    return hc.compare(LEVEL, SCORES, measures=measures, groups=groups, lower_is_better=LOWER, **how)


@GROUPS
@TIES
def test_comparisons(run, grouped, ties):
    more = ("--group", "query") if grouped else ()
    out = run(*BOTH, "--compare", *more, "--ties", ties, *SEEDED)
    usual = ["nDCG"] if grouped else USUAL
    assert out.endswith(f"\n\n{compared(usual, grouped, ties=ties, **DRAWN)}\n")
    out = run(*BOTH, "--compare", *more, "--ties", ties, *SEEDED, "-m", *NAMED)
    assert out.endswith(f"\n\n{compared(NAMED, grouped, ties=ties, **DRAWN)}\n")


@GROUPS
def test_comparisons_for_papers(run, grouped):
    more = ("--group", "query") if grouped else ()
    found = compared(["nDCG@5", "AP(rel=2)"], grouped, **DRAWN)
    for form, text in (("markdown", found.to_markdown()), ("latex", found.to_latex())):
        out = run(*BOTH, "--compare", *more, *SEEDED, "--format", form, "-m", "nDCG@5", "AP(rel=2)")
        assert out.endswith(f"\n\n{text}\n")


@GROUPS
def test_binary_measures_are_compared_from_level_1(run, grouped):
    """Alone and beside measures of gain; a fraction below 1 is not relevant."""
    more = ("--group", "query") if grouped else ()
    out = run(*BOTH, "--compare", *more, *SEEDED, "-m", "AP", "P@5")
    beside = compared(["nDCG", "AP", "P@5"], grouped, **DRAWN)
    lines = [line.split() for line in out.splitlines()]
    for row in beside.rows[1:]:
        ends = f"{row.low:+.4f}", "to", f"{row.high:+.4f}"
        assert any(line[:3] == [row.measure, "second", "first"] and tuple(line[4:7]) == ends for line in lines), row
    for one in beside.systems[2:]:
        value = curves_of(one.system, grouped).at_level(1).measure(one.measure)
        relevant = curves_of(one.system, grouped).at_level(1).num_relevant > 0
        assert one.value == pytest.approx(np.mean(np.asarray(value)[relevant] if grouped else value))


def test_a_comparison_states_the_interval_of_the_table(run):
    """Also of P(rel=3)@5, for which some groups have no relevant item."""
    for more in ((), ("--group", "query", "--mean-only")):
        made = compared(NAMED, bool(more), **DRAWN)
        objects = json.loads(run(*BOTH, "--interval", *more, *SEEDED, "--format", "json", "-m", *NAMED))["scores"]
        ends = {(one["score"], name): one["intervals"][name] for one in objects for name in NAMED}
        for one in made.systems:
            assert [one.low, one.high] == ends[one.system, one.measure], one


def test_files_and_missing_scores(run, tmp_path):
    """Groups are files; rows without one of the scores are left out of a comparison."""
    lines = (tmp_path / "t.csv").read_text().splitlines(keepends=True)
    cells = lines[3].split(",")
    cells[1] = ""
    (tmp_path / "t.csv").write_text("".join([*lines[:3], ",".join(cells), *lines[4:101]]))
    (tmp_path / "u.csv").write_text("".join([lines[0], *lines[101:]]))
    out = run("--by-file", *BOTH, "--compare", "--nan", "omit", *SEEDED, files=("t.csv", "u.csv"))
    kept = np.arange(QUERY.size) != 2
    scores = {name: values[kept] for name, values in SCORES.items()}
    groups = np.where(np.arange(QUERY.size) < 100, "t.csv", "u.csv")[kept].tolist()
    expected = hc.compare(LEVEL[kept], scores, measures="nDCG", groups=groups, lower_is_better=LOWER, **DRAWN)
    assert out.endswith(f"\n\n{expected}\n")


def test_a_file_that_is_cut_short(run, tmp_path):
    """Nothing is printed or written."""
    whole = gzip.compress((tmp_path / "t.csv").read_bytes())
    (tmp_path / "cut.csv.gz").write_bytes(whole[: len(whole) // 2])
    for more in (("--interval",), ("--compare",)):
        err = run(*BOTH, *more, status=1, files=("cut.csv.gz",))
        assert "cut.csv.gz" in err.splitlines()[-1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cut.csv.gz", "t.csv"]


# --- what does not go together ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--top", "3"), "--top counts relevant items: with --grade, name measures with a cutoff: -m nDCG@10"),
        (("--ties", "threshold"),
         "--ties threshold is not defined for nDCG: use expected, best or worst, or name other measures with -m"),
        (("--score", "second", "--compare", "--format", "csv"),
         "--compare prints tables: use --format table, markdown or latex"),
    ],
)  # fmt: skip
def test_refusals_say_what_to_do(run, arguments, said):
    assert f"error: {said}\n" in run(*ONE, *arguments, status=2)
