"""Convert the cells of Arrow columns to labels, scores, groups and ids. An error names the cell that is invalid."""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hitcurve._base.checks import LABEL_RULE, LARGE, NO_RANK, check_choice, quoted, unchanged
from hitcurve._base.extras import Later
from hitcurve.curves.blocks import distinct_scores
from hitcurve.curves.levels import LEVEL_RULE

if TYPE_CHECKING:
    from numpy.typing import NDArray

pa: Any = Later("pyarrow")
pc: Any = Later("pyarrow.compute")

Column = str | int

# The labels of relevant items have odd indices.
LABELS = ("0", "1", "false", "true", "0.0", "1.0")
MISSING = ("", "nan", "na", "null")

# The same words for Arrow's converters: each word in every mixture of small and capital letters.
KNOWN = {
    name: ["".join(letters) for word in words for letters in itertools.product(*({c, c.upper()} for c in word))]
    for name, words in (("null_values", MISSING), ("true_values", LABELS[1::2]), ("false_values", LABELS[::2]))
}
_WORDS = "; if labels are words, positive='WORD' is the word of relevant rows"
_MOST_NAMED = 8  # an error names up to so many labels


class BadCell(Exception):
    """An invalid cell: its place in the batch (None: the whole column), and what is wrong with it."""

    def __init__(self, index: int | None, problem: str, column: Column | None = None) -> None:
        super().__init__(problem)
        self.index, self.column = index, column  # None: the whole row

    def named(self, shown: str, place: Callable[[int], str]) -> ValueError:
        """An error that names the file or source, the place and the column of the cell."""
        row = "" if self.index is None and self.column is not None else place(self.index or 0)
        column = "" if self.column is None else f"column {self.column!r}"
        return ValueError(f"{shown}: {', '.join(filter(None, (row, column)))}: {self}")


class Rules(NamedTuple):
    """How cells are converted."""

    nan_policy: str = "raise"
    na: tuple[str, ...] = ()
    """Texts that mean a missing score, besides `MISSING`. If a text is a number, cells of its value are missing too."""
    decimal: str = "."
    """The decimal mark of numbers in text."""
    positive: str | None = None
    """The label of relevant rows; None: labels are `LABELS`."""
    met: dict[str, bool] | None = None
    """With `positive`, the first labels of the data. An error names them if no label is `positive`."""

    @property
    def plain(self) -> bool:
        """Whether numbers stand for themselves, and labels are numbers."""
        return not self.na and self.positive is None

    def check_met(self, shown: str) -> None:
        """Raise an error if rows were read and no row has the label `positive`."""
        if self.positive is not None and self.met and self.positive not in self.met:
            listed = ", ".join(quoted(label) for label in list(self.met)[:_MOST_NAMED])
            more = ", ..." if len(self.met) > _MOST_NAMED else ""
            raise ValueError(f"{shown}: no label is positive={self.positive!r}; the labels are {listed}{more}")


class Layout(NamedTuple):
    """The caller's arguments about the form of text. None means the usual form, or a form that is found out."""

    header: bool = True
    """Whether the first line of CSV, TSV and Excel holds the names of the columns."""
    delimiter: str | None = None
    decimal: str | None = None
    na: str | Iterable[str] | None = None
    positive: str | None = None

    def rules(self, nan_policy: str, labelled: bool) -> Rules:
        """The rules for converting cells; `labelled`: there is a column of labels."""
        texts = (self.na,) if isinstance(self.na, str) else tuple(self.na or ())
        for at, text in enumerate(texts):
            if not isinstance(text, str):
                raise TypeError(f"na[{at}] is of type {type(text).__name__}: it must be a text")
        check_choice(self.decimal, "decimal", (None, ".", ","))
        word = self.positive
        if word is not None and not isinstance(word, str):
            raise TypeError(f"positive is of type {type(word).__name__}: it must be a text")
        if word is not None and not word.strip():
            raise ValueError(f"positive is {word!r}: it must be the label of the relevant rows")
        if word is not None and not labelled:
            raise ValueError(f"positive={word!r}, but there is no column of labels")
        texts = tuple(dict.fromkeys(text.strip() for text in texts))
        rules = Rules(nan_policy, texts, self.decimal or ".")
        return rules if word is None else rules._replace(positive=word.strip(), met={})


class Types:
    """The types of the batches of a column of scores, and the type that holds all of them exactly."""

    def __init__(self, known: Iterable[np.dtype[Any]] = ()) -> None:
        self.known = set(known)
        self._low = self._high = 0  # the range of the integers
        self._odd: int | None = None  # an integer that no float64 holds
        self._lock = threading.Lock()

    def add(self, score: NDArray[Any], where: Callable[[], str]) -> np.dtype[Any]:
        """The type that holds this and all earlier batches; without one a ValueError that begins with `where()`."""
        if not score.shape[0]:
            return self.common()
        low, high, odd = 0, 0, None
        if score.dtype.kind in "iu":
            low, high = int(score.min()), int(score.max())
            if self._odd is None and max(-low, high) > 1 << 53:
                at = rounded(score)
                odd = None if at is None else int(score[at])
        with self._lock:
            others = ", ".join(sorted(str(one) for one in self.known - {score.dtype}))
            self.known.add(score.dtype)
            self._low, self._high = min(self._low, low), max(self._high, high)
            self._odd = odd if self._odd is None else self._odd
            dtype = self.common()
        if dtype.kind == "f" and self._odd is not None:
            raise ValueError(f"{where()}: scores of dtype {score.dtype} follow scores of dtype {others}, and no type "
                             f"holds both exactly (float64 cannot hold {self._odd}): give all scores one type")
        return dtype

    def common(self) -> np.dtype[Any]:
        """The type that holds all batches so far; float64 before the first batch."""
        kinds = {dtype.kind for dtype in self.known}
        if "f" in kinds or not kinds:
            one = np.result_type(*self.known) if kinds else np.dtype(np.float64)
            return np.dtype(np.float32 if one.itemsize <= 4 else np.float64)
        if np.dtype(np.uint64) not in self.known or (self._low < 0 and self._high < 1 << 63):
            return np.dtype(np.int64)
        return np.dtype(np.float64 if self._low < 0 else np.uint64)


def rounded(score: NDArray[Any]) -> int | None:
    """The place of the first integer that no float64 holds."""
    if unchanged(score, np.dtype(np.float64)) is not None:
        return None
    return next(at for at, number in enumerate(map(int, score)) if int(float(number)) != number)


def has_nan(score: NDArray[Any]) -> bool:
    return bool(score.dtype.kind == "f" and score.size and np.isnan(score.min()))


def joined(arrays: Iterable[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    """The concatenation of arrays, which may be none, in this type."""
    return np.concatenate([np.empty(0, dtype), *(array.astype(dtype, copy=False) for array in arrays)])


def distinct(scores: NDArray[Any], own: bool = False) -> tuple[NDArray[Any], NDArray[np.int64], int]:
    """(distinct scores, ascending, the number of each, the number of NaN). `own` allows sorting the array in place."""
    scores = scores.astype(Types([scores.dtype]).common(), copy=not own)
    missing = 0
    if scores.dtype.kind == "f":
        present = scores == scores
        missing = scores.shape[0] - int(np.count_nonzero(present))
        if missing:
            scores = scores[present]
    return *distinct_scores(scores), missing


def no_hits(labels: Any) -> bool:
    """Whether all labels are 0 or false. It may be False for types that would take long to check."""
    if labels.null_count or not pa.types.is_integer(labels.type):
        return bool(labels.type == "bool" and not labels.null_count and not labels.true_count)
    return bool(pc.min_max(labels).as_py() == {"min": 0, "max": 0})


def labels_of(cells: Any, rules: Rules) -> NDArray[np.uint8]:
    if rules.positive is not None:
        return _words_of(cells, rules)
    cells, more = _plain(cells), ""
    if pa.types.is_boolean(cells.type) and not cells.null_count:
        return numbers_of(cells)
    if pa.types.is_string(cells.type):
        # Distinct texts are few, so each is converted once. 2 stands for an invalid label.
        distinct = cells.dictionary_encode()
        known = {text: at % 2 for at, text in enumerate(LABELS)}
        texts = [str(text).strip().lower().replace(rules.decimal, ".") for text in distinct.dictionary.to_pylist()]
        values = [known.get(text, 2) for text in texts]
        more = _WORDS * any(text[:1].isalpha() and text not in known for text in texts)
        numbers = np.array([*values, 2], np.uint8)[numbers_of(distinct.indices, len(values))]
    elif pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type) or pa.types.is_boolean(cells.type):
        numbers = numbers_of(cells)
    else:
        raise BadCell(None, f"the column holds {cells.type}: {LABEL_RULE}")
    return checked_labels(numbers, partial(_value, cells), more)


def checked_labels(numbers: NDArray[Any], value: Callable[[int], Any], more: str = "") -> NDArray[np.uint8]:
    """The labels as uint8; an error if a number is no label. `value` gives the content of a cell, for the error."""
    flags = numbers
    if numbers.dtype != np.bool_:
        flags = numbers == 1
        fine = flags | (numbers == 0)
        if not fine.all():
            index = int(np.argmin(fine))
            raise BadCell(index, f"the label is {value(index)}: {LABEL_RULE}{more}")
    return flags.view(np.uint8)


def _words_of(cells: Any, rules: Rules) -> NDArray[np.uint8]:
    """Labels in words as uint8: 1 for `rules.positive`, else 0."""
    cells = text_of(cells)
    if not pa.types.is_dictionary(cells.type):
        try:
            cells = pc.cast(cells, pa.string()).dictionary_encode()
        except pa.ArrowNotImplementedError:
            raise BadCell(None, f"the column holds {cells.type}: labels must be texts, numbers or booleans") from None
    words = ["" if word is None else str(word).strip() for word in cells.dictionary.to_pylist()]
    used = pc.unique(cells.indices).drop_null().to_pylist()
    if cells.null_count or any(not words[at] for at in used):
        index = next(at for at, code in enumerate(cells.indices.to_pylist()) if code is None or not words[code])
        raise BadCell(index, f"the label is empty: with positive={rules.positive!r} each row needs a label")
    assert rules.met is not None
    for at in used:
        if len(rules.met) <= _MOST_NAMED or words[at] == rules.positive:
            rules.met.setdefault(words[at], True)
    labels: NDArray[np.uint8] = np.array([*(word == rules.positive for word in words), 0], np.uint8)
    return np.take(labels, numbers_of(cells.indices))


def strings(texts: Iterable[str | None]) -> Any:
    """An Arrow array of texts, null for None.

    pa.array imports pandas if it is installed, and so does a function of Arrow with a Python number as argument. This
    import takes longer than reading a million rows.
    """
    letters = [None if text is None else text.encode() for text in texts]
    ends = np.cumsum([0, *(len(one or b"") for one in letters)], dtype=np.int64)
    held = np.packbits(np.array([one is not None for one in letters], bool), bitorder="little")
    data = (held, ends, b"".join(filter(None, letters)))
    array = pa.Array.from_buffers(pa.large_string(), len(letters), [pa.py_buffer(one) for one in data])
    return array.cast(pa.string())


def numbers_of(cells: Any, missing: float = np.nan) -> NDArray[Any]:
    """The numbers of an Arrow array, without a copy if none is missing; bool as uint8.

    Missing numbers become `missing`. If this is NaN, integers with missing numbers become float64. Arrow's own
    conversion would import pandas.
    """
    flags = pa.types.is_boolean(cells.type)
    if cells.null_count and missing != missing and (flags or pa.types.is_integer(cells.type)):
        cells, flags = pc.cast(cells, pa.float64(), safe=False), False
    held, data = cells.buffers()
    start, end = cells.offset, cells.offset + len(cells)

    def bits(buffer: Any) -> NDArray[np.uint8]:
        packed = np.frombuffer(buffer, np.uint8, -(-end // 8) - start // 8, start // 8)
        return np.unpackbits(packed, count=start % 8 + len(cells), bitorder="little")[start % 8 :]

    kind = np.dtype(np.uint8 if flags else cells.type.to_pandas_dtype())
    if data is None:
        return np.empty(0, kind)
    numbers = bits(data) if flags else np.frombuffer(data, kind, end)[start:]
    return np.where(bits(held).view(bool), numbers, kind.type(missing)) if cells.null_count else numbers


def levels_of(cells: Any, rules: Rules) -> NDArray[Any]:
    cells = _plain(cells)
    return checked_levels(numbers_of(_numeric(cells, "level", rules._replace(na=()))), partial(_value, cells))


def checked_levels(numbers: NDArray[Any], value: Callable[[int], Any]) -> NDArray[Any]:
    """The numbers; an error if a number is no level. `value` as for `checked_labels`."""
    low, high = numbers.min(initial=0), numbers.max(initial=0)
    if not (low >= 0 and high < np.inf):
        index, rule = int(np.argmin((numbers >= 0) & (numbers < np.inf))), LEVEL_RULE
    elif numbers.dtype.kind in "iu" and high > 2**53:
        index, rule = int(np.argmax(numbers > 2**53)), "a whole level must be at most 2**53"
    else:
        return numbers.view(np.uint8) if numbers.dtype == np.bool_ else numbers
    raise BadCell(index, f"the level is {value(index)}: {rule}")


def checked_scores(numbers: NDArray[Any], nan_policy: str, value: Callable[[int], Any]) -> NDArray[Any]:
    """The numbers; an error if a number has no rank. `value` as for `checked_labels`."""
    if nan_policy == "raise" and has_nan(numbers):
        index = int(np.isnan(numbers).argmax())
        raise BadCell(index, f"the score is {value(index)}: {NO_RANK}")
    return numbers


def scores_of(cells: Any, rules: Rules) -> NDArray[Any]:
    cells, nan_policy = _plain(cells), rules.nan_policy
    numbers = _numeric(cells, "score", rules)
    for text in rules.na:
        written = text.replace(",", ".") if rules.decimal == "," else text
        if is_number(written):
            number = float(written)
            whole = numbers.null_count and pa.types.is_integer(numbers.type)
            known = numbers_of(numbers, 0 if whole else np.nan)
            same = known == (int(number) if known.dtype.kind in "iu" and number.is_integer() else number)
            if same.any():
                bits = pa.py_buffer(np.packbits(same, bitorder="little"))
                flags = pa.Array.from_buffers(pa.bool_(), len(same), [None, bits])
                numbers = pc.if_else(flags, pa.nulls(len(same), numbers.type), numbers)
    if nan_policy != "raise" and numbers.null_count and pa.types.is_integer(numbers.type):
        at = rounded(numbers_of(numbers, 0))
        if at is not None:
            problem = f"cannot hold the score {numbers[at]}"
            raise BadCell(at, f"integers beside missing scores become float64, which {problem}")
    return checked_scores(numbers_of(numbers), nan_policy, partial(_value, cells))


def _numeric(cells: Any, what: str, rules: Rules) -> Any:
    """Cells of any type as numbers; errors call them `what`."""
    numbers = cells
    if pa.types.is_string(cells.type):
        numbers = _parsed(pc.utf8_trim_whitespace(cells), what, rules)
    elif pa.types.is_boolean(cells.type):
        numbers = pc.cast(cells, pa.uint8())
    elif pa.types.is_decimal(cells.type):
        digits, scale = cells.type.precision, cells.type.scale
        if digits <= 15 and 0 <= scale <= 22:
            # The quotient of two exact floats is the nearest float. Arrow's own conversion often gives another float.
            whole = pc.cast(pc.cast(cells, pa.decimal128(digits, scale)).view(pa.decimal128(digits, 0)), pa.int64())
            numbers = pc.divide(pc.cast(whole, pa.float64()), 10.0**scale) if scale else whole
        else:
            numbers = _parsed(pc.cast(cells, pa.string()), what, Rules(), scale)
    elif not (pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type)):
        raise BadCell(None, f"the column holds {cells.type}, not numbers")
    return numbers


def _parsed(texts: Any, what: str, rules: Rules, scale: int | None = None) -> Any:
    """Numbers from text: int64 if all are integers of 64 bits, else float64; null if missing.

    `scale`: the texts are decimals of this scale. It is an error if a decimal does not equal the shortest text of its
    float64.
    """
    given = texts
    if rules.decimal == ",":
        # A point is not valid in these numbers. Doubling it makes them invalid for Arrow too.
        texts = pc.replace_substring(pc.replace_substring(texts, ".", ".."), ",", ".")
    try:
        # Parse floats first: Arrow also accepts hexadecimal integers.
        floats = pc.cast(texts, pa.float64())
    except pa.ArrowInvalid:
        missing = pc.is_in(pc.utf8_lower(given), value_set=strings(MISSING))
        if rules.na:
            missing = pc.or_(missing, pc.is_in(given, value_set=strings(rules.na)))
        texts = pc.if_else(missing, pa.nulls(len(texts), pa.string()), texts)
        try:
            floats = pc.cast(texts, pa.float64())
        except pa.ArrowInvalid:
            for index, text in enumerate(texts.to_pylist()):
                if text is not None and not is_number(text):
                    cell = given[index].as_py()
                    other = "." if rules.decimal == "," else ","
                    hint = f" (it is a number with decimal={other!r})" if is_number(cell, other) else ""
                    if what == "score" and cell.startswith("#"):  # as Excel writes an error, in many languages
                        hint = f" (it is a missing score with na={cell!r})"
                    raise BadCell(index, f"the {what} is {quoted(cell)}, not a number{hint}") from None
            raise
    # Arrow accepts a plus sign in floats, but not in integers.
    signed = pc.any(pc.starts_with(texts, "+")).as_py()
    try:
        return pc.cast(pc.replace_substring_regex(texts, "^[+]", "") if signed else texts, pa.int64())
    except pa.ArrowInvalid:
        pass

    def holds(pattern: str) -> NDArray[Any]:
        return numbers_of(pc.match_substring_regex(texts, pattern), 0).view(bool)

    known = numbers_of(floats)
    for index in np.flatnonzero(np.isinf(known) & holds("[0-9]")).tolist():
        raise BadCell(index, f"the {what} {quoted(texts[index].as_py())} is beyond the range of float64")
    large = np.abs(known) >= LARGE
    if scale is not None:
        exact = pa.decimal256(76, scale)
        same = pc.equal(pc.cast(pc.cast(floats, pa.string()), exact), pc.cast(texts, exact))
        for index in np.flatnonzero((numbers_of(same, 1) == 0) & ~large).tolist():
            problem = "has digits that no float64 holds: cast the column to double to round them"
            raise BadCell(index, f"the {what} {texts[index]} {problem}")
    else:
        large &= holds("^[+-]?[0-9]+$")
    for index in np.flatnonzero(large).tolist():
        from decimal import Decimal

        if Decimal(texts[index].as_py()) != floats[index].as_py():
            problem = f"that no float64 holds, and not all {what}s are signed integers of 64 bits"
            raise BadCell(index, f"the {what} {quoted(texts[index].as_py())} is a whole number {problem}")
    return floats


_NUMBER = re.compile(r"\s*[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)\s*", re.IGNORECASE | re.ASCII)


def is_number(text: str, decimal: str = ".") -> bool:
    if decimal == ",":
        text = text.replace(".", "..").replace(",", ".")
    return _NUMBER.fullmatch(text) is not None


def encoded(cells: Any) -> Any:
    cells = text_of(cells)
    if pa.types.is_string_view(cells.type):
        cells = pc.cast(cells, pa.string())
    if not pa.types.is_dictionary(cells.type):
        try:
            cells = cells.dictionary_encode()
        except pa.ArrowNotImplementedError:
            raise BadCell(None, f"the column holds {cells.type}: groups must be numbers or texts") from None
    names = cells.dictionary.to_pylist()
    wrong = {at for at, name in enumerate(names) if name is None or name == "" or name != name}
    if cells.null_count or wrong:
        for index, at in enumerate(cells.indices.to_pylist()):
            if at is None or at in wrong:
                raise BadCell(index, "the group is empty")
    return cells


def coded(cells: Any, codes: dict[Any, int], column: Column | None = None) -> NDArray[np.int64]:
    """The code of the group in each cell of a column. A new group has the next code."""
    indices = numbers_of(cells.indices)
    if codes and indices.shape[0]:
        before, now = next(iter(codes)), cells.dictionary[int(indices[0])].as_py()
        if _sort_of_name(before) != _sort_of_name(now):
            problem = f"the group is {quoted(now)}, but {quoted(before)} came before: give all groups one type"
            raise BadCell(None, problem, column)
    code = np.full(len(cells.dictionary), -1, np.int64)
    code[indices[::-1]] = np.arange(indices.shape[0])[::-1]  # the first row of each group, for the order of the codes
    order = np.argsort(code)
    for used in order[code[order] >= 0].tolist():
        code[used] = codes.setdefault(cells.dictionary[used].as_py(), len(codes))
    return np.take(code, indices)


def _sort_of_name(name: Any) -> Any:
    """The kind of a group's name. Numbers of all types are one kind, as they are equal by value."""
    return Number if isinstance(name, Number) and not isinstance(name, bool) else type(name)


def ascending(names: list[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    """(the place of each name in ascending order, the names in that order)."""
    try:
        order = sorted(range(len(names)), key=names.__getitem__)
    except TypeError:  # the names have types without a common order
        order = sorted(range(len(names)), key=lambda code: str(names[code]))
    rank = np.empty(len(names), np.int64)
    rank[order] = np.arange(len(names))
    return rank, [names[code] for code in order]


def ids_of(cells: Any) -> Any:
    cells = _plain(cells)
    texts = pc.utf8_trim_whitespace(cells if pa.types.is_string(cells.type) else pc.cast(cells, pa.string()))
    if texts.null_count or not pc.min(pc.binary_length(texts)).as_py():
        for index, text in enumerate(texts.to_pylist()):
            if not text:
                raise BadCell(index, "the id is empty")
    return texts


class Actives:
    """The ids of the relevant rows, in place of labels.

    ids : ids, or for each group its ids. Under None: the ids of all groups.
    unsure : a text that is no id unless a row has it.
    """

    def __init__(self, ids: Iterable[str] | Mapping[str | None, Iterable[str]], unsure: str | None = None) -> None:
        of = ids if isinstance(ids, Mapping) else {None: ids}
        self.unsure = unsure
        self.listed = list(dict.fromkeys((name, one.strip()) for name, some in of.items() for one in some))
        held = self.listed if unsure is None else [*self.listed, (None, unsure)]
        self._known = known = sorted({one for _, one in held})
        try:
            list(map(str.encode, known))
        except UnicodeEncodeError as error:
            raise ValueError(f"actives: {no_text(error.object)}") from None
        self.groups = [name for name in of if name is not None]
        self._groups = {name: at for at, name in enumerate(self.groups)}
        place = {one: at for at, one in enumerate(known)}
        pairs = np.array([self._groups.get(name, 0) * len(known) + place[one] for name, one in held], np.int64)
        self._order = np.argsort(pairs)
        self._pairs = pairs[self._order]
        self._met = np.zeros(len(pairs), bool)

    @cached_property
    def _texts(self) -> Any:
        return strings(self._known)

    def labels(self, ids: Any, group: NDArray[np.int64] | None = None, names: Iterable[Any] = ()) -> NDArray[np.uint8]:
        """The labels of rows with these ids. `group`: the places of their groups in `names`."""
        if not self._pairs.shape[0]:
            return np.zeros(len(ids), np.uint8)
        pair = numbers_of(pc.index_in(ids, value_set=self._texts), -1).astype(np.int64)
        if self.groups:
            of = np.array([self._groups.get(str(name), -1) for name in names], np.int64)[group]
            pair = np.where((of < 0) | (pair < 0), -1, of * len(self._known) + pair)
        at = np.searchsorted(self._pairs, pair)
        at[at == self._pairs.shape[0]] = 0
        found: NDArray[np.bool_] = self._pairs[at] == pair
        self._met[self._order[at[found]]] = True
        return found.view(np.uint8)

    def missing(self) -> list[tuple[str | None, str]]:
        """The listed ids with their groups (or None) that no row has had so far."""
        return [one for one, met in zip(self.listed, self._met.tolist(), strict=False) if not met]

    def misread(self) -> bool:
        """Whether a row has had the unsure text."""
        return self.unsure is not None and bool(self._met[-1])


def converted(roles: Sequence[tuple[str, Column]], cells: Sequence[Any], rules: Rules) -> list[Any]:
    """The cells of each column, converted for its role; groups as a dictionary array."""
    makers: dict[str, Callable[[Any], Any]] = {
        "label": lambda cell: labels_of(cell, rules), "grade": lambda cell: levels_of(cell, rules),
        "score": lambda cell: scores_of(cell, rules), "group": encoded, "ids": ids_of,
    }  # fmt: skip
    values = []
    for (role, column), cell in zip(roles, cells, strict=True):
        try:
            values.append(makers[role](cell))
        except BadCell as bad:
            bad.column = column
            raise
    return values


def whole(column: Any) -> Any:
    """The column of a table as one array."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def text_of(cells: Any) -> Any:
    """The cells; an error for the first cell of a text column that is not UTF-8."""
    try:
        cells.validate(full=True)
    except pa.ArrowInvalid:
        if pa.types.is_dictionary(cells.type):
            cells = cells.dictionary_decode()
        for index, cell in enumerate(cells.cast(pa.binary()).to_pylist()):
            try:
                cell is None or cell.decode()
            except UnicodeDecodeError:
                raise BadCell(index, f"{quoted(cell)} is not UTF-8") from None
        raise
    return cells


def no_text(text: str) -> str:
    return f"{quoted(text)} holds a lone surrogate, which is not a character"


def _plain(cells: Any) -> Any:
    """The cells of a column, decoded if it is a dictionary or another encoding of text."""
    cells = text_of(cells)
    if pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    if pa.types.is_large_string(cells.type) or pa.types.is_string_view(cells.type):
        cells = pc.cast(cells, pa.string())
    return cells


def _value(cells: Any, index: int) -> str:
    value = cells[index].as_py()
    return "empty" if value is None or (isinstance(value, str) and not value.strip()) else quoted(value)
