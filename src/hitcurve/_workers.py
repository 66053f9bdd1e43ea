"""How many threads may count side by side: no more than this process has processors for."""
from __future__ import annotations

import os
import sys
from pathlib import PurePosixPath
from typing import Any

from hitcurve._checks import whole_number


def check_workers(workers: Any) -> int:
    """How many threads an argument `workers` stands for."""
    number = whole_number(workers, "workers")
    if number < 1 and number != -1:
        raise ValueError(f"workers is {number}: must be at least 1, or -1 for all cores")
    # More threads than cores would only wait for each other.
    return 1 if number == 1 else usable_cores() if number == -1 else min(number, cores())


def usable_cores() -> int:
    """What ``workers=-1`` stands for: the cores, or fewer where the surrounding program says so.

    joblib and dask set OMP_NUM_THREADS in their worker processes, so that the libraries in all of them together do not
    start more threads than there are cores; users set it for the same reason.
    """
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return min(cores(), max(1, int(wanted))) if wanted.isdecimal() else cores()


def cores() -> int:
    """Processors that this process may use: its affinity (or PYTHON_CPU_COUNT), and the quota of its control group."""
    if sys.version_info >= (3, 13):
        count = os.process_cpu_count() or 1
    elif hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    quota = cgroup_quota() if sys.platform == "linux" else None
    return count if quota is None else max(1, min(count, quota))


def cgroup_quota(root: str = "") -> int | None:
    """Whole processors of Linux's CPU quota, rounded up, the least of this process's control groups; None without one.

    Containers limit processors by it, and affinity does not show it. `root` is another root folder, for tests.
    """
    quotas = []
    for line in _read(f"{root}/proc/self/cgroup").splitlines():
        number, controllers, path = [*line.split(":", 2), "", ""][:3]
        if number == "0" and not controllers:
            version, base = 2, f"{root}/sys/fs/cgroup"
        elif "cpu" in controllers.split(","):
            version, base = 1, f"{root}/sys/fs/cgroup/cpu"
        else:
            continue
        # Each group on the way up may have a quota. In a container the path may be the host's, and the root is ours.
        at = PurePosixPath("/" + path.lstrip("/"))
        for folder in {str(at), *map(str, at.parents), "/"}:
            quotas += _quota(f"{base}{folder.rstrip('/')}", version)
    return min(quotas) if quotas else None


def _quota(folder: str, version: int) -> list[int]:
    if version == 2:
        words = _read(f"{folder}/cpu.max").split()
    else:
        words = [*_read(f"{folder}/cpu.cfs_quota_us").split(), *_read(f"{folder}/cpu.cfs_period_us").split()]
    try:
        quota, period = (int(word) for word in words)
    except ValueError:  # "max", -1 below, or no such file
        return []
    return [-(-quota // period)] if quota > 0 and period > 0 else []


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.read())  # a group's name is that of a folder: bytes of any kind
    except OSError:
        return ""
