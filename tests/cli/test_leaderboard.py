"""`hitcurve trec` with several runs: sorted, compared, in forms for programs, and one warning for all of them."""

import csv
import io
import json
import lzma
import random
import re

import pytest

import hitcurve as hc
from hitcurve.cli.main import main

QRELS = "1 0 d1 1\n1 0 d2 0\n2 0 d1 1\n3 0 d4 1\n"
RUNS = {
    "low": "1 Q0 d1 1 2.5 t\n1 Q0 d2 2 2.5 t\n2 Q0 d9 1 1 t\n",
    "high": "1 Q0 d1 1 2.5 t\n1 Q0 d2 2 1.5 t\n2 Q0 d1 1 1 t\n3 Q0 d4 1 1 t\n",
    "mid": "1 Q0 d1 1 2.5 t\n1 Q0 d2 2 2.5 t\n2 Q0 d1 1 1 t\n9 Q0 d1 1 2 t\n",
}
PATHS = [f"runs/{name}.txt" for name in RUNS]


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    (tmp_path / "q.txt").write_text(QRELS)
    (tmp_path / "runs").mkdir()
    for name, text in RUNS.items():
        (tmp_path / "runs" / f"{name}.txt").write_text(text)
    monkeypatch.chdir(tmp_path)


def trec(capsys, *arguments, paths=PATHS):
    status = main(["trec", "q.txt", *paths, *arguments])
    return status, *capsys.readouterr()


def order(out):
    return [line.split()[0].removesuffix(".txt") for line in out.splitlines()[1:4]]


@pytest.mark.parametrize(
    ("measures", "by", "expected"),
    [
        (("AP", "RR"), "AP", ["high", "mid", "low"]),
        (("AP",), "map", ["high", "mid", "low"]),
        (("P.1,2",), "P_2", ["high", "mid", "low"]),
        (("AP", "Unjudged@1"), "Unjudged@1", ["high", "mid", "low"]),  # fewer are better
        (("NumQ",), "num_q", ["low", "high", "mid"]),  # equal ones as given
    ],
)
def test_the_best_run_first(capsys, measures, by, expected):
    out = trec(capsys, "-m", *measures)[1]
    assert order(out) == list(RUNS)
    found = trec(capsys, "-m", *measures, "--sort", by)[1]
    assert order(found) == expected
    assert sorted(found.splitlines()) == sorted(out.splitlines())


def test_runs_without_a_value_come_last(capsys, tmp_path):
    (tmp_path / "q.txt").write_text("1 0 d1 0\n2 0 d1 1\n")
    (tmp_path / "runs" / "low.txt").write_text("1 Q0 d1 1 2.5 t\n")
    how = ("--missing", "skip", "--empty", "skip", "-m", "AP", "--sort", "AP")
    out = trec(capsys, *how)[1]
    assert out.splitlines()[3].split() == ["low.txt", "-"]


@pytest.mark.parametrize("form", ["csv", "json", "trec"])
def test_every_form_is_sorted(capsys, form):
    out = trec(capsys, "-m", "AP", "--sort", "AP", "--format", form)[1]
    if form == "csv":
        means = [float(row["AP"]) for row in csv.DictReader(io.StringIO(out))]
    elif form == "json":
        means = [run["means"]["AP"] for run in json.loads(out)["runs"]]
    else:
        means = [float(line.split()[2]) for line in out.splitlines()]
    assert len(means) == 3
    assert means == sorted(means, reverse=True)


def python(baseline=None, seed=0, names=tuple(RUNS)):
    runs = {f"{name}.txt": hc.evaluate("q.txt", f"runs/{name}.txt", ["AP", "RR"]) for name in names}
    return hc.compare(runs, baseline=baseline, rng=seed)


def plain(row):
    return {name: None if value != value else value for name, value in row._asdict().items()}


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("baseline", [None, "runs/mid.txt", "mid.txt"])
@pytest.mark.filterwarnings("ignore")
def test_comparisons_for_programs_are_those_of_python(capsys, baseline, seed):
    """To the last bit, for the same seed; the baseline by its path and by the name that is printed."""
    arguments = ["-m", "AP", "RR", "--compare", "--seed", str(seed), *(("--baseline", baseline) if baseline else ())]
    expected = python(baseline and "mid.txt", seed)
    made = json.loads(trec(capsys, *arguments, "--format", "json")[1])
    assert [run["run"] for run in made["runs"]] == [f"{name}.txt" for name in RUNS]
    made = made["comparison"]
    assert made["differences"] == [plain(row) for row in expected.rows]
    assert made["systems"] == [plain(row) for row in expected.systems]
    assert (made["unit"], made["count"], made["seed"]) == ("queries", 3, seed)
    rows = list(csv.DictReader(io.StringIO(trec(capsys, *arguments, "--format", "csv")[1])))
    cells = [{name: "" if value is None else str(value) for name, value in plain(row).items()} for row in expected.rows]
    assert rows == cells
    assert "not_compared" not in made
    more = json.loads(trec(capsys, "-m", "GMAP", "NumRet", *arguments, "--format", "json")[1])["comparison"]
    assert (more.pop("not_compared"), more) == (["GMAP", "NumRet"], made)
    for form in ("markdown", "latex"):
        text = trec(capsys, *arguments, "--format", form, "--tables", "all")[1]
        assert text.rstrip().endswith(getattr(expected, f"to_{form}")())


@pytest.mark.parametrize("form", ["markdown", "latex"])
@pytest.mark.parametrize("arguments", [(), ("--compare",), ("--baseline", "mid.txt"), ("--sort", "RR", "--compare")])
def test_the_table_of_runs_is_that_of_python(capsys, form, arguments):
    """Best values, and with --compare what is significant, by the same names and the same seed."""
    queries = 8
    with open("q.txt", "w") as file:
        file.writelines(f"{query} 0 d1 1\n" for query in range(queries))
    for rank, path in zip((3, 1, 2), PATHS, strict=True):
        with open(path, "w") as file:
            file.writelines(f"{query} Q0 d{1 if at == rank else at + 9} {at} {9 - at} {path}\n"
                            for query in range(queries) for at in (1, 2, 3))  # fmt: skip
    status, out, _ = trec(capsys, "-m", "AP", "RR", "Unjudged@3", "--format", form, "--caption", "All", *arguments)
    assert status == 0
    order = ("high", "mid", "low") if "--sort" in arguments else tuple(RUNS)
    runs = {f"{name}.txt": hc.evaluate("q.txt", f"runs/{name}.txt", ["AP", "RR", "Unjudged@3"]) for name in order}
    if not arguments:
        expected = getattr(hc.Leaderboard(runs), f"to_{form}")(caption="All")
    else:
        compared = hc.compare(runs, baseline="mid.txt" if "--baseline" in arguments else None, rng=0)
        expected = getattr(compared, f"to_{form}")("wide", caption="All")
        assert ("<sup>" in expected) or ("textsuperscript" in expected)
    expected = expected.replace(f"{queries} queries.", f"{queries} queries; equal scores: docid.")
    assert out.startswith(expected.replace("system", "run", 1))


@pytest.mark.parametrize(("arguments", "said"), [
    (("--sort", "PP@1"), "there is no measure 'PP'; near names: P@1"),
    (("--sort", "P@10"), "argument --sort: 'P@10': did you mean 'P@1'? use one of AP, P@1"),
    (("--baseline", "Mid"), "--baseline 'Mid' is not one of the systems: 'low.txt' (tag 't'), 'high.txt' (tag 't'), "
                            "'mid.txt' (tag 't'); did you mean 'mid.txt'?"),
    (("--baseline", "bm25"), "--baseline 'bm25' is not one of the systems: 'low.txt' (tag 't'), 'high.txt' (tag 't'), "
                             "'mid.txt' (tag 't')\n"),
])  # fmt: skip
def test_near_names(capsys, arguments, said):
    status, _, error = trec(capsys, "-m", "AP", "P@1", *arguments)
    assert status == 2
    assert said in error


@pytest.mark.parametrize("digits", [0, 2, 4, 17])
@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_digits_are_those_of_python(capsys, form, digits):
    expected = python("mid.txt")
    out = trec(capsys, "-m", "AP", "RR", "--baseline", "mid", "--format", form, "--digits", str(digits), "--tables",
               "all")[1]  # fmt: skip
    assert out.rstrip().endswith(getattr(expected, f"to_{form}")(digits=digits))
    wide = getattr(expected, f"to_{form}")("wide", digits=digits).replace("system", "run", 1)
    assert out.startswith(wide.replace("3 queries.", "3 queries; equal scores: docid."))


@pytest.mark.parametrize("arguments", [("--digits", "2"), ("--digits", "2", "-q"), ("--compare", "--digits", "2"),
                                       ("--compare", "--tables", "board"), ("--compare", "--tables", "all"), ("-q",),
                                       ("--format", "csv", "--digits", "2"), ("--tables", "board"), ("--p", "t")])
def test_a_terminal_takes_what_a_pipe_takes(capsys, monkeypatch, arguments):
    """And prints the same, in bold and with colours."""
    status, out, err = trec(capsys, "-m", "AP", "RR", *arguments)
    monkeypatch.setenv("FORCE_COLOR", "1")
    in_colour = trec(capsys, "-m", "AP", "RR", *arguments)
    escapes = re.compile(r"\x1b\[[\d;]*m")
    assert (in_colour[0], *(escapes.sub("", text) for text in in_colour[1:])) == (status, out, err)
    assert "--digits" not in arguments or status == 2 or re.search(r" \d\.\d\d\b", out)


def test_label_and_caption(capsys):
    out = trec(capsys, "-m", "AP", "--format", "latex", "--label", "tab:one")[1]
    assert out.startswith("\\begin{table}[ht]\n\\centering\n\\label{tab:one}\n")
    out = trec(capsys, "-m", "AP", "--format", "markdown", "--caption", "*One* day")[1]
    assert out.splitlines()[0] == r"\*One\* day"


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_a_run_that_is_named_twice_has_two_rows(capsys, form):
    out = trec(capsys, "-m", "AP", "--format", form, paths=PATHS[:1] * 2)[1]
    assert all(sum(f"low.txt {at}" in line for line in out.splitlines()) == 1 for at in (1, 2))


@pytest.mark.filterwarnings("ignore")
def test_a_count_of_one_is_a_whole_number(capsys, tmp_path):
    for name, text in {"qrels": "q 0 a 1\n", "run": "q Q0 a 1 2.5 x\n"}.items():
        (tmp_path / name).write_text(text)
    assert main(["trec", str(tmp_path / "qrels"), str(tmp_path / "run"), "-m", "NumQ", "AP", "-q"]) == 0
    assert "run  all       1  1.0000\n" in capsys.readouterr().out


def test_the_seed_changes_what_is_drawn_and_nothing_else(capsys):
    arguments = ("-m", "AP", "--compare", "--format", "csv")
    assert trec(capsys, *arguments)[1] == trec(capsys, *arguments, "--seed", "0")[1]
    assert trec(capsys, *arguments)[1] != trec(capsys, *arguments, "--seed", "1")[1]


@pytest.mark.filterwarnings("ignore")
def test_a_sorted_comparison_is_that_of_the_runs_in_this_order(capsys):
    arguments = ("-m", "AP", "RR", "--compare", "--format", "csv")
    sorted_ = trec(capsys, *arguments, "--sort", "AP", "--baseline", "low.txt")[1]
    given = [f"runs/{name}.txt" for name in ("high", "mid", "low")]
    assert sorted_ == trec(capsys, *arguments, "--baseline", "runs/low.txt", paths=given)[1]


def test_names_that_are_not_distinct_are_paths(capsys, tmp_path):
    (tmp_path / "low.txt").write_text(RUNS["high"])
    paths = ["runs/low.txt", "low.txt"]
    out = trec(capsys, "-m", "AP", "--baseline", "low.txt", "--format", "csv", paths=paths)[1]
    assert out.splitlines()[1].startswith("AP,low.txt,runs/low.txt,")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--sort", "P@3"), "argument --sort: 'P@3': use one of AP, nDCG@10, P@10, RR, R@1000"),
        (("--sort", "official"), "argument --sort: 'official': use one of AP, "),
        (("-m", "AP", "--sort", "nDGC@10"), "argument --sort: 'nDGC@10': there is no measure 'nDGC'"),
        (("--baseline", "none.txt"), "--baseline 'none.txt' is not one of the systems: 'low.txt' (tag 't'), "),
        (("--compare", "--format", "trec"), "--compare cannot be combined with --format trec"),
        (("--compare", "--format", "csv", "-q"), "-q and --compare are two tables, but --format csv"),
        (("--compare", "--seed", "-1"), "argument --seed: '-1' is not a whole number from 0 up"),
        (("--caption", "x"), "--caption needs --format markdown or latex"),
        (("--digits", "3", "--format", "json"), "--digits needs --format table, markdown or latex"),
        (("--digits", "18"), "argument --digits: 18 is too large: at most 17"),
        (("--digits", "3", "--user-model", "RR"), "--user-model cannot be combined with --digits"),
        (("--label", "x", "--format", "markdown"), "--label needs --format latex"),
        (("--caption", "x", "--format", "latex", "-q"), "--caption and --label cannot be combined with -q"),
        (("--compare", "--seed", "1.5"), "argument --seed: '1.5' is not a whole number from 0 up"),
    ],
)
def test_wrong_usage(capsys, arguments, problem):
    status, out, err = trec(capsys, *arguments)
    assert (status, out) == (2, "")
    assert problem in err.splitlines()[-1]


def test_one_warning_for_many_runs(capsys):
    status, _, err = trec(capsys, "-m", "AP")
    assert status == 3
    assert err.splitlines() == [
        "hitcurve: warning: low.txt, first of 2 such runs: 1 query of q.txt missing: counted as 0",
        "hitcurve: warning: low.txt, first of 2 such runs: ties change the means: AP 0.1667..0.3333 (see --ties)",
        "hitcurve: warning: mid.txt: 1 query without judgments: left out",
    ]
    _, _, err = trec(capsys, "-m", "AP", paths=PATHS[:1])
    assert err.splitlines() == [
        "hitcurve: warning: low.txt: 1 query of q.txt missing: counted as 0",
        "hitcurve: warning: low.txt: ties change the means: AP 0.1667..0.3333 (see --ties)",
    ]


def test_one_warning_for_what_many_files_let_pass(capsys, tmp_path):
    """The counts, lines and queries in it are those of the first; what is said of the judgments is said once."""
    (tmp_path / "q.txt").write_text(QRELS + "3 0 d5 0.5\n")
    for at, path in enumerate(PATHS):
        lines = "".join(f"{query} Q0 d1 1 x{query} t\n" for query in range(1, 2 + at))
        (tmp_path / path).write_text(lines + "3 Q0 d4 1 1 t\n")
    _, _, err = trec(capsys, "-m", "AP", "--lenient")
    passed = [line for line in err.splitlines() if "other than a" in line]
    assert len(passed) == 2
    assert passed[0].startswith("hitcurve: warning: q.txt: 1 relevance other than a whole number")
    assert passed[1].startswith("hitcurve: warning: runs/low.txt, first of 3 such runs: 1 score other than a number")


def test_one_warning_for_orders_that_scores_contradict(capsys, tmp_path):
    for path in PATHS:
        (tmp_path / path).write_text(f"1 Q0 d1 1 1 t\n1 Q0 {path[5:8]} 2 2 t\n2 Q0 d1 1 1 t\n3 Q0 d4 1 1 t\n")
    status, _, err = trec(capsys, "-m", "AP", "--rank-by", "listed")
    assert status == 0
    (line,) = err.splitlines()
    assert line.startswith("hitcurve: warning: runs/low.txt, first of 3 such runs: scores rise in the order of")


def test_help_says_it_on_short_lines(capsys):
    status, out, _ = trec(capsys, "--help")
    assert status == 0
    options, examples = out.split("\nexamples:\n")
    assert len(options.splitlines()) <= 44
    assert all(line.startswith("  hitcurve trec ") for line in examples.split("\n\n")[0].splitlines())
    for option in ("--sort MEASURE", "--baseline RUN", "--seed N"):
        assert f"\n  {option} " in out


def four_runs(folder, queries=30):
    """Runs that have their one relevant document at better and better ranks."""
    rng = random.Random(1)
    (folder / "q.txt").write_text("".join(f"{q} 0 d 1\n" for q in range(queries)))
    paths = []
    for run in range(4):
        lines = []
        for q in range(queries):
            rank = 1 + int(rng.random() * 4 * (4 - run))
            lines += [f"{q} Q0 {'d' if at == rank else f'x{at}'} {at} {50 - at} t\n" for at in range(1, 20)]
        paths.append(f"runs/r{run}.txt")
        (folder / paths[-1]).write_text("".join(lines))
    return paths


def test_the_board_alone_in_latex(capsys, tmp_path):
    paths = four_runs(tmp_path)
    asked = ("-m", "AP", "--compare", "--format", "latex")
    board = trec(capsys, *asked, paths=paths)[1]
    everything = trec(capsys, *asked, "--tables", "all", paths=paths)[1]
    assert board.count(r"\begin{tabular}") == 1
    for head in ("measure & system & mean &", "measure & system & baseline & difference &"):
        assert [text.count(head) for text in (board, everything)] == [0, 1]
    assert everything.startswith(board.rstrip())
    markdown = trec(capsys, *asked[:-1], "markdown", paths=paths)[1]
    assert markdown.startswith(trec(capsys, *asked[:-1], "markdown", "--tables", "board", paths=paths)[1].rstrip())
    assert markdown.count("| system | baseline |") == 1


def test_the_p_value_that_decides_the_marks(capsys, tmp_path):
    paths = four_runs(tmp_path)
    runs = {f"r{i}.txt": hc.evaluate("q.txt", path, ["AP"]) for i, path in enumerate(paths)}
    comparison = hc.compare(runs, rng=0, n_resamples=4999)
    asked = ("-m", "AP", "--compare", "--tables", "board", "--resamples", "4999", "--format", "markdown")
    seen = set()
    for p in ("p_holm", "p_value", "p_t", "p_tukey", "p_interval"):
        for name in (p, p.removeprefix("p_")):
            out = trec(capsys, *asked, "--p", name, paths=paths)[1]
            wide = comparison.to_markdown("wide", p=p)
            rows = [line.replace("| run |", "| system |") for line in out.splitlines() if line.startswith("|")]
            assert rows == [line for line in wide.splitlines() if line.startswith("|")]
            assert wide[wide.index("Raised letters") :] == out[out.index("Raised letters") :].rstrip()
        seen.add(tuple(rows))
    assert len(seen) > 1


def test_too_few_resamples_are_said(capsys, tmp_path):
    paths = four_runs(tmp_path)
    for form in ("table", "markdown", "latex", "json", "csv"):
        _, out, err = trec(capsys, "-m", "AP", "--compare", "--resamples", "99", "--format", form, paths=paths)
        few = "99 resamples are too few: no p-value from them, corrected for 6 pairs, can be 0.05 or less."
        assert err.count(f"hitcurve: warning: {few} At least 119 are needed") == 1
        assert (few in " ".join(out.split())) == (form not in ("json", "csv"))


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--p", "t"), "--p needs --compare"),
        (("--resamples", "99"), "--resamples needs --compare"),
        (("--compare", "--p", "t"), "--p needs --format markdown or latex, or --report"),
        (("--compare", "--p", "x"), "argument --p: invalid choice: 'x'"),
        (("--tables", "all"), "--tables needs --compare and --format table, markdown or latex"),
        (("--compare", "--format", "csv", "--tables", "board"), "--tables needs --compare and"),
        (("--compare", "--resamples", "1000001"), "argument --resamples: 1000001 is too large: at most 1,000,000"),
    ],
)
def test_options_of_comparisons(capsys, arguments, problem):
    status, out, err = trec(capsys, *arguments)
    assert (status, out) == (2, "")
    assert problem in err


def test_runs_are_named_by_files_or_tags(capsys, tmp_path):
    for name, text in RUNS.items():
        packed = lzma.compress(text.replace(" t\n", f" {name[0]}\n").encode())
        (tmp_path / "runs" / f"{name}.txt.xz").write_bytes(packed)
    paths = [f"{path}.xz" for path in PATHS]
    out = trec(capsys, "-m", "AP", paths=paths)[1]
    assert [line.split()[0] for line in out.splitlines()[1:4]] == ["low.txt", "high.txt", "mid.txt"]
    out = trec(capsys, "-m", "AP", "--names", "tag", paths=paths)[1]
    assert [line.split()[0] for line in out.splitlines()[1:4]] == ["l", "h", "m"]
    for naming, names in (("file", ["low.txt", "high.txt", "mid.txt"]), ("tag", ["l", "h", "m"])):
        found = [trec(capsys, "-m", "AP", "--names", naming, "--baseline", baseline, "--format", "csv", paths=paths)[1]
                 for baseline in ("runs/mid.txt.xz", "mid.txt.xz", "m", names[2])]
        assert {row["baseline"] for row in csv.DictReader(io.StringIO(found[0]))} == {names[2]}
        assert len(set(found)) == 1
    status, _, err = trec(capsys, "--baseline", "t")
    assert (status, err.splitlines()[-1].partition("error: ")[2]) == (
        2, "--baseline 't' is more than one of the systems: 'low.txt' (tag 't'), 'high.txt' (tag 't'), 'mid.txt' "
           "(tag 't'): name one of them")
    _, out, err = trec(capsys, "--names", "tag", "-m", "AP")  # one tag for all: their files
    assert order(out) == list(RUNS)
    assert "--names tag: 3 runs have the tag 't' and are named by file: low.txt, high.txt, mid.txt" in err
    _, out, err = trec(capsys, "--names", "tag", "-m", "AP", paths=[PATHS[0], *paths[1:]])  # tags t, h, m
    assert [line.split()[0] for line in out.splitlines()[1:4]] == ["t", "h", "m"]
    assert "--names tag" not in err
    _, out, err = trec(capsys, "--names", "tag", "-m", "AP", paths=[*PATHS[:2], paths[2]])  # tags t, t, m
    assert [line.split()[0] for line in out.splitlines()[1:4]] == ["low.txt", "high.txt", "m"]
    assert "2 runs have the tag 't' and are named by file: low.txt, high.txt" in err
    out = trec(capsys, "-m", "runid", "--format", "trec")[1]
    assert [line.split()[-1] for line in out.splitlines()] == ["t", "t", "t"]


def test_an_empty_run_leaves_nothing_out(capsys, tmp_path):
    (tmp_path / "runs" / "low.txt").write_text("")
    status, _, err = trec(capsys, "-m", "AP", paths=PATHS[:1])
    assert status == 0
    assert "hitcurve: warning: runs/low.txt: the run has no documents: every query is measured as if nothing" in err
