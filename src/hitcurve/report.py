"""Measures as text: aligned lines for people, CSV and JSON for programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from hitcurve.measures import Measure, parse

if TYPE_CHECKING:
    from hitcurve import HitCurve, HitCurves

__all__ = ["REPORTED", "Values", "measured", "report", "reported", "values"]

REPORTED = ("AP", "AP(norm=min)@10", "AP(norm=min)@100", "EF@1%", "BEDROC(20)", "ROCAUC", "Chance")
# Beside the expected value the range it is the middle of, then scikit-learn's reading.
_READINGS = ("expected", "worst", "best", "threshold")
_NOTES = {
    "AP": "average precision",
    "AP(norm=min)@10": "AP of the first 10 items",
    "AP(norm=min)@100": "AP of the first 100 items",
    "EF@1%": "hits in the first 1 %, over chance",
    "BEDROC(20)": "early recognition, 0 to 1",
    "ROCAUC": "area under the ROC curve",
    "Chance": "AP of a random order",
}
_LEGEND = (
    "expected: mean over all orders of tied items. worst, best: relevant items last, first.",
    "threshold: a tie counts as one step; AP is then scikit-learn's average_precision_score.",
)


class Values(NamedTuple):
    """Measures of one ranking or of many, one entry a ranking; `names` is None for a single one."""

    names: list[Any] | None
    items: list[int]
    relevant: list[int]
    measures: list[str]
    columns: list[list[float]]
    """One list a measure."""

    @property
    def kept(self) -> list[int]:
        """The rankings that count in a mean: those with a relevant item."""
        return [at for at, relevant in enumerate(self.relevant) if relevant > 0]

    def mean(self, column: Sequence[float]) -> float:
        """The mean over the rankings with a relevant item and a defined value; nan if there is none."""
        defined = [column[at] for at in self.kept if not math.isnan(column[at])]
        return math.fsum(defined) / len(defined) if defined else math.nan

    def left_out(self) -> list[str]:
        """What the means leave out, in sentences."""
        if self.names is None:
            return []
        sentences = []
        total = len(self.relevant)
        if len(self.kept) < total:
            sentences.append(
                f"Groups without a relevant item: {total - len(self.kept):,} of {total:,}, left out of the means."
            )
        for name, column in zip(self.measures, self.columns, strict=True):
            undefined = sum(math.isnan(column[at]) for at in self.kept)
            if undefined:
                sentences.append(f"Groups where {name} is undefined: {undefined:,}, left out of its mean.")
        return sentences


def values(
    curves: HitCurve | HitCurves, measures: Sequence[Measure], ties: str = "expected", names: list[Any] | None = None
) -> Values:
    """Read `measures` off one curve or, with the `names` of the rankings, off many."""
    return Values(
        names,
        _many(curves.num_items),
        _many(curves.num_relevant),
        [measure.name for measure in measures],
        [_many(measure(curves, ties)) for measure in measures],
    )


def _many(value: Any) -> list[Any]:
    found = value.tolist() if hasattr(value, "tolist") else value
    return found if isinstance(found, list) else [found]


def measured(
    curves: HitCurve | HitCurves,
    measures: Sequence[Measure],
    *,
    ties: str = "expected",
    names: list[Any] | None = None,
    form: str = "table",
    each: bool = True,
) -> str:
    """The values of `measures` as text.

    Parameters
    ----------
    curves : HitCurve or HitCurves
    measures : sequence of Measure
    ties : str
        The reading of ties, for measures whose names say none.
    names : list, optional
        The names of the rankings of `curves`; None for one curve.
    form : {"table", "csv", "json"}
        ``"table"``: aligned, four decimals. ``"csv"``: one header line, numbers in full. ``"json"``: one object.
        Undefined values are ``nan``, in JSON ``null``.
    each : bool
        With names: a line for each ranking before the mean.
    """
    found = values(curves, measures, ties, names)
    if form == "csv":
        return _csv(found, each)
    if form == "json":
        return _json(found, ties, each)
    if names is None:
        return _aligned([[name, _shown(column[0])] for name, column in zip(found.measures, found.columns, strict=True)])
    rows = [["group", "items", "relevant", *found.measures]]
    if each:
        rows += [
            [str(name), f"{found.items[at]:,}", f"{found.relevant[at]:,}", *(_shown(c[at]) for c in found.columns)]
            for at, name in enumerate(names)
        ]
    rows.append(["mean", "", "", *(_shown(found.mean(column)) for column in found.columns)])
    return _aligned(rows) + "".join(f"{sentence}\n" for sentence in found.left_out())


def reported(ties: str | None = None) -> list[Measure]:
    """The measures of `report` as a list: AP under every reading of ties, or all that have the reading `ties`."""
    if ties is not None:
        found = [parse(name) for name in REPORTED]
        return [measure for measure in found if not measure.record.ties or ties in measure.record.ties]
    return [parse(name) for name in ("AP", "AP(ties=worst)", "AP(ties=best)", "AP(ties=threshold)", *REPORTED[1:])]


def report(
    curves: HitCurve | HitCurves,
    *,
    title: str = "",
    names: list[Any] | None = None,
    ties: str | None = None,
    each: bool = True,
) -> str:
    """The usual measures under every reading of ties side by side, and what ties do to them.

    Parameters
    ----------
    curves : HitCurve or HitCurves
    title : str
        Stands before the counts in the first line.
    names : list, optional
        The names of the rankings of `curves`; None for one curve. With names the measures are means over the
        rankings that have a relevant item.
    ties : str, optional
        Only this reading of ties.
    each : bool
        With names: a line for each ranking, with its AP, before the means.
    """
    readings = _READINGS if ties is None else (ties,)
    tables = {reading: _read(curves, reading, names) for reading in readings}
    found = tables[readings[0]]
    items, relevant = sum(found.items), sum(found.relevant)
    counts = f"{items:,} items, {relevant:,} relevant"
    if items:
        counts += f" ({_percent(relevant / items)})"
    if names is not None:
        counts = f"{len(names):,} groups, {counts}"
    text = f"{title}: {counts}\n\n" if title else f"{counts}\n\n"
    if names is not None and each:
        rows = [["group", "items", "relevant", *("AP" if one == "expected" else f"AP {one}" for one in readings)]]
        for at, name in enumerate(names):
            shown = [_shown(tables[reading].columns[0][at]) for reading in readings]
            rows.append([str(name), f"{found.items[at]:,}", f"{found.relevant[at]:,}", *shown])
        text += _aligned(rows) + "\n"
    head = "" if names is None else f"mean of {len(found.kept):,} groups"
    rows = [[head, *readings, ""]]
    for row, name in enumerate(REPORTED):
        tied = parse(name).record.ties
        cells = []
        for reading in readings:
            if tied and reading not in tied:
                cells.append("-")
            elif not tied and cells:
                cells.append("")
            else:
                cells.append(_shown(tables[reading].mean(tables[reading].columns[row])))
        rows.append([name, *cells, _NOTES[name]])
    text += _aligned(rows, notes=True) + "\n"
    if ties is None:
        text += "".join(f"{line}\n" for line in _LEGEND)
    text += _ties(curves, names, found)
    return text + "".join(f"{sentence}\n" for sentence in found.left_out())


def _read(curves: HitCurve | HitCurves, reading: str, names: list[Any] | None) -> Values:
    measures = [parse(name) for name in REPORTED]
    # A reading that a measure does not have is shown as a dash; the column only keeps the shape.
    having = [m if not m.record.ties or reading in m.record.ties else parse("Chance") for m in measures]
    return values(curves, having, reading, names)._replace(measures=list(REPORTED))


def _ties(curves: HitCurve | HitCurves, names: list[Any] | None, found: Values) -> str:
    """One sentence on what ties do to AP."""
    if not found.kept:
        return "No relevant items: the measures are undefined.\n"
    ties = curves.tie_report()
    tied, largest = sum(_many(ties.num_tied)), max(_many(ties.largest_group))
    if not tied:
        return "Ties: no relevant item is in a tie, so every order of tied items gives the same numbers.\n"
    items = sum(found.items)
    worst, best, threshold = (found.mean(_many(one)) for one in (ties.worst, ties.best, ties.threshold))
    text = (
        f"Ties: {tied:,} of the {items:,} items ({_percent(tied / items)}) are in a tie with a relevant item, "
        f"up to {largest:,} in one tie;\n"
    )
    what = "AP" if names is None else "the mean AP"
    if worst == best:
        text += f"no order of theirs changes {what}."
        range_ends = [_shown(worst)]
    else:
        range_ends = _apart(worst, best)
        text += f"depending on their order {what} lies between {range_ends[0]} and {range_ends[1]}."
    if not worst <= threshold <= best and _shown(threshold) not in range_ends:
        text += " The threshold reading lies outside."
    return text + "\n"


def _shown(value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    if value == 0 or abs(value) >= 0.01 or not math.isfinite(value):
        return f"{value:.4f}"
    return f"{value:.3g}"


def _percent(share: float) -> str:
    percent = 100 * share
    if 0 < percent < 0.1:
        return f"{percent:.2g} %"
    # "100 %" means all.
    if 99.5 <= percent < 100:
        return f"{min(percent, 99.9):.1f} %"
    return f"{percent:.1f} %" if percent < 10 else f"{percent:.0f} %"


def _apart(low: float, high: float) -> list[str]:
    """Both numbers with as many decimals as it takes to tell them apart, four at least."""
    for decimals in range(4, 17):
        shown = [f"{low:.{decimals}f}", f"{high:.{decimals}f}"]
        if shown[0] != shown[1]:
            return shown
    return [repr(low), repr(high)]


def _aligned(rows: list[list[str]], notes: bool = False) -> str:
    """Columns two spaces apart: the first, and with `notes` the last, set left, numbers set right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    left = {0, len(widths) - 1} if notes else {0}
    lines = []
    for row in rows:
        cells = [c.ljust(w) if at in left else c.rjust(w) for at, (c, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  ".join(cells).rstrip() + "\n")
    return "".join(lines)


def _csv(found: Values, each: bool) -> str:
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if found.names is None:
        writer.writerow(["items", "relevant", *found.measures])
        writer.writerow([found.items[0], found.relevant[0], *(column[0] for column in found.columns)])
        return out.getvalue()
    writer.writerow(["group", "items", "relevant", *found.measures])
    for at, name in enumerate(found.names if each else []):
        writer.writerow([name, found.items[at], found.relevant[at], *(column[at] for column in found.columns)])
    writer.writerow(["mean", "", "", *(found.mean(column) for column in found.columns)])
    return out.getvalue()


def _json(found: Values, ties: str, each: bool) -> str:
    import json

    def by_name(numbers: list[float]) -> dict[str, float | None]:
        pairs = zip(found.measures, numbers, strict=True)
        return {name: number if math.isfinite(number) else None for name, number in pairs}

    result: dict[str, Any] = {"ties": ties, "items": sum(found.items), "relevant": sum(found.relevant)}
    if found.names is None:
        result["measures"] = by_name([column[0] for column in found.columns])
    else:
        if each:
            result["groups"] = [
                {
                    "group": name if isinstance(name, int) else str(name),
                    "items": found.items[at],
                    "relevant": found.relevant[at],
                    "measures": by_name([column[at] for column in found.columns]),
                }
                for at, name in enumerate(found.names)
            ]
        result["mean"] = by_name([found.mean(column) for column in found.columns])
        result["num_groups"] = len(found.names)
        result["num_skipped"] = len(found.names) - len(found.kept)
    return json.dumps(result, indent=2) + "\n"
