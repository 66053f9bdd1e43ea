"""Tables of rankings that counting cannot make: ties resolved by a second key, or items with weights.

Both need the items in order, so these are sorted: O(N log N) time, some arrays of N numbers.
"""
from __future__ import annotations

from typing import Any

import numpy as np


def ranks_of(score: Any, lower_is_better: bool) -> Any:
    """Place of each score among the distinct ones, best first, as int64; NaN after all others."""
    values, places = np.unique(score, return_inverse=True)
    if lower_is_better:
        return places.astype(np.int64)
    ranks = values.shape[0] - 1 - places
    if values.dtype.kind == "f":
        ranks[np.isnan(score)] = values.shape[0]
    return ranks.astype(np.int64)


def group_starts(*sorted_keys: Any) -> Any:
    """Where any of the sorted keys begins a new value."""
    first = np.ones(sorted_keys[0].shape[0], bool)
    if first.shape[0] > 1:
        first[1:] = np.any([key[1:] != key[:-1] for key in sorted_keys], axis=0)
    return np.flatnonzero(first)


def resolved_tables(relevant: Any, score: Any, query: Any, num_queries: int, lower_is_better: bool,
                    key: Any) -> tuple[Any, ...]:
    """Rows of rankings whose ties are resolved by a key, smaller first; None keeps the order of the items.

    Returns the query of each row, its score, above, tied and hits. Items equal in score and key stay tied.
    """
    ranks = ranks_of(score, lower_is_better)
    if key is None:
        order = np.lexsort((ranks, query))
        starts = np.arange(order.shape[0])
    else:
        order = np.lexsort((key, ranks, query))
        starts = group_starts(query[order], ranks[order], key[order])
    if starts.shape[0] == 0:
        empty = np.empty(0, np.int64)
        return empty, score[:0], empty, empty, empty
    hits = np.add.reduceat(relevant[order].astype(np.int64), starts)
    tied = np.diff(np.append(starts, order.shape[0]))
    of_query = query[order][starts]
    query_start = np.zeros(num_queries, np.int64)
    query_start[1:] = np.cumsum(np.bincount(query, minlength=num_queries))[:-1]
    above = starts - query_start[of_query]
    rows = hits > 0
    return of_query[rows], score[order][starts][rows], above[rows], tied[rows], hits[rows]


def running_sums(terms: Any) -> Any:
    """Running sums with the rounding error of each addition added back."""
    sums = np.cumsum(terms)
    before = np.append(0.0, sums)[:-1]
    added = sums - before
    return sums + np.cumsum((before - (sums - added)) + (terms - added))


def weighted_table(relevant: Any, score: Any, weight: Any, lower_is_better: bool) -> tuple[Any, ...]:
    """Rows of one ranking of weighted items: score, above, tied, hits, and the total weight.

    Equal scores are added up in the order of their weights, so the sums do not depend on the order of the items.
    """
    ranks = ranks_of(score, lower_is_better)
    order = np.lexsort((relevant, weight, ranks))
    starts = group_starts(ranks[order])
    if starts.shape[0] == 0:
        empty = np.empty(0)
        return score[:0], empty, empty, empty, 0.0
    weight, relevant = weight[order], relevant[order]
    tied = np.add.reduceat(weight, starts)
    hits = np.add.reduceat(np.where(relevant, weight, 0.0), starts)
    ends = running_sums(tied)
    above = np.append(0.0, ends[:-1])
    rows = hits > 0
    return score[order][starts][rows], above[rows], tied[rows], hits[rows], float(ends[-1])
