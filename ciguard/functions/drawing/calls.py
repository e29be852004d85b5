"""Draws calls of annotated functions that are valid as far as this process can check.

Each argument is drawn after those on which it depends. The process that makes the call checks the
preconditions that need the actual objects.
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
from ciguard.functions.solving.narrowing import narrow_constraint
from ciguard.functions.solving.resolving import ImpossibleError, resolve
from ciguard.functions.solving.views import ObjectView, view
from ciguard.functions.specs.calls import MAIN, Arguments, Call
from ciguard.functions.specs.kinds import IntRange, Lists
from ciguard.values import OneOf

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping

    from hypothesis.strategies import DrawFn, SearchStrategy

    from ciguard.functions.specs.functions import FunctionSpec, MainSpec, ModuleSpec
    from ciguard.functions.specs.kinds import Spec


class NoValidCallError(Exception):
    """Error if no valid call was found for the values that are drawn so far."""


def call_strategy(function: FunctionSpec, module: ModuleSpec) -> SearchStrategy[Call]:
    """Return a Hypothesis strategy for valid calls; invalid calls are rejected."""
    from hypothesis import reject  # noqa: PLC0415 - takes long to import; campaigns never need it
    from hypothesis import strategies as st  # noqa: PLC0415 - takes long to import

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
    """Return a function that draws a valid call, or returns None if it found no valid call."""

    def sample(rng: random.Random) -> Call | None:
        try:
            return _CallDrawer(module, SeededSource(rng)).call(function)
        except NoValidCallError:
            return None

    return sample


def main_strategy(main: MainSpec) -> SearchStrategy[Call]:
    """Return a Hypothesis strategy for calls that run a module as a script."""
    from hypothesis import strategies as st  # noqa: PLC0415 - takes long to import

    return st.composite(lambda draw: _main_call(main, HypothesisSource(draw)))()


def _main_call(main: MainSpec, source: RandomSource) -> Call:
    """Return a drawn call that runs a module as a script."""

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
        """Return a drawn call of a function.

        Raises:
            NoValidCallError: if no valid call was found.
        """
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
        """Return the view of the object that a constructor returns for arguments."""
        function = self._module.function(constructor)
        scope = {**plan_of(function).defaults, **{name: view(value) for name, value in arguments}}
        attributes = {}
        for name, expression in function.attributes:
            with suppress(UnknownError, RaisesError):
                attributes[name] = evaluate(expression, scope)
        return ObjectView(attributes)

    def _constructor(self, name: str) -> Arguments:
        """Return arguments for a constructor or a generator: an example, or drawn ones."""
        constructor = self._module.function(name)
        if constructor.examples:
            return constructor.examples[self._source.index(len(constructor.examples))]
        return self._arguments(constructor)

    def _generator_call(self, name: str) -> Value:
        """Return a value that stands for a call of a generator function with drawn arguments."""
        return CallValue(generator_call(name), (), self._constructor(name))

    def _arguments(
        self, function: FunctionSpec, known: Mapping[str, Any] | None = None
    ) -> Arguments:
        """Return drawn arguments of a function.

        Args:
            function: the annotated function.
            known: views of values, by name, that the function's annotations may use although the
                names are not parameters of the function, such as `self`.
        """
        plan = plan_of(function)
        drawer = ValueDrawer(self._source, self._generator_call)
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
        """Return the view of a value; that of a new object has the attributes that it will have."""
        if isinstance(value, CallValue):
            function = self._module.functions_by_name.get(value.function.lstrip(":"))
            if function is not None and function.kind == "constructor":
                return self._object(function.name, value.keywords)
        return view(value)

    def _argument(
        self, plan: DrawingPlan, name: str, drawer: ValueDrawer, scope: dict[str, Any]
    ) -> Value:
        """Return a value for an argument with which no known precondition fails.

        Args:
            plan: plan of the function.
            name: name of the argument.
            drawer: drawer of the call's values.
            scope: views of the arguments that are drawn already.

        Raises:
            NoValidCallError: if no such value was found.
        """
        conditions = plan.parts_ready_after(name)
        try:
            spec = resolve(plan.specs[name], scope)
            if plan.conditions_by_argument[name]:
                spec = narrow_constraint(
                    spec, name, plan.conditions_by_argument[name], scope, plan.undrawn_specs(scope)
                )
            for attempt in range(self._source.attempts):
                value = drawer.draw(spec)
                if may_hold(conditions, {**scope, name: self._view(value)}):
                    return value
                if attempt == _ATTEMPTS_BEFORE_ENUMERATION:
                    spec = _enumerate_values(spec, conditions, name, scope)
        except (ImpossibleError, UnknownError) as error:
            raise NoValidCallError(name) from error
        raise NoValidCallError(name)


_ATTEMPTS_BEFORE_ENUMERATION = 1
"""Number of rejected values after which the values of a small range are enumerated."""
_MAX_ENUMERATED = 1024
"""Maximum number of values that are enumerated."""


def _enumerate_values(
    spec: Spec, conditions: tuple[str, ...], name: str, scope: dict[str, Any]
) -> Spec:
    """Return a constraint with only those integers, or lists of integers, that fulfil conditions.

    Return the constraint unchanged if it allows values of other types, or more than
    `_MAX_ENUMERATED` values.
    """
    match spec:
        case IntRange() if (numbers := _short_range(spec)) is not None:
            values: list[Value] = [LiteralValue(number) for number in numbers]
        case Lists(item=IntRange() as item) if (numbers := _short_range(item)) is not None:
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
        tuple(value for value in values if may_hold(conditions, {**scope, name: view(value)}))
    )


def _short_range(spec: IntRange) -> range | None:
    """Return the integers of a range; None if there are more than `_MAX_ENUMERATED`."""
    minimum, maximum = int_range(spec)
    numbers = range(minimum, maximum + 1, spec.step)
    return numbers if len(numbers) <= _MAX_ENUMERATED else None


def _all_lists(numbers: range, sizes: range, *, is_tuple: bool) -> list[Value]:
    """Return all lists or tuples of the numbers, for each length of `sizes`."""
    make = TupleValue if is_tuple else ListValue
    drawn = [LiteralValue(number) for number in numbers]
    return [make(items) for size in sizes for items in product(drawn, repeat=size)]


def may_hold(conditions: tuple[str, ...], scope: dict[str, Any]) -> bool:
    """Return whether all conditions may hold: no condition is known to fail.

    Args:
        conditions: Python expressions.
        scope: views of the drawn arguments, by name.
    """
    for text in conditions:
        try:
            if not truth(evaluate(text, scope)):
                return False
        except RaisesError:
            return False
        except UnknownError:
            continue  # the process that makes the call checks it
    return True
