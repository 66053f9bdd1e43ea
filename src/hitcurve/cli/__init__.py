"""The command `hitcurve`."""
