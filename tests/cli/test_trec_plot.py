"""hitcurve trec --plot."""

import drawn_once
import pytest
from covering import covering

from hitcurve.cli.main import main
from hitcurve.report import plot_queries

QRELS = "".join(f"{q} 0 d{d} {int(d % 3 == 0)}\n" for q in range(8) for d in range(9))


def lines(shift, tag):
    return "".join(f"{q} Q0 d{d} 0 {(d * (q + shift)) % 7 + d / 100} {tag}\n" for q in range(8) for d in range(9))


@pytest.fixture
def files(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    drawn_once.no_layout(monkeypatch)
    monkeypatch.chdir(tmp_path)
    for name, text in {"qrels": QRELS, "a": lines(2, "a"), "b": lines(3, "b"), "$c_1$": lines(5, "c")}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def drawn(monkeypatch):
    """The figures that were made. Of their files, one is drawn."""
    drawn_once.saved(monkeypatch)
    made, make = [], plot_queries.runs_figure
    monkeypatch.setattr(plot_queries, "runs_figure", lambda *args: made.append(make(*args)) or made[-1])
    return made


def trec(capsys, *words):
    status = main(["trec", "qrels", *words])
    return status, *capsys.readouterr()


def test_what_is_printed_stays(capsys, files, monkeypatch):
    drawn_once.saved(monkeypatch)
    for more in ((), ("-m", "official"), ("--format", "json"), ("--format", "trec", "-q"), ("-m", "num_q"),
                 ("-m", "iprec_at_recall", "AP"), ("--trec-eval", "9"), ("--ties", "expected")):  # fmt: skip
        for runs in (("a",), ("a", "b")) if len(more) < 2 or more[0] == "--format" else (("a", "b"),):
            plain = trec(capsys, *runs, *more)
            assert trec(capsys, *runs, *more, "--plot", "p.png") == plain, (runs, more)
            assert (files / "p.png").read_bytes()[:4] == b"\x89PNG"
            (files / "p.png").unlink()


@pytest.mark.parametrize(("name", "begin"), [("p.png", b"\x89PNG"), ("p.svg", b"<?xml"), ("p.pdf", b"%PDF"),
                                             ("p.JPG", b"\xff\xd8")])  # fmt: skip
def test_endings(capsys, files, name, begin):
    assert trec(capsys, "a", "$c_1$", "--plot", name)[0] == 0
    assert (files / name).read_bytes().startswith(begin)


@pytest.mark.parametrize(("name", "others", "outputs"), covering(
    ["\udcff", "$_$"], [(), ("a",), ("a", "b", "--compare")], [("--plot", "p.png"), ("--report", "p.html")]
))  # fmt: skip
def test_names_that_are_no_text(capsys, files, name, others, outputs):
    """Bytes that are no letters, and what matplotlib takes for a formula that it cannot read."""
    try:
        (files / name).write_text(lines(4, "d"))
    except OSError:  # macOS has no such names
        return
    assert trec(capsys, *others[:2], name, *others[2:], *outputs)[0] == 0


def test_what_is_drawn(capsys, files, drawn):
    for words in (("a",), ("a", "b"), ("a", "b", "$c_1$"), ("a", "b", "$c_1$", "--baseline", "b", "--sort", "AP"),
                  ("a", "b", "-m", "num_q"), ("a", "b", "-m", "P.2")):  # fmt: skip
        assert trec(capsys, *words, "--plot", "p.svg")[0] == 0
    first = "interpolated precision"
    assert [[ax.get_ylabel() or ax.get_xlabel() for ax in one.axes] for one in drawn] == [
        [first], [first, "AP: b − a"], [first], [first, "difference in AP from b, 95\u00a0% intervals"], [first],
        [first, "P@2: b − a"],
    ]  # fmt: skip
    texts = [text.get_text() for text in drawn[2].axes[0].figure.legends[0].get_texts()]
    assert texts[-1].startswith(r"\$c_1\$ (")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("a", "--plot", "p.gif"), "--plot p.gif: the name must end in .png, .svg, .pdf or .jpg"),
        (("a", "a", "--plot", "p.png"), "--plot: a run is named twice"),
    ],
)
def test_wrong_usage(capsys, files, words, problem):
    status, _, err = trec(capsys, *words)
    assert status == 2
    assert problem in err
    assert not (files / "p.png").exists()


def test_a_folder_that_is_not_there(capsys, files):
    status, _, err = trec(capsys, "a", "--plot", "none/p.png")
    assert status == 1
    assert "none/p.png" in err


def test_the_measure_that_sorts_is_drawn(capsys, files, drawn, monkeypatch):
    drawn_once.words_alone(monkeypatch)
    for sort, measure in ((), "AP"), (("--sort", "P@3"), "P@3"), (("--sort", "map"), "AP"), (("--sort", "num_q"), "AP"):
        trec(capsys, "a", "b", "-m", "num_q", "AP", "P@3", *sort, "--plot", "p.png")
        assert drawn[-1].axes[1].get_title() == f"Differences in {measure}"
        if sort and sort[1] in ("map", "num_q"):
            continue
        trec(capsys, "a", "b", "$c_1$", "-m", "AP", "P@3", "num_q", *sort, "--compare", "--plot", "p.png")
        assert drawn[-1].axes[1].get_title().startswith(f"{measure}, 8 queries")
    for sort, measure in (("--sort", "P@3"), "P@3"), (("--sort", "num_q"), "AP"):
        trec(capsys, "a", "b", "-m", "AP", "P@3", "num_q", *sort, "--report", "p.html")
        page = (files / "p.html").read_text()
        assert f"{measure} of " in page.split("<figcaption>")[2].partition("</figcaption>")[0]
        assert f"<h2>{'NumQ' if 'num_q' in sort else measure} of each query</h2>" in page
