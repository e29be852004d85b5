"""Evaluates expressions of drawn arguments, without running user code.

References (`ref("len(xs)")`) and preconditions are Python expressions. Arithmetic, comparisons,
lengths, shapes and types are evaluated here. Everything else raises `UnknownError`: only the
process with the actual arguments can evaluate it.
"""

from __future__ import annotations

import ast
import operator
from math import ceil, floor, prod
from typing import TYPE_CHECKING, Any

from ciguard.functions.solving.parsing import expression_tree
from ciguard.functions.solving.views import OPAQUE, ArrayView, DtypeView, ObjectView, Opaque
from ciguard.sources import dotted_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


class UnknownError(Exception):
    """Error for an expression that cannot be evaluated without the actual arguments."""

    def __str__(self) -> str:
        """Return the source text of the part that cannot be evaluated.

        The text is made on demand, because the error is raised often.
        """
        part = self.args[0] if self.args else ""
        return ast.unparse(part) if isinstance(part, ast.expr) else str(part)


class RaisesError(UnknownError):
    """Error for an expression whose evaluation with known values raises, such as an IndexError."""


def evaluate(text: str, scope: Mapping[str, Any]) -> Any:
    """Return the value of an expression.

    Args:
        text: the expression.
        scope: views of the arguments by name.

    Raises:
        UnknownError: if the expression cannot be evaluated, or its evaluation raises.
    """
    tree = expression_tree(text)
    if tree is None:
        raise UnknownError(text)
    return value_of(tree, scope)


def value_of(node: ast.expr, scope: Mapping[str, Any]) -> Any:
    """Return the value of an expression from its syntax tree; see `evaluate`."""
    reader = _READERS.get(type(node))
    if reader is None:
        raise UnknownError(node)
    try:
        value = reader(node, scope)
    except (ZeroDivisionError, LookupError) as error:
        raise RaisesError(node) from error
    except (ArithmeticError, TypeError, ValueError, AttributeError) as error:
        raise UnknownError(node) from error
    if value is OPAQUE:
        raise UnknownError(node)
    return value


def _name(node: ast.Name, scope: Mapping[str, Any]) -> Any:
    if node.id in scope:
        return scope[node.id]
    if node.id in _TYPES:
        return _TYPES[node.id]
    raise UnknownError(node.id)


def _binary(node: ast.BinOp, scope: Mapping[str, Any]) -> Any:
    apply = _BINARY_OPERATORS.get(type(node.op))
    if apply is None:
        raise UnknownError(node)
    left, right = value_of(node.left, scope), value_of(node.right, scope)
    if isinstance(node.op, ast.Pow) and not _is_small_power(left, right):
        raise UnknownError(node)
    return apply(left, right)


def _is_small_power(base: Any, exponent: Any) -> bool:
    return bool(abs(base) <= _MAX_BASE and abs(exponent) <= _MAX_EXPONENT)


_MAX_BASE, _MAX_EXPONENT = 10**6, 64
"""Maximum absolute values for powers, since Python's integers could fill the memory."""


def _unary(node: ast.UnaryOp, scope: Mapping[str, Any]) -> Any:
    operand = value_of(node.operand, scope)
    if isinstance(node.op, ast.Not):
        return not truth(operand)
    return -operand if isinstance(node.op, ast.USub) else +operand


def truth(value: Any) -> bool:
    """Return whether Python counts a value as true.

    Raises:
        UnknownError: if this is unknown, such as for an array.
    """
    if isinstance(value, ArrayView | DtypeView | Opaque):
        raise UnknownError(str(value))
    return bool(value)


def _boolean(node: ast.BoolOp, scope: Mapping[str, Any]) -> Any:
    deciding = isinstance(node.op, ast.Or)
    value: Any = not deciding
    for operand in node.values:
        value = value_of(operand, scope)
        if truth(value) is deciding:
            return value
    return value


def _comparison(node: ast.Compare, scope: Mapping[str, Any]) -> Any:
    left = value_of(node.left, scope)
    for op, operand in zip(node.ops, node.comparators, strict=True):
        right = value_of(operand, scope)
        if not compare(op, left, right):
            return False
        left = right
    return True


def compare(op: ast.cmpop, left: Any, right: Any) -> bool:
    """Return the result of a comparison.

    Raises:
        UnknownError: if the result depends on elements of an array, or on an unknown value.
    """
    if isinstance(left, DtypeView) or isinstance(right, DtypeView):
        return _compare_dtypes(op, left, right)
    is_identity_test = isinstance(op, ast.Is | ast.IsNot)
    if isinstance(left, Opaque) or isinstance(right, Opaque):
        raise UnknownError(op)
    if not is_identity_test and (isinstance(left, ArrayView) or _contains_array(right)):
        raise UnknownError(op)
    return bool(_COMPARISONS[type(op)](left, right))


def _contains_array(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_contains_array, value))
    return isinstance(value, ArrayView | Opaque)


def _compare_dtypes(op: ast.cmpop, left: Any, right: Any) -> bool:
    """Return the result of a comparison of dtypes, or of a dtype with a list of dtypes."""
    if isinstance(op, ast.In | ast.NotIn):
        is_member = any(_are_same_dtype(left, member) for member in right)
        return is_member is isinstance(op, ast.In)
    if isinstance(op, ast.Eq | ast.Is | ast.NotEq | ast.IsNot):
        return _are_same_dtype(left, right) is isinstance(op, ast.Eq | ast.Is)
    raise UnknownError(str(left))


def _are_same_dtype(left: Any, right: Any) -> bool:
    first, second = [side.name if isinstance(side, DtypeView) else side for side in (left, right)]
    if first is None or second is None:
        return first is second
    if not isinstance(first, str) or not isinstance(second, str):
        raise UnknownError(str((first, second)))
    return first == second


def _conditional(node: ast.IfExp, scope: Mapping[str, Any]) -> Any:
    chosen = node.body if truth(value_of(node.test, scope)) else node.orelse
    return value_of(chosen, scope)


def _attribute(node: ast.Attribute, scope: Mapping[str, Any]) -> Any:
    """Return the value of an attribute: a type, a dtype, or a property of an array or object."""
    path = dotted_name(node)
    if path in _TYPES:
        return _TYPES[path]
    owner, _, name = path.rpartition(".")
    if owner in _LIBRARIES and owner not in scope and name in _DTYPES:
        return DtypeView(_DTYPES[name])
    value = value_of(node.value, scope)
    if isinstance(value, ArrayView) and node.attr in {"shape", "ndim", "dtype", "size"}:
        return _array_attribute(value, node.attr)
    if node.attr == "name" and isinstance(value, DtypeView):
        return value.name
    if isinstance(value, ObjectView) and node.attr in value.attributes:
        return value.attributes[node.attr]
    raise UnknownError(path)


def _array_attribute(array: ArrayView, attribute: str) -> Any:
    if attribute == "dtype":
        return DtypeView(array.dtype)
    if attribute == "size":
        if array.is_tensor:
            raise UnknownError(attribute)  # numpy's `size` is a number, torch's is a method
        return prod(array.shape)
    return getattr(array, attribute)


def _item(node: ast.Subscript, scope: Mapping[str, Any]) -> Any:
    value = value_of(node.value, scope)
    if isinstance(value, ArrayView):
        raise UnknownError(node)
    if isinstance(node.slice, ast.Slice):
        edges = (node.slice.lower, node.slice.upper, node.slice.step)
        return value[slice(*(None if edge is None else value_of(edge, scope) for edge in edges))]
    return value[value_of(node.slice, scope)]


def _call(node: ast.Call, scope: Mapping[str, Any]) -> Any:
    """Return the result of a known function or method."""
    if node.keywords:
        raise UnknownError(node)
    path = dotted_name(node.func)
    function = _KNOWN_FUNCTIONS.get(path) if path.partition(".")[0] not in scope else None
    if function is None and isinstance(node.func, ast.Attribute):
        return _method(node, node.func, scope)
    if function is None:
        raise UnknownError(node)
    return function(*[value_of(argument, scope) for argument in node.args])


def _method(node: ast.Call, function: ast.Attribute, scope: Mapping[str, Any]) -> Any:
    """Return the result of a method of a tensor, string or dictionary, such as `x.size(0)`."""
    receiver = value_of(function.value, scope)
    arguments = [value_of(argument, scope) for argument in node.args]
    if isinstance(receiver, ArrayView) and receiver.is_tensor and function.attr in _TENSOR_METHODS:
        return _TENSOR_METHODS[function.attr](receiver, *arguments)
    if isinstance(receiver, str | dict) and function.attr in _SAFE_METHODS:
        return getattr(receiver, function.attr)(*arguments)
    raise UnknownError(node)


_TENSOR_METHODS: dict[str, Callable[..., Any]] = {
    "dim": lambda array: len(array.shape),
    "size": lambda array, *axis: array.shape[axis[0]] if axis else array.shape,
    "numel": lambda array: prod(array.shape),
}
_SAFE_METHODS = frozenset(
    ("startswith", "endswith", "lower", "upper", "isdigit", "isalpha", "keys", "values", "items")
)


def _comprehension(node: ast.GeneratorExp | ast.ListComp, scope: Mapping[str, Any]) -> Any:
    if len(node.generators) != 1 or node.generators[0].is_async:
        raise UnknownError(node)
    return list(_items(node, node.generators[0], scope))


def _items(
    node: ast.GeneratorExp | ast.ListComp, source: ast.comprehension, scope: Mapping[str, Any]
) -> Iterator[Any]:
    """Yield the items of a comprehension."""
    for item in value_of(source.iter, scope):
        inner = {**scope, **_target_bindings(source.target, item)}
        if all(truth(value_of(condition, inner)) for condition in source.ifs):
            yield value_of(node.elt, inner)


def _target_bindings(target: ast.expr, item: Any) -> dict[str, Any]:
    """Return the values by variable that a comprehension's target gets for one item."""
    if isinstance(target, ast.Name):
        return {target.id: item}
    if isinstance(target, ast.Tuple):
        pairs = zip(target.elts, item, strict=True)
        return {
            name: value
            for part, element in pairs
            for name, value in _target_bindings(part, element).items()
        }
    raise UnknownError(target)


class TensorType:
    """Placeholder for the tensor class of every library."""


class ArrayType:
    """Placeholder for numpy's array class."""


_TENSOR_TYPES = ("torch.Tensor", "tf.Tensor", "tensorflow.Tensor", "jt.Var", "jax.Array")
_ARRAY_TYPES = ("np.ndarray", "numpy.ndarray")
_TYPES: dict[str, Any] = {
    "int": int, "float": float, "bool": bool, "str": str, "list": list, "tuple": tuple,
    "dict": dict, "bytes": bytes, "complex": complex,
    **dict.fromkeys(_TENSOR_TYPES, TensorType),
    **dict.fromkeys(_ARRAY_TYPES, ArrayType),
}  # fmt: skip
"""Types by their usual names in programs."""
_LIBRARIES = frozenset(("np", "numpy", "torch", "tf", "tensorflow", "jt", "jnp", "jax.numpy"))
_DTYPES = {
    **{
        name: name
        for name in (
            "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
            "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
        )
    },
    "bool_": "bool", "half": "float16", "double": "float64", "long": "int64",
}  # fmt: skip


def _type(value: Any) -> type:
    if isinstance(value, ArrayView):
        return TensorType if value.is_tensor else ArrayType
    if isinstance(value, DtypeView | Opaque):
        raise UnknownError(str(value))
    return type(value)


def _isinstance(value: Any, kinds: Any) -> bool:
    return issubclass(_type(value), kinds)


def _range(*edges: int) -> range:
    numbers = range(*edges)
    if len(numbers) > _MAX_RANGE_LENGTH:
        raise UnknownError(str(numbers))
    return numbers


def _length(value: Any) -> int:
    if isinstance(value, ObjectView) and "__len__" in value.attributes:
        return int(value.attributes["__len__"])
    return value.shape[0] if isinstance(value, ArrayView) else len(value)


_KNOWN_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "len": _length, "min": min, "max": max, "abs": abs, "sum": sum, "all": all, "any": any,
    "sorted": sorted, "set": set, "round": round, "type": _type, "isinstance": _isinstance,
    "int": int, "float": float, "bool": truth, "tuple": tuple, "list": list, "zip": zip,
    "math.prod": prod, "prod": prod, "np.prod": prod, "divmod": divmod, "enumerate": enumerate,
    "range": _range, "math.ceil": ceil, "math.floor": floor,
    "np.ceil": lambda number: float(ceil(number)), "np.floor": lambda number: float(floor(number)),
}  # fmt: skip
_MAX_RANGE_LENGTH = 10_000
_BINARY_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Pow: operator.pow, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
}  # fmt: skip
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda item, items: item in items, ast.NotIn: lambda item, items: item not in items,
}  # fmt: skip
_READERS: dict[type[ast.expr], Callable[[Any, Mapping[str, Any]], Any]] = {
    ast.Constant: lambda node, scope: node.value,  # noqa: ARG005 - all readers share one signature
    ast.Name: _name,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _comparison,
    ast.IfExp: _conditional,
    ast.Attribute: _attribute,
    ast.Subscript: _item,
    ast.Call: _call,
    ast.Tuple: lambda node, scope: tuple([value_of(item, scope) for item in node.elts]),
    ast.List: lambda node, scope: [value_of(item, scope) for item in node.elts],
    ast.Set: lambda node, scope: {value_of(item, scope) for item in node.elts},
    ast.GeneratorExp: _comprehension,
    ast.ListComp: _comprehension,
}
