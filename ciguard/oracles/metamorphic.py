"""The oracle `metamorphic`: a call and its twin, which must be equivalent, have other results."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ciguard.domain.findings import Evidence, Finding
from ciguard.domain.outcomes import Passed
from ciguard.execution import Container, decode_outputs
from ciguard.oracles.between_devices import must_relation_hold
from ciguard.oracles.contract import UNSTABLE_TAGS, Traits
from ciguard.oracles.levels import input_precision_of
from ciguard.oracles.relations import RELATIONS, REPETITION, Compares, observed_in
from ciguard.oracles.showing import output_in_words, side_by_side
from ciguard.targets import CPU

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.oracles.comparing.comparison import Difference
    from ciguard.oracles.contract import Subject
    from ciguard.oracles.relations import ObservedPair, Relation


class MetamorphicOracle:
    """Compares the result of a call with the result of its twin on the same target."""

    traits: ClassVar[Traits] = Traits(
        compares_results=True,
        needs_conforming=True,
        is_judged_alone=True,
        claim="the metamorphic relation “{kind}” is broken.",
        mark="DIFFERENT",
    )

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding for all targets on which the relation is violated in the same way."""
        relation = RELATIONS.items().get(case.relation)
        if relation is None or subject.tags & UNSTABLE_TAGS:
            return []
        inputs = input_precision_of(case)
        violations: dict[str, tuple[Difference, ObservedPair]] = {}
        for name, outcome in outcomes.items():
            output = decode_outputs(outcome.encoded) if isinstance(outcome, Passed) else None
            observed = observed_in(output, inputs) if output is not None else None
            difference = relation.find_violation(observed) if observed is not None else None
            if observed is None or difference is None:
                continue
            identity = subject.targets.get(name)
            is_on_cpu = identity is None or identity.device == CPU
            if is_on_cpu or must_relation_hold(
                difference, subject, is_repetition=relation is REPETITION
            ):
                violations[name] = (difference, observed)
        if not violations:
            return []
        first, observed = next(iter(violations.values()))
        targets = tuple(
            n for n, (difference, _) in violations.items() if difference.kind == first.kind
        )
        expected, observed_text = _expected_and_observed(relation, observed, first)
        return [
            Finding(
                oracle="metamorphic",
                kind=relation.name,
                severity=relation.severity,
                library=subject.library,
                api=subject.api,
                case=case,
                outcomes=dict(outcomes),
                targets=targets,
                detail=first.kind,
                message=f"{subject.api} breaks “{relation.name}”: {first.kind}: {first.text}",
                evidence=Evidence(
                    expected=expected,
                    observed=observed_text,
                    law=relation.law,
                    source=relation.source,
                ),
            )
        ]


def _expected_and_observed(
    relation: Relation, observed: ObservedPair, difference: Difference
) -> tuple[str, str]:
    """Return the result that the relation requires and the result that differs, as texts."""
    if observed.twin is None:
        return "no exception", f"twin: {observed.raised}: {difference.text}"
    if relation.compares is Compares.EMPTY_SHAPES:
        observed_text = f"twin: {output_in_words(observed.twin)}"
        return (
            f"call: {output_in_words(observed.first)}, and the twin the same without items",
            observed_text,
        )
    twin = observed.twin
    if relation.part is not None and isinstance(twin, Container):
        twin = twin.items[relation.part]
    observed_text, expected = side_by_side(observed.first, twin)
    return f"twin: {expected}", f"call: {observed_text}"


ORACLE = MetamorphicOracle()
