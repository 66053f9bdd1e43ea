"""Hit and gain curves of DataFrames on Apache Spark. The numbers equal those of the same rows in memory.

`hit_curve` ranks all rows. The driver collects the scores of the relevant items and sends them to the tasks. The tasks
count all rows against these scores, the cluster adds up the counts, and only counts return to the driver. `hit_curves`
ranks the rows of each query, and computes the measures in the tasks. `gain_curve` and `gain_curves` do the same for
levels of relevance, `subtopic_curve` and `subtopic_curves` for levels of several subtopics. All six use only the
DataFrame API, so they run on Spark Connect too.

Spark checks the size of an Arrow batch after each row, which takes longer than writing the row. If the session sets
``spark.sql.execution.arrow.maxBytesPerBatch`` to 2147483647, Spark does not check the size, and ``maxRecordsPerBatch``
alone limits the batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from itertools import pairwise
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hitcurve._base.checks import LABEL_RULE, NO_RANK, check_count, check_options, quoted, unchanged, whole_number
from hitcurve._base.extras import needed
from hitcurve._base.words import are, many
from hitcurve.curves.blocks import BlockCounter
from hitcurve.curves.counter import table_from_counts
from hitcurve.curves.gain import GainCurve, GainCurves
from hitcurve.curves.gain_counter import scored_levels
from hitcurve.curves.hit import HitCurve, HitCurves
from hitcurve.curves.levels import LEVEL_RULE, LEVELS, missing_levels
from hitcurve.curves.subtopic_sets import LevelRows, coded, levels_of_items
from hitcurve.curves.subtopics import SubtopicCurve, SubtopicCurves, counted_subtopics, missing_items
from hitcurve.measures import Measure, parse
from hitcurve.sources.cells import BadCell, distinct, has_nan

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import Column, DataFrame

__all__ = ["gain_curve", "gain_curves", "hit_curve", "hit_curves", "subtopic_curve", "subtopic_curves"]

# Thresholds whose counts are in one row: a batch of Spark holds 10,000 rows, and must not hold gigabytes.
_SLICE = 2048
_ERROR = -1  # the slice number of a row that reports an error
_PARTIAL = "slice int, counts binary, width int, nan_items long, problem string"
# Queries are shuffled in buckets by hash. A row is a piece of a bucket: a binary has a column's values of many items.
# Consecutive rows of a query are a run. The query is there once for each run, and `runs` has the lengths.
_PACKED = "bucket int, flags binary, score binary, runs binary, query binary, lengths binary"
_MAX_BUCKETS = 1 << 16
_BUCKETS_A_PARTITION = 32
_BUCKET_ROWS = 1 << 20  # rows of a bucket, about, if the number of all rows is known
_PIECE = 512  # the greatest number of rows in a piece
_PIECE_BYTES = 1 << 13  # bytes of queries in a piece, about: Spark may send 10,000 pieces at once
_NULL = 2  # the flag of a null query; 1 is the flag of a relevant row
# Rows or bytes that are packed together: an Arrow batch is far too short.
_PACK_ROWS = 1 << 20
_PACK_BYTES = 1 << 26
# Items of complete buckets that are ranked together.
_TOGETHER = 1 << 18

_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_SCORES = {"float": np.float32, "double": np.float64, **dict.fromkeys(_INTEGERS, np.int64)}
_NO_LABEL, _NO_LEVEL = f"not a label: {LABEL_RULE}", f"not a level: {LEVEL_RULE}; a whole one at most 2**53"
_NO_INTEGER = "null, but a column of integers has no missing scores: cast it to double"
_LABELS = ("boolean", *_INTEGERS, "float", "double")

_Task = Callable[[Iterator[Any]], Iterator[Any]]  # from Arrow batches to Arrow batches


def hit_curve(df: DataFrame, label: str, score: str, *, num_relevant: int | None = None, lower_is_better: bool = False,
              nan_policy: str = "raise", id: str | None = None, library: int | DataFrame | None = None,
              num_actives: int | None = None) -> HitCurve:  # fmt: skip
    """The hit curve of all rows of a DataFrame as one ranking.

    Spark computes the DataFrame twice: once for the scores of its R relevant rows, and once to count all rows. Cache
    the DataFrame if it is expensive to compute, or if it may change between two computations. No rows are sorted. Only
    counts are shuffled: O(R) for each partition, in as few bytes as they need.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        The data, with a row for each item.
    label, score : str
        The names of the columns. Labels are 0 or 1, False or True. Scores are of an integer type, float or double, and
        are compared in their own type. A null score is NaN; in a column of integers it is an error.
    num_relevant : int, optional
        The number of all relevant items, if some were never retrieved.
    lower_is_better : bool
        If True, the lowest score ranks first.
    nan_policy : {"raise", "worst", "omit"}
        As for HitCurve.
    id : str, optional
        The column of the ids, in `df` and in `library`. Ids are compared as texts.
    library : int or pyspark.sql.DataFrame, optional
        The items that should have a row, as for `hitcurve.scan`: their number, with `num_actives`, or a DataFrame
        with a row for each item. It has the columns `id` and `label`; without `label`, give `num_actives`. Items
        without a row in `df` rank last, as rows without a score do. Spark computes `df` once more for a DataFrame.
    num_actives : int, optional
        The number of relevant items in `library`, if it has no labels.

    Returns
    -------
    HitCurve
        The curve equals, to the last bit, the curve of the same rows in memory. Without rows the curve is empty.

    Raises
    ------
    ValueError
        If a label is null or neither 0 nor 1, or if a score is NaN with ``nan_policy="raise"``; the message names
        partition, row and column. Also if the rows differ between the two computations, and if `library` does not fit
        the rows: a row's id is not in it, comes again, or has another label there.
    TypeError
        If a column has another type.

    Examples
    --------
    >>> from hitcurve.spark import hit_curve  # doctest: +SKIP
    >>> hit_curve(spark.read.parquet("scores"), label="active", score="energy").average_precision()  # doctest: +SKIP
    """
    judged = _Judged(label)
    docked = _docked(df, judged, score, None, id, library, num_actives, nan_policy)
    if docked is not None and num_relevant is not None:
        raise ValueError("library and num_relevant cannot be combined: library has all relevant items")
    return _ranked(df, judged, score, lower_is_better, nan_policy, num_relevant, docked)[0]


def gain_curve(df: DataFrame, grade: str, score: str, *, unretrieved: Any = None, lower_is_better: bool = False,
               nan_policy: str = "raise", id: str | None = None,
               library: DataFrame | None = None) -> GainCurve:  # fmt: skip
    """The gain curve of all rows of a DataFrame as one ranking.

    As for `hit_curve`, Spark computes the DataFrame twice and shuffles only counts. The driver collects the scores and
    levels of the relevant rows.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        The data, with a row for each item.
    grade, score : str
        The names of the columns. Grades are levels of relevance or gains, numbers from 0 up. Scores are as for
        `hit_curve`.
    unretrieved : array_like, optional
        The levels of relevant items that were never retrieved.
    lower_is_better, nan_policy, id
        As for `hit_curve`.
    library : pyspark.sql.DataFrame, optional
        The items that should have a row, as for `hit_curve`, with the columns `id` and `grade`.

    Returns
    -------
    GainCurve
        The curve equals, to the last bit, the curve of the same rows in memory.

    Raises
    ------
    ValueError
        If a level is null, below 0 or not finite, or for a reason that `hit_curve` lists.
    TypeError
        If a column has another type.

    Examples
    --------
    >>> gain_curve(spark.read.parquet("scores"), grade="rating", score="score").ndcg(10)  # doctest: +SKIP
    """
    missing_levels(unretrieved)
    judged = _Judged(grade, graded=True)
    docked = _docked(df, judged, score, None, id, library, None, nan_policy)
    if docked is not None and unretrieved is not None:
        raise ValueError("library and unretrieved cannot be combined: library has all relevant items")
    curve, scores, levels, _ = _ranked(df, judged, score, lower_is_better, nan_policy, docked=docked)
    return scored_levels(curve, scores, levels, nan_policy if docked is None else "worst", unretrieved)


def subtopic_curve(df: DataFrame, subtopics: Sequence[str], score: str, *, docid: str, unretrieved: Any = None,
                   lower_is_better: bool = False, nan_policy: str = "raise") -> SubtopicCurve:  # fmt: skip
    """The curve of all rows of a DataFrame as one ranking of items that are relevant to subtopics.

    As for `hit_curve`, Spark computes the DataFrame twice and shuffles only counts. The driver collects the scores and
    levels of the relevant rows.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        The data, with a row for each item.
    subtopics : sequence of str
        The names of the columns of levels, a column for each subtopic. Levels are numbers from 0 up. A row is relevant
        if it has a level above 0 for any subtopic.
    score : str
        The name of the column of scores, which are as for `hit_curve`.
    docid : str
        The name of the column of the items' ids, whole numbers or texts. An ideal order may have to choose between
        items that add as much. Rows of Spark have no order that could decide, so the greater id comes first, as in
        `evaluate` and ndeval. Texts are compared by their bytes in UTF-8. Rows of the same id come in the order of
        their levels.
    unretrieved : array_like of shape (m, subtopics), optional
        The levels of items that were never retrieved.
    lower_is_better, nan_policy
        As for `hit_curve`.

    Returns
    -------
    SubtopicCurve
        The curve equals, to the last bit, the curve in memory of the same rows sorted by `docid`, the greatest first.

    Raises
    ------
    ValueError
        If a level is null, below 0 or not finite, if a relevant row has no id, if a subtopic is named twice, or for a
        reason that `hit_curve` lists.
    TypeError
        If a column has another type.

    Examples
    --------
    >>> curve = subtopic_curve(spark.read.parquet("run"), ["car", "cat"], "score", docid="doc")  # doctest: +SKIP
    >>> curve.alpha_ndcg(20)  # doctest: +SKIP
    """
    judged = _by_subtopic(df, subtopics, docid)
    missing_items(unretrieved, len(judged.names))  # checks them before the data are read
    curve, scores, levels, ids = _ranked(df, judged, score, lower_is_better, nan_policy)
    sorted_by = _in_order(ids, levels)
    rows = LevelRows()
    number = rows.numbers_of([*levels[sorted_by].T])
    scores = scores[sorted_by]
    kept = number if nan_policy != "omit" else number[scores == scores]
    table = scored_levels(curve, scores, number.astype(np.float64), nan_policy)
    made = counted_subtopics(table, rows, np.zeros(kept.shape[0], np.int64), kept, judged.names, unretrieved)
    assert isinstance(made, SubtopicCurve)
    return made


class _Judged(NamedTuple):
    """The columns that say what is relevant."""

    label: str
    """The column of labels or, with `graded`, of levels."""
    graded: bool = False
    names: tuple[str, ...] = ()
    """The columns of levels of the subtopics, in place of `label`."""
    docid: str = ""
    """With subtopics, the column of the ids, which put relevant rows in order."""

    @property
    def columns(self) -> tuple[str, ...]:
        return self.names or (self.label,)

    @property
    def beside(self) -> list[str]:
        """The names of the columns that relevant rows need beside the score."""
        return ["level", "docid"] if self.names else ["level"] * self.graded

    @property
    def rule(self) -> str:
        """What is wrong with a row whose labels or levels are invalid."""
        shown = " or ".join(f"column {name!r}" for name in self.columns)
        null = f", or column {self.docid!r} of a relevant row: null" if self.names else ""
        return f"{shown}: {_NO_LEVEL if self.graded or self.names else _NO_LABEL}{null}"


def _by_subtopic(df: DataFrame, subtopics: Sequence[str], docid: str) -> _Judged:
    texts = not isinstance(subtopics, str) and all(isinstance(name, str) for name in subtopics)
    if not texts or not len(subtopics):
        raise TypeError(f"subtopics is {quoted(subtopics)}: it must be a list of names of columns, one for each "
                        "subtopic")  # fmt: skip
    if not isinstance(docid, str):
        raise TypeError(f"docid is {quoted(docid)}: it must be the name of the column of the ids")
    for twice, name in _alike(df, subtopics):
        raise ValueError(f"subtopics {twice!r} and {name!r} are the same column: name each once")
    return _Judged("", names=tuple(subtopics), docid=docid)


def _in_order(ids: Any, levels: NDArray[Any]) -> NDArray[np.int64]:
    """The places of relevant rows, the greatest id first, and of equal ids in the order of their levels."""
    pa, pc = needed("pyarrow", "hitcurve.spark"), needed("pyarrow.compute", "hitcurve.spark")
    (code,), _ = coded([levels_of_items(levels, "levels", 2)])
    keys = [("id", "descending"), ("code", "ascending")]
    places: NDArray[Any] = pc.sort_indices(pa.table({"id": ids, "code": code}), sort_keys=keys).to_numpy()
    return places.astype(np.int64)


def _levels_in(column: Any, width: int) -> NDArray[np.float64]:
    """The levels of a column of lists, a row for each list that is not null."""
    pa = needed("pyarrow", "hitcurve.spark")
    flat = (column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column).flatten()
    levels: NDArray[np.float64] = flat.to_numpy().reshape(-1, width)
    return levels


class _Docked(NamedTuple):
    """A library: its number of items and of relevant items, or a DataFrame of its items without a row."""

    size: int | None
    actives: int | None
    absent: Any = None
    """The columns are those of `_columns`, with null scores."""


def _docked(df: DataFrame, judged: _Judged, score: str, query: str | None, id: str | None, library: Any, actives: Any,
            nan_policy: str) -> _Docked | None:  # fmt: skip
    """The library of a caller. One job of Spark checks a DataFrame against the rows."""
    if library is None:
        for name, value in (("id", id), ("num_actives", actives)):
            if value is not None:
                raise ValueError(f"{name} needs library: the items that should have a row")
        return None
    if nan_policy == "omit":
        raise ValueError("library and nan_policy='omit' cannot be combined: items without a row rank last, so items "
                         "without a score must rank last too: give nan_policy='worst'")
    if actives is not None:
        actives = whole_number(actives, "num_actives")
    if isinstance(library, (int, np.integer)) and not isinstance(library, bool):
        if actives is None or judged.graded or query is not None:
            raise ValueError(f"library is {library}, a number, which needs num_actives and hit_curve: give a "
                             "DataFrame with the ids and labels")
        return _Docked(check_count(library, "library", 1 << 62), actives)
    if not hasattr(library, "toArrow"):
        raise TypeError(f"library is of type {type(library).__name__}: it must be a number or a DataFrame")
    if id is None:
        raise ValueError("library is a DataFrame, but id does not name the column of the ids")
    return _compared_with(df, judged, score, query, id, library, actives)


def _compared_with(df: DataFrame, judged: _Judged, score: str, query: str | None, id: str, library: DataFrame,
                   actives: int | None) -> _Docked:  # fmt: skip
    """The library of a DataFrame; an error if it does not fit the rows."""
    F = needed("pyspark.sql.functions", "hitcurve.spark")
    as_spark, label, graded = _compared(df), judged.label, judged.graded
    there = {as_spark(name) for name in library.columns}
    labelled = as_spark(label) in there
    if labelled == (actives is not None):
        raise ValueError(f"library has a column {label!r} of labels: leave out num_actives" if labelled else
                         f"library has no column {label!r}: give {'the levels' if graded else 'num_actives'}")
    every = library if labelled else library.withColumn(label, F.lit(False))
    if query is not None and as_spark(query) not in there:  # each query has all items
        every = every.crossJoin(df.select(_column(df, query).alias(query)).distinct())
    what = "level" if graded else "label"
    every = _columns(every.withColumn(score, F.lit(None).cast("double")), judged, score, query, id)[0]
    rows = _columns(df, judged, score, query, id)[0]
    keys = ["id", *["query"] * (query is not None)]

    def counted(frame: DataFrame, name: str) -> DataFrame:
        return frame.groupBy(*keys).agg(F.count("*").alias(name), F.first(what).alias(f"{name}_{what}")).select(
            *(F.col(key).alias(f"{name}_{key}") for key in keys), name, f"{name}_{what}")  # fmt: skip

    same = [F.col(f"rows_{key}").eqNullSafe(F.col(f"items_{key}")) for key in keys]
    both = counted(rows, "rows").join(counted(every, "items"), same, "full_outer")
    one, seen, listed = F.coalesce("rows_id", "items_id"), F.col("rows").isNotNull(), F.col("items").isNotNull()
    other = seen & listed & ~F.col(f"rows_{what}").eqNullSafe(F.col(f"items_{what}"))
    once = "name each item once"
    problems = (
        (one.isNull(), "have no id: each row of df and of library needs an id"),
        (F.col("items") > 1, f"come more than once in library: {once}"),
        (seen & ~listed, "are not in library, which must have all items of df"),
        (F.col("rows") > 1, f"come more than once in df, which must have one row for each item of library: {once}"),
        (listed & F.col(f"items_{what}").isNull(), f"have no {what} in library: {_NO_LEVEL if graded else _NO_LABEL}"),
        (other if labelled else F.lit(False), f"have another {what} in library than in df"),
    )  # fmt: skip
    asked = [
        of for at, (wrong, _) in enumerate(problems)
        for of in (F.sum(wrong.cast("long")).alias(f"n{at}"), F.min(F.when(wrong, one)).alias(f"id{at}"))
    ]  # fmt: skip
    found = both.agg(F.sum(listed.cast("long")).alias("size"), *asked).collect()[0]
    for at, (_, problem) in enumerate(problems):
        if found[f"n{at}"]:
            raise ValueError(f"{many(found[f'n{at}'], 'ids', ',')} (such as {found[f'id{at}']!r}) {problem}")
    if not labelled:
        return _Docked(found["size"] or 0, actives)
    absent = both.where(~seen).select(
        F.lit(None).cast("double").alias("score"), *(F.col(f"items_{name}").alias(name) for name in [*keys, what]))
    if graded:
        absent = absent.withColumn("label", F.col("level") > 0)
    if query is not None:  # queries without a row are left out
        queries = rows.select(F.col("query").alias("of")).distinct()
        absent = absent.join(queries, F.col("query").eqNullSafe(F.col("of")), "left_semi")
    return _Docked(None, None, absent)


def _ranked(df: DataFrame, judged: _Judged, score: str, lower_is_better: bool, nan_policy: str,
            num_relevant: Any = None,
            docked: _Docked | None = None) -> tuple[HitCurve, NDArray[Any], NDArray[Any], Any]:  # fmt: skip
    """The hit curve of all rows, and of the relevant rows: scores, levels and ids."""
    F = needed("pyspark.sql.functions", "hitcurve.spark")
    rows, dtype = _columns(df, judged, score)
    check_options(lower_is_better, nan_policy)  # the options, before anything is computed
    relevant = rows.where("label").select("score", *judged.beside).toArrow()
    levels, ids = np.empty(0), None
    if judged.names:
        levels, ids = _levels_in(relevant.column("level"), len(judged.names)), relevant.column("docid")
    elif judged.graded:
        levels = relevant.column("level").to_numpy()
    found = relevant.column(0).drop_null().to_numpy() if dtype.kind == "i" else relevant.column(0).to_numpy()
    found = found + dtype.type(0)  # -0.0 becomes 0.0
    cuts, hits, nan_hits = distinct(found, own=not judged.beside)
    # Only scores go to Python, as a second column would double the cost. A null score marks an invalid label.
    filled = F.col("score")
    if dtype.kind == "f":
        filled = F.coalesce(filled, F.lit(float("nan")).cast(rows.schema["score"].dataType))
    scores = rows.select(F.when(F.col("label").isNotNull(), filled).alias("score"))
    partial = scores.mapInArrow(_counting(cuts, nan_policy, score, _SLICE, judged.rule), _PARTIAL)
    merged = partial.repartition(max(1, min(256, cuts.shape[0] // (8 * _SLICE))), "slice").mapInArrow(_add, _PARTIAL)
    problem, sums = _sums(merged.toArrow().to_batches())
    if problem is not None:
        raise ValueError(problem.partition("|")[2])
    items = np.zeros(2 * cuts.shape[0] + 1, np.int64)
    nan_items = sum(missing for _, missing in sums.values())
    for at, (counts, _) in sums.items():
        items[2 * _SLICE * at :][: counts.shape[0]] = counts
    if (nan_policy == "worst" and nan_items < nan_hits) or (items[1::2] < hits).any():
        raise ValueError(f"the DataFrame changed while it was read: it had {many(found.shape[0], 'relevant rows')} "
                         "when they were collected, but lacked some of their scores when all rows were counted: cache "
                         "the DataFrame")
    if nan_policy == "omit":
        nan_items = nan_hits = 0
    if docked is not None:
        size = int(items.sum()) + nan_items
        number, actives, more = _absent(docked, size, found.shape[0], judged.graded)
        nan_items, nan_hits = nan_items + number, nan_hits + actives
        if number:
            cuts, found = _as_floats(cuts), np.append(_as_floats(found), np.full(more.shape[0], np.nan))
            levels = np.append(levels, more)
    curve = table_from_counts(cuts, items, hits, nan_items, nan_hits, lower_is_better=lower_is_better,
                              num_relevant=num_relevant)
    return curve, found, levels, ids


def _absent(docked: _Docked, rows: int, relevant: int, graded: bool) -> tuple[int, int, NDArray[Any]]:
    """(the number of items without a row, how many of them are relevant, the levels of these)."""
    if docked.size is not None and docked.actives is not None:
        number, actives = docked.size - rows, docked.actives - relevant
        if not 0 <= actives <= number:
            raise ValueError(f"library has {many(docked.size, 'items', ',')} and {docked.actives:,} of them are "
                             f"relevant, but the DataFrame has {many(rows, 'rows', ',')}, of which {relevant:,} "
                             f"{are(relevant)} relevant")
        return number, actives, np.empty(0)
    if graded:
        levels = docked.absent.select("level").toArrow().column(0).to_numpy()
        return levels.shape[0], int(np.count_nonzero(levels)), levels[levels > 0]
    counts = {row["label"]: row["count"] for row in docked.absent.groupBy("label").count().collect()}
    return sum(counts.values()), counts.get(True, 0), np.empty(0)


def _as_floats(scores: NDArray[Any]) -> NDArray[Any]:
    """The scores in a type that holds NaN too."""
    if scores.dtype.kind == "f":
        return scores
    wide = unchanged(scores, np.dtype(np.float64))
    if wide is None:
        raise ValueError("library: an item without a row has no score, and float64, which has NaN, cannot hold all "
                         "scores of the DataFrame")
    return wide


def hit_curves(df: DataFrame, query: str, label: str, score: str, measures: Sequence[str] = ("AP",), *,
               ties: str = "expected", lower_is_better: bool = False, nan_policy: str = "raise",
               max_query: int | None = 10_000_000, id: str | None = None,
               library: DataFrame | None = None) -> DataFrame:  # fmt: skip
    """Measure the ranking of each query of a DataFrame.

    Rows are packed by a hash of their query and shuffled once. A task ranks its queries one after another, and holds
    few of them at a time. Spark first counts the rows of the queries. A query of more than `max_query` rows is measured
    immediately, as `hit_curve` measures all rows.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        The data, with a row for each item.
    query, label, score : str
        The names of the columns. A query is a number, a text or a time, and null is a query too. Labels and scores are
        as for `hit_curve`.
    measures : sequence of str
        The names of the measures, as on the command line: ``"AP"``, ``"P@10"``, ``"AP(norm=min)@100"``.
    ties : {"expected", "best", "worst", "threshold"}
        The reading of ties for measures whose names have no option ``ties=``.
    lower_is_better, nan_policy
        As for `hit_curve`.
    max_query : int or None
        The greatest number of rows of a query that fits a task. None means that every query fits, and skips the count.
    id : str, optional
        The column of the ids, in `df` and in `library`.
    library : pyspark.sql.DataFrame, optional
        The items that should have a row, as for `hit_curve`, with the columns `id` and `label`. If it has the column
        `query`, it has a row for each item of each query; queries without a row in `df` are left out. Otherwise each
        query has all items.

    Returns
    -------
    pyspark.sql.DataFrame
        A row for each query. The columns are the query, ``num_items``, ``num_relevant``, and a column of doubles for
        each measure, under the measure's name. A value is null if the query has no relevant item or if the measure is
        not defined; Spark's means skip null. Counts are never null.

    Raises
    ------
    ValueError
        If a measure does not exist or is not defined for `ties`. If Spark cannot tell two names of columns apart, such
        as names that differ only in case unless ``spark.sql.caseSensitive`` is set. Errors of the data come when Spark
        computes the result: the task's error names query, column and value.
    TypeError
        If a column has another type.

    Examples
    --------
    >>> measured = hit_curves(df, "user", "clicked", "score", ["AP@10", "BEDROC(80.5)"])  # doctest: +SKIP
    >>> measured.agg({"AP@10": "mean", "`BEDROC(80.5)`": "mean"})  # a name with a dot needs backticks  # doctest: +SKIP
    """
    options = {"lower_is_better": lower_is_better, "nan_policy": nan_policy}
    judged = _Judged(label)
    docked = _docked(df, judged, score, query, id, library, None, nan_policy)
    return _measured(df, query, judged, score, measures, ties, max_query, options, docked)


def gain_curves(df: DataFrame, query: str, grade: str, score: str, measures: Sequence[str] = ("nDCG",), *,
                ties: str = "expected", lower_is_better: bool = False, nan_policy: str = "raise",
                max_query: int | None = 10_000_000, id: str | None = None,
                library: DataFrame | None = None) -> DataFrame:  # fmt: skip
    """Measure the ranking of each query of a DataFrame with levels of relevance.

    The work is done as in `hit_curves`. The levels of the relevant rows are shuffled with the rows.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        The data, with a row for each item.
    query, grade, score : str
        The names of the columns. Grades and scores are as for `gain_curve`, queries as for `hit_curves`.
    measures : sequence of str
        The names of the measures, as on the command line: ``"nDCG@10"``, ``"ERR(max=3)"``, ``"AP(rel=2)"``. For a
        binary measure, rows of level ``rel=`` or higher are relevant. Without ``rel=``, rows of level 1 or higher are
        relevant.
    ties : {"expected", "best", "worst"}
        The reading of ties for measures whose names have no option ``ties=``.
    lower_is_better, nan_policy, max_query, id
        As for `hit_curves`.
    library : pyspark.sql.DataFrame, optional
        As for `hit_curves`, with the column `grade` in place of `label`.

    Returns
    -------
    pyspark.sql.DataFrame
        The columns are those of `hit_curves`. ``num_relevant`` counts the rows above level 0.

    Raises
    ------
    ValueError, TypeError
        For the reasons that `hit_curves` and `gain_curve` list.

    Examples
    --------
    >>> gain_curves(df, "user", "rating", "score", ["nDCG@10"]).agg({"nDCG@10": "mean"})  # doctest: +SKIP
    """
    options = {"lower_is_better": lower_is_better, "nan_policy": nan_policy}
    judged = _Judged(grade, graded=True)
    docked = _docked(df, judged, score, query, id, library, None, nan_policy)
    return _measured(df, query, judged, score, measures, ties, max_query, options, docked)


def subtopic_curves(df: DataFrame, query: str, subtopics: Sequence[str], score: str,
                    measures: Sequence[str] = ("alpha_nDCG",), *, docid: str, ties: str = "expected",
                    lower_is_better: bool = False, nan_policy: str = "raise",
                    max_query: int | None = 10_000_000) -> DataFrame:  # fmt: skip
    """Measure the ranking of each query of a DataFrame whose items are relevant to subtopics.

    The work is done as in `hit_curves`. The levels and the ids of the relevant rows are shuffled with the rows.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        The data, with a row for each item.
    query : str
        The name of the column of queries, which are as for `hit_curves`.
    subtopics, score, docid
        As for `subtopic_curve`. The subtopics are those of all queries together. A query has only those that have a
        relevant item.
    measures : sequence of str
        The names of the measures, as on the command line: ``"alpha_nDCG@20"``, ``"ERR_IA@20"``, ``"P_IA(rel=2)@10"``.
        For a measure without subtopics, such as ``"AP"``, an item has its highest level over the subtopics.
    ties : {"expected", "best", "worst"}
        The reading of ties for measures whose names have no option ``ties=``.
    lower_is_better, nan_policy, max_query
        As for `hit_curves`.

    Returns
    -------
    pyspark.sql.DataFrame
        The columns are those of `hit_curves`. ``num_relevant`` counts the rows above level 0 for any subtopic.

    Raises
    ------
    ValueError, TypeError
        For the reasons that `hit_curves` and `subtopic_curve` list.

    Examples
    --------
    >>> measured = subtopic_curves(  # doctest: +SKIP
    ...     df, "query", ["car", "cat"], "score", ["alpha_nDCG@20"], docid="doc")
    >>> measured.agg({"alpha_nDCG@20": "mean"})  # doctest: +SKIP
    """
    options = {"lower_is_better": lower_is_better, "nan_policy": nan_policy}
    return _measured(df, query, _by_subtopic(df, subtopics, docid), score, measures, ties, max_query, options)


def _measured(df: DataFrame, query: str, judged: _Judged, score: str, measures: Sequence[str], ties: str,
              max_query: int | None, options: dict[str, Any],
              docked: _Docked | None = None) -> DataFrame:  # fmt: skip
    """The measures of the ranking of each query."""
    F, pa = needed("pyspark.sql.functions", "hitcurve.spark"), needed("pyarrow", "hitcurve.spark")
    from pyspark.sql.types import DoubleType, LongType, StructField, StructType

    if isinstance(measures, str):
        measures = [measures]
    asked = {name: parse(name) for name in measures}
    for measure in asked.values():
        measure.reading(ties, judged.graded, bool(judged.names))
    _check_apart(df, [query, "num_items", "num_relevant", *measures])
    check_options(**options)
    if max_query is not None:
        max_query = whole_number(max_query, "max_query")
    rows, dtype = _columns(df, judged, score, query)
    ranked = options
    if docked is not None:
        rows, dtype = _with_absent(rows, docked.absent, judged), np.dtype(np.float64)
        ranked = options | {"nan_policy": "worst"}
    kind = rows.select("query").limit(0).toArrow().schema.field(0).type
    if not (_is_text(kind) or pa.types.is_primitive(kind) or pa.types.is_decimal(kind)):
        of_type = _types(df, query)[query]
        raise TypeError(f"column {query!r} is of type {of_type}: queries must be numbers, texts or times")
    schema = StructType(
        [StructField(query, rows.schema["query"].dataType)]
        + [StructField(name, LongType()) for name in ("num_items", "num_relevant")]
        + [StructField(name, DoubleType()) for name in measures]
    )
    bucket = F.xxhash64("query")
    buckets, large = _sizes(rows, bucket, max_query)
    small = rows
    if large:
        apart = F.col("query").isin([one for one in large if one is not None])
        if None in large:
            apart = apart | F.col("query").isNull()
        small = rows.where(~F.coalesce(apart, F.lit(False)))
    # Bucket and label in one number, as the cost of a row on its way to Python grows with its columns.
    code = (2 * F.pmod(bucket, F.lit(buckets)) + F.col("label").cast("int")).cast("int")
    numbered = small.select(code.alias("code"), "score", "query", *judged.beside)
    columns = _PACKED + ", levels binary" * bool(judged.beside) + ", docid binary, sizes binary" * bool(judged.names)
    packed = numbered.mapInArrow(_packing(judged, score, options["nan_policy"], docked is not None), columns)
    packed = packed.repartition("bucket").sortWithinPartitions("bucket")
    result = packed.mapInArrow(_measuring(asked, query, kind, dtype, ties, ranked, judged), schema)
    values = []
    for one in large:
        absent = docked and docked._replace(absent=docked.absent.where(F.col("query").eqNullSafe(F.lit(one))))
        curve = _large_curve(df.where(_column(df, query).eqNullSafe(F.lit(one))), judged, score, options, absent)
        found = (_values(measure, curve, ties) for measure in asked.values())
        read = [None if null else float(value) for value, null in found]
        values.append((one, curve.num_items, curve.num_relevant, *read))
    return result.unionByName(df.sparkSession.createDataFrame(values, schema)) if values else result


def _with_absent(rows: DataFrame, absent: DataFrame, judged: _Judged) -> DataFrame:
    """The rows of all queries, and the items without a row. These have null scores; null scores of rows become NaN."""
    F = needed("pyspark.sql.functions", "hitcurve.spark")
    exact = F.col("score").cast("double")
    if rows.schema["score"].dataType.typeName() == "long":
        rounded = "library: an item without a row has no score, and float64, which has NaN, cannot hold the score "
        told = F.concat(F.lit(rounded), F.col("score").cast("string"))
        exact = F.when(F.abs("score") <= 2**53, exact).when(F.col("score").isNotNull(), F.raise_error(told))
    names = ["label", "score", *judged.beside, "query"]
    absent = absent.withColumn("query", F.col("query").cast(rows.schema["query"].dataType))
    rows = rows.withColumn("score", F.coalesce(exact, F.lit(float("nan")))).select(*names)
    return rows.unionByName(absent.select(*names))


def _large_curve(df: DataFrame, judged: _Judged, score: str, options: dict[str, Any], docked: _Docked | None) -> Any:
    """The curve of the rows of a query that does not fit a task."""
    if judged.names:
        return subtopic_curve(df, judged.names, score, docid=judged.docid, **options)
    curve, scores, levels, _ = _ranked(df, judged, score, **options, docked=docked)
    nan_policy = options["nan_policy"] if docked is None else "worst"
    return scored_levels(curve, scores, levels, nan_policy) if judged.graded else curve


def _check_apart(df: DataFrame, columns: list[str]) -> None:
    """Raise an error if two columns of the result have names that are the same to Spark."""
    for twice, name in _alike(df, columns):
        alike = f"the columns {twice!r} and {name!r}, which are the same name to Spark"
        named = f"two columns {name!r}" if name == twice else alike
        raise ValueError(f"the result would have {named}: rename the query column, or give each measure once")


def _alike(df: DataFrame, columns: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The pairs of columns, an earlier and a later one, whose names are the same to Spark."""
    as_spark = _compared(df)
    for i, name in enumerate(columns):
        yield from ((one, name) for one in columns[:i] if as_spark(one) == as_spark(name))


def _sizes(rows: DataFrame, bucket: Column, max_query: int | None) -> tuple[int, list[Any]]:
    """The number of buckets, and the queries with more rows than `max_query`."""
    from pyspark.sql import functions as F

    partitions = str(rows.sparkSession.conf.get("spark.sql.shuffle.partitions", "200"))
    least = _BUCKETS_A_PARTITION * (int(partitions) if partitions.isdecimal() else 200)
    large: list[Any] = []
    if max_query is not None:
        # Count queries by hash first: that needs little memory and shuffles few rows, whatever the number of queries.
        coarse = F.pmod(bucket, F.lit(_MAX_BUCKETS))
        sizes = rows.groupBy(coarse.alias("bucket")).count().toArrow()
        count = sizes.column("count").to_numpy()
        least = max(least, int(count.sum()) // _BUCKET_ROWS)
        suspects = sizes.column("bucket").to_numpy()[count > max_query].tolist()
        if suspects:
            counted = rows.where(coarse.isin(suspects)).groupBy("query").count().where(F.col("count") > max_query)
            large = [row[0] for row in counted.select("query").collect()]
    return min(_MAX_BUCKETS, 1 << (least - 1).bit_length()), large


def _columns(df: DataFrame, judged: _Judged, score: str, query: str | None = None,
             id: str | None = None) -> tuple[DataFrame, np.dtype[Any]]:  # fmt: skip
    """(a DataFrame with the columns label, score, level, docid, query and id as needed, the type of the scores).

    Labels are booleans, and null if they are invalid. With levels, label says whether a level is above 0. The column
    level has levels as doubles or, of relevant rows, the levels of all subtopics as a list.
    """
    from pyspark.sql import functions as F

    named = [judged.docid if judged.names else None, query, id]
    types = _types(df, *judged.columns, score, *(name for name in named if name is not None))
    graded = judged.graded or bool(judged.names)
    for name in judged.columns:
        if types[name] not in _LABELS:
            raise TypeError(f"column {name!r} is of type {types[name]}: {LEVELS if graded else LABEL_RULE}")
    if types[score] not in _SCORES:
        raise TypeError(f"column {score!r} is of type {types[score]}: scores must be {', '.join(_SCORES)}")
    flag, number = _column(df, judged.columns[0]), _column(df, score)
    if graded:
        levels = [_level(_column(df, name), types[name]) for name in judged.columns]
        flag = reduce(add, levels) > 0  # null if a level is invalid
    elif types[judged.label] != "boolean":
        flag = F.when(flag == 1, True).when(flag == 0, False)  # null if it is neither
    dtype = np.dtype(_SCORES[types[score]])
    chosen = [(number.cast("bigint") if dtype.kind == "i" else number).alias("score")]
    if judged.names:
        ids = _sortable(_column(df, judged.docid), judged.docid, types[judged.docid])
        flag = F.when(~flag | ids.isNotNull(), flag)
        chosen += [F.when(flag, F.array(*levels)).alias("level"), F.when(flag, ids).alias("docid")]
    elif graded:
        chosen.append(levels[0].alias("level"))
    chosen.append(flag.alias("label"))
    if query is not None:
        one = _column(df, query)
        chosen.append((one + 0 if types[query] in ("float", "double") else one).alias("query"))  # -0.0 becomes 0.0
    if id is not None:  # an empty id is null
        chosen.append(F.nullif(F.trim(_column(df, id).cast("string")), F.lit("")).alias("id"))
    return df.select(*chosen), dtype


def _level(column: Column, type_: str) -> Column:
    """The levels of a column as doubles, null if they are invalid."""
    from pyspark.sql import functions as F

    level = column.cast("double")
    fits = column <= 2**53 if type_ in _INTEGERS else level < float("inf")  # NaN is above inf
    return F.when(fits & (level >= 0), level)


def _sortable(column: Column, name: str, type_: str) -> Column:
    """The values of a column as texts in the same order."""
    from pyspark.sql import functions as F

    if type_ in _INTEGERS:
        # The bits of an integer, with the sign turned round: negative numbers are the least.
        return F.lpad(F.hex(column.cast("bigint").bitwiseXOR(F.lit(-(2**63)))), 16, "0")
    if type_ != "string":
        raise TypeError(f"column {name!r} is of type {type_}: ids must be whole numbers or texts")
    return column


def _compared(df: DataFrame) -> Callable[[str], str]:
    """A function of names of columns. Its results are equal for names that are the same to Spark."""
    cased = df.sparkSession.conf.get("spark.sql.caseSensitive", "false")
    return str if str(cased).lower() == "true" else str.lower


def _types(df: DataFrame, *names: str) -> dict[str, str]:
    """The types of the columns with these names."""
    as_spark, types = _compared(df), {}
    for name in names:
        found = [(column, kind) for column, kind in df.dtypes if as_spark(column) == as_spark(name)]
        if len(found) != 1:
            several = f"{' and '.join(repr(column) for column, _ in found)} are the same column to Spark"
            raise ValueError(several if found else f"there is no column {name!r}; the columns are "
                             + ", ".join(map(repr, df.columns)))
        types[name] = found[0][1]
    return types


def _values(measure: Measure, curves: Any, ties: str) -> tuple[Any, Any]:
    """The values of a measure as float64, and which of them are null. Values of a count are never null."""
    values = np.asarray(measure(curves, ties), np.float64)
    counts = measure.record.mean == "sum"
    return values[()], np.zeros(values.shape, bool)[()] if counts else measure.empty(curves) | np.isnan(values)


def _column(df: DataFrame, name: str) -> Column:
    """A column by its name, in which a dot has no meaning for Spark."""
    return df["`" + name.replace("`", "``") + "`"]


def _checked(column: Any, nan_policy: str, name: str, absent: bool = False) -> NDArray[Any]:
    """The scores of a batch; an error for an invalid score. `absent`: a null score is that of an item without a row."""
    import pyarrow as pa

    if pa.types.is_integer(column.type) and column.null_count:
        raise BadCell(_first_null(column), f"column {name!r}: {_NO_INTEGER}")
    score: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    if nan_policy == "raise" and has_nan(score):
        wrong = np.isnan(score) & column.is_valid().to_numpy(zero_copy_only=False) if absent else np.isnan(score)
        if wrong.any():
            raise BadCell(int(wrong.argmax()), f"column {name!r}: nan: {NO_RANK}")
    return score


def _first_null(column: Any) -> int:
    return int(column.is_null().to_numpy(zero_copy_only=False).argmax())


def _counting(cuts: NDArray[Any], nan_policy: str, score_name: str, together: int, rule: str) -> _Task:
    """The function that counts the rows of a partition against the thresholds."""

    def count(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        counter = BlockCounter(cuts)
        rows = 0
        for batch in batches:
            column = batch.column("score")
            try:
                if column.null_count:
                    problem = rule
                    if cuts.dtype.kind == "i":
                        problem += f", or column {score_name!r}: {_NO_INTEGER}"
                    raise BadCell(_first_null(column), problem)
                score = _checked(column, nan_policy, score_name)
            except BadCell as bad:
                context = TaskContext.get()
                partition = context.partitionId() if context is not None else 0
                # Report the error in a row. After an exception Spark would run the task again and again.
                problem = f"{partition:012d}|partition {partition}, row {rows + (bad.index or 0) + 1}, {bad}"
                yield _partial(_ERROR, np.empty(0, np.int64), 0, problem)
                return
            rows += batch.num_rows
            counter.add(score, nan_policy)
        if rows == 0:
            return
        counts = counter.counts()
        for at, start in enumerate(range(0, counts.shape[0], 2 * together)):
            yield _partial(at, counts[start : start + 2 * together], counter.nan_items if at == 0 else 0)

    return count


def _partial(slice_: int, counts: NDArray[np.int64], nan_items: int, problem: str | None = None) -> Any:
    """A row with the counts of a slice of thresholds, in as few bytes as the counts need."""
    import pyarrow as pa

    dtype = np.min_scalar_type(int(counts.max(initial=0)))
    return pa.RecordBatch.from_pydict({
        "slice": pa.array([slice_], pa.int32()),
        "counts": pa.array([counts.astype(dtype).tobytes()], pa.binary()),
        "width": pa.array([dtype.itemsize], pa.int32()),
        "nan_items": pa.array([nan_items], pa.int64()),
        "problem": pa.array([problem], pa.string()),
    })  # fmt: skip


def _sums(batches: Iterable[Any]) -> tuple[str | None, dict[int, tuple[NDArray[np.int64], int]]]:
    """(the first problem or None, for each slice the sums of counts and of items without a score)."""
    sums: dict[int, Any] = {}
    problems = []
    for batch in batches:
        for row in batch.to_pylist():
            at = row["slice"]
            if at == _ERROR:
                problems.append(row["problem"])
                continue
            counts = np.frombuffer(row["counts"], f"u{row['width']}").astype(np.int64)
            before, missing = sums.get(at, (0, 0))
            sums[at] = counts + before, missing + row["nan_items"]
    return min(problems, default=None), sums


def _add(batches: Iterator[Any]) -> Iterator[Any]:
    problem, sums = _sums(batches)
    if problem is not None:
        yield _partial(_ERROR, np.empty(0, np.int64), 0, problem)
    for at, (counts, nan_items) in sums.items():
        yield _partial(at, counts, nan_items)


def _packing(judged: _Judged, score_name: str, nan_policy: str, absent: bool = False) -> _Task:
    """The function that packs the rows of a partition by bucket."""

    def pack(batches: Iterator[Any]) -> Iterator[Any]:
        waiting: list[tuple[Any, ...]] = []
        rows = size = 0
        for batch in batches:
            code, queries = batch.column("code"), batch.column("query")
            try:
                if code.null_count:
                    raise BadCell(_first_null(code), judged.rule)
                score = _checked(batch.column("score"), nan_policy, score_name, absent)
            except BadCell as bad:
                raise ValueError(f"query {queries[bad.index or 0].as_py()!r}, {bad}") from None
            codes = code.to_numpy()
            beside: tuple[Any, ...] = ()
            if judged.names:
                beside = _levels_in(batch.column("level"), len(judged.names)), batch.column("docid").drop_null()
            elif judged.graded:
                beside = (batch.column("level").to_numpy()[codes & 1 == 1],)
            waiting.append((codes, score, queries, *beside))
            rows, size = rows + batch.num_rows, size + batch.nbytes
            if rows >= _PACK_ROWS or size >= _PACK_BYTES:
                yield _packed(waiting)
                waiting, rows, size = [], 0, 0
        if rows:
            yield _packed(waiting)

    return pack


def _packed(parts: list[tuple[Any, ...]]) -> Any:
    """Rows of `_PACKED`, from codes (bucket and label), scores, queries and, of relevant rows, levels and ids."""
    import pyarrow as pa
    import pyarrow.compute as pc

    codes, scores = (np.concatenate([part[i] for part in parts]) for i in range(2))
    queries = pa.concat_arrays([part[2] for part in parts])
    if pa.types.is_boolean(queries.type):
        queries = queries.cast(pa.int8())
    n = codes.shape[0]
    flags = (codes & 1).astype(np.uint8)
    if queries.null_count:
        flags[queries.is_null().to_numpy(zero_copy_only=False)] |= _NULL
    # Runs of a query move as a whole.
    changes = pc.fill_null(pc.not_equal(queries.slice(1), queries.slice(0, n - 1)), True)
    firsts = np.append(0, np.flatnonzero(changes.to_numpy(zero_copy_only=False)) + 1)
    lengths = np.diff(firsts, append=n)
    buckets = (codes[firsts] >> 1).astype(np.uint16)
    order = np.argsort(buckets, kind="stable")  # for 16 bits this is a radix sort
    firsts, lengths, buckets = firsts[order], lengths[order], buckets[order]
    ends = np.cumsum(lengths)
    rows = np.arange(n) + np.repeat(firsts - ends + lengths, lengths)
    # The beginnings of the pieces, and of the runs, which pieces cut.
    piece = max(1, min(_PIECE, _PIECE_BYTES * n // max(1, queries.nbytes)))
    begins = np.zeros(n, bool)
    begins[::piece] = begins[ends[:-1][np.diff(buckets) != 0]] = True
    starts = np.flatnonzero(begins)
    begins[ends - lengths] = True
    runs = np.flatnonzero(begins)
    bounds, of_runs = np.append(starts, n), np.append(np.searchsorted(runs, starts), runs.shape[0])
    queries = queries.take(pa.array(rows[runs]))

    if _is_text(queries.type):
        of_query, lengths = _pieces_of_texts(queries, of_runs)
    else:
        of_query = _pieces(queries.buffers()[1], queries.type.bit_width // 8 * of_runs)
        lengths = pa.nulls(starts.shape[0], pa.binary())
    beside = {}
    if len(parts[0]) > 3:
        relevant = flags[rows] & 1 == 1
        at = np.append(0, np.cumsum(relevant))[bounds]
        places = (np.cumsum(flags & 1, dtype=np.int64) - 1)[rows[relevant]]
        levels = np.concatenate([part[3] for part in parts])[places]
        beside = {"levels": _pieces(levels.reshape(-1), 8 * math.prod(levels.shape[1:]) * at)}
        if len(parts[0]) > 4:
            ids = pa.concat_arrays([part[4] for part in parts]).take(pa.array(places))
            beside["docid"], beside["sizes"] = _pieces_of_texts(ids, at)
    return pa.RecordBatch.from_pydict({
        "bucket": codes[rows[starts]] >> 1,
        "flags": _pieces(flags[rows], bounds),
        "score": _pieces(scores[rows], scores.dtype.itemsize * bounds),
        "runs": _pieces(np.diff(runs, append=n).astype(np.uint16), 2 * of_runs),
        "query": of_query,
        "lengths": lengths,
        **beside,
    })  # fmt: skip


def _pieces(values: Any, at: NDArray[np.int64]) -> Any:
    """A column of binaries: the bytes of the values between the places `at`."""
    import pyarrow as pa

    return pa.Array.from_buffers(pa.binary(), at.shape[0] - 1,
                                 [None, pa.py_buffer(at.astype(np.int32)), pa.py_buffer(values)])


def _pieces_of_texts(texts: Any, at: NDArray[np.int64]) -> tuple[Any, Any]:
    """Two columns of binaries: the bytes of the texts between the places `at`, and of their lengths."""
    import pyarrow as pa

    offsets = np.zeros(1, np.int64)
    if len(texts):
        offsets = np.frombuffer(texts.buffers()[1], _offset_type(texts.type), len(texts) + 1)
    data = texts.buffers()[2] or pa.py_buffer(b"")
    return _pieces(data, offsets[at]), _pieces(np.diff(offsets).astype(np.int32), 4 * at)


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return kind in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())


def _offset_type(kind: Any) -> type[np.integer[Any]]:
    import pyarrow as pa

    return np.int64 if kind in (pa.large_string(), pa.large_binary()) else np.int32


def _unpacked(columns: list[Any]) -> NDArray[np.uint8]:
    """The bytes of columns of binaries, concatenated."""
    parts = [np.empty(0, np.uint8)]
    for column in columns:
        offsets = np.frombuffer(column.buffers()[1], _offset_type(column.type))
        start, stop = int(offsets[column.offset]), int(offsets[column.offset + len(column)])
        if start < stop:
            parts.append(np.frombuffer(column.buffers()[2], np.uint8)[start:stop])
    return np.concatenate(parts)


def _texts(lengths: NDArray[np.uint8], letters: NDArray[np.uint8], valid: Any = None) -> Any:
    """An array of texts from the bytes of their lengths, and from their own."""
    import pyarrow as pa

    offsets = np.append(0, np.cumsum(lengths.view(np.int32), dtype=np.int64))
    buffers = [valid, pa.py_buffer(offsets), pa.py_buffer(letters)]
    return pa.Array.from_buffers(pa.large_binary(), offsets.shape[0] - 1, buffers)


def _packed_curves(column: Callable[[str], NDArray[np.uint8]], label: NDArray[Any], score: NDArray[Any],
                   codes: NDArray[Any], judged: _Judged, options: dict[str, Any]) -> Any:  # fmt: skip
    """The curves of queries. `column` gives the bytes of a column; `codes` are the queries of the rows."""
    if judged.names:
        relevant, levels = np.flatnonzero(label), column("levels").view(np.float64).reshape(-1, len(judged.names))
        placed = _in_order(_texts(column("sizes"), column("docid")), levels)
        # Relevant rows take each other's places. The order of rows matters to nothing else.
        score[relevant], codes[relevant] = score[relevant[placed]], codes[relevant[placed]]
        of_rows: NDArray[Any] = np.zeros((label.shape[0], len(judged.names)))
        of_rows[relevant] = levels[placed]
        return SubtopicCurves(of_rows, score, subtopics=judged.names, qid=codes, **options)
    if judged.graded:
        of_rows = np.zeros(label.shape[0])
        of_rows[label == 1] = column("levels").view(np.float64)
        return GainCurves(of_rows, score, qid=codes, **options)
    return HitCurves(label, score, qid=codes, **options)


def _measuring(measures: dict[str, Measure], query: str, kind: Any, dtype: np.dtype[Any], ties: str,
               options: dict[str, Any], judged: _Judged) -> _Task:  # fmt: skip
    """The function that measures the queries of a partition. Its input is packed rows, bucket by bucket."""

    def measure(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow.compute as pc

        waiting: list[Any] = []
        held, last = 0, -1
        for batch in batches:
            buckets = batch.column("bucket").to_numpy()
            starts = [0, *(np.flatnonzero(np.diff(buckets)) + 1).tolist(), batch.num_rows]
            for start, stop in pairwise(starts):
                if held >= _TOGETHER and buckets[start] != last:
                    yield rank(waiting)
                    waiting, held = [], 0
                last = buckets[start]
                waiting.append(batch.slice(start, stop - start))
                held += pc.sum(pc.binary_length(waiting[-1].column("flags"))).as_py()
        if held:
            yield rank(waiting)

    def rank(pieces: list[Any]) -> Any:
        import pyarrow as pa

        def column(name: str) -> NDArray[np.uint8]:
            return _unpacked([piece.column(name) for piece in pieces])

        flags, runs, values = column("flags"), column("runs").view(np.uint16), column("query")
        valid = None
        if (flags >= _NULL).any():
            valid = pa.py_buffer(np.packbits(flags[np.cumsum(runs) - runs] < _NULL, bitorder="little"))
        if _is_text(kind):
            queries = _texts(column("lengths"), values, valid)
        else:
            code = pa.int8() if pa.types.is_boolean(kind) else kind
            queries = pa.Array.from_buffers(code, runs.shape[0], [valid, pa.py_buffer(values)])
        queries = queries.dictionary_encode("encode")
        codes = np.repeat(queries.indices.to_numpy(), runs)
        curves = _packed_curves(column, flags & 1, column("score").view(dtype), codes, judged, options)
        columns: dict[str, Any] = {"num_items": curves.num_items, "num_relevant": curves.num_relevant}
        for name, measure in measures.items():
            values, null = _values(measure, curves, ties)
            columns[name] = pa.array(values, mask=null)
        return pa.RecordBatch.from_pydict({query: queries.dictionary.cast(kind), **columns})

    return measure
