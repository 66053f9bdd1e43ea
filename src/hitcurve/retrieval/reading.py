"""Read judgments and runs from files and from Python objects."""

from __future__ import annotations

import os
import re
import sys
import warnings
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from itertools import chain, compress, count
from operator import ne
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, overload

import numpy as np

from hitcurve._base.checks import (
    LARGE,
    as_column,
    check_choice,
    check_flag,
    no_masked,
    one_dimension,
    quoted,
    unchanged,
)
from hitcurve._base.extras import needed
from hitcurve._base.files import file_name, opened_text, parquet_errors
from hitcurve._base.given import at_hand, frame_columns, id_of
from hitcurve._base.words import TAKEN, are, many
from hitcurve.retrieval.formats import (
    FORMATS,
    Listed,
    field_of,
    form_of,
    is_json,
    of_ir_datasets,
    of_text,
    shaped,
    text_of,
)
from hitcurve.retrieval.frames import OWN, PLAIN, USUAL, Found, Rows, find, is_columns, rows_as
from hitcurve.retrieval.groups import (
    GROUPED,
    JudgmentGroups,
    encoded,
    groups_of_columns,
    groups_of_dicts,
    groups_of_text,
)
from hitcurve.retrieval.nested import judgments_of
from hitcurve.retrieval.runs import Grouped, Qrels, Run, whose

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Qrels", "Run", "columns_of", "decoded", "of_other_text", "parquet", "qrels_of", "read_qrels",
           "read_run", "run_of", "warn"]


@overload
def read_qrels(source: Any, *, strict: bool = ..., format: Literal["prefs", "qrels_prefs", "qrels_jg"],
               columns: Mapping[str, str | None] | None = ...) -> JudgmentGroups: ...
@overload
def read_qrels(source: Any, *, strict: bool = ..., format: str | None = ..., subtopics: bool = ...,
               columns: Mapping[str, str | None] | None = ..., duplicates: str = ...) -> Qrels: ...
def read_qrels(source: Any, *, strict: bool = True, format: str | None = None, subtopics: bool = False,
               columns: Mapping[str, str | None] | None = None,
               duplicates: str = "raise") -> Qrels | JudgmentGroups:
    """Read relevance judgments.

    Parameters
    ----------
    source : path, "-", mapping, data frame, list, array or object of another library
        A file may be a TREC qrels file with the columns query, iteration, document and relevance, separated by any mix
        of blanks and tabs. Empty lines and lines that begin with # are skipped. A file may also be JSON of a dict
        ``{query: {document: relevance}}`` (ranx), have a header that names the columns (BEIR, CSV), or have the three
        columns query, document, relevance (MS MARCO). All these files may be compressed (gzip, bzip2, xz; zstd with
        pyarrow), and ``"-"`` is standard input. A Parquet file has the columns ``query_id, doc_id, relevance``, or
        those of `columns`. Other sources are a data frame (pandas, polars, pyarrow, a relation of DuckDB, or a dict of
        arrays) with such columns; a dict ``{query: {document: relevance}}``; a dict ``{query: {document, ...}}`` with a
        set or a list of the relevant documents; a tuple of three arrays (query, document, relevance); named tuples of
        ir_measures or ir_datasets; a Qrels of ranx; and ``"ir_datasets:ID"``, if ir_datasets is installed. Ids are text
        or integers. A relevance that is not whole, such as a rating, keeps its fraction, but a TREC file, a file
        without a header, and a column that `columns` does not name and that has the name ``score`` must have whole
        numbers. Three sources have queries without ids, which are numbered from 0 and keep their order: a list that
        holds the relevant ids or a dict ``{id: relevance}`` of each query; a matrix of ids with a row for each query,
        in which -1 is no id; and a sparse matrix in CSR format, whose values are the relevance.
    strict : bool, default True
        False accepts every line that trec_eval accepts: in every source, a relevance that is not a whole number counts
        as the whole number at its beginning, or as 0 if it has none. A warning gives the number of such lines.
    format : {"trec", "json", "csv", "msmarco", "prefs", "qrels_prefs", "qrels_jg"}, optional
        The format of a file. Default: the first line decides. The last three formats are those of trec_eval for
        judgments of several users or occasions, which `evaluate` takes too. ``"prefs"``: query, judgment group,
        subgroup, document and relevance, which is any number; only the relevances within a subgroup are compared.
        ``"qrels_prefs"``: query, group, document and relevance. ``"qrels_jg"``: the same, with a whole number as
        relevance. For these, `source` may also be a dict ``{query: {group: {document: relevance}}}`` (or JSON of one),
        with subgroups between groups and documents for ``"prefs"``; and a data frame, a Parquet file, named tuples, or
        a file with a header, with the columns ``query_id, group, subgroup, doc_id, relevance`` (``subgroup`` for
        ``"prefs"`` only).
    subtopics : bool, default False
        True reads judgments by subtopic, which measures of diversity need. A file has the columns query, subtopic,
        document and level of TREC's web tracks, or a header that names a column ``subtopic`` (or ``subtopic_id``,
        ``iteration``), or it is JSON of a dict ``{query: {document: {subtopic: level}}}``. Data frames and Parquet
        files need such a column, and named tuples such a field. A tuple has four arrays (query, subtopic, document,
        relevance). For measures without subtopics, the level of a document is its highest level over the subtopics.
    columns : dict of str to str, optional
        The names of the columns of a frame, of a Parquet file or of a file with a header. The keys are ``"query"``,
        ``"document"``, ``"relevance"``, ``"score"``, ``"rank"``, ``"subtopic"``, ``"group"`` and ``"subgroup"``, and a
        key that the source does not need makes no difference. ``"relevance": None`` means that each row is relevant.
        Without a key the column is found by a usual name: ``query_id``, ``qid``, ``query-id``, ``query``, ``user``,
        ``user_id``, ``userID``; ``doc_id``, ``docno``, ``docid``, ``corpus-id``, ``doc``, ``item``, ``item_id``,
        ``itemID``, ``movieId``; ``relevance``, ``label``, ``rel``, ``rating``, and ``score`` beside ``corpus-id``
        (BEIR) or in a file; for a run ``score``, ``prediction`` and ``rank``. `Evaluation.notes` says which columns
        were found in this way.
    duplicates : {"raise", "first", "best"}
        What happens to a document that occurs twice in a query. ``"raise"``: an error. ``"first"``: the first row is
        kept. ``"best"``: the row of the highest relevance (for a run, of the highest score) is kept. Judgments by
        subtopic, and of several users, take ``"raise"`` only.

    Returns
    -------
    Qrels or JudgmentGroups
        Qrels are a mapping ``{query: {document: level}}``, with ``to_dict()``, ``to_pandas()`` and ``to_polars()``. Ids
        are strings.

    Raises
    ------
    ValueError
        If a line has a wrong number of columns, if a relevance is not a whole number where it must be, or if a document
        occurs twice in a query; the message names the file and the line. If a column is missing, or if several columns
        have usual names of users and items, such as ``user`` and ``user_id``. Also if there are no judgments. With
        judgment groups, also if a document has level 0 and a higher level in a group, or if the preferences of a group
        form a circle.

    Examples
    --------
    >>> import hitcurve as hc
    >>> hc.read_qrels({"q": {"user 1": {"a": 2, "b": 1}, "user 2": {"b": 1, "c": 0}}}, format="qrels_prefs")
    JudgmentGroups('qrels': 1 query, 2 groups, 4 judgments)
    >>> hc.read_qrels({"q1": {"d1": 1, "d2": 0}})
    Qrels('qrels': 1 query, 2 judgments)
    >>> hc.read_qrels([[4, 7], [2], [7, 1, 3]])
    Qrels('qrels': 3 queries, 6 judgments)
    >>> frame = {"customer": ["Ann", "Ann", "Bob"], "item": [3, 5, 3], "rating": [4.5, 2.0, 3.5]}
    >>> hc.read_qrels(frame, columns={"query": "customer"})
    Qrels('qrels': 2 queries, 3 judgments)
    """
    rows = rows_as(columns, duplicates)
    by_subtopic = check_flag(subtopics, "subtopics")
    if (by_subtopic or format in GROUPED) and duplicates != "raise" and not isinstance(source, JudgmentGroups):
        raise ValueError(f"duplicates={duplicates!r} cannot be combined with "
                         f"{'subtopics=True' if by_subtopic else f'format={format!r}'}: leave out the rows before")
    return _qrels(source, strict, format, by_subtopic, rows)


def qrels_of(source: Any, strict: bool, subtopics: bool, rows: Rows,
             format: str | None = None) -> Qrels | JudgmentGroups:
    """The judgments that a run follows, which may have columns that the judgments lack: see `read_qrels`.

    `rows.duplicates` makes no difference to judgments by subtopic and to those with groups.
    """
    return _qrels(source, strict, format, check_flag(subtopics, "subtopics"), rows.first())


def _qrels(source: Any, strict: bool, format: str | None, by_subtopic: bool, rows: Rows) -> Qrels | JudgmentGroups:
    if by_subtopic and (isinstance(source, JudgmentGroups) or format in GROUPED):
        raise ValueError("subtopics=True cannot be combined with judgment groups")
    if isinstance(source, JudgmentGroups):
        if format not in (None, source.format):
            raise ValueError(f"{source.source} was read with format={source.format!r}, not {format!r}")
        return source
    if format in GROUPED:
        groups = _grouped(source, "qrels", check_flag(strict, "strict"), format, rows)
        warn([note for note in groups.passed if TAKEN not in note])
        return groups
    if by_subtopic:
        return _by_subtopic(source, "qrels", check_flag(strict, "strict"), format, rows)
    found = _read(Qrels, source, "qrels", strict, format, rows)
    if isinstance(found, Qrels):
        return found
    values, name = found.values, found.source
    cut = np.trunc(values) != values
    inside = np.abs(values) <= 1e9
    for wrong, text in ((cut & inside & (strict and found.whole), "{:g}: it must be a whole number"),
                        (~inside, "{:.0f}: it must lie from -1000000000 to 1000000000")):
        for row in np.flatnonzero(wrong)[:1]:
            said = text.format(values[row]) + whose(row, found.starts, found.names, found.docs)
            raise ValueError(f"{name}: the relevance in row {row} is {said}")
    if not strict and cut.any():
        warn([f"{name}: {many(int(cut.sum()), 'relevances')} other than a whole number: the fraction is cut off"])
        found = found._replace(values=np.trunc(values))
    return Qrels.from_columns(*found._replace(ranks=None).held)


_FOR_SUBTOPICS = ("trec", "json", "csv")
_TOPIC = ("subtopic",)


def _grouped(source: Any, name: str, strict: bool, format: str, rows: Rows) -> JudgmentGroups:
    """The judgments of a source with judgment groups."""
    kinds = GROUPED[format]
    more, header = [kind for kind in kinds if "group" in kind], None
    if isinstance(source, str) and is_json(source):
        source = of_text(source.encode("utf-8", "surrogateescape"), "relevance", name, "json", rows)[0]
    elif isinstance(source, (str, os.PathLike)):
        with opened_text(source) as (name, text):
            if text is not None:
                held = bytes(text)
                form = form_of(held, "relevance", name, rows, more)[0]
                if form not in ("json", "csv"):
                    rows.check_no_frame(name)
                    return groups_of_text(held, name, format, strict)
                other, header = of_text(held, "relevance", name, form, rows, more)
        source = parquet(source) if text is None else other
    source = at_hand(source)
    if isinstance(source, (list, tuple)) and source and all(hasattr(one, "query_id") for one in source):
        fields = {OWN[kind]: next((one for one in USUAL[kind] if hasattr(source[0], one)), OWN[kind]) for kind in kinds}
        source = {own: [getattr(one, field, None) for one in source] for own, field in fields.items()}
    elif isinstance(source, tuple) and len(source) == len(kinds):
        source = dict(zip(map(OWN.__getitem__, kinds), source, strict=True))
    if isinstance(source, Mapping) and header is None and not is_columns(source, rows):
        rows.check_no_frame(name)
        return groups_of_dicts(source, name, format, strict)
    return _groups_of_frame(source, name, strict, format, rows, header)


def _groups_of_frame(source: Any, name: str, strict: bool, format: str, rows: Rows,
                     header: Found | None) -> JudgmentGroups:
    *kinds, _ = GROUPED[format]
    if not isinstance(source, Mapping) and frame_columns(source) is None:
        raise TypeError(f"{name} is a {type(source).__name__}: format={format!r} takes a path, nested dicts or a frame "
                        f"with the columns {', '.join(OWN[kind] for kind in GROUPED[format])}")
    source, found = _taken(source, "relevance", rows, name, header, [kind for kind in kinds if "group" in kind])
    texts = [_ids(_column(source, found.here[kind], name, ids=True), kind, name) for kind in kinds]
    values: Any = np.ones(len(texts[0]))  # each row counts as level 1, if columns= says so
    if "relevance" in found.here:
        values = _column(source, found.here["relevance"], name)
    if len({*map(len, texts), len(values)}) > 1:
        lengths = [many(len(one), "rows") for one in (*texts, values)]
        raise ValueError(f"{name}: its columns have {', '.join(lengths[:-1])} and {lengths[-1]}")
    whose_row = np.arange(len(values)), texts[0], texts[-1]
    numbers = _numbers_of(values, "relevance", name, *whose_row)
    ids = [[encoded(one, kind, name) for one in column] for kind, column in zip(kinds, texts, strict=True)]
    return groups_of_columns(ids, numbers, name, format, strict, lambda row: f"{name}, row {row}",
                             lambda row: f"{name}: the relevance in row {row}{whose(row, *whose_row)}", found)


def _by_subtopic(source: Any, name: str, strict: bool, format: str | None, rows: Rows) -> Qrels:
    """The judgments of a source by subtopic."""
    from hitcurve.retrieval.topics import by_subtopic

    header = None
    if format is not None and not isinstance(source, (str, os.PathLike)):
        raise ValueError(f"format={format!r} is only for files, but {name} is a {type(source).__name__}")
    if format not in (None, *_FOR_SUBTOPICS):
        raise ValueError(f"format={format!r} cannot be combined with subtopics=True: use {', '.join(_FOR_SUBTOPICS)}")
    if isinstance(source, Qrels):
        if source.topics is None:
            raise ValueError(f"{source.source} was read without subtopics: read it with subtopics=True")
        return source
    if isinstance(source, str) and source.startswith("ir_datasets:"):
        name, source = source, of_ir_datasets(source, True)
    elif isinstance(source, str) and is_json(source):
        source = of_text(source.encode("utf-8", "surrogateescape"), "relevance", name, "json", rows)[0]
    elif isinstance(source, (str, os.PathLike)):
        with opened_text(source) as (name, text):
            if text is not None:
                held, header = _topic_text(bytes(text), name, strict, rows,
                                           format or ("" if text_of(source) else "json"))
        source = parquet(source) if text is None else held
    columns, found = _topic_columns(source, name, rows, header)
    lines = source["line"] if isinstance(source, _Lines) else None

    def place(row: int) -> str:
        return f"row {row}" if lines is None else f"line {lines[row]}"

    where = None if found is None else place
    levels = _whole_levels(columns, name, strict, where)
    heads, notes = (None, ()) if found is None else (found.heads, found.notes)
    return by_subtopic(*columns[:3], levels, name, where, heads, notes)


def _topic_text(text: bytes, name: str, strict: bool, rows: Rows, form: str) -> tuple[Any, Found | None]:
    """The columns or the nested mapping in the text of a file, and the columns of its header.

    `form` is the format of the file, if it is known.
    """
    looks_like = form or form_of(text, "relevance", name, rows, _TOPIC)[0]
    if looks_like not in ("trec", ""):
        found, header = of_text(text, "relevance", name, looks_like, rows, _TOPIC)
        return (found, None) if header is None else (_Lines(found), header)
    rows.check_no_frame(name)
    try:
        return _web_track(text, name, strict), Found({}, [])
    except ValueError as error:
        if looks_like == "trec" or not re.search(r"\.(csv|tsv|tab|jsonl?)(\.\w+)?$", name, re.IGNORECASE):
            raise
        raise ValueError(f"{error}; {name} may be in another format: format= takes {', '.join(_FOR_SUBTOPICS)}, and a "
                         "table needs a header") from None  # fmt: skip


class _Lines(dict[str, Any]):
    """Columns that come from the lines of a file. The column "line" has the numbers of the lines."""


def _web_track(text: bytes, name: str, strict: bool) -> _Lines:
    """The columns of a file with a query, a subtopic, a document and a level in each line."""
    columns = _Lines(query_id=[], subtopic=[], doc_id=[], relevance=[], line=[])
    lenient = 0
    for at, line in enumerate(text.removeprefix(BOM_UTF8).split(b"\n"), 1):
        cells = line.decode("utf-8", "surrogateescape").split()
        if not cells or cells[0].startswith("#"):
            continue
        whole = re.match(r"[+-]?\d{1,9}", cells[3], re.ASCII) if len(cells) > 3 else None
        exact = len(cells) == 4 and whole is not None and whole[0] == cells[3]
        if not exact and (strict or len(cells) < 4):
            said = f"there {are(len(cells))} {many(len(cells), 'columns')}, not 4" if len(cells) != 4 else (
                f"the relevance {cells[3]!r} is not a whole number")  # fmt: skip
            raise ValueError(f"{name}, line {at}: {said}: query, subtopic, document and level")
        lenient += not exact
        level = int(whole[0]) if whole else 0
        for column, cell in zip(columns.values(), (*cells[:3], level, at), strict=True):
            column.append(cell)
    if lenient:
        warn([f"{name}: {many(lenient, 'lines')} other than four columns with a whole number"])
    return columns


_TopicColumns = tuple[list[str], list[str], list[str], Any]


def _topic_columns(source: Any, name: str, rows: Rows, header: Found | None) -> tuple[_TopicColumns, _Taken | None]:
    """The columns query, subtopic, document and level, and which they are; None for a nested mapping, without rows."""
    source = at_hand(source)
    if isinstance(source, (list, tuple)) and source:
        if hasattr(source[0], "query_id"):
            source = _topic_records(source, name)
        elif all(isinstance(one, Mapping) for one in source):  # queries without ids
            source = {str(i): one for i, one in enumerate(source)}
        elif isinstance(source, tuple) and len(source) == 4:
            columns = (as_column(one, "qrels") if hasattr(one, "__array__") and not hasattr(one, "to_numpy") else one
                       for one in source)
            source = dict(zip(("query_id", "subtopic", "doc_id", "relevance"), columns, strict=True))
    if isinstance(source, Mapping) and header is None and not is_columns(source, rows):
        rows.check_no_frame(name)
        return _nested_topics(source, name), None
    if not isinstance(source, Mapping) and frame_columns(source) is None:
        raise TypeError(f"{name} is a {type(source).__name__}: with subtopics=True give a path, a dict, a data frame, "
                        "a tuple of four arrays (query, subtopic, document, relevance) or named tuples with subtopics")
    source, found = _taken(source, "relevance", rows, name, header, _TOPIC)
    queries, topics, docs = (_ids(_column(source, found.here[role], name, ids=True), OWN[role], name)
                             for role in ("query", "subtopic", "document"))  # fmt: skip
    levels: Any = [1] * len(queries)  # each row is relevant
    if "relevance" in found.here:
        levels = _column(source, found.here["relevance"], name)
    sizes = [len(column) for column in (queries, topics, docs, levels)]
    if len(set(sizes)) > 1:
        raise ValueError(f"{name}: the columns query, subtopic, document and relevance have {sizes[0]}, {sizes[1]}, "
                         f"{sizes[2]} and {many(sizes[3], 'rows')}")
    return (queries, topics, docs, levels), found


def _topic_records(source: Sequence[Any], name: str) -> dict[str, list[Any]]:
    """The columns of named tuples of ir_measures, ir_datasets or pyndeval."""
    of_topic = next((one for one in USUAL["subtopic"] if hasattr(source[0], one)), OWN["subtopic"])
    fields = {"query_id": "query_id", "subtopic": of_topic, "doc_id": "doc_id", "relevance": "relevance"}
    return {key: field_of(source, of, name) for key, of in fields.items()}


def _nested_topics(source: Mapping[Any, Any], name: str) -> _TopicColumns:
    """The columns of a dict {query: {document: {subtopic: level}}}."""
    columns: tuple[list[str], list[str], list[str], list[Any]] = [], [], [], []
    for query, docs in source.items():
        if not isinstance(docs, Mapping):
            raise TypeError(f"{name}: query {query!r} holds {quoted(docs)}, not a mapping of documents")
        for doc, levels in docs.items():
            if not isinstance(levels, Mapping):
                raise TypeError(f"{name}: document {doc!r} of query {query!r} holds {quoted(levels)}, not a mapping of "
                                "subtopics to levels")
            for topic, level in levels.items():
                for column, one in zip(columns[:3], (query, topic, doc), strict=True):
                    column.append(id_of(one, name))
                columns[3].append(level)
    return columns


def _whole_levels(columns: _TopicColumns, name: str, strict: bool, place: Callable[[int], str] | None) -> list[int]:
    """The levels as whole numbers."""
    queries, topics, docs, levels = columns

    def wrong(row: int, problem: str) -> ValueError:
        where = f" in {place(row)}" if place is not None else ""
        return ValueError(f"{name}: the relevance{where} is {problem} (query {queries[row]!r}, subtopic "
                          f"{topics[row]!r}, document {docs[row]!r})")

    values = _numbers(levels, "relevance", name, wrong)
    whole = np.trunc(values)
    for wrong_rows, text in (((whole != values) & strict, "{}: it must be a whole number"),
                             (~(np.abs(whole) <= 1e9), "{:.0f}: it must lie from -1000000000 to 1000000000")):
        for row in np.flatnonzero(wrong_rows)[:1]:
            raise wrong(row, text.format(values[row]))
    if cut := int(np.count_nonzero(whole != values)):
        warn([f"{name}: {many(cut, 'relevances')} other than a whole number: the fraction is cut off"])
    found: list[int] = whole.astype(np.int64).tolist()
    return found


def _ids(column: Any, what: str, name: str) -> list[str]:
    if isinstance(column, np.ndarray):
        return list(map(str, column.tolist()))
    return [decoded(one) if isinstance(one, bytes) else one for one in _texts(column, what, name)]


def read_run(source: Any, *, strict: bool = True, format: str | None = None,
             columns: Mapping[str, str | None] | None = None, duplicates: str = "raise") -> Run:
    """Read a run: the documents that a system retrieved, with their scores.

    Parameters
    ----------
    source : path, "-", mapping, data frame, list, array or object of another library
        A file may be a TREC run file with the columns query, Q0, document, rank, score and tag. The lines of a query
        may be anywhere in the file. All other sources are those of `read_qrels`, with the column ``score`` in place of
        relevance, and with a column ``rank`` if you use ``rank_by="rank"``. In a frame without a score, ranks alone
        make the scores. In a dict ``{query: [document, ...]}`` the best document comes first. In a matrix (numpy,
        torch) or in a list for each query, the best id comes first, and the scores are 0, -1, -2 and so on. A file with
        three columns and no header is an error unless `format` says what the third column is.
    strict : bool, default True
        False accepts every line that trec_eval accepts. Columns after the sixth are skipped. A score that is not a
        number counts as the number at its beginning, or as 0 if it has none. A whole score above 2**53 counts as the
        nearest double. A warning gives the number of such lines. NaN and a score beyond the range of a double are
        always errors.
    format : {"trec", "json", "csv", "msmarco", "scores"}, optional
        The format of a file. Default: the first line decides. ``"msmarco"``: query, document and rank; a score is then
        minus the rank. ``"scores"``: query, document and score.
    columns, duplicates
        See `read_qrels`.

    Returns
    -------
    Run
        A mapping ``{query: {document: score}}``, with ``to_dict()``, ``to_pandas()`` and ``to_polars()``. Ids are
        strings. A query without documents is left out.

    Raises
    ------
    ValueError
        If a line has a wrong number of columns, if a score is not a number, is NaN, is beyond the range of a double, or
        is a whole number that no double holds, or if a document occurs twice in a query; the message names the file and
        the line. If a column is missing. Also if a file changes while it is read.

    Examples
    --------
    >>> import hitcurve as hc
    >>> hc.read_run({"q1": {"d1": 0.5, "d2": 0.25}})
    Run('run': 1 query, 2 documents)
    >>> hc.read_run([[7, 4, 5], [3, 2, -1]])
    Run('run': 2 queries, 5 documents)
    """
    return run_of(source, strict, rows_as(columns, duplicates), format)


def run_of(source: Any, strict: bool, rows: Rows, format: str | None = None) -> Run:
    """The run of a source: see `read_run`."""
    found = _read(Run, source, "run", strict, format, rows)
    return found if isinstance(found, Run) else Run.from_columns(*found.held)


_Kind = TypeVar("_Kind", Qrels, Run)


class Columns(NamedTuple):
    """The columns of a source: `held` are the arguments of `Qrels.from_columns` and `Run.from_columns`."""

    starts: NDArray[np.int64]
    names: list[str]
    docs: Any  #: Texts or integers.
    values: NDArray[np.float64]
    source: str
    ranks: NDArray[np.float64] | None = None
    listed: bool = False
    tag: str | None = None
    heads: dict[str, str] | None = None  #: See `Found`.
    notes: Sequence[str] = ()
    duplicates: str = "raise"
    whole: bool = False  #: See `Found`.

    @property
    def held(self) -> Any:
        return self[:-1]


def _read(kind: type[_Kind], source: Any, name: str, strict: bool, format: str | None, rows: Rows) -> _Kind | Columns:
    """The judgments or run, if `source` is one or is a TREC file; otherwise the columns of the source."""
    check_flag(strict, "strict")
    if format is not None:
        known = FORMATS if kind is Run else (*(one for one in FORMATS if one != "scores"), *GROUPED)
        check_choice(format, "format", known)
        if not isinstance(source, (str, os.PathLike)):
            raise ValueError(f"format={format!r} is only for files, but {name} is a {type(source).__name__}")
    if isinstance(source, kind):
        return source
    if kind is Qrels and isinstance(source, dict) and not rows.columns:
        judgments = judgments_of(source, name)
        if judgments is not None:
            return judgments
    if isinstance(source, str) and source.startswith("ir_datasets:"):
        name, source = source, of_ir_datasets(source, kind is Qrels)
    elif isinstance(source, str) and is_json(source):
        return of_other_text(kind, source.encode("utf-8", "surrogateescape"), name, "json", rows)
    elif isinstance(source, (str, os.PathLike)):
        written = format or ("trec" if text_of(source) else "json")
        with opened_text(source) as (name, text):
            if text is not None and written != "trec":
                return of_other_text(kind, text, name, written, rows)
            if text is not None:
                try:
                    found = kind.from_buffer(text, name, strict, rows.duplicates)
                except ValueError as error:
                    if format is not None:
                        raise
                    return of_other_text(kind, text, name, error, rows)
                rows.check_no_frame(name)
                warn(found.passed[: len(found.passed) - bool(found.left_out)])
                return found
        return columns_of(parquet(source), _value(kind), name, rows, file_name(name))
    return columns_of(source, _value(kind), name, rows)


def _value(kind: type[_Kind]) -> str:
    return "relevance" if kind is Qrels else "score"


def of_other_text(kind: type[_Kind], text: Any, name: str, how: str | ValueError, rows: Rows) -> Columns:
    """The columns of a text that is not in TREC's format: see `of_text`."""
    value = _value(kind)
    source, header = of_text(text, value, name, how, rows)
    return columns_of(source, value, name, rows, file_name(name), header)


def warn(notes: Sequence[str]) -> None:
    """Issue warnings that point at the line which called this library."""
    frame, level = sys._getframe(1), 2
    while notes and frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "hitcurve":
        frame, level = frame.f_back, level + 1
    for note in notes:
        warnings.warn(note, stacklevel=level)


def parquet(path: str | os.PathLike[str]) -> Any:
    files = needed("pyarrow.parquet", f"{os.fspath(path)}: Parquet")
    with parquet_errors(path):
        table = files.read_table(path)
        table.validate(full=True)
        _ = table.column_names  # raises if a name is not UTF-8
    return table


def columns_of(source: Any, value: str, name: str, rows: Rows = PLAIN, tag: str | None = None,
               header: Found | None = None) -> Columns:
    """The arguments of `from_columns`; documents are texts or integers.

    Parameters
    ----------
    value
        "relevance" or "score".
    tag
        The tag if the source has no tag.
    header
        The columns of the header, if `source` was made from a text with a header.
    """
    if isinstance(source, Grouped):
        wanted = "a Run" if value == "score" else "judgments"
        raise TypeError(f"{name} is a {type(source).__name__}, not {wanted}: pass its to_dict() to use its numbers")
    source, name = shaped(source, value, name)
    tag = name if tag is None else tag
    if isinstance(source, Listed):
        rows.check_no_frame(name)
        numbers = _numbers_of(source.values, value, name, source.starts, source.names, source.docs)
        return Columns(source.starts, source.names, source.docs, numbers, name, None, True, tag,
                       duplicates=rows.duplicates)
    if isinstance(source, Mapping) and header is None and not is_columns(source, rows):
        rows.check_no_frame(name)
        return _nested(source, value, name)._replace(tag=tag, duplicates=rows.duplicates)
    source, found = _taken(source, value, rows, name, header)
    heads = found.here
    query, docs = (_column(source, heads[role], name, ids=True) for role in ("query", "document"))
    ranks: Any = _column(source, heads["rank"], name) if "rank" in heads else None
    values: Any = None  # ranks alone make the scores
    if value in heads:
        values = _column(source, heads[value], name)
    elif value == "relevance":
        values = np.ones(len(query))  # each row is relevant
    last: Any = ranks if values is None else values
    if not len(query) == len(docs) == len(last):
        raise ValueError(f"{name}: its columns have {len(query)}, {len(docs)} and {many(len(last), 'rows')}")
    if ranks is not None and len(ranks) != len(docs):
        raise ValueError(f"{name}: column {heads['rank']!r} has {many(len(ranks), 'rows')}, the others have "
                         f"{len(docs)}")
    starts: Any
    if isinstance(query, list):
        query = _texts(query, "query", name)
        starts = list(compress(count(), map(ne, query, chain((None,), query))))
        names = [query[i] for i in starts]
    else:
        starts = np.flatnonzero(np.append(True, query[1:] != query[:-1])[: len(query)])
        names = [str(one) for one in query[starts].tolist()]
    names = [decoded(one) if isinstance(one, bytes) else one for one in names]
    if isinstance(docs, list):
        docs = _texts(docs, "document", name)
    starts = np.asarray(starts, dtype=np.int64)
    ranks = None if ranks is None else _numbers_of(ranks, "rank", name, starts, names, docs)
    values = -ranks if values is None else _numbers_of(values, value, name, starts, names, docs)
    return Columns(starts, names, docs, values, name, ranks, False, tag, found.heads, found.notes, rows.duplicates,
                   found.whole)


class _Taken(NamedTuple):
    """The columns of a source that are read."""

    here: dict[str, str]  #: Their names in what is read: that of a text has names of its own.
    heads: dict[str, str]  #: This and the others: see `Found`.
    notes: list[str]
    whole: bool


def _taken(source: Any, value: str, rows: Rows, name: str, header: Found | None = None,
           more: Sequence[str] = ()) -> tuple[Any, _Taken]:
    """A frame or a mapping that has the columns to read, and which these are. `header`: as for `columns_of`."""
    labels = list(source) if isinstance(source, Mapping) else frame_columns(source)
    if labels is None:
        hint = ", such as its to_dict()," if hasattr(source, "to_dict") else ""
        flat = not hint and getattr(source, "ndim", 0) == 1
        column = f"; one id for each query is a matrix with one column, such as {name}[:, None]" if flat else ""
        raise TypeError(f"{name} is a {type(source).__name__}: give a path, a dict{hint} or a data frame{column}")
    try:
        found = find(labels, value, rows if header is None else PLAIN, name, more=more)
    except ValueError as error:
        advice = _advice(source, labels)
        if not advice:
            raise
        raise ValueError(f"{error}; {advice}") from None
    if hasattr(source, "fetchnumpy"):  # a relation of DuckDB
        quoted_names = ['"' + one.replace('"', '""') + '"' for one in dict.fromkeys(found.heads.values())]
        source = source.project(", ".join(quoted_names)).fetchnumpy()
    return source, _Taken(found.heads, *(found if header is None else header))


def _advice(source: Any, labels: Iterable[Any]) -> str:
    """What to do with a frame that lacks a column because its index or lists hold what is needed."""
    held = [str(one) for one in getattr(getattr(source, "index", None), "names", ()) if one is not None]
    if held:
        return f"its index has {', '.join(held)}, of which its reset_index() makes columns"
    at_once = isinstance(source, Mapping) or hasattr(source, "iloc") or hasattr(source, "get_column")
    for label in labels if at_once else ():
        first = next(iter(source[label]), None) if hasattr(source[label], "__iter__") else None
        if isinstance(first, (list, tuple)) or len(getattr(first, "shape", ())) == 1:
            return f"its column {label!r} holds lists: pass a dict from each query to its list, the best item first"
    return ""


def _nested(source: Mapping[Any, Any], value: str, name: str) -> Columns:
    """The columns of a dict of queries, whose values are dicts of documents, or ids of documents."""
    names = [id_of(query, name) for query in source]
    held: list[Any] = [_documents(query, found, value, name) for query, found in source.items()]
    if len(set(names)) < len(names):
        twice = next(one for i, one in enumerate(names) if one in names[:i])
        raise ValueError(f"{name}: query {twice!r} occurs twice, as text and as a number")
    starts = np.cumsum([0, *map(len, held)], dtype=np.int64)[:-1]
    docs = list(chain.from_iterable(held))
    if all(isinstance(found, Mapping) for found in held):
        values = list(chain.from_iterable(found.values() for found in held))
    else:  # each document that is listed is relevant, or the first one is the best
        scores = (1,) * len(docs) if value == "relevance" else range(0, -len(docs), -1)
        values = list(chain.from_iterable(
            found.values() if isinstance(found, Mapping) else scores[: len(found)] for found in held))
    if value == "relevance" and values and isinstance(values[0], Mapping):
        raise TypeError(f"{name}: query {names[0]!r} holds dicts of dicts, not {{document: relevance}}; subtopics=True "
                        "reads judgments by subtopic, read_qrels(..., format='qrels_jg') those of several users")
    if not all(map(str.__instancecheck__, docs)):
        docs = [id_of(one, name) for one in docs]
    return Columns(starts, names, docs, _numbers_of(values, "value", name, starts, names, docs), name)


def _documents(query: Any, found: Any, value: str, name: str) -> Any:
    """The documents of a query, as a mapping or as a list of ids."""
    if isinstance(found, (Mapping, list, tuple)):
        first = next(iter(found), None) if not isinstance(found, Mapping) else None
        if isinstance(first, (list, tuple)):
            raise TypeError(f"{name}: query {query!r} holds {quoted(first)} in a list: a list has ids alone, and a "
                            "dict has documents and their values")
        return found
    if isinstance(found, Set) and value == "score":
        raise TypeError(f"{name}: query {query!r} holds a set, which has no order: a run needs a list, the best "
                        "document first, or a dict of documents and scores")
    if isinstance(found, Set):
        return found
    if getattr(found, "ndim", 0) == 1 and hasattr(found, "tolist"):
        return found.tolist()
    if len(getattr(found, "shape", ())) == 1 and hasattr(found, "to_list"):  # a Series of polars
        return found.to_list()
    raise TypeError(f"{name}: query {query!r} holds {type(found).__name__}, not a mapping of documents, nor a list of "
                    "their ids")


def _texts(ids: list[Any], what: str, name: str) -> list[Any]:
    """A column of ids as texts. Numbers beside texts are an error: the number 1 and the text 1 would be the same id."""
    text = [issubclass(kind, (str, bytes)) for kind in set(map(type, ids))]
    if all(text):
        return ids
    names = [one if isinstance(one, (str, bytes)) else id_of(one, name, f"the {what} id in row {row}")
             for row, one in enumerate(ids)]  # fmt: skip
    if any(text):
        row = next(i for i, one in enumerate(ids) if isinstance(one, (str, bytes)) != isinstance(ids[0], (str, bytes)))
        raise TypeError(f"{name}: the {what} id in row {row} is {ids[row]!r}, after {ids[0]!r}: ids are strings or "
                        "whole numbers, not both")
    return names


def _column(source: Any, label: str, name: str, ids: bool = False) -> Any:
    """A column as a list of texts or as an array of numbers; with `ids`, of whole numbers."""
    shown = f"{name}: column {label!r}"
    column = _unpacked(source[label], shown)
    if isinstance(column, np.ndarray):
        one_dimension(column, shown)
        if not np.ma.is_masked(column):
            if column.dtype.kind in "iu" and (not column.size or column.max() <= np.iinfo(np.int64).max):
                return np.ascontiguousarray(column, dtype=np.int64)
            if column.dtype.kind == "f" and not ids:
                return column
        column = column.tolist()
    try:
        column = list(column)
    except (TypeError, OverflowError) as error:
        raise TypeError(f"{shown} cannot be read: {error}") from None
    kinds = set(map(type, column))
    if not all(issubclass(kind, (str, bytes, int, np.integer)) for kind in kinds):  # these types have no empty values
        for row, value in enumerate(column):
            if _is_empty(value):
                raise ValueError(f"{shown} is empty in row {row}")
    if not kinds or bool in kinds or not all(issubclass(kind, (int, np.integer)) for kind in kinds):
        return column
    try:
        return np.array(column, dtype=np.int64)
    except OverflowError:
        return [int(one) for one in column]


def _unpacked(column: Any, shown: str) -> Any:
    """A tensor or a column of a frame as an array, or as a list if numpy has no type for its values."""
    if hasattr(column, "detach"):  # a tensor of torch
        return as_column(column, shown)
    if not hasattr(column, "to_numpy"):
        return column
    kind = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    if any(word in kind for word in ("str", "utf8", "object", "cat", "dictionary", "int128")):
        return column.to_list() if hasattr(column, "to_list") else column.to_pylist()
    return column.to_numpy()


def _is_empty(value: Any) -> bool:
    try:
        return value is None or value is np.ma.masked or bool(value != value)
    except TypeError:  # pandas.NA: whether it equals itself is NA too
        return True


def _numbers_of(values: Any, what: str, name: str, starts: Any, names: list[str], docs: Any) -> NDArray[np.float64]:
    def wrong(row: int, problem: str) -> ValueError:
        return ValueError(f"{name}: the {what} in row {row} is {problem}{whose(row, starts, names, docs)}")

    return _numbers(values, what, name, wrong)


def _numbers(values: Any, what: str, name: str, wrong: Callable[[int, str], ValueError]) -> NDArray[np.float64]:
    """Values as float64. `wrong` makes the error for a row and its problem."""
    no_masked(values, f"{name}: a {what}")
    try:
        array = np.asarray(values)
    except ValueError:  # the values include lists of different lengths
        array = np.asarray(None)
    if array.ndim != 1 or (array.dtype.kind not in "fiub" and len(array)):
        for row, value in enumerate(values):
            if isinstance(value, (str, bytes)) or not isinstance(value, (int, float, np.number, np.bool_)):
                raise wrong(row, f"{quoted(value)}: it must be a number")
        try:
            array = np.array([float(value) for value in values])
        except OverflowError:
            raise ValueError(f"{name}: a {what} is an integer beyond the range of a double") from None
    if array.dtype == np.float64 and not isinstance(values, np.ndarray) and (np.abs(array) >= LARGE).any():
        for row, (value, number) in enumerate(zip(values, array.tolist(), strict=True)):
            if isinstance(value, (int, np.integer)) and int(number) != value:
                raise wrong(row, f"{value}, which a double cannot hold")
    if (array.dtype.kind in "iu" or array.dtype.itemsize > 8) and unchanged(array, np.dtype(np.float64)) is None:
        row = next(row for row, value in enumerate(array.tolist()) if value == value != float(value))
        raise wrong(row, f"{array[row]}, which a double cannot hold")
    return np.ascontiguousarray(array, dtype=np.float64)


def decoded(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")
