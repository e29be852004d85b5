"""Differential: two targets of one library return different results for the same call."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from ciguard.domain import dtypes
from ciguard.domain.findings import Finding, PairKind, Severity
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Rejected
from ciguard.oracles.between_devices import promises, severity_between_devices
from ciguard.oracles.comparing.differences import evidence_between
from ciguard.oracles.comparing.inputs import has_special_elements
from ciguard.oracles.contract import UNSTABLE_TAGS, Traits
from ciguard.oracles.levels import judged_level_of
from ciguard.oracles.relations import exemption_of
from ciguard.oracles.specifications import violated_specifications
from ciguard.targets import EAGER

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.oracles.comparing.comparison import Difference
    from ciguard.oracles.comparing.tolerance import InputPrecision
    from ciguard.oracles.contract import Identity, Subject

SEVERITIES = {
    "values": Severity.HIGH,
    "nan": Severity.MEDIUM,
    "dtype": Severity.HIGH,
    "shape": Severity.HIGH,
    "structure": Severity.HIGH,
    "mutation": Severity.HIGH,
    "aliasing": Severity.LOW,
    "refused": Severity.MEDIUM,
    "accepted": Severity.INFO,
    "exception": Severity.LOW,
}
"""Severity of a difference, by its kind."""
_SEVERITIES_IF_FORBIDDEN = {"refused": Severity.INFO, "accepted": Severity.LOW}
"""Severities where the documentation forbids the argument: rejecting it is right, accepting it is
not."""
_INTERCHANGEABLE_DTYPES = (
    frozenset(dtypes.INTEGERS),
    frozenset({"float32", "float64"}),
    frozenset(dtypes.COMPLEX),
)
"""Types that Keras treats as one: TensorFlow has 64 bits, PyTorch few unsigned types."""
_PLAIN_RESULTS = frozenset({"tensor", "None", "int", "float", "complex", "bool", "str", "bytes"})
"""Names in structure differences of results that are neither containers nor foreign objects."""
_SAME_DEVICE_PAIRS = {PairKind.SAME, PairKind.VERSION, PairKind.ENVIRONMENT}
_COMPARABLE_PAIRS: Mapping[str, Collection[PairKind]] = {
    "mutation": {*_SAME_DEVICE_PAIRS, PairKind.DEVICE},
    "aliasing": _SAME_DEVICE_PAIRS,
}
"""Pairs of targets whose calls treat their arguments alike, by kind of difference; any pair for
others. A move to another device copies; compiled code, backends and other libraries have arguments
of their own."""
SPECIAL_ELEMENTS = "special elements"
"""Name in exemptions for results of NaN and infinities."""
SHAPE_BEYOND_RANGE = "shape beyond range"
"""Name in exemptions for shapes of results of boundary cases."""
SHAPE_BETWEEN_BACKENDS = "shape between backends"
"""Name in exemptions for shapes that Keras leaves to its backends."""
BETWEEN_MODES = "between modes"
"""Name in exemptions for results that may differ between a mode and eager execution."""
REFUSED_BY_MODES = "refused by modes"
"""Name in exemptions for calls that a mode may reject although eager execution accepts them."""
_ELEMENT_KINDS = frozenset({"values", "nan"})
_INTENTS_WITHIN_RANGE = frozenset({Intent.CONFORMING, Intent.SPECIAL})
_UNSPECIFIED_IN_MODES = frozenset({"structure", "exception", "accepted"})
"""Kinds of difference that no mode rules out: numbers become tensors, and checks differ."""


_SHAPE_INFERENCE_ERROR = re.compile(r" for '\{\{node [^}]*\}\} = \w+")
"""TensorFlow's message when an operator's definition forbids the shapes of its arguments."""


class DifferentialOracle:
    """Compares every target with the reference, which is the first target.

    A target in a mode is compared with the same target without the mode.
    """

    traits: ClassVar[Traits] = Traits(
        is_differential=True, compares_results=True, needs_conforming=True, mark="DIFFERENT"
    )

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding per target that deviates from the reference."""
        level = judged_level_of(case)
        if case.relation or not level.compares_targets:
            return []  # the outputs include the twin's: each target is compared with itself
        present = [name for name in subject.targets if name in outcomes]
        inputs = level.inputs(case)
        findings = []
        for name in present:
            reference = _reference(name, present, subject.targets)
            if reference == name:
                continue
            pair = pair_kind(subject.targets[reference], subject.targets[name])
            difference = level.compare(case, outcomes[reference], outcomes[name], inputs)
            if difference is None or not _is_meaningful(difference, case, subject):
                continue
            sides = outcomes[reference], outcomes[name]
            if not _must_agree(difference, pair, subject, sides, inputs):
                continue
            violated = violated_specifications(case, subject.specifications.get(case.focus, ()))
            specification = (
                violated[0][0] if violated and difference.kind in _SEVERITIES_IF_FORBIDDEN else None
            )
            severity = _severity(
                difference, is_forbidden=specification is not None or level.is_forbidden(case)
            )
            if pair is PairKind.MODE and _is_by_definition(outcomes[name]):
                severity = min(severity, Severity.LOW)  # eager execution lacks a check
            if pair is PairKind.DEVICE:
                severity = severity_between_devices(severity, difference.kind, outcomes[name])
            if subject.targets[reference].engine != subject.targets[name].engine:
                if is_left_to_backends(difference, case):
                    continue
                severity = min(severity, severity_between_backends(difference))
            between = {reference: outcomes[reference], name: outcomes[name]}
            findings.append(
                Finding(
                    oracle="differential",
                    kind=difference.kind,
                    severity=severity,
                    library=subject.library,
                    api=subject.api,
                    case=case,
                    outcomes=between,
                    targets=(reference, name),
                    pair=pair,
                    detail=_detail(difference, subject.targets[name], pair),
                    message=f"{subject.api} differs in {difference.kind}: {difference.text}",
                    evidence=level.evidence(case, difference, between)
                    or evidence_between((reference, name), outcomes, pair, specification),
                )
            )
        return findings


def is_unusual_use(case: Case) -> bool:
    """Return whether a call tests range limits, special elements or arguments of other types."""
    return case.is_api_use and case.intent is not Intent.CONFORMING


def _severity(difference: Difference, *, is_forbidden: bool) -> Severity:
    """Return the severity of a difference."""
    if is_forbidden and difference.kind in _SEVERITIES_IF_FORBIDDEN:
        return _SEVERITIES_IF_FORBIDDEN[difference.kind]
    return SEVERITIES[difference.kind]


def _reference(name: str, present: Sequence[str], identities: Mapping[str, Identity]) -> str:
    """Return the target to compare with: the first eager one; in a mode, the most similar one."""
    eager = [other for other in present if identities[other].mode == EAGER]
    eager_identity = replace(identities[name], mode=EAGER, request="")
    if identities[name].mode != EAGER:
        eager.sort(key=lambda other: replace(identities[other], request="") != eager_identity)
    return [*eager, *present][0]


def _detail(difference: Difference, other: Identity, pair: PairKind) -> str:
    """Return the part of a difference that the fingerprint needs: each mode has its own defects."""
    modes = [other.mode] if pair is PairKind.MODE else []
    return ": ".join(filter(None, [*modes, difference.detail]))


def _is_by_definition(outcome: Outcome) -> bool:
    """Return whether an operator's definition, which only graphs check, forbids the call."""
    return isinstance(outcome, Rejected) and bool(_SHAPE_INFERENCE_ERROR.search(outcome.message))


def is_left_to_backends(difference: Difference, case: Case) -> bool:
    """Return whether Keras leaves a difference to its backends, whose exceptions it passes on."""
    if difference.kind in _ELEMENT_KINDS:
        return exemption_of(case.api, "between backends") is not None
    if difference.kind == "shape":
        return exemption_of(case.api, SHAPE_BETWEEN_BACKENDS) is not None
    is_refusal = difference.kind in {"refused", "accepted"}
    return difference.kind == "exception" or (is_refusal and case.intent is not Intent.CONFORMING)


def severity_between_backends(difference: Difference) -> Severity:
    """Return the highest severity of a difference between two backends."""
    types = set(difference.detail.split(" vs "))
    is_interchangeable = difference.kind == "dtype" and any(
        types <= family for family in _INTERCHANGEABLE_DTYPES
    )
    is_unspecified = (
        is_interchangeable or difference.kind in {"refused", "nan"} or _is_own_class(difference)
    )
    return Severity.LOW if is_unspecified else SEVERITIES[difference.kind]


def _is_own_class(difference: Difference) -> bool:
    """Return whether a backend returns an object of its own class, such as a sparse tensor."""
    results = [] if difference.kind != "structure" else difference.text.split(" vs ")
    return any(" of " not in name and name not in _PLAIN_RESULTS for name in results)


def _must_agree(
    difference: Difference,
    pair: PairKind,
    subject: Subject,
    sides: tuple[Outcome, Outcome],
    inputs: InputPrecision,
) -> bool:
    """Return whether such a pair of targets must agree on this kind of difference."""
    if pair not in _COMPARABLE_PAIRS.get(difference.kind, PairKind):
        return False
    if pair is PairKind.DEVICE:
        return promises(difference, subject.api, sides, inputs)
    return pair is not PairKind.MODE or _must_modes_agree(difference, subject)


def _must_modes_agree(difference: Difference, subject: Subject) -> bool:
    """Return whether a mode and eager execution must agree on this kind of difference."""
    if subject.tags & UNSTABLE_TAGS:
        return difference.kind == "dtype"  # anything else may depend on a random number
    if difference.kind == "refused" and exemption_of(subject.api, REFUSED_BY_MODES):
        return False
    if difference.kind in _ELEMENT_KINDS and exemption_of(subject.api, BETWEEN_MODES):
        return False
    return difference.kind not in _UNSPECIFIED_IN_MODES


def _is_meaningful(difference: Difference, case: Case, subject: Subject) -> bool:
    """Return whether the documentation defines the result in which the targets differ."""
    if difference.kind == "shape":
        # An unchecked index of -2^63 may read foreign memory, which then decides the shape.
        is_undefined = has_special_elements(case) or exemption_of(subject.api, SHAPE_BEYOND_RANGE)
        return case.intent in _INTENTS_WITHIN_RANGE or not is_undefined
    if difference.kind not in _ELEMENT_KINDS:
        return True
    if subject.tags & UNSTABLE_TAGS or exemption_of(subject.api, "differential"):
        return False
    if case.intent is Intent.SPECIAL:
        return exemption_of(subject.api, SPECIAL_ELEMENTS) is None
    # Most definitions leave open what the limits of a type turn into (a sum that overflows on the
    # way, a cast to an integer), and builds do differ.
    return case.intent is Intent.CONFORMING and not has_special_elements(case)


def pair_kind(reference: Identity, other: Identity) -> PairKind:
    """Return the first property in which two targets differ."""
    if reference == other:
        return PairKind.SAME
    if reference.device != other.device:
        return PairKind.DEVICE
    if reference.mode != other.mode:
        return PairKind.MODE
    if reference.version != other.version:
        return PairKind.VERSION
    if reference.packages != other.packages:
        return PairKind.BACKEND
    return PairKind.ENVIRONMENT


ORACLE = DifferentialOracle()
