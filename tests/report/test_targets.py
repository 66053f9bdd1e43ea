"""Many targets: 24 rankings by three scores, as benchmarks of docking have them. The first screen shows 20 of them."""

import csv
import io
import json
import math
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("pyarrow")

from html_page import Page

import hitcurve as hc
from hitcurve._base.words import many, unit_of
from hitcurve.cli.main import main

MEASURES = ("AP", "ROCAUC", "BEDROC(20)", "EF@1%")
DRAWN = {"n_resamples": 60, "rng": 4, "confidence_level": 0.9}
SEEDED = ("--interval", "--resamples", "60", "--seed", "4", "--level", "0.9")


def screens(num_targets=24, seed=29):
    """Columns of docked compounds: targets of unequal sizes, signed scores with ties, and rows that failed.

    A target has no actives. The actives of each target have scores that are better by a quality of the target.
    """
    rng = np.random.default_rng(seed)
    columns = {name: [] for name in ("target", "id", "active", "vina", "glide", "model")}
    for at in range(num_targets):
        actives = 0 if at == 7 else int(rng.integers(3, 40))
        size = int(rng.integers(50, 400))
        active = np.arange(size) < actives
        quality = rng.normal(0.8, 0.5)
        vina = np.round(rng.normal(-1, 1.2, size) - quality * active, 1)  # both signs, one decimal
        glide = np.round(rng.normal(0, 1.5, size) - (quality + rng.normal(0, 0.4)) * active, 2)
        vina[rng.random(size) < 0.03] = np.nan
        glide[rng.random(size) < 0.02] = np.nan
        rows = {"target": [f"T{at:02d}"] * size, "id": [f"{at}_{i}" for i in range(size)], "active": active.astype(int),
                "vina": vina, "glide": glide, "model": np.round(rng.random(size) + 0.3 * active, 3)}  # fmt: skip
        for name, values in rows.items():
            columns[name].append(values)
    return {name: np.concatenate(parts) for name, parts in columns.items()}


SCREENS = screens()
LOWER = {"vina": True, "glide": True, "model": False}
TARGETS = list(dict.fromkeys(SCREENS["target"].tolist()))
CURVES = {name: hc.HitCurves(SCREENS["active"], SCREENS[name], qid=SCREENS["target"], lower_is_better=lower,
                             nan_policy="worst") for name, lower in LOWER.items()}  # fmt: skip
HEADS = [head for score in LOWER for head in (score, "from", "to", "by")]
SCORES = ("--score", "vina:lower", "--score", "glide:lower", "--score", "model")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rows = zip(*(column.tolist() for column in SCREENS.values()), strict=True)
    lines = [",".join("" if value != value else str(value) for value in row) for row in rows]
    path = tmp_path_factory.mktemp("screens") / "dude.csv"
    path.write_text("\n".join([",".join(SCREENS), *lines]) + "\n")
    return str(path)


@pytest.fixture
def run(capsys, table):
    usual = [table, "--label", "active", "--group", "target", "--nan", "worst"]

    def call(*arguments):
        assert main(["table", *usual, *map(str, arguments)]) == 0
        return capsys.readouterr().out

    call.files = usual
    return call


def one_target(score, at):
    here = SCREENS["target"] == TARGETS[at]
    return hc.HitCurve(SCREENS["active"][here], SCREENS[score][here], lower_is_better=LOWER[score], nan_policy="worst")


# --- numbers ------------------------------------------------------------------------------------------------


def test_each_target_has_the_numbers_of_its_own_curve(run):
    """Value and interval, to the bit; and the mean has the interval of the curves of all targets."""
    text = run(*SCORES, *SEEDED, "-m", *MEASURES, "--format", "csv")
    rows = {(row["score"], row["group"]): row for row in csv.DictReader(io.StringIO(text))}
    assert len(rows) == 3 * 25
    found = json.loads(run(*SCORES, *SEEDED, "-m", *MEASURES, "--format", "json"))["scores"]
    for entry in found:
        score = entry["score"]
        for at, target in enumerate(TARGETS):
            curve, row, group = one_target(score, at), rows[score, target], entry["groups"][at]
            assert (group["group"], group["items"], group["relevant"]) == (target, curve.num_items, curve.num_relevant)
            for name in MEASURES:
                made = curve.interval(name, **DRAWN)
                ends = list(made.confidence_interval)
                numbers = [float(row[f"{name}{end}"]) for end in ("", " from", " to")]
                np.testing.assert_array_equal(numbers, [made.estimate, *ends], strict=True)
                assert row[f"{name} by"] == made.method
                shown = None if np.isnan(made.estimate) else made.estimate
                low, high = (None if np.isnan(end) else end for end in ends)
                assert group["measures"][name] == shown
                assert group["intervals"][name] == {"from": low, "to": high, "by": made.method}
        for name in MEASURES:
            made = CURVES[score].interval(name, **DRAWN)
            low, high = made.confidence_interval
            assert entry["mean"][name] == made.estimate == float(rows[score, "mean"][name])
            assert entry["intervals"][name] == {"from": low, "to": high, "by": "bootstrap"}
            assert [rows[score, "mean"][f"{name} {end}"] for end in ("from", "to")] == [str(low), str(high)]
        assert (entry["num_groups"], entry["num_skipped"]) == (24, 1)


def test_the_numbers_do_not_depend_on_the_number_of_threads_or_on_other_measures(run):
    given = (*SCORES, *SEEDED, "--format", "csv")
    text = run(*given, "-m", "EF@1%")
    assert run(*given, "-m", "EF@1%", "--workers", "1") == text
    whole = csv.DictReader(io.StringIO(run(*given, "-m", *MEASURES)))
    assert [row["EF@1% to"] for row in csv.DictReader(io.StringIO(text))] == [row["EF@1% to"] for row in whole]


def test_the_default_numbers_of_resamples(run):
    """1,000 for a target, as for a ranking; 9,999 for the mean, as for groups."""
    found = json.loads(run("--score", "vina:lower", "--interval", "-m", "EF@1%", "--format", "json"))
    low, high = one_target("vina", 3).interval("EF@1%", n_resamples=1000, rng=0).confidence_interval
    assert found["groups"][3]["intervals"]["EF@1%"] == {"from": low, "to": high, "by": "bootstrap"}
    low, high = CURVES["vina"].interval("EF@1%", n_resamples=9999, rng=0).confidence_interval
    assert found["intervals"]["EF@1%"] == {"from": low, "to": high, "by": "bootstrap"}


def test_scores_are_compared_over_targets(run):
    made = hc.compare(SCREENS["active"], {name: SCREENS[name] for name in LOWER}, groups=SCREENS["target"],
                      lower_is_better=LOWER, nan_policy="worst", measures=["AP", "EF@1%"], **DRAWN)  # fmt: skip
    given = (*SCORES, *SEEDED, "--compare", "-m", "AP", "EF@1%")
    assert (made.count, made.left_out) == (23, 1)
    for form, text in (("table", str), ("markdown", hc.compare.__globals__["Comparison"].to_markdown)):
        assert run(*given, "--format", form).endswith(f"\n\n{text(replace(made, unit='targets'))}\n")
    rows = list(csv.DictReader(io.StringIO(run(*given, "--format", "csv"))))
    assert [list(row.values()) for row in rows] == [
        ["" if cell is None else str(cell) for cell in row] for row in made.rows
    ]
    found = json.loads(run(*given, "--format", "json"))
    assert [one["score"] for one in found["scores"]] == list(LOWER)
    found = found["comparison"]
    assert found["systems"] == [one._asdict() for one in made.systems]
    assert found["differences"] == [one._asdict() for one in made.rows]
    assert (found["unit"], found["count"], found["seed"], found["confidence_level"]) == ("targets", 23, 4, 0.9)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_column_of_a_frame_names_the_groups(library):
    frames = pytest.importorskip(library)
    scores = {name: SCREENS[name] for name in LOWER}
    how = {"lower_is_better": LOWER, "nan_policy": "worst", "n_resamples": 99, "rng": 0}
    made = hc.compare(SCREENS["active"], scores, groups=frames.Series(SCREENS["target"], name="target_id")
                      if library == "pandas" else frames.Series("target_id", SCREENS["target"]), **how)  # fmt: skip
    plain = hc.compare(SCREENS["active"], scores, groups=SCREENS["target"], **how)
    assert (made.unit, plain.unit) == ("targets", "groups")
    assert made.rows == plain.rows and made.systems == plain.systems
    assert "\n\n23 targets. " in str(made) and "1 target without a value was left out." in str(made)


# --- tables -------------------------------------------------------------------------------------------------


def test_a_table_of_targets_and_scores(run):
    out = run(*SCORES, "-m", "AP")
    lines = [line.split() for line in out.splitlines()]
    assert out.splitlines()[:2] == ["AP of each target", ""]
    assert lines[2] == ["target", "items", "relevant", *LOWER]
    for at, line in enumerate(lines[3:27]):
        curves = [one_target(score, at) for score in LOWER]
        assert line[:3] == [TARGETS[at], str(curves[0].num_items), str(curves[0].num_relevant)]
        values = [curve.average_precision() for curve in curves]
        assert [float(cell) for cell in line[3:]] == pytest.approx(values, abs=6e-5, nan_ok=True)
    assert lines[27][0] == "mean"
    means = [one.mean_average_precision() for one in CURVES.values()]
    assert [float(cell) for cell in lines[27][1:]] == pytest.approx(means, abs=6e-5)
    assert out.splitlines()[28:] == ["Targets without a relevant item: 1 of 24, left out of the means."]


@pytest.mark.parametrize(("form", "between", "last"), [("markdown", " | ", " |"), ("latex", " & ", r" \\")])
def test_intervals_have_columns_of_their_own(run, form, between, last):
    out = run(*SCORES, *SEEDED, "-m", "AP", "--format", form)
    heads = [["target", "items", "relevant", *HEADS]]
    if form == "latex":  # in parts, because it is wider than a page
        heads = [[*heads[0][:7]], ["target", *HEADS[4:]]]
    for head in heads:
        assert f"{between.join(head)}{last}" in out
    out = run("--score", "model", *SEEDED, "-m", "AP", "P@5", "--format", form)
    head = between.join(["target", "items", "relevant", "AP", "from", "to", "by", "P@5", "from", "to", "by"])
    assert f"{head}{last}" in out
    made = one_target("model", 0).interval("AP", **DRAWN)
    cells = [f"{number:.4f}" for number in (made.estimate, *made.confidence_interval)]
    assert between.join([*cells, "logit"]) in out


def test_means_alone(run):
    lines = [line.split() for line in run(*SCORES, *SEEDED, "-m", "AP", "--mean-only").splitlines()]
    assert lines[:3] == [["Means", "over", "the", "targets"], [], ["score", "AP", "from", "to", "by"]]
    for name, line in zip(LOWER, lines[3:6], strict=True):
        made = CURVES[name].interval("AP", **DRAWN)
        assert line == [name, *(f"{number:.4f}" for number in (made.estimate, *made.confidence_interval)), "bootstrap"]


def test_a_warning_about_several_scores_is_said_once(run, capsys):
    assert main(["table", *run.files, *SCORES, "-m", "AP"]) == 0
    said = [line.removeprefix("hitcurve: warning: ") for line in capsys.readouterr().err.splitlines()]
    few = [one for one, number in zip(TARGETS, CURVES["vina"].num_relevant, strict=True) if 0 < number < 20]
    assert f"{len(few)} of 24 targets have fewer than 20 relevant items (such as {few[0]!r})" in said  # of all scores
    assert len([line for line in said if "Rows without a score" in line]) == 2  # two numbers


def test_the_summary_of_the_page_has_the_measures_that_were_named(run, monkeypatch, tmp_path):
    monkeypatch.setattr("hitcurve.cli.table.pictures_lack", lambda: ["no pictures"])  # which take most of the time
    path = tmp_path / "page.html"
    run(*SCORES, "-m", "EF@5%", "MeanRank", "--report", path)
    page = Page(path.read_text())
    assert page.tables[0][0] == ["score", "EF@5%", "MeanRank"]
    assert "mean rank of the relevant items" in "".join(page.words)  # its definition


def test_the_first_screen_shows_targets_and_scores(run):
    out = run(*SCORES)
    assert out.splitlines()[0].startswith("dude.csv: 24 targets, ")
    assert out.splitlines()[4].split() == ["target", "items", "relevant", *LOWER]
    lines = out.splitlines()
    assert lines[lines.index("... and 4 more targets, with --all.") - 1].startswith(TARGETS[19])  # no mean there
    foot = lines[next(at for at, line in enumerate(lines) if line.startswith("vina: Ties")) :]
    assert foot.count("Targets without a relevant item: 1 of 24, left out of the means.") == 1
    assert "model: Rows without a score: none." in foot  # vina and glide lack some
    assert [line.split(":")[1] for line in foot if line.startswith(("vina", "glide", "model"))] == [
        *3 * [" Ties"], *3 * [" Rows without a score"]]
    assert "mean of 23 targets" in out and "by bootstrap over the targets." in " ".join(out.split())
    whole = run(*SCORES, "--all")
    tables = whole.partition("AP of each target")[2]
    assert all(f"\n{target} " in tables for target in TARGETS)
    assert "EF@1% of each target" in tables


@pytest.mark.parametrize(("column", "unit"), [
    ("target", "targets"), ("Target", "targets"), ("target_id", "targets"), ("TargetName", "targets"),
    ("UniProt", "targets"), ("pdb_id", "targets"), ("protein", "proteins"), ("user_id", "users"), ("userId", "users"),
    ("assay", "assays"), ("kinase family", "kinase families"), ("qid", "queries"), ("folds", "folds"),
    ("class", "groups"), ("g", "groups"), ("3", "groups"), ("item", "groups"), ("series", "groups"),
    ("Größe", "groups"), ("", "groups"),
])  # fmt: skip
def test_what_groups_are_called(column, unit):
    assert unit_of(column) == unit
    assert many(1, unit) == f"1 {unit[:-3] + 'y' if unit.endswith('ies') else unit[:-1]}"


def test_files_are_called_files(capsys, tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("y,s\n1,1\n0,2\n1,3\n")
    arguments = ["table", *(str(tmp_path / name) for name in ("a.csv", "b.csv")), "--by-file", "--label", "y"]
    assert main([*arguments, "--score", "s"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("2 files: 2 files, 6 items") and "\nfile " in out


# --- pictures and the page ----------------------------------------------------------------------------------


@pytest.fixture
def page(run, tmp_path, no_layout):
    pytest.importorskip("matplotlib")

    def call(*arguments):
        run(*arguments, "--report", tmp_path / "r.html")
        return Page((tmp_path / "r.html").read_text(encoding="utf-8"))

    return call


def test_the_page_has_every_target(page):
    found = page(*SCORES, *SEEDED, "--compare")
    pictures = [one["aria-label"] for tag, one in found.tags if tag == "svg" and "role" in one]
    assert [text.partition(":")[0] for text in pictures] == [
        *(f"{name}, 23 targets" for name in MEASURES), "AP of each target", *["Differences in AP"] * 3]  # fmt: skip
    words = "".join(found.words)
    assert "queries" not in words and "groups" not in words
    assert "Lines: 90 % intervals." in words and "1 target without a value left out" in words.lower()
    named = {word for word in found.words if word in TARGETS}
    assert named == set(TARGETS)
    summary, *each = found.tables[:5]
    assert [row[0] for row in summary] == ["score", *LOWER]
    for name, table in zip(MEASURES, each, strict=True):
        assert table[0] == ["target", "items", "relevant", *HEADS]
        assert [row[0] for row in table[1:]] == [*TARGETS, "mean"]
        made = CURVES["model"].interval(name, **DRAWN)
        assert [float(cell) for cell in table[-1][-4:-1]] == pytest.approx(
            [made.estimate, *made.confidence_interval], abs=6e-5)  # fmt: skip
    (ahead,) = [table for table in found.tables if "targets higher" in table[0]]
    vina, model = (CURVES[name].average_precision()[CURVES[name].num_relevant > 0] for name in ("vina", "model"))
    row = next(row for row in ahead if row[:3] == ["AP", "model", "vina"])
    assert row[3:6] == [str(int(count.sum())) for count in (model > vina, model == vina, model < vina)]
    assert found.fetched == []


def test_the_page_of_measures_that_were_asked_for(page):
    found = page("--score", "vina:lower", "--score", "model", "-m", "P@5", "AP(ties=worst)")
    words = "".join(found.words)
    assert "P@5 of each target" in words and "AP(ties=worst) of each target" in words
    pictures = [one["aria-label"] for tag, one in found.tags if tag == "svg" and "role" in one]
    assert [text.partition(":")[0] for text in pictures] == [
        "P@5, 23 targets", "AP(ties=worst), 23 targets", "P@5 of each target", "Differences in P@5"]  # fmt: skip


@pytest.fixture
def drawn(run, monkeypatch, tmp_path):
    """The figure that --plot would save."""
    pytest.importorskip("matplotlib")
    from hitcurve.cli import table

    figures = []
    monkeypatch.setattr(table, "save_picture", lambda figure, path: figures.append(figure) or [])

    def call(*arguments):
        run(*arguments, "--plot", tmp_path / "p.png")
        return figures.pop()

    return call


@pytest.mark.parametrize("scores", [1, 2, 3])
def test_the_picture_of_targets(drawn, scores):
    names = list(LOWER)[:scores]
    axes = drawn(*SCORES[: 2 * scores], "-m", "AP").axes
    titles = [ax.get_title() for ax in axes]
    assert sorted(titles) == ["AP of each target", "AP, 23 targets", *["Differences in AP"] * math.comb(scores, 2)]
    each = axes[titles.index("AP of each target")]
    kept = CURVES["vina"].num_relevant > 0
    values = {name: CURVES[name].average_precision()[kept] for name in names}
    order = np.argsort(-values["vina"], kind="stable")
    assert [label.get_text() for label in each.get_yticklabels()] == np.array(TARGETS)[kept][order].tolist()
    for name, line in zip(names, each.get_lines(), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), values[name][order])
    for ax in axes:
        if ax.get_title() == "Differences in AP":
            second, first = ax.get_ylabel().removeprefix("AP: ").split(" − ")
            heights = sum(np.array([bar.get_height() for bar in bars]) for bars in ax.containers)
            np.testing.assert_array_equal(heights, np.sort(values[second] - values[first])[::-1])


def test_dots_and_their_unit():
    pytest.importorskip("matplotlib")
    display = hc.plot_evaluations(CURVES, "dots", unit="targets", ax=hc.plot_figure().axes[0])
    assert display.get_title() == "AP of each target"
    assert display.get_ylabel().replace("\n", " ") == "23 targets, by falling AP of vina"
    assert len(display.get_yticklabels()) == 23
    again = display.plot(ax=hc.plot_figure().axes[0])
    assert again.get_ylabel() == display.get_ylabel()
    spread = hc.plot_evaluations(CURVES, measure="EF@1%", unit="targets", ax=hc.plot_figure().axes[0])
    assert spread.get_title() == "EF@1%, 23 targets"
    assert "5 to 95 % of targets" in spread.get_legend_handles_labels()[1]
    with pytest.raises(ValueError, match="unit must be a plural, such as 'targets', got ''"):
        hc.plot_evaluations(CURVES, unit="")


def test_many_groups_have_lines_and_no_names(drawn, monkeypatch):
    monkeypatch.setattr("hitcurve.report.plot_queries._MOST_BARS", 10)
    titles = [ax.get_title() for ax in drawn(*SCORES[:4], "-m", "AP").axes]
    assert titles == ["AP, 23 targets", "Differences in AP", "AP of each target"]


def test_many_scores_have_eight_pictures_of_differences():
    pytest.importorskip("matplotlib")
    from hitcurve.report.plot_queries import groups_pictures

    values = {f"s{at}": np.linspace(0, 1, 5) * at for at in range(12)}
    _, _, apart = groups_pictures({"AP": (values, None)}, list("abcde"), "targets", None)
    assert len(apart) == 8 and apart[0].caption.endswith("in falling order. 3 more pairs are left out.")
    assert groups_pictures({"AP": ({"s": np.full(3, np.nan)}, None)}, list("abc"), "targets", None) == [[], [], []]
