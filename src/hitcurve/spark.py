"""Hit curves of DataFrames on Apache Spark, where the data are: the same exact numbers as in memory.

`hit_curve` is one ranking over all rows: the scores of the relevant items come to the driver, go out to the tasks with
the function that counts (Spark broadcasts what is large), and only counts come back, slice by slice of the thresholds,
added up on the cluster. `hit_curves` is a ranking for each query, with the measures computed where the query's rows
meet. Both use the DataFrame API alone, and so run on Spark Connect as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hitcurve._curve import HitCurve, HitCurves
from hitcurve._rank import BlockCounter, checked_sorted
from hitcurve.counter import table_from_counts
from hitcurve.measures import Measure, parse

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

__all__ = ["hit_curve", "hit_curves"]

# Thresholds whose counts travel together: a batch of Spark holds 10,000 rows, and must not hold gigabytes.
_SLICE = 2048
_ERROR = -1  # the slice of a row that says what is wrong
_PARTIAL = "slice int, counts binary, width int, items long, hits long, nan_items long, nan_hits long, problem string"
# Items of complete queries that are ranked together.
_TOGETHER = 1 << 18

_SCORES = {
    "float": np.float32, "double": np.float64, "tinyint": np.int64, "smallint": np.int64, "int": np.int64,
    "bigint": np.int64,
}  # fmt: skip
_LABELS = ("boolean", "tinyint", "smallint", "int", "bigint", "float", "double")


def hit_curve(
    df: DataFrame,
    label: str,
    score: str,
    *,
    num_relevant: int | None = None,
    lower_is_better: bool = False,
    nan_policy: str = "raise",
) -> HitCurve:
    """The hit curve of all rows of a DataFrame as one ranking.

    The DataFrame is computed twice: for the scores of its R relevant rows, and to count. Cache it if that is dear, or
    if it is not the same every time. Nothing is sorted, and what is shuffled are counts: O(R) for each partition, in
    as few bytes as they need.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        One row an item.
    label, score : str
        Columns: labels, 0 or 1, False or True; scores, of an integer type, float or double, compared in their own type.
        A null score is NaN.
    num_relevant : int, optional
        Relevant items in all, if some were never retrieved.
    lower_is_better : bool
        The lowest score ranks first.
    nan_policy : {"raise", "worst", "omit"}
        As for HitCurve.

    Returns
    -------
    HitCurve
        Equal, to the last bit, to that of the same rows in memory. Without rows, an empty one.

    Raises
    ------
    ValueError
        A label is neither 0 nor 1, or null; a score is NaN: the text names partition, row and column. The rows
        differed between the two passes.
    TypeError
        A column is of another type.

    Examples
    --------
    >>> from hitcurve.spark import hit_curve  # doctest: +SKIP
    >>> hit_curve(spark.read.parquet("scores"), label="active", score="energy").average_precision()  # doctest: +SKIP
    """
    rows, dtype = _columns(df, label, score)
    checked_sorted([], "score", lower_is_better, nan_policy)  # the options, before anything is computed
    relevant = rows.where("label").select("score").toArrow().column(0)
    found = relevant.drop_null().to_numpy() if dtype.kind == "i" else relevant.to_numpy()
    nan_hits = 0
    if dtype.kind == "f":
        missing = np.isnan(found)
        nan_hits = int(np.count_nonzero(missing))
        found = found[~missing] + dtype.type(0)  # -0.0 becomes 0.0
    cuts, hits = np.unique(found, return_counts=True)
    partial = rows.mapInArrow(_counting(cuts, nan_policy, label, score, _SLICE), _PARTIAL)
    merged = partial.repartition(max(1, min(256, cuts.shape[0] // (8 * _SLICE))), "slice").mapInArrow(_add, _PARTIAL)
    table = merged.toArrow().to_pylist()

    problems = [row["problem"] for row in table if row["slice"] == _ERROR]
    if problems:
        raise ValueError(min(problems).partition("|")[2])
    items = np.zeros(2 * cuts.shape[0] + 1, np.int64)
    num_hits = nan_items = seen_nan_hits = 0
    for row in table:
        start = 2 * _SLICE * row["slice"]
        counts = np.frombuffer(row["counts"], f"u{row['width']}")
        items[start : start + counts.shape[0]] += counts.astype(np.int64)
        num_hits, nan_items = num_hits + row["hits"], nan_items + row["nan_items"]
        seen_nan_hits += row["nan_hits"]
    if num_hits != found.shape[0] + nan_hits or seen_nan_hits != nan_hits or (items[1::2] < hits).any():
        raise ValueError(
            f"the DataFrame had {found.shape[0] + nan_hits} relevant rows when they were collected, and "
            f"{num_hits} when they were counted, or others: cache it, so that it is the same both times"
        )
    if nan_policy == "omit":
        nan_items = nan_hits = 0
    return table_from_counts(
        cuts, items, hits, nan_items, nan_hits, lower_is_better=lower_is_better, num_relevant=num_relevant
    )


def hit_curves(
    df: DataFrame,
    query: str,
    label: str,
    score: str,
    measures: Sequence[str] = ("AP",),
    *,
    ties: str = "expected",
    lower_is_better: bool = False,
    nan_policy: str = "raise",
    max_query: int | None = 10_000_000,
) -> DataFrame:
    """Measures of the ranking of each query of a DataFrame.

    Rows are shuffled once, by query, and sorted by query within their partition; a task ranks many queries at a time
    and holds few of them. Queries of more than `max_query` rows are found first, by counting, and each is measured as
    `hit_curve` does it, at once.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        One row an item.
    query, label, score : str
        Columns; label and score as for `hit_curve`.
    measures : sequence of str
        Names as on the command line: ``"AP"``, ``"P@10"``, ``"AP(norm=min)@100"``.
    ties : {"expected", "best", "worst", "threshold"}
        How measures read ties whose names do not say it.
    lower_is_better, nan_policy
        As for `hit_curve`.
    max_query : int or None
        Rows of a query that fit a task; None: all do, and nothing is counted first.

    Returns
    -------
    pyspark.sql.DataFrame
        A row a query: the query, ``num_items``, ``num_relevant``, and a column of doubles for each measure, by its
        name; NaN where a measure is not defined.

    Raises
    ------
    ValueError
        For a measure that does not exist, or has no such reading of ties; for data, when the result is computed: the
        task's error names query, column and value.
    TypeError
        A column is of another type.

    Examples
    --------
    >>> hit_curves(df, "user", "clicked", "score", ["AP@10", "RR"]).agg({"RR": "mean"})  # doctest: +SKIP
    """
    from pyspark.sql import functions as F
    from pyspark.sql.types import DoubleType, LongType, StructField, StructType

    if isinstance(measures, str):
        measures = [measures]
    asked = [parse(name) for name in measures]
    for measure in asked:
        measure.reading(ties)
    rows, _ = _columns(df, label, score, query)
    schema = StructType(
        [StructField(query, rows.schema["query"].dataType)]
        + [StructField(name, LongType()) for name in ("num_items", "num_relevant")]
        + [StructField(name, DoubleType()) for name in measures]
    )
    large: list[Any] = []
    if max_query is not None:
        sizes = rows.groupBy("query").count().where(F.col("count") > max_query)
        large = [row[0] for row in sizes.select("query").collect()]
    small = rows
    if large:
        apart = F.col("query").isin([one for one in large if one is not None])
        if None in large:
            apart = apart | F.col("query").isNull()
        small = rows.where(~F.coalesce(apart, F.lit(False)))
    function = _measuring(
        asked, list(measures), (query, label, score), ties, lower_is_better, nan_policy, _TOGETHER
    )
    result = small.repartition("query").sortWithinPartitions("query").mapInArrow(function, schema)
    if large:
        values = []
        for one in large:
            of_query = rows.where(F.col("query").eqNullSafe(F.lit(one)))
            curve = hit_curve(of_query, "label", "score", lower_is_better=lower_is_better, nan_policy=nan_policy)
            read = [float(measure(curve, ties)) for measure in asked]
            values.append((one, curve.num_items, curve.num_relevant, *read))
        result = result.unionByName(df.sparkSession.createDataFrame(values, schema))
    return result


def _columns(df: DataFrame, label: str, score: str, query: str | None = None) -> tuple[DataFrame, np.dtype[Any]]:
    """The columns by their roles, labels as booleans (null where they are no labels), and the type of the scores."""
    from pyspark.sql import functions as F

    types = dict(df.dtypes)
    for name in (label, score) if query is None else (label, score, query):
        if name not in types:
            raise ValueError(f"there is no column {name!r}; the columns are {', '.join(map(repr, df.columns))}")
    if types[label] not in _LABELS:
        raise TypeError(f"column {label!r} is of type {types[label]}: labels must be 0 or 1, False or True")
    if types[score] not in _SCORES:
        raise TypeError(f"column {score!r} is of type {types[score]}: scores must be {', '.join(_SCORES)}")
    flag = df[label]
    if types[label] != "boolean":
        flag = F.when(flag == 1, True).when(flag == 0, False)  # null where it is neither
    dtype = np.dtype(_SCORES[types[score]])
    number = df[score].cast("bigint") if dtype.kind == "i" else df[score]
    chosen = [flag.alias("label"), number.alias("score")]
    if query is not None:
        chosen.append(df[query].alias("query"))
    return df.select(*chosen), dtype


class _BadRow(Exception):
    """A row that has no rank: its place in the batch, and what is wrong with it."""

    def __init__(self, index: int, problem: str) -> None:
        super().__init__(problem)
        self.index = index


def _checked(
    batch: Any, nan_policy: str, label_name: str, score_name: str
) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """The labels and scores of a batch."""
    import pyarrow as pa
    import pyarrow.compute as pc

    labels, scores = batch.column("label"), batch.column("score")
    if labels.null_count:
        at = pc.index(pc.is_null(labels), True).as_py()
        raise _BadRow(at, f"column {label_name!r}: not a label, which is 0 or 1, False or True")
    if pa.types.is_integer(scores.type) and scores.null_count:
        at = pc.index(pc.is_null(scores), True).as_py()
        raise _BadRow(at, f"column {score_name!r}: null, which no integer stands for: cast the column to double")
    score = scores.to_numpy(zero_copy_only=False)
    if nan_policy == "raise" and score.dtype.kind == "f":
        missing = np.isnan(score)
        if missing.any():
            problem = "nan: give nan_policy='worst' to rank it below all other scores, or 'omit' to leave it out"
            raise _BadRow(int(missing.argmax()), f"column {score_name!r}: {problem}")
    return labels.to_numpy(zero_copy_only=False), score


def _counting(
    cuts: NDArray[Any], nan_policy: str, label_name: str, score_name: str, together: int
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """The function that counts the rows of a partition against the thresholds."""

    def count(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        counter = BlockCounter(cuts)
        rows = hits = nan_hits = 0
        for batch in batches:
            try:
                label, score = _checked(batch, nan_policy, label_name, score_name)
            except _BadRow as bad:
                context = TaskContext.get()
                partition = context.partitionId() if context is not None else 0
                # A row, not an exception: Spark would try the task again and again.
                problem = f"{partition:012d}|partition {partition}, row {rows + bad.index + 1} of it, {bad}"
                yield _partial(_ERROR, np.empty(0, np.int64), {}, problem)
                return
            rows += batch.num_rows
            hits += int(np.count_nonzero(label))
            if score.dtype.kind == "f":
                nan_hits += int(np.count_nonzero(np.isnan(score[label])))
            counter.add(score, nan_policy)
        if rows == 0:
            return
        counts = counter.counts()
        totals = {"items": rows, "hits": hits, "nan_items": counter.nan_items, "nan_hits": nan_hits}
        for at, start in enumerate(range(0, counts.shape[0], 2 * together)):
            yield _partial(at, counts[start : start + 2 * together], totals if at == 0 else {})

    return count


def _partial(slice_: int, counts: NDArray[np.int64], totals: dict[str, int], problem: str | None = None) -> Any:
    """A row of the counts of some thresholds, in as few bytes as they need."""
    import pyarrow as pa

    dtype = np.min_scalar_type(int(counts.max(initial=0)))
    row = {
        "slice": pa.array([slice_], pa.int32()),
        "counts": pa.array([counts.astype(dtype).tobytes()], pa.binary()),
        "width": pa.array([dtype.itemsize], pa.int32()),
    }
    for name in ("items", "hits", "nan_items", "nan_hits"):
        row[name] = pa.array([totals.get(name, 0)], pa.int64())
    row["problem"] = pa.array([problem], pa.string())
    return pa.RecordBatch.from_pydict(row)


def _add(batches: Iterator[Any]) -> Iterator[Any]:
    """The sums of counts, slice by slice; of several problems the first."""
    sums: dict[int, NDArray[np.int64]] = {}
    totals: dict[int, dict[str, int]] = {}
    problem: str | None = None
    for batch in batches:
        for row in batch.to_pylist():
            at = row["slice"]
            if at == _ERROR:
                problem = row["problem"] if problem is None else min(problem, row["problem"])
                continue
            counts = np.frombuffer(row["counts"], f"u{row['width']}").astype(np.int64)
            sums[at] = counts if at not in sums else sums[at] + counts
            total = totals.setdefault(at, {})
            for name in ("items", "hits", "nan_items", "nan_hits"):
                total[name] = total.get(name, 0) + row[name]
    if problem is not None:
        yield _partial(_ERROR, np.empty(0, np.int64), {}, problem)
    for at, counts in sums.items():
        yield _partial(at, counts, totals[at])


def _measuring(
    measures: list[Measure],
    names: list[str],
    roles: tuple[str, str, str],
    ties: str,
    lower_is_better: bool,
    nan_policy: str,
    together: int,
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """The function that measures the queries of a partition, whose rows come query by query."""
    query, label_name, score_name = roles

    def measure(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        waiting: list[Any] = []
        held, limit = 0, together
        for batch in batches:
            waiting.append(batch)
            held += batch.num_rows
            if held < limit:
                continue
            rows = pa.Table.from_batches(waiting).combine_chunks()
            starts, _ = _runs(rows.column("query"))
            if starts[-1] > 0:
                # The last query may go on in the next batch.
                yield rank(rows.slice(0, starts[-1]))
                rows = rows.slice(starts[-1])
            waiting, held = rows.to_batches(), rows.num_rows
            limit = max(together, 2 * held)
        if held:
            yield rank(pa.Table.from_batches(waiting).combine_chunks())

    def rank(rows: Any) -> Any:
        import pyarrow as pa

        starts, queries = _runs(rows.column("query"))
        offsets = np.append(starts, rows.num_rows)
        batch = rows.to_batches()[0]
        try:
            label, score = _checked(batch, nan_policy, label_name, score_name)
        except _BadRow as bad:
            at = int(np.searchsorted(offsets, bad.index, "right")) - 1
            raise ValueError(f"query {queries[at].as_py()!r}, {bad}") from None
        options: Any = {"lower_is_better": lower_is_better, "nan_policy": nan_policy}
        curves = HitCurves(label, score, offsets=offsets, **options)
        columns: dict[str, Any] = {query: queries, "num_items": curves.num_items, "num_relevant": curves.num_relevant}
        for name, one in zip(names, measures, strict=True):
            columns[name] = np.asarray(one(curves, ties), np.float64)
        return pa.RecordBatch.from_pydict(columns)

    return measure


def _runs(column: Any) -> tuple[NDArray[np.int64], Any]:
    """Where each run of equal values begins, and the values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = column.combine_chunks()
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    encoded = pc.run_end_encode(whole)
    ends = encoded.run_ends.to_numpy()
    return np.append(0, ends[:-1]).astype(np.int64), encoded.values
