"""The commands on a terminal: colours, progress, widths; examples of the help; completion."""

import os
import re
import shlex
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest
from waiting import Announced, Clock

pytest.importorskip("pyarrow")

import hitcurve as hc
from hitcurve.cli import common
from hitcurve.cli import main as cli
from hitcurve.cli import table as table_command
from hitcurve.measures import MEASURES, parse
from hitcurve.shown.progress import Progress

TABLE = ("table", "a.csv", "--label", "label", "--score", "score")
VARIABLES = ("NO_COLOR", "FORCE_COLOR", "PYTHON_COLORS")
UNIX = pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals are of Unix")


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("label,score\n1,3\n0,2\n1,1\n0,1\n")
    monkeypatch.chdir(tmp_path)
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def run(capsys, *arguments):
    status = cli.main(list(arguments))
    return status, *capsys.readouterr()


def terminal(*arguments, code=None, columns=80, pipe=None, **environment):
    """What stands on a terminal of this width, and in the stream that is a pipe instead."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    surroundings = {key: value for key, value in os.environ.items() if key not in (*VARIABLES, "COLUMNS")}
    surroundings |= {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "TERM": "xterm"} | environment
    line = [sys.executable, *(("-c", code) if code else ("-m", "hitcurve", *arguments))]
    streams = {name: subprocess.PIPE if name == pipe else theirs for name in ("stdout", "stderr")}
    with subprocess.Popen(line, stdin=subprocess.DEVNULL, env=surroundings, **streams) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            seen += piece
        piped = b"".join(stream.read() for stream in (process.stdout, process.stderr) if stream is not None)
    os.close(ours)
    assert process.returncode in (0, 1, 2)
    return seen.decode().replace("\r\n", "\n"), piped.decode()


def commands(*lines, surroundings=(), widths=(), **how):
    """What stands on a terminal after these commands of one process, which each may have an environment or a width."""
    code = f"""
import fcntl, os, struct, termios
from hitcurve.cli.main import main
before = dict(os.environ)
surroundings, widths = {[*surroundings]!r}, {[*widths]!r}
for at, line in enumerate({[*lines]!r}):
    if surroundings:
        os.environ.clear()
        os.environ.update(before | surroundings[at])
    if widths:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, widths[at], 0, 0))
    try:
        main([*line])
    except SystemExit:
        pass
    print("\\nreturned", flush=True)
"""
    return terminal(code=code, **how)


# --- colours ------------------------------------------------------------------------------------------------


@UNIX
def test_colours_are_for_terminals():
    seen, piped = terminal(*TABLE, pipe="stderr")
    assert piped.startswith("hitcurve: warning: score: only 2 relevant items") and "\x1b" not in piped
    head = next(line for line in seen.splitlines() if "95 % interval" in line)
    assert head.startswith("\x1b[1mmeasure") and head.endswith("\x1b[0m")
    assert seen.count("\x1b") == 2
    seen, piped = terminal(*TABLE, pipe="stdout")
    assert "hitcurve: \x1b[1;35mwarning:\x1b[0m score: only 2 relevant items" in seen
    assert "measure" in piped and "\x1b" not in piped
    seen, _ = commands(("table", "none.csv", *TABLE[2:]), (*TABLE[:2], "--score", "s"))
    assert "hitcurve: \x1b[1;31merror:\x1b[0m none.csv: No such file" in seen
    assert "hitcurve table: \x1b[1;31merror:\x1b[0m --label, --actives" in seen


@UNIX
def test_terminals_and_forms_without_colours():
    plain = [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}]
    forms = ["csv", "json", "markdown", "latex"]
    lines = [*[TABLE] * 4, *((*TABLE, "--format", form) for form in forms)]
    seen, _ = commands(*lines, surroundings=[{}, *plain, *[{}] * 4])
    coloured, *others = seen.split("\nreturned\n")[:-1]
    assert coloured.count("\x1b") == 4 and len(others) == 7
    for how, text in zip(plain, others, strict=False):
        assert "hitcurve: warning: score: only 2" in text and "measure " in text and "\x1b" not in text, how
    for form, text in zip(forms, others[3:], strict=True):
        lines = [line for line in text.splitlines() if not line.startswith("hitcurve: ")]
        assert any(lines) and not [line for line in lines if "\x1b" in line], form


@pytest.mark.parametrize(("name", "value", "expected"), [("FORCE_COLOR", "1", True), ("FORCE_COLOR", "", False),
                                                         ("NO_COLOR", "", False)])  # fmt: skip
def test_colours_in_pipes_are_forced(capsys, monkeypatch, name, value, expected):
    monkeypatch.setenv(name, value)
    status, out, err = run(capsys, *TABLE)
    assert status == 0
    assert (out.count("\x1b"), err.count("\x1b")) == ((2, 2) if expected else (0, 0))
    if expected:
        monkeypatch.setenv("TERM", "dumb")  # as Python has it
        assert run(capsys, *TABLE)[1:] == (out, err)
    assert run(capsys, *TABLE, "-m", "AP")[1] == "AP  0.7917\n"  # a table without a head


def test_names_are_not_taken_for_what_is_said(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    common.say("hitcurve: warning: a.csv: error: of a name")
    assert capsys.readouterr().err == "hitcurve: \x1b[1;35mwarning:\x1b[0m a.csv: error: of a name\n"
    common.say("another: error: of a name")
    assert capsys.readouterr().err == "another: error: of a name\n"
    common.say("hitcurve: warning: a name\nof two lines: 3 items")
    assert capsys.readouterr().err == "hitcurve: \x1b[1;35mwarning:\x1b[0m a name of two lines: 3 items\n"


# --- help ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [(), ("table",), ("measures",)])
def test_examples_of_the_help_are_right(capsys, command):
    status, out, _ = run(capsys, *command, "--help")
    lines = [line.strip() for line in out.partition("\nexamples:\n")[2].splitlines() if line.startswith("  hitcurve")]
    assert status == 0 and len(lines) >= 2
    for line in lines:
        words = shlex.split(re.split("   ", line)[0])
        options = cli._parser().parse_args(words[1:])
        if words[1] == "table":
            assert len(table_command._checked(options)) == 1
        if command == ("measures",):
            assert cli.main(words[1:]) == 0


@UNIX
def test_help_is_as_wide_as_the_terminal():
    widths = [40, 60, 80, 200]
    seen, _ = commands(*[("table", "--help")] * 4, widths=widths, PYTHON_COLORS="0")
    for columns, text in zip(widths, seen.split("\nreturned\n")[:-1], strict=True):
        options, _, _ = text.partition("\nexamples:\n")
        widest = max(map(len, options.splitlines()[1:]))  # the usage is one line
        assert widest <= min(columns - 2, 88)
        assert widest > min(columns - 12, 78)


# --- progress -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({"total": 400_000, "unit": "rows"}, "pass: 25 %, 0:03 left, of 400,000 rows, 0.1 million a second"),
        ({"total": 400_000, "unit": "rows", "guessed": True},
         "pass: 25 %, 0:03 left, of about 400,000 rows, 0.1 million a second"),
        ({"total": 100_000, "unit": "rows"}, "pass: 100 %, 0:00 left, of 100,000 rows, 0.1 million a second"),
        ({"total": 50_000, "unit": "rows", "guessed": True},
         "pass: 99 %, 0:00 left, of about 50,000 rows, 0.1 million a second"),
        ({"unit": "rows"}, "pass: 100,000 rows, 0.1 million a second"),
        ({"total": 0, "unit": "rows"}, "pass: 100,000 rows, 0.1 million a second"),
    ],
)  # fmt: skip
def test_per_cent_and_time_left(capsys, monkeypatch, how, expected):
    clock = Clock(monkeypatch)
    with Progress(True) as shown:
        shown.begin("pass", **how)
        shown.add(100_000)
        shown.draw()
        assert capsys.readouterr().err == ""  # what is quick is not worth a line
        clock.now += 1
        shown.draw()
        assert capsys.readouterr().err == f"\r{expected}"
        shown.draw()
        assert capsys.readouterr().err == ""  # now and then
    assert capsys.readouterr().err == "\r" + " " * len(expected) + "\r"


def test_few_things_have_no_speed(capsys, monkeypatch):
    clock = Clock(monkeypatch)
    with Progress(True) as shown:
        shown.begin("evaluate", 3, "runs")
        shown.add(1)
        clock.now += 60
        shown.draw()
        assert capsys.readouterr().err == "\revaluate: 33 %, 2:00 left, of 3 runs"


def test_names_of_several_lines_are_shown_in_one(capsys):
    with Progress(True) as shown:
        shown("measuring a\nb")
        assert capsys.readouterr().err == "\rmeasuring a b"


def test_threads_do_not_write_over_one_another(monkeypatch):
    clock, texts = Clock(monkeypatch), []
    inside, go_on, waits = threading.Event(), threading.Event(), threading.Event()

    def write(text):
        texts.append(text)
        inside.set()
        assert go_on.wait(20)

    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: False, write=write, flush=lambda: None))
    with Progress(True) as shown:
        shown.lock = Announced(shown.lock, waits.set)
        shown.begin("pass", unit="rows")
        clock.now += 1
        idle = threading.Thread(target=shown.draw)
        idle.start()
        assert inside.wait(20)
        worker = threading.Thread(target=shown.add, args=(5,))
        worker.start()
        assert waits.wait(20)
        meanwhile = len(texts)
        go_on.set()
        idle.join()
        worker.join()
        assert (meanwhile, shown.done) == (1, 5)


def test_threads_that_go_on_after_ctrl_c_write_nothing(capsys, monkeypatch):
    clock = Clock(monkeypatch)
    with pytest.raises(KeyboardInterrupt), Progress(True) as shown:
        shown.begin("pass", unit="rows")
        raise KeyboardInterrupt
    clock.now += 1
    shown.add(5)
    assert capsys.readouterr().err == ""


@UNIX
@pytest.mark.parametrize("columns", [30, 80])
def test_the_line_stays_on_one_line(columns):
    code = """
from hitcurve.shown import progress as _progress
now = 0.0
_progress.monotonic = lambda: now
with _progress.Progress() as shown:
    shown.begin("pass 1 of 2", 60_000_000_000, "rows", guessed=True)
    for _ in range(3):
        now += 0.25
        shown.add(20_000_000_000)
print("done")
"""
    seen, _ = terminal(code=code, columns=columns)
    lines = seen.split("\r")
    assert [line[:17] for line in lines[1:4]] == ["pass 1 of 2: 33 %", "pass 1 of 2: 66 %", "pass 1 of 2: 99 %"]
    assert max(map(len, lines)) < columns
    assert lines[-1] == "done\n"
    assert lines[-2].strip() == ""  # gone before


class Bar:
    made = ()

    def __init__(self, **how):
        self.how, self.n, self.closed = how, 0, False
        Bar.made += (self,)

    def update(self, more):
        assert not self.closed
        self.n += more

    def close(self):
        self.closed = True


@pytest.fixture
def notebook(monkeypatch):
    """As in a notebook: IPython's kernel runs, and standard error is no terminal."""
    shell = SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(Bar, "made", ())
    return monkeypatch


def slow(clock):
    """Three pieces, which take their time."""

    def blocks():
        for _ in range(3):
            clock.now += 0.25
            yield [True, False] * 5_000, range(10_000)

    return blocks


def test_a_notebook_with_tqdm_has_a_bar(capsys, notebook):
    notebook.setitem(sys.modules, "tqdm.auto", SimpleNamespace(tqdm=Bar))
    clock = Clock(notebook)
    hc.scan(slow(clock), progress=True)
    assert capsys.readouterr() == ("", "")
    (bar,) = Bar.made  # the second pass is quick
    assert bar.how == {"desc": "pass 1 of 2", "total": None, "unit": " rows", "unit_scale": True, "leave": False}
    assert 10_000 <= bar.n <= 30_000 and bar.closed
    hc.scan(slow(clock))  # nobody asked for one
    assert len(Bar.made) == 1
    with Progress(True) as shown:
        for total in (10, 20):
            shown.begin("this", total, "runs")
            for _ in range(total):
                clock.now += 1
                shown.add(1)
    assert [(bar.how["total"], bar.n, bar.closed) for bar in Bar.made[1:]] == [(10, 10, True), (20, 20, True)]


@pytest.mark.parametrize("guessed", [False, True])
@pytest.mark.parametrize(("total", "done"), [(100, 97), (100, 100), (100, 120), (None, 97)])
def test_a_bar_ends_full_unless_there_was_an_error(notebook, guessed, total, done):
    """A notebook shows a bar in red that ends below its total; a total may be a guess, and steps come late."""
    notebook.setitem(sys.modules, "tqdm.auto", SimpleNamespace(tqdm=Bar))
    clock = Clock(notebook)

    def work(fails):
        with Progress(True) as shown:
            for phase in range(2):
                shown.begin(f"phase {phase}", total, "rows", guessed)
                clock.now += 1
                shown.add(done - 1)
                shown.add(1)  # too soon to be drawn
                if fails and phase:
                    raise KeyboardInterrupt

    work(False)
    with pytest.raises(KeyboardInterrupt):
        work(True)
    *full, broken = Bar.made
    end = done if guessed or not total else total
    assert [(bar.n, bar.total, bar.closed) for bar in full] == [(end, end, True)] * 3
    assert (broken.n, broken.how["total"], broken.closed) == (done - 1, total, True)


def test_a_notebook_without_tqdm_has_the_line(capsys, notebook):
    notebook.setitem(sys.modules, "tqdm", None)
    notebook.setitem(sys.modules, "tqdm.auto", None)
    hc.scan(slow(Clock(notebook)), progress=True)
    assert "\rpass 1 of 2: 10,000 rows" in capsys.readouterr().err


def test_the_bar_of_tqdm_itself(capsys, notebook):
    std, clock = pytest.importorskip("tqdm.std"), Clock(notebook)
    notebook.setattr(std, "time", lambda: clock.now)
    hc.scan(slow(clock), progress=True)
    assert re.search(r"pass 1 of 2: \d+.0k rows \[.* rows/s\]", capsys.readouterr().err)


def test_evaluate_shows_bytes_and_runs(capsys, monkeypatch, tmp_path):
    lines = [f"{query} Q0 d{at} {at} {-at} t\n" for query in range(200) for at in range(100)]
    (tmp_path / "r.txt").write_text("".join(lines))
    qrels = {str(query): {"d1": 1} for query in range(200)}
    clock = Clock(monkeypatch)
    monkeypatch.setattr(Progress, "due", lambda self: self.on)
    real = Progress.reach

    def later(self, done):
        clock.now += 1
        real(self, done)

    monkeypatch.setattr(Progress, "reach", later)
    expected = hc.evaluate(qrels, "r.txt", "AP")
    assert capsys.readouterr().err == ""
    found = hc.evaluate(qrels, "r.txt", "AP", progress=True)
    assert found.means == expected.means
    size = os.path.getsize("r.txt")
    assert re.search(rf"\rr\.txt: \d+ %, \d:\d\d left, of {size:,} bytes", capsys.readouterr().err)
    hc.evaluate(qrels, "r.txt", "AP", progress=False)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(Progress, "add", lambda self, more: (setattr(self, "done", self.done + more),
                                                             setattr(clock, "now", clock.now + 10)))  # fmt: skip
    found = hc.evaluate(qrels, ["r.txt"] * 3, "AP", progress=True)
    assert [one.means for one in found] == [expected.means] * 3
    assert "\revaluate: 66 %, 0:10 left, of 3 runs" in capsys.readouterr().err


@pytest.mark.parametrize("progress", ["yes", 1])
def test_progress_of_evaluate_is_true_or_called(progress):
    with pytest.raises(TypeError, match=f"progress is {progress!r}: it must be True, False or a callable"):
        hc.evaluate({"q": {"d": 1}}, {"q": {"d": 0.5}}, "AP", progress=progress)


def test_nothing_is_shown_where_there_is_no_standard_error(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    with Progress() as one, Progress(True) as other:
        assert not (one.on or other.on)


# --- completion ---------------------------------------------------------------------------------------------


COMPLETED = {
    "hitcurve ": {"table", "trec", "measures"},
    "hitcurve table a.csv --inter": {"--interval"},
    "hitcurve table a.csv --se": {"--seed"},
    "hitcurve table a.csv --ties w": {"worst"},
    "hitcurve table a.csv --label label -m AP BEDR": {"BEDROC(20)", "BEDROC(80.5)"},
    "hitcurve trec q.txt r.txt -m nDCG": {"nDCG", "nDCG@10"},
    "hitcurve measures log": {"logAUC"},
    "hitcurve trec q.txt r.txt -m ndcg_c": {"ndcg_cut_10"},
}


def test_completion():
    """What argcomplete answers to a shell in which these lines were typed: it ends the process after each."""
    pytest.importorskip("argcomplete")
    code = f"""
import os, sys
class Left(BaseException):
    pass
def leave(status):
    if status or line == lines[-1]:
        real(status)
    raise Left
real, os._exit, lines = os._exit, leave, {[*COMPLETED]!r}
from hitcurve.cli.main import main
sys.argv = ["hitcurve"]
for at, line in enumerate(lines):
    file = f"out{{at}}.txt"
    os.environ.update(COMP_LINE=line, COMP_POINT=str(len(line)), _ARGCOMPLETE_STDOUT_FILENAME=file)
    try:
        main()
    except Left:
        continue
    sys.exit(f"{{line}}: main returned")
"""
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "_ARGCOMPLETE": "1",
                    "COMP_TYPE": "9", "_ARGCOMPLETE_IFS": "\n", "_ARGCOMPLETE_SUPPRESS_SPACE": "1"}  # fmt: skip
    subprocess.run([sys.executable, "-c", code], env=surroundings, check=True, capture_output=True)
    for at, (line, expected) in enumerate(COMPLETED.items()):
        with open(f"out{at}.txt", encoding="utf-8") as file:
            words = [word.strip() for word in file.read().split("\n")]
        assert expected <= {re.sub(r"\\(.)", r"\1", word) for word in words}, line


def test_what_completion_offers_are_measures():
    offered = common._measures("x")
    assert set(common._measures("")) < set(offered)
    assert {parse(name).record.name for name in offered} == {record.name for record in MEASURES}


def test_what_a_small_run_does_not_import(tmp_path):
    """Of a millisecond or more each; all that it needs takes 15 ms beside numpy."""
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 b 0\n")
    (tmp_path / "run").write_text("q Q0 b 1 2.5 x\nq Q0 a 2 1.5 x\n")
    dear = {"fractions", "decimal", "string", "csv", "json", "tempfile", "concurrent.futures", "difflib", "pyarrow"}
    code = f"""if True:
        import sys, numpy
        dear = {dear!r} - set(sys.modules)  # without what numpy needs
        from hitcurve.cli.main import main
        sys.exit(main(["trec", "qrels", "run"]) or ", ".join(dear & set(sys.modules)) or 0)
    """
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    subprocess.run([sys.executable, "-c", code], env=surroundings, check=True, cwd=tmp_path)


def test_completion_is_asked_for_by_the_shell_alone():
    code = "import sys; from hitcurve.cli.main import main; main(['--version']); print('argcomplete' in sys.modules)"
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    found = subprocess.run([sys.executable, "-c", code], env=surroundings, check=True, capture_output=True, text=True)
    assert found.stdout.splitlines() == [f"hitcurve {hc.__version__}", "False"]


def test_completion_without_its_library(capsys, monkeypatch):
    monkeypatch.setenv("_ARGCOMPLETE", "1")
    monkeypatch.setitem(sys.modules, "argcomplete", None)
    status, out, err = run(capsys, "--version")
    assert (status, out) == (1, "")
    assert 'completion needs argcomplete: pip install ".[completion]" in a checkout' in err


def test_global_completion_finds_the_marker():
    with open(cli.__file__, encoding="utf-8") as file:
        assert "PYTHON_ARGCOMPLETE_OK" in file.read(1024)
