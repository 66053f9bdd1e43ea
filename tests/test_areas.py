"""Areas under the ROC curve between two rates, beside the numbers that pROC publishes."""

import re

import numpy as np
import pytest

import hitcurve as hc

# The data set aSAH of the R package pROC (Turck et al. 2010, Intensive Care Med. 36:107): 113 patients, 41 with a poor
# outcome. Patients with a good and with a poor outcome, by WFNS grade 1 to 5.
WFNS = {1: (37, 2), 2: (20, 12), 3: (3, 1), 4: (8, 8), 5: (4, 18)}
# Outcomes in the order of falling NDKA, poor ones 1; patients of the same value in brackets.
NDKA = ("101010100111100010011110000100011(10)001101100100(10)01000001001011100000010010000(10)10(00)0100110000001000000000"
        "1110010")  # fmt: skip


def of_wfns():
    grade = np.repeat([*WFNS], [sum(pair) for pair in WFNS.values()])
    return hc.HitCurve(np.concatenate([[0] * good + [1] * poor for good, poor in WFNS.values()]), grade)


def of_ndka():
    groups = re.findall(r"\d|\(\d+\)", NDKA)
    outcomes = [[int(one) for one in group.strip("()")] for group in groups]
    place = np.repeat(np.arange(len(groups)), [len(one) for one in outcomes])
    return hc.HitCurve(np.concatenate(outcomes), place, lower_is_better=True)


# What pROC's own tests expect (tests/testthat/test-auc.R, version 1.19): specificities or sensitivities, area, corrected area.
PROC = (
    (of_wfns, "fpr", 0.9, 1.0, 0.0334417344173442, 0.649693339038653),
    (of_wfns, "fpr", 0.8, 0.9, 0.0598373983739837, 0.763749402199904),
    (of_wfns, "fpr", 0.0, 0.5, 0.488134475939354, 0.952537903757416),
    (of_wfns, "fpr", 0.0, 1.0, 0.823678861788618, 0.823678861788618),
    (of_wfns, "tpr", 0.9, 1.0, 0.0400999322493225, 0.68473648552275),
    (of_wfns, "tpr", 0.8, 0.9, 0.0609953703703703, 0.770561002178649),
    (of_wfns, "tpr", 0.0, 0.5, 0.483358739837398, 0.933434959349593),
    (of_wfns, "tpr", 0.0, 1.0, 0.823678861788618, 0.823678861788618),
    (of_ndka, "fpr", 0.9, 1.0, 0.0107046070460705, 0.530024247610897),
    (of_ndka, "fpr", 0.8, 0.9, 0.0277777777777778, 0.575163398692811),
    (of_ndka, "fpr", 0.0, 0.5, 0.416836043360434, 0.667344173441734),
    (of_ndka, "fpr", 0.0, 1.0, 0.611957994579946, 0.611957994579946),
    (of_ndka, "tpr", 0.9, 1.0, 0.0037940379403794, None),
    (of_ndka, "tpr", 0.8, 0.9, 0.0242547425474255, 0.554439662043679),
    (of_ndka, "tpr", 0.0, 0.5, 0.428523035230352, 0.714092140921409),
    (of_ndka, "tpr", 0.0, 1.0, 0.611957994579946, 0.611957994579946),
)


@pytest.mark.parametrize(("curve", "kind", "low", "high", "area", "corrected"), PROC)
def test_proc(curve, kind, low, high, area, corrected):
    if kind == "fpr":
        low, high = 1 - high, 1 - low  # pROC takes specificities
    read = {f"min_{kind}": low, f"max_{kind}": high, "ties": "threshold"}
    assert curve().roc_auc(**read, standardize=False) == pytest.approx(area, rel=2e-14)
    if corrected is not None:
        assert curve().roc_auc(**read) == pytest.approx(corrected, rel=2e-14)


def test_proc_has_no_corrected_area_below_the_diagonal():
    """pROC gives NA with a warning; hitcurve gives the value, as scikit-learn does up to max_fpr."""
    value = of_ndka().roc_auc(min_tpr=0.9, ties="threshold")
    assert value == pytest.approx((1 + (0.0037940379403794 - 0.005) / (0.1 - 0.005)) / 2, rel=1e-13)
    assert value < 0.5


@pytest.mark.parametrize("ties", ["expected", "best", "worst", "threshold"])
def test_parts_add_up(ties):
    """Areas of adjacent parts add up to the whole area, by either rate; from rate 0 the area is that of max_fpr alone."""
    rng = np.random.default_rng(0)
    for n in (2, 5, 50, 3000):
        for distinct in (1, 3, 10**9):
            curve = hc.HitCurve(np.arange(n) % 3 == 0, rng.integers(0, distinct, n))
            cuts = np.sort(rng.random(4))
            for kind in ("fpr", "tpr"):
                rates = {f"min_{kind}": [0.0, *cuts], f"max_{kind}": [*cuts, 1.0]}
                parts = curve.roc_auc(**rates, standardize=False, ties=ties)
                assert parts.sum() == pytest.approx(curve.roc_auc(ties=ties), rel=1e-14)
            for flag in (True, False):
                first = curve.roc_auc(min_fpr=0.0, max_fpr=cuts, standardize=flag, ties=ties)
                alone = curve.roc_auc(max_fpr=cuts, standardize=flag, ties=ties)
                np.testing.assert_allclose(first, alone, rtol=1e-13, atol=1e-15)


def test_each_query_has_its_own_numbers():
    rng = np.random.default_rng(1)
    y, s, qid = rng.integers(0, 2, 400), rng.integers(0, 9, 400), rng.integers(0, 7, 400)
    curves = hc.HitCurves(y, s, qid=qid)
    for read in ({"min_tpr": [0.2, 0.9]}, {"min_fpr": 0.1, "max_fpr": [[0.3], [0.7]]}, {"max_tpr": 0.5}, {"min_fpr": []}):
        each = np.array([curve.roc_auc(**read) for curve in curves])
        np.testing.assert_array_equal(curves.roc_auc(**read), each)
        assert curves.roc_auc(**read).shape == each.shape
