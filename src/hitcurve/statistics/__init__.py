"""Uncertainty: intervals, paired tests, comparisons."""
