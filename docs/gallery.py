"""The pictures of the gallery: its examples write them while they are run, once, into a folder that stays."""

import sys
from pathlib import Path

import run

FOLDER = Path(__file__).resolve().parent / "_made" / "gallery"


def failures(name: str, text: str) -> list[str]:
    """`run.failures`; what the gallery writes stays, and each of its pictures is a figure of its own."""
    if name != "gallery":
        return run.failures(name, text)
    FOLDER.mkdir(parents=True, exist_ok=True)
    pyplot = sys.modules.pop("matplotlib.pyplot", None)  # where another page has loaded it, plots go to its axes
    try:
        return run.failures(name, text, FOLDER)
    finally:
        if pyplot is not None:
            sys.modules["matplotlib.pyplot"] = pyplot
