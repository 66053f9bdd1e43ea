"""Control characters in names: shown as Python writes them, and never themselves, wherever a person looks."""

import csv
import io
import json
import re
import unicodedata
import warnings
from itertools import cycle

import drawn_once
import pytest

import hitcurve as hc
from hitcurve.cli.main import main
from hitcurve.shown.grid import escaped, one_line

# What turns a terminal's colour, rings its bell, or makes a name look like another one.
SENT = ["\x1b[31m", "\x07", "\x7f", "\x9b1m", "\x01", "\u202e", "\u2066", "\x08", "\x90", "\x1a", "\u202a", "\x0e"]
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")  # a tab and a line's end lay text out


def names(count):
    """Names with control characters, of which no two are equal."""
    return [f"a{sent}{at}z" for at, sent in zip(range(count), cycle(SENT), strict=False)]


def run(capsys, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a glyph that no font has
        status = main(list(arguments))
    return status, *capsys.readouterr()


@pytest.fixture
def screen(tmp_path, monkeypatch):
    """A file, its columns and its groups, all of such names."""
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    file, label, score, other, group, *groups = names(9)
    rows = [[at % 3 % 2, at % 7, -at, groups[at % 4]] for at in range(60)]
    with open(f"{file}.csv", "w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([[label, score, other, group], *rows])
    return f"{file}.csv", "--label", label, "--score", score, "--score", other, "--group", group


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Judgments and two runs, their queries, documents and tags, all of such names."""
    monkeypatch.chdir(tmp_path)
    judged, *files = (f"{name}.txt" for name in names(3))
    queries, docs = names(9)[3:], names(12)
    lines = [f"{q} 0 {doc} {int((at + number) % 3 == 0)}\n" for at, q in enumerate(queries)
             for number, doc in enumerate(docs)]  # fmt: skip
    (tmp_path / judged).write_text("".join(lines), encoding="utf-8")
    for seed, file in enumerate(files):
        lines = [f"{q} Q0 {doc} 0 {(5 * at + seed * number) % 7} tag{SENT[seed]}\n" for q in queries
                 for at, (number, doc) in enumerate(enumerate(docs))]  # fmt: skip
        (tmp_path / file).write_text("".join(lines), encoding="utf-8")
    return [judged, *files]


def clean(text):
    """The text, in which no control character stands, and some name does, as Python writes it."""
    assert not CONTROL.findall(text)
    assert re.search(r"\\(textbackslash\{\})?(x[0-9a-f]{2}|u20[26][0-9a-f])", text)
    return text


def test_every_control_character():
    """C0, DEL, C1 and those that turn the direction of writing round; letters and what joins them stay."""
    every = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    parts = ("".join(every[at : at + 256]) for at in range(0, len(every), 256))
    changed = {one for part in parts if escaped(part) != part for one in part if escaped(one) != one}
    assert changed >= {one for one in every if unicodedata.category(one) in ("Cc", "Zl", "Zp")} - {"\n"}
    turned = {one for one in every if unicodedata.bidirectional(one) in
              ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")}  # fmt: skip
    assert turned <= changed and len(changed) == 64 + len(turned) + 2
    assert escaped("".join(sorted(changed))) == "".join(sorted(changed)).encode("unicode_escape").decode()
    assert one_line("a\nb\x1b[0m\u202e") == r"a b\x1b[0m\u202e"


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
@pytest.mark.parametrize("more", [(), ("--compare",), ("--mean-only",)], ids=["", "compare", "mean"])
def test_tables_of_a_screen(capsys, screen, form, more):
    status, out, err = run(capsys, "table", *screen, "--format", form, *more)
    assert status == 0
    clean(out)
    assert not CONTROL.findall(err)


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
@pytest.mark.parametrize("more", [(), ("-q",), ("--compare",)], ids=["", "each", "compare"])
def test_tables_of_runs(capsys, runs, form, more):
    status, out, err = run(capsys, "trec", *runs, "--format", form, *more)
    assert status == 0
    clean(out)
    assert not CONTROL.findall(err)


def test_pages_and_pictures(capsys, monkeypatch, tmp_path, screen, runs):
    pytest.importorskip("matplotlib")
    drawn_once.no_layout(monkeypatch)
    status, _, err = run(capsys, "trec", *runs, "--report", "page.html", "--plot", "picture.svg")
    assert status == 0 and not CONTROL.findall(err), err
    clean((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert not CONTROL.findall((tmp_path / "picture.svg").read_text(encoding="utf-8"))
    assert run(capsys, "table", *screen[:-2], "--plot", "picture.png")[0] == 0  # no glyph is missing


@pytest.mark.parametrize(("last", "count"), [(None, 5), (-2, 1)], ids=["groups", "one"])
def test_pages_and_pictures_of_a_screen(capsys, monkeypatch, tmp_path, screen, last, count):
    pytest.importorskip("matplotlib")
    from matplotlib.text import Text

    figures = []
    drawn_once.words_alone(monkeypatch, figures.append)
    status, _, err = run(capsys, "table", *screen[:last], "--report", "page.html")
    assert status == 0 and not CONTROL.findall(err), err
    clean((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert len(figures) == count
    for figure in figures:
        clean("\n".join(text.get_text() for text in figure.findobj(Text)))


@pytest.mark.parametrize("name", names(21)[9:])
def test_errors(capsys, screen, runs, name):
    file, _, label, _, score, *_ = screen
    read = ("table", file, "--label")
    for arguments in (("table", name, "--label", "1", "--score", "2"), (*read, name, "--score", score), (name,),
                      (*read, score, "--score", label), (*read, label, "--score", score, "-m", name),
                      ("trec", runs[0], name)):  # fmt: skip
        status, out, err = run(capsys, *arguments)
        assert status and not out
        clean(err.splitlines()[-1])


def test_data_stay_data(capsys, screen):
    """CSV has the names as they are, JSON as its own escapes."""
    score, groups = screen[4], set(names(9)[5:])
    _, out, _ = run(capsys, "table", *screen, "--format", "csv")
    rows = list(csv.reader(io.StringIO(out)))
    assert any(score in row for row in rows) and groups <= {cell for row in rows for cell in row}
    _, out, _ = run(capsys, "table", *screen, "--format", "json")
    assert not CONTROL.findall(out)
    assert all(json.dumps(name)[1:-1] in out for name in (score, *groups))


def test_python(screen, runs):
    """What objects are printed as, and what a notebook shows."""
    first, second = (hc.evaluate(runs[0], one, ["AP", "nDCG"]) for one in runs[1:])
    board = hc.Leaderboard({names(2)[0]: first, names(2)[1]: second})
    compared = hc.compare({names(2)[0]: first, names(2)[1]: second})
    for shown in (board, compared):
        for text in (str(shown), shown.to_markdown(), shown.to_latex(), shown._repr_html_()):
            clean(text)
    for text in (repr(first), first._repr_html_(), str(board)):
        assert not CONTROL.findall(text)
