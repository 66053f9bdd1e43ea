"""The drop-in for rdkit.ML.Scoring.Scoring against RDKit itself where it is installed, and against its rules."""

import doctest
import math
import subprocess
import sys
import warnings
from fractions import Fraction

import numpy as np
import pytest
from signatures import same_signature

import hitcurve as hc
from hitcurve.compat import rdkit_scoring as ours

NAMES = ["CalcROC", "CalcAUC", "CalcRIE", "CalcBEDROC", "CalcEnrichment"]
ALPHAS = [0.5, 20.0, 100, 80.5, 321.9]
FRACTIONS = [[0.01], (0.0, 0.05, 0.1), [0.5], [0.07, 0.3, 0.99], [0.2, 0.1], [0.001, 0.002], [0.5, 1.0], [1],
             [0, 0, 0, 1]]


@pytest.fixture(scope="module")
def theirs():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of RDKit's own imports
        return pytest.importorskip("rdkit.ML.Scoring.Scoring")


def screens():
    rng = np.random.default_rng(27)
    for n in (1, 2, 3, 7, 100, 2500):
        for share in (0.0, 0.02, 0.5, 1.0):
            yield [(float(score), bool(flag)) for score, flag in zip(rng.random(n), rng.random(n) < share, strict=True)]
    yield [[1, "a"]] * 20 + [[1, ""]] * 80
    yield [[0, None], [0, 2.5], [0, float("nan")], [0, -1], [0, 0.0]]


SCREENS = list(screens())


def outcome(function, *args):
    try:
        return function(*args)
    except (ValueError, IndexError, TypeError, KeyError) as error:
        return type(error), str(error) if isinstance(error, ValueError) else ""


@pytest.mark.parametrize("name", NAMES)
def test_signatures(theirs, name):
    same_signature(getattr(ours, name), getattr(theirs, name))


def test_every_public_name(theirs):
    public = {name for name, value in vars(theirs).items() if getattr(value, "__module__", "") == theirs.__name__}
    assert {name for name in public if not name.startswith("_")} == set(NAMES) <= set(ours.__all__)


@pytest.mark.parametrize("rows", SCREENS, ids=len)
def test_curves(theirs, rows):
    found, wanted = ours.CalcROC(rows, 1), theirs.CalcROC(rows, 1)
    assert repr(found) == repr(wanted)  # to the last bit, and of the same types
    assert ours.CalcAUC(rows, 1) == pytest.approx(theirs.CalcAUC(rows, 1), rel=1e-12, abs=1e-12)
    assert type(ours.CalcAUC(rows, 1)) is float


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("rows", SCREENS, ids=len)
def test_early_recognition(theirs, rows, alpha):
    for name in ("CalcRIE", "CalcBEDROC"):
        try:
            wanted = getattr(theirs, name)(rows, 1, alpha)
        except OverflowError:
            continue  # test_large_alpha
        found = getattr(ours, name)(rows, 1, alpha)
        assert type(found) is float
        noise = len(rows) / alpha * sys.float_info.epsilon  # of RDKit's: see test_long_lists
        assert found == pytest.approx(wanted, rel=1e-12 + noise, abs=1e-12 + noise)


@pytest.mark.parametrize("fractions", FRACTIONS, ids=str)
@pytest.mark.parametrize("rows", SCREENS, ids=len)
def test_enrichment(theirs, rows, fractions):
    found, wanted = (module.CalcEnrichment(rows, 1, fractions) for module in (ours, theirs))
    assert len(found) == len(wanted)
    assert found == pytest.approx(wanted, rel=1e-12)
    assert all(type(value) is float for value in found)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("CalcROC", ([], 0)),
        ("CalcAUC", ([], 0)),
        ("CalcRIE", ([], 0, 20.0)),
        ("CalcBEDROC", ([], 0, 20.0)),
        ("CalcEnrichment", ([], 0, [0.1])),
        ("CalcEnrichment", ([], 0, [])),
        ("CalcEnrichment", ([[1]], 0, [])),
        ("CalcEnrichment", ([[1]], 0, [0.1, 1.5])),
        ("CalcEnrichment", ([[1]], 0, [-0.1])),
        ("CalcEnrichment", ([[1], [0]], 0, [0.9, math.nan])),
        ("CalcRIE", ([[1], [0]], 0, 0.0)),
        ("CalcBEDROC", ([[1], [0]], 0, -1)),
        ("CalcRIE", ([], 0, 0.0)),
        ("CalcRIE", ([[1], [0]], 0, "much")),
        ("CalcROC", ([[1], [0]], 1)),
        ("CalcAUC", ([[1], []], 0)),
        ("CalcAUC", ([{"active": 1}], 0)),
        ("CalcAUC", (np.ones((3, 2)), 2)),
        ("CalcAUC", (np.ones(3), 0)),
        ("CalcAUC", ([1, 0], 0)),
        ("CalcAUC", ([[1], [0]], None)),
    ],
)
def test_errors(theirs, name, args):
    found, wanted = (outcome(getattr(module, name), *args) for module in (ours, theirs))
    assert isinstance(wanted, tuple)
    assert found == wanted


@pytest.mark.parametrize(
    "make",
    [
        tuple,
        np.array,
        lambda rows: np.array(rows, dtype=object),
        lambda rows: np.array(rows, dtype="f4")[:, ::-1][:, ::-1],
        lambda rows: [{0: score, 1: flag} for score, flag in rows],
        lambda rows: dict(enumerate(rows)),
        lambda rows: [np.array(row) for row in rows],
    ],
)
def test_kinds_of_rows(make):
    rows = [[float(i), int(i % 3 == 1)] for i in range(50)]
    for name, args in (("CalcAUC", ()), ("CalcBEDROC", (20.0,)), ("CalcEnrichment", ([0.1, 0.2],))):
        call = getattr(ours, name)
        assert call(make(rows), 1, *args) == call(rows, 1, *args) == call([row[::-1] for row in rows], -2, *args)


def test_rows_that_change_meanwhile(theirs):
    """An error, as there, and no read beyond the end."""

    class Clears:
        def __init__(self, rows):
            self.rows = rows

        def __bool__(self):
            self.rows.clear()
            return True

    for module in (ours, theirs):
        rows = [[0]] * 5
        rows[2] = [Clears(rows)]
        with pytest.raises(IndexError):
            module.CalcBEDROC(rows, 0, 20.0)


def test_by_the_name_of_the_library():
    from hitcurve.compat import rdkit

    assert rdkit.Scoring is ours
    assert set(rdkit.__all__) == {*ours.__all__, "Scoring"}
    assert all(getattr(rdkit, name) is getattr(ours, name) for name in ours.__all__)


def test_rdkit_is_not_imported():
    code = "import sys, hitcurve.compat.rdkit; assert 'rdkit' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_strings_in_an_array(theirs):
    rows = np.array([["a", "x"], ["b", ""], ["c", "0"]])
    assert ours.CalcROC(rows, 1) == theirs.CalcROC(rows, 1)


# --- differences, each on docs/compat-rdkit.md --------------------------------------------------------------


def test_large_alpha(theirs):
    """RDKit overflows."""
    rows = [[1], [0], [1], [0]]
    with pytest.raises(OverflowError):
        theirs.CalcBEDROC(rows, 0, 800.0)
    assert ours.CalcBEDROC(rows, 0, 800.0) == hc.HitCurve.from_ranked([1, 0, 1, 0]).bedroc(800.0) == 1.0
    with pytest.raises(OverflowError):
        theirs.CalcRIE(rows, 0, 4000.0)
    assert ours.CalcRIE(rows, 0, 4000.0) == pytest.approx(2.0, rel=1e-12)


def test_small_alpha(theirs):
    """RDKit's values are noise where exp(alpha / N) is next to 1: BEDROC tends to the ROC AUC."""
    rows = [[i % 7 == 1] for i in range(1000)]
    auc = theirs.CalcAUC(rows, 0)
    assert abs(theirs.CalcBEDROC(rows, 0, 1e-9) - auc) > 1e-3
    assert ours.CalcBEDROC(rows, 0, 1e-9) == pytest.approx(auc, rel=1e-9)


@pytest.mark.parametrize("n", [10**4, 10**5, 10**6])
def test_long_lists(theirs, n):
    """RDKit's rounding grows with N / alpha, ours does not: exact fractions of the sum are the judge."""
    mpmath = pytest.importorskip("mpmath")
    rows = [[False]] * n
    ranks = range(3, n, n // 50)
    for rank in ranks:
        rows[rank - 1] = [True]
    with mpmath.workdps(40):
        x = mpmath.mpf(20) / n
        exact = sum(mpmath.exp(-x * rank) for rank in ranks) / len(ranks) * n / (
            -mpmath.expm1(-20) / mpmath.expm1(x))
        assert abs(ours.CalcRIE(rows, 0, 20.0) / exact - 1) < 1e-13
    for name in ("CalcRIE", "CalcBEDROC"):
        assert getattr(ours, name)(rows, 0, 20.0) == pytest.approx(
            getattr(theirs, name)(rows, 0, 20.0), rel=1e-12 + n / 20 * sys.float_info.epsilon)


@pytest.mark.parametrize("alpha", [math.nan, math.inf])
def test_alpha_that_is_no_number(alpha):
    for call in (ours.CalcRIE, ours.CalcBEDROC):
        with pytest.raises(ValueError, match="alpha"):
            call([[1], [0]], 0, alpha)


def test_undefined_values():
    """0 or 1 as there, where the curve has NaN."""
    none, all_ = [[0]] * 9, [[1]] * 9
    assert [ours.CalcAUC(none, 0), ours.CalcRIE(none, 0, 20.0), ours.CalcBEDROC(none, 0, 20.0)] == [0, 0, 0]
    assert [ours.CalcAUC(all_, 0), ours.CalcBEDROC(all_, 0, 20.0)] == [0, 1]
    assert ours.CalcEnrichment(none, 0, [0.5, 1.0]) == [0, 0]  # one for each fraction, with actives one fewer
    assert ours.CalcEnrichment(all_, 0, [0.5, 1.0]) == [1]
    empty = hc.HitCurve.from_ranked([0] * 9)
    assert all(map(math.isnan, [empty.roc_auc(), empty.rie(), empty.bedroc(), empty.enrichment_factor(0.5)]))


def test_ranks_of_fractions():
    """0.07 of 100 is the eighth row there, because 100 * 0.07 in floats is more than 7."""
    rows = [[i == 7] for i in range(100)]
    assert ours.CalcEnrichment(rows, 0, [0.07]) == [pytest.approx(100 / 8)]
    assert math.ceil(100 * Fraction("0.07")) == 7
    assert hc.HitCurve.from_ranked([row[0] for row in rows]).enrichment_factor(0.07) == 0


@pytest.mark.thread_unsafe(reason="examples have the process's standard output")
def test_examples():
    found = doctest.testmod(ours)
    assert found.attempted >= 10
    assert not found.failed
