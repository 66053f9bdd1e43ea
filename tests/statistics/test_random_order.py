"""p-values against a random order: by all orders, and by chance."""

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from draws import UNLIKELY, chi_square, ranking
from scipy import stats

import hitcurve as hc
from hitcurve.measures import parse
from hitcurve.statistics.random_order import random_ranks


@pytest.mark.parametrize("hits", [[1, 1, 0, 0, 0, 0], [0, 1, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1], [1, 1, 1]])
@pytest.mark.parametrize("name", ["AP", "ROCAUC", "P@2", "Fallout@2", "MeanRank"])
def test_p_value_by_all_orders(hits, name):
    curve, measure = hc.HitCurve.from_ranked(hits), parse(name)
    value = measure(curve)
    got = curve.p_value(name)
    if math.isnan(value):
        assert math.isnan(got.pvalue)
        return
    n, relevant = len(hits), sum(hits)
    others = [
        measure(hc.HitCurve.from_ranked([i in chosen for i in range(n)])) for chosen in combinations(range(n), relevant)
    ]
    assert got.method == "exact"
    assert got.statistic == value
    as_good = [one <= value if measure.record.lower_is_better else one >= value - 1e-12 for one in others]
    assert got.pvalue == pytest.approx(np.mean(as_good))
    assert got.resolution == pytest.approx(1 / math.comb(n, relevant))
    drawn = curve.p_value(name, method="permutation", n_resamples=4000, rng=1)
    assert abs(drawn.pvalue - got.pvalue) < 4 * math.sqrt(0.25 / 4000)


def test_p_value_by_permutation():
    rng = np.random.default_rng(0)
    found = [hc.HitCurve(rng.random(500) < 0.1, rng.random(500)).p_value(n_resamples=99, rng=i) for i in range(100)]
    assert {one.method for one in found} == {"permutation"}
    assert stats.kstest([one.pvalue for one in found], "uniform").pvalue > UNLIKELY
    good = hc.HitCurve(*ranking(500, 50, shift=2.0)).p_value(n_resamples=199, rng=1, workers=2)
    assert good.pvalue == good.resolution == 1 / 200
    assert good.null_distribution.shape == (199,)
    chance = hc.HitCurve(*ranking(500, 50)).chance()
    null = hc.HitCurve(*ranking(500, 50)).p_value(n_resamples=4000, rng=1).null_distribution
    assert abs(null.mean() - chance) < 4 * null.std() / math.sqrt(4000)


@pytest.mark.parametrize(("items", "hits"), [(6, 2), (6, 4), (5, 5), (7, 3)])
def test_random_ranks_are_sets_equally_likely(items, hits):
    drawn = random_ranks(np.random.default_rng(3), items, hits, 6000)
    seen = Counter(map(tuple, drawn.tolist()))
    sets = list(combinations(range(items), hits))
    assert set(seen) == set(sets)
    if len(sets) > 1:
        assert chi_square([seen[one] for one in sets], [6000 / len(sets)] * len(sets)) > UNLIKELY
