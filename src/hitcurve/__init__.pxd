# What `from hitcurve cimport ...` offers: see capi.pxd.
from hitcurve.capi cimport *
