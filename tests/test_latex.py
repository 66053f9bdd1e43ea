"""Tables in LaTeX fit the page of the class article, and lose no cell on the way."""

import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hitcurve as hc
from hitcurve.shown import latex
from hitcurve.shown.grid import Grid, Marked, rendered

LINE, INCH_MARGINS = 345, 451  # points
WORDS = st.text("aimW09._", min_size=1, max_size=12)
RUNS = {f"s{i:03d}": {f"q{q}": {"a": 2.0 - i, "b": q % (i + 1)} for q in range(12)} for i in range(90)}
FOUND = hc.evaluate({f"q{q}": {"a": 1, "b": 0} for q in range(12)}, RUNS, ["AP", "RR", "P@1"])


def tables(text):
    """The tables of a text: the commands of their print, their environment, and their rows without marks."""
    made = []
    for found in re.finditer(r"\\begin{(tabular|longtable)}{([lr]+)}\n(.*?)\\end{\1}", text, re.DOTALL):
        body = re.split(r"\\endlastfoot\n|\\midrule\n", found[3])[-1] if found[1] == "longtable" else found[3]
        rows = [line.removesuffix(r" \\").split(" & ") for line in body.splitlines() if line.endswith(r" \\")]
        if found[1] == "longtable":
            head = re.search(r"\\toprule\n(.*) \\\\\n", found[3])
            rows.insert(0, head[1].split(" & "))
        made.append((found[1], found[2], rows))
    return made


@given(st.data())
def test_every_cell_stands_once_and_every_part_fits_the_line(data):
    num_columns, num_rows, left = (data.draw(st.integers(*ends)) for ends in ((1, 25), (1, 8), (1, 3)))
    num_columns += left
    cells = data.draw(st.lists(WORDS, min_size=num_columns, max_size=num_columns))
    rows = [[f"{cell.replace('_', '')}{at}" for at, cell in enumerate(cells)]]
    rows += [[f"{row}x{at}" for at in range(num_columns)] for row in range(num_rows)]
    joined = tuple(sorted(data.draw(st.sets(st.integers(left + 1, num_columns)))))
    text = rendered([Grid(rows, left, joined=joined)], "latex")
    parts = tables(text)
    assert all(part[:left] == full[:left] for _, _, made in parts for part, full in zip(made, rows, strict=True))
    whole = [[cell for part in parts for cell in part[2][at][left:]] for at in range(len(rows))]
    assert whole == [row[left:] for row in rows]
    starts = {rows[0].index(part[2][0][left]) for part in parts[1:] if len(part[2][0]) > left}
    assert not starts & set(joined)
    prints = ("footnotesize", 0.85, 12), ("scriptsize", 0.8, 6)
    share, gap = next((one[1:] for one in prints if one[0] in text), (1, 12))
    line = LINE if len(parts) > 1 or share != 0.8 else INCH_MARGINS
    for _, _, made in parts:
        widths = [max(latex.width(row[at]) for row in made) for at in range(len(made[0]))]
        blocks = 1 + sum(rows[0].index(title) not in joined for title in made[0][left + 1 :])
        assert blocks == 1 or sum(widths) * share + gap * len(widths) <= line


def test_a_table_that_fits_has_the_print_of_the_page():
    text = rendered([Grid([["system", "AP"], ["a", "0.5"]])], "latex")
    assert text.startswith(r"\begin{tabular}{lr}")
    assert text.endswith(r"\end{tabular}")


def test_marks_count_in_the_width():
    plain = [["system", *["0.1234"] * 7], ["a", *["0.1234"] * 7]]
    marked = [plain[0], ["a", *[Marked("0.1234", bold=True, above="abcdefg")] * 7]]
    assert rendered([Grid(plain)], "latex").startswith(r"\begin{tabular}")
    assert rendered([Grid(marked)], "latex").startswith(r"{\scriptsize")


@pytest.mark.parametrize("how", [{}, {"caption": "All", "label": "tab:all"}])
def test_more_rows_than_a_page_run_over_pages(how):
    board = hc.Leaderboard(dict(list(FOUND.items())[:60]))
    assert "longtable" not in board.to_latex(**how)
    text = hc.Leaderboard(FOUND).to_latex(**how)
    assert text.startswith("% This table runs over several pages: it needs the package longtable")
    assert text.count(r"\caption{All}\label{tab:all}") == bool(how)
    [(kind, columns, rows)] = tables(text)
    assert (kind, columns, len(rows)) == ("longtable", "lrrr", 91)
    assert r"\begin{table}" not in text


SCREEN = [(target, at, round(-7 - (at % 9 == 0) + (at * 37 % 50) / 20, 1), (at * 17 % 23) / 4, (at * 13 % 31) / 9)
          for target in range(40) for at in range(30)]  # fmt: skip


@pytest.fixture(scope="module")
def screen(tmp_path_factory):
    path = tmp_path_factory.mktemp("latex") / "screen.csv"
    lines = [f"TGT{target:02d},{int(at % 9 == 0)},{a},{b},{c}" for target, at, a, b, c in SCREEN]
    path.write_text("target,active,vina,gnina,glide_sp\n" + "\n".join(lines) + "\n")
    return str(path)


COMMANDS = [[], ["--interval", "-m", "AP", "BEDROC"], ["--compare"], ["--all"], ["--mean-only", "--interval"]]


def printed(capsys, screen, more, form="latex"):
    from hitcurve.cli.main import main

    scores = ["--score", "vina:lower", "--score", "gnina", "--score", "glide_sp:lower"]
    assert main(["table", screen, "--label", "active", *scores, "--group", "target", "--resamples", "99",
                 "--format", form, *more]) == 0  # fmt: skip
    return capsys.readouterr().out


def test_a_paper_has_every_target(capsys, screen):
    assert "... and 20 more targets, with --all." in printed(capsys, screen, [], "table")
    for form in ("latex", "markdown"):
        text = printed(capsys, screen, [], form)
        assert "more targets" not in text
        assert all(f"TGT{target:02d}" in text for target in range(40))


def test_the_ends_of_an_interval_stay_beside_the_value(capsys, screen):
    heads = [rows[0] for _, _, rows in tables(printed(capsys, screen, COMMANDS[1]))]
    assert len(heads) > 2
    for head in heads:
        assert head[0] == "target"
        for at, title in enumerate(head):
            if title in ("vina", "gnina", r"glide\_sp"):
                assert head[at + 1 : at + 4] == ["from", "to", "by"]


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdflatex")
@pytest.mark.parametrize("what", [*range(len(COMMANDS)), "board", "long board"])
def test_latex_sets_it_on_the_page(what, capsys, screen, tmp_path):
    if isinstance(what, int):
        text = printed(capsys, screen, COMMANDS[what])
    else:
        some = dict(list(FOUND.items())[: 50 if what == "board" else None])
        board = hc.Leaderboard(some, letters=True, n_resamples=99, rng=0)
        text = board.to_latex(caption="All", label="tab:all")
    page = "\n".join([
        r"\documentclass{article}", r"\usepackage{booktabs,longtable}", r"\usepackage[a4paper,margin=1in]{geometry}",
        r"\setlength{\parindent}{0pt}", r"\begin{document}", text, r"\end{document}"])  # fmt: skip
    (tmp_path / "page.tex").write_text(page)
    for _ in range(2):  # the second run has the widths of longtable
        done = subprocess.run(["pdflatex", "-interaction=nonstopmode", "page.tex"], cwd=tmp_path, capture_output=True,
                              timeout=100, check=False)  # fmt: skip
    said = done.stdout.decode("latin-1")
    assert done.returncode == 0, said[-2000:]
    assert "Overfull" not in said
    assert "Float too large" not in said
