"""What is installed is the package and nothing else; pickles of one version are read by the next."""

import base64
import json
import pickle
import pickletools
import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import pytest

import hitcurve as hc

HERE = Path(__file__).resolve().parent


def installed_files():
    try:
        files = [str(path) for path in distribution("hitcurve").files or []]
    except PackageNotFoundError:
        files = []
    if not any(name == "hitcurve/__init__.py" for name in files):
        pytest.skip("not installed from a wheel")
    return {name for name in files if "__pycache__" not in name and ".dist-info/" not in name}


def test_files():
    """By rule, from the sources beside these tests; ci/package looks at the wheel itself."""
    source = HERE.parent / "src" / "hitcurve"
    expected = {path.relative_to(source).as_posix() for kind in ("*.py", "*.pyi") for path in source.rglob(kind)}
    expected |= {"py.typed", "__init__.pxd", "capi.pxd", "hitcurve.h"}
    modules = {path.relative_to(source).with_suffix("").as_posix() for path in source.rglob("*.pyx")}
    found = {name.removeprefix("hitcurve/") for name in installed_files() if name.startswith("hitcurve/")}
    compiled = {name for name in found if name.endswith((".so", ".pyd"))}
    assert {name.split(".")[0] for name in compiled} == modules
    assert len(compiled) == len(modules)
    assert found - compiled == expected
    others = {name for name in installed_files() if not name.startswith("hitcurve/")}
    assert all(re.fullmatch(r"(\.\./)*(bin|Scripts)/hitcurve(\.exe)?", name) for name in others)


def test_licences():
    """With that of numpy's samplers, whose code the wheel holds."""
    installed_files()  # or there is no wheel
    licences = {path.name: path.read_text() for path in distribution("hitcurve").files if "licenses" in path.parts}
    assert set(licences) == {"LICENSE", "LICENSE-numpy"}
    assert "hitcurve developers" in licences["LICENSE"]
    for holder in ("NumPy Developers", "Kevin Sheppard", "Jeff Bezanson"):
        assert holder in licences["LICENSE-numpy"]


# --- pickles ------------------------------------------------------------------------------------------------


def pickled():
    """What every kind of object was when it was pickled."""
    y, s = [1, 0, 1, 1, 0, 0, 1, 0], [9.0, 8.0, 8.0, 5.0, 5.0, 5.0, 2.0, 1.0]
    counter = hc.HitCounter([9.0, 8.0, 5.0, 2.0])
    counter.update(y, s)
    graded = hc.GainCounter(s, [1, 1.5, 2, 3])
    graded.update([2, 0, 1, 1.5, 0, 0, 3, 0], s)
    return {
        "HitCurve": hc.HitCurve(y, s, num_relevant=5),
        "HitCurve lower": hc.HitCurve(y, np.array(s, np.float32), lower_is_better=True),
        "HitCurve integers": hc.HitCurve(y, np.array(s).astype(np.uint64)),
        "HitCurve nan": hc.HitCurve(y, [*s[:6], float("nan"), 1.0], nan_policy="worst"),
        "HitCurve weighted": hc.HitCurve(y, s, sample_weight=np.arange(8) / 4),
        "HitCurve ranks": hc.HitCurve.from_ranks([2, 4], num_items=9),
        "HitCurves": hc.HitCurves(y, s, qid=list("abababcc")),
        "HitCurves weighted": hc.HitCurves(y, s, offsets=[0, 3, 8], sample_weight=np.ones(8)),
        "GainCurve": hc.GainCurve([2, 0, 1, 1.5, 0, 0, 3, 0], s, unretrieved=[1]),
        "GainCurve ranks": hc.GainCurve.from_ranked([2, 0, 1], num_items=9),
        "GainCurves": hc.GainCurves([2, 0, 1, 1, 0, 0, 3, 0], s, qid=list("abababcc")),
        "HitCounter": counter,
        "GainCounter": graded,
        "TieReport": hc.HitCurve(y, s).tie_report(),
    }


OBJECTS = pickled()


KEPT = {
    (path.stem, name): text
    for path in sorted((HERE / "data").glob("pickles-*.json"))
    for name, text in json.loads(path.read_text()).items()
}


def test_kinds_of_earlier_versions_are_known():
    assert KEPT
    assert {name for _, name in KEPT} <= set(OBJECTS)


@pytest.mark.parametrize(("file", "name"), KEPT)
def test_pickles_of_earlier_versions(file, name):
    """Name -> base64 of a pickle. Each release adds a file, by `python tests/test_installed.py`; none is changed."""
    assert_same(pickle.loads(base64.b64decode(KEPT[file, name])), OBJECTS[name])


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", OBJECTS)
def test_pickles_of_this_version(name, protocol):
    assert_same(pickle.loads(pickle.dumps(OBJECTS[name], protocol)), OBJECTS[name])


@pytest.mark.parametrize("name", OBJECTS)
def test_pickles_name_nothing_that_may_move(name):
    texts = [text for _, text, _ in pickletools.genops(pickle.dumps(OBJECTS[name], 4)) if isinstance(text, str)]
    assert {text for text in texts if text.startswith("hitcurve")} <= {"hitcurve", "hitcurve._base.pickle"}


def assert_same(found, expected):
    assert type(found) is type(expected)
    assert found == expected
    if hasattr(expected, "ndcg"):
        np.testing.assert_array_equal(found.ndcg(), expected.ndcg())
    if hasattr(expected, "average_precision"):
        ties = "threshold" if expected.weighted else "expected"
        np.testing.assert_array_equal(found.average_precision(ties=ties), expected.average_precision(ties=ties))
        if expected.score is not None:
            assert found.score.dtype == expected.score.dtype


if __name__ == "__main__":
    texts = {name: base64.b64encode(pickle.dumps(value, 4)).decode() for name, value in OBJECTS.items()}
    where = HERE / "data" / f"pickles-{hc.__version__}.json"
    where.parent.mkdir(exist_ok=True)
    where.write_text(json.dumps(texts, indent=1) + "\n")
    print(where)
