"""Metamorphic: a call and another computation that must come to the same do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain import Finding, Passed
from ciguard.execution import decode_outputs
from ciguard.oracles.contract import UNSTABLE_TAGS, registered
from ciguard.oracles.differential import inputs_in
from ciguard.oracles.relations import RELATIONS, observed_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain import Case, Outcome
    from ciguard.oracles.comparison import Difference
    from ciguard.oracles.contract import Subject


class MetamorphicOracle:
    """Holds each target's result against that of the twin on the same target."""

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding for all targets on which the relation is broken in the same way."""
        relation = RELATIONS.items().get(case.relation)
        if relation is None or subject.tags & UNSTABLE_TAGS:
            return []
        inputs = inputs_in(case)
        shown: dict[str, Difference] = {}
        for name, outcome in outcomes.items():
            output = decode_outputs(outcome.encoded) if isinstance(outcome, Passed) else None
            observed = observed_in(output, inputs) if output is not None else None
            difference = observed and relation.broken(observed)
            if difference:
                shown[name] = difference
        if not shown:
            return []
        first = next(iter(shown.values()))
        targets = tuple(name for name, one in shown.items() if one.kind == first.kind)
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
            )
        ]


registered("metamorphic", MetamorphicOracle)
