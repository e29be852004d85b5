"""Remainders: which integers `(x + 2 * pad - kernel) % stride == 0` leaves for x."""

from __future__ import annotations

import ast
from math import gcd
from typing import TYPE_CHECKING, Any, NamedTuple

from ciguard.functions.solving.expressions import UnknownError, value_of
from ciguard.functions.solving.views import OPAQUE, ArrayView
from ciguard.functions.specs.kinds import Arrays, Dims, SizesOfCall

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.functions.solving.alternatives import Key
    from ciguard.functions.specs.kinds import Spec


class Congruence(NamedTuple):
    """The integers that leave `remainder` when divided by `step`."""

    step: int
    remainder: int


_MAX_MODULUS = 10_000


def congruence_of(
    left: ast.expr, right: ast.expr, probes: Sequence[Any], name: str, drawn: Mapping[str, Any]
) -> Congruence | None:
    """Return what `left % … == right` says of a number of an argument.

    Args:
        left: one side of the equality; None is said unless it is a remainder of a sum in which the
            number stands once, with a factor.
        right: the other side.
        probes: views of the argument in which the number is 0, 1, 2 and 3.
        name: of the argument.
        drawn: views of the other arguments, which must all be known.
    """
    if not isinstance(left, ast.BinOp) or not isinstance(left.op, ast.Mod):
        return None
    try:
        modulus, wanted = value_of(left.right, drawn), value_of(right, drawn)
        worth = [value_of(left.left, {**drawn, name: probe}) for probe in probes]
    except UnknownError:
        return None
    numbers = [modulus, wanted, *worth]
    if any(type(number) is not int for number in numbers):
        return None
    factor = worth[1] - worth[0]
    is_linear = worth[2] - worth[1] == factor == worth[3] - worth[2]
    if not is_linear or not factor or not 0 < modulus <= _MAX_MODULUS:
        return None
    step = modulus // gcd(factor, modulus)
    for remainder in range(step):
        if (worth[0] + factor * remainder) % modulus == wanted:
            return Congruence(step, remainder)
    return None


def probes_of(name: str, spec: Spec) -> Iterator[tuple[Key, tuple[Any, ...]]]:
    """Yield the numbers of an argument that a remainder may fix: itself, or sizes of its shape."""
    if not isinstance(spec, Arrays):
        yield ("value", name), _PROBES
    elif isinstance(spec.shape, Dims):
        dims = spec.shape.dims
        if not any(isinstance(dim, SizesOfCall) for dim in dims):
            for axis in range(len(dims)):
                yield ("dim", name, axis), tuple(_shaped(len(dims), axis, n) for n in _PROBES)


_PROBES = (0, 1, 2, 3)


def _shaped(rank: int, axis: int, size: int) -> ArrayView:
    """Return an array of which one size is known."""
    sizes: list[Any] = [OPAQUE] * rank
    sizes[axis] = size
    return ArrayView(tuple(sizes), "", is_tensor=False)
