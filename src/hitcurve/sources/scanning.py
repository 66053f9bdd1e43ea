"""scan: the hit curve of data larger than memory, from files, streams and queries on one machine.

A row of the table is a relevant score with the numbers of items above it and at it. So the first pass collects the
relevant scores, and the second pass counts all scores against them. Partial counts add up, and memory is needed only
for the relevant items and a few batches. If a source is expensive to read again (text, queries, streams that come
once), its scores are kept for the second pass: in memory if they are few, otherwise in a temporary file without a name,
which the system removes with the process.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, closing, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, overload
from warnings import warn

import numpy as np

from hitcurve._base.checks import (
    check_choice,
    check_count,
    check_number,
    check_options,
    checked_array,
    quoted,
    unchanged,
)
from hitcurve._base.pickle import gain_curves
from hitcurve._base.words import many
from hitcurve._base.workers import check_workers, in_threads
from hitcurve.curves.blocks import BlockCounter
from hitcurve.curves.counter import table_from_counts
from hitcurve.curves.gain import GainCurve, GainCurves
from hitcurve.curves.gain_counter import LevelCounts, scored_levels, with_levels
from hitcurve.curves.hit import HitCurve, HitCurves, curve_of, curves_of
from hitcurve.curves.levels import missing_levels
from hitcurve.shown.progress import Progress
from hitcurve.sources.cells import Layout, Types, distinct, has_nan, joined
from hitcurve.sources.opening import FIRST_LEVELS, names_array, open_source
from hitcurve.sources.pieces import LAST, Piece, Source, Subtopics, Task
from hitcurve.sources.spools import Parts, Spool, Store

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hitcurve.curves.subtopics import SubtopicCurve, SubtopicCurves
    from hitcurve.sources.cells import Actives, Column
    from hitcurve.sources.library import Library

    _Policy = Literal["raise", "worst", "omit"]
    _Order = Literal["score", "group"] | None
    _Decimal = Literal[".", ","] | None
    _Diversity = SubtopicCurve | SubtopicCurves

__all__ = ["Job", "ScanProgress", "run_tasks", "scan"]

_HELD = 256 << 20  # bytes of scores kept in memory, at most; with a limit of memory, at most an eighth of the limit
_BIN_BYTES = 120  # memory for each edge of a bin; bins have half of the limit of memory
_ORDERED_BYTES = 112  # memory for each row of the table when rows come best first
_TOGETHER = 1 << 20  # items of complete groups that are ranked together
_PARTS_FROM = 80_000  # from so many relevant items on, items are sorted into parts before they are counted
_BLOCKS = 6 << 16  # the parts have memory for at least so many items
_LEVEL_BYTES = 150  # memory for each item above level 0, beside the table
_NO_GRADE = {
    "label": "levels take the place of labels",
    "grade": "a curve has levels, or levels for each subtopic",
    "actives": "actives are items without levels",
    "num_relevant": "unretrieved has the levels of relevant items that were never retrieved",
    "tolerance": "{} are not binned",
}

_NO_LIBRARY = {
    "subtopics": "give the items without a row as rows without a score, and nan_policy='worst'",
    "actives": "the scores of all actives are known only if all have a row: give label",
    "num_relevant": "library has all relevant items",
    "unretrieved": "library has all relevant items",
    "nan_policy='omit'": "items without a row rank last, so items without a score must rank last too: give "
                         "nan_policy='worst'",
    "sorted='group'": "a group's items without a row are known only at the end: leave out sorted",
}  # fmt: skip


@overload
def scan(source: tuple[Any, Any, Any], label: None = ..., score: None = ..., group: None = ..., *, grade: Column,
         lower_is_better: bool = ..., nan_policy: _Policy = ..., sorted: _Order = ..., max_memory: int | None = ...,
         header: bool = ..., delimiter: str | None = ...,
         na: str | Sequence[str] | None = ..., decimal: _Decimal = ..., positive: str | None = ..., workers: int = ...,
         progress: bool | None = ...) -> GainCurves: ...  # fmt: skip
@overload
def scan(source: Any, label: None = ..., score: Column | None = ..., group: None = ..., *, grade: Column,
         unretrieved: Any = ..., lower_is_better: bool = ..., nan_policy: _Policy = ..., sorted: _Order = ...,
         max_memory: int | None = ..., header: bool = ..., delimiter: str | None = ...,
         id: Column | None = ..., library: Any = ...,
         na: str | Sequence[str] | None = ..., decimal: _Decimal = ..., positive: str | None = ..., workers: int = ...,
         progress: bool | None = ...) -> GainCurve: ...  # fmt: skip
@overload
def scan(source: Any, label: None = ..., score: Column | None = ..., group: Column = ..., *, grade: Column,
         lower_is_better: bool = ..., nan_policy: _Policy = ..., sorted: _Order = ..., max_memory: int | None = ...,
         header: bool = ..., delimiter: str | None = ...,
         id: Column | None = ..., library: Any = ...,
         na: str | Sequence[str] | None = ..., decimal: _Decimal = ..., positive: str | None = ..., workers: int = ...,
         progress: bool | None = ...) -> GainCurves: ...  # fmt: skip
@overload
def scan(source: tuple[Any, Any, Any], label: None = ..., score: None = ..., group: None = ..., *,
         subtopics: Sequence[Column] | Literal[True], lower_is_better: bool = ..., nan_policy: _Policy = ...,
         sorted: _Order = ..., max_memory: int | None = ..., header: bool = ..., delimiter: str | None = ...,
         na: str | Sequence[str] | None = ..., decimal: _Decimal = ..., positive: str | None = ..., workers: int = ...,
         progress: bool | None = ...) -> SubtopicCurves: ...  # fmt: skip
@overload
def scan(source: Any, label: None = ..., score: Column | None = ..., group: None = ..., *,
         subtopics: Sequence[Column] | Literal[True], unretrieved: Any = ..., lower_is_better: bool = ...,
         nan_policy: _Policy = ..., sorted: _Order = ..., max_memory: int | None = ..., header: bool = ...,
         delimiter: str | None = ..., na: str | Sequence[str] | None = ..., decimal: _Decimal = ...,
         positive: str | None = ..., workers: int = ..., progress: bool | None = ...) -> SubtopicCurve: ...  # fmt: skip
@overload
def scan(source: Any, label: None = ..., score: Column | None = ..., group: Column = ..., *,
         subtopics: Sequence[Column] | Literal[True], lower_is_better: bool = ..., nan_policy: _Policy = ...,
         sorted: _Order = ..., max_memory: int | None = ..., header: bool = ..., delimiter: str | None = ...,
         na: str | Sequence[str] | None = ..., decimal: _Decimal = ..., positive: str | None = ..., workers: int = ...,
         progress: bool | None = ...) -> SubtopicCurves: ...  # fmt: skip
@overload
def scan(source: tuple[Any, Any, Any], label: None = ..., score: None = ..., group: None = ..., *, grade: None = ...,
         subtopics: None = ..., actives: Any = ..., lower_is_better: bool = ..., nan_policy: _Policy = ...,
         num_relevant: int | None = ..., sorted: _Order = ..., max_memory: int | None = ...,
         tolerance: float | None = ..., header: bool = ..., delimiter: str | None = ...,
         na: str | Sequence[str] | None = ..., decimal: _Decimal = ..., positive: str | None = ..., workers: int = ...,
         progress: bool | None = ...) -> HitCurves: ...  # fmt: skip
@overload
def scan(source: Any, label: Column | None = ..., score: Column | None = ..., group: None = ..., *, grade: None = ...,
         subtopics: None = ..., actives: Any = ..., lower_is_better: bool = ..., nan_policy: _Policy = ...,
         num_relevant: int | None = ..., sorted: _Order = ..., max_memory: int | None = ...,
         tolerance: float | None = ..., header: bool = ..., delimiter: str | None = ...,
         na: str | Sequence[str] | None = ..., decimal: _Decimal = ..., positive: str | None = ...,
         id: Column | None = ..., library: Any = ..., num_actives: int | None = ..., workers: int = ...,
         progress: bool | None = ...) -> HitCurve: ...  # fmt: skip
@overload
def scan(source: Any, label: Column | None = ..., score: Column | None = ..., group: Column = ..., *, grade: None = ...,
         subtopics: None = ..., actives: Any = ..., lower_is_better: bool = ..., nan_policy: _Policy = ...,
         num_relevant: int | None = ..., sorted: _Order = ..., max_memory: int | None = ...,
         tolerance: float | None = ..., header: bool = ..., delimiter: str | None = ...,
         na: str | Sequence[str] | None = ..., decimal: _Decimal = ..., positive: str | None = ...,
         id: Column | None = ..., library: Any = ..., num_actives: int | None = ..., workers: int = ...,
         progress: bool | None = ...) -> HitCurves: ...  # fmt: skip
def scan(source: Any, label: Column | None = None, score: Column | None = None, group: Column | None = None, *,
         grade: Column | None = None, subtopics: Subtopics = None, actives: Any = None, lower_is_better: bool = False,
         nan_policy: str = "raise", num_relevant: int | None = None, unretrieved: Any = None, sorted: str | None = None,
         max_memory: int | None = None, tolerance: float | None = None, header: bool = True,
         delimiter: str | None = None, na: str | Sequence[str] | None = None, decimal: _Decimal = None,
         positive: str | None = None, id: Column | None = None, library: Any = None,
         num_actives: int | None = None, workers: int = 1,
         progress: bool | None = None) -> HitCurve | HitCurves | GainCurve | GainCurves | _Diversity:  # fmt: skip
    """The hit curve or gain curve of data larger than memory; with `group`, the curves of all groups.

    The first pass over the data collects the relevant scores, and the second pass counts all scores. With `actives` or
    `sorted` one pass is enough. The result equals `HitCurve` (with `grade`, `GainCurve`; with `subtopics`,
    `SubtopicCurve`) to the last bit. Scores are compared exactly, also if batches have scores of different types.

    Parameters
    ----------
    source : str, path, list, Arrow or lazy data, tuple of arrays, or callable
        The data, in one of these forms. A Parquet, CSV, TSV or Excel file (any file that `hitcurve table` reads), a
        folder, a glob, or a list of these. An Arrow table, dataset or stream. A DuckDB relation or a polars LazyFrame.
        A tuple of arrays ``(y_true, y_score)`` or ``(y_true, y_score, qid)``; the arrays may be memory-mapped files. A
        function without arguments that returns new batches at each call: Arrow record batches, data frames, or tuples
        of arrays.
    label, score, group : str or int
        The columns, by name or by number from 1. Labels are 0/1 or true/false. Tuples of arrays need no columns. If a
        function returns tuples of arrays with groups, write ``group=3``.
    grade : str or int, optional
        In place of `label`: the column of the levels of relevance, numbers from 0 up. For tuples of arrays, ``grade=1``
        makes the first array the levels. `grade` cannot be combined with `actives`, `num_relevant` or `tolerance`.
    subtopics : list of str or int, or True, optional
        In place of `label`: the columns of the levels for each subtopic, numbers from 0 up. A subtopic has the name
        that you give for its column. For tuples of arrays, the first array has a column for each subtopic, and the list
        has their names; True stands for the names 0, 1, 2, ... Ideal orders take items that add as much in the order of
        the rows. `subtopics` cannot be combined with what `grade` cannot be combined with.
    actives : array_like, optional
        The scores of all relevant items, if you know them beforehand. One pass is then enough. With `label`, these must
        be exactly the scores of the relevant rows. Without `label`, no row of the source is relevant, and the actives
        are added to the rows.
    lower_is_better : bool
        If True, the lowest score ranks first.
    nan_policy : {"raise", "worst", "omit"}
        As for HitCurve.
    num_relevant : int, optional
        The number of all relevant items, if some were never retrieved. It cannot be combined with `group`.
    unretrieved : array_like, optional
        With `grade`, the levels of relevant items that were never retrieved. With `subtopics`, a row for each of these
        items, and a column for each subtopic. It cannot be combined with `group`.
    sorted : {"score", "group"}, optional
        The order of the rows. ``"score"``: from the best row to the worst. ``"group"``: the rows of a group follow each
        other. One pass is then enough, in O(1) memory beside the result. Rows in another order are an error.
    max_memory : int, optional
        The limit of memory in bytes, beyond the memory of Python and the libraries. Without a limit, memory grows with
        the number of relevant items.
    tolerance : float, optional
        Allows bins if the table of all relevant items does not fit `max_memory`. The best scores stay exact, and a
        sample of the other relevant scores are the edges of the bins. Average precision (under expected ties) is then
        known up to an interval of at most this width. A wider interval is an error. ``tie_report()`` gives wider
        bounds, which also include true ties.
    header : bool
        Whether the first line of CSV, TSV and Excel holds the column names.
    delimiter : str, optional
        The character between the cells of CSV and TSV. Default: a comma in CSV, a tab in TSV. If a file cannot be read
        with the default, but with exactly one other of comma, semicolon and tab, this other character is taken, and a
        UserWarning names it.
    decimal : {".", ","}, optional
        The decimal mark of numbers in text. Default: a point. If the numbers of a CSV or TSV file can be read only with
        a comma, the comma is taken, and a UserWarning says so. The first 64 KB of the file decide.
    na : str or sequence of str, optional
        Texts that mean a missing score, besides an empty cell, ``nan``, ``NA`` and ``null``. If such a text is a
        number, scores of this value are missing too: ``na="-999"``. `nan_policy` decides how missing scores count.
    positive : str, optional
        The label of the relevant rows, if the column `label` holds words. Rows with any other label are not relevant.
        An empty label is an error. A source without a single label of this text is an error too.
    id : str or int, optional
        The column of the ids, if `library` has ids.
    library : int, str, path, frame, mapping or sequence of str, optional
        The items that should have a row, such as all compounds that were docked. Items without a row rank last, as one
        tie group together with the NaN rows of ``nan_policy="worst"``; the curve equals that of a source which has
        these items as rows without a score. One of these forms:

        - The number of items, with `num_actives`. Needs no ids.
        - A file with the ids: a text with an id on each line, or a CSV, TSV, Parquet, Excel, SMILES or SDF file. The
          ids are in the column `id`, or else in the first column (SMILES: the second; SDF: the first line of a record).
          The file's columns `label` (or `grade`) and `group`, if it has them, are the labels and groups of the items.
          Without a column of groups, each group has all items.
        - A data frame, or an Arrow table, with these columns.
        - A mapping of ids to labels (with `grade`, to levels), or a sequence of ids with `num_actives`.

        If the source has no labels (a file or frame lacks the column `label`, or `label` is None and `library` is a
        mapping),
        the labels of the library are those of the rows. `library` cannot be combined with ``nan_policy="omit"``,
        ``sorted="group"``, `subtopics`, `actives`, `num_relevant` or `unretrieved`.
    num_actives : int, optional
        The number of relevant items in `library`, if it has no labels. It cannot be combined with `group` or `grade`.
    workers : int
        The number of threads that decode and count, at most the number of cores; -1 takes all cores. The result is the
        same for any number. If the source is a function, it runs in the caller's thread.
    progress : bool, optional
        True shows the progress on standard error: the rows, the rows per second and, if the number of rows is known,
        per cent and time left. In a notebook that has tqdm it is a bar. Default: True if standard error is a terminal.

    Returns
    -------
    HitCurve or HitCurves
        A HitCurve, or with `group` a HitCurves. With `grade`, a GainCurve, or with `group` a GainCurves. With
        `subtopics`, a SubtopicCurve, or with `group` a SubtopicCurves.

    Raises
    ------
    ValueError
        If a label or score is invalid, if a file is broken or has another schema, if the source changed between the two
        passes, if the rows are not sorted as `sorted` says, if no single type holds all scores, or if the groups have
        several types (numbers, texts, ...). The message names the file, the row and the column. If a row's id is not in
        `library`, comes again, or has another label there, or if `library` is smaller than the source or has an id
        twice. Also if `max_memory` or `tolerance` is too small. The message then names the memory that is needed.
    TypeError, ImportError
        If an argument or a column has the wrong type, or if the package that reads the source is not installed.

    Examples
    --------
    >>> import hitcurve as hc, numpy as np
    >>> y_true, y_score = np.array([1, 0, 1, 0]), np.array([0.9, 0.8, 0.8, 0.1])
    >>> hc.scan((y_true, y_score))
    HitCurve(num_items=4, num_relevant=2, num_hits=2; 2 tied)
    >>> hc.scan(lambda: ((y_true[i : i + 2], y_score[i : i + 2]) for i in (0, 2))).average_precision()
    0.9166666666666666
    >>> hc.scan((np.array([3, 0, 1, 0]), y_score), grade=1)
    GainCurve(num_items=4, num_relevant=2, num_hits=2; levels 1, 3)
    >>> hc.scan((np.array([[1, 0], [0, 0], [1, 1], [0, 2]]), y_score), subtopics=["car", "cat"])
    SubtopicCurve(num_items=4, num_relevant=3, num_hits=3; 2 subtopics)

    Of six compounds with three actives, two left no row:

    >>> hc.scan((y_true, y_score), library=6, num_actives=3)
    HitCurve(num_items=6, num_relevant=3, num_hits=3; 4 tied)
    """
    check_options(lower_is_better, nan_policy)
    workers = check_workers(workers)
    check_choice(sorted, "sorted", (None, "score", "group"))
    arrays = isinstance(source, tuple)
    unnamed = arrays or callable(source)
    grouped = len(source) == 3 if arrays else group is not None
    if subtopics is True and arrays and len(getattr(source[0], "shape", ())) == 2:
        subtopics = range(source[0].shape[1])
    subtopics = _checked_subtopics(subtopics, unnamed)
    _check_together(arrays, grouped, label, score, group, grade, subtopics, actives, num_relevant, unretrieved, sorted,
                    tolerance)  # fmt: skip
    if subtopics is None:
        missing_levels(unretrieved)
    layout = Layout(header, delimiter, decimal, na, positive)
    docked, from_library = _opened_library(library, num_actives, id, source, label, grade, group, grouped, layout, {
        "subtopics": subtopics, "actives": actives, "num_relevant": num_relevant, "unretrieved": unretrieved,
        "nan_policy='omit'": nan_policy == "omit" or None, "sorted='group'": sorted == "group" or None,
    })  # fmt: skip
    if from_library is not None:
        label, layout = None, layout._replace(positive=None)
    elif actives is None and label is None and grade is None and subtopics is None and not unnamed:
        raise TypeError("label must name the column of the labels (or give actives in place of label)")
    if max_memory is not None:
        max_memory = check_count(max_memory, "max_memory", 1 << 62)
    if tolerance is not None and not check_number(tolerance, "tolerance") >= 0:
        raise ValueError(f"tolerance is {tolerance}: it must not be negative")

    opened = open_source(source, label, score, group, nan_policy=nan_policy, workers=workers, grade=grade,
                         subtopics=subtopics, in_order=grouped or sorted is not None, unlabelled=actives is not None,
                         layout=layout, known=from_library,
                         ids=id if docked is not None and docked.targets is not None else None)  # fmt: skip
    passes = 2 if not (grouped or sorted or actives is not None) else 1
    curve: HitCurve | HitCurves | GainCurve | GainCurves | _Diversity
    with ScanProgress(opened, passes, progress) as shown:
        job = Job(opened, shown, [lower_is_better], nan_policy, workers, num_relevant, max_memory, tolerance,
                  unretrieved, docked)  # fmt: skip
        if grouped:
            curve = job.by_group(sorted)[0]
        elif sorted == "score":
            curve = job.in_order()
        elif actives is not None:
            curve = job.counted(_checked_actives(actives, nan_policy), label is None and not unnamed)
        else:
            curve = job.twice()[0]
        if job.pool is not None:
            curve = job.pool.curve(curve)
    for note in (*opened.notes, *(docked.notes() if docked is not None else ())):
        warn(note, UserWarning, stacklevel=2)
    return curve


def _checked_subtopics(subtopics: Any, unnamed: bool) -> Subtopics:
    """The columns of the subtopics, True for the columns of an array, or None without subtopics."""
    if subtopics is None or (subtopics is True and unnamed):
        return subtopics
    if subtopics is True:
        raise TypeError("subtopics=True is for arrays: name the column of each subtopic")
    if isinstance(subtopics, (str, bytes, Mapping, Set)) or not isinstance(subtopics, Iterable):
        raise TypeError(f"subtopics is {quoted(subtopics)}: it must be a list of columns, one for each subtopic")
    places: dict[Any, int] = {}
    for at, name in enumerate(subtopics):
        if not isinstance(name, Hashable):
            raise TypeError(f"subtopics[{at}] is {quoted(name)} of type {type(name).__name__}: it must be a name")
        if places.setdefault(name, at) != at:
            raise ValueError(f"subtopics[{at}] is {name!r}, which subtopics[{places[name]}] is too: name each subtopic "
                             "once")
    if not places:
        raise ValueError("subtopics is empty: it must name the column of each subtopic")
    return list(places)


def _check_together(arrays: bool, grouped: bool, label: Any, score: Any, group: Any, grade: Any, subtopics: Any,
                    actives: Any, num_relevant: Any, unretrieved: Any, sorted: str | None,
                    tolerance: Any) -> None:  # fmt: skip
    """Raise an error for arguments that cannot be combined."""
    levels = grade is not None or subtopics is not None
    given, kind = ("grade", "gain curves") if subtopics is None else ("subtopics", "curves of subtopics")
    hits = {"label": label, "actives": actives, "num_relevant": num_relevant, "tolerance": tolerance}
    if subtopics is not None:
        hits["grade"] = grade
    problems = (
        (sorted == "group" and not grouped, "sorted='group', but there is no group column"),
        (arrays and (label, score, group) != (None, None, None),
         "label, score and group name columns, but source is a tuple of arrays"),
        (actives is not None and (grouped or sorted is not None),
         "actives cannot be combined with group or sorted: they are the relevant items of one ranking"),
        (grouped and num_relevant is not None,
         "num_relevant cannot be combined with group: each group has a number of its own"),
        *((levels and value is not None, f"{given} and {name} are both given: {_NO_GRADE[name].format(kind)}")
          for name, value in hits.items()),
        (grade is not None and arrays and grade != 1,
         f"grade is {grade!r}, but source is a tuple of arrays: {FIRST_LEVELS}"),
        (unretrieved is not None and (grouped or not levels),
         "unretrieved needs grade or subtopics, and cannot be combined with group"),
    )  # fmt: skip
    for wrong, problem in problems:
        if wrong:
            raise ValueError(problem)


def _checked_actives(actives: Any, nan_policy: str) -> NDArray[Any]:
    """The scores of the relevant items."""
    known = checked_array(actives, "actives", "they are scores, one for each item")
    if nan_policy == "raise" and has_nan(known):
        raise ValueError(f"actives[{int(np.argmax(np.isnan(known)))}] is nan")
    return known


def _check_library(library: Any, num_actives: Any, ids: Any, arrays: bool, others: dict[str, Any]) -> None:
    """Raise an error for arguments that cannot be combined with a library."""
    if library is None:
        given = "id" if num_actives is None else "num_actives"
        raise ValueError(f"{given} needs library: the items that should have a row")
    for name, value in others.items():
        if value is not None:
            raise ValueError(f"library and {name} cannot be combined: {_NO_LIBRARY[name]}")
    if arrays and ids is not None:
        raise ValueError("id names a column, but source is a tuple of arrays: give the number of items as library")


def _opened_library(library: Any, num_actives: Any, ids: Any, source: Any, label: Any, grade: Any, group: Any,
                    grouped: bool, layout: Layout,
                    others: dict[str, Any]) -> tuple[Library | None, Actives | None]:  # fmt: skip
    """(the library, the ids of its relevant items if they take the place of labels in the source).

    `others`: the arguments that cannot be combined with a library. Without a library, both results are None.
    """
    if library is None and num_actives is None and ids is None:
        return None, None
    _check_library(library, num_actives, ids, isinstance(source, tuple), others)
    from hitcurve.sources.library import actives_of, lacks, library_of

    lacking = isinstance(library, Mapping) and label is None and grade is None
    if grade is None and not lacking:
        lacking = lacks(source if isinstance(source, list) else [source], label, library)
    docked = library_of(library, num_actives, files=False, ids=ids, label=label if grade is None else grade,
                        graded=grade is not None, group=group, grouped=grouped, layout=layout)  # fmt: skip
    return docked, actives_of(docked, label) if lacking else None


def run_tasks(tasks: Iterator[Task], handle: Callable[[int, Piece], None], workers: int, shown: ScanProgress) -> None:
    """Call `handle(worker, piece)` for every piece of every task. Calls for the same worker never overlap."""
    free = list(range(workers))
    left = threading.Event()

    def one(task: Task) -> None:
        worker = free.pop()
        try:
            for piece in task():
                if left.is_set():  # Ctrl-C: tasks that run end after their current piece
                    break
                handle(worker, piece)
                shown.add(piece.rows)
        finally:
            free.append(worker)

    for _ in in_threads(one, tasks, workers, cancel=left.set, idle=shown.draw):
        pass


class ScanProgress(Progress):
    """The progress of passes over rows."""

    def __init__(self, source: Source, passes: int, wanted: bool | None) -> None:
        super().__init__(wanted)
        self.passes, self.at = passes, 1
        self.begin(f"pass 1 of {passes}", source.rows or source.guess(), "rows", guessed=not source.rows)

    def next_pass(self, rows: int) -> None:
        self.at += 1
        self.begin(f"pass {self.at} of {self.passes}", rows, "rows")


class _OtherType(Exception):
    """Other scores have a type that differs from the type of the thresholds."""


class Job:
    """A scan of rows with one or several columns of scores. Each column makes a ranking.

    `rows` is the number of rows so far, and `missing` has the number of rows without a score for each column. `kept` is
    a list of all pieces, or None. `ids` collects the ids of the pieces, or is None. With a library, its compounds
    without a row are further rows, which rank last. They count as rows, but not as missing.
    """

    def __init__(self, source: Source, shown: ScanProgress, lower: Sequence[bool], nan_policy: str, workers: int,
                 num_relevant: int | None = None, max_memory: int | None = None, tolerance: float | None = None,
                 unretrieved: Any = None, library: Library | None = None) -> None:  # fmt: skip
        self.unretrieved = None if source.rows_of_levels is not None else unretrieved  # the pool has those of subtopics
        self.library = library
        self.source, self.shown, self.lower, self.workers = source, shown, lower, workers
        self.nan_policy = nan_policy if library is None else "worst"
        self.num_relevant, self.max_memory, self.tolerance = num_relevant, max_memory, tolerance
        self.held = _HELD if max_memory is None else min(_HELD, max_memory // 8)
        self.types = [Types(known) for known in source.dtypes or [set()] * len(lower)]
        self.rows, self.missing = 0, [0] * len(lower)
        self.kept: list[Piece] | None = None
        self.ids: Any = None
        self.pool = None
        if source.rows_of_levels is not None:
            from hitcurve.sources.pools import Pool  # which few programs need

            self.pool = Pool(source, source.rows_of_levels, nan_policy, unretrieved)
        self.lock = threading.Lock()

    def beside(self, relevant: int) -> int:
        """Memory for so many items above level 0, beside the table."""
        return _LEVEL_BYTES * relevant + (0 if self.pool is None else self.pool.needed(relevant))

    def meet(self, piece: Piece, scores: Sequence[NDArray[Any]]) -> None:
        """Count a piece of rows that is read for the first time, and note the types of its scores."""
        for types, score in zip(self.types, scores, strict=True):
            types.add(score, lambda: self.source.place(piece.start))
        self.count_missing(piece)
        with self.lock:
            self.rows += piece.rows
            if self.kept is not None:
                self.kept.append(piece)
        if self.ids is not None and piece.ids is not None:
            self.ids.add(piece)
        self.put(piece)

    def put(self, piece: Piece) -> None:
        """Keep the items that have subtopics."""
        if self.pool is not None:
            self.pool.add(piece)
            if self.max_memory is not None and self.pool.held() > self.max_memory:
                items = self.pool.items
                what = f"the table of at least {many(items, 'relevant items', ',')}"
                raise _too_little(what, self.beside(items), self.max_memory)

    def run(self, want: str, handle: Callable[[int, Piece], None], workers: int) -> None:
        """The first pass: call `handle` for every piece, then for the compounds of the library without a row."""
        library = self.library
        if library is None:
            run_tasks(self.source.tasks(want), handle, workers, self.shown)
            return
        library.begin(self.source.merged)

        def told(worker: int, piece: Piece) -> None:
            handle(worker, piece)
            library.meet(piece, self.source)

        run_tasks(self.source.tasks(want), told, workers, self.shown)
        library.check()
        for piece in self.absent(want):
            for types in self.types:
                nan = np.full(1, np.nan, _as_float(types))
                types.add(nan, lambda: "library: a compound without a row has no score")
            handle(0, piece)

    def absent(self, want: str) -> Iterator[Piece]:
        """The compounds of the library without a row."""
        if self.library is not None:
            yield from self.library.absent(want, [_as_float(types) for types in self.types])

    def count_missing(self, piece: Piece) -> None:
        if self.nan_policy != "raise" and piece.start < LAST:
            found = [int(np.count_nonzero(score != score)) if has_nan(score) else 0 for score in piece.scores]
            with self.lock:
                for at, number in enumerate(found):
                    self.missing[at] += number

    def twice(self) -> list[HitCurve | GainCurve]:
        """Two passes: collect the relevant scores, then count all scores."""
        while True:
            try:
                with ExitStack() as opened:
                    return _TwoPasses(self, opened).curves()
            except _OtherType:
                # The thresholds must have the common type of all scores. It is known now, so start again.
                self.shown.at = 0
                self.shown.next_pass(self.source.rows or 0)

    def in_order(self) -> HitCurve | GainCurve:
        """One pass over rows that come best first."""
        rows = _InOrder(self)
        self.run("rows", rows.walk, 1)
        return rows.curve()

    def counted(self, actives: NDArray[Any], unlabelled: bool) -> HitCurve:
        """One pass against known relevant scores; `unlabelled`: the relevant items are not in the source."""
        known = _Actives(self, actives, not unlabelled)
        run_tasks(self.source.tasks("score" if unlabelled else "both"), known.count, len(known.counters), self.shown)
        return known.curve()

    def by_group(self, order: str | None) -> list[HitCurves | GainCurves]:
        """The curves of groups. Unless the rows come group by group, they are first put into parts by group."""
        groups = _Groups(self)
        if order == "group":
            groups.as_they_come()
        else:
            groups.apart()
        places, names = self.source.group_order()
        return [
            _gathered(curves, places, names, lower, types.common(), groups.ranked)
            for curves, lower, types in zip(groups.made, self.lower, self.types, strict=True)
        ]


def _as_float(types: Types) -> np.dtype[Any]:
    """The type of NaN beside scores of these types."""
    dtype = types.common()
    return dtype if dtype.kind == "f" else np.dtype(np.float64)


class _TwoPasses:
    """Two passes: the first collects the relevant scores, the second counts all scores against them."""

    def __init__(self, job: Job, opened: ExitStack) -> None:
        source, max_memory, columns = job.source, job.max_memory, len(job.lower)
        job.rows, job.missing = 0, [0] * columns
        if job.pool is not None:
            job.pool.start()
        self.job, self.keep = job, not source.cheap
        # A source that is cheap to read again keeps scores only if `max_memory` allows it or if all scores are few.
        little = source.rows is not None and source.rows * 4 * columns <= job.held
        source.keep(max_memory // 2 if max_memory is not None else job.held if little else 0)
        opened.callback(source.keep, 0)
        store = opened.enter_context(closing(Store()))
        room = sys.maxsize if max_memory is None else job.held // 2
        self.scores = [Spool(job.held // columns, store) for _ in job.lower]
        self.relevant = [Spool(room, store) for _ in job.lower]
        self.levels = Spool(room, store)
        for spool in [*self.scores, *self.relevant, self.levels]:
            opened.callback(spool.close)
        self.columns: list[_Column] = []

    def curves(self) -> list[HitCurve | GainCurve]:
        job, source = self.job, self.job.source
        job.run("both" if self.keep else "relevant", self._collect, job.workers)
        job.shown.next_pass(job.rows)
        workers = self._start()
        self.seen = [0] * workers
        run_tasks(_spooled(self.scores) if self.keep else source.again(self._gaps), self._count, workers, job.shown)
        for piece in () if self.keep else job.absent("score"):
            self._count(0, piece)
        if sum(self.seen) != job.rows:
            first = many(job.rows, "rows", ",")
            raise ValueError(f"the source gave {first} in the first pass, and {sum(self.seen):,} in the second")
        source.keep(0)
        for spool in self.scores:
            spool.close()
        return [column.curve() for column in self.columns]

    def _collect(self, worker: int, piece: Piece) -> None:
        self.job.meet(piece, piece.scores or piece.relevant)
        with self.job.lock if piece.levels is not None else nullcontext():  # levels keep the order of their scores
            for spool, found in zip(self.relevant, piece.relevant, strict=True):
                spool.append(found)
            if piece.levels is not None:
                self.levels.append(piece.levels)
        for spool, score in zip(self.scores, piece.scores, strict=True) if self.keep else ():
            spool.append(score)

    def _start(self) -> int:
        """Make the thresholds from the relevant scores; returns the number of workers that fit in memory."""
        job, levels = self.job, self.levels
        if job.max_memory is not None:
            tables = zip(self.relevant, job.types, strict=True)
            beside = job.beside(levels.length) if levels.length else 0
            needed = sum(_needed(spool.length, types.common(), job.workers, beside) for spool, types in tables)
            job.source.keep(max(0, min(job.max_memory // 2, job.max_memory - needed)))
        self.columns = [_Column(job, at, spool, levels) for at, spool in enumerate(self.relevant)]
        workers = min(column.workers for column in self.columns)
        for column in self.columns:
            column.start(workers)
        return workers

    def _count(self, worker: int, piece: Piece) -> None:
        self.seen[worker] += piece.rows
        if not self.keep:  # the first pass saw only the relevant scores
            self.job.count_missing(piece)
        if piece.gaps is not None:
            for column, gap in zip(self.columns, piece.gaps, strict=True):
                column.counters[worker].add_between(gap, piece.rows)
            return
        for column, score in zip(self.columns, piece.scores, strict=True):
            if score is not None:
                column.count(worker, piece, score)

    def _gaps(self, bounds: Sequence[tuple[int, int]]) -> list[int] | None:
        found = [column.gap(*ends) for column, ends in zip(self.columns, bounds, strict=True)]
        return [gap for gap in found if gap is not None] if None not in found else None


class _InOrder:
    """The table of rows that come best first, made piece by piece."""

    def __init__(self, job: Job) -> None:
        self.job, (self.types,) = job, job.types
        self.tables: list[tuple[NDArray[Any], ...]] = []
        self.num_rows = self.above = self.tied = self.hits = 0
        self.group = np.empty(0)  # the score of the last tie group, which has `tied` items so far and may continue
        self.levels = LevelCounts() if job.source.graded else None

    def walk(self, worker: int, piece: Piece) -> None:
        (score,), label, rows = piece.scores, piece.label, np.arange(0)
        if self.job.nan_policy == "omit" and has_nan(score):
            rows = np.flatnonzero(score == score)
            score, label = score[rows], label[rows]
        self.job.put(piece)
        if not score.shape[0]:
            return
        dtype = self.types.add(score, lambda: self.job.source.place(piece.start))
        went_on, before = self.group.shape[0], self.above + self.tied
        line = joined((self.group, score), dtype)
        missing = line != line
        self._check_order(line, missing, went_on, piece.start, rows)
        # NaN come last, and form one tie group.
        starts = np.flatnonzero(np.append(True, (line[1:] != line[:-1]) & ~(missing[1:] & missing[:-1])))
        # The first group may continue the last group of the previous piece. The last group may continue in the next.
        ends = np.append(starts[1:], line.shape[0])
        tied = ends - starts
        above = starts + (before - went_on)
        above[0] = self.above
        if self.levels is not None:
            places = np.flatnonzero(label)
            # The key of a level is the number of items above its tie group.
            self.levels.add(above[np.searchsorted(ends, places + went_on, "right")], label[places])
            label = label != 0
        hits = np.diff(np.append(0, np.cumsum(label, dtype=np.int64))[ends - went_on], prepend=0)
        tied[0] += self.tied - went_on
        hits[0] += self.hits
        full = np.flatnonzero(hits[:-1])
        self.num_rows += full.shape[0]
        self._check_room()
        self.tables.append((line[starts[full]], above[full], tied[full], hits[full]))
        self.above, self.tied, self.hits = int(above[-1]), int(tied[-1]), int(hits[-1])
        self.group = line[-1:].copy()

    def _check_order(self, line: NDArray[Any], missing: NDArray[Any], went_on: int, start: int,
                     rows: NDArray[Any]) -> None:  # fmt: skip
        """Raise an error if a score of `line` is better than the score before it, or comes after NaN.

        `rows` are the rows of the piece whose scores are in `line`; if it is empty, `line` has all scores.
        """
        worse = line[1:] < line[:-1] if self.job.lower[0] else line[1:] > line[:-1]
        worse |= missing[:-1] & ~missing[1:]
        if worse.any():
            at = int(np.argmax(worse))
            row = at + 1 - went_on
            place = self.job.source.place(start + (int(rows[row]) if rows.shape[0] else row))
            raise ValueError(f"{place}: the score {line[at + 1]} comes after {line[at]}: the rows are not sorted by "
                             "score")

    def _check_room(self) -> None:
        needed, max_memory = _ORDERED_BYTES * self.num_rows, self.job.max_memory
        if self.levels is not None:
            needed += self.job.beside(len(self.levels))
        if max_memory is not None and needed > max_memory:
            raise _too_little(f"the table of at least {many(self.num_rows, 'rows', ',')}", needed, max_memory)

    def curve(self) -> HitCurve | GainCurve:
        if self.hits:
            self.tables.append((self.group, *(np.array([one]) for one in (self.above, self.tied, self.hits))))
        score = joined((table[0] for table in self.tables), self.types.common())
        columns = [joined((table[at] for table in self.tables), np.int64) for at in (1, 2, 3)]
        curve = HitCurve.from_table(score, *columns, num_items=self.above + self.tied,
                                    num_relevant=self.job.num_relevant, lower_is_better=self.job.lower[0])
        return curve if self.levels is None else with_levels(curve, self.levels, self.job.unretrieved)


class _Actives:
    """Counts against known relevant scores; `labelled`: the relevant items are rows of the source, and have labels."""

    def __init__(self, job: Job, actives: NDArray[Any], labelled: bool) -> None:
        self.job, self.labelled, self.dtype = job, labelled, actives.dtype
        cuts, self.hits, self.nan_hits = distinct(actives)
        self.own = cuts.dtype
        # Integers below 2**53 become floats: any score compares with them exactly, even if it was rounded.
        self.small = self.own.kind != "f" and (not cuts.shape[0] or max(-int(cuts[0]), int(cuts[-1])) < 1 << 53)
        self.cuts = cuts = cuts.astype(np.float64) if self.small else cuts
        copies = 120 * cuts.shape[0]  # memory for the arrays from which the table is made
        workers = _fitting(cuts, job.workers, job.max_memory, copies)
        needed = _needed(cuts.shape[0], cuts.dtype, workers) + copies
        if job.max_memory is not None and needed > job.max_memory:
            raise _too_little(f"the table of {cuts.shape[0]:,} actives", needed, job.max_memory)
        self.counters = _counters(cuts, workers)
        self.found = np.zeros((workers, cuts.shape[0] + 1), np.int64)  # the last entry: relevant rows without a score
        self.kinds: set[str] = set()

    def count(self, worker: int, piece: Piece) -> None:
        (score,), cuts, nan_policy = piece.scores, self.cuts, self.job.nan_policy
        if piece.relevant is None:
            self.labelled = False
        if piece.rows:
            self.kinds.add(score.dtype.kind)
        wide = score.astype(cuts.dtype) if self.small else _as_compared(score, cuts.dtype)
        if piece.places is not None and piece.places.shape[0]:
            relevant = wide[piece.places]
            place = np.searchsorted(cuts, relevant)
            known = place < cuts.shape[0]
            known[known] = cuts[place[known]] == relevant[known]
            known |= relevant != relevant
            if not known.all():
                at = int(piece.places[int(np.argmin(known))])
                types = f" ({score.dtype}; the actives are {self.dtype})" if score.dtype != self.dtype else ""
                raise ValueError(f"{self.job.source.place(piece.start + at)}: a relevant item has score "
                                 f"{score[at].item()}{types}, which is not among the actives")
            np.add.at(self.found[worker], place, 1)
        self.counters[worker].add(wide, nan_policy, nan_policy == "raise")

    def curve(self) -> HitCurve:
        counter, nan_hits = _together(self.counters), self.nan_hits
        items, nan_items = counter.counts(), counter.nan_items
        if self.labelled:
            self._check_found()
        else:
            items[1::2] += self.hits
            nan_items += nan_hits
        cuts = self.cuts.astype(self.own) if self.small and "f" not in self.kinds else self.cuts
        if self.job.nan_policy == "omit":
            nan_items = nan_hits = 0
        return table_from_counts(cuts, items, self.hits, nan_items, nan_hits, lower_is_better=self.job.lower[0],
                                 num_relevant=self.job.num_relevant)

    def _check_found(self) -> None:
        """Raise an error if the relevant rows do not have the scores of the actives."""

        def have(number: Any) -> str:
            return f"{many(number, 'relevant rows')} {'has' if number == 1 else 'have'}"

        numbers = self.found.sum(0)
        for at in np.flatnonzero(numbers[:-1] != self.hits)[:1]:
            raise ValueError(f"actives has {many(self.hits[at], 'items')} with score {self.own.type(self.cuts[at])}, "
                             f"but {have(numbers[at])} this score: actives must be the scores of all relevant items")
        if numbers[-1] != self.nan_hits:
            raise ValueError(f"actives has {many(self.nan_hits, 'items')} without a score, but {have(numbers[-1])} "
                             "no score")


class _Groups:
    """The curves of the groups of a job, made part by part."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.ranked: Any = GainCurves if job.source.graded else HitCurves
        self.made: list[list[HitCurves | GainCurves]] = [[] for _ in job.lower]
        self.num_hits = self.num_groups = 0  # so far

    def check_room(self, rows: int, hits: int, share: float = 1) -> None:
        """Raise an error if memory lacks for ranking so many items together, beside the tables of all groups."""
        beside, max_memory = self.num_hits, self.job.max_memory
        of_row, of_hit, of_table, of_all = (76, 150, 64, 210) if self.job.source.graded else (43, 56, 32, 88)
        needed = max(of_row * rows + of_hit * hits + of_table * beside, of_all * beside) + 300 * self.num_groups
        needed += 0 if self.job.pool is None else self.job.pool.needed(beside)
        needed = int(needed / share) + 1
        if max_memory is not None and needed > max_memory:
            tables = f"tables of {many(beside, 'relevant items', ',')}"
            what = f"ranking {many(rows, 'items', ',')} together, beside {tables},"
            raise _too_little(what, needed, max_memory)

    def rank(self, label: NDArray[Any], code: NDArray[np.int64], *scores: NDArray[Any]) -> None:
        job = self.job
        options: Any = {"nan_policy": job.nan_policy, "workers": job.workers}
        for curves, score, lower in zip(self.made, scores, job.lower, strict=True):
            curves.append(self.ranked(label, score, qid=code, lower_is_better=lower, **options))

    def as_they_come(self) -> None:
        job, (types,) = self.job, self.job.types
        together = limit = _TOGETHER if job.max_memory is None else min(_TOGETHER, job.max_memory // 200)
        waiting: list[tuple[NDArray[Any], ...]] = []
        held, last = 0, -1

        def close(before: int) -> None:
            """Rank the waiting rows of the groups before this group."""
            nonlocal held, limit
            self.check_room(held, sum(int(np.count_nonzero(label)) for label, _, _ in waiting))
            label, code = (np.concatenate([one[at] for one in waiting]) for at in (0, 1))
            score = joined((one[2] for one in waiting), types.common())
            end = int(np.searchsorted(code, before))
            if end:
                self.num_groups = before
                self.rank(label[:end], code[:end], score[:end])
            waiting[:] = [(label[end:], code[end:], score[end:])]
            held -= end
            limit = max(together, 2 * held)

        def stream(worker: int, piece: Piece) -> None:
            nonlocal held, last
            if not piece.rows:
                return
            job.meet(piece, piece.scores)
            # Groups are numbered in the order in which they come.
            back = np.diff(piece.group, prepend=last) < 0
            if back.any():
                raise ValueError(f"{job.source.place(piece.start + int(np.argmax(back)))}: a group comes again after "
                                 "another group: the rows are not sorted by group")
            last = int(piece.group[-1])
            waiting.append((piece.label, piece.group, piece.scores[0]))
            held += piece.rows
            self.num_hits += int(np.count_nonzero(piece.label))
            if held >= limit:
                close(last)

        run_tasks(job.source.tasks("rows"), stream, 1, job.shown)
        if held:
            close(last + 1)

    def apart(self) -> None:
        job = self.job
        with closing(Parts(2 + len(job.lower), _HELD if job.max_memory is None else job.max_memory // 4)) as parts:

            def put(worker: int, piece: Piece) -> None:
                job.meet(piece, piece.scores)
                with job.lock:
                    self.num_hits += int(np.count_nonzero(piece.label))
                parts.put(piece.group, [piece.label, piece.group, *piece.scores])

            job.run("rows", put, job.workers)
            self.num_groups = len(job.source.group_order()[1])
            longest = max(part[0][0].length for part in parts.apart())
            self.check_room(longest, min(longest, self.num_hits), share=3 / 4)
            first = np.float64 if job.source.graded else np.uint8
            dtypes: list[Any] = [first, np.int64, *(types.common() for types in job.types)]
            for part in parts.apart():
                if part[0][0].length:
                    self.rank(*(column.all(dtype) for (column, _), dtype in zip(part, dtypes, strict=True)))
                for column, _ in part:
                    column.close()


class _Column:
    """The counts of a column of scores against its relevant scores."""

    def __init__(self, job: Job, at: int, relevant: Spool, levels: Spool) -> None:
        self.job, self.types, self.lower, self.relevant = job, job.types[at], job.lower[at], relevant
        self.levels = levels
        self.dtype = dtype = self.types.common()
        max_memory, self.workers = job.max_memory, job.workers
        beside = job.beside(levels.length) if levels.length else 0
        self.needed = _needed(relevant.length, dtype, 1, beside)
        self.exact = max_memory is None or self.needed <= max_memory
        if self.exact:
            self.cuts, self.hits, self.nan_hits = distinct(relevant.all(dtype), own=True)
            if not job.source.graded:
                relevant.close()
            self.workers = _fitting(self.cuts, self.workers, max_memory, beside)
        elif job.tolerance is not None and max_memory is not None:
            self.cuts = _edges(relevant, dtype, max(16, max_memory // 2 // _BIN_BYTES), self.lower)
        else:
            what = f"the table of {many(relevant.length, 'relevant items', ',')}"
            advice = "" if job.source.graded else ", or pass tolerance= to accept bins"
            raise _too_little(what, self.needed, max_memory, advice)

    def start(self, workers: int) -> None:
        self.counters = _counters(self.cuts, workers)
        del self.cuts

    def count(self, worker: int, piece: Piece, score: NDArray[Any]) -> None:
        # Without relevant items there are no thresholds, and the type does not matter.
        other = self.relevant.length and score.dtype != self.dtype
        if other and self.types.add(score, lambda: self.job.source.place(piece.start)) != self.dtype:
            raise _OtherType
        nan_policy = self.job.nan_policy
        self.counters[worker].add(score.astype(self.dtype, copy=False), nan_policy, nan_policy == "raise")

    def gap(self, low: int, high: int) -> int | None:
        """The number of thresholds below two scores, if the other thresholds are above both, and all are integers."""
        cuts = self.counters[0].cuts
        if cuts.dtype.kind == "f":
            return None
        below = int(np.searchsorted(cuts, cuts.dtype.type(low)))
        return below if below == np.searchsorted(cuts, cuts.dtype.type(high), side="right") else None

    def curve(self) -> HitCurve | GainCurve:
        job, nan_policy = self.job, self.job.nan_policy
        counter = _together(self.counters)
        if self.exact:
            nan_hits = 0 if nan_policy == "omit" else self.nan_hits
            curve = curve_of(self.lower, job.num_relevant, *counter.table(self.hits, self.lower, nan_hits))
            if not job.source.graded:
                return curve
            score, level = self.relevant.all(self.dtype), self.levels.all(np.float64)
            self.relevant.close()
            return scored_levels(curve, score, level, nan_policy, job.unretrieved)
        found = counter.sibling()
        for part in self.relevant:
            found.add(part().astype(self.dtype, copy=False), nan_policy)
        bins = (counter.cuts, counter.counts(), found.counts(), counter.nan_items, found.nan_items)
        self.counters.clear()
        del counter, found  # they hold as much memory as the bins
        return self._binned(*bins)

    def _binned(self, cuts: NDArray[Any], items: NDArray[np.int64], hits: NDArray[np.int64], nan_items: int,
                nan_hits: int) -> HitCurve:  # fmt: skip
        """The curve whose tie groups are the edges and the bins between them; an error if AP is too uncertain."""
        tolerance, max_memory = self.job.tolerance, self.job.max_memory
        assert tolerance is not None and max_memory is not None
        lowest = -np.inf if cuts.dtype.kind == "f" else np.iinfo(cuts.dtype).min
        score = np.repeat(np.append(cuts.dtype.type(lowest), cuts), 2)[1:]
        between = np.arange(items.shape[0]) % 2 == 0
        if not self.lower:
            items, hits, score, between = items[::-1], hits[::-1], score[::-1], between[::-1]
        num_items = int(items.sum()) + nan_items
        above = np.cumsum(items) - items
        above, tied, hits, score, between = (one[hits > 0] for one in (above, items, hits, score, between))
        if nan_hits:
            score = np.append(score.astype(np.float64) if score.dtype.kind != "f" else score, np.nan)
            above, tied = np.append(above, num_items - nan_items), np.append(tied, nan_items)
            hits, between = np.append(hits, nan_hits), np.append(between, False)
        options: Any = {"num_items": num_items, "num_relevant": self.job.num_relevant, "lower_is_better": self.lower}

        def average_precision(above: NDArray[np.int64], tied: NDArray[np.int64]) -> Any:
            return HitCurve.from_table(None, above, tied, hits, **options).average_precision()

        # True ties count as expected ties. Only the relevant items within a bin are put first or last in it.
        put = np.where(between, hits, tied)
        width = average_precision(above, put) - average_precision(above + (tied - put), put)
        if not width <= tolerance:
            need = self.needed
            if tolerance and max_memory * width / tolerance < need:
                need = min(need, int(max_memory * max(2.0, width / tolerance)))
            raise ValueError(f"average precision is known only within {width:.3g}, more than tolerance={tolerance:g}, "
                             f"with max_memory={_bytes(max_memory)}: about {_bytes(need)} would be enough")
        return HitCurve.from_table(score, above, tied, hits, **options)


def _bytes(number: Any) -> str:
    for power, unit in ((30, "GiB"), (20, "MiB")):
        if number >= 1 << power:
            return f"{number / (1 << power):.1f} {unit}"
    return many(number, "bytes", ",")


def _too_little(what: str, needed: int, max_memory: int | None, advice: str = "") -> ValueError:
    need = f"{what} needs about max_memory={_bytes(needed)}, not {_bytes(max_memory)}"
    return ValueError(f"{need}: raise max_memory{advice}")


def _spooled(columns: list[Spool]) -> Iterator[Task]:
    """Tasks that give the kept scores column by column. Only pieces of the first column count rows."""

    def read(at: int, part: Callable[[], NDArray[Any]]) -> tuple[Piece]:
        array = part()
        given = (array if column == at else None for column in range(len(columns)))
        return (Piece(0 if at else array.shape[0], tuple(given)),)

    return (partial(read, at, part) for at, scores in enumerate(columns) for part in scores)


def _needed(relevant: int, dtype: np.dtype[Any], workers: int, beside: int = 0) -> int:
    """The limit of memory that the exact table of so many relevant items needs.

    Counting needs the relevant scores, the number of items at each, slots, batches, and for each worker counts and the
    items in parts. Making the table needs a set of counts and the columns of the table.
    """
    size = dtype.itemsize
    thrown = min(2 * relevant, 3 << 19) + max(min(relevant, 1 << 20), _BLOCKS if relevant >= _PARTS_FROM else 0)
    counting = relevant * (size + 16) + workers * (8 * relevant + thrown * size)
    table = relevant * (size + 8 + 8 + 24 + size)
    return max(counting * 4 // 3, table * 8 // 7) + beside + 1


def _fitting(cuts: NDArray[Any], workers: int, max_memory: int | None, beside: int = 0) -> int:
    """The number of workers that fit in memory, at least 1."""
    while max_memory is not None and workers > 1 and _needed(len(cuts), cuts.dtype, workers) + beside > max_memory:
        workers -= 1
    return workers


def _counters(cuts: NDArray[Any], workers: int) -> list[BlockCounter]:
    counter = BlockCounter(cuts)
    return [counter, *(counter.sibling() for _ in range(workers - 1))]


def _together(counters: list[BlockCounter]) -> BlockCounter:
    """One counter with the counts of all."""
    while len(counters) > 1:
        counters[0].absorb(counters.pop())
    return counters[0]


def _edges(relevant: Spool, dtype: np.dtype[Any], cap: int, lower_is_better: bool) -> NDArray[Any]:
    """About `cap` of the relevant scores: the best `cap` / 2, and an even sample of the others.

    The error of a bin grows with its number of items and falls with its rank, so the best scores are all kept. A hash
    of the score decides the sample, so that the sample does not depend on the order of the rows.
    """
    best = sample = np.empty(0, dtype)
    top = cap // 2
    share = np.uint64(min(2**64 - 1, int(2**64 * (cap - top) / max(relevant.length, 1))))
    for part in relevant:
        array = part().astype(dtype, copy=False) + dtype.type(0)
        if dtype.kind == "f":
            array = array[array == array]
        bits = array.astype(np.float64) if dtype.kind == "f" else array
        hashed = bits.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        hashed ^= hashed >> np.uint64(29)
        hashed *= np.uint64(0xBF58476D1CE4E5B9)
        sample = np.union1d(sample, array[hashed < share])
        best = np.union1d(best, array)
        best = best[:top] if lower_is_better else best[-top:]
    return np.union1d(best, sample)


def _as_compared(score: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Scores in the type of the thresholds; an error if that changes a score."""
    if Types([score.dtype]).common() == dtype:
        return score.astype(dtype, copy=False)
    wide = unchanged(score, dtype)
    if wide is None:
        raise TypeError(f"scores of dtype {score.dtype} cannot be compared exactly with actives of dtype {dtype}")
    return wide


def _gathered(made: list[Any], places: NDArray[np.int64], names: list[Any], lower: bool, dtype: np.dtype[Any],
              ranked: Any) -> Any:  # fmt: skip
    """The curves of all groups in the order of their names."""
    if not made:
        return ranked([], [], qid=[], lower_is_better=lower)
    codes = np.concatenate([curves.qid for curves in made if curves.qid is not None])
    order = np.argsort(places[codes])
    lengths = np.concatenate([np.diff(curves.row_offsets) for curves in made])
    rows, row_offsets = _moved(lengths, order)

    def column(name: str, dtype: Any = np.int64) -> NDArray[Any]:
        return joined((getattr(curves, name) for curves in made), dtype)

    by_row = (column(name)[rows] for name in ("above", "tied", "hits"))
    by_group = (column(name)[order] for name in ("num_items", "num_hits", "num_relevant"))
    hits = curves_of(names_array(names), lower, False, row_offsets, column("score", dtype)[rows], *by_row, *by_group)
    if ranked is HitCurves:
        return hits
    lengths = np.concatenate([np.diff(curves.level_offsets) for curves in made])
    pairs, level_offsets = _moved(lengths, rows)
    level = column("level", np.float64)
    return gain_curves(hits, level_offsets, level[pairs], column("level_count")[pairs], None)


def _moved(lengths: NDArray[np.int64], order: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For segments of these lengths in a new order: where each entry comes from, and where each segment then begins."""
    starts, offsets = np.cumsum(lengths) - lengths, np.append(0, np.cumsum(lengths[order]))
    return np.repeat(starts[order] - offsets[:-1], lengths[order]) + np.arange(offsets[-1]), offsets
