"""The measures of test_measures.py counted another way: by a sort of each row, and sums in numpy.

Levels have the shape (queries, items, subtopics), scores (queries, items). Tied items count by their mean over all
orders.
"""

from functools import cache
from math import comb

import data
import numpy as np

TOP = 4  # the highest level


def by_rank(scores, *first):
    """(the order of each row, where the tie group of each rank begins, where it ends); `first` decides among ties."""
    order = np.lexsort((*first, -scores), axis=1) if first else np.argsort(-scores, axis=1, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=1)
    apart = np.ones(scores.shape, bool)
    apart[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
    starts = np.flatnonzero(apart)
    sizes = np.diff(np.append(starts, scores.size))
    begin = np.repeat(starts, sizes).reshape(scores.shape) - np.arange(len(scores))[:, None] * scores.shape[1]
    return order, begin, begin + np.repeat(sizes, sizes).reshape(scores.shape)


def mean_gains(gains, scores):
    """The mean gain at each rank."""
    order, begin, end = by_rank(scores)
    sums = np.pad(np.cumsum(np.take_along_axis(gains, order, axis=1), axis=1, dtype=float), ((0, 0), (1, 0)))
    return (np.take_along_axis(sums, end, axis=1) - np.take_along_axis(sums, begin, axis=1)) / (end - begin)


def worth(k):
    return 1 / np.log2(np.arange(2, k + 2))


def ap(levels, scores):
    return data.mean_answer(list(zip((levels > 0).any(axis=2), scores, strict=True)), "expected")


def ndcg(levels, scores):
    best = levels.max(axis=2).astype(float)
    discount = worth(scores.shape[1])
    return np.mean((mean_gains(best, scores) @ discount) / (-np.sort(-best, axis=1) @ discount))


def sdcg(levels, scores, k):
    found = mean_gains(levels.max(axis=2) / TOP, scores)[:, :k]
    return np.mean(found @ worth(found.shape[1]) / worth(k).sum())


def bpm(levels, scores, k):
    """For the order of the input. The sums of quarters are exact."""
    gains = np.take_along_axis(levels.max(axis=2) / TOP, by_rank(scores)[0], axis=1)[:, :k].cumsum(axis=1)
    last = np.minimum((gains < 1).sum(axis=1), k - 1)
    return np.mean(gains[np.arange(len(gains)), last] / (last + 1))


def nerr8(levels, scores, k):
    """For the best order of tied items."""
    gains = levels.max(axis=2) / TOP
    gains = np.take_along_axis(gains, by_rank(scores, -gains)[0], axis=1)[:, :k]
    looks = np.pad(np.cumprod(1 - gains, axis=1)[:, :-1], ((0, 0), (1, 0)), constant_values=1)
    return np.mean((looks * gains).sum(axis=1) / looks.sum(axis=1))


def p_ia(levels, scores, k):
    return np.mean(mean_gains((levels > 0).mean(axis=2), scores)[:, :k].sum(axis=1) / k)


def strec(levels, scores, k):
    """A subtopic is missed with chance C(n - r, m) / C(n, m): m places for n tied items, r of them relevant to it."""
    order, begin, end = by_rank(scores)
    start, stop = begin[:, k - 1], end[:, k - 1]
    found = []
    for q, flags in enumerate(levels > 0):
        flags = flags[order[q, : stop[q]]]
        n, m, relevant = int(stop[q] - start[q]), int(k - start[q]), flags[start[q] :].sum(axis=0).tolist()
        missed = np.array([comb(n - r, m) / comb(n, m) for r in relevant])
        found.append(np.mean(1 - np.where(flags[: start[q]].any(axis=0), 0.0, missed)))
    return np.mean(found)


@cache
def shares(n, r):
    """The chance of a relevant item, times the mean of 2**-(relevant items above), for each place among n tied items.

    r of the items are relevant.
    """
    above = [[comb(r - 1, x) * comb(n - r, i - x) / comb(n - 1, i) for x in range(min(r, i + 1))] for i in range(n)]
    return np.array([r / n * sum(chance / 2**x for x, chance in enumerate(chances)) for chances in above])


def alpha_ndcg(levels, scores, k=None):
    """Every subtopic has relevant items. Equal gains have equal bits: they are sums of powers of 2."""
    flags, discount = levels > 0, worth(scores.shape[1])
    discount[k or scores.shape[1] :] = 0
    order, begin, end = by_rank(scores)
    gained = np.zeros(len(levels))
    ranked = np.take_along_axis(flags, order[..., None], axis=1)
    query, topic, rank = np.nonzero(ranked.transpose(0, 2, 1))
    group = np.stack([query, topic, begin[query, rank]])
    first = np.flatnonzero(np.append(True, (group[:, 1:] != group[:, :-1]).any(axis=0)))
    of, last, seen = end[query, rank], (-1, -1), 0
    for i, r in zip(first.tolist(), np.diff(np.append(first, rank.size)).tolist(), strict=True):
        seen = seen if (query[i], topic[i]) == last else 0
        start, stop, last = int(group[2, i]), int(of[i]), (query[i], topic[i])
        gained[query[i]] += shares(stop - start, r) @ discount[start:stop] / 2**seen
        seen += r
    return np.mean(gained / ideal(flags, discount))


def ideal(flags, discount):
    """The discounted gain of the greedy order."""
    some = flags.any(axis=2)
    most = int(some.sum(axis=1).max())
    place = np.argsort(~some, axis=1, kind="stable")[:, :most]
    sets = np.take_along_axis(flags, place[..., None], axis=1).astype(float)
    hits, total, rows = np.zeros((len(flags), flags.shape[2])), np.zeros(len(flags)), np.arange(len(flags))
    for rank in range(most):
        gains = (sets * 0.5 ** hits[:, None]).sum(axis=2)
        best = gains.argmax(axis=1)
        total += gains[rows, best] * discount[rank]
        hits += sets[rows, best]
        sets[rows, best] = 0
    return total


def rbo(x, y, p):
    """Extrapolated, of two rankings of one length without ties (Webber, Moffat & Zobel 2010, equation 32)."""
    seen, other, common, total = set(), set(), 0, 0.0
    for depth, (one, two) in enumerate(zip(x, y, strict=True), 1):
        seen.add(one)
        other.add(two)
        common += (one in other) + (two in seen) - (one == two)
        total += common / depth * p**depth
    return total * (1 - p) / p + common / len(x) * p ** len(x)


def fulfilled(levels, scores):
    """The share of the pairs of documents of two levels that are in the right order; scores are distinct."""
    ranked = np.take_along_axis(levels, np.argsort(-scores, axis=1), axis=1)
    met = np.array([sum(int((row[i + 1 :] < row[i]).sum()) for i in range(len(row))) for row in ranked])
    counts = [np.bincount(row) for row in ranked]
    pairs = np.array([(row.size**2 - int((count**2).sum())) // 2 for row, count in zip(ranked, counts, strict=True)])
    return np.mean(met / pairs)
