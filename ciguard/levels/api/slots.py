"""Slots: the parameters of an API, compiled to samplers and mutators of their arguments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from ciguard.domain.records import ParameterKind
from ciguard.values import (
    AnyOf,
    Array,
    Ints,
    Mutation,
    Mutator,
    Optional,
    Sampler,
    Tensor,
    boundaries,
    compile_sampler,
    has_symbols,
    references,
    violations,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

    from ciguard.domain.values import Value
    from ciguard.knowledge import Parameter
    from ciguard.values import Constraint, SamplingScope

_EXCLUDED_PARAMETERS = frozenset({"name"})
"""Parameters that calls never pass: `name` is only TensorFlow's label of an operation."""
_RARE_PARAMETERS = frozenset({"out", "device", "layout", "pin_memory", "memory_format", "names"})
_RARE_SHARE = 0.1
"""`ParameterSlot.share` of rare parameters."""
_VARIADIC_SHARE = 4.5
"""`ParameterSlot.share` of variadic parameters, such as `*args`."""


_INTS_WEIGHT = 3
"""`ParameterSlot.mutation_weight` of sizes, strides and axes. A mutation of these crashed ten times
as many operators of PyTorch as one of other arguments; see docs/benchmarks.md."""


class SlotMutators:
    """Mutators of a parameter, which depend on its documentation only.

    They are compiled when they are first needed, as compiling takes long.
    """

    def __init__(self, constraint: Constraint, form_mutator: Mutator | None) -> None:
        """Prepare the mutators of a documented constraint.

        Args:
            constraint: the constraint.
            form_mutator: the mutator that changes a tensor's storage form; None if there is none.
        """
        self._constraint = constraint
        self._form_mutator = form_mutator

    @cached_property
    def violating(self) -> tuple[Mutator, ...]:
        """Mutators whose results violate the constraint."""
        return _weighted(violations(self._constraint))

    @cached_property
    def boundary(self) -> tuple[Mutator, ...]:
        """Mutators whose results are at the boundary of the constraint."""
        constraint = self._constraint
        inner = constraint.inner if isinstance(constraint, Optional) else constraint
        plain = _weighted(boundaries(constraint))
        form = self._form_mutator
        if form is None or not _may_be_tensor(inner):
            return plain
        return (*plain, *(form,) * 4, *(partial(_mutate_twice, first=plain, second=form),) * 2)


@dataclass(frozen=True, slots=True, eq=False)
class ParameterSlot:
    """One compiled parameter. Slots are compared by identity."""

    name: str
    """Name of the parameter."""
    constraint: Constraint
    """Constraint on the argument."""
    sample: Sampler
    """Function that draws an argument that satisfies the constraint."""
    share: float
    """Frequency with which calls pass the parameter, relative to `CallMix.optional`; 0 means
    always."""
    mutators: SlotMutators
    """Mutators of the argument."""
    referenced_parameters: frozenset[str]
    """Names of the parameters to which the constraint refers."""
    is_sized: bool
    """True if the shape has symbols, which other parameters may share."""
    mutation_weight: int
    """Frequency with which the argument is mutated, relative to other parameters."""


def slots_of(
    parameters: Sequence[Parameter],
    base_slots: Mapping[str, ParameterSlot] | None = None,
    *,
    form_mutator: Mutator | None = None,
) -> tuple[ParameterSlot, ...]:
    """Return the compiled parameters, each after the parameters to which it refers.

    Args:
        parameters: the parameters with their constraints.
        base_slots: the slots of the parameters without feedback, by name. Their mutators are
            reused.
        form_mutator: the mutator that changes a tensor's storage form; None if there is none.
    """
    base_slots_by_name = base_slots or {}
    referenced = {p.name: references(p.constraint) for p in parameters}
    return tuple(
        _slot(p, base_slots_by_name.get(p.name), form_mutator, referenced[p.name])
        for p in _in_order_of_reference(parameters, referenced)
    )


def is_drawn(parameter: Parameter) -> bool:
    """Return whether calls may pass an argument for a parameter."""
    if parameter.name in _EXCLUDED_PARAMETERS or parameter.kind is ParameterKind.VAR_KEYWORD:
        return False
    return parameter.is_generated or parameter.required


def _slot(
    parameter: Parameter,
    base_slot: ParameterSlot | None,
    form_mutator: Mutator | None,
    referenced: frozenset[str],
) -> ParameterSlot:
    constraint = parameter.constraint
    share = 0.0 if parameter.required and not _is_probably_optional(parameter) else 1.0
    if parameter.kind is ParameterKind.VAR_POSITIONAL:
        share = _VARIADIC_SHARE  # optional in the signature, but mostly passed
    elif share and parameter.name in _RARE_PARAMETERS:
        share = _RARE_SHARE
    share *= parameter.frequency
    if base_slot is not None and base_slot.constraint == constraint:
        return replace(base_slot, share=share)
    return ParameterSlot(
        name=parameter.name,
        constraint=constraint,
        sample=compile_sampler(constraint),
        share=share,
        mutators=base_slot.mutators if base_slot else SlotMutators(constraint, form_mutator),
        referenced_parameters=referenced,
        is_sized=has_symbols(constraint),
        mutation_weight=_INTS_WEIGHT if _may_be_ints(constraint) else 1,
    )


def _is_probably_optional(parameter: Parameter) -> bool:
    """Return whether a parameter is probably optional, although its default is not documented.

    PyTorch's `out` is an example.
    """
    is_by_name = parameter.kind is ParameterKind.KEYWORD_ONLY
    takes_none = isinstance(parameter.constraint, Optional)
    return is_by_name and takes_none and parameter.name in _RARE_PARAMETERS


def _mutate_twice(
    rng: random.Random,
    scope: SamplingScope,
    current: Value,
    *,
    first: tuple[Mutator, ...],
    second: Mutator,
) -> Value:
    """Return the value with one of several mutations, and then another one."""
    mutate = first[int(rng.random() * len(first))]
    return second(rng, scope, mutate(rng, scope, current))


def _may_be_tensor(constraint: Constraint) -> bool:
    match constraint:
        case AnyOf(options):
            return any(_may_be_tensor(option) for _, option in options)
        case _:
            return isinstance(constraint, Tensor) and not isinstance(constraint, Array)


def _may_be_ints(constraint: Constraint) -> bool:
    match constraint:
        case Optional(inner):
            return _may_be_ints(inner)
        case AnyOf(options):
            return any(_may_be_ints(option) for _, option in options)
        case _:
            return isinstance(constraint, Ints)


def _weighted(mutations: tuple[Mutation, ...]) -> tuple[Mutator, ...]:
    return tuple(m.mutate for m in mutations for _ in range(m.weight))


def _in_order_of_reference(
    parameters: Sequence[Parameter], referenced: Mapping[str, frozenset[str]]
) -> list[Parameter]:
    """Return the parameters, each after the parameters to which its constraint refers.

    In a cycle of references, the first parameter comes first, and its reference has no effect.
    """
    by_name = {parameter.name: parameter for parameter in parameters}
    ordered_parameters: dict[str, Parameter] = {}

    def visit(parameter: Parameter, path: frozenset[str]) -> None:
        if parameter.name in ordered_parameters or parameter.name in path:
            return
        for name in sorted(referenced[parameter.name]):
            if name in by_name:
                visit(by_name[name], path | {parameter.name})
        ordered_parameters.setdefault(parameter.name, parameter)

    for parameter in parameters:
        visit(parameter, frozenset())
    return list(ordered_parameters.values())
