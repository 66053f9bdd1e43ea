"""Progress on standard error, in a terminal or a notebook."""

from __future__ import annotations

import os
import sys
from _thread import allocate_lock, get_ident  # threading takes longer to import
from contextlib import suppress
from time import monotonic
from typing import Any

from hitcurve._base.words import many
from hitcurve.shown.grid import one_line


def _notebook_bar() -> Any:
    """The class of tqdm's bars, in a notebook where tqdm is installed. Otherwise None."""
    shell = sys.modules.get("IPython")
    if shell is None or "IPKernelApp" not in getattr(shell.get_ipython(), "config", ()):
        return None
    from importlib import import_module
    from warnings import catch_warnings, simplefilter

    with suppress(ImportError), catch_warnings():
        simplefilter("ignore")  # tqdm warns in a notebook without widgets, where its bar is text
        return import_module("tqdm.auto").tqdm
    return None


class Progress:
    """A line of progress in a terminal, or a bar of tqdm in a notebook. It disappears at the end.

    `begin` starts a task of `total` units. `add` and `reach` count the units that are done, and show the progress now
    and then, as `draw` does. A call shows a text. `wanted`: whether to show progress. None: only if standard error is a
    terminal.
    """

    def __init__(self, wanted: bool | None = None) -> None:
        terminal = sys.stderr is not None and sys.stderr.isatty()
        self.on = terminal if wanted is None else wanted and sys.stderr is not None
        self.width, self.drawn = 0, -1.0
        self.columns = sys.maxsize
        if terminal:
            with suppress(OSError, ValueError):  # the terminal has no size
                self.columns = (os.get_terminal_size(sys.stderr.fileno()).columns or 80) - 1
        self.bar_class = _notebook_bar() if self.on and not terminal else None
        self.bar: Any = None
        self.lock, self.thread = allocate_lock(), get_ident()  # only this thread draws bars
        self.begin("")

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self._close(error[:1] in ((), (None,)))
            self.on = False  # threads may still run after Ctrl-C
            if self.width:
                self._write(" " * self.width + "\r")
                self.width = 0

    def begin(self, what: str, total: int | None = None, unit: str = "", guessed: bool = False) -> None:
        """Start a task. `total`: its number of units, or None if unknown. `guessed`: whether `total` is an estimate."""
        self._close()
        self.what, self.total, self.unit, self.guessed = what, total, unit, guessed
        self.done, self.began = 0, monotonic()

    def add(self, more: int) -> None:
        """Count `more` units as done. Any thread may call this method."""
        with self.lock:
            self.done += more
            if self.bar_class is None or get_ident() == self.thread:
                self._draw()

    def reach(self, done: int) -> None:
        """Set the number of units that are done."""
        self.done = done
        self.draw()

    def draw(self) -> None:
        with self.lock:  # without the lock, two threads could mix their lines
            self._draw()

    def _draw(self) -> None:
        passed = monotonic() - self.began
        if passed < 0.2 or not self.due():
            return
        if self.bar_class is None:
            self(self._line(passed))
            return
        if self.bar is None:
            unit = f" {self.unit}"
            self.bar = self.bar_class(total=self.total or None, desc=self.what, unit=unit, unit_scale=True, leave=False)
        self.bar.update(self.done - self.bar.n)
        self.drawn = monotonic()

    def _line(self, passed: float) -> str:
        speed = self.done / passed
        pace = f", {speed / 1e6:.1f} million a second" if speed > 10_000 else ""
        if not self.total:
            return f"{self.what}: {many(self.done, self.unit, ',')}{pace}"
        most = 99 if self.guessed else 100
        line = f"{self.what}: {min(100 * self.done // self.total, most)} %, "
        if speed:
            left = round(max(self.total - self.done, 0) / speed)
            line += f"{left // 60}:{left % 60:02d} left, "
        return f"{line}of {'about ' * self.guessed}{many(self.total, self.unit, ',')}{pace}"

    def due(self) -> bool:
        """Whether enough time has passed since the last text."""
        return self.on and monotonic() - self.drawn > 0.2

    def __call__(self, text: str) -> None:
        if self.on:
            text = one_line(text)[: self.columns]
            self._write(text.ljust(self.width))
            self.width, self.drawn = len(text), monotonic()

    def _close(self, all_done: bool = True) -> None:
        if self.bar is not None:
            if all_done:  # a notebook shows a bar red that ends below its total
                self.done = self.done if self.guessed or not self.total else self.total
                self.bar.total = self.done
                self.bar.update(self.done - self.bar.n)
            self.bar.close()
            self.bar = None

    def _write(self, text: str) -> None:
        with suppress(OSError):  # a full disk must not stop the computation
            print(f"\r{text}", end="", file=sys.stderr, flush=True)
