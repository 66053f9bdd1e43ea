"""Numbers at their ends, against exact fractions: weights of any ratio, counts beyond 2**53, levels, thresholds."""

from fractions import Fraction
from itertools import accumulate
from math import exp, inf, isnan, nan

import numpy as np
import reference as ref
import register

import hitcurve as hc
from hitcurve.measures import MEASURES, parse

from .draws import READINGS, close, dressed, refusing, same

# --- weights ------------------------------------------------------------------------------------------------

WEIGHTS = (0.1, 0.4, 1 / 3, 1.0, 2.25, 1e9, 1e16, 1e-16, 1e-30, 1e300, 1e-300, 1e308, 0.0)


def extreme_weights(draw):
    """Weights of any ratio, of one class or both: the exact number, or an error where their sum is no float."""
    n = draw.whole(1, 6)
    label = [draw.pick([0, 1]) for _ in range(n)] if draw.whole(0, 3) else [draw.whole(0, 1)] * n
    score = [float(draw.whole(0, n)) for _ in range(n)]
    few = [draw.pick(WEIGHTS) for _ in range(draw.whole(1, 3))]
    weight = [draw.pick(few) if draw.whole(0, 3) else draw.whole(1, 9) / 10 for _ in range(n)]
    lower = draw.chance(4)
    rank = ref.ranking(label, score, sample_weight=weight, lower_is_better=lower)
    build = {"sample_weight": dressed(draw, np.array(weight)), "lower_is_better": lower}
    with np.errstate(over="raise", divide="raise", invalid="raise"):  # no warning of numpy's may come through
        curve = refusing(lambda: hc.HitCurve(label, score, **build))
        if curve is None:
            if sum(map(Fraction, weight)) < 2**1024:
                raise AssertionError("weights with a finite sum are refused")
            return
        interpolation = draw.pick([None, None, "trapezoid", "continuous"])
        read = {"ties": "threshold", "interpolation": interpolation}
        many = hc.HitCurves(label, score, offsets=[0, n], **build)
        expected = ref.average_precision(rank, **read)
        for got in (curve.average_precision(**read), hc.average_precision(label, score, **build, **read),
                    float(many.average_precision(**read)[0])):  # fmt: skip
            close(got, expected, f"average_precision of weights {weight}, {interpolation}", 1e-12)
        expected = ref.roc_auc(rank, ties="threshold")
        for got in (curve.roc_auc(ties="threshold"), float(many.roc_auc(ties="threshold")[0])):
            close(got, expected, f"roc_auc of weights {weight}", 1e-12)
        points = curve.roc_curve(ties="threshold")
        for rate, there in ((points.fpr, ref.num_items(rank) > ref.num_hits(rank)), (points.tpr, ref.num_hits(rank))):
            if np.isnan(rate).any() == bool(there) or (there and not ((rate >= 0) & (rate <= 1)).all()):
                raise AssertionError(f"roc_curve: rates {rate} of weights {weight}")


# --- counts -------------------------------------------------------------------------------------------------

ROOM = 2**62


def a_count(draw, most):
    """From 1 to `most`: small, near a power of two, or any."""
    if most <= 1:
        return 1
    kind = draw.whole(0, 3)
    if kind == 0:
        return draw.whole(1, min(most, 12))
    power = draw.whole(0, most.bit_length() - 1)
    if kind == 1:
        return min(most, max(1, 2**power + draw.whole(-3, 3)))
    if kind == 2:
        return draw.whole(1, min(most, 2**power))
    return min(most, 10 ** draw.whole(0, 18) + draw.whole(0, 20))


def large_table(draw):
    """(above, tied, hits, num_items) of a ranking with up to 2**62 items."""
    above, tied, hits, end = [], [], [], 0
    dense = draw.chance(3)  # nearly all are relevant
    for _ in range(draw.whole(1, 3)):
        room = (ROOM - end) // 4
        above.append(end + (draw.whole(0, 2) if dense or draw.chance(2) else a_count(draw, room)))
        tied.append(a_count(draw, room))
        hits.append(tied[-1] - draw.whole(0, min(2, tied[-1] - 1)) if dense or draw.chance(3) else
                    a_count(draw, tied[-1]))  # fmt: skip
        end = above[-1] + tied[-1]
    return above, tied, hits, end + (draw.whole(0, 2) if dense or draw.chance(2) else a_count(draw, ROOM - end))


def extreme_counts(draw):
    """Tables of up to 2**62 items against exact integers, and logarithms of 350 digits."""
    above, tied, hits, num_items = large_table(draw)
    relevant = sum(hits) + (a_count(draw, ROOM - num_items) if draw.chance(4) and num_items < ROOM else 0)
    curve = hc.HitCurve.from_table(None, above, tied, hits, num_items=num_items, num_relevant=relevant)
    rank = ref.from_table(above, tied, hits, num_items, relevant)
    complete = relevant == sum(hits)
    ties = draw.pick(READINGS)
    where = f"{above}, {tied}, {hits} of {num_items}, R = {relevant}, ties={ties}"

    alpha = draw.pick([1e-3, 20.0, 80.5, 300.0, 700.0])

    def check(name, rel, *arguments, **keywords):
        expected = getattr(ref, name + "_by_group")(rank, *arguments, ties=ties, **keywords)
        if expected is None:
            return
        got = getattr(curve, name)(*arguments, ties=ties, **keywords)
        # What is scaled by a difference is good to the digits of what is subtracted.
        least = {"normalized_average_precision": 1.0, "bedroc": exp(-alpha)}.get(name, 1e-290)
        if not (isnan(got) and isnan(expected)) and not abs(got - expected) <= rel * max(abs(expected), least):
            raise AssertionError(f"{name}{arguments}{keywords}: {got!r}, not {float(expected)!r}: {where}")

    k = draw.pick([None, a_count(draw, num_items), max(1, above[0] + draw.whole(0, 2))])
    check("average_precision", 5e-15, k, normalize=draw.pick(["min", "relevant"]))
    levels = draw.pick(["11-point", "101-point", *(["all-point"] if relevant < 30 else [])])
    check("average_precision", 1e-14, interpolation=levels)
    k = k or 1
    check("hits_at", 1e-14, k)
    check("precision", 1e-14, k)
    check("f_score", 1e-14, k, beta=draw.pick([1.0, 0.5, 3.0]))
    check("normalized_average_precision", 1e-12)
    if complete:
        check("enrichment_factor", 1e-14, k=k)
        check("fall_out", 1e-14, k)
        check("mean_rank", 1e-14)
        check("roc_auc", 1e-14)
        check("roc_auc", 1e-14, max_fpr=draw.pick([0.01, 0.3, 1.0, 1e-9, 0.99999999, 1 - 2**-50]))
        check("auac", 1e-14)
        rates = [0.5, 0.01, 1.0, 0.9999999999999999, 1e-16, 0.3, 1 / 3, 1e-9]
        check("roc_enrichment", 1e-14, draw.pick(rates))
        check("log_auc", 1e-12, draw.pick([0.001, 0.2, 1e-9]), max_fpr=draw.pick([1.0, 0.25, 1 / 3]))
        low = draw.pick([0.001, 0.2, 1e-9, 0.9])
        check("log_auc", 1e-12, low, max_fpr=low * (1 + 10.0 ** -draw.whole(2, 15)))  # a narrow range
    if ties != "threshold":
        check("reciprocal_rank", 1e-14)
        if complete:
            check("rie", 1e-14, alpha)
            check("bedroc", 1e-14, alpha)


BOUNDED = [(record, form) for record in MEASURES if "hits" in record.of and "worst" in record.ties
           for form in (*record.forms, *("AP(interp=trapezoid)", "AP(interp=all-point)") * (record.name == "AP"))
           if "ties=" not in form and "norm=hits" not in form]  # fmt: skip


def readings(draw):
    """Tables of any size: worst <= expected <= best, or the reverse where less is better, for every measure."""
    if draw.whole(0, 2):
        above, tied, hits, num_items = large_table(draw)
    else:
        tied = [draw.whole(1, 9) for _ in range(draw.whole(1, 4))]
        hits = [draw.whole(1, n) for n in tied]
        above = [end - n + i for i, (end, n) in enumerate(zip(accumulate(tied), tied, strict=True))]
        num_items = above[-1] + tied[-1] + draw.whole(0, 9)
    curve = hc.HitCurve.from_table(None, above, tied, hits, num_items=num_items)
    for _ in range(3):
        record, form = draw.pick(BOUNDED)
        if "all-point" in form and sum(hits) > 1000:
            continue
        if "@" in form and "k" in record.cutoffs and draw.whole(0, 1):
            form = f"{form.partition('@')[0]}@{a_count(draw, num_items)}"
        measure = parse(form)
        values = [float(measure(curve, ties)) for ties in ("worst", "expected", "best")]
        if getattr(record, "lower_is_better", False):
            values.reverse()
        room = 1e-12 * max(1.0, *map(abs, values))
        if not (any(map(isnan, values)) or values[0] - room <= values[1] <= values[2] + room):
            raise AssertionError(f"{form}: {values} of {above}, {tied}, {hits}, {num_items} items")


def least_area(*, min_fpr=0, max_fpr=1, min_tpr=0, max_tpr=1, standardize=True):
    """Of a part of the ROC curve, if all relevant items come last. McClish's correction gives chance 1/2."""
    low, high = Fraction(max(min_fpr, min_tpr)), Fraction(min(max_fpr, max_tpr))
    middle = (low + high) / 2
    chance = 1 - middle if (min_tpr, max_tpr) != (0, 1) else middle
    return float((1 - chance / (1 - chance)) / 2) if standardize else 0.0


def perfect(draw):
    """Relevant items first, in whatever groups: exactly 1. Last: exactly 0. Of counts beyond a few, to rounding."""
    huge = draw.chance(3)
    hits = [a_count(draw, ROOM // 8) if huge else draw.whole(1, 25) for _ in range(draw.whole(1, 4))]
    if draw.chance(2):
        hits = [1] * draw.whole(1, 50)
    others = a_count(draw, ROOM // 2) if huge else draw.whole(1, 40)
    first = np.cumsum([0, *hits])[:-1]
    num_items = sum(hits) + others
    best = hc.HitCurve.from_table(None, first, hits, hits, num_items=num_items)
    last = hc.HitCurve.from_table(None, first + others, hits, hits, num_items=num_items)
    ties = draw.pick(READINGS)
    alpha, low = draw.pick([0.001, 1.0, 20.0, 80.5, 160.9, 500.0]), draw.pick([0.001, 0.01, 0.5])
    for row in register.HITS:
        reading = ties if ties in row.readings else "expected"
        every = list(register.perfect_calls(row, sum(hits)))
        if every and row.parameter[0]:
            every.append(((low if row.parameter[0] in ("min_fpr", "recall") else alpha,), {}))
        for args, options in every:
            what = f"{row.method}{args}{options}"
            value = getattr(best, row.method)(*args, **options, ties=reading)
            if not (value == 1 or (huge and abs(value - 1) < 1e-15)):
                raise AssertionError(f"{what} is {value!r} of {hits}, then {others} others, ties={reading}")
            if row.method in ("roc_auc", "bedroc"):
                least = least_area(**options)
                value = getattr(last, row.method)(*args, **options, ties=reading)
                if not (value == 0 if least == 0 and not huge else abs(value - least) <= 1e-15 * max(1, abs(least))):
                    raise AssertionError(f"{what} is {value!r} of {others} others, then {hits}, ties={reading}")


# --- levels and labels --------------------------------------------------------------------------------------


def a_level(draw, label):
    """A level close to one of the labels, as a number of any type."""
    level = draw.pick(label.tolist()) + draw.pick([0, 0, 1, -1, 0.5])
    kinds = [float, np.float64, np.float32]
    if level == int(level):
        kinds += [int, int, np.int64 if level < 2**63 else np.uint64]
    kind = draw.pick(kinds)
    return kind(level) if kind is not np.uint64 or level >= 0 else int(level)


def levels(draw):
    """Levels of any type against labels of any type: floats at the labels' precision, whole numbers exactly."""
    n = draw.whole(1, 6)
    dtype = draw.pick(["i8", "u8", "i4", "u1", "f4", "f8"])
    if dtype[0] == "f":
        values = [draw.pick([0.7, 0.1, 1 / 3, 1.0, 2.0, 16777216.0, 2.0**53]) for _ in range(n)]
    else:
        base = draw.pick([0, 100, *([2**24, 2**31 - 9] if dtype != "u1" else []),
                          *([2**53, 2**60, 2**63 - 9] if dtype[1] == "8" else []), *([2**63] if dtype == "u8" else [])])
        values = [base + draw.whole(0, 8) for _ in range(n)]
    label = np.array(values, dtype=dtype)
    level = a_level(draw, label) if draw.whole(0, 2) else draw.pick([0.7, 0.1, np.float32(0.1), np.float64(0.7)])
    exact = Fraction(float(level) if isinstance(level, float | np.floating) else int(level))
    if dtype[0] == "f":
        exact = Fraction(float(label.dtype.type(float(level))))
    flags = [Fraction(value) >= exact for value in label.tolist()]
    score = np.array([draw.whole(0, 4) for _ in range(n)], dtype=draw.pick(["f4", "f8", "i8"]))
    y, how = dressed(draw, label, lists=dtype not in ("f4", "u8")), {"relevance_level": level}
    curve = hc.HitCurve(flags, score)
    where = f"labels {label!r}, level {level!r}"
    ap = curve.average_precision()
    # Labels as a list are of whatever type numpy makes of them, and so is the rule.
    if hc.HitCurve(y, score, **how) != curve:
        raise AssertionError(f"HitCurve: {where}")
    same(hc.average_precision(y, score, **how), ap, f"average_precision: {where}")
    if hc.HitCurves(y, score, offsets=[0, n], **how)[0] != curve:
        raise AssertionError(f"HitCurves: {where}")
    same(hc.mean_average_precision(y, score, qid=[1] * n, **how), ap, f"mean_average_precision: {where}")
    counts = hc.at_threshold(y, score, -inf if score.dtype.kind == "f" else -1, **how)
    if counts.tp != sum(flags):
        raise AssertionError(f"at_threshold: {counts} with {where}")
    if draw.chance(3):
        pair = hc.compare(y, {"a": score, "b": score[::-1].copy()}, measures=["AP"], n_resamples=9, rng=1, **how)
        same(pair.systems[0].value, ap, f"compare: {where}")


# --- curves beside NaN --------------------------------------------------------------------------------------


def thresholds(draw):
    """Selecting the scores at a threshold or better gives the point of the curve, beside NaN at the end as well."""
    n = draw.whole(1, 7)
    label = np.array([draw.whole(0, 1) for _ in range(n)])
    score = np.array([draw.pick([0.0, 1.0, 2.0, 3.0, -0.5, inf, -inf]) for _ in range(n)], draw.pick(["f4", "f8"]))
    score[[draw.chance(4) for _ in range(n)]] = nan
    lower, ties = draw.chance(2), draw.pick(["expected", "threshold"])
    curve = hc.HitCurve(label, score, nan_policy="worst", lower_is_better=lower)
    if not curve.num_hits:
        return
    end = inf if lower else -inf
    items, relevant = n, int(label.sum())

    def selected(threshold):
        chosen = np.ones(n, bool) if isnan(threshold) else (score <= threshold) if lower else (score >= threshold)
        # A curve does not know of items with NaN unless one is relevant: they count among the worst.
        return [chosen, np.ones(n, bool)] if threshold == end and not label[score != score].any() else [chosen]

    points = curve.precision_recall_curve(ties=ties)
    roc = curve.roc_curve(ties=ties)
    found = zip(points.precision[:-1], points.recall[:-1], points.threshold, strict=True)
    shares = [(("precision", "recall"), p, r, t) for p, r, t in found]
    shares += [(("fpr", "tpr"), f, r, t) for f, r, t in zip(roc.fpr, roc.tpr, roc.threshold, strict=True)][1:]
    for names, *point, threshold in shares:
        allowed = []
        for chosen in selected(threshold):
            hits, count = int(label[chosen].sum()), int(chosen.sum())
            one = hits / count if names[0] == "precision" and count else nan
            if names[0] == "fpr" and items > relevant:
                one = (count - hits) / (items - relevant)
            allowed.append([one, hits / relevant])
        if not any(np.array_equal(point, pair, equal_nan=True) for pair in allowed):
            where = f"at {threshold} of {label}, {score}, lower={lower}, ties={ties}"
            raise AssertionError(f"{names} is {point}, not {allowed}, {where}")
