"""Internal error: an assertion, a leaked C++ exception or a slip in library code escaped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from ciguard.domain.findings import Evidence, Finding, Severity
from ciguard.domain.outcomes import Errored
from ciguard.oracles.contract import Traits, headline
from ciguard.oracles.showing import outcome_shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.oracles.contract import Subject

_ODD = re.compile(r"[^A-Za-z0-9_.]+")
_MAX_KIND = 80


class InternalErrorOracle:
    """Wrong arguments must be answered by an error about the arguments."""

    traits: ClassVar[Traits] = Traits(
        needs_conforming=True, may_be_refusal=True, weight=Severity.HIGH
    )

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding that names every target on which an internal error escaped."""
        if case.is_user_code:
            return []
        leaky = {name: out for name, out in outcomes.items() if isinstance(out, Errored)}
        if not leaky:
            return []
        first = next(iter(leaky.values()))
        line = headline(first.message)
        return [
            Finding(
                oracle="internal-error",
                # A class may be called anything; what merges the parts of a run wants a name.
                kind=_ODD.sub("_", first.exception)[:_MAX_KIND] or "exception",
                severity=Severity.HIGH,
                library=subject.library,
                api=subject.api,
                case=case,
                outcomes=outcomes,
                targets=tuple(leaky),
                message=f"{subject.api} fails internally: {first.exception}: {line}",
                evidence=Evidence(
                    expected="a result, or an exception that says what is wrong with the arguments",
                    observed=outcome_shown(first),
                    law="A call is answered by a result or by an error about its arguments",
                ),
            )
        ]


ORACLE = InternalErrorOracle()
