"""One input through every public route: the same value to the last bit, or the same error with the same words."""

import pickle
import re
import struct

import numpy as np

import hitcurve as hc


def words(error):
    """The words of an error, less those by which a batch of one query names that query."""
    text = re.sub(r"\[0, (\d+)\]", r"[\1]", str(error)).replace("num_relevant[0]", "num_relevant")
    return re.sub(r"(query \S+|that ranking) holds", "the ranking holds", text)


def outcome(route):
    """("value", bits) or ("error", type, words) of a call."""
    try:
        value = route()
    except Exception as error:
        return "error", type(error), words(error)
    assert type(value) is float, value
    return "value", struct.pack("d", value) if value == value else "nan"


def agree(routes):
    """The value that all routes give; raises the error that all routes raise."""
    outcomes = {name: outcome(route) for name, route in routes.items()}
    (first, expected), *others = outcomes.items()
    for name, got in others:
        assert got == expected, f"{name} gives {got}, {first} gives {expected}"
    return routes[first]()


def only(array):
    """The one element of the array that a single query gives."""
    assert isinstance(array, np.ndarray) and array.shape == (1,)
    return float(array[0])


def item_options(build, shape):
    """The options with their arrays of one value per item in the shape of a batch."""
    per_item = ("tiebreak", "sample_weight")
    return {
        key: np.reshape(value, shape) if key in per_item and not isinstance(value, str | None) else value
        for key, value in build.items()
    }


def batches(y_true, y_score, **build):
    """name -> a function that makes the HitCurves of this one query."""
    n = len(y_true)
    row = item_options(build, (1, n))
    y_row, s_row = np.reshape(y_true, (1, -1)), np.reshape(y_score, (1, -1))
    return {
        "rows": lambda: hc.HitCurves(y_row, s_row, **row),
        "offsets": lambda: hc.HitCurves(y_true, y_score, offsets=[0, n], **build),
        "qid": lambda: hc.HitCurves(y_true, y_score, qid=np.full(n, 7), **build),
        "qid of strings": lambda: hc.HitCurves(y_true, y_score, qid=["q"] * n, **build),
    }


def array_routes(y_true, y_score, **build):
    """name -> a function that makes the curve from labels and scores: the routes that check them."""
    y_true, y_score = np.asarray(y_true), np.asarray(y_score)
    n = len(y_true)
    routes = {
        "HitCurve": lambda: hc.HitCurve(y_true, y_score, **build),
        "HitCurve of lists": lambda: hc.HitCurve(y_true.tolist(), list(y_score), **build),
        "HitCurve of strided": lambda: hc.HitCurve(np.repeat(y_true, 2)[::2], np.repeat(y_score, 3)[::3], **build),
        "HitCurve with workers": lambda: hc.HitCurve(y_true, y_score, workers=2, **build),
    }
    makers = batches(y_true, y_score, **build)
    if n == 0:  # no item says that there is a query
        makers = {"offsets": makers["offsets"], "rows": makers["rows"]}
    for name, make in makers.items():
        routes[f"HitCurves by {name}"] = lambda make=make: make()[0]
    return routes


def copy_routes(curve):
    """name -> a function that makes the same curve from what is known of it."""
    table = (curve.score, curve.above, curve.tied, curve.hits)
    totals = {"num_items": curve.num_items, "num_relevant": curve.num_relevant}
    routes = {"pickle": lambda: pickle.loads(pickle.dumps(curve))}
    if curve.weighted:
        return routes
    routes["from_table"] = lambda: hc.HitCurve.from_table(*table, **totals, lower_is_better=curve.lower_is_better)
    routes["from_table without scores"] = lambda: hc.HitCurve.from_table(None, *table[1:], **totals)
    if np.all(curve.tied == 1):
        ranks = curve.above + 1
        flags = np.zeros(curve.num_items, np.int8)
        flags[curve.above] = 1
        routes["from_ranks"] = lambda: hc.HitCurve.from_ranks(ranks, **totals)
        routes["from_ranked"] = lambda: hc.HitCurve.from_ranked(flags, **totals)
        if ranks.size:
            routes["from_ranked, cut short"] = lambda: hc.HitCurve.from_ranked(flags[: ranks[-1]], **totals)
    return routes


def counter(y_true, y_score, blocks=1, *, lower_is_better=False, nan_policy="raise"):
    """An exact HitCounter that has seen the items in blocks, each by a counter of its own."""
    y_true, y_score = np.asarray(y_true), np.asarray(y_score)
    thresholds = y_score[np.flatnonzero(y_true)]
    options = {"lower_is_better": lower_is_better, "nan_policy": nan_policy}
    total = hc.HitCounter(thresholds[thresholds == thresholds], **options)
    for y, s in zip(np.array_split(y_true, blocks), np.array_split(y_score, blocks), strict=True):
        part = hc.HitCounter(thresholds[thresholds == thresholds], **options)
        part.update(y, s)
        total += part
    return total


def curves(y_true, y_score, **build):
    """name -> curve by every route, or the error that all of them raise."""
    made, errors = {}, {}
    for name, route in array_routes(y_true, y_score, **build).items():
        try:
            made[name] = route()
        except Exception as error:
            errors[name] = (type(error), words(error))
            raised = error
    if errors:
        assert not made, f"{list(made)} accept what {errors} refuse"
        assert len(set(errors.values())) == 1, errors
        raise raised
    curve = made["HitCurve"]
    for name, other in made.items():
        assert other == curve, f"{name}: {other} is not {curve}"
        assert hash(other) == hash(curve)
    for name, route in copy_routes(curve).items():
        made[name] = route()
        if curve.score is None or made[name].score is not None:
            assert made[name] == curve, f"{name}: {made[name]} is not {curve}"
    if not build.keys() - {"lower_is_better", "nan_policy", "num_relevant"}:
        options = {key: value for key, value in build.items() if key != "num_relevant"}
        made["HitCounter"] = counter(y_true, y_score, 3, **options).curve(build.get("num_relevant"))
        assert made["HitCounter"] == curve
    return made


def measure(name, y_true, y_score, *args, build=None, **read):
    """A method of HitCurve by every route that leads to it."""
    build = build or {}
    routes = {}
    for route, curve in curves(y_true, y_score, **build).items():
        routes[route] = lambda curve=curve: getattr(curve, name)(*args, **read)
    for route, make in batches(y_true, y_score, **build).items():
        if len(y_true) or not route.startswith("qid"):
            routes[f"HitCurves by {route}, all at once"] = lambda make=make: only(getattr(make(), name)(*args, **read))
    return agree(routes)


def average_precision(y_true, y_score, *, k=None, build=None, **read):
    """AP by every route: the function, the mean over one query, and the methods."""
    build = build or {}
    n = len(y_true)
    routes = {"average_precision": lambda: hc.average_precision(y_true, y_score, k=k, **build, **read)}
    row = item_options(build, (1, n))
    y_row, s_row = np.reshape(y_true, (1, -1)), np.reshape(y_score, (1, -1))
    routes["mean over rows"] = lambda: hc.mean_average_precision(y_row, s_row, k=k, **row, **read)
    routes["mean by offsets"] = lambda: hc.mean_average_precision(y_true, y_score, offsets=[0, n], k=k, **build, **read)
    if n:
        routes["mean by qid"] = lambda: hc.mean_average_precision(y_true, y_score, qid=[0] * n, k=k, **build, **read)
        routes["mean of HitCurves"] = lambda: hc.HitCurves(
            y_true, y_score, qid=[0] * n, **build
        ).mean_average_precision(k, **read)
    routes["method"] = lambda: measure("average_precision", y_true, y_score, k, build=build, **read)
    return agree(routes)
