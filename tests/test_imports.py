"""Imports run one way: every module stands on a layer, and takes only from layers below or from its own folder."""

import re
from graphlib import TopologicalSorter
from pathlib import Path

import hitcurve

SOURCE = Path(__file__).resolve().parents[1] / "src" / "hitcurve"
# From the ground up. A folder is one name; the modules of a line may use each other, but not in a circle.
LAYERS = """
    _kernel
    _base results measures shown tools _trec_names _version
    curves capi
    retrieval sources statistics
    report
    presets ir_measures spark compat
    cli
    __init__ __main__
"""
HEIGHT = {name: layer for layer, names in enumerate(LAYERS.splitlines()) for name in names.split()}
APART = {"retrieval", "sources", "statistics"}
# The drop-ins use hitcurve's public names, and these modules where public names are slower or lack the function.
DROP_INS = {"compat", "ir_measures"}
BESIDE = {
    "_base.checks", "_base.extras", "_base.files", "_base.words", "_trec_names", "measures", "shown.grid",
    "statistics.paired", "retrieval.nested", "retrieval.plans", "retrieval.runs", "retrieval.trec_eval",
}  # fmt: skip
# The methods of the curves that hand over to a higher layer.
DELEGATING = {("base.pyx", method) for method in ("interval", "resample", "plot")}
DELEGATING |= {("hit.pyx", "p_value"), ("hit.pyx", "plot"), ("gain.pyx", "plot"), ("subtopics.py", "plot")}
OF_CURVES = {*DELEGATING}
DELEGATING |= {(file, "plot") for file in ("evaluation.py", "comparison.py")}
DELEGATING |= {("evaluation.py", "interval"), ("leaderboard.py", "_compared")}
LINE = re.compile(r"^([ \t]*)(?:from (hitcurve[\w.]*) c?import (\([^)]*\)|[^\n#]+)|c?import (hitcurve[\w.]*))", re.M)
FILES = sorted(path for path in SOURCE.rglob("*.p*") if path.suffix in (".py", ".pyx", ".pxd"))


def imports(path, delegating=DELEGATING):
    """Of each import and cimport, also inside functions: what it takes, as a dotted name below the package."""
    text = re.sub(r'"""(?:.|\n)*?"""', "", path.read_text(encoding="utf-8"))
    text = re.sub(r"^( *)if (?:typing\.)?TYPE_CHECKING:\n(?:\1 +.*\n|\n)+", "", text, flags=re.M)
    for found in LINE.finditer(text):
        outer = rf"^[ \t]{{0,{len(found[1]) - 1}}}(?:cdef |cpdef )?[\w ]+? (\w+)\(" if found[1] else r"(?!)"
        around = re.findall(outer, text[: found.start()], re.M)[-1:]
        if (path.name, *around) not in delegating:
            for name in re.findall(r"(\w+)(?: as \w+)?", found[3] or "") or [""]:
                yield f"{found[2] or found[4]}.{name}".removeprefix("hitcurve").strip(".")


def module(name):
    """The module that holds a dotted name, and what follows it."""
    parts = name.split(".")
    size = max((n for n in (1, 2) if any(SOURCE.glob("/".join(parts[:n]) + ".p*"))), default=1)
    return ".".join(parts[:size]), parts[size:]


EDGES = {path: [module(name) for name in imports(path)] for path in FILES}


def place(path):
    return path.relative_to(SOURCE).parts[0].split(".")[0]


def test_every_module_has_a_layer():
    assert {place(path) for path in FILES} <= set(HEIGHT)
    assert sum(map(len, EDGES.values())) > 100
    assert not [path for path in FILES if re.search(r"^\s*from \.", path.read_text(encoding="utf-8"), re.M)]


def test_imports_run_down():
    for path in FILES:
        here, name = place(path), path.relative_to(SOURCE).as_posix()
        for target, names in EDGES[path]:
            there = target.split(".")[0]
            if here in DROP_INS and target in hitcurve.__all__:
                continue
            assert there in HEIGHT, f"{name}: {target}: import it from the module that defines it"
            assert there == here or HEIGHT[there] <= HEIGHT[here], f"{name}: {target} lies above"
            assert there == here or not {here, there} <= APART, f"{name}: {target} lies beside"
            own = "." in target and names and names[0][0] == "_"
            assert there == here or not own, f"{name}: {names[0]} is {target}'s own"


def test_drop_ins_use_public_names():
    beside = {target for path in FILES if place(path) in DROP_INS for target, _ in EDGES[path]} - {*hitcurve.__all__}
    assert {target for target in beside if not target.startswith("compat.")} == BESIDE


def test_no_circles():
    """Nor through a method that hands over to a higher layer, but for the curves, which every layer uses."""
    below = {}
    for path in FILES:
        name, targets = ".".join(path.relative_to(SOURCE).with_suffix("").parts), map(module, imports(path, OF_CURVES))
        below.setdefault(name, set()).update(target for target, _ in targets if target != name)
    assert len(list(TopologicalSorter(below).static_order())) >= len(below)
