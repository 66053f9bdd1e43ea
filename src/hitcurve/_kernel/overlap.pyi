# Kernels for Cython (see the .pxd); nothing here is for Python.
