"""The numbers of trec_eval 9.0.8 and 10.0, to the last bit, on real submissions; its own regression outputs."""

from __future__ import annotations

import csv
import gzip
import lzma
import re
import shlex
from collections import defaultdict
from pathlib import Path

import pytest

import hitcurve as hc
from hitcurve.cli.main import main
from hitcurve.retrieval.trec_eval import expand

ROOT = Path(__file__).resolve().parents[2]
SETS = [
    ("trec_covid/round1", "expected", "qrels.txt", 1),
    ("trec_covid/round3", "expected", "qrels.txt", 1),
    ("robust03", "expected", "qrels.txt", 1),
    ("codec/entity", "expected_binary", "qrels_binary.txt", 1),
    ("codec/entity", "expected_graded", "qrels_graded.txt", 1),
    ("dl_hard/passage", "expected_l2", "qrels.txt", 2),
]
RUNS = {"trec_covid/round1": 143, "trec_covid/round3": 13, "robust03": 8, "codec/entity": 6, "dl_hard/passage": 6}


def rows(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.mark.parametrize("page", ["README.md", "docs/retrieval.md"])
def test_number_of_runs(page):
    """What the pages say is how many are compared below."""
    assert set(RUNS) == {folder for folder, *_ in SETS}
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert re.findall(r"On (\d+) real runs", text) == [str(sum(RUNS.values()))]
    submitted = sum(number for folder, number in RUNS.items() if folder.startswith(("trec_covid", "robust")))
    assert re.findall(r"(\d+)(?: of them)? submissions to TREC", text) == [str(submitted)]


@pytest.mark.parametrize("share", [pytest.param(1, marks=pytest.mark.slow), 6], ids=["all", "sixth"])
@pytest.mark.parametrize(
    ("folder", "expected", "qrels", "rel"), [pytest.param(*SETS[0], marks=pytest.mark.slow), *SETS[1:]]
)
def test_every_topic_of_every_run(shared_data, folder, expected, qrels, rel, share):
    """Of every sixth run, unless slow tests run too."""
    number = RUNS[folder]
    folder = shared_data / folder
    full = rows(folder / expected / "full_v10.tsv.gz")
    version9 = {
        (row["run"], row["topic"], row["measure"]): row["v9.0.8"]
        for row in rows(folder / expected / "diff_v908_vs_v10.tsv.gz")
    }
    by_run = defaultdict(dict)
    for row in full:
        by_run[row["run"]][row["topic"]] = row
    assert len(by_run) == number
    by_run = dict(sorted(by_run.items())[::share])
    names = [name for name in full[0] if name not in ("run", "topic")]
    judgments = hc.read_qrels(folder / qrels)
    compared = 0
    for version, scores in ((10, "float64"), (9, "float32")):
        asked = {}
        for name in names:
            [entry] = expand(name, version)
            assert entry.name == name
            if version == 10 or name != "rbp":  # which 9 does not have
                asked[name] = entry.measure.name
        for run, topics in by_run.items():
            found = hc.evaluate(
                judgments, folder / "runs" / f"{run}.xz", list(asked.values()), missing="skip", scores=scores,
                relevance_level=rel,
            )
            place = {topic: i for i, topic in enumerate(found.query_ids)}
            assert set(place) == set(topics) - {"all"}
            for topic, row in topics.items():
                for name, measure in asked.items():
                    text = version9.get((run, topic, name), row[name]) if version == 9 else row[name]
                    if text:
                        value = found.means[measure] if topic == "all" else found.values[measure][place[topic]]
                        assert value == float(text), (version, run, topic, name)
                        compared += 1
    assert compared > 30_000 * len(by_run) // number
    assert version9  # the versions do differ here


@pytest.mark.parametrize("kind", ["version 9", "version 10"])
def test_its_own_regression_outputs(shared_data, capsys, kind):
    folder = shared_data / "trec_eval_suite" / ("test" if kind == "version 10" else "test_v9.0.8")
    parameters = (
        "-q -m iprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 -m Rprec_mult.5.0,0.2,0.35 "
        "-m utility.2,-1,0,0 -m 11pt_avg..25,.5,.75 -m ndcg.1=3,2=9,4=4.5 -m ndcg_cut.10,20,23.4 -m success.2,5,20"
    )
    cases = [
        ("out.test", "", "qrels.test", "results.test", 0),
        ("out.test.a", "-m all_trec", "qrels.test", "results.test", 0),
        ("out.test.aq", "-m all_trec -q", "qrels.test", "results.test", 0),
        # Its lines have nine columns, which trec_eval passes over.
        ("out.test.aqc", "-m all_trec -q --lenient", "qrels.test", "results.trunc", 3),
        ("out.test.aqcM", "-m all_trec -q --lenient -M 100", "qrels.test", "results.trunc", 3),
        ("out.test.aql", "-m all_trec -m relstring.20 -q -l 2", "qrels.rel_level", "results.test", 0),
        ("out.test.meas_params", parameters, "qrels.test", "results.test", 0),
    ]
    if kind == "version 10":
        cases.append(("out.test", "", "qrels.test.with-comments", "results.test", 0))
        cases.append(("out.comment.test", "", "qrels.comment.test", "results.comment.test", 3))
    for output, options, qrels, results, status in cases:
        command = ["trec", str(folder / qrels), str(folder / results), "--format", "trec", *shlex.split(options)]
        assert main([*command, "--trec-eval", kind.split()[1]]) == status, output
        wanted = (folder / output).read_text(encoding="utf-8")
        assert capsys.readouterr().out == wanted, output


@pytest.mark.parametrize("number", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_output_files_on_real_submissions(shared_data, capsys, number):
    for folder, expected, qrels, rel in SETS:
        outputs = sorted((shared_data / folder / expected / "trec_eval10").glob("*.txt.gz"))[:number]
        for path in outputs:
            with gzip.open(path, "rt", encoding="utf-8") as file:
                wanted = file.read()
            run = shared_data / folder / "runs" / f"{path.name.removesuffix('.txt.gz')}.xz"
            main(["trec", str(shared_data / folder / qrels), str(run), "--format", "trec", "-q", "-m", "all_trec",
                  "-l", str(rel), "--missing", "skip"])
            assert capsys.readouterr().out == wanted, run


def test_runs_with_a_document_twice_are_refused(shared_data, tmp_path):
    folder = shared_data / "trec_covid/round1"
    path = folder / "runs/bm25_baseline.xz"
    text = lzma.decompress(path.read_bytes())
    line = text.split(b"\n")[7]
    bad = tmp_path / "run"
    bad.write_bytes(text + line + b"\n")
    twice = re.escape(line.split()[2].decode())
    with pytest.raises(ValueError, match=rf"line {text.count(bytes([10])) + 1}: document '{twice}' .*first in line 8"):
        hc.evaluate(folder / "qrels.txt", bad)


@pytest.mark.parametrize(("first", "step"), [pytest.param(0, 6, marks=pytest.mark.slow), (6, 12)])
def test_runs_that_are_mostly_ties(shared_data, first, step):
    folder = shared_data / "trec_covid/round1"
    widest = 0.0
    for path in sorted((folder / "runs").glob("*.xz"))[first::step]:
        found = hc.evaluate(folder / "qrels.txt", path, ["AP", "nDCG@10", "P@5", "Bpref", "RR", "RBP(rel=1)", "ERR"])
        for name, band in found.tie_report().items():
            assert band.worst - 1e-12 <= band.value <= band.best + 1e-12, (path, name)
            assert band.worst - 1e-12 <= band.expected <= band.best + 1e-12, (path, name)
            widest = max(widest, band.best - band.worst)
    assert widest > 0.005
