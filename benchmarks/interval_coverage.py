"""How often the 95 % intervals hold the true value, by simulation.

    python benchmarks/interval_coverage.py [--rankings N] [--resamples N] [--workers N] [--print]

Scores are normal, those of relevant items `SHIFT` higher, with R relevant among R/prevalence items. The true AP is the
area under precision over recall of the two distributions, an integral. A ranking is drawn as its table: the relevant
scores, and how many others fall between them. The table goes into docs/uncertainty.md; --print only prints it.
"""

import argparse
import math
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from time import perf_counter

import numpy as np
import report

import hitcurve as hc

SHIFT = 2.0
PREVALENCES = (0.001, 0.01, 0.1)
RELEVANT = (20, 100, 1000)
METHODS = ("AP logit", "AP percentile", "AP percentile, stratified", "AP BCa", "ROCAUC delong", "ROCAUC logit")
LEVEL = 0.95


def true_values(prevalence):
    """(AP, ROC AUC) of the population."""
    from scipy.integrate import quad
    from scipy.stats import norm

    def precision_and_density(x):
        found, wrong = prevalence * norm.sf(x, SHIFT), (1 - prevalence) * norm.sf(x)
        return found / (found + wrong) * norm.pdf(x, SHIFT)

    ap, error = quad(precision_and_density, SHIFT - 9, SHIFT + 9, limit=500, epsabs=1e-10)
    assert error < 1e-7
    return ap, float(norm.cdf(SHIFT / math.sqrt(2)))


def drawn_curve(relevant, others, rng):
    """One ranking. How many of the others fall between two relevant scores is multinomial."""
    from scipy.stats import norm

    score = np.sort(rng.normal(SHIFT, 1.0, relevant))[::-1]
    share = np.diff(np.concatenate([[0.0], norm.sf(score), [1.0]]))
    above = np.cumsum(rng.multinomial(others, share))[:-1] + np.arange(relevant)
    return hc.HitCurve.from_ranks(above + 1, num_items=relevant + others)


def intervals(curve, resamples, rng):
    """(low, high) of each method."""
    from hitcurve.measures import parse
    from hitcurve.statistics.intervals import acceleration_of, delete_one, quantiles

    drawn = curve.interval("AP", method="bootstrap", n_resamples=resamples, rng=rng, confidence_level=LEVEL)
    stratified = curve.interval("AP", method="bootstrap", n_resamples=resamples, rng=rng, stratified=True)
    parts = [np.concatenate(column) for column in zip(*delete_one(curve, parse("AP"), "expected"), strict=True)]
    corrected = quantiles(drawn.bootstrap_distribution, drawn.estimate, LEVEL, acceleration_of([tuple(parts)]))
    closed = [
        curve.interval(name, method=method).confidence_interval
        for name, method in (("AP", "logit"), ("ROCAUC", "delong"), ("ROCAUC", "logit"))
    ]
    return closed[0], drawn.confidence_interval, stratified.confidence_interval, corrected, *closed[1:]


def cell(prevalence, relevant, resamples, seeds):
    """For some rankings: AP, and whether each method's interval holds the truth."""
    truth = true_values(prevalence)
    others = round(relevant / prevalence) - relevant
    rows = []
    for seed in seeds:
        rng = np.random.default_rng([2013, relevant, round(1 / prevalence), seed])
        curve = drawn_curve(relevant, others, rng)
        found = intervals(curve, resamples, rng)
        right = [truth[1] if name.startswith("ROCAUC") else truth[0] for name in METHODS]
        rows.append(
            (
                curve.average_precision(),
                *(low <= value <= high for (low, high), value in zip(found, right, strict=True)),
            )
        )
    return np.array(rows, dtype=float)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rankings", type=int, default=2000, help="for each cell; a quarter of them at R = 1,000")
    parser.add_argument("--resamples", type=int, default=999)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--print", action="store_true", help="print the table, write nothing")
    given = parser.parse_args(arguments)
    begin = perf_counter()
    lines = [
        "| π | R | true AP | mean AP | " + " | ".join(METHODS) + " |",
        "| --: | --: | --: | --: |" + " --: |" * len(METHODS),
    ]
    with ProcessPoolExecutor(given.workers) as pool:
        for prevalence in PREVALENCES:
            for relevant in RELEVANT:
                count = max(1, given.rankings // 4 if relevant >= 1000 else given.rankings)
                work = partial(cell, prevalence, relevant, given.resamples)
                found = np.concatenate(list(pool.map(work, np.array_split(np.arange(count), 4 * given.workers))))
                held = " | ".join(f"{100 * share:.1f}" for share in found[:, 1:].mean(axis=0))
                truth = true_values(prevalence)[0]
                lines.append(f"| {prevalence} | {relevant:,} | {truth:.4f} | {found[:, 0].mean():.4f} | {held} |")
                print(lines[-1], flush=True)
    error = [100 * math.sqrt(LEVEL * (1 - LEVEL) / n) for n in (given.rankings, max(1, given.rankings // 4))]
    text = (
        f"Share, in %, of {100 * LEVEL:g} % intervals that hold the true value: {given.rankings:,} rankings a row "
        f"({given.rankings // 4:,} at R = 1,000), {given.resamples} resamples. A share of 95 has a standard error of "
        f"{error[0]:.1f} ({error[1]:.1f}). Scores are normal, those of the relevant items {SHIFT:g} standard "
        f"deviations higher (ROC AUC {true_values(0.5)[1]:.3f})."
    )
    if not given.print:
        report.put(report.ROOT / "docs" / "uncertainty.md", [text, "", *lines], "coverage")
    print(f"{text}\n{perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
