"""What a change compiles: a page, a module of Python or a stub nothing; a header the modules that include it."""

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("setup.py", "pyproject.toml", "README.md", "LICENSE", "LICENSE-numpy", "src")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of this checkout with its compiled modules."""
    pytest.importorskip("Cython", reason="builds a Cython package, and Cython is not installed")
    pytest.importorskip("setuptools", reason="builds a package, and setuptools is not installed")
    if not (ROOT / "setup.py").exists():
        pytest.skip("no compiled modules beside these tests")
    tree = runpy.run_path(str(ROOT / "setup.py"), run_name="setup")["tree"]()
    if not (ROOT / tree / "modules").is_dir():
        pytest.skip("no compiled modules beside these tests: this Python or Cython has not built here")
    folder = tmp_path_factory.mktemp("checkout")
    for name in (*SOURCES, tree / "c", tree / "modules"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, folder / name)
    compiled(folder)  # the tree may be of other sources
    return folder


def setup(checkout, *command):
    return subprocess.run([sys.executable, "setup.py", "-q", *command], cwd=checkout, capture_output=True, text=True)


def compiled(checkout):
    """(modules that became C, modules that were compiled) in a build of the copy."""
    done = setup(checkout, "build")
    assert done.returncode == 0, done.stderr
    return tuple(map(int, re.search(r"(\d+) modules become C, (\d+) of \d+ are compiled", done.stderr).groups()))


def changed(path, text):
    """Writes a text to the end of a file whose time stays as if it were old."""
    with open(path, "a", encoding="utf-8") as file:
        file.write(text)
    os.utime(path, (0, 0))


def test_pages_python_and_times_compile_nothing(checkout):
    package = checkout / "src" / "hitcurve"
    (package / "_base" / "new.py").write_text("", encoding="utf-8")
    for path in (checkout / "README.md", package / "measures.py", package / "curves" / "hit.pyi"):
        changed(path, "\n# more\n")
    for path in package.rglob("*.pyx"):
        os.utime(path)  # as in a fresh clone: contents count, not times
    assert compiled(checkout) == (0, 0)
    # What is not compiled is not kept: no file that is gone can be in the next wheel.
    (tree,) = (checkout / "build").iterdir()
    assert {path.name for path in tree.iterdir()} == {"c", "modules", "lock"}


@pytest.mark.slow
def test_a_change_compiles_what_needs_it(checkout):
    package = checkout / "src" / "hitcurve"
    # The comment of a declaration: the modules that cimport it are C again, and the C is what it was.
    changed(package / "_kernel" / "novelty.pxd", "\n# more\n")
    users = [path for path in package.rglob("*.pyx") if "_kernel.novelty cimport" in path.read_text(encoding="utf-8")]
    assert users and compiled(checkout) == (1 + len(users), 0)
    kept = setup(checkout, "warnings")
    assert kept.returncode == 0, kept.stderr
    # A header; the compiler warns of what it holds now.
    changed(package / "_kernel" / "_bits.h", "\nstatic int never_called(void) { return 1; }\n")
    users = [path for path in (checkout / "build").rglob("*.c") if b'#include "_bits.h"' in path.read_bytes()]
    assert users and compiled(checkout) == (0, len(users))
    kept = setup(checkout, "warnings")
    if sys.platform.startswith("linux"):
        assert kept.returncode == 1 and "never_called" in kept.stderr


@pytest.mark.slow
def test_a_build_that_failed_leaves_nothing_behind(checkout):
    """A source that is as it was before an error is made anew, since the failed build has written over its C."""
    source = checkout / "src" / "hitcurve" / "_kernel" / "novelty.pyx"
    before = source.read_bytes()
    changed(source, "\ncdef int wrong(:\n")
    assert setup(checkout, "build").returncode != 0
    source.write_bytes(before)
    assert compiled(checkout) == (1, 0)
