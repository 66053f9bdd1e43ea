"""What the pages show of the records of measures, presets and disagreements: `python docs/measured.py` writes it."""

import importlib
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hitcurve as hc
from hitcurve import measures, tools

here = Path(__file__).resolve().parent
ALL, LINEAR = "all four", "all four; threshold equals expected"


def cell(text: Any) -> str:
    return str(text).replace("|", "\\|").replace("\n", " ")


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(cell, row)) + " |" for row in rows]) + "\n"


def names(record: measures.Definition) -> Iterator[tuple[measures.Measure, str]]:
    """A record's measures, and how each is written: our name, and trec_eval's."""
    for form in record.forms:
        measure = measures.parse(form)
        cutoff = str(dict(measure.keywords).get("k", ""))
        others = [synonym.replace("K", cutoff).replace("X", "0.10") for synonym in record.synonyms]
        written = [f"`{form}`"]
        for other in others:
            # A name without its number, such as map_cut_, is none.
            if not other.endswith("_") and other != form and measures.parse(other).name == measure.name:
                written.append(f"`{other}`")
        yield measure, ", ".join(written)


def written(key: str, value: Any) -> str:
    """An option of a name as the argument of a method."""
    return f"{key}={value!r}".replace("'", '"')


def call(measure: measures.Measure) -> str:
    """The method of a curve that gives the measure, as it is written in Python."""
    keywords = [written(key, value) for key, value in measure.keywords]
    if measure.rel is not None and measure.record.of == ("subtopics",):
        keywords.append(f"relevance_level={measure.rel}")
    if measure.ties:
        keywords.append(f'ties="{measure.ties}"')
    method = measure.record.method
    kinds = {"hits": hc.HitCurve, "gains": hc.GainCurve, "subtopics": hc.SubtopicCurve}
    callable_ = callable(getattr(next(kinds[of] for of in kinds if of in measure.record.of), method))
    return method + (f"({', '.join(keywords)})" if callable_ else "")


def ties(record: measures.Definition) -> str:
    """The readings of ties that a record has."""
    if not record.ties:
        return "single orders only" if record.ordered else "none"
    if record.ties == measures.TIES:
        curve = hc.HitCurve([1, 0, 0, 1, 0, 0, 1, 0], [3, 3, 3, 2, 2, 2, 1, 1])
        found = [measure for form in record.forms if (measure := measures.parse(form)).ties is None]
        linear = all(measure(curve, "threshold") == measure(curve, "expected") for measure in found)
        return (LINEAR if linear else ALL) + (f". {record.reading}" if record.reading else "")
    return ", ".join(record.ties) + (f". {record.reading}" if record.of == ("subtopics",) and record.reading else "")


def of_curves() -> str:
    """A row for each name: the first of a measure says what it is."""
    rows = []
    for record in measures.MEASURES:
        if "hits" in record.of:
            about = [f"{record.definition}.", ties(record), f"{record.source}."]
            for measure, written in names(record):
                if measure.rel is None:  # which needs judgments
                    rows.append([written, f"`{call(measure)}`", *about])
                    about = ["", "", ""]
    return table(["name", "method", "definition", "ties", "source"], rows)


def of_levels(of: str = "gains", head: str = "of levels") -> str:
    """Of the measures that one kind of curves alone has."""
    rows = []
    for record in measures.MEASURES:
        if record.of == (of,):
            written, calls = zip(*((text, f"`{call(measure)}`") for measure, text in names(record)), strict=True)
            about = [f"{record.definition}.", ties(record), f"{record.source}."]
            rows.append([", ".join(written), ", ".join(calls), *about])
    return table([head, "methods", "definition", "ties", "source"], rows)


def of_subtopics() -> str:
    return of_levels("subtopics", "of subtopics")


def of_judgments() -> str:
    rows = []
    for record in measures.MEASURES:
        if {"judged", "levels"} & {*record.of}:
            written = ", ".join(text for _, text in names(record))
            for synonym in record.synonyms:
                if f"`{synonym}`" not in written and "K" not in synonym:
                    written += f", `{synonym}`"
            rows.append([written, f"{record.definition}.", ties(record), f"{record.source}."])
    return table(["names", "definition", "ties", "source"], rows)


def of_others() -> str:
    """What other libraries write, by the measure that it stands for."""
    rows: dict[str, list[measures.Synonym]] = {}
    for one in measures.SYNONYMS:
        rows.setdefault(one.ours + (f"({one.options})" if one.options else ""), []).append(one)
    return table(["name here", "written by others"], [
        [f"`{ours}`", "; ".join(f"`{one.name}` ({one.users})" for one in found)] for ours, found in rows.items()])


def of_tools() -> str:
    """The tools that have each measure, with their names and what differs."""
    def shown(peer: tools.Peer) -> str:
        names = ", ".join(f"`{name}`" for name in peer.names)
        return f"{peer.tool} {names}" + (f" ({peer.differs})" if peer.differs else "")

    return table(["measure", "tools"], [[f"`{record.name}`", "; ".join(map(shown, found))]
                                        for record in measures.MEASURES if (found := tools.peers(record))])


def not_ours() -> str:
    """What hitcurve does not measure, and who does."""
    rows = []
    for what, line in tools.NOT_OURS:
        names = [f"{peer.tool} " + ", ".join(f"`{name}`" for name in peer.names) for peer in tools.parsed(line)]
        rows.append([what, "; ".join(names)])
    return table(["not here", "tools"], rows)


def undefined() -> str:
    """The measures that some ranking leaves undefined, by what they are of three such rankings."""
    def shown(measure: measures.Measure, label: int, num_items: int) -> str:
        value = round(measure(hc.HitCurve([label] * num_items, range(num_items))), 9)
        return "NaN" if value != value else f"{value:g}" if value in (0, 0.5, 1) else "a number"

    groups: dict[tuple[str, ...], list[str]] = {}
    for record in measures.MEASURES:
        if "hits" in record.of and record.mean != "sum":
            for form in record.forms:
                measure = measures.parse(form)
                outcome = shown(measure, 0, 9999), shown(measure, 1, 9999), shown(measure, 0, 0)
                if "NaN" in outcome:
                    groups.setdefault(outcome, []).append(f"`{form}`")
    rows = [[*outcome, ", ".join(forms)] for outcome, forms in groups.items()]
    return table(["no relevant item", "every item relevant", "no item", "measures"], rows)


def presets() -> str:
    rows = [[f"`{name}`", ", ".join(f"`{key}={value!r}`".replace("'", '"') for key, value in preset.items())]
            for name, preset in hc.PRESETS.items()]
    return table(["preset", "keyword arguments"], rows)


def number(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(number(one) for one in value) if value else "nothing"
    if isinstance(value, float):
        if value.is_integer() and abs(value) >= 1000:
            return f"{value:,.0f}"
        return "NaN" if value != value else f"{round(value, 4) + 0.0:.4f}"  # never -0.0000
    return str(value)


def disagreements() -> str:
    """The cases in which tools disagree, with the numbers written down; tests and documentation run the tools."""
    sys.path.insert(0, str(here.parent / "tests"))
    try:
        discrepancies = importlib.import_module("discrepancies")
    finally:
        sys.path.pop(0)
    text = ""
    for section in discrepancies.SECTIONS:
        text += f"## {section}\n\n"
        for record in discrepancies.RECORDS:
            if record.section != section:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the cases are about odd input
                shown = record.shown(peers=False)
            text += f"### {record.title}\n\n{record.why}\n\n"
            text += "```python\n" + "\n".join(shown.data) + "\n```\n\n"
            lines = [[line.who, f"`{line.call}`", number(line.value)] for line in shown.lines if not line.ours]
            lines += [[f"**{line.who}**", f"`{line.call}`", number(line.value)] for line in shown.lines if line.ours]
            text += table(["tool", "call or measure", "result"], lines) + "\n"
            if shown.bands:
                bands = [[f"`{b.call}`", *map(number, (b.worst, b.expected, b.best))] for b in shown.bands]
                text += table(["over all orders of the ties", "worst", "expected", "best"], bands) + "\n"
    return text.rstrip("\n") + "\n"


MADE = {
    "measures.md": {
        "of curves": of_curves, "of levels": of_levels, "of subtopics": of_subtopics, "of judgments": of_judgments,
        "of others": of_others, "of tools": of_tools, "not ours": not_ours, "undefined": undefined,
    },
    "presets.md": {"presets": presets},
    "disagreements.md": {"disagreements": disagreements},
}


def rewritten(page: str, text: str) -> str:
    """The page with its tables as they are made now."""
    for name, make in MADE[page].items():
        begin, end = f"<!-- {name}: made by docs/measured.py -->\n", f"<!-- {name}: end -->"
        head, found, rest = text.partition(begin)
        _, closed, tail = rest.partition(end)
        if not found or not closed:
            raise SystemExit(f"{page}: no {begin.strip()} ... {end} to write between")
        text = f"{head}{begin}\n{make()}\n{end}{tail}"
    return text


if __name__ == "__main__":
    for name in MADE:
        path = here / name
        path.write_text(rewritten(name, path.read_text(encoding="utf-8")), encoding="utf-8")
