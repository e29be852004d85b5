"""Refinement: what the outcomes of earlier calls teach of an API's parameters.

Documentation is incomplete. `Experience` counts which choices passed and which were refused, keeps
what messages said, and a few calls that passed. `refined` turns it into better constraints, and
`refinements` says what was learned and why. All of it is plain data that a run can store.

A call that crashes, hangs or escapes with an internal error counts as passed: it got past
validation, and the choices that led there must never become rarer.
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
from ciguard.knowledge.understand import understand
from ciguard.values import List, OneOf, Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.records import ApiRecord
    from ciguard.knowledge.api import Api
    from ciguard.knowledge.clues import Clue
    from ciguard.knowledge.refinement.experience import Experience, ParameterMessages


@dataclass(frozen=True, slots=True, kw_only=True)
class Refinement:
    """One thing that outcomes have taught of a parameter, in words, and why it is believed."""

    api: str
    parameter: str
    aspect: str
    """`message`: a rejection said so; `outcomes`: it shows in the counts."""
    change: str
    """What is drawn differently now."""
    evidence: str
    """The message, or the counts."""


_TELLING = 2.0
_FEW = 8
"""Calls that must have been judged before their counts steer anything."""
_MIN_GIVEN, _MAX_GIVEN = 0.1, 4.0


def refined(api: Api, experience: Experience) -> Api:
    """Return what is known of an API by its documentation and by the outcomes of earlier calls."""
    record = api.record
    clues = experience.clues()
    if clues:
        api = understand(record, clues)
    never = {said.parameter for said in experience.said if said.presence is Presence.NEVER}
    kept = [p for p in api.parameters if p.required or p.name not in never]
    return replace(
        api,
        parameters=(
            *(_refined(p, experience) for p in kept),
            *_unheard(record, experience, clues),
        ),
        inputs=tuple(_refined(_told(p, clues.get(p.name, ())), experience) for p in api.inputs),
    )


def _unheard(
    record: ApiRecord, experience: Experience, clues: Mapping[str, Sequence[Clue]]
) -> Iterator[Parameter]:
    """Yield the parameters that only messages tell of; by name, as their place is unknown."""
    names = {p.name for p in record.parameters}
    if record.kind is CallKind.LAYER:
        return  # it may be the constructor's or the built object's
    for said in experience.said:
        is_new = said.parameter not in names and ":" not in said.parameter
        if is_new and said.presence is Presence.ALWAYS and experience.heeds(said):
            names.add(said.parameter)
            merged, evidence = merge(clues.get(said.parameter, ()))
            yield Parameter(
                name=said.parameter,
                constraint=constraint_of(merged, lacks=record.lacks),
                kind=ParameterKind.KEYWORD_ONLY,
                evidence=evidence,
            )


def _told(parameter: Parameter, clues: Sequence[Clue]) -> Parameter:
    """Return what a built layer takes, as messages tell: no reader knows more of it."""
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


def _refined(parameter: Parameter, experience: Experience) -> Parameter:
    must = any(
        said.parameter == parameter.name and said.presence is Presence.ALWAYS
        for said in experience.said
    )
    if experience.judged < _FEW:
        return replace(parameter, required=parameter.required or must)
    odds = Odds(experience.counts.get(parameter.name, {}), experience.pass_rate, experience.lead)
    given = odds(GIVEN) / odds(OMITTED[0])
    return replace(
        parameter,
        constraint=weighted(parameter.constraint, odds),
        required=parameter.required or must,
        given=min(max(given, _MIN_GIVEN), _MAX_GIVEN),
    )


def refinements(record: ApiRecord, experience: Experience) -> tuple[Refinement, ...]:
    """Return what was learned of an API, in words."""
    heard = [
        Refinement(
            api=record.api,
            parameter=said.parameter,
            aspect="message",
            change=_in_words(said),
            evidence=f"{said.message} ({said.count} times)",
        )
        for said in experience.said
        if experience.heeds(said)
    ]
    counted = [
        Refinement(
            api=record.api,
            parameter=name,
            aspect="outcomes",
            change=f"{trait} is drawn {'more' if factor > 1 else 'less'} often",
            evidence=f"{passed} of {passed + refused} calls passed; "
            f"{experience.pass_rate:.0%} of all",
        )
        for name, seen in experience.counts.items()
        for trait, (passed, refused) in seen.items()
        for factor in [Odds(seen, experience.pass_rate)(trait)]
        if passed + refused >= _FEW and not 1 / _TELLING < factor < _TELLING
    ]
    return (*heard, *counted)


def _in_words(said: ParameterMessages) -> str:
    if said.presence is Presence.ALWAYS:
        return "is always given"
    if said.presence is Presence.NEVER:
        return "is never given"
    return ", ".join(f"{key} is {value}" for key, value in said.fields.items())
