"""The functions of rdkit.ML.Scoring.Scoring: ``from hitcurve.compat import rdkit_scoring as Scoring``.

As in RDKit, the rows are sorted, the best row first. The functions do not read the scores in the rows, so tied rows
keep their order.

>>> from hitcurve.compat import rdkit_scoring as Scoring
>>> rows = [[9.1, 1], [8.4, 0], [7.7, 1], [7.0, 1], [6.2, 0], [5.9, 0]]
>>> round(Scoring.CalcAUC(rows, 1), 4), round(Scoring.CalcBEDROC(rows, 1, 20.0), 4)
(0.7778, 0.9656)
>>> Scoring.CalcEnrichment(rows, 1, [0.1, 0.5])
[2.0, 1.3333333333333333]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hitcurve import HitCurve
from hitcurve.compat.rows import true_ranks

__all__ = ["CalcAUC", "CalcBEDROC", "CalcEnrichment", "CalcRIE", "CalcROC", "RocCurve"]


class RocCurve(NamedTuple):
    """The ROC curve after every row: the false positive rate and the true positive rate."""

    FPR: list[float]
    TPR: list[float]


def CalcROC(scores: Any, col: Any) -> RocCurve:
    """The ROC curve, with a point after every row.

    Parameters
    ----------
    scores : sequence of rows
        The rows, best first: a list of lists or tuples, or a two-dimensional array.
    col : int
        The column that is true for actives.

    Returns
    -------
    RocCurve
        The fields ``FPR`` and ``TPR`` are lists with a value for each row. ``FPR`` is all zeros if there are no
        inactives, and ``TPR`` is all zeros if there are no actives.

    Raises
    ------
    ValueError
        If there are no rows.
    IndexError
        If a row does not have the column.

    Examples
    --------
    >>> from hitcurve.compat.rdkit_scoring import CalcROC
    >>> CalcROC([[1], [0], [1], [0]], 0)
    RocCurve(FPR=[0.0, 0.5, 0.5, 1.0], TPR=[0.5, 0.5, 1.0, 1.0])
    """
    ranks = _active_ranks(scores, col)
    flags = np.zeros(len(scores), np.int64)
    flags[ranks - 1] = 1
    found = np.cumsum(flags), np.cumsum(1 - flags)
    tpr, fpr = ((hits / hits[-1] if hits[-1] else hits).tolist() for hits in found)
    return RocCurve(FPR=fpr, TPR=tpr)


def CalcAUC(scores: Any, col: Any) -> float:
    """The area under the ROC curve.

    Parameters
    ----------
    scores, col
        As in ``CalcROC``.

    Returns
    -------
    float
        0 if there are no actives or no inactives. ``HitCurve.roc_auc`` is NaN then.

    Raises
    ------
    ValueError, IndexError
        As for ``CalcROC``.

    Examples
    --------
    >>> from hitcurve.compat.rdkit_scoring import CalcAUC
    >>> CalcAUC([[1], [0], [1], [0]], 0)
    0.75
    """
    curve = _curve(scores, col)
    return float(curve.roc_auc()) if 0 < curve.num_hits < curve.num_items else 0.0


def CalcRIE(scores: Any, col: Any, alpha: Any) -> float:
    """The robust initial enhancement (Sheridan et al. 2001).

    Parameters
    ----------
    scores, col
        As in ``CalcROC``.
    alpha : float
        The weight of the top of the list, above 0.

    Returns
    -------
    float
        0 if there are no actives. ``HitCurve.rie`` is NaN then.

    Raises
    ------
    ValueError, IndexError
        As for ``CalcROC``. ValueError also if alpha is not above 0.

    Examples
    --------
    >>> from hitcurve.compat.rdkit_scoring import CalcRIE
    >>> round(CalcRIE([[1], [0], [1], [0]], 0, 20.0), 4)
    1.9866
    """
    curve = _early(scores, col, alpha)
    return float(curve.rie(float(alpha))) if curve.num_hits else 0.0


def CalcBEDROC(scores: Any, col: Any, alpha: Any) -> float:
    """The Boltzmann-enhanced discrimination of ROC (Truchon & Bayly 2007).

    Parameters
    ----------
    scores, col, alpha
        As in ``CalcRIE``.

    Returns
    -------
    float
        0 if there are no actives, and 1 if there are no inactives. ``HitCurve.bedroc`` is NaN then.

    Raises
    ------
    ValueError, IndexError
        As for ``CalcRIE``.

    Examples
    --------
    >>> from hitcurve.compat.rdkit_scoring import CalcBEDROC
    >>> round(CalcBEDROC([[1], [0], [1], [0]], 0, 20.0), 4)
    0.9934
    """
    curve = _early(scores, col, alpha)
    if 0 < curve.num_hits < curve.num_items:
        return float(curve.bedroc(float(alpha)))
    return 1.0 if curve.num_hits else 0.0


def CalcEnrichment(scores: Any, col: Any, fractions: Sequence[float]) -> list[float]:
    """The enrichment factors at fractions of the rows.

    Parameters
    ----------
    scores, col
        As in ``CalcROC``.
    fractions : sequence of float
        The fractions, ascending, each in [0, 1].

    Returns
    -------
    list of float
        The enrichment factors at the ranks ceil(N * fraction). N * fraction is computed in floats: 0.07 of 100 rows is
        rank 8. Each rank is greater than the rank before. The values end at the first fraction that reaches the last
        row. Without actives all values are 0. ``HitCurve.enrichment_factor`` has none of these rules.

    Raises
    ------
    ValueError, IndexError
        As for ``CalcROC``. ValueError also if there are no fractions, or if a fraction is outside [0, 1].

    Examples
    --------
    >>> from hitcurve.compat.rdkit_scoring import CalcEnrichment
    >>> CalcEnrichment([[1], [0], [1], [0]], 0, [0.25, 0.75])
    [2.0, 1.3333333333333333]
    """
    num_rows = len(scores)
    if num_rows and len(fractions) == 0:
        raise ValueError("fraction list is empty")
    if num_rows and any(fraction > 1 or fraction < 0 for fraction in fractions):
        raise ValueError("fractions must be between [0,1]")
    ranks: list[int] = []
    for rank in [math.ceil(num_rows * fraction) for fraction in fractions]:
        ranks.append(max(rank, ranks[-1] + 1 if ranks else 1))
    curve = _curve(scores, col)
    if not curve.num_hits:
        return [0.0] * len(ranks)
    return [float(curve.enrichment_factor(k=rank)) for rank in ranks if rank < num_rows]


def _active_ranks(scores: Any, col: Any) -> Any:
    """The ranks of the rows whose column is true, from 1."""
    if len(scores) == 0:
        raise ValueError("score list is empty")
    if type(scores) is np.ndarray and scores.ndim == 2 and scores.dtype.kind in "biufc":
        return np.flatnonzero(scores[:, col]) + 1
    return true_ranks(scores, col)


def _curve(scores: Any, col: Any) -> HitCurve:
    return HitCurve.from_ranks(_active_ranks(scores, col), num_items=len(scores))


def _early(scores: Any, col: Any, alpha: Any) -> HitCurve:
    """The curve, if alpha can weigh it."""
    alpha = float(alpha)
    if len(scores) and alpha <= 0.0:
        raise ValueError("alpha must be greater than zero")
    return _curve(scores, col)
