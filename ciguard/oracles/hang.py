"""The oracle `hang`: a call did not return within its timeout."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from ciguard.domain.findings import Evidence, Finding, Severity
from ciguard.domain.outcomes import Hung, Passed
from ciguard.oracles.contract import Traits
from ciguard.oracles.levels import judged_level_of

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.oracles.contract import Subject


HANG = "hang"
"""Kind of a call that does not return, even with a longer timeout."""
SLOW = "slow"
"""Kind of a call that exceeds its timeout but returns within a longer one."""


class HangOracle:
    """Reports calls with a few small arguments that do not return within seconds.

    A call that creates two billion elements may take long, so it is never reported.
    """

    traits: ClassVar[Traits] = Traits(loses_worker=True, takes_whole_timeout=True)

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding with all targets on which the case hung; none if there are none."""
        hung = {name: outcome for name, outcome in outcomes.items() if isinstance(outcome, Hung)}
        level = judged_level_of(case)
        if not hung or level.is_large_request(case) or level.is_repeated(case):
            return []
        limit_s = max(outcome.limit_s for outcome in hung.values())
        passes = _passes_in_words(outcomes, besides=hung)
        location = f" on {', '.join(hung)}, and {passes}" if passes else ""
        return [
            Finding(
                oracle=HANG,
                kind=HANG,
                severity=Severity.HIGH,
                library=subject.library,
                api=subject.api,
                case=case,
                outcomes=outcomes,
                targets=tuple(hung),
                message=f"{subject.api} does not return within {limit_s:g} s{location}",
                evidence=Evidence(
                    expected=passes or "a result or an exception",
                    observed=f"no return within {limit_s:g} s",
                    law=level.termination_invariant,
                ),
            )
        ]


def timeout_of(hung: Finding) -> float:
    """Return the timeout of a hanging call, in seconds; 0 if none of its outcomes is a hang."""
    return max(
        (outcome.limit_s for outcome in hung.outcomes.values() if isinstance(outcome, Hung)),
        default=0,
    )


def slow_finding(hung: Finding, outcomes: Mapping[str, Outcome]) -> Finding | None:
    """Return a finding of kind `slow` for a call that hung but returns within a longer timeout.

    Args:
        hung: the finding with the ordinary timeout.
        outcomes: outcomes of the same case with a longer timeout.

    Returns:
        None if a target still hangs, or if no target of `hung` exceeds the ordinary timeout again.
    """
    limit_s = timeout_of(hung)
    costs_s = {
        name: outcome.cost_s
        for name in hung.targets
        if isinstance(outcome := outcomes.get(name), Passed) and outcome.cost_s > limit_s
    }
    if not costs_s or any(isinstance(outcome, Hung) for outcome in outcomes.values()):
        return None
    passes = _passes_in_words(outcomes, besides=costs_s)
    slow_runs = ", ".join(f"{cost_s:.1f} s on {name}" for name, cost_s in costs_s.items())
    return replace(
        hung,
        kind=SLOW,
        severity=Severity.LOW,
        outcomes=outcomes,
        targets=tuple(costs_s),
        message=f"{hung.api} takes {slow_runs}{f', and {passes}' if passes else ''}",
        evidence=Evidence(
            expected=passes or f"returns within {limit_s:g} s",
            observed=f"returns after {slow_runs}",
            law=hung.evidence.law or judged_level_of(hung.case).termination_invariant,
        ),
    )


def _passes_in_words(outcomes: Mapping[str, Outcome], *, besides: Container[str]) -> str:
    """Return the durations on the targets where the call passes, except those in `besides`.

    The text is empty if there is no such target.
    """
    return ", ".join(
        f"returns in {outcome.cost_s:.2g} s on {name}"
        for name, outcome in outcomes.items()
        if isinstance(outcome, Passed) and name not in besides
    )


ORACLE = HangOracle()
