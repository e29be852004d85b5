"""Constraints of annotations as JSON, written in the target: `{"kind": "ints", "min": 1}`.

A reference becomes `{"ref": "len(xs)"}`. A value that was listed becomes `{"value": …}`, the form
of `domain.values.value_to_json`, where it is data; else `{"choice": 3, "name": "Mode.MAX"}`: its
place among the objects that this argument was given, which only the process that imported the
module can look up, and what the module calls it, if anything.

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
"""`CallValue` of this name: the object at a place (function, argument, number), and its name."""
EXAMPLES = "cc_example"
"""Argument that objects in a constructor's examples are of."""
TENSOR = "ciguard.tensor"
"""`CallValue` of this name: a tensor of another library than the module's (library, array)."""
DTYPE = "ciguard.dtype"
"""Likewise a dtype object (library, name)."""


def generator_call(name: str) -> str:
    """Return what a `CallValue` names that calls an annotated function: `:gan_gens`."""
    return name if ":" in name else f":{name}"


class CannotEncodeError(ValueError):
    """A constraint that cannot be meant; the message says why."""


class NoDataError(ValueError):
    """An object that has no form as data."""


class ConstraintEncoder:
    """Writes the constraints of one argument.

    Args:
        choices: receives the objects that have no data form; a choice is a place in it.
        name_of: returns the name of the annotated function that `objs` was given.
        own_module: of which objects are no members by name: it may be imported under another name.
    """

    def __init__(
        self, choices: list[Any], name_of: Callable[[Any], str], own_module: str = ""
    ) -> None:
        self._choices = choices
        self._name_of = name_of
        self._own_module = own_module

    def spec(self, values: Any) -> Json:
        """Return the JSON form of a constraint; what is none stands for itself.

        Raises:
            CannotEncodeError: if it names what there is not.
        """
        if not is_values(values):
            return {"kind": "froms", "values": [self.item(values)]}
        try:
            write = _WRITERS[values.kind]
        except KeyError:
            msg = f"{values.kind} is no constraint that this version of ciguard knows"
            raise CannotEncodeError(msg) from None
        return {"kind": values.kind, **write(self, values.options)}

    def item(self, value: Any) -> Json:
        """Return the JSON form of one value that was listed."""
        try:
            return {"value": as_data(value, self._own_module)}
        except NoDataError:
            self._choices.append(value)
            name = name_in(sys.modules.get(self._own_module), value)
            return {"choice": len(self._choices) - 1, "name": name}

    def generator(self, function: Any) -> Json:
        """Return the name of a generator.

        Raises:
            CannotEncodeError: if it is no annotated function.
        """
        return self._name_of(function)


def is_values(item: Any) -> bool:
    """Return whether something is a constraint, of ciguard's annotations or of a copy of them."""
    return type(item).__name__ == "Values" and hasattr(item, "kind") and hasattr(item, "options")


def is_ref(item: Any) -> bool:
    """Return whether something follows from other arguments."""
    return type(item).__name__ == "Ref" and hasattr(item, "expression")


def as_data(value: Any, own_module: str = "") -> Json:
    """Return a value in the form of `ciguard.domain.values.value_to_json`.

    Raises:
        NoDataError: if it has none.
    """
    write = _DATA.get(type(value))
    if write is not None:
        return write(value, own_module)
    return _member(value, own_module)


def _float(value: float, own_module: str) -> Json:
    del own_module
    return value if math.isfinite(value) else ["f", repr(value)]


def _dictionary(value: dict[Any, Any], own_module: str) -> Json:
    if not all(type(key) is str for key in value):
        raise NoDataError(value)
    return ["d", [[key, as_data(item, own_module)] for key, item in value.items()]]


_DATA: dict[type, Callable[[Any, str], Json]] = {
    type(None): lambda value, _: value,
    bool: lambda value, _: value,
    int: lambda value, _: value,
    str: lambda value, _: value,
    float: _float,
    complex: lambda value, _: ["z", repr(value.real), repr(value.imag)],
    bytes: lambda value, _: ["b", value.decode("latin-1")],
    list: lambda value, own: ["l", [as_data(item, own) for item in value]],
    tuple: lambda value, own: ["p", [as_data(item, own) for item in value]],
    dict: _dictionary,
}
"""Exact types only: a subclass, such as a named tuple or a member of an enumeration, is more."""


def _member(value: Any, own_module: str) -> Json:
    """Name what a library has by its path: `["m", "keras.activations.relu"]`."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if name is None and _is_dotted(str(value)):  # a dtype: `torch.float32`
        module, _, name = str(value).rpartition(".")
    if not isinstance(module, str) or not isinstance(name, str) or module == own_module:
        raise NoDataError(value)
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not value:
        raise NoDataError(value)
    return ["m", f"{module}.{name}"]


def name_in(module: Any, value: Any) -> str:
    """Return the dotted name of an object in a module, a member of an enumeration's for example.

    Empty where it has none.
    """
    scope = getattr(module, "__dict__", {})
    if isinstance(value, enum.Enum):
        paths = [f"{type(value).__qualname__}.{value.name}"]
    else:
        shown = (getattr(value, "__qualname__", None), repr(value))
        paths = [name for name in shown if isinstance(name, str) and _is_dotted(f".{name}")]
        paths += [name for name, item in list(scope.items()) if item is value]
    return next((path for path in paths if path and _at(scope, path) is value), "")


def _is_dotted(text: str) -> bool:
    """Return whether a text is a name behind that of a module, or behind nothing: `.relu`."""
    first, *rest = text.split(".")
    return bool(rest) and all(part.isidentifier() for part in ([first] if first else []) + rest)


def _at(scope: dict[str, Any], path: str) -> Any:
    first, *rest = path.split(".")
    found = scope.get(first)
    for part in rest:
        found = getattr(found, part, None)
    return found


# --- options of the kinds -----------------------------------------------------------------------


def _bound(value: Any) -> Json:
    if is_ref(value):
        return {"ref": value.expression}
    return ["f", repr(value)] if isinstance(value, float) and not math.isfinite(value) else value


def _plain(encoder: ConstraintEncoder, options: dict[str, Any]) -> Json:
    del encoder
    return {name: _bound(value) for name, value in options.items()}


def _froms(encoder: ConstraintEncoder, options: dict[str, Any]) -> Json:
    return {"values": [encoder.item(value) for value in options["values"]]}


def _with_parts(*parts: str) -> Callable[[ConstraintEncoder, dict[str, Any]], Json]:
    def write(encoder: ConstraintEncoder, options: dict[str, Any]) -> Json:
        rest = {name: value for name, value in options.items() if name not in parts}
        written = _plain(encoder, rest)
        for part in parts:
            if part in options:
                written[part] = encoder.spec(options[part])
        return written

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
    if is_values(shape):
        return encoder.spec(shape)
    return {"dims": [_dim(encoder, dim) for dim in shape]}


def _dim(encoder: ConstraintEncoder, dim: Any) -> Json:
    """Return a size: an int, a reference, a constraint, a symbol of the call, or None: any."""
    if is_ref(dim):
        return {"ref": dim.expression}
    if is_values(dim):
        return encoder.spec(dim)
    if isinstance(dim, str):
        return {"size": dim}
    if dim is None or (isinstance(dim, int) and not isinstance(dim, bool) and dim >= 0):
        return dim
    msg = f"{dim!r} is no size of an array"
    raise CannotEncodeError(msg)


def dtype_form(dtype: Any) -> Json:
    """Return a reference, or the common names of one or several dtypes.

    Raises:
        CannotEncodeError: if one is unknown.
    """
    if is_ref(dtype):
        return {"ref": dtype.expression}
    if is_values(dtype):
        return _dtypes_listed(dtype)
    several = dtype if isinstance(dtype, (list, tuple, set, frozenset)) else [dtype]
    return [dtype_name(one) for one in several]


def _dtypes_listed(values: Any) -> Json:
    listed = values.options.get("names" if values.kind == "dtypes" else "values")
    if values.kind not in ("dtypes", "froms") or not listed:
        msg = f"{values!r} lists no dtypes"
        raise CannotEncodeError(msg)
    return [dtype_name(one) for one in listed]


def dtype_name(dtype: Any) -> str:
    """Return the name that all libraries share: of `torch.float32`, `float` and the like.

    Raises:
        CannotEncodeError: if it is none that a target can make from numpy.
    """
    name = _BUILTIN.get(dtype) if isinstance(dtype, type) else None
    if name is None:
        name = dtype if isinstance(dtype, str) else _shown_name(dtype)
    name = _OTHER_NAMES.get(name, name)
    if name not in EVERY:
        msg = f"{dtype!r} is no dtype that ciguard makes arrays of"
        raise CannotEncodeError(msg)
    return name


def _shown_name(dtype: Any) -> str:
    for attribute in ("name", "__name__"):
        name = getattr(dtype, attribute, None)
        if isinstance(name, str):
            return name
    return str(dtype).rpartition(".")[2]


_BUILTIN = {float: "float64", int: "int64", bool: "bool", complex: "complex128", str: "string"}
_OTHER_NAMES = {
    "float": "float64", "double": "float64", "half": "float16", "single": "float32",
    "int": "int64", "long": "int64", "short": "int16", "bool_": "bool", "boolean": "bool",
    "f4": "float32", "f8": "float64", "f2": "float16", "i4": "int32", "i8": "int64",
    "u1": "uint8", "i1": "int8", "i2": "int16", "str": "string",
}  # fmt: skip
_WRITERS: dict[str, Callable[[ConstraintEncoder, dict[str, Any]], Json]] = {
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
