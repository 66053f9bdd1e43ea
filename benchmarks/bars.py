"""The speed targets, each a ratio taken in one process.

    python benchmarks/bars.py [--quick] [--only TEXT] [--rounds N]

Contestants of a row take turns, so that a slow minute hurts both; each counts with the minimum of its rounds. What
hitcurve returns is compared with an independent count. Not met is printed, not hidden: the exit code is the number of
rows that miss their target (or of wrong answers). `--quick` shrinks the inputs: it shows that the rows run, nothing
about the targets.
"""

import argparse
import gc
import os
import subprocess
import sys
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from statistics import median
from time import perf_counter

import data
import growth
import numpy as np
import peers
import twins

import hitcurve as hc
from hitcurve.measures import parse


class Row:
    """One line of the table: what was measured, against what, the target, and what came out."""

    def __init__(self, work, against, target, at_least=False):
        self.work, self.against, self.target, self.at_least = work, against, target, at_least
        self.measured = self.note = None

    @property
    def met(self):
        if self.measured is None:
            return None
        return self.measured >= self.target if self.at_least else self.measured <= self.target

    def __str__(self):
        sign = "≥" if self.at_least else "≤"
        measured = f"{self.measured:.3g}" if self.measured is not None else "-"
        verdict = {True: "met", False: "NOT MET", None: self.note or "not measured"}[self.met]
        if self.met is not None and self.note:
            verdict += f" ({self.note})"
        return f"{self.work:<74} {self.against:<34} {sign} {self.target:<6g} {measured:>8}  {verdict}"


def seconds(calls, rounds, least=0.0, clock=perf_counter):
    """The least time of each call, taking turns. A call shorter than `least` seconds is repeated within a round."""
    repeats = []
    for call in calls:
        start = clock()
        call()
        repeats.append(max(1, int(least / max(clock() - start, 1e-9))))
    best = [float("inf")] * len(calls)
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for i, (call, n) in enumerate(zip(calls, repeats, strict=True)):
                start = clock()
                for _ in range(n):
                    call()
                best[i] = min(best[i], (clock() - start) / n)
    finally:
        gc.enable()
    return best


class WrongAnswerError(Exception):
    pass


def check(value, right):
    if not abs(value - right) <= 1e-12 * abs(right):
        raise WrongAnswerError(f"WRONG: {value!r}, but another way of counting says {right!r}")


class Options:
    def __init__(self, quick, rounds, only):
        self.quick, self.rounds, self.only = quick, rounds, only

    def size(self, n, least=1):
        return max(least, n // 500) if self.quick else n


def against(options, row, ours, theirs, right=None, *, least=0.0, rounds=None, invert=False):
    """Fill `row` with ours ÷ theirs (theirs ÷ ours with `invert`)."""
    if right is not None:
        check(ours(), right())
    mine, other = seconds([ours, theirs], rounds or options.rounds, least)
    row.measured = other / mine if invert else mine / other
    return row


# --- the rows -----------------------------------------------------------------------------------------------


def one_ranking(options):
    for dtype, name, targets in (
        ("f8", "float64", {300: 0.15, 20_000: 0.28, 200_000: 0.50, 1_000_000: 0.65, 5_000_000: 0.95}),
        ("f4", "float32", {300: 0.25, 20_000: 0.45, 200_000: 0.68, 1_000_000: 1.0, 5_000_000: 1.8}),
    ):
        for relevant, target in targets.items():
            row = Row(f"AP, 10 million {name}, R = {relevant:,}", "np.sort(scores)", target)
            yield row, partial(against_sort, options, row, dtype, relevant)


def against_sort(options, row, dtype, relevant):
    y, s = data.one_ranking("normal", options.size(10_000_000), options.size(relevant, 5), dtype)
    ours = partial(hc.average_precision, y, s)
    against(options, row, ours, partial(np.sort, s), lambda: data.answer(y, s, "expected"))


def adversaries(options):
    for kind in data.KINDS[1:]:
        row = Row(f"AP, 10 million float64, R = 20,000: {kind}", "the same, normal scores", 2.0)
        yield row, partial(against_normal, options, row, kind)


def against_normal(options, row, kind):
    n, relevant = options.size(10_000_000), options.size(20_000, 5)
    y, s = data.one_ranking(kind, n, relevant)
    normal = partial(hc.average_precision, *data.one_ranking("normal", n, relevant))
    against(options, row, partial(hc.average_precision, y, s), normal, lambda: data.answer(y, s, "expected"))


def short_rankings(options):
    """What is compared, or counted by cells: normal scores against uniform ones, and rankings beyond the block."""
    for dtype, name in (("f4", "float32"), ("f8", "float64")):
        for relevant in (20, 50, 100):
            row = Row(f"MAP, 5,000 queries x 1,000 {name}, R = {relevant}, normal scores", "uniform scores", 1.25)
            yield row, partial(normal_against_uniform, options, row, relevant, dtype)
        for n, relevant in ((10_000, 100), (30_000, 60)):
            row = Row(f"AP of {n:,} {name}, R = {relevant}", "scores.sum()", 8)
            y, s = data.one_ranking("normal", n, relevant, dtype)
            right = partial(data.answer, y, s, "expected")
            yield row, partial(against, options, row, partial(hc.average_precision, y, s), s.sum, right, least=0.02)
        row = Row(f"AP of 1,000 to 10 million {name}: ns an item", "of half as many items", 1.3)
        yield row, partial(greatest_step, options, row, dtype)


def normal_against_uniform(options, row, relevant, dtype):
    calls = []
    for kind in ("normal", "uniform"):
        y, s = data.rows(options.size(5_000), 1_000, relevant, dtype, kind)
        calls.append(partial(hc.mean_average_precision, y, s))
        check(calls[-1](), data.mean_answer(list(zip(y, s, strict=True)), "order"))
    against(options, row, *calls)


def greatest_step(options, row, dtype):
    """Of sizes a factor of 2 apart, at fixed shares and fixed numbers of relevant items."""
    steps = growth.steps(options.size(10_000_000, 2_000), dtype)
    row.measured, row.note = max((step, where) for where, step in steps)


def readings(options):
    for ties in ("expected", "best", "worst"):
        row = Row(f"AP, 10 million float64, R = 20,000, ties={ties}", "the same, ties=threshold", 1.10)
        yield row, partial(against_threshold, options, row, ties)


def against_threshold(options, row, ties):
    y, s = data.one_ranking("normal", options.size(10_000_000), options.size(20_000, 5))
    call = partial(hc.average_precision, y, s)
    against(options, row, partial(call, ties=ties), partial(call, ties="threshold"), lambda: data.answer(y, s, "order"))


def many_queries(options):
    for relevant, target in {1: 1.6, 5: 3.2, 20: 7.0, 100: 19.0}.items():
        row = Row(f"MAP, 10,000 queries x 1,000 float32, R = {relevant}", "scores.sum()", target)
        yield row, partial(rows_against_sum, options, row, relevant)
    row = Row("MAP, 50,000 ragged queries of 1 to 400 items, 3 % relevant, float64", "scores.sum()", 5.5)
    yield row, partial(ragged_against_sum, options, row)
    row = Row("MAP, 10 million items, a million unsorted integer qid", 'np.argsort(qid, kind="stable")', 1.0)
    yield row, partial(unsorted_against_argsort, options, row)


def rows_against_sum(options, row, relevant):
    y, s = data.rows(options.size(10_000), 1_000, relevant)
    right = partial(data.mean_answer, list(zip(y, s, strict=True)), "order")
    against(options, row, partial(hc.mean_average_precision, y, s), s.sum, right)


def ragged_against_sum(options, row):
    y, s, offsets = data.ragged(options.size(50_000), 400, 0.03)
    ours = partial(hc.mean_average_precision, y, s, offsets=offsets)
    against(options, row, ours, s.sum, lambda: data.mean_answer(data.split(y, s, offsets), "expected"))


def unsorted_against_argsort(options, row):
    y, s, qid = data.unsorted_queries(options.size(10_000_000), options.size(1_000_000), 0.05)

    ours = partial(hc.mean_average_precision, y, s, qid=qid)
    right = partial(data.mean_answer, data.split_by_id(y, s, qid), "expected")
    against(options, row, ours, partial(np.argsort, qid, kind="stable"), right)


def graded(options):
    for relevant in (5, 20):
        for k in (10, None):
            cut = "" if k is None else f"@{k}"
            row = Row(f"nDCG{cut}, 10,000 queries x 1,000 float32, {relevant} graded each", "the MAP of the same", 1.6)
            yield row, partial(rows_against_map, options, row, relevant, k)
    row = Row("nDCG, 10 million float64, 20,000 graded", "the AP of the same", 1.3)
    yield row, partial(long_against_ap, options, row)
    for share, kind, target in ((1.0, np.uint8, 0.5), (1.0, float, 0.6), (0.02, float, 0.15)):
        row = Row(f"mean_ndcg, 1,000 x 1,000 float64, {share:.0%} graded, {np.dtype(kind)} levels",
                  "argsort, take and sums in numpy", target)
        yield row, partial(levels_against_numpy, options, row, share, kind)
    row = Row("one ndcg of 100 items, 5 graded", "average_precision of the same", 2.5)
    yield row, partial(call_against_ap, options, row)
    for relevant in (5, 20):
        row = Row(f"nDCG, 10,000 queries x 1,000 float32, {relevant} graded each", "scikit-learn's time ÷ ours", 50,
                  at_least=True)
        made = partial(data.rows, options.size(10_000), 1_000, relevant)
        yield row, partial(against_scikit_learn, options, row, made)
    row = Row("one ndcg of 100 items, 5 graded", "scikit-learn's time ÷ ours", 300, at_least=True)
    made = partial(data.one_ranking, "normal", 100, 5)
    yield row, partial(against_scikit_learn, options, row, made, least=0.02)


def levels_of(y):
    """Levels from 1 to 4 in place of the flags."""
    return (y * (1 + np.arange(y.size).reshape(y.shape) % 4)).astype(np.uint8)


def mean_gain(y, s, k):
    """nDCG by a sort of each row; its scores are all distinct, or equal ones have one level."""
    order = np.argsort(-s, axis=1, kind="stable")[:, :k]
    worth = 1 / np.log2(np.arange(2, order.shape[1] + 2))
    found = (np.take_along_axis(y, order, axis=1) * worth).sum(axis=1)
    return (found / (-np.sort(-y.astype(float), axis=1)[:, :k] * worth).sum(axis=1)).mean()


def rows_against_map(options, row, relevant, k):
    y, s = data.rows(options.size(10_000), 1_000, relevant)
    levels = levels_of(y)
    ours = partial(hc.mean_ndcg, levels, s, k=k)
    if not abs(ours() - mean_gain(levels, s, k)) <= 1e-6:  # equal scores take one order there
        raise WrongAnswerError(f"WRONG: {ours()!r}, but a sort says {mean_gain(levels, s, k)!r}")
    against(options, row, ours, partial(hc.mean_average_precision, y, s))


def levels_against_numpy(options, row, share, kind):
    y, s = data.rows(options.size(1_000), 1_000, round(1_000 * share), "f8")
    levels = levels_of(y).astype(kind)
    ours, theirs = partial(hc.mean_ndcg, levels, s), partial(mean_gain, levels, s, None)
    against(options, row, ours, theirs, theirs)


def long_against_ap(options, row):
    y, s = data.one_ranking("normal", options.size(10_000_000), options.size(20_000, 5))
    levels = levels_of(y)
    ours = partial(hc.ndcg, levels, s)
    against(options, row, ours, partial(hc.average_precision, y, s), lambda: mean_gain(levels[None], s[None], None))


def call_against_ap(options, row):
    y, s = data.one_ranking("normal", 100, 5)
    levels = levels_of(y)
    ours, theirs = partial(hc.ndcg, levels, s), partial(hc.average_precision, y, s)
    against(options, row, ours, theirs, lambda: mean_gain(levels[None], s[None], None), least=0.02, rounds=15)


def against_scikit_learn(options, row, made, least=0.0):
    if find_spec("sklearn") is None:
        row.note = "scikit-learn is not installed"
        return
    from sklearn.metrics import ndcg_score

    y, s = made()
    levels = levels_of(y)
    theirs = partial(ndcg_score, *np.atleast_2d(levels, s))
    ours = partial(hc.ndcg if y.ndim == 1 else hc.mean_ndcg, levels, s)
    against(options, row, ours, theirs, theirs, least=least, invert=True)


def sums_over_ranks(options):
    """Curves made from arrays, and their mean, on both sides."""
    for name, twin, ties in (
        ("SDCG(max_rel=4)@1000", partial(twins.sdcg, k=1_000), True),
        ("BPM(T=1,max_rel=4)@1000", partial(twins.bpm, k=1_000), False),
        ("NERR8(max_rel=4,ties=best)@1000", partial(twins.nerr8, k=1_000), True),
        ("P_IA@20", partial(twins.p_ia, k=20), True),
        ("StRecall@20", partial(twins.strec, k=20), True),
    ):
        row = Row(f"{name}, 10,000 x 1,000, five subtopics{', ties' * ties}", "nDCG of the same", 2.0)
        yield row, partial(of_subtopics, options, row, name, twin, ties)
    row = Row("alpha_nDCG, 10,000 x 1,000, five subtopics, ties", "MAP of the same", 8.0)
    yield row, partial(of_subtopics, options, row, "alpha_nDCG", twins.alpha_ndcg, True)


def of_subtopics(options, row, name, twin, ties):
    levels, s = data.topics(options.size(10_000), 1_000, 4, ties)
    highest = levels.max(axis=2)
    if name == "alpha_nDCG":
        theirs = partial(hc.mean_average_precision, highest > 0, s)
    else:
        theirs = lambda: hc.GainCurves(highest, s).mean("nDCG")  # noqa: E731
    by_subtopic = parse(name).record.of == ("subtopics",)

    def ours():
        return (hc.SubtopicCurves(levels, s) if by_subtopic else hc.GainCurves(highest, s)).mean(name)

    against(options, row, ours, theirs, lambda: twin(levels, s))


def small_calls(options):
    for n, relevant, target in ((10, 2, 0.20), (100, 5, 0.30)):
        y, s = data.one_ranking("normal", n, relevant)
        row = Row(f"one average_precision of {n} items, {relevant} relevant", "scores.sum()", target)
        ours = partial(hc.average_precision, y, s)
        right = partial(data.answer, y, s, "expected")
        yield row, partial(against, options, row, ours, s.sum, right, least=0.02, rounds=15)
    row = Row("one HitCurve of 100 items, 5 relevant", "np.sort(scores)", 1.0)
    yield row, partial(against, options, row, partial(hc.HitCurve, y, s), partial(np.sort, s), least=0.02, rounds=15)


def workers(options):
    for relevant in (20_000, 1_000_000):
        row = Row(f"AP, 10 million float64, R = {relevant:,}, workers=2", "workers=1, two idle cores", 0.60)
        yield row, partial(against_one_worker, options, row, relevant)


def against_one_worker(options, row, relevant):
    if (os.cpu_count() or 1) < 2:
        row.note = "needs two cores"
        return
    y, s = data.one_ranking("normal", options.size(10_000_000), options.size(relevant, 5))
    one, two = (partial(hc.average_precision, y, s, workers=n) for n in (1, 2))
    if one() != two():
        raise WrongAnswerError(f"WRONG: {two()!r}, but {one()!r} with one worker")
    against(options, row, two, one, lambda: data.answer(y, s, "expected"))


MEMORY = """
import sys, numpy as np, hitcurve
sys.path.insert(0, sys.argv[3])
import data
n, relevant = int(sys.argv[1]), int(sys.argv[2])
y, s = data.one_ranking("normal", n, relevant, sys.argv[4])
hitcurve.average_precision(y[:1000], s[:1000])
def status(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name)) * 1024
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # the peak starts again from here
before = status("VmRSS")
hitcurve.average_precision(y, s)
print(max(0, status("VmHWM") - before) / s.nbytes)
"""


def memory(options):
    few = [("f8", 300, 0.06), ("f8", 20_000, 0.10)]
    many = [(dtype, relevant, 1.1) for dtype in ("f8", "f4") for relevant in (2_000_000, 5_000_000, 10_000_000)]
    for dtype, relevant, target in few + many:
        name = {"f4": "float32", "f8": "float64"}[dtype]
        row = Row(f"extra memory, 20 million {name}, R = {relevant:,}", "bytes of the scores", target)
        yield row, partial(extra_memory, options, row, relevant, dtype)


def extra_memory(options, row, relevant, dtype):
    if not os.path.exists("/proc/self/clear_refs"):
        row.note = "needs Linux"
        return
    n, relevant = options.size(20_000_000), options.size(relevant, 5)
    here = os.path.dirname(os.path.abspath(__file__))
    command = [sys.executable, "-c", MEMORY, str(n), str(relevant), here, dtype]
    row.measured = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


IMPORT = "import numpy; from time import perf_counter as t; a = t(); import hitcurve; print(1e3 * (t() - a))"


def imports(options):
    row = Row("import hitcurve, ms, fresh process", "over import numpy", 10.0)
    yield row, partial(import_time, row)


def import_time(row):
    command = [sys.executable, "-I", "-c", IMPORT]
    times = [float(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(9)]
    row.measured, row.note = min(times), f"median {median(times):.1f}"


def other_libraries(options):
    for n, relevant, target, least in ((2_000_000, 4_000, 25, 0.0), (100, 5, 1000, 0.02)):
        row = Row(f"AP of {n:,} float64, R = {relevant:,}", "scikit-learn's time ÷ ours", target, at_least=True)
        yield row, partial(against_sklearn, options, row, n, relevant, least)
    row = Row("MAP, 300 queries x 1,000, R = 20", "pytrec_eval's time ÷ ours", 100, at_least=True)
    yield row, partial(against_pytrec_eval, options, row)
    for queries, items, judged, target, least in ((500, 1_000, 20, 10, 0.0), (500, 1_000, 100, 7, 0.0),
                                                  (1, 100, 20, 1, 0.02)):
        work = f"four measures of dicts, {queries} x {items:,}, {judged} judged"
        row = Row(work, "pytrec_eval's time ÷ the drop-in's", target, at_least=True)
        yield row, partial(drop_in, options, row, queries, items, judged, least)


def against_sklearn(options, row, n, relevant, least):
    if find_spec("sklearn") is None:
        row.note = "scikit-learn is not installed"
        return
    y, s = data.one_ranking("normal", options.size(n) if n > 1000 else n, options.size(relevant, 5))
    ours, theirs = partial(hc.average_precision, y, s), partial(peers.sklearn_one, y, s)
    right = partial(data.answer, y, s, "expected")
    against(options, row, ours, theirs, right, least=least, invert=True)


def against_pytrec_eval(options, row):
    if find_spec("pytrec_eval") is None:
        row.note = "pytrec_eval is not installed"
        return
    y, s = data.rows(300, 1_000, 20)
    theirs = partial(peers.pytrec_eval_many, *peers.trec_dicts(y, s))
    check(hc.mean_average_precision(y, s), theirs())
    against(options, row, partial(hc.mean_average_precision, y, s), theirs, invert=True, least=0.01)


def dicts(options):
    """Runs and judgments in dicts of dicts, as they are."""
    asked = ("map", "ndcg_cut.10", "P.10", "recip_rank")
    targets = {"distinct": 12, "sorted": 12, "two decimals": 8, "one decimal": 6}
    for judged, scores, target in (*((20, *pair) for pair in targets.items()), (100, "distinct", 7)):
        row = Row(f"evaluator, dicts of 500 x 1,000, {judged} judged, scores {peers.SCORES[scores]}",
                  "pytrec_eval's time ÷ ours", target, at_least=True)
        yield row, partial(against_trec_eval, options, row, asked, options.size(500, 2), 1_000, judged, scores)
    row = Row("evaluator, one query of 100 documents in dicts", "pytrec_eval's evaluate", 1.0)
    yield row, partial(against_trec_eval, options, row, asked, 1, 100, 10)
    row = Row("evaluate, one query of 100 documents in dicts", "pytrec_eval, made and run", 1.5)
    yield row, partial(against_trec_eval, options, row, asked, 1, 100, 10, kept=False)
    row = Row("parse of a name seen before", "a look-up in a dict", 10)
    names = {"ndcg_cut_10": parse("ndcg_cut_10")}
    yield row, partial(against, options, row, partial(parse, "ndcg_cut_10"), partial(names.get, "ndcg_cut_10"),
                       least=0.02, rounds=15)


def against_trec_eval(options, row, asked, queries, documents, judged, scores="distinct", kept=True):
    if find_spec("pytrec_eval") is None:
        row.note = "pytrec_eval is not installed"
        return
    from pytrec_eval import RelevanceEvaluator

    qrels, run = peers.parsed_dicts(queries, documents, judged, scores)
    ours, theirs = hc.Evaluator(qrels, asked), RelevanceEvaluator(qrels, set(asked))
    found, right = ours.evaluate(run), theirs.evaluate(run)
    for name in asked:
        theirs_name = name.replace(".", "_")
        if [found[q][name] for q in found] != [right[q][theirs_name] for q in found]:
            raise WrongAnswerError(f"WRONG: {name} differs from pytrec_eval's")
    calls = [partial(ours.evaluate, run), partial(theirs.evaluate, run)]
    if not kept:
        calls = [partial(hc.evaluate, qrels, run, asked), lambda: RelevanceEvaluator(qrels, set(asked)).evaluate(run)]
    against(options, row, *calls, least=0.02 if queries == 1 else 0.0, invert=row.at_least)


def drop_in(options, row, queries, items, judged, least):
    if find_spec("pytrec_eval") is None:
        row.note = "pytrec_eval is not installed"
        return
    import pytrec_eval

    from hitcurve.compat import pytrec_eval as compat

    qrels, run = peers.parsed_dicts(options.size(queries), items, judged, "distinct")
    measures = {"map", "ndcg_cut.10", "P.10", "recip_rank"}
    made = (module.RelevanceEvaluator(qrels, measures) for module in (pytrec_eval, compat))
    theirs, ours = (partial(evaluator.evaluate, run) for evaluator in made)
    if ours() != theirs():
        raise WrongAnswerError("WRONG: the drop-in's results are not pytrec_eval's")
    against(options, row, ours, theirs, least=least, invert=True)


PARTS = (
    one_ranking,
    adversaries,
    short_rankings,
    readings,
    many_queries,
    graded,
    sums_over_ranks,
    small_calls,
    workers,
    memory,
    imports,
    other_libraries,
    dicts,
)


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Measure the speed targets.")
    parser.add_argument("--quick", action="store_true", help="small inputs: that it runs, not how fast")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", help="only rows whose text contains this")
    given = parser.parse_args(arguments)
    options = Options(given.quick, given.rounds, given.only)
    print(f"hitcurve {hc.__version__}, numpy {version('numpy')}, {os.cpu_count()} cores")
    if options.quick:
        print("--quick: inputs are 500 times smaller than the rows say")
    print(f"{'work':<74} {'against':<34} {'target':<8} {'measured':>8}")
    missed = wrong = 0
    for part in PARTS:
        for row, fill in part(options):
            if options.only not in f"{row.work} {row.against}":
                continue
            try:
                fill()
            except WrongAnswerError as error:
                row.note = str(error)
                wrong += 1
            print(row, flush=True)
            missed += row.met is False
    return wrong if options.quick else wrong + missed


if __name__ == "__main__":
    sys.exit(main())
