"""The commands where a shell is unkind: closed and full streams, odd names, options that cannot be."""

import ast
import csv
import io
import json
import os
import re
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from html import escape
from inspect import signature
from pathlib import Path

import drawn_once
import pytest

pytest.importorskip("pyarrow")

import hitcurve
from hitcurve.cli import main as cli
from hitcurve.cli.main import main
from hitcurve.sources.cells import Layout
from hitcurve.sources.tables import TableReader

TABLE = ("table", "a.csv", "--label", "label", "--score", "score")
TREC = ("trec", "q.txt", "r.txt")
FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("label,score\n1,3\n0,2\n1,1\n0,1\n")
    (tmp_path / "q.txt").write_text("1 0 d1 1\n1 0 d2 0\n2 0 d1 1\n")
    (tmp_path / "r.txt").write_text("1 Q0 d1 1 2.5 t\n1 Q0 d2 2 2.5 t\n2 Q0 d9 1 1 t\n")
    monkeypatch.chdir(tmp_path)


def command(*arguments, shell="", **environment):
    """The command in a process of its own, whose streams are buffered as those of any user are."""
    line = ["sh", "-c", f'exec "$@" {shell}', "sh", sys.executable, "-m", "hitcurve", *arguments]
    surroundings = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    surroundings |= {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)} | environment
    found = subprocess.run(line, capture_output=True, check=False, env=surroundings, stdin=subprocess.DEVNULL)
    return found.returncode, found.stdout.decode("utf-8", "surrogateescape"), found.stderr.decode()


def run(capsys, *arguments):
    status = main(list(arguments))
    return status, *capsys.readouterr()


@FULL
@pytest.mark.parametrize("arguments", [("--help",), ("measures",), (*TABLE, "-m", "AP"), TREC])
def test_a_full_device(arguments):
    status, out, err = command(*arguments, shell=">/dev/full")
    assert (status, out) == (1, "")
    assert err.splitlines()[-1] == "hitcurve: error: No space left on device"
    assert "Exception" not in err


@FULL
@pytest.mark.parametrize(("arguments", "status"), [((*TABLE, "-m", "AP"), 0), (TREC, 0), (("nonsense",), 2)])
def test_warnings_that_cannot_be_written_cost_no_numbers(capsys, arguments, status):
    expected = run(capsys, *arguments)
    assert expected[0] == status and expected[2]
    assert command(*arguments, shell="2>/dev/full") == (*expected[:2], "")


@pytest.mark.skipif(os.name == "nt", reason="closes streams with a shell of Unix")
@pytest.mark.parametrize(
    ("arguments", "shell", "stream"),
    [
        ((*TABLE, "-m", "AP"), ">&-", "output"),
        (TREC, ">&-", "output"),
        (("table", "-", "--label", "label", "--score", "score"), "<&-", "input"),
        (("trec", "-", "r.txt"), "<&-", "input"),
    ],
)
def test_closed_streams(arguments, shell, stream):
    assert command(*arguments, shell=shell) == (1, "", f"hitcurve: error: standard {stream} is closed\n")


@pytest.mark.skipif(os.name == "nt", reason="closes streams with a shell of Unix")
def test_closed_standard_error(capsys):
    expected = run(capsys, *TREC)
    assert expected[0] == 0 and expected[2]
    assert command(*TREC, shell="2>&-") == (*expected[:2], "")


def test_letters_that_the_encoding_lacks(tmp_path):
    (tmp_path / "q.txt").write_text("é 0 d1 1\n", encoding="utf-8")
    (tmp_path / "r.txt").write_text("é Q0 d1 1 2.5 t\n", encoding="utf-8")
    status, out, err = command(*TREC, "-q", "-m", "AP", PYTHONIOENCODING="ascii")
    assert (status, err) == (0, "")
    assert out.splitlines()[1].split() == ["r.txt", "\\xe9", "1.0000"]
    status, out, err = command(*TREC, "-q", "-m", "AP", "--format", "json", PYTHONIOENCODING="ascii")
    assert (status, err) == (0, "")
    assert list(json.loads(out)["runs"][0]["queries"]) == ["é"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((*TREC, "-m", "P.1e400"), "P.1e400: cannot convert float infinity to integer"),
        ((*TREC, "-m", "relstring.1e400"), "relstring.1e400: cannot convert float infinity to integer"),
        ((*TREC, "-m", "relstring.x"), "relstring.x: could not convert string to float: 'x'"),
        ((*TREC, "-m", "ndcg.1=1e400"), "must give each level once, with its gain"),
        ((*TREC, "-m", "ndcg.1=nan"), "must give each level once, with its gain"),
        ((*TREC, "-m", "utility.1,nan,0,0"), "must be four numbers"),
        ((*TREC, "-m", "runid"), "argument -m: runid: only --format trec prints this measure"),
        ((*TREC, "--workers", "0"), "'0' is not a whole number from 1 up, nor -1 for all cores"),
        ((*TREC, "--workers", "-5"), "'-5' is not a whole number from 1 up, nor -1 for all cores"),
        ((*TREC, "r.txt", "--compare"), "--compare: a run is named twice"),
        ((*TABLE, "--interval", "--resamples", "9" * 20), f"{'9' * 20} is too large: at most 1,000,000"),
        (("table", "a.csv", *TABLE[1:], "--by-file"),
         "--by-file makes each file a group: name each file once"),
        (("table", "-", "-", *TABLE[2:]), "standard input can be read only once"),
    ],
)
def test_wrong_usage(capsys, arguments, problem):
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert problem in err.splitlines()[-1]


@pytest.mark.parametrize("name", ["=1+1", "@x", "-5", "+5", "a,b", 'a"b'])
def test_csv_holds_names_as_they_are(capsys, tmp_path, name):
    """No letter is added against spreadsheets, for programs would take it for the name's; the help says so."""
    cell = '"' + name.replace('"', '""') + '"'
    (tmp_path / "a.csv").write_text(f"label,score,set\n1,3,{cell}\n0,2,{cell}\n")
    _, out, _ = run(capsys, *TABLE, "--group", "set", "-m", "AP", "--format", "csv")
    assert [row[0] for row in csv.reader(io.StringIO(out))] == ["group", name, "mean"]
    (tmp_path / "q.txt").write_text(f"{name} 0 d1 1\n")
    (tmp_path / name).write_text(f"{name} Q0 d1 1 2.5 t\n")
    _, out, _ = run(capsys, "trec", "-m", "AP", "--format", "csv", "-q", "q.txt", f"./{name}")
    assert [row[:2] for row in csv.reader(io.StringIO(out))][1:] == [[name, name], [name, "all"]]
    for command in ("table", "trec"):
        assert "csv (names can be formulas)" in " ".join(run(capsys, command, "--help")[1].split())


RANKLESS = {"r.txt": "1 Q0 d1 x 2.5 t\n2 Q0 d9 1 1 t\n"}


@pytest.mark.parametrize(
    ("arguments", "files", "problem"),
    [
        (
            TABLE,
            {"a.csv": "label,score\n1,\n"},
            "give --nan worst to rank it below all other scores, or --nan omit to leave it out",
        ),
        ((*TABLE[:2], "--label", "1", "--score", "2"), {"a.csv": "1,3\n0,2\n"}, "read it with --no-header"),
        (TREC, {"r.txt": "1 Q0 d1 1 foo t\n"},
         "the score 'foo' is not a number (--lenient accepts the line, as trec_eval does)"),
        (TREC, {"q.txt": "1 0 d1 0.5\n"}, "'0.5' is not a whole number (--lenient accepts the line"),
        ((*TREC, "--rank-by", "rank"), RANKLESS, "the rank is not a number, but --rank-by rank needs ranks"),
        ((*TREC, "--missing", "raise"), {"r.txt": "1 Q0 d1 1 2.5 t\n"}, "which q.txt has (--missing raise)"),
        ((*TREC, "--empty", "raise"), {"q.txt": "1 0 d1 1\n2 0 d1 0\n"}, "for query '2' (--empty raise)"),
        ((*TREC, "-M", "5", "--ties", "best"), {}, "-M 5 cannot be combined with --ties best"),
        ((*TREC, "-m", "AP(ties=threshold)"), {}, "AP(ties=threshold): runs cannot be measured with ties=threshold"),
    ],
)
def test_errors_name_the_options_of_the_command(capsys, tmp_path, arguments, files, problem):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (1, "")
    assert problem in err.splitlines()[-1]


def test_every_argument_that_an_error_names_has_an_option(capsys):
    """Wherever the modules that the commands read and measure with say argument=value."""
    package = Path(hitcurve.__file__).parent
    arguments = {*signature(hitcurve.evaluate).parameters, *signature(TableReader).parameters, *Layout._fields}
    # opening.py and scanning.py are those of hitcurve.scan, which has arguments of the same names.
    paths = [path for folder in ("retrieval", "sources", "report") for path in (package / folder).glob("*.py")]
    for path in (path for path in paths if path.stem not in ("opening", "scanning")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise):
                for named in re.findall(r"\b(\w+)=(?:'|\{|\d|False|True)", ast.unparse(node)):
                    assert named not in arguments or named in (*cli._OPTIONS, "extra"), (path, ast.unparse(node))
    shown = "".join(run(capsys, command, "--help")[1] for command in ("table", "trec"))
    for argument, option in cli._OPTIONS.items():
        assert argument in arguments
        assert f" {option} " in shown


def test_the_string_of_levels_by_its_names(capsys):
    status, out, _ = run(capsys, *TREC, "-q", "--format", "trec", "-m", "relstring.3")
    assert (status, out.split()[:3]) == (0, ["relstring_3", "1", "'01'"])


def test_ties_whose_order_changes_nothing_are_no_warning(capsys, tmp_path):
    (tmp_path / "a.csv").write_text("label,score\n1,3\n1,3\n0,2\n0,1\n")
    status, _, err = run(capsys, *TABLE, "-m", "P@1")
    assert status == 0
    assert "share the score" not in err
    (tmp_path / "a.csv").write_text("label,score\n1,3\n0,3\n0,2\n0,1\n")
    assert "depending on their order 0 to 1 relevant items" in run(capsys, *TABLE, "-m", "P@1")[2]


@FULL
def test_a_page_that_cannot_be_written_is_named(capsys):
    pytest.importorskip("matplotlib")
    status, _, err = run(capsys, *TREC, "--report", "/dev/full")
    assert (status, err.splitlines()[-1]) == (1, "hitcurve: error: /dev/full: No space left on device")


NO_TEXT = os.fsdecode(b"bad\xff.csv") if sys.platform == "linux" else "bad.csv"  # names of files are text elsewhere
NAMES = ["$x_1^$", "$x$", "a$b", "_score", "<b>&", "分子"]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page of a file whose name is no text, with scores of these names: its text, and what was printed.

    Standard error has what is said of a picture beside the page.
    """
    pytest.importorskip("matplotlib")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as out, redirect_stderr(
        io.StringIO()
    ) as err:
        drawn_once.no_layout(patch)
        patch.chdir(tmp_path_factory.mktemp("page"))
        rows = "".join(f"{at % 2}{f',{at}' * len(NAMES)}\n" for at in range(6))
        Path(NO_TEXT).write_text(f"label,{','.join(NAMES)}\n{rows}", encoding="utf-8")
        scores = [word for name in NAMES for word in ("--score", name)]
        outputs = ("--plot", "p.png", "--report", "page.html")
        assert main(["table", NO_TEXT, "--label", "label", *scores, "-m", "AP", *outputs]) == 0
        return Path("page.html").read_text(encoding="utf-8"), out.getvalue(), err.getvalue()


def test_a_file_whose_name_is_no_text(page):
    text, out, _ = page
    assert [line.split() for line in out.splitlines()] == [["score", "AP"], *([name, "0.7556"] for name in NAMES)]
    assert f"<h1>{NO_TEXT.encode('utf-8', 'backslashreplace').decode()}</h1>" in text


def legend(text):
    return text[text.index('<ul class="legend"') : text.index("</ul>", text.index('<ul class="legend"'))]


def test_names_are_drawn_letter_by_letter(page):
    for name in NAMES:
        assert f"</svg>{escape(name)}</li>" in legend(page[0]), name


def test_names_of_groups_are_drawn_letter_by_letter(capsys, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    drawn_once.no_layout(monkeypatch)
    drawn_once.words_alone(monkeypatch, first=1)
    rows = [f"{at % 2},{at},{name}\n" for name in NAMES[:5] for at in range(6)]
    (tmp_path / "a.csv").write_text("label,$x_1^$,set\n" + "".join(rows), encoding="utf-8")
    words = ("--label", "label", "--score", "$x_1^$", "--group", "set", "-m", "AP", "--report", "page.html")
    status, _, err = run(capsys, "table", "a.csv", *words)
    assert status == 0, err
    text = legend((tmp_path / "page.html").read_text(encoding="utf-8"))
    for name in NAMES[:5]:
        assert f"</svg>{escape(name)}</li>" in text, name


def test_letters_that_the_font_of_a_picture_lacks(page):
    lines = page[2].splitlines()
    assert all(line.startswith("hitcurve: warning: ") for line in lines)
    boxes = "matplotlib's font lacks some letters of the names: boxes are drawn in their place"
    assert f"hitcurve: warning: p.png: {boxes}" in lines


@pytest.mark.parametrize("order", [
    ("q.txt", "r.txt", "-m", "AP", "nDCG@10", "P.1"),
    ("-m", "AP", "nDCG@10", "P.1", "q.txt", "r.txt"),
    ("q.txt", "-m", "AP", "nDCG@10", "-m", "P.1", "r.txt"),
    ("-m", "AP", "-m", "nDCG@10", "P.1", "-q", "q.txt", "r.txt"),
])  # fmt: skip
def test_measures_beside_files(capsys, order):
    """Several measures after one -m; files may follow them, as they do with trec_eval."""
    status, out, _ = run(capsys, "trec", *order)
    assert status == 0
    assert [word for word in out.splitlines()[0].split() if word != "query"] == ["run", "AP", "nDCG@10", "P@1"]


def test_measures_that_are_none(capsys):
    status, out, err = run(capsys, *TREC, "-m", "AP", "nDGC@10")
    assert (status, out) == (2, "")
    assert "argument -m: 'nDGC@10': there is no measure 'nDGC'; near names: nDCG@10" in err
    status, _, err = run(capsys, "trec", "q.txt", "-m", "AP")
    assert (status, err.splitlines()[-1].partition("error: ")[2]) == (2, "the following arguments are required: RUN")


def test_tables_for_papers(capsys):
    status, out, _ = run(capsys, *TREC, "-q", "-m", "AP", "--format", "markdown")
    assert status == 0
    assert out.startswith("| run | query | AP |\n| --- | --- | --: |\n| r.txt | 1 | ")
    assert out.endswith("\n\n2 queries; equal scores: docid\n")
    latex = ("-m", "AP", "--compare", "--format", "latex", "--tables", "all")
    status, out, _ = run(capsys, "trec", "q.txt", "r.txt", "./r.txt", *latex)
    assert (status, out.count(r"\toprule")) == (0, 3)
    status, out, err = run(capsys, "trec", "q.txt", "r.txt", "./r.txt", "--compare", "--format", "trec")
    assert (status, out) == (2, "")
    assert "--compare cannot be combined with --format trec" in err


@pytest.mark.parametrize("line", [(*TABLE, "-m", "AP"), TREC])
@pytest.mark.parametrize(("error", "said"), [(MemoryError(), ""), (MemoryError("8 GiB"), ": 8 GiB")])
def test_out_of_memory_is_a_line(capsys, monkeypatch, line, error, said):
    def none_left(*_, **__):
        raise error

    monkeypatch.setattr("hitcurve.sources.screen.Job.meet", none_left)
    monkeypatch.setattr("hitcurve.retrieval.evaluator.evaluate", none_left)
    assert run(capsys, *line) == (1, "", f"hitcurve: error: out of memory{said}\n")
