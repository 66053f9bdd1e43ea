"""What is said about odd data."""

import re

import numpy as np
import pytest

import hitcurve as hc
from hitcurve.measures import parse
from hitcurve.report.warnings import warnings_of
from hitcurve.sources.screen import ScreenedScore

CUTS = [parse(name) for name in ("EF@1%", "EF@10%", "Hits@100")]


def told(curves, lower=False, names=None, measures=CUTS):
    return [f"s: {sentence}" for sentence in warnings_of(ScreenedScore("s", lower, curves, names), measures)]


def test_nothing_odd():
    rng = np.random.default_rng(0)
    y = np.arange(1000) < 100
    assert told(hc.HitCurve(y, rng.normal(size=1000) + y)) == []
    assert told(hc.HitCurve(y, rng.normal(size=1000))) == []  # chance is not worse than chance


def test_few_relevant_items():
    y = np.arange(1000) < 19
    assert told(hc.HitCurve(y, -np.arange(1000.0)))[0].startswith("s: only 19 relevant items: with fewer than 20")
    one = np.arange(1000) == 500
    assert told(hc.HitCurve(one, -np.arange(1000.0)))[0].startswith("s: only 1 relevant item: with fewer than 20")
    y = np.arange(1000) < 20
    assert told(hc.HitCurve(y, -np.arange(1000.0))) == []


@pytest.mark.parametrize(("lower", "other"), [(False, "lower"), (True, "higher")])
def test_the_wrong_direction(lower, other):
    rng = np.random.default_rng(0)
    y = np.arange(1000) < 100
    s = rng.normal(size=1000) - y
    (warning,) = told(hc.HitCurve(y, -s if lower else s, lower_is_better=lower), lower)
    assert re.fullmatch(
        rf"s: the relevant items rank worse than chance \(ROC AUC 0\.\d+\): should {other} be better\? "
        rf"Then write --score s:{other}", warning
    )


def test_ties_at_a_cutoff():
    y = np.zeros(1000, int)
    y[:100:4] = 1
    s = -np.arange(1000.0)
    s[80:140] = -80.0  # 6 % of the items, around the cutoffs at 100
    (warning,) = told(hc.HitCurve(y, s))
    assert warning == (
        "s: 60 items share the score at the cutoff of 10 %: depending on their order 20 to 25 relevant items lie "
        "above it"
    )
    s[120:140] = -np.arange(120.0, 140)  # 4 %
    assert told(hc.HitCurve(y, s)) == []
    s[:] = 0
    (warning,) = told(hc.HitCurve(y, s))
    assert "cutoff of 1 %" in warning
    assert warning.endswith("; ties as large also at 10 %")
    assert told(hc.HitCurve(y, s), measures=[parse("AP")]) == []


def test_warnings_of_groups():
    y = np.tile([1, 0, 0, 0, 0], 30)
    group = np.repeat([0, 1, 2], 50)
    s = np.where(group == 0, 0.0, np.random.default_rng(0).normal(size=150)) - 3 * y * (group > 0)
    said = told(hc.HitCurves(y, s, qid=group), names=["a", "b", "c"])
    assert said == [
        "s: 3 of 3 groups have fewer than 20 relevant items",
        "s: 2 of 3 groups are ranked worse than chance: should lower be better? Then write --score s:lower",
        "s: more than 5 % of the items are tied at a cutoff, by groups: 1 % (1), 10 % (1)",
    ]


@pytest.mark.parametrize("turned", [0, 2, 20, 21, 40])
@pytest.mark.parametrize("lower", [False, True])
def test_the_wrong_direction_is_asked_about_where_most_groups_have_it(turned, lower):
    y = np.tile(np.arange(100) < 25, 42)
    group = np.repeat(np.arange(42), 100)
    s = np.random.default_rng(0).normal(size=4200) + np.where(group < turned, -3, 3) * y
    y[4000:] = False  # two groups without a relevant item say nothing
    said = told(hc.HitCurves(y, -s if lower else s, qid=group, lower_is_better=lower), lower, names=list(range(42)))
    other = "higher" if lower else "lower"
    asked = [f"s: {turned} of 40 groups are ranked worse than chance: should {other} be better? "
             f"Then write --score s:{other}"]
    assert said == (asked if turned > 20 else [])
