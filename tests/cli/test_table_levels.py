"""`hitcurve table --grade` with intervals, comparisons, pictures and the page: the numbers are those of the library."""

import csv
import gzip
import io
import json
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("pyarrow")

from html_page import Page

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
DRAWN = {"n_resamples": 50, "rng": 5}
SEEDED = ("--resamples", "50", "--seed", "5")


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
            assert one["intervals"][name] == {"from": ends[0], "to": ends[1], "by": made.method}
            assert [float(row[f"{name} {end}"]) for end in ("from", "to")] == ends
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
    monkeypatch.setattr("hitcurve.report.rows._MOST_DRAWN", 1)
    out = run(*ONE)
    assert "--interval adds the intervals that take longer to compute." in out.splitlines()
    assert "Intervals: AP by logit." in out.splitlines()
    assert "RR by bootstrap" in " ".join(run(*ONE, "--interval").split())


# --- comparisons --------------------------------------------------------------------------------------------


def compared(measures, grouped, **how):
    groups = QUERY.tolist() if grouped else None
    made = hc.compare(LEVEL, SCORES, measures=measures, groups=groups, lower_is_better=LOWER, **how)
    return replace(made, unit="queries" if grouped else made.unit)  # the column is named query


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
            assert {"from": one.low, "to": one.high, "by": one.method} == ends[one.system, one.measure], one


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
    expected = replace(expected, unit="files")
    assert out.endswith(f"\n\n{expected}\n")


# --- pictures -----------------------------------------------------------------------------------------------


@pytest.fixture
def drawn(run, monkeypatch):
    """The figure that is saved."""
    pytest.importorskip("matplotlib")
    from hitcurve.cli import table

    figures = []

    def call(*arguments, saved=table.save_picture):
        monkeypatch.setattr(table, "save_picture", lambda *given: figures.append(given[0]) or saved(*given))
        run(*arguments, "--plot", "p.png")
        return figures.pop()

    return call


@pytest.mark.parametrize("scores", [ONE, BOTH], ids=["one", "both"])
def test_gain_curves_are_drawn(drawn, tmp_path, scores):
    (ax,) = drawn(*scores).axes
    names = ["first", "second"][: len(scores) // 2]
    expected = hc.plot_curves({name: curves_of(name, False) for name in names}, "gain", ax=hc.plot_figure().axes[0])
    lines = {line.get_label(): line.get_xydata() for line in ax.get_lines()}
    for line in expected.ax_.get_lines():
        np.testing.assert_array_equal(lines[line.get_label()], line.get_xydata())
    assert ax.get_ylabel() == "cumulated gain"
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("more", [(), ("--ties", "best"), ("-m", "P(rel=3)@5", "nDCG")])
def test_the_distribution_over_groups_is_drawn(drawn, more):
    """Of the groups that are in the mean."""
    ax, each = drawn(*ONE, "--group", "query", *more, saved=lambda *_: []).axes
    name, ties = more[1] if "-m" in more else "nDCG", "best" if "--ties" in more else "expected"
    curves = curves_of("first", True)
    values = curves.measure(name, ties=ties)[(curves.at_level(3) if "rel" in name else curves).num_relevant > 0]
    assert [bar.get_height() for bar in ax.patches] == np.histogram(values, np.linspace(0, 1, 21))[0].tolist()
    assert f"mean {curves.mean(name, ties=ties):.3f}" in ax.get_legend_handles_labels()[1]
    assert ax.get_xlabel() == each.get_xlabel() == name
    assert ax.get_ylabel() == "queries"
    (dots,) = each.get_lines()
    assert dots.get_xdata().tolist() == sorted(values, reverse=True)


def test_groups_of_several_scores_are_drawn_side_by_side(drawn):
    ax, apart, each = drawn(*BOTH, "--group", "query", saved=lambda *_: []).axes
    assert [label.get_text() for label in ax.get_yticklabels()] == ["first", "second"]
    means = [line.get_xdata()[0] for line in ax.get_lines() if line.get_marker() == "D" and line.get_label() != "mean"]
    assert means == pytest.approx([curves_of(name, True).mean("nDCG") for name in SCORES])
    ndcg = curves_of("first", True).ndcg()
    order = sorted("abcdefg", key=lambda query: -ndcg["abcdefg".index(query)])
    assert [label.get_text() for label in each.get_yticklabels()] == order
    first, second = (curves_of(name, True).ndcg()[:7] for name in SCORES)
    np.testing.assert_allclose(sum(np.array([bar.get_height() for bar in one]) for one in apart.containers),
                               np.sort(second - first)[::-1])
    assert apart.get_ylabel() == "nDCG: second − first"


@pytest.mark.parametrize(("more", "said"), [
    ((), "no item is relevant"), (("--group", "query"), "no query has a value of nDCG"),
    (("--group", "query", "-m", "AP(rel=4)"), "no query has a value of AP(rel=4)"),
])  # fmt: skip
def test_nothing_is_drawn_without_relevant_items(run, tmp_path, more, said):
    pytest.importorskip("matplotlib")
    (tmp_path / "t.csv").write_text("level,first,query\n0,1,a\n0,2,a\n")
    err = run(*ONE, *more, "--plot", "p.png", status=1)
    assert f"p.png: {said}, so there is nothing to draw" in err
    assert not (tmp_path / "p.png").exists()


# --- the page -----------------------------------------------------------------------------------------------


@pytest.fixture
def page(run, tmp_path):
    pytest.importorskip("matplotlib")
    def call(*arguments):
        run(*arguments, "--report", "r.html")
        return Page((tmp_path / "r.html").read_text(encoding="utf-8"))

    return call


def test_the_page_of_one_ranking(page):
    found = page(*ONE, "--interval", *SEEDED)
    table, files = found.tables
    assert table[0] == ["", "expected", "worst", "best", "threshold", "interval", "by", ""]
    curve = curves_of("first", False)
    for row, name in zip(table[1:], USUAL, strict=True):
        readings = [shown(curve.measure(name, ties=ties)) for ties in ("expected", "worst", "best")]
        last = "-" if name.startswith("nDCG") or name == "RR" else shown(curve.measure(name, ties="threshold"))
        made = curve.interval(name, **DRAWN)
        assert row[:7] == [name, *readings, last, " to ".join(map(shown, made.confidence_interval)), made.method]
    assert files[1][0] == "t.csv"
    pictures = [one["aria-label"] for tag, one in found.tags if tag == "svg" and "role" in one]
    assert pictures == ["Gain curve: cumulated gain over items from the top, of ideal order, random order, first"]
    words = "".join(found.words)
    assert "Light bands: 95 % of the bootstrap resamples" in words
    assert "items (" in words and "in a tie with a relevant item" in words
    assert "count items from level 1 up as relevant" in words
    assert found.fetched == []


def test_the_page_of_groups(page):
    found = page(*BOTH, "--group", "query", "--interval", "--compare", *SEEDED, "-m", "nDCG@5", "P(rel=3)@5")
    summary, *each, systems, differences, ahead = found.tables[:6]
    rest = found.tables[6:]
    for name, table in zip(("nDCG@5", "P(rel=3)@5"), each, strict=True):
        heads = [head for one in SCORES for head in (one, "from", "to", "by")]
        assert table[0] == ["query", "items", "relevant", *heads]
        made = [curves_of(one, True)[2].interval(name, **DRAWN) for one in SCORES]
        assert table[3][3:] == [cell for one in made for cell in (
            *map(shown, (one.estimate, *one.confidence_interval)), one.method)]  # fmt: skip
        assert [table[-1][0], *table[-1][3::4]] == ["mean", *(shown(curves_of(one, True).mean(name)) for one in SCORES)]
    first, second = (curves_of(name, True).ndcg(5)[:7] for name in SCORES)
    counts = [str(int(np.sum(second > first))), str(int(np.sum(second == first))), str(int(np.sum(second < first)))]
    assert ahead[0][3:6] == ["queries higher", "equal", "lower"] and ahead[1][3:6] == counts
    assert summary[0] == ["score", "nDCG@5", "P(rel=3)@5"]
    means = [[shown(curves_of(name, True).mean(one)) for one in ("nDCG@5", "P(rel=3)@5")] for name in SCORES]
    assert [row[1:] for row in summary[1:]] == means
    made = compared(["nDCG@5", "P(rel=3)@5"], True, **DRAWN)
    assert [row[:3] for row in systems[1:]] == [[one.measure, one.system, f"{one.value:.4f}"] for one in made.systems]
    assert [row[3] for row in differences[1:]] == [f"{row.difference:+.4f}" for row in made.rows]
    for name, groups, table in zip(SCORES, rest[::2], rest[1::2], strict=False):
        curves = curves_of(name, True)
        assert groups[0] == ["query", "items", "relevant", "nDCG@5", "nDCG@5 worst", "nDCG@5 best"]
        values = [[shown(one) if one == one else "nan" for one in curves.ndcg(5, ties=ties)]
                  for ties in ("expected", "worst", "best")]  # fmt: skip
        assert [row[3:] for row in groups[1:]] == [list(row) for row in zip(*values, strict=True)]
        ends = curves.interval("nDCG@5", **DRAWN).confidence_interval
        assert " to ".join(map(shown, ends)) in table[1]
    pictures = [one["aria-label"] for tag, one in found.tags if tag == "svg" and "role" in one]
    assert [text.partition(":")[0] for text in pictures] == [
        "nDCG@5, 7 queries", "P(rel=3)@5, 7 queries", "nDCG@5 of each query", "Differences in nDCG@5"]  # fmt: skip
    words = "".join(found.words)
    assert "How the measures are distributed over the queries" in words
    assert "Queries without a relevant item: 1 of 8, left out of the means." in words


@pytest.mark.parametrize("more", [(), ("--group", "query")])
def test_a_page_without_relevant_items(page, tmp_path, more):
    (tmp_path / "t.csv").write_text("level,first,query\n0,1,a\n0,2,a\n0,2,b\n")
    found = page(*ONE, *more, "--interval")
    assert not [tag for tag, _ in found.tags if tag == "svg"]
    assert "3 items, 0 relevant" in "".join(found.words)


def test_a_file_that_is_cut_short(run, tmp_path):
    """Nothing is printed or written."""
    whole = gzip.compress((tmp_path / "t.csv").read_bytes())
    (tmp_path / "cut.csv.gz").write_bytes(whole[: len(whole) // 2])
    for more in (("--interval",), ("--compare",), ("--report", "r.html"), ("--plot", "p.png")):
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
    ],
)  # fmt: skip
def test_refusals_say_what_to_do(run, arguments, said):
    assert f"error: {said}\n" in run(*ONE, *arguments, status=2)
