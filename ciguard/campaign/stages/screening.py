"""What is asked about a call that is measured, and which answers are worth a closer look."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING

from ciguard.execution import Measured, Quantity, growth_request, peak_request, time_request
from ciguard.oracles import MIN_GROWTH, MIN_PEAK, MIN_TIME_NS, steady_growth
from ciguard.oracles.relations import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ciguard.campaign.stages.suspects import SuspectCall
    from ciguard.domain.case import Case

_REPETITIONS = 2
_REPETITION_S = 0.001
_MAX_CALLS = 256
_CHECKPOINTS = 10
_SCREENING_CHECKPOINTS = 4
_GROWTH_S = 0.03
"""Of the calls between two checkpoints."""
_MAX_CALLS_OF_GROWTH = 128
_HINT_RATIO = 1.3
_HINTS = {
    Quantity.TIME: MIN_TIME_NS / 2,
    Quantity.PEAK: MIN_PEAK,
    Quantity.GROWTH: MIN_GROWTH / 2,
}
"""Differences that make a candidate a suspect. A peak is much the same every time."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """What is to be measured thoroughly."""

    candidate: SuspectCall
    quantity: Quantity
    other: str
    """The target that looks worse than the reference."""
    ratio: float = math.inf


_ORDER = (Quantity.GROWTH, Quantity.TIME, Quantity.PEAK)
_TOGETHER = {Quantity.GROWTH: 1, Quantity.TIME: 8, Quantity.PEAK: 8}
"""Suspicions that are measured in the same workers. What one call frees hides another's leak."""


def grouped(suspicions: Iterable[Suspicion]) -> Iterator[list[Suspicion]]:
    """Yield the suspicions that are measured together: leaks first, then what differs most."""
    ranked = sorted(suspicions, key=lambda one: -one.ratio)
    for quantity in _ORDER:
        for other in dict.fromkeys(one.other for one in ranked):
            same = [s for s in ranked if (s.other, s.quantity) == (other, quantity)]
            count = _TOGETHER[quantity]
            yield from (same[at : at + count] for at in range(0, len(same), count))


@dataclass(slots=True)
class Screened:
    """One call under screening, and what was measured of it, by quantity and target."""

    small: SuspectCall
    """As it was explored. What is lost with every call does not grow with the inputs."""
    large: SuspectCall
    """With the inputs that it is timed with."""
    _measured: dict[tuple[Quantity, str], list[Measured]] = field(default_factory=dict)

    def requests(self, *, is_first: bool) -> Iterator[bytes]:
        """Yield what is asked in one round: the time in each, memory in the first."""
        yield _time_request(self.large, repetitions=1)
        if is_first:
            yield request(self.large, Quantity.PEAK)
            calls = _calls(self.small, _GROWTH_S / 2, _MAX_CALLS_OF_GROWTH // 4)
            case = encode(self.small.case)
            yield growth_request(case, calls=calls, checkpoints=_SCREENING_CHECKPOINTS)

    def add(self, target: str, measured: Measured) -> None:
        """Take an answer."""
        self._measured.setdefault((measured.quantity, target), []).append(measured)

    def suspicions(self, reference: str, others: Iterable[str]) -> Iterator[Suspicion]:
        """Yield in what which target looks worse than the reference."""
        for other in others:
            for quantity in Quantity:
                mine = self._measured.get((quantity, reference))
                theirs = self._measured.get((quantity, other))
                if mine and theirs and is_worse(quantity, mine, theirs):
                    measured = self.small if quantity is Quantity.GROWTH else self._timed()
                    ratio = _amount(quantity, theirs) / max(_amount(quantity, mine), 1.0)
                    yield Suspicion(measured, quantity, other, ratio)

    def _timed(self) -> SuspectCall:
        """Return the large call with what it costs on each target: one may take far longer."""
        rows = [self._measured.get((Quantity.TIME, name)) for name in self.large.targets]
        costs = tuple(_amount(Quantity.TIME, row) / 1e9 for row in rows if row)
        return replace(self.large, costs=costs or self.large.costs)


@dataclass(slots=True)
class SuspicionTrial:
    """A suspicion, and what was measured of it."""

    suspicion: Suspicion
    request: bytes
    taken: dict[str, list[Measured]] = field(default_factory=dict)
    """By target, one per round."""
    is_measured: bool = True
    """Every answer was one."""
    is_over: bool = False
    """There is nothing to be found."""

    def take(self, target: str, measured: Measured | None) -> None:
        """Take an answer; a call that was refused or died says nothing from then on."""
        if measured is None:
            self.is_measured, self.is_over = False, True
        else:
            self.taken.setdefault(target, []).append(measured)

    def look(self, reference: str, other: str) -> None:
        """Give up what shows little."""
        if not self.is_over:
            quantity = self.suspicion.quantity
            self.is_over = not is_worse(quantity, self.taken[reference], self.taken[other])


def is_worse(quantity: Quantity, reference: list[Measured], other: list[Measured]) -> bool:
    """Return whether a few rounds hint at a difference; proves nothing."""
    mine, theirs = _amount(quantity, reference), _amount(quantity, other)
    return theirs - mine >= _HINTS[quantity] and theirs >= _HINT_RATIO * mine


def _amount(quantity: Quantity, rounds: Iterable[Measured]) -> float:
    return median(map(steady_growth if quantity is Quantity.GROWTH else best, rounds))


def best(measured: Measured) -> float:
    """Return the least of a round's repetitions: what disturbs a call only ever adds to it."""
    return min(measured.values)


def request(candidate: SuspectCall, quantity: Quantity, *, more: int = 1) -> bytes:
    """Return what a worker is asked in one round of a measurement; for a leak, in the only one.

    Args:
        candidate: what is measured.
        quantity: of it.
        more: so many times the calls, for a leak.
    """
    case = encode(candidate.case)
    match quantity:
        case Quantity.TIME:
            return _time_request(candidate, _REPETITIONS)
        case Quantity.PEAK:
            return peak_request(case)
        case Quantity.GROWTH:
            calls = more * _calls(candidate, _GROWTH_S, _MAX_CALLS_OF_GROWTH)
            return growth_request(case, calls=calls, checkpoints=_CHECKPOINTS)


def _time_request(candidate: SuspectCall, repetitions: int) -> bytes:
    calls = _calls(candidate, _REPETITION_S, _MAX_CALLS)
    return time_request(encode(candidate.case), calls=calls, repetitions=repetitions)


def glance(case: Case) -> bytes:
    """Return the request for a call's rough time."""
    return time_request(encode(case), calls=1, repetitions=2)


def _calls(candidate: SuspectCall, seconds: float, most: int) -> int:
    return max(1, min(most, math.ceil(seconds / max(*candidate.costs, 1e-9))))
