"""The oracle `exhaustion`: lack of a resource ended the process instead of raising an exception."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ciguard.domain.findings import Evidence, Finding, Severity
from ciguard.domain.outcomes import Exhausted
from ciguard.oracles.contract import Traits
from ciguard.oracles.levels import judged_level_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.oracles.contract import Subject


class ExhaustionOracle:
    """Reports cases that exhaust a resource and end the process.

    An exception such as `out of memory` is correct behaviour.
    """

    traits: ClassVar[Traits] = Traits(loses_worker=True)

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding with all targets whose process ended; none if there are none."""
        killed = {
            name: outcome
            for name, outcome in outcomes.items()
            if isinstance(outcome, Exhausted) and outcome.was_killed
        }
        if not killed:
            return []
        resource = next(iter(killed.values())).resource.value
        return [
            Finding(
                oracle="exhaustion",
                kind=resource,
                severity=Severity.LOW
                if judged_level_of(case).is_large_request(case)
                else Severity.MEDIUM,
                library=subject.library,
                api=subject.api,
                case=case,
                outcomes=outcomes,
                targets=tuple(killed),
                message=f"{subject.api} aborts the process when {resource} runs out",
                evidence=Evidence(
                    expected="a result or a Python exception",
                    observed=f"the process aborts: {resource} runs out",
                    law="A call that needs too much memory or disk raises an exception",
                ),
            )
        ]


ORACLE = ExhaustionOracle()
