"""Files of scores to curves: counted or kept, grouped, best poses; intervals."""

import csv
import io
import math

import numpy as np
import pytest
from examples import few
from hypothesis import given
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

import hitcurve as hc  # noqa: E402
from hitcurve.measures import parse  # noqa: E402
from hitcurve.sources.screen import read_screen  # noqa: E402
from hitcurve.sources.tables import TableReader  # noqa: E402
from hitcurve.statistics.intervals import interval_ends  # noqa: E402


def made(path, scores=(("s", False),), **options):
    names = ("group", "ids", "nan_policy", "by_file", "workers", "actives", "label")
    given = {name: options.pop(name) for name in names if name in options}
    label = given.pop("label", "y")
    paths = path if isinstance(path, list) else [path]
    reader = TableReader(paths, label, [name for name, _ in scores], given.pop("group", None), **given)
    return read_screen(reader, scores, **options)


def table(folder, **columns):
    path = folder / "t.parquet"
    parquet.write_table(pa.table(columns), path)
    return path


@pytest.fixture(params=["kept", "counted"])
def memory(request, monkeypatch):
    """A table that is kept, and one that is too large and read twice."""
    if request.param == "counted":
        monkeypatch.setattr("hitcurve.sources.scanning._HELD", -1)
    monkeypatch.setattr("hitcurve.sources.tables._PARQUET_ROWS", 100)


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("policy", ["raise", "worst", "omit"])
def test_one_ranking(tmp_path, workers, policy):
    rng = np.random.default_rng(1)
    y, s = (rng.random(1000) < 0.1).astype(np.int8), np.round(rng.normal(size=1000), 1)
    if policy != "raise":
        s[rng.integers(0, 1000, 50)] = np.nan
    path = table(tmp_path, y=y, s=s, t=-s)
    found = made(path, [("s", False), ("t", True)], nan_policy=policy, workers=workers)
    expected = hc.HitCurve(y, s, nan_policy=policy)
    first, second = found.scores
    assert first.curves == expected
    assert second.curves == hc.HitCurve(y, -s, nan_policy=policy, lower_is_better=True)
    assert (first.name, first.lower_is_better, first.names) == ("s", False, None)
    assert found.num_rows == 1000
    assert found.arrays is None
    assert found.notes == []


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("policy", ["raise", "omit"])
def test_groups(tmp_path, workers, policy):
    rng = np.random.default_rng(2)
    y, s = (rng.random(1000) < 0.2).astype(np.int8), rng.integers(0, 20, 1000).astype(float)
    group = rng.choice(["b", "a", "c", "d"], 1000)
    if policy == "omit":
        s[group == "a"] = np.nan
    path = table(tmp_path, y=y, s=s, g=group)
    (found,) = made(path, [("s", True)], group="g", nan_policy=policy, workers=workers).scores
    expected = hc.HitCurves(y, s, qid=group, nan_policy=policy, lower_is_better=True)
    assert found.names == expected.qid.tolist() == ["a", "b", "c", "d"]
    assert len(found.curves) == len(expected)
    for one, two in zip(found.curves, expected, strict=True):
        assert one == two
    np.testing.assert_array_equal(found.curves.average_precision(), expected.average_precision())
    with_ties = found.curves.tie_report()
    assert with_ties.num_tied.tolist() == expected.tie_report().num_tied.tolist()


@pytest.mark.usefixtures("memory")
def test_integers_that_turn_into_fractions(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("y,s\n" + "1,3\n0,2\n" * 40_000 + "1,2.5\n0,7\n")
    (found,) = made(path).scores
    assert found.curves == hc.HitCurve([1, 0] * 40_000 + [1, 0], [3, 2] * 40_000 + [2.5, 7])


@pytest.mark.usefixtures("memory")
def test_integers_beyond_floats(tmp_path):
    s = np.array([2**60 + 1, 2**60, 2**60 + 2])
    (found,) = made(table(tmp_path, y=[1, 0, 0], s=s)).scores
    assert found.curves.above.tolist() == [1]
    assert found.curves.tied.tolist() == [1]


@pytest.mark.usefixtures("memory")
def test_nothing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("y,s,g\n")
    assert made(path).scores[0].curves.num_items == 0
    assert made(path, group="g").scores[0].names == []
    path.write_text("y,s\n0,1\n")
    assert made(path).scores[0].curves == hc.HitCurve([0], [1])


@pytest.mark.parametrize("workers", [1, 3])
def test_what_goes_wrong_while_counting_stops_it(tmp_path, monkeypatch, workers):
    monkeypatch.setattr("hitcurve.sources.scanning._HELD", -1)
    monkeypatch.setattr("hitcurve.sources.tables._PARQUET_ROWS", 10)
    path = table(tmp_path, y=[1, 0] * 500, s=[2.0, 1] * 500, t=[1.0, 2] * 500)
    told = []

    def interrupt(*block):
        told.append(1)
        raise KeyboardInterrupt

    monkeypatch.setattr("hitcurve.sources.scanning._Column.count", interrupt)
    with pytest.raises(KeyboardInterrupt):
        made(path, (("s", False), ("t", False)), workers=workers)
    assert len(told) <= workers


def test_standard_input_is_kept(monkeypatch):
    monkeypatch.setattr("hitcurve.sources.scanning._HELD", -1)

    class Stdin:
        buffer = io.BufferedReader(io.BytesIO(b"y,s\n1,2\n0,3\n"))

    monkeypatch.setattr("sys.stdin", Stdin)
    assert made("-").scores[0].curves.num_items == 2


def test_items_on_demand(tmp_path):
    path = table(tmp_path, y=[1, 0, 1], s=[1.0, 2, 3], g=["b", "a", "b"])
    arrays = made(path, group="g", keep=True).arrays
    assert arrays.label.tolist() == [1, 0, 1]
    assert arrays.group.tolist() == [1, 0, 1]
    assert arrays.scores[0].tolist() == [1, 2, 3]


def test_each_file_a_group(tmp_path):
    paths = [tmp_path / "b.csv", tmp_path / "a.csv"]
    for path in paths:
        path.write_text("y,s\n1,2\n0,3\n")
    found = made(paths, by_file=True).scores[0]
    assert found.names == ["b.csv", "a.csv"]
    assert found.curves.average_precision().tolist() == [0.5, 0.5]


# --- poses and ids ------------------------------------------------------------------------------------------

POSES = st.lists(
    st.tuples(
        st.sampled_from("abcde"), st.sampled_from("xy"), st.sampled_from(["1", "2", "-3", "0.5", ""]), st.integers(0, 9)
    ),
    max_size=30,
)


@few(30)
@given(poses=POSES, lower=st.booleans(), grouped=st.booleans(), held=st.sampled_from([1 << 20, -1]))
def test_the_best_pose_of_each_compound(tmp_path_factory, poses, lower, grouped, held):
    path = tmp_path_factory.mktemp("poses") / "t.csv"
    rows = [(compound, group, first, second) for compound, group, first, second in poses]
    path.write_text(
        "id,g,y,s,t\n" + "".join(f"{c},{g},{'abcde'.index(c) % 2},{one},{two}\n" for c, g, one, two in rows)
    )
    best: dict = {}
    for row in csv.DictReader(io.StringIO(path.read_text())):
        key = (row["id"], row["g"] if grouped else "")
        label, score, other = best.get(key, (int(row["y"]), math.nan, -math.inf))
        if row["s"]:
            value = float(row["s"])
            score = value if math.isnan(score) else min(score, value) if lower else max(score, value)
        best[key] = label, score, max(other, float(row["t"]))
    options = {"group": "g"} if grouped else {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hitcurve.sources.scanning._HELD", held)
        found = made(path, [("s", lower), ("t", False)], ids="id", nan_policy="worst", best_per_id=True, **options)
    labels, scores, others = ([one[at] for one in best.values()] for at in range(3))
    for column, values, down in zip(found.scores, (scores, others), (lower, False), strict=True):
        settings = {"nan_policy": "worst", "lower_is_better": down}
        if not grouped:
            assert column.curves == hc.HitCurve(labels, np.array(values, float), **settings)
            continue
        groups = [group for _, group in best]
        expected = hc.HitCurves(labels, np.array(values, float), qid=np.array(groups, str), **settings) if best else []
        assert list(column.curves) == list(expected)


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("best", [True, False])
def test_items_of_many_poses_on_demand(tmp_path, best):
    """In the order of the file where they are ranked as they are."""
    rng = np.random.default_rng(3)
    compound = rng.integers(0, 400, 1000)
    s, t = rng.normal(size=1000), rng.integers(-9, 9, 1000)
    y = (compound % 7 == 0).astype(int)
    path = table(tmp_path, id=[f"Z{one}" for one in compound], y=y, s=s, t=t, g=compound % 3)
    found = made(path, [("s", False), ("t", True)], ids="id", group="g", best_per_id=best, keep=True, workers=2)
    arrays = found.arrays
    if not best:
        assert (arrays.label.tolist(), arrays.group.tolist()) == (y.tolist(), (compound % 3).tolist())
        assert (arrays.scores[0].tolist(), arrays.scores[1].tolist()) == (s.tolist(), t.tolist())
        assert found.notes[0].startswith(f"{1000 - len(set(compound.tolist())):,} rows repeat the id of another row of")
        assert (
            f"(such as {'Z' + str(next(one for one in compound if (compound == one).sum() > 1))!r})" in found.notes[0]
        )
    else:
        rows = {one: np.flatnonzero(compound == one) for one in set(compound.tolist())}
        expected = sorted((y[at[0]], s[at].max(), t[at].min(), one % 3) for one, at in rows.items())
        assert sorted(zip(arrays.label, *arrays.scores, arrays.group, strict=True)) == expected
    for column, score, lower in zip(found.scores, arrays.scores, (False, True), strict=True):
        curves = hc.HitCurves(arrays.label, score, qid=arrays.group, lower_is_better=lower)
        assert list(column.curves) == list(curves)
        assert column.names == [0, 1, 2]
    assert found.num_rows == 1000


def test_files_of_several_schemas(tmp_path):
    """Are read one after the other where no single type is needed."""
    for name, dtype in (("a", np.int8), ("b", np.float64)):
        parquet.write_table(pa.table({"y": [1, 0], "s": np.array([1, 2], dtype)}), tmp_path / f"{name}.parquet")
    (found,) = made([tmp_path / "a.parquet", tmp_path / "b.parquet"]).scores
    assert found.curves == hc.HitCurve([1, 0, 1, 0], [1.0, 2, 1, 2])


def test_poses_that_disagree(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,y,s,g\na,1,2,x\nb,0,3,x\nb,1,3,y\nb,0,1,y\n")
    with pytest.raises(ValueError, match="the rows of id 'b' have different labels"):
        made(path, ids="id", best_per_id=True)
    with pytest.raises(ValueError, match="the rows of id 'b' of group 'y' have different labels"):
        made(path, ids="id", group="g", best_per_id=True)


def test_repeated_ids_are_told(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("id,y,s,g\na,1,2,x\nb,0,3,x\na,1,3,y\nb,0,1,x\nb,0,1,x\n")
    (note,) = made(path, ids="id").notes
    assert note.startswith("3 rows repeat the id of another row (such as 'a')")
    (note,) = made(path, ids="id", group="g").notes
    assert note.startswith("2 rows repeat the id of another row of their group (such as 'b')")
    assert made(path, ids="id", best_per_id=True).notes == []
    monkeypatch.setattr("hitcurve.sources.scanning._HELD", 0)
    assert made(path, ids="id", group="g").notes == [note]


# --- intervals ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", ["expected", "worst", "threshold"])
def test_intervals(ties):
    """To the bit those of Python, whatever else is asked for; none of what is a constant of the data."""
    rng = np.random.default_rng(0)
    y = (rng.random(2000) < 0.05).astype(int)
    curve = hc.HitCurve(y, np.round(rng.normal(size=2000) + y, 1))
    names = ["AP", "ROCAUC", "BEDROC(20)", "EF@1%", "Chance", "NumRet", "AP(ties=best)", "P@10", "ROCAUC(ties=worst)"]
    measures = [parse(name) for name in names]
    options = {"confidence_level": 0.9, "n_resamples": 300, "ties": ties, "rng": 3}
    found = interval_ends(curve, measures, workers=1, **options)
    constant = {"Chance", "NumRet"} | ({"BEDROC(20)"} if ties == "threshold" else set())
    assert [one.name for one in found] == [name for name in names if name not in constant]
    for measure, (low, high, method) in found.items():
        one = curve.interval(measure, **options)
        assert ((low, high), method) == (one.confidence_interval, one.method), measure.name
    assert interval_ends(curve, measures[::-1], workers=2, **options) == found


def test_intervals_of_means():
    """Those of Python where every group has a relevant item; groups without a relevant item count in no mean."""
    rng = np.random.default_rng(0)
    y, s = (rng.random(500) < 0.2).astype(int), rng.normal(size=500)
    curves = hc.HitCurves(y, s, offsets=np.arange(0, 501, 50))
    measures = [parse("AP"), parse("P@5"), parse("NumRet")]
    options = {"confidence_level": 0.9, "n_resamples": 300, "ties": "expected", "rng": 3}
    found = interval_ends(curves, measures, workers=1, **options)
    assert [*found] == measures[:2]
    for measure, (low, high, method) in found.items():
        one = curves.interval(measure, **options)
        assert ((low, high), method) == (one.confidence_interval, "bootstrap")
    more = hc.HitCurves([*y, 0, 0, 0], [*s, 1, 2, 3], offsets=[*range(0, 501, 50), 503])
    assert interval_ends(more, measures, workers=1, **options) == found
    single = interval_ends(hc.HitCurves([1, 0], [2, 1], qid=[5, 5]), measures[:1], workers=1, **options)
    assert np.isnan(single[measures[0]][:2]).all()  # one group does not say how groups vary


def test_intervals_of_nothing():
    options = {"confidence_level": 0.9, "n_resamples": 30, "ties": "expected", "rng": 3, "workers": 1}
    found = interval_ends(hc.HitCurve([0, 0], [1, 2]), [parse("AP"), parse("EF@1%")], **options)
    assert len(found) == 2
    assert np.isnan([ends[:2] for ends in found.values()]).all()
