"""Oracle `function`: an annotated function violates its specification.

A call that conforms to the annotations must return a result or raise a documented exception. Its
postconditions must hold, moderate numbers must not cause NaN, and arguments must stay unchanged. A
failure on all targets is a defect of the program. A failure on some targets is a difference.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from ciguard.domain.findings import Evidence, Finding, Severity
from ciguard.domain.function_calls import FunctionCase, locate_failure
from ciguard.domain.outcomes import Errored, Passed, Rejected, Stage
from ciguard.execution import decode_effects
from ciguard.oracles import Traits, headline, outcome_in_words, pair_kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.oracles import Subject

FUNCTION = "function"
MUTATION = "mutation"
_KINDS = {"@ensure": "ensure", "NaN": "nan", "@timeout": "timeout"}
"""Kinds of failures by the name that a worker reports instead of an exception's class."""
SEVERITIES = {
    "exception": Severity.HIGH,
    "import": Severity.HIGH,
    "ensure": Severity.HIGH,
    "nan": Severity.MEDIUM,
    "timeout": Severity.MEDIUM,
    MUTATION: Severity.LOW,
}
_SPECIFICATIONS = {
    "exception": "A call that keeps to the annotations returns, or raises what is documented",
    "import": "A program can be imported wherever it is used",
    "ensure": "What the function ensures holds for every call that keeps to the annotations",
    "nan": "Finite arguments of moderate size do not give NaN",
    "timeout": "The function returns within the time that its annotation allows",
    MUTATION: "A function does not change its arguments",
}
_EXPECTED = {
    "exception": "a result, or a documented exception",
    "import": "the program is imported",
    "ensure": "the postcondition holds",
    "nan": "a result without NaN",
    "timeout": "a result in time",
    MUTATION: "unchanged arguments",
}


class FunctionOracle:
    """Oracle for calls of annotated functions, and for imports of their programs."""

    traits: ClassVar[Traits] = Traits(
        tests_user_functions=True,
        second_target_fails=True,
        claims={
            "exception": "an annotated function raises what it does not document.",
            "import": "a program cannot be imported.",
            "ensure": "a postcondition does not hold.",
            "nan": "finite, small numbers give NaN.",
            "timeout": "an annotated function exceeds its time limit.",
            MUTATION: "an annotated function changes its arguments.",
        },
    )

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding per kind of failure, or one per failing target if others succeed."""
        if not isinstance(case, FunctionCase):
            return []
        failed = {
            name: outcome for name, outcome in outcomes.items() if isinstance(outcome, Errored)
        }
        if not failed:
            return list(_mutations(case, outcomes, subject))
        succeeded = [name for name in subject.targets if _is_success(outcomes.get(name))]
        if succeeded:
            return [_difference(case, outcomes, subject, (succeeded[0], name)) for name in failed]
        return list(_failures(case, outcomes, subject))


def kind_of(case: FunctionCase, outcome: Errored) -> str:
    """Return the kind of a call's failure."""
    return _KINDS.get(outcome.exception, "exception" if case.call else "import")


def _is_success(outcome: Outcome | None) -> bool:
    is_rejection = isinstance(outcome, Rejected) and outcome.stage is Stage.CALL
    return isinstance(outcome, Passed) or is_rejection


def _failures(
    case: FunctionCase, outcomes: Mapping[str, Outcome], subject: Subject
) -> Iterator[Finding]:
    """Yield the failures that all targets share, one finding per class of exception."""
    by_class: dict[str, dict[str, Errored]] = {}
    for name, outcome in outcomes.items():
        if isinstance(outcome, Errored):
            by_class.setdefault(outcome.exception, {})[name] = outcome
    for group in by_class.values():
        first = next(iter(group.values()))
        kind, text = kind_of(case, first), _failure_line(first)
        yield _finding(case, subject, kind)(
            outcomes=outcomes,
            targets=tuple(group),
            detail=_frame(first),
            message=f"{subject.api} fails: {text}",
            evidence=Evidence(expected=_EXPECTED[kind], observed=text, law=_SPECIFICATIONS[kind]),
        )


def _difference(
    case: FunctionCase, outcomes: Mapping[str, Outcome], subject: Subject, names: tuple[str, str]
) -> Finding:
    """Return the finding that a call fails on one target and succeeds on another.

    Args:
        case: the case.
        outcomes: outcomes by target.
        subject: what the oracle judges.
        names: names of the target on which the call succeeds, and of the one on which it fails.
    """
    reference, deviating = names
    outcome = outcomes[deviating]
    if not isinstance(outcome, Errored):
        raise TypeError(outcome)
    kind, text = kind_of(case, outcome), _failure_line(outcome)
    pair = pair_kind(subject.targets[reference], subject.targets[deviating])
    return _finding(case, subject, kind)(
        outcomes={reference: outcomes[reference], deviating: outcome},
        targets=names,
        pair=pair,
        detail=_frame(outcome),
        message=f"{subject.api} fails on {deviating}, not on {reference}: {text}",
        evidence=Evidence(
            expected=f"{reference}: {outcome_in_words(outcomes[reference])}",
            observed=f"{deviating}: {text}",
            law=_SPECIFICATIONS[kind],
        ),
    )


def _finding(case: FunctionCase, subject: Subject, kind: str) -> partial[Finding]:
    """Return a constructor of findings that lacks only outcomes, targets, message and evidence."""
    return partial(
        Finding,
        oracle=FUNCTION,
        kind=kind,
        severity=SEVERITIES[kind],
        library=subject.library,
        api=subject.api,
        case=case,
    )


def _failure_line(outcome: Errored) -> str:
    """Return the message of a failure and the location that raised it, in one line."""
    located = locate_failure(outcome.message)
    name = "" if outcome.exception in _KINDS else f"{outcome.exception}: "
    location = f" ({located.file}, line {located.line})" if located.file else ""
    return f"{name}{headline(located.message)}{location}"


def _frame(outcome: Errored) -> str:
    """Return the innermost stack frame of the user's code as `FILE:FUNCTION`; empty if unknown."""
    return f"{outcome.stack[0].file}:{outcome.stack[0].function}" if outcome.stack else ""


def _mutations(
    case: FunctionCase, outcomes: Mapping[str, Outcome], subject: Subject
) -> Iterator[Finding]:
    """Yield the finding that a call changes its arguments on all targets."""
    changed = {
        name: indices
        for name, outcome in outcomes.items()
        if isinstance(outcome, Passed) and (indices := decode_effects(outcome.encoded).changed)
    }
    if not changed or set(changed) != {
        name for name, outcome in outcomes.items() if isinstance(outcome, Passed)
    }:
        return  # if only some targets change arguments, another oracle reports a difference
    arguments = [str(name) for name, _ in case.call["arguments"]] if case.call else []
    indices = next(iter(changed.values()))
    names = ", ".join(arguments[index] for index in indices if index < len(arguments))
    yield _finding(case, subject, MUTATION)(
        outcomes=outcomes,
        targets=tuple(changed),
        detail=names,
        message=f"{subject.api} changes its arguments: {names}",
        evidence=Evidence(
            expected=_EXPECTED[MUTATION], observed=f"{names} changed", law=_SPECIFICATIONS[MUTATION]
        ),
    )
