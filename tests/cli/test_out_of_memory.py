"""A lack of memory: one line and an exit code, never a traceback."""

import subprocess
import sys

import pytest

from hitcurve.cli.main import main
from hitcurve.sources import tables

resource = pytest.importorskip("resource")
if not hasattr(resource, "RLIMIT_AS") or sys.platform != "linux":
    pytest.skip("the system limits no address space", allow_module_level=True)
pa = pytest.importorskip("pyarrow")

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
    lines = "".join(f"{at:040d},{at % 2},{at * 7919 % 1000003}\n" for at in range(10_000))
    for name, times in (("small.csv", 1), ("large.csv", 100)):
        (tmp_path / name).write_text("id,y,s\n" + lines * times)
    command = ("large.csv", "--label", "y", "--score", "s", "--id", "id", "--workers", "1", "-m", "AP")
    found = subprocess.run([sys.executable, "-c", PROGRAM, *command], capture_output=True, text=True, cwd=tmp_path)
    assert found.returncode == 1 and found.stdout == ""
    said = found.stderr.splitlines()
    assert said[-1].startswith("hitcurve: error: out of memory") and "Traceback" not in found.stderr
    assert all(line.startswith("hitcurve: warning: ") for line in said[:-1])  # of the small table


@pytest.mark.parametrize("error", [
    pa.ArrowException("Unknown error: Failed to launch worker thread: Resource temporarily unavailable"),
    pa.ArrowMemoryError("malloc of size 64 failed"),
])
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "ids.parquet", "run.parquet"])
def test_what_arrow_calls_a_lack_of_memory(tmp_path, monkeypatch, capsys, name, error):
    import pyarrow.parquet

    def fail(*_, **__):
        raise error

    table = pa.table({"y": [1, 0], "s": [2.0, 1.0], "query_id": ["a", "a"], "doc_id": ["x", "y"], "score": [1.0, 2.0]})
    path = tmp_path / name
    if name.endswith("parquet"):
        pyarrow.parquet.write_table(table, path)
    else:
        with pa.output_stream(path) as out:
            out.write(b"y,s\n1,2\n0,1\n")
    other = tmp_path / "other.csv"
    other.write_text("doc_id,s\nx,2\n")
    (tmp_path / "qrels").write_text("a 0 x 1\n")
    monkeypatch.setattr(tables.arrow_csv, "read_csv", fail, raising=False)
    monkeypatch.setattr(pyarrow.parquet, "ParquetFile", fail)
    monkeypatch.setattr(pyarrow.parquet, "read_table", fail)
    command = ["table", str(path), "--label", "y", "--score", "s"]
    if name == "ids.parquet":
        command = ["table", str(other), "--actives", str(path), "--id", "doc_id", "--score", "s"]
    if name == "run.parquet":
        command = ["trec", str(tmp_path / "qrels"), str(path)]
    assert main(command) == 1
    assert capsys.readouterr().err.splitlines()[-1] == f"hitcurve: error: out of memory: {error}"
