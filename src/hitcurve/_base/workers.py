"""Calls in several threads, at most as many as this process has cores."""
from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from operator import length_hint
from typing import Any, TypeVar

from hitcurve._base.checks import whole_number

Item = TypeVar("Item")
Result = TypeVar("Result")


def check_workers(workers: Any) -> int:
    """The number of threads for an argument `workers`."""
    number = whole_number(workers, "workers")
    if number < 1 and number != -1:
        raise ValueError(f"workers is {number}: must be at least 1, or -1 for all cores")
    # More threads than cores would only wait for each other.
    return 1 if number == 1 else usable_cores() if number == -1 else min(number, cores())


def usable_cores() -> int:
    """The number of threads for ``workers=-1``: all cores, but not more than OMP_NUM_THREADS.

    joblib and dask set OMP_NUM_THREADS in their worker processes, so that all processes together do not start more
    threads than there are cores. Users set OMP_NUM_THREADS for the same reason.
    """
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return min(cores(), max(1, int(wanted))) if wanted.isdecimal() else cores()


def cores() -> int:
    """The number of cores for this process: its CPU affinity (or PYTHON_CPU_COUNT), limited by its control group."""
    if sys.version_info >= (3, 13):
        count = os.process_cpu_count() or 1
    elif hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    quota = cgroup_quota() if sys.platform == "linux" else None
    return count if quota is None else max(1, min(count, quota))


def cgroup_quota(root: str = "") -> int | None:
    """The least CPU quota of this process's control groups on Linux, in cores, rounded up. None without a quota.

    Containers limit cores by a quota, which the CPU affinity does not show. `root` is another root folder, for tests.
    """
    quotas = []
    for line in _read(f"{root}/proc/self/cgroup").splitlines():
        number, controllers, path = [*line.split(":", 2), "", ""][:3]
        if number == "0" and not controllers:
            base, files = f"{root}/sys/fs/cgroup", ["cpu.max"]
        elif "cpu" in controllers.split(","):
            base, files = f"{root}/sys/fs/cgroup/cpu", ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
        else:
            continue
        # Each parent group may have a quota. In a container the path may be the host's; the root is the container's.
        at = path.strip("/").split("/")
        for folder in {"/" + "/".join(at[:depth]) for depth in range(len(at) + 1)}:
            words = " ".join(_read(f"{base}{folder.rstrip('/')}/{name}") for name in files).split()
            with suppress(ValueError):  # "max", or no such file
                quota, period = map(int, words)
                if quota > 0 and period > 0:  # -1: no quota
                    quotas.append(-(-quota // period))
    return min(quotas, default=None)


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.read())  # the name of a group may hold any bytes
    except OSError:
        return ""


def in_threads(function: Callable[[Item], Result], items: Iterable[Item], workers: int, *, ahead: int | None = None,
               cancel: Callable[[], object] = lambda: None, idle: Callable[[], object] = lambda: None,
               patience: float | None = 1.0) -> Iterator[Result]:  # fmt: skip
    """The results of function(item), in the order of the items, computed by up to `workers` threads at once.

    With one worker the caller's thread does the work. Items are taken in the caller's thread: some sources work in one
    thread only, and Ctrl-C interrupts a source that waits. If calls fail, the error of the first such item is raised,
    and no further item is taken.

    ahead : the number of items that are taken before the first result is returned. Default: one for each free worker.
    cancel : called after an error or Ctrl-C, when the results of running calls are no longer needed.
    idle : called after each item, and five times a second while the caller's thread waits.
    patience : seconds to wait at the end for calls that still run. None waits until they end, even after Ctrl-C, for
        calls that use memory of the caller.
    """
    source = iter(items)
    close = getattr(source, "close", lambda: None)
    workers = min(workers, length_hint(items, workers))
    if workers <= 1:
        try:
            for item in source:
                yield function(item)
                idle()
        finally:
            close()
        return
    calls = _Calls(function, workers)
    try:
        yield from calls.results(source, ahead, idle)
    except BaseException:
        cancel()
        raise
    finally:
        try:
            calls.end(patience)
        finally:
            close()


class _Calls:
    """The threads of one call of `in_threads`, their queue of items, and their results."""

    def __init__(self, function: Callable[[Any], Any], workers: int) -> None:
        from queue import SimpleQueue

        self.function, self.workers = function, workers
        # Not semaphores: after an interrupt, other threads may wait for a semaphore's lock for ever.
        self.todo: SimpleQueue[tuple[int, Any]] = SimpleQueue()
        self.done: SimpleQueue[tuple[int, Any, BaseException | None]] = SimpleQueue()
        self.over: SimpleQueue[None] = SimpleQueue()
        self.made: dict[int, tuple[Any, BaseException | None]] = {}
        self.threads: list[Any] = []  # the threads that have started
        self.stopped = False

    def _one(self, at: int, item: Any) -> bool:
        if at < 0 or self.stopped:
            self.todo.put((-1, None))  # the next thread ends too, even a thread whose start was interrupted
            return False
        try:
            self.done.put((at, self.function(item), None))
        except BaseException as error:
            self.done.put((at, None, error))
        return True

    def _work(self) -> None:
        try:
            while self._one(*self.todo.get()):
                pass
        finally:
            self.over.put(None)

    def _start(self) -> None:
        from threading import Thread

        try:
            while len(self.threads) < self.workers:
                thread = Thread(target=self._work, daemon=True)
                thread.start()
                self.threads.append(thread)
        except RuntimeError:  # such as a lack of memory
            self.workers = len(self.threads)

    def results(self, source: Iterator[Any], ahead: int | None, idle: Callable[[], object]) -> Iterator[Any]:
        from queue import Empty

        taken = ended = given = 0
        more = True
        while more or given < taken:
            if more and taken - (ended if ahead is None else given) < (ahead or self.workers or 1):
                try:
                    item = next(source)
                except Exception as error:
                    more = False
                    if not isinstance(error, StopIteration):
                        self.made[taken] = None, error
                        taken, ended = taken + 1, ended + 1
                    continue
                self._start()
                self.todo.put((taken, item))
                del item  # only the worker holds it now
                if not self.workers:
                    self._one(*self.todo.get())
                taken += 1
                idle()
            elif given in self.made:
                result, failed = self.made.pop(given)
                if failed is not None:
                    try:
                        raise failed
                    finally:
                        del failed  # no reference cycle, which would keep the data of the calls
                given += 1
                yield result
                del result
            else:
                try:
                    at, result, failed = self.done.get(timeout=0.2)
                except Empty:
                    idle()
                    continue
                self.made[at] = result, failed
                more = more and failed is None
                ended += 1
                del result, failed

    def end(self, patience: float | None) -> None:
        """Waits for the calls that still run. An interrupt is raised only at the end."""
        from queue import Empty
        from time import monotonic

        self.stopped = True
        self.made.clear()
        self.todo.put((-1, None))
        # Not only Thread.join: before Python 3.13, an interrupted join takes a running thread for dead.
        until, left, interrupt = monotonic() + (patience or 0.0), len(self.threads), None
        while left and (patience is None or monotonic() < until):
            try:
                self.over.get(timeout=0.2)
                left -= 1
            except Empty:
                pass
            except KeyboardInterrupt as error:
                interrupt = error
                until = 0.0
        for thread in self.threads if not left else ():
            thread.join(0.2)
        if interrupt is not None:
            raise interrupt
