"""Exhaustion: the process ended because memory or output ran out, instead of raising."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ciguard.domain.findings import Evidence, Finding, Severity
from ciguard.domain.outcomes import Exhausted
from ciguard.oracles.contract import Traits
from ciguard.oracles.levels import judged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.oracles.contract import Subject


class ExhaustionOracle:
    """Asking for too much must raise: a clean `out of memory` is an answer, an abort is not."""

    traits: ClassVar[Traits] = Traits(ends_workers=True)

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding that names every target whose process ended over a resource."""
        ended = {n: out for n, out in outcomes.items() if isinstance(out, Exhausted) and out.died}
        if not ended:
            return []
        resource = next(iter(ended.values())).resource.value
        return [
            Finding(
                oracle="exhaustion",
                kind=resource,
                severity=Severity.LOW if judged(case).asks_for_much(case) else Severity.MEDIUM,
                library=subject.library,
                api=subject.api,
                case=case,
                outcomes=outcomes,
                targets=tuple(ended),
                message=f"{subject.api} ends the process when {resource} runs out",
                evidence=Evidence(
                    expected="a result or a Python exception",
                    observed=f"the process ends: {resource} runs out",
                    law="Who asks for too much is refused with an exception",
                ),
            )
        ]


ORACLE = ExhaustionOracle()
