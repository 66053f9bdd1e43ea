"""Fewer examples than usual for a test of which each example is slow."""

from hypothesis import settings


def few(most):
    """At most so many examples in an ordinary run; with --all, or in a search for new ones, as many as of any test."""
    usual = settings.default.max_examples
    ordinary = settings.get_profile("ordinary").max_examples
    return settings(max_examples=most if usual == ordinary else usual)
