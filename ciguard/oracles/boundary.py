"""Boundary: an argument that a library's own words forbid is taken without a word."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ciguard.domain.findings import Finding, Severity
from ciguard.domain.outcomes import Passed
from ciguard.domain.values import ArrayValue, TensorValue
from ciguard.execution import Container, Scalar, TensorDigest, TensorOutput, decode_outputs
from ciguard.oracles.comparing.given import has_special_elements, leaves
from ciguard.oracles.contract import Traits
from ciguard.oracles.laws import broken_laws, evidence_of, where_written
from ciguard.oracles.showing import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Output
    from ciguard.oracles.contract import Subject


class BoundaryOracle:
    """Looks at the argument that a case was bent at, where every target took it.

    What one target takes and another refuses is a difference between targets: another oracle's.
    """

    traits: ClassVar[Traits] = Traits(
        is_shown_by_passing=True,
        claim="a forbidden argument is accepted ({detail}).",
        mark="ACCEPTED",
    )

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding per law that the case's focus breaks."""
        laws = subject.laws.get(case.focus, ())
        passed = [out for out in outcomes.values() if isinstance(out, Passed)]
        if not laws or not passed or len(passed) < len(outcomes) or _is_about_nothing(case):
            return []
        broken = broken_laws(case, laws)
        consequence = _consequence(passed[0], case) if broken else ""
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
                detail=f"{law.parameter}: {law.aspect}",
                message=(
                    f"{subject.api} accepts {said} for {law.parameter!r} and {consequence}; "
                    f"{where_written(law)} says {law.words}: “{law.sentence}”"
                ),
                evidence=evidence_of(
                    law,
                    expected=f"an exception about {law.parameter!r}",
                    observed=f"{law.parameter} = {said}, {consequence}",
                ),
            )
            for law, said in broken
        ]


def _is_about_nothing(case: Case) -> bool:
    """Return whether a tensor without elements is given: nothing can be wrong then."""
    return any(
        0 in leaf.shape for leaf in leaves(case) if isinstance(leaf, ArrayValue | TensorValue)
    )


def _consequence(passed: Passed, case: Case) -> str:
    """Return what came of a call, in words; empty where nothing that was computed is to be seen.

    An object, a handle or None may be checked later, when it is put to use.
    """
    output = decode_outputs(passed.encoded)
    seen = list(_numbers(output)) if output is not None else []
    if not seen:
        return ""
    if all(
        isinstance(one, TensorOutput | TensorDigest) and not math.prod(one.shape) for one in seen
    ):
        return "returns an empty result"
    if not has_special_elements(case) and any(map(_is_special, seen)):
        return "returns NaN or infinity"
    return f"returns {shown(seen[0])}"


def _numbers(output: Output) -> Iterator[TensorOutput | TensorDigest | Scalar]:
    match output:
        case Container(_, _, items):
            for item in items:
                yield from _numbers(item)
        case Scalar(kind):
            if kind in "ifzo":
                yield output
        case TensorOutput() | TensorDigest():
            yield output
        case _:
            return


def _is_special(output: TensorOutput | TensorDigest | Scalar) -> bool:
    match output:
        case TensorOutput(_, _, elements):
            return elements.dtype.kind in "fc" and not bool(np.isfinite(elements).all())
        case TensorDigest():
            return bool(output.nan or output.inf)
        case Scalar(kind, text):
            return kind in "fz" and ("nan" in text or "inf" in text)


ORACLE = BoundaryOracle()
