"""Measures as text: aligned lines for people, CSV and JSON for programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from hitcurve.measures import MEASURES, Measure, parse

if TYPE_CHECKING:
    from hitcurve import HitCurve, HitCurves

__all__ = ["Entry", "Grid", "Section", "Values", "measured", "report", "reported", "section", "summary", "values"]

# The early shares of the list that the field reports, in percent.
PERCENTS = ("0.1", "0.5", "1", "2", "5", "10")
LIST_SIZES = (10, 100, 1000)
# Beside the expected value the range it is the middle of, then scikit-learn's reading.
_READINGS = ("expected", "worst", "best", "threshold")
_NOTES = {name: note for record in MEASURES for name, note in record.report}
LEGEND = (
    "expected: mean over all orders of tied items. worst, best: relevant items last, first.",
    "threshold: a tie counts as one step; AP is then scikit-learn's average_precision_score.",
)
SUMMARY = ("AP", "NormAP", "ROCAUC", "logAUC", "BEDROC(20)", "EF@1%")

# How intervals are made: of one ranking, of means over groups.
METHODS = (
    "AP by logit, ROC AUC by DeLong's method, the others by bootstrap over the items.",
    "of the means, by bootstrap over the groups: too narrow where these are fewer than some 20.",
)

Ends = Sequence[tuple[float, float, str]]  # low, high, and what the interval was made by


def report_names(list_sizes: Sequence[int] = LIST_SIZES) -> list[list[str]]:
    """The measures of `report` in blocks, with hits and hit rates at the list sizes."""
    blocks = [[name for name in _NOTES if "@" not in name]]
    blocks += [[name.replace("%", f"{percent}%") for percent in PERCENTS] for name in _NOTES if name.endswith("@%")]
    return [*blocks, [f"{name}@{size}" for size in list_sizes for name in ("Hits", "P")]]


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


class Entry(NamedTuple):
    """The values of one column of scores, and intervals for them (for the means, where there are groups)."""

    score: str | None
    values: Values
    intervals: Ends | None = None


def measured(
    curves: HitCurve | HitCurves,
    measures: Sequence[Measure],
    *,
    ties: str = "expected",
    names: list[Any] | None = None,
    form: str = "table",
    each: bool = True,
    intervals: Ends | None = None,
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
    intervals : sequence of (float, float, str), optional
        Of each measure the ends of an interval and its method, with names of its mean.
    """
    return measured_scores([Entry(None, values(curves, measures, ties, names), intervals)], ties, form, each)


def measured_scores(entries: Sequence[Entry], ties: str, form: str, each: bool) -> str:
    """`measured` of one column of scores (called None) or of several."""
    if form == "csv":
        return _csv(entries, each)
    if form == "json":
        return _json(entries, ties, each)
    named = entries[0].score is not None
    first = entries[0].values
    if first.names is None:
        if named and entries[0].intervals is None:
            rows = [["score", *first.measures]]
            rows += [[str(one.score), *(_shown(column[0]) for column in one.values.columns)] for one in entries]
            return _aligned(rows)
        rows = []
        for one in entries:
            for at, name in enumerate(one.values.measures):
                ends = [] if one.intervals is None else _between(one.intervals[at])
                rows.append([*([str(one.score)] if named else []), name, _shown(one.values.columns[at][0]), *ends])
        return _aligned(rows, left=2 if named else 1)
    rows = [[*(["score"] if named else []), "group", "items", "relevant", *first.measures]]
    for one in entries:
        found, lead = one.values, [str(one.score)] if named else []
        assert found.names is not None
        for at, name in enumerate(found.names if each else []):
            shown = [_shown(column[at]) for column in found.columns]
            rows.append([*lead, str(name), f"{found.items[at]:,}", f"{found.relevant[at]:,}", *shown])
        rows.append([*lead, "mean", "", "", *(_shown(found.mean(column)) for column in found.columns)])
        if one.intervals is not None:
            for label, at in (("from", 0), ("to", 1), ("by", 2)):
                cells = [end if isinstance(end, str) else _shown(end) for end in (ends[at] for ends in one.intervals)]
                rows.append([*lead, label, "", "", *cells])
    sentences = dict.fromkeys(sentence for one in entries for sentence in one.values.left_out())
    return _aligned(rows, left=2 if named else 1) + "".join(f"{sentence}\n" for sentence in sentences)


def reported(ties: str | None = None, list_sizes: Sequence[int] = LIST_SIZES) -> list[Measure]:
    """The measures of `report` as a list: each under every reading of ties, or all that have the reading `ties`."""
    found = [parse(name) for block in report_names(list_sizes) for name in block]
    if ties is not None:
        return [measure for measure in found if not measure.record.ties or ties in measure.record.ties]
    every = []
    for measure in found:
        every.append(measure)
        head, _, cutoff = measure.name.partition("@")
        for reading in _READINGS[1:]:
            if reading in measure.record.ties:
                inside = f"{head[:-1]},ties={reading})" if head.endswith(")") else f"{head}(ties={reading})"
                every.append(parse(f"{inside}@{cutoff}" if cutoff else inside))
    return every


class Grid(NamedTuple):
    """Cells in rows, the first of which is the head; so many columns from the left, and the last with `notes`, are
    words, the others numbers."""

    rows: list[list[str]]
    left: int = 1
    notes: bool = False
    breaks: tuple[int, ...] = ()
    """Rows before which there is a gap."""


class Section(NamedTuple):
    """What a report says of one column of scores."""

    counts: str
    grids: list[Grid]
    sentences: list[str]


def report(
    curves: HitCurve | HitCurves,
    *,
    title: str = "",
    names: list[Any] | None = None,
    ties: str | None = None,
    each: bool = True,
    list_sizes: Sequence[int] | None = None,
    intervals: Ends | None = None,
    legend: bool = True,
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
    list_sizes : sequence of int, optional
        Where hits and hit rate are read; by default 10, 100 and 1000, as far as there are more items.
    intervals : sequence of (float, float, str), optional
        Of each measure of `report_names` in turn the ends of an interval and its method.
    legend : bool
        Whether to say what the readings are.
    """
    found = section(curves, names=names, ties=ties, each=each, list_sizes=list_sizes, intervals=intervals)
    text = f"{title}: {found.counts}\n\n" if title else f"{found.counts}\n\n"
    for grid in found.grids:
        text += aligned(grid) + "\n"
    if ties is None and legend:
        text += "".join(f"{line}\n" for line in LEGEND)
    return text + "".join(f"{sentence}\n" for sentence in found.sentences)


def sizes_of(curves: HitCurve | HitCurves, list_sizes: Sequence[int] | None) -> tuple[int, ...]:
    """The list sizes asked for, or the usual ones as far as there are more items."""
    if list_sizes is not None:
        return tuple(list_sizes)
    most = max(_many(curves.num_items), default=0)
    return tuple(size for size in LIST_SIZES if size < most)


def section(
    curves: HitCurve | HitCurves,
    *,
    names: list[Any] | None = None,
    ties: str | None = None,
    each: bool = True,
    list_sizes: Sequence[int] | None = None,
    intervals: Ends | None = None,
) -> Section:
    """The parts of `report`, which sets them as text."""
    readings = _READINGS if ties is None else (ties,)
    blocks = report_names(sizes_of(curves, list_sizes))
    shown = [name for block in blocks for name in block]
    tables = {reading: _read(curves, reading, names, shown) for reading in readings}
    found = tables[readings[0]]
    items, relevant = sum(found.items), sum(found.relevant)
    counts = f"{items:,} items, {relevant:,} relevant"
    if items:
        counts += f" ({_percent(relevant / items)})"
    if names is not None:
        counts = f"{len(names):,} groups, {counts}"
    grids = []
    if names is not None and each:
        rows = [["group", "items", "relevant", *("AP" if one == "expected" else f"AP {one}" for one in readings)]]
        for at, name in enumerate(names):
            cells = [_shown(tables[reading].columns[0][at]) for reading in readings]
            rows.append([str(name), f"{found.items[at]:,}", f"{found.relevant[at]:,}", *cells])
        grids.append(Grid(rows))
    head = "" if names is None else f"mean of {len(found.kept):,} groups"
    rows = [[head, *readings, *([] if intervals is None else ["interval", "by"]), ""]]
    for row, name in enumerate(shown):
        tied = parse(name).record.ties
        cells = []
        for reading in readings:
            if tied and reading not in tied:
                cells.append("-")
            elif not tied and cells:
                cells.append("")
            else:
                cells.append(_shown(tables[reading].mean(tables[reading].columns[row])))
        if intervals is not None:
            cells += _between(intervals[row]) if tied else ["", ""]
        rows.append([name, *cells, _note(name, curves, found, names)])
    lengths = [len(block) for block in blocks]
    breaks = tuple(1 + sum(lengths[:at]) for at in range(1, len(blocks)) if blocks[at])
    grids.append(Grid(rows, notes=True, breaks=breaks))
    return Section(counts, grids, [*_ties(curves, names, found), *found.left_out()])


def summary(entries: Sequence[tuple[str, HitCurve | HitCurves, list[Any] | None]]) -> Grid:
    """Columns of scores side by side: some measures under expected ties, with groups their means."""
    rows = [["score", *SUMMARY]]
    for name, curves, names in entries:
        found = values(curves, [parse(one) for one in SUMMARY], "expected", names)
        rows.append([name, *(_shown(found.mean(column)) for column in found.columns)])
    return Grid(rows)


def _note(name: str, curves: HitCurve | HitCurves, found: Values, names: list[Any] | None) -> str:
    head, _, cutoff = name.partition("@")
    note = _NOTES[name if not cutoff else f"{head}@%" if "%" in cutoff else f"{head}@K"]
    most = 0.0
    if "{most" in note:
        most = found._replace(columns=[]).mean(_many(parse(f"{head}max@{cutoff}")(curves)))
    return note.format(at=cutoff.replace("%", " %") if "%" in cutoff else f"{int(cutoff or 0):,}", most=most)


def _read(curves: HitCurve | HitCurves, reading: str, names: list[Any] | None, shown: list[str]) -> Values:
    measures = [parse(name) for name in shown]
    # A reading that a measure does not have is shown as a dash; the column only keeps the shape.
    having = [m if not m.record.ties or reading in m.record.ties else parse("Chance") for m in measures]
    return values(curves, having, reading, names)._replace(measures=shown)


def _ties(curves: HitCurve | HitCurves, names: list[Any] | None, found: Values) -> list[str]:
    """What ties do to AP, in lines."""
    if not found.kept:
        return ["No relevant items: the measures are undefined."]
    ties = curves.tie_report()
    tied, largest = sum(_many(ties.num_tied)), max(_many(ties.largest_group))
    if not tied:
        return ["Ties: no relevant item is in a tie, so every order of tied items gives the same numbers."]
    items = sum(found.items)
    worst, best, threshold = (found.mean(_many(one)) for one in (ties.worst, ties.best, ties.threshold))
    first = (
        f"Ties: {tied:,} of the {items:,} items ({_percent(tied / items)}) are in a tie with a relevant item, "
        f"up to {largest:,} in one tie;"
    )
    what = "AP" if names is None else "the mean AP"
    if worst == best:
        text = f"no order of theirs changes {what}."
        range_ends = [_shown(worst)]
    else:
        range_ends = _apart(worst, best)
        text = f"depending on their order {what} lies between {range_ends[0]} and {range_ends[1]}."
    if not worst <= threshold <= best and _shown(threshold) not in range_ends:
        text += " The threshold reading lies outside."
    return [first, text]


def _between(ends: tuple[float, float, str]) -> list[str]:
    low, high, method = ends
    return ["-", ""] if math.isnan(low) or math.isnan(high) else [f"{_shown(low)} to {_shown(high)}", method]


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


def one_line(text: str) -> str:
    """The text without line ends, which names may hold and a line of a table must not."""
    return " ".join(text.splitlines())


def aligned(grid: Grid) -> str:
    """The grid as lines of text."""
    return _aligned(grid.rows, grid.left, grid.notes, grid.breaks)


def _aligned(rows: list[list[str]], left: int = 1, notes: bool = False, breaks: tuple[int, ...] = ()) -> str:
    """Columns two spaces apart: the first ones, and with `notes` the last, set left, numbers set right."""
    rows = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    words = {*range(left), *([len(widths) - 1] if notes else [])}
    lines = []
    for number, row in enumerate(rows):
        cells = [c.ljust(w) if at in words else c.rjust(w) for at, (c, w) in enumerate(zip(row, widths, strict=True))]
        lines.append(("\n" if number in breaks else "") + "  ".join(cells).rstrip() + "\n")
    return "".join(lines)


def _csv(entries: Sequence[Entry], each: bool) -> str:
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    named, first, intervals = entries[0].score is not None, entries[0].values, entries[0].intervals is not None
    ends = ("", " low", " high", " by") if intervals else ("",)
    head = [f"{name}{end}" for name in first.measures for end in ends]
    writer.writerow([*["score"][:named], *(["group"] if first.names is not None else []), "items", "relevant", *head])

    def cells(numbers: list[float], ends: Ends | None) -> list[Any]:
        if not intervals:
            return numbers
        return [part for at, one in enumerate(numbers) for part in (one, *(ends[at] if ends is not None else [""] * 3))]

    for one in entries:
        found, lead = one.values, [one.score] if named else []
        if found.names is None:
            row = cells([column[0] for column in found.columns], one.intervals)
            writer.writerow([*lead, found.items[0], found.relevant[0], *row])
            continue
        for at, name in enumerate(found.names if each else []):
            row = cells([column[at] for column in found.columns], None)
            writer.writerow([*lead, name, found.items[at], found.relevant[at], *row])
        writer.writerow([*lead, "mean", "", "", *cells([found.mean(c) for c in found.columns], one.intervals)])
    return out.getvalue()


def _json(entries: Sequence[Entry], ties: str, each: bool) -> str:
    import json

    found = [_object(one, ties, each) for one in entries]
    result = found[0] if entries[0].score is None else {"scores": found}
    return json.dumps(result, indent=2) + "\n"


def _object(one: Entry, ties: str, each: bool) -> dict[str, Any]:
    found = one.values

    def number(value: float) -> float | None:
        return value if math.isfinite(value) else None

    def by_name(numbers: list[float]) -> dict[str, float | None]:
        return {name: number(value) for name, value in zip(found.measures, numbers, strict=True)}

    result: dict[str, Any] = {} if one.score is None else {"score": one.score}
    result |= {"ties": ties, "items": sum(found.items), "relevant": sum(found.relevant)}
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
    if one.intervals is not None:
        named = dict(zip(found.measures, one.intervals, strict=True))
        result["intervals"] = {name: [number(low), number(high)] for name, (low, high, _) in named.items()}
        result["interval_methods"] = {name: method or None for name, (*_, method) in named.items()}
    return result
