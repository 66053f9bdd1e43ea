# Kernels for Cython (see the .pxd).
SUMS: dict[str, int]
