"""Draws one value of a constraint, part by part if the parts depend on each other.

The source of randomness is either Hypothesis, which can shrink values, or a seeded generator.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import ArrayValue, CallValue, ListValue, LiteralValue, TupleValue
from ciguard.functions.in_target.describing.encoding import TENSOR
from ciguard.functions.solving.constraints import (
    DEFAULT_RANKS,
    DEFAULT_SIZES,
    constraint_of,
    int_range,
    length_range,
    resolved_length,
    shape_ranges,
)
from ciguard.functions.solving.expressions import evaluate
from ciguard.functions.solving.parsing import names_in
from ciguard.functions.solving.resolving import ImpossibleError, dims_of
from ciguard.functions.solving.views import view
from ciguard.functions.specs.kinds import (
    Anys,
    Arrays,
    Dicts,
    Dims,
    IntRange,
    Lists,
    Objs,
    Reference,
    Shapes,
    Spec,
    SymbolicSize,
    SymbolicSizes,
    Tuples,
    parts_of,
)
from ciguard.values import Array, SamplingScope, Tensor, compile_sampler, dictionary, key_text

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from hypothesis.strategies import DrawFn, SearchStrategy

    from ciguard.domain.values import Value
    from ciguard.values import Constraint

MAX_ELEMENTS = 2**20
"""Maximum number of elements of an array whose annotation does not fix its size."""

_PIXEL_RANGE = (0.0, 255.0)
"""Default range of the elements of `uint8` arrays, which are images in most programs."""

_ATTEMPTS_PER_KEY = 40
"""Number of attempts to draw a dictionary's key that differs from the previous keys."""


class RandomSource(Protocol):
    """Source of randomness."""

    attempts: int
    """Maximum number of values to draw for an argument until its preconditions hold."""

    def draw(self, constraint: Constraint) -> Value:
        """Return a value that conforms to a constraint."""

    def index(self, count: int) -> int:
        """Return a random number from 0 to `count` - 1."""


class SeededSource:
    """Draws from a seeded generator, which is fast and reproducible."""

    attempts = 16

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def draw(self, constraint: Constraint) -> Value:
        """See `RandomSource`."""
        return compile_sampler(constraint)(self._rng, SamplingScope())

    def index(self, count: int) -> int:
        """See `RandomSource`."""
        return int(self._rng.random() * count)


class HypothesisSource:
    """Draws with Hypothesis, which is slower but can shrink values."""

    attempts = 4

    def __init__(self, draw: DrawFn) -> None:
        from hypothesis import strategies  # noqa: PLC0415 - takes long to import

        self._draw = draw
        self._strategies = strategies

    def draw(self, constraint: Constraint) -> Value:
        """See `RandomSource`."""
        return self._draw(_strategy_of(constraint))

    def index(self, count: int) -> int:
        """See `RandomSource`."""
        return self._draw(self._strategies.integers(0, count - 1)) if count > 1 else 0


def _strategy_of(constraint: Constraint) -> SearchStrategy[Value]:
    """Return the cached strategy for a constraint; Hypothesis validates each new strategy slowly.

    The cache's key is the constraint's text, because 1, 1.0 and True are equal, as are 0.0 and
    -0.0.
    """
    from ciguard.values import compile_strategy  # noqa: PLC0415 - imports Hypothesis

    text = repr(constraint)
    strategy = _STRATEGIES.get(text)
    if strategy is None:
        if len(_STRATEGIES) >= _MAX_STRATEGIES:
            _STRATEGIES.clear()
        strategy = _STRATEGIES[text] = compile_strategy(constraint)
    return strategy


_STRATEGIES: dict[str, SearchStrategy[Value]] = {}
_MAX_STRATEGIES = 4096
"""Maximum number of cached strategies."""


class ValueDrawer:
    """Draws the values of one call.

    Args:
        source: source of randomness.
        call: draws a call of the annotated function with a name, for `objs`.
    """

    def __init__(self, source: RandomSource, call: Callable[[str], Value]) -> None:
        self.source = source
        self._call = call
        self._sizes: dict[str, int] = {}
        self._sizes_by_symbol: dict[str, tuple[int, ...]] = {}

    def draw(self, spec: Spec) -> Value:
        """Return a value that conforms to a constraint without references.

        Raises:
            ImpossibleError: if no value conforms.
        """
        if _is_drawn_at_once(spec):
            return self.source.draw(constraint_of(spec))
        draw: Callable[[Any], Value] = self._DRAWERS_BY_TYPE[type(spec)].__get__(self)
        return draw(spec)

    def _generate(self, spec: Objs) -> Value:
        return self._call(spec.generator)

    def _any(self, spec: Anys) -> Value:
        return self.draw(spec.options[self.source.index(len(spec.options))])

    def _tuple(self, spec: Tuples) -> Value:
        return TupleValue(tuple(self.draw(item) for item in spec.items))

    def _between(self, minimum: int, maximum: int) -> int:
        return minimum + self.source.index(maximum - minimum + 1)

    def _list(self, spec: Lists) -> Value:
        count = self._between(*length_range(spec.min_len, spec.max_len))
        items = tuple(self.draw(spec.item) for _ in range(count))
        return TupleValue(items) if spec.is_tuple else ListValue(items)

    def _dictionary(self, spec: Dicts) -> Value:
        """Return a dictionary with drawn keys that all differ."""
        smallest, largest = length_range(
            resolved_length(spec.min_size), resolved_length(spec.max_size)
        )
        count = self._between(smallest, largest)
        keys: dict[str, Value] = {}
        for _ in range(count * _ATTEMPTS_PER_KEY):
            if len(keys) == count:
                break
            key = self.draw(spec.keys)
            keys.setdefault(key_text(key), key)
        if len(keys) < smallest:
            msg = f"only {len(keys)} distinct keys were drawn, and {smallest} are needed"
            raise ImpossibleError(msg)
        return dictionary((key, self.draw(spec.values)) for key in keys.values())

    def _array(self, spec: Arrays) -> Value:
        """Return an array or tensor with a drawn shape."""
        shape = self._fit_in_memory(self._shape(spec.shape), spec)
        kind = Tensor if spec.is_tensor and not spec.library else Array
        names = spec.dtype if isinstance(spec.dtype, tuple) else element_types.COMMON
        low, high = _float_or_none(spec.min), _float_or_none(spec.max)
        if names == ("uint8",) and low is None and high is None:
            low, high = _PIXEL_RANGE
        constraint = kind(dtypes=names, shape=shape, low=low, high=high, nan=spec.nan)
        array = self.source.draw(constraint)
        if spec.is_tensor and isinstance(array, ArrayValue):
            return CallValue(TENSOR, (LiteralValue(spec.library), array))
        return array

    _DRAWERS_BY_TYPE: ClassVar[dict[type, Any]] = {
        Objs: _generate,
        Arrays: _array,
        Anys: _any,
        Tuples: _tuple,
        Lists: _list,
        Dicts: _dictionary,
    }

    def _fit_in_memory(self, shape: tuple[int, ...], spec: Arrays) -> tuple[int, ...]:
        """Return a shape, with smaller sizes if it is too large and the annotation allows them."""
        if prod(shape) <= MAX_ELEMENTS or not isinstance(spec.shape, Shapes):
            return shape
        _, (smallest, _) = shape_ranges(spec.shape)
        sizes = list(shape)
        while prod(sizes) > MAX_ELEMENTS and max(sizes) > smallest:
            largest = sizes.index(max(sizes))
            sizes[largest] = max(smallest, sizes[largest] // 4)
        return tuple(sizes)

    def _shape(self, shape: Dims | Reference | Spec | None) -> tuple[int, ...]:
        """Return a drawn shape that conforms to its constraint."""
        match shape:
            case None:
                return tuple(
                    self._between(*DEFAULT_SIZES) for _ in range(self._between(*DEFAULT_RANKS))
                )
            case Dims(dims):
                return tuple(size for dim in dims for size in self._sizes_of(dim))
            case Reference(expression):
                msg = f"{expression} is not resolved"
                raise TypeError(msg)
            case _:
                sizes = dims_of(view(self.draw(shape))).dims
                return tuple(size for size in sizes if isinstance(size, int))

    def _sizes_of(self, dim: Any) -> tuple[int, ...]:
        """Return drawn sizes for one dimension of a constraint; several for `SymbolicSizes`."""
        match dim:
            case int():
                return (dim,)
            case None:
                return (self._between(*DEFAULT_SIZES),)
            case SymbolicSize(expression):
                return (self._size(expression),)
            case SymbolicSizes(symbol):
                return self._open_sizes(symbol)
            case IntRange():
                minimum, maximum = int_range(dim)
                if max(minimum, 0) > maximum:
                    raise ImpossibleError(str(dim))
                first = max(minimum, 0) if dim.step == 1 else minimum
                return (first + dim.step * self.source.index((maximum - first) // dim.step + 1),)
            case _:
                return tuple(
                    size for size in dims_of(view(self.draw(dim))).dims if isinstance(size, int)
                )

    def _size(self, expression: str) -> int:
        """Return the value of an expression of symbols; draw each symbol on its first use."""
        for name in sorted(names_in(expression)):
            if name not in self._sizes:
                self._sizes[name] = self._between(*DEFAULT_SIZES)
        size = evaluate(expression, self._sizes)
        if type(size) is not int or size < 0:
            raise ImpossibleError(expression)
        return size

    def _open_sizes(self, symbol: str) -> tuple[int, ...]:
        """Return the sizes for which a symbol stands; draw them on the symbol's first use."""
        sizes = self._sizes_by_symbol.get(symbol)
        if sizes is None:
            sizes = tuple(self._between(1, 4) for _ in range(self._between(0, 2)))
            if symbol:
                self._sizes_by_symbol[symbol] = sizes
        return sizes


def _is_drawn_at_once(spec: Spec) -> bool:
    """Return whether `ciguard.values` can draw a value as a whole: it has no arrays and calls."""
    return not isinstance(spec, Arrays | Objs) and all(map(_is_drawn_at_once, parts_of(spec)))


def _float_or_none(bound: Any) -> float | None:
    return None if bound is None else bound
