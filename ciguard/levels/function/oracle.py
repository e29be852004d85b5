"""Function: an annotated function of the user's does not keep its word.

A call that keeps to the annotations returns, or raises what is documented; it keeps its
postconditions, makes no NaN of small numbers, and leaves its arguments alone. What fails on all
targets is the program's own; what fails on some alone is the difference between them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from ciguard.domain.findings import Evidence, Finding, Severity
from ciguard.domain.function_calls import FunctionCase, seated
from ciguard.domain.outcomes import Errored, Passed, Rejected, Stage
from ciguard.execution import decode_effects
from ciguard.oracles import Traits, headline, outcome_shown, pair_kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.oracles import Subject

FUNCTION = "function"
MUTATION = "mutation"
_KINDS = {"@ensure": "ensure", "NaN": "nan", "@timeout": "timeout"}
"""What a worker says in the place of an exception's class (`functions/in_target/worker.py`)."""
SEVERITIES = {
    "exception": Severity.HIGH,
    "import": Severity.HIGH,
    "ensure": Severity.HIGH,
    "nan": Severity.MEDIUM,
    "timeout": Severity.MEDIUM,
    MUTATION: Severity.LOW,
}
_LAWS = {
    "exception": "A call that keeps to the annotations returns, or raises what is documented",
    "import": "A program can be imported wherever it is used",
    "ensure": "What the function ensures holds for every call that keeps to the annotations",
    "nan": "Finite arguments of moderate size come to no NaN",
    "timeout": "The function returns within the time that its annotation allows",
    MUTATION: "A function leaves its arguments as they are",
}
_EXPECTED = {
    "exception": "a result, or a documented exception",
    "import": "the program is imported",
    "ensure": "the postcondition holds",
    "nan": "a result without NaN",
    "timeout": "a result in time",
    MUTATION: "arguments that are as they were",
}


class FunctionOracle:
    """Looks at calls of annotated functions, and at the import of their programs."""

    traits: ClassVar[Traits] = Traits(
        is_of_user=True,
        fails_on_one=True,
        claims={
            "exception": "an annotated function raises what it does not document.",
            "import": "a program cannot be imported.",
            "ensure": "a postcondition does not hold.",
            "nan": "NaN comes of finite, small numbers.",
            "timeout": "an annotated function takes longer than it may.",
            MUTATION: "an annotated function changes its arguments.",
        },
    )

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return a finding per way to fail, or per target where others do not fail."""
        if not isinstance(case, FunctionCase):
            return []
        failed = {name: out for name, out in outcomes.items() if isinstance(out, Errored)}
        if not failed:
            return list(_mutations(case, outcomes, subject))
        ran = [name for name in subject.targets if _ran(outcomes.get(name))]
        if ran:
            return [_difference(case, outcomes, subject, (ran[0], name)) for name in failed]
        return list(_failures(case, outcomes, subject))


def kind_of(case: FunctionCase, outcome: Errored) -> str:
    """Return in which way a call failed."""
    return _KINDS.get(outcome.exception, "exception" if case.call else "import")


def _ran(outcome: Outcome | None) -> bool:
    is_refusal = isinstance(outcome, Rejected) and outcome.stage is Stage.CALL
    return isinstance(outcome, Passed) or is_refusal


def _failures(
    case: FunctionCase, outcomes: Mapping[str, Outcome], subject: Subject
) -> Iterator[Finding]:
    """Yield what fails wherever it can be run, one finding per class of exception."""
    by_class: dict[str, dict[str, Errored]] = {}
    for name, outcome in outcomes.items():
        if isinstance(outcome, Errored):
            by_class.setdefault(outcome.exception, {})[name] = outcome
    for alike in by_class.values():
        first = next(iter(alike.values()))
        kind, said = kind_of(case, first), _said(first)
        yield _finding(case, subject, kind)(
            outcomes=outcomes,
            targets=tuple(alike),
            detail=_frame(first),
            message=f"{subject.api} fails: {said}",
            evidence=Evidence(expected=_EXPECTED[kind], observed=said, law=_LAWS[kind]),
        )


def _difference(
    case: FunctionCase, outcomes: Mapping[str, Outcome], subject: Subject, names: tuple[str, str]
) -> Finding:
    """Return the finding that a target fails where another does not."""
    reference, deviating = names
    outcome = outcomes[deviating]
    if not isinstance(outcome, Errored):
        raise TypeError(outcome)
    kind, said = kind_of(case, outcome), _said(outcome)
    pair = pair_kind(subject.targets[reference], subject.targets[deviating])
    return _finding(case, subject, kind)(
        outcomes={reference: outcomes[reference], deviating: outcome},
        targets=names,
        pair=pair,
        detail=_frame(outcome),
        message=f"{subject.api} fails on {deviating}, not on {reference}: {said}",
        evidence=Evidence(
            expected=f"{reference}: {outcome_shown(outcomes[reference])}",
            observed=f"{deviating}: {said}",
            law=_LAWS[kind],
        ),
    )


def _finding(case: FunctionCase, subject: Subject, kind: str) -> partial[Finding]:
    """Return a finding of that kind, less what was seen."""
    return partial(
        Finding,
        oracle=FUNCTION,
        kind=kind,
        severity=SEVERITIES[kind],
        library=subject.library,
        api=subject.api,
        case=case,
    )


def _said(outcome: Errored) -> str:
    """Return how a call failed, and where, in a line."""
    said = seated(outcome.message)
    name = "" if outcome.exception in _KINDS else f"{outcome.exception}: "
    where = f" ({said.file}, line {said.line})" if said.file else ""
    return f"{name}{headline(said.message)}{where}"


def _frame(outcome: Errored) -> str:
    """Return the innermost frame of the user's code: file and function, never the line."""
    return f"{outcome.stack[0].file}:{outcome.stack[0].function}" if outcome.stack else ""


def _mutations(
    case: FunctionCase, outcomes: Mapping[str, Outcome], subject: Subject
) -> Iterator[Finding]:
    changed = {
        name: places
        for name, out in outcomes.items()
        if isinstance(out, Passed) and (places := decode_effects(out.encoded).changed)
    }
    if not changed or set(changed) != {n for n, o in outcomes.items() if isinstance(o, Passed)}:
        return  # what one target changes and another does not is a difference
    given = [str(name) for name, _ in case.call["arguments"]] if case.call else []
    places = next(iter(changed.values()))
    names = ", ".join(given[place] for place in places if place < len(given))
    yield _finding(case, subject, MUTATION)(
        outcomes=outcomes,
        targets=tuple(changed),
        detail=names,
        message=f"{subject.api} changes its arguments: {names}",
        evidence=Evidence(
            expected=_EXPECTED[MUTATION], observed=f"{names} changed", law=_LAWS[MUTATION]
        ),
    )
