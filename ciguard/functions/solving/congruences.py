"""Congruences: the integers x that fulfil conditions such as `(x + 2 * pad - k) % stride == 0`."""

from __future__ import annotations

import ast
from math import gcd
from typing import TYPE_CHECKING, Any, NamedTuple

from ciguard.functions.solving.expressions import UnknownError, value_of
from ciguard.functions.solving.views import OPAQUE, ArrayView
from ciguard.functions.specs.kinds import Arrays, Dims, SymbolicSizes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.functions.solving.alternatives import Key
    from ciguard.functions.specs.kinds import Spec


class Congruence(NamedTuple):
    """The integers with the remainder `remainder` after a division by `step`."""

    step: int
    remainder: int


_MAX_MODULUS = 10_000
"""Maximum divisor; all its remainders are tried."""


def congruence_of(
    left: ast.expr, right: ast.expr, probes: Sequence[Any], name: str, drawn: Mapping[str, Any]
) -> Congruence | None:
    """Return the congruence that an equality implies for a number of an argument.

    Args:
        left: left operand: a remainder, such as `(2 * x + 1) % 4`, of an expression that is linear
            in the number.
        right: right operand.
        probes: views of the argument, in which the number is 0, 1, 2 and 3.
        name: name of the argument.
        drawn: views of the drawn arguments, by name.

    Returns:
        The congruence; None if `left` has another form or depends on arguments that are not drawn.
    """
    if not isinstance(left, ast.BinOp) or not isinstance(left.op, ast.Mod):
        return None
    try:
        modulus, expected = value_of(left.right, drawn), value_of(right, drawn)
        results = [value_of(left.left, {**drawn, name: probe}) for probe in probes]
    except UnknownError:
        return None
    numbers = [modulus, expected, *results]
    if any(type(number) is not int for number in numbers):
        return None
    factor = results[1] - results[0]
    is_linear = results[2] - results[1] == factor == results[3] - results[2]
    if not is_linear or not factor or not 0 < modulus <= _MAX_MODULUS:
        return None
    step = modulus // gcd(factor, modulus)
    for remainder in range(step):
        if (results[0] + factor * remainder) % modulus == expected:
            return Congruence(step, remainder)
    return None


def probes_of(name: str, spec: Spec) -> Iterator[tuple[Key, tuple[Any, ...]]]:
    """Yield each number of an argument that a congruence may restrict, with views that contain it.

    Args:
        name: name of the argument.
        spec: constraint of the argument: a number, or an array with sizes.

    Yields:
        The number's key, and views of the argument in which the number is 0, 1, 2 and 3.
    """
    if not isinstance(spec, Arrays):
        yield ("value", name), _PROBES
    elif isinstance(spec.shape, Dims):
        dims = spec.shape.dims
        if not any(isinstance(dim, SymbolicSizes) for dim in dims):
            for axis in range(len(dims)):
                yield (
                    ("dim", name, axis),
                    tuple(_array_with_size(len(dims), axis, size) for size in _PROBES),
                )


_PROBES = (0, 1, 2, 3)


def _array_with_size(rank: int, axis: int, size: int) -> ArrayView:
    """Return the view of an array of which only the size along one axis is known."""
    sizes: list[Any] = [OPAQUE] * rank
    sizes[axis] = size
    return ArrayView(tuple(sizes), "", is_tensor=False)
