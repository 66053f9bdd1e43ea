"""What sdist and wheel hold, and what the compiled modules need and show.

usage: package.py CHECKOUT SDIST WHEEL FOLDER-OF-THE-BUILD
"""

import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

LIBRARIES = {"libc.so.6", "libm.so.6", "libpthread.so.0", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}  # one: libc
MUSL = re.compile(r"libc\.musl-\w+\.so\.1|libc\.so")


def fail(text):
    sys.exit(f"package.py: {text}")


def same(what, found, expected):
    if found != expected:
        fail(f"{what}: unexpected {sorted(found - expected)}, missing {sorted(expected - found)}")


def expected_in_wheel(source, names):
    """The wheel's files by rule: every Python file and stub of the package, what others compile against, a module for
    every .pyx, and the metadata."""
    package = source / "src" / "hitcurve"

    def inside(path):
        return f"hitcurve/{path.relative_to(package).as_posix()}"

    files = {inside(path) for kind in ("*.py", "*.pyi") for path in package.rglob(kind)}
    files |= {f"hitcurve/{name}" for name in ("py.typed", "__init__.pxd", "capi.pxd", "hitcurve.h")}
    # Each .pyx is a module. The module that they share has a stub alone.
    for path in [*package.rglob("*.pyx"), package / "_base" / "_cython_hitcurve.pyi"]:
        module = re.escape(inside(path.with_suffix("")))
        built = [name for name in names if re.fullmatch(rf"{module}\.[\w-]+\.(so|pyd)", name)]
        if len(built) != 1:
            fail(f"{inside(path)} has the modules {built}")
        files.add(built[0])
    info = next(name.split("/")[0] for name in names if ".dist-info/" in name)
    metadata = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "top_level.txt", "licenses/LICENSE",
                "licenses/LICENSE-numpy")
    return files | {f"{info}/{name}" for name in metadata}


def check_module(path, secrets):
    data = path.read_bytes()
    for secret in secrets:
        if secret.encode() in data:
            fail(f"{path.name} holds the path {secret}")
    if not data.startswith(b"\x7fELF"):
        return
    if shutil.which("readelf") is None or shutil.which("nm") is None:
        print("no readelf or nm here: libraries and symbols not looked at")
        return
    dynamic = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
    needed = set(re.findall(r"NEEDED.*\[(.+)\]", dynamic))
    if any(name not in LIBRARIES and not MUSL.fullmatch(name) for name in needed):
        fail(f"{path.name} needs {sorted(needed)}: more than libc")
    if re.search(r"RPATH|RUNPATH|TEXTREL", dynamic):
        fail(f"{path.name} has a search path or text relocations")
    shown = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1] for line in shown.splitlines()}
    stem = path.name.split(".")[0]
    same(f"symbols of {path.name}", {name for name in names if not name.startswith("__pyx_module_is_main_")},
         {f"PyInit_{stem}"})  # fmt: skip
    undefined = subprocess.run(
        ["nm", "-D", "--undefined-only", path], capture_output=True, text=True, check=True
    ).stdout
    if "GLIBC_" in undefined:  # its names have versions; one without is of a library that is not named as needed
        bare = {name for name in re.findall(r"\bU (\S+)", undefined) if "@" not in name and not re.match(r"_?Py", name)}
        if bare:
            fail(f"{path.name} is not linked with what has {sorted(bare)}")
    foreign = {name for name in re.findall(r"\b[Uw] (\S+)", undefined) if "GLIBCXX" in name or "GOMP" in name}
    if foreign:
        fail(f"{path.name} asks for {sorted(foreign)}")


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    checkout, sdist, wheel, build = map(Path, sys.argv[1:])
    listed = subprocess.run(["git", "ls-files"], cwd=checkout, capture_output=True, text=True)
    with tarfile.open(sdist) as archive:
        inside = {member.name.split("/", 1)[1] for member in archive.getmembers() if member.isfile()}
    if listed.returncode == 0:
        tracked = {name for name in listed.stdout.splitlines() if (checkout / name).exists()}
        tracked = {name for name in tracked if not name.startswith(".")}
        made = {"PKG-INFO", "setup.cfg"} | {name for name in inside if ".egg-info/" in name}
        same("the sdist", inside - made, tracked)
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        names = set(archive.namelist())
        same("the wheel", names, expected_in_wheel(checkout, names))
        archive.extractall(folder)
        modules = [path for path in Path(folder).rglob("*") if path.suffix in (".so", ".pyd")]
        for path in modules:
            check_module(path, {str(checkout), str(build), str(Path.home())})
    size = wheel.stat().st_size
    print(f"{sdist.name}: {len(inside)} files; {wheel.name}: {len(names)} files, {size / 2**20:.2f} MiB")


if __name__ == "__main__":
    main()
