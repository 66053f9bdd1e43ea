"""A case in which tools disagree, as a record that is run: the peers' numbers, ours, and the orders of ties."""

from __future__ import annotations

import functools
import importlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import hitcurve as hc

PEERS = {  # the package that is installed, and the module that it brings
    "scikit-learn": "sklearn.metrics",
    "pytrec_eval-terrier": "pytrec_eval",
    "pyndeval": "pyndeval",
    "ir_measures": "ir_measures",
    "ranx": "ranx",
    "rdkit": "rdkit.ML.Scoring.Scoring",
    "pycocotools": "pycocotools.cocoeval",
    "torchmetrics": "torchmetrics",
    "polars-ds": "polars_ds",
    "scikit-fingerprints": "skfp.metrics",
    "pyspark": "pyspark.mllib.evaluation",
    "cwl-eval": "cwl.ruler.cwl_ruler",
}

LAST_RUN = {  # by those who keep these records; the page shows these versions
    "trec_eval": "10.0",
    "scikit-learn": "1.9.1",
    "pytrec_eval-terrier": "0.5.11",
    "pyndeval": "0.0.8",
    "ir_measures": "0.4.3",
    "ranx": "0.3.21",
    "rdkit": "2026.9.1",
    "pycocotools": "2.0.11",
    "torchmetrics": "1.9.0",
    "polars-ds": "0.13.0",
    "scikit-fingerprints": "2.1.0",
    "pyspark": "4.3.0",
    "cwl-eval": "1.0.12",
}


@functools.cache
def peer_version(name: str) -> str | None:
    """The version of a peer that is installed, None for one that is not."""
    if name == "trec_eval":  # a program, which no package brings
        program = shutil.which("trec_eval")
        said = program and subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stderr
        return said.split()[-1] if said and said.split()[-1].startswith("10.") else None
    if name == "pyspark" and shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return None
    try:
        found = version(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            importlib.import_module(PEERS[name])
    except (PackageNotFoundError, ImportError):
        if os.environ.get("HITCURVE_ALL_PEERS"):
            raise
        return None
    return found


class Line(NamedTuple):
    """One number of one tool."""

    who: str
    call: str
    value: Any
    ours: bool


class Band(NamedTuple):
    """One of our numbers under the orders that ties allow."""

    call: str
    worst: float
    expected: float | str
    best: float


def outcome(call: Callable[[], Any]) -> Any:
    """What the call gives, or what it raises, as a short text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = call()
        except Exception as error:
            return f"raises {type(error).__name__}"
    return float(value) if isinstance(value, (float, np.floating)) or hasattr(value, "item") else value


def agrees(value: Any, wanted: Any, tolerance: float) -> bool:
    if isinstance(wanted, (list, tuple)):
        return len(value) == len(wanted) and all(agrees(a, b, tolerance) for a, b in zip(value, wanted, strict=True))
    if isinstance(wanted, float) and isinstance(value, (int, float)):
        return bool(np.isclose(value, wanted, rtol=tolerance, atol=tolerance, equal_nan=True))
    return bool(value == wanted)


class Shown:
    """What one record shows, filled while it runs; a number that is not the one written down is an AssertionError.

    A peer's line has the number written down and the version of its last run, whatever is installed here: the page is
    the same everywhere. Without `peers` theirs are not run, and only our own numbers are checked.
    """

    def __init__(self, peers: bool = True) -> None:
        self.peers = peers
        self.data: list[str] = []
        self.names: dict[str, Any] = {"hc": hc, "np": np, "math": math}
        self.lines: list[Line] = []
        self.bands: list[Band] = []

    def given(self, *statements: str, **names: Any) -> None:
        """Statements of Python that make the data: run here, and shown."""
        self.names.update(names)
        for statement in statements:
            exec(statement, self.names)
            self.data.append(statement)

    def peer(self, name: str, call: str, wanted: Any, real: Callable[[Any], Any] | None = None,
             rule: Callable[[], Any] | None = None, tolerance: float = 1e-6) -> None:
        """The number of a peer; `real` is called with the peer's module, or the path of its program."""
        if self.peers:
            values = {}
            if real is not None and (found := peer_version(name)) is not None:
                module = importlib.import_module(PEERS[name]) if name in PEERS else shutil.which(name)
                values[f"{name} {found}"] = outcome(lambda: real(module))
            if rule is not None:
                values[f"{name}, by its published rule"] = outcome(rule)
            for who, value in values.items():
                assert agrees(value, wanted, tolerance), f"{who}: {call} is {value!r}, not {wanted!r}"
        by_rule = real is None and rule is not None
        who = f"{name}, by its published rule" if by_rule else f"{name} {LAST_RUN[name]}"
        self.lines.append(Line(who, call, wanted, False))

    def ours(self, call: str, wanted: Any, tolerance: float = 1e-6) -> None:
        value = outcome(lambda: eval(call, self.names))
        assert agrees(value, wanted, tolerance), f"{call} is {value!r}, not {wanted!r}"
        self.lines.append(Line(f"hitcurve {hc.__version__}", call, value, True))

    def band(self, call: str, worst: float, expected: float | str, best: float, tolerance: float = 1e-6) -> None:
        """The call has `ties=...` in it. A text says why there is no expected value."""
        values = [expected if t == "expected" and isinstance(expected, str) else
                  eval(call.replace("ties=...", f"ties={t!r}"), self.names) for t in ("worst", "expected", "best")]
        assert agrees(values, [worst, expected, best], tolerance), f"{call}: {values}"
        self.bands.append(Band(call, *values))

    def same(self, call: str, value: float) -> None:
        """A band of one number: ties are not the reason here."""
        self.band(call, value, value, value)


class Record(NamedTuple):
    name: str
    section: str
    title: str
    why: str
    run: Callable[[Shown], None]

    def shown(self, peers: bool = True) -> Shown:
        shown = Shown(peers)
        self.run(shown)
        return shown


SECTIONS = ("Ties", "Definitions", "Numbers on a computer", "What is missing or undefined", "Input")
RECORDS: list[Record] = []


def record(section: str, title: str) -> Callable[[Callable[[Shown], None]], Callable[[Shown], None]]:
    def kept(run: Callable[[Shown], None]) -> Callable[[Shown], None]:
        assert section in SECTIONS
        lines = (run.__doc__ or "").strip().splitlines()
        RECORDS.append(Record(run.__name__, section, title, "\n".join(line.strip() for line in lines), run))
        return run

    return kept


def pytrec(measure: str, qrels: Any, run: Any) -> Callable[[Any], Any]:
    """One measure of the only query."""
    return lambda m: next(iter(m.RelevanceEvaluator(qrels, {measure}).evaluate(run).values()))[
        measure.replace(".", "_")
    ]


def trec_eval(measure: str, qrels: str, run: str, form: str = "qrels") -> Callable[[Any], Any]:
    """One measure over all queries by the program itself, from the lines of two files; `form`: of the judgments."""

    def real(program: str) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder, "qrels"), Path(folder, "run")]
            for path, text in zip(paths, (qrels, run), strict=True):
                path.write_text(text, encoding="utf-8")
            command = [program, "-m", measure, "-R", form, *paths]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        return float(done.stdout.split()[-1]) if done.returncode == 0 else "stops with an error"

    return real


def lines_of(qrels: Any, run: Any) -> tuple[str, str]:
    """Dictionaries as the text of TREC files."""
    judged = (f"{query} 0 {doc} {level}\n" for query, docs in qrels.items() for doc, level in docs.items())
    found = (f"{query} Q0 {doc} 0 {score!r} tag\n" for query, docs in run.items() for doc, score in docs.items())
    return "".join(judged), "".join(found)


def precision_at_hits(flags: Any, num_relevant: int) -> float:
    """Average precision from its definition, of flags in rank order."""
    hits = np.flatnonzero(flags)
    return float(np.sum((np.arange(len(hits)) + 1) / (hits + 1)) / num_relevant)


NORMALIZED = [0, 1, 0, 1, 0, 0, 0, 1, 1, 1], [*range(10, 0, -1)]
AREA = [0, 1, 0, 1, 1, 0, 0, 1], [5, 5, 4, 4, 4, 2, 2, 2]
SPARK = """
import json, sys
from pyspark import SparkConf, SparkContext
from pyspark.mllib.evaluation import BinaryClassificationMetrics, RankingMetrics
settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
context = SparkContext("local[1]", conf=SparkConf().setAll(settings.items()))
ranked, scored = json.load(sys.stdin)
one = RankingMetrics(context.parallelize([tuple(ranked[0])], 1))
two = RankingMetrics(context.parallelize([tuple(pair) for pair in ranked], 1))
area = BinaryClassificationMetrics(context.parallelize([tuple(map(float, pair)) for pair in scored], 1))
found = one.meanAveragePrecisionAt(4), two.meanAveragePrecision, one.meanAveragePrecision, area.areaUnderPR
print("found", json.dumps(found))
"""


@functools.cache
def spark() -> dict[str, float]:
    """What Spark says, in a process of its own: one that the caller runs is left alone."""
    ids = [*range(len(NORMALIZED[0]))]
    queries = [(ids, [i for i in ids if NORMALIZED[0][i]]), (ids, [])]  # in rank order; the second without an answer
    given = json.dumps([queries, [*zip(AREA[1], AREA[0], strict=True)]])
    done = subprocess.run([sys.executable, "-c", SPARK], input=given, capture_output=True, text=True, check=False)
    answer = re.search(r"^found (.*)$", done.stdout, re.MULTILINE)
    if answer is None:
        raise RuntimeError(done.stderr[-2000:])
    return dict(zip(("at 4", "two queries", "one query", "area"), json.loads(answer[1]), strict=True))
