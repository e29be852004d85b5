"""Screening of calls: measuring requests, and the choice of suspicious calls by their results."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING

from ciguard.execution import Measurement, Quantity, growth_request, peak_request, time_request
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
"""Time of the calls between two checkpoints, in seconds."""
_MAX_GROWTH_CALLS = 128
_HINT_RATIO = 1.3
_HINTS = {
    Quantity.TIME: MIN_TIME_NS / 2,
    Quantity.PEAK: MIN_PEAK,
    Quantity.GROWTH: MIN_GROWTH / 2,
}
"""Minimum differences of suspicious candidates; the peak hardly varies, so it is not halved."""
MEASURED = tuple(_HINTS)
"""Quantities that workers measure."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A call, quantity and target to measure thoroughly."""

    candidate: SuspectCall
    """Call to measure."""
    quantity: Quantity
    """Quantity to measure."""
    other: str
    """Target that seems worse than the reference."""
    ratio: float = math.inf
    """Ratio of the two targets in the screening."""


_ORDER = (Quantity.GROWTH, Quantity.TIME, Quantity.PEAK)
_TOGETHER = {Quantity.GROWTH: 1, Quantity.TIME: 8, Quantity.PEAK: 8}
"""Number of suspicions measured in the same worker; freed memory would hide another's leak."""


def grouped(suspicions: Iterable[Suspicion]) -> Iterator[list[Suspicion]]:
    """Yield groups of suspicions to measure together: leaks first, then by decreasing ratio."""
    ranked = sorted(suspicions, key=lambda suspicion: -suspicion.ratio)
    for quantity in _ORDER:
        for other in dict.fromkeys(suspicion.other for suspicion in ranked):
            group = [
                suspicion
                for suspicion in ranked
                if (suspicion.other, suspicion.quantity) == (other, quantity)
            ]
            count = _TOGETHER[quantity]
            yield from (group[start : start + count] for start in range(0, len(group), count))


@dataclass(slots=True)
class Screened:
    """One screened call, with its measurements by quantity and target."""

    small: SuspectCall
    """Call with its original inputs, to measure leaks, which do not grow with the inputs."""
    large: SuspectCall
    """Call with enlarged inputs, to measure time and peak memory."""
    _measured: dict[tuple[Quantity, str], list[Measurement]] = field(default_factory=dict)

    def requests(self, *, is_first: bool) -> Iterator[bytes]:
        """Yield the requests of one round: time in each round, memory in the first one only."""
        yield _time_request(self.large, repetitions=1)
        if is_first:
            yield request(self.large, Quantity.PEAK)
            calls = _calls(self.small, _GROWTH_S / 2, _MAX_GROWTH_CALLS // 4)
            case = encode(self.small.case)
            yield growth_request(case, calls=calls, checkpoints=_SCREENING_CHECKPOINTS)

    def add(self, target: str, measured: Measurement) -> None:
        """Add a result."""
        self._measured.setdefault((measured.quantity, target), []).append(measured)

    def suspicions(self, reference: str, others: Iterable[str]) -> Iterator[Suspicion]:
        """Yield the targets and quantities that seem worse than the reference."""
        for other in others:
            for quantity in MEASURED:
                baseline = self._measured.get((quantity, reference))
                compared = self._measured.get((quantity, other))
                if baseline and compared and is_worse(quantity, baseline, compared):
                    measured = self.small if quantity is Quantity.GROWTH else self._timed()
                    ratio = _amount(quantity, compared) / max(_amount(quantity, baseline), 1.0)
                    yield Suspicion(measured, quantity, other, ratio)

    def _timed(self) -> SuspectCall:
        """Return the large call with its time on each target, as one may take far longer."""
        rows = [self._measured.get((Quantity.TIME, name)) for name in self.large.targets]
        costs = tuple(_amount(Quantity.TIME, row) / 1e9 for row in rows if row)
        return replace(self.large, costs=costs or self.large.costs)


@dataclass(slots=True)
class SuspicionTrial:
    """A suspicion, with its thorough measurements."""

    suspicion: Suspicion
    """Call, quantity and target."""
    request: bytes
    """Request to a worker."""
    taken: dict[str, list[Measurement]] = field(default_factory=dict)
    """Measurements by target, one per round."""
    is_measured: bool = True
    """True if every request was answered with a measurement."""
    is_over: bool = False
    """True if no more rounds are needed."""

    def take(self, target: str, measured: Measurement | None) -> None:
        """Add a result; the trial is over if the call was rejected or crashed."""
        if measured is None:
            self.is_measured, self.is_over = False, True
        else:
            self.taken.setdefault(target, []).append(measured)

    def drop_if_similar(self, reference: str, other: str) -> None:
        """End the trial if the first rounds show no difference."""
        if not self.is_over:
            quantity = self.suspicion.quantity
            self.is_over = not is_worse(quantity, self.taken[reference], self.taken[other])


def is_worse(quantity: Quantity, reference: list[Measurement], other: list[Measurement]) -> bool:
    """Return whether a few rounds hint at a difference, without statistical evidence."""
    expected, actual = _amount(quantity, reference), _amount(quantity, other)
    return actual - expected >= _HINTS[quantity] and actual >= _HINT_RATIO * expected


def _amount(quantity: Quantity, rounds: Iterable[Measurement]) -> float:
    return median(map(steady_growth if quantity is Quantity.GROWTH else best, rounds))


def best(measured: Measurement) -> float:
    """Return the minimum of a round's repetitions, as disturbances only increase the values."""
    return min(measured.values)


def request(candidate: SuspectCall, quantity: Quantity, *, factor: int = 1) -> bytes:
    """Return the request for one round of a measurement; leaks need a single round.

    Args:
        candidate: call to measure.
        quantity: quantity to measure.
        factor: factor for the number of calls, for a leak.

    Raises:
        ValueError: if workers do not measure the quantity.
    """
    case = encode(candidate.case)
    match quantity:
        case Quantity.TIME:
            return _time_request(candidate, _REPETITIONS)
        case Quantity.PEAK:
            return peak_request(case)
        case Quantity.GROWTH:
            calls = factor * _calls(candidate, _GROWTH_S, _MAX_GROWTH_CALLS)
            return growth_request(case, calls=calls, checkpoints=_CHECKPOINTS)
        case Quantity.INSTRUCTIONS:
            msg = "workers do not count instructions"
            raise ValueError(msg)


def _time_request(candidate: SuspectCall, repetitions: int) -> bytes:
    calls = _calls(candidate, _REPETITION_S, _MAX_CALLS)
    return time_request(encode(candidate.case), calls=calls, repetitions=repetitions)


def rough_time_request(case: Case) -> bytes:
    """Return the request for a rough time of a call."""
    return time_request(encode(case), calls=1, repetitions=2)


def _calls(candidate: SuspectCall, seconds: float, maximum: int) -> int:
    return max(1, min(maximum, math.ceil(seconds / max(*candidate.costs, 1e-9))))
