"""Whether a call keeps to the annotations: for calls that were changed since they were drawn."""

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
from ciguard.functions.drawing.calls import holds
from ciguard.functions.drawing.plan import plan_of
from ciguard.functions.in_target.describing.encoding import TENSOR, generator_call
from ciguard.functions.solving.constraints import RANKS, SIDES, constraint_of, int_range, lengths
from ciguard.functions.solving.expressions import RaisesError, UnknownError, evaluate
from ciguard.functions.solving.parsing import names_in
from ciguard.functions.solving.resolving import ImpossibleError, resolved
from ciguard.functions.solving.views import view
from ciguard.functions.specs.calls import MAIN
from ciguard.functions.specs.kinds import (
    Anys,
    Arrays,
    Dicts,
    Dims,
    IntsIn,
    Lists,
    Objs,
    SizeOfCall,
    SizesOfCall,
    Spec,
    Tuples,
)
from ciguard.values import Array, Tensor, conforms

if TYPE_CHECKING:
    from ciguard.domain.values import Value
    from ciguard.functions.specs.calls import Arguments, Call
    from ciguard.functions.specs.functions import FunctionSpec, ModuleSpec


def is_valid(call: Call, module: ModuleSpec) -> bool:
    """Return whether a call keeps to all annotations that can be checked without making it.

    What only living objects can answer, the callee checks. Where it cannot be told whether a value
    conforms, the call counts as one that does not.
    """
    try:
        return _is_valid(call, module)
    except (ImpossibleError, RaisesError, UnknownError, TypeError, ValueError, KeyError):
        return False


def _is_valid(call: Call, module: ModuleSpec) -> bool:
    if call.function == MAIN:
        return False
    function = module.function(call.function)
    fits = _ValueCheck(module)
    if call.outer is not None and not _is_valid(call.outer, module):
        return False
    if function.constructor and call.constructor is not None:
        constructor = module.function(function.constructor)
        is_listed = call.constructor in constructor.examples
        if not (is_listed if constructor.examples else fits.all(constructor, call.constructor)):
            return False
    return fits.all(function, call.arguments)


class _ValueCheck:
    """Checks the values of one call."""

    def __init__(self, module: ModuleSpec) -> None:
        self._module = module
        self._sizes: dict[str, int] = {}
        self._runs: dict[str, tuple[int, ...]] = {}

    def all(self, function: FunctionSpec, arguments: Arguments) -> bool:
        """Return whether all arguments of a function conform, and its preconditions hold."""
        given, plan = dict(arguments), plan_of(function)
        if given.keys() != plan.specs.keys():
            return False
        scope: dict[str, Any] = dict(plan.defaults)
        for name in plan.order:
            if not self.one(given[name], resolved(plan.specs[name], scope)):
                return False
            scope[name] = view(given[name])
            if not holds(plan.decided_with(name), scope):
                return False
        return True

    def one(self, value: Value, spec: Spec) -> bool:
        """Return whether a value conforms to a constraint whose references are resolved."""
        match spec, value:
            case Anys(options), _:
                fits = any(self.one(value, option) for option in options)
            case Objs(generator), CallValue(name, (), keywords):
                made = self._module.function(generator)
                inner = _ValueCheck(self._module)
                fits = name == generator_call(generator) and inner.all(made, keywords)
            case Tuples(items), TupleValue(parts):
                fits = len(items) == len(parts) and all(map(self.one, parts, items))
            case Lists(), ListValue(parts) | TupleValue(parts):
                fits = self._list(value, parts, spec)
            case Dicts(), DictValue(pairs):
                fits = self._dictionary(pairs, spec)
            case Arrays(), _:
                fits = self._array(value, spec)
            case Objs() | Tuples() | Lists(), _:
                fits = False
            case _:
                fits = conforms(value, constraint_of(spec))
        return fits

    def _list(self, value: Value, parts: tuple[Value, ...], spec: Lists) -> bool:
        least, most = lengths(spec.min_len, spec.max_len)
        is_of_kind = isinstance(value, TupleValue) is spec.is_tuple
        is_long = least <= len(parts) <= most
        return is_of_kind and is_long and all(self.one(part, spec.item) for part in parts)

    def _dictionary(self, pairs: tuple[tuple[str, Value], ...], spec: Dicts) -> bool:
        least, most = lengths(spec.min_size, spec.max_size)
        return least <= len(pairs) <= most and all(
            self.one(LiteralValue(key), spec.keys) and self.one(item, spec.values)
            for key, item in pairs
        )

    def _array(self, value: Value, spec: Arrays) -> bool:
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
        made = kind(dtypes=names, shape=array.shape, low=low, high=high, nan=spec.nan)
        return conforms(array, made) and self._shape(array.shape, spec.shape)

    def _shape(self, shape: tuple[int, ...], spec: Any) -> bool:
        match spec:
            case None:
                return _is_within(len(shape), RANKS) and all(_is_within(n, SIDES) for n in shape)
            case Dims(dims):
                return self._dims(shape, dims)
            case _:
                return self.one(TupleValue(tuple(map(LiteralValue, shape))), spec)

    def _dims(self, shape: tuple[int, ...], dims: tuple[Any, ...]) -> bool:
        """Return whether sizes are as asked for; several parts of open length pass."""
        runs = [place for place, dim in enumerate(dims) if isinstance(dim, SizesOfCall)]
        extra = len(shape) - len(dims)
        if len(runs) > 1 or (not runs and extra) or extra < -1:
            return False
        if runs:
            first = runs[0]
            run = shape[first : first + extra + 1]
            symbol = dims[first].symbol
            if symbol and self._runs.setdefault(symbol, run) != run:
                return False
            shape = (*shape[:first], *shape[first + extra + 1 :])
            dims = (*dims[:first], *dims[first + 1 :])
        return all(map(self._size, shape, dims))

    def _size(self, size: int, dim: Any) -> bool:
        match dim:
            case int():
                return size == dim
            case None:
                return _is_within(size, SIDES)
            case SizeOfCall(expression):
                return self._named(size, expression)
            case IntsIn():
                return _is_within(size, int_range(dim))
            case _:
                return False

    def _named(self, size: int, expression: str) -> bool:
        if {expression} == names_in(expression):
            return self._sizes.setdefault(expression, size) == size
        return bool(evaluate(expression, self._sizes) == size)


def _is_within(number: int, ends: tuple[int, int]) -> bool:
    return ends[0] <= number <= ends[1]
