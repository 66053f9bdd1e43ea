# Internal to the boundary; nothing here is for Python.
