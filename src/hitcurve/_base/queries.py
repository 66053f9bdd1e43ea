"""The argument `queries=`: which queries count, or the groups to which they belong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from hitcurve._base.checks import quoted
from hitcurve._base.given import at_hand, frame_columns, id_of
from hitcurve._base.words import many, near

__all__ = ["ALL", "Queries"]

ALL = "all"  # the name of the row of all queries
_QUERY = ("queryid", "qid", "query", "topic", "topicid", "user", "userid")  # without case, blanks and marks
_GROUP = ("group", "stratum")
_TAKES = ("queries must be a list or a set of ids, a function of the id, a mapping of ids to groups, or a frame with "
          "a column of ids and a column of groups")
_OF_SERIES = (". The values of a Series are taken as ids: its to_dict() gives the group of each id of its index, and "
              "series.index[series] has the ids where it is True")


class Queries:
    """What `queries=` says. It is applied to the ids of the queries that are known.

    Attributes
    ----------
    groups : dict of str to str, or None
        The group of each query, if the argument gives groups. The order of the groups is that of the argument.
    """

    def __init__(self, given: Any, name: str = "queries") -> None:
        """`name`: what errors call the argument, such as the name of the file that it comes from."""
        self.name = name
        self.groups: dict[str, str] | None = None
        self._ids: dict[str, None] = {}
        self._function: Callable[[Any], Any] | None = None
        self._advice = ""
        given = at_hand(given)
        columns = frame_columns(given)
        if isinstance(given, Mapping):
            self.groups = _grouped(given.items(), name)
        elif columns is not None:
            self.groups = _grouped(_pairs(given, list(columns)), name)
        elif callable(given):
            self._function = given
        elif isinstance(given, str | bytes) or not isinstance(given, Iterable):
            raise TypeError(f"{_TAKES}, got {quoted(given)}")
        else:
            if hasattr(given, "index") and hasattr(given, "to_dict"):
                self._advice = _OF_SERIES
            try:
                self._ids = {id_of(one, name, f"id {at}"): None for at, one in enumerate(_items(given))}
            except TypeError as error:
                raise TypeError(f"{error}{self._advice}") from None

    def places(self, known: Sequence[Any]) -> list[int]:
        """The places in `known` of the queries that count. With groups, all queries count."""
        if self.groups is not None:
            self._check_some(self.groups, known)
            return list(range(len(known)))
        if self._function is not None:
            found = [at for at, one in enumerate(known) if _truth(self._function, one)]
        else:
            texts = list(map(str, known))
            self._check_known(texts)
            found = [at for at, text in enumerate(texts) if text in self._ids]
        if not found:
            of_texts = self._function is not None and len(known) > 0 and isinstance(known[0], str)
            advice = f", whose ids are strings, such as {quoted(known[0])}" if of_texts else ""
            raise ValueError(f"{self.name} selects none of the {many(len(known), 'queries')}{advice}")
        return found

    def strata(self, known: Sequence[Any]) -> dict[str, list[int]]:
        """For each group the places of its queries in `known`; groups without any are left out."""
        found: dict[str, list[int]] = {group: [] for group in (self.groups or {}).values()}
        for at, one in enumerate(known):
            group = (self.groups or {}).get(str(one))
            if group is not None:
                found[group].append(at)
        return {group: places for group, places in found.items() if places}

    def _check_known(self, texts: Sequence[str]) -> None:
        known = set(texts)
        unknown = [one for one in self._ids if one not in known]
        if unknown:
            more = f", nor are {len(unknown) - 1} more" if len(unknown) > 1 else ""
            raise ValueError(f"{self.name} has {unknown[0]!r}, which is not among the "
                             f"{many(len(known), 'judged queries')}{more}{near(unknown[0], texts)}{self._advice}")

    def _check_some(self, groups: Mapping[str, str], known: Sequence[Any]) -> None:
        texts = list(map(str, known))
        if texts and not groups.keys() & set(texts):
            first = next(iter(groups))
            raise ValueError(f"{self.name} gives groups to {many(len(groups), 'queries')}, of which none is judged, "
                             f"such as {first!r}{near(first, texts)}")


def _truth(function: Callable[[Any], Any], query: Any) -> bool:
    try:
        answer = function(query)
    except TypeError as error:
        if not isinstance(query, str):
            raise
        raise TypeError(f"queries({quoted(query)}): {error}. The function is given each id as a string") from error
    if not isinstance(answer, bool | np.bool_):
        raise TypeError(f"queries({quoted(query)}) is {quoted(answer)}: a function of the id must return True or False")
    return bool(answer)


def _items(given: Any) -> list[Any]:
    """The items of a list, a set, an array, or a column of a frame."""
    for name in ("tolist", "to_list", "to_pylist"):
        if hasattr(given, name):
            found = getattr(given, name)()
            return found if isinstance(found, list) else [found]
    return list(given)


def _pairs(frame: Any, columns: list[Any]) -> Iterable[tuple[Any, Any]]:
    """The pairs of a query and a group of a frame. Of two columns the first is the query if neither name says so."""
    bare = {re.sub(r"[\s_-]", "", str(one)).lower(): one for one in reversed(columns)}
    query = next((bare[one] for one in _QUERY if one in bare), columns[0] if len(columns) == 2 else None)
    others = [one for one in columns if one != query]
    group = others[0] if len(others) == 1 else next((one for one in _GROUP if one in others), None)
    if query is None or group is None:
        raise ValueError(f"queries has the columns {', '.join(map(str, columns))}: it needs a column of ids "
                         "(query_id, qid, query, topic or user_id) and one other column, or a column 'group'")
    if hasattr(frame, "fetchnumpy"):  # a relation of DuckDB
        frame = frame.fetchnumpy()
    return zip(_items(frame[query]), _items(frame[group]), strict=True)


def _grouped(pairs: Iterable[tuple[Any, Any]], argument: str) -> dict[str, str]:
    """The group of each query. None and NaN are no group."""
    found: dict[str, str] = {}
    for query, group in pairs:
        text = id_of(query, argument, "a query")
        if group is None or not _equals_itself(group):
            continue
        if isinstance(group, Iterable) and not isinstance(group, str | bytes):
            raise TypeError(f"{argument}[{text!r}] is {quoted(group)}: a group must be a string, a number or a bool. A "
                            f"mapping has the group of each id, such as {{'q1': {text!r}}}: turn it round, "
                            "{one: group for group, ids in groups.items() for one in ids}")
        name = str(int(group) if isinstance(group, float) and group.is_integer() else group)
        if name == ALL:
            raise ValueError(f"{argument}[{text!r}] is {ALL!r}, which is the name of the row of all queries: use "
                             "another name")
        if found.setdefault(text, name) != name:
            raise ValueError(f"{argument} has two groups for the query {text!r}: {found[text]!r} and {name!r}")
    if not found:
        raise ValueError(f"{argument} has no query with a group")
    return found


def _equals_itself(value: Any) -> bool:
    try:
        return bool(value == value)
    except TypeError:  # pandas.NA
        return False
    except ValueError:  # arrays and the like, which are refused later
        return True
