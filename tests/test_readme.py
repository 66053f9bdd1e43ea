"""What the README and the docstrings show is what happens: examples, outputs, calls, the numbers in the tables."""

import doctest
import re
import shlex
from pathlib import Path

import numpy as np
import optional
import pytest

import hitcurve as hc
from hitcurve import measures
from hitcurve.cli import main as cli

README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
BLOCKS = FENCED.findall(README)
TEXT = FENCED.sub("", README)
TIES = ("expected", "best", "worst", "threshold")
STDOUT = pytest.mark.thread_unsafe(reason="doctest takes the process's standard output")


def run(name, text, names):
    """Run the examples of a text in these names; none may be passed over."""
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    test.globs = names  # not a copy, as the parser makes it
    assert test.examples
    assert not any(example.options.get(doctest.SKIP) for example in test.examples)
    said = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=said.append, clear_globs=False)
    assert result.attempted == len(test.examples)
    assert result.failed == 0, "".join(said)


def table(first_cell):
    """The rows of the table whose header begins so, as cells."""
    head = re.search(rf"^\| {re.escape(first_cell)} \|.*\n\|[-:|]+\|\n((?:\|.*\n)+)", TEXT, re.MULTILINE)
    return [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in head[1].splitlines()]


def code(text):
    return re.findall(r"`([^`]+)`", text)


# --- examples -----------------------------------------------------------------------------------------------


@STDOUT
def test_examples():
    """One after the other, in the same names: what a reader types."""
    blocks = [text for language, text in BLOCKS if language == "python"]
    assert len(blocks) > 5
    names = {}
    for i, text in enumerate(blocks):
        assert text.startswith(">>> ")
        if not optional.missing(text):
            run(f"README.md, block {i}", text, names)


def test_blocks_are_of_known_kinds():
    assert {language for language, _ in BLOCKS} == {"python", "csv", "console", "cython"}


def test_commands(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in re.findall(r"A file `([^`]+)`:\n\n```csv\n(.*?)^```$", README, re.DOTALL | re.MULTILINE):
        Path(name).write_text(text, encoding="utf-8")
    commands = [
        re.match(r"\$ hitcurve (.*)\n((?s:.*))", part).groups()
        for language, text in BLOCKS
        if language == "console"
        for part in re.split(r"\n(?=\$ )", text)
    ]
    assert len(commands) > 1
    for arguments, output in commands:
        if optional.missing(f"$ hitcurve {arguments}"):
            continue
        assert cli.main(shlex.split(arguments)) == 0
        assert capsys.readouterr().out.rstrip("\n") == output.rstrip("\n"), arguments


def docstrings():
    for name in hc.__all__:
        value = getattr(hc, name)
        yield name, value.__doc__
        for attribute in dir(value) if isinstance(value, type) else ():  # the inherited ones too
            if not attribute.startswith("_"):
                yield f"{name}.{attribute}", getattr(value, attribute).__doc__
    yield "measures.parse", measures.parse.__doc__


EXAMPLES = {name: doc for name, doc in docstrings() if ">>>" in (doc or "")}


def test_what_makes_or_reads_a_ranking_has_an_example():
    assert {"average_precision", "mean_average_precision", "HitCurve", "HitCurves", "HitCounter"} <= set(EXAMPLES)


@STDOUT
@pytest.mark.parametrize("name", EXAMPLES)
def test_docstring(name):
    if absent := optional.missing(EXAMPLES[name]):
        pytest.skip(f"needs {absent}")
    run(name, EXAMPLES[name], {})


# --- tables -------------------------------------------------------------------------------------------------


def test_readings_of_ties():
    below = np.repeat([0, 1], [100, 10]), np.concatenate([np.arange(101, 1, -1), np.ones(10)])
    equal = np.repeat([0, 1], [990, 10]), np.zeros(1000)
    rows = table("`ties=`")
    assert [code(row[0])[0].strip('"') for row in rows] == list(TIES)
    for ties, row in zip(TIES, rows, strict=True):
        for ranking, shown in zip((below, equal), row[2:], strict=True):
            assert f"{hc.average_precision(*ranking, ties=ties):.4f}" == shown
    assert "0.0514" in rows[0]
    assert "0.0909" in rows[3]


RNG = np.random.default_rng(5)
Y = (RNG.random((3, 400)) < 0.2).astype(np.int8)
S = np.minimum(RNG.integers(0, 4, (3, 400)) + Y, 3)  # four scores: every cutoff falls inside a tie
NAMES = {
    "hc": hc,
    "np": np,
    "Y": Y,
    "S": S,
    "y": Y[0],
    "s": S[0],
    "y_true": Y[0],
    "y_score": S[0],
    "t": 2,
    "qid": np.arange(400) % 3,
    "docno": np.array([f"d{i}" for i in range(400)]),
    "R": int(Y[0].sum()) + 2,
    "hits": Y[0],
    "n_gt": int(Y[0].sum()) + 2,
}
CURVE, CURVES = hc.HitCurve(Y[0], S[0]), hc.HitCurves(Y, S)


def on_curve(call, **options):
    """The value of a method that is written without its object."""
    method = call.partition("(")[0].strip(".")
    names = {"curve": CURVE if hasattr(CURVE, method) else CURVES}
    written = ", ".join(f"{name}={value!r}" for name, value in options.items())
    joint = "" if call.endswith("()") or not written else ", "
    return eval(f"curve.{call.strip('.').removesuffix(')')}{joint}{written})", names)


@pytest.mark.parametrize("row", table("measure"), ids=lambda row: code(row[1])[0])
def test_measures(row):
    """The method and the name give the same number, and ties are read as the marks say."""
    (call,) = code(row[1])
    named = [measures.parse(name) for name in code(row[2])]
    value = on_curve(call)
    for measure in named:
        assert measure(CURVE) > 0
    if named:
        assert named[0](CURVE) == value
    if "¹" in row[0] + row[1]:
        with pytest.raises(ValueError, match="threshold"):
            on_curve(call, ties="threshold")
    elif "²" in row[0] + row[1]:
        assert on_curve(call, ties="threshold") == value != on_curve(call, ties="best")
    elif "ties=" not in row[2] and not call.startswith(("chance", "minimum", "max_", "tie_report")):
        assert len({on_curve(call, ties=ties) for ties in TIES}) >= 3  # with points, worst may equal threshold


def test_every_measure_is_there():
    shown = " ".join(code(TEXT))
    for name in (name for cls in (hc.HitCurve, hc.HitCurves) for name in vars(cls.__base__) | vars(cls)):
        if not name.startswith("_") and callable(getattr(hc.HitCurves, name, None)):
            assert re.search(rf"\b{name}\(", shown), name
    for record in measures.MEASURES:
        if record.method and not record.name.startswith("Num"):
            assert any(measures.parse(form).record is record for form in code(" ".join(r[2] for r in table("measure"))))


CALLS = sorted({call for call in code(TEXT) if re.fullmatch(r"hc\..*\)", call)})


def test_calls_are_found():
    assert len(CALLS) > 12


@pytest.mark.parametrize("call", CALLS)
def test_call(call):
    """Every call in the text can be made."""
    if absent := optional.missing(call):
        pytest.skip(f"needs {absent}")
    value = eval(call, dict(NAMES))
    assert np.all(np.isfinite(value)) if isinstance(value, (float, np.ndarray)) else value is not None


def test_calls_on_the_same_curve():
    """Those written as .rie(20.0), after a call that makes the curve."""
    calls = [call for call in code(TEXT) if re.fullmatch(r"\.\w+\(.*\)", call)]
    assert calls
    for call in calls:
        assert np.isfinite(on_curve(call))


def test_arguments_are_those_of_the_curve():
    for row in table("argument"):
        name, _, value = code(row[0])[0].partition("=")
        options = {"num_relevant": 200, "relevance_level": 1, "nan_policy": "omit", "tiebreak": "order", "workers": 2}
        options["sample_weight"] = np.ones(400)
        hc.HitCurve(Y[0], S[0], **{name: eval(value) if value else options[name]})
