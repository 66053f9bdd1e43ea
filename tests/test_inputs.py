"""Containers and dtypes: whatever holds the numbers, the result is that of plain float64 or int64 arrays."""

import array
import ctypes
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hitcurve as hc
from hitcurve.compat import sklearn_metrics

RNG = np.random.default_rng(42)
N = 300
Y = (RNG.random(N) < 0.2).astype(np.int8)
S = RNG.integers(-50, 50, N).astype(np.float64)  # small integers: every dtype from int8 up holds them exactly
PLAIN = hc.HitCurve(Y, S)
AP = PLAIN.average_precision()


def same(curve):
    """Equal tables; the score column may be of another type, as the scores are."""
    return (
        np.array_equal(curve.above, PLAIN.above)
        and np.array_equal(curve.tied, PLAIN.tied)
        and np.array_equal(curve.hits, PLAIN.hits)
        and np.array_equal(np.asarray(curve.score, dtype=np.float64), PLAIN.score)
        and (curve.num_items, curve.num_relevant) == (PLAIN.num_items, PLAIN.num_relevant)
    )


def check(y, s, thresholds=S[Y == 1]):
    assert same(hc.HitCurve(y, s))
    assert hc.average_precision(y, s) == AP
    assert same(hc.HitCurves(y, s, offsets=[0, N])[0])
    assert hc.mean_average_precision(y, s, qid=np.zeros(N, dtype=int)) == AP
    counter = hc.HitCounter(thresholds)
    counter.update(y, s)
    assert same(counter.curve())
    at = hc.at_threshold(y, s, 10)
    assert (at.tp, at.fp) == (np.count_nonzero((S >= 10) & (Y == 1)), np.count_nonzero((S >= 10) & (Y == 0)))


# --- numpy --------------------------------------------------------------------------------------------------

INTEGERS = ["i1", "i2", "i4", "i8"]
UNSIGNED = ["u1", "u2", "u4", "u8"]
FLOATS = ["f2", "f4", "f8", "g"]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
def test_score_dtypes(dtype, order):
    dtype = np.dtype(dtype).newbyteorder(order)
    s = S.astype(dtype)
    check(Y, s, s[Y == 1])


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("dtype", UNSIGNED)
def test_unsigned_scores(dtype, order):
    s = (S + 50).astype(np.dtype(dtype).newbyteorder(order))
    curve = hc.HitCurve(Y, s)
    np.testing.assert_array_equal(np.asarray(curve.score, dtype=np.float64), PLAIN.score + 50)
    assert curve.average_precision() == AP
    lower = hc.HitCurve(Y, s, lower_is_better=True)
    assert lower.average_precision() == hc.HitCurve(Y, -S).average_precision()


@pytest.mark.parametrize("dtype", ["?", *INTEGERS, *UNSIGNED, *FLOATS, ">i8", ">f4"])
def test_label_dtypes(dtype):
    check(Y.astype(dtype), S)


def test_boolean_scores():
    s = S > 20
    assert hc.average_precision(Y, s) == hc.average_precision(Y, s.astype(float))


def layouts(a):
    wide = np.zeros((len(a), 3), dtype=a.dtype)
    wide[:, 1] = a
    yield "column", wide[:, 1]
    yield "column, Fortran order", np.asfortranarray(wide)[:, 1]
    yield "every other", np.repeat(a, 2)[::2]
    yield "backwards", a[::-1].copy()[::-1]
    record = np.zeros(len(a), dtype=[("pad", "i1"), ("value", a.dtype)])  # unaligned too
    record["value"] = a
    yield "field", record["value"]
    raw = np.frombuffer(b"\0" + a.tobytes(), dtype=np.int8)[1:]
    yield "unaligned", raw.view(a.dtype)
    fixed = a.copy()
    fixed.flags.writeable = False
    yield "read-only", fixed
    yield "subclass", a.view(type("Sub", (np.ndarray,), {}))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
@pytest.mark.parametrize("name", [name for name, _ in layouts(S)])
def test_layouts(name, dtype):
    y, s = dict(layouts(Y))[name], dict(layouts(S.astype(dtype)))[name]
    assert np.array_equal(y, Y)
    assert np.array_equal(s, S)
    check(y, s)
    check(Y, s)
    check(y, S)


def test_memmap(tmp_path):
    S.astype("f4").tofile(tmp_path / "scores")
    Y.tofile(tmp_path / "labels")
    s = np.memmap(tmp_path / "scores", dtype="f4", mode="r")
    y = np.memmap(tmp_path / "labels", dtype=Y.dtype, mode="r")
    check(y, s)
    np.save(tmp_path / "scores.npy", S)
    check(Y, np.load(tmp_path / "scores.npy", mmap_mode="r"))


def test_zero_strides():
    y, s = np.broadcast_to(np.int8(1), 9), np.broadcast_to(2.5, 9)
    assert hc.HitCurve(y, s) == hc.HitCurve(np.ones(9), np.full(9, 2.5))


@pytest.mark.parametrize("dtype", [*INTEGERS, *UNSIGNED, *FLOATS, "?"])
def test_empty(dtype):
    curve = hc.HitCurve(np.empty(0, dtype), np.empty(0, dtype))
    assert (curve.num_items, curve.num_relevant, len(curve)) == (0, 0, 0)
    assert np.isnan(hc.average_precision(np.empty(0, dtype), np.empty(0, dtype)))
    assert np.isnan(hc.average_precision([], []))


# values that another type would round

BEYOND_FLOATS = {
    "int64": np.array([2**62 + 1, 2**62, 2**53 + 1, 2**53, -(2**53), -(2**53) - 1], dtype=np.int64),
    "uint64": np.array([2**64 - 1, 2**64 - 2, 2**63 + 1, 2**63, 2**53 + 1, 2**53], dtype=np.uint64),
    "float64": 1 + np.arange(6)[::-1] * np.finfo(np.float64).eps,
    "float32": (1 + np.arange(6)[::-1] * np.finfo(np.float32).eps).astype(np.float32),
    "float16": (1 + np.arange(6)[::-1] * np.finfo(np.float16).eps).astype(np.float16),
    "longdouble": 1 + np.arange(6)[::-1].astype(np.longdouble) * np.finfo(np.longdouble).eps,
    "subnormal": np.arange(6)[::-1] * 5e-324,
}


@pytest.mark.parametrize("name", BEYOND_FLOATS)
@pytest.mark.parametrize("lower", [False, True])
def test_neighbouring_scores_are_not_tied(name, lower):
    s = BEYOND_FLOATS[name]
    y = [0, 1, 0, 1, 0, 1]
    curve = hc.HitCurve(y, s, lower_is_better=lower)
    assert list(curve.above) == ([0, 2, 4] if lower else [1, 3, 5])
    assert list(curve.tied) == [1, 1, 1]
    assert list(hc.HitCurves([y], [s], lower_is_better=lower)[0].above) == list(curve.above)


def test_lists_of_large_integers():
    assert hc.average_precision([0, 1], [2**53, 2**53 + 1]) == 1.0
    assert hc.average_precision([0, 1], [2**53 + 1, 2**53]) == 0.5
    assert hc.average_precision([0, 1], [2**63, 2**63 + 1]) == 1.0
    with pytest.raises(TypeError, match="y_score"):
        hc.average_precision([0, 1], [2**64, 2**64 + 1])


def test_signed_zeros_are_equal():
    for dtype in ("f2", "f4", "f8"):
        assert list(hc.HitCurve([1, 0], np.array([0.0, -0.0], dtype)).tied) == [2]


# --- Python -------------------------------------------------------------------------------------------------


class OnlyArray:
    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


class OnlyInterface:
    def __init__(self, values):
        self.values = values
        self.__array_interface__ = values.__array_interface__


class OnlyDLPack:
    def __init__(self, values):
        # Before numpy 2.1 an array that is read-only could not be exported.
        old = np.lib.NumpyVersion(np.__version__) < "2.1.0"
        self.values = values.copy() if old and not values.flags.writeable else values

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


PYTHON = {
    "list": list,
    "list of Python numbers": lambda a: a.tolist(),
    "tuple": tuple,
    "array.array": lambda a: array.array("d" if a.dtype.kind == "f" else "b", a.tolist()),
    "memoryview": memoryview,
    "bytes of ctypes": lambda a: (ctypes.c_double * len(a))(*a.tolist()),
    "__array__": OnlyArray,
    "__array_interface__": OnlyInterface,
    "__dlpack__": OnlyDLPack,
}


@pytest.mark.parametrize("name", PYTHON)
def test_python_containers(name):
    make = PYTHON[name]
    check(make(Y), make(S))
    check(Y, make(S))
    check(make(Y), S)


def test_ranges():
    assert hc.HitCurve([0, 0, 1, 1, 0], range(5)) == hc.HitCurve([0, 0, 1, 1, 0], np.arange(5))
    assert hc.average_precision(range(2), range(1, -1, -1)) == 0.5


def test_mixed_list():
    assert hc.average_precision([True, 0, 1.0], [3, 2.5, True]) == hc.average_precision([1, 0, 1], [3.0, 2.5, 1.0])


def test_the_object_is_not_kept():
    s = S.copy()
    curve = hc.HitCurve(Y, s)
    s[:] = 0
    assert same(curve)


# --- pandas, polars, Arrow, torch ---------------------------------------------------------------------------


def series(kind):
    if kind.startswith("pandas"):
        pd = pytest.importorskip("pandas")
        if kind == "pandas column":
            return lambda a: pd.DataFrame({"a": a, "b": 1}, index=np.arange(N)[::-1])["a"]
        if kind == "pandas nullable":
            return lambda a: pd.array(a.tolist(), dtype="Int64" if a.dtype.kind == "i" else "Float64")
        if kind == "pandas nullable series":
            return lambda a: pd.Series(a).astype("Int64" if a.dtype.kind == "i" else "Float64")
        if kind == "pandas boolean":
            return lambda a: pd.Series(a == 1, dtype="boolean") if a is Y else pd.Series(a)
        if kind == "pandas Arrow":
            pytest.importorskip("pyarrow")
            return lambda a: pd.Series(a, dtype="int64[pyarrow]" if a.dtype.kind == "i" else "double[pyarrow]")
        return pd.Series if kind == "pandas series" else pd.Index
    if kind.startswith("polars"):
        pl = pytest.importorskip("polars")
        if kind == "polars in chunks":
            return lambda a: pl.concat([pl.Series(a[:100]), pl.Series(a[100:])], rechunk=False)
        if kind == "polars boolean":
            return lambda a: pl.Series(a == 1) if a is Y else pl.Series(a)
        return pl.Series
    if kind.startswith("pyarrow"):
        pa = pytest.importorskip("pyarrow")
        if kind == "pyarrow in chunks":
            return lambda a: pa.chunked_array([a[:100], a[100:100], a[100:]])
        if kind == "pyarrow slice":
            return lambda a: pa.array(np.concatenate([a[:3], a]))[3:]
        if kind == "pyarrow boolean":
            return lambda a: pa.array(a == 1) if a is Y else pa.array(a)
        return pa.array
    torch = pytest.importorskip("torch")
    return lambda a: torch.from_numpy(a.copy())


KINDS = [
    "pandas series",
    "pandas index",
    "pandas column",
    "pandas nullable",
    "pandas nullable series",
    "pandas boolean",
    "pandas Arrow",
    "polars series",
    "polars in chunks",
    "polars boolean",
    "pyarrow array",
    "pyarrow in chunks",
    "pyarrow slice",
    "pyarrow boolean",
    "torch",
]


@pytest.mark.parametrize("kind", KINDS)
def test_columns(kind):
    make = series(kind)
    check(make(Y), make(S))
    check(make(Y), S)
    check(Y, make(S))


@pytest.mark.parametrize("kind", KINDS)
def test_columns_as_options(kind):
    make = series(kind)
    weight, qid, key = np.arange(N) % 3 + 0.5, np.arange(N) % 7, -np.arange(N)
    assert hc.HitCurve(Y, S, tiebreak=make(key)) == hc.HitCurve(Y, S, tiebreak=key)
    assert hc.HitCurve(Y, S, sample_weight=make(weight)) == hc.HitCurve(Y, S, sample_weight=weight)
    ours, plain = hc.HitCurves(Y, S, qid=make(qid)), hc.HitCurves(Y, S, qid=qid)
    assert list(ours.qid) == list(plain.qid) == list(range(7))
    np.testing.assert_array_equal(ours.average_precision(), plain.average_precision())
    np.testing.assert_array_equal(PLAIN.precision(make(qid + 1)), PLAIN.precision(qid + 1))


@pytest.mark.parametrize("kind", ["Int64", "Float64", "boolean", "int64[pyarrow]", "double[pyarrow]"])
def test_missing_values_in_pandas(kind):
    pd = pytest.importorskip("pandas")
    y = pd.Series([0, 1, None, 1], dtype=kind)
    s = pd.Series([1, 0, None, 1], dtype=kind)
    with pytest.raises((ValueError, TypeError), match="y_true"):
        hc.HitCurve(y, [4, 3, 2, 1])
    with pytest.raises((ValueError, TypeError), match="y_score"):
        hc.HitCurve([0, 1, 0, 1], s)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_missing_values_in_columns(library):
    module = pytest.importorskip(library)
    make = module.Series if library == "polars" else module.array
    for missing in ([0, None, 1], [True, None, False], [0.0, None, 1.0]):
        with pytest.raises((ValueError, TypeError), match="y_true"):
            hc.HitCurve(make(missing), [3, 2, 1])
        with pytest.raises((ValueError, TypeError), match="y_score"):
            hc.HitCurve([0, 1, 0], make(missing))


def counted(thresholds, labels, scores):
    counter = hc.HitCounter(thresholds)
    counter.update(labels, scores)
    return counter.curve()


WIDE = {
    "y_true": lambda read: hc.HitCurve(read([1, 0, 1]), [3, 2, 1]),
    "y_score": lambda read: hc.HitCurve([1, 0, 1], read([2**60 + 1, 2**60, 5])),
    "levels": lambda read: hc.GainCurve(read([3, 0, 1]), read([2, 3, 1])),
    "ndcg": lambda read: hc.ndcg(read([3, 0, 1]), read([2, 3, 1])),
    "average_precision": lambda read: hc.average_precision(read([1, 0, 1]), read([-2, 3, 2**63 - 1])),
    "uint64": lambda read: hc.average_precision([1, 0, 1], read([2**63 + 1, 2**63, 2**64 - 1])),
    "relevance_level": lambda read: hc.HitCurve(read([1, 0, 2]), [3, 2, 1], relevance_level=2),
    "qid": lambda read: hc.HitCurves([1, 0, 1], [3, 2, 1], qid=read([2**60 + 1, 2**60, 2**60])),
    "offsets": lambda read: hc.HitCurves([1, 0, 1], [3, 2, 1], offsets=read([0, 2, 3])),
    "tiebreak": lambda read: hc.HitCurve([1, 0, 1], [1, 1, 1], tiebreak=read([2**60 + 1, 2**60, 5])),
    "sample_weight": lambda read: hc.HitCurve([1, 0, 1], [3, 2, 1], sample_weight=read([1, 2, 3])).average_precision(
        ties="threshold"),
    "unretrieved": lambda read: hc.GainCurve([1, 0, 1], [3, 2, 1], unretrieved=read([2, 1])),
    "thresholds": lambda read: counted(read([3, 1]), read([1, 0, 1]), read([3, 2, 1])),
    "weights": lambda read: hc.HitCurves([[1, 0], [0, 1]], [[2, 1]] * 2).mean("AP", weights=read([1, 3])),
    "k": lambda read: hc.HitCurve([1, 0, 1], [3, 2, 1]).precision(read([1, 3])).tolist(),
    "from_ranked": lambda read: hc.HitCurve.from_ranked(read([1, 0, 1])),
    "compare": lambda read: str(hc.compare(read([1, 0, 1]), {"a": read([1, 2, 3]), "b": [3, 2, 1]}, rng=0,
                                           n_resamples=99)),
    "evaluate": lambda read: hc.evaluate((read([1, 1]), read([5, 6]), read([0, 1])),
                                         (read([1, 1]), read([5, 6]), read([9, 8])), "AP").means,
    "scikit-learn": lambda read: sklearn_metrics.average_precision_score(read([1, 0, 1]), read([3, 2, 1])),
}  # fmt: skip


SIGNED = "average_precision"  # has a value below 0


@pytest.mark.parametrize(("kind", "name"), [
    *(("Int128", name) for name in WIDE), *(("UInt128", name) for name in WIDE if name != SIGNED)])
def test_integers_of_128_bits(name, kind):
    """A type of polars that numpy lacks: the values are read as a list of them is."""
    pl = pytest.importorskip("polars")
    if not hasattr(pl, kind):
        pytest.skip(f"this polars has no {kind}")
    assert WIDE[name](lambda values: pl.Series(values, dtype=getattr(pl, kind))) == WIDE[name](list)


def test_integers_of_128_bits_that_no_array_holds():
    pl = pytest.importorskip("polars")
    missing, beyond = (pl.Series([5, value, 3], dtype=pl.Int128) for value in (None, 2**64))
    for read in (hc.HitCurve, hc.GainCurve, hc.average_precision, hc.ndcg):
        with pytest.raises(TypeError, match=r"y_score\[1\] is 18446744073709551616, beyond 64 bits"):
            read([1, 0, 1], beyond)
        with pytest.raises(TypeError, match=r"y_true\[1\] is 18446744073709551616, beyond 64 bits"):
            read(beyond, [3, 2, 1])
        with pytest.raises(ValueError, match=r"y_score\[1\] is nan"):
            read([1, 0, 1], missing)
    last = {"nan_policy": "worst"}
    assert hc.HitCurve([1, 0, 1], missing, **last) == hc.HitCurve([1, 0, 1], [5, np.nan, 3], **last)
    wide = {"a": pl.Int128, "b": pl.Float64}
    y = pl.DataFrame({"a": [1, 0], "b": [0, 1]}, schema=wide)
    s = pl.DataFrame({"a": [7, 8], "b": [0.5, 9]}, schema=wide)
    assert hc.HitCurves(y, s) == hc.HitCurves([[1, 0], [0, 1]], [[7, 0.5], [8, 9]])
    with pytest.raises((ValueError, TypeError), match=r"y_score.* is 9007199254740993"):
        hc.HitCurves(y, pl.DataFrame({"a": [2**53 + 1, 8], "b": [0.5, 9]}, schema=wide))


class StandIn:
    """What torch's tensors do where numpy reads them."""

    def __init__(self, values, dtype="torch.float32", requires_grad=False, device="cpu"):
        self.values, self.dtype, self.requires_grad, self.device = np.asarray(values), dtype, requires_grad, device

    def __len__(self):
        return len(self.values)

    def __getitem__(self, place):
        return StandIn(self.values[place], self.dtype, self.requires_grad, self.device)

    def __array__(self, dtype=None, copy=None):
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if self.dtype not in ("torch.float32", "torch.int64"):
            raise TypeError("Got unsupported ScalarType " + self.dtype)
        if self.device != "cpu":
            raise TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu()")
        return self.values if dtype is None else self.values.astype(dtype)

    def __float__(self):
        return float(self.values)

    def detach(self):
        return StandIn(self.values, self.dtype, False, self.device)

    def float(self):
        return StandIn(self.values.astype("f4"), "torch.float32", self.requires_grad, self.device)


def tensors(library):
    """(a tensor of these values and this type, with a gradient or without one)"""
    if library == "stand-in":
        return lambda values, dtype, gradient: StandIn(values, "torch." + dtype, gradient)
    torch = pytest.importorskip("torch")
    return lambda values, dtype, gradient: torch.tensor(values).to(getattr(torch, dtype)).requires_grad_(gradient)


@pytest.mark.parametrize("library", ["stand-in", "torch"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float8_e4m3fn"])
@pytest.mark.parametrize("gradient", [False, True])
def test_tensors_that_numpy_does_not_read(library, dtype, gradient):
    """They are detached, and types that numpy lacks widen to float32, which changes no value."""
    make, floats = tensors(library), np.float32(S % 8)  # each type has these
    if dtype.startswith("float8") and library == "torch" and gradient:
        gradient = False  # torch itself knows no gradient there
    s = make(floats, dtype, gradient)
    wanted = hc.HitCurve(Y, floats)
    assert hc.HitCurve(Y, s) == wanted
    assert hc.HitCurve(Y, s).score.dtype == np.float32
    assert hc.average_precision(s, s, relevance_level=3) == hc.average_precision(floats, floats, relevance_level=3)
    assert hc.HitCurve(Y, floats, tiebreak=s) == wanted
    assert hc.HitCurves([Y, Y], [s, s]) == hc.HitCurves([Y, Y], [floats, floats])  # in lists too
    assert hc.HitCurve(Y[:9], [s[i] for i in range(9)]) == hc.HitCurve(Y[:9], floats[:9])
    assert hc.GainCurve(s, s).ndcg() == hc.GainCurve(floats, floats).ndcg()
    counter = hc.HitCounter(floats)
    counter.update(Y, s)
    assert counter.curve() == wanted
    docs = [f"d{i}" for i in range(N)]
    qrels = {"query_id": ["q"] * N, "doc_id": docs, "relevance": Y}
    found = [hc.evaluate(qrels, {**qrels, "score": score}, "AP").means for score in (s, floats)]
    assert found[0] == found[1]
    with pytest.raises(ValueError, match=r"y_true\[0\] is 7"):
        hc.HitCurve([7, *Y[1:]], s)
    assert getattr(s, "requires_grad", False) is gradient  # the caller's tensor is as it was


def test_tensors_on_another_device():
    """The error is torch's, which says the call to add, and names the argument."""
    for s in (StandIn(S, device="cuda"), StandIn(S, "torch.bfloat16", requires_grad=True, device="cuda")):
        with pytest.raises(TypeError, match=r"^y_score of type StandIn.*Use Tensor.cpu\(\)"):
            hc.HitCurve(Y, s)
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match=r"^y_score of type Tensor.*Use Tensor.cpu\(\)"):
        hc.HitCurve(Y, torch.empty(N, device="meta", requires_grad=True))


# --- queries ------------------------------------------------------------------------------------------------

QID = np.repeat(np.arange(30), 10)


def test_rows():
    plain = hc.HitCurves(Y.reshape(30, 10), S.reshape(30, 10))
    ap = plain.average_precision()
    np.testing.assert_array_equal(ap, hc.HitCurves(Y, S, qid=QID).average_precision())
    for make in (
        lambda a: a.tolist(),
        np.asfortranarray,
        lambda a: np.repeat(a, 2, axis=1)[:, ::2],
        lambda a: np.repeat(a, 2, axis=0)[::2],
        lambda a: a[::-1].copy()[::-1],
        lambda a: a.T.copy().T,
        lambda a: a.astype(a.dtype.newbyteorder(">")),
        OnlyArray,
        OnlyDLPack,
    ):
        y, s = make(Y.reshape(30, 10)), make(S.reshape(30, 10))
        assert hc.HitCurves(y, s) == plain
        np.testing.assert_array_equal(hc.HitCurves(y, s).average_precision(), ap)


@pytest.mark.parametrize("options", [
    {}, {"lower_is_better": True}, {"nan_policy": "worst"}, {"num_relevant": [11] * 30}, {"relevance_level": 2},
    {"workers": 2},
])  # fmt: skip
def test_masks(options):
    """What lies in padding does not matter."""
    rng = np.random.default_rng(4)
    mask = rng.random((30, 10)) < 0.6
    mask[3] = False
    y = rng.integers(0, 4, (30, 10)) if "relevance_level" in options else Y.reshape(30, 10)
    s = S.reshape(30, 10).astype(np.float64)
    lengths = mask.sum(axis=1)
    offsets = np.append(0, np.cumsum(lengths))
    wanted = hc.HitCurves(y[mask], s[mask], offsets=offsets, **options)
    filled, scores = np.where(mask, y, -7), np.where(mask, s, np.nan)
    before = mask.copy(), filled.copy(), scores.copy()
    for kept in (mask, mask.tolist(), np.asfortranarray(mask)):
        assert hc.HitCurves(filled, scores, mask=kept, **options) == wanted
        mean = hc.mean_average_precision(filled, scores, mask=kept, empty="zero", **options)
        assert mean == wanted.mean_average_precision(empty="zero")
    for one, other in zip(before, (mask, filled, scores), strict=True):
        np.testing.assert_array_equal(one, other)
    assert hc.HitCurves(y, s, mask=np.ones_like(mask), **options) == hc.HitCurves(y, s, **options)
    assert wanted.num_items.tolist() == lengths.tolist()


def test_data_frame():
    pd = pytest.importorskip("pandas")
    y, s = pd.DataFrame(Y.reshape(30, 10)), pd.DataFrame(S.reshape(30, 10))
    assert hc.HitCurves(y, s) == hc.HitCurves(Y.reshape(30, 10), S.reshape(30, 10))


@pytest.mark.parametrize("order", ["C", "F"])
def test_models(order):
    models = np.asarray(np.column_stack([S, -S, S % 7]), order=order)
    curves = hc.HitCurves(Y, models)
    assert len(curves) == 3
    for i in range(3):
        assert curves[i] == hc.HitCurve(Y, models[:, i])


def string_ids(kind):
    words = [f"q{i:02d}é" for i in QID]
    if kind == "list":
        return words
    if kind == "numpy":
        return np.array(words)
    if kind == "object":
        return np.array(words, dtype=object)
    if kind == "StringDType":
        return np.array(words, dtype=np.dtypes.StringDType())
    if kind == "bytes":
        return [word.encode() for word in words]
    if kind == "pandas":
        return pytest.importorskip("pandas").Series(words)
    if kind == "pandas category":
        return pytest.importorskip("pandas").Series(words, dtype="category")
    if kind == "polars":
        return pytest.importorskip("polars").Series(words)
    return pytest.importorskip("pyarrow").array(words)


@pytest.mark.parametrize(
    "kind",
    ["list", "numpy", "object", "StringDType", "bytes", "pandas", "pandas category", "polars", "pyarrow"],
)
def test_string_query_ids(kind):
    plain = hc.HitCurves(Y, S, qid=QID)
    mixed = np.random.default_rng(0).permutation(N)
    ids = string_ids(kind)
    curves = hc.HitCurves(Y, S, qid=ids)
    np.testing.assert_array_equal(curves.average_precision(), plain.average_precision())
    assert sorted(curves.qid) == list(curves.qid)
    names = [q.decode() if isinstance(q, bytes) else q for q in curves.qid]
    assert names == [f"q{i:02d}é" for i in range(30)]
    shuffled = hc.HitCurves(Y[mixed], S[mixed], qid=[list(np.asarray(ids))[i] for i in mixed])
    np.testing.assert_array_equal(shuffled.average_precision(), plain.average_precision())


@pytest.mark.parametrize("dtype", ["?", *INTEGERS, *UNSIGNED, "f8", ">i4", "M8[D]"])
def test_query_id_dtypes(dtype):
    ids = (QID % 2 if dtype == "?" else QID).astype(dtype)
    plain = hc.HitCurves(Y, S, qid=ids.astype(np.int64))
    curves = hc.HitCurves(Y, S, qid=ids)
    np.testing.assert_array_equal(curves.average_precision(), plain.average_precision())
    np.testing.assert_array_equal(curves.qid, np.unique(ids))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_query_ids_at_the_ends_of_their_type(dtype):
    """The difference of two int8 need not be an int8."""
    limits = np.iinfo(dtype)
    n = 20_000 if limits.bits == 16 else 30
    for ids in ([limits.min, limits.max], [limits.max - 3, limits.max], [limits.min, limits.min + 3]):
        qid = np.resize(np.array(ids, dtype), n)
        curves = hc.HitCurves(np.arange(n) % 3 == 0, np.arange(n), qid=qid)
        assert curves.qid.dtype == np.dtype(dtype)
        assert curves.qid.tolist() == ids
        assert curves[1] == hc.HitCurve(np.arange(1, n, 2) % 3 == 0, np.arange(1, n, 2))


def test_query_ids_far_apart_and_unsorted():
    ids = np.array([2**62, -(2**63), 2**63 - 1, 0, -1, 1], dtype=np.int64)
    rng = np.random.default_rng(5)
    which = rng.integers(0, 6, N)
    curves = hc.HitCurves(Y, S, qid=ids[which])
    np.testing.assert_array_equal(curves.qid, np.sort(ids))
    for i, q in enumerate(curves.qid):
        mine = ids[which] == q
        assert curves[i] == hc.HitCurve(Y[mine], S[mine])


@pytest.mark.parametrize("dtype", [*INTEGERS[1:], *UNSIGNED[1:], ">i4"])
def test_offset_dtypes(dtype):
    offsets = np.array([0, 0, 100, 250, 300])
    plain = hc.HitCurves(Y, S, offsets=offsets)
    assert hc.HitCurves(Y, S, offsets=offsets.astype(dtype)) == plain
    assert hc.HitCurves(Y, S, offsets=offsets.tolist()) == plain
    assert list(plain.num_items) == [0, 100, 150, 50]


# --- other entrances ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [list, tuple, OnlyArray, OnlyDLPack, lambda a: a[::-1].copy()[::-1]])
def test_from_ranked_and_from_ranks(make):
    flags = np.array([0, 1, 1, 0, 0, 1])
    plain = hc.HitCurve(flags, -np.arange(6))
    for curve in (
        hc.HitCurve.from_ranked(make(flags)),
        hc.HitCurve.from_ranked(make(flags.astype(bool))),
        hc.HitCurve.from_ranks(make(np.array([2, 3, 6])), num_items=6),
        hc.HitCurve.from_ranks(make(np.array([6, 2, 3])), num_items=6),
        hc.HitCurve.from_ranks(make(np.array([3, 6, 2], dtype=np.uint8)), num_items=6),
        hc.HitCurve.from_table(None, make(plain.above), make(plain.tied), make(plain.hits), num_items=6),
    ):
        assert curve.average_precision() == plain.average_precision()
        assert curve.bedroc() == plain.bedroc()
        assert list(curve.above) == [1, 2, 5]


def test_numpy_scalars_as_options():
    assert PLAIN.precision(np.int64(10)) == PLAIN.precision(10)
    assert PLAIN.precision(np.uint8(10)) == PLAIN.precision(10)
    assert PLAIN.precision(fraction=np.float64(0.07)) == PLAIN.precision(fraction=0.07) == PLAIN.precision(21)
    assert hc.average_precision(Y, S, k=np.int32(7)) == hc.average_precision(Y, S, k=7)
    assert hc.average_precision(Y, S, num_relevant=np.int64(90)) == hc.average_precision(Y, S, num_relevant=90)
    assert PLAIN.bedroc(np.float32(20)) == PLAIN.bedroc(20) == PLAIN.bedroc(20.0)
    assert hc.HitCurve(Y, S, lower_is_better=np.True_) == hc.HitCurve(Y, S, lower_is_better=True)


@pytest.mark.parametrize("ties", ["expected", "best", "worst", "threshold"])
def test_a_single_rank_reads_as_an_array_of_one(ties):
    for curves in (PLAIN, hc.HitCurves(Y, np.round(S, 1), qid=np.arange(len(Y)) % 7)):
        measures = [curves.precision, curves.recall, curves.hits_at, curves.f_score, curves.fall_out]
        measures += [partial(curves.average_precision, normalize=how) for how in ("min", "relevant", "hits")]
        for measure in measures:
            for k in (1, 7, 10, 299, 10_000, 2**62):
                assert np.array_equal(measure(k, ties=ties), measure([k], ties=ties)[..., 0], equal_nan=True)


@pytest.mark.parametrize("name", ["bedroc", "rie", "log_auc", "average_precision", "hits_at"])
def test_a_single_number_reads_as_an_array_of_one(name):
    for curves in (PLAIN, hc.HitCurves(Y, np.round(S, 1), qid=np.arange(len(Y)) % 7)):
        measure = getattr(curves, name)
        for x in (1, 0.5, 0.001, 20.0, 0, -1, -1.0, np.nan, np.inf, True, 2**70, 2**2000):
            try:
                several = measure([x])[..., 0]
            except (TypeError, ValueError) as error:
                with pytest.raises(type(error)) as single:
                    measure(x)
                assert str(single.value) == str(error).replace("[0]", "")
            else:
                assert np.array_equal(measure(x), several, equal_nan=True)


@pytest.mark.parametrize("name", [name for name in PYTHON if name != "bytes of ctypes"])
def test_containers_as_options(name):
    """Every array argument comes in by the same protocols."""
    make = PYTHON[name]
    k, shares = np.array([1, 10, 100], np.int8), np.array([0.01, 0.25, 1.0])
    assert PLAIN.precision(make(k)).tolist() == PLAIN.precision(k).tolist()
    assert PLAIN.average_precision(make(k)).tolist() == PLAIN.average_precision(k).tolist()
    for measure in (PLAIN.enrichment_factor, PLAIN.bedroc, PLAIN.roc_enrichment):
        assert measure(make(shares)).tolist() == measure(shares).tolist()
    y, s, found = Y[:100], S[:100], np.array([20, 30], np.int8)
    curves = hc.HitCurves(y, s, offsets=make(np.array([0, 40, 100], np.int8)), num_relevant=make(found))
    assert curves == hc.HitCurves(y, s, offsets=[0, 40, 100], num_relevant=[20, 30])
    assert hc.HitCurves(y, s, qid=make(np.arange(100, dtype=np.int8) % 3)) == hc.HitCurves(y, s, qid=np.arange(100) % 3)
    plain = hc.compare({"a": shares, "b": -shares}, rng=0)
    assert str(hc.compare({"a": make(shares), "b": make(-shares)}, rng=0)) == str(plain)


def test_arrays_of_cutoffs():
    k = np.array([[1, 2, 3], [10, 300, 1000]])
    for measure in (PLAIN.precision, PLAIN.recall, PLAIN.hits_at, PLAIN.success, PLAIN.f_score):
        values = measure(k)
        assert values.shape == k.shape
        assert values.tolist() == [[measure(int(i)) for i in row] for row in k]
        assert measure(k.tolist()).tolist() == values.tolist()
        assert measure(k[:0]).shape == (0, 3)
    curves = hc.HitCurves(Y, S, qid=QID)
    assert curves.precision(k).shape == (30, 2, 3)
    assert curves.precision(3).shape == (30,)
    assert curves[4].precision(k).tolist() == curves.precision(k)[4].tolist()


def test_graded_labels():
    grades = RNG.integers(-2, 4, N)
    for level in (1, 2, 0.5, 3):
        for labels in (grades, grades.astype(float), grades.tolist(), grades.astype("f4")):
            assert hc.HitCurve(labels, S, relevance_level=level) == hc.HitCurve(grades >= level, S)


def level_routes(labels, level):
    """Which labels are relevant from this level up, by every way in that takes one."""
    n = len(labels)
    score = np.arange(n, 0.0, -1)
    options = {"relevance_level": level}
    # The items are ranked as they lie: the ranks of the relevant ones, and AP, which differs for all sets of ranks.
    curve = hc.HitCurve(labels, score, **options)
    yield "HitCurve", curve.above.tolist()
    yield "tiebreak", hc.HitCurve(labels, score, tiebreak="order", **options).above.tolist()
    yield "offsets", hc.HitCurves(labels, score, offsets=[0, n], **options)[0].above.tolist()
    yield "qid", hc.HitCurves(labels, score, qid=np.zeros(n, int), **options)[0].above.tolist()
    yield "rows", hc.HitCurves([labels], [score], **options)[0].above.tolist()
    yield "columns", hc.HitCurves(labels, score[:, None], **options)[0].above.tolist()
    ap, mean = hc.average_precision, hc.mean_average_precision
    yield "AP", curve.above.tolist() if same_float(ap(labels, score, **options), curve.average_precision()) else None
    got = mean(labels, score, offsets=[0, n], **options)
    yield "MAP", curve.above.tolist() if same_float(got, curve.average_precision()) else None
    cuts = [hc.at_threshold(labels, score, cut, **options).tp for cut in range(n, 0, -1)]
    yield "at_threshold", [i for i, more in enumerate(np.diff([0, *cuts])) if more]
    if 0 < len(curve) < n:
        compared = hc.compare(labels, {"a": score, "b": -score}, measures="ROCAUC", **options)
        ours = hc.compare(np.isin(np.arange(n), curve.above), {"a": score, "b": -score}, measures="ROCAUC")
        yield "compare", curve.above.tolist() if str(compared) == str(ours) else None


def same_float(a, b):
    return a == b or (a != a and b != b)


NEAR = [2**k + d for k in (24, 53, 62) for d in range(-3, 4)] + [-(2**53) - 3, -(2**53), -1, 0, 1, 2, 5, 2**63 - 1]
BETWEEN = [0.5, 0.7, -0.5, 1e300, -1e300, np.inf, -np.inf, 16777217.5]
LEVEL_TYPES = [float, np.float64, np.float32, np.float16, np.longdouble]


@given(st.data())
def test_relevance_levels_of_every_type(data):
    """Whole labels compare exactly; with float labels the level is rounded to their type, whatever its own."""
    dtype = np.dtype(data.draw(st.sampled_from(["i1", "u1", "i4", "i8", "u8", "f2", "f4", "f8", "g", "?"])))
    values = st.sampled_from([*NEAR, *BETWEEN])
    level = data.draw(values)
    with np.errstate(over="ignore"):
        if isinstance(level, float) or data.draw(st.booleans()):
            level = data.draw(st.sampled_from(LEVEL_TYPES))(level)
        drawn = data.draw(st.lists(values, min_size=1, max_size=6))
        if dtype.kind == "f":
            labels = np.array([*drawn, level]).astype(dtype)
            exact = dtype.type(level)
        else:
            low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
            labels = np.array([int(min(max(one, low), high)) for one in drawn], dtype)
            exact = float(level) if np.isinf(level) else Fraction(*level.as_integer_ratio())
    expected = [i for i, one in enumerate(labels.tolist() if dtype.kind != "f" else labels) if one >= exact]
    assert {name: got for name, got in level_routes(labels, level) if got != expected} == {}


@pytest.mark.parametrize(
    ("labels", "level", "expected"),
    [
        (np.array([2**53 + 3]), 2.0**53 + 4, []),
        (np.array([2**53 + 4]), 2.0**53 + 4, [0]),
        (np.array([0.7], np.float32), 0.7, [0]),
        (np.array([0.7], np.float32), np.float64(0.7), [0]),
        (np.array([2**64 - 1], np.uint64), 2**64 - 1, [0]),
        (np.array([2**64 - 2], np.uint64), 2**64 - 1, []),
        (np.array([2**63 - 1]), 2.0**63, []),
        (np.array([5]), -(2**70), [0]),
        (np.array([5]), 10**4000, []),
        (np.array([-np.inf, 5], np.float32), -(10**4000), [0, 1]),
        (np.array([np.inf, 3e38], np.float32), 1e300, [0]),
    ],
)
def test_relevance_levels(labels, level, expected):
    assert {name: got for name, got in level_routes(labels, level) if got != expected} == {}


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", ">f8", "i4", "u8", "longdouble"])
def test_many_columns_of_scores_for_the_same_items(dtype, order):
    rng = np.random.default_rng(5)
    labels = rng.random(3000) < 0.1
    scores = np.asarray((rng.random((3000, 4)) * 50).astype(dtype), order=order)
    kept = scores.copy()
    for options in ({}, {"workers": 2}, {"tiebreak": "order"}, {"lower_is_better": True}):
        curves = hc.HitCurves(labels, scores, **options)
        alone = [hc.HitCurve(labels, scores[:, j], **options) for j in range(4)]
        for curve, expected in zip(curves, alone, strict=True):
            for field in ("score", "above", "tied", "hits", "num_items", "num_relevant"):
                assert np.array_equal(getattr(curve, field), getattr(expected, field)), (options, field)
        each = [curve.average_precision() for curve in alone]
        assert curves.average_precision().tolist() == each
        assert hc.mean_average_precision(labels, scores, **options) == pytest.approx(np.mean(each), rel=1e-14)
    assert np.array_equal(scores, kept)


@pytest.mark.parametrize("n", [1, 7, 600])
def test_columns_of_scores_that_are_one(n):
    """No step from a column to the next."""
    y, s = np.arange(n) % 3 == 0, np.random.default_rng(n).random(n)
    one = s[:, None]
    for scores in (np.broadcast_to(one, (n, 50)), np.broadcast_to(0.5, (n, 50)), np.broadcast_to(one, (n, 1))):
        curves = hc.HitCurves(y, scores)
        assert curves == hc.HitCurves(y, scores.copy())
        assert list(curves) == [hc.HitCurve(y, column) for column in scores.T]
        assert curves.average_precision(ties="best").tolist() == [c.average_precision(ties="best") for c in curves]


def test_columns_of_scores_name_the_place_of_an_error():
    labels, scores = np.array([0, 1, 0]), np.array([[1.0, 2.0], [3.0, 4.0], [5.0, np.nan]])
    with pytest.raises(ValueError, match=r"y_score\[2, 1\] is nan"):
        hc.HitCurves(labels, scores)
    with pytest.raises(ValueError, match=r"y_true\[1\] is 4"):
        hc.mean_average_precision([0, 4, 1], scores)
    assert hc.HitCurves(labels, scores, nan_policy="omit").num_items.tolist() == [3, 2]


# --- ids and keys in Python's lists -------------------------------------------------------------------------

LARGE_IDS = [2**63, 2**63 + 1, 1, 1]


@pytest.mark.parametrize("make", [list, tuple, lambda ids: np.array(ids, np.uint64), lambda ids: np.array(ids, object)])
def test_integers_beyond_int64_stay_apart(make):
    y, s = [0, 1, 1, 0], [4, 3, 2, 1.0]
    assert hc.mean_average_precision(y, s, qid=make(LARGE_IDS)) == 1
    assert hc.HitCurves(y, s, qid=make(LARGE_IDS)).qid.tolist() == [1, 2**63, 2**63 + 1]
    tied, keys = [1, 1, 1], make([2**63 + 1, 2**63, 1])
    expected = (1 + 2 / 3) / 2  # the key ranks the last item first
    assert hc.average_precision([1, 0, 1], tied, tiebreak=keys) == expected
    assert hc.HitCurves([1, 0, 1], tied, offsets=[0, 3], tiebreak=keys).average_precision().tolist() == [expected]
    rows = hc.HitCurves([[1, 0, 1]], [tied], tiebreak=make([[2**63 + 1, 2**63, 1]]))
    assert rows.average_precision().tolist() == [expected]
    # The best and the second are one above the other only where they are not rounded.
    assert hc.average_precision([0, 1, 0], make([2**63, 2**63 + 1, 1])) == 1
    assert hc.HitCurve([0, 1, 0], make([2**63, 2**63 + 1, 1])).above.tolist() == [0]
    groups = hc.compare(y, {"a": s, "b": s}, groups=make(LARGE_IDS), rng=0)
    assert str(groups) == str(hc.compare(y, {"a": s, "b": s}, groups=[2, 3, 1, 1], rng=0))


@pytest.mark.parametrize("ids", [[-1, 2**63 + 1, 2**63], [2**53 + 1, 2**53, 0.5], [2**64 + 1, 2**64, 1]])
def test_ids_and_keys_that_no_numeric_type_holds(ids):
    curves = hc.HitCurves([0, 1, 1], [3, 2, 1], qid=ids)
    assert curves.qid.tolist() == sorted(ids)
    place = np.argsort(np.argsort(np.array(ids, object)))
    assert hc.average_precision([0, 1, 1], [1, 1, 1], tiebreak=ids) == hc.average_precision(
        [0, 1, 1], [1, 1, 1], tiebreak=place
    )


def test_rounded_scores_of_rows_are_named():
    with pytest.raises(ValueError, match=r"y_score\[0, 1\] is 9223372036854775809: no array type holds all"):
        hc.HitCurves([[0, 1, 0]], [[2**63, 2**63 + 1, -1]])


def test_texts_that_end_in_nul_stay_apart():
    assert hc.HitCurves([0, 1], [2, 1], qid=["a", "a\0"]).qid.tolist() == ["a", "a\0"]
    assert hc.HitCurve([0, 1], [1, 1], tiebreak=["a\0", "a"]).above.tolist() == [0]


def test_keys_of_python_objects():
    texts = np.array(["b", "a", "c"], object)
    assert hc.average_precision([0, 1, 0], [1, 1, 1], tiebreak=texts) == 1
