"""The pages that are made rather than written: the reference and the disagreements."""

import ast
import importlib
import importlib.util
import inspect
import re
import warnings
from pathlib import Path
from typing import Any

import run
from measured import table
from sphinx.util import logging

import hitcurve

here = Path(__file__).resolve().parent
out = here / "_made"
log = logging.getLogger(__name__)


def keep(path: Path, text: str) -> None:
    """Write only what has changed, so that a second build reads little again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


# --- the reference ----------------------------------------------------------------------------------------------------


def titled(name: str) -> str:
    return f"{name}\n{'=' * len(name)}\n\n"


def compiled_signature(value: type) -> str:
    """The arguments that make a compiled class: it cannot be asked for them, its stub can."""
    stub = Path(hitcurve.__file__).with_name(value.__module__.rpartition(".")[2] + ".pyi")
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
    return re.sub(r", _\w+=\w+", "", signature)


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
    where = hitcurve._LAZY.get(name, module)  # its comment is read from the source of the module that defines it
    return f".. autodata:: {where}.{name}\n   :no-value:\n\n"


PUBLIC_MODULES = (
    "measures", "ir_measures", "spark", "compat.pytrec_eval", "compat.ranx", "compat.sklearn_metrics",
    "compat.rdkit_scoring", "compat.torchmetrics",
)


def modules() -> list[str]:
    """The modules that users import, beyond the package itself; those that are there."""
    return [f"hitcurve.{name}" for name in PUBLIC_MODULES if importlib.util.find_spec(f"hitcurve.{name}") is not None]


def reference() -> None:
    folder = out / "reference"
    groups: dict[str, list[str]] = {"Functions": [], "Classes": [], "Results": [], "Data": []}
    wanted = set()
    for name in hitcurve.__all__:
        value = getattr(hitcurve, name)
        if inspect.isclass(value):
            groups["Results" if issubclass(value, tuple) else "Classes"].append(name)
        else:
            groups["Functions" if callable(value) else "Data"].append(name)
        keep(folder / f"{name}.rst", titled(name) + directive(f"hitcurve.{name}", value))
        wanted.add(f"{name}.rst")
    text = titled("Reference") + "Made from the docstrings; ``help(hitcurve.average_precision)`` shows the same.\n\n"
    for group, names in groups.items():
        if names:
            text += f"{group}\n{'-' * len(group)}\n\n.. toctree::\n   :maxdepth: 1\n\n"
            text += "".join(f"   {name}\n" for name in sorted(names, key=str.lower)) + "\n"
    others = modules()
    if others:
        text += "Modules\n-------\n\n.. toctree::\n   :maxdepth: 1\n\n" + "".join(f"   {name}\n" for name in others)
    for path in others:
        module = importlib.import_module(path)
        page = titled(path) + f".. automodule:: {path}\n   :no-members:\n\n"
        for name in module.__all__:
            page += directive(f"{path}.{name}", getattr(module, name))
        keep(folder / f"{path}.rst", page)
        wanted.add(f"{path}.rst")
    keep(folder / "index.rst", text)
    for stale in {path.name for path in folder.glob("*.rst")} - wanted - {"index.rst"}:
        (folder / stale).unlink()


# --- why tools disagree -----------------------------------------------------------------------------------------------


def number(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(number(one) for one in value) if value else "nothing"
    if isinstance(value, float):
        if value.is_integer() and abs(value) >= 1000:
            return f"{value:,.0f}"
        return "NaN" if value != value else f"{round(value, 4) + 0.0:.4f}"  # never -0.0000
    return str(value)


def code(text: str) -> str:
    return f"`{text}`"


def disagreements_page() -> None:
    import discrepancies

    text, versions = "", {}
    for section in discrepancies.SECTIONS:
        text += f"## {section}\n\n"
        for record in discrepancies.RECORDS:
            if record.section != section:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of the peers
                shown = record.shown()
            versions.update(shown.run_with)
            text += f"### {record.title}\n\n{record.why}\n\n"
            text += "```python\n" + "\n".join(shown.data) + "\n```\n\n"
            lines = [[line.who, code(line.call), number(line.value)] for line in shown.lines if not line.ours]
            lines += [[f"**{line.who}**", code(line.call), number(line.value)] for line in shown.lines if line.ours]
            text += table(["tool", "call or measure", "result"], lines) + "\n"
            if shown.bands:
                bands = [[code(b.call), number(b.worst), number(b.expected), number(b.best)] for b in shown.bands]
                text += table(["over all orders of the ties", "worst", "expected", "best"], bands) + "\n"
    ran = ", ".join(f"{name} {found}" for name, found in sorted(versions.items()))
    head = f"Run with {ran or 'no other tool'}, numpy {importlib.import_module('numpy').__version__}.\n"
    keep(out / "versions.md", head)
    keep(out / "disagreements.md", text)


def generate(app: Any) -> None:
    reference()
    disagreements_page()
    for failure in run.docstring_failures():
        log.warning("an example in a docstring: %s", failure)


def check_examples(app: Any, name: str, source: list[str]) -> None:
    if not name.startswith("_made"):
        for failure in run.failures(name, source[0]):
            log.warning("%s", failure, location=name)


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", generate)
    app.connect("source-read", check_examples)
    app.connect("autodoc-process-signature", public_signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
