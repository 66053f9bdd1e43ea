"""The kernels: pointers and lengths, no Python objects."""
