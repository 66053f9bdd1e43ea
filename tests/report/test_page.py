"""Pages: the lines of their pictures, how large they are, and how they are read on phones, dark screens and aloud."""

import re
from itertools import pairwise

import numpy as np
import pytest
from html_page import Page

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("pyarrow")

from matplotlib.figure import Figure  # noqa: E402

import hitcurve as hc  # noqa: E402
from hitcurve.cli.main import main  # noqa: E402
from hitcurve.report import frame, plot, svg  # noqa: E402
from hitcurve.report.page import figures  # noqa: E402
from hitcurve.shown.grid import Grid  # noqa: E402
from hitcurve.sources.screen import ScreenedScore  # noqa: E402


def curve(n=300_000, share=0.02, digits=None, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    s = rng.normal(size=n) + 1.5 * y
    return hc.HitCurve(y, s if digits is None else np.round(s, digits))


def drawn(part):
    """Of each path in a picture its style, and its lines as points in units."""
    found = []
    for d, style in re.findall(r'<path d="([^"]*)" transform="scale\(.1\)" style="([^"]*)"/>', part):
        lines = []
        for command, numbers in re.findall(r"([Mlhvz])([^Mlhvz]*)", d):
            steps = [int(one) for one in re.findall(r"-?\d+", numbers)]
            if command == "M":
                lines.append([tuple(steps)])
            elif command == "z":
                lines[-1].append(lines[-1][0])
            else:
                pairs = {"h": [[*steps, 0]], "v": [[0, *steps]]}.get(command)
                for x, y in pairs or zip(steps[::2], steps[1::2], strict=True):
                    lines[-1].append((lines[-1][-1][0] + x, lines[-1][-1][1] + y))
        found.append((style, [np.array(line) / 10 for line in lines]))
    return found


def fine(points, step=0.5):
    """Points all along a line."""
    many = np.maximum(np.ceil(np.abs(np.diff(points, axis=0)).max(axis=1) / step).astype(int), 1)
    pieces = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(points[:-1], points[1:], many, strict=True)]
    return np.concatenate([*pieces, points[-1:]])


def off(points, line):
    """How far the farthest of the points is from a line, at most 2."""
    low, high = np.minimum(line[:-1], line[1:]) - 2, np.maximum(line[:-1], line[1:]) + 2
    worst = 0.0
    for few in np.array_split(points, len(points) // 50 + 1):
        near = np.all((low <= few.max(axis=0)) & (high >= few.min(axis=0)), axis=1)
        start, way = line[:-1][near], np.diff(line, axis=0)[near]
        square = np.maximum((way**2).sum(axis=1), 1e-12)
        along = np.clip((((few[:, None] - start) * way).sum(axis=2)) / square, 0, 1)
        apart = np.hypot(*np.moveaxis(few[:, None] - start - along[..., None] * way, 2, 0))
        worst = max(worst, apart.min(axis=1, initial=2).max())
    return worst


# --- lines --------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("no_layout")
def test_the_lines_of_the_page_are_those_of_the_figure():
    """To a third of a unit, and a picture is some 370 units wide. One of the curves has ties."""
    whole = plot.figure({"a": curve(60_000), "b": curve(60_000, digits=1)})
    parts = svg.pictures(whole, 0).parts
    height = 72 * whole.get_figheight()
    for ax, part in zip(whole.axes, parts, strict=True):
        shapes = drawn(part)
        lines = {one.get_label(): one for one in ax.get_lines()}
        colour = {name: svg._variable(lines[name].get_color().lower()) for name in "ab"}
        wanted = [(f"^fill:none;.*stroke:{re.escape(colour[name])}", lines[name].get_xydata()) for name in "ab"]
        wanted += [(f"^fill:{re.escape(colour['b'])};opacity:0.3", patch.get_xy()) for patch in ax.patches]
        assert len(wanted) == 3
        for style, data in wanted:
            ((_, lines_of),) = [one for one in shapes if re.search(style, one[0])]
            place = ax.transData.transform(data) * 72 / whole.dpi
            place[:, 1] = height - place[:, 1]
            # What lies outside the figure was never drawn.
            place = np.clip(place, (0, 0), (72 * whole.get_figwidth(), height))
            assert off(fine(place), np.concatenate(lines_of)) < 1 / 3
            assert off(fine(np.concatenate(lines_of)), place) < 1 / 3


def test_steps_are_exact():
    rng = np.random.default_rng(0)
    points = np.cumsum(rng.integers(-30, 30, (100, 2)) * rng.integers(0, 2, (100, 2)), axis=0)
    text = "M" + "L".join(f"{x / 10} {y / 10} " for x, y in points)
    ((_, (line,)),) = drawn(f'<path d="{svg._steps(text, 0.5, -2.0)}" transform="scale(.1)" style=""/>')
    moved = points / 10 + (0.5, -2.0)
    assert off(moved, line) < 0.2
    assert np.allclose((line[0], line[-1]), (moved[0], moved[-1]))
    assert svg._moves([[1, 2], [-3, 4], [5, -6], [7, 0], [0, 0], [0, -8], [9, 1]]) == "l1 2-3 4 5-6h7v-8l9 1"


def test_other_shapes_stay():
    whole = Figure()
    ax = whole.add_subplot()
    ax.scatter([0, 1, 2], [0, 1, 4], color="#123456", label="dots")
    ax.bar([0, 1], [2, 3], color="#0072B2")
    ax.set(title="A < B", xlabel="x", ylabel="y")
    ax.plot([1, 2], [1, 2], "o-", color="#654321", markersize=20)
    whole.suptitle("x & y")
    title, (part,), legend, notes = svg.pictures(whole, 3)
    assert notes == []
    assert (title, legend) == ("x & y", [])
    page = Page(part)
    places = re.findall('<use href="#(.*?)" x="(.*?)" y="(.*?)" style="stroke:(.*?);', part)
    assert [colour for *_, colour in places] == ["#123456"] * 3 + ["#654321"] * 2
    assert places[1][1] == places[3][1]
    assert {name for name, *_ in places} < set(page.ids)
    assert 'aria-label="A &lt; B: y over x, of dots"' in part
    assert len([1 for style, _ in drawn(part) if style.startswith("fill:var(--c0072b2)")]) == 2
    assert not re.search("xlink|font-family|rotate\\(-0 ", part)


def test_the_legend_is_text_of_the_page():
    names = ["a", "_hidden", r"\$x\$ <b>", "a name that is long " * 12, "\x01\x02"]
    whole = plot.figure(dict.fromkeys(names, curve(100, 0.3)), ("hits",))
    before = [text.get_text() for text in whole.legends[0].get_texts()]
    _, parts, legend, _ = svg.pictures(whole, 0)
    assert [text.get_text() for text in whole.legends[0].get_texts()] == before
    shown = ["perfect order", "random order", "a", "_hidden", "$x$ <b>", names[3], r"\x01\x02"]
    assert [name for _, name in legend] == shown
    assert all(len(drawn(sample)[0][1][0]) == 2 for sample, _ in legend)
    assert len({drawn(sample)[0][0] for sample, _ in legend}) == len(legend)
    assert len(parts) == 1


@pytest.mark.usefixtures("no_layout")
def test_ids_are_used_once_and_found():
    whole = plot.figure({"a": curve(100, 0.1, digits=1)}, ("hits", "roc"), band=0.9, n_resamples=10, rng=0)
    text = "".join(frame.picture(whole, number, "") for number in range(2))
    page = Page(text)
    assert len(page.ids) == len(set(page.ids)) == 4
    assert set(re.findall(r"url\(#(.*?)\)", text)) == set(page.ids)


# --- size ---------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("no_layout")
def test_pictures_of_large_screens_are_small():
    found = [ScreenedScore(name, False, curve(400_000, 0.02, digits, at), None)
             for at, (name, digits) in enumerate({"a": None, "b": 2, "c": 1, "d": None}.items())]  # fmt: skip
    ((one, _),) = figures(found, band=0.95, n_resamples=20, rng=0, workers=2)
    assert 30_000 < len(frame.picture(one, 0, "").encode()) < 150_000


@pytest.mark.usefixtures("no_layout")
def test_pictures_of_seven_groups_are_small():
    rng = np.random.default_rng(1)
    n = 490_000
    y, group = rng.random(n) < 0.005, rng.integers(0, 7, n)
    scores = rng.normal(size=n) + y
    scores = np.where(group < 4, np.round(scores, 6), np.round(scores, 2))
    found = ScreenedScore("a", False, hc.HitCurves(y, scores, qid=group), list(range(7)))
    ((one, _),) = figures([found], band=None, n_resamples=1, rng=0, workers=1)
    assert 30_000 < len(frame.picture(one, 0, "").encode()) < 135_000


# --- how it is read -----------------------------------------------------------------------------------------


def contrast(one, other):
    """WCAG 2.2, contrast ratio."""
    found = []
    for colour in (one, other):
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        found.append(0.2126 * red + 0.7152 * green + 0.0722 * blue)
    return (max(found) + 0.05) / (min(found) + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_contrast(scheme):
    colours = {name: pair[scheme] for name, pair in frame._COLOURS.items()}
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    for text in ("ink", "soft"):
        for ground in ("paper", "shade"):
            assert contrast(colours[text], colours[ground]) >= 4.5
    assert contrast(colours["ink"], colours["alert"]) >= 4.5


def test_colours_of_lines_on_dark_pages():
    lines = [*(colour.lower() for colour in plot._COLOURS), plot._GREY]
    assert svg.DARK["#ffffff"] == frame._COLOURS["paper"][1]
    shown = [svg.DARK[colour] for colour in lines]
    assert len(set(shown)) == len(lines)
    assert all(contrast(colour, svg.DARK["#ffffff"]) >= 4.5 for colour in shown)
    text = "".join(svg.pictures(plot.figure(dict.fromkeys("abcdefg", curve(100, 0.1, digits=1)), ("hits",)), 0).parts)
    assert not re.search("#[0-9a-f]{6}", text)
    for colour in lines:
        assert svg._variable(colour) in text
        assert f"--c{colour[1:]}:{svg.DARK[colour]}" in frame._STYLE.partition("prefers-color-scheme: dark")[2]


def page_of(tmp_path, capsys, text, *arguments):
    (tmp_path / "s.csv").write_text(text)
    out = tmp_path / "r.html"
    assert main(["table", str(tmp_path / "s.csv"), "--label", "y", *arguments, "--report", str(out)]) == 0
    capsys.readouterr()
    return out.read_text(encoding="utf-8")


ROWS = "id,y,s,t,g\n" + "".join(
    f"c{at % 58},{at % 58 % 3 == 0:d},{'' if at % 10 == 3 else at * 7 % 11},{at % 7},g{at % 4}\n" for at in range(60)
)


@pytest.mark.parametrize("more", [
    pytest.param((), marks=pytest.mark.slow), ("--group", "g"), ("--score", "t", "--compare", "--id", "id"),
])  # fmt: skip
@pytest.mark.usefixtures("no_layout")
def test_what_every_page_has(tmp_path, capsys, monkeypatch, more):
    # Two curves have ids as four have.
    monkeypatch.setattr(plot.figure, "__defaults__", (("hits", "precision-recall"),))
    monkeypatch.setattr("hitcurve.report.page.KINDS", ("hits", "precision-recall"))
    text = page_of(tmp_path, capsys, ROWS, "--score", "s", "--nan", "worst", *more)
    page = Page(text)
    words = "".join(page.words)
    scores = 1 + ("t" in more)
    assert words.count("Rows without a score: 6 of 60, ranked last.") == 1
    assert words.count("Rows without a score: none.") == scores - 1
    repeated, unknown = "Rows that repeat an id: 2 of 60, each ranked by itself.", "Rows that repeat an id: not counted"
    said = f"{unknown}, because --id names no column of ids."
    assert [words.count(one) for one in (repeated, said)] == ([2, 0] if "--id" in more else [0, 1])
    assert page.fetched == []
    assert len(page.ids) == len(set(page.ids))
    attributes = page.tags
    assert dict(page.tags)["html"] == {"lang": "en"}
    assert ("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}) in attributes
    wide = [found for tag, found in attributes if found.get("class") == "wide"]
    assert len(wide) == len(page.tables)
    assert all(found["tabindex"] == "0" and found["aria-label"] for found in wide)
    pictures = [found for tag, found in attributes if tag == "svg"]
    assert pictures
    assert all(found.get("aria-hidden") or (found["role"] == "img" and found["aria-label"]) for found in pictures)
    levels = [int(tag[1]) for tag, _ in attributes if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(later - before <= 1 for before, later in pairwise(levels))
    assert "@media print" in text and "@media screen and (prefers-color-scheme: dark)" in text


def test_long_tables_are_folded():
    grid = Grid([["group", "AP"], *([str(at), "0.5"] for at in range(10_000))])
    text = frame.section("Of <all> groups", "10,000 groups", grid)
    assert "<details><summary>10,000 rows</summary>" in text
    assert len(Page(text).tables[0]) == 10_001
    assert 'aria-label="Of &lt;all&gt; groups"' in text
    assert "<details>" not in frame.section("Few", Grid(grid.rows[:20]))


MADE = (["-"], ["hitcurve"], lambda said: None)  # the files, the command, what is told of progress


def test_a_page_of_another_kind():
    text = frame.document("a <b>", "c & d", ["e > f"], [frame.section("g", Grid([["h", "i"], ["j", "1"]]))], *MADE)
    page = Page(text)
    assert page.tables[:-1] == [[["h", "i"], ["j", "1"]]]
    assert [word for word in page.words if word.strip()][:4] == ["a <b>: hitcurve", "a <b>", "c & d", "e > f"]
    assert '<ul class="warnings"' not in frame.document("a", "b", [], [], *MADE)


def test_the_legend_shows_marks_without_a_line():
    whole = plot.new_figure((4, 3))
    ax = whole.add_subplot()
    ax.plot([0, 1], [0, 1], "o", label="marks")
    plot.legend(ax, "for all")
    found = svg.pictures(whole, 0)
    assert found.notes == ["for all"]
    ((sample, name),) = found.legend
    assert name == "marks"
    left, top, width, height = map(float, re.search('viewBox="([^"]*)"', sample)[1].split())
    x, y = map(float, re.search('x="([^"]*)" y="([^"]*)"', sample).groups())
    assert left < x < left + width
    assert top < y < top + height


def test_the_sample_of_a_mark_that_the_picture_lacks_is_small():
    from matplotlib.lines import Line2D

    whole = plot.new_figure((6, 4))
    ax = whole.add_subplot()
    ax.plot([0, 1], [0, 1])
    ax.add_line(Line2D([], [], marker="s", linestyle="", fillstyle="none", label="mark"))
    plot.legend(ax)
    ((sample, _),) = svg.pictures(whole, 0).legend
    width, height = map(int, re.search('width="([0-9]+)" height="([0-9]+)"', sample).groups())
    assert width < 40 and height < 40
