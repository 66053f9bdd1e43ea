"""Runs against judgments."""

from math import log2

import numpy as np

import hitcurve as hc

from .draws import close


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


def columns(draw, nested, name, text, dtype):
    """{query: {document: value}} as such, or as columns."""
    if draw.chance(2):
        return {text(q): {text(d): value for d, value in docs.items()} for q, docs in nested.items()}
    rows = [(text(q), text(d), value) for q, docs in nested.items() for d, value in docs.items()]
    order = [rows[i] for i in draw.generator().permutation(len(rows))]
    ids = draw.pick([list, np.array])
    return {"query_id": ids([row[0] for row in order]), "doc_id": ids([row[1] for row in order]),
            name: np.array([row[2] for row in order], dtype=dtype)}  # fmt: skip
