"""Slots: the parameters of an API, compiled into what draws and what bends their arguments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciguard.domain.records import ParameterKind
from ciguard.values import (
    Array,
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
    from collections.abc import Mapping, Sequence

    from ciguard.knowledge import Parameter
    from ciguard.values import Constraint

_NEVER_GIVEN = frozenset({"name"})
"""TensorFlow's label of an operation: it says nothing of the computation."""
_RARELY_GIVEN = frozenset({"out", "device", "layout", "pin_memory", "memory_format", "names"})
_RARELY = 0.1
_MOSTLY = 4.5


@dataclass(frozen=True, slots=True, eq=False)
class ParameterSlot:
    """One parameter, compiled. Compared by identity: two are never made alike."""

    name: str
    constraint: Constraint
    sample: Sampler
    share: float
    """How often it is given, relative to the mix's share of optional parameters; 0: always."""
    violate: tuple[Mutator, ...]
    bound: tuple[Mutator, ...]
    follows: frozenset[str]
    """Parameters that the constraint refers to."""
    is_sized: bool
    """Its sizes have names that other parameters share."""


def slots_of(
    parameters: Sequence[Parameter],
    plain: Mapping[str, ParameterSlot] | None = None,
    *,
    reform: Mutator | None = None,
) -> tuple[ParameterSlot, ...]:
    """Compile parameters, each after those that it refers to.

    Args:
        parameters: what is known of them.
        plain: slots of the same parameters by their documentation alone. What breaks or stretches
            that is kept: it is the same knowledge, and takes longest to compile.
        reform: gives a tensor another form, where the library has more than one.
    """
    known = plain or {}
    ordered = _in_order_of_reference(parameters)
    return tuple(_slot(p, known.get(p.name), reform) for p in ordered)


def is_drawn(parameter: Parameter) -> bool:
    """Return whether calls may carry a parameter."""
    if parameter.name in _NEVER_GIVEN or parameter.kind is ParameterKind.VAR_KEYWORD:
        return False
    return parameter.is_generated or parameter.required


def _slot(
    parameter: Parameter, plain: ParameterSlot | None, reform: Mutator | None
) -> ParameterSlot:
    constraint = parameter.constraint
    share = 0.0 if parameter.required and not _may_be_missing(parameter) else 1.0
    if parameter.kind is ParameterKind.VAR_POSITIONAL:
        share = _MOSTLY  # optional in the signature, but hardly ever meant to be left out
    elif share and parameter.name in _RARELY_GIVEN:
        share = _RARELY
    share *= parameter.given
    if plain is not None and plain.constraint == constraint:
        return replace(plain, share=share)
    return ParameterSlot(
        name=parameter.name,
        constraint=constraint,
        sample=compile_sampler(constraint),
        share=share,
        violate=plain.violate if plain else _weighted(violations(constraint)),
        bound=plain.bound if plain else _bound(constraint, reform),
        follows=references(constraint),
        is_sized=has_symbols(constraint),
    )


def _may_be_missing(parameter: Parameter) -> bool:
    """Return whether a default was forgotten in the documentation, as of PyTorch's `out`."""
    is_by_name = parameter.kind is ParameterKind.KEYWORD_ONLY
    takes_none = isinstance(parameter.constraint, Optional)
    return is_by_name and takes_none and parameter.name in _RARELY_GIVEN


def _bound(constraint: Constraint, reform: Mutator | None) -> tuple[Mutator, ...]:
    inner = constraint.inner if isinstance(constraint, Optional) else constraint
    takes_forms = reform is not None and isinstance(inner, Tensor) and not isinstance(inner, Array)
    forms = (Mutation("form", reform),) if takes_forms and reform else ()
    return _weighted((*boundaries(constraint), *forms))


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
