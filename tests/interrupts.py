"""Calls that a signal interrupts, here or in a process of their own."""

import contextlib
import gc
import signal
import subprocess
import sys
import textwrap

import pytest

with_timer = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that sends signals")


@contextlib.contextmanager
def interrupted_after(seconds):
    """A signal raises KeyboardInterrupt after so many seconds.

    The garbage collector rests meanwhile: hypothesis has a callback in it, and what a handler raises there is lost.
    """

    def stop(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    gc.disable()
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        gc.enable()
        signal.signal(signal.SIGALRM, before)


_TIMED = """
import signal, time
import numpy as np
import hitcurve as hc

class Late(Exception):
    pass

def late(*_):
    raise Late

signal.signal(signal.SIGALRM, late)
{prepare}
for call in {calls}:
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    start = time.perf_counter()
    try:
        call()
    except Late:
        print(time.perf_counter() - start)
{then}
"""


def interrupted(prepare, *calls, then=""):
    """Runs each call, of which all go on for long, until a signal comes after 0.05 s: what it raises ends the call."""
    prepare, then = (textwrap.dedent(code) for code in (prepare, then))
    listed = "[" + ", ".join(f"lambda: {call}" for call in calls) + "]"
    code = _TIMED.format(prepare=prepare, calls=listed, then=then)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    times = [float(line) for line in done.stdout.split()]
    assert len(times) == len(calls), done.stderr
    assert all(0.04 < time < 5 for time in times), times
