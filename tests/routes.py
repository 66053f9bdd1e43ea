"""One input through every public route: the same value to the last bit, or the same error with the same words."""

import json
import pickle
import re
import struct
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import reference

import hitcurve as hc
from hitcurve.measures import parse


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


# --- several queries of documents: every way in -------------------------------------------------------------------


class Query(NamedTuple):
    """A query of a world: its documents in no order, with their levels (0: without a judgment) and their scores."""

    name: str
    ids: list[str]
    level: np.ndarray
    score: np.ndarray
    key: np.ndarray
    """The order of the ids, descending, as a key for `tiebreak`."""
    missing: list[int]
    """The levels above 0 of documents that the run lacks."""


class World(NamedTuple):
    """Judgments and a run, as dicts."""

    qrels: dict[str, dict[str, int]]
    run: dict[str, dict[str, float]]

    @property
    def queries(self):
        """What `evaluate` measures, as items of arrays."""
        found = []
        for name in sorted(self.qrels, key=str.encode):
            judged, scored = self.qrels[name], self.run.get(name, {})
            falling = sorted(scored, key=str.encode, reverse=True)
            found.append(Query(
                name, list(scored), np.array([max(judged.get(doc, 0), 0) for doc in scored], np.int64),
                np.array(list(scored.values()), np.float64),
                np.array([falling.index(doc) for doc in scored], np.int64),
                [level for doc, level in judged.items() if level > 0 and doc not in scored]))  # fmt: skip
        return found

    @property
    def tied(self):
        """Whether a document with a judgment for any query shares its score with another document."""
        judged = {doc for docs in self.qrels.values() for doc in docs}
        return any(list(scored.values()).count(scored[doc]) > 1 for scored in self.run.values()
                   for doc in scored.keys() & judged)  # fmt: skip

    def judged(self, name, ties="expected", smaller_first=False, by_any=False):
        """The query for the slow twin; "docid" gives each document its own place.

        `by_any`: documents that are judged for another query have level 0.
        """
        levels, scored = self.qrels[name], self.run.get(name, {})
        if by_any:
            levels = {doc: levels.get(doc, 0) for docs in self.qrels.values() for doc in docs}
        falling = sorted(sorted(scored, key=str.encode, reverse=not smaller_first), key=lambda doc: -scored[doc])
        groups = [tuple(levels.get(doc) for doc in group) for _, group in groupby(falling, key=scored.__getitem__)]
        query = reference.Judged(tuple(groups), tuple(levels.values()))
        return reference.in_order(sum(groups, ()), query.levels) if ties == "docid" else query


def without_unjudged(world):
    """The documents of the run that have a judgment."""
    return World(world.qrels, {query: {doc: score for doc, score in docs.items()
                                       if world.qrels.get(query, {}).get(doc, -1) >= 0}
                               for query, docs in world.run.items()})  # fmt: skip


def drawn_world(seed, num_queries=7, most=30, complete=False):
    """Like the world: signed scores, many ties, unjudged documents, levels from -1 to 3, and documents never retrieved.

    A query has nothing relevant, the run lacks another, and has a query that has no judgments. `complete`: the run has
    every query and every document.
    """
    rng = np.random.default_rng(seed)
    qrels, run = {}, {}
    for i in range(num_queries):
        name, number = f"q{'é' * (i % 2)}{i * 37 % 101}", int(rng.integers(most // 2, most + 1))
        ids = [f"{'dé'[j % 2]}{j}-{name[-1]}" for j in rng.permutation(2 * number)]
        scores = rng.integers(-3, 4, number) / 4 * (1 if i % 3 else rng.random(number).round(4).astype("f4"))
        scores[(scores == 0) & (rng.random(number) < 0.5)] = -0.0
        run[name] = dict(zip(ids, scores.tolist(), strict=False))
        listed = rng.permutation(ids[: number if complete else number * 4 // 3])[: number * 3 // 4]
        qrels[name] = {doc: int(rng.choice([-1, 0, 0, 1, 2, 3])) for doc in listed.tolist()}
    first, second, *_ = run
    qrels[first] = {doc: min(level, 0) for doc, level in qrels[first].items()}
    if not complete:
        del run[second]
        run["extra"] = {"d1": 0.5}
    return World(qrels, run)


def laid_out(world, **columns):
    """The columns of all queries one after the other, with `offsets`."""
    queries = world.queries
    found = {name: np.concatenate([getattr(query, of) for query in queries]) for name, of in columns.items()}
    return found, np.cumsum([0, *(len(query.ids) for query in queries)])


def taken(kind, queries, relevant=1):
    """The option that says what was never retrieved, of many queries."""
    if kind == "gains":
        return {"unretrieved": [query.missing for query in queries]}
    return {"relevance_level": relevant, "num_relevant": [num_relevant(query, relevant) for query in queries]}


def num_relevant(query, relevant):
    return int((query.level >= relevant).sum()) + sum(level >= relevant for level in query.missing)


MANY = {"hits": hc.HitCurves, "gains": hc.GainCurves}
ONE = {"hits": hc.HitCurve, "gains": hc.GainCurve}


def by_offsets(world, kind, relevant, docid, **options):
    columns, offsets = laid_out(world, y_true="level", y_score="score", tiebreak="key")
    if not docid:
        del columns["tiebreak"]
    return MANY[kind](**columns, offsets=offsets, **taken(kind, world.queries, relevant), **options)


def with_workers(world, kind, relevant, docid):
    return by_offsets(world, kind, relevant, docid, workers=2)


def by_qid(world, kind, relevant, docid, make=np.asarray):
    """Items in any order. No item says that there is a query without items."""
    queries = [query for query in world.queries if query.ids]
    columns, _ = laid_out(world, y_true="level", y_score="score", tiebreak="key")
    qid = np.repeat([query.name for query in queries], [len(query.ids) for query in queries])
    order = np.random.default_rng(0).permutation(len(qid))
    columns = {name: make(column[order]) for name, column in columns.items() if docid or name != "tiebreak"}
    curves = MANY[kind](**columns, qid=make(qid[order]), **taken(kind, queries, relevant))
    assert curves.qid.tolist() == sorted(query.name for query in queries)
    return [query.name for query in queries], curves


def by_lists(world, kind, relevant, docid):
    return by_qid(world, kind, relevant, docid, make=np.ndarray.tolist)


def by_series(library):
    def way(world, kind, relevant, docid):
        return by_qid(world, kind, relevant, docid, make=import_module(library).Series)

    return way


def by_mask(world, kind, relevant, docid):
    queries = world.queries
    columns = {name: np.full((len(queries), 64), np.nan) for name in ("y_true", "y_score")}
    mask = np.zeros((len(queries), 64), bool)
    for i, query in enumerate(queries):
        columns["y_true"][i, 1 : len(query.ids) + 1] = query.level
        columns["y_score"][i, 1 : len(query.ids) + 1] = query.score
        mask[i, 1 : len(query.ids) + 1] = True
    return MANY[kind](**columns, mask=mask, **taken(kind, queries, relevant))


def one_by_one(way):
    """A way of a query alone makes a curve for each of many."""

    def make(world, kind, relevant, docid):
        return [way(query, kind, relevant, docid) for query in world.queries]

    return make


def missed(kind, query, relevant):
    """The option that says what was never retrieved, of one query."""
    if kind == "gains":
        return {"unretrieved": query.missing}
    return {"num_relevant": num_relevant(query, relevant)}


def alone(query, kind, relevant, docid, sign=1):
    options = {"tiebreak": query.key} if docid else {}
    options |= {"relevance_level": relevant} if kind == "hits" else {}
    options |= {"lower_is_better": True} if sign < 0 else {}
    return ONE[kind](query.level, sign * query.score, **options, **missed(kind, query, relevant))


def lower_is_better(query, kind, relevant, docid):
    return alone(query, kind, relevant, docid, sign=-1)


def one_row(query, kind, relevant, docid):
    columns = {"y_true": [query.level], "y_score": [query.score], **({"tiebreak": [query.key]} if docid else {})}
    return MANY[kind](**columns, **taken(kind, [query], relevant))[0]


def groups_of(query, docid):
    """(score, items above, levels of the items) of each tie group, counted here."""
    order = sorted(range(len(query.ids)), key=lambda i: (-query.score[i], query.key[i]))
    places = groupby(order, key=lambda i: (-query.score[i], query.key[i] if docid else 0))
    groups = [[*group] for _, group in places]
    above = np.cumsum([0, *map(len, groups)]).tolist()
    return [(query.score[group[0]], start, query.level[group].tolist())
            for group, start in zip(groups, above[:-1], strict=True)]  # fmt: skip


def from_table(query, kind, relevant, docid, scores=True):
    least = 1 if kind == "gains" else relevant
    rows = [row for row in groups_of(query, docid) if max(row[2]) >= least]
    score, above = [row[0] for row in rows], [row[1] for row in rows]
    tied, options = [len(row[2]) for row in rows], {"num_items": len(query.ids), **missed(kind, query, relevant)}
    score = None if docid or not scores else score
    if kind == "hits":
        return hc.HitCurve.from_table(score, above, tied, [sum(one >= relevant for one in row[2]) for row in rows],
                                      **options)  # fmt: skip
    pairs = [sorted(Counter(one for one in row[2] if one).items()) for row in rows]
    offsets = np.cumsum([0, *map(len, pairs)])
    level, count = ([pair[i] for row in pairs for pair in row] for i in (0, 1))
    return hc.GainCurve.from_table(score, above, tied, offsets, level, count, **options)


def from_table_without_scores(query, kind, relevant, docid):
    return from_table(query, kind, relevant, docid, scores=False)


def from_ranked(query, kind, relevant, docid):
    levels = [level for _, _, levels in groups_of(query, True) for level in levels]
    if kind == "hits":
        return hc.HitCurve.from_ranked([level >= relevant for level in levels], **missed(kind, query, relevant))
    return hc.GainCurve.from_ranked(levels, **missed(kind, query, relevant))


def from_ranks(query, kind, relevant, docid):
    ranks = [above + 1 for _, above, levels in groups_of(query, True) if levels[0] >= relevant]
    return hc.HitCurve.from_ranks(ranks, num_items=len(query.ids), **missed(kind, query, relevant))


def in_blocks(query, kind, relevant, docid, backwards=False):
    """Three counters, added up from the first to the last or the other way round."""
    label = query.level if kind == "gains" else query.level >= relevant
    make = hc.GainCounter if kind == "gains" else hc.HitCounter
    parts = []
    for level, score in zip(np.array_split(label, 3), np.array_split(query.score, 3), strict=True):
        parts.append(make(query.score[label > 0]))
        parts[-1].update(level, score)
    total = make(query.score[label > 0])
    for part in parts[:: -1 if backwards else 1]:
        total = part.merge(total) or part if backwards else total.merge(part) or total
    return total.curve(**missed(kind, query, relevant))


def in_blocks_backwards(query, kind, relevant, docid):
    return in_blocks(query, kind, relevant, docid, backwards=True)


def scanned_arrays(query, kind, relevant, docid):
    """In two blocks of tuples."""
    label = query.level if kind == "gains" else query.level >= relevant
    half = len(query.ids) // 2
    blocks = [(label[:half], query.score[:half]), (label[half:], query.score[half:])]
    return hc.scan(lambda: iter(blocks), **({"grade": 1} if kind == "gains" else {}), **missed(kind, query, relevant))


def scanned_file(suffix):
    """All queries in one file, by group: of a complete world."""

    def way(world, kind, relevant, docid):
        pa = import_module("pyarrow")
        columns, offsets = laid_out(world, level="level", score="score")
        names = [query.name for query in world.queries]
        table = pa.table({"query": np.repeat(names, np.diff(offsets)), "score": columns["score"],
                          "label": columns["level"] if kind == "gains" else columns["level"] >= relevant})  # fmt: skip
        how = {"score": "score", "group": "query", "grade" if kind == "gains" else "label": "label"}
        with TemporaryDirectory() as folder:
            path = Path(folder, f"rows.{suffix}")
            if suffix == "csv":
                import_module("pyarrow.csv").write_csv(table, path)
            else:
                import_module("pyarrow.parquet").write_table(table, path, row_group_size=40)
            curves = hc.scan(path, **how)
        assert curves.qid.tolist() == names
        return curves

    return way


def of_levels(world, kind, relevant, docid):
    """Hit curves of the gain curves from a level up."""
    return by_offsets(world, "gains", relevant, docid).at_level(relevant)


def of_evaluation(world, kind, relevant, docid):
    found = hc.evaluate(world.qrels, world.run, "NumRet", ties="docid" if docid else "expected")
    return found.curves() if kind == "gains" else found.curves(relevant)


def pickled(world, kind, relevant, docid):
    return pickle.loads(pickle.dumps(by_offsets(world, kind, relevant, docid)))


class Way(NamedTuple):
    """A way from judgments and a run to curves."""

    make: Callable[..., Any]
    """`make(world, kind, relevant, docid)`: curves of all queries, or the names of some and their curves."""
    kinds: tuple[str, ...] = ("hits", "gains")
    docid: bool | None = None
    """True: only with ties by document id; False: only without them."""
    complete: bool = False
    """Has no place for a query without items, and for items that were never retrieved."""
    needs: str = ""
    """A library."""


WAYS_OF_CURVES = {
    "offsets": Way(by_offsets), "workers": Way(with_workers), "qid": Way(by_qid), "lists": Way(by_lists),
    "pandas": Way(by_series("pandas"), needs="pandas"), "polars": Way(by_series("polars"), needs="polars"),
    "mask": Way(by_mask, docid=False), "one query": Way(one_by_one(alone)), "one row": Way(one_by_one(one_row)),
    "lower is better": Way(one_by_one(lower_is_better)), "from_table": Way(one_by_one(from_table)),
    "from_table without scores": Way(one_by_one(from_table_without_scores)),
    "from_ranked": Way(one_by_one(from_ranked), docid=True),
    "from_ranks": Way(one_by_one(from_ranks), ("hits",), docid=True),
    "blocks": Way(one_by_one(in_blocks), docid=False),
    "blocks backwards": Way(one_by_one(in_blocks_backwards), docid=False),
    "scan of arrays": Way(one_by_one(scanned_arrays), docid=False),
    "scan of CSV": Way(scanned_file("csv"), docid=False, complete=True, needs="pyarrow"),
    "scan of Parquet": Way(scanned_file("parquet"), docid=False, complete=True, needs="pyarrow"),
    "at_level": Way(of_levels, ("hits",)), "Evaluation.curves": Way(of_evaluation), "pickle": Way(pickled),
}  # fmt: skip


def curves_by(way, world, kind, relevant, docid):
    """(names of queries, their curves): of all, or of those that the way has a place for."""
    found = way.make(world, kind, relevant, docid)
    return found if isinstance(found, tuple) else ([query.name for query in world.queries], found)


def table(curves):
    """All that a curve holds, but for scores and names of queries, which not every way has."""
    names = ["above", "tied", "hits", "num_items", "num_hits", "num_relevant", "row_offsets", "level", "level_count",
             "level_offsets"]  # fmt: skip
    found = {name: np.asarray(getattr(curves, name)).tolist() for name in names if hasattr(curves, name)}
    missing = getattr(curves, "unretrieved", [])
    return found | {"unretrieved": [levels.tolist() for levels in missing] if isinstance(missing, list) else
                    missing.tolist()}  # fmt: skip


def values_of(curves, name, ties):
    """The bits of a measure of many curves, one for each."""
    measure = parse(name)
    found = [measure(curve, ties) for curve in curves] if isinstance(curves, list) else measure(curves, ties)
    return np.asarray(found, np.float64)


# --- runs: what `evaluate` takes ------------------------------------------------------------------------------------


def rows_of(world):
    """Columns of the judgments and of the run."""
    judged = [(query, doc, level) for query, docs in world.qrels.items() for doc, level in docs.items()]
    run = [(query, doc, score) for query, docs in world.run.items() for doc, score in docs.items()]
    return (dict(zip(("query_id", "doc_id", "relevance"), map(list, zip(*judged, strict=True)), strict=True)),
            dict(zip(("query_id", "doc_id", "score"), map(list, zip(*run, strict=True)), strict=True)))  # fmt: skip


def written(world, folder):
    """The paths of TREC files."""
    qrels, run = Path(folder, "qrels"), Path(folder, "run")
    qrels.write_text("".join(f"{q} 0 {doc} {one}\n" for q, docs in world.qrels.items() for doc, one in docs.items()),
                     encoding="utf-8")  # fmt: skip
    run.write_text("".join(f"{q} Q0 {doc} 0 {one!r} tag\n" for q, docs in world.run.items()
                           for doc, one in docs.items()), encoding="utf-8")  # fmt: skip
    return qrels, run


def of_files(world, names, **options):
    with TemporaryDirectory() as folder:
        return hc.evaluate(*written(world, folder), names, **options)


def of_parquet(world, names, **options):
    pa, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    with TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("qrels.parquet", "run.parquet")]
        for path, columns in zip(paths, rows_of(world), strict=True):
            parquet.write_table(pa.table(columns), path)
        return hc.evaluate(*paths, names, **options)


def of_frames(library):
    def way(world, names, **options):
        return hc.evaluate(*map(import_module(library).DataFrame, rows_of(world)), names, **options)

    return way


def of_command(world, names, capsys, ties, relevance_level=1, judged_only=False):
    """Of `hitcurve trec`, which prints JSON."""
    with TemporaryDirectory() as folder:
        arguments = ["trec", *map(str, written(world, folder)), "-q", "--format", "json", "--ties", ties]
        arguments += ["-l", str(relevance_level), *(["-J"] if judged_only else []), "-m", *names]
        assert import_module("hitcurve.cli.main").main(arguments) in (None, 0, 3)
    return json.loads(capsys.readouterr().out)


WAYS_OF_RUNS = {
    "files": Way(of_files), "Parquet": Way(of_parquet, needs="pyarrow"),
    "pandas": Way(of_frames("pandas"), needs="pandas"), "polars": Way(of_frames("polars"), needs="polars"),
    "arrays": Way(lambda world, names, **options: hc.evaluate(
        *({name: np.array(column) for name, column in columns.items()} for columns in rows_of(world)), names,
        **options)),
    "read": Way(lambda world, names, **options: hc.evaluate(
        hc.read_qrels(world.qrels), hc.read_run(world.run), names, **options)),
    "Evaluator": Way(lambda world, names, **options: hc.Evaluator(world.qrels, names, **options).evaluate(world.run)),
    "pickle": Way(lambda world, names, **options: pickle.loads(pickle.dumps(hc.evaluate(
        world.qrels, world.run, names, **options)))),
}  # fmt: skip
