"""Convert a matplotlib figure to pictures in an HTML page: an svg element for each axes, and the legend as text.

Nine tenths of matplotlib's own SVG are digits: each of tens of thousands of points has six decimals. Here a line keeps
only the points that change the picture. A point is written in tenths of a unit (1/72 inch), as the step from the point
before. The page sets the fonts, and colours are variables of the page, so that they differ in dark mode.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree

from hitcurve.shown.grid import as_html

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["DARK", "Pictures", "pictures"]

# The colours of light mode, each with the colour that replaces it in dark mode.
DARK = {
    "#0072b2": "#4ea5e6", "#d55e00": "#ff8a3c", "#009e73": "#2cc79b", "#cc79a7": "#e59cc6", "#000000": "#e8e8e8",
    "#e69f00": "#f2b632", "#56b4e9": "#a5d8f8", "#777777": "#b0b6bc", "#dddddd": "#3a4147", "#ffffff": "#14171a",
}  # fmt: skip
_NEAR = 0.15  # the greatest distance in units of a line from the points that it leaves out
_PARTS = 10  # points are written in such parts of a unit: scale(.1)
_MARGIN = 2  # the margin of a picture in units
_XML = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
# Characters that names may have and XML does not allow.
_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_FRACTION = re.compile(r"-?\d+\.\d+")
_LENGTHS = re.compile(r"(stroke-(?:width|dasharray|dashoffset)):([^;]+)")
_Piece = tuple[str, str, str]  # text before the points of a path, the points, text after them; or "", an element, ""


class Pictures(NamedTuple):
    """A figure for a page."""

    title: str
    parts: list[str]
    """The svg element of each axes."""
    legend: list[tuple[str, str]]
    """For each entry of the legend, the svg element of its line, and its name."""
    notes: list[str]
    """The lines of the title of the legend."""


def pictures(drawing: Figure, number: int) -> Pictures:
    """Convert figure `number` of a page. The number keeps ids unique on the page."""
    texts = [text for legend in drawing.legends for text in legend.get_texts()]
    titles = [legend.get_title() for legend in drawing.legends]
    names, notes = [text.get_text() for text in texts], [title.get_text() for title in titles]
    for title in titles:
        title.set_text("")
    for text in texts:  # the page writes these texts; long texts would change the layout of the figure
        text.set_text("x")
    whole = _drawn(drawing, number)
    for text, name in zip([*texts, *titles], [*names, *notes], strict=True):
        text.set_text(name)
    height = float(whole.get("viewBox", "").split()[3])
    marks = {one.get("id", ""): one for one in whole.iter(f"{_XML}path") if one.get("id")}
    shared = {name: f'<path id="{name}" d="{_rounded_text(" ".join(one.get("d", "").split()))}"/>'
              for name, one in marks.items()}
    shared |= {one.get("id", ""): _rounded(one) for one in whole.iter(f"{_XML}clipPath")}
    (every,) = whole.findall(f"{_XML}g")
    lines, parts = list[str](), list[str]()
    boxes = _boxes(drawing, height)
    for group in every:
        kind = group.get("id", "").partition("_")[0]
        if kind == "axes":
            inside = _joined(_elements(group, marks))
            used = [name for name in dict.fromkeys(re.findall(r"#([\w-]+)[)\"]", inside)) if name in shared]
            defs = "".join(shared.pop(name) for name in used)  # a mark is defined once for all pictures of the page
            ax, box = next(boxes)
            parts.append(
                f'<svg viewBox="{box}" role="img" aria-label="{as_html(_said(ax))}" stroke-linejoin="round">'
                f"<defs>{defs}</defs>{inside}</svg>"
            )
        elif kind == "legend":
            lines += _samples(group, marks)
    said = [line for note in notes for line in _plain(note).splitlines()]
    return Pictures(_plain(drawing.get_suptitle()), parts, list(zip(lines, map(_plain, names), strict=True)), said)


def _drawn(drawing: Figure, number: int) -> Element:
    from warnings import catch_warnings, filterwarnings

    from matplotlib import rc_context

    out = io.StringIO()
    # Text stays text. The salt makes the ids, so that equal data give equal pages.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": f"hitcurve-{number}"}), catch_warnings():
        filterwarnings("ignore", "Glyph .* missing from")  # the page does not use matplotlib's font
        drawing.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return ElementTree.fromstring(_NO_XML.sub("\ufffd", out.getvalue()))


def _boxes(drawing: Figure, height: float) -> Iterator[tuple[Axes, str]]:
    """The view boxes of the axes, with the same margins around all frames: equal axes have equal scales."""
    scale = 72 / drawing.dpi
    frames = [ax.get_window_extent() for ax in drawing.axes]
    outer = [ax.get_tightbbox() or frame for ax, frame in zip(drawing.axes, frames, strict=True)]
    sides = [(frame.x0 - one.x0, one.x1 - frame.x1, frame.y0 - one.y0, one.y1 - frame.y1)
             for frame, one in zip(frames, outer, strict=True)]  # fmt: skip
    left, right, below, above = (max(0.0, *side) * scale + _MARGIN for side in zip(*sides, strict=True))
    for ax, frame in zip(drawing.axes, frames, strict=True):
        size = frame.width * scale + left + right, frame.height * scale + below + above
        place = frame.x0 * scale - left, height - frame.y1 * scale - above
        yield ax, " ".join(f"{value:.0f}" for value in (*place, *size))


def _plain(text: str) -> str:
    """The text without the escapes that matplotlib needs: of "$", and before a leading "_"."""
    return text.replace(r"\$", "$").replace("\u200b_", "_")


def _said(ax: Axes) -> str:
    """The description of the picture for screen readers."""
    lines = [text for text in ax.get_legend_handles_labels()[1] if text]
    said = f"{ax.get_title()}: {ax.get_ylabel()} over {ax.get_xlabel()}" + f", of {', '.join(lines)}" * bool(lines)
    return _plain(said)


def _samples(legend: Element, marks: Mapping[str, Element]) -> Iterator[str]:
    """The svg element of the line of each entry of the legend."""
    drawn: list[Element] = []
    for one in legend:
        if not one.get("id", "").startswith("text"):
            drawn.append(one)
            continue
        points = [float(place) for path in drawn for place in _NUMBER.findall(_d(path))]
        used = [one for path in drawn for one in path.iter(f"{_XML}use")]  # marks, at their places
        x = points[::2] + [float(one.get("x", 0)) + end for one in used for end in (-4, 4)] or [0.0]
        y = points[1::2] + [float(one.get("y", 0)) for one in used] or [0.0]
        place = min(x) - 1, min(y) - 4, max(x) - min(x) + 2, max(y) - min(y) + 8
        inside = "".join(_joined(_elements(path, marks)) for path in drawn)
        box = " ".join(f"{value:.1f}" for value in place)
        size = f'width="{place[2]:.0f}" height="{place[3]:.0f}"'
        yield f'<svg viewBox="{box}" {size} aria-hidden="true" stroke-linejoin="round">{inside}</svg>'
        drawn = []


def _d(element: Element) -> str:
    return " ".join(path.get("d", "") for path in element.iter(f"{_XML}path") if not path.get("id"))  # ids: marks


def _joined(pieces: Iterable[_Piece]) -> str:
    return "".join(part for piece in pieces for part in piece)


def _together(pieces: Iterable[_Piece]) -> list[_Piece]:
    """Join the lines of a style, such as the ticks of an axis, to a path. The texts come last."""
    found: dict[tuple[str, str], list[str]] = {}
    texts = []
    for before, d, after in pieces:
        if before:
            found.setdefault((before, after), []).append(d)
        else:
            texts.append((before, d, after))
    return [(before, "".join(each), after) for (before, after), each in found.items()] + texts


def _elements(group: Element, marks: Mapping[str, Element]) -> Iterator[_Piece]:
    """The pieces that the group draws, in order."""
    for one in group:
        tag = str(one.tag).removeprefix(_XML)
        if tag == "path":
            yield _path(one.get("d", ""), one, one)
        elif tag == "use":
            mark = marks[one.get(_LINK, "#")[1:]]
            yield _path(mark.get("d", ""), mark, one, float(one.get("x", 0)), float(one.get("y", 0)))
        elif tag == "g":
            pieces = list(_elements(one, marks))
            if one.get("id", "").startswith("matplotlib.axis"):
                pieces = _together(pieces)
            outer = "".join(f' {name}="{_rounded_text(one.get(name, ""))}"' for name in ("clip-path", "transform")
                            if one.get(name))  # fmt: skip
            yield from [("", f"<g{outer}>{_joined(pieces)}</g>", "")] if outer else pieces
        elif tag != "defs":
            yield "", _rounded(one), ""


def _path(d: str, mark: Element, one: Element, x: float = 0.0, y: float = 0.0) -> _Piece:
    """A path, moved by x and y."""
    style = _style({**_styles(mark), **_styles(one)})
    if re.search("[^MLz0-9.e\\s-]", d):  # with arcs
        named = mark.get("id")
        before = f'<use href="#{named}" x="{x:.1f}" y="{y:.1f}' if named else '<path d="'
        text, after = "" if named else _rounded_text(" ".join(d.split())), f'" style="{style}"/>'
    else:
        style = _LENGTHS.sub(_scaled, style if "stroke-width" in style else f"{style};stroke-width:1")
        before, text, after = '<path d="', _steps(d, x, y), f'" transform="scale(.1)" style="{style}"/>'
    clip = one.get("clip-path")
    return (f'<g clip-path="{clip}">{before}', text, f"{after}</g>") if clip else (before, text, after)


def _steps(d: str, x: float, y: float) -> str:
    """The lines with fewer points, in whole parts of a unit: each point as a step from the point before."""
    import numpy as np
    from matplotlib.path import Path

    steps = []
    for line in d.split("M")[1:]:
        points = np.array(line.replace("L", " ").replace("z", " ").split(), np.float64).reshape(-1, 2)
        whole = Path(points + np.array((x, y)))
        whole.simplify_threshold, whole.should_simplify = _NEAR, len(points) > 2
        kept = whole.cleaned(simplify=len(points) > 2)
        at = np.rint(np.asarray(kept.vertices)[kept.codes != Path.STOP] * _PARTS).astype(np.int64)
        steps.append(f"M{at[0, 0]} {at[0, 1]}{_moves(np.diff(at, axis=0).tolist())}" + "z" * ("z" in line))
    return "".join(steps)


def _moves(steps: Iterable[list[int]]) -> str:
    """Steps in as few letters as possible: horizontal, vertical, or both."""
    text, last = list[str](), ""
    for x, y in steps:
        if x and y:
            sign = "l" if last != "l" else " " if x > 0 else ""
            text.append(f"{sign}{x}{' ' if y > 0 else ''}{y}")
            last = "l"
        elif x or y:
            last = "h" if x else "v"
            text.append(f"{last}{x or y}")
    return "".join(text)


def _scaled(found: re.Match[str]) -> str:
    values = (f"{round(float(value) * _PARTS, 1):g}" for value in found[2].split(","))
    return f"{found[1]}:{','.join(values)}"


def _styles(element: Element) -> dict[str, str]:
    pairs = (one.partition(":") for one in element.get("style", "").split(";") if one.strip())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _style(styles: Mapping[str, str]) -> str:
    kept = ";".join(f"{name}:{value}" for name, value in styles.items() if name != "font-family")
    return re.sub("#[0-9a-f]{6}", lambda found: _variable(found[0]) if found[0] in DARK else found[0], kept)


def _variable(colour: str) -> str:
    return f"var(--c{colour[1:]})"


def _rounded(element: Element) -> str:
    """The element with rounded numbers, and with the fonts and colours of the page."""
    tag, said = str(element.tag).removeprefix(_XML), ""
    for name, value in element.items():
        short: Any = _style(_styles(element)) if name == "style" else _rounded_text(value)
        if not short.startswith("rotate(-0 "):
            said += f' {name}="{as_html(short)}"'
    inside = as_html((element.text or "").strip()) + "".join(map(_rounded, element))
    return f"<{tag}{said}>{inside}</{tag}>"


def _rounded_text(text: str) -> str:
    return _FRACTION.sub(lambda found: f"{round(float(found[0]), 1):g}", text)
