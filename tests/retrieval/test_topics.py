"""Judgments by subtopic: every way to read them, every measure of a run, and the numbers of ndeval."""

import importlib
import json
import lzma
import pickle
import re

import numpy as np
import pytest
import reference
import register

import hitcurve as hc
from hitcurve.measures import parse

ROWS = [row for row in register.MEASURES if "subtopics" in row.of]
NAMES = [(row, name, keywords) for row in ROWS for name, keywords in row.written]
PLAIN = ["AP", "nDCG@5", "P(rel=2)@3", "Bpref", "Judged@5", "RBPResid", "NumRel", "infAP"]
TOPICS = ("cat", "dog", "é")


def drawn(rng, queries=5, most=9, distinct=4):
    """{query: {document: {subtopic: level}}}, and a run with ties; each has documents and queries of its own."""
    judged, run = {}, {}
    for q in range(queries):
        ids = [f"{'dé'[i % 2]}{i}" for i in rng.permutation(2 * most)]
        judged[f"q{q}"] = {
            doc: {str(one): int(rng.choice([-1, 0, 0, 1, 2])) for one in rng.permutation(TOPICS)[: rng.integers(1, 4)]}
            for doc in ids[: rng.integers(1, most)]
        }
        listed = rng.permutation(ids)[: rng.integers(1, most)].tolist()
        run[f"q{q}"] = {doc: float(rng.integers(-distinct, distinct)) for doc in listed}
    del run["q1"]
    return judged, run | {"other": {"d": 1.0}}


JUDGED, RUN = drawn(np.random.default_rng(0))
HIGHEST = {query: {doc: max(of.values()) for doc, of in docs.items()} for query, docs in JUDGED.items()}
ROWS_OF = [(query, topic, doc, level) for query, docs in JUDGED.items() for doc, of in docs.items()
           for topic, level in of.items()]  # fmt: skip


def names_of(ties):
    """Best and worst orders of ties are known for P_IA alone."""
    return [name for row, name, _ in NAMES if ties in ("docid", "expected") or row.name == "P_IA"]


def twin(query, ties, judged_only=False, judged=JUDGED, run=RUN):
    """The query for the slow twin: documents in tie groups, and all judged documents by falling id."""
    docs, scored = judged[query], run.get(query, {})
    levels = {doc: tuple(max(of.get(topic, 0), 0) for topic in TOPICS) for doc, of in docs.items()}
    falling = sorted(sorted(scored, key=str.encode, reverse=True), key=lambda doc: -scored[doc])
    if judged_only:
        falling = [doc for doc in falling if doc in docs and max(docs[doc].values()) >= 0]
    groups = {}
    for place, doc in enumerate(falling):
        groups.setdefault(place if ties == "docid" else scored[doc], []).append(levels.get(doc, (0, 0, 0)))
    pool = tuple(levels[doc] for doc in sorted(docs, key=str.encode, reverse=True))
    return reference.Topics(tuple(map(tuple, groups.values())), pool)


@pytest.mark.parametrize("runs", [3, pytest.param(8, marks=pytest.mark.slow)])
@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.parametrize("ties", register.OF_RUNS)
def test_a_run_has_the_numbers_of_the_twin_and_of_its_curves(ties, judged_only, runs):
    rng, read = np.random.default_rng(7), "expected" if ties == "docid" else ties
    for _ in range(runs):
        judged, run = drawn(rng, 3, 5, 3)
        found = hc.evaluate(judged, run, names_of(ties), ties=ties, judged_only=judged_only, subtopics=True)
        curves = found.curves(subtopics=True)
        for row, name, keywords in NAMES:
            if name not in found.values:
                continue
            for i, query in enumerate(found.query_ids):
                slow = twin(query, ties, judged_only, judged, run)
                wanted = np.nan_to_num(float(register.slow(row, keywords, slow, read)))
                assert found.values[name][i] == pytest.approx(wanted, rel=1e-13, abs=1e-15), name
            of_curves = np.nan_to_num(curves.measure(name, ties=read))
            np.testing.assert_array_equal(found.values[name], of_curves)
        assert curves.qid.tolist() == found.query_ids and curves.subtopics == TOPICS[: len(curves.subtopics)]


def test_relevance_level_is_that_of_the_name_or_of_the_call():
    names, named = ["P_IA@3", "nNRBP", "nNRBP(rel=1)"], ["P_IA(rel=2)@3", "nNRBP(rel=2)", "nNRBP"]
    found = hc.evaluate(JUDGED, RUN, names, relevance_level=2, subtopics=True)
    named = hc.evaluate(JUDGED, RUN, named, subtopics=True)
    for one, other in zip(found.values.values(), named.values.values(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("ties", register.OF_RUNS)
def test_measures_without_subtopics_take_the_highest_level(ties):
    names = [name for name in PLAIN if ties in ("docid", *(parse(name).record.ties or register.OF_RUNS))]
    wanted = hc.evaluate(HIGHEST, RUN, names, ties=ties)
    found = hc.evaluate(JUDGED, RUN, [*names, "P_IA@3"], ties=ties, subtopics=True)
    for name in names:
        assert found.values[name].tobytes() == wanted.values[name].tobytes(), name
    assert found.curves() == wanted.curves() == found.curves(subtopics=True).highest_levels()
    assert found.counts == wanted.counts and found.level_strings() == wanted.level_strings()
    assert found.tie_report() if ties == "docid" else True


# --- every way to read them -----------------------------------------------------------------------------------------


def written(path, rows=ROWS_OF):
    path.write_text("# a comment\n\n" + "".join(f"{q} {topic}\t{doc} {level}\n" for q, topic, doc, level in rows))
    return path


def columns(rows=ROWS_OF):
    return dict(zip(("query_id", "subtopic", "doc_id", "relevance"), map(list, zip(*rows, strict=True)), strict=True))


def in_turn():
    """Rows in another order: the rows of a query and of a document are apart."""
    return [ROWS_OF[i] for i in np.random.default_rng(1).permutation(len(ROWS_OF))]


def of_parquet(folder):
    pa, parquet = pytest.importorskip("pyarrow"), importlib.import_module("pyarrow.parquet")
    parquet.write_table(pa.table(columns()), folder / "qrels.parquet")
    return folder / "qrels.parquet"


def table(path, names, delimiter, packed=open):
    """A file with these names of the columns query, subtopic, document and relevance, in another order."""
    of_row = dict(zip(names, range(4), strict=True))
    order = sorted(names, reverse=True)
    lines = [delimiter.join(str(row[of_row[name]]) for name in order) for row in in_turn()]
    with packed(path, "wt", encoding="utf-8") as file:
        file.write("# a comment\n\n" + "\n".join([delimiter.join(order), *lines]))
    return path


def of_json(folder, value):
    (folder / "qrels.json").write_text(json.dumps(value))
    return folder / "qrels.json"


def of_records(folder):
    ir_measures = pytest.importorskip("ir_measures")
    return [ir_measures.Qrel(q, doc, level, topic) for q, topic, doc, level in ROWS_OF]


WAYS = {
    "file": lambda folder: written(folder / "qrels"), "rows apart": lambda folder: written(folder / "qrels", in_turn()),
    "dict of columns": lambda folder: columns(),
    "pandas": lambda folder: pytest.importorskip("pandas").DataFrame(columns(in_turn())),
    "polars": lambda folder: pytest.importorskip("polars").DataFrame(columns()).rename({"subtopic": "subtopic_id"}),
    "lazy frame": lambda folder: pytest.importorskip("polars").LazyFrame(columns(in_turn())),
    "pyarrow": lambda folder: pytest.importorskip("pyarrow").table(columns(in_turn())),
    "categories": lambda folder: pytest.importorskip("pandas").DataFrame(columns()).astype(
        {"subtopic": "category", "query_id": "category", "relevance": "Int64"}),
    "arrays": lambda folder: tuple(map(np.array, columns(in_turn()).values())),
    "CSV": lambda folder: table(folder / "qrels.csv", ["query_id", "subtopic", "doc_id", "relevance"], ","),
    "BEIR": lambda folder: table(folder / "qrels.tsv", ["query-id", "subtopic-id", "corpus-id", "score"], "\t"),
    "semicolons": lambda folder: table(folder / "qrels", ["qid", "iteration", "docno", "level"], ";"),
    "packed CSV": lambda folder: table(folder / "qrels.csv.xz", ["Qid", "Subtopic", "Doc ID", "Label"], ",", lzma.open),
    "JSON": lambda folder: of_json(folder, JUDGED), "JSON columns": lambda folder: of_json(folder, columns(in_turn())),
    "JSON text": lambda folder: json.dumps(JUDGED),
    "Parquet": of_parquet, "records": of_records, "an iterator": lambda folder: iter(of_records(folder)),
    "read": lambda folder: hc.read_qrels(JUDGED, subtopics=True),
    "pickle": lambda folder: pickle.loads(pickle.dumps(hc.read_qrels(JUDGED, subtopics=True))),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_read_judgments_gives_the_same_bits(way, tmp_path):
    names = [*names_of("docid"), *PLAIN]
    wanted = hc.evaluate(JUDGED, RUN, names, subtopics=True)
    found = hc.evaluate(WAYS[way](tmp_path), RUN, names, subtopics=True)
    assert found.query_ids == wanted.query_ids
    for name in names:
        assert found.values[name].tobytes() == wanted.values[name].tobytes(), name
    assert found.curves(subtopics=True) == wanted.curves(subtopics=True)


def run_file(folder):
    lines = [f"{query} Q0 {doc} 1 {score} x\n" for query, docs in RUN.items() for doc, score in docs.items()]
    (folder / "run").write_text("".join(lines))
    return folder / "run"


def test_every_way_to_a_run_gives_the_same_bits(tmp_path):
    for ties in ("docid", "expected"):
        wanted = hc.evaluate(JUDGED, RUN, names_of(ties), ties=ties, subtopics=True)
        path = run_file(tmp_path)
        evaluator = pickle.loads(pickle.dumps(hc.Evaluator(JUDGED, names_of(ties), ties=ties, subtopics=True)))
        for run in (path, hc.read_run(RUN), RUN):
            for found in (evaluator.evaluate(run), pickle.loads(pickle.dumps(evaluator.evaluate(run)))):
                for name in names_of(ties):
                    assert found.values[name].tobytes() == wanted.values[name].tobytes(), name
                assert found.curves(subtopics=True) == wanted.curves(subtopics=True)
        several = evaluator.evaluate([RUN, RUN])
        assert [one.means for one in several] == [wanted.means] * 2


def test_every_format_may_be_named(tmp_path):
    wanted = hc.evaluate(JUDGED, RUN, "alpha_nDCG@5", subtopics=True).values["alpha_nDCG@5"]
    for way, form in (("file", "trec"), ("CSV", "csv"), ("BEIR", "csv"), ("JSON", "json")):
        found = hc.evaluate(hc.read_qrels(WAYS[way](tmp_path), format=form, subtopics=True), RUN, "alpha_nDCG@5")
        assert found.values["alpha_nDCG@5"].tobytes() == wanted.tobytes()


def test_queries_without_ids_are_numbered():
    found = hc.read_qrels([{7: {"a": 1}}, {7: {"b": 2}, 4: {"a": 0}}], subtopics=True)
    assert found.topics.parts[:4] == (["0", "1", "1"], ["a", "b", "a"], ["7", "7", "4"], [1, 2, 0])


def test_the_command(tmp_path, capsys):
    main = importlib.import_module("hitcurve.cli.main").main
    run, measures = run_file(tmp_path), ["alpha_nDCG@5", "P_IA@3", "AP"]
    found = hc.evaluate(JUDGED, RUN, measures, subtopics=True)
    for way in ("file", "CSV", "JSON"):
        qrels = str(WAYS[way](tmp_path))
        assert main(["trec", qrels, str(run), "--subtopics", "--format", "json", "-m", *measures]) in (None, 0, 3)
        shown = json.loads(capsys.readouterr().out)["runs"][0]["means"]
        assert [shown[parse(name).name] for name in measures] == [found.means[name] for name in measures]
    qrels = str(WAYS["file"](tmp_path))
    assert main(["trec", qrels, str(run), "-m", "AP"]) == 1
    assert "; --subtopics reads judgments by subtopic" in capsys.readouterr().err


# --- intervals and comparisons over queries -------------------------------------------------------------------------


def test_evaluations_are_compared_as_their_curves():
    judged, run = drawn(np.random.default_rng(4), 9, 12)
    judged = {query: {"sure": {"cat": 2, "dog": 1}, **docs} for query, docs in judged.items()}
    runs = {name: {query: {doc: round(score / size) for doc, score in docs.items()} for query, docs in run.items()}
            for name, size in (("fine", 1), ("coarse", 3))}  # fmt: skip
    names = [name for row, name, _ in NAMES if row.name != "alpha_DCG"]
    found = hc.evaluate(judged, runs, names, ties="expected", subtopics=True)
    curves = {name: one.curves(subtopics=True) for name, one in found.items()}
    how = {"rng": 5, "n_resamples": 99}
    for name in names:
        one, other = (hc.compare(systems, measures=name, **how) for systems in (found, curves))
        assert [row[1:] for row in one.rows] == [row[1:] for row in other.rows]
        assert [row[1:] for row in one.systems] == [row[1:] for row in other.systems]
        wanted = curves["fine"].interval(name, **how)
        assert one.systems[0][3:5] == wanted.confidence_interval
        assert one.systems[0].value == pytest.approx(found["fine"].means[name], rel=1e-14)
    assert "alpha_nDCG" in str(hc.compare(found, **how)) and "alpha_nDCG" in hc.Leaderboard(found).to_markdown()


# --- errors ---------------------------------------------------------------------------------------------------------


def test_documents_that_repeat_are_an_error_that_names_the_option(tmp_path):
    for source in (written(tmp_path / "qrels"), columns()):
        words = r"occurs twice .*; subtopics=True reads judgments by subtopic"
        with pytest.raises(ValueError, match=words):
            hc.read_qrels(source)
    with pytest.raises(ValueError, match="occurs twice") as raised:
        hc.read_run({"query_id": ["q", "q"], "doc_id": ["d", "d"], "score": [1.0, 2.0]})
    assert "subtopics" not in str(raised.value)


@pytest.mark.parametrize(("text", "words"), [
    ("q 0 d 1\n\nq 0 d 2\n", "document 'd' occurs twice for subtopic '0' in query 'q', in line 1 and in line 3"),
    ("q 0 d 1\n\nq 0 d\n", "line 3: there are 3 columns, not 4: query, subtopic, document and level"),
    ("q 0 d 1.5\n", "line 1: the relevance '1.5' is not a whole number"),
    ("q 0 d 1 x\n", "line 1: there are 5 columns"),
    ("q,0,d,1\n", "line 1: there is 1 column, not 4"),
    ("qid,doc,rel\nq,d,1\n", r"no column 'subtopic', only qid, doc, rel: name the column with columns=\{'subtopic'"),
    ("qid,subtopic,doc,rel\nq,s,d\n", "line 2: the row has 3 columns, but the header has 4"),
    ("qid,subtopic,doc,rel\n\nq,s,d,x\n", "line 3: the relevance is 'x': it must be a number"),
    ("qid,subtopic,doc,rel\n\nq,s,d,1.5\n", r"the relevance in line 3 is 1.5: it must be a whole number \(query 'q', "
     r"subtopic 's', document 'd'\)"),
    ("qid,subtopic,doc,rel\nq,s,d,1\nq,s,d,0\n", "occurs twice .*, in line 2 and in line 3"),
    ('{"q": {"d": {"s": 1, "s": 2}}}', "JSON: 's' occurs twice"),
    ('{"q": {"d": {"s": 1.5}}}', r"the relevance is 1.5: it must be a whole number \(query 'q', subtopic 's'"),
    ("", "there are no judgments"),
])  # fmt: skip
def test_bad_files(text, words, tmp_path):
    (tmp_path / "qrels").write_text(text)
    with pytest.raises(ValueError, match=words):
        hc.read_qrels(tmp_path / "qrels", subtopics=True)


def test_lenient_reading(tmp_path):
    (tmp_path / "qrels").write_text("q 0 d 1.5\nq 1 d x y\nq 0 e 2\n")
    with pytest.warns(UserWarning, match="2 lines other than four columns with a whole number"):
        found = hc.read_qrels(tmp_path / "qrels", strict=False, subtopics=True)
    assert repr(found).endswith("1 query, 2 judgments, 2 subtopics)")
    (tmp_path / "qrels").write_text("qid,subtopic,doc,rel\nq,s,d,1.5\nq,t,d,-1.5\n")
    with pytest.warns(UserWarning, match="2 relevances other than a whole number: the fraction is cut off"):
        found = hc.read_qrels(tmp_path / "qrels", strict=False, subtopics=True)
    assert found.topics.parts[3] == [1, -1]


def test_the_name_of_a_table_without_a_header_is_a_hint(tmp_path):
    (tmp_path / "qrels.csv").write_text("q,0,d,1\n")
    with pytest.raises(ValueError, match="may be in another format: format= takes trec, json, csv, and a table needs"):
        hc.read_qrels(tmp_path / "qrels.csv", subtopics=True)


ERRORS = [
    (lambda: hc.evaluate(HIGHEST, RUN, "alpha_nDCG@5"), ValueError,
     r"alpha_nDCG@5: qrels has no subtopics: pass subtopics=True and judgments by subtopic"),
    (lambda: hc.read_qrels(HIGHEST, subtopics=True), TypeError, "not a mapping of subtopics to levels"),
    (lambda: hc.read_qrels(hc.read_qrels(HIGHEST), subtopics=True), ValueError, "was read without subtopics"),
    (lambda: hc.read_qrels({"q": {"d": {"s": 1}}, "r": {"d": {"s": 1, "t": "x"}}}, subtopics=True), ValueError,
     r"the relevance is 'x': it must be a number \(query 'r', subtopic 't', document 'd'\)"),
    (lambda: hc.read_qrels([{"d": {"s": 0.5}}], subtopics=True), ValueError, r"relevance is 0.5: .*query '0', subto"),
    (lambda: hc.read_qrels({"q": ["d"]}, subtopics=True), TypeError, r"query 'q' holds \['d'\], not a mapping of doc"),
    (lambda: hc.read_qrels([["d"]], subtopics=True), TypeError, "qrels is a list: with subtopics=True give a path"),
    (lambda: hc.read_qrels({**columns(), "subtopic": ["s"]}, subtopics=True), ValueError,
     rf"the columns query, subtopic, document and relevance have {len(ROWS_OF)}, 1, {len(ROWS_OF)} and"),
    (lambda: hc.read_qrels({**columns(ROWS_OF[:2]), "relevance": [1, 0.5]}, subtopics=True), ValueError,
     "the relevance in row 1 is 0.5: it must be a whole number"),
    (lambda: hc.read_qrels({**columns(ROWS_OF[:2]), "subtopic": ["s", None]}, subtopics=True), ValueError,
     "column 'subtopic' is empty in row 1"),
    (lambda: hc.read_qrels(columns([*ROWS_OF[:2], ROWS_OF[0]]), subtopics=True), ValueError, "in row 0 and in row 2"),
    (lambda: hc.read_qrels(JUDGED, subtopics=True, format="csv"), ValueError, "format='csv' is only for files"),
    (lambda: hc.read_qrels("qrels", subtopics=True, format="msmarco"), ValueError, "use trec, json, csv"),
    (lambda: hc.read_qrels({"query_id": ["q"], "doc_id": ["d"], "relevance": [1]}, subtopics=True), ValueError,
     "qrels has no column 'subtopic'"),
    (lambda: hc.read_qrels({}, subtopics=True), ValueError, "there are no judgments"),
    (lambda: hc.evaluate(HIGHEST, RUN, "AP").curves(subtopics=True), ValueError, "the judgments have no subtopics"),
    (lambda: hc.evaluate(JUDGED, RUN, "AP", subtopics=True).curves(1, subtopics=True), ValueError, "both given"),
    (lambda: hc.evaluate({"q": {"a": {"s": 1}, "b": {"t": 1}}}, {"q": {"a": 1.0, "b": 1.0}}, "alpha_nDCG@5",
                         ties="best", subtopics=True), ValueError,
     "alpha_ndcg has no value for ties='best' here: the tie group from rank"),
    (lambda: hc.SubtopicCurve([[1, 0]], [1]).measure("P_IA(judged_only)@1"), ValueError,
     "needs judgments with subtopics: use hitcurve.evaluate or `hitcurve trec`"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "words"), ERRORS)
def test_errors(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


def test_the_tie_report_lacks_bounds_that_no_formula_gives():
    band = hc.evaluate(JUDGED, RUN, ["alpha_nDCG@5", "P_IA@3"], subtopics=True).tie_report()
    one, other = band["alpha_nDCG@5"], band["P_IA@3"]
    assert np.isnan([one.worst, one.best]).all() and 0 < one.expected <= 1
    assert other.worst <= other.expected <= other.best


# --- ndeval -----------------------------------------------------------------------------------------------------------

OURS = {"P-IA": "P_IA", "strec": "StRecall", "MAP-IA": "AP_IA", "ERR-IA": "ERR_IA", "nERR-IA": "nERR_IA",
        "alpha-DCG": "alpha_DCG", "alpha-nDCG": "alpha_nDCG", "NRBP": "NRBP", "nNRBP": "nNRBP"}  # fmt: skip


@pytest.fixture(scope="module")
def web_track(shared_data):
    path = shared_data / "qrels_misc/qrels.web.251-300.ndeval.txt.xz"
    with lzma.open(path, "rt") as lines:
        rows = [line.split() for line in lines]
    pool = {}
    for query, _, doc, _ in rows:
        pool.setdefault(query, set()).add(doc)
    return path, rows, {query: sorted(docs) for query, docs in pool.items()}


@pytest.fixture(scope="module")
def ndeval(web_track):
    """pyndeval, and the judgments as it takes them."""
    pyndeval = pytest.importorskip("pyndeval")
    return pyndeval, [pyndeval.SubtopicQrel(query, topic, doc, int(one)) for query, topic, doc, one in web_track[1]]


def random_run(pool, seed, distinct=None):
    rng, run = np.random.default_rng(seed), {}
    for query, docs in pool.items():
        listed = [*rng.choice(docs, min(60, len(docs)), replace=False).tolist(), *(f"unknown{i}" for i in range(15))]
        scores = rng.permutation(len(listed)) if distinct is None else rng.integers(0, distinct, len(listed))
        run[query] = dict(zip(listed, scores.astype(float).tolist(), strict=True))
    return run


@pytest.mark.parametrize(("distinct", "level"), [
    (None, 1), (7, 2), *(pytest.param(*one, marks=pytest.mark.slow) for one in ((None, 2), (7, 1)))])
def test_a_web_track_has_the_numbers_of_ndeval(web_track, ndeval, distinct, level):
    """ndeval puts the smaller id first where scores tie. It has no value for a query without a relevant document."""
    pyndeval, qrels = ndeval
    path, _, pool = web_track
    run = random_run(pool, 3, distinct)
    asked = [f"{name}@{k}" for name in OURS for k in (5, 10, 20) if "RBP" not in name and name != "MAP-IA"]
    asked += ["MAP-IA", "NRBP", "nNRBP"]
    docs = [pyndeval.ScoredDoc(query, doc, score) for query, of in run.items() for doc, score in of.items()]
    wanted = pyndeval.RelevanceEvaluator(qrels, asked, relevance_level=level).evaluate(docs)
    untied = {query: {doc: -place for place, doc in enumerate(sorted(of, key=lambda doc: (-of[doc], doc)))}
              for query, of in run.items()}  # fmt: skip
    names = {one: OURS[one.partition("@")[0]] + "@" * ("@" in one) + one.partition("@")[2] for one in asked}
    found = hc.evaluate(path, untied, [*names.values(), "AP"], relevance_level=level, subtopics=True)
    assert len(found.query_ids) == 50
    for one, name in names.items():
        theirs = np.nan_to_num([wanted[query][one] for query in found.query_ids])
        np.testing.assert_allclose(found.values[name], theirs, rtol=1e-13, atol=1e-15, err_msg=one)


def test_ties_of_scores_are_read_as_trec_eval_reads_them(web_track, ndeval):
    """ndeval takes the smaller id first, evaluate the greater one: the numbers differ where scores tie."""
    pyndeval, qrels = ndeval
    path, _, pool = web_track
    run = random_run(pool, 3, 7)
    docs = [pyndeval.ScoredDoc(query, doc, score) for query, of in run.items() for doc, score in of.items()]
    theirs = pyndeval.RelevanceEvaluator(qrels, ["alpha-nDCG@20"]).evaluate(docs)
    found = hc.evaluate(path, run, "alpha_nDCG@20", subtopics=True)
    differing = [abs(found[query]["alpha_nDCG@20"] - theirs[query]["alpha-nDCG@20"]) > 1e-6 for query in found]
    assert sum(differing) > 25


def test_the_provider_has_the_numbers_of_the_pyndeval_provider(web_track):
    ir_measures = pytest.importorskip("ir_measures")
    pytest.importorskip("pyndeval")
    provider = importlib.import_module("hitcurve.ir_measures").provider
    theirs = ir_measures.pyndeval
    names = ["P_IA@5", "P_IA(rel=2)@20", "StRecall@10", "AP_IA", "AP_IA(rel=2)", "ERR_IA@10", "nERR_IA(rel=2)@20",
             "alpha_DCG@20", "alpha_DCG(alpha=0.25)@5", "alpha_nDCG@10", "α_nDCG(alpha=0.75,rel=2)@20", "NRBP",
             "NRBP(alpha=0.25,beta=0.8)", "nNRBP(beta=0.25,rel=2)"]  # fmt: skip
    measures = [ir_measures.parse_measure(name) for name in names]
    _, rows, pool = web_track
    some = [row for row in rows if row[0] in {*list(pool)[:3]}]
    qrels = [ir_measures.Qrel(query, doc, int(level), topic) for query, topic, doc, level in some]
    run = {query: docs for query, docs in random_run(pool, 5, 9).items() if query in {*list(pool)[:2]}}
    assert all(map(provider.supports, measures))
    for one in measures:
        wanted = {(found.query_id): found.value for found in theirs.iter_calc([one], qrels, run)}
        found = {(found.query_id): found.value for found in provider.iter_calc([one], qrels, run)}
        assert found.keys() == wanted.keys()
        for query, value in wanted.items():
            assert found[query] == pytest.approx(0 if value != value else value, rel=1e-13, abs=1e-15), (one, query)
    both = provider.calc_aggregate([ir_measures.nDCG @ 10, ir_measures.alpha_nDCG @ 10], qrels, run)
    assert both[ir_measures.alpha_nDCG @ 10] == pytest.approx(
        theirs.calc_aggregate([ir_measures.alpha_nDCG @ 10], qrels, run)[ir_measures.alpha_nDCG @ 10], rel=1e-13)


def test_ndeval_forgets_to_divide_at_the_first_rank():
    pyndeval = pytest.importorskip("pyndeval")
    qrels = [pyndeval.SubtopicQrel("q", topic, "a", 1) for topic in "xyz"]
    evaluator = pyndeval.RelevanceEvaluator(qrels, ["alpha-DCG@1", "ERR-IA@1"])
    wanted = evaluator.evaluate([pyndeval.ScoredDoc("q", "a", 1.0)])["q"]
    judged, run = {"q": {"a": dict.fromkeys("xyz", 1)}}, {"q": {"a": 1.0}}
    found = hc.evaluate(judged, run, ["alpha_DCG@1", "ERR_IA@1"], subtopics=True)
    assert wanted == {"alpha-DCG@1": 3.0, "ERR-IA@1": 3.0}
    assert found.means == {"alpha_DCG@1": 1.0, "ERR_IA@1": 1.0}


def test_names_of_ndeval_and_of_ir_measures():
    for theirs, ours in OURS.items():
        at = "@5" if parse(ours if ours == "AP_IA" else ours + "@5").record.cutoffs != ("",) else ""
        assert parse(theirs + at).name == parse(ours + at).name
    assert parse("α_nDCG@20").name == parse("alpha_nDCG@20").name == "alpha_nDCG(alpha=0.5)@20"
    assert re.fullmatch(r"alpha_DCG\(alpha=0.5,norm=max\)@20", parse("α_DCG@20").name)
    assert parse("MAP_IA").name == "AP_IA"
