"""The table of rooms is whole and its heights are true; a skip for want of what is there is a failure."""

import os
import re
import subprocess
import sys
from inspect import getmodule
from pathlib import Path

import absent
import pytest
import rooms
from test_imports import EDGES, FILES, SOURCE

import hitcurve as hc

HERE = Path(__file__).resolve().parents[1]
TEST_FILES = sorted(HERE.rglob("test_*.py"))


def relative(path):
    return path.relative_to(rooms.ROOT).as_posix()


def test_every_file_has_a_room():
    sources = {path.name.partition(".")[0] for path in SOURCE.iterdir()} - {"__pycache__"}
    assert sources == set(rooms.SOURCES)
    assert {rooms.test_of(path) for path in TEST_FILES} == set(rooms.TESTS)
    assert {room for room in rooms.HEIGHT if room not in rooms.SOURCES.values()} == {"house"}


def test_rooms_stand_on_lower_rooms():
    """Otherwise a change of a room would not run the tests of a room that uses it."""
    for path in FILES:
        room = rooms.room_of(relative(path))
        for target, _ in EDGES[path]:
            other = rooms.SOURCES.get(target.partition(".")[0], "core")
            assert other == room or rooms.HEIGHT[other] < rooms.HEIGHT[room], f"{relative(path)} imports {target}"


def used_by(text):
    """The sources of hitcurve that a test names: modules, and public names by the module that has them."""
    yield from re.findall(r"\bhitcurve\.(\w+)", text)
    yield from (["docs"] if re.search(r'"(docs|benchmarks|ci)"|\bdocs/\w+\.md', text) else [])
    yield from (["cli"] if re.search(r"\bcli\.main|\[\W?hitcurve\b", text) else [])
    for name in set(re.findall(r"\bhc\.([A-Za-z]\w+)", text)) & set(hc.__all__):
        module = getmodule(getattr(hc, name))
        yield from [module.__name__.split(".")[1]] if module and "." in module.__name__ else []


def test_tests_use_no_room_above_their_own():
    """Otherwise a change of that room would not run them. The table names such a room behind the test."""
    for path in TEST_FILES:
        test = rooms.test_of(path)
        for source in used_by(path.read_text(encoding="utf-8")):
            room = "house" if source == "docs" else rooms.SOURCES.get(source, "core")
            assert rooms.HEIGHT[room] <= rooms.USES[test], f"{test} uses {source}, of {room}"


@pytest.mark.parametrize(("files", "run", "not_run"), [
    (["src/hitcurve/_kernel/sort.pyx"], {"kernel", "cli", "docs", "spark", "retrieval"}, set()),
    (["pyproject.toml"], {"kernel", "docs"}, set()), (["tests/reference.py"], {"kernel", "docs"}, set()),
    (["src/hitcurve/retrieval/runs.pyx"], {"retrieval", "report", "cli", "register", "kernel"}, {"areas", "orders"}),
    (["src/hitcurve/statistics/paired.py", "docs/ties.md"], {"statistics", "cli", "docs"}, {"orders", "overlap"}),
    (["src/hitcurve/cli/main.py"], {"cli", "printed", "docs", "report"}, {"kernel", "spark", "statistics"}),
    (["tests/cli/test_cli.py"], {"cli", "docs"}, {"statistics"}), (["README.md"], {"readme"}, {"cli"}),
    (["a file that nobody knows"], {"kernel", "docs"}, set()),
])  # fmt: skip
def test_what_a_change_runs(monkeypatch, files, run, not_run):
    monkeypatch.setattr(rooms, "changed", lambda commit: files)
    chosen = {rooms.test_of(path) for path in TEST_FILES if rooms.wanted(None, "HEAD")(path)}
    assert run <= chosen and not not_run & chosen


def test_a_room_that_is_not_there_and_no_change(monkeypatch):
    monkeypatch.setattr(rooms, "changed", lambda commit: [])
    with pytest.raises(ValueError, match="there is no room 'attic'; the rooms are core, retrieval, "):
        rooms.wanted("attic")
    with pytest.raises(ValueError, match="nothing differs from HEAD~3"):
        rooms.wanted(None, "HEAD~3")
    assert {rooms.test_of(path) for path in TEST_FILES if rooms.wanted("spark")(path)} == {"spark"}


def test_every_reason_to_skip_is_known():
    texts = [path.read_text(encoding="utf-8") for path in HERE.rglob("*.py") if path != Path(__file__)]
    said = re.compile(r'(?<!thread_unsafe\()(?:reason=|pytest\.skip\()f?"([^"]+)"')
    reasons = [reason for text in texts for reason in said.findall(text)]
    assert len(reasons) > 20
    unknown = [reason for reason in reasons if absent.problem(re.sub(r"\{.*?\}", "numpy", reason))[0] == "unknown"]
    assert unknown == ["{what} are not at {folder}: HITCURVE_SHARED_DATA names their folder"]
    assert absent.problem("the shared data (TREC runs) are not at /nowhere")[0] == "shared-data"


def test_a_skip_whose_thing_is_there_fails(tmp_path):
    """So does a skip for want of what this run must have, and a skip for a reason that nobody knows."""
    skips = {
        "needs numpy": "library is there", "could not import 'nowhere'": "library may not be missing",
        "no time": "does not know this reason", "is new in Python 9.9": None,
    }  # fmt: skip
    tests = "".join(f"def test_{at}():\n    pytest.skip({reason!r})\n" for at, reason in enumerate(skips))
    ours = f"import sys\nsys.path.insert(0, {str(HERE)!r})\n" + (HERE / "conftest.py").read_text(encoding="utf-8")
    (tmp_path / "test_it.py").write_text("import pytest\n" + tests, encoding="utf-8")
    (tmp_path / "conftest.py").write_text(ours, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tmp_path, "-k"]
    settings = os.environ | {"HITCURVE_MAY_LACK": "python"}
    for expression, code in (("", 1), ("test_3", 0)):
        done = subprocess.run([*command, expression], cwd=tmp_path, env=settings, capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
        for words in filter(None, skips.values()):
            assert (words in done.stdout) == bool(code), done.stdout
