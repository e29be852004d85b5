"""Boundary: an argument that a library's own words forbid is taken without a word."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ciguard.domain import ArrayValue, Finding, Passed, Severity, TensorValue
from ciguard.execution import Container, Scalar, Tensor, TensorDigest, decode_outputs
from ciguard.knowledge import Source
from ciguard.oracles.contract import registered
from ciguard.oracles.differential import has_special_elements, leaves
from ciguard.oracles.laws import breach

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain import Case, Outcome, Value
    from ciguard.execution import Output
    from ciguard.oracles.contract import Subject
    from ciguard.oracles.laws import Law

_WHERE = {
    Source.OPDEF: "the operator's definition",
    Source.ANNOTATION: "the signature",
}
_MOST_SHOWN = 3
_REPLACED = {"reduction": frozenset({"size_average", "reduce"})}
"""Arguments that others, given too, take the place of: torch's older names of one choice."""


class BoundaryOracle:
    """Looks at the argument that a case was bent at, where every target took it.

    What one target takes and another refuses is a difference between targets: another oracle's.
    """

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding per law that the case's focus breaks."""
        laws = subject.laws.get(case.focus, ())
        passed = [out for out in outcomes.values() if isinstance(out, Passed)]
        if not laws or not passed or len(passed) < len(outcomes) or _is_about_nothing(case):
            return []
        broken = [(law, said) for law in laws if (said := _broken(law, case))]
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
                    f"{_WHERE.get(law.source, 'the documentation')} says {law.demand}: "
                    f"“{law.sentence}”"
                ),
            )
            for law, said in broken
        ]


def _broken(law: Law, case: Case) -> str:
    value = _argument(case, law)
    return "" if value is None else breach(value, law.demand)


def _argument(case: Case, law: Law) -> Value | None:
    """Return what a call gives a parameter; None if it leaves it out or replaces it."""
    named = dict(case.keywords)
    if not _REPLACED.get(law.parameter, frozenset()).isdisjoint(named):
        return None
    if law.parameter in named:
        return named[law.parameter]
    if law.position is None or law.position >= len(case.arguments):
        return None
    return case.arguments[law.position]


def _is_about_nothing(case: Case) -> bool:
    """Tell whether a tensor without elements is given: there is nothing to be wrong about then."""
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
    if all(isinstance(one, Tensor | TensorDigest) and not math.prod(one.shape) for one in seen):
        return "returns an empty result"
    if not has_special_elements(case) and any(map(_is_special, seen)):
        return "returns NaN or infinity"
    return f"returns {_shown(seen[0])}"


def _numbers(output: Output) -> Iterator[Tensor | TensorDigest | Scalar]:
    match output:
        case Container(_, _, items):
            for item in items:
                yield from _numbers(item)
        case Scalar(kind):
            if kind in "ifzo":
                yield output
        case Tensor() | TensorDigest():
            yield output
        case _:
            return


def _is_special(output: Tensor | TensorDigest | Scalar) -> bool:
    match output:
        case Tensor(_, _, elements):
            return elements.dtype.kind in "fc" and not bool(np.isfinite(elements).all())
        case TensorDigest():
            return bool(output.nan or output.inf)
        case Scalar(kind, text):
            return kind in "fz" and ("nan" in text or "inf" in text)


def _shown(output: Tensor | TensorDigest | Scalar) -> str:
    match output:
        case Scalar(_, text):
            return text[:40]
        case Tensor(dtype, shape, elements) | TensorDigest(dtype, shape, elements):
            first = ", ".join(map(_element, elements[:_MOST_SHOWN].tolist()))
            more = ", …" if math.prod(shape) > _MOST_SHOWN else ""
            return f"{dtype}{list(shape)} ({first}{more})"


def _element(element: object) -> str:
    match element:
        case bool() | int() | str() | bytes():
            return f"{element!r:.20}"
        case float() | complex():
            return f"{element:.6g}"
        case _:
            return "…"


registered("boundary", BoundaryOracle)
