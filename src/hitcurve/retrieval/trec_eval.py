"""trec_eval's names: its sets of measures, its parameters and its order."""

from __future__ import annotations

import re
from typing import NamedTuple

from hitcurve.measures import Measure, parse

__all__ = ["PARAMETERS", "Entry", "expand", "names_of"]

_CUTOFFS = "5,10,15,20,30,100,200,500,1000"
_LEVELS = "0.0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0"

# In the order of its output.
_NAMES = (
    "runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank",
    "iprec_at_recall", "P", "relstring", "recall", "infAP", "gm_bpref", "Rprec_mult", "utility", "11pt_avg", "binG",
    "G", "ndcg", "ndcg_rel", "Rndcg", "ndcg_cut", "map_cut", "relative_P", "success", "set_P", "set_relative_P",
    "set_recall", "set_map", "set_F", "num_nonrel_judged_ret", "rbp", "rbp_resid", "unj",
)
# The default parameters, and the name or names here ({} for a parameter); the rest have none, and the same name.
PARAMETERS = {
    "runid": ("", ""), "iprec_at_recall": (_LEVELS, "IPrec(levels={version})@{}"), "P": (_CUTOFFS, "P@{}"),
    "relstring": ("10", ""), "recall": (_CUTOFFS, "R@{}"),
    "Rprec_mult": ("0.2,0.4,0.6,0.8,1.0,1.2,1.4,1.6,1.8,2.0", "RprecMult({})"), "utility": ("", "Utility({})"),
    "11pt_avg": ("", "IPrecAvg(levels={version}{})"), "G": ("", "G({})"), "ndcg": ("", "nDCG({})"),
    "ndcg_rel": ("", "nDCGrel({})"), "Rndcg": ("", "RnDCG({})"), "ndcg_cut": (_CUTOFFS, "nDCG@{}"),
    "map_cut": (_CUTOFFS, "AP@{}"), "relative_P": (_CUTOFFS, "RelP@{}"), "success": ("1,5,10", "Success@{}"),
    "set_F": ("", "SetF({})"), "rbp": ("", "RBP(p={})"), "rbp_resid": ("", "RBPResid(p={})"),
    "unj": ("5,10,20", "Unjudged@{}"),
}
_MEASURES = {name: PARAMETERS.get(name, ("", name)) for name in _NAMES}
_SETS = {"official": _NAMES[:12], "all_trec": _NAMES,
         "set": (*_NAMES[:5], "utility", "set_P", "set_recall", "set_relative_P", "set_map", "set_F")}
_ONLY_10 = ("rbp", "rbp_resid", "unj")
_PLACES = {name: place for place, name in enumerate(_MEASURES)}


class Entry(NamedTuple):
    """A line of output: what trec_eval calls it, and the measure (None for the run's tag and the string of levels)."""

    name: str
    place: tuple[int, float]
    measure: Measure | None
    length: int = 0
    given: bool = False
    """With parameters, which then replace the default ones."""


def expand(text: str, version: int = 10) -> list[Entry]:
    """The lines that one ``-m`` of trec_eval prints; any other name of a measure here is one line.

    Examples
    --------
    >>> [entry.name for entry in expand("P.10,5")]
    ['P_5', 'P_10']
    >>> [entry.measure.name for entry in expand("nDCG@10")]
    ['nDCG@10']
    """
    if text in _SETS:
        return [entry for name in names_of(text, version) for entry in _lines(name, "", version)]
    name, _, parameters = text.partition(".")
    if name in _MEASURES and not re.fullmatch(r"rbp[.][0-9]+(-l[0-9]+)?", text):  # which is ranx's
        return [entry._replace(given=bool(parameters)) for entry in _lines(name, parameters, version)]
    measure = parse(text)
    return [_named(measure, text, version)]


def names_of(text: str, version: int = 10) -> list[str]:
    """What a set of trec_eval holds.

    Examples
    --------
    >>> len(names_of("all_trec", 9))
    34
    """
    return [name for name in _SETS[text] if version >= 10 or name not in _ONLY_10]


def _named(measure: Measure, text: str, version: int) -> Entry:
    """A measure by one of its names, with trec_eval's where it has one and both mean the same."""
    pattern = re.fullmatch(r"(.*)_([0-9.]+)", text)
    root = pattern[1] if pattern and pattern[1] in _MEASURES else text
    if root in _MEASURES:
        entry = _lines(root, pattern[2] if pattern and root == pattern[1] else "", version)[0]
        if len(text) == len(entry.name) or entry.name == text:
            return entry
    number = dict(measure.keywords).get("k")
    for synonym in measure.record.synonyms:
        if "X" in synonym or ("K" in synonym) != (number is not None):
            continue
        written = synonym.replace("K", str(number))
        if parse(written) == measure:
            root = written.rpartition("_")[0] if "K" in synonym else written
            return Entry(written, (_PLACES.get(root, len(_PLACES)), float(number or 0)), measure)
    return Entry(measure.name, (len(_PLACES), 0.0), measure)


def _lines(name: str, parameters: str, version: int) -> list[Entry]:
    defaults, pattern = _MEASURES[name]
    place = _PLACES[name]
    rounding = f"trec_eval{version}"
    if name == "runid":
        return [Entry(name, (place, 0.0), None)]
    written = f"{name}_{parameters}" if parameters else name
    try:
        if name == "relstring":
            return [Entry(written, (place, 0.0), None, int(float(parameters or defaults)))]
        if name in ("iprec_at_recall", "Rprec_mult"):
            numbers = sorted({float(one) for one in (parameters or defaults).split(",")})
            return [Entry(f"{name}_{one:3.2f}", (place, one), parse(pattern.format(f"{one:.10g}", version=rounding)))
                    for one in numbers]
        if defaults:
            whole = sorted({int(float(one)) for one in (parameters or defaults).split(",")})
            return [Entry(f"{name}_{one}", (place, float(one)), parse(pattern.format(one))) for one in whole]
        if "{" not in pattern:
            if parameters:
                raise ValueError("it takes no parameters")
            return [Entry(name, (place, 0.0), parse(pattern))]
        return [Entry(written, (place, 0.0), parse(_filled(name, pattern, parameters, rounding)))]
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{name}.{parameters}: {error}") from None


def _filled(name: str, pattern: str, parameters: str, rounding: str) -> str:
    if name == "11pt_avg":
        levels = "/".join(f"{float(one):.10g}" for one in parameters.split(",")) if parameters else ""
        return pattern.format(f",at={levels}" if levels else "", version=rounding)
    if name == "utility":
        return pattern.format(parameters.replace(",", "/")) if parameters else "Utility"
    if name == "set_F":
        return pattern.format(f"beta={float(parameters):.15g}") if parameters else "SetF"
    if name in ("rbp", "rbp_resid"):
        return pattern.format(parameters.removeprefix("p=") or "0.9")
    if not parameters:
        return pattern.replace("({})", "")
    return pattern.format("gains={" + parameters.replace("=", ":") + "}")
