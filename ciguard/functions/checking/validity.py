"""Checks whether a changed call still conforms to the annotations of its function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import (
    ArrayValue,
    CallValue,
    DictValue,
    ListValue,
    LiteralValue,
    TensorValue,
    TupleValue,
)
from ciguard.functions.drawing.calls import may_hold
from ciguard.functions.drawing.plan import plan_of
from ciguard.functions.in_target.describing.encoding import TENSOR, generator_call
from ciguard.functions.solving.constraints import (
    DEFAULT_RANKS,
    DEFAULT_SIZES,
    constraint_of,
    int_range,
    length_range,
)
from ciguard.functions.solving.expressions import RaisesError, UnknownError, evaluate
from ciguard.functions.solving.parsing import names_in
from ciguard.functions.solving.resolving import ImpossibleError, resolve
from ciguard.functions.solving.views import view
from ciguard.functions.specs.calls import MAIN
from ciguard.functions.specs.kinds import (
    Anys,
    Arrays,
    Dicts,
    Dims,
    IntRange,
    Lists,
    Objs,
    Spec,
    SymbolicSize,
    SymbolicSizes,
    Tuples,
)
from ciguard.values import Array, Tensor, conforms

if TYPE_CHECKING:
    from ciguard.domain.values import Value
    from ciguard.functions.specs.calls import Arguments, Call
    from ciguard.functions.specs.functions import FunctionSpec, ModuleSpec


def is_valid(call: Call, module: ModuleSpec) -> bool:
    """Return whether a call conforms to all annotations that can be checked without the call.

    The process that makes the call checks the annotations that need the actual objects. A call
    counts as invalid if it is unknown whether a value conforms.
    """
    try:
        return _is_valid(call, module)
    except (ImpossibleError, RaisesError, UnknownError, TypeError, ValueError, KeyError):
        return False


def _is_valid(call: Call, module: ModuleSpec) -> bool:
    """Return whether a call conforms to the annotations; raise if this is unknown."""
    if call.function == MAIN:
        return False
    function = module.function(call.function)
    check = _ValueCheck(module)
    if call.outer is not None and not _is_valid(call.outer, module):
        return False
    if function.constructor and call.constructor is not None:
        constructor = module.function(function.constructor)
        is_listed = call.constructor in constructor.examples
        if not (
            is_listed
            if constructor.examples
            else check.are_valid_arguments(constructor, call.constructor)
        ):
            return False
    return check.are_valid_arguments(function, call.arguments)


class _ValueCheck:
    """Checks the values of one call; a symbol has the same size in all values."""

    def __init__(self, module: ModuleSpec) -> None:
        self._module = module
        self._sizes: dict[str, int] = {}
        self._sizes_by_symbol: dict[str, tuple[int, ...]] = {}

    def are_valid_arguments(self, function: FunctionSpec, arguments: Arguments) -> bool:
        """Return whether all arguments of a function conform and its preconditions hold."""
        values, plan = dict(arguments), plan_of(function)
        if values.keys() != plan.specs.keys():
            return False
        scope: dict[str, Any] = dict(plan.defaults)
        for name in plan.order:
            if not self.is_valid_value(values[name], resolve(plan.specs[name], scope)):
                return False
            scope[name] = view(values[name])
            if not may_hold(plan.conditions_ready_after(name), scope):
                return False
        return True

    def is_valid_value(self, value: Value, spec: Spec) -> bool:
        """Return whether a value conforms to a constraint; `spec` must not contain references."""
        match spec, value:
            case Anys(options), _:
                is_valid = any(self.is_valid_value(value, option) for option in options)
            case Objs(generator), CallValue(name, (), keywords):
                function = self._module.function(generator)
                check = _ValueCheck(self._module)
                is_valid = name == generator_call(generator) and check.are_valid_arguments(
                    function, keywords
                )
            case Tuples(items), TupleValue(parts):
                is_valid = len(items) == len(parts) and all(map(self.is_valid_value, parts, items))
            case Lists(), ListValue(parts) | TupleValue(parts):
                is_valid = self._list(value, parts, spec)
            case Dicts(), DictValue(pairs):
                is_valid = self._dictionary(pairs, spec)
            case Arrays(), _:
                is_valid = self._array(value, spec)
            case Objs() | Tuples() | Lists(), _:
                is_valid = False
            case _:
                is_valid = conforms(value, constraint_of(spec))
        return is_valid

    def _list(self, value: Value, parts: tuple[Value, ...], spec: Lists) -> bool:
        shortest, longest = length_range(spec.min_len, spec.max_len)
        has_type = isinstance(value, TupleValue) is spec.is_tuple
        has_length = shortest <= len(parts) <= longest
        return (
            has_type and has_length and all(self.is_valid_value(part, spec.item) for part in parts)
        )

    def _dictionary(self, pairs: tuple[tuple[str, Value], ...], spec: Dicts) -> bool:
        smallest, largest = length_range(spec.min_size, spec.max_size)
        return smallest <= len(pairs) <= largest and all(
            self.is_valid_value(LiteralValue(key), spec.keys)
            and self.is_valid_value(item, spec.values)
            for key, item in pairs
        )

    def _array(self, value: Value, spec: Arrays) -> bool:
        """Return whether a value is an array or tensor that conforms to a constraint."""
        array: Value = value
        if isinstance(value, CallValue) and value.function == TENSOR:
            library, array = value.arguments
            if library != LiteralValue(spec.library):
                return False
        if not isinstance(array, ArrayValue | TensorValue):
            return False
        if isinstance(array, TensorValue) is not (spec.is_tensor and not spec.library):
            return False
        kind = Tensor if isinstance(array, TensorValue) else Array
        names = spec.dtype if isinstance(spec.dtype, tuple) else element_types.COMMON
        low, high = (None if bound is None else float(str(bound)) for bound in (spec.min, spec.max))
        constraint = kind(dtypes=names, shape=array.shape, low=low, high=high, nan=spec.nan)
        return conforms(array, constraint) and self._shape(array.shape, spec.shape)

    def _shape(self, shape: tuple[int, ...], spec: Any) -> bool:
        """Return whether a shape conforms to its constraint; None accepts the default sizes."""
        match spec:
            case None:
                return _is_within(len(shape), DEFAULT_RANKS) and all(
                    _is_within(size, DEFAULT_SIZES) for size in shape
                )
            case Dims(dims):
                return self._dims(shape, dims)
            case _:
                return self.is_valid_value(TupleValue(tuple(map(LiteralValue, shape))), spec)

    def _dims(self, shape: tuple[int, ...], dims: tuple[Any, ...]) -> bool:
        """Return whether sizes conform to dimensions, of which one may be a `SymbolicSizes`."""
        open_positions = [
            position for position, dim in enumerate(dims) if isinstance(dim, SymbolicSizes)
        ]
        extra = len(shape) - len(dims)
        if len(open_positions) > 1 or (not open_positions and extra) or extra < -1:
            return False
        if open_positions:
            start = open_positions[0]
            sizes = shape[start : start + extra + 1]
            symbol = dims[start].symbol
            if symbol and self._sizes_by_symbol.setdefault(symbol, sizes) != sizes:
                return False
            shape = (*shape[:start], *shape[start + extra + 1 :])
            dims = (*dims[:start], *dims[start + 1 :])
        return all(map(self._size, shape, dims))

    def _size(self, size: int, dim: Any) -> bool:
        """Return whether a size conforms to its constraint; None accepts the default sizes."""
        match dim:
            case int():
                return size == dim
            case None:
                return _is_within(size, DEFAULT_SIZES)
            case SymbolicSize(expression):
                return self._is_symbolic_size(size, expression)
            case IntRange():
                return _is_within(size, int_range(dim))
            case _:
                return False

    def _is_symbolic_size(self, size: int, expression: str) -> bool:
        if {expression} == names_in(expression):
            return self._sizes.setdefault(expression, size) == size
        return bool(evaluate(expression, self._sizes) == size)


def _is_within(number: int, bounds: tuple[int, int]) -> bool:
    return bounds[0] <= number <= bounds[1]
