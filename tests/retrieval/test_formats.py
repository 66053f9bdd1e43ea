"""Judgments and runs as others hold them: each gives the evaluation that dicts of dicts give."""

import csv
import gzip
import io
import json
import pickle
import sys
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from marks import open_mark
from ranx_in_python import uncompiled

import hitcurve as hc
from hitcurve.retrieval.formats import FORMATS, is_one_run

QRELS = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 1, "d": 1}}
RUN = {"q1": {"b": 3.5, "a": 2.0, "x": 1.0}, "q2": {"d": 0.5, "x": 0.25, "a": -1.0}}
MEASURES = ["AP", "nDCG@2", "RR", "P@1", "NumRet"]
OF_QRELS = [(q, d, level) for q, docs in QRELS.items() for d, level in docs.items()]
OF_RUN = [(q, d, score) for q, docs in RUN.items() for d, score in docs.items()]


def same(found, expected=None, count=True):
    expected = expected or hc.evaluate(QRELS, RUN, MEASURES)
    assert found.query_ids == expected.query_ids
    assert {name: of.tobytes() for name, of in found.values.items()} == {
        name: of.tobytes() for name, of in expected.values.items()}
    assert found.counts == expected.counts


def lines(rows, head="", between="\t"):
    return head + "".join(between.join(map(str, row)) + "\n" for row in rows)


# ------------------------------------------------------------------------------------------------------- texts

TEXTS_OF_QRELS = {
    "q.json": json.dumps(QRELS),
    "pretty.txt": json.dumps(QRELS, indent=2),
    "beir.tsv": lines(OF_QRELS, "query-id\tcorpus-id\tscore\n"),
    "three.tsv": lines(OF_QRELS),
    "three.txt": "# a comment\n\n" + lines(OF_QRELS, between="  "),
    "marco.tsv": lines((q, 0, d, level) for q, d, level in OF_QRELS),
    "comma.csv": lines(OF_QRELS, "query_id,doc_id,relevance\n", ","),
    "semicolon.csv": lines(((d, level, q) for q, d, level in OF_QRELS), "docno;rel;qid\n", ";"),
    "quoted.csv": lines(((f'"{q}"', 7, d, level) for q, d, level in OF_QRELS),
                        '"Query ID","x","Doc ID","Relevance"\n', ","),
    "windows.csv": "\ufeff" + lines(OF_QRELS, "query_id,doc_id,relevance\n", ",").replace("\n", "\r\n"),
}
TEXTS_OF_RUNS = {
    "r.json": json.dumps(RUN),
    "pretty.txt": json.dumps(RUN, indent=1),
    "comma.csv": lines(OF_RUN, "query_id,doc_id,score\n", ","),
    "tabs.tsv": lines(((q, i, d, score) for i, (q, d, score) in enumerate(OF_RUN)), "q_id\trank\tdoc_id\tscore\n"),
    "unended.csv": lines(OF_RUN, "query_id;doc_id;score\n", ";")[:-1],
}


@pytest.mark.parametrize("name", TEXTS_OF_QRELS)
def test_files_of_judgments(tmp_path, name):
    path = tmp_path / name
    path.write_text(TEXTS_OF_QRELS[name], encoding="utf-8", newline="")
    for source in (path, str(path)):
        same(hc.evaluate(source, RUN, MEASURES))
        assert hc.read_qrels(source, strict=False).num_docs == 5
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    same(hc.evaluate(packed, RUN, MEASURES))


@pytest.mark.parametrize("name", TEXTS_OF_RUNS)
def test_files_of_runs(tmp_path, name):
    path = tmp_path / name
    path.write_text(TEXTS_OF_RUNS[name], encoding="utf-8", newline="")
    for source in (path, str(path), hc.read_run(path), hc.read_run(path, strict=False)):
        same(hc.evaluate(QRELS, source, MEASURES))
    assert hc.evaluate(QRELS, path).name == name
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    same(hc.evaluate(QRELS, packed, MEASURES))


def test_json_as_a_text():
    same(hc.evaluate(json.dumps(QRELS), json.dumps(RUN, indent=2), MEASURES))


def test_ranks_and_scores_are_told_apart_by_the_caller(tmp_path):
    """Three columns of a run end in a rank (MS MARCO) or in a score, and nothing in them says which."""
    ranked = [(q, d, rank) for q, docs in RUN.items() for rank, d in enumerate(docs, 1)]
    path = tmp_path / "run.tsv"
    path.write_text(lines(ranked[::-1]), encoding="utf-8")
    for read in (hc.read_run, lambda one: hc.evaluate(QRELS, one)):
        with pytest.raises(ValueError, match=r"run.tsv: the third .* may hold ranks or scores: .*'msmarco'"):
            read(path)
    found = hc.read_run(path, format="msmarco")
    same(hc.evaluate(QRELS, found, MEASURES))
    same(hc.evaluate(QRELS, found, MEASURES, rank_by="rank"))
    path.write_text(lines(OF_RUN[::-1]), encoding="utf-8")
    same(hc.evaluate(QRELS, hc.read_run(path, format="scores"), MEASURES))
    path.write_text(lines(ranked, "query\tdoc\trank\n"), encoding="utf-8")  # here the header says it
    same(hc.evaluate(QRELS, path, MEASURES))
    same(hc.evaluate(QRELS, path, MEASURES, rank_by="rank"))


@pytest.mark.parametrize("format", FORMATS)
def test_the_format_that_is_said(tmp_path, format):
    texts = {"trec": lines((q, 0, d, level) for q, d, level in OF_QRELS), "json": TEXTS_OF_QRELS["q.json"],
             "csv": TEXTS_OF_QRELS["beir.tsv"], "msmarco": TEXTS_OF_QRELS["three.tsv"]}
    of_runs = {"trec": lines((q, 0, d, 1, score, "x") for q, d, score in OF_RUN), "json": TEXTS_OF_RUNS["r.json"],
               "csv": TEXTS_OF_RUNS["comma.csv"], "scores": lines(OF_RUN),
               "msmarco": lines((q, d, -score) for q, d, score in OF_RUN)}
    path = tmp_path / "any"
    if format in texts:
        path.write_text(texts[format], encoding="utf-8")
        same(hc.evaluate(hc.read_qrels(path, format=format), RUN, MEASURES))
        for other in texts.keys() - {format, "msmarco"}:  # which takes TREC's four columns
            with pytest.raises((ValueError, TypeError), match="any"):
                hc.read_qrels(path, format=other)
    else:
        with pytest.raises(ValueError, match="'scores' is unknown: must be one of 'trec', 'json', 'csv', 'msmarco'"):
            hc.read_qrels(path, format=format)
    path.write_text(of_runs[format], encoding="utf-8")
    same(hc.evaluate(QRELS, hc.read_run(path, format=format), MEASURES))


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.json", '{"q": {"a": 1}, "q": {"b": 1}}', "a.json: JSON: 'q' occurs twice"),
        ("a.json", '{"q": {"a": 1, "a": 2}}', "a.json: JSON: 'a' occurs twice"),
        ("a.json", '{"q": {"a": 1}', "a.json: JSON: Expecting"),
        ("a.json", '{"q": {"a": "1"}}', "a.json: the value in row 0 is '1'"),
        ("a.json", '{"q": {"a": NaN}}', "NaN|nan"),
        ("a.json", '{"q": "a"}', "a.json: query 'q' holds str"),
        ("a.json", '{"q": [["a", 1]]}', r"a.json: query 'q' holds \['a', 1\] in a list"),
        ("a.json", "7", "a.json is a int"),
        ("a.csv", "query_id,doc_id,score\nq,a,1\nq,b,x\n", "a.csv, line 3: the (score|relevance) is 'x'"),
        ("a.csv", "query_id,doc_id,score\n\nq,a,1_0\n", "a.csv, line 3: the (score|relevance) is '1_0'"),
        ("a.csv", "query_id,doc_id,score\nq,a,1\nq,b,nan\n", "a.csv, line 3: the (score|relevance) is 'nan'"),
        ("a.csv", "query_id,doc_id,score\nq,a,1\nq,b\n", "a.csv, line 3: the row has 2 columns, but the header has 3"),
        ("a.csv", 'query_id,doc_id,score\nq,"a,1\n', "a.csv, line 2: the quotation mark that begins the cell '\"a,1'"),
        ("a.csv", '#, "\nquery_id,doc_id,score\nq, "a,1\nq,"b",2\n', "a.csv, line 3: the quotation mark that begins "
         "the cell '\"a,1' is not closed: the next quotation mark, in line 4, does not end the cell"),
        ("a.csv", 'query_id,doc_id,score\nq,"a"b,1\n', "a.csv, line 2: ',' expected after '\"'"),
        ("a.csv", "query_id,doc_id,score\nq,a,1\nq,a,2\n", "a.csv: document 'a' occurs twice in query 'q'"),
        ("a.csv", "query_id,score\nq,1\n", "a.csv has no column 'doc_id', only query_id, score: name the column with"),
        ("a.csv", "a,b\nq,1\n", "a.csv, line 1: .*format= takes trec, json, csv, msmarco, scores"),
        ("a.tsv", "q\n", "a.tsv, line 1: .*format= takes"),
        ("a.txt", "q\n", "a.txt, line 1: the line has 1 column, [^=]*$"),
    ],
)
def test_what_is_wrong_with_a_file(tmp_path, name, text, problem):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    for read in (hc.read_qrels, hc.read_run, lambda one: hc.evaluate(QRELS, one)):
        with pytest.raises((ValueError, TypeError), match=problem):
            read(path)


ROWS = ["q,a{},1", '"q","b{}",2', 'q,"c\n{}",3', 'q, "e""{}",4', '"r" ,f{},"5"', 'r,g"h{},6']


@given(
    rows=st.lists(st.sampled_from(ROWS), min_size=1, max_size=9),
    place=st.tuples(st.integers(0, 20), st.integers(0, 2), st.sampled_from(['"', ' "', '""', '"x'])),
    end=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
)
def test_a_quotation_mark_that_is_not_closed(tmp_path_factory, rows, place, end, last):
    row, column, mark = place
    table = [row.format(at).split(",") for at, row in enumerate(rows)]
    table[row % len(rows)][column] = mark + table[row % len(rows)][column]
    text = end.join(map(",".join, [["query_id", "doc_id", "score"], *table])) + end * last
    path = tmp_path_factory.mktemp("marks") / "run.csv"
    path.write_text(text, encoding="utf-8", newline="")
    line = open_mark(text, blanks=True)
    if line is not None:
        with pytest.raises(ValueError, match=rf"run\.csv, line {line}: the quotation mark that begins the cell '\""):
            hc.read_run(path)
        return
    try:
        found = list(csv.reader(io.StringIO(text.replace(end, "\n"), newline=""), strict=True, skipinitialspace=True))
        assert len({(query, doc) for query, doc, score in found[1:] if float(score) or True}) == len(found) - 1
    except (csv.Error, ValueError):
        with pytest.raises(ValueError, match=r"run\.csv"):
            hc.read_run(path)
    else:
        run = hc.read_run(path)
        assert (run.query_ids, run.num_docs) == (list(dict.fromkeys(row[0] for row in found[1:])), len(found) - 1)


def test_blanks_behind_commas_are_no_part_of_ids(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text(lines(OF_RUN, "query_id, doc_id, score\n", ", "), encoding="utf-8")
    same(hc.evaluate(QRELS, path, MEASURES))
    path.write_text(lines([(q, f'"{d}"', level) for q, d, level in OF_QRELS], "query_id, doc_id, rel\n", ", "),
                    encoding="utf-8")
    same(hc.evaluate(path, RUN, MEASURES))


def test_trec_files_stay_as_strict_as_they_are(tmp_path):
    """Only a first line that TREC's cannot be is looked at again."""
    path = tmp_path / "run.csv"
    path.write_text('q Q0 d 1 2.5 t\n{"q": {"a": 1}}\n', encoding="utf-8")
    for read in (hc.read_run, lambda one: hc.evaluate(QRELS, one)):
        with pytest.raises(ValueError, match=r"run\.csv, line 2: the line has 3 columns, but a run has six"):
            read(path)
    path.write_text("q Q0 d 1 2.5 t\nq Q0 d 2 1.5 t\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"run\.csv, line 2: document 'd' occurs twice"):
        hc.evaluate({"q": {"d": 1}}, path)
    path.write_text('{"q": Q0 {"d": 1 2.5 t\n', encoding="utf-8")
    assert hc.read_run(path).query_ids == ['{"q":']
    path.write_text("a b 1\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 1: the line has 3 columns, but a run has six"):
        hc.read_run(path, format="trec")
    for source in (RUN, [[1, 2]], np.zeros((2, 2), int)):
        with pytest.raises(ValueError, match="format='csv' is only for files, but run is a"):
            hc.read_run(source, format="csv")


# ----------------------------------------------------------------------------------------------------- objects

class Qrel(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


class ScoredDoc(NamedTuple):
    query_id: str
    doc_id: str
    score: float


def test_named_tuples():
    qrels, run = [Qrel(*row) for row in OF_QRELS], [ScoredDoc(*row) for row in OF_RUN]
    for q, r in ((qrels, run), (tuple(qrels), tuple(run)), (iter(qrels), iter(run)), (iter(qrels), [*run])):
        same(hc.evaluate(q, r, MEASURES))
    assert len(hc.evaluate(qrels, [run, RUN, run], MEASURES)) == 3
    with pytest.raises(ValueError, match="run: the entry in row 0 has no score: Qrel"):
        hc.evaluate(qrels, qrels)
    with pytest.raises(ValueError, match="qrels: the entry in row 2 has no relevance: ScoredDoc"):
        hc.read_qrels([*qrels[:2], run[2]])


def test_those_of_ir_measures_and_ir_datasets():
    ir_measures = pytest.importorskip("ir_measures")
    formats = pytest.importorskip("ir_datasets.formats")
    run = [ir_measures.ScoredDoc(*row) for row in OF_RUN]
    same(hc.evaluate([ir_measures.Qrel(*row) for row in OF_QRELS], run, MEASURES))
    same(hc.evaluate([formats.TrecQrel(*row, "0") for row in OF_QRELS],
                     [formats.GenericScoredDoc(*row) for row in OF_RUN], MEASURES))


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_objects_of_ranx(tmp_path, compiled, monkeypatch):
    ranx = pytest.importorskip("ranx") if compiled else uncompiled(monkeypatch)
    qrels, run = ranx.Qrels(QRELS), ranx.Run(RUN, name="mine")
    if not compiled:  # the ids are texts of numpy, which its files do not take
        same(hc.evaluate(qrels, run, MEASURES))
        qrels, run = ranx.Qrels(), ranx.Run(name="mine")
        for table, of in ((qrels, QRELS), (run, RUN)):
            table.add_multi([*of], [[*docs] for docs in of.values()], [[*docs.values()] for docs in of.values()])
    found = hc.evaluate(qrels, run, MEASURES)
    same(found)
    assert found.name == "mine"
    same(hc.evaluate(qrels, ranx.Run(RUN), MEASURES))
    assert [one.name for one in hc.evaluate(qrels, [run, run])] == ["mine 1", "mine 2"]
    run.save(str(tmp_path / "run.json"))
    qrels.save(str(tmp_path / "qrels.json"))
    same(hc.evaluate(tmp_path / "qrels.json", tmp_path / "run.json", MEASURES))


def test_three_arrays():
    for kind in (list, np.array, lambda one: np.array(one, dtype=object)):
        qrels, run = (tuple(kind(one) for one in zip(*rows, strict=True)) for rows in (OF_QRELS, OF_RUN))
        same(hc.evaluate(qrels, run, MEASURES))
        assert len(hc.evaluate(qrels, [run, run], MEASURES)) == 2
    numbers = np.array([1, 1, 2]), np.array([4, 5, 4]), np.array([0.5, 1.5, 2])
    assert hc.evaluate({1: {4: 1}, 2: {4: 1}}, numbers, "RR").values["RR"].tolist() == [0.5, 1.0]
    with pytest.raises(ValueError, match="its columns have 3, 3 and 2 rows"):
        hc.read_run((*numbers[:2], numbers[2][:2]))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_three_columns_of_frames(library):
    module = pytest.importorskip(library)
    column = module.array if library == "pyarrow" else module.Series
    qrels, run = (tuple(column(list(one)) for one in zip(*rows, strict=True)) for rows in (OF_QRELS, OF_RUN))
    same(hc.evaluate(qrels, run, MEASURES))
    if library == "polars":
        lazy = module.DataFrame(dict(zip(("query_id", "doc_id", "score"), run, strict=True))).lazy()
        same(hc.evaluate(QRELS, lazy, MEASURES))


def test_a_data_set_of_ir_datasets(monkeypatch):
    def load(name):
        if name == "none":
            raise KeyError(name)
        return SimpleNamespace(has_qrels=lambda: True, qrels_iter=lambda: iter([Qrel(*row) for row in OF_QRELS]),
                               has_scoreddocs=lambda: name == "all",
                               scoreddocs_iter=lambda: iter([ScoredDoc(*row) for row in OF_RUN]))

    monkeypatch.setitem(sys.modules, "ir_datasets", SimpleNamespace(load=load))
    same(hc.evaluate("ir_datasets:all", "ir_datasets:all", MEASURES))
    assert hc.evaluate("ir_datasets:all", "ir_datasets:all").name == "ir_datasets:all"
    with pytest.raises(ValueError, match="'ir_datasets:some': the data set has no scoreddocs"):
        hc.read_run("ir_datasets:some")
    with pytest.raises(ValueError, match="'ir_datasets:none': ir_datasets has no data set 'none'"):
        hc.read_qrels("ir_datasets:none")
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(ModuleNotFoundError, match="'ir_datasets:all' needs ir_datasets: pip install ir_datasets"):
        hc.read_qrels("ir_datasets:all")


def test_the_real_one_says_what_it_does_not_have():
    pytest.importorskip("ir_datasets")
    with pytest.raises(ValueError, match="ir_datasets has no data set 'no such data set'"):
        hc.read_qrels("ir_datasets:no such data set")


# ------------------------------------------------------------------------------------------- rows of ids, numbered

def nested(judged, matrix):
    """The same in dicts, whose queries are texts that sort as numbers do."""
    qrels = {f"{i:05d}": dict(row) if isinstance(row, dict) else {int(one): 1 for one in row if one != -1}
             for i, row in enumerate(judged)}
    run = {f"{i:05d}": {int(doc): -float(place) for place, doc in enumerate(row) if doc != -1}
           for i, row in enumerate(matrix)}
    return qrels, run


@pytest.mark.parametrize("ties", ["docid", "expected"])
@pytest.mark.parametrize("holes", [False, True])
def test_matrices_of_ids(holes, ties):
    rng = np.random.default_rng(7)
    matrix = np.array([rng.permutation(40)[:12] for _ in range(120)])
    if holes:
        matrix[rng.random(matrix.shape) < 0.3] = -1
        matrix[5] = -1
    judged = [rng.permutation(40)[: rng.integers(1, 9)].tolist() for _ in range(120)]
    judged[3], judged[4] = {7: 2, 9: 0, 11: 3}, []
    qrels, run = nested(judged, matrix)
    expected = hc.evaluate(qrels, {q: docs for q, docs in run.items() if docs}, MEASURES, ties=ties)
    assert expected.means["AP"] > 0
    for one in (matrix, matrix.astype(np.int32), np.asfortranarray(matrix), matrix.tolist(), list(matrix),
                tuple(map(tuple, matrix)), hc.read_run(matrix)):
        for options in ({}, {"rank_by": "listed"} if ties == "docid" else {}):
            found = hc.evaluate(judged, one, MEASURES, ties=ties, **options)
            assert found.query_ids == [str(i) for i in range(120)]  # 2 before 10
            assert {name: of.tobytes() for name, of in found.values.items()} == {
                name: of.tobytes() for name, of in expected.values.items()}
            assert found.counts == expected.counts
            assert found.missing == (["5"] if holes else [])
    evaluator = hc.Evaluator(judged, MEASURES, ties=ties)
    for one in (evaluator, pickle.loads(pickle.dumps(evaluator))):
        assert one.evaluate(matrix).to_dict() == found.to_dict() | {"rank_by": "score", "definitions": one.evaluate(
            matrix).definitions}
    assert [len(one) for one in evaluator.evaluate([matrix, matrix.tolist()])] == [120, 120]


def test_judgments_in_every_shape():
    judged = [[4, 7], [2], [], [7, 1, 3]]
    matrix = np.array([[4, 7, -1], [2, -1, -1], [-1, -1, -1], [7, 1, 3]])
    run = [[7, 5, 4], [1, 2, 3], [1, 2, 3], [3, 9, 1]]
    expected = hc.evaluate(judged, run, MEASURES).to_dict()
    assert expected["means"]["RR"] == (1 + 0.5 + 0 + 1) / 4
    for one in (tuple(map(tuple, judged)), list(map(set, judged)), [np.array(row, dtype=int) for row in judged], matrix,
                [dict.fromkeys(row, 1) for row in judged], [*judged[:3], {7: 1, 1: 1, 3: 1}], hc.read_qrels(judged)):
        assert hc.evaluate(one, run, MEASURES).to_dict() == expected
    by_name = {str(i): dict.fromkeys(map(str, row), 1) for i, row in enumerate(judged)}
    texts = {str(i): {str(doc): -float(place) for place, doc in enumerate(row)} for i, row in enumerate(run)}
    for found in (hc.evaluate(by_name, run, MEASURES), hc.evaluate(judged, texts, MEASURES)):
        assert found.to_dict()["queries"] == expected["queries"]


def test_dicts_keep_the_order_of_their_bytes():
    qrels = {str(i): {"a": 1} for i in range(12)}
    assert hc.evaluate(qrels, qrels).query_ids == sorted(qrels)
    assert not hc.read_qrels(qrels).listed


def test_sparse_matrices():
    sparse = pytest.importorskip("scipy.sparse")
    levels = np.array([[0, 2, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0], [0, 3, 1, 0]])
    scores = np.array([[0.5, 0.25, 0, 1], [0.0, 1, 2, 0], [1, 0, 0, 0], [0, 0.5, 2, 1]])
    judged = [{j: int(level) for j, level in enumerate(row) if level} for row in levels]
    run = {str(i): {j: score for j, score in enumerate(row) if score} for i, row in enumerate(scores)}
    expected = hc.evaluate(judged, run, MEASURES)
    for kind in (sparse.csr_matrix, sparse.csr_array):
        same(hc.evaluate(kind(levels), kind(scores), MEASURES), expected)
        same(hc.evaluate(kind(levels.astype(float)), run, MEASURES), expected)
        with pytest.raises(TypeError, match=r"qrels is a sparse matrix in format 'csc': pass qrels\.tocsr\(\)"):
            hc.read_qrels(kind(levels).tocsc())
        with pytest.raises(TypeError, match="qrels is a sparse matrix in format 'coo'"):
            hc.read_qrels(kind(levels).tocoo())


class Tensor:
    """What torch's tensors are to others."""

    def __init__(self, array):
        self.array, self.ndim, self.shape, self.dtype = array, array.ndim, array.shape, f"torch.{array.dtype}"

    def __array__(self, dtype=None, copy=None):
        return self.array

    def __len__(self):
        return len(self.array)

    def __getitem__(self, i):
        return Tensor(self.array[i])


def test_tensors():
    matrix = np.array([[7, 5, 4], [1, 2, 3]])
    expected = hc.evaluate([[4], [2]], matrix, MEASURES)
    for one in (Tensor(matrix), [Tensor(row) for row in matrix]):
        same(hc.evaluate([Tensor(np.array([4])), Tensor(np.array([2]))], one, MEASURES), expected)
    columns = tuple(map(Tensor, (np.array([0, 0, 1]), np.array([4, 5, 2]), np.array([1.0, 2.0, 3.0]))))
    assert hc.evaluate([[4], [2]], columns, "RR").means["RR"] == 0.75


def test_real_tensors():
    torch = pytest.importorskip("torch")
    matrix = torch.tensor([[7, 5, 4], [1, 2, 3]])
    same(hc.evaluate([torch.tensor([4]), torch.tensor([2])], matrix, MEASURES),
         hc.evaluate([[4], [2]], matrix.numpy(), MEASURES))


@pytest.mark.parametrize(
    ("judged", "run", "problem"),
    [
        ([[1], [2]], np.array([[1, 2]]), "run has 1 row, but qrels has 2"),
        ([[1]], np.array([[1, -2]]), "run: an id in row 0 is -2: ids are 0 or more, and -1 means no id"),
        ([[1], [5, -3]], [[1], [2]], "qrels: an id in row 1 is -3"),
        ([[1]], np.array([[1.0, 2.0]]), "run: ids in rows must be whole numbers that 64 bits hold, not float64"),
        ([[1]], np.array([[2**63]], dtype=np.uint64), "64 bits hold, not uint64"),
        ([[1.5]], [[1]], "qrels: ids in rows must be whole numbers that 64 bits hold, but row 0 has 1.5"),
        ([["a"]], [[1]], "but row 0 has 'a'"),
        ([[True]], [[1]], "but row 0 has True"),
        ([[1], [True]], [[1], [2]], "but row 1 has True"),
        ([[1]], [[1, 2.5]], "run: ids in rows .*but row 0 has 2.5"),
        ([[2**70]], [[1]], "in rows must be whole numbers"),
        ([[1], 7], [[1]], "qrels: row 1 is 7: a row must be a list of ids, or a dict of ids and levels"),
        ([[1], "ab"], [[1]], "qrels: row 1 is 'ab'"),
        ([{1: np.inf}], [[1]], "qrels: the relevance in row 0 is inf: it must lie from -1000000000 to 1000000000"),
        ([{1: "x"}], [[1]], "qrels: the relevance in row 0 is 'x'"),
        ([[1, 1]], [[1]], "qrels: document '1' occurs twice in query '0'"),
        ([[1], [2]], [[1], [4, 4]], "run: document '4' occurs twice in query '1'"),
        ([[], []], [[1], [2]], "qrels: there are no judgments"),
        ([], [[1]], "qrels: there are no judgments"),
        (np.zeros((0, 3), int), [[1]], "qrels: there are no judgments"),
        (np.zeros(3, int), [[1]], r"qrels is a ndarray: .*; one id for each query is .*, such as qrels\[:, None\]$"),
        ([[1]], (np.array([[1]]), np.array([[0.5]])), "not float64: pass the ids alone, .*scores of all items, in a"),
        ([[1]], np.zeros((1, 1, 1), int), "run is a ndarray"),
    ],
)
def test_rows_that_are_refused(judged, run, problem):
    with pytest.raises((ValueError, TypeError), match=problem):
        hc.evaluate(judged, run)


def test_a_mapping_of_names_to_matrices_of_ids():
    """Each model gives a matrix of users and items. The names of the models were taken as queries."""
    relevant, matrix = [[7], [2], [4]], np.array([[7, 5], [1, 2], [3, 4]])
    wanted = {"one": matrix, "other": matrix[:, ::-1]}
    for kind in (np.asarray, Tensor, np.ndarray.tolist, lambda one: [*one], lambda one: hc.read_run(one)):
        found = hc.evaluate(relevant, {name: kind(one) for name, one in wanted.items()}, MEASURES)
        assert list(found) == [one.name for one in found.values()] == list(wanted)
        for name, one in wanted.items():
            same(found[name], hc.evaluate(relevant, one, MEASURES))
    scores = {"one": np.zeros(3)}  # of the items of a query
    with pytest.raises((TypeError, ValueError), match=r"id.* is 0\.0"):
        hc.evaluate({"one": {"a": 1}}, scores, MEASURES)


@pytest.mark.parametrize("rows", [np.array([[7, 5], [1, 2], [4, 3]]), [[7, 5], [1, 2], [4, 3]]])
@pytest.mark.parametrize("read", [False, True])
def test_rows_stand_for_named_queries_only_if_the_names_are_their_numbers(rows, read):
    """The users 1, 2, 3 would have the rows of 0, 1, 2, and the values of others."""
    relevant, docs = [[7], [2], [4]], dict(enumerate([[7, 5], [1, 2], [4, 3]]))
    wanted = hc.evaluate(relevant, rows, MEASURES)
    for names in ([0, 1, 2], ["0", "1", "2"], [1, 2, 3], [0, 1], [1, 0], [0, 2, 5, 1], ["a", "b", "c"]):
        named = dict(zip(names, [*relevant, [9]], strict=False))
        sides = [(named, hc.read_run(rows) if read else rows), (named, [[7, 5], [], [4, 3]])]
        run = {name: docs[int(name) % 3] if str(name).isdigit() else [1] for name in names}
        scores = {name: {str(doc): -at for at, doc in enumerate(one)} for name, one in run.items()}
        sides += [(relevant, run), (relevant, scores)]
        sides += [(hc.read_qrels(relevant) if read else relevant, hc.read_run(run))]
        for at, (judged, one) in enumerate(sides):
            if sorted(map(str, names)) != ["0", "1", "2"]:
                with pytest.raises(ValueError, match=r"from 0, but (qrels|run) names its queries.*dict\(zip\(users"):
                    hc.evaluate(judged, one, MEASURES)
            elif at != 1:
                same(hc.evaluate(judged, one, MEASURES), wanted)
            else:
                assert hc.evaluate(judged, one, MEASURES).missing == ["1"]


def test_rows_without_ids():
    for run in ([[], []], np.full((2, 3), -1), np.zeros((2, 0), int)):
        with pytest.warns(UserWarning, match="^run: the run has no documents"):
            found = hc.evaluate([[1], [2]], run, MEASURES)
        assert found.missing == ["0", "1"]
        assert found.means["AP"] == 0


@pytest.mark.parametrize(
    ("run", "one"),
    [
        ([], False), ([[1, 2]], True), ([[], [3]], True), ([[]], True), ([np.array([1, 2])], True),
        ([{"q": {}}], False),
        (([np.arange(2)], [np.arange(3)], [np.arange(4)]), False),
        (["a.run", "b.run"], False), ([np.zeros((2, 2), int)], False), ([[[1, 2]], [[3]]], False), ({"q": {}}, True),
        (([1], [2], [0.5]), True), (([[1]], [[2]], [[3]]), False), ((RUN, RUN, RUN), False), ([[1.5]], False),
        (("a", "b", "c"), False), ([ScoredDoc("q", "d", 1.0)], True), ([[ScoredDoc("q", "d", 1.0)]], False),
        ([[True]], False), ("a.run", True),
    ],
)
def test_a_list_is_one_run_or_many(run, one):
    assert is_one_run(run) is one


def test_three_rows_in_a_tuple_are_no_columns():
    judged = [[1], [2], [4]]
    assert hc.evaluate(judged, [[1], [2], [4]], "P@1").means == {"P@1": 1.0}
    with pytest.raises(ValueError, match=r"run is a tuple of three lists, .*: pass rows of ids in a list"):
        hc.evaluate(judged, ([1], [2], [4]), "P@1")
