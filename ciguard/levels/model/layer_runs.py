"""Runs of layer graphs held against each other: a vote names the target that deviates.

A layer alone is judged here as a call is judged by `differential`. Of a whole model only how the
run ended counts: what its layers compute is held against each other by `suspicion`, and judged
when the layer that brings it about has been isolated.
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
    elected,
    is_backends_own,
    pair_kind,
    severity_between_backends,
)
from ciguard.oracles.comparing import (
    Difference,
    compare_outputs,
    differs,
    evidence_between,
    inputs_given,
    moved_elements,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Output
    from ciguard.oracles import Subject
    from ciguard.oracles.comparing import InputPrecision

_OF_ENDS = frozenset({"refused", "exception"})
"""Kinds of differences in how a run ended; `accepted` is the same seen from the other side."""
_OF_GRADIENTS = 8.0
"""How many times the rounding of an output that of a gradient may be: it is computed from that of
the output, and goes through all of the layer once more, backwards."""
_COMPUTED = frozenset({"values", "nan"})
_PLACES_APART = 1_000_003
"""Seeds of two inputs of one run lie so far apart."""


class LayerRunOracle:
    """Blames each target that does not answer as most others do."""

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding per target that deviates from the elected one."""
        if not isinstance(case, ModelCase):
            return []
        if case.check is Check.SAVE and case.is_one_layer:
            return _of_saving(case, outcomes, subject)
        present = {name: outcomes[name] for name in subject.targets if name in outcomes}
        if not present:
            return []
        inputs = precision_of(case)
        reference = elected(present, lambda one, other: _difference(one, other, inputs) is None)
        findings = []
        for name, outcome in present.items():
            difference = _difference(present[reference], outcome, inputs)
            if difference is None or not _is_meaningful(difference, case, subject):
                continue
            findings.append(_finding(case, present, (reference, name), difference, subject))
        return findings


def inputs_of(case: ModelCase) -> InputPrecision:
    """Return how exact the outputs of a run can be."""
    return inputs_given(
        case,
        ranges=[("float32", 0.0, 1.0) for data in case.data if isinstance(data, DataSample)],
        sizes=[math.prod(node.shape) for node in case.graph.nodes],  # stands for the weights too
    )


def precision_of(case: ModelCase) -> InputPrecision:
    """Return how exact all that comes of a run can be, gradients too."""
    inputs = inputs_of(case)
    return replace(inputs, condition=_OF_GRADIENTS) if case.check is Check.TRAIN else inputs


def _difference(one: Outcome, other: Outcome, inputs: InputPrecision) -> Difference | None:
    """Return how two runs differ, with the part of the result that does as detail."""
    if not isinstance(one, Passed) or not isinstance(other, Passed):
        return differs(one, other, inputs)
    if one.encoded == other.encoded:
        return None
    mine, theirs = decode_outputs(one.encoded), decode_outputs(other.encoded)
    if not isinstance(mine, Container) or not isinstance(theirs, Container):
        return None
    parts = dict(zip(theirs.keys, theirs.items, strict=False))
    for key, part in zip(mine.keys, mine.items, strict=False):
        if key not in parts:
            return Difference("structure", f"{key} on one of them only", key)
        found = compare_outputs(part, parts[key], inputs)
        if found is not None:
            detail = " ".join(filter(None, [key if key != "outputs" else "", found.detail]))
            return Difference(found.kind, found.text, detail)
    return None


def _is_meaningful(difference: Difference, case: ModelCase, subject: Subject) -> bool:
    if difference.kind == "accepted" or (case.is_one_layer and difference.kind == "exception"):
        return False
    if not case.is_one_layer:
        return difference.kind in _OF_ENDS
    return difference.kind not in _COMPUTED or not _is_unstable(case, subject)


def _is_unstable(case: ModelCase, subject: Subject) -> bool:
    """Return whether the values of a layer may differ: random layers do in training."""
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
        least = Severity.INFO if is_backends_own(difference, case) else severity
        severity = min(severity, least, severity_between_backends(difference))
    # LEMON, section 4.2: a unique bug is the deviating library and the layer.
    who = deviating.engine if pair is PairKind.BACKEND else ""
    detail = ": ".join(filter(None, [case.check.value, difference.detail, who]))
    what = f"{subject.api} ({case.check.value})"
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
        message=f"{what} differs in {difference.kind}: {difference.text}",
        evidence=evidence_between(targets, outcomes, pair, None),
    )


def _of_saving(
    case: ModelCase, outcomes: Mapping[str, Outcome], subject: Subject
) -> Sequence[Finding]:
    """Return one finding for all targets on which a layer computes otherwise once it was saved."""
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
            targets=tuple(name for name, one in broken.items() if one.kind == first.kind),
            detail=first.kind,
            message=f"{subject.api} is another layer once it was saved and loaded: {first.text}",
            evidence=Evidence(
                expected="the same outputs before and after",
                observed=first.text,
                law="A model that was saved and loaded computes what it computed before",
            ),
        )
    ]


def changed_by_saving(output: Output, inputs: InputPrecision) -> Difference | None:
    """Return how the outputs after saving and loading differ from those before, if they do."""
    match output:
        case Container(keys=("before", "after"), items=(before, after)):
            return compare_outputs(before, after, inputs)
        case _:
            return None


def nudged_run(case: ModelCase, seed: int) -> ModelCase:
    """Return the run with data and weights moved by one rounding.

    Each input in its own way: what was equal, as where two are merged, is not any more. Where
    gradients are compared zeros move too, since kinks are mostly there.
    """
    of_zero = dtypes.EPSILON["float32"] if case.check is Check.TRAIN else 0.0
    moved = tuple(
        replace(data, fill=moved_elements(data, seed + place * _PLACES_APART, of_zero=of_zero))
        if isinstance(data, ArrayValue) and data.dtype in dtypes.FLOATING
        else data
        for place, data in enumerate(case.data)
    )
    return replace(case, data=moved, nudge=seed or 1)
