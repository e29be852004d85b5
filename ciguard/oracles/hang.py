"""Hang: the call did not return."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from ciguard.domain.findings import Evidence, Finding, Severity
from ciguard.domain.outcomes import Hung, Passed
from ciguard.oracles.contract import Traits
from ciguard.oracles.levels import judged

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.oracles.contract import Subject


HANG = "hang"
SLOW = "slow"
"""Kind of a call that exceeds its limit and returns when it is given more time."""


class HangOracle:
    """A call on a few small arguments must return within seconds.

    Whoever asks for two billion elements may have to wait: such a case proves nothing.
    """

    traits: ClassVar[Traits] = Traits(ends_workers=True, takes_limit=True)

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding that names every target on which the case hung."""
        hung = {name: out for name, out in outcomes.items() if isinstance(out, Hung)}
        level = judged(case)
        if not hung or level.asks_for_much(case) or level.is_repeated(case):
            return []
        limit_s = max(out.limit_s for out in hung.values())
        elsewhere = _elsewhere(outcomes, besides=hung)
        where = f" on {', '.join(hung)}, and {elsewhere}" if elsewhere else ""
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
                message=f"{subject.api} does not return within {limit_s:g} s{where}",
                evidence=Evidence(
                    expected=elsewhere or "a result or an exception",
                    observed=f"no return within {limit_s:g} s",
                    law=level.returns_law,
                ),
            )
        ]


def limit_of(hung: Finding) -> float:
    """Return the time after which a hanging call was ended, in seconds."""
    return max((out.limit_s for out in hung.outcomes.values() if isinstance(out, Hung)), default=0)


def slow(hung: Finding, outcomes: Mapping[str, Outcome]) -> Finding | None:
    """Return the finding that a call which seemed to hang is only slow.

    Args:
        hung: as judged after the ordinary limit.
        outcomes: of the same case, which was given a multiple of that limit.

    Returns:
        None if a target still hangs, or if none of those that did exceeds the limit again.
    """
    limit_s = limit_of(hung)
    took = {
        name: out.cost_s
        for name in hung.targets
        if isinstance(out := outcomes.get(name), Passed) and out.cost_s > limit_s
    }
    if not took or any(isinstance(out, Hung) for out in outcomes.values()):
        return None
    elsewhere = _elsewhere(outcomes, besides=took)
    where = ", ".join(f"{cost_s:.1f} s on {name}" for name, cost_s in took.items())
    return replace(
        hung,
        kind=SLOW,
        severity=Severity.LOW,
        outcomes=outcomes,
        targets=tuple(took),
        message=f"{hung.api} takes {where}{f', and {elsewhere}' if elsewhere else ''}",
        evidence=Evidence(
            expected=elsewhere or f"returns within {limit_s:g} s",
            observed=f"returns after {where}",
            law=hung.evidence.law or judged(hung.case).returns_law,
        ),
    )


def _elsewhere(outcomes: Mapping[str, Outcome], *, besides: Container[str]) -> str:
    """Return how long the call takes where it returns in time; empty where it returns nowhere."""
    return ", ".join(
        f"returns in {out.cost_s:.2g} s on {name}"
        for name, out in outcomes.items()
        if isinstance(out, Passed) and name not in besides
    )


ORACLE = HangOracle()
