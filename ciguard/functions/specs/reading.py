"""Reads modules and constraints from the JSON descriptions by `in_target.describing`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.values import CallValue, LiteralValue, value_from_json
from ciguard.functions.in_target.describing.encoding import CHOICE, EXAMPLES
from ciguard.functions.specs.functions import (
    Condition,
    FunctionSpec,
    MainSpec,
    ModuleSpec,
    ParameterSpec,
    Problem,
)
from ciguard.functions.specs.kinds import (
    Anys,
    Arrays,
    Bound,
    Dicts,
    Dims,
    Dtypes,
    FloatRange,
    IntRange,
    Length,
    Lists,
    Objs,
    Reference,
    Shapes,
    Spec,
    Strings,
    SymbolicSize,
    SymbolicSizes,
    Tuples,
)
from ciguard.values import Bool, OneOf

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ciguard.domain.values import Json, Value
    from ciguard.functions.specs.functions import Example


def module_from_description(json: Json) -> ModuleSpec:
    """Return the module in a description, with the problems that the description lists.

    Raises:
        ValueError, KeyError: if `json` is not a description.
    """
    main = json["module_test"]
    return ModuleSpec(
        file=json["file"],
        name=json["module"],
        functions=functions_from_description(json),
        main=main and MainSpec(spec_from_json(main["args"]), main["timeout"], main["line"]),
        problems=problems_from_description(json),
    )


def functions_from_description(json: Json) -> tuple[FunctionSpec, ...]:
    """Return the functions in the description of a module or of nested functions."""
    return tuple(map(_function, json["functions"]))


def problems_from_description(json: Json) -> tuple[Problem, ...]:
    """Return the problems that a description lists."""
    return tuple(Problem(**problem) for problem in json["problems"])


def _function(json: Json) -> FunctionSpec:
    name = json["name"]
    return FunctionSpec(
        name=name,
        file=json["file"],
        line=json["line"],
        kind=json["kind"],
        owner=json["owner"],
        constructor=json["constructor"],
        outer=json["outer"],
        parameters=tuple(_parameter(name, parameter) for parameter in json["parameters"]),
        preconditions=tuple(map(_condition, json["requires"])),
        postconditions=tuple(map(_condition, json["ensures"])),
        allowed_exceptions=tuple(json["raises"]),
        timeout=json["timeout"],
        is_excluded=json["excluded"],
        is_generator=json["generator"],
        examples=tuple(_example(name, example) for example in json["examples"]),
        is_lazy=json["lazy"],
        is_async=json.get("async", False),
        is_consumed=json.get("consumed", False),
        attributes=tuple(json.get("attributes", {}).items()),
        is_abstract=json.get("abstract", False),
        is_instance_called=json.get("calls_instance", False),
        annotations_file=json["annotated_in"],
        has_nested_functions=json["nested"],
    )


def _parameter(function: str, json: Json) -> ParameterSpec:
    spec = json["spec"]
    return ParameterSpec(
        name=json["name"],
        kind=json["kind"],
        spec=None if spec is None else spec_from_json(spec, function, json["name"]),
        has_default=json["default"],
        has_problem=json["wrong"],
        default_value=value_from_json(json["value"][0]) if json["value"] else None,
        line=json["line"],
    )


def _condition(json: Json) -> Condition:
    return Condition(json["text"], json["line"], tuple(json["names"]))


def _example(function: str, json: Json) -> Example:
    return tuple((name, value_of_item(item, function, EXAMPLES)) for name, item in json)


def spec_from_json(json: Json, function: str = "", argument: str = "") -> Spec:
    """Return a constraint from its JSON form (see `in_target/describing/encoding.py`).

    Args:
        json: the JSON form.
        function: name of the function, to look up objects that cannot be stored as data.
        argument: name of the argument, also to look up such objects.

    Raises:
        KeyError: if `json` is not the JSON form of a constraint.
    """
    return _READERS[json["kind"]](json, function, argument)


def value_of_item(item: Json, function: str, argument: str) -> Value:
    """Return a value of `froms`, or a call that looks the value up in the target.

    Args:
        item: JSON form of the value; for an object that cannot be stored as data, its index.
        function: name of the function with the annotation.
        argument: name of the annotated argument.
    """
    if "value" in item:
        return value_from_json(item["value"])
    choice = (function, argument, item["choice"], item.get("name", ""))
    return CallValue(CHOICE, tuple(map(LiteralValue, choice)))


def _bound(json: Json) -> Bound:
    """Return a bound: `{"ref": …}` is a reference, and a list holds a number as text."""
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
    return OneOf(tuple(value_of_item(item, function, argument) for item in json["values"]))


def _floats(json: Json, function: str, argument: str) -> Spec:
    del function, argument
    return FloatRange(
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
    """Return the constraint of a shape from its JSON form; None for any shape."""
    if json is None:
        return None
    if "ref" in json:
        return Reference(json["ref"])
    if "dims" not in json:
        return spec_from_json(json, function, argument)
    return Dims(tuple(_dim(dim, function, argument) for dim in json["dims"]))


def _dim(
    json: Json, function: str, argument: str
) -> int | Reference | SymbolicSize | SymbolicSizes | Spec | None:
    """Return a size or its constraint from its JSON form; None for any size."""
    if not isinstance(json, dict):
        size: int | None = json
        return size
    if "kind" in json:
        return spec_from_json(json, function, argument)
    ((form, text),) = json.items()
    if form == "ref":
        return Reference(text)
    return SymbolicSize(text) if form == "size" else SymbolicSizes(text)


def _dicts(json: Json, function: str, argument: str) -> Spec:
    return Dicts(
        spec_from_json(json["keys"], function, argument),
        spec_from_json(json["values"], function, argument),
        _length(json.get("min_size")),
        _length(json.get("max_size")),
    )


_READERS: Mapping[str, Callable[[Json, str, str], Spec]] = {
    "froms": _froms,
    "bools": lambda json, function, argument: Bool(),  # noqa: ARG005 - all readers share one signature
    "ints": lambda json, function, argument: IntRange(  # noqa: ARG005 - the same signature
        _bound(json.get("min")), _bound(json.get("max"))
    ),
    "floats": _floats,
    "strings": _strings,
    "lists": _lists,
    "tuples": _tuples,
    "np_shapes": _shapes,
    "np_arrays": _arrays,
    "tensors": _arrays,
    "dtypes": lambda json, function, argument: Dtypes(  # noqa: ARG005 - the same signature
        tuple(json.get("names") or ()), json.get("library", "")
    ),
    "dicts": _dicts,
    "anys": lambda json, function, argument: Anys(
        tuple(spec_from_json(option, function, argument) for option in json["options"])
    ),
    "objs": lambda json, function, argument: Objs(json["generator"]),  # noqa: ARG005 - the same signature
}
