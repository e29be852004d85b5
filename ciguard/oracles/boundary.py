"""The oracle `boundary`: a library accepts an argument that its own documentation forbids."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ciguard.domain.findings import Finding, Severity
from ciguard.domain.outcomes import Passed
from ciguard.domain.values import ArrayValue, TensorValue
from ciguard.execution import Container, Scalar, TensorDigest, TensorOutput, decode_outputs
from ciguard.oracles.comparing.inputs import has_special_elements, leaf_values
from ciguard.oracles.contract import Traits
from ciguard.oracles.showing import output_in_words
from ciguard.oracles.specifications import evidence_of, source_in_words, violated_specifications

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Output
    from ciguard.oracles.contract import Subject


class BoundaryOracle:
    """Checks whether the documentation forbids the mutated argument of a case that passed.

    The case must pass on every target. If only some targets accept it, the oracle `differential`
    reports the difference.
    """

    traits: ClassVar[Traits] = Traits(
        is_shown_by_passing=True,
        claim="a forbidden argument is accepted ({detail}).",
        mark="ACCEPTED",
    )

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding per specification that the mutated argument violates."""
        specifications = subject.specifications.get(case.focus, ())
        passed = [outcome for outcome in outcomes.values() if isinstance(outcome, Passed)]
        if (
            not specifications
            or not passed
            or len(passed) < len(outcomes)
            or _has_empty_tensor(case)
        ):
            return []
        violations = violated_specifications(case, specifications)
        consequence = _consequence(passed[0], case) if violations else ""
        if not consequence:
            return []
        return [
            Finding(
                oracle="boundary",
                kind="accepted-illegal",
                severity=Severity.LOW,
                library=subject.library,
                api=subject.api,
                case=case,
                outcomes=outcomes,
                targets=tuple(outcomes),
                detail=f"{specification.parameter}: {specification.aspect}",
                message=(
                    f"{subject.api} accepts {value} for {specification.parameter!r} "
                    f"and {consequence}; {source_in_words(specification)} says "
                    f"{specification.words}: “{specification.sentence}”"
                ),
                evidence=evidence_of(
                    specification,
                    expected=f"an exception about {specification.parameter!r}",
                    observed=f"{specification.parameter} = {value}, {consequence}",
                ),
            )
            for specification, value in violations
        ]


def _has_empty_tensor(case: Case) -> bool:
    """Return whether an argument is a tensor without elements, which cannot violate a range."""
    return any(
        0 in leaf.shape for leaf in leaf_values(case) if isinstance(leaf, ArrayValue | TensorValue)
    )


def _consequence(passed: Passed, case: Case) -> str:
    """Return a phrase for the numbers that a call returned; empty if it returned none.

    Objects, handles and None do not count: the library may check the arguments later, when the
    program uses the result.
    """
    output = decode_outputs(passed.encoded)
    numbers = list(_numeric_parts(output)) if output is not None else []
    if not numbers:
        return ""
    if all(
        isinstance(number, TensorOutput | TensorDigest) and not math.prod(number.shape)
        for number in numbers
    ):
        return "returns an empty result"
    if not has_special_elements(case) and any(map(_is_special, numbers)):
        return "returns NaN or infinity"
    return f"returns {output_in_words(numbers[0])}"


def _numeric_parts(output: Output) -> Iterator[TensorOutput | TensorDigest | Scalar]:
    """Yield the numbers and tensors of a result."""
    match output:
        case Container(_, _, items):
            for item in items:
                yield from _numeric_parts(item)
        case Scalar(kind):
            if kind in "ifzo":
                yield output
        case TensorOutput() | TensorDigest():
            yield output
        case _:
            return


def _is_special(output: TensorOutput | TensorDigest | Scalar) -> bool:
    """Return whether a result contains NaN or an infinity."""
    match output:
        case TensorOutput(_, _, elements):
            return elements.dtype.kind in "fc" and not bool(np.isfinite(elements).all())
        case TensorDigest():
            return bool(output.nan or output.inf)
        case Scalar(kind, text):
            return kind in "fz" and ("nan" in text or "inf" in text)


ORACLE = BoundaryOracle()
