"""The oracle `crash`: a signal, an abort or an exit ended the process."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ciguard.domain.findings import Evidence, Finding, Severity
from ciguard.domain.outcomes import Crashed
from ciguard.oracles.contract import Traits
from ciguard.oracles.showing import outcome_in_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.oracles.contract import Subject


class CrashOracle:
    """Reports crashes. No Python call may end the process, whatever its arguments are."""

    traits: ClassVar[Traits] = Traits(is_crash=True, loses_worker=True, weight=Severity.CRITICAL)

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding with all targets on which the case crashed; none if there are none."""
        crashed = {
            name: outcome
            for name, outcome in outcomes.items()
            if isinstance(outcome, Crashed) and not outcome.is_memory_error
        }
        if not crashed:
            return []
        first = next(iter(crashed.values()))
        return [
            Finding(
                oracle="crash",
                kind="exit" if first.cause.startswith("exit") else "signal",
                severity=Severity.CRITICAL,
                library=subject.library,
                api=subject.api,
                case=case,
                outcomes=outcomes,
                targets=tuple(crashed),
                message=f"{subject.api} crashes ({first.cause})",
                evidence=Evidence(
                    expected="a result or a Python exception",
                    observed=outcome_in_words(first),
                    law="No call crashes, whatever its arguments",
                ),
            )
        ]


ORACLE = CrashOracle()
