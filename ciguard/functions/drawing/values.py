"""Draws one value of a constraint, part by part where the parts hang together.

Two sources of randomness share it: Hypothesis, whose values shrink, and a seeded generator.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import ArrayValue, CallValue, ListValue, LiteralValue, TupleValue
from ciguard.functions.in_target.describing.encoding import TENSOR
from ciguard.functions.solving.constraints import (
    RANKS,
    SIDES,
    constraint_of,
    int_range,
    lengths,
    shape_ranges,
    whole,
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
    IntsIn,
    Lists,
    Objs,
    Reference,
    Shapes,
    SizeOfCall,
    SizesOfCall,
    Spec,
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
"""Of an array whose annotation leaves its size open."""

_PIXELS = (0.0, 255.0)
"""Elements of what is an image in nearly every program; other dtypes are drawn small."""

_TRIES_PER_KEY = 40
"""To find one that differs from those before."""


class RandomSource(Protocol):
    """Where randomness comes from."""

    tries: int
    """How often a value is drawn anew that a condition refuses."""

    def draw(self, constraint: Constraint) -> Value:
        """Return a value that conforms."""

    def index(self, count: int) -> int:
        """Return a number from 0 to `count` - 1."""


class SeededSource:
    """Draws from a seeded generator: fast, and the same for the same seed."""

    tries = 16

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def draw(self, constraint: Constraint) -> Value:
        """See `RandomSource`."""
        return compile_sampler(constraint)(self._rng, SamplingScope())

    def index(self, count: int) -> int:
        """See `RandomSource`."""
        return int(self._rng.random() * count)


class HypothesisSource:
    """Draws with Hypothesis: slower, but its values shrink."""

    tries = 4

    def __init__(self, draw: DrawFn) -> None:
        from hypothesis import strategies  # noqa: PLC0415 - takes long; campaigns never need it

        self._draw = draw
        self._strategies = strategies

    def draw(self, constraint: Constraint) -> Value:
        """See `RandomSource`."""
        return self._draw(_strategy_of(constraint))

    def index(self, count: int) -> int:
        """See `RandomSource`."""
        return self._draw(self._strategies.integers(0, count - 1)) if count > 1 else 0


def _strategy_of(constraint: Constraint) -> SearchStrategy[Value]:
    """Return the strategy of a constraint; the same for the same, which Hypothesis examines once.

    Found by its text, since 1, 1.0 and True are equal, and so are 0.0 and -0.0.
    """
    from ciguard.values import compile_strategy  # noqa: PLC0415 - as above

    text = repr(constraint)
    found = _STRATEGIES.get(text)
    if found is None:
        if len(_STRATEGIES) >= _MAX_STRATEGIES:
            _STRATEGIES.clear()
        found = _STRATEGIES[text] = compile_strategy(constraint)
    return found


_STRATEGIES: dict[str, SearchStrategy[Value]] = {}
_MAX_STRATEGIES = 4096


class Drawer:
    """Draws the values of one call.

    Args:
        source: of randomness.
        call: draws a call of an annotated function by its name, for `objs`.
    """

    def __init__(self, source: RandomSource, call: Callable[[str], Value]) -> None:
        self.source = source
        self._call = call
        self._sizes: dict[str, int] = {}
        self._runs: dict[str, tuple[int, ...]] = {}

    def draw(self, spec: Spec) -> Value:
        """Return a value of a constraint whose references are resolved.

        Raises:
            ImpossibleError: if there is none.
        """
        if _is_whole(spec):
            return self.source.draw(constraint_of(spec))
        draw: Callable[[Any], Value] = self._DRAWN_IN_PARTS[type(spec)].__get__(self)
        return draw(spec)

    def _made(self, spec: Objs) -> Value:
        return self._call(spec.generator)

    def _any(self, spec: Anys) -> Value:
        return self.draw(spec.options[self.source.index(len(spec.options))])

    def _tuple(self, spec: Tuples) -> Value:
        return TupleValue(tuple(self.draw(item) for item in spec.items))

    def _between(self, least: int, most: int) -> int:
        return least + self.source.index(most - least + 1)

    def _list(self, spec: Lists) -> Value:
        count = self._between(*lengths(spec.min_len, spec.max_len))
        items = tuple(self.draw(spec.item) for _ in range(count))
        return TupleValue(items) if spec.is_tuple else ListValue(items)

    def _dictionary(self, spec: Dicts) -> Value:
        least, most = lengths(whole(spec.min_size), whole(spec.max_size))
        count = self._between(least, most)
        keys: dict[str, Value] = {}
        for _ in range(count * _TRIES_PER_KEY):
            if len(keys) == count:
                break
            key = self.draw(spec.keys)
            keys.setdefault(key_text(key), key)
        if len(keys) < least:
            msg = "its keys are alike"
            raise ImpossibleError(msg)
        return dictionary((key, self.draw(spec.values)) for key in keys.values())

    def _array(self, spec: Arrays) -> Value:
        shape = self._limited(self._shape(spec.shape), spec)
        kind = Tensor if spec.is_tensor and not spec.library else Array
        names = spec.dtype if isinstance(spec.dtype, tuple) else element_types.COMMON
        low, high = _float_or_none(spec.min), _float_or_none(spec.max)
        if names == ("uint8",) and low is None and high is None:
            low, high = _PIXELS
        made = kind(dtypes=names, shape=shape, low=low, high=high, nan=spec.nan)
        drawn = self.source.draw(made)
        if spec.is_tensor and isinstance(drawn, ArrayValue):
            return CallValue(TENSOR, (LiteralValue(spec.library), drawn))
        return drawn

    _DRAWN_IN_PARTS: ClassVar[dict[type, Any]] = {
        Objs: _made,
        Arrays: _array,
        Anys: _any,
        Tuples: _tuple,
        Lists: _list,
        Dicts: _dictionary,
    }

    def _limited(self, shape: tuple[int, ...], spec: Arrays) -> tuple[int, ...]:
        """Return a shape that fits into memory, where the annotation leaves its sizes open."""
        if prod(shape) <= MAX_ELEMENTS or not isinstance(spec.shape, Shapes):
            return shape
        _, (smallest, _) = shape_ranges(spec.shape)
        sizes = list(shape)
        while prod(sizes) > MAX_ELEMENTS and max(sizes) > smallest:
            largest = sizes.index(max(sizes))
            sizes[largest] = max(smallest, sizes[largest] // 4)
        return tuple(sizes)

    def _shape(self, shape: Dims | Reference | Spec | None) -> tuple[int, ...]:
        match shape:
            case None:
                return tuple(self._between(*SIDES) for _ in range(self._between(*RANKS)))
            case Dims(dims):
                return tuple(size for dim in dims for size in self._sizes_of(dim))
            case Reference(expression):
                msg = f"{expression} is not resolved"
                raise TypeError(msg)
            case _:
                sizes = dims_of(view(self.draw(shape))).dims
                return tuple(size for size in sizes if isinstance(size, int))

    def _sizes_of(self, dim: Any) -> tuple[int, ...]:
        match dim:
            case int():
                return (dim,)
            case None:
                return (self._between(*SIDES),)
            case SizeOfCall(expression):
                return (self._size(expression),)
            case SizesOfCall(symbol):
                return self._run(symbol)
            case IntsIn():
                least, most = int_range(dim)
                if max(least, 0) > most:
                    raise ImpossibleError(str(dim))
                first = max(least, 0) if dim.step == 1 else least
                return (first + dim.step * self.source.index((most - first) // dim.step + 1),)
            case _:
                return tuple(s for s in dims_of(view(self.draw(dim))).dims if isinstance(s, int))

    def _size(self, expression: str) -> int:
        for name in sorted(names_in(expression)):
            if name not in self._sizes:
                self._sizes[name] = self._between(*SIDES)
        size = evaluate(expression, self._sizes)
        if type(size) is not int or size < 0:
            raise ImpossibleError(expression)
        return size

    def _run(self, symbol: str) -> tuple[int, ...]:
        found = self._runs.get(symbol)
        if found is None:
            found = tuple(self._between(1, 4) for _ in range(self._between(0, 2)))
            if symbol:
                self._runs[symbol] = found
        return found


def _is_whole(spec: Spec) -> bool:
    """Return whether `ciguard.values` draws it in one: no part is an array or a call."""
    return not isinstance(spec, Arrays | Objs) and all(map(_is_whole, parts_of(spec)))


def _float_or_none(bound: Any) -> float | None:
    return None if bound is None else bound
