"""Inputs with fixed seeds, and the answers counted another way."""

from itertools import pairwise

import numpy as np

KINDS = (
    "normal",
    "normal + 10",
    "uniform",
    "logistic",
    "energies",
    "ascending",
    "descending",
    "all equal",
    "few distinct",
    "heavy tails",
    "heavy tails x 1e150",
    "clustered",
    "subnormal",
    "two scales",
)
SPREAD = ("normal", "normal + 10", "logistic", "energies")  # relevant items score higher by 1


def scores(kind, n, dtype, rng):
    """Scores that know nothing of labels."""
    dtype = np.dtype(dtype)
    if kind.startswith("normal"):
        values = rng.standard_normal(n, dtype=np.float32 if dtype == np.float32 else np.float64)
        return values + dtype.type(10) if kind == "normal + 10" else values
    if kind == "logistic":
        return rng.logistic(size=n).astype(dtype)
    if kind == "energies":  # of docking, which come with one decimal place
        return (rng.normal(-7, 1.5, n).round(1)).astype(dtype)
    if kind == "all equal":
        return np.full(n, 0.5, dtype)
    if kind == "few distinct":
        return rng.integers(0, 100, n).astype(dtype)
    if kind.startswith("heavy tails"):
        return (rng.standard_cauchy(n) * (1e150 if "1e150" in kind else 1.0)).astype(dtype)
    if kind == "subnormal":
        tiny = np.finfo(dtype).smallest_subnormal
        return rng.integers(1, 2 ** np.finfo(dtype).nmant, n).astype(dtype) * tiny
    values = rng.random(n, dtype=np.float32 if dtype == np.float32 else np.float64).astype(dtype, copy=False)
    if kind in ("ascending", "descending"):
        values.sort()
        return values if kind == "ascending" else values[::-1].copy()
    if kind == "two scales":
        values *= np.where(rng.random(n) < 0.5, 1e-12, 1e12).astype(dtype)
    return values


def one_ranking(kind, n, relevant, dtype="f8", seed=2004):
    """Labels (int8) and scores of one ranking with `relevant` relevant items."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    s = scores(kind, n, dtype, rng)
    y = np.zeros(n, np.int8)
    if kind == "clustered":  # neighbours in the ranking
        y[np.argsort(s)[n // 3 : n // 3 + relevant]] = 1
    else:
        y[rng.choice(n, relevant, replace=False, shuffle=False)] = 1
    if kind in SPREAD:
        s[y > 0] += s.dtype.type(1)
    return y, s


def rows(queries, items, relevant, dtype="f4", kind="normal", seed=2004):
    """2-D: a row is a query. No two scores of a query are equal, so that every tool means the same by its AP."""
    rng = np.random.default_rng(seed)
    y = np.zeros((queries, items), np.int8)
    y[:, :relevant] = 1
    y = rng.permuted(y, axis=1)
    s = scores(kind, queries * items, "f8", rng).reshape(queries, items) + (y if kind in SPREAD else 0)
    order = np.argsort(s, axis=1)
    apart = np.take_along_axis(s, order, axis=1) + 1e-5 * np.arange(items)
    np.put_along_axis(s, order, apart, axis=1)
    return y, s.astype(dtype)


def ragged(queries, longest, share, seed=2004):
    """Queries of 1 to `longest` items laid end to end: labels, scores, offsets."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, longest + 1, queries))])
    y = (rng.random(int(offsets[-1])) < share).astype(np.int8)
    return y, rng.standard_normal(y.size) + y, offsets


def unsorted_queries(n, queries, share, seed=2004):
    """Items of many queries in no order: labels, scores, query ids."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(np.int8)
    return y, rng.standard_normal(n) + y, rng.integers(0, queries, n)


def topics(queries, items, judged, ties=True, seed=2004):
    """2-D, with five subtopics: levels (`judged` items of each subtopic have 1 to 4), and signed scores.

    With `ties` the scores have two decimals. Without, no two scores of a query are equal.
    """
    rng = np.random.default_rng(seed)
    levels = np.zeros((queries, items, 5), np.uint8)
    for topic in range(5):
        place = np.argpartition(rng.random((queries, items), np.float32), judged, axis=1)[:, :judged]
        np.put_along_axis(levels[..., topic], place, rng.integers(1, 5, place.shape, np.uint8), axis=1)
    s = rng.permuted(np.tile(np.linspace(-3, 3, items), (queries, 1)), axis=1) + 7e-4 * (levels > 0).sum(axis=2)
    if ties:
        s = (rng.standard_normal((queries, items)) + (levels > 0).any(axis=2)).round(2)
    return levels, s.astype(np.float32)


def split(y, s, offsets):
    """(labels, scores) of each query."""
    return [(y[a:b], s[a:b]) for a, b in pairwise(offsets)]


def split_by_id(y, s, qid):
    order = np.argsort(qid, kind="stable")
    offsets = [0, *(np.flatnonzero(np.diff(qid[order])) + 1).tolist(), len(qid)]
    return split(y[order], s[order], offsets)


def answer(y, s, reading):
    """AP by one sort and plain sums: "expected" and "threshold" as defined, "order" with the input order for ties."""
    relevant = int(np.sum(y, dtype=np.int64))
    if relevant == 0:
        return np.nan
    order = np.argsort(-s, kind="stable")
    flags = y[order].astype(np.int64)
    ranks = np.arange(1, len(flags) + 1)
    if reading == "order":
        places = ranks[flags == 1]
        return float(np.sum(np.arange(1, relevant + 1) / places) / relevant)
    ranked = s[order]
    starts = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))
    n = np.diff(np.append(starts, len(flags)))
    r = np.add.reduceat(flags, starts)
    before = np.cumsum(r) - r
    if reading == "threshold":
        return float(np.sum(r * ((before + r) / (starts + n))) / relevant)
    beyond = np.where(n > 1, (r - 1) / np.maximum(n - 1, 1), 0.0)  # chance that another tied item is relevant
    place = ranks - 1 - np.repeat(starts, n)
    hits = np.repeat(before, n) + 1 + place * np.repeat(beyond, n)
    return float(np.sum(np.repeat(r / n, n) * hits / ranks) / relevant)


def mean_answer(rankings, reading):
    """Mean AP of (labels, scores) pairs, those without a relevant item left out."""
    values = np.array([answer(y, s, reading) for y, s in rankings])
    return float(np.mean(values[~np.isnan(values)]))
