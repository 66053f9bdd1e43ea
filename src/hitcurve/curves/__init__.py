"""Curves, and the code that makes curves from rankings, blocks of items, levels and counters."""
