"""hitcurve.spark against Spark's own evaluators, on a cluster of two workers on this machine.

    python benchmarks/spark.py [--rows 2e7] [--queries 1e5] [--against area window ranking] [--folder DATA]
                               [--decimals 4] [--batch-bytes 67108864]

One ranking: `hit_curve` against `BinaryClassificationEvaluator(areaUnderPR, numBins=0)`, which is
BinaryClassificationMetrics on a DataFrame without leaving the JVM ("area"), and against AP by SQL window functions
("window"). Queries: the mean of `hit_curves` against RankingMetrics.meanAveragePrecision ("ranking"), both from the
same DataFrame of rows (query, score, label): making its arrays, in the JVM, belongs to what RankingMetrics costs. One
session with the same settings for all, each run once after the workers have started. `--batch-bytes 67108864` is
Spark's own limit of an Arrow batch, which costs time with each row. `--decimals` rounds the scores of the one ranking:
many ties. Data are Parquet in a temporary folder, or in `--folder`, where they stay; answers are compared (areaUnderPR
is the trapezoid, the window query the threshold reading). Shuffled bytes are those of Spark's own status store, which
`--stages` prints stage by stage.
"""

import argparse
import os
import sys
import tempfile
import time

import numpy as np


def session(memory, batch_bytes):
    import pyspark
    from pyspark.sql import SparkSession

    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_HOME=os.path.dirname(pyspark.__file__))
    settings = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false",
                "spark.log.level": "ERROR", "spark.ui.showConsoleProgress": "false",
                "spark.executor.memory": f"{memory}m",
                "spark.driver.memory": "2g", "spark.sql.shuffle.partitions": "16",
                "spark.sql.execution.arrow.maxBytesPerBatch": batch_bytes}  # fmt: skip
    builder = SparkSession.builder.master(f"local-cluster[2,1,{memory}]").appName("hitcurve benchmarks")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def write(folder, n, share, decimals=None):
    """Rows of queries of 100 items each."""
    import pyarrow as pa
    from pyarrow import parquet

    if os.path.exists(os.path.join(folder, "complete")):
        return
    os.makedirs(folder, exist_ok=True)
    rng = np.random.default_rng(1)
    for part, start in enumerate(range(0, n, 1 << 22)):
        m = min(1 << 22, n - start)
        label = rng.random(m) < share
        score = rng.standard_normal(m) + label
        if decimals is not None:
            score = score.round(decimals)
        query = (start + np.arange(m)) // 100 * 2654435761 % (1 << 32)
        table = pa.table({"score": score, "label": label, "query": query})
        parquet.write_table(table, os.path.join(folder, f"{part:04}.parquet"), row_group_size=1 << 20)
    open(os.path.join(folder, "complete"), "w").close()


def stages(spark):
    store = spark.sparkContext._jsc.sc().statusStore()
    quantiles = spark.sparkContext._gateway.new_array(spark.sparkContext._jvm.double, 0)
    listed = store.stageList(None, False, False, quantiles, None)
    every = (listed.apply(i) for i in range(listed.size()))
    return {(one.stageId(), one.attemptId()): one for one in every}


def timed(spark, what, call, verbose):
    before = stages(spark)
    start = time.perf_counter()
    value = call()
    seconds = time.perf_counter() - start
    time.sleep(0.5)  # the store follows the tasks
    new = {key: one for key, one in stages(spark).items() if key not in before and str(one.status()) != "SKIPPED"}
    shuffled = f"{sum(one.shuffleWriteBytes() for one in new.values()):,}"
    print(f"  {what:<50} {seconds:8.1f} s   shuffled bytes {shuffled:>16}   {value!r}", flush=True)
    for (stage, _), one in sorted(new.items()) if verbose else ():
        wall = one.completionTime().get().getTime() - one.firstTaskLaunchedTime().get().getTime()
        print(f"    stage {stage:<4} {one.numTasks():4} tasks {wall / 1e3:8.1f} s   of the tasks' threads "
              f"{one.executorCpuTime() / 1e9:8.1f} s   shuffled bytes {one.shuffleWriteBytes():>16,}")  # fmt: skip
    return value, seconds


def close(a, b):
    if not abs(a - b) <= 1e-9 * abs(b):
        sys.exit(f"WRONG: {a!r} against {b!r}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=2e7)
    parser.add_argument("--queries", type=float, default=1e5)
    parser.add_argument("--memory", type=int, default=2048, help="MiB of an executor")
    parser.add_argument("--against", nargs="*", default=["area", "window", "ranking"])
    parser.add_argument("--folder")
    parser.add_argument("--decimals", type=int, help="round the scores of the one ranking")
    parser.add_argument("--batch-bytes", default="2147483647", help="spark.sql.execution.arrow.maxBytesPerBatch")
    parser.add_argument("--stages", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        spark = session(options.memory, options.batch_bytes)
        try:
            run(spark, options.folder or folder, options)
        finally:
            spark.stop()


def run(spark, folder, options):
    from pyspark.ml.evaluation import BinaryClassificationEvaluator, RankingEvaluator
    from pyspark.sql import functions as F

    from hitcurve.spark import hit_curve, hit_curves

    few = spark.range(1000).selectExpr("id % 7 = 0 label", "double(id) score", "id % 10 query")  # starts the workers
    hit_curve(few, "label", "score")
    hit_curves(few, "query", "label", "score").collect()

    def mean_of_curves():
        curves = hit_curves(frame, "query", "label", "score")
        return curves.where(~F.isnan("AP")).agg({"AP": "mean"}).first()[0]

    def area():
        numeric = frame.select("score", F.col("label").cast("double").alias("label"))
        judge = BinaryClassificationEvaluator(rawPredictionCol="score", metricName="areaUnderPR", numBins=0)
        return judge.evaluate(numeric)

    def window():
        frame.createOrReplaceTempView("ranking")
        return spark.sql("""
            with grouped as (select score, sum(int(label)) r, count(*) n from ranking group by score),
                 walked as (select r, sum(r) over w h, sum(n) over w c from grouped window w as
                            (order by score desc rows unbounded preceding))
            select sum(r * h / c) / sum(r) from walked""").first()[0]

    def ranking_metrics():
        # As its users do it: items of each query in order of score, and the relevant ones.
        ranked = (
            frame.withColumn("item", F.monotonically_increasing_id()).groupBy("query")
            .agg(F.sort_array(F.collect_list(F.struct("score", "item", "label")), asc=False).alias("items"))
            .select(F.col("items.item").alias("prediction"),
                    F.expr("transform(filter(items, x -> x.label), x -> x.item)").alias("label"))
        )  # fmt: skip
        ranked = ranked.select(F.col("prediction").cast("array<double>"), F.col("label").cast("array<double>"))
        return RankingEvaluator(metricName="meanAveragePrecision").evaluate(ranked.where(F.size("label") > 0))

    if options.rows:
        rounded = "" if options.decimals is None else f"-{options.decimals}"
        data = os.path.join(folder, f"ranking-{int(options.rows)}{rounded}")
        write(data, int(options.rows), 1e-3, options.decimals)
        frame = spark.read.parquet(os.path.join(data, "*.parquet"))
        parts = frame.rdd.getNumPartitions()
        print(f"one ranking of {frame.count():,} rows in {parts} partitions, 1 in 1,000 relevant")
        curve, ours = timed(spark, "hit_curve", lambda: hit_curve(frame, "label", "score"), options.stages)
        print(f"  {len(curve):,} relevant scores")
        for name, what, call, options_of_ap in (
            ("area", "BinaryClassificationEvaluator, areaUnderPR", area, {"interpolation": "trapezoid"}),
            ("window", "SQL window functions", window, {}),
        ):
            if name in options.against:
                value, theirs = timed(spark, what, call, options.stages)
                close(value, curve.average_precision(ties="threshold", **options_of_ap))
                print(f"  hit_curve is {theirs / ours:.1f} times as fast")
    if options.queries:
        data = os.path.join(folder, f"queries-{int(options.queries)}")
        write(data, 100 * int(options.queries), 0.1)
        frame = spark.read.parquet(os.path.join(data, "*.parquet"))
        print(f"{int(options.queries):,} queries of 100 in {frame.rdd.getNumPartitions()} partitions, 1 in 10 relevant")
        value, ours = timed(spark, "hit_curves, its mean", mean_of_curves, options.stages)
        if "ranking" in options.against:
            theirs_value, theirs = timed(spark, "RankingMetrics.meanAveragePrecision", ranking_metrics, options.stages)
            close(value, theirs_value)
            print(f"  hit_curves is {theirs / ours:.1f} times as fast")


if __name__ == "__main__":
    main()
