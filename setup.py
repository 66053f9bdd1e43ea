"""The extension modules; everything else is in pyproject.toml."""
import multiprocessing
import os
import re
import sys
from glob import glob

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

MODULES = [
    "_kernel.sort", "_kernel.columns", "_kernel.thresholds", "_kernel.parts", "_kernel.count", "_kernel.roc",
    "_kernel.formulas", "_kernel.table", "_kernel.draw", "_kernel.flips", "_kernel.err", "_kernel.gains",
    "_kernel.graded", "_kernel.pairwise", "_kernel.users", "_kernel.novelty", "_kernel.overlap",
    "_base.checks", "curves.ranking", "curves.blocks", "curves.base", "curves.hit", "curves.levels",
    "curves.gain_measures", "curves.gain", "curves.bundles",
    "retrieval.trec_sums", "retrieval.lines", "retrieval.ranks", "retrieval.runs", "retrieval.plans",
    "retrieval.run_tables", "retrieval.preferences",
    "retrieval.nested", "retrieval.overlaps", "compat.rows", "capi",
]
MATH = [] if sys.platform == "win32" else ["m"]
SAMPLERS = {  # numpy's own, as a static library in its wheel
    "libraries": ["npyrandom", *MATH],
    "library_dirs": [os.path.join(os.path.dirname(numpy.__file__), "random", "lib")],
}

link_flags = []
if sys.platform == "win32":
    # Not run yet on Windows. /fp:precise never fuses a*b+c, as -ffp-contract=off below.
    flags, link_flags = ["/O2", "/fp:precise", "/utf-8"], ["/Brepro"]
else:
    # -O3 vectorises the compare-and-count loops. -ffp-contract=off keeps results equal to the last bit on every
    # instruction set: compilers fuse a*b+c where the machine can, which rounds differently. -g0: what Python was built
    # with often asks for debug information, which holds the folder of the build and so makes no build like another.
    flags = ["-O3", "-ffp-contract=off", "-g0", "-fvisibility=hidden"]
    if sys.platform.startswith("linux"):
        link_flags = ["-Wl,--exclude-libs,ALL"]  # nothing is exported but what Python asks for
if os.environ.get("HITCURVE_DEBUG"):
    flags = [*flags, "-g", "-O1", "-fno-omit-frame-pointer"]  # for ci/sanitize: the last of its kind counts
if os.environ.get("HITCURVE_WERROR"):
    # What our own check uses; a user's other compiler may know other warnings.
    flags += ["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-missing-field-initializers",
              "-Wno-cast-function-type"]

def jobs():
    """How many modules are compiled at once: as many as there are cores, and half of the memory has gibibytes."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        memory = 2**32
    return max(1, min(cores, memory // 2**31, len(MODULES)))


extensions = [
    Extension(
        f"hitcurve.{name}",
        [f"src/hitcurve/{name.replace('.', '/')}.pyx"],
        include_dirs=[numpy.get_include(), "src/hitcurve/_kernel", "src/hitcurve/retrieval"],
        depends=sorted(glob("src/hitcurve/**/*.h", recursive=True)),
        define_macros=[
            ("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION"),
            # The oldest numpy that a wheel runs on; in step with `dependencies` in pyproject.toml.
            ("NPY_TARGET_VERSION", "NPY_2_0_API_VERSION"),
        ],
        extra_compile_args=flags,
        extra_link_args=link_flags,
        **(SAMPLERS if name == "_kernel.draw" else {"libraries": MATH}),
    )
    for name in MODULES
]


def description():
    """The README as a package index can show it: there is no picture beside it, and a relative link leads nowhere."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "README.md"), encoding="utf-8") as file:
        text = re.sub(r"^!\[.*\]\(.*\)\n\n", "", file.read(), flags=re.MULTILINE)
    return re.sub(r"\[([^]]+)\]\((?!\w+:)([^)]+)\)", r"\1 (\2)", text)


setup(
    long_description=description(),
    long_description_content_type="text/markdown",
    options={"build_ext": {"parallel": jobs()}},
    ext_modules=cythonize(
        extensions,
        # A process that is not forked runs this file again.
        nthreads=jobs() if multiprocessing.get_start_method() == "fork" else 0,
        build_dir="build/cython",  # generated C never lies beside the sources
        include_path=["src"],
        compiler_directives={
            "language_level": 3,
            "cdivision": True,
            "wraparound": False,
            "boundscheck": False,
            "initializedcheck": False,
            "freethreading_compatible": True,
            "auto_pickle": False,  # what can be pickled says how
            "autotestdict": False,  # would add a __test__ that stubs do not know
        },
    )
)
