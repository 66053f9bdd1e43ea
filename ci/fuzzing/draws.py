"""What cases are drawn from: choices from a seed, hostile objects, arrays in any dress; how numbers are compared."""

import random
from math import isclose, isnan

import numpy as np

PROMISED = (ValueError, TypeError, MemoryError)
STRATEGIES = (None, None, "compare", "search", "buckets", "parts", "throw")
READINGS = ("expected", "best", "worst", "threshold")
SCORES = ("f2", "f4", "f8", "g", "?", "i1", "u1", "i2", "i4", "i8", "u4", "u8")
LABELS = ("?", "u1", "i1", "i4", "i8", "u8", "f4", "f8", "f2")
WORDS = ("expected", "best", "worst", "threshold", "min", "relevant", "hits", "raise", "omit", "skip", "zero", "one",
         "order", "11-point", "all-point", "trapezoid", "continuous", "", "\0", "é" * 40, "logit")  # fmt: skip
HUGE = [sign * 2**power + shift for power in (0, 8, 24, 31, 32, 52, 53, 61, 62, 63, 64, 100) for shift in (-2, -1, 0, 1)
        for sign in (1, -1)]  # fmt: skip


class Boom(Exception):
    """Raised by hostile objects; what they raise may come through."""


class Hostile:
    """Claims to be many things, and fails or lies at some."""

    def __init__(self, draw):
        self.draw = draw
        self.array = draw.pick([None, np.ones(3), np.array([object()]), 5, np.ones((2, 2)), [1, 0], np.ones(0)])

    def behave(self, honest):
        mood = self.draw.whole(0, 5)
        if mood == 0:
            raise Boom
        if mood == 1:
            errors = [ValueError, TypeError, AttributeError, IndexError, OverflowError, StopIteration]
            raise self.draw.pick(errors)("hostile")
        if mood == 2:
            return self.draw.pick([None, -1, 2**70, "x", self, float("nan"), b"", ()])
        return honest

    def __len__(self):
        return self.behave(3)

    def __getitem__(self, at):
        if isinstance(at, int) and at >= 3:
            raise IndexError
        return self.behave(1)

    def __iter__(self):
        return self.behave(iter([1, 0, 1]))

    def __float__(self):
        return self.behave(1.0)

    def __index__(self):
        return self.behave(1)

    def __bool__(self):
        return self.behave(True)

    def __eq__(self, other):
        return self.behave(False)

    def __lt__(self, other):
        return self.behave(False)

    __hash__ = None


class HostileArray(Hostile):
    def __array__(self, dtype=None, copy=None):
        return self.behave(self.array)


class HostileTensor(Hostile):
    def __dlpack__(self, **options):
        return self.behave(np.ones(3).__dlpack__())

    def __dlpack_device__(self):
        return self.behave((1, 0))


class HostileInterface(Hostile):
    @property
    def __array_interface__(self):
        return self.behave({"shape": (3,), "typestr": "<f8", "version": 3, "data": np.ones(3).tobytes()})


class Shapeless(np.ndarray):
    """A subclass of ndarray that says that its length is another."""

    def __len__(self):
        return 10**9


class Draw:
    """Choices from a seed."""

    def __init__(self, seed):
        source = random.Random(seed)
        self.bits, self.share = source.getrandbits, source.random

    def whole(self, low, high):
        span = high - low + 1
        return low + (int(self.share() * span) if span < 1 << 40 else self.bits(span.bit_length() + 8) % span)

    def pick(self, values):
        return values[self.whole(0, len(values) - 1)]

    def chance(self, of):
        return self.whole(1, of) == 1

    def generator(self):
        return np.random.Generator(np.random.PCG64(self.whole(0, 2**32)))


class AtherisDraw(Draw):
    """Choices from the fuzzer's bytes."""

    def __init__(self, data):
        import atheris

        self.data = atheris.FuzzedDataProvider(data)

    def whole(self, low, high):
        return self.data.ConsumeIntInRange(low, high)


# --- arrays -------------------------------------------------------------------------------------------------


def dressed(draw, array, lists=True):
    """The same values in another layout, byte order or container."""
    how = draw.whole(0, 12)
    if how == 0:
        array = np.repeat(array, 3)[::3]
    elif how == 1:
        array = array[::-1].copy()[::-1]
    elif how == 2:
        array = array.astype(array.dtype.newbyteorder())
    elif how == 3:
        array = array.copy()
        array.flags.writeable = False
    elif how == 4:
        raw = np.empty(array.nbytes + 1, np.uint8)
        raw[1:] = np.frombuffer(array.tobytes(), np.uint8)
        array = raw[1:].view(array.dtype)
    elif how == 5 and lists and array.dtype != np.longdouble and array.dtype != np.float16:
        return array.tolist()
    elif how == 6 and array.dtype.kind in "biuf" and array.dtype != np.longdouble:
        return memoryview(array.copy()) if array.dtype != np.float16 else array
    elif how == 7:
        return np.ma.masked_array(array)
    elif how == 8:  # steps that are no multiple of the item's size
        records = np.zeros(len(array), [("before", "i1"), ("it", array.dtype)])
        records["it"] = array
        array = records["it"]
    elif how == 9:
        array = np.stack([array, array[::-1]], axis=1)[:, 0]
    elif how == 10 and lists and array.dtype.kind in "bif" and array.dtype != np.longdouble:
        return array.astype(object)
    return array


def small_ranking(draw, most=7):
    n = draw.whole(0, most)
    label = np.array([draw.whole(0, 1) for _ in range(n)], dtype=draw.pick(LABELS))
    score = np.array([draw.whole(0, 4) for _ in range(n)], dtype=float).astype(draw.pick(SCORES))
    return label, score


def close(got, expected, what, rel=1e-13):
    expected = float(expected)
    if not (isclose(got, expected, rel_tol=rel, abs_tol=rel / 10) or (isnan(got) and isnan(expected))):
        raise AssertionError(f"{what}: {got!r}, not {expected!r}")


def refusing(call):
    """What a call gives, or None for a ValueError."""
    try:
        return call()
    except ValueError:
        return None


def agree(got, expected, what):
    if (got is None) != (expected is None):
        raise AssertionError(f"{what}: {'the twin' if expected is None else 'the library'} alone refuses")
    if got is not None:
        close(got, expected, what, 1e-11)


def same(a, b, what):
    if a != b and not (isnan(a) and isnan(b)):
        raise AssertionError(f"{what}: {a!r}, not {b!r}")


def number(draw):
    return draw.pick(HUGE) if draw.whole(0, 1) else draw.whole(0, 20)
