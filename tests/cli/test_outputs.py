"""Pictures and pages: never over a file that is read, whole or not at all, and never at the cost of the numbers."""

import json
import os
import stat
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import drawn_once
import pytest
from covering import covering

pytest.importorskip("pyarrow")
pytest.importorskip("matplotlib")

from hitcurve.cli.main import main
from hitcurve.compat import ranx

TABLE = ("table", "a.csv", "--actives", "ids.txt", "--id", "id", "--score", "score", "-m", "AP")
TREC = ("trec", "q.txt", "r.txt", "s.txt", "-m", "AP")
COMMANDS = {"trec": (TREC, ("q.txt", "r.txt", "s.txt")), "table": (TABLE, ("a.csv", "ids.txt"))}
OUTPUTS = (("--report", "page.html"), ("--plot", "picture.svg"), ("--plot", "picture.png"), ("--plot", "picture.pdf"))


@pytest.fixture(autouse=True, scope="module")
def _drawn():
    with pytest.MonkeyPatch.context() as patch:
        drawn_once.pictures(patch)
        yield


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("id,score\na,3\nb,2\nc,1\nd,1\n")
    (tmp_path / "ids.txt").write_text("a\nc\n")
    (tmp_path / "q.txt").write_text("1 0 d1 1\n1 0 d2 0\n2 0 d1 1\n")
    (tmp_path / "r.txt").write_text("1 Q0 d1 1 2.5 t\n1 Q0 d2 2 2.5 t\n2 Q0 d9 1 1 t\n")
    (tmp_path / "s.txt").write_text("1 Q0 d2 1 2.5 s\n1 Q0 d1 2 1.5 s\n2 Q0 d1 1 1 s\n")
    monkeypatch.chdir(tmp_path)


def run(capsys, *arguments):
    status = main(list(arguments))
    return status, *capsys.readouterr()


def files():
    return {path.name: (path.lstat().st_ino, path.read_bytes()) for path in Path().iterdir()}


def linked(name, how, ending):
    """Another name of the file, which ends as an output does."""
    other = f"other{ending}"
    if how == "hard link":
        os.link(name, other)
    elif how == "symbolic link":
        os.symlink(name, other)
    elif how == "link of a link":
        os.symlink(name, "between")
        os.symlink(os.path.abspath("between"), other)
    else:
        os.rename(name, other)
        os.symlink(other, name)
    return other if how != "by its folder" else os.path.join("..", os.path.basename(os.getcwd()), other)


@pytest.mark.parametrize("how", ["hard link", "symbolic link", "link of a link", "to the input", "by its folder"])
@pytest.mark.parametrize(("flag", "output"), OUTPUTS[:2])
@pytest.mark.parametrize("command", COMMANDS)
def test_an_input_is_never_written(capsys, command, flag, output, how):
    line, inputs = COMMANDS[command]
    for name in inputs:
        other = linked(name, how, os.path.splitext(output)[1])
        before = files()
        status, out, err = run(capsys, *line, flag, other)
        assert (status, out) == (2, "")
        assert err.splitlines()[-1].endswith(f"error: {flag} {other}: {name} is the same file")
        assert files() == before
        for made in ("between", os.path.basename(other)):
            if os.path.lexists(made):
                os.replace(made, name) if how in ("to the input", "by its folder") else os.unlink(made)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_page_itself_by_its_own_name(capsys, command):
    line, inputs = COMMANDS[command]
    before = files()
    for name in inputs:
        status, out, err = run(capsys, *line, "--report", name)
        assert (status, out, files()) == (2, "", before)
        assert f"--report {name}: {name} is the same file" in err


def test_both_outputs_in_one_file(capsys):
    for other in ("a.svg", "./a.svg"):
        status, _, err = run(capsys, *TABLE, "--report", "a.svg", "--plot", other)
        assert (status, err.splitlines()[-1]) == (2, "hitcurve table: error: --plot and --report name the same file")


# The page says that it has no pictures: to import matplotlib takes longer than all else.
COMMAND = "import sys; sys.modules['matplotlib'] = None; from hitcurve.cli.main import main; sys.exit(main())"


def shell(line, script):
    """The command in a shell, where `"$@"` stands for it."""
    surroundings = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    surroundings["PYTHONDONTWRITEBYTECODE"] = "1"  # under a limit, it would be cut short
    found = subprocess.run(["sh", "-c", script, "sh", sys.executable, "-c", COMMAND, *line],
                           capture_output=True, text=True, check=False, env=surroundings)  # fmt: skip
    return found.returncode, found.stdout, found.stderr


def test_standard_streams_that_are_files(capsys):
    line = ("table", "-", *TABLE[2:], "--report")
    status, _, err = shell([*line, "a.csv"], '"$@" < a.csv')
    assert (status, "--report a.csv: standard input is the same file" in err) == (2, True)
    line = ("trec", "-", *TREC[2:], "--report")
    status, _, err = shell([*line, "out.txt"], '"$@" < q.txt > out.txt')
    assert (status, "--report out.txt: standard output is the same file" in err) == (2, True)
    expected = run(capsys, *TREC)[:2]
    assert expected[0] == 0
    assert run(capsys, *TREC, "--report", "/dev/null")[:2] == expected
    # The file of a descriptor is not replaced: what is written to it later would be lost.
    script = 'exec 3>> kept.txt; "$@" /dev/stdout < q.txt | cat; "$@" /dev/fd/3 < q.txt > numbers.txt && echo later >&3'
    status, out, _ = shell(line, script)
    assert (status, "</html>" in out, out.endswith(expected[1])) == (0, True, True)
    kept = Path("kept.txt").read_text(encoding="utf-8")
    assert ("</html>" in kept, kept.endswith("later\n"), Path("numbers.txt").read_text()) == (True, True, expected[1])


@contextmanager
def short_files():
    """No file grows beyond 1024 bytes."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "dont_write_bytecode", True)  # of what is imported meanwhile: it would be cut short
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_device_in_a_shell(capsys):
    expected = run(capsys, *TREC)
    assert expected[0] == 0
    assert expected[1]
    status, out, err = shell([*TREC, "--report", "page.html"], 'ulimit -f 1; "$@"')
    assert (status, out) == (1, expected[1])
    assert err.splitlines()[-1] == "hitcurve: error: page.html: File too large"
    assert not os.path.lexists("page.html")


@pytest.mark.parametrize(("command", "output", "there"), covering([*COMMANDS], OUTPUTS, [None, "text", "link"]))
def test_a_full_device_keeps_what_was_there_and_prints_the_numbers(capsys, command, output, there):
    (line, _), (flag, output) = COMMANDS[command], output
    expected = run(capsys, *line)
    assert expected[0] == 0
    assert expected[1]
    if there is not None:
        Path("before" if there == "link" else output).write_text("what was there", encoding="utf-8")
    if there == "link":
        os.symlink("before", output)
    before = files()
    with short_files():
        status, out, err = run(capsys, *line, flag, output)
    assert (status, out) == (1, expected[1])
    assert err.splitlines()[-1] == f"hitcurve: error: {output}: File too large"
    assert files() == before


PROBLEMS = {"": "Is a directory", "none/": "No such file or directory"}


@pytest.mark.parametrize(("command", "output", "folder"), covering([*COMMANDS], OUTPUTS, [*PROBLEMS]))
def test_what_cannot_be_written_is_named_and_the_numbers_are_printed(capsys, command, output, folder):
    (line, _), (flag, output) = COMMANDS[command], output
    expected = run(capsys, *line)[1]
    os.mkdir(output)
    path = folder + output
    status, out, err = run(capsys, *line, flag, path)
    assert (status, out, err.splitlines()[-1]) == (1, expected, f"hitcurve: error: {path}: {PROBLEMS[folder]}")


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("command", COMMANDS)
def test_what_can_be_written_is_beside_what_cannot(capsys, command, output):
    (line, _), (flag, output) = COMMANDS[command], output
    expected = run(capsys, *line)[1]
    other = ("--plot", "none/a.svg") if flag == "--report" else ("--report", "none/a.svg")
    status, out, err = run(capsys, *line, flag, output, *other)
    assert (status, out) == (1, expected)
    assert err.splitlines()[-1] == "hitcurve: error: none/a.svg: No such file or directory"
    assert os.path.getsize(output) > 1000


def test_a_file_in_the_place_of_another(capsys):
    Path("before").write_text("what was there", encoding="utf-8")
    os.chmod("before", 0o640)
    os.symlink("before", "page.html")
    assert run(capsys, *TABLE, "--report", "page.html")[0] == 0
    assert os.readlink("page.html") == "before"
    assert stat.S_IMODE(os.stat("before").st_mode) == 0o640
    assert "</html>" in Path("before").read_text(encoding="utf-8")
    assert not [name for name in os.listdir(".") if name.endswith(".tmp")]
    mask = os.umask(0o027)
    try:
        assert run(capsys, *TABLE, "--report", "new.html")[0] == 0
    finally:
        os.umask(mask)
    assert stat.S_IMODE(os.stat("new.html").st_mode) == 0o640


@pytest.mark.parametrize("kind", ["json", "trec", "gz"])
def test_the_files_of_ranx(kind, monkeypatch):
    run = ranx.Run({"q": {"d": 1.0, "e": 0.5}})
    path = os.path.abspath(f"run.{kind}")
    run.save(path)
    before = files()
    with monkeypatch.context() as patch, pytest.raises(UnicodeEncodeError):
        patch.setattr(ranx.Run, "_line", lambda *_: "\ud800")
        patch.setattr(ranx.json, "dumps", lambda *_, **__: "\ud800")
        run.save(path)
    assert files() == before
    with pytest.raises(FileNotFoundError, match=f"none/run.{kind}"):
        run.save(f"none/run.{kind}")


def test_the_report_of_ranx():
    qrels = ranx.Qrels({"q": {"d": 1}, "p": {"d": 1}})
    runs = [ranx.Run({"q": {"d": 1.0}, "p": {"d": 1.0}}, name=name) for name in "ab"]
    report = ranx.compare(qrels, runs, ["map"])
    report.save("report.json")
    assert json.loads(Path("report.json").read_text(encoding="utf-8")) == report.to_dict()
    with pytest.raises(FileNotFoundError, match=r"none/report\.json"):
        report.save("none/report.json")
