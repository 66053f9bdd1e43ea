"""Whether a function takes the arguments of another: a release of a peer that adds one is noticed."""

import inspect


def same_signature(ours, theirs):
    """The names, kinds and defaults of the parameters, in their order; annotations do not count."""

    def parameters(function):
        return [(one.name, one.kind, one.default) for one in inspect.signature(function).parameters.values()]

    assert parameters(ours) == parameters(theirs), f"{inspect.signature(ours)} is not {inspect.signature(theirs)}"
