"""Other packages that stand on hitcurve: built here against the installed one, and called from native threads.

Three are built: the example of the docs, as its author's pip would, a probe that calls every function of the .pxd, and
a package of a header that is later than the library.
"""

import ctypes
import importlib
import inspect
import os
import re
import shutil
import struct
import subprocess
import sys
import threading
import venv
from pathlib import Path

import numpy as np
import pytest
from register import HITS, calls

import hitcurve as hc
from hitcurve import capi

pytest.importorskip("Cython", reason="builds a Cython package, and Cython is not installed")
pytest.importorskip("setuptools", reason="builds a package, and setuptools is not installed")

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parent / "docs" / "examples" / "foreign"

TIES = {"expected": 0, "best": 1, "worst": 2, "threshold": 3}
NORMALIZE = {"min": 0, "relevant": 1, "hits": 2}
INTERPOLATION = {None: 0, "11-point": 1, "101-point": 2, "all-point": 3, "trapezoid": 4, "continuous": 5}
NAN_POLICY = {"raise": 0, "worst": 1, "omit": 2}
NAMED = {"normalize": NORMALIZE, "interpolation": INTERPOLATION}
EMPTY = {"skip": 0, "zero": 1, "one": 2, "raise": 3}
BAD_ARGUMENT, BAD_LABEL, BAD_SCORE, NO_ROOM, BAD_NUM_RELEVANT, BAD_OFFSETS, BAD_TABLE, EMPTY_QUERY, NOT_RETRIEVED = (
    1, 2, 3, 5, 6, 7, 8, 9, 10,
)  # fmt: skip


# What is compiled here calls hitcurve and does little itself: to optimize it takes longer than to run it.
COMPILING = os.environ | {"CFLAGS": f"{os.environ.get('CFLAGS', '')} -O0"}


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=COMPILING, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def imported(name, folder):
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))


BUILD = """
import os, runpy, sys
from setuptools import build_meta
for folder in sys.argv[1:]:
    os.chdir(folder)
    if os.path.exists("pyproject.toml"):
        build_meta.build_wheel(".")
    else:
        sys.argv = ["setup.py", "--quiet", "build_ext", "--inplace"]
        runpy.run_path("setup.py", run_name="__main__")
"""
LATER = "hitcurve_from_later"  # what the installed hitcurve lacks


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The folder of all that is compiled, by one process: each package in a folder of its own."""
    made = tmp_path_factory.mktemp("built")
    if EXAMPLE.is_dir():
        shutil.copytree(EXAMPLE, made / "example")
    shutil.copytree(HERE / "foreign", made / "probe")
    (made / "late").mkdir()
    header = (Path(capi.get_include()) / "hitcurve.h").read_text(encoding="utf-8")
    header = header.replace('{"hitcurve_average_precision_f32"', f'{{"{LATER}"')
    (made / "late" / "hitcurve.h").write_text(header, encoding="utf-8")
    (made / "late" / "late.c").write_text(
        '#include <Python.h>\n#include "hitcurve.h"\n'
        "static struct PyModuleDef late = {PyModuleDef_HEAD_INIT, .m_name = \"late\"};\n"
        "PyMODINIT_FUNC PyInit_late(void) { return hitcurve_import() < 0 ? NULL : PyModule_Create(&late); }\n",
        encoding="utf-8",
    )
    (made / "late" / "setup.py").write_text(
        "from setuptools import Extension, setup\n"
        'setup(name="late", ext_modules=[Extension("late", ["late.c"], include_dirs=["."])])\n',
        encoding="utf-8",
    )
    run([sys.executable, "-c", BUILD, *sorted(made.iterdir())])
    return made


@pytest.fixture(scope="session")
def example(built):
    """The example of the docs, built as pip builds it; its Cython and its C module."""
    if not EXAMPLE.is_dir():
        pytest.skip("no docs beside these tests")
    (wheel,) = (built / "example").glob("*.whl")
    shutil.unpack_archive(wheel, built / "site", "zip")
    return imported("modelrank", built / "site"), imported("modelrank_threads", built / "site")


@pytest.fixture(scope="session")
def probe(built):
    return imported("probe", built / "probe")


def models(num_models=40, n=3000, dtype=np.float32, seed=0):
    """Labels, and scores of many models with some ties."""
    rng = np.random.default_rng(seed)
    return (rng.random(n) < 0.05).astype(np.uint8), rng.integers(0, 2000, (num_models, n)).astype(dtype)


def bits(value):
    return "nan" if value != value else struct.pack("d", value)


# --- the example of the docs --------------------------------------------------------------------------------


def test_example(example):
    cython, _ = example
    label, score = models()
    out = np.empty(len(score))
    cython.average_precisions(label, score, out)
    assert out.tolist() == [hc.average_precision(label, row, ties="worst") for row in score]
    curve = hc.HitCurve(label, score[0])
    assert cython.measures(label, score[0]) == (
        curve.average_precision(),
        curve.average_precision(10),
        curve.bedroc(20.0),
    )
    label[7] = 2
    with pytest.raises(ValueError, match="model 0, item 7: hitcurve's status is 2"):
        cython.average_precisions(label, score, out)


@pytest.mark.slow
def test_the_example_is_installed_with_pip(tmp_path):
    if not EXAMPLE.is_dir():
        pytest.skip("no docs beside these tests")
    source = shutil.copytree(EXAMPLE, tmp_path / "source")
    venv.create(tmp_path / "pip", with_pip=True)  # this environment may have none
    python = next(path for path in (tmp_path / "pip").glob("*/python*") if path.is_file())
    pip = [python, "-m", "pip", "--disable-pip-version-check"]
    install = [*pip, "--python", sys.executable, "install", "--quiet"]
    run([*install, "--no-build-isolation", "--no-index", "--no-deps", "--target", tmp_path / "site", source])
    code = """
import sys
sys.path.insert(0, "site")
import numpy as np, modelrank, modelrank_threads
out = np.empty(1)
modelrank.average_precisions(np.array([1, 0], np.uint8), np.array([[1, 2]], np.float32), out)
print(*out)
"""
    assert run([sys.executable, "-c", code], cwd=tmp_path) == "0.5\n"


def test_example_in_native_threads(example):
    """Threads that C starts, while Python threads do the same."""
    _, c = example
    label, score = models(dtype=np.float64)
    expected = [hc.average_precision(label, row) for row in score]
    results = [np.zeros(len(score)) for _ in range(4)]

    def work(out):
        for _ in range(5):
            out[:] = 0
            c.average_precisions(label.tobytes(), score, out)

    threads = [threading.Thread(target=work, args=(out,)) for out in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [out.tolist() for out in results] == [expected] * 4
    label[-1] = 9
    with pytest.raises(ValueError, match="status is 2"):
        c.average_precisions(label.tobytes(), score, results[0])


# --- the declarations ---------------------------------------------------------------------------------------

# What other packages were compiled against: these lines stay as they are, new ones may come.
SIGNATURES = """
hitcurve_average_precision_f32: int (uint8_t const *, float const *, int64_t, options const *, double *, int64_t *)
hitcurve_average_precision_f64: int (uint8_t const *, double const *, int64_t, options const *, double *, int64_t *)
hitcurve_check_table: int (table const *, int64_t *)
hitcurve_free_table: void (table *)
hitcurve_make_table_f32: int (uint8_t const *, float const *, int64_t, options const *, table *, int64_t *)
hitcurve_make_table_f64: int (uint8_t const *, double const *, int64_t, options const *, table *, int64_t *)
hitcurve_mean_average_precision_f32: int (uint8_t const *, float const *, int64_t const *, int64_t, int64_t const *, \
options const *, double *, double *, int64_t *)
hitcurve_mean_average_precision_f64: int (uint8_t const *, double const *, int64_t const *, int64_t, int64_t const *, \
options const *, double *, double *, int64_t *)
hitcurve_read: int (table const *, int, options const *, double *)
"""
OPTIONS = "size ties normalize interpolation nan_policy lower_is_better empty k num_relevant parameter"
TABLE = "size above tied hits score capacity rows num_items num_hits num_relevant memory"


def test_signatures_stay():
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    now = {name: name_of(capsule).decode() for name, capsule in capi.__pyx_capi__.items()}
    now = {name: re.sub(r"struct \w+hitcurve_(options|table)", r"\1", text) for name, text in now.items()}
    then = dict(line.split(": ", 1) for line in SIGNATURES.strip().splitlines())
    assert {name: now.get(name) for name in then} == then


def declared(text, struct_, comment):
    """(constants with their values, the fields of each struct) of a header or a .pxd."""
    text = re.sub(comment, "", text, flags=re.S)
    constants = {name: int(value) for name, value in re.findall(r"\b(HITCURVE_\w+) = (\d+)", text)}
    structs = {
        name: re.findall(r"(\w+)[^\w\n]*$", body, flags=re.M) for name, body in re.findall(struct_, text, flags=re.S)
    }
    functions = {
        name: re.sub(r"\s+", "", arguments)
        for name, arguments in re.findall(r"(hitcurve_(?!options|table\b)\w+)\)?\(([^;{]*?)\)(?:;| noexcept)", text)
    }
    return constants, structs, functions


def test_header_says_what_the_pxd_says():
    folder = Path(capi.get_include())
    pxd = declared((folder / "capi.pxd").read_text(), r"cdef struct (\w+):\n((?:    [^\n]*\n)+)", r"#[^\n]*")
    header = declared((folder / "hitcurve.h").read_text(), r"typedef struct (\w+) \{\n(.*?)\n\}", r"/\*.*?\*/")
    assert header == pxd
    _, structs, functions = pxd
    assert structs == {"hitcurve_options": OPTIONS.split(), "hitcurve_table": TABLE.split()}
    assert len(functions) == 9
    assert (folder / "__init__.pxd").read_text().endswith("from hitcurve.capi cimport *\n")


def test_constants_stay():
    text = (Path(capi.get_include()) / "hitcurve.h").read_text()
    constants = {name: int(value) for name, value in re.findall(r"(HITCURVE_\w+) = (\d+)", text)}
    for prefix, values in (("TIES", TIES), ("NORMALIZE", NORMALIZE), ("NAN", NAN_POLICY), ("EMPTY", EMPTY)):
        for name, value in values.items():
            assert constants[f"HITCURVE_{prefix}_{name.upper()}"] == value
    assert constants["HITCURVE_BAD_LABEL"] == BAD_LABEL
    assert constants["HITCURVE_NOT_RETRIEVED"] == NOT_RETRIEVED


def test_layout_stays(probe):
    word = struct.calcsize("P")
    assert {"options": word + 6 * 4 + 3 * 8, "table": 6 * word + 5 * 8} == probe.SIZES


def test_struct_of_another_version(probe):
    label, score = np.array([0, 1], np.uint8), np.array([1.0, 0.5])
    assert probe.by_default(label, score) == (0, 0.5)
    assert probe.from_the_future(label, score, 0) == (0, 0.5)
    assert probe.from_the_future(label, score, 1)[0] == BAD_ARGUMENT
    assert probe.average_precision(label, score, size=8)[0] == BAD_ARGUMENT


def test_hitcurve_older_than_the_header(built):
    """What it lacks is an ImportError, as from Cython: packages that can do without catch that."""
    with pytest.raises(ImportError, match=f"older than the hitcurve .* compiled with: it has no {LATER}"):
        imported("late", built / "late")


# --- the same numbers as from Python ------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 511, 512, 3000, 20_000])
def test_average_precision(probe, n, dtype):
    rng = np.random.default_rng(n)
    for share in (0.0, 0.02, 0.5, 1.0):
        label = (rng.random(n) < share).astype(np.uint8)
        score = rng.integers(0, max(2, n // 3), n).astype(dtype)
        for ties, code in TIES.items():
            for k, normalize, lower, extra in ((0, "min", 0, 0), (5, "min", 1, 3), (n // 2 + 1, "hits", 0, 0)):
                relevant = int(label.sum()) + extra
                expected = hc.average_precision(
                    label, score, ties=ties, k=k or None, normalize=normalize, lower_is_better=bool(lower),
                    num_relevant=relevant,
                )  # fmt: skip
                status, value, place = probe.average_precision(
                    label, score, ties=code, k=k, normalize=NORMALIZE[normalize], lower_is_better=lower,
                    num_relevant=relevant,
                )  # fmt: skip
                assert (status, place, bits(value)) == (0, -1, bits(expected))
        for interpolation, code in INTERPOLATION.items():
            status, value, _ = probe.average_precision(label, score, interpolation=code)
            assert bits(value) == bits(hc.average_precision(label, score, interpolation=interpolation))


@pytest.mark.parametrize("n", [20, 5000])
@pytest.mark.parametrize("nan_policy", NAN_POLICY)
def test_missing_scores(probe, n, nan_policy):
    rng = np.random.default_rng(n)
    label = (rng.random(n) < 0.3).astype(np.uint8)
    score = rng.random(n)
    score[rng.integers(0, n, 4)] = np.nan
    status, value, place = probe.average_precision(label, score, nan_policy=NAN_POLICY[nan_policy])
    made, at, table = probe.make_table(label, score, nan_policy=NAN_POLICY[nan_policy])
    if nan_policy == "raise":
        assert (status, made) == (BAD_SCORE, BAD_SCORE)
        with pytest.raises(ValueError, match=rf"y_score\[{place}\] is nan"):
            hc.average_precision(label, score)
        return
    curve = hc.HitCurve(label, score, nan_policy=nan_policy)
    assert (status, bits(value)) == (0, bits(curve.average_precision()))
    assert (made, at) == (0, -1)
    assert_table(table, curve)


def assert_table(table, curve):
    rows, *totals = table
    assert totals == [curve.num_items, curve.num_hits, curve.num_relevant]
    columns = [np.array(column) for column in zip(*rows, strict=True)] or [np.empty(0)] * 4
    if len(rows) and rows[0][0] is not None:
        assert np.array_equal(columns[0], curve.score.astype(np.float64), equal_nan=True)
    for column, ours in zip(columns[1:], (curve.above, curve.tied, curve.hits), strict=True):
        assert column.tolist() == ours.tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 100, 4000, 40_000])
def test_make_table(probe, n, dtype):
    rng = np.random.default_rng(n)
    label = (rng.random(n) < 0.1).astype(np.uint8)
    score = rng.integers(0, max(2, n // 5), n).astype(dtype)
    for lower in (0, 1):
        curve = hc.HitCurve(label, score, lower_is_better=bool(lower), num_relevant=int(label.sum()) + 2)
        options = {"lower_is_better": lower, "num_relevant": curve.num_relevant}
        for memory in ({}, {"times": 3}, {"capacity": len(curve) + 1}, {"capacity": n + 1, "with_score": False}):
            status, place, table = probe.make_table(label, score, **memory, **options)
            assert (status, place) == (0, -1)
            assert_table(table, curve)
        if len(curve) > 1:
            assert probe.make_table(label, score, capacity=len(curve) - 1)[:2] == (NO_ROOM, len(curve))


def test_columns_of_the_caller_stay(probe):
    label, score = np.array([1, 0, 1], np.uint8), np.array([3.0, 2.0, 2.0])
    assert probe.columns_after(label, score) == (0, True, True, [(None, 0, 1, 1), (None, 1, 2, 1)])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_mean_average_precision(probe, dtype):
    rng = np.random.default_rng(3)
    lengths = np.concatenate([rng.integers(0, 30, 300), [700, 20_000, 0]])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    n = offsets[-1]
    label, score = (rng.random(n) < 0.1).astype(np.uint8), rng.integers(0, 50, n).astype(dtype)
    curves = hc.HitCurves(label, score, offsets=offsets)
    missed = curves.num_hits + rng.integers(0, 3, len(curves))
    for num_relevant in (None, missed):
        for empty in ("skip", "zero", "one"):
            for reading in ({}, {"ties": "best", "k": 5}, {"interpolation": "101-point"}):
                expected = hc.HitCurves(label, score, offsets=offsets, num_relevant=num_relevant)
                per_query = np.empty(len(curves))
                coded = {"ties": TIES[reading.get("ties", "expected")], "k": reading.get("k", 0)}
                coded["interpolation"] = INTERPOLATION[reading.get("interpolation")]
                status, value, place = probe.mean_average_precision(
                    label, score, offsets, num_relevant, per_query, empty=EMPTY[empty], **coded
                )
                assert (status, place) == (0, -1)
                assert np.array_equal(per_query, expected.average_precision(**reading), equal_nan=True)
                assert value == expected.mean_average_precision(empty=empty, **reading)
    first = int(np.argmax(curves.num_relevant == 0))
    assert probe.mean_average_precision(label, score, offsets, empty=EMPTY["raise"])[::2] == (EMPTY_QUERY, first)
    missed[5] = curves.num_hits[5] - 1
    assert probe.mean_average_precision(label, score, offsets, missed)[::2] == (BAD_NUM_RELEVANT, 5)


def test_mean_of_no_queries(probe):
    nothing = np.empty(0)
    status, value, _ = probe.mean_average_precision(nothing.astype(np.uint8), nothing, np.array([0]))
    assert status == 0 and np.isnan(value)
    status, value, _ = probe.mean_average_precision(nothing.astype(np.uint8), nothing, np.array([0, 0]), empty=2)
    assert (status, value) == (0, 1.0)


def test_mean_is_rounded_once(probe):
    """Half-way sums, where adding one by one goes astray: what math.fsum gives."""
    rng = np.random.default_rng(8)
    for _ in range(200):
        queries = int(rng.integers(1, 40))
        offsets = np.arange(queries + 1) * 2
        label = np.tile(np.array([0, 1], np.uint8), queries)
        score = np.tile([2.0, 1.0], queries)
        relevant = 2 ** rng.integers(0, 62, queries) + rng.integers(0, 2, queries)
        got = probe.mean_average_precision(label, score, offsets, relevant)
        assert got[:2] == (0, hc.mean_average_precision(label, score, offsets=offsets, num_relevant=relevant))


COUNTED = [row for row in HITS if row.number is not None]
RATES = (0.25, 0.5, 0.84375, 1.0)  # whose products with any number of items of these tests are exact
NEEDS_K = {*range(1, 6), 10, 11, 12, 21, 26}


def readings(row, others, relevant):
    """The number of each call of the row in the C interface, the call, and the options that say the same."""
    method = getattr(hc.HitCurve, row.method)
    parameters = inspect.signature(method).parameters
    every = [call for k in (2, 7, 30, 2**61) for call in calls(row, k=k)]
    every += [((value,), {}) for value in (RATES if row.parameter[0] == "recall" else row.parameter[1])]
    for fpr in RATES if others else ():
        every += [((fpr,), {})] * (row.method == "roc_enrichment")
        every += [((), {name: fpr, "standardize": flag}) for name in ("max_fpr", "min_fpr", "min_tpr")
                  for flag in (True, False) if name == "max_fpr" or fpr < 1] * (row.method == "roc_auc")  # fmt: skip
    for args, keywords in every:
        given = inspect.signature(method).bind(None, *args, **keywords).arguments
        if given.get("interpolation") not in INTERPOLATION or given.get("max_fpr") not in (None, *RATES) or (
            "max_fpr" in given and (row.method == "log_auc" or not others)
        ):
            continue  # levels in floats, and log AUC up to a rate: not in the C interface
        if "max_tpr" in given or {"min_fpr", "max_fpr"} <= {*given}:
            continue  # nor are areas between two rates
        number = row.number + bool(given.get("adjusted"))
        if (row.method, given.get("normalize")) == ("recall", "min"):
            number = 12  # the normalised enrichment factor is the same
        if (row.method, given.get("normalize")) == ("precision", "ranked"):
            number = 26
        options = {"k": given["k"]} if given.get("k") is not None else {}
        options |= {name: table[given[name]] for name, table in NAMED.items() if name in given and given[name] in table}
        for name in ("alpha", "beta", "min_fpr"):
            if name in parameters and row.method != "roc_auc":
                options["parameter"] = given.get(name, parameters[name].default)
        if "recall" in given:
            options["parameter"] = given["recall"] * relevant
        fpr = given.get("fpr", given.get("max_fpr"))
        if fpr is not None:
            options["parameter"] = fpr * others
            if row.method == "roc_auc":
                number = 23 + (not given.get("standardize", True))
        for name, first in (("min_fpr", 27), ("min_tpr", 29)) if row.method == "roc_auc" else ():
            if name in given:
                number, options["parameter"] = first + (not given.get("standardize", True)), given[name]
        for ties in row.readings or [None]:
            read = {"ties": ties} if ties else {}
            yield number, args, {**keywords, **read}, options | ({"ties": TIES[ties]} if ties else {})


def rows_of(probe, curve):
    columns = (np.array(column) for column in (curve.above, curve.tied, curve.hits))
    return probe.Rows(*columns, curve.num_items, curve.num_hits, curve.num_relevant)


@pytest.mark.parametrize("row", COUNTED, ids=[row.method for row in COUNTED])
@pytest.mark.parametrize("n", [0, 5, 2000])
def test_read(probe, row, n):
    rng = np.random.default_rng(n)
    label = (rng.random(n) < 0.2).astype(np.uint8)
    score = rng.integers(0, max(n // 4, 2), n)
    for missed in (0, 4):
        curve = hc.HitCurve(label, score, num_relevant=int(label.sum()) + missed)
        rows = rows_of(probe, curve)
        assert rows.check() == (0, -1)
        for number, args, keywords, options in readings(row, n - int(label.sum()), curve.num_relevant):
            status, value = rows.read(number, **options)
            if number in NEEDS_K and "k" not in options:
                assert status == BAD_ARGUMENT
            elif missed and row.complete:
                assert status == NOT_RETRIEVED
            else:
                expected = getattr(curve, row.method)(*args, **keywords)
                assert (status, bits(value)) == (0, bits(expected)), (args, keywords)


def test_every_number_is_read():
    seen = {number for row in COUNTED for number, *_ in readings(row, 8, 2)}
    text = (Path(capi.get_include()) / "hitcurve.h").read_text(encoding="utf-8")
    listed = text[text.index("The measures of hitcurve_read") : text.index("typedef struct hitcurve_options")]
    assert seen == {int(number) for number in re.findall(r"HITCURVE_\w+ = (\d+)", listed)} == {*range(33)}


@pytest.mark.parametrize("others", [19, 49, 1233, 10**6])
def test_next_to_a_whole_number_of_false_positives(probe, others):
    """A rate k/n times n may be a few units in the last place off k."""
    curve = hc.HitCurve.from_table(None, [0, others // 2], [1, 3], [1, 2], num_items=others + 3)
    rows = rows_of(probe, curve)
    for k in {1, 2, 3, others // 2 - 1, others // 2, others // 2 + 1, others - 1, others}:
        whole = rows.read(9, parameter=float(k))
        assert whole[0] == 0
        for parameter in (k / others * others, k * (1 - 2**-51), min(k * (1 + 2**-51), others)):
            assert rows.read(9, parameter=parameter) == whole
        assert curve.roc_enrichment(k / others) == pytest.approx(whole[1], rel=1e-15)


def test_a_freed_table_is_not_read(probe):
    for label in ([1, 0, 1], [0, 0, 0]):
        status = probe.read_after_free(np.array(label, np.uint8), np.array([3.0, 2.0, 1.0]))
        assert status == (0, BAD_ARGUMENT, BAD_TABLE, 0)


def test_up_to_a_rate(probe):
    """The parameter counts false positives: a rate times their number would be rounded."""
    curve = hc.HitCurve(np.arange(200) % 10 == 0, -(np.arange(200) // 3))
    status, value = rows_of(probe, curve).read(9, parameter=18.0)
    assert (status, value) == (0, curve.roc_enrichment(0.1))
    assert rows_of(probe, curve).read(23, parameter=18.0) == (0, curve.roc_auc(max_fpr=0.1))
    assert rows_of(probe, curve).read(24, parameter=18.0) == (0, curve.roc_auc(max_fpr=0.1, standardize=False))


@pytest.mark.parametrize(
    ("measure", "options"),
    [
        (8, {"k": 3}), (17, {"k": 3}),  # a cutoff without meaning
        (5, {"k": 3, "ties": 3}), (7, {"ties": 3}), (13, {"parameter": 1.0, "ties": 3}),  # no threshold reading
        (13, {}), (14, {"parameter": -1.0}), (14, {"parameter": float("inf")}), (15, {"parameter": 1.0}),
        (15, {"parameter": float("nan")}), (3, {"k": 3, "parameter": -1.0}), (9, {}),
        *[(number, {"parameter": x}) for number in (9, 23, 24, 25) for x in (2.0000000000000004, 4.5, 1e300)],
        *[(number, {"parameter": 1.0}) for number in sorted(NEEDS_K)],  # needs a cutoff
        (0, {"k": 3, "interpolation": 1}), (8, {"interpolation": 1}), (22, {"k": 3}), (23, {}),
        (25, {"parameter": -1.0}), (27, {}), (29, {"parameter": 1.0}), (33, {}), (-1, {}), (2**31 - 1, {}),
        (0, {"ties": 4}), (0, {"ties": -1}), (0, {"normalize": 3}), (0, {"interpolation": 6}), (0, {"k": -1}),
        (0, {"lower_is_better": 2}), (0, {"nan_policy": 3}), (0, {"empty": 4}), (0, {"num_relevant": -1}),
    ],
)  # fmt: skip
def test_read_of_nothing_sensible(probe, measure, options):
    curve = hc.HitCurve([1, 0, 1, 0], [4, 3, 2, 1])
    assert rows_of(probe, curve).read(measure, **options) == (BAD_ARGUMENT, -1.0)


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        (([0], [1], [0], 5, 0, 0), 0),
        (([0], [1], [2], 5, 2, 2), 0),
        (([-1], [1], [1], 5, 1, 1), 0),
        (([0, 0], [2, 1], [1, 1], 5, 2, 2), 1),
        (([0, 4], [2, 2], [1, 1], 5, 2, 2), 1),
        (([2**62], [2**62], [1], 2**62, 1, 1), 0),
        (([2**63 - 1], [2**63 - 1], [1], 2**62, 1, 1), 0),
        (([0], [1], [1], 5, 2, 2), -1),
        (([0], [1], [1], 5, 1, 0), -1),
        (([0], [1], [1], 2**62 + 1, 1, 1), -1),
        (([0], [1], [1], -1, 1, 1), -1),
    ],
)
def test_check_table(probe, rows, place):
    columns = (np.array(column, np.int64) for column in rows[:3])
    assert probe.Rows(*columns, *rows[3:]).check() == (BAD_TABLE, place)


def test_bad_input(probe):
    assert probe.nothing_given() == [BAD_ARGUMENT] * 16
    label, score = np.zeros(5000, np.uint8), np.arange(5000.0)
    for n in (100, 5000):
        label[:] = 0
        label[77] = 2
        assert probe.average_precision(label[:n], score[:n])[::2] == (BAD_LABEL, 77)
        assert probe.make_table(label[:n], score[:n])[:2] == (BAD_LABEL, 77)
        label[77] = 1
        label[78] = 1
        assert probe.average_precision(label[:n], score[:n], num_relevant=1)[::2] == (BAD_NUM_RELEVANT, 0)
        assert probe.make_table(label[:n], score[:n], num_relevant=1)[:2] == (BAD_NUM_RELEVANT, 0)
    for offsets, place in (([0, 3, 2, 5], 2), ([-1, 3], 0), ([0, 2**62, 1], 2)):
        assert probe.mean_average_precision(label, score, np.array(offsets))[::2] == (BAD_OFFSETS, place)
    assert probe.mean_average_precision(label, score, np.array([0, 4]), num_relevant=None, k=-2)[0] == BAD_ARGUMENT


# --- native threads -----------------------------------------------------------------------------------------


def test_openmp_threads(probe):
    """Threads of Cython's prange, on shared arrays. In its own process: OpenMP keeps its threads."""
    if sys.platform in ("win32", "darwin"):
        pytest.skip("the probe is built without OpenMP on Windows and macOS")
    folder = os.path.dirname(probe.__file__)
    code = f"""
import sys
sys.path.insert(0, {folder!r})
import numpy as np, probe, hitcurve as hc
rng = np.random.default_rng(1)
label = (rng.random(2000) < 0.05).astype(np.uint8)
score = rng.integers(0, 900, (300, 2000)).astype(float)
out = np.empty(300)
for _ in range(5):
    assert probe.in_openmp_threads(label, score, out) == 0
    assert out.tolist() == [hc.average_precision(label, row) for row in score]
print("equal")
"""
    assert run([sys.executable, "-c", code]) == "equal\n"
