"""Draws whole calls of annotated functions, which are valid as far as can be checked here.

Each argument is drawn after those that it depends on. Preconditions that need the actual objects
are left to the process that makes the call.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING, Any

from ciguard.domain.values import CallValue, ListValue, LiteralValue, TupleValue, Value
from ciguard.functions.drawing.plan import DrawingPlan, plan_of
from ciguard.functions.drawing.values import (
    HypothesisSource,
    RandomSource,
    SeededSource,
    ValueDrawer,
)
from ciguard.functions.in_target.describing.encoding import generator_call
from ciguard.functions.solving.constraints import int_range, length_range
from ciguard.functions.solving.expressions import RaisesError, UnknownError, evaluate, truth
from ciguard.functions.solving.narrowing import narrowed
from ciguard.functions.solving.resolving import ImpossibleError, resolved
from ciguard.functions.solving.views import ObjectView, view
from ciguard.functions.specs.calls import MAIN, Arguments, Call
from ciguard.functions.specs.kinds import IntsIn, Lists
from ciguard.values import OneOf

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping

    from hypothesis.strategies import DrawFn, SearchStrategy

    from ciguard.functions.specs.functions import FunctionSpec, MainSpec, ModuleSpec
    from ciguard.functions.specs.kinds import Spec


class NoValidCallError(Exception):
    """The values drawn so far leave no valid call."""


def call_strategy(function: FunctionSpec, module: ModuleSpec) -> SearchStrategy[Call]:
    """Return a Hypothesis strategy of valid calls, which rejects invalid ones."""
    from hypothesis import reject  # noqa: PLC0415 - takes long to import; campaigns never need it
    from hypothesis import strategies as st  # noqa: PLC0415 - as above

    @st.composite
    def calls(draw: DrawFn) -> Call:
        try:
            return _CallDrawer(module, HypothesisSource(draw)).call(function)
        except NoValidCallError:
            return reject()

    return calls()


def call_sampler(
    function: FunctionSpec, module: ModuleSpec
) -> Callable[[random.Random], Call | None]:
    """Return a function that draws a valid call, or None if what it drew is invalid."""

    def sample(rng: random.Random) -> Call | None:
        try:
            return _CallDrawer(module, SeededSource(rng)).call(function)
        except NoValidCallError:
            return None

    return sample


def main_strategy(main: MainSpec) -> SearchStrategy[Call]:
    """Return a Hypothesis strategy of calls that run a module as a script."""
    from hypothesis import strategies as st  # noqa: PLC0415 - as above

    return st.composite(lambda draw: _main_call(main, HypothesisSource(draw)))()


def main_sampler(main: MainSpec) -> Callable[[random.Random], Call]:
    """Return a function that draws a call that runs a module as a script."""
    return lambda rng: _main_call(main, SeededSource(rng))


def _main_call(main: MainSpec, source: RandomSource) -> Call:
    def no_call(name: str) -> Value:
        raise NoValidCallError(name)

    args = ValueDrawer(source, no_call).draw(main.args)
    return Call(function=MAIN, arguments=(("args", args),))


class _CallDrawer:
    """Draws one call, including the calls that generate its arguments."""

    def __init__(self, module: ModuleSpec, source: RandomSource) -> None:
        self._module = module
        self._source = source

    def call(self, function: FunctionSpec) -> Call:
        outer = self.call(self._module.function(function.outer)) if function.outer else None
        constructor = self._constructor(function.constructor) if function.constructor else None
        scope = (
            {} if constructor is None else {"self": self._object(function.constructor, constructor)}
        )
        return Call(
            function=function.name,
            arguments=self._arguments(function, scope),
            constructor=constructor,
            outer=outer,
        )

    def _object(self, constructor: str, arguments: Arguments) -> ObjectView:
        """Return the view of an object that these constructor arguments make."""
        function = self._module.function(constructor)
        scope = {**plan_of(function).defaults, **{name: view(value) for name, value in arguments}}
        attributes = {}
        for name, expression in function.attributes:
            with suppress(UnknownError, RaisesError):
                attributes[name] = evaluate(expression, scope)
        return ObjectView(attributes)

    def _constructor(self, name: str) -> Arguments:
        """Return drawn arguments for a constructor or a generator."""
        constructor = self._module.function(name)
        if constructor.examples:
            return constructor.examples[self._source.index(len(constructor.examples))]
        return self._arguments(constructor)

    def _generated(self, name: str) -> Value:
        return CallValue(generator_call(name), (), self._constructor(name))

    def _arguments(
        self, function: FunctionSpec, known: Mapping[str, Any] | None = None
    ) -> Arguments:
        plan = plan_of(function)
        drawer = ValueDrawer(self._source, self._generated)
        drawn: dict[str, Value] = {}
        scope: dict[str, Any] = {**plan.defaults, **(known or {})}
        for name in plan.order:
            drawn[name] = self._argument(plan, name, drawer, scope)
            scope[name] = self._view(drawn[name])
        return tuple(
            (parameter.name, drawn[parameter.name])
            for parameter in function.parameters
            if parameter.name in drawn
        )

    def _view(self, value: Value) -> Any:
        """Return the view of a value; of a new object with the attributes from its constructor."""
        if isinstance(value, CallValue):
            made_by = self._module.by_name.get(value.function.lstrip(":"))
            if made_by is not None and made_by.kind == "constructor":
                return self._object(made_by.name, value.keywords)
        return view(value)

    def _argument(
        self, plan: DrawingPlan, name: str, drawer: ValueDrawer, scope: dict[str, Any]
    ) -> Value:
        """Return a value for an argument that fulfils the conditions decided by it."""
        conditions = plan.parts_decided_with(name)
        try:
            spec = resolved(plan.specs[name], scope)
            if plan.about[name]:
                spec = narrowed(spec, name, plan.about[name], scope, plan.undrawn(scope))
            for attempt in range(self._source.attempts):
                value = drawer.draw(spec)
                if holds(conditions, {**scope, name: self._view(value)}):
                    return value
                if attempt == _ATTEMPTS_BEFORE_ENUMERATION:
                    spec = _enumerated(spec, conditions, name, scope)
        except (ImpossibleError, UnknownError) as error:
            raise NoValidCallError(name) from error
        raise NoValidCallError(name)


_ATTEMPTS_BEFORE_ENUMERATION = 1
"""Rejected values after which the values of a small range are enumerated."""
_MAX_ENUMERATED = 1024
"""Largest number of values to enumerate."""


def _enumerated(spec: Spec, conditions: tuple[str, ...], name: str, scope: dict[str, Any]) -> Spec:
    """Return the integers, or lists of them, that fulfil conditions; the constraint if too many."""
    match spec:
        case IntsIn() if (numbers := _short_range(spec)) is not None:
            values: list[Value] = [LiteralValue(number) for number in numbers]
        case Lists(item=IntsIn() as item) if (numbers := _short_range(item)) is not None:
            shortest, longest = length_range(spec.min_len, spec.max_len)
            if (
                sum(len(numbers) ** length for length in range(shortest, longest + 1))
                > _MAX_ENUMERATED
            ):
                return spec
            values = _all_lists(numbers, range(shortest, longest + 1), is_tuple=spec.is_tuple)
        case _:
            return spec
    return OneOf(
        tuple(value for value in values if holds(conditions, {**scope, name: view(value)}))
    )


def _short_range(spec: IntsIn) -> range | None:
    """Return the integers of a range; None if there are too many."""
    minimum, maximum = int_range(spec)
    numbers = range(minimum, maximum + 1, spec.step)
    return numbers if len(numbers) <= _MAX_ENUMERATED else None


def _all_lists(numbers: range, sizes: range, *, is_tuple: bool) -> list[Value]:
    make = TupleValue if is_tuple else ListValue
    drawn = [LiteralValue(number) for number in numbers]
    return [make(items) for size in sizes for items in product(drawn, repeat=size)]


def holds(conditions: tuple[str, ...], scope: dict[str, Any]) -> bool:
    """Return whether no condition is known to fail."""
    for text in conditions:
        try:
            if not truth(evaluate(text, scope)):
                return False
        except RaisesError:
            return False
        except UnknownError:
            continue  # left to the process that makes the call
    return True
