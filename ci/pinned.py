"""Whether every package of this environment is pinned, at the version that is installed.

usage: pinned.py [--write] CONSTRAINTS
           --write: adds what is missing to the file, and replaces what differs
"""

import re
import sys
from importlib.metadata import distributions
from pathlib import Path

OURS = {"hitcurve", "pip", "setuptools"}  # what is tested, and what a new environment has


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(text: str) -> dict[str, str]:
    lines = (line.partition("#")[0].split(";")[0].strip() for line in text.splitlines())
    return {normal(name): version for name, _, version in (line.partition("==") for line in lines if line)}


def missing(installed: dict[str, str], pinned: dict[str, str]) -> list[str]:
    """The lines that the constraints lack."""
    return sorted(f"{name}=={version}" for name, version in installed.items()
                  if name not in OURS and pinned.get(name) != version)  # fmt: skip


def main() -> int:
    write = sys.argv[1:2] == ["--write"]
    if len(sys.argv) != 2 + write:
        sys.exit(__doc__)
    path = Path(sys.argv[-1])
    installed = {normal(one.name): one.version for one in distributions()}
    text = path.read_text(encoding="utf-8")
    lines = missing(installed, pins(text))
    if write:
        new = {line.partition("==")[0] for line in lines}
        head = [line for line in text.splitlines() if line.startswith("#")]
        rest = [line for line in text.splitlines() if line and line not in head]
        kept = [line for line in rest if normal(line.partition("==")[0]) not in new]
        path.write_text("\n".join([*head, *sorted(kept + lines, key=str.lower), ""]), encoding="utf-8")
    elif lines:
        print(f"{path} does not pin what is installed in {sys.prefix}:", *lines, sep="\n", file=sys.stderr)
        print(f"this writes it: {sys.executable} {Path(__file__).resolve()} --write {path}", file=sys.stderr)
    return int(bool(lines) and not write)


if __name__ == "__main__":
    sys.exit(main())
