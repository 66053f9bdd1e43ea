"""Rows in batches, for the tests of scans."""

from types import SimpleNamespace

import numpy as np

N = 30_000


def batches(y, s, size, *groups):
    return lambda: (tuple(one[at : at + size] for one in (y, s, *groups)) for at in range(0, len(y), size))


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
