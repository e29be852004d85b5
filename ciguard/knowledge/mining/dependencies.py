"""Dependencies between the parameters of an API, and an order for generating their values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ciguard.knowledge.mining.extract import ExtractedConstraint

_NAME = re.compile(r"[A-Za-z_]\w*")


def dependencies(
    constraints_by_name: Mapping[str, Iterable[ExtractedConstraint]],
) -> dict[str, frozenset[str]]:
    """Return, for each parameter, the other parameters that its constraints mention.

    Args:
        constraints_by_name: the constraints of each parameter of one API, by the parameter's name.
    """
    names = frozenset(constraints_by_name)
    return {
        name: frozenset(
            other_name
            for constraint in constraints
            for value in constraint.values
            for other_name in references(constraint.field, value, names)
            if other_name != name
        )
        for name, constraints in constraints_by_name.items()
    }


def references(field: str, value: str, names: Collection[str]) -> frozenset[str]:
    """Return the parameters that a concrete value mentions: `&x`, `[batch, y]`, `[0, n)`."""
    if value.startswith("&"):
        return frozenset({value[1:]} & set(names))
    if field in {"shape", "range", "ndim"}:
        return frozenset(set(_NAME.findall(value)) & set(names))
    return frozenset()


def generation_order(prerequisites: Mapping[str, Collection[str]]) -> list[str]:
    """Return the parameters, each after the parameters on which it depends.

    Documentation may be circular (`x`: same type as `y`; `y`: same type as `x`). Then the first
    remaining parameter comes next, so that the order is always complete.

    Args:
        prerequisites: the parameters on which each parameter depends, as `dependencies` returns.
    """
    order: list[str] = []
    remaining = dict(prerequisites)
    while remaining:
        ready_names = [
            name
            for name, required_names in remaining.items()
            if not (set(required_names) & set(remaining)) - {name}
        ]
        for name in ready_names or [next(iter(remaining))]:
            order.append(name)
            del remaining[name]
    return order
