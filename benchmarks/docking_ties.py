"""What the usual tools say of real docking scores with ties, beside the bounds.

    python benchmarks/docking_ties.py [--data FOLDER] [--print]

The tables go into docs/screening.md; --print only prints them. Needs rdkit and scikit-learn.
"""

import argparse
import gzip
import sys
from pathlib import Path

import numpy as np
import report

import hitcurve as hc
from hitcurve.measures import parse

SETS = {
    "dud_egfr": "EGFR of DUD, docking energies",
    "hsp90_1uy9": "HSP90 (1UY9), docking energies",
    "pparg_vina": "PPARγ, AutoDock Vina",
    "muv_466_ecfp4": "MUV 466, similarity of fingerprints",
}
MEASURES = ("AP", "ROCAUC", "BEDROC(20)", "EF@0.5%", "EF@1%", "EF@2%", "EF@5%")


def scores(path):
    """Labels and scores, the higher the better."""
    with gzip.open(path, "rt") as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1)
    return table[:, 0].astype(int), table[:, 1]


def rdkit_of(order, y, s):
    """RDKit's numbers for the items in this order; it knows nothing of ties."""
    from rdkit.ML.Scoring import Scoring

    ranked = np.stack([s, y], axis=1)[order].tolist()
    shares = [0.005, 0.01, 0.02, 0.05]
    return [
        None,
        Scoring.CalcAUC(ranked, 1),
        Scoring.CalcBEDROC(ranked, 1, 20.0),
        *Scoring.CalcEnrichment(ranked, 1, shares),
    ]


def sklearn_of(y, s):
    from sklearn.metrics import average_precision_score, roc_auc_score

    return [average_precision_score(y, s), roc_auc_score(y, s)]


def script(y, s, reverse):
    """The few lines that many a script has: tuples of score and label sorted, hits counted down the list."""
    pairs = (
        sorted(zip(s.tolist(), y.tolist(), strict=True), reverse=True)
        if reverse
        else sorted(zip((-s).tolist(), y.tolist(), strict=True))
    )
    flags = [label for _, label in pairs]
    hits, precisions = 0, []
    for place, flag in enumerate(flags, 1):
        if flag:
            hits += 1
            precisions.append(hits / place)
    ef = [
        sum(flags[: int(n * len(flags))]) / int(n * len(flags)) / (sum(flags) / len(flags))
        for n in (0.005, 0.01, 0.02, 0.05)
    ]
    return [sum(precisions) / len(precisions), None, None, *ef]


def shown(value):
    return "" if value is None else f"{value:.4f}"


def main(arguments=None):
    here = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=here.parent / "shared" / "data")
    parser.add_argument("--print", action="store_true", help="print the tables, write nothing")
    given = parser.parse_args(arguments)
    folder = given.data / "score_dumps" / "data"
    if not folder.is_dir():
        sys.exit(f"no score_dumps in {given.data}: --data says where it is")
    text = []
    for name, title in SETS.items():
        y, s = scores(folder / f"{name}.csv.gz")
        curve = hc.HitCurve(y, s)
        ties = curve.tie_report()
        readings = [[parse(m)(curve, reading) for m in MEASURES] for reading in ("worst", "expected", "best")]
        others = [
            sklearn_of(y, s),
            rdkit_of(np.argsort(-s, kind="stable"), y, s),
            script(y, s, True),
            script(y, s, False),
        ]
        lines = [
            "| measure | worst | expected | best | scikit-learn | RDKit, in the order of the file | "
            "`sorted(..., reverse=True)` on (score, label) | `sorted(...)` on (energy, label) |",
            "| --- |" + " --: |" * 7,
        ]
        for i, measure in enumerate(MEASURES):
            cells = [
                *(column[i] for column in readings),
                *(column[i] if i < len(column) else None for column in others),
            ]
            lines.append(f"| {measure} | " + " | ".join(map(shown, cells)) + " |")
        text.append(
            f"**{title}**: {len(y):,} molecules, {int(y.sum())} active, {len(np.unique(s)):,} distinct scores; "
            f"{100 * ties.tied_share:.0f} % of the molecules are in a tie that holds an active, up to "
            f"{ties.largest_group} in a tie.\n\n" + "\n".join(lines)
        )
    print("\n\n".join(text))
    if not given.print:
        report.put(report.ROOT / "docs" / "screening.md", ["\n\n".join(text)], "ties")


if __name__ == "__main__":
    main()
