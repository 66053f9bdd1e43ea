"""What a screen loses if compounds without a score rank last, instead of being left out.

    python benchmarks/docking_failures.py [--data FOLDER] [--print]

The table goes into docs/screening.md; --print only prints it. The scores are real. The failures are made: either the
compounds of more than 60 heavy atoms, which many docking programs refuse, or 4 % of all compounds at random.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import report
from docking_ties import scores

import hitcurve as hc
from hitcurve.measures import parse

MEASURES = ("AP", "ROCAUC", "BEDROC(20)", "EF@1%", "logAUC")


def screens(folder):
    """(title, labels, scores, which compounds failed)."""
    hiv = np.load(folder / "hiv_screen" / "hiv_scores.npz")
    y = hiv["label"].astype(int)
    large = hiv["heavy_atom_count"] > 60
    yield "NCI HIV screen, logistic regression", "more than 60 heavy atoms", y, hiv["logreg_margin"], large
    yield "NCI HIV screen, similarity to 10 actives", "more than 60 heavy atoms", y, hiv["ecfp4_max10"], large
    for name, title in (("dud_egfr", "EGFR of DUD, docking energies"), ("pparg_vina", "PPARγ, AutoDock Vina")):
        y, s = scores(folder / "score_dumps" / "data" / f"{name}.csv.gz")
        chosen = np.random.default_rng(1).permutation(len(y))[: round(0.04 * len(y))]
        yield title, "4 % at random", y, s, np.isin(np.arange(len(y)), chosen)


def main(arguments=None):
    here = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=here.parent / "shared" / "data")
    parser.add_argument("--print", action="store_true", help="print the table, write nothing")
    given = parser.parse_args(arguments)
    if not (given.data / "hiv_screen").is_dir():
        sys.exit(f"no hiv_screen in {given.data}: --data says where it is")
    lines = [f"| screen | without a row | | {' | '.join(MEASURES)} |", "| --- | --- | --- |" + " --: |" * len(MEASURES)]
    for title, why, y, s, failed in screens(given.data):
        short = hc.HitCurve(y[~failed], s[~failed])
        whole = hc.scan((y[~failed], s[~failed]), library=len(y), num_actives=int(y.sum()))
        assert whole == hc.HitCurve(y, np.where(failed, np.nan, s), nan_policy="worst")
        without, last = ([parse(one)(curve, "expected") for one in MEASURES] for curve in (short, whole))
        gone = f"{why}: {y[failed].sum():,} of {y.sum():,} actives, {(failed & (y == 0)).sum():,} decoys"
        for head, values in (
            ((title, gone, "left out"), [f"{value:.4f}" for value in without]),
            (("", "", "ranked last"), [f"{value:.4f}" for value in last]),
            (("", "", "too good by"), [f"{100 * (a / b - 1):.1f} %" for a, b in zip(without, last, strict=True)]),
        ):
            lines.append(f"| {' | '.join([*head, *values])} |")
    print("\n".join(lines))
    if not given.print:
        report.put(report.ROOT / "docs" / "screening.md", ["\n".join(lines)], "failed")


if __name__ == "__main__":
    main()
