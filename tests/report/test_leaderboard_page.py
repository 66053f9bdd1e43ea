"""The page of runs: what stands in its tables is what the evaluations and the comparison hold."""

import gzip
import hashlib
import re
import sys

import pytest
from html_page import Page

import hitcurve as hc
from hitcurve.cli.main import main
from hitcurve.report import leaderboard_page
from hitcurve.report.frame import _STYLE, section
from hitcurve.report.runs import Runs
from hitcurve.shown.grid import Grid

pytestmark = pytest.mark.usefixtures("no_layout")  # of pictures only the texts are looked at

QUERIES = [f"q{at}" for at in range(30)]
QRELS = {f"q{at}": {"a": 1, "b": at % 2, "c": 0} for at in range(30)}
RUNS = {
    "first.txt": {query: {"a": 3.0, "b": 2.0, "x": 1.0} for query in QRELS},
    "<second> & co.txt": {"p": {"a": 1.0}} | {key: {"c": 3.0, "a": 3.0, "x": 3.0, "b": 1.0} for key in QUERIES[:-1]},
    "third.txt": {query: {"b": 3.0, "a": 2.0 + int(query[1:]) % 3 / 2} for query in QRELS},
}
MEASURES = ("AP", "nDCG@10", "NumRet")


@pytest.fixture
def paths(tmp_path):
    lines = [f"{query} 0 {item} {level}\n" for query, items in QRELS.items() for item, level in items.items()]
    (tmp_path / "qrels.txt").write_text("".join(lines))
    for name, run in RUNS.items():
        lines = [f"{query} Q0 {item} 1 {score} {name[:5]}\n" for query in run for item, score in run[query].items()]
        (tmp_path / name).write_text("".join(lines))
    return [str(tmp_path / name) for name in ("qrels.txt", *RUNS)]


def written(capsys, tmp_path, *arguments, status=0):
    out = tmp_path / "page.html"
    assert main(["trec", *arguments, "--report", str(out)]) == status
    capsys.readouterr()
    text = out.read_text(encoding="utf-8")
    found = Page(text)
    assert found.fetched == []
    assert "<second>" not in text
    return found


def test_the_title_has_the_names_of_the_table(capsys, tmp_path, paths):
    """The runs as they are called in the leaderboard, without the suffix of a compression. A page has four decimals."""
    packed = tmp_path / "third.txt.gz"
    packed.write_bytes(gzip.compress((tmp_path / "third.txt").read_bytes()))
    arguments = [*paths[:2], str(packed), "-m", "AP", "--sort", "AP", "--digits", "2"]
    page = written(capsys, tmp_path, *arguments)
    text = (tmp_path / "page.html").read_text()
    assert "<title>third.txt, first.txt: hitcurve</title>" in text or "<title>first.txt, third.txt: hitcurve" in text
    assert all(re.fullmatch(r"\d\.\d{4}", row[-1]) for row in page.tables[0][1:])


def test_leaderboard(capsys, tmp_path, paths):
    page = written(capsys, tmp_path, *paths, "-m", *MEASURES, "--compare", "--sort", "AP", status=3)
    board, _, differences, won, counts, ties, each, files = page.tables
    found = dict(zip(RUNS, hc.evaluate(QRELS, list(RUNS.values()), list(MEASURES), missing="zero"), strict=True))
    assert board[0] == ["#", "run", *MEASURES]
    order = sorted(RUNS, key=lambda name: -found[name].means["AP"])
    assert [row[:2] for row in board[1:]] == [list(pair) for pair in zip("abc", order, strict=True)]
    for _, name, *cells in board[1:]:
        *means, number = found[name].means.values()
        assert [cell.rstrip("abc") for cell in cells] == [*(f"{mean:.4f}" for mean in means), f"{number:.0f}"]
    by_place = hc.compare({name: found[name] for name in order}, rng=0)
    worse = {(row.measure, *((row.system, row.baseline) if row.difference > 0 else (row.baseline, row.system)))
             for row in by_place.rows if row.p_holm <= 0.05}  # fmt: skip
    assert {(measure, name, order["abc".index(letter)]) for _, name, *cells in board[1:]
            for measure, cell in zip(MEASURES, cells, strict=True) for letter in cell.lstrip("0.123456789")} == worse
    assert worse
    assert [row[:3] for row in won[1:]] == [row[:3] for row in differences[1:]]
    for measure, system, baseline, *cells in won[1:]:
        apart = (found[system].values[measure] - found[baseline].values[measure]).tolist()
        signs = [sum(one > 0 for one in apart), apart.count(0), sum(one < 0 for one in apart)]
        assert cells[:3] == [str(count) for count in signs]
        for (query, by), end, count in ((cells[3:5], max, signs[0]), (cells[5:], min, signs[2])):
            most = end(apart)
            wanted = (found[system].query_ids[apart.index(most)], f"{most:+.4f}") if count else ("-", "-")
            assert (query, by) == wanted
    assert [row[0] for row in counts[1:]] == order
    rows = {row[0]: row[1:] for row in counts}
    assert rows["first.txt"] == ["30", "0", "0", "0", "90", "33.3 %", "33.3 %"]
    assert rows["<second> & co.txt"][1:3] == ["1", "1"]
    for name, measure, *cells in ties[1:]:
        band = found[name].tie_report()[measure]
        assert cells == [f"{value:.4f}" for value in (band.value, band.worst, band.expected, band.best)]
    assert {name for name, *_ in ties[1:]} == {"<second> & co.txt", "third.txt"}
    assert each[0] == ["query", *order]
    at = each[0].index("third.txt")
    assert [row[at] for row in each[1:]] == [f"{value:.4f}" for value in found["third.txt"].values["AP"]]
    with open(paths[1], "rb") as file:
        assert [paths[1], hashlib.sha256(file.read()).hexdigest()] in [row[::2] for row in files]
    words = "".join(page.words)
    assert "3 runs, 30 queries, judgments of qrels.txt" in words
    assert "--compare --sort AP --report" in words
    assert "relevant from level 1" in words


def test_two_runs_have_a_difference(capsys, tmp_path, paths):
    page = written(capsys, tmp_path, paths[0], paths[1], paths[3], "-m", "AP")
    each = page.tables[-2]
    assert each[0] == ["query", "first.txt", "third.txt", "difference"]
    assert all(float(row[3]) == pytest.approx(float(row[2]) - float(row[1]), abs=1e-4) for row in each[1:])
    assert ("details", {}) in page.tags
    assert "Differences" not in page.words


def test_queries_that_a_run_lacks_stand_as_a_line(capsys, tmp_path, paths):
    page = written(capsys, tmp_path, *paths[:3], "-m", "AP", "--missing", "skip", status=3)
    rows = {row[0]: row for row in page.tables[-2]}
    assert len(rows) == 1 + 30
    assert rows["q29"] == ["q29", "1.0000", "-", "-"]
    text = "".join(page.words)
    assert "2 runs, 29 to 30 queries, judgments of" in text
    assert "29 to 30 queries; equal scores: docid." in text


@pytest.mark.parametrize(("arguments", "said"), [
    (("--ties", "expected"), "Rule for equal scores: expected."),
    (("--rank-by", "listed"), "Ranked as listed: there are no ties."),
    (("--format", "trec"), "As far as known, the order of equal scores changes no mean in four decimals."),
    (("--format", "json", "-M", "2"), "Rule for equal scores: docid."),
])  # fmt: skip
def test_one_run(capsys, tmp_path, paths, arguments, said):
    page = written(capsys, tmp_path, *paths[:2], *arguments)
    assert said in page.lines
    assert page.tables[1][1][-1] == ("-" if "expected" in arguments else "0.0 %" if "-M" in arguments else "33.3 %")


def test_wrong_use(capsys, tmp_path, paths):
    assert main(["trec", *paths[:2], paths[1], "--report", str(tmp_path / "p.html")]) == 2
    assert "--report: a run is named twice" in capsys.readouterr().err
    assert main(["trec", *paths[:2], "--report", str(tmp_path)]) == 1
    assert str(tmp_path) in capsys.readouterr().err


def test_with_pictures():
    pytest.importorskip("matplotlib")
    from hitcurve.report import plot

    found = hc.evaluate(QRELS, RUNS["first.txt"], "AP")
    drawing = plot.figure({"a": hc.HitCurve([1, 0, 1], [3, 2, 1])}, ("precision-recall",))
    said = []
    runs = Runs(["a"], [found])
    drawn = [(drawing, "What <this> is")]
    page = Page(leaderboard_page.runs_page(runs, ["-"], ["x"], drawn, said.append))
    assert said == ["drawing", "checksums"]
    assert "What <this> is" in page.words
    assert [found["aria-label"] for tag, found in page.tags if tag == "svg" and "role" in found] == [
        "Precision and recall: precision over recall, of random order, a"
    ]
    assert page.tables[0] == runs.board().rows
    assert page.tables[-1][1] == ["standard input", "", ""]


def pictures(page):
    return [found["aria-label"] for tag, found in page.tags if tag == "svg" and "role" in found]


def test_runs_are_drawn(capsys, tmp_path, paths):
    pytest.importorskip("matplotlib")
    one, *more = pictures(written(capsys, tmp_path, *paths[:2], "-m", "AP"))
    assert "interpolated precision" in one
    assert not more
    two = written(capsys, tmp_path, paths[0], paths[1], paths[3], "-m", "AP", "IPrec@0.5")
    assert len(pictures(two)) == 2
    assert two.tables[0][0] == ["run", "AP", "IPrec@0.5"]  # what only the picture needs is not there
    assert any("In brackets: mean of the 11 points." in text for text in two.words)
    assert "AP of third.txt minus AP of first.txt: a bar for each query, in falling order." in two.words
    assert len(pictures(written(capsys, tmp_path, *paths, "-m", "AP", status=3))) == 1
    compared = written(capsys, tmp_path, *paths, "-m", "AP", "--compare", status=3)
    assert "Differences in mean AP with their intervals." in compared.words
    assert [text.count(":") for text in pictures(compared)] == [1, 1]


@pytest.fixture
def of(tmp_path, paths):
    """Files of some number of runs. Run i finds the relevant document in the first i + 1 queries."""

    def made(count):
        found = []
        for at in range(count):
            found.append(str(tmp_path / f"r&{at}_<{at}>.txt"))
            with open(found[-1], "w") as file:
                file.writelines(f"{query} Q0 {item} 1 {score} r{at}\n" for place, query in enumerate(QUERIES)
                                for item, score in (("a", 2 if place % 50 <= at else 0), ("c", 1)))  # fmt: skip
        return [paths[0], *found]

    return made


def folds(page):
    return [text for text in page.elsewhere if re.fullmatch(r".*\d rows?", text)]


@pytest.mark.parametrize("count", [3, 13, 21, pytest.param(50, marks=pytest.mark.slow)])
def test_a_page_of_many_runs_is_the_board_a_picture_and_folded_differences(capsys, tmp_path, of, count):
    pytest.importorskip("matplotlib")
    page = written(capsys, tmp_path, *of(count), "-m", "AP", "P@1", "--compare", "--resamples", "99")
    board = page.tables[0]
    assert board[0] == ["#", "run", "AP", "P@1"]
    means = [float(re.match(r"[\d.]+", row[2])[0]) for row in board[1:]]
    assert (len(means), means) == (count, sorted(means, reverse=True))  # without --sort too
    assert any("The runs are in the order of AP." in text for text in page.lines)
    assert board[1][1] == f"r&{min(count, 30) - 1}_<{min(count, 30) - 1}>.txt"
    assert len(pictures(page)) == (2 if count == 3 else 1)
    pairs = count * (count - 1) // 2
    if count == 3:
        assert folds(page) == ["30 rows"]
        return
    assert "Mean AP with its interval. These intervals do not say which differences are significant." in page.words
    whole, parts = f"{2 * pairs:,} rows", [f"in {measure}: {pairs:,} rows" for measure in ("AP", "P@1")]
    apart = [[f"{title} {part}" for part in parts] if 2 * pairs > 200 else [f"{title}: {whole}"]
             for title in ("Differences", "Queries higher and lower")]  # fmt: skip
    files = [f"{count + 1} rows"] if count + 1 > 20 else []
    assert folds(page) == [f"Means: {2 * count} rows", *apart[0], *apart[1], "30 rows", *files]


def test_the_picture_of_many_runs_that_were_not_compared(capsys, tmp_path, of):
    pytest.importorskip("matplotlib")
    page = written(capsys, tmp_path, *of(11), "-m", "AP")
    assert "AP of the queries: the mean, the median and the quartiles of each run." in page.words
    (one,) = pictures(page)
    assert "interpolated precision" not in one
    (ten,) = pictures(written(capsys, tmp_path, *of(10), "-m", "AP"))
    assert "interpolated precision" in ten


def test_the_letters_of_rows_take_no_room_on_a_phone():
    """The letters scroll away, and the names beside them stay."""
    text = section("Leaderboard", Grid([["#", "run", "AP"], ["a", "name", "0.5"]], 2))
    assert text.count('class="word mark"') == text.count('class="word"') == 2
    phone = re.search(r"@media \(max-width: 40rem\) \{\n(.*?)\n\}", _STYLE, re.DOTALL)[1]
    assert ".mark { min-width: 0; }" in phone
    assert "tr > :first-child:not(.mark), .mark + .word { position: sticky;" in phone


def test_without_matplotlib_the_page_says_that_it_has_no_pictures(capsys, monkeypatch, tmp_path, paths):
    """Of runs and of a table; a picture by itself stays an error."""
    pytest.importorskip("pyarrow")
    table, out = tmp_path / "table.csv", tmp_path / "out.html"
    table.write_text("y,s\n1,2\n0,1\n1,0\n")
    for name in ["matplotlib", *(name for name in sys.modules if name.startswith("matplotlib."))]:
        monkeypatch.setitem(sys.modules, name, None)
    runs, columns = ["trec", *paths[:2], "-m", "AP"], ["table", str(table), "--label", "y", "--score", "s"]
    for command in (runs, columns):
        assert main([*command, "--report", str(out)]) == 0
        said = capsys.readouterr()
        page = Page(out.read_text(encoding="utf-8"))
        assert pictures(page) == []
        assert said.err.count("there are no pictures on the page: a picture needs matplotlib: pip install") == 1
        assert any("there are no pictures on the page" in text for text in page.words)
        assert len(page.tables) > 1
        assert main([*command, "--plot", str(tmp_path / "out.png")]) == 1
        assert "needs matplotlib" in capsys.readouterr().err


def test_runs_of_different_queries_are_not_drawn(capsys, tmp_path, paths):
    page = written(capsys, tmp_path, *paths[:3], "-m", "AP", "--missing", "skip", status=3)
    assert pictures(page) == []
    assert page.tables[0][1][0] == "first.txt"


def test_differences_on_a_phone():
    """Beside the columns of words a screen of 420 pixels has room for the difference."""
    row = ["nDCG@10", "a_long_name_of_a_run", "another_long_name", "+0.1250"]
    text = section("Differences", Grid([["measure", "system", "baseline", "difference"], row], 3))
    assert text.count('class="word"') == 6
    phone = re.search(r"@media \(max-width: 40rem\) \{\n(.*?)\n\}", _STYLE, re.DOTALL)[1]
    word = re.search(r"\.word \{(.*?)\}", phone)[1]
    assert "white-space: normal" in word and "overflow-wrap: anywhere" in word
    least, most = (float(re.search(rf"{end}-width: ([\d.]+)(?:rem|vw)", word)[1]) for end in ("min", "max"))
    margin = float(re.search(r"body \{[^}]*padding: 0 ([\d.]+)rem", phone)[1])
    assert 3 * max(16 * least, 4.2 * most) + 2 * 16 * margin + 7 * 0.6 * 14 <= 420
