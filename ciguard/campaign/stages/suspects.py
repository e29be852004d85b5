"""Choice of calls to measure, by their costs while exploring."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.campaign.stages.enlarging import MAX_MEASURED_S, MIN_MEASURED_S, can_grow
from ciguard.domain.api_calls import ApiCall
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Outcome, Passed
from ciguard.oracles import is_comparable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.campaign.group import Group
    from ciguard.campaign.stream import ExecutedBatch

_HINT_RATIO = 1.3
_HINT_S = 25e-6
"""Minimum difference of a single call, in seconds; its cost includes building the arguments."""
_MIN_CALLS_FOR_MEAN = 30
"""Number of calls from which on their mean is significant, even for short calls."""
_MIN_COST_S = 1e-9
_MAX_COST_S = 0.1
"""Maximum time of a measured call, in seconds."""


@dataclass(slots=True)
class SuspectCall:
    """One call of an API that passed on several targets."""

    library: str
    """Name of the library."""
    case: ApiCall
    """Call to measure."""
    targets: tuple[str, ...]
    """Names of the reference, and of the targets to compare with it."""
    costs: tuple[float, ...]
    """Time of the call on each target, including building the arguments, in seconds."""
    logs: list[float] = field(default_factory=list)
    """Sum of log(seconds) of all calls of the API, by target, so that outliers weigh little."""
    calls: int = 0
    """Number of all calls of the API."""
    hinted: float = 0.0
    """Largest ratio to the reference that its calls hint at."""

    @property
    def order(self) -> tuple[bool, float, str]:
        """Sort key: the most suspicious calls first, then the most expensive ones."""
        is_hinted = self.hinted >= _HINT_RATIO
        return not is_hinted, -(self.hinted if is_hinted else min(self.costs)), self.case.api


class Suspects:
    """Keeps one call per API: the most expensive one that passed on all targets and can grow."""

    def __init__(self) -> None:
        self._by_api: dict[tuple[str, str, tuple[str, ...]], SuspectCall] = {}
        self._comparable: dict[tuple[str, ...], tuple[str, ...]] = {}

    def note(self, executed: ExecutedBatch, group: Group) -> None:
        """Record the costs of an executed batch."""
        names = self._names(tuple(executed.outcomes), group)
        if not names:
            return
        rows = zip(*(executed.outcomes[name] for name in names), strict=True)
        for case, row in zip(executed.cases, rows, strict=True):
            if isinstance(case, ApiCall) and _is_plain(case):
                costs = _costs(row)
                if costs is not None:
                    self._add(group.library, names, case, costs)

    def _names(self, present: tuple[str, ...], group: Group) -> tuple[str, ...]:
        """Return the targets that can be compared; empty if there are fewer than two."""
        known = self._comparable.get(present)
        if known is None:
            known = self._comparable[present] = comparable(present, group)
        return known

    def _add(
        self, library: str, names: tuple[str, ...], case: ApiCall, costs: tuple[float, ...]
    ) -> None:
        key = library, case.api, names
        suspect = self._by_api.get(key)
        if suspect is None:
            suspect = SuspectCall(library, case, names, costs, [0.0] * len(names))
            self._by_api[key] = suspect
        elif _preference(case, costs) > _preference(suspect.case, suspect.costs):
            suspect.case, suspect.costs = case, costs
        suspect.calls += 1
        for index, cost in enumerate(costs):
            suspect.logs[index] += math.log(max(cost, _MIN_COST_S))

    @property
    def has_calls(self) -> bool:
        """True if any call was kept."""
        return bool(self._by_api)

    def ranked(self) -> list[SuspectCall]:
        """Return the calls to measure, the most suspicious first."""
        candidates = list(self._by_api.values())
        for candidate in candidates:
            candidate.hinted = _hint(candidate)
        return sorted(candidates, key=lambda candidate: candidate.order)


def comparable(present: Sequence[str], group: Group) -> tuple[str, ...]:
    """Return the reference and the targets comparable with it; empty if there are none."""
    identities = group.subject("").targets
    names = [name for name in identities if name in present]
    compared = [name for name in names[1:] if is_comparable(identities[names[0]], identities[name])]
    return (names[0], *compared) if compared else ()


def _costs(row: tuple[Outcome, ...]) -> tuple[float, ...] | None:
    costs = tuple(outcome.cost_s for outcome in row if isinstance(outcome, Passed))
    return costs if len(costs) == len(row) and max(costs) <= _MAX_COST_S else None


def _is_plain(case: ApiCall) -> bool:
    return case.intent is Intent.CONFORMING and not case.relation


def _preference(case: ApiCall, costs: tuple[float, ...]) -> tuple[bool, float]:
    """Return a sort key that prefers calls that take long, or can grow, but can be repeated."""
    cost_s = min(costs) if max(costs) <= MAX_MEASURED_S else -max(costs)
    return cost_s >= MIN_MEASURED_S or can_grow(case), cost_s


def _hint(candidate: SuspectCall) -> float:
    """Return the largest ratio to the reference, of the call itself or of all calls of the API."""
    ratios = [0.0]
    reference, *others = candidate.costs
    if max(others) - reference >= _HINT_S:
        ratios.append(max(others) / max(reference, _MIN_COST_S))
    if candidate.calls >= _MIN_CALLS_FOR_MEAN:
        first, *logs = candidate.logs
        ratios.append(math.exp((max(logs) - first) / candidate.calls))
    return max(ratios)
