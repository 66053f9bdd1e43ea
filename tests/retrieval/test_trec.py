"""Qrels and runs: what is read, what is refused and how, and the measures against slow, obvious ones."""

from __future__ import annotations

import bz2
import contextlib
import copy
import functools
import gzip
import io
import itertools
import json
import lzma
import math
import multiprocessing
import os
import pickle
import re
import subprocess
import sys
import tempfile
import textwrap
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from examples import few
from hypothesis import given
from hypothesis import strategies as st

import hitcurve as hc
from hitcurve._base import files as _files
from hitcurve.cli.main import main
from hitcurve.measures import MEASURES, parse
from hitcurve.retrieval import plans, runs
from hitcurve.retrieval.evaluation import TieBand
from hitcurve.retrieval.preferences import KINDS
from hitcurve.retrieval.trec_sums import SUMS

QRELS = "q1 0 a 1\nq1 0 b 0\nq1 0 c 2\nq2\t0\tx\t1\n"
RUN = "q1 Q0 a 1 3.5 tag\nq1 Q0 d 2 2.5 tag\nq2 Q0 y 1 1e-3 tag\nq2 Q0 x 2 -7 tag\n"


def write(folder, name, text):
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.fixture
def files(tmp_path):
    return write(tmp_path, "qrels.txt", QRELS), write(tmp_path, "run.txt", RUN)


# ------------------------------------------------------------------------------------------------------ a slow reader


def slow_lines(text, wanted):
    for line in text.split(b"\n"):
        fields = re.split(rb"[ \t\r\v\f]+", line.strip(b" \t\r\v\f"))
        if fields == [b""] or fields[0].startswith(b"#"):
            continue
        if len(fields) != wanted:
            raise ValueError("columns")
        yield fields


def slow_run(text):
    found = {}
    for query, _, doc, _, score, _ in slow_lines(text, 6):
        number = re.fullmatch(rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|([-+]?inf(inity)?)", score, re.I)
        if not number or (math.isinf(float(score)) and not number[3]):
            raise ValueError("score")
        if re.fullmatch(rb"[-+]?\d+", score) and int(score) != float(score):
            raise ValueError("rounded")
        docs = found.setdefault(query, {})
        if doc in docs:
            raise ValueError("twice")
        docs[doc] = float(score)
    return found


def slow_qrels(text):
    found = {}
    for query, _, doc, level in slow_lines(text, 4):
        if not re.fullmatch(rb"[-+]?\d+", level) or abs(int(level)) > 10**9:
            raise ValueError("relevance")
        docs = found.setdefault(query, {})
        if doc in docs:
            raise ValueError("twice")
        docs[doc] = int(level)
    if not found:
        raise ValueError("empty")
    return found


def slow_ranking(docs):
    """trec_eval's order."""
    return [doc for doc, _ in sorted(sorted(docs.items(), reverse=True), key=lambda item: -item[1])]


def slow_tables(qrels, run):
    """Rows (rank, above, tied, level) of every query of the qrels."""
    found = {}
    for query, levels in qrels.items():
        docs = run.get(query, {})
        ranking = slow_ranking(docs)
        found[query] = [
            (
                rank,
                sum(score > docs[doc] for score in docs.values()),
                sum(score == docs[doc] for score in docs.values()),
                levels[doc],
            )
            for rank, doc in enumerate(ranking, 1)
            if doc in levels
        ]
    return found


word = st.sampled_from([b"a", b"b", b"doc-1", b"doc-10", b"doc-2", b"q1", b"q2", b"clueweb09-en0000-00", "é".encode()])
score = st.sampled_from(
    [b"1", b"1.0", b"2.5", b"-3", b"1e-5", b"12.345678901234567", b"0.1234567890123456789", b"1e300", b"-0.0", b"0",
     b".5", b"5.", b"+1", b"123456789012345678901234567890.", b"1e-400", b"4.9e-324", b"inf", b"-Infinity",
     b"9007199254740994", b"-1152921504606846976", b"100000000000000000000"]
) | st.floats(allow_nan=False).map(lambda value: repr(value).encode())
odd = st.sampled_from(
    [b"", b"x", b"nan", b"1e", b"1_0", b"0x10", b"#", b"--1", b"1.5.2", b"\x00", b"1,5", b"1e400", b"-1.8e308",
     b"9007199254740993", b"-1152921504606846977", b"123456789012345678901234567890"]
)
gap = st.sampled_from([b" ", b"\t", b"  \t ", b" \r ", b"\v"])


@st.composite
def lines(draw, kind, broken):
    found = []
    for _ in range(draw(st.integers(0, 8))):
        value = draw(score if kind == "run" else st.integers(-2, 3).map(lambda level: b"%d" % level))
        if broken and draw(st.integers(0, 9)) == 0:
            value = draw(odd)
        fields = [draw(word), b"0", draw(word), value] if kind == "qrels" else [
            draw(word), b"Q0", draw(word), b"1", value, b"tag"]
        if broken and draw(st.integers(0, 19)) == 0:
            fields = fields[: draw(st.integers(0, len(fields)))] + draw(st.lists(odd, max_size=2))
        line = draw(gap).join(fields)
        found.append(draw(st.sampled_from([b"", b" ", b"\t"])) + line + draw(st.sampled_from([b"", b" ", b"\r"])))
        if draw(st.integers(0, 9)) == 0:
            found.append(draw(st.sampled_from([b"", b"# note", b"  "])))
    return b"\n".join(found) + draw(st.sampled_from([b"", b"\n", b"\n\n"]))


def agree(read, slow, text):
    try:
        wanted = slow(text)
    except ValueError:
        with pytest.raises(ValueError, match=r"^f(, line \d+)?: "):
            read(text, "f")
        return None
    return read(text, "f"), wanted


@few(25)
@given(lines("qrels", False), lines("run", False))
def test_judged_documents_and_ranks_are_those_of_a_slow_reader(qrels_text, run_text):
    qrels = agree(runs.Qrels.from_buffer, slow_qrels, qrels_text)
    run = agree(runs.Run.from_buffer, slow_run, run_text)
    if qrels is None or run is None:
        return
    (fast_qrels, slow_q), (fast_run, slow_r) = qrels, run
    assert fast_qrels.names.all_texts() == list(slow_q)
    assert fast_run.names.all_texts() == list(slow_r)
    tables = slow_tables(slow_q, slow_r)
    judged = [runs.judge(fast_qrels, fast_run), runs.judge_buffer(fast_qrels, run_text, "f")]
    for one in judged:
        if one is None:  # lines of a query apart
            continue
        assert [one.table(i) for i in range(len(slow_q))] == list(tables.values())
        assert one.num_retrieved().tolist() == [len(slow_r[query]) if query in slow_r else -1 for query in slow_q]
        assert sorted(one.others) == sorted(set(slow_r) - set(slow_q))


@few(25)
@given(lines("qrels", True), lines("run", True))
def test_what_is_refused_is_what_a_slow_reader_refuses(qrels_text, run_text):
    agree(runs.Qrels.from_buffer, slow_qrels, qrels_text)
    agree(runs.Run.from_buffer, slow_run, run_text)
    qrels = runs.Qrels.from_buffer(QRELS.encode(), "qrels")
    try:
        slow_run(run_text)
    except ValueError:
        try:
            assert runs.judge_buffer(qrels, run_text, "f") is None
        except ValueError as error:
            assert re.match(r"f(, line \d+)?: ", str(error))


PACKS = {"": bytes, "gz": lambda text: gzip.compress(text, 1), "xz": lambda text: lzma.compress(text, preset=0),
         "bz2": lambda text: bz2.compress(text, 1),
         "zst": lambda text: pytest.importorskip("pyarrow").compress(text, "zstd", asbytes=True)}


def packed(text, pack):
    """As two members, which one after the other are a file too."""
    return b"".join(map(PACKS[pack], (text[: len(text) // 2], text[len(text) // 2 :])))


def judged_or_refused(judge):
    try:
        found = judge()
    except ValueError as error:
        return str(error)
    if found is None:
        return None
    tables = [found.table(i) for i in range(len(found.qrels))]
    return tables, found.num_retrieved().tolist(), found.others, found.passed, found.tag, found.ties


@few(25)
@given(
    st.sampled_from([b"", b"\xef\xbb\xbf"]), lines("run", True) | lines("run", False), st.integers(1, 90),
    st.booleans(), st.sampled_from(list(PACKS)),
)
def test_a_run_read_piece_by_piece_is_the_run(mark, text, size, strict, pack):
    """Errors and their lines, notes and the tag included."""
    qrels = runs.Qrels.from_buffer(b"q1 0 a 1\nb 0 doc-1 2\nb 0 a 0\na 0 b 1\ndoc-1 0 b 1", "qrels")
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(_files, "_PIECE", size)
        path = str(write(Path(folder), "run", packed(mark + text, pack)))
        with _files.opened_text(path, pieces=True) as (name, pieces):
            assert isinstance(pieces, _files.TextFile) == bool(mark + text or pack)
            assert name == path
            places = []
            options = {"strict": strict, "progress": places.append}
            found = judged_or_refused(lambda: runs.judge_buffer(qrels, pieces, "f", **options))
            assert pieces == b"" or pieces.reached(len(mark + text)) == os.path.getsize(path) or isinstance(found, str)
            assert pieces == b"" or pieces.read() == mark + text
    assert found == judged_or_refused(lambda: runs.judge_buffer(qrels, mark + text, "f", strict=strict))
    assert places == sorted(places)
    assert not places or isinstance(found, str) or found is None or places[-1] == len(mark + text)


def test_a_file_that_changes_while_it_is_read(tmp_path):
    """An error that says so. In a process of its own: a mapped file that is cut short ends the process."""
    code = """
        import os, sys
        from pathlib import Path
        import hitcurve as hc
        from hitcurve._base import files
        files._PIECE = 1 << 17
        path = Path(sys.argv[1])
        text = "".join(f"{q} Q0 d{i} 1 {-i} tag\\n" for q in range(25) for i in range(1000))
        for change in ("truncate", "append", "overwrite"):
            path.write_text(text)
            os.utime(path, (0, 0))  # long before it changes

            def progress(place):
                if 0 < place < 0.8 * len(text):
                    with open(path, "r+b") as file:
                        if change == "truncate":
                            file.truncate(place)
                        else:
                            file.seek(0, os.SEEK_END if change == "append" else os.SEEK_SET)
                            file.write(b"1 Q0 other 1 1 tag\\n")

            print(hc.evaluate({"1": {"d3": 1}}, path, "RR").means)
            try:
                hc.evaluate({"1": {"d3": 1}}, path, "RR", progress=progress)
            except ValueError as error:
                print(change, error)
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    said = "{'RR': 0.25}\n%s " + f"{tmp_path / 'run'}: changed while it was read\n"
    assert done.stdout == "".join(said % change for change in ("truncate", "append", "overwrite")), done.stderr


# Queries of a run, and bytes of it that are read at once: a small run in as many pieces as a large one.
SMALL, LARGE = (50, 1 << 17), (400, 1 << 20)


@functools.cache
def many_queries(queries=20):
    rng = np.random.default_rng(7)
    return b"".join(b"%d Q0 d%d 1 %.6f tag\n" % (query, i, score) for query in range(queries)
                    for i, score in enumerate(rng.random(2000).tolist()))


@functools.cache
def many_packed(pack, queries=20):
    return packed(many_queries(queries), pack)


@pytest.mark.parametrize("pack", list(PACKS)[1:])
def test_a_packed_file_that_changes_while_it_is_read(tmp_path, monkeypatch, pack):
    monkeypatch.setattr(_files, "_PIECE", 1 << 16)
    path = write(tmp_path, "run", many_packed(pack))
    other = write(tmp_path, "other", many_packed(pack, 10))

    def progress(place):
        if other.exists():
            os.replace(other, path)

    with pytest.raises(ValueError, match=r"run: changed while it was read$"):
        hc.evaluate({"1": {"d3": 1}}, path, "RR", progress=progress)


@pytest.mark.parametrize(("queries", "piece"), [SMALL, pytest.param(*LARGE, marks=pytest.mark.slow)])
@pytest.mark.parametrize("pack", PACKS)
def test_a_run_needs_memory_for_a_query_of_it(tmp_path, monkeypatch, pack, queries, piece):
    """However it is packed; not where the lines of a query are apart."""
    monkeypatch.setattr(_files, "_PIECE", piece)
    text, qrels = many_queries(queries), {"7": {"d3": 1, "other": 1}, str(queries - 1): {"d1": 1}}
    assert len(text) > 50_000 * queries
    wanted = hc.evaluate(qrels, write(tmp_path, "plain", text), "RR")
    data = many_packed(pack, queries)
    path = write(tmp_path, "run", data)
    apart = write(tmp_path, "apart", data + PACKS[pack](b"7 Q0 other 1 2 tag\n"))
    tracemalloc.start()
    try:
        found = hc.evaluate(qrels, path, "RR")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 24_000 * queries
    assert found.values["RR"].tolist() == wanted.values["RR"].tolist()
    found = hc.evaluate(qrels, apart, "RR")
    assert dict(zip(found.query_ids, found.values["RR"].tolist(), strict=True)) == {
        "7": 1.0, str(queries - 1): wanted.values["RR"][wanted.query_ids.index(str(queries - 1))]}


@pytest.mark.parametrize("pack", list(PACKS)[1:])
@pytest.mark.parametrize("damage", ["cut", "cut at once", "changed"])
def test_a_packed_file_that_is_broken(tmp_path, pack, damage):
    data = many_packed(pack)
    middle = len(data) // 4
    broken = {"cut": data[:-middle], "cut at once": data[:7],
              "changed": data[:middle] + bytes(255 - one for one in data[middle : middle + 100]) + data[middle + 100 :]}
    path = write(tmp_path, "run", broken[damage])
    for read in (hc.read_run, hc.read_qrels, lambda path: hc.evaluate({"1": {"d3": 1}}, path, "RR")):
        with pytest.raises(ValueError, match=rf"^{re.escape(str(path))}: cannot be decompressed: \S"):
            read(path)


LONG_LINES = r"""
    import gzip, os, sys, tracemalloc
    from pathlib import Path
    from hitcurve._base import files

    folder, limit, named = Path(sys.argv[1]), int(sys.argv[2]) << 20, sys.argv[3:]
    if limit < files.LONGEST:  # a line of as many pieces
        files._PIECE = files._PIECE * limit // files.LONGEST
        files.LONGEST = limit
    assert files.LONGEST == limit
    import hitcurve as hc

    long = limit + limit // 64
    lines = {
        "word": b"x" * long,
        "zeros": bytes(long),
        "comment": b"#" * long,
        "blanks": b" " * long,
        "tag": b"q2 Q0 d 1 2 " + b"t" * long,
        "blanks and tag": b" " * (long // 2) + b"q1 Q0 d 1 2 " + b"t" * (long // 2),
        "columns": b"q1 0 d 1" + b" 1" * (long // 2),
    }
    path, gz, judged = folder / "run", folder / "run.gz", folder / "qrels"

    def evaluate(path):
        return hc.evaluate({"q1": {"d1": 1}}, path, "RR")

    def refused(case, read, path):
        try:
            read(path)
        except ValueError as error:
            print(case, str(error)[:200], sep="|")
        else:
            print(case, "taken", sep="|")

    for name in named or lines:
        for rest in (b"", b"\nq1 Q0 e 1 2 t\n"):  # wherever the line ends
            text = b"\xef\xbb\xbfq1 Q0 d1 1 1 t\n# a comment\n" + lines[name] + rest
            path.write_bytes(text)
            gz.write_bytes(gzip.compress(text, 1))
            judged.write_bytes(text.replace(b"q1 Q0 d1 1 1 t", b"q1 0 d1 1"))
            for read, file in ((evaluate, path), (hc.read_run, path), (evaluate, gz), (hc.read_qrels, judged)):
                refused(name, read, file)
    path.write_bytes(b"q1 Q0 d1 1 1 t\n")
    os.truncate(path, 32 * limit)  # a line without end, which is not read to its end
    tracemalloc.start()
    refused("endless", evaluate, path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print("memory", peak < 300 * limit // 64, sep="|")
    for pack in (bytes, gzip.compress):
        path.write_bytes(pack(b'{"q1": {"d2": 2, ' + b" " * long + b'"d1": 1}}'))
        print("JSON", evaluate(path).means, sep="|")
"""


@pytest.mark.parametrize(("limit", "lines"), [
    (1, ()), *(pytest.param(64, (line,), marks=pytest.mark.slow) for line in (
        "word", "zeros", "comment", "blanks", "tag", "blanks and tag", "columns"))])  # fmt: skip
def test_a_line_that_is_too_long(tmp_path, limit, lines):
    """An error that names it, by every way in and wherever the line ends; of JSON a line may be long.

    In a process of its own: where the limit is a MiB, all lines are short.
    """
    command = [sys.executable, "-c", textwrap.dedent(LONG_LINES), str(tmp_path), str(limit), *lines]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    said = [line.split("|", 1) for line in done.stdout.splitlines()]
    for case, text in said[:-3]:
        file, place = r"run(\.gz)?|qrels", 2 if case == "endless" else 3
        problem = rf"^{re.escape(str(tmp_path))}{os.sep}({file}), line {place}: the line is longer than {limit} MiB: "
        assert re.match(problem, text), (case, text)
    assert len({case for case, _ in said[:-4]}) == (len(lines) or 7)
    assert len(said[:-4]) == 8 * (len(lines) or 7)
    assert said[-4][0] == "endless"
    assert said[-3:] == [["memory", "True"], *[["JSON", "{'RR': 0.5}"]] * 2]


def test_a_line_of_64_mib_is_too_long():
    with pytest.raises(ValueError, match=r"^f, line 2: the line is longer than 64 MiB: "):
        runs.Run.from_buffer(b"q1 Q0 d1 1 1 t\n" + b"#" * (64 << 20) + b"\n", "f")


@pytest.mark.parametrize("read", [hc.read_run, hc.read_qrels])
def test_a_file_that_changes_while_it_is_read_at_once(tmp_path, monkeypatch, read):
    path = write(tmp_path, "file", (RUN if read is hc.read_run else QRELS) * 2000)

    class Cut(io.FileIO):
        def readall(self):
            os.truncate(path, 1000)
            return super().readall()

    monkeypatch.setattr(_files, "open", lambda name, *_: Cut(name), raising=False)
    with pytest.raises(ValueError, match="file: changed while it was read"):
        read(path)


def test_a_file_that_is_removed_has_changed(tmp_path, monkeypatch):
    """Also one that is removed as soon as it was looked at."""
    path = write(tmp_path, "run", RUN)
    state = _files.file_state(path)

    def stat(name, *args, look=os.stat, **options):
        found = look(name, *args, **options)
        if name == path:
            path.unlink()
        return found

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", stat)
        _files.check_unchanged(path, state)
    with pytest.raises(ValueError, match="run: changed while it was read"):
        _files.check_unchanged(path, state)
    assert _files.file_state(path) is _files.file_state(tmp_path) is _files.file_state("a\0b") is None


@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_are_read_or_refused(text, strict):
    for read in (runs.Qrels.from_buffer, runs.Run.from_buffer):
        try:
            read(text, "f", strict)
        except ValueError as error:
            assert re.match(r"f(, line \d+)?: ", str(error))


@given(st.floats(allow_nan=False) | st.decimals(allow_nan=False, allow_infinity=False, places=12).map(float))
def test_scores_are_read_to_the_last_bit(value):
    for text in (repr(value), f"{value:.17g}", f"{value:.25e}", f"{value:f}"):
        docs = [f"q Q0 a 1 {text} t", f"q Q0 b 2 {float(text)!r} t"]
        run = runs.Run.from_buffer("\n".join(docs).encode(), "f")
        judged = runs.judge(runs.Qrels.from_buffer(b"q 0 a 1", "f"), run)
        assert judged.table(0)[0][2] == 2, text  # tied with itself


def test_large_queries_in_any_order():
    rng = np.random.default_rng(5)
    for n, distinct in ((1, 1), (17, 3), (300, 300), (1000, 40), (3000, 10**6), (2000, 1)):
        docs = {f"doc{i}".encode(): float(rng.integers(distinct)) for i in rng.permutation(n)}
        levels = {doc: int(rng.integers(-1, 4)) for doc in list(docs)[:: max(1, n // 50)]} | {b"none": 1}
        for order in ("any", "falling"):
            items = list(docs.items())
            if order == "falling":
                items.sort(key=lambda item: -item[1])
            run = {b"q": dict(items)}
            fast = runs.judge(hc.read_qrels({"q": {d.decode(): v for d, v in levels.items()}}),
                              hc.read_run({"q": {d.decode(): v for d, v in items}}))
            assert fast.table(0) == slow_tables({b"q": levels}, run)[b"q"]


def test_integer_ids_are_ranked_as_their_text_is():
    rng = np.random.default_rng(6)
    query = np.repeat([3, 1, 2], 200)
    doc = np.concatenate([rng.permutation(5000)[:200] for _ in range(3)])
    scores = rng.integers(0, 20, 600).astype(float)
    level = rng.integers(0, 3, 600)
    qrels = {"query_id": query[::3], "doc_id": doc[::3], "relevance": level[::3]}
    run = {"query_id": query, "doc_id": doc, "score": scores}
    text_qrels, text_run = {}, {}
    for q, d, r in zip(query[::3], doc[::3], level[::3], strict=True):
        text_qrels.setdefault(str(q), {})[str(d)] = int(r)
    for q, d, s in zip(query, doc, scores, strict=True):
        text_run.setdefault(str(q), {})[str(d)] = s
    wanted = hc.evaluate(text_qrels, text_run, "all_trec")
    order = rng.permutation(600)
    apart = {name: column[order] for name, column in run.items()}
    for one_qrels, one_run in itertools.product((qrels, text_qrels), (run, apart, text_run, hc.read_run(run))):
        found = hc.evaluate(one_qrels, one_run, "all_trec")
        assert found.query_ids == wanted.query_ids
        for name in wanted.values:
            np.testing.assert_array_equal(found.values[name], wanted.values[name], name)


def test_the_text_of_integer_judgments_is_made_once():
    qrels = hc.read_qrels({"query_id": [1, 1, 2], "doc_id": [7, 8, 7], "relevance": [1, 0, 2]})
    assert qrels.integers
    with ThreadPoolExecutor(4) as pool:
        read = list(pool.map(lambda _: runs.judge_buffer(qrels, b"1 Q0 8 1 3 t\n2 Q0 7 1 2 t", "f"), range(8)))
    texts = {id(one.qrels) for one in read}
    assert len(texts) == 1
    assert qrels.as_text() is read[0].qrels
    assert qrels.as_text().as_text() is qrels.as_text()
    assert qrels.integers
    assert not qrels.as_text().integers
    assert [read[0].table(at) for at in range(2)] == [[(1, 0, 1, 0)], [(1, 0, 1, 2)]]


COLLIDING = pow(0x9E3779B97F4A7C15, -1, 2**64)  # times this, small numbers share a place in the table of a query
INTEGERS = {
    "small": lambda rng, n: rng.permutation(2 * n)[:n] - n // 2,
    "large": lambda rng, n: rng.permutation(n) * 2**44 - 2**62,
    "ends": lambda rng, n: np.append(np.arange(n - 1) + np.iinfo(np.int64).min, np.iinfo(np.int64).max),
    "colliding": lambda rng, n: (np.arange(n, dtype=np.uint64) * np.uint64(COLLIDING)).view(np.int64),
}
SCORES = {
    "apart": lambda rng, n: rng.permutation(n) - n / 2,
    "ties": lambda rng, n: rng.integers(-2, 3, n) * 0.5 * rng.choice([-1.0, 1.0], n),
    "some ties": lambda rng, n: rng.integers(0, 20 * n, n).astype(float),
    "apart in double precision only": lambda rng, n: 1 + rng.permutation(n) * 2.0**-40,
    "beyond single precision": lambda rng, n: np.append(rng.permutation(n - 1) * 1e290, rng.choice([np.inf, -np.inf])),
    "falling": lambda rng, n: -np.arange(float(n)),
    "falling in ties": lambda rng, n: np.sort(rng.integers(0, 3 * n, n).astype(float))[::-1],
}


def judged_integers(qrels, columns, order="score", single=False):
    """Of a run in arrays, by the way that `evaluate` takes, and by way of `Run`: tables or the error."""
    starts, names, ids, scores = columns
    found = []
    for way in (
        lambda: runs.judge_integers(qrels, np.append(starts, len(ids)), names, ids, scores, "run", order, single),
        lambda: runs.judge(qrels, runs.Run.from_columns(starts, names, ids, scores, "run"), order, single),
    ):
        try:
            judged = way()
        except ValueError as error:
            found.append(str(error))
        else:
            tables = [judged.table(q) for q in range(len(qrels))]
            found.append((tables, judged.num_retrieved().tolist(), judged.counts(), judged.others, judged.ties))
    return found


@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("ids", INTEGERS)
def test_runs_in_arrays_of_integers(ids, scores):
    rng = np.random.default_rng([len(ids), len(scores)])
    for share, sizes in ((0.03, (1, 700, 2, 1500)), (0.5, (40, 1, 300)), (2, (3, 1, 400))):
        names = [str(-q) for q in range(len(sizes))]
        docs = [INTEGERS[ids](rng, n) for n in sizes]
        values = [SCORES[scores](rng, n) for n in sizes]
        chosen = [rng.permutation(d)[: max(1, int(share * len(d)))] for d in docs]
        if share == 2:  # far more judgments than documents; query 2 is not judged, and query 9 not in the run
            chosen[1] = np.unique(np.append(chosen[1], np.arange(5, 5000)))
            del chosen[2]
        judged_names = ["0", "-1", "9"] if share == 2 else names
        chosen += [np.array([1, 2])] if share == 2 else []
        levels = [rng.integers(-1, 4, len(d)).astype(float) for d in chosen]
        qrels = runs.Qrels.from_columns(np.cumsum([0, *map(len, chosen[:-1])]), judged_names, np.concatenate(chosen),
                                        np.concatenate(levels), "qrels")
        columns = np.cumsum([0, *sizes[:-1]]), names, np.concatenate(docs), np.concatenate(values)
        for order, single in itertools.product(("score", "listed"), (False, True)):
            fast, slow = judged_integers(qrels, columns, order, single)
            assert fast == slow
            if order == "score" and not single and max(sizes) < 1000:
                run = {q: {b"%d" % d: s for d, s in zip(*of, strict=True)}
                       for q, *of in zip(names, docs, values, strict=True)}
                wanted = slow_tables({q: {b"%d" % d: r for d, r in zip(*of, strict=True)}
                                      for q, *of in zip(judged_names, chosen, levels, strict=True)}, run)
                assert fast[0] == list(wanted.values())
        # A judged document twice, another one twice, in the last query and in one that has no judgments, and NaN.
        for place, query in itertools.product((chosen[0][0], docs[-1][0]), (0, len(sizes) - 1)):
            starts, _, all_docs, all_values = columns
            end = starts[query] + sizes[query]
            bad = np.insert(all_docs, end, [place, place]), np.insert(all_values, end, [0.25, 7.5])
            fast, slow = judged_integers(qrels, (starts + 2 * (np.arange(len(starts)) > query), names, *bad))
            assert fast == slow
            assert f"document '{place}' occurs twice in query '{names[query]}'" in fast
        for row in (0, len(all_docs) - 1):
            with_nan = all_values.copy()
            with_nan[row] = np.nan
            fast, slow = judged_integers(qrels, (starts, names, all_docs, with_nan))
            of = f"query '{names[int(np.searchsorted(starts, row, 'right')) - 1]}', document {all_docs[row]}"
            assert fast == slow == f"run: the score in row {row} is NaN ({of})"


@pytest.mark.filterwarnings("ignore:.* scores rise in the order")
def test_ranks_in_arrays_of_integers():
    qrels = {"query_id": np.array([1, 1]), "doc_id": np.array([4, 5]), "relevance": np.array([1, 0])}
    run = {"query_id": np.array([1, 1]), "doc_id": np.array([5, 4]), "score": np.array([1.0, 2.0])}
    with pytest.raises(ValueError, match="rank_by='rank' needs a rank column"):
        hc.evaluate(qrels, run, "RR", rank_by="rank")
    assert hc.evaluate(qrels, {**run, "rank": np.array([1, 2])}, "RR", rank_by="rank").means == {"RR": 0.5}


@few(25)
@given(st.data())
def test_runs_in_arrays_of_few_integers(data):
    number = st.integers(-12, 12)
    rows = st.lists(st.tuples(number, st.sampled_from([0.0, -0.0, 1.0, 1 + 2**-40, 1e300, 2e300, -1e300])), min_size=1,
                    max_size=12)
    run = data.draw(st.dictionaries(st.sampled_from("abc"), rows, min_size=1))
    judged = data.draw(st.dictionaries(st.sampled_from("abd"), st.dictionaries(number, st.integers(-1, 2), min_size=1),
                                       min_size=1))
    ids, levels = zip(*(row for of in judged.values() for row in of.items()), strict=True)
    qrels = runs.Qrels.from_columns(np.cumsum([0, *map(len, judged.values())])[:-1], list(judged),
                                    np.array(ids), np.array(levels, dtype=float), "qrels")
    docs, scores = zip(*(row for of in run.values() for row in of), strict=True)
    starts = np.cumsum([0, *map(len, run.values())])[:-1]
    fast, slow = judged_integers(qrels, (starts, list(run), np.array(docs), np.array(scores)))
    assert fast == slow
    if not isinstance(fast, str):
        text = {query: {b"%d" % doc: score for doc, score in of} for query, of in run.items()}
        wanted = {query: {b"%d" % doc: level for doc, level in of.items()} for query, of in judged.items()}
        assert fast[0] == list(slow_tables(wanted, text).values())


# ------------------------------------------------------------------------------------------------------------- sources


def test_every_source_gives_the_same(tmp_path, files, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    qrels, run = files
    wanted = hc.evaluate(qrels, run, "all_trec").to_dict()
    rows = [line.split() for line in RUN.splitlines()]
    judged = [line.split() for line in QRELS.splitlines()]
    run_columns = {"query_id": [r[0] for r in rows], "doc_id": [r[2] for r in rows],
                   "score": [float(r[4]) for r in rows]}
    qrels_columns = {"query_id": [r[0] for r in judged], "doc_id": [r[2] for r in judged],
                     "relevance": [int(r[3]) for r in judged]}
    sources = [(hc.read_qrels(qrels), hc.read_run(run))]
    for name in list(PACKS)[1:]:
        sources.append(tuple(write(tmp_path, f"{kind}.{name}", packed(text.encode(), name))
                             for kind, text in (("q", QRELS), ("r", RUN))))
    pyarrow.parquet.write_table(pa.table(qrels_columns), tmp_path / "q.parquet")
    pyarrow.parquet.write_table(pa.table(run_columns), tmp_path / "r.parquet")
    sources.append((tmp_path / "q.parquet", tmp_path / "r.parquet"))
    sources.append((pa.table(qrels_columns), pa.table(run_columns)))
    sources.append((qrels_columns, run_columns))
    for library in ("pandas", "polars"):
        frames = pytest.importorskip(library)
        sources.append((frames.DataFrame(qrels_columns), frames.DataFrame(run_columns)))
    nested_run, nested_qrels = {}, {}
    for q, d, s in zip(*run_columns.values(), strict=True):
        nested_run.setdefault(q, {})[d] = np.float32(s) if s != 1e-3 else s
    for q, d, r in zip(*qrels_columns.values(), strict=True):
        nested_qrels.setdefault(q, {})[d] = np.int64(r)
    sources.append((nested_qrels, nested_run))
    for one_qrels, one_run in sources:
        found = hc.evaluate(one_qrels, one_run, "all_trec").to_dict()
        assert found["queries"] == wanted["queries"]
        assert found["means"] == wanted["means"]
    for text, read in ((QRELS, hc.read_qrels), (RUN, hc.read_run)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        assert len(read("-")) == 2


def test_dict_ids_may_be_integers():
    found = hc.evaluate({1: {10: 1}}, {1: {10: 1, 9: 2}}, "RR")
    assert found.means == {"RR": 0.5}
    assert found.query_ids == ["1"]


def test_ids_beyond_64_bits():
    run = {"query_id": [2**70, 2**70], "doc_id": [2**64, 3], "score": [1, 2]}
    assert hc.evaluate({2**70: {2**64: 1}}, run, "RR").means == {"RR": 0.5}


def test_nothing_of_the_caller_is_changed():
    qrels = {"query_id": np.array([1, 1]), "doc_id": np.array([4, 5]), "relevance": np.array([1, 0])}
    run = {"query_id": np.array([1, 1, 1]), "doc_id": np.array([4, 5, 6]), "score": np.array([1.0, 3.0, 2.0])}
    before = {name: column.copy() for name, column in {**qrels, **run}.items()}
    hc.evaluate(qrels, run)
    for name, column in {**qrels, **run}.items():
        np.testing.assert_array_equal(column, before[name])


# -------------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("q Q0 d 1 1.0 t\nq Q0 e 2 0.5\n", r"line 2: the line has 5 columns, but a run has six.*: 'q Q0 e 2 0.5'$"),
        ("q Q0 d 1 1.0 t more\n", r"line 1: the line has 7 columns.*strict=False"),
        ("q Q0 d 1 tag\n", r"line 1: the line has 5 columns, but a run has six.*: 'q Q0 d 1 tag'$"),
        ("q Q0 a document 1 1.0 t\n", r"line 1: the line has 7 columns"),
        ("q Q0 d 1 1e999 t\n", r"line 1: the score '1e999' is beyond the range of a double: 'q Q0 d 1 1e999 t'$"),
        ("q Q0 d 1 -1.8e308 t\n", r"line 1: the score '-1.8e308' is beyond the range of a double"),
        ("q Q0 d 1 1" + 400 * "0" + " t\n", r"line 1: the score '10+\.\.\.' is beyond the range of a double"),
        ("q Q0 d 1 0x10 t\n", r"line 1: the score '0x10' is not a number"),
        ("\n# note\nq Q0 d 1 foo t\n", r"line 3: the score 'foo' is not a number.*: 'q Q0 d 1 foo t'$"),
        ("q Q0 d 1 1.0x t\n", r"line 1: the score '1.0x' is not a number"),
        ("q Q0 d 1 nan t\n", r"line 1: the score is NaN"),
        ("q Q0 d 1 1 t\nq Q0 e 2 1 t\nq Q0 d 3 0 t\n", r"line 3: document 'd' occurs twice .*first in line 1"),
        ("q Q0 d 1 1 t\np Q0 e 2 1 t\nq Q0 d 3 0 t\n", r"line 3: document 'd' occurs twice .*first in line 1"),
    ],
)
def test_bad_runs(tmp_path, files, text, problem):
    path = write(tmp_path, "bad.txt", text)
    for read in (hc.read_run, lambda run: hc.evaluate(files[0], run), lambda run: hc.evaluate({"q": {"d": 1}}, run)):
        with pytest.raises(ValueError, match=problem) as caught:
            read(path)
        assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("kind", ["run", "qrels"])
def test_a_file_that_is_cut_off_is_said_to_be(tmp_path, files, kind):
    """Wherever the cut is in the last line, unless what is left is a whole line."""
    whole, last = {"run": ("q Q0 d 1 1.0 tag\n", "q Q0 e 2 0.5 tag"), "qrels": ("q 0 d 1\n", "q 0 e 0")}[kind]
    reads = [hc.read_qrels] if kind == "qrels" else [hc.read_run, lambda path: hc.evaluate(files[0], path)]
    for size in range(1, len(last)):
        path = write(tmp_path, "cut.txt", whole + last[:size])
        columns = len(last[:size].split())
        for read in reads if columns < len(last.split()) else ():
            with pytest.raises(ValueError, match=f"line 2: the line has {columns} column.*: it may be cut off: 'q"):
                read(path)
        path = write(tmp_path, "line.txt", whole + last[:size] + "\n")  # a whole line that lacks columns is not cut off
        for read in reads if columns < len(last.split()) else ():
            with pytest.raises(ValueError, match=f"line 2: the line has {columns} column") as caught:
                read(path)
            assert "cut off" not in str(caught.value)


def test_judgments_and_runs_that_were_swapped(files):
    qrels, run = files
    with pytest.raises(ValueError, match=r"line 1: the line has 6 columns, .*; is this a run\? Judgments come first: "):
        hc.evaluate(run, qrels)
    with pytest.raises(ValueError, match=r"line 1: the line has 4 columns, .*; are these judgments\? They come first"):
        hc.evaluate(qrels, qrels)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("q 0 d\n", r"line 1: the line has 3 columns, but qrels have four"),
        ("q 0 d 1 5\n", r"line 1: the line has 5 columns"),
        ("q 0 a document 1\n", r"line 1: the line has 5 columns, but qrels have four"),
        ("q 0 d x\n", r"line 1: the relevance 'x' is not a number"),
        ("q 0 d 0.5\n", r"line 1: the relevance '0.5' is not a whole number .*strict=False"),
        ("q 0 d nan\n", r"line 1: the relevance is NaN"),
        ("q 0 d 99999999999\n", r"line 1: the relevance '99999999999' is not a number from"),
        ("q 0 d 1\nq 0 d 1\n", r"line 2: document 'd' occurs twice"),
        ("", "no judgments"),
    ],
)
def test_bad_qrels(tmp_path, text, problem):
    path = write(tmp_path, "bad.txt", text)
    with pytest.raises(ValueError, match=problem) as caught:
        hc.read_qrels(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("run", "problem"),
    [
        ({"q": {"d": float("nan")}}, "NaN"),
        ({"q": {"d": "high"}}, r"the value in row 0 is 'high'"),
        ({"q": {"d": None}}, "is None"),
        ({"q": 3}, "holds int"),
        ({"q": {1.5: 1.0}}, "an id is 1.5"),
        ({"q": {"d": 2**53 + 1}}, f"row 0 is {2**53 + 1}, which a double cannot hold"),
        ({"query_id": ["q"], "doc_id": ["d"]}, "no column 'score'"),
        ({"query_id": ["q", "q"], "doc_id": ["d", "d"], "score": [1, 2]}, "'d' occurs twice in query 'q'"),
        ({"query_id": [1, 1], "doc_id": [2, 2], "score": [1, 2]}, "'2' occurs twice in query '1'"),
        ({"query_id": ["q", None], "doc_id": ["d", "e"], "score": [1, 2]}, "empty in row 1"),
        ({"query_id": ["q"], "doc_id": ["d"], "score": [10**400]}, "an integer beyond the range of a double"),
        ({"query_id": [1.5, "q"], "doc_id": ["d", "d"], "score": [1, 2]}, "the query id in row 0 is 1.5"),
        (42, "a int"),
    ],
)
def test_bad_runs_in_memory(run, problem):
    with pytest.raises((ValueError, TypeError), match=problem):
        hc.evaluate({"q": {"d": 1}}, run)


def test_lenient_reading_is_trec_evals(tmp_path):
    qrels = write(tmp_path, "qrels", "q 0 a 1.9\nq 0 b x\nq 0 c 2\n")
    run = write(tmp_path, "run", "q Q0 a 1 foo t\nq Q0 b 2 3.5abc t\nq Q0 c 3 -1 t and more\n")
    with pytest.warns(UserWarning) as caught:
        found = hc.evaluate(qrels, run, ["RR", "NumRel"], strict=False)
    said = "\n".join(str(one.message) for one in caught)
    assert "2 relevances other than a whole number:" in said
    assert "2 scores other than a number" in said
    assert "1 line with more than six columns" in said
    assert "first in line 3" in said
    assert found.values["RR"].tolist() == [0.5]  # b 3.5, a 0, c -1
    assert found.values["NumRel"].tolist() == [2]
    assert len(found.notes) == 3
    with pytest.raises(ValueError, match="NaN"):
        hc.evaluate({"q": {"a": 1}}, write(tmp_path, "nan", "q Q0 a 1 nan t\n"), strict=False)


HEXADECIMAL = {
    "0x10": 16, "0X1.8p1": 3, "-0x.8": -0.5, "+0x1p-3z": 0.125, "0xfFg": 255, "0x1.8.1": 1.5, "0x1p": 1, "0x1p+": 1,
    "0x": 0, "0x.": 0, "0xg": 0, "x10": 0, "00x10": 0, "0x1p-1080": 0, "0x1.fffffffffffffp1023": sys.float_info.max,
}


@pytest.mark.parametrize("text", HEXADECIMAL)
def test_lenient_reading_of_hexadecimal_scores(text):
    """As C reads them, and so trec_eval: tied with just this double."""
    value = float(HEXADECIMAL[text])
    scores = [text, repr(value), repr(math.nextafter(value, math.inf)), repr(math.nextafter(value, -math.inf))]
    run = "".join(f"q Q0 d{i} 1 {score} t\n" for i, score in enumerate(scores)).encode()
    judged = runs.judge(hc.read_qrels({"q": {"d0": 1}}), runs.Run.from_buffer(run, "f", False))
    assert [row[1:3] for row in judged.table(0)] == [(1, 2)]
    with pytest.raises(ValueError, match=r"line 1: the score .* is not a number"):
        runs.Run.from_buffer(run, "f")


@pytest.mark.parametrize("text", ["inf", "-inf", "+INF", "infinity", "-Infinity", "nan"])
@pytest.mark.parametrize("rest", ["x", "X1", "0x10", "i", "e5", ".5", "(", "inity"])
def test_lenient_reading_of_text_after_an_infinity(text, rest):
    """As C reads it, whatever follows the word; NaN stays an error."""
    run = f"q Q0 a 1 {text}{rest} t\nq Q0 b 2 {text} t\nq Q0 c 3 0 t\n".encode()
    if text == "nan":
        with pytest.raises(ValueError, match=r"line 1: .*NaN"):
            runs.Run.from_buffer(run, "f", False)
        return
    judged = runs.judge(hc.read_qrels({"q": {"a": 1}}), runs.Run.from_buffer(run, "f", False))
    assert [row[1:3] for row in judged.table(0)] == [(1 if text[0] == "-" else 0, 2)]


def test_lenient_reading_of_scores_that_no_double_holds(tmp_path):
    for text in ("1e999", "-1e309x", "0x1p1024", "0x1.fffffffffffff8p1023"):
        with pytest.raises(ValueError, match=re.escape(f"the score '{text}' is beyond the range of a double")):
            hc.read_run(write(tmp_path, "run", f"q Q0 a 1 {text} t\n"), strict=False)


def test_queries_on_one_side_only():
    qrels = {"a": {"d": 1}, "b": {"d": 1}, "c": {"d": 0}}
    run = {"a": {"d": 1.0}, "c": {"d": 1.0}, "x": {"d": 1.0}}
    found = hc.evaluate(qrels, run, ["AP", "NumQ"])
    assert found.values["AP"].tolist() == [1, 0, 0]
    assert found.counts == {"queries": 3, "missing": 1, "extra": 1, "empty": 1, "retrieved": 2, "judged": 2,
                            "contradicting": 0}
    assert (found.missing, found.extra) == (["b"], ["x"])
    assert hc.evaluate(qrels, run, "AP", missing="skip").means == {"AP": 0.5}
    assert hc.evaluate(qrels, run, "AP", missing="skip", empty="skip").means == {"AP": 1.0}
    assert np.isnan(hc.evaluate(qrels, run, "AP", empty="skip").values["AP"][2])
    for option in ("missing", "extra", "empty"):
        with pytest.raises(ValueError, match=rf"{option}='raise'"):
            hc.evaluate(qrels, run, "AP", **{option: "raise"})
    with pytest.raises(ValueError, match="no query in common"):
        hc.evaluate({"z": {"d": 1}}, run)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"ties": "threshold"}, "ties='threshold' is unknown"),
        ({"missing": "one"}, "missing='one' is unknown"),
        ({"scores": "float16"}, "scores='float16' is unknown"),
        ({"depth": 0}, "depth is 0"),
        ({"depth": 5, "ties": "best"}, "depth=5 cannot be combined with ties='best', which gives no single order"),
        ({"measures": "IPrec@0.1", "ties": "expected"}, "no expected value"),
        ({"measures": "BEDROC"}, "needs every item of the collection"),
        ({"measures": "recip_rank@5"}, "write RR@5"),
        ({"measures": "Hits@1%"}, "use a rank"),
        ({"measures": "P@1%"}, "use a rank"),
        ({"measures": "xyz"}, "no measure 'xyz'"),
        ({"measures": []}, "measures is empty"),
        ({"rank_by": "rank"}, "rank column"),
        ({"ties": "rank"}, "ties='rank' is unknown"),
        ({"ties": "order"}, "ties='order' is unknown"),
        ({"rank_by": "listed", "ties": "best"}, "ties='best' cannot be combined with rank_by='listed'"),
        ({"workers": 0, "run": [{}, {}]}, "workers is 0"),
        ({"measures": "ERR(max=1)@5"}, "level 2"),
    ],
)
def test_bad_options(options, problem):
    arguments = {"run": {"q": {"d": 1.0}}, "measures": "AP", **options}
    run = arguments.pop("run")
    with pytest.raises(ValueError, match=problem):
        hc.evaluate({"q": {"d": 2}}, run, **arguments)


@pytest.mark.parametrize("level", [2**40, -(10**9) - 1])
def test_levels_out_of_bounds(level):
    with pytest.raises(ValueError, match=f"row 1 is {level}: it must lie from -1000000000 to 1000000000"):
        hc.read_qrels({"q": {"a": 1, "b": level}})


@pytest.mark.parametrize("scores", [[2**63 + 1, 2**63, 1], [2**64 + 1, 1, 2], [2**53 + 1, 0.5, 1]])
def test_scores_that_a_list_would_round(scores):
    nested = {"q": dict(zip("abc", scores, strict=True))}
    for run in (nested, {"qid": ["q"] * 3, "docid": list("abc"), "score": scores}):
        with pytest.raises(ValueError, match=f"row 0 is {scores[0]}, which a double cannot hold"):
            hc.read_run(run)


def test_integer_ids_beyond_int64_stay_apart():
    ids = [2**63, 2**63 + 1, 1, 2**64]
    run = hc.read_run({"qid": ids, "docid": ids, "score": [1.0] * 4})
    found = hc.evaluate({str(one): {str(one): 1} for one in ids}, run, "AP")
    assert found.means == {"AP": 1.0}
    assert len(found.query_ids) == 4


@pytest.mark.parametrize("ids", [["1", 1, "2"], [1, "1", "2"], ["a", b"a", 2]])
@pytest.mark.parametrize("column", ["qid", "docid"])
def test_texts_and_numbers_are_no_ids_together(ids, column):
    row = next(i for i, one in enumerate(ids) if isinstance(one, int) != isinstance(ids[0], int))
    columns = {"qid": ["q"] * 3, "docid": ["a", "b", "c"], "score": [3, 2, 1], column: ids}
    with pytest.raises(TypeError, match=f"id in row {row} is {ids[row]!r}, after {ids[0]!r}"):
        hc.read_run(columns)
    with pytest.raises(ValueError, match="'1' occurs twice"):
        hc.read_run({"1": {"a": 1}, 1: {"b": 1}})


@pytest.mark.parametrize("column", ["qid", "docid", "score"])
def test_columns_of_masked_arrays_and_fractions(column):
    columns = {"qid": np.array([1, 1, 1]), "docid": np.array([1, 2, 3]), "score": np.array([1, 2, 3])}
    assert len(hc.read_run(columns)) == 1
    with pytest.raises(ValueError, match=f"column '{column}' is empty in row 1"):
        hc.read_run({**columns, column: np.ma.array([1, 2, 3], mask=[0, 1, 0])})
    with pytest.raises(ValueError, match=f"column '{column}' is empty in row 1"):
        hc.read_run({**columns, column: [1, np.ma.masked, 3]})
    with pytest.raises(ValueError, match="run: a value is a masked array with 1 masked entry: leave them out"):
        hc.read_run({"q": {"a": np.ma.masked, "b": 1.0}})
    if column != "score":
        with pytest.raises(TypeError, match=r"the (query|document) id in row 0 is 1\.0: ids are strings or whole"):
            hc.read_run({**columns, column: np.array([1.0, 2.0, 3.0])})


@pytest.mark.parametrize("column", ["qid", "docid", "score", "rank"])
@pytest.mark.parametrize("bad", [np.ones((3, 2), int), np.array(3), np.array([1]), [1], [1, 2, 3, 4]], ids=repr)
def test_columns_of_other_shapes(column, bad):
    columns = {"qid": [1, 1, 1], "docid": [1, 2, 3], "score": [3, 2, 1], "rank": [1, 2, 3]}
    wrong = (rf"column '{column}' must be one-dimensional|its columns have \d, \d and \d rows?$|"
             r"column 'rank' has \d rows?, the others have 3")  # fmt: skip
    with pytest.raises(ValueError, match=wrong):
        hc.read_run({**columns, column: bad})


@pytest.mark.parametrize("column", ["qid", "docid", "score"])
@pytest.mark.parametrize("dtype", ["string", "Int64", "category", "arrow", "polars"])
def test_cells_that_are_missing(column, dtype):
    columns = {"qid": [1, 1, 1], "docid": [1, 2, 3], "score": [3, 2, 1], column: [1, 2, None]}
    if dtype == "arrow":
        run = pytest.importorskip("pyarrow").table(columns)
    elif dtype == "polars":
        run = pytest.importorskip("polars").DataFrame(columns)
    else:
        pandas = pytest.importorskip("pandas")
        run = pandas.DataFrame(columns | {column: pandas.array(columns[column], "Int64").astype(dtype)})
    with pytest.raises(ValueError, match=rf"run: (column '{column}' is empty|the score) in row 2"):
        hc.read_run(run)


@pytest.mark.parametrize("source", [
    {}, {"a": {}, "b": {}}, {"a": {}, "x": {}}, *({"qid": one, "docid": one, "score": one} for one in (
        [], np.array([]), np.array([], int), np.array([], str))), "", "# only a note\n\n"], ids=repr)
@pytest.mark.parametrize("qrels", [{"a": {"d": 1}, "b": {"d": 0}},
                                   {"qid": np.array([1, 2]), "docid": np.array([1, 1]), "relevance": np.array([1, 0])}])
def test_an_empty_run_lacks_every_query(tmp_path, source, qrels):
    """`missing` says what that is: 0, no value, or an error. A warning and a note say that the run is empty."""
    run = write(tmp_path, "run", source) if isinstance(source, str) else source
    said = f"{run if isinstance(source, str) else 'run'}: the run has no documents: every query is "
    taken = [f"{one}: columns found by their names: 'qid' as the query, 'docid' as the document"
             for one, of in (("qrels", qrels), ("run", source)) if "qid" in of]  # fmt: skip
    for one in (run, hc.read_run(run)):
        with pytest.warns(UserWarning) as caught:
            found = hc.evaluate(qrels, one, ["AP", "NumRel", "nDCG", "infAP"])
        assert [str(one.message) for one in caught] == [said + "measured as if nothing was retrieved"]
        assert found.notes == [*taken, said + "measured as if nothing was retrieved"]
        assert (found.name, caught[0].filename) == ("run", __file__)
        assert found.means == {"AP": 0.0, "NumRel": 1.0, "nDCG": 0.0, "infAP": 0.0}
        assert (found.counts["missing"], found.counts["extra"], found.tie_report()) == (2, 0, {})
        assert found.level_strings() == ["", ""]
        with pytest.warns(UserWarning) as caught:
            found = hc.evaluate(qrels, one, ["AP", "NumRel"], missing="skip")
        assert [str(one.message) for one in caught] == [said + "left out"]
        assert found.notes == [*taken, said + "left out"]
        assert np.isnan(found.means["AP"])
        assert found.means["NumRel"] == 0
        assert found.query_ids == []
        with pytest.raises(ValueError, match=r"lacks queries '.', '.', which qrels has \(missing='raise'\)"):
            hc.evaluate(qrels, one, "AP", missing="raise")
    assert len(hc.read_run(run)) == 0


def test_a_query_without_documents_is_missing():
    qrels = {"a": {"d": 1}, "b": {"d": 1}}
    found = hc.evaluate(qrels, {"a": {"d": 1}, "b": {}, "x": {}}, "AP", missing="skip", extra="raise")
    assert (found.means, found.missing) == ({"AP": 1.0}, ["b"])


@pytest.mark.filterwarnings("ignore:.* scores rise in the order")
def test_ranks_beside_judgments_of_texts():
    run = hc.read_run({"qid": [1, 1, 2], "docid": [5, 4, 4], "score": [1.0, 2.0, 0.5], "rank": [1, 2, 1]})
    for qrels in ({"1": {"4": 1, "x": 0}, "2": {"4": 1}}, {1: {4: 1, 5: 0}, 2: {4: 1}}):
        assert hc.evaluate(qrels, run, "RR", rank_by="rank").values["RR"].tolist() == [0.5, 1.0]


def test_levels_and_depths_beyond_all():
    qrels, run = {"q": {"a": 1, "b": 2}}, {"q": {"a": 2.0, "b": 1.0}}
    for number in (2**62, 2**63, 2**70):
        assert hc.evaluate(qrels, run, "AP", depth=number).means == hc.evaluate(qrels, run, "AP").means
        assert hc.evaluate(qrels, run, "AP", relevance_level=number).means == {"AP": 0.0}
        assert hc.evaluate(qrels, run, "P@2", relevance_level=-number).means == {"P@2": 1.0}
    for depth in (0, -1, -(2**70)):
        with pytest.raises(ValueError, match=f"depth is {depth}: ranks start at 1"):
            hc.evaluate(qrels, run, "AP", depth=depth)


def test_the_largest_integer_is_no_score():
    problem = "run: the score in row 0 is 9223372036854775807, which a double cannot hold (query 'q', document 'a')"
    with pytest.raises(ValueError, match=re.escape(problem)):
        hc.read_run({"qid": ["q"], "docid": ["a"], "score": np.array([2**63 - 1])})


@pytest.mark.parametrize(
    "scores", [np.array([1, 2**53 + 1, 2]), np.array([np.nan, 1, 2], np.longdouble) + np.longdouble(2) ** -60]
)
def test_the_number_that_no_double_holds_is_named(scores):
    if scores.dtype.kind == "f" and scores.dtype.itemsize == 8:
        pytest.skip("long doubles are doubles here")
    problem = f"run: the score in row 1 is {scores[1]}, which a double cannot hold (query 'q', document 'b')"
    with pytest.raises(ValueError, match=re.escape(problem)):
        hc.read_run({"qid": list("pqq"), "docid": list("abc"), "score": scores})


@pytest.mark.parametrize(
    ("source", "place"),
    [("nested", "query"), ("nested", "document"), ("columns", "query"), ("columns", "document"), ("integers", "query")],
)
def test_ids_with_lone_surrogates(tmp_path, place, source):
    """Those that stand for a byte of a file that is no UTF-8 are that byte; others are in no file."""

    def one(value, odd):
        query, doc = ("q" + odd, "d") if place == "query" else ("q", "d" + odd)
        if source == "nested":
            return {query: {doc: value}}
        value_name = "relevance" if value == 1 else "score"
        doc = 7 if source == "integers" else doc
        return {"query_id": [query], "doc_id": np.array([doc]) if source == "integers" else [doc], value_name: [value]}

    odd = "\udcff\udc80"
    found = hc.evaluate(one(1, odd), one(2, odd), "AP")
    assert found.means == {"AP": 1.0}
    line = "q{} Q0 d{} 1 2 t\n".format(*((odd, "") if place == "query" else ("", odd)))
    file = write(tmp_path, "run", line.encode("utf-8", "surrogateescape"))
    for run in (file, hc.read_run(file)) if source != "integers" else ():
        assert hc.evaluate(one(1, odd), run, "AP").values["AP"].tolist() == [1.0]
    for text in ("\ud800", "a\udc7f", "\udd00"):
        for read, value in ((hc.read_run, 2), (hc.read_qrels, 1), (lambda run: hc.evaluate(one(1, "b"), run), 2)):
            with pytest.raises(ValueError, match=r"(run|qrels): an id is .*: UTF-8 cannot encode") as caught:
                read(one(value, text))
            assert type(caught.value) is ValueError
    pytest.importorskip("polars")
    assert found.to_polars()["query_id"].to_list() == ["q" + r"\xff\x80" * (place == "query")]


def test_measures_are_names():
    with pytest.raises(TypeError, match="measures must be names of measures, got None"):
        hc.evaluate({"q": {"d": 2}}, {"q": {"d": 1.0}}, ["AP", None])


def test_graded_measures_are_refused_on_curves():
    curve = hc.HitCurve([1, 0], [2.0, 1.0])
    for name in ("nDCG@10", "P(rel=2)@1", "AP(judged_only=True)"):
        with pytest.raises(ValueError, match=r"needs (judgments|items with levels)"):
            parse(name)(curve)


# ------------------------------------------------------------------------------------------- options and results


def test_orders_of_the_file_and_of_the_rank_column(tmp_path):
    run = write(tmp_path, "run", "q Q0 a 3 9 t\nq Q0 b 1 5 t\nq Q0 c 2 7 t\n")
    qrels = {"q": {"c": 1}}
    for rank_by, rank in (("score", 2), ("listed", 3), ("rank", 2)):
        for one in (run, hc.read_run(run)):
            with contextlib.nullcontext() if rank_by == "score" else pytest.warns(UserWarning) as said:
                found = hc.evaluate(qrels, one, "RR", rank_by=rank_by)
            assert found.means["RR"] == 1 / rank
            if rank_by != "score":
                text = f"scores rise in the order of rank_by='{rank_by}' in 1 query, first in 'q'"
                assert str(said[0].message).endswith(text)
            assert found.counts["contradicting"] == (rank_by != "score")
    same = write(tmp_path, "same", "q Q0 a 1 9 t\nq Q0 b 1 5 t\n")
    none = write(tmp_path, "none", "q Q0 a x 9 t\nq Q0 b 1 5 t\n")
    for path, problem in ((same, "line 2: another document of this query has the same rank"),
                          (none, "line 1: the rank is not a number")):
        for one in (path, hc.read_run(path)):
            with pytest.raises(ValueError, match=problem):
                hc.evaluate(qrels, one, "RR", rank_by="rank")
        assert hc.evaluate(qrels, path, "RR").means["RR"] == 0


def test_single_precision_ties_more():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.00000001, "b": 1.0}}
    assert hc.evaluate(qrels, run, "RR").means["RR"] == 1
    assert hc.evaluate(qrels, run, "RR", scores="float32").means["RR"] == 0.5
    assert hc.evaluate(qrels, hc.read_run(run), "RR", scores="float32").means["RR"] == 0.5


def test_recall_levels_of_each_version():
    qrels = {"q": dict.fromkeys("abc", 1)}
    run = {"q": dict(zip("axbyzc", (9, 8, 7, 6, 5, 4), strict=True))}
    names = [f"IPrec(levels={version})@0.4" for version in ("exact", "trec_eval9", "trec_eval10")]
    # 0.4 of 3 is 1.2: 2 hits exactly and by rounding up, 1 to the nearest.
    assert list(hc.evaluate(qrels, run, names).means.values()) == [2 / 3, 2 / 3, 1.0]
    exact = hc.evaluate(qrels, run, ["IPrecAvg", "AP(interp=11-point)"]).means
    assert exact["IPrecAvg"] == pytest.approx(exact["AP(interp=11-point)"], rel=1e-15)


def test_judged_only_and_depth():
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"x": 4, "b": 3, "y": 2, "a": 1}}
    assert hc.evaluate(qrels, run, ["RR", "RR(judged_only=True)"]).means == {"RR": 0.25, "RR(judged_only=True)": 0.5}
    assert hc.evaluate(qrels, run, ["RR", "NumRet"], judged_only=True).means == {"RR": 0.5, "NumRet": 2}
    assert hc.evaluate(qrels, run, ["RR", "NumRet"], depth=3).means == {"RR": 0, "NumRet": 3}


@given(
    st.dictionaries(st.integers(0, 30), st.sampled_from([None, -2, -1, 0, 1, 9, 12]), min_size=1, max_size=12),
    st.none() | st.integers(1, 14),
    st.booleans(),
    st.integers(1, 12),
)
def test_level_strings_are_of_the_documents_that_count(docs, depth, judged_only, length):
    """As in trec_eval: the first documents, then those of them with a judgment, then the first of these."""
    qrels = {f"d{i}": level for i, level in docs.items() if level is not None} | {"none": 1}
    run = {f"d{i}": i // 4 for i in docs}
    ranking = [qrels.get(doc) for doc in slow_ranking(run)][:depth]
    if judged_only:
        ranking = [level for level in ranking if level is not None and level >= 0]
    marks = ["-" if one is None else "." if one < 0 else ">" if one > 9 else str(one) for one in ranking]
    found = hc.evaluate({"q": qrels}, {"q": run}, "NumRet", depth=depth, judged_only=judged_only)
    assert found.level_strings(length) == ["".join(marks[:length])]
    assert found.means["NumRet"] == len(ranking)


def test_relstring_of_the_command_knows_its_options(files, capsys):
    qrels, run = files
    for options, wanted in ([], "1-"), (["-J"], "1"), (["-M", "1"], "1"), (["-M", "1", "-J"], "1"):
        main(["trec", str(qrels), str(run), "--format", "trec", "-q", "-m", "relstring", *options])
        assert capsys.readouterr().out.splitlines()[0].split() == ["relstring", "q1", f"'{wanted}'"]


def test_the_command_says_what_ties_leave_open_where_lower_is_better(tmp_path, capsys):
    qrels, run = write(tmp_path, "qrels", "q 0 a 1\n"), write(tmp_path, "run", "q Q0 a 1 1 t\nq Q0 b 1 1 t\n")
    main(["trec", str(qrels), str(run), "-m", "Unjudged@1"])
    assert "run: ties change the means: Unjudged@1 1.0000..0.0000 (see --ties)" in capsys.readouterr().err


def test_the_tie_report():
    found = hc.evaluate({"q": {"a": 1}}, {"q": {"a": 1, "b": 1}}, ["AP", "SetP", "IPrec@0"])
    report = found.tie_report()
    assert set(report) == {"AP", "IPrec@0"}
    assert report["AP"] == TieBand(0.5, 0.75, 1.0, 0.5)
    assert math.isnan(report["IPrec@0"].expected)
    assert hc.evaluate({"q": {"a": 1}}, {"q": {"a": 1, "b": 0}}, "AP").tie_report() == {}


def test_results_go_out(files):
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    found = hc.evaluate(*files, ["AP", "P@2"])
    assert repr(found).startswith("Evaluation('run.txt', 2 queries: AP ")
    assert json.loads(found.to_json())["means"] == found.means
    assert set(found.definitions) == {"AP", "P@2"}
    assert "relevant from level 1" in found.definitions["AP"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_results_go_out_as_frames(files, library):
    pytest.importorskip(library)
    frame = getattr(hc.evaluate(*files, ["AP", "P@2"]), f"to_{library}")()
    assert list(frame.columns) == ["query_id", "AP", "P@2"]
    assert len(frame) == 2


def all_of(found):
    return found.to_dict(), found.tie_report(), found.level_strings(), found.missing, found.extra, repr(found)


TIED = RUN.replace("2.5", "3.5").replace("-7", "1e-3") + "q3 Q0 x 1 1 tag\n"


@pytest.mark.filterwarnings("ignore:.* scores rise in the order")
@pytest.mark.parametrize(("ties", "rank_by"), [("docid", "score"), ("expected", "score"), ("docid", "listed")])
def test_results_are_pickled(files, tmp_path, ties, rank_by):
    run = write(tmp_path, "tied.txt", TIED)
    found = hc.evaluate(files[0], run, ["map", "P@2", "nDCG@3"], ties=ties, rank_by=rank_by)
    again = pickle.loads(pickle.dumps(found))
    assert all_of(again) == all_of(found)
    assert bool(again.tie_report()) == (rank_by == "score")
    assert {name: values.tobytes() for name, values in again.values.items()} == {
        name: values.tobytes() for name, values in found.values.items()
    }
    assert all_of(pickle.loads(pickle.dumps(again))) == all_of(copy.deepcopy(found)) == all_of(found)
    again.tie_report().clear()
    assert all_of(again) == all_of(found)


def test_results_come_back_from_processes(files, tmp_path):
    arguments = files[0], write(tmp_path, "tied.txt", TIED), ["AP", "P@2"]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply(hc.evaluate, arguments)
    assert all_of(found) == all_of(hc.evaluate(*arguments))


def test_ties_are_not_looked_at_before_they_are_asked_for(files, tmp_path, monkeypatch):
    read = []
    kernel = plans.measure
    monkeypatch.setattr(plans, "measure", lambda *arguments: read.append(arguments[1].reading) or kernel(*arguments))
    found = hc.evaluate(files[0], write(tmp_path, "tied.txt", TIED), "binG")
    assert "worst" not in read
    found.tie_report()
    assert "worst" in read


def test_runs_on_threads_and_one_by_one(tmp_path, files):
    written = [write(tmp_path, f"run{i}", RUN.replace("3.5", str(i))) for i in range(5)]
    one = [found.to_dict() for found in hc.evaluate(files[0], written, "all_trec")]
    many = [found.to_dict() for found in hc.evaluate(files[0], written, "all_trec", workers=3)]
    assert one == many


def test_depth_needs_ranks_in_names_too(files):
    with pytest.raises(ValueError, match=r"RR\(ties=worst\): depth=3 needs ranks, and ties='worst' resolves none"):
        hc.evaluate(files[0], files[1], ["AP", "RR(ties=worst)"], depth=3)


def test_every_sum_is_of_a_record_and_what_no_curve_has_is_a_sum():
    assert set(SUMS) - {"SetRelP"} <= {record.name for record in MEASURES if record.of_runs}
    others = [record for record in MEASURES if {"judged", "levels"} & {*record.of}]
    assert {record.name for record in others if "preferences" not in record.of} <= set(SUMS)
    assert {record.name for record in others if "preferences" in record.of} == set(KINDS) - {"NumQ"}


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_mark_of_utf8_is_no_part_of_an_id(tmp_path, ending):
    opened = gzip.open if ending else open
    qrels, run = tmp_path / f"qrels{ending}", tmp_path / f"run{ending}"
    for path, text in ((qrels, "q1 0 d1 1\nq2 0 d2 1\n"), (run, "q1 Q0 d1 1 2 t\nq1 Q0 d3 2 1 t\nq2 Q0 d2 1 1 t\n")):
        with opened(path, "wb") as file:
            file.write(b"\xef\xbb\xbf" + text.encode())
    assert hc.evaluate(qrels, run, "AP").means == {"AP": 1.0}
    assert hc.evaluate(hc.read_qrels(qrels), hc.read_run(run), "AP").query_ids == ["q1", "q2"]
