"""The optional libraries that an example needs, by what stands in it: without them it is not run."""

import importlib.util
import re

NEEDS = {
    "matplotlib": r"\.plot\(|plot_(curves|evaluations|figure)\(|--plot ",
    "pandas": r"to_pandas\(|import pandas",
    "polars": r"to_polars\(",
    "pyarrow": r"import pyarrow|_parquet\(|^\$ hitcurve table ",
    "rdkit": r"^from rdkit",
    "sklearn": r"^from sklearn",
}


def missing(text: str) -> list[str]:
    return [name for name, use in NEEDS.items()
            if re.search(use, text, re.MULTILINE) and importlib.util.find_spec(name) is None]
