"""Rows in batches, for the tests of scans."""

from types import SimpleNamespace

import numpy as np
import pytest

N = 30_000
SOURCES = ("parquet", "csv", "smi", "arrays", "tuples", "batches", "table")


def batches(y, s, size, *groups):
    return lambda: (tuple(one[at : at + size] for one in (y, s, *groups)) for at in range(0, len(y), size))


def written(folder, kind, row_group_size=3_000, **columns):
    """A file of these columns, in pieces that are small for its reader."""
    pa = pytest.importorskip("pyarrow")
    table, path = pa.table(columns), folder / f"rows.{kind}"
    if kind == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, path, row_group_size=row_group_size)
    elif kind == "smi":
        lines = ("C\t" + "\t".join(map(str, row)) for row in zip(*columns.values(), strict=True))
        path.write_text("\n".join(["\t".join(["smiles", *columns]), *lines]))
    else:
        pytest.importorskip("pyarrow.csv").write_csv(table, path)
    return str(path)


def rows_as(name, folder, arrays, columns, row_group_size=3_000):
    """The source of this name of SOURCES: of the arrays, which are without names, or of the same as columns."""
    if name == "arrays":
        return tuple(arrays)
    if name == "tuples":
        return batches(*arrays[:2], 777, *arrays[2:])
    if name in ("batches", "table"):
        table = pytest.importorskip("pyarrow").table(columns)
        return (lambda: table.to_batches(max_chunksize=777)) if name == "batches" else table
    return written(folder, name, row_group_size, **columns)


def table_reader(*columns, **options):
    """A TableReader; `options` may be those of a layout."""
    from hitcurve.sources.cells import Layout
    from hitcurve.sources.tables import TableReader

    layout = Layout(**{name: options.pop(name) for name in Layout._fields if name in options})
    return TableReader(*columns, layout=layout, **options)


def read_columns(path, label, score, group=None, **options):
    """What a TableReader reads of one file, each column as one array."""
    reader = table_reader([path], label, [score], group, **options)
    pieces = list(reader)
    rank, names = reader.group_order()
    codes = [piece.group for piece in pieces if piece.group is not None]
    return SimpleNamespace(
        label=np.concatenate([np.empty(0, np.uint8), *(piece.label for piece in pieces)]),
        score=np.concatenate([piece.scores[0] for piece in pieces] or [np.empty(0)]),
        group=None if group is None else rank[np.concatenate([np.empty(0, np.int64), *codes])],
        group_names=names,
    )


def read_ids(*given):
    """The ids of a list of actives, without their groups."""
    from hitcurve.sources.tables import read_actives

    return [one for _, one in read_actives(*given).listed]
