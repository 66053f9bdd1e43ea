"""Other libraries' own tests against hitcurve, through drop-ins or adapters that rename only. See ci/peer-suites."""

import argparse
import contextlib
import importlib
import importlib.util
import io
import re
import shlex
import shutil
import sys
import tempfile
import tomllib
import traceback
import types
import unittest
import warnings
from itertools import zip_longest
from pathlib import Path
from typing import Any

import hitcurve as hc
from hitcurve.compat import rdkit_scoring, sklearn_metrics

Outcomes = dict[str, str]  # the name of a case, and what is wrong with it: nothing if it passed


# --- scikit-learn -----------------------------------------------------------------------------------------------------


class Reported:
    """A plugin of pytest: what each test came to, by the end of its name."""

    def __init__(self, after: str = "::") -> None:
        self.outcomes: Outcomes = {}
        self.after = after

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or report.failed:
            name = report.nodeid.rpartition(self.after)[2]
            self.outcomes[name] = report.longreprtext.splitlines()[-1] if report.failed else ""


SKLEARN = tuple(getattr(sklearn_metrics, name) for name in sklearn_metrics.__all__ if name.islower())


def scikit_learn(checkout: Path) -> Outcomes:
    """The tests of sklearn/metrics/tests/test_ranking.py that call one of the functions above."""
    import pytest
    import sklearn.metrics

    names = {function.__name__ for function in SKLEARN}
    for function in SKLEARN:
        setattr(sklearn.metrics, function.__name__, function)

    def calls(function: Any, seen: frozenset[str] = frozenset()) -> bool:
        code = function.__code__
        used = {name for part in (code, *code.co_consts) if isinstance(part, types.CodeType) for name in part.co_names}
        if used & names:
            return True
        helpers = [function.__globals__.get(name) for name in used - seen]
        return any(
            calls(helper, seen | used)
            for helper in helpers
            if isinstance(helper, types.FunctionType) and helper.__module__ == function.__module__
        )

    class Chosen(Reported):
        def pytest_collection_modifyitems(self, items: list[Any]) -> None:
            def wanted(item: Any) -> bool:
                values = item.callspec.params.values() if hasattr(item, "callspec") else ()
                functions = [value for value in values if isinstance(value, types.FunctionType)]
                if functions:
                    return any(value in SKLEARN for value in functions) or (
                        "check" in item.callspec.params and item.callspec.params["func"] in SKLEARN
                    )
                return calls(item.function)

            items[:] = [item for item in items if wanted(item)]

        @pytest.fixture
        def global_random_seed(self) -> int:
            return 42

    chosen = Chosen()
    with tempfile.TemporaryDirectory() as folder:
        # Beside the built package: the checkout itself may not be built.
        test = shutil.copy(checkout / "sklearn/metrics/tests/test_ranking.py", Path(folder) / "test_ranking.py")
        with contextlib.redirect_stdout(io.StringIO()):
            pytest.main(["-q", "-p", "no:cacheprovider", "-c", "/dev/null", f"--rootdir={folder}", str(test)],
                        plugins=[chosen])
    return chosen.outcomes


# --- RDKit ------------------------------------------------------------------------------------------------------------


def rdkit(checkout: Path) -> Outcomes:
    """rdkit/ML/Scoring/UnitTestScoring.py; a case is an assertion, so that one that fails hides no other."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scoring = importlib.import_module("rdkit.ML.Scoring.Scoring")
    source = checkout / "rdkit/ML/Scoring/Scoring.py"
    spec = importlib.util.spec_from_file_location("rdkit_scoring_of_the_checkout", source)
    assert spec is not None
    assert spec.loader is not None
    fresh = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fresh)  # its helpers may be newer than the installed ones
    for name, value in vars(fresh).items():
        if not name.startswith("_"):
            setattr(scoring, name, value)
    for name in ("CalcAUC", "CalcBEDROC", "CalcEnrichment", "CalcRIE", "CalcROC"):
        setattr(scoring, name, getattr(rdkit_scoring, name))
    spec = importlib.util.spec_from_file_location("unit_test", checkout / "rdkit/ML/Scoring/UnitTestScoring.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    outcomes: Outcomes = {}
    for name in unittest.TestLoader().getTestCaseNames(module.TestCase):
        case = module.TestCase(name)
        case.setUp()
        count = 0

        def counted(method: Any, test: str = name) -> Any:
            def call(*args: Any, **options: Any) -> None:
                nonlocal count
                count += 1
                try:
                    method(*args, **options)
                    outcomes[f"{test} {count}"] = ""
                except Exception as error:
                    outcomes[f"{test} {count}"] = str(error).splitlines()[0]

            return call

        for assertion in ("assertEqual", "assertNotEqual", "assertAlmostEqual", "assertNotAlmostEqual", "assertRaises"):
            setattr(case, assertion, counted(getattr(case, assertion)))
        try:
            getattr(case, name)()
            outcomes[f"{name} end"] = ""
        except Exception:
            outcomes[f"{name} end"] = traceback.format_exc().splitlines()[-1]
    return outcomes


# --- trec_eval --------------------------------------------------------------------------------------------------------


def trec_eval(checkout: Path) -> Outcomes:
    """The quicktest of the Makefile; a case is a measure of a command, right if all of its lines are."""
    from hitcurve.cli.trec import as_trec_eval
    from hitcurve.retrieval.trec_eval import expand

    makefile = (checkout / "Makefile").read_text(encoding="utf-8")
    commands = re.findall(r"^\t\./trec_eval (.*) (\S+) (\S+) \| diff - (\S+)$", makefile.partition("quicktest:")[2]
                          .partition("longtest:")[0], re.MULTILINE)
    outcomes: Outcomes = {}
    for options, qrels, run, wanted in [("", *files) for files in re.findall(
        r"^\t\./trec_eval (\S+) (\S+) \| diff - (\S+)$", makefile.partition("longtest:")[0], re.MULTILINE)] + commands:
        parser = argparse.ArgumentParser(exit_on_error=False)
        parser.add_argument("-m", action="append")
        parser.add_argument("-q", action="store_true")
        parser.add_argument("-c", action="store_true")
        parser.add_argument("-l", type=int, default=1)
        parser.add_argument("-M", type=int)
        parser.add_argument("-R", default="qrels")
        parser.add_argument("-Z")
        asked, command = parser.parse_args(shlex.split(options)), f"{options} {qrels} {run}".strip()
        theirs = lines_by_measure((checkout / wanted).read_text(encoding="utf-8"))
        if asked.R != "qrels" or asked.Z:
            outcomes[command] = "no such format of judgments" if asked.R != "qrels" else "no z-scores"
            continue
        entries, unknown = [], {}
        for name in asked.m or ["official"]:
            try:
                entries += expand(name)
            except ValueError as error:
                unknown[name.partition(".")[0]] = str(error)
        preset = hc.PRESETS["trec_eval 10"] | {"missing": "zero" if asked.c else "raise", "strict": False}
        measures = [entry.measure for entry in entries if entry.measure is not None]
        found = hc.evaluate(checkout / qrels, checkout / run, measures, relevance_level=asked.l, depth=asked.M,
                            **preset)
        ours = lines_by_measure(as_trec_eval(found, entries, each=asked.q))
        for measure, lines in theirs.items():
            wrong = next((f"{a} is {b}" for a, b in zip_longest(lines, ours.get(measure, [])) if a != b), "")
            outcomes[f"{command}: {measure}"] = unknown.get(measure, wrong)
    return outcomes


def pytrec_eval(checkout: Path) -> Outcomes:
    """tests/pytrec_eval_tests.py, of cvangysel/pytrec_eval or terrierteam/pytrec_eval, with its submodule trec_eval."""
    tests = checkout / "tests/pytrec_eval_tests.py"
    sys.modules["pytrec_eval"] = importlib.import_module("hitcurve.compat.pytrec_eval")
    spec = importlib.util.spec_from_file_location("pytrec_eval_tests", tests)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for *files, options in module.TRADITIONAL_TREC_EVAL_TEST_CASES:  # as it does where it is run
        name = "-".join(["test_" + files[0], *files[1:]])
        setattr(module.PyTrecEvalIntegrationTest, name, module.generate_traditional_test(*files, **options))
    outcomes: Outcomes = {}

    class Result(unittest.TestResult):
        def startTest(self, test: unittest.TestCase) -> None:
            outcomes[test.id().rpartition(".PyTrecEval")[2]] = ""

        def addError(self, test: unittest.TestCase, error: Any) -> None:
            outcomes[test.id().rpartition(".PyTrecEval")[2]] = repr(error[1])

        addFailure = addError

    unittest.defaultTestLoader.loadTestsFromModule(module).run(Result())
    return outcomes


def lines_by_measure(text: str) -> dict[str, list[str]]:
    lines: dict[str, list[str]] = {}
    for line in text.splitlines():
        name, *rest = line.split()
        lines.setdefault(name, []).append(" ".join(rest))
    return lines


# --- ranx -------------------------------------------------------------------------------------------------------------


def ranx(checkout: Path) -> Outcomes:
    """The tests of judgments, runs, metrics, `evaluate` and `compare`; not those of fusion and normalisation."""
    import pytest

    from hitcurve.compat import ranx as ours

    def metric(name: str) -> Any:
        def measured(qrels: Any, run: Any, k: float = 0, rel_lvl: int = 1) -> Any:
            cutoff = f".{str(k)[2:]}" if name == "rbp" else f"@{k}"
            return ours.evaluate(qrels, run, f"{name}{cutoff}-l{rel_lvl}", return_mean=False)

        return measured

    called = {"reciprocal_rank": "mrr", "average_precision": "map", "r_precision": "r-precision",
              "rank_biased_precision": "rbp"}
    names = ["hits", "hit_rate", "precision", "recall", "f1", "bpref", "dcg", "dcg_burges", "ndcg", "ndcg_burges"]
    metrics = {name: metric(called.get(name, name)) for name in (*called, *names)}
    for table in (ours.Qrels, ours.Run):
        table.to_typed_list = lambda self: self  # what their metrics take
    modules: dict[str, Any] = {"ranx.metrics": metrics}
    modules |= {f"ranx.metrics.{name}": {name: metrics[name]} for name in metrics}
    modules |= {f"ranx.data_structures.{name}": {"get_file_kind": lambda path: ours._kind_of(path, None)}
                for name in ("qrels", "run")}
    for name, held in modules.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(held)
    sys.modules["ranx"] = ours
    vars(ours)["metrics"] = sys.modules["ranx.metrics"]
    reported = Reported("/")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        shutil.copytree(checkout / "tests", "tests")  # they read and write files beside them
        here = Path("tests/unit/ranx")
        files = [here / "data_structures", here / "meta", here / "metrics", here / "metrics_test.py"]
        with contextlib.redirect_stdout(io.StringIO()):
            pytest.main(["-q", "-p", "no:cacheprovider", "-c", "/dev/null", f"--rootdir={folder}",
                         "--import-mode=importlib", "-o", "python_files=*_test.py", *map(str, files)],
                        plugins=[reported])
    return reported.outcomes


SUITES = {
    "ranx": ("tests/unit/ranx/metrics_test.py", ranx),
    "scikit-learn": ("sklearn/metrics/tests/test_ranking.py", scikit_learn),
    "trec_eval": ("m_iprec_at_recall.c", trec_eval),
    "pytrec_eval": ("tests/pytrec_eval_tests.py", pytrec_eval),
    "rdkit": ("rdkit/ML/Scoring/UnitTestScoring.py", rdkit),
}


def main(checkouts: list[str]) -> int:
    listed = tomllib.loads(Path(__file__).with_name("peer_suites.toml").read_text(encoding="utf-8"))
    wrong = 0
    for checkout in map(Path, checkouts):
        found = [(name, run) for name, (file, run) in SUITES.items() if (checkout / file).exists()]
        if not found:
            print(f"{checkout}: no test of a known peer in it", file=sys.stderr)
            return 2
        for name, run in found:
            outcomes = run(checkout)
            known = listed.get(name, {})
            failed = {case: message for case, message in outcomes.items() if message}
            print(f"{name}: {len(outcomes) - len(failed)} of {len(outcomes)} pass, {len(failed)} fail")
            for case, message in failed.items():
                reason = known.get(case)
                print(f"  {'as known' if reason else 'UNEXPECTED'}: {case}: {reason or message}")
                wrong += reason is None
            for case in known:
                if case not in failed:
                    print(f"  UNEXPECTED: {case} {'passes' if case in outcomes else 'was not run'}, but is listed")
                    wrong += 1
            if not outcomes:
                print(f"  UNEXPECTED: no test of {name} was run")
                wrong += 1
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
