"""From files of scores to hit curves: several scores, groups, best poses, tables larger than memory, warnings."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hitcurve._curve import HitCurve, HitCurves, _curves_of
from hitcurve._workers import in_threads
from hitcurve.counter import HitCounter
from hitcurve.sources.tables import Types

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hitcurve.measures import Measure
    from hitcurve.sources.tables import Batch, TableReader

__all__ = ["Screen", "ScreenedScore", "read_screen", "warnings_of"]

# A table up to this many bytes is kept and read once; a larger one is read twice, and only counted.
_KEPT_BYTES = 128 << 20
# Below this many relevant items an interval is as wide as the scale, and normal approximations fail.
FEW_RELEVANT = 20
# A tie group at a cutoff that holds more of the items than this is worth a warning.
TIED_SHARE = 0.05

Progress = Callable[[str], None]


class ScreenedScore(NamedTuple):
    """One column of scores and what it makes of the items."""

    name: str
    lower_is_better: bool
    curves: HitCurve | HitCurves
    names: list[Any] | None
    """The groups that `curves` ranks; None where it is one HitCurve."""


class Arrays(NamedTuple):
    """The items themselves, where they were kept."""

    label: NDArray[np.uint8]
    scores: list[NDArray[Any]]
    group: NDArray[np.int64] | None


class Screen(NamedTuple):
    """What was read."""

    scores: list[ScreenedScore]
    num_rows: int
    notes: list[str]
    """What is odd about the rows, in sentences."""
    arrays: Arrays | None
    group_names: list[Any]


def read_screen(
    reader: TableReader,
    scores: Sequence[tuple[str, bool]],
    *,
    best_per_id: bool = False,
    keep: bool = False,
    progress: Progress = lambda text: None,
) -> Screen:
    """Read the files of `reader` and rank their items by each score.

    Parameters
    ----------
    reader : TableReader
        Of labels, scores, and groups and ids if wanted.
    scores : sequence of (str, bool)
        For each score column of the reader what it is called, and whether low scores rank first.
    best_per_id : bool
        Of the rows with one id (in one group) keep the best of each score: poses of a compound. Such rows must have
        the same label. Rows without a score lose.
    keep : bool
        Keep the items however many there are, and return them.
    progress : callable
        Is told now and then what is done.

    Returns
    -------
    Screen

    Raises
    ------
    ValueError
        As iterating over the reader; rows of one id that have different labels.
    """
    once = "-" in [str(path) for path in reader.paths]
    roles = dict(reader._roles)
    plain = len(reader._roles) == 2 and "label" in roles and not (once or keep or best_per_id or reader.grouped)
    if plain and sum(os.path.getsize(path) for path in reader.paths if os.path.exists(path)) > _KEPT_BYTES:
        # One column of labels and one of scores in large files: nothing but the curve is wanted of the rows.
        from hitcurve.sources.scanning import scan

        ((name, low),) = scores
        options: Any = {"nan_policy": reader.nan_policy, "header": reader.header, "workers": reader.workers}
        paths = [os.fspath(path) for path in reader.paths]
        curve = scan(paths, roles["label"], roles["score"], lower_is_better=low, **options)
        assert isinstance(curve, HitCurve)
        return Screen([ScreenedScore(name, low, curve, None)], curve.num_items, [], None, [])
    keep = keep or once or best_per_id
    kept: list[Batch] | None = []
    ids: list[Any] | None = []
    size = rows = 0
    met = [Types() for _ in scores]
    relevant: list[dict[int, list[NDArray[Any]]]] = [{} for _ in scores]
    for batch in reader:
        rows += batch.label.shape[0]
        progress(f"read {rows:,} rows")
        where = batch.label.view(bool)
        group = None if batch.group is None else batch.group[where]
        for at, score in enumerate(batch.scores):
            met[at].add(score, lambda name=scores[at][0]: f"column {name!r}")  # type: ignore[misc]
            for code, hits in _split(group, score[where]):
                relevant[at].setdefault(code, []).append(hits)
        if ids is not None and batch.ids is not None:
            ids.append(batch.ids)
            if not best_per_id and sum(one.nbytes for one in ids[-1:]) * len(ids) > _KEPT_BYTES:
                ids = None
        if kept is not None:
            size += batch.label.nbytes + sum(score.nbytes for score in batch.scores)
            kept.append(batch._replace(ids=None))
            if size > _KEPT_BYTES and not keep:
                kept = None
    notes: list[str] = []
    if ids is None:
        notes.append("the ids are too many to be looked through for repeated ones")
    elif ids and not best_per_id:
        notes += _repeated(ids, kept)
    types = [one.common() for one in met]
    rank, names = reader.ordered_groups()
    grouped = reader.grouped
    if best_per_id:
        assert ids is not None and kept is not None
        found = _best(ids, _arrays(kept, types, grouped), [lower for _, lower in scores], names, rank)
        progress(f"ranking {found.label.shape[0]:,} items")
        made = [
            _ranked(found.label, score, None if found.group is None else rank[found.group], lower, reader, names)
            for score, (_, lower) in zip(found.scores, scores, strict=True)
        ]
        arrays: Arrays | None = found if found.group is None else found._replace(group=rank[found.group])
    else:
        arrays = None
        if kept is not None and (keep or grouped):
            arrays = _arrays(kept, types, grouped)
            if arrays.group is not None:
                arrays = arrays._replace(group=rank[arrays.group])
        progress(f"ranking {rows:,} items")
        if arrays is not None and grouped:
            made = [
                _ranked(arrays.label, score, arrays.group, lower, reader, names)
                for score, (_, lower) in zip(arrays.scores, scores, strict=True)
            ]
        else:
            lower = [lower for _, lower in scores]
            made = _counted(reader, reader if kept is None else kept, relevant, types, lower, progress, rows)
    ranked = [
        ScreenedScore(name, lower, curves, groups)
        for (name, lower), (curves, groups) in zip(scores, made, strict=True)
    ]
    return Screen(ranked, rows, notes, arrays if keep else None, names)


def _split(group: NDArray[np.int64] | None, values: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    """The values of each group, by its code; all at once under 0 without groups."""
    if group is None:
        yield 0, values
        return
    if not group.size:
        return
    order = np.argsort(group, kind="stable")
    codes, starts = np.unique(group[order], return_index=True)
    yield from zip(codes.tolist(), np.split(values[order], starts[1:]), strict=True)


def _arrays(kept: list[Batch], types: list[Any], grouped: bool) -> Arrays:
    return Arrays(
        np.concatenate([np.empty(0, np.uint8), *(batch.label for batch in kept)]),
        [
            np.concatenate([np.empty(0, kind), *(batch.scores[at] for batch in kept)], dtype=kind, casting="unsafe")
            for at, kind in enumerate(types)
        ],
        np.concatenate([np.empty(0, np.int64), *(b.group for b in kept if b.group is not None)]) if grouped else None,
    )


def _ranked(
    label: NDArray[np.uint8],
    score: NDArray[Any],
    group: NDArray[np.int64] | None,
    lower: bool,
    reader: TableReader,
    names: list[Any],
) -> tuple[HitCurve | HitCurves, list[Any] | None]:
    options: Any = {"lower_is_better": lower, "nan_policy": reader.nan_policy, "workers": reader.workers}
    if group is None:
        return HitCurve(label, score, **options), None
    curves = HitCurves(label, score, qid=group, **options)
    assert curves.qid is not None
    return curves, [names[code] for code in curves.qid.tolist()]


def _counted(
    reader: TableReader,
    batches: Iterable[Batch],
    relevant: list[dict[int, list[NDArray[Any]]]],
    types: list[Any],
    lower: list[bool],
    progress: Progress,
    rows: int,
) -> list[tuple[HitCurve | HitCurves, list[Any] | None]]:
    """The curves by counting all items against the relevant scores, batch by batch in threads."""
    from threading import Lock

    groups = range(len(reader.group_names)) if reader.grouped else range(1)
    source, lock = iter(batches), Lock()
    done, stopped = 0, False

    def fresh() -> list[list[HitCounter]]:
        return [
            [
                HitCounter(
                    np.concatenate([np.empty(0, kind), *hits.get(code, ())], dtype=kind, casting="unsafe"),
                    lower_is_better=low,
                    nan_policy=reader.nan_policy,
                )
                for code in groups
            ]
            for kind, low, hits in zip(types, lower, relevant, strict=True)
        ]

    def count() -> list[list[HitCounter]]:
        nonlocal done
        counters = fresh()
        while True:
            with lock:  # one thread reads on while the others count
                batch = None if stopped else next(source, None)
                if batch is not None:
                    done += batch.label.shape[0]
                    progress(f"counted {done:,} of {rows:,} rows")
            if batch is None:
                return counters
            for score, kind, column in zip(batch.scores, types, counters, strict=True):
                score = score.astype(kind, copy=False)
                if batch.group is None:
                    column[0].update(batch.label, score)
                    continue
                labels = dict(_split(batch.group, batch.label))
                for code, part in _split(batch.group, score):
                    column[code].update(labels[code], part)

    def stop() -> None:
        nonlocal stopped
        stopped = True  # after an error or Ctrl-C nobody reads on

    counters, *others = in_threads(lambda _: count(), range(reader.workers), reader.workers, cancel=stop)
    for other in others:
        for mine, theirs in zip(counters, other, strict=True):
            for one, two in zip(mine, theirs, strict=True):
                one += two
    if not reader.grouped:
        return [(column[0].curve(), None) for column in counters]
    rank, names = reader.ordered_groups()
    order = np.argsort(rank).tolist()
    return [
        _joined([column[code].curve() for code in order], names, low)
        for column, low in zip(counters, lower, strict=True)
    ]


def _joined(curves: list[HitCurve], names: list[Any], lower: bool) -> tuple[HitCurves, list[Any]]:
    """Curves of one ranking each as one HitCurves."""
    offsets = np.concatenate([[0], np.cumsum([len(curve) for curve in curves])]).astype(np.int64)
    columns = [
        np.concatenate([np.empty(0, np.int64), *(getattr(curve, name) for curve in curves)])
        for name in ("above", "tied", "hits")
    ]
    totals = [
        np.array([getattr(curve, name) for curve in curves], np.int64)
        for name in ("num_items", "num_hits", "num_relevant")
    ]
    score = np.concatenate([curve.score for curve in curves if curve.score is not None]) if curves else np.empty(0)
    return _curves_of(np.arange(len(curves)), lower, False, offsets, score, *columns, *totals), names


# --- ids ----------------------------------------------------------------------------------------------------


def _id_codes(ids: list[Any], group: NDArray[np.int64] | None, num_groups: int) -> tuple[Any, NDArray[np.int64]]:
    """The distinct ids, and for each row a number that stands for its id in its group."""
    import pyarrow as pa

    whole = pa.chunked_array(ids, pa.string()).dictionary_encode().unify_dictionaries()
    codes = np.concatenate([np.empty(0, np.int64), *(chunk.indices.to_numpy() for chunk in whole.chunks)])
    if group is not None:
        codes = codes * max(1, num_groups) + group
    return whole.chunk(whole.num_chunks - 1).dictionary, codes


def _repeated(ids: list[Any], kept: list[Batch] | None) -> list[str]:
    group = None
    if kept is not None and kept[0].group is not None:
        group = np.concatenate([batch.group for batch in kept if batch.group is not None])
    size = 0 if group is None else int(group.max()) + 1
    distinct, codes = _id_codes(ids, group, size)
    ordered = np.sort(codes)
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    if not again.size:
        return []
    example = distinct[int(again[0]) // max(1, size)].as_py()
    where = "" if group is None else " of their group"
    return [
        f"{again.size:,} rows repeat the id of another row{where} (such as {example!r}) and are ranked by themselves: "
        "--best-per keeps the best row of each id"
    ]


def _best(
    ids: list[Any], rows: Arrays, lower: list[bool], names: list[Any], rank: NDArray[np.int64]
) -> Arrays:
    """For each id (in each group) its label and the best of each score."""
    if not ids:
        return rows
    distinct, codes = _id_codes(ids, rows.group, len(names))
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.append(True, codes[order][1:] != codes[order][:-1]))
    label = rows.label[order]
    low, high = np.minimum.reduceat(label, starts), np.maximum.reduceat(label, starts)
    if np.any(low != high):
        at = int(np.argmax(low != high))
        code = int(codes[order][starts[at]])
        width = len(names) if rows.group is not None else 1
        place = f" of group {names[rank[code % width]]!r}" if rows.group is not None else ""
        raise ValueError(
            f"the rows of id {distinct[code // width].as_py()!r}{place} have different labels: one compound is "
            "relevant or it is not"
        )
    # fmin and fmax take a number over NaN.
    best = [
        (np.fmin if down else np.fmax).reduceat(score[order], starts)
        for score, down in zip(rows.scores, lower, strict=True)
    ]
    return Arrays(low, best, None if rows.group is None else rows.group[order][starts])


# --- warnings -----------------------------------------------------------------------------------------------


def warnings_of(score: ScreenedScore, measures: Sequence[Measure]) -> list[str]:
    """What a person would want to know before believing these measures of one score column, in sentences."""
    curves = [score.curves] if isinstance(score.curves, HitCurve) else list(score.curves)
    said = []
    groups = score.names is not None
    few = sum(0 < curve.num_relevant < FEW_RELEVANT for curve in curves)
    if few and groups:
        said.append(f"{few:,} of {len(curves):,} groups have fewer than {FEW_RELEVANT} relevant items")
    elif few:
        number = curves[0].num_relevant
        said.append(
            f"only {number} relevant item{'' if number == 1 else 's'}: with fewer than {FEW_RELEVANT} every number "
            "here depends on a handful of items"
        )
    turned = sum(map(_worse_than_chance, curves))
    other = "higher" if score.lower_is_better else "lower"
    if turned and groups:
        said.append(f"{turned:,} of {len(curves):,} groups are ranked worse than chance: should {other} be better?")
    elif turned:
        said.append(
            f"the relevant items rank worse than chance (ROC AUC {curves[0].roc_auc():.3f}): should {other} be better?"
        )
    tied: dict[str, int] = {}
    shown = ""
    for curve in curves:
        for name, rank in _cutoffs(curve, measures):
            inside = curve.tie_report(rank).cutoff_group
            if inside <= TIED_SHARE * curve.num_items:
                continue
            low, high = (curve.hits_at(rank, ties=ties) for ties in ("worst", "best"))
            if low < high:  # else no order of them changes what lies above
                tied[name] = tied.get(name, 0) + 1
                shown = shown or (
                    f"{inside:,} items share the score at the cutoff of {name}: depending on their order {low:,.0f} to "
                    f"{high:,.0f} relevant items lie above it"
                )
    if tied and groups:
        listed = ", ".join(f"{name} ({count:,})" for name, count in tied.items())
        said.append(f"more than {100 * TIED_SHARE:.0f} % of the items are tied at a cutoff, by groups: {listed}")
    elif tied:
        more = list(tied)[1:]
        said.append(shown + (f"; ties as large also at {', '.join(more)}" if more else ""))
    return [f"{score.name}: {sentence}" for sentence in said]


def _cutoffs(curve: HitCurve, measures: Sequence[Measure]) -> Iterator[tuple[str, int]]:
    """The cutoffs of the measures within the list, by name and rank, each once."""
    from decimal import Decimal

    seen = set()
    for measure in measures:
        options = dict(measure.keywords)
        if "fraction" in options:
            share = Decimal(repr(options["fraction"]))
            rank, name = math.ceil(share * curve.num_items), f"{(share * 100).normalize():f} %"
        else:
            rank = options.get("k", 0)
            name = f"{rank:,} items"
        if 0 < rank < curve.num_items and rank not in seen:
            seen.add(rank)
            yield name, rank


def _worse_than_chance(curve: HitCurve) -> bool:
    """Whether ROC AUC lies below 1/2 by more than two standard errors of a random order."""
    relevant, others = curve.num_relevant, curve.num_items - curve.num_relevant
    if not relevant or not others or curve.num_hits < relevant:
        return False
    return curve.roc_auc() < 0.5 - 2 * math.sqrt((relevant + others + 1) / (12 * relevant * others))
