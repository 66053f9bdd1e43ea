"""Parquet files with changed bytes: what they hold, or an error that names the file, by every way."""

import io
import signal
import subprocess
import sys
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import hitcurve as hc
from hitcurve.sources.tables import read_actives

if find_spec("pyarrow"):
    import pyarrow as pa
    from pyarrow import parquet

ROWS = range(60)


@cache
def whole(flags, integers, codec, words, version):
    """The bytes of a good file."""
    table = pa.table({
        "y": [at % 3 == 0 if flags else int(at % 3 == 0) for at in ROWS],
        "score": [at * 7 % 11 if integers else at / 3 for at in ROWS],
        "query_id": [f"q{at // 20}" for at in ROWS],
        "doc_id": [f"d{at}" for at in ROWS],
    })
    out = io.BytesIO()
    parquet.write_table(table, out, row_group_size=25, compression=codec, use_dictionary=words,
                        data_page_version=version)  # fmt: skip
    return out.getvalue()


READ_METADATA = """
import sys
from pyarrow import parquet
metadata = parquet.read_metadata(sys.argv[1])
for group in map(metadata.row_group, range(metadata.num_row_groups)):
    for leaf in range(group.num_columns):
        group.column(leaf)
"""


def aborts(path):
    """Whether pyarrow (26) ends the process that reads the metadata of a column: its sizes contradict each other.

    No caller can catch that, so another process tries it first.
    """
    done = subprocess.run([sys.executable, "-c", READ_METADATA, path], capture_output=True, check=False)
    return done.returncode == -signal.SIGABRT


def changed_bytes(draw):
    """Parquet with a few other bytes is read, or refused by its name."""
    data = bytearray(whole(draw.chance(2), draw.chance(2), draw.pick(("none", "snappy", "zstd")), draw.chance(2),
                           draw.pick(("1.0", "2.0"))))  # fmt: skip
    metadata = len(data) - 8 - int.from_bytes(data[-8:-4], "little")  # where it begins
    places = [draw.whole(0, len(data) - 1) for _ in range(draw.pick((1, 1, 2, 4)))]
    for place in places:
        data[place] = draw.whole(0, 255)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        path = Path(folder) / "t.parquet"
        path.write_bytes(data)
        if max(places) >= metadata and aborts(path):
            return
        for way in (
            lambda: hc.scan(path, "y", "score"),
            lambda: hc.scan(path, "y", "score", "query_id"),
            lambda: hc.scan(path, "y", "score", nan_policy="worst", workers=2),
            lambda: read_actives(path, "doc_id"),
            lambda: hc.read_run(path),
        ):
            try:
                way()
            except ValueError as error:
                if not str(error).startswith(str(path)):
                    raise AssertionError(f"{error!r} does not name the file") from None


SHARES = {changed_bytes: 0.3} if find_spec("pyarrow") else {}
