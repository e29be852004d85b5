"""Converts type hints to constraints: `Annotated[int, Range(1, 5)]`, `Literal`, jaxtyping shapes.

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
    is_values_annotation,
)
from ciguard.functions.in_target.describing.jaxtyped import is_jaxtyping_hint, jaxtyping_spec
from ciguard.libraries.in_target.arrays import arrays_by_library

Json = Any


class Hint(NamedTuple):
    """The constraint that a type hint states."""

    spec: Json
    """JSON form of the constraint."""
    is_exact: bool
    """True if the constraint restricts more than the type, such as numbers, sizes or members."""


def hints_of(function: Any) -> dict[str, Any]:
    """Return the evaluated hints of a function by argument, except those that raise."""
    try:
        return dict(_evaluated_hints(function))
    except Exception:  # noqa: BLE001 - evaluating hints runs the user's code
        return _hints_that_evaluate(function)


def _evaluated_hints(function: Any) -> dict[str, Any]:
    return typing.get_type_hints(function, include_extras=True)


def _hints_that_evaluate(function: Any) -> dict[str, Any]:
    """Return the hints of a function that can be evaluated one by one, by argument."""
    hints = {}
    for name, hint in getattr(function, "__annotations__", {}).items():
        dummy = types.FunctionType((lambda: None).__code__, getattr(function, "__globals__", {}))
        dummy.__annotations__ = {name: hint}
        try:
            hints.update(_evaluated_hints(dummy))
        except Exception:  # noqa: BLE001, S112 - a hint may raise anything, and is then left out
            continue
    return hints


def has_exact_hints(function: Any) -> bool:
    """Return whether hints suffice to test a function: those of all required arguments are exact.

    At least one hint must be `Annotated` with bounds, or a shape of jaxtyping: other hints do not
    request a test.
    """
    annotations = getattr(function, "__annotations__", {})
    if not any(_may_be_bounded(hint) for hint in annotations.values()):
        return False
    hints, encoder = hints_of(function), ConstraintEncoder([], str)
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    if "self" in [parameter.name for parameter in parameters[:1]]:
        parameters = parameters[1:]
    specs = {
        parameter.name: hint_of(hints[parameter.name], encoder)
        for parameter in parameters
        if parameter.name in hints
    }
    exact = {name for name, hint in specs.items() if hint is not None and hint.is_exact}
    required = {
        parameter.name
        for parameter in parameters
        if parameter.default is parameter.empty and parameter.kind in _NAMED_KINDS
    }
    return required <= exact and any(_is_bounded(hints[name]) for name in exact)


def _may_be_bounded(hint: Any) -> bool:
    """Return whether a hint, or its text, may have bounds; the test is quick and excludes most."""
    return "Annotated" in str(hint) or "[" in str(hint) or is_jaxtyping_hint(hint)


def _is_bounded(hint: Any) -> bool:
    return typing.get_origin(hint) is typing.Annotated or is_jaxtyping_hint(hint)


_NAMED_KINDS = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)


def hint_of(hint: Any, encoder: ConstraintEncoder) -> Hint | None:
    """Return the constraint that a hint states; None for an unknown kind of hint."""
    hint = _expand_alias(hint)
    if typing.get_origin(hint) is typing.Annotated:
        return _annotated_hint(hint, encoder)
    if is_jaxtyping_hint(hint):
        base = _array_or_dtype_class(hint.array_type)
        spec = None if base is None else jaxtyping_spec(hint, base.spec)
        return None if spec is None else Hint(spec, is_exact=True)
    origin = typing.get_origin(hint)
    if origin is not None:
        reader = _GENERIC_READERS.get(_origin_name(origin))
        return (
            reader(typing.get_args(hint), encoder)
            if reader is not None
            else _array_or_dtype_class(origin)
        )
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return Hint(_froms(list(hint), encoder), is_exact=True)
    return _plain(hint)


def _expand_alias(hint: Any) -> Any:
    """Return the type for which an alias of Python 3.12 stands (`type Floats = list[float]`).

    A recursive alias, such as `type Tree = list[Tree]`, is returned unchanged, like other hints.
    """
    alias = hint if _is_alias(hint) else typing.get_origin(hint)
    if not _is_alias(alias) or _mentions(alias.__value__, alias, set()):
        return hint
    arguments = dict(zip(alias.__type_params__, typing.get_args(hint)))
    parameters = [
        arguments.get(name, typing.Any) for name in getattr(alias.__value__, "__parameters__", ())
    ]
    return _expand_alias(alias.__value__[tuple(parameters)] if parameters else alias.__value__)


def _is_alias(hint: Any) -> bool:
    # By name, because `typing_extensions` defines the class again.
    return type(hint).__name__ == "TypeAliasType"


def _mentions(hint: Any, alias: Any, visited: set[int]) -> bool:
    """Return whether a hint contains an alias; `visited` are ids of hints without it."""
    if hint is alias or id(hint) in visited:
        return hint is alias
    visited.add(id(hint))
    parts = [*typing.get_args(hint), typing.get_origin(hint), getattr(hint, "__value__", None)]
    return any(_mentions(part, alias, visited) for part in parts if part is not None)


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
    spec = _BUILTIN_SPECS.get(hint)
    if spec is not None:
        return Hint(dict(spec), is_exact=hint is bool)
    return _array_or_dtype_class(hint)


_BUILTIN_SPECS: dict[Any, Json] = {
    int: {"kind": "ints"},
    float: {"kind": "floats"},
    bool: {"kind": "bools"},
    str: {"kind": "strings"},
}


def _array_or_dtype_class(hint: Any) -> Hint | None:
    """Return the constraint for a class of arrays or dtypes, by its name and module; else None."""
    module = str(getattr(hint, "__module__", "")).partition(".")[0]
    name = getattr(hint, "__name__", "")
    if (module, name) == ("numpy", "ndarray"):
        return Hint({"kind": "np_arrays"}, is_exact=False)
    if (module, name) == ("numpy", "dtype"):
        return Hint({"kind": "dtypes", "library": "numpy"}, is_exact=False)
    for library in arrays_by_library().values():
        if module in library.array_packages and name in _TENSOR_CLASSES:
            return Hint({"kind": "tensors", "library": library.library}, is_exact=False)
        if module in library.array_packages and name and name == library.dtype_class:
            return Hint({"kind": "dtypes", "library": library.library}, is_exact=False)
    return None


_TENSOR_CLASSES = frozenset(("Tensor", "EagerTensor", "Var", "Array", "ArrayImpl"))


# --- generic types ------------------------------------------------------------------------------


def _union(args: tuple[Any, ...], encoder: ConstraintEncoder) -> Hint | None:
    """Return the constraint for a union type; None if a member of the union has no constraint."""
    hints = [hint_of(arg, encoder) for arg in args]
    known_hints = [hint for hint in hints if hint is not None]
    if len(known_hints) < len(hints):
        return None
    exact = all(hint.is_exact for hint in known_hints)
    return Hint({"kind": "anys", "options": [hint.spec for hint in known_hints]}, exact)


def _literal(args: tuple[Any, ...], encoder: ConstraintEncoder) -> Hint | None:
    return Hint(_froms(args, encoder), is_exact=True)


def _list(args: tuple[Any, ...], encoder: ConstraintEncoder) -> Hint | None:
    item = hint_of(args[0], encoder) if args else None
    return None if item is None else Hint({"kind": "lists", "items": item.spec}, item.is_exact)


def _tuple(args: tuple[Any, ...], encoder: ConstraintEncoder) -> Hint | None:
    """Return the constraint for `tuple[int, str]` or `tuple[int, ...]`."""
    if len(args) == 2 and args[1] is Ellipsis:  # noqa: PLR2004 - `tuple[int, ...]`
        hint = hint_of(args[0], encoder)
        spec = None if hint is None else {"kind": "tuples", "item": hint.spec, "min_len": 0}
        return None if hint is None else Hint(spec, hint.is_exact)
    hints = [hint_of(arg, encoder) for arg in args if arg != ()]
    known_hints = [hint for hint in hints if hint is not None]
    if len(known_hints) < len(hints):
        return None
    spec = {"kind": "tuples", "items": [hint.spec for hint in known_hints]}
    return Hint(spec, all(hint.is_exact for hint in known_hints))


def _dict(args: tuple[Any, ...], encoder: ConstraintEncoder) -> Hint | None:
    if len(args) != 2:  # noqa: PLR2004 - keys and values
        return None
    keys, values = hint_of(args[0], encoder), hint_of(args[1], encoder)
    if keys is None or values is None:
        return None
    spec = {"kind": "dicts", "keys": keys.spec, "values": values.spec}
    return Hint(spec, keys.is_exact and values.is_exact)


def _ndarray(args: tuple[Any, ...], encoder: ConstraintEncoder) -> Hint | None:
    """Return the constraint for `NDArray[np.float32]`, that is `ndarray[Any, dtype[float32]]`."""
    del encoder
    spec: dict[str, Any] = {"kind": "np_arrays"}
    inner = typing.get_args(args[1]) if len(args) > 1 else ()
    try:
        spec["dtype"] = [dtype_name(inner[0])]
    except (CannotEncodeError, IndexError):
        spec.pop("dtype", None)  # any dtype
    return Hint(spec, is_exact=False)


_GENERIC_READERS: dict[str, Callable[[tuple[Any, ...], ConstraintEncoder], Hint | None]] = {
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


def _annotated_hint(hint: Any, encoder: ConstraintEncoder) -> Hint | None:
    """Return the constraint for `Annotated`, with the bounds in its metadata."""
    inner, *metadata = typing.get_args(hint)
    for note in metadata:
        if is_values_annotation(note):
            return Hint(encoder.spec(note), is_exact=True)
    base = hint_of(inner, encoder)
    if base is None:
        return None
    bounds: dict[str, Any] = {}
    for note in metadata:
        for part in _flatten(note):
            _add_bounds(part, bounds)
    return _with_bounds(base, bounds)


def _flatten(note: Any) -> list[Any]:
    """Return the constraints in a group of annotated-types, such as `Interval`.

    Other metadata is returned as the only item.
    """
    grouped = hasattr(note, "__is_annotated_types_grouped_metadata__")
    return [part for member in note for part in _flatten(member)] if grouped else [note]


def _add_bounds(note: Any, bounds: dict[str, Any]) -> None:
    """Add the bounds of a `Range`, or of a constraint of annotated-types such as `Gt`."""
    if type(note).__name__ in ("Range", "ValueRange"):
        for name in ("min", "max"):
            value = getattr(note, name, None)
            if value is not None:
                bounds[name] = value
        return
    for attribute, (name, is_open) in _BOUND_ATTRIBUTES.items():
        value = getattr(note, attribute, None)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            bounds[name] = value
            if is_open:
                bounds["exclude_" + name] = True


_BOUND_ATTRIBUTES = {
    "ge": ("min", False),
    "gt": ("min", True),
    "le": ("max", False),
    "lt": ("max", True),
    "min_length": ("min_len", False),
    "max_length": ("max_len", False),
}


def _with_bounds(hint: Hint, bounds: dict[str, Any]) -> Hint | None:
    """Return a hint's constraint with bounds; None if the constraint cannot have them."""
    kind = hint.spec["kind"]
    if not bounds:
        return hint
    if kind == "ints":
        return Hint({**hint.spec, **_closed_integer_bounds(bounds)}, is_exact=True)
    if kind == "dicts":
        renamed = {"min_len": "min_size", "max_len": "max_size"}
        bounds = {renamed.get(name, name): value for name, value in bounds.items()}
    allowed = _ALLOWED_BOUNDS.get(kind)
    if allowed is None or not set(bounds) <= allowed:
        return None
    is_exact = hint.is_exact or kind == "floats"
    return Hint({**hint.spec, **bounds}, is_exact)


_ALLOWED_BOUNDS = {
    "floats": {"min", "max", "exclude_min", "exclude_max"},
    "strings": {"min_len", "max_len"},
    "lists": {"min_len", "max_len"},
    "dicts": {"min_size", "max_size"},
    "np_arrays": {"min", "max"},
    "tensors": {"min", "max"},
}


def _closed_integer_bounds(bounds: dict[str, Any]) -> dict[str, Any]:
    """Return inclusive integer bounds: the minimum is 1 for `Gt(0)` and for `Ge(0.5)`."""
    closed: dict[str, Any] = {}
    if "min" in bounds:
        minimum = bounds["min"]
        rounded = -int(-minimum // 1)
        closed["min"] = rounded + (1 if bounds.get("exclude_min") and rounded == minimum else 0)
    if "max" in bounds:
        maximum = bounds["max"]
        rounded = int(maximum // 1)
        closed["max"] = rounded - (1 if bounds.get("exclude_max") and rounded == maximum else 0)
    return closed
