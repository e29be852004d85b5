"""Calls of one API: every argument is drawn, and then some are mutated."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import ApiCall
from ciguard.domain.intent import Intent
from ciguard.levels.api.battery import battery_of, limits_of
from ciguard.levels.api.call_mix import CallMix, CallMutation
from ciguard.levels.api.forms import form_mutator, forms_of
from ciguard.levels.api.kinds import parameter_kind, value_kinds
from ciguard.levels.api.layout import CallLayout
from ciguard.levels.api.neighbours import NeighbourSampler
from ciguard.levels.api.options import options_of
from ciguard.levels.api.search import search
from ciguard.levels.api.slots import ParameterSlot, is_drawn, slots_of
from ciguard.values import SamplingScope, insert_special
from ciguard.values.changes import change_contents, mutate_jointly, numbers_at_limits

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.values import Value
    from ciguard.knowledge import Api, Parameter
    from ciguard.levels.api.battery import ChangedArguments
    from ciguard.values import Constraint

_WITHOUT_MUTATOR = {CallMutation.NONE, CallMutation.JOINT, CallMutation.SPECIAL}
_SEED_RANGE = 1 << 31
_INTENTS = {
    CallMutation.NONE: Intent.CONFORMING,
    CallMutation.VIOLATE: Intent.VIOLATING,
    CallMutation.ONE: Intent.BOUNDARY,
    CallMutation.TWO: Intent.BOUNDARY,
    CallMutation.MANY: Intent.BOUNDARY,
    CallMutation.JOINT: Intent.BOUNDARY,
    CallMutation.SPECIAL: Intent.SPECIAL,
}
_OPTIONAL_REDRAW_PROBABILITY = 0.5
_SEARCH_PROBABILITY = 0.6
_NEIGHBOUR_SHARE_OF_MUTATED = 0.5
"""Minimum share of mutated calls that resemble an example, if there is one."""
_MAX_FOLLOWED_SIZE = 4096
_FOLLOW_PROBABILITY = 0.4
"""Probability that arguments that refer to a mutated one are drawn again, to agree with it."""


class CallGenerator:
    """Generates calls of one API, from samplers that are compiled once."""

    def __init__(
        self,
        api: Api,
        examples: Sequence[Mapping[str, Value]] = (),
        *,
        base_generator: CallGenerator | None = None,
        neighbour_share: float = 0.0,
        is_searching: bool = False,
    ) -> None:
        """Compile the samplers of an API's calls.

        Args:
            api: the API with its constraints.
            examples: the arguments of calls that passed, by parameter.
            base_generator: a generator of the same API without feedback, whose compiled parts are
                reused; None to compile all parts.
            neighbour_share: the share of calls that resemble an example.
            is_searching: True to draw some arguments from values of every kind, since no call has
                passed yet.
        """
        self._api = api.record.api
        self._kind = api.record.kind
        module = self._api.partition(".")[0]
        is_operator = api.record.source == "opdef"
        self._forms = forms_of(module, of_operands=is_operator)
        drawn_parameters = [p for p in api.parameters if is_drawn(p)]
        inputs = list(api.inputs)
        base_slots = {slot.name: slot for slot in base_generator.slots} if base_generator else {}
        self.slots: tuple[ParameterSlot, ...] = slots_of(
            [*drawn_parameters, *inputs],
            base_slots,
            form_mutator=form_mutator(module, of_operands=is_operator),
        )
        self._layout = CallLayout(
            _with_declared_necessity(api, drawn_parameters),
            keywords_only=api.record.source == "opdef",
        )
        self._inputs = tuple(parameter.name for parameter in inputs)
        self.names = tuple(parameter.name for parameter in [*drawn_parameters, *inputs])
        """Names of all parameters that a call may pass, in the order of their declaration."""
        self._neighbours = NeighbourSampler(self.slots, examples) if examples else None
        self._neighbour_share = neighbour_share if examples else 0.0
        self._is_searching = is_searching

    def call(self, rng: random.Random, mix: CallMix) -> ApiCall:
        """Return the next call: conforming, violating or at a boundary, as the mix demands."""
        mutation = mix.choose_mutation(rng.random())
        if (
            self._is_searching
            and mutation is CallMutation.NONE
            and rng.random() < _SEARCH_PROBABILITY
        ):
            values, unconstrained = search(rng, self.slots)
            return self._assembled_call(values, Intent.VIOLATING, unconstrained, _seed(rng))
        mutated_slots = self._slots_to_mutate(rng, mutation, mix)
        is_mutated = mutation is not CallMutation.NONE
        scope = self._conforming_arguments(rng, mix, mutated_slots, is_mutated=is_mutated)
        for slot in mutated_slots:
            _mutate(rng, scope, slot, is_violating=mutation is CallMutation.VIOLATE)
        if mutated_slots and rng.random() < _FOLLOW_PROBABILITY:
            self._follow(rng, scope, mutated_slots)
        if mutation is CallMutation.SPECIAL:
            mutated_slots = self._with_special(rng, scope)
        elif mutation is CallMutation.JOINT:
            mutated_slots = self._slots_named(mutate_jointly(rng, scope.values))
        intent = _INTENTS[mutation] if mutated_slots else Intent.CONFORMING
        return self._assembled_call(scope.values, intent, mutated_slots, _seed(rng))

    @cached_property
    def _violable_slots(self) -> tuple[ParameterSlot, ...]:
        """Slots whose constraint can be violated."""
        return tuple(slot for slot in self.slots if slot.mutators.violating)

    @cached_property
    def _weighted_slots(self) -> tuple[ParameterSlot, ...]:
        """All slots, each as often as its arguments are to be mutated."""
        return tuple(slot for slot in self.slots for _ in range(slot.mutation_weight))

    def _slots_to_mutate(
        self, rng: random.Random, mutation: CallMutation, mix: CallMix
    ) -> tuple[ParameterSlot, ...]:
        """Return the slots of the parameters to mutate; empty if none is mutated."""
        slots = self._violable_slots if mutation is CallMutation.VIOLATE else self._weighted_slots
        if mutation in _WITHOUT_MUTATOR or not slots:
            return ()
        first = _draw_slot(rng, slots)
        if mutation is CallMutation.TWO:
            return tuple(dict.fromkeys((first, _draw_slot(rng, slots))))
        if mutation is CallMutation.MANY:
            other_slots = [
                s
                for s in self.slots
                if not s.share and s is not first and rng.random() < mix.mutation_probability
            ]
            return (first, *other_slots)
        return (first,)

    def _follow(
        self, rng: random.Random, scope: SamplingScope, mutated_slots: tuple[ParameterSlot, ...]
    ) -> None:
        """Draw the arguments again that refer to a mutated one, so that they agree with it."""
        changed_names = {slot.name for slot in mutated_slots}
        shapes = [shape for shape in map(scope.shape, changed_names) if shape]
        if any(max(shape) > _MAX_FOLLOWED_SIZE for shape in shapes):
            return  # a tensor without elements may have a huge size, but others would allocate it
        for slot in self.slots:
            if slot.name not in scope.values or slot in mutated_slots:
                continue
            if not changed_names.isdisjoint(slot.referenced_parameters):
                scope.values[slot.name] = slot.sample(rng, scope)
                changed_names.add(slot.name)

    def _with_special(self, rng: random.Random, scope: SamplingScope) -> tuple[ParameterSlot, ...]:
        """Put NaN or an infinity into one tensor and return its slot; empty without tensors."""
        passed = [slot.name for slot in self.slots if slot.name in scope.values]
        values = {name: scope.values[name] for name in passed}
        names = insert_special(rng, values)
        scope.values.update(values)
        return self._slots_named(names)

    def example(self, values: Mapping[str, Value], rng: random.Random) -> ApiCall:
        """Return the call with the given arguments, such as those of a call that passed."""
        known = {name: value for name, value in values.items() if name in self.names}
        return self._assembled_call(known, Intent.CONFORMING, (), _seed(rng))

    def with_contents(
        self, call: ApiCall, rng: random.Random, number: int | None = None
    ) -> ApiCall | None:
        """Return a call with other elements in its tensors; None if it has no tensor.

        Successive numbers go through the kinds of elements; None draws one.
        """
        values = self.arguments(call)
        slots = self._slots_named(change_contents(rng, values, number))
        return self._assembled_call(values, Intent.SPECIAL, slots, _seed(rng)) if slots else None

    def with_option(self, call: ApiCall, number: int, rng: random.Random) -> ApiCall | None:
        """Return a call with one argument replaced or added.

        Args:
            call: the call.
            number: the number of the option: successive numbers go through the listed values,
                axes and dtypes of all parameters, values next to their ranges, and values of those
                without a list.
            rng: source of randomness.

        Returns:
            None if the API has no options.
        """
        scope = SamplingScope()
        scope.values.update(self.arguments(call))
        options = list(options_of(self.slots, scope, rng))
        if not options:
            return None
        option = options[number % len(options)]
        values = {**scope.values, option.parameter: option.value}
        intent = Intent.CONFORMING if option.is_within_range else Intent.SPECIAL
        slots = () if option.is_within_range else self._slots_named((option.parameter,))
        return self._assembled_call(values, intent, slots, _seed(rng))

    def with_number_at_limit(
        self, call: ApiCall, number: int, rng: random.Random
    ) -> ApiCall | None:
        """Return a call with one number, or list of numbers, at a limit; None if it has none.

        Successive numbers go through the parameters and their limits.
        """
        values = self.arguments(call)
        changes = list(numbers_at_limits(values))
        if not changes:
            return None
        name, value = changes[number % len(changes)]
        slots = self._slots_named((name,))
        return self._assembled_call({**values, name: value}, Intent.BOUNDARY, slots, _seed(rng))

    def battery(self, call: ApiCall, rng: random.Random) -> list[ApiCall]:
        """Return the calls with each change of one argument, and of all tensors alike, once."""
        scope = SamplingScope()
        scope.values.update(self.arguments(call))
        changes = battery_of(self.slots, scope, rng, forms=self._forms)
        return [self._changed_call(change, call.intent, rng) for change in changes]

    def at_limits(self, call: ApiCall, rng: random.Random) -> list[ApiCall]:
        """Return the calls with each change of one argument to a limit, once."""
        scope = SamplingScope()
        scope.values.update(self.arguments(call))
        changes = limits_of(self.slots, scope, rng)
        return [self._changed_call(change, Intent.BOUNDARY, rng) for change in changes]

    def _changed_call(
        self, change: ChangedArguments, intent: Intent, rng: random.Random
    ) -> ApiCall:
        """Return the call with changed arguments, with `intent` if they conform."""
        slots = () if change.conforms else self._slots_named(change.parameters)
        intent = intent if change.conforms else Intent.BOUNDARY
        return self._assembled_call(dict(change.values), intent, slots, _seed(rng))

    def with_joint_change(self, call: ApiCall, rng: random.Random) -> ApiCall | None:
        """Return a call whose tensors all have another size, rank, dtype or content alike.

        None if it has no tensor.
        """
        values = self.arguments(call)
        slots = self._slots_named(mutate_jointly(rng, values))
        return self._assembled_call(values, Intent.SPECIAL, slots, _seed(rng)) if slots else None

    def _slots_named(self, names: Sequence[str]) -> tuple[ParameterSlot, ...]:
        return tuple([slot for slot in self.slots if slot.name in names])

    def arguments(self, call: ApiCall) -> dict[str, Value]:
        """Return the arguments of a call by parameter, including the inputs of a layer."""
        values = self._layout.read(call.arguments, call.keywords)
        return values | dict(zip(self._inputs, call.inputs, strict=False))

    def argument_kinds(self, call: ApiCall) -> Iterator[tuple[str, str]]:
        """Yield the kinds of each argument's parameter and value; see `TabulatedLevel`."""
        for name, value in self.arguments(call).items():
            row, constraint = self._parameter_kinds.get(name, ("", None))
            if row and constraint is not None:
                yield from ((row, kind) for kind in value_kinds(row, constraint, value))

    @cached_property
    def _parameter_kinds(self) -> Mapping[str, tuple[str, Constraint]]:
        """Kind and constraint of each parameter."""
        return {s.name: (parameter_kind(s.constraint), s.constraint) for s in self.slots}

    def _conforming_arguments(
        self,
        rng: random.Random,
        mix: CallMix,
        mutated_slots: tuple[ParameterSlot, ...],
        *,
        is_mutated: bool,
    ) -> SamplingScope:
        """Return arguments that satisfy all constraints."""
        share = self._neighbour_share
        if is_mutated and share:
            share = max(share, _NEIGHBOUR_SHARE_OF_MUTATED)
        if self._neighbours is not None and rng.random() < share:
            return self._neighbours.draw(rng, mutated_slots, is_mutated=is_mutated)
        scope = SamplingScope()
        values = scope.values
        for slot in self.slots:
            share = slot.share
            if not share or rng.random() < share * mix.optional or slot in mutated_slots:
                values[slot.name] = slot.sample(rng, scope)
        return scope

    def _assembled_call(
        self,
        values: dict[str, Value],
        intent: Intent,
        mutated_slots: tuple[ParameterSlot, ...],
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
            focus=mutated_slots[0].name if mutated_slots else "",
        )


def _with_declared_necessity(api: Api, parameters: Sequence[Parameter]) -> list[Parameter]:
    """Return the parameters, each marked as required or optional as in the signature.

    A parameter that feedback made required is still passed by keyword, since its position depends
    on the parameters before it.
    """
    is_required = {parameter.name: parameter.required for parameter in api.record.parameters}
    return [replace(p, required=is_required.get(p.name, p.required)) for p in parameters]


def _seed(rng: random.Random) -> int:
    return int(rng.random() * _SEED_RANGE)


def _mutate(
    rng: random.Random, scope: SamplingScope, slot: ParameterSlot, *, is_violating: bool
) -> None:
    """Replace the argument of a slot by a mutation of it."""
    mutators = slot.mutators.violating if is_violating else slot.mutators.boundary
    mutate = mutators[int(rng.random() * len(mutators))]
    scope.values[slot.name] = mutate(rng, scope, scope.values[slot.name])


def _draw_slot(rng: random.Random, slots: tuple[ParameterSlot, ...]) -> ParameterSlot:
    slot = slots[int(rng.random() * len(slots))]
    if slot.share and rng.random() < _OPTIONAL_REDRAW_PROBABILITY:
        # Required parameters determine the computation, but most optional ones are switches.
        return slots[int(rng.random() * len(slots))]
    return slot
