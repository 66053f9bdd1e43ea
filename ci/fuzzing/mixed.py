"""Batches, counters and files of differing types: what holds within one array holds within a source, or is refused."""

import tempfile
from decimal import Decimal
from fractions import Fraction
from importlib.util import find_spec
from itertools import chain, groupby
from pathlib import Path

import numpy as np

import hitcurve as hc
from hitcurve.sources import tables

from .draws import PROMISED

if find_spec("pyarrow"):
    import pyarrow as pa
    from pyarrow import parquet

REFUSALS = (*PROMISED, OverflowError)
BASES = (0, 2**24, 2**53, -(2**53), 2**60, 2**63 - 4)
TYPES = ("i8", "i8", "u8", "f8", "f8", "f4", "i4", "u2")


def a_batch(draw, bases, types=TYPES):
    """(labels, scores of some type, the same scores exactly)."""
    dtype = np.dtype(draw.pick(types))
    n, scores = draw.whole(1, 4), []
    for _ in range(n):
        value = draw.pick(bases) + draw.whole(-1, 2)
        if dtype.kind in "iu":
            limits = np.iinfo(dtype)
            value = min(max(value, limits.min), limits.max)
        scores.append(value)
    score = np.array(scores, dtype)
    return np.array([draw.whole(0, 1) for _ in range(n)]), score, [Fraction(one.item()) for one in score]


def rows_of(label, values, lower):
    """(above, tied, hits) of the groups that hold a relevant item, by exact comparison."""
    items = sorted(zip(values, label, strict=True), key=lambda item: item[0], reverse=not lower)
    rows, above = [], 0
    for _, tied in groupby(items, key=lambda item: item[0]):
        flags = [flag for _, flag in tied]
        if any(flags):
            rows.append((above, len(flags), int(sum(flags))))
        above += len(flags)
    return rows


def check_rows(curve, label, values, lower, where):
    found = list(zip(curve.above.tolist(), curve.tied.tolist(), curve.hits.tolist(), strict=True))
    expected = rows_of(label, values, lower)
    if found != expected or curve.num_items != len(label):
        raise AssertionError(f"{found} of {curve.num_items}, not {expected}: {where}")


def joined(lists):
    return list(chain.from_iterable(lists))


def allowing(call):
    """What a call gives, or None if it refuses its arguments."""
    try:
        return call()
    except REFUSALS:
        return None


def mixed_batches(draw):
    """Batches of differing types, scanned: the exact curve, or an error; and the same by groups."""
    bases = [draw.pick(BASES) for _ in range(draw.whole(1, 2))]
    batches = [a_batch(draw, bases) for _ in range(draw.whole(2, 3))]
    label = np.concatenate([batch[0] for batch in batches])
    values = joined(batch[2] for batch in batches)
    lower, workers = draw.chance(3), draw.pick([1, 1, 2])
    where = f"{[(batch[0].tolist(), batch[1]) for batch in batches]}, lower={lower}"
    how = {"lower_is_better": lower, "workers": workers, "progress": False}
    if draw.chance(2):
        pieces = [batch[:2] for batch in batches]
        if draw.chance(4):
            how["sorted"] = "score"
        curve = allowing(lambda: hc.scan(lambda: iter(pieces), **how))
    elif find_spec("pyarrow"):
        pieces = [(*batch[:2], np.full(len(batch[0]), 7)) for batch in batches]
        curves = allowing(lambda: hc.scan(lambda: iter(pieces), group=3, **how))
        curve = curves and curves[0]
    else:
        return
    if curve is not None:
        check_rows(curve, label, values, lower, where)


def mixed_counters(draw):
    """Counters of thresholds and blocks of differing types, merged: the exact curve, or an error."""
    bases = [draw.pick(BASES)]
    batches = [a_batch(draw, bases, ("i8", "i8", "u8", "f8")) for _ in range(2)]
    lower = draw.chance(3)
    blocks, counters = [], []
    for label, score, values in batches:
        other = np.array([draw.pick(bases) + draw.whole(-1, 1) for _ in range(draw.whole(0, 2))])
        cuts = np.sort(np.concatenate([score[label == 1], other.astype(score.dtype)]))
        counter = hc.HitCounter(np.unique(cuts), lower_is_better=lower)
        blocks.append((label, values))
        counter.update(label, score)
        counters.append(counter)
    one, two = counters
    cuts = [counter.thresholds for counter in counters]
    where = f"{[(list(batch[0]), batch[1]) for batch in batches]}, {cuts}, lower={lower}"
    alike = [Fraction(x.item()) for x in one.thresholds] == [Fraction(x.item()) for x in two.thresholds]
    both = allowing(lambda: one.merge(two))
    if both is None:
        return
    if not alike:
        raise AssertionError(f"merged, though the thresholds differ: {where}")
    label, values = (joined(block[i] for block in blocks) for i in range(2))
    check_rows(both.curve(), label, values, lower, where)


def mixed_blocks(draw):
    """Blocks of differing types counted by one counter: the exact curve, or an error."""
    bases, lower = [draw.pick(BASES)], draw.chance(3)
    batches = [a_batch(draw, bases) for _ in range(draw.whole(1, 3))]
    hits = [score[label == 1] for label, score, _ in batches]
    dtype = draw.pick([np.int64, np.uint64, np.float64])
    cuts = {Fraction(one.item()) for array in hits for one in array}
    if any(Fraction(dtype(float(one)).item() if dtype is np.float64 else int(one)) != one for one in cuts) or (
        dtype is not np.float64 and cuts and not np.iinfo(dtype).min <= min(cuts) <= max(cuts) <= np.iinfo(dtype).max
    ):
        return
    counter = hc.HitCounter(np.array([dtype(int(one)) for one in cuts], dtype), lower_is_better=lower)
    where = f"{[(list(batch[0]), batch[1]) for batch in batches]}, {counter.thresholds!r}, lower={lower}"
    for label, score, _ in batches:
        if allowing(lambda label=label, score=score: counter.update(label, score) or True) is None:
            return
    label, values = (joined(batch[i] for batch in batches) for i in (0, 2))
    check_rows(counter.curve(), label, values, lower, where)


# --- groups -------------------------------------------------------------------------------------------------

NAMES = ([1, 2, 10], ["1", "2", "True"], [True, False], [1.0, 2.0, 0.5], ["é", "1.0", ""])


def mixed_groups(draw):
    """Groups named by numbers, truth values and texts in different batches: one query each, or an error."""
    batches, found = [], {}
    for _ in range(draw.whole(2, 3)):
        names, n = draw.pick(NAMES), draw.whole(1, 4)
        group = [draw.pick(names) for _ in range(n)]
        label, score = np.array([draw.whole(0, 1) for _ in range(n)]), np.array([draw.whole(0, 3) for _ in range(n)])
        batches.append((label, score.astype("f8"), np.array(group)))
        for name, flag, value in zip(group, label, score, strict=True):
            kind = "number" if isinstance(name, int | float) and not isinstance(name, bool) else type(name).__name__
            labels, scores = found.setdefault((kind, name), ([], []))
            labels.append(flag)
            scores.append(Fraction(int(value)))
    curves = allowing(lambda: hc.scan(lambda: iter(batches), group=3, progress=False, workers=draw.pick([1, 2])))
    if curves is None:
        return
    where = f"groups {[batch[2].tolist() for batch in batches]} became {curves.qid!r}"
    if len(curves) != len(found) or len(set(curves.qid.tolist())) != len(curves):
        raise AssertionError(where)
    tables_ = sorted(rows_of(*columns, False) for columns in found.values())
    if tables_ != sorted(list(zip(c.above.tolist(), c.tied.tolist(), c.hits.tolist(), strict=True)) for c in curves):
        raise AssertionError(f"the curves of {where}")


# --- files and Arrow ----------------------------------------------------------------------------------------

TEXTS = ("0.5", "1", "9007199254740992", "9007199254740993", "9007199254740994", "-9007199254740993", "1e3", "0.1",
         "4611686018427387905", "4611686018427387904", "1e308", "1e400", "-1e999", "1" + "0" * 310)  # fmt: skip
PLAIN = (10**17 + 1, 2**53, 2**53 + 1, 2**53 + 2, 2**60 + 1, 2**60, 5)


def mixed_decimals(draw):
    """Decimals in different batches and row groups: the exact curve, or an error."""
    kind = draw.pick([pa.decimal128(19, 0), pa.decimal128(25, 2)])
    batches, label, values = [], [], []
    wanted = [draw.pick(PLAIN) for _ in range(2)]
    for _ in range(draw.whole(2, 3)):
        n = draw.whole(1, 3)
        score = [Decimal(draw.pick(wanted) + draw.whole(0, 1)) / (4 if kind.scale else 1) for _ in range(n)]
        score = [one.quantize(Decimal((0, (1,), -kind.scale))) for one in score]
        flags = [draw.whole(0, 1) for _ in range(n)]
        label += flags
        values += map(Fraction, score)
        batches.append(pa.record_batch({"y": pa.array(flags), "s": pa.array(score, kind)}))
    source, whole = lambda: iter(batches), pa.Table.from_batches(batches)
    if draw.chance(3):
        folder = tempfile.TemporaryDirectory(dir=".")
        source = f"{folder.name}/table.parquet"
        parquet.write_table(whole, source, row_group_size=draw.whole(1, 3))
    curve = allowing(lambda: hc.scan(source, "y", "s", progress=False, workers=draw.pick([1, 2])))
    if curve is not None:
        check_rows(curve, label, values, False, f"decimals {[batch.to_pydict() for batch in batches]}")


def mixed_texts(draw):
    """Scores as text, read in one piece and in many: the same curve, or an error; beyond a float's range an error."""
    few = [draw.pick(TEXTS) for _ in range(3)]
    texts = [draw.pick(few) for _ in range(draw.whole(2, 9))]
    label = [draw.whole(0, 1) for _ in texts]
    lines = "".join(f"{flag},{text}\n" for flag, text in zip(label, texts, strict=True))
    with tempfile.TemporaryDirectory(dir=".") as folder:
        path = Path(folder) / "table.csv"
        path.write_text("y,s\n" + lines)
        whole = allowing(lambda: hc.scan(str(path), "y", "s", progress=False))
        slabs = {name: getattr(tables, name) for name in ("_FIRST_SLAB", "_SLAB") if hasattr(tables, name)}
        try:
            for name in slabs:
                setattr(tables, name, draw.pick([7, 20, 40]))
            parts = allowing(lambda: hc.scan(str(path), "y", "s", progress=False, workers=draw.pick([1, 2])))
        finally:
            for name, size in slabs.items():
                setattr(tables, name, size)
    if any(curve is not None for curve in (whole, parts)):
        if any(np.isinf(float(text)) for text in texts):
            raise AssertionError(f"{texts}: a number that no float holds is read")
        whole_numbers = not any("." in text or "e" in text for text in texts)
        exact = whole_numbers or all(float(text) == Fraction(text) for text in texts)
        for curve in (whole, parts):
            if curve is not None and exact:
                check_rows(curve, label, [Fraction(text) for text in texts], False, f"scores {texts}")
    if whole is not None and parts is not None and whole != parts:
        raise AssertionError(f"scores {texts}: {whole!r} in one piece, {parts!r} in parts")


SHARES = {mixed_batches: 1, mixed_counters: 1, mixed_blocks: 0.5}
if find_spec("pyarrow"):
    SHARES |= {mixed_groups: 1, mixed_decimals: 0.3, mixed_texts: 0.1}
