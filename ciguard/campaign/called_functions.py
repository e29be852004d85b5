"""Which of the user's functions a stream called with valid arguments.

A function whose calls were all invalid was not tested: a run must not call it clean.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ciguard.domain.outcomes import Rejected, Stage
from ciguard.domain.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome

_MAX_REASON = 300
"""Maximum length of a reason, in characters."""


@dataclass(slots=True)
class CalledFunctions:
    """The functions that a stream has to test, and the outcomes of their calls."""

    functions: tuple[str, ...] = ()
    """Names of the functions in reports."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Reasons why no target can import programs, by path."""
    tested: set[str] = field(default_factory=set)
    """Names of the functions that were called with valid arguments."""
    visited: set[str] = field(default_factory=set)
    """Names of the functions for which a batch was drawn in this run."""
    _reasons: dict[str, Counter[str]] = field(default_factory=dict)
    """Number of invalid calls by reason, by function."""

    def note(self, cases: Sequence[Case], results: Mapping[str, Sequence[Outcome]]) -> None:
        """Add the outcomes of cases, by target; of the import of a program, they do not count."""
        for index, case in enumerate(cases):
            if case.api not in self.functions or case.api in self.tested:
                continue
            outcomes = [row[index] for row in results.values()]
            invalid = [
                outcome
                for outcome in outcomes
                if isinstance(outcome, Rejected) and outcome.stage is not Stage.CALL
            ]
            if len(invalid) < len(outcomes):
                self.tested.add(case.api)
                self._reasons.pop(case.api, None)
            elif invalid:
                reasons = self._reasons.setdefault(case.api, Counter())
                reasons[visible(invalid[0].message, limit=_MAX_REASON)] += 1

    def reasons(self) -> dict[str, str]:
        """Return why each program or function was not tested; empty texts for tested functions."""
        functions = {
            name: "" if name in self.tested else self._reason(name) for name in self.functions
        }
        return {**self.left_out, **functions}

    def _reason(self, function: str) -> str:
        reasons = self._reasons.get(function)
        if not reasons and function not in self.visited:
            return "its turn did not come; raise --budget or --max-cases"
        if not reasons:
            return "no arguments that its annotations allow were drawn"
        (reason, count), *_ = reasons.most_common(1)
        total = reasons.total()
        return f"none of {total:,} calls was valid; {count:,} of them: {reason}"

    def state(self) -> list[str]:
        """Return the state for `continue_from`."""
        return sorted(self.tested)

    def continue_from(self, state: Iterable[Any]) -> None:
        """Restore the state of an interrupted run."""
        self.tested.update(map(str, state))
