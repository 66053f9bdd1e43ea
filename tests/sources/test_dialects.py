"""Tables as people have them: semicolons, decimal commas, labels in words, codes for missing scores, Excel."""

import bz2
import io
import lzma
import signal
import subprocess
import sys
import warnings
import zipfile
from xml.sax.saxutils import escape

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

from blocks import read_columns, read_ids, table_reader  # noqa: E402

import hitcurve as hc  # noqa: E402
from hitcurve.cli.main import main  # noqa: E402
from hitcurve.sources import tables  # noqa: E402
from hitcurve.sources.screen import read_screen  # noqa: E402
from hitcurve.sources.tables import TableReader  # noqa: E402

Y, S = [1, 0, 1, 0], [0.5, 3.25, -2.0, 1.75]


@pytest.fixture(params=["one slab", "many slabs"])
def slabs(request, monkeypatch):
    """Files of a few lines, read as one piece (the careful way) and as many (all but the first the fast way)."""
    if request.param == "many slabs":
        monkeypatch.setattr(tables, "_FIRST_SLAB", 7)
        monkeypatch.setattr(tables, "_SLAB", 7)


def text_of(delimiter=",", decimal=".", quote="", rows=None):
    rows = list(zip(Y, S, strict=True)) if rows is None else rows
    lines = [f"y{delimiter}s"]
    lines += [f"{y}{delimiter}{quote}{str(s).replace('.', decimal)}{quote}" for y, s in rows]
    return "\n".join(lines) + "\n"


def made(folder, text, name="t.csv"):
    (folder / name).write_text(text)
    return folder / name


def said(path, *columns, **options):
    """What is read, and the notes about it."""
    reader = table_reader([path], columns[0], [columns[1]], **options)
    found = list(reader)
    label, score = np.concatenate([one.label for one in found]), np.concatenate([one.scores[0] for one in found])
    return label.tolist(), score.tolist(), [note.removeprefix(f"{path}: ") for note in reader.notes]


def problem(path, *columns, **options):
    with pytest.raises(ValueError) as error:
        said(path, *columns, **options)
    assert str(error.value).startswith(f"{path}: ")
    return str(error.value).removeprefix(f"{path}: ")


@pytest.mark.usefixtures("slabs")
@pytest.mark.parametrize("columns", [("y", "s"), (1, 2), ("1", "2")])
@pytest.mark.parametrize(
    ("name", "text", "note"),
    [
        ("t.csv", text_of(), []),
        ("t.csv", text_of(";"), ["read with semicolons between cells"]),
        ("t.csv", text_of("\t"), ["read with tabs between cells"]),
        ("t.csv", text_of(";", ","), ["read with semicolons between cells and decimal commas"]),
        ("t.csv", text_of("\t", ","), ["read with tabs between cells and decimal commas"]),
        ("t.csv", text_of(",", ",", '"'), ["read with decimal commas"]),
        ("t.tsv", text_of("\t"), []),
        ("t.tsv", text_of("\t", ","), ["read with decimal commas"]),
        ("t.tsv", text_of(","), ["read with commas between cells"]),
        ("t.tsv", text_of(";", ","), ["read with semicolons between cells and decimal commas"]),
    ],
)
def test_forms_are_found_out_and_said(tmp_path, name, text, note, columns):
    path = made(tmp_path, text, name)
    assert said(path, *columns) == (Y, S, note)
    path = made(tmp_path, text.partition("\n")[2], name)
    if columns != ("y", "s"):
        assert said(path, *columns, header=False) == (Y, S, note)


@pytest.mark.usefixtures("slabs")
@pytest.mark.parametrize("word", ["#NV", "#N/A", "#DIV/0!", "#WERT!", "#NAME?"])
def test_words_for_errors_of_excel_name_the_way_out(tmp_path, capsys, word):
    path = made(tmp_path, f"y,s\n1,2\n0,{word}\n")
    place = f"row 2 (line 3), column 's': the score is '{word}', not a number"
    assert problem(path, "y", "s") == f"{place} (it is a missing score with na='{word}')"
    assert said(path, "y", "s", na=word, nan_policy="omit")[1][0] == 2
    assert main(["table", str(path), "--label", "y", "--score", "s"]) == 1
    assert capsys.readouterr().err.endswith(f"{place} (it is a missing score with --na {word})\n")


@pytest.mark.parametrize("name", ["folder", "folder/", "folder/t.csv", "t.xyz"])
def test_what_is_not_there_is_said_so(tmp_path, name):
    with pytest.raises(FileNotFoundError, match="No such file or directory"):
        hc.scan(f"{tmp_path}/{name}", "y", "s")


@pytest.mark.usefixtures("slabs")
@pytest.mark.parametrize("delimiter", [";", "\t", "|", ",", " "])
@pytest.mark.parametrize("decimal", [".", ","])
def test_forms_that_are_given_are_not_mentioned(tmp_path, delimiter, decimal):
    path = made(tmp_path, text_of(delimiter, decimal, '"' if delimiter == decimal else ""))
    assert said(path, "y", "s", delimiter=delimiter, decimal=decimal) == (Y, S, [])


@pytest.mark.parametrize(
    "text",
    [
        "y,s,x;y;s\n1,2,3;0;4\n0,1,3;1;5\n",  # semicolons would part other columns
        "y,s,t\n1,2,0;5\n0,1,1;0\n",
        'y,s,t\n1,2,"0,5"\n0,1,"1,5"\n',
        'y,s\n1,2\n0,""\n',
    ],
)
def test_a_file_that_its_name_describes_is_read_so(tmp_path, text):
    assert said(made(tmp_path, text), "y", "s", nan_policy="worst")[2] == []


def test_columns_by_number_that_two_forms_have(tmp_path):
    path = made(tmp_path, "1,5;1;2\n1,7;0;3\n")
    assert said(path, 1, 2, header=False, delimiter=";", decimal=",", positive="1,5")[1] == [1, 0]
    path = made(tmp_path, "a;1;2;b\t1\t3\na;0;2;b\t1\t4\n")
    assert problem(path, 2, 3, header=False) == (
        r"the file can be read with delimiter=';' and delimiter='\t': pass one of them"
    )
    assert said(path, 2, 3, header=False, delimiter=";") == ([1, 0], [2, 2], [])
    assert said(path, 2, 3, header=False, delimiter="\t") == ([1, 1], [3, 4], [])


def test_commas_that_may_part_thousands(tmp_path):
    path = made(tmp_path, "y;s\n1;1,234\n0;12,345\n")
    assert problem(path, "y", "s") == (
        "the comma of '1,234' may separate thousands or be the decimal mark: pass decimal=',' if it is the decimal "
        "mark"
    )
    assert said(path, "y", "s", decimal=",")[1] == [1.234, 12.345]
    for other in ("0,234", "1234,567", "1,2345", "1,2"):
        path = made(tmp_path, f"y;s\n1;1,234\n0;{other}\n")
        assert said(path, "y", "s")[1] == [1.234, float(other.replace(",", "."))]
    assert "the score is '1,234,567', not a number" in problem(made(tmp_path, "y;s\n1;1,234,567\n"), "y", "s")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("y;s\n1;2\n0;x\n", "row 2 (line 3), column 's': the score is 'x', not a number"),
        ("y;s\n1;0,5\n0;\n", "row 2 (line 3), column 's': the score is empty: give nan_policy='worst'"),
        ("y;s\n\n1;0,5\n\n2;1\n", "row 2 (line 5), column 'y': the label is '2'"),
        ("y;s\n1;0,5\n0;1.5\n", "row 2 (line 3), column 's': the score is '1.5', not a number (it is a number with "
         "decimal='.')"),
        ("y;s\n1;2;3\n", "row 1 (line 2): the row has 3 cells, but the first line has 2: '1;2;3'"),
        ("y,s\n1,0.5\n0,x;y\n", "row 2 (line 3), column 's': the score is 'x;y', not a number"),
        ("y|s\n1|2\n", "there is no column 'y'; the columns are 'y|s'"),
    ],
)  # fmt: skip
def test_errors_are_those_of_the_form_that_parts_the_columns(tmp_path, text, error):
    assert problem(made(tmp_path, text), "y", "s").startswith(error)


def test_the_first_rows_decide(tmp_path):
    rows = [(1, 3)] * 30_000 + [(0, 0.5)]
    path = made(tmp_path, text_of(";", ",", rows=rows))
    assert problem(path, "y", "s") == (
        "row 30001 (line 30002), column 's': the score is '0,5', not a number (it is a number with decimal=',')"
    )
    expected = [y for y, _ in rows], [s for _, s in rows]
    assert said(path, "y", "s", decimal=",") == (*expected, ["read with semicolons between cells"])
    assert said(path, "y", "s", decimal=",", delimiter=";") == (*expected, [])
    path = made(tmp_path, text_of(";", ","))
    assert said(path, "y", "s", delimiter=";")[2] == ["read with decimal commas"]
    path = made(tmp_path, text_of("|", ","))
    assert said(path, "y", "s", delimiter="|")[2] == ["read with decimal commas"]
    path = made(tmp_path, text_of(";", ",", rows=[(0, 0.5)] * 30_000 + [(1, 7)]))
    assert said(path, "y", "s")[1][-2:] == [0.5, 7]


def test_streams_and_several_files(tmp_path, monkeypatch):
    text = text_of(";", ",").encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(text))))
    reader = TableReader(["-"], "y", ["s"])
    assert [piece.scores[0].tolist() for piece in reader] == [S]
    assert reader.notes == ["standard input: read with semicolons between cells and decimal commas"]
    paths = [made(tmp_path, text_of(part), name) for part, name in ((";", "a.csv"), (",", "b.csv"), (";", "c.csv"))]
    reader = TableReader(paths, "y", ["s"])
    for _ in range(2):
        assert [piece.scores[0].tolist() for piece in reader] == [S] * 3
        assert reader.notes == [f"{paths[0]} and 1 more: read with semicolons between cells"]


@pytest.mark.usefixtures("slabs")
def test_grades_and_groups_with_decimal_commas(tmp_path):
    path = made(tmp_path, "g;q;s\n0,5;b;1,5\n2;a,c;2\n0;b;0,25\n")
    with pytest.warns(UserWarning, match="semicolons between cells and decimal commas"):
        found = hc.scan(path, grade="g", score="s", group="q")
    assert found == hc.GainCurves([0.5, 2, 0], [1.5, 2, 0.25], qid=["b", "a,c", "b"])


def test_scan_says_it_once_and_takes_the_same_options(tmp_path):
    path = made(tmp_path, "id;class;s\na;active;0,5\nb;inactive;-999\nc;inactive;n.d.\nd;active;0,75\n")
    options = {"na": ["-999", "n.d."], "positive": "active", "nan_policy": "worst"}
    expected = hc.HitCurve(Y := [1, 0, 0, 1], s := [0.5, np.nan, np.nan, 0.75], nan_policy="worst")
    with warnings.catch_warnings(record=True, action="always") as caught:
        assert hc.scan(path, "class", "s", **options) == expected
    assert [str(one.message) for one in caught] == [f"{path}: read with semicolons between cells and decimal commas"]
    assert caught[0].filename == __file__
    assert hc.scan(path, "class", "s", delimiter=";", decimal=",", **options) == expected
    table = pa.table({"class": ["active", "inactive", "inactive", "active"], "s": ["0,5", "-999", "n.d.", "0,75"]})
    assert hc.scan(table, "class", "s", decimal=",", **options) == expected
    assert hc.scan(lambda: table.to_batches(), "class", "s", decimal=",", **options) == expected
    parquet.write_table(table, tmp_path / "t.parquet")
    assert hc.scan(tmp_path / "t.parquet", "class", "s", decimal=",", **options) == expected
    numbers = pa.table({"class": table["class"], "s": [0.5, -999.0, None, 0.75]})
    parquet.write_table(numbers, tmp_path / "t.parquet")
    assert hc.scan(tmp_path / "t.parquet", "class", "s", **options) == expected
    assert hc.scan(numbers, "class", "s", **options) == expected
    assert hc.HitCurve(Y, s, nan_policy="worst") == expected


@pytest.mark.usefixtures("slabs")
@pytest.mark.parametrize(
    ("na", "cells", "missing"),
    [
        ("-", ["1", "-", "3", " - "], [1, 3]),
        (["n.d.", "failed"], ["n.d.", "2.5", "failed", ""], [0, 2, 3]),
        ("-999", ["-999", "2.5", "-999.0", " -999 "], [0, 2, 3]),
        ("-999", ["9007199254740991", "-999", "5", "6"], [1]),
        ("0", ["0.5", "0", "0.0", "1"], [1, 2]),
        ("inf", ["0.5", "INF", "-inf", "1"], [1]),
        ("N.D.", ["1", "2", "3", "null"], [3]),
        (None, ["1", "2", "NA", "4"], [2]),
    ],
)
def test_texts_that_mean_a_missing_score(tmp_path, na, cells, missing):
    path = made(tmp_path, "y,s\n" + "".join(f"{at % 2},{cell}\n" for at, cell in enumerate(cells)))
    _, scores, notes = said(path, "y", "s", na=na, nan_policy="worst")
    assert notes == []
    assert np.flatnonzero(np.isnan(scores)).tolist() == missing
    assert [score for score in scores if score == score] == [
        float(cell) for at, cell in enumerate(cells) if at not in missing
    ]
    shown = repr(cells[missing[0]]) if cells[missing[0]] else "empty"
    row = missing[0] + 1
    assert problem(path, "y", "s", na=na) == (
        f"row {row} (line {row + 1}), column 's': the score is {shown}: give nan_policy='worst' to rank it below all "
        "other scores, or nan_policy='omit' to leave it out"
    )


def test_other_case_and_other_columns_are_not_missing(tmp_path):
    path = made(tmp_path, "y,s\n1,FAILED\n0,2\n")
    assert "the score is 'FAILED', not a number" in problem(path, "y", "s", na="failed", nan_policy="worst")
    path = made(tmp_path, "y,s\n" + "1,2\n0,1\n0,3\n" * 5)
    assert said(path, "y", "s", na=["0", "1"], nan_policy="worst")[0] == [1, 0, 0] * 5


def test_an_integer_beside_a_missing_score_stays_exact_or_is_an_error(tmp_path):
    path = made(tmp_path, "y,s\n1,9007199254740993\n0,-999\n")
    assert "cannot hold the score 9007199254740993" in problem(path, "y", "s", na="-999", nan_policy="worst")
    parquet.write_table(pa.table({"y": [1, 0, 0], "s": [2**60, -999, 5]}), tmp_path / "t.parquet")
    found = read_columns(tmp_path / "t.parquet", "y", "s", na=("-999",), nan_policy="worst").score
    np.testing.assert_array_equal(found, [2.0**60, np.nan, 5])


@pytest.mark.usefixtures("slabs")
@pytest.mark.parametrize(
    ("positive", "labels", "expected"),
    [
        ("active", ["active", "inactive", " active ", "Active"], [1, 0, 1, 0]),
        (" yes ", ["no", "yes", "maybe", "no"], [0, 1, 0, 0]),
        ("2", ["1", "2", "3", "2"], [0, 1, 0, 1]),
        ("no", ["0", "1", "no", "yes"], [0, 0, 1, 0]),
        ("1", ["1", "0", "1", "null"], [1, 0, 1, 0]),
    ],
)
def test_labels_in_words(tmp_path, positive, labels, expected):
    path = made(tmp_path, "y,s\n" + "".join(f"{label},{at}\n" for at, label in enumerate(labels)))
    assert said(path, "y", "s", positive=positive) == (expected, [0, 1, 2, 3], [])


@pytest.mark.usefixtures("slabs")
def test_labels_that_are_not_in_words(tmp_path):
    path = made(tmp_path, "y,s\nactive,2\ninactive,1\ninactive,3\n")
    assert "row 1 (line 2), column 'y': the label is 'active': labels must be 0 or 1" in problem(path, "y", "s")
    assert problem(path, "y", "s", positive="Active") == (
        "no label is positive='Active'; the labels are 'active', 'inactive'"
    )
    with pytest.raises(ValueError, match=r"source: no label is positive='x'; the labels are '0', .*, '7', \.\.\.$"):
        hc.scan(pa.table({"y": range(50), "s": range(50)}), "y", "s", positive="x")
    path = made(tmp_path, "y,s\nactive,2\n ,1\n")
    assert problem(path, "y", "s", positive="active") == (
        "row 2 (line 3), column 'y': the label is empty: with positive='active' each row needs a label"
    )
    path = made(tmp_path, "y,s\n")
    assert hc.scan(path, "y", "s", positive="active").num_items == 0


@pytest.mark.parametrize("type_", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string()), pa.int64()])
def test_words_of_every_type(type_):
    table = pa.table({"y": pa.array(["1", "2", "1"]).cast(pa.int64()).cast(pa.string()), "s": [3, 2, 1]})
    table = table.set_column(0, "y", table["y"].cast(type_))
    assert hc.scan(table, "y", "s", positive="1") == hc.HitCurve([1, 0, 1], [3, 2, 1])
    table = table.set_column(0, "y", pa.array([[1], [2], [3]]))
    with pytest.raises(ValueError, match=r"column 'y': the column holds list<.*labels must be texts"):
        hc.scan(table, "y", "s", positive="1")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"delimiter": ";;"}, "delimiter is ';;': it must be one character that no number has"),
        ({"delimiter": "."}, "delimiter is '.': it must be one character"),
        ({"delimiter": ""}, "delimiter is '': it must be one character"),
        ({"delimiter": "\n"}, r"delimiter is '\\n': it must be one character"),
        ({"decimal": ";"}, "decimal"),
        ({"positive": " "}, "positive is ' ': it must be the label"),
    ],
)
def test_options_that_make_no_sense(tmp_path, options, error):
    path = made(tmp_path, "y,s\n1,2\n")
    with pytest.raises(ValueError, match=error):
        hc.scan(path, "y", "s", **options)
    for wrong in ({"delimiter": 1}, {"na": [1]}, {"positive": 1}):
        with pytest.raises(TypeError, match=f"{next(iter(wrong))}.* is of type int: it must be a"):
            hc.scan(path, "y", "s", **wrong)


def test_options_of_texts_where_there_are_none(tmp_path):
    parquet.write_table(pa.table({"y": [1, 0], "s": [2, 1]}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"delimiter=';' is for CSV and TSV files, but .*t\.parquet is neither"):
        hc.scan(tmp_path / "t.parquet", "y", "s", delimiter=";")
    for source in (([1, 0], [2, 1]), lambda: [([1, 0], [2, 1])]):
        for options in ({"na": "x"}, {"decimal": ","}):
            with pytest.raises(ValueError, match=r"na, decimal and positive are for columns of text, but (the )?s"):
                hc.scan(source, **options)
        with pytest.raises(ValueError, match="delimiter=';' is for CSV and TSV files, but source is not"):
            hc.scan(source, delimiter=";")
        with pytest.raises(ValueError, match="positive='x', but there is no column of labels"):
            hc.scan(source, positive="x")
    with pytest.raises(ValueError, match="positive='x', but there is no column of labels"):
        table_reader([], None, ["s"], grade="g", positive="x")


@pytest.mark.parametrize("pack", [lzma.compress, bz2.compress])
def test_packers(tmp_path, pack):
    end = {"lzma": "xz", "bz2": "bz2"}[pack.__module__.lstrip("_")]
    text = text_of(";", ",").encode()
    path = tmp_path / f"t.csv.{end}"
    path.write_bytes(pack(text[:20]) + pack(text[20:]))
    assert said(path, "y", "s") == (Y, S, ["read with semicolons between cells and decimal commas"])
    path.write_bytes(pack(b"y,s\n" + b"1,2\n" * 100_000 + b"x,3\n"))
    assert problem(path, "y", "s").startswith("row 100001 (line 100002), column 'y': the label is 'x'")
    for data in (path.read_bytes()[:-20], b"\xfd7zXZ\x00BZh nothing", text):
        path.write_bytes(data)
        assert problem(path, "y", "s").startswith("cannot be read: ")
    out = io.BytesIO()
    parquet.write_table(pa.table({"y": Y, "s": S}), out)
    (tmp_path / f"t.parquet.{end.upper()}").write_bytes(pack(out.getvalue()))
    assert hc.scan(tmp_path / f"t.parquet.{end.upper()}", "y", "s") == hc.HitCurve(Y, S)
    (tmp_path / f"ids.txt.{end}").write_bytes(pack(b"a\nb\n"))
    assert read_ids(tmp_path / f"ids.txt.{end}") == ["a", "b"]


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def excel_cell(value):
    """None is no cell, and a text in brackets is an error."""
    if value is None:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if not isinstance(value, str):
        return f"<c><v>{value!r}</v></c>"
    if value[:1] == "[":
        return f'<c t="e"><v>{escape(value[1:-1])}</v></c>'
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'


def workbook(path, *sheets):
    """The least of an Excel file."""
    numbers = range(1, len(sheets) + 1)
    listed = "".join(f'<sheet name="sheet {at}" sheetId="{at}" r:id="r{at}"/>' for at in numbers)
    links = "".join(
        f'<Relationship Id="r{at}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{at}.xml"/>' for at in numbers
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
                               '<Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r" Target="xl/workbook.xml" '
                       f'Type="{OFFICE}/officeDocument"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{links}</Relationships>',
    }  # fmt: skip
    for at, rows in zip(numbers, sheets, strict=True):
        lines = "".join(f'<row r="{n}">{"".join(map(excel_cell, row))}</row>' for n, row in enumerate(rows, 1))
        parts[f"xl/worksheets/sheet{at}.xml"] = f'<worksheet xmlns="{MAIN}"><sheetData>{lines}</sheetData></worksheet>'
    with zipfile.ZipFile(path, "w") as file:
        for name, text in parts.items():
            file.writestr(name, text)
    return path


ROWS = [["id", "y", "s", "q"], [17, 1, 0.5, "b"], [None] * 4, ["x", False, 3, "a"], [18.0, "TRUE", 1e3, "b"],
        [1, 0, -4, 7]]  # fmt: skip


@pytest.fixture
def excel():
    pytest.importorskip("python_calamine")


@pytest.mark.usefixtures("excel")
@pytest.mark.parametrize(
    ("cell", "span"),
    [
        ('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>', "1,048,576 rows and 16,384 columns"),
        ('<x:row\n r = "4000000000"><x:c t="n" r=\'a4000000000\'><v>1</v></x:c></x:row>',
         "4,000,000,000 rows and 4 columns"),
        ('<row><c r="A99999999999999999999"><v>1</v></c></row>', "9,999,999,999 rows and 4 columns"),
        ('<row r="9"><c r="ZZZZZZZ9"><v>1</v></c></row>', "9 rows and 8,353,082,582 columns"),
        ('<row r="1048576"><c><v>1</v></c></row><row r="9">' + "<c><v>1</v></c>" * 900 + "</row>",
         "1,048,576 rows and 900 columns"),
    ],
)  # fmt: skip
def test_cells_that_lie_far_apart(tmp_path, cell, span):
    """The reader of the sheet makes every cell between them, and where it has no memory for these the process ends."""
    path = workbook(tmp_path / "t.xlsx", ROWS)
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name).decode() for name in file.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace("</sheetData>", cell + "</sheetData>")
    with zipfile.ZipFile(path, "w") as file:
        for name, text in parts.items():
            file.writestr(name, text)
    for read in (lambda: hc.scan(path, "y", "s"), lambda: read_ids(path, "y")):
        with pytest.raises((ValueError, OSError), match=rf"sheet {sheet} is too large: its .* cells? span {span}$"):
            read()


@pytest.mark.usefixtures("excel")
def test_excel(tmp_path):
    path = workbook(tmp_path / "t.xlsx", ROWS)
    found = read_columns(path, "y", "s", "q")
    assert (found.label.tolist(), found.score.tolist()) == ([1, 0, 1, 0], [0.5, 3, 1000, -4])
    assert (found.group.tolist(), found.group_names) == ([2, 1, 2, 0], ["7", "a", "b"])
    assert read_ids(path, "id") == ["17", "x", "18", "1"]
    assert hc.scan(path, 2, 3) == hc.HitCurve([1, 0, 1, 0], [0.5, 3, 1000, -4])
    assert hc.scan(workbook(tmp_path / "n.xlsx", ROWS[1:]), 2, 3, header=False) == hc.scan(path, "y", "s")
    (tmp_path / "t.XLSX.xz").write_bytes(lzma.compress(path.read_bytes()))
    assert hc.scan(tmp_path / "t.XLSX.xz", "y", "s") == hc.scan(path, "y", "s")
    reader = TableReader([workbook(tmp_path / "two.xlsx", ROWS, ROWS)], "y", ["s"])
    assert [piece.rows for piece in reader] == [4]
    assert reader.notes == [f"{tmp_path / 'two.xlsx'}: only the first of its 2 sheets, 'sheet 1', is read"]
    assert hc.scan(workbook(tmp_path / "e.xlsx", ROWS[:1]), "y", "s").num_items == 0


@pytest.mark.usefixtures("excel")
@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ([*ROWS, [None] * 4, [1, 2, 3, 4]], "row 5 (line 8), column 'y': the label is '2': labels must be 0 or 1"),
        ([*ROWS, [1, 1, "n.d.", 4]], "row 5 (line 7), column 's': the score is 'n.d.', not a number"),
        ([*ROWS, [1, 1, "[#DIV/0!]", 4]], "row 5 (line 7), column 's': the score is empty: give nan_policy='worst'"),
        ([*ROWS, [1, 1, None, 4]], "row 5 (line 7), column 's': the score is empty: give nan_policy='worst'"),
        ([["id", "y"], [1, 1]], "there is no column 's'; the columns are 'id', 'y'"),
        ([], "there is no row with column names"),
    ],
)
def test_bad_excel(tmp_path, rows, error):
    assert problem(workbook(tmp_path / "t.xlsx", rows), "y", "s").startswith(error)
    (tmp_path / "t.xlsx").write_bytes(b"PK\x03\x04 nothing")
    assert problem(tmp_path / "t.xlsx", "y", "s").startswith("cannot be read: ")


def test_excel_without_its_reader(tmp_path, monkeypatch):
    (tmp_path / "t.xlsx").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    advice = r'reading Excel files needs python_calamine: pip install "\.\[excel\]" in a checkout'
    with pytest.raises(ModuleNotFoundError, match=advice):
        hc.scan(tmp_path / "t.xlsx", "y", "s")


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
@pytest.mark.parametrize(
    "more", [{}, {"group": "q"}, {"ids": "i"}, {"ids": "i", "best": True}, {"keep": True}], ids=str
)
@pytest.mark.parametrize("nan_policy", ["worst", "omit"])
def test_what_is_counted(tmp_path, name, more, nan_policy):
    rng = np.random.default_rng(0)
    n = 500
    ids = rng.integers(0, 400, n)
    label = ids % 7 == 0
    scores = [np.where(rng.random(n) < share, np.nan, rng.normal(size=n)) for share in (0.1, 0)]
    table = pa.table({"y": label, "s": pa.array(scores[0], from_pandas=True), "t": scores[1],
                      "q": rng.integers(0, 3, n), "i": ids.astype(str)})
    if name == "t.parquet":
        parquet.write_table(table, tmp_path / name, row_group_size=50)
    else:
        table.to_pandas().to_csv(tmp_path / name, index=False)
    options = {key: value for key, value in more.items() if key in ("group", "ids")}
    group = options.pop("group", None)
    reader = TableReader([tmp_path / name], "y", ["s", "t"], group, nan_policy=nan_policy, **options)
    found = read_screen(reader, [("s", False), ("t", False)], best_per_id="best" in more, keep="keep" in more)
    repeated = n - len(np.unique(ids)) if "ids" in more else None
    for score, values in zip(found.scores, scores, strict=True):
        counted = score.counted
        assert counted[:3] == (n, int(np.isnan(values).sum()), repeated)
        missing = counted.num_missing
        fate = {"worst": "ranked last", "omit": "left out"}[nan_policy]
        assert counted.sentences()[0] == (
            f"Rows without a score: {missing} of 500, {fate}." if missing else "Rows without a score: none."
        )
        number = "not counted" if repeated is None else repeated
        assert counted.sentences()[1].startswith(f"Rows that repeat an id: {number}")
        assert len(counted.sentences()) == 2


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "sep=;\n", '"sep=;"\n', "\ufeffsep=;\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
def test_what_excel_writes_is_read(tmp_path, slabs, mark, encoding, end):
    rows = [*zip(Y, S, strict=True), *((i % 3 == 0, i / 4) for i in range(40))]
    text = text_of(";", rows=[(int(y), s) for y, s in rows])
    if encoding != "utf-8" and not mark.startswith("\ufeff"):
        mark = "\ufeff" + mark
    (tmp_path / "t.csv").write_bytes((mark + text).replace("\n", end).encode(encoding))
    labels, scores, notes = said(tmp_path / "t.csv", "y", "s")
    assert (labels, scores) == ([int(y) for y, _ in rows], [s for _, s in rows])
    assert notes == ["read with semicolons between cells"]


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals that a thread gets")
@pytest.mark.parametrize("source", ["-", "/dev/fd/0"])
@pytest.mark.parametrize("way", ["with opened({!r}) as stream: stream.read(1 << 20)", "with opened_text({!r}): pass"])
def test_ctrl_c_that_comes_with_data_ends_a_long_read(way, source):
    code = f"""
import os, signal, threading
from hitcurve._base.files import opened, opened_text
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has its background jobs ignore it
there, here = os.pipe()
os.dup2(there, 0)
def later():
    os.write(here, b"y,s\\n" + b"1,2\\n" * (1 << 16))  # more than pipe and buffer hold: when it ends, the read is on
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)  # the read of the other thread goes on
    os.write(here, b"1,2\\n")
threading.Thread(target=later, daemon=True).start()
try:
    {way.format(source)}
except KeyboardInterrupt:
    print("stopped")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.stdout == "stopped\n", done.stderr


def test_lines_are_counted_with_the_one_that_names_the_delimiter(tmp_path):
    wrong = problem(made(tmp_path, "sep=;\ny;s\n1;2.5\nx;1.5\n"), "y", "s")
    assert wrong.startswith("row 2 (line 4), column 'y': the label is 'x'")


def test_utf_16_that_is_cut_short_is_an_error(tmp_path):
    (tmp_path / "t.csv").write_bytes(("\ufeff" + text_of()).encode("utf-16-le")[:-1])
    wrong = problem(tmp_path / "t.csv", "y", "s")
    assert "cannot be read: begins as UTF-16, but is not valid UTF-16: truncated data" in wrong


@pytest.mark.parametrize("text", ["sep=;", "sep=;\n", "sep=12\n1;2\n"])
def test_a_line_that_only_looks_so_is_the_head(tmp_path, text):
    problem(made(tmp_path, text), "y", "s")
