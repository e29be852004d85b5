"""Counts of the kinds of arguments that a stream has drawn, from a sample of its batches."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from ciguard.domain.outcomes import Crashed, Passed
from ciguard.domain.value_table import ValueTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome

_ALL_UNTIL = 2
"""Number of an API's first batches of which all calls are counted."""
_SAMPLED_EVERY = 32
"""Number of an API's later batches of which one is counted. To classify the arguments of a call
takes 8 µs, a twenty-fifth of the time of a call of torch."""


@dataclass(slots=True)
class ValueCounts:
    """Counts the arguments of a stream's calls."""

    kinds_of: Callable[[Case], Iterable[tuple[str, str]]] | None = None
    """Function that returns the kinds of a case's arguments; None if the level knows none."""
    table: ValueTable = field(default_factory=ValueTable)
    """Counts so far."""
    _batches: Counter[str] = field(default_factory=Counter)
    """Number of batches by API."""

    def note(self, cases: Sequence[Case], results: Mapping[str, Sequence[Outcome]]) -> None:
        """Count the arguments of a batch if it is in the sample, and those of calls that crash.

        Args:
            cases: cases of one API.
            results: outcomes of all cases, by target. A call has passed if it has on the first one.
        """
        if self.kinds_of is None or not cases or not results:
            return
        for index in _crashes(results):
            self.table.crashed.update(set(self.kinds_of(cases[index])))
        api = cases[0].api
        number = self._batches[api]
        self._batches[api] += 1
        if number >= _ALL_UNTIL and number % _SAMPLED_EVERY:
            return
        first = next(iter(results.values()))
        for case, outcome in zip(cases, first, strict=False):
            self.table.note(self.kinds_of(case), has_passed=isinstance(outcome, Passed))


def _crashes(results: Mapping[str, Sequence[Outcome]]) -> set[int]:
    """Return the indices of the cases that crashed on a target."""
    rows = chain.from_iterable(map(enumerate, results.values()))
    return {index for index, outcome in rows if isinstance(outcome, Crashed)}
