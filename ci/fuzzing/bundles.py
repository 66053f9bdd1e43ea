"""What has several orders for one query: preferences of several users, two rankings, items with subtopics."""

from itertools import chain
from math import isnan

import numpy as np
import reference
import register

import hitcurve as hc
from hitcurve.measures import MEASURES, parse
from hitcurve.retrieval.groups import groups_of_text

from .draws import LABELS, SCORES, close

# --- preferences --------------------------------------------------------------------------------------------

TWINS = {
    "Pref": reference.preference, "PairPref": reference.pair_preference, "GroupPref": reference.group_preference,
    "GroupPrefR": reference.group_preference_r, "NumPref": reference.number_of_preferences,
    "NumPrefMet": reference.fulfilled_preferences,
}  # fmt: skip
PREFERENCES = [form for record in MEASURES if record.name in TWINS for form in record.forms]
LEVELS = (0, 1, 2, 3, 0.5, -1)


def users(draw):
    """Judgment groups of subgroups, each a dict of documents to levels; some contradict themselves."""
    groups = []
    for _ in range(draw.whole(1, 3)):
        hidden = {doc: draw.pick(LEVELS) for doc in "abcde"}
        groups.append([])
        for factor in (1, 2.5, 0.5)[: draw.pick([1, 1, 2, 3])]:
            docs = [doc for doc in "abcde" if draw.chance(2)] or ["a"]
            wrong = draw.chance(8)
            groups[-1].append({doc: draw.pick(LEVELS) if wrong else hidden[doc] * factor for doc in docs})
    return groups


def contradicts(group):
    """Whether a group prefers a document to itself, or gives it level 0 and a level above."""
    levels = {doc: {of[doc] for of in group if doc in of} for doc in set().union(*group)}
    mixed = any(0 in of and max(of) > 0 for of in levels.values())
    return mixed or any(a == b for a, b in reference.preferences_of(group))


def read(draw, groups):
    """The judgments, read from lines, columns or dicts."""
    form = draw.pick(["prefs", "prefs", "qrels_prefs"]) if all(len(one) == 1 for one in groups) else "prefs"
    rows = [("q", f"u{g}", f"s{s}", doc, level) for g, group in enumerate(groups) for s, of in enumerate(group)
            for doc, level in of.items()]  # fmt: skip
    rows = [rows[i] for i in draw.generator().permutation(len(rows))]
    names = ("query_id", "group", "subgroup", "doc_id", "relevance")
    if form == "qrels_prefs":
        rows, names = [row[:2] + row[3:] for row in rows], names[:2] + names[3:]
    kind = draw.whole(0, 3)
    if kind == 0:
        columns = map(draw.pick([list, np.array]), zip(*rows, strict=True))
        return hc.read_qrels(dict(zip(names, columns, strict=True)), format=form)
    if kind == 1:
        lines = [draw.pick(["", "", "# note\n", " \n"]) + draw.pick([" ", "\t", "  "]).join(map(str, row))
                 + draw.pick(["\n", "\r\n", " \n"]) for row in rows]  # fmt: skip
        return groups_of_text("".join(lines).encode(), "judged", form, draw.chance(2))
    nested = {}
    for *path, doc, level in rows:
        held = nested
        for name in path:
            held = held.setdefault(name, {})
        held[doc] = level
    return hc.read_qrels(nested, format=form)


def judgment_groups(draw):
    """Preferences of several users against the slow twin; what contradicts itself is refused."""
    groups = users(draw)
    wrong, where = any(len(one) > 1 and contradicts(one) for one in groups), str(groups)
    try:
        judgments = read(draw, groups)
    except ValueError as error:
        if not wrong or not any(text in str(error) for text in ("form a circle", "has level 0 here")):
            raise AssertionError(f"refused: {error}: {where}") from error
        return
    if wrong:
        raise AssertionError(f"accepted: {where}")
    tied = [[]]
    for doc in sorted("abcdex", key=lambda _: draw.whole(0, 99)):
        if tied[-1] and draw.chance(2):
            tied.append([])
        if len(tied[-1]) < 3 and draw.whole(0, 3):
            tied[-1].append(doc)
    run = {"q": {doc: -float(place) for place, group in enumerate(tied) for doc in group} or {"x": 0.0}}
    judged = set(chain.from_iterable(chain.from_iterable(groups)))
    tied = [[doc for doc in group if doc in judged] for group in tied]
    for name in {draw.pick(PREFERENCES) for _ in range(3)}:
        against_orders(parse(name), judgments, run, tied, groups, f"{where}, {run}")


def against_orders(measure, judgments, run, tied, groups, where):
    twin, options = TWINS[measure.record.name], dict(measure.keywords)
    ranked = list(chain.from_iterable(map(sorted, tied)))
    found = hc.evaluate(judgments, run, measure)[measure.name]
    close(found, twin(ranked, groups, **options), f"{measure.name} of {where}")
    for ties in ("worst", "expected", "best") if measure.record.ties else ():
        try:
            found = hc.evaluate(judgments, run, measure, ties=ties)[measure.name]
        except ValueError as error:
            disagree = ties != "expected" and sum(map(len, groups)) > 1
            if "cannot be computed" in str(error) and (disagree or any(len(group) > 1 for group in groups)):
                continue
            raise
        wanted = reference.over_orders_of_documents(tied, groups, twin, ties, **options)
        close(found, wanted, f"{measure.name} with ties={ties} of {where}")


# --- two rankings -------------------------------------------------------------------------------------------


def a_ranking(draw, items):
    """Tie groups of some of the items."""
    groups = []
    for item in sorted(items, key=lambda _: draw.whole(0, 99))[: draw.whole(0, 8)]:
        if not groups or draw.chance(2):
            groups.append([])
        groups[-1].append(item)
    return groups


def as_scores(groups):
    return {item: -float(place) for place, group in enumerate(groups) for item in group}


def two_rankings(draw):
    """Rank-biased overlap in every variant and from every form against the slow twin."""
    items = draw.pick(["abcdefghij", range(-1, 9)])
    x, y = (a_ranking(draw, items) for _ in range(2))
    p, ties = draw.pick([0.05, 0.5, 0.9, 0.999]), draw.pick(["a", "b", "w"])
    where = f"{x} and {y}, p={p}, ties={ties}"
    if not (x or y):
        return
    wanted = reference.rbo(x, y, p, ties)
    found = [hc.rbo(as_scores(x), as_scores(y), p=p, ties=ties), hc.rbo(as_scores(y), as_scores(x), p=p, ties=ties)]
    if all(len(group) == 1 for group in (*x, *y)):
        kind = draw.pick([list, tuple, lambda one: np.array(one, dtype=None if one else "i8")])
        if not (kind not in (list, tuple) and not (x and y)):  # an empty array has another type
            found.append(hc.rbo(*(kind([item for group in one for item in group]) for one in (x, y)), p=p, ties=ties))
    runs = [{"q": as_scores(one), "r": dict.fromkeys(items, 1.0)} for one in (x, y)]
    if x and y:
        whole = hc.rbo(*runs, p=p, ties=ties)
        found.append(type(whole)(*(np.asarray(one)[0] if np.ndim(one) else one for one in whole)))
    if x and y and {*as_scores(x)} == {*as_scores(y)}:
        order = sorted(as_scores(x), key=str)
        found.append(hc.rbo(*(np.array([as_scores(one)[item] for item in order]) for one in (x, y)), p=p, ties=ties,
                            scores=True))  # fmt: skip
    for one in found:
        for name in ("ext", "min", "max", "residual"):
            close(getattr(one, name), getattr(wanted, name), f"{name} of {where}", 1e-12)
        if not (isnan(one.ext) or -1e-15 <= one.min <= one.ext * (1 + 1e-13) <= one.max * (1 + 3e-13)):
            raise AssertionError(f"{one} of {where}")


# --- subtopics ----------------------------------------------------------------------------------------------

OF_SUBTOPICS = [(row, name, keywords) for row in register.MEASURES if "subtopics" in row.of
                for name, keywords in row.written]  # fmt: skip


def subtopics(draw):
    """Items with subtopics: every measure against all orders of tied items, and each way in against the others."""
    width, n, missing = draw.whole(1, 3), draw.whole(0, 5), draw.whole(0, 2)
    rows = [tuple(draw.pick([0, 0, 1, 2]) for _ in range(width)) for _ in range(n + missing)]
    levels, gone = (np.array(one, dtype=draw.pick([kind for kind in LABELS if kind != "?"])).reshape(-1, width)
                    for one in (rows[:n], rows[n:]))  # fmt: skip
    scores = np.array([draw.whole(0, 3) for _ in range(n)], dtype=float).astype(draw.pick(SCORES))
    lower = draw.chance(3)
    where = f"{rows[:n]}, scores {scores.tolist()}, {rows[n:]} not retrieved, lower={lower}"
    curve = hc.SubtopicCurve(levels, scores, unretrieved=gone, lower_is_better=lower)
    curves = [hc.SubtopicCurves(levels, scores, offsets=[0, 0, n], unretrieved=[gone[:0], gone], lower_is_better=lower)]
    if n:
        both = np.concatenate([levels, levels]), np.concatenate([scores, scores])
        order = draw.generator().permutation(2 * n)
        order[np.argsort(order % 2 if n == 1 else order >= n, kind="stable")] = np.arange(2 * n)
        qid = np.repeat([5, 7], n)
        curves.append(hc.SubtopicCurves(both[0][order], both[1][order], qid=qid[order], unretrieved=[gone, gone],
                                        lower_is_better=lower, workers=draw.pick([1, 2])))  # fmt: skip
    query = reference.topics_of_items(levels.tolist(), scores.tolist(), gone.tolist(), lower_is_better=lower)
    for _ in range(4):
        (row, name, keywords), ties = draw.pick(OF_SUBTOPICS), draw.pick(register.ORDERS)
        measure = parse(name)
        try:
            value = measure(curve, ties)
        except ValueError as error:
            if ties == "expected" or row.name == "P_IA" or "items with different subtopics" not in str(error):
                raise AssertionError(f"{name}, ties={ties} is refused: {error}: {where}") from error
            continue
        wanted = float(register.slow(row, keywords, query, ties))
        close(value, wanted, f"{name}, ties={ties} of {where}")
        for many in curves:
            if np.asarray(measure(many, ties))[-1].tobytes() != np.float64(value).tobytes():
                raise AssertionError(f"{name}, ties={ties}: another value as one of several: {where}")


SHARES = {judgment_groups: 2, two_rankings: 1, subtopics: 2}
