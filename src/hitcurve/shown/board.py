"""The table of a paper: a row for each system, a column for each measure, the best values marked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from hitcurve.measures import Definition, parse
from hitcurve.shown.grid import Grid, Marked, number

__all__ = ["Tested", "best_first", "board", "printed_digits", "ranged", "record_of", "says_how_good", "together"]


class Tested(NamedTuple):
    """Which differences are significant."""

    letters: tuple[str, ...]  # a letter for each system, if every pair is compared
    marks: dict[tuple[str, str], tuple[str, ...]]  # by measure and system
    said: str


def together(tested: Sequence[Tested]) -> Tested:
    """The marks of several comparisons of the same systems."""
    keys = dict.fromkeys(key for one in tested for key in one.marks)
    marks = {key: tuple(mark for one in tested for mark in one.marks.get(key, ())) for key in keys}
    letters = next((one.letters for one in tested if one.letters), ())
    return Tested(letters, marks, " ".join(one.said for one in tested))


_LEAST_RANGE = 4  # so many successive letters are written as a range


def ranged(places: Iterable[int], letters: Sequence[str]) -> tuple[str, ...]:
    """The letters at rising places. Four or more successive letters become the first, "–" and the last."""
    found: list[list[int]] = []
    for place in places:
        if found and place == found[-1][-1] + 1:
            found[-1].append(place)
        else:
            found.append([place])
    single = all(len(letter) == 1 for letter in letters)
    cells = [letter for run in found for letter in (
        [f"{letters[run[0]]}–{letters[run[-1]]}"] if len(run) >= _LEAST_RANGE else [letters[at] for at in run])]
    return tuple(cells) if single else tuple(f"{one}," for one in cells)


def record_of(name: str) -> Definition | None:
    """The record of a measure. None for an unknown name, which the caller gave to values in arrays."""
    for text in (name, name.replace(".", "_")):  # names as trec_eval takes them, and as it prints them
        try:
            return parse(text).record
        except ValueError:
            continue
    return None


def printed_digits(record: Definition | None, digits: int = 4) -> int:
    """The number of decimals of a measure. Counts have no decimals."""
    return 0 if record is not None and record.mean == "sum" else digits


def says_how_good(record: Definition | None) -> bool:
    """Whether the measure says which system is best. Counts and Judged do not."""
    return record is None or not (record.mean == "sum" or record.name == "Judged")


def best_first(means: Sequence[float], record: Definition | None) -> list[int]:
    """The places of the means of a measure, best first. Equal means keep their order, and NaN comes last."""
    sign = 1 if record is not None and record.lower_is_better else -1
    return sorted(range(len(means)), key=lambda at: (True, 0.0) if math.isnan(means[at]) else (False, sign * means[at]))


def board(systems: Sequence[str], means: Sequence[Mapping[str, float]], *, digits: int = 4,
          found: Tested | None = None, names: Mapping[str, str] | None = None, head: str = "system",
          foot: Iterable[str] = (), caption: str = "", label: str = "") -> Grid:  # fmt: skip
    """The table of the means of each system.

    `names`: the names of the records, for measures with other names. Values that are printed alike count as equal.
    """
    measures = list(dict.fromkeys(measure for row in means for measure in row))
    columns, less, marked = [], [], False
    for measure in measures:
        record = record_of((names or {}).get(measure, measure))
        places = printed_digits(record, digits)
        values = [row.get(measure, math.nan) for row in means]
        cells = [number(value, digits=places) for value in values]
        known = [float(cell) for cell in cells if cell != "-"]
        lower = record is not None and record.lower_is_better
        best, next_best = [*sorted(set(known), reverse=not lower), None, None][:2]
        says = says_how_good(record)
        if len(known) < 2 or not says:
            best = next_best = None
        if lower and says and len(systems) > 1:
            less.append(measure)
        marked |= best is not None
        column = [measure]
        for system, cell in zip(systems, cells, strict=True):
            value = None if cell == "-" else float(cell)
            above = found.marks.get((measure, system), ()) if found is not None else ()
            bold = value is not None and value == best
            under = len(systems) > 2 and value is not None and value == next_best
            column.append(Marked(cell, bold=bold, under=under, above=above))
        columns.append(column)
    lead = [[head, *systems]]
    if found is not None and found.letters:
        lead.insert(0, ["#", *found.letters])
    said: list[tuple[str, ...]] = [(one,) for one in foot]
    if marked:
        second = (" and ", Marked("second best", under=True)) if len(systems) > 2 else ()
        said.append((Marked("Best", bold=True), *second, " value of each measure."))
    if less:
        said.append((f"The least value is the best: {', '.join(less)}.",))
    if found is not None:
        said.append((found.said,))
    line = tuple(part for one in said for part in (" ", *one))[1:]
    rows = [list(row) for row in zip(*lead, *columns, strict=True)]
    return Grid(rows, len(lead), foot=(line,) if line else (), caption=caption, label=label)
