from functools import partial
from pathlib import Path

import measure as timing
import peers
import pytest


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="small inputs: that it runs, not how fast")


@pytest.fixture(scope="session")
def quick(request):
    return request.config.getoption("--quick")


@pytest.fixture
def measure(benchmark, quick):
    return partial(timing.measure, benchmark, quick)


def pytest_benchmark_update_machine_info(config, machine_info):
    """Into the JSON: how the suite was called, and what was installed."""
    words = [str(word) for word in config.invocation_params.args]
    words = [Path(word).name if Path(word).is_absolute() else word for word in words if "-json=" not in word]
    machine_info["command"] = " ".join(["pytest", *words])
    machine_info["versions"] = peers.versions()
