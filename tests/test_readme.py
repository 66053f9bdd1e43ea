"""What the README and the docstrings show is what happens."""

import doctest
import importlib.metadata
import re
import shlex
import tomllib
from pathlib import Path

import numpy as np
import optional
import pytest

import hitcurve as hc
from hitcurve import measures
from hitcurve._base import extras as _extras
from hitcurve.cli import main as cli

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
BLOCKS = FENCED.findall(README)
TEXT = FENCED.sub("", README)
SENTENCES = " ".join(TEXT.split())
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


# --- examples -----------------------------------------------------------------------------------------------


@STDOUT
def test_examples():
    """One after the other, in the same names: what a reader types."""
    blocks = [text for language, text in BLOCKS if language == "python"]
    assert len(blocks) > 3
    names = {}
    for i, text in enumerate(blocks):
        assert text.startswith(">>> ")
        if not optional.missing(text):
            run(f"README.md, block {i}", text, names)


def test_blocks_are_of_known_kinds():
    assert {language for language, _ in BLOCKS} == {"python", "csv", "console"}


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
    assert {"ndcg", "mean_ndcg", "GainCurve", "GainCurves", "GainCurve.from_ranked"} <= set(EXAMPLES)


@STDOUT
@pytest.mark.parametrize("name", EXAMPLES)
def test_docstring(name):
    if absent := optional.missing(EXAMPLES[name]):
        pytest.skip(f"needs {absent}")
    run(name, EXAMPLES[name], {})


# --- what it shows beside ---------------------------------------------------------------------------------------


def test_a_reader_finishes_it():
    assert len(README.splitlines()) <= 150


def test_links():
    """What it links and shows is in the checkout."""
    links = re.findall(r"\]\(([^)]+)\)", TEXT)
    assert len(links) > 10
    for link in links:
        assert link.startswith("http") or (ROOT / link).exists(), link


def test_linked_pages_are_whole():
    """What the build of the documentation makes or includes is not there for a reader of the checkout."""
    pages = set(re.findall(r"\]\((docs/[\w-]+\.md)\)", TEXT))
    assert len(pages) > 10
    for page in pages:
        text = (ROOT / page).read_text(encoding="utf-8")
        assert "```{include}" not in text, page
        assert not re.search(r"\]\(_made/", text), page


def test_speed():
    """Its rows are rows of the whole table, which the same command has written."""

    def rows(text):
        section = text.partition("<!-- speed:begin -->")[2].partition("<!-- speed:end -->")[0]
        lines = [line.strip("|") for line in section.splitlines() if line.startswith("|")]
        cells = [[cell.strip() for cell in line.split("|")] for line in lines]
        return {row[0]: dict(zip(cells[0], row, strict=True)) for row in cells[2:]}

    few, whole = rows(README), rows((ROOT / "docs" / "speed.md").read_text(encoding="utf-8"))
    assert len(few) == 4
    for task, row in few.items():
        for library, shown in row.items():
            assert re.sub(r" \(.*\)", "", whole[task][library]) == shown


def test_number_of_measures():
    named = {"AP", "nDCG", "ROCAUC", "EF", "BEDROC"}
    assert named < {record.name for record in measures.MEASURES}
    listed = "average precision, nDCG, ROC AUC, enrichment factors, BEDROC"
    assert f"{listed} and more than eighty other measures" in SENTENCES
    assert 80 < len(measures.MEASURES) - len(named) < 90


def test_ten_that_share_a_score():
    relevant, score = np.repeat([0, 1], [100, 10]), np.repeat([2.0, 1.0], [100, 10])
    expected, best, worst, threshold = (
        f"{hc.average_precision(relevant, score, ties=ties):.4f}" for ties in ("expected", "best", "worst", "threshold")
    )
    assert expected == best == worst
    said = f"have an average precision of {expected} in every order. The threshold reading says {threshold}."
    assert f"Ten relevant items that share one score, below a hundred others, {said}" in SENTENCES


def test_picture():
    """The numbers beside it and in it are those of the data that docs/picture.py draws."""
    data = pytest.importorskip("sklearn.datasets", reason="scikit-learn has the data").load_breast_cancer()
    report = hc.HitCurve(data.target == 0, 5 * np.round(data.data[:, 0] / 5)).tie_report()
    low, high = f"{report.worst:.2f}", f"{report.best:.2f}"
    assert f"Ranked by the rounded radius, the average precision is anything from {low} to {high}." in SENTENCES
    assert f"AP {low} to {high}<" in (ROOT / "docs" / "hits.svg").read_text(encoding="utf-8")


def test_package_index():
    """The text in the metadata has neither picture nor relative links."""
    if hc.__file__.startswith(str(ROOT / "src")):
        pytest.skip("only an installed package has metadata; this one is built in place")
    # As the file has it: a backport of importlib.metadata that a test has loaded gives the text as a field.
    text = importlib.metadata.distribution("hitcurve").read_text("METADATA").partition("\n\n")[2]
    assert "hc.average_precision(relevant, score)" in text
    assert "docs/hits.svg" not in text
    assert not re.search(r"\]\((?!http)", text)


def test_extras_are_installed_from_a_checkout():
    """README, pages and errors have one wording, as long as no index has the package; and each extra exists."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    modules = [path for kind in ("py", "pyx") for path in (ROOT / "src").rglob(f"*.{kind}")]
    named = set()
    for path in (*pages, *modules):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"pip install\W+hitcurve\b", text), path
        assert not re.search(r"\bhitcurve\[[a-z{]", text), path
        for listed in re.findall(r"\.\[([a-z,-]+)\]\"", text):
            named |= {*listed.split(",")}
    assert {"files", "plot", "excel", "stats"} <= named <= {*extras}
    for library, extra in _extras._EXTRAS.items():
        assert _extras.advice(library, "it") == f'it needs {library}: pip install ".[{extra}]" in a checkout'
        assert extra in extras
