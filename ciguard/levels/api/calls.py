"""The calls of one API: draw every argument, then bend one or two of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import ApiCall
from ciguard.domain.intent import Intent
from ciguard.levels.api.forms import reforming
from ciguard.levels.api.layout import CallLayout
from ciguard.levels.api.mix import Bend, Mix
from ciguard.levels.api.nearby import Nearby
from ciguard.levels.api.search import search
from ciguard.levels.api.slots import ParameterSlot, is_drawn, slots_of
from ciguard.values import SamplingScope, takes_special, with_special

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

    from ciguard.domain.values import Value
    from ciguard.knowledge import Api, Parameter

_UNBENT = {Bend.NONE, Bend.SPECIAL}
_SEED_RANGE = 1 << 31
_INTENTS = {
    Bend.NONE: Intent.CONFORMING,
    Bend.VIOLATE: Intent.VIOLATING,
    Bend.ONE: Intent.BOUNDARY,
    Bend.TWO: Intent.BOUNDARY,
    Bend.MANY: Intent.BOUNDARY,
    Bend.SPECIAL: Intent.SPECIAL,
}
_OPTIONAL_REDRAWN = 0.5
_SEARCHED = 0.6


class CallGenerator:
    """Makes calls of one API. Compiled once, then fast."""

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
            api: what is known of it.
            examples: arguments of calls that passed, by parameter.
            plain: makes calls by the documentation alone; parts of it are used again.
            near: share of the calls that stay near an example.
            searches: nothing has passed yet: some calls try what is not known to be allowed.
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
        """Every parameter that a call may carry, in the order in which they are declared."""
        self._nearby = Nearby(self.slots, examples) if examples else None
        self._near = near if examples else 0.0
        self._searches = searches

    def call(self, rng: random.Random, mix: Mix) -> ApiCall:
        """Return the next call: conforming, violating or on the boundary, as the mix says."""
        bend = mix.bends(rng.random())
        if self._searches and bend is Bend.NONE and rng.random() < _SEARCHED:
            values, focus = search(rng, self.slots)
            return self._assembled(values, Intent.VIOLATING, focus, _seed(rng))
        focuses = self._focuses(rng, bend, mix)
        scope = self._conforming(rng, mix, focuses)
        for slot in focuses:
            mutators = slot.violate if bend is Bend.VIOLATE else slot.bound
            mutate = mutators[int(rng.random() * len(mutators))]
            scope.values[slot.name] = mutate(rng, scope, scope.values[slot.name])
        if bend is Bend.SPECIAL:
            focuses = self._with_special(rng, scope)
        intent = _INTENTS[bend] if focuses else Intent.CONFORMING
        return self._assembled(scope.values, intent, focuses, _seed(rng))

    def _focuses(self, rng: random.Random, bend: Bend, mix: Mix) -> tuple[ParameterSlot, ...]:
        """Return the parameters to bend; none for an API that has none that can be."""
        slots = self._breakable if bend is Bend.VIOLATE else self.slots
        if bend in _UNBENT or not slots:
            return ()
        first = _draw(rng, slots)
        if bend is Bend.TWO:
            return tuple(dict.fromkeys((first, _draw(rng, slots))))
        if bend is Bend.MANY:
            more = [s for s in slots if not s.share and s is not first and rng.random() < mix.bent]
            return (first, *more)
        return (first,)

    def _with_special(self, rng: random.Random, scope: SamplingScope) -> tuple[ParameterSlot, ...]:
        """Put NaN or an infinity into one of the tensors; return its slot, if there is one."""
        given = [(slot, scope.values.get(slot.name)) for slot in self.slots]
        able = [(slot, tensor) for slot, tensor in given if takes_special(tensor)]
        if not able:
            return ()
        slot, tensor = able[int(rng.random() * len(able))]
        scope.values[slot.name] = with_special(rng, tensor)
        return (slot,)

    def arguments(self, call: ApiCall) -> dict[str, Value]:
        """Return the arguments of a call by parameter; those of a built layer included."""
        values = self._layout.read(call.arguments, call.keywords)
        return values | dict(zip(self._inputs, call.inputs, strict=False))

    def _conforming(
        self, rng: random.Random, mix: Mix, focuses: tuple[ParameterSlot, ...]
    ) -> SamplingScope:
        if self._nearby is not None and rng.random() < self._near:
            return self._nearby.draw(rng, focuses)
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
    """Return the parameters with the need that the signature gives them.

    What was learned to be needed still goes by name: its place depends on those before it.
    """
    needed = {parameter.name: parameter.required for parameter in api.record.parameters}
    return [replace(p, required=needed.get(p.name, p.required)) for p in parameters]


def _seed(rng: random.Random) -> int:
    return int(rng.random() * _SEED_RANGE)


def _draw(rng: random.Random, slots: tuple[ParameterSlot, ...]) -> ParameterSlot:
    slot = slots[int(rng.random() * len(slots))]
    if slot.share and rng.random() < _OPTIONAL_REDRAWN:
        # Required parameters steer the computation; most optional ones are switches.
        return slots[int(rng.random() * len(slots))]
    return slot
