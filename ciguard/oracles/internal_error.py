"""The oracle `internal-error`: the caller gets an assertion, a C++ exception or a library's bug."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from ciguard.domain.findings import Evidence, Finding, Severity
from ciguard.domain.outcomes import Errored
from ciguard.oracles.contract import Traits, headline
from ciguard.oracles.showing import outcome_in_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.oracles.contract import Subject

_NOT_NAME_CHARACTERS = re.compile(r"[^A-Za-z0-9_.]+")
_MAX_KIND_LENGTH = 80


class InternalErrorOracle:
    """Reports internal errors. A call with wrong arguments must raise an error about them."""

    traits: ClassVar[Traits] = Traits(
        needs_conforming=True, may_be_refusal=True, weight=Severity.HIGH
    )

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding with all targets that raised an internal error; none without any."""
        if case.is_user_code:
            return []
        errored = {
            name: outcome for name, outcome in outcomes.items() if isinstance(outcome, Errored)
        }
        if not errored:
            return []
        first = next(iter(errored.values()))
        headline_text = headline(first.message)
        return [
            Finding(
                oracle="internal-error",
                # A class may have any name, but `ciguard merge` accepts only identifiers as kinds.
                kind=_NOT_NAME_CHARACTERS.sub("_", first.exception)[:_MAX_KIND_LENGTH]
                or "exception",
                severity=Severity.HIGH,
                library=subject.library,
                api=subject.api,
                case=case,
                outcomes=outcomes,
                targets=tuple(errored),
                message=f"{subject.api} fails internally: {first.exception}: {headline_text}",
                evidence=Evidence(
                    expected="a result, or an exception that explains which argument is wrong",
                    observed=outcome_in_words(first),
                    law="A call returns a result or raises an error about its arguments",
                ),
            )
        ]


ORACLE = InternalErrorOracle()
