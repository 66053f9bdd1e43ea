"""Every measure of the register: the same number from every way in, and that of its slow twin.

The register says from what a measure is read, and where its last bits may differ: `evaluate` adds some sums in
trec_eval's order.
"""

import importlib
import re
from functools import cache
from itertools import product
from math import isnan

import numpy as np
import pytest
import reference
import register
import routes
from examples import few
from hypothesis import example, given
from hypothesis import strategies as st

import hitcurve as hc
from hitcurve.measures import MEASURES, parse

ROWS = [row for row in register.MEASURES if row.name]
NAMES = [(row, name, keywords) for row in ROWS for name, keywords in row.written]
OF_RUNS = [(row, name, keywords) for row, name, keywords in NAMES if "judged" in row.of and "%" not in name]
OF_RUNS += [(row, name, keywords) for row in ROWS for name, keywords in row.of_runs]
WORLD, COMPLETE = routes.drawn_world(1), routes.drawn_world(2, complete=True)
QRELS, RUN = {"q": {"a": 1, "b": 0, "c": 2}}, {"q": {"b": 3.0, "a": 2.0, "c": 1.0}}


# --- what a row says ------------------------------------------------------------------------------------------------


def test_the_register_has_every_measure():
    assert sorted(row.name for row in ROWS) == sorted(record.name for record in MEASURES)
    assert {parse(name).record.name for _, name, _ in NAMES} == {row.name for row in ROWS}


def accepted(call):
    """Whether a call gives a value; a reading of ties is refused with those that there are."""
    try:
        call()
    except ValueError as error:
        said = re.fullmatch(r".* is not defined for ties='\w+'(.*)", str(error))
        assert not said or said[1] in (": use expected, best or worst", ": use best or worst",
                                       ": it needs a single order, so use ties='docid'")  # fmt: skip
        return False
    return True


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_a_row_says_what_the_measure_is_read_from(row):
    """What is not in the row is refused: so a way that a measure gains, and the row does not say, is seen too."""
    gain, hit = hc.GainCurve([0, 1, 2], [3.0, 2.0, 1.0]), hc.HitCurve([0, 1, 1], [3.0, 2.0, 1.0])
    for name, _ in row.written:
        measure = parse(name)
        assert (measure.record.name, measure.record.ties) == (row.name, row.readings)
        assert (measure.record.lower_is_better, measure.record.ordered) == (row.lower_is_better, row.ordered)
        of_runs = "judged" in row.of and "%" not in name
        assert accepted(lambda name=name: hc.evaluate(QRELS, RUN, name)) == of_runs
        for ties in register.TIES:
            has = ties in row.readings or not row.readings
            found = accepted(lambda ties=ties, name=name: hc.evaluate(QRELS, RUN, name, ties=ties))
            assert found == (of_runs and has and ties != "threshold" and not row.ordered), ties
            assert accepted(lambda ties=ties, measure=measure: measure(hit, ties)) == (has and "hits" in row.of), ties
            has = has or ties in row.readings_of_gains
            found = accepted(lambda ties=ties, measure=measure: measure(gain, ties))
            assert found == (has and bool({"hits", "gains"} & {*row.of})), ties


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in ROWS if {"hits", "gains"} & {*row.of}])
def test_a_name_is_the_method_with_its_keywords(row):
    for kind in {"hits", "gains"} & {*row.of}:
        many = routes.by_offsets(COMPLETE, kind, 1, row.ordered)
        for curves, (name, keywords) in product((many, many[2]), row.written):
            for ties in row.readings_of_curves or (None,):
                wanted = getattr(curves, row.method)
                if not row.attribute:
                    wanted = wanted(**keywords, **({"ties": ties} if ties else {}))
                np.testing.assert_array_equal(parse(name)(curves, ties or "expected"), wanted, f"{name}, {ties}")


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in ROWS if "gains" in row.of and row.cutoffs])
def test_a_cutoff_is_an_element_of_many(row):
    """As in test_exhaustive.py for hit curves: an array of cutoffs gives the bits of each by itself."""
    ks = np.array([[1, 3, 5], [10, 40, 1000]])
    many = routes.by_offsets(WORLD, "gains", 1, row.ordered)
    for _, keywords in row.written:
        for ties in row.readings_of_curves or (None,):
            read = {name: value for name, value in keywords.items() if name != "k"} | ({"ties": ties} if ties else {})
            found = getattr(many, row.method)(ks, **read)
            assert found.shape == (len(many), 2, 3)
            for curve, values in zip(many, found, strict=True):
                one = getattr(curve, row.method)
                np.testing.assert_array_equal(one(ks, **read), values)
                each = [one(k, **read) for k in ks.ravel().tolist()]
                assert {*map(type, each)} == {float}
                np.testing.assert_array_equal(each, values.ravel())


# --- every way in to curves -----------------------------------------------------------------------------------------


def measured(kind, world, docid):
    """(row, name, ties) of what curves of this kind give; ties by document id leave one reading."""
    for row, name, _ in NAMES:
        has = "hits" in row.of or (kind == "gains" and "gains" in row.of)
        if has and (world is COMPLETE or not row.complete) and (docid or not row.ordered):
            for ties in (row.readings_of_curves or ("expected",))[: 1 if docid else None]:
                yield row, name, ties


@cache
def known(complete, kind, relevant, docid):
    """The curves by `offsets`, and the values of each measure by the names of queries."""
    world = COMPLETE if complete else WORLD
    names, curves = routes.curves_by(routes.WAYS_OF_CURVES["offsets"], world, kind, relevant, docid)
    return names, curves, {(name, ties): routes.values_of(curves, name, ties)
                           for _, name, ties in measured(kind, world, docid)}  # fmt: skip


@pytest.mark.parametrize("way", routes.WAYS_OF_CURVES)
def test_every_way_to_curves_gives_the_same_bits(way, request):
    """In an ordinary run each kind of curves has a part of the measures: all together have every measure."""
    made, parts = routes.WAYS_OF_CURVES[way], 1 if request.config.getoption("--all") else 4
    turn = 0
    if made.needs:
        pytest.importorskip(made.needs)
    for world in (COMPLETE, WORLD)[: 1 if made.complete else 2]:
        for kind in made.kinds:
            for relevant in (1, 2)[: 1 if kind == "gains" else 2]:
                for docid in (False, True) if made.docid is None else (made.docid,):
                    queries, wanted, values = known(world is COMPLETE, kind, relevant, docid)
                    names, curves = routes.curves_by(made, world, kind, relevant, docid)
                    here = [queries.index(name) for name in names]
                    assert len(here) >= len(queries) - 1
                    assert [*map(routes.table, curves)] == [routes.table(wanted[i]) for i in here]
                    if way != "lower is better" and all(one.score is not None for one in curves):
                        assert [*curves] == [wanted[i] for i in here]
                    turn += 1
                    for _, name, ties in list(measured(kind, world, docid))[turn % parts :: parts]:
                        found = routes.values_of(curves, name, ties)
                        np.testing.assert_array_equal(found, values[name, ties][here], f"{name}, {ties}, {kind}")


def test_the_functions_give_the_same_bits():
    """Average precision and nDCG have functions of their own, for a ranking and for the mean of many."""
    for row, name, keywords in NAMES:
        if row.method not in ("average_precision", "ndcg") or row.same:
            continue
        one, many = ((hc.average_precision, hc.mean_average_precision) if row.method[0] == "a"
                     else (hc.ndcg, hc.mean_ndcg))  # fmt: skip
        kind = row.of[0]
        for world in (COMPLETE, WORLD):
            for ties in row.readings:
                values = known(world is COMPLETE, kind, 1, False)[2][name, ties]
                found = []
                for query in world.queries:
                    said = {"num_relevant": routes.num_relevant(query, 1), "relevance_level": 1} if kind == "hits" \
                        else {"unretrieved": query.missing}
                    found.append(one(query.level, query.score, ties=ties, **keywords, **said))
                np.testing.assert_array_equal(found, values, name)
                columns, offsets = routes.laid_out(world, y_true="level", y_score="score")
                mean = many(**columns, offsets=offsets, ties=ties, **keywords, **routes.taken(kind, world.queries))
                assert mean == pytest.approx(np.nanmean(values), rel=1e-15)


# --- runs -----------------------------------------------------------------------------------------------------------


def of_run(ties):
    """The names of the measures that a run has under this reading."""
    return [name for row, name, _ in OF_RUNS
            if ties == "docid" or ties in row.readings or not (row.readings or row.ordered)]  # fmt: skip


@cache
def evaluated(ties, relevant=1, judged_only=False):
    options = {"relevance_level": relevant, "judged_only": judged_only}
    return hc.evaluate(WORLD.qrels, WORLD.run, of_run(ties), ties=ties, **options)


@pytest.mark.parametrize("ties", register.OF_RUNS)
@pytest.mark.parametrize("way", routes.WAYS_OF_RUNS)
def test_every_way_to_a_run_gives_the_same_bits(way, ties, request):
    """In an ordinary run each way has the first options with two readings of ties, the second with the others."""
    made = routes.WAYS_OF_RUNS[way]
    if made.needs:
        pytest.importorskip(made.needs)
    turn = [*routes.WAYS_OF_RUNS].index(way) + register.OF_RUNS.index(ties)
    every = ({"relevance_level": 1}, {"relevance_level": 2, "judged_only": True})
    for options in every if request.config.getoption("--all") else every[turn % 2 :][:1]:
        wanted, names = evaluated(ties, *options.values()), of_run(ties)
        found = made.make(WORLD, names, ties=ties, **options)
        assert (found.query_ids, found.means) == (wanted.query_ids, wanted.means)
        for name in names:
            assert found.values[name].tobytes() == wanted.values[name].tobytes(), name


@pytest.mark.parametrize("ties", register.OF_RUNS)
def test_the_command_gives_the_same_bits(ties, capsys):
    wanted = evaluated(ties, 2, True)
    shown = routes.of_command(WORLD, of_run(ties), capsys, ties, relevance_level=2, judged_only=True)
    (run,) = shown["runs"]
    for name in of_run(ties):
        own = parse(name).name
        assert run["means"][own] == wanted.means[name], name
        values = [None if isnan(one) else one for one in wanted.values[name].tolist()]
        assert [run["queries"][query][own] for query in wanted.query_ids] == values, name


def test_ir_measures_gives_the_same_bits():
    ir_measures = pytest.importorskip("ir_measures")
    provider = importlib.import_module("hitcurve.ir_measures").provider
    wanted, provided = evaluated("docid"), set()
    for row, name, _ in OF_RUNS:
        try:
            theirs = ir_measures.parse_measure(name)
            supported = provider.supports(theirs)
        except (NameError, ValueError, SyntaxError, KeyError, TypeError, AssertionError):  # no name there
            continue
        if not supported:
            continue
        provided.add(row.name)
        ours = f"IPrec(levels=trec_eval9)@{theirs['recall']:g}" if row.name == "IPrec" else name
        values = hc.evaluate(WORLD.qrels, WORLD.run, ours).values[ours] if ours != name else wanted.values[name]
        found = {one.query_id: one.value for one in provider.iter_calc([theirs], WORLD.qrels, WORLD.run)}
        for query, value in zip(wanted.query_ids, values.tolist(), strict=True):
            if row.gaps:  # ir_measures leaves out a query without a value, and we also have 0 for one without relevant
                assert found.get(query, 0.0 if value == 0 else None) == (None if isnan(value) else value), name
            elif query in WORLD.run:  # of others ir_measures has a value of its own
                assert found[query] == value, name
    assert provided == {row.name for row in ROWS if row.provided}


@pytest.mark.parametrize("ties", register.OF_RUNS)
def test_a_run_has_the_numbers_of_its_curves(ties):
    """The same bits, but for sums that the register says."""
    for relevant in (1, 2):
        found = evaluated(ties, relevant)
        assert_those_of_curves(found, {"hits": found.curves(relevant), "gains": found.curves()}, ties)


def assert_those_of_curves(found, curves, ties):
    """0 in place of NaN, for a query without a relevant document; the gaps of a measure stay."""
    for row, name, _ in NAMES:
        if name in found.values and row.method and not row.twin_of_runs:
            read = ties if ties != "docid" else (*row.readings, "expected")[0]
            values = routes.values_of(curves[row.of[0]], name, read)
            filled = np.isnan(values) & ((curves[row.of[0]].num_relevant == 0) | (not row.gaps))
            values[filled] = 0.0
            tolerance = 1e-14 if ties in row.sums else 0
            np.testing.assert_allclose(found.values[name], values, rtol=tolerance, atol=0, err_msg=f"{name}, {ties}")


# --- any run --------------------------------------------------------------------------------------------------------


@st.composite
def worlds(draw):
    """Small enough for all orders of tied documents."""
    level = st.sampled_from([None, -1, 0, 1, 2, 3])
    drawn = draw(st.lists(st.tuples(
        st.lists(st.tuples(level, st.sampled_from([-0.5, 0.0, 1.5])), max_size=5),
        st.lists(st.integers(-1, 3), max_size=2)), min_size=1, max_size=2))  # fmt: skip
    qrels, run = {}, {}
    for i, (docs, unretrieved) in enumerate(drawn):
        ids = draw(st.permutations([f"d{j}" for j in range(9, 9 + len(docs))]))
        run[f"q{i}"] = {doc: score for doc, (_, score) in zip(ids, docs, strict=True)}
        judged = {doc: one for doc, (one, _) in zip(ids, docs, strict=True) if one is not None}
        qrels[f"q{i}"] = judged | {f"u{j}": one for j, one in enumerate(unretrieved)} or {"u": 0}
    return routes.World(qrels, {query: docs for query, docs in run.items() if docs} or {"q0": {"d": 1.0}})


@few(10)
@given(worlds(), st.integers(1, 3), st.booleans())
@example(routes.World({"q0": {"d10": 2}}, {"q0": {"d9": 0.0, "d10": -0.5}}), 1, False)  # sums that differ by a bit
def test_any_run_has_the_numbers_of_the_twin_of_its_curves_and_of_arrays(world, relevant, judged_only):
    options = {"relevance_level": relevant, "judged_only": judged_only}
    with_docid = hc.evaluate(world.qrels, world.run, of_run("docid"), **options)
    for ties in register.OF_RUNS:
        found = hc.evaluate(world.qrels, world.run, of_run(ties), ties=ties, **options)
        if not world.tied:  # every reading has the bits of "docid", whose sums are those of trec_eval
            for name in with_docid.values.keys() & found.values.keys():
                np.testing.assert_array_equal(found.values[name], with_docid.values[name], f"{name}, {ties}")
        summed = ties if world.tied else "docid"
        ways = {(first, by_any): [world.judged(name, ties, first, by_any) for name in found.query_ids]
                for first, by_any in ((False, False), (True, False), (False, True))}  # fmt: skip
        if judged_only:
            ways = {way: list(map(reference.without_unjudged, of)) for way, of in ways.items()}
        queries = ways[False, False]
        for row, name, keywords in OF_RUNS:
            if name in found.values:
                wanted = [float(register.slow(row, keywords, query, ties, relevant))
                          for query in ways[row.smaller_first, row.by_any]]  # fmt: skip
                filled = [not row.gaps or not reference.at_level(query, relevant).num_relevant for query in queries]
                wanted = [0.0 if isnan(one) and fill else one for one, fill in zip(wanted, filled, strict=True)]
                np.testing.assert_allclose(found.values[name], wanted, 1e-13, 1e-15, err_msg=f"{name}, {ties}")
        curves = {"hits": found.curves(relevant), "gains": found.curves()}
        assert_those_of_curves(found, curves, summed)
        items = routes.without_unjudged(world) if judged_only else world
        for kind, those in curves.items():
            assert routes.table(those) == routes.table(routes.by_offsets(items, kind, relevant, ties == "docid"))


@few(8)
@given(worlds(), st.integers(1, 3))
def test_any_items_have_the_numbers_of_the_twin(world, relevant):
    """Of measures that no run has too: so all documents are retrieved, and all have a level."""
    qrels = {query: {doc: max(world.qrels.get(query, {}).get(doc, 0), 0) for doc in docs}
             for query, docs in world.run.items()}  # fmt: skip
    world = routes.World(qrels, world.run)
    queries = [world.judged(name) for name in sorted(qrels)]
    for kind in ("hits", "gains"):
        curves = routes.by_offsets(world, kind, relevant, False)
        for row, name, keywords in NAMES:
            if kind in row.of and not row.attribute and not row.ordered:
                for ties in row.readings_of_curves or ("expected",):
                    wanted = [float(register.slow(row, keywords, query, ties, relevant, of=kind)) for query in queries]
                    found = routes.values_of(curves, name, ties)
                    np.testing.assert_allclose(found, wanted, 1e-13, max(row.rounded, 1e-15), err_msg=f"{name}, {ties}")
