"""Items with subtopics: their levels as codes, a hit curve for each subtopic, and the best order of the items."""
from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hitcurve._base.checks import as_real, check_number
from hitcurve._base.words import many
from hitcurve.curves.bundles import bundle, level_keys, nonzero_rows
from hitcurve.curves.hit import curves_of
from hitcurve.curves.levels import LEVEL_RULE, LEVELS

__all__ = ["Bundle", "Items", "LevelRows", "Sets", "best_values", "bundled", "coded", "discount", "drawn_pool",
           "joined", "level_of", "levels_of_items", "powers_of"]

#: The greatest number of steps of the search for the best order of one query: a second or two.
MOST_STEPS = 100_000


class Sets(NamedTuple):
    """The subtopics of each code, with their levels. Code 0 has none. Codes ascend with the levels of their items.

    Code c has the entries starts[c] to starts[c + 1]: `member` is the number of a subtopic.
    """

    starts: Any
    member: Any
    level: Any

    def from_level(self, level: float) -> Sets:
        """The subtopics with this level or a higher level."""
        kept = self.level >= level
        before = np.append(0, np.cumsum(kept))
        return Sets(before[self.starts], self.member[kept], self.level[kept])

    def of(self, codes: Any) -> Sets:
        """The sets of some codes."""
        sizes = np.diff(self.starts)[codes]
        starts = np.append(0, np.cumsum(sizes))
        places = np.arange(starts[-1]) + np.repeat(self.starts[codes] - starts[:-1], sizes)
        return Sets(starts, self.member[places], self.level[places])

    def highest(self) -> Any:
        """The highest level of each code."""
        found = np.zeros(self.starts.shape[0] - 1)
        filled = np.diff(self.starts) > 0
        if filled.any():
            found[filled] = np.maximum.reduceat(self.level, self.starts[:-1][filled])
        return found

    def levels(self, codes: Any, width: int) -> Any:
        """A row of levels for each of some codes."""
        of_codes = self.of(codes)
        found = np.zeros((codes.shape[0], width))
        found[np.repeat(np.arange(codes.shape[0]), np.diff(of_codes.starts)), of_codes.member] = of_codes.level
        return found

    def alike(self) -> Any:
        """For each code the first code with the same subtopics, 0 if it has none."""
        first: dict[bytes, int] = {}
        bounds = zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True)
        return np.array([first.setdefault(self.member[a:b].tobytes(), code) for code, (a, b) in enumerate(bounds)])


class Bundle(NamedTuple):
    """The hit curves of the subtopics that have a relevant item, query by query.

    Query q has the curves starts[q] to starts[q + 1], and `subtopic` holds the number of the subtopic of each curve.
    """

    curves: Any
    starts: Any
    subtopic: Any
    sets: Sets

    @property
    def sizes(self) -> Any:
        """The number of subtopics of each query."""
        return np.diff(self.starts)


# --- levels as codes --------------------------------------------------------------------------------------------------


class Items(NamedTuple):
    """The items that have a level above 0 for any subtopic: their places among all items, and a row of levels each.

    `shape` is the shape of all items.
    """

    shape: tuple[int, ...]
    place: Any
    levels: Any


def levels_of_items(values: Any, name: str, ndim: int = 0, mask: Any = None) -> Items:
    """Levels with one axis more than the items, for the subtopics. Where `mask` is False they count as 0."""
    levels = as_real(values, name, LEVELS)
    if levels.ndim < 2 or (ndim and levels.ndim != ndim):
        raise ValueError(f"{name} has shape {levels.shape}: the last axis must be that of the subtopics, and every "
                         "item needs a level for each subtopic")
    if levels.dtype.kind == "b":
        levels = levels.view(np.uint8)
    shape = levels.shape[:-1]
    rows = np.ascontiguousarray(levels).reshape(math.prod(shape), levels.shape[-1])
    place = nonzero_rows(rows)
    if mask is not None and shape == np.shape(mask):
        place = place[np.asarray(mask, bool).reshape(-1)[place]]
    found = np.take(rows, place, axis=0)
    if found.dtype.kind == "f":
        with np.errstate(all="ignore"):
            found = found.astype(np.float64) + 0.0  # -0.0 has a bit, and 0.0 has none
        some = nonzero_rows(found)
        place, found = (place, found) if some.shape == place.shape else (place[some], found[some])
    if found.dtype.kind != "u" and not (found.min(initial=0) >= 0 and found.max(initial=0) < np.inf):
        for row, topic in np.argwhere(~((found >= 0) & (found < np.inf)))[:1]:
            at = ", ".join(map(str, (*np.unravel_index(place[row], shape), topic)))
            raise ValueError(f"{name}[{at}] is {rows[place[row], topic]}: {LEVEL_RULE}")
    if found.dtype.kind in "iu" and found.max(initial=0) > 2**53:
        raise ValueError(f"{name} has the level {found.max()}: a whole level must be at most 2**53")
    return Items(shape, place, found)


def coded(parts: list[Items]) -> tuple[list[Any], Sets]:
    """(the codes of all items of each part, the sets of the codes). All parts have the same number of subtopics."""
    width = parts[0].levels.shape[1]
    rows = [part.levels for part in parts]
    bits = max(1, int(max(float(one.max(initial=0)) for one in rows)).bit_length())
    if bits <= 8 and width * bits <= 64 and all(
            one.dtype.kind in "iu" or (one == np.floor(one)).all() for one in rows):
        keys = [level_keys(one.astype(np.uint8, copy=False), bits) for one in rows]
        numbers, distinct = _numbered(keys, width * bits)
        sets = _packed(np.append(np.zeros(1, np.uint64), distinct), width, bits)
    else:
        # In the order of the keys above: the last subtopic decides first.
        found = np.concatenate([one.astype(np.float64) for one in rows])
        distinct, inverse = np.unique(found[:, ::-1], axis=0, return_inverse=True)
        numbers = np.split(inverse.reshape(-1) + 1, np.cumsum([one.shape[0] for one in rows])[:-1])
        sets = _listed(np.concatenate([np.zeros((1, width)), distinct[:, ::-1]]))
    codes = []
    for part, number in zip(parts, numbers, strict=True):
        code = np.zeros(math.prod(part.shape), np.uint8 if distinct.shape[0] < 256 else np.uint32)
        code[part.place] = number
        codes.append(code.reshape(part.shape))
    return codes, sets


class LevelRows:
    """The distinct rows of levels of items that come in batches: a column for each subtopic.

    A row has a number, from 1 in the order in which the rows are met. A row without a level above 0 has the number 0.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[bytes, bytes], int] = {(b"", b""): 0}  # by the entries of `Sets`
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._numbers)

    def numbers_of(self, columns: Sequence[Any]) -> Any:
        """The number of each item. `columns` has an array of valid levels for each subtopic."""
        used = columns[0] != 0
        for column in columns[1:]:
            used = used | (column != 0)
        place = np.flatnonzero(used)
        numbers = np.zeros(used.shape[0], np.uint32)
        levels = np.column_stack([column[place] for column in columns])
        (code,), sets = coded([Items(place.shape, np.arange(place.shape[0]), levels)])
        of_code = np.zeros(sets.starts.shape[0] - 1, np.uint32)
        with self._lock:
            for one in range(1, of_code.shape[0]):
                entries = slice(sets.starts[one], sets.starts[one + 1])
                key = sets.member[entries].tobytes(), sets.level[entries].tobytes()
                of_code[one] = self._numbers.setdefault(key, len(self._numbers))
        numbers[place] = of_code[code]
        return numbers

    def rows(self, width: int) -> Any:
        """The levels of each number, a column for each of `width` subtopics."""
        levels = np.zeros((len(self._numbers), width))
        for number, (member, level) in enumerate(self._numbers):
            levels[number, np.frombuffer(member, np.int64)] = np.frombuffer(level)
        return levels


def _numbered(keys: list[Any], bits: int) -> tuple[list[Any], Any]:
    """(numbers from 1 for the keys, in their order; the distinct keys). If keys are many, a table has all numbers."""
    if bits <= 62 and 2**bits <= 4 * max(64, sum(one.shape[0] for one in keys)):
        places = [one.view(np.int64) for one in keys]
        seen = np.zeros(2**bits, bool)
        for one in places:
            seen[one] = True
        number = np.cumsum(seen, dtype=np.uint32)
        return [np.take(number, one) for one in places], np.flatnonzero(seen).astype(np.uint64)
    distinct = np.unique(np.concatenate(keys))
    return [np.searchsorted(distinct, one) + 1 for one in keys], distinct


def _packed(keys: Any, width: int, bits: int) -> Sets:
    """The sets of keys that hold the levels as groups of bits."""
    shifts = (np.arange(width) * bits).astype(np.uint64)
    return _listed((keys[:, None] >> shifts & np.uint64(2**bits - 1)).astype(np.float64))


def _listed(levels: Any) -> Sets:
    """The sets of rows of levels."""
    code, member = np.nonzero(levels)
    return Sets(np.searchsorted(code, np.arange(levels.shape[0] + 1)), member.astype(np.int64), levels[code, member])


def joined(query: Any, code: Any, missing: list[Any], num_queries: int) -> tuple[Any, Any]:
    """(where the items of each query begin, their codes): the items that were ranked, then those that were not.

    The ranked items have subtopics. Of the missing items, only those with subtopics are taken.
    """
    if missing:
        more = np.concatenate(missing)
        kept = more != 0
        query = np.concatenate([query, np.repeat(np.arange(len(missing)), [one.shape[0] for one in missing])[kept]])
        code = np.concatenate([code, more[kept]])
    if (query[1:] < query[:-1]).any():
        code = code[np.argsort(query, kind="stable")]
    return np.append(0, np.cumsum(np.bincount(query, minlength=num_queries))), code.astype(np.int64)


def drawn_pool(table: Any, pool: Any) -> tuple[Any, Any]:
    """The pools of resamples of a ranking that has this pool. `table`: the gain curves of the resamples, of codes.

    The items of a code in a resample are spread over the places of the code in the pool. So a resample that has the
    items of the ranking has its pool, and no pool depends on how the items were drawn.
    """
    number, kinds = len(table), np.unique(pool)
    of_code = np.argsort(pool, kind="stable")  # the places of each code
    begin = np.searchsorted(pool[of_code], np.append(kinds, np.iinfo(np.int64).max))
    pairs = np.diff(table.level_offsets[table.row_offsets])
    lost = [part.shape[0] for part in table.unretrieved]
    query = np.repeat(np.tile(np.arange(number), 2), np.append(pairs, lost).astype(np.int64))
    codes = np.concatenate([table.level, *table.unretrieved]).astype(np.int64)
    counts = np.append(table.level_count, np.ones(sum(lost), np.int64))
    key, where = np.unique(query * kinds.shape[0] + np.searchsorted(kinds, codes), return_inverse=True)
    times = np.bincount(where, counts, key.shape[0]).astype(np.int64)
    query, kind = key // max(1, kinds.shape[0]), key % max(1, kinds.shape[0])
    within = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    size = (begin[1:] - begin[:-1])[kind]
    place = of_code[np.repeat(begin[kind], times) + within * np.repeat(size, times) // np.repeat(times, times)]
    query = np.repeat(query, times)
    place = place[np.lexsort((place, query))]
    return np.append(0, np.cumsum(np.bincount(query, minlength=number))), pool[place]


# --- a hit curve for each subtopic ------------------------------------------------------------------------------------


def bundled(table: Any, row_starts: Any, num_items: Any, pool: tuple[Any, Any], sets: Sets, width: int) -> Bundle:
    """The hit curves of the subtopics. `table`: the gain curves whose levels are codes."""
    columns = (row_starts, table.above, table.tied, table.level_offsets, table.level, table.level_count, *pool,
               sets.starts, sets.member)
    starts, subtopic, relevant, found, rows, *of_row = bundle(
        [np.ascontiguousarray(one, np.float64 if one is columns[4] else np.int64) for one in columns], width)
    items = np.repeat(num_items, np.diff(starts))
    curves = curves_of(None, False, False, rows, None, *of_row, items, found, relevant)
    return Bundle(curves, starts, subtopic, sets)


# --- novelty ----------------------------------------------------------------------------------------------------------


def powers_of(alpha: float, most: int) -> Any:
    """The powers of 1 - alpha, up to `most`."""
    exponents = np.arange(most + 1, dtype=np.float64)
    with np.errstate(under="ignore", divide="ignore", invalid="ignore"):
        if 1 - (1 - alpha) == alpha:
            return np.power(1 - alpha, exponents)
        return np.exp(exponents * math.log1p(-alpha))


def discount(fade: str, power: float, rank: int) -> float:
    return 1 / rank if fade == "rank" else 1 / math.log2(rank + 1) if fade == "log" else power ** (rank - 1)


def best_values(pool: tuple[Any, Any], sets: Sets, weights: Any, ranks: Any, powers: Any, fade: str,
                power: float) -> Any:  # fmt: skip
    """As ``greedy_values``, but of the best order of all."""
    values = np.empty((pool[0].shape[0] - 1, 1 if ranks is None else ranks.shape[0]))
    for q in range(values.shape[0]):
        codes, counts = np.unique(pool[1][pool[0][q] : pool[0][q + 1]], return_counts=True)
        items: dict[tuple[int, ...], int] = {}
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
            of_code = tuple(sets.member[sets.starts[code] : sets.starts[code + 1]].tolist())
            items[of_code] = items.get(of_code, 0) + count
        items.pop((), None)
        size = sum(items.values())
        most = size if ranks is None else min(size, int(ranks.max(initial=0)))
        best = _best_sums(items, weights[q % weights.shape[0]], most, powers, fade, power, q)
        values[q] = best[-1] if ranks is None else [best[min(rank, most)] for rank in ranks.tolist()]
    return values


def _best_sums(items: dict[tuple[int, ...], int], weight: Any, most: int, powers: Any, fade: str, power: float,
               query: int) -> list[float]:  # fmt: skip
    """The greatest discounted gain of the first 0, 1, ... `most` items, over all orders.

    The sum so far depends on the order, but what is left depends only on how many items of each set are taken. An item
    never comes before an item that has all of its subtopics and more: to exchange the two loses nothing.
    """
    kinds = [*items]
    above = [[j for j, other in enumerate(kinds) if {*one} < {*other}] for one in kinds]
    states: dict[tuple[int, ...], float] = {(0,) * len(kinds): 0.0}
    best, steps = [0.0], 0
    for rank in range(1, most + 1):
        worth, found = discount(fade, power, rank), dict[tuple[int, ...], float]()
        for state, total in states.items():
            if steps > MOST_STEPS:
                raise ValueError(
                    f"ideal='exact': query {query} has {many(sum(items.values()), 'items')} of {len(kinds)} different "
                    f"sets of subtopics, and the search for the best order takes at most {MOST_STEPS} steps: use "
                    "ideal='greedy' or a smaller k")
            hits: dict[int, int] = {}
            for kind, taken in zip(kinds, state, strict=True):
                for subtopic in kind:
                    hits[subtopic] = hits.get(subtopic, 0) + taken
            for i, kind in enumerate(kinds):
                if state[i] == items[kind] or any(state[j] < items[kinds[j]] for j in above[i]):
                    continue
                steps += 1
                gain = math.fsum(weight[subtopic] * powers[hits[subtopic]] for subtopic in kind)
                after = (*state[:i], state[i] + 1, *state[i + 1 :])
                found[after] = max(found.get(after, 0.0), total + gain * worth)
        states = found
        best.append(max(states.values()))
    return best


def level_of(value: Any) -> float:
    """The lowest relevant level."""
    if not check_number(value, "relevance_level") > 0 or not math.isfinite(value):
        raise ValueError(f"relevance_level is {value}: must be above 0 and finite")
    return float(value)
