"""Which calls are worth measuring: what their cost hinted at while they were explored."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.campaign.stages.enlarging import ENOUGH_S, HANDY_S, can_grow
from ciguard.domain.api_calls import ApiCall
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Outcome, Passed
from ciguard.oracles import is_comparable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.campaign.group import Group
    from ciguard.campaign.stream import Executed

_HINT_RATIO = 1.3
_HINT_S = 25e-6
"""By which one call has to differ: its cost holds the building of arguments and is taken once."""
_MANY = 30
"""Calls of which the mean says something, however short they are."""
_MIN_COST_S = 1e-9
_MAX_COST_S = 0.1
"""Calls that take longer are not measured at all."""


@dataclass(slots=True)
class SuspectCall:
    """One call of an API that passed on several targets."""

    library: str
    case: ApiCall
    targets: tuple[str, ...]
    """The reference first, then those that compare with it."""
    costs: tuple[float, ...]
    """Seconds by target, the building of arguments included."""
    logs: list[float] = field(default_factory=list)
    """By target, the sum of log(seconds) of all calls of the API: one odd call weighs little."""
    calls: int = 0
    hinted: float = 0.0
    """Greatest ratio to the reference that its calls hint at."""

    @property
    def order(self) -> tuple[bool, float, str]:
        """The key that puts the most suspicious first, then the costliest."""
        is_hinted = self.hinted >= _HINT_RATIO
        return not is_hinted, -(self.hinted if is_hinted else min(self.costs)), self.case.api


class Suspects:
    """Keeps one call per API: the costliest that passed everywhere, of those that can grow."""

    def __init__(self) -> None:
        self._by_api: dict[tuple[str, str, tuple[str, ...]], SuspectCall] = {}
        self._comparable: dict[tuple[str, ...], tuple[str, ...]] = {}

    def note(self, executed: Executed, group: Group) -> None:
        """Look at the costs of a batch that was executed."""
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
        """Return the targets that can be measured against each other; none if no two can."""
        known = self._comparable.get(present)
        if known is None:
            known = self._comparable[present] = comparable(present, group)
        return known

    def _add(
        self, library: str, names: tuple[str, ...], case: ApiCall, costs: tuple[float, ...]
    ) -> None:
        key = library, case.api, names
        found = self._by_api.get(key)
        if found is None:
            found = self._by_api[key] = SuspectCall(library, case, names, costs, [0.0] * len(names))
        elif _worth(case, costs) > _worth(found.case, found.costs):
            found.case, found.costs = case, costs
        found.calls += 1
        for place, cost in enumerate(costs):
            found.logs[place] += math.log(max(cost, _MIN_COST_S))

    def ranked(self) -> list[SuspectCall]:
        """Return what can be measured, the most suspicious first."""
        candidates = list(self._by_api.values())
        for candidate in candidates:
            candidate.hinted = _hint(candidate)
        return sorted(candidates, key=lambda candidate: candidate.order)


def comparable(present: Sequence[str], group: Group) -> tuple[str, ...]:
    """Return the reference among these targets and those that compare with it; none if none do."""
    identities = group.subject("").targets
    names = [name for name in identities if name in present]
    others = [n for n in names[1:] if is_comparable(identities[names[0]], identities[n])]
    return (names[0], *others) if others else ()


def _costs(row: tuple[Outcome, ...]) -> tuple[float, ...] | None:
    costs = tuple(outcome.cost_s for outcome in row if isinstance(outcome, Passed))
    return costs if len(costs) == len(row) and max(costs) <= _MAX_COST_S else None


def _is_plain(case: ApiCall) -> bool:
    return case.intent is Intent.CONFORMING and not case.relation


def _worth(case: ApiCall, costs: tuple[float, ...]) -> tuple[bool, float]:
    """Return a key that prefers calls which take long, or can, but not too long to be repeated."""
    cost_s = min(costs) if max(costs) <= HANDY_S else -max(costs)
    return cost_s >= ENOUGH_S or can_grow(case), cost_s


def _hint(candidate: SuspectCall) -> float:
    """Return the greatest ratio to the reference, of the call itself or of all of the API's."""
    ratios = [0.0]
    reference, *others = candidate.costs
    if max(others) - reference >= _HINT_S:
        ratios.append(max(others) / max(reference, _MIN_COST_S))
    if candidate.calls >= _MANY:
        first, *logs = candidate.logs
        ratios.append(math.exp((max(logs) - first) / candidate.calls))
    return max(ratios)
