"""Type hints read as constraints: `Annotated[int, Range(1, 5)]`, `Literal`, shapes of jaxtyping.

Runs in a target's interpreter: standard library only, Python 3.9 and later. Hints of other packages
(annotated-types, jaxtyping, numpy, torch, …) are recognised by their names and attributes.
"""

from __future__ import annotations

import enum
import inspect
import types
import typing
from typing import Any, Callable, NamedTuple

from ciguard.functions.in_target.describing.encoding import (
    CannotEncodeError,
    ConstraintEncoder,
    dtype_name,
    is_values,
)
from ciguard.functions.in_target.describing.jaxtyped import is_shaped, shaped
from ciguard.libraries.in_target.arrays import every_library

Json = Any


class Hint(NamedTuple):
    """What a type hint says of an argument."""

    spec: Json
    is_exact: bool
    """Whether it says more than a bare type: which numbers, which sizes, which members."""


def hints_of(function: Any) -> dict[str, Any]:
    """Return the evaluated hints of a function's arguments; those that cannot be are left out."""
    try:
        return dict(_evaluated(function))
    except Exception:  # noqa: BLE001 - evaluating hints runs whatever the user has written there
        return _one_by_one(function)


def _evaluated(function: Any) -> dict[str, Any]:
    return typing.get_type_hints(function, include_extras=True)


def _one_by_one(function: Any) -> dict[str, Any]:
    found = {}
    for name, hint in getattr(function, "__annotations__", {}).items():
        alone = types.FunctionType((lambda: None).__code__, getattr(function, "__globals__", {}))
        alone.__annotations__ = {name: hint}
        try:
            found.update(_evaluated(alone))
        except Exception:  # noqa: BLE001, S112 - as above; an argument without a hint has no values
            continue
    return found


def is_hinted(function: Any) -> bool:
    """Return whether hints alone say exactly what each argument without a default may be.

    At least one hint is `Annotated` with bounds, or a shape of jaxtyping: others do not ask to be
    tested.
    """
    written = getattr(function, "__annotations__", {})
    if not any(_asks(hint) for hint in written.values()):
        return False
    hints, encoder = hints_of(function), ConstraintEncoder([], str)
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    if "self" in [p.name for p in parameters[:1]]:
        parameters = parameters[1:]
    read = {p.name: hint_spec(hints[p.name], encoder) for p in parameters if p.name in hints}
    exact = {name for name, hint in read.items() if hint is not None and hint.is_exact}
    required = {p.name for p in parameters if p.default is p.empty and p.kind in _NAMED}
    return required <= exact and any(_is_bounded(hints[name]) for name in exact)


def _asks(written: Any) -> bool:
    """Return whether a hint, or its text, may be one with bounds; most are told apart by this."""
    return "Annotated" in str(written) or "[" in str(written) or is_shaped(written)


def _is_bounded(hint: Any) -> bool:
    return typing.get_origin(hint) is typing.Annotated or is_shaped(hint)


_NAMED = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)


def hint_spec(hint: Any, encoder: ConstraintEncoder) -> Hint | None:
    """Return the constraint that a hint is, None if it is of no known form."""
    hint = _expanded(hint)
    if typing.get_origin(hint) is typing.Annotated:
        return _annotated(hint, encoder)
    if is_shaped(hint):
        base = _class(hint.array_type)
        spec = None if base is None else shaped(hint, base.spec)
        return None if spec is None else Hint(spec, is_exact=True)
    origin = typing.get_origin(hint)
    if origin is not None:
        reader = _GENERIC.get(_origin_name(origin))
        return reader(typing.get_args(hint), encoder) if reader is not None else _class(origin)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return Hint(_froms(list(hint), encoder), is_exact=True)
    return _plain(hint)


def _expanded(hint: Any) -> Any:
    """Return what an alias of Python 3.12 (`type Floats[T] = list[T]`) stands for.

    One that stands for itself in the end, such as `type Tree = list[Tree]`, stays an alias.
    """
    alias = hint if _is_alias(hint) else typing.get_origin(hint)
    if not _is_alias(alias) or _mentions(alias.__value__, alias, set()):
        return hint
    given = dict(zip(alias.__type_params__, typing.get_args(hint)))
    free = [given.get(name, typing.Any) for name in getattr(alias.__value__, "__parameters__", ())]
    return _expanded(alias.__value__[tuple(free)] if free else alias.__value__)


def _is_alias(hint: Any) -> bool:
    # By its name: `typing_extensions` has one for earlier versions.
    return type(hint).__name__ == "TypeAliasType"


def _mentions(hint: Any, alias: Any, seen: set[int]) -> bool:
    if hint is alias or id(hint) in seen:
        return hint is alias
    seen.add(id(hint))
    inner = [*typing.get_args(hint), typing.get_origin(hint), getattr(hint, "__value__", None)]
    return any(_mentions(one, alias, seen) for one in inner if one is not None)


def _origin_name(origin: Any) -> str:
    union = getattr(types, "UnionType", None)
    return "Union" if origin is union else getattr(origin, "__name__", None) or str(origin)[7:]


def _froms(values: Any, encoder: ConstraintEncoder) -> Json:
    return {"kind": "froms", "values": [encoder.item(value) for value in values]}


def _plain(hint: Any) -> Hint | None:
    if hint is None or hint is type(None):
        return Hint({"kind": "froms", "values": [{"value": None}]}, is_exact=True)
    if not isinstance(hint, type):
        return None
    spec = _BARE.get(hint)
    if spec is not None:
        return Hint(dict(spec), is_exact=hint is bool)
    return _class(hint)


_BARE: dict[Any, Json] = {
    int: {"kind": "ints"},
    float: {"kind": "floats"},
    bool: {"kind": "bools"},
    str: {"kind": "strings"},
}


def _class(hint: Any) -> Hint | None:
    """Read a class of arrays or dtypes, by the name of its module and its own."""
    module = str(getattr(hint, "__module__", "")).partition(".")[0]
    name = getattr(hint, "__name__", "")
    if (module, name) == ("numpy", "ndarray"):
        return Hint({"kind": "np_arrays"}, is_exact=False)
    if (module, name) == ("numpy", "dtype"):
        return Hint({"kind": "dtypes", "library": "numpy"}, is_exact=False)
    for known in every_library().values():
        if module in known.holders and name in _TENSORS:
            return Hint({"kind": "tensors", "library": known.library}, is_exact=False)
        if module in known.holders and name and name == known.dtype_class:
            return Hint({"kind": "dtypes", "library": known.library}, is_exact=False)
    return None


_TENSORS = frozenset(("Tensor", "EagerTensor", "Var", "Array", "ArrayImpl"))


# --- generic types ------------------------------------------------------------------------------


def _union(args: tuple[Any, ...], encoder: ConstraintEncoder) -> Hint | None:
    found = [hint_spec(arg, encoder) for arg in args]
    read = [one for one in found if one is not None]
    if len(read) < len(found):
        return None
    exact = all(one.is_exact for one in read)
    return Hint({"kind": "anys", "options": [one.spec for one in read]}, exact)


def _literal(args: tuple[Any, ...], encoder: ConstraintEncoder) -> Hint | None:
    return Hint(_froms(args, encoder), is_exact=True)


def _list(args: tuple[Any, ...], encoder: ConstraintEncoder) -> Hint | None:
    item = hint_spec(args[0], encoder) if args else None
    return None if item is None else Hint({"kind": "lists", "items": item.spec}, item.is_exact)


def _tuple(args: tuple[Any, ...], encoder: ConstraintEncoder) -> Hint | None:
    if len(args) == 2 and args[1] is Ellipsis:  # noqa: PLR2004 - `tuple[int, ...]`
        item = hint_spec(args[0], encoder)
        made = None if item is None else {"kind": "tuples", "item": item.spec, "min_len": 0}
        return None if item is None else Hint(made, item.is_exact)
    items = [hint_spec(arg, encoder) for arg in args if arg != ()]
    read = [item for item in items if item is not None]
    if len(read) < len(items):
        return None
    spec = {"kind": "tuples", "items": [item.spec for item in read]}
    return Hint(spec, all(item.is_exact for item in read))


def _dict(args: tuple[Any, ...], encoder: ConstraintEncoder) -> Hint | None:
    if len(args) != 2:  # noqa: PLR2004 - keys and values
        return None
    keys, values = hint_spec(args[0], encoder), hint_spec(args[1], encoder)
    if keys is None or values is None:
        return None
    spec = {"kind": "dicts", "keys": keys.spec, "values": values.spec}
    return Hint(spec, keys.is_exact and values.is_exact)


def _ndarray(args: tuple[Any, ...], encoder: ConstraintEncoder) -> Hint | None:
    """Read `NDArray[np.float32]`, which is `ndarray[Any, dtype[float32]]`."""
    del encoder
    spec: dict[str, Any] = {"kind": "np_arrays"}
    inner = typing.get_args(args[1]) if len(args) > 1 else ()
    try:
        spec["dtype"] = [dtype_name(inner[0])]
    except (CannotEncodeError, IndexError):
        spec.pop("dtype", None)  # of any dtype
    return Hint(spec, is_exact=False)


_GENERIC: dict[str, Callable[[tuple[Any, ...], ConstraintEncoder], Hint | None]] = {
    "Union": _union,
    "Literal": _literal,
    "list": _list,
    "Sequence": _list,
    "Iterable": _list,
    "Collection": _list,
    "MutableSequence": _list,
    "tuple": _tuple,
    "dict": _dict,
    "Mapping": _dict,
    "MutableMapping": _dict,
    "ndarray": _ndarray,
}


# --- metadata -----------------------------------------------------------------------------------


def _annotated(hint: Any, encoder: ConstraintEncoder) -> Hint | None:
    inner, *metadata = typing.get_args(hint)
    for note in metadata:
        if is_values(note):
            return Hint(encoder.spec(note), is_exact=True)
    found = hint_spec(inner, encoder)
    if found is None:
        return None
    bounds: dict[str, Any] = {}
    for note in metadata:
        for part in _flattened(note):
            _read_bounds(part, bounds)
    return _bounded(found, bounds)


def _flattened(note: Any) -> list[Any]:
    """Return the parts of a group of annotated-types, such as `Interval`; a range is one part."""
    grouped = hasattr(note, "__is_annotated_types_grouped_metadata__")
    return [part for each in note for part in _flattened(each)] if grouped else [note]


def _read_bounds(note: Any, bounds: dict[str, Any]) -> None:
    """Note the bounds of a `Range` (inclusive) or of one constraint of annotated-types."""
    if type(note).__name__ in ("Range", "ValueRange"):
        for name in ("min", "max"):
            value = getattr(note, name, None)
            if value is not None:
                bounds[name] = value
        return
    for attribute, (name, is_open) in _ATTRIBUTES.items():
        value = getattr(note, attribute, None)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            bounds[name] = value
            if is_open:
                bounds["exclude_" + name] = True


_ATTRIBUTES = {
    "ge": ("min", False),
    "gt": ("min", True),
    "le": ("max", False),
    "lt": ("max", True),
    "min_length": ("min_len", False),
    "max_length": ("max_len", False),
}


def _bounded(found: Hint, bounds: dict[str, Any]) -> Hint | None:
    kind = found.spec["kind"]
    if not bounds:
        return found
    if kind == "ints":
        return Hint({**found.spec, **_whole(bounds)}, is_exact=True)
    if kind == "dicts":
        renamed = {"min_len": "min_size", "max_len": "max_size"}
        bounds = {renamed.get(name, name): value for name, value in bounds.items()}
    known = _BOUNDS_OF.get(kind)
    if known is None or not set(bounds) <= known:
        return None
    is_exact = found.is_exact or kind == "floats"
    return Hint({**found.spec, **bounds}, is_exact)


_BOUNDS_OF = {
    "floats": {"min", "max", "exclude_min", "exclude_max"},
    "strings": {"min_len", "max_len"},
    "lists": {"min_len", "max_len"},
    "dicts": {"min_size", "max_size"},
    "np_arrays": {"min", "max"},
    "tensors": {"min", "max"},
}


def _whole(bounds: dict[str, Any]) -> dict[str, Any]:
    """Return closed bounds of integers: `Gt(0)` is 1 and more, `Ge(0.5)` too."""
    closed: dict[str, Any] = {}
    if "min" in bounds:
        least = bounds["min"]
        whole = -int(-least // 1)
        closed["min"] = whole + (1 if bounds.get("exclude_min") and whole == least else 0)
    if "max" in bounds:
        most = bounds["max"]
        whole = int(most // 1)
        closed["max"] = whole - (1 if bounds.get("exclude_max") and whole == most else 0)
    return closed
