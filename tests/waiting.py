"""Time for tests: a clock that they set, and a wait for what another process does. No test rests on a sleep."""

import time

from hitcurve.shown import progress as _progress


class Clock:
    """Time that passes by the word."""

    def __init__(self, monkeypatch):
        self.now = 100.0
        monkeypatch.setattr(_progress, "monotonic", lambda: self.now)


def until(condition, what, seconds=60):
    """Returns when the condition holds, asked again and again: for what sends no event. An error after the seconds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.01)


class Announced:
    """A lock that calls `announce` when a thread has to wait for it."""

    def __init__(self, lock, announce):
        self.lock, self.announce = lock, announce

    def __enter__(self):
        if not self.lock.acquire(blocking=False):
            self.announce()
            self.lock.acquire()

    def __exit__(self, *_):
        self.lock.release()
