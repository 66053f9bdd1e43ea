"""Arrays by every argument, masked and of odd types; differences of any size between systems."""

import warnings
from fractions import Fraction
from math import inf, isnan, nan

import numpy as np
from register import HITS

import hitcurve as hc

from .draws import dressed

Y, S = [1, 0, 1, 0, 1, 0], [0.5, 2.0, 1.0, 0.5, 3.0, 1.5]
RANKS, SHARES, SCALES, LOW = [1, 2, 4], [0.25, 0.5, 1.0], [0.5, 20.0, 80.0], [0.125, 0.25, 0.5]
QRELS = {"query_id": ["q", "q", "q"], "doc_id": ["a", "b", "c"], "relevance": [1, 0, 2]}
RUN = {"query_id": ["q", "q", "q"], "doc_id": ["a", "b", "c"], "score": [0.5, 2.0, 1.0]}


def one():
    return hc.HitCurve(Y, S)


def two():
    return hc.HitCurves(Y, S, offsets=[0, 3, 6])


def compared(*arguments, **options):
    found = hc.compare(*arguments, n_resamples=9, rng=1, **options)
    return [*found.systems, *((row.difference, row.low, row.high, row.p_value) for row in found.rows)]


def counted(*, thresholds=(0.5, 1.0, 3.0), label=Y, score=S, edges=None):
    counter = hc.HitCounter(thresholds) if edges is None else hc.HitCounter(edges=edges)
    counter.update(label, score)
    return counter.curve()


def scanned(source, **options):
    return hc.scan(source, progress=False, **options)


def at_cutoffs():
    """Methods with an array of cutoffs, parameters or rates, for one ranking and for many."""
    for row in HITS:
        for keyword in row.cutoffs:
            yield row.method, keyword, RANKS if keyword == "k" else SHARES
        if row.parameter[0]:
            yield row.method, row.parameter[0], LOW if row.parameter[0] in ("min_fpr", "recall") else SCALES


# What it is: the values, and a call that takes them.
NUMBERS = {
    "y_true": (Y, lambda a: hc.HitCurve(a, S)),
    "y_score": (S, lambda a: hc.HitCurve(Y, a)),
    "y_true of AP": (Y, lambda a: hc.average_precision(a, S)),
    "y_score of AP": (S, lambda a: hc.average_precision(Y, a)),
    "y_score of MAP": (S, lambda a: hc.mean_average_precision(Y, a, offsets=[0, 3, 6])),
    "sample_weight": ([1.0, 2.0, 0.5, 1.0, 1.0, 2.0], lambda a: hc.HitCurve(Y, S, sample_weight=a)),
    "sample_weight of AP": ([1.0, 2.0, 0.5, 1.0, 1.0, 2.0],
                            lambda a: hc.average_precision(Y, S, sample_weight=a, ties="threshold")),
    "offsets": ([0, 3, 6], lambda a: hc.HitCurves(Y, S, offsets=a)),
    "offsets of MAP": ([0, 2, 6], lambda a: hc.mean_average_precision(Y, S, offsets=a)),
    "num_relevant": ([3, 4], lambda a: hc.HitCurves(Y, S, offsets=[0, 3, 6], num_relevant=a)),
    "num_relevant of MAP": ([3, 4], lambda a: hc.mean_average_precision(Y, S, qid=[1, 1, 1, 2, 2, 2], num_relevant=a)),
    "threshold": ([0.5, 1.0], lambda a: hc.at_threshold(Y, S, a)),
    "thresholds": ([0.5, 1.0, 3.0], lambda a: counted(thresholds=a)),
    "edges": ([0.0, 1.0, 2.0], lambda a: counted(edges=a)),
    "y_true of update": (Y, lambda a: counted(label=a)),
    "y_score of update": (S, lambda a: counted(score=a)),
    "y_score of at_threshold": (S, lambda a: hc.at_threshold(Y, a, 1.0)),
    "hits of from_ranked": (Y, hc.HitCurve.from_ranked),
    "ranks": (RANKS, lambda a: hc.HitCurve.from_ranks(a, num_items=9)),
    "score of from_table": ([2, 1], lambda a: hc.HitCurve.from_table(a, [0, 2], [1, 3], [1, 2], num_items=9)),
    "above": ([0, 2], lambda a: hc.HitCurve.from_table(None, a, [1, 3], [1, 2], num_items=9)),
    "tied": ([1, 3], lambda a: hc.HitCurve.from_table(None, [0, 2], a, [1, 2], num_items=9)),
    "hits": ([1, 2], lambda a: hc.HitCurve.from_table(None, [0, 2], [1, 3], a, num_items=9)),
    "y_true of scan": (Y, lambda a: scanned((a, S))),
    "y_score of scan": (S, lambda a: scanned((Y, a))),
    "y_score of batches": (S, lambda a: scanned(lambda: iter([(Y, a)]))),
    "actives": ([0.5, 1.0, 3.0], lambda a: scanned((Y, S), actives=a)),
    "values of compare": ([0.5, 0.25, 1.0, 0.125], lambda a: compared({"A": a, "B": [0.5, 0.5, 0.25, 0.0]})),
    "labels of compare": (Y, lambda a: compared(a, {"A": S, "B": S[::-1]})),
    "scores of compare": (S, lambda a: compared(Y, {"A": a, "B": S[::-1]})),
    "relevance": ([1, 0, 2], lambda a: hc.evaluate(QRELS | {"relevance": a}, RUN).values),
    "score of a run": ([0.5, 2.0, 1.0], lambda a: hc.evaluate(QRELS, RUN | {"score": a}).values),
}  # fmt: skip
for method, keyword, numbers in at_cutoffs():
    NUMBERS[f"{keyword} of {method}"] = (
        numbers,
        lambda a, method=method, keyword=keyword: getattr(one(), method)(**{keyword: a}),
    )
    NUMBERS[f"{keyword} of {method} of many"] = (
        numbers[:2],
        lambda a, method=method, keyword=keyword: getattr(two(), method)(**{keyword: a}),
    )
KEYS = {
    "qid": ([1, 1, 2, 1, 2, 2], lambda a: hc.HitCurves(Y, S, qid=a)),
    "qid of MAP": ([1, 1, 2, 1, 2, 2], lambda a: hc.mean_average_precision(Y, S, qid=a)),
    "tiebreak": ([3, 1, 2, 4, 1, 0], lambda a: hc.HitCurve(Y, S, tiebreak=a)),
    "groups of compare": ([1, 1, 2, 1, 2, 2], lambda a: compared(Y, {"A": S, "B": S[::-1]}, groups=a)),
    "groups of scan": ([1, 1, 1, 2, 2, 2], lambda a: scanned((Y, S, a))),
    "query_id": ([1, 1, 1], lambda a: hc.evaluate(QRELS | {"query_id": a}, RUN | {"query_id": [1, 1, 1]}).values),
    "doc_id": ([1, 2, 3], lambda a: hc.evaluate(QRELS | {"doc_id": a}, RUN | {"doc_id": [1, 2, 3]}).values),
}
ENDLESS = ("score", "threshold", "edges", "actives")  # infinities are ordinary scores
WHOLE = ("i1", "i4", "i8", "u1", "u8")
BY_NAME = ("relevance", "score of a run", "query_id", "doc_id")  # columns: their errors name a row


def alike(one, other):
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=True)
    if isinstance(one, dict):
        return all(alike(one[name], other[name]) for name in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(alike(a, b) for a, b in zip(one, other, strict=True))
    return one == other or (isinstance(one, float) and isnan(one) and isnan(other))


def array_arguments(draw):
    """An array by some argument: masked entries are refused, odd types are, and every dress gives the same."""
    name = draw.pick(list(NUMBERS)) if draw.whole(0, 9) else draw.pick(list(KEYS))
    values, call = (NUMBERS | KEYS)[name]
    array = np.array(values)
    expected = call(values)
    how = draw.whole(0, 3)
    if how == 0:
        mask = [draw.chance(2) for _ in values]
        mask[draw.whole(0, len(values) - 1)] = True
        must_refuse(name, call, np.ma.masked_array(array, mask), "" if name in BY_NAME else "masked")
    elif how == 1 and name in NUMBERS:
        odd = draw.pick([
            array.astype(complex), array.astype(complex) + 1j, array.astype("M8[s]"), array.astype("m8[s]"),
            array.astype(str), array.astype("S"), np.array([(value,) for value in values], [("x", "f8")]),
            np.array([*values[:-1], None]), np.array([*values[:-1], "x"], object), array.astype("M8[D]"),
            np.array([*values[:-1], 1j], object), array.astype("V8"),
        ])  # fmt: skip
        must_refuse(name, call, odd, "")
    elif how == 2 and name in NUMBERS and name != "score of from_table":
        bad = draw.pick([nan] if any(word in name for word in ENDLESS) else [nan, inf, -inf])
        must_refuse(name, call, np.array([*values[:-1], bad]), "")
    else:
        kinds = WHOLE if array.dtype.kind == "i" else (*WHOLE, "f2", "f4", "f8", "g")
        kinds = [kind for kind in kinds if (array.astype(kind) == array).all()]
        if name in KEYS or any(word in name for word in ("threshold", "edges", "actives")):
            kinds = [array.dtype]  # a type of their own says something of the scores'
        dress = dressed(draw, array.astype(draw.pick(kinds)))
        try:
            got = call(dress)
        except (TypeError, ValueError) as error:
            raise AssertionError(f"{name} is refused as {dress!r}: {error!r}") from error
        if not alike(got, expected):
            raise AssertionError(f"{name} as {dress!r} gives {got!r}, not {expected!r}")


def must_refuse(name, call, array, word):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            got = call(array)
        except (TypeError, ValueError) as error:
            if word not in str(error):
                raise AssertionError(f"{name} as {array!r}: {error} does not say {word!r}") from error
            return
        except OverflowError as error:
            raise AssertionError(f"{name} as {array!r}: a raw {error!r}") from error
    raise AssertionError(f"{name} as {array!r} is taken: {got!r}")


# --- systems compared ---------------------------------------------------------------------------------------


def exact_p(differences):
    """The share of all ways to turn the signs whose sum is as large as the one observed."""
    counts = {Fraction(0): 1}
    for one in differences:
        turned = {}
        for total, times in counts.items():
            for sign in (one, -one):
                turned[total + sign] = turned.get(total + sign, 0) + times
        counts = turned
    observed = abs(sum(differences))
    reached = sum(times for total, times in counts.items() if abs(total) >= observed)
    return Fraction(reached, 2 ** len(differences))


def differences(draw):
    """Systems compared in values of any size: the exact p, no overflow; infinities and NaN named."""
    n = draw.whole(2, 8)
    scale = 2.0 ** draw.pick([0, -3, 40, 900, 1018, -1000, -500])
    values = {name: [draw.whole(-9, 9) * scale for _ in range(n)] for name in ("A", "B")}
    if draw.chance(3):
        name, place, bad = draw.pick(["A", "B"]), draw.whole(0, n - 1), draw.pick([inf, -inf, nan])
        values[name][place] = bad
        if draw.chance(3):
            values[name] = [bad] * n
        try:
            found = hc.compare({key: np.array(one) for key, one in values.items()}, n_resamples=9, rng=1)
        except ValueError as error:
            if repr(name) not in str(error):
                raise AssertionError(f"{values}: {error} does not name {name!r}") from error
            return
        raise AssertionError(f"{values} are compared: {found.rows}")
    grid = draw.whole(0, 3)  # of differences that are exact
    if not grid:
        values = {name: [draw.pick([1e308, -1e308, 1.7e308, 5e-324, 0.0]) for _ in range(n)] for name in values}
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        try:
            found = hc.compare(values, n_resamples=9, rng=1)
        except ArithmeticError as error:
            raise AssertionError(f"{values}: {error!r}") from error
    row = found.rows[0]
    exact = [Fraction(b) - Fraction(a) for a, b in zip(*values.values(), strict=True)]
    least = Fraction(1, 2 ** (len([one for one in exact if one]) - 1)) if any(exact) else 1
    if not least <= row.p_value <= 1 or (row.p_t is not None and not (isnan(row.p_t) or 0 <= row.p_t <= 1)):
        raise AssertionError(f"p = {row.p_value}, at least {least}, p_t = {row.p_t}: {values}")
    if grid and row.p_value != exact_p([one for one in exact if one]):
        raise AssertionError(f"p = {row.p_value}, not {float(exact_p(exact))}: {values}")
    largest = max(abs(one) for one in exact)
    if largest < 2**1023 and abs(Fraction(row.difference) * n - sum(exact)) > largest / 10**12 + Fraction(n, 2**1074):
        raise AssertionError(f"difference {row.difference}, not {float(sum(exact) / n)}: {values}")
