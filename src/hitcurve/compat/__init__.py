"""Modules that take over the calls of other libraries: change the import, keep the rest."""
