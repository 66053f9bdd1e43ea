"""Curves and what makes them: rankings, blocks of items, levels, counters."""
