import sys

from Cython.Build import cythonize
from setuptools import Extension, setup

flags = [] if sys.platform in ("win32", "darwin") else ["-fopenmp"]
setup(
    name="probe",
    ext_modules=cythonize(Extension("probe", ["probe.pyx"], extra_compile_args=flags, extra_link_args=flags)),
)
