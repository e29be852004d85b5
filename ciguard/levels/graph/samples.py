"""Samples: calls that passed, with tensors like their results. Graphs are composed of them."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain import dtypes
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.graphs import step_from_json, step_to_json
from ciguard.domain.values import (
    Constant,
    Explicit,
    ListValue,
    LiteralValue,
    TensorValue,
    TupleValue,
    Uniform,
    Value,
    tensor_from_json,
    value_to_json,
)
from ciguard.execution import Container, TensorDigest, TensorOutput
from ciguard.oracles.relations import tensors_of, with_tensors

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ciguard.domain.graphs import Step
    from ciguard.domain.values import Fill, Json
    from ciguard.execution import Output

FormKey: TypeAlias = tuple[str, tuple[int, ...]]
"""Dtype and shape of a tensor."""

MAX_ELEMENTS = 4096
"""Maximum number of elements of a tensor in a graph."""
_MAX_EXPLICIT = 16
"""Maximum number of elements of a result that are stored one by one."""
_SEEDS = 1 << 16
_SEEDING = 8
"""Number of elements of a result from which the seed of a tensor like it is derived."""
_MAX_RESULTS = 4
"""Maximum number of results of one call."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A call that passed."""

    call: ApiCall
    results: tuple[TensorValue, ...]
    """Tensors like the results, in order; one, unless the call returns a sequence."""
    is_sequence: bool
    """True if the call returns a tuple or list."""

    def to_json(self) -> Json:
        """Return the JSON form."""
        forms = [value_to_json(form) for form in self.results]
        return [step_to_json(self.call), forms, self.is_sequence]


def sample_from_json(encoded: Json) -> Sample:
    """Rebuild a sample.

    Raises:
        ValueError: if `encoded` is not the JSON form of a sample.
    """
    try:
        call, forms, is_sequence = encoded
        step = step_from_json(call)
        results = tuple(map(tensor_from_json, forms))
    except (AttributeError, KeyError, TypeError) as error:
        msg = f"malformed sample: {error!r}"
        raise ValueError(msg) from error
    if not isinstance(step, ApiCall):
        msg = "malformed sample: it is no call"
        raise ValueError(msg)  # noqa: TRY004 - one type of error for all malformed JSON
    return Sample(step, results, bool(is_sequence))


def sample_of(call: ApiCall, output: Output) -> Sample | None:
    """Return the sample of a call with this output; None if a graph cannot use the output."""
    is_sequence = isinstance(output, Container) and not output.keys
    items = output.items if isinstance(output, Container) else (output,)
    if isinstance(output, Container) and (output.keys or output.length != len(items)):
        return None
    forms = [_form_of(item) for item in items[:_MAX_RESULTS]]
    results = tuple(form for form in forms if form is not None)
    if not results or len(results) < len(forms):
        return None
    return Sample(call, results, is_sequence)


def _form_of(output: Output) -> TensorValue | None:
    """Return a tensor like a result: with its elements if they are few, else with their range."""
    match output:
        case TensorOutput(dtype, shape, elements) | TensorDigest(dtype, shape, elements):
            if dtype not in dtypes.EVERY or math.prod(shape) > MAX_ELEMENTS:
                return None
            return TensorValue(dtype, shape, _fill_of(elements.tolist(), math.prod(shape)))
        case _:
            return None


def _fill_of(elements: list[float], count: int) -> Fill:
    # Different results get different numbers: equal ones would cancel in a product or difference.
    seed = zlib.crc32(repr((count, elements[:_SEEDING])).encode()) % _SEEDS
    if any(isinstance(element, complex) for element in elements):
        return Uniform(seed, -1.0, 1.0)
    if len(elements) == count <= _MAX_EXPLICIT:
        return Explicit(tuple(elements)) if elements else Constant(0)
    low, high = min(elements), max(elements)
    return Uniform(seed, low, high) if low < high else Constant(low)


def singles(samples: Iterable[Sample], count: int) -> list[tuple[Step, ...]]:
    """Return graphs of one call: of each API, samples that are unlike each other.

    Those with the most arguments come first, since most calls test the default values. Among them
    are those with fractions of both signs first, since integers hide what happens to fractions.
    """
    by_api: dict[str, dict[tuple[FormKey, ...], ApiCall]] = {}
    ordered = sorted(
        samples,
        key=lambda sample: (
            -len(sample.call.values),
            -sum(map(_is_varied, tensors_of(sample.call))),
        ),
    )
    for sample in ordered:
        forms = by_api.setdefault(sample.call.api, {})
        form = tuple(key_of(tensor) for tensor in tensors_of(sample.call))
        if len(forms) < count:
            forms.setdefault(form, sample.call)
    return [(call,) for forms in by_api.values() for call in forms.values()]


def _is_varied(tensor: TensorValue) -> bool:
    """Return whether a tensor has fractions of both signs."""
    if tensor.dtype not in dtypes.FLOATING or math.prod(tensor.shape) < 2:  # noqa: PLR2004 - both
        return False
    match tensor.fill:
        case Uniform(_, low, high):
            return low < 0 < high
        case Explicit(data):
            return min(data) < 0 < max(data)
        case _:
            return False


def key_of(tensor: TensorValue) -> FormKey:
    """Return dtype and shape of a tensor."""
    return tensor.dtype, tensor.shape


def slots_of_call(call: ApiCall) -> list[tuple[int, TensorValue]]:
    """Return the tensors of a call that can be results of other calls, with their positions.

    The position of a tensor is its index among all tensors of the call. The arguments of a layer's
    constructor are constants.
    """
    tensors = list(enumerate(tensors_of(call)))
    if call.kind is CallKind.LAYER:
        constructor = len(tensors_of(replace(call, inputs=())))
        return tensors[constructor:]
    return tensors


def linked(call: ApiCall, links: Mapping[int, Value]) -> ApiCall:
    """Return a call in which values replace the tensors at these positions."""
    position = -1

    def change(tensor: TensorValue) -> Value:
        nonlocal position
        position += 1
        return links.get(position, tensor)

    return with_tensors(call, change)


def size_changes(old: tuple[int, ...], new: tuple[int, ...]) -> dict[int, int] | None:
    """Return the new size for each old one; None if there is no such function or no change."""
    if len(old) != len(new) or old == new:
        return None
    sizes: dict[int, int] = {}
    for before, after in zip(old, new, strict=True):
        if sizes.setdefault(before, after) != after:
            return None
    return sizes


def resized(call: ApiCall, sizes: Mapping[int, int]) -> ApiCall:
    """Return a call with other sizes of its tensors, and in its lists of integers."""
    changed = with_tensors(call, lambda tensor: resized_tensor(tensor, sizes))
    return replace(
        changed,
        arguments=tuple(_resized_list(value, sizes) for value in changed.arguments),
        keywords=tuple((key, _resized_list(value, sizes)) for key, value in changed.keywords),
    )


def resized_tensor(tensor: TensorValue, sizes: Mapping[int, int]) -> TensorValue:
    """Return a tensor with other sizes, whose elements are in the same range."""
    return reshaped_tensor(tensor, tuple(sizes.get(size, size) for size in tensor.shape))


def reshaped_tensor(tensor: TensorValue, shape: tuple[int, ...]) -> TensorValue:
    """Return a tensor of another shape, whose elements are in the same range."""
    return tensor if shape == tensor.shape else replace(tensor, shape=shape, fill=_any(tensor))


def _any(tensor: TensorValue) -> Fill:
    """Return a fill for any shape, in the range of a tensor's elements."""
    if not isinstance(tensor.fill, Explicit):
        return tensor.fill
    elements = [element for element in tensor.fill.data if math.isfinite(element)]
    return _fill_of(elements, -1) if elements else Constant(0)


def _resized_list(value: Value, sizes: Mapping[int, int]) -> Value:
    match value:
        case ListValue(items) | TupleValue(items) if all(map(_is_size, items)):
            return replace(value, items=tuple(_resized_number(item, sizes) for item in items))
        case _:
            return value


def _resized_number(value: Value, sizes: Mapping[int, int]) -> Value:
    match value:
        case LiteralValue(int(number)):
            return LiteralValue(sizes.get(number, number))
        case _:
            return value


def _is_size(value: Value) -> bool:
    return isinstance(value, LiteralValue) and type(value.value) is int
