"""Oracle of layer graphs: a vote among targets blames the one that deviates.

A layer alone is judged as `differential` judges a call. For a whole model only the outcome of the
run counts. `suspicion` compares what its layers compute, and the cause is judged after its layer is
isolated.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain import dtypes
from ciguard.domain.findings import Evidence, Finding, PairKind, Severity
from ciguard.domain.models import Check, DataSample, ModelCase
from ciguard.domain.outcomes import Passed
from ciguard.domain.values import ArrayValue
from ciguard.execution import Container, decode_outputs
from ciguard.oracles import (
    DIFFERENTIAL_SEVERITIES,
    UNSTABLE_TAGS,
    is_left_to_backends,
    majority_target,
    pair_kind,
    severity_between_backends,
)
from ciguard.oracles.comparing import (
    Difference,
    compare_outputs,
    evidence_between,
    input_precision,
    outcome_difference,
    perturbed_elements,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Output
    from ciguard.oracles import Subject
    from ciguard.oracles.comparing import InputPrecision

_OUTCOME_KINDS = frozenset({"refused", "exception"})
"""Kinds of differences between outcomes; `accepted` is `refused` from the other side."""
_GRADIENT_CONDITION = 8.0
"""Allowed rounding of a gradient relative to that of an output: it is computed from the output and
passes backwards through the whole layer."""
_ELEMENT_KINDS = frozenset({"values", "nan"})
_SEED_STRIDE = 1_000_003
"""Distance of the seeds of two inputs of one run."""


class LayerRunOracle:
    """Blames each target whose result differs from the majority's."""

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding per target that deviates from the elected one."""
        if not isinstance(case, ModelCase):
            return []
        if case.check is Check.SAVE and case.is_one_layer:
            return _saving_findings(case, outcomes, subject)
        present = {name: outcomes[name] for name in subject.targets if name in outcomes}
        if not present:
            return []
        inputs = precision_of(case)
        reference = majority_target(
            present, lambda first, second: _difference(first, second, inputs) is None
        )
        findings = []
        for name, outcome in present.items():
            difference = _difference(present[reference], outcome, inputs)
            if difference is None or not _is_meaningful(difference, case, subject):
                continue
            findings.append(_finding(case, present, (reference, name), difference, subject))
        return findings


def inputs_of(case: ModelCase) -> InputPrecision:
    """Return how exact the outputs of a run can be."""
    return input_precision(
        case,
        ranges=[("float32", 0.0, 1.0) for data in case.data if isinstance(data, DataSample)],
        sizes=[math.prod(node.shape) for node in case.graph.nodes],  # represents the weights too
    )


def precision_of(case: ModelCase) -> InputPrecision:
    """Return how exact all results of a run can be, including gradients."""
    inputs = inputs_of(case)
    return replace(inputs, condition=_GRADIENT_CONDITION) if case.check is Check.TRAIN else inputs


def _difference(reference: Outcome, other: Outcome, inputs: InputPrecision) -> Difference | None:
    """Return how two runs differ, with the differing part of the result as detail."""
    if not isinstance(reference, Passed) or not isinstance(other, Passed):
        return outcome_difference(reference, other, inputs)
    if reference.encoded == other.encoded:
        return None
    mine, theirs = decode_outputs(reference.encoded), decode_outputs(other.encoded)
    if not isinstance(mine, Container) or not isinstance(theirs, Container):
        return None
    parts = dict(zip(theirs.keys, theirs.items, strict=False))
    for key, part in zip(mine.keys, mine.items, strict=False):
        if key not in parts:
            return Difference("structure", f"only one of them has {key}", key)
        difference = compare_outputs(part, parts[key], inputs)
        if difference is not None:
            detail = " ".join(filter(None, [key if key != "outputs" else "", difference.detail]))
            return Difference(difference.kind, difference.text, detail)
    return None


def _is_meaningful(difference: Difference, case: ModelCase, subject: Subject) -> bool:
    if difference.kind == "accepted" or (case.is_one_layer and difference.kind == "exception"):
        return False
    if not case.is_one_layer:
        return difference.kind in _OUTCOME_KINDS
    return difference.kind not in _ELEMENT_KINDS or not _is_unstable(case, subject)


def _is_unstable(case: ModelCase, subject: Subject) -> bool:
    """Return whether the values of a layer may differ, as those of random layers in training."""
    tags = UNSTABLE_TAGS if case.training else UNSTABLE_TAGS - {"random"}
    return bool(subject.tags & tags)


def _finding(
    case: ModelCase,
    outcomes: Mapping[str, Outcome],
    targets: tuple[str, str],
    difference: Difference,
    subject: Subject,
) -> Finding:
    reference, deviating = (subject.targets[name] for name in targets)
    pair = pair_kind(reference, deviating)
    severity = DIFFERENTIAL_SEVERITIES[difference.kind]
    if reference.engine != deviating.engine:
        limit = Severity.INFO if is_left_to_backends(difference, case) else severity
        severity = min(severity, limit, severity_between_backends(difference))
    # LEMON, section 4.2: a unique bug is the deviating library and the layer.
    blamed_engine = deviating.engine if pair is PairKind.BACKEND else ""
    detail = ": ".join(filter(None, [case.check.value, difference.detail, blamed_engine]))
    subject_text = f"{subject.api} ({case.check.value})"
    return Finding(
        oracle="differential",
        kind=difference.kind,
        severity=severity,
        library=subject.library,
        api=subject.api,
        case=case,
        outcomes=dict(outcomes),
        targets=targets,
        pair=pair,
        detail=detail,
        message=f"{subject_text} differs in {difference.kind}: {difference.text}",
        evidence=evidence_between(targets, outcomes, pair, None),
    )


def _saving_findings(
    case: ModelCase, outcomes: Mapping[str, Outcome], subject: Subject
) -> Sequence[Finding]:
    """Return one finding for all targets on which saving and loading changes a layer's results."""
    inputs = precision_of(case)
    broken: dict[str, Difference] = {}
    for name, outcome in outcomes.items():
        output = decode_outputs(outcome.encoded) if isinstance(outcome, Passed) else None
        difference = changed_by_saving(output, inputs) if output is not None else None
        if difference is not None and difference.kind not in {"aliasing", "mutation"}:
            broken[name] = difference
    if not broken or _is_unstable(case, subject):
        return []
    first = next(iter(broken.values()))
    return [
        Finding(
            oracle="metamorphic",
            kind="saved model",
            severity=Severity.HIGH,
            library=subject.library,
            api=subject.api,
            case=case,
            outcomes=dict(outcomes),
            targets=tuple(
                name for name, difference in broken.items() if difference.kind == first.kind
            ),
            detail=first.kind,
            message=f"{subject.api} computes other results after saving and loading: {first.text}",
            evidence=Evidence(
                expected="the same outputs before and after",
                observed=first.text,
                law="A model computes the same before and after it was saved and loaded",
            ),
        )
    ]


def changed_by_saving(output: Output, inputs: InputPrecision) -> Difference | None:
    """Return how the outputs before and after saving differ; None if they agree."""
    match output:
        case Container(keys=("before", "after"), items=(before, after)):
            return compare_outputs(before, after, inputs)
        case _:
            return None


def nudged_run(case: ModelCase, seed: int) -> ModelCase:
    """Return the run with data and weights perturbed by one rounding.

    Each input is perturbed differently, so that equal elements, as in merged inputs, become
    unequal. Zeros are perturbed too if gradients are compared, since most kinks are at zero.
    """
    of_zero = dtypes.EPSILON["float32"] if case.check is Check.TRAIN else 0.0
    perturbed = tuple(
        replace(data, fill=perturbed_elements(data, seed + index * _SEED_STRIDE, of_zero=of_zero))
        if isinstance(data, ArrayValue) and data.dtype in dtypes.FLOATING
        else data
        for index, data in enumerate(case.data)
    )
    return replace(case, data=perturbed, nudge=seed or 1)
