"""One line on standard error that says what is done, where somebody may be watching it."""

from __future__ import annotations

import sys
from contextlib import suppress
from time import monotonic
from typing import Any


class Progress:
    """A line that each text is written over; closed, it is gone. `wanted`: None for only if it is a terminal."""

    def __init__(self, wanted: bool | None = None) -> None:
        self.on = sys.stderr is not None and (sys.stderr.isatty() if wanted is None else wanted)
        self.width = 0
        self.drawn = -1.0

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        if self.width:
            self._write(" " * self.width + "\r")
            self.width = 0

    def due(self) -> bool:
        """Whether the last text stands long enough for one that comes often."""
        return self.on and monotonic() - self.drawn > 0.2

    def __call__(self, text: str) -> None:
        if self.on:
            self._write(text.ljust(self.width))
            self.width, self.drawn = len(text), monotonic()

    def _write(self, text: str) -> None:
        with suppress(OSError):  # a full device must not cost the numbers
            print(f"\r{text}", end="", file=sys.stderr, flush=True)
