"""Items with subtopics: their levels as codes, a hit curve for each subtopic, and the best order of the items."""
from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hitcurve._base.checks import as_real, check_number
from hitcurve._base.words import many
from hitcurve.curves.bundles import bundle, level_keys
from hitcurve.curves.hit import curves_of
from hitcurve.curves.levels import LEVEL_RULE, LEVELS

__all__ = ["Bundle", "LevelRows", "Sets", "best_values", "bundled", "coded", "discount", "drawn_pool", "joined",
           "level_of", "levels_of_items", "powers_of"]

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

    def numbers(self) -> Any:
        """A number for each code, equal for codes with the same subtopics, 0 for a code without any."""
        known: dict[bytes, int] = {b"": 0}
        bounds = zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True)
        return np.array([known.setdefault(self.member[a:b].tobytes(), len(known)) for a, b in bounds], np.int64)


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


def levels_of_items(values: Any, name: str, ndim: int = 0, mask: Any = None) -> Any:
    """Levels with one axis more than the items, for the subtopics. Where `mask` is False they become 0."""
    levels = as_real(values, name, LEVELS)
    if levels.ndim < 2 or (ndim and levels.ndim != ndim):
        raise ValueError(f"{name} has shape {levels.shape}: the last axis must be that of the subtopics, and every "
                         "item needs a level for each subtopic")
    if levels.dtype.kind == "b":
        levels = levels.view(np.uint8)
    if mask is not None and levels.shape[:-1] == np.shape(mask):
        levels = np.where(np.asarray(mask, bool)[..., None], levels, levels.dtype.type(0))
    if levels.dtype.kind != "u" and not (levels.min(initial=0) >= 0 and levels.max(initial=0) < np.inf):
        for place in np.argwhere(~((levels >= 0) & (levels < np.inf)))[:1]:
            at = ", ".join(map(str, place.tolist()))
            raise ValueError(f"{name}[{at}] is {levels[tuple(place)]}: {LEVEL_RULE}")
    if levels.dtype.kind in "iu" and levels.max(initial=0) > 2**53:
        raise ValueError(f"{name} has the level {levels.max()}: a whole level must be at most 2**53")
    return levels


def coded(parts: list[Any]) -> tuple[list[Any], Sets]:
    """(the codes of each array of levels, the sets of the codes). All arrays have the same number of subtopics."""
    width = parts[0].shape[-1]
    rows = [part.reshape(math.prod(part.shape[:-1]), width) for part in parts]
    top = max(float(part.max(initial=0)) for part in rows)
    bits = max(1, int(top).bit_length())
    if top < 256 and width * bits <= 64 and all(
            part.dtype.kind in "iu" or (part == np.floor(part)).all() for part in rows):
        keys = [level_keys(np.ascontiguousarray(part, np.uint8), bits) for part in rows]
        if width * bits <= 8:
            return [key.reshape(part.shape[:-1]) for key, part in zip(keys, parts, strict=True)], _packed(
                np.arange(1 << width * bits), width, bits)
        codes, distinct = _numbered(keys, [key != 0 for key in keys])
        sets = _packed(np.append(np.zeros(1, distinct.dtype), distinct), width, bits)
    else:
        used = [(part != 0).any(axis=1) for part in rows]
        real = [np.ascontiguousarray(part, np.float64) for part in rows]
        found = np.concatenate([part[some] for part, some in zip(real, used, strict=True)])
        # In the order of the keys above: the last subtopic decides first.
        distinct, places = np.unique(found[:, ::-1], axis=0, return_inverse=True)
        codes, start = [], 0
        for some in used:
            code = np.zeros(some.shape[0], np.uint32)
            code[some] = places.reshape(-1)[start : start + int(some.sum())] + 1
            codes.append(code)
            start += int(some.sum())
        sets = _listed(np.concatenate([np.zeros((1, width)), distinct[:, ::-1]]))
    return [code.reshape(part.shape[:-1]) for code, part in zip(codes, parts, strict=True)], sets


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
        (code,), sets = coded([np.column_stack([column[place] for column in columns])])
        of_code = np.zeros(sets.starts.shape[0] - 1, np.uint32)
        met = np.zeros(of_code.shape[0], bool)
        met[code] = True
        with self._lock:
            for one in np.flatnonzero(met).tolist():
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


def _numbered(keys: list[Any], used: list[Any]) -> tuple[list[Any], Any]:
    """(codes from 1 for the keys in use, the distinct keys)."""
    distinct = np.unique(np.concatenate([key[some] for key, some in zip(keys, used, strict=True)]))
    codes = []
    for key, some in zip(keys, used, strict=True):
        code = np.zeros(key.shape[0], np.uint32)
        code[some] = np.searchsorted(distinct, key[some]) + 1
        codes.append(code)
    return codes, distinct


def _packed(keys: Any, width: int, bits: int) -> Sets:
    """The sets of keys that hold the levels as groups of bits."""
    shifts = (np.arange(width) * bits).astype(np.uint64)
    return _listed((keys.astype(np.uint64)[:, None] >> shifts & np.uint64(2**bits - 1)).astype(np.float64))


def _listed(levels: Any) -> Sets:
    """The sets of rows of levels."""
    code, member = np.nonzero(levels)
    return Sets(np.searchsorted(code, np.arange(levels.shape[0] + 1)), member.astype(np.int64), levels[code, member])


def joined(query: Any, code: Any, missing: list[Any], num_queries: int) -> tuple[Any, Any]:
    """(where the items of each query begin, their codes): the items that were ranked, then those that were not."""
    lengths = [part.shape[0] for part in missing]
    query = np.concatenate([query, np.repeat(np.arange(len(missing)), lengths)])
    code = np.concatenate([code, *missing]).astype(np.int64)
    kept = code != 0
    query, code = query[kept], code[kept]
    if (query[1:] < query[:-1]).any():
        code = code[np.argsort(query, kind="stable")]
    return np.append(0, np.cumsum(np.bincount(query, minlength=num_queries))), code


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
    columns = row_starts, table.level_offsets, table.level, table.level_count, *pool, sets.starts, sets.member
    starts, subtopic, relevant, rows, row, hits = bundle(
        [np.ascontiguousarray(one, np.int64) for one in columns], width)
    found = np.diff(np.append(0, np.cumsum(hits))[rows])
    items = np.repeat(num_items, np.diff(starts))
    curves = curves_of(None, False, False, rows, None, table.above[row], table.tied[row], hits, items, found, relevant)
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
