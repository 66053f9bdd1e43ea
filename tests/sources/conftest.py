import numpy as np
import pytest
from blocks import N


@pytest.fixture(scope="session")
def items():
    rng = np.random.default_rng(7)
    y = rng.random(N) < 0.1
    s = (rng.standard_normal(N) + y).astype(np.float32).round(2)
    return y, s, rng.integers(0, 300, N)
