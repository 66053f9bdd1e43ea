"""The pages of the documentation show what happens, and the docstrings that make its reference are whole."""

import contextlib
import inspect
import math
import re
import sys
from pathlib import Path

import numpy as np
import optional
import pytest

import hitcurve as hc
from hitcurve import measures

DOCS = Path(__file__).resolve().parents[1] / "docs"
sys.path.insert(0, str(DOCS))
import measured  # noqa: E402
import run  # noqa: E402

PAGES = run.pages()
FENCES = re.compile(r"^( *)```.*?^\1```$", re.DOTALL | re.MULTILINE)
TEXT = {page.name: FENCES.sub("", page.read_text(encoding="utf-8")) for page in PAGES}
TIES = ("expected", "best", "worst", "threshold")


FOLDER = pytest.mark.thread_unsafe(reason="examples have the process's working folder and standard output")


# The build of the documentation draws the gallery and reads all molecules of its notebook; so does --all.
SHORTER = {"notebook-screening.md": ("for row in csv.reader(file)]", "for row in csv.reader(file)][::40]")}


@FOLDER
@pytest.mark.parametrize(("page", "whole"), [
    *[pytest.param(page, False, id=page.name) for page in PAGES],
    *[pytest.param(page, True, id=f"{page.name}-whole", marks=pytest.mark.slow) for page in PAGES
      if page.name in ("gallery.md", *SHORTER)],
])  # fmt: skip
def test_page(page, whole, monkeypatch):
    """Examples, commands and the cells of notebooks, from top to bottom."""
    text = page.read_text(encoding="utf-8")
    if absent := optional.missing(text):
        pytest.skip(f"needs {absent}")
    if page.name in SHORTER and not whole:
        assert SHORTER[page.name][0] in text
        text = text.replace(*SHORTER[page.name])
    if page.name == "gallery.md" and not whole:
        monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda _, path, **options: Path(path).touch())
    found = run.failures(page.name, text)
    assert not found, "\n".join(found)


@FOLDER
def test_a_wrong_page_is_found():
    assert run.failures("page", "```python\n>>> 1 + 1\n2\n```\n") == []
    assert len(run.failures("page", "```python\n>>> 1 + 1\n3\n```\n")) == 1
    assert len(run.failures("page", "```console\n$ hitcurve measures AP\nnothing\n```\n")) == 1
    assert run.failures("page", "```{code-cell}\nx = 1\n```\n\n```{code-cell}\nprint(x)\n```\n") == []
    assert len(run.failures("page", "```{code-cell}\n1 / 0\n```\n")) == 1
    assert len(run.failures("page", "a\n: b\n\n  ```python\n  >>> 1 + 1\n  3\n\n  ```\n")) == 1


def test_every_page_is_linked():
    """A page that no table of contents names is never found."""
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    blocks = re.findall(r"```\{toctree\}.*?```", text, re.DOTALL)
    listed = {name for block in blocks for name in re.findall(r"^([\w-]+)$", block, re.MULTILINE)}
    assert {page.stem for page in PAGES} == listed | {"index"}


def test_formulas_have_braces_around_arguments():
    """MathML is made by docutils, which takes no argument without braces, such as that of a fraction of two digits."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r"\\(?:frac|sqrt|text|mathrm|operatorname)(?![{\[a-zA-Z]).*", text), page


def test_the_first_page():
    """Its speed figure is a row of the whole table, its picture is that of the README, and its lines of code work."""
    text = " ".join(TEXT["index.md"].split())
    rows = table("speed.md", "task")
    row = next(cells for cells in rows if "10,000 queries x 1,000 float32, 20 relevant" in cells[0])
    ours, sklearn, _, pytrec_eval, ranx = (cell.partition(" (")[0] for cell in row[1:6])
    assert f"10,000 queries with 1,000 items each takes {ours} on one thread." in text
    assert f"pytrec_eval takes {pytrec_eval} times as long, ranx {ranx} times, and scikit-learn {sklearn} " in text
    pictures = re.findall(r"!\[.*?\]\(.*?\)", TEXT["index.md"])
    assert pictures == re.findall(r"!\[.*\]\(hits.svg\)", TEXT["ties.md"])
    assert "(disagreements.md)" in TEXT["index.md"].partition("![")[0]
    lines = [code(row[2])[0] for row in table("index.md", "you know")]
    assert len(lines) == 5
    for line in lines[1:]:
        exec(line, {})


# --- tables -------------------------------------------------------------------------------------------------


def table(page, first_cell):
    """The rows of the table whose header begins so, as cells."""
    head = re.search(rf"^\| {re.escape(first_cell)} \|.*\n\|[-:|]+\|\n((?:\|.*\n)+)", TEXT[page], re.MULTILINE)
    return [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in head[1].splitlines()]


def code(text):
    return re.findall(r"`([^`]+)`", text)


@pytest.mark.parametrize("page", measured.MADE)
def test_tables_are_those_of_the_records(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    assert measured.rewritten(page, text) == text, "python docs/measured.py writes it"


def test_readings_of_ties():
    below = np.repeat([0, 1], [100, 10]), np.concatenate([np.arange(101, 1, -1), np.ones(10)])
    equal = np.repeat([0, 1], [990, 10]), np.zeros(1000)
    rows = table("ties.md", "`ties=`")
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
    "offsets": [0, 150, 400],
    "docno": np.array([f"d{i}" for i in range(400)]),
    "R": int(Y[0].sum()) + 2,
    "hits": Y[0],
    "qrels": {"q": {"a": 2, "b": 1}},
    "run": {"q": {"a": 1.0, "c": 2.0}},
    "n_gt": int(Y[0].sum()) + 2,
    "preset": hc.PRESETS["scikit-learn"],
}
CURVE, CURVES = hc.HitCurve(Y[0], S[0]), hc.HitCurves(Y, S)


def on_curve(call, **options):
    """The value of a method, or an attribute, that is written without its object."""
    method = call.partition("(")[0].strip(".")
    curve = CURVE if hasattr(CURVE, method) else CURVES
    if "(" not in call:
        return getattr(curve, method)
    written = ", ".join(f"{name}={value!r}" for name, value in options.items())
    joint = "" if call.endswith("()") or not written else ", "
    return eval(f"curve.{call.strip('.').removesuffix(')')}{joint}{written})", {"curve": curve})


def named_rows():
    """The names, the call and the readings of ties of each row; a measure's first row has the readings."""
    readings = ""
    for row in table("measures.md", "name"):
        readings = row[3] or readings
        yield pytest.param(code(row[0]), code(row[1])[0], readings, id=code(row[0])[0])
    for row in table("definitions.md", "`interpolation=`"):
        call = f"average_precision(interpolation={code(row[0])[0]})"
        linear = "threshold equals expected" in row[2]
        yield pytest.param(code(row[1]), call, measured.LINEAR if linear else measured.ALL, id=code(row[1])[0])


@pytest.mark.parametrize(("names", "call", "readings"), list(named_rows()))
def test_measures(names, call, readings):
    """The method and the names give the same number, and ties are read as the table says."""
    value = on_curve(call)
    for name in names:
        assert measures.parse(name)(CURVE) == value > 0
    if readings == "none" or "ties=" in call:
        return
    if "threshold" not in readings and readings != measured.ALL:
        with pytest.raises(ValueError, match="threshold"):
            on_curve(call, ties="threshold")
    elif readings == measured.LINEAR:
        assert on_curve(call, ties="threshold") == value
        cuts = re.search(r"k=(500|1000)", call) is None  # else it is the whole ranking
        assert (value != on_curve(call, ties="best")) == cuts
    else:
        assert len({on_curve(call, ties=ties) for ties in TIES}) >= 3  # with points, worst may equal threshold


def calls_of_levels():
    for row in table("measures.md", "of levels"):
        names = [name for name in code(row[0]) if name in measures.parse(name).record.forms]
        yield from (pytest.param(*pair, id=pair[0]) for pair in zip(names, code(row[1]), strict=True))


@pytest.mark.parametrize(("name", "call"), list(calls_of_levels()))
def test_measures_of_levels(name, call):
    """The method is called as the table shows it, and gives what the name gives."""
    levels, scores = np.array([[1, 0, 2, 0, 1, 2, 0, 0], [2, 1, 0, 1, 0, 2, 0, 1]]), [4, 3, 3, 3, 2, 2, 1, 1]
    tiebreak = "order" if measures.parse(name).record.ordered else None
    curves = hc.GainCurves(levels, np.array([scores, scores[::-1]]), tiebreak=tiebreak)
    values = eval(f"curves.{call}", {"curves": curves})
    assert np.all(np.isfinite(values) & (values != 0))
    assert measures.parse(name)(curves).tolist() == values.tolist()
    assert eval(f"curve.{call}", {"curve": curves[1]}) == values[1]


@pytest.mark.parametrize("row", table("measures.md", "method"), ids=lambda row: code(row[0])[0])
def test_methods_without_a_name(row):
    assert on_curve(code(row[0])[0]) is not None


def test_every_measure_is_there():
    shown = " ".join(code(" ".join(TEXT.values())))
    for name in (name for cls in (hc.HitCurve, hc.HitCurves) for name in vars(cls.__base__) | vars(cls)):
        if not name.startswith("_") and callable(getattr(hc.HitCurves, name, None)):
            assert re.search(rf"\b{name}\(", shown), name
    heads = "name", "of levels", "of subtopics", "names"
    names = code(" ".join(row[0] for first in heads for row in table("measures.md", first)))
    for record in measures.MEASURES:
        assert any(measures.parse(form).record is record for form in names if not form.endswith("_X")), record.name


WRITTEN = [text for page, text in TEXT.items() if page != "disagreements.md"]  # whose calls have data of their own
CALLS = sorted({call for page in WRITTEN for call in code(page) if re.fullmatch(r"hc\..*\)", call)})


def test_calls_are_found():
    assert len(CALLS) > 12


@pytest.mark.parametrize("call", CALLS)
def test_call(call):
    """Every call in the text can be made."""
    if absent := optional.missing(call):
        pytest.skip(f"needs {absent}")
    value = eval(call, dict(NAMES))
    assert np.all(np.isfinite(value)) if isinstance(value, (float, np.ndarray)) else value is not None


def scans():
    return [call for row in table("larger-data.md", "source") for call in code(row[0])]


@FOLDER
@pytest.mark.parametrize("call", scans())
def test_calls_of_scan(call, tmp_path):
    """Each counts the same items, with `...` filled in."""
    if absent := optional.missing(call):
        pytest.skip(f"needs {absent}")
    dataset, csv = pytest.importorskip("pyarrow.dataset"), pytest.importorskip("pyarrow.csv")
    data = pytest.importorskip("pyarrow").table({"active": Y[0], "energy": S[0]})
    (tmp_path / "scores").mkdir()
    dataset.write_dataset(data, tmp_path / "scores", format="parquet")
    csv.write_csv(data, tmp_path / "scores.csv")
    call = call.replace("dataset(...)", "dataset('scores')").replace('"..."', '"select * from \'scores/*.parquet\'"')
    call = call.replace("scan_csv(...)", "scan_csv('scores.csv')").replace("...)", "label='active', score='energy')")
    names = {"scan": hc.scan, "y_true": Y[0], "y_score": S[0], "function": lambda: iter([(Y[0], S[0])])}
    names |= {name: pytest.importorskip(name) for name in ("pyarrow", "duckdb", "polars") if name in call}
    with contextlib.chdir(tmp_path):
        found = eval(call, names)
    assert (found.num_items, found.average_precision()) == (len(S[0]), CURVE.average_precision())


def test_calls_on_the_same_curve():
    """Those written as .rie(20.0), after a call that makes the curve."""
    calls = [call for page in TEXT.values() for call in code(page) if re.fullmatch(r"\.\w+\(.*\)", call)]
    assert calls
    for call in calls:
        assert np.isfinite(on_curve(call))


def test_arguments_are_those_of_the_curve():
    for row in table("input.md", "argument"):
        name, _, value = code(row[0])[0].partition("=")
        options = {"num_relevant": 200, "relevance_level": 1, "nan_policy": "omit", "tiebreak": "order", "workers": 2}
        options["sample_weight"] = np.ones(400)
        hc.HitCurve(Y[0], S[0], **{name: eval(value) if value else options[name]})


def test_defaults_of_empty():
    """Those of the box are those of the calls, and compare leaves queries out."""
    text = (DOCS / "measures.md").read_text(encoding="utf-8")
    box = re.search(r"\{admonition\} Defaults\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    shown = {}
    for row in re.findall(r"^\| (.*?) \| (.*?) \|", box[1], re.MULTILINE)[1:]:
        shown |= dict.fromkeys(code(row[0]), row[1])
    curves = {"mean_average_precision": hc.HitCurves, "mean_ndcg": hc.GainCurves}
    calls = {name: [getattr(hc, name), getattr(curves[name], name)] for name in curves}
    calls |= {f"{cls.__name__}.mean": [cls.mean, cls.interval] for cls in (hc.HitCurves, hc.GainCurves)}
    calls |= {"evaluate": [hc.evaluate], "Evaluator": [hc.Evaluator]}
    for name, functions in calls.items():
        for function in functions:
            default = inspect.signature(function).parameters["empty"].default
            assert code(shown[name])[0] == f'"{default}"', function
    curves = [hc.GainCurves([[0, 0], [1, 0], [1, 0]], scores) for scores in ([[2, 1]] * 3, [[2, 1], [2, 1], [1, 2]])]
    row = hc.compare(dict(zip("ab", curves, strict=True)), measures="P@1", rng=0).rows[0]
    assert shown["compare"] == "left out"
    assert row.difference == -0.5


def test_measures_of_c():
    """As many as the header numbers."""
    header = (DOCS.parent / "src" / "hitcurve" / "hitcurve.h").read_text(encoding="utf-8")
    numbers = re.search(r"enum \{\s+HITCURVE_AVERAGE_PRECISION.*?\};", header, re.DOTALL)[0]
    count = len(re.findall(r"HITCURVE_\w+ = ", numbers))
    assert f"one of {count} measures of a table" in TEXT["for-library-authors.md"]


# --- formulas -----------------------------------------------------------------------------------------------


def tie_groups(score, values):
    """The items above each group of equal scores, and the values in it, best score first."""
    above = 0
    for one in np.unique(score)[::-1]:
        yield above, values[score == one]
        above += np.count_nonzero(score == one)


def test_formulas_of_levels():
    """DCG, nDCG, RBP and ERR under expected ties, as docs/definitions.md writes them."""
    p, highest = 0.7, 4
    for size in range(1, 12):
        levels, score = RNG.choice([0, 0, 1, 2, 3], size), RNG.integers(0, 4, size)
        levels[0] = 2
        curve = hc.GainCurve(levels, score)
        for k in (1, 3, 5, size):
            dcg = rbp = err = 0.0
            reached = 1.0
            for above, group in tie_groups(score, levels):
                m = max(0, min(len(group), k - above))
                dcg += group.mean() * sum(1 / math.log2(above + j + 1) for j in range(1, m + 1))
                rbp += group.mean() * p**above * (1 - p**m)
                sums = np.poly(2.0**group / 2**highest - 1 / 2**highest - 1)  # of x + 1 - s: elementary symmetric ones
                go_on = [total / math.comb(len(group), j) for j, total in enumerate(sums)]
                err += reached * sum((go_on[j] - go_on[j + 1]) / (above + j + 1) for j in range(m))
                reached *= go_on[-1]
            ideal = sum(level / math.log2(i + 2) for i, level in enumerate(sorted(levels, reverse=True)[:k]))
            found = [curve.dcg(k), curve.ndcg(k), curve.rbp(k, p=p), curve.err(k, max_level=highest)]
            assert found == pytest.approx([dcg, dcg / ideal, rbp / levels.max(), err], rel=1e-12)


def test_formula_of_bpref():
    for size in range(2, 12):
        level, score = RNG.choice([0, 1, 2], size), RNG.integers(0, 4, size)  # 2: no judgment
        judged = {f"d{i}": int(one) for i, one in enumerate(level) if one < 2} | {"no": 0, "yes": 1}
        relevant = sum(judged.values())
        others = len(judged) - relevant
        total, before = 0.0, 0
        for _, group in tie_groups(score, level):
            more = np.count_nonzero(group == 0)
            terms = [1 - min(j, relevant) / min(others, relevant) for j in range(before, before + more + 1)]
            total += np.count_nonzero(group == 1) * np.mean(terms)
            before += more
        run = {"q": {f"d{i}": float(one) for i, one in enumerate(score)}}
        assert hc.evaluate({"q": judged}, run, "Bpref", ties="expected")["Bpref"] == pytest.approx(total / relevant)


# --- docstrings ---------------------------------------------------------------------------------------------


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


def test_docstrings_are_whole():
    for name, function in FUNCTIONS.items():
        found = sections(function)
        parameters = [p for p in inspect.signature(function).parameters if p not in ("self", "cls") and p[0] != "_"]
        described = {part.strip() for line in re.findall(r"^(\w.*)$", found.get("Parameters", ""), re.MULTILINE)
                     for part in re.split(r"[,:]", line)}
        assert set(parameters) <= described, f"{name}: {set(parameters) - described} not under Parameters"
        assert "Returns" in found or "Yields" in found or name in ("HitCounter.update", "GainCounter.update"), name
        assert ">>> " in found.get("Examples", ""), f"{name} shows no example"
