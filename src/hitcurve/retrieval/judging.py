"""Match a run of any kind with the judgments: the result is the judged documents of each query."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hitcurve._base.files import TextFile, file_name, opened_text
from hitcurve._base.words import many
from hitcurve.retrieval import runs
from hitcurve.retrieval.formats import text_of
from hitcurve.retrieval.frames import PLAIN, Rows
from hitcurve.retrieval.nested import judge_nested
from hitcurve.retrieval.reading import columns_of, of_other_text, parquet, run_of, warn
from hitcurve.retrieval.runs import Judged, Qrels, Run
from hitcurve.shown.progress import Progress

__all__ = ["Judge", "Told"]

Told = Callable[[int], None] | Progress | None


class Judge(NamedTuple):
    """Judgments, and the arguments of `evaluate` that say how a run is ranked."""

    qrels: Qrels
    rank_by: str
    single: bool  #: Scores are rounded to single precision.
    strict: bool
    by_any: bool  #: A measure needs the documents that are judged for any query.
    rows: Rows = PLAIN

    def __call__(self, run: Any, progress: Told) -> Judged:
        """The judged documents of a run of any kind."""
        if isinstance(run, (str, os.PathLike)):
            return self._matched(self._file(run, progress), False)
        if isinstance(run, Run):
            return self._matched(self._ranked(run), run.listed)
        nested = None
        if isinstance(run, dict) and self.rank_by == "score" and not self.by_any and not (
                self.rows.columns and self.rows.must.intersection(self.rows.columns)):
            nested = judge_nested(self.qrels, run, self.single)
        return self._columns(run, "run", None) if nested is None else self._matched(nested, False)

    def _matched(self, judged: Judged, listed: bool, number: int = 0) -> Judged:
        """The judged documents; an error if one side names its queries, and the other has rows that are not the same.

        Rows are numbered from 0. The users 1, 2, 3 would silently have the rows of others. `number`: how many rows.
        """
        qrels = self.qrels
        if listed == qrels.listed:
            return judged
        here = judged.counts()[0]
        if not judged.others and (not here or len(qrels) in (here, number)):
            return judged
        rows, named = (judged.source, qrels.source) if listed else (qrels.source, judged.source)
        raise ValueError(f"{rows} has rows of ids without names of queries, which are numbered from 0, but {named} "
                         f"names its queries, and they are not the same: pass {rows} as a dict from each query to its "
                         "row, such as dict(zip(users, rows)), or dict(enumerate(rows)) if the numbers of the rows are "
                         "the names")

    def _ranked(self, run: Run) -> Judged:
        return runs.judge(self.qrels, run, self.rank_by, self.single, self.by_any)

    def _file(self, path: Any, progress: Told) -> Judged:
        if self.by_any or not text_of(path) or self.rows.duplicates != "raise":
            return self._ranked(run_of(path, self.strict, self.rows))
        with opened_text(path, pieces=True) as (name, text):
            if text is not None:
                try:
                    found = self._lines(name, text, progress)
                except ValueError as error:
                    found = self._ranked(Run.from_columns(*of_other_text(Run, text, name, error, self.rows).held))
                else:
                    self.rows.check_no_frame(name)
                    warn(found.passed)
                return found
        return self._columns(parquet(path), name, file_name(name))

    def _lines(self, name: str, text: Any, progress: Told) -> Judged:
        """Judge the lines of a TREC file while it is read; all at once if the lines of a query are not together."""
        found = runs.judge_buffer(self.qrels, text, name, self.rank_by, self.single, self.strict,
                                  _told(progress, name, text))
        if found is None:
            text = text.read() if isinstance(text, TextFile) else text
            found = self._ranked(Run.from_buffer(text, name, self.strict))
        return found

    def _columns(self, run: Any, source: str, own: str | None) -> Judged:
        """Judge a run in frames, arrays, lists or objects of other libraries."""
        qrels = self.qrels
        held = columns_of(run, "score", source, self.rows, own)
        docs, names, listed, name = held.docs, held.names, held.listed, held.source
        lists = isinstance(run, tuple) and not listed and all(isinstance(one, (list, tuple)) for one in run)
        if lists and qrels.listed:
            raise ValueError(f"{name} is a tuple of three lists, and {qrels.source} has rows of ids: pass rows of "
                             "ids in a list, or columns (query, document, score) as arrays")
        if listed and qrels.listed and len(names) != len(qrels):
            raise ValueError(f"{name} has {many(len(names), 'rows')}, but {qrels.source} has {len(qrels)}")
        plain = not isinstance(docs, list) and qrels.integers and held.ranks is None and self.rank_by != "rank"
        plain &= held.duplicates == "raise"
        if plain and not self.by_any and len(set(names)) == len(names):
            ends = np.append(held.starts, len(docs))
            found = runs.judge_integers(qrels, ends, names, docs, held.values, name, self.rank_by, self.single,
                                        held.tag, list(held.notes))
        else:
            found = self._ranked(Run.from_columns(*held.held))
        return self._matched(found, listed, len(names))


def _told(progress: Told, name: str, text: Any) -> Any:
    """The function that is called with the bytes of text read so far; a progress line counts bytes of the file."""
    if not isinstance(progress, Progress):
        return progress
    of_file = isinstance(text, TextFile)
    progress.begin(os.path.basename(name), text.size if of_file else len(text), "bytes")
    return (lambda place: progress.reach(text.reached(place))) if of_file else progress.reach
