"""The README's picture: `python docs/picture.py` draws docs/hits.svg. Needs matplotlib and scikit-learn (its data)."""

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer

import hitcurve as hc

data = load_breast_cancer()
malignant, radius = data.target == 0, data.data[:, 0]
curves = {}
for name, score in {"radius as measured": radius, "radius to the nearest 5": 5 * np.round(radius / 5)}.items():
    curve = hc.HitCurve(malignant, score)
    report = curve.tie_report()
    worst, best = f"{report.worst:.2f}", f"{report.best:.2f}"
    curves[f"{name}: AP {worst if worst == best else f'{worst} to {best}'}"] = curve

# The same bytes from the same library: no date, and ids that do not change.
matplotlib.rcParams.update({"svg.hashsalt": "hitcurve", "svg.fonttype": "none", "font.family": "sans-serif"})
figure = Figure(figsize=(5.4, 3.4), layout="constrained")
axes = hc.plot_curves(curves, ax=figure.add_subplot())
axes.set(xlabel="tumours from the top", ylabel="malignant ones found")
axes.set_title("569 tumours, ranked by size; shaded: every order of equal sizes", fontsize=9.5)
axes.legend(loc="lower right", fontsize=8, frameon=False)
figure.savefig(Path(__file__).with_name("hits.svg"), metadata={"Date": None})
