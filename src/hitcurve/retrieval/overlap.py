"""Rank-biased overlap: how alike two rankings are, with the most weight at their top."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import count
from numbers import Real
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, NoReturn

import numpy as np

from hitcurve._base.checks import check_choice, check_flag, quoted
from hitcurve._base.words import many
from hitcurve.results import _Value
from hitcurve.retrieval.overlaps import numbered, overlap_of, overlaps_of_runs
from hitcurve.retrieval.reading import decoded, read_run
from hitcurve.retrieval.runs import Run

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["RankBiasedOverlap", "rbo"]


class RankBiasedOverlap(NamedTuple, Generic[_Value]):
    """Rank-biased overlap of two rankings whose further items are unknown.

    The overlap of two rankings is a ``RankBiasedOverlap[float]``. For two runs the first four fields are arrays with a
    value for each query.

    Attributes
    ----------
    ext
        The extrapolated value: the agreement beyond the end of the rankings stays what it is there.
    min, max
        The bounds: beyond the end, no further item is in both rankings, or as many items as possible are.
    residual
        ``max`` minus ``min``: the weight of what is unknown. It is computed without the rounding errors of the bounds.
    p
        The persistence.
    ties
        How tied items count: ``"a"``, ``"b"`` or ``"w"``.
    query_ids
        The ids of the queries of two runs, in the order of their bytes. None for two rankings.
    """

    ext: _Value
    min: _Value
    max: _Value
    residual: _Value
    p: float
    ties: str
    query_ids: list[str] | None

    def _repr_html_(self) -> str:
        from hitcurve.shown.notebook import overlap_tables, shown
        return shown(overlap_tables(self))


RankBiasedOverlap.__module__ = "hitcurve"  # the module that pickles name


def rbo(x: Any, y: Any, *, p: float = 0.9, ties: str = "a", scores: bool = False,
        missing: str = "raise") -> RankBiasedOverlap[Any]:
    """Rank-biased overlap of two rankings, or of the rankings of two runs.

    The agreement A(d) is the number of items that the first d of both rankings have in common, divided by d. The
    overlap is the sum of (1 - p) p**(d - 1) A(d) over all depths d. The rankings are taken as the beginnings of longer
    rankings, whose further items are unknown. So there is a lower bound, an upper bound, and an extrapolated value,
    for which the agreement beyond the end stays what it is there.

    Parameters
    ----------
    x, y : sequence, mapping, array or run
        Two rankings: items from the first rank down in a list, tuple or 1-D array (strings or whole numbers), or a
        mapping ``{item: score}``, in which equal scores are ties and the highest score ranks first. Or two runs with a
        ranking for each query: everything that `read_run` takes, such as paths of TREC files and dicts of dicts.
    p : float
        The persistence, between 0 and 1. The first d ranks have most of the weight if d is a few times 1 / (1 - p).
    ties : {"a", "b", "w"}
        How tied items count. ``"a"``: the order of tied items is unknown, and the agreement is its mean over all
        orders. ``"b"``: as ``"a"``, divided by the square root of the agreements of both rankings with themselves, so
        that a ranking and itself have the overlap 1. ``"w"``: tied items have the same rank, so they are seen together.
        Without ties all three are equal.
    scores : bool
        True: `x` and `y` are two arrays of scores of the same items, in the same order.
    missing : {"raise", "skip"}
        What happens to a query that only one of two runs has. ``"raise"``: an error. ``"skip"``: it is left out.

    Returns
    -------
    RankBiasedOverlap
        ``ext``, ``min``, ``max`` and ``residual``: numbers for two rankings, and arrays with a value for each query for
        two runs. If a ranking is empty, ``ext`` is NaN, ``min`` is 0 and ``max`` is 1.

    Raises
    ------
    ValueError
        If an item occurs twice in a ranking (the message names both places), if a score is NaN, if `p` or another
        argument is invalid, or if runs have no query in common.
    TypeError
        If an item is neither a string nor a whole number, if a score is not a number, or if a ranking is compared with
        a run.

    Notes
    -----
    With ``ties="a"``, ``min`` is exactly the mean over all orders of the tied items. ``ext`` and ``max`` are so too if
    the rankings have the same length. Otherwise they are Corsi and Urbano's definitions. The time grows with the number
    of items. The scores of runs are compared in double precision.

    References
    ----------
    Webber, Moffat & Zobel (2010), "A similarity measure for indefinite rankings", ACM TOIS 28:4. Corsi & Urbano (2024),
    "The treatment of ties in rank-biased overlap", SIGIR.

    Examples
    --------
    >>> import hitcurve as hc
    >>> found = hc.rbo(["a", "b", "c"], ["b", "a", "d"], p=0.9)
    >>> round(found.ext, 4), round(found.min, 4), round(found.max, 4)
    (0.63, 0.3117, 0.873)
    >>> round(hc.rbo({"a": 3.0, "b": 2.0, "c": 2.0}, {"a": 9, "c": 8, "b": 7}).ext, 4)
    0.9775
    >>> hc.rbo({"q": {"a": 3.0, "b": 2.0}}, {"q": {"a": 1.0, "b": 0.5}}).ext.tolist()
    [1.0]
    """
    if isinstance(p, bool) or not isinstance(p, Real):
        raise TypeError(f"p must be a number, got {quoted(p)} of type {type(p).__name__}")
    if not 0 < p < 1 or not 0 < float(p) < 1:
        raise ValueError(f"p is {p}: must be between 0 and 1")
    check_choice(ties, "ties", ("a", "b", "w"))
    check_choice(missing, "missing", ("raise", "skip"))
    kinds = [_is_ranking(value) or check_flag(scores, "scores") for value in (x, y)]
    if kinds[0] != kinds[1]:
        of = {True: "a ranking", False: "a run with a ranking for each query"}
        raise TypeError(f"x is {of[kinds[0]]}, and y is {of[kinds[1]]}: pass two of the same kind")
    if not kinds[0]:
        return _of_runs(x, y, float(p), ties, missing)
    one, other = (_of_scores if scores else _ranking)(x, "x"), (_of_scores if scores else _ranking)(y, "y")
    if scores and len(one.order) != len(other.order):
        raise ValueError(f"x has {many(len(one.order), 'scores')} and y has {len(other.order)}: they must be "
                         "the scores of the same items")
    codes = [one.order, other.order] if scores else _codes(one, other)
    found = overlap_of(codes[0], one.ends, codes[1], other.ends, len(one.order) + len(other.order), float(p), ties)
    return RankBiasedOverlap(*found, float(p), ties, None)


class _Ranking(NamedTuple):
    items: Any  #: The items as they are given: a list, or an array of whole numbers.
    order: NDArray[np.int64]  #: The places of the items, from the first rank down.
    ends: NDArray[np.int64]  #: The ends of the tie groups.


def _is_ranking(value: Any) -> bool:
    """Whether a value is a single ranking, rather than a run with a ranking for each query."""
    if isinstance(value, (str, os.PathLike, Run)):
        return False
    if isinstance(value, Mapping):
        return all(isinstance(one, (Real, np.number)) for one in [*value.values()][:1])
    if hasattr(value, "shape"):  # of arrays, and of columns of frames
        return len(value.shape) == 1
    return isinstance(value, Sequence) and all(isinstance(one, (str, bytes, Real, np.number)) for one in value[:1])


def _ranking(value: Any, name: str) -> _Ranking:
    """A list of items, or a mapping of items to scores."""
    if isinstance(value, Mapping):
        return _by_score([*value], [*value.values()], name, True)
    items = np.asarray(value) if hasattr(value, "shape") else [*value]
    if isinstance(items, np.ndarray):
        if items.dtype.kind in "iu" and items.dtype != np.uint64:  # `_codes` finds an item that comes twice
            return _in_order(np.ascontiguousarray(items, np.int64))
        items = items.tolist()
    for kind in set(map(type, items)):
        if kind is bool or not issubclass(kind, (str, bytes, int, np.integer)):
            i = next(i for i, item in enumerate(items) if type(item) is kind)
            raise TypeError(f"{name}[{i}] is {quoted(items[i])}: an item must be a string or a whole number; scores go "
                            "in a mapping of items to scores, or in two arrays with the argument scores")
    if len(set(items)) < len(items):
        _once(items, name)
    return _in_order(items)


def _once(items: list[Any], name: str) -> NoReturn:
    """Raises the error for an item that occurs twice."""
    first: dict[Any, int] = {}
    i = next(i for i, item in enumerate(items) if first.setdefault(item, i) != i)
    before = first[items[i]]
    raise ValueError(f"{name}[{i}] is {quoted(items[i])}, as {name}[{before}] is: a ranking has each item once")


def _in_order(items: Any) -> _Ranking:
    places = np.arange(len(items))
    return _Ranking(items, places, places + 1)


def _of_scores(value: Any, name: str) -> _Ranking:
    values = np.asarray(value)
    if values.ndim != 1:
        raise ValueError(f"{name} has {many(values.ndim, 'dimensions')}: it must be a 1-D array of scores")
    return _by_score([], values.tolist() if values.dtype.kind not in "iuf" else values, name, False)


def _by_score(items: list[Any], given: Any, name: str, keyed: bool) -> _Ranking:
    """A ranking by falling score, with equal scores as ties."""
    if not isinstance(given, np.ndarray):
        for i, score in enumerate(given):
            if isinstance(score, (bool, np.bool_)) or not isinstance(score, (Real, np.number)):
                place = quoted(items[i]) if keyed else i
                raise TypeError(f"{name}[{place}] is {quoted(score)}: a score must be a number")
    values = np.asarray(given) if len(given) else np.empty(0)
    if values.dtype.kind not in "iuf":
        values = values.astype(np.float64)
    for i in np.flatnonzero(values != values)[:1]:
        raise ValueError(f"{name}[{quoted(items[i]) if keyed else i}] is nan: a score must be a number")
    order = np.argsort(values, kind="stable")[::-1]
    falling = values[order]
    ends = np.append(np.flatnonzero(falling[1:] != falling[:-1]) + 1, len(falling))
    return _Ranking(items, np.ascontiguousarray(order, np.int64), ends[: len(falling)].astype(np.int64))


def _codes(one: _Ranking, other: _Ranking) -> list[NDArray[np.int64]]:
    """The items of both rankings as numbers, in the order of their ranks."""
    given = one.items, other.items
    if all(isinstance(items, np.ndarray) for items in given):
        found, *twice = numbered(*given)
        for items, place, name in zip(given, twice, "xy", strict=True):
            if place >= 0:
                _once(items.tolist(), name)
        return [one.order, found]
    for items, name in zip(given, "xy", strict=True):
        if isinstance(items, np.ndarray) and len(np.unique(items)) < len(items):
            _once(items.tolist(), name)
    lists = [items.tolist() if isinstance(items, np.ndarray) else items for items in given]
    kinds = [{isinstance(item, (str, bytes)) for item in items} for items in lists]
    if kinds[0] and kinds[1] and not kinds[0] & kinds[1]:
        of = {True: "strings", False: "whole numbers"}
        raise TypeError(f"the items of x are {of[kinds[0].pop()]} and those of y are {of[kinds[1].pop()]}: no item can "
                        "be in both")
    numbers = dict(zip(lists[0], count()))
    places = list(map(numbers.setdefault, lists[1], count(len(lists[0]))))
    return [one.order, np.array(places, np.int64)[other.order]]


def _of_runs(x: Any, y: Any, p: float, ties: str, missing: str) -> RankBiasedOverlap[Any]:
    one, other = read_run(x), read_run(y)
    here = one.names.all_texts(), other.names.all_texts()
    both = set(here[0]) & set(here[1])
    for run, texts, lacks in zip((one, other), here, (other, one), strict=True):
        alone = sorted(set(texts) - both)
        if alone and (missing == "raise" or not both):
            raise ValueError(f"{run.source} has query {decoded(alone[0])!r}, which {lacks.source} lacks"
                             + (" (missing='raise')" if both else ": the runs have no query in common"))
    queries = [text for text in here[0] if text in both]
    if not (one.listed and other.listed):
        queries.sort()
    ext, low, high, residual = np.ascontiguousarray(overlaps_of_runs(one, other, queries, p, ties).T)
    return RankBiasedOverlap(ext, low, high, residual, p, ties, [decoded(text) for text in queries])
