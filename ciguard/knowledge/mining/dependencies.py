"""Which parameters of an API depend on which, and an order in which values can be chosen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ciguard.knowledge.mining.extract import Extracted

_NAME = re.compile(r"[A-Za-z_]\w*")


def dependencies(extracted: Mapping[str, Iterable[Extracted]]) -> dict[str, frozenset[str]]:
    """Return, for each parameter, the others whose value its constraints mention.

    Args:
        extracted: the constraints of each parameter of one API, by the parameter's name.
    """
    names = frozenset(extracted)
    return {
        name: frozenset(
            other
            for one in constraints
            for value in one.values
            for other in references(one.field, value, names)
            if other != name
        )
        for name, constraints in extracted.items()
    }


def references(field: str, value: str, names: Collection[str]) -> frozenset[str]:
    """Return the parameters that a concrete value mentions: `&x`, `[batch, y]`, `[0, n)`."""
    if value.startswith("&"):
        return frozenset({value[1:]} & set(names))
    if field in {"shape", "range", "ndim"}:
        return frozenset(set(_NAME.findall(value)) & set(names))
    return frozenset()


def generation_order(needs: Mapping[str, Collection[str]]) -> list[str]:
    """Return the parameters so that each comes after those it depends on.

    Documentation may go in circles (`x`: same type as `y`; `y`: same type as `x`). A circle is
    entered where the signature has it first, so the order is always complete.
    """
    order: list[str] = []
    left = dict(needs)
    while left:
        free = [name for name, needed in left.items() if not (set(needed) & set(left)) - {name}]
        for name in free or [next(iter(left))]:
            order.append(name)
            del left[name]
    return order
