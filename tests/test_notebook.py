"""What a notebook shows: well-formed, escaped, short and quick for every class, and never an error."""

import math
import re
import time

import numpy as np
import pytest
from html_page import Page

import hitcurve as hc
from hitcurve.shown import notebook as _notebook

Y, S = [1, 0, 1, 1, 0, 0], [6, 5, 5, 3, 2, 1]
LEVELS, PLACES = [2, 0, 3, 1], [3, 2, 2, 1]
CURVE, GAINS = hc.HitCurve(Y, S), hc.GainCurve(LEVELS, PLACES)
CURVES = hc.HitCurves([1, 0, 0, 1, 0], [5, 4, 3, 3, 1], qid=["a", "a", "b", "b", "c"])
JUDGED, RUN = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}
EVALUATION = hc.evaluate(JUDGED, RUN, ["AP", "nDCG@10"])
COMPARISON = hc.compare({"a": [0.1, 0.4, 0.3], "b": [0.2, 0.4, 0.5]}, rng=0)


def page(shown):
    text = shown._repr_html_()
    found = Page(text)
    assert all(len({len(row) for row in table}) == 1 for table in found.tables)
    assert [one for one in found.elsewhere if not re.fullmatch(r"\d+ notes?", one)] == []  # what opens the notes
    assert len(text) < 12_000
    text.encode()
    return found


EVERY = {
    "HitCurve": CURVE,
    "HitCurves": CURVES,
    "GainCurve": GAINS,
    "GainCurves": hc.GainCurves([LEVELS, LEVELS], [PLACES, PLACES]),
    "Evaluation": EVALUATION,
    "Comparison": COMPARISON,
    "Interval": CURVE.interval(),
    "TieReport": CURVE.tie_report(),
    "TieReport of many": CURVES.tie_report(),
    "RankBiasedOverlap": hc.rbo(["a", "b"], ["b", "c"]),
    "RankBiasedOverlap of many": hc.rbo([[1, 2]] * 30, [[2, 3]] * 30, p=0.5, ties="w"),
    "weighted": hc.HitCurve(Y, S, sample_weight=[0.5, 1, 1, 2, 1, 1]),
    "weighted queries": hc.HitCurves(Y, S, qid=[0, 0, 0, 1, 1, 1], sample_weight=[0.5, 1, 1, 2, 1, 1]),
    "never retrieved": hc.HitCurve(Y, S, num_relevant=9),
    "levels never retrieved": hc.GainCurve(LEVELS, PLACES, unretrieved=[3, 1]),
    "by ranks": hc.HitCurve.from_ranks([1, 2**61], num_items=2**62),
    "no items": hc.HitCurve([], []),
    "no queries": hc.HitCurves([], [], qid=[]),
    "no levels": hc.GainCurve([], []),
    "no queries with levels": hc.GainCurves([], [], qid=[]),
    "no weights": hc.HitCurve([], [], sample_weight=[]),
    "nothing relevant": hc.HitCurve([0, 0], [1, 1]),
    "nothing gains": hc.GainCurve([0, 0], [1, 1]),
    "sums above all floats": hc.GainCurve([1e308, 1e308, 1], [1, 1, 3]),
    "no interval": hc.HitCurve([], []).interval(),
    "no ties": hc.HitCurve([], []).tie_report(),
    "no ties of any": hc.HitCurves([], [], qid=[]).tie_report(),
    "no value": hc.evaluate({"q": {"a": 0}, "r": {"a": 0}}, {"q": {"a": 1.0}, "p": {"a": 1.0}}, "AP", empty="skip"),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("shown", EVERY.values(), ids=EVERY)
def test_every_class(shown):
    found = page(shown)
    assert found.tables
    style = _notebook._STYLE
    assert not re.search(r"#|rgb|background|[^-]color:|font", style)
    assert {name for _, attrs in found.tags for name in attrs} <= {"class"}


TEST = {"user": [1, 1, 2], "item": [10, 11, 12], "rating": [4.5, 2.0, 5.0]}
TOP = {"user_id": [1, 1, 2, 2, 2], "item": [11, 10, 13, 12, 12], "prediction": [0.9, 0.8, 0.7, 0.4, 0.4]}


@pytest.mark.parametrize("duplicates", [None, "first"])
def test_notes_of_the_data_stand_below_the_table(duplicates):
    """Folded if they only say which columns were taken, open if they say more, such as rows that were left out."""
    top = TOP if duplicates else {name: column[:4] for name, column in TOP.items()}
    found = hc.evaluate(TEST, {"a<b>": top, "mine": top}, "AP", **({"duplicates": duplicates} if duplicates else {}))
    first, second = found.values()
    assert len(first.notes) == (3 if duplicates else 2)
    for shown, notes in ((first, first.notes), (hc.Leaderboard(found), [*first.notes, *second.notes])):
        text = shown._repr_html_()
        parts = text.partition("</table>")[2].partition("<details")
        notes = list(dict.fromkeys(notes))
        assert [line for line in page(shown).lines if line in notes] == notes
        assert parts[2].startswith(f"{' open' if duplicates else ''}><summary><small>{len(notes)} notes<")
    assert "<details" not in EVALUATION._repr_html_()
    long = _notebook.shown(["text"], notes=[f"note {i}" for i in range(30)])
    assert "<small>30 notes</small>" in long
    assert Page(long).lines[-2:] == ["note 19", "10 more notes are left out here."]


def test_a_curve():
    head, cells = page(CURVE).tables[0]
    assert head == ["items", "relevant", "hits", "tied", "AP", "worst to best order"]
    assert cells == ["6", "3", "3", "2", "0.8611", "0.8056 to 0.9167"]
    assert page(EVERY["no items"]).tables[0][1] == ["0", "0", "0", "0", "-", "-"]
    head, cells = page(EVERY["weighted"]).tables[0]
    assert head == ["items", "relevant", "hits", "AP (ties='threshold')"]
    assert cells == ["6.5", "3.5", "3.5", f"{(0.5 + 1.5 / 2.5 + 2 * 3.5 / 4.5) / 3.5:.4f}"]
    ends = [GAINS.ndcg(ties=ties) for ties in ("worst", "best")]
    assert page(GAINS).tables[0][1][-2:] == [f"{GAINS.ndcg():.4f}", "{:.4f} to {:.4f}".format(*ends)]
    alike = f"{(math.log(2, 3) + 0.5) / (1 + math.log(2, 3)):.4f}"  # of gains whose sum no float64 can hold
    assert page(EVERY["sums above all floats"]).tables[0][1][-2:] == [alike, f"{alike} to {alike}"]


def test_curves():
    found = page(CURVES)
    assert found.lines == ["HitCurves: 3 queries; mean AP 0.8750, 0.7500 to 1.0000 by the order of ties"]
    assert found.tables[0][1:] == [
        ["a", "2", "1", "1", "0", "1.0000", "-"],
        ["b", "2", "1", "1", "2", "0.7500", "0.5000 to 1.0000"],
        ["c", "1", "0", "0", "0", "-", "-"],
    ]
    assert page(hc.HitCurves([[1, 0]], [[2, 1]])).lines == ["HitCurves: 1 query; mean AP 1.0000"]


def test_results():
    worst, expected, best, threshold = (f"{value:.4f}" for value in CURVE.tie_report()[:4])
    assert page(CURVE.tie_report()).tables[0][1] == [worst, expected, best, threshold, "2", "0.3333", "2", "0"]
    rows = page(CURVES.tie_report()).tables[0][1:]
    assert [row[:2] for row in rows] == [["0", "1.0000"], ["1", "0.5000"], ["2", "-"]]
    found = CURVE.interval(confidence_level=0.9)
    ends = "{:.4f} to {:.4f}".format(*found.confidence_interval)
    assert page(found).tables[0] == [["measure", "value", "90 % interval", "standard error", "by"],
                                     ["AP", "0.8611", ends, f"{found.standard_error:.4f}", "logit"]]
    means = [[name, f"{mean:.4f}"] for name, mean in EVALUATION.means.items()]
    assert page(EVALUATION).tables == [[["measure", "mean"], *means]]
    assert means[0] == ["AP", "0.5000"]
    assert page(EVERY["no value"]).tables[0][1] == ["AP", "-"]
    assert page(EVERY["no value"]).lines == ["run: 2 queries, 1 missing, 1 extra, 2 empty"]
    values, differences = page(COMPARISON).tables
    assert [row[1] for row in values[1:]] == ["a", "b"]
    for row in (*values[1:], *differences[1:]):
        assert all(cell in str(COMPARISON) for cell in row)


def test_words_stay_left_in_jupyterlab():
    """JupyterLab's rule for cells has two classes and an element. Ours needs three classes to come before it."""
    for text in (COMPARISON._repr_html_(), COMPARISON.to_html()):
        [selector] = re.findall(r"(\S[^{}]*\.word) { text-align: left", text)
        assert selector.count(".") >= 3


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a&b", '"', "a\nb", "\udcff", "\ud800", "$x$", "é"])
def test_names_are_text(name):
    shown = name.encode("utf-8", "backslashreplace").decode()
    assert page(hc.HitCurves([1, 0], [2, 1], qid=np.array([name, name], object))).tables[0][1][0] == shown
    values = page(hc.compare({name: [0.1, 0.4, 0.3], "b": [0.2, 0.4, 0.5]}, rng=0)).tables[0]
    assert values[1][1] == shown
    assert "mathjax_ignore" in CURVE._repr_html_()


def test_long_tables_and_long_names_are_cut():
    n = 1234
    curves = hc.HitCurves([1, 0] * n, [2, 1] * n, qid=np.repeat(np.arange(n), 2))
    for shown in (curves, curves.tie_report(), hc.GainCurves([1, 0] * n, [2, 1] * n, qid=np.repeat(np.arange(n), 2))):
        found = page(shown)
        assert len(found.tables[0]) == 1 + 20
        assert found.lines[-1] == "1,214 more rows are left out here."
        assert found.lines[0].startswith(f"{type(shown).__name__}: 1,234 queries")
    names = [f"P@{k}" for k in range(1, 31)]
    assert page(hc.evaluate(JUDGED, RUN, names)).lines[-1] == "10 more rows are left out here."
    comparison = hc.compare({str(i): [0.1 * i, 0.5, 0.3] for i in range(8)}, rng=0, n_resamples=9)
    cut = "more rows are left out here. print() shows all rows, and to_html() makes HTML of them."
    assert f"8 {cut}" in page(comparison).lines
    assert len(comparison.to_markdown().splitlines()) > 8 + 28
    board = page(hc.Leaderboard({f"s{i}": hc.evaluate(JUDGED, RUN, names[:5]) for i in range(50)}))
    assert (len(board.tables[0]), board.lines[0]) == (1 + 20, f"30 {cut}")
    cell = page(hc.HitCurves([1, 0], [2, 1], qid=["x" * 10**5] * 2)).tables[0][1][0]
    assert cell == "x" * 57 + "..."


@pytest.mark.parametrize("graded", [False, True])
def test_large_tables_are_not_measured(graded, monkeypatch):
    n = _notebook._MOST_ROWS + 1
    one, many = (hc.GainCurve, hc.GainCurves) if graded else (hc.HitCurve, hc.HitCurves)
    for curve in (one(np.ones(n), np.arange(n)), many(np.ones(n), np.arange(n), qid=np.arange(n) // 2)):
        started = time.process_time()
        found = page(curve)
        assert time.process_time() - started < 0.5
        assert found.lines[-1].endswith("the table has more than 100,000 rows.")
        assert found.tables[0][0][-1] == "tied"
        monkeypatch.setattr(_notebook, "_MOST_ROWS", n)
        assert page(curve).tables[0][0][-1] == "worst to best order"
        monkeypatch.undo()


def test_weighted_queries_are_read_one_by_one():
    n = _notebook._MOST_ROWS // _notebook._ROWS_A_QUERY + 1
    curves = hc.HitCurves([1, 0] * n, [2, 1] * n, qid=np.repeat(np.arange(n), 2), sample_weight=np.ones(2 * n))
    assert page(curves).tables[0][0][-1] == "hits"


def test_in_ipython():
    formatters = pytest.importorskip("IPython.core.formatters")
    for shown in EVERY.values():
        data, _ = formatters.DisplayFormatter().format(shown)
        assert data["text/html"] == shown._repr_html_()
        assert data["text/plain"]
