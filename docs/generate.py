"""The pages that are made rather than written: the reference; and the runs that check what the other pages show."""

import ast
import importlib
import importlib.util
import inspect
import re
import warnings
from pathlib import Path
from typing import Any

import gallery
import measured
import run
from numpydoc.docscrape import NumpyDocString
from sphinx.pycode import ModuleAnalyzer
from sphinx.util import logging

import hitcurve
from hitcurve import measures

here = Path(__file__).resolve().parent
out = here / "_made"
log = logging.getLogger(__name__)


def keep(path: Path, text: str) -> None:
    """Write only what has changed, so that a second build reads little again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


# --- the reference ----------------------------------------------------------------------------------------------------


def titled(name: str, line: str = "=") -> str:
    return f"{name}\n{line * len(name)}\n\n"


def sentence(lines: list[str]) -> str:
    """The first one of a text."""
    return re.split(r"(?<=\.)\s", " ".join(lines), maxsplit=1)[0]


def where(path: str, value: Any) -> str:
    """The path by which it is described: that of the module that defines it where data are, which has their comment."""
    module, _, name = path.rpartition(".")
    return path if inspect.ismodule(value) or callable(value) else f"{hitcurve._LAZY.get(name, module)}.{name}"


def summary(path: str, value: Any) -> str:
    """One line that says what it is: the docstring's first, or what the source says above data."""
    if inspect.ismodule(value) or callable(value):
        return (inspect.getdoc(value) or "").partition("\n")[0]
    module, _, name = path.rpartition(".")
    return sentence(ModuleAnalyzer.for_module(module).find_attr_docs()["", name])


def summaries(rows: list[tuple[str, str]]) -> str:
    """A table of names and what they are."""
    text = ".. list-table::\n   :class: summary\n   :widths: auto\n\n"
    return text + "".join(f"   * - {name}\n     - {line}\n" for name, line in rows) + "\n"


def linked(parent: str, values: dict[str, Any]) -> str:
    """The table of what has a text of its own, which each name leads to."""
    paths = [(where(f"{parent}.{name}", value), value) for name, value in values.items()]
    return summaries([(f":py:obj:`~{path}`", summary(path, value)) for path, value in paths])


def members(path: str, value: type) -> str:
    """What a class has, in tables by kind; its attributes are described in its own docstring."""
    groups: dict[str, dict[str, Any]] = {}
    for name in (name for name in dir(value) if not name.startswith("_")):
        if callable(member := getattr(value, name)):
            measures_it = {name, name.removeprefix("mean_")} & MEASURED
            kind = "Other ways to make one" if name.startswith("from_") else "Measures" if measures_it else "Methods"
            groups.setdefault(kind, {})[name] = member
    text = "".join(titled(kind, "-") + linked(path, members) for kind, members in sorted(groups.items()))
    rows = [(", ".join(f"``{name}``" for name in found.name.split(", ")), sentence(found.desc) or found.type)
            for found in NumpyDocString(inspect.getdoc(value) or "")["Attributes"]]
    return text + (titled("Attributes", "-") + summaries(rows) if rows else "")


MEASURED = {record.method for record in measures.MEASURES}


def compiled_signature(value: type) -> str:
    """The arguments that make a compiled class: it cannot be asked for them, its stub can."""
    stub = Path(hitcurve.__file__).parents[1].joinpath(*value.__module__.split(".")).with_suffix(".pyi")
    if not stub.exists():
        return ""
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == value.__name__:
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                    arguments = method.args
                    arguments.args = arguments.args[1:]
                    for argument in [*arguments.args, *arguments.kwonlyargs]:
                        argument.annotation = None
                    return "(" + public(ast.unparse(arguments)) + ")"
    return ""


def public(signature: str) -> str:
    """Without the arguments that begin with an underscore: the tests' own."""
    return re.sub(r", (\*\*)?_\w+(=\w+)?", "", signature)


def public_signature(app: Any, what: str, name: str, value: Any, options: Any, signature: str | None,
                     returns: str | None) -> tuple[str | None, str | None]:
    return (public(signature) if signature else signature), returns


def directive(path: str, value: Any) -> str:
    module, _, name = path.rpartition(".")
    if inspect.isclass(value):
        plain_tuple = issubclass(value, tuple)
        ours = all(base.__module__.startswith("hitcurve") for base in value.__mro__[:-1])
        options = "" if plain_tuple else "   :members:\n" + ("   :inherited-members:\n" if ours else "")
        signature = "" if plain_tuple else compiled_signature(value)
        return f".. currentmodule:: {module}\n\n.. autoclass:: {name}{signature}\n{options}\n"
    if inspect.isroutine(value):
        return f".. currentmodule:: {module}\n\n.. autofunction:: {name}\n\n"
    return f".. autodata:: {where(path, value)}\n   :no-value:\n\n"


PUBLIC_MODULES = (
    "measures", "ir_measures", "spark", "compat.pytrec_eval", "compat.ranx", "compat.sklearn_metrics",
    "compat.rdkit_scoring", "compat.torchmetrics",
)


def page(path: str, value: Any) -> str:
    """What it is in one line, then, of a class, what it has, then all that its docstrings say."""
    text = titled(path.removeprefix("hitcurve."))
    if not inspect.isclass(value) or issubclass(value, tuple):
        return text + directive(path, value)
    return text + f"{summary(path, value)}\n\n{members(path, value)}{titled('Details', '-')}{directive(path, value)}"


def reference() -> None:
    pages, groups = {}, {"Functions": {}, "Classes": {}, "Results": {}, "Data": {}, "Modules": {}}
    for name in sorted(hitcurve.__all__, key=str.lower):
        value = getattr(hitcurve, name)
        if inspect.isclass(value):
            kind = "Results" if issubclass(value, tuple) else "Classes"
        else:
            kind = "Functions" if callable(value) else "Data"
        groups[kind][name] = value
        pages[name] = page(f"hitcurve.{name}", value)
    for name in PUBLIC_MODULES:
        if importlib.util.find_spec(f"hitcurve.{name}") is None:
            continue
        path = f"hitcurve.{name}"
        module = groups["Modules"][name] = importlib.import_module(path)
        values = {one: getattr(module, one) for one in module.__all__}
        pages[path] = titled(path) + f".. automodule:: {path}\n   :no-members:\n\n{linked(path, values)}"
        pages[path] += titled("Details", "-")
        pages[path] += "".join(directive(f"{path}.{one}", value) for one, value in values.items())
    index = titled("Reference") + "Made from the docstrings; ``help(hitcurve.average_precision)`` shows the same.\n\n"
    index += "".join(titled(kind, "-") + linked("hitcurve", values) for kind, values in groups.items() if values)
    pages["index"] = index + ".. toctree::\n   :hidden:\n\n" + "".join(f"   {name}\n" for name in pages)
    folder = out / "reference"
    for name, text in pages.items():
        keep(folder / f"{name}.rst", text)
    for stale in folder.glob("*.rst"):
        if stale.stem not in pages:
            stale.unlink()


# --- why tools disagree -----------------------------------------------------------------------------------------------


def check_disagreements() -> None:
    """Run every case with the tools that are installed here. The page has their numbers already: docs/measured.py."""
    import discrepancies

    for record in discrepancies.RECORDS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the peers
            record.shown()


def generate(app: Any) -> None:
    reference()
    check_disagreements()
    for page in measured.MADE:
        text = (here / page).read_text(encoding="utf-8")
        if measured.rewritten(page, text) != text:
            log.warning("%s is not what python docs/measured.py writes", page)
    for failure in run.docstring_failures():
        log.warning("an example in a docstring: %s", failure)


def check_examples(app: Any, name: str, source: list[str]) -> None:
    if not name.startswith(("_made", "notebook-")):  # notebooks are run as such
        for failure in gallery.failures(name, source[0]):
            log.warning("%s", failure, location=name)


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", generate)
    app.connect("source-read", check_examples)
    app.connect("autodoc-process-signature", public_signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
