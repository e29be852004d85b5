"""Values: the arguments of a case, as data.

A value is a small expression tree, which can be stored, hashed, minimised and printed. Only a
target converts it to an object such as a tensor, a list or a dtype. The JSON form is compact
because it is sent with each case: a scalar is itself, any other value is a list `[tag, …]`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Scalar: TypeAlias = bool | int | float | complex | str | bytes | None
Json: TypeAlias = Any


class _EqualNumbers:
    """Base class that compares objects by their numbers and treats NaN as equal to NaN."""

    __slots__ = ()

    def _numbers(self) -> tuple[object, ...]:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, _EqualNumbers):
            return NotImplemented
        return _comparable(self._numbers()) == _comparable(other._numbers())

    def __hash__(self) -> int:
        return hash(_comparable(self._numbers()))


def _comparable(numbers: tuple[object, ...]) -> tuple[object, ...]:
    return tuple(_NAN if n != n else n for n in numbers)  # noqa: PLR0124 - only NaN differs from itself


_NAN = object()
"""Placeholder for NaN, which is equal to itself."""


@dataclass(frozen=True, slots=True, eq=False)
class Constant(_EqualNumbers):
    """The same value for all elements."""

    value: bool | int | float

    def _numbers(self) -> tuple[object, ...]:
        return (self.value,)


@dataclass(frozen=True, slots=True)
class Uniform:
    """Pseudo-random elements in [low, high], equal on all machines (see `worker.fills`)."""

    seed: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Special:
    """Pseudo-random choice among the dtype's special values: NaN, infinities, extremes, zeros."""

    seed: int


@dataclass(frozen=True, slots=True, eq=False)
class Explicit(_EqualNumbers):
    """Listed elements, in C order (row by row)."""

    data: tuple[bool | int | float, ...]

    def _numbers(self) -> tuple[object, ...]:
        return self.data


Fill: TypeAlias = Constant | Uniform | Special | Explicit


@dataclass(frozen=True, slots=True, eq=False)
class LiteralValue(_EqualNumbers):
    """A Python scalar, string, bytes or None."""

    value: Scalar

    def _numbers(self) -> tuple[object, ...]:
        return (self.value,)


@dataclass(frozen=True, slots=True)
class ArrayValue:
    """A numpy array."""

    dtype: str
    shape: tuple[int, ...]
    fill: Fill


@dataclass(frozen=True, slots=True)
class TensorValue:
    """A tensor of the target's library, on the target's device."""

    dtype: str
    """Name shared by all libraries: bool, uint8, int32, float16, bfloat16, complex64, string, …"""
    shape: tuple[int, ...]
    fill: Fill


@dataclass(frozen=True, slots=True)
class DtypeValue:
    """A dtype object of the target's library, by its common name."""

    name: str


@dataclass(frozen=True, slots=True)
class MemberValue:
    """An object of the target's library by its qualified name, such as `torch.strided`."""

    path: str


@dataclass(frozen=True, slots=True)
class ListValue:
    """A list."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class TupleValue:
    """A tuple."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class DictValue:
    """A dictionary with string keys, in insertion order."""

    items: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class CallValue:
    """The result of a function call in the target, such as `torch.nn.Linear(2, 3)`."""

    function: str
    arguments: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True, slots=True)
class ResultValue:
    """The result of an earlier step of the same graph (`ciguard.domain.graphs`)."""

    step: int
    """Index of the step."""
    item: int
    """Index of the item, if the result is a tuple or list; -1 for the whole result."""
    form: TensorValue
    """A tensor of the same dtype and shape, which can replace the result."""
    other: ResultValue | None = None
    """Result of another step that is used instead if the first axis of this one has more than
    `beyond` elements; None for no such choice."""
    beyond: int = 0


Value: TypeAlias = (
    LiteralValue
    | ArrayValue
    | TensorValue
    | DtypeValue
    | MemberValue
    | ListValue
    | TupleValue
    | DictValue
    | CallValue
    | ResultValue
)


def value_to_json(value: Value) -> Json:
    """Return the compact JSON form of `value`."""
    return _ENCODERS[type(value)](value)


def _scalar_to_json(value: LiteralValue) -> Json:
    """Return a scalar, or `[tag, text]` if JSON has no such scalar."""
    scalar = value.value
    match scalar:
        case float() if not math.isfinite(scalar):
            return ["f", repr(scalar)]
        case complex():
            return ["z", repr(scalar.real), repr(scalar.imag)]
        case bytes():
            return ["b", scalar.decode("latin-1")]
        case _:
            return scalar


def _fill_to_json(fill: Fill) -> Json:
    """Return the JSON form of a fill.

    The form is `["k", value]` for a constant, `["u", seed, low, high]` for uniform elements,
    `["s", seed]` for special values, and `["x", elements]` for explicit elements.
    """
    match fill:
        case Uniform(seed, low, high):  # first, as it is the most frequent
            return ["u", seed, low, high]
        case Constant(value):
            return ["k", _number_to_json(value)]
        case Special(seed):
            return ["s", seed]
        case Explicit(data):
            return ["x", [_number_to_json(number) for number in data]]


def _number_to_json(number: float) -> Json:
    """Return a number, or its text if it is NaN or infinite, which JSON lacks."""
    if not isinstance(number, int) and not math.isfinite(number):
        return repr(number)
    return number


def _pairs_to_json(pairs: tuple[tuple[str, Value], ...]) -> Json:
    return [[key, value_to_json(value)] for key, value in pairs]


_ENCODERS: Mapping[type, Any] = {
    LiteralValue: _scalar_to_json,
    ArrayValue: lambda v: ["a", v.dtype, list(v.shape), _fill_to_json(v.fill)],
    TensorValue: lambda v: ["t", v.dtype, list(v.shape), _fill_to_json(v.fill)],
    DtypeValue: lambda v: ["y", v.name],
    MemberValue: lambda v: ["m", v.path],
    ListValue: lambda v: ["l", [value_to_json(item) for item in v.items]],
    TupleValue: lambda v: ["p", [value_to_json(item) for item in v.items]],
    DictValue: lambda v: ["d", _pairs_to_json(v.items)],
    CallValue: lambda v: [
        "c",
        v.function,
        [value_to_json(item) for item in v.arguments],
        _pairs_to_json(v.keywords),
    ],
    ResultValue: lambda v: [
        *("r", v.step, v.item, value_to_json(v.form)),
        *(() if v.other is None else (value_to_json(v.other), v.beyond)),
    ],
}


def value_from_json(encoded: Json) -> Value:
    """Rebuild a value from its JSON form.

    Raises:
        ValueError: if `encoded` is not the JSON form of a value.
    """
    if not isinstance(encoded, list):
        if isinstance(encoded, dict):
            msg = f"malformed value: {encoded!r}"
            raise ValueError(msg)  # noqa: TRY004 - one type of error for all malformed JSON
        return LiteralValue(encoded)
    try:
        value: Value = _DECODERS[encoded[0]](*encoded[1:])
    except (IndexError, KeyError, TypeError) as error:
        msg = f"malformed value: {encoded!r}"
        raise ValueError(msg) from error
    return value


def tensor_from_json(encoded: Json) -> TensorValue:
    """Rebuild a tensor from its JSON form.

    Raises:
        ValueError: if `encoded` is not the JSON form of a tensor.
    """
    value = value_from_json(encoded)
    if not isinstance(value, TensorValue):
        msg = f"malformed value: {encoded!r:.80} is not a tensor"
        raise ValueError(msg)  # noqa: TRY004 - one type of error for all malformed JSON
    return value


def _choice_from_json(other: Json = None, beyond: Json = 0) -> tuple[ResultValue | None, int]:
    result = None if other is None else value_from_json(other)
    if result is not None and not isinstance(result, ResultValue):
        msg = f"malformed value: {other!r:.80} is not a result"
        raise ValueError(msg)
    return result, int(beyond)


def _fill_from_json(encoded: Json) -> Fill:
    tag, *rest = encoded
    match tag:
        case "k":
            return Constant(_number_from_json(rest[0]))
        case "u":
            return Uniform(*rest)
        case "s":
            return Special(*rest)
        case "x":
            return Explicit(tuple(_number_from_json(number) for number in rest[0]))
        case _:
            raise KeyError(tag)


def _number_from_json(encoded: Json) -> float:
    return float(encoded) if isinstance(encoded, str) else encoded


def _pairs_from_json(encoded: Json) -> tuple[tuple[str, Value], ...]:
    return tuple((str(key), value_from_json(item)) for key, item in encoded)


def _items_from_json(encoded: Json) -> tuple[Value, ...]:
    return tuple(value_from_json(item) for item in encoded)


_DECODERS: Mapping[str, Any] = {
    "f": lambda text: LiteralValue(float(text)),
    "z": lambda real, imag: LiteralValue(complex(float(real), float(imag))),
    "b": lambda text: LiteralValue(text.encode("latin-1")),
    "a": lambda dtype, shape, fill: ArrayValue(dtype, tuple(shape), _fill_from_json(fill)),
    "t": lambda dtype, shape, fill: TensorValue(dtype, tuple(shape), _fill_from_json(fill)),
    "y": DtypeValue,
    "m": MemberValue,
    "l": lambda items: ListValue(_items_from_json(items)),
    "p": lambda items: TupleValue(_items_from_json(items)),
    "d": lambda pairs: DictValue(_pairs_from_json(pairs)),
    "c": lambda function, arguments, keywords: CallValue(
        function, _items_from_json(arguments), _pairs_from_json(keywords)
    ),
    "r": lambda step, item, form, *choice: ResultValue(
        int(step), int(item), tensor_from_json(form), *_choice_from_json(*choice)
    ),
}
