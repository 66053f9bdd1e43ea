"""What a machine may lack for some tests. A skip says which of these is missing; any other skip is a failure."""

import importlib.util
import os
import re
import shutil
import sys
from pathlib import Path

import hitcurve


def importable(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:  # of the package that holds it
        return False


def newer_python(found):
    return sys.version_info >= tuple(map(int, found[1].split(".")))


def shared_data():
    named = os.environ.get("HITCURVE_SHARED_DATA")
    return Path(named or Path(__file__).resolve().parents[2] / "shared" / "data").is_dir()


def in_site_packages():
    return Path(hitcurve.__file__).resolve().parents[1].name == "site-packages"


# Words of the reason, what is missing, whether it is there after all. The first that fits counts.
THINGS = [
    (r"Spark needs Java", "java", lambda _: bool(shutil.which("java") or os.environ.get("JAVA_HOME"))),
    (r"needs pdflatex", "pdflatex", lambda _: bool(shutil.which("pdflatex"))),
    (r"the shared data .* are not at", "shared-data", lambda _: shared_data()),
    (r"is new in Python (\d+\.\d+)", "python", newer_python),
    (r"could not import '(concurrent\.interpreters)'", "python", lambda found: importable(found[1])),
    (r"could not import '(torch|torchmetrics)\b[\w.]*'", "torch", lambda found: importable(found[1])),
    (r"could not import '([\w.]+)'", "library", lambda found: importable(found[1])),
    (r"^needs (\w+)$", "library", lambda found: importable(found[1])),
    (r"^(?:not installed from a wheel|only an installed package has)", "installation", lambda _: in_site_packages()),
    (r"^no compiled modules beside these tests", "tree", lambda _: False),
    (r"^no docs beside these tests", "docs", lambda _: (Path(__file__).resolve().parents[1] / "docs").is_dir()),
    (r"\b(pytrec_eval|cwl_eval|scikit-learn|setuptools|Cython)\b.*(?:is not installed|has the data)", "library",
     lambda found: importable({"scikit-learn": "sklearn", "cwl_eval": "cwl"}.get(found[1], found[1]))),
    (r"client needs (\w+):", "library", lambda found: importable(found[1])),
    (r"^this polars has no", "library", lambda _: False),
    (r"^module '\w+' has __version__ ", "library", lambda _: False),
    (r"/proc|/dev|device|Windows|Unix|signal|fork|names of files|address space|core$|long doubles|OpenMP|executor",
     "system", lambda _: sys.platform == "linux"),
]  # fmt: skip


def problem(reason, may_lack=None):
    """(what is missing, what is wrong with this skip or None). may_lack: the things that may be missing; None: all."""
    for words, thing, there in THINGS:
        found = re.search(words, reason)
        if found:
            if there(found):
                return thing, f"{thing} is there, but a test was skipped: {reason}"
            if may_lack is not None and thing not in may_lack:
                return thing, f"{thing} may not be missing here: {reason}"
            return thing, None
    return "unknown", f"tests/absent.py does not know this reason to skip a test: {reason}"
