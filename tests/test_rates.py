"""A fraction or a rate k / n is a float next to it: times n it is k, and no rank more."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hitcurve as hc
from hitcurve.cli.main import main


@pytest.mark.parametrize("n", [1, 2, 3, 7, 19, 49, 100, 1234, 4093])
def test_every_share_is_its_rank(n):
    curve = hc.HitCurve.from_ranked([1] * n)
    ranks = np.arange(1, n + 1)
    shares = [k / n for k in range(1, n + 1)]
    assert np.array_equal(curve.hits_at(fraction=shares), ranks)
    assert np.array_equal(hc.HitCurves([[1] * n], [range(n)]).hits_at(fraction=shares)[0], ranks)
    assert np.array_equal(curve.hits_at(fraction=[Fraction(k, n) for k in range(1, n + 1)]), ranks)


@given(st.integers(1, 2**48), st.integers(1, 2**48), st.integers(-4, 4))
def test_shares_of_any_size(one, other, off):
    """The rank of a float some units in the last place off k / n, and the next one beyond a few."""
    k, n = sorted((one, other))
    share = k / n
    for _ in range(abs(off) // 2):
        share = math.nextafter(share, math.copysign(math.inf, off))
    curve = hc.HitCurve.from_table(None, [0], [n], [n], num_items=n)
    if share <= 1:
        assert curve.hits_at(fraction=share) == k
    if k < n and k < 2**40:  # a thousandth of an item more is another one
        assert curve.hits_at(fraction=Fraction(1000 * k + 1, 1000 * n)) == k + 1


@pytest.mark.parametrize("others", [1, 3, 19, 49, 123, 1233])
def test_every_rate_is_its_number_of_others(others):
    """The relevant item comes after k others: it is passed at the rate k / n, and not at the float before k - 1 / n."""
    for k in {1, 2, 3, others // 2, others - 1, others} & {*range(1, others + 1)}:
        curve = hc.HitCurve.from_table(None, [k], [1], [1], num_items=others + 1)
        for rate in (k / others, math.nextafter(k / others, 0), min(1.0, math.nextafter(k / others, 2))):
            assert curve.roc_enrichment(rate) == pytest.approx(others / k, rel=1e-15)
        assert curve.roc_enrichment((k - 0.001) / others) == 0
    assert hc.HitCurve([0, 1] + [0] * 18, range(20, 0, -1)).roc_enrichment(1 / 19) == 19


@pytest.mark.parametrize("relevant", [1, 3, 7, 19, 49, 1234])
def test_every_recall_is_its_number_of_hits(relevant):
    """Relevant items at the odd ranks: precision falls from one to the next."""
    curve = hc.HitCurve.from_ranked([1, 0] * relevant)
    for hits in {0, 1, 2, relevant // 2, relevant - 1, relevant} & {*range(relevant + 1)}:
        expected = hits / (2 * hits - 1) if hits else 1.0
        for recall in (hits / relevant, Fraction(hits, relevant), np.float64(hits / relevant)):
            assert curve.interpolated_precision(recall) == expected
        if hits < relevant:
            beyond = Fraction(1000 * hits + 1, 1000 * relevant)
            assert curve.interpolated_precision(beyond) == (hits + 1) / (2 * hits + 1)
            recall = math.nextafter(hits / relevant, 2)
            assert curve.interpolated_precision(recall) == (expected if hits else 1.0)


@pytest.mark.parametrize("recall", [-1e-9, 1.0000000000000002, math.nan, math.inf, Fraction(4, 3), 2])
def test_a_recall_lies_between_0_and_1(recall):
    with pytest.raises(ValueError, match=r"recall(\[1\])? is .*: must lie in \[0, 1\]"):
        hc.HitCurve([1, 0], [2, 1]).interpolated_precision(recall)
    with pytest.raises(ValueError, match=r"recall\[1\]"):
        hc.HitCurves([[1, 0]], [[2, 1]]).interpolated_precision([0.5, recall])


def test_the_command(tmp_path, capsys):
    """A share in percent with all the digits of its float."""
    pytest.importorskip("pyarrow")
    path = tmp_path / "screen.csv"
    path.write_text("active,score\n" + "".join(f"{int(i < 19)},{50 - i}\n" for i in range(49)), encoding="utf-8")
    shares = [100 * k / 49 for k in (1, 7, 13, 19)]
    names = [f"Hits@{share!r}%" for share in shares]
    main(["table", str(path), "--label", "active", "--score", "score", "-m", *names, "--format", "json"])
    shown = capsys.readouterr().out
    for name, k in zip(names, (1, 7, 13, 19), strict=True):
        assert f'"{hc.measures.parse(name).name}": {k}.0' in shown
