"""The columns of frames, of files with a header, and of dicts of arrays: which of them holds what."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, NamedTuple

from hitcurve._base.checks import check_choice, quoted
from hitcurve._base.words import TAKEN, near

__all__ = ["DUPLICATES", "OWN", "PLAIN", "USUAL", "Found", "Rows", "Unclear", "find", "is_columns", "is_other",
           "rows_as"]

DUPLICATES = ("raise", "first", "best")

# The names that the documentation uses. A column of such a name needs no note.
OWN = {"query": "query_id", "document": "doc_id", "relevance": "relevance", "score": "score", "rank": "rank",
       "subtopic": "subtopic", "group": "group", "subgroup": "subgroup"}
# Names in other use. If a frame has several of a line, the first is taken.
USUAL = {
    "query": ("query_id", "qid", "q_id", "query-id", "query"),
    "document": ("doc_id", "docno", "docid", "corpus-id", "doc"),
    "relevance": ("relevance", "label", "rel"),
    "score": ("score",),
    "rank": ("rank",),
    "subtopic": ("subtopic", "subtopic_id", "subtopic-id", "iteration"),
    "group": ("group", "group_id", "judgment_group", "jg"),
    "subgroup": ("subgroup", "subgroup_id", "judgment_subgroup", "jsg"),
}
# Names of recommenders, without case, blanks and marks. Several of them are an error.
_OF_USERS = {"query": ("user", "userid"), "document": ("item", "itemid", "movieid"), "relevance": ("rating",),
             "score": ("prediction",)}
# Keys of a dict that make it a frame, so that a misspelt key beside them is an error.
_KEYS = frozenset(one for role, names in USUAL.items() if "group" not in role for one in names) | {
    "user", "userID", "user_id", "userId", "userid", "item", "itemID", "item_id", "itemId", "itemid", "movieId",
    "movie_id", "rating", "prediction"}
_MOST = 12  # columns that an error shows
_MAY_DIFFER = ("query", "document")  # in the judgments and in the run


class Rows(NamedTuple):
    """How the rows of a source are read: the arguments `columns` and `duplicates` of `read_qrels` and `evaluate`."""

    columns: Mapping[str, str | None] = {}
    duplicates: str = "raise"
    #: What must have the column that `columns` names, although the other source may have it.
    must: frozenset[str] = frozenset(_MAY_DIFFER)

    def first(self) -> Rows:
        """For the judgments that a run follows."""
        return self._replace(must=frozenset()) if self.columns else self

    def after(self, heads: Mapping[str, str]) -> Rows:
        """For a run. `heads`: the columns of its judgments."""
        return self if not self.columns else self._replace(must=frozenset(
            role for role in _MAY_DIFFER if role in self.columns and self.columns[role] != heads.get(role)))

    def check_no_frame(self, name: str) -> None:
        """An error if a column must be in this source, which has no columns."""
        for role in _MAY_DIFFER:
            if role in self.must and role in self.columns:
                raise ValueError(f"columns={dict(self.columns)!r}: {name} has no columns, and no other source has "
                                 f"the column {self.columns[role]!r}")


PLAIN = Rows()


class Unclear(ValueError):
    """A source has columns, but they do not fit the argument `columns`, or several of them fit the usual names."""


class Found(NamedTuple):
    """The columns of a source."""

    heads: dict[str, str]  #: "query", "document" and so on with the name of its column.
    notes: list[str]
    whole: bool = False  #: Whether the relevance must be whole: what holds it may be meant as a score.


def rows_as(columns: Any, duplicates: Any) -> Rows:
    """The arguments `columns` and `duplicates`, checked."""
    check_choice(duplicates, "duplicates", DUPLICATES)
    if columns is None:
        return PLAIN if duplicates == "raise" else Rows({}, duplicates)
    if not isinstance(columns, Mapping):
        raise TypeError(f"columns must be a mapping such as {{'query': 'user'}}, got {quoted(columns)}")
    for role, label in columns.items():
        if role not in OWN:
            turned = isinstance(label, str) and label in OWN
            raise ValueError(f"columns has the key {role!r}: the keys are {', '.join(map(repr, OWN))}" + (
                f", so write {{{label!r}: {role!r}}}" if turned else near(role, OWN)))
        if label is None and role != "relevance":
            raise ValueError(f"columns[{role!r}] is None: only the relevance may be None, if each row is relevant")
        if not (label is None or isinstance(label, str)):
            raise TypeError(f"columns[{role!r}] must be the name of a column, got {quoted(label)}")
    return Rows(dict(columns), duplicates)


def find(labels: Iterable[Any], value: str, rows: Rows, name: str, *, text: bool = False,
         more: Sequence[str] = ()) -> Found:
    """Which column holds the query, the document and the value ("relevance" or "score"), and which the rank.

    more
        What else must have a column: "subtopic", or "group" and "subgroup".
    text : bool
        The columns are those of a text file, where judgments may have their relevance under the name "score".
    """
    listed, judgments = list(labels), value == "relevance"
    heads: dict[str, str] = {}
    usual: dict[str, str] = {}
    others: list[str] = []
    whole = False
    roles = ("query", "document", *more, value, *["rank"] * (not judgments))
    header = text and sum(any(_usual(listed, role)) for role in {*roles, "score"}) > 1
    unclear = Unclear if header or (text and rows.columns) else ValueError
    for role in roles:
        label = rows.columns.get(role)
        if label is not None and label in listed:
            heads[role] = label
        elif label is not None or role not in rows.columns:  # None: each row is relevant
            known, of_users = _usual(listed, role)
            if role == "relevance" and "subtopic" in more:
                known += [one for one in listed if _is(one, "level")]
            names = [*known[:1], *of_users]
            if not names and role == "relevance" and (text or _is(heads["document"], "corpus-id")):
                names = [one for one in listed if _is(one, "score")][:1]  # as in BEIR's judgments
                whole = bool(names)
            if label is not None and not (names and role in _MAY_DIFFER and role not in rows.must):
                raise unclear(f"{name} has no column {label!r}, which columns= names as the {role}, only "
                              f"{_shown(listed)}{near(label, listed)}")
            if len(of_users) > 1 and not known:
                raise unclear(f"{name} has the columns {_shown(of_users)}: name one of them as the {role}, with "
                              f"columns={{{role!r}: ...}}")
            if names:
                heads[role] = names[0]
                others += names[1:]
                if names[0] != OWN[role]:
                    usual[role] = names[0]
            elif role not in ("rank", "score"):
                raise unclear(_missing(role, listed, name))
    if not judgments and "score" not in heads and "rank" not in heads:
        raise unclear(_missing("score", listed, name))
    return Found(heads, [f"{name}: {TAKEN}{_said(usual or heads, others)}"] if usual or others else [], whole)


def _usual(listed: list[Any], role: str) -> tuple[list[str], list[str]]:
    """The columns with a name of `USUAL`, the one to take first; and those with a name of `_OF_USERS`."""
    texts = [one for one in listed if isinstance(one, str)]
    known = [one for usual in USUAL[role] for one in sorted(texts, key=usual.__ne__) if _is(one, usual)]
    return known, [one for one in texts if _bare(one) in _OF_USERS.get(role, ())]


def _is(label: str, usual: str) -> bool:
    return label.strip().lower().replace(" ", "_") == usual


def _missing(role: str, listed: list[Any], name: str) -> str:
    none = ", or None if each row is relevant" if role == "relevance" else ""
    return (f"{name} has no column {OWN[role]!r}, only {_shown(listed)}: name the column with "
            f"columns={{{role!r}: ...}}{none}")


def _shown(labels: Iterable[Any]) -> str:
    listed = list(map(str, labels))
    left = len(listed) - _MOST
    return ", ".join(listed[:_MOST]) + (f" and {left} more" if left > 1 else f", {listed[-1]}" if left == 1 else "")


def _said(heads: Mapping[str, str], others: list[str]) -> str:
    taken = ", ".join(f"{label!r} as the {role}" for role, label in heads.items())
    return taken + (f", and not {', '.join(map(repr, others))}" if others else "")


def is_columns(source: Mapping[Any, Any], rows: Rows = PLAIN) -> bool:
    """Whether a mapping has columns, rather than queries or names of runs."""
    names = {*_KEYS, *rows.columns.values()} if rows.columns else _KEYS
    return any(map(source.__contains__, names)) and any(not is_other(source[name]) for name in names if name in source)


def is_other(value: Any) -> bool:
    """Whether a value is a mapping, a set, a text, a frame or a run, rather than a column or a list of ids."""
    return isinstance(value, (Mapping, Set, str, os.PathLike)) or any(
        hasattr(value, mark) for mark in ("columns", "column_names", "tocsr", "query_ids"))


def _bare(label: str) -> str:
    """The label in lower case, without blanks, marks and the type that RecBole writes (user_id:token)."""
    return re.sub(r"[\s_-]|:(token|float)$", "", label).lower()
