"""Every disagreement with another tool that the docs tell of, run."""

import numpy as np
import pytest
import records
from discrepancies import RECORDS

SLOW_PEERS = ("pyspark", "ranx")  # one starts a cluster, the other compiles itself


@pytest.mark.filterwarnings("ignore")  # what the peers and their compilers say
@pytest.mark.parametrize("peers", ["quick", pytest.param("all", marks=pytest.mark.slow)])
@pytest.mark.parametrize("record", RECORDS, ids=[record.name for record in RECORDS])
def test_record(record, peers, monkeypatch):
    """Each number, theirs and ours, is the one written down; a missing peer is stood in for by its published rule."""
    if peers == "quick":
        found = records.peer_version
        monkeypatch.setattr(records, "peer_version", lambda name: None if name in SLOW_PEERS else found(name))
    shown = record.shown()
    assert {line.ours for line in shown.lines} == {True, False}
    assert shown.bands
    for band in shown.bands:
        if isinstance(band.expected, str):
            assert band.worst <= band.best
            continue
        ordered = band.worst <= band.expected * (1 + 1e-14) and band.expected <= band.best * (1 + 1e-14)
        assert ordered or np.isnan([band.worst, band.expected, band.best]).all()
    assert record.why
    assert record.title


def test_a_wrong_number_is_found():
    shown = records.Shown()
    with pytest.raises(AssertionError, match=r"is 1\.0, not 0\.5"):
        shown.ours("hc.average_precision([1, 0], [2, 1])", 0.5)
    with pytest.raises(AssertionError, match=r"is 0\.25, not 0\.5"):
        shown.peer("any", "AP", 0.5, rule=lambda: 0.25)
    with pytest.raises(AssertionError, match="ties="):
        shown.band("hc.average_precision([1, 0], [1, 1], ties=...)", 0.5, 0.5, 1.0)


def test_names_are_distinct():
    assert len({record.name for record in RECORDS}) == len(RECORDS) > 30
