"""The measures of a run by their definitions: readings of ties against all orders, bounds, expected ERR at scale."""

import itertools
import math
import re
import subprocess
import sys
import textwrap
from fractions import Fraction

import numpy as np
import pytest
import register
from covering import covering
from examples import few
from hypothesis import given
from hypothesis import strategies as st
from interrupts import with_timer

import hitcurve as hc
from hitcurve.measures import MEASURES, parse


def each_order(run):
    """The rankings that equal scores leave open, each as a run without ties; documents of one score in all orders."""
    ranked = sorted(run, key=lambda doc: -run[doc])
    groups = [list(group) for _, group in itertools.groupby(ranked, key=run.__getitem__)]
    for order in itertools.product(*(list(itertools.permutations(group)) for group in groups)):
        ranking = [doc for group in order for doc in group]
        yield {doc: float(len(ranking) - place) for place, doc in enumerate(ranking)}


READ = [record for record in MEASURES if "judged" in register.ROW[record.name].of and record.ties]
# Of curves alone no gain is below 0, and level 0 has none.
WITH_GAINS = [record.name for record in READ if any(option.name == "gains" for option in record.options)
              and (register.ROW[record.name].sums or not register.ROW[record.name].method)]  # fmt: skip


def readable(k, rel, gains):
    """Every measure of a run that has readings of ties, and its options, with the measure's record."""
    written = [f"{root}(gains={{{','.join(f'{level}:{gain}' for level, gain in gains.items())}}})"
               for root in WITH_GAINS] if gains else []
    written += [f"{written[0]}@{k}"] if gains else []
    for record in READ:
        head = {"F": "F2"}.get(record.name, record.name)
        head += "(max_rel=3)" if any(option.needed for option in record.options) else ""
        written += [head] if "" in record.cutoffs else []
        written += [f"{head}@{k}"] if "k" in record.cutoffs else []
    written += [f"IPrec@{one}" for one in ("0", "0.4", "1.0")] + [f"IPrec(levels=trec_eval{v})@0.3" for v in (9, 10)]
    written += ["IPrecAvg(at=0.2/0.7)", f"AP(norm=min)@{k}", "nDCG(dcg=exp-log2)", f"RBP(p=0.5,rel={rel})",
                f"RBP(rel={rel})@{k}", "ERR(max=3)", f"ERR(max=6)@{k}", f"infAP(rel={rel})", "infAP(judged_only=True)",
                "RprecMult(1.7)", f"R(norm=min)@{k}"]
    written += [f"AP(interp={one})" for one in ("11-point", "101-point", "all-point", "trapezoid", "continuous")]
    found = {measure.name: measure for measure in map(parse, written)}
    assert {measure.record for measure in found.values()} == set(READ)
    return found


@few(10)
@given(
    docs=st.lists(st.tuples(st.sampled_from([None, -1, 0, 1, 2, 3]), st.integers(0, 2)), min_size=1, max_size=6),
    unretrieved=st.lists(st.integers(-2, 3), max_size=2),
    k=st.integers(1, 6),
    rel=st.integers(-1, 2),
    gains=st.dictionaries(st.integers(0, 3), st.sampled_from(["-2", "-1", "-0.5", "0", "0.25", "1", "3", "9", "10"])),
    judged_only=st.booleans(),
)
def test_worst_expected_and_best_of_every_measure(docs, unretrieved, k, rel, gains, judged_only):
    """The bounds are the least and the greatest value over all orders, and every value lies between them.

    Which way round, the record says. What cannot be bounded is an error that names measure and query.
    """
    run = {f"d{i}": float(score) for i, (_, score) in enumerate(docs)}
    judged = {f"d{i}": level for i, (level, _) in enumerate(docs) if level is not None}
    judged |= {f"u{i}": level for i, level in enumerate(unretrieved)} | {"sure": 1}
    orders = {f"q{i}": order for i, order in enumerate(each_order(run))}
    measures = readable(k, rel, gains)
    every = hc.evaluate(dict.fromkeys(orders, judged), orders, list(measures.values()), relevance_level=rel,
                        judged_only=judged_only).values
    found = {}
    for ties in ("worst", "expected", "best"):
        for name, measure in measures.items():
            if ties not in measure.record.ties:
                continue
            try:
                one = hc.evaluate({"q": judged}, {"q": run}, measure, ties=ties, relevance_level=rel,
                                  judged_only=judged_only)
                found[ties, name] = one.values[name][0]
            except ValueError as error:
                assert str(error).startswith(f"{name}: the value for ties={ties!r} ")
                assert "gains" in name and measure.record.name == "nDCGrel" and min(map(float, gains.values())) < 0
    for name, measure in measures.items():
        read = [value for value in every[name] if not (measure.record.gaps and math.isnan(value))]
        if not read:  # in no order is there a value
            assert all(math.isnan(found[ties, name]) for ties in ("worst", "expected", "best"))
            continue
        low, high = min(read), max(read)
        bounds = (high, low) if measure.record.lower_is_better else (low, high)
        for ties, bound in zip(("worst", "best"), bounds, strict=True):
            assert found.get((ties, name), bound) == pytest.approx(bound, rel=1e-13, abs=1e-15), (name, ties)
        if ("expected", name) in found:
            assert low - 1e-14 <= found["expected", name] <= high + 1e-14, name
            if "interp=" not in name or "trapezoid" in name:
                mean = math.fsum(read) / len(read)
                assert found["expected", name] == pytest.approx(mean, rel=1e-13, abs=1e-15), name


@pytest.mark.parametrize(
    ("measure", "qrels", "run"),
    [
        ("nDCG(gains={1:3,2:1})", {"a": 1, "b": 2}, {"a": 1, "b": 1}),
        ("nDCGrel(gains={1:3,2:1})", {"a": 1, "b": 2}, {"a": 1, "b": 1}),
        ("G(gains={1:3,2:1})", {"a": 1, "b": 2}, {"a": 1, "b": 1}),
        ("nDCG(gains={0:-1,1:3})", {"a": 1, "b": 0}, {"b": 1, "u": 1, "a": 0.5}),
        ("G", {"a": 1, "b": 2, "c": 3}, {"a": 2, "b": 1, "c": 1}),  # the greater gain first is not the best order
        ("infAP", {"p": -1, "b": 1, "c": 2, "x": 1, "y": 1}, {"u1": 9, "u2": 8, "u3": 7, "p": 1, "b": 1, "c": 1}),
    ],
)
def test_bounds_that_an_order_by_level_does_not_give(measure, qrels, run):
    orders = {f"q{i}": order for i, order in enumerate(each_order(run))}
    values = hc.evaluate(dict.fromkeys(orders, qrels), orders, measure).values[parse(measure).name]
    worst, best = (hc.evaluate({"q": qrels}, {"q": run}, measure, ties=ties).means for ties in ("worst", "best"))
    assert [*worst.values(), *best.values()] == pytest.approx([min(values), max(values)], rel=1e-15)
    assert min(values) < max(values)


def slow_inferred(place, seen, others, unjudged):
    """The inferred precision of a relevant document at a rank, below documents of the pool."""
    if place == 1:
        return Fraction(1)
    e = Fraction(1, 10**5)
    return (1 + (seen + others + unjudged) * (seen + e) / (seen + others + 2 * e)) / place


@pytest.mark.parametrize(("group", "above"), [
    pytest.param(group, above, marks=() if i == (j + 1) % 4 or group[1] == 0 else pytest.mark.slow)
    for i, group in enumerate([(9, 3, 12, 4), (5, 0, 30, 0), (12, 6, 5, 9), (3, 9, 9, 2)])
    for j, above in enumerate([(0, 0, 0, 0), (0, 0, 0, 5), (2, 3, 0, 1), (0, 4, 6, 30)])])  # fmt: skip
def test_bounds_of_inferred_ap_in_large_groups(group, above):
    """Against the least and the most of all ways to draw the kinds of documents one by one.

    The kinds are relevant, judged but not relevant, in the pool only, outside of it.
    """

    def bound(choose):
        value = {}
        for taken in itertools.product(*(range(n + 1) for n in group)):
            ways = []
            for kind in range(4):
                before = tuple(n - (i == kind) for i, n in enumerate(taken))
                if before in value:
                    here = [n + m for n, m in zip(above, before, strict=True)]
                    ways.append(value[before] + (float(slow_inferred(sum(here) + 1, *here[:3])) if kind == 0 else 0.0))
            value[taken] = choose(ways) if ways else 0.0
        return value[group]

    qrels, run = {}, {}
    for score, counts in ((2.0, above), (1.0, group)):
        for kind, n in enumerate(counts):
            for i in range(n):
                run[f"{score}-{kind}-{i}"] = score + (score == 2) * (3 - kind) + (score == 2) * i * 1e-3
                if kind < 3:
                    qrels[f"{score}-{kind}-{i}"] = (1, 0, -1)[kind]
    ranked = sorted((doc for doc in run if run[doc] > 1), key=lambda doc: -run[doc])
    start, met = Fraction(0), [0, 0, 0]
    for place, doc in enumerate(ranked, 1):
        kind = int(doc.split("-")[1])
        start += slow_inferred(place, *met) if kind == 0 else 0
        if kind < 3:
            met[kind] += 1
    for ties, choose in (("worst", min), ("best", max)):
        wanted = (float(start) + bound(choose)) / (group[0] + above[0])
        found = hc.evaluate({"q": qrels}, {"q": run}, "infAP", ties=ties)
        assert found.means["infAP"] == pytest.approx(wanted, rel=1e-13)


def test_bounds_that_cannot_be_computed():
    """An error that names measure, query and reading; the tie report has NaN."""
    ids = np.arange(100_002)
    deep = {"query_id": np.ones_like(ids), "doc_id": ids, "score": (ids < 100_000) * 1.0}
    levels = {str(i): i for i in range(30)}
    cases = [
        ("infAP", {"1": {"100000": 1, "100001": 0}}, deep),
        ("nDCGrel(gains={0:-9})", {"1": {"a": 0, "b": 1, "c": 1, "d": 1}}, {"1": dict.fromkeys("abc", 1)}),
        ("G", {"1": levels}, {"1": dict.fromkeys(levels, 1)}),
    ]
    for name, qrels, run in cases:
        for ties in ("worst", "best"):
            problem = f"{name}: the value for ties='{ties}' of query '1' cannot be computed"
            with pytest.raises(ValueError, match=re.escape(problem)):
                hc.evaluate(qrels, run, ["AP", name], ties=ties)
        band = hc.evaluate(qrels, run, ["AP", name]).tie_report()
        assert np.isnan([band[name].worst, band[name].best]).all()
        assert band[name].value > 0
        assert band["AP"].best > 0


@pytest.mark.parametrize("p", [0.5, 0.93, 0.999, 1 - 1e-9, 1 - 2.0**-50])
def test_rbp_of_ties_keeps_its_digits_where_p_is_near_1(p):
    scores = [3.0, 2.0, 2.0, 2.0, 1.0, *[0.0] * 40]
    levels = {f"d{i}": 1 for i in (0, 2, 4, 7, 11)} | {"d1": 0}
    run = {f"d{i}": score for i, score in enumerate(scores)}
    exact, above = Fraction(0), 0
    for score in dict.fromkeys(scores):
        tied = [doc for doc, one in run.items() if one == score]
        hits = sum(levels.get(doc, 0) for doc in tied)
        exact += Fraction(hits, len(tied)) * Fraction(p) ** above * (1 - Fraction(p) ** len(tied))
        above += len(tied)
    found = hc.evaluate({"q": levels}, {"q": run}, f"RBP(p={p!r})", ties="expected").values
    np.testing.assert_allclose(*found.values(), float(exact), rtol=1e-14)


# ----------------------------------------------------------------------------------------------- expected ERR at scale


def slow_expected_err(levels, others, above, top, k):
    """In fractions: one group of these levels and others without a chance."""
    chances = [Fraction(2**level - 1, 2**top) for level in levels]
    sums = [Fraction(1)] + [Fraction(0)] * len(chances)  # elementary symmetric ones
    for chance in chances:
        for j in range(len(chances), 0, -1):
            sums[j] += sums[j - 1] * (1 - chance)
    m = len(levels) + others
    beyond = [sum(sums[j] * math.comb(others, t - j) for j in range(min(t, len(levels)) + 1)) / math.comb(m, t)
              for t in range(m + 1)]
    return sum((beyond[t - 1] - beyond[t]) / (above + t) for t in range(1, min(m, k - above) + 1))


@pytest.mark.parametrize(("top", "k", "group", "above"), covering(
    [4, 9, 60], [10**6, 31],
    [([1] * 40, 25), ([4] * 30 + [1] * 30, 0), ([4, 3, 2, 1] * 9, 60), ([2], 90), ([1] * 3, 0)], [0, 7]))
def test_expected_err_of_a_tie_group(top, k, group, above):
    levels, others = group
    qrels = {f"d{i}": level for i, level in enumerate(levels)} | {f"n{i}": 0 for i in range(others // 2)}
    run = dict.fromkeys([f"d{i}" for i in range(len(levels))] + [f"n{i}" for i in range(others)], 1.0)
    run |= {f"a{i}": 2.0 for i in range(above)}
    name = f"ERR(max={top})@{k}"
    wanted = float(slow_expected_err(levels, others, above, top, k))
    assert hc.evaluate({"q": qrels}, {"q": run}, name, ties="expected").means[name] == pytest.approx(wanted, rel=1e-14)


def test_expected_err_of_giant_tie_groups():
    """10,000 relevant ones of a million: the j-th adds (1 - chance)^(j-1) chance times the mean of 1 / its rank."""
    m, p = 10**6, 10**4
    ids = np.arange(m)
    qrels = hc.read_qrels({"query_id": np.ones(p, int), "doc_id": ids[:p], "relevance": np.ones(p, int)})
    run = {"query_id": np.ones(m, int), "doc_id": ids, "score": np.ones(m)}
    first = [math.log(p / m)]  # of the chance that the first is at a rank
    share = np.log1p(-(p - 1) / (m - np.arange(1.0, 4000)))
    weights = np.exp(np.append(first, first + np.cumsum(share)))
    mean = math.fsum(weights / np.arange(1, 4001))
    wanted = []
    for j in range(1, 2000):
        wanted.append(15**(j - 1) / 16**j * mean)
        mean = (p - (p - j) * j * mean) / (j * (m - p + j + 1))
    assert hc.evaluate(qrels, run, "ERR", ties="expected").means["ERR"] == pytest.approx(math.fsum(wanted), rel=1e-11)


@with_timer
def test_expected_err_is_interrupted():
    code = """
        import signal, time
        import numpy as np
        import hitcurve as hc
        n = 300_000
        ids = np.arange(n)
        qrels = hc.read_qrels({"query_id": np.ones(n, int), "doc_id": ids, "relevance": ids % 1000})
        run = hc.read_run({"query_id": np.ones(n, int), "doc_id": ids, "score": np.ones(n)})
        found = hc.evaluate(qrels, run, "AP")
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        start = time.perf_counter()
        try:
            hc.evaluate(qrels, run, "ERR(max=1000)", ties="expected")
        except KeyboardInterrupt:
            print(time.perf_counter() - start)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=100)
    assert 0.08 < float(done.stdout) < 5, done.stderr
