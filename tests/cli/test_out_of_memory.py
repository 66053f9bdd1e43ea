"""A lack of memory: one line and an exit code, never a traceback."""

import subprocess
import sys

import pytest

resource = pytest.importorskip("resource")
if not hasattr(resource, "RLIMIT_AS") or sys.platform != "linux":
    pytest.skip("the system limits no address space", allow_module_level=True)
pytest.importorskip("pyarrow")

# The limit comes after a first table: all is imported by then, and Arrow's threads run, whose start may abort.
PROGRAM = """
import contextlib, io, resource, sys
from hitcurve.cli.main import main
with contextlib.redirect_stdout(io.StringIO()):
    assert main(["table", "small.csv", *sys.argv[2:]]) == 0
pages = int(open("/proc/self/statm").read().split()[0])
most = pages * resource.getpagesize() + (16 << 20)
resource.setrlimit(resource.RLIMIT_AS, (most, most))
sys.exit(main(["table", *sys.argv[1:]]))
"""


def test_a_table_that_does_not_fit(tmp_path):
    for name, rows in (("small.csv", 1_000), ("large.csv", 1_000_000)):
        with open(tmp_path / name, "w") as out:
            out.write("id,y,s\n")
            out.writelines(f"{at:040d},{at % 2},{at * 7919 % 1000003}\n" for at in range(rows))
    command = ("large.csv", "--label", "y", "--score", "s", "--id", "id", "--workers", "1")
    found = subprocess.run([sys.executable, "-c", PROGRAM, *command], capture_output=True, text=True, cwd=tmp_path)
    assert found.returncode == 1 and found.stdout == ""
    said = found.stderr.splitlines()
    assert said[-1].startswith("hitcurve: error: out of memory") and "Traceback" not in found.stderr
    assert all(line.startswith("hitcurve: warning: ") for line in said[:-1])  # of the small table
