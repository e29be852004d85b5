"""Differential: two targets of one library answer the same call differently."""

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
from ciguard.oracles.comparing.given import has_special_elements
from ciguard.oracles.contract import UNSTABLE_TAGS, Traits
from ciguard.oracles.laws import broken_laws
from ciguard.oracles.levels import judged
from ciguard.oracles.relations import exemption_of
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
_UNDER_A_LAW = {"refused": Severity.INFO, "accepted": Severity.LOW}
"""Where the documentation forbids the argument: to refuse it is right, to accept it is not."""
_ONE_WIDTH = (
    frozenset(dtypes.INTEGERS),
    frozenset({"float32", "float64"}),
    frozenset(dtypes.COMPLEX),
)
"""Types that Keras takes for one another: 64 bits are for TensorFlow, PyTorch has few unsigned."""
_PLAIN_RESULTS = frozenset({"tensor", "None", "int", "float", "complex", "bool", "str", "bytes"})
"""How differences of structure name what is neither a container nor an object of another class."""
_OF_ONE_DEVICE = {PairKind.SAME, PairKind.VERSION, PairKind.ENVIRONMENT}
_SEEN_BETWEEN: Mapping[str, Collection[PairKind]] = {
    "mutation": {*_OF_ONE_DEVICE, PairKind.DEVICE},
    "aliasing": _OF_ONE_DEVICE,
}
"""Pairs whose calls do the same to their arguments; any for what is not listed. A move to another
device copies; compiled code, backends and other libraries have arguments of their own."""
SPECIAL_ELEMENTS = "special elements"
"""How exemptions name what becomes of NaN and infinities."""
SHAPE_BEYOND_RANGE = "shape beyond range"
"""How exemptions name shapes of results of boundary cases."""
SHAPE_BETWEEN_BACKENDS = "shape between backends"
"""How exemptions name shapes that Keras leaves to its backends."""
BETWEEN_MODES = "between modes"
"""How exemptions name what a mode may answer otherwise than eager execution."""
REFUSED_BY_MODES = "refused by modes"
"""How exemptions name what a mode may refuse although eager execution takes it."""
_UNSPECIFIED = frozenset({"values", "nan"})
_WITHIN_RANGE = frozenset({Intent.CONFORMING, Intent.SPECIAL})
_UNSAID_OF_MODES = frozenset({"structure", "exception", "accepted"})
"""What no mode promises: numbers come out as tensors, and errors come from other checks."""


_BY_DEFINITION = re.compile(r" for '\{\{node [^}]*\}\} = \w+")
"""How TensorFlow names the operator whose definition forbids the shapes of its arguments."""


class DifferentialOracle:
    """The first target is the reference; every other one must answer as it does.

    A target in a mode must answer as the same one without it.
    """

    traits: ClassVar[Traits] = Traits(
        holds_targets_apart=True, compares_results=True, needs_conforming=True, mark="DIFFERENT"
    )

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding per target that deviates from the reference."""
        level = judged(case)
        if case.relation or not level.compares_targets:
            return []  # its outputs hold the twin's too: each target is held against itself
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
            if not _is_promised(difference, pair, subject, sides, inputs):
                continue
            broken = broken_laws(case, subject.laws.get(case.focus, ()))
            law = broken[0][0] if broken and difference.kind in _UNDER_A_LAW else None
            severity = _severity(
                difference, is_forbidden=law is not None or level.is_forbidden(case)
            )
            if pair is PairKind.MODE and _is_by_definition(outcomes[name]):
                severity = min(severity, Severity.LOW)  # what lacks is a check of eager execution
            if pair is PairKind.DEVICE:
                severity = severity_between_devices(severity, difference.kind, outcomes[name])
            if subject.targets[reference].engine != subject.targets[name].engine:
                if is_backends_own(difference, case):
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
                    or evidence_between((reference, name), outcomes, pair, law),
                )
            )
        return findings


def is_unusual_use(case: Case) -> bool:
    """Return whether a call tries ends of ranges, special elements or arguments of other types."""
    return case.is_api_use and case.intent is not Intent.CONFORMING


def _severity(difference: Difference, *, is_forbidden: bool) -> Severity:
    """Return how much a difference weighs."""
    if is_forbidden and difference.kind in _UNDER_A_LAW:
        return _UNDER_A_LAW[difference.kind]
    return SEVERITIES[difference.kind]


def _reference(name: str, present: Sequence[str], identities: Mapping[str, Identity]) -> str:
    """Return what a target is held against: the first eager one; in a mode, the one most alike."""
    eager = [other for other in present if identities[other].mode == EAGER]
    alike = replace(identities[name], mode=EAGER, request="")
    if identities[name].mode != EAGER:
        eager.sort(key=lambda other: replace(identities[other], request="") != alike)
    return [*eager, *present][0]


def _detail(difference: Difference, other: Identity, pair: PairKind) -> str:
    """Return what tells this difference from others: each mode has defects of its own."""
    modes = [other.mode] if pair is PairKind.MODE else []
    return ": ".join(filter(None, [*modes, difference.detail]))


def _is_by_definition(outcome: Outcome) -> bool:
    """Return whether an operator's own definition, which only graphs obey, forbids a call."""
    return isinstance(outcome, Rejected) and bool(_BY_DEFINITION.search(outcome.message))


def is_backends_own(difference: Difference, case: Case) -> bool:
    """Return whether Keras leaves a difference to its backends, whose exceptions it passes on."""
    if difference.kind in _UNSPECIFIED:
        return exemption_of(case.api, "between backends") is not None
    if difference.kind == "shape":
        return exemption_of(case.api, SHAPE_BETWEEN_BACKENDS) is not None
    is_refusal = difference.kind in {"refused", "accepted"}
    return difference.kind == "exception" or (is_refusal and case.intent is not Intent.CONFORMING)


def severity_between_backends(difference: Difference) -> Severity:
    """Return how much a difference weighs at most: the backends are different libraries."""
    types = set(difference.detail.split(" vs "))
    is_width = difference.kind == "dtype" and any(types <= family for family in _ONE_WIDTH)
    is_left_open = is_width or difference.kind in {"refused", "nan"} or _is_own_class(difference)
    return Severity.LOW if is_left_open else SEVERITIES[difference.kind]


def _is_own_class(difference: Difference) -> bool:
    """Return whether a backend returns an object of a class of its own: sparse, or a function."""
    results = [] if difference.kind != "structure" else difference.text.split(" vs ")
    return any(" of " not in name and name not in _PLAIN_RESULTS for name in results)


def _is_promised(
    difference: Difference,
    pair: PairKind,
    subject: Subject,
    sides: tuple[Outcome, Outcome],
    inputs: InputPrecision,
) -> bool:
    """Return whether targets that differ in this way promise to agree in this."""
    if pair not in _SEEN_BETWEEN.get(difference.kind, PairKind):
        return False
    if pair is PairKind.DEVICE:
        return promises(difference, subject.api, sides, inputs)
    return pair is not PairKind.MODE or _is_promised_of_modes(difference, subject)


def _is_promised_of_modes(difference: Difference, subject: Subject) -> bool:
    if subject.tags & UNSTABLE_TAGS:
        return difference.kind == "dtype"  # a random number may decide all else
    if difference.kind == "refused" and exemption_of(subject.api, REFUSED_BY_MODES):
        return False
    if difference.kind in _UNSPECIFIED and exemption_of(subject.api, BETWEEN_MODES):
        return False
    return difference.kind not in _UNSAID_OF_MODES


def _is_meaningful(difference: Difference, case: Case, subject: Subject) -> bool:
    if difference.kind == "shape":
        # An index of -2^63 that is not checked may decide it, by memory that is not the call's.
        is_open = has_special_elements(case) or exemption_of(subject.api, SHAPE_BEYOND_RANGE)
        return case.intent in _WITHIN_RANGE or not is_open
    if difference.kind not in _UNSPECIFIED:
        return True
    if subject.tags & UNSTABLE_TAGS or exemption_of(subject.api, "differential"):
        return False
    if case.intent is Intent.SPECIAL:
        return exemption_of(subject.api, SPECIAL_ELEMENTS) is None
    # What the ends of a type's range turn into is left open by most definitions (a sum that
    # overflows on the way, a cast to an integer), and does change between builds.
    return case.intent is Intent.CONFORMING and not has_special_elements(case)


def pair_kind(reference: Identity, other: Identity) -> PairKind:
    """Return in what two targets differ; the first that applies."""
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
