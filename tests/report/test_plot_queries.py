"""Pictures over queries: what is drawn is what was measured."""

import math
import pickle
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")

from matplotlib.figure import Figure  # noqa: E402

import hitcurve as hc  # noqa: E402
from hitcurve.report import plot, plot_queries  # noqa: E402

TIES = ("expected", "threshold", "best", "worst")


def judged(seed, queries=12, documents=40):
    rng = np.random.default_rng(seed)
    qrels = {f"q{q}": {f"d{d}": int(level) for d, level in enumerate(rng.random(documents) < 0.2)}
             for q in range(queries)}  # fmt: skip
    for levels in qrels.values():
        levels["d0"] = 1
    runs = [
        {query: {one: round(float(rng.normal(level)), 1) for one, level in levels.items()}
         for query, levels in qrels.items()}
        for _ in range(2)
    ]  # fmt: skip
    return qrels, runs


QRELS, RUNS = judged(0)
MEASURES = ["AP", "nDCG@10", *(f"IPrec@{level / 10}" for level in range(11))]
A, B = (hc.Evaluator(QRELS, MEASURES).evaluate(run, name) for run, name in zip(RUNS, "AB", strict=True))
BOTH = {"A": A, "B": B}


def ranked(seed, ties=True):
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(15), 20)
    scores = rng.integers(0, 6, 300) if ties else rng.permutation(300)
    relevant = rng.random(300) < 0.25
    relevant[::20] = True
    return hc.HitCurves(relevant, scores, qid=query)


CURVES = ranked(1)


def labels(display):
    return display.ax_.get_legend_handles_labels()[1]


def line(display, at=0):
    return display.ax_.get_lines()[at].get_xydata().T


def heights(display):
    return [bar.get_height() for bar in display.ax_.patches]


# --- mean precision and recall ------------------------------------------------------------------------------


def test_the_mean_curve_of_evaluations():
    display = hc.plot_evaluations(BOTH, "PR")
    for at, one in enumerate((A, B)):
        x, y = line(display, at)
        np.testing.assert_array_equal(x, np.arange(11) / 10)
        np.testing.assert_allclose(y, [one[f"IPrec@{level:g}"] for level in x], rtol=1e-15)
        assert labels(display)[at] == f"{'AB'[at]} ({np.mean(y):.3f})"
    (text,) = display.figure_.legends
    assert text.get_title().get_text() == "in brackets: mean of the 11 points"


@pytest.mark.parametrize("ties", ["docid", "expected", "worst", "best"])
@pytest.mark.parametrize("level", [1, 2])
def test_no_measure_has_to_be_asked_for(ties, level):
    """The picture of an evaluation is that of its curves, under its own ties and from its own level up."""
    graded = {query: {doc: one * (1 + at % 2) for at, (doc, one) in enumerate(levels.items())}
              for query, levels in QRELS.items()}  # fmt: skip
    found = hc.evaluate(graded, RUNS[0], "P@1", ties=ties, relevance_level=level)
    assert found.relevance_level == level
    asked = [f"IPrec(rel={level})@{at / 10}" for at in range(11)]
    whole = hc.evaluate(graded, RUNS[0], asked, ties=ties) if ties != "expected" else None
    with_relevant = found.curves(level).num_relevant > 0
    shown = line(found.plot("pr"))[1]
    if whole is not None:
        np.testing.assert_allclose(shown, [whole.values[name][with_relevant].mean() for name in asked], rtol=1e-14)
    again = found.curves(level).plot("pr", ties="expected" if ties == "docid" else ties)
    np.testing.assert_array_equal(shown, line(again)[1])


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("curves", [CURVES, ranked(2, ties=False)], ids=["ties", "plain"])
def test_the_mean_curve_of_hit_curves(curves, ties):
    """The mean of its points is that of 11-point interpolated average precision, which the kernel computes."""
    x, y = line(curves.plot("pr", ties=ties))
    np.testing.assert_array_equal(x, np.arange(11) / 10)
    assert np.mean(y) == pytest.approx(curves.mean_average_precision(ties=ties, interpolation="11-point"), rel=1e-14)
    slow = []
    for curve in curves if ties != "expected" else ():
        items, hits = (np.asarray(one, float) for one in curve.hit_curve(ties=ties))
        at = items[1:] if ties == "threshold" else np.arange(1, curve.num_items + 1)
        found = np.interp(at, items, hits)
        slow.append([max([0.0, *(found / at)[found >= level * curve.num_relevant - 1e-9]]) for level in x])
    if slow:
        np.testing.assert_allclose(y, np.mean(slow, axis=0), rtol=1e-13)


def test_relevant_items_that_were_never_retrieved():
    curves = hc.HitCurves([1, 0, 1], [3, 2, 1], qid=[0, 0, 1], num_relevant=[2, 1])
    assert line(curves.plot())[1].tolist() == [1.0] * 6 + [0.5] * 5


def test_hit_curves_and_evaluations_agree():
    """trec_eval's levels and the exact ones are those of a run without ties where tenths of R are whole."""
    rng = np.random.default_rng(4)
    relevant = rng.permutation(np.arange(50) < 10)
    scores = rng.permutation(50).astype(float)
    found = hc.evaluate({"q": {str(i): int(one) for i, one in enumerate(relevant)}},
                        {"q": {str(i): one for i, one in enumerate(scores.tolist())}}, "iprec_at_recall")  # fmt: skip
    curves = hc.HitCurves(relevant, scores, offsets=[0, 50])
    np.testing.assert_allclose(line(found.plot("pr")), line(curves.plot("pr")), rtol=1e-15)


# --- one measure --------------------------------------------------------------------------------------------


def test_a_histogram():
    display = A.plot()
    assert sum(heights(display)) == len(A)
    counts, _ = np.histogram(A.values["AP"], np.linspace(0, 1, 21))
    assert heights(display) == counts.tolist()
    mean, median = (one.get_xdata()[0] for one in display.ax_.get_lines())
    assert (mean, median) == (pytest.approx(A["AP"]), pytest.approx(np.median(A.values["AP"])))
    assert display.get_xlabel() == "AP"
    assert "A" in labels(display)


def test_boxes():
    display = hc.plot_evaluations(BOTH, measure="ndcg_cut_10")
    assert [one.get_text() for one in display.get_yticklabels()] == ["A", "B"]
    boxes = [one for one in display.ax_.patches if not one.get_fill()]
    for box, one in zip(boxes, (A, B), strict=True):
        low, high = np.quantile(one.values["nDCG@10"], (0.25, 0.75))
        assert (box.get_x(), box.get_width()) == (pytest.approx(low), pytest.approx(high - low))
    means = [one.get_xdata()[0] for one in display.ax_.get_lines() if one.get_marker() == "D" and len(one.get_xdata())]
    assert means == [pytest.approx(A["nDCG@10"]), pytest.approx(B["nDCG@10"])]
    low, high = display.get_ylim()
    assert low > high  # the first at the top


def test_bars_of_queries():
    display = hc.plot_evaluations(BOTH, "queries")
    order = np.argsort(-A.values["AP"], kind="stable")
    assert heights(display) == [*A.values["AP"][order], *B.values["AP"][order]]
    assert [one.get_text() for one in display.get_xticklabels()] == [A.query_ids[at] for at in order]
    assert labels(display) == [f"A (mean {A['AP']:.3f})", f"B (mean {B['AP']:.3f})"]


def test_many_queries_and_many_systems_are_lines():
    rng = np.random.default_rng(0)
    many = {f"system {at}": rng.random(10_000) for at in range(2)}
    display = hc.plot_evaluations(many, "queries", measure="AP")
    for at, values in enumerate(many.values()):
        x, y = line(display, at)
        assert len(x) <= 4000
        assert (x[0], x[-1]) == (0.5, 9999.5)
        assert (y[0], y[-1]) == (values.max(), values.min())
    few = {str(at): [0.1, 0.5, 0.3] for at in range(4)}
    assert line(hc.plot_evaluations(few, "queries"))[1].tolist() == [0.5, 0.3, 0.1]


def test_scatter():
    display = hc.plot_evaluations(BOTH, "scatter")
    a, b = A.values["AP"], B.values["AP"]
    points = np.concatenate([one.get_offsets() for one in display.ax_.collections])
    assert sorted(map(tuple, points.tolist())) == sorted(zip(a.tolist(), b.tolist(), strict=True))
    counts = [np.count_nonzero(b > a), np.count_nonzero(b == a), np.count_nonzero(b < a)]
    assert labels(display)[:3] == [f"B better: {counts[0]}", f"equal: {counts[1]}", f"A better: {counts[2]}"]
    x, y = line(display)
    np.testing.assert_array_equal(x, y)
    assert display.get_xlim() == display.get_ylim()


def test_differences():
    display = hc.plot_evaluations(BOTH, "differences", measure="nDCG@10")
    apart = B.values["nDCG@10"] - A.values["nDCG@10"]
    stacked = np.array(heights(display)).reshape(3, -1).sum(axis=0)
    np.testing.assert_array_equal(stacked, np.sort(apart)[::-1])
    assert labels(display)[0].startswith("mean") or f"mean {apart.mean():+.3f}" in labels(display)
    assert f"B better: {np.count_nonzero(apart > 0)}" in labels(display)
    assert display.get_ylabel() == "nDCG@10: B − A"


def test_where_less_is_better():
    found = hc.evaluate(QRELS, RUNS, ["Unjudged@5"])
    more = hc.evaluate(QRELS, [{q: {**run, "x": 99.0} for q, run in RUNS[0].items()}], ["Unjudged@5"])
    display = hc.plot_evaluations({"judged": found[0], "not": more[0]}, "scatter")
    assert labels(display)[:3] == ["not better: 0", "equal: 0", f"judged better: {len(found[0])}"]


def test_gain_curves():
    many = [hc.GainCurves([2, 0, 1, 3, 0, 1], scores, qid=[1, 1, 1, 2, 2, 2]) for scores in
            ([3, 2, 1, 3, 2, 1], [1, 2, 3, 1, 2, 3])]  # fmt: skip
    display = hc.plot_evaluations(dict(zip("ab", many, strict=True)), "queries")
    assert display.get_ylabel() == "nDCG"
    assert sorted(heights(display)) == sorted([*many[0].ndcg(), *many[1].ndcg()])
    with pytest.raises(TypeError, match=r"'a' must be an Evaluation or a HitCurves .*at_level\(level\)"):
        hc.plot_evaluations({"a": many[0]}, "pr")


def test_a_reading_of_ties():
    for ties in TIES:
        assert heights(CURVES.plot("queries", ties=ties)) == sorted(CURVES.average_precision(ties=ties), reverse=True)


# --- undefined values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["distribution", "queries", "scatter", "differences"])
def test_queries_without_a_value_are_left_out_and_counted(kind):
    display = hc.plot_evaluations({"a": [0.1, math.nan, 0.4, 0.2], "b": [0.3, 0.2, math.nan, 0.1]}, kind)
    (text,) = display.figure_.legends
    assert text.get_title().get_text() == "2 queries without a value left out"
    assert labels(display)
    whole = hc.plot_evaluations({"a": [0.1, 0.2], "b": [0.3, 0.1]}, kind)
    assert whole.figure_.legends[0].get_title().get_text() == ""
    assert whole.ax_.get_xlim() == display.ax_.get_xlim()


def test_queries_without_relevant_items():
    curves = hc.HitCurves([1, 0, 0, 0], [4, 3, 2, 1], qid=[0, 0, 1, 1])
    display = curves.plot()
    assert line(display)[1].tolist() == [1.0] * 11
    assert display.figure_.legends[0].get_title().get_text().endswith("1 query without a value left out")


# --- what cannot be drawn -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("systems", "options", "error", "problem"),
    [
        ({}, {}, ValueError, "systems is empty"),
        ([], {}, ValueError, "systems is empty"),
        (A, {}, TypeError, "systems must be a list of evaluations, or a mapping of names to evaluations, got"),
        ([A, A], {}, ValueError, r"systems\[0\] and systems\[1\] are both named"),
        ({3: A}, {}, TypeError, "systems has the key 3"),
        (BOTH, {"kind": "pie"}, ValueError, "kind='pie'"),
        (BOTH, {"kind": 5}, TypeError, "kind.*5"),
        ({"A": A}, {"kind": "scatter"}, ValueError, "kind='scatter' needs two systems, but systems has 1: A"),
        (dict.fromkeys("abc", A), {"kind": "differences"}, ValueError, "systems has 3: a, b, c"),
        (BOTH, {"measure": "RR"}, ValueError, "'A' has no RR"),
        (BOTH, {"kind": "pr", "measure": "AP"}, ValueError, "measure='AP': kind='precision-recall'"),
        ({"a": [0.5, math.inf]}, {}, ValueError, "value of query 1 is inf for 'a'"),
        ({"a": [math.nan]}, {}, ValueError, "systems: no query has a value of value"),
        ({"a": []}, {}, ValueError, "systems: no query has a value"),
        ({"a": [0.1], "b": [0.1, 0.2]}, {}, ValueError, "'a' has 1 query, 'b' has 2"),
        ({"a": [0.1]}, {"kind": "pr"}, TypeError, "'a' must be an Evaluation or a HitCurves"),
        (BOTH, {"color": "nocolour"}, ValueError, "color='nocolour'"),
        (BOTH, {"color": {"C": "red"}}, ValueError, r"color\['C'\]"),
        ({"c": CURVES}, {"kind": "pr", "ties": "none"}, ValueError, "ties='none'"),
        (BOTH, {"ties": "none"}, ValueError, "ties='none'"),
    ],
)
def test_what_cannot_be_drawn(systems, options, error, problem):
    ax = Figure().add_subplot()
    with pytest.raises(error, match=problem):
        hc.plot_evaluations(systems, ax=ax, **options)
    assert not ax.has_data()


@pytest.mark.parametrize("one", [A, CURVES])
def test_one_system_has_no_picture_of_two(one):
    with pytest.raises(ValueError, match="kind='scatter' needs two systems: use plot_evaluations"):
        one.plot("scatter")


def test_weighted_curves_have_no_mean_curve():
    weighted = hc.HitCurves([1, 0], [2, 1], qid=[0, 0], sample_weight=[1.0, 2.0])
    with pytest.raises(ValueError, match="kind='precision-recall' is not defined for weighted items"):
        weighted.plot()


# --- the object, colours, names -----------------------------------------------------------------------------


def test_what_a_display_has():
    display = hc.plot_evaluations([A, B])
    assert isinstance(display, plot.Display)
    assert display.figure_ is display.ax_.figure
    assert repr(display) == "Display('distribution', ['A', 'B'])"
    assert display.plot(kind="scatter") is display
    assert display.get_xlabel() == "AP of A"
    ax = Figure().add_subplot()
    assert display.plot(ax).ax_ is ax
    assert ax.get_legend() is not None
    assert pickle.loads(pickle.dumps(display)).get_xlabel() == "AP of A"
    ax.clear()
    assert CURVES.plot(ax=display).ax_ is ax


def test_colours():
    display = hc.plot_evaluations(BOTH, "pr", color={"B": "red"})
    assert [one.get_color() for one in display.ax_.get_lines()] == [plot._COLOURS[0], "red"]
    assert A.plot("pr", color="black").ax_.get_lines()[0].get_color() == "black"


@pytest.mark.filterwarnings("error")
def test_names_are_shown_letter_by_letter():
    run = hc.evaluate({"$x_1$": {"a": 1}, "_y": {"a": 1}}, {"$x_1$": {"a": 1.0}, "_y": {"a": 1.0}}, "AP")
    run.name = "_run $1_2$"
    display = run.plot("queries")
    assert [one.get_text() for one in display.get_xticklabels()] == [r"\$x_1\$", "_y"]
    assert labels(display) == ["\u200b_run \\$1_2\\$ (mean 1.000)"]
    display.figure_.canvas.draw()


@pytest.mark.filterwarnings("error")
def test_the_names_of_a_comparison_are_shown_letter_by_letter():
    found = hc.compare({"$_$": A, "b": B, "c": A}, measures="AP", n_resamples=99, rng=0)
    assert [one.get_text() for one in found.plot("systems").get_yticklabels()] == [r"\$_\$", "b", "c"]
    display = found.plot()
    assert display.get_yticklabels()[0].get_text() == r"b − \$_\$"
    display.figure_.canvas.draw()


def test_colours_by_names_that_are_shown_in_other_letters():
    run = hc.Evaluator(QRELS, MEASURES).evaluate(RUNS[0], "$x$")
    for display in (run.plot("pr", color={"$x$": "red"}), hc.plot_evaluations([run, A], "pr", color={"$x$": "red"})):
        assert display.ax_.get_lines()[0].get_color() == "red"


def test_a_p_value_at_the_level_is_significant():
    row = COMPARED.rows[0]._replace(p_holm=0.05)
    for level, said in ((0.95, "p (Holm) ≤ 0.05"), (0.94, "p (Holm) ≤ 0.06"), (0.96, "p (Holm) > 0.04")):
        display = replace(COMPARED, rows=(row,), confidence_level=level).plot()
        assert labels(display) == [said]
    at = replace(COMPARED, rows=(row._replace(p_holm=0.1),), confidence_level=0.9)
    assert labels(at.plot()) == ["p (Holm) ≤ 0.1"]
    assert "†" in at.to_markdown("wide", alpha=0.1)


def test_ids_that_have_no_room_are_counted():
    display = hc.plot_evaluations({"a": np.linspace(0, 1, 150)}, "queries", measure="AP")
    assert len(display.get_xticks()) == 0
    assert display.get_xlabel() == "150 queries, by falling AP"


# --- comparisons --------------------------------------------------------------------------------------------


COMPARED = hc.compare({"a": A, "b": B, "c": A}, measures=["nDCG@10", "AP"], n_resamples=99, rng=0)


@pytest.mark.parametrize("measure", ["nDCG@10", "AP", None])
def test_a_forest_of_differences(measure):
    display = COMPARED.plot(measure=measure)
    rows = [row for row in COMPARED.rows if row.measure == (measure or "nDCG@10")]
    assert [one.get_text() for one in display.get_yticklabels()] == ["b − a", "c − a", "c − b"]
    ends = [part[:, 0].tolist() for part in display.ax_.collections[0].get_segments()]
    assert ends == [[row.low, row.high] for row in rows]
    drawn = {float(at): x for one in display.ax_.get_lines() if one.get_marker() == "o"
             for x, at in one.get_xydata().tolist()}  # fmt: skip
    assert drawn == {float(at): row.difference for at, row in enumerate(rows)}
    filled = {at for one in display.ax_.get_lines() if one.get_label() == "p (Holm) ≤ 0.05" for at in one.get_ydata()}
    assert filled == {at for at, row in enumerate(rows) if row.p_holm <= 0.05}


def test_a_forest_from_one_baseline_and_of_systems():
    found = hc.compare(BOTH, measures="AP", baseline="A", n_resamples=99, rng=0, confidence_level=0.9)
    display = found.plot()
    assert [one.get_text() for one in display.get_yticklabels()] == ["B"]
    assert display.get_xlabel() == "difference in AP from A, 90\u00a0% intervals"
    systems = found.plot("Systems")
    assert [one.get_text() for one in systems.get_yticklabels()] == ["A", "B"]
    assert systems.get_xlabel() == "mean AP, 90\u00a0% intervals"
    ends = [part[:, 0].tolist() for part in systems.ax_.collections[0].get_segments()]
    assert ends == [[one.low, one.high] for one in found.systems]
    assert systems.plot(kind="differences").get_xlabel() == display.get_xlabel()


def test_a_comparison_over_items():
    found = hc.compare([1, 0, 1, 0, 0], {"x": [5, 4, 3, 2, 1], "y": [1, 2, 3, 4, 5]}, n_resamples=99, rng=0)
    assert found.plot("systems").get_xlabel().startswith("AP,")
    assert found.plot(measure="ROCAUC").get_title() == "ROCAUC, 5 items"


@pytest.mark.parametrize(
    ("options", "error", "problem"),
    [({"kind": "pie"}, ValueError, "kind='pie'"), ({"measure": "RR"}, ValueError, "measure='RR'")],
)
def test_comparisons_that_cannot_be_drawn(options, error, problem):
    with pytest.raises(error, match=problem):
        COMPARED.plot(**options)


def test_a_comparison_without_values():
    found = hc.compare({"a": [math.nan], "b": [math.nan]}, measures="AP", rng=0)
    with pytest.raises(ValueError, match="comparison: AP has no finite value"):
        found.plot()
    some = hc.compare({"a": [math.nan, 0.5, 0.1], "b": [math.nan, 0.25, 0.2]}, measures="AP", n_resamples=9, rng=0)
    (text,) = some.plot().figure_.legends
    assert text.get_title().get_text() == "1 query without a value left out"


# --- the picture of the command -----------------------------------------------------------------------------


def test_the_picture_of_runs():
    one = plot_queries.runs_figure(["A"], [A])
    assert [ax.get_ylabel() for ax in one.axes] == ["interpolated precision"]
    two = plot_queries.runs_figure(["A", "B"], [A, B])
    assert [ax.get_ylabel() for ax in two.axes] == ["interpolated precision", "AP: B − A"]
    three = plot_queries.runs_figure(["a", "b", "c"], [A, B, A])
    assert len(three.axes) == 1
    three = plot_queries.runs_figure(["a", "b", "c"], [A, B, A], COMPARED)
    assert [ax.get_title() for ax in three.axes][1] == "AP, 12 queries"


FILLED = {(1, False), (2, False), (11, False), (8, True), (20, True), (60, True)}


@pytest.mark.parametrize(
    ("count", "compared"),
    [pytest.param(*case, marks=() if case in FILLED else pytest.mark.slow)
     for case in product([1, 2, 8, 11, 20, 60], [False, True])],
)  # fmt: skip
def test_the_picture_of_runs_fills_its_figure(count, compared):
    """At the top, at the bottom and at both sides something is drawn."""
    names = [f"run {at}" for at in range(count)]
    systems = dict(zip(names, [A, B] * count, strict=False))
    compared = hc.compare(systems, baseline=names[0], rng=0, n_resamples=9) if compared and count > 1 else None
    figure = plot_queries.runs_figure(names, list(systems.values()), compared)
    canvas = pytest.importorskip("matplotlib.backends.backend_agg").FigureCanvasAgg(figure)
    canvas.draw()
    drawn = np.asarray(canvas.buffer_rgba())[..., :3].min(axis=2) < 250
    for rows in (drawn, drawn.T):
        (inked,) = np.nonzero(rows.any(axis=1))
        assert inked[0] < 0.08 * len(rows)
        assert inked[-1] > 0.92 * len(rows)


def test_gain_curves_draw_their_ndcg():
    curves = hc.GainCurves([2, 0, 0, 1, 0, 0], [4, 3, 2, 1, 1, 0], qid=[1, 1, 2, 2, 2, 3])
    wanted = sorted(curves.ndcg(ties="best")[:2], reverse=True)  # the third has nothing to find
    display = curves.plot("queries", ties="best")
    assert heights(display) == wanted
    assert curves.plot().get_xlabel().startswith("nDCG")
    with pytest.raises(TypeError, match=r"the result must be an Evaluation or a HitCurves .* pass curves.at_level"):
        curves.plot("pr")


def test_pictures_of_many_systems_have_a_greatest_size():
    """They have 60 rows at most, and say how many more there are."""
    rng = np.random.default_rng(1)
    good = rng.permutation(50)
    values = {f"s{i}": rng.random(8) + good[i] for i in range(50)}
    compared = hc.compare(values, rng=0)
    display = compared.plot()
    shown = [label.get_text() for label in display.ax_.get_yticklabels()]
    greatest = sorted(compared.rows, key=lambda row: -abs(row.difference))[:60]
    assert shown == [f"{row.system} − {row.baseline}" for row in compared.rows if row in greatest]
    assert display.figure_.legends[0].get_title().get_text() == "1,165 smaller differences left out"
    assert display.figure_.get_figheight() < 20
    assert len(compared.plot("systems").ax_.get_yticks()) == 50
    many = {f"s{i}": values[f"s{i % 50}"] for i in range(70)}
    for kind in ("distribution", "queries"):
        display = hc.plot_evaluations(many, kind, measure="AP")
        assert display.figure_.legends[0].get_title().get_text() == "10 more systems left out"
        assert display.figure_.get_figheight() < 27
    systems = hc.compare(many, baseline="s0", rng=0)
    display = systems.plot("systems")
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == list(many)[:60]
    assert display.figure_.legends[0].get_title().get_text() == "10 more systems left out"
    assert len(systems.plot().ax_.get_yticks()) == 60


# --- pictures of several kinds ------------------------------------------------------------------------------

GAIN = hc.GainCurve([2, 0, 1, 0], [4, 3, 2, 1])
HITS = hc.HitCurve([1, 0, 1, 0], [4, 3, 2, 1])
PICTURES = {
    **{f"{kind} of curves": lambda ax=None, kind=kind: HITS.plot(kind, ax=ax) for kind in plot.KINDS},
    "gain of curves": lambda ax=None: GAIN.plot("gain", ax=ax),
    **{f"{kind} of queries": lambda ax=None, kind=kind: hc.plot_evaluations(BOTH, kind, ax=ax)
       for kind in plot_queries._DRAWN},
    "nDCG of queries": lambda ax=None: hc.plot_evaluations(BOTH, "scatter", measure="nDCG@10", ax=ax),
    **{f"{kind} of a comparison": lambda ax=None, kind=kind: COMPARED.plot(kind, ax=ax)
       for kind in ("differences", "systems")},
}  # fmt: skip


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("first", PICTURES)
def test_a_picture_of_another_kind_has_axes_of_its_own(plt, first, every):
    """Where axes are given it is an error for all of them, and without axes the next picture stands for all."""
    held = PICTURES[first]()
    lines = len(held.get_lines())
    names = [*PICTURES]
    following = names[names.index(first) + 1 - len(names)]
    for second, draw in PICTURES.items():
        if second == first:
            continue
        if every or second == following:
            plt.sca(held)
            new = draw()
            assert new.ax_ is not held.ax_, second
            assert new.figure_ is not held.figure_ and plt.gca() is new.ax_, second
            plt.close(new.figure_)
        with pytest.raises(ValueError, match=r"^ax holds a picture of another kind, '.+: draw '.+ into other axes$"):
            draw(ax=held)
        assert len(held.get_lines()) == lines
    plt.sca(held)
    assert PICTURES[first]().ax_ is held.ax_
    held.clear()
    for draw in PICTURES.values() if every else [PICTURES[following]]:
        assert draw(ax=held).ax_ is held.ax_
        held.clear()


def test_axes_with_lines_of_the_callers(plt):
    plt.plot([0, 1], [0, 1])
    held = plt.gca()
    assert HITS.plot("roc").ax_ is held
