from Cython.Build import cythonize
from setuptools import Extension, setup

from hitcurve.capi import get_include

setup(
    ext_modules=[
        *cythonize(Extension("modelrank", ["modelrank.pyx"])),
        Extension("modelrank_threads", ["modelrank_threads.c"], include_dirs=[get_include()]),
    ]
)
