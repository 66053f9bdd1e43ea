"""A library: compounds that left no row rank last, with the bits of a table that has them as rows without a score."""

import csv
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_dialects import workbook

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

import hitcurve as hc  # noqa: E402
from hitcurve.sources.cells import Actives, Layout  # noqa: E402
from hitcurve.sources.library import library_of  # noqa: E402
from hitcurve.sources.opening import _Batches  # noqa: E402
from hitcurve.sources.screen import read_screen  # noqa: E402
from hitcurve.sources.tables import TableReader  # noqa: E402


def write(path, columns, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([columns, *rows])
    return path


def screen(seed, n=300, groups=0, integers=False):
    """(group, id, label, score) of all compounds; and which of them have a row."""
    rng = np.random.default_rng(seed)
    label = (rng.random(n) < 0.15).astype(int)
    score = np.round(rng.normal(size=n) + label, 1)
    score = (10 * score).astype(int) if integers else score
    group = rng.choice(["a", "b", "c"][: groups or 1], n)
    columns = zip(group, label, score, strict=True)
    rows = [[str(one), f"c{at}", int(y), s.item()] for at, (one, y, s) in enumerate(columns)]
    return rows, rng.random(n) < 0.9 - 0.2 * label


def written_out(rows, docked):
    """Labels, scores with NaN for the compounds without a row, groups."""
    return (np.array([row[2] for row in rows]), np.where(docked, [float(row[3]) for row in rows], np.nan),
            np.array([row[0] for row in rows]))  # fmt: skip


def part(rows, docked):
    return [row for row, there in zip(rows, docked, strict=True) if there]


@pytest.fixture(params=["kept", "counted"])
def memory(request, monkeypatch):
    if request.param == "counted":
        monkeypatch.setattr("hitcurve.sources.scanning._HELD", -1)
    monkeypatch.setattr("hitcurve.sources.tables._PARQUET_ROWS", 50)
    monkeypatch.setattr("hitcurve.sources.library._BLOCK", 7)


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("how", ["count", "file", "mapping", "ids"])
def test_the_curve_of_the_table_that_is_written_out(how, suffix, integers, workers, tmp_path):
    rows, docked = screen(1, integers=integers)
    y, s, _ = written_out(rows, docked)
    there = part(rows, docked)
    np.random.default_rng(2).shuffle(there)
    columns, path = ["g", "id", "y", "s"], tmp_path / f"t{suffix}"
    if suffix == ".csv":
        write(path, columns, there)
    else:
        made = dict(zip(columns, map(list, zip(*there, strict=True)), strict=True))
        parquet.write_table(pa.table(made), path, row_group_size=40)
    library = write(tmp_path / "library.csv", columns[:3], [row[:3] for row in reversed(rows)])
    options = {
        "count": {"library": len(rows), "num_actives": int(y.sum())},
        "file": {"library": library, "id": "id"},
        "mapping": {"library": {row[1]: row[2] for row in rows}, "id": "id"},
        "ids": {"library": [row[1] for row in rows], "num_actives": int(y.sum()), "id": "id"},
    }[how]
    for lower in (False, True):
        expected = hc.HitCurve(y, s, nan_policy="worst", lower_is_better=lower)
        found = hc.scan(path, "y", "s", lower_is_better=lower, workers=workers, **options)
        assert found == expected
        assert found.score.dtype == expected.score.dtype
        assert found.average_precision() == expected.average_precision()


@pytest.mark.parametrize("kind", ["table", "pandas", "polars", "batches"])
def test_frames(kind):
    rows, docked = screen(3)
    y, s, _ = written_out(rows, docked)
    frame = pa.table(dict(zip(["g", "id", "y", "s"], map(list, zip(*part(rows, docked), strict=True)), strict=True)))
    source = {
        "table": lambda: frame, "pandas": lambda: pytest.importorskip("pandas") and frame.to_pandas(),
        "polars": lambda: pytest.importorskip("polars").from_arrow(frame),
        "batches": lambda: lambda: iter(frame.to_batches(max_chunksize=17)),
    }[kind]()  # fmt: skip
    labels = {row[1]: row[2] for row in rows}
    expected = hc.HitCurve(y, s, nan_policy="worst")
    assert hc.scan(source, "y", "s", id="id", library=labels) == expected
    assert hc.scan(source, None, "s", id="id", library=labels) == expected  # labels of the library
    assert hc.scan(source, "y", "s", library=len(rows), num_actives=int(y.sum())) == expected
    if kind == "batches":
        return
    # The library is a frame too.
    every = pa.table({"id": [row[1] for row in rows], "y": [row[2] for row in rows], "g": [row[0] for row in rows]})
    as_kind = {"table": lambda one: one, "pandas": lambda one: one.to_pandas(),
               "polars": lambda one: pytest.importorskip("polars").from_arrow(one)}[kind]  # fmt: skip
    assert hc.scan(source, "y", "s", id="id", library=as_kind(every)) == expected
    assert hc.scan(as_kind(frame.drop_columns("y")), "y", "s", id="id", library=as_kind(every)) == expected
    number = int(y.sum())
    ids = as_kind(every.select(["id"]))
    assert hc.scan(source, "y", "s", id="id", library=ids, num_actives=number) == expected
    with pytest.raises(ValueError, match="library: there is no column 'id'"):
        hc.scan(source, "y", "s", id="id", library=as_kind(every.select(["y"])))
    with pytest.raises(ValueError, match="library: compound 2, column 'y': the label is 7"):
        hc.scan(source, "y", "s", id="id", library=as_kind(pa.table({"id": ["a", "b"], "y": [1, 7]})))


def test_a_list_of_files_is_no_list_of_ids(tmp_path):
    path = write(tmp_path / "l.csv", ["id", "y"], [["a", 1]])
    with pytest.raises(ValueError, match=r"library is a list of ids, but '.* is a file: give one file"):
        hc.scan(path, "y", "s", id="id", library=[path])


@pytest.mark.parametrize("nan_policy", ["raise", "worst"])
@pytest.mark.parametrize("sorted_", [None, "score"])
def test_arrays_and_rows_without_a_score_are_one_tie_group(nan_policy, sorted_):
    y, s = np.array([1, 0, 1, 0, 1]), np.array([3.0, 2.0, 2.0, 1.0, 1.0])
    if nan_policy == "worst":
        s[3:] = np.nan
    more = hc.HitCurve([*y, 1, 0, 0], [*s, *[np.nan] * 3], nan_policy="worst")
    assert hc.scan((y, s), library=8, num_actives=4, nan_policy=nan_policy, sorted=sorted_) == more
    with pytest.raises(ValueError, match="is nan"):
        hc.scan((y, np.where(y == 1, np.nan, s)), library=8, num_actives=4)


@given(st.integers(0, 10**6), st.integers(0, 6), st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_between_the_worst_and_the_best_order(seed, left, items):
    rng = np.random.default_rng(seed)
    y, s = rng.integers(0, 2, items), rng.integers(0, 3, items)
    hidden = rng.integers(0, 2, left)
    curve = hc.scan((y, s), library=items + left, num_actives=int(y.sum() + hidden.sum()))
    assert curve == hc.HitCurve([*y, *hidden], [*s.astype(float), *[np.nan] * left], nan_policy="worst")
    if curve.num_relevant and left <= 5:
        # The expected AP is the mean over the orders of the compounds without a row, which are below all rows.
        orders = [
            hc.HitCurve([*y, *order], [*s.astype(float), *-np.arange(1.0, left + 1)]).average_precision()
            for order in permutations(hidden.tolist())
        ]
        assert curve.average_precision() == pytest.approx(np.mean(orders), abs=1e-12)
        low, high = (curve.average_precision(ties=ties) for ties in ("worst", "best"))
        assert low - 1e-12 <= min(orders) <= max(orders) <= high + 1e-12


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("column", [True, False])
def test_each_group_has_the_compounds_of_the_file(column, workers, tmp_path):
    rows, docked = screen(4, groups=3)
    if not column:  # every target has all compounds
        rows = [[group, *row[1:]] for row in rows for group in "abc"]
        docked = np.random.default_rng(5).random(len(rows)) < 0.8
    y, s, g = written_out(rows, docked)
    path = write(tmp_path / "t.csv", ["g", "id", "y", "s"], part(rows, docked))
    listed = [row[:3] for row in rows] if column else [["", *row[1:3]] for row in rows[::3]]
    library = write(tmp_path / "l.csv", ["g" if column else "other", "id", "y"], listed)
    found = hc.scan(path, "y", "s", "g", id="id", library=library, workers=workers)
    assert found == hc.HitCurves(y, s, qid=g, nan_policy="worst")


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("suffix", ["csv", "parquet", "frame"])
def test_labels_of_a_compound_that_is_active_for_some_targets_only(suffix, workers, tmp_path):
    """The library's labels count for its group, also if all targets have the same compounds."""
    rows, docked = screen(8, groups=3)
    rng = np.random.default_rng(9)
    rows = [[group, one, int(rng.random() < 0.2), score] for _, one, _, score in rows for group in "cab"]
    docked = rng.random(len(rows)) < 0.8
    y, s, g = written_out(rows, docked)
    library = write(tmp_path / "l.csv", ["g", "id", "y"], [row[:3] for row in rows])
    there = [[row[0], row[1], row[3]] for row in part(rows, docked)]
    columns = dict(zip(["g", "id", "s"], map(list, zip(*there, strict=True)), strict=True))
    if suffix == "csv":
        source = write(tmp_path / "t.csv", ["g", "id", "s"], there)
    elif suffix == "parquet":
        source = tmp_path / "t.parquet"
        parquet.write_table(pa.table(columns), source)
    else:
        known = {name: [row[1] for row in rows if row[0] == name and row[2]] for name in "abc"}
        source = _Batches(lambda: iter([pa.table(columns)]), None, "s", "g", Layout().rules("worst", False), ids="id",
                          known=Actives(known))  # fmt: skip
        found = np.concatenate([piece.label for task in source.tasks("rows") for piece in task()])
        assert found.tolist() == y[docked].tolist()
        return
    found = hc.scan(source, "y", "s", "g", id="id", library=library, workers=workers)
    assert found == hc.HitCurves(y, s, qid=g, nan_policy="worst")


def test_levels(tmp_path):
    rows, docked = screen(6, groups=2)
    rng = np.random.default_rng(7)
    rows = [[*row[:2], int(row[2] * rng.integers(1, 4)), row[3]] for row in rows]
    y, s, g = written_out(rows, docked)
    path = write(tmp_path / "t.csv", ["g", "id", "y", "s"], part(rows, docked))
    library = write(tmp_path / "l.csv", ["g", "id", "y"], [row[:3] for row in rows])
    expected = hc.GainCurve(y, s, nan_policy="worst")
    assert hc.scan(path, None, "s", grade="y", id="id", library=library) == expected
    assert hc.scan(path, None, "s", grade="y", id="id", library={row[1]: row[2] for row in rows}) == expected
    found = hc.scan(path, None, "s", "g", grade="y", id="id", library=library)
    assert found == hc.GainCurves(y, s, qid=g, nan_policy="worst")


@pytest.mark.parametrize("kind", ["txt", "smi", "named.smi", "sdf", "parquet", "semicolons.csv", "xlsx", "smi.gz"])
def test_files_of_ids(kind, tmp_path):
    rows, docked = screen(8)
    y, s, _ = written_out(rows, docked)
    path, library = write(tmp_path / "t.csv", ["g", "id", "y", "s"], part(rows, docked)), tmp_path / f"l.{kind}"
    ids = [row[1] for row in rows]
    if kind == "parquet":
        parquet.write_table(pa.table({"x": y, "id": ids}), library)
    elif kind == "sdf":
        records = (f"{one}\n\n\n  0  0\nM  END\n> <y>\n{at}\n\n$$$$\n" for one, at in zip(ids, y, strict=True))
        library.write_text("".join(records))
    elif kind == "xlsx":
        pytest.importorskip("python_calamine")
        workbook(library, [["x", "id"], *(["1", one] for one in ids)])
    else:
        text = {"txt": ["id", *ids], "smi": [f"CC {one}" for one in ids], "smi.gz": [f"CC\t{one}" for one in ids],
                "named.smi": ["smiles id", *(f"CC {one}" for one in ids)],
                "semicolons.csv": ["x;id", *(f"1;{one}" for one in ids)]}[kind]  # fmt: skip
        data = "\n".join(text).encode()
        if kind.endswith(".gz"):
            import gzip

            data = gzip.compress(data)
        library.write_bytes(data)
    actives = {} if kind == "sdf" else {"num_actives": int(y.sum())}  # the SDF has labels
    found = hc.scan(path, "y", "s", id="id", library=library, **actives)
    assert found == hc.HitCurve(y, s, nan_policy="worst")


def test_best_poses_and_what_was_counted(tmp_path):
    rows, docked = screen(9)
    y, s, _ = written_out(rows, docked)
    poses = [[*row[:3], row[3] - worse] for row in part(rows, docked) for worse in (0.5, 0, 1)]
    np.random.default_rng(1).shuffle(poses)
    path = write(tmp_path / "t.csv", ["g", "id", "y", "s"], poses)
    labels = {row[1]: row[2] for row in rows}
    for library in (labels, len(rows)):
        count = None if library is labels else int(y.sum())
        reader = TableReader([path], "y", ["s"], ids="id")
        made = library_of(library, count, files=False, ids="id", label="y", graded=False, group=None, grouped=False,
                          layout=Layout())  # fmt: skip
        found = read_screen(reader, [("s", False)], best_per_id=True, keep=True, library=made)
        (one,) = found.scores
        assert one.curves == hc.HitCurve(y, s, nan_policy="worst")
        absent = int((~docked).sum())
        assert one.counted[:3] == (len(poses), 0, len(poses) - int(docked.sum()))
        assert one.counted[5:] == (absent, int(y[~docked].sum()))
        assert found.arrays.label.shape == (len(rows),)
        assert np.isnan(found.arrays.scores[0]).sum() == absent


TABLE = [["t", "a", 1, 0.9], ["t", "b", 0, 0.5], ["t", "c", 0, 0.4]]
LIBRARY = {"a": 1, "b": 0, "c": 0, "d": 1}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"library": 2, "num_actives": 1}, "library is 2, but the source has 3 rows"),
        ({"library": 4, "num_actives": 0}, "num_actives is 0, but 1 relevant row is in the source"),
        ({"library": 4, "num_actives": 3},
         "is 3, but 1 relevant row is in the source, and only 1 compound without a row is left"),
        ({"library": 4}, "library is 4, but the number of actives in it is not known"),
        ({"library": -1, "num_actives": 1}, "library"),
        ({"num_actives": 1}, "num_actives needs library"),
        ({"id": "id"}, "id needs library"),
        ({"library": LIBRARY}, "library has ids, but id does not name the column of the ids"),
        ({"library": ["a", "b", "c"], "id": "id"}, "the labels of its compounds are not known: give num_actives"),
        ({"library": {"a": 1, "x": 0}, "id": "id"}, "2 ids of the rows (such as 'b') are not in the library"),
        ({"library": {"a": 1, "b": 1, "c": 0}, "id": "id"}, "t.csv: row 2 (line 3): the label of 'b' is 0, but 1"),
        ({"library": [*"abccdd"], "num_actives": 1, "id": "id"},
         "library: 2 ids (such as 'c') come more than once: name each compound once"),
        ({"library": LIBRARY, "num_actives": 3, "id": "id"}, "num_actives is 3, but 2 compounds"),
        ({"library": {"a": "x"}, "id": "id"}, "library['a']: the label is 'x'"),
        ({"library": ["a", " "], "id": "id"}, "library: compound 2: the id is empty"),
        ({"library": LIBRARY, "id": "id", "nan_policy": "omit"}, "library and nan_policy='omit' cannot be combined"),
        ({"library": LIBRARY, "id": "id", "num_relevant": 2}, "library and num_relevant cannot be combined"),
        ({"library": LIBRARY, "id": "id", "actives": [0.9]}, "library and actives cannot be combined"),
        ({"library": 4, "num_actives": 2, "group": "g"}, "library is a number, but each group has a library"),
        ({"library": LIBRARY, "id": "id", "num_actives": 2, "group": "g"}, "num_actives cannot be combined"),
        ({"library": LIBRARY, "id": "id", "group": "g", "sorted": "group"}, "library and sorted='group' cannot be"),
    ],
)  # fmt: skip
def test_errors_name_the_compound(options, problem, tmp_path):
    path = write(tmp_path / "t.csv", ["g", "id", "y", "s"], TABLE)
    with pytest.raises(ValueError) as failed:
        hc.scan(path, "y", "s", **options)
    assert problem in str(failed.value)


def test_subtopics_have_no_library_but_rows_without_a_score(tmp_path):
    path = write(tmp_path / "t.csv", ["id", "car", "cat", "s"], [["a", 1, 0, 0.9], ["b", 0, 0, 0.5], ["c", 0, 2, ""]])
    for library, more in ((LIBRARY, {"id": "id"}), (3, {"num_actives": 2})):
        with pytest.raises(ValueError, match="give the items without a row as rows without a score, and nan_policy="):
            hc.scan(path, score="s", subtopics=["car", "cat"], library=library, **more)
    found = hc.scan(path, score="s", subtopics=["car", "cat"], nan_policy="worst")
    assert (found.num_items, found.num_relevant) == (3, 2)


def test_a_library_of_another_type_and_one_with_repeated_rows(tmp_path):
    path = write(tmp_path / "t.csv", ["g", "id", "y", "s"], [*TABLE, ["t", "b", 0, 0.1]])
    with pytest.raises(ValueError, match=r"row 4 \(line 5\): the id 'b' comes again"):
        hc.scan(path, "y", "s", id="id", library=LIBRARY)
    with pytest.raises(TypeError, match="library is of type float: it must be a number, a file, a frame, ids, or"):
        hc.scan(path, "y", "s", id="id", library=1.5)
    with pytest.raises(FileNotFoundError):
        hc.scan(path, "y", "s", id="id", library="nowhere.csv")
    with pytest.raises(ValueError, match="id names a column, but source is a tuple of arrays"):
        hc.scan(([1, 0], [0.5, 0.1]), id="id", library=LIBRARY)


def test_groups_without_a_row_are_named_and_foreign_ids_by_their_group(tmp_path):
    path = write(tmp_path / "t.csv", ["g", "id", "y", "s"], TABLE)
    listed = [["t", "a", 1], ["t", "b", 0], ["t", "c", 0], ["u", "a", 0], ["t", "d", 1]]
    library = write(tmp_path / "l.csv", ["g", "id", "y"], listed)
    with pytest.warns(UserWarning, match=r"1 group of the library .such as 'u'. is left out"):
        found = hc.scan(path, "y", "s", "g", id="id", library=library)
    assert found == hc.HitCurves([1, 0, 0, 1], [0.9, 0.5, 0.4, np.nan], qid=["t"] * 4, nan_policy="worst")
    write(library, ["g", "id", "y"], listed[1:])
    with pytest.raises(ValueError, match=r"1 id of the rows .such as 'a' of group 't'. is not in the library"):
        hc.scan(path, "y", "s", "g", id="id", library=library)


def test_integers_that_no_float_holds(tmp_path):
    with pytest.raises(ValueError, match=r"library: a compound without a row has no score: .*float64 cannot hold"):
        hc.scan(([1, 0], [2**53 + 1, 5]), library=3, num_actives=1)
    assert hc.scan(([1, 0], [2**53 + 1, 5]), library=2, num_actives=1).num_items == 2


def test_nothing_was_docked(tmp_path):
    path = write(tmp_path / "t.csv", ["g", "id", "y", "s"], [])
    expected = hc.HitCurve([1, 0, 0, 1], [np.nan] * 4, nan_policy="worst")
    assert hc.scan(path, "y", "s", id="id", library=LIBRARY) == expected
    assert hc.scan(path, "y", "s", library=4, num_actives=2) == expected
