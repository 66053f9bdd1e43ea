"""The extension modules, and how they are compiled; everything else is in pyproject.toml.

What is compiled stays in build/tree-KEY: a folder for each Python, compiler, set of flags, Cython and numpy, which all
builds of this checkout share. A module becomes C again when the contents of a file change that its .pyx needs, and is
compiled again when its C changes. `python setup.py warnings` shows what Cython and the compiler said of the modules.
"""
import atexit
import hashlib
import multiprocessing
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from threading import get_ident
from typing import ClassVar

import Cython
import numpy
from Cython.Build import cythonize
from Cython.Build.Dependencies import create_dependency_tree
from Cython.Compiler.Main import Context
from Cython.Compiler.Options import CompilationOptions
from setuptools import Command, Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

# Compiled with -O3: loops over items, which it vectorizes, and the calls of arrays, where each instruction counts.
FAST = [
    "_kernel.sort", "_kernel.columns", "_kernel.thresholds", "_kernel.parts", "_kernel.count", "_kernel.roc",
    "_kernel.formulas", "_kernel.table", "_kernel.draw", "_kernel.flips", "_kernel.err", "_kernel.gains",
    "_kernel.graded", "_kernel.pairwise", "_kernel.users", "_kernel.novelty", "_kernel.overlap",
    "curves.blocks", "curves.hit", "curves.levels", "retrieval.trec_sums", "retrieval.lines", "retrieval.ranks",
    "retrieval.nested", "retrieval.overlaps", "retrieval.preferences", "retrieval.run_tables", "compat.rows",
]
# Checks, objects and calls of kernels. With -O3 they take twice as long to compile, and calls take as many instructions
# (ci/instructions).
GLUE = [
    "_base.checks", "curves.ranking", "curves.base", "curves.gain_measures", "curves.gain", "curves.bundles",
    "retrieval.runs", "retrieval.plans", "capi",
]
# Cython's memoryviews are more code than what uses them. These modules take them from a shared module. The others do
# not share: keyword arguments would come from that module too, which takes 2 to 3 % more instructions in small calls.
# Cython puts the bare name of this module into sys.modules, beside its own _cython_3_3_1.
SHARED = "_base._cython_hitcurve"
SHARING = [
    "_kernel.draw", "_kernel.flips", "curves.blocks", "curves.ranking", "retrieval.overlaps", "retrieval.plans",
    "retrieval.preferences", "retrieval.run_tables", "retrieval.runs", "compat.rows",
]
MODULES = [*FAST, *GLUE, SHARED]
DIRECTIVES = {
    "language_level": 3,
    "cdivision": True,
    "wraparound": False,
    "boundscheck": False,
    "initializedcheck": False,
    "freethreading_compatible": True,
    "auto_pickle": False,  # what can be pickled says how
    "autotestdict": False,  # would add a __test__ that stubs do not know
}
MATH = [] if sys.platform == "win32" else ["m"]
SAMPLERS = {  # numpy's own, as a static library in its wheel
    "libraries": ["npyrandom", *MATH],
    "library_dirs": [os.path.join(os.path.dirname(numpy.__file__), "random", "lib")],
}

link_flags = []
if sys.platform == "win32":
    # Not run yet on Windows. /fp:precise never fuses a*b+c, as -ffp-contract=off below.
    flags, link_flags = ["/O2", "/fp:precise", "/utf-8"], ["/Brepro"]
    for_fast = for_glue = []
else:
    # -ffp-contract=off keeps results equal to the last bit on every instruction set: compilers fuse a*b+c where the
    # machine can, which rounds differently. -g0: what Python was built with often asks for debug information, which
    # holds the folder of the build and so makes no build like another. -Wextra: for the command `warnings`.
    flags = ["-ffp-contract=off", "-g0", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wno-unused-parameter",
             "-Wno-missing-field-initializers", "-Wno-cast-function-type"]
    for_fast = ["-O3"]
    # Calls of a few items take as many instructions as with -O3 when small functions are inlined (ci/instructions).
    for_glue = ["-O1", "-finline-functions", "-finline-small-functions", "-findirect-inlining", "-fpartial-inlining"]
    if sys.platform.startswith("linux"):
        link_flags = ["-Wl,--exclude-libs,ALL"]  # nothing is exported but what Python asks for
if os.environ.get("HITCURVE_DEBUG"):
    flags = [*flags, "-g", "-fno-omit-frame-pointer"]
    for_fast = for_glue = ["-O1"]  # for ci/sanitize


def extension(name):
    path = name.replace(".", "/")
    return Extension(
        f"hitcurve.{name}",
        [f"hitcurve/{path}.c" if name == SHARED else f"src/hitcurve/{path}.pyx"],
        include_dirs=[numpy.get_include(), "src/hitcurve/_kernel", "src/hitcurve/retrieval"],
        define_macros=[
            ("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION"),
            # The oldest numpy that a wheel runs on; in step with `dependencies` in pyproject.toml.
            ("NPY_TARGET_VERSION", "NPY_2_0_API_VERSION"),
        ],
        extra_compile_args=[*flags, *(for_fast if name in FAST else for_glue)],
        extra_link_args=link_flags,
        **(SAMPLERS if name == "_kernel.draw" else {"libraries": MATH}),
    )


def bare(ext):
    """The extension without its settings, whose folders would stand in the C. The shared module has no source."""
    return Extension(ext.name, [file for file in ext.sources if file.endswith(".pyx")])


# ---------------------------------------------------------------------------------------------- what is kept of a build

TREES = 8  # of so many Pythons, compilers, flags and versions the trees are kept; those used last


def digest(*parts):
    """A short name for what the parts hold. A Path stands for its contents."""
    found = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, Path) else repr(part).encode()
        found.update(b"%d:" % len(data) + data)
    return found.hexdigest()[:16]


def tree():
    """The folder of compiled modules that this Python, compiler, flags, Cython and numpy share."""
    compiler = os.environ.get("CC") or sysconfig.get_config_var("CC") or ""
    try:
        version = subprocess.run([*compiler.split(), "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        version = ""  # the build itself says that there is no compiler
    names = ("CFLAGS", "CPPFLAGS", "LDFLAGS", "LDSHARED", "ARCHFLAGS", "HITCURVE_DEBUG")
    key = digest(
        sys.version, sysconfig.get_config_var("EXT_SUFFIX"), platform.machine(), compiler, version,
        [os.environ.get(name) for name in names], DIRECTIVES, Cython.__version__, numpy.__version__,
    )
    return Path("build", f"tree-{key}")


def made(folder):
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def alone(folder):
    """One build at a time in a tree. The trees that were used least recently are removed."""
    os.utime(made(folder))
    by_use = sorted(folder.parent.glob("tree-*"), key=lambda path: path.stat().st_mtime)
    for old in by_use[:-TREES]:
        shutil.rmtree(old, ignore_errors=True)
    with open(folder / "lock", "w") as lock:
        if os.name == "posix":
            import fcntl
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def kept(path, state):
    """Whether a file was made from what has this state."""
    note = path.with_name(path.name + ".state")
    return path.exists() and note.exists() and note.read_text() == state


def forget(path):
    """Before a file is made again: what is left if that fails is of no state."""
    path.with_name(path.name + ".state").unlink(missing_ok=True)


def keep(path, state):
    path.with_name(path.name + ".state").write_text(state)


def warnings_of(module):
    return module.with_name(module.name + ".warnings")


@contextmanager
def said_by_children():
    """A list that gets the lines which this process and its children write to standard error. They are shown too."""
    lines, stderr = [], os.dup(2)
    with TemporaryFile("w+", encoding="utf-8", errors="replace") as file:
        sys.stderr.flush()
        os.dup2(file.fileno(), 2)
        try:
            yield lines
        finally:
            sys.stderr.flush()
            os.dup2(stderr, 2)
            os.close(stderr)
            file.seek(0)
            lines += file
            sys.stderr.writelines(lines)


def say(text):
    print(f"== hitcurve: {text}", file=sys.stderr, flush=True)


def headers(path, folders):
    """The headers of ours that a file of C includes, and those that they include."""
    found, waiting = set(), [path]
    while waiting:
        text = waiting.pop().read_text(encoding="utf-8")
        for name in re.findall(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', text, re.M):
            for header in {Path(folder, name) for folder in folders if Path(folder, name).is_file()} - found:
                found.add(header)
                waiting.append(header)
    return sorted(found)


def jobs():
    """How many modules are compiled at once: as many as there are cores, and half of the memory has gibibytes."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        memory = 2**32
    return max(1, min(cores, memory // 2**31))


# ------------------------------------------------------------------------------------------------------------- commands

class BuildExtensions(build_ext):
    def build_extensions(self):
        self.tree, self.force = tree(), True
        with alone(self.tree):
            written = self.write_c()
            self.code = {ext.name: self.code_of(ext) for ext in self.extensions}
            self.stale = {ext.name for ext in self.extensions if not kept(self.module(ext), self.code[ext.name])}
            say(f"{len(written)} modules become C, {len(self.stale)} of {len(self.extensions)} are compiled")
            self.parallel, self.said, self.compiled, self.shown = jobs(), {}, 0, time.monotonic()
            if sys.platform.startswith("linux"):
                self.compiler.call = self.compiler.spawn = self.spawned  # of newer setuptools, and of older
            # The longest first, so that all cores have work to the end.
            self.extensions.sort(key=lambda ext: self.c(ext).stat().st_size, reverse=True)
            super().build_extensions()

    def c(self, ext):
        return Path(self.tree, "c", *ext.sources).with_suffix(".c")

    def module(self, ext):
        return Path(self.tree, "modules", ext.name)

    def write_c(self):
        """Makes C of the modules whose sources have changed. Returns these modules."""
        options = CompilationOptions(include_path=["src"], compiler_directives=DIRECTIVES)
        needs = create_dependency_tree(Context.from_options(options), quiet=True)
        ours, state = {}, {}
        for ext in self.extensions:
            files = () if ext.name == f"hitcurve.{SHARED}" else needs.all_dependencies(*ext.sources)
            ours[ext.name] = sorted(file for file in files if not os.path.isabs(file))
            shared = SHARED if ext.name.removeprefix("hitcurve.") in SHARING else ""
            state[ext.name] = digest(shared, *map(Path, ours[ext.name]))
        stale = [ext for ext in self.extensions if not kept(self.c(ext), state[ext.name])]
        for ext in stale:
            forget(self.c(ext))
        if stale:
            sharing = {f"hitcurve.{name}" for name in (*SHARING, SHARED)}
            with said_by_children() as said:
                for shared in (f"hitcurve.{SHARED}", None):
                    cythonize(
                        [bare(ext) for ext in stale if (ext.name in sharing) == (shared is not None)],
                        # A process that is not forked runs this file again.
                        nthreads=jobs() if multiprocessing.get_start_method() == "fork" else 0,
                        build_dir=str(self.tree / "c"),  # generated C never lies beside the sources
                        include_path=["src"], compiler_directives=DIRECTIVES, force=True, quiet=True,
                        shared_utility_qualified_name=shared,
                    )
        for ext in stale:
            of_ours = [line for line in said if any(file in line for file in ours[ext.name])]
            warnings_of(self.c(ext)).write_text("".join(of_ours))
            keep(self.c(ext), state[ext.name])
        return stale

    def code_of(self, ext):
        """The state of what a module is compiled from: its C, the headers of ours, and the flags."""
        # Tracebacks name the declarations of numpy and Cython, by folders that pip makes anew for each build.
        text = re.sub(r'^  ".+\.pxd",$', "", self.c(ext).read_text(encoding="utf-8"), flags=re.MULTILINE)
        found = headers(self.c(ext), ext.include_dirs[1:])
        settings = ext.define_macros, ext.extra_compile_args, ext.extra_link_args, ext.libraries
        return digest(text, *found, settings)

    def build_extension(self, ext):
        path, module, code = Path(self.get_ext_fullpath(ext.name)), self.module(ext), self.code[ext.name]
        if ext.name in self.stale:
            self.said[get_ident()] = []
            ext.sources = [str(self.c(ext))]
            forget(module)
            super().build_extension(ext)
            module.parent.mkdir(exist_ok=True)
            shutil.copyfile(path, module)
            if self.said[get_ident()]:  # each command says something, or nothing
                warnings_of(module).write_text("".join(self.said[get_ident()]))
            else:
                warnings_of(module).unlink(missing_ok=True)
            keep(module, code)
            self.compiled += 1
            if time.monotonic() > self.shown + 10:
                self.shown = time.monotonic()
                say(f"{self.compiled} of {len(self.stale)} are compiled")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(module, path)

    def spawned(self, command, **_):
        """Runs the compiler, and keeps what it says."""
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
        self.said[get_ident()].append(done.stderr)
        sys.stderr.write(done.stderr)
        if done.returncode:
            raise CompileError(f"{command[0]} failed with exit code {done.returncode}")


class Warnings(Command):
    """Builds, and shows what Cython and the compiler said of the modules. Anything is an error."""
    user_options: ClassVar = []

    def initialize_options(self):
        pass

    def finalize_options(self):
        pass

    def run(self):
        if not sys.platform.startswith("linux"):
            print("what the compiler says is kept on Linux only")
            return
        self.run_command("build_ext")
        made = self.get_finalized_command("build_ext")
        found = [warnings_of(path) for ext in map(extension, MODULES) for path in (made.c(ext), made.module(ext))]
        absent = [path.name.removesuffix(".warnings") for path in found if not path.exists()]
        if absent:
            sys.exit(f"nothing is known of what was said of {', '.join(absent)}")
        said = "".join(path.read_text() for path in found)
        if said:
            sys.exit(said)


def description():
    """The README as a package index can show it: there is no picture beside it, and a relative link leads nowhere."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "README.md"), encoding="utf-8") as file:
        text = re.sub(r"^!\[.*\]\(.*\)\n\n", "", file.read(), flags=re.MULTILINE)
    return re.sub(r"\[([^]]+)\]\((?!\w+:)([^)]+)\)", r"\1 (\2)", text)


if __name__ == "__main__":
    # What is not kept of a build has a folder of its own: two builds may run at once, and no earlier file is left.
    scratch = made(tree() / f"run-{os.getpid()}")
    atexit.register(shutil.rmtree, os.path.abspath(scratch), ignore_errors=True)
    setup(
        long_description=description(),
        long_description_content_type="text/markdown",
        cmdclass={"build_ext": BuildExtensions, "warnings": Warnings},
        options={"build": {"build_base": str(scratch)}, "egg_info": {"egg_base": str(scratch)}},
        ext_modules=[extension(name) for name in MODULES],
    )
