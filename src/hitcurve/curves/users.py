"""The user models of measures: what a user gains and spends who goes down a ranking as a measure assumes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

import numpy as np

from hitcurve._base.checks import check_choice, check_number
from hitcurve._base.words import are, many
from hitcurve.curves.base import as_measure
from hitcurve.measures import TIES, Measure
from hitcurve.results import _Value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    _Floats = NDArray[np.float64]

__all__ = ["UserModel", "full_level", "user_model"]

_RATE, _TOTAL, _DEPTH = range(3)  # the enum Part of the kernels
_OF_RANKS = ("RBP", "INSQ", "SDCG", "P")
_MODELS = (*_OF_RANKS, "INST", "NERR8", "NERR9", "NERR10", "NERR11", "BPM", "RR", "AP")


class UserModel(NamedTuple, Generic[_Value]):
    """What a user gains and spends who goes down a ranking as a measure assumes: the numbers of the C/W/L framework.

    The user looks at rank i with chance V(i), which is 1 at rank 1. The fields are floats for one ranking, and arrays
    for many rankings.

    Attributes
    ----------
    utility
        The gain for each item that the user looks at: ``total_utility / depth``. This is the value of the measure.
    total_utility
        The gain of all items that the user looks at: the sum of V(i) times the gain of rank i.
    cost
        The cost of each item that the user looks at: ``total_cost / depth``.
    total_cost
        The cost of all items that the user looks at: the sum of V(i) times the cost of rank i.
    depth
        The number of items that the user looks at: the sum of V(i).
    residual
        How much each of these numbers would change if every rank beyond the last item had gain 1, as a ``UserModel``
        whose own ``residual`` is None. In that of ``Evaluation.user_model`` each document without a judgment has gain
        1 too.
    """

    utility: _Value
    total_utility: _Value
    cost: _Value
    total_cost: _Value
    depth: _Value
    residual: UserModel[_Value] | None


UserModel.__module__ = "hitcurve"  # the module that pickles name


class _Numbers(NamedTuple):
    """The numbers of a user, for each ranking."""

    rate: _Floats
    total: _Floats
    depth: _Floats


class _User:
    """The user of a measure who goes down some rankings."""

    def __init__(self, curve: Any, measure: Any, ties: str) -> None:
        one: Measure = as_measure(measure)
        self.name, self.options = one.record.name, dict(one.keywords)
        if self.name not in _MODELS or {"fraction", "interpolation"} & {*self.options} or (
                self.name == "AP" and "k" in self.options):
            raise ValueError(f"{one.name} has no user model here: use {', '.join(_MODELS[:-1])} or {_MODELS[-1]}, AP "
                             "without a cutoff and P with a rank")
        self.ties = check_choice(one.ties or ties, "ties", TIES[:3])
        if self.name != "BPM":
            one.reading(self.ties, levels=True)
        if self.name in ("AP", "RR") and self.ties not in TIES[1:3]:
            raise ValueError(f"the user model of {one.name} is not defined for ties={self.ties!r}: use best or worst")
        self.curve, self.measure = curve, one
        self.level = one.relevant_level()
        self.items = np.atleast_1d(np.asarray(curve.num_items, np.float64))
        self.k: Any = self.options.get("k")
        self.known = self.items if self.k is None else np.minimum(self.items, self.k)

    def numbers(self, hopeful: bool) -> _Numbers:
        """The numbers if ranks beyond the last item, or beyond k, have gain 0; with `hopeful` they have gain 1."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.name in _OF_RANKS:
                return self._of_ranks(hopeful)
            if self.name == "RR":
                return self._of_first(hopeful)
            if self.name == "AP":
                return self._of_average_precision(hopeful)
        ties = {} if self.name == "BPM" else {"ties": self.ties}
        options = {key: value for key, value in self.options.items() if key != "k"}
        found = (np.atleast_1d(self.curve._part(self.name.lower(), part, hopeful, self.k, **options, **ties))
                 for part in (_RATE, _TOTAL, _DEPTH))
        return _Numbers(*found)

    def _rates(self) -> _Floats:
        return np.atleast_1d(np.asarray(self.measure(self.curve, self.ties), np.float64))

    def _of_ranks(self, hopeful: bool) -> _Numbers:
        depth: float
        beyond: Any
        if self.name == "RBP":
            p = self.options["p"]
            depth, beyond = 1 / (1 - p), p**self.known / (1 - p)
        elif self.name == "P":
            depth, beyond = float(self.k), self.k - self.known
        else:
            T = self.options.get("T", 0.0)
            end = np.inf if self.k is None or self.name == "INSQ" else float(self.k)
            depth = self.curve._looks(self.name, T, 0.0, end)
            beyond = np.array([self.curve._looks(self.name, T, n, end - n) for n in self.known.tolist()])
        rate: Any = self._rates() + (beyond / depth if hopeful else 0.0)
        return _Numbers(rate, rate * depth, np.full(rate.shape, depth))

    def _of_first(self, hopeful: bool) -> _Numbers:
        rate: Any = self._rates()
        depth: Any = np.rint(1 / rate)
        last = np.inf if self.k is None else float(self.k)
        none = rate == 0
        if hopeful:
            rate = np.where(none & (self.known < last), 1 / (self.known + 1), rate)
            depth = np.where(none, np.minimum(self.known + 1, last), depth)
        return _Numbers(rate, np.where(rate > 0, 1.0, 0.0), np.where(rate > 0, depth, last))

    def _of_average_precision(self, hopeful: bool) -> _Numbers:
        rate = self._rates()
        if hopeful:
            return _Numbers(*[np.full(rate.shape, np.nan)] * 3)
        relevant = np.atleast_1d(self.curve.at_level(self.level).num_relevant)
        near = np.atleast_1d(self.curve._sum_of_reciprocals(self.level, self.ties))
        depth = np.where(relevant > 0, relevant / near, np.nan)
        return _Numbers(rate, np.where(np.isinf(depth), 0.0, rate * depth), depth)

    def chances(self, number: int, depth: float, hopeful: bool) -> _Floats:
        """The chance of the user of a single ranking to look at each of the first ranks."""
        ranks = np.arange(1.0, number + 1)
        options = self.options
        T = options.get("T", 0.0)
        if self.name == "RBP":
            return np.asarray(options["p"] ** (ranks - 1))
        if self.name == "INSQ":
            return np.asarray((2 * T / (ranks + 2 * T - 1)) ** 2)
        if self.name == "SDCG":
            return np.where(ranks <= options["k"], 1 / np.log2(ranks + 1), 0.0)
        if self.name in ("P", "RR", "BPM"):
            return np.asarray((ranks <= depth) * 1.0)
        gains = self._gains(number)
        if self.name == "AP":
            sum_of_all = self.curve._sum_of_reciprocals(self.level, self.ties)
            return np.asarray(1 - (np.cumsum(gains / ranks) - gains / ranks) / (sum_of_all or 1.0))
        if hopeful:
            gains[int(self.known[0]) :] = 1.0
        go_on: dict[str, Callable[[], _Floats]] = {
            "NERR8": lambda: np.asarray(ranks < options["k"]) * (1 - gains),
            "NERR9": lambda: np.asarray(ranks < options["k"]) * (1 - gains) * ranks / (ranks + 1),
            "NERR10": lambda: options["p"] * (1 - gains),
            "NERR11": lambda: ((ranks + 2 * T - 1) / (ranks + 2 * T)) ** 2 * (1 - gains),
            "INST": lambda: (1 - 1 / (ranks + 2 * T - np.cumsum(gains))) ** 2,
        }
        return np.cumprod(np.append(1.0, go_on[self.name]()[:-1]))

    def _gains(self, number: int) -> _Floats:
        """The gain of each of the first ranks of a single ranking, in the order that `ties` asks for."""
        curve, gains = self.curve, np.zeros(number)
        if self.name == "AP":
            worth = (curve.level >= self.level) * 1.0
        else:
            least, most = self.options.get("min_rel", 0), self.options.get("max_rel")
            if most is None:
                most = max(1.0, *curve.level.tolist(), *np.asarray(curve.unretrieved).tolist(), 1.0)
            worth = (np.clip(curve.level, least, most) - least) / (most - least)
        stop = number if self.k is None else min(number, self.k)
        starts = curve.level_offsets
        for row, above in enumerate(curve.above.tolist()):
            if above >= stop:
                break
            pairs = range(starts[row], starts[row + 1])
            at = above + (int(curve.tied[row] - curve.hits[row]) if self.ties == "worst" else 0)
            for pair in pairs if self.ties == "worst" else reversed(pairs):
                gains[min(at, stop) : min(at + int(curve.level_count[pair]), stop)] = worth[pair]
                at += int(curve.level_count[pair])
        return gains


def user_model(curve: Any, measure: Any, cost: Any, ties: str, hoped: Any = None) -> UserModel[Any]:
    """The method ``user_model`` of the curves. `hoped`: the curve for the residual, if items of it are unknown too."""
    several = hasattr(curve, "row_offsets")  # the classes import this module
    costs = _costs(cost, len(curve) if several else None)
    both = curve, curve if hoped is None else hoped
    if isinstance(costs, list) or (several and not isinstance(costs, float)):
        each = [user_model(one, measure, costs[q] if isinstance(costs, list) else costs, ties, other)
                for q, (one, other) in enumerate(zip(*both, strict=True))]
        models: list[list[Any]] = [[*each], [one.residual for one in each]]
        return _model(*([np.array([one[i] for one in some], np.float64) for i in range(5)] for some in models))
    users = [_User(one, measure, ties) for one in both]
    if not isinstance(costs, float) and users[0].name == "BPM":
        users = [_User(one.curve, _patient(one, costs), ties) for one in users]
    known, more = (_spent(user, costs, hopeful) for user, hopeful in zip(users, (False, True), strict=True))
    with np.errstate(invalid="ignore"):
        more = [hope - value for hope, value in zip(more, known, strict=True)]
    if not several:
        known, more = [float(one[0]) for one in known], [float(one[0]) for one in more]
    return _model(known, more)


def full_level(measure: Measure) -> float:
    """The least level that gains 1 among lower levels: the highest of the scale, the lowest relevant, or 1."""
    return float(dict(measure.keywords).get("max_rel") or measure.rel or 1)


def _model(known: list[Any], more: list[Any]) -> UserModel[Any]:
    return UserModel._make([*known, UserModel._make([*more, None])])


def _spent(user: _User, costs: float | _Floats, hopeful: bool) -> list[Any]:
    """The five numbers of a user."""
    rate, total, depth = user.numbers(hopeful)
    if isinstance(costs, float):
        with np.errstate(invalid="ignore"):
            return [rate, total, costs + 0.0 * rate, costs * depth if costs else 0.0 * rate, depth]
    if np.isnan(depth[0]):
        return [rate, total, depth, depth, depth]
    chances = user.chances(len(costs), float(depth[0]), hopeful)
    beyond = max(float(depth[0]) - float(chances.sum()), 0.0)
    spent = float(chances @ costs) + (beyond * float(costs[-1]) if costs[-1] else 0.0)
    each = float(costs[-1]) if np.isinf(depth[0]) else spent / float(depth[0])
    return [rate, total, np.array([each]), np.array([spent]), depth]


def _patient(user: _User, costs: _Floats) -> Measure:
    """BPM with the rank at which the costs so far reach its k."""
    if user.options.get("hc"):
        raise ValueError(f"{user.measure.name}: cost is an array, but with hc= items change k, which counts ranks")
    spent = np.cumsum(costs)
    rank = int(np.searchsorted(spent, user.k)) + 1
    if rank > len(costs):
        left = (user.k - float(spent[-1])) / float(costs[-1]) if costs[-1] else np.inf
        rank = len(costs) + int(min(np.ceil(left), 2.0**61))
    return user.measure._replace(keywords=tuple({**user.options, "k": rank}.items()))


def _costs(cost: Any, number: int | None) -> float | _Floats | list[_Floats]:
    """A cost, or the costs of the ranks, or of each of so many rankings the costs of its ranks."""
    if not isinstance(cost, (list, tuple)) and np.ndim(cost) == 0:
        if not 0 <= check_number(cost, "cost") < np.inf:
            raise ValueError(f"cost is {cost}: must be finite and at least 0")
        return float(cost)
    if number is not None and any(np.ndim(one) for one in cost):
        if len(cost) != number:
            raise ValueError(f"cost has {many(len(cost), 'entries')}, but there {are(number)} "
                             f"{many(number, 'rankings')}")
        return [_of_ranks(one, f"cost[{q}]") for q, one in enumerate(cost)]
    return _of_ranks(cost, "cost")


def _of_ranks(cost: Any, name: str) -> _Floats:
    costs = np.asarray(cost)
    if costs.ndim != 1 or costs.dtype.kind not in "iuf" or not len(costs):
        raise ValueError(f"{name} must be a number, or an array of the cost of each rank, with at least one rank")
    for i in np.flatnonzero(~((costs >= 0) & (costs < np.inf)))[:1].tolist():
        raise ValueError(f"{name}[{i}] is {costs[i]}: must be finite and at least 0")
    return costs.astype(np.float64)
