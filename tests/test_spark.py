"""hitcurve.spark on a Spark of several processes: a driver and two executors on this machine, started here.

Java (17 or newer) must be installed; without it, or without pyspark, these tests are skipped.
"""

import os
import shutil
import signal
import sys
import time

import numpy as np
import pytest

import hitcurve as hc

pytest.importorskip("pyspark", minversion="4.0")
pa = pytest.importorskip("pyarrow")
# What pyspark itself warns of is not ours to be strict about.
pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.filterwarnings("ignore::FutureWarning")]

if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Spark needs Java, which is not installed", allow_module_level=True)

N = 40_000


@pytest.fixture(scope="module")
def spark():
    import pyspark
    from pyspark.sql import SparkSession

    saved = {name: os.environ.get(name) for name in ("PYSPARK_PYTHON", "SPARK_HOME")}
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_HOME=os.path.dirname(pyspark.__file__))
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "3000",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("hitcurve tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()
    for name, value in saved.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@pytest.fixture(scope="module")
def items():
    rng = np.random.default_rng(5)
    y = rng.random(N) < 0.1
    s = (rng.standard_normal(N) + y).round(3)
    return y, s, rng.integers(0, 200, N)


@pytest.fixture(scope="module")
def frame(spark, items):
    y, s, q = items
    table = pa.table({"y": y, "s": s, "f": s.astype(np.float32), "i": (1000 * s).astype(np.int32), "q": q,
                      "label": y.astype(np.int64)})  # fmt: skip
    return spark.createDataFrame(table).repartition(5).cache()


def once(folder, name, action):
    """A function for mapInArrow that does `action` in the first task that comes by, and gives its rows unchanged."""
    path = str(folder / name)

    def run(batches):
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))
            first = True
        except FileExistsError:
            first = False
        for batch in batches:
            yield batch
            if first:
                action()
                first = False

    return run


def test_more_than_one_process_counts(spark, frame):
    def who(batches):
        for _ in batches:
            pass
        yield pa.RecordBatch.from_pydict({"parent": [os.getppid()]})

    assert len(set(frame.mapInArrow(who, "parent long").toArrow().column(0).to_pylist())) >= 2


@pytest.mark.parametrize(("column", "dtype"), [("s", np.float64), ("f", np.float32), ("i", np.int32)])
@pytest.mark.parametrize("lower", [False, True])
def test_one_ranking_equals_that_in_memory(frame, items, column, dtype, lower):
    from hitcurve.spark import hit_curve

    y, s, _ = items
    s = (1000 * s).astype(dtype) if column == "i" else s.astype(dtype)
    label = "y" if lower else "label"
    expected = hc.HitCurve(y, s, lower_is_better=lower, num_relevant=N)
    curve = hit_curve(frame, label=label, score=column, lower_is_better=lower, num_relevant=N)
    assert curve == expected
    for ties in ("expected", "best", "worst", "threshold"):
        assert curve.average_precision(ties=ties) == expected.average_precision(ties=ties)


def test_counts_travel_in_slices(frame, items, monkeypatch):
    import hitcurve.spark

    y, s, _ = items
    monkeypatch.setattr(hitcurve.spark, "_SLICE", 100)
    assert hitcurve.spark.hit_curve(frame, "y", "s") == hc.HitCurve(y, s)


def test_skewed_and_empty_partitions(frame, items):
    from pyspark.sql import functions as F

    from hitcurve.spark import hit_curve, hit_curves

    y, s, _ = items
    skewed = frame.repartition(7, F.when(F.col("q") < 190, F.lit(0)).otherwise(F.col("q")))
    assert hit_curve(skewed, "y", "s") == hc.HitCurve(y, s)
    assert hit_curve(frame.repartition(40, "y"), "y", "s") == hc.HitCurve(y, s)
    assert hit_curve(frame.where("q < 0"), "y", "s") == hc.HitCurve([], [])
    assert hit_curve(frame.where("not y"), "y", "s") == hc.HitCurve(y[~y], s[~y])
    assert hit_curves(frame.where("q < 0"), "q", "y", "s").count() == 0


@pytest.mark.parametrize("policy", ["worst", "omit"])
def test_nan_and_null_scores(frame, items, policy):
    from pyspark.sql import functions as F

    from hitcurve.spark import hit_curve

    y, s, q = items
    holes = F.when(F.col("q") == 3, F.lit(None)).when(F.col("q") == 5, F.lit(float("nan"))).otherwise(F.col("s"))
    holes = frame.withColumn("s", holes)
    expected = hc.HitCurve(y, np.where(np.isin(q, (3, 5)), np.nan, s), nan_policy=policy)
    assert hit_curve(holes, "y", "s", nan_policy=policy) == expected
    with pytest.raises(ValueError, match=r"partition \d+, row \d+ of it, column 's': nan: give nan_policy='worst'"):
        hit_curve(holes, "y", "s")


def test_bad_columns_and_rows(frame):
    from pyspark.sql import functions as F

    from hitcurve.spark import hit_curve, hit_curves

    with pytest.raises(ValueError, match="there is no column 'score'; the columns are 'y'"):
        hit_curve(frame, "y", "score")
    with pytest.raises(TypeError, match="column 's' is of type string"):
        hit_curve(frame.withColumn("s", F.col("s").cast("string")), "y", "s")
    with pytest.raises(TypeError, match="column 'y' is of type string"):
        hit_curve(frame.withColumn("y", F.col("s").cast("string")), "y", "s")
    for wrong in (F.lit(2), F.lit(None).cast("int")):
        with pytest.raises(ValueError, match=r"partition \d+, row \d+ of it, column 'y': not a label"):
            hit_curve(frame.withColumn("y", F.when(F.col("q") == 7, wrong).otherwise(F.col("label"))), "y", "s")
    with pytest.raises(ValueError, match=r"column 'i': null, which no integer stands for"):
        hit_curve(frame.withColumn("i", F.when(F.col("q") != 7, F.col("i"))), "y", "i")
    with pytest.raises(ValueError, match="nan_policy='drop'"):
        hit_curve(frame, "y", "s", nan_policy="drop")
    with pytest.raises(ValueError, match="nDCX"):
        hit_curves(frame, "q", "y", "s", ["nDCX"])
    with pytest.raises(Exception, match=r"query 7, column 's': nan"):
        hit_curves(frame.withColumn("s", F.when(F.col("q") != 7, F.col("s"))), "q", "y", "s").collect()


def test_rows_that_change_between_the_passes_are_an_error(frame):
    from pyspark.sql import functions as F

    from hitcurve.spark import hit_curve

    different = F.udf(lambda: time.time(), "double").asNondeterministic()
    with pytest.raises(ValueError, match="cache it"):
        hit_curve(frame.withColumn("s", different()), "y", "s")


def test_a_task_that_fails_is_tried_again(frame, items, tmp_path):
    from hitcurve.spark import hit_curve

    def fail():
        raise RuntimeError("the first attempt fails")

    y, s, _ = items
    frail = frame.mapInArrow(once(tmp_path, "failed", fail), frame.schema)
    assert hit_curve(frail, "y", "s") == hc.HitCurve(y, s)
    assert (tmp_path / "failed").exists()


def test_an_executor_killed_in_the_middle(frame, items, tmp_path):
    from hitcurve.spark import hit_curve, hit_curves

    def kill():
        # A Python worker is a child of the daemon, and that of the executor.
        with open(f"/proc/{os.getppid()}/stat") as stat:
            os.kill(int(stat.read().rpartition(")")[2].split()[1]), signal.SIGKILL)

    if not os.path.exists("/proc/self/stat"):
        pytest.skip("finding the executor needs /proc")
    y, s, q = items
    frail = frame.mapInArrow(once(tmp_path, "killed", kill), frame.schema)
    assert hit_curve(frail, "y", "s") == hc.HitCurve(y, s)
    assert (tmp_path / "killed").exists()
    frail = frame.mapInArrow(once(tmp_path, "killed again", kill), frame.schema)
    found = hit_curves(frail, "q", "y", "s").orderBy("q").toArrow()
    assert found.column("AP").to_pylist() == hc.HitCurves(y, s, qid=q).average_precision().tolist()
    assert (tmp_path / "killed again").exists()


@pytest.mark.parametrize("together", [500, 1 << 18])
def test_queries_equal_those_in_memory(frame, items, together, monkeypatch):
    import hitcurve.spark
    from hitcurve.measures import parse

    monkeypatch.setattr(hitcurve.spark, "_TOGETHER", together)
    y, s, q = items
    names = ["AP", "P@10", "AP(norm=min)@5", "RR", "AP(ties=worst)", "ROCAUC"]
    found = hitcurve.spark.hit_curves(frame, "q", "y", "s", names, ties="best").orderBy("q").toArrow()
    curves = hc.HitCurves(y, s, qid=q)
    assert found.column_names == ["q", "num_items", "num_relevant", *names]
    assert found.column("q").to_pylist() == curves.qid.tolist()
    assert found.column("num_items").to_pylist() == curves.num_items.tolist()
    for name in names:
        np.testing.assert_array_equal(found.column(name).to_numpy(), parse(name)(curves, ties="best"))


def test_queries_by_text_with_null_and_without_relevant_items(frame, items):
    from pyspark.sql import functions as F

    from hitcurve.spark import hit_curves

    y, s, q = items
    named = frame.withColumn("q", F.when(F.col("q") != 9, F.concat(F.lit("q"), F.col("q"))))
    named = named.withColumn("y", F.col("y") & (F.coalesce(F.col("q"), F.lit("")) != "q4"))
    found = {row[0]: row for row in hit_curves(named, "q", "y", "s", lower_is_better=True).collect()}
    curves = hc.HitCurves(y & (q != 4), s, qid=q, lower_is_better=True)
    for one, ap in zip(curves.qid.tolist(), curves.average_precision().tolist(), strict=True):
        row = found[None if one == 9 else f"q{one}"]
        assert row["AP"] == ap or (one == 4 and np.isnan(row["AP"]) and row["num_relevant"] == 0)
    assert len(found) == len(curves)


def test_queries_too_large_for_a_task_are_counted(frame, items):
    from pyspark.sql import functions as F

    from hitcurve.spark import hit_curves

    y, s, q = items
    merged = F.when(F.col("q") < 90, F.lit(None)).when(F.col("q") < 180, F.lit(90)).otherwise(F.col("q"))
    found = hit_curves(frame.withColumn("q", merged), "q", "y", "s", ["AP", "P@20"], max_query=5_000).collect()
    q = np.where(q < 90, -1, np.where(q < 180, 90, q))
    curves = hc.HitCurves(y, s, qid=q)
    values = zip(curves.average_precision(), curves.precision(20), strict=True)
    expected = dict(zip(curves.qid.tolist(), values, strict=True))
    assert {-1 if row["q"] is None else row["q"]: (row["AP"], row["P@20"]) for row in found} == expected
