"""The rooms of the house: which tests a change can break.

A room has sources and tests. `--room NAME` chooses the tests of a room, `--changed [COMMIT]` those of the rooms at and
above the lowest that differs from the commit.
"""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# From the ground up, a room in a line: height, name, sources, tests. Rooms of one height do not use each
# other. Behind a test stands the highest room that it uses besides its own: a change of that room runs it too.
TABLE = """
0 core       | _base _kernel curves shown measures results tools capi hitcurve _trec_names _version __init__ py
             | kernel:statistics areas bad_input:sources cost discrepancies exhaustive:compat extremes:house
               gains:compat gains_blocks:cli gains_curves:report gains_edges:retrieval gains_graded:statistics
               gains_pairs:statistics gains_users:retrieval inputs:compat means:statistics measures:statistics
               numbers:statistics order_accuracy orders properties reference register:compat score_dumps
               subtopics:report tools:house user_models:retrieval whole_scores:statistics
1 retrieval  | retrieval | retrieval:house overlap
1 statistics | statistics | statistics:report
1 sources    | sources | sources:house
2 report     | report | report:cli latex:cli notebook printed:cli
3 compat     | compat ir_measures presets | compat:house ir_measures:cli peers presets:house
3 spark      | spark | spark
4 cli        | cli __main__ | cli rates
5 house      | | docs foreign house imports installed isolated pickles readme threads
"""


def parsed(table):
    """(room -> height, source -> room, test -> room, test -> greatest height of what it uses)."""
    lines = " ".join(table.split()).replace(" |", "|").replace("| ", "|")
    heights, sources, tests, uses = {}, {}, {}, {}
    for height, room, of_room, of_tests in re.findall(r"(\d) (\w+)\|([^|]*)\|([^|]*?)(?= \d \w+\||$)", lines):
        heights[room] = int(height)
        sources |= dict.fromkeys(of_room.split(), room)
        for word in of_tests.split():
            test, _, other = word.partition(":")
            tests[test], uses[test] = room, other or room
    return heights, sources, tests, {test: max(heights[tests[test]], heights[uses[test]]) for test in tests}


HEIGHT, SOURCES, TESTS, USES = parsed(TABLE)


def test_of(path):
    """The name in the table of a test file."""
    inside = Path(path).resolve().relative_to(ROOT / "tests")
    return inside.parts[0] if len(inside.parts) > 1 else inside.stem.removeprefix("test_")


def room_of(path):
    """The room that a changed file belongs to. What all rooms stand on, or what nobody knows, is of the lowest."""
    parts = Path(path).parts
    if parts[:2] == ("src", "hitcurve"):
        return SOURCES.get(parts[2].partition(".")[0], "core")
    if parts[0] == "tests" and (len(parts) > 2 or parts[-1].startswith("test_")):
        return TESTS.get(test_of(ROOT / path), "core")
    if parts[0] in ("docs", "benchmarks", "ci", ".ci", ".github") or path.endswith((".md", ".cff")):
        return "house"
    return "core"


def changed(commit):
    """The files that differ from a commit, new ones too."""

    def lines(*command):
        done = subprocess.run(["git", "-C", ROOT, *command], capture_output=True, text=True, check=False)
        if done.returncode:
            raise ValueError(done.stderr.strip())
        return done.stdout.splitlines()

    new = lines("ls-files", "--others", "--exclude-standard")
    return sorted({*lines("diff", "--name-only", "--no-renames", commit), *new})


def wanted(room=None, commit=None):
    """Whether a test file is to run: a function of its path."""
    if room is not None:
        if room not in HEIGHT:
            raise ValueError(f"there is no room {room!r}; the rooms are {', '.join(HEIGHT)}")
        return lambda path: TESTS.get(test_of(path), "core") == room
    files = changed(commit)
    if not files:
        raise ValueError(f"nothing differs from {commit}")
    rooms = {room_of(file) for file in files}
    lowest = min(HEIGHT[room] for room in rooms)

    def breakable(path):
        test = test_of(path)
        own, height = TESTS.get(test, "core"), USES.get(test, 0)
        # A test of a room beside the lowest cannot break, unless it uses further rooms.
        return own in rooms or height > lowest or height == lowest > HEIGHT[own]

    return breakable
