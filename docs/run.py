"""The examples of a page, run: Python in the page's own names from top to bottom, commands as the shell would."""

import contextlib
import doctest
import io
import os
import re
import shlex
import tempfile
import textwrap
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FENCED = re.compile(r"^( *)```(\w+|\{code-cell\})\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)  # in a list it is indented


def failures(name: str, text: str, keep: Path | None = None, names: dict[str, Any] | None = None) -> list[str]:
    """What does not come out as the page shows it, as one text an example.

    `keep` is where the files it writes stay, and `names` takes what its Python defines.
    """
    found: list[str] = []
    names = {} if names is None else names
    with tempfile.TemporaryDirectory() as passing, contextlib.chdir(keep or passing):
        for file, content in re.findall(r"`([\w.]+)`:\n\n```\w*\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            Path(file).write_text(content, encoding="utf-8")
        for _, language, indented in FENCED.findall(text):
            block = textwrap.dedent(indented)
            if language == "python" and block.startswith(">>> "):
                found += examples(name, block, names)
            elif language == "{code-cell}":
                found += cell(name, block, names)
            elif language == "console":
                found += commands(name, block)
    return found


def examples(name: str, text: str, names: dict[str, Any]) -> list[str]:
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    test.globs = names  # not a copy, as the parser makes it: the next block goes on with these
    said: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append, clear_globs=False)
    return ["".join(said)] if said else []


def cell(name: str, text: str, names: dict[str, Any]) -> list[str]:
    """A notebook's: it only must not fail."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(text, name, "exec"), names)
    except Exception:
        return [f"{name}:\n{text}\n{traceback.format_exc()}"]
    return []


def commands(name: str, text: str) -> list[str]:
    from hitcurve.cli import main as cli

    found = []
    for part in re.split(r"\n(?=\$ )", text):
        command, _, wanted = part.partition("\n")
        program, *arguments = shlex.split(command.removeprefix("$ "))
        if program != "hitcurve":
            continue
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            code = cli.main(arguments)
        if code != 0 or out.getvalue().rstrip() != wanted.rstrip():
            found.append(f"{name}: {command}\nexpected:\n{wanted}\ngot ({code}):\n{out.getvalue()}")
    return found


def docstrings() -> Iterator[tuple[str, str]]:
    """The public docstrings, by name."""
    import hitcurve
    from hitcurve import measures

    public = {name: getattr(hitcurve, name) for name in hitcurve.__all__}
    for name, value in (public | {name: getattr(measures, name) for name in measures.__all__}).items():
        if isinstance(value, type):
            for attribute in dir(value):
                text = getattr(getattr(value, attribute), "__doc__", None)
                if not attribute.startswith("_") and isinstance(text, str):
                    yield f"{name}.{attribute}", text
        if callable(value):
            yield name, value.__doc__ or ""


def docstring_failures() -> list[str]:
    return [failure for name, text in docstrings() if ">>>" in text for failure in examples(name, text, {})]


def pages() -> list[Path]:
    return sorted(path for path in Path(__file__).resolve().parent.glob("*.md") if os.access(path, os.R_OK))
