"""`hitcurve.compat.rdkit_scoring` under the name of the library: ``from hitcurve.compat.rdkit import Scoring``.

>>> from hitcurve.compat.rdkit import Scoring  # was: from rdkit.ML.Scoring import Scoring
>>> Scoring.CalcAUC([[0.9, 1], [0.5, 0], [0.1, 1]], 1)
0.5
"""

from hitcurve.compat import rdkit_scoring as Scoring
from hitcurve.compat.rdkit_scoring import CalcAUC, CalcBEDROC, CalcEnrichment, CalcRIE, CalcROC, RocCurve

__all__ = ["CalcAUC", "CalcBEDROC", "CalcEnrichment", "CalcRIE", "CalcROC", "RocCurve", "Scoring"]
