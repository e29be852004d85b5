"""The kinds of constraints that annotations have, as data; see `ciguard.annotations`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain import CallValue, LiteralValue, value_from_json
from ciguard.functions.encoding import CHOICE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ciguard.domain import Json, Value


@dataclass(frozen=True, slots=True)
class Reference:
    """What follows from other arguments, an expression of them."""

    expression: str


@dataclass(frozen=True, slots=True)
class SizeOfCall:
    """A size that follows from the symbols of the call: `b` and `2*b` in shapes of hints."""

    expression: str


@dataclass(frozen=True, slots=True)
class SizesOfCall:
    """A run of any number of sizes, the same in the whole call where it has a name."""

    symbol: str


Bound: TypeAlias = "int | float | Reference | None"
Length: TypeAlias = "int | Reference | None"


@dataclass(frozen=True, slots=True)
class Froms:
    """One of these values."""

    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Bools:
    """True or False."""


@dataclass(frozen=True, slots=True)
class IntsIn:
    """An integer of a closed range."""

    min: Bound = None
    max: Bound = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FloatsIn:
    """A floating-point number of a range."""

    min: Bound = None
    max: Bound = None
    exclude_min: bool = False
    exclude_max: bool = False
    nan: bool = False
    inf: bool = False
    width: int = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Strings:
    """A text."""

    min_len: Length = None
    max_len: Length = None
    alphabet: str | None = None
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Lists:
    """A list of items of one kind; a tuple where `is_tuple`."""

    item: Spec
    min_len: Length = None
    max_len: Length = None
    is_tuple: bool = False


@dataclass(frozen=True, slots=True)
class Tuples:
    """A tuple of one item for each kind."""

    items: tuple[Spec, ...]


@dataclass(frozen=True, slots=True)
class Shapes:
    """A tuple of positive integers."""

    min_dims: Length = None
    max_dims: Length = None
    min_side: int | None = None
    max_side: int | None = None


@dataclass(frozen=True, slots=True)
class Dims:
    """A shape of known rank: a size or what a size may be for each dimension; None is any."""

    dims: tuple[int | Reference | SizeOfCall | SizesOfCall | Spec | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrays:
    """An array of numpy, or a tensor of a library."""

    dtype: tuple[str, ...] | Reference | None = None
    shape: Dims | Reference | Spec | None = None
    min: Bound = None
    max: Bound = None
    nan: bool = False
    is_tensor: bool = False
    library: str = ""
    """Of a tensor; empty for the one that the module imports."""


@dataclass(frozen=True, slots=True)
class Dtypes:
    """A dtype object of a library; empty for the one that the module imports."""

    names: tuple[str, ...] = ()
    library: str = ""


@dataclass(frozen=True, slots=True)
class Dicts:
    """A dictionary with keys and values of one kind each."""

    keys: Spec
    values: Spec
    min_size: Length = None
    max_size: Length = None


@dataclass(frozen=True, slots=True)
class Anys:
    """Any of several kinds."""

    options: tuple[Spec, ...]


@dataclass(frozen=True, slots=True)
class Objs:
    """What an annotated function returns."""

    generator: str
    """Its `FunctionSpec.name`."""


Spec: TypeAlias = (
    Froms
    | Bools
    | IntsIn
    | FloatsIn
    | Strings
    | Lists
    | Tuples
    | Shapes
    | Arrays
    | Dtypes
    | Dicts
    | Anys
    | Objs
)


def spec_from_json(json: Json, function: str = "", argument: str = "") -> Spec:
    """Return a constraint from its JSON form (see `ciguard.functions.encoding`).

    Args:
        json: the form.
        function: whose argument it is of: objects without a data form are named by both.
        argument: likewise.

    Raises:
        KeyError: if it is no such form.
    """
    return _READERS[json["kind"]](json, function, argument)


def value_of_item(item: Json, function: str, argument: str) -> Value:
    """Return a value that was listed: its data, or a call that looks the object up by its place."""
    if "value" in item:
        return value_from_json(item["value"])
    place = (LiteralValue(function), LiteralValue(argument), LiteralValue(item["choice"]))
    return CallValue(CHOICE, place)


def parts_of(spec: Spec) -> tuple[Spec, ...]:
    """Return the constraints that a constraint is made of."""
    match spec:
        case Lists(item=item):
            return (item,)
        case Tuples(items):
            return items
        case Dicts(keys=keys, values=values):
            return (keys, values)
        case Anys(options):
            return options
        case Arrays(shape=shape):
            return _parts_of_shape(shape)
        case _:
            return ()


def _parts_of_shape(shape: Dims | Reference | Spec | None) -> tuple[Spec, ...]:
    match shape:
        case Dims(dims):
            plain = (int, Reference, SizeOfCall, SizesOfCall)
            return tuple(d for d in dims if d is not None and not isinstance(d, plain))
        case None | Reference():
            return ()
        case _:
            return (shape,)


def generators_of(spec: Spec) -> frozenset[str]:
    """Return the names of the functions that make parts of the value."""
    inner = frozenset[str]().union(*map(generators_of, parts_of(spec)))
    return inner | {spec.generator} if isinstance(spec, Objs) else inner


# --- readers ------------------------------------------------------------------------------------


def _bound(json: Json) -> Bound:
    if isinstance(json, dict):
        return Reference(json["ref"])
    if isinstance(json, list):
        return float(json[1])
    number: Bound = json
    return number


def _length(json: Json) -> Length:
    bound = _bound(json)
    return bound if isinstance(bound, Reference) or bound is None else int(bound)


def _froms(json: Json, function: str, argument: str) -> Spec:
    return Froms(tuple(value_of_item(item, function, argument) for item in json["values"]))


def _floats(json: Json, function: str, argument: str) -> Spec:
    del function, argument
    return FloatsIn(
        min=_bound(json.get("min")),
        max=_bound(json.get("max")),
        **{name: json[name] for name in _FLOAT_OPTIONS if name in json},
    )


_FLOAT_OPTIONS = ("exclude_min", "exclude_max", "nan", "inf", "width")


def _strings(json: Json, function: str, argument: str) -> Spec:
    del function, argument
    return Strings(
        min_len=_length(json.get("min_len")),
        max_len=_length(json.get("max_len")),
        alphabet=json.get("alphabet"),
        pattern=json.get("pattern"),
    )


def _lists(json: Json, function: str, argument: str) -> Spec:
    item = spec_from_json(json["items"], function, argument)
    return Lists(item, _length(json.get("min_len")), _length(json.get("max_len")))


def _tuples(json: Json, function: str, argument: str) -> Spec:
    if "items" in json:
        return Tuples(tuple(spec_from_json(item, function, argument) for item in json["items"]))
    item = spec_from_json(json["item"], function, argument)
    return Lists(item, _length(json.get("min_len")), _length(json.get("max_len")), is_tuple=True)


def _shapes(json: Json, function: str, argument: str) -> Spec:
    del function, argument
    return Shapes(
        _length(json.get("min_dims")),
        _length(json.get("max_dims")),
        json.get("min_side"),
        json.get("max_side"),
    )


def _arrays(json: Json, function: str, argument: str) -> Spec:
    dtype = json.get("dtype")
    return Arrays(
        dtype=Reference(dtype["ref"]) if isinstance(dtype, dict) else dtype and tuple(dtype),
        shape=_shape(json.get("shape"), function, argument),
        min=_bound(json.get("min")),
        max=_bound(json.get("max")),
        nan=json.get("nan", False),
        is_tensor=json["kind"] == "tensors",
        library=json.get("library", ""),
    )


def _shape(json: Json, function: str, argument: str) -> Dims | Reference | Spec | None:
    if json is None:
        return None
    if "ref" in json:
        return Reference(json["ref"])
    if "dims" not in json:
        return spec_from_json(json, function, argument)
    return Dims(tuple(_dim(dim, function, argument) for dim in json["dims"]))


def _dim(
    json: Json, function: str, argument: str
) -> int | Reference | SizeOfCall | SizesOfCall | Spec | None:
    if not isinstance(json, dict):
        size: int | None = json
        return size
    if "kind" in json:
        return spec_from_json(json, function, argument)
    ((form, text),) = json.items()
    if form == "ref":
        return Reference(text)
    return SizeOfCall(text) if form == "size" else SizesOfCall(text)


def _dicts(json: Json, function: str, argument: str) -> Spec:
    return Dicts(
        spec_from_json(json["keys"], function, argument),
        spec_from_json(json["values"], function, argument),
        _length(json.get("min_size")),
        _length(json.get("max_size")),
    )


_READERS: Mapping[str, Callable[[Json, str, str], Spec]] = {
    "froms": _froms,
    "bools": lambda json, function, argument: Bools(),  # noqa: ARG005 - every reader has one form
    "ints": lambda json, function, argument: IntsIn(  # noqa: ARG005 - as above
        _bound(json.get("min")), _bound(json.get("max"))
    ),
    "floats": _floats,
    "strings": _strings,
    "lists": _lists,
    "tuples": _tuples,
    "np_shapes": _shapes,
    "np_arrays": _arrays,
    "tensors": _arrays,
    "dtypes": lambda json, function, argument: Dtypes(  # noqa: ARG005 - as above
        tuple(json.get("names") or ()), json.get("library", "")
    ),
    "dicts": _dicts,
    "anys": lambda json, function, argument: Anys(
        tuple(spec_from_json(option, function, argument) for option in json["options"])
    ),
    "objs": lambda json, function, argument: Objs(json["generator"]),  # noqa: ARG005 - as above
}
