"""hitcurve.spark on a Spark of several processes: a master and two workers on this machine, started here. Without the
slow tests Spark runs in one process, with its Python workers beside it, and on fewer rows. Each job costs half a
second, so the ordinary tests have few of them. Tests of errors have few rows, which Spark filters without a job.

Java (17 or newer) must be installed; without it, or without pyspark, these tests are skipped. Those of Spark Connect
also need its client's packages, `pip install "pyspark[connect]"`.
"""

import math
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest
import register
import routes
from waiting import until

import hitcurve as hc
from hitcurve.measures import parse
from hitcurve.sources.cells import BadCell

pytest.importorskip("pyspark", minversion="4.0")
pa = pytest.importorskip("pyarrow")
# What pyspark itself warns of is not ours to be strict about.
pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.filterwarnings("ignore::FutureWarning")]

if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Spark needs Java, and there is neither `java` on the PATH nor JAVA_HOME", allow_module_level=True)

N = 40_000


def slow_too(request):
    return any(item.get_closest_marker("slow") and item.module is request.module for item in request.session.items)


@pytest.fixture(scope="module")
def environment():
    import pyspark

    # The workers import what these tests import.
    folders = os.path.dirname(os.path.dirname(hc.__file__)), os.path.dirname(__file__)
    path = os.pathsep.join([*folders, os.environ.get("PYTHONPATH", "")])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", path.rstrip(os.pathsep))
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_HOME", os.path.dirname(pyspark.__file__))
        yield os.environ["SPARK_HOME"]


@pytest.fixture(scope="module")
def master(request, environment, tmp_path_factory):
    """A master and two workers. Their hosts have two names, for Spark tries no task twice at once on one host."""
    if not slow_too(request):
        yield "local[2]"
        return
    folder = tmp_path_factory.mktemp("cluster")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    deploy = "org.apache.spark.deploy"
    web = ["--webui-port", "0"]
    commands = [[f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", str(port), *web]]
    for host in ("127.0.0.1", "localhost"):
        own = ["--host", host, "--cores", "1", "--memory", "1g", "--work-dir", str(folder / host)]
        commands.append([f"{deploy}.worker.Worker", *own, *web, f"spark://127.0.0.1:{port}"])
    started = []
    try:
        for i, command in enumerate(commands):
            with open(folder / f"log{i}", "w") as log:
                run = [os.path.join(environment, "bin", "spark-class"), *command]
                env = {**os.environ, "SPARK_DAEMON_MEMORY": "256m"}
                started.append(subprocess.Popen(run, stdout=log, stderr=log, env=env))
        yield f"spark://127.0.0.1:{port}"
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait(30)


@pytest.fixture(scope="module")
def spark(request, master):
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": "1g",
        "spark.executor.cores": "1",
        "spark.scheduler.minRegisteredResourcesRatio": "1",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
        "spark.cores.max": "2",
        "spark.python.daemon.module": "spark_daemon",
        # The compiler that optimizes took half of the time of these tests.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.speculation": "true",
        "spark.speculation.quantile": "0.4",
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "3" if slow_too(request) else "2",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "600",
    }
    builder = SparkSession.builder.master(master).appName("hitcurve tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def items(request):
    """Labels, scores and queries. A query has 200 items, about."""
    n = N if slow_too(request) else N // 5
    rng = np.random.default_rng(5)
    y = rng.random(n) < 0.1
    s = (rng.standard_normal(n) + y).round(3)
    return y, s, rng.integers(0, n // 200, n)


@pytest.fixture(scope="module")
def frame(spark, items):
    y, s, q = items
    table = pa.table({"y": y, "s": s, "f": s.astype(np.float32), "i": (1000 * s).astype(np.int32), "q": q,
                      "label": y.astype(np.int64)})  # fmt: skip
    return spark.createDataFrame(table).repartition(5 if len(y) == N else 3).cache()


@pytest.fixture(scope="module")
def few(spark):
    """Two queries of two rows, with levels of two subtopics."""
    return spark.createDataFrame(pa.table({
        "y": [True, False, False, True], "label": [1, 0, 0, 1], "s": [3.0, 2.0, 1.0, 2.0], "i": pa.array([3, 2, 1, 2],
        pa.int32()), "q": [7, 7, 8, 8], "level": [2, 0, 0, 1], "car": [1, 0, 0, 1], "cat": [2.0, 0.0, 0.0, 0.0],
        "id": [1, 2, 3, 4], "doc": ["d1", "d2", "d3", "d4"]}))  # fmt: skip


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


@pytest.mark.slow
def test_more_than_one_process_counts(spark, frame):
    def who(batches):
        for _ in batches:
            pass
        yield pa.RecordBatch.from_pydict({"parent": [os.getppid()]})

    assert len(set(frame.mapInArrow(who, "parent long").toArrow().column(0).to_pylist())) >= 2


@pytest.mark.parametrize(("column", "dtype", "lower"), [
    ("s", np.float64, False), ("i", np.int32, True),
    *(pytest.param(*case, marks=pytest.mark.slow) for case in (
        ("s", np.float64, True), ("f", np.float32, False), ("f", np.float32, True), ("i", np.int32, False))),
])  # fmt: skip
def test_one_ranking_equals_that_in_memory(frame, items, column, dtype, lower):
    from hitcurve.spark import hit_curve

    y, s, _ = items
    s = (1000 * s).astype(dtype) if column == "i" else s.astype(dtype)
    label = "y" if lower else "label"
    expected = hc.HitCurve(y, s, lower_is_better=lower, num_relevant=len(y))
    curve = hit_curve(frame, label=label, score=column, lower_is_better=lower, num_relevant=len(y))
    assert curve == expected
    for ties in ("expected", "best", "worst", "threshold"):
        assert curve.average_precision(ties=ties) == expected.average_precision(ties=ties)


@pytest.mark.slow
def test_counts_travel_in_slices(frame, items, monkeypatch):
    import hitcurve.spark

    y, s, _ = items
    monkeypatch.setattr(hitcurve.spark, "_SLICE", 100)
    assert hitcurve.spark.hit_curve(frame, "y", "s") == hc.HitCurve(y, s)


@pytest.mark.slow
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


@pytest.mark.parametrize("policy", ["worst", pytest.param("omit", marks=pytest.mark.slow)])
def test_nan_and_null_scores(frame, items, policy):
    from pyspark.sql import functions as F

    from hitcurve.spark import hit_curve

    y, s, q = items
    holes = F.when(F.col("q") == 3, F.lit(None)).when(F.col("q") == 5, F.lit(float("nan"))).otherwise(F.col("s"))
    holes = frame.withColumn("s", holes)
    expected = hc.HitCurve(y, np.where(np.isin(q, (3, 5)), np.nan, s), nan_policy=policy)
    assert hit_curve(holes, "y", "s", nan_policy=policy) == expected


def test_bad_columns_and_rows(few):
    from pyspark.sql import functions as F

    from hitcurve.spark import hit_curve, hit_curves

    with pytest.raises(ValueError, match="there is no column 'score'; the columns are 'y'"):
        hit_curve(few, "y", "score")
    with pytest.raises(TypeError, match="column 's' is of type string"):
        hit_curve(few.withColumn("s", F.col("s").cast("string")), "y", "s")
    with pytest.raises(TypeError, match="column 'y' is of type string"):
        hit_curve(few.withColumn("y", F.col("s").cast("string")), "y", "s")
    for wrong in (F.lit(2), F.lit(None).cast("int")):
        with pytest.raises(ValueError, match=r"partition \d+, row \d+, column 'y': not a label"):
            hit_curve(few.withColumn("y", F.when(F.col("q") == 7, wrong).otherwise(F.col("label"))), "y", "s")
    with pytest.raises(ValueError, match=r"column 'i': null, but a column of integers has no missing scores"):
        hit_curve(few.withColumn("i", F.when(F.col("q") != 7, F.col("i"))), "y", "i")
    for missing in (None, float("nan")):
        with pytest.raises(ValueError, match=r"partition \d+, row \d+, column 's': nan: give nan_policy='worst'"):
            hit_curve(few.withColumn("s", F.when(F.col("q") == 7, F.lit(missing)).otherwise(F.col("s"))), "y", "s")
    with pytest.raises(ValueError, match="nan_policy='drop'"):
        hit_curve(few, "y", "s", nan_policy="drop")
    for query, measures in (("q", ["AP", "RR", "AP"]), ("num_items", ["AP"]), ("AP", ["AP"])):
        with pytest.raises(ValueError, match=r"the result would have two columns '(AP|num_items)'"):
            hit_curves(few.withColumnRenamed("q", query), query, "y", "s", measures)
    with pytest.raises(TypeError, match="max_query must be a whole number, got '5'"):
        hit_curves(few, "q", "y", "s", max_query="5")
    with pytest.raises(ValueError, match="nDCX"):
        hit_curves(few, "q", "y", "s", ["nDCX"])
    with pytest.raises(Exception, match=r"query 7, column 's': nan"):
        hit_curves(few.withColumn("s", F.when(F.col("q") != 7, F.col("s"))), "q", "y", "s", max_query=None).collect()


@pytest.fixture(scope="module")
def docked(spark, items):
    """(rows, library with labels, levels and queries) as DataFrames, and labels, scores (NaN without row), queries."""
    y, s, q = (column[items[2] < 20] for column in items)
    there = np.random.default_rng(8).random(len(y)) < 0.9 - 0.2 * y
    ids = [f"c{at}" for at in range(len(y))]
    table = pa.table({"id": ids, "y": y, "s": s, "i": (1000 * s).astype(np.int32), "q": q, "grade": 2 * y.astype(int)})
    rows = spark.createDataFrame(table.filter(pa.array(there))).repartition(3).cache()
    library = spark.createDataFrame(table.select(["id", "y", "q", "grade"])).cache()
    return rows, library, (y, np.where(there, s, np.nan), q)


@pytest.mark.parametrize(("given", "column"), [
    ("labels", "i"), ("levels", "s"), ("number of actives", "s"),
    *(pytest.param(*case, marks=pytest.mark.slow) for case in (
        ("labels", "s"), ("levels", "i"), ("number of actives", "i"), ("numbers", "s"), ("numbers", "i"))),
])  # fmt: skip
def test_items_of_a_library_without_a_row_rank_last(docked, given, column):
    from hitcurve.spark import gain_curve, hit_curve

    rows, library, (y, s, _) = docked
    s = s if column == "s" else np.trunc(1000 * s)
    if given == "levels":
        found = gain_curve(rows, "grade", column, library=library, id="id")
        assert found == hc.GainCurve(2 * y, s, nan_policy="worst")
        return
    how = {
        "labels": {"library": library, "id": "id"},
        "number of actives": {"library": library.drop("y"), "id": "id", "num_actives": int(y.sum())},
        "numbers": {"library": len(y), "num_actives": int(y.sum())},
    }[given]
    assert hit_curve(rows, "y", column, **how) == hc.HitCurve(y, s, nan_policy="worst")


# Of the 12 queries none is large, one, two or all. Each large one is counted by itself.
@pytest.mark.parametrize(("kind", "column", "large"), [
    ("levels", "i", 1),
    *(pytest.param(kind, column, large, marks=pytest.mark.slow)
      for kind in ("hits", "levels") for column in "si" for large in (None, 2, 12)),
])  # fmt: skip
def test_items_of_a_library_without_a_row_rank_last_in_their_query(docked, kind, column, large):
    from hitcurve.spark import gain_curves, hit_curves

    rows, library, (y, s, q) = docked
    few = np.flatnonzero(q < 12)
    rows, library = rows.where("q < 12"), library.where("q < 12 or q = 15")
    y, s, q = y[few], s[few] if column == "s" else np.trunc(1000 * s[few]), q[few]
    if kind == "hits":
        make, label, names = hit_curves, "y", ["AP", "EF@5%", "BEDROC(20)", "ROCAUC"]
        expected = hc.HitCurves(y, s, qid=q, nan_policy="worst")
    else:
        make, label, names = gain_curves, "grade", ["nDCG", "AP"]
        expected = hc.GainCurves(2 * y, s, qid=q, nan_policy="worst")
    max_query = None
    if large is not None:
        max_query = int(np.sort([0, *expected.num_items])[-1 - large])
        assert np.sum(expected.num_items > max_query) == large
    policy = {"s": "worst", "i": "raise"}[column]
    options = {"library": library, "id": "id", "max_query": max_query, "nan_policy": policy}
    found = make(rows, "q", label, column, names, **options).toArrow().sort_by("q")
    assert found.column("q").to_pylist() == expected.qid.tolist()
    assert found.column("num_items").to_pylist() == expected.num_items.tolist()
    for name in names:
        np.testing.assert_array_equal(found.column(name).to_numpy(), parse(name)(expected))


def test_a_library_that_does_not_fit(spark):
    from pyspark.sql import functions as F

    from hitcurve.spark import _checked, gain_curve, hit_curve

    one = "c1"
    table = pa.table({"id": ["c1", "c2", "c3", "c4", "c5"], "y": [True, False, True, False, False],
                      "q": [1, 1, 1, 2, 2], "grade": [2, 0, 1, 0, 0], "s": [5.0, 4.0, 3.0, 2.0, 1.0]})  # fmt: skip
    library = spark.createDataFrame(table.drop_columns("s"))
    rows = spark.createDataFrame(table.slice(0, 4))
    of_one = F.col("id") == one
    for other, problem in (
        (library.where(~of_one), f"1 id .such as '{one}'. are not in library"),
        (library.union(library.where(of_one)), f"1 id .such as '{one}'. come more than once in library"),
        (library.withColumn("y", F.when(of_one, ~F.col("y")).otherwise(F.col("y"))),
         f"'{one}'. have another label in library than in df"),
        (library.withColumn("y", F.when(~of_one, F.col("y"))), "have no label in library: not a label"),
        (library.withColumn("id", F.when(~of_one, F.col("id"))), "have no id"),
    ):
        with pytest.raises(ValueError, match=problem):
            hit_curve(rows, "y", "s", library=other, id="id")
    with pytest.raises(ValueError, match="come more than once in df"):
        hit_curve(rows.union(rows.where(of_one)), "y", "s", library=library, id="id")
    for options, problem in (
        ({"library": 5, "num_actives": 1}, "library has 5 items and 1 of them are relevant, but the DataFrame has"),
        ({"library": 5}, "a number, which needs num_actives"),
        ({"library": library}, "id does not name the column"),
        ({"library": library.drop("y"), "id": "id"}, "library has no column 'y': give num_actives"),
        ({"library": library, "id": "id", "num_actives": 3}, "leave out num_actives"),
        ({"library": library, "id": "id", "nan_policy": "omit"}, "give nan_policy='worst'"),
        ({"library": library, "id": "id", "num_relevant": 3}, "library and num_relevant cannot be combined"),
        ({"id": "id"}, "id needs library"),
    ):
        with pytest.raises(ValueError, match=problem):
            hit_curve(rows, "y", "s", **options)
    with pytest.raises(ValueError, match="library and unretrieved cannot be combined"):
        gain_curve(rows, "grade", "s", library=library, id="id", unretrieved=[1])
    with pytest.raises(TypeError, match="library is of type list: it must be a number or a DataFrame"):
        hit_curve(rows, "y", "s", library=["a"], id="id")
    # Of an item without a row the score is null, of a row it is NaN.
    _checked(pa.array([1.0, None]), "raise", "s", absent=True)
    with pytest.raises(BadCell, match=r"column 's': nan"):
        _checked(pa.array([1.0, None, math.nan]), "raise", "s", absent=True)


@pytest.mark.slow
def test_a_row_without_a_score_beside_a_library(docked):
    from pyspark.sql import functions as F

    from hitcurve.spark import hit_curves

    rows, library, _ = docked
    nan = rows.withColumn("s", F.when(F.col("q") != 7, F.col("s")))
    with pytest.raises(Exception, match=r"column 's': nan"):
        hit_curves(nan, "q", "y", "s", library=library, id="id").collect()


def test_rows_that_change_between_the_passes_are_an_error(few):
    from hitcurve.spark import hit_curve

    def different(batches):
        for batch in batches:
            yield batch.set_column(1, "s", pa.array([time.time()] * batch.num_rows))

    with pytest.raises(ValueError, match="cache the DataFrame"):
        hit_curve(few.select("y", "s").mapInArrow(different, "y boolean, s double"), "y", "s")


@pytest.mark.slow
def test_a_task_that_fails_is_tried_again(frame, items, tmp_path):
    from hitcurve.spark import hit_curve

    def fail():
        raise RuntimeError("the first attempt fails")

    y, s, _ = items
    frail = frame.mapInArrow(once(tmp_path, "failed", fail), frame.schema)
    assert hit_curve(frail, "y", "s") == hc.HitCurve(y, s)
    assert (tmp_path / "failed").exists()


@pytest.mark.slow
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
    found = hit_curves(frail, "q", "y", "s").toArrow().sort_by("q")
    assert found.column("AP").to_pylist() == hc.HitCurves(y, s, qid=q).average_precision().tolist()
    assert (tmp_path / "killed again").exists()


@pytest.mark.slow
def test_a_task_tried_twice_at_once(frame, items, tmp_path):
    from hitcurve.spark import hit_curve, hit_curves

    def slow(batches):
        from pyspark import TaskContext

        # The first attempt gives some rows and waits; another is started beside it, and ends before it.
        context = TaskContext.get()
        for batch in batches:
            yield batch
            if context.partitionId() == 2 and context.attemptNumber() == 0:
                (tmp_path / str(context.stageId())).touch()
                until((tmp_path / "over").exists, "this attempt is not ended")
        if context.partitionId() == 2 and context.attemptNumber() > 0:
            (tmp_path / f"{context.stageId()} again").touch()

    y, s, q = items
    frail = frame.mapInArrow(slow, frame.schema)
    assert hit_curve(frail, "y", "s") == hc.HitCurve(y, s)
    found = hit_curves(frail, "q", "y", "s", max_query=None).toArrow().sort_by("q")
    assert found.column("AP").to_pylist() == hc.HitCurves(y, s, qid=q).average_precision().tolist()
    stages = {path.name for path in tmp_path.iterdir()}
    (tmp_path / "over").touch()
    assert len(stages) == 6  # two passes and one
    assert stages == {f"{name}{again}" for name in stages if name.isdigit() for again in ("", " again")}


@pytest.mark.parametrize("together", [500, pytest.param(1 << 18, marks=pytest.mark.slow)])
def test_queries_equal_those_in_memory(frame, items, together, monkeypatch):
    import hitcurve.spark

    if together == 500:
        for name, value in {"_TOGETHER": 500, "_PACK_ROWS": 700, "_PIECE": 3}.items():
            monkeypatch.setattr(hitcurve.spark, name, value)
    y, s, q = items
    names = ["AP", "P@10", "AP(norm=min)@5", "RR", "AP(ties=worst)", "ROCAUC"]
    found = hitcurve.spark.hit_curves(frame, "q", "y", "s", names, ties="best").toArrow().sort_by("q")
    curves = hc.HitCurves(y, s, qid=q)
    assert found.column_names == ["q", "num_items", "num_relevant", *names]
    assert found.column("q").to_pylist() == curves.qid.tolist()
    assert found.column("num_items").to_pylist() == curves.num_items.tolist()
    for name in names:
        np.testing.assert_array_equal(found.column(name).to_numpy(), parse(name)(curves, ties="best"))


@pytest.mark.parametrize(("piece", "size"), [(512, 1 << 13), (4, 1 << 13), (512, 20)])
@pytest.mark.parametrize("kind", ["int32", "string"])
def test_a_run_of_a_query_is_packed_once(monkeypatch, piece, size, kind):
    import hitcurve.spark

    monkeypatch.setattr(hitcurve.spark, "_PIECE", piece)
    monkeypatch.setattr(hitcurve.spark, "_PIECE_BYTES", size)
    rng = np.random.default_rng(12)
    q, y, s = np.repeat(rng.integers(0, 40, 200), 7), rng.random(1400) < 0.5, rng.standard_normal(1400)
    of = [None if one == 9 else one if kind == "int32" else f"q{one}" for one in q.tolist()]
    codes = (2 * (q % 5) + y).astype(np.int32)
    rows = pa.table({"code": codes, "score": s, "query": pa.array(of, kind)}).to_batches(100)
    judged = hitcurve.spark._Judged("y")
    packed = pa.Table.from_batches(hitcurve.spark._packing(judged, "s", "raise")(iter(rows)))
    lengths = [np.frombuffer(one, np.uint16) for one in packed.column("runs").to_pylist()]
    assert sum(int(one.sum()) for one in lengths) == 1400
    assert max(int(one.sum()) for one in lengths) <= piece
    if size > 20:
        assert sum(map(len, lengths)) <= 200 + len(lengths)
    else:
        assert max(int(one.sum()) for one in lengths) <= 5
    asked, of_query = {"AP": parse("AP")}, pa.type_for_alias(kind)
    measure = hitcurve.spark._measuring(asked, "q", of_query, s.dtype, "expected", {}, judged)
    batches = packed.sort_by("bucket").to_batches(7)
    found = {row["q"]: row["AP"] for one in measure(iter(batches)) for row in one.to_pylist()}
    curves = hc.HitCurves(y, s, qid=q)
    names = [of[q.tolist().index(one)] for one in curves.qid.tolist()]
    assert found == dict(zip(names, curves.average_precision().tolist(), strict=True))


@pytest.mark.slow
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
        assert row["AP"] == ap or (one == 4 and row["AP"] is None and row["num_relevant"] == 0)
    assert len(found) == len(curves)


@pytest.mark.slow
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


@pytest.mark.parametrize("large", ["false", pytest.param("true", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("kind", "of_query"),
    [
        ("string", "if(q % 7 = 0, '', concat('the query ', repeat('é', int(q % 5)), q))"),
        pytest.param("binary", "encode(string(q), 'utf-8')", marks=pytest.mark.slow),
        pytest.param("tinyint", "tinyint(q % 100 - 50)", marks=pytest.mark.slow),
        pytest.param("boolean", "q % 2 = 0", marks=pytest.mark.slow),
        ("float", "if(q % 3 = 0, float('nan'), if(q % 3 = 1, float('-0.0'), float(q)))"),
        ("decimal(20,3)", "cast(q / 8 as decimal(20, 3))"),
        pytest.param("date", "date_from_unix_date(int(q))", marks=pytest.mark.slow),
        pytest.param("timestamp", "timestamp_micros(q * 1234567890123)", marks=pytest.mark.slow),
    ],
)
def test_types_of_queries(spark, frame, items, kind, of_query, large):
    from pyspark.sql import functions as F

    from hitcurve.spark import hit_curves

    name = "spark.sql.execution.arrow.useLargeVarTypes"
    spark.conf.set(name, large)
    try:
        named = frame.withColumn("query", F.expr(f"if(q = 11, null, {of_query})"))
        assert dict(named.dtypes)["query"] == kind
        found = {repr(row[0]): row[1:] for row in hit_curves(named, "query", "y", "f", max_query=None).collect()}
        of = {row[0]: repr(row[1]) for row in named.select("q", "query").distinct().collect()}
    finally:
        spark.conf.unset(name)
    y, s, q = items
    codes = {name: code for code, name in enumerate(sorted(set(of.values())))}
    curves = hc.HitCurves(y, s.astype(np.float32), qid=[codes[of[one]] for one in q.tolist()])
    values = zip(curves.num_items, curves.num_relevant, curves.average_precision(), strict=True)
    assert found == dict(zip(sorted(codes), values, strict=True))


@pytest.mark.parametrize("max_query", [None, pytest.param(3, marks=pytest.mark.slow)])
def test_means_pass_over_queries_without_a_relevant_item(spark, max_query):
    from hitcurve.spark import gain_curves, hit_curves

    q = np.repeat(np.arange(5), 4)
    level = np.array([[2, 0, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 0], [0, 2, 0, 0]]).ravel()
    s = np.tile([4.0, 3.0, 3.0, 1.0], 5)
    df = spark.createDataFrame(pa.table({"q": q, "level": level, "y": level > 0, "s": s}))
    curves, gains = hc.HitCurves(level > 0, s, qid=q), hc.GainCurves(level, s, qid=q)
    names = ["AP@10", "P@2", "F1@2", "ROCAUC", "BEDROC(80.5)", "RR"]
    sums = {"sum(NumRet)": 20.0, "sum(NumRel)": curves.num_relevant.sum()}
    graded = ["nDCG@10", "ERR(max=2)", "DCG@2", "P(rel=2)@1", "RBP(p=0.8)", "nDCG(gains={1:0,2:2})@2"]
    for make, label, known, asked in ((hit_curves, "y", curves, names), (gain_curves, "level", gains, graded)):
        found = make(df, "q", label, "s", [*asked, "NumRet", "NumRel"], max_query=max_query)
        each = {"NumRet": "sum", "NumRel": "sum", **{f"`{name}`": "mean" for name in asked}}
        means = {f"avg({name})": pytest.approx(known.mean(name), rel=1e-15) for name in asked}
        assert found.agg(each).collect()[0].asDict() == sums | means


def test_names_that_are_one_to_spark(spark):
    from hitcurve.spark import hit_curve, hit_curves

    df = spark.createDataFrame(pa.table({"ap": [1, 1], "y": [1, 0], "s": [2.0, 1.0]}))
    twins = "the columns 'ap' and 'AP', which are the same name to Spark: rename the query column"
    with pytest.raises(ValueError, match=twins):
        hit_curves(df, "ap", "y", "s")
    assert hit_curves(df, "AP", "Y", "S", ["P@1"], max_query=None).agg({"P@1": "mean"}).collect()[0][0] == 1.0
    twice = spark.createDataFrame(pa.table({"q": [1, 1], "y": [1, 0], "s": [2.0, 1.0], "S": [1.0, 2.0]}))
    with pytest.raises(ValueError, match="'s' and 'S' are the same column to Spark"):
        hit_curve(twice, "y", "s")
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        assert hit_curve(twice, "y", "S").average_precision() == 0.5
        assert hit_curves(df, "ap", "y", "s", max_query=None).columns == ["ap", "num_items", "num_relevant", "AP"]
        with pytest.raises(ValueError, match="there is no column 'Y'; the columns are 'ap', 'y', 's'"):
            hit_curve(df, "Y", "s")
    finally:
        spark.conf.unset("spark.sql.caseSensitive")


def test_columns_with_dots_in_their_names(frame, items):
    from hitcurve.spark import hit_curves

    y, s, q = items
    named = frame.selectExpr("y as `a.y`", "s as `a.s`", "q as `a``.q`")
    # The largest query apart, as by hit_curve.
    found = hit_curves(named, "a`.q", "a.y", "a.s", max_query=int(np.bincount(q).max()) - 1).toArrow().sort_by("a`.q")
    assert found.column("AP").to_pylist() == hc.HitCurves(y, s, qid=q).average_precision().tolist()


def test_queries_that_have_no_type_of_their_own(frame):
    from pyspark.sql import functions as F

    from hitcurve.spark import hit_curves

    with pytest.raises(TypeError, match="column 'both' is of type struct<q:bigint,i:int>: queries must be"):
        hit_curves(frame.withColumn("both", F.struct("q", "i")), "both", "y", "s")


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["worst", "omit"])
def test_queries_with_nan(frame, items, policy):
    from pyspark.sql import functions as F

    from hitcurve.spark import hit_curves

    y, s, q = items
    holes = F.when((F.col("q") == 3) | (F.col("i") % 3 == 0), None).otherwise(F.col("s"))
    how = {"nan_policy": policy, "max_query": None}
    found = hit_curves(frame.withColumn("s", holes), "q", "y", "s", **how).toArrow().sort_by("q")
    missing = (q == 3) | ((1000 * s).astype(np.int32) % 3 == 0)
    curves = hc.HitCurves(y, np.where(missing, np.nan, s), qid=q, nan_policy=policy)
    assert found.column("num_items").to_pylist() == curves.num_items.tolist()
    np.testing.assert_array_equal(found.column("AP").to_numpy(), curves.average_precision())


@pytest.mark.slow
def test_many_thresholds_come_and_go_in_slices(spark):
    from hitcurve.spark import hit_curve

    rng = np.random.default_rng(8)
    y, s = rng.random(200_000) < 0.5, rng.standard_normal(200_000)
    frame = spark.createDataFrame(pa.table({"y": y, "s": s})).repartition(4)
    assert hit_curve(frame, "y", "s") == hc.HitCurve(y, s)


CONNECT = """
import numpy as np, pyarrow as pa, sys
import hitcurve as hc
from hitcurve.spark import hit_curve, hit_curves
from pyspark.sql import SparkSession

spark = SparkSession.builder.remote("local[2]").getOrCreate()
spark.conf.set("spark.sql.shuffle.partitions", "3")
assert "connect" in type(spark).__module__
rng = np.random.default_rng(6)
y, q = rng.random(60_000) < 0.4, np.maximum(rng.integers(-100, 300, 60_000), 0)
s = rng.standard_normal(60_000) + y
frame = spark.createDataFrame(pa.table({"y": y, "s": s, "q": q}))
assert hit_curve(frame, "y", "s") == hc.HitCurve(y, s)
curves = hc.HitCurves(y, s, qid=q)
for max_query in (10_000_000, 1_000):
    found = hit_curves(frame, "q", "y", "s", max_query=max_query).orderBy("q").toArrow()
    assert found.column("AP").to_pylist() == curves.average_precision().tolist()
try:
    hit_curve(frame.selectExpr("y", "if(q = 5, null, s) s"), "y", "s")
except ValueError as error:
    assert "column 's': nan" in str(error)
else:
    raise AssertionError
spark.stop()
print("the same")
"""


@pytest.mark.slow
def test_presets(spark):
    """Spark's own MLlib: lists in rank order, one of them without an answer, and labels with tied scores."""
    from pyspark.mllib.evaluation import BinaryClassificationMetrics, RankingMetrics

    rng = np.random.default_rng(11)
    queries = [(rng.permutation(30)[:size].tolist(), rng.permutation(30)[:answers].tolist())
               for size, answers in zip([5, 12, 3, 20, 8], [4, 7, 9, 1, 0], strict=True)]  # fmt: skip
    flags = [[item in answers for item in items] for items, answers in queries]
    offsets = np.cumsum([0, *map(len, flags)])
    metrics = RankingMetrics(spark.sparkContext.parallelize(queries, 2))
    for k in (None, 1, 5, 50):
        theirs = metrics.meanAveragePrecision if k is None else metrics.meanAveragePrecisionAt(k)
        ours = hc.mean_average_precision(np.concatenate(flags), np.zeros(offsets[-1]), offsets=offsets, k=k,
                                         num_relevant=[len(answers) for _, answers in queries], **hc.PRESETS["Spark"])
        assert ours == pytest.approx(theirs, rel=1e-14)
    y, s = rng.integers(0, 2, 200), rng.integers(0, 30, 200)
    pairs = [*zip(s.astype(float).tolist(), y.astype(float).tolist(), strict=True)]
    theirs = BinaryClassificationMetrics(spark.sparkContext.parallelize(pairs, 2)).areaUnderPR
    assert hc.average_precision(y, s, **hc.PRESETS["Spark areaUnderPR"]) == pytest.approx(theirs, rel=1e-13)


@pytest.mark.slow
def test_spark_connect(environment):
    for name in ("grpc", "grpc_status", "google.rpc", "zstandard"):
        pytest.importorskip(name, reason=f"Spark Connect's client needs {name}: pip install 'pyspark[connect]'")
    run = subprocess.run([sys.executable, "-c", CONNECT], capture_output=True, text=True, timeout=300, check=False)
    assert run.stdout.endswith("the same\n"), run.stderr


# --- levels of relevance ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def graded(frame):
    from pyspark.sql import functions as F

    level = F.when(F.col("y"), 1 + F.col("q") % 4).otherwise(0)
    return frame.withColumn("level", level).withColumn("gain", (level / 3).cast("double"))


@pytest.mark.parametrize(("column", "score", "lower"), [
    ("gain", "f", True), ("y", "i", False),
    *(pytest.param(*case, lower, marks=pytest.mark.slow)
      for case in (("level", "s"), ("gain", "f"), ("gain", "i"), ("y", "s")) for lower in (False, True)
      if (*case, lower) != ("gain", "f", True)),
])  # fmt: skip
def test_one_ranking_of_levels_equals_that_in_memory(graded, items, column, score, lower):
    from hitcurve.spark import gain_curve

    y, s, q = items
    level = np.where(y, 1 + q % 4, 0)
    level = {"level": level, "gain": level / 3, "y": y}[column]
    s = (1000 * s).astype(np.int32) if score == "i" else s.astype(np.float32 if score == "f" else np.float64)
    expected = hc.GainCurve(level, s, lower_is_better=lower, unretrieved=[2, 5])
    curve = gain_curve(graded, column, score, lower_is_better=lower, unretrieved=[2, 5])
    assert curve == expected
    for ties in ("expected", "best", "worst"):
        assert curve.ndcg(100, ties=ties) == expected.ndcg(100, ties=ties)


@pytest.mark.parametrize("policy", ["worst", pytest.param("omit", marks=pytest.mark.slow)])
def test_levels_beside_missing_scores(graded, items, policy):
    from pyspark.sql import functions as F

    from hitcurve.spark import gain_curve, gain_curves

    y, s, q = items
    level, s = np.where(y, 1 + q % 4, 0), np.where(q % 3 == 0, np.nan, s)
    holes = graded.withColumn("s", F.when(F.col("q") % 3 == 0, F.lit(None)).otherwise(F.col("s")))
    assert gain_curve(holes, "level", "s", nan_policy=policy) == hc.GainCurve(level, s, nan_policy=policy)
    how = {"nan_policy": policy, "max_query": None}
    found = gain_curves(holes, "q", "level", "s", ["nDCG@5"], **how).toArrow().sort_by("q")
    expected = hc.GainCurves(level, s, qid=q, nan_policy=policy)
    np.testing.assert_array_equal(found.column("nDCG@5").to_numpy(), expected.ndcg(5))


@pytest.mark.parametrize(
    ("together", "max_query"),
    [(500, None), *(pytest.param(1 << 18, most, marks=pytest.mark.slow) for most in (10_000_000, 210))])
def test_queries_of_levels_equal_those_in_memory(graded, items, together, max_query, monkeypatch):
    import hitcurve.spark

    if together == 500:
        for name, value in {"_TOGETHER": 500, "_PACK_ROWS": 700, "_PIECE": 3}.items():
            monkeypatch.setattr(hitcurve.spark, name, value)
    y, s, q = items
    names = ["nDCG", "nDCG@10", "nDCG(dcg=exp-log2)@5", "ERR(ties=worst)", "AP", "AP(rel=3)", "NumRel"]
    curves = hc.GainCurves(np.where(y, 1 + q % 4, 0), s, qid=q)
    chosen, kept = graded, np.ones(len(curves), bool)
    if max_query == 210:  # few, as each large one is counted by itself
        kept = np.isin(np.arange(len(curves)), [*np.argsort(curves.num_items)[-3:], 0, 1])
        chosen = graded.where(graded.q.isin(curves.qid[kept].tolist()))
        max_query = int(np.sort(curves.num_items[kept])[2])
    found = hitcurve.spark.gain_curves(chosen, "q", "level", "s", names, ties="best", max_query=max_query)
    found = found.toArrow().sort_by("q")
    assert found.column_names == ["q", "num_items", "num_relevant", *names]
    assert found.column("q").to_pylist() == curves.qid[kept].tolist()
    assert found.column("num_relevant").to_pylist() == curves.num_relevant[kept].tolist()
    for name in names:
        np.testing.assert_array_equal(found.column(name).to_numpy(), curves.measure(name, ties="best")[kept])


@pytest.mark.parametrize("kind", ["hits", "gains"])
def test_the_register_gives_the_same_bits(spark, kind):
    """Every measure by query, and a query as a ranking of its own."""
    from hitcurve.spark import gain_curve, gain_curves, hit_curve, hit_curves

    world = routes.drawn_world(2, complete=True)
    columns, offsets = routes.laid_out(world, level="level", s="score")
    queries = [query.name for query in world.queries]
    table = {"q": np.repeat(queries, np.diff(offsets)), "y": columns["level"] > 0, **columns}
    df = spark.createDataFrame(pa.table(table)).repartition(3).cache()
    many, one, label = (hit_curves, hit_curve, "y") if kind == "hits" else (gain_curves, gain_curve, "level")
    known = routes.by_offsets(world, kind, 1, False)
    names = [parse(register.with_ties(name, ties)).name for row in register.MEASURES
             if {"hits", kind} & {*row.of} and not row.ordered for name, _ in row.written
             for ties in row.readings or ("",)]  # fmt: skip
    names = list(dict.fromkeys(names))
    found = many(df, "q", label, "s", names, max_query=None).toArrow().sort_by("q")
    assert found.column("q").to_pylist() == queries
    for name in names:
        values = found.column(name).to_numpy(zero_copy_only=False).astype(float)
        nothing = parse(name).empty(known) if parse(name).record.mean != "sum" else False  # which is null
        wanted = np.where(nothing, np.nan, routes.values_of(known, name, "expected"))
        np.testing.assert_array_equal(values, wanted, name)
    assert one(df.where(df.q == queries[2]), label, "s") == known[2]


@pytest.mark.parametrize(
    "wrong",
    ["null", *(pytest.param(one, marks=pytest.mark.slow)
               for one in ("-1", "double('nan')", "double('inf')", "9007199254740993L"))],
)  # fmt: skip
def test_bad_levels(few, wrong):
    from pyspark.sql import functions as F

    from hitcurve.spark import gain_curve

    kind = "bigint" if wrong[0] == "9" else "double"
    bad = few.withColumn("level", F.expr(f"if(q = 7, {wrong}, level)").cast(kind))
    with pytest.raises(ValueError, match=r"partition \d+, row \d+, column 'level': not a level: a"):
        gain_curve(bad, "level", "s")


def test_bad_levels_of_queries_and_options(few):
    from pyspark.sql import functions as F

    from hitcurve.spark import gain_curve, gain_curves

    bad = few.withColumn("level", F.expr("if(q = 7, -1, level)").cast("double"))
    with pytest.raises(Exception, match=r"query 7, column 'level': not a level: a level must be finite and at least 0"):
        gain_curves(bad, "q", "level", "s", max_query=None).collect()
    with pytest.raises(TypeError, match="column 'level' is of type string: levels must be real numbers"):
        gain_curve(few.withColumn("level", F.lit("1")), "level", "s")
    with pytest.raises(ValueError, match=r"unretrieved\[0\] is -1"):
        gain_curve(few, "level", "s", unretrieved=[-1])
    with pytest.raises(ValueError, match="unknown option 'rel=2'; nDCG takes"):
        gain_curves(few, "q", "level", "s", ["nDCG(rel=2)"])
    with pytest.raises(ValueError, match="nDCG is not defined for ties='threshold'"):
        gain_curves(few, "q", "level", "s", ["nDCG"], ties="threshold")


# --- levels by subtopic ---------------------------------------------------------------------------------------------

SUBTOPICS = ["car", "cat", "system"]


@pytest.fixture(scope="module")
def topical(spark, items):
    """(a frame, its levels by subtopic, the ids of its rows as numbers and as texts)."""
    y, s, q = items
    rng = np.random.default_rng(8)
    level = rng.integers(0, 3, (len(y), 3)) * y[:, None]
    number = rng.permutation(len(y)).astype(np.int64) - len(y) // 3
    text = np.array([f"é{one}" if one % 3 else f"D{one}" for one in number.tolist()])
    columns = dict(zip(SUBTOPICS, (level[:, 0], level[:, 1].astype(np.float32), level[:, 2] > 1), strict=True))
    level[:, 2] = level[:, 2] > 1
    table = pa.table({"s": s, "i": (1000 * s).astype(np.int32), "q": q, "id": number, "doc": text, **columns})
    return spark.createDataFrame(table).repartition(3).cache(), level, {"id": number, "doc": text}


def same_subtopics(curve, expected):
    assert curve == expected
    for known, column in zip(expected._pool, curve._pool, strict=True):
        np.testing.assert_array_equal(column, known)
    for name in ("alpha_nDCG", "nERR_IA@20", "ERR_IA@20", "AP_IA", "P_IA@10", "AP"):
        assert curve.measure(name) == expected.measure(name)


@pytest.mark.parametrize(("docid", "score", "lower"), [
    pytest.param("id", "i", False, marks=pytest.mark.slow), ("doc", "s", True)])  # fmt: skip
def test_one_ranking_by_subtopic_equals_that_in_memory(topical, items, docid, score, lower):
    from hitcurve.spark import subtopic_curve

    frame, level, ids = topical
    at = np.argsort(ids[docid])[::-1]
    s = (1000 * items[1]).astype(np.int32) if score == "i" else items[1]
    options = {"unretrieved": [[0, 0, 1], [2, 0.5, 0], [0, 0, 0]], "lower_is_better": lower}
    expected = hc.SubtopicCurve(level[at], s[at], subtopics=SUBTOPICS, **options)
    same_subtopics(subtopic_curve(frame, SUBTOPICS, score, docid=docid, **options), expected)


@pytest.mark.parametrize("policy", ["worst", pytest.param("omit", marks=pytest.mark.slow)])
def test_subtopics_beside_missing_scores(topical, items, policy):
    from pyspark.sql import functions as F

    from hitcurve.spark import subtopic_curve, subtopic_curves

    frame, level, ids = topical
    _, s, q = items
    at = np.argsort(ids["id"])[::-1]
    holes = frame.withColumn("s", F.when(F.col("q") % 3 == 0, F.lit(None)).otherwise(F.col("s")))
    level, s, q = level[at], np.where(q % 3 == 0, np.nan, s)[at], q[at]
    how = {"docid": "id", "nan_policy": policy}
    expected = hc.SubtopicCurve(level, s, subtopics=SUBTOPICS, nan_policy=policy)
    same_subtopics(subtopic_curve(holes, SUBTOPICS, "s", **how), expected)
    found = subtopic_curves(holes, "q", SUBTOPICS, "s", ["alpha_nDCG@5"], max_query=None, **how).toArrow().sort_by("q")
    curves = hc.SubtopicCurves(level, s, qid=q, subtopics=SUBTOPICS, nan_policy=policy)
    np.testing.assert_array_equal(found.column("alpha_nDCG@5").to_numpy(), curves.alpha_ndcg(5))


@pytest.mark.parametrize(
    ("together", "max_query", "docid"),
    [(500, None, "doc"), pytest.param(1 << 18, 10_000_000, "id", marks=pytest.mark.slow),
     pytest.param(1 << 18, 210, "doc", marks=pytest.mark.slow)])
def test_queries_by_subtopic_equal_those_in_memory(topical, items, together, max_query, docid, monkeypatch):
    """Every measure of subtopics in the register, and measures without subtopics."""
    import hitcurve.spark

    if together == 500:
        for name, value in {"_TOGETHER": 500, "_PACK_ROWS": 700, "_PIECE": 3}.items():
            monkeypatch.setattr(hitcurve.spark, name, value)
    frame, level, ids = topical
    at = np.argsort(ids[docid])[::-1]
    names = [name for row in register.MEASURES if "subtopics" in row.of for name, _ in row.written
             if "ideal=exact" not in name]  # fmt: skip
    names += ["P_IA(ties=worst)@3", "AP", "AP(rel=2)", "nDCG@10", "NumRel"]
    curves = hc.SubtopicCurves(level[at], items[1][at], qid=items[2][at], subtopics=SUBTOPICS)
    kept = np.ones(len(curves), bool)
    if max_query == 210:  # few, as each large one is counted by itself
        kept = np.isin(np.arange(len(curves)), [*np.argsort(curves.num_items)[-3:], 0, 1])
        frame = frame.where(frame.q.isin(curves.qid[kept].tolist()))
        max_query = int(np.sort(curves.num_items[kept])[2])
    found = hitcurve.spark.subtopic_curves(frame, "q", SUBTOPICS, "s", names, docid=docid, max_query=max_query)
    found = found.toArrow().sort_by("q")
    assert found.column_names == ["q", "num_items", "num_relevant", *names]
    assert found.column("num_items").to_pylist() == curves.num_items[kept].tolist()
    assert found.column("num_relevant").to_pylist() == curves.num_relevant[kept].tolist()
    for name in names:
        values = found.column(name).to_numpy(zero_copy_only=False).astype(float)
        np.testing.assert_array_equal(values, curves.measure(name)[kept], name)


def test_ids_decide_as_in_evaluate(spark):
    from hitcurve.spark import subtopic_curves

    rng, subtopics = np.random.default_rng(8), [*"abcd"]
    level, score, docs = rng.integers(0, 2, (40, 4)), rng.permutation(40) / 8, [f"d{one}" for one in range(40)]
    query = [f"q{at % 4}" for at in range(40)]
    names = ["alpha_nDCG@5", "nERR_IA", "nNRBP@3", "alpha_nDCG(ideal=exact)@3"]
    table = pa.table({"q": query, "doc": docs, "s": score, **dict(zip(subtopics, level.T, strict=True))})
    frame = spark.createDataFrame(table)
    found = subtopic_curves(frame, "q", subtopics, "s", names, docid="doc", max_query=None)
    found = found.toArrow().sort_by("q")
    judged, run = {}, {}
    for q, doc, of_doc, one in zip(query, docs, level.tolist(), score.tolist(), strict=True):
        judged.setdefault(q, {})[doc] = dict(zip(subtopics, of_doc, strict=True))
        run.setdefault(q, {})[doc] = one
    expected = hc.evaluate(judged, run, names, subtopics=True)
    for name in names:
        assert found.column(name).to_pylist() == expected.values[name].tolist()
    order = sorted(range(40), key=docs.__getitem__)  # the smaller id first gives another number
    other = hc.SubtopicCurves(level[order], score[order], qid=np.arange(40)[order] % 4).alpha_ndcg(5)
    assert expected.values["alpha_nDCG@5"].tolist() != other.tolist()


def test_rows_of_the_same_id(spark):
    """They come in the order of their levels, however they are spread."""
    from hitcurve.spark import subtopic_curve, subtopic_curves

    level = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 0, 0, 0]])
    score, ids = [1.0, 3.0, 2.0, 4.0], [7, 7, 7, None]  # a row that is not relevant needs no id
    subtopics = [*"abcd"]
    orders = [0, 1, 2, 3], [2, 1, 0, 3], [3, 1, 2, 0], [3]  # the last has no relevant row
    rows, query = np.concatenate(orders), np.repeat(range(4), [*map(len, orders)])
    table = {"q": query, "s": np.take(score, rows), "id": pa.array([ids[i] for i in rows], pa.int16()),
             **dict(zip(subtopics, level[rows].T, strict=True))}  # fmt: skip
    frame = spark.createDataFrame(pa.table(table)).repartition(2)
    found = subtopic_curves(frame, "q", subtopics, "s", docid="id", max_query=None).collect()
    found.sort(key=lambda row: row["q"])
    first, *others = (subtopic_curve(frame.where(frame.q == one), subtopics, "s", docid="id") for one in (0, 1, 3))
    expected = hc.SubtopicCurve(level[3:], [4.0], subtopics=subtopics)
    assert others == [first, expected]
    assert [row["alpha_nDCG"] for row in found] == [first.alpha_ndcg()] * 3 + [None]
    assert (found[3]["num_items"], found[3]["num_relevant"]) == (1, 0)


def test_bad_levels_by_subtopic_and_options(few):
    from pyspark.sql import functions as F

    from hitcurve.spark import subtopic_curve, subtopic_curves

    frame = few.withColumn("system", F.lit(False))
    bad = frame.withColumn("cat", F.expr("if(q = 7, -1, cat)").cast("double"))
    rule = "column 'car' or column 'cat' or column 'system': not a level: a level must be finite and at least 0"
    with pytest.raises(ValueError, match=rf"partition \d+, row \d+, {rule}.*, or column 'id' of a relevant row: null"):
        subtopic_curve(bad, SUBTOPICS, "s", docid="id")
    with pytest.raises(Exception, match=rf"query 7, {rule}"):
        subtopic_curves(bad, "q", SUBTOPICS, "s", docid="id", max_query=None).collect()
    with pytest.raises(ValueError, match="or column 'doc' of a relevant row: null"):
        subtopic_curve(frame.withColumn("doc", F.expr("if(q = 7, null, doc)")), SUBTOPICS, "s", docid="doc")
    for how, error, said in (
        ({"subtopics": "car"}, TypeError, "subtopics is 'car': it must be a list of names of columns, one for each"),
        ({"subtopics": []}, TypeError, r"subtopics is \[\]: it must be a list"),
        ({"subtopics": ["car", 2]}, TypeError, r"subtopics is \['car', 2\]: it must be a list"),
        ({"subtopics": ["car", "cat", "car"]}, ValueError, "subtopics 'car' and 'car' are the same column: name each"),
        ({"subtopics": ["car", "CAR"]}, ValueError, "subtopics 'car' and 'CAR' are the same column"),
        ({"subtopics": ["car", "dog"]}, ValueError, "there is no column 'dog'; the columns are"),
        ({"subtopics": ["car", "doc"]}, TypeError, "column 'doc' is of type string: levels must be real numbers"),
        ({"docid": "s"}, TypeError, "column 's' is of type double: ids must be whole numbers or texts"),
        ({"docid": "rank"}, ValueError, "there is no column 'rank'"),
        ({"docid": None}, TypeError, "docid is None: it must be the name of the column of the ids"),
        ({"unretrieved": [[0, 0]]}, ValueError, r"unretrieved has shape \(1, 2\), but y_true has 3 subtopics"),
        ({"unretrieved": [[0, 0, -1]]}, ValueError, r"unretrieved\[0, 2\] is -1: a level must be"),
        ({"nan_policy": "drop"}, ValueError, "nan_policy='drop'"),
    ):  # fmt: skip
        with pytest.raises(error, match=said):
            subtopic_curve(frame, **{"subtopics": SUBTOPICS, "score": "s", "docid": "id", **how})
    for measure, ties, said in (
        ("alpha_nDCG(rel=x)", "expected", "rel"), ("alpha_nDCG", "threshold", "is not defined for ties='threshold'"),
        ("Bpref", "expected", "Bpref"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=said):
            subtopic_curves(frame, "q", SUBTOPICS, "s", [measure], docid="id", ties=ties)
