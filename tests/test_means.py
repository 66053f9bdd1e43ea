"""Means over queries: every measure with a name, of hit curves, gain curves and runs, against means taken here.

A query is empty if it has no relevant item at the measure's level, whatever value the measure has there.
"""

import math
import re
import warnings

import numpy as np
import pytest
import register
from examples import few
from hypothesis import given
from hypothesis import strategies as st

import hitcurve as hc
from hitcurve.measures import MEASURES, parse

NAMES = [*dict.fromkeys(parse(form).name for record in MEASURES for form in record.forms)]
OF = {name: register.ROW[parse(name).record.name].of for name in NAMES}
OF_HITS = [name for name in NAMES if "hits" in OF[name] and parse(name).rel is None]
OF_GAINS = [name for name in NAMES if "hits" in OF[name] or ("gains" in OF[name] and parse(name).rel is None)]
OF_GAINS += ["P(rel=2)@3", "nDCG(gains={1:0,2:3})@2", "DCG(gains={1:0,2:3})", "GAP(weights={2:1})", "F1(rel=3)@2"]
OF_RUNS = [name for name in NAMES if "judged" in OF[name] and "%" not in name and "infAP" not in name
           and parse(name).record.ties[:1] != ("best",)]  # fmt: skip
OF_RUNS += ["P(rel=2)@3", "nDCG(gains={1:0,2:3})@2", "RBP(rel=2)"]

queries = st.lists(
    st.lists(st.tuples(st.sampled_from([0, 0, 0, 1, 1, 2]), st.integers(0, 3)), min_size=1, max_size=5),
    min_size=1, max_size=6)  # fmt: skip
weights = st.lists(st.sampled_from([0.0, 1.0, 1.0, 2.5, 3.0]), min_size=6, max_size=6)
settled = few(6)


def relevant_from(name):
    """The level from which an item is relevant to a measure."""
    for text, level in ((r"\brel=2", 2), (r"\brel=3", 3), ("gains={1:0", 2), ("weights={2:", 2), ("min_rel=1", 2)):
        if re.search(text, name):
            return level
    return 1


def by_hand(values, empty, how, kind, weights):
    """The mean of the values by its definition."""
    if kind == "sum":
        return math.fsum(w * v for v, w in zip(values, weights, strict=True))
    taken = [(v if not out else {"zero": 0.0, "one": 1.0}[how], w)
             for v, out, w in zip(values, empty, weights, strict=True)
             if (not out or how != "skip") and (out or not math.isnan(v))]  # fmt: skip
    whole = math.fsum(w for _, w in taken)
    if whole == 0:
        return math.nan
    if kind == "geometric":
        return math.exp(math.fsum(w * math.log(max(v, 1e-5)) for v, w in taken) / whole)
    return math.fsum(w * v for v, w in taken) / whole


def check(curves, name, levels, weights):
    known, values = parse(name), curves.measure(name)
    empty = [max(one, default=0) < relevant_from(name) for one in levels]
    assert known.empty(curves).tolist() == empty
    weights = weights[:len(levels)]
    for how, some in (("skip", None), ("skip", weights), ("zero", weights), ("one", None)):
        wanted = by_hand(values, empty, how, known.record.mean, some or [1.0] * len(levels))
        np.testing.assert_allclose(curves.mean(name, empty=how, weights=some), wanted, rtol=1e-14, atol=1e-300)
    undefined = known.record.mean != "sum" and np.isnan(values).any()
    if any(empty) or undefined:
        at = int(np.argmax(np.array(empty) | (np.isnan(values) & undefined)))
        with pytest.raises(ValueError, match=rf"query {at} has (no|a) relevant item"):
            curves.mean(name, empty="raise")
    else:
        assert curves.mean(name, empty="raise") == curves.mean(name)


def laid_out(drawn):
    items = [item for query in drawn for item in query]
    offsets = np.cumsum([0, *map(len, drawn)])
    return np.array([level for level, _ in items]), np.array([score for _, score in items], float), offsets


@settled
@given(queries, weights)
def test_every_measure_of_hit_curves(drawn, weights):
    level, score, offsets = laid_out(drawn)
    curves = hc.HitCurves(level > 0, score, offsets=offsets)
    for name in OF_HITS:
        check(curves, name, [[min(level, 1) for level, _ in query] for query in drawn], weights)


@settled
@given(queries, weights, st.lists(st.lists(st.sampled_from([0, 1, 2]), max_size=1), min_size=6, max_size=6))
def test_every_measure_of_gain_curves(drawn, weights, missing):
    level, score, offsets = laid_out(drawn)
    missing = missing[:len(drawn)]
    curves, in_order = (hc.GainCurves(level, score, offsets=offsets, unretrieved=missing, tiebreak=tiebreak)
                        for tiebreak in (None, "order"))  # fmt: skip
    every = [[level for level, _ in query] + levels for query, levels in zip(drawn, missing, strict=True)]
    for name in OF_GAINS:
        try:
            check(in_order if parse(name).record.ordered else curves, name, every, weights)
        except ValueError as error:
            assert "needs the rank of every relevant item" in str(error) and any(map(any, missing))


@settled
@given(queries)
def test_every_measure_of_runs(drawn):
    qrels = {f"q{i}": {f"d{j}": level for j, (level, _) in enumerate(query)} for i, query in enumerate(drawn)}
    run = {f"q{i}": {f"d{j}": float(score) for j, (_, score) in enumerate(query)} for i, query in enumerate(drawn)}
    with_all = hc.evaluate(qrels, run, OF_RUNS)
    means = {how: hc.evaluate(qrels, run, OF_RUNS, empty=how).means for how in ("skip", "one")}
    for name in OF_RUNS:
        kind = parse(name).record.mean
        empty = [max(level for level, _ in query) < relevant_from(name) for query in drawn]
        if "preferences" in parse(name).record.of:
            empty = (with_all.values["NumPref"] == 0).tolist()
        for how in ("skip", "one"):
            wanted = by_hand(with_all.values[name], empty, how, kind, [1.0] * len(drawn))
            np.testing.assert_allclose(means[how][name], wanted, rtol=1e-12, atol=1e-300, err_msg=name)
        if any(empty):
            with pytest.raises(ValueError, match=rf"no relevant document for .*'q{empty.index(True)}'"):
                hc.evaluate(qrels, run, name, empty="raise")


def test_the_level_of_judgments_says_what_is_empty():
    """Measures of levels take a level of 1, whatever is relevant to the others."""
    qrels, run = {"a": {"d": 1}, "b": {"d": 2}}, {"a": {"d": 1.0}, "b": {"d": 1.0}}
    found = hc.evaluate(qrels, run, ["P@1", "nDCG"], empty="skip", relevance_level=2)
    assert found.values["P@1"].tolist() == pytest.approx([math.nan, 1.0], nan_ok=True)
    assert found.values["nDCG"].tolist() == [1.0, 1.0]
    hc.evaluate(qrels, run, "nDCG", empty="raise", relevance_level=2)
    with pytest.raises(ValueError, match=r"^P@1: qrels has no relevant document for query 'a' "):
        hc.evaluate(qrels, run, ["nDCG", "P@1"], empty="raise", relevance_level=2)


@settled
@given(queries, st.lists(st.integers(0, 3), min_size=6, max_size=6), st.sampled_from(["skip", "zero", "one"]))
def test_a_weight_of_two_is_the_query_twice(drawn, counts, empty):
    counts = counts[:len(drawn)]
    level, score, offsets = laid_out(drawn)
    again = [query for query, count in zip(drawn, counts, strict=True) for _ in range(count)]
    twice, its_score, its_offsets = laid_out(again)
    for name in ("AP", "P@2", "ROCAUC", "GMAP", "NumRel", "NumRet"):
        curves = hc.HitCurves(level > 0, score, offsets=offsets)
        repeated = hc.HitCurves(twice > 0, its_score, offsets=its_offsets)
        np.testing.assert_allclose(curves.mean(name, empty=empty, weights=counts), repeated.mean(name, empty=empty))


def test_means_that_have_a_name_of_their_own():
    rng = np.random.default_rng(0)
    level, score, qid = rng.integers(0, 3, 500), rng.integers(0, 9, 500), rng.integers(0, 90, 500)
    level[qid < 5] = 0
    hits, gains = hc.HitCurves(level > 0, score, qid=qid), hc.GainCurves(level, score, qid=qid)
    for empty in ("skip", "zero", "one"):
        mean = hits.mean("AP(norm=min)@5", empty=empty)
        assert mean == hits.mean_average_precision(5, empty=empty)
        assert mean == hc.mean_average_precision(level > 0, score, qid=qid, k=5, empty=empty)
        mean = gains.mean("nDCG@5", empty=empty)
        assert mean == gains.mean_ndcg(5, empty=empty) == hc.mean_ndcg(level, score, qid=qid, k=5, empty=empty)
        assert hits.interval("P@3", empty=empty, n_resamples=20).estimate == hits.mean("P@3", empty=empty)
    assert hits.mean("P@3", weights=np.full(len(hits), 4)) == hits.mean("P@3")


def test_comparisons_pass_over_empty_queries():
    y = [[1, 0], [0, 0], [0, 1]]
    one, other = hc.HitCurves(y, [[2, 1]] * 3), hc.HitCurves(y, [[1, 2]] * 3)
    for measure in ("AP", "P@1", "F1@1"):
        found = hc.compare({"one": one, "other": other}, measures=measure, n_resamples=99)
        assert found.count == 2 and found.left_out == 1
        assert found.systems[0].value == one.mean(measure)


@pytest.mark.parametrize("weights, error, text", [
    ([1, 1], ValueError, r"there are 3 queries, weights has shape \(2,\)"),
    ([[1, 1, 1]], ValueError, r"there are 3 queries, weights has shape \(1, 3\)"),
    ([1, -1, 1], ValueError, r"weights\[1\] is -1.0: weights must be finite and not negative"),
    ([1, 1, math.nan], ValueError, r"weights\[2\] is nan"),
    ([1, "a", 1], TypeError, "weights"),
    ([1e308, 1e308, 1e308], ValueError, "weights has a sum beyond the greatest float64"),
])  # fmt: skip
def test_wrong_weights(weights, error, text):
    for made in (hc.HitCurves, hc.GainCurves):
        with pytest.raises(error, match=text):
            made([[1, 0], [0, 0], [0, 1]], [[2, 1]] * 3).mean("AP", weights=weights)


def test_a_query_of_weight_zero_counts_as_absent():
    curves = hc.HitCurves([[1, 0], [0, 0], [1, 1]], [[2, 1]] * 3)
    assert curves.mean("AP", empty="raise", weights=[1, 0, 1]) == 1
    assert curves.mean("ROCAUC", empty="raise", weights=[1, 0, 0]) == 1
    assert math.isnan(curves.mean("AP", weights=[0, 5, 0]))
    assert math.isnan(hc.HitCurves([], [], offsets=[0]).mean("AP"))
    with pytest.raises(ValueError, match="query 2 has a relevant item, but no value of ROCAUC"):
        curves.mean("ROCAUC", empty="raise", weights=[1, 0, 1])


def test_other_arguments():
    curves = hc.HitCurves([[1, 0]], [[1, 1]])
    assert curves.mean("P@1", ties="best") == 1 and curves.mean("P(ties=worst)@1", ties="best") == 0
    assert curves.mean(parse("P@1")) == 0.5
    with pytest.raises(ValueError, match="empty='no' is unknown"):
        curves.mean("AP", empty="no")
    with pytest.raises(ValueError, match="empty='no' is unknown"):
        curves.mean("NumRel", empty="no")
    with pytest.raises(ValueError, match="nDCG needs items with levels"):
        curves.mean("nDCG")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert math.isnan(hc.HitCurves([[0, 0]], [[1, 2]]).mean("AP"))


# Nothing divides by R or an ideal order there, so that a ranking without a relevant item has the value that the formula
# gives: 0 for what relevant items add up to.
ADDED_UP = {"P", "F", "Hits", "RR", "Success", "DCG", "ERR", "RBP", "INSQ", "INST", "AG", "NumRel", "NumRelRet",
            "SDCG", "BPM", "NERR8", "NERR9", "NERR10", "NERR11"}  # fmt: skip
OF_SOME_OPTIONS = {  # the latter counts items from level 2 up
    "Compat(p=0.8,normalize=False,ties=worst)", "NumRet(rel=2)",
}  # fmt: skip
OF_OTHERS = {"Fallout", "NumRet", "RBPResid"}


@pytest.mark.parametrize("name", dict.fromkeys(OF_HITS + OF_GAINS))
def test_the_value_of_a_ranking_without_a_relevant_item(name):
    """NaN where R or the ideal order divides, else 0, for one ranking and for many."""
    for ties in register.ROW[parse(name).record.name].readings_of_curves or register.TIES:
        assert_without_a_relevant_item(name, ties)


def assert_without_a_relevant_item(name, ties):
    known, scores = parse(name), [3, 2, 2, 1]
    one = hc.GainCurve([0] * 4, scores)
    many = hc.GainCurves([[0] * 4, [1, 0, 2, 0]], [scores] * 2, tiebreak="order" if known.record.ordered else None)
    values = [known(one, ties), known(many, ties)[0]]
    if name in OF_HITS:
        values += [known(hc.HitCurve([0] * 4, scores), ties), known(hc.HitCurves([[0] * 4], [scores]), ties)[0]]
    assert known.empty(one)
    for value in values:
        if known.record.name in OF_OTHERS and known.rel is None:
            assert value > 0
        elif known.record.name in ADDED_UP or name in OF_SOME_OPTIONS:
            assert value == 0
        else:
            assert math.isnan(value)


def test_the_value_of_a_ranking_of_no_item():
    for curve in (hc.HitCurve([], []), hc.GainCurve([], [])):
        for name in ("RR", "RR@3", "Success@3", "P@3", "Hits@3"):
            assert curve.measure(name) == 0
    assert hc.HitCurve([], []).success() == hc.HitCurve([0], [1]).success(fraction=0.5) == 0
    missed = hc.HitCurve([0, 0], [2, 1], num_relevant=2)
    assert missed.success() == missed.reciprocal_rank() == missed.average_precision() == 0
