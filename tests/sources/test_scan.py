"""hc.scan against HitCurve on the same rows: every kind of source, what is kept where, and what is wrong."""

import gzip
import os
import subprocess
import sys
import textwrap
import tracemalloc
from datetime import date

import numpy as np
import pytest
from blocks import N, batches
from examples import few
from hypothesis import given
from hypothesis import strategies as st

import hitcurve as hc
from hitcurve.sources import opening as sources
from hitcurve.sources import scanning, tables
from hitcurve.sources.cells import Rules

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
arrow_csv = pytest.importorskip("pyarrow.csv")


@pytest.fixture(scope="module")
def table(items):
    y, s, q = items
    return pa.table({"active": y, "score": s, "query": q, "other": np.zeros(N)})


@pytest.fixture(scope="module")
def files(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("scan")
    parquet.write_table(table, folder / "a.parquet", row_group_size=4_000)
    arrow_csv.write_csv(table, folder / "a.csv")
    (folder / "parts" / "deep").mkdir(parents=True)
    parquet.write_table(table.slice(0, 11_111), folder / "parts" / "1.parquet", row_group_size=2_000)
    parquet.write_table(table.slice(11_111), folder / "parts" / "deep" / "2.parquet")
    (folder / "parts" / "_SUCCESS").write_text("")
    (folder / "parts" / ".1.parquet.crc").write_text("")
    return folder


def arrow_stream(table):
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=777))


def dataset(path):
    import pyarrow.dataset

    return pyarrow.dataset.dataset(path)


def polars_query(path):
    return pytest.importorskip("polars").scan_parquet(path)


def duckdb_query(path):
    return pytest.importorskip("duckdb").sql(f"select score, active from '{path}'")


SOURCES = {
    "parquet": lambda folder, table: str(folder / "a.parquet"),
    "path": lambda folder, table: folder / "a.parquet",
    "folder": lambda folder, table: folder / "parts",
    "glob": lambda folder, table: str(folder / "parts" / "**" / "*.parquet"),
    "list": lambda folder, table: [folder / "parts" / "1.parquet", folder / "parts" / "deep" / "2.parquet"],
    "table": lambda folder, table: table,
    "batch": lambda folder, table: table.combine_chunks().to_batches()[0],
    "stream": lambda folder, table: arrow_stream(table),
    "dataset": lambda folder, table: dataset(folder / "a.parquet"),
    "polars": lambda folder, table: polars_query(folder / "a.parquet"),
    "duckdb": lambda folder, table: duckdb_query(folder / "a.parquet"),
    "function": lambda folder, table: lambda: table.to_batches(max_chunksize=1_234),
}


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("kept", ["memory", "disk"])
@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_curve_of_the_rows(kind, kept, workers, files, table, items, monkeypatch):
    if kept == "disk":
        monkeypatch.setattr(scanning, "_HELD", 20_000)
    y, s, _ = items
    curve = hc.scan(SOURCES[kind](files, table), "active", "score", workers=workers)
    assert curve == hc.HitCurve(y, s)
    assert curve.score.dtype == np.float32


@pytest.mark.parametrize("kept", [scanning._HELD, 1_000])
def test_text_is_read_once_and_kept_as_numbers(kept, files, items, monkeypatch):
    monkeypatch.setattr(scanning, "_HELD", kept)
    read = []
    whole = sources.TableReader.batches
    monkeypatch.setattr(sources.TableReader, "batches", lambda *where: read.append(1) or whole(*where))
    y, s, _ = items
    text = np.array([str(x) for x in s.tolist()]).astype(float)
    expected = hc.HitCurve(y, pa.array(s).cast("string").cast("double").to_numpy())
    curve = hc.scan(files / "a.csv", "active", "score", workers=2)
    assert len(text) == N and curve == expected and len(read) == 1


def test_long_row_groups_are_read_in_pieces(files, items, monkeypatch):
    y, s, _ = items
    monkeypatch.setattr(sources, "_LONG_GROUP", 1_000)
    monkeypatch.setattr(sources, "_ROWS", 700)
    assert hc.scan(files / "a.parquet", "active", "score", workers=2) == hc.HitCurve(y, s)


scores = st.sampled_from([-np.inf, -1.5, -0.0, 0.0, 0.25, 1.0, np.inf, np.nan])


@few(25)
@given(
    st.lists(st.tuples(st.booleans(), scores), max_size=40),
    st.integers(1, 9),
    st.booleans(),
    st.sampled_from(["worst", "omit"]),
    st.integers(0, 2),
    st.sampled_from([1, 3]),
    st.sampled_from([np.float32, np.float64]),
)
def test_blocks_of_any_size_and_every_nan_policy(rows, size, lower, nan_policy, extra, workers, dtype):
    y = np.array([row[0] for row in rows], bool)
    s = np.array([row[1] for row in rows], dtype)
    options = {"lower_is_better": lower, "nan_policy": nan_policy}
    expected = hc.HitCurve(y, s, num_relevant=int(y.sum()) + extra, **options)
    options["num_relevant"] = int(y.sum()) + extra
    assert hc.scan(batches(y, s, size), workers=workers, **options) == expected
    assert hc.scan((y, s), workers=workers, actives=s[y], **options) == expected
    order = np.lexsort((s if lower else -s, np.isnan(s)))
    assert hc.scan(batches(y[order], s[order], size), sorted="score", **options) == expected
    if nan_policy == "worst":
        assert hc.scan((np.zeros((~y).sum()), s[~y]), actives=s[:0], lower_is_better=lower, nan_policy="worst") == \
            hc.HitCurve(y[~y], s[~y], lower_is_better=lower, nan_policy="worst")  # fmt: skip


rows_of_groups = st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.integers(0, 6)), min_size=1, max_size=60)


@few(25)
@given(rows_of_groups, st.integers(1, 9))
def test_groups_in_any_order(rows, size):
    y, s, q = (np.array(column) for column in zip(*rows, strict=True))
    expected = hc.HitCurves(y, s, qid=q)

    def source():
        return ((y[at : at + size], s[at : at + size], q[at : at + size]) for at in range(0, len(y), size))

    assert hc.scan((y, s, q)) == expected
    names = np.array([f"q{one}" for one in q.tolist()])
    assert hc.scan((y, s, names)) == hc.HitCurves(y, s, qid=names)
    if len(rows) > 1:
        assert hc.scan(source, group="ignored") == expected


@pytest.mark.parametrize("dtype", [np.bool_, np.int32, np.uint8])
def test_what_is_known_to_hold_no_hit_is_not_read_twice(dtype, tmp_path, monkeypatch):
    s = np.arange(10_000, dtype=np.float32)
    s[0] = np.inf
    y = (np.arange(10_000) // 1_000 == 7).astype(dtype)
    parquet.write_table(pa.table({"y": y, "s": s}), tmp_path / "a.parquet", row_group_size=1_000)
    read = []
    column = sources.Parquet._column
    monkeypatch.setattr(sources.Parquet, "_column", lambda *where: read.append(where[2:]) or column(*where))
    monkeypatch.setattr(scanning, "_HELD", 0)
    assert hc.scan(tmp_path / "a.parquet", "y", "s") == hc.HitCurve(y, s)
    assert sorted(read) == sorted([(group, [1]) for group in range(10)] + [(7, [0]), (7, [1])])
    parquet.write_table(pa.table({"y": np.zeros_like(y), "s": s}), tmp_path / "none.parquet")
    assert hc.scan(tmp_path / "none.parquet", "y", "s") == hc.HitCurve(0 * y, s)


def test_pandas_is_not_imported(tmp_path):
    """It takes longer than a scan of a million rows."""
    y = np.arange(100) % 7 == 0
    paths = [tmp_path / f"{dtype}.parquet" for dtype in ("bool", "int8")]
    for path in paths:
        parquet.write_table(pa.table({"y": y.astype(path.stem), "s": np.arange(100.0)}), path)
    code = """
        import sys, hitcurve.sources.scanning as scanning
        for path in sys.argv[1:]:
            for held in (scanning._HELD, 0):
                scanning._HELD = held
                scanning.scan(path, "y", "s", workers=2)
                assert "pandas" not in sys.modules, path
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code), *paths], check=True)


TEXTS = [
    ("a.csv", "y,s,i\n1,-1.5,a\n0,1e20,b\n", ["--label", "y"]),
    ("a.csv", "s,i\n-1.5,a\nNA,b\n2,c\n", ["--actives", "ids.txt", "--id", "i", "--nan", "worst", "--na", "-1.5"]),
    ("a.csv", "y,s,i\n1,7,a\n0,,b\n0,-9,c\n", ["--label", "y", "--best-per", "i", "--nan", "worst", "--na", "-9"]),
    ("a.tsv", "y\ts\tg\nyes\t1,5\tq\nno\t2,25\tq\n", ["--label", "y", "--positive", "yes", "--group", "g"]),
    ("a.csv", "y,s\n2,1\n0,.5\n", ["--grade", "y"]),
    ("a.sdf", "a\n\n\nM  END\n> <s>\n1.5\n\n$$$$\nb\n\n\nM  END\n$$$$\n",
     ["--actives", "ids.txt", "--id", "_Name", "--nan", "omit"]),
]  # fmt: skip


def test_reading_text_does_not_import_pandas(tmp_path):
    """Arrow does, where a function of it is given a Python number, or an array is made from a list."""
    (tmp_path / "ids.txt").write_text("a\n")
    given = []
    for at, (name, text, options) in enumerate(TEXTS):
        (tmp_path / f"{at}{name}").write_text(text)
        given.append(["table", f"{at}{name}", "--score", "s", *options])
    code = f"""
        import sys
        from hitcurve.cli.main import main
        for arguments in {given!r}:
            assert main(arguments) == 0, arguments
            assert "pandas" not in sys.modules, arguments
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, cwd=tmp_path)


def test_groups_from_files(files, items, monkeypatch):
    y, s, q = items
    expected = hc.HitCurves(y, s, qid=q)
    monkeypatch.setattr(scanning, "_HELD", 1_000)
    assert hc.scan(files / "a.parquet", "active", "score", "query", workers=2) == expected
    assert hc.scan(files / "a.csv", "active", "score", "query").average_precision() == pytest.approx(
        expected.average_precision(), rel=1e-14)  # fmt: skip
    order = np.argsort(q % 7 * 1000 + q, kind="stable")
    monkeypatch.setattr(scanning, "_TOGETHER", 500)
    assert hc.scan((y[order], s[order], q[order]), sorted="group") == expected


def test_relevant_items_beside_the_source(files, items):
    _, s, _ = items
    expected = hc.HitCurve(np.append(np.zeros(N), [1, 1, 1]), np.append(s, [0.5, 0.5, 9]).astype(np.float32))
    actives = np.array([0.5, 9, 0.5])
    for name in ("a.parquet", "a.csv"):
        curve = hc.scan(files / name, score="score", actives=actives, workers=2)
        assert [curve.above.tolist(), curve.tied.tolist(), curve.hits.tolist(), curve.num_items] == [
            expected.above.tolist(), expected.tied.tolist(), expected.hits.tolist(), N + 3]  # fmt: skip


def test_integers_then_fractions_are_compared_as_in_one_array(tmp_path):
    rng = np.random.default_rng(2)
    whole = rng.integers(0, 50, 40_000)
    lines = ["y,s", *(f"{i % 9 == 0:d},{x}" for i, x in enumerate(whole.tolist())), "1,2.5", "0,7.25"]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    y = np.append(np.arange(40_000) % 9 == 0, [1, 0])
    assert hc.scan(tmp_path / "a.csv", "y", "s") == hc.HitCurve(y, np.append(whole.astype(float), [2.5, 7.25]))
    large = np.array([2**53, 2**53 + 1, 2**62 + 1])
    assert hc.scan(([0, 1, 1], large)) == hc.HitCurve([0, 1, 1], large)


def test_the_counts_pass_32_bits():
    from hitcurve.curves.blocks import BlockCounter
    from hitcurve.curves.hit import curve_of

    counter = BlockCounter(np.array([1], np.float32))
    counter.add_between(1, (1 << 32) - 1_000)
    counter.add(np.full(5_000, 2, np.float32), "raise")
    assert counter.counts().tolist() == [0, 0, (1 << 32) + 4_000]
    one, other = counter.sibling(), counter.sibling()
    for each in (one, other):
        each.add_between(1, 1 << 31)  # 32 bits hold either's, but not both
    one.absorb(other)
    assert one.counts().tolist() == [0, 0, 1 << 32]
    one.absorb(counter)
    one.add(np.ones(1, np.float32), "raise")
    curve = curve_of(False, None, *one.table(np.array([1]), False, 0))
    above = (1 << 33) + 4_000
    assert (curve.num_items, curve.num_hits, curve.above.tolist(), curve.tied.tolist()) == (above + 1, 1, [above], [1])


@pytest.mark.slow
def test_the_counts_of_many_blocks_pass_32_bits():
    from hitcurve.curves.blocks import BlockCounter
    from hitcurve.curves.hit import curve_of

    counter = BlockCounter(np.array([1], np.float32))
    block = np.ones(1 << 24, np.float32)
    for _ in range(260):
        counter.add(block, "raise")
    assert counter.counts().tolist() == [0, 260 << 24, 0]
    other = counter.sibling()
    for _ in range(250):
        other.add(block[: 1 << 20], "raise")  # 32 bits hold either's, but not both
    other.absorb(counter)
    assert other.counts().tolist() == [0, (260 << 24) + (250 << 20), 0]
    curve = curve_of(False, None, *other.table(np.array([260 << 24]), False, 0))
    items, hits = (260 << 24) + (250 << 20), 260 << 24
    assert (curve.num_items, curve.num_hits, curve.tied.tolist(), curve.hits.tolist()) == (items, hits, [items], [hits])


def test_relevant_items_of_one_score_pass_32_bits(monkeypatch):
    """As if there were 2**32 more: with counts that wrap nobody would miss them when all items are counted."""
    whole = scanning.distinct

    def distinct(scores, own=False):
        cuts, hits, missing = whole(scores, own)
        return cuts, hits + 2**32, missing

    monkeypatch.setattr(scanning, "distinct", distinct)
    with pytest.raises(ValueError, match="changed between the passes"):
        hc.scan(([1, 0, 1], [2.0, 1.0, 2.0]))


# --- more relevant items than fit


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint64])
@pytest.mark.parametrize("lower_is_better", [False, True])
def test_exact_within_max_memory(dtype, lower_is_better):
    rng = np.random.default_rng(8)
    y = rng.random(1_500_000) < 0.25
    s = (rng.standard_normal(y.size) * 1e6 + (2**63 if dtype == np.uint64 else 0)).astype(dtype)
    limit = (24 if dtype == np.float32 else 30) << 20
    tracemalloc.start()  # sees what numpy and the kernels take
    try:
        curve = hc.scan(batches(y, s, 1 << 16), lower_is_better=lower_is_better, max_memory=limit, workers=2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < limit
    assert curve == hc.HitCurve(y, s, lower_is_better=lower_is_better)
    assert curve.score.dtype == dtype


def test_bins_where_the_relevant_do_not_fit():
    rng = np.random.default_rng(3)
    y = rng.random(200_000) < 0.3
    s = rng.standard_normal(200_000) + y
    expected = hc.HitCurve(y, s).average_precision()
    with pytest.raises(ValueError, match=r"59,782 relevant items needs .* max_memory=.* MiB, not 1\.0 MiB.*tolerance"):
        hc.scan((y, s), max_memory=1 << 20)
    with pytest.raises(ValueError, match=r"within .* more than tolerance=1e-09"):
        hc.scan((y, s), max_memory=1 << 20, tolerance=1e-9)
    curve = hc.scan((y, s), max_memory=1 << 20, tolerance=1e-2)
    assert curve.num_items == 200_000 and curve.num_hits == y.sum() and len(curve) < 12_000
    report = curve.tie_report()
    assert report.worst <= expected <= report.best
    assert abs(curve.average_precision() - expected) < 1e-3
    shuffled = rng.permutation(len(y))
    assert hc.scan(batches(y[shuffled], s[shuffled], 999), max_memory=1 << 20, tolerance=1e-2, workers=3) == curve
    low = hc.scan((y, -s), max_memory=1 << 20, tolerance=1e-2, lower_is_better=True)
    assert low.tie_report().worst <= expected <= low.tie_report().best


def test_bins_keep_true_ties_and_nan():
    rng = np.random.default_rng(4)
    y = rng.random(100_000) < 0.5
    s = rng.standard_normal(100_000).round(4)
    s[rng.random(100_000) < 0.05] = np.nan
    for policy in ("worst", "omit"):
        expected = hc.HitCurve(y, s, nan_policy=policy)
        curve = hc.scan((y, s), nan_policy=policy, max_memory=1 << 20, tolerance=0.1)
        assert (curve.num_items, curve.num_hits) == (expected.num_items, expected.num_hits)
        assert curve.tie_report().worst <= expected.average_precision() <= curve.tie_report().best


# --- what is wrong is named


def test_nan_in_a_file_is_named(tmp_path):
    s = np.arange(10_000, dtype=np.float32)
    y = np.arange(10_000) % 100 == 0
    s[[7_000, 9_000]] = np.nan
    parquet.write_table(pa.table({"y": y, "s": s}), tmp_path / "b.parquet", row_group_size=600)
    parquet.write_table(pa.table({"y": y, "s": np.zeros_like(s)}), tmp_path / "a.parquet")
    for workers in (1, 4):
        with pytest.raises(ValueError, match=r"b\.parquet: row 7001, column 's': the score is nan"):
            hc.scan(tmp_path, "y", "s", workers=workers)
    assert hc.scan(tmp_path, "y", "s", nan_policy="omit", workers=4).num_items == 19_998
    with pytest.raises(ValueError, match=r"source: row 7001: the score is nan"):
        hc.scan((y, s))
    with pytest.raises(ValueError, match=r"source: row 7001, column 's': the score is nan"):
        hc.scan(pa.table({"y": y, "s": s}), "y", "s")


def test_a_bad_label_is_named(tmp_path):
    y = np.zeros(5_000, np.int64)
    y[[4_321, 4_400]] = 3
    parquet.write_table(pa.table({"y": y, "s": np.zeros(5_000)}), tmp_path / "a.parquet", row_group_size=100)
    for workers in (1, 4):
        with pytest.raises(ValueError, match=r"a\.parquet: row 4322, column 'y': the label is 3"):
            hc.scan(tmp_path / "a.parquet", "y", "s", workers=workers)
    with pytest.raises(ValueError, match=r"row 4322: the label is 3"):
        hc.scan((y, np.zeros(5_000)))


def test_broken_files_are_named(files, tmp_path):
    whole = (files / "a.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"cut\.parquet: cannot be read"):
        hc.scan([files / "a.parquet", tmp_path / "cut.parquet"], "active", "score")
    (tmp_path / "worn.parquet").write_bytes(whole[:1_000] + b"\xff" * 20_000 + whole[21_000:])
    with pytest.raises(ValueError, match=r"worn\.parquet: row"):
        hc.scan(tmp_path / "worn.parquet", "active", "score", workers=2)
    packed = gzip.compress((files / "a.csv").read_bytes())
    (tmp_path / "cut.csv.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(ValueError, match=r"cut\.csv\.gz"):
        hc.scan(tmp_path / "cut.csv.gz", "active", "score", workers=2)
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv"):
        hc.scan(tmp_path / "nowhere.csv", "active", "score")
    with pytest.raises(ValueError, match=r"no file matches"):
        hc.scan(str(tmp_path / "*.pq"), "active", "score")


def test_a_schema_that_changes_between_files_is_named(table, tmp_path):
    parquet.write_table(table, tmp_path / "1.parquet")
    wider = table.set_column(1, "score", table["score"].cast("double"))
    parquet.write_table(wider, tmp_path / "2.parquet")
    for options in ({}, {"group": "query"}):
        with pytest.raises(ValueError, match=r"2\.parquet: column 'score' is of type double, but float in .*1\.pa"):
            hc.scan(tmp_path, "active", "score", **options)
    parquet.write_table(table.rename_columns(["active", "points", "query", "other"]), tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=r"2\.parquet: there is no column 'score'.*'points'"):
        hc.scan(tmp_path, "active", "score")


def test_a_source_that_changes_is_an_error():
    rng = np.random.default_rng(0)
    calls = []

    def source():
        calls.append(1)
        yield rng.random(100) < 0.5, rng.random(100)

    # A function is dear: what it gave is kept, and asked for once.
    assert hc.scan(source).num_items == 100 and len(calls) == 1
    # Where reading again is cheap and there are too many rows to keep, they are read twice.
    opened = sources._Batches(source, None, None, None, Rules(), rows=1 << 40, cheap=True)
    with pytest.raises(ValueError, match="changed between the passes"):
        scanning.Job(opened, scanning.ScanProgress(opened, 2, False), [False], "raise", 1).twice()


def test_promises_are_checked(items):
    y, s, q = items
    with pytest.raises(ValueError, match=r"row \d+: the score .* comes after .*: the rows are not sorted by score"):
        hc.scan((y, s), sorted="score")
    with pytest.raises(ValueError, match=r"row \d+: a group comes again after another group"):
        hc.scan((y, s, q), sorted="group")
    with pytest.raises(ValueError, match="is not among the actives"):
        hc.scan((y, s), actives=[100.0])
    with pytest.raises(ValueError, match=r"actives has 1 item with score 100\.0, but 0 relevant rows"):
        hc.scan((y, s), actives=np.append(s[y], 100))
    with pytest.raises(TypeError, match="cannot be compared exactly"):
        hc.scan(([0], np.array([0.1])), actives=np.array([1], np.float32))


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"sorted": "rank"}, ValueError, "sorted='rank'"),
        ({"sorted": "group"}, ValueError, "no group column"),
        ({"label": "y"}, ValueError, "tuple of arrays"),
        ({"workers": 0}, ValueError, "workers is 0"),
        ({"max_memory": 0}, ValueError, "max_memory is 0"),
        ({"tolerance": -1}, ValueError, "tolerance is -1"),
        ({"nan_policy": "drop"}, ValueError, "nan_policy='drop'"),
        ({"lower_is_better": 1}, TypeError, "lower_is_better"),
        ({"actives": ["a"]}, TypeError, "actives"),
    ],
)
def test_bad_options(options, error, text):
    with pytest.raises(error, match=text):
        hc.scan(([1, 0], [1.0, 0.0]), **options)


def test_bad_sources():
    with pytest.raises(TypeError, match="source is of type int"):
        hc.scan(3, "y", "s")
    with pytest.raises(TypeError, match="label must name the column"):
        hc.scan("a.csv", score="s")
    with pytest.raises(ValueError, match="different lengths, 2 and 1: each score"):
        hc.scan(([1, 0], [1.0]))
    with pytest.raises(TypeError, match=r"source is a tuple of int, float: object of type 'int' has no len"):
        hc.scan((1, 2.0))
    with pytest.raises(TypeError, match=r"source is a tuple of ndarray, ndarray: .*unsized"):
        hc.scan((np.array(1), np.array(2.0)))
    for label in (1.0, ["y"], b"y"):
        with pytest.raises(TypeError, match=r"source: column .* is of type .*: it must be a name or a number"):
            hc.scan(pa.table({"y": [1, 0], "s": [2.0, 1.0]}), label, "s")
    assert hc.scan(pa.table({"y": [1, 0], "s": [2.0, 1.0]}), np.int64(1), np.uint8(2)).num_items == 2
    with pytest.raises(TypeError, match="the batch is of type dict"):
        hc.scan(lambda: [{"y": 1}])
    with pytest.raises(TypeError, match="scores must be real numbers"):
        hc.scan(([1], ["a"]))


@pytest.mark.parametrize(
    ("batch", "group"),
    [(2, "q"), (1, None), ("short", "q"), ("short", None)],
    ids=["none", "alone", "short", "unasked"],
)
@pytest.mark.parametrize("sorted_", [None, "group"])
def test_batches_without_the_groups(batch, group, sorted_):
    y, s = np.array([True, False, True]), np.array([3.0, 2.0, 1.0])
    arrays = (y, s, np.zeros(2, int)) if batch == "short" else (y, s)[:batch]
    with pytest.raises(ValueError, match=r"source: row 1: .* (arrays|groups)|no group column"):
        hc.scan(lambda: iter([arrays]), group=group, sorted=sorted_)


@pytest.mark.parametrize("groups", [np.array([2**70, 1], object), np.ones(2, np.longdouble)], ids=["int", "longdouble"])
def test_groups_that_no_column_holds(groups):
    with pytest.raises(TypeError, match="source: row 1: groups of dtype"):
        hc.scan((np.array([True, False]), np.array([2.0, 1.0]), groups))


# --- types of scores


@pytest.mark.parametrize("statistics", [True, False])
@pytest.mark.parametrize("max_memory", [None, 1_000])
@pytest.mark.parametrize("nan_policy", ["omit", "worst"])
@pytest.mark.parametrize(("lower_is_better", "workers"), [(True, 1), (False, 2)])
def test_integers_with_empty_cells_where_nothing_is_relevant(
    statistics, max_memory, nan_policy, lower_is_better, workers, tmp_path
):
    y = np.array([1] * 5 + [0] * 95)
    s = [50, 49, 48, 47, 46, *range(45), *[None] * 50]
    table = pa.table({"y": y, "s": pa.array(s, pa.int64())})
    parquet.write_table(table, tmp_path / "n.parquet", row_group_size=50, write_statistics=statistics)
    options = {"nan_policy": nan_policy, "lower_is_better": lower_is_better}
    expected = hc.HitCurve(y, np.array(s, float), **options)
    curve = hc.scan(tmp_path / "n.parquet", "y", "s", max_memory=max_memory, workers=workers, **options)
    assert curve == expected and curve.average_precision() == expected.average_precision()
    assert curve.num_items == (50 if nan_policy == "omit" else 100)
    actives = [46, 50, 48, 47, 49]
    assert hc.scan(tmp_path / "n.parquet", "y", "s", actives=actives, **options) == expected


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nan_without_any_relevant_row(dtype, tmp_path):
    s = np.array([1, np.nan, 2.5] * 50, dtype)
    y = np.zeros(150, np.int64)
    parquet.write_table(pa.table({"y": y, "s": s}), tmp_path / "n.parquet", row_group_size=50)
    for policy, number in (("omit", 100), ("worst", 150)):
        for limit in (None, 100):
            curve = hc.scan(tmp_path / "n.parquet", "y", "s", nan_policy=policy, max_memory=limit)
            assert curve == hc.HitCurve(y, s, nan_policy=policy) and curve.num_items == number


def test_thresholds_are_made_in_the_type_of_all_scores(tmp_path):
    # Of one array, float64, which does not hold the large integer.
    for large in (2**53 + 1, 2**53 + 2):
        table = pa.table({"y": [1, 0, 0], "s": pa.array([large, 2**53, None], pa.int64())})
        for statistics in (True, False):
            parquet.write_table(table, tmp_path / "n.parquet", row_group_size=1, write_statistics=statistics)
            options = {"nan_policy": "omit", "max_memory": 1_000}
            if large == 2**53 + 1:
                with pytest.raises(ValueError, match=r"row \d.*float64.*cannot hold .*9007199254740993"):
                    hc.scan(tmp_path / "n.parquet", "y", "s", **options)
            else:
                curve = hc.scan(tmp_path / "n.parquet", "y", "s", **options)
                assert curve == hc.HitCurve([1, 0, 0], np.array([large, 2.0**53, np.nan]), nan_policy="omit")


@pytest.mark.parametrize(
    "parts",
    [
        [([1], [0.5]), ([0], [0])],
        [([1], np.array([0.7])), ([0], np.array([0.7], "f4"))],
        [([0], np.array([0.7])), ([1], np.array([0.7], "f4"))],
        [([1], np.array([2**63], np.uint64)), ([0], np.array([5])), ([1], np.array([5], np.uint64))],
        [([0, 1], np.array([7, 3])), ([1, 0], [3.0, 2.5]), ([1], np.array([2], np.uint8))],
        [([1], np.array([1.0], "f4")), ([0], np.array([1], "i2")), ([1], np.array([1 - 1e-9]))],
    ],
)
def test_sorted_scores_of_several_types(parts):
    y = np.concatenate([labels for labels, _ in parts])
    s = np.concatenate([np.asarray(score) for _, score in parts])
    curve = hc.scan(lambda: parts, sorted="score")
    assert curve == hc.HitCurve(y, s) == hc.scan(lambda: parts)
    assert curve.average_precision(ties="worst") == hc.HitCurve(y, s).average_precision(ties="worst")


def test_sorted_integers_that_no_float_holds():
    parts = [([1, 0], np.array([2**53 + 1, 2**53])), ([0], [0.5])]
    with pytest.raises(ValueError, match=r"source: row 3: scores of dtype float64 follow .* int64, and no type holds"):
        hc.scan(lambda: parts, sorted="score")


@pytest.mark.parametrize("groups", [[1, 1, 2, 2], [0.5, 0.5, 1.5, 1.5], ["a", "a", "b", "b"]])
def test_groups_of_another_byte_order(groups):
    y, s, groups = np.array([1, 0, 0, 1]), np.array([4.0, 3, 2, 1]), np.array(groups)
    swapped = groups.astype(groups.dtype.newbyteorder())
    assert hc.scan((y, s, swapped)) == hc.scan((y, s, groups)) == hc.HitCurves(y, s, qid=swapped)
    assert hc.scan(lambda: [(y, s, swapped)], group=3).qid.tolist() == sorted({*groups.tolist()})


def test_no_integer_of_a_list_is_rounded():
    with pytest.raises(ValueError, match=r"y_score\[0\] is 9007199254740993: no array type holds all of y_score"):
        hc.scan(([1, 0, 0], [2**53 + 1, 2**53, 0.5]))
    with pytest.raises(ValueError, match=r"source: row 1: y_score\[0\] is 9007199254740993"):
        hc.scan(lambda: [([1, 0, 0], [2**53 + 1, 2**53, 0.5])])
    with pytest.raises(TypeError, match=r"y_score\[1\] is None of type NoneType: scores must be real numbers"):
        hc.scan(([1, 0], [1.0, None]))
    with pytest.raises(TypeError, match=r"y_true\[1\] is None of type NoneType: labels must be 0 or 1"):
        hc.scan(([1, None], [1.0, 2.0]))


@pytest.mark.parametrize("at", [0, 1, 2])
def test_masked_arrays_are_refused(at):
    with pytest.raises(ValueError, match="actives is a masked array with 1 masked entry"):
        hc.scan(([1, 0], [2.0, 1.0]), actives=np.ma.array([2.0, 9.0], mask=[False, True]))
    arrays = [np.array([1, 0]), np.array([2.0, 1.0]), np.array([5, 5])]
    arrays[at] = np.ma.array(arrays[at], mask=[False, True])
    for source in (tuple(arrays), lambda: [tuple(arrays)]):
        with pytest.raises(ValueError, match="masked array with 1 masked entry: leave them out, or fill them"):
            hc.scan(source, group=None if isinstance(source, tuple) else 3)


# --- labels, and what names them


@pytest.mark.parametrize(
    ("actives", "scores"),
    [
        (np.array([2**60], np.uint64), np.array([2**60, -1, 5])),
        (np.array([2**60]), np.array([2**60, 2**63 + 5, 5], np.uint64)),
        (np.array([2**60]), np.array([2.0**60, 2.0**63, 5])),
    ],
)
def test_scores_beyond_the_type_of_the_actives(actives, scores):
    """They are not wrapped to its other end."""
    with pytest.raises(TypeError, match="cannot be compared exactly with actives of dtype"):
        hc.scan(([1, 0, 0], scores), actives=actives)
    assert hc.scan(([1, 0, 0], scores), actives=actives.astype(scores.dtype)) == hc.HitCurve([1, 0, 0], scores)


@pytest.mark.parametrize("nan_policy", ["worst", "omit"])
def test_actives_without_a_score(nan_policy):
    y, s = np.array([1, 1, 0, 0]), np.array([3, np.nan, 2, np.nan])
    expected = hc.HitCurve(y, s, nan_policy=nan_policy)
    for source in ((y, s), lambda: [(y, s)]):
        assert hc.scan(source, actives=[np.nan, 3.0], nan_policy=nan_policy) == expected
    table = pa.table({"s": s[2:]})
    assert hc.scan(lambda: [table], score="s", actives=[np.nan, 3.0], nan_policy=nan_policy) == expected


def test_batches_of_a_function_are_labelled():
    for source in (([1, 0], [2.0, 1.0]), lambda: [([1, 0], [2.0, 1.0])]):
        curve = hc.scan(source, actives=[2.0])
        assert curve == hc.HitCurve([1, 0], [2, 1.0]) and curve.num_items == 2
    table = pa.table({"y": [1, 0], "s": [2.0, 1.0]})
    assert hc.scan(lambda: [table], "y", "s", actives=[2.0]).num_items == 2
    assert hc.scan(lambda: [table], score="s", actives=[2.0]).num_items == 3
    with pytest.raises(TypeError, match="label must name the column"):
        hc.scan(lambda: [table], score="s")


def test_names_of_columns_beside_tuples():
    for options in ({"label": "y"}, {"score": "s"}, {"label": 1, "score": 2}):
        with pytest.raises(ValueError, match="label and score name columns, but the source gives tuples"):
            hc.scan(lambda: [([1], [2.0])], **options)
    with pytest.raises(ValueError, match=r"the batch has 2 arrays"):
        hc.scan(lambda: [([1], [2.0])], group=1)
    with pytest.raises(ValueError, match=r"the batch has 3 arrays, but group is not given: write group=3"):
        hc.scan(lambda: [([1], [2.0], [7])])
    assert hc.scan(lambda: [([1], [2.0], [7])], group=3).qid.tolist() == [7]


@pytest.mark.parametrize("frames", ["pandas", "polars"])
def test_a_function_of_frames(frames, items):
    module = pytest.importorskip(frames)
    y, s, q = items
    whole = module.DataFrame({"y": y, "s": s, "q": np.char.add("q", q.astype(str))})

    def source():
        return (whole[at : at + 7_000] for at in range(0, N, 7_000))

    assert hc.scan(source, "y", "s") == hc.HitCurve(y, s)
    assert hc.scan(source, "y", "s", "q") == hc.HitCurves(y, s, qid=np.char.add("q", q.astype(str)))


def test_columns_of_a_frame(items):
    y, s, q = items
    frame = pytest.importorskip("pandas").DataFrame({"y": y, "s": s, "q": q})
    assert hc.scan((frame["y"], frame["s"], frame["q"])) == hc.HitCurves(y, s, qid=q)
    assert hc.scan((frame["y"], frame["s"])) == hc.HitCurve(y, s)


def test_a_scanner(files, items):
    assert hc.scan(dataset(files / "a.parquet").scanner(), "active", "score") == hc.HitCurve(*items[:2])


def test_a_query_without_the_column(files):
    for source in (polars_query(files / "a.parquet"), dataset(files / "a.parquet")):
        with pytest.raises(ValueError, match=r"there is no column 'scores'; did you mean 'score'.*'query', 'other'"):
            hc.scan(source, "active", "scores")


@pytest.mark.parametrize(
    ("cells", "name"),
    [
        (pa.array([[1], [2]]), "list"),
        (pa.array([{"a": 1}, {"a": 2}]), "struct"),
        (pa.array([b"\xff", b"a"]), "binary"),
        (pa.array([b"\xff", b"a"]).dictionary_encode(), "dictionary"),
    ],
)
def test_groups_that_have_no_name(cells, name, tmp_path):
    table = pa.table({"y": [1, 0], "s": [2.0, 1.0], "q": cells})
    parquet.write_table(table, tmp_path / "a.parquet")
    for source in (table, lambda: [table], tmp_path / "a.parquet"):
        with pytest.raises(ValueError, match=f"column 'q': the column holds {name}.*: groups must be numbers or texts"):
            hc.scan(source, "y", "s", "q")


@pytest.mark.parametrize("groups", [["a", None], [None, 2], [np.nan, 2.5], np.array([None, "a"], object)])
def test_groups_without_a_name(groups):
    for source in (([1, 0], [2.0, 1.0], groups), lambda: [([1, 0], [2.0, 1.0], groups)]):
        with pytest.raises(ValueError, match=r"source: row [12]: the group is empty"):
            hc.scan(source, group=None if isinstance(source, tuple) else 3)


def test_groups_that_are_no_unicode():
    y, s, groups = [1, 0], [2.0, 1.0], ["b", "a\ud800"]
    for given_ in (groups, np.array(groups), np.array(groups, object)):
        for source in ((y, s, given_), lambda given_=given_: [(y, s, given_)]):
            with pytest.raises(ValueError, match=r"source: row 2: the group 'a\\ud800' holds a lone surrogate"):
                hc.scan(source, group=None if isinstance(source, tuple) else 3)
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"y": y, "s": s, "q": pd.Series(groups, dtype=object)})
    with pytest.raises(ValueError, match=r"source: row 1 or below: 'a\\ud800' holds a lone surrogate"):
        hc.scan(lambda: [frame], "y", "s", "q")


def test_names_of_groups_keep_their_digits():
    large = 2**63 + 1
    y, s, q = [1, 0, 1], [3.0, 2.0, 1.0], [large, 5, large]
    curves = hc.scan(pa.table({"y": y, "s": s, "q": pa.array(q, pa.uint64())}), "y", "s", "q")
    assert curves.qid.tolist() == [5, large] and curves.qid.dtype == np.uint64
    for source in ((y, s, q), (y, s, np.array(q, np.uint64)), lambda: [(y[:1], s[:1], q[:1]), (y[1:], s[1:], q[1:])]):
        assert hc.scan(source, group=None if isinstance(source, tuple) else 3).qid.tolist() == [5, large]
    parts = [(y[:1], s[:1], q[:1]), (y[1:2], s[1:2], [-5]), (y[2:], s[2:], q[2:])]
    assert hc.scan(lambda: parts, group=3).qid.tolist() == [-5, large]


@pytest.mark.parametrize(
    "groups",
    [["a\0", "a", "a\0"], [b"\xff", b"a", b"\xff"], ["a", "b\0", "b"], [10, 9.5, 10], [2**63 + 1, 5, 0]],
    ids=repr,
)
def test_groups_are_those_of_curves(groups):
    y, s = [1, 0, 1], [3.0, 2.0, 1.0]
    expected = hc.HitCurves(y, s, qid=groups)
    rows = [([y[i]], [s[i]], [groups[i]]) for i in range(3)]
    given = [(y, s, groups), lambda: [(y, s, tuple(groups))], lambda: rows]
    if isinstance(groups[0], str):
        given.append(pa.table({"y": y, "s": s, "q": groups}))
    for source in given:
        names = ("y", "s", "q") if isinstance(source, pa.Table) else ()
        curves = hc.scan(source, *names, **({"group": 3} if callable(source) else {}))
        assert curves == expected and curves.qid.tolist() == expected.qid.tolist()
        assert curves.qid.dtype == expected.qid.dtype


def test_texts_and_numbers_are_no_groups_together():
    for groups in (["1", 1], [1, "1"], ["a", np.nan], ["a", b"a"]):
        with pytest.raises((TypeError, ValueError), match=r"source: (row 1: )?groups\[[01]\] is .*but other"):
            hc.scan(([1, 0], [2.0, 1.0], groups))
        with pytest.raises((TypeError, ValueError), match=r"source: row 1: groups\[[01]\] is .*but other"):
            hc.scan(lambda groups=groups: [([1, 0], [2.0, 1.0], groups)], group=3)


@pytest.mark.parametrize("sorted_", [None, "group"])
@pytest.mark.parametrize(
    "groups",
    [([1], ["1"]), ([True], [1]), ([1.0], [True]), (["1"], [1]), (["2020-01-01"], [date(2020, 1, 1)])],
)
def test_groups_of_two_batches_that_only_look_alike(groups, sorted_, tmp_path):
    frames = [pa.table({"y": [1, 0], "s": [2.0, 1.0], "q": pa.array(2 * one)}) for one in groups]
    with pytest.raises(ValueError, match=r"column 'q': the group is .*, but .* came before: give all groups one type"):
        hc.scan(lambda: frames, "y", "s", "q", sorted=sorted_)
    if not isinstance(groups[1][0], date):
        arrays = [([1, 0], [2.0, 1.0], np.array(2 * one)) for one in groups]
        with pytest.raises(ValueError, match=r"source: row 3: the group is .*, but .* came before"):
            hc.scan(lambda: arrays, group=3, sorted=sorted_)
    paths = [tmp_path / name for name in ("a.parquet", "b.parquet")]
    for path, frame in zip(paths, frames, strict=True):
        parquet.write_table(frame, path)
    with pytest.raises(ValueError, match=r"b\.parquet: column 'q': the group is .*, but .* came before"):
        list(tables.TableReader(paths, "y", ["s"], "q"))


def test_groups_of_several_types_that_are_equal_numbers():
    groups = [np.array([1], np.int8), np.array([1.0]), np.array([1], np.uint64), [2], [2.0]]
    curves = hc.scan(lambda: [([1], [at], one) for at, one in enumerate(groups)], group=3)
    assert curves.qid.tolist() == [1, 2] and curves.num_items.tolist() == [3, 2]


def test_columns_of_one_name(tmp_path, monkeypatch):
    columns = [np.array([1, 0, 0]), np.array([3.0, 2.0, 1.0]), np.array([1.0, 2.0, 3.0])]
    table = pa.Table.from_arrays([pa.array(one) for one in columns], ["y", "s", "s"])
    parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="2 columns are called 's'; give a number: 2, 3"):
        hc.scan(tmp_path / "a.parquet", "y", "s")
    for number in (2, 3):
        expected = hc.HitCurve(columns[0], columns[number - 1])
        assert hc.scan(tmp_path / "a.parquet", 1, number) == expected
    # A column with a dot in its name is not the field of another.
    inner = pa.array([{"t": 9.0, "u": 0}] * 3)
    table = pa.table({"q": inner, "q.t": columns[1], "y": columns[0]})
    parquet.write_table(table, tmp_path / "b.parquet")
    for rows in (sources._LONG_GROUP, 1):
        monkeypatch.setattr(sources, "_LONG_GROUP", rows)
        assert hc.scan(tmp_path / "b.parquet", "y", "q.t") == hc.HitCurve(*columns[:2])
        for label, score in (("y", "q"), ("q", "q.t"), ("q", "q")):
            with pytest.raises(ValueError, match="column 'q': the column holds struct"):
                hc.scan(tmp_path / "b.parquet", label, score)


# --- files that are not what they were


@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_file_that_changes_is_an_error(workers, in_place, tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    y, s = np.arange(2_000) % 5 == 0, np.arange(2_000.0)
    monkeypatch.setattr(scanning, "_HELD", 10)

    def write(s, path):
        parquet.write_table(pa.table({"y": y, "s": s}), path, row_group_size=500, compression="none")

    def change(self, rows, whole=scanning.ScanProgress.next_pass):
        whole(self, rows)
        before = os.stat(path)
        write(s[::-1], path if in_place else tmp_path / "b.parquet")
        if not in_place:
            os.replace(tmp_path / "b.parquet", path)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + (1 if in_place else 0)))

    write(s, path)
    assert hc.scan(path, "y", "s") == hc.HitCurve(y, s)
    monkeypatch.setattr(scanning.ScanProgress, "next_pass", change)
    with pytest.raises(ValueError, match=r"a\.parquet: changed while it was read"):
        hc.scan(path, "y", "s", workers=workers)


def test_checksums_of_pages_are_looked_at(tmp_path):
    path = tmp_path / "a.parquet"
    table = pa.table({"y": np.arange(1_000) % 7 == 0, "s": np.arange(1_000.0)})
    parquet.write_table(table, path, compression="none", use_dictionary=False, write_page_checksum=True)
    data = path.read_bytes()
    at = data.index(np.float64(500).tobytes())
    path.write_bytes(data[:at] + np.float64(501).tobytes() + data[at + 8 :])
    with pytest.raises(ValueError, match=r"a\.parquet: rows 1 to 1000: .*checksum"):
        hc.scan(path, "y", "s")


def test_places_are_those_of_the_file(tmp_path):
    (tmp_path / "1.csv").write_text("y,s,q\n1,9,a\n0,8,a\n")
    (tmp_path / "2.csv").write_text("y,s,q\n0,7,b\n1,,b\n0,5,b\n1,6,a\n")
    with pytest.raises(ValueError, match=r"2\.csv: row 4 \(line 5\): the score 6\.0 comes after 5\.0"):
        hc.scan(tmp_path, "y", "s", sorted="score", nan_policy="omit")
    with pytest.raises(ValueError, match=r"2\.csv: row 4 \(line 5\): a group comes again after another group"):
        hc.scan(tmp_path, "y", "s", "q", sorted="group", nan_policy="omit")
    with pytest.raises(ValueError, match=r"2\.csv: row 4 \(line 5\): a relevant item has score 6\.0.*not among"):
        hc.scan(tmp_path, "y", "s", actives=[9.0, np.nan], nan_policy="omit")
    y, s = np.arange(100) % 50 == 49, np.full(100, 0.1, np.float32)
    for name in ("1.parquet", "2.parquet"):
        parquet.write_table(pa.table({"y": y, "s": s if name[0] == "2" else s * 2}), tmp_path / name, row_group_size=20)
    paths = [tmp_path / "1.parquet", tmp_path / "2.parquet"]
    text = (
        r"2\.parquet: row 50: a relevant item has score 0\.10000000149011612 \(float32; the actives are float64\), "
        "which is not among the actives"
    )
    with pytest.raises(ValueError, match=text):
        hc.scan(paths, "y", "s", actives=[0.1, float(np.float32(0.2))])


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"workers": 1.5}, TypeError, r"workers must be a whole number, got 1\.5"),
        ({"workers": None}, TypeError, "workers must be a whole number, got None"),
        ({"workers": True}, TypeError, "workers must be a whole number, got True"),
        ({"max_memory": "1GB"}, TypeError, "max_memory must be a whole number, got '1GB'"),
        ({"max_memory": float("nan")}, TypeError, "max_memory must be a whole number, got nan"),
        ({"max_memory": 1e5}, TypeError, r"max_memory must be a whole number, got 100000\.0"),
        ({"tolerance": "x"}, TypeError, "tolerance must be a number, got 'x'"),
        ({"tolerance": float("nan")}, ValueError, "tolerance is nan"),
    ],
)
def test_options_of_a_wrong_type(options, error, text):
    with pytest.raises(error, match=text):
        hc.scan(([1, 0], [1.0, 0.0]), **options)


def test_groups_in_any_byte_order():
    y, s, groups = np.array([1, 0, 1, 0]), np.array([4.0, 3, 2, 1]), np.array([1, 1, 2, 2])
    for kind in ("i8", "u4", "f8", "U3"):
        swapped = groups.astype(np.dtype(kind).newbyteorder("S"))
        assert hc.scan((y, s, swapped)) == hc.scan((y, s, groups.astype(kind)))


@pytest.mark.parametrize("chunks", [0, 1, 2])
def test_a_batch_of_several_chunks(chunks):
    y, s, g = np.tile([1, 0, 0], chunks), np.arange(3.0 * chunks), np.array(["a", "b", "a"] * chunks)
    rows = pa.table({"y": [1, 0, 0], "g": ["a", "b", "a"]})
    table = pa.concat_tables([rows] * chunks or [rows.slice(0, 0)]).append_column("s", pa.array(s))
    assert hc.scan(lambda: [table], "y", "s") == hc.HitCurve(y, s)
    assert hc.scan(lambda: [table], "y", "s", "g") == hc.HitCurves(y, s, qid=g)
