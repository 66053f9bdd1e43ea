"""Rankings of items with levels: against all orders of tied items, and each way in against the others."""

import inspect
import pickle
from itertools import chain, permutations, product
from math import fsum, inf, isnan, log, nan

import numpy as np

import hitcurve as hc

from .draws import LABELS, SCORES, close, dressed, same

READ = {"expected": lambda values: fsum(values) / len(values), "best": max, "worst": min}
NAMES = ("nDCG", "nDCG@3", "nDCG(dcg=exp-log2)", "nDCG(gains={1:5,2:1})@2", "ERR", "ERR(max=7)@2", "RBP",
         "RBP(p=0.3)@2", "AP", "AP(rel=2)@3", "P(rel=2)@2", "RR", "R@2", "Rprec")  # fmt: skip
DRAWN = ("interval", "plot", "resample", "p_value")  # what draws, or makes a picture
OPTIONS = {  # of measures, by the name of the argument
    "k": [None, 1, 2, 5, [1, 3], [[2], [2**40]]],
    "gain": ["linear", "exponential", {1: 3, 2: 1, 3: 1}, [0.5, 1, 4, 4]],
    "discount": ["log2", ("log", 2), ("log", 2.5), [1, 0.5, 0.5, 0.25]], "ideal_k": ["same", "all"],
    "max_level": [None, 3, 9.5], "p": [0.8, 0.25, 0.99],
}  # fmt: skip


# --- the twin -----------------------------------------------------------------------------------------------


def worth(gain, level):
    if isinstance(gain, str):
        return level if gain == "linear" else 2.0**level - 1
    return gain.get(level, 0) if isinstance(gain, dict) else gain[level]


def fall(discount, rank):
    if isinstance(discount, str):
        return log(2) / log(rank + 1)
    if isinstance(discount, tuple):
        return log(discount[1]) / log(rank) if rank >= discount[1] else 1
    return discount[rank - 1] if rank <= len(discount) else 0


def dcg(order, k, gain, discount):
    return fsum(worth(gain, level) * fall(discount, rank) for rank, level in enumerate(order[:k], 1))


def err(order, k, top):
    reached, found = 1.0, []
    for rank, level in enumerate(order[:k], 1):
        stop = (2.0**level - 1) / 2.0**top
        found.append(reached * stop / rank)
        reached *= 1 - stop
    return fsum(found)


def rbp(order, k, p, most):
    return (1 - p) * fsum(level * p**rank for rank, level in enumerate(order[:k])) / max(1, most)


def orders(levels, scores, lower):
    groups = [[level for level, score in zip(levels, scores, strict=True) if score == one]
              for one in sorted(set(scores), reverse=not lower)]  # fmt: skip
    return [list(chain.from_iterable(each)) for each in product(*map(permutations, groups))]


# --- the ways in --------------------------------------------------------------------------------------------


def items(draw, most):
    """Levels and scores, of few kinds."""
    n, scores = draw.whole(0, most), draw.pick(SCORES)
    kind = draw.pick([one for one in LABELS if one != "?"])
    return (np.array([draw.whole(0, 3) * draw.whole(0, 1) for _ in range(n)], dtype=kind),
            np.array([draw.whole(0, 3) for _ in range(n)], dtype=float).astype(scores))  # fmt: skip


def ways_in(draw, levels, scores, missing, **options):
    """Calls that make the same curve: of one query, or with it as the last of several."""
    n, y, s = len(levels), dressed(draw, levels), dressed(draw, scores)
    padding = draw.whole(0, 3)
    rows = [np.concatenate([np.zeros(padding, one.dtype), one])[None] for one in (levels, scores)]
    mask = np.arange(n + padding)[None] >= padding
    rows[0][~mask] = draw.pick([0, 9])
    other, (first, last) = draw.whole(0, 2), draw.pick([(3, 7), (-1, 2**40), ("a", "z")])
    order = np.array(sorted(range(n + other), key=lambda _: draw.whole(0, 9)), dtype=int)
    order[np.argsort(order >= other, kind="stable")] = np.arange(n + other)  # the items of each query in their order
    mixed = [np.concatenate([np.ones(other, one.dtype), one])[order] for one in (levels, scores)]
    qid = np.array([first] * other + [last] * n, dtype=None if n + other else "i8")[order]
    lists = [missing] if other == 0 else [[], missing]
    several = {**options, "unretrieved": [missing]}
    ways = {
        "GainCurve": lambda: hc.GainCurve(y, s, unretrieved=missing, **options),
        "offsets": lambda: hc.GainCurves(y, s, offsets=[0, n], **several)[0],
    }
    if n:
        ways["qid"] = lambda: hc.GainCurves(*mixed, qid=qid, **{**options, "unretrieved": lists})[-1]
    if "tiebreak" not in options:
        ways["mask"] = lambda: hc.GainCurves(*rows, mask=mask, **several)[0]
        if n:  # without items there is no column either
            ways["2-D"] = lambda: hc.GainCurves(levels[None], scores[None], **several)[0]
            columns = np.stack([scores, scores[::-1]], axis=1)
            ways["columns"] = lambda: hc.GainCurves(y, columns, **{**options, "unretrieved": [missing, []]})[0]
    return ways


def outcome(call, *args, **keywords):
    """What a call gives, or what its error says."""
    try:
        return call(*args, **keywords)
    except (ValueError, TypeError, MemoryError) as error:
        return f"{type(error).__name__}: {error}"


def of_one(text):
    """The error of the second of two queries as that of a single ranking."""
    return text.replace("[1] is", " is").replace("that ranking", "the ranking")


def alike(one, other, what):
    """The same to the last bit; NaN is NaN."""
    if isinstance(one, tuple | list) and isinstance(other, tuple | list) and len(one) == len(other):
        for mine, theirs in zip(one, other, strict=True):
            alike(mine, theirs, what)
    elif isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        a, b = np.asarray(one), np.asarray(other)
        if not np.array_equal(a, b, equal_nan=a.dtype.kind == b.dtype.kind == "f"):
            raise AssertionError(f"{what}: {one}, not {other}")
    elif one != other and not (isinstance(one, float) and isinstance(other, float) and isnan(one) and isnan(other)):
        raise AssertionError(f"{what}: {one!r}, not {other!r}")


def measures_of(curve):
    """The methods that need no argument, and the arguments they take; a new one is among them."""
    for name in dir(type(curve)):
        method = getattr(type(curve), name)
        if name.startswith(("_", "from_", *DRAWN)) or not callable(method):
            continue
        taken = list(inspect.signature(method).parameters.values())[1:]
        if all(one.default is not one.empty for one in taken):
            yield name, [one.name for one in taken]


def gain_curves(draw):
    """Small rankings of levels, by every way in, against all orders of their tied items."""
    levels, scores = items(draw, 6)
    n, missing = len(levels), [draw.whole(1, 3) for _ in range(draw.pick([0, 0, 1, 2]))]
    options = {"lower_is_better": draw.chance(2), "workers": draw.pick([1, 1, 1, 2])}
    ways = ways_in(draw, levels, scores, missing, **options)
    curve = ways.pop("GainCurve")()
    for name, way in ways.items():
        if way() != curve:
            raise AssertionError(f"by {name}")
    again = hc.GainCurve.from_table(
        curve.score, curve.above, curve.tied, curve.level_offsets, curve.level, curve.level_count,
        num_items=curve.num_items, unretrieved=curve.unretrieved, lower_is_better=curve.lower_is_better,
    )  # fmt: skip
    if not curve == again == pickle.loads(pickle.dumps(curve)):
        raise AssertionError("table or pickle")
    level = draw.pick([1, 2, 3, 2.5])
    relevant = int((levels >= level).sum()) + sum(one >= level for one in missing)
    if curve.at_level(level) != hc.HitCurve(levels, scores, relevance_level=level, num_relevant=relevant, **options):
        raise AssertionError(f"at_level({level})")
    whole = [int(one) for one in levels]
    every = orders(whole, [float(one) for one in scores], options["lower_is_better"])
    k, gain, discount = (draw.pick(OPTIONS[name][:4]) for name in ("k", "gain", "discount"))
    p, top = draw.pick(OPTIONS["p"]), draw.pick([3, 4, 9.5])
    most, any_level = max([*whole, *missing], default=0), any(whole) or bool(missing)
    for ties, read in READ.items():
        found = curve.dcg(k, gain=gain, discount=discount, ties=ties)
        wanted = read([dcg(order, k, gain, discount) for order in every])
        close(found, wanted, f"dcg of {whole}, {ties}", 1e-12)
        for ideal_k in ("same", "all"):
            falling = sorted(whole + missing, key=lambda one: -worth(gain, one))
            ideal = dcg(falling, k if ideal_k == "same" else None, gain, discount)
            said = {"gain": gain, "discount": discount, "ties": ties, "ideal_k": ideal_k}
            found = curve.ndcg(k, **said)
            close(found, wanted / ideal if ideal else nan, f"ndcg of {whole}, {ties}", 1e-12)
            if "tiebreak" not in options:
                y, s = dressed(draw, levels), dressed(draw, scores)
                build = {"unretrieved": missing or None, **options}
                same(hc.ndcg(y, s, k=k, **said, **build), found, "in one line")
                build["unretrieved"] = [missing] if missing else None
                same(hc.mean_ndcg(y, s, offsets=[0, n], k=k, **said, **build), found, "mean in one line")
        close(curve.err(k, max_level=top, ties=ties), read([err(order, k, top) for order in every]), "err", 1e-12)
        value = read([rbp(order, k, p, most) for order in every]) if any_level else 0.0
        close(curve.rbp(k, p=p, ties=ties), value, "rbp", 1e-12)


def gain_measures(draw):
    """Every measure of gain curves, whatever its options: the same, or the same error, by every way in."""
    levels, scores = items(draw, draw.pick([7, 60]))
    missing = [draw.whole(1, 3) for _ in range(draw.pick([0, 0, 1, 2]))]
    options = {"lower_is_better": draw.chance(2)}
    if draw.chance(4):
        options["tiebreak"] = draw.pick(["order", [draw.whole(-1, 1) for _ in levels]])
    ways = ways_in(draw, levels, scores, missing, **options)
    curve = ways.pop("GainCurve")()
    if "tiebreak" in options and not isinstance(options["tiebreak"], str):
        ways.pop("qid", None)  # where the keys are those of other items
    others = {name: way() for name, way in ways.items()}
    alone = hc.GainCurves(levels, scores, offsets=[0, 0, len(levels)], unretrieved=[[], missing], **options)
    for name, taken in measures_of(curve):
        said = {one: draw.pick(OPTIONS[one]) for one in taken if one in OPTIONS and draw.chance(2)}
        read = {}
        for ties in READ if "ties" in taken else (None,):
            keywords = said if ties is None else {**said, "ties": ties}
            value = read[ties] = outcome(getattr(curve, name), **keywords)
            for way, other in others.items():
                alike(outcome(getattr(other, name), **keywords), value, f"{name}({keywords}) by {way}")
            many = outcome(getattr(alone, name), **keywords) if hasattr(alone, name) else None
            if isinstance(many, np.ndarray) and many.shape[:1] == (2,):
                alike(many[1], value, f"{name}({keywords}) of many")
            elif isinstance(many, str):
                alike(of_one(many), value, f"{name}({keywords}) of many")
        bounds = [np.asarray(read.get(ties, ""), dtype=object) for ties in READ]
        if all(one.size and isinstance(one.flat[0], float) for one in bounds):
            middle, *ends = (one.astype(float) for one in bounds)
            slack = 1e-12 * (1 + np.abs(middle))
            if ((middle < np.minimum(*ends) - slack) | (middle > np.maximum(*ends) + slack)).any():
                raise AssertionError(f"{name}({said}): {middle} lies not between {ends}")
    name, ties = draw.pick(NAMES), draw.pick(list(READ))
    value = outcome(curve.measure, name, ties=ties)
    for way, other in others.items():
        alike(outcome(other.measure, name, ties=ties), value, f"{name} by {way}")


def bad_gains(draw):
    """Levels and scores with one that is none: every way in refuses it and names its place."""
    levels, scores = items(draw, 9)
    if not len(levels):
        return
    at, name = draw.whole(0, len(levels) - 1), draw.pick(["y_true", "y_score"])
    options = {"lower_is_better": draw.chance(2)}
    if name == "y_true":
        levels = levels.astype(draw.pick(["f4", "f8", "i8"]))
        levels[at] = -1 if levels.dtype.kind == "i" else draw.pick([-1, nan, inf, -0.5])
    else:
        scores = scores.astype(draw.pick(["f4", "f8", "g"]))
        scores[at] = nan
    for way, call in ways_in(draw, levels, scores, [], **options).items():
        found = outcome(call)
        places = {"mask": "[0, ", "2-D": "[0, ", "columns": f"[{at}" if name == "y_true" else f"[{at}, 0"}
        if way != "qid" and not (isinstance(found, str) and f": {name}{places.get(way, f'[{at}]')}" in found):
            raise AssertionError(f"by {way}: {found}")
        if not isinstance(found, str):
            raise AssertionError(f"by {way}: {found} of what is wrong")


SHARES = {gain_curves: 4, gain_measures: 4, bad_gains: 1}
