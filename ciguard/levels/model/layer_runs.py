"""Oracle of layer graphs, which compares each target with the majority of the targets.

A layer alone is judged as `differential` judges a call. Of a whole model, only the outcome of the
run is judged. `suspicion` compares the results of its layers, and a suspected layer is judged after
it ran alone.
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
    perturb_elements,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Output
    from ciguard.oracles import Subject
    from ciguard.oracles.comparing import InputPrecision

DOUBLE = "float64"
"""Name of the element type of runs in double precision."""
_OUTCOME_KINDS = frozenset({"refused", "exception"})
"""Kinds of differences between outcomes that count; `accepted` is the reverse of `refused`."""
_GRADIENT_CONDITION = 8.0
"""Allowed rounding error of a gradient, relative to that of an output. A gradient is computed from
the output and passes backwards through the whole layer."""
_ELEMENT_KINDS = frozenset({"values", "nan"})
_SEED_STRIDE = 1_000_003
"""Difference between the seeds of consecutive inputs of a run."""


class LayerRunOracle:
    """Oracle that reports each target whose result differs from the majority's."""

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding per target that deviates from the target that the majority elected."""
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
    """Return how precise the outputs of a run can be."""
    return input_precision(
        case,
        ranges=[("float32", 0.0, 1.0) for data in case.data if isinstance(data, DataSample)],
        sizes=[math.prod(node.shape) for node in case.graph.nodes],  # also stands for the weights
    )


def precision_of(case: ModelCase) -> InputPrecision:
    """Return how precise all results of a run can be, including gradients."""
    inputs = inputs_of(case)
    return replace(inputs, condition=_GRADIENT_CONDITION) if case.check is Check.TRAIN else inputs


def _difference(reference: Outcome, other: Outcome, inputs: InputPrecision) -> Difference | None:
    """Return how two runs differ, with the name of the part that differs; None if they agree."""
    if not isinstance(reference, Passed) or not isinstance(other, Passed):
        return outcome_difference(reference, other, inputs)
    if reference.encoded == other.encoded:
        return None
    expected, observed = decode_outputs(reference.encoded), decode_outputs(other.encoded)
    if not isinstance(expected, Container) or not isinstance(observed, Container):
        return None
    observed_items = dict(zip(observed.keys, observed.items, strict=False))
    for key, item in zip(expected.keys, expected.items, strict=False):
        if key not in observed_items:
            return Difference("structure", f"only one of them has {key}", key)
        difference = compare_outputs(item, observed_items[key], inputs)
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
    """Return whether a layer's values may legally differ, e.g. of a random layer in training."""
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
        is_left = is_left_to_backends(difference, case, outcomes, subject.targets)
        limit = Severity.INFO if is_left else severity
        severity = min(severity, limit, severity_between_backends(difference))
    if case.dtype == DOUBLE and difference.kind == "values":
        # What single precision shows too is reported there; here, digits are lost.
        severity = min(severity, Severity.MEDIUM)
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
        message=f"{subject_text} {difference.predicate}",
        evidence=evidence_between(targets, outcomes, pair, None),
    )


def _saving_findings(
    case: ModelCase, outcomes: Mapping[str, Outcome], subject: Subject
) -> Sequence[Finding]:
    """Return one finding for all targets on which saving and loading changes the results."""
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
    """Return how the outputs before saving and after loading differ; None if they agree."""
    match output:
        case Container(keys=("before", "after"), items=(before, after)):
            return compare_outputs(before, after, inputs)
        case _:
            return None


def nudged_run(case: ModelCase, seed: int) -> ModelCase:
    """Return the run with data and weights perturbed by one rounding error each.

    Inputs are perturbed differently, so that equal elements of merged inputs become unequal. If
    gradients are compared, zeros are perturbed too, since most kinks of functions are at zero.
    """
    of_zero = dtypes.EPSILON["float32"] if case.check is Check.TRAIN else 0.0
    perturbed = tuple(
        replace(data, fill=perturb_elements(data, seed + index * _SEED_STRIDE, of_zero=of_zero))
        if isinstance(data, ArrayValue) and data.dtype in dtypes.FLOATING
        else data
        for index, data in enumerate(case.data)
    )
    return replace(case, data=perturbed, nudge=seed or 1)
