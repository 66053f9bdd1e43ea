"""Runs against judgments."""

import ctypes
import re
from itertools import pairwise, permutations, product
from math import isinf, isnan, log2

import numpy as np
from register import ROW

import hitcurve as hc
from hitcurve.measures import MEASURES, parse
from hitcurve.retrieval import runs

from .draws import close, refusing


def retrieval(draw):
    """Qrels and runs in dicts and arrays against the obvious."""
    judged, run = {}, {}
    for q in range(draw.whole(1, 3)):
        docs = list(range(-2, draw.whole(1, 12)))
        judged[q] = {d: draw.whole(-1, 3) for d in docs if draw.chance(2)}
        run[q] = {d: draw.whole(0, 4) / 4 for d in docs if not draw.chance(3)}
    judged, run = ({q: docs for q, docs in one.items() if docs} for one in (judged, run))
    if not judged or not set(judged) & set(run):
        return
    text = draw.pick([str, str, lambda i: i])
    ties = draw.pick(["docid", "docid", "best", "worst"])
    expected = {name: [] for name in ("AP", "P@3", "RR", "Rprec", "R@5", "nDCG@4")}
    queries = sorted(judged, key=lambda q: str(q).encode())
    for q in queries:
        level = judged[q]
        good = {d for d, value in level.items() if value >= 1}
        by_id = sorted(run.get(q, {}).items(), key=lambda item: str(item[0]).encode(), reverse=True)
        if ties != "docid":
            by_id.sort(key=lambda item, good=good: (item[0] in good) == (ties == "worst"))
        ranked = sorted(by_id, key=lambda item: -item[1])
        flags = [d in good for d, _ in ranked]
        relevant = sum(value >= 1 for value in level.values())
        ranks = [i + 1 for i, flag in enumerate(flags) if flag]
        expected["AP"].append(sum((i + 1) / rank for i, rank in enumerate(ranks)) / relevant if relevant else 0.0)
        expected["P@3"].append(sum(flags[:3]) / 3)
        expected["RR"].append(1 / ranks[0] if ranks else 0.0)
        expected["Rprec"].append(sum(flags[:relevant]) / relevant if relevant else 0.0)
        expected["R@5"].append(sum(flags[:5]) / relevant if relevant else 0.0)
        gains = [max(level.get(d, 0), 0) for d, _ in ranked][:4]
        ideal = sorted((max(value, 0) for value in level.values()), reverse=True)[:4]
        dcg, most = (sum(g / log2(i + 2) for i, g in enumerate(one)) for one in (gains, ideal))
        expected["nDCG@4"].append(dcg / most if most else 0.0)
    if ties != "docid":
        del expected["nDCG@4"]
    qrels, docs = columns(draw, judged, "relevance", text, "i8"), columns(draw, run, "score", text, "f8")
    if draw.chance(3):
        qrels = hc.read_qrels(qrels)
        docs = hc.read_run(docs)
    found = hc.evaluate(qrels, docs, list(expected), ties=ties)
    if found.query_ids != [str(q) for q in queries]:
        raise AssertionError("queries")
    for name, values in expected.items():
        if not np.allclose(found.values[name], values, rtol=1e-12, atol=1e-14):
            raise AssertionError(f"{name}: {found.values[name]}, not {values}")
        close(found.means[name], sum(values) / len(values), name)
    of_queries(draw, found, lambda wanted: hc.evaluate(qrels, docs, list(expected), ties=ties, queries=wanted))


def of_queries(draw, found, evaluated):
    """A subset and a group have the values of all queries, to the last bit."""
    places = [at for at in range(len(found.query_ids)) if draw.chance(2)] or [0]
    ids = [found.query_ids[at] for at in places]
    part = evaluated(draw.pick([ids, set(ids), set(ids).__contains__]))
    group = evaluated(dict.fromkeys(ids, "x")).by().strata["x"][found.name]
    for name, values in found.values.items():
        if part.values[name].tolist() != values[places].tolist() or part.means[name] != group[name]:
            raise AssertionError(f"{name} of {ids}: {part.values[name]}, {part.means[name]}, {group[name]}")


def columns(draw, nested, name, text, dtype):
    """{query: {document: value}} as such, or as columns."""
    if draw.chance(2):
        return {text(q): {text(d): value for d, value in docs.items()} for q, docs in nested.items()}
    rows = [(text(q), text(d), value) for q, docs in nested.items() for d, value in docs.items()]
    order = [rows[i] for i in draw.generator().permutation(len(rows))]
    ids = draw.pick([list, np.array])
    return {"query_id": ids([row[0] for row in order]), "doc_id": ids([row[1] for row in order]),
            name: np.array([row[2] for row in order], dtype=dtype)}  # fmt: skip


# --- bounds over ties ---------------------------------------------------------------------------------------

TIED = [record for record in MEASURES if "judged" in ROW[record.name].of and record.ties and not ROW[record.name].same]
MEAN_CURVE = "interp=(11|101|all)-point|interp=continuous"
GAINS = (-2, -1, 0, 0.5, 1, 1, 2, 3)


def a_name(draw):
    """The name of a measure that reads ties, with options."""
    record = draw.pick(TIED)
    row = ROW[record.name]
    of_runs = row.sums or not row.method  # of curves alone no gain is below 0
    if of_runs and any(option.name == "gains" for option in record.options) and draw.whole(0, 2):
        gains = ",".join(f"{level}:{draw.pick(GAINS)}" for level in range(draw.whole(1, 4)))
        cutoff = f"@{draw.whole(1, 4)}" if "k" in record.cutoffs and draw.chance(2) else ""
        return f"{record.name}(gains={{{gains}}}){cutoff}"
    only_bounds = "expected" not in record.ties  # each form names one
    own = [form for form in record.forms if "norm=hits" not in form and ("ties=" not in form or only_bounds)]
    name = re.sub(",?ties=(best|worst)", "", draw.pick(own))
    head, at, cutoff = name.partition("@")
    if at and "k" in record.cutoffs:
        cutoff = str(draw.whole(1, 5))
    if not record.graded and draw.chance(4):
        head = f"{head[:-1]},rel=2)" if head.endswith(")") else f"{head}(rel=2)"
    return head + at + cutoff


def bounds_over_orders(draw):
    """Every measure of a run over all orders of the tied documents: its worst, mean and best."""
    retrieved = [f"d{i}" for i in range(draw.whole(1, 5))]
    levels = {doc: draw.whole(-1, 3) for doc in retrieved if draw.whole(0, 3)}
    levels |= {f"other{i}": draw.whole(-1, 3) for i in range(draw.whole(0, 3))}
    groups = [[]]
    for doc in retrieved:
        if groups[-1] and draw.chance(4):
            groups.append([])
        groups[-1].append(doc)
    run = {doc: -float(i) for i, tied in enumerate(groups) for doc in tied}
    names = list(dict.fromkeys(parse(a_name(draw)).name for _ in range(4)))
    if not levels:
        return
    options = {"judged_only": draw.chance(6), "relevance_level": draw.pick([1, 1, 1, 2])}
    orders = [sum(order, ()) for order in product(*(permutations(tied) for tied in groups))]
    ranked = {str(i): {doc: -float(j) for j, doc in enumerate(order)} for i, order in enumerate(orders)}
    tied_run = {"q": levels}, {"q": run}
    every = hc.evaluate(dict.fromkeys(ranked, levels), ranked, names, **options).values
    for name in names:
        record, values = parse(name).record, every[name]
        found = {}
        for ties in set(record.ties) - {"threshold"}:
            try:
                found[ties] = float(hc.evaluate(*tied_run, name, ties=ties, **options).values[name][0])
            except ValueError as error:  # for some gains and pools there is no rule
                if "cannot be computed" not in str(error):
                    raise
        if record.gaps and not np.isnan(values).all():  # orders without a value do not count
            values = values[~np.isnan(values)]
        ends = {"worst": values.min(), "best": values.max(), "expected": values.mean()}
        lower = getattr(record, "lower_is_better", record.name in ("RBPResid", "Unjudged"))
        if lower:
            ends["worst"], ends["best"] = ends["best"], ends["worst"]
        where = f"of {levels} and {groups}, {options}"
        for ties, value in found.items():
            if ties != "expected" or not re.search(MEAN_CURVE, name):  # these are read off the mean hit curve
                close(value, ends[ties], f"{name} with ties={ties} {where}", 1e-11)
        ordered = [found[ties] for ties in ("worst", "expected", "best") if ties in found]
        if lower:
            ordered.reverse()
        if any(one > other + 1e-12 for one, other in pairwise(ordered)):
            raise AssertionError(f"{name}: {found} {where}")


def strings_of_levels(draw):
    """The levels of the first documents, of judged ones alone or down to a depth."""
    docs = [f"d{i}" for i in range(draw.whole(1, 7))]
    levels = {doc: draw.pick([-1, 0, 1, 2, 9, 10, 12]) for doc in docs if draw.whole(0, 2)} | {"none": 1}
    run = {doc: float(draw.whole(0, 3)) for doc in docs}
    judged_only, length = draw.chance(2), draw.whole(1, 9)
    depth = draw.whole(1, 5) if draw.chance(2) else None
    ranked = sorted(sorted(run, reverse=True), key=lambda doc: -run[doc])[:depth]
    if judged_only:  # those in the pool only have no judgment either
        ranked = [doc for doc in ranked if levels.get(doc, -1) >= 0]
    marks = {doc: "." if level < 0 else ">" if level > 9 else str(level) for doc, level in levels.items()}
    expected = "".join(marks.get(doc, "-") for doc in ranked[:length])
    found = hc.evaluate({"q": levels}, {"q": run}, "P@5", judged_only=judged_only, depth=depth).level_strings(length)
    if found != [expected]:
        raise AssertionError(f"{found}, not {expected!r}: {levels}, {run}, judged_only={judged_only}, depth={depth}")


# --- numbers in text ----------------------------------------------------------------------------------------

LIBC = ctypes.CDLL(None)
LIBC.strtod.restype, LIBC.strtod.argtypes = ctypes.c_double, [ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p)]
LIBC.atol.restype, LIBC.atol.argtypes = ctypes.c_long, [ctypes.c_char_p]
PIECES = ("0", "1", "16", "9007199254740993", "7", ".", ".", "e", "e5", "e-3", "e400", "e999", "x", "0x", "0X1", "p3",
          "p-1", "a", "f", "+", "-", "inf", "nan", "_", ",", "tag", "1234567890123456789012", "e-330")  # fmt: skip


def numbers_in_text(draw):
    """A score or a level as text: what C's strtod and atol read, or an error."""
    text = "".join(draw.pick(PIECES) for _ in range(draw.whole(1, 4)))
    strict = draw.chance(3)
    value = LIBC.strtod(text.encode(), None)
    overflows = isinf(value) and "n" not in text.lower().lstrip("+-")[:2]  # a number of digits, not "inf"
    qrels = runs.Qrels.from_buffer(b"q 0 a 1\nq 0 b 0", "qrels")
    lines = f"q Q0 a 1 {text} t\nq Q0 b 2 {value!r} t"
    run = refusing(lambda: runs.Run.from_buffer(lines.encode(), "run", strict)) if not isnan(value) else None
    if run is not None:
        tied = runs.judge(qrels, run).table(0)[0][2]
        if tied != 2:
            raise AssertionError(f"the score {text!r} is not read as {value!r}, strict={strict}")
        if overflows:
            raise AssertionError(f"the score {text!r} is read as infinity, strict={strict}")
    elif not strict and not isnan(value) and not overflows:
        raise AssertionError(f"the score {text!r} is refused, strict=False")
    level = LIBC.atol(text.encode())
    judged = refusing(lambda: runs.Qrels.from_buffer(f"q 0 a {text}".encode(), "qrels", strict))
    if judged is None:
        if not strict and abs(level) <= 10**9 and not isnan(value):
            raise AssertionError(f"the level {text!r} is refused, strict=False")
        return
    run = runs.Run.from_buffer(b"q Q0 a 1 1 t", "run")
    found = runs.judge(judged, run).table(0)[0][3]
    if found != level:
        raise AssertionError(f"the level {text!r} is read as {found}, not {level}, strict={strict}")
