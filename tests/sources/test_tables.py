"""Files in: every kind and compression gives the same columns, and an error says where it is."""

import csv
import gzip
import io
import re
import sys
import time
from itertools import product

import numpy as np
import pytest
from covering import covering
from examples import few
from hypothesis import given
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

from blocks import read_columns, read_ids  # noqa: E402
from marks import open_mark  # noqa: E402

import hitcurve as hc  # noqa: E402
from hitcurve._base import files as _files  # noqa: E402
from hitcurve.sources import tables  # noqa: E402
from hitcurve.sources.tables import TableReader  # noqa: E402

ROWS = "id,label,score,set\n1,1,0.5,b\n2,0,3,a\n3,true,1e3,b\n4,FALSE,-inf,c\n"


@pytest.fixture(params=["one slab", "many slabs"])
def slabs(request, monkeypatch):
    """Files of a few lines, read as one piece (the careful way) and as many (all but the first the fast way)."""
    if request.param == "many slabs":
        monkeypatch.setattr(tables, "_FIRST_SLAB", 7)
        monkeypatch.setattr(tables, "_SLAB", 7)


def compressed(data, name):
    if name.endswith(".gz"):
        # Two members, as `cat a.gz b.gz` makes them.
        return gzip.compress(data[:20]) + gzip.compress(data[20:])
    if name.endswith((".zst", ".zstd")):
        return pa.compress(data, codec="zstd", asbytes=True)
    return data


def write(folder, name, text):
    data = text.encode() if isinstance(text, str) else text
    path = folder / name
    path.write_bytes(compressed(data, name))
    return path


def check_rows(found):
    np.testing.assert_array_equal(found.label, [1, 0, 1, 0])
    np.testing.assert_array_equal(found.score, [0.5, 3, 1000, -np.inf])
    np.testing.assert_array_equal(found.group, [1, 0, 1, 2])
    assert found.label.dtype == np.uint8
    assert found.score.dtype == np.float64
    assert found.group_names == ["a", "b", "c"]


@pytest.mark.usefixtures("slabs")
@pytest.mark.parametrize("ending", ["", ".gz", ".zst", ".zstd", ".GZ"])
@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".CSV", ","), (".tsv", "\t"), (".tab", "\t")])
def test_text_files(tmp_path, suffix, delimiter, ending):
    data = ROWS.replace(",", delimiter).encode()
    path = tmp_path / f"table{suffix}{ending}"
    path.write_bytes(compressed(data, path.name.lower()))
    check_rows(read_columns(path, "label", "score", "set"))
    check_rows(read_columns(str(path), 2, "3", 4))


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
@pytest.mark.parametrize("suffix", [".parquet", ".pq"])
def test_parquet(tmp_path, suffix, ending):
    table = pa.table(
        {
            "id": [1, 2, 3, 4],
            "label": [True, False, True, False],
            "score": [0.5, 3.0, 1000.0, -np.inf],
            "set": pa.array(["b", "a", "b", "c"]).dictionary_encode(),
        }
    )
    out = io.BytesIO()
    parquet.write_table(table, out)
    path = write(tmp_path, f"table{suffix}{ending}", out.getvalue())
    check_rows(read_columns(path, "label", "score", "set"))
    check_rows(read_columns(path, 2, "3", 4))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pa.array([1.5, 2], pa.float32()), np.array([1.5, 2], np.float32)),
        (pa.array(np.array([1.5, 2], np.float16)), np.array([1.5, 2], np.float16)),
        (pa.array([2**60 + 1, 2**60]), np.array([2**60 + 1, 2**60])),
        (pa.array([2**64 - 1, 0], pa.uint64()), np.array([2**64 - 1, 0], np.uint64)),
        (pa.array([3, -4], pa.int8()), np.array([3, -4], np.int8)),
        (pa.array([True, False]), np.array([1, 0], np.uint8)),
        (pa.array(["1.5", " 2 "]), np.array([1.5, 2])),
        (pa.array(["7", "8"], pa.large_string()), np.array([7, 8])),
        (pa.array([7, 8]).dictionary_encode(), np.array([7, 8])),
        (pa.array([1.5, 2]).cast(pa.decimal128(5, 2)), np.array([1.5, 2])),
    ],
    ids=lambda value: str(getattr(value, "type", "")),
)
def test_scores_of_parquet_keep_their_type(tmp_path, values, expected):
    parquet.write_table(pa.table({"y": [0, 1], "s": values}), tmp_path / "t.parquet")
    found = read_columns(tmp_path / "t.parquet", "y", "s").score
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "values",
    [
        [0, 1],
        [False, True],
        [0.0, 1.0],
        ["0", " 1 "],
        ["false", "TRUE"],
        ["0.0", "1.0"],
        pa.array(["0", "1"]).dictionary_encode(),
    ],
    ids=str,
)
def test_labels(tmp_path, values):
    parquet.write_table(pa.table({"y": values, "s": [1, 2]}), tmp_path / "t.parquet")
    np.testing.assert_array_equal(read_columns(tmp_path / "t.parquet", "y", "s").label, [0, 1])


@pytest.mark.usefixtures("slabs")
def test_integers_of_text_are_exact(tmp_path):
    path = write(tmp_path, "t.csv", "y,s\n1,9007199254740993\n0,9007199254740992\n")
    found = read_columns(path, "y", "s").score
    assert found.tolist() == [9007199254740993, 9007199254740992]
    assert found.dtype == np.int64


def test_a_column_turns_float_in_a_later_block(tmp_path):
    rows = 300_000
    path = write(tmp_path, "t.csv", "y,s\n" + "1,3\n" * rows + "0,0.5\n")
    found = read_columns(path, "y", "s")
    assert found.score.dtype == np.float64
    assert found.score[-1] == 0.5
    assert found.label.sum() == rows


@pytest.mark.usefixtures("slabs")
@pytest.mark.parametrize(
    ("ids", "names", "codes"),
    [
        (["10", "9", "10"], [9, 10], [1, 0, 1]),
        (["10", "09", "10"], ["09", "10"], [1, 0, 1]),
        (["10", "9", "x"], ["10", "9", "x"], [0, 1, 2]),
    ],
)
def test_groups_sort_as_numbers_only_if_all_are(tmp_path, ids, names, codes):
    path = write(tmp_path, "t.csv", "y,s,g\n" + "".join(f"1,2,{one}\n" for one in ids))
    found = read_columns(path, "y", "s", "g")
    assert found.group_names == names
    assert found.group.tolist() == codes


def test_groups_over_many_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_SLAB", 20_000)
    # Each block meets the groups in another order.
    rng = np.random.default_rng(0)
    ids = rng.integers(0, 50, 30_000)
    path = write(tmp_path, "t.csv", "y,s,g\n" + "".join(f"1,2,g{one}\n" for one in ids))
    found = read_columns(path, "y", "s", "g")
    names = np.array(found.group_names)
    assert names.tolist() == sorted(f"g{one}" for one in range(50))
    np.testing.assert_array_equal(names[found.group], np.char.add("g", ids.astype(str)))


@pytest.mark.usefixtures("slabs")
def test_only_the_columns_asked_for_are_read(tmp_path):
    path = write(tmp_path, "t.csv", b"y,s,note\n1,2,\xff\xfe\n0,3,\xff\n")
    assert read_columns(path, "y", "s").score.tolist() == [2, 3]


@pytest.mark.usefixtures("slabs")
def test_text_as_it_comes(tmp_path):
    text = '\ufeff"y","s, the score",t\r\n\r\n1, 2.5 ,"two\nlines"\r\n\r\n0,+3,x\r\n'
    found = read_columns(write(tmp_path, "t.csv", text), "y", "s, the score")
    assert found.label.tolist() == [1, 0]
    assert found.score.tolist() == [2.5, 3]


def test_large_floats_are_scores(tmp_path):
    path = write(tmp_path, "t.csv", "y,s\n1,1e300\n0,9007199254740994\n0,\n0,-1.7e19\n")
    found = read_columns(path, "y", "s", nan_policy="worst").score
    np.testing.assert_array_equal(found, [1e300, 9007199254740994, np.nan, -1.7e19])


def test_decimals_that_a_float_cannot_tell_apart(tmp_path):
    """Whatever stands beside them: what the other batches hold is not known."""
    digits = ["0.123456789012345679", "0.123456789012345678"]
    for texts in (digits, [digits[0], "2.5"], ["0.123456789012345680", "2.5"]):
        column = pa.array(texts).cast(pa.decimal128(38, 18))
        parquet.write_table(pa.table({"y": [1, 0], "s": column}), tmp_path / "t.parquet")
        if digits[0] in texts:
            with pytest.raises(ValueError, match=rf"row 1, column 's': the score {digits[0]} has digits that no"):
                read_columns(tmp_path / "t.parquet", "y", "s")
        else:
            assert read_columns(tmp_path / "t.parquet", "y", "s").score.tolist() == [float(text) for text in texts]


def test_a_page_whose_checksum_is_wrong(tmp_path):
    rows = pa.table({"y": np.arange(5_000) % 2, "s": np.random.default_rng(0).random(5_000)})
    options = {"compression": "none", "use_dictionary": False, "write_page_checksum": True}
    parquet.write_table(rows, tmp_path / "t.parquet", **options)
    data = bytearray((tmp_path / "t.parquet").read_bytes())
    data[60_000] ^= 1
    (tmp_path / "t.parquet").write_bytes(data)
    with pytest.raises(ValueError, match=r"t\.parquet: .*checksum"):
        read_columns(tmp_path / "t.parquet", "y", "s")


def test_columns_of_one_name_in_parquet(tmp_path):
    columns = pa.Table.from_arrays([pa.array([1, 0]), pa.array([2.0, 3.0]), pa.array([5.0, 4.0])], ["y", "s", "s"])
    parquet.write_table(columns, tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="2 columns are called 's'; give a number: 2, 3"):
        read_columns(tmp_path / "t.parquet", "y", "s")
    assert read_columns(tmp_path / "t.parquet", "y", 2).score.tolist() == [2, 3]
    assert read_columns(tmp_path / "t.parquet", "y", 3).score.tolist() == [5, 4]


@pytest.mark.parametrize(("wanted", "threads"), [(64, 2), (-1, 1), (1, 1)])
def test_no_more_threads_than_cores(wanted, threads, monkeypatch):
    monkeypatch.setattr("hitcurve._base.workers.cores", lambda: 2)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert TableReader(["a.csv"], "y", ["s"], workers=wanted).workers == threads


def test_a_repeated_name_needs_a_number(tmp_path):
    path = write(tmp_path, "t.csv", "y,s,s\n1,2,3\n")
    assert read_columns(path, "y", 3).score.tolist() == [3]
    with pytest.raises(ValueError, match=re.escape(f"{path}: 2 columns are called 's'; give a number: 2, 3")):
        read_columns(path, "y", "s")


def test_a_name_goes_before_a_number(tmp_path):
    path = write(tmp_path, "t.csv", "0,1,2\n1,5,6\n")
    assert read_columns(path, "0", "1").score.tolist() == [5]
    assert read_columns(path, "0", 3).score.tolist() == [6]


@pytest.mark.usefixtures("slabs")
def test_no_header(tmp_path):
    path = write(tmp_path, "t.csv", "0,0.5\n1,2\n")
    found = read_columns(path, 1, 2, header=False)
    assert found.label.tolist() == [0, 1]
    assert found.score.tolist() == [0.5, 2]


@pytest.mark.usefixtures("slabs")
def test_a_file_without_rows(tmp_path):
    for text, header in (("y,s\n", True), ("y,s", True), ("y,s\n\n", True), ("", False)):
        found = read_columns(write(tmp_path, "t.csv", text), 1, 2, 1, header=header)
        assert found.label.shape == found.score.shape == found.group.shape == (0,)
        assert found.group_names == []


@pytest.mark.usefixtures("slabs")
def test_standard_input(monkeypatch):
    class Stdin:
        buffer = io.BufferedReader(io.BytesIO(ROWS.encode()))

    monkeypatch.setattr(sys, "stdin", Stdin)
    check_rows(read_columns("-", "label", "score", "set"))


@pytest.mark.usefixtures("slabs")
@pytest.mark.parametrize("missing", ["", "nan", "NaN", "NA", "null"])
def test_missing_scores(tmp_path, missing):
    path = write(tmp_path, "t.csv", f"y,s\n1,2\n0,{missing}\n")
    for policy in ("worst", "omit"):
        np.testing.assert_array_equal(read_columns(path, "y", "s", nan_policy=policy).score, [2, np.nan])
    value = repr(missing) if missing else "empty"
    with pytest.raises(ValueError) as error:
        read_columns(path, "y", "s")
    assert f"{path}: row 2 (line 3), column 's': the score is {value}: give nan_policy=" in str(error.value)


def test_missing_scores_in_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"y": [1, 0], "s": [2, None]}), path)
    np.testing.assert_array_equal(read_columns(path, "y", "s", nan_policy="worst").score, [2, np.nan])
    with pytest.raises(ValueError, match="row 2, column 's': the score is empty"):
        read_columns(path, "y", "s")


BAD_TEXT = [
    ("y,s\n1,2\n0,abc\n", "row 2 (line 3), column 's': the score is 'abc', not a number"),
    ("y,s\n1,2\n0,1_0\n", "row 2 (line 3), column 's': the score is '1_0', not a number"),
    ("y,s\n1,0x10\n", "row 1 (line 2), column 's': the score is '0x10', not a number"),
    ('y,s\n1,0.5\n1,"0,5"\n', "row 2 (line 3), column 's': the score is '0,5', not a number"),
    ("y,s\n1,NA\n0,abc\n", "row 2 (line 3), column 's': the score is 'abc', not a number"),
    ("y,s\n1,2\n2,3\n", "row 2 (line 3), column 'y': the label is '2': labels must be 0 or 1, False or True"),
    ("y,s\n1,2\n,3\n", "row 2 (line 3), column 'y': the label is empty: labels must be 0 or 1, False or True"),
    ("y,s\n1,2\n\n\nyes,3\n", "row 2 (line 5), column 'y': the label is 'yes'"),
    ('y,s,t\n1,2,"a\nb\nc"\n7,3,x\n', "row 2 (line 5), column 'y': the label is '7'"),
    ("y,s\n1,2\n0\n", "row 2 (line 3): the row has 1 cell, but the first line has 2: '0'"),
    ("y,s\n1,2\n\n0,3,4\n", "row 2 (line 4): the row has 3 cells, but the first line has 2: '0,3,4'"),
    ("y,s\n1," + "x" * 100 + "\n", "the score is '" + "x" * 56 + "..., not a number"),
    ("", "there is no line with column names"),
    ("0,0.5\n1,2\n", "there is no column 'y'; the columns are '0', '0.5'"),
    ("yy,s\n1,2\n", "there is no column 'y'; did you mean 'yy'? the columns are 'yy', 's'"),
    ("y|s\n1|2\n", "there is no column 'y'; the columns are 'y|s'"),
    (",".join(f"c{n}" for n in range(30)) + "\n", "'c19' and 10 more"),
    (b"y,s\n1,\xff\n", "row 1 (line 2), column 's': b'\\xff' is not UTF-8"),
    ("y,s\n1,18446744073709551615\n0,18446744073709551614\n", "row 1 (line 2), column 's': the score "
     "'18446744073709551615' is a whole number that no float64 holds, and not all scores are signed integers of"),
    ("y,s\n1,0.5\n0,9007199254740993\n", "row 2 (line 3), column 's': the score '9007199254740993' is a whole number"),
    ("y,s\n1,0.5\n0,1e400\n", "row 2 (line 3), column 's': the score '1e400' is beyond the range of float64"),
    ("y,s\n1,2\n0,-1e999\n", "row 2 (line 3), column 's': the score '-1e999' is beyond the range of float64"),
    ("y,s\n1," + "1" * 5000 + "\n0,2\n", "row 1 (line 2), column 's': the score '1111"),
    ("y,s\n1,0.5\n0,2\n1,-9223372036854775809\n", "row 3 (line 4), column 's': the score '-9223372036854775809' is"),
]

# By itself many slabs.
BAD_LONG_TEXT = [
    ("y,s\n" + "1,2\n" * 30_000 + "1,x\n", "row 30001 (line 30002), column 's': the score is 'x', not a number"),
    ("y,s\n" + "1,2\n" * 30_000 + "1,1e309\n", "row 30001 (line 30002), column 's': the score '1e309' is beyond"),
    ("y,s\n" + "1,2\n" * 30_000 + "1\n", "row 30001 (line 30002): the row has 1 cell, but the first line has 2"),
    (b"y,s\n" + b"0,1.5\n" * 30_000 + b"1,\xff\n", "row 30001 (line 30002), column 's': b'\\xff' is not UTF-8"),
]


def check_bad_text(path, problem):
    with pytest.raises(ValueError) as error:
        read_columns(path, "y", "s")
    assert str(error.value).startswith(f"{path}: ")
    assert problem in str(error.value)


@pytest.mark.parametrize(("text", "problem"), BAD_TEXT, ids=range(len(BAD_TEXT)))
@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.usefixtures("slabs")
def test_bad_text(tmp_path, text, problem, ending):
    check_bad_text(write(tmp_path, f"t.csv{ending}", text), problem)


@pytest.mark.parametrize(("text", "problem"), BAD_LONG_TEXT, ids=range(len(BAD_LONG_TEXT)))
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_bad_text_far_down(tmp_path, text, problem, ending):
    check_bad_text(write(tmp_path, f"t.csv{ending}", text), problem)


@pytest.mark.usefixtures("slabs")
def test_an_empty_group(tmp_path):
    path = write(tmp_path, "t.csv", "y,s,g\n1,2,a\n0,3,\n")
    with pytest.raises(ValueError, match=re.escape(f"{path}: row 2 (line 3), column 'g': the group is empty")):
        read_columns(path, "y", "s", "g")


@pytest.mark.usefixtures("slabs")
def test_bad_rows_of_standard_input(monkeypatch):
    class Stdin:
        buffer = io.BufferedReader(io.BytesIO(b"y,s\n1,2\n0,x\n"))

    monkeypatch.setattr(sys, "stdin", Stdin)
    with pytest.raises(ValueError, match="standard input: row 2, column 's': the score is 'x', not a number"):
        read_columns("-", "y", "s")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("y", 9), "there is no column 9: the file has 3"),
        (("y", "0"), "column '0': without column names, a column must be a number from 1 up"),
        ((3, "s"), "column 3: the column holds timestamp[ms]: labels must be 0 or 1, False or True"),
        (("y", "when"), "column 'when': the column holds timestamp[ms], not numbers"),
        (("s", "y"), "row 1, column 's': the label is 0.5: labels must be 0 or 1, False or True"),
    ],
)
def test_bad_parquet(tmp_path, arguments, problem):
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"y": [1, 0], "s": [0.5, 2], "when": pa.array([1, 2], pa.timestamp("ms"))}), path)
    with pytest.raises(ValueError) as error:
        read_columns(path, *arguments)
    assert str(error.value) == f"{path}: {problem}"


def test_texts_that_are_no_unicode(tmp_path):
    """A lone surrogate is written in three bytes that are not UTF-8."""
    offsets = pa.py_buffer(np.array([0, 1, 4], np.int32))
    text = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"1\xed\xa0\x80")])
    path = tmp_path / "t.parquet"
    for cells in (text, text.cast(pa.large_string(), safe=False), text.dictionary_encode()):
        parquet.write_table(pa.table({"y": [1, 0], "s": [0.5, 2], "t": cells}), path, use_dictionary=False)
        problem = re.escape(f"{path}: row 2, column 't': b'\\xed\\xa0\\x80' is not UTF-8")
        for columns in (("t", "s"), ("y", "t"), ("y", "s", "t")):
            with pytest.raises(ValueError, match=problem):
                read_columns(path, *columns)
        with pytest.raises(ValueError, match=problem):
            list(TableReader([path], "y", ["s"], ids="t"))
        with pytest.raises(ValueError, match=r"t\.parquet: column 't': b'.*' is not UTF-8"):
            read_ids(path, "t")
    with pytest.raises(ValueError, match=r"actives: 'a\\ud800' holds a lone surrogate"):
        TableReader([path], None, ["s"], ids="t", actives=["b", "a\ud800"])


def test_no_header_errors(tmp_path):
    path = write(tmp_path, "t.csv", "1,2\n0,3\n")
    with pytest.raises(ValueError, match="column 'y': without column names, a column must be a number from 1 up"):
        read_columns(path, "y", 2, header=False)
    with pytest.raises(ValueError, match="the first line has fewer than 7 columns"):
        read_columns(path, 1, 7, header=False)
    problem = re.escape("the first line holds a label ('1') and a score ('2') where column names should be")
    for label, score in ((1, 2), ("1", "2")):
        with pytest.raises(ValueError, match=problem):
            read_columns(path, label, score)


@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv.zst", "t.parquet", "t.parquet.gz"])
def test_broken_files(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"y,s\n1,2\n")
    with pytest.raises(ValueError, match=re.escape(f"{path}: ")):
        read_columns(path, 1, 2)


def test_a_truncated_file(tmp_path):
    text = "y,s\n" + "".join(f"1,{value}\n" for value in np.random.default_rng(0).random(1000))
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(text.encode())[:-500])
    with pytest.raises(ValueError, match=re.escape(f"{path}: cannot be read: ")):
        read_columns(path, "y", "s")


def test_other_calls(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_columns(tmp_path / "none.csv", 1, 2)
    with pytest.raises(ValueError, match=r"scores\.txt: the name must end in \.csv, \.tsv, \.tab, \.parquet, \.pq"):
        read_columns("scores.txt", 1, 2)
    with pytest.raises(ValueError, match="nan_policy='drop' is unknown: must be one of 'raise', 'worst', 'omit'"):
        read_columns("scores.csv", 1, 2, nan_policy="drop")


# --- many slabs, scores, files ------------------------------------------------------------------------------


def slow_twin(text, label, score):
    """Labels and scores by the csv module."""
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    return [int(row[label]) for row in rows], [float(row[score] or "nan") for row in rows]


CELLS = st.tuples(
    st.sampled_from(["0", "1"]),
    st.sampled_from(["1", "-3", "0.5", "1e3", "inf", "", "9007199254740992", " 2"]),
    # In quotation marks, or without them: such a mark amid a cell is a character as any other.
    st.sampled_from(
        ['"a"', '"a\nb"', '"say ""x"""', '"\n\n"', '","', '""', '"""\n"', '"a"b', '"a" "b"', "", "a", '5" pipe', 'a"b"']
    ),
)


@few(25)
@given(
    rows=st.lists(CELLS, max_size=12),
    size=st.integers(1, 60),
    workers=st.sampled_from([1, 3]),
    end=st.sampled_from(["\r\n", "\n", "\r"]),
    last=st.booleans(),
)
def test_where_slabs_end_does_not_matter(tmp_path_factory, rows, size, workers, end, last):
    lines = (f"{y},{s},{note}" if last else f"{note},{s},{y}" for y, s, note in rows)
    text = "".join(line + end for line in ["y,s,note" if last else "note,s,y", *lines])
    path = tmp_path_factory.mktemp("slabs") / "t.csv"
    path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_FIRST_SLAB", size)
        patch.setattr(tables, "_SLAB", size)
        found = read_columns(path, "y", "s", nan_policy="worst", workers=workers)
    label, score = slow_twin(text, "y", "s")
    assert found.label.tolist() == label
    np.testing.assert_array_equal(found.score, np.array(score))


MARKED = {
    "rows": st.lists(CELLS, min_size=1, max_size=12),
    "place": st.tuples(st.integers(0, 12), st.integers(0, 2), st.sampled_from(['"', '"x', '""', '"""', "5\" "])),
    "order": st.permutations(range(3)),
    "end": st.sampled_from(["\r\n", "\n", "\r"]),
    "closed": st.booleans(),
}


def marked(rows, place, order, end, closed, head):
    """The text of a table with one more quotation mark where a cell begins."""
    table = [list(head), *map(list, rows)]
    row, column, mark = place
    table[row % len(table)][column] = mark + table[row % len(table)][column]
    return end.join(",".join(line[at] for at in order) for line in table) + end * closed


@few(25)
@given(
    size=st.integers(1, 60),
    workers=st.sampled_from([1, 3]),
    suffix=st.sampled_from([".csv", ".csv.gz"]),
    header=st.booleans(),
    **MARKED,
)
def test_a_quotation_mark_that_is_not_closed(
    tmp_path_factory, rows, place, order, end, closed, size, workers, suffix, header
):
    text = marked(rows, place, order, end, closed, ("y", "s", "note") if header else ("1", "2", "note"))
    path = write(tmp_path_factory.mktemp("marks"), f"t{suffix}", text.encode())
    columns = ("y", "s") if header else (order.index(0) + 1, order.index(1) + 1)

    def read():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tables, "_FIRST_SLAB", size)
            patch.setattr(tables, "_SLAB", size)
            return read_columns(path, *columns, nan_policy="worst", workers=workers, header=header)

    line = open_mark(text)
    if line is not None:
        with pytest.raises(ValueError, match=re.escape(str(path))) as error:
            read()
        if "quotation mark" not in str(error.value):  # the rows before are bad too
            path.write_bytes(compressed("".join(text.splitlines(True)[: line - 1]).encode(), suffix))
            with pytest.raises(ValueError, match=re.escape(str(error.value))):
                read()
        else:
            assert str(error.value).startswith(f"{path}: line {line}: the quotation mark that begins the cell '\"")
        return
    head = "" if header else ",".join(f"{at}" for at in (1, 2, 3)) + end
    try:
        label, score = slow_twin(head + text, *map(str, columns))
    except (KeyError, TypeError, ValueError):
        with pytest.raises(ValueError, match=re.escape(str(path))):
            read()
    else:
        found = read()
        assert found.label.tolist() == label
        np.testing.assert_array_equal(found.score, score)


CELLS = st.sampled_from(["a", "NA", "", " ", "b c", "1", "7.0", '"q"', '"x,y"', "\ufeffz", "é", "nan", "\r", "'", "\t"])


@given(
    rows=st.lists(st.lists(CELLS, min_size=0, max_size=4), max_size=6),
    width=st.integers(1, 3), even=st.booleans(), end=st.sampled_from(["\n", "\r\n"]), last=st.booleans(),
    delimiter=st.sampled_from([",", ";", "\t"]), broken=st.booleans(),
)  # fmt: skip
def test_arrow_reads_compounds_as_the_csv_module_does(tmp_path_factory, rows, width, even, end, last, delimiter,
                                                      broken):  # fmt: skip
    if even:
        rows = [(row + ["v"] * width)[:width] for row in rows]
    lines = [delimiter.join(row) for row in (["id", "g", "y"][:width], *rows)]
    data = end.join(lines).encode() + end.encode() * last + b"\xff" * broken
    path = write(tmp_path_factory.mktemp("compounds"), "l.csv", data)

    def outcome():
        try:
            read = tables.read_columns(path, "id", ("y", "g", "no"))
            return [None if one is None else one.to_pylist() for one in read]
        except ValueError as error:
            return str(error)

    found = outcome()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_arrow_columns", lambda *_: None)
        assert found == outcome()


@few(25)
@given(**MARKED)
def test_a_quotation_mark_that_is_not_closed_in_a_list_of_ids(tmp_path_factory, rows, place, order, end, closed):
    text = marked(rows, place, order, end, closed, ("y", "s", "note"))
    path = write(tmp_path_factory.mktemp("marks"), "ids.csv", text.encode())
    line = open_mark(text)
    if line is not None:
        with pytest.raises(ValueError, match=rf"ids\.csv: line {line}: the quotation mark that begins the cell"):
            read_ids(path, "note")
    else:
        table = list(csv.reader(io.StringIO(text, newline="")))
        at = table[0].index("note") if "note" in table[0] else 0
        if any(0 < len(row) <= at for row in table[1:]):
            with pytest.raises(ValueError, match=rf"line \d+: the ids are in column {at + 1}, but the row ends at"):
                read_ids(path, "note")
            return
        ids = (row[at].strip() for row in table[1:] if row)
        assert read_ids(path, "note") == list(dict.fromkeys(filter(None, ids)))


LARGE = [(1_000, 1, ".tsv.gz"), (1_000, 2, ".csv"), (1_000, -1, ".csv"), (100_000, 1, ".csv"), (100_000, -1, ".tsv.gz")]


@pytest.mark.parametrize(
    ("rows", "row", "suffix"),
    [pytest.param(*case, marks=() if case in LARGE else pytest.mark.slow)
     for case in product([1_000, 100_000], [1, 2, -1], [".csv", ".tsv.gz"])],
)  # fmt: skip
def test_a_quotation_mark_that_is_not_closed_in_a_large_file(tmp_path, rows, row, suffix):
    lines = ["y,s,note", *(f"{at % 2},{at},name{at}" for at in range(rows))]
    lines[row] = lines[row].replace("name", '"name')
    text = "\n".join(lines) + "\n"
    path = write(tmp_path, f"t{suffix}", text.replace(",", "\t" if "tsv" in suffix else ",").encode())
    begun = time.process_time()
    for way in (lambda: hc.scan(path, "y", "s"), lambda: read_columns(path, "y", "s"), lambda: read_ids(path, "y")):
        with pytest.raises(ValueError, match=rf": line {row % len(lines) + 1}: the quotation mark .* is not closed$"):
            way()
    assert time.process_time() - begun < 20  # where time grew with the square it was minutes


def test_a_cell_that_is_too_long(tmp_path, monkeypatch):
    monkeypatch.setattr(_files, "LONGEST", 1 << 18)
    lines = "0,1,text\n" * 75_000
    for rest in (lines, lines + '0,1,"x"\n', lines + '"\n'):
        path = write(tmp_path, "t.csv", f'y,s,note\n1,2,"text\n{rest}'.encode())
        with pytest.raises(ValueError, match=r"line 2: the quotation mark that begins the cell '\"text' is not closed"):
            read_columns(path, "y", "s")


@pytest.mark.parametrize(
    ("first", "end", "header", "suffix"),
    covering(['5" pipe', "none", 'a"b"c', '"" x'], ["\n", "\r\n", "\r"], [True, False], [".csv", ".csv.gz"]),
)
def test_quotation_marks_in_a_large_file(tmp_path, monkeypatch, first, end, header, suffix):
    monkeypatch.setattr(tables, "_FIRST_SLAB", 1 << 13)
    rows = [f'1,{at},"two{end}lines, and ""marks"""' for at in range(400)]  # beyond the part read cell by cell
    lines = [*(["y,s,note"] if header else []), f"0,-1,{first}", *rows]
    path = write(tmp_path, f"t{suffix}", (end.join(lines) + end).encode())
    assert sum(map(len, lines)) > 1.3 * tables._FIRST_SLAB
    found = read_columns(path, 1, 2, header=header)
    assert found.score.tolist() == list(range(-1, 400))
    path = write(tmp_path, f"t{suffix}", (end.join([*lines, "1,x,"]) + end).encode())
    with pytest.raises(ValueError, match=rf"row 402 \(line {802 + header}\), column .*: the score is 'x'"):
        read_columns(path, 1, 2, header=header)


def test_what_the_csv_module_refuses_has_an_error_of_its_own(tmp_path):
    path = write(tmp_path, "t.csv", "y,s\n1,2\r0,3\n1,x\n")
    with pytest.raises(ValueError, match=r"row 3, column 's': the score is 'x'"):
        read_columns(path, "y", "s")
    path = write(tmp_path, "t.csv", f'y,s,t\n1,2,"{"a" * 200_000}"\n1,x,\n')
    with pytest.raises(ValueError, match=r"row 2, column 's': the score is 'x'"):
        read_columns(path, "y", "s")
    path = write(tmp_path, "t.csv", "y" * 200_000 + ",s\n1,2\n")
    with pytest.raises(ValueError, match=r"t\.csv: field larger than field limit"):
        read_columns(path, 1, 2)
    assert read_ids(write(tmp_path, "ids.csv", "name\rx\ry\r")) == ["x", "y"]
    assert read_ids(write(tmp_path, "ids.txt", "x\ry\r")) == ["x", "y"]
    with pytest.raises(ValueError, match=r"ids\.csv: new-line character"):
        read_ids(write(tmp_path, "ids.csv", "name\nx\ry\n"))


@pytest.mark.usefixtures("slabs")
def test_several_scores_groups_and_ids(tmp_path):
    path = write(tmp_path, "t.csv", "id,y,a,b,g\n x ,1,1,0.5,u\nz,0,2,,v\ny,true,3,7,u\n")
    batches = list(TableReader([path], "y", ["b", "a"], "g", ids="id", nan_policy="worst"))
    assert np.concatenate([batch.label for batch in batches]).tolist() == [1, 0, 1]
    np.testing.assert_array_equal(np.concatenate([batch.scores[0] for batch in batches]), [0.5, np.nan, 7])
    ones = np.concatenate([batch.scores[1] for batch in batches])
    assert ones.tolist() == [1, 2, 3]
    assert ones.dtype == np.int64
    assert [one for batch in batches for one in batch.ids.to_pylist()] == ["x", "z", "y"]
    assert np.concatenate([batch.group for batch in batches]).tolist() == [0, 1, 0]


def test_a_reader_reads_again(tmp_path):
    path = write(tmp_path, "t.csv", "y,s,g\n1,2,b\n0,3,a\n")
    reader = TableReader([path], "y", ["s"], "g")
    first, second = list(reader), list(reader)
    assert list(reader.codes) == ["b", "a"]
    assert [batch.group.tolist() for batch in first] == [batch.group.tolist() for batch in second] == [[0, 1]]
    rank, names = reader.group_order()
    assert (rank.tolist(), names) == ([1, 0], ["a", "b"])


def test_several_files(tmp_path):
    one = write(tmp_path, "one.csv", "y,s,g\n1,2,b\n")
    two = write(tmp_path, "two.tsv.gz", "g\ts\ty\na\t3\t0\nb\t0.5\t1\n")
    three = tmp_path / "three.parquet"
    parquet.write_table(pa.table({"s": [1.5], "y": [0], "g": ["c"]}), three)
    batches = list(TableReader([one, two, three], "y", ["s"], "g"))
    assert np.concatenate([batch.scores[0] for batch in batches]).tolist() == [2, 3, 0.5, 1.5]
    assert np.concatenate([batch.group for batch in batches]).tolist() == [0, 1, 0, 2]
    reader = TableReader([one, two], "y", ["s"], by_file=True)
    assert np.concatenate([batch.group for batch in reader]).tolist() == [0, 1, 1]
    assert reader.group_order()[1] == ["one.csv", "two.tsv.gz"]
    (tmp_path / "more").mkdir()
    again = write(tmp_path / "more", "one.csv", "y,s\n1,2\n")
    reader = TableReader([one, again], "y", ["s"], by_file=True)
    assert np.concatenate([batch.group for batch in reader]).tolist() == [0, 1]
    assert reader.group_order()[1] == [str(one), str(again)]
    bad = write(tmp_path, "bad.csv", "y,s\n1,2\n0,x\n")
    with pytest.raises(ValueError, match=re.escape(f"{bad}: row 2 (line 3), column 's': the score is 'x'")):
        list(TableReader([one, bad], "y", ["s"]))


@pytest.mark.usefixtures("slabs")
def test_actives_by_id(tmp_path):
    path = write(tmp_path, "t.csv", "id,s\n12,0.5\n7,1\n 9,2\n12,3\n")
    actives = write(tmp_path, "actives.txt", "9\n\n 12 \nnone\n9\n")
    assert read_ids(actives) == ["9", "12", "none"]
    reader = TableReader([path], None, ["s"], ids="id", actives=read_ids(actives))
    assert np.concatenate([batch.label for batch in reader]).tolist() == [1, 0, 1, 1]
    assert reader.actives.missing() == [(None, "none")]
    parquet.write_table(pa.table({"id": [12, 7], "s": [1, 2]}), tmp_path / "t.parquet")
    reader = TableReader([tmp_path / "t.parquet"], None, ["s"], ids="id", actives=["12"])
    assert [batch.label.tolist() for batch in reader] == [[1, 0]]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.smi", "CCO c1\nC#N  c2\n"),
        ("a.csv", "x,id\n1,c1\n2,c2\n"),
        ("a.tsv.gz", "other\tid\n1\tc1\n1\tc2\n"),
        ("a.csv", "name\nc1\nc2\nc1\n"),
        ("a", "\ufeffc1\nc2"),
    ],
)
def test_lists_of_ids(tmp_path, name, text):
    assert read_ids(write(tmp_path, name, text), "id") == ["c1", "c2"]


def test_lists_of_ids_in_parquet(tmp_path):
    parquet.write_table(pa.table({"x": [1], "id": [5]}), tmp_path / "a.parquet")
    assert read_ids(tmp_path / "a.parquet", "id") == ["5"]
    assert read_ids(tmp_path / "a.parquet") == ["1"]
    with pytest.raises(ValueError, match="a list of ids is a text"):
        read_ids(write(tmp_path, "a.sdf", ""))


def test_readers_that_make_no_sense():
    with pytest.raises(ValueError, match="give exactly one of label, grade and actives"):
        TableReader(["t.csv"], None, ["s"])
    with pytest.raises(ValueError, match="ids does not name the column of the ids"):
        TableReader(["t.csv"], None, ["s"], actives=["a"])
    with pytest.raises(ValueError, match="workers is 0: must be at least 1, or -1 for all cores"):
        TableReader(["t.csv"], "y", ["s"], workers=0)
    with pytest.raises(ValueError, match="by_file and group are both given"):
        TableReader(["t.csv"], "y", ["s"], "g", by_file=True)


@pytest.mark.usefixtures("slabs")
def test_an_empty_id(tmp_path):
    path = write(tmp_path, "t.csv", "id,y,s\na,1,2\n ,1,2\n")
    with pytest.raises(ValueError, match=re.escape(f"{path}: row 2 (line 3), column 'id': the id is empty")):
        list(TableReader([path], "y", ["s"], ids="id"))


# --- SMILES and SDF -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("slabs")
@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("smiles name score active\nC#N a -7.5 1\nc1ccccc1 b -6 0\n", ("active", "score", "name")),
        ("C#N   a -7.5 1 \n\n  c1ccccc1 b\t-6 0\n", (4, 3, 2)),
        ("C#N\ta\t-7.5\t1\r\nc1ccccc1\tb\t-6\t0\r\n", ("4", "3", "2")),
        ('smiles\tname\tscore\tactive\nC#N\ta\t-7.5\t1\nC"\tb\t-6\t0\n', (4, 3, 2)),
    ],
)
def test_smiles(tmp_path, text, columns):
    label, score, name = columns
    path = write(tmp_path, "t.smi", text)
    reader = TableReader([path], label, [score], ids=name)
    batches = list(reader)
    assert np.concatenate([batch.label for batch in batches]).tolist() == [1, 0]
    assert np.concatenate([batch.scores[0] for batch in batches]).tolist() == [-7.5, -6]
    assert [one for batch in batches for one in batch.ids.to_pylist()] == ["a", "b"]


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_bad_rows_that_are_not_utf_8(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"y,s,name\n1,2,caf\xe9\n0,1,caf\xe9,4\n")
    problem = f"{path}: row 2 (line 3): the row has 4 cells, but the first line has 3: '0,1,caf\ufffd,4'"
    with pytest.raises(ValueError, match=re.escape(problem)):
        read_columns(path, "y", "s")


@pytest.mark.usefixtures("slabs")
def test_bad_smiles(tmp_path):
    path = write(tmp_path, "t.smi.gz", "CCO 1 2\nCC 1 x\n")
    with pytest.raises(ValueError, match=re.escape(f"{path}: row 2 (line 2), column 3: the score is 'x', not a num")):
        read_columns(path, 2, 3)
    path = write(tmp_path, "t.smi", "smiles y s\nCCO 1 2\n\nCC 1\n")
    problem = f"{path}: row 2 (line 4): the row has 2 cells, but the first line has 3"
    with pytest.raises(ValueError, match=re.escape(problem)):
        read_columns(path, "y", "s")


def sdf(records):
    """Records of a title, a comment line and properties."""
    text = ""
    for title, comment, properties in records:
        text += f"{title}\n  made by hand\n{comment}\n  0  0  0  0  0  0  0  0  0  0999 V2000\nM  END\n"
        text += "".join(f">  <{name}>\n{value}\n\n" for name, value in properties) + "$$$$\n"
    return text


RECORDS = [
    ("a", "", [("score", "-7.5"), ("active", "1"), ("note", "two\nlines")]),
    ("> <score>", "> <active>", [("active", "0"), ("score", " -6 ")]),
    ("c", "", [("active", "true"), ("other score", "3"), ("score", "")]),
    ("d", "", [("active", "0")]),
]


@pytest.mark.usefixtures("slabs")
@pytest.mark.parametrize("change", [str, lambda text: text.replace("\n", "\r\n"), lambda text: text[: -len("$$$$\n")]])
def test_sdf(tmp_path, change):
    path = write(tmp_path, "t.sdf.gz", change(sdf(RECORDS)).encode())
    batches = list(TableReader([path], "active", ["score"], ids="_Name", nan_policy="worst"))
    assert np.concatenate([batch.label for batch in batches]).tolist() == [1, 0, 1, 0]
    np.testing.assert_array_equal(np.concatenate([b.scores[0] for b in batches]), [-7.5, -6, np.nan, np.nan])
    assert [one for batch in batches for one in batch.ids.to_pylist()] == ["a", "> <score>", "c", "d"]


def test_sdf_of_rdkit(tmp_path):
    """A file by another writer, read by another reader: the same numbers in the same places."""
    chem = pytest.importorskip("rdkit.Chem")
    path = str(tmp_path / "t.sdf")
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=50), rng.integers(0, 2, 50)
    with chem.SDWriter(path) as writer:
        for at, (score, label) in enumerate(zip(scores, labels, strict=True)):
            molecule = chem.MolFromSmiles("C" * (1 + at % 7) + "O")
            molecule.SetProp("_Name", f"m{at}")
            molecule.SetDoubleProp("r i score", float(score))
            molecule.SetIntProp("active", int(label))
            writer.write(molecule)
    found = read_columns(path, "active", "r i score")
    assert found.label.tolist() == labels.tolist()
    again = [molecule.GetProp("r i score") for molecule in chem.SDMolSupplier(path)]
    assert found.score.tolist() == [float(text) for text in again]


@pytest.mark.usefixtures("slabs")
def test_bad_sdf(tmp_path):
    path = write(tmp_path, "t.sdf", sdf(RECORDS))
    with pytest.raises(ValueError, match=re.escape(f"{path}: record 3 (line 29), column 'score': the score is empty")):
        read_columns(path, "active", "score")
    with pytest.raises(ValueError, match="there is no column 'scor'; did you mean 'score'"):
        read_columns(path, "active", "scor")
    with pytest.raises(ValueError, match="the properties of an SDF have names, not numbers"):
        read_columns(path, "active", 2)
    assert len(read_columns(write(tmp_path, "t.sdf", ""), "a", "b").label) == 0


@pytest.mark.parametrize("rest", ["", "y,s\n", "y,s\n1,2\n0"])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_file_cut_off_while_it_is_read(tmp_path, monkeypatch, workers, rest):
    path = tmp_path / "a.csv"
    path.write_text("y,s\n" + "1,2.5\n" * 100_000)
    slabs = tables._slabs

    def cut(stream, *ended):
        for number, slab in enumerate(slabs(stream, *ended)):
            yield slab
            if number == 1:
                path.write_text(rest)

    monkeypatch.setattr(tables, "_FIRST_SLAB", 1000)
    monkeypatch.setattr(tables, "_SLAB", 10_000)
    monkeypatch.setattr(tables, "_slabs", cut)
    with pytest.raises(ValueError, match=r"a\.csv: changed while it was read"):
        read_columns(path, "y", "s", workers=workers)


def test_a_file_cut_off_before_a_bad_cell_is_looked_for(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("y,s\n1,2.5\n0,x\n")
    place = tables._place
    monkeypatch.setattr(tables, "_place", lambda *row: path.write_text("") or place(*row))
    with pytest.raises(ValueError, match=r"a\.csv: changed while it was read"):
        read_columns(path, "y", "s")


@given(
    scores=st.sampled_from(["s", "i"]),
    codec=st.sampled_from(["none", "snappy", "zstd"]),
    words=st.booleans(),
    changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=4),
)
def test_parquet_of_which_bytes_were_changed(tmp_path_factory, scores, codec, words, changes):
    rows = range(60)
    table = {"y": [at % 3 == 0 for at in rows], "s": [at / 3 for at in rows], "i": list(rows), "score": list(rows)}
    table |= {"query_id": [f"q{at // 20}" for at in rows], "doc_id": [f"d{at}" for at in rows]}
    out = io.BytesIO()
    parquet.write_table(pa.table(table), out, row_group_size=25, compression=codec, use_dictionary=words)
    data = bytearray(out.getvalue())
    for place, byte in changes:
        data[int(place * len(data))] = byte
    path = tmp_path_factory.mktemp("changed") / "t.parquet"
    path.write_bytes(data)
    for way in (
        lambda: hc.scan(path, "y", scores),
        lambda: hc.scan(path, "y", scores, "query_id"),
        lambda: read_columns(path, "y", scores, "query_id", nan_policy="worst"),
        lambda: read_ids(path, "doc_id"),
        lambda: hc.read_run(path),
    ):
        try:
            way()
        except ValueError as error:
            assert str(error).startswith(str(path))


def test_a_row_without_a_cell_for_the_id(tmp_path):
    """An id that is left out would be an item that is not relevant."""
    path = write(tmp_path, "ids.csv", b'name,id\n"a\nb",1\n\nb\nc,3\n')
    with pytest.raises(ValueError, match=r"ids\.csv: line 5: the ids are in column 2, but the row ends at column 1"):
        read_ids(path, "id")
    assert read_ids(path, "name") == ["a\nb", "b", "c"]


@pytest.mark.parametrize("plus", ["+5", "+1152921504606846979", "+0"])
def test_a_plus_beside_large_integers(tmp_path, plus):
    cells = ["1152921504606846977", plus, "1152921504606846976"]
    path = write(tmp_path, "t.csv", ("y,s\n" + "".join(f"1,{cell}\n" for cell in cells)).encode())
    for source in (path, pa.table({"y": [1, 1, 1], "s": cells})):
        assert hc.scan(source, "y", "s").score.tolist() == sorted(map(int, cells), reverse=True)


def test_integers_of_128_bits():
    """A type of polars that Arrow lacks."""
    pl = pytest.importorskip("polars")
    scores = pl.Series([2**60 + 1, 2**60], dtype=pl.Int128)
    with pytest.raises(TypeError, match=r"source: Arrow cannot read a column .*: cast the column"):
        hc.scan(pl.DataFrame({"y": [1, 0], "s": scores}), "y", "s")
    run = hc.read_run(pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": scores // 2**10}))
    assert run.num_docs == 2
