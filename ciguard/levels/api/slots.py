"""Slots: an API's parameters, compiled into samplers and mutators of their arguments."""

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

_EXCLUDED_PARAMETERS = frozenset({"name"})
"""TensorFlow's label of an operation, which does not affect the computation."""
_RARE_PARAMETERS = frozenset({"out", "device", "layout", "pin_memory", "memory_format", "names"})
_RARE_SHARE = 0.1
_VARIADIC_SHARE = 4.5


@dataclass(frozen=True, slots=True, eq=False)
class ParameterSlot:
    """One compiled parameter. Slots are compared by identity."""

    name: str
    constraint: Constraint
    sample: Sampler
    share: float
    """Frequency, relative to the mix's share of optional parameters; 0 means always passed."""
    violate: tuple[Mutator, ...]
    """Mutators that break the constraint."""
    bound: tuple[Mutator, ...]
    """Mutators that move the value to the boundary of the constraint."""
    follows: frozenset[str]
    """Parameters that the constraint refers to."""
    is_sized: bool
    """True if its sizes have symbols that other parameters share."""


def slots_of(
    parameters: Sequence[Parameter],
    plain: Mapping[str, ParameterSlot] | None = None,
    *,
    reform: Mutator | None = None,
) -> tuple[ParameterSlot, ...]:
    """Compile parameters; each comes after those that it refers to.

    Args:
        parameters: the parameters with their constraints.
        plain: slots of the same parameters by their documentation alone. Their mutators are
            reused: they depend on the documentation only and take longest to compile.
        reform: the mutator that changes a tensor's storage form, if the library has several.
    """
    known = plain or {}
    ordered = _in_order_of_reference(parameters)
    return tuple(_slot(p, known.get(p.name), reform) for p in ordered)


def is_drawn(parameter: Parameter) -> bool:
    """Return whether calls may have an argument for a parameter."""
    if parameter.name in _EXCLUDED_PARAMETERS or parameter.kind is ParameterKind.VAR_KEYWORD:
        return False
    return parameter.is_generated or parameter.required


def _slot(
    parameter: Parameter, plain: ParameterSlot | None, reform: Mutator | None
) -> ParameterSlot:
    constraint = parameter.constraint
    share = 0.0 if parameter.required and not _may_be_missing(parameter) else 1.0
    if parameter.kind is ParameterKind.VAR_POSITIONAL:
        share = _VARIADIC_SHARE  # optional in the signature, but rarely meant to be omitted
    elif share and parameter.name in _RARE_PARAMETERS:
        share = _RARE_SHARE
    share *= parameter.frequency
    if plain is not None and plain.constraint == constraint:
        return replace(plain, share=share)
    return ParameterSlot(
        name=parameter.name,
        constraint=constraint,
        sample=compile_sampler(constraint),
        share=share,
        violate=plain.violate if plain else _weighted(violations(constraint)),
        bound=plain.bound if plain else _boundary_mutators(constraint, reform),
        follows=references(constraint),
        is_sized=has_symbols(constraint),
    )


def _may_be_missing(parameter: Parameter) -> bool:
    """Return whether the documentation probably omits the default, as for PyTorch's `out`."""
    is_by_name = parameter.kind is ParameterKind.KEYWORD_ONLY
    takes_none = isinstance(parameter.constraint, Optional)
    return is_by_name and takes_none and parameter.name in _RARE_PARAMETERS


def _boundary_mutators(constraint: Constraint, reform: Mutator | None) -> tuple[Mutator, ...]:
    inner = constraint.inner if isinstance(constraint, Optional) else constraint
    takes_forms = reform is not None and isinstance(inner, Tensor) and not isinstance(inner, Array)
    forms = (Mutation("form", reform),) if takes_forms and reform else ()
    return _weighted((*boundaries(constraint), *forms))


def _weighted(mutations: tuple[Mutation, ...]) -> tuple[Mutator, ...]:
    return tuple(m.mutate for m in mutations for _ in range(m.weight))


def _in_order_of_reference(parameters: Sequence[Parameter]) -> list[Parameter]:
    """Return the parameters so that each comes after those that it refers to.

    In a cycle of references the first parameter comes first; its reference then restricts nothing.
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
