"""hitcurve.spark against Spark's own evaluators, on a cluster of two workers on this machine.

    python benchmarks/spark.py [--rows 2e7] [--queries 1e5]

One ranking: `hit_curve` against `BinaryClassificationEvaluator(areaUnderPR, numBins=0)`, which is
BinaryClassificationMetrics on a DataFrame without leaving the JVM, and against AP by SQL window functions. Queries:
`hit_curves` against RankingMetrics.meanAveragePrecision, given its arrays by the JVM. Data are Parquet in a temporary
folder; answers are compared (areaUnderPR is the trapezoid, the window query the threshold reading). Shuffled bytes are
those of Spark's own status store.
"""

import argparse
import os
import sys
import tempfile
import time

import numpy as np


def session(memory):
    import pyspark
    from pyspark.sql import SparkSession

    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_HOME=os.path.dirname(pyspark.__file__))
    settings = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false",
                "spark.log.level": "ERROR", "spark.ui.showConsoleProgress": "false",
                "spark.executor.memory": f"{memory}m",
                "spark.driver.memory": "2g", "spark.sql.shuffle.partitions": "16"}  # fmt: skip
    builder = SparkSession.builder.master(f"local-cluster[2,1,{memory}]").appName("hitcurve benchmarks")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def write(folder, rows, queries):
    """Rows of queries of 100 items each; as one ranking, 1 in 1,000 is relevant, as queries 1 in 10."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(1)
    for name, n, share in (("ranking", rows, 1e-3), ("queries", 100 * queries, 0.1)):
        os.makedirs(os.path.join(folder, name))
        for part, start in enumerate(range(0, n, 1 << 22)):
            m = min(1 << 22, n - start)
            label = rng.random(m) < share
            score = rng.standard_normal(m) + label
            query = (start + np.arange(m)) // 100 * 2654435761 % (1 << 32)
            table = pa.table({"score": score, "label": label, "query": query})
            parquet.write_table(table, os.path.join(folder, name, f"{part:04}.parquet"), row_group_size=1 << 20)


def timed(spark, what, call):
    store = spark.sparkContext._jsc.sc().statusStore()

    def stages():
        listed = store.stageList(None, False, False, spark.sparkContext._gateway.new_array(
            spark.sparkContext._jvm.double, 0), None)  # fmt: skip
        every = (listed.apply(i) for i in range(listed.size()))
        return {(one.stageId(), one.attemptId()): one.shuffleWriteBytes() for one in every}

    try:
        before = stages()
    except Exception:
        before = None
    start = time.perf_counter()
    value = call()
    seconds = time.perf_counter() - start
    shuffled = "not known"
    if before is not None:
        shuffled = f"{sum(size for key, size in stages().items() if key not in before):,}"
    print(f"  {what:<50} {seconds:8.1f} s   shuffled bytes {shuffled:>16}   {value!r}", flush=True)
    return value, seconds


def close(a, b):
    if not abs(a - b) <= 1e-9 * abs(b):
        sys.exit(f"WRONG: {a!r} against {b!r}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=2e7)
    parser.add_argument("--queries", type=float, default=1e5)
    parser.add_argument("--memory", type=int, default=2048, help="MiB of an executor")
    options = parser.parse_args()
    spark = session(options.memory)
    from pyspark.ml.evaluation import BinaryClassificationEvaluator
    from pyspark.sql import functions as F

    from hitcurve.spark import hit_curve, hit_curves

    with tempfile.TemporaryDirectory() as folder:
        write(folder, int(options.rows), int(options.queries))
        frame = spark.read.parquet(os.path.join(folder, "ranking"))
        rows = frame.count()
        hit_curve(frame.limit(1000), "label", "score")  # starts the workers
        print(f"one ranking of {rows:,} rows in {frame.rdd.getNumPartitions()} partitions")
        curve, ours = timed(spark, "hitcurve.spark.hit_curve", lambda: hit_curve(frame, "label", "score"))
        numeric = frame.select("score", F.col("label").cast("double").alias("label"))
        judge = BinaryClassificationEvaluator(
            rawPredictionCol="score", metricName="areaUnderPR", numBins=0
        )  # fmt: skip
        area, theirs = timed(spark, "BinaryClassificationEvaluator, areaUnderPR", lambda: judge.evaluate(numeric))
        close(area, curve.average_precision(interpolation="trapezoid", ties="threshold"))
        frame.createOrReplaceTempView("ranking")
        query = """
            with grouped as (select score, sum(int(label)) r, count(*) n from ranking group by score),
                 walked as (select r, sum(r) over w h, sum(n) over w c from grouped window w as
                            (order by score desc rows unbounded preceding))
            select sum(r * h / c) / sum(r) from walked"""
        value, window = timed(spark, "SQL window functions", lambda: spark.sql(query).first()[0])
        close(value, curve.average_precision(ties="threshold"))
        print(f"  {theirs / ours:.1f} times as fast as areaUnderPR, {window / ours:.1f} times as the window query; "
              f"{len(curve):,} relevant scores")  # fmt: skip

        frame = spark.read.parquet(os.path.join(folder, "queries"))
        print(f"{int(options.queries):,} queries of 100")

        def mean():
            curves = hit_curves(frame, "query", "label", "score")
            return curves.where(~F.isnan("AP")).agg({"AP": "mean"}).first()[0]

        value, ours = timed(spark, "hitcurve.spark.hit_curves", mean)

        def ranking_metrics():
            # As its users do it: items of each query in order of score, and the relevant ones.
            item = F.monotonically_increasing_id()
            ranked = (
                frame.withColumn("item", item).groupBy("query")
                .agg(F.sort_array(F.collect_list(F.struct("score", "item", "label")), asc=False).alias("items"))
                .select(F.col("items.item").alias("prediction"),
                        F.expr("transform(filter(items, x -> x.label), x -> x.item)").alias("label"))
            )  # fmt: skip
            ranked = ranked.select(F.col("prediction").cast("array<double>"), F.col("label").cast("array<double>"))
            from pyspark.ml.evaluation import RankingEvaluator

            return RankingEvaluator(metricName="meanAveragePrecision").evaluate(ranked.where(F.size("label") > 0))

        theirs_value, theirs = timed(spark, "RankingMetrics.meanAveragePrecision", ranking_metrics)
        close(value, theirs_value)
        print(f"  {theirs / ours:.1f} times as fast")
    spark.stop()


if __name__ == "__main__":
    main()
