"""The oracle `memory`: the memory guard reports an invalid access, even if it does no visible harm.

Only targets in mode `guarded` have such outcomes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ciguard.domain.findings import Evidence, Finding, Severity
from ciguard.domain.memory_errors import (
    OUT_OF_BOUNDS_READ,
    OUT_OF_BOUNDS_WRITE,
    USE_AFTER_FREE,
    invalid_access,
)
from ciguard.domain.outcomes import Crashed
from ciguard.oracles.contract import Traits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.oracles.contract import Subject

_SEVERITIES = {
    OUT_OF_BOUNDS_READ: Severity.HIGH,
    OUT_OF_BOUNDS_WRITE: Severity.CRITICAL,
    USE_AFTER_FREE: Severity.CRITICAL,
}
"""A read discloses memory, a write or the use of freed memory changes what others own."""
_INTERMEDIATE = "intermediate"


class MemoryOracle:
    """Reports invalid accesses to memory. No call may make one, whatever its arguments are."""

    traits: ClassVar[Traits] = Traits(
        is_crash=True,
        loses_worker=True,
        weight=Severity.CRITICAL,
        claims={
            "out-of-bounds-read": "the call reads out of bounds ({detail}).",
            "out-of-bounds-write": "the call writes out of bounds ({detail}).",
            "use-after-free": "the call uses freed memory ({detail}).",
        },
    )

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding with all targets that show the first kind of access."""
        reports = {
            name: access
            for name, outcome in outcomes.items()
            if isinstance(outcome, Crashed)
            and outcome.is_memory_error
            and (access := invalid_access(outcome.log))
        }
        if not reports:
            return []
        access = next(iter(reports.values()))
        targets = tuple(name for name, other in reports.items() if other.cause == access.cause)
        owner = access.owner(subject.parameters, subject.inputs)
        words = access.in_words(owner)
        return [
            Finding(
                oracle="memory",
                kind=access.cause.replace(" ", "-"),
                severity=_SEVERITIES[access.cause],
                library=subject.library,
                api=subject.api,
                case=case,
                outcomes=outcomes,
                targets=targets,
                detail=owner or _INTERMEDIATE,
                message=f"{subject.api} {words}",
                evidence=Evidence(
                    expected="a result or a Python exception",
                    observed=words,
                    law="No call accesses memory outside of its own blocks",
                ),
            )
        ]


ORACLE = MemoryOracle()
