"""The calls of one API: draw every argument, then bend one or two of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain import ApiCall, Intent, ParameterKind, Value
from ciguard.levels.api.layout import Layout
from ciguard.levels.api.mix import Bend, Mix
from ciguard.values import (
    Mutation,
    Mutator,
    Sampler,
    Scope,
    boundaries,
    compile_sampler,
    references,
    violations,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from ciguard.knowledge import Api, Parameter

_NEVER_GIVEN = frozenset({"name"})
"""TensorFlow's label of an operation: it says nothing of the computation."""
_RARELY_GIVEN = frozenset({"out", "device", "layout", "pin_memory", "memory_format", "names"})
_RARELY = 0.1
_MOSTLY = 4.5
_SEED_RANGE = 1 << 31
_INTENTS = {
    Bend.NONE: Intent.CONFORMING,
    Bend.VIOLATE: Intent.VIOLATING,
    Bend.ONE: Intent.BOUNDARY,
    Bend.TWO: Intent.BOUNDARY,
    Bend.MANY: Intent.BOUNDARY,
}
_OPTIONAL_REDRAWN = 0.5


@dataclass(frozen=True, slots=True)
class _Slot:
    """One parameter, compiled."""

    name: str
    sample: Sampler
    share: float
    """How often it is given, relative to the mix's share of optional parameters; 0: always."""
    violate: tuple[Mutator, ...]
    bound: tuple[Mutator, ...]


class CallGenerator:
    """Makes calls of one API. Compiled once, then fast."""

    def __init__(self, api: Api) -> None:
        self._api = api.record.api
        self._kind = api.record.kind
        generated = [p for p in api.parameters if _is_drawn(p)]
        inputs = list(api.inputs)
        self._slots = tuple(map(_slot, _in_order_of_reference([*generated, *inputs])))
        self._breakable = tuple(slot for slot in self._slots if slot.violate)
        self._layout = Layout(generated, keywords_only=api.record.source == "opdef")
        self._inputs = tuple(parameter.name for parameter in inputs)

    def call(self, rng: random.Random, mix: Mix) -> ApiCall:
        """Return the next call: conforming, violating or on the boundary, as the mix says."""
        bend = mix.bends(rng.random())
        focuses = self._focuses(rng, bend, mix)
        scope = self._conforming(rng, mix, focuses)
        for slot in focuses:
            mutators = slot.violate if bend is Bend.VIOLATE else slot.bound
            mutate = mutators[int(rng.random() * len(mutators))]
            scope.values[slot.name] = mutate(rng, scope, scope.values[slot.name])
        intent = _INTENTS[bend] if focuses else Intent.CONFORMING
        return self._assembled(scope.values, intent, focuses, int(rng.random() * _SEED_RANGE))

    def _focuses(self, rng: random.Random, bend: Bend, mix: Mix) -> tuple[_Slot, ...]:
        """Return the parameters to bend; none for an API that has none that can be."""
        slots = self._breakable if bend is Bend.VIOLATE else self._slots
        if bend is Bend.NONE or not slots:
            return ()
        first = _draw(rng, slots)
        if bend is Bend.TWO:
            return tuple(dict.fromkeys((first, _draw(rng, slots))))
        if bend is Bend.MANY:
            more = [s for s in slots if not s.share and s is not first and rng.random() < mix.bent]
            return (first, *more)
        return (first,)

    def _conforming(self, rng: random.Random, mix: Mix, focuses: tuple[_Slot, ...]) -> Scope:
        scope = Scope()
        values = scope.values
        for slot in self._slots:
            share = slot.share
            if not share or rng.random() < share * mix.optional or slot in focuses:
                values[slot.name] = slot.sample(rng, scope)
        return scope

    def _assembled(
        self,
        values: dict[str, Value],
        intent: Intent,
        focuses: tuple[_Slot, ...],
        seed: int,
    ) -> ApiCall:
        arguments, keywords = self._layout.place(values)
        return ApiCall(
            api=self._api,
            kind=self._kind,
            arguments=arguments,
            keywords=keywords,
            inputs=tuple([values[name] for name in self._inputs]) if self._inputs else (),
            seed=seed,
            intent=intent,
            focus=focuses[0].name if focuses else "",
        )


def _draw(rng: random.Random, slots: tuple[_Slot, ...]) -> _Slot:
    slot = slots[int(rng.random() * len(slots))]
    if slot.share and rng.random() < _OPTIONAL_REDRAWN:
        # Required parameters steer the computation; most optional ones are switches.
        return slots[int(rng.random() * len(slots))]
    return slot


def _is_drawn(parameter: Parameter) -> bool:
    if parameter.name in _NEVER_GIVEN or parameter.kind is ParameterKind.VAR_KEYWORD:
        return False
    return parameter.is_generated or parameter.required


def _slot(parameter: Parameter) -> _Slot:
    constraint = parameter.constraint
    share = 0.0 if parameter.required else 1.0
    if parameter.kind is ParameterKind.VAR_POSITIONAL:
        share = _MOSTLY  # optional in the signature, but hardly ever meant to be left out
    elif share and parameter.name in _RARELY_GIVEN:
        share = _RARELY
    return _Slot(
        name=parameter.name,
        sample=compile_sampler(constraint),
        share=share,
        violate=_weighted(violations(constraint)),
        bound=_weighted(boundaries(constraint)),
    )


def _weighted(mutations: tuple[Mutation, ...]) -> tuple[Mutator, ...]:
    return tuple(m.mutate for m in mutations for _ in range(m.weight))


def _in_order_of_reference(parameters: Sequence[Parameter]) -> list[Parameter]:
    """Return the parameters so that each comes after those that it refers to.

    Of a circle of references the first parameter goes first: its reference restricts nothing then.
    """
    by_name = {parameter.name: parameter for parameter in parameters}
    ordered: dict[str, Parameter] = {}

    def visit(parameter: Parameter, path: frozenset[str]) -> None:
        if parameter.name in ordered or parameter.name in path:
            return
        for name in sorted(references(parameter.constraint)):
            if name in by_name:
                visit(by_name[name], path | {parameter.name})
        ordered.setdefault(parameter.name, parameter)

    for parameter in parameters:
        visit(parameter, frozenset())
    return list(ordered.values())
