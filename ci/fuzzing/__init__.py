"""The kinds of cases that ci/fuzz draws."""
