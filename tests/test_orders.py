"""What ties="expected", "best" and "worst" promise: the mean, the greatest and the least over all orders of tied items.

Every measure of curves by its name, against itself in each order; test_register.py has runs. Records say where a
reading is another thing.
"""

import itertools
import math
import random

import numpy as np
import pytest
import register

import hitcurve as hc
from hitcurve import measures

MORE = (
    *(f"AP(interp={one})" for one in register.INTERPOLATIONS if one), "AP@2", "AP(norm=min)@3", "AP(norm=hits)@2",
    "AP(norm=hits)@3", "P@2", "R(norm=min)@2", "Hits@2", "F0.5@3", "Fallout@2", "RR@2", "Success@1",
    "ROCAUC(max_fpr=0.05)", "ROCAUC(max_fpr=0.4)", "ROCAUC(max_fpr=0.75)", "ROCAUC(min_fpr=0.3,max_fpr=0.35)",
    "ROCAUC(min_tpr=0.4)", "ROCAUC(min_tpr=0.1,max_tpr=0.3)", "ROCE@5%", "ROCE@40%", "ROCE@100%",
    "logAUC(min_fpr=0.2)", "logAUC(min_fpr=0.3,max_fpr=0.7)", "logAUC(min_fpr=0.5,max_fpr=0.51)", "BEDROC(1)", "RIE(1)",
    "EF@3", "EF@50%", "NEF@2", "nDCG@2", "nDCG(dcg=exp-log2)@3", "nDCG(gains={1:5,2:1})@3", "ERR(max=2)@3",
    "RBP(p=0.4)@3", "Q(beta=3)@2", "NCU(stop=rbp,p=0.4)@3", "GAP(weights={1:0.2,2:0.9})@3", "AG@2", "INSQ(T=2)@3",
    "INST(T=2,ties=best)@3", "INST(T=2,ties=worst)",
)  # fmt: skip


def names():
    """A name for every measure that ties make a difference to, without a reading of its own."""
    every = [name for record in measures.MEASURES for name in record.forms]
    every += [name for row in register.MEASURES for name, _ in row.written]
    for name in dict.fromkeys([*every, *MORE]):
        measure = measures.parse(name)
        of_topics = measure.record.of == ("subtopics",)  # tests/test_subtopics.py has these
        takes = measure.ties is None or "," in name or measure.record.name == "INST"
        if measure.record.ties and not of_topics and takes:
            yield name.replace(",ties=best", "").replace(",ties=worst", "") if measure.ties else name


NAMES = list(dict.fromkeys(names()))


def rankings(levels):
    """(curve, curves of all its orders) of few items, some of them tied. Orders that look alike are as many of each."""
    one, many = (hc.HitCurve, hc.HitCurves) if levels == 1 else (hc.GainCurve, hc.GainCurves)
    rng = random.Random(levels)
    for _ in range(30):
        n = rng.randint(2, 6)
        items = [rng.choice([0, 0, 1, levels]) for _ in range(n)]
        scores = sorted((rng.randint(1, 3) for _ in range(n)), reverse=True)
        groups = [[level for level, score in zip(items, scores, strict=True) if score == one] for one in (3, 2, 1)]
        orders = itertools.product(*map(itertools.permutations, groups))
        orders = np.array(sorted({tuple(itertools.chain.from_iterable(each)) for each in orders}))
        yield one(items, scores), many(orders, np.broadcast_to(np.arange(n, 0, -1), orders.shape))


ALL = {levels: list(rankings(levels)) for levels in (1, 2)}


def differences(name, levels):
    """The readings that are not what they promise, over some rankings."""
    measure, found = measures.parse(name), set()
    record = measure.record
    for curve, orders in ALL[levels]:
        try:
            values = measure(orders, record.ties[0])
        except ValueError:  # for levels, or for judgments
            return None
        if record.gaps:  # orders without a value do not count
            values = values[~np.isnan(values)] if not np.isnan(values).all() else values
        promised = {
            "expected": math.fsum(values) / len(values),
            "best": values.min() if record.lower_is_better else values.max(),
            "worst": values.max() if record.lower_is_better else values.min(),
        }
        for ties in set(record.ties) & set(promised):
            value = measure(curve, ties)
            near = abs(value - promised[ties]) <= 1e-13 * max(1.0, abs(promised[ties]))
            if not (near or (math.isnan(value) and math.isnan(promised[ties]))):
                found.add(ties)
    return found


# What the records say: no mean over the orders, or no bounds.
NO_MEAN = {f"AP(interp={one})" for one in register.INTERPOLATIONS if one not in (None, "trapezoid", "trapezoid-from-1")}


def exceptions(name):
    if name in NO_MEAN:
        return {"expected"}
    return {"best", "worst"} if name == "AP(norm=hits)@3" else set()  # not of so few or of all


@pytest.mark.parametrize("name", NAMES)
def test_expected_is_the_mean_and_best_and_worst_are_bounds(name):
    found = [differing for levels in (1, 2) if (differing := differences(name, levels)) is not None]
    measure = measures.parse(name)
    of = register.ROW[measure.record.name].of
    assert found or ("judged" in of and (measure.rel is not None or of == ("judged",))), "measured nowhere"
    for differing in found:
        assert differing <= exceptions(name), differing
    if found:
        assert set().union(*found) == exceptions(name), "no exception after all"


def test_records_say_what_is_no_mean_and_no_bound():
    said = {record.name: record.reading for record in measures.MEASURES
            if record.reading and not record.gaps and {"hits", "gains"} & {*record.of}}  # fmt: skip
    assert set(said) == {measures.parse(name).record.name for name in NAMES if exceptions(name)}
    for name in filter(exceptions, NAMES):
        (option,) = measures.parse(name).name.partition("(")[2].partition(")")[0].split(",")
        assert option.partition("=")[2].removesuffix("-float") in said["AP"], name
