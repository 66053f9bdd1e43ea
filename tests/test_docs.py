"""The pages of the documentation show what happens, and the docstrings that make its reference are whole."""

import inspect
import re
import sys
from pathlib import Path

import optional
import pytest

import hitcurve as hc

DOCS = Path(__file__).resolve().parents[1] / "docs"
sys.path.insert(0, str(DOCS))
import run  # noqa: E402

PAGES = run.pages()


FOLDER = pytest.mark.thread_unsafe(reason="examples have the process's working folder and standard output")


@FOLDER
@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_page(page):
    """Examples and commands, from top to bottom."""
    text = page.read_text(encoding="utf-8")
    if absent := optional.missing(text):
        pytest.skip(f"needs {absent}")
    found = run.failures(page.name, text)
    assert not found, "\n".join(found)


@FOLDER
def test_a_wrong_page_is_found():
    assert run.failures("page", "```python\n>>> 1 + 1\n2\n```\n") == []
    assert len(run.failures("page", "```python\n>>> 1 + 1\n3\n```\n")) == 1
    assert len(run.failures("page", "```console\n$ hitcurve measures AP\nnothing\n```\n")) == 1
    assert len(run.failures("page", "a\n: b\n\n  ```python\n  >>> 1 + 1\n  3\n\n  ```\n")) == 1


def test_every_page_is_linked():
    """A page that no table of contents names is never found."""
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    blocks = re.findall(r"```\{toctree\}.*?```", text, re.DOTALL)
    listed = {name for block in blocks for name in re.findall(r"^([\w-]+)$", block, re.MULTILINE)}
    assert {page.stem for page in PAGES} == listed | {"index"}


def functions():
    for name in hc.__all__:
        value = getattr(hc, name)
        if inspect.isclass(value):
            for attribute in dir(value) if not issubclass(value, tuple) else ():  # the inherited ones too
                member = getattr(value, attribute)
                if not attribute.startswith("_") and callable(member):
                    yield f"{name}.{attribute}", member
        elif callable(value):
            yield name, value


FUNCTIONS = dict(functions())


def sections(function):
    """The sections of a numpydoc docstring, by their titles."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.getdoc(function), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_docstring_is_whole(name):
    function = FUNCTIONS[name]
    found = sections(function)
    parameters = [p for p in inspect.signature(function).parameters if p not in ("self", "cls") and p[0] != "_"]
    described = {part.strip() for line in re.findall(r"^(\w.*)$", found.get("Parameters", ""), re.MULTILINE)
                 for part in re.split(r"[,:]", line)}
    assert set(parameters) <= described, f"{name}: {set(parameters) - described} not under Parameters"
    assert "Returns" in found or "Yields" in found or name == "HitCounter.update"
    assert ">>> " in found.get("Examples", ""), f"{name} shows no example"
