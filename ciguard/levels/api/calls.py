"""Calls of one API: draw every argument, then mutate one or more of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import ApiCall
from ciguard.domain.intent import Intent
from ciguard.levels.api.call_mix import CallMix, CallMutation
from ciguard.levels.api.forms import reforming
from ciguard.levels.api.layout import CallLayout
from ciguard.levels.api.neighbours import NeighbourSampler
from ciguard.levels.api.search import search
from ciguard.levels.api.slots import ParameterSlot, is_drawn, slots_of
from ciguard.values import SamplingScope, takes_special, with_special

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

    from ciguard.domain.values import Value
    from ciguard.knowledge import Api, Parameter

_WITHOUT_FOCUS = {CallMutation.NONE, CallMutation.SPECIAL}
_SEED_RANGE = 1 << 31
_INTENTS = {
    CallMutation.NONE: Intent.CONFORMING,
    CallMutation.VIOLATE: Intent.VIOLATING,
    CallMutation.ONE: Intent.BOUNDARY,
    CallMutation.TWO: Intent.BOUNDARY,
    CallMutation.MANY: Intent.BOUNDARY,
    CallMutation.SPECIAL: Intent.SPECIAL,
}
_OPTIONAL_REDRAW_PROBABILITY = 0.5
_SEARCH_PROBABILITY = 0.6


class CallGenerator:
    """Generates calls of one API, from samplers that are compiled once."""

    def __init__(
        self,
        api: Api,
        examples: Sequence[Mapping[str, Value]] = (),
        *,
        plain: CallGenerator | None = None,
        near: float = 0.0,
        searches: bool = False,
    ) -> None:
        """Compile the calls of an API.

        Args:
            api: the API with its constraints.
            examples: arguments of calls that passed, by parameter.
            plain: the generator that knows the documentation only; its compiled parts are reused.
            near: the share of calls that resemble an example.
            searches: True if no call has passed, so that some calls try undocumented values.
        """
        self._api = api.record.api
        self._kind = api.record.kind
        generated = [p for p in api.parameters if is_drawn(p)]
        inputs = list(api.inputs)
        known = {slot.name: slot for slot in plain.slots} if plain else {}
        self.slots: tuple[ParameterSlot, ...] = slots_of(
            [*generated, *inputs], known, reform=reforming(api.record.api.partition(".")[0])
        )
        self._breakable = tuple(slot for slot in self.slots if slot.violate)
        self._layout = CallLayout(
            _as_declared(api, generated), keywords_only=api.record.source == "opdef"
        )
        self._inputs = tuple(parameter.name for parameter in inputs)
        self.names = tuple(parameter.name for parameter in [*generated, *inputs])
        """All parameters that a call may have, in the order of their declaration."""
        self._neighbours = NeighbourSampler(self.slots, examples) if examples else None
        self._neighbour_share = near if examples else 0.0
        self._searches = searches

    def call(self, rng: random.Random, mix: CallMix) -> ApiCall:
        """Return the next call: conforming, violating or at a boundary, as the mix demands."""
        mutation = mix.choose_mutation(rng.random())
        if self._searches and mutation is CallMutation.NONE and rng.random() < _SEARCH_PROBABILITY:
            values, focus = search(rng, self.slots)
            return self._assembled(values, Intent.VIOLATING, focus, _seed(rng))
        focuses = self._focuses(rng, mutation, mix)
        scope = self._conforming(rng, mix, focuses)
        for slot in focuses:
            mutators = slot.violate if mutation is CallMutation.VIOLATE else slot.bound
            mutate = mutators[int(rng.random() * len(mutators))]
            scope.values[slot.name] = mutate(rng, scope, scope.values[slot.name])
        if mutation is CallMutation.SPECIAL:
            focuses = self._with_special(rng, scope)
        intent = _INTENTS[mutation] if focuses else Intent.CONFORMING
        return self._assembled(scope.values, intent, focuses, _seed(rng))

    def _focuses(
        self, rng: random.Random, mutation: CallMutation, mix: CallMix
    ) -> tuple[ParameterSlot, ...]:
        """Return the parameters to mutate; empty if none can be mutated."""
        slots = self._breakable if mutation is CallMutation.VIOLATE else self.slots
        if mutation in _WITHOUT_FOCUS or not slots:
            return ()
        first = _draw(rng, slots)
        if mutation is CallMutation.TWO:
            return tuple(dict.fromkeys((first, _draw(rng, slots))))
        if mutation is CallMutation.MANY:
            others = [
                s
                for s in slots
                if not s.share and s is not first and rng.random() < mix.mutation_probability
            ]
            return (first, *others)
        return (first,)

    def _with_special(self, rng: random.Random, scope: SamplingScope) -> tuple[ParameterSlot, ...]:
        """Put NaN or an infinity into one of the tensors; return its slot, if there is one."""
        values = [(slot, scope.values.get(slot.name)) for slot in self.slots]
        candidates = [(slot, tensor) for slot, tensor in values if takes_special(tensor)]
        if not candidates:
            return ()
        slot, tensor = candidates[int(rng.random() * len(candidates))]
        scope.values[slot.name] = with_special(rng, tensor)
        return (slot,)

    def arguments(self, call: ApiCall) -> dict[str, Value]:
        """Return the arguments of a call by parameter, including the inputs of a layer."""
        values = self._layout.read(call.arguments, call.keywords)
        return values | dict(zip(self._inputs, call.inputs, strict=False))

    def _conforming(
        self, rng: random.Random, mix: CallMix, focuses: tuple[ParameterSlot, ...]
    ) -> SamplingScope:
        """Return arguments that keep all constraints."""
        if self._neighbours is not None and rng.random() < self._neighbour_share:
            return self._neighbours.draw(rng, focuses)
        scope = SamplingScope()
        values = scope.values
        for slot in self.slots:
            share = slot.share
            if not share or rng.random() < share * mix.optional or slot in focuses:
                values[slot.name] = slot.sample(rng, scope)
        return scope

    def _assembled(
        self,
        values: dict[str, Value],
        intent: Intent,
        focuses: tuple[ParameterSlot, ...],
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


def _as_declared(api: Api, parameters: Sequence[Parameter]) -> list[Parameter]:
    """Return the parameters, required or optional as in the signature.

    A parameter that feedback made required is still passed by keyword, as its position depends on
    the ones before.
    """
    needed = {parameter.name: parameter.required for parameter in api.record.parameters}
    return [replace(p, required=needed.get(p.name, p.required)) for p in parameters]


def _seed(rng: random.Random) -> int:
    return int(rng.random() * _SEED_RANGE)


def _draw(rng: random.Random, slots: tuple[ParameterSlot, ...]) -> ParameterSlot:
    slot = slots[int(rng.random() * len(slots))]
    if slot.share and rng.random() < _OPTIONAL_REDRAW_PROBABILITY:
        # Required parameters determine the computation; most optional ones are switches.
        return slots[int(rng.random() * len(slots))]
    return slot
