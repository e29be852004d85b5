"""The oracle `differential`: two targets of one library return different results for a call."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from ciguard.domain.findings import Finding, PairKind, Severity
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Passed, Rejected, has_completed
from ciguard.oracles.between_backends import (
    SPECIAL_ELEMENTS,
    is_left_to_backends,
    severity_between_backends,
    severity_of_special_elements,
)
from ciguard.oracles.between_devices import (
    must_devices_agree,
    must_repetitions_agree,
    severity_between_devices,
)
from ciguard.oracles.comparing.differences import evidence_between
from ciguard.oracles.comparing.inputs import (
    has_special_elements,
    may_overflow,
)
from ciguard.oracles.comparing.tf32 import with_tf32
from ciguard.oracles.contract import UNSTABLE_TAGS, Traits
from ciguard.oracles.levels import judged_level_of
from ciguard.oracles.relations import exemption_of
from ciguard.oracles.specifications import violated_specifications
from ciguard.oracles.voting import majority_target
from ciguard.targets import CPU, EAGER, TF32

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

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
"""Severities, by kind, if the documentation forbids the argument. To reject it is then correct, to
accept it is a defect."""
_SAME_DEVICE_PAIRS = {PairKind.SAME, PairKind.VERSION, PairKind.ENVIRONMENT}
_COMPARABLE_PAIRS: Mapping[str, Collection[PairKind]] = {
    "mutation": {*_SAME_DEVICE_PAIRS, PairKind.DEVICE},
    "aliasing": _SAME_DEVICE_PAIRS,
}
"""Kinds of pairs whose effects on arguments must agree, by kind of difference. For other kinds of
difference, all pairs must agree. A move to another device copies a tensor, so only its contents are
compared. Compiled code, backends and other libraries do not work on the caller's own arguments."""
SPECIAL_ELEMENTS_BETWEEN_BACKENDS = "special elements between backends"
"""Name in exemptions: the API's results for NaN and infinities may differ between backends, too."""
SHAPE_BEYOND_RANGE = "shape beyond range"
"""Name in exemptions: the shapes of the API's results in boundary cases may differ."""
RANDOM_SHAPE = "random shape"
"""Name in exemptions: the API draws the shapes of its results at random."""
BETWEEN_MODES = "between modes"
"""Name in exemptions: the API's results may differ between a mode and eager execution."""
REFUSED_BY_MODES = "refused by modes"
"""Name in exemptions: a mode may reject calls of the API that eager execution accepts."""
_ELEMENT_KINDS = frozenset({"values", "nan"})
_INTENTS_WITHIN_RANGE = frozenset({Intent.CONFORMING, Intent.SPECIAL})
_UNSPECIFIED_IN_MODES = frozenset({"structure", "exception", "accepted"})
"""Kinds of difference that are correct between modes: a mode may return a tensor for a number, and
may check arguments differently."""


_SHAPE_INFERENCE_ERROR = re.compile(r" for '\{\{node [^}]*\}\} = \w+")
"""Part of TensorFlow's message for shapes that an operator's definition forbids."""


class DifferentialOracle:
    """Compares every target with the reference.

    It is a target whose result most others share, the first one of several. Two targets have no
    majority, so the first one is the reference. That of a target in a mode is the same target in
    eager execution.
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
            return []  # a relation compares each target only with itself
        present = [name for name in subject.targets if name in outcomes]
        precision = level.inputs(case)
        differences = _Differences(partial(level.compare, case), outcomes, precision, subject)
        findings = []
        for name, reference in _references(present, outcomes, subject.targets, differences):
            pair = pair_kind(subject.targets[reference], subject.targets[name])
            difference = differences.between(reference, name)
            spans_engines = subject.targets[reference].engine != subject.targets[name].engine
            if difference is None or not _is_meaningful(
                difference, case, subject, pair, spans_engines=spans_engines
            ):
                continue
            sides = outcomes[reference], outcomes[name]
            inputs = differences.inputs_of(reference, name)
            if not _must_agree(difference, (reference, name), subject, sides, inputs):
                continue
            violated = violated_specifications(case, subject.specifications.get(case.focus, ()))
            specification = (
                violated[0][0] if violated and difference.kind in _SEVERITIES_IF_FORBIDDEN else None
            )
            severity = _severity(
                difference, is_forbidden=specification is not None or level.is_forbidden(case)
            )
            if pair is PairKind.MODE and _is_forbidden_by_definition(outcomes[name]):
                severity = min(severity, Severity.LOW)  # the fault is a missing check in eager mode
            if pair is PairKind.DEVICE:
                severity = severity_between_devices(
                    severity, difference.kind, outcomes[name], subject.on_devices
                )
            if spans_engines:
                if is_left_to_backends(difference, case, outcomes, subject.targets):
                    continue
                severity = min(
                    severity,
                    severity_between_backends(difference),
                    severity_of_special_elements(case),
                )
            pair_outcomes = {reference: outcomes[reference], name: outcomes[name]}
            voters = _voters(reference, name, present, subject.targets)
            findings.append(
                Finding(
                    oracle="differential",
                    kind=difference.kind,
                    severity=severity,
                    library=subject.library,
                    api=subject.api,
                    case=case,
                    outcomes={voter: outcomes[voter] for voter in voters},
                    targets=(reference, name),
                    pair=pair,
                    detail=_detail(difference, subject.targets[name], pair),
                    message=f"{subject.api} {difference.predicate}",
                    evidence=level.evidence(case, difference, pair_outcomes)
                    or evidence_between((reference, name), outcomes, pair, specification),
                )
            )
        return findings


class _Differences:
    """The differences between targets of one case, each computed once."""

    def __init__(
        self,
        compare: Callable[[Outcome, Outcome, InputPrecision], Difference | None],
        outcomes: Mapping[str, Outcome],
        inputs: InputPrecision,
        subject: Subject,
    ) -> None:
        self._compare = compare
        self._outcomes = outcomes
        self._inputs = inputs
        self._in_tf32 = {name for name, one in subject.targets.items() if one.mode == TF32}
        self._engines = {name: one.engine for name, one in subject.targets.items()}
        self._known: dict[tuple[str, str], Difference | None] = {}

    def between(self, reference: str, name: str) -> Difference | None:
        """Return how a target's outcome differs from that of the reference; None if it does not."""
        pair = (reference, name)
        if pair not in self._known:
            sides = self._outcomes[reference], self._outcomes[name]
            self._known[pair] = self._compare(*sides, self.inputs_of(reference, name))
        return self._known[pair]

    def inputs_of(self, reference: str, name: str) -> InputPrecision:
        """Return the precision of the case's inputs on two targets."""
        return with_tf32(self._inputs) if self._in_tf32 & {reference, name} else self._inputs

    def agree(self, reference: str, name: str) -> bool:
        """Return whether two targets do not differ, except in the exceptions of two backends."""
        difference = self.between(reference, name)
        return difference is None or (
            difference.kind == "exception" and self._engines[reference] != self._engines[name]
        )


def _references(
    present: Sequence[str],
    outcomes: Mapping[str, Outcome],
    identities: Mapping[str, Identity],
    differences: _Differences,
) -> Iterator[tuple[str, str]]:
    """Yield each target that is compared, with its reference."""
    elected = _elected(present, outcomes, identities, differences) if present else ""
    for name in present:
        is_voter = identities[name].mode == identities[elected].mode
        reference = elected if is_voter else _reference(name, present, identities)
        if reference != name:
            yield name, reference


def _elected(
    present: Sequence[str],
    outcomes: Mapping[str, Outcome],
    identities: Mapping[str, Identity],
    differences: _Differences,
) -> str:
    """Return the reference of all targets in eager execution; of others if there are none.

    Between versions, only results are subject to the vote: the version that first accepts or
    refuses a call is the newer one, whatever the others do. Backends that refuse a call agree,
    whichever exceptions they raise.
    """
    eager = [name for name in present if identities[name].mode == EAGER]
    voters = eager or list(present[:1])
    devices = {identities[name].device for name in voters}
    versions = {identities[name].version for name in voters}
    results = [outcomes[name] for name in voters]
    may_vote = all(map(has_completed, results)) and (
        len(versions) == 1 or all(isinstance(result, Passed) for result in results)
    )
    first, *others = voters
    if len(devices) > 1 or not may_vote or all(differences.agree(first, name) for name in others):
        return first
    passed = [name for name in voters if isinstance(outcomes[name], Passed)]
    refused = [name for name in voters if name not in passed]
    # A target that refuses what most others accept deviates, even if these return other results.
    sides = [side for side in (passed, refused) if len(side) > len(voters) / 2]
    (candidates,) = sides or [voters]
    return majority_target({name: name for name in candidates}, differences.agree)


def _voters(
    reference: str, name: str, present: Sequence[str], identities: Mapping[str, Identity]
) -> Sequence[str]:
    """Return the targets whose outcomes a finding needs when it is judged again.

    They are more than its two targets if the others decided that the first one deviates, or that
    one backend does.
    """
    voters = [other for other in present if identities[other].mode == identities[reference].mode]
    spans_engines = len({identities[other].engine for other in voters}) > 1
    is_voted = name in voters and (reference != voters[0] or spans_engines)
    return voters if is_voted else (reference, name)


def is_unusual_use(case: Case) -> bool:
    """Return whether an API call has arguments that programs rarely use, such as range limits."""
    return case.is_api_use and case.intent is not Intent.CONFORMING


def _severity(difference: Difference, *, is_forbidden: bool) -> Severity:
    """Return the severity of a difference.

    `is_forbidden` is true if the documentation forbids an argument of the case.
    """
    if is_forbidden and difference.kind in _SEVERITIES_IF_FORBIDDEN:
        return _SEVERITIES_IF_FORBIDDEN[difference.kind]
    return SEVERITIES[difference.kind]


def _reference(name: str, present: Sequence[str], identities: Mapping[str, Identity]) -> str:
    """Return the name of the target that the target `name` is compared with.

    It is the first target in eager execution. For a target in a mode, it is the one that differs
    only in the mode, if there is one.
    """
    eager = [other for other in present if identities[other].mode == EAGER]
    eager_identity = replace(identities[name], mode=EAGER, request="")
    if identities[name].mode != EAGER:
        eager.sort(key=lambda other: replace(identities[other], request="") != eager_identity)
    return [*eager, *present][0]


def _detail(difference: Difference, other: Identity, pair: PairKind) -> str:
    """Return the text in the fingerprint that distinguishes differences, including the mode."""
    modes = [other.mode] if pair is PairKind.MODE else []
    return ": ".join(filter(None, [*modes, difference.detail]))


def _is_forbidden_by_definition(outcome: Outcome) -> bool:
    """Return whether an operator's definition forbids the call, which only graphs check."""
    return isinstance(outcome, Rejected) and bool(_SHAPE_INFERENCE_ERROR.search(outcome.message))


def _must_agree(
    difference: Difference,
    names: tuple[str, str],
    subject: Subject,
    sides: tuple[Outcome, Outcome],
    inputs: InputPrecision,
) -> bool:
    """Return whether a difference is a defect for this kind of pair of targets."""
    reference, other = (subject.targets[name] for name in names)
    pair = pair_kind(reference, other)
    if pair not in _COMPARABLE_PAIRS.get(difference.kind, PairKind):
        return False
    if pair is PairKind.DEVICE:
        return must_devices_agree(difference, subject, sides, inputs)
    if other.device != CPU and not must_repetitions_agree(difference, subject):
        return False
    return pair is not PairKind.MODE or _must_modes_agree(difference, subject)


def _must_modes_agree(difference: Difference, subject: Subject) -> bool:
    """Return whether a difference between a mode and eager execution is a defect."""
    if subject.tags & UNSTABLE_TAGS:
        return difference.kind == "dtype"  # other properties may depend on a random number
    if difference.kind == "refused" and exemption_of(subject.api, REFUSED_BY_MODES):
        return False
    if difference.kind in _ELEMENT_KINDS and exemption_of(subject.api, BETWEEN_MODES):
        return False
    return difference.kind not in _UNSPECIFIED_IN_MODES


def _is_meaningful(
    difference: Difference, case: Case, subject: Subject, pair: PairKind, *, spans_engines: bool
) -> bool:
    """Return whether the documentation defines the part of the result in which targets differ.

    A new version should not change other results either, except those that are undefined.
    """
    if difference.kind == "shape":
        # An unchecked index of -2^63 may read arbitrary memory, which then decides the shape.
        is_undefined = has_special_elements(case) or exemption_of(subject.api, SHAPE_BEYOND_RANGE)
        is_defined = case.intent in _INTENTS_WITHIN_RANGE or not is_undefined
        return is_defined and exemption_of(subject.api, RANDOM_SHAPE) is None
    if difference.kind not in _ELEMENT_KINDS:
        return True
    if subject.tags & UNSTABLE_TAGS or exemption_of(subject.api, "differential"):
        return False
    if case.intent is Intent.SPECIAL:
        name = SPECIAL_ELEMENTS_BETWEEN_BACKENDS if spans_engines else SPECIAL_ELEMENTS
        return exemption_of(subject.api, name) is None
    # Most definitions do not specify results for the extreme values of a type, such as a sum that
    # overflows or a cast to an integer. Builds of a library do differ in them.
    if case.intent is Intent.BOUNDARY and pair is PairKind.VERSION:
        return not may_overflow(case)
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
