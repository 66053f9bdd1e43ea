"""What is installed is the package and nothing else."""

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

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
    assert {name.split(".")[0] for name in compiled} == modules | {"_base/_cython_hitcurve"}
    assert len(compiled) == len(modules) + 1
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
