"""trec_eval's names: its sets of measures, its parameters and its order."""

from __future__ import annotations

import re
from typing import NamedTuple

from hitcurve._trec_names import PARAMETERS, names_here
from hitcurve.measures import Measure, parse

__all__ = ["Entry", "expand", "names_of"]

# In the order of trec_eval's output.
_NAMES = (
    "runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank",
    "iprec_at_recall", "P", "relstring", "recall", "infAP", "gm_bpref", "Rprec_mult", "utility", "11pt_avg", "binG",
    "G", "ndcg", "ndcg_rel", "Rndcg", "ndcg_cut", "map_cut", "relative_P", "success", "set_P", "set_relative_P",
    "set_recall", "set_map", "set_F", "num_nonrel_judged_ret", "rbp", "rbp_resid", "unj",
    "prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret", "prefs_simp", "prefs_pair", "prefs_avgjg",
    "prefs_avgjg_Rnonrel", "prefs_simp_ret", "prefs_pair_ret", "prefs_avgjg_ret", "prefs_avgjg_Rnonrel_ret",
    "prefs_simp_imp", "prefs_pair_imp", "prefs_avgjg_imp", "map_avgjg", "P_avgjg", "Rprec_mult_avgjg",
)
_PREFS, _AVGJG = _NAMES.index("prefs_num_prefs_poss"), _NAMES.index("map_avgjg")
_SETS = {"official": _NAMES[:12], "all_trec": _NAMES[:_PREFS],
         "all_prefs": (*_NAMES[:2], *_NAMES[_PREFS:_AVGJG]), "prefs": (*_NAMES[:2], *_NAMES[_PREFS : _PREFS + 6]),
         "qrels_jg": (*_NAMES[:2], *_NAMES[_AVGJG:]),
         "set": (*_NAMES[:5], "utility", "set_P", "set_recall", "set_relative_P", "set_map", "set_F")}
_ONLY_10 = ("rbp", "rbp_resid", "unj")
_PLACES = {name: place for place, name in enumerate(_NAMES)}


class Entry(NamedTuple):
    """A line of trec_eval's output: its name, and the measure (None for the run's tag and the string of levels)."""

    name: str
    place: tuple[int, float]
    measure: Measure | None
    length: int = 0
    given: bool = False
    """Whether the caller gave parameters, which then replace the default parameters."""


def expand(text: str, version: int = 10) -> list[Entry]:
    """The lines that one ``-m`` of trec_eval prints. Any other name of a hitcurve measure gives one line.

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
    if name in _PLACES and not re.fullmatch(r"rbp[.][0-9]+(-l[0-9]+)?", text):  # a name of ranx
        return [entry._replace(given=bool(parameters)) for entry in _lines(name, parameters, version)]
    measure = parse(text)
    return [_named(measure, text, version)]


def names_of(text: str, version: int = 10) -> list[str]:
    """The names of the measures in a set of trec_eval.

    Examples
    --------
    >>> len(names_of("all_trec", 9))
    34
    """
    return [name for name in _SETS[text] if version >= 10 or name not in _ONLY_10]


def _named(measure: Measure, text: str, version: int) -> Entry:
    """The line of a measure, under trec_eval's name if that name means the same measure."""
    pattern = re.fullmatch(r"(.*)_([0-9.]+)", text)
    root = pattern[1] if pattern and pattern[1] in _PLACES else text
    if root in _PLACES:
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
    place = _PLACES[name]
    try:
        length = int(float(parameters or PARAMETERS[name][0])) if name == "relstring" else 0
        return [Entry(written, (place, number), parse(ours) if ours else None, length)
                for written, number, ours in names_here(name, parameters, version)]
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{name}.{parameters}: {error}") from None
