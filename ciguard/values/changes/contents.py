"""Contents: other elements for the tensors of a call, whose shapes and dtypes stay as they are.

Libraries disagree most about unusual numbers: NaN, infinities, signed zeros, ties, numbers halfway
between two integers, indices out of range. A call that differs from an earlier one in its elements
only passes the same checks, and a library that compiles each shape runs it at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import cycle, islice
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import (
    ArrayValue,
    Explicit,
    ListValue,
    TensorValue,
    TupleValue,
    Value,
)
from ciguard.values.mutation import replace_element
from ciguard.values.nearby import nearby_integer
from ciguard.values.scope import SamplingScope

if TYPE_CHECKING:
    import random

    from ciguard.values.mutation import AnyTensor

_Content: TypeAlias = Callable[["random.Random", SamplingScope, "AnyTensor"], "AnyTensor"]
"""Function that returns a tensor with other elements."""

_MAX_ELEMENTS = 256
_CYCLE = 8
"""Number of changes after which another parameter gets the same kind of elements."""
_HUGE = {"float16": 6e4, "bfloat16": 3e38, "float32": 3e38, "float64": 1e308}


def change_contents(
    rng: random.Random, values: dict[str, Value], number: int | None = None
) -> tuple[str, ...]:
    """Give the tensors of one parameter of a call other elements.

    Args:
        rng: source of randomness.
        values: the arguments by parameter, of which one is replaced in place.
        number: the number of the change: successive numbers go through the parameters and the
            kinds of elements, until each parameter has had each kind; None to draw both.

    Returns:
        The name of the changed parameter; empty if no element has changed.
    """
    names = [name for name, value in values.items() if _has_contents(value)]
    if not names:
        return ()
    turn = None if number is None else number + number // _CYCLE
    name = names[int(rng.random() * len(names)) if number is None else number % len(names)]
    scope = SamplingScope()
    scope.values.update(values)
    changed = _changed(rng, scope, values[name], turn)
    if changed == values[name]:
        return ()
    values[name] = changed
    return (name,)


def _has_contents(value: Value) -> bool:
    """Return whether a value has a tensor whose elements can be replaced."""
    match value:
        case TensorValue(dtype, shape) | ArrayValue(dtype, shape):
            return dtype in _CONTENTS and 0 < math.prod(shape) <= _MAX_ELEMENTS
        case ListValue(items) | TupleValue(items):
            return any(map(_has_contents, items))
        case _:
            return False


def _changed(rng: random.Random, scope: SamplingScope, value: Value, turn: int | None) -> Value:
    match value:
        case TensorValue() | ArrayValue() if _has_contents(value):
            contents = _CONTENTS[value.dtype]
            chosen = int(rng.random() * len(contents)) if turn is None else turn % len(contents)
            return contents[chosen](rng, scope, value)
        case ListValue(items) | TupleValue(items):
            return type(value)(tuple([_changed(rng, scope, item, turn) for item in items]))
        case _:
            return value


def _repeated(*numbers: float) -> _Content:
    """Return a content of some numbers in turn, which begins anywhere among them."""

    def content(rng: random.Random, scope: SamplingScope, tensor: AnyTensor) -> AnyTensor:
        del scope
        start = int(rng.random() * len(numbers))
        count = math.prod(tensor.shape)
        elements = tuple(islice(cycle(numbers), start, start + count))
        return type(tensor)(tensor.dtype, tensor.shape, Explicit(elements))

    return content


def _one_of(*numbers: float) -> _Content:
    """Return a content that replaces one element by one of some numbers."""

    def content(rng: random.Random, scope: SamplingScope, tensor: AnyTensor) -> AnyTensor:
        del scope
        index = int(rng.random() * math.prod(tensor.shape))
        return replace_element(tensor, index, numbers[int(rng.random() * len(numbers))])

    return content


def _rising(rng: random.Random, scope: SamplingScope, tensor: AnyTensor) -> AnyTensor:
    """Return numbers from 0 to 1 in rising order, as edges, probabilities and colours are."""
    del rng, scope
    count = math.prod(tensor.shape)
    elements = tuple([index / max(count - 1, 1) for index in range(count)])
    return type(tensor)(tensor.dtype, tensor.shape, Explicit(elements))


def _nearby_index(rng: random.Random, scope: SamplingScope, tensor: AnyTensor) -> AnyTensor:
    """Replace one integer by one at or next to a size of the call, or its negative."""
    minimum, maximum = element_types.integer_range(tensor.dtype)
    number = min(max(nearby_integer(rng, scope), minimum), maximum)
    return replace_element(tensor, int(rng.random() * math.prod(tensor.shape)), number)


def _float_contents(dtype: str) -> tuple[_Content, ...]:
    huge = _HUGE[dtype]
    return (
        _one_of(math.nan),
        _repeated(1.0, 1.0, -1.0, 0.0),  # ties
        _repeated(math.nan, 1.0, math.inf, -1.0, -math.inf, 0.0, -0.0, huge, -huge),
        _repeated(0.5, 1.5, 2.5, -0.5, -1.5, -2.5),  # halfway between integers
        _one_of(math.inf, -math.inf),
        _rising,
        _repeated(0.0, -0.0),
        _one_of(huge, -huge),
    )


def _integer_contents(dtype: str) -> tuple[_Content, ...]:
    minimum, maximum = element_types.integer_range(dtype)
    return (
        _one_of(max(minimum, -1)),
        _nearby_index,
        _repeated(1, 1, 2, 0),  # ties
        _one_of(minimum, maximum),
        _one_of(0),
        _nearby_index,
        _repeated(0),
    )


_CONTENTS: dict[str, tuple[_Content, ...]] = {
    **{dtype: _float_contents(dtype) for dtype in element_types.FLOATING},
    **{dtype: _integer_contents(dtype) for dtype in element_types.INTEGERS},
    "bool": (_repeated(False), _repeated(True), _repeated(True, False)),  # noqa: FBT003 - elements
}
"""Contents by dtype."""
