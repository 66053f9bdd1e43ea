"""In a clean interpreter: what import loads, what the public names say of themselves, and that nothing leaks."""

import ast
import functools
import importlib
import inspect
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from textwrap import dedent

import pytest
import register

import hitcurve as hc

# What import may load beyond numpy's own modules: nothing that costs. (importlib.metadata, numpy.random, threads and
# dataclasses each cost more than all of hitcurve.) Cython's two are made in memory.
MAY_LOAD = {"__future__", "cython_runtime"}


def run(code, said=""):
    """Standard output of a fresh interpreter: no current folder, no user site, warnings are errors.

    `said` is all that it says on standard error.
    """
    command = [sys.executable, "-I", "-W", "error", "-c", dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr == said
    return done.stdout


# --- import -------------------------------------------------------------------------------------------------


def test_import_loads_numpy_and_little_else():
    """It leaves numpy as it was, and a star gives all public names."""
    loaded = run(
        """
        import sys, warnings, numpy
        state = numpy.geterr(), numpy.get_printoptions(), list(warnings.filters)
        before = set(sys.modules)
        import hitcurve
        print(*(set(sys.modules) - before))
        names = {}
        exec("from hitcurve import *", names)
        assert set(hitcurve.__all__) <= set(names)
        hitcurve.HitCurve([0, 0], [1, 1]).average_precision(ties="threshold")
        hitcurve.HitCurve([], []).precision(3)
        assert (numpy.geterr(), numpy.get_printoptions(), list(warnings.filters)) == state
        """
    ).split()
    others = {name for name in loaded if name.partition(".")[0] != "hitcurve" and not name.startswith("_cython_")}
    assert others <= MAY_LOAD
    assert not [name for name in loaded if name.startswith("hitcurve.compat")]
    assert "hitcurve" in loaded


USES = (
    "hitcurve.average_precision([0, 1, 0], [3, 2, 1])",
    "hitcurve.HitCurve([0, 1, 0], [3, 2, 1], tiebreak='order').tie_report()",
    "hitcurve.HitCurves([0, 1, 0], [3, 2, 1], qid=['a', 'b', 'a']).mean_average_precision()",
    "hitcurve.GainCurve([0, 2, 1], [3, 2, 1], tiebreak='order').ndcg(2, gain='exponential')",
    "hitcurve.mean_ndcg([0, 2, 1], [3, 2, 1], qid=['a', 'b', 'a'])",
    "hitcurve.HitCounter([2.0]).update([0, 1, 0], [3, 2, 1])",
    "hitcurve.GainCounter([2.0]).update([0, 2, 0], [3, 2, 1])",
    "hitcurve.average_precision(numpy.zeros(9), numpy.zeros(9), nan_policy='worst')",
)


def test_use_loads_nothing_foreign():
    said = run(
        f"""
        import sys, numpy, hitcurve
        for call in {USES}:
            before = set(sys.modules)
            eval(call)
            print(call, *(set(sys.modules) - before), sep="|")
        """
    )
    foreign = ("pandas", "polars", "pyarrow", "torch", "scipy", "sklearn", "matplotlib", "concurrent", "threading")
    loaded = {call: names for call, *names in (line.split("|") for line in said.splitlines())}
    assert [*loaded] == [*USES]
    for call, names in loaded.items():
        assert not [name for name in names if name.partition(".")[0] in foreign], call


def test_subinterpreters_are_refused():
    """By an ImportError, as numpy's extensions refuse them; the first interpreter goes on."""
    pytest.importorskip("concurrent.interpreters", reason="concurrent.interpreters is new in Python 3.14")
    run(
        """
        import concurrent.interpreters, hitcurve
        for _ in range(2):
            other = concurrent.interpreters.create()
            try:
                other.exec("import hitcurve")
            except concurrent.interpreters.ExecutionFailed as error:
                assert error.excinfo.type.__name__ == "ImportError", error
                assert "hitcurve.curves.hit does not support loading in subinterpreters" in error.excinfo.msg
            else:
                raise AssertionError("imported")
            other.close()
            assert hitcurve.average_precision([1, 0], [2, 1]) == 1.0
        """
    )


def test_undefined_values_do_not_warn():
    """0 / 0 is nan, without a warning, also where numpy's floating point errors are turned into exceptions."""
    reads = [
        (row.method, args, options | ({"ties": ties} if ties else {}))
        for row in register.HITS
        for args, options in register.calls(row, k=1, fraction=0.5, fpr=0.5)
        for ties in row.readings or [None]
    ]
    run(
        f"""
        import numpy, hitcurve
        numpy.seterr(all="raise")
        for y, s in ([], []), ([0, 0], [1, 1]), ([1, 1], [1, 2]), ([0, 1], [float("inf"), float("-inf")]):
            c, many = hitcurve.HitCurve(y, s), hitcurve.HitCurves(y, s, offsets=[0, 0, len(y)])
            for name, args, options in {reads}:
                getattr(c, name)(*args, **options), getattr(many, name)(*args, **options)
            c.tie_report(), repr(c), many.mean_average_precision(empty="zero")
            for ties in ("expected", "threshold"):
                c.precision_recall_curve(ties=ties), c.roc_curve(ties=ties), c.hit_curve(ties=ties)
        """
    )


QUERIES_WITHOUT_ITEMS = (
    "[], [], offsets=[0]",
    "[], [], offsets=[0, 0]",
    "[], [], offsets=[0, 0, 0]",
    "[], [], qid=[]",
    "[[]], [[]]",
    "numpy.empty((0, 3)), numpy.empty((0, 3))",
    "numpy.empty((3, 0)), numpy.empty((3, 0))",
    "numpy.empty(0), numpy.empty((0, 4))",
    "[1], [1], offsets=[0, 0, 1, 1]",
)


def test_queries_without_items_and_rankings_without_relevant_items():
    """In a process of their own: what goes wrong here takes the interpreter with it."""
    sizes = (0, 1, 8, 512, 513, 5000, 100_000)
    run(
        f"""
        import sys, numpy, hitcurve
        for queries in {QUERIES_WITHOUT_ITEMS}:
            print(queries, file=sys.stderr)
            curves = eval(f"hitcurve.HitCurves({{queries}})")
            assert curves.num_items.tolist() == [curve.num_items for curve in curves]
            ap = curves.average_precision()
            assert len(ap) == len(curves)
            assert all(numpy.isnan(a) or items for a, items in zip(ap, curves.num_items))
            mean = eval(f"hitcurve.mean_average_precision({{queries}})")
            assert numpy.isnan(mean) or mean == 1.0
            assert eval(f"hitcurve.mean_average_precision({{queries}}, empty='zero')") >= 0 or not len(curves)
        for n in {sizes}:
            print(n, file=sys.stderr)
            y, s = numpy.zeros(n, dtype=numpy.int8), numpy.arange(n) / 7
            for dtype in ("f2", "f4", "f8", "i8", "u1"):
                curve = hitcurve.HitCurve(y, s.astype(dtype) if n < 513 else (s % 99).astype(dtype))
                assert (curve.num_items, curve.num_relevant, len(curve)) == (n, 0, 0)
                assert numpy.isnan(hitcurve.average_precision(y, s)) and numpy.isnan(curve.average_precision())
                assert numpy.isnan(hitcurve.average_precision(y, s, workers=2))
                assert numpy.isnan(hitcurve.average_precision(y, s, nan_policy="worst"))
                assert hitcurve.HitCurves(y, s, offsets=[0, 0, n]).num_hits.tolist() == [0, 0]
        """,
        said="".join(f"{one}\n" for one in (*QUERIES_WITHOUT_ITEMS, *sizes)),
    )


# --- with numpy alone ---------------------------------------------------------------------------------------

NUMPY_ALONE = """
    import sys, tempfile
    import numpy as np

    class Absent:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in {libraries}:
                raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

    sys.meta_path.insert(0, Absent())
    import hitcurve as hc
    from hitcurve.cli import main as cli
    from hitcurve.sources import tables

    class Arrow:
        def __arrow_c_stream__(self, schema=None):
            raise AssertionError

    y, s, groups = np.array([1, 0, 1, 0]), np.array([4.0, 3, 2, 1]), ["a", "a", "b", "b"]
    found = hc.evaluate({{"q": {{"a": 1}}}}, {{"q": {{"a": 1.0}}}}, "AP")
    compared = hc.compare({{"a": found, "b": found}}, n_resamples=39)
    files = {{".csv": b"label,score\\n1,2\\n", ".parquet": b"PAR1", ".zst": b"\\x28\\xb5\\x2f\\xfd"}}
    folder = tempfile.TemporaryDirectory()
    for kind, text in list(files.items()):
        files[kind] = f"{{folder.name}}/a{{kind}}"
        with open(files[kind], "wb") as file:
            file.write(text)

    def imported(name):
        __import__(name)
        return sys.modules[name]

    calls = {{
        "pandas": [found.to_pandas, hc.Leaderboard([found]).to_pandas, compared.to_pandas],
        "polars": [found.to_polars, hc.Leaderboard([found]).to_polars, compared.to_polars],
        "pyarrow": [
            lambda: hc.scan((y, s, groups)),
            lambda: hc.scan((y, s, groups), sorted="group"),
            lambda: hc.scan(lambda: [(y, s, groups)], group=3),
            lambda: hc.scan(lambda: [Arrow()], "label", "score"),
            lambda: hc.scan(Arrow(), "label", "score"),
            lambda: hc.scan(files[".csv"], "label", "score"),
            lambda: hc.scan(files[".parquet"], "label", "score"),
            lambda: tables.TableReader([files[".csv"]], "label", ["score"]),
            lambda: tables.read_actives(files[".parquet"]),
            lambda: tables.read_actives(files[".zst"]),
            lambda: hc.read_qrels(files[".parquet"]),
            lambda: hc.read_run(files[".zst"]),
        ],
        "pyspark": [
            lambda: imported("hitcurve.spark").hit_curve(None, "label", "score"),
            lambda: imported("hitcurve.spark").hit_curves(None, "query", "label", "score", ["AP"]),
        ],
        "ir_measures": [lambda: imported("hitcurve.ir_measures")],
        "matplotlib": [
            lambda: hc.HitCurve(y, s).plot(),
            lambda: hc.plot_curves({{"a": hc.HitCurve(y, s)}}),
            lambda: imported("hitcurve.report.plot").figure({{"a": hc.HitCurve(y, s)}}),
            lambda: hc.plot_evaluations({{"a": s}}),
            lambda: hc.HitCurves(y, s, qid=groups).plot(),
            lambda: hc.compare({{"a": s, "b": -s}}, rng=0, n_resamples=39).plot(),
            lambda: hc.plot_figure(),
        ],
        "scipy": [lambda: hc.HitCurves(y, s, qid=groups).interval(method="t")],
    }}
    for library, failing in calls.items():
        for call in failing:
            try:
                call()
            except ImportError as error:
                print(library, error.name, error, sep="|")
            else:
                raise AssertionError(library)
    # And what needs nothing else.
    hc.scan((y, s)), hc.scan(lambda: [(y, s)]), hc.scan((y, s), sorted="score"), hc.scan((y, s), actives=[4.0, 2.0])
    hc.compare(y, {{"a": s, "b": -s}}, n_resamples=39, rng=0), hc.HitCurve(y, s).interval(), hc.HitCurve(y, s).p_value()
    assert tables.read_actives(files[".csv"]).listed == [(None, "1")]
    folder.cleanup()
"""


def test_what_is_not_installed_is_named_with_its_extra():
    source = Path(__file__).resolve().parents[1] / "pyproject.toml"
    extras = tomllib.loads(source.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    libraries = ["ir_measures", "matplotlib", "pandas", "polars", "pyarrow", "pyspark", "pytrec_eval", "scipy"]
    said = [line.split("|") for line in run(NUMPY_ALONE.format(libraries=libraries)).splitlines()]
    assert {library for library, *_ in said} == {*libraries} - {"pytrec_eval"}
    for library, name, problem in said:
        assert name.partition(".")[0] == library
        text, extra = re.fullmatch(r'(.+) needs \w+: pip install "\.\[(.+)\]" in a checkout', problem).groups()
        assert text
        assert any(re.match(rf"{library}\b", one) for one in extras[extra]), problem
STATES = """
    import copy, pickle, sys
    import numpy as np
    import hitcurve as hc

    EVERY, LARGE = False, [-(10**9), -1, 0, 1, 2, 10**9, 2**62, 2**63 - 1]

    def others(value):
        # What may stand in a state in place of a value: of another length, type or content.
        if not isinstance(value, np.ndarray):
            numbers = [*LARGE, 2**62 + 1, 2**70, 0.5, 9.0, float("nan"), float("inf")]
            for one in [*numbers, None, True, "raise", "x", [], {}]:
                if type(one) is not type(value) or one != value:
                    yield one
            return
        yield from [None, 3, "text", value[:-1], value[:0], value[1:], value[::-1], value[:, None]]
        yield from [np.append(value, value[-1:]), value.astype(object), value.astype(str)]
        yield np.ma.array(value, mask=True)
        if value.dtype.kind not in "iuf":
            return
        yield from [value.astype(bool), value.astype(complex)]
        with np.errstate(all="ignore"):
            yield from [value.astype(dtype) for dtype in ("i1", "u8", "f2", "f4", ">i8", "f8")]
        numbers = [*LARGE, float("nan"), float("inf")]
        for place in range(len(value)):
            for one in numbers if EVERY else numbers[place % 4::4]:  # each of them in some place
                changed = value.copy()
                with np.errstate(all="ignore"):
                    changed[place] = one if value.dtype.kind == "f" or one == one and abs(one) < 2**63 else 5
                if not np.array_equal(changed, value, equal_nan=value.dtype.kind == "f"):
                    yield changed

    def use(made):
        # Everything that goes through memory by what a table says.
        ties = "threshold" if made.weighted else "expected"
        made.average_precision(ties=ties), made.roc_auc(ties=ties) if np.all(made.num_hits == made.num_relevant) else 0
        repr(made), hash(made), made.prevalence
        if not made.weighted:
            made.tie_report(), made.precision([1, 10**9]), made.chance()
            made.average_precision(ties="best", interpolation="101-point")
        elif isinstance(made, hc.HitCurve):
            made.roc_curve(ties="threshold") if made.num_hits == made.num_relevant else 0
        assert pickle.loads(pickle.dumps(made)) == made == copy.copy(made)

    def valid(curve):
        # from_table takes what it is made of.
        use(curve)
        columns = curve.score, curve.above, curve.tied, curve.hits
        assert curve == hc.HitCurve.from_table(
            *columns, num_items=curve.num_items, num_relevant=curve.num_relevant, lower_is_better=curve.lower_is_better
        )

    def all_changed(values):
        for at, value in enumerate(values):
            for other in others(value):
                yield at, other, (*values[:at], other, *values[at + 1:])

    y, s = [1, 0, 1, 1, 0, 0, 1, 0], [9.0, 8.0, 8.0, 5.0, 5.0, 5.0, 2.0, 1.0]
    taken = refused = 0
"""


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_states_of_curves_from_outside(every):
    """A state that no curve has is refused, whatever is wrong with it; what is taken is a curve that holds."""
    counts = run(
        STATES.replace("EVERY, LARGE = False", f"EVERY, LARGE = {every}")
        + """
    one, many = hc.HitCurve, hc.HitCurves
    curves = [
        one(y, s, num_relevant=5), one(y, np.array(s, "f4"), lower_is_better=True), one(y, [3, 2, 1, 2, 1, 2, 3, 1]),
        one(y, [*s[:6], float("nan"), 1.0], nan_policy="worst"), one(y, s, sample_weight=np.arange(8) / 4),
        one.from_ranks([2, 4], num_items=9), one([], []),
        many(y, s, qid=list("abababcc")), many(y, s, offsets=[0, 3, 3, 8], sample_weight=np.ones(8)),
        many([y], [s], num_relevant=6), one(y, s).resample(2, rng=0), many([], [], offsets=[0]),
    ]
    for curve in curves:
        make, state = curve.__reduce__()
        assert make(*state) == curve
        for at, other, changed in all_changed(state):
            changed = [one.copy() if isinstance(one, np.ndarray) else one for one in changed]
            kept = copy.deepcopy(changed)
            try:
                made = make(*changed)
            except (ValueError, TypeError) as error:
                assert str(error) and len(str(error)) < 300, error
                refused += 1
                continue
            taken += 1
            for each in [made] if isinstance(made, one) else made:
                valid(each)
            use(made)
            # Nothing of the caller's is kept, or changed.
            for array, before in zip(changed, kept):
                if isinstance(array, np.ndarray):
                    assert array.flags.writeable and array.tobytes() == before.tobytes()
                    array[...] = array[::-1] if array.dtype.kind in "OUS" else 1
            for each in [made] if isinstance(made, one) else made:
                valid(each)
    print(taken, refused)
    """
    ).split()
    taken, refused = map(int, counts)
    assert refused > 1000 > taken > 50


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_states_of_counters_from_outside(every):
    counts = run(
        STATES.replace("EVERY, LARGE = False", f"EVERY, LARGE = {every}")
        + """
    makes = {"thresholds": [9.0, 8.0, 5.0, 2.0]}, {"edges": [1.0, 4.0, 8.0]}, {"thresholds": s, "nan_policy": "worst"}
    for options in makes:
        counter = hc.HitCounter(**options)
        counter.update(y, s)
        if "nan_policy" in options:
            counter.update([0, 1], [float("nan")] * 2)
        state = counter.__getstate__()
        for _, _, values in all_changed(tuple(state.values())):
            made, changed = hc.HitCounter.__new__(hc.HitCounter), dict(zip(state, values))
            try:
                made.__setstate__(changed)
            except (ValueError, TypeError) as error:
                assert str(error) and len(str(error)) < 300, error
                refused += 1
                continue
            taken += 1
            valid(made.curve())
            assert pickle.loads(pickle.dumps(made)) == made == copy.deepcopy(made)
            before = made.curve()
            for array in changed.values():
                if isinstance(array, np.ndarray) and array.flags.writeable and array.dtype.kind in "iuf":
                    array[...] = 7
            assert made.curve() == before
            cuts = made.edges if made.thresholds is None else made.thresholds
            made.update([0, 0, 0], np.array([0, 5, 100], cuts.dtype))
            assert made.num_items == before.num_items + 3
            assert made.curve().num_hits == before.num_hits
        for missing in state:
            try:
                hc.HitCounter.__new__(hc.HitCounter).__setstate__({k: v for k, v in state.items() if k != missing})
            except (ValueError, TypeError, KeyError) as error:
                assert missing in str(error)
            else:
                raise AssertionError(missing)
    print(taken, refused)
    """
    ).split()
    taken, refused = map(int, counts)
    assert refused > 100
    assert taken > 10


STATES_OUT_OF_THE_TABLE = (
    "None, False, False, np.array([-(10**9), 1]), None, *[np.array([1])] * 6",
    "None, False, False, np.array([0, 10**9]), None, *[np.array([1])] * 6",
    "None, False, False, np.array([0, 1]), None, *[np.array([1], np.int8)] * 3, *[np.array([1])] * 3",
    "None, False, False, np.array([0, 0, 1]), None, *[np.array([1])] * 6",
)


def test_states_that_point_out_of_the_table():
    run(
        STATES
        + f"""
    from hitcurve.curves.hit import _curves_from
    for state in {STATES_OUT_OF_THE_TABLE}:
        print(state, file=sys.stderr)
        try:
            curves = eval(f"_curves_from({{state}})")
        except (ValueError, TypeError):
            pass
        else:
            for curve in curves:
                valid(curve)
    """,
        said="".join(f"{state}\n" for state in STATES_OUT_OF_THE_TABLE),
    )


# --- names and docstrings -----------------------------------------------------------------------------------

PUBLIC = {
    "average_precision",
    "mean_average_precision",
    "at_threshold",
    "HitCurve",
    "HitCurves",
    "ndcg",
    "mean_ndcg",
    "GainCurve",
    "GainCurves",
    "HitCounter",
    "GainCounter",
    "TieReport",
    "rbo",
    "RankBiasedOverlap",
    "ThresholdCounts",
    "UserModel",
    "PrecisionRecallCurve",
    "PrecisionRecallGainCurve",
    "multiclass_roc_auc",
    "RocCurve",
    "HitCurvePoints",
    "GainCurvePoints",
}


def test_all_is_complete():
    assert set(hc.__all__) >= PUBLIC
    assert len(set(hc.__all__)) == len(hc.__all__)
    for name in hc.__all__:
        assert hasattr(hc, name), name
    shown = {name for name in vars(hc) if not name.startswith("_") and not inspect.ismodule(getattr(hc, name))}
    assert shown <= {*hc.__all__, "TYPE_CHECKING", "Any"}


@pytest.mark.filterwarnings("ignore:.*resamples are too few")
def test_what_reprs_show_by_name_are_attributes():
    """``name=value`` in the repr of an object of a public class: its attribute of that name has that value."""
    y, s, levels = [1, 0, 1, 0], [3.5, 2, 2, 1], [[1, 0, 3, 0], [0, 2, 0, 0]]
    hits, many, gains = hc.HitCurve(y, s), hc.HitCurves([y, y], [s, s]), hc.GainCurve(levels[0], s)
    weighted = {"sample_weight": [0.1, 0.2, 1 / 3, 0.7]}
    found = hc.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 2.0}}, ["AP", "nDCG@1"])
    compared = hc.compare({"a": many, "b": many}, rng=0, n_resamples=9)
    pool = hc.evaluate({"q": {"b": 1}}, {"q": {"a": 1.0}}, "AP").unjudged(3, run={"q": {"a": 1.0}})
    counter, levelled = hc.HitCounter(thresholds=[1.0]), hc.GainCounter(edges=[1.0, 2.0])
    counter.update([1, 0], [1.0, 2.0])
    levelled.update([1, 0], [1.0, 2.0])
    made = [
        hits, many, gains, hc.GainCurves(levels, [s, s]), hc.GainCurve([0], [1]), hc.GainCurve(range(9), range(9)),
        hc.HitCurve(y, s, **weighted), hc.HitCurves(y, s, offsets=[0, 2, 4], **weighted), hc.HitCurve([], []),
        counter, levelled, hits.tie_report(), many.tie_report(), hits.hit_curve(), gains.gain_curve(), hits.roc_curve(),
        hits.precision_recall_curve(), hits.precision_recall_gain_curve(),
        hits.interval(), hits.interval().confidence_interval, hits.p_value(), compared,
        compared.rows[0], compared.systems[0], found, hc.Leaderboard([found]), hc.at_threshold(y, s, 2),
        hc.Evaluator({"q": {"a": 1}}, "AP"), hc.SubtopicCurve([[1, 0]] * 4, s),
        hc.SubtopicCurves([[[1, 0]] * 4], [s]), gains.user_model("RBP"), hc.rbo(["a", "b"], ["b", "c"]),
        pool, pool.rows[0], pool.bounds[0],
    ]  # fmt: skip
    classes = {getattr(hc, name) for name in hc.__all__ if inspect.isclass(getattr(hc, name))}
    assert classes <= {type(one) for one in made}
    for one in made:
        text = repr(one)
        outer, inner = "", text.partition("(")[2].removesuffix(")")
        while outer != inner:  # what is nested has names of its own
            outer, inner = inner, re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "", inner)
        for name in re.findall(r"\b(\w+)=", outer):
            value = getattr(one, name)
            assert any(f"{name}={shown}" in text for shown in (repr(value), str(value))), text


CONSTRUCTED = ("HitCurve", "HitCurves", "GainCurve", "GainCurves", "HitCounter", "GainCounter")


def public_members():
    """(qualified name, object, its docstring, names the docstring must hold)"""
    for name in hc.__all__:
        value = getattr(hc, name)
        if not callable(value):
            continue
        names = getattr(value, "_fields", None) or parameters(value)
        yield name, value, value.__doc__, names
        if name not in CONSTRUCTED:
            continue
        for attribute in dir(value):
            member = getattr(value, attribute)
            if attribute.startswith("_"):
                continue
            if callable(member):
                yield f"{name}.{attribute}", member, member.__doc__, parameters(member)
            else:  # documented in the class
                yield f"{name}.{attribute}", member, value.__doc__, [attribute]


def parameters(function):
    names = inspect.signature(function).parameters
    return [name for name in names if name not in ("self", "cls") and not name.startswith("_")]


MEMBERS = list(public_members())


def stubbed(module):
    """By qualified name, the parameters of every function and constructor in the stub of a compiled module."""
    found = {}

    def of(function, bound):
        arguments = function.args
        plain = [*arguments.posonlyargs, *arguments.args][bound:]
        required = len(plain) - len(arguments.defaults)
        shown = [(one.arg, i >= required and ast.unparse(arguments.defaults[i - required]), False)
                 for i, one in enumerate(plain)]
        shown += [(one.arg, default is not None and ast.unparse(default), True)
                  for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
        return shown + [("**" + one.arg, False, True) for one in [arguments.kwarg] if one is not None]

    def walk(body, prefix, bound):
        for node in body:
            if isinstance(node, ast.ClassDef):
                walk(node.body, node.name + ".", True)
            elif isinstance(node, ast.FunctionDef):
                found.setdefault(prefix + node.name, []).append(of(node, bound))

    stub = Path(module.__file__).with_name(module.__name__.split(".")[-1] + ".pyi")
    walk(ast.parse(stub.read_text()).body, "", False)
    return found


@functools.cache
def every_stub():
    found = {}
    for module in ("base", "hit", "gain", "gain_measures"):
        found |= stubbed(importlib.import_module(f"hitcurve.curves.{module}"))
    return found


def test_signatures():
    """What a notebook shows of arguments is what type checkers know of them."""
    checked = [name for name, value, *_ in MEMBERS if callable(value) and signature_is_stubbed(name, value)]
    assert len(checked) > 140


def signature_is_stubbed(name, value):
    signature = inspect.signature(value)
    assert "args" not in signature.parameters, name
    stubs = every_stub()
    owner, _, method = name.partition(".")
    bases = getattr(hc, owner).__mro__ if method or isinstance(value, type) else []
    names = [f"{base.__name__}.{method or '__init__'}" for base in bases] or [name]
    wanted = next((stubs[one] for one in names if one in stubs), None)
    if wanted is None:
        assert "cython" not in type(value).__name__, name
        return False
    shown = [("**" * (one.kind == one.VAR_KEYWORD) + one.name, one.default is not one.empty and repr(one.default),
              one.kind in (one.KEYWORD_ONLY, one.VAR_KEYWORD))
             for one in signature.parameters.values() if one.name not in ("self", "cls")]  # fmt: skip
    for overload in wanted:  # one of which may need what another does without
        assert [one[::2] for one in shown] == [one[::2] for one in overload], name
        for (_, ours, _), (_, theirs, _) in zip(shown, overload, strict=True):
            assert theirs is False or (ours is not False and ast.literal_eval(ours) == ast.literal_eval(theirs)), name
    of_stub = [[(n, d is not False and repr(ast.literal_eval(d)), k) for n, d, k in one] for one in wanted]
    assert shown in of_stub, name
    return True


def test_docstrings():
    for name, _, doc, names in MEMBERS:
        assert doc, f"{name} has no docstring"
        first = doc.strip().splitlines()[0]
        assert 10 <= len(first) <= 120, f"{name}: {first!r}"
        assert first.endswith("."), f"{name}: {first!r}"
        for parameter in names:
            said = re.search(rf"\b{re.escape(parameter)}\b", doc)
            assert said, f"the docstring of {name} does not name {parameter}"


def test_methods_of_the_two_classes():
    """A measure of one ranking is a measure of many."""
    one, many = (
        {attribute for attribute in vars(cls) if not attribute.startswith("_")} for cls in (hc.HitCurve, hc.HitCurves)
    )
    assert one - many <= {
        "from_ranked",
        "from_ranks",
        "from_table",
        "p_value",
        "resample",
        "precision_recall_curve",
        "precision_recall_gain_curve",
        "roc_curve",
        "hit_curve",
        "plot",
    }
    assert {"mean_average_precision", "qid"} <= many - one


def test_methods_of_the_gain_classes():
    one, many = (
        {attribute for attribute in dir(cls) if not attribute.startswith("_")} for cls in (hc.GainCurve, hc.GainCurves)
    )
    assert one - many == {"from_ranked", "from_table", "gain_curve", "resample"}
    assert many - one == {"mean", "mean_ndcg", "qid", "row_offsets"}
    assert {"interval", "plot"} <= one & many


@pytest.mark.parametrize(
    "call",
    [hc.average_precision, hc.mean_average_precision, hc.HitCurve, hc.HitCurves, hc.ndcg, hc.mean_ndcg, hc.GainCurve,
     hc.GainCurves],
)
def test_options_are_keywords(call):
    with pytest.raises(TypeError, match="positional"):
        call([0, 1], [2, 1], None)
    with pytest.raises(TypeError, match="cutoff"):
        call([0, 1], [2, 1], cutoff=3)


def test_version():
    """The literal in the package and the metadata of its installation."""
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.?(dev|a|b|rc)\d+)?", hc.__version__)
    assert version("hitcurve") == hc.__version__


# --- leaks --------------------------------------------------------------------------------------------------

CALLS = """
    import gc, sys, tracemalloc
    import numpy as np
    import hitcurve as hc

    rng = np.random.default_rng(0)
    y = (rng.random(1000) < 0.1).astype(np.int8)
    s = rng.random(1000)
    y2, s2 = y.reshape(10, 100), s.reshape(10, 100)
    qid = rng.integers(0, 10, 1000)
    offsets = np.arange(0, 1001, 100)
    weight = rng.random(1000)
    key = rng.random(1000)
    k = np.array([1, 10, 100])
    labels, scores = y.tolist(), s.tolist()
    names = [f"q{q}" for q in qid]
    bad = s.copy()
    bad[500] = np.nan
    curve = hc.HitCurve(y, s)
    few, some = y[:60].astype(bool), s[:60]
    few[:5] = True
    short = hc.HitCurve(few, some)
    qrels = {"query_id": np.arange(60) // 20, "doc_id": np.arange(60), "relevance": few.astype(int)}
    found = {"query_id": qrels["query_id"], "doc_id": qrels["doc_id"], "score": some}
    nested = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "c": 2.0}}
    seed = np.random.default_rng(1)
    held = [y, s, y2, s2, qid, offsets, weight, key, k, labels, scores, names, bad, curve, few, some, short, seed,
            *qrels.values(), *found.values(), *nested, nested[0]["q"], nested[1]["q"]]

    def raises(call):
        try:
            call()
        except (ValueError, TypeError):
            return
        raise AssertionError

    def slower_calls():
        many = hc.HitCurves(y2, s2)
        hc.scan((few, some), progress=False)
        short.resample(2, rng=seed), short.interval(), short.interval("P@5", method="bootstrap", n_resamples=39, rng=1)
        short.p_value("P@5", n_resamples=39, rng=1), many.interval(n_resamples=39, rng=1)
        hc.compare(few, {"a": some, "b": -some}, n_resamples=39, rng=1)
        hc.compare({"a": many, "b": many}, n_resamples=39, rng=1)
        hc.evaluate(qrels, found, ["AP", "nDCG@5"]), hc.evaluate(*nested, "AP", ties="best")
        raises(lambda: hc.scan((few, some[1:]), progress=False))
        raises(lambda: short.interval(method="none"))
        raises(lambda: hc.evaluate(qrels, {**found, "score": bad[460:520]}))

    def calls():
        hc.average_precision(y, s)
        hc.average_precision(labels, scores)
        hc.average_precision(y, s.astype(np.float16), k=10, ties="best")
        hc.average_precision(y, s, ties="threshold", sample_weight=weight)
        hc.average_precision(y, s, tiebreak=key)
        hc.mean_average_precision(y2, s2)
        hc.mean_average_precision(y, s, qid=qid)
        hc.mean_average_precision(y, s, qid=names)
        hc.mean_average_precision(y, s, offsets=offsets)
        hc.at_threshold(y, s, k / 1000)
        c = hc.HitCurve(y, s)
        c.precision(k), c.enrichment_factor(k=k), c.bedroc(), c.tie_report(), repr(c), hash(c), c == curve
        c.precision_recall_curve(ties="threshold"), c.roc_curve(ties="best"), c.hit_curve(ties="expected")
        c.above, c.tied, c.hits, c.score
        many = hc.HitCurves(y2, s2)
        many.average_precision(k), many[3].roc_auc(), [len(one) for one in many]
        hc.HitCurve.from_ranked(y)
        hc.HitCurve.from_ranks(np.flatnonzero(y) + 1, num_items=1000)
        hc.HitCurve.from_table(c.score, c.above, c.tied, c.hits, num_items=1000)
        counter = hc.HitCounter(s[y == 1])
        counter.update(y, s)
        counter += counter
        counter.curve()
        raises(lambda: hc.average_precision(y, bad))
        raises(lambda: hc.average_precision(s, y))
        raises(lambda: hc.HitCurve(y, s[:10]))
        raises(lambda: hc.HitCurves(y, s, offsets=[0, 2000]))
        raises(lambda: hc.HitCurve(labels, bad, tiebreak=key))
        raises(lambda: c.precision(0))
        raises(lambda: c.average_precision(ties="mean"))
        raises(lambda: hc.HitCounter(s[:1]).update(y, s))
"""


@pytest.mark.parametrize("rounds", [12, pytest.param(300, marks=pytest.mark.slow)])
def test_nothing_leaks(rounds):
    """References, Python's and numpy's blocks, and the scratch memory that is taken through Python's raw allocator.

    What numpy keeps for the next arrays grows at first, and ever less. A leak takes as much in all rounds.
    """
    run(
        CALLS
        + f"""
    def size():
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    for i in range(40):  # most of what is kept for the next calls is there before memory is traced, which is slow
        calls(), slower_calls() if i % 4 == 0 else None
    tracemalloc.start()
    # 56 bytes a call are less than the smallest leaked object or row.
    for call, rounds, limit in ((calls, {rounds}, 56), (slower_calls, {rounds // 4}, 330)):
        call()
        sizes, before = [size()], [sys.getrefcount(item) for item in held]
        for _ in range(20):
            nothing = sys.getrefcount(None)
            for _ in range(rounds):
                call()
            sizes.append(size())
            nothing = sys.getrefcount(None) - nothing
            if sizes[2:] and sizes[-1] - sizes[-3] < limit * 2 * rounds:
                break
        else:
            raise AssertionError((call, sizes))
        after = [sys.getrefcount(item) for item in held]
        assert after == before, (call, before, after)
        if call is calls and sys.version_info < (3, 12):  # immortal from 3.12 on
            assert abs(nothing) < rounds / 2, nothing  # one a call would be as many as the rounds
    """
    )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/self/statm")
@pytest.mark.slow
def test_process_does_not_grow():
    """The same for memory that no allocator of Python's sees: a leaked table of one call is a few megabytes here."""
    pages = run(
        CALLS
        + """
    def resident():
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1])

    def rounds(number):
        for i in range(number):
            calls()
            if i % 10 == 0:
                slower_calls()

    rounds(200)
    before = resident()
    rounds(1500)
    print(resident() - before)
    """
    )
    assert int(pages) < 400
