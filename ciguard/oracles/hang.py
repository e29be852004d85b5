"""Hang: the call did not return."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain import Finding, Hung, Severity
from ciguard.oracles.contract import registered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain import Case, Outcome
    from ciguard.oracles.contract import Subject


class HangOracle:
    """A call on a few small arguments must return within seconds."""

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding that names every target on which the case hung."""
        hung = {name: out for name, out in outcomes.items() if isinstance(out, Hung)}
        if not hung:
            return []
        limit_s = next(iter(hung.values())).limit_s
        return [
            Finding(
                oracle="hang",
                kind="hang",
                severity=Severity.HIGH,
                library=subject.library,
                api=subject.api,
                case=case,
                outcomes=outcomes,
                targets=tuple(hung),
                message=f"{subject.api} does not return within {limit_s:g} s",
            )
        ]


registered("hang", HangOracle)
