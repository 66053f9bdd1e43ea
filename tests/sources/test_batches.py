"""Sources whose batches differ in type: every way through them against exact arithmetic over the values."""

import re
from decimal import Decimal

import numpy as np
import pytest
from examples import few
from hypothesis import given
from hypothesis import strategies as st

import hitcurve as hc
from hitcurve.sources import opening as sources
from hitcurve.sources import scanning, tables
from hitcurve.sources.screen import read_screen
from hitcurve.sources.tables import TableReader

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

INTEGERS = [0, 1, -1, 2**24 + 1, 2**53, 2**53 + 1, 2**53 + 2, 2**60 + 1, 2**63, 2**63 + 1, -(2**53 + 1), -(2**63)]
FLOATS = [0.0, -0.0, 1.0, 0.5, 2.0**24, 2.0**53, 2.0**53 + 2, 2.0**60, 2.0**63, -np.inf, np.nan]
DECIMALS = ["0", "1", "0.5", "9007199254740992", "9007199254740993", "1152921504606846976", "1152921504606847000",
            "0.123456789012345678", "0.123456789012345679"]  # fmt: skip
VALUES = {
    **{name: [one for one in INTEGERS if np.iinfo(name).min <= one <= np.iinfo(name).max]
       for name in ("int8", "int32", "uint32", "int64", "uint64")},
    "bool": [False, True],
    "float16": [0.0, -0.0, 1.0, 0.5, np.nan],
    "float32": [one for one in FLOATS if one != 2.0**53 + 2],
    "float64": FLOATS,
    "decimal128(38, 18)": [Decimal(one) for one in DECIMALS],
    "decimal128(38, 0)": [Decimal(one) for one in DECIMALS if "." not in one],
    "decimal128(3, 1)": [Decimal("0.5"), Decimal("1"), Decimal("-12.5")],
    "string": ["0", "0.5", "1e0", "9007199254740993", "9007199254740992.0", "1152921504606846976", "-1", "inf", ""],
}  # fmt: skip


def batch_of(name, values=None):
    one = st.sampled_from(values or VALUES[name])
    if values is None and name.startswith(("int", "uint", "decimal")):
        one |= st.none()
    return st.tuples(st.just(name), st.lists(st.tuples(st.booleans(), one), min_size=1, max_size=4))


BATCHES = st.one_of(
    st.lists(st.sampled_from(sorted(VALUES)).flatmap(batch_of), min_size=1, max_size=4),
    # Signed and unsigned ones that a float64 cannot tell apart, but uint64 or int64 can.
    st.sampled_from([[2**53, 2**53 + 1], [-1, 2**53, 2**53 + 1]]).flatmap(
        lambda values: st.lists(batch_of("int64", values) | batch_of("uint64", values[-2:]), min_size=3, max_size=4)
    ),
    st.lists(batch_of("decimal128(38, 18)", VALUES["decimal128(38, 18)"][-2:]), min_size=1, max_size=2),
)


def exact(value):
    """The number that a cell stands for, of a type that Python compares exactly; None for a missing one."""
    if isinstance(value, str):
        value = None if not value else int(value) if value.lstrip("-").isdigit() else float(value)
    return None if value is None or value != value else value


def exact_table(rows, policy):
    """The rows of the table, best first, and the number of items."""
    missing = [y for y, value in rows if value is None] if policy == "worst" else []
    rows = [(y, value) for y, value in rows if value is not None]
    table = []
    for one in sorted({value for y, value in rows if y}, reverse=True):
        tied = [y for y, value in rows if value == one]
        table.append((one, sum(value > one for _, value in rows), len(tied), sum(tied)))
    if any(missing):
        table.append((None, len(rows), len(missing), sum(missing)))
    return table, len(rows) + len(missing)


def table_of(curve):
    score = [None if one != one else one for one in curve.score.tolist()]
    columns = (getattr(curve, name).tolist() for name in ("above", "tied", "hits"))
    return list(zip(score, *columns, strict=True)), curve.num_items


def arrow_type(name):
    if name.startswith("decimal"):
        return pa.decimal128(*map(int, name[11:-1].split(",")))
    return {"float16": pa.float16(), "bool": pa.bool_(), "string": pa.string()}.get(name) or pa.from_numpy_dtype(name)


def held_by_one_type(values):
    """Whether int64, uint64 or float64 holds all; a missing one is a float."""
    if all(isinstance(value, int) for value in values) and max(values) < 1 << (63 if min(values) < 0 else 64):
        return True
    return all(value is None or value == float(value) for value in values)


def check(batches, ways, must_fit):
    """Each way, a function that gives a pair (table, expected table), is right, or says what cannot be compared."""
    values = [exact(value) for _, items in batches for _, value in items]
    for name, way in ways.items():
        try:
            found, expected = way()
        except (TypeError, ValueError) as error:
            assert re.search(r"exactly|which cannot hold|that no float64 holds|no array type holds", str(error)), name
            assert not (must_fit and held_by_one_type(values)), name
        else:
            assert found == expected, name


@few(25)
@given(BATCHES, st.sampled_from(["worst", "omit"]))
def test_a_scan_is_exact_or_refuses(batches, policy):
    rows, frames, arrays = [], [], []
    for at, (name, items) in enumerate(batches):
        y, s, q = [y for y, _ in items], [value for _, value in items], [(at + 1) // 2] * len(items)
        rows += [(y, exact(value), (at + 1) // 2) for y, value in items]
        frames.append(pa.table({"y": y, "s": pa.array(s, arrow_type(name)), "q": q}))
        if not name.startswith(("decimal", "string")) and None not in s:
            arrays.append((np.array(y), np.array(s, name)))
    plain = [(y, value) for y, value, _ in rows]

    def one(source, *columns, **options):
        given = source if isinstance(source, tuple) else lambda: source
        curve = hc.scan(given, *columns, nan_policy=policy, **options)
        return table_of(curve), exact_table(plain, policy)

    def grouped(**options):
        curves = hc.scan(lambda: frames, "y", "s", "q", nan_policy=policy, **options)
        met = dict(zip(curves.qid.tolist(), map(table_of, curves), strict=True))
        expected = {q: exact_table([row[:2] for row in rows if row[2] == q], policy) for *_, q in rows}
        return {q: met.get(q, ([], 0)) for q in expected}, expected

    ways = {"frames": lambda: one(frames, "y", "s"), "groups": grouped}
    ways["group by group"] = lambda: grouped(sorted="group")
    if len(arrays) == len(frames):
        ways["arrays"] = lambda: one(arrays)
        items = [(y[at : at + 1], s[at : at + 1]) for y, s in arrays for at in range(len(y))]
        first = [at for at, row in enumerate(plain) if row[1] is not None]
        first.sort(key=lambda at: plain[at][1], reverse=True)
        ordered = [items[at] for at in [*first, *(at for at, row in enumerate(plain) if row[1] is None)]]
        ways["in order"] = lambda: one(ordered, sorted="score")
    alone = not any(name.startswith(("decimal", "string")) for name, _ in batches)
    if alone:
        whole = np.array([y for y, _ in plain]), np.array([np.nan if one is None else one for _, one in plain], object)
        ways["an array of objects"] = lambda: one(whole, workers=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanning, "_HELD", 0)  # what can be read again is
        patch.setattr(sources, "_ROWS", 2)
        patch.setattr(scanning, "_TOGETHER", 1)
        check(batches, ways, alone)
    if len(arrays) == len(frames):
        relevant = [np.nan if value is None else value for y, value in plain if y]

        def counted():
            whole = None
            for y, s in arrays:  # thresholds of the batch's type where it holds them
                same = np.array(relevant, s.dtype) if set(relevant) <= set(s.tolist()) else relevant
                counter = hc.HitCounter(same, nan_policy=policy)
                counter.update(y, s)
                whole = counter if whole is None else whole.merge(counter)
            return table_of(whole.curve()), exact_table(plain, policy)

        check(batches, {"counters": counted, "actives": lambda: one(arrays, actives=relevant)}, False)


@few(25)
@given(BATCHES, st.booleans(), st.sampled_from([1, 2]))
def test_files_are_read_exactly_or_refused(tmp_path_factory, batches, grouped, workers):
    folder = tmp_path_factory.mktemp("files")
    paths = [folder / f"{at}.parquet" for at in range(len(batches))]
    for path, (name, items) in zip(paths, batches, strict=True):
        values = pa.array([value for _, value in items], arrow_type(name))
        table = pa.table({"y": [y for y, _ in items], "s": values, "q": ["a"] * len(items)})
        parquet.write_table(table, path, row_group_size=1)
    rows = [(y, exact(value)) for _, items in batches for y, value in items]

    def screened():
        reader = TableReader(paths, "y", ["s"], "q" if grouped else None, nan_policy="worst", workers=workers)
        curve = read_screen(reader, [("s", False)]).scores[0].curves
        return table_of(curve[0] if grouped else curve), exact_table(rows, "worst")

    def read():
        found = read_screen(TableReader(paths[:1], "y", ["s"], nan_policy="worst"), [("s", False)], keep=True).arrays
        expected = [exact(value) for _, value in batches[0][1]]
        return [None if one != one else one for one in found.scores[0].tolist()], expected

    def scanned():
        items = [(y, exact(value)) for y, value in batches[0][1]]
        return table_of(hc.scan(paths[0], "y", "s", nan_policy="worst", workers=workers)), exact_table(items, "worst")

    alone = not any(name.startswith(("decimal", "string")) for name, _ in batches)
    check(batches, {"screen": screened}, alone)
    check(batches[:1], {"read": read, "scan": scanned}, alone)


@few(25)
@given(batch_of("string"), st.integers(1, 40))
def test_text_is_read_exactly_or_refused(tmp_path_factory, batch, size):
    """Wherever its slabs end."""
    path = tmp_path_factory.mktemp("text") / "t.csv"
    path.write_text("y,s\n" + "".join(f"{y:d},{text}\n" for y, text in batch[1]))

    def read():
        found = table_of(hc.scan(path, "y", "s", nan_policy="worst"))
        return found, exact_table([(y, exact(text)) for y, text in batch[1]], "worst")

    for slab in (size, 1 << 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tables, "_FIRST_SLAB", slab)
            patch.setattr(tables, "_SLAB", slab)
            check([batch], {"text": read}, True)


# --- of these, one by one


def test_decimals_in_different_row_groups_keep_their_digits(tmp_path):
    digits = [Decimal(2**53), Decimal(2**53 + 1), Decimal(2**53 + 1)]
    for kind, expected in ((pa.decimal128(20, 0), 0.5), (pa.decimal128(22, 2), None)):
        table = pa.table({"y": [1, 0, 0], "s": pa.array([digits[0], digits[1], Decimal(5)], kind)})
        parquet.write_table(table, tmp_path / "t.parquet", row_group_size=1)
        for source in (tmp_path / "t.parquet", lambda table=table: table.to_batches(max_chunksize=1)):
            if expected is None:
                with pytest.raises(ValueError, match=r"row 2, column 's': the score '9007199254740993.00' is a whole"):
                    hc.scan(source, "y", "s")
            else:
                assert hc.scan(source, "y", "s").average_precision() == expected


def test_decimals_are_the_nearest_floats():
    """As the same digits in a text are; Arrow's conversion rounds twice."""
    texts = [f"{cents / 100:.2f}" for cents in range(2_000)]
    for kind in (pa.decimal128(7, 2), pa.decimal128(30, 10), pa.decimal256(50, 30), pa.decimal128(15, 14)):
        column = pa.array(map(Decimal, texts if kind.scale < 14 else texts[:1_000]), kind)
        y = np.zeros(len(column), bool)
        y[::7] = True
        curve = hc.scan(lambda column=column, y=y: [pa.table({"y": y, "s": column})], "y", "s")
        assert curve == hc.HitCurve(y, np.array([float(text) for text in texts[: len(column)]]))


def test_signed_batches_and_then_unsigned_ones():
    parts = [([1], np.array([2**53])), ([0], np.array([2**53 + 1], np.uint64))]
    assert hc.scan(lambda: parts).average_precision() == 0.5
    grouped = [(y, s, [7]) for y, s in parts]
    for order in (None, "group"):
        assert hc.scan(lambda: grouped, group=3, sorted=order).average_precision().tolist() == [0.5]
    parts = [([1], np.array([-1])), *parts]
    assert hc.scan(lambda: parts).num_items == 3  # all are of int64
    parts.append(([0], np.array([2**63], np.uint64)))
    for rows, order in ((parts, None), (parts[:0:-1] + parts[:1], "score")):
        with pytest.raises(ValueError, match=r"source: row 4: .*uint64.*no type holds both.*9007199254740993"):
            hc.scan(lambda rows=rows: rows, sorted=order)


def test_a_large_integer_beside_a_missing_score_is_named():
    scores = pa.array([None, 3, 2**53 + 1])
    with pytest.raises(ValueError, match=r"source: row 3, column 's': .* cannot hold the score 9007199254740993"):
        hc.scan(lambda: [pa.table({"y": [0, 1, 0], "s": scores})], "y", "s", nan_policy="omit")


@pytest.mark.parametrize("first", [int, float])
def test_counters_merge_only_if_their_thresholds_are_equal(first):
    numbers = [2**53 + 1, float(2**53)]
    one, other = (hc.HitCounter([number]) for number in sorted(numbers, key=lambda number: type(number) is not first))
    assert one != other
    with pytest.raises(ValueError, match=r"thresholds\[0\] of other is 90071992547409.*only counters with the same "
                                         r"arguments can be merged"):
        one.merge(other)
    assert hc.HitCounter([3]) == hc.HitCounter([3.0])
    assert hc.HitCounter([3]).merge(hc.HitCounter([3.0])).num_items == 0
    assert hc.HitCurve([1], [2**53 + 1]) != hc.HitCurve([1], [2.0**53])
