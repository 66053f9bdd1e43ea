"""The names of trec_eval that take parameters, and the names here of what they stand for."""

from __future__ import annotations

__all__ = ["PARAMETERS", "names_here"]

_CUTOFFS = "5,10,15,20,30,100,200,500,1000"
_LEVELS = "0.0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0"

# The default parameters, and the name or names here ({} for a parameter); the rest have none, and the same name.
PARAMETERS = {
    "runid": ("", ""), "iprec_at_recall": (_LEVELS, "IPrec(levels={version})@{}"), "P": (_CUTOFFS, "P@{}"),
    "relstring": ("10", ""), "recall": (_CUTOFFS, "R@{}"),
    "Rprec_mult": ("0.2,0.4,0.6,0.8,1.0,1.2,1.4,1.6,1.8,2.0", "RprecMult({})"), "utility": ("", "Utility({})"),
    "11pt_avg": ("", "IPrecAvg(levels={version}{})"), "G": ("", "G({})"), "ndcg": ("", "nDCG({})"),
    "ndcg_rel": ("", "nDCGrel({})"), "Rndcg": ("", "RnDCG({})"), "ndcg_cut": (_CUTOFFS, "nDCG@{}"),
    "map_cut": (_CUTOFFS, "AP@{}"), "relative_P": (_CUTOFFS, "RelP@{}"), "success": ("1,5,10", "Success@{}"),
    "set_F": ("", "SetF({})"), "rbp": ("", "RBP(p={})"), "rbp_resid": ("", "RBPResid(p={})"),
    "unj": ("5,10,20", "Unjudged@{}"), "map_avgjg": ("", "AP"), "P_avgjg": (_CUTOFFS, "P@{}"),
    "Rprec_mult_avgjg": ("0.2,0.4,0.6,0.8,1.0,1.2,1.4,1.6,1.8,2.0", "RprecMult({})"),
}


def names_here(name: str, parameters: str, version: int) -> list[tuple[str, float, str]]:
    """Of each line that trec_eval prints of a name: what it calls the line, the number it sorts by, and the name here.

    The name here is empty for what is no measure. Raises ValueError or OverflowError for parameters that are none.
    """
    defaults, pattern = PARAMETERS.get(name, ("", name))
    rounding = f"trec_eval{version}"
    if name == "runid":
        return [(name, 0.0, "")]
    written = f"{name}_{parameters}" if parameters else name
    if name == "relstring":
        return [(written, 0.0, "")]
    if name in ("iprec_at_recall", "Rprec_mult", "Rprec_mult_avgjg"):
        numbers = sorted({float(one) for one in (parameters or defaults).split(",")})
        return [(f"{name}_{one:3.2f}", one, pattern.format(f"{one:.10g}", version=rounding)) for one in numbers]
    if defaults:
        whole = sorted({int(float(one)) for one in (parameters or defaults).split(",")})
        return [(f"{name}_{one}", float(one), pattern.format(one)) for one in whole]
    if "{" not in pattern:
        if parameters:
            raise ValueError("it takes no parameters")
        return [(name, 0.0, pattern)]
    return [(written, 0.0, _filled(name, pattern, parameters, rounding))]


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
