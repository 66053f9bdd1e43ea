"""Row groups of Parquet: which a scan decodes, and that the curve does not depend on it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hitcurve as hc
from hitcurve.sources import opening as sources
from hitcurve.sources import scanning

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

FLOATS = [-np.inf, -1.5, -0.0, 0.0, 0.5, 0.5000001, 2.0, np.inf, np.nan]
TYPES = {
    pa.float32(): FLOATS,
    pa.float64(): FLOATS,
    pa.int8(): [-128, -1, 0, 1, 127],
    pa.int32(): [-(2**31), -5, 0, 3, 4, 2**31 - 1],
    pa.uint32(): [0, 1, 2**31, 2**32 - 1],
    pa.int64(): [-(2**63), -(2**53) - 1, 0, 7, 2**53, 2**53 + 1, 2**63 - 1],
    pa.uint64(): [0, 5, 2**53 + 1, 2**63, 2**63 + 1, 2**64 - 1],
    pa.decimal128(5, 2): [-1, 0, 2, 3, 999],
    pa.bool_(): [False, True],
}


@st.composite
def tables(draw):
    type_ = draw(st.sampled_from(list(TYPES)))
    values = st.sampled_from([*TYPES[type_], *([None] if draw(st.booleans()) else [])])
    share = draw(st.integers(1, 6))
    rows = draw(st.lists(st.tuples(st.integers(0, share).map(lambda one: one == 1), values), min_size=1, max_size=40))
    if draw(st.booleans()):  # sorted, or in clusters
        rows.sort(key=lambda row: (row[1] is None or row[1] != row[1], row[1]) if row[1] is not None else (True, 0))
        turned = draw(st.integers(0, len(rows)))
        rows = rows[turned:] + rows[:turned]
    label = draw(st.sampled_from([pa.bool_(), pa.int8(), pa.int64(), pa.float32(), pa.string()]))
    return pa.table({
        "y": pa.array([row[0] for row in rows]).cast(label) if label != pa.float32() else
             pa.array([float(row[0]) for row in rows], label),
        "s": pa.array([row[1] for row in rows], type_),
    })  # fmt: skip


def exact(cells):
    """The scores as one array of the type that a scan compares them in."""
    if pa.types.is_floating(cells.type):
        return np.array([np.nan if one is None else one for one in cells.to_pylist()], cells.type.to_pandas_dtype())
    if cells.null_count:
        return np.array([np.nan if one is None else float(one) for one in cells.to_pylist()])
    return np.array([int(one) for one in cells.to_pylist()], np.uint64 if cells.type == pa.uint64() else np.int64)


@given(
    tables(), st.integers(1, 12), st.sampled_from([True, False, ["y"], ["s"]]),
    st.sampled_from(["raise", "worst", "omit"]),
    st.booleans(), st.sampled_from([1, 2]), st.sampled_from([0, 60, 1 << 20]),
    st.booleans(),
)  # fmt: skip
def test_the_curve_is_that_of_the_rows(
    tmp_path_factory, table, size, statistics, nan_policy, lower, workers, room, long
):
    path = tmp_path_factory.getbasetemp() / "groups.parquet"
    parquet.write_table(table, path, row_group_size=size, write_statistics=statistics)
    options = {"nan_policy": nan_policy, "lower_is_better": lower}
    y = np.array([one in (True, 1, "true") for one in table["y"].to_pylist()])
    score, cells = exact(table["s"]), table["s"]
    missing = score.dtype.kind == "f" and np.isnan(score).any()
    rounds = cells.null_count and any(one is not None and int(float(one)) != one for one in cells.to_pylist()
                                      if not pa.types.is_floating(cells.type))  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        keep = sources.Parquet.keep
        patch.setattr(sources.Parquet, "keep", lambda source, wanted: keep(source, min(wanted, room)))
        if long:
            patch.setattr(sources, "_LONG_GROUP", 3)
            patch.setattr(sources, "_ROWS", 2)

        def scan():
            return hc.scan(path, "y", "s", workers=workers, **options)

        if nan_policy == "raise" and missing:
            with pytest.raises(ValueError, match=r"row \d+, column 's': the score is (nan|empty)"):
                scan()
        elif rounds and not y.any():
            pass  # nothing is compared; a row group by itself may be refused
        elif rounds:
            with pytest.raises(ValueError, match="which cannot hold"):
                scan()
        else:
            curve, expected = scan(), hc.HitCurve(y, score, **options)
            assert curve == expected and np.array_equal(curve.score, expected.score, equal_nan=score.dtype.kind == "f")


@pytest.fixture
def read(monkeypatch):
    """Row group and columns of each time that cells are decoded."""
    seen = []
    column = sources.Parquet._column
    monkeypatch.setattr(sources.Parquet, "_column", lambda *where: seen.append(where[2:]) or column(*where))
    monkeypatch.setattr(scanning, "_HELD", 0)
    return seen


@pytest.mark.parametrize("label", [bool, np.int32, float])
@pytest.mark.parametrize(("dtype", "statistics"), [(np.int64, True), (np.int64, ["y"]), (np.float32, True)])
def test_what_lies_between_two_thresholds_is_not_decoded(dtype, statistics, label, tmp_path, read):
    s = np.arange(10_000).astype(dtype)
    y = ((np.arange(10_000) // 1_000 == 7) | (s == 2_000) | (s == 4_999)).astype(label)
    table = pa.table({"y": y, "s": s})
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=1_000, write_statistics=statistics)
    assert hc.scan(tmp_path / "a.parquet", "y", "s") == hc.HitCurve(y, s)
    hits = {2, 4, 7}
    decoded = [group for group, column in read if column == [1]]
    between = dtype == np.int64 and statistics is True
    # In the first pass where labels are floats, and in the second.
    times = (label is float) + (not between)
    assert sorted(decoded) == [group for group in range(10) for _ in range(2 if group in hits else times)]


@pytest.mark.parametrize("nan_policy", ["raise", "worst", "omit"])
@pytest.mark.parametrize(("type_", "missing"), [(pa.int64(), None), (pa.float64(), np.nan), (pa.float64(), None)])
def test_a_missing_score_between_two_thresholds_is_seen(type_, missing, nan_policy, tmp_path, read):
    y, s = [1, 0, 0, 0, 1], [9, 5, missing, 4, 1]
    table = pa.table({"y": y, "s": pa.array(s, type_, from_pandas=False)})
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=1)
    whole = pa.concat_tables([table.slice(0, 1), table.slice(4), table.slice(1, 3)])
    parquet.write_table(whole, tmp_path / "b.parquet", row_group_size=2)
    for path in (tmp_path / "a.parquet", tmp_path / "b.parquet"):
        if nan_policy == "raise":
            with pytest.raises(ValueError, match=r"row \d, column 's': the score is (nan|empty)"):
                hc.scan(path, "y", "s")
        else:
            score = np.array([np.nan if one is None else one for one in s], float)
            assert hc.scan(path, "y", "s", nan_policy=nan_policy) == hc.HitCurve(y, score, nan_policy=nan_policy)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("room", "again"), [(40_000, 0), (39_999, 10)])
def test_scores_are_kept_where_little_room_holds_all(room, again, workers, tmp_path, read, monkeypatch):
    s = np.random.default_rng(3).standard_normal(10_000).astype(np.float32)
    y = s > 1
    parquet.write_table(pa.table({"y": y, "s": s}), tmp_path / "a.parquet", row_group_size=1_000)
    monkeypatch.setattr(scanning, "_HELD", room)
    assert hc.scan(tmp_path / "a.parquet", "y", "s", workers=workers) == hc.HitCurve(y, s)
    assert len([group for group, column in read if column == [1]]) == 10 + again


def test_kept_scores_make_room_for_the_table(tmp_path, read):
    s = np.random.default_rng(3).standard_normal(100_000).astype(np.float32)
    y = np.arange(100_000) % 10 == 0
    parquet.write_table(pa.table({"y": y, "s": s}), tmp_path / "a.parquet", row_group_size=10_000)
    for max_memory, again in ((2_000_000, 0), (800_000, 4), (580_000, 10)):
        read.clear()
        assert hc.scan(tmp_path / "a.parquet", "y", "s", max_memory=max_memory) == hc.HitCurve(y, s)
        assert len([group for group, column in read if column == [1]]) == 10 + again, max_memory


def test_many_rows_between_thresholds():
    from hitcurve.curves.blocks import BlockCounter

    counter = BlockCounter(np.array([1, 5], np.int64))
    other = counter.sibling()
    counter.add(np.array([5, 0, 3], np.int64), "raise")
    counter.add_between(1, 1 << 33)
    other.add_between(2, 7)
    other.add_between(0, (1 << 32) - 1)
    other.add_between(0, 2)
    counter.absorb(other)
    assert counter.counts().tolist() == [1 + (1 << 32) + 1, 0, 1 + (1 << 33), 1, 7]
