"""Refinement: constraints that are improved by the outcomes of earlier calls.

Documentation is incomplete. `Experience` counts which choices passed and which were rejected. It
keeps requirements from messages of rejections, and a few calls that passed. `refined` improves
constraints by an experience, and `refinements` describes the changes.

A call that crashes, hangs or raises an internal error counts as passed: validation accepted it, and
the choices that cause such defects must never become rarer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import CallKind
from ciguard.domain.records import ParameterKind
from ciguard.knowledge.api import Parameter
from ciguard.knowledge.clues import Structure
from ciguard.knowledge.compose import constraint_of
from ciguard.knowledge.merge import merge
from ciguard.knowledge.refinement.messages import Presence
from ciguard.knowledge.refinement.traits import GIVEN, OMITTED
from ciguard.knowledge.refinement.weights import Odds, weighted
from ciguard.knowledge.understand import with_learned_clues
from ciguard.values import List, OneOf, Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.records import ApiRecord
    from ciguard.knowledge.api import Api
    from ciguard.knowledge.clues import Clue
    from ciguard.knowledge.refinement.experience import Experience, StatedRequirement


@dataclass(frozen=True, slots=True, kw_only=True)
class Refinement:
    """Description of one change that the outcomes of calls made to a parameter's constraint."""

    api: str
    """Name of the API."""
    parameter: str
    """Name of the parameter."""
    aspect: str
    """Origin of the change: `message` for messages of rejections, `outcomes` for counts."""
    change: str
    """Clause that describes the change, such as `is always passed`."""
    evidence: str
    """Message or counts that caused the change."""


_REPORTED_FACTOR = 2.0
"""Minimum change of a trait's odds, in either direction, that is reported."""
_MIN_CALLS = 8
"""Minimum number of conforming calls before their counts are applied."""
_MIN_FREQUENCY, _MAX_FREQUENCY = 0.1, 4.0


def refined(api: Api, experience: Experience) -> Api:
    """Return the API with constraints that the outcomes of earlier calls have improved."""
    record = api.record
    clues = experience.clues()
    if clues:
        api = with_learned_clues(api, clues)
    omitted_names = {r.parameter for r in experience.requirements if r.presence is Presence.NEVER}
    declared_parameters = [p for p in api.parameters if p.required or p.name not in omitted_names]
    return replace(
        api,
        parameters=(
            *(_refined_by_counts(p, experience) for p in declared_parameters),
            *_undeclared_parameters(record, experience, clues),
        ),
        inputs=tuple(
            _refined_by_counts(_refined_by_messages(p, clues.get(p.name, ())), experience)
            for p in api.inputs
        ),
    )


def _undeclared_parameters(
    record: ApiRecord, experience: Experience, clues: Mapping[str, Sequence[Clue]]
) -> Iterator[Parameter]:
    """Yield the parameters that only messages mention, as keyword-only parameters.

    Their position is unknown.
    """
    names = {p.name for p in record.parameters}
    if record.kind is CallKind.LAYER:
        return  # the parameter may belong to the constructor or to the call of the layer
    for requirement in experience.requirements:
        is_new = requirement.parameter not in names and ":" not in requirement.parameter
        if (
            is_new
            and requirement.presence is Presence.ALWAYS
            and experience.is_applied(requirement)
        ):
            names.add(requirement.parameter)
            merged, evidence = merge(clues.get(requirement.parameter, ()))
            yield Parameter(
                name=requirement.parameter,
                constraint=constraint_of(merged, unsupported=record.lacks),
                kind=ParameterKind.KEYWORD_ONLY,
                evidence=evidence,
            )


def _refined_by_messages(parameter: Parameter, clues: Sequence[Clue]) -> Parameter:
    """Return a constructed layer's parameter with the constraints that messages state.

    Readers of documentation have no clues about such a parameter.
    """
    constraint = parameter.constraint
    for clue in clues:
        if clue.allowed:
            return replace(parameter, constraint=OneOf(clue.allowed))
        if clue.structures == (Structure.TENSORS,):
            item = Tensor(dtypes=("float32",), ndim=(2, 4))
            return replace(parameter, constraint=List(item=item, length=(2, 3), uniform=True))
        if not isinstance(constraint, Tensor):
            continue
        if clue.ndim:
            constraint = replace(constraint, ndim=clue.ndim, shape=None, shape_of="")
        constraint = replace(
            constraint,
            dtypes=clue.dtypes or constraint.dtypes,
            dtype_of=clue.dtype_of or constraint.dtype_of,
            shape_of=clue.shape_of or constraint.shape_of,
            low=constraint.low if clue.low is None else clue.low,
            high=constraint.high if clue.high is None else clue.high,
        )
    return replace(parameter, constraint=constraint)


def _refined_by_counts(parameter: Parameter, experience: Experience) -> Parameter:
    """Return the parameter with its constraint and frequency adapted to the pass rates."""
    must_be_passed = any(
        requirement.parameter == parameter.name and requirement.presence is Presence.ALWAYS
        for requirement in experience.requirements
    )
    if experience.judged < _MIN_CALLS:
        return replace(parameter, required=parameter.required or must_be_passed)
    odds = Odds(experience.counts.get(parameter.name, {}), experience.pass_rate, experience.lead)
    frequency = odds(GIVEN) / odds(OMITTED[0])
    return replace(
        parameter,
        constraint=weighted(parameter.constraint, odds),
        required=parameter.required or must_be_passed,
        frequency=min(max(frequency, _MIN_FREQUENCY), _MAX_FREQUENCY),
    )


def refinements(record: ApiRecord, experience: Experience) -> tuple[Refinement, ...]:
    """Return the changes that the outcomes of calls made to an API's constraints."""
    by_messages = [
        Refinement(
            api=record.api,
            parameter=requirement.parameter,
            aspect="message",
            change=_change_text(requirement),
            evidence=f"{requirement.message} ({requirement.count} times)",
        )
        for requirement in experience.requirements
        if experience.is_applied(requirement)
    ]
    by_counts = [
        Refinement(
            api=record.api,
            parameter=name,
            aspect="outcomes",
            change=f"{trait} is drawn {'more' if factor > 1 else 'less'} often",
            evidence=f"{passed} of {passed + rejected} calls passed "
            f"(all calls: {experience.pass_rate:.0%})",
        )
        for name, counts_by_trait in experience.counts.items()
        for trait, (passed, rejected) in counts_by_trait.items()
        for factor in [Odds(counts_by_trait, experience.pass_rate)(trait)]
        if passed + rejected >= _MIN_CALLS and not 1 / _REPORTED_FACTOR < factor < _REPORTED_FACTOR
    ]
    return (*by_messages, *by_counts)


def _change_text(requirement: StatedRequirement) -> str:
    if requirement.presence is Presence.ALWAYS:
        return "is always passed"
    if requirement.presence is Presence.NEVER:
        return "is never passed"
    return ", ".join(f"{key} is {value}" for key, value in requirement.fields.items())
