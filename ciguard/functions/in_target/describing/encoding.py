"""JSON forms of annotations' constraints, such as `{"kind": "ints", "min": 1}`.

A reference becomes `{"ref": "len(xs)"}`. A value of `froms` becomes `{"value": …}`, with its JSON
form by `domain.values.value_to_json`. An object without such a form becomes a choice, for example
`{"choice": 3, "name": "Mode.MAX"}`. A choice has the object's index among the argument's choices,
and the object's name in the module. Only the process that imported the module can look it up.

Runs in a target's interpreter: standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import enum
import math
import sys
from typing import Any, Callable

from ciguard.domain.dtypes import EVERY

Json = Any

CHOICE = "ciguard.choice"
"""Function of a `CallValue` that stands for a choice.

The arguments are the names of the function and the argument, the index, and the object's name.
"""
EXAMPLES = "cc_example"
"""Argument's name for the choices among a constructor's examples."""
TENSOR = "ciguard.tensor"
"""Function of a `CallValue` for a library's tensor; the arguments are library and array."""
DTYPE = "ciguard.dtype"
"""Function of a `CallValue` for a dtype object; the arguments are library and name."""


def generator_call(name: str) -> str:
    """Return the function of a `CallValue` that calls an annotated function, such as `:make_x`."""
    return name if ":" in name else f":{name}"


class CannotEncodeError(ValueError):
    """Error for an invalid constraint; the message states the reason."""


class NoDataError(ValueError):
    """Error for an object that has no JSON form."""


class ConstraintEncoder:
    """Converts the constraints of one argument to JSON.

    Args:
        choices: list to which objects without a JSON form are appended.
        name_of: returns the name of the annotated function that the argument of `objs` refers to.
        own_module: name of the program's module. Its objects have no JSON form, because the module
            may be imported under another name.
    """

    def __init__(
        self, choices: list[Any], name_of: Callable[[Any], str], own_module: str = ""
    ) -> None:
        self._choices = choices
        self._name_of = name_of
        self._own_module = own_module

    def spec(self, values: Any) -> Json:
        """Return the JSON form of a constraint; another object is the only valid value.

        Raises:
            CannotEncodeError: if the constraint is invalid, for example of an unknown kind.
        """
        if not is_values_annotation(values):
            return {"kind": "froms", "values": [self.item(values)]}
        try:
            write = _OPTION_WRITERS[values.kind]
        except KeyError:
            msg = f"this version of ciguard does not support the constraint {values.kind}"
            raise CannotEncodeError(msg) from None
        return {"kind": values.kind, **write(self, values.options)}

    def item(self, value: Any) -> Json:
        """Return the JSON form of a value of `froms`, or of a choice if the value has none."""
        try:
            return {"value": as_data(value, self._own_module)}
        except NoDataError:
            self._choices.append(value)
            name = name_in(sys.modules.get(self._own_module), value)
            return {"choice": len(self._choices) - 1, "name": name}

    def generator(self, function: Any) -> Json:
        """Return the name of a generator function.

        Raises:
            CannotEncodeError: if `function` is not an annotated function, nor the name of one.
        """
        return self._name_of(function)


def is_values_annotation(item: Any) -> bool:
    """Return whether an object is a constraint, of ciguard's annotations or of a copy of these."""
    return type(item).__name__ == "Values" and hasattr(item, "kind") and hasattr(item, "options")


def is_ref(item: Any) -> bool:
    """Return whether an object is a reference to other arguments (`ref`)."""
    return type(item).__name__ == "Ref" and hasattr(item, "expression")


def as_data(value: Any, own_module: str = "") -> Json:
    """Return the JSON form of a value, as by `ciguard.domain.values.value_to_json`.

    Args:
        value: the value.
        own_module: name of the program's module; a member of an enumeration of this module has a
            JSON form.

    Raises:
        NoDataError: if the value has no JSON form.
    """
    encode = _DATA_ENCODERS.get(type(value))
    if encode is not None:
        return encode(value, own_module)
    return _member(value, own_module)


def _float(value: float, own_module: str) -> Json:
    del own_module
    return value if math.isfinite(value) else ["f", repr(value)]


def _dictionary(value: dict[Any, Any], own_module: str) -> Json:
    if not all(type(key) is str for key in value):
        raise NoDataError(value)
    return ["d", [[key, as_data(item, own_module)] for key, item in value.items()]]


_DATA_ENCODERS: dict[type, Callable[[Any, str], Json]] = {
    type(None): lambda value, _: value,
    bool: lambda value, _: value,
    int: lambda value, _: value,
    str: lambda value, _: value,
    float: _float,
    complex: lambda value, _: ["z", repr(value.real), repr(value.imag)],
    bytes: lambda value, _: ["b", value.decode("latin-1")],
    list: lambda value, own_module: ["l", [as_data(item, own_module) for item in value]],
    tuple: lambda value, own_module: ["p", [as_data(item, own_module) for item in value]],
    dict: _dictionary,
}
"""Encoders by exact type; subclasses, such as named tuples, are more than their items."""


def _member(value: Any, own_module: str) -> Json:
    """Return the JSON form of a library's object, such as `["m", "keras.activations.relu"]`."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if name is None and _is_dotted(str(value)):  # a dtype: `torch.float32`
        module, _, name = str(value).rpartition(".")
    if not isinstance(module, str) or not isinstance(name, str) or module == own_module:
        raise NoDataError(value)
    item: Any = sys.modules.get(module)
    for part in name.split("."):
        item = getattr(item, part, None)
    if item is not value:
        raise NoDataError(value)
    return ["m", f"{module}.{name}"]


def name_in(module: Any, value: Any) -> str:
    """Return the dotted name of an object in a module, such as `Mode.MAX` for an enumeration.

    The result is empty if the object has no name in the module.
    """
    scope = getattr(module, "__dict__", {})
    if isinstance(value, enum.Enum):
        paths = [f"{type(value).__qualname__}.{value.name}"]
    else:
        candidates = (getattr(value, "__qualname__", None), repr(value))
        paths = [name for name in candidates if isinstance(name, str) and _is_dotted(f".{name}")]
        paths += [name for name, item in list(scope.items()) if item is value]
    return next((path for path in paths if path and _lookup(scope, path) is value), "")


def _is_dotted(text: str) -> bool:
    """Return whether a text is a dotted name; it may begin with a dot, such as `.relu`."""
    first, *rest = text.split(".")
    return bool(rest) and all(part.isidentifier() for part in ([first] if first else []) + rest)


def _lookup(scope: dict[str, Any], path: str) -> Any:
    first, *rest = path.split(".")
    item = scope.get(first)
    for part in rest:
        item = getattr(item, part, None)
    return item


# --- options by kind -----------------------------------------------------------------------


def _bound(value: Any) -> Json:
    if is_ref(value):
        return {"ref": value.expression}
    return ["f", repr(value)] if isinstance(value, float) and not math.isfinite(value) else value


def _plain(encoder: ConstraintEncoder, options: dict[str, Any]) -> Json:
    del encoder
    return {name: _bound(value) for name, value in options.items()}


def _froms(encoder: ConstraintEncoder, options: dict[str, Any]) -> Json:
    return {"values": [encoder.item(value) for value in options["values"]]}


def _with_parts(*constraint_options: str) -> Callable[[ConstraintEncoder, dict[str, Any]], Json]:
    """Return a function that encodes the options of a constraint.

    The values of `constraint_options` are constraints themselves, those of the others are plain.
    """

    def write(encoder: ConstraintEncoder, options: dict[str, Any]) -> Json:
        plain_options = {
            name: value for name, value in options.items() if name not in constraint_options
        }
        encoded = _plain(encoder, plain_options)
        for name in constraint_options:
            if name in options:
                encoded[name] = encoder.spec(options[name])
        return encoded

    return write


def _tuples(encoder: ConstraintEncoder, options: dict[str, Any]) -> Json:
    if "items" in options:
        return {"items": [encoder.spec(item) for item in options["items"]]}
    return _with_parts("item")(encoder, options)


def _anys(encoder: ConstraintEncoder, options: dict[str, Any]) -> Json:
    return {"options": [encoder.spec(option) for option in options["options"]]}


def _objs(encoder: ConstraintEncoder, options: dict[str, Any]) -> Json:
    return {"generator": encoder.generator(options["generator"])}


def _dtypes(encoder: ConstraintEncoder, options: dict[str, Any]) -> Json:
    del encoder
    written = dict(options)
    if "names" in written:
        written["names"] = [dtype_name(name) for name in written["names"]]
    return written


def _arrays(encoder: ConstraintEncoder, options: dict[str, Any]) -> Json:
    rest = {name: value for name, value in options.items() if name not in ("dtype", "shape")}
    written = _plain(encoder, rest)
    if "dtype" in options:
        written["dtype"] = dtype_form(options["dtype"])
    if "shape" in options:
        written["shape"] = _shape(encoder, options["shape"])
    return written


def _shape(encoder: ConstraintEncoder, shape: Any) -> Json:
    if is_ref(shape):
        return {"ref": shape.expression}
    if is_values_annotation(shape):
        return encoder.spec(shape)
    return {"dims": [_dim(encoder, dim) for dim in shape]}


def _dim(encoder: ConstraintEncoder, dim: Any) -> Json:
    """Return the JSON form of a dimension's size; null for any size.

    Raises:
        CannotEncodeError: if the size is invalid.
    """
    if is_ref(dim):
        return {"ref": dim.expression}
    if is_values_annotation(dim):
        return encoder.spec(dim)
    if isinstance(dim, str):
        return {"size": dim}
    if dim is None or (isinstance(dim, int) and not isinstance(dim, bool) and dim >= 0):
        return dim
    msg = f"{dim!r} is not a valid size of a dimension; use an integer, None or a constraint"
    raise CannotEncodeError(msg)


def dtype_form(dtype: Any) -> Json:
    """Return the JSON form of a reference, or the names of one or several dtypes.

    Raises:
        CannotEncodeError: if a dtype is unknown.
    """
    if is_ref(dtype):
        return {"ref": dtype.expression}
    if is_values_annotation(dtype):
        return _listed_dtypes(dtype)
    dtypes = dtype if isinstance(dtype, (list, tuple, set, frozenset)) else [dtype]
    return [dtype_name(item) for item in dtypes]


def _listed_dtypes(values: Any) -> Json:
    listed = values.options.get("names" if values.kind == "dtypes" else "values")
    if values.kind not in ("dtypes", "froms") or not listed:
        msg = f"{values!r} is not a list of dtypes; use dtypes(…) or a list"
        raise CannotEncodeError(msg)
    return [dtype_name(item) for item in listed]


def dtype_name(dtype: Any) -> str:
    """Return the library-independent name of a dtype, such as `torch.float32` or `float`.

    Raises:
        CannotEncodeError: if ciguard cannot make arrays of the dtype.
    """
    name = _BUILTIN_TYPES.get(dtype) if isinstance(dtype, type) else None
    if name is None:
        name = dtype if isinstance(dtype, str) else _name_of_dtype(dtype)
    name = _OTHER_NAMES.get(name, name)
    if name not in EVERY:
        msg = f"ciguard cannot make arrays of dtype {dtype!r}"
        raise CannotEncodeError(msg)
    return name


def _name_of_dtype(dtype: Any) -> str:
    for attribute in ("name", "__name__"):
        name = getattr(dtype, attribute, None)
        if isinstance(name, str):
            return name
    return str(dtype).rpartition(".")[2]


_BUILTIN_TYPES = {
    float: "float64",
    int: "int64",
    bool: "bool",
    complex: "complex128",
    str: "string",
}
_OTHER_NAMES = {
    "float": "float64", "double": "float64", "half": "float16", "single": "float32",
    "int": "int64", "long": "int64", "short": "int16", "bool_": "bool", "boolean": "bool",
    "f4": "float32", "f8": "float64", "f2": "float16", "i4": "int32", "i8": "int64",
    "u1": "uint8", "i1": "int8", "i2": "int16", "str": "string",
}  # fmt: skip
_OPTION_WRITERS: dict[str, Callable[[ConstraintEncoder, dict[str, Any]], Json]] = {
    "froms": _froms,
    "bools": _plain,
    "ints": _plain,
    "floats": _plain,
    "strings": _plain,
    "lists": _with_parts("items"),
    "tuples": _tuples,
    "np_shapes": _plain,
    "np_arrays": _arrays,
    "tensors": _arrays,
    "dtypes": _dtypes,
    "dicts": _with_parts("keys", "values"),
    "anys": _anys,
    "objs": _objs,
}
