"""The form of table 3 and figure 3 of Zhu (2004) on a public copy of the NCI anti-HIV screen.

    python benchmarks/hiv.py [--data FOLDER] [--out FOLDER] [--trees N]

Four classifiers learn from one half of the compounds and rank the other half; their average precision with intervals,
their paired differences and their hit curves are written as hiv.md and hiv.svg. Needs rdkit, scikit-learn, scipy and
matplotlib, about 3 GB of memory and some minutes.
"""

import argparse
import csv
import lzma
import sys
from pathlib import Path
from time import perf_counter

import numpy as np

import hitcurve as hc

BITS = 2048
SEED = 2004
NEIGHBOURS = 10


def compounds(folder):
    """Fingerprints (Morgan, radius 2), labels (active or moderately active), and how many structures were unreadable."""
    from rdkit import Chem, RDLogger
    from rdkit.Chem import rdFingerprintGenerator

    RDLogger.DisableLog("rdApp.*")
    make = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=BITS)
    prints, labels, unread = [], [], 0
    with lzma.open(folder / "hiv_screen" / "HIV.csv.xz", "rt", newline="") as file:
        for row in csv.DictReader(file):
            molecule = Chem.MolFromSmiles(row["smiles"])
            if molecule is None:
                unread += 1
                continue
            prints.append(make.GetFingerprintAsNumPy(molecule))
            labels.append(row["activity"] in ("CA", "CM"))
    return np.array(prints, np.uint8), np.array(labels), unread


def nearest_share(train, active, test):
    """Share of actives among the nearest neighbours by Tanimoto similarity (the first in the file where those tie)."""
    known = train.astype(np.float32)
    size = known.sum(axis=1)
    share = []
    for start in range(0, len(test), 2000):
        block = test[start : start + 2000].astype(np.float32)
        both = block @ known.T
        similarity = both / (size + block.sum(axis=1, keepdims=True) - both)
        nearest = np.argsort(-similarity, axis=1, kind="stable")[:, :NEIGHBOURS]
        share.append(active[nearest].mean(axis=1))
    return np.concatenate(share)


def support_vectors(train, active, test):
    """Margin of a support vector machine with Gaussian kernel, on 128 singular components of the fingerprints."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC

    reduced = TruncatedSVD(128, random_state=SEED)
    model = make_pipeline(reduced, SVC(C=10.0, gamma="scale", class_weight="balanced", cache_size=1500))
    return model.fit(train.astype(np.float32), active).decision_function(test.astype(np.float32))


def forest(train, active, test, trees):
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(trees, random_state=SEED, n_jobs=-1, class_weight="balanced_subsample")
    return model.fit(train, active).predict_proba(test)[:, 1]


def logistic(train, active, test):
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=0.1, max_iter=1000)
    return model.fit(csr_matrix(train, dtype=float), active).decision_function(csr_matrix(test, dtype=float))


def figure(curves, path):
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    colours = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")  # Okabe & Ito: told apart by colour-blind readers
    plt.rcParams.update({"svg.hashsalt": "hitcurve", "svg.fonttype": "none"})
    fig, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    first = next(iter(curves.values()))
    k = np.unique(np.concatenate([np.arange(0, 200, 8), np.arange(200, 2001, 25)]).clip(1))
    for (name, curve), colour, style in zip(
        curves.items(), colours, ("-", "--", "-.", (0, (4, 1, 1, 1, 1, 1))), strict=True
    ):
        worst, expected, best = (curve.hits_at(k, ties=ties) for ties in ("worst", "expected", "best"))
        ax.plot(k, expected, color=colour, linestyle=style, label=name, linewidth=1.6)
        if np.any(best > worst):
            ax.fill_between(k, worst, best, color=colour, alpha=0.2, linewidth=0)
    ax.plot(k, np.minimum(k, first.num_relevant), color="0.3", linewidth=0.8, label="ideal")
    ax.plot(k, k * first.prevalence, color="0.3", linewidth=0.8, linestyle=":", label="random order")
    ax.set(xlabel="compounds tested, best first", ylabel="active compounds found", xlim=(0, 2000))
    ax.set_ylim(0, 1.05 * max(curve.hits_at(2000, ties="best") for curve in curves.values()))
    ax.legend(frameon=False, fontsize=9)
    ax.spines[["top", "right"]].set_visible(False)
    fig.savefig(path, metadata={"Date": None})


def between(interval):
    return f"{interval.low:.4f} to {interval.high:.4f}"


def main(arguments=None):
    here = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=here.parent / "shared" / "data")
    parser.add_argument("--out", type=Path, default=here / "docs" / "_generated")
    parser.add_argument("--trees", type=int, default=500)
    given = parser.parse_args(arguments)
    if not (given.data / "hiv_screen").is_dir():
        sys.exit(f"no hiv_screen in {given.data}: --data says where it is")
    from sklearn.model_selection import train_test_split

    prints, active, unread = compounds(given.data)
    train, test = train_test_split(np.arange(len(active)), test_size=0.5, stratify=active, random_state=SEED)
    half = prints[train], active[train], prints[test]
    ways = {
        "support vector machine, Gaussian kernel": lambda: support_vectors(*half),
        "random forest": lambda: forest(*half, given.trees),
        "logistic regression": lambda: logistic(*half),
        f"{NEIGHBOURS} nearest neighbours": lambda: nearest_share(*half),
    }
    scores = {}
    for name, way in ways.items():
        start = perf_counter()
        scores[name] = way()
        print(f"{name}: {perf_counter() - start:.0f} s", file=sys.stderr)
    curves = {name: hc.HitCurve(active[test], score) for name, score in scores.items()}
    curves = dict(sorted(curves.items(), key=lambda item: -item[1].average_precision()))
    lines = [
        "| ranking by | AP | logit 95 % | bootstrap 95 % | AP, ties worst to best | ROC AUC | DeLong 95 % | EF 1 % |",
        "| --- | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for name, curve in curves.items():
        logit = curve.interval("AP").confidence_interval
        drawn = curve.interval("AP", method="bootstrap", rng=SEED).confidence_interval
        auc = curve.interval("ROCAUC")
        ties = curve.tie_report()
        spread = "no ties" if ties.worst == ties.best else f"{ties.worst:.4f} to {ties.best:.4f}"
        lines.append(
            f"| {name} | {ties.expected:.4f} | {between(logit)} | {between(drawn)} | {spread} | {auc.estimate:.4f} | "
            f"{between(auc.confidence_interval)} | {curve.enrichment_factor(0.01):.2f} |"
        )
    one = next(iter(curves.values()))
    compared = hc.compare(active[test], {name: scores[name] for name in curves}, rng=SEED)
    text = [
        f"{len(active):,} compounds ({unread} structures could not be read), {int(active.sum()):,} of them active (CA) "
        f"or moderately active (CM); {len(train):,} to learn from, {one.num_items:,} to rank, {one.num_relevant} active "
        f"among these. AP of a random order: {one.chance():.4f}.",
        "\n".join(lines),
        "The pairs, on the same resampled compounds:",
        compared.to_markdown().split("\n\n", 1)[1],
    ]
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "hiv.md").write_text("\n\n".join(text) + "\n", encoding="utf-8")
    figure(curves, given.out / "hiv.svg")
    print("\n\n".join(text))


if __name__ == "__main__":
    main()
