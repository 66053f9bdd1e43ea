"""Tables of rankings that need a sort: ties resolved by a second key, or items with weights.

The sort takes O(N log N) time and several arrays of N numbers.
"""
from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np


def ranks_of(score: Any, lower_is_better: bool) -> Any:
    """The place of each score among the distinct scores, best first, as int64. NaN comes last."""
    values, places = np.unique(score, return_inverse=True)
    if lower_is_better:
        return places.astype(np.int64)
    ranks = values.shape[0] - 1 - places
    if values.dtype.kind == "f":
        ranks[np.isnan(score)] = values.shape[0]
    return ranks.astype(np.int64)


def group_starts(*sorted_keys: Any) -> Any:
    """The places where any of the sorted keys begins a new value."""
    first = np.zeros(sorted_keys[0].shape[0], bool)
    first[:1] = True
    for key in sorted_keys:
        first[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(first)


def sorted_tables(relevant: Any, score: Any, query: Any, num_queries: int, lower_is_better: bool, key: Any, weight: Any,
                  kept: Any) -> tuple[Any, ...]:
    """The tables of many rankings, made from the items in `kept` (from all items if it is None).

    Either the items have weights, or a key resolves ties, the smaller key first. Without weights and key, the order of
    the items resolves ties. Returns where each query's rows begin; score, above, tied and hits of the rows; items and
    hits of each query; and `other_items` if there are weights.
    """
    items: Any
    hits: Any
    if weight is not None:
        kept = weight > 0 if kept is None else kept & (weight > 0)
    if kept is not None:
        relevant, score, query = relevant[kept], score[kept], query[kept]
        key, weight = (None if column is None else column[kept] for column in (key, weight))
    if weight is None:
        of_query, *rows = resolved_rows(relevant, score, query, num_queries, lower_is_better, key)
        items, others = np.bincount(query, minlength=num_queries), None
        hits = np.zeros(num_queries, np.int64)
        np.add.at(hits, of_query, rows[3])
        lengths = np.bincount(of_query, minlength=num_queries)
    else:
        starts = np.searchsorted(query, np.arange(num_queries + 1)).tolist()
        tables = [weighted_table(relevant[a:b], score[a:b], weight[a:b], lower_is_better) for a, b in pairwise(starts)]
        tables.append((score[:0], *[np.empty(0)] * 3, 0.0, np.empty(0)))
        *rows, others = (np.concatenate([table[at] for table in tables]) for at in (0, 1, 2, 3, 5))
        items = np.array([table[4] for table in tables[:-1]], np.float64)
        hits = np.array([sum_of(table[3]) for table in tables[:-1]], np.float64)
        lengths = np.array([table[3].shape[0] for table in tables[:-1]], np.int64)
    return np.append(0, np.cumsum(lengths)), *rows, items, hits, others


def resolved_rows(relevant: Any, score: Any, query: Any, num_queries: int, lower_is_better: bool, key: Any) -> Any:
    """Query, score, above, tied and hits of each row. Items of equal score and key stay tied."""
    ranks = ranks_of(score, lower_is_better)
    if key is None:
        order = np.lexsort((ranks, query))
        starts = np.arange(order.shape[0])
    else:
        order = np.lexsort((key, ranks, query))
        starts = group_starts(query[order], ranks[order], key[order])
    hits = np.add.reduceat(relevant[order].astype(np.int64), starts)
    tied = np.diff(np.append(starts, order.shape[0]))
    of_query = query[order][starts]
    query_start = np.zeros(num_queries, np.int64)
    query_start[1:] = np.cumsum(np.bincount(query, minlength=num_queries))[:-1]
    above = starts - query_start[of_query]
    rows = hits > 0
    return of_query[rows], score[order][starts][rows], above[rows], tied[rows], hits[rows]


def sum_of(terms: Any) -> float:
    return float(running_sums(terms)[-1]) if terms.shape[0] else 0.0


def running_sums(terms: Any) -> Any:
    """Running sums with the rounding error of each addition added back."""
    sums = np.cumsum(terms)
    before = np.append(0.0, sums)[:-1]
    added = sums - before
    return sums + np.cumsum((before - (sums - added)) + (terms - added))


def sums_between(terms: Any, bounds: Any) -> Any:
    """The sums of terms[bounds[i]:bounds[i + 1]], rounded once, so that the order of the terms does not matter."""
    sizes = np.diff(bounds)
    sums = np.where(sizes > 0, np.add.reduceat(np.append(terms, 0.0), bounds)[:-1], 0.0)
    for i in np.flatnonzero(sizes > 2).tolist():
        sums[i] = math.fsum(terms[bounds[i] : bounds[i + 1]].tolist())
    return sums


def other_items(above: Any, tied: Any, hits: Any, num_items: Any) -> Any:
    """The numbers of other items: before the first row's group, in it, before the next group, ..., after the last."""
    ends = np.append(0, above + tied)
    others = np.empty(2 * hits.shape[0] + 1, ends.dtype)
    others[1::2] = tied - hits
    starts = np.append(above, num_items)
    others[::2] = starts - ends
    if others.dtype.kind == "f":
        others[::2][others[::2] <= 1e-12 * starts] = 0.0  # sums of weights: a smaller number is rounding error
    return others


def checked_others(others: Any, above: Any, tied: Any, hits: Any, num_items: float) -> Any:
    """Checks the weights of the other items in a pickle against the columns of its table, and returns a copy."""
    others = np.array(others, np.float64)
    if others.shape != (2 * hits.shape[0] + 1,) or not (np.isfinite(others) & (others >= 0)).all():
        raise ValueError(f"others has shape {others.shape}: must be {2 * hits.shape[0] + 1} weights, finite and not "
                         "negative")
    passed, seen = running_sums(others), np.append(0.0, running_sums(hits))
    counts = np.concatenate([seen + passed[::2], hits + others[1::2]])
    if not np.allclose(counts, np.concatenate([above, [num_items], tied]), rtol=1e-9, atol=0.0):
        raise ValueError("others do not agree with above, tied, hits and num_items")
    return others


def weighted_table(relevant: Any, score: Any, weight: Any, lower_is_better: bool) -> tuple[Any, ...]:
    """Rows of one ranking of weighted items: score, above, tied, hits, the total weight, and `other_items`.

    Relevant and other items are added up separately, because a difference of two sums would be less accurate.
    """
    ranks = ranks_of(score, lower_is_better)
    order = np.argsort(ranks, kind="stable")
    weight, relevant = weight[order], relevant[order]
    bounds = np.append(group_starts(ranks[order]), order.shape[0])
    rows = np.flatnonzero(np.diff(np.append(0, np.cumsum(relevant))[bounds]))
    first = bounds[rows]
    bounds = np.concatenate([[0], np.stack([first, bounds[rows + 1]], axis=1).reshape(-1), order.shape[:1]])
    hits = sums_between(np.where(relevant, weight, 0.0), bounds)[1::2]
    others = sums_between(np.where(relevant, 0.0, weight), bounds)
    above_hits, passed = np.append(0.0, running_sums(hits)), running_sums(others)
    above = above_hits[:-1] + passed[:-1:2]
    return score[order][first], above, hits + others[1::2], hits, float(above_hits[-1] + passed[-1]), others
