"""Warnings about the measures of a column of scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from shlex import quote
from typing import TYPE_CHECKING

from hitcurve._base.checks import rank_of_share
from hitcurve._base.words import are, many
from hitcurve.curves.hit import HitCurve

if TYPE_CHECKING:
    from hitcurve.measures import Measure
    from hitcurve.sources.screen import ScreenedScore

__all__ = ["warnings_of"]

# With fewer relevant items, intervals are nearly as wide as the scale, and normal approximations fail.
FEW_RELEVANT = 20
# If a tie group at a cutoff has a larger share of the items, there is a warning.
TIED_SHARE = 0.05


def warnings_of(score: ScreenedScore, measures: Sequence[Measure]) -> list[str]:
    """Warnings about these measures of a column of scores."""
    hits = score.hits
    curves = [hits] if isinstance(hits, HitCurve) else list(hits)
    said, groups = list[str](), score.names is not None
    few = [at for at, curve in enumerate(curves) if 0 < curve.num_relevant < FEW_RELEVANT]
    if few:
        number, some = curves[0].num_relevant, len(few) < len(curves)
        such = f" (such as {str(score.names[few[0]])!r})" if score.names is not None and some else ""
        said.append(f"{len(few):,} of {many(len(curves), score.unit, ',')} {'has' if len(few) == 1 else 'have'} fewer "
                    f"than {FEW_RELEVANT} relevant items{such}" if groups else
                    f"only {many(number, 'relevant items')}: with fewer than {FEW_RELEVANT} every "
                    "value here depends on few items")
    turned = [_worse_than_chance(curve) for curve in curves if _has_roc(curve)]
    if 2 * sum(turned) > len(turned):  # a minority of groups may be hard, or bad luck
        worse = sum(turned)
        which = f"{worse:,} of {many(len(turned), score.unit, ',')} {are(worse)}"
        what = (f"{which} ranked worse than chance" if groups else
                f"the relevant items rank worse than chance (ROC AUC {curves[0].roc_auc():.3f})")
        other = "higher" if score.lower_is_better else "lower"
        said.append(f"{what}: should {other} be better? Then write --score {quote(f'{score.name}:{other}')}")
    tied: dict[str, int] = {}
    shown = ""
    for curve in curves:
        for name, rank in _cutoffs(curve, measures):
            inside = curve.tie_report(rank).cutoff_group
            low, high = (curve.hits_at(rank, ties=ties) for ties in ("worst", "best"))
            if inside > TIED_SHARE * curve.num_items and low < high:  # equal: no order changes the hits above
                tied[name] = tied.get(name, 0) + 1
                shown = shown or (f"{inside:,} items share the score at the cutoff of {name}: depending on their order "
                                  f"{low:,.0f} to {high:,.0f} relevant items lie above it")
    if tied and groups:
        listed = ", ".join(f"{name} ({count:,})" for name, count in tied.items())
        said.append(f"more than {100 * TIED_SHARE:.0f} % of the items are tied at a cutoff, by {score.unit}: {listed}")
    elif tied:
        said.append("; ties as large also at ".join(filter(None, (shown, ", ".join(list(tied)[1:])))))
    return said


def _cutoffs(curve: HitCurve, measures: Sequence[Measure]) -> Iterator[tuple[str, int]]:
    """Names and ranks of the distinct cutoffs of the measures that are within the list."""
    from decimal import Decimal

    seen = set()
    for measure in measures:
        options = dict(measure.keywords)
        if "fraction" in options:
            share = Decimal(repr(options["fraction"]))
            rank, name = rank_of_share(options["fraction"], curve.num_items), f"{(share * 100).normalize():f} %"
        else:
            rank = options.get("k", 0)
            name = many(rank, "items", ",")
        if 0 < rank < curve.num_items and rank not in seen:
            seen.add(rank)
            yield name, rank


def _has_roc(curve: HitCurve) -> bool:
    return 0 < curve.num_relevant < curve.num_items and curve.num_hits == curve.num_relevant


def _worse_than_chance(curve: HitCurve) -> bool:
    """Whether ROC AUC lies below 1/2 by more than two standard errors of a random order."""
    relevant, others = curve.num_relevant, curve.num_items - curve.num_relevant
    return curve.roc_auc() < 0.5 - 2 * math.sqrt((relevant + others + 1) / (12 * relevant * others))
