"""Words that depend on a count, for errors and reports."""
from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

TAKEN = "columns found by their names: "  # begins the note that says which columns were taken
_PARTS = re.compile(r"[_\W]+|(?<=[a-z])(?=[A-Z])")
_TARGETS = ("target", "targets", "pdb", "pdbid", "uniprot", "uniprotid")
_NO_PLURAL = ("ss", "us", "is", "ies", "x", "z", "ch", "sh")  # the end of a word that does not take a plain s
_LONGEST = 30


def many(count: Any, unit: str, form: str = "") -> str:
    """A count with its unit: "1 query", "2 queries". `unit` is a plural."""
    return f"{count:{form}} {singular(unit) if count == 1 else unit}"


def singular(unit: str) -> str:
    return f"{unit[:-3]}y" if unit.endswith("ies") else unit[:-1]


def are(count: Any) -> str:
    """The verb after a count: "is" or "are"."""
    return "is" if count == 1 else "are"


def unit_of(column: str) -> str:
    """What a column of groups holds, as a plural: "targets" for "target_id". "groups" if there is no plain plural."""
    words = [one.lower() for one in _PARTS.split(column) if one]
    if "".join(words) in _TARGETS:
        return "targets"
    while len(words) > 1 and words[-1] in ("id", "ids", "name", "names"):
        del words[-1]
    last = words[-1] if words else ""
    if last in ("qid", "query", "queries"):
        last = "query"
    plain = all(one.isascii() and one.isalpha() for one in words) and len(" ".join(words)) <= _LONGEST
    if not plain or len(last) < 3 or not set(last) & set("aeiouy") or last.endswith(_NO_PLURAL):
        return "groups"
    if not last.endswith("s"):
        last = f"{last[:-1]}ies" if last.endswith("y") and last[-2] not in "aeiou" else f"{last}s"
    unit = " ".join([*words[:-1], last])
    return "groups" if unit == "items" else unit  # items are what groups hold


def meant(name: Any, names: Iterable[str]) -> str:
    """A question with the names that are similar to a wrong name, "did you mean 'a'? ". Empty if there are none."""
    alike = _alike(name, names)
    return f"did you mean {' or '.join(alike)}? " if alike else ""


def near(name: Any, names: Iterable[Any]) -> str:
    """The end of a message about an unknown name, "; near names: 'a'". Empty if no name is similar."""
    alike = _alike(name, names)
    return f"; near names: {', '.join(alike)}" if alike else ""


def _alike(name: Any, names: Iterable[Any]) -> list[str]:
    from difflib import get_close_matches

    known: dict[str, list[str]] = {}
    for one in names:
        known.setdefault(str(one).casefold(), []).append(repr(one))
    return [one for key in get_close_matches(str(name).casefold(), known, n=3) for one in known[key]][:3]
