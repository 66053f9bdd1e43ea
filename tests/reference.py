"""The slow twin: every measure from its definition, in exact fractions.

A measure is defined once, for one definite order of the items (a list of 0/1 flags, best first). The
readings of ties follow from that: "expected" is the mean over all orders of the tied items, which are
enumerated; "best" and "worst" are two of those orders; "threshold" takes a group at once. Measures that are
not rational (logarithms, exponentials) are computed with 50 digits.

Enumeration is exponential in the size of the tie groups: up to about ten tied items. The functions at the end,
named `..._by_position`, take the mean position by position and reach further; those named `..._by_group` reach 2**62
items.
"""

from collections import Counter, namedtuple
from fractions import Fraction
from functools import lru_cache, wraps
from itertools import accumulate, chain, combinations, groupby, pairwise, permutations, product
from math import ceil, comb, floor, isnan, nan

import mpmath

mp = mpmath.MPContext()
mp.dps = 50

remembered = lru_cache(maxsize=1 << 16)  # rankings of six items have only 64 orders: the same ones come back

TIES = ("expected", "best", "worst", "threshold")
FLOAT_LEVELS = {"11-point-float": 0.1, "101-point-float": 0.01}  # the steps from level to level
INTERPOLATIONS = (
    None, "11-point", "101-point", "all-point", "trapezoid", "trapezoid-from-1", "continuous", *FLOAT_LEVELS,
)  # fmt: skip
NORMALIZE = ("min", "relevant", "hits")

Group = namedtuple("Group", "score items relevant")
Ranking = namedtuple("Ranking", "groups num_relevant lower_is_better weighted")  # groups: best first
Row = namedtuple("Row", "score above tied hits")
ThresholdCounts = namedtuple("ThresholdCounts", "tp fp fn tn precision recall f_score")
TieReport = namedtuple("TieReport", "worst expected best threshold num_tied tied_share largest_group cutoff_group")


# --- from items to tie groups -------------------------------------------------------------------------------


def ranking(
    y_true,
    y_score,
    *,
    num_relevant=None,
    relevance_level=None,
    tiebreak=None,
    lower_is_better=False,
    nan_policy="raise",
    sample_weight=None,
):
    """The tie groups of a list of labels and a list of scores (Python numbers)."""
    n = len(y_true)
    if len(y_score) != n:
        raise ValueError("y_true and y_score differ in length")
    if nan_policy not in ("raise", "worst", "omit"):
        raise ValueError("nan_policy")
    if sample_weight is not None and any(not 0 <= w < mp.inf for w in sample_weight):
        raise ValueError("sample_weight")
    keys = [0] * n if tiebreak is None else range(n) if isinstance(tiebreak, str) else tiebreak
    items = []
    for i in range(n):
        label, score = y_true[i], y_score[i]
        if relevance_level is not None:
            label = label >= relevance_level
        elif label not in (0, 1):
            raise ValueError("y_true")
        missing = score != score
        if missing and nan_policy == "raise":
            raise ValueError("y_score")
        if missing and nan_policy == "omit":
            continue
        weight = 1 if sample_weight is None else Fraction(sample_weight[i])
        if weight == 0:
            continue
        place = 0 if missing else score if lower_is_better else -score
        items.append(((missing, place, keys[i]), score, weight, weight if label else 0))
    items.sort(key=lambda item: item[0])
    groups = []
    for _, tied in groupby(items, key=lambda item: item[0]):
        tied = list(tied)
        groups.append(Group(tied[0][1], sum(item[2] for item in tied), sum(item[3] for item in tied)))
    hits = sum(g.relevant for g in groups)
    if num_relevant is None:
        num_relevant = hits
    elif num_relevant < hits:
        raise ValueError("num_relevant")
    return Ranking(tuple(groups), num_relevant, lower_is_better, sample_weight is not None)


def from_groups(items, relevant, num_relevant=None):
    """A ranking from the items and the relevant items in each group, best first; scores count down to 1."""
    scores = range(len(items), 0, -1)
    groups = tuple(Group(s, n, r) for s, n, r in zip(scores, items, relevant, strict=True))
    return Ranking(groups, sum(relevant) if num_relevant is None else num_relevant, False, False)


def num_items(rank):
    return sum(g.items for g in rank.groups)


def num_hits(rank):
    return sum(g.relevant for g in rank.groups)


def with_above(groups):
    """(items above, hits above, items, relevant) of every group."""
    c = H = 0
    for g in groups:
        yield c, H, g.items, g.relevant
        c += g.items
        H += g.relevant


def table(rank):
    above = 0
    rows = []
    for g in rank.groups:
        if g.relevant:
            rows.append(Row(g.score, above, g.items, g.relevant))
        above += g.items
    return rows


# --- from tie groups to orders ------------------------------------------------------------------------------


@remembered
def orders(rank):
    """Every order of the items as a tuple of flags; each stands for equally many permutations."""
    patterns = []
    for g in rank.groups:
        places = combinations(range(g.items), g.relevant)
        patterns.append([tuple(int(i in chosen) for i in range(g.items)) for chosen in places])
    return [sum(choice, ()) for choice in product(*patterns)]


def best_order(rank):
    return tuple(flag for g in rank.groups for flag in [1] * g.relevant + [0] * (g.items - g.relevant))


def worst_order(rank):
    return tuple(flag for g in rank.groups for flag in [0] * (g.items - g.relevant) + [1] * g.relevant)


def as_groups(flags):
    """An order as a ranking without ties."""
    return tuple(Group(None, 1, flag) for flag in flags)


def over_orders(rank, ties, measure, threshold=None):
    """`measure(flags)` under a reading of the ties; `threshold()` is the group-at-once value, if there is one."""
    if ties not in TIES:
        raise ValueError("ties")
    if rank.weighted and ties != "threshold":
        raise ValueError("weights need ties='threshold'")
    if ties == "threshold":
        if threshold is None:
            raise ValueError("no such reading")
        return threshold()
    if ties == "best":
        return measure(best_order(rank))
    if ties == "worst":
        return measure(worst_order(rank))
    values = [measure(flags) for flags in orders(rank)]
    return sum(values) / len(values)


def ratio(a, b):
    if b == 0:
        return nan
    return a / b if isinstance(a, mp.mpf) else Fraction(a) / Fraction(b)


def no_weights(rank):
    if rank.weighted:
        raise ValueError("not defined for weights")


def all_retrieved(rank):
    if rank.num_relevant > num_hits(rank):
        raise ValueError("needs the rank of every relevant item")


# --- average precision --------------------------------------------------------------------------------------


def average_precision(rank, k=None, *, ties="expected", interpolation=None, normalize="min"):
    R = rank.num_relevant
    if interpolation not in INTERPOLATIONS or normalize not in NORMALIZE:
        raise ValueError("interpolation or normalize")
    if interpolation is not None and k is not None:
        raise ValueError("k with an interpolation")
    if k is not None and k < 1:
        raise ValueError("k")
    if rank.weighted and (k is not None or interpolation not in (None, "trapezoid", "trapezoid-from-1", "continuous")):
        raise ValueError("not defined for weights")
    if ties in TIES and R == 0 and not (rank.weighted and ties != "threshold"):
        return nan

    if interpolation is None:

        def measure(flags):
            return divided(precision_sum(flags, k), sum(flags[:k]), R, k, normalize)

        def threshold():
            return divided(threshold_sum(rank.groups, k), share_of_hits(rank.groups, k), R, k, normalize)

    elif interpolation in ("trapezoid", "trapezoid-from-1"):
        first = Fraction(1) if interpolation == "trapezoid-from-1" else None

        def measure(flags):
            return trapezoid_area(as_groups(flags), R, first)

        def threshold():
            return trapezoid_area(rank.groups, R, first)

    elif interpolation == "continuous":

        def measure(flags):
            return continuous_area(as_groups(flags), R)

        def threshold():
            return continuous_area(rank.groups, R)

        if ties == "expected":  # the integral under the mean hit curve
            ties = "threshold" if not rank.weighted else ties

    else:

        def measure(flags):
            points = tuple((x, sum(flags[:x])) for x in range(1, len(flags) + 1))
            return envelope(points, R, interpolation)

        def threshold():
            points = tuple((c + n, H + r) for c, H, n, r in with_above(rank.groups))
            return envelope(points, R, interpolation)

        if ties == "expected":
            return mean_envelope(rank.groups, R, interpolation)

    return over_orders(rank, ties, measure, threshold)


@remembered
def precision_sum(flags, k=None):
    """The sum of the precisions at the hits among the first k."""
    return sum(Fraction(sum(flags[:x]), x) for x in range(1, len(flags[:k]) + 1) if flags[x - 1])


@remembered
def threshold_sum(groups, k=None):
    """The same, group at once: the part of a group above the cut is one block with its share of the hits."""
    total = Fraction(0)
    for c, H, n, r in with_above(groups):
        m = n if k is None else min(max(k - c, 0), n)
        if m:
            part = Fraction(r) * Fraction(m) / Fraction(n)
            total += part * (H + part) / (c + m)
    return total


def divided(total, hits, R, k, normalize):
    if k is None or normalize == "relevant":
        return total / Fraction(R)
    if normalize == "min":
        return total / Fraction(min(k, R))
    return total / hits if hits else Fraction(0)


@remembered
def trapezoid_area(groups, R, first=None):
    """`first`: the precision at recall 0; None stands for that of the first point."""
    total = Fraction(0)
    for c, H, n, r in with_above(groups):
        if r:
            at = Fraction(H + r) / Fraction(c + n)
            before = Fraction(H) / Fraction(c) if c else at if first is None else first
            total += r * (before + at) / 2
    return total / Fraction(R)


def mpf(x, context=mp):
    """A fraction or a float, exactly, as a number with 50 digits."""
    if isinstance(x, context.mpf):
        return x
    x = Fraction(x)
    return context.mpf(x.numerator) / x.denominator


@remembered
def continuous_area(groups, R):
    """The integral of h(x)/x dh(x), h linear inside a group."""
    total = mp.mpf(0)
    for c, H, n, r in with_above(groups):
        if r:
            slope = Fraction(r) / Fraction(n)
            total += mpf(slope * r)
            if c:
                total += mpf(slope * (H - slope * c)) * mp.log1p(mpf(Fraction(n) / Fraction(c)))
    return total / mpf(R)


def recall_levels(R, interpolation):
    """The hits at each recall level, which need not be whole numbers, and whether a number of hits reaches it."""
    if interpolation == "all-point":
        exact = [Fraction(i) for i in range(1, R + 1)]
    else:
        levels = int(interpolation.partition("-")[0]) - 1
        exact = [Fraction(i * R, levels) for i in range(levels + 1)]
    if interpolation in FLOAT_LEVELS:
        step = FLOAT_LEVELS[interpolation]
        return [(need, lambda h, i=i: float(h) / R >= i * step) for i, need in enumerate(exact)]
    return [(need, lambda h, need=need: h >= need) for need in exact]


@remembered
def envelope(points, R, interpolation):
    """The mean of the interpolated precision over the recall levels; points are (items, hits), items >= 1."""
    levels = recall_levels(R, interpolation)
    return sum(greatest_from(points, reached) for _, reached in levels) / len(levels)


def greatest_from(points, reached):
    """The greatest precision of the points whose hits reach a level."""
    return max((Fraction(h, x) for x, h in points if reached(h)), default=Fraction(0))


@remembered
def mean_envelope(groups, R, interpolation):
    """The same for the mean hit curve."""
    levels = recall_levels(R, interpolation)
    return sum(greatest_of_mean(groups, need, reached) for need, reached in levels) / len(levels)


def greatest_of_mean(groups, need, reached):
    """The same of the mean hit curve, which is straight inside a group: a level may be reached between two items."""
    values = [Fraction(0)]
    for c, H, n, r in with_above(groups):
        if r and reached(H + r):
            values.append(Fraction(H + r, c + n))
            if not reached(H):
                values.append(need / (c + (need - H) * n / r))
    return max(values)


def interpolated_precision(rank, recall, *, ties="expected"):
    no_weights(rank)
    if ties not in TIES or not 0 <= recall <= 1:
        raise ValueError("ties or recall")
    return interpolated_precision_by_group(rank, recall, ties=ties) if rank.num_relevant else nan


def chance(rank):
    """The expected AP of a random order of the items."""
    no_weights(rank)
    one_group = Group(None, num_items(rank), num_hits(rank))
    return average_precision(rank._replace(groups=(one_group,)))


def minimum(rank):
    no_weights(rank)
    one_group = Group(None, num_items(rank), num_hits(rank))
    return average_precision(rank._replace(groups=(one_group,)), ties="worst")


def normalized_average_precision(rank, *, ties="expected"):
    no_weights(rank)
    base = chance(rank)
    value = average_precision(rank, ties=ties)
    return nan if isnan(value) else ratio(value - base, 1 - base)


def mean_average_precision(ranks, k=None, *, empty="skip", **options):
    if empty not in ("skip", "zero", "one", "raise"):
        raise ValueError("empty")
    values = []
    for rank in ranks:
        value = average_precision(rank, k, **options)
        if not isnan(value):
            values.append(value)
        elif empty == "raise":
            raise ValueError("a query without relevant items")
        elif empty != "skip":
            values.append(Fraction(empty == "one"))
    return ratio(sum(values), len(values))


def tie_report(rank, k=None):
    no_weights(rank)
    rows = table(rank)
    tied = sum(row.tied for row in rows if row.tied > 1)
    return TieReport(
        *(average_precision(rank, k, ties=ties) for ties in ("worst", "expected", "best", "threshold")),
        num_tied=tied,
        tied_share=ratio(tied, num_items(rank)),
        largest_group=max((row.tied for row in rows), default=0),
        cutoff_group=next((row.tied for row in rows if k and row.above < k < row.above + row.tied), 0),
    )


# --- read-outs at a cutoff ----------------------------------------------------------------------------------


def cutoff(rank, k, fraction):
    """k, the least k that holds the fraction of the items (as the decimal that was written), or all items."""
    if k is not None and fraction is not None:
        raise ValueError("k or fraction")
    if k is None and fraction is None:
        return num_items(rank)
    if k is not None:
        if k < 1:
            raise ValueError("k")
        return k
    if not 0 < fraction <= 1:
        raise ValueError("fraction")
    return ceil(share_of(fraction, num_items(rank)))


@remembered
def decimal(x):
    """A float as the decimal that was written."""
    return Fraction(str(x))


def share_of(fraction, number):
    """The share of a number of items: within four units in the last place of a whole number it is that number."""
    product = decimal(fraction) * number
    whole = round(product)
    return Fraction(whole) if whole < 2**49 and abs(product - whole) <= Fraction(4 * whole, 2**52) else product


@remembered
def share_of_hits(groups, k=None):
    """Hits among the first k items when a group that k cuts gives its share."""
    total = Fraction(0)
    for c, _, n, r in with_above(groups):
        m = n if k is None else min(max(k - c, 0), n)
        if m:
            total += Fraction(r) * Fraction(m) / Fraction(n)
    return total


@remembered
def hits_in_orders(rank, k):
    """(hits among the first k, orders that have as many)."""
    return tuple(Counter(sum(flags[:k]) for flags in orders(rank)).items())


def of_hits(rank, k, ties, value):
    """A measure that is a function `value(h)` of the hits among the first k."""
    no_weights(rank)
    if ties == "expected":
        counts = hits_in_orders(rank, k)
        return sum(times * value(h) for h, times in counts) / sum(times for _, times in counts)
    return over_orders(rank, ties, lambda flags: value(sum(flags[:k])), lambda: value(share_of_hits(rank.groups, k)))


def hits_at(rank, k=None, *, fraction=None, ties="expected"):
    k = cutoff(rank, k, fraction)
    return of_hits(rank, k, ties, Fraction)


def precision(rank, k=None, *, fraction=None, normalize="k", ties="expected"):
    if normalize not in ("k", "ranked"):
        raise ValueError("normalize")
    k = cutoff(rank, k, fraction)
    places = min(k, max(num_items(rank), 1)) if normalize == "ranked" else k
    return of_hits(rank, k, ties, lambda h: ratio(h, places))


def recall(rank, k=None, *, fraction=None, normalize="relevant", ties="expected"):
    if normalize not in ("relevant", "min"):
        raise ValueError("normalize")
    k = cutoff(rank, k, fraction)
    most = rank.num_relevant if normalize == "relevant" else min(k, rank.num_relevant)
    return of_hits(rank, k, ties, lambda h: ratio(h, most))


def fall_out(rank, k=None, *, fraction=None, ties="expected"):
    all_retrieved(rank)
    k = min(cutoff(rank, k, fraction), num_items(rank))
    return of_hits(rank, k, ties, lambda h: ratio(k - h, num_items(rank) - rank.num_relevant))


def f_score(rank, k=None, *, fraction=None, beta=1.0, ties="expected"):
    k = cutoff(rank, k, fraction)
    b2 = Fraction(beta) ** 2
    return of_hits(rank, k, ties, lambda h: ratio((1 + b2) * h, k + b2 * rank.num_relevant))


def success(rank, k=None, *, fraction=None, ties="expected"):
    k = cutoff(rank, k, fraction)
    no_weights(rank)
    return over_orders(rank, ties, lambda flags: Fraction(any(flags[:k])))


def r_precision(rank, *, ties="expected"):
    R = rank.num_relevant
    return of_hits(rank, R, ties, lambda h: ratio(h, R))


def reciprocal_rank(rank, k=None, *, ties="expected"):
    no_weights(rank)
    if k is not None and k < 1:
        raise ValueError("k")

    def measure(flags):
        return Fraction(1, flags.index(1) + 1) if any(flags[:k]) else Fraction(0)

    return over_orders(rank, ties, measure)


def enrichment_factor(rank, fraction=None, *, k=None, ties="expected"):
    all_retrieved(rank)
    k = cutoff(rank, k, fraction)
    return of_hits(rank, k, ties, lambda h: ratio(h * num_items(rank), k * rank.num_relevant))


def max_enrichment_factor(rank, fraction=None, *, k=None):
    no_weights(rank)
    all_retrieved(rank)
    k = cutoff(rank, k, fraction)
    return ratio(min(rank.num_relevant, k) * num_items(rank), k * rank.num_relevant)


def normalized_enrichment_factor(rank, fraction=None, *, k=None, ties="expected"):
    k = cutoff(rank, k, fraction)
    return of_hits(rank, k, ties, lambda h: ratio(h, min(rank.num_relevant, k)))


def mean_rank(rank, *, ties="expected"):
    no_weights(rank)
    all_retrieved(rank)
    if ties == "threshold":  # spread over the group
        ties = "expected"

    def measure(flags):
        return ratio(sum(place for place, flag in enumerate(flags, 1) if flag), sum(flags))

    return over_orders(rank, ties, measure)


def mean_percentile_rank(rank, *, ties="expected"):
    mean = mean_rank(rank, ties=ties)
    if mean == mean and num_items(rank) == 1:
        return Fraction(1, 2)
    return mean if mean != mean else (mean - 1) / (num_items(rank) - 1)


# --- ROC ----------------------------------------------------------------------------------------------------


def roc_points(groups):
    """(negatives, hits) above the top of each group and above nothing: the corners of the ROC polygon."""
    return [(0, 0)] + [(c + n - H - r, H + r) for c, H, n, r in with_above(groups)]


@remembered
def roc_area(groups):
    points = roc_points(groups)
    total = sum(Fraction(x2 - x1) * Fraction(y1 + y2) / 2 for (x1, y1), (x2, y2) in pairwise(points))
    return ratio(total, points[-1][0] * points[-1][1])


def roc_auc(
    rank, *, min_fpr=None, max_fpr=None, min_tpr=None, max_tpr=None, standardize=True, ties="expected"
):
    all_retrieved(rank)
    by_fpr, by_tpr = {min_fpr, max_fpr} != {None}, {min_tpr, max_tpr} != {None}
    if not by_fpr and not by_tpr:
        return over_orders(rank, ties, lambda flags: roc_area(as_groups(flags)), lambda: roc_area(rank.groups))
    no_weights(rank)
    low, high = between_rates(*((min_tpr, max_tpr) if by_tpr else (min_fpr, max_fpr)))
    if (by_fpr and by_tpr) or not 0 <= low < high <= 1:
        raise ValueError("rates")

    def area(groups):
        value = roc_area_beside(groups, low, high) if by_tpr else roc_area_between(groups, low, high)
        return mcclish(value, low, high, by_tpr) if standardize else value

    return over_orders(rank, ties, lambda flags: area(as_groups(flags)), lambda: area(rank.groups))


def between_rates(low, high):
    """Both rates as exact numbers: `high` alone is the decimal as written."""
    exact = decimal if low is None else Fraction
    return Fraction(0 if low is None else low), Fraction(1) if high is None else exact(high)


def mcclish(area, low, high, by_tpr):
    """McClish 1989: the area of the diagonal becomes 1/2, the greatest area 1."""
    middle = (low + high) / 2
    least, most = (high - low) * (1 - middle if by_tpr else middle), high - low
    return (1 + (area - least) / (most - least)) / 2


def roc_area_between(groups, low, high):
    """The area under TPR over FPR between two rates."""
    return partial_roc_area(groups, high) - partial_roc_area(groups, low)


def roc_area_beside(groups, low, high):
    """The area under TNR over TPR between two true-positive rates, by the trapezoids of the polygon."""
    points = roc_points(groups)
    negatives, hits = points[-1]
    if not negatives or not hits:
        return nan
    total = Fraction(0)
    for (x1, y1), (x2, y2) in pairwise(points):
        start, end = max(Fraction(y1), low * hits), min(Fraction(y2), high * hits)
        if start < end:
            heights = [negatives - x1 - (y - y1) * Fraction(x2 - x1, y2 - y1) for y in (start, end)]
            total += (end - start) * sum(heights) / 2
    return total / (negatives * hits)


def order_accuracy(rank, k=None, *, ties="expected"):
    """The mean or a bound over the orders that have a pair of a relevant and another item among the first k."""
    no_weights(rank)
    if ties not in TIES[:3] or (k is not None and k < 1):
        raise ValueError("ties or k")
    values = [value for flags in orders(rank) if not isnan(value := right_pairs(flags[:k]))]
    if not values:
        return nan
    return {"best": max, "worst": min}.get(ties, lambda values: sum(values) / len(values))(values)


@remembered
def right_pairs(flags):
    """The share of pairs of a relevant and another item in which the relevant item comes first."""
    return ratio(sum(one > other for one, other in combinations(flags, 2)), sum(flags) * (len(flags) - sum(flags)))


def partial_roc_area(groups, end):
    """The area under TPR over FPR from 0 to end."""
    points = roc_points(groups)
    negatives, hits = points[-1]
    if not negatives or not hits:
        return nan
    total = Fraction(0)
    for (x1, y1), (x2, y2) in pairwise(points):
        stop = min(Fraction(x2), end * negatives)
        if x1 < stop:
            height = y1 + (stop - x1) * Fraction(y2 - y1) / (x2 - x1)
            total += (stop - x1) * (y1 + height) / 2
    return total / (negatives * hits)


def prg_points(groups):
    """(recall gain, precision gain) from recall gain 0 on: where recall passes the prevalence."""
    points = roc_points(groups)
    others, relevant = points[-1]
    share = Fraction(relevant, relevant + others)

    def gain(x):
        return (x - share) / ((1 - share) * x)

    found = []
    for (x1, y1), (x2, y2) in pairwise(points):
        start = share * relevant
        if y1 < start < y2 or (y1 == start < y2) or (y1 > start):
            ends = [(Fraction(x1), Fraction(y1)), (Fraction(x2), Fraction(y2))]
            if y1 < start:
                ends[0] = (x1 + (start - y1) * Fraction(x2 - x1, y2 - y1), start)
            found += [(gain(y / relevant), gain(y / (x + y))) for x, y in ends]
    return found


def prg_auc(rank, *, ties="expected"):
    no_weights(rank)
    all_retrieved(rank)

    def area(groups):
        if num_hits(rank) in (0, num_items(rank)):
            return nan
        return sum((x2 - x1) * (y1 + y2) / 2 for (x1, y1), (x2, y2) in pairwise(prg_points(groups)))

    return over_orders(rank, ties, lambda flags: area(as_groups(flags)), lambda: area(rank.groups))


def auac(rank, *, ties="expected"):
    """By its own definition: trapezoids under recall over the share of the list, item by item."""
    no_weights(rank)
    all_retrieved(rank)
    if ties == "threshold":  # straight over a group
        ties = "expected"

    def area(flags):
        seen = [0]
        for flag in flags:
            seen.append(seen[-1] + flag)
        return ratio(sum(Fraction(a + b, 2) for a, b in pairwise(seen)), len(flags) * seen[-1])

    return over_orders(rank, ties, area)


def roc_enrichment(rank, fpr, *, ties="expected"):
    """TPR / FPR; where the polygon rises at this very FPR, its upper end counts."""
    no_weights(rank)
    all_retrieved(rank)
    if not 0 < fpr <= 1:
        raise ValueError("fpr")

    def enrichment(groups):
        return roc_height(groups, fpr) / decimal(fpr)

    return over_orders(rank, ties, lambda flags: enrichment(as_groups(flags)), lambda: enrichment(rank.groups))


def roc_height(groups, fpr):
    """TPR at a false positive rate; of a vertical step the upper end."""
    points = roc_points(groups)
    negatives, hits = points[-1]
    if not negatives or not hits:
        return nan
    at = share_of(fpr, negatives)
    height = 0
    for (x1, y1), (x2, y2) in pairwise(points):
        if x1 <= at <= x2:
            height = max(height, y2 if x1 == x2 else y1 + (at - x1) * Fraction(y2 - y1, x2 - x1))
    return Fraction(height) / hits


@remembered
def log_area(groups, low, high=1, context=mp):
    """The integral of TPR over log(FPR) from FPR = low to high."""
    points = roc_points(groups)
    negatives, hits = points[-1]
    if not negatives or not hits:
        return nan
    total = context.mpf(0)
    for (x1, y1), (x2, y2) in pairwise(points):
        x1, x2 = Fraction(x1, negatives), Fraction(x2, negatives)
        start, end = max(x1, low), min(x2, high)
        if start < end:
            slope = Fraction(y2 - y1, hits) / (x2 - x1)
            base = Fraction(y1, hits) - slope * x1
            total += mpf(slope * (end - start), context) + mpf(base, context) * context.log(mpf(end / start, context))
    return total


def log_auc(rank, min_fpr=0.001, *, max_fpr=1, adjusted=False, ties="expected"):
    """The area under TPR over log10(FPR) between the rates, as a share of the width; polygon segments straight."""
    no_weights(rank)
    all_retrieved(rank)
    if not 0 < min_fpr < max_fpr <= 1:
        raise ValueError("min_fpr or max_fpr")
    low, high = Fraction(min_fpr), Fraction(max_fpr)
    chance_area = mpf(high - low) if adjusted else 0

    def share(groups):
        return (log_area(groups, low, high) - chance_area) / mp.log(mpf(high / low))

    return over_orders(rank, ties, lambda flags: share(as_groups(flags)), lambda: share(rank.groups))


# --- early recognition --------------------------------------------------------------------------------------


@remembered
def exponential_sum(flags, alpha):
    n = len(flags)
    return mp.fsum(mp.exp(-mpf(alpha) * (i + 1) / n) for i in range(n) if flags[i])


def rie(rank, alpha=20.0, *, ties="expected"):
    no_weights(rank)
    all_retrieved(rank)
    if not 0 < alpha < mp.inf:
        raise ValueError("alpha")

    def measure(flags):
        if not any(flags):
            return nan
        mean = exponential_sum((1,) * len(flags), alpha) / len(flags)
        return exponential_sum(flags, alpha) / sum(flags) / mean

    return over_orders(rank, ties, measure)


def bedroc(rank, alpha=20.0, *, ties="expected"):
    no_weights(rank)
    all_retrieved(rank)
    if not 0 < alpha < mp.inf:
        raise ValueError("alpha")

    def measure(flags):
        if not any(flags) or all(flags):
            return nan
        low = exponential_sum(tuple(sorted(flags)), alpha)
        high = exponential_sum(tuple(sorted(flags, reverse=True)), alpha)
        return (exponential_sum(flags, alpha) - low) / (high - low)

    return over_orders(rank, ties, measure)


# --- at a score ---------------------------------------------------------------------------------------------


def at_threshold(
    y_true, y_score, threshold, *, beta=1.0, relevance_level=None, lower_is_better=False, nan_policy="raise"
):
    rank = ranking(
        y_true, y_score, relevance_level=relevance_level, lower_is_better=lower_is_better, nan_policy=nan_policy
    )
    selected = [g for g in rank.groups if (g.score <= threshold if lower_is_better else g.score >= threshold)]
    tp = sum(g.relevant for g in selected)
    fp = sum(g.items for g in selected) - tp
    fn = num_hits(rank) - tp
    tn = num_items(rank) - tp - fp - fn
    b2 = Fraction(beta) ** 2
    f = ratio((1 + b2) * tp, (1 + b2) * tp + b2 * fn + fp)
    return ThresholdCounts(tp, fp, fn, tn, ratio(tp, tp + fp), ratio(tp, tp + fn), f)


# --- curves -------------------------------------------------------------------------------------------------


def hit_curve(rank, *, ties="expected"):
    """The corners (items, hits) of the hit curve from (0, 0) to (items, hits); straight in between."""
    if ties not in TIES or (rank.weighted and ties != "threshold"):
        raise ValueError("ties")
    points = [(0, 0)]
    for c, H, n, r in with_above(rank.groups):
        if ties == "best":
            points.append((c + r, H + r))
        if ties == "worst":
            points.append((c + n - r, H))
        points.append((c + n, H + r))
    return corners(points)


def corners(points):
    """The points without repetitions and without those on the straight line between their neighbours."""
    kept = []
    for point in points:
        if kept and kept[-1] == point:
            continue
        while len(kept) > 1 and collinear(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    return kept


def collinear(a, b, c):
    return (b[0] - a[0]) * (c[1] - b[1]) == (c[0] - b[0]) * (b[1] - a[1])


def roc_curve(rank, *, ties="expected"):
    """The corners (FPR, TPR) of the ROC curve from (0, 0) to (1, 1)."""
    all_retrieved(rank)
    points = hit_curve(rank, ties=ties)
    items, hits = points[-1]
    return [(ratio(x - h, items - hits), ratio(h, hits)) for x, h in points]


def precision_recall_curve(rank, *, ties="expected"):
    """(precision, recall) from all items down to none, (1, 0): the points at which the hits have just changed, or are
    about to (scikit-learn's drop_intermediate); straight lines between them mean nothing here."""
    if ties not in TIES or (rank.weighted and ties != "threshold"):
        raise ValueError("ties")
    groups = rank.groups
    if ties in ("best", "worst"):
        groups = []
        for g in rank.groups:
            parts = [(g.relevant, g.relevant), (g.items - g.relevant, 0)]
            groups += [Group(g.score, n, r) for n, r in (parts if ties == "best" else parts[::-1]) if n]
    points = [(c + n, H + r) for c, H, n, r in with_above(groups)]
    kept = [
        (x, h)
        for i, (x, h) in enumerate(points)
        if i + 1 == len(points) or points[i + 1][1] != h or (i and points[i - 1][1] != h) or (i == 0 and h)
    ]
    return [(ratio(h, x), ratio(h, rank.num_relevant)) for x, h in kept[::-1]] + [(1, 0)]


# --- levels and judgments -----------------------------------------------------------------------------------

# Documents or items by their levels (None: without a judgment), in tie groups, best first; the levels of all judgments
# of the query, those never retrieved included. Of items of a gain curve, which all have a level, these are all levels.
Judged = namedtuple("Judged", "groups levels")
EPSILON = Fraction(1, 10**5)  # of trec_eval, in infAP


def judged_items(levels, scores, unretrieved=(), *, lower_is_better=False):
    """Of lists of levels and of scores, the groups as `ranking` has them."""
    groups = [
        tuple(level for level, score in zip(levels, scores, strict=True) if score == one)
        for one in sorted(set(scores), reverse=not lower_is_better)
    ]
    return Judged(tuple(groups), (*(level for level in levels if level is not None), *unretrieved))


def without_unjudged(query):
    """The documents that have a judgment; a level below 0 is none, of a document that is in the pool alone."""
    groups = (tuple(level for level in group if level is not None and level >= 0) for group in query.groups)
    return query._replace(groups=tuple(filter(None, groups)))


def in_order(order, levels=None):
    """Documents in this order, without ties; the levels of the judgments are theirs unless there are more."""
    return Judged(tuple((level,) for level in order), tuple(order if levels is None else levels))


def at_level(query, rel):
    """The ranking of the documents with those of this level or higher as the relevant items."""
    groups = tuple(Group(None, len(group), sum(at_least(level, rel) for level in group)) for group in query.groups)
    return Ranking(groups, sum(at_least(level, rel) for level in query.levels), False, False)


def at_least(level, rel):
    return level is not None and level >= rel


@remembered
def orders_of_levels(groups):
    """Every order of the levels that the groups leave open; each stands for equally many permutations."""
    return [sum(each, ()) for each in product(*(sorted(set(permutations(group)), key=repr) for group in groups))]


def over_judged(best=max, worst=min, spread=False):
    """Makes a measure of one order, `measure(order, levels, ...)`, one of a query, under a reading of its ties.

    `spread`: "threshold" spreads the items over their group, as "expected" does.
    """

    def reads(measure):
        measure = remembered(measure)

        @wraps(measure)
        def read(query, *args, ties="expected", **options):
            if ties not in TIES[: 4 if spread else 3]:
                raise ValueError("ties")
            options = {name: frozen(value) for name, value in options.items()}
            values = [measure(order, query.levels, *args, **options) for order in orders_of_levels(query.groups)]
            return {"best": best, "worst": worst}.get(ties, lambda values: sum(values) / len(values))(values)

        return read

    return reads


def frozen(value):
    """Mappings and lists as tuples, which can be remembered."""
    return tuple(value.items()) if isinstance(value, dict) else tuple(enumerate(value)) if isinstance(value, list) \
        else value


def worth(gain, level):
    """The gain of a level; (level, gain) pairs leave other levels their own number."""
    if level is None or level < 0:
        return Fraction(0)
    if gain == "exponential":
        return Fraction(2 ** int(level) - 1) if level == int(level) else mp.mpf(2) ** mp.mpf(level) - 1
    return Fraction(level if gain == "linear" else dict(frozen(gain)).get(level, level))


def ideal_gains(levels, gain):
    return sorted((worth(gain, level) for level in levels), reverse=True)


@remembered
def fall(discount, rank):
    """What an item at this rank counts: one over a logarithm, or a number from a list of (place, number)."""
    if discount == "log2":
        return 1 / mp.log(rank + 1, 2)
    if discount[0] == "log":
        return 1 / mp.log(rank, discount[1]) if rank >= discount[1] else mp.mpf(1)
    return mp.mpf(dict(discount).get(rank - 1, 0))


def discounted(gains, discount="log2"):
    return mp.fsum(mpf(gain) * fall(discount, rank) for rank, gain in enumerate(gains, 1) if gain)


def quotient(a, b):
    return a / b if b else nan


@over_judged()
def dcg(order, levels, k=None, *, gain="linear", discount="log2"):
    return discounted([worth(gain, level) for level in order[:k]], discount)


@over_judged()
def ndcg(order, levels, k=None, *, gain="linear", discount="log2", ideal_k="same"):
    ideal = [one for one in ideal_gains(levels, gain) if one > 0][: k if ideal_k == "same" else None]
    return quotient(discounted([worth(gain, level) for level in order[:k]], discount), discounted(ideal, discount))


@over_judged()
def ncrr(order, levels, k=None, *, rel=None):
    relevant = [at_least(level, rel) if rel is not None else worth("linear", level) > 0 for level in order[:k]]
    R = sum(at_least(level, rel) if rel is not None else level > 0 for level in levels)
    found = sum((Fraction(1, rank) for rank, one in enumerate(relevant, 1) if one), Fraction(0))
    return quotient(found, sum((Fraction(1, rank) for rank in range(1, min(R, k or R) + 1)), Fraction(0)))


@remembered
def stop_chance(level, max_level):
    return 0 if level is None or level <= 0 else mpf(worth("exponential", level)) / mp.mpf(2) ** mp.mpf(max_level)


@over_judged()
def err(order, levels, k=None, *, max_level=4):
    reached, total = mp.mpf(1), mp.mpf(0)
    for rank, level in enumerate(order[:k], 1):
        stop = stop_chance(level, max_level)
        total += stop * reached / rank
        reached *= 1 - stop
    return total


@over_judged()
def rbp(order, levels, k=None, *, p=0.8, rel=None):
    """Of relevant documents from level `rel`; without it of the share of the highest level."""
    most = Fraction(max(1, *levels, 1))
    gains = [at_least(level, rel) if rel is not None else worth("linear", level) / most for level in order[:k]]
    return (1 - Fraction(p)) * sum(gain * Fraction(p) ** rank for rank, gain in enumerate(gains))


@over_judged()
def ncu(order, levels, k=None, *, stop="uniform", p=0.8, utility="precision", gain="linear", beta=1):
    """Of each relevant item, the chance to stop there times the utility."""
    p = Fraction(1 if stop == "uniform" else p)
    beta = Fraction(beta if utility == "blended" else 0)
    ideal = list(accumulate(ideal_gains(levels, gain)))
    relevant = sum(level > 0 for level in levels)
    total, hits, gained = Fraction(0), 0, Fraction(0)
    for rank, level in enumerate(order[:k], 1):
        gained += worth(gain, level)
        if level is not None and level > 0:
            hits += 1
            most = ideal[min(rank, len(ideal)) - 1]
            total += p ** (hits - 1) * (hits + beta * gained) / (rank + beta * most)
    return quotient(total, sum(p**j for j in range(relevant if k is None else min(k, relevant))))


def q_measure(query, k=None, *, gain="linear", beta=1, ties="expected"):
    return ncu(query, k, utility="blended", gain=gain, beta=beta, ties=ties)


@over_judged()
def graded_average_precision(order, levels, k=None, *, weights=None, max_level=None):
    """Robertson, Kanoulas & Yilmaz's equations 4 and 5: pairs of items, each with the lower of its two levels."""
    if weights is None:
        weights = [(level, 1) for level in (set(levels) if max_level is None else range(1, max_level + 1)) if level > 0]

    def share(level):
        return sum((Fraction(weight) for one, weight in weights if one <= level), Fraction(0))

    levels_here = [0 if level is None else max(level, 0) for level in order]
    total = sum(
        (sum(share(min(level, other)) for other in levels_here[:rank]) / rank
         for rank, level in enumerate(levels_here[:k], 1)), Fraction(0))  # fmt: skip
    return quotient(total, sum(share(max(level, 0)) for level in sorted(levels, reverse=True)[:k]))


@over_judged()
def average_gain(order, levels, k=None, *, gain="linear"):
    return quotient(sum((worth(gain, level) for level in order[:k]), Fraction(0)), Fraction(k or len(order)))


@remembered
def beyond(first):
    """The sum of (first / (first + j))^2 over all j from 0."""
    return first**2 * mp.zeta(2, first)


def wanted_gains(order, levels, max_rel, min_rel=0):
    most = max(1, *levels, 1) if max_rel is None else max_rel
    return [wanted_gain(level, most, min_rel) for level in order]


@remembered
def wanted_gain(level, most, least=0):
    share = (worth("linear", level) - Fraction(least)) / (Fraction(most) - Fraction(least))
    return mpf(min(max(share, 0), 1))


@over_judged()
def insq(order, levels, k=None, *, T=1.0, max_rel=None, min_rel=0):
    """By the product of C, as the paper defines it, and not by the weights that follow from it."""
    weight, total, T = mp.mpf(1), mp.mpf(0), mp.mpf(T)
    for rank, gain in enumerate(wanted_gains(order, levels, max_rel, min_rel)[:k], 1):
        total += gain * weight
        weight *= ((rank + 2 * T - 1) / (rank + 2 * T)) ** 2
    return total / beyond(2 * T)


@over_judged()
def inst(order, levels, k=None, *, T=1.0, max_rel=None, min_rel=0):
    T = mp.mpf(T)
    weight, total, weights, still = mp.mpf(1), mp.mpf(0), mp.mpf(0), T
    gains = wanted_gains(order, levels, max_rel, min_rel)[:k]
    for rank, gain in enumerate(gains, 1):
        total += gain * weight
        weights += weight
        still -= gain
        weight *= ((rank + T + still - 1) / (rank + T + still)) ** 2
    return total / (weights + weight * beyond(len(gains) + T + still))  # from there on C is that of INSQ


@over_judged()
def sdcg(order, levels, k, *, max_rel, min_rel=0):
    gains = wanted_gains(order, levels, max_rel, min_rel)[:k]
    return discounted(gains) / discounted([1] * k)


def weighed(gains, go_on, rest):
    """(sum of weight times gain, sum of weights) where `go_on(rank, gain)` is the chance to look at the next rank.

    `rest`: the sum of the weights of the ranks beyond, as a share of the weight of the next rank.
    """
    weight, total, weights = mp.mpf(1), mp.mpf(0), mp.mpf(0)
    for rank, gain in enumerate(gains, 1):
        total += gain * weight
        weights += weight
        weight *= go_on(rank, gain)
    return total, weights + weight * rest


def places(gains, k):
    """The gains of the first k ranks, some of which may have no item."""
    return gains[:k] + [mp.mpf(0)] * (k - len(gains))


@over_judged()
def nerr8(order, levels, k, *, max_rel, min_rel=0):
    """Azzopardi, Mackenzie & Moffat 2021, equations 8 to 11, by C."""
    gains = places(wanted_gains(order, levels, max_rel, min_rel), k)
    total, weights = weighed(gains, lambda rank, gain: 1 - gain, 0)
    return total / weights


@over_judged()
def nerr9(order, levels, k, *, max_rel, min_rel=0):
    gains = places(wanted_gains(order, levels, max_rel, min_rel), k)
    total, weights = weighed(gains, lambda rank, gain: mp.mpf(rank) / (rank + 1) * (1 - gain), 0)
    return total / weights


@over_judged()
def nerr10(order, levels, k=None, *, max_rel, p=0.9, min_rel=0):
    p = mp.mpf(p)
    gains = wanted_gains(order, levels, max_rel, min_rel)[:k]
    total, weights = weighed(gains, lambda rank, gain: p * (1 - gain), 1 / (1 - p))
    return total / weights


@over_judged()
def nerr11(order, levels, k=None, *, max_rel, T=1.0, min_rel=0):
    T = mp.mpf(T)
    gains = wanted_gains(order, levels, max_rel, min_rel)[:k]
    total, weights = weighed(
        gains, lambda rank, gain: ((rank + 2 * T - 1) / (rank + 2 * T)) ** 2 * (1 - gain), beyond(len(gains) + 2 * T))
    return total / weights


def player(gains, k, T, hb=0, hc=0, gain_med=0.5):
    """(whole gain, last rank) of the user of BPM, in exact fractions of the decimals that were written."""
    T, hb, hc, middle = (Fraction(str(one)) for one in (T, hb, hc, gain_med))
    rank, gained, patience = 0, Fraction(0), Fraction(k)
    while True:
        gain = gains[rank] if rank < len(gains) else Fraction(0)
        rank, gained = rank + 1, gained + gain
        if gained >= T or rank >= patience:
            return gained, rank
        T += hb * (gain - middle)
        patience += hc * (gain - middle)


@over_judged()
def bpm(order, levels, k, *, max_rel, T=1.0, min_rel=0, **limits):
    most, least = Fraction(str(max_rel)), Fraction(str(min_rel))
    gains = [min(max((worth("linear", level) - least) / (most - least), Fraction(0)), Fraction(1)) for level in order]
    gained, rank = player(gains, k, T, **limits)
    return gained / rank


@over_judged()
def compat(order, levels, *, p=0.95, normalize=True):
    """Clarke, Vtyurina & Smucker's: the overlap of two lists of items, depth by depth. Items are numbers."""
    p, ranking = Fraction(p), [*range(len(order))]
    level_of = {i: level for i, level in enumerate(order) if level is not None and level > 0}
    missing = Counter(level for level in levels if level > 0) - Counter(level_of.values())
    level_of |= {len(order) + i: level for i, level in enumerate(missing.elements())}
    ideal = sorted(level_of, key=lambda item: (-level_of[item], item))
    depths = range(1, max(len(ranking), len(ideal)) + 1)
    weight = [p ** (d - 1) for d in depths]

    def overlap(one):
        return sum(w * Fraction(len({*one[:d]} & {*ideal[:d]}), d) for w, d in zip(weight, depths, strict=True))

    return quotient(overlap(ranking), overlap(ideal) if normalize else sum(weight) or 1)


def pairs(groups):
    """(pairs in the right order, in the wrong one, of equal score), of those that differ in level."""
    right = wrong = tied = 0
    for (i, one), (j, other) in combinations([(i, level) for i, group in enumerate(groups) for level in group], 2):
        tied += one != other and i == j
        right += i < j and one > other
        wrong += i < j and one < other
    return right, wrong, tied


@over_judged()
def pairwise_accuracy(order, levels):
    right, wrong, _ = pairs([(level,) for level in order])
    return ratio(right, right + wrong)


def somers_d(query, *, ties="expected"):
    return 2 * pairwise_accuracy(query, ties=ties) - 1


def goodman_kruskal_gamma(query):
    right, wrong, _ = pairs(query.groups)
    return ratio(right - wrong, right + wrong)


@over_judged(min, max, spread=True)
def rank_of_levels(order, levels):
    """The mean rank of the items above level 0."""
    places = [rank for rank, level in enumerate(order, 1) if level]
    return ratio(sum(places), len(places))


@over_judged(min, max, spread=True)
def percentile_rank_of_levels(order, levels):
    """The mean of (rank - 1) / (N - 1), each item weighed by its level."""
    n = len(order)
    shares = [Fraction(rank, n - 1) if n > 1 else Fraction(1, 2) for rank in range(n)]
    weighed = sum(Fraction(level) * share for level, share in zip(order, shares, strict=True))
    return ratio(weighed, sum(map(Fraction, order)))


@over_judged(min, max)
def rbp_residual(order, levels, k=None, *, p=0.8):
    """Of items that all have a level: of the ranks beyond."""
    return Fraction(p) ** min(len(order), len(order) if k is None else k)


# --- subtopics ----------------------------------------------------------------------------------------------

# Items by their levels, a tuple with a level for each subtopic, in tie groups, best first; all items that any ranking
# may hold, those never retrieved included, in the order that breaks ties of the greedy order.
Topics = namedtuple("Topics", "groups pool")


def topics_of_items(levels, scores, unretrieved=(), *, lower_is_better=False):
    groups = [
        tuple(tuple(level) for level, score in zip(levels, scores, strict=True) if score == one)
        for one in sorted(set(scores), reverse=not lower_is_better)
    ]
    return Topics(tuple(groups), tuple(map(tuple, (*levels, *unretrieved))))


def over_topics(measure):
    """Makes a measure of one order, `measure(sets, pool, ...)`, one of a query, under a reading of its ties."""
    measure = remembered(measure)

    @wraps(measure)
    def read(query, k=None, *, relevance_level=1, weights=None, ties="expected", **options):
        def covered(items):
            return tuple(frozenset(j for j, level in enumerate(item) if level >= relevance_level) for item in items)

        pool = covered(query.pool)
        known = sorted(frozenset().union(*pool))
        weight = tuple((j, Fraction(1 if weights is None else weights[j])) for j in known)
        if not sum(one for _, one in weight):
            return 0 if measure.__name__ == "alpha_dcg" and options.get("normalize", "none") == "none" else nan
        values = [measure(covered(order), pool, weight, k, **options) for order in orders_of_levels(query.groups)]
        return {"best": max, "worst": min}.get(ties, lambda values: sum(values) / len(values))(values)

    return read


def of_each(weight, value):
    """The weighted mean over the subtopics."""
    return sum(share * value(j) for j, share in weight) / sum(share for _, share in weight)


@over_topics
def precision_ia(sets, pool, weight, k):
    return of_each(weight, lambda j: Fraction(sum(j in one for one in sets[:k]), k or len(sets)))


@over_topics
def subtopic_recall(sets, pool, weight, k):
    return of_each(weight, lambda j: Fraction(any(j in one for one in sets[:k])))


@over_topics
def average_precision_ia(sets, pool, weight, k, normalize="min"):
    def of_subtopic(j):
        flags = [int(j in one) for one in sets]
        divisor = sum(j in one for one in pool)
        if normalize == "min" and k is not None:
            divisor = min(divisor, k)
        return precision_sum(tuple(flags), k) / divisor

    return of_each(weight, of_subtopic)


@remembered
def faded(fade, rank):
    """What an item counts at a rank: 1 / rank, 1 / log2(rank + 1), or a power of a number."""
    if fade == "log":
        return 1 / mp.log(rank + 1, 2)
    return Fraction(1, rank) if fade == "rank" else Fraction(fade) ** (rank - 1)


def novel_gains(sets, weight, alpha):
    """The gain of each item: of each of its subtopics, the weight times (1 - alpha)^(items above that have it)."""
    weight = dict(weight)
    return [sum((weight[j] * (1 - Fraction(alpha)) ** sum(j in above for above in sets[:i]) for j in one), Fraction(0))
            for i, one in enumerate(sets)]  # fmt: skip


def novel_sum(sets, weight, k, alpha, fade):
    gains = novel_gains(sets[:k], weight, alpha)
    if fade == "log":
        return mp.fsum(mpf(gain) * faded(fade, rank) for rank, gain in enumerate(gains, 1))
    return sum((gain * faded(fade, rank) for rank, gain in enumerate(gains, 1)), Fraction(0))


@remembered
def ideal_sum(pool, weight, k, alpha, fade, ideal):
    """Of the greedy order: at each rank the item that adds most, of several the first; or of the best order."""
    if ideal == "exact":
        return max(novel_sum(order, weight, k, alpha, fade) for order in {*permutations(filter(None, pool))})
    left, order = list(pool), []
    while left:
        gains = [novel_gains([*order, one], weight, alpha)[-1] for one in left]
        order.append(left.pop(gains.index(max(gains))))
    return novel_sum(order, weight, k, alpha, fade)


def novelty(sets, pool, weight, k, alpha, fade, normalize="none", ideal=None):
    total = novel_sum(sets, weight, k, alpha, fade)
    if ideal is not None:
        return total / ideal_sum(pool, weight, k, alpha, fade, ideal)
    mean = total / sum(share for _, share in weight)
    if normalize == "none":
        return mean
    every = range(1, max(1, len(sets) if k is None else k) + 1)
    return mean / sum((1 - Fraction(alpha)) ** (rank - 1) * faded(fade, rank) for rank in every)


@over_topics
def alpha_dcg(sets, pool, weight, k, alpha=0.5, normalize="none"):
    value = novelty(sets, pool, weight, k, alpha, "log", normalize)
    return value * len(weight) if normalize == "none" else value


@over_topics
def alpha_ndcg(sets, pool, weight, k, alpha=0.5, ideal="greedy"):
    return novelty(sets, pool, weight, k, alpha, "log", ideal=ideal)


@over_topics
def err_ia(sets, pool, weight, k, alpha=0.5, normalize="none"):
    value = novelty(sets, pool, weight, k, alpha, "rank", normalize)
    return value * Fraction(alpha) if normalize == "none" else value


@over_topics
def nerr_ia(sets, pool, weight, k, alpha=0.5, ideal="greedy"):
    return novelty(sets, pool, weight, k, alpha, "rank", ideal=ideal)


@over_topics
def nrbp(sets, pool, weight, k, alpha=0.5, beta=0.5):
    return (1 - (1 - Fraction(alpha)) * Fraction(beta)) * novelty(sets, pool, weight, k, alpha, beta)


@over_topics
def nnrbp(sets, pool, weight, k, alpha=0.5, beta=0.5, ideal="greedy"):
    return novelty(sets, pool, weight, k, alpha, beta, ideal=ideal)


# --- two rankings ---------------------------------------------------------------------------------------------------

Overlap = namedtuple("Overlap", "ext min max residual")


def rbo(x, y, p, ties="a"):
    """Rank-biased overlap (Webber, Moffat & Zobel 2010) of rankings with ties (Corsi & Urbano 2024), with 50 digits.

    A ranking is a list of tie groups, each a list of items. The numbers of equations are those of neither paper: the
    agreement is put together from how much of each item is seen at a depth.
    """
    short, long = ([(item, place + 1, place + len(group)) for place, group in with_places(groups) for item in group]
                   for groups in sorted((x, y), key=lambda groups: sum(map(len, groups))))  # fmt: skip
    s, n, p = len(short), len(long), mpf(p)
    inner, q = {item for item, *_ in short}, 1 - p
    found = sum(item in inner for item, *_ in long)

    def seen(span, d):
        _, top, bottom = span
        if d < top:
            return Fraction(0)
        return Fraction(1) if ties == "w" or d >= bottom else Fraction(d - top + 1, bottom - top + 1)

    def agreement(d, common):
        if ties == "a":
            return mpf(common) / d
        sizes = [sum(seen(span, d) ** (2 if ties == "b" else 1) for span in side) for side in (short, long)]
        sizes[0] = Fraction(d) if d > s else sizes[0]
        return 2 * mpf(common) / mpf(sum(sizes)) if ties == "w" else mpf(common) / mp.sqrt(mpf(sizes[0] * sizes[1]))

    def common(d):
        of_short = {span[0]: seen(span, d) for span in short}
        return sum(seen(span, d) * of_short.get(span[0], 0) for span in long)

    alone = [span for span in long if span[0] not in inner]
    last, values = nan, {"ext": mp.mpf(0), "min": mp.mpf(0), "max": mp.mpf(0)}
    for d in range(1, n + 1):
        more = dict.fromkeys(values, Fraction(0))
        if d > s:
            begun = [seen(span, d) for span in alone if seen(span, d)]
            more["max"] = sum(seen(span, d) for span in alone[: d - s])
            more["ext"] = (d - s) * last * mpf(sum(begun) / len(begun))
        for name, extra in more.items():
            values[name] += agreement(d, common(d) + extra) * p ** (d - 1) * q
        last = agreement(d, common(d)) if d == s else last
    rest = -mp.log(q) - mp.fsum(p**d / d for d in range(1, n + 1))
    values["min"] += found * rest * q / p
    stop = n + s - found
    values["max"] += q * mp.fsum(mp.mpf(2 * d - stop) / d * p ** (d - 1) for d in range(n + 1, stop + 1)) + p**stop
    values["ext"] = values["ext"] + (found + (n - s) * last) / n * p**n if s else nan
    return Overlap(**values, residual=values["max"] - values["min"])


def with_places(groups):
    """Each group with the number of items before it."""
    return zip(accumulate(map(len, groups), initial=0), groups, strict=False)


# --- what a run alone has: documents without a judgment, sums of trec_eval ----------------------------------


@over_judged(min, max)
def rbp_residual_of_runs(order, levels, *, p=0.8):
    unjudged = [rank for rank, level in enumerate(order) if not at_least(level, 0)]
    here = (1 - Fraction(p)) * sum(Fraction(p) ** rank for rank in unjudged)
    return here + Fraction(p) ** len(order) if unjudged else Fraction(0)


def over_ways_to_judge(items, relevant, lost, pool, elsewhere, *, ties):
    """(AP, its least and its greatest value, AP if each document alone is relevant) over all ways to judge a pool.

    `items`, `relevant` and `pool`: of each tie group, best first, the documents, the relevant ones, and those of the
    pool. `lost`: relevant documents that were not retrieved; `elsewhere`: documents of the pool that were not. AP of no
    relevant document is 0.
    """
    group_of = [group for group, number in enumerate(pool) for _ in range(number)] + [None] * elsewhere

    def value(judged):
        hits = [known + judged.count(group) for group, known in enumerate(relevant)]
        R = sum(relevant) + lost + len(judged)
        return average_precision(from_groups(items, hits, R), ties=ties) if R else Fraction(0)

    values = [value(judged) for n in range(len(group_of) + 1) for judged in combinations(group_of, n)]
    return value(()), min(values), max(values), [value((group,)) for group in group_of]


def rbp_of_groups(items, relevant, *, p, ties):
    return over_orders(from_groups(items, relevant), ties,
                       lambda flags: (1 - p) * sum(p**i * flag for i, flag in enumerate(flags)))


def user_of_run(gains, go_on, rest, costs=(1,), *, hopeful):
    """(utility, total utility, cost, total cost, depth) of a user who looks at the ranks one by one.

    `gains`: of each rank, None for a document without a judgment. `hopeful`: their gain, and that of all further ranks.
    `go_on(rank, gain, gained)`: the chance to look at the next rank. `rest(rank, gained, hopeful)`: the number of looks
    beyond the last rank, if the user comes there. Ranks without a cost cost as much as the last one that has one.
    """
    chance, gained, total, spent, depth = Fraction(1), 0, 0, 0, 0
    for rank, gain in enumerate(gains, 1):
        gain = hopeful if gain is None else gain
        gained += gain
        total += chance * gain
        spent += chance * costs[min(rank, len(costs)) - 1]
        depth += chance
        chance *= go_on(rank, gain, gained)
    left = chance * rest(len(gains), gained, hopeful)
    total, spent, depth = total + left * hopeful, spent + left * costs[-1], depth + left
    return total / depth, total, spent / depth, spent, depth


def residuals_of_run(known, hoped, *user):
    """The numbers of a user, and how much they change, from the order if all is known to that if all is hoped for."""
    least, most = (user_of_run(order, *user, hopeful=hopeful) for order, hopeful in ((known, 0), (hoped, 1)))
    return least, [more - value for more, value in zip(most, least, strict=True)]


@over_judged()
def queries(order, levels, *, rel=1):
    return 1


@over_judged()
def retrieved(order, levels, *, rel=None):
    """All of them, or as ir_measures has it the relevant ones."""
    return sum(rel is None or at_least(level, rel) for level in order)


@over_judged()
def relevant(order, levels, *, rel=1):
    return sum(at_least(level, rel) for level in levels)


@over_judged()
def relevant_retrieved(order, levels, *, rel=1):
    return sum(at_least(level, rel) for level in order)


@over_judged()
def others_retrieved(order, levels, *, rel=1):
    return sum(at_least(level, 0) and level < rel for level in order)


def counts(order, levels, rel):
    """(retrieved documents, relevant ones, relevant ones retrieved)."""
    return len(order), sum(at_least(level, rel) for level in levels), sum(at_least(level, rel) for level in order)


@over_judged()
def set_precision(order, levels, *, relative=False, rel=1):
    n, R, hits = counts(order, levels, rel)
    return quotient(Fraction(hits), min(n, R) if relative else n)


@over_judged()
def set_recall(order, levels, *, rel=1):
    _, R, hits = counts(order, levels, rel)
    return quotient(Fraction(hits), R)


@over_judged()
def set_f(order, levels, *, beta=1.0, rel=1):
    n, R, hits = counts(order, levels, rel)
    if not hits:
        return Fraction(0)
    P, R = Fraction(hits, n), Fraction(hits, R)
    return (Fraction(beta) + 1) * P * R / (Fraction(beta) * P + R)


@over_judged()
def set_average_precision(order, levels, *, rel=1):
    n, R, hits = counts(order, levels, rel)
    return quotient(Fraction(hits * hits), n * R)


@over_judged()
def utility(order, levels, *, weights=(1, -1, 0, 0), rel=1):
    n, R, hits = counts(order, levels, rel)
    ours, others, missed, none = map(Fraction, weights)
    return ours * hits + others * (n - hits) + missed * (R - hits) + none * (hits - n - R)


@over_judged()
def judged_share(order, levels, k=None):
    shown = order[:k]
    return quotient(Fraction(sum(level is not None for level in shown)), len(shown))


@over_judged(min, max)
def unjudged_share(order, levels, k):
    return Fraction(sum(not at_least(level, 0) for level in order[:k]), k)


@over_judged(min, max)
def hole_share(order, levels, k):
    """Documents that are judged for another query have a level here."""
    return Fraction(sum(level is None for level in order[:k]), k)


@over_judged()
def relative_precision(order, levels, k, *, rel=1):
    _, R, _ = counts(order, levels, rel)
    return quotient(Fraction(sum(at_least(level, rel) for level in order[:k])), min(k, R))


@over_judged()
def precision_at_multiple(order, levels, *, multiple=1.0, rel=1):
    _, R, _ = counts(order, levels, rel)
    k = int(multiple * R + 0.9)
    return quotient(Fraction(sum(at_least(level, rel) for level in order[:k])), k)


@over_judged()
def bpref(order, levels, *, rel=1):
    R, others = sum(level >= rel for level in levels), sum(0 <= level < rel for level in levels)
    total, before = Fraction(0), 0
    for level in order:
        if at_least(level, rel):
            total += 1 - (Fraction(min(before, R), min(others, R)) if before else 0)
        before += at_least(level, 0) and level < rel
    return quotient(total, R)


# --- preferences: a group is a list of subgroups, which give levels to documents ---------------------------


def preferences_of(group):
    """The pairs (preferred, other): of a higher and a lower level in a subgroup, and what follows from them."""
    found = {(a, b) for levels in group for a, b in permutations(levels, 2) if levels[a] > levels[b]}
    while more := {(a, d) for a, b in found for c, d in found if b == c} - found:
        found |= more
    return found


def fulfils(order, preferred, other):
    """Carterette et al. 2008: a document that was not retrieved ranks below all others."""
    if preferred not in order:
        return False
    return other not in order or order.index(preferred) < order.index(other)


def counted(order, preferences, pairs):
    """Of the preferences that count, whether each is fulfilled."""
    least = ("all", "any", "both").index(pairs)
    return [fulfils(order, a, b) for a, b in preferences if (a in order) + (b in order) >= least]


def number_of_preferences(order, groups, *, pairs="all"):
    return Fraction(sum(len(counted(order, preferences_of(group), pairs)) for group in groups))


def fulfilled_preferences(order, groups, *, pairs="all"):
    return Fraction(sum(sum(counted(order, preferences_of(group), pairs)) for group in groups))


def preference(order, groups, *, pairs="all"):
    number = number_of_preferences(order, groups, pairs=pairs)
    return fulfilled_preferences(order, groups, pairs=pairs) / number if number else Fraction(0)


def pair_preference(order, groups, *, pairs="all"):
    of_pair = {}
    for group in groups:
        for a, b in preferences_of(group):
            of_pair.setdefault(frozenset((a, b)), []).extend(counted(order, [(a, b)], pairs))
    shares = [Fraction(sum(found), len(found)) for found in of_pair.values() if found]
    return sum(shares) / len(shares) if shares else Fraction(0)


def group_preference(order, groups, *, pairs="all"):
    return sum(preference(order, [group], pairs=pairs) for group in groups) / len(groups)


def group_preference_r(order, groups, *, pairs="all"):
    """Of trec_eval's description, with what its code does beyond that: see the page of measures."""
    shares = [preference_r(order, group, pairs) for group in groups]
    return Fraction(0) if None in shares else sum(shares) / len(groups)


def preference_r(order, group, pairs):
    both, level = pairs == "both", {doc: value for levels in group for doc, value in levels.items()}
    ranked = [*(doc for doc in order if doc in level), *sorted(level.keys() - set(order))]
    relevant = [doc for doc in ranked if level[doc] > 0]
    # Levels below 0 of a group with subgroups are of neither kind.
    others = [doc for doc in ranked if level[doc] == 0 or (level[doc] < 0 and len(group) == 1)]
    R, N = (sum(doc in order or not both for doc in docs) for docs in (relevant, others))
    found = counted(order, preferences_of(group), pairs)
    if R >= N:  # as if there were R - N more, below all others
        found += [doc in order for doc in relevant if doc in order or not both] * (R - N)
        found += [False] * (R - N) * (len(relevant) - R)  # counted by all relevant documents
    else:
        group = group if len(group) > 1 else [{doc: max(one, 0) for doc, one in group[0].items()}]
        kept = others[: R if len(group) == 1 else len(relevant)]
        found = counted(order, {pair for pair in preferences_of(group) if not {*pair} & {*others} - {*kept}}, pairs)
        if len(group) == 1:  # each of the others against the first R of them, as if it were preferred
            found += [fulfils(order, a, b) for a in others for b in kept if not both or {a, b} <= {*order}]
    return Fraction(sum(found), len(found)) if found else None


def over_orders_of_documents(tied, groups, measure, ties, **options):
    """A measure of preferences, of a ranking with groups of tied documents."""
    orders = product(*map(permutations, tied))
    values = [measure(list(chain.from_iterable(order)), groups, **options) for order in orders]
    return {"best": max, "worst": min, "expected": lambda values: sum(values) / len(values)}[ties](values)


def of_one_group(measure):
    """The measure of levels: one user's. Documents of a level below 0 have no judgment."""

    @over_judged()
    @wraps(measure)
    def read(order, levels, **options):
        retrieved = [(place, level) for place, level in enumerate(order) if at_least(level, 0)]
        missing = Counter(level for level in levels if level >= 0) - Counter(level for _, level in retrieved)
        judged = {f"a{place}": level for place, level in retrieved}
        judged |= {f"b{place}": level for place, level in enumerate(missing.elements())}
        return measure([f"a{place}" for place, _ in retrieved], [[judged]], **options)

    return read


number_of_preferences_of_levels = of_one_group(number_of_preferences)
fulfilled_preferences_of_levels = of_one_group(fulfilled_preferences)
preference_of_levels = of_one_group(preference)
pair_preference_of_levels = of_one_group(pair_preference)
group_preference_of_levels = of_one_group(group_preference)
group_preference_r_of_levels = of_one_group(group_preference_r)


@over_judged()
def inferred_ap(order, levels, *, rel=1):
    """Of a relevant document the precision that the judged documents above it let one infer."""
    total, seen, others, pool = Fraction(0), 0, 0, 0
    for place, level in enumerate(order, 1):
        if at_least(level, rel):
            share = (seen + EPSILON) / (seen + others + 2 * EPSILON)
            total += (1 + (seen + others + pool) * share) / place if place > 1 else 1
        seen += at_least(level, rel)
        others += at_least(level, 0) and level < rel
        pool += level is not None and level < 0
    return quotient(total, counts(order, levels, rel)[1])


@over_judged()
def interpolated_precision_of_runs(order, levels, *, recalls, hits="exact", rel=1):
    """The mean over levels of recall of the highest precision there or beyond; `hits` says how a level is reached."""
    _, R, _ = counts(order, levels, rel)
    if not R:
        return Fraction(0)
    reach = {"exact": lambda recall: ceil(recall * R), "trec_eval9": lambda recall: int(float(recall) * R + 0.9),
             "trec_eval10": lambda recall: floor(float(recall) * R + 0.5)}[hits]  # fmt: skip
    found = list(accumulate(at_least(level, rel) for level in order))
    total = Fraction(0)
    for recall in recalls:
        total += max((Fraction(h, rank) for rank, h in enumerate(found, 1) if h >= reach(recall)), default=Fraction(0))
    return total / len(recalls)


@over_judged()
def bin_g(order, levels, *, rel=1):
    total, others = mp.mpf(0), 0
    for level in order:
        total += 1 / mp.log(2 + others, 2) if at_least(level, rel) else 0
        others += not at_least(level, rel)
    return quotient(total, counts(order, levels, rel)[1])


@over_judged()
def normalized_gain(order, levels, *, gain="linear"):
    """G of trec_eval, to which a rank costs 1 at least."""
    ideal = [one for one in ideal_gains(levels, gain) if one > 0]
    total, gained, cost = mp.mpf(0), Fraction(0), Fraction(0)
    for rank, level in enumerate(order):
        cost += max(ideal[rank], 1) if rank < len(ideal) else 1
        gained += worth(gain, level)
        total += mpf(worth(gain, level)) / mp.log(mpf(2 + cost - gained), 2) if worth(gain, level) else 0
    return total / mpf(sum(ideal)) if ideal else nan


def ndcg_at(order, levels, gain, k):
    gains = [one for one in ideal_gains(levels, gain) if one > 0]
    return discounted([worth(gain, level) for level in order[:k]]) / discounted(gains[:k])


@over_judged()
def ndcg_at_relevant(order, levels, *, gain="linear"):
    """Documents that were never retrieved count with nDCG of all."""
    ideal = sum(worth(gain, level) > 0 for level in levels)
    here = [ndcg_at(order, levels, gain, rank) for rank, level in enumerate(order, 1) if worth(gain, level) > 0]
    if not ideal:
        return nan
    rest = (ideal - len(here)) * ndcg_at(order, levels, gain, None)
    return max((sum(here) + rest) / ideal, 0)


@over_judged()
def ndcg_at_levels(order, levels, *, gain="linear", rel=1):
    """At the last rank of each gain of the ideal order; with more documents than those and one, at the end too.

    0 where nothing is relevant, as trec_eval has it, whatever the gains.
    """
    ideal = [one for one in ideal_gains(levels, gain) if one > 0]
    ranks = [rank for rank in range(1, len(ideal) + 1) if rank == len(ideal) or ideal[rank] != ideal[rank - 1]]
    if not ranks or not any(at_least(level, rel) for level in levels):
        return nan
    values = [ndcg_at(order, levels, gain, rank) for rank in ranks]
    values += [ndcg_at(order, levels, gain, None)] if len(ideal) + 1 < len(order) else []
    return sum(values) / len(values)


# --- means over orders, position by position ----------------------------------------------------------------


def hypergeometric(n, r, m):
    """(hits, probability) among the first m of n items, r of them relevant, in random order."""
    for h in range(max(0, m - (n - r)), min(r, m) + 1):
        yield h, Fraction(comb(m, h) * comb(n - m, r - h), comb(n, r))


def mean_precision_sum(c, H, n, r, m):
    """The mean sum of the precisions at the hits among the first m of a group, by linearity over its places."""
    total = Fraction(0)
    for j in range(1, m + 1):
        others = Fraction((j - 1) * (r - 1), n - 1) if n > 1 else 0  # relevant before place j if j is relevant
        total += Fraction(r, n) * (H + 1 + others) / (c + j)
    return total


def average_precision_by_position(rank, k=None, *, normalize="min"):
    """Expected AP or AP@k."""
    R = rank.num_relevant
    if R == 0:
        return nan
    done = Fraction(0)
    for c, H, n, r in with_above(rank.groups):
        m = n if k is None else min(max(k - c, 0), n)
        if m < n and normalize == "hits":  # the hits above the cut are random: condition on them
            value = Fraction(0)
            for h, probability in hypergeometric(n, r, m):
                if H + h:
                    value += probability * (done + (mean_precision_sum(c, H, m, h, m) if h else 0)) / (H + h)
            return value
        if m and r:
            done += mean_precision_sum(c, H, n, r, m)
    return divided(done, num_hits(rank), R, k, normalize)


def trapezoid_by_position(rank):
    """Expected AP with interpolation="trapezoid"."""
    R = rank.num_relevant
    if R == 0:
        return nan
    total = Fraction(0)
    for c, H, n, r in with_above(rank.groups):
        for j in range(1, n + 1 if r else 1):
            others = H + (Fraction((j - 1) * (r - 1), n - 1) if n > 1 else 0)
            at = (others + 1) / Fraction(c + j)
            before = others / Fraction(c + j - 1) if c + j > 1 else at
            total += Fraction(r, n) * (before + at) / 2
    return total / R


def reciprocal_rank_by_position(rank, k=None):
    total = Fraction(0)
    for c, _, n, r in with_above(rank.groups):
        if r:  # place j is the first hit: the others lie behind it
            for j in range(1, n - r + 2):
                if k is None or c + j <= k:
                    total += Fraction(comb(n - j, r - 1), comb(n, r)) / (c + j)
            break
    return total


def success_by_position(rank, k):
    for c, _, n, r in with_above(rank.groups):
        if r:
            m = min(max(k - c, 0), n)
            return 1 - Fraction(comb(n - r, m), comb(n, m))
    return Fraction(0)


def exponential_sum_by_position(rank, alpha):
    """The expected sum of exp(-alpha * rank / N) over the relevant items."""
    N = num_items(rank)
    return mp.fsum(
        mpf(Fraction(r, n)) * mp.exp(-mpf(alpha) * (c + j) / N)
        for c, _, n, r in with_above(rank.groups)
        for j in range(1, n + 1)
    )


def rie_by_position(rank, alpha=20.0):
    if num_hits(rank) == 0:
        return nan
    mean = exponential_sum((1,) * num_items(rank), alpha) / num_items(rank)
    return exponential_sum_by_position(rank, alpha) / num_hits(rank) / mean


def bedroc_by_position(rank, alpha=20.0):
    hits, N = num_hits(rank), num_items(rank)
    if hits in (0, N):
        return nan
    low = exponential_sum((0,) * (N - hits) + (1,) * hits, alpha)
    high = exponential_sum((1,) * hits + (0,) * (N - hits), alpha)
    return (exponential_sum_by_position(rank, alpha) - low) / (high - low)


# --- tables of any size, group by group ---------------------------------------------------------------------

wide = mpmath.MPContext()
wide.dps = 350  # BEDROC subtracts exp(-700), which is 1e-304


def from_table(above, tied, hits, num_items, num_relevant):
    """A ranking from the columns of a table; the groups between its rows hold no relevant item."""
    groups, end = [], 0
    for c, n, r in zip(above, tied, hits, strict=True):
        groups += [Group(None, c - end, 0)] * (c > end) + [Group(None, n, r)]
        end = c + n
    groups += [Group(None, num_items - end, 0)] * (num_items > end)
    return Ranking(tuple(groups), num_relevant, False, False)


def straight(rank, ties):
    """The groups, those of best and worst in two: inside each the hit curve is straight under this reading."""
    if ties in ("expected", "threshold"):
        return rank.groups
    first = slice(None, None, 1 if ties == "best" else -1)
    parts = [((g.relevant, g.relevant), (g.items - g.relevant, 0))[first] for g in rank.groups]
    return tuple(Group(None, n, r) for pair in parts for n, r in pair if n)


def wide_fraction(x):
    x = Fraction(x)
    return wide.mpf(x.numerator) / x.denominator


@remembered
def digamma(x):
    return wide.psi(0, x)


def harmonic(a, b):
    """1/(a+1) + ... + 1/b."""
    return digamma(b + 1) - digamma(a + 1)


def average_precision_by_group(rank, k=None, *, ties="expected", interpolation=None, normalize="min"):
    R, groups = rank.num_relevant, straight(rank, ties)
    if interpolation is not None:
        if ties == "expected":
            return mean_envelope(rank.groups, R, interpolation)
        return envelope(tuple((c + n, H + r) for c, H, n, r in with_above(groups)), R, interpolation)
    if ties == "threshold":
        return divided(threshold_sum(groups, k), share_of_hits(groups, k), R, k, normalize)
    total = wide.mpf(0)
    for c, H, n, r in with_above(groups):
        m = n if k is None else min(max(k - c, 0), n)
        if m and r:
            slope = wide_fraction(Fraction(r - 1, n - 1) if n > 1 else 0)  # 1 in the parts of best and worst
            part = slope * m + (H + 1 - slope * (c + 1)) * harmonic(c, c + m)
            total += wide_fraction(Fraction(r, n)) * part
    return total / (min(k, R) if k is not None and normalize == "min" else R)


def interpolated_precision_by_group(rank, recall, *, ties="expected"):
    need = share_of(recall, rank.num_relevant)
    if ties == "expected":
        return greatest_of_mean(rank.groups, need, lambda h: h >= need)
    points = [(c + n, H + r) for c, H, n, r in with_above(straight(rank, ties))]
    return greatest_from(points, lambda h: h >= need)


def normalized_average_precision_by_group(rank, *, ties="expected"):
    one_group = rank._replace(groups=(Group(None, num_items(rank), num_hits(rank)),))
    base = average_precision_by_group(one_group)
    value = average_precision_by_group(rank, ties=ties)
    if num_items(rank) == rank.num_relevant == num_hits(rank):
        return nan
    return (value if isinstance(value, wide.mpf) else wide_fraction(value)) / (1 - base) - base / (1 - base)


def hits_at_by_group(rank, k, *, ties="expected"):
    return share_of_hits(straight(rank, ties), k)


def precision_by_group(rank, k, *, ties="expected"):
    return hits_at_by_group(rank, k, ties=ties) / k


def fall_out_by_group(rank, k, *, ties="expected"):
    k = min(k, num_items(rank))
    return ratio(k - hits_at_by_group(rank, k, ties=ties), num_items(rank) - rank.num_relevant)


def f_score_by_group(rank, k, *, beta=1.0, ties="expected"):
    b2 = Fraction(beta) ** 2
    return (1 + b2) * hits_at_by_group(rank, k, ties=ties) / (k + b2 * rank.num_relevant)


def enrichment_factor_by_group(rank, *, k, ties="expected"):
    return hits_at_by_group(rank, k, ties=ties) * num_items(rank) / (k * rank.num_relevant)


def mean_rank_by_group(rank, *, ties="expected"):
    total = sum(r * Fraction(2 * c + n + 1, 2) for c, _, n, r in with_above(straight(rank, ties)))
    return total / rank.num_relevant


def mean_percentile_rank_by_group(rank, *, ties="expected"):
    return (mean_rank_by_group(rank, ties=ties) - 1) / (num_items(rank) - 1) if num_items(rank) > 1 else Fraction(1, 2)


def roc_steps(rank):
    """(others above, d others, r relevant) of every group; r (j + 1) / (d + 1) come before the (j + 1)th other one."""
    for c, H, n, r in with_above(rank.groups):
        yield c - H, n - r, r


def partial_roc_area_by_group(rank, end, *, ties="expected"):
    if ties != "expected":
        return partial_roc_area(straight(rank, ties), end)
    negatives = num_items(rank) - num_hits(rank)
    if not negatives or not num_hits(rank):
        return nan
    stop, total = end * negatives, Fraction(0)
    for before, others, r in roc_steps(rank):
        steps = min(max(floor(stop) - before, 0), others)  # as wide as one of the others; the next is cut
        total += r * Fraction(steps * (steps + 1), 2 * (others + 1))
        total += r * Fraction(steps + 1, others + 1) * max(stop - before - steps, 0)
    return total / (negatives * num_hits(rank))


def roc_auc_by_group(
    rank, *, min_fpr=None, max_fpr=None, min_tpr=None, max_tpr=None, standardize=True, ties="expected"
):
    by_tpr = {min_tpr, max_tpr} != {None}
    if not by_tpr and {min_fpr, max_fpr} == {None}:
        return roc_area(straight(rank, ties))
    low, high = between_rates(*((min_tpr, max_tpr) if by_tpr else (min_fpr, max_fpr)))
    if by_tpr:
        area = roc_area_beside_by_group(rank, high, ties=ties) - roc_area_beside_by_group(rank, low, ties=ties)
    else:
        area = partial_roc_area_by_group(rank, high, ties=ties) - partial_roc_area_by_group(rank, low, ties=ties)
    return mcclish(area, low, high, by_tpr) if standardize else area


def roc_area_beside_by_group(rank, end, *, ties="expected"):
    """The area up to a true-positive rate. Before hit i of r, on average d i / (r + 1) of a group's d others come."""
    if ties != "expected":
        return roc_area_beside(straight(rank, ties), 0, end)
    negatives, hits = num_items(rank) - num_hits(rank), num_hits(rank)
    if not negatives or not hits:
        return nan
    stop, total, seen = end * hits, Fraction(0), 0
    for before, others, r in roc_steps(rank):
        whole = min(max(floor(stop) - seen, 0), r)
        part = min(max(stop - seen - whole, 0), 1) if whole < r else 0
        total += whole * (negatives - before) - Fraction(others * whole * (whole + 1), 2 * (r + 1))
        total += part * (negatives - before - Fraction(others * (whole + 1), r + 1))
        seen += r
    return total / (negatives * hits)


def auac_by_group(rank, *, ties="expected"):
    area = sum(Fraction(n * (2 * H + r), 2) for _, H, n, r in with_above(straight(rank, ties)))
    return area / (num_items(rank) * rank.num_relevant)


def roc_enrichment_by_group(rank, fpr, *, ties="expected"):
    if ties != "expected":
        return roc_height(straight(rank, ties), fpr) / decimal(fpr)
    negatives = num_items(rank) - num_hits(rank)
    if not negatives or not num_hits(rank):
        return nan
    at = floor(share_of(fpr, negatives))
    height = sum(r * min(Fraction(at - b + 1, d + 1), 1) for b, d, r in roc_steps(rank) if b <= at)
    return height / num_hits(rank) / decimal(fpr)


def log_auc_by_group(rank, min_fpr, *, max_fpr=1, ties="expected"):
    low, high = Fraction(min_fpr), Fraction(max_fpr)
    width = wide.log(wide_fraction(high / low))
    if ties != "expected":
        return log_area(straight(rank, ties), low, high, wide) / width
    negatives = num_items(rank) - num_hits(rank)
    if not negatives or not num_hits(rank):
        return nan
    start, end, total = low * negatives, high * negatives, wide.mpf(0)
    for before, others, r in roc_steps(rank):
        first, last = max(floor(start) + 1, before), min(ceil(end) - 1, before + others)
        part = max(0, min(first, before + others + 1) - before) * width
        if first <= last:
            part += (last - first + 1) * wide.log(wide_fraction(end))
            part -= wide.loggamma(last + 1) - wide.loggamma(first)
        total += r * part / (others + 1)
    return total / width / num_hits(rank)


def reciprocal_rank_by_group(rank, *, ties="expected"):
    """None where the mean is a sum of too many terms."""
    c, _, n, r = next(group for group in with_above(straight(rank, ties)) if group[3])
    if ties != "expected":
        return Fraction(1, c + 1)
    if r <= 12:
        # By (n - j) = (n + c) - (c + j) in the last factor of C(n - j, r - 1), the mean for r from that for r - 1.
        mean = harmonic(c, c + n) / n
        for i in range(2, r + 1):
            mean = ((n + c - i + 2) * mean - 1) * i / ((n - i + 1) * wide.mpf(i - 1))
        return mean if c < 2**16 * n or r == 1 else None  # each step costs the digits of c / n
    if n > 50 * r:
        return None
    p, total = wide_fraction(Fraction(r, n)), wide.mpf(0)
    for j in range(1, n - r + 2):
        total += p / (c + j)
        p *= wide_fraction(Fraction(n - j - r + 1, n - j)) if j < n else 0
        if p < total * wide.mpf(10) ** -40:
            break
    return total


def exponential_sum_by_group(groups, alpha):
    step = wide_fraction(alpha) / sum(g.items for g in groups)
    return wide.fsum(
        wide_fraction(Fraction(r, n)) * wide.exp(-step * c) * wide.expm1(-step * n) / -wide.expm1(step)
        for c, _, n, r in with_above(groups)
        if r
    )


def rie_by_group(rank, alpha, *, ties="expected"):
    N = num_items(rank)
    mean = exponential_sum_by_group((Group(None, N, N),), alpha) / N
    return exponential_sum_by_group(straight(rank, ties), alpha) / num_hits(rank) / mean


def bedroc_by_group(rank, alpha, *, ties="expected"):
    hits, N = num_hits(rank), num_items(rank)
    if hits == N:
        return nan
    first = (Group(None, hits, hits), Group(None, N - hits, 0))
    low, high = (exponential_sum_by_group(groups, alpha) for groups in (first[::-1], first))
    return (exponential_sum_by_group(straight(rank, ties), alpha) - low) / (high - low)
