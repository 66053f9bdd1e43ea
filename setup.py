"""The extension modules; everything else is in pyproject.toml."""
import os
import sys

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

MODULES = ["_count", "_read", "_table", "_rank", "_curve", "capi"]

if sys.platform == "win32":
    flags = ["/O2"]
else:
    # -O3 vectorises the compare-and-count loops. -ffp-contract=off keeps results equal to the last bit on every
    # instruction set: compilers fuse a*b+c where the machine can, which rounds differently.
    flags = ["-O3", "-ffp-contract=off"]
if os.environ.get("HITCURVE_WERROR"):
    # What our own check uses; a user's other compiler may know other warnings.
    flags += ["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-missing-field-initializers",
              "-Wno-cast-function-type"]

extensions = [
    Extension(
        f"hitcurve.{name}",
        [f"src/hitcurve/{name}.pyx"],
        include_dirs=[numpy.get_include(), "src/hitcurve"],
        depends=["src/hitcurve/_memory.h", "src/hitcurve/_simd.h"],
        define_macros=[
            ("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION"),
            # The oldest numpy that a wheel runs on; in step with `dependencies` in pyproject.toml.
            ("NPY_TARGET_VERSION", "NPY_2_0_API_VERSION"),
        ],
        extra_compile_args=flags,
    )
    for name in MODULES
]

setup(
    ext_modules=cythonize(
        extensions,
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
